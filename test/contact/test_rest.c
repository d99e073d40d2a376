// Solids come to rest alike on every kind of level ground, wherever they lie in the frame of their
// shape.
//
// Prisms of 3 to 32 sides, cones, cylinders and boxes of random size, mass and position are dropped
// upright. On a plane, a box, a mesh and a height field they end with the base on the ground and
// the axis upright, and fall asleep about equally soon.
#include "support.h"

#include <math.h>

#define DT (1.0f / 60.0f)
#define G 10.0

typedef enum ground_kind { PLANE, BOX, MESH, FIELD, GROUND_KINDS } ground_kind;

#define CELLS 8

static tn_geometry_id flat_mesh(tn_world *world, float cell)
{
  tn_vec3 v[(CELLS + 1) * (CELLS + 1)];
  int t[CELLS * CELLS * 6], n = 0;
  for (int i = 0; i <= CELLS; ++i) {
    for (int k = 0; k <= CELLS; ++k) {
      v[i * (CELLS + 1) + k] =
          tn_v3(cell * (float)(i - CELLS / 2), 0.0f, cell * (float)(k - CELLS / 2));
    }
  }
  for (int i = 0; i < CELLS * CELLS; ++i) {
    int a = i / CELLS * (CELLS + 1) + i % CELLS, b = a + 1, c = a + CELLS + 1, d = c + 1;
    const int corners[6] = {a, b, d, a, d, c};
    for (int k = 0; k < 6; ++k) {
      t[n++] = corners[k];
    }
  }
  return tn_mesh_create(world, v, (CELLS + 1) * (CELLS + 1), t, n / 3);
}

static void make_ground(tn_world *world, ground_kind kind, float cell)
{
  static const float level[(CELLS + 1) * (CELLS + 1)];
  static const tn_shape_kind shapes[] = {TN_SHAPE_PLANE, TN_SHAPE_BOX, TN_SHAPE_MESH,
                                         TN_SHAPE_HEIGHT_FIELD};
  tn_shape_def def = tn_default_shape_def(shapes[kind]);
  if (kind == BOX) {
    def.half_extents = tn_v3(20.0f, 1.0f, 20.0f);
    def.position = tn_v3(0.0f, -1.0f, 0.0f);
  } else if (kind == MESH) {
    def.geometry = flat_mesh(world, cell);
  } else if (kind == FIELD) {
    def.geometry = tn_height_field_create(world, level, CELLS + 1, CELLS + 1, cell, cell);
  }
  assert_false(TN_IS_NULL(tn_shape_create(world, test_no_body, &def)));
}

// ---------------------------------------------------------------------------------------------
// Solids

typedef enum solid_kind { PRISM, CONE, CYLINDER, CUBOID, SOLID_KINDS } solid_kind;

typedef struct solid {
  solid_kind kind;
  int sides;
  float radius, height;
  float density;
  tn_vec3 offset; // centre of the solid in the body's frame
  bool in_points; // the offset is in the points of a hull, otherwise in the position of the shape
  double x, z, turn, drop;
  int substeps;
  float cell; // cell size of the ground, m
} solid;

static solid random_solid(uint32_t *random, int number)
{
  solid s = {.kind = (solid_kind)(number % 2 ? 1 + number / 2 % 3 : 0)};
  s.sides = 3 + number / 2 % 30;
  s.height = test_between(random, 0.1f, 2.0f);
  s.radius = fminf(2.0f, s.height * test_between(random, 0.4f, 2.0f));
  s.density = expf(test_between(random, logf(10.0f), logf(1e4f)));
  s.offset = test_vector(random, 3.0f * s.height);
  s.in_points = s.kind == PRISM;
  s.x = (double)test_between(random, -1.0f, 1.0f);
  s.z = (double)test_between(random, -1.0f, 1.0f);
  s.turn = (double)test_between(random, 0.0f, 6.0f);
  s.drop = (double)(s.height * test_between(random, 0.0f, 0.5f));
  s.substeps = (int[]){4, 8, 20}[test_index(random, 3)];
  s.cell = test_between(random, 1.0f, 4.0f);
  return s;
}

