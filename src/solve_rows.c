// The rows of joints that are solved directly, at their bodies' pose. Compiled once for each lane
// width.
#include "direct_store.h"
#include "gather.h"

#define DIRECT_STATE PASTE(direct_state_, TN_LANES)

typedef struct bodies {
  Body a, b;
} bodies;

KERNEL void load_body(const solver_data *data, const int32_t *index, Body *body)
{
  Gather g = {index, NULL};
  load_pose(data, g, body);
  load_inertia(data, g, body);
  body->dq = seen_turn(body->dq);
}

// Rows as they come out of lanes: n and weight, how they turn A and x, how they turn B and mass.
#define ROW_FIELDS 12
typedef struct row_fields {
  alignas(32) float field[6 * ROW_FIELDS]; // two blocks
} row_fields;

// Eight fields of all joints at once, and on to the next.
KERNEL void put8(float **to, V a, R a_with, V b, R b_with)
{
  R r[8] = {a.x, a.y, a.z, a_with, b.x, b.y, b.z, b_with};
  store8(to, r);
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] += 8;
  }
}

// Three numbers, and a fourth that the next ones overwrite.
INLINE void widen(double *to, const float *from, float sign)
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

INLINE void widen_row(stated_row *row, const float *from)
{
  double *to = (double *)row;
  widen(to, from, -1.0f);
  widen(to + 3, from + 4, 1.0f);
  widen(to + 6, from, 1.0f);
  widen(to + 9, from + 8, 1.0f);
  row->weight = from[3];
  row->x = from[7];
  row->axis_weight = from[11];
}

KERNEL R weight_along(S k, V n)
{
  return v_dot(n, s_mul(k, n));
}

// A block of rows, 36 fields, with what rows there are. Two blocks go as nine times eight.
typedef struct row_block {
  V n[3], turn_a[3], turn_b[3];
  R weight[3], x[3], mass[3];
} row_block;

KERNEL row_block no_rows(void)
{
  R zero = splat(0.0f);
  row_block none = {{v_zero(), v_zero(), v_zero()},
                    {v_zero(), v_zero(), v_zero()},
                    {v_zero(), v_zero(), v_zero()},
                    {zero, zero, zero},
                    {zero, zero, zero},
                    {zero, zero, zero}};
  return none;
}

KERNEL row_block state_linear(JointType type, const JointStart *start, const bodies *of, Rows *rows)
{
  BlockKind kind = linear_kind(type);
  linear_rows(type, start, &of->a, &of->b, rows);
  S k = linear_inverse_mass(&of->a, &of->b, rows->levers.a, rows->levers.b);
  row_block to = no_rows();
#pragma GCC unroll 3
  for (int i = 0; i < kind.rows; ++i) {
    V n = axis_of(kind, rows, i);
    to.n[i] = n;
    to.weight[i] = kind.world_axes ? s_diagonal(k, i) : weight_along(k, n);
    to.turn_a[i] = v_cross(n, rows->levers.a);
    to.turn_b[i] = v_cross(rows->levers.b, n);
    to.x[i] = rows->x[i];
    to.mass[i] = s_diagonal(k, i);
  }
  return to;
}

// For friction and damping in all directions.
KERNEL row_block state_axes(Levers levers)
{
  row_block to = no_rows();
  BlockKind world = {.world_axes = 1};
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    to.n[i] = axis_of(world, NULL, i);
    to.turn_a[i] = v_cross(to.n[i], levers.a);
    to.turn_b[i] = v_cross(levers.b, to.n[i]);
  }
  return to;
}

KERNEL row_block state_angular(JointType type, const JointStart *start, const RowParams *params,
                               const bodies *of)
{
  BlockKind kind = angular_kind(type);
  Rows rows;
  angular_rows(type, start, params, &of->a, &of->b, &rows);
  S k = angular_inverse_mass(&of->a, &of->b);
  row_block to = no_rows();
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    to.mass[i] = s_diagonal(k, i);
    if (i < kind.rows) {
      V n = axis_of(kind, &rows, i);
      to.weight[i] = kind.world_axes ? s_diagonal(k, i) : weight_along(k, n);
      to.turn_a[i] = v_make(-n.x, -n.y, -n.z);
      to.turn_b[i] = n;
      to.x[i] = rows.x[i];
    }
  }
  return to;
}

