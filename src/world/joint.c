// Joints: definitions, creation and settings. Frames are given in the body's frame and stored
// relative to its centre of mass and principal axes.
#include "data/ids.h"
#include "data/wake.h"
#include "data/world.h"
#include "detect/broad_phase.h"
#include "kernel/ranges.h"
#include "solver/joint/joint_layout.h"
#include "solver/solver.h"
#include "world/checks.h"
#include "world/lifetime.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Definitions

static tn_drive no_drive(void)
{
  tn_drive drive = {TN_DRIVE_OFF, 0.0f, 0.0f, 0.0f, 0.0f, INFINITY};
  return drive;
}

tn_joint_def tn_default_joint_def(tn_joint_kind kind)
{
  tn_joint_def def = {0};
  def.kind = kind;
  def.frame_a.q = def.frame_b.q = tn_quat_identity();
  tn_range open = {-INFINITY, INFINITY};
  for (int i = 0; i < 3; ++i) {
    def.linear[i] = def.angular[i] = open;
  }
  if (kind == TN_JOINT_DISTANCE) {
    def.linear[0] = tn_between(0.0f, 0.0f);
  } else if (kind == TN_JOINT_GENERIC) {
    for (int i = 0; i < 3; ++i) {
      def.linear[i] = def.angular[i] = tn_between(0.0f, 0.0f);
    }
  }
  def.swing = INFINITY;
  def.linear_drive = def.angular_drive = no_drive();
  def.break_force = def.break_torque = INFINITY;
  def.enabled = true;
  def.cookie = DEF_COOKIE;
  return def;
}

static bool has_range(tn_joint_kind kind, int angular, int axis)
{
  switch (kind) {
  case TN_JOINT_DISTANCE:
  case TN_JOINT_PRISMATIC:
    return !angular && axis == 0;
  case TN_JOINT_BALL:
  case TN_JOINT_HINGE:
    return angular && axis == 0;
  case TN_JOINT_CYLINDER:
    return axis == 0;
  case TN_JOINT_UNIVERSAL:
    return angular && axis < 2;
  case TN_JOINT_GENERIC:
    return true;
  default:
    return false;
  }
}

static bool can_drive(tn_joint_kind kind, int angular)
{
  return has_range(kind, angular, 0);
}

static bool is_non_negative(float x)
{
  return x >= 0.0f; // false for NaN
}

static bool is_compliance(float x)
{
  return is_non_negative(x) && x <= 1e12f;
}

static const char *why_bad_drive(const tn_drive *drive, bool possible)
{
  if (drive->mode == TN_DRIVE_OFF) {
    return NULL;
  }
  if (drive->mode != TN_DRIVE_TARGET && drive->mode != TN_DRIVE_VELOCITY &&
      drive->mode != TN_DRIVE_FORCE) {
    return "unknown drive mode";
  }
  if (!possible) {
    return "this kind of joint has no free axis for the drive";
  }
  if (!(fabsf(drive->target) <= (float)TN_MAX_DISTANCE) ||
      !(fabsf(drive->velocity) <= TN_MAX_RATE) || !isfinite(drive->force)) {
    return "a drive's target, velocity or force is not finite or too large";
  }
  if (!is_compliance(drive->compliance)) {
    return "a drive's compliance must be from 0 to 1e12";
  }
  if (!is_non_negative(drive->max_force)) {
    return "a drive's max_force must not be negative";
  }
  return NULL;
}

static const char *why_bad_ranges(const tn_joint_def *def)
{
  for (int i = 0; i < 6; ++i) {
    tn_range r = i < 3 ? def->linear[i] : def->angular[i - 3];
    if (!has_range(def->kind, i >= 3, i % 3)) {
      continue;
    }
    if (!(r.lo <= r.hi)) {
      return "a range is reversed or not a number";
    }
    if (r.lo == INFINITY || r.hi == -INFINITY) {
      return "a range lies at infinity";
    }
    bool closed = isfinite(r.lo) && isfinite(r.hi);
    if (i >= 3 && closed && r.hi - r.lo > 2.0f * TN_PI + 1e-5f) {
      return "a range of angles is wider than a turn";
    }
    if (i >= 3 && ((isfinite(r.lo) && fabsf(r.lo) > 2.0f * TN_PI + 1e-5f) ||
                   (isfinite(r.hi) && fabsf(r.hi) > 2.0f * TN_PI + 1e-5f))) {
      return "an angle lies beyond a turn";
    }
  }
  if (def->kind == TN_JOINT_DISTANCE && !(def->linear[0].hi >= 0.0f)) {
    return "a length cannot be negative";
  }
  if (def->kind == TN_JOINT_BALL && !is_non_negative(def->swing)) {
    return "swing must not be negative";
  }
  return NULL;
}

