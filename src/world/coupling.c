// Couplings: definitions, creation and settings.
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "data/world.h"
#include "kernel/ranges.h"
#include "solver/joint/coupling_step.h"
#include "solver/joint/coupling_value.h"
#include "solver/solver.h"
#include "world/checks.h"
#include "world/lifetime.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Definitions

tn_coupling_def tn_default_coupling_def(void)
{
  tn_coupling_def def = {0};
  def.drive.limits = tn_between(-INFINITY, INFINITY);
  def.enabled = true;
  def.cookie = DEF_COOKIE;
  return def;
}

bool tn_coupling_def_axis(tn_coupling_def *def, tn_joint_id id, int axis, float coefficient)
{
  if (!def || def->axis_count < 0 || def->axis_count >= TN_COUPLING_AXES) {
    return false;
  }
  def->axes[def->axis_count++] =
      (tn_coupling_axis){.joint = id, .axis = axis, .coefficients = {coefficient}};
  return true;
}

bool tn_coupling_def_point(tn_coupling_def *def, tn_body_id id, tn_pos position, float factor)
{
  if (!def || def->point_count < 0 || def->point_count >= TN_COUPLING_POINTS) {
    return false;
  }
  def->points[def->point_count++] = (tn_coupling_point){id, position, .factor = factor};
  return true;
}

bool tn_coupling_def_wrap(tn_coupling_def *def, tn_body_id id, tn_pos center, float radius,
                          tn_vec3 axis)
{
  if (!tn_coupling_def_point(def, id, center, 1.0f)) {
    return false;
  }
  def->points[def->point_count - 1].radius = radius;
  def->points[def->point_count - 1].axis = axis;
  return true;
}

double tn_coupling_def_length(const tn_coupling_def *def, const tn_transform *poses)
{
  path_part parts[TN_COUPLING_POINTS];
  int count = def ? def->point_count : 0;
  if (count < 2 || count > TN_COUPLING_POINTS || !poses) {
    return 0.0;
  }
  for (int i = 0; i < count; ++i) {
    const tn_coupling_point *p = &def->points[i];
    tn_transform at = TN_IS_NULL(p->body) ? tn_transform_identity() : poses[i];
    dquat turn = dquat_normalize(dquat_from(at.q));
    parts[i] =
        (path_part){p, pos_add(at.p, dquat_rotate(turn, p->position)), {0.0, 0.0, 0.0}, turn, -1};
  }
  return path_length(parts, count, NULL);
}

static bool is_coefficient(float x)
{
  return x >= 0.0f && x <= 1e12f; // false for NaN
}

static bool is_moderate(float x)
{
  return fabsf(x) <= 1e12f;
}

static bool is_direction(tn_vec3 v)
{
  return is_moderate(v.x) && is_moderate(v.y) && is_moderate(v.z);
}

static const char *why_bad_drive(const tn_coupling_drive *drive)
{
  if (!is_coefficient(drive->stiffness) || !is_coefficient(drive->damping)) {
    return "a drive's stiffness and damping must be from 0 to 1e12";
  }
  if (!is_moderate(drive->target) || !is_moderate(drive->velocity) || !is_moderate(drive->force)) {
    return "a drive's target, velocity or force is not finite or too large";
  }
  return drive->limits.lo <= 0.0f && drive->limits.hi >= 0.0f
             ? NULL
             : "a drive's limits must be a range around 0";
}

static const char *why_bad_point(const tn_coupling_def *def, int i)
{
  const tn_coupling_point *p = &def->points[i];
  if (!is_position(p->position)) {
    return "a point is not finite or too far away";
  }
  if (!(p->factor >= 0.0f && p->factor <= 1e6f)) {
    return "factors of a path must be from 0 to 1e6";
  }
  if (!(p->radius >= 0.0f && p->radius <= 1e6f)) {
    return "radii of a path must be from 0 to 1e6";
  }
  if (!is_direction(p->axis) || !is_direction(p->side)) {
    return "an axis or side of a path is not finite or too large";
  }
  bool between =
      i > 0 && i < def->point_count - 1 && !(p[-1].radius > 0.0f) && !(p[1].radius > 0.0f);
  return p->radius > 0.0f && !between ? "a round solid of a path must lie between two points"
                                      : NULL;
}

