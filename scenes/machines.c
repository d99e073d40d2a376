// Models of machines: an excavator's arm, a wrecking ball, a gear train.
#include "build.h"

#include <math.h>

static const tn_vec3 Y_AXIS = {0.0f, 1.0f, 0.0f};
static const tn_vec3 Z_AXIS = {0.0f, 0.0f, 1.0f};

// ---------------------------------------------------------------------------------------------
// An excavator: turret, boom, stick and bucket in the plane of x and y, moved by three hydraulic
// cylinders. Each cylinder forms a triangle with the pivot between its two ends, so its length
// determines the angle at the pivot.

enum { PARTS = 4, CYLINDERS = 3 };
enum { TURRET_JOINT, BOOM_JOINT, STICK_JOINT, BUCKET_JOINT, FIRST_CYLINDER };

typedef struct arm_part {
  tn_vec3 from, to; // pivots to the previous and to the next part
  float half_width, mass;
} arm_part;

static const arm_part parts[PARTS] = {
    {{0.0f, 0.0f, 0.0f}, {0.5f, 1.2f, 0.0f}, 0.5f, 4000.0f},
    {{0.5f, 1.2f, 0.0f}, {4.0f, 3.2f, 0.0f}, 0.22f, 1200.0f},
    {{4.0f, 3.2f, 0.0f}, {5.6f, 1.2f, 0.0f}, 0.17f, 600.0f},
    {{5.6f, 1.2f, 0.0f}, {5.2f, 0.3f, 0.0f}, 0.30f, 300.0f},
};

typedef struct cylinder {
  int from_part; // and the next part
  tn_vec3 from, to;
  float range; // m, stroke to each side
  float rate;  // rad/s
} cylinder;

static const cylinder cylinders[CYLINDERS] = {
    {0, {1.3f, 0.6f, 0.0f}, {2.4f, 2.0f, 0.0f}, 0.25f, 0.9f},
    {1, {2.2f, 3.0f, 0.0f}, {3.85f, 3.8f, 0.0f}, 0.35f, 1.3f},
    {2, {4.5f, 2.9f, 0.0f}, {6.02f, 1.47f, 0.0f}, 0.25f, 1.7f},
};

static tn_pos at(tn_vec3 p)
{
  return tn_offset(tn_p3(0.0, 0.0, 0.0), p);
}

static tn_vec3 toward(tn_vec3 from, tn_vec3 to)
{
  tn_vec3 d = tn_sub(to, from);
  return tn_scale(1.0f / tn_length(d), d);
}

// A box along a line.
static tn_body_id add_beam(scene_run *run, tn_vec3 from, tn_vec3 to, float half_width, float mass)
{
  float half = 0.5f * tn_length(tn_sub(to, from));
  tn_shape_def shape = scene_box_shape(tn_v3(half, half_width, half_width));
  shape.filter.group = -1;
  tn_body_def def = scene_body_def();
  def.position = at(tn_scale(0.5f, tn_add(from, to)));
  def.rotation = tn_quat_x_to(tn_sub(to, from));
  return scene_add_solid(run, &def, &shape, mass);
}

static void add_arm(scene_run *run)
{
  tn_body_id last = SCENE_WORLD;
  for (int i = 0; i < PARTS && !run->failed; ++i) {
    tn_body_id part = add_beam(run, parts[i].from, parts[i].to, parts[i].half_width, parts[i].mass);
    tn_joint_def hinge = scene_joint_at(run, TN_JOINT_HINGE, last, part, at(parts[i].from),
                                        i == 0 ? Y_AXIS : Z_AXIS);
    scene_add_joint(run, &hinge);
    last = part;
  }
}

