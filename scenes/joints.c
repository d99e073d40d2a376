// Examples of every kind of joint.
#include "build.h"

#include <math.h>

static const float MASS = 1.0f;
static const float ARM_LENGTH = 1.0f;

// ---------------------------------------------------------------------------------------------
// Exhibits side by side, each a body on a joint to the world: body i and joint i.

typedef struct exhibit {
  tn_joint_kind kind;
  tn_vec3 axis;           // axis a of the joint
  tn_vec3 arm;            // direction of the arm, which is jointed at its end; zero: a cube
  tn_vec3 velocity, spin; // of the cube; of cube or arm
  float damping;          // of the body
} exhibit;

static const tn_vec3 X_AXIS = {1.0f, 0.0f, 0.0f};
static const tn_vec3 Y_AXIS = {0.0f, 1.0f, 0.0f};
static const tn_vec3 Z_AXIS = {0.0f, 0.0f, 1.0f};

static tn_body_def arm_def(tn_pos end, const exhibit *e)
{
  tn_vec3 half = tn_v3(0.5f * ARM_LENGTH, 0.025f, 0.025f);
  tn_vec3 middle = tn_scale(0.5f * ARM_LENGTH, e->arm);
  tn_body_def def = scene_box(tn_offset(end, middle), half, MASS);
  def.rotation = tn_quat_x_to(e->arm);
  def.velocity = tn_cross(e->spin, middle);
  return def;
}

static tn_body_def cube_def(tn_pos center, const exhibit *e)
{
  tn_body_def def = scene_box(center, tn_v3(0.1f, 0.1f, 0.1f), MASS);
  def.velocity = e->velocity;
  return def;
}

// Adds the body and returns the definition of its joint, to be completed and added.
static tn_joint_def show(scene_run *run, const exhibit *e)
{
  // Rows of five.
  int column = run->body_count % 5, row = run->body_count / 5;
  tn_pos point = tn_p3(1.35 * column, -1.9 * row, 0.0);
  tn_body_def def = tn_length(e->arm) > 0.0f ? arm_def(point, e) : cube_def(point, e);
  def.angular_velocity = e->spin;
  def.linear_damping = def.angular_damping = e->damping;
  tn_body_id body = scene_add_body(run, &def);
  run->energy_scale += (double)(0.5f * MASS * SCENE_GRAVITY * ARM_LENGTH);
  return scene_joint_at(run, e->kind, SCENE_WORLD, body, point, e->axis);
}

static tn_drive drive_to(double target, float compliance)
{
  return tn_servo((float)target, tn_stiffness(compliance), 0.0f);
}

static tn_joint_state state_of(const scene_run *run, int i)
{
  return tn_joint_get_state(run->world, run->joints[i]);
}

static double spin_of(const scene_run *run, int i, tn_vec3 axis)
{
  return (double)tn_dot(tn_body_angular_velocity(run->world, run->bodies[i]), axis);
}

// ---------------------------------------------------------------------------------------------
// Figure 7: hard limits, soft limits, targets

enum {
  ZOO_SLIDER_LIMIT,
  ZOO_SLIDER_TARGET,
  ZOO_SLIDER_SOFT,
  ZOO_HINGE_LIMIT,
  ZOO_HINGE_TARGET,
  ZOO_HINGE_SOFT,
  ZOO_BALL_LIMIT,
  ZOO_BALL_SOFT,
  ZOO_UNIVERSAL,
  ZOO_CYLINDER,
};

static const float SLIDE_LIMIT = 0.5f;
static const float SLIDE_TARGET = 0.3f;
static const float SLIDE_COMPLIANCE = 0.02f; // m/N
static const float TURN_LIMIT = 0.5f;
static const float TURN_TARGET = 0.5f;
static const float TURN_COMPLIANCE = 0.05f; // rad/(N m)
static const float SETTLING = 2.0f;         // 1/s, damping that brings all to rest

static void show_sliders(scene_run *run)
{
  exhibit slider = {.kind = TN_JOINT_PRISMATIC, .axis = Y_AXIS, .damping = SETTLING};
  tn_joint_def limit = show(run, &slider);
  limit.linear[0] = tn_between(-SLIDE_LIMIT, SLIDE_LIMIT);
  scene_add_joint(run, &limit);

  tn_joint_def target = show(run, &slider);
  target.axis[TN_LINEAR_A].drive = drive_to(0.0, 0.0f);
  scene_add_joint(run, &target);

  tn_joint_def soft = show(run, &slider);
  soft.linear[0] = tn_between(-SLIDE_LIMIT, SLIDE_LIMIT);
  soft.limit_compliance = SLIDE_COMPLIANCE;
  scene_add_joint(run, &soft);
}

