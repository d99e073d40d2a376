// Mueller et al. 2020, Figures 1 and 16: a remote-controlled car with soft tyres on rough ground.
//
// In the car's frame x is forward, y up and z to the right; the axles are at y = 0. At every corner
// two arms of equal length carry a knuckle, a shock absorber acts on the lower arm, and a rod turns
// the knuckle: the front rods are joined to the servo's arm, the rear ones to the chassis. Arm and
// knuckle form a parallelogram, so the wheels turn by the angle of the servo.
#include "build.h"

#include <math.h>
#include <stdlib.h>

static const tn_vec3 X_AXIS = {1.0f, 0.0f, 0.0f};
static const tn_vec3 Y_AXIS = {0.0f, 1.0f, 0.0f};
static const tn_vec3 Z_AXIS = {0.0f, 0.0f, 1.0f};

static const float WHEEL_RADIUS = 0.075f, RIM_RADIUS = 0.045f, WHEEL_HALF = 0.03f;
static const float WHEEL_BASE = 0.34f;     // m, between the axles
static const float ARM_IN = 0.025f;        // m, from the middle to the inner pivots of the arms
static const float KINGPIN = 0.125f;       // m, to the pivots of the knuckle
static const float WHEEL_SIDE = 0.17f;     // m, to the middle of a wheel
static const float ARM_HEIGHT = 0.025f;    // m, of the upper arm; the lower one is as far below
static const float SERVO_ARM = 0.03f;      // m, as in the paper
static const float TYRE_MASS = 0.6f;       // kg
static const float SPRING = 1200.0f;       // N/m, of a shock absorber
static const float SPRING_LOAD = 15.0f;    // N, its load at rest
static const float SPRING_DAMPING = 12.0f; // N s/m
static const float MOST_STEERING = 0.5f;   // rad
static const float SERVO_SPEED = 8.0f;     // rad/s
static const float MOTOR_TORQUE = 0.6f;    // N m, of each wheel at rest
static const float MOTOR_FALL = 0.02f;     // N m s, decrease of the torque with speed
static const double LOOK_AHEAD = 0.8;      // m, of the driver

enum { CORNERS = 4, CORNER_BODIES = 7, CORNER_JOINTS = 10 };
enum { CHASSIS, SERVO, FIRST_CORNER };
enum { LOWER_ARM, UPPER_ARM, KNUCKLE, RIM, ROD, BARREL, PISTON };
enum { SERVO_JOINT, FIRST_JOINT };
enum { AXLE_JOINT };                            // of a corner
enum { WAY_POINT, STEERING, WAY, TYRE_VOLUME }; // memory

// ---------------------------------------------------------------------------------------------
// The path: a horizontal figure eight

static const double WAY_X = 2.6, WAY_Z = 1.1;

static tn_pos way_point(double t)
{
  return tn_p3(WAY_X * (double)tn_sin((float)t), 0.0, WAY_Z * (double)tn_sin(2.0f * (float)t));
}

static tn_quat way_heading(double t)
{
  tn_vec3 ahead =
      tn_v3((float)WAY_X * tn_cos((float)t), 0.0f, 2.0f * (float)WAY_Z * tn_cos(2.0f * (float)t));
  return tn_quat_axis_angle(Y_AXIS, -tn_atan2(ahead.z, ahead.x));
}

// ---------------------------------------------------------------------------------------------
// The ground

enum { GROUND_COLUMNS = 71, GROUND_ROWS = 41 };
static const double GROUND_SPACING = 0.1;

static float ground_height(const scene_run *run, double x, double z)
{
  float u = (float)x, w = (float)z;
  float wave =
      tn_sin(9.0f * u + 2.0f * tn_sin(3.0f * w)) * tn_sin(8.0f * w + 1.5f * tn_sin(4.0f * u));
  return (float)scene_value(run, "bumps") * 0.5f * (1.0f + wave);
}

