// One step: detection, layout, substeps, results. The substeps are Algorithm 2 of Mueller et al.
// 2020 (substep_positions), or the default method's impulse form of it (substep_tenon). A step that
// ends with non-finite values is solved again without the bodies that cause them (recover).
#include "data/world.h"
#include "kernel/tuning.h"
#include "world/moves.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Passes over bodies and constraints, on all threads

// Least work of a task: about 2 us.
#define BODY_BLOCK_GRAIN 32 // blocks of bodies or particles
#define CONSTRAINT_GRAIN 4  // blocks of joints, contacts, soft contacts, attachments
#define AWAKE_GRAIN 128     // bodies
#define MECHANISM_GRAIN 1
#define WARM_START_GRAIN 64 // contacts
#define GROUP_GRAIN 1
// Blocks of soft rows by soft_type; edges are the cheapest.
static const int SOFT_GRAIN[SOFT_TYPE_COUNT] = {32, 32, 16, 16, 8, 8, 8, 8};

// Watched runs that look for the cause of non-finite values, before everything non-finite is
// frozen.
#define WATCHED_RUNS 8

typedef void pass_fn(solver_data *data, int first, int last);

typedef struct pass_task {
  solver_data *data;
  const solver_ops *ops;
  pass_fn *pass;
  int offset;       // of the pass's first block
  kick_phase phase; // of kick_task
  int move;         // average_task also moves the bodies
} pass_task;

static void kick_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->kick(t->data, first, last, t->phase);
}

static void drift_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->drift(t->data, first, last);
}

static void update_momenta_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->update_momenta(t->data, first, last);
}

static void average_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->average(t->data, first, last, t->move);
}

// A mechanism that may touch something is solved again after the contacts (DIRECT_RESOLVE) and
// relaxed at the new pose (DIRECT_RELAX). One that nothing supports is relaxed as the step ends.
static bool mechanism_needs_pass(const mechanism *m, direct_pass pass)
{
  return pass == DIRECT_BIAS || (pass == DIRECT_HALF_KICK ? !m->supported : m->may_touch);
}

static bool has_bad_warm_start(const mechanism *m, direct_pass pass)
{
  (void)pass;
  return m->bad_warm_start;
}

static void mechanism_task(int first, int last, void *context)
{
  for (int i = first; i < last; ++i) {
    mechanisms_solve(context, i, mechanism_needs_pass);
  }
}

static void resolve_bad_warm_start_task(int first, int last, void *context)
{
  for (int i = first; i < last; ++i) {
    mechanisms_solve(context, i, has_bad_warm_start);
  }
}

static void split_impulse_task(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    mechanism_finish_split_impulse(c, &c->set->list[i]);
  }
}

static void constraint_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->pass(t->data, t->offset + first, t->offset + last);
}

// Everything a substep works on: the shared bodies and constraints, or those of a group.
typedef struct step_context {
  tn_world *world;
  solver_data data;
  pass_task task;
  direct_context direct;
  task_pool *tasks; // NULL: everything runs on this thread
  int32_t blocks;   // number of body blocks, in data.active
  const coloring *contacts;
  int32_t mechanisms;
  int32_t restitution_contacts;
  bool has_joints, has_contacts, has_softs;
  bool *watch; // of a watched run: set once something is not finite; otherwise NULL
} step_context;

// After each pass of a watched run: marks the first bodies whose state is not finite.
static void look(const step_context *s)
{
  if (s->watch && !*s->watch) {
    *s->watch = lost_find(s->world, false);
  }
}

static void for_bodies(step_context *s, tn_task_fn *task)
{
  task_run(s->tasks, task, s->blocks, BODY_BLOCK_GRAIN, &s->task);
  look(s);
}

// Gauss-Seidel: colour after colour. Constraints of a colour share no dynamic body and run in
// parallel; those of the overflow run serially.
static void for_colors(step_context *s, const color_range *colors, int count, color_range overflow,
                       int grain, pass_fn *pass)
{
  s->task.pass = pass;
  s->task.offset = 0;
  int stages = s->watch ? 1 : count; // colours in separate calls, to look in between
  for (int i = 0; i < count; i += stages) {
    task_run_stages(s->tasks, constraint_task, colors + i, stages, grain, &s->task);
    look(s);
  }
  pass(&s->data, overflow.first, overflow.last);
  look(s);
}