static tn_geometry_id prism(tn_world *world, const solid *s)
{
  tn_vec3 points[64];
  for (int i = 0; i < 2 * s->sides; ++i) {
    float angle = 2.0f * TN_PI * (float)(i / 2) / (float)s->sides;
    tn_vec3 p = tn_v3(s->radius * tn_cos(angle), (i % 2 ? 0.5f : -0.5f) * s->height,
                      s->radius * tn_sin(angle));
    points[i] = tn_add(p, s->offset);
  }
  return tn_hull_create(world, points, 2 * s->sides, 64);
}

// The body's origin is at the base on the ground, plus the drop height, less the offset.
static tn_body_id make_solid(tn_world *world, const solid *s, double lift, tn_vec3 velocity)
{
  static const tn_shape_kind shapes[] = {TN_SHAPE_HULL, TN_SHAPE_CONE, TN_SHAPE_CYLINDER,
                                         TN_SHAPE_BOX};
  tn_shape_def def = tn_default_shape_def(shapes[s->kind]);
  def.density = s->density;
  def.radius = s->radius;
  def.half_length = 0.5f * s->height;
  def.half_extents = tn_v3(s->radius, 0.5f * s->height, s->radius);
  def.position = s->in_points ? tn_v3(0.0f, 0.0f, 0.0f) : s->offset;
  if (s->kind == PRISM) {
    def.geometry = prism(world, s);
  }
  tn_body_def body = test_body_def();
  body.rotation = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), (float)s->turn);
  body.velocity = velocity;
  tn_vec3 aside = tn_rotate(body.rotation, s->offset);
  body.position =
      tn_p3(s->x - (double)aside.x, lift + 0.5 * (double)s->height - (double)s->offset.y,
            s->z - (double)aside.z);
  tn_body_id id = tn_body_create(world, &body);
  assert_false(TN_IS_NULL(tn_shape_create(world, id, &def)));
  assert_true(tn_body_set_mass_from_shapes(world, id));
  return id;
}

// Height of the centre of the base.
static double height_of_base(const tn_world *world, tn_body_id id, const solid *s)
{
  tn_vec3 base = tn_add(s->offset, tn_v3(0.0f, -0.5f * s->height, 0.0f));
  tn_transform at = tn_body_transform(world, id);
  return at.p.y + (double)tn_rotate(at.q, base).y;
}

static double upright(const tn_world *world, tn_body_id id)
{
  return (double)tn_rotate(tn_body_rotation(world, id), tn_v3(0.0f, 1.0f, 0.0f)).y;
}

static tn_world *world_of(const solid *s, ground_kind kind)
{
  tn_world_def def = test_world_def(s->substeps, TN_METHOD_TENON);
  def.sleeping = true;
  tn_world *world = tn_world_create(&def);
  make_ground(world, kind, s->cell);
  return world;
}

static void print_solid(const solid *s, ground_kind kind, int frames)
{
  static const char *const grounds[] = {"plane", "box", "mesh", "height field"};
  static const char *const kinds[] = {"prism", "cone", "cylinder", "box"};
  print_error("%s of %d sides, radius %g, height %g, offset %g %g %g, %d substeps on a %s: %d\n",
              kinds[s->kind], s->sides, (double)s->radius, (double)s->height, (double)s->offset.x,
              (double)s->offset.y, (double)s->offset.z, s->substeps, grounds[kind], frames);
}

// Number of frames until the body sleeps; at most 600.
static int frames_to_sleep(tn_world *world, tn_body_id id)
{
  int frames = 0;
  while (frames < 600 && tn_body_is_awake(world, id)) {
    test_run(world, DT, 1);
    frames += 1;
  }
  return frames;
}

