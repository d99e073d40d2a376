// Scenes used only by benchmarks.
#include "bench.h"

#include "build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tn_vec3 DOWN = {0.0f, -1.0f, 0.0f};

// ---------------------------------------------------------------------------------------------
// Joints alone: no body has a shape

static void join(scene_run *run, tn_joint_kind kind, tn_body_id a, tn_body_id b, tn_pos point)
{
  tn_joint_def def = scene_joint_at(run, kind, a, b, point, DOWN);
  scene_add_joint(run, &def);
}

// A hub fixed at its centre, with arms around it, released horizontally.
static void build_star(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  tn_pos center = tn_p3(0.0, 0.0, 0.0);
  tn_body_id hub = scene_add_box(run, center, tn_v3(1.0f, 0.1f, 1.0f), 0.1f * (float)count);
  join(run, TN_JOINT_BALL, SCENE_WORLD, hub, center);
  for (int i = 1; i < count && !run->failed; ++i) {
    float angle = 2.0f * TN_PI * (float)i / (float)(count - 1);
    tn_vec3 out = tn_v3(tn_cos(angle), 0.0f, tn_sin(angle));
    tn_body_id arm =
        scene_add_box(run, tn_offset(center, tn_scale(1.25f, out)), tn_v3(0.1f, 0.1f, 0.1f), 0.1f);
    join(run, TN_JOINT_BALL, hub, arm, tn_offset(center, out));
  }
}

// A horizontal square net of nodes, fixed at two corners.
static void build_net(scene_run *run)
{
  scene_set_gravity(run);
  int side = (int)scene_value(run, "side");
  const double mesh = 0.2;
  for (int i = 0; i < side * side && !run->failed; ++i) {
    int row = i / side, column = i % side;
    tn_pos at = tn_p3(mesh * (double)column, 0.0, mesh * (double)row);
    tn_body_id knot = scene_add_box(run, at, tn_v3(0.05f, 0.05f, 0.05f), 1.0f);
    if (column > 0) {
      join(run, TN_JOINT_BALL, run->bodies[i - 1], knot, tn_p3(at.x - 0.5 * mesh, 0.0, at.z));
    }
    if (row > 0) {
      join(run, TN_JOINT_BALL, run->bodies[i - side], knot, tn_p3(at.x, 0.0, at.z - 0.5 * mesh));
    }
    if (row == 0 && (column == 0 || column == side - 1)) {
      join(run, TN_JOINT_BALL, SCENE_WORLD, knot, at);
    }
  }
}

typedef struct part {
  int parent; // -1: none
  tn_joint_kind kind;
  tn_vec3 half, way; // m; from the parent's centre
} part;

// Pelvis, belly, chest, head; arms and hands; legs and feet.
static const part doll[] = {
    {-1, TN_JOINT_BALL, {0.15f, 0.08f, 0.10f}, {0.00f, 0.0f, 0.0f}},
    {0, TN_JOINT_BALL, {0.13f, 0.08f, 0.09f}, {0.00f, 0.16f, 0.0f}},
    {1, TN_JOINT_BALL, {0.16f, 0.12f, 0.10f}, {0.00f, 0.20f, 0.0f}},
    {2, TN_JOINT_BALL, {0.08f, 0.12f, 0.10f}, {0.00f, 0.24f, 0.0f}},
    {2, TN_JOINT_BALL, {0.15f, 0.05f, 0.05f}, {0.31f, 0.0f, 0.0f}},
    {2, TN_JOINT_BALL, {0.15f, 0.05f, 0.05f}, {-0.31f, 0.0f, 0.0f}},
    {4, TN_JOINT_HINGE, {0.13f, 0.04f, 0.04f}, {0.28f, 0.0f, 0.0f}},
    {5, TN_JOINT_HINGE, {0.13f, 0.04f, 0.04f}, {-0.28f, 0.0f, 0.0f}},
    {6, TN_JOINT_BALL, {0.08f, 0.02f, 0.04f}, {0.21f, 0.0f, 0.0f}},
    {7, TN_JOINT_BALL, {0.08f, 0.02f, 0.04f}, {-0.21f, 0.0f, 0.0f}},
    {0, TN_JOINT_BALL, {0.07f, 0.22f, 0.07f}, {0.09f, -0.30f, 0.0f}},
    {0, TN_JOINT_BALL, {0.07f, 0.22f, 0.07f}, {-0.09f, -0.30f, 0.0f}},
    {10, TN_JOINT_HINGE, {0.05f, 0.21f, 0.05f}, {0.0f, -0.43f, 0.0f}},
    {11, TN_JOINT_HINGE, {0.05f, 0.21f, 0.05f}, {0.0f, -0.43f, 0.0f}},
    {12, TN_JOINT_HINGE, {0.05f, 0.04f, 0.12f}, {0.0f, -0.25f, 0.0f}},
};
enum { PARTS = (int)(sizeof doll / sizeof doll[0]) };

