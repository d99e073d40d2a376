// Single bodies against closed forms: flight, spin, damping, forces, limits, kinematic motion,
// mass.
#include "doubles.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A power of two: with eight substeps and gravity 10 every sum of a free flight is exact.
static const float exact_dt = 1.0f / 64.0f;

static d3 d3_make(const double v[3])
{
  return (d3){v[0], v[1], v[2]};
}

static d3 d3_between(tn_pos from, tn_pos to)
{
  return (d3){to.x - from.x, to.y - from.y, to.z - from.z};
}

// ---------------------------------------------------------------------------------------------
// Flight

static tn_body_id thrown(tn_world *world, tn_pos from)
{
  tn_body_def def = test_body_def();
  def.position = from;
  def.velocity = tn_v3(3.0f, 20.0f, -2.0f);
  return tn_body_create(world, &def);
}

static void flight_is_exact(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id body = thrown(world, tn_p3(1.0, 2.0, 3.0));
  for (int i = 1; i <= 640; ++i) {
    test_run(world, exact_dt, 1);
    double t = i * (double)exact_dt;
    tn_pos p = tn_body_position(world, body);
    assert_close(p.x, 1.0 + 3.0 * t, 0.0);
    assert_close(p.y, 2.0 + 20.0 * t - 5.0 * t * t, 0.0);
    assert_close(p.z, 3.0 - 2.0 * t, 0.0);
    assert_close(tn_body_velocity(world, body).y, 20.0 - 10.0 * t, 0.0);
  }
  tn_world_destroy(world);
}

// With a step that is not a power of two: N sums, each rounded to 24 bits.
static void flight_is_exact_to_rounding_for_any_step(void **state)
{
  (void)state;
  const int substeps[3] = {1, 7, 20};
  for (int k = 0; k < 3; ++k) {
    tn_world *world = test_world(substeps[k], TN_METHOD_TENON);
    tn_body_id body = thrown(world, tn_p3(0.0, 0.0, 0.0));
    float dt = 1.0f / 60.0f;
    test_run(world, dt, 120);
    double t = 120.0 * (double)dt;
    double rounding = 120.0 * substeps[k] * 6e-8;
    tn_pos p = tn_body_position(world, body);
    assert_close(p.x, 3.0 * t, 6.0 * 6e-7);
    assert_close(p.y, 20.0 * t - 5.0 * t * t, 20.0 * rounding);
    assert_close(tn_body_velocity(world, body).y, 20.0 - 10.0 * t, 20.0 * rounding);
    tn_world_destroy(world);
  }
}

// Symplectic Euler is of first order: too low by g h t / 2.
static void flight_converges_in_the_position_methods(void **state)
{
  (void)state;
  for (int m = 1; m < TEST_METHODS; ++m) {
    double error[4];
    for (int k = 0; k < 4; ++k) {
      tn_world *world = test_world(1 << k, test_methods[m]);
      tn_body_id body = thrown(world, tn_p3(0.0, 0.0, 0.0));
      test_run(world, exact_dt, 128);
      assert_close(tn_body_position(world, body).x, 6.0, 0.0);
      assert_close(tn_body_velocity(world, body).y, 0.0, 0.0);
      error[k] = 20.0 - tn_body_position(world, body).y;
      double h = (double)exact_dt / (1 << k);
      assert_close(error[k], 0.5 * 10.0 * h * 2.0, 1e-9);
      tn_world_destroy(world);
    }
    assert_close(error[0] / error[1], 2.0, 1e-6);
    assert_close(error[2] / error[3], 2.0, 1e-6);
  }
}

static void flight_far_from_the_origin_is_the_same(void **state)
{
  (void)state;
  const tn_pos places[2] = {{0.0, 0.0, 0.0}, {1e6, -1e6, 1e6}};
  for (int m = 0; m < TEST_METHODS; ++m) {
    d3 flown[2], swung[2];
    for (int k = 0; k < 2; ++k) {
      tn_world *world = test_world(8, test_methods[m]);
      tn_body_id flying = thrown(world, places[k]);
      tn_pos pivot = tn_offset(places[k], tn_v3(1.0f, 0.5f, 0.25f));
      tn_body_id swinging =
          test_box(world, tn_offset(pivot, tn_v3(1.0f, 0.0f, 0.0f)), 2.0f, tn_v3(0.3f, 0.1f, 0.2f));
      test_joint(world, TN_JOINT_BALL, test_no_body, swinging, pivot, tn_v3(0.0f, 0.0f, 1.0f));
      test_run(world, 1.0f / 60.0f, 60);
      flown[k] = d3_between(places[k], tn_body_position(world, flying));
      swung[k] = d3_between(pivot, tn_body_position(world, swinging));
      tn_world_destroy(world);
    }
    // A position of 1e6 m is rounded to 1.2e-10 m in each of the steps.
    assert_below(d3_distance(flown[0], flown[1]), 60.0 * 1.2e-10);
    // 480 substeps of the swing, each rounding 4 m/s to 2.4e-7.
    assert_below(d3_distance(swung[0], swung[1]), 1e-5);
  }
}

// ---------------------------------------------------------------------------------------------
// Spin

// Reference: I w = L in the body's frame, integrated by the classical Runge-Kutta method on the
// pose and the body's L.
typedef struct spinner {
  d3 moments;
  d4 q;
  d3 l; // body axes
} spinner;

static d3 body_rate(const spinner *s, d3 l)
{
  d3 w = {l.x / s->moments.x, l.y / s->moments.y, l.z / s->moments.z};
  return w;
}

typedef struct slope {
  d4 q;
  d3 l;
} slope;

