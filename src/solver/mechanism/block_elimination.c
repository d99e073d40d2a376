// Sparse block factorization A = L D L^T of a mechanism's matrix, and solutions for two right-hand
// sides. Compiled once for each lane width, for its instruction set; all give the same bits. The
// build of one lane uses the code of four.
#include "solver/gather.h"
#include "solver/mechanism/direct_system.h"
#include "solver/mechanism/mechanism_batch.h"

#if TN_LANES == 1 && !defined(TN_ONE_LANE)
#define MATRIX_LANES 4
#else
#define MATRIX_LANES TN_LANES
#endif
#define DIRECT_OPS PASTE(direct_ops_, TN_LANES)
#define DIRECT_SOLVE PASTE(direct_solve_, MATRIX_LANES)
#define BATCH_SOLVE PASTE(batch_solve_, MATRIX_LANES)

#if MATRIX_LANES == TN_LANES

// ---------------------------------------------------------------------------------------------
// Elimination

// y = b, then b <- b M^-1 for a leaf: four rows at a time, or two.
#define SCALE_BY_INVERSE_MASS(type)                                                                \
  {                                                                                                \
    type r[BODY_ROWS], z[BODY_ROWS];                                                               \
    for (int k = 0; k < BODY_ROWS; ++k) {                                                          \
      memcpy(&r[k], b + k * step + i, sizeof(type));                                               \
      memcpy(y + k * step + i, &r[k], sizeof(type));                                               \
    }                                                                                              \
    z[0] = a[0] * r[0];                                                                            \
    z[1] = a[0] * r[1];                                                                            \
    z[2] = a[0] * r[2];                                                                            \
    z[3] = a[1] * r[3] + a[4] * r[4] + a[5] * r[5];                                                \
    z[4] = a[4] * r[3] + a[2] * r[4] + a[6] * r[5];                                                \
    z[5] = a[5] * r[3] + a[6] * r[4] + a[3] * r[5];                                                \
    for (int k = 0; k < BODY_ROWS; ++k) {                                                          \
      memcpy(b + k * step + i, &z[k], sizeof(type));                                               \
    }                                                                                              \
  }

INLINE void scale_by_inverse_mass(const double *a, double *b, double *y, int rows)
{
  int step = padded(rows), i = 0;
#pragma GCC unroll 2
  for (; i + 4 <= step; i += 4) {
    SCALE_BY_INVERSE_MASS(f64x4)
  }
  if (i < rows) {
    SCALE_BY_INVERSE_MASS(f64x2)
  }
}

// Eliminates a node: the blocks below become those of L, and their products are subtracted from
// later blocks. `m` is the number of rows of all nodes below, or 0 if they differ.
INLINE void eliminate(const direct_system *s, const direct_node *node, int n, int m, int is_leaf)
{
  double *d = s->values + node->diagonal;
  if (!is_leaf) {
    block_factor(d, n, node->is_joint ? -1.0 : 1.0);
  }
  double *copy = s->scratch;
  const int32_t *target = s->targets + node->first_target;
  for (int32_t p = 0; p < node->count; ++p) {
    const direct_block *below = &s->blocks[node->first + p];
    int rows = m ? m : s->nodes[below->node].rows;
    double *l = s->values + below->at;
    if (!is_leaf) {
      block_forward(d, n, l, rows);
    }
    if (is_leaf) {
      scale_by_inverse_mass(d, l, copy, rows);
    } else {
      block_scale(d, n, l, copy, rows);
    }
    const double *other = s->scratch;
    for (int32_t q = 0; q <= p; ++q) {
      int columns = m ? m : s->nodes[s->blocks[node->first + q].node].rows;
      if (q == p) {
        block_subtract(s->values + *target++, l, rows, other, rows, n, 1);
      } else {
        block_subtract(s->values + *target++, l, rows, other, columns, n, 0);
      }
      other += padded(columns) * n;
    }
    copy += padded(rows) * n;
  }
}

// Frequent sizes, with loops of constant length: n rows of the node, m of all nodes below.
#define SIZES(n, m) (16 * (n) + (m))
#define FOR_COMMON_SIZES(DO)                                                                       \
  DO(3, 3)                                                                                         \
  DO(3, 6)                                                                                         \
  DO(4, 6)                                                                                         \
  DO(5, 5)                                                                                         \
  DO(5, 6)                                                                                         \
  DO(6, 3)                                                                                         \
  DO(6, 4)                                                                                         \
  DO(6, 5)                                                                                         \
  DO(6, 6)

