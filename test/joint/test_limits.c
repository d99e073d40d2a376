// Limits: hard ones hold, soft ones yield by force times compliance; twists of ball joints are held
// through half a turn of swing.
#include "support.h"

#include <math.h>

#define DT (1.0f / 60.0f)
#define G 10.0
#define DEGREE (3.14159265358979 / 180.0)

static void run(tn_world *world, double seconds)
{
  for (int i = 0; i < (int)(seconds * 60.0 + 0.5); ++i) {
    assert_int_equal(tn_world_step(world, DT), TN_STEP_OK);
  }
}

// A bar of 2 kg and 1 m along x, with one end on the joint at the origin.
static tn_body_id make_bar(tn_world *world)
{
  tn_body_id bar = test_box(world, tn_p3(0.5, 0.0, 0.0), 2.0f, tn_v3(0.5f, 0.05f, 0.05f));
  tn_body_set_linear_damping(world, bar, 1.0f);
  tn_body_set_angular_damping(world, bar, 1.0f);
  return bar;
}

static tn_joint_def joint_on(tn_world *world, tn_joint_kind kind, tn_body_id body, tn_vec3 axis)
{
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_b = body;
  assert_true(tn_joint_def_at(world, &def, tn_p3(0.0, 0.0, 0.0), axis));
  return def;
}

// Rotation about z is angular[0] for each kind: the bar falls onto the lower limit.
static void check_falls_onto_limit(tn_joint_kind kind, double limit)
{
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id bar = make_bar(world);
  tn_joint_def def = joint_on(world, kind, bar, tn_v3(0.0f, 0.0f, 1.0f));
  def.angular[0] = tn_between((float)-limit, 0.3f);
  tn_joint_id joint = tn_joint_create(world, &def);
  double lowest = 0.0;
  run(world, 6.0);
  for (int i = 0; i < 120; ++i) {
    tn_world_step(world, DT);
    lowest = fmin(lowest, (double)tn_joint_get_state(world, joint).angle.x);
  }
  tn_joint_state state = tn_joint_get_state(world, joint);
  assert_close((double)state.angle.x, -limit, 0.1 * DEGREE);
  assert_close(lowest, -limit, 0.1 * DEGREE);
  double torque = 2.0 * G * 0.5 * cos(limit);
  assert_close((double)state.torque.z, torque, 0.005 * torque);
  assert_close((double)state.force.y, 20.0, 0.05);
  tn_world_destroy(world);
}

static void hinge_and_cylinder_rest_on_their_limit(void **unused)
{
  (void)unused;
  check_falls_onto_limit(TN_JOINT_HINGE, 30.0 * DEGREE);
  check_falls_onto_limit(TN_JOINT_HINGE, 80.0 * DEGREE);
  check_falls_onto_limit(TN_JOINT_CYLINDER, 30.0 * DEGREE);
  check_falls_onto_limit(TN_JOINT_UNIVERSAL, 30.0 * DEGREE);
}

static void generic_rests_on_its_limit(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id bar = make_bar(world);
  tn_joint_def def = joint_on(world, TN_JOINT_GENERIC, bar, tn_v3(0.0f, 0.0f, 1.0f));
  def.angular[0] = tn_between(-0.5f, 0.5f);
  def.linear[0] = tn_between(-0.1f, 0.1f);
  tn_joint_id joint = tn_joint_create(world, &def);
  for (int i = 0; i < 480; ++i) {
    tn_body_apply_force_to_center(world, bar, tn_v3(0.0f, 0.0f, 5.0f));
    tn_world_step(world, DT);
  }
  tn_joint_state state = tn_joint_get_state(world, joint);
  assert_close((double)state.angle.x, -0.5, 0.1 * DEGREE);
  assert_close((double)state.offset.x, 0.1, 1e-4);
  assert_close((double)state.force.z, -5.0, 0.025);
  tn_world_destroy(world);
}

// A range that crosses half a turn.
static void hinge_range_may_cross_half_a_turn(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id bar = make_bar(world);
  tn_joint_def def = joint_on(world, TN_JOINT_HINGE, bar, tn_v3(0.0f, 0.0f, 1.0f));
  double lo = -200.0 * DEGREE;
  def.angular[0] = tn_between((float)lo, 0.2f);
  tn_joint_id joint = tn_joint_create(world, &def);
  // Pushed against gravity to the other limit.
  for (int i = 0; i < 900; ++i) {
    tn_body_apply_torque(world, bar, tn_v3(0.0f, 0.0f, -25.0f));
    tn_world_step(world, DT);
  }
  double angle = (double)tn_joint_get_state(world, joint).angle.x;
  assert_close(angle, lo, 0.1 * DEGREE);
  tn_world_destroy(world);
}

