// Narrow phase: degenerate pairs of convex shapes, extents, hulls with a limit of vertices.
#include "random_shapes.h"

static const tn_quat upright = {0.0f, 0.0f, 0.0f, 1.0f};
static const tn_vec3 up = {0.0f, 1.0f, 0.0f};

// ---------------------------------------------------------------------------------------------
// Degenerate cases

static bool is_sane(const manifold *m, double size)
{
  double length = d3_length(d3_from(m->normal));
  if (m->count < 1 || m->count > MAX_MANIFOLD_POINTS || !(fabs(length - 1.0) < 1e-5)) {
    return false;
  }
  for (int i = 0; i < m->count; i++) {
    const manifold_point *p = &m->points[i];
    double sum = d3_length(d3_from(p->a)) + d3_length(d3_from(p->b)) + fabs((double)p->gap);
    if (!(sum < 10.0 * size)) {
      return false;
    }
  }
  return true;
}

// Same position with equal or different rotation; exactly touching; very flat; very different
// sizes.
static void degenerate_pairs(void **state)
{
  (void)state;
  for (int i = 0; i < 40 * KINDS * KINDS; i++) {
    uint64_t stream = 900 + (uint64_t)i;
    float size = random_float(&stream, 0.01, 100.0), ratio = i % 3 == 0 ? 1e-3f : 1.0f;
    geometry a = random_geometry(&stream, kinds[i % KINDS], size);
    geometry b = random_geometry(&stream, kinds[i / KINDS % KINDS], ratio * size);
    if (i % 4 == 0) {
      a.half_extents.y *= 0.001f, a.half_length *= 0.001f;
    }
    if (a.kind == b.kind && i % 2 == 0 && a.kind != TN_SHAPE_HULL) {
      b = a;
    }
    pose at = {{0.0f, 0.0f, 0.0f}, i % 5 == 0 ? random_rotation(&stream) : upright};
    if (i % 7 == 0) {
      at.p =
          tn_v3(0.0f, convex_support(&a, up).y - convex_support(&b, tn_scale(-1.0f, up)).y, 0.0f);
    }
    manifold m;
    separation r = convex_distance(&a, &b, at);
    bool flat = a.kind == GEOMETRY_TRIANGLE || b.kind == GEOMETRY_TRIANGLE;
    double reach = (double)geometry_bounding_radius(&a) + (double)geometry_bounding_radius(&b);
    assert_true(isfinite(r.distance) && fabs(d3_length(d3_from(r.normal)) - 1.0) < 1e-5);
    bool found = collide_convex(&a, &b, at, 1e-4f * size, &m);
    if (!flat || found) {
      assert_true(!found || is_sane(&m, reach));
    }
    if (r.distance <= 0.0f) {
      assert_true(found);
    }
    solid sa, sb;
    solid_make(&sa, &a, (pose){{0}, upright});
    solid_make(&sb, &b, at);
    ASSERT_NEAR(solids_apart(&sa, &sb, d3_unit(d3_from(r.normal))), r.distance, 3e-6 * reach);
    free_geometry(&a);
    free_geometry(&b);
  }
}

// A triangle pushes a shape to the side of its centre, by no more than the penetration along the
// normal.
static void triangles_push_to_the_centre(void **state)
{
  (void)state;
  for (int i = 0; i < 20000; i++) {
    uint64_t stream = 31 + (uint64_t)i;
    int kind = kinds[i % KINDS];
    if (kind == GEOMETRY_TRIANGLE) {
      continue;
    }
    sample s;
    sample_make(&s, &stream, GEOMETRY_TRIANGLE, kind);
    manifold m;
    if (collide_convex(&s.a, &s.b, s.b_in_a, 0.0f, &m)) {
      tn_vec3 middle = kind == TN_SHAPE_HULL ? s.b.hull->center : tn_v3(0.0f, 0.0f, 0.0f);
      d3 center = solid_to_world(&s.sb, d3_from(middle)), n = s.sa.face[0];
      double side = d3_dot(n, d3_sub(center, d3_from(s.a.corner[0])));
      double pushed = d3_dot(n, d3_from(m.normal)) * (side >= 0.0 ? 1.0 : -1.0);
      if (fabs(side) > 1e-5 * s.scale && pushed < -1e-4) {
        fail_msg("seed %d: %s is pushed through, by %g", 31 + i, kind_name(kind), pushed);
      }
      double apart = solids_apart(&s.sa, &s.sb, d3_unit(d3_from(m.normal)));
      assert_true(deepest_gap(&m) >= apart - 0.06 * fabs(apart) - 3e-4 * s.scale);
    }
    sample_free(&s);
  }
}

