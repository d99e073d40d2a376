// Laws of drives over time, for random inputs: undamped servos swing with the period and amplitude
// of the law, max_effort bounds the sum of drive, spring and damping, max_speed the target's rate.
#include "support.h"

#include <math.h>

#define DT (1.0f / 60.0f)

static const tn_vec3 z_axis = {0.0f, 0.0f, 1.0f};
static const int counts[] = {4, 8, 20}; // substeps

static double log_between(uint32_t *random, double lo, double hi)
{
  return exp(log(lo) + (double)test_random(random) * log(hi / lo));
}

// A body on a hinge about z or a slider along z between it and the world, without gravity.
typedef struct driven {
  tn_world *world;
  tn_body_id body;
  tn_joint_id joint;
  tn_joint_axis axis;
} driven;

static driven make_driven(int substeps, bool slides, double inertia, const tn_axis *axis)
{
  tn_world_def world = test_world_def(substeps, TN_METHOD_TENON);
  world.gravity = tn_v3(0.0f, 0.0f, 0.0f);
  world.sleeping = false;
  driven d = {.world = tn_world_create(&world), .axis = slides ? TN_LINEAR_A : TN_ANGULAR_A};
  tn_body_def body = test_body_def();
  float i = (float)inertia;
  body.mass.mass = i;
  body.mass.inertia = (tn_sym3){i, i, i, 0.0f, 0.0f, 0.0f};
  body.max_speed = body.max_angular_speed = 1e9f;
  d.body = tn_body_create(d.world, &body);
  tn_joint_def def = test_joint_def(d.world, slides ? TN_JOINT_PRISMATIC : TN_JOINT_HINGE,
                                    test_no_body, d.body, tn_p3(0.0, 0.0, 0.0), z_axis);
  def.axis[d.axis] = *axis;
  d.joint = tn_joint_create(d.world, &def);
  assert_true(tn_joint_is_valid(d.world, d.joint));
  return d;
}

static tn_axis no_axis(void)
{
  return tn_default_joint_def(TN_JOINT_HINGE).axis[TN_ANGULAR_A];
}

static double place_of(const driven *d)
{
  return (double)tn_joint_get_state(d->world, d->joint).position[d->axis];
}

static double rate_of(const driven *d)
{
  return (double)tn_joint_get_state(d->world, d->joint).rate[d->axis];
}

static void step(const driven *d, float dt, double load)
{
  tn_vec3 f = tn_v3(0.0f, 0.0f, (float)load);
  if (d->axis == TN_LINEAR_A) {
    tn_body_apply_force_to_center(d->world, d->body, f);
  } else {
    tn_body_apply_torque(d->world, d->body, f);
  }
  test_run(d->world, dt, 1);
}

// ---------------------------------------------------------------------------------------------
// Undamped servos

typedef struct swing {
  double omega, middle, load; // of the law
  float dt;
} swing;

// Follows the phase of q = middle + A cos(omega t + phase) over ten periods. It advances by omega
// dt a step, and the amplitude stays. A period is right to 1 %; the phase of one step is told from
// the expected one, so that periods may be shorter than steps.
static void check_swing(const driven *d, const swing *s, const char *what)
{
  double total = 0.0, amplitude = 0.0, least = INFINITY, most = 0.0, last = 0.0;
  int steps = 4 + (int)ceil(20.0 * (double)TN_PI / (s->omega * (double)s->dt));
  for (int n = 0; n <= steps; ++n) {
    double q = place_of(d) - s->middle, u = rate_of(d) / s->omega;
    double phase = atan2(-u, q), advance = s->omega * (double)s->dt;
    amplitude = sqrt(q * q + u * u);
    least = fmin(least, amplitude);
    most = fmax(most, amplitude);
    if (n > 0) {
      double turns = (phase - last - advance) / (2.0 * (double)TN_PI);
      total += advance + (turns - round(turns)) * 2.0 * (double)TN_PI;
    }
    last = phase;
    step(d, s->dt, s->load);
  }
  double exact = s->omega * (double)s->dt * steps;
  if (!(fabs(total / exact - 1.0) <= 0.01) || !(most <= 1.02 * least)) {
    print_error("%s: period off by %.2f %%, amplitude %g to %g, omega %g, omega dt %g\n", what,
                100.0 * (exact / total - 1.0), least, most, s->omega, s->omega * (double)s->dt);
  }
  assert_close(total / exact, 1.0, 0.01);
  assert_below(most, 1.02 * least);
}

