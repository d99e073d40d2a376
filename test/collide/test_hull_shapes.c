// Hulls as shapes: a limit on their vertices, and points that have no hull.
#include "hull_shapes.h"

#include "convex_oracle.h"

#include <string.h>

static void hulls_with_a_limit(void **state)
{
  (void)state;
  enum { COUNT = 600 };
  tn_vec3 points[COUNT];
  uint64_t seed = 4;
  for (int i = 0; i < COUNT; i++) {
    d3 way = d3_unit(d3_from(random_in_ball(&seed, 1.0)));
    points[i] = tn_v3((float)way.x, (float)(2.0 * way.y), (float)way.z);
  }
  convex_hull *whole = make_convex(points, COUNT, 255);
  for (int limit = 4; limit <= 64; limit *= 2) {
    convex_hull *c = make_convex(points, COUNT, limit);
    assert_in_range(c->vertex_count, 4, limit);
    assert_int_equal(c->vertex_count - c->edge_count / 2 + c->face_count, 2);
    for (int i = 0; i < c->vertex_count; i++) {
      assert_true(d3_length(d3_from(c->vertices[i])) < 2.000001); // a vertex is one of the points
    }
    ASSERT_NEAR(height_over_planes(c, d3_from(c->center)), -(double)c->inner_radius, 1e-3);
    assert_true(c->inner_radius > 0.0f && c->inner_radius < whole->inner_radius + 0.05f);
    convex_hull_destroy(c, heap);
  }
  convex_hull *c = make_convex(points, COUNT, 64);
  assert_true(c->inner_radius > 0.85f); // the sphere has radius 1
  convex_hull_destroy(c, heap);
  convex_hull_destroy(whole, heap);
}

static void *no_memory(void *context, size_t size)
{
  (void)context;
  (void)size;
  return NULL;
}

static void degenerate_hulls_are_refused(void **state)
{
  (void)state;
  tn_vec3 flat[5] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 1}, {0.5f, 0, 2}};
  tn_vec3 good[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  collide_allocator none = {no_memory, give_memory, NULL};
  char why[128];
  assert_null(convex_hull_create(flat, 5, 0, heap, why, sizeof why));
  assert_non_null(strstr(why, "plane"));
  assert_null(convex_hull_create(NULL, 0, 0, heap, why, sizeof why));
  assert_null(convex_hull_create(good, 4, 3, heap, why, sizeof why));
  assert_non_null(strstr(why, "max_vertices"));
  assert_null(convex_hull_create(good, 4, 256, heap, why, sizeof why));
  assert_null(convex_hull_create(good, 4, 0, none, why, sizeof why));
  assert_non_null(strstr(why, "memory"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hulls_with_a_limit),
      cmocka_unit_test(degenerate_hulls_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
