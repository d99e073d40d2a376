// Ray casts, shape casts, overlaps and closest points, by the public functions. The reference for
// solids is a point-in-solid test: rays are compared with marching, casts with overlaps.
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const tn_pos origin = {0.0, 0.0, 0.0};
static const tn_pos far_off = {1e6, -3e5, 2e6};

// ---------------------------------------------------------------------------------------------
// Solids

#define SOLIDS 7 // includes planes, excludes meshes, height fields and wires

static const char *const kind_name[] = {"sphere", "capsule", "box",  "cylinder",
                                        "cone",   "hull",    "plane"};

// The hull: |x| / 0.6 + |y| / 0.8 + |z| / 0.4 <= 1.
static tn_geometry_id octahedron(tn_world *world)
{
  tn_vec3 points[6] = {{0.6f, 0.0f, 0.0f},  {-0.6f, 0.0f, 0.0f}, {0.0f, 0.8f, 0.0f},
                       {0.0f, -0.8f, 0.0f}, {0.0f, 0.0f, 0.4f},  {0.0f, 0.0f, -0.4f}};
  return tn_hull_create(world, points, 6, 0);
}

static tn_shape_def solid_def(tn_shape_kind kind, tn_geometry_id hull)
{
  tn_shape_def def = tn_default_shape_def(kind);
  def.radius = 0.4f;
  def.half_length = 0.6f;
  def.half_extents = tn_v3(0.3f, 0.5f, 0.7f);
  if (kind == TN_SHAPE_HULL) {
    def.geometry = hull;
  }
  return def;
}

static bool inside_cone(tn_pos p)
{
  return fabs(p.y) <= 0.6 && sqrt(p.x * p.x + p.z * p.z) <= 0.4 / 1.2 * (0.6 - p.y);
}

static bool inside(tn_shape_kind kind, tn_pos p)
{
  double across = sqrt(p.x * p.x + p.z * p.z);
  double beyond = fmax(fabs(p.y) - 0.6, 0.0);
  switch (kind) {
  case TN_SHAPE_SPHERE:
    return sqrt(across * across + p.y * p.y) <= 0.4;
  case TN_SHAPE_CAPSULE:
    return sqrt(across * across + beyond * beyond) <= 0.4;
  case TN_SHAPE_BOX:
    return fabs(p.x) <= 0.3 && fabs(p.y) <= 0.5 && fabs(p.z) <= 0.7;
  case TN_SHAPE_CYLINDER:
    return across <= 0.4 && beyond <= 0.0;
  case TN_SHAPE_CONE:
    return inside_cone(p);
  case TN_SHAPE_HULL:
    return fabs(p.x) / 0.6 + fabs(p.y) / 0.8 + fabs(p.z) / 0.4 <= 1.0;
  default:
    return p.y <= 0.0;
  }
}

// A solid at some pose.
typedef struct standing {
  tn_shape_kind kind;
  tn_shape_id id;
  tn_transform at;
} standing;

static tn_shape_id stand(tn_world *world, const tn_shape_def *def, tn_transform at)
{
  tn_body_def body = test_body_def();
  body.type = TN_BODY_STATIC;
  body.position = at.p;
  body.rotation = at.q;
  return tn_shape_create(world, tn_body_create(world, &body), def);
}

static standing stand_solid(tn_world *world, tn_shape_kind kind, tn_transform at)
{
  tn_geometry_id hull = {0};
  if (kind == TN_SHAPE_HULL) {
    hull = octahedron(world);
  }
  tn_shape_def def = solid_def(kind, hull);
  standing s = {kind, stand(world, &def, at), at};
  assert_false(TN_IS_NULL(s.id));
  return s;
}

static tn_transform place(tn_pos p, tn_quat q)
{
  tn_transform t = {p, q};
  return t;
}

static tn_transform unturned(tn_pos p)
{
  return place(p, tn_quat_identity());
}

// In double, as the reference for float.
static tn_pos into(const tn_transform *at, tn_pos p)
{
  double x = p.x - at->p.x, y = p.y - at->p.y, z = p.z - at->p.z;
  double qx = -(double)at->q.x, qy = -(double)at->q.y, qz = -(double)at->q.z, qw = (double)at->q.w;
  double n = 1.0 / (qx * qx + qy * qy + qz * qz + qw * qw);
  double tx = 2.0 * (qy * z - qz * y), ty = 2.0 * (qz * x - qx * z), tz = 2.0 * (qx * y - qy * x);
  return tn_p3(x + n * (qw * tx + qy * tz - qz * ty), y + n * (qw * ty + qz * tx - qx * tz),
               z + n * (qw * tz + qx * ty - qy * tx));
}

static bool holds(const standing *s, tn_pos p)
{
  return inside(s->kind, into(&s->at, p));
}

static tn_pos on_way(tn_pos from, tn_vec3 way, double fraction)
{
  return tn_p3(from.x + fraction * (double)way.x, from.y + fraction * (double)way.y,
               from.z + fraction * (double)way.z);
}

