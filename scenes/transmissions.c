// Machines with couplings: a differential gear, a winch with a block and tackle, a scissor lift on
// a screw, a finger with a tendon, the gear train of a clock.
#include "build.h"

#include <math.h>

static const tn_vec3 X_AXIS = {1.0f, 0.0f, 0.0f};
static const tn_vec3 Y_AXIS = {0.0f, 1.0f, 0.0f};
static const tn_vec3 Z_AXIS = {0.0f, 0.0f, 1.0f};

// Axes of a coupling: offset along and angle about axis a of a joint.
enum { SLIDE = 0, TURN = 3 };

static tn_shape_def disc(float radius, float half_width, tn_vec3 axis)
{
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CYLINDER, radius, half_width);
  shape.rotation =
      tn_quat_mul(tn_quat_x_to(axis), tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), -0.5f * TN_PI));
  shape.filter.mask = 0; // gears mesh by couplings, not by contact
  return shape;
}

static tn_shape_def bar(tn_vec3 half, tn_vec3 at)
{
  tn_shape_def shape = scene_box_shape(half);
  shape.position = at;
  shape.filter.mask = 0;
  return shape;
}

// A body of `count` shapes on a hinge about `axis`, held by `base`. Returns the hinge.
static tn_joint_id add_rotor(scene_run *run, tn_body_id base, tn_pos at, tn_vec3 axis,
                             const tn_shape_def *shapes, int count, float mass)
{
  tn_body_def def = scene_body_def();
  def.position = at;
  tn_body_id rotor = scene_add_compound(run, &def, shapes, count, mass);
  tn_joint_def hinge = scene_joint_at(run, TN_JOINT_HINGE, base, rotor, at, axis);
  return scene_add_joint(run, &hinge);
}

static void couple(scene_run *run, tn_joint_id a, float factor_a, tn_joint_id b, float factor_b)
{
  tn_coupling_def def = tn_default_coupling_def();
  tn_coupling_def_axis(&def, a, TURN, factor_a);
  tn_coupling_def_axis(&def, b, TURN, factor_b);
  scene_add_coupling(run, &def);
}

// A coupling of one axis without a range, for a drive or friction.
static tn_coupling_def on_axis(tn_joint_id joint, int axis)
{
  tn_coupling_def def = tn_default_coupling_def();
  tn_coupling_def_axis(&def, joint, axis, 1.0f);
  def.range = tn_between(-INFINITY, INFINITY);
  return def;
}

static double rate_of(const scene_run *run, int coupling)
{
  return (double)tn_coupling_get_state(run->world, run->couplings[coupling]).rate;
}

static double force_of(const scene_run *run, int coupling)
{
  return (double)tn_coupling_get_state(run->world, run->couplings[coupling]).force;
}

// ---------------------------------------------------------------------------------------------
// A differential: the input shaft turns the carrier by bevel gears, the carrier two wheels with
// 2 carrier = left + right. Spider gears on the carrier roll on the wheels' side gears. Every 3 s
// the brake changes from one wheel to the other.

enum { DIFF_MOTOR, DIFF_FINAL, DIFF_SPLIT, DIFF_SPIDER, DIFF_SPIDER_2, DIFF_BRAKE };
enum { DIFF_INPUT, DIFF_CARRIER, DIFF_LEFT, DIFF_RIGHT };
static const float FINAL_DRIVE = 3.0f;

static tn_joint_id add_axle(scene_run *run, float side)
{
  tn_shape_def shapes[4] = {disc(0.32f, 0.09f, X_AXIS), disc(0.04f, 0.35f, X_AXIS),
                            disc(0.09f, 0.025f, X_AXIS), bar(tn_v3(0.1f, 0.3f, 0.03f), X_AXIS)};
  shapes[1].position = tn_v3(-0.4f * side, 0.0f, 0.0f);
  shapes[2].position = tn_v3(-0.68f * side, 0.0f, 0.0f);
  shapes[3].position = tn_v3(0.0f, 0.0f, 0.0f);
  return add_rotor(run, SCENE_WORLD, tn_p3(0.8 * (double)side, 0.0, 0.0), X_AXIS, shapes, 4, 8.0f);
}

