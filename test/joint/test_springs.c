// Fig. 4: boxes on springs carry their load in every method, for every number of substeps and
// iterations.
#include "support.h"

#define DT (1.0f / 60.0f)
#define G 10.0

static const tn_method methods[] = {TN_METHOD_TENON, TN_METHOD_XPBD, TN_METHOD_JACOBI};

static void run(tn_world *world, double seconds)
{
  for (int i = 0; i < (int)(seconds * 60.0 + 0.5); ++i) {
    assert_int_equal(tn_world_step(world, DT), TN_STEP_OK);
  }
}

typedef struct springs {
  tn_joint_id joint[7];
  double load[7];
  int count;
} springs;

// A binary tree of boxes; the leaves weigh 1/8 kg, the others 1 kg.
static springs hang_springs(tn_world *world, int count)
{
  springs s = {.count = count};
  tn_body_id body[7];
  double mass[7];
  for (int i = 0; i < count; ++i) {
    int level = i == 0 ? 0 : i < 3 ? 1 : 2;
    bool leaf = 2 * i + 1 >= count;
    mass[i] = leaf ? 0.125 : 1.0;
    tn_pos at = tn_p3(0.0, -1.0 * (level + 1), 0.0);
    body[i] = test_box(world, at, (float)mass[i], tn_v3(0.1f, 0.1f, 0.1f));
    tn_body_set_linear_damping(world, body[i], 4.0f);
    tn_body_set_angular_damping(world, body[i], 4.0f);
    tn_joint_def def = tn_default_joint_def(TN_JOINT_DISTANCE);
    def.body_b = body[i];
    if (i > 0) {
      def.body_a = body[(i - 1) / 2];
    }
    def.compliance = 0.01f;
    assert_true(tn_joint_def_between(world, &def, tn_p3(0.0, -1.0 * level, 0.0), at));
    s.joint[i] = tn_joint_create(world, &def);
  }
  for (int i = count - 1; i >= 0; --i) {
    s.load[i] += mass[i] * G;
    if (i > 0) {
      s.load[(i - 1) / 2] += s.load[i];
    }
  }
  return s;
}

static void check_springs(tn_method method, int count, int substeps, int iterations)
{
  tn_world *world = test_world(substeps, method);
  assert_true(tn_world_set_substeps(world, substeps));
  assert_true(tn_world_set_iterations(world, iterations));
  springs s = hang_springs(world, count);
  run(world, 12.0);
  for (int i = 0; i < count; ++i) {
    tn_joint_state state = tn_joint_get_state(world, s.joint[i]);
    assert_close((double)state.elongation, s.load[i] * 0.01, 0.002 * s.load[i] * 0.01);
    assert_close((double)state.force.y, s.load[i], 0.002 * s.load[i]);
    assert_close((double)tn_length(state.force), s.load[i], 0.002 * s.load[i]);
  }
  tn_world_destroy(world);
}

static void fig_4_springs_carry_their_load(void **unused)
{
  (void)unused;
  static const int substeps[] = {1, 2, 5, 10, 20, 40};
  static const int iterations[] = {1, 5, 20};
  for (int m = 0; m < 3; ++m) {
    for (int s = 0; s < 6; ++s) {
      for (int i = 0; i < 3; ++i) {
        check_springs(methods[m], 3, substeps[s], iterations[i]);
        check_springs(methods[m], 7, substeps[s], iterations[i]);
      }
    }
  }
}

