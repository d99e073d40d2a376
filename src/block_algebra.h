// Small dense blocks, as the direct solver's elimination needs them: column by column, each padded
// to an even number of rows so that two go at a time.
#ifndef TENON_BLOCK_ALGEBRA_H
#define TENON_BLOCK_ALGEBRA_H

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef double pair2 __attribute__((vector_size(16)));

INLINE int padded(int rows)
{
  return (rows + 1) & ~1;
}

INLINE pair2 load2(const double *from)
{
  pair2 p;
  memcpy(&p, from, sizeof p);
  return p;
}

INLINE void store2(double *to, pair2 p)
{
  memcpy(to, &p, sizeof p);
}

// to -= s from, from row `first` on.
INLINE void column_subtract(double *to, const double *from, double s, int first, int rows)
{
#pragma GCC unroll 8
  for (int i = first & ~1; i < rows; i += 2) {
    store2(to + i, load2(to + i) - s * load2(from + i));
  }
}

// A = L D L^T in place, of the lower half, with inverted pivots on the diagonal. All pivots have
// the sign of `sign`; one that rounding has made of nothing becomes a small one.
INLINE void block_factor(double *a, int n, double sign)
{
  int ld = padded(n);
#pragma GCC unroll 8
  for (int j = 0; j < n; ++j) {
    double *column = a + j * ld;
    double least = 1e-13 * fabs(column[j]) + 1e-300;
    double inverse = sign / fmax(sign * column[j], least);
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

// b <- b L^-T, A factored.
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

// z = b D^-1
INLINE void block_scale(const double *a, int n, const double *b, double *z, int rows)
{
  int ld = padded(n), step = padded(rows);
#pragma GCC unroll 8
  for (int c = 0; c < n; ++c) {
#pragma GCC unroll 8
    for (int i = 0; i < rows; i += 2) {
      store2(z + c * step + i, a[c * ld + c] * load2(b + c * step + i));
    }
  }
}

// c -= z y^T, with z of `rows`, y of `columns` rows and both of n columns; only the lower half if
// they are of the same node.
INLINE void block_subtract(double *c, const double *z, int rows, const double *y, int columns,
                           int n, int lower)
{
  int step = padded(rows), other = padded(columns);
#pragma GCC unroll 8
  for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 8
    for (int i = lower ? j & ~1 : 0; i < rows; i += 2) {
      pair2 sum = load2(c + j * step + i);
#pragma GCC unroll 8
      for (int k = 0; k < n; ++k) {
        sum -= load2(z + k * step + i) * y[k * other + j];
      }
      store2(c + j * step + i, sum);
    }
  }
}

#endif
