// The factorization and solution of block_elimination.c with one mechanism in each lane: the same
// operations on each number in the same order, so the bits are the same. Compiled once for each
// lane width, for its instruction set; the build of one lane uses the code of four.
#include "solver/gather.h"
#include "solver/mechanism/mechanism_batch.h"

#if !defined(TN_SMALL) && (TN_LANES > 1 || defined(TN_ONE_LANE))

// Vectors wider than the target's registers are passed to inlined functions only: the ABI does not
// matter.
#pragma GCC diagnostic ignored "-Wpsabi"

#define BATCH_SOLVE PASTE(batch_solve_, TN_LANES)

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

// ---------------------------------------------------------------------------------------------
// Assembly

static const batch_f64 ZERO = {0.0, 0.0, 0.0, 0.0};
#define ONES                                                                                       \
  {                                                                                                \
    1.0, 1.0, 1.0, 1.0                                                                             \
  }
#define MINUS                                                                                      \
  {                                                                                                \
    -1.0, -1.0, -1.0, -1.0                                                                         \
  }

// Jacobians of the relative angular velocity about the world axes.
static const batch_jacobian AXES[3] = {
    {[3] = MINUS, [9] = ONES}, {[4] = MINUS, [10] = ONES}, {[5] = MINUS, [11] = ONES}};

INLINE const batch_f64 *row_of(const batch_system *s, const batch_joint *j, const batch_row *row)
{
  return row->source >= ANGULAR_AXIS_ROW - 2 ? AXES[ANGULAR_AXIS_ROW - row->source]
                                             : s->jacobians[j->first_batch_jacobian + row->source];
}

// Loads four adjacent doubles from each lane's joint_row, transposed.
INLINE void load_row_fields(const batch_row *row, size_t at, batch_f64 *to)
{
  batch_f64 of[BATCH_WIDTH];
#pragma GCC unroll 4
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    memcpy(&of[lane], (const char *)row->joint_row[lane] + at, sizeof of[lane]);
  }
  batch_f64 a = SHUFFLE(of[0], of[1], 0, 4, 2, 6), b = SHUFFLE(of[0], of[1], 1, 5, 3, 7);
  batch_f64 c = SHUFFLE(of[2], of[3], 0, 4, 2, 6), d = SHUFFLE(of[2], of[3], 1, 5, 3, 7);
  to[0] = SHUFFLE(a, c, 0, 1, 4, 5);
  to[1] = SHUFFLE(b, d, 0, 1, 4, 5);
  to[2] = SHUFFLE(a, c, 2, 3, 6, 7);
  to[3] = SHUFFLE(b, d, 2, 3, 6, 7);
}

enum { FIELD_RATE, FIELD_RHS, FIELD_ERROR, FIELD_ALPHA };
enum { FIELD_REGULARIZATION, FIELD_LAMBDA };
_Static_assert(offsetof(joint_row, alpha) == offsetof(joint_row, rate) + 3 * sizeof(double) &&
                   offsetof(joint_row, lambda) ==
                       offsetof(joint_row, regularization) + sizeof(double) &&
                   offsetof(joint_row, hi) ==
                       offsetof(joint_row, regularization) + 3 * sizeof(double),
               "fields of rows are read by fours");

// Compliance of a row, as row_compliance(); 1 in lanes without the row, where nothing depends on
// it.
INLINE batch_f64 compliance_of(const batch_row *row)
{
  batch_f64 first[4], next[4];
  load_row_fields(row, offsetof(joint_row, rate), first);
  load_row_fields(row, offsetof(joint_row, regularization), next);
  batch_f64 soft = select_lanes(next[FIELD_REGULARIZATION] > first[FIELD_ALPHA],
                                next[FIELD_REGULARIZATION], first[FIELD_ALPHA]);
  return select_lanes(mask_of(row->lanes), soft, splat_lanes(1.0));
}