static tn_joint_id add_carrier(scene_run *run)
{
  tn_shape_def shapes[3] = {disc(0.3f, 0.03f, X_AXIS),
                            bar(tn_v3(0.14f, 0.02f, 0.05f), tn_v3(0.0f, 0.2f, 0.0f)),
                            bar(tn_v3(0.14f, 0.02f, 0.05f), tn_v3(0.0f, -0.2f, 0.0f))};
  shapes[0].position = tn_v3(-0.16f, 0.0f, 0.0f);
  return add_rotor(run, SCENE_WORLD, tn_p3(0.0, 0.0, 0.0), X_AXIS, shapes, 3, 6.0f);
}

static void build_differential(scene_run *run)
{
  scene_set_gravity(run);
  tn_shape_def pinion[2] = {disc(0.1f, 0.04f, Z_AXIS), disc(0.03f, 0.3f, Z_AXIS)};
  pinion[1].position = tn_v3(0.0f, 0.0f, 0.3f);
  tn_joint_id input = add_rotor(run, SCENE_WORLD, tn_p3(-0.07, 0.0, 0.33), Z_AXIS, pinion, 2, 1.0f);
  tn_joint_id carrier = add_carrier(run);
  tn_joint_id left = add_axle(run, -1.0f), right = add_axle(run, 1.0f);
  tn_coupling_def motor = on_axis(input, TURN);
  motor.drive.damping = 1e3f;
  motor.drive.velocity = (float)scene_value(run, "speed");
  float torque = (float)scene_value(run, "torque");
  motor.drive.limits = tn_between(-torque, torque);
  scene_add_coupling(run, &motor);
  couple(run, input, 1.0f, carrier, -FINAL_DRIVE);
  tn_coupling_def split = tn_default_coupling_def();
  tn_coupling_def_axis(&split, carrier, TURN, 2.0f);
  tn_coupling_def_axis(&split, left, TURN, -1.0f);
  tn_coupling_def_axis(&split, right, TURN, -1.0f);
  scene_add_coupling(run, &split);
  for (int i = 0; i < 2; ++i) { // radii 0.09 and 0.06
    float sign = i ? -1.0f : 1.0f;
    tn_shape_def gear[2] = {disc(0.06f, 0.02f, Y_AXIS), bar(tn_v3(0.055f, 0.022f, 0.01f), X_AXIS)};
    gear[1].position = tn_v3(0.0f, 0.0f, 0.0f);
    tn_joint_id spider = add_rotor(run, run->bodies[DIFF_CARRIER],
                                   tn_p3(0.0, 0.11 * (double)sign, 0.0), Y_AXIS, gear, 2, 0.3f);
    tn_coupling_def roll = tn_default_coupling_def();
    tn_coupling_def_axis(&roll, spider, TURN, 0.06f);
    tn_coupling_def_axis(&roll, left, TURN, -0.09f * sign);
    tn_coupling_def_axis(&roll, carrier, TURN, 0.09f * sign);
    scene_add_coupling(run, &roll);
  }
  tn_coupling_def brake = on_axis(left, TURN);
  brake.friction = (float)scene_value(run, "brake");
  scene_add_coupling(run, &brake);
  run->energy_scale = 1.0;
}

static void switch_brake(scene_run *run, float dt)
{
  int wheel = (int)((run->time + (double)dt) / 3.0) % 2;
  if (run->memory[0] != (double)wheel) {
    run->memory[0] = (double)wheel;
    tn_coupling_def def = tn_coupling_get_def(run->world, run->couplings[DIFF_BRAKE]);
    def.axes[0].joint = run->joints[wheel ? DIFF_RIGHT : DIFF_LEFT];
    tn_coupling_set_def(run->world, run->couplings[DIFF_BRAKE], &def);
  }
}

static double spin_of(const scene_run *run, int body)
{
  return (double)tn_body_angular_velocity(run->world, run->bodies[body]).x;
}

static void measure_differential(const scene_run *run, scene_sheet *sheet)
{
  double carrier = spin_of(run, DIFF_CARRIER), left = spin_of(run, DIFF_LEFT);
  double right = spin_of(run, DIFF_RIGHT);
  scene_note(sheet, "carrier_rad_s", carrier);
  scene_note(sheet, "left_rad_s", left);
  scene_note(sheet, "right_rad_s", right);
  scene_note(sheet, "split_error_rad_s", fabs(2.0 * carrier - left - right));
  scene_note(sheet, "final_drive_error_rad_s",
             fabs(rate_of(run, DIFF_MOTOR) - (double)FINAL_DRIVE * carrier));
  scene_note(sheet, "wheel_torque_nm", -force_of(run, DIFF_SPLIT));
}

