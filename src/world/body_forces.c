// Velocities, forces and impulses that the user applies. A call whose result would exceed
// TN_MAX_RATE is refused: the solver squares velocities, which must not overflow.
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "kernel/ranges.h"
#include "world/body_write.h"
#include "world/lifetime.h"

#include <math.h>
#include <string.h>

static bool reject(const tn_world *world, const char *caller, const char *why)
{
  report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  return false;
}

// A dynamic or kinematic body, or null with the reason logged.
static body *find_moving(tn_world *world, tn_body_id id, tn_vec3 value, const char *caller)
{
  body *b = body_find(world, id, caller);
  if (!b) {
    return NULL;
  }
  if (b->type == TN_BODY_STATIC) {
    reject(world, caller, "a static body has no velocity");
    return NULL;
  }
  if (!is_finite3(value)) {
    reject(world, caller, "the vector is not finite");
    return NULL;
  }
  return b;
}

static body *find_dynamic(tn_world *world, tn_body_id id, tn_vec3 value, const char *caller)
{
  body *b = find_moving(world, id, value, caller);
  if (b && b->type != TN_BODY_DYNAMIC) {
    reject(world, caller, "only dynamic bodies feel forces");
    return NULL;
  }
  return b;
}

// ---------------------------------------------------------------------------------------------
// Velocities

bool tn_body_set_velocity(tn_world *world, tn_body_id id, tn_vec3 velocity)
{
  RECORD(world, tn_body_set_velocity, &id, &velocity);
  body *b = find_moving(world, id, velocity, "tn_body_set_velocity");
  if (!b) {
    return false;
  }
  if (!is_rate(velocity)) {
    return reject(world, "tn_body_set_velocity", "the velocity is too large");
  }
  int32_t slot = body_slot(world, b);
  body_wake(world, slot);
  memcpy(world->state[slot].v, &velocity, sizeof world->state[slot].v);
  joints_forget_rates(world, slot);
  return true;
}

