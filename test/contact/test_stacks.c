// Towers and pyramids stand. Unless said: 20 substeps, friction 0.6, cubes of 1 m and 1 kg.
#include "contact_support.h"

static void check_tower(const char *settings, int substeps, double drift)
{
  scene_run *run = start_scene("stack", settings, substeps);
  run_scene(run, 30.0);
  told(run, "top_drop_m");
  assert_below(told(run, "top_drift_m"), drift);
  assert_close(told(run, "fallen"), 0.0, 0.0);
  scene_destroy(run);
}

static void seabra_fig_5_tower_of_10_does_not_drift(void **unused)
{
  (void)unused;
  check_tower("count=10", 20, 1e-4);
}

static void tower_of_20_does_not_drift(void **unused)
{
  (void)unused;
  check_tower("count=20", 20, 1e-4);
}

static void tower_of_50_does_not_drift(void **unused)
{
  (void)unused;
  check_tower("count=50", 20, 1e-4);
}

static void tower_of_100_stands(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("stack", "count=100", 20);
  run_scene(run, 30.0);
  assert_close(told(run, "fallen"), 0.0, 0.0);
  assert_below(told(run, "top_drift_m"), 0.01);
  assert_below(told(run, "max_speed_end"), 0.005);
  scene_destroy(run);
}

static void check_stands(const char *name, const char *settings, int substeps)
{
  scene_run *run = start_scene(name, settings, substeps);
  run_scene(run, 30.0);
  told(run, "top_drift_m");
  told(run, "top_drop_m");
  assert_close(told(run, "fallen"), 0.0, 0.0);
  scene_destroy(run);
}

static void crooked_tower_of_50_stands(void **unused)
{
  (void)unused;
  check_stands("stack", "count=50 offset=0.01", 20);
  check_stands("stack", "count=50 offset=0.01", 4);
}

static void crooked_tower_of_100_stands(void **unused)
{
  (void)unused;
  check_stands("stack", "count=100 offset=0.01", 40);
  check_stands("stack", "count=100 offset=0.01", 20);
}

static void tower_of_20_stands_at_4_substeps(void **unused)
{
  (void)unused;
  check_stands("stack", "count=20", 4);
}

static void pyramid_stands_at_4_substeps(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("pyramid", "base=36", 4);
  run_scene(run, 30.0);
  assert_below(told(run, "max_drift_m"), 0.01);
  assert_below(told(run, "max_penetration_m"), 1e-3);
  assert_close(told(run, "fallen"), 0.0, 0.0);
  scene_destroy(run);
}

// A wall one cube thick, of a hundred layers in a long run and sixty in a brief one: it must
// neither sink before its loads are borne nor buckle under them.
static void tall_pyramid_stands_at_4_substeps(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("pyramid", test_long() ? "base=100" : "base=60", 4);
  run_scene(run, 8.0);
  assert_below(told(run, "max_drift_m"), 0.01);
  assert_below(told(run, "top_drop_m"), 0.01);
  assert_below(told(run, "max_penetration_m"), 1e-3);
  assert_close(told(run, "fallen"), 0.0, 0.0);
  scene_destroy(run);
}

static void heavy_load_stands_at_8_substeps(void **unused)
{
  (void)unused;
  check_stands("stack_heavy", "", 8);
  check_stands("stack_heavy", "offset=0.01", 8);
}

static void tower_of_50_stands_at_12_substeps(void **unused)
{
  (void)unused;
  check_stands("stack", "count=50", 12);
}

// A tonne on nine cubes of 1 kg.
static void heavy_load_sags_less_than_a_millimetre(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("stack_heavy", "", 20);
  run_scene(run, 30.0);
  assert_close(told(run, "fallen"), 0.0, 0.0);
  assert_below(told(run, "top_drop_m"), 1e-3);
  assert_below(told(run, "force_error_rel"), 0.005);
  scene_destroy(run);
}

// Drift is proportional to g h^2, independent of the size, so small cubes are the hardest.
static void towers_stand_at_any_size(void **unused)
{
  (void)unused;
  static const struct {
    const char *settings;
    double size;
  } towers[3] = {{"count=10 size=0.1", 0.1},
                 {"count=10 size=10 mass=1000", 10.0},
                 {"count=10 size=100 mass=1e6", 100.0}};
  for (int i = 0; i < 3; ++i) {
    scene_run *run = start_scene("stack", towers[i].settings, 20);
    run_scene(run, 10.0);
    assert_close(told(run, "fallen"), 0.0, 0.0);
    assert_below(told(run, "top_drift_m"), 1e-3 * towers[i].size);
    scene_destroy(run);
  }
}

// Statics: a semicircular arch stands if it is thicker than 0.1075 of its radius.
static void arch_stands_if_it_is_thick_enough(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("arch", "thickness=0.14", 20);
  run_scene(run, 10.0);
  assert_close(told(run, "fallen"), 0.0, 0.0);
  assert_below(told(run, "top_drop_m"), 0.01);
  scene_destroy(run);
  run = start_scene("arch", "thickness=0.08", 20);
  run_scene(run, 10.0);
  told(run, "top_drop_m");
  assert_close(told(run, "fallen"), 1.0, 0.0);
  scene_destroy(run);
}

