// Impacts: rebound heights, energies and speeds; marbles, coins, bullets. 20 substeps.
#include "contact_support.h"

// ---------------------------------------------------------------------------------------------
// Bounces

static void ball_rebounds_to_its_height(void **unused)
{
  (void)unused;
  static const double restitution[5] = {0.0, 0.25, 0.5, 0.75, 1.0};
  for (int i = 0; i < 5; ++i) {
    char settings[64];
    snprintf(settings, sizeof settings, "restitution=%g", restitution[i]);
    scene_run *run = start_scene("bounce", settings, 20);
    run_scene(run, 1.0); // one bounce from 1 m, before the second
    double e = restitution[i];
    assert_close(told(run, "first_apex_rel"), e * e, e > 0.0 ? 0.01 * e * e : 1e-3);
    scene_destroy(run);
  }
}

static void elastic_ball_keeps_its_energy(void **unused)
{
  (void)unused;
  static const int substeps[3] = {4, 8, 20};
  for (int i = 0; i < 3; ++i) {
    scene_run *run = start_scene("bounce", "restitution=1", substeps[i]);
    run_scene(run, 10.0); // 0.903 s between bounces
    assert_close(told(run, "bounces"), 11.0, 0.0);
    assert_below(fabs(told(run, "energy_rel_max")), 1e-3);
    assert_close(told(run, "last_apex_rel"), 1.0, 1e-3);
    scene_destroy(run);
  }
}

// Each bounce reaches e^2 times the height of the last, until the ball rests.
static void half_elastic_ball_comes_to_rest(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("bounce", "restitution=0.5", 20);
  run_scene(run, 5.0);
  assert_below(told(run, "rms_speed_end"), 1e-3);
  assert_below(told(run, "max_penetration_m"), 1e-4);
  scene_destroy(run);
}

static void restitutions_combine_as_asked(void **unused)
{
  (void)unused;
  static const double expected[4] = {0.6, 0.4, 0.32, 0.8};
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      tn_world *world = contact_world(20);
      tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
      tn_shape_def shape = ball_shape(0.1f);
      plane.material.restitution = 0.4f;
      shape.material.restitution = 0.8f;
      plane.material.combine_restitution = (tn_combine)a;
      shape.material.combine_restitution = (tn_combine)b;
      add_shape(world, test_no_body, &plane);
      tn_body_id ball = add_solid(world, tn_p3(0.0, 0.6, 0.0), &shape);
      tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
      tn_body_set_velocity(world, ball, tn_v3(0.0f, -2.0f, 0.0f));
      test_run(world, DT, 30);
      double e = expected[a > b ? a : b];
      assert_close(tn_body_velocity(world, ball).y, 2.0 * e, 0.01 * e);
      tn_world_destroy(world);
    }
  }
}

// Two free balls of different mass: momentum is conserved and speeds follow Newton's law of
// restitution.
static void unequal_balls_part_by_the_law_of_impact(void **unused)
{
  (void)unused;
  static const double restitution[3] = {0.0, 0.5, 1.0};
  for (int i = 0; i < 3; ++i) {
    double e = restitution[i];
    tn_world *world = contact_world(20);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_shape_def shape = ball_shape(0.2f);
    shape.material.restitution = (float)e;
    tn_body_id a = add_solid(world, tn_p3(0.0, 0.0, 0.0), &shape);
    tn_body_id b = add_solid(world, tn_p3(1.0, 0.0, 0.0), &shape);
    tn_body_set_mass(world, b, tn_mass_scaled_to(tn_body_mass(world, b), 3.0f));
    tn_body_set_velocity(world, a, tn_v3(2.0f, 0.0f, 0.0f));
    test_run(world, DT, 60);
    double common = 2.0 / 4.0;
    assert_close(tn_body_velocity(world, a).x, common - 3.0 / 4.0 * e * 2.0, 0.01);
    assert_close(tn_body_velocity(world, b).x, common + 1.0 / 4.0 * e * 2.0, 0.01);
    assert_close(tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0)).linear[0], 2.0, 1e-5);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Newton's cradle, and Figure 12