static const char *why_bad_numbers(const tn_joint_def *def)
{
  for (int i = 0; i < 2; ++i) {
    const tn_transform *frame = i == 0 ? &def->frame_a : &def->frame_b;
    if (!is_position(frame->p)) {
      return "a frame's position is not finite or too far away";
    }
    if (!is_rotation(frame->q)) {
      return "a frame's rotation is not a quaternion near unit length";
    }
  }
  if (!is_compliance(def->compliance) || !is_compliance(def->angular_compliance) ||
      !is_compliance(def->limit_compliance) || !is_compliance(def->angular_limit_compliance)) {
    return "compliances must be from 0 to 1e12";
  }
  if (!is_compliance(def->linear_damping) || !is_compliance(def->angular_damping)) {
    return "damping must be from 0 to 1e12";
  }
  if (!is_non_negative(def->linear_friction) || !is_non_negative(def->angular_friction)) {
    return "friction must not be negative";
  }
  if (!is_non_negative(def->break_force) || !is_non_negative(def->break_torque)) {
    return "break limits must not be negative";
  }
  return NULL;
}

const char *joint_def_problem(const tn_joint_def *def)
{
  if (def->cookie != DEF_COOKIE) {
    return "the definition does not come from tn_default_joint_def";
  }
  if ((int)def->kind < 0 || def->kind >= TN_JOINT_KIND_COUNT) {
    return "unknown kind of joint";
  }
  const char *why = why_bad_numbers(def);
  why = why ? why : why_bad_ranges(def);
  why = why ? why : why_bad_drive(&def->linear_drive, can_drive(def->kind, 0));
  return why ? why : why_bad_drive(&def->angular_drive, can_drive(def->kind, 1));
}

// Slot of a joint's body: WORLD_SLOT for a null id, NO_SLOT with the reason logged.
static int32_t find_end(const tn_world *world, tn_body_id id, const char *caller)
{
  if (TN_IS_NULL(id)) {
    return WORLD_SLOT;
  }
  const body *b = body_find(world, id, caller);
  return b ? body_slot(world, b) : NO_SLOT;
}

static tn_pos to_local(const body *b, tn_pos point)
{
  tn_transform t = body_transform_of(b);
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  return dquat_rotate(dquat_conjugate(q), pos_sub(point, t.p));
}

static tn_quat to_local_rotation(const body *b, tn_quat q)
{
  dquat body_q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  return dquat_round(dquat_mul(dquat_conjugate(body_q), dquat_from(q)));
}

static bool set_frames(const tn_world *world, tn_joint_def *def, tn_pos point_a, tn_pos point_b,
                       tn_quat q, const char *caller)
{
  int32_t a = find_end(world, def->body_a, caller);
  int32_t b = find_end(world, def->body_b, caller);
  if (a == NO_SLOT || b == NO_SLOT) {
    return false;
  }
  def->frame_a.p = to_local(&world->bodies[a], point_a);
  def->frame_b.p = to_local(&world->bodies[b], point_b);
  def->frame_a.q = to_local_rotation(&world->bodies[a], q);
  def->frame_b.q = to_local_rotation(&world->bodies[b], q);
  return true;
}

bool tn_joint_def_at(const tn_world *world, tn_joint_def *def, tn_pos point, tn_vec3 axis)
{
  if (!world) {
    return false;
  }
  float length = tn_length(axis);
  if (!def || !is_position(point) || !(length > 0.0f) || !isfinite(length)) {
    report(&world->log, TN_LOG_ERROR,
           "tn_joint_def_at: the point is not finite or the axis is zero");
    return false;
  }
  return set_frames(world, def, point, point, tn_quat_x_to(axis), "tn_joint_def_at");
}