// Barrel and rod, each slightly more than half of the total length.
static void add_cylinder(scene_run *run, const cylinder *c)
{
  tn_vec3 way = toward(c->from, c->to);
  float length = tn_length(tn_sub(c->to, c->from));
  tn_body_id barrel =
      add_beam(run, c->from, tn_add(c->from, tn_scale(0.6f * length, way)), 0.08f, 80.0f);
  tn_body_id rod =
      add_beam(run, tn_add(c->from, tn_scale(0.5f * length, way)), c->to, 0.05f, 60.0f);
  tn_body_id from = run->bodies[c->from_part], to = run->bodies[c->from_part + 1];
  tn_joint_def slide = scene_joint_at(run, TN_JOINT_PRISMATIC, barrel, rod, at(c->to), way);
  slide.axis[TN_LINEAR_A].drive.stiffness = INFINITY;
  scene_add_joint(run, &slide);
  tn_joint_def foot = scene_joint_at(run, TN_JOINT_HINGE, from, barrel, at(c->from), Z_AXIS);
  scene_add_joint(run, &foot);
  tn_joint_def head = scene_joint_at(run, TN_JOINT_BALL, rod, to, at(c->to), Z_AXIS);
  scene_add_joint(run, &head);
}

static void build_excavator(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, -2.0, 0.0), scene_material(0.6f, 0.0f));
  tn_shape_def stand = scene_box_shape(tn_v3(1.0f, 0.9f, 1.0f));
  stand.filter.mask = 0; // visual only
  scene_add_fixed(run, (tn_transform){{0.0, -1.1, 0.0}, tn_quat_identity()}, &stand);
  add_arm(run);
  for (int i = 0; i < CYLINDERS && !run->failed; ++i) {
    add_cylinder(run, &cylinders[i]);
  }
  run->energy_scale = run->weighing_mass * (double)SCENE_GRAVITY;
}

static float stroke(const scene_run *run, int i, double time)
{
  float share = (float)(fmin(time, 1.0) * scene_value(run, "stroke"));
  return share * cylinders[i].range * tn_sin(cylinders[i].rate * (float)time);
}

static void dig(scene_run *run, float dt)
{
  double time = run->time + (double)dt;
  for (int i = 0; i < CYLINDERS; ++i) {
    int joint = FIRST_CYLINDER + 3 * i;
    tn_drive drive = tn_joint_get_def(run->world, run->joints[joint]).axis[TN_LINEAR_A].drive;
    drive.target = stroke(run, i, time);
    tn_joint_set_drive(run->world, run->joints[joint], TN_LINEAR_A, drive);
  }
  tn_drive turn = tn_joint_get_def(run->world, run->joints[TURRET_JOINT]).axis[TN_ANGULAR_A].drive;
  turn.stiffness = INFINITY;
  turn.target =
      (float)scene_value(run, "turn") * (float)fmin(time, 1.0) * tn_sin(0.5f * (float)time);
  tn_joint_set_drive(run->world, run->joints[TURRET_JOINT], TN_ANGULAR_A, turn);
}

// The angle at `pivot` opposite a side of `length`.
static double triangle_angle(const cylinder *c, tn_vec3 pivot, double length)
{
  double a = (double)tn_length(tn_sub(c->from, pivot)), b = (double)tn_length(tn_sub(c->to, pivot));
  return (double)tn_acos((float)((a * a + b * b - length * length) / (2.0 * a * b)));
}

// Deviation of the pivot angles from those given by the cylinders' lengths.
static void measure_excavator(const scene_run *run, scene_sheet *sheet)
{
  double worst_angle = 0.0, worst_stroke = 0.0;
  for (int i = 0; i < CYLINDERS; ++i) {
    const cylinder *c = &cylinders[i];
    double wanted = (double)stroke(run, i, run->time);
    double rest = (double)tn_length(tn_sub(c->to, c->from));
    tn_vec3 pivot = parts[c->from_part + 1].from;
    double change = triangle_angle(c, pivot, rest + wanted) - triangle_angle(c, pivot, rest);
    double angle = (double)tn_joint_get_state(run->world, run->joints[BOOM_JOINT + i]).angle.x;
    tn_joint_state slide = tn_joint_get_state(run->world, run->joints[FIRST_CYLINDER + 3 * i]);
    worst_angle = fmax(worst_angle, fabs(fabs(angle) - fabs(change)));
    worst_stroke = fmax(worst_stroke, fabs((double)slide.offset.x - wanted));
  }
  scene_note(sheet, "angle_error_rad", worst_angle);
  scene_note(sheet, "stroke_error_m", worst_stroke);
}

