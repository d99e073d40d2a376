// Rigid bodies: creation, state and the interface to the solver.
//
// A body stores the pose of its centre of mass and principal axes in double (`body`). The solver's
// view in float (body_state, body_inertia, body_block) is derived from it by body_sync_solver().
#include "collide/mass.h"
#include "data/events.h"
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "kernel/ranges.h"
#include "world/body_write.h"
#include "world/checks.h"
#include "world/lifetime.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Helpers

static V from_vec3(tn_vec3 v)
{
  return v_make(v.x, v.y, v.z);
}

static void set_array(float *to, V v)
{
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
}

static tn_vec3 to_vec3(const float *v)
{
  return tn_v3(v[0], v[1], v[2]);
}

// ---------------------------------------------------------------------------------------------
// Create and destroy

tn_body_def tn_default_body_def(void)
{
  tn_body_def def = {0};
  def.type = TN_BODY_DYNAMIC;
  def.rotation = tn_quat_identity();
  def.gravity_scale = 1.0f;
  def.max_speed = 1000.0f;
  def.max_angular_speed = 1000.0f;
  def.can_sleep = true;
  def.cookie = DEF_COOKIE;
  return def;
}

static bool is_between(float x, float lo, float hi)
{
  return x >= lo && x <= hi; // false for NaN
}

const char *mass_problem(const tn_mass *mass)
{
  if (!(mass->mass > 0.0f) || !isfinite(mass->mass)) {
    return "mass must be positive and finite";
  }
  if (!is_offset(mass->center)) {
    return "the centre of mass is not finite or too far away";
  }
  if (!isfinite(1.0f / mass->mass)) {
    return "mass is too small";
  }
  if (!mass_is_physical(mass)) {
    return "inertia must be positive, finite and obey the triangle inequality";
  }
  double moments[3], rotation[4];
  mass_principal(mass->inertia, moments, rotation);
  return isfinite((float)(1.0 / moments[0])) ? NULL : "inertia is too small";
}

static const char *body_def_error(const tn_body_def *def)
{
  if (def->cookie != DEF_COOKIE) {
    return "the definition does not come from tn_default_body_def";
  }
  if (def->type != TN_BODY_STATIC && def->type != TN_BODY_KINEMATIC &&
      def->type != TN_BODY_DYNAMIC) {
    return "unknown body type";
  }
  if (!is_position(def->position)) {
    return "position is not finite or too far away";
  }
  if (!is_rotation(def->rotation)) {
    return "rotation is not a quaternion near unit length";
  }
  if (!is_rate(def->velocity) || !is_rate(def->angular_velocity)) {
    return "velocity is not finite or too large";
  }
  if (!is_between(def->gravity_scale, -1e6f, 1e6f)) {
    return "gravity_scale must be from -1e6 to 1e6";
  }
  if (!is_between(def->linear_damping, 0.0f, 1e6f) ||
      !is_between(def->angular_damping, 0.0f, 1e6f)) {
    return "damping must be from 0 to 1e6";
  }
  if (!is_between(def->max_speed, 0.0f, 3e38f) ||
      !is_between(def->max_angular_speed, 0.0f, 3e38f)) {
    return "speed limits must be non-negative and finite";
  }
  const char *why = mass_is_given(&def->mass) ? mass_problem(&def->mass) : NULL;
  if (why) {
    return def->type == TN_BODY_DYNAMIC ? why : NULL;
  }
  tn_pos center = tn_offset(def->position, tn_rotate(def->rotation, def->mass.center));
  return is_position(center) ? NULL : "the centre of mass is too far away";
}

