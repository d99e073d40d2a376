// Bodies between the constraints: forces, and motion. Compiled once for each lane width.
//
// Sixteen lanes take two blocks at a time. A drift is one long chain of operations that wait for
// each other, so twice the bodies cost little more time, and so do several at once.
#include "solve_body.h"

#include <stdbool.h>

// Bodies of a block, or two, from a lane on.
typedef struct flight {
  int block, lane;
  Body body;
  Spin spin;
  R share, dynamic, h;
  V momentum;
  Q world_turn, body_turn;
} flight;

// So many drift together, a part of the way at a time: what one waits for the others fill.
#define FLIGHTS 4

static void begin_flight(const solver_data *data, flight *f)
{
  body_block *bb = &data->bodies[f->block];
  int32_t index[BLOCK_PLACES];
  Gather g = gather_range(index, f->block, f->lane);
  Drag drag;
  load_velocity(data, g, &f->body, &f->share);
  f->h = data->substep.h - load_pose(data, g, &f->body);
  LOAD(bb->spin, f->lane, &f->spin);
  LOAD(bb->drag, f->lane, &drag);
  limit_speed(&f->body, &drag);
  f->dynamic = drag.dynamic;
  f->momentum = drift_begin(&f->body, &f->spin, f->h);
}

static void end_flight(const solver_data *data, flight *f)
{
  int32_t index[BLOCK_PLACES];
  Gather g = gather_range(index, f->block, f->lane);
  drift_end(&f->body, &f->spin, f->dynamic, f->world_turn, f->body_turn);
  store_whole(data, g, &f->body, f->share);
  store_inertia(data, g, &f->body);
  STORE(data->bodies[f->block].spin, f->lane, &f->spin);
}

static void fly(const solver_data *data, flight *flights, int count)
{
  for (int i = 0; i < count; ++i) {
    begin_flight(data, &flights[i]);
  }
  for (int i = 0; i < count; ++i) {
    flight *f = &flights[i];
    f->world_turn = free_rotation(&f->spin, f->momentum, f->h, &f->body_turn);
  }
  for (int i = 0; i < count; ++i) {
    end_flight(data, &flights[i]);
  }
}

#if TN_LANES == 16

// Whether the next two of a range lie side by side.
static bool is_pair(const solver_data *data, int i, int last)
{
  return i + 1 < last && data->active[i + 1] == data->active[i] + 1;
}

static void drift_bodies(solver_data *data, int first, int last)
{
  flight flights[FLIGHTS];
  int count = 0;
  for (int i = first; i < last; ++i) {
    if (is_pair(data, i, last)) {
      flights[count].block = data->active[i++];
      flights[count++].lane = 0;
    } else {
      solver_ops_8.drift(data, i, i + 1);
    }
    if (count == FLIGHTS || i + 1 >= last) {
      fly(data, flights, count);
      count = 0;
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
  flight flights[FLIGHTS];
  int end = last * BLOCK_WIDTH, count = 0;
  for (int i = first * BLOCK_WIDTH; i < end; i += TN_LANES) {
    flights[count].block = data->active[i / BLOCK_WIDTH];
    flights[count++].lane = i % BLOCK_WIDTH;
    if (count == FLIGHTS || i + TN_LANES >= end) {
      fly(data, flights, count);
      count = 0;
    }
  }
}

#endif
