// Impacts: restitution, transfer of momentum, continuous collision.
#include "build.h"

#include <math.h>

static tn_material material_of(const scene_run *run)
{
  return scene_material((float)scene_value(run, "friction"),
                        (float)scene_value(run, "restitution"));
}

// ---------------------------------------------------------------------------------------------
// A bouncing ball. Memory: number of bounces, whether it is falling, the heights after the first
// and the last bounce.

enum { BOUNCES, FALLS, FIRST_APEX, LAST_APEX };

static void build_bounce(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), material_of(run));
  float radius = (float)scene_value(run, "radius");
  tn_shape_def shape = scene_sphere_shape(radius);
  shape.material = material_of(run);
  tn_body_def def = scene_body_def();
  def.position = tn_p3(0.0, scene_value(run, "height") + (double)radius, 0.0);
  scene_add_solid(run, &def, &shape, 1.0f);
  run->energy_scale = scene_value(run, "height") * (double)SCENE_GRAVITY;
  run->memory[FALLS] = 1.0;
}

// Height of the ball's lowest point at the top of its free flight.
static double apex_of(const scene_run *run)
{
  double height = tn_body_position(run->world, run->bodies[0]).y - scene_value(run, "radius");
  double speed = (double)tn_body_velocity(run->world, run->bodies[0]).y;
  return height + 0.5 * speed * fabs(speed) / (double)SCENE_GRAVITY;
}

static void watch_bounce(scene_run *run, float dt)
{
  (void)dt;
  bool falls = tn_body_velocity(run->world, run->bodies[0]).y <= 0.0f;
  if (run->memory[FALLS] > 0.0 && !falls) {
    run->memory[BOUNCES] += 1.0;
    run->memory[LAST_APEX] = apex_of(run);
    if (run->memory[BOUNCES] < 2.0) {
      run->memory[FIRST_APEX] = run->memory[LAST_APEX];
    }
  }
  run->memory[FALLS] = falls;
}

static void measure_bounce(const scene_run *run, scene_sheet *sheet)
{
  double height = scene_value(run, "height");
  scene_note(sheet, "bounces", run->memory[BOUNCES]);
  scene_note(sheet, "first_apex_rel", run->memory[FIRST_APEX] / height);
  scene_note(sheet, "last_apex_rel", run->memory[LAST_APEX] / height);
}

const scene scene_bounce = {
    .name = "bounce",
    .title = "A bouncing ball",
    .source = "Mueller et al. 2020, eq. 34",
    .group = SCENE_LAWS,
    .camera = {{0.0f, 1.0f, 3.0f}, {0.0f, 0.6f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"restitution", 0.0, 1.0, 1.0, false, "coefficient of restitution"},
                   {"height", 0.001, 1000.0, 1.0, false, "initial height, m"},
                   {"radius", 0.001, 100.0, 0.1, false, "radius of the ball, m"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_bounce,
    .drive = watch_bounce,
    .measure = measure_bounce,
};

// ---------------------------------------------------------------------------------------------
// Newton's cradle. Memory: for each ball its speed just after the first impact, relative to that of
// the first ball before it.

enum { CRADLE_BALLS = 5 };
static const float CRADLE_RADIUS = 0.1f, CRADLE_STRING = 1.0f;

static tn_pos cradle_hook(int ball)
{
  return tn_p3(2.0 * (double)CRADLE_RADIUS * (double)ball, 0.0, 0.0);
}

static void build_cradle(scene_run *run)
{
  scene_set_gravity(run);
  float angle = (float)scene_value(run, "angle") * (TN_PI / 180.0f);
  int raised = (int)scene_value(run, "raised");
  tn_shape_def shape = scene_sphere_shape(CRADLE_RADIUS);
  shape.material = material_of(run);
  for (int i = 0; i < CRADLE_BALLS && !run->failed; ++i) {
    tn_body_def def = scene_body_def();
    float swing = i < raised ? angle : 0.0f;
    tn_vec3 string = tn_v3(-CRADLE_STRING * tn_sin(swing), -CRADLE_STRING * tn_cos(swing), 0.0f);
    def.position = tn_offset(cradle_hook(i), string);
    tn_body_id ball = scene_add_solid(run, &def, &shape, 1.0f);
    tn_joint_def joint = scene_joint_between(run, SCENE_WORLD, ball, cradle_hook(i), def.position);
    scene_add_joint(run, &joint);
    run->energy_scale += (double)(SCENE_GRAVITY * (string.y + CRADLE_STRING));
  }
}

static double cradle_speed(const scene_run *run, int ball)
{
  return (double)tn_body_velocity(run->world, run->bodies[ball]).x;
}

static void watch_cradle(scene_run *run, float dt)
{
  (void)dt;
  double raised = scene_value(run, "raised");
  double speed = sqrt(2.0 * run->energy_scale / raised);
  int last = CRADLE_BALLS - 1;
  bool is_first_hit = cradle_speed(run, last) > 0.5 * speed && run->memory[last] == 0.0;
  for (int i = 0; i < CRADLE_BALLS && is_first_hit; ++i) {
    run->memory[i] = cradle_speed(run, i) / speed;
  }
}

static void measure_cradle(const scene_run *run, scene_sheet *sheet)
{
  static const char *const names[CRADLE_BALLS] = {"hit_speed_1", "hit_speed_2", "hit_speed_3",
                                                  "hit_speed_4", "hit_speed_5"};
  for (int i = 0; i < CRADLE_BALLS; ++i) {
    scene_note(sheet, names[i], run->memory[i]);
  }
}

const scene scene_cradle = {
    .name = "cradle",
    .title = "Newton's cradle",
    .source = "Seabra et al. 2022, Fig. 1",
    .group = SCENE_SEABRA,
    .camera = {{0.4f, -0.3f, 2.6f}, {0.4f, -0.6f, 0.0f}},
    .seconds = 30.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"angle", 1.0, 85.0, 30.0, false, "initial angle of the raised balls, degrees"},
                   {"raised", 1.0, 4.0, 1.0, true, "number of raised balls"},
                   {"restitution", 0.0, 1.0, 1.0, false, "coefficient of restitution"},
                   {"friction", 0.0, 10.0, 0.0, false, "coefficient of friction"}},
    .build = build_cradle,
    .drive = watch_cradle,
    .measure = measure_cradle,
};