static slope slope_at(const spinner *s, d4 q, d3 l)
{
  d3 w = body_rate(s, l);
  d4 half = {0.5 * w.x, 0.5 * w.y, 0.5 * w.z, 0.0};
  slope k = {d4_mul(q, half), d3_cross(l, w)};
  return k;
}

static d4 d4_step(d4 q, double h, d4 d)
{
  d4 r = {q.x + h * d.x, q.y + h * d.y, q.z + h * d.z, q.w + h * d.w};
  return r;
}

static void advance(spinner *s, double h)
{
  slope a = slope_at(s, s->q, s->l);
  slope b = slope_at(s, d4_step(s->q, 0.5 * h, a.q), d3_add(s->l, d3_scale(0.5 * h, a.l)));
  slope c = slope_at(s, d4_step(s->q, 0.5 * h, b.q), d3_add(s->l, d3_scale(0.5 * h, b.l)));
  slope d = slope_at(s, d4_step(s->q, h, c.q), d3_add(s->l, d3_scale(h, c.l)));
  const slope slopes[4] = {a, b, c, d};
  const double weights[4] = {h / 6.0, h / 3.0, h / 3.0, h / 6.0};
  for (int i = 0; i < 4; ++i) {
    s->q = d4_step(s->q, weights[i], slopes[i].q);
    s->l = d3_add(s->l, d3_scale(weights[i], slopes[i].l));
  }
}

static tn_body_id spinning(tn_world *world, tn_vec3 half_extents, tn_vec3 w)
{
  tn_body_def def = test_body_def();
  def.mass = tn_mass_scaled_to(tn_mass_box(half_extents, 1.0f), 3.0f);
  def.angular_velocity = w;
  def.gravity_scale = 0.0f;
  return tn_body_create(world, &def);
}

// The same body in double, from an unrotated start.
static spinner spinner_of(const tn_world *world, tn_body_id body)
{
  tn_sym3 inertia = tn_body_mass(world, body).inertia;
  d3 w = d3_from(tn_body_angular_velocity(world, body));
  spinner s = {{(double)inertia.xx, (double)inertia.yy, (double)inertia.zz},
               {0.0, 0.0, 0.0, 1.0},
               {0.0, 0.0, 0.0}};
  s.l = (d3){s.moments.x * w.x, s.moments.y * w.y, s.moments.z * w.z};
  return s;
}

// L is constant; the axis of symmetry precesses about it at L / I1 and a constant angle, and the
// body spins about that axis.
static void symmetric_top_precesses(void **state)
{
  (void)state;
  const tn_vec3 shapes[2] = {{0.5f, 0.5f, 0.1f}, {0.1f, 0.1f, 0.5f}};
  for (int i = 0; i < 2 * TEST_METHODS; ++i) {
    tn_world *world = test_world(8, test_methods[i / 2]);
    tn_body_id body = spinning(world, shapes[i % 2], tn_v3(0.5f, 1.0f, 2.0f));
    spinner top = spinner_of(world, body);
    assert_close(top.moments.x, top.moments.y, 0.0);
    double nutation = top.l.z / d3_length(top.l);
    double own = (1.0 / top.moments.z - 1.0 / top.moments.x) * top.l.z;
    for (int k = 1; k <= 600; ++k) {
      test_run(world, 1.0f / 60.0f, 1);
      double t = k * (double)(1.0f / 60.0f);
      d4 q = d4_from(tn_body_rotation(world, body));
      d3 axis = d4_rotate(q, (d3){0.0, 0.0, 1.0});
      assert_close(d3_dot(axis, top.l) / d3_length(top.l), nutation, 1e-5);
      d4 about_l = d4_turn(d3_scale(t / top.moments.x, top.l));
      d3 expected = d4_rotate(about_l, (d3){0.0, 0.0, 1.0});
      assert_below(d3_distance(axis, expected), 1e-5);
      d4 exact = d4_mul(about_l, d4_turn((d3){0.0, 0.0, own * t}));
      assert_below(d4_angle(q, exact), 1.5e-5);
    }
    tn_world_destroy(world);
  }
}

static void asymmetric_spin_converges_in_second_order(void **state)
{
  (void)state;
  double error[4];
  for (int k = 0; k < 4; ++k) {
    tn_world *world = test_world(1 << k, TN_METHOD_TENON);
    tn_body_id body = spinning(world, tn_v3(0.5f, 0.3f, 0.1f), tn_v3(3.0f, -4.0f, 2.0f));
    spinner s = spinner_of(world, body);
    test_run(world, 1.0f / 32.0f, 64);
    for (int i = 0; i < 20000; ++i) {
      advance(&s, 2.0 / 20000.0);
    }
    error[k] = d4_angle(d4_from(tn_body_rotation(world, body)), s.q);
    tn_world_destroy(world);
  }
  for (int k = 0; k < 3; ++k) {
    print_message("h = 1/%d: off by %g, %.2f times the next\n", 32 << k, error[k],
                  error[k] / error[k + 1]);
    assert_close(error[k] / error[k + 1], 4.0, 0.8);
  }
}

typedef struct flips {
  int count;
  double side, time[64];
} flips;

static void note_flip(flips *f, double along, double time)
{
  if (along * f->side < 0.0 && f->count < 64) {
    f->side = -f->side;
    f->time[f->count++] = time;
  }
}

