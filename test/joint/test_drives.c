// Drives, damping and friction against their closed forms.
#include "support.h"

#include <math.h>

#define DT (1.0f / 60.0f)
#define G 10.0

static void run(tn_world *world, double seconds)
{
  for (int i = 0; i < (int)(seconds * 60.0 + 0.5); ++i) {
    assert_int_equal(tn_world_step(world, DT), TN_STEP_OK);
  }
}

static tn_drive servo(float target, float compliance, float max)
{
  tn_drive drive = tn_servo(target, tn_stiffness(compliance), 0.0f);
  drive.limits = tn_between(-max, max);
  return drive;
}

static tn_drive motor(float velocity, float max)
{
  return tn_motor(velocity, INFINITY, max);
}

static tn_drive force(float f)
{
  tn_drive drive = tn_default_drive();
  drive.force = f;
  return drive;
}

// A wheel about z at the origin: 2 kg, moment 2 (0.5^2 + 0.5^2) / 3 = 1/3 kg m^2.
#define WHEEL_INERTIA (1.0 / 3.0)

static tn_body_id make_wheel(tn_world *world)
{
  return test_box(world, tn_p3(0.0, 0.0, 0.0), 2.0f, tn_v3(0.5f, 0.5f, 0.1f));
}

static tn_joint_def on_axis(tn_world *world, tn_joint_kind kind, tn_body_id body, tn_vec3 axis)
{
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_b = body;
  assert_true(tn_joint_def_at(world, &def, tn_p3(0.0, 0.0, 0.0), axis));
  return def;
}

static const tn_method methods[] = {TN_METHOD_TENON, TN_METHOD_XPBD, TN_METHOD_JACOBI};
static const tn_vec3 z_axis = {0.0f, 0.0f, 1.0f};
static const tn_vec3 y_axis = {0.0f, 1.0f, 0.0f};

static void servo_settles_at_torque_times_compliance(void **unused)
{
  (void)unused;
  static const double compliances[] = {1e-3, 1e-2, 5e-2};
  for (int m = 0; m < 3; ++m) {
    for (int c = 0; c < 3; ++c) {
      tn_world *world = test_world(20, methods[m]);
      tn_body_id wheel = make_wheel(world);
      tn_joint_def def = on_axis(world, TN_JOINT_HINGE, wheel, z_axis);
      def.axis[TN_ANGULAR_A].drive = servo(0.4f, (float)compliances[c], INFINITY);
      def.axis[TN_ANGULAR_A].damping = (float)(4.0 * WHEEL_INERTIA);
      tn_joint_id joint = tn_joint_create(world, &def);
      for (int i = 0; i < 900; ++i) {
        tn_body_apply_torque(world, wheel, tn_v3(0.0f, 0.0f, 3.0f));
        tn_world_step(world, DT);
      }
      double turn = 3.0 * compliances[c];
      assert_close((double)tn_joint_get_state(world, joint).angle.x, 0.4 + turn, 0.005 * turn);
      assert_close((double)tn_joint_get_state(world, joint).torque.z, -3.0, 0.015);
      tn_world_destroy(world);
    }
  }
}

static void rigid_servo_follows_a_moving_target(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id wheel = make_wheel(world);
  tn_joint_def def = on_axis(world, TN_JOINT_HINGE, wheel, z_axis);
  def.axis[TN_ANGULAR_A].drive = servo(0.0f, 0.0f, INFINITY);
  tn_joint_id joint = tn_joint_create(world, &def);
  for (int i = 1; i <= 600; ++i) {
    float target = 0.01f * (float)i; // 0.6 rad/s, through half a turn
    assert_true(tn_joint_set_drive(world, joint, TN_ANGULAR_A, servo(target, 0.0f, INFINITY)));
    tn_world_step(world, DT);
    assert_close((double)tn_joint_get_state(world, joint).angle.x, (double)target, 1e-4);
    if (i > 2) {
      assert_close((double)tn_body_angular_velocity(world, wheel).z, 0.6, 0.006);
    }
  }
  tn_world_destroy(world);
}

static void servo_force_is_bounded(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id wheel = make_wheel(world);
  tn_joint_def def = on_axis(world, TN_JOINT_HINGE, wheel, z_axis);
  def.axis[TN_ANGULAR_A].drive = servo(3.0f, 0.0f, 0.5f);
  tn_joint_create(world, &def);
  run(world, 0.5);
  double expected = 0.5 / WHEEL_INERTIA * 0.5;
  assert_close((double)tn_body_angular_velocity(world, wheel).z, expected, 0.005 * expected);
  tn_world_destroy(world);
}