// Springs far stiffer than the substep resolves (compliance / h^2 below the inverse mass), in
// series above a load: at rest each is elongated by force times compliance.
static void check_stiff(tn_method method, int substeps, double compliance, double load)
{
  enum { COUNT = 3 };
  tn_world *world = test_world(substeps, method);
  tn_joint_id joint[COUNT];
  tn_body_id above = test_no_body;
  for (int i = 0; i < COUNT; ++i) {
    tn_pos at = tn_p3(0.0, -1.0 * (i + 1), 0.0);
    float mass = i == COUNT - 1 ? (float)load : 1.0f;
    tn_body_id body = test_box(world, at, mass, tn_v3(0.1f, 0.1f, 0.1f));
    tn_body_set_linear_damping(world, body, 2.0f);
    tn_body_set_angular_damping(world, body, 2.0f);
    tn_joint_def def = tn_default_joint_def(TN_JOINT_DISTANCE);
    def.body_a = above;
    def.body_b = body;
    def.compliance = (float)compliance;
    assert_true(tn_joint_def_between(world, &def, tn_p3(0.0, -1.0 * i, 0.0), at));
    joint[i] = tn_joint_create(world, &def);
    above = body;
  }
  run(world, 30.0);
  for (int i = 0; i < COUNT; ++i) {
    double force = G * (load + COUNT - 1 - i);
    tn_joint_state state = tn_joint_get_state(world, joint[i]);
    // Twice the rounding of a float of 1 m.
    assert_close((double)state.elongation, force * compliance, 0.002 * force * compliance + 1.2e-7);
    assert_close((double)state.force.y, force, 0.002 * force);
  }
  tn_world_destroy(world);
}

static void stiff_springs_rest_at_force_times_compliance(void **unused)
{
  (void)unused;
  static const int substeps[] = {2, 5, 20};
  static const double compliances[] = {1e-4, 1e-5, 1e-6};
  static const double loads[] = {1.0, 100.0};
  for (int m = 0; m < 3; ++m) {
    for (int i = 0; i < 3 * 3 * 2; ++i) {
      check_stiff(methods[m], substeps[i % 3], compliances[i / 3 % 3], loads[i / 9]);
    }
  }
}

static tn_vec3 random_vector(uint32_t *random, float size)
{
  return tn_v3(test_between(random, -size, size), test_between(random, -size, size),
               test_between(random, -size, size));
}

// Three boxes and four infeasible fixed joints, with a compliance relative to what a substep
// resolves.
static void contradict(tn_world *world, tn_body_id body[3], float share, uint32_t random)
{
  body[0] = test_box(world, tn_p3(0.0, 0.0, 0.0), 50.0f, tn_v3(0.3f, 0.2f, 0.1f));
  body[1] = test_box(world, tn_p3(0.5, 0.0, 0.0), 100.0f, tn_v3(0.1f, 0.2f, 0.3f));
  body[2] = test_box(world, tn_p3(0.0, 0.5, 0.0), 15.0f, tn_v3(0.3f, 0.3f, 0.3f));
  for (int k = 0; k < 4; ++k) {
    tn_joint_def def = tn_default_joint_def(TN_JOINT_FIXED);
    def.body_a = body[k % 3];
    def.body_b = body[(k + 1) % 3];
    def.frame_a.p = tn_offset(tn_p3(0.0, 0.0, 0.0), random_vector(&random, 0.3f));
    def.frame_b.p = tn_offset(tn_p3(0.0, 0.0, 0.0), random_vector(&random, 0.3f));
    tn_vec3 axis = random_vector(&random, 1.0f);
    def.frame_a.q = tn_quat_axis_angle(axis, test_between(&random, -3.0f, 3.0f));
    def.compliance = share * 6e-8f;
    def.angular_compliance = share * 1e-6f;
    tn_joint_create(world, &def);
  }
}

// Such springs hold 1e5 J/kg and more. Those that a substep does not resolve close like rigid
// joints without adding kinetic energy; the others release no more than they hold.
static void infeasible_springs_gain_no_energy(void **unused)
{
  (void)unused;
  for (int i = 0; i < 40; ++i) {
    bool stiff = i % 2 == 0;
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_body_id body[3];
    contradict(world, body, stiff ? 0.5f : 1.0f, (uint32_t)i * 7919u + 1u);
    double start = tn_world_energy(world).total;
    for (int k = 0; k < 180; ++k) {
      assert_int_equal(tn_world_step(world, DT) & TN_STEP_NON_FINITE, 0);
      tn_energy now = tn_world_energy(world);
      assert_below(now.total, start * (1.0 + 1e-3));
      assert_below(now.kinetic, stiff ? 1e-4 : 0.1 * start);
    }
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fig_4_springs_carry_their_load),
      cmocka_unit_test(stiff_springs_rest_at_force_times_compliance),
      cmocka_unit_test(infeasible_springs_gain_no_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
