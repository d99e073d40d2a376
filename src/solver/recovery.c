// Recovery from non-finite states.
//
// One overflow spreads through contacts and joints to everything connected within a substep, and
// stays in the stored impulses. So a step saves its initial state; positions are written only after
// the substeps. If a state is not finite then, the step is restored and solved in a watched run,
// which checks the state after every colour of every pass. Constraints of a colour share no body:
// what is found first is the cause, not what it spread to. It is frozen, as a static body or a
// sleeping soft body, and the step is solved without it. No result depends on a non-finite number,
// so it is the same for all lane widths and numbers of threads.
#include "solver/recovery.h"

#include "data/wake.h"
#include "detect/detect.h"
#include "detect/soft_contacts.h"
#include "solver/joint/coupling_step.h"
#include "solver/joint/joint_layout.h"
#include "solver/prepare.h"
#include "solver/soft/soft_steps.h"
#include "solver/soft_step.h"
#include "solver/step.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define CHECK_GRAIN 128 // bodies

// ---------------------------------------------------------------------------------------------
// The initial state of a step

// Saves (or, with `back`, restores) the rotations of clusters and the warm starts of their parts,
// which the substeps change in place.
static void copy_clusters(const tn_world *world, bool back)
{
  float *at = world->solver->soft_starts;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    soft *s = &world->softs[i];
    for (int32_t k = 0; s->alive && k < s->cluster_count; ++k, at += 4) {
      memcpy(back ? s->clusters[k].q : at, back ? at : s->clusters[k].q, 4 * sizeof *at);
    }
    for (int32_t k = 0; s->alive && k < s->part_count; ++k, at += 3) {
      float *gain = s->cluster_parts[k].total_dv;
      memcpy(back ? gain : at, back ? at : gain, 3 * sizeof *at);
    }
    if (s->alive) {
      memcpy(back ? s->unfold.cluster.q : at, back ? at : s->unfold.cluster.q, 4 * sizeof *at);
      at += 4;
    }
  }
}

// Floats that copy_clusters needs.
static int32_t cluster_floats(const tn_world *world)
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *s = &world->softs[i];
    count += s->alive ? 4 * s->cluster_count + 3 * s->part_count + 4 : 0;
  }
  return count;
}

bool start_reserve(tn_world *world)
{
  return heap_reserve(&world->heap, (void **)&world->solver->starts, &world->solver->start_capacity,
                      world->body_pool.used, sizeof(body_start)) &&
         heap_reserve(&world->heap, (void **)&world->solver->soft_starts,
                      &world->solver->soft_start_capacity, cluster_floats(world), sizeof(float)) &&
         (groups_count(&world->solver->groups) == 0 ||
          heap_reserve(&world->heap, (void **)&world->solver->contact_starts,
                       &world->solver->contact_start_capacity, world->contact_pool.used,
                       sizeof(contact_start_state)));
}

void start_release(tn_world *world)
{
  heap_free(&world->heap, world->solver->starts,
            (size_t)world->solver->start_capacity * sizeof(body_start));
  heap_free(&world->heap, world->solver->soft_starts,
            (size_t)world->solver->soft_start_capacity * sizeof(float));
  heap_free(&world->heap, world->solver->contact_starts,
            (size_t)world->solver->contact_start_capacity * sizeof(contact_start_state));
}

void start_keep_body(tn_world *world, int32_t slot)
{
  const body_state *state = &world->state[slot];
  body_start *start = &world->solver->starts[slot];
  memcpy(start->v, state->v, sizeof start->v);
  memcpy(start->w, state->w, sizeof start->w);
  get_lane(world->body_blocks[slot / BLOCK_WIDTH].spin, slot % BLOCK_WIDTH, start->spin,
           START_SPIN);
}

// Joints keep their impulses in blocks: unpacked here, they are packed again by start_restore().
void start_keep(tn_world *world)
{
  for (int32_t i = 0; i < world->solver->joint_graph.block_count * BLOCK_WIDTH; ++i) {
    int32_t slot = world->solver->joint_graph.blocks[i / BLOCK_WIDTH].joint[i % BLOCK_WIDTH];
    if (slot != NO_SLOT) {
      joint_unpack(world, &world->joints[slot]);
    }
  }
  if (world->soft_pool.count > 0) {
    copy_clusters(world, false);
  }
}