const scene scene_excavator = {
    .name = "excavator",
    .title = "An excavator's arm, moved by hydraulic cylinders",
    .source = "Tenon",
    .group = SCENE_MODELS,
    .camera = {{4.0f, 4.0f, 11.0f}, {2.5f, 1.5f, 0.0f}},
    .seconds = 15.0,
    .substeps = 20,
    .parameters = {{"stroke", 0.0, 1.0, 1.0, false,
                    "stroke of the cylinders, relative to the maximum"},
                   {"turn", 0.0, 1.5, 0.6, false, "rotation of the turret to each side, rad"}},
    .build = build_excavator,
    .drive = dig,
    .measure = measure_excavator,
};

// ---------------------------------------------------------------------------------------------
// A wrecking ball against a brick wall across its path. The bricks are the first bodies.

static const tn_vec3 BRICK = {0.2f, 0.15f, 0.3f};
static const float BALL_RADIUS = 0.5f;
enum { CHAIN_LINKS = 10 };

static int brick_count(const scene_run *run)
{
  return (int)(scene_value(run, "rows") * scene_value(run, "columns"));
}

static tn_pos brick_place(const scene_run *run, int index)
{
  int columns = (int)scene_value(run, "columns");
  int row = index / columns, column = index % columns;
  double z = ((double)column - 0.5 * (double)(columns - 1) + (row % 2 ? 0.2 : -0.2)) * 0.61;
  return tn_p3(0.0, (double)BRICK.y * (2.0 * (double)row + 1.0), z);
}

static void add_wall(scene_run *run)
{
  tn_shape_def shape = scene_box_shape(BRICK);
  shape.material = scene_material(0.6f, 0.0f);
  for (int i = 0; i < brick_count(run) && !run->failed; ++i) {
    tn_body_def def = scene_body_def();
    def.position = brick_place(run, i);
    scene_add_solid(run, &def, &shape, 20.0f);
  }
}

// The chain hangs from a hook above the wall, inclined by the angle.
static void add_ball(scene_run *run)
{
  double height = 0.45 * 2.0 * (double)BRICK.y * scene_value(run, "rows");
  float length = 0.5f, angle = (float)scene_value(run, "angle") * (TN_PI / 180.0f);
  double reach = (double)(length * (float)CHAIN_LINKS + BALL_RADIUS);
  // The ball meets the wall at its lowest point.
  tn_pos hook = tn_p3(-(double)(BALL_RADIUS + BRICK.x) + 0.1, height + reach, 0.0);
  tn_vec3 down = tn_v3(-tn_sin(angle), -tn_cos(angle), 0.0f);
  tn_body_id last = SCENE_WORLD;
  for (int i = 0; i <= CHAIN_LINKS && !run->failed; ++i) {
    bool is_ball = i == CHAIN_LINKS;
    float half = is_ball ? BALL_RADIUS : 0.5f * length;
    tn_shape_def shape = is_ball ? scene_sphere_shape(BALL_RADIUS)
                                 : scene_axial_shape(TN_SHAPE_CAPSULE, 0.06f, half - 0.06f);
    shape.material = scene_material(0.5f, 0.0f);
    tn_body_def def = scene_body_def();
    def.position = tn_offset(hook, tn_scale(half, down));
    def.rotation = tn_quat_axis_angle(Z_AXIS, -angle);
    tn_body_id link =
        scene_add_solid(run, &def, &shape, is_ball ? (float)scene_value(run, "mass") : 10.0f);
    tn_joint_def joint = scene_joint_at(run, TN_JOINT_BALL, last, link, hook, down);
    scene_add_joint(run, &joint);
    hook = tn_offset(hook, tn_scale(2.0f * half, down));
    last = link;
  }
  run->energy_scale =
      scene_value(run, "mass") * (double)SCENE_GRAVITY * reach * (1.0 - (double)tn_cos(angle));
}

