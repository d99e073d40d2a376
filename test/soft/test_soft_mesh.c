// Lattices that fill closed surfaces, and fine skins on coarse soft bodies.
#include "soft_support.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A torus-like closed surface: a grid, periodic in both directions.
enum { AROUND = 32, ALONG = 16 };

typedef struct torus_mesh {
  tn_vec3 vertices[AROUND * ALONG];
  int triangles[6 * AROUND * ALONG];
} torus_mesh;

static void make_torus(torus_mesh *t, float radius, float tube)
{
  for (int i = 0; i < AROUND * ALONG; ++i) {
    int turn = i / ALONG, step = i % ALONG;
    float a = 2.0f * TN_PI * (float)turn / AROUND, b = 2.0f * TN_PI * (float)step / ALONG;
    float r = radius + tube * tn_cos(b);
    t->vertices[i] = tn_v3(r * tn_cos(a), tube * tn_sin(b), -r * tn_sin(a));
    int next = turn * ALONG + (i + 1) % ALONG;
    int over = (i + ALONG) % (AROUND * ALONG), both = (next + ALONG) % (AROUND * ALONG);
    int v[6] = {i, over, both, i, both, next};
    for (int k = 0; k < 6; ++k) {
      t->triangles[6 * i + k] = v[k];
    }
  }
}

static double tet_volume(const tn_vec3 *x, int a, int b, int c, int d)
{
  return (double)tn_dot(tn_sub(x[b], x[a]), tn_cross(tn_sub(x[c], x[a]), tn_sub(x[d], x[a]))) / 6.0;
}

static double volume_inside(const tn_vec3 *x, const int *v, int count)
{
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    sum += (double)tn_dot(x[v[3 * i]], tn_cross(x[v[3 * i + 1]], x[v[3 * i + 2]])) / 6.0;
  }
  return sum;
}

// Euler characteristic V - E + F of the closed surface: 2 - 2 * holes.
static int euler(const tn_soft_def *def)
{
  int used = 0;
  for (int i = 0; i < def->vertex_count; ++i) {
    int found = 0;
    for (int k = 0; k < 3 * def->triangle_count && !found; ++k) {
      found = def->triangles[k] == i;
    }
    used += found;
  }
  return used - 3 * def->triangle_count / 2 + def->triangle_count;
}

// The elements fill the surface of the body, which approximates the mesh; the soft body can be
// created.
static void check_solid(const tn_soft_def *def, double volume, double tolerance)
{
  double enclosed = volume_inside(def->vertices, def->triangles, def->triangle_count), sum = 0.0;
  assert_close(enclosed, volume, tolerance * volume);
  for (int i = 0; i < def->tetrahedron_count; ++i) {
    const int *v = def->tetrahedra + 4 * i;
    double one = tet_volume(def->vertices, v[0], v[1], v[2], v[3]);
    assert_true(one > 0.0);
    sum += one;
  }
  assert_true(def->hexahedron_count > 0 || fabs(sum - enclosed) < 1e-4 * volume);
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_id soft = tn_soft_create(world, def);
  assert_true(tn_soft_is_valid(world, soft));
  test_run(world, dt, 2);
  tn_world_destroy(world);
}

static void lattice_fills_a_box_exactly(void **unused)
{
  (void)unused;
  static const int cells[3] = {2, 2, 2};
  tn_soft_def fine = tn_default_soft_def(), def = tn_default_soft_def();
  assert_true(tn_soft_mesh_box(&fine, cells, tn_v3(0.5f, 0.25f, 0.75f), true));
  assert_true(tn_soft_mesh_solid(&def, fine.vertices, fine.vertex_count, fine.triangles,
                                 fine.triangle_count, 0.25f, true));
  assert_int_equal(def.tetrahedron_count, 5 * 4 * 2 * 6);
  check_solid(&def, 0.75, 1e-5);
  tn_soft_mesh_free(&def);
  tn_soft_mesh_free(&fine);
}