static void add_field(scene_run *run, tn_material material)
{
  float heights[GROUND_COLUMNS * GROUND_ROWS];
  for (int i = 0; i < GROUND_COLUMNS * GROUND_ROWS; ++i) {
    int column = i % GROUND_COLUMNS, row = i / GROUND_COLUMNS;
    heights[i] = ground_height(run, GROUND_SPACING * (column - 0.5 * (GROUND_COLUMNS - 1)),
                               GROUND_SPACING * (row - 0.5 * (GROUND_ROWS - 1)));
  }
  tn_shape_def field = tn_default_shape_def(TN_SHAPE_HEIGHT_FIELD);
  field.geometry = tn_height_field_create(run->world, heights, GROUND_COLUMNS, GROUND_ROWS,
                                          (float)GROUND_SPACING, (float)GROUND_SPACING);
  field.material = material;
  scene_add_fixed(run, (tn_transform){{0.0, 0.0, 0.0}, tn_quat_identity()}, &field);
}

// Obstacles across the path, or at one side of it: half buried logs, planks, ramps.
typedef enum obstacle_kind { LOG, PLANK, RAMP } obstacle_kind;

typedef struct obstacle {
  double at;    // position along the path
  float aside;  // m
  float half;   // m, half length across
  float height; // m
  obstacle_kind kind;
} obstacle;

static tn_shape_def obstacle_shape(scene_run *run, const obstacle *o)
{
  float h = o->height;
  if (o->kind == LOG) {
    tn_shape_def log = scene_axial_shape(TN_SHAPE_CAPSULE, h, o->half);
    log.rotation = tn_quat_axis_angle(X_AXIS, 0.5f * TN_PI);
    return log;
  }
  if (o->kind == PLANK) {
    return scene_box_shape(tn_v3(0.06f, h, o->half));
  }
  const tn_vec3 corners[8] = {{-0.25f, -0.05f, -o->half}, {0.15f, -0.05f, -o->half},
                              {0.15f, h, -o->half},       {-0.25f, 0.0f, -o->half},
                              {-0.25f, -0.05f, o->half},  {0.15f, -0.05f, o->half},
                              {0.15f, h, o->half},        {-0.25f, 0.0f, o->half}};
  tn_shape_def ramp = tn_default_shape_def(TN_SHAPE_HULL);
  ramp.geometry = tn_hull_create(run->world, corners, 8, 0);
  return ramp;
}

static void add_obstacles(scene_run *run, tn_material material)
{
  static const obstacle all[] = {
      {0.75, 0.0f, 0.3f, 0.03f, LOG},     {1.2, -0.17f, 0.12f, 0.03f, LOG},
      {1.55, 0.17f, 0.12f, 0.03f, LOG},   {2.3, 0.0f, 0.3f, 0.025f, PLANK},
      {2.45, 0.0f, 0.3f, 0.025f, PLANK},  {3.5, 0.0f, 0.3f, 0.07f, RAMP},
      {4.4, 0.17f, 0.12f, 0.035f, PLANK}, {4.8, -0.17f, 0.12f, 0.035f, PLANK},
      {5.5, 0.0f, 0.3f, 0.025f, LOG},     {5.6, 0.0f, 0.3f, 0.025f, LOG},
      {5.7, 0.0f, 0.3f, 0.025f, LOG},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0] && scene_value(run, "obstacles") > 0.0; ++i) {
    tn_shape_def shape = obstacle_shape(run, &all[i]);
    shape.material = material;
    tn_transform at = {way_point(all[i].at), way_heading(all[i].at)};
    at.p = tn_offset(at.p, tn_rotate(at.q, tn_v3(0.0f, 0.0f, all[i].aside)));
    at.p.y = (double)ground_height(run, at.p.x, at.p.z);
    scene_add_fixed(run, at, &shape);
  }
}

// ---------------------------------------------------------------------------------------------
// Rigid parts

typedef struct builder {
  scene_run *run;
  tn_transform at; // of the car
} builder;

static tn_pos place(const builder *b, tn_vec3 p)
{
  return tn_offset(b->at.p, tn_rotate(b->at.q, p));
}

static tn_joint_def joint_at(const builder *b, tn_joint_kind kind, tn_body_id from, tn_body_id to,
                             tn_vec3 point, tn_vec3 axis)
{
  return scene_joint_at(b->run, kind, from, to, place(b, point), tn_rotate(b->at.q, axis));
}

