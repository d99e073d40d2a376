// Ghost contacts: solids slide and roll over flat ground that is made of many pieces, in random
// directions. The motion must be that on a plane. Real steps still stop them.
#include "contact_support.h"

#ifdef TEST_ASAN
enum { SLIDES = 2 };
#else
enum { SLIDES = 12 };
#endif

typedef enum ground_kind {
  GROUND_PLANE,
  GROUND_BOXES,  // random sizes and depths, on several static bodies
  GROUND_HULLS,  // prisms with chamfers below the top
  GROUND_MESHES, // one mesh for each strip, with T-junctions between them
  GROUND_PITS,   // one mesh of beams with chamfers over pits
  GROUND_FIELD,  // a height field
  GROUND_MIXED,  // boxes, hulls and meshes in turn
  GROUND_KINDS
} ground_kind;

static const char *ground_name(int kind)
{
  static const char *names[GROUND_KINDS] = {"plane", "boxes", "hulls", "meshes",
                                            "pits",  "field", "mixed"};
  return names[kind];
}

// At up to 9 m/s; before ghosts were removed solids stopped dead or rose at 5 m/s.
#define MAX_CHANGE 0.05   // m/s
#define MAX_SPIN 0.3      // rad/s
#define GROUND_SIZE 12.0f // half of its width, m

static void add_piece(tn_world *world, tn_shape_def *piece, tn_material material)
{
  tn_body_def def = tn_default_body_def();
  def.type = TN_BODY_STATIC;
  piece->material = material;
  add_shape(world, add_body(world, &def), piece);
}

static tn_shape_def box_tile(float x0, float x1, float z0, float z1, float depth)
{
  tn_shape_def s = tn_default_shape_def(TN_SHAPE_BOX);
  s.half_extents = tn_v3(0.5f * (x1 - x0), 0.5f * depth, 0.5f * (z1 - z0));
  s.position = tn_v3(0.5f * (x0 + x1), -0.5f * depth, 0.5f * (z0 + z1));
  return s;
}

// Its top is the whole tile; its sides lean inwards.
static tn_shape_def hull_tile(tn_world *world, float x0, float x1, float z0, float z1, float depth)
{
  float in = 0.2f * fminf(x1 - x0, z1 - z0);
  tn_vec3 points[8] = {{x0, 0, z0},
                       {x1, 0, z0},
                       {x1, 0, z1},
                       {x0, 0, z1},
                       {x0 + in, -depth, z0 + in},
                       {x1 - in, -depth, z0 + in},
                       {x1 - in, -depth, z1 - in},
                       {x0 + in, -depth, z1 - in}};
  tn_shape_def s = tn_default_shape_def(TN_SHAPE_HULL);
  s.geometry = tn_hull_create(world, points, 8, 0);
  return s;
}

// A strip of `cells` quads along z.
static tn_shape_def mesh_tile(tn_world *world, float x0, float x1, float z0, float z1, int cells)
{
  tn_vec3 vertices[2 * 16];
  int triangles[6 * 15], count = 0;
  for (int i = 0; i <= cells; ++i) {
    float z = z0 + (z1 - z0) * (float)i / (float)cells;
    vertices[2 * i] = tn_v3(x0, 0.0f, z);
    vertices[2 * i + 1] = tn_v3(x1, 0.0f, z);
  }
  for (int i = 0; i < cells; ++i) {
    int a = 2 * i, quad[6] = {a, a + 2, a + 1, a + 1, a + 2, a + 3};
    memcpy(&triangles[count], quad, sizeof quad);
    count += 6;
  }
  tn_shape_def s = tn_default_shape_def(TN_SHAPE_MESH);
  s.geometry = tn_mesh_create(world, vertices, 2 * cells + 2, triangles, count / 3);
  return s;
}

// Beams of 0.3 m with gaps of at most 0.1 m between them; walls and bottoms of the gaps below.
static tn_shape_def pits(tn_world *world, uint32_t *random)
{
  static tn_vec3 vertices[1024];
  static int triangles[6 * 512];
  int points = 0, count = 0;
  float z = GROUND_SIZE;
  for (float x = -GROUND_SIZE; x < GROUND_SIZE && points < 1000; x += 0.4f) {
    float bevel = test_between(random, 0.0f, 0.04f), gap = test_between(random, 0.02f, 0.1f);
    float from = x + 0.4f - gap, to = x + 0.4f;
    // Profile of a beam, its chamfers and the pit behind it.
    float profile[7][2] = {{x, 0.0f},     {from - bevel, 0.0f}, {from, -0.7f * bevel},
                           {from, -0.3f}, {to - 1e-4f, -0.3f},  {to - bevel, -0.7f * bevel - 1e-3f},
                           {to, 0.0f}};
    for (int i = 0; i < 7; ++i) {
      vertices[points++] = tn_v3(profile[i][0], profile[i][1], -z);
      vertices[points++] = tn_v3(profile[i][0], profile[i][1], z);
      int a = points - 4, quad[6] = {a, a + 1, a + 2, a + 1, a + 3, a + 2};
      if (i > 0) {
        memcpy(&triangles[count], quad, sizeof quad);
        count += 6;
      }
    }
  }
  tn_shape_def s = tn_default_shape_def(TN_SHAPE_MESH);
  s.geometry = tn_mesh_create(world, vertices, points, triangles, count / 3);
  return s;
}