// ---------------------------------------------------------------------------------------------
// Rays

// The first fraction inside the solid, by steps and bisection; above one if there is none.
static double march(const standing *s, tn_pos from, tn_vec3 way, int steps)
{
  for (int i = 0; i <= steps; ++i) {
    double outer = (double)(i - 1) / steps, inner = (double)i / steps;
    if (!holds(s, on_way(from, way, inner))) {
      continue;
    }
    for (int k = 0; k < 40 && i > 0; ++k) {
      double middle = 0.5 * (outer + inner);
      *(holds(s, on_way(from, way, middle)) ? &inner : &outer) = middle;
    }
    return inner;
  }
  return 2.0;
}

// Whether the surface is within `slack` of the point along the normal.
static void assert_on_surface(const standing *s, const tn_hit *h, double slack)
{
  if (!holds(s, on_way(h->point, h->normal, -slack)) ||
      holds(s, on_way(h->point, h->normal, slack))) {
    tn_pos p = into(&s->at, h->point);
    fail_msg("%s: (%g %g %g) is not on the surface", kind_name[s->kind], p.x, p.y, p.z);
  }
  assert_close(tn_length(h->normal), 1.0, 1e-5);
}

static void assert_ray(const tn_world *world, const standing *s, tn_pos from, tn_vec3 way)
{
  tn_hit h = tn_world_ray(world, from, way, tn_default_query_filter());
  double length = (double)tn_length(way), expected = march(s, from, way, 300);
  if (expected <= 1.0) {
    assert_true(h.hit);
    assert_below((double)h.fraction, expected + 2e-6 * (1.0 + 1.0 / length));
  }
  if (!h.hit) {
    return;
  }
  assert_true(TN_SAME_ID(h.shape, s->id));
  if (h.fraction == 0.0f) {
    assert_true(holds(s, from));
    assert_true(tn_length(h.normal) == 0.0f);
    return;
  }
  // A hit before the marched one is right if marching stepped over a corner.
  assert_on_surface(s, &h, 4e-6);
  assert_true(tn_dot(h.normal, way) <= 1e-6f * tn_length(way));
  tn_vec3 off = tn_between_points(h.point, on_way(from, way, (double)h.fraction));
  assert_below(tn_length(off), 1e-6 * (1.0 + length));
}

static void rays_of_every_kind_at(tn_pos center, float distance)
{
  uint32_t random = 17;
  for (int kind = 0; kind < SOLIDS; ++kind) {
    tn_world *world = test_world(1, TN_METHOD_TENON);
    tn_quat q = kind == TN_SHAPE_PLANE ? tn_quat_identity() : test_rotation(&random);
    standing s = stand_solid(world, (tn_shape_kind)kind, place(center, q));
    int hits = 0;
    for (int i = 0; i < 300; ++i) {
      tn_vec3 start = test_vector(&random, distance), end = test_vector(&random, 0.7f);
      tn_pos from = tn_offset(center, start);
      tn_vec3 way = tn_scale(1.5f, tn_sub(end, start));
      assert_ray(world, &s, from, way);
      hits += tn_world_ray(world, from, way, tn_default_query_filter()).hit;
    }
    assert_in_range(hits, 70, 299);
    tn_world_destroy(world);
  }
}

static void rays_match_marching(void **state)
{
  (void)state;
  rays_of_every_kind_at(origin, 2.0f);
}

static void rays_are_exact_far_from_the_origin(void **state)
{
  (void)state;
  rays_of_every_kind_at(far_off, 2.0f);
}

static void rays_along_axes_and_edges_do_not_slip_through(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  for (int x = -1; x <= 1; ++x) {
    for (int z = -1; z <= 1; ++z) {
      stand(world, &def, unturned(tn_p3(x, 0.0, z)));
    }
  }
  for (int i = 0; i < 16; ++i) { // corners and edges of the tiles
    int x = i % 4 - 1, z = i / 4 - 1;
    tn_pos from = tn_p3(0.5 * x, 3.0, 0.5 * z);
    tn_hit h = tn_world_ray(world, from, tn_v3(0.0f, -5.0f, 0.0f), tn_default_query_filter());
    assert_true(h.hit);
    assert_close(h.fraction, 0.5, 1e-7);
    assert_close(h.normal.y, 1.0, 0.0);
  }
  tn_world_destroy(world);
}

// The fraction of a long ray has float precision; the hit point is far more exact.
static void long_rays_are_exact_where_they_hit(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  stand_solid(world, TN_SHAPE_SPHERE, unturned(far_off));
  tn_pos from = tn_p3(far_off.x - 1e5, far_off.y, far_off.z + 0.24);
  tn_hit h = tn_world_ray(world, from, tn_v3(3e5f, 0.0f, 0.0f), tn_default_query_filter());
  assert_true(h.hit);
  assert_close(h.point.x - far_off.x, -0.32, 1e-6); // 0.4^2 = 0.32^2 + 0.24^2
  assert_close(h.point.z - far_off.z, 0.24, 1e-6);
  assert_close(h.normal.x, -0.8, 1e-5);
  assert_close(h.fraction, 99999.68 / 3e5, 1e-7);
  tn_world_destroy(world);
}

