// Stacks: towers, pyramids, an arch, and a row of dominoes.
#include "build.h"

#include <math.h>

static const float GRAVITY = 9.81f;

// Position of the scene, for scenes with the parameter `away`.
static tn_pos foot_of(const scene_run *run)
{
  double away = scene_value(run, "away");
  return tn_p3(away, 0.0, away);
}

static void lay_ground(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, -GRAVITY, 0.0f));
  tn_material material = scene_material((float)scene_value(run, "friction"), 0.0f);
  scene_add_ground(run, foot_of(run), material);
}

static void add_cube(scene_run *run, tn_pos center, float size, float mass)
{
  tn_body_def def = scene_body_def();
  def.position = center;
  tn_shape_def shape = scene_box_shape(tn_v3(0.5f * size, 0.5f * size, 0.5f * size));
  shape.material = scene_material((float)scene_value(run, "friction"), 0.0f);
  scene_add_solid(run, &def, &shape, mass);
  run->energy_scale += (double)(mass * GRAVITY * size);
}

// Distance of a cube from its initial position.
typedef struct drift {
  double level, sunk;
} drift;

static drift drift_of(const scene_run *run, int body, tn_pos place)
{
  tn_vec3 d = tn_between_points(place, tn_body_position(run->world, run->bodies[body]));
  return (drift){sqrt((double)(d.x * d.x + d.z * d.z)), -(double)d.y};
}

// Cubes displaced by more than a quarter of their size count as fallen.
typedef tn_pos place_fn(const scene_run *run, int index);

static void note_standing(const scene_run *run, scene_sheet *sheet, place_fn *place)
{
  int top = run->body_count - 1;
  double size = scene_value(run, "size");
  double most = 0.0;
  int fallen = 0;
  for (int i = 0; i <= top; ++i) {
    drift d = drift_of(run, i, place(run, i));
    fallen += !(d.level < 0.25 * size && fabs(d.sunk) < 0.25 * size);
    most = fmax(most, d.level);
  }
  drift d = drift_of(run, top, place(run, top));
  scene_note(sheet, "top_drift_m", d.level);
  scene_note(sheet, "top_drop_m", d.sunk);
  scene_note(sheet, "max_drift_m", most);
  scene_note(sheet, "fallen", (double)fallen);
}

// ---------------------------------------------------------------------------------------------
// A tower

static tn_pos stack_place(const scene_run *run, int index)
{
  double size = scene_value(run, "size");
  uint32_t random = 12345u + 977u * (uint32_t)index;
  tn_vec3 offset = scene_random_vector(&random, (float)scene_value(run, "offset"));
  tn_pos foot = foot_of(run);
  return tn_p3(foot.x + (double)offset.x, ((double)index + 0.5) * size, foot.z + (double)offset.z);
}

static void build_stack(scene_run *run)
{
  lay_ground(run);
  int count = (int)scene_value(run, "count");
  float size = (float)scene_value(run, "size");
  float mass = (float)scene_value(run, "mass");
  for (int i = 0; i < count && !run->failed; ++i) {
    float top = i == count - 1 ? (float)scene_value(run, "top_mass") : 0.0f;
    add_cube(run, stack_place(run, i), size, top > 0.0f ? top : mass);
  }
}

static double weight_above(const scene_run *run, int body)
{
  double mass = 0.0;
  for (int i = body; i < run->body_count; ++i) {
    mass += (double)tn_body_mass(run->world, run->bodies[i]).mass;
  }
  return mass * (double)GRAVITY;
}

// Contact force between a cube and its support.
static double force_below(const scene_run *run, int body)
{
  tn_contact contacts[8];
  int count = tn_body_contacts(run->world, run->bodies[body], contacts, 8);
  double center = tn_body_position(run->world, run->bodies[body]).y;
  double sum = 0.0;
  for (int i = 0; i < count && i < 8; ++i) {
    for (int k = 0; k < contacts[i].count; ++k) {
      bool is_below = contacts[i].points[k].position.y < center;
      sum += is_below ? (double)contacts[i].points[k].normal_force : 0.0;
    }
  }
  return sum;
}

static void measure_stack(const scene_run *run, scene_sheet *sheet)
{
  note_standing(run, sheet, stack_place);
  double worst = 0.0;
  for (int i = 0; i < run->body_count; ++i) {
    double weight = weight_above(run, i);
    worst = fmax(worst, fabs(force_below(run, i) - weight) / weight);
  }
  scene_note(sheet, "force_error_rel", worst);
}

