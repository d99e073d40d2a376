// The matrix of a team of mechanisms, one in each lane: what solve_direct.c does, number by number
// in the same order. Compiled once for each lane width, for the instructions that come with it; one
// lane comes with those of four.
#include "gather.h"
#include "team_store.h"

#if !defined(TN_SMALL) && (TN_LANES > 1 || defined(TN_ONE_LANE))

// Vectors wider than the target has registers for are handed around, but only by what is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

#define TEAM_SOLVE PASTE(team_solve_, TN_LANES)

typedef int64_t lane_mask __attribute__((vector_size(8 * TEAM)));

INLINE lane_mask mask_of(unsigned lanes)
{
  const lane_mask bits = {1, 2, 4, 8};
  return ((lane_mask){lanes, lanes, lanes, lanes} & bits) != 0;
}

INLINE lanes2 only(lane_mask m, lanes2 a)
{
  return (lanes2)((lane_mask)a & m);
}

INLINE lanes2 either(lane_mask m, lanes2 a, lanes2 b)
{
  return (lanes2)(((lane_mask)a & m) | ((lane_mask)b & ~m));
}

INLINE lanes2 all(double a)
{
  return (lanes2){a, a, a, a};
}

// ---------------------------------------------------------------------------------------------
// Assembly

static const lanes2 ZERO = {0.0, 0.0, 0.0, 0.0};
#define ONES                                                                                       \
  {                                                                                                \
    1.0, 1.0, 1.0, 1.0                                                                             \
  }
#define MINUS                                                                                      \
  {                                                                                                \
    -1.0, -1.0, -1.0, -1.0                                                                         \
  }

// Spins about the world's axes.
static const team_stated AXES[3] = {
    {[3] = MINUS, [9] = ONES}, {[4] = MINUS, [10] = ONES}, {[5] = MINUS, [11] = ONES}};

INLINE const lanes2 *row_of(const team_system *s, const team_joint *j, const team_row *row)
{
  return row->source >= TURNS_ROW - 2 ? AXES[TURNS_ROW - row->source]
                                      : s->stated[j->first_stated + row->source];
}

// Four numbers that lie side by side in each of the lanes' laws, by number.
INLINE void laws_of(const team_row *row, size_t at, lanes2 *to)
{
  lanes2 of[TEAM];
#pragma GCC unroll 4
  for (int lane = 0; lane < TEAM; ++lane) {
    memcpy(&of[lane], (const char *)row->law[lane] + at, sizeof of[lane]);
  }
  lanes2 a = SHUFFLE(of[0], of[1], 0, 4, 2, 6), b = SHUFFLE(of[0], of[1], 1, 5, 3, 7);
  lanes2 c = SHUFFLE(of[2], of[3], 0, 4, 2, 6), d = SHUFFLE(of[2], of[3], 1, 5, 3, 7);
  to[0] = SHUFFLE(a, c, 0, 1, 4, 5);
  to[1] = SHUFFLE(b, d, 0, 1, 4, 5);
  to[2] = SHUFFLE(a, c, 2, 3, 6, 7);
  to[3] = SHUFFLE(b, d, 2, 3, 6, 7);
}

enum { OF_RATE, OF_ASKED, OF_ERROR, OF_ALPHA };
enum { OF_SOFT, OF_LAMBDA };
_Static_assert(offsetof(law, alpha) == offsetof(law, rate) + 3 * sizeof(double) &&
                   offsetof(law, lambda) == offsetof(law, soft) + sizeof(double) &&
                   offsetof(law, hi) == offsetof(law, soft) + 3 * sizeof(double),
               "numbers of laws are read by fours");

// A lane without the row has one there that nothing depends on.
INLINE lanes2 softness_of(const team_row *row)
{
  lanes2 first[4], next[4];
  laws_of(row, offsetof(law, rate), first);
  laws_of(row, offsetof(law, soft), next);
  lanes2 soft = either(next[OF_SOFT] > first[OF_ALPHA], next[OF_SOFT], first[OF_ALPHA]);
  return either(mask_of(row->lanes), soft, all(1.0));
}

