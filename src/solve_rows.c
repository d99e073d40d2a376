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

// Where a lane's joint goes.
KERNEL void find_joints(stated_rows *joints, float **to)
{
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = (float *)(joints + i);
  }
}

// Eight fields of all joints at once, and on to the next.
KERNEL void put8(float **to, V a, R a_with, V b, R b_with)
{
  R r[8] = {a.x, a.y, a.z, a_with, b.x, b.y, b.z, b_with};
  store8(to, r);
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] += 8;
  }
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

KERNEL void state_lanes(const solver_data *data, JointType type, rows_block *block, int lane,
                        stated_rows *joints)
{
  bodies of;
  load_body(data, block->a + lane, &of.a);
  load_body(data, block->b + lane, &of.b);
  JointStart start;
  LOAD(block->start, lane, &start);
  RowParams params;
  load_fields(block->middle, lane, params.middle, 3);
  Rows rows;
  row_block l = state_linear(type, &start, &of, &rows);
  STORE(block->levers, lane, &rows.levers);
  store_field(block->size, lane, turning_levers(&of, rows.levers));
  row_block a = no_rows();
  if (angular_kind(type).rows > 0) {
    a = state_angular(type, &start, &params, &of);
  }
  float *to[TN_LANES];
  find_joints(joints, to);
  put8(to, l.n[0], l.weight[0], l.turn_a[0], l.x[0]);
  put8(to, l.turn_b[0], l.mass[0], l.n[1], l.weight[1]);
  put8(to, l.turn_a[1], l.x[1], l.turn_b[1], l.mass[1]);
  put8(to, l.n[2], l.weight[2], l.turn_a[2], l.x[2]);
  put8(to, l.turn_b[2], l.mass[2], a.n[0], a.weight[0]);
  if (angular_kind(type).rows > 0) {
    put8(to, a.turn_a[0], a.x[0], a.turn_b[0], a.mass[0]);
    put8(to, a.n[1], a.weight[1], a.turn_a[1], a.x[1]);
    put8(to, a.turn_b[1], a.mass[1], a.n[2], a.weight[2]);
    put8(to, a.turn_a[2], a.x[2], a.turn_b[2], a.mass[2]);
  }
}

void DIRECT_STATE(const solver_data *data, rows_block *block, stated_rows *joints)
{
  for (int lane = 0; lane < block->count; lane += TN_LANES) {
    switch (block->type) {
#if !defined(__OPTIMIZE_SIZE__)
    case TYPE_HINGE: // those that occur most, with their type known to the compiler
      state_lanes(data, TYPE_HINGE, block, lane, joints + lane);
      break;
    case TYPE_BALL:
      state_lanes(data, TYPE_BALL, block, lane, joints + lane);
      break;
#endif
    default:
      state_lanes(data, block->type, block, lane, joints + lane);
      break;
    }
  }
}