// Rotation about the axis of the middle moment of inertia is unstable: the body flips periodically.
static void middle_axis_spin_flips_periodically(void **state)
{
  (void)state;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id body = spinning(world, tn_v3(0.5f, 0.3f, 0.1f), tn_v3(0.1f, 5.0f, 0.2f));
  spinner s = spinner_of(world, body);
  tn_pos origin = {0.0, 0.0, 0.0};
  double energy = tn_world_energy(world).total;
  d3 l = d3_make(tn_world_momentum(world, origin).angular);
  double worst_energy = 0.0, worst_momentum = 0.0;
  flips seen = {0, 1.0, {0.0}};
  flips expected = {0, 1.0, {0.0}};
  for (int i = 1; i <= 3600; ++i) {
    test_run(world, 1.0f / 60.0f, 1);
    for (int k = 0; k < 20; ++k) {
      advance(&s, (double)(1.0f / 60.0f) / 20.0);
    }
    worst_energy = fmax(worst_energy, rel(tn_world_energy(world).total, energy));
    d3 now = d3_make(tn_world_momentum(world, origin).angular);
    worst_momentum = fmax(worst_momentum, d3_distance(now, l) / d3_length(l));
    d3 axis = d4_rotate(d4_from(tn_body_rotation(world, body)), (d3){0.0, 1.0, 0.0});
    note_flip(&seen, d3_dot(axis, l), i / 60.0);
    note_flip(&expected, s.l.y, i / 60.0);
  }
  print_message("%d flips; energy %.2g, angular momentum %.2g\n", seen.count, worst_energy,
                worst_momentum);
  assert_true(expected.count > 10);
  assert_int_equal(seen.count, expected.count);
  for (int i = 0; i < seen.count; ++i) {
    assert_close(seen.time[i], expected.time[i], 0.05);
  }
  assert_below(worst_energy, 1e-5);
  assert_below(worst_momentum, 1e-6);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Damping, forces, limits

// The damping factor of a substep is rounded; the errors add up, 6e-8 each.
static void damping_decays_exponentially(void **state)
{
  (void)state;
  const float damping[3] = {0.1f, 1.0f, 20.0f};
  for (int i = 0; i < 9; ++i) {
    tn_world *world = test_world(2, test_methods[i / 3]);
    tn_body_def def = test_body_def();
    def.gravity_scale = 0.0f;
    def.velocity = tn_v3(3.0f, -4.0f, 12.0f);
    def.angular_velocity = tn_v3(0.0f, 2.0f, 0.0f);
    def.linear_damping = damping[i % 3];
    tn_body_id body = tn_body_create(world, &def);
    assert_true(tn_body_set_linear_damping(world, body, damping[i % 3]));
    assert_true(tn_body_set_angular_damping(world, body, 0.5f * damping[i % 3]));
    test_run(world, 1.0f / 60.0f, 60);
    double ct = (double)damping[i % 3] * 60.0 * (double)(1.0f / 60.0f);
    d3 v = d3_from(tn_body_velocity(world, body));
    d3 w = d3_from(tn_body_angular_velocity(world, body));
    assert_close(d3_length(v) / (13.0 * exp(-ct)), 1.0, 1e-5);
    assert_close(v.x / v.z, 3.0 / 12.0, 1e-6);
    assert_close(w.y / (2.0 * exp(-0.5 * ct)), 1.0, 1e-5);
    tn_world_destroy(world);
  }
}

static void damped_fall_ends_at_terminal_speed(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = test_world(8, test_methods[m]);
    tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
    assert_true(tn_body_set_linear_damping(world, body, 2.0f));
    assert_true(tn_body_set_angular_damping(world, body, 0.0f));
    test_run(world, 1.0f / 60.0f, 1200);
    double h = 1.0 / 480.0;
    assert_close(tn_body_velocity(world, body).y, -5.0, 5.0 * 2.0 * h);
    tn_world_destroy(world);
  }
}

static void constant_force_and_torque_accelerate(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = test_world(8, test_methods[m]);
    assert_true(tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f)));
    tn_body_id body = test_box(world, tn_p3(0.0, 0.0, 0.0), 4.0f, tn_v3(0.5f, 0.5f, 0.5f));
    double inertia = 4.0 / 6.0;
    for (int i = 0; i < 128; ++i) {
      assert_true(tn_body_apply_force_to_center(world, body, tn_v3(8.0f, 0.0f, 0.0f)));
      assert_true(tn_body_apply_torque(world, body, tn_v3(0.0f, 0.0f, 0.25f)));
      assert_true(tn_body_apply_torque(world, body, tn_v3(0.0f, 0.0f, 0.25f))); // torques add up
      test_run(world, exact_dt, 1);
    }
    double first_order = m == 0 ? 0.0 : 0.5 * 2.0 / 512.0 * 2.0; // a h t / 2
    assert_close(tn_body_velocity(world, body).x, 4.0, 0.0);
    assert_close(tn_body_position(world, body).x, 4.0 + first_order, 1e-6);
    assert_close(tn_body_angular_velocity(world, body).z, 0.5 * 2.0 / inertia, 2e-5);
    double angle = 0.5 * 0.5 / inertia * 4.0;
    tn_quat q = tn_body_rotation(world, body);
    assert_close(2.0 * atan2((double)q.z, (double)q.w), angle, 2e-5 + first_order);
    // Forces act during one step only.
    test_run(world, exact_dt, 1);
    assert_close(tn_body_velocity(world, body).x, 4.0, 0.0);
    tn_world_destroy(world);
  }
}

