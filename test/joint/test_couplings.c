// Couplings against laws: ratios, powers, static balance, accelerations and frequencies in closed
// form, conservation; and what happens to them when joints and bodies go away.
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)
#define G 10.0 // of test_world()
#define PI 3.14159265358979323846

static const tn_vec3 x_axis = {1.0f, 0.0f, 0.0f}, y_axis = {0.0f, 1.0f, 0.0f};
static const tn_vec3 z_axis = {0.0f, 0.0f, 1.0f};
static const int substeps[] = {4, 8, 20};
#define SUBSTEPS 3
static const tn_range free_range = {-INFINITY, INFINITY};

static double random_between(uint32_t *seed, double lo, double hi)
{
  *seed = *seed * 1664525u + 1013904223u;
  return lo + (hi - lo) * (double)(*seed >> 8) / 16777216.0;
}

static tn_world *world_without_gravity(int n)
{
  tn_world *world = test_world(n, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  return world;
}

// A body whose moment about every axis is `inertia`.
static tn_body_id make_wheel(tn_world *world, tn_pos at, double mass, double inertia)
{
  tn_body_def def = tn_default_body_def();
  def.position = at;
  def.mass.mass = (float)mass;
  def.mass.inertia = (tn_sym3){.xx = (float)inertia, .yy = (float)inertia, .zz = (float)inertia};
  tn_body_id wheel = tn_body_create(world, &def);
  assert_false(TN_IS_NULL(wheel));
  return wheel;
}

static double angle_of(const tn_world *world, tn_joint_id joint)
{
  return (double)tn_joint_get_state(world, joint).angle.x;
}

static double distance(const double *a, const double *b)
{
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

static tn_coupling_id make_coupling(tn_world *world, const tn_coupling_def *def)
{
  tn_coupling_id coupling = tn_coupling_create(world, def);
  assert_false(TN_IS_NULL(coupling));
  return coupling;
}

// Speed of a hinge or slide of body B against the world.
static double spin_about(const tn_world *world, tn_body_id body, tn_vec3 axis)
{
  return (double)tn_dot(tn_body_angular_velocity(world, body), axis);
}

static double speed_along(const tn_world *world, tn_body_id body, tn_vec3 axis)
{
  return (double)tn_dot(tn_body_velocity(world, body), axis);
}

// Two wheels with q1 = ratio q2 under a torque on the first: q2'' = ratio T / (I2 + ratio^2 I1).
// The ratio holds to 1e-5 over many turns; constant acceleration is exact to rounding.
static void gears_turn_at_any_ratio(void **unused)
{
  (void)unused;
  uint32_t seed = 7;
  for (int trial = 0; trial < test_cases(12, 200); ++trial) {
    tn_world *world = world_without_gravity(substeps[trial % SUBSTEPS]);
    double ratio = trial < 2 ? (trial ? 0.01 : 100.0) : pow(10.0, random_between(&seed, -2.0, 2.0));
    double i1 = pow(10.0, random_between(&seed, -2.0, 1.0));
    double i2 = pow(10.0, random_between(&seed, -2.0, 1.0));
    tn_body_id a = make_wheel(world, tn_p3(0.0, 0.0, 0.0), 1.0, i1);
    tn_body_id b = make_wheel(world, tn_p3(1.0, 0.0, 0.0), 2.0, i2);
    tn_joint_id ja = test_joint(world, TN_JOINT_HINGE, test_no_body, a, tn_p3(0, 0, 0), z_axis);
    tn_joint_id jb = test_joint(world, TN_JOINT_HINGE, test_no_body, b, tn_p3(1, 0, 0), y_axis);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_axis(&def, ja, 3, 1.0f);
    tn_coupling_def_axis(&def, jb, 3, (float)-ratio);
    tn_coupling_id gear = make_coupling(world, &def);
    // A torque on the faster shaft turns it by 20 rad in 2 s.
    bool first = ratio >= 1.0;
    double alpha = 10.0 / fmax(1.0, ratio);
    double torque = alpha * (i2 + ratio * ratio * i1) / (first ? ratio : 1.0);
    double q1 = 0.0, q2 = 0.0, last1 = 0.0, last2 = 0.0;
    for (int i = 0; i < 120; ++i) {
      tn_body_apply_torque(world, first ? a : b, tn_scale((float)torque, first ? z_axis : y_axis));
      assert_int_equal(tn_world_step(world, DT), TN_STEP_OK);
      double now1 = angle_of(world, ja), now2 = angle_of(world, jb);
      q1 += remainder(now1 - last1, 2.0 * PI);
      q2 += remainder(now2 - last2, 2.0 * PI);
      last1 = now1;
      last2 = now2;
    }
    assert_close(q1 / (ratio * q2), 1.0, 1e-5);
    assert_close(q2, 0.5 * alpha * 4.0, 1e-4 * q2);
    double w1 = spin_about(world, a, z_axis), w2 = spin_about(world, b, y_axis);
    assert_close(w1 / (ratio * w2), 1.0, 1e-5);
    // The force alone accelerates the other wheel: f dc/dq = I q''.
    double force = (double)tn_coupling_get_state(world, gear).force;
    assert_close(first ? -ratio * force / (i2 * alpha) : force / (i1 * alpha * ratio), 1.0, 1e-3);
    tn_world_destroy(world);
  }
}

// A motor on the first of two axes, a load on the second: in the steady state the motor's power
// equals the load's.
typedef struct transmission {
  tn_world *world;
  tn_body_id body[2];
  tn_joint_id joint[2];
  int axis[2]; // as of tn_coupling_axis
  tn_vec3 direction[2];
  double ratio; // q1 = ratio q2
} transmission;

static double rate_of(const transmission *t, int i)
{
  return t->axis[i] < 3 ? speed_along(t->world, t->body[i], t->direction[i])
                        : spin_about(t->world, t->body[i], t->direction[i]);
}

static void assert_power(const transmission *t)
{
  tn_coupling_def def = tn_default_coupling_def();
  tn_coupling_def_axis(&def, t->joint[0], t->axis[0], 1.0f);
  tn_coupling_def_axis(&def, t->joint[1], t->axis[1], (float)-t->ratio);
  tn_coupling_id coupling = make_coupling(t->world, &def);
  tn_drive motor = tn_motor(3.0f, INFINITY, INFINITY);
  if (t->axis[0] < 3) {
    tn_joint_set_drive(t->world, t->joint[0], TN_LINEAR_A, motor);
  } else {
    tn_joint_set_drive(t->world, t->joint[0], TN_ANGULAR_A, motor);
  }
  float load = (float)(-5.0 * t->ratio);
  double in = 0.0, out = 0.0, force = 0.0;
  for (int i = 0; i < 90; ++i) {
    if (t->axis[1] < 3) {
      tn_body_apply_force_to_center(t->world, t->body[1], tn_scale(load, t->direction[1]));
    } else {
      tn_body_apply_torque(t->world, t->body[1], tn_scale(load, t->direction[1]));
    }
    assert_int_equal(tn_world_step(t->world, DT), TN_STEP_OK);
    if (i >= 30) {
      tn_joint_state state = tn_joint_get_state(t->world, t->joint[0]);
      in += (double)tn_dot(t->axis[0] < 3 ? state.force : state.torque, t->direction[0]) *
            rate_of(t, 0);
      out -= (double)load * rate_of(t, 1);
      force += (double)tn_coupling_get_state(t->world, coupling).force / 60.0;
    }
  }
  assert_close(in / out, 1.0, 1e-3);
  assert_close(rate_of(t, 0) / (t->ratio * rate_of(t, 1)), 1.0, 1e-5);
  assert_close(force, -5.0, 5e-3); // holds the motor's side back by load / ratio
}

static void power_goes_through(void **unused)
{
  (void)unused;
  uint32_t seed = 3;
  for (int trial = 0; trial < test_cases(9, 90); ++trial) {
    transmission t = {.world = world_without_gravity(substeps[trial / 3 % SUBSTEPS])};
    t.direction[0] = z_axis;
    int form = trial % 3;
    // The screw's load is thousands of N: on 1 kg the rounding of its speed would show.
    t.body[0] = make_wheel(t.world, tn_p3(0.0, 0.0, 0.0), form == 2 ? 300.0 : 1.0,
                           random_between(&seed, 0.1, 2.0));
    if (form == 2) { // a screw: both axes of one cylinder joint
      t.body[1] = t.body[0];
      t.joint[0] = t.joint[1] = test_joint(t.world, TN_JOINT_CYLINDER, test_no_body, t.body[0],
                                           tn_p3(0.0, 0.0, 0.0), z_axis);
      t.axis[0] = 3;
      t.direction[1] = z_axis;
      t.ratio = 2.0 * PI / random_between(&seed, 0.005, 0.1); // over the lead
    } else {
      tn_joint_kind kind = form ? TN_JOINT_HINGE : TN_JOINT_PRISMATIC;
      t.body[1] = make_wheel(t.world, tn_p3(2.0, 0.0, 0.0), 3.0, 1.0);
      t.direction[1] = form ? y_axis : x_axis;
      t.joint[0] = test_joint(t.world, TN_JOINT_HINGE, test_no_body, t.body[0],
                              tn_p3(0.0, 0.0, 0.0), z_axis);
      t.joint[1] =
          test_joint(t.world, kind, test_no_body, t.body[1], tn_p3(2.0, 0.0, 0.0), t.direction[1]);
      t.axis[0] = 3;
      t.axis[1] = form ? 3 : 0;
      t.ratio = form ? 100.0 : 1.0 / random_between(&seed, 0.02, 0.5); // over the pinion's radius
    }
    assert_power(&t);
    tn_world_destroy(t.world);
  }
}

// Carrier c and wheels l, r: 2 c = l + r. With a torque T on the carrier and I_c, I_l, I_r:
// the row's force f gives I_c c'' = T + 2 f, I_l l'' = I_r r'' = -f.
static void differential_shares_torque(void **unused)
{
  (void)unused;
  uint32_t seed = 11;
  for (int trial = 0; trial < test_cases(6, 60); ++trial) {
    tn_world *world = world_without_gravity(substeps[trial % SUBSTEPS]);
    double inertia[3];
    tn_body_id body[3];
    tn_joint_id joint[3];
    tn_coupling_def def = tn_default_coupling_def();
    for (int i = 0; i < 3; ++i) {
      inertia[i] = pow(10.0, random_between(&seed, -1.0, 1.0));
      body[i] = make_wheel(world, tn_p3((double)i, 0.0, 0.0), 1.0, inertia[i]);
      joint[i] =
          test_joint(world, TN_JOINT_HINGE, test_no_body, body[i], tn_p3((double)i, 0, 0), x_axis);
      tn_coupling_def_axis(&def, joint[i], 3, i == 0 ? 2.0f : -1.0f);
    }
    tn_coupling_id coupling = make_coupling(world, &def);
    for (int i = 0; i < 60; ++i) {
      tn_body_apply_torque(world, body[0], tn_scale(4.0f, x_axis));
      test_run(world, DT, 1);
    }
    double f = -2.0 * 4.0 / inertia[0] / (4.0 / inertia[0] + 1.0 / inertia[1] + 1.0 / inertia[2]);
    double speed[3] = {(4.0 + 2.0 * f) / inertia[0], -f / inertia[1], -f / inertia[2]};
    for (int i = 0; i < 3; ++i) {
      assert_close(spin_about(world, body[i], x_axis), speed[i], 1e-4 * fabs(speed[1] + speed[2]));
    }
    assert_close((double)tn_coupling_get_state(world, coupling).force, f, 1e-3 * fabs(f));
    assert_below(fabs(tn_coupling_get_state(world, coupling).value), 1e-5);
    tn_world_destroy(world);
  }
}

// Atwood's machine: a = (m2 - m1) g / (m1 + m2 + I / r^2). The rope does not slip on the pulley:
// what runs off it on one side is r times its angle.
static void atwood_machine_accelerates(void **unused)
{
  (void)unused;
  uint32_t seed = 5;
  for (int trial = 0; trial < test_cases(9, 90); ++trial) {
    tn_world *world = test_world(substeps[trial % SUBSTEPS], TN_METHOD_TENON);
    double m1 = random_between(&seed, 0.5, 5.0), m2 = random_between(&seed, 0.5, 5.0);
    double r = random_between(&seed, 0.05, 0.5);
    double inertia = trial % 2 ? random_between(&seed, 0.1, 2.0) * r * r : 0.0;
    tn_body_id a = make_wheel(world, tn_p3(-r, -2.0, 0.0), m1, 0.1);
    tn_body_id b = make_wheel(world, tn_p3(r, -2.0, 0.0), m2, 0.1);
    tn_coupling_id rope[2];
    int ropes = 1;
    if (inertia > 0.0) {
      tn_body_id pulley = make_wheel(world, tn_p3(0.0, 0.0, 0.0), 1.0, inertia);
      tn_joint_id hinge =
          test_joint(world, TN_JOINT_HINGE, test_no_body, pulley, tn_p3(0, 0, 0), z_axis);
      for (ropes = 0; ropes < 2; ++ropes) {
        double side = ropes ? 1.0 : -1.0;
        tn_coupling_def def = tn_default_coupling_def();
        tn_coupling_def_point(&def, test_no_body, tn_p3(side * r, 0.0, 0.0), 1.0f);
        tn_coupling_def_point(&def, ropes ? b : a, tn_p3(0.0, 0.0, 0.0), 1.0f);
        tn_coupling_def_axis(&def, hinge, 3, (float)(side * r));
        def.range = tn_between(0.0f, 2.0f);
        rope[ropes] = make_coupling(world, &def);
      }
    } else {
      tn_coupling_def def = tn_default_coupling_def();
      tn_coupling_def_point(&def, a, tn_p3(0.0, 0.0, 0.0), 1.0f);
      tn_coupling_def_point(&def, test_no_body, tn_p3(-r, 0.0, 0.0), 1.0f);
      tn_coupling_def_point(&def, test_no_body, tn_p3(r, 0.0, 0.0), 0.0f);
      tn_coupling_def_point(&def, b, tn_p3(0.0, 0.0, 0.0), 1.0f);
      def.range = tn_between(0.0f, 4.0f);
      rope[0] = make_coupling(world, &def);
    }
    test_run(world, DT, 30);
    double a0 = (m2 - m1) * G / (m1 + m2 + inertia / (r * r));
    double tolerance = 2e-4 * G;
    assert_close((double)tn_body_velocity(world, a).y, 0.5 * a0, 0.5 * tolerance);
    assert_close((double)tn_body_velocity(world, b).y, -0.5 * a0, 0.5 * tolerance);
    assert_close(tn_body_transform(world, a).p.y + 2.0, 0.125 * a0, 0.125 * tolerance);
    assert_close((double)tn_coupling_get_state(world, rope[0]).force, -m1 * (G + a0),
                 1e-3 * m1 * G);
    assert_close((double)tn_coupling_get_state(world, rope[ropes - 1]).force, -m2 * (G - a0),
                 1e-3 * m2 * G);
    tn_world_destroy(world);
  }
}

// A block and tackle with n falls: a counterweight of 1 / n of the load balances it, and the
// tension is the counterweight's.
static void block_and_tackle_balances(void **unused)
{
  (void)unused;
  for (int trial = 0; trial < 9; ++trial) {
    tn_world *world = test_world(substeps[trial % SUBSTEPS], TN_METHOD_TENON);
    int falls = 2 + 2 * (trial / 3);
    tn_body_id load = make_wheel(world, tn_p3(0.0, -2.0, 0.0), 12.0, 1.0);
    tn_body_id weight = make_wheel(world, tn_p3(1.0, -1.0, 0.0), 12.0 / falls, 1.0);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_point(&def, weight, tn_p3(0.0, 0.0, 0.0), 1.0f);
    tn_coupling_def_point(&def, test_no_body, tn_p3(1.0, 0.0, 0.0), 1.0f);
    for (int i = 0; i < falls; ++i) { // down to the load and up again, close to vertical
      tn_coupling_def_point(&def, test_no_body, tn_p3(0.0, 0.0, 0.0), 0.0f);
      tn_coupling_def_point(&def, load, tn_p3(0.0, 0.0, 0.0), 1.0f);
    }
    def.range = tn_between(0.0f, (float)(1.0 + 2.0 * falls));
    tn_coupling_id rope = make_coupling(world, &def);
    test_run(world, DT, 300);
    assert_close(tn_body_transform(world, load).p.y, -2.0, 1e-4);
    assert_close(tn_body_transform(world, weight).p.y, -1.0, 1e-4);
    assert_close((double)tn_coupling_get_state(world, rope).force, -12.0 / falls * G, 1e-3 * 12.0);
    tn_world_destroy(world);
  }
}

// Backlash: the driven wheel stays still until the play is used up, then both turn together.
static void backlash_is_a_range(void **unused)
{
  (void)unused;
  for (int trial = 0; trial < SUBSTEPS; ++trial) {
    tn_world *world = world_without_gravity(substeps[trial]);
    tn_body_id a = make_wheel(world, tn_p3(0.0, 0.0, 0.0), 1.0, 1.0);
    tn_body_id b = make_wheel(world, tn_p3(1.0, 0.0, 0.0), 1.0, 1.0);
    tn_joint_id ja = test_joint(world, TN_JOINT_HINGE, test_no_body, a, tn_p3(0, 0, 0), z_axis);
    tn_joint_id jb = test_joint(world, TN_JOINT_HINGE, test_no_body, b, tn_p3(1, 0, 0), z_axis);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_axis(&def, ja, 3, 1.0f);
    tn_coupling_def_axis(&def, jb, 3, -2.0f);
    def.range = tn_between(-0.2f, 0.2f);
    tn_coupling_id gear = make_coupling(world, &def);
    tn_joint_set_drive(world, ja, TN_ANGULAR_A, tn_motor(1.0f, INFINITY, INFINITY));
    test_run(world, DT, 11); // 0.183 rad
    assert_close(angle_of(world, jb), 0.0, 1e-6);
    assert_close((double)tn_coupling_get_state(world, gear).force, 0.0, 1e-6);
    test_run(world, DT, 49);
    assert_close(angle_of(world, jb), 0.5 * (1.0 - 0.2), 2e-3);
    assert_close(spin_about(world, b, z_axis), 0.5, 1e-4);
    assert_below(tn_coupling_get_state(world, gear).value, 0.2 + 1e-4);
    tn_world_destroy(world);
  }
}

// Two wheels on a compliant gear swing with omega^2 = k (1 / I1 + ratio^2 / I2). The spring of the
// range and the passive spring are the same law. The symplectic form runs fast by omega^2 h^2 / 24
// and keeps its energy.
static void compliant_gear_swings(void **unused)
{
  (void)unused;
  uint32_t seed = 17;
  for (int trial = 0; trial < test_cases(9, 90); ++trial) {
    int n = substeps[trial % SUBSTEPS];
    tn_world *world = world_without_gravity(n);
    double ratio = random_between(&seed, 0.5, 4.0), i1 = random_between(&seed, 0.1, 2.0);
    double i2 = random_between(&seed, 0.1, 2.0), omega = 2.0 * PI * random_between(&seed, 0.5, 4.0);
    double k = omega * omega / (1.0 / i1 + ratio * ratio / i2);
    tn_body_id a = make_wheel(world, tn_p3(0.0, 0.0, 0.0), 1.0, i1);
    tn_body_id b = make_wheel(world, tn_p3(1.0, 0.0, 0.0), 1.0, i2);
    tn_joint_id ja = test_joint(world, TN_JOINT_HINGE, test_no_body, a, tn_p3(0, 0, 0), z_axis);
    tn_joint_id jb = test_joint(world, TN_JOINT_HINGE, test_no_body, b, tn_p3(1, 0, 0), y_axis);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_axis(&def, ja, 3, 1.0f);
    tn_coupling_def_axis(&def, jb, 3, (float)-ratio);
    if (trial / 3 % 2) {
      def.range = tn_between(-INFINITY, INFINITY);
      def.stiffness = (float)k;
    } else {
      def.compliance = (float)(1.0 / k);
    }
    tn_coupling_id gear = make_coupling(world, &def);
    tn_body_set_angular_velocity(world, a, tn_scale((float)(0.1 * omega), z_axis));
    double energy = tn_world_energy(world).total, worst = 0.0, last = 0.0;
    double crossings = 0.0, first = 0.0, final = 0.0;
    for (int i = 1; i <= 300; ++i) {
      test_run(world, DT, 1);
      double value = tn_coupling_get_state(world, gear).value;
      if (last < 0.0 && value >= 0.0) { // upwards through zero, interpolated
        final = (i - value / (value - last)) / 60.0;
        first = crossings == 0.0 ? final : first;
        crossings += 1.0;
      }
      last = value;
      worst = fmax(worst, fabs(tn_world_energy(world).total - energy));
    }
    double period = (final - first) / (crossings - 1.0);
    assert_close(period * omega / (2.0 * PI), 1.0, 0.01);
    assert_below(worst, 0.01 * energy);
    tn_world_destroy(world);
  }
}

// Damping d of two wheels: the rate of c decays with d (1 / I1 + 1 / I2).
static void damping_decays(void **unused)
{
  (void)unused;
  uint32_t seed = 23;
  for (int trial = 0; trial < test_cases(9, 90); ++trial) {
    tn_world *world = world_without_gravity(substeps[trial % SUBSTEPS]);
    double i1 = random_between(&seed, 0.1, 2.0), i2 = random_between(&seed, 0.1, 2.0);
    double decay = random_between(&seed, 0.5, 10.0), d = decay / (1.0 / i1 + 1.0 / i2);
    tn_body_id a = make_wheel(world, tn_p3(0.0, 0.0, 0.0), 1.0, i1);
    tn_body_id b = make_wheel(world, tn_p3(1.0, 0.0, 0.0), 1.0, i2);
    tn_joint_id ja = test_joint(world, TN_JOINT_HINGE, test_no_body, a, tn_p3(0, 0, 0), z_axis);
    tn_joint_id jb = test_joint(world, TN_JOINT_HINGE, test_no_body, b, tn_p3(1, 0, 0), z_axis);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_axis(&def, ja, 3, 1.0f);
    tn_coupling_def_axis(&def, jb, 3, -1.0f);
    def.range = tn_between(-INFINITY, INFINITY);
    def.damping = (float)d;
    tn_coupling_id damper = make_coupling(world, &def);
    tn_body_set_angular_velocity(world, a, z_axis);
    test_run(world, DT, 30);
    double left = (double)tn_coupling_get_state(world, damper).rate;
    assert_close(left / exp(-0.5 * decay), 1.0, 3e-3);
    tn_world_destroy(world);
  }
}

// A drive is the law stiffness (target - c) + damping (velocity - c') + force, clamped as a whole.
static void drive_follows_its_law(void **unused)
{
  (void)unused;
  static const double stiffness[] = {20.0, 1e3, 1e6, 1e9};
  for (int trial = 0; trial < 12; ++trial) {
    tn_world *world = world_without_gravity(substeps[trial % SUBSTEPS]);
    tn_body_id a = make_wheel(world, tn_p3(0.0, 0.0, 0.0), 1.0, 0.5);
    tn_joint_id ja = test_joint(world, TN_JOINT_HINGE, test_no_body, a, tn_p3(0, 0, 0), z_axis);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_axis(&def, ja, 3, 2.0f); // c = 2 q, inverse mass 4 / I = 8
    def.range = tn_between(-INFINITY, INFINITY);
    double k = stiffness[trial / 3], d = 2.0 * sqrt(k / 8.0);
    def.drive = (tn_coupling_drive){(float)k, 9.0f, (float)d, 0.0f, 0.0f, free_range};
    tn_coupling_id servo = make_coupling(world, &def);
    for (int i = 0; i < 240; ++i) { // a load of -3 N m on q
      tn_body_apply_torque(world, a, tn_scale(-3.0f, z_axis));
      test_run(world, DT, 1);
    }
    double value = tn_coupling_get_state(world, servo).value;
    assert_close(value, 9.0 - 1.5 / k, 1e-4);
    assert_close((double)tn_coupling_get_state(world, servo).drive_force, 1.5, 2e-3);
    // Clamped: q'' = (2 * 0.5 - 3) / I.
    def.drive.limits = tn_between(-2.0f, 0.5f);
    double before = spin_about(world, a, z_axis);
    assert_true(tn_coupling_set_drive(world, servo, def.drive));
    for (int i = 0; i < 6; ++i) {
      tn_body_apply_torque(world, a, tn_scale(-3.0f, z_axis));
      test_run(world, DT, 1);
    }
    assert_close(spin_about(world, a, z_axis) - before, -0.4, 0.02);
    assert_close((double)tn_coupling_get_state(world, servo).drive_force, 0.5, 1e-4);
    // A motor.
    tn_coupling_drive motor = {0.0f, 0.0f, 1e6f, 3.0f, 0.0f, free_range};
    assert_true(tn_coupling_set_drive(world, servo, motor));
    test_run(world, DT, 30);
    assert_close((double)tn_coupling_get_state(world, servo).rate, 3.0, 1e-4);
    tn_world_destroy(world);
  }
}

// Dry friction stops a wheel after I w / T, and holds up to its bound.
static void friction_holds_and_stops(void **unused)
{
  (void)unused;
  for (int trial = 0; trial < SUBSTEPS; ++trial) {
    tn_world *world = world_without_gravity(substeps[trial]);
    tn_body_id a = make_wheel(world, tn_p3(0.0, 0.0, 0.0), 1.0, 0.5);
    tn_joint_id ja = test_joint(world, TN_JOINT_HINGE, test_no_body, a, tn_p3(0, 0, 0), z_axis);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_axis(&def, ja, 3, 2.0f);
    def.range = tn_between(-INFINITY, INFINITY);
    def.friction = 0.5f; // 1 N m on q
    tn_coupling_id brake = make_coupling(world, &def);
    tn_body_set_angular_velocity(world, a, tn_scale(2.0f, z_axis));
    test_run(world, DT, 30);
    assert_close(spin_about(world, a, z_axis), 1.0, 0.01);
    test_run(world, DT, 60);
    assert_close(spin_about(world, a, z_axis), 0.0, 1e-6);
    for (int i = 0; i < 60; ++i) {
      tn_body_apply_torque(world, a, tn_scale(0.9f, z_axis));
      test_run(world, DT, 1);
    }
    assert_close(spin_about(world, a, z_axis), 0.0, 1e-4);
    assert_close((double)tn_coupling_get_state(world, brake).force, -0.45, 1e-3);
    tn_world_destroy(world);
  }
}

// Gears in a housing that floats freely, tumbling: no torque from outside, no loss.
static void floating_gearbox_conserves(void **unused)
{
  (void)unused;
  uint32_t seed = 31;
  for (int trial = 0; trial < test_cases(3, 30); ++trial) {
    tn_world *world = world_without_gravity(substeps[trial % SUBSTEPS]);
    tn_body_id housing = test_box(world, tn_p3(0.0, 0.0, 0.0), 3.0f, tn_v3(0.5f, 0.3f, 0.2f));
    tn_coupling_def def = tn_default_coupling_def();
    tn_body_set_angular_velocity(world, housing, tn_v3(0.4f, 0.7f, -0.3f));
    tn_body_set_velocity(world, housing, tn_v3(0.2f, 0.0f, 0.1f));
    for (int i = 0; i < 3; ++i) {
      tn_pos at = tn_p3(0.4 * i - 0.4, 0.1, 0.0);
      tn_body_id gear = test_box(world, at, 0.5f, tn_v3(0.15f, 0.15f, 0.05f));
      tn_vec3 spin = tn_v3((float)random_between(&seed, -1.0, 1.0), 0.2f, 5.0f);
      tn_body_set_angular_velocity(world, gear, spin);
      tn_joint_id joint =
          test_joint(world, TN_JOINT_HINGE, housing, gear, at, i == 2 ? y_axis : z_axis);
      tn_coupling_def_axis(&def, joint, 3, (float)random_between(&seed, -2.0, 2.0));
    }
    make_coupling(world, &def);
    test_run(world, DT, 1); // velocities that contradict the joints are lost here
    double energy = tn_world_energy(world).total;
    tn_momentum before = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0));
    test_run(world, DT, 600);
    tn_momentum after = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0));
    double whole = distance(before.angular, (double[3]){0.0, 0.0, 0.0});
    double drift = distance(after.angular, before.angular);
    assert_close(tn_world_energy(world).total / energy, 1.0, 0.01);
    assert_below(drift, 1e-3 * whole);
    tn_world_destroy(world);
  }
}

