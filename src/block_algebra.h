// Small dense blocks, row by row, as the direct solver's elimination needs them.
#ifndef TENON_BLOCK_ALGEBRA_H
#define TENON_BLOCK_ALGEBRA_H

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

// A = L D L^T in place, with inverted pivots on the diagonal. All pivots have the sign of `sign`;
// one that rounding has made of nothing becomes a small one.
INLINE void block_factor(double *a, int n, double sign)
{
  for (int j = 0; j < n; ++j) {
    double *row = a + j * n;
    double least = 1e-13 * fabs(row[j]) + 1e-300;
    double d = row[j];
    for (int k = 0; k < j; ++k) {
      double l = row[k] * a[k * n + k];
      d -= l * row[k];
      row[k] = l;
    }
    d = sign * fmax(sign * d, least);
    for (int i = j + 1; i < n; ++i) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; ++k) {
        sum -= a[i * n + k] * row[k];
      }
      a[i * n + j] = sum;
    }
    row[j] = 1.0 / d;
  }
}

// b <- A^-1 b for each of `count` rows b of n numbers, A factored.
INLINE void block_divide_row(const double *a, int n, double *b)
{
  for (int i = 1; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      b[i] -= a[i * n + k] * b[k];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    b[i] *= a[i * n + i];
    for (int k = i + 1; k < n; ++k) {
      b[i] -= a[k * n + i] * b[k];
    }
  }
}

// c -= a b^T, with a of `rows` and b of `columns` rows of n numbers; only the lower part if they
// are the same.
INLINE void block_subtract(double *c, const double *a, int rows, const double *b, int columns,
                           int n, int lower)
{
  for (int i = 0; i < rows; ++i) {
    int last = lower ? i + 1 : columns;
    for (int j = 0; j < last; ++j) {
      double sum = 0.0;
      for (int k = 0; k < n; ++k) {
        sum += a[i * n + k] * b[j * n + k];
      }
      c[i * columns + j] -= sum;
    }
  }
}

#endif
