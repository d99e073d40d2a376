// Bit masks.
#ifndef TENON_BASE_BITS_H
#define TENON_BASE_BITS_H

#include <stdint.h>
#include <string.h>

// Lowest bit that is not set in `mask`, or 64.
static inline int lowest_clear_bit(uint64_t mask)
{
#if defined(__GNUC__)
  return ~mask == 0 ? 64 : __builtin_ctzll(~mask);
#else
  int bit = 0;
  while (bit < 64 && mask >> bit & 1) {
    ++bit;
  }
  return bit;
#endif
}

// First of the bytes [from, count) that is not zero, or `count`.
static inline int32_t next_mark(const uint8_t *marks, int32_t from, int32_t count)
{
  int32_t i = from;
  for (uint64_t eight = 0; i + 8 <= count; i += 8) {
    memcpy(&eight, marks + i, sizeof eight);
    if (eight != 0) {
      break;
    }
  }
  while (i < count && marks[i] == 0) {
    ++i;
  }
  return i;
}

#endif
