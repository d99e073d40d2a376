// Joints: definitions, creation and settings. Frames are given in the body's frame and stored
// relative to its centre of mass and principal axes.
#include "data/ids.h"
#include "data/recorder.h"
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
    int32_t capacity = list->capacity > 0 ? 2 * list->capacity : 8;
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

void joints_forget_rates(tn_world *world, int32_t body_slot)
{
  const body *b = &world->bodies[body_slot];
  for (int32_t at = b->first_joint; at != NO_SLOT; at = world->joints[at / 2].next[at % 2]) {
    world->joints[at / 2].rates_stale = true;
  }
}

// Not of disabled joints: those keep nothing, whether or not the layout still has them. Rates must
// not depend on where the layout keeps the impulses, which a restored world does not know.
static void settle_rates(tn_world *world, joint *j)
{
  if (j->block != NO_SLOT) {
    joint_unpack(world, j);
  }
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    float *state = j->axis_state[i / 3][i % 3];
    state[offsetof(AxisState, rate) / sizeof(R)] =
        state[offsetof(AxisState, new_rate) / sizeof(R)] = joint_axis_rate(world, j, i);
  }
  j->rates_stale = false;
  if (j->block != NO_SLOT) {
    joint_pack(world, (int32_t)(j - world->joints));
  }
}

void joints_settle_rates(tn_world *world, int32_t body_slot)
{
  const body *b = &world->bodies[body_slot];
  for (int32_t at = b->first_joint; at != NO_SLOT; at = world->joints[at / 2].next[at % 2]) {
    joint *j = &world->joints[at / 2];
    if (j->rates_stale && j->axis_features != 0 && j->def.enabled) {
      settle_rates(world, j);
    }
  }
}

static bool is_axis(const tn_world *world, tn_joint_axis axis, const char *caller)
{
  bool ok = (int)axis >= 0 && axis < TN_JOINT_AXIS_COUNT;
  if (!ok) {
    report(&world->log, TN_LOG_ERROR, "%s: unknown axis", caller);
  }
  return ok;
}

// Angles begin within half a turn of the middle of their range.
static void start_angles(const tn_world *world, joint *j)
{
  for (int i = 0; i < 2; ++i) {
    tn_range r = j->def.angular[i];
    j->angle[i] = isfinite(r.lo) && isfinite(r.hi) ? 0.5 * ((double)r.lo + (double)r.hi) : 0.0;
  }
  for (int i = 0; i < 2; ++i) {
    if (joint_counts_turns(j->def.kind, TN_ANGULAR_A + i)) {
      j->angle[i] = (double)joint_axis_position(world, j, TN_ANGULAR_A + i);
    }
  }
}

// A servo that is switched on starts at its target, or where the joint stands if its speed is
// limited.
static void start_target(const tn_world *world, joint *j, int axis, const tn_drive *drive)
{
  bool limited = drive->max_speed < INFINITY && drive->stiffness > 0.0f;
  j->target[axis] = limited ? joint_axis_position(world, j, axis) : drive->target;
}

// A running servo moves to a new target from its last one over the next step.
static void change_target(const tn_world *world, joint *j, int axis, const tn_drive *drive)
{
  if (j->def.axis[axis].drive.stiffness == 0.0f) {
    start_target(world, j, axis, drive);
  }
}

tn_joint_id tn_joint_create(tn_world *world, const tn_joint_def *def)
{
  RECORD(world, tn_joint_create, def);
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
  j->rates_stale = true;
  for (int side = 0; side < 2; ++side) {
    j->slot[side] = ends[side];
    link_end(world, slot, side);
  }
  joint_refresh_frames(world, slot);
  joint_note_features(j);
  start_angles(world, j);
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    start_target(world, j, i, &def->axis[i].drive);
  }
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
  RECORD(world, tn_joint_destroy, &id);
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
  uint32_t axes;
  bool enabled, rigid;
} joint_form;

