// One step: Algorithm 2 of Mueller et al., and the default method's form of it.
#include "world.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// Rigid joints in the default method remove the whole of an error in a substep, and begin with the
// share KEEP of their last impulse. A violated joint changes velocities by no more than PUSH or
// TURN times h a substep: what it takes to bear a load grows with h in the same way.
static const float KEEP = 0.2f;
static const float PUSH = 8400.0f; // m/s^2
static const float TURN = 6000.0f; // rad/s^2
// Rods and solids of soft bodies, and what ties them to rigid ones, begin with this share of their
// last impulse.
static const float SOFT_KEEP = 0.5f;

// ---------------------------------------------------------------------------------------------
// Passes over everything, on all threads

#define BODY_GRAIN 32      // blocks of eight
#define CONSTRAINT_GRAIN 4 // blocks of joints, contacts, and what ties soft bodies
#define AWAKE_GRAIN 128    // bodies
#define MECHANISM_GRAIN 1
#define GUESS_GRAIN 64
#define PART_GRAIN 1
// Blocks of soft rows: edges are cheap.
static const int SOFT_GRAIN[SOFT_TYPE_COUNT] = {32, 32, 16, 16, 8, 8, 8, 8};

// Watched runs of a step that is not finite, before all that is not finite is taken out of it.
#define WATCHED_RUNS 8

typedef void pass_fn(solver_data *data, int first, int last);

typedef struct pass_task {
  solver_data *data;
  const solver_ops *ops;
  pass_fn *pass;
  int offset;
  kick_part part;
  int move;
} pass_task;

static void kick_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->kick(t->data, first, last, t->part);
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

// With contacts a mechanism is solved once more after them, and stopped at the new pose; what
// nothing carries as the step begins need only stop when it ends.
static bool takes_part(const mechanism *m, direct_pass pass)
{
  return pass == DIRECT_FIRST || (pass == DIRECT_AHEAD ? !m->leaning : m->meets);
}

static bool is_doubted(const mechanism *m, direct_pass pass)
{
  (void)pass;
  return m->doubted;
}

static void mechanism_task(int first, int last, void *context)
{
  for (int i = first; i < last; ++i) {
    mechanisms_solve(context, i, takes_part);
  }
}

static void doubted_task(int first, int last, void *context)
{
  for (int i = first; i < last; ++i) {
    mechanisms_solve(context, i, is_doubted);
  }
}

static void settle_task(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    mechanism_settle(c, &c->set->list[i]);
  }
}

static void constraint_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->pass(t->data, t->offset + first, t->offset + last);
}

// What a substep needs.
typedef struct stepper {
  tn_world *world;
  solver_data data;
  pass_task task;
  direct_context direct;
  task_pool *tasks; // or NULL: on this thread
  int32_t blocks;   // of bodies
  const coloring *contacts;
  int32_t mechanisms;
  int32_t bouncers;
  bool has_joints, has_contacts, has_softs;
  bool *watch; // or NULL; set once something is found that is not finite
} stepper;

// After each pass of a step that is solved again to see where it goes wrong.
static void look(const stepper *s)
{
  if (s->watch && !*s->watch) {
    *s->watch = lost_find(s->world, false);
  }
}

static void for_bodies(stepper *s, tn_task_fn *task)
{
  task_run(s->tasks, task, s->blocks, BODY_GRAIN, &s->task);
  look(s);
}

// Gauss-Seidel: colour after colour, all constraints of a colour at once.
static void for_colors(stepper *s, const color_range *colors, int count, color_range serial,
                       int grain, pass_fn *pass)
{
  s->task.pass = pass;
  s->task.offset = 0;
  int stages = s->watch ? 1 : count; // one colour after the other, to look in between
  for (int i = 0; i < count; i += stages) {
    task_run_stages(s->tasks, constraint_task, colors + i, stages, grain, &s->task);
    look(s);
  }
  pass(&s->data, serial.first, serial.last);
  look(s);
}

static void for_coloring(stepper *s, const coloring *c, pass_fn *pass)
{
  for_colors(s, c->color, c->count, c->serial, CONSTRAINT_GRAIN, pass);
}