// Inverse inertia of a body in world axes.
static d3 turning(const tn_world *world, tn_body_id body, d3 l)
{
  tn_sym3 s = tn_body_mass(world, body).inertia;
  double a[3][3] = {{(double)s.xx, (double)s.xy, (double)s.xz},
                    {(double)s.xy, (double)s.yy, (double)s.yz},
                    {(double)s.xz, (double)s.yz, (double)s.zz}};
  d4 q = d4_from(tn_body_rotation(world, body));
  d3 b = d4_rotate(d4_conjugate(q), l);
  d3 r0 = {a[0][0], a[0][1], a[0][2]}, r1 = {a[1][0], a[1][1], a[1][2]};
  d3 r2 = {a[2][0], a[2][1], a[2][2]};
  double det = d3_dot(r0, d3_cross(r1, r2));
  d3 w =
      d3_add(d3_add(d3_scale(b.x / det, d3_cross(r1, r2)), d3_scale(b.y / det, d3_cross(r2, r0))),
             d3_scale(b.z / det, d3_cross(r0, r1)));
  return d4_rotate(q, w);
}

static void assert_pushed(tn_world *world, tn_body_id body, d3 v, d3 w, const char *what)
{
  d3 got_v = d3_from(tn_body_velocity(world, body));
  d3 got_w = d3_from(tn_body_angular_velocity(world, body));
  double off_v = d3_distance(got_v, v) / d3_length(v);
  double off_w = d3_distance(got_w, w) / d3_length(w);
  if (!(off_v < 2e-6) || !(off_w < 1e-5)) {
    fail_msg("%s: off by %g and %g", what, off_v, off_w);
  }
}

// Impulses and short forces accelerate each solid according to its mass, centre and inertia.
static void assert_solid_enters(tn_mass mass, const char *what)
{
  tn_world *world = test_world(1, TN_METHOD_TENON);
  assert_true(tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f)));
  uint32_t random = 21;
  for (int i = 0; i < 20; ++i) {
    tn_body_def def = test_body_def();
    def.position = tn_p3(10.0, -20.0, 30.0);
    def.rotation = test_rotation(&random);
    def.mass = mass;
    tn_body_id body = tn_body_create(world, &def);
    tn_pos center = tn_body_center(world, body);
    d3 offset = d4_rotate(d4_from(def.rotation), d3_from(mass.center));
    assert_below(d3_distance(d3_between(def.position, center), offset), 1e-6);
    tn_vec3 impulse = test_vector(&random, 2.0f);
    tn_pos point = tn_offset(center, test_vector(&random, 1.0f));
    d3 arm = d3_between(center, point);
    d3 v = d3_scale(1.0 / (double)mass.mass, d3_from(impulse));
    d3 w = turning(world, body, d3_cross(arm, d3_from(impulse)));
    assert_true(tn_body_apply_impulse(world, body, impulse, point));
    assert_pushed(world, body, v, w, what);
    d3 l = d3_make(tn_bodies_momentum(world, &body, 1, center).angular);
    d3 expected = d3_cross(arm, d3_from(impulse));
    assert_below(d3_distance(l, expected), 1e-6 * d3_length(expected));

    assert_true(tn_body_set_velocity(world, body, tn_v3(0.0f, 0.0f, 0.0f)));
    assert_true(tn_body_set_angular_velocity(world, body, tn_v3(0.0f, 0.0f, 0.0f)));
    float dt = 1e-5f; // too short to rotate the body
    tn_vec3 force = tn_scale(1.0f / dt, impulse);
    assert_true(tn_body_apply_force(world, body, force, point));
    test_run(world, dt, 1);
    assert_pushed(world, body, v, w, what);
    assert_true(tn_body_destroy(world, body));
  }
  tn_world_destroy(world);
}

static void impulses_and_forces_act_on_mass_centre_and_inertia(void **state)
{
  (void)state;
  const tn_vec3 points[5] = {{0.0f, 0.0f, 0.0f},
                             {1.0f, 0.0f, 0.1f},
                             {0.2f, 1.0f, 0.0f},
                             {0.1f, 0.0f, 1.2f},
                             {1.0f, 1.0f, 1.0f}};
  const int triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  tn_mass parts[2] = {
      tn_mass_at(tn_mass_box(tn_v3(0.1f, 0.2f, 0.4f), 500.0f), tn_v3(0.5f, 0.1f, -0.2f),
                 tn_quat_axis_angle(tn_v3(1.0f, 2.0f, 3.0f), 0.8f)),
      tn_mass_at(tn_mass_sphere(0.2f, 2000.0f), tn_v3(-0.3f, 0.4f, 0.0f), tn_quat_identity())};
  assert_solid_enters(tn_mass_sphere(0.3f, 1000.0f), "sphere");
  assert_solid_enters(tn_mass_box(tn_v3(0.1f, 0.2f, 0.3f), 700.0f), "box");
  assert_solid_enters(tn_mass_capsule(0.2f, 0.5f, 900.0f), "capsule");
  assert_solid_enters(tn_mass_cylinder(0.3f, 0.2f, 2700.0f), "cylinder");
  assert_solid_enters(tn_mass_hull(points, 5, 1000.0f), "hull");
  assert_solid_enters(tn_mass_mesh(points, 4, triangles, 4, 1000.0f), "mesh");
  assert_solid_enters(tn_mass_compound(parts, 2), "compound");
}

static void gravity_scale_scales_gravity(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  const float scales[4] = {0.0f, 1.0f, -1.0f, 2.5f};
  tn_body_id bodies[4];
  for (int i = 0; i < 4; ++i) {
    bodies[i] = test_body(world, TN_BODY_DYNAMIC, tn_p3(i, 0.0, 0.0));
    assert_true(tn_body_set_gravity_scale(world, bodies[i], scales[i]));
    assert_true(tn_body_gravity_scale(world, bodies[i]) == scales[i]);
  }
  test_run(world, exact_dt, 64);
  for (int i = 0; i < 4; ++i) {
    assert_close(tn_body_position(world, bodies[i]).y, -5.0 * (double)scales[i], 1e-9);
  }
  tn_world_destroy(world);
}

