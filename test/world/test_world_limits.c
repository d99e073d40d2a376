// Limits of a world (tn_limits): what is beyond waits or is refused, with a message that names it,
// and the rest goes on, the same in all lanes and threads; a limit that is not met changes nothing.
#include "support.h"

#include <tenon/recorder.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DT (1.0f / 60.0f)
enum { BALLS = 60, STEPS = 40, WIDE = 1 << 20 };

static tn_world_def limited(int lanes, int threads)
{
  tn_world_def def = test_world_def(4, TN_METHOD_TENON);
  def.lanes = lanes;
  def.threads = threads;
  return def;
}

static tn_body_id add_ball(tn_world *world, tn_pos at, const char *name)
{
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  tn_body_def def = test_body_def();
  ball.radius = 0.2f;
  def.position = at;
  def.name = name;
  tn_body_id body = tn_body_create(world, &def);
  tn_shape_create(world, body, &ball);
  return body;
}

// A heap of balls above a ground, no two of them deep inside each other.
static tn_world *heap_of_balls(const tn_world_def *def, uint32_t seed)
{
  tn_world *world = tn_world_create(def);
  assert_non_null(world);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, test_no_body, &plane);
  for (int i = 0; i < BALLS; ++i) {
    tn_vec3 off = test_vector(&seed, 0.01f);
    tn_pos at = tn_p3(0.4 * (i % 4), 0.3 + 0.4 * (double)(i / 16), 0.4 * (double)(i / 4 % 4));
    add_ball(world, tn_offset(at, off), "ball");
  }
  return world;
}

static int most_pairs(tn_world *world, uint32_t *status, uint64_t *hash)
{
  int most = 0;
  *status = 0;
  for (int i = 0; i < STEPS; ++i) {
    *status |= tn_world_step(world, DT);
    int pairs = tn_world_counters(world).pairs;
    most = pairs > most ? pairs : most;
  }
  assert_true(test_is_finite(world));
  *hash = tn_world_hash(world);
  return most;
}

static void pairs_stay_below_their_limit(void **state)
{
  (void)state;
  int lanes[4], widths = test_lanes(lanes);
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    uint32_t random = 2654435769u * seed, status;
    uint64_t hash, other;
    tn_world_def def = limited(lanes[0], 1);
    tn_world *world = heap_of_balls(&def, seed);
    int needed = most_pairs(world, &status, &hash);
    assert_int_equal(status & TN_STEP_CROWDED, 0);
    tn_world_destroy(world);
    def.limits.pairs = needed; // not met: the same bits
    world = heap_of_balls(&def, seed);
    assert_int_equal(most_pairs(world, &status, &other), needed);
    assert_int_equal(status & TN_STEP_CROWDED, 0);
    assert_true(hash == other);
    tn_world_destroy(world);
    def.limits.pairs = test_index(&random, needed);
    for (int k = 0; k < widths; ++k) {
      def.lanes = lanes[k];
      def.threads = 1 + 3 * (k % 2);
      test_forget_messages();
      world = heap_of_balls(&def, seed);
      assert_int_equal(most_pairs(world, &status, &hash), def.limits.pairs);
      assert_true(status & TN_STEP_CROWDED);
      assert_true(strstr(test_last_message(), "(ball): some contacts wait"));
      assert_true(k == 0 || hash == other);
      other = hash;
      tn_world_destroy(world);
    }
  }
}

// Pairs that waited are made once others have gone, and the bit goes with them.
static void waiting_pairs_come_back(void **state)
{
  (void)state;
  tn_world_def def = limited(0, 1);
  def.limits.pairs = BALLS;
  tn_world *world = heap_of_balls(&def, 7);
  assert_true(tn_world_step(world, DT) & TN_STEP_CROWDED);
  tn_body_id body[BALLS];
  int count = tn_world_bodies(world, body, BALLS);
  for (int i = 16; i < count; ++i) {
    tn_body_destroy(world, body[i]);
  }
  for (int i = 0; i < 240; ++i) {
    assert_int_equal(tn_world_step(world, DT) & TN_STEP_CROWDED, 0);
  }
  for (int i = 0; i < 16; ++i) {
    assert_close(tn_body_position(world, body[i]).y, 0.2, 0.01);
  }
  tn_world_destroy(world);
}

// A tray keeps its ground, whatever lies on it.
static void a_shape_has_its_own_limit(void **state)
{
  (void)state;
  tn_world_def def = limited(0, 1);
  def.limits.shape_pairs = 20;
  tn_world *world = tn_world_create(&def);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE),
               box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(4.0f, 0.25f, 4.0f);
  for (int i = 0; i < 40; ++i) { // so that the tray meets the ground last
    add_ball(world, tn_p3(0.5 * (i % 10) - 2.0, 0.7, 0.5 * (double)(i / 10)), "ball");
  }
  tn_body_id tray = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.25, 0.0));
  tn_shape_create(world, tray, &box);
  tn_body_set_mass_from_shapes(world, tray);
  tn_shape_create(world, test_no_body, &plane);
  for (int i = 0; i < 60; ++i) {
    assert_true(tn_world_step(world, DT) & TN_STEP_CROWDED);
    assert_true(i > 0 || tn_world_counters(world).pairs == 21); // twenty balls and the plane
    assert_close(tn_body_position(world, tray).y, 0.25, 0.01);
  }
  tn_world_destroy(world);
}