const scene scene_differential = {
    .name = "differential",
    .title = "A differential gear: a motor turns two wheels, one of which is braked",
    .source = "couplings of three axes",
    .group = SCENE_MODELS,
    .camera = {{1.2f, 0.8f, 1.5f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 12.0,
    .substeps = 8,
    .tenon_only = true,
    .parameters = {{"speed", -60.0, 60.0, 9.0, false, "speed of the input shaft, rad/s"},
                   {"torque", 0.0, 1000.0, 20.0, false, "greatest torque of the motor, N m"},
                   {"brake", 0.0, 1000.0, 15.0, false, "friction torque on one wheel, N m"}},
    .build = build_differential,
    .drive = switch_brake,
    .measure = measure_differential,
};

// ---------------------------------------------------------------------------------------------
// A winch: the rope runs from a drum over a sheave at the top of a mast through a block and tackle
// to a load. Its length is path + radius * angle of the drum = constant, so that the load rises by
// 1 / falls of what the drum takes in, and the tension is the load's weight / falls.

enum { WINCH_DRUM, WINCH_SHEAVE, WINCH_LOAD };
enum { WINCH_ROPE, WINCH_MOTOR, WINCH_SHEAVE_ROLL };
static const float DRUM_RADIUS = 0.25f, SHEAVE_RADIUS = 0.2f;
static const double MAST = 6.0; // m

static void build_winch(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), scene_material(0.6f, 0.0f));
  tn_shape_def mast = scene_box_shape(tn_v3(0.12f, 3.0f, 0.12f));
  mast.filter.mask = 0;
  scene_add_fixed(run, (tn_transform){{-0.5, 3.0, -0.4}, tn_quat_identity()}, &mast);
  tn_shape_def beam = scene_box_shape(tn_v3(1.4f, 0.1f, 0.1f));
  beam.filter.mask = 0;
  scene_add_fixed(run, (tn_transform){{0.7, 6.1, -0.4}, tn_quat_identity()}, &beam);
  tn_shape_def drum[3] = {disc(DRUM_RADIUS, 0.25f, Z_AXIS), disc(0.36f, 0.03f, Z_AXIS),
                          bar(tn_v3(0.34f, 0.03f, 0.27f), X_AXIS)};
  drum[1].position = tn_v3(0.0f, 0.0f, -0.25f);
  drum[2].position = tn_v3(0.0f, 0.0f, 0.0f);
  tn_joint_id drum_hinge =
      add_rotor(run, SCENE_WORLD, tn_p3(-1.5, 0.6, 0.0), Z_AXIS, drum, 3, 60.0f);
  tn_shape_def sheave[2] = {disc(SHEAVE_RADIUS, 0.05f, Z_AXIS),
                            bar(tn_v3(0.19f, 0.03f, 0.06f), X_AXIS)};
  sheave[1].position = tn_v3(0.0f, 0.0f, 0.0f);
  tn_joint_id sheave_hinge =
      add_rotor(run, SCENE_WORLD, tn_p3(0.0, MAST, 0.0), Z_AXIS, sheave, 2, 4.0f);
  tn_body_def crate = scene_body_def();
  crate.position = tn_p3(1.5, 0.4, 0.0);
  tn_shape_def box = scene_box_shape(tn_v3(0.4f, 0.4f, 0.4f));
  tn_body_id load = scene_add_solid(run, &crate, &box, (float)scene_value(run, "load"));
  int falls = (int)scene_value(run, "falls");
  tn_coupling_def rope = tn_default_coupling_def();
  tn_coupling_def_point(&rope, SCENE_WORLD, tn_p3(-1.5 - (double)DRUM_RADIUS, 0.6, 0.0), 1.0f);
  tn_coupling_def_point(&rope, SCENE_WORLD, tn_p3(-(double)SHEAVE_RADIUS, MAST, 0.0), 1.0f);
  for (int i = 0; i < falls; ++i) { // each fall on its own: the blocks are points
    tn_coupling_def_point(&rope, SCENE_WORLD, tn_p3(1.5, MAST, 0.0), 0.0f);
    tn_coupling_def_point(&rope, load, tn_p3(0.0, 0.4, 0.0), 1.0f);
  }
  tn_coupling_def_axis(&rope, drum_hinge, TURN, DRUM_RADIUS);
  tn_pos a = rope.points[0].position, b = rope.points[1].position;
  double length = (double)tn_length(tn_between_points(a, b)) + falls * (MAST - 0.8);
  rope.range = tn_between(-INFINITY, (float)length); // taut as the load stands on the ground
  scene_add_coupling(run, &rope);
  tn_coupling_def motor = on_axis(drum_hinge, TURN);
  motor.drive.damping = 1e5f;
  scene_add_coupling(run, &motor);
  // The rope turns the sheave by what runs over it.
  couple(run, sheave_hinge, SHEAVE_RADIUS, drum_hinge, -DRUM_RADIUS);
  run->energy_scale = run->weighing_mass * (double)SCENE_GRAVITY;
}