static void assemble_rows(const batch_system *s, const batch_joint *j)
{
  const direct_node *node = &s->nodes[j->node];
  int n = node->rows;
  batch_f64 *diagonal = s->values + (size_t)node->diagonal;
  for (int i = 0; i < n; ++i) {
    const batch_row *row = &s->rows[j->first_row + i];
    diagonal[i * n + i] = -compliance_of(row);
    for (int k = i + 1; k < n; ++k) {
      diagonal[i * n + k] = ZERO;
    }
    lane_mask m = mask_of(row->lanes);
    const batch_f64 *from = row_of(s, j, row);
    for (int side = 0; side < 2; ++side, from += BODY_ROWS) {
      if (j->body_node[side] > j->node) {
        batch_f64 *to = s->values + j->jacobian_offset[side] + i * BODY_ROWS;
#pragma GCC unroll 6
        for (int k = 0; k < BODY_ROWS; ++k) {
          to[k] = mask_lanes(m, from[k]);
        }
      } else if (j->body_node[side] >= 0) {
        batch_f64 *to = s->values + j->jacobian_offset[side] + i;
#pragma GCC unroll 6
        for (int k = 0; k < BODY_ROWS; ++k) {
          to[k * n] = mask_lanes(m, from[k]);
        }
      }
    }
  }
}

// Expands the MASS_VALUES at the start of the block to the mass matrix.
static void assemble_body(const batch_system *s, const direct_node *node)
{
  batch_f64 *to = s->values + node->diagonal, mass[MASS_VALUES];
  if (node->is_leaf) {
    return;
  }
  memcpy(mass, to, sizeof mass);
  for (int i = 0; i < 3 * BODY_ROWS; ++i) {
    to[i] = ZERO;
  }
  to[0] = to[7] = to[14] = mass[0];
  memcpy(to + 21, mass + 1, 3 * sizeof *to);
  memcpy(to + 28, mass + 4, 2 * sizeof *to);
  to[35] = mass[6];
}

// Sets `below` and clears the blocks that only elimination writes to.
static void clear_blocks(const batch_system *s, direct_node *node)
{
  int below = BODY_ROWS;
  for (int32_t k = 0; k < node->count; ++k) {
    const direct_block *block = &s->blocks[node->first + k];
    int rows = s->nodes[block->node - s->base_node].rows;
    below = k == 0 || below == rows ? rows : 0;
    if (block->fills) {
      memset(s->values + (block->at - s->base_value), 0,
             (size_t)(rows * node->rows) * sizeof *s->values);
    }
  }
  node->below = (int16_t)below;
}