static void show_hinges(scene_run *run)
{
  exhibit hinge = {.kind = TN_JOINT_HINGE, .axis = Z_AXIS, .arm = X_AXIS, .damping = SETTLING};
  tn_joint_def limit = show(run, &hinge);
  limit.angular[0] = tn_between(-TURN_LIMIT, TURN_LIMIT);
  scene_add_joint(run, &limit);

  tn_joint_def target = show(run, &hinge);
  target.axis[TN_ANGULAR_A].drive = drive_to(0.0, 0.0f);
  scene_add_joint(run, &target);

  tn_joint_def soft = show(run, &hinge);
  soft.axis[TN_ANGULAR_A].drive = drive_to(0.0, TURN_COMPLIANCE);
  scene_add_joint(run, &soft);
}

static void show_balls(scene_run *run)
{
  exhibit ball = {.kind = TN_JOINT_BALL,
                  .axis = X_AXIS,
                  .arm = X_AXIS,
                  .spin = tn_v3(3.0f, 1.0f, 0.0f),
                  .damping = SETTLING};
  for (int soft = 0; soft < 2; ++soft) {
    tn_joint_def joint = show(run, &ball);
    joint.swing = TURN_LIMIT;
    joint.angular[0] = tn_between(-0.3f, 0.3f);
    joint.angular_limit_compliance = soft ? TURN_COMPLIANCE : 0.0f;
    scene_add_joint(run, &joint);
  }
}

static void show_rest_of_zoo(scene_run *run)
{
  exhibit universal = {.kind = TN_JOINT_UNIVERSAL,
                       .axis = Z_AXIS,
                       .arm = X_AXIS,
                       .spin = tn_v3(0.0f, 2.0f, 0.0f),
                       .damping = SETTLING};
  tn_joint_def cross = show(run, &universal);
  cross.angular[0] = tn_between(-TURN_LIMIT, TURN_LIMIT);
  cross.angular[1] = tn_between(-0.4f, 0.4f);
  scene_add_joint(run, &cross);

  exhibit cylinder = {.kind = TN_JOINT_CYLINDER, .axis = Y_AXIS, .damping = SETTLING};
  tn_joint_def screw = show(run, &cylinder);
  screw.linear[0] = tn_between(-SLIDE_LIMIT, SLIDE_LIMIT);
  screw.axis[TN_ANGULAR_A].drive = drive_to(0.0, 0.0f);
  scene_add_joint(run, &screw);
}

static void build_zoo(scene_run *run)
{
  scene_set_gravity(run);
  show_sliders(run);
  show_hinges(run);
  show_balls(run);
  show_rest_of_zoo(run);
}

// Targets move to their final values within a second.
static void drive_zoo(scene_run *run, float dt)
{
  double share = fmin(run->time + (double)dt, 1.0);
  tn_drive slide = drive_to(share * (double)SLIDE_TARGET, 0.0f);
  tn_drive turn = drive_to(share * (double)TURN_TARGET, 0.0f);
  tn_joint_set_drive(run->world, run->joints[ZOO_SLIDER_TARGET], TN_LINEAR_A, slide);
  tn_joint_set_drive(run->world, run->joints[ZOO_HINGE_TARGET], TN_ANGULAR_A, turn);
  tn_joint_set_drive(run->world, run->joints[ZOO_CYLINDER], TN_ANGULAR_A, turn);
}

static double distance(float x, float wanted)
{
  return fabs((double)x - (double)wanted);
}

// Relative error of the torque of a spring deflected by `give`, against the weight of an arm at
// `angle` below horizontal.
static double arm_balance_error(double angle, double give)
{
  double weight = (double)(0.5f * MASS * SCENE_GRAVITY * ARM_LENGTH * tn_cos((float)angle));
  return fabs(give / (double)TURN_COMPLIANCE - weight) / weight;
}

static double worst_soft_error(const scene_run *run)
{
  double sag = -(double)state_of(run, ZOO_SLIDER_SOFT).offset.x - (double)SLIDE_LIMIT;
  double expected = (double)(SLIDE_COMPLIANCE * MASS * SCENE_GRAVITY);
  double worst = fabs(sag - expected) / expected;
  double hinge = -(double)state_of(run, ZOO_HINGE_SOFT).angle.x;
  worst = fmax(worst, arm_balance_error(hinge, hinge));
  double swing = (double)state_of(run, ZOO_BALL_SOFT).swing;
  return fmax(worst, arm_balance_error(swing, swing - (double)TURN_LIMIT));
}

