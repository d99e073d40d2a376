// Before the substeps: the layout of all constraints, and what is constant over the step.
#include "solver/prepare.h"

#include "detect/broad_phase.h"
#include "detect/sweep.h"
#include "solver/body_step.h"
#include "solver/joint/coupling_step.h"
#include "solver/joint/joint_layout.h"
#include "solver/mechanism/mechanism_build.h"
#include "solver/moves.h"
#include "solver/passes.h"
#include "solver/soft/soft_steps.h"
#include "solver/soft_step.h"

#include <stdatomic.h>

// Least work of a task: about 2 us.
#define AWAKE_GRAIN 128     // bodies
#define JOINT_BLOCK_GRAIN 2 // blocks of joints
#define DIRECT_JOINT_GRAIN 8
#define COUPLING_GRAIN 8
#define MECHANISM_GRAIN 8

// Marks bodies that touch a supported soft body or have an active attachment; false if none does.
static bool find_soft_supported(tn_world *world)
{
  bool any = false;
  for (int32_t i = 0; i < world->soft_contact_count; ++i) {
    const soft_contact *t = &world->soft_contacts[i];
    if (t->body != NO_SLOT && world->softs[t->soft].supported) {
      world->bodies[t->body].supported = world->bodies[t->body].type == TN_BODY_DYNAMIC;
      any = true;
    }
  }
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    const attachment *a = &world->attachments[i];
    if (attachment_is_active(world->softs, a)) {
      world->bodies[a->body].supported = world->bodies[a->body].type == TN_BODY_DYNAMIC;
      any = true;
    }
  }
  return any;
}

// Supports all bodies of a coupling if one is supported; returns whether that changed anything.
static bool support_coupling(tn_world *world, const coupling *k)
{
  bool supported = false, changed = false;
  for (int32_t i = 0; i < k->side_count; ++i) {
    supported = supported || world->bodies[k->side_body[i]].supported;
  }
  for (int32_t i = 0; i < k->side_count && supported; ++i) {
    body *b = &world->bodies[k->side_body[i]];
    if (b->type == TN_BODY_DYNAMIC && !b->supported) {
      b->supported = changed = true;
    }
  }
  return changed;
}

typedef struct support_task {
  tn_world *world;
  atomic_bool any;
} support_task;

static void copy_supported(int first, int last, void *context)
{
  support_task *t = context;
  bool any = false;
  for (int i = first; i < last; ++i) {
    int32_t slot = t->world->awake[i];
    bool supported = t->world->solver->contact_flags[slot].supported;
    t->world->bodies[slot].supported = supported;
    any = any || supported;
  }
  if (any) {
    atomic_store_explicit(&t->any, true, memory_order_relaxed);
  }
}

// Marks bodies that contacts support, and all bodies connected to them by joints or couplings.
// Supported bodies get a substep's whole kick before the drift, free ones half of it: different
// kicks inside a supported mechanism would shake it.
static void find_supported(tn_world *world)
{
  support_task task = {.world = world};
  task_run(world->tasks, copy_supported, world->awake_count, AWAKE_GRAIN, &task);
  bool any = task.any;
  any = find_soft_supported(world) || any;
  // In alternating directions, so that chains in either order take few rounds.
  for (int32_t round = 0; any; ++round) {
    any = false;
    int32_t count = world->joint_pool.used;
    for (int32_t i = 0; i < count; ++i) {
      const joint *j = &world->joints[round % 2 ? count - 1 - i : i];
      body *a = &world->bodies[j->slot[0]], *b = &world->bodies[j->slot[1]];
      if (j->alive && j->def.enabled && a->supported != b->supported &&
          a->type == TN_BODY_DYNAMIC && b->type == TN_BODY_DYNAMIC) {
        a->supported = b->supported = true;
        any = true;
      }
    }
    for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
      const coupling *k = &world->couplings[i];
      any = (k->direct != NO_SLOT && support_coupling(world, k)) || any;
    }
  }
}

// Number of constraints on each body, at least 1, for TN_METHOD_JACOBI.
static void count_constraints(tn_world *world)
{
  for (int32_t i = 0; i < world->awake_count; ++i) {
    world->state[world->awake[i]].constraint_count = 0.0f;
  }
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    const joint *j = &world->joints[i];
    for (int side = 0; side < 2 && j->alive && j->block != NO_SLOT; ++side) {
      world->state[j->slot[side]].constraint_count += 1.0f;
    }
  }
  for (int32_t i = 0; i < world->solver->contact_graph.block_count; ++i) {
    const contact_block *cb = &world->solver->contact_graph.blocks[i];
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      world->state[cb->a[lane]].constraint_count += 1.0f;
      world->state[cb->b[lane]].constraint_count += 1.0f;
    }
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    body_state *state = &world->state[world->awake[i]];
    state->constraint_count = state->constraint_count < 1.0f ? 1.0f : state->constraint_count;
  }
}

static bool list_mechanism_contacts(tn_world *world)
{
  solver *s = world->solver;
  return warm_contacts_list(&s->mechanisms, &world->heap, &s->contact_graph, world->contacts,
                            s->contact_flags);
}

// Builds the constraint blocks of the step and saves its initial state. False when out of memory.
bool prepare(tn_world *world, float dt, float scale)
{
  float h = dt / (float)world->substeps;
  if (!joint_graph_build(world) || !contact_layout_build(world) ||
      (world->solver->contact_graph.unsettled && !load_estimate_init(world, h / scale)) ||
      !inertia_scaling_update(world, h * scale) || !list_mechanism_contacts(world) ||
      !prepare_softs(world, dt, scale) || !start_reserve(world) || !moves_reserve(world) ||
      !sweep_reserve(world) || !body_marks_reserve(world)) {
    return false;
  }
  start_keep(world);
  return true;
}