// A rope is slack in flight: a mass thrown up follows its parabola, and hangs at the rope's length
// afterwards.
static void rope_goes_slack(void **unused)
{
  (void)unused;
  for (int trial = 0; trial < 2 * SUBSTEPS; ++trial) {
    tn_world *world = test_world(substeps[trial % SUBSTEPS], TN_METHOD_TENON);
    tn_body_id mass = make_wheel(world, tn_p3(0.0, -1.0, 0.0), 2.0, 0.1);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_point(&def, test_no_body, tn_p3(0.0, 0.0, 0.0), 1.0f);
    tn_coupling_def_point(&def, mass, tn_p3(0.0, 0.0, 0.0), 1.0f);
    def.range = tn_between(-INFINITY, 1.0f);
    def.compliance = trial < SUBSTEPS ? 0.0f : 1e-5f;
    def.range_damping = trial < SUBSTEPS ? 0.0f : 500.0f;
    tn_coupling_id rope = make_coupling(world, &def);
    tn_body_set_velocity(world, mass, tn_v3(0.0f, 4.0f, 0.0f));
    test_run(world, DT, 24); // 0.4 s: up 0.8 m, the highest point
    assert_close(tn_body_transform(world, mass).p.y, -0.2, 1e-3);
    assert_close((double)tn_coupling_get_state(world, rope).force, 0.0, 1e-6);
    test_run(world, DT, 240);
    double sag = (double)def.compliance * 2.0 * G;
    assert_close(tn_body_transform(world, mass).p.y, -1.0 - sag, 1e-4);
    assert_close((double)tn_coupling_get_state(world, rope).force, -2.0 * G, 0.02);
    tn_world_destroy(world);
  }
}

