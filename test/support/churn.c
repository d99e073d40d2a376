#include "churn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BODIES 48
#define MOST_JOINTS 40
#define MOST_SOFTS 4
#define ROOM 64

void churn_name(uint32_t *world, uint32_t serial)
{
  *world = *world == 0 ? 0 : serial; // a null id stays null
}

// Makes a call on every world, with the ids of world 0 translated to each world's own.
#define FOR_WORLDS(c, k) for (int k = 0; k < (c)->count; ++k)

static bool chance(churn *c, float share)
{
  return test_random(&c->random) < share;
}

static float between(churn *c, float lo, float hi)
{
  return test_between(&c->random, lo, hi);
}

static tn_pos some_place(churn *c)
{
  tn_vec3 p = test_vector(&c->random, 4.0f);
  return tn_p3((double)p.x, (double)p.y + 2.0, (double)p.z);
}

// ---------------------------------------------------------------------------------------------
// A random live object, or a null id

static tn_body_id some_body(churn *c)
{
  tn_body_id ids[ROOM], none = {0};
  int count = tn_world_bodies(c->world[0], ids, ROOM);
  int at = test_index(&c->random, ROOM);
  return count > 0 ? ids[at % count] : none;
}

static tn_shape_id some_shape(churn *c)
{
  tn_shape_id ids[ROOM], none = {0};
  int count = tn_body_shapes(c->world[0], some_body(c), ids, ROOM);
  int at = test_index(&c->random, ROOM);
  return count > 0 ? ids[at % count] : none;
}

static tn_joint_id some_joint(churn *c)
{
  tn_joint_id ids[ROOM], none = {0};
  int count = tn_world_joints(c->world[0], ids, ROOM);
  int at = test_index(&c->random, ROOM);
  return count > 0 ? ids[at % count] : none;
}

static tn_soft_id some_soft(churn *c)
{
  tn_soft_id ids[ROOM], none = {0};
  int count = tn_world_softs(c->world[0], ids, ROOM);
  int at = test_index(&c->random, ROOM);
  return count > 0 ? ids[at % count] : none;
}

static tn_attachment_id some_attachment(churn *c)
{
  tn_attachment_id ids[ROOM], none = {0};
  int count = tn_world_attachments(c->world[0], ids, ROOM);
  int at = test_index(&c->random, ROOM);
  return count > 0 ? ids[at % count] : none;
}

// ---------------------------------------------------------------------------------------------
// Bodies and shapes

static void draw_material(churn *c, tn_material *m)
{
  m->static_friction = between(c, 0.0f, 1.0f);
  m->dynamic_friction = m->static_friction * test_random(&c->random);
  m->restitution = chance(c, 0.2f) ? test_random(&c->random) : 0.0f;
  m->rolling_friction = chance(c, 0.1f) ? 0.02f : 0.0f;
  m->compliance = chance(c, 0.1f) ? 1e-5f : 0.0f;
  tn_vec3 belt = test_vector(&c->random, 2.0f);
  m->surface_velocity = chance(c, 0.1f) ? belt : tn_v3(0.0f, 0.0f, 0.0f);
}

static tn_filter draw_filter(churn *c)
{
  tn_filter f = tn_default_shape_def(TN_SHAPE_SPHERE).filter;
  f.group = chance(c, 0.2f) ? test_index(&c->random, 5) - 2 : 0;
  f.mask = chance(c, 0.1f) ? (uint64_t)test_index(&c->random, 4) : f.mask;
  return f;
}

static tn_shape_def draw_shape(churn *c, tn_body_type type)
{
  int kinds = type == TN_BODY_DYNAMIC ? TN_SHAPE_PLANE : TN_SHAPE_KIND_COUNT;
  tn_shape_def def = tn_default_shape_def((tn_shape_kind)test_index(&c->random, kinds));
  def.radius = between(c, 0.1f, 0.6f);
  def.half_length = between(c, 0.1f, 0.6f);
  float x = between(c, 0.1f, 0.6f), y = between(c, 0.1f, 0.6f), z = between(c, 0.1f, 0.6f);
  def.half_extents = tn_v3(x, y, z);
  def.position = test_vector(&c->random, chance(c, 0.3f) ? 1.0f : 0.05f);
  def.rotation = test_rotation(&c->random);
  switch (def.kind) {
  case TN_SHAPE_HULL:
    def.geometry = c->geometry[0];
    break;
  case TN_SHAPE_MESH:
    def.geometry = c->geometry[1];
    break;
  case TN_SHAPE_HEIGHT_FIELD:
    def.geometry = c->geometry[2];
    break;
  case TN_SHAPE_WIRE:
    def.geometry = c->geometry[3];
    def.radius = 0.05f;
    break;
  default:
    break;
  }
  if (chance(c, 0.3f)) {
    draw_material(c, &def.material);
  }
  def.filter = draw_filter(c);
  def.sensor = chance(c, 0.1f);
  def.hit_events = chance(c, 0.3f);
  return def;
}

