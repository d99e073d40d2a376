// Points and vectors between the frame of a body and the world. Rotations are in double, as the
// body keeps its pose; results are rounded once.
#include "data/ids.h"
#include "data/world.h"
#include "kernel/ranges.h"

static dquat frame_of(const body *b)
{
  return dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
}

static tn_pos widened(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

static tn_vec3 rounded(tn_pos p)
{
  return tn_v3((float)p.x, (float)p.y, (float)p.z);
}

static bool accept(const tn_world *world, bool ok, const char *caller, const char *why)
{
  if (!ok) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  }
  return ok;
}

tn_vec3 tn_body_local_point(const tn_world *world, tn_body_id id, tn_pos point)
{
  const char *caller = "tn_body_local_point";
  const body *b = body_find(world, id, caller);
  if (!b || !accept(world, is_position(point), caller, "the point is not finite or too far away")) {
    return tn_v3(0.0f, 0.0f, 0.0f);
  }
  tn_pos from_center = dquat_rotate(dquat_conjugate(frame_of(b)), pos_sub(point, b->center));
  return rounded(pos_add(b->local_center, from_center));
}

tn_vec3 tn_body_world_vector(const tn_world *world, tn_body_id id, tn_vec3 local)
{
  const char *caller = "tn_body_world_vector";
  const body *b = body_find(world, id, caller);
  if (!b || !accept(world, is_finite3(local), caller, "the vector is not finite")) {
    return tn_v3(0.0f, 0.0f, 0.0f);
  }
  return rounded(dquat_rotate(frame_of(b), widened(local)));
}

tn_vec3 tn_body_local_vector(const tn_world *world, tn_body_id id, tn_vec3 vector)
{
  const char *caller = "tn_body_local_vector";
  const body *b = body_find(world, id, caller);
  if (!b || !accept(world, is_finite3(vector), caller, "the vector is not finite")) {
    return tn_v3(0.0f, 0.0f, 0.0f);
  }
  return rounded(dquat_rotate(dquat_conjugate(frame_of(b)), widened(vector)));
}
