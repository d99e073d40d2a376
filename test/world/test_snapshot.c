// Snapshots: restored worlds continue exactly as the original, and damage is detected.
#include "heap.h"
#include "menagerie.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static const float dt = 1.0f / 60.0f;

typedef struct snapshot {
  unsigned char *bytes;
  size_t size;
} snapshot;

static snapshot save(const tn_world *world)
{
  snapshot s;
  s.size = tn_world_save(world, NULL, 0);
  s.bytes = malloc(s.size);
  assert_non_null(s.bytes);
  memset(s.bytes, 0x5a, s.size);
  assert_int_equal(tn_world_save(world, s.bytes, s.size), s.size);
  return s;
}

static void assert_restores(tn_world *world, const snapshot *s)
{
  if (!tn_world_restore(world, s->bytes, s->size)) {
    fail_msg("not restored: %s", test_last_message());
  }
}

// All kinds of joints, broken joints, and free slots of destroyed bodies and joints.
static tn_world *lively_world(tn_method method, int lanes, int threads)
{
  tn_world *world = test_world_with(4, method, lanes, threads);
  menagerie_build(world, 3, 300.0f);
  tn_body_id bodies[64];
  tn_joint_id joints[64];
  tn_world_bodies(world, bodies, 64);
  tn_world_joints(world, joints, 64);
  for (int i = 0; i < 30; ++i) {
    if (i == 10) {
      assert_true(tn_body_destroy(world, bodies[7]));
      assert_true(tn_body_destroy(world, bodies[40]));
      assert_true(tn_joint_destroy(world, joints[30]));
    }
    menagerie_disturb(world, i);
    test_run(world, dt, 1);
  }
  return world;
}

static void play(tn_world *world, int from, int steps, uint64_t *hashes)
{
  for (int i = 0; i < steps; ++i) {
    menagerie_disturb(world, from + i);
    test_run(world, dt, 1);
    hashes[i] = tn_world_hash(world);
  }
}

static void assert_plays(tn_world *world, int from, int steps, const uint64_t *hashes)
{
  uint64_t now[64];
  play(world, from, steps, now);
  for (int i = 0; i < steps; ++i) {
    if (now[i] != hashes[i]) {
      fail_msg("the hashes part after %d of %d steps", i, steps);
    }
  }
}

static void the_same_world_continues_as_before(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = lively_world(test_methods[m], 0, 1);
    uint64_t start = tn_world_hash(world);
    snapshot s = save(world);
    uint64_t hashes[40];
    play(world, 30, 40, hashes);
    assert_true(hashes[0] != start && hashes[39] != hashes[38]);
    for (int i = 0; i < 2; ++i) {
      assert_restores(world, &s);
      assert_true(tn_world_hash(world) == start);
      assert_plays(world, 30, 40, hashes);
    }
    free(s.bytes);
    tn_world_destroy(world);
  }
}

static void saving_changes_nothing(void **state)
{
  (void)state;
  tn_world *world = lively_world(TN_METHOD_TENON, 0, 1);
  tn_world *unsaved = lively_world(TN_METHOD_TENON, 0, 1);
  for (int i = 0; i < 10; ++i) {
    snapshot s = save(world);
    snapshot again = save(world);
    assert_int_equal(s.size, again.size);
    assert_memory_equal(s.bytes, again.bytes, s.size);
    uint64_t hash;
    play(unsaved, 30 + i, 1, &hash);
    assert_plays(world, 30 + i, 1, &hash);
    free(s.bytes);
    free(again.bytes);
  }
  tn_world_destroy(world);
  tn_world_destroy(unsaved);
}

static void another_world_continues_as_the_first(void **state)
{
  (void)state;
  int lanes[4];
  int widths = test_lanes(lanes);
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = lively_world(test_methods[m], 1, 1);
    snapshot s = save(world);
    uint64_t hashes[30];
    play(world, 30, 30, hashes);
    for (int i = 0; i < widths; ++i) {
      tn_world *other = test_world_with(1, TN_METHOD_TENON, lanes[i], 1 + i);
      assert_restores(other, &s);
      assert_int_equal(tn_world_lanes(other), lanes[i]);
      assert_plays(other, 30, 30, hashes);
      tn_world_destroy(other);
    }
    free(s.bytes);
    tn_world_destroy(world);
  }
}