// What the tasks that begin a step need.
typedef struct begin_task {
  tn_world *world;
  float dt, scale;
} begin_task;

static void begin_bodies_task(int first, int last, void *context)
{
  const begin_task *t = context;
  for (int i = first; i < last; ++i) {
    start_keep_body(t->world, t->world->awake[i]);
    body_begin_step(t->world, t->world->awake[i], t->dt, t->world->substeps);
    contact_flags_begin_body(t->world, t->world->awake[i], t->dt);
  }
}

static void begin_joint_blocks_task(int first, int last, void *context)
{
  const begin_task *t = context;
  for (int i = first; i < last; ++i) {
    joint_begin_step(t->world, &t->world->solver->joint_graph.blocks[i], t->dt, t->scale);
  }
}

static void begin_direct_joints_task(int first, int last, void *context)
{
  const begin_task *t = context;
  for (int i = first; i < last; ++i) {
    direct_joint_begin_step(t->world, &t->world->solver->mechanisms.joints[i], t->dt, t->scale);
  }
}

static void begin_couplings_task(int first, int last, void *context)
{
  const begin_task *t = context;
  for (int i = first; i < last; ++i) {
    direct_coupling_begin_step(t->world, &t->world->solver->mechanisms.couplings[i], t->dt,
                               t->scale);
  }
}

static void begin_mechanisms_task(int first, int last, void *context)
{
  const begin_task *t = context;
  for (int i = first; i < last; ++i) {
    mechanism_begin_step(t->world, &t->world->solver->mechanisms.list[i]);
  }
}

static void begin_bodies_and_joints(tn_world *world, float dt, float scale)
{
  const mechanism_set *set = &world->solver->mechanisms;
  begin_task task = {world, dt, scale};
  world->last_h = dt / (float)world->substeps;
  find_supported(world);
  task_run(world->tasks, begin_bodies_task, world->awake_count, AWAKE_GRAIN, &task);
  task_run(world->tasks, begin_joint_blocks_task, world->solver->joint_graph.block_count,
           JOINT_BLOCK_GRAIN, &task);
  task_run(world->tasks, begin_direct_joints_task, set->joint_count, DIRECT_JOINT_GRAIN, &task);
  task_run(world->tasks, begin_couplings_task, set->coupling_count, COUPLING_GRAIN, &task);
}

static step_context make_step_context(tn_world *world, float dt)
{
  step_context s = {0};
  s.world = world;
  s.direct.bodies = world->bodies;
  s.direct.joints = world->joints;
  s.direct.play = world->play;
  s.direct.couplings = world->couplings;
  s.direct.set = &world->solver->mechanisms;
  s.direct.direct = world->solver->direct_ops;
  s.direct.ball_ops = world->solver->ball_ops;
  s.has_joints = world->solver->joint_graph.block_count > 0;
  s.has_contacts = world->solver->contact_graph.block_count > 0;
  s.has_softs =
      world->soft_pool.count > 0 && world->solver->soft_graph.solver_particle_count > BLOCK_WIDTH;
  s.soft = soft_system_of(world);
  s.data.soft = &world->solver->soft_graph.data;
  s.data.soft->warm_start_factor = world->method == TN_METHOD_TENON ? TUNING_SOFT_WARM_START : 0.0f;
  s.data.state = world->state;
  s.data.inertia = world->inertia;
  s.data.bodies = world->body_blocks;
  s.data.corrections = world->corrections;
  s.data.joints = world->solver->joint_graph.blocks;
  s.data.contacts = world->solver->contact_graph.blocks;
  s.data.active = groups_count(&world->solver->groups) > 0 ? world->solver->groups.active
                                                           : world->active_blocks;
  s.tasks = world->tasks;
  s.task.ops = world->solver->ops;
  s.blocks = groups_count(&world->solver->groups) > 0 ? world->solver->groups.shared_body_blocks
                                                      : world->active_block_count;
  s.contacts = &world->solver->contact_graph.coloring;
  s.mechanisms = world->solver->mechanisms.count;
  s.data.substep.h = dt / (float)world->substeps;
  s.data.substep.warm_share = TUNING_JOINT_WARM_START;
  s.data.substep.max_linear_bias = TUNING_JOINT_MAX_PUSH * s.data.substep.h;
  s.data.substep.max_angular_bias = TUNING_JOINT_MAX_TURN * s.data.substep.h;
  s.data.substep.averaged = world->method == TN_METHOD_JACOBI;
  s.data.substep.restitution_threshold =
      TUNING_RESTITUTION_THRESHOLD * tn_length(world->gravity) * s.data.substep.h;
  return s;
}

// Points the task contexts at this step_context's own solver data; a copy needs it again.
void bind_solver_data(step_context *s)
{
  s->task.data = s->direct.data = &s->data;
}

step_context begin_substeps(tn_world *world, float dt, float scale)
{
  begin_bodies_and_joints(world, dt, scale);
  step_context s = make_step_context(world, dt);
  contacts_pack(world, &s.data, dt, scale);
  begin_task task = {world, dt, scale};
  task_run(world->tasks, begin_mechanisms_task, world->solver->mechanisms.count, MECHANISM_GRAIN,
           &task);
  batches_begin_step(&world->solver->mechanisms);
  if (world->method == TN_METHOD_JACOBI) {
    count_constraints(world);
  }
  return s;
}