// Levers that turn: of what stands still they may be as long as the world.
KERNEL R turning_levers(const bodies *of, Levers l)
{
  return pick(of->a.im > 0.0f, v_length(l.a), splat(0.0f)) +
         pick(of->b.im > 0.0f, v_length(l.b), splat(0.0f));
}

KERNEL void put_blocks(row_fields *fields, const row_block *a, const row_block *b)
{
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = fields[i].field;
  }
  put8(to, a->n[0], a->weight[0], a->turn_a[0], a->x[0]);
  put8(to, a->turn_b[0], a->mass[0], a->n[1], a->weight[1]);
  put8(to, a->turn_a[1], a->x[1], a->turn_b[1], a->mass[1]);
  put8(to, a->n[2], a->weight[2], a->turn_a[2], a->x[2]);
  put8(to, a->turn_b[2], a->mass[2], b->n[0], b->weight[0]);
  put8(to, b->turn_a[0], b->x[0], b->turn_b[0], b->mass[0]);
  put8(to, b->n[1], b->weight[1], b->turn_a[1], b->x[1]);
  put8(to, b->turn_b[1], b->mass[1], b->n[2], b->weight[2]);
  put8(to, b->turn_a[2], b->x[2], b->turn_b[2], b->mass[2]);
}

KERNEL void keep_rows(stated_rows *joints, int count, int first, int blocks, const row_fields *from)
{
  for (int i = 0; i < count && i < TN_LANES; ++i) {
    stated_row *to = joints[i].row[first];
    for (int k = 0; k < 3 * blocks; ++k) {
      widen_row(to + k, from[i].field + k * ROW_FIELDS);
    }
  }
}

// `count` joints from a lane on.
KERNEL void state_lanes(const solver_data *data, JointType type, rows_block *block, int lane,
                        int count, stated_rows *joints)
{
  bodies of;
  load_body(data, block->a + lane, &of.a);
  load_body(data, block->b + lane, &of.b);
  JointStart start;
  LOAD(block->start, lane, &start);
  RowParams params;
  load_fields(block->lo, lane, params.lo, 3);
  load_fields(block->hi, lane, params.hi, 3);
  load_fields(block->middle, lane, params.middle, 3);
  Rows rows;
  row_block l = state_linear(type, &start, &of, &rows);
  store_field(block->size, lane, turning_levers(&of, rows.levers));
  row_block a = no_rows();
  if (angular_kind(type).rows > 0) {
    a = state_angular(type, &start, &params, &of);
  }
  row_fields fields[TN_LANES];
  put_blocks(fields, &l, &a);
  keep_rows(joints, count, 0, angular_kind(type).rows > 0 ? 2 : 1, fields);
  if (linear_kind(type).vector_resist) {
    row_block axes = state_axes(rows.levers);
    put_blocks(fields, &axes, &axes);
    keep_rows(joints, count, 2, 1, fields);
  }
}

void DIRECT_STATE(const solver_data *data, rows_block *block, stated_rows *joints)
{
  for (int lane = 0; lane < block->count; lane += TN_LANES) {
    int count = block->count - lane;
    switch (block->type) {
#if !defined(__OPTIMIZE_SIZE__)
    case TYPE_HINGE: // those that occur most, with their type known to the compiler
      state_lanes(data, TYPE_HINGE, block, lane, count, joints + lane);
      break;
    case TYPE_BALL:
      state_lanes(data, TYPE_BALL, block, lane, count, joints + lane);
      break;
#endif
    default:
      state_lanes(data, block->type, block, lane, count, joints + lane);
      break;
    }
  }
}
