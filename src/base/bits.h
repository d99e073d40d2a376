// Bit masks.
#ifndef TENON_BASE_BITS_H
#define TENON_BASE_BITS_H

#include <stdint.h>

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

#endif
