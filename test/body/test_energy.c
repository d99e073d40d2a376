// Energy and momentum that the world reports, against direct sums, and oscillators.
#include "support.h"

#include <math.h>

#define DT (1.0f / 60.0f)
#define G 10.0

static tn_mass turned_mass(void)
{
  tn_mass box = tn_mass_scaled_to(tn_mass_box(tn_v3(0.1f, 0.2f, 0.4f), 1.0f), 3.0f);
  return tn_mass_at(box, tn_v3(0.1f, -0.2f, 0.3f),
                    tn_quat_axis_angle(tn_v3(1.0f, 2.0f, 3.0f), 0.7f));
}

// Kinetic energy and momentum from the public mass, pose and velocities.
static void sums_match_the_definitions(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_def def = test_body_def();
  def.mass = turned_mass();
  def.position = tn_p3(1.0, 2.0, 3.0);
  def.rotation = tn_quat_axis_angle(tn_v3(-1.0f, 1.0f, 0.5f), 1.1f);
  def.velocity = tn_v3(0.5f, -1.0f, 2.0f);
  def.angular_velocity = tn_v3(3.0f, 1.0f, -2.0f);
  tn_body_id body = tn_body_create(world, &def);

  tn_vec3 local_w = tn_rotate(tn_quat_conjugate(def.rotation), def.angular_velocity);
  tn_sym3 i = def.mass.inertia;
  tn_vec3 local_l = tn_v3(i.xx * local_w.x + i.xy * local_w.y + i.xz * local_w.z,
                          i.xy * local_w.x + i.yy * local_w.y + i.yz * local_w.z,
                          i.xz * local_w.x + i.yz * local_w.y + i.zz * local_w.z);
  tn_vec3 l = tn_rotate(def.rotation, local_l);
  tn_pos c = tn_offset(def.position, tn_rotate(def.rotation, def.mass.center));
  double kinetic = 0.5 * 3.0 * (double)tn_dot(def.velocity, def.velocity) +
                   0.5 * (double)tn_dot(l, def.angular_velocity);
  tn_energy energy = tn_world_energy(world);
  assert_close(energy.kinetic, kinetic, 2e-6 * kinetic);
  assert_close(energy.potential, 3.0 * G * c.y, 1e-5);
  assert_close(energy.total, energy.kinetic + energy.potential, 1e-12);

  tn_pos about = tn_p3(-1.0, 0.5, 0.0);
  tn_vec3 r = tn_between_points(about, c);
  tn_vec3 expected = tn_add(l, tn_cross(r, tn_scale(3.0f, def.velocity)));
  tn_momentum m = tn_world_momentum(world, about);
  assert_close(m.mass, 3.0, 1e-6);
  assert_close(m.linear[1], -3.0, 1e-6);
  assert_close(m.angular[0], (double)expected.x, 2e-5);
  assert_close(m.angular[1], (double)expected.y, 2e-5);
  assert_close(m.angular[2], (double)expected.z, 2e-5);
  tn_momentum one = tn_bodies_momentum(world, &body, 1, about);
  assert_close(one.angular[2], m.angular[2], 0.0);
  tn_world_destroy(world);
}