static void join(const builder *b, tn_joint_kind kind, tn_body_id from, tn_body_id to,
                 tn_vec3 point, tn_vec3 axis)
{
  tn_joint_def def = joint_at(b, kind, from, to, point, axis);
  scene_add_joint(b->run, &def);
}

// Parts of the car do not collide with each other; those with `mask` zero collide with nothing.
static tn_body_id add_part(const builder *b, tn_vec3 at, tn_shape_def *shapes, int count,
                           float mass)
{
  for (int i = 0; i < count; ++i) {
    shapes[i].filter.group = -1;
  }
  tn_body_def def = scene_body_def();
  def.position = place(b, at);
  def.rotation = b->at.q;
  def.can_sleep = false;
  return scene_add_compound(b->run, &def, shapes, count, mass);
}

// A thin rod between two points.
static tn_body_id add_stick(const builder *b, tn_vec3 from, tn_vec3 to, float radius, float mass)
{
  tn_vec3 way = tn_sub(to, from);
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CYLINDER, radius, 0.5f * tn_length(way));
  shape.rotation = tn_quat_mul(tn_quat_x_to(way), tn_quat_axis_angle(Z_AXIS, -0.5f * TN_PI));
  shape.filter.mask = 0;
  return add_part(b, tn_scale(0.5f, tn_add(from, to)), &shape, 1, mass);
}

static tn_shape_def box_at(tn_vec3 at, tn_vec3 half)
{
  tn_shape_def box = scene_box_shape(half);
  box.position = at;
  return box;
}

// A hull with mirrored vertices on both sides.
static tn_shape_def profile(scene_run *run, const float (*outline)[3], int count)
{
  tn_vec3 corners[32];
  for (int i = 0; i < 2 * count; ++i) {
    const float *p = outline[i / 2];
    corners[i] = tn_v3(p[0], p[1], i % 2 ? p[2] : -p[2]);
  }
  tn_shape_def hull = tn_default_shape_def(TN_SHAPE_HULL);
  hull.geometry = tn_hull_create(run->world, corners, 2 * count, 0);
  return hull;
}

// Floor, hood, cabin, bumpers, spoiler; the centre of mass is low.
static tn_body_id add_chassis(const builder *b)
{
  static const float hood[6][3] = {{-0.22f, -0.01f, 0.045f}, {-0.2f, 0.045f, 0.035f},
                                   {0.02f, 0.045f, 0.045f},  {0.2f, 0.02f, 0.03f},
                                   {0.24f, -0.005f, 0.03f},  {0.2f, -0.012f, 0.045f}};
  static const float cabin[4][3] = {{-0.14f, 0.045f, 0.042f},
                                    {-0.09f, 0.1f, 0.03f},
                                    {-0.02f, 0.1f, 0.03f},
                                    {0.07f, 0.035f, 0.042f}};
  tn_shape_def shapes[7] = {
      box_at(tn_v3(0.0f, -0.03f, 0.0f), tn_v3(0.22f, 0.008f, 0.05f)),
      profile(b->run, hood, 6),
      profile(b->run, cabin, 4),
      box_at(tn_v3(-0.235f, 0.1f, 0.0f), tn_v3(0.035f, 0.003f, 0.1f)),
      box_at(tn_v3(-0.215f, 0.07f, 0.0f), tn_v3(0.006f, 0.03f, 0.03f)),
      scene_axial_shape(TN_SHAPE_CAPSULE, 0.012f, 0.08f),
      scene_axial_shape(TN_SHAPE_CAPSULE, 0.012f, 0.08f),
  };
  for (int i = 5; i < 7; ++i) {
    shapes[i].position = tn_v3(i == 5 ? 0.245f : -0.23f, -0.02f, 0.0f);
    shapes[i].rotation = tn_quat_axis_angle(X_AXIS, 0.5f * TN_PI);
  }
  for (int i = 1; i < 5; ++i) {
    shapes[i].density = 100.0f;
  }
  return add_part(b, tn_v3(0.0f, 0.0f, 0.0f), shapes, 7, 3.0f);
}

