// Contacts between soft bodies, by particles, triangles and edges.
#include "soft_support.h"

#include <math.h>

static const int two[3] = {2, 2, 2}, three[3] = {3, 3, 3};

static void add_ground(tn_world *world)
{
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, test_no_body, &plane);
}

// A block of 1 m and 200 kg with few particles.
static tn_soft_id add_block(tn_world *world, tn_pos at, tn_vec3 velocity)
{
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_box(&def, two, tn_v3(0.5f, 0.5f, 0.5f), true));
  def.position = at;
  def.velocity = velocity;
  def.mass = 200.0f;
  def.youngs_modulus = 1e6f;
  def.damping = 5.0f;
  tn_soft_id id = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  return id;
}

static tn_soft_id add_small(tn_world *world, tn_pos at, tn_vec3 velocity)
{
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_box(&def, three, tn_v3(0.06f, 0.06f, 0.06f), false));
  def.position = at;
  def.velocity = velocity;
  def.mass = 1.0f;
  def.youngs_modulus = 1e6f;
  def.damping = 5.0f;
  tn_soft_id id = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  return id;
}

static double lowest_of(const tn_world *world, tn_soft_id soft)
{
  tn_pos x[2000];
  int count = tn_soft_positions(world, soft, x, 2000);
  double lowest = 1e9;
  for (int i = 0; i < count; ++i) {
    lowest = fmin(lowest, x[i].y);
  }
  return lowest;
}

static tn_vec3 force_between(const tn_world *world, tn_soft_id soft, tn_soft_id other)
{
  tn_soft_contact contacts[4000];
  int count = tn_soft_contacts(world, soft, contacts, 4000);
  tn_vec3 sum = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < count && i < 4000; ++i) {
    if (TN_SAME_ID(contacts[i].other_soft, other)) {
      sum = tn_add(sum, contacts[i].force);
    }
  }
  return sum;
}

// The small block lies within one triangle of the large one, far from its particles: it does not
// sink in, and the contact carries its weight.
static void block_rests_within_a_triangle(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  add_ground(world);
  tn_soft_id block = add_block(world, tn_p3(0.0, 0.51, 0.0), tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_id small = add_small(world, tn_p3(0.17, 1.1, 0.32), tn_v3(0.0f, 0.0f, 0.0f));
  test_run(world, dt, 240);
  assert_close(lowest_of(world, small), 1.015, 0.01);
  tn_vec3 sum = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < 60; ++i) {
    test_run(world, dt, 1);
    tn_vec3 force = force_between(world, small, block), back = force_between(world, block, small);
    assert_below(tn_length(tn_add(force, back)), 1e-3f); // action equals reaction
    sum = tn_add(sum, tn_scale(1.0f / 60.0f, force));
  }
  assert_close(sum.y, 10.0, 0.2);
  assert_close(sum.x, 0.0, 0.2);
  assert_close(sum.z, 0.0, 0.2);
  tn_world_destroy(world);
}