// q1 = a + b q2 + c q2^2 + d q2^3 + e q2^4, driven through the curve.
static void polynomial_holds(void **unused)
{
  (void)unused;
  for (int trial = 0; trial < SUBSTEPS; ++trial) {
    tn_world *world = world_without_gravity(substeps[trial]);
    tn_body_id a = make_wheel(world, tn_p3(0.0, 0.0, 0.0), 1.0, 1.0);
    tn_body_id b = make_wheel(world, tn_p3(1.0, 0.0, 0.0), 1.0, 1.0);
    tn_joint_id ja = test_joint(world, TN_JOINT_PRISMATIC, test_no_body, a, tn_p3(0, 0, 0), z_axis);
    tn_joint_id jb = test_joint(world, TN_JOINT_HINGE, test_no_body, b, tn_p3(1, 0, 0), z_axis);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_axis(&def, ja, 0, 1.0f);
    tn_coupling_def_axis(&def, jb, 3, -0.5f);
    def.axes[1].coefficients[1] = 0.3f;
    def.axes[1].coefficients[2] = -0.1f;
    def.axes[1].coefficients[3] = 0.05f;
    def.axes[1].reference = 0.25f;
    def.offset = (float)-(-0.5 * -0.25 + 0.3 * 0.0625 + 0.1 * 0.015625 + 0.05 * 0.00390625);
    make_coupling(world, &def);
    tn_joint_set_drive(world, jb, TN_ANGULAR_A, tn_motor(1.0f, INFINITY, INFINITY));
    for (int i = 0; i < 180; ++i) {
      test_run(world, DT, 1);
      double q = angle_of(world, jb) - 0.25;
      double want = q * (0.5 + q * (-0.3 + q * (0.1 + q * -0.05))) - (double)def.offset;
      assert_close((double)tn_joint_get_state(world, ja).offset.x, want, 1e-4);
    }
    tn_world_destroy(world);
  }
}

