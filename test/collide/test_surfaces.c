// Meshes and height fields against closed forms, brute force and equivalent convex shapes.
#include "surfaces.h"

// ---------------------------------------------------------------------------------------------
// Surfaces

// Vertices and indices as the user gives them.
typedef struct soup {
  tn_vec3 *vertices;
  int *indices;
  int vertex_count, triangle_count;
} soup;

static soup soup_make(int vertices, int triangles)
{
  soup s = {calloc((size_t)vertices, sizeof(tn_vec3)), calloc(3 * (size_t)triangles, sizeof(int)),
            0, 0};
  return s;
}

static void soup_free(soup *s)
{
  free(s->vertices);
  free(s->indices);
}

static void soup_triangle(soup *s, int a, int b, int c)
{
  int *index = &s->indices[3 * s->triangle_count++];
  index[0] = a;
  index[1] = b;
  index[2] = c;
}

// A grid over [-size, size]^2 with displaced inner vertices and random diagonals; heights up to
// `rough`.
static soup soup_ground(int cells, float size, float jitter, float rough, uint32_t *seed)
{
  soup s = soup_make((cells + 1) * (cells + 1), 2 * cells * cells);
  float step = 2.0f * size / (float)cells;
  for (int i = 0; i <= cells; i++) {
    for (int k = 0; k <= cells; k++) {
      bool inner = i > 0 && k > 0 && i < cells && k < cells;
      float shift = inner ? jitter * step : 0.0f;
      tn_vec3 p = over(seed, shift, 0.0f, shift);
      p = tn_add(
          p, tn_v3(-size + step * (float)k, rough * test_random(seed), -size + step * (float)i));
      s.vertices[s.vertex_count++] = p;
    }
  }
  for (int i = 0; i < cells; i++) {
    for (int k = 0; k < cells; k++) {
      int a = i * (cells + 1) + k, b = a + 1, c = a + cells + 1, d = c + 1;
      if (test_index(seed, 2)) {
        soup_triangle(&s, a, c, b);
        soup_triangle(&s, d, b, c);
      } else {
        soup_triangle(&s, a, c, d);
        soup_triangle(&s, a, d, b);
      }
    }
  }
  return s;
}

// The surface of a box, each side divided into `cells` by `cells` squares, with vertices not shared
// between sides.
static soup soup_box(tn_vec3 h, int cells)
{
  int per_side = (cells + 1) * (cells + 1);
  soup s = soup_make(6 * per_side, 12 * cells * cells);
  for (int side = 0; side < 6; side++) {
    int axis = side / 2, first = s.vertex_count;
    float sign = side % 2 ? -1.0f : 1.0f;
    for (int i = 0; i <= cells; i++) {
      for (int k = 0; k <= cells; k++) {
        float u = 2.0f * (float)i / (float)cells - 1.0f, v = 2.0f * (float)k / (float)cells - 1.0f;
        float p[3];
        p[axis] = sign;
        p[(axis + 1) % 3] = u;
        p[(axis + 2) % 3] = sign * v;
        s.vertices[s.vertex_count++] = tn_v3(h.x * p[0], h.y * p[1], h.z * p[2]);
      }
    }
    for (int i = 0; i < cells; i++) {
      for (int k = 0; k < cells; k++) {
        int a = first + i * (cells + 1) + k, b = a + cells + 1;
        soup_triangle(&s, a, b, b + 1);
        soup_triangle(&s, a, b + 1, a + 1);
      }
    }
  }
  return s;
}

static mesh *mesh_of(const soup *s)
{
  char message[128] = "";
  mesh *m = mesh_create(s->vertices, s->vertex_count, s->indices, s->triangle_count,
                        memory_of(&endless), message, sizeof message);
  if (!m) {
    fail_msg("%s", message);
  }
  return m;
}

// ---------------------------------------------------------------------------------------------
// Input

static void bad_meshes_are_refused(void **state)
{
  (void)state;
  tn_vec3 v[4] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {2.0f, 0.0f, 0.0f}};
  int good[3] = {0, 1, 2}, high[3] = {0, 1, 4}, low[3] = {0, -1, 2}, line[6] = {0, 1, 3, 0, 0, 1};
  char text[128] = "";
  collide_allocator memory = memory_of(&endless);
  assert_refused(mesh_create(v, 4, good, 0, memory, text, sizeof text), text, "triangle");
  assert_refused(mesh_create(NULL, 4, good, 1, memory, text, sizeof text), text, "vertices");
  assert_refused(mesh_create(v, 4, high, 1, memory, text, sizeof text), text, "names vertex 4");
  assert_refused(mesh_create(v, 4, low, 1, memory, text, sizeof text), text, "names vertex -1");
  assert_refused(mesh_create(v, 4, line, 2, memory, text, sizeof text), text, "area");
  v[1].y = NAN;
  assert_refused(mesh_create(v, 4, good, 1, memory, text, sizeof text), text, "vertex 1");
  assert_int_equal(endless.held, 0);
}

