// Soft bodies.
#include "build.h"
#include "carve.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------
// Free rotation about the origin

static const tn_pos ORIGIN = {0.0, 0.0, 0.0};

// Memory of the run.
static void remember_momentum(scene_run *run)
{
  tn_momentum start = tn_world_momentum(run->world, ORIGIN);
  for (int i = 0; i < 3; ++i) {
    run->memory[i] = start.angular[i];
  }
  run->energy_scale = tn_world_energy(run->world).kinetic;
}

static void start_turning(scene_run *run, tn_soft_id soft, tn_vec3 axis)
{
  float speed = (float)scene_value(run, "speed");
  scene_spin(run, soft, ORIGIN, tn_scale(speed / tn_length(axis), axis));
  remember_momentum(run);
}

static double length3(const double *v)
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void measure_turning(const scene_run *run, scene_sheet *sheet)
{
  tn_momentum now = tn_world_momentum(run->world, ORIGIN);
  double start = length3(run->memory), change[3];
  for (int i = 0; i < 3; ++i) {
    change[i] = now.angular[i] - run->memory[i];
  }
  scene_note(sheet, "angular_momentum", length3(now.angular));
  scene_note(sheet, "angular_momentum_rel", start > 0.0 ? length3(change) / start : 0.0);
}

#define KEEP_MOMENTUM                                                                              \
  {                                                                                                \
    "keep_momentum", 0.0, 1.0, 1.0, true, "1: correct angular momentum in xpbd and jacobi"         \
  }

static void build_rotor(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_rope(&def, 1, 2.0f);
  def.position = tn_p3(-1.0, 0.0, 0.0);
  def.mass = 2.0f;
  def.radius = 0.1f;
  def.edge_compliance = (float)scene_value(run, "compliance");
  def.linear_damping = (float)scene_value(run, "linear_damping");
  def.damping = (float)scene_value(run, "damping");
  def.keep_momentum = scene_value(run, "keep_momentum") > 0.0;
  start_turning(run, scene_add_soft(run, &def), tn_v3(0.0f, 0.0f, 1.0f));
}

const scene scene_rotor = {
    .name = "rotor",
    .title = "Two masses on a rod, rotating freely",
    .source = "Dahl and Bargteil 2019, Fig. 2 and 3",
    .group = SCENE_MOMENTUM,
    .camera = {{0.0f, 1.0f, 4.0f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"speed", 0.0, 100.0, 10.0, false, "angular velocity, rad/s"},
                   {"compliance", 0.0, 1.0, 0.0, false, "compliance of the rod, m/N"},
                   {"linear_damping", 0.0, 100.0, 0.0, false, "damping of all motion, 1/s"},
                   {"damping", 0.0, 100.0, 0.0, false, "damping of all but rigid motion, 1/s"},
                   KEEP_MOMENTUM},
    .build = build_rotor,
    .measure = measure_turning,
};

static void build_soft_cube_spin(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  int n = (int)scene_value(run, "cells");
  const int cells[3] = {n, n, n};
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_box(&def, cells, tn_v3(0.5f, 0.5f, 0.5f), scene_value(run, "tetrahedra") > 0.0);
  def.mass = 10.0f;
  def.youngs_modulus = (float)scene_value(run, "young");
  def.keep_momentum = scene_value(run, "keep_momentum") > 0.0;
  start_turning(run, scene_add_soft(run, &def), tn_v3(1.0f, 3.0f, 0.5f));
}

const scene scene_soft_cube_spin = {
    .name = "soft_cube_spin",
    .title = "A soft cube, rotating freely",
    .source = "Dahl and Bargteil 2019, the video's rotating cube",
    .group = SCENE_MOMENTUM,
    .camera = {{1.5f, 1.2f, 2.5f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 50.0, 10.0, false, "angular velocity, rad/s"},
                   {"young", 1e3, 1e8, 1e4, false, "Young's modulus, Pa"},
                   {"cells", 1.0, 10.0, 4.0, true,
                    "cells along an edge of 1 m; the cube has 10 kg"},
                   {"tetrahedra", 0.0, 1.0, 1.0, true, "1: tetrahedra, 0: hexahedra"},
                   KEEP_MOMENTUM},
    .build = build_soft_cube_spin,
    .measure = measure_turning,
};