typedef struct scene {
  tn_world *world;
  standing solid[200];
  int count;
} scene;

static scene random_scene(tn_pos center, float size, int count, uint32_t *random)
{
  scene s = {.world = test_world(1, TN_METHOD_TENON), .count = count};
  for (int i = 0; i < count; ++i) {
    tn_pos p = tn_offset(center, test_vector(random, size));
    s.solid[i] =
        stand_solid(s.world, (tn_shape_kind)(i % TN_SHAPE_PLANE), place(p, test_rotation(random)));
  }
  return s;
}

static void the_closest_of_many_shapes_is_hit(void **state)
{
  (void)state;
  uint32_t random = 5;
  scene s = random_scene(far_off, 5.0f, 200, &random);
  int hits = 0;
  for (int i = 0; i < 200; ++i) {
    tn_vec3 start = test_vector(&random, 8.0f);
    tn_vec3 way = tn_sub(test_vector(&random, 5.0f), start);
    tn_pos from = tn_offset(far_off, start);
    double first = 2.0, length = (double)tn_length(way);
    for (int k = 0; k < s.count; ++k) {
      first = fmin(first, march(&s.solid[k], from, way, 100));
    }
    tn_hit h = tn_world_ray(s.world, from, way, tn_default_query_filter());
    if (first <= 1.0) {
      assert_true(h.hit);
      assert_below(h.fraction, first + 1e-5 / length);
      hits += (double)h.fraction > first - 1e-5 / length; // not a corner that marching missed
    }
  }
  assert_in_range(hits, 100, 200);
  tn_world_destroy(s.world);
}

// ---------------------------------------------------------------------------------------------
// Casts

static tn_hit cast(const tn_world *world, tn_shape_kind kind, tn_geometry_id hull, tn_transform at,
                   tn_vec3 way)
{
  tn_shape_def def = solid_def(kind, hull);
  return tn_world_cast(world, &def, at, way, tn_default_query_filter());
}

static void casts_follow_closed_forms(void **state)
{
  (void)state;
  tn_geometry_id none = {0};
  for (int far_away = 0; far_away < 2; ++far_away) {
    tn_pos c = far_away ? far_off : origin;
    tn_world *world = test_world(1, TN_METHOD_TENON);
    stand_solid(world, TN_SHAPE_SPHERE, unturned(c));
    stand_solid(world, TN_SHAPE_PLANE, unturned(tn_p3(c.x, c.y - 3.0, c.z)));
    // Two balls touch when their centres are 0.8 apart: 0.8^2 = 0.64^2 + 0.48^2.
    tn_transform ball = unturned(tn_p3(c.x - 5.0, c.y, c.z + 0.48));
    tn_hit h = cast(world, TN_SHAPE_SPHERE, none, ball, tn_v3(10.0f, 0.0f, 0.0f));
    assert_true(h.hit);
    assert_close(h.fraction, 0.436, 1e-6);
    assert_close(h.normal.x, -0.8, 1e-5);
    assert_close(h.normal.z, 0.6, 1e-5);
    assert_close(h.point.x - c.x, -0.32, 1e-5);
    assert_close(h.point.z - c.z, 0.24, 1e-5);
    // A capsule at 30 degrees extends 0.6 sin 30 + 0.4 below its centre.
    tn_quat tilt = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), TN_PI / 3.0f);
    tn_transform capsule = place(tn_p3(c.x + 5.0, c.y, c.z), tilt);
    h = cast(world, TN_SHAPE_CAPSULE, none, capsule, tn_v3(1.0f, -4.0f, 0.0f));
    assert_true(h.hit);
    assert_close(h.fraction, (3.0 - 0.7) / 4.0, 1e-6);
    assert_close(h.normal.y, 1.0, 1e-6);
    assert_close(h.point.y - c.y, -3.0, 1e-6);
    // A box of half extent 0.5 on the ball.
    h = cast(world, TN_SHAPE_BOX, none, unturned(tn_p3(c.x, c.y + 4.0, c.z)),
             tn_v3(0.0f, -5.0f, 0.0f));
    assert_true(h.hit);
    assert_close(h.fraction, 3.1 / 5.0, 1e-5);
    tn_world_destroy(world);
  }
}

static bool overlaps_at(const tn_world *world, tn_shape_kind kind, tn_geometry_id hull,
                        tn_transform at, tn_vec3 way, double fraction)
{
  tn_shape_def def = solid_def(kind, hull);
  at.p = on_way(at.p, way, fraction);
  return tn_world_overlap(world, &def, at, tn_default_query_filter(), NULL, 0) > 0;
}