static void build_wrecking_ball(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), scene_material(0.6f, 0.0f));
  add_wall(run);
  add_ball(run);
}

static void measure_wrecking_ball(const scene_run *run, scene_sheet *sheet)
{
  int moved = 0, below = 0;
  for (int i = 0; i < run->body_count; ++i) {
    tn_pos p = tn_body_position(run->world, run->bodies[i]);
    below += !(p.y > 0.0);
    if (i < brick_count(run)) {
      moved += tn_length(tn_between_points(brick_place(run, i), p)) > BRICK.x;
    }
  }
  scene_note(sheet, "bricks_moved", (double)moved);
  scene_note(sheet, "escaped", (double)below);
}

const scene scene_wrecking_ball = {
    .name = "wrecking_ball",
    .title = "A wrecking ball on a chain hits a brick wall",
    .source = "common engine test",
    .group = SCENE_MODELS,
    .camera = {{-4.0f, 4.0f, 12.0f}, {0.0f, 2.5f, 0.0f}},
    .seconds = 6.0,
    .substeps = 20,
    .parameters = {{"rows", 1.0, 50.0, 10.0, true, "rows of bricks"},
                   {"columns", 1.0, 50.0, 10.0, true, "columns of bricks"},
                   {"mass", 1.0, 1e5, 500.0, false, "mass of the ball, kg; a link has 10 kg"},
                   {"angle", 0.0, 89.0, 60.0, false, "initial angle of the chain, degrees"}},
    .build = build_wrecking_ball,
    .measure = measure_wrecking_ball,
};

// ---------------------------------------------------------------------------------------------
// Gears that drive each other by contact only. Memory: the angle of each gear.

enum { GEARS = 3 };
static const int teeth[GEARS] = {12, 20, 16};
static const float MODULE = 0.05f; // m, diameter of a gear over its number of teeth
static const float GEAR_HALF = 0.06f;

static float pitch_radius(int gear)
{
  return 0.5f * MODULE * (float)teeth[gear];
}

// Polar angle of an involute at the parameter `t` (tangent length over base radius).
static float involute(float t)
{
  return t - tn_atan2(t, 1.0f);
}

// A tooth along x: involute flanks with a pressure angle of 20 degrees from the base circle to a
// short tip, straight below the base circle.
static tn_geometry_id make_tooth(scene_run *run, int gear)
{
  enum { FLANK = 6 };
  float r = pitch_radius(gear), base = r * tn_cos(20.0f * TN_PI / 180.0f), tip = r + 0.8f * MODULE;
  float at_pitch = sqrtf(r * r - base * base) / base,
        at_tip = sqrtf(tip * tip - base * base) / base;
  float half = 0.5f * TN_PI / (float)teeth[gear] * 0.96f + involute(at_pitch); // backlash
  tn_vec3 corners[4 * (FLANK + 1)];
  int count = 0;
  for (int i = 0; i <= FLANK; ++i) {
    float t = at_tip * fmaxf((float)(i - 1), 0.0f) / (float)(FLANK - 1);
    float radius = base * sqrtf(1.0f + t * t), angle = half - involute(t);
    float x = i == 0 ? r - 1.3f * MODULE : radius * tn_cos(angle);
    for (int k = 0; k < 4; ++k) {
      float y = radius * tn_sin(angle);
      corners[count++] = tn_v3(x, k & 1 ? y : -y, k & 2 ? GEAR_HALF : -GEAR_HALF);
    }
  }
  tn_geometry_id tooth = tn_hull_create(run->world, corners, count, 0);
  run->failed = run->failed || TN_IS_NULL(tooth);
  return tooth;
}