static void bad_height_fields_are_refused(void **state)
{
  (void)state;
  float h[4] = {0.0f, 1.0f, 2.0f, 3.0f};
  char text[128] = "";
  collide_allocator memory = memory_of(&endless);
  assert_refused(height_field_create(h, 1, 4, 1.0f, 1.0f, memory, text, sizeof text), text,
                 "2 by 2");
  assert_refused(height_field_create(NULL, 2, 2, 1.0f, 1.0f, memory, text, sizeof text), text,
                 "2 by 2");
  assert_refused(height_field_create(h, 2, 2, 0.0f, 1.0f, memory, text, sizeof text), text,
                 "spacing");
  assert_refused(height_field_create(h, 2, 2, 1.0f, NAN, memory, text, sizeof text), text,
                 "spacing");
  assert_refused(height_field_create(h, 1 << 20, 1 << 20, 1.0f, 1.0f, memory, text, sizeof text),
                 text, "too many");
  h[3] = INFINITY;
  assert_refused(height_field_create(h, 2, 2, 1.0f, 1.0f, memory, text, sizeof text), text,
                 "height 3");
  assert_int_equal(endless.held, 0);
}

static void failed_allocations_create_nothing(void **state)
{
  (void)state;
  soup s = soup_box(tn_v3(1.0f, 1.0f, 1.0f), 2);
  float h[4] = {0.0f, 1.0f, 2.0f, 3.0f};
  for (int blocks = 0; blocks < 3; blocks++) {
    pool few = {blocks, 0};
    collide_allocator memory = memory_of(&few);
    char text[128] = "";
    mesh *m = mesh_create(s.vertices, s.vertex_count, s.indices, s.triangle_count, memory, text,
                          sizeof text);
    assert_int_equal(m != NULL, blocks >= 2);
    mesh_destroy(m, memory);
    few.until_failure = blocks;
    height_field *f = height_field_create(h, 2, 2, 1.0f, 1.0f, memory, text, sizeof text);
    assert_int_equal(f != NULL, blocks >= 1);
    height_field_destroy(f, memory);
    assert_int_equal(few.held, 0);
    assert_int_equal(text[0] != 0, blocks < 2);
  }
  soup_free(&s);
}

static void degenerate_triangles_are_dropped(void **state)
{
  (void)state;
  // A square of two triangles, one of them three times, once reversed, and three without area.
  tn_vec3 v[5] = {{0.0f, 0.0f, 0.0f},
                  {0.0f, 0.0f, 1.0f},
                  {1.0f, 0.0f, 0.0f},
                  {1.0f, 0.0f, 1.0f},
                  {0.5f, 0.0f, 0.5f}};
  int t[21] = {0, 1, 2, 3, 2, 1, 1, 2, 0, 2, 1, 0, 1, 4, 2, 0, 0, 1, 1, 1, 1};
  char text[128] = "";
  mesh *m = mesh_create(v, 5, t, 7, memory_of(&endless), text, sizeof text);
  assert_non_null(m);
  geometry a = {.kind = TN_SHAPE_MESH, .mesh = m}, b = ball(0.25f);
  manifold out[MAX_MANIFOLDS];
  int count = collide_mesh(&a, &b, at(tn_v3(0.5f, 0.2f, 0.5f), tn_quat_identity()), 0.1f, out,
                           MAX_MANIFOLDS);
  assert_int_equal(count, 1);
  assert_close(out[0].normal.y, 1.0, 1e-6);
  assert_close(out[0].points[0].gap, -0.05, 1e-6);
  mesh_destroy(m, memory_of(&endless));
}

// ---------------------------------------------------------------------------------------------
// Rays and closest points of meshes

// Moeller and Trumbore in double.
static double triangle_fraction(const tn_vec3 *v, const int *t, tn_vec3 from, tn_vec3 way)
{
  double p[3][3];
  for (int i = 0; i < 3; i++) {
    tn_vec3 c = v[t[i]];
    p[i][0] = (double)c.x;
    p[i][1] = (double)c.y;
    p[i][2] = (double)c.z;
  }
  double o[3] = {(double)from.x, (double)from.y, (double)from.z};
  double d[3] = {(double)way.x, (double)way.y, (double)way.z};
  double e[3], f[3], s[3];
  for (int i = 0; i < 3; i++) {
    e[i] = p[1][i] - p[0][i];
    f[i] = p[2][i] - p[0][i];
    s[i] = o[i] - p[0][i];
  }
  double h[3] = {d[1] * f[2] - d[2] * f[1], d[2] * f[0] - d[0] * f[2], d[0] * f[1] - d[1] * f[0]};
  double det = e[0] * h[0] + e[1] * h[1] + e[2] * h[2];
  double q[3] = {s[1] * e[2] - s[2] * e[1], s[2] * e[0] - s[0] * e[2], s[0] * e[1] - s[1] * e[0]};
  double u = (s[0] * h[0] + s[1] * h[1] + s[2] * h[2]) / det;
  double w = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
  double fraction = (f[0] * q[0] + f[1] * q[1] + f[2] * q[2]) / det;
  return u >= 0.0 && w >= 0.0 && u + w <= 1.0 && fraction >= 0.0 ? fraction : (double)INFINITY;
}