// No body moves faster than its speed limit, and no speed that is read exceeds it.
static void speed_limits_hold(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = test_world(8, test_methods[m]);
    tn_body_def def = test_body_def();
    def.velocity = tn_v3(300.0f, 0.0f, 400.0f);
    def.angular_velocity = tn_v3(0.0f, 50.0f, 0.0f);
    def.max_speed = 5.0f;
    def.max_angular_speed = 3.0f;
    tn_body_id body = tn_body_create(world, &def);
    d4 last = d4_from(tn_body_rotation(world, body));
    tn_pos from = tn_body_position(world, body);
    for (int i = 0; i < 60; ++i) {
      test_run(world, exact_dt, 1);
      tn_pos to = tn_body_position(world, body);
      d4 now = d4_from(tn_body_rotation(world, body));
      assert_true(d3_length(d3_between(from, to)) <= 5.0 * (double)exact_dt * (1.0 + 1e-6));
      assert_close(d4_angle(last, now), 3.0 * (double)exact_dt, 1e-6);
      assert_below(d3_length(d3_from(tn_body_velocity(world, body))), 5.0 * (1.0 + 1e-6));
      from = to;
      last = now;
    }
    assert_close(tn_body_angular_velocity(world, body).y, 3.0, 1e-5);
    assert_true(tn_body_set_max_speed(world, body, 1000.0f));
    assert_true(tn_body_set_max_angular_speed(world, body, 1000.0f));
    test_run(world, exact_dt, 64);
    assert_true(tn_body_velocity(world, body).y < -10.0f);
    tn_world_destroy(world);
  }
}

// A pending force is dropped when the type of the body changes, even if it becomes dynamic again.
static void forces_do_not_outlive_a_change_of_type(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  tn_body_apply_force_to_center(world, body, tn_v3(100.0f, 0.0f, 0.0f));
  tn_body_apply_torque(world, body, tn_v3(0.0f, 10.0f, 0.0f));
  assert_true(tn_body_set_type(world, body, TN_BODY_KINEMATIC));
  assert_true(tn_body_set_type(world, body, TN_BODY_DYNAMIC));
  test_run(world, exact_dt, 1);
  assert_true(tn_length(tn_body_velocity(world, body)) == 0.0f);
  assert_true(tn_length(tn_body_angular_velocity(world, body)) == 0.0f);
  tn_world_destroy(world);
}

static void points_that_are_not_finite_are_refused(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(1.0, 2.0, 3.0));
  tn_body_set_velocity(world, body, tn_v3(1.0f, 0.0f, 0.0f));
  test_forget_messages();
  tn_pos at = tn_body_world_point(world, body, tn_v3(NAN, 0.0f, 0.0f));
  assert_true(at.x == 0.0 && at.y == 0.0 && at.z == 0.0);
  assert_message("tn_body_world_point: the point is not finite");
  tn_vec3 v = tn_body_point_velocity(world, body, tn_p3(0.0, (double)INFINITY, 0.0));
  assert_true(v.x == 0.0f && v.y == 0.0f && v.z == 0.0f);
  assert_message("tn_body_point_velocity: the point is not finite");
  tn_momentum m = tn_world_momentum(world, tn_p3(0.0, 0.0, (double)NAN));
  assert_true(m.mass == 0.0 && m.linear[0] == 0.0 && m.angular[2] == 0.0);
  assert_message("tn_world_momentum: the point is not finite");
  m = tn_bodies_momentum(world, &body, 1, tn_p3((double)NAN, 0.0, 0.0));
  assert_true(m.mass == 0.0);
  assert_message("tn_bodies_momentum: the point is not finite");
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Kinematic and static bodies

static void kinematic_bodies_keep_their_velocity(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = test_world(8, test_methods[m]);
    tn_body_id body = test_body(world, TN_BODY_KINEMATIC, tn_p3(1.0, 0.0, 0.0));
    tn_body_id load = test_box(world, tn_p3(1.0, -2.0, 0.0), 1000.0f, tn_v3(0.2f, 0.2f, 0.2f));
    test_joint(world, TN_JOINT_BALL, body, load, tn_p3(1.0, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    assert_true(tn_body_set_velocity(world, body, tn_v3(0.5f, 0.25f, 0.0f)));
    assert_true(tn_body_set_angular_velocity(world, body, tn_v3(0.0f, 1.0f, 0.0f)));
    test_run(world, exact_dt, 128);
    tn_pos p = tn_body_position(world, body);
    assert_close(p.x, 2.0, 1e-9);
    assert_close(p.y, 0.5, 1e-9);
    tn_quat q = tn_body_rotation(world, body);
    assert_close(2.0 * atan2((double)q.y, (double)q.w), 2.0, 1e-5);
    assert_close(tn_body_velocity(world, body).x, 0.5, 0.0);
    assert_close(tn_body_angular_velocity(world, body).y, 1.0, 1e-6);
    assert_true(tn_joint_get_state(world, (tn_joint_id){1, 0, body.world}).elongation < 0.05f);
    tn_world_destroy(world);
  }
}

static void kinematic_bodies_reach_their_target_and_stop(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = test_world(8, test_methods[m]);
    tn_body_id body = test_body(world, TN_BODY_KINEMATIC, tn_p3(1.0, 2.0, 3.0));
    uint32_t random = 22;
    for (int i = 0; i < 50; ++i) {
      tn_transform target = {tn_offset(tn_p3(1.0, 2.0, 3.0), test_vector(&random, 5.0f)),
                             test_rotation(&random)};
      assert_true(tn_body_move_to(world, body, target));
      test_run(world, 1.0f / 60.0f, 1);
      for (int k = 0; k < 2; ++k) { // on arrival, and a step later
        tn_transform now = tn_body_transform(world, body);
        assert_below(d3_length(d3_between(target.p, now.p)), 1e-15);
        assert_below(d4_angle(d4_from(target.q), d4_from(now.q)), 2e-7);
        assert_close(tn_length(tn_body_velocity(world, body)), 0.0, 0.0);
        assert_close(tn_length(tn_body_angular_velocity(world, body)), 0.0, 0.0);
        test_run(world, 1.0f / 60.0f, 1);
      }
    }
    tn_world_destroy(world);
  }
}

