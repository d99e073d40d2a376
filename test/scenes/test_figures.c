// The figures of the papers that the scenes reproduce: each claim, by number. Mueller et al. 2020
// and 20 substeps unless stated otherwise.
#include "contact_support.h"
#include "robot.h"

// The largest energy error, relative to the energy scale of the scene.
static double energy_error(scene_run *run, double seconds)
{
  run_scene(run, seconds);
  double worst = fabs(scene_metric_value(run, "energy_rel_max"));
  scene_destroy(run);
  return worst;
}

static scene_run *start_by(const char *name, const char *settings, tn_method method, int substeps,
                           int iterations)
{
  tn_world_def def = test_world_def(substeps, method);
  def.iterations = iterations;
  return start_scene_by(name, settings, &def);
}

// ---------------------------------------------------------------------------------------------
// Static loads

// The damped motion has decayed to 1 % after 20 s, hence the tolerance.
static void fig_4_springs_stretch_by_load_times_compliance(void **unused)
{
  (void)unused;
  static const char *const names[2] = {"springs3", "springs7"};
  for (int i = 0; i < 2; ++i) {
    scene_run *run = start_scene(names[i], "damping=4", 20);
    run_scene(run, 20.0);
    assert_below(told(run, "elongation_error_rel"), 0.001);
    assert_below(told(run, "force_error_rel"), 0.001);
    scene_destroy(run);
  }
}

static void fig_5_servo_holds_with_force_times_lever(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("torque_bar", "", 20);
  run_scene(run, 5.0);
  assert_close(told(run, "torque_nm"), 2.0, 1e-4);
  assert_below(told(run, "angle_error_rad"), 1e-3);
  scene_destroy(run);
}

static void fig_6_a_gram_carries_a_kilogram_on_springs(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("mass_ratio", "damping=4", 20);
  run_scene(run, 20.0);
  assert_below(told(run, "elongation_error_rel"), 0.005);
  told(run, "rigid_top_error_m");
  assert_below(told(run, "rigid_force_error_rel"), 0.05);
  scene_destroy(run);
}

static void fig_6_a_gram_carries_a_kilogram_rigidly(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("mass_ratio", "", 20);
  run_scene(run, 10.0);
  assert_below(told(run, "max_joint_error_m"), 1e-5);
  scene_destroy(run);
}

