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

// ---------------------------------------------------------------------------------------------
// Rows of crossed beams that are dropped on each other

// Two beams of 2 x 0.2 x 0.2 m a row, every other row crosswise, `gap` between them: the lowest row
// starts in the ground, the top one falls through the sum of the gaps. Returns whether all rows lie
// on each other after 5 s; beams that leave the tower fall by a row at least.
static bool dropped_rows_stand(int rows, float gap, float first, int substeps)
{
  tn_world_def def = test_world_def(substeps, TN_METHOD_TENON);
  def.sleeping = true;
  tn_world *world = tn_world_create(&def);
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_BOX);
  ground.half_extents = tn_v3(20.0f, 1.0f, 20.0f);
  ground.position = tn_v3(0.0f, -1.0f, 0.0f);
  assert_false(TN_IS_NULL(tn_shape_create(world, test_no_body, &ground)));
  tn_shape_def beam = tn_default_shape_def(TN_SHAPE_BOX);
  tn_body_id ids[60];
  for (int i = 0; i < 2 * rows; ++i) {
    bool crosswise = i / 2 % 2 == 1;
    float aside = i % 2 ? 0.8f : -0.8f;
    tn_body_def body = test_body_def();
    body.position =
        tn_p3(crosswise ? 0.0 : (double)aside, (double)(first + (0.2f + gap) * (float)(i / 2)),
              crosswise ? (double)aside : 0.0);
    ids[i] = tn_body_create(world, &body);
    beam.half_extents = crosswise ? tn_v3(1.0f, 0.1f, 0.1f) : tn_v3(0.1f, 0.1f, 1.0f);
    assert_false(TN_IS_NULL(tn_shape_create(world, ids[i], &beam)));
    assert_true(tn_body_set_mass_from_shapes(world, ids[i]));
  }
  test_run(world, 1.0f / 60.0f, 300);
  bool stands = true;
  for (int i = 0; i < 2 * rows; ++i) {
    double rest = 0.1 + 0.2 * (i / 2);
    stands &= fabs(tn_body_position(world, ids[i]).y - rest) < 0.15;
  }
  tn_world_destroy(world);
  return stands;
}

// Beams tilt as the blow passes through the tower, so that they touch along edges.
static void towers_of_dropped_rows_stand(void **unused)
{
  (void)unused;
  uint32_t random = 3;
  int fallen = 0;
  for (int i = 0; i < test_cases(9, 60); ++i) {
    int substeps = (int[]){4, 8, 20}[i % 3];
    int rows = i < 3 ? 30 : 10 + test_index(&random, 21);
    float gap = i < 3 ? 0.01f : test_between(&random, 0.0f, 0.01f);
    float first = i < 3 ? 0.05f : test_between(&random, 0.05f, 0.1f);
    if (!dropped_rows_stand(rows, gap, first, substeps)) {
      print_error("%d rows, gaps of %g m, %d substeps: fallen\n", rows, (double)gap, substeps);
      fallen += 1;
    }
  }
  assert_int_equal(fallen, 0);
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
      cmocka_unit_test(towers_of_dropped_rows_stand),
      cmocka_unit_test(seabra_fig_6_pyramid_does_not_drift_or_sink),
      cmocka_unit_test(pyramid_is_the_same_far_away),
      cmocka_unit_test(seabra_fig_9_pyramid_overlapping_by_a_tenth_separates_slowly),
      cmocka_unit_test(seabra_fig_9_pyramid_overlapping_by_four_tenths_separates_slowly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
