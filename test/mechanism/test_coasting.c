// Mechanisms on which nothing acts but gravity fall as one; forces, impacts and differences of
// speed are answered in the step in which they occur.
#include "support.h"

#include <math.h>

#define DT (1.0f / 60.0f)
#define FIGURE_BODIES 12

typedef struct figure {
  tn_world *world;
  tn_body_id body[FIGURE_BODIES];
  tn_joint_id joint[FIGURE_BODIES - 1];
  float mass[FIGURE_BODIES], total; // kg
  int count;
} figure;

// A random tree of boxes, with limits and friction, far from anything.
static figure make_figure(uint32_t *random, int substeps, int lanes)
{
  static const tn_joint_kind kinds[] = {TN_JOINT_BALL, TN_JOINT_HINGE, TN_JOINT_FIXED,
                                        TN_JOINT_UNIVERSAL, TN_JOINT_PRISMATIC};
  figure f = {.world = test_world_with(substeps, TN_METHOD_TENON, lanes, 1)};
  f.count = 2 + test_index(random, FIGURE_BODIES - 1);
  tn_pos at[FIGURE_BODIES];
  for (int i = 0; i < f.count; ++i) {
    int parent = i > 0 ? test_index(random, i) : 0;
    tn_vec3 way = test_vector(random, 0.4f);
    at[i] = i > 0 ? tn_offset(at[parent], way) : tn_p3(0.0, 0.0, 0.0);
    f.mass[i] = test_between(random, 0.5f, 20.0f);
    f.total += f.mass[i];
    f.body[i] = test_box(f.world, at[i], f.mass[i], tn_v3(0.1f, 0.15f, 0.2f));
    if (i > 0) {
      tn_vec3 axis = tn_add(test_vector(random, 1.0f), tn_v3(0.01f, 0.0f, 0.0f));
      tn_joint_def def = test_joint_def(f.world, kinds[test_index(random, 5)], f.body[parent],
                                        f.body[i], tn_offset(at[i], tn_scale(-0.5f, way)), axis);
      def.angular[0] = (tn_range){-0.5f, 0.5f};
      def.linear[0] = (tn_range){-0.1f, 0.1f};
      def.axis[TN_ANGULAR_A].friction = 0.3f;
      f.joint[i - 1] = tn_joint_create(f.world, &def);
    }
  }
  return f;
}

static double largest_gap(const figure *f)
{
  double most = 0.0;
  for (int i = 0; i + 1 < f->count; ++i) {
    most = fmax(most, (double)tn_joint_get_state(f->world, f->joint[i]).elongation);
  }
  return most;
}

// g t^2 / 2 + v t of every body, and joints without forces.
static void figures_fall_freely(void **unused)
{
  (void)unused;
  uint32_t random = 5;
  for (int n = 0; n < test_cases(40, 1000); ++n) {
    figure f = make_figure(&random, 4, 0);
    tn_vec3 v = test_vector(&random, 3.0f);
    tn_pos start[FIGURE_BODIES];
    for (int i = 0; i < f.count; ++i) {
      tn_body_set_velocity(f.world, f.body[i], v);
      start[i] = tn_body_position(f.world, f.body[i]);
    }
    test_run(f.world, DT, 60);
    for (int i = 0; i < f.count; ++i) {
      tn_pos p = tn_body_position(f.world, f.body[i]);
      assert_close(p.x - start[i].x, (double)v.x, 1e-4);
      assert_close(p.y - start[i].y, (double)v.y - 5.0, 1e-4);
      assert_close(p.z - start[i].z, (double)v.z, 1e-4);
    }
    for (int i = 0; i + 1 < f.count; ++i) {
      assert_below(tn_length(tn_joint_get_state(f.world, f.joint[i]).force), 0.05);
    }
    assert_below(largest_gap(&f), 2e-6);
    tn_world_destroy(f.world);
  }
}

// A force on one body for one step, in the middle of the fall: the momentum is F dt + m g t, and
// joints pass it on.
static void forces_act_in_their_step(void **unused)
{
  (void)unused;
  uint32_t random = 9;
  for (int n = 0; n < test_cases(40, 1000); ++n) {
    figure f = make_figure(&random, 4, 0);
    test_run(f.world, DT, 10);
    tn_vec3 force = test_vector(&random, 200.0f);
    tn_body_apply_force_to_center(f.world, f.body[test_index(&random, f.count)], force);
    test_run(f.world, DT, 20);
    tn_momentum p = tn_world_momentum(f.world, tn_p3(0.0, 0.0, 0.0));
    double scale = 1e-4 * (double)f.total * 5.0;
    assert_close(p.linear[0], DT * force.x, scale);
    assert_close(p.linear[1], DT * force.y - 10.0f * f.total * 30.0f * DT, scale);
    assert_close(p.linear[2], DT * force.z, scale);
    assert_below(largest_gap(&f), 1e-3);
    tn_world_destroy(f.world);
  }
}