static void mesh_rays_match_brute_force(void **state)
{
  (void)state;
  uint32_t seed = 11;
  soup s = soup_ground(30, 5.0f, 0.3f, 1.5f, &seed);
  mesh *m = mesh_of(&s);
  int hits = 0, unsure = 0;
  for (int i = 0; i < 4000; i++) {
    tn_vec3 from = test_vector(&seed, 5.0f), way = test_vector(&seed, 15.0f);
    double expected = (double)INFINITY;
    for (int k = 0; k < s.triangle_count; k++) {
      expected = fmin(expected, triangle_fraction(s.vertices, &s.indices[3 * k], from, way));
    }
    ray_hit hit = {0};
    bool found = mesh_ray(m, from, way, 1.0f, &hit);
    if (found != (expected <= 1.0)) {
      unsure += 1; // hits the edge of a triangle
      continue;
    }
    hits += found;
    if (found) {
      assert_close(hit.fraction, expected, 1e-5);
      assert_true(tn_dot(hit.normal, way) <= 0.0f);
      assert_close(tn_length(hit.normal), 1.0, 1e-6);
    }
  }
  print_message("rays against %d triangles: %d of 4000 hit, %d unsure\n", s.triangle_count, hits,
                unsure);
  assert_true(hits > 800);
  assert_true(unsure <= 2);
  mesh_destroy(m, memory_of(&endless));
  soup_free(&s);
}

// Rays from inside a closed mesh towards its vertices and along its edges always hit.
static void rays_cannot_leave_closed_meshes(void **state)
{
  (void)state;
  uint32_t seed = 5;
  soup s = soup_box(tn_v3(1.0f, 0.7f, 1.3f), 5);
  mesh *m = mesh_of(&s);
  for (int i = 0; i < 20000; i++) {
    tn_vec3 from = test_vector(&seed, 0.6f);
    const int *t = &s.indices[3 * test_index(&seed, s.triangle_count)];
    float along = (float)test_index(&seed, 3) / 2.0f;
    tn_vec3 target =
        tn_add(tn_scale(along, s.vertices[t[0]]), tn_scale(1.0f - along, s.vertices[t[1]]));
    ray_hit hit;
    assert_true(mesh_ray(m, from, tn_sub(target, from), 1.5f, &hit));
    assert_close(hit.fraction, 1.0, 1e-5);
  }
  mesh_destroy(m, memory_of(&endless));
  soup_free(&s);
}

// The closest point of a triangle, by search over barycentric coordinates from a fine grid.
static double triangle_distance(const tn_vec3 *v, const int *t, tn_vec3 p)
{
  double best = (double)INFINITY, u = 0.0, w = 0.0, step = 0.5;
  for (int level = 0; level < 24; level++) {
    double next_u = u, next_w = w;
    for (int i = -2; i <= 2; i++) {
      for (int k = -2; k <= 2; k++) {
        double a = fmin(fmax(u + step * i / 2.0, 0.0), 1.0),
               b = fmin(fmax(w + step * k / 2.0, 0.0), 1.0 - a);
        double x = (double)v[t[0]].x * (1.0 - a - b) + (double)v[t[1]].x * a +
                   (double)v[t[2]].x * b - (double)p.x;
        double y = (double)v[t[0]].y * (1.0 - a - b) + (double)v[t[1]].y * a +
                   (double)v[t[2]].y * b - (double)p.y;
        double z = (double)v[t[0]].z * (1.0 - a - b) + (double)v[t[1]].z * a +
                   (double)v[t[2]].z * b - (double)p.z;
        double d = sqrt(x * x + y * y + z * z);
        if (d < best) {
          best = d;
          next_u = a;
          next_w = b;
        }
      }
    }
    u = next_u;
    w = next_w;
    step *= 0.6;
  }
  return best;
}

static void mesh_closest_matches_brute_force(void **state)
{
  (void)state;
  uint32_t seed = 3;
  soup s = soup_ground(8, 2.0f, 0.3f, 1.0f, &seed);
  mesh *m = mesh_of(&s);
  double worst = 0.0;
  for (int i = 0; i < 400; i++) {
    tn_vec3 p = test_vector(&seed, 3.0f);
    double expected = (double)INFINITY;
    for (int k = 0; k < s.triangle_count; k++) {
      expected = fmin(expected, triangle_distance(s.vertices, &s.indices[3 * k], p));
    }
    closest c = {0};
    assert_true(mesh_closest(m, p, 100.0f, &c));
    worst = fmax(worst, fabs((double)c.distance - expected));
    assert_close(apart(p, c.point), c.distance, 1e-6);
    assert_close(tn_length(tn_sub(tn_add(c.point, tn_scale(c.distance, c.normal)), p)), 0.0, 2e-6);
    assert_false(mesh_closest(m, p, c.distance * 0.99f, &c));
  }
  print_message("closest point of a mesh: off by %.1e at most\n", worst);
  assert_true(worst < 2e-4); // precision of the search
  mesh_destroy(m, memory_of(&endless));
  soup_free(&s);
}

// ---------------------------------------------------------------------------------------------
// Contacts on a flat mesh

// A point above the ground: anywhere, or exactly above a vertex or the middle of an edge.
static tn_vec3 place_over(const soup *s, uint32_t *seed, float size)
{
  const int *t = &s->indices[3 * test_index(seed, s->triangle_count)];
  int kind = test_index(seed, 3);
  tn_vec3 p =
      kind == 0 ? s->vertices[t[0]] : tn_scale(0.5f, tn_add(s->vertices[t[0]], s->vertices[t[1]]));
  if (kind == 2 || fabsf(p.x) > size || fabsf(p.z) > size) {
    p = over(seed, size, 0.0f, size);
  }
  return p;
}

