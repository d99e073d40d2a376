// One step: Algorithm 2 of Mueller et al., and the default method's form of it.
#include "world.h"

#include <math.h>

// Rigid joints in the default method remove the whole of an error in a substep, and begin with the
// share KEEP of their last impulse. A violated joint changes velocities by no more than PUSH or
// TURN times h a substep: what it takes to bear a load grows with h in the same way.
static const float KEEP = 0.2f;
static const float PUSH = 8400.0f; // m/s^2
static const float TURN = 6000.0f; // rad/s^2

// ---------------------------------------------------------------------------------------------
// Passes over everything, on all threads

#define BODY_GRAIN 32 // blocks of eight
#define JOINT_GRAIN 16

typedef void joint_pass(solver_data *data, int first, int last);

typedef struct pass_task {
  solver_data *data;
  const solver_ops *ops;
  joint_pass *joints;
  int offset;
  float h;
  int damps, move;
} pass_task;

static void kick_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->kick(t->data, first, last, t->h, t->damps);
}

static void drift_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->drift(t->data, first, last);
}

static void collect_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->collect(t->data, first, last);
}

static void average_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->average(t->data, first, last, t->move);
}

static void joint_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->joints(t->data, t->offset + first, t->offset + last);
}

// What a substep needs.
typedef struct stepper {
  tn_world *world;
  solver_data data;
  pass_task task;
  int body_blocks;
} stepper;

static void for_bodies(stepper *s, tn_task_fn *task)
{
  task_run(s->world->tasks, task, s->body_blocks, BODY_GRAIN, &s->task);
}

// Gauss-Seidel: colour after colour, all joints of a colour at once.
static void for_joints(stepper *s, joint_pass *pass)
{
  const graph *g = &s->world->graph;
  s->task.joints = pass;
  for (int color = 0; color < g->color_count; ++color) {
    color_range r = g->color[color];
    s->task.offset = r.first;
    task_run(s->world->tasks, joint_task, r.last - r.first, JOINT_GRAIN, &s->task);
  }
  pass(&s->data, g->serial.first, g->serial.last);
}

static void kick_bodies(stepper *s, float h, bool damps)
{
  s->task.h = h;
  s->task.damps = damps;
  for_bodies(s, kick_task);
}

static void drift_bodies(stepper *s)
{
  for_bodies(s, drift_task);
}

// ---------------------------------------------------------------------------------------------
// TN_METHOD_TENON: XPBD in impulse form
//
// Rows are stated at the start of a substep and solved for velocities such that the drift ends on
// the constraint: C + h J v = 0, with the joints' impulses of the last substep as first guess.
// Forces act half before and half after the drift, and at the end of a step the joints follow:
// what is read there, velocities and energies, belongs to one moment.

static void substep_tenon(stepper *s, int i)
{
  const solver_ops *ops = s->world->ops;
  float h = s->data.substep.h;
  kick_bodies(s, i == 0 ? 0.5f * h : h, true);
  for_joints(s, ops->joint_begin);
  for (int k = 0; k < s->world->iterations; ++k) {
    for_joints(s, ops->joint_solve);
  }
  drift_bodies(s);
}

static void finish_tenon(stepper *s)
{
  const solver_ops *ops = s->world->ops;
  kick_bodies(s, 0.5f * s->data.substep.h, false);
  s->data.substep.ahead = true;
  for_joints(s, ops->joint_begin);
  for (int k = 0; k < s->world->iterations; ++k) {
    for_joints(s, ops->joint_relax);
  }
}

// ---------------------------------------------------------------------------------------------
// TN_METHOD_XPBD, TN_METHOD_JACOBI: Algorithm 2 as printed
//
// Positions are predicted, then corrected at their latest pose; each correction changes the
// velocity as well (kernel/project.h), which takes the place of the loop that derives velocities.

static void solve_stage_of(stepper *s, solve_stage stage)
{
  s->data.substep.stage = stage;
  for_joints(s, s->world->ops->joint_positions);
  if (s->data.substep.averaged) {
    s->task.move = stage != STAGE_VELOCITIES;
    for_bodies(s, average_task);
  }
}

static void substep_positions(stepper *s)
{
  kick_bodies(s, s->data.substep.h, true);
  drift_bodies(s);
  solve_stage_of(s, STAGE_BEGIN);
  for (int k = 0; k < s->world->iterations; ++k) {
    solve_stage_of(s, STAGE_POSITIONS);
  }
  solve_stage_of(s, STAGE_VELOCITIES);
}

