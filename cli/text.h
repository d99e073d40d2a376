// Growable text or byte buffer.
#ifndef TENON_CLI_TEXT_H
#define TENON_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

// A zeroed text is empty. If memory runs out it keeps its contents and sets `failed`.
typedef struct text {
  char *bytes;
  size_t size, capacity;
  bool failed;
} text;

void text_add(text *t, const char *format, ...);
void text_add_bytes(text *t, const void *bytes, size_t size);
// Adds a JSON string, with quotes.
void text_add_quoted(text *t, const char *word);
// Adds a JSON number; NaN and infinity become null.
void text_add_number(text *t, double value);
void text_pad(text *t, size_t multiple, char with);
void text_free(text *t);

#endif