// All arrays grow together or not at all.
bool body_reserve(tn_world *world, int32_t wanted)
{
  int32_t old = world->body_pool.capacity;
  if (wanted <= old) {
    return true;
  }
  int32_t capacity = old > 0 ? 2 * old : 2 * BLOCK_WIDTH;
  while (capacity < wanted) {
    capacity *= 2;
  }
  int32_t blocks = capacity / BLOCK_WIDTH;
  size_t sizes[5] = {sizeof(body), sizeof(body_state), sizeof(body_inertia),
                     sizeof(body_correction), sizeof(body_block)};
  int32_t counts[5] = {capacity, capacity, capacity, capacity, blocks};
  int32_t old_counts[5] = {old, old, old, old, old / BLOCK_WIDTH};
  void **arrays[5] = {(void **)&world->bodies, (void **)&world->state, (void **)&world->inertia,
                      (void **)&world->corrections, (void **)&world->body_blocks};
  void *grown[5];
  for (int i = 0; i < 5; ++i) {
    grown[i] = heap_alloc(&world->heap, (size_t)counts[i] * sizes[i]);
    if (!grown[i]) {
      for (int k = 0; k < i; ++k) {
        heap_free(&world->heap, grown[k], (size_t)counts[k] * sizes[k]);
      }
      return false;
    }
  }
  for (int i = 0; i < 5; ++i) {
    if (*arrays[i]) {
      memcpy(grown[i], *arrays[i], (size_t)old_counts[i] * sizes[i]);
      heap_free(&world->heap, *arrays[i], (size_t)old_counts[i] * sizes[i]);
    }
    *arrays[i] = grown[i];
  }
  world->body_pool.capacity = capacity;
  body_clear_slots(world, old, capacity);
  return true;
}

// `name` may be the body's own.
void body_set_name(body *b, const char *name)
{
  char copy[NAME_SIZE] = {0};
  if (name) {
    strncpy(copy, name, sizeof copy - 1);
  }
  memcpy(b->name, copy, sizeof copy);
}

static void set_pose(body *b, tn_pos position, dquat q)
{
  b->rotation = dquat_mul(q, b->local_principal);
  b->center = pos_add(position, dquat_rotate(q, b->local_center));
}

static void set_mass(body *b, tn_mass mass)
{
  double q[4] = {0.0, 0.0, 0.0, 1.0};
  mass_principal(mass.inertia, b->moments, q);
  b->local_principal = (dquat){q[0], q[1], q[2], q[3]};
  b->local_center = tn_p3((double)mass.center.x, (double)mass.center.y, (double)mass.center.z);
  b->mass = mass;
}

static void fill_body(body *b, const tn_body_def *def)
{
  uint32_t generation = b->generation;
  memset(b, 0, sizeof *b);
  b->generation = generation;
  b->alive = true;
  b->type = def->type;
  b->local_principal = (dquat){0.0, 0.0, 0.0, 1.0};
  if (!mass_problem(&def->mass)) {
    set_mass(b, def->mass);
  } else {
    b->mass_from_shapes = true;
    if (def->type == TN_BODY_DYNAMIC) {
      set_mass(b, body_default_mass());
    }
  }
  set_pose(b, def->position, dquat_normalize(dquat_from(def->rotation)));
  b->gravity_scale = def->gravity_scale;
  b->linear_damping = def->linear_damping;
  b->angular_damping = def->angular_damping;
  b->max_speed = def->max_speed;
  b->max_angular_speed = def->max_angular_speed;
  b->can_sleep = def->can_sleep;
  b->bullet = def->bullet;
  b->first_shape = NO_SLOT;
  b->first_joint = NO_SLOT;
  b->user_data = def->user_data;
  body_set_name(b, def->name);
}

static int32_t alloc_body_slot(tn_world *world)
{
  pool *list = &world->body_pool;
  if (list->first_free != NO_SLOT) {
    int32_t slot = list->first_free;
    list->first_free = world->bodies[slot].next_free;
    return slot;
  }
  if (!body_reserve(world, list->used + 1)) {
    return NO_SLOT;
  }
  return list->used++;
}

static void init_body(tn_world *world, int32_t slot, const tn_body_def *def)
{
  fill_body(&world->bodies[slot], def);
  body_state *state = &world->state[slot];
  memset(state, 0, sizeof *state);
  state->constraint_count = 1.0f;
  if (def->type != TN_BODY_STATIC) {
    set_array(state->v, from_vec3(def->velocity));
    set_array(state->w, from_vec3(def->angular_velocity));
  }
  body_sync_solver(world, slot);
  if (def->type != TN_BODY_STATIC) {
    awake_list_note(world, slot);
  }
}

void body_create_static_world(tn_world *world)
{
  tn_body_def def = tn_default_body_def();
  def.type = TN_BODY_STATIC;
  def.mass = (tn_mass){0};
  world->body_pool.used = 1;
  init_body(world, WORLD_SLOT, &def);
}

