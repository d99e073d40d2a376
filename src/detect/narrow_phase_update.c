// Narrow phase update: selects the pairs to collide, runs the narrow phase on all threads, and
// carries impulses over from old to new manifolds (warm start).
#include "base/bits.h"
#include "base/prefetch.h"
#include "data/events.h"
#include "data/ids.h"
#include "data/wake.h"
#include "detect/broad_phase.h"
#include "detect/detect.h"
#include "detect/detection.h"
#include "detect/narrow_phase.h"
#include "detect/pair_sort.h"

#include <math.h>
#include <string.h>

#define PAIR_GRAIN 32        // pairs per task
#define PAIR_CULL_GRAIN 128  // pairs per task
#define SHAPE_CACHE_GRAIN 64 // bodies per task

// ---------------------------------------------------------------------------------------------
// Contacts of a pair

static contact *add_contact(tn_world *world, int32_t pair_slot)
{
  int32_t slot = pool_alloc(&world->heap, &world->contact_pool, (void **)&world->contacts,
                            sizeof(contact), offsetof(contact, next_free));
  if (slot == NO_SLOT) {
    return NULL;
  }
  contact *c = &world->contacts[slot];
  memset(c, 0, sizeof *c);
  c->alive = true;
  c->idle = true;
  c->pair = pair_slot;
  memcpy(c->shape, world->pairs[pair_slot].shape, sizeof c->shape);
  memcpy(c->body, world->pairs[pair_slot].body, sizeof c->body);
  c->next = NO_SLOT;
  // Append, so that contacts are listed in the order of creation.
  int32_t *link = &world->pairs[pair_slot].first_contact;
  while (*link != NO_SLOT) {
    link = &world->contacts[*link].next;
  }
  *link = slot;
  return c;
}

static void remove_contact(tn_world *world, int32_t *link)
{
  int32_t slot = *link;
  *link = world->contacts[slot].next;
  world->contacts[slot].alive = false;
  pool_free(&world->contact_pool, world->contacts, sizeof(contact), offsetof(contact, next_free),
            slot);
}

void pair_remove_contacts(tn_world *world, int32_t pair_slot)
{
  int32_t *link = &world->pairs[pair_slot].first_contact;
  while (*link != NO_SLOT) {
    remove_contact(world, link);
  }
}

// ---------------------------------------------------------------------------------------------
// Matching old contacts with new manifolds

static float square_distance(tn_vec3 a, tn_vec3 b)
{
  tn_vec3 d = tn_sub(a, b);
  return tn_dot(d, d);
}

// The old point that a new one continues: the one with the same feature, else the nearest within
// `radius`, in the frame of either shape. -1: none.
static int match_point(const manifold *old, const manifold_point *point, unsigned taken,
                       float radius)
{
  for (int i = 0; i < old->count; ++i) {
    if (!(taken >> i & 1) && old->points[i].feature == point->feature) {
      return i;
    }
  }
  int best = -1;
  float nearest = radius * radius;
  for (int i = 0; i < old->count; ++i) {
    float d = square_distance(old->points[i].a, point->a);
    float e = square_distance(old->points[i].b, point->b);
    if (!(taken >> i & 1) && fminf(d, e) < nearest) {
      best = i;
      nearest = fminf(d, e);
    }
  }
  return best;
}

static void transfer_impulses(contact *c, const manifold *now, float radius)
{
  float lambda[MAX_MANIFOLD_POINTS] = {0.0f};
  unsigned taken = 0;
  for (int i = 0; i < now->count; ++i) {
    int old = match_point(&c->manifold, &now->points[i], taken, radius);
    if (old >= 0) {
      lambda[i] = c->state.lambda[old];
      taken |= 1u << old;
    }
  }
  if (!taken) {
    contact_clear_impulses(c);
  }
  memcpy(c->state.lambda, lambda, sizeof lambda);
  // The preload is the load of one point: an anchored contact keeps the sum over all points.
  if (RULE(preload_rescale) && c->params.has_anchor > 0.5f) {
    c->state.preload *= (float)c->manifold.count / (float)now->count;
  }
  c->idle = !(lambda[0] > 0.0f || lambda[1] > 0.0f || lambda[2] > 0.0f || lambda[3] > 0.0f);
  bool alike = now->form == c->manifold.form && now->count == c->manifold.count &&
               now->radius_a == c->manifold.radius_a && now->radius_b == c->manifold.radius_b;
  c->params.material_version = alike ? c->params.material_version : 0;
  c->fixed_normal = false;
  c->manifold = *now;
}