static const char *why_bad_terms(const tn_coupling_def *def)
{
  if (def->axis_count < 0 || def->axis_count > TN_COUPLING_AXES) {
    return "too many axes";
  }
  if (def->point_count < 0 || def->point_count > TN_COUPLING_POINTS || def->point_count == 1) {
    return "a path has 2 to 16 points";
  }
  if (def->axis_count == 0 && def->point_count == 0) {
    return "there is no axis and no path";
  }
  for (int i = 0; i < def->axis_count; ++i) {
    bool any = false;
    for (int k = 0; k < 4; ++k) {
      any = any || def->axes[i].coefficients[k] != 0.0f;
      if (!is_moderate(def->axes[i].coefficients[k])) {
        return "a coefficient is not finite or too large";
      }
    }
    if (!any) {
      return "all coefficients of an axis are zero";
    }
    if (!is_moderate(def->axes[i].reference)) {
      return "a reference is not finite or too large";
    }
  }
  for (int i = 0; i < def->point_count; ++i) {
    const char *why = why_bad_point(def, i);
    if (why) {
      return why;
    }
  }
  return NULL;
}

const char *coupling_def_problem(const tn_coupling_def *def)
{
  if (def->cookie != DEF_COOKIE) {
    return "the definition does not come from tn_default_coupling_def";
  }
  const char *why = why_bad_terms(def);
  if (why) {
    return why;
  }
  if (!(def->range.lo <= def->range.hi) || def->range.lo == INFINITY ||
      def->range.hi == -INFINITY) {
    return "the range is reversed, at infinity or not a number";
  }
  if (!is_coefficient(def->compliance) || !is_coefficient(def->range_damping) ||
      !is_coefficient(def->stiffness) || !is_coefficient(def->damping)) {
    return "compliance, stiffness and damping must be from 0 to 1e12";
  }
  if (!is_moderate(def->offset) || !is_moderate(def->rest)) {
    return "offset or rest is not finite or too large";
  }
  return def->friction >= 0.0f ? why_bad_drive(&def->drive) : "friction must not be negative";
}

// ---------------------------------------------------------------------------------------------
// Joints and bodies

// Side of a body, added if it is new; -1 for the world.
static int8_t side_of(coupling *k, int32_t slot)
{
  int32_t i = 0;
  if (slot == WORLD_SLOT) {
    return -1;
  }
  while (i < k->side_count && k->side_body[i] != slot) {
    ++i;
  }
  k->side_body[i] = slot;
  k->side_count += i == k->side_count;
  return (int8_t)i;
}

// Finds joints and bodies of k->def; false with the reason logged.
static bool resolve(tn_world *world, coupling *k, const char *caller)
{
  k->side_count = 0;
  for (int i = 0; i < k->def.axis_count; ++i) {
    const tn_coupling_axis *axis = &k->def.axes[i];
    const joint *j = joint_find(world, axis->joint, caller);
    if (!j) {
      return false;
    }
    if (!joint_axis_is_free(&j->def, axis->axis)) {
      report(&world->log, TN_LOG_ERROR, "%s: the joint of axis %d has no such free axis", caller,
             i);
      return false;
    }
    k->joint[i] = (int32_t)(j - world->joints);
    for (int side = 0; side < 2; ++side) {
      k->axis_side[i][side] = side_of(k, j->slot[side]);
    }
  }
  for (int i = 0; i < k->def.point_count; ++i) {
    tn_body_id id = k->def.points[i].body;
    const body *b = TN_IS_NULL(id) ? &world->bodies[WORLD_SLOT] : body_find(world, id, caller);
    if (!b) {
      return false;
    }
    k->point_side[i] = side_of(k, body_slot(world, b));
  }
  if (k->side_count == 0) {
    report(&world->log, TN_LOG_ERROR, "%s: all points are the world's", caller);
  }
  return k->side_count > 0;
}

// Coordinates at the current poses, in the turn nearest to the last ones.
static void measure_coordinates(const tn_world *world, coupling *k)
{
  double gradient[COUPLING_SIDES][6];
  coupling_inputs in = {world->bodies, world->joints, NULL};
  coupling_value(k, &in, 0.0, k->coordinate, gradient);
}