static void motor_accelerates_reaches_speed_and_stalls(void **unused)
{
  (void)unused;
  for (int m = 0; m < 3; ++m) {
    tn_world *world = test_world(20, methods[m]);
    tn_body_id wheel = make_wheel(world);
    tn_joint_def def = on_axis(world, TN_JOINT_HINGE, wheel, z_axis);
    def.axis[TN_ANGULAR_A].drive = motor(6.0f, 2.0f);
    tn_joint_id joint = tn_joint_create(world, &def);
    run(world, 0.5);
    double speed = 2.0 / WHEEL_INERTIA * 0.5;
    assert_close((double)tn_body_angular_velocity(world, wheel).z, speed, 0.005 * speed);
    assert_close((double)tn_joint_get_state(world, joint).torque.z, 2.0, 0.01);
    run(world, 2.0);
    assert_close((double)tn_body_angular_velocity(world, wheel).z, 6.0, 0.03);
    assert_close((double)tn_joint_get_state(world, joint).torque.z, 0.0, 0.01);
    // A load above the motor's maximum torque turns it back; the motor applies its maximum.
    double before = (double)tn_body_angular_velocity(world, wheel).z;
    for (int i = 0; i < 60; ++i) {
      tn_body_apply_torque(world, wheel, tn_v3(0.0f, 0.0f, -3.0f));
      tn_world_step(world, DT);
    }
    double after = (double)tn_body_angular_velocity(world, wheel).z;
    assert_close(after - before, -1.0 / WHEEL_INERTIA, 0.005 / WHEEL_INERTIA);
    assert_close((double)tn_joint_get_state(world, joint).torque.z, 2.0, 0.01);
    tn_world_destroy(world);
  }
}

static void torque_motor_and_slider_force_accelerate(void **unused)
{
  (void)unused;
  for (int m = 0; m < 3; ++m) {
    tn_world *world = test_world(20, methods[m]);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_body_id wheel = make_wheel(world);
    tn_joint_def def = on_axis(world, TN_JOINT_CYLINDER, wheel, z_axis);
    def.axis[TN_ANGULAR_A].drive = force(0.7f);
    def.axis[TN_LINEAR_A].drive = force(3.0f);
    tn_joint_create(world, &def);
    run(world, 1.0);
    assert_close((double)tn_body_angular_velocity(world, wheel).z, 0.7 / WHEEL_INERTIA,
                 0.005 * 0.7 / WHEEL_INERTIA);
    assert_close((double)tn_body_velocity(world, wheel).z, 1.5, 0.0075);
    tn_world_destroy(world);
  }
}

static void slider_drives_lift_a_weight(void **unused)
{
  (void)unused;
  static const tn_joint_kind kinds[] = {TN_JOINT_PRISMATIC, TN_JOINT_CYLINDER};
  for (int k = 0; k < 2; ++k) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_body_id box = make_wheel(world);
    tn_joint_def def = on_axis(world, kinds[k], box, y_axis);
    def.axis[TN_LINEAR_A].drive = motor(3.0f, 30.0f);
    tn_joint_id joint = tn_joint_create(world, &def);
    run(world, 0.5); // net force 10 N on 2 kg: 5 m/s^2
    assert_close((double)tn_body_velocity(world, box).y, 2.5, 0.0125);
    run(world, 2.0);
    assert_close((double)tn_body_velocity(world, box).y, 3.0, 0.0025);
    assert_close((double)tn_joint_get_state(world, joint).force.y, 20.0, 0.1);
    assert_true(
        tn_joint_set_drive(world, joint, TN_LINEAR_A, motor(3.0f, 15.0f))); // too weak: decelerates
    run(world, 1.0);
    assert_close((double)tn_body_velocity(world, box).y, 3.0 - 2.5, 0.0125);
    tn_joint_def now = tn_joint_get_def(world, joint);
    now.axis[TN_LINEAR_A].drive = servo(1.0f, 0.002f, INFINITY);
    now.axis[TN_LINEAR_A].damping = 12.0f;
    assert_true(tn_joint_set_def(world, joint, &now));
    run(world, 10.0);
    assert_close((double)tn_joint_get_state(world, joint).offset.x, 1.0 - 0.04, 0.0002);
    tn_world_destroy(world);
  }
}