static void assert_same_as_plane(const geometry *ground, const geometry *b, pose where,
                                 float margin, float scale)
{
  geometry plane = {.kind = TN_SHAPE_PLANE};
  manifold expected, out[MAX_MANIFOLDS];
  bool touches = collide_convex(&plane, b, where, margin, &expected);
  int count = collide_mesh(ground, b, where, margin, out, MAX_MANIFOLDS);
  assert_int_equal(count, touches);
  if (!touches) {
    return;
  }
  assert_int_equal(out[0].form, expected.form);
  assert_int_equal(out[0].count, expected.count);
  assert_true(apart(out[0].normal, expected.normal) < 1e-6f);
  for (int i = 0; i < expected.count; i++) {
    assert_close(out[0].points[i].gap, expected.points[i].gap, 2e-6f * scale);
    assert_true(apart(out[0].points[i].a, expected.points[i].a) < 4e-6f * scale);
    assert_true(apart(out[0].points[i].b, expected.points[i].b) < 4e-6f * scale);
    assert_int_equal(out[0].points[i].feature, expected.points[i].feature);
  }
}

static geometry scaled(geometry g, float scale)
{
  g.radius *= scale;
  g.half_length *= scale;
  g.half_extents = tn_scale(scale, g.half_extents);
  return g;
}

static void compare_with_plane(float scale, int poses, uint32_t seed)
{
  soup s = soup_ground(40, 4.0f * scale, 0.3f, 0.0f, &seed);
  geometry ground = {.kind = TN_SHAPE_MESH, .mesh = mesh_of(&s)};
  geometry shapes[4] = {ball(0.3f), rod(0.15f, 0.3f), block(0.4f, 0.2f, 0.3f), drum(0.25f, 0.2f)};
  for (int i = 0; i < poses; i++) {
    geometry b = scaled(shapes[i % 4], scale);
    tn_vec3 p = place_over(&s, &seed, 3.0f * scale);
    tn_quat q = test_rotation(&seed);
    if (test_index(&seed, 3) == 0) {
      q = tn_quat_identity();
    }
    // Places its lowest point slightly above or below the plane.
    aabb box = geometry_aabb(&b, at(p, q));
    p.y = -box.lower.y + scale * test_between(&seed, -0.05f, 0.03f);
    assert_same_as_plane(&ground, &b, at(p, q), 0.02f * scale, scale);
  }
  mesh_destroy((mesh *)(uintptr_t)ground.mesh, memory_of(&endless));
  soup_free(&s);
}

static void flat_meshes_act_like_planes(void **state)
{
  (void)state;
  compare_with_plane(1.0f, 8000, 17);
  compare_with_plane(1e-3f, 2000, 18);
  compare_with_plane(1e3f, 2000, 20);
}

// The same from below: triangles collide on both sides.
static void meshes_collide_on_both_sides(void **state)
{
  (void)state;
  uint32_t seed = 19;
  soup s = soup_ground(20, 2.0f, 0.3f, 0.0f, &seed);
  geometry ground = {.kind = TN_SHAPE_MESH, .mesh = mesh_of(&s)};
  geometry shapes[3] = {ball(0.3f), rod(0.15f, 0.3f), block(0.3f, 0.2f, 0.3f)};
  for (int i = 0; i < 600; i++) {
    const geometry *b = &shapes[i % 3];
    tn_vec3 p = place_over(&s, &seed, 1.0f);
    tn_quat q = test_rotation(&seed);
    float side = i % 2 ? 1.0f : -1.0f;
    p.y = side * 0.1f;
    manifold out[MAX_MANIFOLDS];
    int count = collide_mesh(&ground, b, at(p, q), 0.02f, out, MAX_MANIFOLDS), which = 0;
    assert_int_equal(count, 1);
    assert_close(out[0].normal.y, side, 1e-6);
    tn_vec3 down = pose_inverse_vector(at(p, q), tn_v3(0.0f, -side, 0.0f));
    float lowest = side * pose_point(at(p, q), convex_support(b, down)).y;
    assert_close(deepest(out, count, &which), lowest, 2e-6);
  }
  mesh_destroy((mesh *)(uintptr_t)ground.mesh, memory_of(&endless));
  soup_free(&s);
}

// ---------------------------------------------------------------------------------------------
// Contacts on outer edges: a mesh of a box against the box