// A joint halfway to the parent, with narrow limits and friction.
static void join_part(scene_run *run, const part *p, tn_body_id parent, tn_body_id body, tn_pos at)
{
  tn_vec3 axis = p->kind == TN_JOINT_HINGE ? tn_v3(0.0f, 0.0f, 1.0f) : DOWN;
  tn_joint_def def =
      scene_joint_at(run, p->kind, parent, body, tn_offset(at, tn_scale(-0.5f, p->way)), axis);
  def.angular[0] = (tn_range){-0.3f, 0.3f};
  if (p->kind == TN_JOINT_BALL) {
    def.swing = 0.5f;
  }
  def.axis[TN_ANGULAR_A].friction = 0.1f;
  scene_add_joint(run, &def);
}

// Far from each other, every part with its own angular velocity.
static void build_dolls(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  uint32_t random = 1;
  for (int i = 0; i < count && !run->failed; ++i) {
    int first = run->body_count;
    tn_pos at[PARTS] = {{0.0, 0.0, 0.0}};
    for (int k = 0; k < PARTS && !run->failed; ++k) {
      const part *p = &doll[k];
      tn_pos from = p->parent < 0 ? tn_p3(3.0 * (double)i, 0.0, 0.0) : at[p->parent];
      at[k] = tn_offset(from, p->way);
      tn_body_def def = scene_box(at[k], p->half,
                                  8000.0f * p->half.x * p->half.y * p->half.z); // density of water
      def.angular_velocity = scene_random_vector(&random, 2.0f);
      tn_body_id body = scene_add_body(run, &def);
      if (p->parent >= 0 && !run->failed) {
        join_part(run, p, run->bodies[first + p->parent], body, at[k]);
      }
    }
  }
}

// Three rods each, on hinges that are not parallel, every rod with its own angular velocity.
static void build_pendula(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  uint32_t random = 1;
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_body_id last = SCENE_WORLD;
    for (int k = 0; k < 3 && !run->failed; ++k) {
      tn_pos at = tn_p3(3.0 * (double)i, -0.5 - (double)k, 0.0);
      tn_body_def def = scene_box(at, tn_v3(0.05f, 0.5f, 0.05f), 1.0f);
      def.angular_velocity = scene_random_vector(&random, 2.0f);
      tn_body_id rod = scene_add_body(run, &def);
      tn_vec3 axis = k == 1 ? tn_v3(1.0f, 0.0f, 0.0f) : tn_v3(0.0f, 0.0f, 1.0f);
      tn_joint_def hinge = scene_joint_at(run, TN_JOINT_HINGE, last, rod,
                                          tn_offset(at, tn_v3(0.0f, 0.5f, 0.0f)), axis);
      scene_add_joint(run, &hinge);
      last = rod;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Contacts

static void lay_ground(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), tn_default_material());
}

static tn_body_id add_cube(scene_run *run, tn_pos at, float size)
{
  tn_body_def def = scene_body_def();
  def.position = at;
  tn_shape_def shape = scene_box_shape(tn_v3(0.5f * size, 0.5f * size, 0.5f * size));
  return scene_add_solid(run, &def, &shape, size * size * size);
}

// Pyramids of ten cubes, too far apart to interact.
static void build_heaps(scene_run *run)
{
  static const double place[10][2] = {{-1.5, 0.5}, {-0.5, 0.5}, {0.5, 0.5}, {1.5, 0.5},
                                      {-1.0, 1.5}, {0.0, 1.5},  {1.0, 1.5}, {-0.5, 2.5},
                                      {0.5, 2.5},  {0.0, 3.5}};
  lay_ground(run);
  int count = (int)scene_value(run, "bodies") / 10;
  int across = (int)ceil(sqrt((double)count));
  for (int i = 0; i < 10 * count && !run->failed; ++i) {
    int heap = i / 10;
    const double *p = place[i % 10];
    int row = heap / across;
    add_cube(run, tn_p3(8.0 * (double)(heap % across) + p[0], p[1], 4.0 * (double)row), 1.0f);
  }
}