static void assemble_matrix(const batch_system *s)
{
  for (int32_t i = 0; i < s->joint_count; ++i) {
    assemble_rows(s, &s->joints[i]);
  }
  for (int32_t i = 0; i < s->node_count; ++i) {
    clear_blocks(s, &s->nodes[i]);
    if (!s->nodes[i].is_joint) {
      assemble_body(s, &s->nodes[i]);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Right-hand sides

// Velocities and right-hand sides of bodies, from members to lanes.
static void build_body_rhs(const batch_system *s)
{
  for (int32_t i = 0; i < s->node_count; ++i) {
    const direct_node *node = &s->nodes[i];
    if (node->is_joint) {
      continue;
    }
    for (int k = 0; k < BODY_ROWS; ++k) {
      int32_t row = node->first_row + k;
      s->v[row] =
          (batch_f64){s->lane_v[0][row], s->lane_v[1][row], s->lane_v[2][row], s->lane_v[3][row]};
      batch_f64 given = ZERO;
      if (s->has_body_rhs) {
        given = (batch_f64){s->lane_x[0][row][0], s->lane_x[1][row][0], s->lane_x[2][row][0],
                            s->lane_x[3][row][0]};
      }
      s->x[2 * row] = given;
      s->x[2 * row + 1] = ZERO;
    }
  }
}

// Velocities of a joint's bodies, as direct_joint_motion().
static void motion_of(const batch_system *s, const batch_joint *j, batch_f64 *v)
{
  for (int side = 0; side < 2; ++side, v += BODY_ROWS) {
    if (j->body_node[side] >= 0) {
      memcpy(v, s->v + s->nodes[j->body_node[side]].first_row, BODY_ROWS * sizeof *v);
      continue;
    }
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      const body_state *b = &s->bodies[j->body[side][lane]];
      for (int k = 0; k < 3; ++k) {
        v[k][lane] = (double)b->v[k];
        v[3 + k][lane] = (double)b->w[k];
      }
    }
  }
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

static void build_joint_rhs(const batch_system *s, const batch_joint *j)
{
  const direct_node *node = &s->nodes[j->node];
  batch_f64 motion[2 * BODY_ROWS], *x = s->x + 2 * node->first_row;
  lane_mask whole = mask_of(s->bias_lanes), first = mask_of(s->resolve ? 0 : s->solve_lanes);
  motion_of(s, j, motion);
  for (int i = 0; i < node->rows; ++i) {
    const batch_row *row = &s->rows[j->first_row + i];
    unsigned lanes = row->lanes & s->solve_lanes;
    lane_mask m = mask_of(lanes);
    batch_f64 l[4], next[4];
    load_row_fields(row, offsetof(joint_row, rate), l);
    load_row_fields(row, offsetof(joint_row, regularization), next);
    batch_f64 u = along_row(row_of(s, j, row), motion);
    batch_f64 rhs = -(l[FIELD_RATE] + mask_lanes(whole, l[FIELD_ERROR]) + u +
                      l[FIELD_ALPHA] * next[FIELD_LAMBDA]);
#pragma GCC unroll 4
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      if (lanes >> lane & 1) {
        row->joint_row[lane]->rhs = rhs[lane];
      }
    }
    x[2 * i] = mask_lanes(m, rhs);
    x[2 * i + 1] = mask_lanes(m & first, -l[FIELD_ERROR]);
  }
}

// ---------------------------------------------------------------------------------------------
// Elimination

// A = L D L^T in place, of the lower half, with inverted pivots on the diagonal: see
// block_factor().
INLINE void factor(batch_f64 *a, int n, double sign)
{
#pragma GCC unroll 8
  for (int j = 0; j < n; ++j) {
    batch_f64 *column = a + j * n, pivot = column[j];
    batch_f64 inverse = 1.0 / pivot;
    lane_mask sound = sign * pivot > TUNING_PIVOT_MIN;
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      if (__builtin_expect(!sound[lane], 0)) {
        inverse[lane] =
            sign / at_least(TUNING_PIVOT_FLOOR * fabs(pivot[lane]) + TUNING_PIVOT_REPLACEMENT,
                            sign * pivot[lane]);
      }
    }
#pragma GCC unroll 8
    for (int k = j + 1; k < n; ++k) {
      batch_f64 scale = inverse * column[k];
#pragma GCC unroll 8
      for (int i = k; i < n; ++i) {
        a[k * n + i] -= scale * column[i];
      }
    }
#pragma GCC unroll 8
    for (int k = j + 1; k < n; ++k) {
      column[k] *= inverse;
    }
    column[j] = inverse;
  }
}

// y = b L^-T, with A factored, then b <- y D^-1.
INLINE void solve_block_right(const batch_f64 *restrict a, int n, batch_f64 *restrict b,
                              batch_f64 *restrict y, int rows)
{
#pragma GCC unroll 8
  for (int c = 0; c < n; ++c) {
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      batch_f64 sum = b[c * rows + i];
#pragma GCC unroll 8
      for (int k = 0; k < c; ++k) {
        sum -= a[k * n + c] * y[k * rows + i];
      }
      y[c * rows + i] = sum;
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < n; ++c) {
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      b[c * rows + i] = a[c * n + c] * y[c * rows + i];
    }
  }
}

// y = b, then b <- b M^-1 for a leaf.
INLINE void scale_by_inverse_mass(const batch_f64 *restrict a, batch_f64 *restrict b,
                                  batch_f64 *restrict y, int rows)
{
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
    batch_f64 r[BODY_ROWS];
#pragma GCC unroll 8
    for (int k = 0; k < BODY_ROWS; ++k) {
      r[k] = y[k * rows + i] = b[k * rows + i];
    }
    b[i] = a[0] * r[0];
    b[rows + i] = a[0] * r[1];
    b[2 * rows + i] = a[0] * r[2];
    b[3 * rows + i] = a[1] * r[3] + a[4] * r[4] + a[5] * r[5];
    b[4 * rows + i] = a[4] * r[3] + a[2] * r[4] + a[6] * r[5];
    b[5 * rows + i] = a[5] * r[3] + a[6] * r[4] + a[3] * r[5];
  }
}

// c -= z y^T; only the lower half if `lower`: the target is a diagonal block.
INLINE void subtract(batch_f64 *restrict c, const batch_f64 *restrict z, int rows,
                     const batch_f64 *restrict y, int columns, int n, int lower)
{
#pragma GCC unroll 8
  for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 8
    for (int i = lower ? j : 0; i < rows; ++i) {
      batch_f64 sum = c[j * rows + i];
#pragma GCC unroll 8
      for (int k = 0; k < n; ++k) {
        sum -= z[k * rows + i] * y[k * columns + j];
      }
      c[j * rows + i] = sum;
    }
  }
}

