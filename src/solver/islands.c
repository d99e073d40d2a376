// Islands and sleep. Bodies and soft bodies connected by contacts, joints or attachments form an
// island, which falls asleep as a whole after each part of it has been at rest for its sleep time.
// A step does no work for sleeping bodies. Static and kinematic bodies connect nothing.
#include "solver/islands.h"

#include "data/events.h"
#include "data/wake.h"
#include "data/world.h"
#include "detect/detection.h"
#include "solver/moves.h"
#include "solver/solver.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define REST_GRAIN 64 // bodies in a task

static bool is_dynamic(const tn_world *world, int32_t slot)
{
  return world->bodies[slot].type == TN_BODY_DYNAMIC;
}

static void put_to_sleep(tn_world *world, int32_t slot)
{
  body *b = &world->bodies[slot];
  body_state *state = &world->state[slot];
  b->asleep = true;
  memset(state->v, 0, sizeof state->v);
  memset(state->w, 0, sizeof state->w);
  body_sync_solver(world, slot);
  awake_list_note(world, slot);
  world->joint_layout_stale = world->joint_layout_stale || has_links(b);
  add_sleep_event(world, slot, true);
}

// ---------------------------------------------------------------------------------------------
// Islands by union-find; the root is the lowest index.

static int32_t island_root(tn_world *world, int32_t slot)
{
  while (world->solver->island_parent[slot] != slot) {
    world->solver->island_parent[slot] =
        world->solver->island_parent[world->solver->island_parent[slot]];
    slot = world->solver->island_parent[slot];
  }
  return slot;
}

static void island_union(tn_world *world, int32_t a, int32_t b)
{
  int32_t x = island_root(world, a), y = island_root(world, b);
  int32_t low = x < y ? x : y;
  world->solver->island_parent[x] = world->solver->island_parent[y] = low;
}

static void unite_pair(tn_world *world, const pair *p)
{
  if (p->first_contact != NO_SLOT && is_dynamic(world, p->body[0]) &&
      is_dynamic(world, p->body[1])) {
    island_union(world, p->body[0], p->body[1]);
  }
}

static void unite_contacts(tn_world *world)
{
  for (int32_t i = 0; i < world->detection->active_pair_count; ++i) {
    unite_pair(world, &world->pairs[world->detection->active_pairs[i]]);
  }
}

// Between steps the list of active pairs is out of date, and empty in a restored world.
static void unite_all_contacts(tn_world *world)
{
  for (int32_t i = 0; i < world->pair_pool.used; ++i) {
    if (world->pairs[i].alive) {
      unite_pair(world, &world->pairs[i]);
    }
  }
}

static bool joint_is_enabled(const joint *j)
{
  return j->alive && j->def.enabled;
}

static void unite_joints(tn_world *world)
{
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    const joint *j = &world->joints[i];
    if (joint_is_enabled(j) && is_dynamic(world, j->slot[0]) && is_dynamic(world, j->slot[1])) {
      island_union(world, j->slot[0], j->slot[1]);
    }
  }
}

static void unite_couplings(tn_world *world)
{
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    const coupling *k = &world->couplings[i];
    int32_t first = NO_SLOT;
    for (int32_t side = 0; side < k->side_count && k->alive && k->def.enabled; ++side) {
      int32_t slot = k->side_body[side];
      if (is_dynamic(world, slot)) {
        first = first == NO_SLOT ? slot : first;
        island_union(world, first, slot);
      }
    }
  }
}

// Index in the union-find arrays: soft bodies come after the bodies.
static int32_t soft_set(const tn_world *world, int32_t soft_slot)
{
  return world->body_pool.used + soft_slot;
}

static void unite_softs(tn_world *world)
{
  for (int32_t i = 0; i < world->soft_contact_count; ++i) {
    const soft_contact *t = &world->soft_contacts[i];
    if (is_soft_soft(t)) {
      island_union(world, soft_set(world, t->soft), soft_set(world, t->other));
    } else if (is_dynamic(world, t->body)) {
      island_union(world, soft_set(world, t->soft), t->body);
    }
  }
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    const attachment *a = &world->attachments[i];
    if (a->alive && !a->broken && is_dynamic(world, a->body)) {
      island_union(world, soft_set(world, a->soft), a->body);
    }
  }
}

static void reset_set(tn_world *world, int32_t i)
{
  world->solver->island_parent[i] = i;
  world->solver->island_rest[i] = INFINITY;
  world->solver->island_ring_tail[i] = NO_SLOT;
}