// Cubes of 1 cm that drift in a block without gravity, next to a body of 100 m: in a grid sized for
// the large body they are all in one cell.
static void build_cell(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  uint32_t random = 1;
  tn_shape_def floor = scene_box_shape(tn_v3(50.0f, 50.0f, 50.0f));
  scene_add_fixed(run, (tn_transform){tn_p3(0.0, -50.0, 0.0), tn_quat_identity()}, &floor);
  int count = (int)scene_value(run, "count");
  int across = (int)ceil(cbrt((double)count));
  for (int i = 0; i < count && !run->failed; ++i) {
    int layer = i / (across * across), row = i / across % across;
    tn_body_id cube = add_cube(
        run, tn_p3(0.015 * (double)(i % across), 0.01 + 0.015 * (double)layer, 0.015 * (double)row),
        0.01f);
    tn_body_set_velocity(run->world, cube, scene_random_vector(&random, 0.05f));
  }
}

// Cubes side by side on one plate on the ground.
static void build_tray(scene_run *run)
{
  lay_ground(run);
  int count = (int)scene_value(run, "count");
  int across = (int)ceil(sqrt((double)count));
  float half = 0.6f * (float)across;
  tn_body_def def = scene_body_def();
  def.position = tn_p3(0.0, 0.5, 0.0);
  tn_shape_def plate = scene_box_shape(tn_v3(half, 0.5f, half));
  scene_add_solid(run, &def, &plate, (float)count);
  for (int i = 0; i < count && !run->failed; ++i) {
    int row = i / across;
    double middle = 0.5 * (double)(across - 1);
    add_cube(run, tn_p3(1.1 * ((double)(i % across) - middle), 1.5, 1.1 * ((double)row - middle)),
             1.0f);
  }
}

// ---------------------------------------------------------------------------------------------
// Hulls

enum { ROCKS = 8, ROCK_POINTS = 24, TERRAIN_CELLS = 128 };

// Hulls of random points near an ellipsoid, about 0.5 m across, shared by all bodies.
static void make_rocks(scene_run *run, tn_geometry_id rocks[ROCKS])
{
  uint32_t random = 7;
  for (int i = 0; i < ROCKS; ++i) {
    tn_vec3 half = tn_add(tn_v3(0.25f, 0.2f, 0.25f), scene_random_vector(&random, 0.06f));
    tn_vec3 points[ROCK_POINTS];
    for (int k = 0; k < ROCK_POINTS; ++k) {
      tn_vec3 p = tn_add(scene_random_vector(&random, 1.0f), tn_v3(1e-3f, 0.0f, 0.0f));
      p = tn_scale(1.0f / tn_length(p), p);
      points[k] = tn_v3(half.x * p.x, half.y * p.y, half.z * p.z);
    }
    rocks[i] = tn_hull_create(run->world, points, ROCK_POINTS, 0);
  }
}

static void drop_rock(scene_run *run, const tn_geometry_id rocks[ROCKS], tn_pos at,
                      uint32_t *random)
{
  tn_body_def def = scene_body_def();
  def.position = at;
  tn_vec3 axis = tn_add(scene_random_vector(random, 1.0f), tn_v3(0.01f, 0.0f, 0.0f));
  def.rotation = tn_quat_axis_angle(axis, TN_PI * scene_random_vector(random, 1.0f).x);
  tn_shape_def shape = tn_default_shape_def(TN_SHAPE_HULL);
  shape.geometry = rocks[run->body_count % ROCKS];
  scene_add_solid(run, &def, &shape, 50.0f);
}

