// A record is a list of differences, in groups of eight. First come marks of the groups that have a
// difference, one bit each, then each such group: its marks, and the differences that are not zero.
//
// A difference of -64 to 63 is a byte with the top bit set. Another one begins with a byte: the
// number of bytes that follow, less 1 (3 bits), the number of zero bytes left out below them (3
// bits), the sign (1 bit).
#include "world/state_code.h"

#include <string.h>

#define SHORT_MARK 0x80u

uint64_t state_mix(uint64_t hash, const void *bytes, size_t size)
{
  const unsigned char *at = bytes;
  for (; size > 0;) {
    uint64_t word = 0;
    size_t length = size < sizeof word ? size : sizeof word;
    memcpy(&word, at, length);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
    at += length;
    size -= length;
  }
  return hash;
}

// ---------------------------------------------------------------------------------------------
// Bytes

static void put(state_coder *c, unsigned byte)
{
  if (c->at < c->size && c->bytes) {
    c->bytes[c->at] = (unsigned char)byte;
  }
  c->at += 1;
}

static unsigned take(state_coder *c)
{
  if (c->at >= c->size) {
    c->failed = true;
    return 0;
  }
  return c->from[c->at++];
}

static void put_difference(state_coder *c, int64_t difference)
{
  if (difference >= -64 && difference < 64) {
    put(c, SHORT_MARK | ((unsigned)difference & 0x7fu));
    return;
  }
  bool negative = difference < 0;
  uint64_t left = negative ? 0 - (uint64_t)difference : (uint64_t)difference;
  unsigned zeros = 0, count = 1;
  for (; (left & 0xff) == 0; left >>= 8) {
    zeros += 1;
  }
  while (count < 8 && left >> (8 * count) != 0) {
    count += 1;
  }
  put(c, (count - 1) | zeros << 3 | (negative ? 0x40u : 0u));
  for (unsigned i = 0; i < count; ++i) {
    put(c, (unsigned)(left >> (8 * i)) & 0xffu);
  }
}

static int64_t take_difference(state_coder *c)
{
  unsigned head = take(c);
  if (head & SHORT_MARK) {
    return (int64_t)((head & 0x7fu) ^ 0x40u) - 64;
  }
  unsigned count = (head & 7u) + 1, zeros = head >> 3 & 7u;
  uint64_t sum = 0;
  for (unsigned i = 0; i < count; ++i) {
    sum |= (uint64_t)take(c) << (8 * (i + zeros) & 63);
  }
  return (int64_t)(head & 0x40u ? 0 - sum : sum);
}

// ---------------------------------------------------------------------------------------------
// Records

// The differences of a record that are not zero, with a bit for each value.
typedef struct difference_set {
  uint64_t marks[STATE_MOST_VALUES / 64];
  int64_t value[STATE_MOST_VALUES];
} difference_set;

static int64_t difference_of(const unsigned char *value, const unsigned char *guess, int width)
{
  if (width == 4) {
    uint32_t a, b;
    memcpy(&a, value, sizeof a);
    memcpy(&b, guess, sizeof b);
    return (int32_t)(a - b);
  }
  if (width == 8) {
    uint64_t a, b;
    memcpy(&a, value, sizeof a);
    memcpy(&b, guess, sizeof b);
    return (int64_t)(a - b);
  }
  return (int8_t)(uint8_t)(*value - *guess);
}

static void add_difference(unsigned char *value, int width, int64_t difference)
{
  if (width == 4) {
    uint32_t b;
    memcpy(&b, value, sizeof b);
    b += (uint32_t)difference;
    memcpy(value, &b, sizeof b);
  } else if (width == 8) {
    uint64_t b;
    memcpy(&b, value, sizeof b);
    b += (uint64_t)difference;
    memcpy(value, &b, sizeof b);
  } else {
    *value = (unsigned char)(*value + (unsigned char)difference);
  }
}

// Most fields are as guessed: they are compared and copied as a whole.
static void find_differences(difference_set *d, const state_field *f, int first,
                             const unsigned char *value, const unsigned char *guess)
{
  size_t width = f->width, size = width * f->count;
  value += f->offset;
  guess += f->offset;
  if (memcmp(value, guess, size) == 0) {
    return;
  }
  for (int i = first; i < first + f->count; ++i, value += width, guess += width) {
    d->value[i] = difference_of(value, guess, f->width);
    d->marks[i / 64] |= (uint64_t)(d->value[i] != 0) << (i % 64);
  }
}

static void apply_differences(const difference_set *d, const state_field *f, int first,
                              unsigned char *value, const unsigned char *guess)
{
  size_t width = f->width;
  value += f->offset;
  memcpy(value, guess + f->offset, width * f->count);
  for (int i = first; i < first + f->count; ++i, value += width) {
    uint64_t left = d->marks[i / 64] >> (i % 64);
    if (left & 1) {
      add_difference(value, f->width, d->value[i]);
    } else if (left == 0) { // no further difference up to the end of this word
      int skipped = 63 - i % 64;
      i += skipped;
      value += width * (size_t)skipped;
    }
  }
}

static void save_differences(state_coder *c, const difference_set *d, int count)
{
  for (int i = 0; 64 * i < count; ++i) {
    unsigned groups = 0;
    for (int k = 0; k < 8; ++k) {
      groups |= (unsigned)((d->marks[i] >> (8 * k) & 0xff) != 0) << k;
    }
    put(c, groups);
  }
  for (int i = 0; 64 * i < count; ++i) {
    for (int k = 0; k < 8 && d->marks[i] != 0; ++k) {
      unsigned marks = (unsigned)(d->marks[i] >> (8 * k)) & 0xffu;
      if (marks) {
        put(c, marks);
      }
      for (int n = 0; marks >> n != 0; ++n) {
        if (marks >> n & 1u) {
          put_difference(c, d->value[64 * i + 8 * k + n]);
        }
      }
    }
  }
}

static void restore_differences(state_coder *c, difference_set *d, int count)
{
  unsigned groups[STATE_MOST_VALUES / 64];
  for (int i = 0; 64 * i < count; ++i) {
    groups[i] = take(c);
  }
  for (int i = 0; 64 * i < count; ++i) {
    for (int k = 0; groups[i] >> k != 0; ++k) {
      unsigned marks = groups[i] >> k & 1u ? take(c) : 0;
      d->marks[i] |= (uint64_t)marks << (8 * k);
      for (int n = 0; marks >> n != 0; ++n) {
        if (marks >> n & 1u) {
          d->value[64 * i + 8 * k + n] = take_difference(c);
        }
      }
    }
  }
}

void state_code(state_coder *c, const state_field *fields, int count, void *record,
                const void *guess)
{
  difference_set d; // values are set where there are marks
  memset(d.marks, 0, sizeof d.marks);
  int values = 0;
  for (int i = 0; i < count; ++i) {
    if (c->saving) {
      find_differences(&d, &fields[i], values, record, guess);
    }
    values += fields[i].count;
  }
  if (c->saving) {
    save_differences(c, &d, values);
    return;
  }
  restore_differences(c, &d, values);
  for (int i = 0, first = 0; i < count; first += fields[i].count, ++i) {
    apply_differences(&d, &fields[i], first, record, guess);
  }
}

void state_code_number(state_coder *c, int32_t *number, int32_t guess)
{
  if (c->saving) {
    put_difference(c, (int64_t)*number - guess);
  } else {
    int64_t value = take_difference(c) + (int64_t)guess;
    c->failed = c->failed || value < INT32_MIN || value > INT32_MAX;
    *number = c->failed ? 0 : (int32_t)value;
  }
}