// The new manifold that continues a contact: the one with the same child, else one with nearly the
// same normal and a nearby point, as when a marble rolls from one cubic of a wire to the next. -1:
// none.
static int match_manifold(const contact *c, const manifold *found, int count, uint32_t taken,
                          float radius)
{
  for (int i = 0; i < count; ++i) {
    if (!(taken >> i & 1) && found[i].child == c->manifold.child) {
      return i;
    }
  }
  for (int i = 0; i < count; ++i) {
    if (!(taken >> i & 1) &&
        tn_dot(found[i].normal, c->manifold.normal) > TUNING_CONTACT_MATCH_COSINE &&
        match_point(&c->manifold, &found[i].points[0], 0, radius) >= 0) {
      return i;
    }
  }
  return -1;
}

static float match_radius(const tn_world *world, const pair *p)
{
  const shape *a = &world->shapes[p->shape[0]], *b = &world->shapes[p->shape[1]];
  return TUNING_CONTACT_MATCH_RADIUS * fminf(shape_size(a), shape_size(b));
}

static bool update_pair_contacts(tn_world *world, int32_t index)
{
  const pair_result *found = &world->detection->found[index];
  int32_t pair_slot = world->detection->active_pairs[index];
  const pair *p = &world->pairs[pair_slot];
  const manifold *manifolds = &world->detection->found_manifolds[found->first];
  float radius = match_radius(world, p);
  uint32_t taken = 0;
  int32_t *link = &world->pairs[pair_slot].first_contact;
  while (*link != NO_SLOT) {
    contact *c = &world->contacts[*link];
    int match = match_manifold(c, manifolds, found->count, taken, radius);
    if (match < 0) {
      remove_contact(world, link);
      continue;
    }
    taken |= 1u << match;
    transfer_impulses(c, &manifolds[match], radius);
    link = &c->next;
  }
  for (int i = 0; i < found->count; ++i) {
    if (!(taken >> i & 1)) {
      contact *c = add_contact(world, pair_slot);
      if (!c) {
        return false;
      }
      c->manifold = manifolds[i];
    }
  }
  return true;
}

// The common case, one manifold before and after, needs no allocation and runs on any thread.
static void update_single_contact(const tn_world *world, int32_t index)
{
  pair_result *found = &world->detection->found[index];
  if (found->count == KEPT_MANIFOLDS) {
    return;
  }
  pair *p = &world->pairs[world->detection->active_pairs[index]];
  contact *c = p->first_contact == NO_SLOT ? NULL : &world->contacts[p->first_contact];
  if (p->sensor || found->count != (c ? 1 : 0) || (c && c->next != NO_SLOT)) {
    return;
  }
  if (c) {
    const manifold *now = &world->detection->found_manifolds[found->first];
    float radius = match_radius(world, p);
    if (match_manifold(c, now, 1, 0, radius) != 0) {
      return;
    }
    transfer_impulses(c, now, radius);
  }
  p->initial_overlap |= p->is_new;
  p->is_new = false;
  found->count = KEPT_MANIFOLDS;
}

static void update_sensor(tn_world *world, pair *p, bool overlap)
{
  if (overlap != p->touching) {
    p->touching = overlap;
    tn_event_kind kind = overlap ? TN_EVENT_SENSOR_BEGIN : TN_EVENT_SENSOR_END;
    add_contact_event(world, pair_event(world, p, kind));
  }
}