static void for_coloring(step_context *s, const coloring *c, pass_fn *pass)
{
  for_colors(s, c->color, c->count, c->overflow, CONSTRAINT_GRAIN, pass);
}

static void for_joints(step_context *s, pass_fn *pass)
{
  if (s->has_joints) {
    for_coloring(s, &s->world->joint_graph.coloring, pass);
  }
}

static void for_contacts(step_context *s, pass_fn *pass)
{
  for_coloring(s, s->contacts, pass);
}

// Mechanisms share no dynamic body and run in parallel.
static void for_mechanisms(step_context *s, direct_pass pass, tn_task_fn *task)
{
  s->direct.pass = pass;
  int32_t count = s->mechanisms > 0 ? s->direct.set->work_count : 0;
  task_run(s->tasks, task, count, MECHANISM_GRAIN, &s->direct);
  look(s);
}

// The warm start of contacts must not add energy to a mechanism: the impulse that stopped a foot
// would throw the body up when it is applied again. Where warm-started points separate too fast,
// the mechanism is solved without these impulses, and again with the share of them that leaves it
// the least energy.
static void limit_mechanism_warm_starts(step_context *s)
{
  int32_t count = s->mechanisms > 0 ? s->world->mechanisms.warm_contact_count : 0;
  task_run(s->tasks, warm_contacts_measure, count, WARM_START_GRAIN, &s->direct);
  if (count > 0 && warm_contacts_remove_excess(&s->direct)) {
    for_mechanisms(s, DIRECT_RESOLVE, resolve_bad_warm_start_task);
    warm_contacts_reapply(&s->direct);
    for_mechanisms(s, DIRECT_RESOLVE, resolve_bad_warm_start_task);
  }
}

// Particles of all soft bodies, in blocks of BLOCK_WIDTH; block 0 holds no particle.
static void for_particles(step_context *s, pass_fn *pass)
{
  s->task.pass = pass;
  s->task.offset = 1;
  int blocks = s->world->soft_graph.solver_particle_count / BLOCK_WIDTH - 1;
  task_run(s->tasks, constraint_task, blocks, BODY_BLOCK_GRAIN, &s->task);
  look(s);
}

static void kick_bodies(step_context *s, kick_phase phase)
{
  s->task.phase = phase;
  for_bodies(s, kick_task);
  if (s->has_softs) {
    s->data.soft->phase = phase;
    for_particles(s, s->world->soft_ops->particles->kick);
  }
}

static void drift_bodies(step_context *s)
{
  for_bodies(s, drift_task);
  s->direct.pose += 1;
  if (s->has_softs) {
    for_particles(s, s->world->soft_ops->particles->drift);
  }
}

// Internal constraints of soft bodies: chains, then type after type, clusters and pressure.
static void for_soft_rows(step_context *s, soft_stage stage)
{
  tn_world *world = s->world;
  soft_graph *g = &world->soft_graph;
  g->data.stage = stage;
  if (stage == SOFT_SOLVE || stage == SOFT_RELAX) {
    soft_solve_chains(world, s->data.substep.h, stage == SOFT_RELAX);
  } else if (stage == SOFT_POSITION) {
    soft_solve_chain_positions(world, s->data.substep.h);
  }
  look(s);
  for (int type = 0; type < (stage == SOFT_RELAX ? SOFT_TETHER + 1 : SOFT_TYPE_COUNT); ++type) {
    g->data.type = (soft_type)type;
    for_colors(s, g->color[type], g->color_count[type], g->overflow[type], SOFT_GRAIN[type],
               world->soft_ops->rows);
  }
  if (stage != SOFT_RELAX) {
    soft_solve_clusters(world, s->data.substep.h, stage);
    look(s);
  }
  if (stage != SOFT_WARM_START) {
    soft_solve_pressure(world, s->data.substep.h, stage);
    look(s);
  }
  if (stage == SOFT_POSITION && g->data.jacobi_delta) {
    for_particles(s, world->soft_ops->particles->average);
  }
}

// Attachments of soft bodies to rigid ones.
static void for_attachments(step_context *s, soft_stage stage)
{
  const soft_coloring *l = &s->world->attachment_coloring;
  s->data.soft->stage = stage;
  for_colors(s, l->color, l->color_count, l->overflow, CONSTRAINT_GRAIN,
             s->world->soft_ops->contacts->attachments);
}