// Contacts begin and end while bodies fall on each other.
static void a_heap_continues_in_another_world(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = test_world(4, test_methods[m]);
    heap_build(world, 4);
    test_run(world, dt, 30);
    snapshot s = save(world);
    tn_world *other = test_world(4, test_methods[m]);
    assert_restores(other, &s);
    for (int i = 0; i < 30; ++i) {
      test_run(world, dt, 1);
      test_run(other, dt, 1);
      assert_true(tn_world_hash(other) == tn_world_hash(world));
    }
    free(s.bytes);
    tn_world_destroy(other);
    tn_world_destroy(world);
  }
}

// The previous content of the other world, and other types of its bodies, must have no effect.
static void previous_content_has_no_effect(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world *world = lively_world(test_methods[m], 0, 1);
    snapshot s = save(world);
    uint64_t hashes[20];
    play(world, 30, 20, hashes);
    for (int extra = 0; extra < 2; ++extra) {
      tn_world *other = test_world(7, TN_METHOD_XPBD);
      for (int i = 0; i < (extra ? 300 : 20); ++i) { // more or fewer than the snapshot has
        tn_body_id body = test_box(other, tn_p3(i, 0.0, 0.0), 1e-3f, tn_v3(0.01f, 0.02f, 0.03f));
        assert_true(tn_body_apply_force_to_center(other, body, tn_v3(1.0f, 2.0f, 3.0f)));
        test_joint(other, TN_JOINT_HINGE, test_no_body, body, tn_p3(i, 0.1, 0.0),
                   tn_v3(0.0f, 0.0f, 1.0f));
      }
      test_run(other, dt, 3);
      assert_restores(other, &s);
      assert_int_equal(tn_world_method(other), test_methods[m]);
      assert_int_equal(tn_world_substeps(other), 4);
      assert_plays(other, 30, 20, hashes);
      tn_world_destroy(other);
    }
    free(s.bytes);
    tn_world_destroy(world);
  }
}

static void worlds_without_joints_or_bodies_are_saved_too(void **state)
{
  (void)state;
  tn_world *empty = test_world(3, TN_METHOD_JACOBI);
  snapshot nothing = save(empty);
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(1.0, 2.0, 3.0));
  snapshot one = save(world);
  test_run(world, dt, 5);
  uint64_t hash = tn_world_hash(world);
  assert_restores(world, &nothing);
  assert_int_equal(tn_world_counters(world).bodies, 0);
  assert_false(tn_body_is_valid(world, body));
  test_run(world, dt, 1);
  assert_restores(world, &one);
  assert_true(tn_body_is_valid(world, body));
  test_run(world, dt, 5);
  assert_true(tn_world_hash(world) == hash);
  assert_restores(empty, &one);
  test_run(empty, dt, 5);
  assert_true(tn_world_hash(empty) == hash);
  free(nothing.bytes);
  free(one.bytes);
  tn_world_destroy(world);
  tn_world_destroy(empty);
}