static void seabra_fig_1_cradle_keeps_its_energy(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("cradle", "", 20);
  run_scene(run, 30.0);
  assert_below(-told(run, "energy_rel_final"), 0.005);
  assert_below(told(run, "energy_rel_final"), 0.005);
  assert_below(fabs(told(run, "energy_rel_max")), 0.005);
  scene_destroy(run);
}

static void seabra_fig_1_cradle_passes_the_speed_to_the_last(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("cradle", "", 20);
  run_scene(run, 1.0);
  static const char *const names[4] = {"hit_speed_1", "hit_speed_2", "hit_speed_3", "hit_speed_4"};
  for (int i = 0; i < 4; ++i) {
    assert_close(told(run, names[i]), 0.0, 0.02);
  }
  assert_close(told(run, "hit_speed_5"), 1.0, 0.02);
  scene_destroy(run);
}

// Two balls in, two balls out.
static void cradle_passes_the_speed_of_two_balls_to_the_last_two(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("cradle", "raised=2", 20);
  run_scene(run, 1.0);
  assert_close(told(run, "hit_speed_1"), 0.0, 0.02);
  assert_close(told(run, "hit_speed_3"), 0.0, 0.02);
  assert_close(told(run, "hit_speed_4"), 1.0, 0.02);
  assert_close(told(run, "hit_speed_5"), 1.0, 0.02);
  scene_destroy(run);
}