// Tolerance: contacts leave a penetration of g h^2, less than a thousandth of the size. A solid
// that falls asleep more than half a second later than on a plane has wobbled.
static void solids_rest_alike_on_all_grounds(void **unused)
{
  (void)unused;
  uint32_t random = 4;
  int wrong = 0;
  for (int i = 0; i < test_cases(120, 2000); ++i) {
    solid s = random_solid(&random, i);
    int on_plane = 0;
    for (int kind = 0; kind < GROUND_KINDS; ++kind) {
      tn_world *world = world_of(&s, (ground_kind)kind);
      tn_body_id id = make_solid(world, &s, s.drop, tn_v3(0.0f, 0.0f, 0.0f));
      int frames = frames_to_sleep(world, id);
      on_plane = kind == PLANE ? frames : on_plane;
      double h = (double)DT / s.substeps;
      double off = fabs(height_of_base(world, id, &s));
      bool stands = off <= 1e-3 * (double)s.height + G * h * h && upright(world, id) > 0.99999;
      if (!stands || frames >= 600 || frames > on_plane + 30) {
        print_solid(&s, (ground_kind)kind, frames);
        print_error("  base at %g, axis %g, on a plane %d\n", height_of_base(world, id, &s),
                    upright(world, id), on_plane);
        wrong += 1;
      }
      tn_world_destroy(world);
    }
  }
  assert_int_equal(wrong, 0);
}

// So fast that they move by several times their size in a step, from up to ten steps away.
static void fast_solids_stay_above_all_grounds(void **unused)
{
  (void)unused;
  uint32_t random = 6;
  int wrong = 0;
  for (int i = 0; i < test_cases(60, 2000); ++i) {
    solid s = random_solid(&random, i);
    float speed = s.height * test_between(&random, 100.0f, 400.0f);
    tn_vec3 slant = test_vector(&random, 0.2f * speed);
    for (int kind = 0; kind < GROUND_KINDS; ++kind) {
      tn_world *world = world_of(&s, (ground_kind)kind);
      double lift = (double)(speed * DT * test_between(&random, 0.0f, 10.0f));
      slant.y = -speed;
      s.x = -(double)slant.x * lift / (double)speed;
      s.z = -(double)slant.z * lift / (double)speed;
      tn_body_id id = make_solid(world, &s, lift, slant);
      test_run(world, DT, 12);
      double lowest = tn_body_center(world, id).y;
      if (!(lowest > 0.0)) {
        print_solid(&s, (ground_kind)kind, i);
        print_error("  speed %g, centre at %g\n", (double)speed, lowest);
        wrong += 1;
      }
      tn_world_destroy(world);
    }
  }
  assert_int_equal(wrong, 0);
}

// ---------------------------------------------------------------------------------------------
// Edges

static tn_body_id add_hull(tn_world *world, const tn_vec3 *points, int count, double height,
                           tn_quat rotation)
{
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_HULL);
  def.geometry = tn_hull_create(world, points, count, 0);
  tn_body_def body = test_body_def();
  body.position = tn_p3(0.0, height, 0.0);
  body.rotation = rotation;
  tn_body_id id = tn_body_create(world, &body);
  assert_false(TN_IS_NULL(tn_shape_create(world, id, &def)));
  assert_true(tn_body_set_mass_from_shapes(world, id));
  return id;
}

static tn_world *empty_world(int substeps)
{
  tn_world_def def = test_world_def(substeps, TN_METHOD_TENON);
  def.sleeping = true;
  return tn_world_create(&def);
}

static tn_world *sleeping_world(int substeps, ground_kind kind)
{
  tn_world *world = empty_world(substeps);
  make_ground(world, kind, 4.0f);
  return world;
}

