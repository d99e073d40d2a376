// Bodies on a plane: tests of friction.
#include "build.h"

#include <math.h>

static tn_material material_of(const scene_run *run)
{
  return scene_material((float)scene_value(run, "friction"), 0.0f);
}

// Blocks are flat, so that friction does not tip them over.
static const tn_vec3 BLOCK = {0.5f, 0.25f, 0.5f};

static tn_body_id add_block(scene_run *run, tn_body_def *def, float mass)
{
  tn_shape_def shape = scene_box_shape(BLOCK);
  shape.material = material_of(run);
  run->energy_scale += (double)(mass * SCENE_GRAVITY * BLOCK.y);
  return scene_add_solid(run, def, &shape, mass);
}

// ---------------------------------------------------------------------------------------------
// A slope through the origin, descending along x

static float slope_angle(const scene_run *run)
{
  return (float)scene_value(run, "angle") * (TN_PI / 180.0f);
}

static tn_vec3 down_slope(const scene_run *run)
{
  float angle = slope_angle(run);
  return tn_v3(tn_cos(angle), -tn_sin(angle), 0.0f);
}

// Adds the slope and a body with one shape on it, whose centre is `height` above the contact.
static void build_on_slope(scene_run *run, tn_shape_def shape, float height)
{
  scene_set_gravity(run);
  float angle = slope_angle(run);
  tn_quat tilt = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), -angle);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  plane.material = shape.material = material_of(run);
  scene_add_fixed(run, (tn_transform){{0.0, 0.0, 0.0}, tilt}, &plane);
  tn_body_def def = scene_body_def();
  def.position = tn_offset(tn_p3(0.0, 0.0, 0.0), tn_rotate(tilt, tn_v3(0.0f, height, 0.0f)));
  def.rotation = tilt;
  float mass = (float)scene_value(run, "mass");
  scene_add_solid(run, &def, &shape, mass);
  run->energy_scale = (double)(mass * SCENE_GRAVITY * height);
}

// Motion along the slope, compared with the acceleration `expected`.
static void note_descent(const scene_run *run, scene_sheet *sheet, double height, double expected)
{
  tn_vec3 down = down_slope(run);
  tn_vec3 place =
      tn_between_points(tn_p3(0.0, 0.0, 0.0), tn_body_position(run->world, run->bodies[0]));
  float angle = slope_angle(run);
  tn_vec3 start = tn_v3((float)height * tn_sin(angle), (float)height * tn_cos(angle), 0.0f);
  double way = (double)tn_dot(down, tn_sub(place, start));
  double speed = (double)tn_dot(down, tn_body_velocity(run->world, run->bodies[0]));
  double time = run->time > 0.0 ? run->time : 1.0;
  scene_note(sheet, "creep_m", (double)tn_length(tn_sub(place, start)));
  scene_note(sheet, "way_m", way);
  scene_note(sheet, "way_expected_m", 0.5 * expected * time * time);
  scene_note(sheet, "acceleration", speed / time);
  scene_note(sheet, "acceleration_expected", expected);
}

static void build_slope(scene_run *run)
{
  float half = 0.5f * (float)scene_value(run, "size");
  build_on_slope(run, scene_box_shape(tn_v3(half, half, half)), half);
}

static void measure_slope(const scene_run *run, scene_sheet *sheet)
{
  float angle = slope_angle(run);
  double pull = (double)tn_sin(angle) - scene_value(run, "friction") * (double)tn_cos(angle);
  note_descent(run, sheet, 0.5 * scene_value(run, "size"), (double)SCENE_GRAVITY * fmax(pull, 0.0));
}