static tn_body_id add_knuckle(const builder *b, tn_vec3 at)
{
  tn_shape_def shapes[3] = {
      box_at(tn_v3(0.0f, 0.0f, 0.0f), tn_v3(0.01f, ARM_HEIGHT, 0.008f)),
      box_at(tn_v3(-0.5f * SERVO_ARM, 0.0f, 0.0f), tn_v3(0.5f * SERVO_ARM, 0.004f, 0.004f)),
      scene_axial_shape(TN_SHAPE_CYLINDER, 0.008f, WHEEL_SIDE - KINGPIN),
  };
  shapes[2].rotation = tn_quat_axis_angle(X_AXIS, 0.5f * TN_PI);
  for (int i = 0; i < 3; ++i) {
    shapes[i].filter.mask = 0;
  }
  return add_part(b, at, shapes, 3, 0.1f);
}

// An arm on a hinge along x.
static tn_body_id add_arm(const builder *b, tn_vec3 in, tn_vec3 out, float half_width)
{
  tn_vec3 half = tn_v3(half_width, 0.004f, 0.5f * fabsf(out.z - in.z));
  tn_shape_def shape = scene_box_shape(half);
  shape.filter.mask = 0;
  return add_part(b, tn_scale(0.5f, tn_add(in, out)), &shape, 1, 0.04f);
}

static tn_body_id add_rim(const builder *b, tn_vec3 at)
{
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CYLINDER, RIM_RADIUS, 0.9f * WHEEL_HALF);
  shape.rotation = tn_quat_axis_angle(X_AXIS, 0.5f * TN_PI);
  float mass = (float)scene_value(b->run, "wheel_mass") - TYRE_MASS;
  return add_part(b, at, &shape, 1, mass);
}

// A spring and damper between a tower of the chassis and the lower arm.
static void add_shock(const builder *b, tn_body_id chassis, tn_body_id arm, tn_vec3 top,
                      tn_vec3 foot)
{
  tn_vec3 way = tn_sub(foot, top);
  tn_vec3 middle = tn_add(top, tn_scale(0.6f, way)), inside = tn_add(top, tn_scale(0.35f, way));
  tn_body_id barrel = add_stick(b, top, middle, 0.009f, 0.02f);
  tn_body_id piston = add_stick(b, inside, foot, 0.005f, 0.02f);
  join(b, TN_JOINT_BALL, chassis, barrel, top, Y_AXIS);
  join(b, TN_JOINT_BALL, piston, arm, foot, Y_AXIS);
  tn_joint_def slide = joint_at(b, TN_JOINT_PRISMATIC, barrel, piston, inside, way);
  slide.linear[0] = tn_between(-0.02f, 0.02f);
  slide.axis[TN_LINEAR_A].stiffness = SPRING;
  slide.axis[TN_LINEAR_A].rest = SPRING_LOAD / SPRING;
  slide.axis[TN_LINEAR_A].damping = SPRING_DAMPING;
  scene_add_joint(b->run, &slide);
}

// ---------------------------------------------------------------------------------------------
// Soft tyres

static bool make_tyre(const scene_run *run, tn_soft_def *def)
{
  const int cells[3] = {(int)scene_value(run, "around"), (int)scene_value(run, "wall"),
                        (int)scene_value(run, "across")};
  *def = tn_default_soft_def();
  return tn_soft_mesh_tube(def, cells, RIM_RADIUS, WHEEL_RADIUS, WHEEL_HALF);
}

static void glue(const builder *b, tn_soft_id tyre, const tn_soft_def *def, tn_body_id rim)
{
  float within = RIM_RADIUS + 1e-3f * (WHEEL_RADIUS - RIM_RADIUS);
  for (int i = 0; i < def->vertex_count && !b->run->failed; ++i) {
    tn_vec3 p = def->vertices[i];
    if (p.x * p.x + p.y * p.y < within * within) {
      tn_attachment_def hold = tn_default_attachment_def();
      hold.soft = tyre;
      hold.particle = i;
      hold.body = rim;
      hold.point = tn_p3((double)p.x, (double)p.y, (double)p.z);
      b->run->failed = TN_IS_NULL(tn_attachment_create(b->run->world, &hold));
    }
  }
}

