// Soft bodies: bad definitions, stale ids and failed allocations are reported, and nothing changes.
#include "support.h"

#include <math.h>
#include <stdlib.h>

static const tn_vec3 corners[5] = {
    {0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}, {2.0f, 0, 0}};

static tn_soft_def good_def(void)
{
  static const int tet[4] = {0, 1, 2, 3};
  tn_soft_def def = tn_default_soft_def();
  def.vertices = corners;
  def.vertex_count = 4;
  def.tetrahedra = tet;
  def.tetrahedron_count = 1;
  return def;
}

static void is_refused(tn_world *world, const tn_soft_def *def, const char *why)
{
  test_forget_messages();
  uint64_t hash = tn_world_hash(world);
  size_t bytes = tn_world_counters(world).bytes;
  assert_true(TN_IS_NULL(tn_soft_create(world, def)));
  assert_message(why);
  assert_true(tn_world_hash(world) == hash);
  assert_true(tn_world_counters(world).bytes == bytes || tn_world_counters(world).softs == 0);
}

static void bad_elements_are_reported_by_index(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def = good_def();
  static const int inverted[4] = {0, 2, 1, 3}, flat[4] = {0, 1, 2, 4}, twice[4] = {0, 1, 1, 3};
  static const int outside[4] = {0, 1, 2, 7};
  def.tetrahedra = inverted;
  is_refused(world, &def, "tetrahedron 0 is inside out");
  def.vertex_count = 5;
  def.tetrahedra = flat;
  is_refused(world, &def, "tetrahedron 0 is flat");
  def.tetrahedra = twice;
  is_refused(world, &def, "tetrahedron 0 names a vertex twice");
  def.tetrahedra = outside;
  is_refused(world, &def, "tetrahedron 0 names a vertex that is not there");
  def = good_def();
  def.vertex_count = 5;
  is_refused(world, &def, "vertex 4 belongs to no element");

  static const int loop[2] = {1, 1}, triangle[3] = {0, 1, 4};
  def = good_def();
  def.edges = loop;
  def.edge_count = 1;
  is_refused(world, &def, "edge 0 names a vertex twice");
  def = good_def();
  def.vertex_count = 5;
  def.triangles = triangle;
  def.triangle_count = 1;
  is_refused(world, &def, "triangle 0 has no area");

  static const float none = 0.0f;
  def = good_def();
  def.tethers = loop;
  def.tether_count = 1;
  is_refused(world, &def, "tether 0 names a vertex twice");
  def.tethers = outside + 2; // 2 and 7
  is_refused(world, &def, "tether 0 names a vertex that is not there");
  def.tethers = inverted;
  def.tether_lengths = &none;
  is_refused(world, &def, "tether 0 needs a positive");
  def.tethers = NULL;
  is_refused(world, &def, "null");

  static const int four = 4, three = 3;
  def = good_def();
  def.clusters = twice;
  def.cluster_sizes = &four;
  def.cluster_count = 1;
  is_refused(world, &def, "cluster 0 names a vertex twice");
  def.clusters = outside;
  is_refused(world, &def, "cluster 0 names a vertex that is not there");
  def.cluster_sizes = &three;
  is_refused(world, &def, "cluster 0 needs at least 4 vertices");
  def.cluster_sizes = NULL;
  is_refused(world, &def, "null");

  static const tn_vec3 same[2] = {{1.0f, 2.0f, 3.0f}, {1.0f, 2.0f, 3.0f}};
  static const int edge[2] = {0, 1};
  def = tn_default_soft_def();
  def.vertices = same;
  def.vertex_count = 2;
  def.edges = edge;
  def.edge_count = 1;
  is_refused(world, &def, "edge 0 has no length");
  tn_world_destroy(world);
}

static void bad_surfaces_are_reported_by_index(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  static const int fan[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
  static const tn_vec3 x[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, -1, 0}};
  tn_soft_def def = tn_default_soft_def();
  def.vertices = x;
  def.vertex_count = 5;
  def.triangles = fan;
  def.triangle_count = 3;
  is_refused(world, &def, "shares a side with two others");
  static const int turned[6] = {0, 1, 2, 0, 1, 3};
  def.triangles = turned;
  def.triangle_count = 2;
  def.vertex_count = 4;
  is_refused(world, &def, "turns the other way");
  static const int open[6] = {0, 1, 2, 1, 0, 3};
  def.triangles = open;
  def.pressure = 1.0f;
  is_refused(world, &def, "only closed surfaces hold pressure");
  tn_world_destroy(world);
}