// A force on one of two welded bodies: the joint carries the share of the other's mass.
static void joints_carry_forces_at_once(void **unused)
{
  (void)unused;
  uint32_t random = 3;
  for (int n = 0; n < test_cases(20, 500); ++n) {
    tn_world *world = test_world(4, TN_METHOD_TENON);
    float a = test_between(&random, 0.5f, 20.0f), b = test_between(&random, 0.5f, 20.0f);
    tn_vec3 half = tn_v3(0.1f, 0.1f, 0.1f);
    tn_body_id left = test_box(world, tn_p3(0.0, 0.0, 0.0), a, half);
    tn_body_id right = test_box(world, tn_p3(0.4, 0.0, 0.0), b, half);
    tn_joint_id weld = test_joint(world, TN_JOINT_FIXED, left, right, tn_p3(0.2, 0.0, 0.0),
                                  tn_v3(1.0f, 0.0f, 0.0f));
    test_run(world, DT, 10);
    float force = test_between(&random, 1.0f, 100.0f);
    tn_body_apply_force_to_center(world, left, tn_v3(force, 0.0f, 0.0f));
    test_run(world, DT, 1);
    double carried = (double)tn_joint_get_state(world, weld).force.x;
    assert_close(fabs(carried), (double)(force * b / (a + b)), 0.01 * (double)force);
    tn_world_destroy(world);
  }
}

// Speeds about the threshold, in random directions, for 10 s: joints stay closed, and both momenta
// are kept.
static void slow_differences_open_no_joint(void **unused)
{
  (void)unused;
  uint32_t random = 21;
  for (int n = 0; n < test_cases(20, 500); ++n) {
    figure f = make_figure(&random, 4, n % 2 == 0 ? 1 : 0);
    tn_world_set_gravity(f.world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_world_set_sleeping(f.world, false);
    float speed = exp2f(test_between(&random, -20.0f, -12.0f)); // m/s, 1e-6 to 2e-4
    for (int i = 0; i < f.count; ++i) {
      tn_body_set_velocity(f.world, f.body[i], test_vector(&random, speed));
      tn_body_set_angular_velocity(f.world, f.body[i], test_vector(&random, speed));
    }
    tn_momentum before = tn_world_momentum(f.world, tn_p3(0.0, 0.0, 0.0));
    double most = 0.0;
    for (int i = 0; i < 600; ++i) {
      test_run(f.world, DT, 1);
      most = fmax(most, largest_gap(&f));
    }
    tn_momentum after = tn_world_momentum(f.world, tn_p3(0.0, 0.0, 0.0));
    assert_below(most, 5e-6);
    double scale = 1e-3 * (double)(f.total * speed);
    for (int k = 0; k < 3; ++k) {
      assert_close(after.linear[k], before.linear[k], scale);
      assert_close(after.angular[k], before.angular[k], 2.0 * scale);
    }
    tn_world_destroy(f.world);
  }
}

// Of two welded balls the lower one bounces, between two substeps: the upper one follows at once.
static void impacts_act_in_their_substep(void **unused)
{
  (void)unused;
  for (int n = 0; n < 10; ++n) {
    tn_world *world = test_world(4, TN_METHOD_TENON);
    tn_material material = tn_default_material();
    material.restitution = 0.8f;
    tn_body_def def = tn_default_body_def();
    tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
    ground.material = material;
    def.type = TN_BODY_STATIC;
    tn_shape_create(world, tn_body_create(world, &def), &ground);
    tn_body_id ball[2];
    double height = 1.0 + 0.037 * (double)n;
    for (int i = 0; i < 2; ++i) {
      def = tn_default_body_def();
      def.position = tn_p3(0.5 * (double)i, 0.1 + height + 0.3 * (double)i, 0.0);
      ball[i] = tn_body_create(world, &def);
      tn_shape_def shape = tn_default_shape_def(TN_SHAPE_SPHERE);
      shape.radius = 0.1f;
      shape.material = material;
      tn_shape_create(world, ball[i], &shape);
    }
    tn_joint_id weld = test_joint(world, TN_JOINT_FIXED, ball[0], ball[1],
                                  tn_p3(0.25, 0.25 + height, 0.0), tn_v3(1.0f, 0.0f, 0.0f));
    double most = 0.0, energy = tn_world_energy(world).total;
    for (int i = 0; i < 60; ++i) {
      test_run(world, DT, 1);
      most = fmax(most, (double)tn_joint_get_state(world, weld).elongation);
    }
    assert_below(most, 0.015); // 8 mm in the substep of the impact, at 4 substeps
    assert_below(tn_world_energy(world).total, 1.001 * energy);
    assert_below(0.1, tn_length(tn_body_angular_velocity(world, ball[0])));
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_fall_freely),
      cmocka_unit_test(forces_act_in_their_step),
      cmocka_unit_test(joints_carry_forces_at_once),
      cmocka_unit_test(slow_differences_open_no_joint),
      cmocka_unit_test(impacts_act_in_their_substep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