static void add_shape(churn *c, tn_body_id body, tn_body_type type)
{
  tn_shape_def def = draw_shape(c, type);
  FOR_WORLDS(c, k)
  {
    def.geometry = CHURN_ID(c, k, def.geometry);
    tn_shape_create(c->world[k], CHURN_ID(c, k, body), &def);
  }
}

static void make_body(churn *c)
{
  tn_body_def def = test_body_def();
  def.type = chance(c, 0.7f) ? TN_BODY_DYNAMIC : (tn_body_type)test_index(&c->random, 3);
  def.position = some_place(c);
  def.rotation = test_rotation(&c->random);
  def.velocity = test_vector(&c->random, chance(c, 0.1f) ? 50.0f : 3.0f);
  def.angular_velocity = test_vector(&c->random, 3.0f);
  def.mass = tn_mass_scaled_to(def.mass, between(c, 0.1f, 10.0f));
  def.bullet = chance(c, 0.1f);
  def.can_sleep = chance(c, 0.9f);
  def.gravity_scale = chance(c, 0.1f) ? between(c, -1.0f, 1.0f) : 1.0f;
  def.linear_damping = chance(c, 0.3f) ? 0.5f : 0.0f;
  if (tn_world_bodies(c->world[0], NULL, 0) >= MOST_BODIES) {
    return;
  }
  tn_body_id made = {0};
  FOR_WORLDS(c, k)
  {
    tn_body_id id = tn_body_create(c->world[k], &def);
    made = k == 0 ? id : made;
    assert_int_equal(id.index, made.index);
    assert_int_equal(id.generation, made.generation);
  }
  int shapes = chance(c, 0.7f) ? 1 : test_index(&c->random, 4);
  for (int i = 0; i < shapes; ++i) {
    add_shape(c, made, def.type);
  }
  bool from_shapes = chance(c, 0.3f);
  FOR_WORLDS(c, k)
  {
    if (from_shapes) {
      tn_body_set_mass_from_shapes(c->world[k], CHURN_ID(c, k, made));
    }
  }
}

static void destroy_body(churn *c)
{
  tn_body_id id = some_body(c);
  FOR_WORLDS(c, k)
  {
    tn_body_destroy(c->world[k], CHURN_ID(c, k, id));
  }
}

static void change_shapes(churn *c)
{
  tn_body_id body = some_body(c);
  tn_shape_id shape = some_shape(c);
  bool gone = chance(c, 0.5f);
  if (!gone && !TN_IS_NULL(body)) {
    add_shape(c, body, tn_body_get_type(c->world[0], body));
  }
  FOR_WORLDS(c, k)
  {
    if (gone) {
      tn_shape_destroy(c->world[k], CHURN_ID(c, k, shape));
    }
  }
}

static void change_surface(churn *c)
{
  tn_shape_id shape = some_shape(c);
  tn_material material = tn_default_material();
  draw_material(c, &material);
  tn_filter filter = draw_filter(c);
  bool paint = chance(c, 0.6f);
  FOR_WORLDS(c, k)
  {
    shape = CHURN_ID(c, k, shape);
    if (paint) {
      tn_shape_set_material(c->world[k], shape, material);
    } else {
      tn_shape_set_filter(c->world[k], shape, filter);
    }
  }
}