// Waves of 1 m over 12 and 17 m.
static void lay_terrain(scene_run *run)
{
  static tn_vec3 vertices[(TERRAIN_CELLS + 1) * (TERRAIN_CELLS + 1)];
  static int triangles[6 * TERRAIN_CELLS * TERRAIN_CELLS];
  const int across = TERRAIN_CELLS + 1;
  float cell = (float)scene_value(run, "cell");
  int count = 0;
  for (int i = 0; i < across * across; ++i) {
    float x = cell * (float)(i % across - TERRAIN_CELLS / 2);
    float z = cell * (float)(i / across - TERRAIN_CELLS / 2);
    float height = tn_sin(2.0f * TN_PI * x / 12.0f) * tn_cos(2.0f * TN_PI * z / 17.0f);
    vertices[i] = tn_v3(x, height, z);
  }
  for (int i = 0; i < TERRAIN_CELLS * TERRAIN_CELLS; ++i) {
    int a = i / TERRAIN_CELLS * across + i % TERRAIN_CELLS, b = a + 1, c = a + across, d = c + 1;
    const int corners[6] = {a, c, b, b, c, d};
    memcpy(&triangles[count], corners, sizeof corners);
    count += 6;
  }
  tn_shape_def shape = tn_default_shape_def(TN_SHAPE_MESH);
  shape.geometry = tn_mesh_create(run->world, vertices, across * across, triangles, count / 3);
  scene_add_fixed(run, (tn_transform){tn_p3(0.0, 0.0, 0.0), tn_quat_identity()}, &shape);
}

// Hulls fall on a terrain, too far apart to interact at first.
static void build_terrain(scene_run *run)
{
  scene_set_gravity(run);
  lay_terrain(run);
  tn_geometry_id rocks[ROCKS];
  make_rocks(run, rocks);
  int count = (int)scene_value(run, "count");
  int across = (int)ceil(sqrt((double)count));
  double spacing = 2.0, middle = 0.5 * (double)(across - 1);
  uint32_t random = 3;
  for (int i = 0; i < count && !run->failed; ++i) {
    int row = i / across;
    drop_rock(
        run, rocks,
        tn_p3(spacing * ((double)(i % across) - middle), 2.5, spacing * ((double)row - middle)),
        &random);
  }
}

static void add_wall(scene_run *run, tn_pos at, tn_vec3 half)
{
  tn_shape_def wall = scene_box_shape(half);
  scene_add_fixed(run, (tn_transform){at, tn_quat_identity()}, &wall);
}

// Hulls fall into a box without a lid.
static void build_hulls(scene_run *run)
{
  lay_ground(run);
  tn_geometry_id rocks[ROCKS];
  make_rocks(run, rocks);
  int count = (int)scene_value(run, "count");
  int across = (int)ceil(cbrt(0.5 * (double)count));
  float half = 0.3f * (float)across;
  for (int side = -1; side <= 1; side += 2) {
    double off = (double)side * ((double)half + 0.5);
    add_wall(run, tn_p3(off, 5.0, 0.0), tn_v3(0.5f, 5.0f, half + 1.0f));
    add_wall(run, tn_p3(0.0, 5.0, off), tn_v3(half + 1.0f, 5.0f, 0.5f));
  }
  uint32_t random = 5;
  double middle = 0.5 * (double)(across - 1);
  for (int i = 0; i < count && !run->failed; ++i) {
    int layer = i / (across * across), row = i / across % across;
    drop_rock(run, rocks,
              tn_p3(0.58 * ((double)(i % across) - middle), 0.4 + 0.58 * (double)layer,
                    0.58 * ((double)row - middle)),
              &random);
  }
}

// A drum of eight walls that turns about the z axis at 0.4 rad/s, half full of cubes and hulls.
static void build_drum(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  int across = (int)ceil(cbrt((double)count));
  float radius = 0.55f * (float)across, length = 0.3f * (float)across;
  tn_body_def drum = tn_default_body_def();
  drum.type = TN_BODY_KINEMATIC;
  drum.angular_velocity = tn_v3(0.0f, 0.0f, 0.4f);
  tn_body_id id = scene_add_scenery(run, &drum);
  for (int i = 0; i < 8; ++i) {
    float angle = 0.25f * TN_PI * (float)i;
    tn_vec3 z = {0.0f, 0.0f, 1.0f};
    tn_shape_def wall = scene_box_shape(tn_v3(0.25f, 0.5f * radius, length));
    wall.position = tn_v3(radius * tn_cos(angle), radius * tn_sin(angle), 0.0f);
    wall.rotation = tn_quat_axis_angle(z, angle);
    scene_add_shape(run, id, &wall);
  }
  for (int side = -1; side <= 1; side += 2) {
    tn_shape_def lid = scene_box_shape(tn_v3(1.5f * radius, 1.5f * radius, 0.25f));
    lid.position = tn_v3(0.0f, 0.0f, (float)side * (length + 0.25f));
    scene_add_shape(run, id, &lid);
  }
  tn_geometry_id rocks[ROCKS];
  make_rocks(run, rocks);
  uint32_t random = 9;
  double middle = 0.5 * (double)(across - 1);
  for (int i = 0; i < count && !run->failed; ++i) {
    int layer = i / (across * across), row = i / across % across;
    tn_pos at = tn_p3(0.58 * ((double)(i % across) - middle), 0.58 * ((double)layer - middle),
                      0.58 * ((double)row - middle));
    if (i % 2) {
      add_cube(run, at, 0.4f);
    } else {
      drop_rock(run, rocks, at, &random);
    }
  }
}