// A ship as one body: disk, neck, hull, and two engines on struts. x is forward.
static float ship_solid(tn_vec3 p)
{
  tn_vec3 q = tn_v3(p.x, p.y, fabsf(p.z));
  float disk = carve_ellipsoid(p, tn_v3(0.9f, 0.3f, 0.0f), tn_v3(1.05f, 0.18f, 1.05f));
  float dome = carve_ellipsoid(p, tn_v3(0.9f, 0.42f, 0.0f), tn_v3(0.35f, 0.14f, 0.35f));
  float hull = carve_capsule(p, tn_v3(-1.3f, -0.3f, 0.0f), tn_v3(0.1f, -0.3f, 0.0f), 0.22f);
  float neck = carve_capsule(p, tn_v3(-0.15f, -0.25f, 0.0f), tn_v3(0.35f, 0.25f, 0.0f), 0.13f);
  float strut = carve_capsule(q, tn_v3(-1.0f, -0.3f, 0.1f), tn_v3(-1.2f, 0.35f, 0.65f), 0.1f);
  float engine = carve_capsule(q, tn_v3(-2.0f, 0.4f, 0.68f), tn_v3(-0.5f, 0.4f, 0.68f), 0.14f);
  float fore = carve_join(carve_join(disk, dome, 0.05f), carve_join(hull, neck, 0.1f), 0.1f);
  return carve_join(fore, carve_join(strut, engine, 0.08f), 0.08f);
}

static void build_ship(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_def def = tn_default_soft_def();
  carve(&def, ship_solid, tn_v3(-2.3f, -0.6f, -1.19f), tn_v3(2.1f, 0.7f, 1.19f),
        (float)scene_value(run, "cell"));
  def.mass = 100.0f;
  def.youngs_modulus = (float)scene_value(run, "young");
  def.keep_momentum = scene_value(run, "keep_momentum") > 0.0;
  start_turning(run, scene_add_soft(run, &def), tn_v3(1.0f, 0.3f, 0.1f));
}

const scene scene_ship = {
    .name = "ship",
    .title = "A space ship of one soft body, tumbling",
    .source = "Dahl and Bargteil 2019, Fig. 1 and Table 1",
    .group = SCENE_MOMENTUM,
    .camera = {{2.2f, 2.2f, 3.2f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 50.0, 3.0, false, "angular velocity, rad/s"},
                   {"young", 1e3, 1e9, 1e6, false, "Young's modulus, Pa"},
                   {"cell", 0.04, 0.3, 0.079, false,
                    "edge of a hexahedron, m; the ship is 4 m long"},
                   KEEP_MOMENTUM},
    .build = build_ship,
    .measure = measure_turning,
};

// ---------------------------------------------------------------------------------------------
// Deul et al. 2014, Figure 3: tori fall on a cloth pinned at its corners

enum { TORUS_PARTS = 8 };
static const float TORUS_RADIUS = 0.16f, TORUS_TUBE = 0.05f, TORUS_MASS = 0.5f;
static const float CLOTH_SIZE = 2.4f;

static void add_cloth(scene_run *run)
{
  int n = (int)scene_value(run, "across");
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_cloth(&def, n, n, CLOTH_SIZE, CLOTH_SIZE);
  def.mass = (float)scene_value(run, "cloth_mass");
  def.radius = 0.02f;
  def.linear_damping = (float)scene_value(run, "damping");
  def.material = scene_material((float)scene_value(run, "friction"), 0.0f);
  tn_soft_id cloth = scene_add_soft(run, &def);
  const int corners[4] = {0, n - 1, n * (n - 1), n * n - 1};
  for (int i = 0; i < 4; ++i) {
    scene_pin(run, cloth, corners[i]);
  }
}

// Capsules along the sides of a polygon in the xz plane.
static void make_torus(tn_shape_def *parts, tn_material material)
{
  float half_angle = TN_PI / (float)TORUS_PARTS;
  float half_side = TORUS_RADIUS * tn_sin(half_angle);
  for (int i = 0; i < TORUS_PARTS; ++i) {
    float angle = 2.0f * half_angle * (float)i, arm = TORUS_RADIUS * tn_cos(half_angle);
    tn_vec3 out = tn_v3(tn_cos(angle), 0.0f, tn_sin(angle));
    parts[i] = scene_axial_shape(TN_SHAPE_CAPSULE, TORUS_TUBE, half_side);
    parts[i].position = tn_scale(arm, out);
    parts[i].rotation = tn_quat_axis_angle(out, 0.5f * TN_PI);
    parts[i].material = material;
  }
}

