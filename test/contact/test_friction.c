// Friction: holding, sliding, rolling and spinning. 20 substeps.
#include "contact_support.h"

#define G 9.81 // gravity of the scenes, m/s^2

static const double masses[4] = {0.1, 1.0, 10.0, 100.0};

// ---------------------------------------------------------------------------------------------
// Slopes

static scene_run *start_slope(double angle, double mass, double friction)
{
  char settings[96];
  snprintf(settings, sizeof settings, "angle=%g mass=%g friction=%g", angle, mass, friction);
  return start_scene("slope", settings, 20);
}

static void cube_does_not_creep_down_a_slope(void **unused)
{
  (void)unused;
  for (int i = 0; i < 4; ++i) {
    scene_run *run = start_slope(20.0, masses[i], 0.5);
    run_scene(run, 10.0);
    assert_below(told(run, "creep_m"), 1e-4);
    scene_destroy(run);
  }
}

// Nor do bodies that stand, lie along the slope, or are kept from rolling by their rolling friction
// d where tan(angle) < d / r, 0.12 here. Downhill is x.
static void round_bodies_do_not_creep_down_a_slope(void **unused)
{
  (void)unused;
  static const tn_vec3 across = {1.0f, 0.0f, 0.0f}, along = {0.0f, 0.0f, 1.0f};
  const struct {
    tn_shape_kind kind;
    tn_vec3 axis; // axis of the initial rotation
    float turn, slope;
  } cases[] = {
      {TN_SHAPE_CYLINDER, along, 0.0f, 20.0f},  {TN_SHAPE_CONE, along, 0.0f, 20.0f},
      {TN_SHAPE_CYLINDER, along, 90.0f, 20.0f}, {TN_SHAPE_CAPSULE, along, 90.0f, 20.0f},
      {TN_SHAPE_CYLINDER, across, 90.0f, 5.0f}, {TN_SHAPE_CAPSULE, across, 90.0f, 5.0f},
      {TN_SHAPE_SPHERE, along, 0.0f, 5.0f},
  };
  const float degree = TN_PI / 180.0f;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    tn_world *world = contact_world(20);
    float slope = degree * cases[i].slope;
    tn_world_set_gravity(world, tn_v3((float)G * tn_sin(slope), -(float)G * tn_cos(slope), 0.0f));
    tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
    tn_shape_def shape = axial_shape(cases[i].kind, 0.25f, 0.25f);
    ground.material.rolling_friction = shape.material.rolling_friction = 0.03f;
    shape.rotation = tn_quat_axis_angle(cases[i].axis, degree * cases[i].turn);
    add_shape(world, test_no_body, &ground);
    tn_body_id body = add_solid(world, tn_p3(0.0, 0.25, 0.0), &shape);
    test_run(world, DT, 60);
    tn_pos before = tn_body_position(world, body);
    test_run(world, DT, 600);
    tn_pos after = tn_body_position(world, body);
    assert_below(hypot(after.x - before.x, after.z - before.z), 1e-4);
    tn_world_destroy(world);
  }
}

static void cube_slides_down_a_steep_slope(void **unused)
{
  (void)unused;
  for (int i = 0; i < 4; ++i) {
    scene_run *run = start_slope(40.0, masses[i], 0.5);
    run_scene(run, 2.0);
    double expected = scene_metric_value(run, "acceleration_expected");
    double way = scene_metric_value(run, "way_expected_m");
    assert_close(told(run, "acceleration"), expected, 0.01 * expected);
    assert_close(told(run, "way_m"), way, 0.01 * way);
    scene_destroy(run);
  }
}

// The limit is tan(angle) = coefficient: 26.565 degrees for 0.5.
static void slope_holds_up_to_the_angle_of_friction(void **unused)
{
  (void)unused;
  scene_run *run = start_slope(26.3, 1.0, 0.5);
  run_scene(run, 5.0);
  assert_below(told(run, "creep_m"), 1e-3);
  scene_destroy(run);
  run = start_slope(26.8, 1.0, 0.5);
  run_scene(run, 5.0);
  double way = scene_metric_value(run, "way_expected_m"); // 0.56 m
  assert_close(told(run, "way_m"), way, 0.1 * way);       // 1% of either force
  scene_destroy(run);
}