static void add_tiles(tn_world *world, int kind, tn_material material, uint32_t *random)
{
  for (float x = -GROUND_SIZE; x < GROUND_SIZE;) {
    float x1 = fminf(x + test_between(random, 0.2f, 1.5f), GROUND_SIZE);
    for (float z = -GROUND_SIZE; z < GROUND_SIZE;) {
      float z1 = fminf(z + test_between(random, 1.0f, 6.0f), GROUND_SIZE);
      float depth = test_between(random, 0.05f, 0.5f);
      int type = kind == GROUND_MIXED ? GROUND_BOXES + test_index(random, 3) : kind;
      tn_shape_def tile = type == GROUND_BOXES ? box_tile(x, x1, z, z1, depth)
                          : type == GROUND_HULLS
                              ? hull_tile(world, x, x1, z, z1, depth)
                              : mesh_tile(world, x, x1, z, z1, 1 + test_index(random, 15));
      add_piece(world, &tile, material);
      z = z1;
    }
    x = x1;
  }
}

static void add_ground_of(tn_world *world, int kind, tn_material material, uint32_t *random)
{
  tn_shape_def s = tn_default_shape_def(TN_SHAPE_PLANE);
  if (kind == GROUND_FIELD) {
    static const float flat[49 * 49];
    s = tn_default_shape_def(TN_SHAPE_HEIGHT_FIELD);
    s.geometry = tn_height_field_create(world, flat, 49, 49, 0.5f, 0.5f);
  } else if (kind == GROUND_PITS) {
    s = pits(world, random);
  } else if (kind != GROUND_PLANE) {
    add_tiles(world, kind, material, random);
    return;
  }
  add_piece(world, &s, material);
}

// A sphere, a capsule or cylinder that lies, a box, an upright cylinder, a prism of 7 sides. The
// shape's lowest point is `height` below its origin.
enum { SLIDER_KINDS = 6 };

static tn_shape_def slider(tn_world *world, int kind, float *height)
{
  tn_shape_def s = ball_shape(0.25f);
  *height = 0.25f;
  if (kind == 1 || kind == 2) {
    s = axial_shape(kind == 1 ? TN_SHAPE_CAPSULE : TN_SHAPE_CYLINDER, 0.25f, 0.3f);
    s.rotation = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), 0.5f * TN_PI);
  } else if (kind == 3) {
    s = tn_default_shape_def(TN_SHAPE_BOX);
    s.half_extents = tn_v3(0.4f, 0.25f, 0.3f);
  } else if (kind == 4) {
    s = axial_shape(TN_SHAPE_CYLINDER, 0.35f, 0.25f);
  } else if (kind == 5) {
    tn_vec3 points[14];
    for (int i = 0; i < 7; ++i) {
      float a = 2.0f * TN_PI * (float)i / 7.0f;
      points[2 * i] = tn_v3(0.4f * tn_cos(a), -0.25f, 0.4f * tn_sin(a));
      points[2 * i + 1] = tn_v3(points[2 * i].x, 0.25f, points[2 * i].z);
    }
    s = tn_default_shape_def(TN_SHAPE_HULL);
    s.geometry = tn_hull_create(world, points, 14, 0);
  }
  return s;
}

typedef struct slide {
  tn_vec3 v, w;
  double height; // of the centre
  float highest; // fastest motion up, m/s
  float lost;    // speed, m/s
} slide;

// Solids that a ground may differ for: round ones dip into pits; lying cylinders get points beside
// their line of contact at the seams of meshes and hulls, and roll late.
static int random_slider(int ground, uint32_t *random)
{
  int kind = test_index(random, SLIDER_KINDS);
  if (ground == GROUND_PITS) {
    return 3;
  }
  return kind == 2 && ground != GROUND_BOXES && ground != GROUND_FIELD ? 3 : kind;
}