static joint_form form_of(const joint *j)
{
  RowParams params[2];
  joint_params(j, params);
  JointType type = joint_type(j);
  return (joint_form){type,
                      direct_typical_rows(type, params, j->axis_features),
                      direct_row_capacity(type, params, j->axis_features),
                      j->axis_features,
                      j->def.enabled,
                      j->def.compliance == 0.0f};
}

static void update(tn_world *world, joint *j, joint_form old)
{
  int32_t slot = (int32_t)(j - world->joints);
  joint_form now = form_of(j);
  wake_ends(world, j);
  if (now.type != old.type || now.rows != old.rows || now.joint_rows != old.joint_rows ||
      now.axes != old.axes || now.enabled != old.enabled || now.rigid != old.rigid) {
    world->joint_layout_stale = true;
  } else if (j->block != NO_SLOT) {
    joint_unpack(world, j);
    joint_pack(world, slot);
  }
}

bool tn_joint_set_def(tn_world *world, tn_joint_id id, const tn_joint_def *def)
{
  RECORD(world, tn_joint_set_def, &id, def);
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
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    change_target(world, j, i, &def->axis[i].drive);
  }
  j->def = *def;
  j->rates_stale = true;
  joint_note_features(j);
  j->broken = j->broken && !def->enabled;
  joint_refresh_frames(world, (int32_t)(j - world->joints));
  update(world, j, form);
  return true;
}

bool tn_joint_set_drive(tn_world *world, tn_joint_id id, tn_joint_axis axis, tn_drive drive)
{
  RECORD(world, tn_joint_set_drive, &id, &axis, &drive);
  joint *j = joint_find(world, id, "tn_joint_set_drive");
  if (!j || !is_axis(world, axis, "tn_joint_set_drive")) {
    return false;
  }
  tn_axis now = j->def.axis[axis];
  now.drive = drive;
  const char *why = joint_axis_problem(j->def.kind, (int)axis, &now);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_joint_set_drive: %s", why);
    return false;
  }
  joint_form form = form_of(j);
  change_target(world, j, (int)axis, &drive);
  j->def.axis[axis].drive = drive;
  joint_note_features(j);
  update(world, j, form);
  return true;
}

tn_drive tn_joint_drive(const tn_world *world, tn_joint_id id, tn_joint_axis axis)
{
  const joint *j = joint_find(world, id, "tn_joint_drive");
  bool ok = j && is_axis(world, axis, "tn_joint_drive");
  return ok ? j->def.axis[axis].drive : (tn_drive){0};
}

static bool counts_turns(const tn_world *world, const joint *j, tn_joint_axis axis,
                         const char *caller)
{
  if (!is_axis(world, axis, caller)) {
    return false;
  }
  if (!joint_counts_turns(j->def.kind, (int)axis)) {
    report(&world->log, TN_LOG_ERROR, "%s: the axis counts no turns", caller);
    return false;
  }
  return true;
}

bool tn_joint_set_angle(tn_world *world, tn_joint_id id, tn_joint_axis axis, float angle)
{
  RECORD(world, tn_joint_set_angle, &id, &axis, &angle);
  joint *j = joint_find(world, id, "tn_joint_set_angle");
  if (!j || !counts_turns(world, j, axis, "tn_joint_set_angle")) {
    return false;
  }
  if (!(fabsf(angle) <= 1e4f)) {
    report(&world->log, TN_LOG_ERROR, "tn_joint_set_angle: the angle must be within 1e4 rad");
    return false;
  }
  j->angle[axis - TN_ANGULAR_A] = (double)angle;
  j->angle[axis - TN_ANGULAR_A] = (double)joint_axis_position(world, j, (int)axis);
  wake_ends(world, j);
  return true;
}

float tn_joint_angle(const tn_world *world, tn_joint_id id, tn_joint_axis axis)
{
  const joint *j = joint_find(world, id, "tn_joint_angle");
  return j && counts_turns(world, j, axis, "tn_joint_angle")
             ? joint_axis_position(world, j, (int)axis)
             : 0.0f;
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
  RECORD(world, tn_joint_set_enabled, &id, &enabled);
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
  RECORD(world, tn_joint_set_anchor, &id, &position);
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