static void add_tyre(const builder *b, tn_body_id rim, tn_vec3 at)
{
  scene_run *run = b->run;
  tn_soft_def def;
  if (run->failed || !make_tyre(run, &def)) {
    run->failed = true;
    return;
  }
  def.position = place(b, at);
  def.rotation = b->at.q;
  def.mass = TYRE_MASS;
  def.youngs_modulus = (float)scene_value(run, "young");
  def.damping = 5.0f;
  def.radius = 0.002f;
  def.can_sleep = false;
  def.filter.group = -1;
  def.material = scene_material((float)scene_value(run, "friction"), 0.0f);
  tn_soft_id tyre = scene_make_soft(run, &def);
  run->failed = TN_IS_NULL(tyre);
  run->weighing_mass += (double)def.mass;
  glue(b, tyre, &def, rim);
  run->memory[TYRE_VOLUME] = tn_soft_volume(run->world, tyre);
  tn_soft_mesh_free(&def);
}

// ---------------------------------------------------------------------------------------------
// The car

// Bodies and joints in the order of the enumerations above.
static void add_corner(const builder *b, int corner, tn_body_id chassis, tn_body_id servo)
{
  bool front = corner < 2;
  float x = front ? 0.5f * WHEEL_BASE : -0.5f * WHEEL_BASE, side = corner % 2 ? -1.0f : 1.0f;
  tn_vec3 in = {x, ARM_HEIGHT, side * ARM_IN}, out = {x, ARM_HEIGHT, side * KINGPIN};
  tn_vec3 low_in = {x, -ARM_HEIGHT, in.z}, low_out = {x, -ARM_HEIGHT, out.z};
  tn_vec3 hub = {x, 0.0f, out.z}, wheel = {x, 0.0f, side * WHEEL_SIDE};
  tn_vec3 rod_out = {x - SERVO_ARM, 0.0f, out.z};
  tn_vec3 rod_in = {rod_out.x, 0.0f, front ? 0.0f : in.z};
  tn_body_id lower = add_arm(b, low_in, low_out, 0.03f), upper = add_arm(b, in, out, 0.012f);
  tn_body_id knuckle = add_knuckle(b, hub), rim = add_rim(b, wheel);
  tn_body_id rod = add_stick(b, rod_in, rod_out, 0.003f, 0.003f);
  join(b, TN_JOINT_HINGE, knuckle, rim, wheel, tn_scale(-1.0f, Z_AXIS));
  join(b, TN_JOINT_HINGE, chassis, lower, low_in, X_AXIS);
  join(b, TN_JOINT_HINGE, chassis, upper, in, X_AXIS);
  join(b, TN_JOINT_BALL, lower, knuckle, low_out, Y_AXIS);
  join(b, TN_JOINT_BALL, upper, knuckle, out, Y_AXIS);
  join(b, TN_JOINT_BALL, front ? servo : chassis, rod, rod_in, Z_AXIS);
  join(b, TN_JOINT_BALL, rod, knuckle, rod_out, Z_AXIS);
  float ahead = front ? 0.022f : -0.022f;
  add_shock(b, chassis, lower, tn_v3(x + ahead, 0.085f, side * 0.045f),
            tn_v3(x + ahead, -ARM_HEIGHT, side * 0.1f));
  add_tyre(b, rim, wheel);
}

static tn_body_id add_servo(const builder *b, tn_body_id chassis)
{
  float mass = (float)(scene_value(b->run, "wheel_mass") / scene_value(b->run, "mass_ratio"));
  tn_vec3 pivot = {0.5f * WHEEL_BASE, 0.0f, 0.0f};
  tn_shape_def shape =
      box_at(tn_v3(-0.5f * SERVO_ARM, 0.0f, 0.0f), tn_v3(0.5f * SERVO_ARM, 0.003f, 0.003f));
  shape.filter.mask = 0;
  tn_body_id servo = add_part(b, pivot, &shape, 1, mass);
  tn_joint_def joint = joint_at(b, TN_JOINT_HINGE, chassis, servo, pivot, Y_AXIS);
  joint.axis[TN_ANGULAR_A].drive.stiffness = INFINITY;
  scene_add_joint(b->run, &joint);
  return servo;
}