// A coupling over random axes and points, at rest where it is made: rigid, one-sided or soft.
static void add_random_coupling(tn_world *world, uint32_t *seed, const tn_body_id *body,
                                const tn_joint_id *joint, int count)
{
  tn_coupling_def def = tn_default_coupling_def();
  int axes = (int)random_between(seed, 0.0, 4.0), points = 2 + (int)random_between(seed, 0.0, 4.0);
  for (int i = 0; i < axes; ++i) {
    tn_joint_id of = joint[(int)random_between(seed, 0.0, count)];
    int axis = tn_joint_get_def(world, of).kind == TN_JOINT_HINGE ? 3 : 0;
    tn_coupling_def_axis(&def, of, axis, (float)random_between(seed, -2.0, 2.0));
  }
  for (int i = 0; i < points && (axes == 0 || random_between(seed, 0.0, 1.0) < 0.4); ++i) {
    bool moves = i == 0 || random_between(seed, 0.0, 1.0) < 0.7;
    tn_pos at = tn_p3(random_between(seed, -0.5, 0.5), random_between(seed, -0.5, 0.5),
                      random_between(seed, -0.5, 0.5));
    tn_coupling_def_point(&def, moves ? body[(int)random_between(seed, 0.0, count)] : test_no_body,
                          at, random_between(seed, 0.0, 1.0) < 0.8 ? 1.0f : 0.0f);
  }
  def.point_count = def.point_count == 1 ? 0 : def.point_count;
  if (def.axis_count + def.point_count == 0) {
    tn_coupling_def_axis(&def, joint[0],
                         tn_joint_get_def(world, joint[0]).kind == TN_JOINT_HINGE ? 3 : 0, 1.0f);
  }
  tn_coupling_id coupling = make_coupling(world, &def);
  float value = (float)tn_coupling_get_state(world, coupling).value;
  double form = random_between(seed, 0.0, 1.0);
  def.range = form < 0.3 ? tn_between(value, value)
                         : tn_between(form < 0.6 ? value - 0.3f : -INFINITY, value + 0.3f);
  def.rest = value;
  def.compliance = random_between(seed, 0.0, 1.0) < 0.3
                       ? (float)pow(10.0, random_between(seed, -9.0, -1.0))
                       : 0.0f;
  def.stiffness = random_between(seed, 0.0, 1.0) < 0.3
                      ? (float)pow(10.0, random_between(seed, 0.0, 8.0))
                      : 0.0f;
  def.damping = random_between(seed, 0.0, 1.0) < 0.3
                    ? (float)pow(10.0, random_between(seed, -1.0, 5.0))
                    : 0.0f;
  def.friction = random_between(seed, 0.0, 1.0) < 0.2 ? 5.0f : 0.0f;
  assert_true(tn_coupling_set_def(world, coupling, &def));
}

