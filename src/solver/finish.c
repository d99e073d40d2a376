// After the substeps: results, broken joints, sleep, events.
#include "solver/finish.h"

#include "base/bits.h"
#include "data/events.h"
#include "detect/broad_phase.h"
#include "detect/detection.h"
#include "detect/sweep.h"
#include "solver/body_step.h"
#include "solver/islands.h"
#include "solver/joint/coupling_step.h"
#include "solver/joint/joint_layout.h"
#include "solver/moves.h"
#include "solver/soft_step.h"
#include "solver/solver.h"

// Least work of a task: about 2 us.
#define AWAKE_GRAIN 128     // bodies
#define JOINT_BLOCK_GRAIN 4 // blocks of joints
#define DIRECT_JOINT_GRAIN 16

// What end_bodies_task() leaves to the calling thread.
#define MARK_MAY_LEAVE_BOX 1
#define MARK_NON_FINITE 2

static void end_bodies_task(int first, int last, void *context)
{
  tn_world *world = context;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->awake[i];
    bool may_leave_box = !shape_boxes_use_slack(world, slot);
    bool is_moved = is_displaced(&world->state[slot]);
    bool non_finite = !body_end_step(world, slot);
    moves_note_body(world, i, is_moved);
    world->detection->body_marks[i] =
        (uint8_t)((may_leave_box ? MARK_MAY_LEAVE_BOX : 0) | (non_finite ? MARK_NON_FINITE : 0));
  }
}

// Results of all awake bodies; returns TN_STEP_NON_FINITE or 0.
static uint32_t end_bodies(tn_world *world)
{
  uint32_t status = 0;
  task_run(world->tasks, end_bodies_task, world->awake_count, AWAKE_GRAIN, world);
  const uint8_t *marks = world->detection->body_marks;
  for (int32_t i = next_mark(marks, 0, world->awake_count); i < world->awake_count;
       i = next_mark(marks, i + 1, world->awake_count)) {
    int32_t slot = world->awake[i];
    if (marks[i] & MARK_NON_FINITE) {
      lost_forget_body(world, slot);
      lost_report_body(world, slot, "left the range of positions");
      status = TN_STEP_NON_FINITE;
    }
    if (marks[i] & MARK_MAY_LEAVE_BOX) {
      shape_boxes_refit(world, slot);
    }
  }
  return status;
}

typedef struct joint_task {
  tn_world *world;
  float dt;
} joint_task;

static void end_joint_blocks_task(int first, int last, void *context)
{
  const joint_task *t = context;
  for (int i = first; i < last; ++i) {
    joint_end_step(t->world, &t->world->solver->joint_graph.blocks[i], t->dt);
  }
}

static void end_direct_joints_task(int first, int last, void *context)
{
  const joint_task *t = context;
  for (int i = first; i < last; ++i) {
    direct_joint_end_step(t->world, &t->world->solver->mechanisms.joints[i], t->dt);
  }
}

static void end_joints(tn_world *world, float dt)
{
  joint_task task = {world, dt};
  task_run(world->tasks, end_joint_blocks_task, world->solver->joint_graph.block_count,
           JOINT_BLOCK_GRAIN, &task);
  task_run(world->tasks, end_direct_joints_task, world->solver->mechanisms.joint_count,
           DIRECT_JOINT_GRAIN, &task);
  couplings_end_step(world, dt);
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
  status |= world->detection->crowded_shape ? TN_STEP_CROWDED : 0;
  end_joints(world, dt);
  contacts_unpack(world, dt);
  sweep_bodies(world, dt);
  status |= end_bodies(world);
  trees_refit(world);
  break_overloaded_joints(world);
  if (world->soft_pool.count > 0 && !finish_softs(world, dt)) {
    status |= TN_STEP_NON_FINITE;
  }
  status |= sleep_update(world, dt) ? 0 : TN_STEP_OUT_OF_MEMORY;
  moves_record_softs(world);
  status |= world->solver->troubled && lost_thaw(world) ? TN_STEP_NON_FINITE : 0;
  events_publish(world);
  return status;
}