// In reverse order. A sweep forth and one back are together a symmetric operator. Of sweeps in one
// direction the product may have complex eigenvalues, and many attachments of a light body then
// amplify each other from substep to substep.
static void for_attachments_reversed(step_context *s, soft_stage stage)
{
  if (!RULE(soft_attachment_reversed)) {
    for_attachments(s, stage);
    return;
  }
  const soft_coloring *l = &s->world->attachment_coloring;
  pass_fn *pass = s->world->soft_ops->contacts->attachments;
  s->data.soft->stage = stage;
  for (int32_t i = l->overflow.last; i > l->overflow.first; --i) {
    pass(&s->data, i - 1, i);
  }
  color_range none = {0, 0};
  for (int i = l->color_count - 1; i >= 0; --i) {
    for_colors(s, &l->color[i], 1, none, CONSTRAINT_GRAIN, pass);
  }
}

static void for_soft_contacts(step_context *s, soft_stage stage)
{
  const soft_coloring *l = &s->world->soft_contact_coloring;
  s->data.soft->stage = stage;
  for_colors(s, l->color, l->color_count, l->overflow, CONSTRAINT_GRAIN,
             s->world->soft_ops->contacts->soft_contacts);
}

// ---------------------------------------------------------------------------------------------
// TN_METHOD_TENON: XPBD in impulse form
//
// Rows are linearised at the pose where a substep begins, and solved for velocities such that the
// drift ends on the constraint:
//   C / h + J v + (alpha / h^2) lambda = 0,
// which is eq. 4 divided by h, with a warm start from the impulses of the last substep. After the
// drift a relax pass at the new pose removes the position bias from the velocities of bodies in
// contact.
// Forces act half before and half after the drift, and at the end of a step joints apply half of
// their next impulse: the velocities read between steps belong to the time of the positions.

static void solve_joints(step_context *s)
{
  for (int k = 0; k < s->world->iterations; ++k) {
    for_joints(s, s->world->ops->joint_solve);
  }
}

static void solve_softs(step_context *s)
{
  for (int k = 0; k < s->world->iterations; ++k) {
    for_soft_rows(s, SOFT_SOLVE);
    for_attachments_reversed(s, SOFT_SOLVE);
    for_soft_contacts(s, SOFT_SOLVE);
  }
}

// Impacts come before the contact solve; they move bodies, so gaps are computed again.
static void impact_pass(step_context *s)
{
  const contact_graph *g = &s->world->contact_graph;
  if (s->restitution_contacts > 0 &&
      solve_impacts(&s->data, g->restitution_contacts, s->restitution_contacts,
                    tn_length(s->world->gravity))) {
    look(s);
    for_contacts(s, s->world->contact_ops->refresh);
    s->direct.pose += 1;
  }
}

static void substep_tenon(step_context *s, int i)
{
  const contact_ops *contacts = s->world->contact_ops;
  kick_bodies(s, i == 0 ? KICK_FIRST : KICK_WHOLE);
  if (s->has_contacts) {
    impact_pass(s);
    if (!s->data.substep.deferred_warm_start) {
      for_contacts(s, contacts->warm_start);
    }
    // The relax pass may warm start the next substep, unless impacts come in between. The last
    // substep does not: contacts are packed anew between steps.
    s->data.substep.deferred_warm_start =
        i + 1 < s->world->substeps && s->world->contact_graph.restitution_contact_count == 0;
  }
  if (s->has_softs) {
    for_soft_rows(s, SOFT_WARM_START);
    for_attachments(s, SOFT_WARM_START);
    for_soft_contacts(s, SOFT_WARM_START);
    // Attachments and contacts respond to the warm start of the soft rows before these are solved,
    // or the solve would give the same impulse again.
    for_attachments(s, SOFT_SOLVE);
    for_soft_contacts(s, SOFT_SOLVE);
  }
  s->direct.first_substep = i == 0;
  for_mechanisms(s, DIRECT_BIAS, mechanism_task);
  limit_mechanism_warm_starts(s);
  for_joints(s, s->world->ops->joint_warm_start);
  solve_joints(s);
  if (s->has_softs) {
    solve_softs(s);
  }
  if (s->has_contacts) {
    int passes = s->world->contact_graph.min_passes;
    for (int k = 0; k < passes || k < s->world->iterations; ++k) {
      for_contacts(s, contacts->solve);
    }
    solve_joints(s);
  }
  bool touched = s->has_contacts || s->has_softs;
  if (touched) {
    for_mechanisms(s, DIRECT_RESOLVE, mechanism_task);
  }
  drift_bodies(s);
  task_run(s->tasks, split_impulse_task, s->mechanisms, MECHANISM_GRAIN, &s->direct);
  look(s);
  if (s->has_contacts) {
    for_contacts(s, contacts->relax);
  }
  if (s->has_softs) {
    for_soft_rows(s, SOFT_RELAX);
    for_attachments(s, SOFT_RELAX);
    for_soft_contacts(s, SOFT_RELAX);
  }
  if (touched) {
    for_mechanisms(s, DIRECT_RELAX, mechanism_task);
  }
}

