// Servos of any stiffness settle at their target, or at equilibrium with their load.
//
// A servo of stiffness k with target q* applies k (q* - q), at most its maximum force. Under a
// constant load f it settles at q = q* + f / k. Cases are random in inertia, stiffness, load,
// maximum force, damping, substeps, kind of joint and method.
#include "support.h"

#include <math.h>

#define DT (1.0f / 60.0f)

static const tn_vec3 z_axis = {0.0f, 0.0f, 1.0f};

static float log_between(uint32_t *random, double lo, double hi)
{
  return (float)exp(log(lo) + (double)test_random(random) * log(hi / lo));
}

// One servo between the world or a heavy body, and a body that rotates about or slides along z.
typedef struct servo_case {
  int substeps;
  bool linear;
  double inertia; // kg m^2 or kg
  double k;
  double target;
  double load; // N m or N
  double max;
  double damping; // 1/s, times the inertia
} servo_case;

static double between(uint32_t *random, double lo, double hi)
{
  return lo + (hi - lo) * (double)test_random(random);
}

// Springs that the substep resolves oscillate for long, so they get the critical damping 2 sqrt(k /
// I). So do servos with a maximum force: beyond it they apply a constant force.
static servo_case random_case(uint32_t *random)
{
  servo_case c = {.substeps = 1 + test_index(random, 40), .linear = test_index(random, 2)};
  c.k = (double)log_between(random, 1e-3, 1e9);
  c.inertia = (double)log_between(random, 1e-5, fmin(10.0, c.k / 10.0));
  c.target = between(random, -1.0, 1.0);
  c.load = between(random, -1.0, 1.0) * fmin(0.1 * c.k, 100.0 * c.inertia);
  double frequency = sqrt(c.k / c.inertia);
  double h = (double)DT / c.substeps;
  bool limited = test_index(random, 2);
  bool stiff = frequency * h > 1.0;
  c.damping = stiff && !limited && test_index(random, 2) ? 0.0 : fmin(2.0 * frequency, 20.0);
  // The maximum force less the load exceeds the damping at 2 rad/s.
  double spare = c.inertia * (2.0 * c.damping + 20.0);
  c.max = limited ? fabs(c.load) + between(random, 1.0, 3.0) * spare : (double)INFINITY;
  return c;
}

static tn_joint_id make_case(tn_world *world, const servo_case *c, tn_body_id *body)
{
  tn_body_def def = test_body_def();
  float inertia = (float)c->inertia;
  def.mass.mass = inertia;
  def.mass.inertia = (tn_sym3){inertia, inertia, inertia, 0.0f, 0.0f, 0.0f};
  *body = tn_body_create(world, &def);
  tn_joint_kind kind = c->linear ? TN_JOINT_PRISMATIC : TN_JOINT_HINGE;
  tn_joint_def joint =
      test_joint_def(world, kind, test_no_body, *body, tn_p3(0.0, 0.0, 0.0), z_axis);
  tn_axis *axis = &joint.axis[c->linear ? TN_LINEAR_A : TN_ANGULAR_A];
  axis->drive = tn_servo((float)c->target, (float)c->k, 0.0f);
  axis->drive.limits = tn_between(-(float)c->max, (float)c->max);
  axis->damping = (float)(c->damping * c->inertia);
  return tn_joint_create(world, &joint);
}

static void step_loaded(tn_world *world, const servo_case *c, tn_body_id body)
{
  tn_vec3 load = tn_v3(0.0f, 0.0f, (float)c->load);
  if (c->linear) {
    tn_body_apply_force_to_center(world, body, load);
  } else {
    tn_body_apply_torque(world, body, load);
  }
  assert_int_equal(tn_world_step(world, DT), TN_STEP_OK);
}

static double place_of(const tn_world *world, tn_joint_id joint, bool linear)
{
  tn_joint_state s = tn_joint_get_state(world, joint);
  return linear ? (double)s.offset.x : (double)s.angle.x;
}

static double pull_of(const tn_world *world, tn_joint_id joint, bool linear)
{
  tn_joint_state s = tn_joint_get_state(world, joint);
  return linear ? (double)s.force.z : (double)s.torque.z;
}

static bool is_close(double x, double expected, double tolerance)
{
  return fabs(x - expected) <= tolerance; // false for NaN
}

static void fail_case(const servo_case *c, tn_method method, double place, double rest, double pull)
{
  print_error("%s, %s, %d substeps, I %g, k %g, target %g, load %g, max %g, damping %g: at %g, "
              "should be %g, pulls with %g\n",
              test_method_name(method), c->linear ? "slider" : "hinge", c->substeps, c->inertia,
              c->k, c->target, c->load, c->max, c->damping, place, rest, pull);
}

