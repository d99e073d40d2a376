#include "build.h"

#include "record.h"

#include <stdlib.h>
#include <string.h>

double scene_value(const scene_run *run, const char *name)
{
  for (int i = 0; i < SCENE_MAX_PARAMETERS && run->scene->parameters[i].name; ++i) {
    if (strcmp(run->scene->parameters[i].name, name) == 0) {
      return run->settings.value[i];
    }
  }
  return 0.0;
}

void scene_set_gravity(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, -SCENE_GRAVITY, 0.0f));
}

bool scene_grow(void **items, int count, int *capacity, size_t size)
{
  if (count < *capacity) {
    return true;
  }
  int wanted = *capacity > 0 ? 2 * *capacity : 16;
  void *grown = realloc(*items, (size_t)wanted * size);
  if (!grown) {
    return false;
  }
  *items = grown;
  *capacity = wanted;
  return true;
}

// Creates every body of a scene.
static tn_body_id make_body(scene_run *run, const tn_body_def *def, bool scenery)
{
  if (run->failed) {
    return SCENE_WORLD; // an earlier failure was already reported
  }
  tn_body_id id = tn_body_create(run->world, def);
  run->failed = TN_IS_NULL(id) || !record_body(run->record, def, scenery);
  return id;
}

tn_body_id scene_add_scenery(scene_run *run, const tn_body_def *def)
{
  return make_body(run, def, true);
}

// Lists a body of the world among those of the run.
static void list_body(scene_run *run, tn_body_id id, const tn_body_def *def)
{
  void *bodies = run->bodies;
  if (run->failed || !scene_grow(&bodies, run->body_count, &run->body_capacity, sizeof id)) {
    run->failed = true;
    return;
  }
  run->bodies = bodies;
  run->bodies[run->body_count++] = id;
  if (def->type == TN_BODY_DYNAMIC) {
    run->weighing_mass += (double)def->mass.mass * (double)def->gravity_scale;
    run->has_drag = run->has_drag || def->linear_damping > 0.0f;
  }
}

tn_body_id scene_add_body(scene_run *run, const tn_body_def *def)
{
  tn_body_id id = make_body(run, def, false);
  list_body(run, id, def);
  return id;
}

bool scene_moves(const scene_run *run, tn_body_id id)
{
  return !TN_IS_NULL(id) && tn_body_get_type(run->world, id) == TN_BODY_DYNAMIC;
}

static scene_joint_role role_of(const scene_run *run, const tn_joint_def *def)
{
  scene_joint_role role;
  bool a = scene_moves(run, def->body_a);
  bool b = scene_moves(run, def->body_b);
  role.pull = (signed char)(b - a);
  role.rigid = def->compliance == 0.0f && def->limit_compliance == 0.0f;
  role.angular_rigid = def->angular_compliance == 0.0f && def->angular_limit_compliance == 0.0f;
  return role;
}

// Lists a joint of the world among those of the run.
static void list_joint(scene_run *run, tn_joint_id id, const tn_joint_def *def)
{
  void *joints = run->joints;
  void *roles = run->roles;
  int role_capacity = run->joint_capacity;
  bool has_room = scene_grow(&joints, run->joint_count, &run->joint_capacity, sizeof id);
  run->joints = joints;
  has_room = has_room && scene_grow(&roles, run->joint_count, &role_capacity, sizeof *run->roles);
  run->roles = roles;
  if (TN_IS_NULL(id) || !has_room) {
    run->failed = true;
    return;
  }
  run->joints[run->joint_count] = id;
  run->roles[run->joint_count] = role_of(run, def);
  run->joint_count += 1;
}

tn_joint_id scene_add_joint(scene_run *run, const tn_joint_def *def)
{
  if (run->failed) {
    return (tn_joint_id){0, 0, 0};
  }
  tn_joint_id id = tn_joint_create(run->world, def);
  list_joint(run, id, def);
  return id;
}

static void list_coupling(scene_run *run, tn_coupling_id id)
{
  void *couplings = run->couplings;
  bool has_room = scene_grow(&couplings, run->coupling_count, &run->coupling_capacity, sizeof id);
  run->couplings = couplings;
  if (TN_IS_NULL(id) || !has_room) {
    run->failed = true;
    return;
  }
  tn_coupling_def def = tn_coupling_get_def(run->world, id);
  for (int i = 0; i < def.axis_count; ++i) { // its force on the world is not measured
    tn_joint_def joint = tn_joint_get_def(run->world, def.axes[i].joint);
    bool anchored = !scene_moves(run, joint.body_a) || !scene_moves(run, joint.body_b);
    run->has_drag = run->has_drag || (anchored && def.axes[i].axis < 3);
  }
  for (int i = 0; i < def.point_count; ++i) {
    run->has_drag = run->has_drag || !scene_moves(run, def.points[i].body);
  }
  run->couplings[run->coupling_count++] = id;
}

