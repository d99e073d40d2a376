// Figures with soft and rigid bodies, as test_figures.c: Mueller et al. 2020 unless stated
// otherwise.
#include "contact_support.h"

// ---------------------------------------------------------------------------------------------
// Figures 1 and 16: the car

// Half a minute and three rounds, or 12 s and one round: over every obstacle, steered by an arm of
// a gram. The wheels follow the servo except for the effect of the suspension's travel on the rods;
// the tyres' walls are 30 mm.
static void fig_1_and_16_car_drives_over_its_obstacles(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("car", "", 20);
  double bulge_sum = 0.0;
  int tenths = test_cases(120, 300);
  for (int i = 0; i < tenths; ++i) {
    run_scene(run, 0.1);
    assert_true(scene_metric_value(run, "upright") > 0.9);
    assert_below(scene_metric_value(run, "servo_error_rad"), 1e-3);
    assert_below(scene_metric_value(run, "wheel_error_rad"), 0.06);
    assert_below(scene_metric_value(run, "tyre_volume_rel"), 0.1);
    assert_below(scene_metric_value(run, "tyre_bulge_m"), 0.03);
    bulge_sum += scene_metric_value(run, "tyre_bulge_m");
  }
  assert_below(bulge_sum / tenths, 0.008);
  assert_true(told(run, "rounds") > test_cases(1, 3));
  told(run, "way_m");
  assert_below(told(run, "max_joint_error_m"), 1e-4);
  assert_below(told(run, "max_penetration_run"), 1e-3);
  scene_destroy(run);
}

// With 1,104 hexahedra per tyre: the ground carries the whole weight, and no other force acts.
static void fig_16_fine_tyres_carry_the_car(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("car", "around=46 wall=3 across=8 speed=0 bumps=0 obstacles=0", 20);
  run_scene(run, 0.7);
  assert_close(told(run, "particles"), 4.0 * 46.0 * 4.0 * 9.0, 0.0);
  assert_below(told(run, "momentum_rel"), 1e-5);
  assert_below(told(run, "tyre_bulge_m"), 0.005);
  assert_below(told(run, "rms_speed_end"), 0.05);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Dahl and Bargteil 2019; Deul et al. 2014

static scene_run *start_by(const char *name, const char *settings, tn_method method, int substeps)
{
  tn_world_def def = test_world_def(substeps, method);
  return start_scene_by(name, settings, &def);
}

// Free rotation conserves angular momentum; in the position methods only with the correction.
// Averaged corrections need two iterations: with one the elements are softer than their material,
// and more strained.
static void dahl_ship_keeps_its_angular_momentum(void **unused)
{
  (void)unused;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world_def def = test_world_def(20, test_methods[m]);
    def.iterations = test_methods[m] == TN_METHOD_JACOBI ? 2 : 1;
    scene_run *run = start_scene_by("ship", "cell=0.12", &def);
    run_scene(run, 2.0);
    assert_below(told(run, "angular_momentum_rel"), 1e-5);
    assert_below(fabs(told(run, "energy_rel_max")), 0.1);
    scene_destroy(run);
  }
  scene_run *lossy = start_by("ship", "cell=0.12 keep_momentum=0", TN_METHOD_XPBD, 20);
  run_scene(lossy, 2.0);
  assert_below(1e-3, told(lossy, "angular_momentum_rel"));
  scene_destroy(lossy);
}

// In flight only gravity acts. In the position methods the loss of the wheels remains.
static double loss_in_flight(const char *settings, tn_method method)
{
  scene_run *run = start_by("car_ramp", settings, method, 20);
  run_scene(run, 1.2);
  assert_below(0.2, told(run, "flight_s"));
  double loss = told(run, "angular_momentum_rel");
  scene_destroy(run);
  return loss;
}

static void dahl_car_ramp_keeps_its_angular_momentum_in_flight(void **unused)
{
  (void)unused;
  assert_below(loss_in_flight("cell=0.16", TN_METHOD_TENON), 1e-4);
  double kept = loss_in_flight("cell=0.16", TN_METHOD_XPBD);
  assert_below(kept, loss_in_flight("cell=0.16 keep_momentum=0", TN_METHOD_XPBD));
}

// Frictionless ground: nothing changes the spin about the vertical.
static double loss_on_ice(const char *settings, tn_method method)
{
  scene_run *run = start_by("car_spin", settings, method, 20);
  run_scene(run, 2.0);
  assert_below(-0.01, told(run, "lowest_m"));
  double loss = fabs(told(run, "angular_momentum_rel"));
  scene_destroy(run);
  return loss;
}

static void dahl_car_spin_keeps_its_angular_momentum(void **unused)
{
  (void)unused;
  assert_below(loss_on_ice("cell=0.16", TN_METHOD_TENON), 1e-4);
  double kept = loss_on_ice("cell=0.16", TN_METHOD_XPBD);
  assert_below(kept, 0.5 * loss_on_ice("cell=0.16 keep_momentum=0", TN_METHOD_XPBD));
}

// The balloon keeps its volume, yields to the elk, takes some of its momentum and is not
// penetrated; a particle may be pinched between wheel and ground.
static void deul_fig_5_elk_pushes_the_duck_away(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("elk_and_duck", "", 20);
  for (int i = 0; i < 20; ++i) {
    run_scene(run, 0.1);
    assert_below(fabs(scene_metric_value(run, "duck_volume_rel")), 0.01);
    assert_below(scene_metric_value(run, "duck_depth_m"), 0.02);
  }
  assert_below(told(run, "momentum_rel"), 1e-5);
  assert_below(told(run, "energy_rel_max"), 0.02);
  assert_below(0.5, told(run, "duck_way_m"));
  assert_below(told(run, "elk_speed"), 1.5);
  scene_destroy(run);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fig_1_and_16_car_drives_over_its_obstacles),
      cmocka_unit_test(fig_16_fine_tyres_carry_the_car),
      cmocka_unit_test(dahl_ship_keeps_its_angular_momentum),
      cmocka_unit_test(dahl_car_ramp_keeps_its_angular_momentum_in_flight),
      cmocka_unit_test(dahl_car_spin_keeps_its_angular_momentum),
      cmocka_unit_test(deul_fig_5_elk_pushes_the_duck_away),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