// A substep resolves a swing of omega h = 0.3: the midpoint rule's period is then 0.75 % longer.
static void undamped_servos_swing_with_their_period(void **unused)
{
  (void)unused;
  uint32_t random = 17;
  for (int i = 0; i < test_cases(60, 600); ++i) {
    double inertia = log_between(&random, 1e-5, 1e3), k = log_between(&random, 1.0, 1e8);
    int substeps = counts[i % 3];
    double resolved = log_between(&random, 0.01, 0.3); // omega h
    swing s = {.omega = sqrt(k / inertia)};
    s.dt = (float)(resolved * substeps / s.omega);
    if (s.dt > 0.1f || s.dt < 1e-5f) {
      continue;
    }
    double jump = (double)test_between(&random, 0.1f, 1.0f);
    s.load = k * (double)test_between(&random, -0.1f, 0.1f);
    tn_axis axis = no_axis();
    axis.drive = tn_servo((float)jump, (float)k, 0.0f);
    driven d = make_driven(substeps, i % 2, inertia, &axis);
    s.middle = (double)axis.drive.target + s.load / k;
    check_swing(&d, &s, "from rest");
    axis.drive.target = (float)-jump;
    tn_joint_set_drive(d.world, d.joint, d.axis, axis.drive);
    step(&d, s.dt, s.load); // a jump of the target is spread over a step
    s.middle = (double)axis.drive.target + s.load / k;
    check_swing(&d, &s, "target jump");
    tn_vec3 push = tn_v3(0.0f, 0.0f, (float)(s.omega * 0.3));
    if (i % 2) {
      tn_body_set_velocity(d.world, d.body, push);
    } else {
      tn_body_set_angular_velocity(d.world, d.body, push);
    }
    check_swing(&d, &s, "pushed");
    tn_transform moved = {tn_p3(0.0, 0.0, i % 2 ? 1.0 : 0.0),
                          tn_quat_axis_angle(z_axis, i % 2 ? 0.0f : 1.0f)};
    tn_body_set_transform(d.world, d.body, moved);
    check_swing(&d, &s, "teleport");
    tn_world_destroy(d.world);
  }
}

// ---------------------------------------------------------------------------------------------
// Limits

static double clamp_to(double x, double lo, double hi)
{
  return fmax(lo, fmin(x, hi));
}

// I q'' = clamp(clamp(drive, limits) - spring (q - rest) - damping q', max_effort), integrated in
// small steps. Every third case has no drive: then spring and damping alone are bounded.
static void effort_bounds_drive_spring_and_damping(void **unused)
{
  (void)unused;
  uint32_t random = 23;
  for (int i = 0; i < test_cases(18, 180); ++i) {
    double inertia = log_between(&random, 1e-2, 1e2), omega = (double)test_between(&random, 5, 30);
    bool drives = i % 3 != 2;
    double k = drives ? inertia * omega * omega : 0.0, spring = inertia * omega * omega;
    double d = drives ? inertia * omega : 0.0, damping = 0.5 * inertia * omega;
    double target = 1.0, rest = drives ? -0.5 : 1.5, q = 0.0, u = 0.0;
    double effort = spring * (double)test_between(&random, 0.1f, 0.6f);
    double limit = i % 3 == 1 ? 0.7 * effort : 1e30;
    tn_axis axis = no_axis();
    axis.drive = tn_servo((float)target, (float)k, (float)d);
    axis.drive.limits = i % 3 == 1 ? tn_between((float)-limit, (float)limit) : axis.drive.limits;
    axis.stiffness = (float)spring;
    axis.rest = (float)rest;
    axis.damping = (float)damping;
    axis.max_effort = (float)effort;
    driven body = make_driven(20, i % 2, inertia, &axis);
    for (int n = 0; n < 90; ++n) {
      step(&body, DT, 0.0);
      for (int s = 0; s < 2000; ++s) {
        double h = (double)DT / 2000.0, drive = clamp_to(k * (target - q) - d * u, -limit, limit);
        double force = clamp_to(drive - spring * (q - rest) - damping * u, -effort, effort);
        u += h * force / inertia;
        q += h * u;
      }
      // What spring and damping use is known from the last substep: of first order in h.
      assert_close(place_of(&body), q, drives ? 0.01 * target : 0.03 * rest);
    }
    tn_world_destroy(body.world);
  }
}

// The target starts where the joint stands and moves no faster than max_speed: rigid servos follow
// it exactly, soft ones as I q'' = k (r - q) - d q' with r the moving target.
static void max_speed_moves_the_target(void **unused)
{
  (void)unused;
  uint32_t random = 29;
  for (int i = 0; i < test_cases(18, 180); ++i) {
    double inertia = log_between(&random, 1e-2, 1e2), omega = (double)test_between(&random, 5, 30);
    double k = inertia * omega * omega, d = 2.0 * inertia * omega, q = 0.0, u = 0.0, r = 0.0;
    double speed = (double)test_between(&random, 0.3f, 4.0f);
    double target = (double)test_between(&random, -2.0f, 2.0f);
    bool rigid = i % 3 == 0;
    tn_axis axis = no_axis();
    axis.drive = tn_servo((float)target, rigid ? INFINITY : (float)k, rigid ? 0.0f : (float)d);
    axis.drive.max_speed = (float)speed;
    driven body = make_driven(counts[i / 3 % 3], i % 2, inertia, &axis);
    for (int n = 0; n < 120; ++n) {
      if (n == 60) { // and back
        target = -target;
        axis.drive.target = (float)target;
        tn_joint_set_drive(body.world, body.joint, body.axis, axis.drive);
      }
      step(&body, DT, 0.0);
      double from = r, way = clamp_to(target - r, -speed * (double)DT, speed * (double)DT);
      for (int s = 0; s < 2000; ++s) {
        double h = (double)DT / 2000.0;
        r = from + way * (s + 0.5) / 2000.0;
        u += h * (k * (r - q) - d * u) / inertia;
        q += h * u;
      }
      r = from + way;
      assert_close(place_of(&body), rigid ? r : q, rigid ? 1e-5 : 0.01 * fabs(target) + 1e-5);
    }
    tn_world_destroy(body.world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(undamped_servos_swing_with_their_period),
      cmocka_unit_test(effort_bounds_drive_spring_and_damping),
      cmocka_unit_test(max_speed_moves_the_target),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