// Up for 5 s, holding for 1 s, down again; smooth starts.
static void wind(scene_run *run, float dt)
{
  double time = fmod(run->time + (double)dt, 12.0);
  double phase = time < 6.0 ? time : time - 6.0;
  double share = phase < 5.0 ? fmin(1.0, fmin(phase, 5.0 - phase)) : 0.0;
  tn_coupling_drive drive = tn_coupling_get_drive(run->world, run->couplings[WINCH_MOTOR]);
  drive.velocity =
      (float)((time < 6.0 ? 1.0 : -1.0) * share * scene_value(run, "speed") / (double)DRUM_RADIUS);
  tn_coupling_set_drive(run->world, run->couplings[WINCH_MOTOR], drive);
}

static void measure_winch(const scene_run *run, scene_sheet *sheet)
{
  double height = tn_body_transform(run->world, run->bodies[WINCH_LOAD]).p.y - 0.4;
  double wound =
      (double)DRUM_RADIUS * tn_coupling_get_state(run->world, run->couplings[WINCH_MOTOR]).value;
  double falls = scene_value(run, "falls");
  double weight = scene_value(run, "load") * (double)SCENE_GRAVITY;
  scene_note(sheet, "height_m", height);
  scene_note(sheet, "height_error_m", fabs(height - wound / falls));
  scene_note(sheet, "tension_n", -force_of(run, WINCH_ROPE));
  scene_note(sheet, "tension_over_weight_per_fall", -force_of(run, WINCH_ROPE) * falls / weight);
  scene_note(sheet, "motor_torque_nm", force_of(run, WINCH_MOTOR));
}

const scene scene_winch = {
    .name = "winch",
    .title = "A winch with a block and tackle lifts a load",
    .source = "a path over pulleys",
    .group = SCENE_MODELS,
    .camera = {{1.0f, 4.0f, 11.0f}, {0.0f, 3.0f, 0.0f}},
    .seconds = 17.5,
    .substeps = 8,
    .tenon_only = true,
    .parameters = {{"load", 1.0, 1e5, 500.0, false, "mass of the load, kg"},
                   {"falls", 1.0, 6.0, 3.0, true, "parts of the rope that carry the load"},
                   {"speed", 0.1, 10.0, 2.0, false, "greatest speed of the rope at the drum, m/s"}},
    .build = build_winch,
    .drive = wind,
    .measure = measure_winch,
};

// ---------------------------------------------------------------------------------------------
// A scissor lift: crossed beams of length L, hinged in the middle and to each other. The left foot
// is fixed, the right one is the nut of a screw, so that n stages stand n sqrt(L^2 - x^2) high at a
// width of x.

enum { LIFT_SCREW, LIFT_MOTOR };
enum { LIFT_SPINDLE, LIFT_NUT, LIFT_PLATFORM, LIFT_BLOCK };
static const double BEAM = 2.0, START_WIDTH = 1.8; // m
static const float LEAD = 0.05f;                   // m a turn

