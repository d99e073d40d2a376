// The law of a driven axis: k (target - q) + d (velocity - q') + force within limits, beside a
// spring, damping and armature; against closed forms, statics and conservation, for random inputs.
#include "support.h"

#include <math.h>
#include <stdlib.h>

#define DT (1.0f / 60.0f)

static const tn_vec3 z_axis = {0.0f, 0.0f, 1.0f};
static const int counts[] = {4, 8, 20}; // substeps

static double log_between(uint32_t *random, double lo, double hi)
{
  return exp(log(lo) + (double)test_random(random) * log(hi / lo));
}

static tn_world *still_world(int substeps, tn_method method)
{
  tn_world_def def = test_world_def(substeps, method);
  def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
  def.sleeping = false;
  return tn_world_create(&def);
}

static tn_body_id wheel(tn_world *world, double inertia)
{
  tn_body_def def = test_body_def();
  float i = (float)inertia;
  def.mass.mass = i;
  def.mass.inertia = (tn_sym3){i, i, i, 0.0f, 0.0f, 0.0f};
  return tn_body_create(world, &def);
}

// A hinge about z between the world and a body with this inertia.
typedef struct axle {
  tn_world *world;
  tn_body_id body;
  tn_joint_id joint;
} axle;

static axle make_axle(int substeps, tn_method method, double inertia, tn_axis axis)
{
  axle a = {.world = still_world(substeps, method)};
  a.body = wheel(a.world, inertia);
  tn_joint_def def =
      test_joint_def(a.world, TN_JOINT_HINGE, test_no_body, a.body, tn_p3(0.0, 0.0, 0.0), z_axis);
  def.axis[TN_ANGULAR_A] = axis;
  a.joint = tn_joint_create(a.world, &def);
  assert_true(tn_joint_is_valid(a.world, a.joint));
  return a;
}

static tn_axis no_axis(void)
{
  return tn_default_joint_def(TN_JOINT_HINGE).axis[TN_ANGULAR_A];
}

static double angle_of(const axle *a)
{
  return (double)tn_joint_angle(a->world, a->joint, TN_ANGULAR_A);
}

static double rate_of(const axle *a)
{
  return (double)tn_joint_get_state(a->world, a->joint).rate[TN_ANGULAR_A];
}

// ---------------------------------------------------------------------------------------------
// Servos

// Runs 10 time constants, but at least 12 substeps, and checks q = target + load / k.
static void settle(const axle *a, double omega, double load, double k, double target, double jump,
                   const char *what)
{
  int steps = 12 + (int)ceil(10.0 / omega / (double)DT);
  for (int i = 0; i < steps; ++i) {
    tn_body_apply_torque(a->world, a->body, tn_v3(0.0f, 0.0f, (float)load));
    tn_world_step(a->world, DT);
  }
  double bound = 1e-3 * fabs(jump) + 1e-6;
  if (!(fabs(angle_of(a) - target - load / k) <= bound)) {
    print_error("%s: k %g, omega h %g\n", what, k, omega / 480.0);
  }
  assert_close(angle_of(a), target + load / k, bound);
}

static void servo_of_any_stiffness_settles(void **unused)
{
  (void)unused;
  uint32_t random = 7;
  for (int i = 0; i < test_cases(60, 600); ++i) {
    double inertia = log_between(&random, 1e-5, 1e3), k = log_between(&random, 1.0, 1e8);
    double omega = sqrt(k / inertia), load = k * (double)test_between(&random, -0.1f, 0.1f);
    if (omega < 1.0) { // would take long
      continue;
    }
    double jump = (double)test_between(&random, 0.1f, 1.0f);
    tn_axis axis = no_axis();
    axis.drive = tn_servo((float)jump, (float)k, (float)(2.0 * sqrt(k * inertia)));
    axle a = make_axle(counts[i % 3], TN_METHOD_TENON, inertia, axis);
    settle(&a, omega, load, k, (double)axis.drive.target, jump, "from rest");
    axis.drive.target = (float)-jump;
    tn_joint_set_drive(a.world, a.joint, TN_ANGULAR_A, axis.drive);
    settle(&a, omega, load, k, (double)axis.drive.target, 2.0 * jump, "target jump");
    tn_body_set_angular_velocity(a.world, a.body, tn_v3(0.0f, 0.0f, (float)(omega * 0.3)));
    settle(&a, omega, load, k, (double)axis.drive.target, 0.3, "pushed");
    tn_transform turned = {tn_p3(0.0, 0.0, 0.0), tn_quat_axis_angle(z_axis, 1.0f)};
    tn_body_set_transform(a.world, a.body, turned);
    settle(&a, omega, load, k, (double)axis.drive.target, 1.0, "teleport");
    tn_joint_def def = tn_joint_get_def(a.world, a.joint);
    def.axis[TN_ANGULAR_A].drive.target = axis.drive.target = (float)(0.5 * jump);
    assert_true(tn_joint_set_def(a.world, a.joint, &def));
    settle(&a, omega, load, k, (double)axis.drive.target, 1.5 * jump, "defined anew");
    tn_joint_set_drive(a.world, a.joint, TN_ANGULAR_A, (tn_drive){.limits = axis.drive.limits});
    test_run(a.world, DT, 5);
    tn_body_set_angular_velocity(a.world, a.body, tn_v3(0.0f, 0.0f, 0.0f));
    tn_body_set_transform(a.world, a.body, turned);
    tn_joint_set_drive(a.world, a.joint, TN_ANGULAR_A, axis.drive);
    settle(&a, omega, load, k, (double)axis.drive.target, 1.0, "switched on");
    tn_world_destroy(a.world);
  }
}

