// Convex hulls: closed, convex, with vertices from the given points and none outside.
#include "solids.h"

#include "collide/vector_rows.h"

#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static double points_extent(const tn_vec3 *points, int count)
{
  double extent = 0.0;
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < i; k++) {
      tn_vec3 d = tn_sub(points[i], points[k]);
      double size = fmax(fabs((double)d.x), fmax(fabs((double)d.y), fabs((double)d.z)));
      extent = size > extent ? size : extent;
    }
  }
  return extent;
}

static d3 position_of(tn_vec3 p)
{
  return (d3){(double)p.x, (double)p.y, (double)p.z};
}

static const hull_edge *edge_after(const hull *h, int edge)
{
  const hull_face *face = &h->faces[h->edges[edge].face];
  return edge + 1 < face->first_edge + face->edge_count ? &h->edges[edge + 1]
                                                        : &h->edges[face->first_edge];
}

static void assert_closed(const hull *h)
{
  assert_int_equal(h->vertex_count - h->edge_count / 2 + h->face_count, 2);
  int next_edge = 0;
  for (int i = 0; i < h->face_count; i++) {
    assert_int_equal(h->faces[i].first_edge, next_edge);
    assert_true(h->faces[i].edge_count >= 3);
    for (int k = 0; k < h->faces[i].edge_count; k++) {
      assert_int_equal(h->edges[next_edge + k].face, i);
    }
    next_edge += h->faces[i].edge_count;
  }
  assert_int_equal(h->edge_count, next_edge);
  for (int i = 0; i < h->edge_count; i++) {
    int twin = h->edges[i].twin;
    assert_in_range(twin, 0, h->edge_count - 1);
    assert_in_range(h->edges[i].origin, 0, h->vertex_count - 1);
    assert_int_equal(h->edges[twin].twin, i);
    assert_int_not_equal(h->edges[twin].face, h->edges[i].face);
    assert_int_equal(h->edges[twin].origin, edge_after(h, i)->origin);
  }
}

// Faces point outward, are convex, and have their corners in their planes.
static void assert_faces(const hull *h, double flatness, double rounding)
{
  for (int i = 0; i < h->edge_count; i++) {
    const hull_face *face = &h->faces[h->edges[i].face];
    const hull_edge *middle = edge_after(h, i);
    d3 a = h->vertices[h->edges[i].origin], b = h->vertices[middle->origin];
    d3 c = h->vertices[edge_after(h, (int)(middle - h->edges))->origin];
    ASSERT_NEAR(d3_dot(face->normal, face->normal), 1.0, 1e-14);
    double height = d3_dot(face->normal, a) - face->offset;
    assert_true(height <= rounding && height >= -flatness - rounding);
    d3 along = d3_sub(c, a);
    double reflex = d3_dot(face->normal, d3_cross(along, d3_sub(b, a)));
    assert_true(reflex <= (flatness + rounding) * sqrt(d3_dot(along, along)));
  }
}

static void assert_contains(const hull *h, const tn_vec3 *points, int count, double rounding)
{
  for (int i = 0; i < h->face_count; i++) {
    for (int k = 0; k < count; k++) {
      double height = d3_dot(h->faces[i].normal, position_of(points[k])) - h->faces[i].offset;
      if (height > rounding) {
        fail_msg("point %d is %g above face %d, more than %g", k, height, i, rounding);
      }
    }
  }
}

// Together these prove it is the hull: it is closed and convex, its vertices are given points, and
// no point is outside.
static void assert_is_hull(const hull *h, const tn_vec3 *points, int count, double flatness)
{
  double extent = points_extent(points, count);
  double rounding = 7e-9 * extent + 1e-6 * hull_rounding_error(points, count);
  assert_true(h->vertex_count >= 4 && h->face_count >= 4);
  assert_closed(h);
  assert_faces(h, flatness, rounding);
  assert_contains(h, points, count, rounding);
  for (int i = 0; i < h->vertex_count; i++) {
    d3 d = d3_sub(h->vertices[i], position_of(points[h->sources[i]]));
    assert_true(sqrt(d3_dot(d, d)) <= rounding);
    assert_true(i == 0 || h->sources[i] > h->sources[i - 1]);
  }
}

static hull build(const tn_vec3 *points, int count, double flatness)
{
  hull h;
  char why[128];
  if (!hull_build(points, count, flatness, &h, why, sizeof why)) {
    fail_msg("no hull of %d points: %s", count, why);
  }
  return h;
}