static void box_meshes_act_like_boxes(void **state)
{
  (void)state;
  uint32_t seed = 23;
  tn_vec3 h = {1.0f, 0.7f, 1.3f}, where_to = {1.5f, 1.1f, 1.8f};
  geometry shapes[4] = {ball(0.3f), rod(0.15f, 0.3f), block(0.4f, 0.2f, 0.3f), drum(0.25f, 0.2f)};
  geometry solid = block(h.x, h.y, h.z);
  for (int cells = 1; cells <= 4; cells += 3) {
    soup s = soup_box(h, cells);
    geometry skin = {.kind = TN_SHAPE_MESH, .mesh = mesh_of(&s)};
    int touching = 0, off = 0;
    double worst_gap = 0.0;
    for (int i = 0; i < 8000; i++) {
      const geometry *b = &shapes[i % 4];
      tn_vec3 p = test_vector(&seed, 1.0f);
      p = tn_v3(p.x * where_to.x, p.y * where_to.y, p.z * where_to.z);
      pose where = at(p, test_rotation(&seed));
      separation expected = convex_distance(&solid, b, where);
      manifold out[MAX_MANIFOLDS];
      int count = collide_mesh(&skin, b, where, 0.05f, out, MAX_MANIFOLDS), which = 0;
      if (expected.distance > 0.05f + 1e-4f || expected.distance < -0.05f) {
        assert_true(count == 0 || expected.distance < 0.0f);
        continue;
      }
      if (expected.distance > 0.05f - 1e-4f) {
        continue;
      }
      assert_true(count > 0);
      touching += 1;
      float gap = deepest(out, count, &which);
      double error = fabs((double)gap - (double)expected.distance);
      worst_gap = fmax(worst_gap, expected.distance > 0.0f ? error : 0.0);
      if (error > 2e-3 || apart(out[which].normal, expected.normal) > 0.05f) {
        off += 1;
      }
      if (expected.distance > 1e-3f && b->kind == TN_SHAPE_SPHERE) {
        assert_true(apart(out[which].normal, expected.normal) < 1e-3f);
      }
    }
    print_message(
        "a box of %d triangles: %d contacts, gaps off by %.1e when apart; the way out of an "
        "overlap is another one in %d\n",
        s.triangle_count, touching, worst_gap, off);
    assert_true(touching > 500);
    assert_true(worst_gap < 1e-3);
    assert_true(100 * off < touching);
    mesh_destroy((mesh *)(uintptr_t)skin.mesh, memory_of(&endless));
    soup_free(&s);
  }
}

// On rough ground the deepest contact of a ball is at the closest point.
static void deepest_contact_of_a_ball_is_the_closest_point(void **state)
{
  (void)state;
  uint32_t seed = 67;
  soup s = soup_ground(30, 4.0f, 0.3f, 0.3f, &seed);
  geometry ground = {.kind = TN_SHAPE_MESH, .mesh = mesh_of(&s)}, b = ball(0.4f);
  int touching = 0;
  float worst = 0.0f;
  for (int i = 0; i < 6000; i++) {
    tn_vec3 p = over(&seed, 4.2f, test_between(&seed, -0.6f, 0.9f), 4.2f);
    closest c = {0};
    bool near = mesh_closest(ground.mesh, p, 0.43f, &c);
    manifold out[MAX_MANIFOLDS];
    int count = collide_mesh(&ground, &b, at(p, tn_quat_identity()), 0.03f, out, MAX_MANIFOLDS),
        which = 0;
    if (fabsf(c.distance - 0.43f) < 1e-4f) {
      continue;
    }
    assert_int_equal(count > 0, near);
    if (!near || c.distance < 0.1f) {
      continue;
    }
    touching += 1;
    float off = deepest(out, count, &which) - (c.distance - 0.4f);
    worst = fmaxf(worst, fabsf(off));
  }
  print_message("balls on rough ground: %d contacts, deepest gaps off by %.1e\n", touching,
                (double)worst);
  assert_true(touching > 1000);
  assert_true(worst < 2e-6f);
  mesh_destroy((mesh *)(uintptr_t)ground.mesh, memory_of(&endless));
  soup_free(&s);
}

// A floor and a wall that meet at x = 0, of small triangles.
static soup soup_corner(int cells, float size)
{
  soup s = soup_make(2 * (cells + 1) * (cells + 1), 4 * cells * cells);
  float step = size / (float)cells;
  for (int side = 0; side < 2; side++) {
    int first = s.vertex_count;
    for (int i = 0; i <= cells; i++) {
      for (int k = 0; k <= cells; k++) {
        float u = step * (float)k, z = step * (float)i - 0.5f * size;
        s.vertices[s.vertex_count++] = side ? tn_v3(0.0f, u, z) : tn_v3(u, 0.0f, z);
      }
    }
    for (int i = 0; i < cells; i++) {
      for (int k = 0; k < cells; k++) {
        int a = first + i * (cells + 1) + k, b = a + cells + 1;
        soup_triangle(&s, a, side ? a + 1 : b, b + 1);
        soup_triangle(&s, a, b + 1, side ? b : a + 1);
      }
    }
  }
  return s;
}