// Position of I q'' = -k q - d q' from q0 at rest.
static double swing_at(double inertia, double k, double d, double q0, double t)
{
  double a = 0.5 * d / inertia, square = k / inertia - a * a;
  double w = sqrt(fabs(square));
  if (square > 0.0) {
    return q0 * exp(-a * t) * (cos(w * t) + a / w * sin(w * t));
  }
  return q0 * exp(-a * t) * (cosh(w * t) + a / w * sinh(w * t));
}

// Largest deviation from the closed form over the first two seconds.
static double step_error(int substeps, double inertia, double armature, double k, double d,
                         bool passive)
{
  tn_axis axis = no_axis();
  axis.armature = (float)armature;
  if (passive) {
    axis.stiffness = (float)k;
    axis.damping = (float)d;
    axis.rest = 0.5f;
  } else {
    axis.drive = tn_servo(0.5f, (float)k, (float)d);
  }
  axle a = make_axle(substeps, TN_METHOD_TENON, inertia, axis);
  double worst = 0.0;
  for (int i = 1; i <= 60; ++i) {
    tn_world_step(a.world, DT);
    double exact = 0.5 + swing_at(inertia + armature, k, d, -0.5, (double)i * (double)DT);
    worst = fmax(worst, fabs(angle_of(&a) - exact) / 0.5);
  }
  tn_world_destroy(a.world);
  return worst;
}

static void step_response_is_of_second_order(void **unused)
{
  (void)unused;
  uint32_t random = 11;
  for (int i = 0; i < test_cases(20, 200); ++i) {
    double inertia = log_between(&random, 1e-3, 1e2);
    double armature = i % 2 ? inertia * log_between(&random, 0.1, 10.0) : 0.0;
    double omega = (double)test_between(&random, 5.0f, 30.0f);
    double ratio = (double)test_between(&random, 0.0f, 1.5f);
    double k = (inertia + armature) * omega * omega, d = 2.0 * ratio * (inertia + armature) * omega;
    double coarse = step_error(10, inertia, armature, k, d, i % 3 == 0);
    double fine = step_error(20, inertia, armature, k, d, i % 3 == 0);
    assert_below(fine, 0.01);
    assert_below(fine, 0.3 * coarse + 2e-5);
  }
}

// Energy left of a spring after 10 periods, by k h^2 / m; docs/manual.md has this table.
static void springs_keep_their_energy(void **unused)
{
  (void)unused;
  static const struct {
    double stiffness, least, most; // k h^2 / m; share of the energy left
  } table[] = {{0.001, 0.999, 1.001}, {0.01, 0.999, 1.001}, {0.1, 0.99, 1.01},
               {0.25, 0.99, 1.01},    {0.4, 0.0, 0.1},      {1.0, 0.0, 1e-6}};
  for (int kind = 0; kind < 3; ++kind) { // servo, passive spring, compliant distance joint
    for (int i = 0; i < 6; ++i) {
      double h = (double)DT / 8.0, k = table[i].stiffness / (h * h);
      tn_axis axis = no_axis();
      axis.drive.stiffness = kind == 0 ? (float)k : 0.0f;
      axis.stiffness = kind == 1 ? (float)k : 0.0f;
      axle a = make_axle(8, TN_METHOD_TENON, 1.0, axis);
      if (kind == 2) {
        tn_joint_destroy(a.world, a.joint);
        tn_joint_def def = tn_default_joint_def(TN_JOINT_DISTANCE);
        def.body_b = a.body;
        def.compliance = (float)(1.0 / k);
        assert_true(
            tn_joint_def_between(a.world, &def, tn_p3(0.0, 0.0, -1.0), tn_p3(0.0, 0.0, 0.0)));
        a.joint = tn_joint_create(a.world, &def);
      }
      double start = 0.2 * sqrt(k);
      tn_body_set_angular_velocity(a.world, a.body, tn_v3(0.0f, 0.0f, kind < 2 ? (float)start : 0));
      tn_body_set_velocity(a.world, a.body, tn_v3(0.0f, 0.0f, kind == 2 ? (float)start : 0));
      double periods = 20.0 * 3.14159265 / sqrt(k) / (double)DT;
      for (int n = 0; n < (int)ceil(periods); ++n) {
        tn_world_step(a.world, DT);
      }
      double left = tn_world_energy(a.world).total / (0.5 * start * start);
      if (getenv("TENON_PRINT")) {
        print_message("kind %d: k h^2 / m %.3f keeps %.4f\n", kind, table[i].stiffness, left);
      }
      assert_true(left >= table[i].least && left <= table[i].most);
      tn_world_destroy(a.world);
    }
  }
}

