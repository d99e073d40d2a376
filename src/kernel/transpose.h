// Transposition of floats between memory and lanes. Included by the files that are compiled once
// for each lane width.
#ifndef TENON_KERNEL_TRANSPOSE_H
#define TENON_KERNEL_TRANSPOSE_H

#include "kernel/blocks.h"
#include "kernel/lane.h"

#include <string.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

// Transposition: eight consecutive floats at each of TN_LANES addresses become eight R, and back.

#if TN_LANES > 1

typedef float Quad __attribute__((vector_size(16)));
typedef float Octet __attribute__((vector_size(32)));

KERNEL Quad load_quad(const float *from)
{
  Quad q;
  memcpy(&q, __builtin_assume_aligned(from, 16), sizeof q);
  return q;
}

KERNEL void store_quad(float *to, Quad q)
{
  memcpy(__builtin_assume_aligned(to, 16), &q, sizeof q);
}

#if TN_LANES == 16

// As for eight lanes, with lanes i + 8 and i + 12 too.
KERNEL R load_lane(const float *const *from, int i, int at)
{
  Octet low = SHUFFLE(load_quad(from[i] + at), load_quad(from[i + 4] + at), 0, 1, 2, 3, 4, 5, 6, 7);
  Octet high =
      SHUFFLE(load_quad(from[i + 8] + at), load_quad(from[i + 12] + at), 0, 1, 2, 3, 4, 5, 6, 7);
  return SHUFFLE(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

KERNEL void store_lane(float *const *to, int i, int at, R r)
{
  store_quad(to[i] + at, SHUFFLE(r, r, 0, 1, 2, 3));
  store_quad(to[i + 4] + at, SHUFFLE(r, r, 4, 5, 6, 7));
  store_quad(to[i + 8] + at, SHUFFLE(r, r, 8, 9, 10, 11));
  store_quad(to[i + 12] + at, SHUFFLE(r, r, 12, 13, 14, 15));
}

#define LOW_PAIRS(a, b) SHUFFLE(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGH_PAIRS(a, b) SHUFFLE(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW_HALVES(a, b) SHUFFLE(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH_HALVES(a, b) SHUFFLE(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)

#elif TN_LANES == 8

// Lanes i and i + 4 share a register, so that no shuffle crosses the 128-bit halves.
KERNEL R load_lane(const float *const *from, int i, int at)
{
#if defined(__AVX__)
  __m256 low = _mm256_castps128_ps256(_mm_load_ps(from[i] + at));
  // An insert from memory does not compete with the shuffles for their port.
  return (R)_mm256_insertf128_ps(low, _mm_load_ps(from[i + 4] + at), 1);
#else
  return SHUFFLE(load_quad(from[i] + at), load_quad(from[i + 4] + at), 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

KERNEL void store_lane(float *const *to, int i, int at, R r)
{
  store_quad(to[i] + at, SHUFFLE(r, r, 0, 1, 2, 3));
#if defined(__AVX__)
  store_quad(to[i + 4] + at, (Quad)_mm256_extractf128_ps((__m256)r, 1)); // one instruction
#else
  store_quad(to[i + 4] + at, SHUFFLE(r, r, 4, 5, 6, 7));
#endif
}

#define LOW_PAIRS(a, b) SHUFFLE(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH_PAIRS(a, b) SHUFFLE(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_HALVES(a, b) SHUFFLE(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_HALVES(a, b) SHUFFLE(a, b, 2, 3, 10, 11, 6, 7, 14, 15)

#else

KERNEL R load_lane(const float *const *from, int i, int at)
{
  return load_quad(from[i] + at);
}

KERNEL void store_lane(float *const *to, int i, int at, R r)
{
  store_quad(to[i] + at, r);
}

#define LOW_PAIRS(a, b) SHUFFLE(a, b, 0, 4, 1, 5)
#define HIGH_PAIRS(a, b) SHUFFLE(a, b, 2, 6, 3, 7)
#define LOW_HALVES(a, b) SHUFFLE(a, b, 0, 1, 4, 5)
#define HIGH_HALVES(a, b) SHUFFLE(a, b, 2, 3, 6, 7)

#endif

KERNEL void transpose4(R r[4])
{
  R t0 = LOW_PAIRS(r[0], r[1]);
  R t1 = HIGH_PAIRS(r[0], r[1]);
  R t2 = LOW_PAIRS(r[2], r[3]);
  R t3 = HIGH_PAIRS(r[2], r[3]);
  r[0] = LOW_HALVES(t0, t2);
  r[1] = HIGH_HALVES(t0, t2);
  r[2] = LOW_HALVES(t1, t3);
  r[3] = HIGH_HALVES(t1, t3);
}

KERNEL void load8(const float *const *from, R r[8])
{
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = load_lane(from, i, 0);
    r[i + 4] = load_lane(from, i, 4);
  }
  transpose4(r);
  transpose4(r + 4);
}

KERNEL void store8(float *const *to, R r[8])
{
  transpose4(r);
  transpose4(r + 4);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    store_lane(to, i, 0, r[i]);
    store_lane(to, i, 4, r[i + 4]);
  }
}

// Adds to memory. Addresses must be distinct, except for lanes whose result is discarded.
KERNEL void add8(float *const *to, R r[8])
{
  transpose4(r);
  transpose4(r + 4);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    store_lane(to, i, 0, load_lane((const float *const *)to, i, 0) + r[i]);
    store_lane(to, i, 4, load_lane((const float *const *)to, i, 4) + r[i + 4]);
  }
}

#else

TRANSFER void load8(const float *const *from, R r[8])
{
  for (int i = 0; i < 8; ++i) {
    r[i] = from[0][i];
  }
}

TRANSFER void store8(float *const *to, R r[8])
{
  for (int i = 0; i < 8; ++i) {
    to[0][i] = r[i];
  }
}

TRANSFER void add8(float *const *to, R r[8])
{
  R sum[8];
  load8((const float *const *)to, sum);
  for (int i = 0; i < 8; ++i) {
    sum[i] = sum[i] + r[i];
  }
  store8(to, sum);
}

#endif

// One field of a block, TN_LANES lanes from `lane` on. Sixteen lanes are two consecutive blocks,
// BLOCK_FLOATS apart.
TRANSFER R load_field(const float *field, int lane)
{
#if TN_LANES == 16
  (void)lane;
  Octet low, high;
  memcpy(&low, __builtin_assume_aligned(field, 32), sizeof low);
  memcpy(&high, __builtin_assume_aligned(field + BLOCK_FLOATS, 32), sizeof high);
  return SHUFFLE(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  return load(field + lane);
#endif
}

TRANSFER void store_field(float *field, int lane, R x)
{
#if TN_LANES == 16
  (void)lane;
  Octet low = SHUFFLE(x, x, 0, 1, 2, 3, 4, 5, 6, 7);
  Octet high = SHUFFLE(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  memcpy(__builtin_assume_aligned(field, 32), &low, sizeof low);
  memcpy(__builtin_assume_aligned(field + BLOCK_FLOATS, 32), &high, sizeof high);
#else
  store(field + lane, x);
#endif
}

TRANSFER void load_fields(float (*from)[BLOCK_WIDTH], int lane, R *to, int count)
{
#pragma GCC unroll 64
  for (int i = 0; i < count; ++i) {
    to[i] = load_field(from[i], lane);
  }
}

TRANSFER void store_fields(float (*to)[BLOCK_WIDTH], int lane, const R *from, int count)
{
#pragma GCC unroll 64
  for (int i = 0; i < count; ++i) {
    // The analyser does not see that `from` points to a whole structure.
    store_field(to[i], lane, from[i]); // NOLINT(clang-analyzer-core.CallAndMessage)
  }
}

#define LOAD(from, lane, to) load_fields(from, lane, (R *)(to), (int)FIELDS(*(to)))
#define STORE(to, lane, from) store_fields(to, lane, (const R *)(from), (int)FIELDS(*(from)))

#endif