static void for_joints(stepper *s, pass_fn *pass)
{
  if (s->has_joints) {
    for_coloring(s, &s->world->graph.coloring, pass);
  }
}

static void for_contacts(stepper *s, pass_fn *pass)
{
  for_coloring(s, s->contacts, pass);
}

// Mechanisms share no moving body, so all of them at once.
static void for_mechanisms(stepper *s, direct_pass pass, tn_task_fn *task)
{
  s->direct.pass = pass;
  int32_t count = s->mechanisms > 0 ? s->direct.set->work_count : 0;
  task_run(s->tasks, task, count, MECHANISM_GRAIN, &s->direct);
  look(s);
}

// No contact may begin with more than takes energy.
static void test_guesses(stepper *s)
{
  int32_t count = s->mechanisms > 0 ? s->world->mechanisms.guess_count : 0;
  task_run(s->tasks, guesses_weigh, count, GUESS_GRAIN, &s->direct);
  if (count > 0 && guesses_take_back(&s->direct)) {
    for_mechanisms(s, DIRECT_AGAIN, doubted_task);
    guesses_give(&s->direct);
    for_mechanisms(s, DIRECT_AGAIN, doubted_task);
  }
}

// Particles of all soft bodies, in blocks of eight; the first is none.
static void for_particles(stepper *s, pass_fn *pass)
{
  s->task.pass = pass;
  s->task.offset = 1;
  int blocks = s->world->soft_graph.place_count / BLOCK_WIDTH - 1;
  task_run(s->tasks, constraint_task, blocks, BODY_GRAIN, &s->task);
  look(s);
}

static void kick_bodies(stepper *s, kick_part part)
{
  s->task.part = part;
  for_bodies(s, kick_task);
  if (s->has_softs) {
    s->data.soft->part = part;
    for_particles(s, s->world->soft_ops->particles->kick);
  }
}

static void drift_bodies(stepper *s)
{
  for_bodies(s, drift_task);
  s->direct.pose += 1;
  if (s->has_softs) {
    for_particles(s, s->world->soft_ops->particles->drift);
  }
}

// What holds soft bodies together, type after type.
static void for_soft_rows(stepper *s, soft_stage stage)
{
  tn_world *world = s->world;
  soft_graph *g = &world->soft_graph;
  g->data.stage = stage;
  if (stage == SOFT_SOLVE || stage == SOFT_RELAX) {
    soft_solve_chains(world, s->data.substep.h, stage == SOFT_RELAX);
  } else if (stage == SOFT_POSITION) {
    soft_move_chains(world, s->data.substep.h);
  }
  look(s);
  for (int type = 0; type < (stage == SOFT_RELAX ? SOFT_TETHER + 1 : SOFT_TYPE_COUNT); ++type) {
    g->data.type = (soft_type)type;
    for_colors(s, g->color[type], g->color_count[type], g->serial[type], SOFT_GRAIN[type],
               world->soft_ops->rows);
  }
  if (stage != SOFT_RELAX) {
    soft_solve_clusters(world, s->data.substep.h, stage);
    look(s);
  }
  if (stage != SOFT_WARM) {
    soft_solve_surfaces(world, s->data.substep.h, stage);
    look(s);
  }
  if (stage == SOFT_POSITION && g->data.change) {
    for_particles(s, world->soft_ops->particles->average);
  }
}

// What ties them to rigid bodies, and what they touch.
static void for_holds(stepper *s, soft_stage stage)
{
  const soft_links *l = &s->world->hold_links;
  s->data.soft->stage = stage;
  for_colors(s, l->color, l->color_count, l->serial, CONSTRAINT_GRAIN,
             s->world->soft_ops->links->holds);
}

// The other way round. Swept to and fro, attachments are a symmetric operation on what they hold;
// one way only, many of them on a light body may feed on each other from substep to substep, and
// shake it apart.
static void for_holds_back(stepper *s, soft_stage stage)
{
  const soft_links *l = &s->world->hold_links;
  pass_fn *pass = s->world->soft_ops->links->holds;
  s->data.soft->stage = stage;
  for (int32_t i = l->serial.last; i > l->serial.first; --i) {
    pass(&s->data, i - 1, i);
  }
  color_range none = {0, 0};
  for (int i = l->color_count - 1; i >= 0; --i) {
    for_colors(s, &l->color[i], 1, none, CONSTRAINT_GRAIN, pass);
  }
}