static tn_body_id add_beam(scene_run *run, tn_pos from, tn_pos to, double z)
{
  tn_shape_def shape = scene_box_shape(tn_v3(0.5f * (float)BEAM, 0.04f, 0.03f));
  shape.filter.mask = 0;
  tn_body_def def = scene_body_def();
  def.position = tn_p3(0.5 * (from.x + to.x), 0.5 * (from.y + to.y), z);
  def.rotation =
      tn_quat_axis_angle(Z_AXIS, tn_atan2((float)(to.y - from.y), (float)(to.x - from.x)));
  return scene_add_solid(run, &def, &shape, 12.0f);
}

static void hinge_at(scene_run *run, tn_body_id a, tn_body_id b, tn_pos at)
{
  tn_joint_def hinge = scene_joint_at(run, TN_JOINT_HINGE, a, b, at, Z_AXIS);
  scene_add_joint(run, &hinge);
}

static tn_joint_id add_slide(scene_run *run, tn_body_id a, tn_body_id b, tn_pos at)
{
  tn_joint_def slide = scene_joint_at(run, TN_JOINT_PRISMATIC, a, b, at, X_AXIS);
  return scene_add_joint(run, &slide);
}

static tn_body_id add_plain_box(scene_run *run, tn_pos at, tn_vec3 half, float mass)
{
  tn_shape_def shape = scene_box_shape(half);
  shape.filter.mask = 0;
  tn_body_def def = scene_body_def();
  def.position = at;
  return scene_add_solid(run, &def, &shape, mass);
}

static void add_stages(scene_run *run, int count, double rise)
{
  tn_body_id left = SCENE_WORLD, right = run->bodies[LIFT_NUT];
  for (int i = 0; i < count; ++i) {
    tn_pos a = tn_p3(0.0, i * rise, 0.0), b = tn_p3(START_WIDTH, i * rise, 0.0);
    tn_pos c = tn_p3(0.0, (i + 1) * rise, 0.0), d = tn_p3(START_WIDTH, (i + 1) * rise, 0.0);
    tn_body_id up = add_beam(run, a, d, -0.05), down = add_beam(run, b, c, 0.05);
    hinge_at(run, left, up, a);
    hinge_at(run, right, down, b);
    hinge_at(run, up, down, tn_p3(0.5 * START_WIDTH, (i + 0.5) * rise, 0.0));
    left = down;
    right = up;
  }
  hinge_at(run, left, run->bodies[LIFT_PLATFORM], tn_p3(0.0, count * rise, 0.0));
  hinge_at(run, right, run->bodies[LIFT_BLOCK], tn_p3(START_WIDTH, count * rise, 0.0));
}

static void build_scissor_lift(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, -0.3, 0.0), scene_material(0.6f, 0.0f));
  int count = (int)scene_value(run, "stages");
  double rise = sqrt(BEAM * BEAM - START_WIDTH * START_WIDTH), top = count * rise;
  tn_shape_def spindle[2] = {disc(0.03f, 1.2f, X_AXIS), bar(tn_v3(0.03f, 0.12f, 0.03f), X_AXIS)};
  spindle[1].position = tn_v3(1.2f, 0.0f, 0.0f);
  tn_joint_id screw = add_rotor(run, SCENE_WORLD, tn_p3(1.0, 0.0, 0.2), X_AXIS, spindle, 2, 10.0f);
  tn_body_id nut =
      add_plain_box(run, tn_p3(START_WIDTH, 0.0, 0.1), tn_v3(0.06f, 0.08f, 0.14f), 5.0f);
  tn_joint_id slide = add_slide(run, SCENE_WORLD, nut, tn_p3(START_WIDTH, 0.0, 0.0));
  tn_body_id platform = add_plain_box(run, tn_p3(0.9, top + 0.12, 0.0), tn_v3(1.1f, 0.05f, 0.4f),
                                      (float)scene_value(run, "load"));
  tn_body_id block =
      add_plain_box(run, tn_p3(START_WIDTH, top, 0.0), tn_v3(0.05f, 0.06f, 0.1f), 3.0f);
  add_slide(run, platform, block, tn_p3(START_WIDTH, top, 0.0));
  add_stages(run, count, rise);
  tn_coupling_def lead = tn_default_coupling_def();
  tn_coupling_def_axis(&lead, slide, SLIDE, 1.0f);
  tn_coupling_def_axis(&lead, screw, TURN, LEAD / (2.0f * TN_PI));
  scene_add_coupling(run, &lead);
  tn_coupling_def motor = on_axis(screw, TURN);
  motor.drive.stiffness = 1e6f;
  motor.drive.damping = 1e4f;
  scene_add_coupling(run, &motor);
  run->energy_scale = run->weighing_mass * (double)SCENE_GRAVITY;
}