static void bad_numbers_are_reported(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  is_refused(world, NULL, "the definition is null");
  tn_soft_def def = good_def();
  def.cookie = 0;
  is_refused(world, &def, "tn_default_soft_def");
  def = good_def();
  def.mass = 0.0f;
  is_refused(world, &def, "mass must be positive");
  static const float masses[4] = {1.0f, 1.0f, 0.0f, 1.0f};
  def.masses = masses;
  is_refused(world, &def, "vertex 2 needs a positive");
  tn_vec3 bad[4] = {{0, 0, 0}, {1, 0, 0}, {0, NAN, 0}, {0, 0, 1}};
  def = good_def();
  def.vertices = bad;
  is_refused(world, &def, "vertex 2 is not finite");
  def = good_def();
  def.poisson_ratio = 0.5f;
  is_refused(world, &def, "poisson_ratio");
  def = good_def();
  def.youngs_modulus = NAN;
  is_refused(world, &def, "youngs_modulus");
  def = good_def();
  def.position.x = INFINITY;
  is_refused(world, &def, "position");
  def = good_def();
  def.edge_compliance = -1.0f;
  is_refused(world, &def, "compliances");
  def = good_def();
  def.tetrahedra = NULL;
  is_refused(world, &def, "null");
  def = good_def();
  def.tear_strain = 0.0f;
  is_refused(world, &def, "tear_strain and tear_force must be positive");
  def = good_def();
  def.tear_force = 10.0f;
  def.stretch_limit = 0.1f;
  is_refused(world, &def, "neither tethers nor clusters nor a stretch_limit");
  def = good_def();
  def.creep = NAN;
  is_refused(world, &def, "creep");
  def = good_def();
  def.yield_strain = 0.1f;
  is_refused(world, &def, "only hexahedra and tetrahedra of TN_SOFT_SHAPE yield");
  tn_world_destroy(world);
}

static void stale_ids_are_reported(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON), *other = test_world(4, TN_METHOD_TENON);
  tn_soft_def def = good_def();
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_attachment_def hold = tn_default_attachment_def();
  hold.soft = soft;
  tn_attachment_id held = tn_attachment_create(world, &hold);
  assert_true(tn_soft_is_valid(world, soft) && tn_attachment_is_valid(world, held));
  assert_int_equal(tn_world_counters(world).softs, 1);
  assert_int_equal(tn_world_counters(world).particles, 4);

  test_forget_messages();
  assert_false(tn_soft_set_pinned(world, soft, 4, true));
  assert_message("no particle 4");
  assert_false(tn_soft_set_velocity(world, soft, 0, tn_v3(NAN, 0.0f, 0.0f)));
  assert_message("not finite");
  tn_pos x[3] = {{0}};
  assert_false(tn_soft_set_positions(world, soft, x, 3));
  assert_message("has 4 particles");
  assert_false(tn_soft_is_valid(other, soft));
  assert_int_equal(tn_soft_positions(other, soft, NULL, 0), 0);
  assert_message("another world");
  hold.particle = -1;
  assert_true(TN_IS_NULL(tn_attachment_create(world, &hold)));
  assert_message("no particle -1");

  assert_true(tn_soft_destroy(world, soft));
  assert_false(tn_soft_is_valid(world, soft));
  assert_false(tn_attachment_is_valid(world, held));
  assert_false(tn_soft_destroy(world, soft));
  assert_message("destroyed");
  tn_soft_id again = tn_soft_create(world, &def);
  assert_false(tn_soft_is_valid(world, soft));
  assert_true(tn_soft_is_valid(world, again));
  test_run(world, 1.0f / 60.0f, 2);
  tn_world_destroy(world);
  tn_world_destroy(other);
}

