// Inverse kinematics: an arm of three links of 1 m on hinges, against a search over its angles.
#include "support.h"

#include <math.h>

#define LINKS 3
static const tn_vec3 z_axis = {0.0f, 0.0f, 1.0f};

typedef struct arm {
  tn_world *world;
  tn_body_id links[LINKS];
  tn_joint_id joints[LINKS];
} arm;

static arm make_arm(tn_method method, float limit)
{
  arm a = {.world = test_world(20, method)};
  for (int i = 0; i < LINKS; ++i) {
    a.links[i] =
        test_box(a.world, tn_p3(i + 0.5, 0.0, 0.0), 3.0f - (float)i, tn_v3(0.5f, 0.1f, 0.1f));
    tn_joint_def def = test_joint_def(a.world, TN_JOINT_HINGE, i ? a.links[i - 1] : test_no_body,
                                      a.links[i], tn_p3(i, 0.0, 0.0), z_axis);
    def.angular[0] = tn_between(-limit, limit);
    def.axis[TN_ANGULAR_A].drive = tn_servo(0.0f, INFINITY, 0.0f);
    a.joints[i] = tn_joint_create(a.world, &def);
  }
  return a;
}

static tn_reach_result reach(const arm *a, double x, double y)
{
  tn_reach_def def = tn_default_reach_def();
  def.body = a->links[LINKS - 1];
  def.frame.p = tn_p3(0.5, 0.0, 0.0);
  def.target.p = tn_p3(x, y, 0.0);
  return tn_world_reach(a->world, &def);
}

// The smallest distance for any angles within the limits.
static double search(double x, double y, double limit)
{
  double best[LINKS] = {0.0, 0.0, 0.0}, least = 1e9, size = limit;
  for (int level = 0; level < 12; ++level, size *= 0.5) {
    double middle[LINKS] = {best[0], best[1], best[2]};
    for (int n = 0; n < 21 * 21 * 21; ++n) {
      double angle[LINKS], sum = 0.0, px = 0.0, py = 0.0;
      int at[LINKS] = {n % 21, n / 21 % 21, n / 441};
      for (int i = 0; i < LINKS; ++i) {
        angle[i] = fmax(-limit, fmin(middle[i] + size * (at[i] - 10) / 10.0, limit));
        sum += angle[i];
        px += cos(sum);
        py += sin(sum);
      }
      double d = hypot(px - x, py - y);
      if (d < least) {
        least = d;
        best[0] = angle[0];
        best[1] = angle[1];
        best[2] = angle[2];
      }
    }
  }
  return least;
}

static void check(double x, double y, float limit)
{
  arm a = make_arm(TN_METHOD_TENON, limit);
  tn_reach_result result = reach(&a, x, y);
  double best = search(x, y, (double)limit);
  print_message("  target %.1f %.1f, limit %.1f: %.6f m away, %.6f m at best\n", x, y,
                (double)limit, (double)result.distance, best);
  assert_true(result.ok);
  assert_close((double)result.distance, best, 0.01 * best + 1e-4);
  for (int i = 0; i < LINKS; ++i) {
    tn_joint_state state = tn_joint_get_state(a.world, a.joints[i]);
    assert_below(fabs((double)state.angle.x), (double)limit + 0.0017);
    assert_below(state.elongation, 1e-4);
  }
  tn_world_destroy(a.world);
}

static void reaches_the_closest_point_within_limits(void **unused)
{
  (void)unused;
  check(1.2, 1.5, 3.0f);
  check(-0.5, 1.0, 3.0f);
  check(2.9, 0.2, 3.0f);
  check(5.0, 1.0, 3.0f);  // out of reach
  check(1.5, 1.5, 0.5f);  // restricted by limits
  check(0.5, -2.5, 0.7f); // out of reach within the limits
}

// Inverse kinematics changes poses, not velocities.
static void velocities_do_not_change(void **unused)
{
  (void)unused;
  for (int m = 0; m < TEST_METHODS; ++m) {
    arm a = make_arm(test_methods[m], 3.0f);
    tn_body_set_velocity(a.world, a.links[2], tn_v3(0.1f, 0.2f, 0.3f));
    tn_counters before = tn_world_counters(a.world);
    tn_reach_result result = reach(&a, 1.0, 2.0);
    assert_true(result.ok && result.distance < 1e-4f);
    tn_vec3 v = tn_body_velocity(a.world, a.links[2]);
    assert_true(v.x == 0.1f && v.y == 0.2f && v.z == 0.3f);
    assert_int_equal(tn_world_counters(a.world).joints, before.joints);
    assert_int_equal(tn_world_method(a.world), test_methods[m]);
    test_run(a.world, 1.0f / 60.0f, 10);
    tn_world_destroy(a.world);
  }
}

static void rotation_counts_if_asked(void **unused)
{
  (void)unused;
  arm a = make_arm(TN_METHOD_TENON, 3.0f);
  tn_reach_def def = tn_default_reach_def();
  def.body = a.links[LINKS - 1];
  def.frame.p = tn_p3(0.5, 0.0, 0.0);
  def.target.p = tn_p3(1.5, 1.0, 0.0);
  def.target.q = tn_quat_axis_angle(z_axis, 1.0f);
  def.turn = true;
  def.iterations = 200;
  tn_reach_result result = tn_world_reach(a.world, &def);
  assert_true(result.ok);
  assert_below(result.distance, 1e-3);
  assert_close((double)tn_dot(tn_rotate(result.pose.q, tn_v3(1.0f, 0.0f, 0.0f)),
                              tn_v3(tn_cos(1.0f), tn_sin(1.0f), 0.0f)),
               1.0, 1e-5);
  tn_world_destroy(a.world);
}