bool tn_body_set_angular_velocity(tn_world *world, tn_body_id id, tn_vec3 velocity)
{
  RECORD(world, tn_body_set_angular_velocity, &id, &velocity);
  body *b = find_moving(world, id, velocity, "tn_body_set_angular_velocity");
  if (!b) {
    return false;
  }
  if (!is_rate(velocity)) {
    return reject(world, "tn_body_set_angular_velocity", "the velocity is too large");
  }
  int32_t slot = body_slot(world, b);
  body_wake(world, slot);
  memcpy(world->state[slot].w, &velocity, sizeof world->state[slot].w);
  joints_forget_rates(world, slot);
  body_sync_solver(world, slot);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Forces

bool body_can_bear(const body *b, tn_vec3 force, tn_vec3 torque)
{
  float turn = (float)(1.0 / b->moments[0]); // the largest inverse moment
  return is_rate(tn_scale(1.0f / b->mass.mass, force)) && is_rate(tn_scale(turn, torque));
}

static bool add_force(tn_world *world, body *b, tn_vec3 force, tn_vec3 torque, const char *caller)
{
  tn_vec3 forces = tn_add(b->force, force), torques = tn_add(b->torque, torque);
  if (!body_can_bear(b, forces, torques)) {
    return reject(world, caller, "the body would accelerate too much");
  }
  body_wake(world, body_slot(world, b));
  b->force = forces;
  b->torque = torques;
  return true;
}

bool tn_body_apply_force(tn_world *world, tn_body_id id, tn_vec3 force, tn_pos point)
{
  RECORD(world, tn_body_apply_force, &id, &force, &point);
  body *b = find_dynamic(world, id, force, "tn_body_apply_force");
  if (!b) {
    return false;
  }
  if (!is_position(point)) {
    return reject(world, "tn_body_apply_force", "the point is not finite or too far away");
  }
  tn_vec3 torque = tn_cross(tn_between_points(b->center, point), force);
  return add_force(world, b, force, torque, "tn_body_apply_force");
}

bool tn_body_apply_force_to_center(tn_world *world, tn_body_id id, tn_vec3 force)
{
  RECORD(world, tn_body_apply_force_to_center, &id, &force);
  const char *caller = "tn_body_apply_force_to_center";
  body *b = find_dynamic(world, id, force, caller);
  return b && add_force(world, b, force, tn_v3(0.0f, 0.0f, 0.0f), caller);
}

bool tn_body_apply_torque(tn_world *world, tn_body_id id, tn_vec3 torque)
{
  RECORD(world, tn_body_apply_torque, &id, &torque);
  const char *caller = "tn_body_apply_torque";
  body *b = find_dynamic(world, id, torque, caller);
  return b && add_force(world, b, tn_v3(0.0f, 0.0f, 0.0f), torque, caller);
}

// ---------------------------------------------------------------------------------------------
// Impulses

static V to_v(tn_vec3 v)
{
  return v_make(v.x, v.y, v.z);
}

static tn_vec3 to_vec3(V v)
{
  return tn_v3(v.x, v.y, v.z);
}

// Sets the linear velocity to `v` and adds `angular` to the angular momentum.
static bool add_impulse(tn_world *world, body *b, tn_vec3 v, tn_vec3 angular, const char *caller)
{
  int32_t slot = body_slot(world, b);
  float(*lanes)[BLOCK_WIDTH] = world->body_blocks[slot / BLOCK_WIDTH].spin;
  AngularState spin;
  get_lane(lanes, slot % BLOCK_WIDTH, &spin, FIELDS(AngularState));
  // The lane still has the axes with which the last step began.
  tn_quat q = dquat_round(b->rotation);
  spin.start = (Q){q.x, q.y, q.z, q.w};
  spin.momentum = v_add(spin.momentum, to_v(angular));
  spin.last = q_rotate(spin.start, v_mul(spin.inverse, q_unrotate(spin.start, spin.momentum)));
  tn_vec3 w = to_vec3(spin.last);
  if (!is_rate(v) || !is_rate(w) || !is_finite3(to_vec3(spin.momentum))) {
    return reject(world, caller, "the body would be too fast");
  }
  body_wake(world, slot);
  joints_settle_rates(world, slot);
  memcpy(world->state[slot].v, &v, sizeof world->state[slot].v);
  memcpy(world->state[slot].w, &w, sizeof world->state[slot].w);
  set_lane(lanes, slot % BLOCK_WIDTH, &spin, FIELDS(AngularState));
  return true;
}

static tn_vec3 velocity_of(const tn_world *world, const body *b)
{
  const float *v = world->state[body_slot(world, b)].v;
  return tn_v3(v[0], v[1], v[2]);
}

bool tn_body_apply_impulse(tn_world *world, tn_body_id id, tn_vec3 impulse, tn_pos point)
{
  RECORD(world, tn_body_apply_impulse, &id, &impulse, &point);
  body *b = find_dynamic(world, id, impulse, "tn_body_apply_impulse");
  if (!b) {
    return false;
  }
  if (!is_position(point)) {
    return reject(world, "tn_body_apply_impulse", "the point is not finite or too far away");
  }
  tn_vec3 angular = tn_cross(tn_between_points(b->center, point), impulse);
  float inverse_mass = world->state[body_slot(world, b)].inverse_mass;
  tn_vec3 v = tn_add(velocity_of(world, b), tn_scale(inverse_mass, impulse));
  return add_impulse(world, b, v, angular, "tn_body_apply_impulse");
}

bool tn_body_apply_angular_impulse(tn_world *world, tn_body_id id, tn_vec3 impulse)
{
  RECORD(world, tn_body_apply_angular_impulse, &id, &impulse);
  const char *caller = "tn_body_apply_angular_impulse";
  body *b = find_dynamic(world, id, impulse, caller);
  return b && add_impulse(world, b, velocity_of(world, b), impulse, caller);
}
