// Bodies between the constraints: forces, and motion. Compiled once for each lane width.
//
// Sixteen lanes take two blocks at a time. A drift is one long chain of operations that wait for
// each other, so twice the bodies cost little more time.
#include "solve_body.h"

#include <stdbool.h>

static void drift_lanes(solver_data *data, int block, int lane)
{
  R h = splat(data->substep.h);
  body_block *bb = &data->bodies[block];
  int32_t index[BLOCK_PLACES];
  Gather g = gather_range(index, block, lane);
  Body body;
  Spin spin;
  Drag drag;
  R share;
  load_velocity(data, g, &body, &share);
  R flown = load_pose(data, g, &body);
  LOAD(bb->spin, lane, &spin);
  LOAD(bb->drag, lane, &drag);
  limit_speed(&body, &drag);
  drift(&body, &spin, drag.dynamic, h - flown);
  store_whole(data, g, &body, share);
  store_inertia(data, g, &body);
  STORE(bb->spin, lane, &spin);
}

#if TN_LANES == 16

// Whether the next two of a range lie side by side.
static bool is_pair(const solver_data *data, int i, int last)
{
  return i + 1 < last && data->active[i + 1] == data->active[i] + 1;
}

static void drift_bodies(solver_data *data, int first, int last)
{
  for (int i = first; i < last; ++i) {
    if (is_pair(data, i, last)) {
      drift_lanes(data, data->active[i++], 0);
    } else {
      solver_ops_8.drift(data, i, i + 1);
    }
  }
}

// The rest is that of eight lanes.
#define NARROW(pass)                                                                               \
  static void pass(solver_data *data, int first, int last)                                         \
  {                                                                                                \
    solver_ops_8.pass(data, first, last);                                                          \
  }

NARROW(collect)
NARROW(joint_begin)
NARROW(joint_solve)
NARROW(joint_relax)
NARROW(joint_positions)

static void kick_blocks(solver_data *data, int first, int last, kick_part part)
{
  solver_ops_8.kick(data, first, last, part);
}

static void average(solver_data *data, int first, int last, int move)
{
  solver_ops_8.average(data, first, last, move);
}

const solver_ops solver_ops_16 = {
    kick_blocks, drift_bodies, collect,     average,
    joint_begin, joint_solve,  joint_relax, joint_positions,
};

#else

KERNEL R kick_time(kick_part part, R lead, R h)
{
  return part == KICK_FIRST ? lead * h : part == KICK_LAST ? h - lead * h : h;
}

// What contacts have left for the body.
KERNEL void take_change(const solver_data *data, Gather g, Body *body)
{
  R r[8];
  load_each(data->change->sum, STRIDE(data->change), g, r);
  body->v = v_add(body->v, v_make(r[0], r[1], r[2]));
  body->w = v_add(body->w, v_make(r[4], r[5], r[6]));
  for (int i = 0; i < 8; ++i) {
    r[i] = splat(0.0f);
  }
  store_each(data->change->sum, STRIDE(data->change), g, r);
}

static void kick_lanes(solver_data *data, int block, int lane, kick_part part)
{
  R h = splat(data->substep.h);
  body_block *bb = &data->bodies[block];
  int32_t index[BLOCK_PLACES];
  Gather g = gather_range(index, block, lane);
  Body body;
  R share;
  V acceleration, torque;
  load_velocity(data, g, &body, &share);
  load_inertia(data, g, &body);
  LOAD(bb->acceleration, lane, &acceleration);
  LOAD(bb->torque, lane, &torque);
  Drag drag;
  LOAD(bb->drag, lane, &drag);
  if (part != KICK_LAST) {
    damp(&body, &drag);
  }
  kick(&body, acceleration, torque, kick_time(part, drag.lead, h));
  if (data->substep.carried) {
    take_change(data, g, &body);
  }
  store_velocity(data, g, &body, share);
}

void KICK_BODIES(solver_data *data, int first, int last, kick_part part)
{
  for (int i = first; i < last; ++i) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      kick_lanes(data, data->active[i], lane, part);
    }
  }
}

void DRIFT_BODIES(solver_data *data, int first, int last)
{
  for (int i = first; i < last; ++i) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      drift_lanes(data, data->active[i], lane);
    }
  }
}

#endif
