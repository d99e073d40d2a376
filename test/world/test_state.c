// Dynamic states: a world that gets one back goes on with the same bits, as does another world that
// has the same things; worlds with other things and damaged bytes are refused.
//
// `test_state FROM TO` runs a range of seeds.
#include "churn.h"

#include "world/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 12 // that are compared after a restore
static const float dt = 1.0f / 60.0f;

typedef struct saved {
  unsigned char *bytes;
  size_t size;
} saved;

static saved save(const tn_world *world)
{
  saved s = {.size = tn_world_save_state(world, NULL, 0)};
  s.bytes = malloc(s.size);
  assert_non_null(s.bytes);
  assert_int_equal(tn_world_save_state(world, s.bytes, s.size), s.size);
  return s;
}

static bool restore(tn_world *world, const saved *s)
{
  return tn_world_restore_state(world, s->bytes, s->size);
}

static void play(tn_world *world, uint64_t hashes[STEPS])
{
  for (int i = 0; i < STEPS; ++i) {
    tn_world_step(world, dt);
    hashes[i] = tn_world_hash(world);
  }
}

static tn_world *copy_of(const tn_world *world)
{
  size_t size = tn_world_save(world, NULL, 0);
  void *bytes = malloc(size);
  tn_world *copy = test_world(4, TN_METHOD_TENON);
  assert_non_null(bytes);
  tn_world_save(world, bytes, size);
  assert_true(tn_world_restore(copy, bytes, size));
  free(bytes);
  return copy;
}

static void assert_goes_on(tn_world *world, uint32_t seed, const saved *s, uint64_t start,
                           const uint64_t expected[STEPS], const char *which)
{
  uint64_t now[STEPS];
  if (!restore(world, s)) {
    if (!strstr(test_last_message(), "does not have the same")) {
      fail_msg("seed %u, %s: %s", seed, which, test_last_message());
    }
    return; // a soft body was torn
  }
  if (tn_world_hash(world) != start) {
    fail_msg("seed %u, %s: the restored state has another hash", seed, which);
  }
  play(world, now);
  for (int i = 0; i < STEPS; ++i) {
    if (now[i] != expected[i]) {
      fail_msg("seed %u, %s: the hashes part after %d steps", seed, which, i + 1);
    }
  }
}

static void run_seed(uint32_t seed)
{
  churn c = {0};
  c.world[c.count++] = test_world_with(4, TN_METHOD_TENON, 0, 1);
  churn_begin(&c, seed);
  for (int i = 0; i < 10 + (int)(seed * 37 % 200); ++i) {
    churn_step(&c);
  }
  tn_world *world = c.world[0], *other = copy_of(world);
  saved s = save(world);
  uint64_t start = tn_world_hash(world), expected[STEPS];
  play(world, expected);
  assert_goes_on(world, seed, &s, start, expected, "the same world");
  for (int i = 0; i < (int)(seed % 7) * 20; ++i) {
    tn_world_step(other, dt);
  }
  assert_goes_on(other, seed, &s, start, expected, "another world");
  assert_goes_on(world, seed, &s, start, expected, "once more");
  free(s.bytes);
  tn_world_destroy(other);
  tn_world_destroy(world);
}

static void random_worlds_go_on_with_the_same_bits(void **state)
{
  const uint32_t *range = *state;
  for (uint32_t seed = range[0]; seed < range[1]; ++seed) {
    run_seed(seed);
  }
}

// ---------------------------------------------------------------------------------------------
// Size

// Boxes on the ground, in rows or in stacks of ten, or dropped at random.
typedef enum layout { ROWS, STACKS, DROPPED } layout;

static tn_world *boxes_at_rest(layout how)
{
  tn_world_def world_def = test_world_def(8, TN_METHOD_TENON);
  world_def.sleeping = true;
  tn_world *world = tn_world_create(&world_def);
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, test_no_body, &ground);
  uint32_t random = 5;
  for (int i = 0; i < 100; ++i) {
    tn_body_def def = tn_default_body_def();
    bool stacked = how == STACKS;
    def.position =
        tn_p3(2.0 * (i / 10), stacked ? 0.5 + i % 10 : 0.5, stacked ? 0.0 : 2.0 * (i % 10));
    if (how == DROPPED) {
      def.position.x += 0.3 * (double)test_random(&random);
      def.position.y += (double)test_random(&random);
      def.rotation = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), test_random(&random));
    }
    tn_body_id made = tn_body_create(world, &def);
    tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
    tn_shape_create(world, made, &box);
  }
  test_run(world, dt, 400);
  return world;
}