static void for_touches(stepper *s, soft_stage stage)
{
  const soft_links *l = &s->world->touch_links;
  s->data.soft->stage = stage;
  for_colors(s, l->color, l->color_count, l->serial, CONSTRAINT_GRAIN,
             s->world->soft_ops->links->touches);
}

// ---------------------------------------------------------------------------------------------
// TN_METHOD_TENON: XPBD in impulse form
//
// Rows are stated at the start of a substep and solved for velocities such that the drift ends on
// the constraint: C + h J v = 0, with the impulses of the last substep as first guess. What that
// adds to the velocities of bodies in contact is taken out again at the new pose.
// Forces act half before and half after the drift, and at the end of a step the joints follow:
// what is read there, velocities and energies, belongs to one moment.

static void solve_joints(stepper *s)
{
  for (int k = 0; k < s->world->iterations; ++k) {
    for_joints(s, s->world->ops->joint_solve);
  }
}

static void solve_softs(stepper *s)
{
  for (int k = 0; k < s->world->iterations; ++k) {
    for_soft_rows(s, SOFT_SOLVE);
    for_holds_back(s, SOFT_SOLVE);
    for_touches(s, SOFT_SOLVE);
  }
}

static void bounce_bodies(stepper *s)
{
  const contact_graph *g = &s->world->contact_graph;
  if (s->bouncers > 0 && bounce(&s->data, g->bouncers, s->bouncers, tn_length(s->world->gravity))) {
    look(s);
    for_contacts(s, s->world->contact_ops->refresh);
    s->direct.pose += 1;
  }
}

static void substep_tenon(stepper *s, int i)
{
  const contact_ops *contacts = s->world->contact_ops;
  kick_bodies(s, i == 0 ? KICK_FIRST : KICK_WHOLE);
  if (s->has_contacts) {
    bounce_bodies(s);
    if (!s->data.substep.carried) {
      for_contacts(s, contacts->warm);
    }
    // Impacts come between the guess and what it is for.
    s->data.substep.carried =
        i + 1 < s->world->substeps && s->world->contact_graph.bouncer_count == 0;
  }
  if (s->has_softs) {
    for_soft_rows(s, SOFT_WARM);
    for_holds(s, SOFT_WARM);
    for_touches(s, SOFT_WARM);
    // What holds and bears them answers what they begin with, or it would be there once more.
    for_holds(s, SOFT_SOLVE);
    for_touches(s, SOFT_SOLVE);
  }
  s->direct.begins = i == 0;
  for_mechanisms(s, DIRECT_FIRST, mechanism_task);
  test_guesses(s);
  for_joints(s, s->world->ops->joint_begin);
  solve_joints(s);
  if (s->has_softs) {
    solve_softs(s);
  }
  if (s->has_contacts) {
    int passes = s->world->contact_graph.passes;
    for (int k = 0; k < passes || k < s->world->iterations; ++k) {
      for_contacts(s, contacts->solve);
    }
    solve_joints(s);
  }
  bool touched = s->has_contacts || s->has_softs;
  if (touched) {
    for_mechanisms(s, DIRECT_AGAIN, mechanism_task);
  }
  drift_bodies(s);
  task_run(s->tasks, settle_task, s->mechanisms, MECHANISM_GRAIN, &s->direct);
  look(s);
  if (s->has_contacts) {
    for_contacts(s, contacts->relax);
  }
  if (s->has_softs) {
    for_soft_rows(s, SOFT_RELAX);
    for_holds(s, SOFT_RELAX);
    for_touches(s, SOFT_RELAX);
  }
  if (touched) {
    for_mechanisms(s, DIRECT_RELAX, mechanism_task);
  }
}

static void finish_tenon(stepper *s)
{
  const solver_ops *ops = s->world->ops;
  kick_bodies(s, KICK_LAST);
  s->data.substep.ahead = true;
  for_mechanisms(s, DIRECT_AHEAD, mechanism_task);
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
  if (s->has_contacts) {
    for_contacts(s, s->world->contact_ops->positions);
  }
  if (s->data.substep.averaged) {
    s->task.move = stage != STAGE_VELOCITIES;
    for_bodies(s, average_task);
  }
}