// Between widths of 1.8 and 0.8 m, twice a minute.
static double lift_turns(double time)
{
  return 10.0 * (1.0 - (double)tn_cos(2.0f * TN_PI * (float)fmod(time, 15.0) / 15.0f));
}

static void lift(scene_run *run, float dt)
{
  tn_coupling_drive drive = tn_coupling_get_drive(run->world, run->couplings[LIFT_MOTOR]);
  drive.target = 2.0f * TN_PI * (float)lift_turns(run->time + (double)dt);
  drive.velocity =
      2.0f * TN_PI * (float)(lift_turns(run->time + (double)dt) - lift_turns(run->time)) / dt;
  tn_coupling_set_drive(run->world, run->couplings[LIFT_MOTOR], drive);
}

static void measure_scissor_lift(const scene_run *run, scene_sheet *sheet)
{
  double x = START_WIDTH - (double)LEAD * lift_turns(run->time);
  tn_transform top = tn_body_transform(run->world, run->bodies[LIFT_PLATFORM]);
  double height = top.p.y - 0.12;
  double law = scene_value(run, "stages") * sqrt(BEAM * BEAM - x * x);
  tn_vec3 up = tn_rotate(top.q, Y_AXIS);
  scene_note(sheet, "height_m", height);
  scene_note(sheet, "height_error_m", fabs(height - law));
  scene_note(sheet, "tilt_rad", (double)tn_length(tn_v3(up.x, 0.0f, up.z)));
  scene_note(sheet, "motor_torque_nm", force_of(run, LIFT_MOTOR));
}

const scene scene_scissor_lift = {
    .name = "scissor_lift",
    .title = "A scissor lift on a screw",
    .source = "closed loops and a coupling of a slide with a hinge",
    .group = SCENE_MODELS,
    .camera = {{3.5f, 4.0f, 10.0f}, {0.9f, 2.6f, 0.0f}},
    .seconds = 15.0,
    .substeps = 8,
    .tenon_only = true,
    .parameters = {{"stages", 1.0, 8.0, 3.0, true, "pairs of beams on top of each other"},
                   {"load", 1.0, 1e5, 300.0, false, "mass of the platform, kg"}},
    .build = build_scissor_lift,
    .drive = lift,
    .measure = measure_scissor_lift,
};

// ---------------------------------------------------------------------------------------------
// A finger: three phalanges on hinges, extended by springs, bent by one tendon that runs along
// their lower sides. In equilibrium the moment of the tension about a hinge equals the spring's.

enum { PHALANGES = 3, FINGER_TENDON = PHALANGES };
static const float PHALANX[PHALANGES] = {0.05f, 0.032f, 0.026f}; // m
static const double SHEATH = 0.008, SHEATH_AT = 0.01; // m: below the axis, and from the hinges
static const float FINGER_SPRING = 0.06f;             // N m/rad