static void fig_12_impulse_reaches_the_last_marble(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("marble_impulse", "", 20);
  run_scene(run, 0.7);
  assert_close(told(run, "hit_speed_1"), 0.0, 0.02);
  assert_close(told(run, "hit_speed_2"), 0.0, 0.02);
  assert_close(told(run, "hit_speed_3"), 0.0, 0.02);
  assert_close(told(run, "hit_speed_4"), 1.0, 0.02);
  assert_below(fabs(told(run, "energy_rel_max")), 0.01);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Marbles on wires

static void fig_13_marbles_created_inside_wires_stay_on_them(void **unused)
{
  (void)unused;
  static const char *const settings[3] = {"depth=0.1", "depth=0.2", "depth=0.4"};
  for (int i = 0; i < 3; ++i) {
    scene_run *run = start_scene("marbles_in_wires", settings[i], 20);
    run_scene(run, 3.0);
    assert_below(told(run, "max_speed_run"), 0.3);
    assert_close(told(run, "off_track"), 0.0, 0.0);
    scene_destroy(run);
  }
}

// Without friction a marble that descended by h has the speed sqrt(2 g h), through loop and coil.
// One marble only: several would push each other.
static void fig_14_marbles_follow_loop_and_coil(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("marble_run", "friction=0 count=1", 20);
  for (int i = 0; i < 240 && scene_metric_value(run, "past_end") == 0.0; ++i) {
    scene_step(run, DT);
    assert_close(scene_metric_value(run, "off_track"), 0.0, 0.0);
  }
  told(run, "max_speed_end");
  assert_close(told(run, "past_end"), 1.0, 0.0); // it reached the end
  assert_below(fabs(told(run, "energy_rel_final")), 0.01);
  assert_below(fabs(told(run, "energy_rel_max")), 0.01);
  scene_destroy(run);
}

static void fig_1_marbles_roll_to_the_end(void **unused)
{
  (void)unused;
  static const int substeps[2] = {10, 20};
  for (int i = 0; i < 2; ++i) {
    scene_run *run = start_scene("marble_run", "", substeps[i]);
    for (int step = 0; step < 300 && scene_metric_value(run, "past_end") < 4.0; ++step) {
      scene_step(run, DT);
      assert_close(scene_metric_value(run, "off_track"), 0.0, 0.0);
    }
    told(run, "energy_rel_max");
    assert_close(scene_metric_value(run, "past_end"), 4.0, 0.0);
    scene_destroy(run);
  }
}

// ---------------------------------------------------------------------------------------------
// The plate

// Largest relative energy gain over the run.
static double highest_energy(scene_run *run, double seconds)
{
  double highest = -1.0;
  for (int i = 0; i < (int)(seconds * 60.0); ++i) {
    run_scene(run, 1.0 / 60.0);
    highest = fmax(highest, scene_energy_error(run));
  }
  return highest;
}

static void seabra_fig_8_plate_keeps_its_energy(void **unused)
{
  (void)unused;
  static const char *const settings[3] = {"tilt=30", "tilt=5", "tilt=75"};
  for (int i = 0; i < 3; ++i) {
    scene_run *run = start_scene("plate", settings[i], 20);
    run_scene(run, 30.0);
    assert_below(fabs(told(run, "energy_rel_max")), 0.005);
    scene_destroy(run);
  }
}

// Zero up to the rounding of a float sum.
static void elastic_plate_with_friction_gains_no_energy(void **unused)
{
  (void)unused;
  static const char *const settings[3] = {"tilt=30 friction=0.5", "tilt=5 friction=0.5",
                                          "tilt=75 friction=0.5"};
  for (int i = 0; i < 3; ++i) {
    scene_run *run = start_scene("plate", settings[i], 20);
    double highest = highest_energy(run, 30.0);
    print_message("  plate, %s: highest energy %.2e above the start\n", settings[i], highest);
    told(run, "energy_rel_final");
    assert_below(highest, 1e-4);
    scene_destroy(run);
  }
}

// ---------------------------------------------------------------------------------------------
// Figure 15: the coin

typedef struct coin_watch {
  double rise;    // largest rise of the energy above its minimum so far
  double settled; // time at which it lay flat for good, s
  double
      slowest_gain; // smallest ratio of the mean precession of a window to that of the one before
  double law;       // largest relative difference from the steady precession at that tilt
} coin_watch;

enum { COIN_WINDOW = 30 };

static coin_watch watch_coin(scene_run *run, double seconds)
{
  coin_watch w = {.slowest_gain = (double)INFINITY};
  double lowest = 0.0, sum = 0.0, last = 0.0;
  for (int i = 1; i <= (int)(seconds * 60.0); ++i) {
    run_scene(run, 1.0 / 60.0);
    double energy = scene_energy_error(run);
    w.rise = fmax(w.rise, energy - lowest);
    lowest = fmin(lowest, energy);
    double tilt = scene_metric_value(run, "tilt_rad");
    w.settled = tilt > 0.01 ? run->time : w.settled;
    sum += scene_metric_value(run, "precession");
    if (i % COIN_WINDOW == 0 && tilt > 0.03) {
      double expected = scene_metric_value(run, "precession_expected");
      w.law = fmax(w.law, fabs(scene_metric_value(run, "precession") - expected) / expected);
      w.slowest_gain = last > 0.0 ? fmin(w.slowest_gain, sum / last) : w.slowest_gain;
      last = sum;
    }
    sum = i % COIN_WINDOW == 0 ? 0.0 : sum;
  }
  return w;
}

static void fig_15_coin_turns_faster_until_it_lies(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("coin", "", 20);
  coin_watch w = watch_coin(run, 10.0);
  print_message("  coin: flat after %.2f s, energy rose by %.1e, precession grew by %.3f, off the "
                "steady one by %.2f\n",
                w.settled, w.rise, w.slowest_gain, w.law);
  assert_below(told(run, "tilt_rad"), 1e-3);
  assert_below(told(run, "rms_speed_end"), 1e-3);
  assert_below(w.rise, 1e-3);
  assert_below(1.0, w.slowest_gain);
  assert_below(w.law, 0.15); // a coin of that thickness is not a thin disk
  // With rolling friction d the square root of the tilt falls linearly, to zero after 3 r / d
  // sqrt(r tilt / 4 g) = 5.5 s; other losses shorten it.
  assert_below(w.settled, 5.5);
  assert_below(2.0, w.settled);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Continuous collision

static void check_bullets(const char *settings, int substeps)
{
  scene_run *run = start_scene("bullets", settings, substeps);
  run_scene(run, 0.25);
  assert_close(told(run, "passed"), 0.0, 0.0);
  scene_destroy(run);
}

static void no_bullet_passes_a_thin_wall(void **unused)
{
  (void)unused;
  check_bullets("speed=200", 20);
  check_bullets("speed=200", 1);
  check_bullets("speed=200 restitution=0.5", 20);
  check_bullets("speed=1000 spread=0.1", 4);
}

static void no_bullet_passes_a_wall_that_moves(void **unused)
{
  (void)unused;
  check_bullets("speed=200 wall_mass=1000", 20);
  check_bullets("speed=200 wall_mass=1000", 4);
}

// A body that flies in a room of 2 m with walls of 1 cm. Returns its speed.
static double fly_in_room(int substeps, tn_shape_def shape, tn_vec3 velocity, int steps)
{
  tn_world *world = contact_world(substeps);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  for (int i = 0; i < 6; ++i) {
    tn_shape_def wall = tn_default_shape_def(TN_SHAPE_BOX);
    float side = i % 2 ? 1.005f : -1.005f;
    wall.half_extents =
        tn_v3(i / 2 == 0 ? 0.005f : 1.0f, i / 2 == 1 ? 0.005f : 1.0f, i / 2 == 2 ? 0.005f : 1.0f);
    wall.position =
        tn_v3(i / 2 == 0 ? side : 0.0f, i / 2 == 1 ? side : 0.0f, i / 2 == 2 ? side : 0.0f);
    wall.material = shape.material;
    add_shape(world, test_no_body, &wall);
  }
  tn_body_id body = add_solid(world, tn_p3(0.1, 0.2, -0.3), &shape);
  tn_body_set_velocity(world, body, velocity);
  for (int i = 0; i < steps; ++i) {
    test_run(world, DT, 1);
    tn_pos p = tn_body_position(world, body);
    assert_below(fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))), 1.0);
  }
  double speed = (double)tn_length(tn_body_velocity(world, body));
  tn_world_destroy(world);
  return speed;
}