static void eliminate_leaf(const direct_system *s, const direct_node *node, int m)
{
  switch (m) {
  case 3:
    eliminate(s, node, BODY_ROWS, 3, 1);
    break;
  case 4:
    eliminate(s, node, BODY_ROWS, 4, 1);
    break;
  case 5:
    eliminate(s, node, BODY_ROWS, 5, 1);
    break;
  case 6:
    eliminate(s, node, BODY_ROWS, 6, 1);
    break;
  default:
    eliminate(s, node, BODY_ROWS, 0, 1);
    break;
  }
}

#define ELIMINATE(n, m)                                                                            \
  case SIZES(n, m):                                                                                \
    eliminate(s, node, n, m, 0);                                                                   \
    break;

static void eliminate_node(const direct_system *s, const direct_node *node)
{
  int n = node->rows;
  int m = node->below;
  if (node->is_leaf) {
    eliminate_leaf(s, node, m);
    return;
  }
  switch (n < 16 && m < 16 ? SIZES(n, m) : 0) {
    FOR_COMMON_SIZES(ELIMINATE)
  default:
    eliminate(s, node, n, 0, 0);
    break;
  }
}

// ---------------------------------------------------------------------------------------------
// Substitution

// Right-hand sides or solutions of a node, velocity and position.
INLINE f64x2 *both(const direct_system *s, const direct_node *node)
{
  return s->x + node->first_row;
}

// y <- D^-1 y
INLINE void solve_diagonal(const double *d, int n, int is_leaf, f64x2 *y)
{
  if (is_leaf) {
    f64x2 a = y[3], b = y[4], c = y[5];
#pragma GCC unroll 8
    for (int i = 0; i < 3; ++i) {
      y[i] = d[0] * y[i];
    }
    y[3] = d[1] * a + d[4] * b + d[5] * c;
    y[4] = d[4] * a + d[2] * b + d[6] * c;
    y[5] = d[5] * a + d[6] * b + d[3] * c;
    return;
  }
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    y[i] = d[i * padded(n) + i] * y[i];
  }
}

// y <- L^-1 y
INLINE void solve_lower(const double *d, int n, f64x2 *y)
{
#pragma GCC unroll 8
  for (int k = 0; k < n; ++k) {
#pragma GCC unroll 8
    for (int i = k + 1; i < n; ++i) {
      y[i] -= d[k * padded(n) + i] * y[k];
    }
  }
}

// y <- L^-T y
INLINE void solve_upper(const double *d, int n, f64x2 *y)
{
#pragma GCC unroll 8
  for (int i = n - 1; i >= 0; --i) {
#pragma GCC unroll 8
    for (int k = i + 1; k < n; ++k) {
      y[i] -= d[i * padded(n) + k] * y[k];
    }
  }
}

// to -= l y, for one row of l.
INLINE void subtract_row(f64x2 *to, const double *l, int step, const f64x2 *y, int n)
{
  f64x2 sum = *to;
#pragma GCC unroll 8
  for (int k = 0; k < n; ++k) {
    sum -= l[k * step] * y[k];
  }
  *to = sum;
}

// y -= l^T from, for one column of l.
INLINE void subtract_column(f64x2 *y, const double *l, const f64x2 *from, int rows)
{
  f64x2 sum = *y;
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
    sum -= l[i] * from[i];
  }
  *y = sum;
}

#if defined(__AVX2__)
#define PAIRED 1
INLINE __m256d twice(const f64x2 *x)
{
  return _mm256_broadcast_pd((const __m128d *)x);
}

// The same for two rows, and below for two columns, at a time.
INLINE void subtract_rows(f64x2 *to, const double *l, int step, const f64x2 *y, int n)
{
  __m256d sum = _mm256_loadu_pd((const double *)to);
#pragma GCC unroll 8
  for (int k = 0; k < n; ++k) {
    __m256d both = _mm256_castpd128_pd256(_mm_loadu_pd(l + k * step));
    sum = _mm256_sub_pd(sum, _mm256_mul_pd(_mm256_permute4x64_pd(both, 0x50), twice(&y[k])));
  }
  _mm256_storeu_pd((double *)to, sum);
}