// Trees of hinges and slides with random couplings, spun up and let go under gravity: nothing
// drives them, so they must not gain energy.
static void random_couplings_gain_nothing(void **unused)
{
  (void)unused;
  for (int trial = 0; trial < test_cases(45, 450); ++trial) {
    uint32_t seed = (uint32_t)(7919 * trial + 3);
    tn_world *world = test_world(substeps[trial % SUBSTEPS], TN_METHOD_TENON);
    int count = 2 + (int)random_between(&seed, 0.0, 5.0);
    tn_body_id body[7];
    tn_joint_id joint[7];
    for (int i = 0; i < count; ++i) {
      double mass = pow(10.0, random_between(&seed, -1.0, 1.0));
      body[i] = make_wheel(world, tn_p3(i + 0.5, 0.0, 0.0), mass, 0.1 * mass);
      bool hinge = random_between(&seed, 0.0, 1.0) < 0.7;
      int parent = random_between(&seed, 0.0, 1.0) < 0.8 ? (int)random_between(&seed, 0.0, i) : -1;
      tn_vec3 axis = tn_v3((float)random_between(&seed, -1.0, 1.0),
                           (float)random_between(&seed, -1.0, 1.0), 0.5f);
      tn_joint_def def = test_joint_def(world, hinge ? TN_JOINT_HINGE : TN_JOINT_PRISMATIC,
                                        i == 0 || parent < 0 ? test_no_body : body[parent], body[i],
                                        tn_p3((double)i, 0.0, 0.0), axis);
      def.linear[0] = tn_between(-1.0f, 1.0f);
      joint[i] = tn_joint_create(world, &def);
      tn_body_set_angular_velocity(world, body[i],
                                   tn_v3((float)random_between(&seed, -3.0, 3.0), 2.0f, 1.0f));
    }
    int couplings = 1 + (int)random_between(&seed, 0.0, 4.0);
    for (int i = 0; i < couplings; ++i) {
      add_random_coupling(world, &seed, body, joint, count);
    }
    tn_energy start = tn_world_energy(world);
    double most = 0.0;
    for (int i = 0; i < 120; ++i) {
      test_run(world, DT, 1);
      tn_energy now = tn_world_energy(world);
      most = fmax(most, now.kinetic + now.potential - start.kinetic - start.potential);
    }
    assert_below(most, 0.1 * (start.kinetic + 10.0));
    tn_world_destroy(world);
  }
}

