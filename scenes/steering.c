// A steering linkage from a servo's arm to two wheels: Mueller et al. 2020, Figure 16, and
// Mueller's tutorial on joints. Arms of 3 cm and rods form parallelograms, so both wheels turn by
// exactly the angle of the servo.
#include "build.h"

#include <math.h>

static const float ARM = 0.03f;           // m, from a pivot to the end of a rod
static const float WHEEL_RADIUS = 0.075f; // m
static const float TRACK = 0.15f;         // m, from the middle to a wheel's pivot
static const float SERVO = 0.03f;         // m, from the middle to the servo's pivot

enum { SERVO_JOINT, LEFT_PIVOT, LEFT_AXLE, RIGHT_PIVOT, RIGHT_AXLE };

static tn_pos arm_end(float x)
{
  return tn_p3((double)x, 0.0, -(double)ARM);
}

// A part on a vertical hinge at x, with its arm pointing backwards.
static tn_body_id add_arm(scene_run *run, float x, tn_vec3 half, float mass)
{
  tn_shape_def shape = scene_box_shape(half);
  shape.position = tn_v3(0.0f, 0.0f, -0.5f * ARM);
  shape.filter.group = -1;
  tn_body_def def = scene_body_def();
  def.position = tn_p3((double)x, 0.0, 0.0);
  tn_body_id arm = scene_add_solid(run, &def, &shape, mass);
  tn_joint_def pivot =
      scene_joint_at(run, TN_JOINT_HINGE, SCENE_WORLD, arm, def.position, tn_v3(0.0f, 1.0f, 0.0f));
  pivot.angular[0] = tn_between(-1.2f, 1.2f);
  pivot.axis[TN_ANGULAR_A].friction = x == SERVO ? 0.0f : (float)scene_value(run, "resistance");
  scene_add_joint(run, &pivot);
  return arm;
}

static void add_wheel(scene_run *run, tn_body_id knuckle, float x)
{
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CYLINDER, WHEEL_RADIUS, 0.03f);
  shape.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), 0.5f * TN_PI);
  shape.filter.group = -1;
  tn_body_def def = scene_body_def();
  def.position = tn_p3((double)(x > 0.0f ? x + 0.04f : x - 0.04f), 0.0, 0.0);
  tn_body_id wheel = scene_add_solid(run, &def, &shape, (float)scene_value(run, "wheel_mass"));
  tn_joint_def axle =
      scene_joint_at(run, TN_JOINT_HINGE, knuckle, wheel, def.position, tn_v3(1.0f, 0.0f, 0.0f));
  scene_add_joint(run, &axle);
}

static tn_body_id add_side(scene_run *run, float x)
{
  tn_body_id knuckle = add_arm(run, x, tn_v3(0.015f, 0.015f, 0.5f * ARM + 0.01f), 0.1f);
  add_wheel(run, knuckle, x);
  return knuckle;
}

// Ball joints at both ends; rotation of the rod about itself is free.
static void add_rod(scene_run *run, tn_body_id from, tn_body_id to, float x_from, float x_to)
{
  tn_joint_def rod = scene_joint_between(run, from, to, arm_end(x_from), arm_end(x_to));
  scene_add_joint(run, &rod);
}

static void build_steering(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  float arm_mass = (float)(scene_value(run, "wheel_mass") / scene_value(run, "mass_ratio"));
  tn_body_id servo = add_arm(run, SERVO, tn_v3(0.003f, 0.003f, 0.5f * ARM + 0.003f), arm_mass);
  tn_body_id left = add_side(run, -TRACK);
  tn_body_id right = add_side(run, TRACK);
  add_rod(run, servo, right, SERVO, TRACK);
  add_rod(run, left, right, -TRACK, TRACK);
  run->energy_scale = 1.0;
}

static float servo_angle(const scene_run *run, double time)
{
  float rate = 2.0f * TN_PI * (float)scene_value(run, "rate");
  float swing = (float)fmin(time, 1.0) * tn_sin(rate * (float)time); // smooth start
  return (float)scene_value(run, "angle") * (TN_PI / 180.0f) * swing;
}

static void steer(scene_run *run, float dt)
{
  tn_drive drive = tn_joint_get_def(run->world, run->joints[SERVO_JOINT]).axis[TN_ANGULAR_A].drive;
  drive.stiffness = INFINITY;
  drive.target = servo_angle(run, run->time + (double)dt);
  tn_joint_set_drive(run->world, run->joints[SERVO_JOINT], TN_ANGULAR_A, drive);
}

static double pivot_angle(const scene_run *run, int joint)
{
  return (double)tn_joint_get_state(run->world, run->joints[joint]).angle.x;
}

static void measure_steering(const scene_run *run, scene_sheet *sheet)
{
  double wanted = (double)servo_angle(run, run->time);
  scene_note(sheet, "servo_error_rad", fabs(pivot_angle(run, SERVO_JOINT) - wanted));
  scene_note(sheet, "left_error_rad", fabs(pivot_angle(run, LEFT_PIVOT) - wanted));
  scene_note(sheet, "right_error_rad", fabs(pivot_angle(run, RIGHT_PIVOT) - wanted));
  scene_note(sheet, "steering_rad", pivot_angle(run, RIGHT_PIVOT));
}

const scene scene_steering = {
    .name = "steering",
    .title = "A steering linkage: a servo arm of 1 g turns two heavy wheels",
    .source = "Mueller et al. 2020, Fig. 16; Mueller, Ten Minute Physics 25",
    .group = SCENE_JOINTS,
    .camera = {{0.0f, 0.35f, -0.5f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .tenon_only = true, // large mass ratio
    .parameters = {{"wheel_mass", 0.01, 100.0, 0.76, false, "mass of a wheel, kg"},
                   {"mass_ratio", 1.0, 1e5, 760.0, false,
                    "mass ratio of a wheel and the servo's arm"},
                   {"angle", 0.0, 60.0, 30.0, false, "amplitude of the servo, degrees"},
                   {"rate", 0.01, 10.0, 0.5, false, "frequency of the servo, 1/s"},
                   {"resistance", 0.0, 100.0, 0.0, false, "friction torque of each wheel, N m"}},
    .build = build_steering,
    .drive = steer,
    .measure = measure_steering,
};