// A wedge on its edge, with ends that are steeper or less steep than its sides. It may stand or
// fall over, but not rock from end to end.
static void wedges_rest_on_their_edge(void **unused)
{
  (void)unused;
  uint32_t random = 8;
  int wrong = 0;
  for (int i = 0; i < test_cases(20, 400); ++i) {
    float height = test_between(&random, 0.2f, 1.0f),
          edge = height * test_between(&random, 0.5f, 2.0f);
    float length = edge + height * test_between(&random, 0.1f, 1.5f);
    float width = height * test_between(&random, 0.1f, 0.6f);
    const tn_vec3 points[6] = {{-length, height, -width}, {length, height, -width},
                               {-length, height, width},  {length, height, width},
                               {-edge, 0.0f, 0.0f},       {edge, 0.0f, 0.0f}};
    tn_quat turn = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), test_between(&random, 0.0f, 6.0f));
    for (int kind = 0; kind < GROUND_KINDS; ++kind) {
      int substeps = (int[]){4, 8, 20}[i % 3];
      tn_world *world = sleeping_world(substeps, (ground_kind)kind);
      tn_body_id id = add_hull(world, points, 6, (double)(0.3f * height), turn);
      int frames = frames_to_sleep(world, id);
      if (frames >= 600) {
        print_error("wedge %d on ground %d, %d substeps: awake\n", i, kind, substeps);
        wrong += 1;
      }
      tn_world_destroy(world);
    }
  }
  assert_int_equal(wrong, 0);
}

// ---------------------------------------------------------------------------------------------
// Across edges

static tn_body_id add_plate(tn_world *world, bool as_hull, tn_vec3 half, double height,
                            tn_quat rotation)
{
  tn_vec3 corners[8];
  for (int i = 0; i < 8; ++i) {
    corners[i] =
        tn_v3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
  }
  if (as_hull) {
    return add_hull(world, corners, 8, height, rotation);
  }
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  def.half_extents = half;
  tn_body_def body = test_body_def();
  body.position = tn_p3(0.0, height, 0.0);
  body.rotation = rotation;
  tn_body_id id = tn_body_create(world, &body);
  assert_false(TN_IS_NULL(tn_shape_create(world, id, &def)));
  assert_true(tn_body_set_mass_from_shapes(world, id));
  return id;
}

// Plates and hulls dropped crosswise on each other lie across edges, which a slight tilt makes one
// point of contact. They come to rest within 5 s.
static void crossed_plates_rest(void **unused)
{
  (void)unused;
  uint32_t random = 12;
  int wrong = 0;
  for (int i = 0; i < test_cases(90, 2000); ++i) {
    int substeps = (int[]){4, 8, 20}[i % 3];
    tn_world *world = sleeping_world(substeps, PLANE);
    float length = test_between(&random, 0.1f, 0.5f);
    tn_vec3 lower = tn_v3(length, length * test_between(&random, 0.1f, 0.2f),
                          length * test_between(&random, 0.1f, 0.3f));
    tn_vec3 upper = tn_v3(length, length * test_between(&random, 0.05f, 0.2f),
                          length * test_between(&random, 0.05f, 0.3f));
    tn_vec3 axis = tn_v3(test_between(&random, -0.1f, 0.1f), 1.0f, 0.0f);
    tn_quat turn = tn_quat_axis_angle(axis, test_between(&random, -3.0f, 3.0f));
    add_plate(world, i % 2 == 1, lower, (double)lower.y, tn_quat_identity());
    add_plate(world, i % 4 >= 2, upper, (double)(2.2f * lower.y + 2.0f * upper.y), turn);
    int frames = 0;
    while (frames < 300 && tn_world_counters(world).awake > 0) {
      test_run(world, DT, 1);
      frames += 1;
    }
    if (frames >= 300) {
      print_error("plates %d, %d substeps: awake\n", i, substeps);
      wrong += 1;
    }
    tn_world_destroy(world);
  }
  assert_int_equal(wrong, 0);
}

// ---------------------------------------------------------------------------------------------
// On waves

#define WAVE_CELLS 40

// Lengths of the waves, height of their crests, and what is added at random to each point, m.
typedef struct wave_ground {
  float length_x, length_z, height, rough;
  bool as_mesh;
} wave_ground;