// Tolerances: position 1e-4 rad or m plus 1 % of the deflection; force 1 % of the load plus the
// rounding of positions.
static void servo_of_any_stiffness_settles_at_equilibrium(void **unused)
{
  (void)unused;
  uint32_t random = 1;
  int wrong = 0;
  for (int i = 0; i < 300; ++i) {
    servo_case c = random_case(&random);
    tn_method method = test_methods[i % TEST_METHODS];
    tn_world_def def = test_world_def(c.substeps, method);
    def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
    def.sleeping = false;
    tn_world *world = tn_world_create(&def);
    tn_body_id body;
    tn_joint_id joint = make_case(world, &c, &body);
    for (int k = 0; k < 300; ++k) {
      step_loaded(world, &c, body);
    }
    double rest = c.target + c.load / c.k, place = place_of(world, joint, c.linear);
    double pull = pull_of(world, joint, c.linear);
    if (!is_close(place, rest, 1e-4 + 0.01 * fabs(c.load / c.k)) ||
        !is_close(pull, -c.load, 0.01 * fabs(c.load) + 1e-3 * c.inertia)) {
      fail_case(&c, method, place, rest, pull);
      wrong += 1;
    }
    tn_world_destroy(world);
  }
  assert_int_equal(wrong, 0);
}

// Speed under a load beyond the maximum force, after a time. Until the servo has yielded by max /
// k, here at most 1e-4, it holds less than that: a swing with the frequency w up to the phase p
// where load (1 - cos p) = max, which the default method follows if the substep resolves it.
static double overloaded_speed(const servo_case *c, tn_method method, double time)
{
  double load = fabs(c->load), w = sqrt(c->k / c->inertia), phase = acos(1.0 - c->max / load);
  bool resolved = method == TN_METHOD_TENON && w * (double)DT / c->substeps < 0.7;
  double yielded = resolved ? load / c->inertia / w * sin(phase) : 0.0;
  return yielded + (time - (resolved ? phase / w : 0.0)) * (load - c->max) / c->inertia;
}

