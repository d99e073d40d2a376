// Many bodies: piles, and bodies at rest.
#include "build.h"

#include <math.h>

static const float GRAVITY = 9.81f;

static tn_material material_of(const scene_run *run)
{
  return scene_material((float)scene_value(run, "friction"), 0.0f);
}

static void lay_ground(scene_run *run, tn_material material)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, -GRAVITY, 0.0f));
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), material);
}

// Position `index` in a block with `across` by `across` per layer, centred on the y axis.
static tn_pos grid_place(int index, int across, double spacing)
{
  int layer = index / (across * across);
  int row = index / across % across;
  int column = index % across;
  double middle = 0.5 * (double)(across - 1);
  return tn_p3(((double)column - middle) * spacing, ((double)layer + 0.5) * spacing,
               ((double)row - middle) * spacing);
}

// A body at its position in the grid, with a random rotation.
static tn_body_def falling(const scene_run *run, int across, double spacing, uint32_t *random)
{
  tn_body_def def = scene_body_def();
  def.position = grid_place(run->body_count, across, spacing);
  def.velocity = scene_random_vector(random, 0.5f);
  tn_vec3 axis = tn_add(scene_random_vector(random, 1.0f), tn_v3(0.01f, 0.0f, 0.0f));
  def.rotation = tn_quat_axis_angle(axis, TN_PI * scene_random_vector(random, 1.0f).x);
  return def;
}

static void count_fall(scene_run *run, const tn_body_def *def, float mass)
{
  run->energy_scale += (double)(mass * GRAVITY) * def->position.y;
}

// ---------------------------------------------------------------------------------------------
// Capsules in a box without a lid

static const float CAPSULE_RADIUS = 0.2f, CAPSULE_HALF = 0.3f;

static void add_walls(scene_run *run, tn_material material)
{
  double half = 0.5 * scene_value(run, "width");
  float height = 60.0f;
  for (int i = 0; i < 4; ++i) {
    double side = i % 2 ? half + 0.5 : -half - 0.5;
    tn_vec3 across =
        i < 2 ? tn_v3(0.5f, height, (float)half + 1.0f) : tn_v3((float)half + 1.0f, height, 0.5f);
    tn_shape_def wall = scene_box_shape(across);
    wall.material = material;
    tn_pos place = i < 2 ? tn_p3(side, 0.0, 0.0) : tn_p3(0.0, 0.0, side);
    scene_add_fixed(run, (tn_transform){place, tn_quat_identity()}, &wall);
  }
}

static void build_capsules(scene_run *run)
{
  tn_material material = material_of(run);
  lay_ground(run, material);
  add_walls(run, material);
  const double spacing = 1.05;
  int across = (int)(scene_value(run, "width") / spacing);
  int count = (int)scene_value(run, "count");
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CAPSULE, CAPSULE_RADIUS, CAPSULE_HALF);
  shape.material = material;
  uint32_t random = 1;
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_body_def def = falling(run, across, spacing, &random);
    scene_add_solid(run, &def, &shape, 1.0f);
    count_fall(run, &def, 1.0f);
  }
}

static void measure_capsules(const scene_run *run, scene_sheet *sheet)
{
  double half = 0.5 * scene_value(run, "width");
  int escaped = 0;
  double top = 0.0;
  for (int i = 0; i < run->body_count; ++i) {
    tn_pos p = tn_body_position(run->world, run->bodies[i]);
    escaped += !(fabs(p.x) < half && fabs(p.z) < half && p.y > 0.0);
    top = fmax(top, p.y);
  }
  scene_note(sheet, "escaped", (double)escaped);
  scene_note(sheet, "height_m", top);
}