static void wake_sides(tn_world *world, const coupling *k)
{
  for (int32_t i = 0; i < k->side_count; ++i) {
    body_wake(world, k->side_body[i]);
  }
}

static void count_sides(tn_world *world, const coupling *k, int32_t change)
{
  for (int32_t i = 0; i < k->side_count; ++i) {
    world->bodies[k->side_body[i]].coupling_count += change;
  }
  world->material_version += 1; // contact_params depend on whether bodies are joined
  world->joint_layout_stale = true;
}

// ---------------------------------------------------------------------------------------------
// Create and destroy

static const char *creation_problem(const tn_world *world, const tn_coupling_def *def)
{
  if (!def) {
    return "the definition is null";
  }
  return world->method == TN_METHOD_TENON ? coupling_def_problem(def)
                                          : "only TN_METHOD_TENON solves couplings";
}

tn_coupling_id tn_coupling_create(tn_world *world, const tn_coupling_def *def)
{
  RECORD(world, tn_coupling_create, def);
  const char *caller = "tn_coupling_create";
  tn_coupling_id none = {0};
  if (!world) {
    return none;
  }
  const char *why = creation_problem(world, def);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return none;
  }
  coupling made;
  memset(&made, 0, sizeof made);
  made.def = *def;
  if (!resolve(world, &made, caller)) {
    return none;
  }
  int32_t slot = pool_alloc(&world->heap, &world->coupling_pool, (void **)&world->couplings,
                            sizeof(coupling), offsetof(coupling, next_free));
  if (slot == NO_SLOT) {
    report(&world->log, TN_LOG_ERROR, "%s: out of memory", caller);
    return none;
  }
  coupling *k = &world->couplings[slot];
  made.generation = k->generation;
  made.alive = true;
  made.direct = NO_SLOT;
  made.target = def->drive.target;
  *k = made;
  measure_coordinates(world, k);
  count_sides(world, k, 1);
  wake_sides(world, k);
  return coupling_id_at(world, slot);
}

static void remove_at(tn_world *world, int32_t slot)
{
  coupling *k = &world->couplings[slot];
  wake_sides(world, k);
  count_sides(world, k, -1);
  k->alive = false;
  k->generation += 1;
  pool_free(&world->coupling_pool, world->couplings, sizeof(coupling),
            offsetof(coupling, next_free), slot);
}

bool tn_coupling_destroy(tn_world *world, tn_coupling_id id)
{
  RECORD(world, tn_coupling_destroy, &id);
  const coupling *k = coupling_find(world, id, "tn_coupling_destroy");
  if (k) {
    remove_at(world, (int32_t)(k - world->couplings));
  }
  return k != NULL;
}

static void remove_with(tn_world *world, int32_t slot, const char *what)
{
  report(&world->log, TN_LOG_WARNING, "coupling %d is destroyed together with its %s", slot, what);
  remove_at(world, slot);
}

void couplings_remove_joint(tn_world *world, int32_t joint_slot)
{
  for (int32_t i = 0; i < world->coupling_pool.used && world->coupling_pool.count > 0; ++i) {
    const coupling *k = &world->couplings[i];
    bool uses = false;
    for (int n = 0; n < k->def.axis_count && k->alive; ++n) {
      uses = uses || k->joint[n] == joint_slot;
    }
    if (uses) {
      remove_with(world, i, "joint");
    }
  }
}

