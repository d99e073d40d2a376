// Positions and rates of a joint's axes at the current poses and velocities.
#include "data/world.h"
#include "kernel/axes.h"
#include "solver/joint/joint_layout.h"

#include <string.h>

// This file uses the scalar kernels.
_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

static Body body_at_start(void)
{
  Body still;
  memset(&still, 0, sizeof still);
  still.dq.w = 1.0f;
  return still;
}

void joint_linear_rows_now(JointType type, const JointStart *start, Rows *rows)
{
  Body still = body_at_start();
  memset(rows, 0, sizeof *rows);
  linear_rows(type, start, &still, &still, rows);
}

void joint_angular_rows_now(JointType type, const JointStart *start, const RowParams *params,
                            Rows *rows)
{
  Body still = body_at_start();
  memset(rows, 0, sizeof *rows);
  angular_rows(type, start, params, &still, &still, rows);
}

// Rows of the linear or angular axes, without limits, which would distort angles beyond them.
static void find_rows(const joint *j, const JointStart *start, int angular, Rows *rows)
{
  RowParams params[2];
  JointType type = joint_type(j);
  if (!angular) {
    // A distance of zero has a length as well.
    joint_linear_rows_now(j->def.kind == TN_JOINT_DISTANCE ? TYPE_DISTANCE : type, start, rows);
    return;
  }
  joint_params(j, params);
  for (int i = 0; i < 3; ++i) {
    params[1].lo[i] = -UNLIMITED;
    params[1].hi[i] = UNLIMITED;
  }
  bool counts = j->def.kind == TN_JOINT_HINGE || j->def.kind == TN_JOINT_CYLINDER ||
                j->def.kind == TN_JOINT_UNIVERSAL;
  joint_angular_rows_now(counts ? type : TYPE_GENERIC, start, &params[1], rows);
}

float joint_axis_position(const tn_world *world, const joint *j, int axis)
{
  JointStart start = joint_start(world, j);
  Rows rows;
  bool frame_axes = axis < TN_ANGULAR_A && j->def.kind != TN_JOINT_DISTANCE;
  if (frame_axes) { // joints that hold a point have rows along the world axes
    V offset = q_unrotate(start.frame, start.gap);
    return v_component(offset, axis);
  }
  find_rows(j, &start, axis >= TN_ANGULAR_A, &rows);
  bool hinge = j->def.kind == TN_JOINT_HINGE || j->def.kind == TN_JOINT_CYLINDER;
  bool free = !(hinge && axis > TN_ANGULAR_A) &&
              !(j->def.kind == TN_JOINT_DISTANCE && axis != TN_LINEAR_A && axis < TN_ANGULAR_A) &&
              !(j->def.kind == TN_JOINT_UNIVERSAL && axis == TN_ANGULAR_C);
  return free ? rows.x[axis % 3] : 0.0f;
}

static V vector_of(const float *v)
{
  return v_make(v[0], v[1], v[2]);
}

float joint_axis_rate(const tn_world *world, const joint *j, int axis)
{
  JointStart start = joint_start(world, j);
  const body_state *a = &world->state[j->slot[0]], *b = &world->state[j->slot[1]];
  Rows rows;
  find_rows(j, &start, axis >= TN_ANGULAR_A, &rows);
  V spin = v_sub(vector_of(b->w), vector_of(a->w));
  if (axis >= TN_ANGULAR_A) {
    return v_dot(rows.n[axis % 3], spin);
  }
  // The rate of the offset in A's turning frame: A's velocity is taken at B's point.
  V at_b = v_add(vector_of(b->v), v_cross(vector_of(b->w), start.rb));
  V at_a = v_add(vector_of(a->v), v_cross(vector_of(a->w), v_add(start.ra, start.gap)));
  V n = j->def.kind == TN_JOINT_DISTANCE ? rows.n[0]
        : axis == TN_LINEAR_A            ? q_axis_x(start.frame)
        : axis == TN_LINEAR_B            ? q_axis_y(start.frame)
                                         : q_axis_z(start.frame);
  return v_dot(n, v_sub(at_b, at_a));
}
