// Settings of bodies that need nothing of the solver: gravity scale, damping, speed limits, user
// data, name.
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "data/world.h"
#include "world/lifetime.h"

static bool reject(const tn_world *world, const char *caller, const char *why)
{
  report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  return false;
}

static bool is_between(float x, float lo, float hi)
{
  return x >= lo && x <= hi; // false for NaN
}

bool tn_body_set_gravity_scale(tn_world *world, tn_body_id id, float scale)
{
  RECORD(world, tn_body_set_gravity_scale, &id, &scale);
  body *b = body_find(world, id, "tn_body_set_gravity_scale");
  if (!b) {
    return false;
  }
  if (!is_between(scale, -1e6f, 1e6f)) {
    return reject(world, "tn_body_set_gravity_scale", "the scale must be from -1e6 to 1e6");
  }
  b->gravity_scale = scale;
  body_wake(world, body_slot(world, b));
  return true;
}

float tn_body_gravity_scale(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_gravity_scale");
  return b ? b->gravity_scale : 0.0f;
}

static bool set_damping(tn_world *world, float *to, float damping, const char *caller)
{
  if (!is_between(damping, 0.0f, 1e6f)) {
    return reject(world, caller, "damping must be from 0 to 1e6");
  }
  *to = damping;
  return true;
}

bool tn_body_set_linear_damping(tn_world *world, tn_body_id id, float damping)
{
  RECORD(world, tn_body_set_linear_damping, &id, &damping);
  const char *caller = "tn_body_set_linear_damping";
  body *b = body_find(world, id, caller);
  return b && set_damping(world, &b->linear_damping, damping, caller);
}

bool tn_body_set_angular_damping(tn_world *world, tn_body_id id, float damping)
{
  RECORD(world, tn_body_set_angular_damping, &id, &damping);
  const char *caller = "tn_body_set_angular_damping";
  body *b = body_find(world, id, caller);
  return b && set_damping(world, &b->angular_damping, damping, caller);
}

float tn_body_linear_damping(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_linear_damping");
  return b ? b->linear_damping : 0.0f;
}

float tn_body_angular_damping(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_angular_damping");
  return b ? b->angular_damping : 0.0f;
}

static bool set_limit(tn_world *world, float *to, float limit, const char *caller)
{
  if (!is_between(limit, 0.0f, 3e38f)) {
    return reject(world, caller, "a speed limit must be non-negative and finite");
  }
  *to = limit;
  return true;
}

bool tn_body_set_max_speed(tn_world *world, tn_body_id id, float speed)
{
  RECORD(world, tn_body_set_max_speed, &id, &speed);
  const char *caller = "tn_body_set_max_speed";
  body *b = body_find(world, id, caller);
  return b && set_limit(world, &b->max_speed, speed, caller);
}

bool tn_body_set_max_angular_speed(tn_world *world, tn_body_id id, float speed)
{
  RECORD(world, tn_body_set_max_angular_speed, &id, &speed);
  const char *caller = "tn_body_set_max_angular_speed";
  body *b = body_find(world, id, caller);
  return b && set_limit(world, &b->max_angular_speed, speed, caller);
}

float tn_body_max_speed(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_max_speed");
  return b ? b->max_speed : 0.0f;
}

float tn_body_max_angular_speed(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_max_angular_speed");
  return b ? b->max_angular_speed : 0.0f;
}

void *tn_body_user_data(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_user_data");
  return b ? b->user_data : NULL;
}

bool tn_body_set_user_data(tn_world *world, tn_body_id id, void *data)
{
  body *b = body_find(world, id, "tn_body_set_user_data");
  if (b) {
    b->user_data = data;
  }
  return b != NULL;
}

const char *tn_body_name(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_name");
  return b ? b->name : "";
}

bool tn_body_set_name(tn_world *world, tn_body_id id, const char *name)
{
  RECORD(world, tn_body_set_name, &id, name);
  body *b = body_find(world, id, "tn_body_set_name");
  if (b) {
    body_set_name(b, name);
  }
  return b != NULL;
}

bool tn_body_can_sleep(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_can_sleep");
  return b && b->can_sleep;
}