void couplings_remove_body(tn_world *world, int32_t body_slot)
{
  for (int32_t i = 0; i < world->coupling_pool.used && world->bodies[body_slot].coupling_count > 0;
       ++i) {
    const coupling *k = &world->couplings[i];
    bool uses = false;
    for (int32_t n = 0; n < k->side_count && k->alive; ++n) {
      uses = uses || k->side_body[n] == body_slot;
    }
    if (uses) {
      remove_with(world, i, "body");
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Getters and setters

tn_coupling_def tn_coupling_get_def(const tn_world *world, tn_coupling_id id)
{
  const coupling *k = coupling_find(world, id, "tn_coupling_get_def");
  return k ? k->def : (tn_coupling_def){0};
}

bool tn_coupling_set_def(tn_world *world, tn_coupling_id id, const tn_coupling_def *def)
{
  RECORD(world, tn_coupling_set_def, &id, def);
  const char *caller = "tn_coupling_set_def";
  coupling *k = coupling_find(world, id, caller);
  if (!k) {
    return false;
  }
  const char *why = def ? coupling_def_problem(def) : "the definition is null";
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return false;
  }
  coupling made = *k;
  made.def = *def;
  if (!resolve(world, &made, caller)) {
    return false;
  }
  for (int i = 0; i < def->axis_count; ++i) {
    bool same = i < k->def.axis_count && k->joint[i] == made.joint[i] &&
                k->def.axes[i].axis == def->axes[i].axis;
    made.coordinate[i] = same ? k->coordinate[i] : 0.0;
  }
  wake_sides(world, k);
  count_sides(world, k, -1);
  // A drive that was off starts at its target; a running one moves there over the next step.
  made.target = k->def.drive.stiffness > 0.0f ? k->target : def->drive.target;
  *k = made;
  measure_coordinates(world, k);
  count_sides(world, k, 1);
  wake_sides(world, k);
  return true;
}

bool tn_coupling_set_drive(tn_world *world, tn_coupling_id id, tn_coupling_drive drive)
{
  RECORD(world, tn_coupling_set_drive, &id, &drive);
  coupling *k = coupling_find(world, id, "tn_coupling_set_drive");
  const char *why = k ? why_bad_drive(&drive) : NULL;
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_coupling_set_drive: %s", why);
  }
  if (!k || why) {
    return false;
  }
  k->target = k->def.drive.stiffness > 0.0f ? k->target : drive.target;
  k->def.drive = drive;
  wake_sides(world, k);
  return true;
}

tn_coupling_drive tn_coupling_get_drive(const tn_world *world, tn_coupling_id id)
{
  const coupling *k = coupling_find(world, id, "tn_coupling_get_drive");
  return k ? k->def.drive : (tn_coupling_drive){0};
}

bool tn_coupling_set_enabled(tn_world *world, tn_coupling_id id, bool enabled)
{
  RECORD(world, tn_coupling_set_enabled, &id, &enabled);
  coupling *k = coupling_find(world, id, "tn_coupling_set_enabled");
  if (!k) {
    return false;
  }
  if (k->def.enabled != enabled) {
    k->def.enabled = enabled;
    world->joint_layout_stale = true;
    wake_sides(world, k);
  }
  return true;
}

bool tn_coupling_is_enabled(const tn_world *world, tn_coupling_id id)
{
  const coupling *k = coupling_find(world, id, "tn_coupling_is_enabled");
  return k && k->def.enabled;
}

void *tn_coupling_user_data(const tn_world *world, tn_coupling_id id)
{
  const coupling *k = coupling_find(world, id, "tn_coupling_user_data");
  return k ? k->def.user_data : NULL;
}

bool tn_coupling_set_user_data(tn_world *world, tn_coupling_id id, void *data)
{
  coupling *k = coupling_find(world, id, "tn_coupling_set_user_data");
  if (k) {
    k->def.user_data = data;
  }
  return k != NULL;
}

tn_coupling_state tn_coupling_get_state(const tn_world *world, tn_coupling_id id)
{
  tn_coupling_state read = {0};
  const coupling *k = coupling_find(world, id, "tn_coupling_get_state");
  if (k) {
    double gradient[COUPLING_SIDES][6], coordinate[TN_COUPLING_AXES];
    coupling_inputs in = {world->bodies, world->joints, NULL};
    memcpy(coordinate, k->coordinate, sizeof coordinate);
    read.value = coupling_value(k, &in, 0.0, coordinate, gradient);
    read.rate = (float)coupling_rate(k, world->state, gradient);
    read.force = k->force;
    read.drive_force = k->drive_force;
  }
  return read;
}

int tn_world_couplings(const tn_world *world, tn_coupling_id *ids, int capacity)
{
  int count = 0;
  for (int32_t i = 0; world && i < world->coupling_pool.used; ++i) {
    if (world->couplings[i].alive) {
      if (ids && count < capacity) {
        ids[count] = coupling_id_at(world, i);
      }
      count += 1;
    }
  }
  return count;
}