// Deep in a corner there are contacts with the floor and the wall, and no other normals.
static void corners_have_two_normals(void **state)
{
  (void)state;
  uint32_t seed = 29;
  soup s = soup_corner(20, 4.0f);
  geometry room = {.kind = TN_SHAPE_MESH, .mesh = mesh_of(&s)};
  geometry shapes[3] = {ball(0.3f), rod(0.15f, 0.3f), block(0.4f, 0.25f, 0.3f)};
  for (int i = 0; i < 3000; i++) {
    const geometry *b = &shapes[i % 3];
    tn_quat q = test_rotation(&seed);
    aabb box = geometry_aabb(b, at(zero, q));
    float sunk = test_between(&seed, -0.004f, 0.004f), into = test_between(&seed, -0.004f, 0.004f);
    pose where =
        at(tn_v3(-box.lower.x - into, -box.lower.y - sunk, test_between(&seed, -1.0f, 1.0f)), q);
    manifold out[MAX_MANIFOLDS];
    int count = collide_mesh(&room, b, where, 0.01f, out, MAX_MANIFOLDS);
    assert_int_equal(count, 2);
    for (int k = 0; k < 2; k++) {
      int which = 0;
      bool floor = out[k].normal.y > 0.5f;
      assert_close(floor ? out[k].normal.y : out[k].normal.x, 1.0, 1e-6);
      assert_close(deepest(&out[k], 1, &which), floor ? -sunk : -into, 1e-5);
    }
  }
  mesh_destroy((mesh *)(uintptr_t)room.mesh, memory_of(&endless));
  soup_free(&s);
}

// A box on a block of the same size, nearly flush, is pushed up and not sideways.
static void flush_boxes_are_pushed_up(void **state)
{
  (void)state;
  uint32_t seed = 61;
  tn_vec3 h = {1.0f, 0.7f, 1.3f};
  for (int cells = 1; cells <= 4; cells *= 2) { // corners of both sides are equal floats
    soup s = soup_box(h, cells);
    geometry skin = {.kind = TN_SHAPE_MESH, .mesh = mesh_of(&s)}, b = block(1.0f, 0.5f, 1.3f);
    for (int i = 0; i < 500; i++) {
      tn_vec3 p = i == 0 ? zero : over(&seed, 0.004f, 0.0f, 0.004f);
      p.y = 1.2f - test_between(&seed, 0.0f, 0.01f);
      manifold out[MAX_MANIFOLDS];
      int count = collide_mesh(&skin, &b, at(p, tn_quat_identity()), 0.01f, out, MAX_MANIFOLDS);
      assert_int_equal(count, 1);
      assert_close(out[0].normal.y, 1.0, 1e-6);
      assert_int_equal(out[0].count, 4);
      float least = INFINITY;
      for (int k = 0; k < 4; k++) {
        assert_close(out[0].points[k].gap, p.y - 1.2f, 1e-5);
        least = fminf(least, fabsf(out[0].points[k].a.x));
      }
      assert_true(least > 0.98f);
    }
    mesh_destroy((mesh *)(uintptr_t)skin.mesh, memory_of(&endless));
    soup_free(&s);
  }
}

// ---------------------------------------------------------------------------------------------
// Height fields: equal to the mesh of their triangles

enum { COLUMNS = 23, ROWS = 17 };

typedef struct terrain {
  float heights[COLUMNS * ROWS];
  soup s;
  geometry field, skin;
} terrain;

static terrain *terrain_make(float rough, uint32_t *seed)
{
  terrain *t = calloc(1, sizeof *t);
  t->s = soup_make(COLUMNS * ROWS, 2 * (COLUMNS - 1) * (ROWS - 1));
  const float dx = 0.3f, dz = 0.4f;
  for (int row = 0; row < ROWS; row++) {
    for (int column = 0; column < COLUMNS; column++) {
      float height = rough * test_random(seed);
      t->heights[row * COLUMNS + column] = height;
      float x = -0.5f * (float)(COLUMNS - 1) * dx, z = -0.5f * (float)(ROWS - 1) * dz;
      t->s.vertices[t->s.vertex_count++] =
          tn_v3(x + (float)column * dx, height, z + (float)row * dz);
    }
  }
  for (int row = 0; row + 1 < ROWS; row++) {
    for (int column = 0; column + 1 < COLUMNS; column++) {
      int a = row * COLUMNS + column;
      soup_triangle(&t->s, a, a + COLUMNS, a + 1);
      soup_triangle(&t->s, a + COLUMNS + 1, a + 1, a + COLUMNS);
    }
  }
  char text[128] = "";
  t->skin = (geometry){.kind = TN_SHAPE_MESH, .mesh = mesh_of(&t->s)};
  t->field = (geometry){.kind = TN_SHAPE_HEIGHT_FIELD};
  t->field.field = height_field_create(t->heights, COLUMNS, ROWS, dx, dz, memory_of(&endless), text,
                                       sizeof text);
  assert_non_null(t->field.field);
  return t;
}

static void terrain_free(terrain *t)
{
  mesh_destroy((mesh *)(uintptr_t)t->skin.mesh, memory_of(&endless));
  height_field_destroy((height_field *)(uintptr_t)t->field.field, memory_of(&endless));
  soup_free(&t->s);
  free(t);
}