static double hull_volume(const hull *h)
{
  double volume = 0.0;
  for (int i = 0; i < h->face_count; i++) {
    const hull_edge *loop = h->edges + h->faces[i].first_edge;
    d3 a = d3_sub(h->vertices[loop[0].origin], h->vertices[0]);
    for (int k = 2; k < h->faces[i].edge_count; k++) {
      d3 b = d3_sub(h->vertices[loop[k - 1].origin], h->vertices[0]);
      d3 c = d3_sub(h->vertices[loop[k].origin], h->vertices[0]);
      volume += d3_dot(a, d3_cross(b, c)) / 6.0;
    }
  }
  return volume;
}

static void assert_counts(const hull *h, int vertices, int edges, int faces)
{
  assert_int_equal(h->vertex_count, vertices);
  assert_int_equal(h->edge_count, 2 * edges);
  assert_int_equal(h->face_count, faces);
}

enum { SIDE = 5, BOX_POINTS = 2 * SIDE * SIDE * SIDE };

// A box of 4 x 4 x 2: its corners, points inside, on faces and on edges, all of them twice.
static void fill_box(tn_vec3 *points)
{
  for (int i = 0; i < BOX_POINTS; i++) {
    points[i] =
        tn_v3((float)(i % SIDE), (float)(i / SIDE % SIDE), 0.5f * (float)(i / SIDE / SIDE % SIDE));
  }
}

static void test_hull_of_box(void **state)
{
  (void)state;
  tn_vec3 points[BOX_POINTS];
  fill_box(points);
  hull h = build(points, BOX_POINTS, 0.0);
  assert_is_hull(&h, points, BOX_POINTS, 0.0);
  assert_counts(&h, 8, 12, 6);
  ASSERT_NEAR(hull_volume(&h), 32.0, 1e-12);
  hull_free(&h);
}

// Rounding bends the faces of a rotated box; a flatness tolerance of that size merges them again.
static void test_hull_of_rotated_box(void **state)
{
  (void)state;
  uint64_t random = 3;
  for (int i = 0; i < 200; i++) {
    tn_vec3 points[BOX_POINTS];
    double q[4];
    fill_box(points);
    random_quat(&random, q);
    place_points(points, BOX_POINTS, random_vector(&random, i % 2 ? 100.0 : 1.0), q);
    double rounding = hull_rounding_error(points, BOX_POINTS);
    hull h = build(points, BOX_POINTS, rounding);
    assert_is_hull(&h, points, BOX_POINTS, rounding);
    assert_counts(&h, 8, 12, 6);
    ASSERT_NEAR(hull_volume(&h), 32.0, 64.0 * rounding);
    hull_free(&h);
  }
}

// Two points near a corner of the top face whose triangles cannot be merged with it in a convex
// way. The top face stays whole.
static void test_faces_that_cannot_merge_stay_whole(void **state)
{
  (void)state;
  tn_vec3 points[10];
  for (int i = 0; i < 8; i++) {
    points[i] = tn_v3(i & 1 ? 2.0f : -2.0f, i & 2 ? 2.0f : -2.0f, i & 4 ? 0.0f : -8.0f);
  }
  points[8] = tn_v3(3.0f, 3.0f, -0.5f);
  points[9] = tn_v3(3.0f, 2.5f, -0.25f);
  hull h = build(points, 10, 0.25);
  assert_is_hull(&h, points, 10, 0.25);
  int top_corners = 0;
  for (int i = 0; i < h.face_count; i++) {
    top_corners += h.faces[i].normal.z == 1.0 ? h.faces[i].edge_count : 0;
  }
  assert_int_equal(top_corners, 4);
  hull_free(&h);
}

static void test_hull_of_ball(void **state)
{
  (void)state;
  enum { COUNT = 2000 };
  static tn_vec3 points[COUNT];
  uint64_t random = 4;
  for (int i = 0; i < COUNT; i++) {
    points[i] = random_in_ball(&random, 2.0);
  }
  hull h = build(points, COUNT, 0.0);
  assert_is_hull(&h, points, COUNT, 0.0);
  double whole = 32.0 * pi / 3.0;
  assert_true(hull_volume(&h) < whole && hull_volume(&h) > 0.9 * whole);
  hull_free(&h);
}

