// The robots of robots/ with their controllers, from tables instead of files.
#include "build.h"
#include "robot_control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// z of the tables is y of the world.
static tn_quat upright(void)
{
  return tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), -1.5707963f);
}

static tn_vec3 vec(const float v[3])
{
  return tn_v3(v[0], v[1], v[2]);
}

// ---------------------------------------------------------------------------------------------
// Shapes

static bool add_loft(scene_run *run, tn_body_id body, const robot_part *p)
{
  tn_vec3 points[ROBOT_SECTIONS * ROBOT_SECTORS];
  int count = 0;
  for (int s = 0; s < p->section_count; ++s) {
    const float *section = p->sections[s];
    for (int i = 0; i < ROBOT_SECTORS; ++i) {
      float angle = 6.2831853f * (float)i / ROBOT_SECTORS, v[3];
      v[p->loft_axis] = section[0];
      v[(p->loft_axis + 1) % 3] = section[3] + section[1] * tn_cos(angle);
      v[(p->loft_axis + 2) % 3] = section[4] + section[2] * tn_sin(angle);
      points[count++] = vec(v);
    }
  }
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_HULL);
  def.geometry = tn_hull_create(run->world, points, count, 0);
  def.material = scene_material(0.8f, 0.0f);
  return !TN_IS_NULL(tn_shape_create(run->world, body, &def));
}

static bool add_shapes(scene_run *run, tn_body_id body, const robot_part *p)
{
  if (p->section_count > 0 && !add_loft(run, body, p)) {
    return false;
  }
  if (p->shape == ROBOT_NO_SHAPE) {
    return true;
  }
  tn_shape_def def =
      p->shape == ROBOT_BOX ? scene_box_shape(vec(p->size)) : scene_sphere_shape(p->size[0]);
  def.position = vec(p->shape_at);
  def.material = scene_material(p->foot ? 1.0f : 0.8f, 0.0f);
  return !TN_IS_NULL(tn_shape_create(run->world, body, &def));
}

// ---------------------------------------------------------------------------------------------
// Parts and joints

static tn_mass mass_of(const robot_part *p)
{
  const float *i = p->inertia;
  tn_mass mass = {p->mass, vec(p->center), {i[0], i[1], i[2], i[3], i[4], i[5]}};
  return mass;
}

// Where a part stands in the frame of its parent, with its joint at home.
static tn_transform home_of(const robot_part *p)
{
  tn_transform t = {{(double)p->at[0], (double)p->at[1], (double)p->at[2]}, tn_quat_identity()};
  if (p->joint == ROBOT_FREE) {
    t.p.z = (double)p->home;
  } else if (p->joint == ROBOT_HINGE) {
    t.q = tn_quat_axis_angle(vec(p->axis), p->home);
  } else if (p->joint == ROBOT_SLIDE) {
    t.p = tn_offset(t.p, tn_scale(p->home, vec(p->axis)));
  }
  return t;
}

static bool add_part(scene_run *run, robot_view *v, int index)
{
  const robot_part *p = &v->model->parts[index];
  tn_body_def def = tn_default_body_def();
  tn_transform parent = {{0.0, 0.0, 0.0}, upright()};
  if (p->parent >= 0) {
    parent = tn_body_transform(run->world, v->bodies[p->parent]);
  }
  tn_transform at = tn_transform_mul(parent, home_of(p));
  def.type = p->joint == ROBOT_FIXED ? TN_BODY_STATIC : TN_BODY_DYNAMIC;
  def.position = at.p;
  def.rotation = at.q;
  def.mass = mass_of(p);
  def.name = p->name;
  v->bodies[index] = scene_add_body(run, &def);
  return !run->failed && add_shapes(run, v->bodies[index], p);
}

static bool add_joint(scene_run *run, robot_view *v, int index)
{
  const robot_part *p = &v->model->parts[index];
  if (p->joint != ROBOT_HINGE && p->joint != ROBOT_SLIDE) {
    return true;
  }
  bool turns = p->joint == ROBOT_HINGE;
  tn_joint_def def = tn_default_joint_def(turns ? TN_JOINT_HINGE : TN_JOINT_PRISMATIC);
  def.body_a = v->bodies[p->parent];
  def.body_b = v->bodies[index];
  def.frame_b.q = tn_quat_x_to(vec(p->axis));
  def.frame_a =
      (tn_transform){{(double)p->at[0], (double)p->at[1], (double)p->at[2]}, def.frame_b.q};
  *(turns ? &def.angular[0] : &def.linear[0]) = tn_between(p->range[0], p->range[1]);
  tn_axis *axis = &def.axis[turns ? TN_ANGULAR_A : TN_LINEAR_A];
  axis->armature = p->armature;
  if (p->effort > 0.0f) {
    axis->drive.stiffness = p->stiffness;
    axis->drive.damping = p->damping;
    axis->drive.limits = tn_between(-p->effort, p->effort);
    axis->drive.target = p->home;
  }
  v->joints[index] = scene_add_joint(run, &def);
  return !run->failed;
}

static bool add_coupling(scene_run *run, robot_view *v, int index)
{
  const robot_part *p = &v->model->parts[index];
  if (p->mimics < 0) {
    return true;
  }
  int axis = p->joint == ROBOT_HINGE ? TN_ANGULAR_A : TN_LINEAR_A;
  tn_coupling_def def = tn_default_coupling_def();
  return tn_coupling_def_axis(&def, v->joints[index], axis, 1.0f) &&
         tn_coupling_def_axis(&def, v->joints[p->mimics], axis, -1.0f) &&
         !TN_IS_NULL(scene_add_coupling(run, &def));
}

