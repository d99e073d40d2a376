// The list of pairs to be collided in a step: those that have an active shape and may touch, in the
// order of their slots.
//
// All threads: chunks of PAIR_CHUNK slots list their pairs, the lengths of the lists are summed,
// and each chunk copies its list to its place. The chunks do not depend on the number of threads.
#include "detect/pair_list.h"

#include "base/bits.h"
#include "data/ids.h"
#include "detect/detection.h"
#include "detect/narrow_phase.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define SHAPE_CACHE_GRAIN 64 // bodies per task
#define PAIR_CHUNK 256       // slots of pairs
#define CHUNK_GRAIN 2        // chunks per task

// ---------------------------------------------------------------------------------------------
// Active shapes

static bool is_active(const tn_world *world, const body *b)
{
  const body_state *state = &world->state[body_slot(world, b)];
  if (b->type == TN_BODY_KINEMATIC) {
    return b->has_target || tn_length(tn_v3(state->v[0], state->v[1], state->v[2])) > 0.0f ||
           tn_length(tn_v3(state->w[0], state->w[1], state->w[2])) > 0.0f;
  }
  return moves(b);
}

// Bound of the motion of any point between two poses, m. Exactly 0 between equal ones.
static double max_travel_between(const world_pose *from, const world_pose *to,
                                 float bounding_radius)
{
  if (memcmp(from, to, sizeof *from) == 0) {
    return 0.0;
  }
  tn_pos d = pos_sub(to->p, from->p);
  dquat turn = dquat_mul(to->q, dquat_conjugate(from->q));
  // Sine of half the angle: a point at distance r moves by the chord 2 r sine, with a margin here.
  double sine = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
  return sqrt(pos_dot(d, d)) + TUNING_CHORD_BOUND * sine * (double)bounding_radius;
}

// Marks the current contact update; odd for active shapes.
static uint32_t travel_stamp(const tn_world *world, bool active)
{
  return (uint32_t)(2 * world->detection->contact_update_count) + active;
}

bool shape_cache_is_current(const tn_world *world, int32_t slot)
{
  return (world->detection->shape_motions[slot].stamp | 1) == travel_stamp(world, true);
}

// Updates pose and bounds, once per contact update and shape.
void shape_cache_update(tn_world *world, int32_t slot, bool active, float dt)
{
  shape *s = &world->shapes[slot];
  const body *b = &world->bodies[s->body];
  const body_state *state = &world->state[s->body];
  shape_cache *now = &s->shape_cache;
  world_pose last = now->pose;
  tn_pos at = dquat_rotate(b->rotation, s->local_position);
  now->pose.p = pos_add(b->center, at);
  now->pose.q = dquat_mul(b->rotation, s->local_rotation);
  tn_quat q = dquat_round(now->pose.q);
  tn_pos y = dquat_rotate(now->pose.q, tn_p3(0.0, 1.0, 0.0));
  now->axis[0] = (float)y.x, now->axis[1] = (float)y.y, now->axis[2] = (float)y.z;
  now->rotation[0] = q.x, now->rotation[1] = q.y, now->rotation[2] = q.z, now->rotation[3] = q.w;
  now->offset[0] = (float)at.x, now->offset[1] = (float)at.y, now->offset[2] = (float)at.z;
  now->half_length = s->geometry.kind == TN_SHAPE_CAPSULE ? s->geometry.half_length : 0.0f;
  now->radius = s->geometry.radius;
  now->bounding_radius = s->bounding_radius;
  now->restitution = s->def.material.restitution;
  now->max_extent =
      s->bounding_radius + tn_length(tn_v3(now->offset[0], now->offset[1], now->offset[2]));
  float speed = tn_length(tn_v3(state->v[0], state->v[1], state->v[2]));
  if (shape_is_bounded(s)) {
    float turn = tn_length(tn_v3(state->w[0], state->w[1], state->w[2]));
    now->speed = closing_ahead(speed + now->max_extent * turn, now->restitution);
    now->travel += max_travel_between(&last, &now->pose, s->bounding_radius);
  }
  world->detection->shape_motions[slot] =
      (shape_motion){now->travel + (double)(dt * now->speed), travel_stamp(world, active),
                     active && dt * speed > s->inner_radius};
}

