// Touch pairs: a soft body and a shape, or two soft bodies, in contact. The list is sorted; changes
// of it raise events.
#include "data/events.h"
#include "data/ids.h"
#include "data/world.h"
#include "detect/soft_contacts.h"

#include <stdlib.h>
#include <string.h>

static int compare(const soft_touch_pair *a, const soft_touch_pair *b)
{
  return a->soft != b->soft                     ? (a->soft > b->soft) - (a->soft < b->soft)
         : a->other_is_soft != b->other_is_soft ? a->other_is_soft - b->other_is_soft
                                                : (a->other > b->other) - (a->other < b->other);
}

static int by_place(const void *a, const void *b)
{
  return compare(a, b);
}

static soft_touch_pair touch_pair_of(const soft_contact *t)
{
  bool other_is_soft = is_soft_soft(t);
  soft_touch_pair m = {t->soft, other_is_soft ? t->other : t->shape, other_is_soft, true};
  if (other_is_soft && t->other < t->soft) {
    m.soft = t->other;
    m.other = t->soft;
  }
  return m;
}

static soft_touch_pair *find(tn_world *world, const soft_touch_pair *m)
{
  int32_t low = 0, high = world->soft_touch_pair_count;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    int order = compare(&world->soft_touch_pairs[middle], m);
    if (order == 0) {
      return &world->soft_touch_pairs[middle];
    }
    *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
  }
  return NULL;
}

static tn_soft_event event_of(const tn_world *world, const soft_touch_pair *m,
                              tn_soft_event_kind kind)
{
  tn_soft_event event;
  memset(&event, 0, sizeof event);
  event.kind = kind;
  event.soft = soft_id_at(world, m->soft);
  if (m->other_is_soft) {
    event.other_soft = soft_id_at(world, m->other);
  } else {
    event.shape = shape_id_at(world, m->other);
    event.body = body_id_at(world, world->shapes[m->other].body);
  }
  event.particles[0] = event.particles[1] = -1;
  return event;
}

static bool begin_touch_pair(tn_world *world, const soft_contact *t, const soft_touch_pair *m)
{
  if (!heap_reserve(&world->heap, (void **)&world->soft_touch_pairs,
                    &world->soft_touch_pair_capacity, world->soft_touch_pair_count + 1,
                    sizeof *m)) {
    report(&world->log, TN_LOG_WARNING, "out of memory: a soft body's event is lost");
    return false;
  }
  world->soft_touch_pairs[world->soft_touch_pair_count++] = *m;
  qsort(world->soft_touch_pairs, (size_t)world->soft_touch_pair_count, sizeof *m, by_place);
  tn_soft_event event = event_of(world, m, TN_SOFT_EVENT_TOUCH);
  bool swapped = m->soft != t->soft;
  event.particles[0] = t->particle[swapped ? first_side_particles(t) : 0];
  event.point = world->softs[t->soft].particles[t->particle[0]].at;
  event.force = swapped ? tn_scale(-1.0f, t->force) : t->force;
  add_soft_event(world, &event);
  return true;
}

// Sleeping soft bodies have no contacts in the list, so their pairs persist.
static bool has_parted(const tn_world *world, const soft_touch_pair *m)
{
  return !m->seen && !world->softs[m->soft].asleep &&
         !(m->other_is_soft && world->softs[m->other].asleep);
}

static void end_touch_pairs(tn_world *world,
                            bool (*is_over)(const tn_world *, const soft_touch_pair *))
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->soft_touch_pair_count; ++i) {
    soft_touch_pair m = world->soft_touch_pairs[i];
    if (is_over(world, &m)) {
      tn_soft_event event = event_of(world, &m, TN_SOFT_EVENT_PART);
      add_soft_event(world, &event);
    } else {
      world->soft_touch_pairs[count++] = m;
    }
  }
  world->soft_touch_pair_count = count;
}

// A pair begins with its first contact force and ends when there is neither a force nor a gap below
// TUNING_SOFT_TOUCH_GAP. The hysteresis avoids repeated events of resting bodies.
void soft_touch_pairs_update(tn_world *world)
{
  for (int32_t i = 0; i < world->soft_touch_pair_count; ++i) {
    world->soft_touch_pairs[i].seen = false;
  }
  for (int32_t i = 0; i < world->soft_contact_count; ++i) {
    const soft_contact *t = &world->soft_contacts[i];
    bool pushed = tn_dot(t->force, t->force) > 0.0f;
    if ((is_soft_soft(t) && t->soft == t->other) || (!pushed && t->gap > TUNING_SOFT_TOUCH_GAP)) {
      continue;
    }
    soft_touch_pair m = touch_pair_of(t), *known = find(world, &m);
    if (known) {
      known->seen = true;
    } else if (pushed && !begin_touch_pair(world, t, &m)) {
      return;
    }
  }
  end_touch_pairs(world, has_parted);
}

static bool is_removed(const tn_world *world, const soft_touch_pair *m)
{
  (void)world;
  return !m->seen;
}

void soft_touch_pairs_remove_soft(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->soft_touch_pair_count; ++i) {
    soft_touch_pair *m = &world->soft_touch_pairs[i];
    m->seen = m->soft != slot && !(m->other_is_soft && m->other == slot);
  }
  end_touch_pairs(world, is_removed);
}

void soft_touch_pairs_remove_shape(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->soft_touch_pair_count; ++i) {
    soft_touch_pair *m = &world->soft_touch_pairs[i];
    m->seen = m->other_is_soft || m->other != slot;
  }
  end_touch_pairs(world, is_removed);
}
