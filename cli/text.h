// Text and bytes that grow.
#ifndef TENON_CLI_TEXT_H
#define TENON_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

// Zeroed is empty. Without memory it keeps what it has and says so in `failed`.
typedef struct text {
  char *bytes;
  size_t size, capacity;
  bool failed;
} text;

void text_add(text *t, const char *format, ...);
void text_add_bytes(text *t, const void *bytes, size_t size);
// As a JSON string, with its quotes.
void text_add_quoted(text *t, const char *word);
// As JSON, which knows no NaN and no infinity.
void text_add_number(text *t, double value);
void text_pad(text *t, size_t multiple, char with);
void text_free(text *t);

#endif
