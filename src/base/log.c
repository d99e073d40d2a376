// Formatting and counting of log messages.
#include "base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void log_to_stderr(tn_log_level level, const char *message, void *context)
{
  static const char *const names[] = {"info", "warning", "error"};
  (void)context;
  fprintf(stderr, "tenon: %s: %s\n", names[level], message);
}

// The entry of the message: one that has it already, or the one that was unused for the longest.
static log_entry *find_entry(log_history *history, tn_log_level level, const char *message)
{
  log_entry *oldest = &history->recent[0];
  for (int i = 0; i < LOG_RECENT; ++i) {
    log_entry *entry = &history->recent[i];
    if (entry->last_use > 0 && entry->level == level && strcmp(entry->message, message) == 0) {
      return entry;
    }
    if (entry->last_use < oldest->last_use) {
      oldest = entry;
    }
  }
  memset(oldest, 0, sizeof *oldest);
  return oldest;
}

// How often the message was repeated before: 0 for a new one.
static uint64_t count_repeats(log_history *history, tn_log_level level, const char *message)
{
  bool free_lock = false;
  while (!atomic_compare_exchange_weak(&history->locked, &free_lock, true)) {
    free_lock = false;
  }
  log_entry *entry = find_entry(history, level, message);
  if (entry->last_use == 0) {
    strcpy(entry->message, message); // NOLINT: both have LOG_MESSAGE_SIZE
    entry->level = level;
  } else {
    entry->repeats += 1;
  }
  history->uses += 1;
  entry->last_use = history->uses;
  uint64_t repeats = entry->repeats;
  atomic_store(&history->locked, false);
  return repeats;
}

static bool is_power_of_ten(uint64_t n)
{
  while (n >= 10 && n % 10 == 0) {
    n /= 10;
  }
  return n == 1;
}

void report(const log_sink *log, tn_log_level level, const char *format, ...)
{
  char message[LOG_MESSAGE_SIZE];
  char counted[LOG_MESSAGE_SIZE + 48];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  uint64_t repeats = log->history ? count_repeats(log->history, level, message) : 0;
  if (repeats == 0) {
    log->print(level, message, log->context);
  } else if (repeats >= 10 && is_power_of_ten(repeats)) {
    snprintf(counted, sizeof counted, "%s (repeated %" PRIu64 " times)", message, repeats);
    log->print(level, counted, log->context);
  }
}