tn_coupling_id scene_add_coupling(scene_run *run, const tn_coupling_def *def)
{
  if (run->failed) {
    return (tn_coupling_id){0, 0, 0};
  }
  tn_coupling_id id = tn_coupling_create(run->world, def);
  list_coupling(run, id);
  return id;
}

static void adopt_couplings(scene_run *run)
{
  int count = tn_world_couplings(run->world, NULL, 0);
  tn_coupling_id *ids = malloc((size_t)(count + 1) * sizeof *ids);
  run->failed = run->failed || !ids;
  if (ids) {
    tn_world_couplings(run->world, ids, count);
  }
  for (int i = 0; i < count && !run->failed; ++i) {
    list_coupling(run, ids[i]);
  }
  free(ids);
}

void scene_adopt(scene_run *run)
{
  int bodies = tn_world_bodies(run->world, NULL, 0), joints = tn_world_joints(run->world, NULL, 0);
  tn_body_id *body_ids = malloc((size_t)(bodies + 1) * sizeof *body_ids);
  tn_joint_id *joint_ids = malloc((size_t)(joints + 1) * sizeof *joint_ids);
  if (!body_ids || !joint_ids) {
    run->failed = true;
    bodies = joints = 0;
  }
  tn_world_bodies(run->world, body_ids, bodies);
  tn_world_joints(run->world, joint_ids, joints);
  for (int i = 0; i < bodies && !run->failed; ++i) {
    tn_body_def def = tn_body_get_def(run->world, body_ids[i]);
    run->failed = !record_body(run->record, &def, false);
    list_body(run, body_ids[i], &def);
  }
  for (int i = 0; i < joints && !run->failed; ++i) {
    tn_joint_def def = tn_joint_get_def(run->world, joint_ids[i]);
    list_joint(run, joint_ids[i], &def);
  }
  free(body_ids);
  free(joint_ids);
  adopt_couplings(run);
}

tn_body_def scene_body_def(void)
{
  tn_body_def def = tn_default_body_def();
  def.mass = tn_mass_scaled_to(tn_mass_box(tn_v3(0.5f, 0.5f, 0.5f), 1.0f), 1.0f);
  return def;
}

tn_body_def scene_box(tn_pos position, tn_vec3 half_extents, float mass)
{
  tn_body_def def = scene_body_def();
  def.position = position;
  def.mass = tn_mass_scaled_to(tn_mass_box(half_extents, 1.0f), mass);
  return def;
}

tn_body_id scene_add_box(scene_run *run, tn_pos position, tn_vec3 half_extents, float mass)
{
  tn_body_def def = scene_box(position, half_extents, mass);
  return scene_add_body(run, &def);
}

tn_joint_def scene_joint_at(scene_run *run, tn_joint_kind kind, tn_body_id a, tn_body_id b,
                            tn_pos point, tn_vec3 axis)
{
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_a = a;
  def.body_b = b;
  if (run->failed || !tn_joint_def_at(run->world, &def, point, axis)) {
    run->failed = true;
  }
  return def;
}

tn_joint_def scene_joint_between(scene_run *run, tn_body_id a, tn_body_id b, tn_pos point_a,
                                 tn_pos point_b)
{
  tn_joint_def def = tn_default_joint_def(TN_JOINT_DISTANCE);
  def.body_a = a;
  def.body_b = b;
  if (run->failed || !tn_joint_def_between(run->world, &def, point_a, point_b)) {
    run->failed = true;
  }
  return def;
}

tn_shape_def scene_sphere_shape(float radius)
{
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_SPHERE);
  def.radius = radius;
  return def;
}

tn_shape_def scene_box_shape(tn_vec3 half_extents)
{
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  def.half_extents = half_extents;
  return def;
}

tn_shape_def scene_axial_shape(tn_shape_kind kind, float radius, float half_length)
{
  tn_shape_def def = tn_default_shape_def(kind);
  def.radius = radius;
  def.half_length = half_length;
  return def;
}

tn_material scene_material(float friction, float restitution)
{
  tn_material material = tn_default_material();
  material.static_friction = material.dynamic_friction = friction;
  material.restitution = restitution;
  return material;
}