static void substep_positions(stepper *s)
{
  if (s->has_contacts) {
    for_contacts(s, s->world->contact_ops->approach);
  }
  kick_bodies(s, KICK_WHOLE);
  drift_bodies(s);
  solve_stage_of(s, STAGE_BEGIN);
  if (s->has_softs) {
    for_soft_rows(s, SOFT_WARM);
    for_holds(s, SOFT_WARM);
    for_touches(s, SOFT_WARM);
  }
  for (int k = 0; k < s->world->iterations; ++k) {
    solve_stage_of(s, STAGE_POSITIONS);
    if (s->has_softs) {
      for_soft_rows(s, SOFT_POSITION);
      for_holds(s, SOFT_POSITION);
      for_holds_back(s, SOFT_POSITION);
      for_touches(s, SOFT_POSITION);
    }
  }
  solve_stage_of(s, STAGE_VELOCITIES);
}

// ---------------------------------------------------------------------------------------------
// Before and after

// Bodies that something soft touches or holds.
static bool soft_lean(tn_world *world)
{
  bool any = false;
  for (int32_t i = 0; i < world->touch_count; ++i) {
    const soft_contact *t = &world->touches[i];
    if (t->body != NO_SLOT && world->softs[t->soft].supported) {
      world->bodies[t->body].leaning = world->bodies[t->body].type == TN_BODY_DYNAMIC;
      any = true;
    }
  }
  for (int32_t i = 0; i < world->attachment_list.used; ++i) {
    const attachment *a = &world->attachments[i];
    if (attachment_holds(world, a)) {
      world->bodies[a->body].leaning = world->bodies[a->body].type == TN_BODY_DYNAMIC;
      any = true;
    }
  }
  return any;
}

// Bodies that contacts carry, and all that hang on them by joints.
static void find_leaning(tn_world *world)
{
  bool any = false;
  for (int32_t i = 0; i < world->awake_count; ++i) {
    body *b = &world->bodies[world->awake[i]];
    bool leaning = world->marks[world->awake[i]].leaning;
    // A line that another thread has is only taken from it if need be.
    if (b->leaning != leaning) {
      b->leaning = leaning;
    }
    any = any || leaning;
  }
  any = soft_lean(world) || any;
  // Up and down the list, so that chains in either order take few rounds.
  for (int32_t round = 0; any; ++round) {
    any = false;
    int32_t count = world->joint_list.used;
    for (int32_t i = 0; i < count; ++i) {
      const joint *j = &world->joints[round % 2 ? count - 1 - i : i];
      body *a = &world->bodies[j->slot[0]], *b = &world->bodies[j->slot[1]];
      if (j->alive && j->def.enabled && a->leaning != b->leaning && a->type == TN_BODY_DYNAMIC &&
          b->type == TN_BODY_DYNAMIC) {
        a->leaning = b->leaning = true;
        any = true;
      }
    }
  }
}

// How many constraints hold each body, for averaging.
static void count_shares(tn_world *world)
{
  for (int32_t i = 0; i < world->awake_count; ++i) {
    world->state[world->awake[i]].share = 0.0f;
  }
  for (int32_t i = 0; i < world->joint_list.used; ++i) {
    const joint *j = &world->joints[i];
    for (int side = 0; side < 2 && j->alive && j->block != NO_SLOT; ++side) {
      world->state[j->slot[side]].share += 1.0f;
    }
  }
  for (int32_t i = 0; i < world->contact_graph.block_count; ++i) {
    const contact_block *cb = &world->contact_graph.blocks[i];
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      world->state[cb->a[lane]].share += 1.0f;
      world->state[cb->b[lane]].share += 1.0f;
    }
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    body_state *state = &world->state[world->awake[i]];
    state->share = state->share < 1.0f ? 1.0f : state->share;
  }
}

// Keeps the events from `told` on.
static void drop_told(void *events, int32_t *count, int32_t told, size_t size)
{
  *count -= told;
  if (*count > 0 && told > 0) {
    memmove(events, (char *)events + (size_t)told * size, (size_t)*count * size);
  }
}