static tn_soft_id add_rope(tn_world *world, int particles)
{
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_rope(&def, particles - 1, 1.0f));
  tn_soft_id made = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  return made;
}

static void particles_are_counted(void **state)
{
  (void)state;
  tn_world_def def = limited(0, 1);
  def.limits.particles = 25;
  tn_world *world = tn_world_create(&def);
  tn_soft_id first = add_rope(world, 10);
  assert_true(tn_soft_is_valid(world, add_rope(world, 15)));
  uint64_t before = tn_world_hash(world);
  test_forget_messages();
  assert_false(tn_soft_is_valid(world, add_rope(world, 2)));
  assert_message("2 particles beside 25 are more than limits.particles, 25");
  assert_true(tn_world_hash(world) == before);
  tn_soft_destroy(world, first);
  assert_false(tn_soft_is_valid(world, add_rope(world, 11)));
  assert_true(tn_soft_is_valid(world, add_rope(world, 10)));
  assert_int_equal(tn_world_counters(world).particles, 25);
  test_run(world, DT, 10);
  tn_world_destroy(world);
}

typedef struct motion {
  tn_transform at[BALLS];
  tn_vec3 velocity[BALLS];
} motion;

static motion motion_of(const tn_world *world)
{
  motion m;
  memset(&m, 0, sizeof m);
  tn_body_id body[BALLS];
  int count = tn_world_bodies(world, body, BALLS);
  for (int i = 0; i < count && i < BALLS; ++i) {
    m.at[i] = tn_body_transform(world, body[i]);
    m.velocity[i] = tn_body_velocity(world, body[i]);
  }
  return m;
}

// A step that needs more memory than the limit allows moves nothing. Saved, and
// restored where there is more, the world goes on.
static void memory_stays_below_its_limit(void **state)
{
  (void)state;
  static unsigned char saved[WIDE];
  int failures = 0;
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    uint32_t random = 2654435769u * seed, status;
    uint64_t hash;
    tn_world_def def = limited(0, 1 + (int)seed % 2);
    tn_world *world = heap_of_balls(&def, seed);
    most_pairs(world, &status, &hash);
    double needed = (double)tn_world_counters(world).bytes;
    tn_world_destroy(world);
    def.limits.bytes = (size_t)(needed * (double)test_between(&random, 0.5f, 1.5f));
    world = heap_of_balls(&def, seed);
    status = 0;
    for (int i = 0; i < STEPS && !(status & TN_STEP_OUT_OF_MEMORY); ++i) {
      motion before = motion_of(world), after;
      status = tn_world_step(world, DT);
      after = motion_of(world);
      assert_true(tn_world_counters(world).bytes <= def.limits.bytes);
      assert_true((memcmp(&before, &after, sizeof before) == 0) ==
                  (status == TN_STEP_OUT_OF_MEMORY));
    }
    failures += (status & TN_STEP_OUT_OF_MEMORY) != 0;
    size_t size = tn_world_save(world, saved, sizeof saved);
    assert_in_range(size, 1, sizeof saved);
    def.limits.bytes = 0;
    tn_world *larger = tn_world_create(&def);
    assert_true(tn_world_restore(larger, saved, size));
    test_run(larger, DT, 10);
    tn_world_destroy(larger);
    tn_world_destroy(world);
  }
  assert_in_range(failures, 10, 25);
}

static void limits_are_checked_and_recorded(void **state)
{
  (void)state;
  tn_world_def def = limited(0, 1);
  def.limits.shape_pairs = -1;
  test_forget_messages();
  assert_null(tn_world_create(&def));
  assert_message("limits must not be negative");
  def = limited(0, 1);
  def.limits = (tn_limits){40, 7, 0, 0};
  tn_world *world = heap_of_balls(&def, 3);
  char path[] = "/tmp/tenon_limits_XXXXXX";
  int handle = mkstemp(path);
  assert_true(handle >= 0);
  close(handle);
  assert_true(tn_world_record_calls(world, path));
  for (int i = 0; i < STEPS; ++i) {
    tn_world_step(world, DT);
  }
  assert_false(tn_soft_is_valid(world, add_rope(world, 2)));
  tn_world_destroy(world);
  FILE *in = fopen(path, "rb");
  assert_non_null(in);
  unsigned char *bytes = malloc(WIDE);
  size_t size = fread(bytes, 1, WIDE, in);
  fclose(in);
  unlink(path);
  def = limited(0, 2);
  tn_replay *replay = tn_replay_create(bytes, size, &def);
  tn_replay_frame frame;
  int steps = 0;
  for (; tn_replay_step(replay, &frame); ++steps) {
    assert_true(frame.hash == frame.recorded_hash);
    assert_int_equal(frame.status, frame.recorded_status);
  }
  assert_int_equal(steps, STEPS);
  assert_int_equal(tn_world_counters(tn_replay_world(replay)).particles, 0);
  tn_replay_destroy(replay);
  free(bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_stay_below_their_limit),
      cmocka_unit_test(waiting_pairs_come_back),
      cmocka_unit_test(a_shape_has_its_own_limit),
      cmocka_unit_test(particles_are_counted),
      cmocka_unit_test(memory_stays_below_its_limit),
      cmocka_unit_test(limits_are_checked_and_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