static void build_car(scene_run *run)
{
  scene_set_gravity(run);
  tn_material material = scene_material((float)scene_value(run, "friction"), 0.0f);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), material);
  add_field(run, material);
  add_obstacles(run, material);
  builder b = {run, {way_point(0.0), way_heading(0.0)}};
  b.at.p.y = (double)WHEEL_RADIUS + scene_value(run, "bumps") + 0.005;
  tn_body_id chassis = add_chassis(&b), servo = add_servo(&b, chassis);
  for (int i = 0; i < CORNERS && !run->failed; ++i) {
    add_corner(&b, i, chassis, servo);
  }
  run->energy_scale = run->weighing_mass * (double)SCENE_GRAVITY * (double)WHEEL_RADIUS;
}

// ---------------------------------------------------------------------------------------------
// Driving

// Steering angle towards the path, seen from the car: positive to the left.
static float turn_to_way(scene_run *run)
{
  tn_transform car = tn_body_transform(run->world, run->bodies[CHASSIS]);
  tn_vec3 to = tn_v3(0.0f, 0.0f, 0.0f);
  for (int i = 0; i < 100; ++i) {
    to = tn_between_points(car.p, way_point(run->memory[WAY_POINT]));
    if ((double)(to.x * to.x + to.z * to.z) >= LOOK_AHEAD * LOOK_AHEAD) {
      break;
    }
    run->memory[WAY_POINT] += 0.01;
  }
  to = tn_rotate(tn_quat_conjugate(car.q), to);
  return tn_atan2(-to.z, to.x);
}

static void steer(scene_run *run, float dt)
{
  float wanted = fminf(fmaxf(1.2f * turn_to_way(run), -MOST_STEERING), MOST_STEERING);
  float most = SERVO_SPEED * dt, change = wanted - (float)run->memory[STEERING];
  run->memory[STEERING] += (double)fminf(fmaxf(change, -most), most);
  tn_drive drive = tn_joint_get_def(run->world, run->joints[SERVO_JOINT]).axis[TN_ANGULAR_A].drive;
  drive.target = (float)run->memory[STEERING];
  tn_joint_set_drive(run->world, run->joints[SERVO_JOINT], TN_ANGULAR_A, drive);
}

static int corner_joint(int corner)
{
  return FIRST_JOINT + corner * CORNER_JOINTS;
}

static int corner_body(int corner, int part)
{
  return FIRST_CORNER + corner * CORNER_BODIES + part;
}

// Each wheel has a motor whose torque decreases with its speed.
static void accelerate(scene_run *run)
{
  float speed = run->time < 0.5 ? 0.0f : (float)scene_value(run, "speed") / WHEEL_RADIUS;
  tn_quat q = tn_body_rotation(run->world, run->bodies[CHASSIS]);
  tn_vec3 axle = tn_rotate(q, tn_scale(-1.0f, Z_AXIS));
  for (int i = 0; i < CORNERS; ++i) {
    tn_vec3 spin = tn_body_angular_velocity(run->world, run->bodies[corner_body(i, RIM)]);
    float torque = MOTOR_FALL * (speed - tn_dot(spin, axle));
    tn_joint_id joint = run->joints[corner_joint(i) + AXLE_JOINT];
    tn_drive drive = tn_joint_get_def(run->world, joint).axis[TN_ANGULAR_A].drive;
    drive.force = fminf(fmaxf(torque, -MOTOR_TORQUE), MOTOR_TORQUE);
    tn_joint_set_drive(run->world, joint, TN_ANGULAR_A, drive);
  }
}

static void drive_car(scene_run *run, float dt)
{
  tn_vec3 v = tn_body_velocity(run->world, run->bodies[CHASSIS]);
  run->memory[WAY] += (double)dt * sqrt((double)(v.x * v.x + v.z * v.z));
  steer(run, dt);
  accelerate(run);
}

// ---------------------------------------------------------------------------------------------
// Metrics

// Distance of the tyre's particles from their rest positions on the rim.
static double tyre_bulge(const scene_run *run, tn_soft_id tyre, int corner, const tn_soft_def *rest)
{
  tn_transform rim = tn_body_transform(run->world, run->bodies[corner_body(corner, RIM)]);
  double worst = 0.0;
  for (int i = 0; i < rest->vertex_count; ++i) {
    tn_pos belongs = tn_offset(rim.p, tn_rotate(rim.q, rest->vertices[i]));
    tn_vec3 off = tn_between_points(belongs, tn_soft_position(run->world, tyre, i));
    worst = fmax(worst, (double)tn_length(off));
  }
  return worst;
}