// Static boxes in a wide grid, and a few cubes that fall on some of them.
static void build_city(scene_run *run)
{
  lay_ground(run);
  int houses = (int)scene_value(run, "houses"), across = (int)ceil(sqrt((double)houses));
  for (int i = 0; i < houses && !run->failed; ++i) {
    int row = i / across;
    add_wall(run, tn_p3(3.0 * (double)(i % across), 0.5, 3.0 * (double)row),
             tn_v3(1.0f, 0.5f, 1.0f));
  }
  for (int i = 0; i < 100 && !run->failed; ++i) {
    add_cube(run, tn_p3(3.0 * (double)(i % 10), 2.0, 3.0 * (double)(i / 10 % 10)), 0.5f);
  }
}

// ---------------------------------------------------------------------------------------------
// Soft bodies

static const float CLOTH_SIZE = 2.0f; // m

static int cloth_side(const scene_run *run)
{
  return (int)(sqrt(scene_value(run, "particles")) + 0.5);
}

// Horizontal, pinned at two corners.
static void add_cloth(scene_run *run, tn_soft_def *def)
{
  scene_set_gravity(run);
  int side = cloth_side(run);
  def->mass = 1.0f;
  tn_soft_mesh_cloth(def, side, side, CLOTH_SIZE, CLOTH_SIZE);
  if (def->bending_stiffness > 0.0f) {
    def->edge_count = 0; // bending only
  }
  tn_soft_id soft = scene_add_soft(run, def);
  scene_pin(run, soft, 0);
  scene_pin(run, soft, side - 1);
}

static void build_cloth(scene_run *run)
{
  tn_soft_def def = tn_default_soft_def();
  add_cloth(run, &def);
}

static void build_bends(scene_run *run)
{
  tn_soft_def def = tn_default_soft_def();
  def.bending_stiffness = 1e-3f;
  add_cloth(run, &def);
}

static void build_folds(scene_run *run)
{
  tn_soft_def def = tn_default_soft_def();
  def.bending_stiffness = 1e-3f;
  def.curved_rest = true;
  add_cloth(run, &def);
}

// Rms strain of the edges along rows and columns.
static void measure_cloth(const scene_run *run, scene_sheet *sheet)
{
  tn_soft_id soft;
  int side = cloth_side(run);
  tn_pos *p = malloc((size_t)(side * side) * sizeof *p);
  if (!p || tn_world_softs(run->world, &soft, 1) != 1) {
    free(p);
    return;
  }
  tn_soft_positions(run->world, soft, p, side * side);
  double rest = (double)CLOTH_SIZE / (double)(side - 1);
  double squares = 0.0;
  for (int i = 0; i < side * (side - 1); ++i) { // along the rows, then along the columns
    int first = i / (side - 1) * side + i % (side - 1);
    double row = (double)tn_length(tn_between_points(p[first], p[first + 1])) / rest - 1.0;
    double column = (double)tn_length(tn_between_points(p[i], p[i + side])) / rest - 1.0;
    squares += row * row + column * column;
  }
  scene_note(sheet, "stretch_rms", sqrt(squares / (2.0 * side * (side - 1))));
  free(p);
}

static void add_block(scene_run *run, bool tetrahedra)
{
  scene_set_gravity(run);
  int n = (int)scene_value(run, "cells");
  int cells[3] = {n, n, n};
  tn_soft_def def = tn_default_soft_def();
  def.mass = 100.0f;
  def.youngs_modulus = 1e6f;
  tn_soft_mesh_box(&def, cells, tn_v3(0.5f, 0.5f, 0.5f), tetrahedra);
  scene_pin(run, scene_add_soft(run, &def), 0);
}