static bool apply_results(tn_world *world)
{
  for (int32_t i = 0; i < world->detection->active_pair_count; ++i) {
    if (world->detection->found[i].count == KEPT_MANIFOLDS) {
      continue;
    }
    pair *p = &world->pairs[world->detection->active_pairs[i]];
    if (p->sensor) {
      update_sensor(world, p, world->detection->found[i].overlap);
      continue;
    }
    p->initial_overlap |= p->is_new;
    p->is_new = false;
    if (!update_pair_contacts(world, i)) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Active shapes and pairs

static bool is_active(const tn_world *world, const body *b)
{
  const body_state *state = &world->state[body_slot(world, b)];
  if (b->type == TN_BODY_KINEMATIC) {
    return b->has_target || tn_length(tn_v3(state->v[0], state->v[1], state->v[2])) > 0.0f ||
           tn_length(tn_v3(state->w[0], state->w[1], state->w[2])) > 0.0f;
  }
  return moves(b);
}

// Bound of the motion of any point between two poses, m.
static double max_travel_between(const world_pose *from, const world_pose *to,
                                 float bounding_radius)
{
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

static bool any_shape_is_fast(const tn_world *world)
{
  for (int32_t i = 0; i < world->shape_pool.used; ++i) {
    if (world->detection->shape_motions[i].is_fast &&
        world->detection->shape_motions[i].stamp == travel_stamp(world, true)) {
      return true;
    }
  }
  return false;
}

static bool shape_cache_is_current(const tn_world *world, int32_t slot)
{
  return (world->detection->shape_motions[slot].stamp | 1) == travel_stamp(world, true);
}

// Updates pose and bounds, once per contact update and shape.
static void update_shape_cache(tn_world *world, int32_t slot, bool active, float dt)
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
  now->max_extent =
      s->bounding_radius + tn_length(tn_v3(now->offset[0], now->offset[1], now->offset[2]));
  float speed = tn_length(tn_v3(state->v[0], state->v[1], state->v[2]));
  if (shape_is_bounded(s)) {
    float turn = tn_length(tn_v3(state->w[0], state->w[1], state->w[2]));
    now->speed = speed + now->max_extent * turn;
    now->travel += max_travel_between(&last, &now->pose, s->bounding_radius);
  }
  world->detection->shape_motions[slot] =
      (shape_motion){now->travel + (double)(dt * now->speed), travel_stamp(world, active),
                     active && dt * speed > s->inner_radius};
}

typedef struct narrow_phase_context {
  tn_world *world;
  float dt;
} narrow_phase_context;

static void update_active_shapes(int first, int last, void *context)
{
  const narrow_phase_context *task = context;
  tn_world *world = task->world;
  for (int32_t i = first; i < last; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    bool active = is_active(world, b);
    for (int32_t k = b->first_shape; active && k != NO_SLOT; k = world->shapes[k].next) {
      update_shape_cache(world, k, true, task->dt);
    }
  }
}

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

typedef struct pair_lister {
  tn_world *world;
  pair_result *found;
  int32_t *listed;
  int32_t count;
  uint32_t active; // stamp of active shapes
  float dt;
  int32_t room;          // manifolds of the pairs listed so far
  int32_t descents;      // pairs whose predecessor in the array belongs to a later body
  bool touches_sleeping; // some listed pair has a sleeping body
} pair_lister;

// The inactive shape of a pair with one active shape.
static void update_inactive_shape(pair_lister *l, int32_t slot)
{
  const body *b = &l->world->bodies[l->world->shapes[slot].body];
  l->touches_sleeping = l->touches_sleeping || b->asleep;
  if (!shape_cache_is_current(l->world, slot)) {
    update_shape_cache(l->world, slot, false, l->dt);
  }
}

// Lists a pair with an active shape, unless its shapes cannot touch. The entry is always written
// and counted only if listed, which saves a branch.
static inline void list_if_active(pair_lister *l, int32_t slot)
{
  pair *p = &l->world->pairs[slot];
  const shape_motion *shape_motions = l->world->detection->shape_motions;
  bool first = shape_motions[p->shape[0]].stamp == l->active;
  bool second = shape_motions[p->shape[1]].stamp == l->active;
  if (!p->alive || !(first || second)) {
    return;
  }
  if (!(first && second)) {
    update_inactive_shape(l, p->shape[first]);
  }
  if (p->is_new) {
    classify_pair(l->world, p);
  }
  int32_t at = l->count, is_listed = !is_culled(shape_motions, p);
  int32_t room = p->multi_manifold ? MAX_MANIFOLDS : 1;
  l->found[at] = (pair_result){.first = l->room, .room = room};
  l->listed[at] = slot;
  l->count = at + is_listed;
  l->room += is_listed * room;
  l->descents += is_listed & (slot > 0 && p->sort_body < p[-1].sort_body);
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
// too.
static bool list_awake_pairs(pair_lister *l)
{
  tn_world *world = l->world;
  int32_t words = world->pair_pool.used / 64 + 1;
  if (!heap_reserve(&world->heap, (void **)&world->detection->pair_bits,
                    &world->detection->pair_bit_capacity, words, sizeof(uint64_t))) {
    return false;
  }
  memset(world->detection->pair_bits, 0, (size_t)words * sizeof(uint64_t));
  for (int32_t i = 0; i < world->awake_count; ++i) {
    for (int32_t k = world->bodies[world->awake[i]].first_shape; k != NO_SLOT;
         k = world->shapes[k].next) {
      for (int32_t link = world->shapes[k].first_pair; link != NO_SLOT;
           link = world->pairs[link / 2].next[link % 2]) {
        world->detection->pair_bits[link / 128] |= 1ull << (link / 2 % 64);
      }
    }
  }
  for (int32_t i = 0; i < words; ++i) {
    for (uint64_t bits = world->detection->pair_bits[i]; bits != 0; bits &= bits - 1) {
      int32_t slot = 64 * i + lowest_clear_bit(~bits);
      list_if_active(l, slot);
    }
  }
  return true;
}

// Parallel first pass over all pairs. Inactive shapes keep their last travel bound, which still
// holds.
static void cull_pairs(int first, int last, void *context)
{
  const tn_world *world = context;
  const shape_motion *shape_motions = world->detection->shape_motions;
  const pair *pairs = world->pairs;
  // uint8_t may alias anything: load the pointers once.
  uint8_t *calls = world->detection->pair_may_touch;
  for (int32_t i = first; i < last; ++i) {
    calls[i] = !is_culled(shape_motions, &pairs[i]);
  }
}

static bool list_all_pairs(pair_lister *l)
{
  tn_world *world = l->world;
  int32_t count = world->pair_pool.used, called = 0;
  if (!heap_reserve(&world->heap, (void **)&world->detection->pair_may_touch,
                    &world->detection->pair_may_touch_capacity, count, sizeof(uint8_t))) {
    return false;
  }
  task_run(world->tasks, cull_pairs, count, PAIR_CULL_GRAIN, world);
  // Compact in place: `listed` holds the candidates first, then the active pairs.
  int32_t *listed = l->listed;
  const uint8_t *calls = world->detection->pair_may_touch;
  for (int32_t i = 0; i < count; ++i) {
    listed[called] = i;
    called += calls[i];
  }
  for (int32_t i = 0; i < called; ++i) {
    if (i + PREFETCH_DISTANCE < called) {
      PREFETCH(&world->pairs[l->listed[i + PREFETCH_DISTANCE]]);
    }
    list_if_active(l, l->listed[i]);
  }
  return true;
}

// Lists the pairs that have an active shape and may touch, in slot order.
static bool list_active_pairs(pair_lister *l)
{
  tn_world *world = l->world;
  int32_t count = world->pair_pool.used + 1; // list_if_active() writes one entry too many
  if (!heap_reserve(&world->heap, (void **)&world->detection->active_pairs,
                    &world->detection->active_pair_capacity, count, sizeof(int32_t)) ||
      !heap_reserve(&world->heap, (void **)&world->detection->found,
                    &world->detection->found_capacity, count, sizeof(pair_result))) {
    return false;
  }
  l->found = world->detection->found;
  l->listed = world->detection->active_pairs;
  l->active = travel_stamp(world, true);
  bool few = 4 * count_awake_links(world) < world->pair_pool.used;
  if (!(few ? list_awake_pairs(l) : list_all_pairs(l))) {
    return false;
  }
  world->detection->active_pair_count = l->count;
  return heap_reserve(&world->heap, (void **)&world->detection->found_manifolds,
                      &world->detection->found_manifold_capacity, l->room, sizeof(manifold));
}

// Wakes sleeping bodies that have a contact with an awake one.
static void wake_touched(tn_world *world)
{
  for (int32_t i = 0; i < world->detection->active_pair_count; ++i) {
    const pair *p = &world->pairs[world->detection->active_pairs[i]];
    for (int side = 0; side < 2 && p->first_contact != NO_SLOT; ++side) {
      if (world->bodies[p->body[side]].asleep) {
        body_wake(world, p->body[side]);
      }
    }
  }
}

// Appends the pair to the active ones if it is new or was culled.
static bool activate_pair(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->detection->active_pair_count; ++i) {
    if (world->detection->active_pairs[i] == slot) {
      return true;
    }
  }
  int32_t count = world->detection->active_pair_count + 1;
  if (!heap_reserve(&world->heap, (void **)&world->detection->active_pairs,
                    &world->detection->active_pair_capacity, count, sizeof(int32_t)) ||
      !heap_reserve(&world->heap, (void **)&world->detection->found,
                    &world->detection->found_capacity, count, sizeof(pair_result))) {
    return false;
  }
  world->detection->found[count - 1] = (pair_result){.count = KEPT_MANIFOLDS};
  world->detection->active_pairs[count - 1] = slot;
  world->detection->active_pair_count = count;
  return true;
}

bool continuous_add_contacts(tn_world *world, int32_t a, int32_t b, const manifold *list, int count)
{
  int32_t slot = count > 0 ? pair_find_or_add(world, a, b) : NO_SLOT;
  if (count == 0 || slot == NO_SLOT) {
    return count == 0;
  }
  int32_t first = world->pairs[slot].first_contact;
  if (first != NO_SLOT && (shape_is_complex(&world->shapes[b]) ||
                           world->contacts[first].manifold.points[0].gap <= 0.0f)) {
    return true;
  }
  pair_remove_contacts(world, slot);
  if (!shape_cache_is_current(world, b)) {
    update_shape_cache(world, b, false, 0.0f);
  }
  for (int i = 0; i < count; ++i) {
    contact *c = add_contact(world, slot);
    if (!c) {
      return false;
    }
    c->manifold = list[i];
  }
  return activate_pair(world, slot);
}

static void narrow_phase_task(int first, int last, void *context)
{
  const narrow_phase_context *task = context;
  collide_pairs(task->world, first, last, task->dt);
  for (int i = first; i < last; ++i) {
    update_single_contact(task->world, i);
  }
}

bool narrow_phase_update(tn_world *world, float dt)
{
  narrow_phase_context task = {world, dt};
  pair_lister l = {.world = world, .dt = dt};
  world->detection->contact_update_count += 1;
  if (!heap_reserve(&world->heap, (void **)&world->detection->shape_motions,
                    &world->detection->shape_motion_capacity, world->shape_pool.used,
                    sizeof(shape_motion))) {
    return false;
  }
  task_run(world->tasks, update_active_shapes, world->awake_count, SHAPE_CACHE_GRAIN, &task);
  if (!list_active_pairs(&l)) {
    return false;
  }
  if (pairs_need_sort(l.descents, l.count)) {
    l = (pair_lister){.world = world, .dt = dt};
    if (!pairs_sort(world) || !list_active_pairs(&l)) {
      return false;
    }
  }
  task_run(world->tasks, narrow_phase_task, world->detection->active_pair_count, PAIR_GRAIN, &task);
  if (!apply_results(world) || (any_shape_is_fast(world) && !continuous_update(world, dt))) {
    return false;
  }
  if (l.touches_sleeping) {
    wake_touched(world);
  }
  return true;
}