static void measure_zoo(const scene_run *run, scene_sheet *sheet)
{
  scene_note(sheet, "limit_error_m",
             fmax(distance(state_of(run, ZOO_SLIDER_LIMIT).offset.x, -SLIDE_LIMIT),
                  distance(state_of(run, ZOO_CYLINDER).offset.x, -SLIDE_LIMIT)));
  double turn = distance(state_of(run, ZOO_HINGE_LIMIT).angle.x, -TURN_LIMIT);
  turn = fmax(turn, distance(state_of(run, ZOO_BALL_LIMIT).swing, TURN_LIMIT));
  turn = fmax(turn, distance(state_of(run, ZOO_UNIVERSAL).angle.x, -TURN_LIMIT));
  scene_note(sheet, "limit_error_rad", turn);
  scene_note(sheet, "target_error_m",
             distance(state_of(run, ZOO_SLIDER_TARGET).offset.x, SLIDE_TARGET));
  scene_note(sheet, "target_error_rad",
             fmax(distance(state_of(run, ZOO_HINGE_TARGET).angle.x, TURN_TARGET),
                  distance(state_of(run, ZOO_CYLINDER).angle.x, TURN_TARGET)));
  scene_note(sheet, "soft_error_rel", worst_soft_error(run));
}

const scene scene_joint_zoo = {
    .name = "joint_zoo",
    .title = "Slider, hinge, ball, universal and cylinder joints with limits and targets",
    .source = "Mueller et al. 2020, Fig. 7",
    .group = SCENE_DETAILED,
    .camera = {{3.1f, 0.1f, 6.6f}, {3.1f, -0.95f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .build = build_zoo,
    .drive = drive_zoo,
    .measure = measure_zoo,
};

// ---------------------------------------------------------------------------------------------
// The joints of the tutorial, with its damping, forces and torques

enum {
  BASIC_BALL,
  BASIC_HINGE,
  BASIC_HINGE_DAMPED,
  BASIC_SLIDER,
  BASIC_SLIDER_DAMPED,
  BASIC_MOTOR,
  BASIC_SERVO,
  BASIC_CYLINDER,
  BASIC_TORQUE,
};

static const float JOINT_DAMPING = 10.0f; // 1/s, times mass or inertia
static const float SLIDER_SPEED = 0.1f;
static const float MOTOR_SPEED = 2.0f;
static const float WHEEL_TORQUE = 0.01f;

static void show_passive(scene_run *run)
{
  exhibit ball = {
      .kind = TN_JOINT_BALL, .axis = X_AXIS, .arm = X_AXIS, .spin = tn_v3(0.0f, 1.0f, 0.0f)};
  exhibit hinge = {.kind = TN_JOINT_HINGE, .axis = Z_AXIS, .arm = X_AXIS};
  exhibit slider = {
      .kind = TN_JOINT_PRISMATIC, .axis = Z_AXIS, .velocity = tn_v3(0.0f, 0.0f, SLIDER_SPEED)};
  const exhibit *in_order[] = {&ball, &hinge, &hinge, &slider, &slider};
  for (int i = BASIC_BALL; i <= BASIC_SLIDER_DAMPED; ++i) {
    tn_joint_def joint = show(run, in_order[i]);
    if (i == BASIC_HINGE_DAMPED) {
      joint.axis[TN_ANGULAR_A].damping = JOINT_DAMPING * MASS * ARM_LENGTH * ARM_LENGTH / 3.0f;
    } else if (i == BASIC_SLIDER_DAMPED) {
      joint.axis[TN_LINEAR_A].damping = JOINT_DAMPING * MASS;
    }
    scene_add_joint(run, &joint);
  }
}

static void show_driven(scene_run *run)
{
  exhibit arm = {.kind = TN_JOINT_HINGE, .axis = Z_AXIS, .arm = X_AXIS};
  tn_joint_def motor = show(run, &arm);
  motor.axis[TN_ANGULAR_A].drive = tn_motor(MOTOR_SPEED, INFINITY, INFINITY);
  scene_add_joint(run, &motor);

  tn_joint_def servo = show(run, &arm);
  servo.axis[TN_ANGULAR_A].drive = drive_to(0.0, 0.0f);
  scene_add_joint(run, &servo);

  exhibit cylinder = {
      .kind = TN_JOINT_CYLINDER, .axis = Y_AXIS, .spin = tn_v3(0.0f, MOTOR_SPEED, 0.0f)};
  tn_joint_def lift = show(run, &cylinder);
  lift.axis[TN_LINEAR_A].drive = drive_to(0.0, 0.0f);
  scene_add_joint(run, &lift);

  exhibit wheel = {.kind = TN_JOINT_HINGE, .axis = Z_AXIS};
  tn_joint_def torque = show(run, &wheel);
  torque.axis[TN_ANGULAR_A].drive.force = WHEEL_TORQUE;
  scene_add_joint(run, &torque);
}

static double energy_of(const scene_run *run, int i)
{
  return tn_bodies_energy(run->world, &run->bodies[i], 1).total;
}

static void build_basic(scene_run *run)
{
  scene_set_gravity(run);
  show_passive(run);
  show_driven(run);
  if (!run->failed) {
    run->memory[BASIC_BALL] = energy_of(run, BASIC_BALL);
    run->memory[BASIC_HINGE] = energy_of(run, BASIC_HINGE);
  }
}

static float servo_angle(double time)
{
  return 0.5f * tn_sin((float)(2.0 * time));
}

static float lift_offset(double time)
{
  return 0.3f * tn_sin((float)(2.0 * time));
}

static void drive_basic(scene_run *run, float dt)
{
  double end = run->time + (double)dt;
  tn_drive servo = drive_to((double)servo_angle(end), 0.0f);
  tn_drive lift = drive_to((double)lift_offset(end), 0.0f);
  tn_joint_set_drive(run->world, run->joints[BASIC_SERVO], TN_ANGULAR_A, servo);
  tn_joint_set_drive(run->world, run->joints[BASIC_CYLINDER], TN_LINEAR_A, lift);
}

static double relative_distance(double x, double wanted)
{
  return fabs(x - wanted) / wanted;
}

static void measure_basic(const scene_run *run, scene_sheet *sheet)
{
  double fall = (double)(0.5f * MASS * SCENE_GRAVITY * ARM_LENGTH);
  double ball = energy_of(run, BASIC_BALL) - run->memory[BASIC_BALL];
  double hinge = energy_of(run, BASIC_HINGE) - run->memory[BASIC_HINGE];
  scene_note(sheet, "ball_energy_rel", ball / fall);
  scene_note(sheet, "hinge_energy_rel", hinge / fall);
  scene_note(sheet, "damped_hinge_error_rad",
             distance(state_of(run, BASIC_HINGE_DAMPED).angle.x, -0.5f * TN_PI));
  tn_vec3 slide = tn_body_velocity(run->world, run->bodies[BASIC_SLIDER]);
  scene_note(sheet, "slider_speed_error_rel",
             relative_distance((double)slide.z, (double)SLIDER_SPEED));
  scene_note(sheet, "damped_slider_travel_error_rel",
             relative_distance((double)state_of(run, BASIC_SLIDER_DAMPED).offset.x,
                               (double)(SLIDER_SPEED / JOINT_DAMPING)));
  scene_note(sheet, "motor_speed_error_rel",
             relative_distance(spin_of(run, BASIC_MOTOR, Z_AXIS), (double)MOTOR_SPEED));
  scene_note(sheet, "servo_error_rad",
             distance(state_of(run, BASIC_SERVO).angle.x, servo_angle(run->time)));
  scene_note(sheet, "lift_error_m",
             distance(state_of(run, BASIC_CYLINDER).offset.x, lift_offset(run->time)));
  scene_note(sheet, "lift_spin_error_rel",
             relative_distance(spin_of(run, BASIC_CYLINDER, Y_AXIS), (double)MOTOR_SPEED));
  double inertia = (double)tn_body_mass(run->world, run->bodies[BASIC_TORQUE]).inertia.zz;
  scene_note(sheet, "wheel_speed_error_rel",
             relative_distance(spin_of(run, BASIC_TORQUE, Z_AXIS),
                               (double)WHEEL_TORQUE * run->time / inertia));
}

const scene scene_joints_basic = {
    .name = "joints_basic",
    .title = "Ball joint, free and damped hinges and sliders, motor, servo, lift, driven wheel",
    .source = "Mueller, Ten Minute Physics 25",
    .group = SCENE_JOINTS,
    .camera = {{2.6f, 0.1f, 7.6f}, {2.6f, -0.95f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .build = build_basic,
    .drive = drive_basic,
    .measure = measure_basic,
};