// If no four points are coplanar, every triangle with all points on one side is a face.
static double volume_by_all_triangles(const tn_vec3 *points, int count)
{
  double volume = 0.0;
  for (int i = 0; i < count; i++) {
    for (int j = i + 1; j < count; j++) {
      for (int k = j + 1; k < count; k++) {
        d3 a = position_of(points[i]), b = position_of(points[j]), c = position_of(points[k]);
        d3 normal = d3_cross(d3_sub(b, a), d3_sub(c, a));
        int above = 0, below = 0;
        for (int p = 0; p < count; p++) {
          double height = d3_dot(normal, d3_sub(position_of(points[p]), a));
          above += p != i && p != j && p != k && height > 0.0;
          below += p != i && p != j && p != k && height < 0.0;
        }
        if (above == 0 || below == 0) {
          volume += (above == 0 ? 1.0 : -1.0) * d3_dot(normal, a) / 6.0;
        }
      }
    }
  }
  return volume;
}

static void test_hull_volume(void **state)
{
  (void)state;
  uint64_t random = 5;
  for (int i = 0; i < 300; i++) {
    tn_vec3 points[14];
    int count = random_int(&random, 4, 14);
    random_points(&random, points, count);
    hull h = build(points, count, 0.0);
    ASSERT_NEAR(hull_volume(&h), volume_by_all_triangles(points, count), 1e-7);
    hull_free(&h);
  }
}

// Clouds that span little volume or none: all points in few planes.
typedef enum cloud {
  CLOUD_GRID,
  CLOUD_BALL,
  CLOUD_SPHERE,
  CLOUD_NOISY_GRID,
  CLOUD_PLATE,
  CLOUD_SLAB,
  CLOUD_PRISM,
  CLOUD_KINDS
} cloud;

static tn_vec3 grid_point_within(uint64_t *random, int steps)
{
  float x = (float)random_int(random, -steps, steps), y = (float)random_int(random, -steps, steps);
  return tn_v3(x, y, (float)random_int(random, -steps, steps));
}

static tn_vec3 cloud_point(uint64_t *random, cloud kind, int steps)
{
  static const double noise[4] = {1e-3, 1e-5, 1e-6, 1e-7};
  tn_vec3 p = random_in_ball(random, 1.0);
  double angle = 2.0 * pi * random_int(random, 1, 3 * steps) / (3 * steps);
  switch (kind) {
  case CLOUD_GRID:
    return grid_point_within(random, steps);
  case CLOUD_SPHERE:
    return tn_scale(1.0f / (tn_length(p) + 1e-3f), p);
  case CLOUD_NOISY_GRID:
    return tn_add(grid_point_within(random, steps), random_vector(random, noise[steps - 1]));
  case CLOUD_PLATE:
    p = grid_point_within(random, steps);
    return tn_v3(p.x, 0.02f * (float)random_int(random, 0, 3 * steps), p.z);
  case CLOUD_SLAB:
    return tn_v3(p.x, (float)random_int(random, 0, 1) * 1e-4f, p.z);
  case CLOUD_PRISM:
    return tn_v3((float)cos(angle), (float)random_int(random, -1, 1), (float)sin(angle));
  default:
    return p;
  }
}

// Whether points on a grid span a volume: their determinants are exact.
static bool spans_volume(const tn_vec3 *points, int count)
{
  for (int i = 1; i < count; i++) {
    for (int j = i + 1; j < count; j++) {
      for (int k = j + 1; k < count; k++) {
        tn_vec3 o = points[0];
        tn_vec3 n = tn_cross(tn_sub(points[i], o), tn_sub(points[j], o));
        if (tn_dot(n, tn_sub(points[k], o)) != 0.0f) {
          return true;
        }
      }
    }
  }
  return false;
}

static void fill_cloud(uint64_t *random, cloud kind, tn_vec3 *points, int count)
{
  int steps = random_int(random, 1, 4);
  for (int i = 0; i < count; i++) {
    bool again = i > 4 && random_int(random, 0, 9) == 0;
    points[i] = again ? points[random_int(random, 0, i - 1)] : cloud_point(random, kind, steps);
  }
}