bool tn_joint_def_between(const tn_world *world, tn_joint_def *def, tn_pos point_a, tn_pos point_b)
{
  if (!world) {
    return false;
  }
  if (!def || !is_position(point_a) || !is_position(point_b)) {
    report(&world->log, TN_LOG_ERROR,
           "tn_joint_def_between: a point is not finite or too far away");
    return false;
  }
  tn_vec3 d = tn_between_points(point_a, point_b);
  float length = tn_length(d);
  tn_quat q = length > 0.0f ? tn_quat_x_to(d) : tn_quat_identity();
  if (!set_frames(world, def, point_a, point_b, q, "tn_joint_def_between")) {
    return false;
  }
  if (def->kind == TN_JOINT_DISTANCE) {
    def->linear[0] = tn_between(length, length);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Create and destroy

static void link_end(tn_world *world, int32_t slot, int side)
{
  joint *j = &world->joints[slot];
  body *b = &world->bodies[j->slot[side]];
  j->previous[side] = NO_SLOT;
  j->next[side] = b->first_joint;
  if (b->first_joint != NO_SLOT) {
    world->joints[b->first_joint / 2].previous[b->first_joint % 2] = slot * 2 + side;
  }
  b->first_joint = slot * 2 + side;
  b->joint_count += 1;
  world->material_version += 1;
}

static void unlink_end(tn_world *world, int32_t slot, int side)
{
  joint *j = &world->joints[slot];
  body *b = &world->bodies[j->slot[side]];
  int32_t next = j->next[side];
  int32_t previous = j->previous[side];
  if (next != NO_SLOT) {
    world->joints[next / 2].previous[next % 2] = previous;
  }
  if (previous != NO_SLOT) {
    world->joints[previous / 2].next[previous % 2] = next;
  } else {
    b->first_joint = next;
  }
  b->joint_count -= 1;
  world->material_version += 1;
}

void joint_refresh_frames(tn_world *world, int32_t slot)
{
  joint *j = &world->joints[slot];
  for (int side = 0; side < 2; ++side) {
    const body *b = &world->bodies[j->slot[side]];
    const tn_transform *frame = side == 0 ? &j->def.frame_a : &j->def.frame_b;
    dquat to_principal = dquat_conjugate(b->local_principal);
    j->frame_point[side] = dquat_rotate(to_principal, pos_sub(frame->p, b->local_center));
    j->frame_rotation[side] = dquat_mul(to_principal, dquat_normalize(dquat_from(frame->q)));
  }
}

static int32_t take_slot(tn_world *world)
{
  pool *list = &world->joint_pool;
  if (list->first_free != NO_SLOT) {
    int32_t slot = list->first_free;
    list->first_free = world->joints[slot].next_free;
    return slot;
  }
  if (list->used == list->capacity) {
    int32_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
    if (!heap_grow(&world->heap, (void **)&world->joints, list->used, list->capacity, capacity,
                   sizeof(joint))) {
      return NO_SLOT;
    }
    list->capacity = capacity;
  }
  return list->used++;
}

// Slots of the two bodies; false with the reason logged.
static bool find_ends(tn_world *world, const tn_joint_def *def, int32_t ends[2])
{
  ends[0] = find_end(world, def->body_a, "tn_joint_create");
  ends[1] = find_end(world, def->body_b, "tn_joint_create");
  if (ends[0] == NO_SLOT || ends[1] == NO_SLOT) {
    return false;
  }
  if (ends[0] == ends[1]) {
    report(&world->log, TN_LOG_ERROR, "tn_joint_create: a body cannot be joined to itself");
    return false;
  }
  return true;
}

// Wakes both bodies. Their pairs are searched again, because a joint may disable contacts between
// them.
static void wake_ends(tn_world *world, const joint *j)
{
  for (int side = 0; side < 2; ++side) {
    body_wake(world, j->slot[side]);
    for (int32_t i = world->bodies[j->slot[side]].first_shape;
         i != NO_SLOT && j->slot[side] != WORLD_SLOT; i = world->shapes[i].next) {
      shape_invalidate_pairs(world, i);
    }
  }
}

tn_joint_id tn_joint_create(tn_world *world, const tn_joint_def *def)
{
  tn_joint_id null = {0};
  int32_t ends[2];
  if (!world) {
    return null;
  }
  const char *why = def ? joint_def_problem(def) : "the definition is null";
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_joint_create: %s", why);
    return null;
  }
  if (!find_ends(world, def, ends)) {
    return null;
  }
  int32_t slot = take_slot(world);
  if (slot == NO_SLOT) {
    report(&world->log, TN_LOG_ERROR, "tn_joint_create: out of memory");
    return null;
  }
  joint *j = &world->joints[slot];
  uint32_t generation = j->generation;
  memset(j, 0, sizeof *j);
  j->generation = generation;
  j->alive = true;
  j->def = *def;
  j->block = j->direct = NO_SLOT;
  j->target[0] = def->linear_drive.target;
  j->target[1] = def->angular_drive.target;
  for (int side = 0; side < 2; ++side) {
    j->slot[side] = ends[side];
    link_end(world, slot, side);
  }
  joint_refresh_frames(world, slot);
  world->joint_pool.count += 1;
  world->joint_layout_stale = true;
  wake_ends(world, j);
  return joint_id_at(world, slot);
}

void joint_remove(tn_world *world, int32_t slot)
{
  joint *j = &world->joints[slot];
  couplings_remove_joint(world, slot);
  wake_ends(world, j);
  unlink_end(world, slot, 0);
  unlink_end(world, slot, 1);
  if (j->block != NO_SLOT) {
    world->solver->joint_graph.blocks[j->block].joint[j->lane] = NO_SLOT;
  }
  j->alive = false;
  j->generation += 1;
  j->next_free = world->joint_pool.first_free;
  world->joint_pool.first_free = slot;
  world->joint_pool.count -= 1;
  world->joint_layout_stale = true;
}

bool tn_joint_destroy(tn_world *world, tn_joint_id id)
{
  joint *j = joint_find(world, id, "tn_joint_destroy");
  if (j) {
    joint_remove(world, (int32_t)(j - world->joints));
  }
  return j != NULL;
}

// ---------------------------------------------------------------------------------------------
// Getters and setters

tn_joint_def tn_joint_get_def(const tn_world *world, tn_joint_id id)
{
  const joint *j = joint_find(world, id, "tn_joint_get_def");
  return j ? j->def : (tn_joint_def){0};
}

// What the layout of the joint graph depends on. A change rebuilds the graph, so that it always
// equals the one that a restored world builds from the same joints.
typedef struct joint_form {
  JointType type;
  int rows, joint_rows;
  bool enabled, rigid;
} joint_form;

static joint_form form_of(const joint *j)
{
  RowParams params[2];
  joint_params(j, params);
  JointType type = joint_type(j);
  return (joint_form){type, direct_typical_rows(type, params), direct_row_capacity(type, params),
                      j->def.enabled, j->def.compliance == 0.0f};
}

static void update(tn_world *world, joint *j, joint_form old)
{
  int32_t slot = (int32_t)(j - world->joints);
  joint_form now = form_of(j);
  wake_ends(world, j);
  if (now.type != old.type || now.rows != old.rows || now.joint_rows != old.joint_rows ||
      now.enabled != old.enabled || now.rigid != old.rigid) {
    world->joint_layout_stale = true;
  } else if (j->block != NO_SLOT) {
    joint_unpack(world, j);
    joint_pack(world, slot);
  }
}

// A servo that is switched on starts at its target; a running one moves there from its last target
// over the next step.
static void start_target(joint *j, int angular, const tn_drive *drive)
{
  const tn_drive *now = angular ? &j->def.angular_drive : &j->def.linear_drive;
  if (now->mode != TN_DRIVE_TARGET) {
    j->target[angular] = drive->target;
  }
}

bool tn_joint_set_def(tn_world *world, tn_joint_id id, const tn_joint_def *def)
{
  joint *j = joint_find(world, id, "tn_joint_set_def");
  if (!j) {
    return false;
  }
  const char *why = def ? joint_def_problem(def) : "the definition is null";
  if (!why && (def->kind != j->def.kind || !TN_SAME_ID(def->body_a, j->def.body_a) ||
               !TN_SAME_ID(def->body_b, j->def.body_b))) {
    why = "kind and bodies of a joint cannot change";
  }
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_joint_set_def: %s", why);
    return false;
  }
  joint_form form = form_of(j);
  start_target(j, 0, &def->linear_drive);
  start_target(j, 1, &def->angular_drive);
  j->def = *def;
  j->broken = j->broken && !def->enabled;
  joint_refresh_frames(world, (int32_t)(j - world->joints));
  update(world, j, form);
  return true;
}