// An oblique impact in free flight, with friction: linear and angular momentum are conserved,
// although the surfaces stay apart by the sum of their radii.
static void check_impact_momentum(tn_method method, double bound)
{
  tn_world *world = test_world(20, method);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_id block = add_block(world, origin, tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_id small = add_small(world, tn_p3(0.17, 0.8, 0.32), tn_v3(2.0f, -4.0f, 0.0f));
  tn_momentum a = tn_world_momentum(world, origin);
  double energy = tn_world_energy(world).total;
  test_run(world, dt, 60);
  tn_momentum b = tn_world_momentum(world, origin);
  print_message("  of both momenta %.1e and %.1e\n", apart3(a.linear, b.linear) / length3(a.linear),
                apart3(a.angular, b.angular) / length3(a.angular));
  assert_below(apart3(a.linear, b.linear), 1e-5 * length3(a.linear));
  assert_below(apart3(a.angular, b.angular), bound * length3(a.angular));
  assert_below(tn_world_energy(world).total, energy);
  assert_true(lowest_of(world, small) > 0.5); // no penetration
  tn_momentum given = tn_soft_momentum(world, block, origin);
  assert_true(given.linear[1] < -4.0 && given.linear[0] > 0.5); // with a share of friction
  tn_world_destroy(world);
}

static void impact_with_friction_conserves_momentum(void **unused)
{
  (void)unused;
  check_impact_momentum(TN_METHOD_TENON, 1e-5);
  check_impact_momentum(TN_METHOD_XPBD, 1e-2); // lever arms of mid step
}

// Two equal cubes that meet by corners, edges and faces as they rotate.
static void colliding_cubes_conserve_momentum(void **unused)
{
  (void)unused;
  for (int i = 0; i < 2; ++i) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    for (int k = 0; k < 2; ++k) {
      tn_soft_def def = tn_default_soft_def();
      assert_true(tn_soft_mesh_box(&def, three, tn_v3(0.2f, 0.2f, 0.2f), i == 0));
      float side = k == 0 ? 1.0f : -1.0f;
      def.position = tn_p3(0.4 * (double)side, 0.1 * (double)side, 0.05 * (double)side);
      def.velocity = tn_v3(-2.0f * side, 0.0f, 0.5f * side);
      def.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.6f, 0.8f), 0.7f * side);
      def.mass = 2.0f + side;
      def.radius = 0.03f;
      def.youngs_modulus = 1e5f;
      def.material.static_friction = def.material.dynamic_friction = 0.8f;
      tn_soft_create(world, &def);
      tn_soft_mesh_free(&def);
    }
    tn_momentum a = tn_world_momentum(world, origin);
    double energy = tn_world_energy(world).total;
    test_run(world, dt, 120);
    tn_momentum b = tn_world_momentum(world, origin);
    assert_below(apart3(a.linear, b.linear), 1e-5 * length3(a.linear));
    assert_below(apart3(a.angular, b.angular), 1e-5 * length3(a.angular));
    assert_below(tn_world_energy(world).total, 0.9 * energy);
    tn_world_destroy(world);
  }
}

// A fine ball at 10 m/s against the middle of a coarse face, which yields.
static void a_soft_ball_does_not_pass_a_coarse_face(void **unused)
{
  (void)unused;
  for (int substeps = 5; substeps <= 20; substeps *= 2) {
    tn_world *world = test_world(substeps, TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    add_block(world, origin, tn_v3(0.0f, 0.0f, 0.0f));
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_sphere(&def, 2, 0.1f));
    def.position = tn_p3(0.17, 0.8, 0.32);
    def.velocity = tn_v3(0.0f, -10.0f, 0.0f);
    def.mass = 5.0f;
    def.pressure = 1.0f;
    tn_soft_id ball = tn_soft_create(world, &def);
    tn_soft_mesh_free(&def);
    test_run(world, dt, 30);
    tn_momentum after = tn_soft_momentum(world, ball, origin);
    assert_true(lowest_of(world, ball) > 0.4);
    assert_true(after.linear[1] > 0.0);
    tn_world_destroy(world);
  }
}

// A cloth on a coarse block with particles at corners and middles only.
static void cloth_lies_on_a_soft_block(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  add_ground(world);
  tn_soft_id block = add_block(world, tn_p3(0.0, 0.51, 0.0), tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, 17, 17, 0.8f, 0.8f));
  def.position = tn_p3(0.02, 1.1, 0.03);
  def.mass = 1.0f;
  def.linear_damping = 1.0f;
  tn_soft_id cloth = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  test_run(world, dt, 180);
  assert_true(lowest_of(world, cloth) > 1.005);
  float weight = 0.0f;
  for (int i = 0; i < 60; ++i) {
    test_run(world, dt, 1);
    weight += force_between(world, cloth, block).y / 60.0f;
  }
  assert_close(weight, 10.0, 0.2);
  tn_world_destroy(world);
}

// A bar of 1 m, rotated about its length by `roll`; few particles, and none at the contact.
static tn_soft_id add_bar(tn_world *world, tn_pos at, float turn, float roll, tn_vec3 velocity)
{
  static const int cells[3] = {3, 1, 1};
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_box(&def, cells, tn_v3(0.5f, 0.1f, 0.1f), true));
  def.position = at;
  def.velocity = velocity;
  def.rotation = tn_quat_mul(tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), turn),
                             tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), roll));
  def.mass = 2.0f;
  def.youngs_modulus = 1e6f;
  def.material.static_friction = def.material.dynamic_friction = 0.5f;
  tn_soft_id id = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  return id;
}