// A damper between the two sees the velocity of the kinematic body on its way to the target: after
// one step the other body has the share 1 - exp(-c dt) of it.
static void kinematic_targets_show_as_velocity_during_the_step(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = test_world(8, test_methods[m]);
    assert_true(tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f)));
    tn_body_id body = test_body(world, TN_BODY_KINEMATIC, tn_p3(0.0, 0.0, 0.0));
    tn_body_id other = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
    tn_joint_def def = test_joint_def(world, TN_JOINT_GENERIC, body, other, tn_p3(0.0, 0.0, 0.0),
                                      tn_v3(1.0f, 0.0f, 0.0f));
    for (int i = 0; i < 3; ++i) {
      def.linear[i] = def.angular[i] = tn_between(-INFINITY, INFINITY);
    }
    def.axis[0].damping = def.axis[1].damping = def.axis[2].damping = 2.0f; // N s/m, on 1 kg
    assert_false(TN_IS_NULL(tn_joint_create(world, &def)));
    tn_transform target = {tn_p3(0.5, -0.25, 0.0), tn_quat_identity()};
    assert_true(tn_body_move_to(world, body, target));
    test_run(world, 0.25f, 1);
    // Damping of 2 1/s in eight substeps: by the midpoint rule, implicit in the other methods.
    double half = 2.0 * 0.25 / 8.0 / 2.0;
    double kept =
        test_methods[m] == TN_METHOD_TENON ? (1.0 - half) / (1.0 + half) : 1.0 / (1.0 + 2.0 * half);
    double share = 1.0 - pow(kept, 8.0);
    assert_close(tn_body_velocity(world, other).x, 2.0 * share, 1e-4);
    assert_close(tn_body_velocity(world, other).y, -1.0 * share, 1e-4);
    tn_world_destroy(world);
  }
}

static void assert_stands(tn_world *world, tn_body_id body, tn_transform place)
{
  tn_transform now = tn_body_transform(world, body);
  assert_memory_equal(&now, &place, sizeof now);
  assert_close(tn_length(tn_body_velocity(world, body)), 0.0, 0.0);
  assert_close(tn_length(tn_body_angular_velocity(world, body)), 0.0, 0.0);
}

