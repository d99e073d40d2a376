// Copies of memory that may be woven: by words where all is aligned, four in flight at a time.
#include "woven.h"

#include <stdbool.h>

static bool is_whole(const void *a, const void *b, size_t size)
{
  return (((uintptr_t)a | (uintptr_t)b | size) & 3) == 0;
}

static void copy_words(uint32_t *to, const uint32_t *from, size_t count)
{
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    uint32_t a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
    to[i] = a;
    to[i + 1] = b;
    to[i + 2] = c;
    to[i + 3] = d;
  }
  for (; i < count; ++i) {
    to[i] = from[i];
  }
}

void woven_copy(void *to, const void *from, size_t size)
{
  if (is_whole(to, from, size)) {
    copy_words(to, from, size / 4);
    return;
  }
  unsigned char *bytes = to;
  const unsigned char *given = from;
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = given[i];
  }
}

void woven_move(void *to, const void *from, size_t size)
{
  if ((uintptr_t)to <= (uintptr_t)from) {
    woven_copy(to, from, size);
    return;
  }
  if (is_whole(to, from, size)) {
    uint32_t *words = to;
    const uint32_t *given = from;
    for (size_t i = size / 4; i > 0; --i) {
      words[i - 1] = given[i - 1];
    }
    return;
  }
  unsigned char *bytes = to;
  const unsigned char *given = from;
  for (size_t i = size; i > 0; --i) {
    bytes[i - 1] = given[i - 1];
  }
}

void woven_fill(void *to, uint8_t value, size_t size)
{
  if (is_whole(to, to, size)) {
    uint32_t *words = to, word = 0x01010101u * value;
    for (size_t i = 0; i < size / 4; ++i) {
      words[i] = word;
    }
    return;
  }
  unsigned char *bytes = to;
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = value;
  }
}