static void move_body(churn *c)
{
  tn_body_id id = some_body(c);
  tn_transform to = {some_place(c), test_rotation(&c->random)};
  tn_vec3 v = test_vector(&c->random, 8.0f), w = test_vector(&c->random, 5.0f);
  int how = test_index(&c->random, 5);
  FOR_WORLDS(c, k)
  {
    tn_world *world = c->world[k];
    id = CHURN_ID(c, k, id);
    switch (how) {
    case 0:
      tn_body_set_transform(world, id, to);
      break;
    case 1:
      tn_body_set_velocity(world, id, v);
      tn_body_set_angular_velocity(world, id, w);
      break;
    case 2:
      tn_body_apply_impulse(world, id, v, tn_body_world_point(world, id, w));
      break;
    case 3:
      tn_body_move_to(world, id, to);
      break;
    default:
      tn_body_apply_force_to_center(world, id, tn_scale(10.0f, v));
      tn_body_apply_torque(world, id, w);
      break;
    }
  }
}

static void change_body(churn *c)
{
  tn_body_id id = some_body(c);
  tn_body_type type = (tn_body_type)test_index(&c->random, 3);
  tn_mass mass = tn_mass_scaled_to(test_body_def().mass, between(c, 0.1f, 10.0f));
  mass.center = test_vector(&c->random, 0.2f);
  float x = between(c, -1.0f, 1.0f);
  int what = test_index(&c->random, 5);
  FOR_WORLDS(c, k)
  {
    tn_world *world = c->world[k];
    id = CHURN_ID(c, k, id);
    switch (what) {
    case 0:
    case 1:
      tn_body_set_type(world, id, type);
      break;
    case 2:
      tn_body_set_mass(world, id, mass);
      break;
    case 3:
      tn_body_set_gravity_scale(world, id, x);
      break;
    default:
      tn_body_set_linear_damping(world, id, fabsf(x));
      tn_body_set_angular_damping(world, id, fabsf(x));
      break;
    }
  }
}

