// The rows of joints that are solved directly, at their bodies' pose. Compiled once for each lane
// width.
#include "direct_store.h"
#include "gather.h"

#define DIRECT_STATE PASTE(direct_state_, TN_LANES)
#define ROW_FIELDS (sizeof(stated_row) / sizeof(float))

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

KERNEL void set_row(R *to, V n, R weight, V turn_a, R x, V turn_b, R mass)
{
  R row[ROW_FIELDS] = {n.x,      n.y, n.z,      weight,   turn_a.x, turn_a.y,
                       turn_a.z, x,   turn_b.x, turn_b.y, turn_b.z, mass};
  memcpy(to, row, sizeof row);
}

KERNEL void state_linear(JointType type, const JointStart *start, const bodies *of, Rows *rows,
                         R (*to)[ROW_FIELDS])
{
  BlockKind kind = linear_kind(type);
  linear_rows(type, start, &of->a, &of->b, rows);
  S k = linear_inverse_mass(&of->a, &of->b, rows->levers.a, rows->levers.b);
  for (int i = 0; i < kind.rows; ++i) {
    V n = axis_of(kind, rows, i);
    set_row(to[i], n, v_dot(n, s_mul(k, n)), v_cross(n, rows->levers.a), rows->x[i],
            v_cross(rows->levers.b, n), s_diagonal(k, i));
  }
}

KERNEL void state_angular(JointType type, const JointStart *start, const RowParams *params,
                          const bodies *of, R (*to)[ROW_FIELDS])
{
  BlockKind kind = angular_kind(type);
  Rows rows;
  angular_rows(type, start, params, &of->a, &of->b, &rows);
  S k = angular_inverse_mass(&of->a, &of->b);
  for (int i = 0; i < kind.rows; ++i) {
    V n = axis_of(kind, &rows, i);
    set_row(to[i], v_zero(), v_dot(n, s_mul(k, n)), v_make(-n.x, -n.y, -n.z), rows.x[i], n,
            s_diagonal(k, i));
  }
  to[2][ROW_FIELDS - 1] = k.zz;
}

// Levers that turn: of what stands still they may be as long as the world.
KERNEL R turning_levers(const bodies *of, Levers l)
{
  return pick(of->a.im > 0.0f, v_length(l.a), splat(0.0f)) +
         pick(of->b.im > 0.0f, v_length(l.b), splat(0.0f));
}

KERNEL void store_joints(stated_rows *joints, R *rows, int count)
{
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = (float *)(joints + i);
  }
  for (int k = 0; k < count; k += 8) {
    store8(to, rows + k);
    for (int i = 0; i < TN_LANES; ++i) {
      to[i] += 8;
    }
  }
}

void DIRECT_STATE(const solver_data *data, rows_block *block, stated_rows *joints)
{
  JointType type = block->type;
  for (int lane = 0; lane < block->count; lane += TN_LANES) {
    bodies of;
    load_body(data, block->a + lane, &of.a);
    load_body(data, block->b + lane, &of.b);
    JointStart start;
    LOAD(block->start, lane, &start);
    RowParams params;
    load_fields(block->middle, lane, params.middle, 3);
    R to[2][3][ROW_FIELDS] = {0};
    Rows rows;
    state_linear(type, &start, &of, &rows, to[0]);
    STORE(block->levers, lane, &rows.levers);
    store_field(block->size, lane, turning_levers(&of, rows.levers));
    int count = (int)(sizeof to / sizeof(R));
    if (angular_kind(type).rows > 0) {
      state_angular(type, &start, &params, &of, to[1]);
    } else {
      count = 5 * 8; // those of the linear block, and a little more
    }
    store_joints(joints + lane, to[0][0], count);
  }
}