// The rest of the last kick. Joints apply half of their impulse ahead, and rigid rows stop their
// relative velocity.
static void finish_tenon(step_context *s)
{
  const solver_ops *ops = s->world->ops;
  kick_bodies(s, KICK_LAST);
  s->data.substep.half_kick = true;
  for_mechanisms(s, DIRECT_HALF_KICK, mechanism_task);
  for_joints(s, ops->joint_warm_start);
  for (int k = 0; k < s->world->iterations; ++k) {
    for_joints(s, ops->joint_relax);
  }
}

// ---------------------------------------------------------------------------------------------
// TN_METHOD_XPBD, TN_METHOD_JACOBI: Algorithm 2 as printed
//
// Positions are predicted, then corrected at their latest pose. Each correction changes the
// velocity as well (kernel/project.h), which replaces the loop that derives velocities from
// positions.

static void solve_position_stage(step_context *s, solve_stage stage)
{
  s->data.substep.stage = stage;
  for_joints(s, s->world->ops->joint_positions);
  if (s->has_contacts) {
    for_contacts(s, s->world->contact_ops->solve_positions);
  }
  if (s->data.substep.averaged) {
    s->task.move = stage != STAGE_VELOCITIES;
    for_bodies(s, average_task);
  }
}

static void substep_positions(step_context *s)
{
  if (s->has_contacts) {
    for_contacts(s, s->world->contact_ops->record_approach);
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

// ---------------------------------------------------------------------------------------------
// Before and after the substeps

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
    if (attachment_is_active(world, a)) {
      world->bodies[a->body].supported = world->bodies[a->body].type == TN_BODY_DYNAMIC;
      any = true;
    }
  }
  return any;
}

