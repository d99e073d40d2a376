// One step: detection, layout, substeps, results. The substeps are Algorithm 2 of Mueller et al.
// 2020 (substep_positions), or the default method's impulse form of it (impulse_form.c). A step
// that ends with non-finite values is solved again without the bodies that cause them (recovery.c).
#include "solver/step.h"

#include "data/events.h"
#include "data/profile.h"
#include "data/recorder.h"
#include "data/soft_bounds.h"
#include "detect/detect.h"
#include "detect/detection.h"
#include "solver/finish.h"
#include "solver/moves.h"
#include "solver/passes.h"
#include "solver/prepare.h"

// ---------------------------------------------------------------------------------------------
// TN_METHOD_XPBD, TN_METHOD_JACOBI: Algorithm 2 as printed
//
// Positions are predicted, then corrected at their latest pose. Each correction changes the
// velocity as well (kernel/project.h), which replaces the loop that derives velocities from
// positions.

static void solve_position_stage(step_context *s, solve_stage stage)
{
  s->data.substep.stage = stage;
  for_joints(s, s->world->solver->ops->joint_positions);
  if (s->has_contacts) {
    for_contacts(s, s->world->solver->contact_ops->solve_positions);
  }
  if (s->data.substep.averaged) {
    average_corrections(s, stage != STAGE_VELOCITIES);
  }
}

static void substep_positions(step_context *s)
{
  if (s->has_contacts) {
    for_contacts(s, s->world->solver->contact_ops->record_approach);
  }
  kick_bodies(s, KICK_WHOLE);
  drift_bodies(s);
  solve_position_stage(s, STAGE_BEGIN);
  if (s->has_softs) {
    for_soft_rows(s, SOFT_WARM_START);
    for_attachments(s, SOFT_WARM_START);
    for_soft_contacts(s, SOFT_WARM_START);
  }
  for (int k = 0; k < s->world->iterations; ++k) {
    solve_position_stage(s, STAGE_POSITIONS);
    if (s->has_softs) {
      for_soft_rows(s, SOFT_POSITION);
      for_attachments(s, SOFT_POSITION);
      for_attachments_reversed(s, SOFT_POSITION);
      for_soft_contacts(s, SOFT_POSITION);
    }
  }
  solve_position_stage(s, STAGE_VELOCITIES);
}

void run_substeps(step_context *s)
{
  for (int i = 0; i < s->world->substeps; ++i) {
    s->data.substep.time = (float)(i + 1) * s->data.substep.h;
    if (s->world->method == TN_METHOD_TENON) {
      substep_tenon(s, i);
    } else {
      substep_positions(s);
    }
  }
  if (s->world->method == TN_METHOD_TENON) {
    finish_tenon(s);
  }
  update_momenta(s);
}

// All substeps; as a watched run if `watch` is not NULL.
void solve_step(tn_world *world, float dt, float scale, bool *watch)
{
  step_context s = begin_substeps(world, dt, scale);
  s.watch = watch;
  s.tasks = watch ? NULL : s.tasks; // one job per colour does not pay
  profile_end_stage(world, &world->profile.prepare);
  step_context shared = s;
  shared.restitution_contacts = world->solver->contact_graph.restitution_contact_count;
  bind_solver_data(&shared);
  run_substeps(&shared);
  solve_groups(&s, dt, scale);
  profile_end_stage(world, &world->profile.solve);
}

// Estimated time of the step on one thread, us, from the counts of the last step: for what a step
// does once with a body and a contact, and for a substep of each. Only decides how many threads are
// worth waking, see task_begin().
static double estimate_work(const tn_world *world)
{
  double substeps = (double)(world->substeps * world->iterations);
  double bodies = (double)(world->awake_list_lost ? world->body_pool.count
                                                  : world->awake_count + world->changed_body_count);
  double pairs = (double)world->detection->active_pair_count;
  double surface_pairs = (double)world->detection->multi_manifold_pair_count;
  double joints = (double)(BLOCK_WIDTH * world->solver->joint_graph.block_count);
  double direct_joints = (double)world->solver->mechanisms.joint_count;
  double particles = (double)world->solver->soft_graph.solver_particle_count;
  return (0.2 + 0.02 * substeps) * bodies + (0.2 + 0.05 * substeps) * pairs + 8.0 * surface_pairs +
         0.1 * substeps * joints + 1.0 * substeps * direct_joints +
         (0.2 + 0.1 * substeps) * particles;
}

uint32_t tn_world_step(tn_world *world, float dt)
{
  RECORD(world, tn_world_step, &dt);
  if (!world) {
    return TN_STEP_REJECTED;
  }
  if (!(dt / (float)world->substeps >= 1e-9f) || !(dt <= 10.0f)) {
    report(&world->log, TN_LOG_ERROR,
           "tn_world_step: dt must be at most 10 s, and a substep at least 1e-9 s");
    return TN_STEP_REJECTED;
  }
  events_begin_step(world);
  profile_begin(world);
  soft_boxes_settle(world);
  task_begin(world->tasks, estimate_work(world));
  // Ratio of the substep to that of the last step: stored impulses are forces times h.
  float scale = world->last_h > 0.0f ? dt / (float)world->substeps / world->last_h : 1.0f;
  world->solver->troubled = false;
  // In this order: detection wakes bodies, whose joints the joint graph must then contain.
  bool ok = detect_contacts(world, dt) && prepare(world, dt, scale);
  if (ok) {
    solve_step(world, dt, scale, NULL);
    ok = recover(world, dt, scale);
  }
  uint32_t status = TN_STEP_OUT_OF_MEMORY;
  if (ok) {
    status = end_step(world, dt);
  } else {
    report(&world->log, TN_LOG_ERROR, "tn_world_step: out of memory");
    lost_thaw(world);
  }
  task_end(world->tasks);
  profile_end_stage(world, &world->profile.finish);
  RECORD_RESULT_OF(world, status);
  return status;
}