// Crossed bars, edge on edge and face on face, in free flight: they do not pass through each other,
// and conserve momentum.
static void crossed_bars_do_not_pass_through(void **unused)
{
  (void)unused;
  const tn_pos aside = tn_p3(1.0, 0.0, 0.0); // a central impact
  for (int i = 0; i < 6; ++i) {
    tn_world *world = test_world(20, i < 4 ? TN_METHOD_TENON : TN_METHOD_XPBD);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    float roll = i % 2 == 0 ? 0.785f : 0.0f, speed = i < 2 ? 1.0f : 4.0f;
    tn_soft_id low = add_bar(world, tn_p3(0.02, 0.0, 0.03), 0.1f, roll, tn_v3(0.0f, 0.0f, 0.0f));
    tn_soft_id high = add_bar(world, tn_p3(0.0, 0.4, 0.0), 1.5f, roll, tn_v3(0.1f, -speed, 0.2f));
    tn_momentum a = tn_world_momentum(world, aside);
    double energy = tn_world_energy(world).total;
    test_run(world, dt, 15);
    tn_momentum b = tn_world_momentum(world, aside);
    double slow = tn_soft_momentum(world, low, origin).linear[1] / 2.0;
    double fast = tn_soft_momentum(world, high, origin).linear[1] / 2.0;
    print_message("  %g m/s become %.3f and %.3f; of both momenta %.1e and %.1e\n", (double)-speed,
                  fast, slow, apart3(a.linear, b.linear) / length3(a.linear),
                  apart3(a.angular, b.angular) / length3(a.angular));
    assert_true(fast > slow - 0.1 * (double)speed); // they separate, or move on together
    assert_true(slow < -0.3 * (double)speed);
    assert_below(apart3(a.linear, b.linear), 1e-5 * length3(a.linear));
    assert_below(apart3(a.angular, b.angular), (i < 4 ? 1e-5 : 1e-2) * length3(a.angular));
    assert_below(tn_world_energy(world).total, energy);
    tn_world_destroy(world);
  }
}

// A strip of cloth pinned at its corners carries another across it; both have four particles only.
static void crossed_strips_carry_each_other(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_soft_id strips[2];
  for (int i = 0; i < 2; ++i) {
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_cloth(&def, 2, 2, 1.0f, 0.3f));
    def.position = tn_p3(0.02 * (double)i, 0.05 * (double)i, 0.01);
    def.rotation = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), 1.5f * (float)i);
    def.mass = 0.2f;
    strips[i] = tn_soft_create(world, &def);
    tn_soft_mesh_free(&def);
  }
  for (int i = 0; i < 4; ++i) {
    tn_soft_set_pinned(world, strips[0], i, true);
  }
  test_run(world, dt, 120);
  float weight = 0.0f;
  for (int i = 0; i < 60; ++i) {
    test_run(world, dt, 1);
    weight += force_between(world, strips[1], strips[0]).y / 60.0f;
  }
  print_message("  at %.3f m, %.3f N\n", lowest_of(world, strips[1]), (double)weight);
  assert_true(lowest_of(world, strips[1]) > 0.0);
  assert_close(weight, 2.0, 0.04);
  tn_world_destroy(world);
}

static void same_bits_for_lanes_and_threads(void **unused)
{
  (void)unused;
  int lanes[4], count = test_lanes(lanes);
  uint64_t first = 0;
  for (int i = 0; i < 2 * count; ++i) {
    tn_world *world = test_world_with(5, TN_METHOD_TENON, lanes[i % count], 1 + i / count);
    add_ground(world);
    add_block(world, tn_p3(0.0, 0.51, 0.0), tn_v3(0.0f, 0.0f, 0.0f));
    add_small(world, tn_p3(0.17, 1.1, 0.32), tn_v3(0.0f, -1.0f, 0.0f));
    for (int k = 0; k < 60; ++k) {
      tn_world_step(world, dt);
    }
    uint64_t hash = tn_world_hash(world);
    first = i == 0 ? hash : first;
    assert_true(hash == first);
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_rests_within_a_triangle),
      cmocka_unit_test(impact_with_friction_conserves_momentum),
      cmocka_unit_test(colliding_cubes_conserve_momentum),
      cmocka_unit_test(a_soft_ball_does_not_pass_a_coarse_face),
      cmocka_unit_test(cloth_lies_on_a_soft_block),
      cmocka_unit_test(crossed_bars_do_not_pass_through),
      cmocka_unit_test(crossed_strips_carry_each_other),
      cmocka_unit_test(same_bits_for_lanes_and_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