// A servo at its limit slews as I q'' = clamp(k (target - q) - d q', limits).
// A wheel on two crossed hinges with springs. The link between them has a millionth of its inertia:
// by itself it would make the springs stiff, which damps them.
static double energy_left_on_light_link(double inertia, const double stiffness[2], bool told)
{
  tn_world *world = still_world(8, TN_METHOD_TENON);
  tn_body_id body[2] = {wheel(world, 1e-6 * inertia), wheel(world, inertia)};
  for (int i = 0; i < 2; ++i) {
    tn_vec3 along = i ? tn_v3(1.0f, 0.0f, 0.0f) : z_axis;
    tn_joint_def def = test_joint_def(world, TN_JOINT_HINGE, i ? body[0] : test_no_body, body[i],
                                      tn_p3(0.0, 0.0, 0.0), along);
    def.axis[TN_ANGULAR_A].stiffness = (float)stiffness[i];
    def.axis[TN_ANGULAR_A].inertia = told ? (float)inertia : 0.0f;
    tn_joint_id joint = tn_joint_create(world, &def);
    assert_true(tn_joint_is_valid(world, joint));
  }
  float rate[2] = {(float)(0.2 * sqrt(stiffness[0] / inertia)),
                   (float)(0.2 * sqrt(stiffness[1] / inertia))};
  tn_body_set_angular_velocity(world, body[0], tn_v3(0.0f, 0.0f, rate[0]));
  tn_body_set_angular_velocity(world, body[1], tn_v3(rate[1], 0.0f, rate[0]));
  double start = tn_world_energy(world).total;
  double period = 2.0 * 3.14159265 * sqrt(inertia / fmax(stiffness[0], stiffness[1]));
  test_run(world, DT, (int)ceil(10.0 * period / (double)DT));
  double left = tn_world_energy(world).total / start;
  tn_world_destroy(world);
  return left;
}

static void springs_of_light_links_keep_their_energy(void **unused)
{
  (void)unused;
  uint32_t random = 31;
  double h = (double)DT / 8.0;
  for (int i = 0; i < 20; ++i) {
    double inertia = log_between(&random, 1e-3, 1e3), k[2];
    for (int n = 0; n < 2; ++n) {
      k[n] = log_between(&random, 0.0005, 0.01) * inertia / (h * h);
    }
    if (getenv("TENON_PRINT")) {
      print_message("k h^2 / I %.3f and %.3f: %.4f left; %.4f untold\n", k[0] * h * h / inertia,
                    k[1] * h * h / inertia, energy_left_on_light_link(inertia, k, true),
                    energy_left_on_light_link(inertia, k, false));
    }
    assert_close(energy_left_on_light_link(inertia, k, true), 1.0, 0.03);
    assert_below(energy_left_on_light_link(inertia, k, false), 0.5);
  }
}

static void limits_hold_for_the_whole_drive(void **unused)
{
  (void)unused;
  uint32_t random = 5;
  for (int i = 0; i < test_cases(12, 120); ++i) {
    double inertia = log_between(&random, 1e-2, 1e2), omega = (double)test_between(&random, 5, 40);
    double k = inertia * omega * omega, d = inertia * omega * (double)test_between(&random, 0.5, 4);
    double target = 2.0, hi = k * target * (double)test_between(&random, 0.05f, 0.5f);
    double lo = -hi * (double)test_between(&random, 0.2f, 1.0f), q = 0.0, u = 0.0;
    tn_axis axis = no_axis();
    axis.drive = tn_servo((float)target, (float)k, (float)d);
    axis.drive.limits = tn_between((float)lo, (float)hi);
    axle a = make_axle(20, TN_METHOD_TENON, inertia, axis);
    for (int n = 0; n < 90; ++n) {
      tn_world_step(a.world, DT);
      for (int s = 0; s < 2000; ++s) { // the exact motion, in small steps
        double h = (double)DT / 2000.0, force = fmax(lo, fmin(k * (target - q) - d * u, hi));
        u += h * force / inertia;
        q += h * u;
      }
      assert_close(angle_of(&a), q, 0.01 * target);
      double pull = (double)tn_joint_get_state(a.world, a.joint).drive_force[TN_ANGULAR_A];
      assert_true(pull <= hi * 1.0001 && pull >= lo * 1.0001);
    }
    tn_world_destroy(a.world);
  }
}

// ---------------------------------------------------------------------------------------------
// Damping of what hangs on the joint