static void change_sleep(churn *c)
{
  tn_body_id id = some_body(c);
  tn_soft_id soft = some_soft(c);
  bool on = chance(c, 0.5f), all = chance(c, 0.05f), bodies = chance(c, 0.7f);
  FOR_WORLDS(c, k)
  {
    if (all) {
      tn_world_set_sleeping(c->world[k], on);
    } else if (bodies) {
      tn_body_set_awake(c->world[k], CHURN_ID(c, k, id), on);
    } else {
      tn_soft_set_awake(c->world[k], CHURN_ID(c, k, soft), on);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Joints

static void draw_terms(churn *c, tn_joint_def *def)
{
  def->compliance = chance(c, 0.2f) ? 1e-4f : 0.0f;
  def->angular_compliance = chance(c, 0.2f) ? 1e-4f : 0.0f;
  tn_axis *along = &def->axis[TN_LINEAR_A], *about = &def->axis[TN_ANGULAR_A];
  along->friction = about->friction = chance(c, 0.2f) ? 2.0f : 0.0f;
  along->damping = about->damping = chance(c, 0.2f) ? 1.0f : 0.0f;
  def->break_force = chance(c, 0.2f) ? between(c, 20.0f, 200.0f) : INFINITY;
  def->collide = chance(c, 0.2f);
  if (def->kind == TN_JOINT_HINGE && chance(c, 0.4f)) {
    int mode = (int)test_index(&c->random, 5);
    about->drive.stiffness = mode == 1 ? INFINITY : mode == 4 ? 200.0f : 0.0f;
    about->drive.damping = mode == 2 ? INFINITY : mode == 4 ? 5.0f : 0.0f;
    about->drive.velocity = between(c, -3.0f, 3.0f);
    about->drive.force = mode == 3 ? 5.0f : 0.0f;
    about->drive.limits = tn_between(-50.0f, 50.0f);
    about->armature = mode == 4 ? 0.1f : 0.0f;
    about->stiffness = mode == 3 ? 20.0f : 0.0f;
  }
  if (def->kind == TN_JOINT_BALL && chance(c, 0.5f)) {
    def->swing = between(c, 0.2f, 1.0f);
  }
}

static void make_joint(churn *c)
{
  tn_joint_kind kind = (tn_joint_kind)test_index(&c->random, TN_JOINT_KIND_COUNT);
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_a = some_body(c);
  def.body_b = some_body(c);
  if (chance(c, 0.2f)) {
    def.body_a = (tn_body_id){0};
  }
  tn_vec3 axis = test_vector(&c->random, 1.0f), lever = test_vector(&c->random, 0.5f);
  draw_terms(c, &def);
  if (TN_IS_NULL(def.body_b) || def.body_a.index == def.body_b.index ||
      tn_world_joints(c->world[0], NULL, 0) >= MOST_JOINTS) {
    return;
  }
  tn_pos at = tn_body_world_point(c->world[0], def.body_b, lever);
  tn_pos from = tn_body_position(c->world[0], def.body_b);
  FOR_WORLDS(c, k)
  {
    def.body_a = CHURN_ID(c, k, def.body_a);
    def.body_b = CHURN_ID(c, k, def.body_b);
    if (kind == TN_JOINT_DISTANCE ? tn_joint_def_between(c->world[k], &def, from, at)
                                  : tn_joint_def_at(c->world[k], &def, at, axis)) {
      tn_joint_create(c->world[k], &def);
    }
  }
}

static void change_joint(churn *c)
{
  tn_joint_id id = some_joint(c);
  bool on = chance(c, 0.5f);
  int what = test_index(&c->random, 3);
  if (TN_IS_NULL(id)) {
    return;
  }
  tn_joint_def def = tn_joint_get_def(c->world[0], id);
  draw_terms(c, &def);
  FOR_WORLDS(c, k)
  {
    id = CHURN_ID(c, k, id);
    def.body_a = CHURN_ID(c, k, def.body_a);
    def.body_b = CHURN_ID(c, k, def.body_b);
    if (what == 0) {
      tn_joint_destroy(c->world[k], id);
    } else if (what == 1) {
      tn_joint_set_enabled(c->world[k], id, on);
    } else {
      tn_joint_set_def(c->world[k], id, &def);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Soft bodies

static bool draw_mesh(churn *c, tn_soft_def *def)
{
  const int cells[3] = {2, 1, 2};
  bool tetrahedra = chance(c, 0.5f);
  switch (test_index(&c->random, 5)) {
  case 0:
    def->bending_stiffness = chance(c, 0.5f) ? 0.01f : 0.0f;
    return tn_soft_mesh_cloth(def, 5, 4, 1.0f, 1.0f);
  case 1:
    return tn_soft_mesh_rope(def, 8, 1.5f);
  case 2:
    def->solid = (tn_soft_material)test_index(&c->random, tetrahedra ? 2 : 1);
    def->yield_strain = chance(c, 0.3f) ? 0.1f : def->yield_strain;
    return tn_soft_mesh_box(def, cells, tn_v3(0.4f, 0.2f, 0.4f), tetrahedra);
  case 3:
    return tn_soft_mesh_ball(def, 2, 0.4f, tetrahedra);
  default:
    def->pressure = between(c, 0.8f, 1.5f);
    return tn_soft_mesh_sphere(def, 1, 0.5f);
  }
}

static void make_soft(churn *c)
{
  tn_soft_def def = tn_default_soft_def();
  def.position = some_place(c);
  def.rotation = test_rotation(&c->random);
  def.velocity = test_vector(&c->random, 2.0f);
  def.mass = between(c, 0.2f, 2.0f);
  def.radius = 0.03f;
  def.youngs_modulus = 1e4f;
  def.edge_compliance = chance(c, 0.5f) ? 1e-4f : 0.0f;
  def.tear_strain = chance(c, 0.3f) ? 0.15f : def.tear_strain;
  def.self_collision = chance(c, 0.2f);
  def.damping = 1.0f;
  if (tn_world_softs(c->world[0], NULL, 0) >= MOST_SOFTS) {
    return;
  }
  assert_true(draw_mesh(c, &def));
  FOR_WORLDS(c, k)
  {
    tn_soft_create(c->world[k], &def);
  }
  tn_soft_mesh_free(&def);
}

static void attach_soft(churn *c)
{
  tn_attachment_def def = tn_default_attachment_def();
  tn_attachment_id old = some_attachment(c);
  def.soft = some_soft(c);
  def.body = some_body(c);
  def.particle = test_index(&c->random, 8);
  def.compliance = chance(c, 0.3f) ? 1e-4f : 0.0f;
  def.break_force = chance(c, 0.3f) ? 50.0f : INFINITY;
  bool gone = chance(c, 0.4f);
  if (chance(c, 0.3f) || TN_IS_NULL(def.body)) {
    def.body = (tn_body_id){0};
    def.point = TN_IS_NULL(def.soft) ? some_place(c) : tn_soft_position(c->world[0], def.soft, 0);
  }
  FOR_WORLDS(c, k)
  {
    def.soft = CHURN_ID(c, k, def.soft);
    def.body = CHURN_ID(c, k, def.body);
    if (gone) {
      tn_attachment_destroy(c->world[k], CHURN_ID(c, k, old));
    } else {
      tn_attachment_create(c->world[k], &def);
    }
  }
}

static void change_soft(churn *c)
{
  tn_soft_id id = some_soft(c);
  int particle = test_index(&c->random, 8), what = test_index(&c->random, 5);
  bool on = chance(c, 0.5f);
  tn_vec3 v = test_vector(&c->random, 4.0f);
  FOR_WORLDS(c, k)
  {
    tn_world *world = c->world[k];
    id = CHURN_ID(c, k, id);
    switch (what) {
    case 0:
      tn_soft_destroy(world, id);
      break;
    case 1:
      tn_soft_set_pinned(world, id, particle, on);
      break;
    case 2:
      tn_soft_set_velocity(world, id, particle, v);
      break;
    case 3:
      tn_soft_apply_force(world, id, particle, v);
      break;
    default:
      tn_soft_set_pressure(world, id, 1.2f);
      break;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Worlds

static void change_settings(churn *c)
{
  tn_vec3 gravity = tn_v3(between(c, -2.0f, 2.0f), between(c, -10.0f, 0.0f), 0.0f);
  int substeps = 1 + test_index(&c->random, 6), iterations = chance(c, 0.2f) ? 2 : 1;
  tn_method method = (tn_method)test_index(&c->random, 3);
  int what = test_index(&c->random, 8);
  FOR_WORLDS(c, k)
  {
    if (what == 0) {
      tn_world_set_method(c->world[k], method);
    } else if (what < 5) {
      tn_world_set_gravity(c->world[k], gravity);
    } else {
      tn_world_set_substeps(c->world[k], substeps);
      tn_world_set_iterations(c->world[k], iterations);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Chaos

static void resize_shape(churn *c)
{
  tn_shape_id shape = some_shape(c);
  if (TN_IS_NULL(shape)) {
    return;
  }
  tn_shape_def def = tn_shape_get_def(c->world[0], shape);
  float factor = between(c, 0.3f, 2.0f);
  def.radius *= factor;
  def.half_length *= factor;
  def.half_extents = tn_scale(factor, def.half_extents);
  FOR_WORLDS(c, k)
  {
    def.geometry = CHURN_ID(c, k, def.geometry);
    tn_shape_set_def(c->world[k], CHURN_ID(c, k, shape), &def);
  }
}

static void couple(churn *c)
{
  tn_joint_id joint = some_joint(c);
  tn_body_id a = some_body(c), b = some_body(c);
  tn_coupling_id old[ROOM];
  int olds = tn_world_couplings(c->world[0], old, ROOM), kind = test_index(&c->random, 4);
  int which = test_index(&c->random, ROOM), axis = test_index(&c->random, TN_JOINT_AXIS_COUNT);
  float x = between(c, 0.2f, 3.0f);
  FOR_WORLDS(c, k)
  {
    tn_coupling_def def = tn_default_coupling_def();
    if (kind == 0 && olds > 0) {
      tn_coupling_id gone = old[which % olds];
      tn_coupling_destroy(c->world[k], CHURN_ID(c, k, gone));
    } else if (kind == 1) {
      tn_coupling_def_axis(&def, CHURN_ID(c, k, joint), axis, 1.0f);
      def.range = tn_between(-x, x);
      tn_coupling_create(c->world[k], &def);
    } else {
      tn_coupling_def_point(&def, CHURN_ID(c, k, a), tn_p3(0.0, 0.1, 0.0), 1.0f);
      tn_coupling_def_point(&def, CHURN_ID(c, k, b), tn_p3(0.1, 0.0, 0.0), 1.0f);
      def.range = tn_between(-INFINITY, x);
      def.compliance = kind == 2 ? 1e-4f : 0.0f;
      tn_coupling_create(c->world[k], &def);
    }
  }
}

// A body is thrown, or put far away and perhaps back.
static void throw_body(churn *c)
{
  tn_body_id id = some_body(c);
  tn_vec3 v = test_vector(&c->random, 2000.0f), w = test_vector(&c->random, 500.0f);
  tn_vec3 far = test_vector(&c->random, chance(c, 0.5f) ? 1e6f : 5.0f);
  bool moves = chance(c, 0.3f);
  tn_transform to = {tn_offset(tn_p3(0.0, 3.0, 0.0), far), test_rotation(&c->random)};
  FOR_WORLDS(c, k)
  {
    id = CHURN_ID(c, k, id);
    if (moves) {
      tn_body_set_transform(c->world[k], id, to);
    } else {
      tn_body_set_velocity(c->world[k], id, v);
      tn_body_set_angular_velocity(c->world[k], id, w);
    }
  }
}

static void wild_settings(churn *c)
{
  int what = test_index(&c->random, 4), substeps = 1 + test_index(&c->random, 20);
  float x = between(c, 0.0f, 1.0f), y = between(c, -100.0f, 0.0f);
  FOR_WORLDS(c, k)
  {
    if (what == 0) {
      tn_world_set_sleep_speed(c->world[k], 0.1f * x);
    } else if (what == 1) {
      tn_world_set_sleep_time(c->world[k], x);
    } else if (what == 2) {
      tn_world_set_gravity(c->world[k], tn_v3(0.0f, y, 0.0f));
    } else {
      tn_world_set_substeps(c->world[k], substeps);
    }
  }
}

static void pull_soft(churn *c)
{
  tn_soft_id id = some_soft(c);
  int particle = test_index(&c->random, 8);
  tn_vec3 way = test_vector(&c->random, 1.0f);
  if (TN_IS_NULL(id)) {
    return;
  }
  tn_pos to = tn_offset(tn_soft_position(c->world[0], id, particle), way);
  FOR_WORLDS(c, k)
  {
    tn_soft_set_position(c->world[k], CHURN_ID(c, k, id), particle, to);
  }
}

typedef struct churn_call {
  void (*make)(churn *c);
  int weight;
} churn_call;

static const churn_call calls[] = {
    {make_body, 12},  {destroy_body, 5}, {change_shapes, 5},  {change_surface, 3}, {move_body, 10},
    {change_body, 5}, {change_sleep, 5}, {make_joint, 6},     {change_joint, 4},   {make_soft, 2},
    {attach_soft, 3}, {change_soft, 3},  {change_settings, 1}};

static void make_call(churn *c)
{
  void (*const wild[])(churn *) = {resize_shape, couple, throw_body, wild_settings, pull_soft};
  if (c->chaos && chance(c, 0.2f)) {
    wild[test_index(&c->random, 5)](c);
    return;
  }
  int sum = 0, count = (int)(sizeof calls / sizeof *calls);
  for (int i = 0; i < count; ++i) {
    sum += calls[i].weight;
  }
  int at = test_index(&c->random, sum), i = 0;
  while (at >= calls[i].weight) {
    at -= calls[i++].weight;
  }
  calls[i].make(c);
}

void churn_restore(churn *c, int from, int to)
{
  size_t size = tn_world_save(c->world[from], NULL, 0);
  void *bytes = malloc(size);
  assert_non_null(bytes);
  assert_int_equal(tn_world_save(c->world[from], bytes, size), size);
  if (!tn_world_restore(c->world[to], bytes, size)) {
    fail_msg("not restored: %s", test_last_message());
  }
  free(bytes);
}

static void make_geometries(churn *c)
{
  const tn_vec3 corner[6] = {{0.5f, 0.0f, 0.0f},  {-0.4f, 0.0f, 0.1f}, {0.0f, 0.4f, 0.0f},
                             {0.1f, -0.5f, 0.0f}, {0.0f, 0.0f, 0.3f},  {0.0f, 0.1f, -0.4f}};
  const tn_vec3 sheet[5] = {{-1.0f, 0.0f, -1.0f},
                            {1.0f, 0.0f, -1.0f},
                            {1.0f, 0.0f, 1.0f},
                            {-1.0f, 0.0f, 1.0f},
                            {0.0f, 0.4f, 0.0f}};
  const int triangles[12] = {0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0};
  float heights[16];
  for (int i = 0; i < 16; ++i) {
    heights[i] = 0.1f * (float)(i * 7 % 5);
  }
  const tn_wire_point way[3] = {{{-1.0f, 0.0f, 0.0f}, {1.0f, 0.5f, 0.0f}},
                                {{0.0f, 0.2f, 0.0f}, {1.0f, 0.0f, 0.5f}},
                                {{1.0f, 0.0f, 0.2f}, {1.0f, -0.5f, 0.0f}}};
  FOR_WORLDS(c, k)
  {
    tn_world *world = c->world[k];
    tn_geometry_id made[CHURN_GEOMETRIES] = {
        tn_hull_create(world, corner, 6, 0), tn_mesh_create(world, sheet, 5, triangles, 4),
        tn_height_field_create(world, heights, 4, 4, 1.0f, 1.0f),
        tn_wire_create(world, way, 3, false)};
    c->serial[k] = made[0].world;
    if (k == 0) {
      memcpy(c->geometry, made, sizeof made);
    }
    tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
    ground.position = tn_v3(0.0f, -1.0f, 0.0f);
    tn_body_id none = {0};
    tn_shape_create(world, none, &ground);
  }
}

void churn_begin(churn *c, uint32_t seed)
{
  const float paces[4] = {0.05f, 0.3f, 1.0f, 3.0f};
  c->random = 2u * seed + 1u;
  c->step = 0;
  c->pace = paces[test_index(&c->random, 4)];
  make_geometries(c);
  for (int i = 0; i < 12; ++i) {
    make_body(c);
  }
  make_soft(c);
  for (int i = 0; i < 3; ++i) {
    make_joint(c);
  }
}

uint32_t churn_step(churn *c)
{
  const float steps[3] = {1.0f / 60.0f, 1.0f / 120.0f, 0.004f};
  for (float left = c->pace; left > 0.0f; left -= 1.0f) {
    if (chance(c, left)) {
      make_call(c);
    }
  }
  float dt = steps[chance(c, 0.9f) ? 0 : test_index(&c->random, 3)];
  uint32_t status[CHURN_WORLDS];
  FOR_WORLDS(c, k)
  {
    status[k] = tn_world_step(c->world[k], dt);
  }
  c->step += 1;
  return status[0];
}

// ---------------------------------------------------------------------------------------------
// Events

// Whether an event's body is live; null is the world.
static bool names_body(const tn_world *world, tn_body_id id)
{
  return TN_IS_NULL(id) || tn_body_is_valid(world, id);
}

static const char *contact_event_problem(const tn_world *world)
{
  int count;
  const tn_contact_event *e = tn_world_contact_events(world, &count);
  for (int i = 0; i < count; ++i) {
    bool ends = e[i].kind == TN_EVENT_END || e[i].kind == TN_EVENT_SENSOR_END;
    if (!ends &&
        (!tn_shape_is_valid(world, e[i].shape_a) || !tn_shape_is_valid(world, e[i].shape_b) ||
         !names_body(world, e[i].body_a) || !names_body(world, e[i].body_b))) {
      return "a contact that begins names something dead";
    }
  }
  return NULL;
}

static const char *soft_event_problem(const tn_world *world)
{
  int count;
  const tn_soft_event *e = tn_world_soft_events(world, &count);
  for (int i = 0; i < count; ++i) {
    bool touch = e[i].kind == TN_SOFT_EVENT_TOUCH, part = e[i].kind == TN_SOFT_EVENT_PART;
    if ((!part && !tn_soft_is_valid(world, e[i].soft)) ||
        (touch && TN_IS_NULL(e[i].shape) && !tn_soft_is_valid(world, e[i].other_soft)) ||
        (touch && !TN_IS_NULL(e[i].shape) && !tn_shape_is_valid(world, e[i].shape)) ||
        (!part && !names_body(world, e[i].body))) {
      return "a soft body's event names something dead";
    }
  }
  return NULL;
}

const char *churn_event_problem(const tn_world *world)
{
  int count;
  const tn_sleep_event *sleep = tn_world_sleep_events(world, &count);
  for (int i = 0; i < count; ++i) {
    if (!tn_body_is_valid(world, sleep[i].body)) {
      return "a sleep event names a dead body";
    }
  }
  const tn_joint_break_event *breaks = tn_world_joint_breaks(world, &count);
  for (int i = 0; i < count; ++i) {
    if (!tn_joint_is_valid(world, breaks[i].joint)) {
      return "a break names a dead joint";
    }
  }
  const char *why = contact_event_problem(world);
  return why ? why : soft_event_problem(world);
}