static void distance_drive_winds_a_rope(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id box = test_box(world, tn_p3(0.0, -2.0, 0.0), 2.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_joint_def def = tn_default_joint_def(TN_JOINT_DISTANCE);
  def.body_b = box;
  def.linear[0] = tn_between(0.0f, INFINITY);
  def.axis[TN_LINEAR_A].drive = servo(2.0f, 0.0f, INFINITY);
  tn_joint_id rope = tn_joint_create(world, &def);
  for (int i = 1; i <= 120; ++i) {
    tn_joint_set_drive(world, rope, TN_LINEAR_A, servo(2.0f - 0.005f * (float)i, 0.0f, INFINITY));
    tn_world_step(world, DT);
    assert_close((double)tn_joint_get_state(world, rope).length, 2.0 - 0.005 * i, 1e-4);
  }
  tn_world_destroy(world);
}

// Velocities of a mass m with the damping d decay as exp(-d t / m).
static void damping_decays_exponentially(void **unused)
{
  (void)unused;
  static const tn_joint_kind kinds[] = {TN_JOINT_HINGE, TN_JOINT_PRISMATIC, TN_JOINT_CYLINDER,
                                        TN_JOINT_BALL, TN_JOINT_GENERIC};
  for (int m = 0; m < 3; ++m) {
    for (int k = 0; k < 5; ++k) {
      tn_world *world = test_world(20, methods[m]);
      tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
      tn_body_id wheel = make_wheel(world);
      tn_joint_def def = on_axis(world, kinds[k], wheel, z_axis);
      for (int i = 0; i < 3; ++i) {
        def.linear[i] = def.angular[i] = tn_between(-INFINITY, INFINITY);
      }
      for (int i = TN_LINEAR_A; i <= TN_LINEAR_C; ++i) {
        def.axis[i].damping = 3.0f * 2.0f;
        def.axis[3 + i].damping = (float)(5.0 * WHEEL_INERTIA);
      }
      tn_joint_create(world, &def);
      bool turns = kinds[k] != TN_JOINT_PRISMATIC;
      bool slides = kinds[k] != TN_JOINT_HINGE && kinds[k] != TN_JOINT_BALL;
      tn_body_set_angular_velocity(world, wheel, tn_v3(0.0f, 0.0f, turns ? 2.0f : 0.0f));
      tn_body_set_velocity(world, wheel, tn_v3(0.0f, 0.0f, slides ? 4.0f : 0.0f));
      run(world, 0.8);
      if (turns) {
        double w = 2.0 * exp(-5.0 * 0.8);
        assert_close((double)tn_body_angular_velocity(world, wheel).z, w, 0.01 * w);
      }
      if (slides) {
        double v = 4.0 * exp(-3.0 * 0.8);
        assert_close((double)tn_body_velocity(world, wheel).z, v, 0.01 * v);
      }
      tn_world_destroy(world);
    }
  }
}

static void friction_decelerates_evenly_and_then_holds(void **unused)
{
  (void)unused;
  static const tn_joint_kind kinds[] = {TN_JOINT_HINGE, TN_JOINT_BALL};
  for (int k = 0; k < 2; ++k) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_body_id wheel = make_wheel(world);
    tn_joint_def def = on_axis(world, kinds[k], wheel, z_axis);
    def.axis[TN_ANGULAR_A].friction = 0.5f;
    tn_joint_create(world, &def);
    tn_body_set_angular_velocity(world, wheel, tn_v3(0.0f, 0.0f, 3.0f));
    run(world, 1.0);
    assert_close((double)tn_body_angular_velocity(world, wheel).z, 3.0 - 0.5 / WHEEL_INERTIA,
                 0.005 * 1.5);
    run(world, 1.5);
    assert_close((double)tn_body_angular_velocity(world, wheel).z, 0.0, 1e-6);
    tn_world_destroy(world);
  }
}

// Joint friction on an arm: below the limit the arm does not move at all.
static void friction_holds_an_arm_without_creep(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id arm = test_box(world, tn_p3(0.5, 0.0, 0.0), 1.0f, tn_v3(0.5f, 0.05f, 0.05f));
  tn_joint_def def = on_axis(world, TN_JOINT_HINGE, arm, z_axis);
  def.axis[TN_ANGULAR_A].friction = 5.5f; // the weight's torque is 5 N m
  tn_joint_id joint = tn_joint_create(world, &def);
  run(world, 1.0);
  double start = (double)tn_joint_get_state(world, joint).angle.x;
  run(world, 10.0);
  assert_close((double)tn_joint_get_state(world, joint).angle.x, start, 1e-3);
  assert_close((double)tn_joint_get_state(world, joint).torque.z, 5.0, 0.025);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(servo_settles_at_torque_times_compliance),
      cmocka_unit_test(rigid_servo_follows_a_moving_target),
      cmocka_unit_test(servo_force_is_bounded),
      cmocka_unit_test(motor_accelerates_reaches_speed_and_stalls),
      cmocka_unit_test(torque_motor_and_slider_force_accelerate),
      cmocka_unit_test(slider_drives_lift_a_weight),
      cmocka_unit_test(distance_drive_winds_a_rope),
      cmocka_unit_test(damping_decays_exponentially),
      cmocka_unit_test(friction_decelerates_evenly_and_then_holds),
      cmocka_unit_test(friction_holds_an_arm_without_creep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