static void ball_rolls_down_a_slope(void **unused)
{
  (void)unused;
  for (int i = 0; i < 4; ++i) {
    char settings[64];
    snprintf(settings, sizeof settings, "angle=20 mass=%g", masses[i]);
    scene_run *run = start_scene("rolling", settings, 20);
    run_scene(run, 3.0);
    double expected = scene_metric_value(run, "acceleration_expected");
    double way = scene_metric_value(run, "way_expected_m");
    assert_close(told(run, "acceleration"), expected, 0.01 * expected);
    assert_close(told(run, "way_m"), way, 0.01 * way);
    assert_close(told(run, "slip"), 0.0, 0.01 * expected * run->time);
    scene_destroy(run);
  }
}

// Steeper than tan(angle) = 7/2 friction the ball slips: a = g (sin - friction cos).
static void ball_slips_on_a_smooth_slope(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("rolling", "angle=45 friction=0.1", 20);
  run_scene(run, 2.0);
  double expected = G * sqrt(0.5) * (1.0 - 0.1);
  assert_close(told(run, "acceleration"), expected, 0.01 * expected);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Level ground

static void block_stops_where_its_energy_is_spent(void **unused)
{
  (void)unused;
  for (int i = 0; i < 4; ++i) {
    char settings[64];
    snprintf(settings, sizeof settings, "speed=5 mass=%g friction=0.6", masses[i]);
    scene_run *run = start_scene("sliding", settings, 20);
    run_scene(run, 3.0);
    double way = scene_metric_value(run, "way_expected_m");
    assert_close(told(run, "way_m"), way, 0.01 * way);
    assert_below(told(run, "max_speed_end"), 1e-3);
    scene_destroy(run);
  }
}

static void friction_cone_is_round(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("friction_cone", "pull=0.99", 20);
  run_scene(run, 3.0);
  assert_below(fabs(told(run, "way_max_m")), 1e-3);
  assert_below(fabs(told(run, "way_min_m")), 1e-3);
  scene_destroy(run);

  run = start_scene("friction_cone", "pull=1.01", 20);
  run_scene(run, 3.0);
  assert_below(0.1, told(run, "way_min_m")); // of 0.26 m without any error
  scene_destroy(run);

  run = start_scene("friction_cone", "pull=1.5", 20);
  run_scene(run, 3.0);
  double way = scene_metric_value(run, "way_expected_m");
  assert_close(told(run, "way_min_m"), way, 0.01 * way);
  assert_close(told(run, "way_max_m"), way, 0.01 * way);
  assert_below(told(run, "way_aside_m"), 0.01 * way);
  scene_destroy(run);
}

static void belt_accelerates_blocks(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("conveyor", "speed=3", 20);
  run_scene(run, 0.25); // still slower than the belt
  double way = scene_metric_value(run, "way_expected_m");
  assert_close(told(run, "way_m"), way, 0.02 * way); // 15 steps; the first rounds the start
  run_scene(run, 2.75);
  way = scene_metric_value(run, "way_expected_m");
  assert_close(told(run, "way_m"), way, 0.01 * way);
  assert_close(told(run, "speed"), 3.0, 1e-3);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Single bodies on the ground y = 0, in worlds with gravity 10

static void set_friction(tn_material *material, float at_rest, float in_motion)
{
  material->static_friction = at_rest;
  material->dynamic_friction = in_motion;
}

static tn_body_id add_slab(tn_world *world, tn_material material, tn_vec3 velocity)
{
  tn_shape_def slab = tn_default_shape_def(TN_SHAPE_BOX);
  slab.half_extents = tn_v3(0.5f, 0.1f, 0.5f);
  slab.material = material;
  tn_body_id body = add_solid(world, tn_p3(0.0, 0.1, 0.0), &slab);
  assert_true(tn_body_set_velocity(world, body, velocity));
  return body;
}

static void add_ground_of(tn_world *world, tn_material material)
{
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  plane.material = material;
  add_shape(world, test_no_body, &plane);
}

// Measures the friction coefficient of a sliding block.
static double measured_friction(tn_material ground, tn_material block)
{
  tn_world *world = contact_world(20);
  add_ground_of(world, ground);
  tn_body_id body = add_slab(world, block, tn_v3(20.0f, 0.0f, 0.0f));
  test_run(world, DT, 6);
  double before = (double)tn_body_velocity(world, body).x;
  test_run(world, DT, 30);
  double after = (double)tn_body_velocity(world, body).x;
  tn_world_destroy(world);
  return (before - after) / (0.5 * 10.0);
}

static void frictions_combine_as_asked(void **unused)
{
  (void)unused;
  static const double expected[4] = {0.5, 0.2, 0.16, 0.8};
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      tn_material ground = tn_default_material();
      tn_material block = tn_default_material();
      set_friction(&ground, 0.2f, 0.2f);
      set_friction(&block, 0.8f, 0.8f);
      ground.combine_friction = (tn_combine)a;
      block.combine_friction = (tn_combine)b;
      double mu = expected[a > b ? a : b];
      assert_close(measured_friction(ground, block), mu, 0.01 * mu);
    }
  }
}