static tn_body_id add_gear(scene_run *run, int gear, double x, float phase)
{
  tn_shape_def shapes[64];
  int count = 0;
  shapes[count] =
      scene_axial_shape(TN_SHAPE_CYLINDER, pitch_radius(gear) - 1.2f * MODULE, GEAR_HALF);
  shapes[count++].rotation = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), 0.5f * TN_PI);
  tn_geometry_id tooth = make_tooth(run, gear);
  for (int i = 0; i < teeth[gear]; ++i) {
    shapes[count] = tn_default_shape_def(TN_SHAPE_HULL);
    shapes[count].geometry = tooth;
    shapes[count++].rotation =
        tn_quat_axis_angle(Z_AXIS, 2.0f * TN_PI * (float)i / (float)teeth[gear]);
  }
  for (int i = 0; i < count; ++i) {
    shapes[i].material = scene_material(0.1f, 0.0f);
  }
  tn_body_def def = scene_body_def();
  def.position = tn_p3(x, 0.0, 0.0);
  def.rotation = tn_quat_axis_angle(Z_AXIS, phase);
  def.can_sleep = false;
  return scene_add_compound(run, &def, shapes, count, 2.0f * (float)teeth[gear]);
}

static void build_gears(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  double x = 0.0;
  float phase = 0.0f; // angle of a tooth from the line to the next gear
  for (int i = 0; i < GEARS && !run->failed; ++i) {
    if (i > 0) {
      // A gap of this gear meets a tooth of the previous one.
      float pitch = 2.0f * TN_PI / (float)teeth[i];
      phase = TN_PI - phase * pitch_radius(i - 1) / pitch_radius(i) + 0.5f * pitch;
      x += (double)(pitch_radius(i - 1) + pitch_radius(i));
    }
    tn_body_id gear = add_gear(run, i, x, phase);
    tn_joint_def axle =
        scene_joint_at(run, TN_JOINT_HINGE, SCENE_WORLD, gear, tn_p3(x, 0.0, 0.0), Z_AXIS);
    axle.axis[TN_ANGULAR_A].friction = i == GEARS - 1 ? (float)scene_value(run, "load") : 0.0f;
    scene_add_joint(run, &axle);
  }
  run->energy_scale = 1.0;
}

static void drive_gears(scene_run *run, float dt)
{
  tn_drive drive = tn_joint_get_def(run->world, run->joints[0]).axis[TN_ANGULAR_A].drive;
  drive.damping = INFINITY;
  drive.velocity = (float)(fmin(run->time, 1.0) * scene_value(run, "speed"));
  tn_joint_set_drive(run->world, run->joints[0], TN_ANGULAR_A, drive);
  for (int i = 0; i < GEARS; ++i) {
    run->memory[i] += (double)dt * (double)tn_body_angular_velocity(run->world, run->bodies[i]).z;
  }
}

static void measure_gears(const scene_run *run, scene_sheet *sheet)
{
  double first = run->memory[0];
  scene_note(sheet, "turns", first / (2.0 * (double)TN_PI));
  scene_note(sheet, "ratio_2", first != 0.0 ? run->memory[1] / first : 0.0);
  scene_note(sheet, "ratio_3", first != 0.0 ? run->memory[2] / first : 0.0);
}

const scene scene_gears = {
    .name = "gears",
    .title = "A train of three gears with 12, 20 and 16 teeth",
    .source = "Tenon",
    .group = SCENE_MODELS,
    .camera = {{0.9f, 0.5f, 2.6f}, {0.9f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"speed", -20.0, 20.0, 3.0, false, "speed of the first gear, rad/s"},
                   {"load", 0.0, 1e4, 5.0, false, "friction at the last gear, N m"}},
    .build = build_gears,
    .drive = drive_gears,
    .measure = measure_gears,
};
