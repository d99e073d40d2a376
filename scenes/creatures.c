// Models with limbs: ragdolls and a walker.
#include "build.h"

#include <math.h>

static const tn_vec3 X_AXIS = {1.0f, 0.0f, 0.0f};
static const tn_vec3 Y_AXIS = {0.0f, 1.0f, 0.0f};
static const tn_vec3 Z_AXIS = {0.0f, 0.0f, 1.0f};

// ---------------------------------------------------------------------------------------------
// Ragdolls: upright, facing z, arms down. Capsules along y.

typedef struct limb {
  tn_vec3 center; // above the point between the feet, m
  float radius, half_length, mass;
  int parent; // -1: none
  tn_joint_kind kind;
  tn_vec3 joint; // position of the joint to its parent
  tn_range bend; // range of a hinge about x, or twist of a ball joint
  float swing;   // of a ball joint
} limb;

#define BALL TN_JOINT_BALL
#define HINGE TN_JOINT_HINGE
// clang-format off
static const limb limbs[] = {
    {{ 0.00f, 1.00f, 0.00f}, 0.140f, 0.06f, 12.0f, -1, BALL,  { 0.00f, 0.00f, 0.00f}, { 0.0f, 0.0f}, 0.0f},
    {{ 0.00f, 1.33f, 0.00f}, 0.160f, 0.10f, 24.0f,  0, BALL,  { 0.00f, 1.14f, 0.00f}, {-0.4f, 0.4f}, 0.5f},
    {{ 0.00f, 1.70f, 0.00f}, 0.100f, 0.04f,  5.0f,  1, BALL,  { 0.00f, 1.56f, 0.00f}, {-0.8f, 0.8f}, 0.5f},
    {{ 0.23f, 1.32f, 0.00f}, 0.050f, 0.12f,  2.5f,  1, BALL,  { 0.23f, 1.47f, 0.00f}, {-0.8f, 0.8f}, 1.5f},
    {{-0.23f, 1.32f, 0.00f}, 0.050f, 0.12f,  2.5f,  1, BALL,  {-0.23f, 1.47f, 0.00f}, {-0.8f, 0.8f}, 1.5f},
    {{ 0.23f, 1.02f, 0.00f}, 0.040f, 0.13f,  2.0f,  3, HINGE, { 0.23f, 1.17f, 0.00f}, {-2.4f, 0.0f}, 0.0f},
    {{-0.23f, 1.02f, 0.00f}, 0.040f, 0.13f,  2.0f,  4, HINGE, {-0.23f, 1.17f, 0.00f}, {-2.4f, 0.0f}, 0.0f},
    {{ 0.09f, 0.68f, 0.00f}, 0.075f, 0.15f,  8.0f,  0, BALL,  { 0.09f, 0.90f, 0.00f}, {-0.4f, 0.4f}, 1.0f},
    {{-0.09f, 0.68f, 0.00f}, 0.075f, 0.15f,  8.0f,  0, BALL,  {-0.09f, 0.90f, 0.00f}, {-0.4f, 0.4f}, 1.0f},
    {{ 0.09f, 0.27f, 0.00f}, 0.055f, 0.16f,  4.0f,  7, HINGE, { 0.09f, 0.47f, 0.00f}, { 0.0f, 2.4f}, 0.0f},
    {{-0.09f, 0.27f, 0.00f}, 0.055f, 0.16f,  4.0f,  8, HINGE, {-0.09f, 0.47f, 0.00f}, { 0.0f, 2.4f}, 0.0f},
    {{ 0.23f, 0.81f, 0.00f}, 0.030f, 0.04f,  0.4f,  5, BALL,  { 0.23f, 0.87f, 0.00f}, {-0.3f, 0.3f}, 1.0f},
    {{-0.23f, 0.81f, 0.00f}, 0.030f, 0.04f,  0.4f,  6, BALL,  {-0.23f, 0.87f, 0.00f}, {-0.3f, 0.3f}, 1.0f},
    {{ 0.09f, 0.05f, 0.06f}, 0.050f, 0.07f,  1.0f,  9, HINGE, { 0.09f, 0.07f, 0.00f}, {-0.5f, 0.5f}, 0.0f},
    {{-0.09f, 0.05f, 0.06f}, 0.050f, 0.07f,  1.0f, 10, HINGE, {-0.09f, 0.07f, 0.00f}, {-0.5f, 0.5f}, 0.0f},
};
// clang-format on
enum { LIMBS = (int)(sizeof limbs / sizeof limbs[0]), HANDS = 11, FEET = 13 };