// Facets of 1 m.
static void make_waves(tn_world *world, const wave_ground *g, uint32_t *random)
{
  enum { N = WAVE_CELLS + 1 };
  static tn_vec3 v[N * N];
  static float heights[N * N];
  static int t[WAVE_CELLS * WAVE_CELLS * 6];
  int n = 0;
  for (int i = 0; i < N; ++i) {
    for (int k = 0; k < N; ++k) {
      float y = g->height * tn_cos(2.0f * TN_PI * (float)i / g->length_x) *
                    tn_cos(2.0f * TN_PI * (float)k / g->length_z) +
                test_between(random, -g->rough, g->rough);
      heights[k * N + i] = y;
      v[i * N + k] = tn_v3((float)(i - WAVE_CELLS / 2), y, (float)(k - WAVE_CELLS / 2));
    }
  }
  for (int i = 0; i < WAVE_CELLS * WAVE_CELLS; ++i) {
    int a = i / WAVE_CELLS * N + i % WAVE_CELLS, b = a + 1, c = a + N, d = c + 1;
    const int corners[6] = {a, b, d, a, d, c};
    for (int k = 0; k < 6; ++k) {
      t[n++] = corners[k];
    }
  }
  tn_shape_def def = tn_default_shape_def(g->as_mesh ? TN_SHAPE_MESH : TN_SHAPE_HEIGHT_FIELD);
  def.geometry = g->as_mesh ? tn_mesh_create(world, v, N * N, t, n / 3)
                            : tn_height_field_create(world, heights, N, N, 1.0f, 1.0f);
  assert_false(TN_IS_NULL(tn_shape_create(world, test_no_body, &def)));
}

static tn_body_id throw_body(tn_world *world, uint32_t *random, double x, double z)
{
  tn_body_def body = test_body_def();
  body.position = tn_p3(x, 5.0, z);
  body.velocity = test_vector(random, 1.0f);
  body.angular_velocity = test_vector(random, 5.0f);
  return tn_body_create(world, &body);
}

// A shape that touches the ground only.
static tn_shape_def thrown_shape(tn_shape_kind kind)
{
  tn_shape_def def = tn_default_shape_def(kind);
  def.filter.category = 2;
  def.filter.mask = 1;
  return def;
}

static void add_shape(tn_world *world, tn_body_id id, const tn_shape_def *def)
{
  assert_false(TN_IS_NULL(tn_shape_create(world, id, def)));
  assert_true(tn_body_set_mass_from_shapes(world, id));
}

static int count_awake(tn_world *world, const char *what, const wave_ground *g, int substeps,
                       int bodies)
{
  test_run(world, DT, 600);
  int awake = tn_world_counters(world).awake;
  print_message("  %s on waves, %s, %d substeps: %d of %d awake\n", what,
                g->as_mesh ? "mesh" : "field", substeps, awake, bodies);
  tn_world_destroy(world);
  return awake;
}

// Plates of 4 x 40 x 8 cm that are thrown on waves lie across their edges and valleys. After 10 s
// at most one in 200 still moves.
static void plates_rest_on_waves(void **unused)
{
  (void)unused;
  uint32_t random = 14;
  int plates = test_cases(100, 400), awake = 0;
  for (int i = 0; i < 6; ++i) {
    int substeps = (int[]){4, 8, 20}[i % 3];
    wave_ground g = {10.0f, 5.0f, 0.5f, 0.0f, i < 3};
    tn_world *world = empty_world(substeps);
    make_waves(world, &g, &random);
    tn_shape_def def = thrown_shape(TN_SHAPE_BOX);
    def.half_extents = tn_v3(0.02f, 0.2f, 0.04f);
    for (int k = 0; k < plates; ++k) {
      int place = k * (400 / plates);
      add_shape(world, throw_body(world, &random, 0.5 * (place % 20 - 10), 0.5 * (place / 20 - 10)),
                &def);
    }
    awake += count_awake(world, "plates", &g, substeps, plates);
  }
  assert_in_range(awake, 0, 6 * plates / 200);
}

typedef enum thrown_kind { BLOCK, PLATE, ROD, ROCK, SHORT_PRISM, CROSS, THROWN_KINDS } thrown_kind;