static void ball_rests_on_its_cone(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id bar = make_bar(world);
  tn_joint_def def = joint_on(world, TN_JOINT_BALL, bar, tn_v3(1.0f, 0.0f, 0.0f));
  def.swing = (float)(40.0 * DEGREE);
  tn_joint_id joint = tn_joint_create(world, &def);
  run(world, 8.0);
  tn_joint_state state = tn_joint_get_state(world, joint);
  assert_close((double)state.swing, 40.0 * DEGREE, 0.1 * DEGREE);
  double torque = 2.0 * G * 0.5 * cos(40.0 * DEGREE);
  assert_close((double)tn_length(state.torque), torque, 0.005 * torque);
  tn_world_destroy(world);
}

static void ball_twist_stops_at_its_range(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_body_id bar = make_bar(world);
  tn_joint_def def = joint_on(world, TN_JOINT_BALL, bar, tn_v3(1.0f, 0.0f, 0.0f));
  def.angular[0] = tn_between(-0.2f, 0.7f);
  tn_joint_id joint = tn_joint_create(world, &def);
  for (int i = 0; i < 300; ++i) {
    tn_body_apply_torque(world, bar, tn_v3(0.5f, 0.0f, 0.0f));
    tn_world_step(world, DT);
  }
  tn_joint_state state = tn_joint_get_state(world, joint);
  assert_close((double)state.angle.x, 0.7, 0.1 * DEGREE);
  assert_close((double)state.torque.x, -0.5, 0.0025);
  tn_world_destroy(world);
}

static void universal_limits_both_axes(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_body_id bar = make_bar(world);
  tn_joint_def def = joint_on(world, TN_JOINT_UNIVERSAL, bar, tn_v3(1.0f, 0.0f, 0.0f));
  def.angular[0] = tn_between(-0.3f, 0.4f);
  def.angular[1] = tn_between(-0.6f, 0.5f);
  tn_joint_id joint = tn_joint_create(world, &def);
  for (int i = 0; i < 600; ++i) {
    tn_body_apply_torque(world, bar, tn_v3(1.0f, 1.0f, 0.0f));
    tn_world_step(world, DT);
  }
  tn_joint_state state = tn_joint_get_state(world, joint);
  assert_close((double)state.angle.x, 0.4, 0.1 * DEGREE);
  assert_close((double)state.angle.y, 0.5, 0.1 * DEGREE);
  tn_world_destroy(world);
}

static void soft_hinge_limit_yields_by_torque_times_compliance(void **unused)
{
  (void)unused;
  static const double compliances[] = {1e-3, 1e-2, 3e-2};
  for (int i = 0; i < 3; ++i) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_body_id bar = make_bar(world);
    tn_joint_def def = joint_on(world, TN_JOINT_HINGE, bar, tn_v3(0.0f, 0.0f, 1.0f));
    def.angular[0] = tn_between(-0.2f, 0.2f);
    def.angular_limit_compliance = (float)compliances[i];
    def.axis[TN_ANGULAR_A].damping = 5.0f;
    tn_joint_id joint = tn_joint_create(world, &def);
    run(world, 15.0);
    tn_joint_state state = tn_joint_get_state(world, joint);
    double torque = 2.0 * G * 0.5 * cos((double)state.angle.x);
    assert_close(-(double)state.angle.x - 0.2, torque * compliances[i],
                 0.002 * torque * compliances[i]);
    tn_world_destroy(world);
  }
}

// Along y, so that the weight of 2 kg presses on the lower limit.
static void slider_rests_on_its_limit(void **unused)
{
  (void)unused;
  static const tn_joint_kind kinds[] = {TN_JOINT_PRISMATIC, TN_JOINT_CYLINDER};
  static const double compliances[] = {0.0, 1e-3};
  for (int k = 0; k < 2; ++k) {
    for (int c = 0; c < 2; ++c) {
      tn_world *world = test_world(20, TN_METHOD_TENON);
      tn_body_id bar = make_bar(world);
      tn_joint_def def = joint_on(world, kinds[k], bar, tn_v3(0.0f, 1.0f, 0.0f));
      def.linear[0] = tn_between(-0.4f, 0.1f);
      def.limit_compliance = (float)compliances[c];
      def.axis[TN_LINEAR_A].damping = 6.0f;
      tn_joint_id joint = tn_joint_create(world, &def);
      run(world, 10.0);
      tn_joint_state state = tn_joint_get_state(world, joint);
      double sag = 20.0 * compliances[c];
      assert_close((double)state.offset.x, -0.4 - sag, c == 0 ? 1e-4 : 0.002 * sag);
      assert_close((double)state.force.y, 20.0, 0.1);
      // The bar is horizontal: the joint carries its moment.
      assert_close((double)state.torque.z, 10.0, 0.05);
      tn_world_destroy(world);
    }
  }
}