static void build_tendon_finger(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_shape_def palm = scene_box_shape(tn_v3(0.03f, 0.009f, 0.03f));
  palm.filter.mask = 0;
  scene_add_fixed(run, (tn_transform){{-0.035, 0.0, 0.0}, tn_quat_identity()}, &palm);
  tn_coupling_def tendon = tn_default_coupling_def();
  tn_coupling_def_point(&tendon, SCENE_WORLD, tn_p3(-0.06, -SHEATH, 0.0), 1.0f);
  tn_coupling_def_point(&tendon, SCENE_WORLD, tn_p3(-SHEATH_AT, -SHEATH, 0.0), 1.0f);
  tn_body_id last = SCENE_WORLD;
  double x = 0.0;
  for (int i = 0; i < PHALANGES; ++i) {
    float half = 0.5f * PHALANX[i];
    tn_body_id part = add_plain_box(run, tn_p3(x + (double)half, 0.0, 0.0),
                                    tn_v3(half - 0.002f, 0.007f - 0.001f * (float)i, 0.008f),
                                    0.03f - 0.008f * (float)i);
    tn_joint_def hinge = scene_joint_at(run, TN_JOINT_HINGE, last, part, tn_p3(x, 0, 0), Z_AXIS);
    hinge.angular[0] = tn_between(-1.7f, 0.1f);
    tn_joint_id joint = scene_add_joint(run, &hinge);
    tn_coupling_def spring = on_axis(joint, TURN);
    spring.stiffness = FINGER_SPRING;
    spring.damping = 0.002f;
    scene_add_coupling(run, &spring);
    double near = SHEATH_AT - (double)half, far = (double)half - SHEATH_AT;
    tn_coupling_def_point(&tendon, part, tn_p3(near, -SHEATH, 0.0), 1.0f);
    if (i + 1 < PHALANGES) {
      tn_coupling_def_point(&tendon, part, tn_p3(far, -SHEATH, 0.0), 1.0f);
    }
    last = part;
    x += (double)PHALANX[i];
  }
  tendon.range = tn_between(-INFINITY, INFINITY);
  tendon.damping = 0.5f;
  scene_add_coupling(run, &tendon);
  run->energy_scale = 1e-3;
}

static double pull_at(const scene_run *run, double time)
{
  double wave = 1.0 - (double)tn_cos(2.0f * TN_PI * (float)fmod(time, 4.0) / 4.0f);
  return 0.5 * scene_value(run, "tension") * wave;
}

static void pull(scene_run *run, float dt)
{
  tn_coupling_drive drive = tn_coupling_get_drive(run->world, run->couplings[FINGER_TENDON]);
  drive.force = -(float)pull_at(run, run->time + 0.5 * (double)dt);
  tn_coupling_set_drive(run->world, run->couplings[FINGER_TENDON], drive);
}

// Lever arm of the tendon about a hinge bent by q: d/dq of the distance between the sheaths' ends
// (-a, -r) and (a, -r) turned by q.
static double tendon_arm(double q)
{
  double s = (double)tn_sin((float)q), c = (double)tn_cos((float)q);
  double a = SHEATH_AT, r = SHEATH;
  double dx = a * c + r * s + a, dy = a * s - r * c + r;
  return (dx * (-a * s + r * c) + dy * (a * c + r * s)) / sqrt(dx * dx + dy * dy);
}

static void measure_tendon_finger(const scene_run *run, scene_sheet *sheet)
{
  static const char *const names[PHALANGES] = {"bend_1_rad", "bend_2_rad", "bend_3_rad"};
  double tension = -force_of(run, FINGER_TENDON), worst = 0.0;
  for (int i = 0; i < PHALANGES; ++i) {
    double q = tn_coupling_get_state(run->world, run->couplings[i]).value;
    scene_note(sheet, names[i], -q);
    worst = fmax(worst, fabs(tension * tendon_arm(q) + (double)FINGER_SPRING * q));
  }
  scene_note(sheet, "tension_n", tension);
  scene_note(sheet, "moment_error_nm", worst);
}

const scene scene_tendon_finger = {
    .name = "tendon_finger",
    .title = "A finger: one tendon bends three phalanges against springs",
    .source = "a path through points of bodies",
    .group = SCENE_MODELS,
    .camera = {{0.05f, 0.06f, 0.24f}, {0.03f, -0.02f, 0.0f}},
    .seconds = 8.0,
    .substeps = 8,
    .tenon_only = true,
    .parameters = {{"tension", 0.0, 100.0, 5.0, false, "greatest tension of the tendon, N"}},
    .build = build_tendon_finger,
    .drive = pull,
    .measure = measure_tendon_finger,
};

// ---------------------------------------------------------------------------------------------
// A clock: second, minute and hour hand on one axis, geared down 60 : 1 and 12 : 1 by two arbors
// each with a wheel and a pinion. A motor turns the second hand.

enum { CLOCK_SECOND, CLOCK_MINUTE, CLOCK_HOUR, CLOCK_ARBOR_1, CLOCK_ARBOR_2 };
enum { CLOCK_MOTOR = 4 };
static const float TRAIN[4] = {7.5f, 8.0f, 3.0f, 4.0f}; // ratios of the four pairs of wheels