// ---------------------------------------------------------------------------------------------
// A plate that falls on a corner

static void build_plate(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), material_of(run));
  tn_vec3 size = tn_v3((float)scene_value(run, "length"), (float)scene_value(run, "thickness"),
                       (float)scene_value(run, "width"));
  tn_shape_def shape = scene_box_shape(tn_scale(0.5f, size));
  shape.material = material_of(run);
  tn_body_def def = scene_body_def();
  def.position = tn_p3(0.0, scene_value(run, "height"), 0.0);
  def.rotation = tn_quat_axis_angle(tn_v3(0.3f, 0.2f, 1.0f),
                                    (float)scene_value(run, "tilt") * (TN_PI / 180.0f));
  scene_add_solid(run, &def, &shape, 1.0f);
  run->energy_scale = (double)SCENE_GRAVITY * def.position.y;
}

const scene scene_plate = {
    .name = "plate",
    .title = "A plate with three different moments of inertia bounces without loss",
    .source = "Seabra et al. 2022, Fig. 7 and 8",
    .group = SCENE_SEABRA,
    .camera = {{3.0f, 3.0f, 9.0f}, {0.0f, 1.5f, 0.0f}},
    .seconds = 30.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"restitution", 0.0, 1.0, 1.0, false, "coefficient of restitution"},
                   {"friction", 0.0, 10.0, 0.0, false, "coefficient of friction"},
                   {"height", 2.0, 1000.0, 3.0, false, "initial height, m"},
                   {"tilt", 0.0, 90.0, 30.0, false, "initial tilt, degrees"},
                   {"length", 0.1, 2.0, 2.0, false, "m"},
                   {"thickness", 0.01, 2.0, 0.1, false, "m"},
                   {"width", 0.1, 2.0, 1.0, false, "m"}},
    .build = build_plate,
};

// ---------------------------------------------------------------------------------------------
// A coin that rolls on its rim until it lies flat (Euler's disk)

// A thin disk whose centre is at rest precesses at sqrt(4 g / (r sin(tilt))).
static float precession_at(float radius, float tilt)
{
  return sqrtf(4.0f * SCENE_GRAVITY / (radius * tn_sin(tilt)));
}

static void build_coin(scene_run *run)
{
  scene_set_gravity(run);
  tn_material material = material_of(run);
  material.rolling_friction = (float)scene_value(run, "rolling_friction");
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), material);
  float radius = (float)scene_value(run, "radius");
  float half = 0.5f * (float)scene_value(run, "thickness") * radius;
  float tilt = (float)scene_value(run, "tilt") * (TN_PI / 180.0f);
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CYLINDER, radius, half);
  shape.material = material;
  tn_body_def def = scene_body_def();
  // Tilted about z, it touches the ground at its -x side and rotates about the diameter there.
  def.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), tilt);
  float height = radius * tn_sin(tilt) + half * tn_cos(tilt);
  def.position = tn_p3(0.0, (double)height, 0.0);
  tn_vec3 diameter = tn_v3(tn_cos(tilt), tn_sin(tilt), 0.0f);
  def.angular_velocity = tn_scale(precession_at(radius, tilt) * tn_sin(tilt), diameter);
  float mass = 1000.0f * TN_PI * radius * radius * 2.0f * half;
  scene_add_solid(run, &def, &shape, mass);
  run->energy_scale = tn_world_energy(run->world).total;
}