// Whatever body used the slot before, and whatever is joined to the body.
static void static_bodies_never_move(void **state)
{
  (void)state;
  for (int i = 0; i < 3 * TEST_METHODS; ++i) {
    tn_world *world = test_world(8, test_methods[i / 3]);
    tn_body_id body =
        test_body(world, i % 3 == 0 ? TN_BODY_STATIC : TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
    if (i % 3 == 1) { // was dynamic and fell
      test_run(world, 1.0f / 60.0f, 10);
      assert_true(tn_body_set_type(world, body, TN_BODY_STATIC));
    } else if (i % 3 == 2) { // reuses the slot of a body that fell
      test_run(world, 1.0f / 60.0f, 10);
      assert_true(tn_body_destroy(world, body));
      body = test_body(world, TN_BODY_STATIC, tn_p3(0.0, 0.0, 0.0));
    }
    tn_transform place = tn_body_transform(world, body);
    tn_pos pivot = tn_offset(place.p, tn_v3(1.0f, 0.0f, 0.0f));
    tn_body_id load =
        test_box(world, tn_offset(pivot, tn_v3(0.0f, -1.0f, 0.0f)), 5.0f, tn_v3(0.1f, 0.1f, 0.1f));
    tn_joint_id joint =
        test_joint(world, TN_JOINT_BALL, body, load, pivot, tn_v3(0.0f, 0.0f, 1.0f));
    for (int k = 0; k < 60; ++k) {
      test_run(world, 1.0f / 60.0f, 1);
      assert_stands(world, body, place);
    }
    // The load hangs straight below the static body, at rest, and the joint carries its weight.
    assert_close(tn_joint_get_state(world, joint).length, 0.0, 1e-5);
    assert_close(tn_joint_get_state(world, joint).force.y, 50.0, 0.05);
    assert_close(tn_length(tn_body_velocity(world, load)), 0.0, 1e-4);
    tn_world_destroy(world);
  }
}

static void types_change(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = test_world(8, test_methods[m]);
    tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
    test_run(world, exact_dt, 64);
    assert_true(tn_body_velocity(world, body).y == -10.0f);
    // A kinematic body keeps its velocity.
    assert_true(tn_body_set_type(world, body, TN_BODY_KINEMATIC));
    assert_int_equal(tn_body_get_type(world, body), TN_BODY_KINEMATIC);
    double y = tn_body_position(world, body).y;
    test_run(world, exact_dt, 64);
    assert_close(tn_body_position(world, body).y, y - 10.0, 1e-9);
    // A dynamic body accelerates by gravity again.
    assert_true(tn_body_set_type(world, body, TN_BODY_DYNAMIC));
    test_run(world, exact_dt, 64);
    assert_close(tn_body_velocity(world, body).y, -20.0, 1e-5);
    // A static body has no velocity; made dynamic again it starts at rest.
    assert_true(tn_body_set_type(world, body, TN_BODY_STATIC));
    assert_stands(world, body, tn_body_transform(world, body));
    y = tn_body_position(world, body).y;
    test_run(world, exact_dt, 64);
    assert_close(tn_body_position(world, body).y, y, 0.0);
    assert_true(tn_body_set_type(world, body, TN_BODY_DYNAMIC));
    test_run(world, exact_dt, 64);
    assert_close(tn_body_velocity(world, body).y, -10.0, 1e-5);
    // In the position methods the kick of the first substep acts for a whole substep.
    double drop = m == 0 ? 5.0 : 5.0 * (1.0 + 1.0 / 512.0);
    assert_close(tn_body_position(world, body).y, y - drop, 1e-5);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Mass off the origin

static void bodies_turn_about_their_centre_of_mass(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  assert_true(tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f)));
  tn_body_def def = test_body_def();
  def.position = tn_p3(5.0, 6.0, 7.0);
  def.mass = tn_mass_at(tn_mass_box(tn_v3(0.2f, 0.3f, 0.1f), 1000.0f), tn_v3(0.5f, 0.0f, 0.0f),
                        tn_quat_identity());
  def.velocity = tn_v3(1.0f, 0.0f, 0.0f);
  def.angular_velocity = tn_v3(0.0f, 0.0f, 2.0f);
  tn_body_id body = tn_body_create(world, &def);
  for (int i = 0; i <= 64; ++i) {
    double t = i * (double)exact_dt;
    d3 center = d3_between(tn_p3(0.0, 0.0, 0.0), tn_body_center(world, body));
    d3 origin = d3_between(tn_p3(0.0, 0.0, 0.0), tn_body_position(world, body));
    d3 expected_center = {5.5 + t, 6.0, 7.0};
    d3 expected_origin = {5.5 + t - 0.5 * cos(2.0 * t), 6.0 - 0.5 * sin(2.0 * t), 7.0};
    assert_below(d3_distance(center, expected_center), 1e-6);
    assert_below(d3_distance(origin, expected_origin), 5e-6);
    // The body's point (0, 0, 0) is its origin, and moves with the velocity field.
    tn_pos point = tn_body_world_point(world, body, tn_v3(0.0f, 0.0f, 0.0f));
    assert_below(d3_length(d3_between(tn_body_position(world, body), point)), 1e-14);
    d3 speed = {1.0 + sin(2.0 * t), -cos(2.0 * t), 0.0};
    assert_below(d3_distance(d3_from(tn_body_point_velocity(world, body, point)), speed), 1e-5);
    test_run(world, exact_dt, 1);
  }
  tn_world_destroy(world);
}

static void setting_mass_keeps_the_origin(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  uint32_t random = 23;
  for (int i = 0; i < 100; ++i) {
    tn_body_def def = test_body_def();
    def.position = tn_p3(100.0, -3.0, 4.0);
    def.rotation = test_rotation(&random);
    def.angular_velocity = tn_v3(1.0f, 2.0f, 3.0f);
    tn_body_id body = tn_body_create(world, &def);
    tn_transform before = tn_body_transform(world, body);
    tn_mass mass = tn_mass_at(tn_mass_box(tn_v3(0.1f, 0.2f, 0.3f), 1000.0f),
                              test_vector(&random, 1.0f), test_rotation(&random));
    assert_true(tn_body_set_mass(world, body, mass));
    tn_transform after = tn_body_transform(world, body);
    assert_below(d3_length(d3_between(before.p, after.p)), 1e-13);
    assert_below(d4_angle(d4_from(before.q), d4_from(after.q)), 2e-7);
    d3 offset = d4_rotate(d4_from(after.q), d3_from(mass.center));
    d3 center = d3_between(after.p, tn_body_center(world, body));
    assert_below(d3_distance(center, offset), 1e-6);
    tn_mass now = tn_body_mass(world, body);
    assert_memory_equal(&now, &mass, sizeof now);
    assert_close(tn_body_angular_velocity(world, body).y, 2.0, 0.0);
    // The momentum is that of the new mass at unchanged velocities.
    d3 l = d3_make(tn_bodies_momentum(world, &body, 1, tn_body_center(world, body)).angular);
    assert_below(d3_distance(turning(world, body, l), (d3){1.0, 2.0, 3.0}), 2e-5);
  }
  tn_world_destroy(world);
}

static void setting_a_transform_moves_and_turns(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  assert_true(tn_body_set_velocity(world, body, tn_v3(1.0f, 0.0f, 0.0f)));
  tn_transform to = {tn_p3(10.0, 20.0, 30.0), tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), 1.0f)};
  assert_true(tn_body_set_transform(world, body, to));
  tn_transform now = tn_body_transform(world, body);
  assert_below(d3_length(d3_between(to.p, now.p)), 1e-14);
  assert_below(d4_angle(d4_from(to.q), d4_from(now.q)), 2e-7);
  assert_close(tn_body_velocity(world, body).x, 1.0, 0.0);
  test_run(world, exact_dt, 64);
  assert_close(tn_body_position(world, body).x, 11.0, 1e-9);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Ids

#define CROWD 500
#define BIRTHS 10000