static void build_tori_on_cloth(scene_run *run)
{
  scene_set_gravity(run);
  add_cloth(run);
  tn_shape_def parts[TORUS_PARTS];
  make_torus(parts, scene_material((float)scene_value(run, "friction"), 0.0f));
  int count = (int)scene_value(run, "count");
  uint32_t random = 1;
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_body_def def = scene_body_def();
    tn_vec3 aside = scene_random_vector(&random, 0.45f);
    def.position = tn_p3((double)aside.x, 0.3 + 0.22 * (double)i, (double)aside.z);
    tn_vec3 axis = tn_add(scene_random_vector(&random, 1.0f), tn_v3(0.01f, 0.0f, 0.0f));
    def.rotation = tn_quat_axis_angle(axis, 0.5f * aside.y);
    def.linear_damping = def.angular_damping = (float)scene_value(run, "damping");
    scene_add_compound(run, &def, parts, TORUS_PARTS, TORUS_MASS);
    run->energy_scale += (double)(TORUS_MASS * SCENE_GRAVITY) * def.position.y;
  }
}

// A torus has slipped off if it is below the whole cloth.
static void measure_tori(const scene_run *run, scene_sheet *sheet)
{
  tn_soft_id cloth;
  tn_world_softs(run->world, &cloth, 1);
  int particles = tn_soft_positions(run->world, cloth, NULL, 0), held = 0;
  double lowest = 0.0, fastest = 0.0;
  for (int i = 0; i < particles; ++i) {
    lowest = fmin(lowest, tn_soft_position(run->world, cloth, i).y);
  }
  for (int i = 0; i < run->body_count; ++i) {
    held += tn_body_position(run->world, run->bodies[i]).y > lowest;
    fastest = fmax(fastest, (double)tn_length(tn_body_velocity(run->world, run->bodies[i])));
  }
  scene_note(sheet, "held", (double)held);
  scene_note(sheet, "sag_m", -lowest);
  scene_note(sheet, "max_torus_speed_end", fastest);
}

const scene scene_tori_on_cloth = {
    .name = "tori_on_cloth",
    .title = "Tori that fall on a cloth pinned at its corners",
    .source = "Deul et al. 2014, Fig. 3",
    .group = SCENE_POSITION_BASED,
    .camera = {{2.4f, 1.6f, 3.6f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"count", 0.0, 100.0, 10.0, true, "number of tori of 0.5 kg"},
                   {"across", 2.0, 101.0, 41.0, true, "particles along an edge of the cloth"},
                   {"cloth_mass", 0.01, 100.0, 2.0, false, "mass of the cloth, kg"},
                   {"friction", 0.0, 10.0, 0.4, false, "coefficient of friction"},
                   {"damping", 0.0, 100.0, 1.0, false, "damping of all motion, 1/s"}},
    .build = build_tori_on_cloth,
    .measure = measure_tori,
};

// ---------------------------------------------------------------------------------------------
// Soft bodies that collide, without friction as in Dahl and Bargteil 2019

static tn_soft_def smooth_solid(const scene_run *run, float mass, float radius)
{
  tn_soft_def def = tn_default_soft_def();
  def.mass = mass;
  def.radius = radius;
  def.youngs_modulus = (float)scene_value(run, "young");
  def.keep_momentum = scene_value(run, "keep_momentum") > 0.0;
  def.material = scene_material(0.0f, 0.0f);
  return def;
}

