// Small dense blocks for the elimination: column-major, columns padded to an even number of rows,
// processed four rows at a time, then two.
#ifndef TENON_SOLVER_MECHANISM_BLOCK_ALGEBRA_H
#define TENON_SOLVER_MECHANISM_BLOCK_ALGEBRA_H

#include "solver/mechanism/mechanism_tuning.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef double f64x2 __attribute__((vector_size(16)));
typedef double f64x4 __attribute__((vector_size(32)));

INLINE int padded(int rows)
{
  return (rows + 1) & ~1;
}

// max(a, b), and a if b is NaN. Unlike fmax() never a call.
INLINE double at_least(double a, double b)
{
  return b > a ? b : a;
}

INLINE f64x2 load2(const double *from)
{
  f64x2 p;
  memcpy(&p, from, sizeof p);
  return p;
}

INLINE void store2(double *to, f64x2 p)
{
  memcpy(to, &p, sizeof p);
}

// Explicit stores: compilers turn a short memset into a slow string instruction.
INLINE void clear_six(double *to)
{
  const f64x2 none = {0.0, 0.0};
  store2(to, none);
  store2(to + 2, none);
  store2(to + 4, none);
}

// to -= s * from, for rows from `first` rounded down to a multiple of four: what is above a
// diagonal is never read.
INLINE void column_subtract(double *to, const double *from, double s, int first, int rows)
{
  int i = first & ~3;
#pragma GCC unroll 2
  for (; i + 4 <= padded(rows); i += 4) {
    f64x4 a, b;
    memcpy(&a, to + i, sizeof a);
    memcpy(&b, from + i, sizeof b);
    a -= s * b;
    memcpy(to + i, &a, sizeof a);
  }
  if (i < rows) {
    store2(to + i, load2(to + i) - s * load2(from + i));
  }
}

// A = L D L^T in place, of the lower half, with inverted pivots on the diagonal. All pivots have
// the sign `sign`; one that rounding has made zero or of the wrong sign becomes a small one of that
// sign. The chain of pivots is the critical path, so each is computed before the columns that it
// belongs to.
INLINE void block_factor(double *a, int n, double sign)
{
  int ld = padded(n);
  double pivot = a[0];
#pragma GCC unroll 8
  for (int j = 0; j < n; ++j) {
    double *column = a + j * ld;
    double inverse = 1.0 / pivot;
    // Unlikely: keeps the bound off the path.
    if (__builtin_expect(!(sign * pivot > TUNING_PIVOT_MIN), 0)) {
      inverse = sign /
                at_least(TUNING_PIVOT_FLOOR * fabs(pivot) + TUNING_PIVOT_REPLACEMENT, sign * pivot);
    }
    if (j + 1 < n) {
      pivot = column[ld + j + 1] - inverse * column[j + 1] * column[j + 1];
    }
#pragma GCC unroll 8
    for (int k = j + 1; k < n; ++k) {
      column_subtract(a + k * ld, column, inverse * column[k], k, n);
    }
#pragma GCC unroll 8
    for (int k = j + 1; k < n; ++k) {
      column[k] *= inverse;
    }
    column[j] = inverse;
  }
}

// b <- b L^-T, with A factored.
INLINE void block_forward(const double *a, int n, double *b, int rows)
{
  int ld = padded(n), step = padded(rows);
#pragma GCC unroll 8
  for (int c = 1; c < n; ++c) {
#pragma GCC unroll 8
    for (int k = 0; k < c; ++k) {
      column_subtract(b + c * step, b + k * step, a[k * ld + c], 0, rows);
    }
  }
}

// kept = column, then column *= s.
INLINE void column_scale(double *column, double *kept, double s, int rows)
{
  int i = 0;
#pragma GCC unroll 2
  for (; i + 4 <= padded(rows); i += 4) {
    f64x4 a;
    memcpy(&a, column + i, sizeof a);
    memcpy(kept + i, &a, sizeof a);
    a = s * a;
    memcpy(column + i, &a, sizeof a);
  }
  if (i < rows) {
    f64x2 a = load2(column + i);
    store2(kept + i, a);
    store2(column + i, s * a);
  }
}

// y = b, then b <- b D^-1.
INLINE void block_scale(const double *a, int n, double *b, double *y, int rows)
{
  int ld = padded(n), step = padded(rows);
#pragma GCC unroll 8
  for (int c = 0; c < n; ++c) {
    column_scale(b + c * step, y + c * step, a[c * ld + c], rows);
  }
}

// One column of c -= z y^T, for rows from `first` rounded down to a multiple of four.
INLINE void product_column(double *c, const double *z, int rows, const double *y, int other, int n,
                           int first)
{
  int step = padded(rows);
  int i = first & ~3;
#pragma GCC unroll 2
  for (; i + 4 <= step; i += 4) {
    f64x4 sum;
    memcpy(&sum, c + i, sizeof sum);
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) {
      f64x4 a;
      memcpy(&a, z + k * step + i, sizeof a);
      sum -= a * y[k * other];
    }
    memcpy(c + i, &sum, sizeof sum);
  }
  if (i < rows) {
    f64x2 sum = load2(c + i);
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) {
      sum -= load2(z + k * step + i) * y[k * other];
    }
    store2(c + i, sum);
  }
}

// c -= z y^T; z has `rows`, y `columns` rows, both n columns. Only the lower half if `lower`: the
// target is a diagonal block.
INLINE void block_subtract(double *c, const double *z, int rows, const double *y, int columns,
                           int n, int lower)
{
#pragma GCC unroll 8
  for (int j = 0; j < columns; ++j) {
    product_column(c + j * padded(rows), z, rows, y + j, padded(columns), n, lower ? j : 0);
  }
}

#endif
