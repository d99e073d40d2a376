// Number of substeps: the relative penetration of contacts is proportional to g h^2 / size.
#include "scenes.h"
#include "support.h"

static const float FRAME = 1.0f / 60.0f;

static void named_settings_have_the_documented_substeps(void **state)
{
  (void)state;
  assert_int_equal(tn_substeps_for(TN_QUALITY_FAST, 9.81f, 1.0f, FRAME), TN_QUALITY_FAST);
  assert_int_equal(tn_substeps_for(TN_QUALITY_DEFAULT, 9.81f, 1.0f, FRAME), TN_QUALITY_DEFAULT);
  assert_int_equal(tn_substeps_for(TN_QUALITY_ACCURATE, 9.81f, 1.0f, FRAME), TN_QUALITY_ACCURATE);
  assert_int_equal(tn_default_world_def().substeps, TN_QUALITY_DEFAULT);
}

// Twice the substeps are needed for a quarter of the size, four times the gravity, or steps twice
// as long.
static void substeps_scale_with_size_gravity_and_step(void **state)
{
  (void)state;
  assert_int_equal(tn_substeps_for(TN_QUALITY_DEFAULT, 9.81f, 0.25f, FRAME), 16);
  assert_int_equal(tn_substeps_for(TN_QUALITY_DEFAULT, 4.0f * 9.81f, 1.0f, FRAME), 16);
  assert_int_equal(tn_substeps_for(TN_QUALITY_DEFAULT, 9.81f, 1.0f, 2.0f * FRAME), 16);
  assert_int_equal(tn_substeps_for(TN_QUALITY_DEFAULT, 9.81f, 0.01f, FRAME), 80);
  assert_int_equal(tn_substeps_for(TN_QUALITY_DEFAULT, 9.81f, 1e6f, FRAME), 2);
  assert_int_equal(tn_substeps_for(TN_QUALITY_DEFAULT, 0.0f, 1.0f, FRAME), 2);
  assert_int_equal(tn_substeps_for(TN_QUALITY_DEFAULT, 1e30f, 1e-6f, 1.0f), 10000);
}

static void bad_arguments_are_refused(void **state)
{
  (void)state;
  assert_int_equal(tn_substeps_for(0, 9.81f, 1.0f, FRAME), 0);
  assert_int_equal(tn_substeps_for(TN_QUALITY_FAST, -1.0f, 1.0f, FRAME), 0);
  assert_int_equal(tn_substeps_for(TN_QUALITY_FAST, NAN, 1.0f, FRAME), 0);
  assert_int_equal(tn_substeps_for(TN_QUALITY_FAST, 9.81f, 0.0f, FRAME), 0);
  assert_int_equal(tn_substeps_for(TN_QUALITY_FAST, 9.81f, NAN, FRAME), 0);
  assert_int_equal(tn_substeps_for(TN_QUALITY_FAST, 9.81f, 1.0f, 0.0f), 0);
}

// Penetration of the cubes of a tower, relative to their size.
static double depth_of(float size, float gravity, int substeps)
{
  const scene *which = scene_find("stack");
  scene_settings settings = scene_defaults(which);
  scene_set(which, &settings, "count", 5.0);
  scene_set(which, &settings, "size", (double)size);
  // Straight towers start with their static loads and do not sink.
  scene_set(which, &settings, "offset", 0.02 * (double)size);
  tn_world_def def = tn_default_world_def();
  def.substeps = substeps;
  def.sleeping = false;
  scene_run *run = scene_create(which, &settings, &def);
  assert_non_null(run);
  tn_world_set_gravity(run->world, tn_v3(0.0f, -gravity, 0.0f));
  double deepest = 0.0;
  for (int i = 0; i < 180; ++i) {
    scene_advance(run, FRAME);
    deepest = fmax(deepest, scene_metric_value(run, "max_penetration_m"));
  }
  assert_int_equal((int)scene_metric_value(run, "fallen"), 0);
  scene_destroy(run);
  return deepest / (double)size;
}

static void penetration_of_towers_follows_the_law(void **state)
{
  (void)state;
  static const float cases[][2] = {
      {0.01f, 9.81f}, {0.1f, 9.81f}, {10.0f, 9.81f}, {1.0f, 1.62f}, {0.1f, 98.1f}};
  double expected = depth_of(1.0f, 9.81f, TN_QUALITY_DEFAULT);
  for (int i = 0; i < 5; ++i) {
    int substeps = tn_substeps_for(TN_QUALITY_DEFAULT, cases[i][1], cases[i][0], FRAME);
    double depth = depth_of(cases[i][0], cases[i][1], substeps);
    print_message("size %g, gravity %g, %d substeps: %.3g\n", (double)cases[i][0],
                  (double)cases[i][1], substeps, depth / expected);
    assert_below(depth, 1.3 * expected);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(named_settings_have_the_documented_substeps),
      cmocka_unit_test(substeps_scale_with_size_gravity_and_step),
      cmocka_unit_test(bad_arguments_are_refused),
      cmocka_unit_test(penetration_of_towers_follows_the_law),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