static void a_body_at_rest_takes_at_most_200_bytes(void **state)
{
  (void)state;
  const char *const names[] = {"rows", "stacks", "dropped"};
  const size_t most = 200; // dropped ones share no digits with each other
  for (layout how = ROWS; how <= DROPPED; ++how) {
    tn_world *world = boxes_at_rest(how);
    size_t size = tn_world_save_state(world, NULL, 0) / 100;
    print_message("%s: %zu bytes a box, %zu in a snapshot, %d contacts\n", names[how], size,
                  tn_world_save(world, NULL, 0) / 100, tn_world_counters(world).contacts);
    assert_true(size <= most);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// What is refused

static void assert_refuses(tn_world *world, const void *bytes, size_t size, const char *why)
{
  uint64_t before = tn_world_hash(world);
  test_forget_messages();
  assert_false(tn_world_restore_state(world, bytes, size));
  assert_message(why);
  assert_true(tn_world_hash(world) == before);
}

static void worlds_with_other_things_refuse(void **state)
{
  (void)state;
  tn_world *world = boxes_at_rest(ROWS);
  saved s = save(world);
  tn_body_id ids[100];
  tn_world_bodies(world, ids, 100);
  tn_body_def def = test_body_def();
  tn_body_id more = tn_body_create(world, &def);
  assert_refuses(world, s.bytes, s.size, "does not have the same");
  tn_body_destroy(world, more);
  // Another body in the slot of a destroyed one.
  tn_body_destroy(world, ids[99]);
  more = tn_body_create(world, &def);
  assert_refuses(world, s.bytes, s.size, "does not have the same");
  tn_world *other = boxes_at_rest(ROWS);
  tn_shape_id shape_id;
  tn_world_bodies(other, ids, 100);
  assert_int_equal(tn_body_shapes(other, ids[3], &shape_id, 1), 1);
  tn_shape_def shape_def = tn_shape_get_def(other, shape_id);
  shape_def.half_extents.x *= 2.0f;
  assert_true(tn_shape_set_def(other, shape_id, &shape_def));
  assert_refuses(other, s.bytes, s.size, "does not have the same");
  free(s.bytes);
  tn_world_destroy(world);
  tn_world_destroy(other);
}

// With another mass a body keeps its velocities: momentum is mass times that.
static void other_masses_keep_velocities(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_def def = test_body_def();
  def.velocity = tn_v3(1.0f, 2.0f, 3.0f);
  def.angular_velocity = tn_v3(0.5f, -0.25f, 2.0f);
  tn_body_id made = tn_body_create(world, &def);
  test_run(world, dt, 3);
  tn_vec3 w = tn_body_angular_velocity(world, made);
  saved s = save(world);
  tn_mass heavy = tn_body_mass(world, made);
  heavy = tn_mass_scaled_to(heavy, 7.0f * heavy.mass);
  assert_true(tn_body_set_mass(world, made, heavy));
  assert_true(tn_body_set_angular_velocity(world, made, tn_v3(0.0f, 0.0f, 0.0f)));
  assert_true(restore(world, &s));
  tn_vec3 now = tn_body_angular_velocity(world, made);
  assert_memory_equal(&now, &w, sizeof w);
  test_run(world, dt, 60); // free flight of a cube conserves w
  now = tn_body_angular_velocity(world, made);
  assert_close(tn_length(tn_sub(now, w)), 0.0, 1e-5);
  free(s.bytes);
  tn_world_destroy(world);
}

static void mend_checksum(saved *s)
{
  state_header h;
  memcpy(&h, s->bytes, sizeof h);
  if (h.size <= s->size - sizeof h) {
    h.checksum = state_checksum(&h, s->bytes + sizeof h);
    memcpy(s->bytes, &h, sizeof h);
  }
}

static void try_damaged(tn_world *world, const saved *s, int counts[2])
{
  uint64_t before = tn_world_hash(world);
  test_forget_messages();
  if (!restore(world, s)) {
    assert_message("tn_world_restore_state: ");
    assert_true(tn_world_hash(world) == before);
    counts[0] += 1;
    return;
  }
  tn_world_step(world, dt);
  tn_world_step(world, dt);
  counts[1] += 1;
}

// Changed bytes with a corrected checksum are refused, or give a world that can be stepped.
static void damaged_bytes_are_refused_or_harmless(void **state)
{
  (void)state;
  int counts[2] = {0, 0};
  for (uint32_t seed = 1; seed < (uint32_t)test_cases(5, 60); ++seed) {
    churn c = {0};
    c.world[c.count++] = test_world_with(2, TN_METHOD_TENON, 0, 1);
    churn_begin(&c, seed);
    for (int i = 0; i < 60; ++i) {
      churn_step(&c);
    }
    tn_world *world = c.world[0];
    tn_world *whole = copy_of(world);
    saved s = save(world), bad = save(world);
    uint32_t random = seed;
    for (int i = 0; i < 300; ++i) {
      if (!restore(world, &s)) { // a soft body was torn
        tn_world_destroy(world);
        world = copy_of(whole);
      }
      memcpy(bad.bytes, s.bytes, s.size);
      for (int k = test_index(&random, 3); k >= 0; --k) {
        size_t at = (size_t)test_index(&random, (int)(i % 3 ? s.size : sizeof(state_header)));
        bad.bytes[at] = (unsigned char)(bad.bytes[at] ^ 1u << test_index(&random, 8));
      }
      if (i % 20 == 0) {
        assert_true(!restore(world, &bad) || memcmp(bad.bytes, s.bytes, s.size) == 0);
      }
      mend_checksum(&bad);
      try_damaged(world, &bad, counts);
    }
    for (size_t size = 0; size < s.size; size += 1 + size / 7) {
      assert_refuses(world, s.bytes, size, "tn_world_restore_state: ");
    }
    tn_world_destroy(whole);
    free(s.bytes);
    free(bad.bytes);
    tn_world_destroy(world);
  }
  print_message("%d refused, %d harmless\n", counts[0], counts[1]);
  assert_true(counts[0] > 0 && counts[1] > 0);
}

int main(int count, char **arguments)
{
  uint32_t range[2] = {0, (uint32_t)test_cases(60, 2000)};
  for (int i = 0; i < 2 && count > 2; ++i) {
    range[i] = (uint32_t)strtoul(arguments[1 + i], NULL, 10);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(random_worlds_go_on_with_the_same_bits, range),
      cmocka_unit_test(a_body_at_rest_takes_at_most_200_bytes),
      cmocka_unit_test(worlds_with_other_things_refuse),
      cmocka_unit_test(other_masses_keep_velocities),
      cmocka_unit_test(damaged_bytes_are_refused_or_harmless),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