static void all_settings_made_between_steps_are_saved(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_def def = test_body_def();
  def.name = "pendulum";
  def.user_data = &def;
  tn_body_id body = tn_body_create(world, &def);
  tn_body_id mover = test_body(world, TN_BODY_KINEMATIC, tn_p3(0.0, 1.0, 0.0));
  tn_joint_id joint =
      test_joint(world, TN_JOINT_HINGE, mover, body, tn_p3(0.0, 1.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
  test_run(world, dt, 3);
  tn_drive servo = tn_servo(0.5f, INFINITY, 0.0f);
  tn_transform target = {tn_p3(0.1, 1.1, 0.0), tn_quat_identity()};
  assert_true(tn_joint_set_drive(world, joint, TN_ANGULAR_A, servo));
  assert_true(tn_body_move_to(world, mover, target));
  assert_true(tn_body_apply_force_to_center(world, body, tn_v3(5.0f, 0.0f, 1.0f)));
  assert_true(tn_body_apply_torque(world, body, tn_v3(0.0f, 0.2f, 0.0f)));
  assert_true(tn_body_set_linear_damping(world, body, 0.5f));
  assert_true(tn_body_set_angular_damping(world, body, 0.25f));
  assert_true(tn_body_set_gravity_scale(world, body, 0.75f));
  assert_true(tn_world_set_gravity(world, tn_v3(1.0f, -5.0f, 0.0f)));
  assert_true(tn_world_set_substeps(world, 6));
  assert_true(tn_world_set_iterations(world, 2));
  assert_true(tn_world_set_play(world, 0.003f));
  assert_true(tn_world_set_sleep_speed(world, 0.02f) && tn_world_set_sleep_time(world, 3.0f));
  snapshot s = save(world);
  tn_world *other = test_world(1, TN_METHOD_JACOBI);
  assert_restores(other, &s);
  test_run(world, 0.01f, 5); // warm start impulses are scaled to another step
  test_run(other, 0.01f, 5);
  assert_true(tn_world_hash(world) == tn_world_hash(other));
  assert_true(tn_world_gravity(other).x == 1.0f);
  assert_int_equal(tn_world_iterations(other), 2);
  assert_true(tn_world_play(other) == 0.003f);
  assert_true(tn_world_sleep_speed(other) == 0.02f && tn_world_sleep_time(other) == 3.0f);
  tn_body_id ids[2];
  assert_int_equal(tn_world_bodies(other, ids, 2), 2);
  assert_string_equal(tn_body_name(other, ids[0]), "pendulum");
  assert_ptr_equal(tn_body_user_data(other, ids[0]), &def);
  // The joint of the other world refers to that world's bodies.
  tn_joint_id joints[1];
  assert_int_equal(tn_world_joints(other, joints, 1), 1);
  tn_joint_def read = tn_joint_get_def(other, joints[0]);
  assert_true(tn_body_is_valid(other, read.body_a) && tn_body_is_valid(other, read.body_b));
  assert_true(tn_joint_set_def(other, joints[0], &read));
  free(s.bytes);
  tn_world_destroy(world);
  tn_world_destroy(other);
}

// Worlds with a different future have different hashes, before they diverge.
static void hashes_cover_all_state_that_affects_the_future(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  tn_body_id mover = test_body(world, TN_BODY_KINEMATIC, tn_p3(0.0, 1.0, 0.0));
  tn_joint_id joint =
      test_joint(world, TN_JOINT_HINGE, mover, body, tn_p3(0.0, 1.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
  test_run(world, dt, 3);
  snapshot s = save(world);
  uint64_t seen[17];
  int count = 0;
  for (int i = 0; i < 17; ++i) {
    assert_restores(world, &s);
    tn_joint_def def = tn_joint_get_def(world, joint);
    tn_mass mass = tn_body_mass(world, body);
    tn_drive servo = tn_servo(0.5f, INFINITY, 0.0f);
    tn_transform target = {tn_p3(0.1, 1.1, 0.0), tn_quat_identity()};
    mass.mass *= 2.0f;
    def.angular[0] = tn_between(-1.0f, 1.0f);
    def.break_force = 10.0f;
    bool done = i == 0    ? true
                : i == 1  ? tn_body_apply_force_to_center(world, body, tn_v3(1.0f, 0.0f, 0.0f))
                : i == 2  ? tn_body_apply_torque(world, body, tn_v3(1.0f, 0.0f, 0.0f))
                : i == 3  ? tn_body_move_to(world, mover, target)
                : i == 4  ? tn_body_set_mass(world, body, mass)
                : i == 5  ? tn_body_set_gravity_scale(world, body, 0.5f)
                : i == 6  ? tn_body_set_linear_damping(world, body, 0.5f)
                : i == 7  ? tn_body_set_max_speed(world, body, 5.0f)
                : i == 8  ? tn_joint_set_drive(world, joint, TN_ANGULAR_A, servo)
                : i == 9  ? tn_joint_set_def(world, joint, &def)
                : i == 10 ? tn_joint_set_enabled(world, joint, false)
                : i == 11 ? tn_world_set_gravity(world, tn_v3(1.0f, 0.0f, 0.0f))
                : i == 12 ? tn_world_set_substeps(world, 5)
                : i == 13 ? tn_world_set_iterations(world, 3)
                : i == 14 ? tn_body_set_angular_damping(world, body, 0.5f)
                : i == 15 ? tn_body_set_max_angular_speed(world, body, 7.0f)
                          : tn_world_set_method(world, TN_METHOD_XPBD);
    assert_true(done);
    seen[count] = tn_world_hash(world);
    for (int k = 0; k < count; ++k) {
      assert_true(seen[k] != seen[count]);
    }
    count += 1;
  }
  free(s.bytes);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Ids, and changes after a restore

static void ids_saved_in_the_snapshot_are_valid_again(void **state)
{
  (void)state;
  tn_world *world = lively_world(TN_METHOD_TENON, 0, 1);
  tn_body_id bodies[64];
  tn_joint_id joints[128];
  int body_count = tn_world_bodies(world, bodies, 64);
  int joint_count = tn_world_joints(world, joints, 128);
  assert_true(body_count > 40 && body_count < 64 && joint_count > 40 && joint_count < 128);
  tn_transform places[64];
  for (int i = 0; i < body_count; ++i) {
    places[i] = tn_body_transform(world, bodies[i]);
  }
  snapshot s = save(world);
  for (int i = 0; i < body_count; i += 2) {
    assert_true(tn_body_destroy(world, bodies[i]));
  }
  tn_body_id later[100];
  for (int i = 0; i < 100; ++i) {
    later[i] = test_body(world, TN_BODY_DYNAMIC, tn_p3(i, 50.0, 0.0));
  }
  test_run(world, dt, 2);
  assert_restores(world, &s);
  for (int i = 0; i < body_count; ++i) {
    assert_true(tn_body_is_valid(world, bodies[i]));
    tn_transform place = tn_body_transform(world, bodies[i]);
    assert_memory_equal(&place, &places[i], sizeof place);
  }
  for (int i = 0; i < joint_count; ++i) {
    assert_true(tn_joint_is_valid(world, joints[i]));
  }
  for (int i = 0; i < 100; ++i) {
    assert_false(tn_body_is_valid(world, later[i]));
  }
  free(s.bytes);
  tn_world_destroy(world);
}

// Creates and destroys bodies and joints in `world`, equally in every world with the same content.
static void live_on(tn_world *world, uint64_t *hashes)
{
  uint32_t random = 7;
  for (int i = 0; i < 40; ++i) {
    tn_body_id bodies[64];
    int count = tn_world_bodies(world, bodies, 64);
    count = count < 64 ? count : 64;
    if (i % 3 == 0) {
      assert_true(tn_body_destroy(world, bodies[test_index(&random, count)]));
    } else {
      tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(i, 5.0, 0.0));
      int other = test_index(&random, count);
      test_joint(world, (tn_joint_kind)(i % TN_JOINT_KIND_COUNT), bodies[other], body,
                 tn_p3(i, 5.5, 0.0), tn_v3(0.0f, 1.0f, 0.0f));
    }
    test_run(world, dt, 1);
    hashes[i] = tn_world_hash(world);
  }
}

static void restored_worlds_can_be_changed(void **state)
{
  (void)state;
  tn_world *world = lively_world(TN_METHOD_TENON, 0, 1);
  snapshot s = save(world);
  uint64_t expected[40], now[40];
  live_on(world, expected);
  tn_world *other = test_world(1, TN_METHOD_XPBD);
  tn_world *worlds[2] = {world, other};
  for (int i = 0; i < 2; ++i) {
    assert_restores(worlds[i], &s);
    live_on(worlds[i], now);
    assert_memory_equal(now, expected, sizeof now);
  }
  free(s.bytes);
  tn_world_destroy(world);
  tn_world_destroy(other);
}

// ---------------------------------------------------------------------------------------------
// Damage

static void assert_refuses(tn_world *world, const void *bytes, size_t size, const snapshot *content,
                           const char *what, size_t at)
{
  test_forget_messages();
  bool restored = tn_world_restore(world, bytes, size);
  if (restored || test_messages.count != 1 || !strstr(test_last_message(), "tn_world_restore")) {
    fail_msg("%s %zu: restored %d, %d messages: %s", what, at, restored, test_messages.count,
             test_last_message());
  }
  snapshot now = save(world);
  bool same = now.size == content->size && memcmp(now.bytes, content->bytes, now.size) == 0;
  free(now.bytes);
  if (!same) {
    fail_msg("%s %zu: the world has changed", what, at);
  }
}

static void damaged_bytes_are_refused(void **state)
{
  (void)state;
  tn_world *world = lively_world(TN_METHOD_TENON, 0, 1);
  snapshot s = save(world);
  tn_world *other = test_world(2, TN_METHOD_XPBD);
  test_body(other, TN_BODY_DYNAMIC, tn_p3(1.0, 2.0, 3.0));
  snapshot content = save(other);
  // Every byte of the start, where the settings are, and a sample of the rest.
  for (size_t i = 0; i < s.size; i += i < 512 ? 1 : 509) {
    for (int bit = 0; bit < 8; bit += 7) {
      s.bytes[i] ^= (unsigned char)(1 << bit);
      assert_refuses(other, s.bytes, s.size, &content, "a flip in byte", i);
      s.bytes[i] ^= (unsigned char)(1 << bit);
    }
  }
  assert_restores(other, &s);
  assert_true(tn_world_hash(other) == tn_world_hash(world));
  free(s.bytes);
  free(content.bytes);
  tn_world_destroy(world);
  tn_world_destroy(other);
}

static void truncated_and_foreign_bytes_are_refused(void **state)
{
  (void)state;
  tn_world *world = lively_world(TN_METHOD_TENON, 0, 1);
  snapshot s = save(world);
  tn_world *other = test_world(2, TN_METHOD_XPBD);
  test_body(other, TN_BODY_DYNAMIC, tn_p3(1.0, 2.0, 3.0));
  snapshot content = save(other);
  for (size_t size = 0; size < s.size; size += size < 300 || size + 300 > s.size ? 1 : 251) {
    unsigned char *cut = malloc(size > 0 ? size : 1); // exact size, for the sanitizer
    memcpy(cut, s.bytes, size);
    assert_refuses(other, cut, size, &content, "cut to", size);
    free(cut);
  }
  assert_refuses(other, NULL, 0, &content, "null", 0);
  assert_refuses(other, NULL, s.size, &content, "null", s.size);
  unsigned char zeros[512] = {0};
  assert_refuses(other, zeros, sizeof zeros, &content, "zeros", sizeof zeros);
  memset(zeros, 0xff, sizeof zeros);
  assert_refuses(other, zeros, sizeof zeros, &content, "ones", sizeof zeros);
  s.bytes[8] += 1; // the version follows eight bytes of magic
  assert_refuses(other, s.bytes, s.size, &content, "version", 0);
  assert_non_null(strstr(test_last_message(), "version"));
  free(s.bytes);
  free(content.bytes);
  tn_world_destroy(world);
  tn_world_destroy(other);
}

static void small_buffers_are_left_alone(void **state)
{
  (void)state;
  tn_world *world = lively_world(TN_METHOD_TENON, 0, 1);
  size_t size = tn_world_save(world, NULL, 0);
  assert_int_equal(tn_world_save(world, NULL, size), size);
  unsigned char *bytes = malloc(size);
  memset(bytes, 0x77, size);
  assert_int_equal(tn_world_save(world, bytes, size - 1), size);
  assert_int_equal(tn_world_save(world, bytes, 0), size);
  for (size_t i = 0; i < size; ++i) {
    assert_int_equal(bytes[i], 0x77);
  }
  free(bytes);
  tn_world_destroy(world);
}

// Sizes that a shape's kind does not have are not checked, neither when it is made nor in a
// snapshot.
static void unused_sizes_may_be_any_numbers(void **state)
{
  (void)state;
  tn_world *world = test_world(2, TN_METHOD_TENON), *other = test_world(2, TN_METHOD_TENON);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  def.radius = -3.0f;
  def.half_length = NAN;
  tn_body_id id = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 1.0, 0.0));
  assert_false(TN_IS_NULL(tn_shape_create(world, id, &def)));
  test_run(world, 1.0f / 60.0f, 3);
  size_t size = tn_world_save(world, NULL, 0);
  void *bytes = malloc(size);
  tn_world_save(world, bytes, size);
  assert_true(tn_world_restore(other, bytes, size));
  assert_true(tn_world_hash(other) == tn_world_hash(world));
  free(bytes);
  tn_world_destroy(other);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unused_sizes_may_be_any_numbers),
      cmocka_unit_test(the_same_world_continues_as_before),
      cmocka_unit_test(saving_changes_nothing),
      cmocka_unit_test(another_world_continues_as_the_first),
      cmocka_unit_test(a_heap_continues_in_another_world),
      cmocka_unit_test(previous_content_has_no_effect),
      cmocka_unit_test(worlds_without_joints_or_bodies_are_saved_too),
      cmocka_unit_test(all_settings_made_between_steps_are_saved),
      cmocka_unit_test(hashes_cover_all_state_that_affects_the_future),
      cmocka_unit_test(ids_saved_in_the_snapshot_are_valid_again),
      cmocka_unit_test(restored_worlds_can_be_changed),
      cmocka_unit_test(damaged_bytes_are_refused),
      cmocka_unit_test(truncated_and_foreign_bytes_are_refused),
      cmocka_unit_test(small_buffers_are_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