// Only what the step may unite: awake bodies, those of active pairs, and all that joints,
// couplings, attachments and soft contacts name. Other bodies, of which there may be many, cost
// nothing.
static void reset_active_sets(tn_world *world)
{
  for (int32_t i = 0; i < world->awake_count; ++i) {
    reset_set(world, world->awake[i]);
  }
  for (int32_t i = 0; i < world->detection->active_pair_count; ++i) {
    const pair *p = &world->pairs[world->detection->active_pairs[i]];
    reset_set(world, p->body[0]);
    reset_set(world, p->body[1]);
  }
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    if (world->joints[i].alive) {
      reset_set(world, world->joints[i].slot[0]);
      reset_set(world, world->joints[i].slot[1]);
    }
  }
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    const coupling *k = &world->couplings[i];
    for (int32_t side = 0; side < k->side_count && k->alive; ++side) {
      reset_set(world, k->side_body[side]);
    }
  }
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    if (world->attachments[i].alive) {
      reset_set(world, world->attachments[i].body);
    }
  }
  for (int32_t i = 0; i < world->soft_contact_count; ++i) {
    if (world->soft_contacts[i].body != NO_SLOT) {
      reset_set(world, world->soft_contacts[i].body);
    }
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    reset_set(world, soft_set(world, i));
  }
}

static void reset_all_sets(tn_world *world)
{
  for (int32_t i = 0; i < world->body_pool.used + world->soft_pool.used; ++i) {
    reset_set(world, i);
  }
}

// Between steps the list of active pairs is out of date: `whole` takes all pairs and bodies.
static bool find_islands(tn_world *world, bool whole)
{
  int32_t count = world->body_pool.used + world->soft_pool.used;
  if (!heap_reserve(&world->heap, (void **)&world->solver->island_parent,
                    &world->solver->island_capacity, count, sizeof(int32_t)) ||
      !heap_reserve(&world->heap, (void **)&world->solver->island_rest,
                    &world->solver->island_rest_capacity, count, sizeof(float)) ||
      !heap_reserve(&world->heap, (void **)&world->solver->island_ring_tail,
                    &world->solver->island_ring_tail_capacity, count, sizeof(int32_t))) {
    return false;
  }
  if (whole) {
    reset_all_sets(world);
    unite_all_contacts(world);
  } else {
    reset_active_sets(world);
    unite_contacts(world);
  }
  unite_joints(world);
  unite_couplings(world);
  unite_softs(world);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Rest

// Largest distance of a point from the centre of mass, m; at least a radius of gyration, for bodies
// without shapes.
static float max_extent_of(const tn_world *world, const body *b)
{
  float max_extent = sqrtf((float)b->moments[2] / b->mass.mass);
  for (int32_t i = b->first_shape; i != NO_SLOT; i = world->shapes[i].next) {
    const shape *s = &world->shapes[i];
    tn_vec3 at =
        tn_v3((float)s->local_position.x, (float)s->local_position.y, (float)s->local_position.z);
    max_extent = fmaxf(max_extent, s->bounding_radius + tn_length(at));
  }
  return max_extent;
}

// Speed and time of rest of a body or soft body whose points are at most `extent` from its centre.
typedef struct rest_limit {
  float speed, time; // m/s, s
} rest_limit;

static rest_limit rest_limit_of(const tn_world *world, float extent)
{
  float g = fmaxf(tn_length(world->gravity), TUNING_SLEEP_MIN_GRAVITY);
  rest_limit usual = {TUNING_SLEEP_SPEED * sqrtf(g * extent),
                      fmaxf(TUNING_SLEEP_TIME, TUNING_SLEEP_SWING * sqrtf(extent / g))};
  return (rest_limit){world->sleep_speed > 0.0f ? world->sleep_speed : usual.speed,
                      world->sleep_time > 0.0f ? world->sleep_time : usual.time};
}

static rest_limit body_rest_limit(const tn_world *world, const body *b)
{
  return rest_limit_of(world, max_extent_of(world, b));
}

static rest_limit soft_rest_limit(const tn_world *world, const soft *s)
{
  tn_vec3 size = tn_between_points(s->box.lower, s->box.upper);
  return rest_limit_of(world, 0.5f * tn_length(size));
}

// Whether a joint or a contact may hold the body.
static bool is_held(const tn_world *world, const body *b)
{
  if (has_links(b) || b->supported) {
    return true;
  }
  for (int32_t i = b->first_shape; i != NO_SLOT; i = world->shapes[i].next) {
    for (int32_t link = world->shapes[i].first_pair; link != NO_SLOT;
         link = world->pairs[link / 2].next[link % 2]) {
      if (world->pairs[link / 2].first_contact != NO_SLOT) {
        return true;
      }
    }
  }
  return false;
}

// Whether a joint of the body has a running velocity drive or a moving kinematic body.
static bool has_active_motor(const tn_world *world, const body *b)
{
  for (int32_t link = b->first_joint; link != NO_SLOT;
       link = world->joints[link / 2].next[link % 2]) {
    const joint *j = &world->joints[link / 2];
    for (int i = 0; i < TN_JOINT_AXIS_COUNT && j->axis_features != 0; ++i) {
      const tn_drive *drive = &j->def.axis[i].drive;
      bool moves = drive->stiffness > 0.0f && j->target[i] != drive->target;
      if (moves || (drive->damping > 0.0f && drive->stiffness == 0.0f && drive->velocity != 0.0f)) {
        return true;
      }
    }
    const body_state *other = &world->state[j->slot[1 - link % 2]];
    if (world->bodies[j->slot[1 - link % 2]].type == TN_BODY_KINEMATIC &&
        (other->v[0] != 0.0f || other->v[1] != 0.0f || other->v[2] != 0.0f || other->w[0] != 0.0f ||
         other->w[1] != 0.0f || other->w[2] != 0.0f)) {
      return true;
    }
  }
  return false;
}

// The speed is an upper bound of that of all points: |v| + |w| extent.
static bool is_at_rest(const tn_world *world, int32_t slot)
{
  const body *b = &world->bodies[slot];
  const body_state *state = &world->state[slot];
  float v = tn_length(tn_v3(state->v[0], state->v[1], state->v[2]));
  float w = tn_length(tn_v3(state->w[0], state->w[1], state->w[2]));
  float extent = max_extent_of(world, b), speed = v + w * extent;
  float limit = rest_limit_of(world, extent).speed;
  return b->can_sleep && speed < limit &&
         (speed < TUNING_SLEEP_FREE_SHARE * limit || is_held(world, b)) &&
         !has_active_motor(world, b);
}

// All particles are slow, and pinned ones, which the user moves, do not move at all.
static bool is_soft_at_rest(const tn_world *world, const soft *s)
{
  float limit = (s->supported ? 1.0f : TUNING_SLEEP_FREE_SHARE) * soft_rest_limit(world, s).speed;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    const soft_particle *p = &s->particles[i];
    if (!(tn_length(p->v) <= (p->pinned ? 0.0f : limit))) {
      return false;
    }
  }
  return s->can_sleep;
}