// The body meets several walls within a step and must not leave.
static void nothing_leaves_a_closed_box(void **unused)
{
  (void)unused;
  tn_shape_def ball = ball_shape(0.02f), cube = cube_shape(0.02f);
  ball.material.restitution = 1.0f;
  fly_in_room(8, ball, tn_v3(150.0f, 70.0f, 110.0f), 600);
  ball.material.static_friction = ball.material.dynamic_friction = 0.0f;
  cube.material = ball.material;
  cube.material.restitution = 0.0f;
  uint32_t random = 3;
  for (int i = 0; i < 20; ++i) {
    tn_vec3 v = test_vector(&random, 300.0f);
    double speed = fly_in_room(i % 2 ? 4 : 20, ball, v, 100);
    assert_close(speed, (double)tn_length(v), 1e-5 * speed);
    fly_in_room(i % 2 ? 4 : 20, cube, v, 50);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_rebounds_to_its_height),
      cmocka_unit_test(elastic_ball_keeps_its_energy),
      cmocka_unit_test(half_elastic_ball_comes_to_rest),
      cmocka_unit_test(restitutions_combine_as_asked),
      cmocka_unit_test(unequal_balls_part_by_the_law_of_impact),
      cmocka_unit_test(seabra_fig_1_cradle_keeps_its_energy),
      cmocka_unit_test(seabra_fig_1_cradle_passes_the_speed_to_the_last),
      cmocka_unit_test(cradle_passes_the_speed_of_two_balls_to_the_last_two),
      cmocka_unit_test(fig_12_impulse_reaches_the_last_marble),
      cmocka_unit_test(fig_13_marbles_created_inside_wires_stay_on_them),
      cmocka_unit_test(fig_14_marbles_follow_loop_and_coil),
      cmocka_unit_test(fig_1_marbles_roll_to_the_end),
      cmocka_unit_test(seabra_fig_8_plate_keeps_its_energy),
      cmocka_unit_test(elastic_plate_with_friction_gains_no_energy),
      cmocka_unit_test(fig_15_coin_turns_faster_until_it_lies),
      cmocka_unit_test(no_bullet_passes_a_thin_wall),
      cmocka_unit_test(no_bullet_passes_a_wall_that_moves),
      cmocka_unit_test(nothing_leaves_a_closed_box),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