// They approach the centre from four sides, each slightly to its left, and rotate after the impact.
static void build_four_cubes(scene_run *run)
{
  static const int cells[3] = {4, 4, 3}; // 100 vertices, as in the paper
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  float speed = (float)scene_value(run, "speed");
  float aside = (float)scene_value(run, "aside");
  for (int i = 0; i < 4 && !run->failed; ++i) {
    tn_quat turn = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), 0.5f * TN_PI * (float)i);
    tn_soft_def def = smooth_solid(run, 10.0f, 0.1f);
    tn_soft_mesh_box(&def, cells, tn_v3(0.4f, 0.4f, 0.4f), scene_value(run, "tetrahedra") > 0.0);
    def.position = tn_offset(ORIGIN, tn_rotate(turn, tn_v3(2.0f, 0.0f, aside)));
    def.velocity = tn_rotate(turn, tn_v3(-speed, 0.0f, 0.0f));
    def.rotation = turn;
    scene_add_soft(run, &def);
  }
  remember_momentum(run);
}

const scene scene_four_cubes = {
    .name = "four_cubes",
    .title = "Four soft cubes that collide in free flight",
    .source = "Dahl and Bargteil 2019, Fig. 1 and Table 1",
    .group = SCENE_MOMENTUM,
    .camera = {{1.0f, 5.0f, 5.0f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 3.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 20.0, 2.0, false, "initial speed, m/s"},
                   {"aside", -1.0, 1.0, 0.5, false, "offset of the paths from the centre, m"},
                   {"young", 1e3, 1e8, 2e4, false, "Young's modulus, Pa"},
                   {"tetrahedra", 0.0, 1.0, 1.0, true, "1: tetrahedra, 0: hexahedra"},
                   KEEP_MOMENTUM},
    .build = build_four_cubes,
    .measure = measure_turning,
};

static const double PIN_SPACING = 0.6;

static void add_pin(scene_run *run, int row, int place)
{
  static const int cells[3] = {2, 4, 2};
  tn_soft_def def = smooth_solid(run, 1.5f, 0.05f);
  tn_soft_mesh_box(&def, cells, tn_v3(0.1f, 0.35f, 0.1f), true);
  def.position = tn_p3(PIN_SPACING * 0.87 * row, 0.4, PIN_SPACING * (place - 0.5 * row));
  scene_add_soft(run, &def);
}

static void build_bowling(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), scene_material(0.0f, 0.0f));
  tn_body_def ball = scene_body_def();
  ball.position = tn_p3(-3.0, 0.3, scene_value(run, "aside"));
  ball.velocity = tn_v3((float)scene_value(run, "speed"), 0.0f, 0.0f);
  ball.angular_velocity = tn_v3(0.0f, 0.0f, -ball.velocity.x / 0.3f);
  tn_shape_def shape = scene_sphere_shape(0.3f);
  shape.material = scene_material(0.0f, 0.0f);
  scene_add_solid(run, &ball, &shape, (float)scene_value(run, "ball_mass"));
  for (int row = 0; row < 4; ++row) {
    for (int place = 0; place <= row && !run->failed; ++place) {
      add_pin(run, row, place);
    }
  }
  run->energy_scale = tn_world_energy(run->world).kinetic;
}

// Height of the highest particle of a pin.
static void measure_bowling(const scene_run *run, scene_sheet *sheet)
{
  tn_soft_id pins[10];
  int count = tn_world_softs(run->world, pins, 10), standing = 0;
  for (int i = 0; i < count; ++i) {
    int particles = tn_soft_positions(run->world, pins[i], NULL, 0);
    double top = 0.0;
    for (int k = 0; k < particles; ++k) {
      top = fmax(top, tn_soft_position(run->world, pins[i], k).y);
    }
    standing += top > 0.6;
  }
  scene_note(sheet, "standing", (double)standing);
}

const scene scene_bowling = {
    .name = "bowling",
    .title = "A ball that hits ten soft pins",
    .source = "Dahl and Bargteil 2019, Fig. 1 and Table 1",
    .group = SCENE_MOMENTUM,
    .camera = {{-3.5f, 2.5f, 3.5f}, {0.5f, 0.0f, 0.0f}},
    .seconds = 3.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 20.0, 5.0, false, "speed of the ball, m/s"},
                   {"aside", -1.0, 1.0, 0.05, false, "offset of the ball, m"},
                   {"ball_mass", 0.1, 100.0, 7.0, false, "mass of the ball, kg; a pin has 1.5"},
                   {"young", 1e3, 1e8, 5e4, false, "Young's modulus of the pins, Pa"},
                   KEEP_MOMENTUM},
    .build = build_bowling,
    .measure = measure_bowling,
};