tn_body_id tn_body_create(tn_world *world, const tn_body_def *def)
{
  RECORD(world, tn_body_create, def);
  tn_body_id null = {0};
  if (!world) {
    return null;
  }
  const char *why = def ? body_def_error(def) : "the definition is null";
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_body_create: %s", why);
    return null;
  }
  int32_t slot = alloc_body_slot(world);
  if (slot == NO_SLOT) {
    report(&world->log, TN_LOG_ERROR, "tn_body_create: out of memory");
    return null;
  }
  world->body_pool.count += 1;
  init_body(world, slot, def);
  return body_id_at(world, slot);
}

bool tn_body_destroy(tn_world *world, tn_body_id id)
{
  RECORD(world, tn_body_destroy, &id);
  body *b = body_find(world, id, "tn_body_destroy");
  if (!b) {
    return false;
  }
  int32_t slot = body_slot(world, b);
  body_wake(world, slot);
  couplings_remove_body(world, slot);
  while (b->first_joint != NO_SLOT) {
    joint_remove(world, b->first_joint / 2);
  }
  while (b->first_shape != NO_SLOT) {
    shape_remove(world, b->first_shape);
  }
  attachments_remove_body(world, slot);
  sleep_events_remove_of(world, slot);
  awake_list_note(world, slot);
  b->type = TN_BODY_STATIC;
  body_sync_solver(world, slot);
  b->alive = false;
  b->generation += 1;
  b->next_free = world->body_pool.first_free;
  world->body_pool.first_free = slot;
  world->body_pool.count -= 1;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Getters and setters

tn_transform tn_body_transform(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_transform");
  tn_transform none = {{0.0, 0.0, 0.0}, tn_quat_identity()};
  return b ? body_transform_of(b) : none;
}

tn_pos tn_body_position(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_position");
  return b ? body_transform_of(b).p : tn_p3(0.0, 0.0, 0.0);
}

tn_quat tn_body_rotation(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_rotation");
  return b ? body_transform_of(b).q : tn_quat_identity();
}

tn_pos tn_body_center(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_center");
  return b ? b->center : tn_p3(0.0, 0.0, 0.0);
}

static bool is_point(const tn_world *world, bool in_range, const char *caller)
{
  if (!in_range) {
    report(&world->log, TN_LOG_ERROR, "%s: the point is not finite or too far away", caller);
  }
  return in_range;
}

tn_pos tn_body_world_point(const tn_world *world, tn_body_id id, tn_vec3 local)
{
  const body *b = body_find(world, id, "tn_body_world_point");
  if (!b || !is_point(world, is_offset(local), "tn_body_world_point")) {
    return tn_p3(0.0, 0.0, 0.0);
  }
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  tn_pos from_center =
      pos_sub(tn_p3((double)local.x, (double)local.y, (double)local.z), b->local_center);
  return pos_add(b->center, dquat_rotate(q, from_center));
}

tn_vec3 tn_body_point_velocity(const tn_world *world, tn_body_id id, tn_pos point)
{
  const body *b = body_find(world, id, "tn_body_point_velocity");
  if (!b || !is_point(world, is_position(point), "tn_body_point_velocity")) {
    return tn_v3(0.0f, 0.0f, 0.0f);
  }
  const body_state *state = &world->state[body_slot(world, b)];
  tn_vec3 lever = tn_between_points(b->center, point);
  return tn_add(to_vec3(state->v), tn_cross(to_vec3(state->w), lever));
}

tn_body_type tn_body_get_type(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_get_type");
  return b ? b->type : TN_BODY_STATIC;
}

static bool reject(const tn_world *world, const char *caller, const char *why)
{
  report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  return false;
}

static bool has_unmovable_shape(const tn_world *world, const body *b)
{
  for (int32_t i = b->first_shape; i != NO_SLOT; i = world->shapes[i].next) {
    if (!shape_can_be_dynamic(&world->shapes[i])) {
      return true;
    }
  }
  return false;
}

bool tn_body_set_type(tn_world *world, tn_body_id id, tn_body_type type)
{
  RECORD(world, tn_body_set_type, &id, &type);
  body *b = body_find(world, id, "tn_body_set_type");
  if (!b) {
    return false;
  }
  if (type != TN_BODY_STATIC && type != TN_BODY_KINEMATIC && type != TN_BODY_DYNAMIC) {
    return reject(world, "tn_body_set_type", "unknown body type");
  }
  if (type == TN_BODY_DYNAMIC && !b->mass_from_shapes && mass_problem(&b->mass)) {
    return reject(world, "tn_body_set_type", mass_problem(&b->mass)); // of a restored world
  }
  if (type == TN_BODY_DYNAMIC && has_unmovable_shape(world, b)) {
    return reject(world, "tn_body_set_type", "the body has a shape that cannot move");
  }
  int32_t slot = body_slot(world, b);
  body_wake(world, slot);
  if (type != TN_BODY_DYNAMIC) {
    b->force = b->torque = tn_v3(0.0f, 0.0f, 0.0f);
  }
  b->type = type;
  b->has_target = false;
  body_mass_refresh(world, slot);
  body_sync_solver(world, slot);
  world->joint_layout_stale = true; // the layout depends on which bodies are dynamic
  world->material_version += 1;     // so do contact_params of bodies with joints
  awake_list_note(world, slot);
  if (!shapes_refresh(world, slot)) {
    return reject(world, "tn_body_set_type", "out of memory");
  }
  return true;
}

const char *body_pose_problem(const body *b, tn_pos position, dquat rotation)
{
  if (!is_position(position) || !is_rotation(dquat_round(rotation))) {
    return "the transform is not finite, too far away or not a rotation";
  }
  tn_pos center = pos_add(position, dquat_rotate(dquat_normalize(rotation), b->local_center));
  return is_position(center) ? NULL : "the centre of mass is too far away";
}

bool body_move(tn_world *world, int32_t slot, tn_pos position, dquat rotation)
{
  body_wake(world, slot);
  set_pose(&world->bodies[slot], position, dquat_normalize(rotation));
  body_sync_solver(world, slot);
  return shapes_refresh(world, slot);
}

bool tn_body_set_transform(tn_world *world, tn_body_id id, tn_transform transform)
{
  RECORD(world, tn_body_set_transform, &id, &transform);
  body *b = body_find(world, id, "tn_body_set_transform");
  if (!b) {
    return false;
  }
  const char *why = body_pose_problem(b, transform.p, dquat_from(transform.q));
  if (why) {
    return reject(world, "tn_body_set_transform", why);
  }
  if (!body_move(world, body_slot(world, b), transform.p, dquat_from(transform.q))) {
    return reject(world, "tn_body_set_transform", "out of memory");
  }
  return true;
}

tn_vec3 tn_body_velocity(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_velocity");
  return b ? to_vec3(world->state[body_slot(world, b)].v) : tn_v3(0.0f, 0.0f, 0.0f);
}

tn_vec3 tn_body_angular_velocity(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_angular_velocity");
  return b ? to_vec3(world->state[body_slot(world, b)].w) : tn_v3(0.0f, 0.0f, 0.0f);
}

bool tn_body_move_to(tn_world *world, tn_body_id id, tn_transform target)
{
  RECORD(world, tn_body_move_to, &id, &target);
  body *b = body_find(world, id, "tn_body_move_to");
  if (!b) {
    return false;
  }
  if (b->type != TN_BODY_KINEMATIC) {
    return reject(world, "tn_body_move_to", "the body is not kinematic");
  }
  if (body_pose_problem(b, target.p, dquat_from(target.q))) {
    return reject(world, "tn_body_move_to",
                  "the target is not finite, too far away or not a rotation");
  }
  b->target = target;
  b->has_target = true;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Definitions

tn_body_def tn_body_get_def(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_get_def");
  if (!b) {
    return (tn_body_def){0};
  }
  const body_state *state = &world->state[body_slot(world, b)];
  tn_transform at = body_transform_of(b);
  tn_body_def def = tn_default_body_def();
  def.type = b->type;
  def.position = at.p;
  def.rotation = at.q;
  def.velocity = to_vec3(state->v);
  def.angular_velocity = to_vec3(state->w);
  def.mass = b->mass_from_shapes ? (tn_mass){0} : b->mass;
  def.gravity_scale = b->gravity_scale;
  def.linear_damping = b->linear_damping;
  def.angular_damping = b->angular_damping;
  def.max_speed = b->max_speed;
  def.max_angular_speed = b->max_angular_speed;
  def.can_sleep = b->can_sleep;
  def.bullet = b->bullet;
  def.user_data = b->user_data;
  def.name = b->name;
  return def;
}

static bool same_transform(tn_transform a, tn_transform b)
{
  return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && a.q.x == b.q.x && a.q.y == b.q.y &&
         a.q.z == b.q.z && a.q.w == b.q.w;
}

// A pose that is given as tn_body_get_def() rounded it stays as it is in double.
static bool set_body_pose(tn_world *world, tn_body_id id, const body *b, tn_transform to)
{
  return same_transform(body_transform_of(b), to) || tn_body_set_transform(world, id, to);
}

// A mass that is not given, or that a body which is not dynamic cannot have, is that of the shapes.
static bool set_body_mass(tn_world *world, tn_body_id id, body *b, tn_mass mass)
{
  if (mass_problem(&mass)) {
    bool was_given = !b->mass_from_shapes;
    b->mass_from_shapes = true;
    if (was_given) {
      body_mass_refresh(world, body_slot(world, b));
    }
    return true;
  }
  bool same = !b->mass_from_shapes && memcmp(&mass, &b->mass, sizeof mass) == 0;
  return same || tn_body_set_mass(world, id, mass);
}

// An angular velocity that does not change leaves the angular momentum as it is, to the bit.
static void set_body_velocity(tn_world *world, int32_t slot, const tn_body_def *def)
{
  body_state *state = &world->state[slot];
  joints_forget_rates(world, slot);
  set_array(state->v, from_vec3(def->velocity));
  if (memcmp(state->w, &def->angular_velocity, sizeof state->w) != 0) {
    set_array(state->w, from_vec3(def->angular_velocity));
    body_sync_solver(world, slot);
  }
}

bool tn_body_set_def(tn_world *world, tn_body_id id, const tn_body_def *def)
{
  RECORD(world, tn_body_set_def, &id, def);
  body *b = body_find(world, id, "tn_body_set_def");
  if (!b) {
    return false;
  }
  const char *why = def ? body_def_error(def) : "the definition is null";
  if (!why && def->type == TN_BODY_DYNAMIC && has_unmovable_shape(world, b)) {
    why = "the body has a shape that cannot move";
  }
  if (why) {
    return reject(world, "tn_body_set_def", why);
  }
  int32_t slot = body_slot(world, b);
  tn_transform to = {def->position, def->rotation};
  body_wake(world, slot);
  RECORD_PAUSE(world);
  bool ok = set_body_mass(world, id, b, def->mass);
  if (def->type != b->type) {
    ok = tn_body_set_type(world, id, def->type) && ok;
  }
  ok = set_body_pose(world, id, b, to) && ok;
  if (def->type != TN_BODY_STATIC) {
    set_body_velocity(world, slot, def);
  }
  b->gravity_scale = def->gravity_scale;
  b->linear_damping = def->linear_damping;
  b->angular_damping = def->angular_damping;
  b->max_speed = def->max_speed;
  b->max_angular_speed = def->max_angular_speed;
  b->can_sleep = def->can_sleep;
  b->bullet = def->bullet;
  b->user_data = def->user_data;
  body_set_name(b, def->name);
  RECORD_RESUME(world);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Mass and joints

// False, with nothing changed, if the mass is invalid, its centre out of range or out of memory.
bool body_apply_mass(tn_world *world, int32_t slot, tn_mass mass)
{
  body *b = &world->bodies[slot];
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  tn_pos origin = pos_sub(b->center, dquat_rotate(q, b->local_center));
  if (mass_problem(&mass) ||
      !is_position(tn_offset(origin, tn_rotate(dquat_round(q), mass.center)))) {
    return false;
  }
  body_wake(world, slot);
  set_mass(b, mass);
  set_pose(b, origin, q);
  body_sync_solver(world, slot);
  bool ok = shapes_refresh(world, slot);
  for (int32_t link = b->first_joint; link != NO_SLOT;
       link = world->joints[link / 2].next[link % 2]) {
    joint_refresh_frames(world, link / 2);
  }
  return ok;
}

int tn_body_joints(const tn_world *world, tn_body_id id, tn_joint_id *ids, int capacity)
{
  const body *b = body_find(world, id, "tn_body_joints");
  if (!b) {
    return 0;
  }
  int count = 0;
  for (int32_t link = b->first_joint; link != NO_SLOT;
       link = world->joints[link / 2].next[link % 2]) {
    if (ids && count < capacity) {
      ids[count] = joint_id_at(world, link / 2);
    }
    count += 1;
  }
  return count;
}
