// Jacobians, inverse masses and coordinates of directly solved joints at the current pose (Müller
// et al. 2020, sec. 3.4; kernel/joint.h has the coordinates). Compiled once for each lane width.
//
//     linear row along n:   J = [-n  n x r_a   n  r_b x n]
//     angular row about n:  J = [ 0  -n        0  n      ]
#include "solver/gather.h"
#include "solver/mechanism/direct_system.h"

#define DIRECT_JACOBIANS PASTE(direct_jacobians_, TN_LANES)
#define DIRECT_COORDINATES PASTE(direct_coordinates_, TN_LANES)

// Code that is large if inlined more than once.
#if defined(__OPTIMIZE_SIZE__)
#define ONCE static __attribute__((noinline))
#define UNROLL
#else
#define ONCE KERNEL
#define UNROLL _Pragma("GCC unroll 72")
#endif

typedef struct bodies {
  Body a, b;
} bodies;

ONCE void load_lane_fields(float (*from)[BLOCK_WIDTH], int lane, R *to, int count)
{
  UNROLL
  for (int i = 0; i < count; ++i) {
    to[i] = load_field(from[i], lane);
  }
}

ONCE void load_body(const solver_data *data, const int32_t *index, Body *body)
{
  Gather g = {index, NULL};
  load_pose(data, g, body);
  load_inertia(data, g, body);
  body->dq = flush_tiny_rotation(body->dq);
}

// Rows in lanes, three blocks of four fields: n and inverse mass; angular J on A and coordinate;
// angular J on B and inverse mass along the world axis.
#define ROW_FIELDS 12
#define ROW_COORDINATE 7 // place of the coordinate
#define BLOCK_FIELDS (3 * ROW_FIELDS)
typedef struct row_fields {
  alignas(32) float field[2 * BLOCK_FIELDS];
} row_fields;

ONCE void set_row(R *to, V n, R inverse_mass, V turn_a, R x, V turn_b, R mass)
{
  R row[ROW_FIELDS] = {n.x,      n.y, n.z,      inverse_mass, turn_a.x, turn_a.y,
                       turn_a.z, x,   turn_b.x, turn_b.y,     turn_b.z, mass};
  UNROLL
  for (int i = 0; i < ROW_FIELDS; ++i) {
    to[i] = row[i];
  }
}

// Writes three doubles; the fourth that AVX writes is overwritten by what follows.
ONCE void widen(double *to, const float *from, float sign)
{
#if defined(__AVX__)
  __m128 part = _mm_mul_ps(_mm_load_ps(from), _mm_set1_ps(sign));
  _mm256_storeu_pd(to, _mm256_cvtps_pd(part));
#else
  to[0] = (double)(sign * from[0]);
  to[1] = (double)(sign * from[1]);
  to[2] = (double)(sign * from[2]);
#endif
}

INLINE void widen_row(jacobian_row *row, const float *from)
{
  double *to = (double *)row;
  widen(to, from, -1.0f);
  widen(to + 3, from + 4, 1.0f);
  widen(to + 6, from, 1.0f);
  widen(to + 9, from + 8, 1.0f);
  row->inverse_mass = from[3];
  row->x = from[7];
  row->axis_inverse_mass = from[11];
}

KERNEL R inverse_mass_along(S k, V n)
{
  return v_dot(n, s_mul(k, n));
}

// A linear row along n.
KERNEL void set_linear(R *to, V n, R inverse_mass, Levers levers, R x, R mass)
{
  set_row(to, n, inverse_mass, v_cross(n, levers.a), x, v_cross(levers.b, n), mass);
}

KERNEL void evaluate_linear(JointType type, const JointStart *start, const bodies *of, Rows *rows,
                            R *to)
{
  BlockKind kind = linear_kind(type);
  linear_rows(type, start, &of->a, &of->b, rows);
  S k = linear_inverse_mass(&of->a, &of->b, rows->levers.a, rows->levers.b);
  S closed = k; // as if the two points met
  if (kind.world_axes) {
    V offset = v_make(rows->x[0], rows->x[1], rows->x[2]);
    closed = linear_inverse_mass(&of->a, &of->b, v_sub(rows->levers.a, offset), rows->levers.b);
  }
  UNROLL
  for (int i = 0; i < kind.rows; ++i) {
    V n = axis_of(kind, rows, i);
    R inverse_mass = kind.world_axes ? s_diagonal(k, i) : inverse_mass_along(k, n);
    set_linear(to + i * ROW_FIELDS, n, inverse_mass, rows->levers, rows->x[i],
               s_diagonal(closed, i));
  }
}