// A load beyond the maximum force accelerates the body by the difference.
static void overloaded_servo_applies_its_maximum_force(void **unused)
{
  (void)unused;
  uint32_t random = 2;
  for (int i = 0; i < 60; ++i) {
    servo_case c = {.substeps = 1 + test_index(&random, 40), .linear = test_index(&random, 2)};
    c.inertia = (double)log_between(&random, 1e-3, 10.0);
    c.max = c.inertia * between(&random, 5.0, 50.0);
    c.k = (double)log_between(&random, 1e4 * c.max, 1e9);
    double left = c.inertia * between(&random, 5.0, 20.0);
    c.load = test_index(&random, 2) ? c.max + left : -c.max - left;
    tn_world_def def = test_world_def(c.substeps, test_methods[i % TEST_METHODS]);
    def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
    tn_world *world = tn_world_create(&def);
    tn_body_id body;
    tn_joint_id joint = make_case(world, &c, &body);
    for (int k = 0; k < 20; ++k) {
      step_loaded(world, &c, body);
    }
    tn_vec3 v = c.linear ? tn_body_velocity(world, body) : tn_body_angular_velocity(world, body);
    double speed = overloaded_speed(&c, test_methods[i % TEST_METHODS], 20.0 * (double)DT);
    assert_close((double)v.z, c.load > 0.0 ? speed : -speed, 0.02 * speed);
    assert_close(pull_of(world, joint, c.linear), c.load > 0.0 ? -c.max : c.max, 0.001 * c.max);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Arms of six links that hold a pose against their weight

#define LINKS 6
#define ARMS 5 // equal mechanisms are solved as a batch

typedef struct arm {
  tn_body_id link[LINKS];
  tn_joint_id joint[LINKS];
  double k[LINKS], target[LINKS];
} arm;

// A chain of rods along x, hinged about z or y, with servos whose stiffness is from `softest` times
// the torque of the stretched arm's weight up to 1e9 N m/rad.
static arm make_arm(tn_world *world, uint32_t seed, double z, double softest)
{
  arm a;
  uint32_t random = seed;
  double at[LINKS + 1] = {0.0}, mass[LINKS];
  float half[LINKS];
  for (int i = 0; i < LINKS; ++i) {
    half[i] = test_between(&random, 0.05f, 0.25f);
    mass[i] = (double)log_between(&random, 0.1, 10.0);
    at[i + 1] = at[i] + 2.0 * (double)half[i];
  }
  for (int i = 0; i < LINKS; ++i) {
    tn_vec3 size = tn_v3(half[i], 0.2f * half[i], 0.2f * half[i]);
    a.link[i] = test_box(world, tn_p3(at[i] + (double)half[i], 0.0, z), (float)mass[i], size);
    double weight = 0.0;
    for (int k = i; k < LINKS; ++k) {
      weight += 10.0 * mass[k] * (at[k] + (double)half[k] - at[i]);
    }
    tn_joint_def def =
        test_joint_def(world, TN_JOINT_HINGE, i ? a.link[i - 1] : test_no_body, a.link[i],
                       tn_p3(at[i], 0.0, z), i % 3 == 1 ? tn_v3(0.0f, 1.0f, 0.0f) : z_axis);
    a.k[i] = (double)log_between(&random, softest * weight, 1e9);
    a.target[i] = between(&random, -0.5, 0.5);
    def.axis[TN_ANGULAR_A].drive = tn_servo((float)a.target[i], (float)a.k[i], 0.0f);
    a.joint[i] = tn_joint_create(world, &def);
  }
  return a;
}

// Torque of the weight of links i and beyond about the axis of joint i.
static double weight_about(const tn_world *world, const arm *a, int i)
{
  tn_joint_def def = tn_joint_get_def(world, a->joint[i]);
  tn_transform link = tn_body_transform(world, a->link[i]);
  tn_vec3 axis = tn_rotate(link.q, tn_rotate(def.frame_b.q, tn_v3(1.0f, 0.0f, 0.0f)));
  tn_pos p = tn_offset(link.p, tn_rotate(link.q, tn_v3((float)def.frame_b.p.x, 0.0f, 0.0f)));
  double torque = 0.0;
  for (int k = i; k < LINKS; ++k) {
    tn_pos c = tn_body_center(world, a->link[k]);
    double weight = -10.0 * (double)tn_body_mass(world, a->link[k]).mass;
    torque += weight * ((double)axis.z * (c.x - p.x) - (double)axis.x * (c.z - p.z));
  }
  return torque;
}

// Deflection of a loaded row: the regularization of rows is 1e-5 of their inverse effective mass. A
// rod has equal moments about its y and z.
static double give_of(const tn_world *world, const arm *a, int i, double torque)
{
  double h = (double)DT / tn_world_substeps(world);
  double w = 1.0 / (double)tn_body_mass(world, a->link[i]).inertia.yy;
  w += i ? 1.0 / (double)tn_body_mass(world, a->link[i - 1]).inertia.yy : 0.0;
  return 1e-5 * w * h * h * fabs(torque);
}

// The largest servo error relative to its tolerance: 1 % of the deflection, the deflection by
// regularization, and 1e-5 rad.
static double unbalanced(const tn_world *world, const arm *a)
{
  double worst = 0.0;
  for (int i = 0; i < LINKS; ++i) {
    double turn = weight_about(world, a, i) / a->k[i];
    double off = (double)tn_joint_get_state(world, a->joint[i]).angle.x - a->target[i] - turn;
    double share = fabs(off) / (1e-5 + 0.01 * fabs(turn) + give_of(world, a, i, turn * a->k[i]));
    worst = share > worst || isnan(share) ? share : worst;
  }
  return worst;
}

static void set_arm_damping(tn_world *world, const arm *a, float damping)
{
  for (int i = 0; i < LINKS; ++i) {
    tn_body_set_linear_damping(world, a->link[i], damping);
    tn_body_set_angular_damping(world, a->link[i], damping);
  }
}

// Body damping also reduces the velocity that gravity adds within a substep, so it is removed
// before the equilibrium is checked.
static void arms_hold_their_pose(void **unused)
{
  (void)unused;
  uint32_t random = 5;
  for (int i = 0; i < 24; ++i) {
    tn_world_def def = test_world_def(1 + test_index(&random, 40), TN_METHOD_TENON);
    float damping = test_between(&random, 5.0f, 10.0f);
    def.sleeping = false;
    tn_world *world = tn_world_create(&def);
    arm arms[ARMS];
    for (int k = 0; k < ARMS; ++k) {
      arms[k] = make_arm(world, 100u + (uint32_t)i, 5.0 * k, 20.0);
      set_arm_damping(world, &arms[k], damping);
    }
    test_run(world, DT, 360);
    for (int k = 0; k < ARMS; ++k) {
      set_arm_damping(world, &arms[k], 0.0f);
    }
    test_run(world, DT, 60);
    for (int k = 0; k < ARMS; ++k) {
      assert_below(unbalanced(world, &arms[k]), 1.0);
    }
    tn_world_destroy(world);
  }
}

// Two cranks and a coupling rod: a loop of four hinges, with a servo at the base of each crank. The
// targets differ, so that the servos oppose each other.
static void make_four_bar(tn_world *world, uint32_t *random)
{
  float crank = test_between(random, 0.1f, 0.5f), rod = test_between(random, 0.2f, 1.0f);
  tn_body_id side[2];
  double top = 2.0 * (double)crank, length = 2.0 * (double)rod;
  tn_body_id across = test_box(world, tn_p3(0.5 * length, top, 0.0), log_between(random, 0.1, 10.0),
                               tn_v3(rod, 0.05f, 0.05f));
  float target = test_between(random, -0.6f, 0.6f);
  for (int i = 0; i < 2; ++i) {
    double x = i ? length : 0.0;
    side[i] = test_box(world, tn_p3(x, 0.5 * top, 0.0), log_between(random, 0.1, 10.0),
                       tn_v3(0.05f, crank, 0.05f));
    tn_joint_def def =
        test_joint_def(world, TN_JOINT_HINGE, test_no_body, side[i], tn_p3(x, 0.0, 0.0), z_axis);
    def.axis[TN_ANGULAR_A].drive = tn_default_drive();
    def.axis[TN_ANGULAR_A].drive.target = target + test_between(random, -0.05f, 0.05f);
    def.axis[TN_ANGULAR_A].drive.stiffness = log_between(random, 1.0, 1e9);
    tn_joint_create(world, &def);
    test_joint(world, TN_JOINT_HINGE, side[i], across, tn_p3(x, top, 0.0), z_axis);
  }
}

// Only servos act on an arm or a loop: its energy plus theirs does not grow, up to rounding of a
// thousandth of the initial energy.
static void servos_add_no_energy(void **unused)
{
  (void)unused;
  uint32_t random = 9;
  for (int i = 0; i < 48; ++i) {
    tn_world_def def = test_world_def(1 + test_index(&random, 40), TN_METHOD_TENON);
    def.sleeping = false;
    def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
    tn_world *world = tn_world_create(&def);
    if (i % 2) {
      make_four_bar(world, &random);
    } else {
      make_arm(world, 200u + (uint32_t)i, 0.0, 1.0);
    }
    double first = tn_world_energy(world).total, most = 0.0;
    for (int k = 0; k < 300; ++k) {
      test_run(world, DT, 1);
      double now = tn_world_energy(world).total;
      most = now > most || isnan(now) ? now : most;
    }
    assert_below(most, 1.001 * first);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Nets that are too dense to be solved directly

#define NET 48

// Each body is joined to every other at one point, about which its own servo rotates it.
static void servos_of_a_dense_net_reach_their_targets(void **unused)
{
  (void)unused;
  tn_world_def def = test_world_def(8, TN_METHOD_TENON);
  def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
  def.sleeping = false;
  tn_world *world = tn_world_create(&def);
  uint32_t random = 3;
  tn_body_id bodies[NET];
  tn_joint_id joints[NET];
  servo_case cases[NET];
  for (int i = 0; i < NET; ++i) {
    cases[i] = random_case(&random);
    cases[i].linear = false;
    cases[i].inertia = fmax(cases[i].inertia, 1e-3);
    cases[i].k = fmax(cases[i].k, 10.0 * cases[i].inertia);
    cases[i].max = (double)INFINITY;
    cases[i].damping = fmin(2.0 * sqrt(cases[i].k / cases[i].inertia), 20.0);
    cases[i].load = 0.0;
    joints[i] = make_case(world, &cases[i], &bodies[i]);
    for (int k = 0; k < i; ++k) {
      test_joint(world, TN_JOINT_BALL, bodies[k], bodies[i], tn_p3(0.0, 0.0, 0.0), z_axis);
    }
  }
  for (int i = 0; i < 300; ++i) {
    uint32_t status = tn_world_step(world, DT);
    assert_int_equal(status & ~(uint32_t)TN_STEP_SERIAL, TN_STEP_ITERATIVE);
  }
  for (int i = 0; i < NET; ++i) {
    assert_close(place_of(world, joints[i], false), cases[i].target, 1e-3);
  }
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(servo_of_any_stiffness_settles_at_equilibrium),
      cmocka_unit_test(overloaded_servo_applies_its_maximum_force),
      cmocka_unit_test(arms_hold_their_pose),
      cmocka_unit_test(servos_add_no_energy),
      cmocka_unit_test(servos_of_a_dense_net_reach_their_targets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