// Destroying a body destroys its attachments.
static void attachments_are_destroyed_with_their_ends(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def = good_def();
  tn_attachment_def hold = tn_default_attachment_def();
  hold.soft = tn_soft_create(world, &def);
  hold.body = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 1.0, 0.0));
  tn_attachment_id id = tn_attachment_create(world, &hold);
  test_run(world, 1.0f / 60.0f, 2);
  assert_true(tn_body_destroy(world, hold.body));
  assert_false(tn_attachment_is_valid(world, id));
  test_run(world, 1.0f / 60.0f, 2);
  tn_world_destroy(world);
}

// Whichever allocation fails, the world continues, and at the end all memory is freed.
static void survives_failed_allocations(void **unused)
{
  (void)unused;
  for (int fails = 0; fails < 40; ++fails) {
    test_meter meter = {.until_failure = -1};
    tn_world_def world_def = test_world_def(4, TN_METHOD_TENON);
    world_def.allocator = test_metered(&meter);
    tn_world *world = tn_world_create(&world_def);
    tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
    tn_shape_create(world, test_no_body, &plane);
    meter.until_failure = fails;
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_cloth(&def, 4, 4, 1.0f, 1.0f));
    def.position = tn_p3(0.0, 0.01, 0.0);
    def.self_collision = true;
    def.radius = 0.2f;
    tn_soft_create(world, &def);
    tn_world_step(world, 1.0f / 60.0f);
    meter.until_failure = -1;
    tn_soft_create(world, &def);
    test_forget_messages();
    tn_soft_mesh_free(&def);
    test_run(world, 1.0f / 60.0f, 3);
    tn_world_destroy(world);
    assert_int_equal(meter.bytes, 0);
  }
}

static void meshes_refuse_bad_sizes(void **unused)
{
  (void)unused;
  tn_soft_def def = tn_default_soft_def();
  static const int none[3] = {0, 1, 1};
  tn_vec3 half = {1.0f, 1.0f, 1.0f};
  assert_false(tn_soft_mesh_cloth(&def, 1, 5, 1.0f, 1.0f));
  assert_false(tn_soft_mesh_cloth(&def, 5, 5, NAN, 1.0f));
  assert_false(tn_soft_mesh_rope(&def, 0, 1.0f));
  assert_false(tn_soft_mesh_box(&def, none, half, true));
  assert_false(tn_soft_mesh_ball(&def, 1, 1.0f, false));
  assert_false(tn_soft_mesh_sphere(&def, -1, 1.0f));
  assert_false(tn_soft_mesh_sphere(NULL, 1, 1.0f));
  tn_soft_mesh_free(NULL);
}

// Volumes of the meshes approach those of the solids from below.
static void meshes_fill_their_solids(void **unused)
{
  (void)unused;
  static const int cells[3] = {3, 2, 4}, around[3] = {40, 2, 3};
  tn_world *world = test_world(4, TN_METHOD_TENON);
  for (int i = 0; i < 6; ++i) {
    tn_soft_def def = tn_default_soft_def();
    bool ok = i < 2   ? tn_soft_mesh_box(&def, cells, tn_v3(0.5f, 1.0f, 1.5f), i == 0)
              : i < 4 ? tn_soft_mesh_ball(&def, 10, 1.0f, i == 2)
              : i < 5 ? tn_soft_mesh_tube(&def, around, 0.5f, 1.0f, 0.5f)
                      : tn_soft_mesh_sphere(&def, 4, 1.0f);
    assert_true(ok);
    double pi = (double)TN_PI;
    double expected = i < 2 ? 6.0 : i == 4 ? pi * 0.75 : 4.0 / 3.0 * pi;
    tn_soft_id soft = tn_soft_create(world, &def);
    assert_false(TN_IS_NULL(soft));
    assert_close(tn_soft_volume(world, soft), expected, i < 2 ? 1e-5 : 0.03 * expected);
    assert_close(tn_soft_momentum(world, soft, tn_p3(0.0, 0.0, 0.0)).mass, 1.0, 1e-5);
    tn_soft_mesh_free(&def);
  }
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_elements_are_reported_by_index),
      cmocka_unit_test(bad_surfaces_are_reported_by_index),
      cmocka_unit_test(bad_numbers_are_reported),
      cmocka_unit_test(stale_ids_are_reported),
      cmocka_unit_test(attachments_are_destroyed_with_their_ends),
      cmocka_unit_test(survives_failed_allocations),
      cmocka_unit_test(meshes_refuse_bad_sizes),
      cmocka_unit_test(meshes_fill_their_solids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