INLINE void subtract_columns(f64x2 *y, const double *l, int step, const f64x2 *from, int rows)
{
  __m256d sum = _mm256_loadu_pd((const double *)y);
#pragma GCC unroll 8
  for (int i = 0; i < rows; i += 2) {
    __m256d both = _mm256_castpd128_pd256(_mm_loadu_pd(l + i));
    both = _mm256_insertf128_pd(both, _mm_loadu_pd(l + step + i), 1);
    sum = _mm256_sub_pd(sum, _mm256_mul_pd(_mm256_permute_pd(both, 0x0), twice(&from[i])));
    if (i + 1 < rows) {
      sum = _mm256_sub_pd(sum, _mm256_mul_pd(_mm256_permute_pd(both, 0xf), twice(&from[i + 1])));
    }
  }
  _mm256_storeu_pd((double *)y, sum);
}
#else
#define PAIRED 0
#define subtract_rows(to, l, step, y, n)
#define subtract_columns(y, l, step, from, rows)
#endif

INLINE void forward(const direct_system *s, const direct_node *node, int n, int m)
{
  const double *d = s->values + node->diagonal;
  f64x2 *y = both(s, node);
  if (!node->is_leaf) {
    solve_lower(d, n, y);
  }
  for (int32_t p = 0; p < node->count; ++p) {
    const direct_block *below = &s->blocks[node->first + p];
    const direct_node *other = &s->nodes[below->node];
    const double *l = s->values + below->at;
    f64x2 *to = both(s, other);
    int rows = m ? m : other->rows, step = padded(rows), i = 0;
#pragma GCC unroll 4
    for (; PAIRED && i + 1 < rows; i += 2) {
      subtract_rows(to + i, l + i, step, y, n);
    }
#pragma GCC unroll 8
    for (; i < rows; ++i) {
      subtract_row(to + i, l + i, step, y, n);
    }
  }
  solve_diagonal(d, n, node->is_leaf, y);
}

INLINE void backward(const direct_system *s, const direct_node *node, int n, int m)
{
  const double *d = s->values + node->diagonal;
  f64x2 *y = both(s, node);
  for (int32_t p = 0; p < node->count; ++p) {
    const direct_block *below = &s->blocks[node->first + p];
    const direct_node *other = &s->nodes[below->node];
    const double *l = s->values + below->at;
    const f64x2 *from = both(s, other);
    int rows = m ? m : other->rows, step = padded(rows), k = 0;
#pragma GCC unroll 4
    for (; PAIRED && k + 1 < n; k += 2) {
      subtract_columns(y + k, l + k * step, step, from, rows);
    }
#pragma GCC unroll 8
    for (; k < n; ++k) {
      subtract_column(y + k, l + k * step, from, rows);
    }
  }
  if (!node->is_leaf) {
    solve_upper(d, n, y);
  }
}

#define FORWARD(n, m)                                                                              \
  case SIZES(n, m):                                                                                \
    forward(s, node, n, m);                                                                        \
    break;
#define BACKWARD(n, m)                                                                             \
  case SIZES(n, m):                                                                                \
    backward(s, node, n, m);                                                                       \
    break;

static void substitute_forward(const direct_system *s, const direct_node *node)
{
  int n = node->rows;
  int m = node->below;
  switch (n < 16 && m < 16 ? SIZES(n, m) : 0) {
    FOR_COMMON_SIZES(FORWARD)
  default:
    forward(s, node, n, 0);
    break;
  }
}

static void substitute_back(const direct_system *s, const direct_node *node)
{
  int n = node->rows;
  int m = node->below;
  switch (n < 16 && m < 16 ? SIZES(n, m) : 0) {
    FOR_COMMON_SIZES(BACKWARD)
  default:
    backward(s, node, n, 0);
    break;
  }
}

void DIRECT_SOLVE(const direct_system *s, int refactor)
{
  for (int32_t i = s->first; i < s->last; ++i) {
    if (refactor) {
      eliminate_node(s, &s->nodes[i]);
    }
    substitute_forward(s, &s->nodes[i]);
  }
  for (int32_t i = s->last - 1; i >= s->first; --i) {
    substitute_back(s, &s->nodes[i]);
  }
}

#endif

#define DIRECT_JACOBIANS PASTE(direct_jacobians_, TN_LANES)
#define DIRECT_COORDINATES PASTE(direct_coordinates_, TN_LANES)

const direct_ops DIRECT_OPS = {
    .evaluate = DIRECT_JACOBIANS,
    .evaluate_ahead = DIRECT_COORDINATES,
    .solve = DIRECT_SOLVE,
#if !defined(TN_SMALL)
    .solve_batch = BATCH_SOLVE,
#endif
};