// Static friction holds, dynamic friction slows down.
static void static_and_dynamic_coefficients_differ(void **unused)
{
  (void)unused;
  tn_material material = tn_default_material();
  set_friction(&material, 0.6f, 0.3f);
  assert_close(measured_friction(material, material), 0.3, 0.003);
  tn_world *world = contact_world(20);
  add_ground_of(world, material);
  tn_body_id body = add_slab(world, material, tn_v3(0.0f, 0.0f, 0.0f));
  test_run(world, DT, 30);
  double force[2] = {5.8, 6.2}; // around 0.6 m g
  for (int i = 0; i < 2; ++i) {
    double start = tn_body_position(world, body).x;
    for (int step = 0; step < 60; ++step) {
      tn_pos foot = tn_body_world_point(world, body, tn_v3(0.0f, -0.1f, 0.0f));
      assert_true(tn_body_apply_force(world, body, tn_v3((float)force[i], 0.0f, 0.0f), foot));
      test_run(world, DT, 1);
    }
    double way = tn_body_position(world, body).x - start;
    double free_way = 0.5 * (6.2 - 3.0); // once sliding, against 0.3 m g
    assert_close(way, i == 0 ? 0.0 : free_way, i == 0 ? 1e-3 : 0.05 * free_way);
  }
  tn_world_destroy(world);
}

static void frictionless_contact_takes_no_speed(void **unused)
{
  (void)unused;
  tn_material ice = tn_default_material();
  set_friction(&ice, 0.0f, 0.0f);
  assert_close(measured_friction(ice, ice), 0.0, 1e-6);
}

static tn_body_id add_rolling_ball(tn_world *world, tn_material material, float radius)
{
  add_ground_of(world, material);
  tn_shape_def ball = ball_shape(radius);
  ball.material = material;
  return add_solid(world, tn_p3(0.0, (double)radius, 0.0), &ball);
}

// Torque d N against rolling without slip: a = 5/7 g d / r.
static void rolling_friction_slows_a_ball(void **unused)
{
  (void)unused;
  static const float torques[3] = {0.005f, 0.01f, 0.02f};
  for (int i = 0; i < 3; ++i) {
    tn_material material = tn_default_material();
    material.rolling_friction = torques[i];
    tn_world *world = contact_world(20);
    tn_body_id ball = add_rolling_ball(world, material, 0.5f);
    tn_body_set_velocity(world, ball, tn_v3(2.0f, 0.0f, 0.0f));
    tn_body_set_angular_velocity(world, ball, tn_v3(0.0f, 0.0f, -4.0f));
    test_run(world, DT, 12);
    double before = (double)tn_body_velocity(world, ball).x;
    test_run(world, DT, 60);
    double after = (double)tn_body_velocity(world, ball).x;
    double expected = 5.0 / 7.0 * 10.0 * (double)torques[i] / 0.5;
    assert_close(before - after, expected, 0.01 * expected);
    test_run(world, DT, 60 * 30);
    assert_below(tn_length(tn_body_velocity(world, ball)), 1e-3); // and stops at last
    tn_world_destroy(world);
  }
}