static void assert_cast(const tn_world *world, tn_shape_kind kind, tn_geometry_id hull,
                        tn_transform at, tn_vec3 way, int *hits)
{
  tn_hit h = cast(world, kind, hull, at, way);
  double length = (double)tn_length(way), step = 1e-4 / length;
  double end = h.hit ? (double)h.fraction - step : 1.0;
  for (int i = 0; i <= 50 && end >= 0.0; ++i) {
    if (overlaps_at(world, kind, hull, at, way, end * i / 50.0)) {
      fail_msg("a %s overlaps at %g before its hit at %g", kind_name[kind], end * i / 50.0, end);
    }
  }
  if (!h.hit) {
    return;
  }
  *hits += 1;
  double approach = -(double)tn_dot(way, h.normal) / length;
  if (h.fraction == 0.0f) {
    assert_true(overlaps_at(world, kind, hull, at, way, 0.0));
  } else if (approach > 0.2) {
    assert_true(overlaps_at(world, kind, hull, at, way, (double)h.fraction + step));
  } else {
    assert_true(approach >= -1e-5);
  }
}

static void casts_stop_where_overlap_begins(void **state)
{
  (void)state;
  uint32_t random = 23;
  for (int a = 0; a < SOLIDS; ++a) {
    tn_world *world = test_world(1, TN_METHOD_TENON);
    tn_quat q = a == TN_SHAPE_PLANE ? tn_quat_identity() : test_rotation(&random);
    stand_solid(world, (tn_shape_kind)a, place(far_off, q));
    tn_geometry_id hull = octahedron(world);
    for (int b = 0; b < TN_SHAPE_PLANE; ++b) {
      int hits = 0;
      for (int i = 0; i < 30; ++i) {
        tn_vec3 start = test_vector(&random, 4.0f);
        start.y = a == TN_SHAPE_PLANE ? fabsf(start.y) : start.y;
        tn_vec3 way = tn_scale(1.5f, tn_sub(test_vector(&random, 1.0f), start));
        tn_transform at = place(tn_offset(far_off, start), test_rotation(&random));
        assert_cast(world, (tn_shape_kind)b, hull, at, way, &hits);
      }
      assert_in_range(hits, 10, 30);
    }
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Overlaps and closest points

static void the_closest_point_is_on_the_surface_and_nothing_is_closer(void **state)
{
  (void)state;
  uint32_t random = 31;
  for (int kind = 0; kind < SOLIDS; ++kind) {
    tn_world *world = test_world(1, TN_METHOD_TENON);
    tn_query_filter all = tn_default_query_filter();
    tn_quat q = kind == TN_SHAPE_PLANE ? tn_quat_identity() : test_rotation(&random);
    standing s = stand_solid(world, (tn_shape_kind)kind, place(far_off, q));
    for (int i = 0; i < 100; ++i) {
      tn_pos p = tn_offset(far_off, test_vector(&random, i % 2 ? 0.4f : 2.0f));
      tn_hit h = tn_world_closest_point(world, p, 10.0f, all);
      assert_true(h.hit && TN_SAME_ID(h.shape, s.id));
      double distance = (double)tn_length(tn_between_points(p, h.point));
      assert_close(fabs((double)h.distance), distance, 2e-6);
      if (distance > 1e-5) {
        assert_int_equal(h.distance < 0.0f, holds(&s, p));
      }
      // At a corner the normal points outside, not necessarily into the solid behind.
      assert_false(holds(&s, on_way(h.point, h.normal, 4e-6)));
      for (int k = 0; k < 30; ++k) {
        tn_pos other = on_way(p, test_vector(&random, 1.0f), 0.999 * distance / 1.7320508);
        assert_int_equal(holds(&s, other), holds(&s, p));
      }
      assert_false(h.distance > 0.0f &&
                   tn_world_closest_point(world, p, 0.99f * h.distance, all).hit);
    }
    tn_world_destroy(world);
  }
}

static void balls_overlap_what_is_closer_than_their_radius(void **state)
{
  (void)state;
  uint32_t random = 41;
  scene s = random_scene(far_off, 2.0f, 60, &random);
  tn_query_filter all = tn_default_query_filter();
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  for (int i = 0; i < 200; ++i) {
    tn_pos p = tn_offset(far_off, test_vector(&random, 3.0f));
    tn_hit h = tn_world_closest_point(s.world, p, 10.0f, all);
    assert_true(h.hit);
    if (h.distance < 2e-4f) {
      continue;
    }
    ball.radius = h.distance - 1e-4f;
    assert_int_equal(tn_world_overlap(s.world, &ball, unturned(p), all, NULL, 0), 0);
    ball.radius = h.distance + 1e-4f;
    tn_shape_id found[4];
    int count = tn_world_overlap(s.world, &ball, unturned(p), all, found, 4);
    assert_in_range(count, 1, 2);
    assert_true(TN_SAME_ID(found[0], h.shape) || TN_SAME_ID(found[1], h.shape));
  }
  tn_world_destroy(s.world);
}

static void box_overlaps_find_shapes_inside(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_query_filter all = tn_default_query_filter();
  tn_shape_id ids[10], found[10];
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  for (int i = 0; i < 10; ++i) {
    ids[i] = stand(world, &ball, unturned(tn_p3(far_off.x + 2.0 * i, far_off.y, far_off.z)));
  }
  tn_pos lower = tn_p3(far_off.x + 3.0, far_off.y - 1.0, far_off.z - 1.0);
  tn_pos upper = tn_p3(far_off.x + 9.4, far_off.y + 1.0, far_off.z + 1.0);
  assert_int_equal(tn_world_overlap_box(world, lower, upper, all, found, 10), 3);
  for (int i = 0; i < 3; ++i) {
    assert_true(TN_SAME_ID(found[i], ids[2 + i])); // in order of creation
  }
  assert_int_equal(tn_world_overlap_box(world, lower, upper, all, found, 1), 3);
  assert_true(TN_SAME_ID(found[0], ids[2]));
  // The corner of the query box is within the box around a ball, but not within the ball.
  tn_pos corner = tn_p3(far_off.x + 0.3, far_off.y + 0.3, far_off.z + 0.3);
  tn_pos beyond = tn_p3(far_off.x + 0.4, far_off.y + 5.0, far_off.z + 5.0);
  assert_int_equal(tn_world_overlap_box(world, corner, beyond, all, NULL, 0), 0);
  corner = tn_p3(far_off.x + 0.28, far_off.y + 0.28, far_off.z + 0.28);
  assert_int_equal(tn_world_overlap_box(world, corner, beyond, all, NULL, 0), 1);
  // A huge query box is as exact as a small one.
  lower = tn_p3(-1e9, -1e9, -1e9);
  upper = tn_p3(far_off.x + 5.5001, 1e9, 1e9);
  assert_int_equal(tn_world_overlap_box(world, lower, upper, all, NULL, 0), 4);
  upper.x = far_off.x + 5.4999;
  assert_int_equal(tn_world_overlap_box(world, lower, upper, all, NULL, 0), 3);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Surfaces: tested in detail by test_surfaces.c

static tn_shape_id stand_surface(tn_world *world, tn_shape_kind kind, tn_geometry_id geometry,
                                 float radius)
{
  assert_false(TN_IS_NULL(geometry));
  tn_shape_def def = tn_default_shape_def(kind);
  def.geometry = geometry;
  def.radius = radius;
  return stand(world, &def, unturned(far_off));
}

// From 3 m above (x, z), a ray, a ball and a point find a surface at `height` below.
static void assert_found_below(const tn_world *world, tn_shape_id id, double x, double z,
                               double height)
{
  tn_query_filter all = tn_default_query_filter();
  tn_pos from = tn_p3(far_off.x + x, far_off.y + 3.0, far_off.z + z);
  tn_vec3 way = tn_v3(0.0f, -6.0f, 0.0f);
  tn_hit h = tn_world_ray(world, from, way, all);
  assert_true(h.hit && TN_SAME_ID(h.shape, id));
  assert_close(h.fraction, (3.0 - height) / 6.0, 1e-6);
  assert_close(h.point.y - far_off.y, height, 1e-5);
  assert_close(h.normal.y, 1.0, 1e-4);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.radius = 0.25f;
  h = tn_world_cast(world, &ball, unturned(from), way, all);
  assert_true(h.hit && TN_SAME_ID(h.shape, id));
  assert_close(h.fraction, (2.75 - height) / 6.0, 1e-5);
  assert_close(h.normal.y, 1.0, 1e-4);
  h = tn_world_closest_point(world, from, 5.0f, all);
  assert_true(h.hit && TN_SAME_ID(h.shape, id));
  assert_close(h.distance, 3.0 - height, 1e-5);
  tn_transform near = unturned(tn_p3(from.x, far_off.y + height + 0.2499, from.z));
  assert_int_equal(tn_world_overlap(world, &ball, near, all, NULL, 0), 1);
  near.p.y += 0.001;
  assert_int_equal(tn_world_overlap(world, &ball, near, all, NULL, 0), 0);
}

static void surfaces_are_found(void **state)
{
  (void)state;
  tn_vec3 corners[4] = {
      {-2.0f, 0.5f, -2.0f}, {-2.0f, 0.5f, 2.0f}, {2.0f, 0.5f, 2.0f}, {2.0f, 0.5f, -2.0f}};
  int triangles[6] = {0, 1, 2, 0, 2, 3};
  float heights[9] = {0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f};
  tn_wire_point points[2] = {{{-2.0f, 0.0f, 0.0f}, {4.0f, 0.0f, 0.0f}},
                             {{2.0f, 0.0f, 0.0f}, {4.0f, 0.0f, 0.0f}}};
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_geometry_id mesh = tn_mesh_create(world, corners, 4, triangles, 2);
  tn_geometry_id field = tn_height_field_create(world, heights, 3, 3, 2.0f, 2.0f);
  tn_geometry_id wire = tn_wire_create(world, points, 2, false);
  tn_shape_id id = stand_surface(world, TN_SHAPE_MESH, mesh, 1.0f);
  assert_found_below(world, id, 0.3, -0.4, 0.5);
  assert_found_below(world, id, 0.5, 0.5, 0.5); // on the common edge
  assert_true(tn_shape_destroy(world, id));
  id = stand_surface(world, TN_SHAPE_HEIGHT_FIELD, field, 1.0f);
  assert_found_below(world, id, 0.3, -0.4, 0.25);
  assert_found_below(world, id, 0.0, 0.0, 0.25);
  assert_true(tn_shape_destroy(world, id));
  id = stand_surface(world, TN_SHAPE_WIRE, wire, 0.3f);
  assert_found_below(world, id, 0.7, 0.0, 0.3);
  tn_world_destroy(world);
}

static void casts_from_touching_shapes_may_slide_and_rise(void **state)
{
  (void)state;
  tn_vec3 corners[3] = {{-9.0f, 0.0f, -9.0f}, {0.0f, 0.0f, 9.0f}, {9.0f, 0.0f, -9.0f}};
  int triangle[3] = {0, 1, 2};
  float heights[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int kind = 0; kind < 4; ++kind) {
    tn_world *world = test_world(1, TN_METHOD_TENON);
    tn_query_filter all = tn_default_query_filter();
    tn_shape_kind kinds[4] = {TN_SHAPE_PLANE, TN_SHAPE_BOX, TN_SHAPE_MESH, TN_SHAPE_HEIGHT_FIELD};
    tn_shape_def def = tn_default_shape_def(kinds[kind]);
    def.half_extents = tn_v3(5.0f, 0.4f, 5.0f);
    def.position.y = kind == 1 ? -0.4f : 0.0f;
    if (kind > 1) {
      def.geometry = kind == 2 ? tn_mesh_create(world, corners, 3, triangle, 1)
                               : tn_height_field_create(world, heights, 2, 2, 9.0f, 9.0f);
    }
    assert_false(TN_IS_NULL(stand(world, &def, unturned(far_off))));
    for (int b = 0; b < TN_SHAPE_CONE; ++b) {
      tn_geometry_id none = {0};
      tn_shape_def solid = solid_def((tn_shape_kind)b, none);
      float foot[] = {0.4f, 1.0f, 0.5f, 0.6f};
      tn_transform at = unturned(tn_offset(far_off, tn_v3(0.1f, foot[b], 0.2f)));
      assert_false(tn_world_cast(world, &solid, at, tn_v3(1.0f, 0.0f, 0.5f), all).hit);
      assert_false(tn_world_cast(world, &solid, at, tn_v3(1.0f, 3.0f, 0.5f), all).hit);
      tn_hit h = tn_world_cast(world, &solid, at, tn_v3(1.0f, -1.0f, 0.0f), all);
      assert_true(h.hit);
      assert_close(h.fraction, 0.0, 2e-6);
      assert_close(h.normal.y, 1.0, 1e-4);
      at.p.y -= 0.1;
      h = tn_world_cast(world, &solid, at, tn_v3(0.0f, 1.0f, 0.0f), all);
      assert_true(h.hit && h.fraction == 0.0f);
    }
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Filters and callbacks

static tn_hit ray_down(const tn_world *world, tn_query_filter filter)
{
  return tn_world_ray(world, tn_p3(0.0, 10.0, 0.0), tn_v3(0.0f, -20.0f, 0.0f), filter);
}

static void query_filters_select_shapes(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_SPHERE);
  def.filter.category = 2;
  def.filter.mask = 4;
  tn_shape_id high = stand(world, &def, unturned(tn_p3(0.0, 5.0, 0.0)));
  def.filter.category = 8;
  def.filter.mask = UINT64_MAX;
  tn_shape_id low = stand(world, &def, unturned(origin));
  def.sensor = true;
  tn_shape_id sensor = stand(world, &def, unturned(tn_p3(0.0, 8.0, 0.0)));

  tn_query_filter filter = tn_default_query_filter();
  assert_true(TN_SAME_ID(ray_down(world, filter).shape, high));
  filter.sensors = true;
  assert_true(TN_SAME_ID(ray_down(world, filter).shape, sensor));
  filter.sensors = false;
  filter.mask = ~UINT64_C(2);
  assert_true(TN_SAME_ID(ray_down(world, filter).shape, low));
  filter.mask = UINT64_MAX;
  filter.category = ~UINT64_C(4);
  assert_true(TN_SAME_ID(ray_down(world, filter).shape, low));
  filter.category = 4;
  assert_true(TN_SAME_ID(ray_down(world, filter).shape, high));
  filter.mask = 1;
  assert_false(ray_down(world, filter).hit);
  assert_false(tn_world_closest_point(world, origin, 100.0f, filter).hit);
  assert_int_equal(
      tn_world_overlap_box(world, tn_p3(-9.0, -9.0, -9.0), tn_p3(9.0, 9.0, 9.0), filter, NULL, 0),
      0);
  filter = tn_default_query_filter();
  assert_int_equal(
      tn_world_overlap_box(world, tn_p3(-9.0, -9.0, -9.0), tn_p3(9.0, 9.0, 9.0), filter, NULL, 0),
      2);
  tn_world_destroy(world);
}

typedef struct heard {
  int count;
  float answer; // 2 stands for the fraction of the hit
  float last;
  bool ordered;
} heard;

static float hear(const tn_hit *hit, void *context)
{
  heard *h = context;
  assert_true(hit->hit);
  h->ordered = h->ordered && hit->fraction <= h->last;
  h->last = hit->fraction;
  ++h->count;
  return h->answer == 2.0f ? hit->fraction : h->answer;
}

static void callback_results_control_the_query(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  for (int i = 0; i < 20; ++i) {
    stand(world, &ball, unturned(tn_p3(0.0, i * 7 % 20, 0.0)));
  }
  float answers[4] = {1.0f, -1.0f, 0.0f, 0.5f};
  int counts[4] = {20, 20, 1, -1};
  tn_pos from = tn_p3(0.0, -10.0, 0.0);
  tn_vec3 way = tn_v3(0.0f, 40.0f, 0.0f);
  for (int i = 0; i < 4; ++i) {
    for (int casts = 0; casts < 2; ++casts) {
      heard h = {.answer = answers[i], .last = 1.0f};
      if (casts) {
        tn_world_cast_all(world, &ball, unturned(from), way, tn_default_query_filter(), hear, &h);
      } else {
        tn_world_ray_all(world, from, way, tn_default_query_filter(), hear, &h);
      }
      assert_true(counts[i] < 0 ? h.count >= 10 && h.count < 20 : h.count == counts[i]);
    }
  }
  heard cut = {.answer = 2.0f, .last = 1.0f, .ordered = true};
  tn_world_ray_all(world, from, way, tn_default_query_filter(), hear, &cut);
  assert_true(cut.ordered);
  assert_close(cut.last, 9.5 / 40.0, 1e-6);
  tn_world_destroy(world);
}

static void ties_go_to_the_first_created(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  tn_shape_id first = stand(world, &ball, unturned(origin));
  for (int i = 0; i < 30; ++i) {
    stand(world, &ball, unturned(origin));
  }
  tn_query_filter all = tn_default_query_filter();
  assert_true(TN_SAME_ID(ray_down(world, all).shape, first));
  tn_pos near = tn_p3(0.0, 1.0, 0.0);
  assert_true(TN_SAME_ID(tn_world_closest_point(world, near, 9.0f, all).shape, first));
  assert_true(TN_SAME_ID(tn_world_closest_point(world, origin, 9.0f, all).shape, first));
  tn_hit inner = tn_world_ray(world, origin, tn_v3(1.0f, 0.0f, 0.0f), all);
  assert_true(TN_SAME_ID(inner.shape, first));
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Bad input

static void bad_rays_are_reported(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_query_filter all = tn_default_query_filter();
  tn_vec3 way = {1.0f, 0.0f, 0.0f};
  tn_pos nowhere = tn_p3((double)NAN, 0.0, 0.0);
  assert_false(tn_world_ray(world, nowhere, way, all).hit);
  assert_message("tn_world_ray: the start is not finite");
  assert_false(tn_world_ray(world, origin, tn_v3(0.0f, INFINITY, 0.0f), all).hit);
  assert_message("tn_world_ray: the way is not finite");
  assert_false(tn_world_ray(NULL, origin, way, all).hit);
  tn_world_ray_all(world, origin, way, all, NULL, NULL);
  assert_message("tn_world_ray_all: the callback is null");
  tn_hit hit;
  tn_world_rays(world, &origin, NULL, 1, all, &hit);
  assert_message("must not be null");
  tn_world_rays(world, &origin, &way, -1, all, &hit);
  assert_message("count is negative");
  memset(&hit, 1, sizeof hit);
  tn_world_rays(world, &nowhere, &way, 1, all, &hit);
  assert_message("tn_world_rays: the start is not finite");
  assert_false(hit.hit);
  assert_false(tn_world_closest_point(world, nowhere, 1.0f, all).hit);
  assert_message("the point is not finite");
  assert_false(tn_world_closest_point(world, origin, -1.0f, all).hit);
  assert_message("must not be negative");
  assert_false(tn_world_closest_point(NULL, origin, 1.0f, all).hit);
  assert_false(tn_world_ray(world, origin, tn_v3(0.0f, 0.0f, 0.0f), all).hit); // length 0 is valid
  tn_world_destroy(world);
}

static void bad_solids_are_reported(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_query_filter all = tn_default_query_filter();
  tn_vec3 way = {1.0f, 0.0f, 0.0f};
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_SPHERE);
  tn_transform here = unturned(origin), unset = {0};
  assert_false(tn_world_cast(world, NULL, here, way, all).hit);
  assert_message("tn_world_cast: the definition is null");
  def.radius = 0.0f;
  assert_false(tn_world_cast(world, &def, here, way, all).hit);
  assert_message("tn_world_cast: radius");
  def = tn_default_shape_def(TN_SHAPE_PLANE);
  assert_false(tn_world_cast(world, &def, here, way, all).hit);
  assert_message("must be a sphere");
  assert_int_equal(tn_world_overlap(world, &def, here, all, NULL, 0), 0);
  assert_message("tn_world_overlap: the shape must be");
  memset(&def, 0, sizeof def);
  tn_world_cast_all(world, &def, here, way, all, hear, NULL);
  assert_message("tn_default_shape_def");
  def = tn_default_shape_def(TN_SHAPE_SPHERE);
  assert_int_equal(tn_world_overlap(world, &def, unset, all, NULL, 0), 0);
  assert_message("not a rotation");
  tn_world_cast_all(world, &def, here, way, all, NULL, NULL);
  assert_message("callback is null");
  assert_false(tn_world_cast(world, &def, here, tn_v3(NAN, 0.0f, 0.0f), all).hit);
  assert_message("way is not finite");
  assert_int_equal(
      tn_world_overlap_box(world, tn_p3(1.0, 0.0, 0.0), tn_p3(0.0, 0.0, 0.0), all, NULL, 0), 0);
  assert_message("lower not above upper");
  assert_false(tn_world_cast(NULL, &def, here, way, all).hit);
  assert_int_equal(tn_world_overlap(NULL, &def, here, all, NULL, 0), 0);
  assert_int_equal(tn_world_overlap_box(NULL, origin, origin, all, NULL, 0), 0);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Threads

#define RAYS 500

typedef struct ray_batch {
  const tn_world *world;
  tn_pos from[RAYS];
  tn_vec3 way[RAYS];
  tn_hit hits[RAYS];
} ray_batch;

static void *cast_rays(void *context)
{
  ray_batch *b = context;
  tn_world_rays(b->world, b->from, b->way, RAYS, tn_default_query_filter(), b->hits);
  return NULL;
}

static void several_threads_may_query_at_once(void **state)
{
  (void)state;
  uint32_t random = 3;
  scene s = random_scene(origin, 5.0f, 200, &random);
  ray_batch *batch = calloc(4, sizeof *batch);
  assert_non_null(batch);
  for (int i = 0; i < RAYS; ++i) {
    batch[0].from[i] = tn_offset(origin, test_vector(&random, 8.0f));
    batch[0].way[i] = test_vector(&random, 10.0f);
  }
  batch[0].world = s.world;
  pthread_t threads[4];
  for (int i = 1; i < 4; ++i) {
    batch[i] = batch[0];
    assert_int_equal(pthread_create(&threads[i], NULL, cast_rays, &batch[i]), 0);
  }
  cast_rays(&batch[0]);
  for (int i = 1; i < 4; ++i) {
    pthread_join(threads[i], NULL);
    for (int k = 0; k < RAYS; ++k) {
      const tn_hit *a = &batch[0].hits[k], *b = &batch[i].hits[k];
      assert_true(a->hit == b->hit && a->fraction == b->fraction);
      assert_true(TN_SAME_ID(a->shape, b->shape));
    }
  }
  free(batch);
  tn_world_destroy(s.world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rays_match_marching),
      cmocka_unit_test(rays_are_exact_far_from_the_origin),
      cmocka_unit_test(rays_along_axes_and_edges_do_not_slip_through),
      cmocka_unit_test(long_rays_are_exact_where_they_hit),
      cmocka_unit_test(the_closest_of_many_shapes_is_hit),
      cmocka_unit_test(casts_follow_closed_forms),
      cmocka_unit_test(casts_stop_where_overlap_begins),
      cmocka_unit_test(the_closest_point_is_on_the_surface_and_nothing_is_closer),
      cmocka_unit_test(balls_overlap_what_is_closer_than_their_radius),
      cmocka_unit_test(box_overlaps_find_shapes_inside),
      cmocka_unit_test(surfaces_are_found),
      cmocka_unit_test(casts_from_touching_shapes_may_slide_and_rise),
      cmocka_unit_test(query_filters_select_shapes),
      cmocka_unit_test(callback_results_control_the_query),
      cmocka_unit_test(ties_go_to_the_first_created),
      cmocka_unit_test(bad_rays_are_reported),
      cmocka_unit_test(bad_solids_are_reported),
      cmocka_unit_test(several_threads_may_query_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