// ---------------------------------------------------------------------------------------------
// Extents and hulls

static void extents_bound_the_shape(void **state)
{
  (void)state;
  for (int i = 0; i < 5000; i++) {
    uint64_t stream = 11 + (uint64_t)i;
    geometry g = random_geometry(&stream, kinds[i % KINDS], random_float(&stream, 0.01, 100.0));
    double reach = (double)geometry_bounding_radius(&g), tolerance = 1e-5 * reach;
    pose at = {random_vector(&stream, reach), random_rotation(&stream)};
    aabb bounds = geometry_aabb(&g, at);
    solid s;
    solid_make(&s, &g, at);
    ASSERT_NEAR(bounds.upper.x, solid_reach(&s, (d3){1.0, 0.0, 0.0}), tolerance);
    ASSERT_NEAR(bounds.upper.y, solid_reach(&s, (d3){0.0, 1.0, 0.0}), tolerance);
    ASSERT_NEAR(bounds.upper.z, solid_reach(&s, (d3){0.0, 0.0, 1.0}), tolerance);
    ASSERT_NEAR(bounds.lower.x, -solid_reach(&s, (d3){-1.0, 0.0, 0.0}), tolerance);
    ASSERT_NEAR(bounds.lower.y, -solid_reach(&s, (d3){0.0, -1.0, 0.0}), tolerance);
    ASSERT_NEAR(bounds.lower.z, -solid_reach(&s, (d3){0.0, 0.0, -1.0}), tolerance);
    d3 way = d3_unit(d3_from(random_vector(&stream, 1.0)));
    tn_vec3 furthest = convex_support(
        &g, pose_inverse_vector(at, tn_v3((float)way.x, (float)way.y, (float)way.z)));
    ASSERT_NEAR(d3_dot(way, solid_to_world(&s, d3_from(furthest))), solid_reach(&s, way),
                tolerance);
    assert_true(solid_reach(&s, way) - d3_dot(way, s.p) <= reach + tolerance);
    free_geometry(&g);
  }
}

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

static void reduction_keeps_the_deepest_point(void **state)
{
  (void)state;
  uint64_t seed = 8;
  for (int i = 0; i < 2000; i++) {
    manifold_point points[12] = {0};
    int count = random_int(&seed, 1, 12);
    float deepest = INFINITY;
    for (int k = 0; k < count; k++) {
      points[k].a = tn_v3(random_float(&seed, -1, 1), 0.0f, random_float(&seed, -1, 1));
      points[k].gap = random_float(&seed, -1, 1);
      points[k].feature = (uint32_t)k;
      deepest = fminf(deepest, points[k].gap);
    }
    manifold m = {.form = MANIFOLD_FLAT, .normal = up};
    manifold_reduce(&m, points, count);
    assert_in_range(m.count, count < 3 ? count : 3, count < 4 ? count : 4);
    ASSERT_NEAR(deepest_gap(&m), deepest, 3e-5);
    assert_true(goes_round(&m));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(degenerate_pairs),
      cmocka_unit_test(triangles_push_to_the_centre),
      cmocka_unit_test(extents_bound_the_shape),
      cmocka_unit_test(hulls_with_a_limit),
      cmocka_unit_test(degenerate_hulls_are_refused),
      cmocka_unit_test(reduction_keeps_the_deepest_point),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