// Events that came about since the last step are told with those of this one.
static void begin_events(tn_world *world)
{
  drop_told(world->contact_events, &world->contact_event_count, world->told_event_count,
            sizeof *world->contact_events);
  drop_told(world->sleep_events, &world->sleep_event_count, world->told_sleep_count,
            sizeof *world->sleep_events);
  drop_told(world->soft_events, &world->soft_event_count, world->told_soft_count,
            sizeof *world->soft_events);
  world->told_event_count = world->told_sleep_count = world->told_soft_count = 0;
  world->break_count = 0;
}

static void start_clock(tn_world *world)
{
  world->profile = (tn_profile){0};
  world->lap = world->clock ? world->clock() : 0.0;
}

// Ends a part of the step.
static void take_time(tn_world *world, double *part)
{
  if (world->clock) {
    double now = world->clock();
    *part = now - world->lap;
    world->lap = now;
  }
}

// Who is near whom, and how they touch. What wakes up looks around as well.
static bool find_contacts(tn_world *world, float dt)
{
  if (!awake_update(world) || !pairs_update(world, dt)) {
    return false;
  }
  take_time(world, &world->profile.pairs);
  if (!touches_find(world, dt)) {
    return false;
  }
  do {
    if (!awake_update(world) || !contacts_update(world, dt)) {
      return false;
    }
  } while (world->awake_changed);
  take_time(world, &world->profile.manifolds);
  return true;
}

// Impulses of the last step's substeps, for those of this one.
static float impulse_scale(const tn_world *world, float dt)
{
  return world->last_h > 0.0f ? dt / (float)world->substeps / world->last_h : 1.0f;
}

// Once it is known what bounces. Nothing is known of its matrix.
static void begin_mechanism(tn_world *world, mechanism *m)
{
  m->leaning = m->meets = false;
  m->stated = m->factored = NO_SLOT;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &world->mechanisms.nodes[i];
    if (!node->is_joint) {
      m->leaning = m->leaning || world->bodies[node->index].leaning;
      m->meets = m->meets || m->leaning || world->marks[node->index].meets;
    }
  }
}

static bool pack_softs(tn_world *world, float dt, float scale)
{
  if (world->soft_list.count == 0) {
    return true;
  }
  if (!soft_graph_build(world) || !touches_pack(world) || !attachments_pack(world, scale)) {
    return false;
  }
  soft_pack(world);
  if (!soft_pack_folds(world)) {
    return false;
  }
  soft_ease(world, dt);
  return true;
}

static bool end_softs(tn_world *world, float dt)
{
  touches_unpack(world, dt);
  attachments_unpack(world, dt);
  soft_track(world, dt);
  bool ok = soft_unpack(world);
  meetings_update(world);
  soft_damp(world, dt);
  soft_flow(world, dt);
  soft_tear(world, dt);
  soft_watch_folds(world, dt);
  return soft_stop_wild(world) && ok;
}

typedef struct body_task {
  tn_world *world;
  float dt;
} body_task;

static void begin_bodies(int first, int last, void *context)
{
  const body_task *t = context;
  for (int i = first; i < last; ++i) {
    start_keep_body(t->world, t->world->awake[i]);
    body_begin_step(t->world, t->world->awake[i], t->dt, t->world->substeps);
  }
}

static void end_bodies(int first, int last, void *context)
{
  tn_world *world = ((const body_task *)context)->world;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->awake[i];
    world->marks[slot].strays = !boxes_spend(world, slot);
    world->marks[slot].lost = !body_end_step(world, slot);
  }
}

static void begin_step(tn_world *world, float dt, float scale)
{
  float h = dt / (float)world->substeps;
  world->last_h = h;
  find_leaning(world);
  body_task task = {world, dt};
  task_run(world->tasks, begin_bodies, world->awake_count, AWAKE_GRAIN, &task);
  for (int32_t i = 0; i < world->graph.block_count; ++i) {
    joint_begin_step(world, &world->graph.blocks[i], dt, scale);
  }
  for (int32_t i = 0; i < world->mechanisms.joint_count; ++i) {
    direct_begin_step(world, &world->mechanisms.joints[i], dt, scale);
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
    if (j->alive && (j->block != NO_SLOT || j->direct != NO_SLOT) &&
        (tn_length(j->force) > j->def.break_force || tn_length(j->torque) > j->def.break_torque)) {
      break_joint(world, slot);
    }
  }
}