static bool set_drive(tn_world *world, tn_joint_id id, int angular, tn_drive drive,
                      const char *caller)
{
  joint *j = joint_find(world, id, caller);
  if (!j) {
    return false;
  }
  const char *why = why_bad_drive(&drive, can_drive(j->def.kind, angular));
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return false;
  }
  tn_drive *to = angular ? &j->def.angular_drive : &j->def.linear_drive;
  start_target(j, angular, &drive);
  joint_form form = form_of(j);
  *to = drive;
  update(world, j, form);
  return true;
}

bool tn_joint_set_linear_drive(tn_world *world, tn_joint_id id, tn_drive drive)
{
  return set_drive(world, id, 0, drive, "tn_joint_set_linear_drive");
}

bool tn_joint_set_angular_drive(tn_world *world, tn_joint_id id, tn_drive drive)
{
  return set_drive(world, id, 1, drive, "tn_joint_set_angular_drive");
}

tn_drive tn_joint_linear_drive(const tn_world *world, tn_joint_id id)
{
  const joint *j = joint_find(world, id, "tn_joint_linear_drive");
  return j ? j->def.linear_drive : (tn_drive){0};
}

tn_drive tn_joint_angular_drive(const tn_world *world, tn_joint_id id)
{
  const joint *j = joint_find(world, id, "tn_joint_angular_drive");
  return j ? j->def.angular_drive : (tn_drive){0};
}

