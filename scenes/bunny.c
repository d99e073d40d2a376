// A chain of bunnies: Mueller et al. 2020, Figures 10 and 11.
#include "build.h"
#include "look.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------
// The bunny: a union of ellipsoids that all contain the origin, as distances from the origin.

enum { BANDS = 16, SECTORS = 24, BUNNY_POINTS = 2 + (BANDS - 1) * SECTORS };
enum { BUNNY_TRIANGLES = 2 * SECTORS * (BANDS - 1) };

typedef struct blob {
  tn_vec3 way;         // unit, its long axis
  float reach, behind; // extent along and against the axis
  float half_width;
} blob;

static const blob blobs[] = {{{0.0f, -1.0f, 0.0f}, 0.50f, 0.34f, 0.42f},      // body
                             {{0.0f, 0.6f, 0.8f}, 0.62f, 0.20f, 0.27f},       // head
                             {{0.28f, 0.95f, 0.14f}, 0.98f, 0.30f, 0.10f},    // ears
                             {{-0.28f, 0.95f, 0.14f}, 0.98f, 0.30f, 0.10f},   //
                             {{0.0f, -0.45f, -0.9f}, 0.60f, 0.20f, 0.16f},    // tail
                             {{0.35f, -0.72f, 0.60f}, 0.62f, 0.20f, 0.15f},   // feet
                             {{-0.35f, -0.72f, 0.60f}, 0.62f, 0.20f, 0.15f}}; //

// Distance from the origin along `d` to the surface of one ellipsoid.
static float blob_radius(const blob *b, tn_vec3 d)
{
  tn_vec3 way = tn_scale(1.0f / tn_length(b->way), b->way);
  float half = 0.5f * (b->reach + b->behind), center = 0.5f * (b->reach - b->behind);
  float along = tn_dot(d, way), across = 1.0f - along * along;
  float a = along * along / (half * half) + fmaxf(across, 0.0f) / (b->half_width * b->half_width);
  float k = along * center / (half * half);
  float c = center * center / (half * half) - 1.0f; // negative: the origin is inside
  return (k + sqrtf(k * k - a * c)) / a;
}

static const float SIZE = 0.2f; // m, approximate reach of the ears

static tn_vec3 bunny_point(tn_vec3 direction)
{
  float radius = 0.0f;
  for (size_t i = 0; i < sizeof blobs / sizeof blobs[0]; ++i) {
    radius = fmaxf(radius, blob_radius(&blobs[i], direction));
  }
  return tn_scale(SIZE * radius, direction);
}

typedef struct bunny {
  tn_vec3 points[BUNNY_POINTS];
  int triangles[3 * BUNNY_TRIANGLES];
} bunny;

static void make_points(bunny *b)
{
  b->points[0] = bunny_point(tn_v3(0.0f, 1.0f, 0.0f));
  b->points[1] = bunny_point(tn_v3(0.0f, -1.0f, 0.0f));
  for (int i = 1; i < BANDS; ++i) {
    float polar = TN_PI * (float)i / (float)BANDS;
    for (int k = 0; k < SECTORS; ++k) {
      float angle = 2.0f * TN_PI * (float)k / (float)SECTORS;
      tn_vec3 d =
          tn_v3(tn_sin(polar) * tn_cos(angle), tn_cos(polar), tn_sin(polar) * tn_sin(angle));
      b->points[2 + (i - 1) * SECTORS + k] = bunny_point(d);
    }
  }
}

static void set_triangle(int *corners, int a, int b, int c)
{
  corners[0] = a, corners[1] = b, corners[2] = c;
}

// Counter-clockwise from outside.
static void make_triangles(bunny *b)
{
  int *corner = b->triangles;
  for (int k = 0; k < SECTORS; ++k) {
    int next = (k + 1) % SECTORS, last = 2 + (BANDS - 2) * SECTORS;
    set_triangle(corner, 0, 2 + next, 2 + k);
    set_triangle(corner + 3, 1, last + k, last + next);
    corner += 6;
    for (int i = 0; i < BANDS - 2; ++i) {
      int upper = 2 + i * SECTORS, lower = upper + SECTORS;
      set_triangle(corner, upper + k, upper + next, lower + next);
      set_triangle(corner + 3, upper + k, lower + next, lower + k);
      corner += 6;
    }
  }
}