// Groups unpack their contacts before it is known whether the rest of the step is finite.
void start_keep_group_contacts(const tn_world *world, const solver_group *group)
{
  for (int32_t i = group->contacts.first; i < group->contacts.last; ++i) {
    int32_t slot = world->solver->groups.sorted[i].contact;
    const contact *c = &world->contacts[slot];
    contact_start_state *start = &world->solver->contact_starts[slot];
    start->state = c->state;
    start->hit_speed = c->hit_speed;
    start->idle = c->idle;
    start->was_loaded = c->was_loaded;
    start->settled = c->settled;
    for (int k = 0; k < MAX_MANIFOLD_POINTS; ++k) {
      start->gap[k] = c->manifold.points[k].gap;
    }
  }
}

static void restore_parts(tn_world *world)
{
  for (int32_t i = 0; i < groups_count(&world->solver->groups); ++i) {
    const solver_group *group = &world->solver->groups.list[i];
    for (int32_t k = group->contacts.first; k < group->contacts.last; ++k) {
      contact *c = &world->contacts[world->solver->groups.sorted[k].contact];
      const contact_start_state *start =
          &world->solver->contact_starts[world->solver->groups.sorted[k].contact];
      c->state = start->state;
      c->hit_speed = start->hit_speed;
      c->idle = start->idle;
      c->was_loaded = start->was_loaded;
      c->settled = start->settled;
      for (int n = 0; n < MAX_MANIFOLD_POINTS; ++n) {
        c->manifold.points[n].gap = start->gap[n];
      }
    }
  }
}

static void restore_body(tn_world *world, int32_t slot)
{
  body_state *state = &world->state[slot];
  const body_start *start = &world->solver->starts[slot];
  memcpy(state->v, start->v, sizeof state->v);
  memcpy(state->w, start->w, sizeof state->w);
  memset(state->pose, 0, sizeof state->pose);
  state->dq[3] = state->constraint_count = 1.0f;
  memset(&world->corrections[slot], 0, sizeof world->corrections[slot]);
  set_lane(world->body_blocks[slot / BLOCK_WIDTH].spin, slot % BLOCK_WIDTH, start->spin,
           START_SPIN);
}

// Static and sleeping bodies do not move, but an infinite impulse times their inverse mass of 0 is
// NaN, which would stay with the ground for ever.
static void restore_still_bodies(tn_world *world)
{
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    if (world->bodies[i].alive && !moves(&world->bodies[i])) {
      memset(&world->corrections[i], 0, sizeof world->corrections[i]);
      world->state[i].constraint_count = 1.0f;
      body_sync_solver(world, i);
    }
  }
}

void start_restore(tn_world *world)
{
  for (int32_t i = 0; i < world->awake_count; ++i) {
    restore_body(world, world->awake[i]);
  }
  restore_still_bodies(world);
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    if (world->joints[i].alive && world->joints[i].block != NO_SLOT) {
      joint_pack(world, i);
    }
  }
  restore_parts(world);
  if (world->soft_pool.count > 0) {
    copy_clusters(world, true);
    // Soft rows are packed again from the soft bodies, which hold the state of the last step.
    world->soft_layout_stale = true;
  }
}

// ---------------------------------------------------------------------------------------------
// Tests

// Bound of squared velocities, (m/s)^2 or (rad/s)^2: about the largest velocity that the API
// accepts, far below where squares overflow.
#define LARGEST_SQUARE (3.0f * TN_MAX_RATE * TN_MAX_RATE)