double shape_travel(const tn_world *world, int32_t slot)
{
  const shape *s = &world->shapes[slot];
  world_pose now = shape_world_pose(world, s);
  return s->shape_cache.travel +
         (shape_is_bounded(s) ? max_travel_between(&s->shape_cache.pose, &now, s->bounding_radius)
                              : 0.0);
}

typedef struct shape_task {
  tn_world *world;
  float dt;
  atomic_bool any_fast;
} shape_task;

static void update_active_shapes(int first, int last, void *context)
{
  shape_task *task = context;
  tn_world *world = task->world;
  bool any_fast = false;
  for (int32_t i = first; i < last; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    bool active = is_active(world, b);
    for (int32_t k = b->first_shape; active && k != NO_SLOT; k = world->shapes[k].next) {
      shape_cache_update(world, k, true, task->dt);
      any_fast = any_fast || world->detection->shape_motions[k].is_fast;
    }
  }
  if (any_fast) {
    atomic_store_explicit(&task->any_fast, true, memory_order_relaxed);
  }
}

bool active_shapes_update(tn_world *world, float dt)
{
  shape_task task = {.world = world, .dt = dt};
  task_run(world->tasks, update_active_shapes, world->awake_count, SHAPE_CACHE_GRAIN, &task);
  return task.any_fast;
}

// ---------------------------------------------------------------------------------------------
// Pairs

// Whether two separated shapes cannot have come into contact, by the bounds of their travel up to
// the end of this step. Without branches: about half of the pairs pass, in no predictable order.
static inline bool is_culled(const shape_motion *shape_motions, const pair *p)
{
  return (p->first_contact == NO_SLOT) & !p->is_new & !p->touching &
         (shape_motions[p->shape[0]].travel_bound + shape_motions[p->shape[1]].travel_bound <
          p->travel_limit);
}

// Depends on the shape kinds, which the user may have changed.
static void classify_pair(const tn_world *world, pair *p)
{
  const shape *a = &world->shapes[p->shape[0]], *b = &world->shapes[p->shape[1]];
  p->round = !p->sensor && shape_is_round(a) && shape_is_round(b);
  p->multi_manifold = shape_is_complex(a) || shape_is_complex(b);
}

// A list that is being made, of all pairs or of a chunk.
typedef struct pair_chunk {
  int32_t *listed; // slots of pairs
  int32_t count;
  int32_t *inactive; // shapes of listed pairs that are not active and have an old pose
  int32_t inactive_count;
  int32_t room;          // manifolds of the pairs listed so far
  int32_t descents;      // pairs whose predecessor in the array belongs to a later body
  bool touches_sleeping; // some listed pair has a sleeping body
} pair_chunk;

typedef struct list_task {
  tn_world *world;
  uint32_t active; // stamp of active shapes
  pair_chunk *chunks;
  float dt;
} list_task;

// The shape of a pair that is not active. Neighbouring pairs often share it: listed once for them.
static void note_inactive_shape(const tn_world *world, pair_chunk *l, int32_t slot)
{
  l->touches_sleeping = l->touches_sleeping || world->bodies[world->shapes[slot].body].asleep;
  if (!shape_cache_is_current(world, slot) &&
      (l->inactive_count == 0 || l->inactive[l->inactive_count - 1] != slot)) {
    l->inactive[l->inactive_count++] = slot;
  }
}

