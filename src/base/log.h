// Messages of a world to the user's log callback. A message that repeats one of the last few is
// counted instead of printed, so that an error in every step does not flood the log.
#ifndef TENON_BASE_LOG_H
#define TENON_BASE_LOG_H

#include <tenon/types.h>

#include <stdatomic.h>

#define LOG_MESSAGE_SIZE 256 // longer messages are cut off
#define LOG_RECENT 8         // messages that are remembered

typedef struct log_entry {
  char message[LOG_MESSAGE_SIZE];
  tn_log_level level;
  uint64_t repeats;  // after the first time
  uint64_t last_use; // log_history.uses at that time; 0: an unused entry
} log_entry;

// Zeroed before use. Locked, because queries may report from several threads.
typedef struct log_history {
  atomic_bool locked;
  uint64_t uses;
  log_entry recent[LOG_RECENT];
} log_history;

typedef struct log_sink {
  tn_log_fn *print;
  void *context;
  log_history *history; // null: print repeated messages as well
} log_sink;

// The default callback: prints to stderr.
void log_to_stderr(tn_log_level level, const char *message, void *context);
// Formats a message, cut off at 255 characters, and passes it on. A repeated one is passed on after
// 10, 100, 1000 ... repeats, with their number. TN_NO_LOG leaves it out, for devices that cannot
// format text.
#if defined(TN_NO_LOG)
#define report(...) ((void)0)
#else
void report(const log_sink *log, tn_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif

#endif