bool tn_joint_is_enabled(const tn_world *world, tn_joint_id id)
{
  const joint *j = joint_find(world, id, "tn_joint_is_enabled");
  return j && j->def.enabled;
}

void *tn_joint_user_data(const tn_world *world, tn_joint_id id)
{
  const joint *j = joint_find(world, id, "tn_joint_user_data");
  return j ? j->def.user_data : NULL;
}

bool tn_joint_set_user_data(tn_world *world, tn_joint_id id, void *data)
{
  joint *j = joint_find(world, id, "tn_joint_set_user_data");
  if (j) {
    j->def.user_data = data;
  }
  return j != NULL;
}

bool tn_joint_set_enabled(tn_world *world, tn_joint_id id, bool enabled)
{
  joint *j = joint_find(world, id, "tn_joint_set_enabled");
  if (!j) {
    return false;
  }
  joint_form form = form_of(j);
  j->def.enabled = enabled;
  j->broken = j->broken && !enabled;
  update(world, j, form);
  return true;
}

// The frame that is fixed to the world, or null with the reason logged.
static tn_transform *world_frame(const tn_world *world, joint *j, const char *caller)
{
  if (j->slot[0] != WORLD_SLOT && j->slot[1] != WORLD_SLOT) {
    report(&world->log, TN_LOG_ERROR, "%s: no end of the joint is fixed to the world", caller);
    return NULL;
  }
  return j->slot[0] == WORLD_SLOT ? &j->def.frame_a : &j->def.frame_b;
}

tn_pos tn_joint_anchor(const tn_world *world, tn_joint_id id)
{
  joint *j = joint_find(world, id, "tn_joint_anchor");
  const tn_transform *frame = j ? world_frame(world, j, "tn_joint_anchor") : NULL;
  return frame ? frame->p : tn_p3(0.0, 0.0, 0.0);
}

bool tn_joint_set_anchor(tn_world *world, tn_joint_id id, tn_pos position)
{
  joint *j = joint_find(world, id, "tn_joint_set_anchor");
  tn_transform *frame = j ? world_frame(world, j, "tn_joint_set_anchor") : NULL;
  if (!frame) {
    return false;
  }
  if (!is_position(position)) {
    report(&world->log, TN_LOG_ERROR,
           "tn_joint_set_anchor: the position is not finite or too far away");
    return false;
  }
  body_wake(world, j->slot[0]);
  body_wake(world, j->slot[1]);
  frame->p = position;
  joint_refresh_frames(world, (int32_t)(j - world->joints));
  return true;
}
