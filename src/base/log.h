// Messages of a world to the user's log callback.
#ifndef TENON_BASE_LOG_H
#define TENON_BASE_LOG_H

#include <tenon/types.h>

typedef struct log_sink {
  tn_log_fn *print;
  void *context;
} log_sink;

// The default callback: prints to stderr.
void log_to_stderr(tn_log_level level, const char *message, void *context);
// Formats a message, cut off at 255 characters, and passes it on.
void report(const log_sink *log, tn_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