// A rod of 1 kg and 1 m on a hinge, with a mass fixed to its end.
static double rod_decay(int substeps, double end_mass, double rate)
{
  tn_world *world = still_world(substeps, TN_METHOD_TENON);
  tn_body_id rod = test_box(world, tn_p3(0.5, 0.0, 0.0), 1.0f, tn_v3(0.5f, 0.05f, 0.05f));
  double inertia = 1.0 / 3.0 + 0.0025 / 3.0 + end_mass * (1.0 + 0.4 * 0.01);
  tn_joint_def def =
      test_joint_def(world, TN_JOINT_HINGE, test_no_body, rod, tn_p3(0.0, 0.0, 0.0), z_axis);
  def.axis[TN_ANGULAR_A].damping = (float)(rate * inertia);
  tn_joint_create(world, &def);
  if (end_mass > 0.0) {
    tn_body_def ball = test_body_def();
    ball.mass = tn_mass_scaled_to(tn_mass_sphere(0.1f, 1000.0f), (float)end_mass);
    ball.position = tn_p3(1.0, 0.0, 0.0);
    ball.velocity = tn_v3(0.0f, 1.0f, 0.0f);
    ball.angular_velocity = z_axis;
    tn_body_id end = tn_body_create(world, &ball);
    test_joint(world, TN_JOINT_FIXED, rod, end, tn_p3(1.0, 0.0, 0.0), z_axis);
  }
  tn_body_set_velocity(world, rod, tn_v3(0.0f, 0.5f, 0.0f));
  tn_body_set_angular_velocity(world, rod, z_axis);
  test_run(world, DT, 60);
  double left = (double)tn_body_angular_velocity(world, rod).z;
  tn_world_destroy(world);
  return left;
}

static void damping_acts_on_what_moves(void **unused)
{
  (void)unused;
  static const double masses[] = {0.0, 1.0, 20.0}, rates[] = {0.5, 2.0, 5.0};
  for (int i = 0; i < 27; ++i) {
    double rate = rates[i / 9], left = rod_decay(counts[i % 3], masses[i / 3 % 3], rate);
    assert_close(left, exp(-rate), 0.01 * exp(-rate));
  }
}

// A chassis on four springs with dampers, on light hubs that stand on static ground.
static void chassis_swings_as_its_closed_form(void **unused)
{
  (void)unused;
  for (int c = 0; c < 3; ++c) {
    tn_world *world = still_world(counts[c], TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, -10.0f, 0.0f));
    tn_body_id chassis = test_box(world, tn_p3(0.0, 1.0, 0.0), 1200.0f, tn_v3(2.0f, 0.3f, 0.8f));
    double k = 30000.0, d = 1500.0, mass = 1200.0;
    for (int i = 0; i < 4; ++i) {
      tn_pos at = tn_p3(i & 1 ? 1.5 : -1.5, 0.4, i & 2 ? 0.7 : -0.7);
      tn_body_id hub = test_box(world, at, 15.0f, tn_v3(0.1f, 0.1f, 0.1f));
      test_joint(world, TN_JOINT_FIXED, test_no_body, hub, at, z_axis);
      tn_joint_def def =
          test_joint_def(world, TN_JOINT_PRISMATIC, hub, chassis, at, tn_v3(0.0f, 1.0f, 0.0f));
      def.axis[TN_LINEAR_A].stiffness = (float)k;
      def.axis[TN_LINEAR_A].damping = (float)d;
      tn_joint_create(world, &def);
    }
    double sag = mass * 10.0 / (4.0 * k);
    for (int n = 1; n <= 90; ++n) {
      tn_world_step(world, DT);
      double exact = 1.0 - sag + swing_at(mass, 4.0 * k, 4.0 * d, sag, (double)n * (double)DT);
      assert_close(tn_body_position(world, chassis).y, exact, 0.01 * sag);
    }
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Armature

// Two free wheels with a motor's rotor between them: the impulse is shared by I_b + armature, the
// energy counts it, and the bodies' angular momentum is conserved. The midpoint rule swings at
// omega (1 - (omega h)^2 / 12).
static void armature_adds_inertia(void **unused)
{
  (void)unused;
  uint32_t random = 3;
  for (int i = 0; i < test_cases(12, 100); ++i) {
    tn_world *world = still_world(counts[i % 3], TN_METHOD_TENON);
    double ia = log_between(&random, 0.1, 10.0), ib = log_between(&random, 0.1, 10.0);
    double armature = log_between(&random, 0.01, 100.0), k = log_between(&random, 1.0, 100.0);
    tn_body_id a = wheel(world, ia), b = wheel(world, ib);
    tn_joint_def def = test_joint_def(world, TN_JOINT_HINGE, a, b, tn_p3(0.0, 0.0, 0.0), z_axis);
    def.axis[TN_ANGULAR_A].armature = (float)armature;
    def.axis[TN_ANGULAR_A].stiffness = (float)k;
    tn_joint_id joint = tn_joint_create(world, &def);
    tn_body_set_angular_velocity(world, a, tn_v3(0.0f, 0.0f, 1.0f));
    tn_body_set_angular_velocity(world, b, tn_v3(0.0f, 0.0f, -1.0f));
    double energy = tn_world_energy(world).total;
    assert_close(energy, 0.5 * (ia + ib) + 0.5 * armature * 4.0, 1e-5 * energy);
    double omega = sqrt(k / (1.0 / (1.0 / ia + 1.0 / ib) + armature)), t = 0.0;
    for (int n = 0; n < 60; ++n) {
      tn_world_step(world, DT);
      t += (double)DT;
      double q = -2.0 / omega * sin(omega * t);
      double h = (double)DT / (double)counts[i % 3],
             late = omega * t * (omega * h) * (omega * h) / 12.0;
      assert_close((double)tn_joint_angle(world, joint, TN_ANGULAR_A), q,
                   (2e-3 + 1.2 * late) * 2.0 / omega);
      assert_close(tn_world_energy(world).total, energy, 1e-3 * energy);
      tn_momentum m = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0));
      assert_close(m.angular[2], ia - ib, 1e-5 * (ia + ib));
    }
    tn_world_destroy(world);
  }
}