// Each contact carries the weight of all cubes above it.
static void each_level_carries_the_weight_above(void **unused)
{
  (void)unused;
  static const char *const settings[3] = {"count=1", "count=10", "count=20 offset=0.01"};
  for (int i = 0; i < 3; ++i) {
    scene_run *run = start_scene("stack", settings[i], 20);
    run_scene(run, 10.0);
    assert_below(told(run, "force_error_rel"), 0.005);
    scene_destroy(run);
  }
}

// The change of momentum equals the impulse of gravity and of the reported ground forces, from the
// first step on.
static void contact_forces_explain_the_momentum(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("pyramid", "base=10 overlap_m=0.05", 20);
  run_scene(run, 3.0);
  assert_below(told(run, "momentum_rel"), 1e-4);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// The pyramid of 666

typedef struct pyramid_result {
  double drift, penetration;
} pyramid_result;

static pyramid_result run_pyramid(const char *settings)
{
  scene_run *run = start_scene("pyramid", settings, 20);
  run_scene(run, 20.0);
  assert_close(told(run, "fallen"), 0.0, 0.0);
  told(run, "rms_speed_end");
  pyramid_result result = {told(run, "top_drift_m"), told(run, "max_penetration_m")};
  scene_destroy(run);
  return result;
}

static void seabra_fig_6_pyramid_does_not_drift_or_sink(void **unused)
{
  (void)unused;
  pyramid_result result = run_pyramid("base=36");
  assert_below(result.drift, 5e-4);
  assert_below(result.penetration, 1e-4);
}

// The same figures as at the origin, to a tenth of their bounds.
static void pyramid_is_the_same_far_away(void **unused)
{
  (void)unused;
  pyramid_result near = run_pyramid(test_long() ? "base=36" : "base=18");
  static const char *const brief[1] = {"base=18 away=1e6"};
  static const char *const full[2] = {"base=36 away=1e5", "base=36 away=1e6"};
  for (int i = 0; i < test_cases(1, 2); ++i) {
    pyramid_result far = run_pyramid(test_long() ? full[i] : brief[i]);
    assert_close(far.drift, near.drift, 0.1 * 5e-4);
    assert_close(far.penetration, near.penetration, 0.1 * 1e-4);
  }
}

// Layers separate at a few centimetres per second: at the end every cube lies in its own layer and
// has moved sideways by less than `aside`.
static void check_overlap(const char *settings, double aside)
{
  enum { BASE = 36 };
  scene_run *run = start_scene("pyramid", settings, 20);
  run_scene(run, 16.0);
  assert_below(told(run, "max_speed_run"), 3.0);
  assert_below(told(run, "max_drift_m"), aside);
  int cube = 0;
  for (int layer = 0; layer < BASE; ++layer) {
    for (int i = 0; i < BASE - layer; ++i) {
      tn_pos p = tn_body_position(run->world, run->bodies[cube++]);
      assert_close(p.y, layer + 0.5, 0.1);
      assert_below(fabs(p.z), 0.25);
    }
  }
  scene_destroy(run);
}

static void seabra_fig_9_pyramid_overlapping_by_a_tenth_separates_slowly(void **unused)
{
  (void)unused;
  check_overlap("base=36 overlap_m=0.1", 0.25);
}

static void seabra_fig_9_pyramid_overlapping_by_four_tenths_separates_slowly(void **unused)
{
  (void)unused;
  check_overlap("base=36 overlap_m=0.4", 0.5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seabra_fig_5_tower_of_10_does_not_drift),
      cmocka_unit_test(tower_of_20_does_not_drift),
      cmocka_unit_test(tower_of_50_does_not_drift),
      cmocka_unit_test(tower_of_100_stands),
      cmocka_unit_test(crooked_tower_of_50_stands),
      cmocka_unit_test(crooked_tower_of_100_stands),
      cmocka_unit_test(tower_of_20_stands_at_4_substeps),
      cmocka_unit_test(pyramid_stands_at_4_substeps),
      cmocka_unit_test(tall_pyramid_stands_at_4_substeps),
      cmocka_unit_test(heavy_load_stands_at_8_substeps),
      cmocka_unit_test(tower_of_50_stands_at_12_substeps),
      cmocka_unit_test(heavy_load_sags_less_than_a_millimetre),
      cmocka_unit_test(towers_stand_at_any_size),
      cmocka_unit_test(arch_stands_if_it_is_thick_enough),
      cmocka_unit_test(each_level_carries_the_weight_above),
      cmocka_unit_test(contact_forces_explain_the_momentum),
      cmocka_unit_test(seabra_fig_6_pyramid_does_not_drift_or_sink),
      cmocka_unit_test(pyramid_is_the_same_far_away),
      cmocka_unit_test(seabra_fig_9_pyramid_overlapping_by_a_tenth_separates_slowly),
      cmocka_unit_test(seabra_fig_9_pyramid_overlapping_by_four_tenths_separates_slowly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
