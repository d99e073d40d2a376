// Dahl and Bargteil 2019: soft cars that jump and spin. Each is one soft body of hexahedra and two
// rigid axles with wheels. In the car's frame x is forward, y up, and the ground at y = 0.
#include "build.h"
#include "carve.h"

#include <math.h>
#include <stdlib.h>

static const tn_vec3 X_AXIS = {1.0f, 0.0f, 0.0f};
static const tn_vec3 Z_AXIS = {0.0f, 0.0f, 1.0f};

static const float AXLE = 1.25f;       // m, in front of the middle and behind it
static const float WHEEL_SIDE = 0.75f; // m, from the middle of the car to that of a wheel
static const float WHEEL_RADIUS = 0.36f, WHEEL_HALF = 0.13f;
static const float HOLD = 0.3f; // m, particles this close to an axle are attached to it
static const float CAR_MASS = 800.0f, AXLE_MASS = 40.0f, WHEEL_MASS = 20.0f;

enum { AXLES = 2 };
enum { TAKE_OFF, FLOWN = 3, LOST, LANDED }; // memory; the first entry has three numbers

// ---------------------------------------------------------------------------------------------
// The car

static float car_solid(tn_vec3 p)
{
  float low = carve_box(p, tn_v3(0.0f, 0.58f, 0.0f), tn_v3(2.0f, 0.26f, 0.85f), 0.12f);
  // The cabin is narrower at the top, most of all in front.
  float up = p.y - 0.8f;
  tn_vec3 leaning = tn_v3(p.x + (p.x > 0.0f ? 1.1f : -0.35f) * up, p.y, p.z * (1.0f + 0.3f * up));
  float cabin =
      0.8f * carve_box(leaning, tn_v3(-0.2f, 1.0f, 0.0f), tn_v3(1.25f, 0.32f, 0.75f), 0.1f);
  float body = carve_join(low, cabin, 0.08f);
  // Wheel arches.
  float wheel = 1e3f;
  for (int i = 0; i < 2; ++i) {
    float dx = p.x - (i ? -AXLE : AXLE), dy = p.y - WHEEL_RADIUS;
    float round = sqrtf(dx * dx + dy * dy) - WHEEL_RADIUS - 0.1f;
    wheel = fminf(wheel, fmaxf(round, WHEEL_SIDE - WHEEL_HALF - 0.06f - fabsf(p.z)));
  }
  return fmaxf(body, -wheel);
}

typedef struct stunt {
  scene_run *run;
  tn_transform at; // of the car
  tn_vec3 velocity, spin;
} stunt;

static tn_pos place(const stunt *s, tn_vec3 p)
{
  return tn_offset(s->at.p, tn_rotate(s->at.q, p));
}

static tn_vec3 velocity_at(const stunt *s, tn_vec3 p)
{
  return tn_add(s->velocity, tn_cross(s->spin, tn_rotate(s->at.q, p)));
}

static tn_body_id add_rigid(const stunt *s, tn_vec3 at, tn_shape_def *shape, float mass, float roll)
{
  shape->rotation = tn_quat_axis_angle(X_AXIS, 0.5f * TN_PI);
  shape->filter.group = -1;
  tn_body_def def = scene_body_def();
  def.position = place(s, at);
  def.rotation = s->at.q;
  def.velocity = velocity_at(s, at);
  def.angular_velocity = tn_add(s->spin, tn_rotate(s->at.q, tn_v3(0.0f, 0.0f, -roll)));
  return scene_add_solid(s->run, &def, shape, mass);
}

static tn_body_id add_axle(const stunt *s, float x, float friction, float roll)
{
  tn_vec3 middle = tn_v3(x, WHEEL_RADIUS, 0.0f);
  tn_shape_def bar = scene_axial_shape(TN_SHAPE_CYLINDER, 0.07f, WHEEL_SIDE);
  bar.filter.mask = 0;
  tn_body_id axle = add_rigid(s, middle, &bar, AXLE_MASS, 0.0f);
  for (int side = -1; side <= 1; side += 2) {
    tn_vec3 hub = tn_v3(x, WHEEL_RADIUS, (float)side * WHEEL_SIDE);
    tn_shape_def wheel = scene_axial_shape(TN_SHAPE_CYLINDER, WHEEL_RADIUS, WHEEL_HALF);
    wheel.material = scene_material(friction, 0.0f);
    tn_body_id id = add_rigid(s, hub, &wheel, WHEEL_MASS, roll);
    tn_joint_def hinge =
        scene_joint_at(s->run, TN_JOINT_HINGE, axle, id, place(s, hub), tn_rotate(s->at.q, Z_AXIS));
    scene_add_joint(s->run, &hinge);
  }
  return axle;
}