// Couplings that say the same twice have a solution, and share the load.
static void redundant_couplings_share_their_load(void **unused)
{
  (void)unused;
  for (int trial = 0; trial < SUBSTEPS; ++trial) {
    tn_world *world = test_world(substeps[trial], TN_METHOD_TENON);
    tn_body_id mass = make_wheel(world, tn_p3(0.0, -1.0, 0.0), 2.0, 0.1);
    tn_coupling_id rope[3];
    for (int i = 0; i < 3; ++i) {
      tn_coupling_def def = tn_default_coupling_def();
      tn_coupling_def_point(&def, test_no_body, tn_p3(0.0, 0.0, 0.0), 1.0f);
      tn_coupling_def_point(&def, mass, tn_p3(0.0, 0.0, 0.0), 1.0f);
      def.range = i == 2 ? tn_between(-INFINITY, 1.0f) : tn_between(1.0f, 1.0f);
      def.friction = i == 1 ? 100.0f : 0.0f;
      rope[i] = make_coupling(world, &def);
    }
    test_run(world, DT, 240);
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
      sum += (double)tn_coupling_get_state(world, rope[i]).force;
    }
    assert_close(tn_body_transform(world, mass).p.y, -1.0, 1e-5);
    assert_close(sum, -2.0 * G, 0.02);
    tn_world_destroy(world);
  }
}

// An arm of two links; the second joint follows the first at a ratio. Returns the second joint.
static tn_joint_id make_arm(tn_world *world, tn_coupling_id *mimic, tn_body_id link[2])
{
  tn_joint_id joint[2];
  for (int i = 0; i < 2; ++i) {
    link[i] = test_box(world, tn_p3(0.5 + i, 0.0, 0.0), 1.0f, tn_v3(0.5f, 0.05f, 0.05f));
    joint[i] = test_joint(world, TN_JOINT_HINGE, i ? link[0] : test_no_body, link[i],
                          tn_p3((double)i, 0.0, 0.0), z_axis);
  }
  tn_coupling_def def = tn_default_coupling_def();
  tn_coupling_def_axis(&def, joint[1], 3, 1.0f);
  tn_coupling_def_axis(&def, joint[0], 3, -1.5f);
  *mimic = make_coupling(world, &def);
  return joint[1];
}