static void rope_is_slack_then_taut(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id box = test_box(world, tn_p3(0.0, -0.5, 0.0), 2.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_joint_def def = tn_default_joint_def(TN_JOINT_DISTANCE);
  def.body_b = box;
  def.linear[0] = tn_between(0.0f, 1.5f);
  tn_joint_id rope = tn_joint_create(world, &def);
  run(world, 0.4); // free fall of 0.8 m: the rope is slack
  assert_close(tn_body_position(world, box).y, -0.5 - 0.5 * G * 0.16, 1e-4);
  assert_close((double)tn_joint_get_state(world, rope).force.y, 0.0, 0.0);
  run(world, 4.0);
  assert_close(tn_body_position(world, box).y, -1.5, 1e-4);
  assert_close((double)tn_joint_get_state(world, rope).force.y, 20.0, 0.1);
  tn_world_destroy(world);
}

static void strut_keeps_its_least_length(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id box = test_box(world, tn_p3(0.0, 1.2, 0.0), 2.0f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_joint_def rail = tn_default_joint_def(TN_JOINT_PRISMATIC);
  rail.body_b = box;
  tn_joint_def_at(world, &rail, tn_p3(0.0, 1.2, 0.0), tn_v3(0.0f, 1.0f, 0.0f));
  tn_joint_create(world, &rail);
  tn_joint_def def = tn_default_joint_def(TN_JOINT_DISTANCE);
  def.body_b = box;
  def.linear[0] = tn_between(0.8f, 2.0f);
  tn_joint_create(world, &def);
  run(world, 4.0);
  assert_close(tn_body_position(world, box).y, 0.8, 1e-4);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Twists through half a turn of swing, where they are undefined

// A bar of random size on a ball joint at the origin, upright but for 0.1 to 1 rad, so that it
// hangs at about half a turn of swing. Its twist begins at `twist`. Thinner bars spin about
// themselves by a tenth of a radian per substep as they pass there.
static tn_world *make_upright_bar(uint32_t *random, int substeps, bool round, float twist,
                                  tn_body_id *bar, tn_joint_def *def)
{
  tn_world *world = test_world(substeps, TN_METHOD_TENON);
  tn_vec3 up = tn_normalize(tn_add(test_vector(random, 1.0f), tn_v3(0.0f, 0.0f, 1e-3f)));
  tn_world_set_gravity(world, tn_scale(-9.81f, up));
  tn_vec3 side = tn_normalize(tn_cross(up, tn_v3(up.y, up.z, -up.x)));
  float angle = test_between(random, 0.1f, 1.0f), length = test_between(random, 0.3f, 1.0f);
  tn_vec3 along = tn_add(tn_scale(cosf(angle), up), tn_scale(sinf(angle), side));
  float thick = length * test_between(random, 0.15f, 0.35f);
  float wide = round ? thick : thick * test_between(random, 0.5f, 1.5f);
  tn_body_def body = tn_default_body_def();
  body.position = tn_offset(tn_p3(0.0, 0.0, 0.0), tn_scale(0.5f * length, along));
  body.rotation = tn_quat_from_to(tn_v3(1.0f, 0.0f, 0.0f), along);
  body.mass = tn_mass_box(tn_v3(0.5f * length, thick, wide), 1000.0f);
  *bar = tn_body_create(world, &body);
  *def = joint_on(world, TN_JOINT_BALL, *bar, along);
  // A's frame is turned back by the twist.
  def->frame_a.q = tn_quat_mul(def->frame_a.q, tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), -twist));
  return world;
}

static void push_sideways(tn_world *world, tn_body_id bar, uint32_t *random)
{
  tn_pos p = tn_body_position(world, bar);
  tn_vec3 r = tn_v3((float)p.x, (float)p.y, (float)p.z);
  tn_vec3 w = tn_cross(tn_normalize(r), test_vector(random, 2.0f));
  tn_body_set_angular_velocity(world, bar, w);
  tn_body_set_velocity(world, bar, tn_cross(w, r));
}

typedef struct swing_record {
  double loss, gain; // largest change of energy from the start, of the largest kinetic energy
  double beyond;     // farthest that the twist left its range, where it is defined well
} swing_record;

static swing_record watch_swing(tn_world *world, tn_joint_id joint, double seconds)
{
  tn_range range = tn_joint_get_def(world, joint).angular[0];
  tn_energy e = tn_world_energy(world);
  double start = e.kinetic + e.potential, most = e.kinetic;
  swing_record r = {0.0, 0.0, 0.0};
  for (int i = 0; i < (int)(seconds * 60.0); ++i) {
    assert_int_equal(tn_world_step(world, DT), TN_STEP_OK);
    e = tn_world_energy(world);
    double change = e.kinetic + e.potential - start;
    tn_joint_state state = tn_joint_get_state(world, joint);
    most = fmax(most, e.kinetic);
    r.loss = fmax(r.loss, -change);
    r.gain = fmax(r.gain, change);
    if (state.swing < 2.0f) {
      double end = fmin(fmax((double)state.angle.x, (double)range.lo), (double)range.hi);
      r.beyond = fmax(r.beyond, fabs((double)state.angle.x - end));
    }
  }
  r.loss /= most;
  r.gain /= most;
  return r;
}

// The rotations of one twist go on smoothly through half a turn: no energy is lost there.
static void locked_twists_pass_half_a_turn(void **unused)
{
  (void)unused;
  static const int substeps[] = {4, 8, 20};
  static const double bounds[] = {2e-3, 1e-3, 3e-4};
  uint32_t random = 71;
  for (int n = 0; n < 3 * test_cases(30, 600); ++n) {
    tn_body_id bar;
    tn_joint_def def;
    float twist = test_between(&random, -3.0f, 3.0f);
    tn_world *world =
        make_upright_bar(&random, substeps[n % 3], false, n % 2 ? twist : 0.0f, &bar, &def);
    def.angular[0] = tn_between(n % 2 ? twist : 0.0f, n % 2 ? twist : 0.0f);
    tn_joint_id joint = tn_joint_create(world, &def);
    push_sideways(world, bar, &random);
    swing_record r = watch_swing(world, joint, 10.0);
    assert_below(fmax(r.loss, r.gain), bounds[n % 3]);
    assert_below(r.beyond, 1e-4);
    tn_world_destroy(world);
  }
}

// Four links, each locked to the one before.
static tn_world *make_locked_chain(uint32_t *random, int substeps)
{
  tn_world *world = test_world(substeps, TN_METHOD_TENON);
  tn_body_id last = test_no_body;
  tn_pos p = {0.0, 0.0, 0.0};
  for (int i = 0; i < 4; ++i) {
    float tilt = test_between(random, -0.5f, 0.5f), around = test_between(random, 0.0f, 6.28f);
    tn_vec3 d = tn_v3(sinf(tilt) * cosf(around), cosf(tilt), sinf(tilt) * sinf(around));
    tn_body_def def = tn_default_body_def();
    def.position = tn_offset(p, tn_scale(0.25f, d));
    def.rotation = tn_quat_from_to(tn_v3(1.0f, 0.0f, 0.0f), d);
    def.mass = tn_mass_box(tn_v3(0.25f, 0.1f, 0.12f), 1000.0f);
    tn_body_id link = tn_body_create(world, &def);
    tn_joint_def joint = test_joint_def(world, TN_JOINT_BALL, last, link, p, d);
    joint.angular[0] = tn_between(0.0f, 0.0f);
    tn_joint_create(world, &joint);
    last = link;
    p = tn_offset(p, tn_scale(0.5f, d));
  }
  return world;
}

static void locked_chains_pass_half_a_turn(void **unused)
{
  (void)unused;
  static const int substeps[] = {4, 8, 20};
  static const double bounds[] = {0.03, 0.005, 0.001};
  uint32_t random = 19;
  for (int n = 0; n < 3 * test_cases(3, 40); ++n) {
    tn_world *world = make_locked_chain(&random, substeps[n % 3]);
    tn_energy e = tn_world_energy(world);
    double start = e.kinetic + e.potential, most = 0.0, off = 0.0;
    for (int i = 0; i < 600; ++i) {
      tn_world_step(world, DT);
      e = tn_world_energy(world);
      most = fmax(most, e.kinetic);
      off = fmax(off, fabs(e.kinetic + e.potential - start));
    }
    assert_below(off, bounds[n % 3] * most);
    tn_world_destroy(world);
  }
}

// A range ends in a point at half a turn. A round bar without spin passes it; others may strike an
// end of the range beside it, which takes energy but never gives any.
static void limited_twists_pass_half_a_turn(void **unused)
{
  (void)unused;
  static const int substeps[] = {4, 8, 20};
  uint32_t random = 5;
  for (int n = 0; n < 3 * test_cases(30, 600); ++n) {
    tn_body_id bar;
    tn_joint_def def;
    tn_world *world = make_upright_bar(&random, substeps[n % 3], n % 2, 0.0f, &bar, &def);
    def.angular[0] =
        tn_between(-test_between(&random, 0.1f, 1.5f), test_between(&random, 0.1f, 1.5f));
    tn_joint_id joint = tn_joint_create(world, &def);
    if (n % 2 == 0) {
      push_sideways(world, bar, &random);
    }
    swing_record r = watch_swing(world, joint, n % 2 ? 1.0 : 10.0);
    assert_below(r.gain, 3e-4);
    assert_below(r.beyond, 1e-3);
    if (n % 2) {
      assert_below(r.loss, 1e-3);
    }
    tn_world_destroy(world);
  }
}

static double draw(uint32_t *seed, double lo, double hi)
{
  *seed = *seed * 1664525u + 1013904223u;
  return lo + (hi - lo) * (double)(*seed >> 8) / 16777216.0;
}

// Chains of hinges and slides that begin far beyond their ends, on the world or free, come back to
// them within a second and stay, at rest without gravity.
static void passed_limits_close(void **unused)
{
  (void)unused;
  const int substeps[3] = {4, 8, 20};
  uint32_t seed = 5;
  for (int trial = 0; trial < test_cases(60, 300); ++trial) {
    tn_world *world = test_world(substeps[trial % 3], TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_joint_id joints[3];
    tn_range ranges[3];
    bool turns[3];
    int count = 1 + trial % 4 % 3;
    tn_body_id last = test_no_body;
    if (trial % 2) {
      last = test_box(world, tn_p3(-0.3, 0.0, 0.0), (float)draw(&seed, 0.2, 5.0),
                      tn_v3(0.2f, 0.1f, 0.1f));
    }
    for (int i = 0; i < count; ++i) {
      float size = (float)draw(&seed, 0.02, 0.1);
      tn_body_id link = test_box(world, tn_p3(0.2 + 0.4 * i, 0.0, 0.0),
                                 (float)draw(&seed, 0.05, 2.0), tn_v3(0.2f, size, size));
      turns[i] = draw(&seed, 0.0, 1.0) < 0.7;
      tn_joint_def def = tn_default_joint_def(turns[i] ? TN_JOINT_HINGE : TN_JOINT_PRISMATIC);
      def.body_a = last;
      def.body_b = link;
      tn_vec3 axis = tn_v3((float)draw(&seed, -1.0, 1.0), (float)draw(&seed, -1.0, 1.0), 1.0f);
      assert_true(tn_joint_def_at(world, &def, tn_p3(0.4 * i, 0.0, 0.0), tn_normalize(axis)));
      double beyond = draw(&seed, 0.1, turns[i] ? 1.0 : 0.3);
      ranges[i] = draw(&seed, 0.0, 1.0) < 0.5 ? tn_between((float)beyond, (float)beyond + 0.5f)
                                              : tn_between((float)-beyond - 0.5f, (float)-beyond);
      *(turns[i] ? &def.angular[0] : &def.linear[0]) = ranges[i];
      joints[i] = tn_joint_create(world, &def);
      last = link;
    }
    for (int i = 0; i < 60; ++i) {
      tn_world_step(world, DT);
    }
    for (int i = 0; i < count; ++i) {
      tn_joint_state state = tn_joint_get_state(world, joints[i]);
      float at = turns[i] ? state.angle.x : state.offset.x;
      assert_below(fmaxf(ranges[i].lo - at, at - ranges[i].hi), 1e-3);
    }
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hinge_and_cylinder_rest_on_their_limit),
      cmocka_unit_test(generic_rests_on_its_limit),
      cmocka_unit_test(hinge_range_may_cross_half_a_turn),
      cmocka_unit_test(ball_rests_on_its_cone),
      cmocka_unit_test(ball_twist_stops_at_its_range),
      cmocka_unit_test(universal_limits_both_axes),
      cmocka_unit_test(soft_hinge_limit_yields_by_torque_times_compliance),
      cmocka_unit_test(slider_rests_on_its_limit),
      cmocka_unit_test(rope_is_slack_then_taut),
      cmocka_unit_test(strut_keeps_its_least_length),
      cmocka_unit_test(locked_twists_pass_half_a_turn),
      cmocka_unit_test(locked_chains_pass_half_a_turn),
      cmocka_unit_test(limited_twists_pass_half_a_turn),
      cmocka_unit_test(passed_limits_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