static void measure_tyres(const scene_run *run, scene_sheet *sheet)
{
  tn_soft_id tyres[CORNERS];
  tn_soft_def rest;
  double volume = 0.0, bulge = 0.0;
  int count = tn_world_softs(run->world, tyres, CORNERS);
  bool made = make_tyre(run, &rest);
  for (int i = 0; i < count && i < CORNERS && made; ++i) {
    double change = tn_soft_volume(run->world, tyres[i]) / run->memory[TYRE_VOLUME] - 1.0;
    volume = fmax(volume, fabs(change));
    bulge = fmax(bulge, tyre_bulge(run, tyres[i], i, &rest));
  }
  scene_note(sheet, "tyre_volume_rel", volume);
  scene_note(sheet, "tyre_bulge_m", bulge);
  tn_soft_mesh_free(&rest);
}

// Angle of the front wheels relative to the chassis.
static double wheel_angle(const scene_run *run, int corner)
{
  tn_quat q = tn_body_rotation(run->world, run->bodies[CHASSIS]);
  tn_quat k = tn_body_rotation(run->world, run->bodies[corner_body(corner, KNUCKLE)]);
  tn_vec3 ahead = tn_rotate(tn_quat_conjugate(q), tn_rotate(k, X_AXIS));
  return (double)tn_atan2(-ahead.z, ahead.x);
}

static void measure_car(const scene_run *run, scene_sheet *sheet)
{
  tn_transform car = tn_body_transform(run->world, run->bodies[CHASSIS]);
  double wanted = run->memory[STEERING];
  double servo = (double)tn_joint_get_state(run->world, run->joints[SERVO_JOINT]).angle.x;
  scene_note(sheet, "way_m", run->memory[WAY]);
  scene_note(sheet, "rounds", (run->memory[WAY_POINT]) / (2.0 * (double)TN_PI));
  scene_note(sheet, "upright", (double)tn_rotate(car.q, Y_AXIS).y);
  scene_note(sheet, "steering_rad", wanted);
  scene_note(sheet, "servo_error_rad", fabs(servo - wanted));
  scene_note(sheet, "wheel_error_rad",
             fmax(fabs(wheel_angle(run, 0) - wanted), fabs(wheel_angle(run, 1) - wanted)));
  measure_tyres(run, sheet);
}

const scene scene_car = {
    .name = "car",
    .title = "A remote-controlled car with soft tyres on rough ground with obstacles",
    .source = "Mueller et al. 2020, Fig. 1 and 16",
    .group = SCENE_DETAILED,
    .camera = {{0.5f, 1.8f, 2.6f}, {0.0f, 0.0f, 0.2f}},
    .seconds = 30.0,
    .substeps = 20,
    .tenon_only = true, // large mass ratio of servo arm and wheel
    .parameters = {{"speed", 0.0, 10.0, 2.0, false, "target speed of the motors, m/s"},
                   {"bumps", 0.0, 0.05, 0.02, false, "height of the bumps, m"},
                   {"obstacles", 0.0, 1.0, 1.0, true, "1: with obstacles, 0: without"},
                   {"wheel_mass", 0.7, 10.0, 0.76, false, "mass of rim and tyre, kg"},
                   {"mass_ratio", 1.0, 1e5, 760.0, false,
                    "mass ratio of a wheel and the servo's arm"},
                   {"around", 8.0, 100.0, 23.0, true, "hexahedra around a tyre"},
                   {"wall", 1.0, 10.0, 2.0, true, "hexahedra through the wall of a tyre"},
                   {"across", 1.0, 20.0, 6.0, true, "hexahedra across a tyre"},
                   {"young", 1e4, 1e8, 1e7, false, "Young's modulus of the tyres, Pa"},
                   {"friction", 0.0, 10.0, 0.9, false, "coefficient of friction"}},
    .build = build_car,
    .drive = drive_car,
    .measure = measure_car,
};