static void hold(const stunt *s, tn_soft_id car, const tn_soft_def *def, tn_body_id axle, float x)
{
  for (int i = 0; i < def->vertex_count && !s->run->failed; ++i) {
    tn_vec3 d = tn_sub(def->vertices[i], tn_v3(x, WHEEL_RADIUS, 0.0f));
    if (d.x * d.x + d.y * d.y < HOLD * HOLD) {
      tn_attachment_def one = tn_default_attachment_def();
      one.soft = car;
      one.particle = i;
      one.body = axle;
      one.point = tn_p3((double)d.x, (double)d.y, (double)d.z);
      s->run->failed = TN_IS_NULL(tn_attachment_create(s->run->world, &one));
    }
  }
}

static void add_car(const stunt *s, float friction, float roll)
{
  scene_run *run = s->run;
  tn_soft_def def = tn_default_soft_def();
  bool made = carve(&def, car_solid, tn_v3(-2.04f, 0.3f, -0.9f), tn_v3(2.04f, 1.36f, 0.9f),
                    (float)scene_value(run, "cell"));
  def.position = s->at.p;
  def.rotation = s->at.q;
  def.velocity = s->velocity;
  def.mass = CAR_MASS;
  def.radius = 0.02f;
  def.youngs_modulus = (float)scene_value(run, "young");
  def.keep_momentum = scene_value(run, "keep_momentum") > 0.0;
  def.filter.group = -1;
  def.material = scene_material(friction, 0.0f);
  tn_soft_id car = scene_make_soft(run, &def);
  run->failed = run->failed || !made || TN_IS_NULL(car);
  run->weighing_mass += (double)CAR_MASS;
  for (int i = 0; i < AXLES && !run->failed; ++i) {
    float x = i ? -AXLE : AXLE;
    hold(s, car, &def, add_axle(s, x, friction, roll), x);
  }
  scene_spin(run, car, s->at.p, s->spin);
  tn_soft_mesh_free(&def);
}

// ---------------------------------------------------------------------------------------------
// Angular momentum about the centre of mass, which gravity does not change

static void add_weighted(double *sum, double mass, tn_pos p)
{
  sum[0] += mass * p.x;
  sum[1] += mass * p.y;
  sum[2] += mass * p.z;
  sum[3] += mass;
}

static tn_pos center_of(const scene_run *run)
{
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  for (int i = 0; i < run->body_count; ++i) {
    add_weighted(sum, (double)tn_body_mass(run->world, run->bodies[i]).mass,
                 tn_body_center(run->world, run->bodies[i]));
  }
  tn_soft_id car;
  tn_world_softs(run->world, &car, 1);
  int count = tn_soft_masses(run->world, car, NULL, 0);
  float *masses = malloc(((size_t)count + 1) * sizeof *masses);
  count = masses ? tn_soft_masses(run->world, car, masses, count) : 0;
  for (int i = 0; i < count; ++i) {
    add_weighted(sum, (double)masses[i], tn_soft_position(run->world, car, i));
  }
  free(masses);
  return tn_p3(sum[0] / sum[3], sum[1] / sum[3], sum[2] / sum[3]);
}

static double lowest_of(const scene_run *run)
{
  tn_soft_id car;
  tn_world_softs(run->world, &car, 1);
  int count = tn_soft_positions(run->world, car, NULL, 0);
  double lowest = (double)INFINITY;
  for (int i = 0; i < count; ++i) {
    lowest = fmin(lowest, tn_soft_position(run->world, car, i).y);
  }
  return lowest;
}

#define CAR_PARAMETERS(cell)                                                                       \
  {"young", 1e4, 1e9, 3e6, false, "Young's modulus of the car, Pa"},                               \
      {"cell", 0.06, 0.5, cell, false, "edge of a hexahedron, m; the car is 4 m long"},            \
  {                                                                                                \
    "keep_momentum", 0.0, 1.0, 1.0, true, "1: correct angular momentum in xpbd and jacobi"         \
  }

// ---------------------------------------------------------------------------------------------
// A jump off a ramp under the wheels of one side only, so that the car rotates in flight

static const float RAMP_LENGTH = 5.0f, RAMP_HEIGHT = 1.3f;

static void add_ramp(scene_run *run, tn_material material)
{
  tn_vec3 corners[6];
  for (int i = 0; i < 6; ++i) {
    float x = i < 2 ? 0.0f : RAMP_LENGTH, y = i >= 4 ? RAMP_HEIGHT : 0.0f;
    corners[i] = tn_v3(x, y, i % 2 ? 1.3f : 0.35f);
  }
  tn_shape_def ramp = tn_default_shape_def(TN_SHAPE_HULL);
  ramp.geometry = tn_hull_create(run->world, corners, 6, 0);
  ramp.material = material;
  scene_add_fixed(run, (tn_transform){{0.0, 0.0, 0.0}, tn_quat_identity()}, &ramp);
}