const scene scene_slope = {
    .name = "slope",
    .title = "A cube that rests or slides on a slope",
    .source = "Mueller et al. 2020, sec. 3.5",
    .group = SCENE_LAWS,
    .camera = {{2.0f, 2.0f, 6.0f}, {0.5f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"angle", 0.0, 80.0, 20.0, false, "angle of the slope, degrees"},
                   {"mass", 1e-6, 1e9, 1.0, false, "kg"},
                   {"friction", 0.0, 10.0, 0.5, false, "coefficient of friction"},
                   {"size", 0.001, 1000.0, 1.0, false, "edge of the cube, m"}},
    .build = build_slope,
    .measure = measure_slope,
};

static void build_rolling(scene_run *run)
{
  float radius = (float)scene_value(run, "radius");
  build_on_slope(run, scene_sphere_shape(radius), radius);
}

static void measure_rolling(const scene_run *run, scene_sheet *sheet)
{
  double radius = scene_value(run, "radius");
  note_descent(run, sheet, radius,
               5.0 / 7.0 * (double)SCENE_GRAVITY * (double)tn_sin(slope_angle(run)));
  double turn = -(double)tn_body_angular_velocity(run->world, run->bodies[0]).z;
  double speed = (double)tn_dot(down_slope(run), tn_body_velocity(run->world, run->bodies[0]));
  scene_note(sheet, "slip", speed - turn * radius);
}

const scene scene_rolling = {
    .name = "rolling",
    .title = "A ball that rolls down a slope",
    .source = "common engine test",
    .group = SCENE_LAWS,
    .camera = {{5.0f, 2.0f, 14.0f}, {5.0f, -2.0f, 0.0f}},
    .seconds = 3.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"angle", 0.0, 80.0, 20.0, false, "angle of the slope, degrees"},
                   {"mass", 1e-6, 1e9, 1.0, false, "kg"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"},
                   {"radius", 0.001, 1000.0, 0.5, false, "m"}},
    .build = build_rolling,
    .measure = measure_rolling,
};

// ---------------------------------------------------------------------------------------------
// A block that slides to a stop

static void build_sliding(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), material_of(run));
  tn_body_def def = scene_body_def();
  def.position = tn_p3(0.0, (double)BLOCK.y, 0.0);
  def.velocity = tn_v3((float)scene_value(run, "speed"), 0.0f, 0.0f);
  add_block(run, &def, (float)scene_value(run, "mass"));
}

static void measure_sliding(const scene_run *run, scene_sheet *sheet)
{
  double speed = scene_value(run, "speed");
  double friction = scene_value(run, "friction");
  scene_note(sheet, "way_m", tn_body_position(run->world, run->bodies[0]).x);
  scene_note(sheet, "way_expected_m", speed * speed / (2.0 * friction * (double)SCENE_GRAVITY));
}

const scene scene_sliding = {
    .name = "sliding",
    .title = "A block that slides to a stop",
    .source = "Mueller et al. 2020, eq. 30",
    .group = SCENE_LAWS,
    .camera = {{2.0f, 2.0f, 5.0f}, {1.0f, 0.0f, 0.0f}},
    .seconds = 3.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 100.0, 5.0, false, "initial speed, m/s"},
                   {"mass", 1e-6, 1e9, 1.0, false, "kg"},
                   {"friction", 0.01, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_sliding,
    .measure = measure_sliding,
};

// ---------------------------------------------------------------------------------------------
// Blocks pulled in all directions: the friction cone is round.

enum { PULLED_BLOCKS = 8 };

static tn_vec3 pull_direction(int i)
{
  float angle = (float)i * (2.0f * TN_PI / (float)PULLED_BLOCKS);
  return tn_v3(tn_cos(angle), 0.0f, tn_sin(angle));
}

static tn_pos pulled_place(int i)
{
  return tn_offset(tn_p3(0.0, (double)BLOCK.y, 0.0), tn_scale(3.0f, pull_direction(i)));
}

static void build_friction_cone(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), material_of(run));
  for (int i = 0; i < PULLED_BLOCKS; ++i) {
    tn_body_def def = scene_body_def();
    def.position = pulled_place(i);
    add_block(run, &def, 1.0f);
  }
}