static void build_tets(scene_run *run)
{
  add_block(run, true);
}

static void build_hexes(scene_run *run)
{
  add_block(run, false);
}

static void build_balloon(scene_run *run)
{
  scene_set_gravity(run);
  tn_soft_def def = tn_default_soft_def();
  def.pressure = 1.05f;
  def.edge_compliance = 1e-4f;
  tn_soft_mesh_sphere(&def, (int)scene_value(run, "level"), 0.5f);
  scene_pin(run, scene_add_soft(run, &def), 0);
}

// Upright, side by side.
static void build_tyres(scene_run *run)
{
  lay_ground(run);
  const int cells[3] = {44, 5, 5};
  int count = (int)scene_value(run, "count");
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_soft_def def = tn_default_soft_def();
    def.position = tn_p3(0.0, 0.32, 0.4 * (double)i);
    def.mass = 2.4f;
    def.youngs_modulus = 1e6f;
    tn_soft_mesh_tube(&def, cells, 0.2f, 0.3f, 0.1f);
    scene_add_soft(run, &def);
  }
}

// ---------------------------------------------------------------------------------------------

#define PARTICLES                                                                                  \
  {                                                                                                \
    {                                                                                              \
      "particles", 4.0, 1e6, 1681.0, true, "particles of a square cloth"                           \
    }                                                                                              \
  }
#define CELLS                                                                                      \
  {                                                                                                \
    {                                                                                              \
      "cells", 1.0, 100.0, 8.0, true, "cells along each side"                                      \
    }                                                                                              \
  }

static const scene models[] = {
    {.name = "star",
     .parameters = {{"count", 2.0, 1e5, 16.0, true, "joints on one body"}},
     .build = build_star},
    {.name = "net",
     .parameters = {{"side", 2.0, 1000.0, 10.0, true, "nodes along a side"}},
     .build = build_net},
    {.name = "dolls",
     .parameters = {{"count", 1.0, 1e5, 100.0, true, "number of ragdolls"}},
     .build = build_dolls},
    {.name = "pendula",
     .parameters = {{"count", 1.0, 1e6, 1000.0, true, "number of pendula of three rods"}},
     .build = build_pendula},
    {.name = "heaps",
     .parameters = {{"bodies", 10.0, 1e6, 1000.0, true, "number of cubes"}},
     .build = build_heaps},
    {.name = "cell",
     .parameters = {{"count", 1.0, 1e6, 1000.0, true, "number of cubes of 1 cm"}},
     .build = build_cell},
    {.name = "tray",
     .parameters = {{"count", 1.0, 1e5, 500.0, true, "number of cubes on one plate"}},
     .build = build_tray},
    {.name = "terrain",
     .parameters = {{"count", 1.0, 1e4, 200.0, true, "number of hulls"},
                    {"cell", 0.1, 4.0, 0.5, false, "length of a triangle of the mesh, m"}},
     .build = build_terrain},
    {.name = "hulls",
     .parameters = {{"count", 1.0, 1e5, 500.0, true, "number of hulls"}},
     .build = build_hulls},
    {.name = "drum",
     .parameters = {{"count", 1.0, 1e5, 1000.0, true, "number of cubes and hulls"}},
     .build = build_drum},
    {.name = "city",
     .parameters = {{"houses", 1.0, 1e6, 1000.0, true, "number of static boxes"}},
     .build = build_city},
    {.name = "cloth", .parameters = PARTICLES, .build = build_cloth, .measure = measure_cloth},
    {.name = "bends", .parameters = PARTICLES, .build = build_bends},
    {.name = "folds", .parameters = PARTICLES, .build = build_folds},
    {.name = "tets", .parameters = CELLS, .build = build_tets},
    {.name = "hexes", .parameters = CELLS, .build = build_hexes},
    {.name = "balloon",
     .parameters = {{"level", 0.0, 6.0, 3.0, true, "level of refinement"}},
     .build = build_balloon},
    {.name = "tyres",
     .parameters = {{"count", 1.0, 100.0, 4.0, true, "number of tyres"}},
     .build = build_tyres},
};

const scene *bench_find_scene(const char *name)
{
  for (size_t i = 0; i < sizeof models / sizeof models[0]; ++i) {
    if (strcmp(models[i].name, name) == 0) {
      return &models[i];
    }
  }
  const scene *found = bench_find_figure(name);
  return found ? found : scene_find(name);
}