static void scatter_cloud(uint64_t *random, int i, tn_vec3 *points, int count)
{
  static const float scales[4] = {1.0f, 1e-3f, 1e3f, 0.3f};
  float scale = scales[i % 4];
  double q[4] = {0.0, 0.0, 0.0, 1.0};
  if (i % 3 == 0) {
    random_quat(random, q);
  }
  for (int k = 0; k < count; k++) {
    points[k] = tn_scale(scale, points[k]);
  }
  place_points(points, count, random_vector(random, i % 5 == 0 ? 3.0 * (double)scale : 0.0), q);
}

// No point is far from the hull of the vertices that were kept.
static void assert_keeps_shape(const hull *h, const tn_vec3 *points, int count, double distance)
{
  tn_vec3 kept[60];
  for (int i = 0; i < h->vertex_count; i++) {
    kept[i] = points[h->sources[i]];
  }
  hull rest;
  char why[128];
  if (hull_build(kept, h->vertex_count, 0.0, &rest, why, sizeof why)) {
    assert_contains(&rest, points, count, distance);
    hull_free(&rest);
  }
}

// The hull is either no thicker than a few times the flatness, or about the same as before.
static void check_flat_hull(const tn_vec3 *points, int count, const hull *exact, double flatness)
{
  double extent = points_extent(points, count), layer = 6.0 * extent * extent * flatness;
  hull h;
  char why[128];
  if (!hull_build(points, count, flatness, &h, why, sizeof why)) {
    assert_true(hull_volume(exact) <= 4.0 * layer);
    return;
  }
  assert_is_hull(&h, points, count, flatness);
  assert_keeps_shape(&h, points, count, 2.0 * flatness);
  ASSERT_NEAR(hull_volume(&h), hull_volume(exact), layer);
  hull_free(&h);
}

static void test_hull_of_clouds(void **state)
{
  (void)state;
  static const double flatness[4] = {4e-5, 1e-3, 1e-2, 1e-1};
  uint64_t random = 6;
  int solid = 0;
  for (int i = 0; i < 6000; i++) {
    tn_vec3 points[60];
    int count = random_int(&random, 4, 60);
    cloud kind = i % 2 ? CLOUD_GRID : (cloud)(i / 2 % CLOUD_KINDS);
    fill_cloud(&random, kind, points, count);
    bool may_be_flat = kind >= CLOUD_NOISY_GRID, spans = true;
    if (kind == CLOUD_GRID) {
      spans = spans_volume(points, count);
    }
    scatter_cloud(&random, i, points, count);
    hull h;
    char why[128];
    if (hull_build(points, count, 0.0, &h, why, sizeof why)) {
      assert_true(spans);
      assert_is_hull(&h, points, count, 0.0);
      check_flat_hull(points, count, &h, hull_rounding_error(points, count));
      double extent = points_extent(points, count);
      for (int k = 0; k < 4; k++) {
        check_flat_hull(points, count, &h, flatness[k] * extent);
      }
      hull_free(&h);
      solid++;
    } else {
      assert_true(may_be_flat || !spans);
      assert_non_null(strstr(why, "the points "));
    }
  }
  assert_true(solid > 5500);
}

static void assert_no_hull(const tn_vec3 *points, int count, const char *expected, int line)
{
  hull h;
  char why[128] = "";
  if (hull_build(points, count, 0.0, &h, why, sizeof why)) {
    fail_msg("line %d: there is a hull", line);
  }
  if (!strstr(why, expected)) {
    fail_msg("line %d: \"%s\" does not say \"%s\"", line, why, expected);
  }
  assert_null(h.vertices);
  assert_int_equal(h.face_count, 0);
}

static void test_no_hull(void **state)
{
  (void)state;
  enum { COUNT = 64 };
  uint64_t random = 7;
  tn_vec3 solid[COUNT], same[COUNT], line[COUNT], plane[COUNT];
  tn_vec3 u = random_vector(&random, 1.0), v = random_vector(&random, 1.0);
  random_points(&random, solid, COUNT);
  for (int i = 0; i < COUNT; i++) {
    float s = (float)random_between(&random, -1.0, 1.0);
    float t = (float)random_between(&random, -1.0, 1.0);
    same[i] = tn_v3(1000.0f, nextafterf(1000.0f, 1e6f * s), nextafterf(1000.0f, 1e6f * t));
    line[i] = tn_add(v, tn_scale(s, u));
    plane[i] = tn_add(line[i], tn_scale(t, v));
  }
  assert_no_hull(NULL, COUNT, "0 points", __LINE__);
  assert_no_hull(solid, 0, "0 points", __LINE__);
  assert_no_hull(solid, -1, "-1 points", __LINE__);
  assert_no_hull(solid, 3, "3 points", __LINE__);
  assert_no_hull(same, COUNT, "coincide", __LINE__);
  assert_no_hull(line, COUNT, "on one line", __LINE__);
  assert_no_hull(plane, COUNT, "in one plane", __LINE__);
  solid[5].y = NAN;
  assert_no_hull(solid, COUNT, "point 5 is not finite", __LINE__);
  solid[5].y = INFINITY;
  assert_no_hull(solid, COUNT, "point 5 is not finite", __LINE__);
}