// Chains of every kind of joint, rigid and soft, that grow link by link. The target row must not
// access memory beyond its own rows, which the address sanitizer detects when they are the last.
static void any_kind_of_joint_is_supported(void **unused)
{
  (void)unused;
  uint32_t seed = 3;
  for (int n = 0; n < 2 * TN_JOINT_KIND_COUNT; ++n) {
    tn_world *world = test_world(4, TN_METHOD_TENON);
    tn_body_id last = test_no_body;
    for (int i = 0; i < 40; ++i) {
      tn_body_id body = test_box(world, tn_p3(i + 0.5, 0.0, 0.0), 1.0f, tn_v3(0.5f, 0.1f, 0.1f));
      tn_joint_def joint =
          test_joint_def(world, (tn_joint_kind)(n / 2), last, body, tn_p3(i, 0.0, 0.0), z_axis);
      joint.compliance = joint.angular_compliance = n % 2 ? 1e-6f : 0.0f;
      assert_false(TN_IS_NULL(tn_joint_create(world, &joint)));
      last = body;
      tn_reach_def def = tn_default_reach_def();
      def.body = last;
      def.turn = true;
      def.iterations = 3;
      def.target.p = tn_p3(0.3 * i, 0.4 * i, 0.0);
      def.target.q = tn_quat_axis_angle(z_axis, test_between(&seed, -3.0f, 3.0f));
      tn_reach_result result = tn_world_reach(world, &def);
      assert_true(result.ok && isfinite(result.distance));
    }
    tn_world_destroy(world);
  }
}

// Frames and targets out of range: the call fails with a message, as for joints with such frames,
// and no body moves.
static void failed_calls_move_nothing(void **unused)
{
  (void)unused;
  static const double sizes[] = {1e20, 1e30, 1e38, 1e39, 1e150, 1e300, 1.7e308};
  int failures = 0;
  for (int n = 0; n < 7 * 3 * 2; ++n) {
    double size = sizes[n % 7];
    arm a = make_arm(TN_METHOD_TENON, 3.0f), twin = make_arm(TN_METHOD_TENON, 3.0f);
    tn_reach_def def = tn_default_reach_def();
    def.body = a.links[LINKS - 1];
    def.turn = n % 2;
    def.target.p = tn_p3(1.0, 2.0, 0.0);
    if (n / 14 == 0) {
      def.frame.p.x = size;
    } else if (n / 14 == 1) {
      def.target.p.y = -size;
    } else {
      arm *both[2] = {&a, &twin};
      for (int k = 0; k < 2; ++k) {
        tn_joint_def joint = tn_joint_get_def(both[k]->world, both[k]->joints[0]);
        joint.frame_a.p.x = joint.frame_b.p.x = size;
        assert_false(tn_joint_set_def(both[k]->world, both[k]->joints[0], &joint));
      }
    }
    test_forget_messages();
    tn_reach_result result = tn_world_reach(a.world, &def);
    if (result.ok) {
      assert_true(isfinite(result.distance) && test_is_finite(a.world));
    } else {
      assert_message("tn_world_reach");
      failures += 1;
      for (int i = 0; i < LINKS; ++i) {
        tn_transform pose = tn_body_transform(a.world, a.links[i]);
        tn_transform expected = tn_body_transform(twin.world, twin.links[i]);
        assert_memory_equal(&pose, &expected, sizeof pose);
      }
      if (n / 14 < 2) {
        test_run(a.world, 1.0f / 60.0f, 3);
        assert_true(test_is_finite(a.world));
      }
    }
    tn_world_destroy(a.world);
    tn_world_destroy(twin.world);
  }
  assert_true(failures > 7);
}

static void bad_input_changes_nothing(void **unused)
{
  (void)unused;
  arm a = make_arm(TN_METHOD_TENON, 3.0f);
  uint64_t before = tn_world_hash(a.world);
  tn_reach_def good = tn_default_reach_def();
  good.body = a.links[2];
  tn_reach_def def = good;
  test_forget_messages();
  def.cookie = 0;
  assert_false(tn_world_reach(a.world, &def).ok);
  assert_message("tn_default_reach_def");
  assert_false(tn_world_reach(a.world, NULL).ok);
  assert_message("tn_default_reach_def");
  def = good;
  def.target.p.x = NAN;
  assert_false(tn_world_reach(a.world, &def).ok);
  assert_message("target");
  def = good;
  def.frame.q.w = INFINITY;
  assert_false(tn_world_reach(a.world, &def).ok);
  assert_message("frame");
  def = good;
  def.iterations = 0;
  assert_false(tn_world_reach(a.world, &def).ok);
  assert_message("iterations");
  def = good;
  def.body = test_no_body;
  assert_false(tn_world_reach(a.world, &def).ok);
  assert_message("tn_world_reach");
  assert_false(tn_world_reach(NULL, &good).ok);
  assert_true(tn_world_hash(a.world) == before);
  def.body = test_body(a.world, TN_BODY_STATIC, tn_p3(9.0, 9.0, 9.0));
  assert_false(tn_world_reach(a.world, &def).ok);
  assert_message("dynamic");
  tn_world_destroy(a.world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reaches_the_closest_point_within_limits),
      cmocka_unit_test(velocities_do_not_change),
      cmocka_unit_test(rotation_counts_if_asked),
      cmocka_unit_test(any_kind_of_joint_is_supported),
      cmocka_unit_test(failed_calls_move_nothing),
      cmocka_unit_test(bad_input_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