static void lattice_fills_a_ball(void **unused)
{
  (void)unused;
  tn_soft_def fine = tn_default_soft_def();
  assert_true(tn_soft_mesh_sphere(&fine, 4, 0.5f));
  for (int tets = 0; tets < 2; ++tets) {
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_solid(&def, fine.vertices, fine.vertex_count, fine.triangles,
                                   fine.triangle_count, 0.12f, tets));
    check_solid(&def, 3.14159 / 6.0, 0.05);
    assert_int_equal(euler(&def), 2);
    // Particles outside the mesh are near its surface.
    for (int i = 0; i < 3 * def.triangle_count; ++i) {
      assert_close(tn_length(def.vertices[def.triangles[i]]), 0.5, 0.06);
    }
    tn_soft_mesh_free(&def);
  }
  tn_soft_mesh_free(&fine);
}

static void lattice_keeps_a_hole(void **unused)
{
  (void)unused;
  static torus_mesh t;
  make_torus(&t, 0.5f, 0.2f);
  double volume = volume_inside(t.vertices, t.triangles, 2 * AROUND * ALONG);
  assert_true(volume > 0.0);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_solid(&def, t.vertices, AROUND * ALONG, t.triangles, 2 * AROUND * ALONG,
                                 0.1f, true));
  check_solid(&def, volume, 0.08);
  assert_int_equal(euler(&def), 0);
  tn_soft_mesh_free(&def);
}

static void lattice_refuses_bad_surfaces(void **unused)
{
  (void)unused;
  tn_soft_def fine = tn_default_soft_def(), def = tn_default_soft_def();
  assert_true(tn_soft_mesh_sphere(&fine, 2, 0.5f));
  int n = fine.vertex_count, m = fine.triangle_count;
  assert_false(tn_soft_mesh_solid(&def, fine.vertices, n, fine.triangles, m - 1, 0.2f, true));
  assert_false(tn_soft_mesh_solid(&def, fine.vertices, n - 1, fine.triangles, m, 0.2f, true));
  assert_false(tn_soft_mesh_solid(&def, fine.vertices, n, fine.triangles, m, 0.0f, true));
  assert_false(tn_soft_mesh_solid(&def, fine.vertices, n, fine.triangles, m, 1e-5f, true));
  assert_false(tn_soft_mesh_solid(&def, fine.vertices, n, fine.triangles, m, NAN, true));
  assert_false(tn_soft_mesh_solid(NULL, fine.vertices, n, fine.triangles, m, 0.2f, true));
  assert_null(def.vertices);
  tn_soft_mesh_free(&fine);
}

// ---------------------------------------------------------------------------------------------
// Skins

// Rotation, stretch and shear.
static tn_pos moved(tn_vec3 x)
{
  double a = (double)x.x, b = (double)x.y, c = (double)x.z;
  return tn_p3(100.0 + 1.2 * a - 0.5 * b + 0.1 * c, 50.0 + 0.4 * a + 0.9 * b,
               -20.0 + 0.3 * b + 1.1 * c);
}

static void move_body(tn_world *world, tn_soft_id soft, const tn_soft_def *def)
{
  for (int i = 0; i < def->vertex_count; ++i) {
    tn_soft_set_position(world, soft, i, moved(def->vertices[i]));
  }
}