// Bodies of a coupling with a running motor, or beside a moving kinematic body, stay awake.
static void keep_driven_awake(tn_world *world)
{
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    const coupling *k = &world->couplings[i];
    const tn_coupling_drive *drive = &k->def.drive;
    bool active = drive->damping > 0.0f && drive->velocity != 0.0f;
    for (int32_t side = 0; side < k->side_count && k->alive; ++side) {
      const body_state *state = &world->state[k->side_body[side]];
      bool still = tn_length(tn_v3(state->v[0], state->v[1], state->v[2])) == 0.0f &&
                   tn_length(tn_v3(state->w[0], state->w[1], state->w[2])) == 0.0f;
      active = active || (!is_dynamic(world, k->side_body[side]) && !still);
    }
    for (int32_t side = 0; side < k->side_count && k->alive && k->def.enabled && active; ++side) {
      world->bodies[k->side_body[side]].sleep_time = 0.0f;
    }
  }
}

typedef struct rest_task {
  tn_world *world;
  float dt;
  atomic_bool any; // some body has been at rest for long enough
} rest_task;

static void update_rest(int first, int last, void *context)
{
  rest_task *t = context;
  bool any = false;
  for (int i = first; i < last; ++i) {
    body *b = &t->world->bodies[t->world->awake[i]];
    if (b->type == TN_BODY_DYNAMIC) {
      b->sleep_time = is_at_rest(t->world, t->world->awake[i]) ? b->sleep_time + t->dt : 0.0f;
      any = any || (b->sleep_time > 0.0f && b->sleep_time >= body_rest_limit(t->world, b).time);
    }
  }
  if (any) {
    atomic_store_explicit(&t->any, true, memory_order_relaxed);
  }
}