// Many turns, a snapshot in between: the count of turns is part of it.
static void snapshot_keeps_turns_and_hash(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON), *copy = test_world(8, TN_METHOD_TENON);
  tn_body_id link[2];
  tn_coupling_id mimic;
  make_arm(world, &mimic, link);
  tn_coupling_def rope = tn_default_coupling_def();
  tn_coupling_def_point(&rope, test_no_body, tn_p3(0.0, 2.0, 0.0), 1.0f);
  tn_coupling_def_point(&rope, link[1], tn_p3(0.5, 0.0, 0.0), 1.0f);
  rope.range = tn_between(-INFINITY, INFINITY);
  rope.stiffness = 5.0f;
  rope.rest = 1.0f;
  rope.drive = (tn_coupling_drive){1.0f, 2.0f, 0.5f, 0.0f, 1.0f, {-8.0f, 8.0f}};
  rope.friction = 0.1f;
  tn_coupling_id tendon = make_coupling(world, &rope);
  tn_body_set_angular_velocity(world, link[0], tn_scale(12.0f, z_axis));
  test_run(world, DT, 100);
  size_t size = tn_world_save(world, NULL, 0);
  void *bytes = malloc(size);
  assert_non_null(bytes);
  assert_int_equal(tn_world_save(world, bytes, size), size);
  assert_true(tn_world_restore(copy, bytes, size));
  assert_true(tn_world_hash(copy) == tn_world_hash(world));
  tn_coupling_id ids[3];
  assert_int_equal(tn_world_couplings(copy, ids, 3), 2);
  assert_close(tn_coupling_get_state(copy, ids[0]).value, 0.0, 1e-5);
  assert_true(tn_coupling_get_state(copy, ids[1]).value ==
              tn_coupling_get_state(world, tendon).value);
  assert_true(tn_joint_is_valid(copy, tn_coupling_get_def(copy, ids[0]).axes[0].joint));
  assert_true(tn_body_is_valid(copy, tn_coupling_get_def(copy, ids[1]).points[1].body));
  test_run(world, DT, 100);
  test_run(copy, DT, 100);
  assert_true(tn_world_hash(copy) == tn_world_hash(world));
  assert_true(tn_coupling_destroy(copy, ids[1]));
  assert_true(tn_coupling_destroy(copy, ids[0]));
  free(bytes);
  tn_world_destroy(copy);
  tn_world_destroy(world);
}

static void lanes_and_threads_agree(void **unused)
{
  (void)unused;
  int lanes[4], count = test_lanes(lanes);
  uint64_t hash = 0;
  for (int i = 0; i < 2 * count; ++i) {
    tn_world *world = test_world_with(8, TN_METHOD_TENON, lanes[i / 2], i % 2 ? 3 : 1);
    tn_body_id link[2];
    for (int k = 0; k < 9; ++k) {
      tn_coupling_id mimic;
      make_arm(world, &mimic, link);
      tn_body_set_angular_velocity(world, link[0], tn_scale((float)k, z_axis));
    }
    test_run(world, DT, 30);
    hash = i == 0 ? tn_world_hash(world) : hash;
    assert_true(tn_world_hash(world) == hash);
    tn_world_destroy(world);
  }
}

// Two masses that only a rope connects fall asleep and wake together.
static void coupled_bodies_sleep_together(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_world_set_sleeping(world, true);
  tn_body_id a = make_wheel(world, tn_p3(-1.0, -2.0, 0.0), 2.0, 0.1);
  tn_body_id b = make_wheel(world, tn_p3(1.0, -2.0, 0.0), 2.0, 0.1);
  tn_coupling_def def = tn_default_coupling_def();
  tn_coupling_def_point(&def, a, tn_p3(0.0, 0.0, 0.0), 1.0f);
  tn_coupling_def_point(&def, test_no_body, tn_p3(-1.0, 0.0, 0.0), 1.0f);
  tn_coupling_def_point(&def, test_no_body, tn_p3(1.0, 0.0, 0.0), 0.0f);
  tn_coupling_def_point(&def, b, tn_p3(0.0, 0.0, 0.0), 1.0f);
  def.range = tn_between(0.0f, 4.0f);
  tn_coupling_id rope = make_coupling(world, &def);
  test_run(world, DT, 180);
  assert_false(tn_body_is_awake(world, a) || tn_body_is_awake(world, b));
  tn_body_set_velocity(world, a, tn_v3(0.0f, -1.0f, 0.0f));
  assert_true(tn_body_is_awake(world, b));
  test_run(world, DT, 10);
  assert_close((double)tn_body_velocity(world, b).y, 0.5, 1e-3);
  assert_true(tn_coupling_set_enabled(world, rope, false));
  assert_false(tn_coupling_is_enabled(world, rope));
  test_run(world, DT, 60);
  assert_below(tn_body_transform(world, b).p.y, -4.0);
  assert_close((double)tn_coupling_get_state(world, rope).force, 0.0, 0.0);
  tn_world_destroy(world);
}

// Destroying a joint or body destroys its couplings; disabling a joint suspends them.
static void joints_and_bodies_go_away(void **unused)
{
  (void)unused;
  for (int trial = 0; trial < 3; ++trial) {
    tn_world *world = test_world(8, TN_METHOD_TENON);
    tn_body_id link[2];
    tn_coupling_id mimic;
    tn_joint_id joint = make_arm(world, &mimic, link);
    test_run(world, DT, 10);
    if (trial == 0) {
      assert_true(tn_joint_set_enabled(world, joint, false));
      test_run(world, DT, 10);
      assert_true(tn_coupling_is_valid(world, mimic));
      assert_close((double)tn_coupling_get_state(world, mimic).force, 0.0, 0.0);
    } else {
      assert_true(trial == 1 ? tn_joint_destroy(world, joint) : tn_body_destroy(world, link[0]));
      assert_message("is destroyed together with its");
      assert_false(tn_coupling_is_valid(world, mimic));
      assert_int_equal(tn_world_couplings(world, NULL, 0), 0);
    }
    test_run(world, DT, 10);
    tn_world_destroy(world);
  }
}