static void list_if_active(const list_task *t, pair_chunk *l, int32_t slot)
{
  pair *p = &t->world->pairs[slot];
  const shape_motion *shape_motions = t->world->detection->shape_motions;
  bool first = shape_motions[p->shape[0]].stamp == t->active;
  bool second = shape_motions[p->shape[1]].stamp == t->active;
  if (!p->alive || !(first || second)) {
    return;
  }
  if (!(first && second)) {
    note_inactive_shape(t->world, l, p->shape[first]);
  }
  if (p->is_new) {
    classify_pair(t->world, p);
  }
  l->listed[l->count++] = slot;
  l->room += p->multi_manifold ? MAX_MANIFOLDS : 1;
  l->descents += slot > 0 && p->sort_body < p[-1].sort_body;
}

// Inactive shapes keep their last travel bound, which still holds.
static void list_chunk(const list_task *t, int chunk)
{
  const tn_world *world = t->world;
  int32_t first = chunk * PAIR_CHUNK, used = world->pair_pool.used;
  int32_t last = first + PAIR_CHUNK < used ? first + PAIR_CHUNK : used;
  int32_t candidates[PAIR_CHUNK], count = 0;
  for (int32_t i = first; i < last; ++i) {
    candidates[count] = i;
    count += !is_culled(world->detection->shape_motions, &world->pairs[i]);
  }
  pair_chunk l = {.listed = world->detection->chunk_pairs + first,
                  .inactive = world->detection->inactive_shapes + first};
  for (int32_t i = 0; i < count; ++i) {
    list_if_active(t, &l, candidates[i]);
  }
  t->chunks[chunk] = l;
}

static void list_chunks(int first, int last, void *context)
{
  for (int i = first; i < last; ++i) {
    list_chunk(context, i);
  }
}

static int64_t count_awake_links(const tn_world *world)
{
  int64_t links = 0;
  for (int32_t i = 0; i < world->awake_count; ++i) {
    for (int32_t k = world->bodies[world->awake[i]].first_shape; k != NO_SLOT;
         k = world->shapes[k].next) {
      links += world->shapes[k].pair_count;
    }
  }
  return links;
}

// For few awake bodies: marks their pairs in a bit set first, so that the list is in slot order
// too. One chunk.
static bool list_awake_pairs(list_task *t)
{
  tn_world *world = t->world;
  int32_t words = world->pair_pool.used / 64 + 1;
  if (!heap_reserve(&world->heap, (void **)&world->detection->pair_bits,
                    &world->detection->pair_bit_capacity, words, sizeof(uint64_t))) {
    return false;
  }
  uint64_t *bits = world->detection->pair_bits;
  memset(bits, 0, (size_t)words * sizeof(uint64_t));
  for (int32_t i = 0; i < world->awake_count; ++i) {
    for (int32_t k = world->bodies[world->awake[i]].first_shape; k != NO_SLOT;
         k = world->shapes[k].next) {
      for (int32_t link = world->shapes[k].first_pair; link != NO_SLOT;
           link = world->pairs[link / 2].next[link % 2]) {
        bits[link / 128] |= 1ull << (link / 2 % 64);
      }
    }
  }
  pair_chunk l = {.listed = world->detection->chunk_pairs,
                  .inactive = world->detection->inactive_shapes};
  for (int32_t i = 0; i < words; ++i) {
    for (uint64_t left = bits[i]; left != 0; left &= left - 1) {
      int32_t slot = 64 * i + lowest_clear_bit(~left);
      if (!is_culled(world->detection->shape_motions, &world->pairs[slot])) {
        list_if_active(t, &l, slot);
      }
    }
  }
  t->chunks[0] = l;
  return true;
}

// `count` and `room` of a chunk hold where its list begins, from here on; the lengths follow from
// the next chunk's.
static void copy_chunks(int first, int last, void *context)
{
  const list_task *t = context;
  detection *d = t->world->detection;
  for (int i = first; i < last; ++i) {
    const pair_chunk *l = &t->chunks[i];
    int32_t room = l->room;
    for (int32_t k = l->count; k < l[1].count; ++k) {
      int32_t slot = l->listed[k - l->count];
      int32_t own = t->world->pairs[slot].multi_manifold ? MAX_MANIFOLDS : 1;
      d->active_pairs[k] = slot;
      d->found[k] = (pair_result){.first = room, .room = own};
      room += own;
    }
  }
}