// Applied at ground level, so that the blocks do not tip.
static void pull_blocks(scene_run *run, float dt)
{
  float force = (float)(scene_value(run, "pull") * scene_value(run, "friction")) * SCENE_GRAVITY;
  for (int i = 0; i < run->body_count; ++i) {
    tn_pos place = tn_body_position(run->world, run->bodies[i]);
    place.y = 0.0;
    scene_push(run, run->bodies[i], tn_scale(force, pull_direction(i)), place, dt);
  }
}

static void measure_friction_cone(const scene_run *run, scene_sheet *sheet)
{
  double most = 0.0;
  double least = (double)INFINITY;
  double aside = 0.0;
  for (int i = 0; i < run->body_count; ++i) {
    tn_vec3 way = tn_between_points(pulled_place(i), tn_body_position(run->world, run->bodies[i]));
    double along = (double)tn_dot(way, pull_direction(i));
    most = fmax(most, along);
    least = fmin(least, along);
    aside = fmax(aside, fabs((double)tn_cross(way, pull_direction(i)).y));
  }
  double excess = fmax(scene_value(run, "pull") - 1.0, 0.0) * scene_value(run, "friction");
  scene_note(sheet, "way_min_m", least);
  scene_note(sheet, "way_max_m", most);
  scene_note(sheet, "way_aside_m", aside);
  scene_note(sheet, "way_expected_m", 0.5 * excess * (double)SCENE_GRAVITY * run->time * run->time);
}

const scene scene_friction_cone = {
    .name = "friction_cone",
    .title = "Eight blocks pulled in different directions",
    .source = "Mueller et al. 2020, sec. 1: round friction cones",
    .group = SCENE_LAWS,
    .camera = {{0.0f, 8.0f, 10.0f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 3.0,
    .substeps = 20,
    .parameters = {{"pull", 0.0, 100.0, 0.99, false,
                    "pulling force relative to the friction force"},
                   {"friction", 0.01, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_friction_cone,
    .drive = pull_blocks,
    .measure = measure_friction_cone,
};

// ---------------------------------------------------------------------------------------------
// A conveyor

static void build_conveyor(scene_run *run)
{
  scene_set_gravity(run);
  tn_material belt = material_of(run);
  belt.surface_velocity = tn_v3((float)scene_value(run, "speed"), 0.0f, 0.0f);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), belt);
  int count = (int)scene_value(run, "count");
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_body_def def = scene_body_def();
    def.position = tn_p3(0.0, (double)BLOCK.y, 2.0 * i);
    add_block(run, &def, (float)(i + 1));
  }
}

// Constant acceleration by friction up to the belt's speed, then constant speed.
static void measure_conveyor(const scene_run *run, scene_sheet *sheet)
{
  double speed = scene_value(run, "speed");
  double acceleration = scene_value(run, "friction") * (double)SCENE_GRAVITY;
  double pickup = speed / acceleration;
  double way = run->time < pickup ? 0.5 * acceleration * run->time * run->time
                                  : speed * (run->time - 0.5 * pickup);
  scene_note(sheet, "way_m", tn_body_position(run->world, run->bodies[0]).x);
  scene_note(sheet, "way_expected_m", way);
  scene_note(sheet, "speed", (double)tn_body_velocity(run->world, run->bodies[0]).x);
}

const scene scene_conveyor = {
    .name = "conveyor",
    .title = "Blocks placed on a moving belt",
    .source = "common engine test",
    .group = SCENE_MODELS,
    .camera = {{-2.0f, 5.0f, 16.0f}, {4.0f, 0.0f, 4.0f}},
    .seconds = 3.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 100.0, 3.0, false, "speed of the belt, m/s"},
                   {"count", 1.0, 1000.0, 5.0, true, "number of blocks, of 1, 2, 3, ... kg"},
                   {"friction", 0.01, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_conveyor,
    .drive = NULL,
    .measure = measure_conveyor,
};
