// Joints against the laws of statics and of the pendulum.
#include "support.h"

#include <math.h>
#include <stdio.h>

#define DT (1.0f / 60.0f)
#define G 10.0

static const tn_method methods[] = {TN_METHOD_TENON, TN_METHOD_XPBD, TN_METHOD_JACOBI};

static void run(tn_world *world, double seconds)
{
  for (int i = 0; i < (int)(seconds * 60.0 + 0.5); ++i) {
    assert_int_equal(tn_world_step(world, DT), TN_STEP_OK);
  }
}

// ---------------------------------------------------------------------------------------------
// Fig. 5: a bar held straight by a rigid servo

static void fig_5_hinge_torque_is_force_times_arm(void **unused)
{
  (void)unused;
  for (int m = 0; m < 3; ++m) {
    tn_world *world = test_world(20, methods[m]);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_body_id bar = test_box(world, tn_p3(0.15, 0.0, 0.0), 1.0f, tn_v3(0.15f, 0.02f, 0.02f));
    tn_joint_def def = tn_default_joint_def(TN_JOINT_HINGE);
    def.body_b = bar;
    assert_true(tn_joint_def_at(world, &def, tn_p3(0.0, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f)));
    def.axis[TN_ANGULAR_A].drive.stiffness = INFINITY;
    tn_joint_id hinge = tn_joint_create(world, &def);
    for (int i = 0; i < 240; ++i) {
      tn_body_apply_force(world, bar, tn_v3(0.0f, -7.0f, 0.0f),
                          tn_body_world_point(world, bar, tn_v3(0.05f, 0.0f, 0.0f)));
      tn_world_step(world, DT);
    }
    tn_joint_state state = tn_joint_get_state(world, hinge);
    assert_close((double)state.torque.z, 7.0 * 0.2, 0.002 * 1.4);
    assert_close((double)state.force.y, 7.0, 0.002 * 7.0);
    assert_close((double)state.angle.x, 0.0, 1e-4);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Pendula

// Complete elliptic integral K by the arithmetic-geometric mean.
static double pendulum_period(double small_period, double amplitude)
{
  double a = 1.0;
  double b = cos(0.5 * amplitude);
  for (int i = 0; i < 20; ++i) {
    double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return small_period / a;
}

static double measure_period(tn_joint_kind kind, double amplitude)
{
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_def body = test_body_def();
  body.mass = tn_mass_scaled_to(tn_mass_box(tn_v3(0.03f, 0.5f, 0.03f), 1.0f), 2.0f);
  body.position = tn_p3(0.5 * sin(amplitude), -0.5 * cos(amplitude), 0.0);
  body.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), (float)amplitude);
  tn_body_id rod = tn_body_create(world, &body);
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_b = rod;
  assert_true(tn_joint_def_at(world, &def, tn_p3(0.0, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f)));
  tn_joint_create(world, &def);
  // Times at which the rod passes the vertical. Linear interpolation is enough: near the bottom the
  // angle is linear far below the bound.
  double last = amplitude;
  double first_crossing = 0.0;
  double crossing = 0.0;
  int crossings = 0;
  for (int i = 1; crossings < 9; ++i) {
    tn_world_step(world, DT);
    double x = tn_body_center(world, rod).x;
    if ((x < 0.0) != (last < 0.0)) {
      crossing = ((double)i - x / (x - last)) / 60.0;
      first_crossing = crossings == 0 ? crossing : first_crossing;
      crossings += 1;
    }
    last = x;
  }
  tn_world_destroy(world);
  return (crossing - first_crossing) / 4.0;
}

static void pendulum_keeps_its_period(void **unused)
{
  (void)unused;
  double inertia = 2.0 / 12.0 * (1.0 + 0.06 * 0.06) + 2.0 * 0.25;
  double small = 2.0 * 3.14159265358979 * sqrt(inertia / (2.0 * G * 0.5));
  static const tn_joint_kind kinds[] = {TN_JOINT_HINGE, TN_JOINT_BALL};
  static const double degrees[] = {5.0, 90.0};
  for (int k = 0; k < 2; ++k) {
    for (int d = 0; d < 2; ++d) {
      double amplitude = degrees[d] * 3.14159265358979 / 180.0;
      double expected = pendulum_period(small, amplitude);
      assert_close(measure_period(kinds[k], amplitude), expected, 0.001 * expected);
    }
  }
}

// Horizontal rods of 1 m and 1 kg on hinges about z.
static void hang_rods(tn_world *world, int count, tn_joint_id *joints)
{
  tn_body_id above = {0};
  for (int i = 0; i < count; ++i) {
    tn_body_id rod = test_box(world, tn_p3(i + 0.5, 0.0, 0.0), 1.0f, tn_v3(0.5f, 0.05f, 0.05f));
    tn_joint_def def = tn_default_joint_def(TN_JOINT_HINGE);
    def.body_a = above;
    def.body_b = rod;
    tn_joint_def_at(world, &def, tn_p3(i, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    joints[i] = tn_joint_create(world, &def);
    above = rod;
  }
}

// The largest change of energy in 10 s, relative to the 45 J that the fall releases.
static double triple_pendulum_error(tn_method method, int substeps)
{
  tn_world *world = test_world(substeps, method);
  tn_joint_id joints[3];
  hang_rods(world, 3, joints);
  double start = tn_world_energy(world).total;
  double worst = 0.0;
  for (int i = 0; i < 600; ++i) {
    tn_world_step(world, DT);
    worst = fmax(worst, fabs(tn_world_energy(world).total - start) / 45.0);
  }
  tn_world_destroy(world);
  return worst;
}

static void triple_pendulum_keeps_its_energy(void **unused)
{
  (void)unused;
  double tenon = triple_pendulum_error(TN_METHOD_TENON, 40);
  double xpbd = triple_pendulum_error(TN_METHOD_XPBD, 40);
  print_message("triple pendulum, 40 substeps, 10 s: energy error %.3f %%, XPBD method %.1f %%\n",
                100.0 * tenon, 100.0 * xpbd);
  assert_true(tenon < 0.001);
  // Fig. 9: in the XPBD method substeps are better than iterations; one substep loses nearly all
  // energy.
  double one = triple_pendulum_error(TN_METHOD_XPBD, 1);
  assert_true(xpbd < 0.5 * one);
}

// Fig. 8: a chain of four rods with both ends hinged to the ceiling 2 m apart.
static void fig_8_loop_stays_closed(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_joint_id joints[5];
  double angle = 3.14159265358979 / 3.0;
  // The rods form a zigzag, so that four of them span 2 m.
  tn_body_id above = {0};
  for (int i = 0; i < 4; ++i) {
    double up = i % 2 == 0 ? -1.0 : 1.0;
    tn_body_def body = test_body_def();
    body.mass = tn_mass_scaled_to(tn_mass_box(tn_v3(0.5f, 0.05f, 0.05f), 1.0f), 1.0f);
    body.position = tn_p3(0.5 * i + 0.25, -0.5 * sin(angle), 0.0);
    body.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), (float)(up * angle));
    tn_body_id rod = tn_body_create(world, &body);
    tn_joint_def def = tn_default_joint_def(TN_JOINT_HINGE);
    def.body_a = above;
    def.body_b = rod;
    double y = i % 2 == 0 ? 0.0 : -sin(angle);
    tn_joint_def_at(world, &def, tn_p3(0.5 * i, y, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    joints[i] = tn_joint_create(world, &def);
    above = rod;
  }
  tn_joint_def def = tn_default_joint_def(TN_JOINT_HINGE);
  def.body_a = above;
  tn_joint_def_at(world, &def, tn_p3(2.0, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
  joints[4] = tn_joint_create(world, &def);
  double start = tn_world_energy(world).total;
  double worst = 0.0;
  for (int i = 0; i < 3600; ++i) {
    tn_world_step(world, DT);
    for (int k = 0; k < 5; ++k) {
      worst = fmax(worst, (double)tn_joint_get_state(world, joints[k]).elongation);
    }
  }
  // Still swinging: 4 kg that fall by a quarter of a metre release about 10 J.
  double lost = (start - tn_world_energy(world).total) / 10.0;
  print_message("closed loop, 60 s: largest gap %.3f mm, energy lost %.2f %%\n", 1000.0 * worst,
                100.0 * lost);
  assert_true(worst < 0.001);
  assert_true(fabs(lost) < 0.01);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Momentum of a free mechanism with drives inside

// Rotation about the origin plus a translation, common to all bodies.
static void start_turning(tn_world *world, tn_body_id body)
{
  tn_vec3 w = tn_v3(0.2f, 0.1f, 0.5f);
  tn_vec3 r = tn_between_points(tn_p3(0.0, 0.0, 0.0), tn_body_position(world, body));
  assert_true(tn_body_set_angular_velocity(world, body, w));
  assert_true(tn_body_set_velocity(world, body, tn_add(tn_v3(0.3f, 0.2f, 0.1f), tn_cross(w, r))));
}

static void free_mechanism_keeps_its_momentum(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  static const tn_joint_kind kinds[] = {TN_JOINT_HINGE,    TN_JOINT_PRISMATIC, TN_JOINT_BALL,
                                        TN_JOINT_CYLINDER, TN_JOINT_UNIVERSAL, TN_JOINT_GENERIC,
                                        TN_JOINT_DISTANCE, TN_JOINT_FIXED};
  tn_body_id last = test_box(world, tn_p3(0.0, 0.0, 0.0), 1.0f, tn_v3(0.3f, 0.2f, 0.1f));
  start_turning(world, last);
  for (int i = 0; i < 8; ++i) {
    tn_body_id next = test_box(world, tn_p3(i + 1.0, 0.2 * i, 0.1 * i), 0.5f + 0.2f * (float)i,
                               tn_v3(0.3f, 0.1f, 0.2f));
    start_turning(world, next);
    tn_joint_def def = tn_default_joint_def(kinds[i]);
    def.body_a = last;
    def.body_b = next;
    tn_joint_def_at(world, &def, tn_p3(i + 0.5, 0.2 * i, 0.1 * i), tn_v3(0.3f, 1.0f, 0.2f));
    if (kinds[i] == TN_JOINT_DISTANCE) {
      def.linear[0] = tn_between(0.1f, 0.2f);
    }
    if (kinds[i] == TN_JOINT_HINGE || kinds[i] == TN_JOINT_CYLINDER) {
      def.axis[TN_ANGULAR_A].drive = tn_motor(4.0f, INFINITY, 3.0f);
    }
    if (kinds[i] == TN_JOINT_PRISMATIC) {
      def.linear[0] = tn_between(-0.3f, 0.3f);
      def.axis[TN_LINEAR_A].drive.force = 2.0f;
    }
    if (kinds[i] == TN_JOINT_BALL) {
      def.swing = 0.5f;
      def.axis[TN_ANGULAR_A].damping = 0.1f;
    }
    tn_joint_create(world, &def);
    last = next;
  }
  tn_pos origin = tn_p3(0.0, 0.0, 0.0);
  tn_momentum before = tn_world_momentum(world, origin);
  run(world, 10.0);
  tn_momentum after = tn_world_momentum(world, origin);
  double p = 0.0, l = 0.0, dp = 0.0, dl = 0.0;
  for (int i = 0; i < 3; ++i) {
    p += before.linear[i] * before.linear[i];
    l += before.angular[i] * before.angular[i];
    dp += (after.linear[i] - before.linear[i]) * (after.linear[i] - before.linear[i]);
    dl += (after.angular[i] - before.angular[i]) * (after.angular[i] - before.angular[i]);
  }
  print_message("free mechanism, 10 s: linear momentum to %.1e, angular to %.1e\n", sqrt(dp / p),
                sqrt(dl / l));
  assert_true(sqrt(dp / p) < 1e-5);
  assert_true(sqrt(dl / l) < 1e-5);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Joints that close a position error while their bodies orbit each other

// Boxes of 1 and 2 kg, 1.2 m apart, that move as one rigid body; the joint, at the centre of the
// lighter one, requires 0.4 m. The lighter one spins faster by `more`.
static tn_world *make_skater(tn_joint_kind kind, float spin, float more)
{
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_joint_def def = tn_default_joint_def(kind);
  tn_body_id body[2];
  for (int i = 0; i < 2; ++i) {
    double x = i ? 0.4 : -0.8;
    body[i] = test_box(world, tn_p3(x, 0.0, 0.0), i ? 2.0f : 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
    tn_body_set_velocity(world, body[i], tn_v3(0.0f, spin * (float)x, 0.0f));
    tn_body_set_angular_velocity(world, body[i], tn_v3(0.0f, 0.0f, i ? spin : spin + more));
  }
  def.body_a = body[1];
  def.body_b = body[0];
  def.frame_a.p = tn_p3(-0.4, 0.0, 0.0);
  tn_joint_create(world, &def);
  return world;
}

// Moment of inertia of the two about their centre of mass: reduced mass times r^2, plus their own
// moments.
static double skater_inertia(double distance)
{
  return 2.0 / 3.0 * distance * distance + 3.0 * 2.0 / 3.0 * 0.01;
}

static void closing_joint_keeps_angular_momentum(void **unused)
{
  (void)unused;
  tn_world *world = make_skater(TN_JOINT_FIXED, 3.0f, 0.0f);
  double momentum = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0)).angular[2];
  assert_close(momentum, 3.0 * skater_inertia(1.2), 1e-5);
  run(world, 2.0);
  double energy = 0.5 * momentum * momentum / skater_inertia(0.4);
  assert_close(tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0)).angular[2], momentum,
               1e-4 * momentum);
  assert_close(tn_world_energy(world).kinetic, energy, 1e-3 * energy);
  tn_world_destroy(world);
}

// One box spins the other way, with more energy than closing takes. The last millimetres close by
// velocities, which may add a little.
static void closing_takes_its_work_from_internal_motion(void **unused)
{
  (void)unused;
  tn_world *world = make_skater(TN_JOINT_BALL, 3.0f, -100.0f);
  double start = tn_world_energy(world).kinetic;
  double momentum = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0)).angular[2];
  assert_below(0.5 * momentum * momentum / skater_inertia(0.4), start);
  for (int i = 0; i < 120; ++i) {
    assert_int_equal(tn_world_step(world, DT), TN_STEP_OK);
    assert_below(tn_world_energy(world).kinetic, start * 1.02);
  }
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Breaking, switching, dragging

static void joint_breaks_at_its_force(void **unused)
{
  (void)unused;
  static const tn_joint_kind kinds[] = {TN_JOINT_BALL, TN_JOINT_FIXED, TN_JOINT_DISTANCE};
  for (int k = 0; k < 3; ++k) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_body_id box = test_box(world, tn_p3(0.0, -1.0, 0.0), 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
    tn_joint_def def = tn_default_joint_def(kinds[k]);
    def.body_b = box;
    def.break_force = 50.0f;
    int tag = 7;
    def.user_data = &tag;
    tn_joint_def_between(world, &def, tn_p3(0.0, 0.0, 0.0), tn_p3(0.0, -1.0, 0.0));
    if (kinds[k] != TN_JOINT_DISTANCE) {
      tn_joint_def_at(world, &def, tn_p3(0.0, -1.0, 0.0), tn_v3(0.0f, 1.0f, 0.0f));
    }
    tn_joint_id joint = tn_joint_create(world, &def);
    double broken_at = 0.0;
    for (int i = 0; i < 2000 && broken_at == 0.0; ++i) {
      float pull = 0.05f * (float)i;
      tn_body_apply_force_to_center(world, box, tn_v3(0.0f, -pull, 0.0f));
      tn_world_step(world, DT);
      int count = 0;
      const tn_joint_break_event *events = tn_world_joint_breaks(world, &count);
      if (count > 0) {
        broken_at = (double)pull + 10.0;
        assert_int_equal(count, 1);
        assert_ptr_equal(events[0].user_data, &tag);
        assert_true(TN_SAME_ID(events[0].joint, joint));
      }
    }
    assert_close(broken_at, 50.0, 0.5);
    assert_true(tn_joint_get_state(world, joint).broken);
    tn_world_step(world, DT);
    int count = -1;
    assert_null(tn_world_joint_breaks(world, &count));
    assert_int_equal(count, 0);
    tn_world_destroy(world);
  }
}

static void disabled_joint_releases_and_holds_again(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id box = test_box(world, tn_p3(0.0, 0.0, 0.0), 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_joint_def def = tn_default_joint_def(TN_JOINT_FIXED);
  def.body_b = box;
  tn_joint_id joint = tn_joint_create(world, &def);
  run(world, 1.0);
  assert_close(tn_body_position(world, box).y, 0.0, 1e-5);
  assert_true(tn_joint_set_enabled(world, joint, false));
  run(world, 0.5);
  assert_close(tn_body_position(world, box).y, -0.5 * G * 0.25, 1e-4);
  assert_close((double)tn_joint_get_state(world, joint).force.y, 0.0, 0.0);
  assert_true(tn_joint_set_enabled(world, joint, true));
  run(world, 3.0);
  assert_close(tn_body_position(world, box).y, 0.0, 1e-4);
  assert_close((double)tn_joint_get_state(world, joint).force.y, 10.0, 0.02);
  assert_true(tn_body_destroy(world, box));
  assert_false(tn_joint_is_valid(world, joint));
  tn_world_destroy(world);
}

static void dragging_pulls_with_the_springs_force(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id box = test_box(world, tn_p3(0.0, 0.0, 0.0), 2.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_body_set_linear_damping(world, box, 5.0f);
  tn_body_set_angular_damping(world, box, 5.0f);
  tn_joint_def def = tn_default_joint_def(TN_JOINT_BALL);
  def.body_b = box;
  def.compliance = 0.005f;
  tn_joint_id drag = tn_joint_create(world, &def);
  assert_true(tn_joint_set_anchor(world, drag, tn_p3(1.0, 2.0, 0.0)));
  run(world, 10.0);
  tn_pos p = tn_body_position(world, box);
  assert_close(p.x, 1.0, 1e-4);
  assert_close(p.y, 2.0 - 0.005 * 20.0, 1e-4);
  assert_close((double)tn_joint_get_state(world, drag).force.y, 20.0, 0.02);
  tn_world_destroy(world);
}

// Every kind of joint carries a box at the end of an arm: locked coordinates stay locked.
static void every_kind_holds_a_load(void **unused)
{
  (void)unused;
  for (int kind = 0; kind < TN_JOINT_KIND_COUNT; ++kind) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_body_id box = test_box(world, tn_p3(0.5, 0.0, 0.0), 3.0f, tn_v3(0.4f, 0.1f, 0.1f));
    tn_joint_def def = tn_default_joint_def((tn_joint_kind)kind);
    def.body_b = box;
    tn_joint_def_between(world, &def, tn_p3(0.0, 0.3, 0.0), tn_p3(0.5, 0.0, 0.0));
    if (kind != TN_JOINT_DISTANCE) {
      tn_joint_def_at(world, &def, tn_p3(0.0, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    }
    tn_joint_id joint = tn_joint_create(world, &def);
    double gap = 0.0, tilt = 0.0;
    for (int i = 0; i < 300; ++i) {
      tn_world_step(world, DT);
      gap = fmax(gap, (double)tn_joint_get_state(world, joint).elongation);
      tilt = fmax(tilt, (double)tn_joint_get_state(world, joint).angular_error);
    }
    if (gap > 1e-4 || tilt > 0.1 * 3.14159 / 180.0) {
      print_message("kind %d: gap %.2e m, tilt %.2e rad\n", kind, gap, tilt);
    }
    assert_true(gap < 1e-4);
    assert_true(tilt < 0.1 * 3.14159 / 180.0);
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fig_5_hinge_torque_is_force_times_arm),
      cmocka_unit_test(pendulum_keeps_its_period),
      cmocka_unit_test(triple_pendulum_keeps_its_energy),
      cmocka_unit_test(fig_8_loop_stays_closed),
      cmocka_unit_test(free_mechanism_keeps_its_momentum),
      cmocka_unit_test(closing_joint_keeps_angular_momentum),
      cmocka_unit_test(closing_takes_its_work_from_internal_motion),
      cmocka_unit_test(joint_breaks_at_its_force),
      cmocka_unit_test(disabled_joint_releases_and_holds_again),
      cmocka_unit_test(dragging_pulls_with_the_springs_force),
      cmocka_unit_test(every_kind_holds_a_load),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
