// Pendula: of rods, Mueller et al. 2020, Figure 8, and of balls on strings, Seabra et al. 2022,
// Figure 2.
#include "build.h"

static const float ROD_LENGTH = 1.0f;
static const float ROD_MASS = 1.0f;

static tn_body_id add_rod(scene_run *run, tn_pos from, tn_vec3 direction)
{
  float thickness = (float)scene_value(run, "thickness");
  tn_vec3 half = tn_v3(0.5f * ROD_LENGTH, 0.5f * thickness, 0.5f * thickness);
  tn_body_def def =
      scene_box(tn_offset(from, tn_scale(0.5f * ROD_LENGTH, direction)), half, ROD_MASS);
  def.rotation = tn_quat_x_to(direction);
  return scene_add_body(run, &def);
}

static void add_pivot(scene_run *run, tn_body_id a, tn_body_id b, tn_pos point)
{
  tn_joint_kind kind = scene_value(run, "balls") > 0.0 ? TN_JOINT_BALL : TN_JOINT_HINGE;
  tn_joint_def pivot = scene_joint_at(run, kind, a, b, point, tn_v3(0.0f, 0.0f, 1.0f));
  scene_add_joint(run, &pivot);
}

// Rods in a horizontal line.
static void build_line(scene_run *run, int count)
{
  scene_set_gravity(run);
  tn_pos end = tn_p3(0.0, 0.0, 0.0);
  tn_vec3 level = tn_v3(1.0f, 0.0f, 0.0f);
  tn_body_id last = SCENE_WORLD;
  for (int i = 0; i < count; ++i) {
    tn_body_id rod = add_rod(run, end, level);
    add_pivot(run, last, rod, end);
    end = tn_offset(end, tn_scale(ROD_LENGTH, level));
    last = rod;
    // From horizontal to vertical.
    run->energy_scale += (double)(ROD_MASS * SCENE_GRAVITY * ROD_LENGTH) * ((double)i + 0.5);
  }
}

static void build_double(scene_run *run)
{
  build_line(run, 2);
}

static void build_triple(scene_run *run)
{
  build_line(run, 3);
}

// A regular polygon of rods, fixed at one corner, its centre at the height of that corner.
static void build_loop(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  float turn = 2.0f * TN_PI / (float)count;
  tn_pos corner = tn_p3(0.0, 0.0, 0.0);
  tn_body_id last = SCENE_WORLD;
  for (int i = 0; i < count; ++i) {
    float heading = -0.5f * TN_PI + turn * ((float)i + 0.5f);
    tn_vec3 direction = tn_v3(tn_cos(heading), tn_sin(heading), 0.0f);
    tn_body_id rod = add_rod(run, corner, direction);
    add_pivot(run, last, rod, corner);
    corner = tn_offset(corner, tn_scale(ROD_LENGTH, direction));
    last = rod;
  }
  if (!run->failed) {
    add_pivot(run, last, run->bodies[0], corner);
  }
  // From horizontal to folded and vertical, with the centre of mass half way along.
  double total = (double)count;
  run->energy_scale = total * (double)(ROD_MASS * SCENE_GRAVITY * ROD_LENGTH) * 0.25 * total;
}

#define ROD_PARAMETERS                                                                             \
  {"thickness", 0.01, 0.5, 0.2, false, "thickness of a rod, m"},                                   \
  {                                                                                                \
    "balls", 0.0, 1.0, 0.0, true, "0: hinges, 1: ball joints"                                      \
  }

const scene scene_pendulum_double = {
    .name = "pendulum_double",
    .title = "Double pendulum: two rods of 1 m and 1 kg, released horizontally",
    .source = "Mueller et al. 2020, Fig. 8",
    .group = SCENE_DETAILED,
    .camera = {{0.0f, -0.5f, 6.0f}, {0.0f, -0.5f, 0.0f}},
    .seconds = 10.0,
    .substeps = 40,
    .conserves = true,
    .parameters = {ROD_PARAMETERS},
    .build = build_double,
};

const scene scene_pendulum_triple = {
    .name = "pendulum_triple",
    .title = "Triple pendulum: three rods of 1 m and 1 kg, released horizontally",
    .source = "Mueller et al. 2020, Fig. 8 and 9",
    .group = SCENE_DETAILED,
    .camera = {{0.0f, -0.5f, 8.0f}, {0.0f, -0.5f, 0.0f}},
    .seconds = 10.0,
    .substeps = 40,
    .conserves = true,
    .parameters = {ROD_PARAMETERS},
    .build = build_triple,
};

const scene scene_pendulum_loop = {
    .name = "pendulum_loop",
    .title = "A closed loop of rods, fixed at one corner and released sideways",
    .source = "Mueller et al. 2020, Fig. 8",
    .group = SCENE_DETAILED,
    .camera = {{0.0f, -0.8f, 7.0f}, {0.0f, -0.8f, 0.0f}},
    .seconds = 10.0,
    .substeps = 40,
    .conserves = true,
    .parameters = {{"count", 3.0, 16.0, 5.0, true, "number of rods"}, ROD_PARAMETERS},
    .build = build_loop,
};

// ---------------------------------------------------------------------------------------------
// Three balls on strings

static void build_distances(scene_run *run)
{
  scene_set_gravity(run);
  tn_body_id last = SCENE_WORLD;
  tn_shape_def shape = scene_sphere_shape(0.1f);
  shape.filter.group = -1; // they do not collide
  for (int i = 0; i < 3; ++i) {
    tn_pos from = tn_p3((double)i, 0.0, 0.0);
    tn_body_def def = scene_body_def();
    def.position = tn_p3((double)i + 1.0, 0.0, 0.0);
    tn_body_id ball = scene_add_solid(run, &def, &shape, 1.0f);
    tn_joint_def string = scene_joint_between(run, last, ball, from, def.position);
    scene_add_joint(run, &string);
    run->energy_scale += (double)SCENE_GRAVITY * ((double)i + 1.0); // from horizontal to vertical
    last = ball;
  }
}

const scene scene_pendulum_distance = {
    .name = "pendulum_distance",
    .title = "Three balls of 1 kg on strings of 1 m, released horizontally",
    .source = "Seabra et al. 2022, Fig. 2",
    .group = SCENE_SEABRA,
    .camera = {{0.0f, -0.5f, 8.0f}, {0.0f, -0.5f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .conserves = true,
    .build = build_distances,
};