// Marks bodies that contacts support, and all bodies connected to them by joints. Supported bodies
// get a substep's whole kick before the drift, free ones half of it: different kicks inside a
// supported mechanism would shake it.
static void find_supported(tn_world *world)
{
  bool any = false;
  for (int32_t i = 0; i < world->awake_count; ++i) {
    body *b = &world->bodies[world->awake[i]];
    bool supported = world->contact_flags[world->awake[i]].supported;
    // No store without a change: it would take the cache line from the thread that has it.
    if (b->supported != supported) {
      b->supported = supported;
    }
    any = any || supported;
  }
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
  for (int32_t i = 0; i < world->contact_graph.block_count; ++i) {
    const contact_block *cb = &world->contact_graph.blocks[i];
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

// Removes the first `told` events: those published with the last step.
static void drop_published(void *events, int32_t *count, int32_t told, size_t size)
{
  *count -= told;
  if (*count > 0 && told > 0) {
    memmove(events, (char *)events + (size_t)told * size, (size_t)*count * size);
  }
}

// Events raised between steps are published with those of the next step.
static void events_begin_step(tn_world *world)
{
  drop_published(world->contact_events, &world->contact_event_count,
                 world->published_contact_event_count, sizeof *world->contact_events);
  drop_published(world->sleep_events, &world->sleep_event_count, world->published_sleep_event_count,
                 sizeof *world->sleep_events);
  drop_published(world->soft_events, &world->soft_event_count, world->published_soft_event_count,
                 sizeof *world->soft_events);
  world->published_contact_event_count = world->published_sleep_event_count =
      world->published_soft_event_count = 0;
  world->break_event_count = world->move_count = 0;
}

static void profile_begin(tn_world *world)
{
  world->profile = (tn_profile){0};
  world->stage_start = world->clock ? world->clock() : 0.0;
}

// Stores the time since the end of the last stage, s.
static void profile_end_stage(tn_world *world, double *part)
{
  if (world->clock) {
    double now = world->clock();
    *part = now - world->stage_start;
    world->stage_start = now;
  }
}

// Broad phase and narrow phase. The narrow phase wakes bodies that are touched, and is repeated
// until it wakes none, for they may touch others.
static bool detect_contacts(tn_world *world, float dt)
{
  if (!awake_list_update(world) || !broad_phase_update(world, dt)) {
    return false;
  }
  profile_end_stage(world, &world->profile.pairs);
  if (!soft_contacts_find(world, dt)) {
    return false;
  }
  do {
    if (!awake_list_update(world) || !narrow_phase_update(world, dt)) {
      return false;
    }
  } while (world->awake_list_stale);
  profile_end_stage(world, &world->profile.manifolds);
  return true;
}

// Ratio of the substep to that of the last step: stored impulses are forces times h.
static float impulse_scale(const tn_world *world, float dt)
{
  return world->last_h > 0.0f ? dt / (float)world->substeps / world->last_h : 1.0f;
}

// After contacts_pack(), which takes contacts that bounce out of may_touch. No pose has a Jacobian
// or factors yet.
static void mechanism_begin_step(tn_world *world, mechanism *m)
{
  m->supported = m->may_touch = false;
  m->jacobian_pose = m->factor_pose = NO_SLOT;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &world->mechanisms.nodes[i];
    if (!node->is_joint) {
      m->supported = m->supported || world->bodies[node->index].supported;
      m->may_touch = m->may_touch || m->supported || world->contact_flags[node->index].may_touch;
    }
  }
}

static bool prepare_softs(tn_world *world, float dt, float scale)
{
  if (world->soft_pool.count == 0) {
    return true;
  }
  if (!soft_graph_build(world) || !soft_contacts_pack(world) || !attachments_pack(world, scale)) {
    return false;
  }
  soft_pack(world);
  if (!soft_unfold_pack(world)) {
    return false;
  }
  soft_limit_stiffness(world, dt);
  return true;
}

static bool finish_softs(tn_world *world, float dt)
{
  soft_contacts_unpack(world, dt);
  attachments_unpack(world, dt);
  soft_restore_momentum(world, dt);
  bool ok = soft_unpack(world);
  soft_touch_pairs_update(world);
  soft_damp(world, dt);
  soft_apply_plasticity(world, dt);
  soft_tear(world, dt);
  soft_unfold_update(world, dt);
  return soft_stop_bad_velocities(world) && ok;
}

typedef struct body_task {
  tn_world *world;
  float dt;
} body_task;

static void begin_bodies_task(int first, int last, void *context)
{
  const body_task *t = context;
  for (int i = first; i < last; ++i) {
    start_keep_body(t->world, t->world->awake[i]);
    body_begin_step(t->world, t->world->awake[i], t->dt, t->world->substeps);
  }
}

static void end_bodies_task(int first, int last, void *context)
{
  tn_world *world = ((const body_task *)context)->world;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->awake[i];
    world->contact_flags[slot].may_leave_box = !shape_boxes_use_slack(world, slot);
    world->contact_flags[slot].moved = is_displaced(&world->state[slot]);
    world->contact_flags[slot].non_finite = !body_end_step(world, slot);
  }
}

static void begin_step(tn_world *world, float dt, float scale)
{
  float h = dt / (float)world->substeps;
  world->last_h = h;
  find_supported(world);
  body_task task = {world, dt};
  task_run(world->tasks, begin_bodies_task, world->awake_count, AWAKE_GRAIN, &task);
  for (int32_t i = 0; i < world->joint_graph.block_count; ++i) {
    joint_begin_step(world, &world->joint_graph.blocks[i], dt, scale);
  }
  for (int32_t i = 0; i < world->mechanisms.joint_count; ++i) {
    direct_joint_begin_step(world, &world->mechanisms.joints[i], dt, scale);
  }
}

static void break_joint(tn_world *world, int32_t slot)
{
  joint *j = &world->joints[slot];
  j->broken = true;
  j->def.enabled = false;
  world->joint_graph.dirty = true;
  tn_joint_break_event event = {joint_id_at(world, slot), j->force, j->torque, j->def.user_data};
  world->break_events[world->break_event_count++] = event;
}

