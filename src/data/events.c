// Queues of events, published once a step.
#include "data/events.h"

#include "data/ids.h"
#include "data/world.h"

#include <string.h>

tn_contact_event pair_event(const tn_world *world, const pair *p, tn_event_kind kind)
{
  tn_contact_event e = {0};
  int first = p->sensor && !world->shapes[p->shape[0]].def.sensor ? 1 : 0;
  e.kind = kind;
  e.shape_a = shape_id_at(world, p->shape[first]);
  e.shape_b = shape_id_at(world, p->shape[1 - first]);
  e.body_a = body_id_of(world, world->shapes[p->shape[first]].body);
  e.body_b = body_id_of(world, world->shapes[p->shape[1 - first]].body);
  return e;
}

bool add_contact_event(tn_world *world, tn_contact_event event)
{
  if (!heap_reserve(&world->heap, (void **)&world->contact_events, &world->contact_event_capacity,
                    world->contact_event_count + 1, sizeof event)) {
    report(&world->log, TN_LOG_WARNING, "out of memory: a contact event is lost");
    return false;
  }
  world->contact_events[world->contact_event_count++] = event;
  return true;
}

const tn_contact_event *tn_world_contact_events(const tn_world *world, int *count)
{
  if (count) {
    *count = world ? world->published_contact_event_count : 0;
  }
  return world && world->published_contact_event_count > 0 ? world->contact_events : NULL;
}

static bool is_begin(const tn_contact_event *e)
{
  return e->kind == TN_EVENT_BEGIN || e->kind == TN_EVENT_SENSOR_BEGIN;
}

static bool is_end(const tn_contact_event *e)
{
  return e->kind == TN_EVENT_END || e->kind == TN_EVENT_SENSOR_END;
}

// The end of the touch that event i begins, or the number of events.
static int32_t find_end(const tn_world *world, int32_t i)
{
  const tn_contact_event *begin = &world->contact_events[i++];
  for (; i < world->contact_event_count; ++i) {
    const tn_contact_event *e = &world->contact_events[i];
    if (is_end(e) && TN_SAME_ID(e->shape_a, begin->shape_a) &&
        TN_SAME_ID(e->shape_b, begin->shape_b)) {
      return i;
    }
  }
  return i;
}

// Removes events that are not published yet, of a shape that is destroyed: touches that have begun
// since the last step, with their ends. What was published has to end.
void contact_events_remove_of(tn_world *world, int32_t slot)
{
  const tn_shape_id id = shape_id_at(world, slot), none = {0};
  int32_t count = world->published_contact_event_count;
  for (int32_t i = count; i < world->contact_event_count; ++i) {
    tn_contact_event *e = &world->contact_events[i];
    bool is_gone = TN_IS_NULL(e->shape_a);
    if (!is_gone && is_begin(e) && (TN_SAME_ID(e->shape_a, id) || TN_SAME_ID(e->shape_b, id))) {
      int32_t end = find_end(world, i);
      if (end < world->contact_event_count) {
        world->contact_events[end].shape_a = none;
      }
      is_gone = true;
    }
    if (!is_gone) {
      world->contact_events[count++] = *e;
    }
  }
  world->contact_event_count = count;
}

void add_sleep_event(tn_world *world, int32_t slot, bool asleep)
{
  if (heap_reserve(&world->heap, (void **)&world->sleep_events, &world->sleep_event_capacity,
                   world->sleep_event_count + 1, sizeof(tn_sleep_event))) {
    tn_sleep_event e = {body_id_at(world, slot), asleep};
    world->sleep_events[world->sleep_event_count++] = e;
  } else {
    report(&world->log, TN_LOG_WARNING, "out of memory: a sleep event is lost");
  }
}

// Removes events that are not published yet, of a body that is destroyed.
void sleep_events_remove_of(tn_world *world, int32_t slot)
{
  int32_t count = world->published_sleep_event_count;
  for (int32_t i = count; i < world->sleep_event_count; ++i) {
    if (world->sleep_events[i].body.index != (uint32_t)slot) {
      world->sleep_events[count++] = world->sleep_events[i];
    }
  }
  world->sleep_event_count = count;
}

const tn_sleep_event *tn_world_sleep_events(const tn_world *world, int *count)
{
  if (count) {
    *count = world ? world->published_sleep_event_count : 0;
  }
  return world && world->published_sleep_event_count > 0 ? world->sleep_events : NULL;
}

void add_soft_event(tn_world *world, const tn_soft_event *event)
{
  if (!heap_reserve(&world->heap, (void **)&world->soft_events, &world->soft_event_capacity,
                    world->soft_event_count + 1, sizeof *event)) {
    report(&world->log, TN_LOG_WARNING, "out of memory: a soft body's event is lost");
    return;
  }
  world->soft_events[world->soft_event_count++] = *event;
}

const tn_soft_event *tn_world_soft_events(const tn_world *world, int *count)
{
  if (count) {
    *count = world ? world->published_soft_event_count : 0;
  }
  return world && world->published_soft_event_count > 0 ? world->soft_events : NULL;
}

void soft_events_release(tn_world *world)
{
  heap_free(&world->heap, world->soft_events,
            (size_t)world->soft_event_capacity * sizeof(tn_soft_event));
  heap_free(&world->heap, world->soft_touch_pairs,
            (size_t)world->soft_touch_pair_capacity * sizeof(soft_touch_pair));
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
void events_begin_step(tn_world *world)
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

void events_publish(tn_world *world)
{
  world->published_contact_event_count = world->contact_event_count;
  world->published_sleep_event_count = world->sleep_event_count;
  world->published_soft_event_count = world->soft_event_count;
}