// Rows of the p-th node below; m if all have the same.
INLINE int rows_below(const batch_system *s, const direct_node *node, int32_t p, int m)
{
  return m ? m : s->nodes[s->blocks[node->first + p].node - s->base_node].rows;
}

INLINE void eliminate(const batch_system *s, const direct_node *node, int n, int m, int is_leaf)
{
  batch_f64 *d = s->values + node->diagonal;
  if (!is_leaf) {
    factor(d, n, node->is_joint ? -1.0 : 1.0);
  }
  batch_f64 *copy = s->scratch;
  const int32_t *target = s->targets + node->first_target;
  for (int32_t p = 0; p < node->count; ++p) {
    int rows = rows_below(s, node, p, m);
    batch_f64 *l = s->values + (s->blocks[node->first + p].at - s->base_value);
    if (is_leaf) {
      scale_by_inverse_mass(d, l, copy, rows);
    } else {
      solve_block_right(d, n, l, copy, rows);
    }
    const batch_f64 *other = s->scratch;
    for (int32_t q = 0; q <= p; ++q) {
      int columns = rows_below(s, node, q, m);
      batch_f64 *to = s->values + (*target++ - s->base_value);
      if (q == p) {
        subtract(to, l, rows, other, rows, n, 1);
      } else {
        subtract(to, l, rows, other, columns, n, 0);
      }
      other += columns * n;
    }
    copy += rows * n;
  }
}

// ---------------------------------------------------------------------------------------------
// Substitution

// y <- D^-1 y
INLINE void solve_diagonal(const batch_f64 *d, int n, int is_leaf, batch_f64 *y)
{
  if (is_leaf) {
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      batch_f64 a = y[6 + k], b = y[8 + k], c = y[10 + k];
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i) {
        y[2 * i + k] = d[0] * y[2 * i + k];
      }
      y[6 + k] = d[1] * a + d[4] * b + d[5] * c;
      y[8 + k] = d[4] * a + d[2] * b + d[6] * c;
      y[10 + k] = d[5] * a + d[6] * b + d[3] * c;
    }
    return;
  }
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    y[2 * i] = d[i * n + i] * y[2 * i];
    y[2 * i + 1] = d[i * n + i] * y[2 * i + 1];
  }
}

// to -= l y for one row of l, of both solutions.
INLINE void take(batch_f64 *to, const batch_f64 *l, int step, const batch_f64 *y, int n)
{
  batch_f64 a = to[0], b = to[1];
#pragma GCC unroll 8
  for (int k = 0; k < n; ++k) {
    batch_f64 scale = l[k * step];
    a -= scale * y[2 * k];
    b -= scale * y[2 * k + 1];
  }
  to[0] = a;
  to[1] = b;
}

INLINE void forward(const batch_system *s, const direct_node *node, int n, int m)
{
  const batch_f64 *d = s->values + node->diagonal;
  batch_f64 *y = s->x + 2 * node->first_row;
  if (!node->is_leaf) {
#pragma GCC unroll 8
    for (int i = 1; i < n; ++i) {
      take(y + 2 * i, d + i, n, y, i);
    }
  }
  for (int32_t p = 0; p < node->count; ++p) {
    const direct_block *below = &s->blocks[node->first + p];
    const direct_node *other = &s->nodes[below->node - s->base_node];
    const batch_f64 *l = s->values + (below->at - s->base_value);
    batch_f64 *to = s->x + 2 * other->first_row;
    int rows = m ? m : other->rows;
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      take(to + 2 * i, l + i, rows, y, n);
    }
  }
  solve_diagonal(d, n, node->is_leaf, y);
}