KERNEL void evaluate_angular(JointType type, const JointStart *start, const RowParams *params,
                             const bodies *of, R *to)
{
  BlockKind kind = angular_kind(type);
  Rows rows;
  angular_rows(type, start, params, &of->a, &of->b, &rows);
  S k = angular_inverse_mass(&of->a, &of->b);
  UNROLL
  for (int i = 0; i < 3; ++i) {
    V n = i < kind.rows ? axis_of(kind, &rows, i) : v_zero();
    R inverse_mass = kind.world_axes ? s_diagonal(k, i) : inverse_mass_along(k, n);
    R x = i < kind.rows ? rows.x[i] : splat(0.0f);
    set_row(to + i * ROW_FIELDS, v_zero(), inverse_mass, v_make(-n.x, -n.y, -n.z), x, n,
            s_diagonal(k, i));
  }
}

// Sum of the lever arms of moving bodies; those of static bodies may be as long as the world.
KERNEL R moving_lever_length(const bodies *of, Levers l)
{
  return pick(of->a.im > 0.0f, v_length(l.a), splat(0.0f)) +
         pick(of->b.im > 0.0f, v_length(l.b), splat(0.0f));
}

// From lanes to `count` joints: the first `kept` rows of each, `each` rows apart.
ONCE void store_jacobian_rows(jacobian_row *row, int each, int count, int kept, R *rows)
{
  row_fields fields[TN_LANES];
  float *to[TN_LANES];
  UNROLL
  for (int k = 0; k < 2 * BLOCK_FIELDS; k += 8) {
    for (int i = 0; i < TN_LANES; ++i) {
      // cppcheck-suppress [uninitvar, legacyUninitvar] ; a place, to be written to
      to[i] = fields[i].field + k;
    }
    store8(to, rows + k);
  }
  for (int i = 0; i < count && i < TN_LANES; ++i) {
    for (int k = 0; k < kept; ++k) {
      widen_row(row + i * each + k, fields[i].field + k * ROW_FIELDS);
    }
  }
}

#if defined(TN_SMALL)
#define store_batch_rows(batch, lane, each, count, kept, rows) (void)(batch)
#else
typedef float batch_floats __attribute__((vector_size(4 * BATCH_WIDTH)));

// One number of BATCH_WIDTH joints, starting at a lane, as doubles.
INLINE void store_batch_number(batch_f64 *to, const R *from, int lane)
{
#if TN_LANES == 1
  (*to)[lane % BATCH_WIDTH] = (double)*from;
#else
  batch_floats part;
  memcpy(&part, (const float *)from + lane, sizeof part);
  *to = __builtin_convertvector(part, batch_f64);
#endif
}

INLINE void store_batch_row(batch_f64 *to, const R *row, int lane)
{
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    R back = -row[i];
    store_batch_number(to + i, &back, lane);
    store_batch_number(to + 3 + i, row + 4 + i, lane);
    store_batch_number(to + 6 + i, row + i, lane);
    store_batch_number(to + 9 + i, row + 8 + i, lane);
  }
}

// Stores rows for a batch, which keeps them in lanes.
KERNEL void store_batch_rows(batch_jacobian *batch, int lane, int each, int count, int kept,
                             const R *rows)
{
  for (int i = 0; batch && i < count && i < TN_LANES; i += BATCH_WIDTH) {
    int part = TN_LANES == 1 ? lane : i;
    for (int k = 0; k < kept; ++k) {
      store_batch_row(batch[(lane + i) / BATCH_WIDTH * each + k], rows + k * ROW_FIELDS, part);
    }
  }
}
#endif

