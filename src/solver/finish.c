// After the substeps: results, broken joints, sleep, events.
#include "solver/finish.h"

#include "data/events.h"
#include "detect/broad_phase.h"
#include "detect/detection.h"
#include "solver/body_step.h"
#include "solver/islands.h"
#include "solver/joint/joint_layout.h"
#include "solver/moves.h"
#include "solver/soft_step.h"
#include "solver/solver.h"

#define AWAKE_GRAIN 128 // bodies in a task: about 2 us

static void end_bodies_task(int first, int last, void *context)
{
  tn_world *world = context;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->awake[i];
    world->solver->contact_flags[slot].may_leave_box = !shape_boxes_use_slack(world, slot);
    world->solver->contact_flags[slot].moved = is_displaced(&world->state[slot]);
    world->solver->contact_flags[slot].non_finite = !body_end_step(world, slot);
  }
}

static bool has_overflow(const coloring *c)
{
  return c->overflow.last > c->overflow.first;
}

// Stores results and raises events; returns the TN_STEP_ flags.
uint32_t end_step(tn_world *world, float dt)
{
  bool overflow = has_overflow(&world->solver->joint_graph.coloring) ||
                  has_overflow(&world->solver->contact_graph.coloring);
  uint32_t status = overflow ? TN_STEP_SERIAL : 0;
  status |= world->solver->mechanisms.skipped > 0 ? TN_STEP_ITERATIVE : 0;
  status |= world->detection->crowded ? TN_STEP_CROWDED : 0;
  for (int32_t i = 0; i < world->solver->joint_graph.block_count; ++i) {
    joint_end_step(world, &world->solver->joint_graph.blocks[i], dt);
  }
  for (int32_t i = 0; i < world->solver->mechanisms.joint_count; ++i) {
    direct_joint_end_step(world, &world->solver->mechanisms.joints[i], dt);
  }
  contacts_unpack(world, dt);
  task_run(world->tasks, end_bodies_task, world->awake_count, AWAKE_GRAIN, world);
  for (int32_t i = 0; i < world->awake_count; ++i) {
    int32_t slot = world->awake[i];
    if (world->solver->contact_flags[slot].non_finite) {
      lost_forget_body(world, slot);
      lost_report_body(world, slot, "left the range of positions");
      status |= TN_STEP_NON_FINITE;
    }
    if (world->solver->contact_flags[slot].may_leave_box) {
      shape_boxes_refit(world, slot);
    }
  }
  trees_refit(world);
  break_overloaded_joints(world);
  if (world->soft_pool.count > 0 && !finish_softs(world, dt)) {
    status |= TN_STEP_NON_FINITE;
  }
  status |= sleep_update(world, dt) ? 0 : TN_STEP_OUT_OF_MEMORY;
  moves_record(world);
  status |= world->solver->troubled && lost_thaw(world) ? TN_STEP_NON_FINITE : 0;
  events_publish(world);
  return status;
}