// ---------------------------------------------------------------------------------------------

static void begin_step(tn_world *world, float dt)
{
  float h = dt / (float)world->substeps;
  float scale = world->last_h > 0.0f ? h / world->last_h : 1.0f;
  world->last_h = h;
  world->break_count = 0;
  for (int32_t i = 0; i < world->body_list.used; ++i) {
    body_begin_step(world, i, dt, world->substeps);
  }
  for (int32_t i = 0; i < world->graph.block_count; ++i) {
    joint_begin_step(world, &world->graph.blocks[i], dt, scale);
  }
}

static void break_joint(tn_world *world, int32_t slot)
{
  joint *j = &world->joints[slot];
  j->broken = true;
  j->def.enabled = false;
  world->graph.dirty = true;
  tn_joint_break_event event = {joint_id_at(world, slot), j->force, j->torque, j->def.user_data};
  world->breaks[world->break_count++] = event;
}

static void find_broken(tn_world *world)
{
  for (int32_t slot = 0; slot < world->joint_list.used; ++slot) {
    const joint *j = &world->joints[slot];
    if (j->alive && j->block != NO_SLOT &&
        (tn_length(j->force) > j->def.break_force || tn_length(j->torque) > j->def.break_torque)) {
      break_joint(world, slot);
    }
  }
}

// A body whose state is not finite stands where the step began; what its joints remember of the
// step is worth nothing.
static void report_lost(tn_world *world, int32_t slot)
{
  const body *b = &world->bodies[slot];
  report(world, TN_LOG_ERROR, "tn_world_step: body %d (%s) went non-finite; it was stopped",
         (int)slot, b->name[0] ? b->name : "unnamed");
  for (int32_t link = b->first_joint; link != NO_SLOT;
       link = world->joints[link / 2].next[link % 2]) {
    joint_forget(&world->joints[link / 2]);
    if (world->joints[link / 2].block != NO_SLOT) {
      joint_pack(world, link / 2);
    }
  }
}

static uint32_t end_step(tn_world *world, float dt)
{
  uint32_t status = world->graph.serial.last > world->graph.serial.first ? TN_STEP_SERIAL : 0;
  for (int32_t i = 0; i < world->graph.block_count; ++i) {
    joint_end_step(world, &world->graph.blocks[i], dt);
  }
  for (int32_t i = 0; i < world->body_list.used; ++i) {
    if (!body_end_step(world, i)) {
      report_lost(world, i);
      status |= TN_STEP_NON_FINITE;
    }
  }
  find_broken(world);
  return status;
}

static stepper make_stepper(tn_world *world, float dt)
{
  stepper s = {0};
  s.world = world;
  s.body_blocks = (world->body_list.used + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
  s.data.state = world->state;
  s.data.inertia = world->inertia;
  s.data.bodies = world->body_blocks;
  s.data.change = world->change;
  s.data.joints = world->graph.blocks;
  s.data.substep.h = dt / (float)world->substeps;
  s.data.substep.keep = KEEP;
  s.data.substep.push = PUSH * s.data.substep.h;
  s.data.substep.turn = TURN * s.data.substep.h;
  s.data.substep.averaged = world->method == TN_METHOD_JACOBI;
  return s;
}

uint32_t tn_world_step(tn_world *world, float dt)
{
  if (!world) {
    return TN_STEP_REJECTED;
  }
  if (!(dt / (float)world->substeps >= 1e-9f) || !(dt <= 10.0f)) {
    report(world, TN_LOG_ERROR,
           "tn_world_step: dt must be at most 10 s, and a substep at least 1e-9 s");
    return TN_STEP_REJECTED;
  }
  if (!graph_build(world)) {
    report(world, TN_LOG_ERROR, "tn_world_step: out of memory");
    return TN_STEP_OUT_OF_MEMORY;
  }
  begin_step(world, dt);
  stepper s = make_stepper(world, dt);
  s.task.data = &s.data;
  s.task.ops = world->ops;
  for (int i = 0; i < world->substeps; ++i) {
    s.data.substep.time = (float)(i + 1) * s.data.substep.h;
    if (world->method == TN_METHOD_TENON) {
      substep_tenon(&s, i);
    } else {
      substep_positions(&s);
    }
  }
  if (world->method == TN_METHOD_TENON) {
    finish_tenon(&s);
  }
  for_bodies(&s, collect_task);
  return end_step(world, dt);
}