static bool has_serial(const coloring *c)
{
  return c->serial.last > c->serial.first;
}

static uint32_t end_step(tn_world *world, float dt)
{
  bool serial = has_serial(&world->graph.coloring) || has_serial(&world->contact_graph.coloring);
  uint32_t status = serial ? TN_STEP_SERIAL : 0;
  status |= world->mechanisms.skipped > 0 ? TN_STEP_ITERATIVE : 0;
  status |= world->crowded ? TN_STEP_CROWDED : 0;
  for (int32_t i = 0; i < world->graph.block_count; ++i) {
    joint_end_step(world, &world->graph.blocks[i], dt);
  }
  for (int32_t i = 0; i < world->mechanisms.joint_count; ++i) {
    direct_end_step(world, &world->mechanisms.joints[i], dt);
  }
  contacts_unpack(world, dt);
  body_task task = {world, dt};
  task_run(world->tasks, end_bodies, world->awake_count, AWAKE_GRAIN, &task);
  for (int32_t i = 0; i < world->awake_count; ++i) {
    int32_t slot = world->awake[i];
    if (world->marks[slot].lost) {
      lost_forget_body(world, slot);
      lost_report_body(world, slot, "left the range of positions");
      status |= TN_STEP_NON_FINITE;
    }
    if (world->marks[slot].strays) {
      boxes_follow(world, slot);
    }
  }
  boxes_catch_up(world);
  find_broken(world);
  if (world->soft_list.count > 0 && !end_softs(world, dt)) {
    status |= TN_STEP_NON_FINITE;
  }
  status |= islands_update(world, dt) ? 0 : TN_STEP_OUT_OF_MEMORY;
  status |= world->troubled && lost_thaw(world) ? TN_STEP_NON_FINITE : 0;
  world->told_event_count = world->contact_event_count;
  world->told_sleep_count = world->sleep_event_count;
  world->told_soft_count = world->soft_event_count;
  return status;
}

static stepper make_stepper(tn_world *world, float dt)
{
  stepper s = {0};
  s.world = world;
  s.direct.world = world;
  s.direct.set = &world->mechanisms;
  s.direct.direct = world->direct_ops;
  s.direct.points = world->point_ops;
  s.has_joints = world->graph.block_count > 0;
  s.has_contacts = world->contact_graph.block_count > 0;
  s.has_softs = world->soft_list.count > 0 && world->soft_graph.place_count > BLOCK_WIDTH;
  s.data.soft = &world->soft_graph.data;
  s.data.soft->keep = world->method == TN_METHOD_TENON ? SOFT_KEEP : 0.0f;
  s.data.state = world->state;
  s.data.inertia = world->inertia;
  s.data.bodies = world->body_blocks;
  s.data.change = world->change;
  s.data.joints = world->graph.blocks;
  s.data.contacts = world->contact_graph.blocks;
  s.data.active = parts_count(world) > 0 ? world->parts.active : world->active_blocks;
  s.tasks = world->tasks;
  s.blocks = parts_count(world) > 0 ? world->parts.rest_blocks : world->active_block_count;
  s.contacts = &world->contact_graph.coloring;
  s.mechanisms = world->mechanisms.count;
  s.data.substep.h = dt / (float)world->substeps;
  s.data.substep.keep = KEEP;
  s.data.substep.push = PUSH * s.data.substep.h;
  s.data.substep.turn = TURN * s.data.substep.h;
  s.data.substep.averaged = world->method == TN_METHOD_JACOBI;
  s.data.substep.bounce_speed = 2.0f * tn_length(world->gravity) * s.data.substep.h;
  return s;
}

// Each has its own.
static void take_data(stepper *s)
{
  s->task.data = s->direct.data = &s->data;
}

static void run_substeps(stepper *s)
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
  for_bodies(s, collect_task);
}

typedef struct part_task {
  const stepper *whole;
  float dt, scale;
  atomic_int next; // part
} part_task;