// An impulse on the body turns rotor and body.
static void armature_resists_impulses(void **unused)
{
  (void)unused;
  tn_axis axis = no_axis();
  axis.armature = 3.0f;
  axle a = make_axle(8, TN_METHOD_TENON, 1.0, axis);
  tn_body_apply_angular_impulse(a.world, a.body, tn_v3(0.0f, 0.0f, 8.0f));
  test_run(a.world, DT, 10);
  assert_close((double)tn_body_angular_velocity(a.world, a.body).z, 2.0, 1e-4);
  assert_close(rate_of(&a), 2.0, 1e-4);
  tn_world_destroy(a.world);
}

// ---------------------------------------------------------------------------------------------
// Turns

static void hinge_turns_ten_times_and_back(void **unused)
{
  (void)unused;
  for (int m = 0; m < 3; ++m) {
    float most = 11.0f * 2.0f * TN_PI;
    tn_axis axis = no_axis();
    axis.drive = tn_servo(0.0f, INFINITY, 0.0f);
    axle a = make_axle(8, test_methods[m], 1.0, axis);
    tn_joint_def def = tn_joint_get_def(a.world, a.joint);
    def.angular[0] = tn_between(-most, most);
    assert_true(tn_joint_set_def(a.world, a.joint, &def));
    for (int n = 1; n <= 400; ++n) {
      double turns = n <= 200 ? 0.05 * n : 0.05 * (400 - n);
      axis.drive.target = (float)(turns * 2.0 * 3.14159265358979);
      tn_joint_set_drive(a.world, a.joint, TN_ANGULAR_A, axis.drive);
      tn_world_step(a.world, DT);
      assert_close(angle_of(&a), (double)axis.drive.target, 1e-4);
      if (n == 130) { // the same after a restore
        size_t size = tn_world_save(a.world, NULL, 0);
        void *bytes = malloc(size);
        assert_true(tn_world_save(a.world, bytes, size) == size);
        double before = angle_of(&a);
        test_run(a.world, DT, 1);
        assert_true(tn_world_restore(a.world, bytes, size));
        assert_true(angle_of(&a) == before);
        free(bytes);
      }
    }
    assert_close(angle_of(&a), 0.0, 1e-6);
    // A motor runs into the end of the range.
    tn_joint_set_drive(a.world, a.joint, TN_ANGULAR_A, tn_motor(40.0f, INFINITY, 1e4f));
    test_run(a.world, DT, 240);
    assert_close(angle_of(&a), (double)most, m == 0 ? 1e-3 : 0.05);
    tn_world_destroy(a.world);
  }
}

static void targets_lie_beyond_half_a_turn(void **unused)
{
  (void)unused;
  static const float targets[] = {4.0f, -5.5f, 6.0f, 9.0f};
  for (int i = 0; i < 12; ++i) {
    tn_axis axis = no_axis();
    axis.drive = tn_servo(targets[i % 4], 100.0f, 20.0f);
    axle a = make_axle(counts[i / 4], TN_METHOD_TENON, 1.0, axis);
    test_run(a.world, DT, 120);
    assert_close(angle_of(&a), (double)targets[i % 4], 1e-3);
    assert_true(tn_joint_set_angle(a.world, a.joint, TN_ANGULAR_A, 0.0f)); // counts anew
    assert_true(fabs(angle_of(&a)) <= 3.1416);
    tn_world_destroy(a.world);
  }
}

// A motor turns up to the end of any range, also one that is more than half a turn away, and rests
// there; then it turns back to the other end.
static void motors_stop_at_the_ends_of_wide_ranges(void **unused)
{
  (void)unused;
  uint32_t random = 31;
  for (int i = 0; i < test_cases(24, 240); ++i) {
    double inertia = log_between(&random, 1e-3, 1e2), lo = (double)test_between(&random, -8, -0.1f);
    double hi = (double)test_between(&random, 0.1f, 8.0f);
    tn_axis axis = no_axis();
    axis.drive = tn_motor(4.0f, INFINITY, (float)(200.0 * inertia));
    axle a = make_axle(counts[i % 3], TN_METHOD_TENON, inertia, axis);
    tn_joint_def def = tn_joint_get_def(a.world, a.joint);
    def.angular[0] = tn_between((float)lo, (float)hi);
    assert_true(tn_joint_set_def(a.world, a.joint, &def));
    for (int way = 1; way >= -1; way -= 2) {
      axis.drive.velocity = 4.0f * (float)way;
      tn_joint_set_drive(a.world, a.joint, TN_ANGULAR_A, axis.drive);
      test_run(a.world, DT, 60 + (int)(60.0 * (hi - lo) / 4.0));
      assert_close(angle_of(&a), way > 0 ? hi : lo, 1e-4);
      assert_close(rate_of(&a), 0.0, 1e-4);
    }
    tn_world_destroy(a.world);
  }
}