static float square_of(const float *v)
{
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

// Comparisons with NaN are false, and 0 x is 0 only for finite x. One component of the normalised
// dq suffices: if one is NaN all are. A non-finite dx is found by body_end_step(), as a position
// out of range.
static bool is_body_finite(const tn_world *world, int32_t slot)
{
  const body_state *state = &world->state[slot];
  float momentum[3];
  get_lane(world->body_blocks[slot / BLOCK_WIDTH].spin, slot % BLOCK_WIDTH, momentum, 3);
  return square_of(state->v) + square_of(state->w) + state->dq[3] <= LARGEST_SQUARE &&
         0.0f * (momentum[0] + momentum[1] + momentum[2]) == 0.0f;
}

static bool is_soft_finite(const tn_world *world, const soft *s)
{
  const particle_state *p = world->solver->soft_graph.data.particles + s->first;
  bool finite = true;
  for (int32_t i = 0; s->alive && s->first > 0 && i < s->particle_count; ++i) {
    finite = finite && square_of(p[i].v) + square_of(p[i].dx) <= LARGEST_SQUARE;
  }
  return finite;
}

typedef struct check_task {
  const tn_world *world;
  atomic_bool non_finite;
} check_task;

static void check_bodies(int first, int last, void *context)
{
  check_task *task = context;
  for (int i = first; i < last; ++i) {
    if (!is_body_finite(task->world, task->world->awake[i])) {
      atomic_store_explicit(&task->non_finite, true, memory_order_relaxed);
    }
  }
}

bool world_is_finite(const tn_world *world)
{
  check_task task = {.world = world};
  task_run(world->tasks, check_bodies, world->awake_count, CHECK_GRAIN, &task);
  soft_system system = soft_system_of((tn_world *)world);
  return !task.non_finite &&
         (world->soft_pool.count == 0 || soft_states_are_within(&system, LARGEST_SQUARE));
}

bool lost_find(tn_world *world, bool known)
{
  bool any = false;
  for (int32_t i = 0; i < world->awake_count; ++i) {
    body *b = &world->bodies[world->awake[i]];
    if ((!known || b->lost & LOST_BEFORE) && !is_body_finite(world, world->awake[i])) {
      b->lost |= LOST_NOW;
      any = true;
    }
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    soft *s = &world->softs[i];
    if ((!known || s->lost & LOST_BEFORE) && !is_soft_finite(world, s)) {
      s->lost |= LOST_NOW;
      any = true;
    }
  }
  return any;
}

// ---------------------------------------------------------------------------------------------
// Freezing

// Clears all stored impulses on a body, which may have caused the overflow.
void lost_forget_body(tn_world *world, int32_t slot)
{
  const body *b = &world->bodies[slot];
  for (int32_t link = b->first_joint; link != NO_SLOT;
       link = world->joints[link / 2].next[link % 2]) {
    joint_clear_impulses(&world->joints[link / 2]);
    if (world->joints[link / 2].block != NO_SLOT) {
      joint_pack(world, link / 2);
    }
  }
  for (int32_t i = 0; i < world->coupling_pool.used && b->coupling_count > 0; ++i) {
    coupling *k = &world->couplings[i];
    for (int32_t side = 0; side < k->side_count && k->alive; ++side) {
      if (k->side_body[side] == slot) {
        coupling_clear_impulses(k);
      }
    }
  }
  for (int32_t i = b->first_shape; i != NO_SLOT; i = world->shapes[i].next) {
    for (int32_t link = world->shapes[i].first_pair; link != NO_SLOT;
         link = world->pairs[link / 2].next[link % 2]) {
      for (int32_t c = world->pairs[link / 2].first_contact; c != NO_SLOT;
           c = world->contacts[c].next) {
        contact_clear_impulses(&world->contacts[c]);
      }
    }
  }
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    if (world->attachments[i].alive && world->attachments[i].body == slot) {
      world->attachments[i].lambda = tn_v3(0.0f, 0.0f, 0.0f);
    }
  }
}

void lost_forget_soft(tn_world *world, int32_t slot)
{
  soft_forget_rows(&world->softs[slot]);
  soft_graph_invalidate(&world->solver->soft_graph, &world->soft_layout_stale);
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    if (world->attachments[i].alive && world->attachments[i].soft == slot) {
      world->attachments[i].lambda = tn_v3(0.0f, 0.0f, 0.0f);
    }
  }
}