// On solids a skin follows every affine motion exactly, inside and outside of the elements.
static void skin_of_a_solid_follows_it(void **unused)
{
  (void)unused;
  tn_soft_def fine = tn_default_soft_def();
  assert_true(tn_soft_mesh_sphere(&fine, 3, 0.5f));
  for (int tets = 0; tets < 2; ++tets) {
    tn_world *world = test_world(4, TN_METHOD_TENON);
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_solid(&def, fine.vertices, fine.vertex_count, fine.triangles,
                                   fine.triangle_count, 0.25f, tets));
    tn_soft_id soft = tn_soft_create(world, &def);
    tn_soft_skin skin;
    assert_true(tn_soft_skin_bind(&skin, &def, fine.vertices, fine.vertex_count, fine.triangles,
                                  fine.triangle_count));
    move_body(world, soft, &def);
    tn_pos *x = malloc((size_t)fine.vertex_count * sizeof *x);
    tn_vec3 *n = malloc((size_t)fine.vertex_count * sizeof *n);
    assert_true(tn_soft_skin_read(world, soft, &skin, x, n));
    for (int i = 0; i < fine.vertex_count; ++i) {
      assert_below(tn_length(tn_between_points(x[i], moved(fine.vertices[i]))), 1e-5f);
    }
    // Normals are those of the deformed surface: along the gradient of |F^-1 x|.
    for (int i = 0; i < fine.triangle_count; ++i) {
      const int *v = fine.triangles + 3 * i;
      tn_vec3 across =
          tn_cross(tn_between_points(x[v[0]], x[v[1]]), tn_between_points(x[v[0]], x[v[2]]));
      assert_true(tn_dot(across, n[v[0]]) > 0.95f * tn_length(across));
    }
    free(x);
    free(n);
    tn_soft_skin_free(&skin);
    tn_soft_mesh_free(&def);
    tn_world_destroy(world);
  }
  tn_soft_mesh_free(&fine);
}

// On cloth a skin keeps its height.
static void skin_of_a_cloth_rotates_with_it(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def(), fine = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, 5, 5, 1.0f, 1.0f));
  assert_true(tn_soft_mesh_cloth(&fine, 12, 9, 0.9f, 0.8f));
  tn_vec3 *raised = malloc((size_t)fine.vertex_count * sizeof *raised);
  for (int i = 0; i < fine.vertex_count; ++i) {
    raised[i] = tn_add(fine.vertices[i], tn_v3(0.0f, 0.02f, 0.0f));
  }
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_skin skin;
  assert_true(tn_soft_skin_bind(&skin, &def, raised, fine.vertex_count, fine.triangles,
                                fine.triangle_count));
  tn_quat turn = tn_quat_axis_angle(tn_v3(1.0f, 0.3f, -0.2f), 2.0f);
  for (int i = 0; i < def.vertex_count; ++i) {
    tn_soft_set_position(world, soft, i,
                         tn_offset(tn_p3(7.0, 8.0, 9.0), tn_rotate(turn, def.vertices[i])));
  }
  tn_pos x[108];
  tn_vec3 n[108];
  assert_int_equal(fine.vertex_count, 108);
  assert_true(tn_soft_skin_read(world, soft, &skin, x, n));
  for (int i = 0; i < 108; ++i) {
    tn_pos expected = tn_offset(tn_p3(7.0, 8.0, 9.0), tn_rotate(turn, raised[i]));
    assert_below(tn_length(tn_between_points(x[i], expected)), 1e-5f);
    assert_close(tn_dot(n[i], tn_rotate(turn, tn_v3(0.0f, 1.0f, 0.0f))), 1.0, 1e-4);
  }
  free(raised);
  tn_soft_skin_free(&skin);
  tn_soft_mesh_free(&def);
  tn_soft_mesh_free(&fine);
  tn_world_destroy(world);
}

static void skin_refuses_bad_input(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def(), rope = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, 3, 3, 1.0f, 1.0f));
  assert_true(tn_soft_mesh_rope(&rope, 2, 1.0f));
  static const int wrong[3] = {0, 1, 9};
  const tn_vec3 nan = {NAN, 0.0f, 0.0f};
  tn_soft_skin skin;
  assert_false(tn_soft_skin_bind(&skin, &rope, def.vertices, 9, def.triangles, 8));
  assert_false(tn_soft_skin_bind(&skin, &def, def.vertices, 9, wrong, 1));
  assert_false(tn_soft_skin_bind(&skin, &def, &nan, 1, NULL, 0));
  assert_false(tn_soft_skin_bind(NULL, &def, def.vertices, 9, def.triangles, 8));
  assert_true(tn_soft_skin_bind(&skin, &def, def.vertices, 9, def.triangles, 8));
  tn_soft_id other = tn_soft_create(world, &rope);
  tn_pos x[9];
  test_forget_messages();
  assert_false(tn_soft_skin_read(world, other, &skin, x, NULL));
  assert_message("the skin is not of this body");
  tn_soft_skin_free(&skin);
  tn_soft_mesh_free(&def);
  tn_soft_mesh_free(&rope);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Random arguments: either a valid mesh, or a refusal