static void fig_7_limits_and_targets_are_kept(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("joint_zoo", "", 20);
  run_scene(run, 10.0);
  assert_below(told(run, "limit_error_m"), 1e-4);
  assert_below(told(run, "limit_error_rad"), 1e-3);
  assert_below(told(run, "target_error_m"), 1e-4);
  assert_below(told(run, "target_error_rad"), 1e-3);
  assert_below(told(run, "soft_error_rel"), 0.01);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Energy

static void fig_8_pendula_keep_their_energy(void **unused)
{
  (void)unused;
  static const char *const names[3] = {"pendulum_double", "pendulum_triple", "pendulum_loop"};
  static const char *const joints[2] = {"balls=0", "balls=1"};
  for (int i = 0; i < 6; ++i) {
    scene_run *run = start_scene(names[i / 2], joints[i % 2], 40);
    double error = energy_error(run, 10.0);
    print_message("  %s, %s: %.2e\n", names[i / 2], joints[i % 2], error);
    assert_below(error, 0.005);
  }
}

// At equal cost, every substep that is replaced by iterations increases the error.
static void fig_9_substeps_are_better_than_iterations(void **unused)
{
  (void)unused;
  static const int substeps[5] = {40, 20, 10, 4, 1};
  double last = 0.0;
  for (int i = 0; i < 5; ++i) {
    int n = substeps[i];
    double xpbd = energy_error(start_by("pendulum_triple", "", TN_METHOD_XPBD, n, 40 / n), 10.0);
    double tenon = energy_error(start_by("pendulum_triple", "", TN_METHOD_TENON, n, 40 / n), 10.0);
    print_message("  %d substeps, %d iterations: xpbd %.4f, tenon %.2e\n", n, 40 / n, xpbd, tenon);
    assert_below(last, xpbd);
    assert_below(tenon, xpbd);
    last = xpbd;
  }
}

// Mean error of the chain that hangs straight, over some seconds.
static double elongation(tn_method method, int substeps)
{
  scene_run *run = start_by("bunny_chain", "angle=0", method, substeps, 20 / substeps);
  double sum = 0.0;
  for (int i = 0; i < 180; ++i) {
    run_scene(run, 1.0 / 60.0);
    sum += scene_metric_value(run, "elongation_rel") / 180.0;
  }
  scene_destroy(run);
  return sum;
}

// "Replacing all solver iterations by substeps is by far the best choice."
static void fig_10_and_11_substeps_hold_the_bunnies(void **unused)
{
  (void)unused;
  static const int substeps[5] = {20, 10, 5, 2, 1};
  double xpbd[5], tenon[5];
  for (int i = 0; i < 5; ++i) {
    xpbd[i] = elongation(TN_METHOD_XPBD, substeps[i]);
    tenon[i] = elongation(TN_METHOD_TENON, substeps[i]);
    print_message("  %d substeps, %d iterations: xpbd %.2e, tenon %.2e\n", substeps[i],
                  20 / substeps[i], xpbd[i], tenon[i]);
  }
  for (int i = 1; i < 5; ++i) {
    assert_below(1.5 * xpbd[i - 1], xpbd[i]);
    assert_below(1.5 * tenon[i - 1], tenon[i]);
  }
  assert_below(tenon[0], xpbd[0]);
}

static void seabra_fig_2_pendulum_of_distances_keeps_its_energy(void **unused)
{
  (void)unused;
  assert_below(energy_error(start_scene("pendulum_distance", "", 20), 10.0), 0.005);
}

static void seabra_fig_4_chain_of_100_keeps_its_energy(void **unused)
{
  (void)unused;
  assert_below(energy_error(start_scene("chain", "end_mass_ratio=100", 20), 10.0), 0.005);
}

// The mean of five runs: the loss of a single run varies by a fifth with rounding.
static double mean_whip_error(int substeps)
{
  double sum = 0.0;
  for (int i = -2; i <= 2; ++i) {
    sum += energy_error(start_scene("chain", "", substeps + i), 10.0);
  }
  return sum / 5.0;
}

// Without a heavy end the chain cracks like a whip: its last links rotate by a radian per substep
// at 20 substeps, and the loss is of second order in the substep.
static void chain_without_a_heavy_end_keeps_its_energy_as_substeps_grow(void **unused)
{
  (void)unused;
  double at_40 = mean_whip_error(40), at_80 = mean_whip_error(80);
  assert_below(at_40, 0.05);
  assert_below(at_80, 0.0125);
}

static void seabra_fig_4_chain_of_500_holds(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("chain", "count=500 end_mass_ratio=100", 20);
  run_scene(run, 10.0);
  assert_below(told(run, "max_joint_error_m"), 0.3e-3);
  assert_below(fabs(told(run, "energy_rel_max")), 0.005);
  scene_destroy(run);
}

// Light links under a heavy load oscillate faster than these substeps resolve: 2 mm at 4 substeps,
// of second order in the substep.
static void seabra_fig_4_chains_hold_at_few_substeps(void **unused)
{
  (void)unused;
  static const char *const settings[2] = {"end_mass_ratio=100", "count=500 end_mass_ratio=100"};
  for (int i = 0; i < 2; ++i) {
    for (int substeps = 4; substeps <= 8; substeps += 4) {
      scene_run *run = start_scene("chain", settings[i], substeps);
      run_scene(run, 10.0);
      double longer = 4.0 / substeps;
      assert_below(told(run, "max_joint_error_m"), 2e-3 * longer * longer);
      assert_below(fabs(told(run, "energy_rel_max")), 0.01);
      scene_destroy(run);
    }
  }
}

// The chain never gains energy.
static void seabra_fig_4_chain_of_100_gains_no_energy(void **unused)
{
  (void)unused;
  static const char *const settings[2] = {"", "end_mass_ratio=100"};
  for (int i = 0; i < 2; ++i) {
    scene_run *run = start_scene("chain", settings[i], 20);
    run_scene(run, 10.0);
    assert_below(told(run, "energy_rel_max"), 0.001);
    scene_destroy(run);
  }
}

// ---------------------------------------------------------------------------------------------
// Marbles: Figures 12, 13, 15 and the run of Figure 14 are in test_impact.c

static void fig_1_marbles_of_the_sculpture_go_round_for_a_minute(void **unused)
{
  (void)unused;
  static const int substeps[3] = {8, 10, 20};
  for (int i = 0; i < 3; ++i) {
    scene_run *run = start_scene("sculpture", "count=30", substeps[i]);
    run_scene(run, 60.0);
    assert_close(told(run, "escaped"), 0.0, 0.0);
    assert_below(5.0, told(run, "rounds"));
    scene_destroy(run);
  }
}

// ---------------------------------------------------------------------------------------------
// Figure 16: the steering linkage

static void fig_16_wheels_follow_the_servo(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("steering", "mass_ratio=10", 20);
  for (int i = 0; i < 10; ++i) {
    run_scene(run, 0.55);
    assert_below(scene_metric_value(run, "left_error_rad"), 5e-3);
    assert_below(scene_metric_value(run, "right_error_rad"), 5e-3);
  }
  assert_below(told(run, "max_joint_error_m"), 1e-4);
  scene_destroy(run);
}

static void fig_16_wheels_follow_the_servo_at_1_to_760(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("steering", "", 20);
  for (int i = 0; i < 10; ++i) {
    run_scene(run, 0.55);
    assert_below(scene_metric_value(run, "right_error_rad"), 2e-3);
  }
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Figure 17: the robot arm. Reference: the position of its hand as a function of its angles.

static void hand_at(const double angle[ROBOT_JOINTS], double hand[3])
{
  double along = 0.0, height = (double)robot_joints[0].length, bend = 0.0;
  for (int i = 1; i < ROBOT_JOINTS; ++i) {
    bend += angle[i];
    along -= (double)robot_joints[i].length * sin(bend);
    height += (double)robot_joints[i].length * cos(bend);
  }
  hand[0] = along * cos(angle[0]);
  hand[1] = height;
  hand[2] = -along * sin(angle[0]);
}

static double distance_at(const double angle[ROBOT_JOINTS], const double target[3])
{
  double hand[3];
  hand_at(angle, hand);
  return sqrt((hand[0] - target[0]) * (hand[0] - target[0]) +
              (hand[1] - target[1]) * (hand[1] - target[1]) +
              (hand[2] - target[2]) * (hand[2] - target[2]));
}

// Coordinate descent within the limits, with shrinking steps.
static double descend(double angle[ROBOT_JOINTS], const double target[3])
{
  double best = distance_at(angle, target);
  for (double step = 0.2; step > 1e-6;) {
    bool better = false;
    for (int i = 0; i < 2 * ROBOT_JOINTS; ++i) {
      double old = angle[i / 2], tried = old + (i % 2 ? step : -step);
      angle[i / 2] =
          fmin(fmax(tried, (double)robot_joints[i / 2].lo), (double)robot_joints[i / 2].hi);
      double now = distance_at(angle, target);
      better = better || now < best;
      angle[i / 2] = now < best ? angle[i / 2] : old;
      best = fmin(best, now);
    }
    step *= better ? 1.0 : 0.7;
  }
  return best;
}

// Coordinate descent from a grid of starts.
static double closest_distance(const double target[3])
{
  enum { STARTS = 4 };
  double best = (double)INFINITY;
  for (int start = 0; start < STARTS * STARTS * STARTS * STARTS; ++start) {
    double angle[ROBOT_JOINTS];
    for (int i = 0, rest = start; i < ROBOT_JOINTS; ++i, rest /= STARTS) {
      double share = ((double)(rest % STARTS) + 0.5) / (double)STARTS;
      angle[i] =
          (double)robot_joints[i].lo + share * (double)(robot_joints[i].hi - robot_joints[i].lo);
    }
    best = fmin(best, descend(angle, target));
  }
  return best;
}

static void reach_for(const double target[3])
{
  char settings[96];
  snprintf(settings, sizeof settings, "radius=0 x=%g y=%g z=%g", target[0], target[1], target[2]);
  double expected = closest_distance(target);
  scene_run *run = start_scene("robot_arm", settings, 20);
  run_scene(run, 15.0);
  double distance = scene_metric_value(run, "target_distance_m");
  print_message("  target %s: %.5f m away, %.5f m at best\n", settings, distance, expected);
  assert_close(distance, expected, expected > 1e-3 ? 0.02 * expected : 1e-3);
  assert_below(told(run, "limit_error_rad"), 5e-3);
  assert_below(told(run, "max_joint_error_rad"), 0.02); // over the whole run
  assert_below(told(run, "arm_speed"), 1e-3);
  scene_destroy(run);
}

static void fig_17_robot_arm_reaches_its_target(void **unused)
{
  (void)unused;
  static const double targets[4][3] = {
      {0.7, 0.9, 0.0}, {0.3, 1.3, 0.6}, {0.5, 0.3, -0.7}, {0.9, 0.6, 0.4}};
  for (int i = 0; i < 4; ++i) {
    reach_for(targets[i]);
  }
}

static void fig_17_robot_arm_comes_as_close_as_it_can(void **unused)
{
  (void)unused;
  static const double targets[4][3] = {
      {3.0, 0.9, 0.0}, {0.1, 0.5, 0.0}, {0.3, 2.5, 1.0}, {0.2, -2.0, 0.5}};
  for (int i = 0; i < 4; ++i) {
    reach_for(targets[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Figure 18: the rope

// Kept straight, every joint takes an equal share of the twist, and the torque at the hand is that
// share over the compliance.
static void fig_18_rope_twists_evenly(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("rope", "turns=2 reach=1 twist=0 swing=0 turning=3", 20);
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  run_scene(run, 20.0);
  double share = 2.0 * 2.0 * (double)TN_PI / 101.0;
  assert_close(told(run, "twist_min_rad"), share, 0.01 * share);
  assert_close(told(run, "twist_max_rad"), share, 0.01 * share);
  assert_close(fabs(told(run, "torque_nm")), share / 0.1, 0.01 * share / 0.1);
  assert_below(told(run, "swing_max_rad"), 1e-3);
  scene_destroy(run);
}

// With six turns it coils and comes to rest, with no joint far beyond its limits and their
// compliance.
static void fig_18_twisted_rope_comes_to_rest(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("rope", "", 20);
  run_scene(run, 20.0);
  assert_below(told(run, "max_joint_error_m"), 0.01);
  assert_below(told(run, "rms_speed_end"), 0.05);
  double share = 6.0 * 2.0 * (double)TN_PI / 101.0;
  assert_close(told(run, "twist_max_rad"), share, 0.1 * share);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Mueller's text on joints; Deul et al. 2014; Seabra et al. 2022

static void joints_text_all_joints_act_as_described(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("joints_basic", "", 20);
  run_scene(run, 10.0);
  static const char *const errors[] = {
      "ball_energy_rel", "hinge_energy_rel", "slider_speed_error_rel", "motor_speed_error_rel",
      "servo_error_rad", "lift_error_m",     "lift_spin_error_rel",    "wheel_speed_error_rel"};
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; ++i) {
    assert_below(fabs(told(run, errors[i])), 1e-3);
  }
  assert_below(told(run, "damped_hinge_error_rad"), 0.01);
  assert_below(told(run, "damped_slider_travel_error_rel"), 0.01);
  scene_destroy(run);
}

static void deul_fig_1_mobile_of_127_holds(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("mobile", "count=127", 20);
  run_scene(run, 10.0);
  assert_below(told(run, "max_joint_error_m"), 0.005);
  assert_below(fabs(told(run, "energy_rel_max")), 0.01);
  scene_destroy(run);
}

// Springs in series share the gap evenly; rigid joints come to rest in a straight line.
static void seabra_fig_10_infeasible_chain_comes_to_rest(void **unused)
{
  (void)unused;
  static const char *const settings[2] = {"", "compliance=1e-5"};
  for (int i = 0; i < 2; ++i) {
    scene_run *run = start_scene("unsolvable", settings[i], 20);
    run_scene(run, 20.0);
    assert_below(told(run, "rms_speed_end"), 1e-3);
    assert_below(told(run, "sag_m"), 0.1); // for a length of 10 m
    if (i == 1) {
      double gap = scene_metric_value(run, "gap_expected_m");
      assert_close(told(run, "gap_min_m"), gap, 0.005 * gap);
      assert_close(told(run, "gap_max_m"), gap, 0.005 * gap);
    }
    scene_destroy(run);
  }
}

// With rigid joints: no link moves from frame to frame.
static void seabra_fig_10_links_of_the_infeasible_chain_stand_still(void **unused)
{
  (void)unused;
  static const char *const settings[2] = {"", "stretch=1.3"};
  for (int k = 0; k < 2; ++k) {
    scene_run *run = start_scene("unsolvable", settings[k], 20);
    run_scene(run, 5.0);
    double worst = 0.0;
    for (int i = 0; i < run->body_count; ++i) {
      tn_pos before = tn_body_transform(run->world, run->bodies[i]).p;
      run_scene(run, 1.0 / 60.0);
      tn_pos after = tn_body_transform(run->world, run->bodies[i]).p;
      worst = fmax(worst, (double)tn_length(tn_between_points(before, after)) * 60.0);
    }
    print_message("  links move by %.1e m/s\n", worst);
    assert_below(worst, 1e-3);
    scene_destroy(run);
  }
}

// In the position methods a mass moves straight and is projected back to its circle, so that a
// rotation by f is followed by one of atan(sin f / (2 - cos f)): see test_soft.c.
static double loss_by_positions(double speed, double seconds)
{
  double h = 1.0 / 1200.0, turn = atan(speed * h);
  for (int i = 1; i < (int)(seconds / h + 0.5); ++i) {
    turn = atan(sin(turn) / (2.0 - cos(turn)));
  }
  return 1.0 - sin(turn) / (speed * h);
}

// A stiff cube loses what each of its particles loses on its own circle.
static void dahl_fig_2_and_3_angular_momentum_is_kept(void **unused)
{
  (void)unused;
  static const char *const names[2] = {"rotor", "soft_cube_spin"};
  for (int i = 0; i < 2; ++i) {
    for (int m = 0; m < TEST_METHODS; ++m) {
      scene_run *run = start_by(names[i], "", test_methods[m], 20, 1);
      run_scene(run, 10.0);
      assert_below(told(run, "angular_momentum_rel"), 1e-5);
      scene_destroy(run);
    }
    scene_run *lossy = start_by(names[i], "keep_momentum=0", TN_METHOD_XPBD, 20, 1);
    run_scene(lossy, 10.0);
    assert_close(told(lossy, "angular_momentum_rel"), loss_by_positions(10.0, 10.0), 0.01);
    scene_destroy(lossy);
  }
}

// The cubes lose energy to vibration; contacts conserve both momenta.
static void dahl_four_cubes_collide_and_keep_their_momenta(void **unused)
{
  (void)unused;
  static const char *const settings[2] = {"", "tetrahedra=0"};
  for (int i = 0; i < 2; ++i) {
    scene_run *run = start_scene("four_cubes", settings[i], 20);
    run_scene(run, 3.0);
    assert_below(told(run, "momentum_rel"), 1e-5);
    assert_below(told(run, "angular_momentum_rel"), 1e-5);
    assert_below(told(run, "energy_rel_final"), -0.1); // they did collide
    scene_destroy(run);
  }
}

// The only external forces are those of the ground, which are known.
static void dahl_bowling_ball_passes_its_momentum_on(void **unused)
{
  (void)unused;
  for (int i = 0; i < TEST_METHODS; ++i) {
    scene_run *run = start_by("bowling", "", test_methods[i], 20, 1);
    run_scene(run, 3.0);
    assert_below(told(run, "momentum_rel"), 1e-5);
    assert_below(told(run, "energy_rel_max"), 0.0);
    assert_below(told(run, "standing"), 9.0);
    scene_destroy(run);
  }
}

// "They settle in a steady and jitter-free state after a few seconds."
static void deul_fig_3_tori_settle_on_the_cloth(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("tori_on_cloth", "", 20);
  run_scene(run, 8.0);
  assert_close(told(run, "held"), 10.0, 0.0);
  assert_below(told(run, "max_torus_speed_end"), 0.01);
  assert_below(told(run, "rms_speed_end"), 0.01);
  scene_destroy(run);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fig_4_springs_stretch_by_load_times_compliance),
      cmocka_unit_test(fig_5_servo_holds_with_force_times_lever),
      cmocka_unit_test(fig_6_a_gram_carries_a_kilogram_on_springs),
      cmocka_unit_test(fig_6_a_gram_carries_a_kilogram_rigidly),
      cmocka_unit_test(fig_7_limits_and_targets_are_kept),
      cmocka_unit_test(fig_8_pendula_keep_their_energy),
      cmocka_unit_test(fig_9_substeps_are_better_than_iterations),
      cmocka_unit_test(fig_10_and_11_substeps_hold_the_bunnies),
      cmocka_unit_test(seabra_fig_2_pendulum_of_distances_keeps_its_energy),
      cmocka_unit_test(seabra_fig_4_chain_of_100_gains_no_energy),
      cmocka_unit_test(seabra_fig_4_chain_of_100_keeps_its_energy),
      cmocka_unit_test(chain_without_a_heavy_end_keeps_its_energy_as_substeps_grow),
      cmocka_unit_test(seabra_fig_4_chain_of_500_holds),
      cmocka_unit_test(seabra_fig_4_chains_hold_at_few_substeps),
      cmocka_unit_test(fig_1_marbles_of_the_sculpture_go_round_for_a_minute),
      cmocka_unit_test(fig_16_wheels_follow_the_servo),
      cmocka_unit_test(fig_16_wheels_follow_the_servo_at_1_to_760),
      cmocka_unit_test(fig_17_robot_arm_reaches_its_target),
      cmocka_unit_test(fig_17_robot_arm_comes_as_close_as_it_can),
      cmocka_unit_test(fig_18_rope_twists_evenly),
      cmocka_unit_test(fig_18_twisted_rope_comes_to_rest),
      cmocka_unit_test(joints_text_all_joints_act_as_described),
      cmocka_unit_test(dahl_fig_2_and_3_angular_momentum_is_kept),
      cmocka_unit_test(dahl_four_cubes_collide_and_keep_their_momenta),
      cmocka_unit_test(dahl_bowling_ball_passes_its_momentum_on),
      cmocka_unit_test(deul_fig_1_mobile_of_127_holds),
      cmocka_unit_test(deul_fig_3_tori_settle_on_the_cloth),
      cmocka_unit_test(seabra_fig_10_infeasible_chain_comes_to_rest),
      cmocka_unit_test(seabra_fig_10_links_of_the_infeasible_chain_stand_still),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