static void fields_query_like_meshes(void **state)
{
  (void)state;
  uint32_t seed = 31;
  terrain *t = terrain_make(0.6f, &seed);
  geometry probe = block(0.2f, 0.1f, 0.15f);
  int hits = 0, casts = 0;
  for (int i = 0; i < 3000; i++) {
    tn_vec3 from = test_vector(&seed, 4.0f), way = test_vector(&seed, 8.0f);
    from.y = test_between(&seed, 0.61f, 3.0f);
    if (i % 4 == 0) {
      way = i % 8 ? tn_v3(0.0f, -5.0f, 0.0f) : tn_v3(way.x, way.y, 0.0f);
    }
    ray_hit a = {0}, b = {0};
    bool expected = mesh_ray(t->skin.mesh, from, way, 1.0f, &a);
    assert_int_equal(height_field_ray(t->field.field, from, way, 1.0f, &b), expected);
    hits += expected;
    if (expected) {
      assert_close(b.fraction, a.fraction, 1e-6);
      assert_close(apart(a.normal, b.normal), 0.0, 1e-6);
    }
    closest c = {0}, d = {0};
    assert_true(mesh_closest(t->skin.mesh, from, 50.0f, &c));
    assert_true(height_field_closest(t->field.field, from, 50.0f, &d));
    assert_close(d.distance, c.distance, 1e-6);
    if (i % 10) {
      continue;
    }
    cast_hit e = {0}, f = {0};
    pose start = at(tn_add(from, tn_v3(0.0f, 0.4f, 0.0f)), test_rotation(&seed));
    expected = mesh_cast(t->skin.mesh, &probe, start, way, 0.0f, 1.0f, &e);
    assert_int_equal(height_field_cast(t->field.field, &probe, start, way, 0.0f, 1.0f, &f),
                     expected);
    casts += expected;
    if (!expected) {
      continue;
    }
    assert_close(f.fraction, e.fraction, 1e-5);
    // Just before the hit there is no overlap, well after it there is, if the cast continues
    // downwards.
    pose before = at(tn_add(start.p, tn_scale(e.fraction - 2e-3f, way)), start.q);
    assert_false(mesh_overlaps(t->skin.mesh, &probe, before));
    assert_false(height_field_overlaps(t->field.field, &probe, before));
    pose after = at(tn_add(start.p, tn_scale(e.fraction + 2e-3f, way)), start.q);
    assert_int_equal(height_field_overlaps(t->field.field, &probe, after),
                     mesh_overlaps(t->skin.mesh, &probe, after));
  }
  print_message("height field: %d rays and %d casts as the mesh's\n", hits, casts);
  assert_true(hits > 500);
  assert_true(casts > 50);
  terrain_free(t);
}

static void fields_collide_like_meshes(void **state)
{
  (void)state;
  uint32_t seed = 37;
  terrain *t = terrain_make(0.15f, &seed);
  geometry shapes[4] = {ball(0.3f), rod(0.15f, 0.3f), block(0.4f, 0.2f, 0.3f), drum(0.25f, 0.2f)};
  int touching = 0, same = 0;
  for (int i = 0; i < 2000; i++) {
    const geometry *b = &shapes[i % 4];
    tn_vec3 p = over(&seed, 3.5f, 0.0f, 3.5f);
    tn_quat q = test_rotation(&seed);
    float down = geometry_aabb(b, at(p, q)).lower.y;
    cast_hit hit;
    p.y = 2.0f - down;
    if (!mesh_cast(t->skin.mesh, b, at(p, q), tn_v3(0.0f, -4.0f, 0.0f), 0.0f, 1.0f, &hit)) {
      continue;
    }
    p.y -= 4.0f * hit.fraction + test_between(&seed, -0.02f, 0.01f);
    manifold x[MAX_MANIFOLDS], y[MAX_MANIFOLDS];
    int of_mesh = collide_mesh(&t->skin, b, at(p, q), 0.03f, x, MAX_MANIFOLDS), which = 0;
    int of_field = collide_height_field(&t->field, b, at(p, q), 0.03f, y, MAX_MANIFOLDS), other = 0;
    assert_true(of_mesh > 0 && of_field > 0);
    touching += 1;
    // Triangles are visited in another order, and of nearly equal contacts the first is kept.
    float expected = deepest(x, of_mesh, &which), gap = deepest(y, of_field, &other);
    same += fabsf(gap - expected) < 1e-4f && apart(x[which].normal, y[other].normal) < 0.06f;
    for (int k = 0; k < of_field; k++) {
      assert_true(y[k].normal.y > -1e-3f);
    }
  }
  print_message("height field: %d contacts, %d of them as the mesh's\n", touching, same);
  assert_true(touching > 1000);
  assert_true(100 * same > 99 * touching);
  terrain_free(t);
}

static bool has_contact(const manifold *list, int count, const manifold *like)
{
  manifold one = *like;
  int which = 0;
  float gap = deepest(&one, 1, &which);
  for (int i = 0; i < count; i++) {
    one = list[i];
    if (fabsf(deepest(&one, 1, &which) - gap) < 1e-4f && apart(one.normal, like->normal) < 0.06f) {
      return true;
    }
  }
  return false;
}