// The same bits with every compiler and machine.
static void test_same_bits(void **state)
{
  (void)state;
  uint64_t random = 8, hash = UINT64_C(0xcbf29ce484222325);
  for (int i = 0; i < 500; i++) {
    tn_vec3 points[40];
    random_points(&random, points, 40);
    hull h = build(points, 40, i % 2 ? 0.1 : 0.0);
    hash_bytes(&hash, h.vertices, (size_t)h.vertex_count * sizeof *h.vertices);
    hash_bytes(&hash, h.edges, (size_t)h.edge_count * sizeof *h.edges);
    for (int k = 0; k < h.face_count; k++) {
      hash_bytes(&hash, &h.faces[k].normal, sizeof h.faces[k].normal);
      hash_bytes(&hash, &h.faces[k].offset, sizeof h.faces[k].offset);
    }
    hull_free(&h);
  }
  assert_hash(hash, UINT64_C(0xf71f7e0434a1f485));
}

// Clouds, and grids in which many vertices are equally far; all directions, and along the axes. The
// first of the furthest is found, in float and in double, as by comparing one by one.
static void furthest_vertices_are_exact(void **state)
{
  (void)state;
  uint64_t seed = 31;
  for (int i = 0; i < 20000; i++) {
    tn_vec3 points[VECTOR_ROWS_MAX];
    alignas(16) float memory[3 * VECTOR_ROWS_MAX];
    int count = random_int(&seed, 1, i % 50 ? 40 : VECTOR_ROWS_MAX);
    double size = random_int(&seed, 0, 9) ? 1.0 : random_int(&seed, 0, 1) ? 1e-18 : 1e18;
    for (int k = 0; k < count; k++) {
      points[k] = random_vector(&seed, size);
      if (i % 3 == 0) { // a grid, some of it off by a rounding error
        points[k] = tn_v3(roundf(3.0f * points[k].x), roundf(3.0f * points[k].y),
                          nextafterf(roundf(3.0f * points[k].z), (float)random_int(&seed, -3, 3)));
      }
    }
    assert_true(vector_rows_size(count) <= sizeof memory);
    vector_rows rows = vector_rows_make(memory, points, sizeof *points, count);
    tn_vec3 d = random_vector(&seed, size);
    d = i % 4 == 0 ? tn_v3(d.x, 0.0f, i % 8 == 0 ? 0.0f : d.z) : d;
    d3 exact = {(double)d.x * (1.0 + 1e-9), (double)d.y, (double)d.z};
    int first = 0, first_exact = 0;
    float lowest = INFINITY, highest = -INFINITY, lo, hi;
    for (int k = 0; k < count; k++) {
      float p = tn_dot(d, points[k]);
      double q = d3_dot(exact, position_of(points[k]));
      first = p > tn_dot(d, points[first]) ? k : first;
      first_exact = q > d3_dot(exact, position_of(points[first_exact])) ? k : first_exact;
      lowest = p < lowest ? p : lowest;
      highest = p > highest ? p : highest;
    }
    assert_int_equal(vector_rows_furthest(&rows, d), first);
    assert_int_equal(vector_rows_furthest_exact(&rows, exact), first_exact);
    vector_rows_range(&rows, d, &lo, &hi);
    assert_true(lo == lowest && hi == highest);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hull_of_box),
      cmocka_unit_test(test_hull_of_rotated_box),
      cmocka_unit_test(test_faces_that_cannot_merge_stay_whole),
      cmocka_unit_test(test_hull_of_ball),
      cmocka_unit_test(test_hull_volume),
      cmocka_unit_test(test_hull_of_clouds),
      cmocka_unit_test(test_no_hull),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(furthest_vertices_are_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
