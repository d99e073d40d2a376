// Passes over bodies: kick (external forces) and drift (motion). Compiled once for each lane width.
//
// A drift is one long chain of dependent operations, so its latency dominates. Sixteen lanes take
// two blocks at a time, and MAX_DRIFT_BATCHES gathers are interleaved; both cost little more time.
#include "solver/body_passes.h"

#include <stdbool.h>

// TN_LANES bodies during a drift.
typedef struct drift_batch {
  int block, lane;
  Body body;
  AngularState spin;
  R share, inverse_inertia_scale, h;
  V momentum;
  Q world_turn, body_turn;
} drift_batch;

// Batches that drift together, stage by stage, to hide latency. A card hides it by other worlds,
// and keeps one batch in registers.
#if defined(TN_ONE_LANE)
#define MAX_DRIFT_BATCHES 1
#else
#define MAX_DRIFT_BATCHES 4
#endif

static void begin_drift(const solver_data *data, drift_batch *f)
{
  body_block *bb = &data->bodies[f->block];
  int32_t index[BLOCK_PLACES];
  Gather g = gather_range(index, f->block, f->lane);
  BodyStepParams params;
  load_velocity(data, g, &f->body, &f->share);
  f->h = data->substep.h - load_pose(data, g, &f->body);
  LOAD(bb->spin, f->lane, &f->spin);
  LOAD(bb->params, f->lane, &params);
  limit_speed(&f->body, &params);
  f->inverse_inertia_scale = params.inverse_inertia_scale;
  f->momentum = drift_begin(&f->body, &f->spin, f->h);
}

static void end_drift(const solver_data *data, drift_batch *f)
{
  int32_t index[BLOCK_PLACES];
  Gather g = gather_range(index, f->block, f->lane);
  drift_end(&f->body, &f->spin, f->inverse_inertia_scale, f->world_turn, f->body_turn);
  store_motion(data, g, &f->body, f->share);
  store_inertia(data, g, &f->body);
  STORE(data->bodies[f->block].spin, f->lane, &f->spin);
}

static void drift_all(const solver_data *data, drift_batch *drift_batches, int count)
{
  for (int i = 0; i < count; ++i) {
    begin_drift(data, &drift_batches[i]);
  }
  for (int i = 0; i < count; ++i) {
    drift_batch *f = &drift_batches[i];
    f->world_turn = free_rotation(&f->spin, f->momentum, f->h, &f->body_turn);
  }
  for (int i = 0; i < count; ++i) {
    end_drift(data, &drift_batches[i]);
  }
}

#if TN_LANES == 16

// Whether entries i and i + 1 of the active blocks are consecutive blocks.
static bool is_adjacent(const solver_data *data, int i, int last)
{
  return i + 1 < last && data->active[i + 1] == data->active[i] + 1;
}

static void drift_bodies(solver_data *data, int first, int last)
{
  drift_batch drift_batches[MAX_DRIFT_BATCHES];
  int count = 0;
  for (int i = first; i < last; ++i) {
    if (is_adjacent(data, i, last)) {
      drift_batches[count].block = data->active[i++];
      drift_batches[count++].lane = 0;
    } else {
      solver_ops_8.drift(data, i, i + 1);
    }
    if (count == MAX_DRIFT_BATCHES || i + 1 >= last) {
      drift_all(data, drift_batches, count);
      count = 0;
    }
  }
}

// All passes but the drift are those of eight lanes.
#define EIGHT_LANES(pass)                                                                          \
  static void pass(solver_data *data, int first, int last)                                         \
  {                                                                                                \
    solver_ops_8.pass(data, first, last);                                                          \
  }

EIGHT_LANES(update_momenta)
EIGHT_LANES(joint_warm_start)
EIGHT_LANES(joint_solve)
EIGHT_LANES(joint_relax)
EIGHT_LANES(joint_positions)

static void kick_blocks(solver_data *data, int first, int last, kick_phase phase)
{
  solver_ops_8.kick(data, first, last, phase);
}

static void average(solver_data *data, int first, int last, int move)
{
  solver_ops_8.average(data, first, last, move);
}

const solver_ops solver_ops_16 = {
    kick_blocks,      drift_bodies, update_momenta, average,
    joint_warm_start, joint_solve,  joint_relax,    joint_positions,
};

#else

// Duration of a kick: the first and the last kick of a step share one substep.
KERNEL R kick_time(kick_phase phase, R first_kick, R h)
{
  return phase == KICK_FIRST ? first_kick * h : phase == KICK_LAST ? h - first_kick * h : h;
}

// Applies and clears the deferred warm start of contacts.
KERNEL void apply_correction(const solver_data *data, Gather g, Body *body)
{
  R r[8];
  gather8(data->corrections->sum, STRIDE(data->corrections), g, r);
  body->v = v_add(body->v, v_make(r[0], r[1], r[2]));
  body->w = v_add(body->w, v_make(r[4], r[5], r[6]));
  for (int i = 0; i < 8; ++i) {
    r[i] = splat(0.0f);
  }
  scatter8(data->corrections->sum, STRIDE(data->corrections), g, r);
}

static void kick_lanes(solver_data *data, int block, int lane, kick_phase phase)
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
  BodyStepParams params;
  LOAD(bb->params, lane, &params);
  if (phase != KICK_LAST) {
    damp(&body, &params);
  }
  kick(&body, acceleration, torque, kick_time(phase, params.first_kick, h));
  if (data->substep.deferred_warm_start) {
    apply_correction(data, g, &body);
  }
  body.v = flush_below(TUNING_TINY_MOTION, body.v);
  body.w = flush_below(TUNING_TINY_MOTION, body.w);
  store_velocity(data, g, &body, share);
}

void KICK_BODIES(solver_data *data, int first, int last, kick_phase phase)
{
  for (int i = first; i < last; ++i) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      kick_lanes(data, data->active[i], lane, phase);
    }
  }
}

void DRIFT_BODIES(solver_data *data, int first, int last)
{
  drift_batch drift_batches[MAX_DRIFT_BATCHES];
  int end = last * BLOCK_WIDTH, count = 0;
  for (int i = first * BLOCK_WIDTH; i < end; i += TN_LANES) {
    drift_batches[count].block = data->active[i / BLOCK_WIDTH];
    drift_batches[count++].lane = i % BLOCK_WIDTH;
    if (count == MAX_DRIFT_BATCHES || i + TN_LANES >= end) {
      drift_all(data, drift_batches, count);
      count = 0;
    }
  }
}

#endif