#define STACK_PARAMETERS(cubes, top)                                                               \
  {                                                                                                \
    {"count", 1.0, 1000.0, cubes, true, "number of cubes"},                                        \
        {"size", 0.001, 1000.0, 1.0, false, "edge of a cube, m"},                                  \
        {"mass", 1e-6, 1e9, 1.0, false, "mass of a cube, kg"},                                     \
        {"top_mass", 0.0, 1e9, top, false, "mass of the topmost cube, kg; 0: as others"},          \
        {"offset", 0.0, 1.0, 0.0, false, "largest random horizontal offset, m"},                   \
        {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"},                            \
    {                                                                                              \
      "away", -1e7, 1e7, 0.0, false, "distance from the origin along x and z, m"                   \
    }                                                                                              \
  }

const scene scene_stack = {
    .name = "stack",
    .title = "A tower of cubes",
    .source = "Seabra et al. 2022, Fig. 5",
    .group = SCENE_SEABRA,
    .camera = {{8.0f, 7.0f, 14.0f}, {0.0f, 4.5f, 0.0f}},
    .seconds = 30.0,
    .substeps = 20,
    .parameters = STACK_PARAMETERS(10.0, 0.0),
    .build = build_stack,
    .measure = measure_stack,
};

const scene scene_stack_heavy = {
    .name = "stack_heavy",
    .title = "A heavy cube on a tower of light ones",
    .source = "common engine test",
    .group = SCENE_LAWS,
    .camera = {{8.0f, 7.0f, 14.0f}, {0.0f, 4.5f, 0.0f}},
    .seconds = 30.0,
    .substeps = 20,
    .parameters = STACK_PARAMETERS(10.0, 1000.0),
    .build = build_stack,
    .measure = measure_stack,
};

// ---------------------------------------------------------------------------------------------
// A pyramid, one cube deep

// Layer of cube `index`, and its position in it.
static int layer_of(int base, int index, int *column)
{
  int layer = 0;
  while (index >= base - layer) {
    index -= base - layer;
    layer += 1;
  }
  *column = index;
  return layer;
}

static tn_pos pyramid_place_at(const scene_run *run, int index, double overlap)
{
  int base = (int)scene_value(run, "base");
  double size = scene_value(run, "size");
  double spacing = size + scene_value(run, "gap");
  double height = size - overlap;
  int column;
  int layer = layer_of(base, index, &column);
  tn_pos foot = foot_of(run);
  double x = ((double)column - 0.5 * (double)(base - 1 - layer)) * spacing;
  return tn_p3(foot.x + x, (double)(layer + 1) * height - 0.5 * size, foot.z);
}

// Position of a cube without overlap.
static tn_pos pyramid_place(const scene_run *run, int index)
{
  return pyramid_place_at(run, index, 0.0);
}

static void build_pyramid(scene_run *run)
{
  lay_ground(run);
  int base = (int)scene_value(run, "base");
  for (int i = 0; i < base * (base + 1) / 2 && !run->failed; ++i) {
    tn_pos place = pyramid_place_at(run, i, scene_value(run, "overlap_m"));
    add_cube(run, place, (float)scene_value(run, "size"), 1.0f);
  }
}

static void measure_pyramid(const scene_run *run, scene_sheet *sheet)
{
  note_standing(run, sheet, pyramid_place);
}

#define PYRAMID_PARAMETERS(overlap)                                                                \
  {                                                                                                \
    {"base", 1.0, 500.0, 36.0, true, "number of cubes in the lowest layer"},                       \
        {"size", 0.001, 1000.0, 1.0, false, "edge of a cube, m"},                                  \
        {"gap", 0.0, 0.5, 0.0, false, "gap between neighbours, m"},                                \
        {"overlap_m", 0.0, 0.9, overlap, false, "initial overlap of layers, m"},                   \
        {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"},                            \
    {                                                                                              \
      "away", -1e7, 1e7, 0.0, false, "distance from the origin along x and z, m"                   \
    }                                                                                              \
  }

const scene scene_pyramid = {
    .name = "pyramid",
    .title = "A pyramid of cubes of 1 kg",
    .source = "Seabra et al. 2022, Fig. 6",
    .group = SCENE_SEABRA,
    .camera = {{12.0f, 20.0f, 56.0f}, {0.0f, 15.0f, 0.0f}},
    .seconds = 20.0,
    .substeps = 20,
    .parameters = PYRAMID_PARAMETERS(0.0),
    .build = build_pyramid,
    .measure = measure_pyramid,
};

const scene scene_overlap = {
    .name = "overlap",
    .title = "A pyramid created with overlapping layers",
    .source = "Seabra et al. 2022, Fig. 9",
    .group = SCENE_SEABRA,
    .camera = {{12.0f, 20.0f, 56.0f}, {0.0f, 15.0f, 0.0f}},
    .seconds = 20.0,
    .substeps = 20,
    .parameters = PYRAMID_PARAMETERS(0.1),
    .build = build_pyramid,
    .measure = measure_pyramid,
};

// ---------------------------------------------------------------------------------------------
// A semicircular arch of wedges. It stands if its thickness is above 0.1075 of its mean radius, for
// any density (Milankovitch 1907, Heyman 1969).

static tn_body_id add_wedge(scene_run *run, float from, float to)
{
  float radius = (float)scene_value(run, "radius");
  float half = 0.5f * (float)scene_value(run, "thickness") * radius;
  float middle = 0.5f * (from + to);
  tn_vec3 center = tn_v3(radius * tn_cos(middle), radius * tn_sin(middle), 0.0f);
  tn_vec3 corners[8];
  for (int i = 0; i < 8; ++i) {
    float angle = i & 1 ? to : from;
    float r = i & 2 ? radius + half : radius - half;
    tn_vec3 corner = tn_v3(r * tn_cos(angle), r * tn_sin(angle), i & 4 ? half : -half);
    corners[i] = tn_sub(corner, center);
  }
  tn_shape_def shape = tn_default_shape_def(TN_SHAPE_HULL);
  shape.geometry = tn_hull_create(run->world, corners, 8, 0);
  shape.material = scene_material((float)scene_value(run, "friction"), 0.0f);
  run->failed = run->failed || TN_IS_NULL(shape.geometry);
  tn_body_def def = scene_body_def();
  def.position = tn_offset(tn_p3(0.0, 0.0, 0.0), center);
  run->energy_scale += (double)(GRAVITY * center.y);
  return scene_add_solid(run, &def, &shape, 1.0f);
}

static void build_arch(scene_run *run)
{
  lay_ground(run);
  int count = (int)scene_value(run, "count");
  for (int i = 0; i < count && !run->failed; ++i) {
    add_wedge(run, TN_PI * (float)i / (float)count, TN_PI * (float)(i + 1) / (float)count);
  }
}

static void measure_arch(const scene_run *run, scene_sheet *sheet)
{
  int middle = run->body_count / 2;
  double top = scene_value(run, "radius");
  if (run->body_count % 2 == 0) {
    top *= (double)tn_cos(0.5f * TN_PI / (float)run->body_count);
  }
  double sag = top - tn_body_position(run->world, run->bodies[middle]).y;
  scene_note(sheet, "top_drop_m", sag);
  scene_note(sheet, "fallen", sag < 0.25 * top ? 0.0 : 1.0);
}

const scene scene_arch = {
    .name = "arch",
    .title = "A semicircular arch of wedges",
    .source = "Heyman 1969",
    .group = SCENE_LAWS,
    .camera = {{2.0f, 3.0f, 8.0f}, {0.0f, 1.5f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"count", 3.0, 101.0, 15.0, true, "number of wedges"},
                   {"radius", 0.1, 100.0, 3.0, false, "mean radius, m"},
                   {"thickness", 0.01, 1.0, 0.2, false, "relative to the radius"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_arch,
    .measure = measure_arch,
};

// ---------------------------------------------------------------------------------------------
// Dominoes

static void build_dominoes(scene_run *run)
{
  lay_ground(run);
  int count = (int)scene_value(run, "count");
  float height = (float)scene_value(run, "height");
  tn_vec3 half = tn_v3(0.075f * height, 0.5f * height, 0.25f * height);
  tn_shape_def shape = scene_box_shape(half);
  shape.material = scene_material((float)scene_value(run, "friction"), 0.0f);
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_body_def def = scene_body_def();
    def.position =
        tn_p3((double)i * scene_value(run, "spacing") * (double)height, 0.5 * (double)height, 0.0);
    // The first one rotates about its lower edge, fast enough to pass its point of balance.
    float turn = i == 0 ? 0.4f * sqrtf(GRAVITY / height) : 0.0f;
    def.angular_velocity = tn_v3(0.0f, 0.0f, -turn);
    def.velocity = tn_v3(turn * half.y, turn * half.x, 0.0f);
    scene_add_solid(run, &def, &shape, 0.01f);
    run->energy_scale += 0.01 * (double)(GRAVITY * half.y);
  }
}

static void measure_dominoes(const scene_run *run, scene_sheet *sheet)
{
  int fallen = 0;
  for (int i = 0; i < run->body_count; ++i) {
    tn_vec3 up = tn_rotate(tn_body_rotation(run->world, run->bodies[i]), tn_v3(0.0f, 1.0f, 0.0f));
    fallen += up.y < 0.7f;
  }
  scene_note(sheet, "fallen", (double)fallen);
}

const scene scene_dominoes = {
    .name = "dominoes",
    .title = "A row of dominoes, the first one pushed",
    .source = "common engine test",
    .group = SCENE_MODELS,
    .camera = {{0.3f, 0.4f, 0.9f}, {0.6f, 0.0f, 0.0f}},
    .seconds = 5.0,
    .substeps = 20,
    .parameters = {{"count", 1.0, 10000.0, 50.0, true, "number of dominoes"},
                   {"height", 0.01, 10.0, 0.05, false, "height of a domino, m"},
                   {"spacing", 0.2, 0.9, 0.5, false, "spacing relative to the height"},
                   {"friction", 0.0, 10.0, 0.3, false, "coefficient of friction"}},
    .build = build_dominoes,
    .measure = measure_dominoes,
};