// ---------------------------------------------------------------------------------------------
// Every free axis

// A ball joint holds a target orientation under a torque: the rotation vector from target to pose
// is the torque over the stiffness.
static void ball_joints_turn_to_a_target(void **unused)
{
  (void)unused;
  uint32_t random = 21;
  for (int i = 0; i < test_cases(24, 120); ++i) {
    tn_method method = test_methods[i % 3];
    tn_world *world = still_world(counts[i / 3 % 3], method);
    tn_body_id body = test_box(world, tn_p3(0.0, 0.0, 0.0), 2.0f, tn_v3(0.3f, 0.2f, 0.1f));
    tn_joint_def def = test_joint_def(world, TN_JOINT_BALL, test_no_body, body,
                                      tn_p3(0.0, 0.0, 0.0), tn_v3(0.0f, 1.0f, 0.0f));
    double k = log_between(&random, 5.0, 1e4);
    tn_vec3 target = test_vector(&random, 1.2f), torque = test_vector(&random, (float)(0.05 * k));
    def.axis[TN_ANGULAR_A].drive = tn_servo(target.x, (float)k, (float)(2.0 * sqrt(k * 0.03)));
    def.axis[TN_ANGULAR_B].drive.target = target.y;
    def.axis[TN_ANGULAR_C].drive.target = target.z;
    tn_joint_id joint = tn_joint_create(world, &def);
    for (int n = 0; n < 480; ++n) { // the iterative methods come to rest slowly
      tn_body_apply_torque(world, body, torque);
      tn_world_step(world, DT);
    }
    float angle = tn_length(target);
    tn_quat wanted = tn_quat_axis_angle(tn_scale(1.0f / angle, target), angle);
    tn_quat frame = tn_quat_x_to(tn_v3(0.0f, 1.0f, 0.0f));
    tn_quat goal = tn_quat_mul(frame, tn_quat_mul(wanted, tn_quat_conjugate(frame)));
    tn_quat turn = tn_quat_mul(tn_body_rotation(world, body), tn_quat_conjugate(goal));
    float sign = turn.w < 0.0f ? -2.0f : 2.0f;
    tn_vec3 offset = tn_v3(sign * turn.x, sign * turn.y, sign * turn.z);
    tn_vec3 statics = tn_scale((float)(1.0 / k), torque);
    if (tn_length(tn_sub(offset, statics)) > 5e-4f) {
      print_error("%s, %d substeps, k %g\n", test_method_name(method), counts[i / 3 % 3], k);
    }
    assert_close((double)tn_length(tn_sub(offset, statics)), 0.0, 5e-4);
    assert_close((double)tn_length(tn_joint_get_state(world, joint).torque), tn_length(torque),
                 0.01 * 0.05 * k);
    tn_world_destroy(world);
  }
}

// Two boxes on a ball joint with spring and servo, tumbling freely: rotation of the second after a
// second.
static tn_quat tumble(uint32_t random, int substeps)
{
  tn_world *world = still_world(substeps, TN_METHOD_TENON);
  tn_body_id a = test_box(world, tn_p3(0.0, 0.0, 0.0), 2.0f, tn_v3(0.3f, 0.2f, 0.1f));
  tn_body_id b = test_box(world, tn_p3(0.0, 1.0, 0.0), 1.0f, tn_v3(0.1f, 0.3f, 0.2f));
  tn_joint_def def =
      test_joint_def(world, TN_JOINT_BALL, a, b, tn_p3(0.0, 0.5, 0.0), tn_v3(0.0f, 1.0f, 0.0f));
  tn_vec3 target = test_vector(&random, 1.0f), rest = test_vector(&random, 1.0f);
  def.axis[TN_ANGULAR_A].drive = tn_servo(target.x, 0.5f + 2.0f * test_random(&random), 0.0f);
  def.axis[TN_ANGULAR_B].drive.target = target.y;
  def.axis[TN_ANGULAR_C].drive.target = target.z;
  def.axis[TN_ANGULAR_A].stiffness = 0.5f + 2.0f * test_random(&random);
  def.axis[TN_ANGULAR_A].rest = rest.x;
  def.axis[TN_ANGULAR_B].rest = rest.y;
  def.axis[TN_ANGULAR_C].rest = rest.z;
  assert_true(tn_joint_is_valid(world, tn_joint_create(world, &def)));
  tn_body_set_angular_velocity(world, a, test_vector(&random, 2.0f));
  tn_body_set_angular_velocity(world, b, test_vector(&random, 2.0f));
  for (int n = 0; n < 60; ++n) {
    tn_world_step(world, DT);
  }
  tn_quat turn = tn_body_rotation(world, b);
  tn_world_destroy(world);
  return turn;
}