static void put_rows(const team_system *s, const team_joint *j)
{
  const direct_node *node = &s->nodes[j->node];
  int n = node->rows;
  lanes2 *diagonal = s->values + (size_t)node->diagonal;
  for (int i = 0; i < n; ++i) {
    const team_row *row = &s->rows[j->first_row + i];
    diagonal[i * n + i] = -softness_of(row);
    for (int k = i + 1; k < n; ++k) {
      diagonal[i * n + k] = ZERO;
    }
    lane_mask m = mask_of(row->lanes);
    const lanes2 *from = row_of(s, j, row);
    for (int side = 0; side < 2; ++side, from += BODY_ROWS) {
      if (j->at[side] > j->node) {
        lanes2 *to = s->values + j->entry[side] + i * BODY_ROWS;
#pragma GCC unroll 6
        for (int k = 0; k < BODY_ROWS; ++k) {
          to[k] = only(m, from[k]);
        }
      } else if (j->at[side] >= 0) {
        lanes2 *to = s->values + j->entry[side] + i;
#pragma GCC unroll 6
        for (int k = 0; k < BODY_ROWS; ++k) {
          to[k * n] = only(m, from[k]);
        }
      }
    }
  }
}

// From the seven numbers that are there.
static void put_body(const team_system *s, const direct_node *node)
{
  lanes2 *to = s->values + node->diagonal, mass[MASS_VALUES];
  if (node->bare) {
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

// Sizes of the blocks below a node, and zeros where only elimination writes.
static void clear_blocks(const team_system *s, direct_node *node)
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

static void put_matrix(const team_system *s)
{
  for (int32_t i = 0; i < s->joint_count; ++i) {
    put_rows(s, &s->joints[i]);
  }
  for (int32_t i = 0; i < s->node_count; ++i) {
    clear_blocks(s, &s->nodes[i]);
    if (!s->nodes[i].is_joint) {
      put_body(s, &s->nodes[i]);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Right-hand sides

static void ask_bodies(const team_system *s)
{
  for (int32_t i = 0; i < s->node_count; ++i) {
    const direct_node *node = &s->nodes[i];
    if (node->is_joint) {
      continue;
    }
    for (int k = 0; k < BODY_ROWS; ++k) {
      int32_t row = node->first_row + k;
      s->v[row] = (lanes2){s->own_v[0][row], s->own_v[1][row], s->own_v[2][row], s->own_v[3][row]};
      lanes2 given = ZERO;
      if (s->given) {
        given = (lanes2){s->own_x[0][row][0], s->own_x[1][row][0], s->own_x[2][row][0],
                         s->own_x[3][row][0]};
      }
      s->x[2 * row] = given;
      s->x[2 * row + 1] = ZERO;
    }
  }
}

static void motion_of(const team_system *s, const team_joint *j, lanes2 *v)
{
  for (int side = 0; side < 2; ++side, v += BODY_ROWS) {
    if (j->at[side] >= 0) {
      memcpy(v, s->v + s->nodes[j->at[side]].first_row, BODY_ROWS * sizeof *v);
      continue;
    }
    for (int lane = 0; lane < TEAM; ++lane) {
      const body_state *b = &s->bodies[j->body[side][lane]];
      for (int k = 0; k < 3; ++k) {
        v[k][lane] = (double)b->v[k];
        v[3 + k][lane] = (double)b->w[k];
      }
    }
  }
}

// As along_law() does.
INLINE lanes2 along_row(const lanes2 *j, const lanes2 *motion)
{
  lanes2 even = j[0] * motion[0], odd = j[1] * motion[1];
#pragma GCC unroll 8
  for (int i = 2; i < 2 * BODY_ROWS; i += 2) {
    even += j[i] * motion[i];
    odd += j[i + 1] * motion[i + 1];
  }
  return even + odd;
}

static void ask_joint(const team_system *s, const team_joint *j)
{
  const direct_node *node = &s->nodes[j->node];
  lanes2 motion[2 * BODY_ROWS], *x = s->x + 2 * node->first_row;
  lane_mask whole = mask_of(s->whole), first = mask_of(s->again ? 0 : s->asked);
  motion_of(s, j, motion);
  for (int i = 0; i < node->rows; ++i) {
    const team_row *row = &s->rows[j->first_row + i];
    unsigned lanes = row->lanes & s->asked;
    lane_mask m = mask_of(lanes);
    lanes2 l[4], next[4];
    laws_of(row, offsetof(law, rate), l);
    laws_of(row, offsetof(law, soft), next);
    lanes2 u = along_row(row_of(s, j, row), motion);
    lanes2 asked = -(l[OF_RATE] + only(whole, l[OF_ERROR]) + u + l[OF_ALPHA] * next[OF_LAMBDA]);
#pragma GCC unroll 4
    for (int lane = 0; lane < TEAM; ++lane) {
      if (lanes >> lane & 1) {
        row->law[lane]->asked = asked[lane];
      }
    }
    x[2 * i] = only(m, asked);
    x[2 * i + 1] = only(m & first, -l[OF_ERROR]);
  }
}

// ---------------------------------------------------------------------------------------------
// Elimination

// A = L D L^T in place, of the lower half, with inverted pivots on the diagonal: see
// block_factor().
INLINE void factor(lanes2 *a, int n, double sign)
{
#pragma GCC unroll 8
  for (int j = 0; j < n; ++j) {
    lanes2 *column = a + j * n, pivot = column[j];
    lanes2 inverse = 1.0 / pivot;
    lane_mask sound = sign * pivot > 1e-299;
    for (int lane = 0; lane < TEAM; ++lane) {
      if (__builtin_expect(!sound[lane], 0)) {
        inverse[lane] = sign / at_least(1e-13 * fabs(pivot[lane]) + 1e-300, sign * pivot[lane]);
      }
    }
#pragma GCC unroll 8
    for (int k = j + 1; k < n; ++k) {
      lanes2 scale = inverse * column[k];
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

// b <- b L^-T, A factored; then b <- b D^-1, y what it was.
INLINE void divide_block(const lanes2 *restrict a, int n, lanes2 *restrict b, lanes2 *restrict y,
                         int rows)
{
#pragma GCC unroll 8
  for (int c = 0; c < n; ++c) {
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      lanes2 sum = b[c * rows + i];
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

// The same with inverse mass and inertia.
INLINE void divide_by_mass(const lanes2 *restrict a, lanes2 *restrict b, lanes2 *restrict y,
                           int rows)
{
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
    lanes2 r[BODY_ROWS];
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

// c -= z y^T; only the lower half if they are of the same node.
INLINE void subtract(lanes2 *restrict c, const lanes2 *restrict z, int rows,
                     const lanes2 *restrict y, int columns, int n, int lower)
{
#pragma GCC unroll 8
  for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 8
    for (int i = lower ? j : 0; i < rows; ++i) {
      lanes2 sum = c[j * rows + i];
#pragma GCC unroll 8
      for (int k = 0; k < n; ++k) {
        sum -= z[k * rows + i] * y[k * columns + j];
      }
      c[j * rows + i] = sum;
    }
  }
}

INLINE int rows_below(const team_system *s, const direct_node *node, int32_t p, int m)
{
  return m ? m : s->nodes[s->blocks[node->first + p].node - s->base_node].rows;
}

INLINE void eliminate(const team_system *s, const direct_node *node, int n, int m, int bare)
{
  lanes2 *d = s->values + node->diagonal;
  if (!bare) {
    factor(d, n, node->is_joint ? -1.0 : 1.0);
  }
  lanes2 *copy = s->scratch;
  const int32_t *target = s->targets + node->first_target;
  for (int32_t p = 0; p < node->count; ++p) {
    int rows = rows_below(s, node, p, m);
    lanes2 *l = s->values + (s->blocks[node->first + p].at - s->base_value);
    if (bare) {
      divide_by_mass(d, l, copy, rows);
    } else {
      divide_block(d, n, l, copy, rows);
    }
    const lanes2 *other = s->scratch;
    for (int32_t q = 0; q <= p; ++q) {
      int columns = rows_below(s, node, q, m);
      lanes2 *to = s->values + (*target++ - s->base_value);
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
INLINE void divide(const lanes2 *d, int n, int bare, lanes2 *y)
{
  if (bare) {
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      lanes2 a = y[6 + k], b = y[8 + k], c = y[10 + k];
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

// A row of what is below takes l y from its own, for both solutions.
INLINE void take(lanes2 *to, const lanes2 *l, int step, const lanes2 *y, int n)
{
  lanes2 a = to[0], b = to[1];
#pragma GCC unroll 8
  for (int k = 0; k < n; ++k) {
    lanes2 scale = l[k * step];
    a -= scale * y[2 * k];
    b -= scale * y[2 * k + 1];
  }
  to[0] = a;
  to[1] = b;
}

INLINE void forward(const team_system *s, const direct_node *node, int n, int m)
{
  const lanes2 *d = s->values + node->diagonal;
  lanes2 *y = s->x + 2 * node->first_row;
  if (!node->bare) {
#pragma GCC unroll 8
    for (int i = 1; i < n; ++i) {
      take(y + 2 * i, d + i, n, y, i);
    }
  }
  for (int32_t p = 0; p < node->count; ++p) {
    const direct_block *below = &s->blocks[node->first + p];
    const direct_node *other = &s->nodes[below->node - s->base_node];
    const lanes2 *l = s->values + (below->at - s->base_value);
    lanes2 *to = s->x + 2 * other->first_row;
    int rows = m ? m : other->rows;
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      take(to + 2 * i, l + i, rows, y, n);
    }
  }
  divide(d, n, node->bare, y);
}

INLINE void backward(const team_system *s, const direct_node *node, int n, int m)
{
  const lanes2 *d = s->values + node->diagonal;
  lanes2 *y = s->x + 2 * node->first_row;
  for (int32_t p = 0; p < node->count; ++p) {
    const direct_block *below = &s->blocks[node->first + p];
    const direct_node *other = &s->nodes[below->node - s->base_node];
    const lanes2 *l = s->values + (below->at - s->base_value);
    int rows = m ? m : other->rows;
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) {
      take(y + 2 * k, l + k * rows, 1, s->x + 2 * other->first_row, rows);
    }
  }
  if (!node->bare) {
#pragma GCC unroll 8
    for (int i = n - 2; i >= 0; --i) {
      take(y + 2 * i, d + i * n + i + 1, 1, y + 2 * (i + 1), n - i - 1);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Sizes that occur most, each with loops of known length.

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

static void eliminate_node(const team_system *s, const direct_node *node)
{
  if (node->bare) {
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

static void substitute_forward(const team_system *s, const direct_node *node)
{
  switch (sizes_of(node)) {
    FOR_COMMON_SIZES(FORWARD)
  default:
    forward(s, node, node->rows, 0);
    break;
  }
}

static void substitute_back(const team_system *s, const direct_node *node)
{
  switch (sizes_of(node)) {
    FOR_COMMON_SIZES(BACKWARD)
  default:
    backward(s, node, node->rows, 0);
    break;
  }
}

// ---------------------------------------------------------------------------------------------
// Solutions to members

INLINE void tell_row(pair2 *const *to, const lanes2 *x)
{
  lanes2 even = SHUFFLE(x[0], x[1], 0, 4, 2, 6), odd = SHUFFLE(x[0], x[1], 1, 5, 3, 7);
  *to[0] = SHUFFLE(even, even, 0, 1);
  *to[1] = SHUFFLE(odd, odd, 0, 1);
  *to[2] = SHUFFLE(even, even, 2, 3);
  *to[3] = SHUFFLE(odd, odd, 2, 3);
}

// Members keep the rows that they have. Those that were not asked are told nothing.
static void tell_members(const team_system *s)
{
  pair2 unread[BODY_ROWS];
  for (int32_t i = 0; i < s->node_count; ++i) {
    const direct_node *node = &s->nodes[i];
    const lanes2 *x = s->x + 2 * node->first_row;
    pair2 *to[TEAM];
    for (int lane = 0; lane < TEAM; ++lane) {
      // cppcheck-suppress legacyUninitvar ; a place, to be written to
      to[lane] = s->asked >> lane & 1 ? s->own_x[lane] + node->first_row : unread;
    }
    const team_row *row = &s->rows[node->is_joint ? s->joints[node->index].first_row : 0];
    for (int k = 0; k < node->rows; ++k, x += 2) {
      tell_row(to, x);
      int lanes = s->asked & (node->is_joint ? row[k].lanes : s->asked);
#pragma GCC unroll 4
      for (int lane = 0; lane < TEAM; ++lane) {
        to[lane] += lanes >> lane & 1;
      }
    }
  }
}

void TEAM_SOLVE(const team_system *s)
{
  if (s->fresh) {
    put_matrix(s);
  }
  ask_bodies(s);
  for (int32_t i = 0; i < s->joint_count; ++i) {
    ask_joint(s, &s->joints[i]);
  }
  for (int32_t i = 0; i < s->node_count; ++i) {
    if (s->fresh) {
      eliminate_node(s, &s->nodes[i]);
    }
    substitute_forward(s, &s->nodes[i]);
  }
  for (int32_t i = s->node_count - 1; i >= 0; --i) {
    substitute_back(s, &s->nodes[i]);
  }
  tell_members(s);
}

#endif