static int any_count(uint32_t *seed)
{
  static const int counts[] = {INT_MIN, INT_MIN / 2, -1,         0,         1,
                               2,       3,           4,          5,         20001,
                               1 << 21, 1 << 30,     0x55555556, 715827883, INT_MAX};
  return test_index(seed, 2) ? 1 + test_index(seed, 5) : counts[test_index(seed, 15)];
}

static float any_size(uint32_t *seed)
{
  static const float sizes[] = {NAN,    -1.0f,  0.0f,  1e-45f, 1e-38f, 1e-30f,  1e-20f, 1e-9f,
                                1e-6f,  0.5f,   1.0f,  1e6f,   1e18f,  1e20f,   1e30f,  3e38f,
                                0.501f, -1e30f, 1e-3f, 1e3f,   9e8f,   INFINITY};
  return test_index(seed, 2) ? test_between(seed, 0.1f, 2.0f) : sizes[test_index(seed, 22)];
}

static bool make_any(tn_soft_def *def, int kind, uint32_t *seed)
{
  int counts[3] = {any_count(seed), any_count(seed), any_count(seed)};
  float sizes[3] = {any_size(seed), any_size(seed), any_size(seed)};
  switch (kind) {
  case 0:
    return tn_soft_mesh_cloth(def, counts[0], counts[1], sizes[0], sizes[1]);
  case 1:
    return tn_soft_mesh_rope(def, counts[0], sizes[0]);
  case 2:
    return tn_soft_mesh_box(def, counts, tn_v3(sizes[0], sizes[1], sizes[2]), counts[0] % 2);
  case 3:
    return tn_soft_mesh_ball(def, counts[0], sizes[0], counts[1] % 2);
  case 4:
    return tn_soft_mesh_tube(def, counts, sizes[0], sizes[1], sizes[2]);
  default:
    return tn_soft_mesh_sphere(def, counts[0], sizes[0]);
  }
}

static void check_mesh(const tn_soft_def *def)
{
  for (int i = 0; i < def->vertex_count; ++i) {
    tn_vec3 v = def->vertices[i];
    assert_true(isfinite(v.x) && isfinite(v.y) && isfinite(v.z));
  }
  for (int i = 0; i < def->edge_count; ++i) {
    const int *v = def->edges + 2 * i;
    assert_true(tn_length(tn_sub(def->vertices[v[0]], def->vertices[v[1]])) > 0.0f);
  }
  for (int i = 0; i < 3 * def->triangle_count; ++i) {
    int k = i % 3 == 2 ? i - 2 : i + 1;
    tn_vec3 a = def->vertices[def->triangles[i]], b = def->vertices[def->triangles[k]];
    assert_true(a.x != b.x || a.y != b.y || a.z != b.z);
  }
}

static void any_size_gives_a_valid_mesh_or_a_refusal(void **unused)
{
  (void)unused;
  uint32_t seed = 5;
  int made[6] = {0};
  for (int n = 0; n < 3000; ++n) {
    tn_soft_def def = tn_default_soft_def(), before = def;
    int kind = n % 6, anchor = 0;
    if (!make_any(&def, kind, &seed)) {
      assert_memory_equal(&def, &before, sizeof def);
      continue;
    }
    made[kind] += 1;
    check_mesh(&def);
    assert_true(tn_soft_mesh_tethers(&def, &anchor, 1) == (def.edge_count > 0));
    assert_true(def.edge_count == 0 || def.tether_count == def.vertex_count - 1);
    tn_soft_mesh_free(&def);
  }
  for (int kind = 0; kind < 6; ++kind) {
    assert_true(made[kind] > 2);
  }
}