static void join_limb(scene_run *run, const limb *l, int first, tn_pos foot, tn_quat turn)
{
  tn_body_id child = run->bodies[run->body_count - 1];
  tn_pos point = tn_offset(foot, tn_rotate(turn, l->joint));
  tn_vec3 axis = tn_rotate(turn, l->kind == TN_JOINT_HINGE ? X_AXIS : tn_v3(0.0f, -1.0f, 0.0f));
  tn_joint_def joint =
      scene_joint_at(run, l->kind, run->bodies[first + l->parent], child, point, axis);
  joint.angular[0] = l->bend;
  if (l->kind == TN_JOINT_BALL) {
    joint.swing = l->swing;
  }
  joint.axis[TN_ANGULAR_A].friction = 0.5f;
  scene_add_joint(run, &joint);
}

// Parts of one ragdoll do not collide with each other, only with those of others.
static void add_ragdoll(scene_run *run, tn_pos foot, tn_quat turn, int number)
{
  int first = run->body_count;
  float lightness = (float)scene_value(run, "mass_ratio") / 60.0f;
  for (int i = 0; i < LIMBS && !run->failed; ++i) {
    limb part = limbs[i];
    const limb *l = &part;
    tn_shape_def shape = scene_axial_shape(TN_SHAPE_CAPSULE, l->radius, l->half_length);
    shape.material = scene_material(0.6f, 0.0f);
    shape.filter.group = -1 - number;
    if (i >= FEET) {
      shape.rotation = tn_quat_axis_angle(X_AXIS, 0.5f * TN_PI);
    }
    if (i >= HANDS) {
      part.mass /= lightness;
    }
    tn_body_def def = scene_body_def();
    def.position = tn_offset(foot, tn_rotate(turn, l->center));
    def.rotation = turn;
    scene_add_solid(run, &def, &shape, l->mass);
    run->energy_scale += (double)(l->mass * SCENE_GRAVITY) * def.position.y;
    if (l->parent >= 0 && !run->failed) {
      join_limb(run, l, first, foot, turn);
    }
  }
}

static void add_stairs(scene_run *run)
{
  int count = (int)scene_value(run, "stairs");
  for (int i = 0; i < count; ++i) {
    float half = 0.1f * (float)(count - i);
    tn_shape_def step = scene_box_shape(tn_v3(3.0f, half, 0.2f));
    step.material = scene_material(0.6f, 0.0f);
    tn_pos at = tn_p3(0.0, (double)half, 0.4 * (double)i);
    scene_add_fixed(run, (tn_transform){at, tn_quat_identity()}, &step);
  }
}

static void build_ragdoll(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), scene_material(0.6f, 0.0f));
  add_stairs(run);
  int count = (int)scene_value(run, "count");
  double top = 0.2 * scene_value(run, "stairs") + scene_value(run, "height");
  for (int i = 0; i < count && !run->failed; ++i) {
    // Rows of four above each other, each with another heading and leaning over the stairs.
    tn_pos foot = tn_p3(1.2 * ((double)(i % 4) - 0.5 * fmin((double)count - 1.0, 3.0)),
                        top + 2.2 * (double)(i / 4), 0.0); // NOLINT(bugprone-integer-division)
    tn_quat turn =
        tn_quat_mul(tn_quat_axis_angle(Y_AXIS, 0.7f * (float)i), tn_quat_axis_angle(X_AXIS, 0.3f));
    add_ragdoll(run, foot, turn, i);
  }
}

static void measure_ragdoll(const scene_run *run, scene_sheet *sheet)
{
  int below = 0;
  for (int i = 0; i < run->body_count; ++i) {
    below += !(tn_body_position(run->world, run->bodies[i]).y > 0.0);
  }
  scene_note(sheet, "escaped", (double)below);
}

const scene scene_ragdoll = {
    .name = "ragdoll",
    .title = "Ragdolls that fall down a flight of stairs",
    .source = "common engine test",
    .group = SCENE_MODELS,
    .camera = {{4.5f, 3.0f, 6.0f}, {0.0f, 1.0f, 1.0f}},
    .seconds = 8.0,
    .substeps = 20,
    .parameters = {{"count", 1.0, 1000.0, 4.0, true, "number of ragdolls"},
                   {"stairs", 0.0, 50.0, 8.0, true, "number of steps"},
                   {"height", 0.0, 100.0, 0.3, false, "height of the feet above the stairs, m"},
                   {"mass_ratio", 1.0, 1e5, 60.0, false, "mass ratio of the chest and a hand"}},
    .build = build_ragdoll,
    .measure = measure_ragdoll,
};

// ---------------------------------------------------------------------------------------------
// A walker along x: a trunk on four legs of two parts, with servos at hips and knees. Joint 2 i is
// the hip of leg i, joint 2 i + 1 its knee; the front legs come first.