// Returns whether anything has been at rest for long enough.
static bool update_sleep_times(tn_world *world, float dt)
{
  bool any = false;
  keep_driven_awake(world);
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    soft *s = &world->softs[i];
    if (s->alive && !s->asleep) {
      s->sleep_time = is_soft_at_rest(world, s) ? s->sleep_time + dt : 0.0f;
      any = any || s->sleep_time >= soft_rest_limit(world, s).time;
    }
  }
  rest_task task = {.world = world, .dt = dt};
  task_run(world->tasks, update_rest, world->awake_count, REST_GRAIN, &task);
  return any || task.any;
}

static int32_t *next_in_ring(tn_world *world, int32_t place)
{
  return place < NO_SLOT ? &world->softs[sleep_ring_index(place)].sleep_ring_next
                         : &world->bodies[place].sleep_ring_next;
}

// Inserts a member into the ring of its island, after the last one.
static void link_in_ring(tn_world *world, int32_t root, int32_t place)
{
  int32_t last = world->solver->island_ring_tail[root];
  int32_t *next = next_in_ring(world, place);
  *next = place;
  if (last != NO_SLOT) {
    *next = *next_in_ring(world, last);
    *next_in_ring(world, last) = place;
  }
  world->solver->island_ring_tail[root] = place;
}

static void sleep_in_ring(tn_world *world, int32_t slot)
{
  link_in_ring(world, island_root(world, slot), slot);
  put_to_sleep(world, slot);
}

static void soft_sleep_in_ring(tn_world *world, int32_t slot)
{
  soft *s = &world->softs[slot];
  link_in_ring(world, island_root(world, soft_set(world, slot)), sleep_ring_index(slot));
  s->asleep = true;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    s->particles[i].v = tn_v3(0.0f, 0.0f, 0.0f);
  }
  world->soft_layout_stale = true;
}

static bool is_soft_awake(const tn_world *world, int32_t slot)
{
  return world->softs[slot].alive && !world->softs[slot].asleep;
}

static void sleep_island(tn_world *world, int32_t root)
{
  for (int32_t i = 0; i < world->awake_count; ++i) {
    if (is_dynamic(world, world->awake[i]) && island_root(world, world->awake[i]) == root) {
      sleep_in_ring(world, world->awake[i]);
    }
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (is_soft_awake(world, i) && island_root(world, soft_set(world, i)) == root) {
      soft_sleep_in_ring(world, i);
    }
  }
}

static bool sleep_island_of(tn_world *world, int32_t index)
{
  if (!awake_list_update(world) || !find_islands(world, true)) {
    return false;
  }
  sleep_island(world, island_root(world, index));
  return true;
}

bool body_sleep(tn_world *world, int32_t slot)
{
  return sleep_island_of(world, slot);
}

bool soft_sleep(tn_world *world, int32_t slot)
{
  return sleep_island_of(world, soft_set(world, slot));
}

static void note_rest(tn_world *world, int32_t set, float rest)
{
  float *least = &world->solver->island_rest[island_root(world, set)];
  *least = fminf(*least, rest);
}

// Least time by which the parts of each island have been at rest for longer than they must, s.
static void find_island_rest(tn_world *world)
{
  for (int32_t i = 0; i < world->awake_count; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    if (b->type == TN_BODY_DYNAMIC) {
      note_rest(world, world->awake[i], b->sleep_time - body_rest_limit(world, b).time);
    }
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *s = &world->softs[i];
    if (is_soft_awake(world, i)) {
      note_rest(world, soft_set(world, i), s->sleep_time - soft_rest_limit(world, s).time);
    }
  }
}

static bool is_island_at_rest(tn_world *world, int32_t set)
{
  return world->solver->island_rest[island_root(world, set)] >= 0.0f;
}

bool sleep_update(tn_world *world, float dt)
{
  if (!world->sleeping || !update_sleep_times(world, dt)) {
    return true;
  }
  if (!find_islands(world, false)) {
    return false;
  }
  find_island_rest(world);
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (is_soft_awake(world, i) && is_island_at_rest(world, soft_set(world, i))) {
      soft_sleep_in_ring(world, i);
    }
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    int32_t slot = world->awake[i];
    if (is_dynamic(world, slot) && is_island_at_rest(world, slot)) {
      sleep_in_ring(world, slot);
      moves_note_asleep(world, i);
    }
  }
  return true;
}
