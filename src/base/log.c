// Formatting of log messages.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_to_stderr(tn_log_level level, const char *message, void *context)
{
  static const char *const names[] = {"info", "warning", "error"};
  (void)context;
  fprintf(stderr, "tenon: %s: %s\n", names[level], message);
}

void report(const log_sink *log, tn_log_level level, const char *format, ...)
{
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  log->print(level, message, log->context);
}