tn_shape_id scene_add_shape(scene_run *run, tn_body_id body, const tn_shape_def *def)
{
  tn_shape_id id = {0, 0, 0};
  if (!run->failed) {
    id = tn_shape_create(run->world, body, def);
    run->failed = TN_IS_NULL(id);
  }
  return id;
}

void scene_spread_mass(scene_run *run, tn_body_id body, const tn_body_def *def, float mass)
{
  if (run->failed || !tn_body_set_mass_from_shapes(run->world, body)) {
    run->failed = true;
    return;
  }
  tn_mass spread = tn_body_mass(run->world, body);
  if (mass > 0.0f) {
    run->failed = !tn_body_set_mass(run->world, body, tn_mass_scaled_to(spread, mass));
  }
  record_spread(run->record, mass);
  float total = mass > 0.0f ? mass : spread.mass;
  run->weighing_mass += (double)(total - def->mass.mass) * (double)def->gravity_scale;
}

tn_body_id scene_add_compound(scene_run *run, const tn_body_def *def, const tn_shape_def *shapes,
                              int count, float mass)
{
  tn_body_id id = scene_add_body(run, def);
  for (int i = 0; i < count; ++i) {
    scene_add_shape(run, id, &shapes[i]);
  }
  scene_spread_mass(run, id, def, mass);
  return id;
}

tn_body_id scene_add_solid(scene_run *run, const tn_body_def *def, const tn_shape_def *shape,
                           float mass)
{
  return scene_add_compound(run, def, shape, 1, mass);
}

tn_shape_id scene_add_fixed(scene_run *run, tn_transform at, const tn_shape_def *shape)
{
  tn_body_def def = scene_body_def();
  def.type = TN_BODY_STATIC;
  def.position = at.p;
  def.rotation = at.q;
  tn_body_id body = scene_add_scenery(run, &def);
  return scene_add_shape(run, body, shape);
}

void scene_add_ground(scene_run *run, tn_pos at, tn_material material)
{
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  plane.material = material;
  scene_add_fixed(run, (tn_transform){at, tn_quat_identity()}, &plane);
}

tn_soft_id scene_make_soft(scene_run *run, const tn_soft_def *def)
{
  tn_soft_id id = {0, 0, 0};
  if (!run->failed) {
    id = tn_soft_create(run->world, def);
    run->failed = TN_IS_NULL(id) || !record_soft(run->record, def);
  }
  return id;
}

tn_soft_id scene_add_soft(scene_run *run, tn_soft_def *def)
{
  tn_soft_id id = {0, 0, 0};
  if (!run->failed && def->vertices) {
    id = scene_make_soft(run, def);
    run->weighing_mass += (double)def->mass * (double)def->gravity_scale;
    run->has_drag = run->has_drag || def->linear_damping > 0.0f;
  }
  run->failed = run->failed || TN_IS_NULL(id);
  tn_soft_mesh_free(def);
  return id;
}

void scene_pin(scene_run *run, tn_soft_id soft, int particle)
{
  run->failed = run->failed || !tn_soft_set_pinned(run->world, soft, particle, true);
  run->has_drag = true; // the force of a pin is not known
}

void scene_spin(scene_run *run, tn_soft_id soft, tn_pos about, tn_vec3 angular_velocity)
{
  if (run->failed) {
    return;
  }
  int count = tn_soft_velocities(run->world, soft, NULL, 0);
  tn_vec3 *v = calloc((size_t)count + 1, sizeof *v);
  if (!v) {
    run->failed = true;
    return;
  }
  tn_soft_velocities(run->world, soft, v, count);
  for (int i = 0; i < count; ++i) {
    tn_vec3 arm = tn_between_points(about, tn_soft_position(run->world, soft, i));
    v[i] = tn_add(v[i], tn_cross(angular_velocity, arm));
  }
  run->failed = !tn_soft_set_velocities(run->world, soft, v, count);
  free(v);
}

void scene_push(scene_run *run, tn_body_id body, tn_vec3 force, tn_pos point, float dt)
{
  if (tn_body_apply_force(run->world, body, force, point)) {
    scene_count_impulse(run, force, (double)dt);
  }
}

// Generator of Numerical Recipes; the upper bits, uniform in [-1, 1).
static float next_random(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) * (1.0f / 8388608.0f) - 1.0f;
}

tn_vec3 scene_random_vector(uint32_t *state, float size)
{
  float x = next_random(state);
  float y = next_random(state);
  float z = next_random(state);
  return tn_v3(size * x, size * y, size * z);
}