static void break_overloaded_joints(tn_world *world)
{
  for (int32_t slot = 0; slot < world->joint_pool.used; ++slot) {
    const joint *j = &world->joints[slot];
    if (j->alive && (j->block != NO_SLOT || j->direct != NO_SLOT) &&
        (tn_length(j->force) > j->def.break_force || tn_length(j->torque) > j->def.break_torque)) {
      break_joint(world, slot);
    }
  }
}

static bool has_overflow(const coloring *c)
{
  return c->overflow.last > c->overflow.first;
}

// Stores results and raises events; returns the TN_STEP_ flags.
static uint32_t end_step(tn_world *world, float dt)
{
  bool overflow =
      has_overflow(&world->joint_graph.coloring) || has_overflow(&world->contact_graph.coloring);
  uint32_t status = overflow ? TN_STEP_SERIAL : 0;
  status |= world->mechanisms.skipped > 0 ? TN_STEP_ITERATIVE : 0;
  status |= world->crowded ? TN_STEP_CROWDED : 0;
  for (int32_t i = 0; i < world->joint_graph.block_count; ++i) {
    joint_end_step(world, &world->joint_graph.blocks[i], dt);
  }
  for (int32_t i = 0; i < world->mechanisms.joint_count; ++i) {
    direct_joint_end_step(world, &world->mechanisms.joints[i], dt);
  }
  contacts_unpack(world, dt);
  body_task task = {world, dt};
  task_run(world->tasks, end_bodies_task, world->awake_count, AWAKE_GRAIN, &task);
  for (int32_t i = 0; i < world->awake_count; ++i) {
    int32_t slot = world->awake[i];
    if (world->contact_flags[slot].non_finite) {
      lost_forget_body(world, slot);
      lost_report_body(world, slot, "left the range of positions");
      status |= TN_STEP_NON_FINITE;
    }
    if (world->contact_flags[slot].may_leave_box) {
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
  status |= world->troubled && lost_thaw(world) ? TN_STEP_NON_FINITE : 0;
  world->published_contact_event_count = world->contact_event_count;
  world->published_sleep_event_count = world->sleep_event_count;
  world->published_soft_event_count = world->soft_event_count;
  return status;
}

static step_context make_step_context(tn_world *world, float dt)
{
  step_context s = {0};
  s.world = world;
  s.direct.world = world;
  s.direct.set = &world->mechanisms;
  s.direct.direct = world->direct_ops;
  s.direct.ball_ops = world->ball_ops;
  s.has_joints = world->joint_graph.block_count > 0;
  s.has_contacts = world->contact_graph.block_count > 0;
  s.has_softs = world->soft_pool.count > 0 && world->soft_graph.solver_particle_count > BLOCK_WIDTH;
  s.data.soft = &world->soft_graph.data;
  s.data.soft->warm_start_factor = world->method == TN_METHOD_TENON ? TUNING_SOFT_WARM_START : 0.0f;
  s.data.state = world->state;
  s.data.inertia = world->inertia;
  s.data.bodies = world->body_blocks;
  s.data.corrections = world->corrections;
  s.data.joints = world->joint_graph.blocks;
  s.data.contacts = world->contact_graph.blocks;
  s.data.active = groups_count(world) > 0 ? world->groups.active : world->active_blocks;
  s.tasks = world->tasks;
  s.blocks = groups_count(world) > 0 ? world->groups.shared_body_blocks : world->active_block_count;
  s.contacts = &world->contact_graph.coloring;
  s.mechanisms = world->mechanisms.count;
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
static void bind_solver_data(step_context *s)
{
  s->task.data = s->direct.data = &s->data;
}

static void run_substeps(step_context *s)
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
  for_bodies(s, update_momenta_task);
}

typedef struct group_task {
  const step_context *shared_context;
  float dt, scale;
  atomic_int next; // group to run
} group_task;

// One group through the whole step: packs its contacts into `arena`, runs all substeps, unpacks.
static void run_group(const group_task *t, const solver_group *group, contact_block *arena)
{
  step_context s = *t->shared_context;
  s.tasks = NULL;
  s.data.active += group->blocks.first;
  s.data.contacts = arena;
  s.blocks = group->blocks.last - group->blocks.first;
  s.contacts = &group->coloring;
  s.has_joints = s.has_softs = false;
  s.mechanisms = s.restitution_contacts = 0;
  bind_solver_data(&s);
  group_pack_contacts(s.world, group, &s.data, t->dt, t->scale);
  run_substeps(&s);
  start_keep_group_contacts(s.world, group);
  group_unpack_contacts(s.world, group, &s.data, t->dt);
}

// Runs groups until none is left. Range item `first` selects the arena; a thread uses one arena for
// all of its groups, which keeps it in the cache.
static void run_groups(int first, int last, void *context)
{
  (void)last;
  group_task *t = context;
  const solver_group_set *groups = &t->shared_context->world->groups;
  contact_block *arena =
      t->shared_context->data.contacts + t->shared_context->world->contact_graph.shared_block_count;
  int i;
  while ((i = atomic_fetch_add(&t->next, 1)) < groups->count) {
    run_group(t, &groups->list[i], arena + (ptrdiff_t)first * groups->arena_blocks);
  }
}

// Builds the constraint blocks of the step and saves its initial state. False when out of memory.
static bool prepare(tn_world *world, float dt, float scale)
{
  float h = dt / (float)world->substeps;
  if (!joint_graph_build(world) || !contact_layout_build(world) ||
      (world->contact_graph.unsettled && !load_estimate_init(world, h / scale)) ||
      !inertia_scaling_update(world, h * scale) || !warm_contacts_list(world) ||
      !prepare_softs(world, dt, scale) || !start_reserve(world) || !moves_reserve(world)) {
    return false;
  }
  start_keep(world);
  return true;
}

// All substeps; as a watched run if `watch` is not NULL.
static void solve(tn_world *world, float dt, float scale, bool *watch)
{
  begin_step(world, dt, scale);
  step_context s = make_step_context(world, dt);
  s.watch = watch;
  s.tasks = watch ? NULL : s.tasks; // one job per colour does not pay
  s.task.ops = world->ops;
  contacts_pack(world, &s.data, dt, scale);
  for (int32_t i = 0; i < world->mechanisms.count; ++i) {
    mechanism_begin_step(world, &world->mechanisms.list[i]);
  }
  batches_begin_step(world);
  if (world->method == TN_METHOD_JACOBI) {
    count_constraints(world);
  }
  profile_end_stage(world, &world->profile.prepare);
  group_task task = {.shared_context = &s, .dt = dt, .scale = scale};
  step_context shared = s;
  shared.restitution_contacts = world->contact_graph.restitution_contact_count;
  bind_solver_data(&shared);
  run_substeps(&shared);
  if (groups_count(world) > 0) {
    task_run(world->tasks, run_groups, world->groups.arena_count, GROUP_GRAIN, &task);
  }
  profile_end_stage(world, &world->profile.solve);
}

// Contacts and blocks of the restored step, without the frozen bodies.
static bool prepare_again(tn_world *world, float dt, float scale)
{
  // No groups in this step (prepare() counts the delay down before it tests it): they unpack their
  // results before the step is known to be finite.
  world->groups.search_delay = 2;
  do {
    if (!awake_list_update(world) || !narrow_phase_update(world, dt)) {
      return false;
    }
  } while (world->awake_list_stale);
  return prepare(world, dt, scale);
}

// Solves the step again, without the bodies that become non-finite first, until all values are
// finite. Bodies that were frozen in the last step as well are frozen without a watched run; after
// WATCHED_RUNS rounds everything non-finite is.
static bool recover(tn_world *world, float dt, float scale)
{
  for (int round = 0; !world_is_finite(world); ++round) {
    bool found = (round == 0 || round >= WATCHED_RUNS) && lost_find(world, round == 0);
    world->troubled = true;
    start_restore(world);
    if (!found) {
      if (!prepare_again(world, dt, scale)) {
        return false;
      }
      solve(world, dt, scale, &found);
      start_restore(world);
    }
    lost_freeze(world);
    if (!prepare_again(world, dt, scale)) {
      return false;
    }
    solve(world, dt, scale, NULL);
  }
  return true;
}

uint32_t tn_world_step(tn_world *world, float dt)
{
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
  task_begin(world->tasks);
  float scale = impulse_scale(world, dt);
  world->troubled = false;
  // In this order: detection wakes bodies, whose joints the joint graph must then contain.
  bool ok = detect_contacts(world, dt) && prepare(world, dt, scale);
  if (ok) {
    solve(world, dt, scale, NULL);
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
  return status;
}
