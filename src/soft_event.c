// What happens to soft bodies: they begin to touch something and part from it, attachments break,
// edges tear.
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define PART_GAP 0.001f // m: what is closer has not parted

void add_soft_event(tn_world *world, const tn_soft_event *event)
{
  if (!memory_reserve(world, (void **)&world->soft_events, &world->soft_event_capacity,
                      world->soft_event_count + 1, sizeof *event)) {
    report(world, TN_LOG_WARNING, "out of memory: a soft body's event is lost");
    return;
  }
  world->soft_events[world->soft_event_count++] = *event;
}

const tn_soft_event *tn_world_soft_events(const tn_world *world, int *count)
{
  if (count) {
    *count = world ? world->told_soft_count : 0;
  }
  return world && world->told_soft_count > 0 ? world->soft_events : NULL;
}

void soft_events_release(tn_world *world)
{
  memory_give(world, world->soft_events,
              (size_t)world->soft_event_capacity * sizeof(tn_soft_event));
  memory_give(world, world->meetings, (size_t)world->meeting_capacity * sizeof(meeting));
}

// ---------------------------------------------------------------------------------------------
// Meetings: a soft body and a shape, or another soft body, that touch. Sorted.

static int compare(const meeting *a, const meeting *b)
{
  return a->soft != b->soft       ? (a->soft > b->soft) - (a->soft < b->soft)
         : a->mutual != b->mutual ? a->mutual - b->mutual
                                  : (a->other > b->other) - (a->other < b->other);
}

static int by_place(const void *a, const void *b)
{
  return compare(a, b);
}

static meeting meeting_of(const soft_contact *t)
{
  bool mutual = touch_is_mutual(t);
  meeting m = {t->soft, mutual ? t->other : t->shape, mutual, true};
  if (mutual && t->other < t->soft) {
    m.soft = t->other;
    m.other = t->soft;
  }
  return m;
}

static meeting *find(tn_world *world, const meeting *m)
{
  int32_t low = 0, high = world->meeting_count;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    int order = compare(&world->meetings[middle], m);
    if (order == 0) {
      return &world->meetings[middle];
    }
    *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
  }
  return NULL;
}

static tn_soft_event event_of(const tn_world *world, const meeting *m, tn_soft_event_kind kind)
{
  tn_soft_event event;
  memset(&event, 0, sizeof event);
  event.kind = kind;
  event.soft = soft_id_at(world, m->soft);
  if (m->mutual) {
    event.other_soft = soft_id_at(world, m->other);
  } else {
    event.shape = shape_id_at(world, m->other);
    event.body = body_id_at(world, world->shapes[m->other].body);
  }
  event.particles[0] = event.particles[1] = -1;
  return event;
}

static bool begin_meeting(tn_world *world, const soft_contact *t, const meeting *m)
{
  if (!memory_reserve(world, (void **)&world->meetings, &world->meeting_capacity,
                      world->meeting_count + 1, sizeof *m)) {
    report(world, TN_LOG_WARNING, "out of memory: a soft body's event is lost");
    return false;
  }
  world->meetings[world->meeting_count++] = *m;
  qsort(world->meetings, (size_t)world->meeting_count, sizeof *m, by_place);
  tn_soft_event event = event_of(world, m, TN_SOFT_EVENT_TOUCH);
  bool swapped = m->soft != t->soft;
  event.particles[0] = t->particle[swapped ? touch_own(t) : 0];
  event.point = world->softs[t->soft].particles[t->particle[0]].at;
  event.force = swapped ? tn_scale(-1.0f, t->force) : t->force;
  add_soft_event(world, &event);
  return true;
}

// A body asleep looks for nothing and parts from nothing.
static bool has_parted(const tn_world *world, const meeting *m)
{
  return !m->seen && !world->softs[m->soft].asleep && !(m->mutual && world->softs[m->other].asleep);
}

static void end_meetings(tn_world *world, bool (*is_over)(const tn_world *, const meeting *))
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->meeting_count; ++i) {
    meeting m = world->meetings[i];
    if (is_over(world, &m)) {
      tn_soft_event event = event_of(world, &m, TN_SOFT_EVENT_PART);
      add_soft_event(world, &event);
    } else {
      world->meetings[count++] = m;
    }
  }
  world->meeting_count = count;
}

// They touch from the first force on, until there is none and a gap.
void meetings_update(tn_world *world)
{
  for (int32_t i = 0; i < world->meeting_count; ++i) {
    world->meetings[i].seen = false;
  }
  for (int32_t i = 0; i < world->touch_count; ++i) {
    const soft_contact *t = &world->touches[i];
    bool pushed = tn_dot(t->force, t->force) > 0.0f;
    if ((touch_is_mutual(t) && t->soft == t->other) || (!pushed && t->gap > PART_GAP)) {
      continue;
    }
    meeting m = meeting_of(t), *known = find(world, &m);
    if (known) {
      known->seen = true;
    } else if (pushed && !begin_meeting(world, t, &m)) {
      return;
    }
  }
  end_meetings(world, has_parted);
}

static bool is_marked(const tn_world *world, const meeting *m)
{
  (void)world;
  return !m->seen;
}

void meetings_remove_of_soft(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->meeting_count; ++i) {
    meeting *m = &world->meetings[i];
    m->seen = m->soft != slot && !(m->mutual && m->other == slot);
  }
  end_meetings(world, is_marked);
}

void meetings_remove_of_shape(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->meeting_count; ++i) {
    meeting *m = &world->meetings[i];
    m->seen = m->mutual || m->other != slot;
  }
  end_meetings(world, is_marked);
}