static double angle_between(tn_quat a, tn_quat b)
{
  tn_quat turn = tn_quat_mul(a, tn_quat_conjugate(b));
  return 2.0 * (double)tn_length(tn_v3(turn.x, turn.y, turn.z));
}

// Where both bodies turn, the error of ball joints' springs falls with the square of the substep.
static void ball_springs_are_of_second_order(void **unused)
{
  (void)unused;
  for (uint32_t seed = 1; seed <= (uint32_t)test_cases(8, 60); ++seed) {
    tn_quat exact = tumble(seed, 160);
    double coarse = angle_between(tumble(seed, 5), exact);
    double fine = angle_between(tumble(seed, 10), exact);
    assert_true(fine < coarse / 3.5 + 1e-5);
    assert_true(angle_between(tumble(seed, 8), exact) < 2e-3);
  }
}

// Each axis of a universal and of a generic joint by itself: at rest the force of its drive and
// spring is what the read-out says, and it is at its balance.
static void each_axis_is_driven_by_itself(void **unused)
{
  (void)unused;
  static const struct {
    tn_joint_kind kind;
    tn_joint_axis axis;
  } cases[] = {{TN_JOINT_UNIVERSAL, TN_ANGULAR_A}, {TN_JOINT_UNIVERSAL, TN_ANGULAR_B},
               {TN_JOINT_GENERIC, TN_LINEAR_A},    {TN_JOINT_GENERIC, TN_LINEAR_B},
               {TN_JOINT_GENERIC, TN_LINEAR_C},    {TN_JOINT_GENERIC, TN_ANGULAR_A},
               {TN_JOINT_GENERIC, TN_ANGULAR_B},   {TN_JOINT_GENERIC, TN_ANGULAR_C},
               {TN_JOINT_CYLINDER, TN_LINEAR_A},   {TN_JOINT_CYLINDER, TN_ANGULAR_A}};
  for (int i = 0; i < 10; ++i) {
    for (int m = 0; m < 3; ++m) {
      tn_world *world = still_world(counts[i % 3], test_methods[m]);
      tn_body_id body = test_box(world, tn_p3(0.0, 0.0, 0.0), 2.0f, tn_v3(0.3f, 0.2f, 0.1f));
      tn_joint_def def =
          test_joint_def(world, cases[i].kind, test_no_body, body, tn_p3(0.0, 0.0, 0.0), z_axis);
      tn_joint_axis axis = cases[i].axis;
      if (cases[i].kind == TN_JOINT_GENERIC) {
        (axis < TN_ANGULAR_A ? def.linear : def.angular)[axis % 3] = tn_between(-1.0f, 1.0f);
      }
      def.axis[axis].drive = tn_servo(0.4f, 60.0f, 5.0f);
      def.axis[axis].stiffness = 40.0f; // pulls back to 0
      def.axis[axis].damping = 3.0f;
      tn_joint_id joint = tn_joint_create(world, &def);
      test_run(world, DT, 300);
      tn_joint_state state = tn_joint_get_state(world, joint);
      if (getenv("TENON_PRINT")) {
        print_message("case %d method %d: q %.5f u %.5f force %.4f\n", i, m,
                      (double)state.position[axis], (double)state.rate[axis],
                      (double)state.drive_force[axis]);
      }
      assert_close((double)state.position[axis], 0.24, 2e-4);
      assert_close((double)state.rate[axis], 0.0, 1e-4);
      assert_close((double)state.drive_force[axis], 9.6, 0.02);
      tn_world_destroy(world);
    }
  }
}

