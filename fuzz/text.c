// Mutations of JSON and XML texts that keep their form.
#include "fuzz.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// A part of the text: a number, a quoted word, or a group with its brackets.
typedef struct span {
  size_t from, to;
} span;

static bool is_number_start(const uint8_t *d, size_t i)
{
  bool first = i == 0 || !(isalnum(d[i - 1]) || d[i - 1] == '.' || d[i - 1] == '_');
  return first && (isdigit(d[i]) || d[i] == '-');
}

static size_t number_end(const uint8_t *d, size_t size, size_t i)
{
  while (i < size && (isdigit(d[i]) || strchr("+-.eE", d[i]))) {
    ++i;
  }
  return i;
}

// The n-th part that satisfies `starts`; an empty span if there is none.
static span find_number(const uint8_t *d, size_t size, fuzz_random *r)
{
  size_t start = (size_t)fuzz_index(r, (int)size);
  for (size_t k = 0; k < size; ++k) {
    size_t i = (start + k) % size;
    if (is_number_start(d, i)) {
      return (span){i, number_end(d, size, i + 1)};
    }
  }
  return (span){0, 0};
}

static span find_word(const uint8_t *d, size_t size, fuzz_random *r)
{
  int count = 0, pick, at = 0;
  for (size_t i = 0; i < size; ++i) {
    count += d[i] == '"';
  }
  if (count < 2) {
    return (span){0, 0};
  }
  pick = fuzz_index(r, count - 1);
  size_t from = 0;
  for (size_t i = 0; i < size; ++i) {
    if (d[i] == '"' && at++ == pick) {
      from = i + 1;
    } else if (d[i] == '"' && at > pick + 1) {
      return (span){from, i};
    }
  }
  return (span){0, 0};
}

// The end of the XML element that begins at `i`, its closing tag included.
static size_t element_end(const uint8_t *d, size_t size, size_t i)
{
  int depth = 0;
  while (i < size) {
    bool closes = d[i] == '<' && i + 1 < size && d[i + 1] == '/';
    bool opens = d[i] == '<' && !closes;
    depth += opens - closes;
    while (opens && i < size && d[i] != '>') {
      ++i;
    }
    depth -= opens && i > 0 && d[i - 1] == '/';
    while (i < size && d[i] != '>' && closes) {
      ++i;
    }
    ++i;
    if (depth <= 0 && (opens || closes)) {
      return i < size ? i : size;
    }
  }
  return size;
}

static size_t bracket_end(const uint8_t *d, size_t size, size_t i)
{
  int depth = 0;
  for (; i < size; ++i) {
    depth += d[i] == '{' || d[i] == '[';
    depth -= d[i] == '}' || d[i] == ']';
    if (depth == 0) {
      return i + 1;
    }
  }
  return size;
}

static span find_group(const uint8_t *d, size_t size, fuzz_random *r)
{
  size_t start = (size_t)fuzz_index(r, (int)size);
  for (size_t k = 0; k < size; ++k) {
    size_t i = (start + k) % size;
    if (d[i] == '{' || d[i] == '[') {
      return (span){i, bracket_end(d, size, i)};
    }
    if (d[i] == '<' && i + 1 < size && isalpha(d[i + 1])) {
      return (span){i, element_end(d, size, i)};
    }
  }
  return (span){0, 0};
}

// Replaces a part of the text; leaves it if there is no room.
static size_t put(uint8_t *d, size_t size, size_t capacity, span s, const void *text, size_t length)
{
  size_t rest = size - s.to;
  if (s.from + length + rest > capacity) {
    return size;
  }
  memmove(d + s.from + length, d + s.to, rest);
  memcpy(d + s.from, text, length);
  return s.from + length + rest;
}

static size_t change_number(uint8_t *d, size_t size, size_t capacity, fuzz_random *r)
{
  char text[48];
  span s = find_number(d, size, r);
  double value = fuzz_number(r);
  bool whole = fabs(value) < 1e9 && value == floor(value);
  int length = snprintf(text, sizeof text, whole ? "%.0f" : "%.9g", value);
  return s.to > s.from ? put(d, size, capacity, s, text, (size_t)length) : size;
}

// Replaces a quoted word by another of the text.
static size_t change_word(uint8_t *d, size_t size, size_t capacity, fuzz_random *r)
{
  char word[64];
  span from = find_word(d, size, r), to = find_word(d, size, r);
  size_t length = from.to - from.from;
  length = length < sizeof word ? length : sizeof word;
  memcpy(word, d + from.from, length);
  return to.from > 0 ? put(d, size, capacity, to, word, length) : size;
}

static size_t change_group(uint8_t *d, size_t size, size_t capacity, fuzz_random *r)
{
  static uint8_t copy[1 << 14];
  span from = find_group(d, size, r), to = find_group(d, size, r);
  size_t length = from.to - from.from;
  if (length == 0 || length > sizeof copy) {
    return size;
  }
  memcpy(copy, d + from.from, length);
  switch (fuzz_index(r, 4)) {
  case 0: { // removed, with the comma behind it
    span gone = from;
    gone.to += gone.to < size && d[gone.to] == ',';
    return put(d, size, capacity, gone, "", 0);
  }
  case 1: { // repeated
    span behind = {from.to, from.to};
    if (d[from.from] != '<' && length < sizeof copy) {
      memmove(copy + 1, copy, length++);
      copy[0] = ',';
    }
    return put(d, size, capacity, behind, copy, length);
  }
  default: // put in the place of another one
    return put(d, size, capacity, to, copy, length);
  }
}

size_t fuzz_mutate_text(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  fuzz_random r = {seed};
  int changes = 1 + fuzz_index(&r, 3);
  for (int i = 0; i < changes && size > 0; ++i) {
    switch (fuzz_index(&r, 8)) {
    case 0:
    case 1:
    case 2:
      size = change_number(data, size, capacity, &r);
      break;
    case 3:
      size = change_word(data, size, capacity, &r);
      break;
    case 4:
    case 5:
      size = change_group(data, size, capacity, &r);
      break;
    default:
      size = LLVMFuzzerMutate(data, size, capacity);
      break;
    }
  }
  return size > 0 ? size : LLVMFuzzerMutate(data, size, capacity);
}