INLINE void backward(const batch_system *s, const direct_node *node, int n, int m)
{
  const batch_f64 *d = s->values + node->diagonal;
  batch_f64 *y = s->x + 2 * node->first_row;
  for (int32_t p = 0; p < node->count; ++p) {
    const direct_block *below = &s->blocks[node->first + p];
    const direct_node *other = &s->nodes[below->node - s->base_node];
    const batch_f64 *l = s->values + (below->at - s->base_value);
    int rows = m ? m : other->rows;
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) {
      take(y + 2 * k, l + k * rows, 1, s->x + 2 * other->first_row, rows);
    }
  }
  if (!node->is_leaf) {
#pragma GCC unroll 8
    for (int i = n - 2; i >= 0; --i) {
      take(y + 2 * i, d + i * n + i + 1, 1, y + 2 * (i + 1), n - i - 1);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Frequent sizes, with loops of constant length.

#define SIZES(n, m) (16 * (n) + (m))
#define FOR_COMMON_SIZES(DO)                                                                       \
  DO(3, 6)                                                                                         \
  DO(4, 6)                                                                                         \
  DO(5, 6)                                                                                         \
  DO(6, 3)                                                                                         \
  DO(6, 4)                                                                                         \
  DO(6, 5)                                                                                         \
  DO(6, 6)

#define ELIMINATE(n, m)                                                                            \
  case SIZES(n, m):                                                                                \
    eliminate(s, node, n, m, 0);                                                                   \
    break;
#define FORWARD(n, m)                                                                              \
  case SIZES(n, m):                                                                                \
    forward(s, node, n, m);                                                                        \
    break;
#define BACKWARD(n, m)                                                                             \
  case SIZES(n, m):                                                                                \
    backward(s, node, n, m);                                                                       \
    break;

static int sizes_of(const direct_node *node)
{
  return node->rows < 16 && node->below < 16 ? SIZES(node->rows, node->below) : 0;
}

static void eliminate_node(const batch_system *s, const direct_node *node)
{
  if (node->is_leaf) {
    eliminate(s, node, BODY_ROWS, 0, 1);
    return;
  }
  switch (sizes_of(node)) {
    FOR_COMMON_SIZES(ELIMINATE)
  default:
    eliminate(s, node, node->rows, 0, 0);
    break;
  }
}

static void substitute_forward(const batch_system *s, const direct_node *node)
{
  switch (sizes_of(node)) {
    FOR_COMMON_SIZES(FORWARD)
  default:
    forward(s, node, node->rows, 0);
    break;
  }
}

static void substitute_back(const batch_system *s, const direct_node *node)
{
  switch (sizes_of(node)) {
    FOR_COMMON_SIZES(BACKWARD)
  default:
    backward(s, node, node->rows, 0);
    break;
  }
}

// ---------------------------------------------------------------------------------------------
// From lanes to members

// One row of both solutions, to the four members.
INLINE void scatter_row(f64x2 *const *to, const batch_f64 *x)
{
  batch_f64 even = SHUFFLE(x[0], x[1], 0, 4, 2, 6), odd = SHUFFLE(x[0], x[1], 1, 5, 3, 7);
  *to[0] = SHUFFLE(even, even, 0, 1);
  *to[1] = SHUFFLE(odd, odd, 0, 1);
  *to[2] = SHUFFLE(even, even, 2, 3);
  *to[3] = SHUFFLE(odd, odd, 2, 3);
}

// Members get the rows that they have; lanes that are not solved are not written.
static void scatter_solutions(const batch_system *s)
{
  f64x2 unread[BODY_ROWS];
  for (int32_t i = 0; i < s->node_count; ++i) {
    const direct_node *node = &s->nodes[i];
    const batch_f64 *x = s->x + 2 * node->first_row;
    f64x2 *to[BATCH_WIDTH];
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      // cppcheck-suppress legacyUninitvar ; a place, to be written to
      to[lane] = s->solve_lanes >> lane & 1 ? s->lane_x[lane] + node->first_row : unread;
    }
    const batch_row *row = &s->rows[node->is_joint ? s->joints[node->index].first_row : 0];
    for (int k = 0; k < node->rows; ++k, x += 2) {
      scatter_row(to, x);
      int lanes = s->solve_lanes & (node->is_joint ? row[k].lanes : s->solve_lanes);
#pragma GCC unroll 4
      for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
        to[lane] += lanes >> lane & 1;
      }
    }
  }
}

void BATCH_SOLVE(const batch_system *s)
{
  if (s->refactor) {
    assemble_matrix(s);
  }
  build_body_rhs(s);
  for (int32_t i = 0; i < s->joint_count; ++i) {
    build_joint_rhs(s, &s->joints[i]);
  }
  for (int32_t i = 0; i < s->node_count; ++i) {
    if (s->refactor) {
      eliminate_node(s, &s->nodes[i]);
    }
    substitute_forward(s, &s->nodes[i]);
  }
  for (int32_t i = s->node_count - 1; i >= 0; --i) {
    substitute_back(s, &s->nodes[i]);
  }
  scatter_solutions(s);
}

#endif
