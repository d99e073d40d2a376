// Piles of 2,000 come to rest, and nothing gets lost. 20 substeps. A brief run has a sixth of the
// capsules and a quarter of the mixed bodies on as much less ground, so that they lie as high.
#include "contact_support.h"

static scene_run *start_capsules(int count, const char *settings)
{
  char all[64];
  snprintf(all, sizeof all, "count=%d %s", count, settings);
  return start_scene("capsules", all, 20);
}

// Returns the rms speed and destroys the scene.
static double check_capsules(scene_run *run)
{
  told(run, "contact_points");
  told(run, "height_m");
  told(run, "max_penetration_run");
  assert_close(told(run, "escaped"), 0.0, 0.0);
  assert_below(told(run, "mean_penetration_m"), 1e-4);
  assert_below(told(run, "max_penetration_m"), 5e-3);
  double speed = told(run, "rms_speed_end");
  scene_destroy(run);
  return speed;
}

// In one of about 15 piles a capsule keeps rocking between two round ends, as nothing stops rolling
// without rolling friction: of three brief piles two are at rest.
static void capsules_settle_in_their_box(void **unused)
{
  (void)unused;
  int piles = test_long() ? 1 : 3, rocking = 0;
  for (int i = 0; i < piles; ++i) {
    scene_run *run =
        test_long() ? start_capsules(2000, "") : start_capsules(312 + 8 * i, "width=4");
    run_scene(run, 20.0);
    double speed = check_capsules(run);
    assert_below(speed, 0.015);
    rocking += speed >= 5e-3;
  }
  assert_in_range(rocking, 0, test_long() ? 0 : 1);
}

// The capsules fall from up to 58 m and push each other into the heap, by up to half of their
// thickness. Within a second after the last has landed, at 34 m/s after 3.4 s, no deep penetration
// is left.
static void capsules_driven_into_each_other_come_out(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("capsules", "count=500 width=4", 20);
  run_scene(run, 4.4);
  assert_close(told(run, "escaped"), 0.0, 0.0);
  assert_below(0.05, told(run, "max_penetration_run"));
  assert_below(told(run, "max_penetration_m"), 5e-3);
  scene_destroy(run);
}

// Without friction the capsules slide into gaps for 30 to 50 s.
static void capsules_settle_without_friction(void **unused)
{
  (void)unused;
  scene_run *run =
      test_long() ? start_capsules(2000, "friction=0") : start_capsules(320, "friction=0 width=4");
  do {
    run_scene(run, 2.0);
  } while (run->time < 80.0 && scene_metric_value(run, "rms_speed_end") >= 5e-3);
  assert_below(check_capsules(run), 5e-3);
}

// Root mean square speed of all bodies but the fastest.
static double rms_of_the_others(const scene_run *run)
{
  double sum = 0.0, most = 0.0;
  for (int i = 0; i < run->body_count; ++i) {
    tn_vec3 v = tn_body_velocity(run->world, run->bodies[i]);
    double square = (double)tn_dot(v, v);
    sum += square;
    most = fmax(most, square);
  }
  return sqrt((sum - most) / (run->body_count - 1));
}

// About two contacts per body, at rest except for single bodies that slip or topple. In the last
// two seconds the energy never rises by more than the lift of one body by 5 mm.
static void deul_fig_2_mixed_pile_settles_around_poles(void **unused)
{
  (void)unused;
  int count = test_cases(500, 2000);
  scene_run *run =
      start_scene("pile", test_long() ? "count=2000 across=10" : "count=500 across=5", 20);
  run_scene(run, 18.0);
  told(run, "max_penetration_run");
  double least = scene_energy_error(run), rise = 0.0, speed = 0.0;
  for (int frame = 0; frame < 120; ++frame) {
    scene_step(run, DT);
    least = fmin(least, scene_energy_error(run));
    rise = fmax(rise, scene_energy_error(run) - least);
    speed += rms_of_the_others(run) / 120.0;
  }
  print_message("  in 2 s: rms speed of all but one %.4f m/s, energy rises by %.3f J\n", speed,
                rise * run->energy_scale);
  assert_below(speed, 0.005);
  assert_below(rise * run->energy_scale, 1.0 * 9.81 * 5e-3);
  assert_below(told(run, "max_penetration_m"), 5e-3);
  told(run, "mean_penetration_m");
  assert_close(told(run, "escaped"), 0.0, 0.0);
  assert_below(2.0 * count, told(run, "contacts"));
  scene_destroy(run);
}

// The contact forces of the ground carry the weight of the pile.
static void ground_bears_the_pile(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("pile", "count=300 across=5", 20);
  run_scene(run, 10.0);
  assert_below(told(run, "momentum_rel"), 1e-4);
  tn_contact *contacts = malloc(5000 * sizeof *contacts);
  int count = tn_world_contacts(run->world, contacts, 5000);
  assert_in_range(count, 300, 5000);
  double up = 0.0;
  for (int i = 0; i < count; ++i) {
    bool a = tn_body_get_type(run->world, contacts[i].body_a) == TN_BODY_STATIC;
    bool b = tn_body_get_type(run->world, contacts[i].body_b) == TN_BODY_STATIC;
    tn_vec3 force = contacts[i].friction_force;
    for (int k = 0; k < contacts[i].count; ++k) {
      force = tn_add(force, tn_scale(contacts[i].points[k].normal_force, contacts[i].normal));
    }
    up += (double)force.y * (a - b);
  }
  free(contacts);
  assert_close(up, 300.0 * 9.81, 0.005 * 300.0 * 9.81);
  scene_destroy(run);
}

static void dominoes_all_fall(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("dominoes", "count=50", 20);
  run_scene(run, 5.0);
  assert_close(told(run, "fallen"), 50.0, 0.0);
  scene_destroy(run);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(capsules_settle_in_their_box),
      cmocka_unit_test(capsules_driven_into_each_other_come_out),
      cmocka_unit_test(capsules_settle_without_friction),
      cmocka_unit_test(deul_fig_2_mixed_pile_settles_around_poles),
      cmocka_unit_test(ground_bears_the_pile),
      cmocka_unit_test(dominoes_all_fall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