// Torque s N about the normal: angular deceleration 5/2 g s / r^2.
static void spinning_friction_slows_a_top(void **unused)
{
  (void)unused;
  tn_material material = tn_default_material();
  material.spinning_friction = 0.01f;
  tn_world *world = contact_world(20);
  tn_body_id ball = add_rolling_ball(world, material, 0.5f);
  tn_body_set_angular_velocity(world, ball, tn_v3(0.0f, 5.0f, 0.0f));
  test_run(world, DT, 12);
  double before = (double)tn_body_angular_velocity(world, ball).y;
  test_run(world, DT, 60);
  double after = (double)tn_body_angular_velocity(world, ball).y;
  double expected = 2.5 * 10.0 * 0.01 / 0.25;
  assert_close(before - after, expected, 0.01 * expected);
  test_run(world, DT, 60 * 9);
  assert_below(fabsf(tn_body_angular_velocity(world, ball).y), 1e-3);
  tn_world_destroy(world);
}

// A rod that lies and spins, with most of its weight at one end: ends at d and l - d from the
// centre of mass carry (l - d) / l and d / l of the weight, so the friction torque is 2 mu m g d (l
// - d) / l. Friction at the middle of the rod would give five times that and push the rod sideways.
static void friction_of_a_rod_acts_where_its_load_is(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(20);
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_def rod = axial_shape(TN_SHAPE_CAPSULE, 0.1f, 0.5f);
  rod.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), 0.5f * TN_PI);
  add_shape(world, test_no_body, &ground);
  tn_body_def def = test_body_def();
  def.position = tn_p3(0.0, 0.1, 0.0);
  def.mass = (tn_mass){1.0f, {0.45f, 0.0f, 0.0f}, {.xx = 0.5f, .yy = 1.0f, .zz = 1.0f}};
  tn_body_id body = tn_body_create(world, &def);
  add_shape(world, body, &rod);
  test_run(world, DT, 60);
  tn_body_set_angular_velocity(world, body, tn_v3(0.0f, 2.0f, 0.0f));
  test_run(world, DT, 12);
  double before = (double)tn_body_angular_velocity(world, body).y;
  test_run(world, DT, 60);
  double after = (double)tn_body_angular_velocity(world, body).y;
  double expected = 2.0 * 0.6 * 10.0 * 0.05 * 0.95;
  print_message("  rod's spin: %.3f, then %.3f rad/s, %.3f less expected\n", before, after,
                expected);
  assert_close(before - after, expected, 0.05 * expected);
  assert_below(tn_length(tn_body_velocity(world, body)), 0.02);
  tn_world_destroy(world);
}

// Without rolling and spinning friction a ball on level ground rolls and spins for ever.
static void ball_without_rolling_friction_keeps_rolling(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(20);
  tn_body_id ball = add_rolling_ball(world, tn_default_material(), 0.5f);
  tn_body_set_velocity(world, ball, tn_v3(2.0f, 0.0f, 0.0f));
  tn_body_set_angular_velocity(world, ball, tn_v3(0.0f, 3.0f, -4.0f));
  test_run(world, DT, 600);
  assert_close(tn_body_velocity(world, ball).x, 2.0, 2e-3);
  assert_close(tn_body_angular_velocity(world, ball).z, -4.0, 4e-3);
  assert_close(tn_body_angular_velocity(world, ball).y, 3.0, 3e-3);
  tn_world_destroy(world);
}

// A ball that starts sliding without rotation rolls when it has 5/7 of its speed.
static void sliding_ball_comes_to_roll(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(20);
  tn_body_id ball = add_rolling_ball(world, tn_default_material(), 0.5f);
  tn_body_set_velocity(world, ball, tn_v3(7.0f, 0.0f, 0.0f));
  test_run(world, DT, 120);
  assert_close(tn_body_velocity(world, ball).x, 5.0, 0.05);
  assert_close(tn_body_angular_velocity(world, ball).z, -10.0, 0.1);
  tn_world_destroy(world);
}