static void freeze_body(tn_world *world, int32_t slot)
{
  body *b = &world->bodies[slot];
  if (!(b->lost & LOST_BEFORE)) {
    lost_forget_body(world, slot);
  }
  b->frozen_type = (uint8_t)b->type;
  b->type = TN_BODY_STATIC;
  b->has_target = false;
  b->force = b->torque = tn_v3(0.0f, 0.0f, 0.0f);
  body_sync_solver(world, slot);
  world->joint_layout_stale = true;
  awake_list_note(world, slot);
}

static void freeze_soft(tn_world *world, int32_t slot)
{
  soft *s = &world->softs[slot];
  if (!(s->lost & LOST_BEFORE)) {
    lost_forget_soft(world, slot);
  }
  for (int32_t i = 0; i < s->particle_count; ++i) {
    s->particles[i].v = s->particles[i].force = tn_v3(0.0f, 0.0f, 0.0f);
  }
  s->asleep = true;
  soft_contacts_discard(world, slot);
  world->soft_layout_stale = true;
}

void lost_freeze(tn_world *world)
{
  for (int32_t i = 0; i < world->awake_count; ++i) {
    body *b = &world->bodies[world->awake[i]];
    if (b->lost & LOST_NOW) {
      freeze_body(world, world->awake[i]);
    }
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    soft *s = &world->softs[i];
    if (s->alive && !s->asleep && s->lost & LOST_NOW) {
      freeze_soft(world, i);
    }
  }
}

void lost_report_body(tn_world *world, int32_t slot, const char *what)
{
  body *b = &world->bodies[slot];
  if (!(b->lost & LOST_BEFORE)) {
    report(&world->log, TN_LOG_ERROR, "tn_world_step: body %d (%s) %s; it was stopped", (int)slot,
           b->name[0] ? b->name : "unnamed", what);
  }
  b->lost = LOST_BEFORE;
}

void lost_report_soft(tn_world *world, int32_t slot, const char *what)
{
  soft *s = &world->softs[slot];
  if (!(s->lost & LOST_BEFORE)) {
    report(&world->log, TN_LOG_ERROR, "tn_world_step: soft body %d %s; it was stopped", (int)slot,
           what);
  }
  s->lost = LOST_BEFORE;
}

bool lost_thaw(tn_world *world)
{
  bool any = false;
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    body *b = &world->bodies[i];
    if (b->lost & LOST_NOW) {
      b->type = (tn_body_type)b->frozen_type;
      body_sync_solver(world, i);
      lost_forget_body(world, i); // impulses between two masses of infinity are NaN
      world->joint_layout_stale = true;
      awake_list_note(world, i);
      lost_report_body(world, i, "went non-finite");
      any = true;
    }
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    soft *s = &world->softs[i];
    if (s->lost & LOST_NOW) {
      s->asleep = false;
      world->soft_layout_stale = true;
      lost_report_soft(world, i, "went non-finite");
      any = true;
    }
  }
  return any;
}

// ---------------------------------------------------------------------------------------------
// Solving again

// Watched runs that look for the cause of non-finite values, before everything non-finite is
// frozen.
#define WATCHED_RUNS 8

// Contacts and blocks of the restored step, without the frozen bodies.
static bool prepare_again(tn_world *world, float dt, float scale)
{
  // No groups in this step (prepare() counts the delay down before it tests it): they unpack their
  // results before the step is known to be finite.
  world->solver->groups.search_delay = 2;
  return narrow_phase_repeat(world, dt) && prepare(world, dt, scale);
}

// Solves the step again, without the bodies that become non-finite first, until all values are
// finite. Bodies that were frozen in the last step as well are frozen without a watched run; after
// WATCHED_RUNS rounds everything non-finite is.
bool recover(tn_world *world, float dt, float scale)
{
  for (int round = 0; !world_is_finite(world); ++round) {
    bool found = (round == 0 || round >= WATCHED_RUNS) && lost_find(world, round == 0);
    world->solver->troubled = true;
    start_restore(world);
    if (!found) {
      if (!prepare_again(world, dt, scale)) {
        return false;
      }
      solve_step(world, dt, scale, &found);
      start_restore(world);
    }
    lost_freeze(world);
    if (!prepare_again(world, dt, scale)) {
      return false;
    }
    solve_step(world, dt, scale, NULL);
  }
  return true;
}