// What a block keeps of its joints: their start and the ranges of their angles.
ONCE void load_joints(jacobian_block *block, int lane, JointStart *start, RowParams *params)
{
  load_lane_fields(block->start, lane, (R *)start, (int)FIELDS(*start));
  load_lane_fields(block->lo, lane, params->lo, 3);
  load_lane_fields(block->hi, lane, params->hi, 3);
  load_lane_fields(block->middle, lane, params->middle, 3);
}

// Evaluates up to TN_LANES of `count` joints, starting at a lane.
KERNEL void evaluate_lanes(const solver_data *data, JointType type, jacobian_block *block, int lane,
                           int count, jacobian_row *row, batch_jacobian *batch)
{
  bodies of;
  load_body(data, block->a + lane, &of.a);
  load_body(data, block->b + lane, &of.b);
  JointStart start;
  RowParams params;
  load_joints(block, lane, &start, &params);
  Rows rows;
  R to[2 * BLOCK_FIELDS];
  UNROLL
  for (int i = 0; i < 2 * BLOCK_FIELDS; ++i) {
    to[i] = splat(0.0f);
  }
  evaluate_linear(type, &start, &of, &rows, to);
  store_field(block->lever_length, lane, moving_lever_length(&of, rows.levers));
  int kept = 3, each = jacobian_row_count(type);
  if (angular_kind(type).rows > 0) {
    evaluate_angular(type, &start, &params, &of, to + BLOCK_FIELDS);
    kept = 6;
  }
  // Turns are counted from the latest angle on.
  if (type == TYPE_HINGE || type == TYPE_CYLINDER || type == TYPE_UNIVERSAL) {
    store_field(block->middle[0], lane, to[BLOCK_FIELDS + ROW_COORDINATE]);
  }
  if (type == TYPE_UNIVERSAL) {
    store_field(block->middle[1], lane, to[BLOCK_FIELDS + ROW_FIELDS + ROW_COORDINATE]);
  }
  store_batch_rows(batch, lane, each, count, kept, to);
  store_jacobian_rows(row, each, count, kept, to);
}

void DIRECT_JACOBIANS(const solver_data *data, jacobian_block *block, jacobian_row *rows,
                      batch_jacobian *batch)
{
  for (int lane = 0; lane < block->count; lane += TN_LANES) {
    int count = block->count - lane;
    jacobian_row *row = rows + lane * jacobian_row_count(block->type);
    switch (block->type) {
#if !defined(__OPTIMIZE_SIZE__)
    case TYPE_HINGE: // the most frequent types get code of their own
      evaluate_lanes(data, TYPE_HINGE, block, lane, count, row, batch);
      break;
    case TYPE_BALL:
      evaluate_lanes(data, TYPE_BALL, block, lane, count, row, batch);
      break;
#endif
    default:
      evaluate_lanes(data, block->type, block, lane, count, row, batch);
      break;
    }
  }
}

void DIRECT_COORDINATES(const solver_data *data, jacobian_block *block, jacobian_row *rows)
{
  int each = jacobian_row_count(block->type);
  BlockKind angular = angular_kind(block->type);
  for (int lane = 0; lane < block->count; lane += TN_LANES) {
    Body a, b;
    JointStart start;
    RowParams params;
    Rows of[2];
    Gather ga = {block->a + lane, NULL}, gb = {block->b + lane, NULL};
    load_pose(data, ga, &a);
    load_pose(data, gb, &b);
    a.dq = flush_tiny_rotation(a.dq);
    b.dq = flush_tiny_rotation(b.dq);
    load_joints(block, lane, &start, &params);
    memset(of, 0, sizeof of);
    linear_rows(block->type, &start, &a, &b, &of[0]);
    if (angular.rows > 0) {
      angular_rows(block->type, &start, &params, &a, &b, &of[1]);
    }
    for (int k = 0; k < (angular.rows > 0 ? 6 : 3); ++k) {
      float x[TN_LANES];
      memcpy(x, &of[k / 3].x[k % 3], sizeof x);
      for (int i = 0; i < TN_LANES && lane + i < block->count; ++i) {
        rows[(lane + i) * each + k].x_ahead = x[i];
      }
    }
  }
}