// Turns lengths into beginnings; returns the sums.
static pair_chunk sum_chunks(tn_world *world, const list_task *t, int32_t count)
{
  pair_chunk sum = {0};
  for (int32_t i = 0; i < count; ++i) {
    pair_chunk *l = &t->chunks[i];
    for (int32_t k = 0; k < l->inactive_count; ++k) {
      if (!shape_cache_is_current(world, l->inactive[k])) {
        shape_cache_update(world, l->inactive[k], false, t->dt);
      }
    }
    int32_t pairs = l->count, room = l->room;
    l->count = sum.count;
    l->room = sum.room;
    sum.count += pairs;
    sum.room += room;
    sum.descents += l->descents;
    sum.touches_sleeping = sum.touches_sleeping || l->touches_sleeping;
  }
  t->chunks[count].count = sum.count;
  return sum;
}

static bool reserve(tn_world *world, int32_t pairs, int32_t chunks)
{
  detection *d = world->detection;
  return heap_reserve(&world->heap, (void **)&d->active_pairs, &d->active_pair_capacity, pairs,
                      sizeof(int32_t)) &&
         heap_reserve(&world->heap, (void **)&d->found, &d->found_capacity, pairs,
                      sizeof(pair_result)) &&
         heap_reserve(&world->heap, (void **)&d->chunk_pairs, &d->chunk_pair_capacity, pairs,
                      sizeof(int32_t)) &&
         heap_reserve(&world->heap, (void **)&d->inactive_shapes, &d->inactive_shape_capacity,
                      pairs, sizeof(int32_t)) &&
         heap_reserve(&world->heap, &d->pair_chunks, &d->pair_chunk_capacity, chunks + 1,
                      sizeof(pair_chunk));
}

bool pair_list_build(tn_world *world, float dt, pair_list *out)
{
  int32_t used = world->pair_pool.used;
  bool few = 4 * count_awake_links(world) < used;
  int32_t chunks = few ? 1 : (used + PAIR_CHUNK - 1) / PAIR_CHUNK;
  if (!reserve(world, used, chunks)) {
    return false;
  }
  list_task t = {world, travel_stamp(world, true), world->detection->pair_chunks, dt};
  if (!few) {
    task_run(world->tasks, list_chunks, chunks, CHUNK_GRAIN, &t);
  } else if (!list_awake_pairs(&t)) {
    return false;
  }
  pair_chunk sum = sum_chunks(world, &t, chunks);
  task_run(world->tasks, copy_chunks, chunks, CHUNK_GRAIN, &t);
  world->detection->active_pair_count = sum.count;
  world->detection->multi_manifold_pair_count = (sum.room - sum.count) / (MAX_MANIFOLDS - 1);
  *out = (pair_list){sum.descents, sum.touches_sleeping};
  return heap_reserve(&world->heap, (void **)&world->detection->found_manifolds,
                      &world->detection->found_manifold_capacity, sum.room, sizeof(manifold)) &&
         heap_reserve(&world->heap, (void **)&world->detection->pair_marks,
                      &world->detection->pair_mark_capacity, sum.count, sizeof(uint8_t));
}

void pair_list_release(tn_world *world)
{
  detection *d = world->detection;
  heap_free(&world->heap, d->chunk_pairs, (size_t)d->chunk_pair_capacity * sizeof(int32_t));
  heap_free(&world->heap, d->inactive_shapes, (size_t)d->inactive_shape_capacity * sizeof(int32_t));
  heap_free(&world->heap, d->pair_chunks, (size_t)d->pair_chunk_capacity * sizeof(pair_chunk));
  heap_free(&world->heap, d->pair_marks, (size_t)d->pair_mark_capacity * sizeof(uint8_t));
  heap_free(&world->heap, d->pair_bits, (size_t)d->pair_bit_capacity * sizeof(uint64_t));
}