static tn_geometry_id random_rock(tn_world *world, uint32_t *random, tn_vec3 half)
{
  tn_vec3 points[24];
  int count = 6 + test_index(random, 18);
  for (int i = 0; i < count; ++i) {
    points[i] = tn_v3(test_between(random, -half.x, half.x), test_between(random, -half.y, half.y),
                      test_between(random, -half.z, half.z));
  }
  return tn_hull_create(world, points, count, 0);
}

static void throw_solid(tn_world *world, uint32_t *random, thrown_kind kind, double x, double z)
{
  tn_body_id id = throw_body(world, random, x, z);
  float size = test_between(random, 0.08f, 0.8f), thick = test_between(random, 0.04f, 0.15f),
        wide = test_between(random, 0.2f, 1.0f);
  solid prism_of = {.sides = 3 + test_index(random, 5), .radius = size, .height = wide * size};
  bool is_hull = kind == ROCK || kind == SHORT_PRISM;
  tn_shape_def def = thrown_shape(is_hull ? TN_SHAPE_HULL : TN_SHAPE_BOX);
  def.half_extents = tn_v3(size, size * (kind == BLOCK ? fmaxf(wide, 0.5f) : thick),
                           size * (kind == BLOCK || kind == PLATE ? wide : thick));
  if (is_hull) {
    def.geometry = kind == ROCK ? random_rock(world, random, tn_v3(size, wide * size, 0.7f * size))
                                : prism(world, &prism_of);
  }
  add_shape(world, id, &def);
  if (kind == CROSS) {
    def.half_extents = tn_v3(size * thick, 0.5f * size * wide, size * thick);
    def.position = tn_v3(test_between(random, -0.8f, 0.8f) * size, 0.3f * size, 0.0f);
    add_shape(world, id, &def);
    def.half_extents = tn_v3(0.1f * size, 0.1f * size, size * wide);
    def.position = tn_v3(test_between(random, -0.8f, 0.8f) * size, 0.0f, 0.0f);
    add_shape(world, id, &def);
  }
}

// Blocks, plates, rods, hulls, prisms and compounds of 8 cm to 0.8 m on random waves of 4 to 16 m,
// up to 29 degrees steep, of which every other is rough. After 10 s at most one in 72 still moves:
// where one corner bears a face, its friction may give way before Coulomb's law does.
static void solids_rest_on_waves(void **unused)
{
  (void)unused;
  int awake = 0, bodies = 0;
  for (int i = 0; i < test_cases(12, 72); ++i) {
    uint32_t random = 100 + (uint32_t)i;
    int substeps = (int[]){4, 8, 20}[i % 3], solids = test_cases(72, 180);
    wave_ground g = {.length_x = test_between(&random, 4.0f, 16.0f),
                     .length_z = test_between(&random, 4.0f, 16.0f),
                     .as_mesh = i % 2 == 0};
    float slope = test_between(&random, 0.1f, 0.55f);
    g.height = slope / (2.0f * TN_PI) * fminf(g.length_x, g.length_z);
    g.rough = i % 4 >= 2 ? test_between(&random, 0.0f, 0.15f) : 0.0f;
    tn_world *world = empty_world(substeps);
    make_waves(world, &g, &random);
    for (int k = 0; k < solids; ++k) {
      throw_solid(world, &random, (thrown_kind)(k % THROWN_KINDS), 1.2 * (k % 14 - 7),
                  1.2 * (k / 14 - 7));
    }
    awake += count_awake(world, "solids", &g, substeps, solids);
    bodies += solids;
  }
  print_message("  solids on waves: %d of %d awake\n", awake, bodies);
  assert_in_range(awake, 0, bodies / 72);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solids_rest_alike_on_all_grounds),
      cmocka_unit_test(fast_solids_stay_above_all_grounds),
      cmocka_unit_test(wedges_rest_on_their_edge),
      cmocka_unit_test(crossed_plates_rest),
      cmocka_unit_test(plates_rest_on_waves),
      cmocka_unit_test(solids_rest_on_waves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