enum { LEGS = 4 };
static const float THIGH = 0.30f, SHANK = 0.28f, FOOT = 0.045f;
static const tn_vec3 TRUNK = {0.40f, 0.08f, 0.18f};

static tn_body_id add_leg_part(scene_run *run, tn_body_id parent, tn_pos top, float length,
                               float radius, float mass)
{
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CAPSULE, radius, 0.5f * length);
  shape.material = scene_material(0.9f, 0.0f);
  shape.filter.group = -1;
  tn_body_def def = scene_body_def();
  def.position = tn_offset(top, tn_v3(0.0f, -0.5f * length, 0.0f));
  tn_body_id part = scene_add_solid(run, &def, &shape, mass);
  tn_joint_def hinge = scene_joint_at(run, TN_JOINT_HINGE, parent, part, top, Z_AXIS);
  hinge.axis[TN_ANGULAR_A].drive.limits = tn_between(-80.0f, 80.0f); // N m
  scene_add_joint(run, &hinge);
  return part;
}

static void build_walker(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), scene_material(0.9f, 0.0f));
  tn_shape_def box = scene_box_shape(TRUNK);
  box.filter.group = -1;
  tn_body_def def = scene_body_def();
  def.position = tn_p3(0.0, (double)(THIGH + SHANK + FOOT) + 0.01, 0.0);
  tn_body_id trunk = scene_add_solid(run, &def, &box, 10.0f);
  for (int i = 0; i < LEGS && !run->failed; ++i) {
    float x = i < 2 ? 0.32f : -0.32f, z = i % 2 ? -0.24f : 0.24f;
    tn_pos hip = tn_offset(def.position, tn_v3(x, 0.0f, z));
    tn_body_id thigh = add_leg_part(run, trunk, hip, THIGH, 0.04f, 1.5f);
    add_leg_part(run, thigh, tn_offset(hip, tn_v3(0.0f, -THIGH, 0.0f)), SHANK, FOOT, 1.0f);
  }
  run->energy_scale = run->weighing_mass * (double)SCENE_GRAVITY * def.position.y;
}

static void set_servo(scene_run *run, int joint, float target)
{
  tn_drive drive = tn_joint_get_def(run->world, run->joints[joint]).axis[TN_ANGULAR_A].drive;
  drive.stiffness = INFINITY;
  drive.target = target;
  tn_joint_set_drive(run->world, run->joints[joint], TN_ANGULAR_A, drive);
}

// Each leg in turn swings forward with its knee bent for a quarter of the period; otherwise it is
// straight and pushes back.
static void move_leg(scene_run *run, int leg, double time, float share)
{
  static const double start[LEGS] = {0.75, 0.25, 0.0, 0.5};
  double turns = time * scene_value(run, "rate") + start[leg];
  float u = (float)(turns - floor(turns));
  float reach = share * (float)scene_value(run, "swing"), swing = 0.0f, lift = 0.0f;
  if (u < 0.25f) {
    swing = -reach * tn_cos(4.0f * TN_PI * u);
    lift = share * (float)scene_value(run, "lift") * tn_sin(4.0f * TN_PI * u);
  } else {
    swing = reach * (1.0f - 2.0f * (u - 0.25f) / 0.75f);
  }
  set_servo(run, 2 * leg, swing + 0.5f * lift);
  set_servo(run, 2 * leg + 1, -lift);
}

static void walk(scene_run *run, float dt)
{
  double time = run->time + (double)dt;
  float share = (float)fmin(fmax(time - 0.5, 0.0), 1.0); // smooth start
  for (int i = 0; i < LEGS; ++i) {
    move_leg(run, i, time, share);
  }
}

static void measure_walker(const scene_run *run, scene_sheet *sheet)
{
  tn_pos trunk = tn_body_position(run->world, run->bodies[0]);
  tn_vec3 up = tn_rotate(tn_body_rotation(run->world, run->bodies[0]), Y_AXIS);
  scene_note(sheet, "way_m", trunk.x);
  scene_note(sheet, "aside_m", fabs(trunk.z));
  scene_note(sheet, "height_m", trunk.y);
  scene_note(sheet, "upright", (double)up.y);
}

const scene scene_walker = {
    .name = "walker",
    .title = "A four-legged walker",
    .source = "Tenon",
    .group = SCENE_MODELS,
    .camera = {{2.0f, 1.5f, 4.5f}, {2.0f, 0.3f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"rate", 0.1, 5.0, 0.8, false, "steps of each leg per second"},
                   {"swing", 0.0, 1.0, 0.3, false, "amplitude of the hips, rad"},
                   {"lift", 0.0, 1.5, 0.7, false, "bending of the knees, rad"}},
    .build = build_walker,
    .drive = walk,
    .measure = measure_walker,
};