static bool look_like_bunny(scene_look *look)
{
  bunny b;
  make_points(&b);
  make_triangles(&b);
  return scene_look_from_triangles(look, b.points, b.triangles, BUNNY_TRIANGLES);
}

// ---------------------------------------------------------------------------------------------
// The chain. Each bunny has a joint above and below its centre of mass.

static const double LINK = 0.29; // m, from joint to joint

static float release_angle(const scene_run *run)
{
  return (float)scene_value(run, "angle") * (TN_PI / 180.0f);
}

static void hang_bunny(scene_run *run, tn_mass mass, const tn_shape_def *shape, tn_quat tilt)
{
  tn_vec3 down = tn_rotate(tilt, tn_v3(0.0f, -1.0f, 0.0f));
  double start = LINK * (double)run->body_count;
  tn_pos hook = tn_offset(tn_p3(0.0, 0.0, 0.0), tn_scale((float)start, down));
  tn_pos center = tn_offset(hook, tn_scale((float)(0.5 * LINK), down));
  tn_body_def def = scene_body_def();
  def.rotation = tilt;
  def.position = tn_offset(center, tn_scale(-1.0f, tn_rotate(tilt, mass.center)));
  def.mass = mass;
  tn_body_id last = run->body_count > 0 ? run->bodies[run->body_count - 1] : SCENE_WORLD;
  tn_body_id body = scene_add_body(run, &def);
  run->failed = run->failed || TN_IS_NULL(tn_shape_create(run->world, body, shape));
  tn_joint_def joint = scene_joint_at(run, TN_JOINT_BALL, last, body, hook, down);
  scene_add_joint(run, &joint);
  double depth = start + 0.5 * LINK;
  run->energy_scale += (double)(mass.mass * SCENE_GRAVITY) * depth;
}

static void build_bunny_chain(scene_run *run)
{
  scene_set_gravity(run);
  bunny b;
  make_points(&b);
  make_triangles(&b);
  tn_mass mass = tn_mass_mesh(b.points, BUNNY_POINTS, b.triangles, BUNNY_TRIANGLES, 1000.0f);
  tn_shape_def shape = tn_default_shape_def(TN_SHAPE_HULL);
  shape.geometry = tn_hull_create(run->world, b.points, BUNNY_POINTS, 0);
  run->failed = TN_IS_NULL(shape.geometry) || !(mass.mass > 0.0f);
  int count = (int)scene_value(run, "count");
  tn_quat tilt = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), release_angle(run));
  for (int i = 0; i < count && !run->failed; ++i) {
    hang_bunny(run, mass, &shape, tilt);
  }
}

// Sum of all joint gaps, relative to the length of the chain.
static void measure_bunny_chain(const scene_run *run, scene_sheet *sheet)
{
  double gaps = 0.0;
  for (int i = 0; i < run->joint_count; ++i) {
    gaps += (double)tn_joint_get_state(run->world, run->joints[i]).elongation;
  }
  scene_note(sheet, "elongation_rel", gaps / (LINK * (double)run->joint_count));
}

const scene scene_bunny_chain = {
    .name = "bunny_chain",
    .title = "A chain of bunnies that hangs from the ceiling",
    .source = "Mueller et al. 2020, Fig. 10 and 11",
    .group = SCENE_DETAILED,
    .camera = {{3.0f, 1.0f, 9.0f}, {4.0f, -13.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"count", 1.0, 1000.0, 100.0, true, "number of bunnies"},
                   {"angle", -90.0, 90.0, 20.0, false, "initial angle to the vertical, degrees"}},
    .build = build_bunny_chain,
    .measure = measure_bunny_chain,
    .look = look_like_bunny,
};
