#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(text *t, size_t more)
{
  if (t->failed || t->capacity - t->size >= more) {
    return !t->failed;
  }
  size_t wanted = t->capacity + t->capacity / 2 + more + 64;
  char *grown = realloc(t->bytes, wanted);
  t->failed = !grown;
  if (grown) {
    t->bytes = grown;
    t->capacity = wanted;
  }
  return !t->failed;
}

void text_add_bytes(text *t, const void *bytes, size_t size)
{
  if (size > 0 && make_room(t, size)) {
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
  }
}

void text_add(text *t, const char *format, ...)
{
  char words[256];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof words) {
    t->failed = true;
    return;
  }
  text_add_bytes(t, words, (size_t)length);
}

void text_add_quoted(text *t, const char *word)
{
  text_add_bytes(t, "\"", 1);
  for (; *word; ++word) {
    unsigned char c = (unsigned char)*word;
    if (c == '"' || c == '\\') {
      text_add(t, "\\%c", c);
    } else if (c < 0x20) {
      text_add(t, "\\u%04x", c);
    } else {
      text_add_bytes(t, word, 1);
    }
  }
  text_add_bytes(t, "\"", 1);
}

void text_add_number(text *t, double value)
{
  if (isfinite(value)) {
    text_add(t, "%.9g", value);
  } else {
    text_add(t, "null");
  }
}

void text_pad(text *t, size_t multiple, char with)
{
  while (!t->failed && t->size % multiple != 0) {
    text_add_bytes(t, &with, 1);
  }
}

void text_free(text *t)
{
  free(t->bytes);
  memset(t, 0, sizeof *t);
}