static void bad_couplings_are_refused(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id link[2];
  tn_coupling_id mimic;
  tn_joint_id joint = make_arm(world, &mimic, link);
  uint64_t hash = tn_world_hash(world);
  tn_coupling_def good = tn_coupling_get_def(world, mimic), def;
#define REFUSED(change, message)                                                                   \
  def = good;                                                                                      \
  change;                                                                                          \
  test_forget_messages();                                                                          \
  assert_true(TN_IS_NULL(tn_coupling_create(world, &def)));                                        \
  assert_message(message);                                                                         \
  assert_false(tn_coupling_set_def(world, mimic, &def));                                           \
  assert_message(message)
  REFUSED(def.cookie = 0, "does not come from");
  REFUSED(def.axis_count = 0, "no axis and no path");
  REFUSED(def.axis_count = TN_COUPLING_AXES + 1, "too many axes");
  REFUSED(def.point_count = 1, "2 to 16 points");
  REFUSED(def.axes[0].axis = 0, "no such free axis");
  REFUSED(def.axes[0].axis = 17, "no such free axis");
  REFUSED(def.axes[0].joint.index = 99, "destroyed");
  REFUSED(def.axes[0].coefficients[0] = 0.0f, "all coefficients");
  REFUSED(def.axes[0].coefficients[3] = NAN, "coefficient");
  REFUSED(def.axes[0].reference = INFINITY, "reference");
  REFUSED(def.range = tn_between(1.0f, -1.0f), "range");
  REFUSED(def.range = tn_between(INFINITY, INFINITY), "range");
  REFUSED(def.compliance = -1.0f, "compliance");
  REFUSED(def.stiffness = NAN, "stiffness");
  REFUSED(def.offset = INFINITY, "offset");
  REFUSED(def.friction = -1.0f, "friction");
  REFUSED(def.drive.damping = -1.0f, "damping");
  REFUSED(def.drive.target = NAN, "target");
  REFUSED(def.drive.limits = tn_between(0.5f, 1.0f), "limits");
  REFUSED(def.drive.limits.lo = NAN, "limits");
  REFUSED((def.axis_count = 0, def.point_count = 2), "all points are the world's");
  REFUSED((def.point_count = 2, def.points[1].factor = -1.0f), "factors");
  REFUSED((def.point_count = 2, def.points[0].position.x = (double)NAN), "point");
#undef REFUSED
  test_forget_messages();
  assert_false(tn_coupling_set_drive(world, mimic, (tn_coupling_drive){.stiffness = -1.0f}));
  assert_message("stiffness");
  assert_false(tn_world_set_method(world, TN_METHOD_XPBD));
  assert_message("couplings");
  assert_true(tn_world_hash(world) == hash);
  tn_coupling_id none = {0};
  assert_false(tn_coupling_destroy(world, none));
  assert_message("null");
  assert_true(tn_coupling_destroy(world, mimic));
  assert_false(tn_coupling_set_enabled(world, mimic, true));
  assert_message("destroyed");
  assert_true(tn_world_set_method(world, TN_METHOD_XPBD));
  def = good;
  assert_true(TN_IS_NULL(tn_coupling_create(world, &def)));
  assert_message("TN_METHOD_TENON");
  assert_true(tn_joint_is_valid(world, joint));
  def.axis_count = TN_COUPLING_AXES;
  def.point_count = TN_COUPLING_POINTS;
  assert_false(tn_coupling_def_axis(&def, joint, 3, 1.0f));
  assert_false(tn_coupling_def_point(&def, test_no_body, tn_p3(0.0, 0.0, 0.0), 1.0f));
  tn_world_destroy(world);
}

// A hinge counts turns: a spring between c and a far target unwinds all of them.
static void angles_count_turns(void **unused)
{
  (void)unused;
  for (int trial = 0; trial < SUBSTEPS; ++trial) {
    tn_world *world = world_without_gravity(substeps[trial]);
    tn_body_id a = make_wheel(world, tn_p3(0.0, 0.0, 0.0), 1.0, 0.5);
    tn_joint_id ja = test_joint(world, TN_JOINT_HINGE, test_no_body, a, tn_p3(0, 0, 0), z_axis);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_axis(&def, ja, 3, 1.0f);
    def.range = tn_between(-INFINITY, INFINITY);
    tn_coupling_id counter = make_coupling(world, &def);
    tn_body_set_angular_velocity(world, a, tn_scale(250.0f, z_axis)); // 4.2 rad in a step
    test_run(world, DT, 60);
    assert_close(tn_coupling_get_state(world, counter).value, 250.0, 1e-3);
    assert_close((double)tn_coupling_get_state(world, counter).rate, 250.0, 1e-3);
    tn_coupling_drive back = {200.0f, 1.0f, 20.0f, 0.0f, 0.0f, free_range};
    assert_true(tn_coupling_set_drive(world, counter, back));
    test_run(world, DT, 240);
    assert_close(tn_coupling_get_state(world, counter).value, 1.0, 1e-4);
    tn_world_destroy(world);
  }
}

// Inverse kinematics moves a coupled arm as the coupling allows.
static void reach_keeps_couplings(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id link[2];
  tn_coupling_id mimic;
  make_arm(world, &mimic, link);
  tn_reach_def reach = tn_default_reach_def();
  reach.body = link[1];
  reach.frame.p = tn_p3(0.5, 0.0, 0.0);
  double q = 0.4; // the tip at q and 2.5 q
  reach.target.p = tn_p3(cos(q) + cos(2.5 * q), sin(q) + sin(2.5 * q), 0.0);
  tn_reach_result result = tn_world_reach(world, &reach);
  assert_below(result.distance, 2e-3);
  assert_below(fabs(tn_coupling_get_state(world, mimic).value), 1e-3);
  tn_world_destroy(world);
}

// Couplings that do not hold at the start close, also those that turn a whole arm about its anchor:
// arms of one to three hinges, with ranges on one to all of their angles.
static void open_couplings_close(void **unused)
{
  (void)unused;
  uint32_t seed = 9;
  for (int trial = 0; trial < 20 * SUBSTEPS; ++trial) {
    tn_world *world = test_world(substeps[trial % SUBSTEPS], TN_METHOD_TENON);
    tn_coupling_def def = tn_default_coupling_def();
    tn_body_id last = test_no_body;
    int links = 1 + trial / SUBSTEPS % 3;
    for (int i = 0; i < links; ++i) {
      tn_body_id link = make_wheel(world, tn_p3(i + 0.5, 0.0, 0.0), 1.0, 0.1);
      tn_joint_id hinge = test_joint(world, TN_JOINT_HINGE, last, link, tn_p3(i, 0.0, 0.0), z_axis);
      if (i == 0 || random_between(&seed, 0.0, 1.0) < 0.5) {
        tn_coupling_def_axis(&def, hinge, 3, (float)random_between(&seed, 0.5, 2.0));
      }
      last = link;
    }
    double lo = random_between(&seed, -0.8, 0.8);
    def.range = tn_between((float)lo, (float)(trial % 2 ? lo : lo + 0.1));
    tn_coupling_id coupling = make_coupling(world, &def);
    test_run(world, DT, 60);
    double value = tn_coupling_get_state(world, coupling).value;
    assert_below(fmax((double)def.range.lo - value, value - (double)def.range.hi), 1e-3);
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gears_turn_at_any_ratio),
      cmocka_unit_test(power_goes_through),
      cmocka_unit_test(differential_shares_torque),
      cmocka_unit_test(atwood_machine_accelerates),
      cmocka_unit_test(block_and_tackle_balances),
      cmocka_unit_test(backlash_is_a_range),
      cmocka_unit_test(compliant_gear_swings),
      cmocka_unit_test(damping_decays),
      cmocka_unit_test(drive_follows_its_law),
      cmocka_unit_test(friction_holds_and_stops),
      cmocka_unit_test(floating_gearbox_conserves),
      cmocka_unit_test(rope_goes_slack),
      cmocka_unit_test(polynomial_holds),
      cmocka_unit_test(random_couplings_gain_nothing),
      cmocka_unit_test(redundant_couplings_share_their_load),
      cmocka_unit_test(snapshot_keeps_turns_and_hash),
      cmocka_unit_test(lanes_and_threads_agree),
      cmocka_unit_test(coupled_bodies_sleep_together),
      cmocka_unit_test(joints_and_bodies_go_away),
      cmocka_unit_test(bad_couplings_are_refused),
      cmocka_unit_test(angles_count_turns),
      cmocka_unit_test(reach_keeps_couplings),
      cmocka_unit_test(open_couplings_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