// The reported friction force of a sliding contact is the coefficient times the normal force.
static void reported_friction_force_matches_the_law(void **unused)
{
  (void)unused;
  tn_material material = tn_default_material();
  tn_world *world = contact_world(20);
  add_ground_of(world, material);
  tn_body_id body = add_slab(world, material, tn_v3(10.0f, 0.0f, 0.0f));
  test_run(world, DT, 30);
  tn_vec3 force = contact_force(world, body);
  assert_close(force.y, 10.0, 0.05);
  assert_close(force.x, -6.0, 0.06);
  assert_close(force.z, 0.0, 0.01);
  test_run(world, DT, 120);
  force = contact_force(world, body);
  assert_close(force.x, 0.0, 0.05);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Friction over a face: sliding and spinning share Coulomb's limit

// A low box on a slope, seen in the plane of the slope; x is downhill. Lengths in m, per kg of
// mass.
typedef struct face_case {
  double half_x, half_z, friction, slope; // slope: rad
  double spin, velocity[2];               // rad/s, m/s
} face_case;

static double face_random(uint32_t *state, double lo, double hi)
{
  *state = *state * 1664525u + 1013904223u;
  return lo + (hi - lo) * ((double)(*state >> 8) / 16777216.0);
}

static face_case random_face(int seed)
{
  uint32_t state = (uint32_t)seed * 7919u + 13u;
  face_case c;
  c.half_x = face_random(&state, 0.3, 1.0);
  c.half_z = c.half_x * face_random(&state, 0.34, 3.0);
  c.friction = face_random(&state, 0.2, 0.8);
  c.slope = atan(c.friction * face_random(&state, 0.0, 0.9));
  c.spin = face_random(&state, 3.0, 30.0);
  for (int i = 0; i < 2; ++i) {
    c.velocity[i] = seed % 2 ? face_random(&state, -2.0, 2.0) : 0.0;
  }
  return c;
}

#define FACE_CELLS 16

// Force and torque of Coulomb friction over the face, per kg, under even pressure.
static void integrate_friction(const face_case *c, const double *v, double spin, double angle,
                               double *force, double *torque)
{
  double cosine = cos(angle), sine = sin(angle);
  double limit = c->friction * G * cos(c->slope) / (FACE_CELLS * FACE_CELLS);
  force[0] = force[1] = *torque = 0.0;
  for (int i = 0; i < FACE_CELLS * FACE_CELLS; ++i) {
    double px = c->half_x * (2.0 * (i % FACE_CELLS + 0.5) / FACE_CELLS - 1.0);
    double pz = c->half_z * (2.0 * (i / FACE_CELLS + 0.5) / FACE_CELLS - 1.0);
    double x = cosine * px - sine * pz, z = sine * px + cosine * pz;
    double ux = v[0] - spin * z, uz = v[1] + spin * x;
    double scale = limit / (sqrt(ux * ux + uz * uz) + 1e-7);
    force[0] -= scale * ux;
    force[1] -= scale * uz;
    *torque -= scale * (x * uz - z * ux);
  }
}

// Displacement until friction stops the box, or in `time` s. Returns the length of its path.
static double slide_by_coulomb(const face_case *c, double time, double *x)
{
  double h = 1e-3, path = 0.0, v[2] = {c->velocity[0], c->velocity[1]}, spin = c->spin, angle = 0.0;
  double inertia = (c->half_x * c->half_x + c->half_z * c->half_z) / 3.0;
  x[0] = x[1] = 0.0;
  for (int i = 0; i < (int)(time / h); ++i) {
    double force[2], torque;
    integrate_friction(c, v, spin, angle, force, &torque);
    if (hypot(v[0], v[1]) + fabs(spin) * c->half_x < 2.0 * h * c->friction * G * cos(c->slope)) {
      return path;
    }
    v[0] += h * (G * sin(c->slope) + force[0]);
    v[1] += h * force[1];
    spin += h * torque / inertia;
    angle += h * spin;
    x[0] += h * v[0];
    x[1] += h * v[1];
    path += h * hypot(v[0], v[1]);
  }
  return path;
}

static void slide_in_world(const face_case *c, int substeps, double time, double *x)
{
  tn_world *world = contact_world(substeps);
  tn_world_set_gravity(world, tn_v3((float)(G * sin(c->slope)), (float)(-G * cos(c->slope)), 0.0f));
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  ground.material.static_friction = ground.material.dynamic_friction = (float)c->friction;
  add_shape(world, test_no_body, &ground);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.material = ground.material;
  float height = 0.03f * (float)fmin(c->half_x, c->half_z);
  box.half_extents = tn_v3((float)c->half_x, height, (float)c->half_z);
  tn_body_def def = test_body_def();
  def.position = tn_p3(0.0, (double)height, 0.0);
  def.velocity = tn_v3((float)c->velocity[0], 0.0f, (float)c->velocity[1]);
  def.angular_velocity = tn_v3(0.0f, (float)-c->spin, 0.0f);
  tn_body_id body = tn_body_create(world, &def);
  add_shape(world, body, &box);
  tn_body_set_mass_from_shapes(world, body);
  test_run(world, DT, (int)(time * 60.0));
  tn_pos at = tn_body_center(world, body);
  x[0] = at.x;
  x[1] = at.z;
  tn_world_destroy(world);
}

static void spinning_boxes_slide_by_coulomb_over_their_face(void **unused)
{
  (void)unused;
  const int substeps[3] = {4, 8, 20};
  double worst = 0.0;
  int count = test_cases(30, 300);
  for (int i = 0; i < count; ++i) {
    face_case c = random_face(i);
    double law[2], x[2];
    double path = slide_by_coulomb(&c, 4.0, law);
    slide_in_world(&c, substeps[i % 3], 4.0, x);
    double error = hypot(x[0] - law[0], x[1] - law[1]) / (path + 0.02);
    worst = fmax(worst, error);
    if (error > 0.1) {
      print_message("  case %d: %.3f %.3f m, expected %.3f %.3f\n", i, x[0], x[1], law[0], law[1]);
    }
  }
  print_message("  %d boxes: displacement off by up to %.1f %% of the path\n", count,
                100.0 * worst);
  assert_below(worst, 0.1);
}

// The torque of a spinning disc of radius R is 2/3 mu m g R: its spin falls by 4/3 mu g / R.
static void spinning_disc_stops_by_coulomb_over_its_face(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(8);
  tn_material material = tn_default_material();
  add_ground_of(world, material);
  tn_shape_def disc = axial_shape(TN_SHAPE_CYLINDER, 0.5f, 0.05f);
  tn_body_def def = test_body_def();
  def.position = tn_p3(0.0, 0.05, 0.0);
  def.angular_velocity = tn_v3(0.0f, 30.0f, 0.0f);
  tn_body_id body = tn_body_create(world, &def);
  add_shape(world, body, &disc);
  tn_body_set_mass_from_shapes(world, body);
  test_run(world, DT, 60);
  double loss = 30.0 - (double)tn_body_angular_velocity(world, body).y;
  double expected = 4.0 / 3.0 * (double)material.dynamic_friction * 10.0 / 0.5;
  print_message("  disc loses %.3f of %.3f rad/s\n", loss, expected);
  assert_close(loss, expected, 0.03 * expected);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cube_does_not_creep_down_a_slope),
      cmocka_unit_test(round_bodies_do_not_creep_down_a_slope),
      cmocka_unit_test(cube_slides_down_a_steep_slope),
      cmocka_unit_test(slope_holds_up_to_the_angle_of_friction),
      cmocka_unit_test(ball_rolls_down_a_slope),
      cmocka_unit_test(ball_slips_on_a_smooth_slope),
      cmocka_unit_test(block_stops_where_its_energy_is_spent),
      cmocka_unit_test(friction_cone_is_round),
      cmocka_unit_test(belt_accelerates_blocks),
      cmocka_unit_test(frictions_combine_as_asked),
      cmocka_unit_test(static_and_dynamic_coefficients_differ),
      cmocka_unit_test(frictionless_contact_takes_no_speed),
      cmocka_unit_test(rolling_friction_slows_a_ball),
      cmocka_unit_test(spinning_friction_slows_a_top),
      cmocka_unit_test(friction_of_a_rod_acts_where_its_load_is),
      cmocka_unit_test(ball_without_rolling_friction_keeps_rolling),
      cmocka_unit_test(sliding_ball_comes_to_roll),
      cmocka_unit_test(reported_friction_force_matches_the_law),
      cmocka_unit_test(spinning_boxes_slide_by_coulomb_over_their_face),
      cmocka_unit_test(spinning_disc_stops_by_coulomb_over_its_face),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