static void measure_coin(const scene_run *run, scene_sheet *sheet)
{
  tn_vec3 axis = tn_rotate(tn_body_rotation(run->world, run->bodies[0]), tn_v3(0.0f, 1.0f, 0.0f));
  tn_vec3 turn = tn_cross(tn_body_angular_velocity(run->world, run->bodies[0]), axis);
  double square = (double)(axis.x * axis.x + axis.z * axis.z);
  double cross = (double)(axis.z * turn.x - axis.x * turn.z);
  double tilt = (double)tn_atan2((float)sqrt(square), fabsf(axis.y));
  scene_note(sheet, "tilt_rad", tilt);
  scene_note(sheet, "precession", square > 1e-12 ? cross / square : 0.0);
  scene_note(sheet, "precession_expected",
             (double)precession_at((float)scene_value(run, "radius"), (float)fmax(tilt, 1e-6)));
}

const scene scene_coin = {
    .name = "coin",
    .title = "A coin that comes to rest",
    .source = "Mueller et al. 2020, Fig. 15",
    .group = SCENE_DETAILED,
    .camera = {{0.2f, 0.25f, 0.4f}, {0.0f, 0.03f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"radius", 0.001, 100.0, 0.1, false, "m"},
                   {"thickness", 0.01, 1.0, 0.1, false, "relative to the radius"},
                   {"tilt", 1.0, 80.0, 30.0, false, "initial tilt, degrees"},
                   {"rolling_friction", 0.0, 1.0, 0.002, false, "m"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"},
                   {"restitution", 0.0, 1.0, 0.0, false, "coefficient of restitution"}},
    .build = build_coin,
    .measure = measure_coin,
};

// ---------------------------------------------------------------------------------------------
// Bullets: spheres and boxes of 2 cm against a wall of 1 cm across the x axis

static const float BULLET = 0.01f, WALL = 0.005f;

static void add_wall(scene_run *run)
{
  tn_shape_def wall = scene_box_shape(tn_v3(WALL, 20.0f, 20.0f));
  wall.material = material_of(run);
  float mass = (float)scene_value(run, "wall_mass");
  tn_body_def def = scene_body_def();
  if (mass > 0.0f) {
    scene_add_solid(run, &def, &wall, mass);
  } else {
    scene_add_fixed(run, (tn_transform){def.position, def.rotation}, &wall);
  }
}

// Random initial distances, so that impacts occur at all times within a step.
static void build_bullets(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  add_wall(run);
  int count = (int)scene_value(run, "count");
  float speed = (float)scene_value(run, "speed");
  uint32_t random = 7;
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_shape_def shape =
        i % 2 ? scene_box_shape(tn_v3(BULLET, BULLET, BULLET)) : scene_sphere_shape(BULLET);
    shape.material = material_of(run);
    tn_vec3 place = scene_random_vector(&random, 1.0f);
    tn_vec3 aim = scene_random_vector(&random, (float)scene_value(run, "spread"));
    tn_body_def def = scene_body_def();
    def.position =
        tn_p3(-3.0 + 2.0 * (double)place.x, (double)(4.0f * place.y), (double)(4.0f * place.z));
    def.velocity = tn_v3(speed, speed * aim.y, speed * aim.z);
    def.angular_velocity = scene_random_vector(&random, 10.0f);
    def.bullet = scene_value(run, "wall_mass") > 0.0;
    def.max_speed = 10.0f * speed;
    scene_add_solid(run, &def, &shape, 0.01f);
  }
  run->energy_scale = tn_world_energy(run->world).kinetic;
}

static void measure_bullets(const scene_run *run, scene_sheet *sheet)
{
  int first = scene_value(run, "wall_mass") > 0.0 ? 1 : 0;
  double wall = first ? tn_body_position(run->world, run->bodies[0]).x : 0.0;
  int passed = 0;
  for (int i = first; i < run->body_count; ++i) {
    passed += tn_body_position(run->world, run->bodies[i]).x > wall;
  }
  scene_note(sheet, "passed", (double)passed);
}

const scene scene_bullets = {
    .name = "bullets",
    .title = "Small fast spheres and boxes shot at a thin wall",
    .source = "common engine test",
    .group = SCENE_LAWS,
    .camera = {{-8.0f, 5.0f, 12.0f}, {-1.0f, 0.0f, 0.0f}},
    .seconds = 0.25,
    .substeps = 20,
    .parameters = {{"count", 1.0, 1e5, 200.0, true, "number of bullets"},
                   {"speed", 0.0, 1e4, 200.0, false, "m/s"},
                   {"spread", 0.0, 1.0, 0.3, false, "spread of the directions"},
                   {"wall_mass", 0.0, 1e6, 0.0, false, "mass of the wall, kg; 0: static"},
                   {"restitution", 0.0, 1.0, 0.0, false, "coefficient of restitution"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_bullets,
    .measure = measure_bullets,
};