typedef struct crowd {
  tn_body_id live[CROWD];
  int mark[CROWD];
  int count, born;
  char tags[BIRTHS]; // addresses used as user data
} crowd;

static void join_crowd(tn_world *world, crowd *c)
{
  char name[16];
  int mark = c->born++;
  snprintf(name, sizeof name, "body %d", mark);
  tn_body_def def = test_body_def();
  def.name = name;
  def.user_data = &c->tags[mark];
  c->mark[c->count] = mark;
  c->live[c->count] = tn_body_create(world, &def);
  assert_false(TN_IS_NULL(c->live[c->count]));
  c->count += 1;
}

static tn_body_id leave_crowd(tn_world *world, crowd *c, int i)
{
  tn_body_id id = c->live[i];
  assert_true(tn_body_destroy(world, id));
  c->count -= 1;
  c->live[i] = c->live[c->count];
  c->mark[i] = c->mark[c->count];
  return id;
}

static void assert_crowd(tn_world *world, crowd *c)
{
  for (int i = 0; i < c->count; ++i) {
    char name[16];
    snprintf(name, sizeof name, "body %d", c->mark[i]);
    assert_true(tn_body_is_valid(world, c->live[i]));
    assert_string_equal(tn_body_name(world, c->live[i]), name);
    assert_ptr_equal(tn_body_user_data(world, c->live[i]), &c->tags[c->mark[i]]);
  }
  assert_int_equal(tn_world_counters(world).bodies, c->count);
  tn_body_id ids[CROWD];
  assert_int_equal(tn_world_bodies(world, ids, CROWD), c->count);
  for (int i = 0; i < c->count; ++i) {
    assert_true(tn_body_is_valid(world, ids[i]));
    assert_true(i == 0 || ids[i - 1].index < ids[i].index);
  }
}

static void stale_body_ids_are_refused(void **state)
{
  (void)state;
  static tn_body_id dead[BIRTHS];
  static crowd c;
  int dead_count = 0;
  memset(&c, 0, sizeof c);
  tn_world *world = test_world(1, TN_METHOD_TENON);
  uint32_t random = 24;
  size_t peak = 0;
  while (c.born < BIRTHS) {
    bool grow = c.count == 0 || (c.count < CROWD && test_random(&random) < 0.55f);
    if (grow) {
      join_crowd(world, &c);
    } else {
      dead[dead_count++] = leave_crowd(world, &c, test_index(&random, c.count));
      assert_false(tn_body_is_valid(world, dead[dead_count - 1]));
    }
    if (c.born % 1000 == 0) {
      assert_crowd(world, &c);
      test_run(world, 0.01f, 1);
    }
    if (c.born == 5000) {
      peak = tn_world_counters(world).bytes;
    }
  }
  for (int i = 0; i < dead_count; ++i) {
    assert_false(tn_body_is_valid(world, dead[i]));
  }
  test_forget_messages();
  assert_false(tn_body_destroy(world, dead[0]));
  assert_message("destroyed");
  assert_int_equal(tn_world_counters(world).bytes, peak);
  while (c.count > 0) {
    leave_crowd(world, &c, test_index(&random, c.count));
  }
  assert_int_equal(tn_world_bodies(world, NULL, 0), 0);
  tn_world_destroy(world);
}

static void names_are_cut_and_may_be_missing(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_body_def def = test_body_def();
  tn_body_id body = tn_body_create(world, &def);
  assert_string_equal(tn_body_name(world, body), "");
  const char *alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  assert_true(tn_body_set_name(world, body, alphabet));
  assert_int_equal(strlen(tn_body_name(world, body)), 31);
  assert_memory_equal(tn_body_name(world, body), alphabet, 31);
  assert_true(tn_body_set_name(world, body, NULL));
  assert_string_equal(tn_body_name(world, body), "");
  assert_true(tn_body_set_user_data(world, body, &def));
  assert_ptr_equal(tn_body_user_data(world, body), &def);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flight_is_exact),
      cmocka_unit_test(flight_is_exact_to_rounding_for_any_step),
      cmocka_unit_test(flight_converges_in_the_position_methods),
      cmocka_unit_test(flight_far_from_the_origin_is_the_same),
      cmocka_unit_test(symmetric_top_precesses),
      cmocka_unit_test(asymmetric_spin_converges_in_second_order),
      cmocka_unit_test(middle_axis_spin_flips_periodically),
      cmocka_unit_test(damping_decays_exponentially),
      cmocka_unit_test(damped_fall_ends_at_terminal_speed),
      cmocka_unit_test(constant_force_and_torque_accelerate),
      cmocka_unit_test(impulses_and_forces_act_on_mass_centre_and_inertia),
      cmocka_unit_test(gravity_scale_scales_gravity),
      cmocka_unit_test(speed_limits_hold),
      cmocka_unit_test(forces_do_not_outlive_a_change_of_type),
      cmocka_unit_test(points_that_are_not_finite_are_refused),
      cmocka_unit_test(kinematic_bodies_keep_their_velocity),
      cmocka_unit_test(kinematic_bodies_reach_their_target_and_stop),
      cmocka_unit_test(kinematic_targets_show_as_velocity_during_the_step),
      cmocka_unit_test(static_bodies_never_move),
      cmocka_unit_test(types_change),
      cmocka_unit_test(bodies_turn_about_their_centre_of_mass),
      cmocka_unit_test(setting_mass_keeps_the_origin),
      cmocka_unit_test(setting_a_transform_moves_and_turns),
      cmocka_unit_test(stale_body_ids_are_refused),
      cmocka_unit_test(names_are_cut_and_may_be_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