static void build_car_ramp(scene_run *run)
{
  scene_set_gravity(run);
  tn_material material = scene_material(0.6f, 0.0f);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), material);
  add_ramp(run, material);
  float speed = (float)scene_value(run, "speed");
  stunt s = {run, {{-3.5, 0.0, 0.0}, tn_quat_identity()}, {speed, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
  add_car(&s, 0.6f, speed / WHEEL_RADIUS);
  run->energy_scale = tn_world_energy(run->world).kinetic;
}

static bool is_pressed(const scene_run *run, tn_body_id wheel)
{
  tn_contact contacts[8];
  int count = tn_body_contacts(run->world, wheel, contacts, 8);
  float force = 0.0f;
  for (int i = 0; i < count && i < 8; ++i) {
    for (int k = 0; k < contacts[i].count; ++k) {
      force += fabsf(contacts[i].points[k].normal_force);
    }
  }
  return force > 0.0f;
}

static bool is_flying(const scene_run *run)
{
  bool touches = run->frames == 0;
  for (int i = 0; i < run->body_count; ++i) {
    touches = touches || is_pressed(run, run->bodies[i]);
  }
  return !touches && lowest_of(run) > 0.05;
}

// First flight, from take-off to touch-down.
static void watch_jump(scene_run *run, float dt)
{
  bool flying = is_flying(run);
  run->memory[LANDED] = fmax(run->memory[LANDED], run->memory[FLOWN] > 0.2 && !flying);
  if (run->memory[LANDED] > 0.0) {
    return;
  }
  double *start = run->memory + TAKE_OFF, change = 0.0, size = 0.0;
  tn_momentum now = tn_world_momentum(run->world, center_of(run));
  for (int i = 0; i < 3; ++i) {
    start[i] = run->memory[FLOWN] > 0.0 && flying ? start[i] : now.angular[i];
    change += (now.angular[i] - start[i]) * (now.angular[i] - start[i]);
    size += start[i] * start[i];
  }
  run->memory[LOST] = flying && size > 0.0 ? sqrt(change / size) : 0.0;
  run->memory[FLOWN] = flying ? run->memory[FLOWN] + (double)dt : 0.0;
}

static void measure_car_ramp(const scene_run *run, scene_sheet *sheet)
{
  tn_pos center = center_of(run);
  scene_note(sheet, "way_m", center.x);
  scene_note(sheet, "flight_s", run->memory[FLOWN]);
  scene_note(sheet, "angular_momentum_rel", run->memory[LOST]);
  scene_note(sheet, "lowest_m", lowest_of(run));
}

const scene scene_car_ramp = {
    .name = "car_ramp",
    .title = "A soft car jumps off a ramp under one side",
    .source = "Dahl and Bargteil 2019, Fig. 1 and Table 1",
    .group = SCENE_MOMENTUM,
    .camera = {{-11.0f, 4.0f, 8.0f}, {4.0f, 0.0f, -0.5f}},
    .seconds = 4.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 40.0, 15.0, false, "initial speed, m/s"}, CAR_PARAMETERS(0.125)},
    .build = build_car_ramp,
    .drive = watch_jump,
    .measure = measure_car_ramp,
};

// ---------------------------------------------------------------------------------------------
// On its roof on ice: no torque about the vertical

static void build_car_spin(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), scene_material(0.0f, 0.0f));
  tn_quat over = tn_quat_axis_angle(X_AXIS, TN_PI);
  stunt s = {run, {{0.0, 1.36, 0.0}, over}, {0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
  s.spin = tn_v3(0.0f, (float)scene_value(run, "speed"), 0.0f);
  add_car(&s, 0.0f, 0.0f);
  run->memory[TAKE_OFF + 1] = tn_world_momentum(run->world, center_of(run)).angular[1];
  run->energy_scale = tn_world_energy(run->world).kinetic;
}

static void measure_car_spin(const scene_run *run, scene_sheet *sheet)
{
  double start = run->memory[TAKE_OFF + 1];
  double now = tn_world_momentum(run->world, center_of(run)).angular[1];
  scene_note(sheet, "angular_momentum", now);
  scene_note(sheet, "angular_momentum_rel", start != 0.0 ? now / start - 1.0 : 0.0);
  scene_note(sheet, "lowest_m", lowest_of(run));
}

const scene scene_car_spin = {
    .name = "car_spin",
    .title = "A soft car spins on its roof on ice",
    .source = "Dahl and Bargteil 2019, Fig. 1 and Table 1",
    .group = SCENE_MOMENTUM,
    .camera = {{3.0f, 3.5f, 5.5f}, {0.0f, 0.6f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 20.0, 4.0, false, "initial angular velocity, rad/s"},
                   CAR_PARAMETERS(0.11)},
    .build = build_car_spin,
    .measure = measure_car_spin,
};