const scene scene_capsules = {
    .name = "capsules",
    .title = "Capsules dropped into a box",
    .source = "Seabra et al. 2022, sec. 4.8",
    .group = SCENE_SEABRA,
    .camera = {{10.0f, 22.0f, 24.0f}, {0.0f, 3.0f, 0.0f}},
    .seconds = 15.0,
    .substeps = 20,
    .parameters = {{"count", 1.0, 1e5, 2000.0, true, "number of capsules of 1 kg, 1 x 0.4 m"},
                   {"width", 2.0, 100.0, 10.0, false, "width of the box, m"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_capsules,
    .measure = measure_capsules,
};

// ---------------------------------------------------------------------------------------------
// Bodies of all kinds between poles

enum { PILE_KINDS = 6 };

// An icosahedron, a hull shared by all bodies of its kind.
static tn_geometry_id make_gem(scene_run *run, float size)
{
  tn_vec3 corners[12];
  for (int i = 0; i < 12; ++i) {
    float a = i & 1 ? size : -size;
    float b = (i & 2 ? 1.618034f : -1.618034f) * size;
    corners[i] = i < 4 ? tn_v3(0.0f, a, b) : i < 8 ? tn_v3(a, b, 0.0f) : tn_v3(b, 0.0f, a);
  }
  return tn_hull_create(run->world, corners, 12, 0);
}

static tn_shape_def pile_shape(int kind, tn_geometry_id gem)
{
  switch (kind) {
  case 0:
    return scene_box_shape(tn_v3(0.25f, 0.2f, 0.3f));
  case 1:
    return scene_sphere_shape(0.25f);
  case 2:
    return scene_axial_shape(TN_SHAPE_CAPSULE, 0.15f, 0.25f);
  case 3:
    return scene_axial_shape(TN_SHAPE_CYLINDER, 0.25f, 0.2f);
  case 4:
    return scene_axial_shape(TN_SHAPE_CONE, 0.25f, 0.3f);
  default:
    break;
  }
  tn_shape_def hull = tn_default_shape_def(TN_SHAPE_HULL);
  hull.geometry = gem;
  return hull;
}

static void add_poles(scene_run *run, tn_material material)
{
  int count = (int)scene_value(run, "poles");
  tn_shape_def pole = scene_axial_shape(TN_SHAPE_CYLINDER, 0.3f, 4.0f);
  pole.material = material;
  for (int i = 0; i < count; ++i) {
    float angle = 2.0f * TN_PI * (float)i / (float)count;
    float radius = (float)scene_value(run, "radius");
    tn_pos place = tn_p3((double)(radius * tn_cos(angle)), 4.0, (double)(radius * tn_sin(angle)));
    scene_add_fixed(run, (tn_transform){place, tn_quat_identity()}, &pole);
  }
}

static void build_mixed(scene_run *run)
{
  tn_material material = material_of(run);
  material.rolling_friction = (float)scene_value(run, "rolling_friction");
  lay_ground(run, material);
  add_poles(run, material);
  tn_geometry_id gem = make_gem(run, 0.15f);
  run->failed = run->failed || TN_IS_NULL(gem);
  int count = (int)scene_value(run, "count");
  int across = (int)scene_value(run, "across");
  uint32_t random = 1;
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_shape_def shape = pile_shape(i % PILE_KINDS, gem);
    shape.material = material;
    tn_body_def def = falling(run, across, 0.9, &random);
    scene_add_solid(run, &def, &shape, 1.0f);
    count_fall(run, &def, 1.0f);
  }
}

static void measure_mixed(const scene_run *run, scene_sheet *sheet)
{
  int below = 0;
  double top = 0.0;
  for (int i = 0; i < run->body_count; ++i) {
    double y = tn_body_position(run->world, run->bodies[i]).y;
    below += !(y > 0.0);
    top = fmax(top, y);
  }
  scene_note(sheet, "escaped", (double)below);
  scene_note(sheet, "height_m", top);
}

const scene scene_pile = {
    .name = "pile",
    .title = "Bodies of six shapes, dropped among poles",
    .source = "Deul et al. 2014, Fig. 2",
    .group = SCENE_POSITION_BASED,
    .camera = {{12.0f, 12.0f, 20.0f}, {0.0f, 2.0f, 0.0f}},
    .seconds = 15.0,
    .substeps = 20,
    .parameters = {{"count", 1.0, 1e5, 2000.0, true, "number of bodies of 1 kg"},
                   {"across", 1.0, 100.0, 10.0, true, "bodies per row of the falling block"},
                   {"poles", 0.0, 100.0, 8.0, true, "number of poles around the pile"},
                   {"radius", 1.0, 100.0, 7.0, false, "radius of the ring of poles, m"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"},
                   {"rolling_friction", 0.0, 1.0, 0.03, false, "m"}},
    .build = build_mixed,
    .measure = measure_mixed,
};

// ---------------------------------------------------------------------------------------------
// Separate cubes at rest, which cost nothing if sleeping is enabled

static void build_resting(scene_run *run)
{
  tn_material material = material_of(run);
  lay_ground(run, material);
  int count = (int)scene_value(run, "count");
  int across = (int)ceil(sqrt((double)count));
  tn_shape_def shape = scene_box_shape(tn_v3(0.5f, 0.5f, 0.5f));
  shape.material = material;
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_body_def def = scene_body_def();
    def.position =
        tn_p3(2.0 * (i % across), 0.5, 2.0 * (i / across)); // NOLINT(bugprone-integer-division)
    scene_add_solid(run, &def, &shape, 1.0f);
    count_fall(run, &def, 1.0f);
  }
}

static void measure_resting(const scene_run *run, scene_sheet *sheet)
{
  scene_note(sheet, "awake", (double)tn_world_counters(run->world).awake);
}

const scene scene_resting = {
    .name = "resting",
    .title = "Separate cubes at rest that fall asleep",
    .source = "common engine test",
    .group = SCENE_LAWS,
    .camera = {{20.0f, 30.0f, 90.0f}, {31.0f, 0.0f, 31.0f}},
    .seconds = 5.0,
    .substeps = 20,
    .parameters = {{"count", 1.0, 1e6, 1000.0, true, "number of cubes of 1 kg"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_resting,
    .measure = measure_resting,
};