// A part of the step from its contacts' packing to what they have come to.
static void run_part(const part_task *t, const step_part *part, contact_block *room)
{
  stepper s = *t->whole;
  s.tasks = NULL;
  s.data.active += part->blocks.first;
  s.data.contacts = room;
  s.blocks = part->blocks.last - part->blocks.first;
  s.contacts = &part->coloring;
  s.has_joints = s.has_softs = false;
  s.mechanisms = s.bouncers = 0;
  take_data(&s);
  part_pack(s.world, part, &s.data, t->dt, t->scale);
  run_substeps(&s);
  start_keep_part(s.world, part);
  part_unpack(s.world, part, &s.data, t->dt);
}

// As many as there are, one after the other in the same room, which stays in the cache.
static void run_parts(int first, int last, void *context)
{
  (void)last;
  part_task *t = context;
  const step_parts *parts = &t->whole->world->parts;
  contact_block *room = t->whole->data.contacts + t->whole->world->contact_graph.rest_count;
  int i;
  while ((i = atomic_fetch_add(&t->next, 1)) < parts->count) {
    run_part(t, &parts->list[i], room + (ptrdiff_t)first * parts->room);
  }
}

// What is solved, in blocks, as the step begins. False when out of memory.
static bool prepare(tn_world *world, float dt, float scale)
{
  float h = dt / (float)world->substeps;
  if (!graph_build(world) || !contacts_place(world) ||
      (world->contact_graph.young && !loads_guess(world, h / scale)) ||
      !bearings_find(world, h * scale) || !guesses_list(world) || !pack_softs(world, dt, scale) ||
      !start_reserve(world)) {
    return false;
  }
  start_keep(world);
  return true;
}

// All substeps, watched if `watch` is not NULL.
static void solve(tn_world *world, float dt, float scale, bool *watch)
{
  begin_step(world, dt, scale);
  stepper s = make_stepper(world, dt);
  s.watch = watch;
  s.tasks = watch ? NULL : s.tasks; // sharing out every colour would cost more than it gains
  s.task.ops = world->ops;
  contacts_pack(world, &s.data, dt, scale);
  for (int32_t i = 0; i < world->mechanisms.count; ++i) {
    begin_mechanism(world, &world->mechanisms.list[i]);
  }
  teams_begin_step(world);
  if (world->method == TN_METHOD_JACOBI) {
    count_shares(world);
  }
  take_time(world, &world->profile.prepare);
  part_task task = {.whole = &s, .dt = dt, .scale = scale};
  stepper rest = s;
  rest.bouncers = world->contact_graph.bouncer_count;
  take_data(&rest);
  run_substeps(&rest);
  if (parts_count(world) > 0) {
    task_run(world->tasks, run_parts, world->parts.rooms, PART_GRAIN, &task);
  }
  take_time(world, &world->profile.solve);
}

// The same bodies and contacts once more, after what was lost has been taken out.
static bool prepare_again(tn_world *world, float dt, float scale)
{
  world->parts.wait = 2; // no parts: they take over results before the step is known to be finite
  do {
    if (!awake_update(world) || !contacts_update(world, dt)) {
      return false;
    }
  } while (world->awake_changed);
  return prepare(world, dt, scale);
}

// Solves without what makes the step go wrong. What was lost in the last step as well is taken to
// be the cause without a watched run; after some of these, all that is not finite is.
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
    report(world, TN_LOG_ERROR,
           "tn_world_step: dt must be at most 10 s, and a substep at least 1e-9 s");
    return TN_STEP_REJECTED;
  }
  begin_events(world);
  start_clock(world);
  soft_boxes_settle(world);
  task_begin(world->tasks);
  // find_contacts wakes bodies, which brings their joints back to the graph.
  float scale = impulse_scale(world, dt);
  world->troubled = false;
  bool ok = find_contacts(world, dt) && prepare(world, dt, scale);
  if (ok) {
    solve(world, dt, scale, NULL);
    ok = recover(world, dt, scale);
  }
  uint32_t status = TN_STEP_OUT_OF_MEMORY;
  if (ok) {
    status = end_step(world, dt);
  } else {
    report(world, TN_LOG_ERROR, "tn_world_step: out of memory");
    lost_thaw(world);
  }
  task_end(world->tasks);
  take_time(world, &world->profile.finish);
  return status;
}