// Passes a valid mesh with one bad number to every function that takes a mesh. Returns how many
// accept it.
static int use_mesh(const tn_soft_def *def, const int *anchor)
{
  tn_soft_def hung = *def, cloth = tn_default_soft_def(), solid = tn_default_soft_def();
  tn_soft_skin skin;
  int ok[4] = {tn_soft_mesh_tethers(&hung, anchor, 1),
               tn_soft_mesh_triangles(&cloth, def->vertices, def->vertex_count, def->triangles,
                                      def->triangle_count),
               tn_soft_mesh_solid(&solid, def->vertices, def->vertex_count, def->triangles,
                                  def->triangle_count, 0.3f, true),
               tn_soft_skin_bind(&skin, def, def->vertices, def->vertex_count, def->triangles,
                                 def->triangle_count)};
  for (int i = 0; i < hung.tether_count; ++i) {
    assert_true(isfinite(hung.tether_lengths[i]));
  }
  if (ok[0]) {
    free((void *)hung.tethers);
    free((void *)hung.tether_lengths);
  }
  if (ok[3]) {
    tn_soft_skin_free(&skin);
  }
  tn_soft_mesh_free(&cloth);
  tn_soft_mesh_free(&solid);
  return ok[0] + ok[1] + ok[2] + ok[3];
}

static void bad_numbers_in_a_mesh_are_refused(void **unused)
{
  (void)unused;
  static const float bad[] = {NAN, INFINITY, -INFINITY}, large[] = {1e12f, 1e20f, 3e38f};
  static const int indices[] = {-1, INT_MIN, INT_MAX, 1 << 20};
  uint32_t seed = 9;
  for (int n = 0; n < 60; ++n) {
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_sphere(&def, test_index(&seed, 3), 0.5f));
    int anchor = 0, vertex = test_index(&seed, def.vertex_count);
    assert_int_equal(use_mesh(&def, &anchor), 4);
    tn_vec3 *vertices = (tn_vec3 *)(uintptr_t)def.vertices, kept = vertices[vertex];
    vertices[vertex].y = bad[n % 3];
    assert_int_equal(use_mesh(&def, &anchor), 0);
    vertices[vertex].y = large[n % 3];
    use_mesh(&def, &anchor);
    vertices[vertex] = kept;
    int *triangle = (int *)(uintptr_t)def.triangles + test_index(&seed, 3 * def.triangle_count);
    int *edge = (int *)(uintptr_t)def.edges + test_index(&seed, 2 * def.edge_count);
    int was = *triangle, edge_was = *edge;
    *triangle = *edge = anchor = indices[n % 4];
    assert_int_equal(use_mesh(&def, &anchor), 0);
    *triangle = was;
    *edge = edge_was;
    tn_soft_def wrong = def;
    wrong.edge_count = wrong.triangle_count = n % 2 ? -1 : INT_MIN;
    assert_int_equal(use_mesh(&wrong, &vertex), 0);
    wrong = def;
    wrong.edges = wrong.triangles = NULL;
    assert_int_equal(use_mesh(&wrong, &vertex), 0);
    wrong = def;
    wrong.vertex_count = n % 2 ? INT_MIN : 0;
    assert_int_equal(use_mesh(&wrong, &vertex), 0);
    tn_soft_mesh_free(&def);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_size_gives_a_valid_mesh_or_a_refusal),
      cmocka_unit_test(bad_numbers_in_a_mesh_are_refused),
      cmocka_unit_test(lattice_fills_a_box_exactly),
      cmocka_unit_test(lattice_fills_a_ball),
      cmocka_unit_test(lattice_keeps_a_hole),
      cmocka_unit_test(lattice_refuses_bad_surfaces),
      cmocka_unit_test(skin_of_a_solid_follows_it),
      cmocka_unit_test(skin_of_a_cloth_rotates_with_it),
      cmocka_unit_test(skin_refuses_bad_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
