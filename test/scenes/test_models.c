// The models of scenes/: their function, by measured values. 20 substeps.
#include "contact_support.h"

static void ragdolls_tumble_down_and_come_to_rest(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("ragdoll", "", 20);
  run_scene(run, 8.0);
  assert_close(told(run, "escaped"), 0.0, 0.0);
  assert_below(told(run, "max_joint_error_m"), 0.005);
  assert_below(told(run, "max_joint_error_rad"), 0.15);
  assert_below(told(run, "rms_speed_end"), 0.1);
  assert_below(told(run, "energy_rel_final"), -0.5); // down the stairs
  scene_destroy(run);
}

// Strides of 2 L sin(0.3) with legs of 0.58 m at 0.8 per second make 0.27 m/s without slip: 2.4 m
// in the nine seconds after the start.
static void walker_walks_straight_and_upright(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("walker", "", 20);
  run_scene(run, 10.0);
  double way = told(run, "way_m");
  assert_close(way, 3.0, 0.6);
  assert_below(told(run, "aside_m"), 0.15 * way);
  assert_below(0.98, told(run, "upright"));
  assert_close(told(run, "height_m"), 0.625, 0.03);
  scene_destroy(run);
}

// The lengths of the cylinders determine the angles, by the law of cosines; the boom's cylinder
// carries 12 kN.
static void excavator_follows_its_cylinders(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("excavator", "", 20);
  for (int i = 0; i < 15; ++i) {
    run_scene(run, 1.0);
    assert_below(scene_metric_value(run, "angle_error_rad"), 0.01);
    assert_below(scene_metric_value(run, "stroke_error_m"), 0.01);
  }
  told(run, "angle_error_rad");
  assert_below(told(run, "max_joint_error_m"), 5e-3);
  scene_destroy(run);
}

// H = P a N^2 / (8 f) for loads P at equal distances a on N spans with the sag f.
static void bridge_hangs_on_its_cables(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("bridge", "load=0", 20);
  run_scene(run, 15.0);
  double expected = told(run, "pull_expected_n"), pull = 0.0;
  for (int i = 0; i < 600; ++i) { // averaged over some periods of its sway, which nothing damps
    run_scene(run, 1.0 / 60.0);
    pull += scene_metric_value(run, "pull_n") / 600.0;
  }
  print_message("  mean pull %.1f N\n", pull);
  assert_close(pull, expected, 0.02 * expected);
  scene_destroy(run);
}

static void bridge_bears_a_box(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("bridge", "load=100", 20);
  run_scene(run, 10.0);
  assert_below(told(run, "top_drop_m"), 0.3);
  assert_below(told(run, "max_joint_error_m"), 0.01);
  tn_body_id box = run->bodies[run->body_count - 1];
  assert_close(tn_body_position(run->world, box).y, 0.45 - scene_metric_value(run, "top_drop_m"),
               0.1);
  scene_destroy(run);
}

static void jenga_tower_stands_with_blocks_missing(void **unused)
{
  (void)unused;
  static const char *const settings[2] = {"missing=0", "missing=9"};
  for (int i = 0; i < 2; ++i) {
    scene_run *run = start_scene("jenga", settings[i], 20);
    run_scene(run, 20.0);
    assert_close(told(run, "fallen"), 0.0, 0.0);
    assert_below(fabs(told(run, "top_drop_m")), 0.005);
    assert_below(told(run, "top_tilt_rad"), 0.01);
    scene_destroy(run);
  }
}

// A ball that descends by h on a long chain has the speed sqrt(2 g h), less the share of the chain.
static void wrecking_ball_breaks_the_wall(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("wrecking_ball", "", 20);
  run_scene(run, 1.0);
  assert_close(told(run, "bricks_moved"), 0.0, 0.0);
  run_scene(run, 0.2);
  double free_fall = sqrt(2.0 * 9.81 * 5.5 * (1.0 - cos(60.0 * (double)TN_PI / 180.0)));
  assert_close(told(run, "max_speed_run"), free_fall, 0.05 * free_fall);
  run_scene(run, 4.8);
  assert_below(10.0, told(run, "bricks_moved"));
  assert_close(told(run, "escaped"), 0.0, 0.0);
  assert_below(told(run, "max_joint_error_m"), 0.005);
  scene_destroy(run);
}

// The teeth do not slip: the ratio of speeds is that of the numbers of teeth, in both directions.
static void gears_turn_by_the_ratio_of_their_teeth(void **unused)
{
  (void)unused;
  static const char *const settings[2] = {"speed=3", "speed=-3"};
  for (int i = 0; i < 2; ++i) {
    scene_run *run = start_scene("gears", settings[i], 20);
    run_scene(run, 10.0);
    assert_below(4.0, fabs(told(run, "turns")));
    assert_close(told(run, "ratio_2"), -12.0 / 20.0, 0.005);
    assert_close(told(run, "ratio_3"), 12.0 / 16.0, 0.005);
    assert_below(told(run, "max_penetration_run"), 1e-3);
    scene_destroy(run);
  }
}

// Machines with couplings, at 4, 8 and 20 substeps: the wheels' mean speed is the carrier's, a fall
// of the winch's rope carries its share of the load, the lift stands as high as its screw says, the
// tendon's moment equals the springs', and the hands of the clock keep their ratios.
static void transmissions_keep_their_laws(void **unused)
{
  (void)unused;
  static const int substeps[3] = {4, 8, 20};
  for (int i = 0; i < 3; ++i) {
    scene_run *run = start_scene("differential", "", substeps[i]);
    run_scene(run, 5.0);
    assert_below(fabs(told(run, "split_error_rad_s")), 1e-5);
    assert_below(fabs(told(run, "final_drive_error_rad_s")), 1e-4);
    assert_below(1.0, fabs(told(run, "left_rad_s") - told(run, "right_rad_s")));
    scene_destroy(run);
    run = start_scene("winch", "falls=4", substeps[i]);
    run_scene(run, 5.8); // held at the top
    assert_below(1.0, told(run, "height_m"));
    assert_below(told(run, "height_error_m"), 1e-4);
    assert_close(told(run, "tension_over_weight_per_fall"), 1.0, 1e-3);
    scene_destroy(run);
    run = start_scene("scissor_lift", "", substeps[i]);
    run_scene(run, 6.0);
    assert_below(told(run, "height_error_m"), 2e-4);
    assert_below(told(run, "tilt_rad"), 1e-4);
    scene_destroy(run);
    run = start_scene("tendon_finger", "", substeps[i]);
    run_scene(run, 2.0); // at the greatest tension
    assert_below(0.8, told(run, "bend_1_rad"));
    assert_below(told(run, "moment_error_nm"), 1e-3); // of 0.06
    scene_destroy(run);
    run = start_scene("clock", "", substeps[i]);
    run_scene(run, 10.0);
    assert_close(told(run, "second_turns"), 20.0, 1e-3);
    assert_below(told(run, "minute_error_rad"), 1e-5);
    assert_below(told(run, "hour_error_rad"), 1e-5);
    scene_destroy(run);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ragdolls_tumble_down_and_come_to_rest),
      cmocka_unit_test(walker_walks_straight_and_upright),
      cmocka_unit_test(excavator_follows_its_cylinders),
      cmocka_unit_test(bridge_hangs_on_its_cables),
      cmocka_unit_test(bridge_bears_a_box),
      cmocka_unit_test(jenga_tower_stands_with_blocks_missing),
      cmocka_unit_test(wrecking_ball_breaks_the_wall),
      cmocka_unit_test(gears_turn_by_the_ratio_of_their_teeth),
      cmocka_unit_test(transmissions_keep_their_laws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