static tn_joint_id add_hand(scene_run *run, double z, float length, float half_width)
{
  tn_shape_def shapes[2] = {bar(tn_v3(half_width, 0.6f * length, 0.004f), Y_AXIS),
                            disc(2.0f * half_width, 0.01f, Z_AXIS)};
  shapes[0].position = tn_v3(0.0f, 0.4f * length, 0.0f);
  return add_rotor(run, SCENE_WORLD, tn_p3(0.0, 0.0, z), Z_AXIS, shapes, 2, 0.02f);
}

static tn_joint_id add_arbor(scene_run *run, tn_pos at, float wheel, float pinion)
{
  tn_shape_def shapes[3] = {disc(wheel, 0.004f, Z_AXIS), disc(pinion, 0.012f, Z_AXIS),
                            bar(tn_v3(0.9f * wheel, 0.006f, 0.006f), Z_AXIS)};
  shapes[1].position = tn_v3(0.0f, 0.0f, 0.016f);
  shapes[2].position = tn_v3(0.0f, 0.0f, 0.0f);
  return add_rotor(run, SCENE_WORLD, at, Z_AXIS, shapes, 3, 0.05f);
}

static void build_clock(scene_run *run)
{
  scene_set_gravity(run);
  tn_shape_def dial = disc(0.5f, 0.01f, Z_AXIS);
  scene_add_fixed(run, (tn_transform){{0.0, 0.0, -0.2}, tn_quat_identity()}, &dial);
  tn_joint_id second = add_hand(run, 0.06, 0.42f, 0.006f);
  tn_joint_id minute = add_hand(run, 0.03, 0.4f, 0.012f);
  tn_joint_id hour = add_hand(run, 0.0, 0.28f, 0.018f);
  tn_joint_id first = add_arbor(run, tn_p3(0.17, -0.12, -0.08), 0.16f, 0.02f);
  tn_joint_id other = add_arbor(run, tn_p3(-0.15, -0.12, -0.12), 0.12f, 0.03f);
  couple(run, second, 1.0f, first, TRAIN[0]); // meshing wheels turn in opposite directions
  couple(run, first, 1.0f, minute, TRAIN[1]);
  couple(run, minute, 1.0f, other, TRAIN[2]);
  couple(run, other, 1.0f, hour, TRAIN[3]);
  tn_coupling_def motor = on_axis(second, TURN);
  motor.drive.damping = 100.0f;
  motor.drive.velocity = -2.0f * TN_PI / 60.0f * (float)scene_value(run, "speed");
  scene_add_coupling(run, &motor);
  run->energy_scale = 1.0;
}

static void measure_clock(const scene_run *run, scene_sheet *sheet)
{
  double turns = -tn_coupling_get_state(run->world, run->couplings[CLOCK_MOTOR]).value / 6.2831853;
  double angle[5], worst = 0.0;
  for (int i = 0; i < 5; ++i) {
    angle[i] = (double)tn_joint_get_state(run->world, run->joints[i]).angle.x;
  }
  for (int i = 0; i < CLOCK_MOTOR; ++i) {
    double error = tn_coupling_get_state(run->world, run->couplings[i]).value;
    worst = fmax(worst, fabs(error));
  }
  scene_note(sheet, "second_turns", turns);
  scene_note(sheet, "minute_rad", -angle[CLOCK_MINUTE]);
  scene_note(sheet, "hour_rad", -angle[CLOCK_HOUR]);
  scene_note(sheet, "minute_error_rad",
             fabs(remainder(-angle[CLOCK_MINUTE] - 6.2831853 * turns / 60.0, 6.2831853)));
  scene_note(sheet, "hour_error_rad",
             fabs(remainder(-angle[CLOCK_HOUR] - 6.2831853 * turns / 720.0, 6.2831853)));
  scene_note(sheet, "gear_error_rad", worst);
}

const scene scene_clock = {
    .name = "clock",
    .title = "The gear train of a clock",
    .source = "gears 60 : 1 and 12 : 1",
    .group = SCENE_MODELS,
    .camera = {{0.25f, 0.2f, 1.2f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 20.0,
    .substeps = 8,
    .tenon_only = true,
    .parameters = {{"speed", 0.0, 10000.0, 120.0, false, "seconds of the clock in a second"}},
    .build = build_clock,
    .measure = measure_clock,
};
