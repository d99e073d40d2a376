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
#include "detect/pair_list.h"
#include "detect/pair_sort.h"

#include <math.h>
#include <string.h>

#define PAIR_GRAIN 32 // pairs per task
// Time of a pair that may have several manifolds, such as a hull on a mesh, over that of another.
#define MULTI_MANIFOLD_WEIGHT 64

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

void pair_remove_contacts_of(tn_world *world, int32_t pair_slot, uint32_t places)
{
  int32_t *link = &world->pairs[pair_slot].first_contact;
  for (int i = 0; *link != NO_SLOT; ++i) {
    if (places >> i & 1) {
      remove_contact(world, link);
    } else {
      link = &world->contacts[*link].next;
    }
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

// What needs memory or raises events, in the order of the list.
static bool apply_results(tn_world *world)
{
  const uint8_t *marks = world->detection->pair_marks;
  int32_t count = world->detection->active_pair_count;
  for (int32_t i = next_mark(marks, 0, count); i < count; i = next_mark(marks, i + 1, count)) {
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
// The update

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
    shape_cache_update(world, b, false, 0.0f);
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

typedef struct narrow_phase_context {
  tn_world *world;
  float dt;
} narrow_phase_context;

// Pairs per task, so that tasks take about the same time whatever the mean pair costs.
static int pair_grain(const detection *d)
{
  int64_t pairs = d->active_pair_count, slow = d->multi_manifold_pair_count;
  int64_t grain = PAIR_GRAIN * pairs / (pairs + MULTI_MANIFOLD_WEIGHT * slow + 1);
  return grain < 1 ? 1 : (int)grain;
}

static void narrow_phase_task(int first, int last, void *context)
{
  const narrow_phase_context *task = context;
  collide_pairs(task->world, first, last, task->dt);
  for (int i = first; i < last; ++i) {
    update_single_contact(task->world, i);
    task->world->detection->pair_marks[i] =
        task->world->detection->found[i].count != KEPT_MANIFOLDS;
  }
}

bool narrow_phase_update(tn_world *world, float dt)
{
  narrow_phase_context task = {world, dt};
  pair_list list;
  world->detection->contact_update_count += 1;
  if (!heap_reserve(&world->heap, (void **)&world->detection->shape_motions,
                    &world->detection->shape_motion_capacity, world->shape_pool.used,
                    sizeof(shape_motion))) {
    return false;
  }
  bool any_fast = active_shapes_update(world, dt);
  if (!pair_list_build(world, dt, &list)) {
    return false;
  }
  if (pairs_need_sort(list.descents, world->detection->active_pair_count) &&
      (!pairs_sort(world) || !pair_list_build(world, dt, &list))) {
    return false;
  }
  task_run(world->tasks, narrow_phase_task, world->detection->active_pair_count,
           pair_grain(world->detection), &task);
  if (!apply_results(world) || (any_fast && !continuous_update(world, dt)) ||
      !ghost_contacts_remove(world, dt)) {
    return false;
  }
  if (list.touches_sleeping) {
    wake_touched(world);
  }
  return true;
}