static void build(scene_run *run, const robot_model *model)
{
  robot_view v = {.model = model, .world = run->world};
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), scene_material(1.0f, 0.0f));
  bool ok = !run->failed;
  for (int i = 0; ok && i < model->count; ++i) {
    ok = add_part(run, &v, i) && add_joint(run, &v, i);
  }
  for (int i = 0; ok && i < model->count; ++i) {
    ok = add_coupling(run, &v, i);
  }
  run->failed = !ok;
  run->energy_scale = run->weighing_mass * (double)SCENE_GRAVITY;
}

// ---------------------------------------------------------------------------------------------
// Control

static robot_view view_of(const scene_run *run, const robot_model *model)
{
  robot_view v = {.model = model, .world = run->world};
  int joint = 0;
  for (int i = 0; i < model->count; ++i) {
    const robot_part *p = &model->parts[i];
    v.bodies[i] = run->bodies[i];
    if (p->joint == ROBOT_HINGE || p->joint == ROBOT_SLIDE) {
      v.joints[i] = run->joints[joint++];
      int axis = p->joint == ROBOT_HINGE ? TN_ANGULAR_A : TN_LINEAR_A;
      v.targets[i] = tn_joint_get_def(run->world, v.joints[i]).axis[axis].drive.target;
    }
  }
  return v;
}

static void apply_targets(scene_run *run, const robot_view *v)
{
  for (int i = 0; i < v->model->count; ++i) {
    const robot_part *p = &v->model->parts[i];
    if (p->effort > 0.0f) {
      tn_joint_axis axis = p->joint == ROBOT_HINGE ? TN_ANGULAR_A : TN_LINEAR_A;
      tn_drive drive = tn_joint_get_def(run->world, v->joints[i]).axis[axis].drive;
      drive.target = v->targets[i];
      tn_joint_set_drive(run->world, v->joints[i], axis, drive);
    }
  }
}

static void build_arm(scene_run *run)
{
  build(run, &robot_arm);
}

static void reach(scene_run *run, float dt)
{
  robot_view v = view_of(run, &robot_arm);
  robot_reach(&v, run->time, dt);
  apply_targets(run, &v);
}

static void measure_arm(const scene_run *run, scene_sheet *sheet)
{
  robot_view v = view_of(run, &robot_arm);
  tn_vec3 apart = tn_sub(robot_grip(&v), robot_reach_goal(run->time));
  scene_note(sheet, "reach_error_m", (double)tn_length(apart));
}

static void build_quadruped(scene_run *run)
{
  build(run, &robot_quadruped);
}

static void trot(scene_run *run, float dt)
{
  (void)dt;
  robot_view v = view_of(run, &robot_quadruped);
  robot_trot(&v, run->time, (float)scene_value(run, "height"));
  apply_targets(run, &v);
}

static void build_humanoid(scene_run *run)
{
  build(run, &robot_humanoid);
}

// The balance is tried by a push at the chest for a tenth of a second.
static void balance(scene_run *run, float dt)
{
  static const double START = 2.0, LENGTH = 0.1;
  robot_view v = view_of(run, &robot_humanoid);
  robot_balance(&v);
  apply_targets(run, &v);
  if (run->time >= START && run->time < START + LENGTH) {
    tn_body_id torso = v.bodies[robot_find_part(v.model, "torso")];
    tn_vec3 force = tn_v3((float)(scene_value(run, "push") / LENGTH), 0.0f, 0.0f);
    scene_push(run, torso, force, tn_body_center(run->world, torso), dt);
  }
}

static double trunk_height(const scene_run *run)
{
  return tn_body_transform(run->world, run->bodies[0]).p.y;
}

static void measure_trunk(const scene_run *run, scene_sheet *sheet)
{
  tn_vec3 up = tn_rotate(tn_body_transform(run->world, run->bodies[0]).q, tn_v3(0.0f, 0.0f, 1.0f));
  scene_note(sheet, "trunk_height_m", trunk_height(run));
  scene_note(sheet, "trunk_upright", (double)up.y);
}

const scene scene_robot_reach = {
    .name = "robot_reach",
    .title = "An arm with a gripper follows a figure of eight",
    .source = "own: robots/arm",
    .group = SCENE_MODELS,
    .camera = {{1.3f, 0.9f, 1.1f}, {0.2f, 0.3f, 0.0f}},
    .seconds = 10.0,
    .substeps = 8,
    .tenon_only = true,
    .build = build_arm,
    .drive = reach,
    .measure = measure_arm,
};

const scene scene_robot_trot = {
    .name = "robot_trot",
    .title = "A quadruped trots in place",
    .source = "own: robots/quadruped",
    .group = SCENE_MODELS,
    .camera = {{0.9f, 0.6f, 1.1f}, {0.0f, 0.2f, 0.0f}},
    .seconds = 10.0,
    .substeps = 8,
    .tenon_only = true,
    .parameters = {{"height", 0.0, 0.08, 0.04, false, "lift of the feet, m"}},
    .build = build_quadruped,
    .drive = trot,
    .measure = measure_trunk,
};

const scene scene_robot_balance = {
    .name = "robot_balance",
    .title = "A humanoid with hands keeps its balance when it is pushed",
    .source = "own: robots/humanoid",
    .group = SCENE_MODELS,
    .camera = {{2.2f, 1.4f, 2.4f}, {0.0f, 0.8f, 0.0f}},
    .seconds = 8.0,
    .substeps = 8,
    .tenon_only = true,
    .parameters = {{"push", -10.0, 20.0, 15.0, false, "impulse on the chest after 2 s, N s"}},
    .build = build_humanoid,
    .drive = balance,
    .measure = measure_trunk,
};