// An arm with the lengths, masses and gains of UR5e-like and Panda-like robots, horizontal under
// gravity, after a step of 0.2 rad: k (target - q) = torque of the weight beyond the joint.
static void arms_come_to_statics(void **unused)
{
  (void)unused;
  static const struct {
    int count;
    double length[7], mass[7], k[7], d[7], armature;
  } arms[] = {{6,
               {0.163, 0.425, 0.392, 0.127, 0.1, 0.1},
               {3.76, 8.06, 2.85, 1.37, 1.3, 0.365},
               {2000, 2000, 2000, 500, 500, 500},
               {400, 400, 400, 100, 100, 100},
               0.1},
              {7,
               {0.333, 0.316, 0.1, 0.384, 0.1, 0.088, 0.107},
               {2.74, 2.74, 2.38, 2.38, 2.74, 1.55, 0.54},
               {4500, 4500, 3500, 3500, 2000, 2000, 2000},
               {450, 450, 350, 350, 200, 200, 200},
               0.1}};
  for (int i = 0; i < 6; ++i) {
    tn_world *world = still_world(counts[i % 3], TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, -9.81f, 0.0f));
    int robot = i / 3, count = arms[robot].count;
    tn_body_id link[7], above = test_no_body;
    tn_joint_id joint[7];
    double x = 0.0;
    for (int n = 0; n < count; ++n) {
      float half = 0.5f * (float)arms[robot].length[n];
      link[n] = test_box(world, tn_p3(x + (double)half, 0.0, 0.0), (float)arms[robot].mass[n],
                         tn_v3(half, 0.05f, 0.05f));
      tn_joint_def def = test_joint_def(world, TN_JOINT_HINGE, above, link[n], tn_p3(x, 0.0, 0.0),
                                        n % 2 ? tn_v3(0.0f, 1.0f, 0.0f) : z_axis);
      def.axis[TN_ANGULAR_A].drive =
          tn_servo(0.2f, (float)arms[robot].k[n], (float)arms[robot].d[n]);
      def.axis[TN_ANGULAR_A].armature = (float)arms[robot].armature;
      joint[n] = tn_joint_create(world, &def);
      above = link[n];
      x += arms[robot].length[n];
    }
    test_run(world, DT, 300);
    for (int n = 0; n < count; ++n) {
      tn_joint_state state = tn_joint_get_state(world, joint[n]);
      tn_transform at = tn_body_transform(world, link[n]);
      tn_vec3 axis = tn_rotate(at.q, n % 2 ? tn_v3(0.0f, 1.0f, 0.0f) : z_axis);
      tn_pos point =
          tn_transform_point(at, tn_v3(-0.5f * (float)arms[robot].length[n], 0.0f, 0.0f));
      double torque = 0.0;
      for (int o = n; o < count; ++o) {
        tn_vec3 arm = tn_between_points(point, tn_body_position(world, link[o]));
        tn_vec3 weight = tn_v3(0.0f, -9.81f * (float)arms[robot].mass[o], 0.0f);
        torque += (double)tn_dot(axis, tn_cross(arm, weight));
      }
      double statics = 0.2 + torque / arms[robot].k[n];
      assert_close((double)state.position[TN_ANGULAR_A], statics, 1e-4);
    }
    tn_world_destroy(world);
  }
}

// A small weight on an arm that turns fast, driven by a torque T: w = w0 + T t / I about the hinge,
// with an axis that states I. Without that the pull of the weight is made up for by inertia that
// takes part in the turn.
static void stated_inertia_spares_fast_turns(void **state)
{
  (void)state;
  uint32_t random = 7;
  for (int trial = 0; trial < 20; ++trial) {
    double arm = log_between(&random, 0.1, 2.0), mass = log_between(&random, 0.01, 10.0);
    double own = mass * arm * arm * log_between(&random, 1e-4, 1e-2),
           whole = own + mass * arm * arm;
    double fast = log_between(&random, 20.0, 80.0), gain = log_between(&random, 1.0, 20.0);
    tn_world *world = still_world(20, TN_METHOD_TENON);
    tn_body_def def = test_body_def();
    float i = (float)own;
    def.position = tn_p3(arm, 0.0, 0.0);
    def.mass.mass = (float)mass;
    def.mass.inertia = (tn_sym3){i, i, i, 0.0f, 0.0f, 0.0f};
    def.velocity = tn_v3(0.0f, (float)(fast * arm), 0.0f);
    def.angular_velocity = tn_v3(0.0f, 0.0f, (float)fast);
    tn_body_id body = tn_body_create(world, &def);
    tn_joint_def hinge = tn_default_joint_def(TN_JOINT_HINGE);
    hinge.body_b = body;
    assert_true(tn_joint_def_at(world, &hinge, tn_p3(0.0, 0.0, 0.0), z_axis));
    hinge.axis[TN_ANGULAR_A].inertia = (float)whole;
    hinge.axis[TN_ANGULAR_A].drive.force = (float)(gain * whole);
    assert_false(TN_IS_NULL(tn_joint_create(world, &hinge)));
    for (int k = 0; k < 60; ++k) {
      tn_world_step(world, DT);
    }
    double now = (double)tn_body_angular_velocity(world, body).z;
    // What rounds of the curved drift leave takes a little, the more the further a substep turns.
    assert_close(now, fast + gain, 3e-4 * gain + 1e-5 * fast);
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(servo_of_any_stiffness_settles),
      cmocka_unit_test(step_response_is_of_second_order),
      cmocka_unit_test(springs_keep_their_energy),
      cmocka_unit_test(springs_of_light_links_keep_their_energy),
      cmocka_unit_test(limits_hold_for_the_whole_drive),
      cmocka_unit_test(damping_acts_on_what_moves),
      cmocka_unit_test(chassis_swings_as_its_closed_form),
      cmocka_unit_test(armature_adds_inertia),
      cmocka_unit_test(armature_resists_impulses),
      cmocka_unit_test(hinge_turns_ten_times_and_back),
      cmocka_unit_test(targets_lie_beyond_half_a_turn),
      cmocka_unit_test(motors_stop_at_the_ends_of_wide_ranges),
      cmocka_unit_test(ball_joints_turn_to_a_target),
      cmocka_unit_test(ball_springs_are_of_second_order),
      cmocka_unit_test(each_axis_is_driven_by_itself),
      cmocka_unit_test(arms_come_to_statics),
      cmocka_unit_test(stated_inertia_spares_fast_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
