// Numbers of a batch: one member in each lane.
#ifndef TENON_SOLVER_MECHANISM_LANE_MATH_H
#define TENON_SOLVER_MECHANISM_LANE_MATH_H

#include "solver/mechanism/mechanism_batch.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

// Vectors wider than the target's registers are passed to inlined functions only: the ABI does not
// matter.
#pragma GCC diagnostic ignored "-Wpsabi"

typedef int64_t lane_mask __attribute__((vector_size(8 * BATCH_WIDTH)));

INLINE lane_mask mask_of(unsigned lanes)
{
  const lane_mask bits = {1, 2, 4, 8};
  return ((lane_mask){lanes, lanes, lanes, lanes} & bits) != 0;
}

INLINE batch_f64 mask_lanes(lane_mask m, batch_f64 a)
{
  return (batch_f64)((lane_mask)a & m);
}

INLINE batch_f64 select_lanes(lane_mask m, batch_f64 a, batch_f64 b)
{
  return (batch_f64)(((lane_mask)a & m) | ((lane_mask)b & ~m));
}

INLINE batch_f64 splat_lanes(double a)
{
  return (batch_f64){a, a, a, a};
}

// Bits of the lanes that are set in a mask.
INLINE unsigned bits_of(lane_mask m)
{
#if defined(__AVX__)
  return (unsigned)_mm256_movemask_pd((__m256d)m);
#else
  return (unsigned)((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
#endif
}

// J v, summed in the order of row_velocity().
INLINE batch_f64 along_row(const batch_f64 *j, const batch_f64 *motion)
{
  batch_f64 even = j[0] * motion[0], odd = j[1] * motion[1];
#pragma GCC unroll 8
  for (int i = 2; i < 2 * BODY_ROWS; i += 2) {
    even += j[i] * motion[i];
    odd += j[i + 1] * motion[i + 1];
  }
  return even + odd;
}

#endif
