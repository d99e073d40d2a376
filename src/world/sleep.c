// Sleep as users control it.
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "data/world.h"
#include "solver/islands.h"
#include "world/checks.h"

bool tn_body_is_awake(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_is_awake");
  return b && !b->asleep;
}

bool tn_body_set_awake(tn_world *world, tn_body_id id, bool awake)
{
  RECORD(world, tn_body_set_awake, &id, &awake);
  body *b = body_find(world, id, "tn_body_set_awake");
  if (!b) {
    return false;
  }
  int32_t slot = body_slot(world, b);
  if (awake) {
    body_wake(world, slot);
    return true;
  }
  if (b->type != TN_BODY_DYNAMIC) {
    report(&world->log, TN_LOG_ERROR, "tn_body_set_awake: only dynamic bodies sleep");
    return false;
  }
  if (b->asleep) {
    return true;
  }
  if (!body_sleep(world, slot)) {
    report(&world->log, TN_LOG_ERROR, "tn_body_set_awake: out of memory");
    return false;
  }
  return true;
}

bool tn_body_set_can_sleep(tn_world *world, tn_body_id id, bool can_sleep)
{
  RECORD(world, tn_body_set_can_sleep, &id, &can_sleep);
  body *b = body_find(world, id, "tn_body_set_can_sleep");
  if (!b) {
    return false;
  }
  b->can_sleep = can_sleep;
  if (!can_sleep) {
    body_wake(world, body_slot(world, b));
  }
  return true;
}

bool tn_world_set_sleeping(tn_world *world, bool sleeping)
{
  RECORD(world, tn_world_set_sleeping, &sleeping);
  if (!world) {
    return false;
  }
  world->sleeping = sleeping;
  if (!sleeping) {
    wake_all(world);
  }
  return true;
}

bool tn_world_sleeping(const tn_world *world)
{
  return world && world->sleeping;
}

static bool set_sleep_setting(tn_world *world, const char *function, float *setting, float value)
{
  if (!is_sleep_setting(value)) {
    report(&world->log, TN_LOG_ERROR, "%s: must be from 0 to 1e6", function);
    return false;
  }
  *setting = value;
  return true;
}

bool tn_world_set_sleep_speed(tn_world *world, float speed)
{
  RECORD(world, tn_world_set_sleep_speed, &speed);
  return world && set_sleep_setting(world, "tn_world_set_sleep_speed", &world->sleep_speed, speed);
}

float tn_world_sleep_speed(const tn_world *world)
{
  return world ? world->sleep_speed : 0.0f;
}

bool tn_world_set_sleep_time(tn_world *world, float time)
{
  RECORD(world, tn_world_set_sleep_time, &time);
  return world && set_sleep_setting(world, "tn_world_set_sleep_time", &world->sleep_time, time);
}

float tn_world_sleep_time(const tn_world *world)
{
  return world ? world->sleep_time : 0.0f;
}