// Facets of a mesh at which no contact can be one that the neighbours allow are left out. Those of
// a field, whose bends are not known, are all looked at.
static void facets_that_are_left_out_have_no_contacts(void **state)
{
  (void)state;
  uint32_t seed = 43;
  int contacts = 0, missing = 0;
  for (int i = 0; i < test_cases(20, 400); i++) {
    terrain *t = terrain_make(test_between(&seed, 0.0f, 0.15f), &seed);
    tn_vec3 points[16];
    for (int k = 0; k < 16; k++) {
      points[k] = test_vector(&seed, 0.3f);
    }
    char text[128];
    convex_hull *hull = convex_hull_create(points, 16, 0, memory_of(&endless), text, sizeof text);
    assert_non_null(hull);
    geometry shapes[2] = {block(0.4f, 0.2f, 0.3f), {.kind = TN_SHAPE_HULL, .hull = hull}};
    for (int k = 0; k < 100; k++) {
      const geometry *b = &shapes[k % 2];
      tn_quat q = k % 3 ? test_rotation(&seed) : tn_quat_identity();
      pose where = at(over(&seed, 2.0f, 2.0f, 2.0f), q);
      cast_hit hit;
      if (!mesh_cast(t->skin.mesh, b, where, tn_v3(0.0f, -4.0f, 0.0f), 0.0f, 1.0f, &hit)) {
        continue;
      }
      where.p.y -= 4.0f * hit.fraction - 1e-3f;
      manifold x[MAX_MANIFOLDS], y[MAX_MANIFOLDS];
      int of_mesh = collide_mesh(&t->skin, b, where, 0.02f, x, MAX_MANIFOLDS);
      int of_field = collide_height_field(&t->field, b, where, 0.02f, y, MAX_MANIFOLDS);
      for (int n = 0; n < of_field; n++) {
        contacts += 1;
        missing += !has_contact(x, of_mesh, &y[n]);
      }
    }
    convex_hull_destroy(hull, memory_of(&endless));
    terrain_free(t);
  }
  print_message("height field: %d contacts, %d not of the mesh\n", contacts, missing);
  // Of nearly equal contacts the first is kept, in another order: 0.11 % without what is left out.
  assert_true(contacts > 1000);
  assert_true(300 * missing < contacts);
}

static void fields_are_solid_below(void **state)
{
  (void)state;
  uint32_t seed = 41;
  terrain *t = terrain_make(0.1f, &seed);
  geometry shapes[3] = {ball(0.3f), rod(0.15f, 0.3f), block(0.4f, 0.2f, 0.3f)};
  for (int i = 0; i < 300; i++) {
    const geometry *b = &shapes[i % 3];
    float depth = test_between(&seed, 0.6f, 3.0f);
    tn_vec3 p = over(&seed, 2.0f, -depth, 2.0f);
    pose where = at(p, test_rotation(&seed));
    manifold out[MAX_MANIFOLDS];
    int count = collide_height_field(&t->field, b, where, 0.02f, out, MAX_MANIFOLDS), which = 0;
    assert_true(count > 0);
    float gap = deepest(out, count, &which);
    assert_true(gap < 0.2f - 0.5f * depth);
    assert_true(out[which].normal.y > 0.5f);
    assert_true(height_field_overlaps(t->field.field, b, where));
    closest c = {0};
    assert_true(height_field_closest(t->field.field, where.p, 0.01f, &c));
    assert_true(c.distance < 0.15f - depth && c.normal.y > 0.5f);
    ray_hit hit = {1.0f, {1.0f, 0.0f, 0.0f}};
    assert_true(height_field_ray(t->field.field, where.p, tn_v3(0.0f, 1.0f, 0.0f), 1.0f, &hit));
    assert_true(hit.fraction == 0.0f && tn_length(hit.normal) == 0.0f);
  }
  terrain_free(t);
}

// ---------------------------------------------------------------------------------------------
// Drawing

static void count_line(tn_vec3 a, tn_vec3 b, void *context)
{
  assert_true(apart(a, b) > 0.0f);
  *(int *)context += 1;
}

static void edges_are_drawn_once(void **state)
{
  (void)state;
  uint32_t seed = 1;
  terrain *t = terrain_make(0.3f, &seed);
  int of_mesh = 0, of_field = 0, cells = (COLUMNS - 1) * (ROWS - 1);
  mesh_edges(t->skin.mesh, count_line, &of_mesh);
  height_field_edges(t->field.field, count_line, &of_field);
  assert_int_equal(of_mesh, 3 * cells + COLUMNS - 1 + ROWS - 1);
  assert_int_equal(of_field, of_mesh);
  aabb box = mesh_aabb(t->skin.mesh), other = height_field_aabb(t->field.field);
  assert_true(apart(box.lower, other.lower) < 1e-6f && apart(box.upper, other.upper) < 1e-6f);
  terrain_free(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_meshes_are_refused),
      cmocka_unit_test(bad_height_fields_are_refused),
      cmocka_unit_test(failed_allocations_create_nothing),
      cmocka_unit_test(degenerate_triangles_are_dropped),
      cmocka_unit_test(mesh_rays_match_brute_force),
      cmocka_unit_test(rays_cannot_leave_closed_meshes),
      cmocka_unit_test(mesh_closest_matches_brute_force),
      cmocka_unit_test(flat_meshes_act_like_planes),
      cmocka_unit_test(meshes_collide_on_both_sides),
      cmocka_unit_test(box_meshes_act_like_boxes),
      cmocka_unit_test(deepest_contact_of_a_ball_is_the_closest_point),
      cmocka_unit_test(corners_have_two_normals),
      cmocka_unit_test(flush_boxes_are_pushed_up),
      cmocka_unit_test(fields_query_like_meshes),
      cmocka_unit_test(fields_collide_like_meshes),
      cmocka_unit_test(facets_that_are_left_out_have_no_contacts),
      cmocka_unit_test(fields_are_solid_below),
      cmocka_unit_test(edges_are_drawn_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