static void a_body_named_twice_counts_once(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id a = test_box(world, tn_p3(0.0, 1.0, 0.0), 2.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_body_id b = test_box(world, tn_p3(0.0, 2.5, 0.0), 3.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_body_set_velocity(world, a, tn_v3(1.0f, 2.0f, 0.0f));
  tn_joint_def spring = tn_default_joint_def(TN_JOINT_DISTANCE);
  spring.body_a = a;
  spring.body_b = b;
  spring.linear[0] = tn_between(1.0f, 1.0f);
  spring.compliance = 0.01f;
  tn_joint_create(world, &spring);
  tn_body_id ids[5] = {a, b, a, a, b};
  tn_energy sum = tn_bodies_energy(world, ids, 5);
  tn_energy all = tn_world_energy(world);
  assert_close(sum.kinetic, all.kinetic, 0.0);
  assert_close(sum.potential, all.potential, 0.0);
  assert_close(sum.elastic, all.elastic, 0.0);
  assert_close(all.elastic, 0.5 * 0.25 / 0.01, 1e-4);
  tn_pos origin = tn_p3(0.0, 0.0, 0.0);
  tn_momentum m = tn_bodies_momentum(world, ids, 5, origin);
  assert_close(m.mass, 5.0, 1e-6);
  assert_close(m.linear[1], tn_world_momentum(world, origin).linear[1], 0.0);
  tn_world_destroy(world);
}

static void springs_store_half_k_x_squared(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id a = test_box(world, tn_p3(0.0, 0.0, 0.0), 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_body_id b = test_box(world, tn_p3(1.3, 0.0, 0.0), 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_joint_def spring = tn_default_joint_def(TN_JOINT_DISTANCE);
  spring.body_a = a;
  spring.body_b = b;
  spring.linear[0] = tn_between(1.0f, 1.0f);
  spring.compliance = 0.01f;
  tn_joint_create(world, &spring);
  double stored = 0.5 * 0.3 * 0.3 / 0.01;
  assert_close(tn_world_energy(world).elastic, stored, 1e-5 * stored);
  tn_joint_def servo = tn_default_joint_def(TN_JOINT_HINGE);
  servo.body_b = b;
  tn_joint_def_at(world, &servo, tn_p3(1.3, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
  servo.axis[TN_ANGULAR_A].drive = tn_servo(0.2f, 20.0f, 0.0f);
  tn_joint_create(world, &servo);
  double turned = 0.5 * 0.2 * 0.2 / 0.05;
  assert_close(tn_world_energy(world).elastic, stored + turned, 1e-5 * stored);
  // Energy of a set of bodies: a spring counts if both bodies are in the set, a servo if its body B
  // is.
  tn_body_id both[2] = {a, b};
  assert_close(tn_bodies_energy(world, both, 2).elastic, stored + turned, 1e-5 * stored);
  assert_close(tn_bodies_energy(world, &b, 1).elastic, turned, 1e-5 * turned);
  assert_close(tn_bodies_energy(world, &a, 1).elastic, 0.0, 0.0);
  tn_world_destroy(world);
}

// Period of a mass on a spring: 2 pi sqrt(m alpha); the error falls with the substeps.
static double spring_period(int substeps)
{
  tn_world *world = test_world(substeps, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_body_id box = test_box(world, tn_p3(0.2, 0.0, 0.0), 4.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_joint_def spring = tn_default_joint_def(TN_JOINT_BALL);
  spring.body_b = box;
  spring.compliance = 0.01f;
  tn_joint_create(world, &spring);
  double last = 0.2, first = 0.0, now = 0.0;
  int crossings = 0;
  for (int i = 1; crossings < 5; ++i) {
    tn_world_step(world, DT);
    double x = tn_body_position(world, box).x;
    if ((x < 0.0) != (last < 0.0)) {
      now = ((double)i - x / (x - last)) / 60.0;
      first = crossings == 0 ? now : first;
      crossings += 1;
    }
    last = x;
  }
  tn_world_destroy(world);
  return (now - first) / 2.0;
}

static void spring_swings_with_its_period(void **unused)
{
  (void)unused;
  double exact = 2.0 * 3.14159265358979 * sqrt(4.0 * 0.01);
  assert_close(spring_period(20), exact, 0.001 * exact);
  assert_close(spring_period(80), exact, 0.0005 * exact);
}

// A rigid pendulum over a minute.
static void pendulum_keeps_energy_for_a_minute(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id rod = test_box(world, tn_p3(0.5, 0.0, 0.0), 1.0f, tn_v3(0.5f, 0.05f, 0.05f));
  tn_joint_def def = tn_default_joint_def(TN_JOINT_HINGE);
  def.body_b = rod;
  tn_joint_def_at(world, &def, tn_p3(0.0, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
  tn_joint_create(world, &def);
  double start = tn_world_energy(world).total;
  double worst = 0.0;
  for (int i = 0; i < 3600; ++i) {
    tn_world_step(world, DT);
    worst = fmax(worst, fabs(tn_world_energy(world).total - start) / 5.0);
  }
  print_message("single pendulum, 20 substeps, 60 s: energy error %.1e\n", worst);
  assert_true(worst < 1e-3);
  tn_world_destroy(world);
}

// Rods of 1 m and 1 kg, released from the horizontal. The moment about a rod's length is down to
// 1/1250 of the others; position corrections must not add spin about it.
static void check_slender(tn_method method, tn_joint_kind kind, float thickness)
{
  tn_world *world = test_world(20, method);
  tn_body_id above = test_no_body;
  for (int i = 0; i < 2; ++i) {
    tn_vec3 half = tn_v3(0.5f, 0.5f * thickness, 0.5f * thickness);
    tn_body_id rod = test_box(world, tn_p3(i + 0.5, 0.0, 0.0), 1.0f, half);
    test_joint(world, kind, above, rod, tn_p3(i, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    above = rod;
  }
  double start = tn_world_energy(world).total;
  for (int i = 0; i < 900; ++i) {
    assert_int_equal(tn_world_step(world, DT), TN_STEP_OK);
    // The position methods lose energy; none may be gained. The fall releases 20 J.
    assert_below(tn_world_energy(world).total - start, 1e-4 * 20.0);
  }
  tn_world_destroy(world);
}

static void slender_rods_gain_no_energy_from_corrections(void **unused)
{
  (void)unused;
  static const tn_method methods[] = {TN_METHOD_XPBD, TN_METHOD_JACOBI};
  static const tn_joint_kind kinds[] = {TN_JOINT_HINGE, TN_JOINT_BALL, TN_JOINT_UNIVERSAL};
  static const float thickness[] = {0.2f, 0.05f, 0.02f};
  for (int i = 0; i < 2 * 3 * 3; ++i) {
    check_slender(methods[i % 2], kinds[i / 2 % 3], thickness[i / 6]);
  }
}

// A spring of a large angular error releases the energy it holds and no more; at 100 substeps
// nearly all of it.
static void springs_of_every_kind_release_the_energy_they_hold(void **unused)
{
  (void)unused;
  for (int i = 0; i < 5 * TN_JOINT_KIND_COUNT; ++i) {
    tn_world *world = test_world(100, TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_joint_def def = tn_default_joint_def((tn_joint_kind)(i / 5));
    def.body_b = test_box(world, tn_p3(0.0, 0.0, 0.0), 1.0f, tn_v3(0.3f, 0.2f, 0.1f));
    def.compliance = def.limit_compliance = 0.01f;
    def.angular_compliance = def.angular_limit_compliance = 0.05f;
    def.frame_a.q = tn_quat_axis_angle(tn_v3(0.3f, 1.0f, 0.2f), 0.6f * (float)(1 + i % 5));
    def.frame_a.p = tn_p3(0.3, 0.1, 0.0);
    def.swing = 0.5f;
    def.angular[0] = tn_between(-0.2f, 0.4f);
    tn_joint_create(world, &def);
    double start = tn_world_energy(world).total, most_kinetic = 0.0;
    for (int k = 0; k < 60; ++k) {
      tn_world_step(world, DT);
      assert_below(tn_world_energy(world).total, start * (1.0 + 1e-3) + 1e-6);
      most_kinetic = fmax(most_kinetic, tn_world_energy(world).kinetic);
    }
    assert_below(0.7 * start, tn_world_energy(world).total);
    assert_true(most_kinetic > 0.3 * start || def.kind == TN_JOINT_DISTANCE);
    tn_world_destroy(world);
  }
}

// Angles are discontinuous where their reference axes coincide, rotation vectors at half a turn.
// Soft joints can be rotated to these poses.
static void soft_limits_gain_no_energy_where_angles_are_discontinuous(void **unused)
{
  (void)unused;
  static const tn_joint_kind kinds[] = {TN_JOINT_HINGE, TN_JOINT_BALL, TN_JOINT_UNIVERSAL,
                                        TN_JOINT_GENERIC};
  uint32_t random = 1;
  double worst = 0.0;
  for (int i = 0; i < 200; ++i) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_joint_def def = tn_default_joint_def(kinds[i % 4]);
    def.body_b = test_box(world, tn_p3(0.0, 0.0, 0.0), 1.0f, tn_v3(0.3f, 0.2f, 0.1f));
    def.angular_compliance = def.angular_limit_compliance = 0.5f;
    def.angular[0] = tn_between(-0.2f, 0.4f);
    def.angular[1] = tn_between(-0.5f, 0.3f);
    def.swing = 0.5f;
    tn_joint_create(world, &def);
    tn_body_set_angular_velocity(world, def.body_b,
                                 tn_v3(test_between(&random, -20.0f, 20.0f),
                                       test_between(&random, -20.0f, 20.0f),
                                       test_between(&random, -20.0f, 20.0f)));
    double start = tn_world_energy(world).total, least = start;
    for (int k = 0; k < 180; ++k) {
      tn_world_step(world, DT);
      double now = tn_world_energy(world).total;
      least = fmin(least, now);
      worst = fmax(worst, (now - least) / start);
    }
    tn_world_destroy(world);
  }
  print_message("soft limits, turned over: energy rises by %.1e of it at most\n", worst);
  assert_below(worst, 0.01);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_match_the_definitions),
      cmocka_unit_test(a_body_named_twice_counts_once),
      cmocka_unit_test(springs_store_half_k_x_squared),
      cmocka_unit_test(spring_swings_with_its_period),
      cmocka_unit_test(pendulum_keeps_energy_for_a_minute),
      cmocka_unit_test(slender_rods_gain_no_energy_from_corrections),
      cmocka_unit_test(springs_of_every_kind_release_the_energy_they_hold),
      cmocka_unit_test(soft_limits_gain_no_energy_where_angles_are_discontinuous),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
