// Calls for single particles of soft bodies and for lists: equal results, at a cost independent of
// the size of the body.
#include "soft_support.h"

#include <time.h>

static tn_soft_id make_cloth(tn_world *world, int columns, int rows)
{
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, columns, rows, 2.0f, 2.0f));
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  assert_false(TN_IS_NULL(soft));
  return soft;
}

#define MOST 100

static void same_hits(const tn_world *a, const tn_world *b, const tn_pos *at, int count)
{
  for (int i = 0; i < count; ++i) {
    tn_pos from = tn_p3(at[i].x, at[i].y + 5.0, at[i].z);
    tn_hit hits[2];
    for (int k = 0; k < 2; ++k) {
      hits[k] = tn_world_ray(k ? b : a, from, tn_v3(0.0f, -10.0f, 0.0f), tn_default_query_filter());
    }
    assert_int_equal(hits[0].hit, hits[1].hit);
    assert_true(hits[0].fraction == hits[1].fraction);
  }
}

// One world gets calls per particle, its twin one call for all.
static void single_and_list_calls_are_equivalent(void **unused)
{
  (void)unused;
  uint32_t seed = 21;
  for (int n = 0; n < 30; ++n) {
    int columns = 2 + test_index(&seed, 9), rows = 2 + test_index(&seed, 9), count = columns * rows;
    tn_world *one = test_world(4, TN_METHOD_TENON), *all = test_world(4, TN_METHOD_TENON);
    tn_soft_id a = make_cloth(one, columns, rows), b = make_cloth(all, columns, rows);
    for (int step = 0; step < 8; ++step) {
      tn_pos at[MOST];
      tn_vec3 v[MOST], forces[MOST];
      assert_int_equal(tn_soft_positions(one, a, at, MOST), count);
      float size = step % 2 ? 0.01f : 3.0f; // grows and shrinks in turn
      for (int i = 0; i < count; ++i) {
        if (test_index(&seed, 2)) {
          at[i] = tn_offset(step % 3 ? at[i] : origin, test_vector(&seed, size));
        }
        v[i] = test_vector(&seed, 1.0f);
        forces[i] = test_vector(&seed, 1.0f);
        assert_true(tn_soft_set_position(one, a, i, at[i]));
        assert_true(tn_soft_set_velocity(one, a, i, v[i]));
        assert_true(tn_soft_apply_force(one, a, i, forces[i]));
      }
      assert_true(tn_soft_set_positions(all, b, at, count));
      assert_true(tn_soft_set_velocities(all, b, v, count));
      assert_true(tn_soft_apply_forces(all, b, NULL, forces, count));
      same_hits(one, all, at, count);
      tn_world_step(one, dt);
      tn_world_step(all, dt);
      assert_true(tn_world_hash(one) == tn_world_hash(all));
      same_hits(one, all, at, count);
    }
    tn_world_destroy(one);
    tn_world_destroy(all);
  }
}

// Forces of a list in any order, with repeats, add up: free particles gain F t / m.
static void forces_of_a_list_add_up(void **unused)
{
  (void)unused;
  static const tn_vec3 vertices[3] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {2.0f, 0.0f, 0.0f}};
  static const float masses[3] = {1.0f, 2.0f, 4.0f};
  static const int particles[4] = {2, 0, 2, 2};
  static const tn_vec3 forces[4] = {
      {8.0f, 0.0f, 0.0f}, {0.0f, 3.0f, 0.0f}, {0.0f, 4.0f, 0.0f}, {0.0f, 4.0f, 0.0f}};
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def();
  def.vertices = vertices;
  def.vertex_count = 3;
  def.masses = masses;
  def.gravity_scale = 0.0f;
  tn_soft_id soft = tn_soft_create(world, &def);
  assert_true(tn_soft_apply_forces(world, soft, particles, forces, 4));
  test_run(world, dt, 1);
  tn_vec3 v[3];
  tn_soft_velocities(world, soft, v, 3);
  assert_close(v[0].y, 3.0f * dt, 1e-6);
  assert_close(tn_length(v[1]), 0.0, 1e-9);
  assert_close(v[2].x, 2.0f * dt, 1e-6);
  assert_close(v[2].y, 2.0f * dt, 1e-6);
  tn_world_destroy(world);
}

static void bad_lists_change_nothing(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON), *twin = test_world(4, TN_METHOD_TENON);
  tn_soft_id soft = make_cloth(world, 2, 2);
  make_cloth(twin, 2, 2);
  tn_vec3 forces[4] = {
      {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, NAN, 0.0f}};
  int particles[4] = {0, 1, 2, 4};
  test_forget_messages();
  assert_false(tn_soft_apply_forces(world, soft, NULL, forces, 4));
  assert_message("particle 3 is not finite");
  assert_false(tn_soft_apply_forces(world, soft, NULL, forces, 3));
  assert_message("all are wanted");
  assert_false(tn_soft_apply_forces(world, soft, NULL, NULL, 4));
  assert_message("all are wanted");
  forces[3].y = 0.0f;
  assert_false(tn_soft_apply_forces(world, soft, particles, forces, 4));
  assert_message("no particle 4");
  assert_false(tn_soft_apply_forces(world, soft, particles, NULL, 1));
  assert_message("null");
  assert_false(tn_soft_apply_forces(world, soft, particles, forces, -1));
  assert_message("negative");
  assert_true(tn_soft_apply_forces(world, soft, particles, forces, 0));
  tn_soft_id none = {0};
  assert_false(tn_soft_apply_forces(world, none, particles, forces, 1));
  assert_message("null");
  assert_false(tn_soft_apply_forces(NULL, soft, particles, forces, 1));
  test_run(world, dt, 1);
  test_run(twin, dt, 1);
  assert_true(tn_world_hash(world) == tn_world_hash(twin));
  tn_world_destroy(world);
  tn_world_destroy(twin);
}

// 540,000 calls for single particles of a large body take less than a second. At a cost
// proportional to the body they would take minutes; the test stops after some seconds.
static void cost_of_single_particles_is_independent_of_the_body(void **unused)
{
  (void)unused;
  const int side = 300;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_id soft = make_cloth(world, side, side);
  clock_t start = clock();
  for (int i = 0; i < side * side; ++i) {
    tn_pos at = tn_soft_position(world, soft, i);
    assert_true(tn_soft_set_position(world, soft, i, tn_offset(at, tn_v3(0.0f, 1.0f, 0.0f))));
    assert_true(tn_soft_set_velocity(world, soft, i, tn_v3(0.0f, 1.0f, 0.0f)));
    assert_true(tn_soft_apply_force(world, soft, i, tn_v3(0.0f, 1.0f, 0.0f)));
    assert_true(tn_soft_set_pinned(world, soft, i, true));
    assert_true(tn_soft_set_pinned(world, soft, i, false));
    assert_false(tn_soft_is_pinned(world, soft, i));
    assert_below((double)(clock() - start) / CLOCKS_PER_SEC, 20.0);
  }
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_and_list_calls_are_equivalent),
      cmocka_unit_test(forces_of_a_list_add_up),
      cmocka_unit_test(bad_lists_change_nothing),
      cmocka_unit_test(cost_of_single_particles_is_independent_of_the_body),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