// Slides or rolls for 1 s. The solid is one for `compared`, the ground that a plane is compared
// with.
static slide slide_over(int ground, uint32_t seed, int compared)
{
  static const int substeps[3] = {4, 8, 20};
  uint32_t random = 7u * seed + 3u, tiling = 31u * seed + 11u * (uint32_t)ground + 1u;
  tn_world *world = contact_world(substeps[test_index(&random, 3)]);
  tn_material material = tn_default_shape_def(TN_SHAPE_BOX).material;
  material.static_friction = material.dynamic_friction = test_index(&random, 2) ? 0.3f : 0.0f;
  float speed = test_between(&random, 0.5f, 9.0f),
        heading = test_between(&random, 0.0f, 2.0f * TN_PI);
  add_ground_of(world, ground, material, &tiling);
  float height;
  tn_shape_def shape = slider(world, random_slider(compared, &random), &height);
  shape.material = material;
  tn_vec3 along = tn_v3(tn_cos(heading), 0.0f, tn_sin(heading));
  tn_body_def def = tn_default_body_def();
  def.position = tn_p3((double)test_between(&random, -0.5f, 0.5f), (double)height,
                       (double)test_between(&random, -0.5f, 0.5f));
  // A lying cylinder rolls across its axis, z.
  def.rotation = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), -heading);
  def.velocity = tn_scale(speed, along);
  tn_body_id body = add_body(world, &def);
  add_shape(world, body, &shape);
  tn_body_set_mass_from_shapes(world, body);
  slide s = {0};
  for (int i = 0; i < 60; ++i) {
    test_run(world, DT, 1);
    s.highest = fmaxf(s.highest, tn_body_velocity(world, body).y);
  }
  s.v = tn_body_velocity(world, body);
  s.w = tn_body_angular_velocity(world, body);
  s.height = tn_body_center(world, body).y;
  s.lost = speed - tn_length(s.v);
  tn_world_destroy(world);
  return s;
}

static void pieces_of_a_floor_act_like_a_plane(void **unused)
{
  (void)unused;
  int count = test_cases(SLIDES, 1000);
  for (int ground = GROUND_PLANE + 1; ground < GROUND_KINDS; ++ground) {
    int off = 0;
    double worst_v = 0.0, worst_w = 0.0, worst_rise = 0.0;
    for (int i = 0; i < count; ++i) {
      slide plane = slide_over(GROUND_PLANE, (uint32_t)i, ground);
      slide other = slide_over(ground, (uint32_t)i, ground);
      double v = (double)tn_length(tn_sub(other.v, plane.v));
      double w = (double)tn_length(tn_sub(other.w, plane.w));
      double rise = (double)fmaxf(other.highest - plane.highest, 0.0f);
      // Friction acts at one patch per piece, and what starts to roll does so a little sooner or
      // later: allowed are 5 % of the speed that friction takes, and the spin that this is at 0.25
      // m.
      v = fmax(v - 0.05 * (double)plane.lost, 0.0);
      w = fmax(w - 0.05 * (double)plane.lost / 0.25, 0.0);
      if (v > MAX_CHANGE || w > MAX_SPIN || rise > MAX_CHANGE) {
        printf("  %s, seed %d: velocity off by %.3g m/s, %.3g rad/s, rises at %.3g m/s\n",
               ground_name(ground), i, v, w, rise);
        ++off;
      }
      worst_v = fmax(worst_v, v);
      worst_w = fmax(worst_w, w);
      worst_rise = fmax(worst_rise, rise);
    }
    printf("  %s: velocity off by %.2g m/s, %.2g rad/s at most, rises at %.2g m/s\n",
           ground_name(ground), worst_v, worst_w, worst_rise);
    // Of 1,000 boxes about ten are still tripped by the undercut walls of pits.
    assert_in_range(off, 0, ground == GROUND_PITS ? count / 50 : 0);
  }
}

// A step of 2 cm up stops a box; a step down does not hold it back, though it tips over the edge.
static void steps_are_no_ghosts(void **unused)
{
  (void)unused;
  for (int i = 0; i < 8; ++i) {
    bool up = i % 2 == 0;
    tn_world *world = contact_world(8);
    tn_material smooth = tn_default_shape_def(TN_SHAPE_BOX).material;
    smooth.static_friction = smooth.dynamic_friction = 0.0f;
    tn_shape_def near = box_tile(-3.0f, 1.0f, -2.0f, 2.0f, 0.5f), far = near;
    far.position = tn_v3(3.0f, up ? -0.23f : -0.27f, 0.0f);
    add_piece(world, &near, smooth);
    add_piece(world, &far, smooth);
    tn_shape_def box = cube_shape(0.25f);
    box.material = smooth;
    tn_body_id body = add_solid(world, tn_p3(0.0, 0.25, 0.0), &box);
    tn_body_set_velocity(world, body, tn_v3(0.15f * (float)(1 + i), 0.0f, 0.0f));
    test_run(world, DT, 300);
    double x = tn_body_center(world, body).x;
    if (up) {
      assert_below(x, 0.8);
    } else {
      assert_true(x > 0.7 * (double)(1 + i)); // 5 s at its speed, less 7 %
    }
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_of_a_floor_act_like_a_plane),
      cmocka_unit_test(steps_are_no_ghosts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
