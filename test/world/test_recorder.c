// Recordings: a replay makes the same calls, so every step has the recorded hash, whatever the
// lanes and threads; a part that is cut out goes on in the same way; damaged files are refused.
#include "churn.h"

#include <tenon/recorder.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct file {
  char path[64];
  unsigned char *bytes;
  size_t size;
} file;

static file new_file(void)
{
  file f = {.path = "/tmp/tenon_recording_XXXXXX"};
  int handle = mkstemp(f.path);
  assert_true(handle >= 0);
  close(handle);
  return f;
}

static void read_back(file *f)
{
  FILE *in = fopen(f->path, "rb");
  assert_non_null(in);
  fseek(in, 0, SEEK_END);
  f->size = (size_t)ftell(in);
  f->bytes = malloc(f->size + 1);
  assert_non_null(f->bytes);
  rewind(in);
  assert_int_equal(fread(f->bytes, 1, f->size, in), f->size);
  fclose(in);
}

static void forget(file *f)
{
  unlink(f->path);
  free(f->bytes);
}

// Runs a recording; returns the number of steps with the recorded hash and status.
static int equal_steps(const file *f, int lanes, int threads, int *steps)
{
  tn_world_def def = test_world_def(1, TN_METHOD_TENON);
  def.lanes = lanes;
  def.threads = threads;
  tn_replay *replay = tn_replay_create(f->bytes, f->size, &def);
  assert_non_null(replay);
  tn_replay_frame frame;
  int equal = 0;
  *steps = 0;
  while (tn_replay_step(replay, &frame)) {
    assert_int_equal(frame.index, *steps);
    *steps += 1;
    equal += frame.hash == frame.recorded_hash && frame.status == frame.recorded_status;
  }
  if (tn_replay_problem(replay)) {
    fail_msg("%s", tn_replay_problem(replay));
  }
  tn_replay_destroy(replay);
  return equal;
}

// Churn of bodies, joints and soft bodies. `late`: the recording starts in the middle.
static file record_churn(uint32_t seed, int steps, int late)
{
  file f = new_file();
  churn c = {0};
  c.world[c.count++] = test_world_with(2, TN_METHOD_TENON, 1, 1);
  if (late == 0) {
    assert_true(tn_world_record_calls(c.world[0], f.path));
  }
  churn_begin(&c, seed);
  for (int i = 0; i < steps; ++i) {
    if (i == late && late > 0) {
      assert_true(tn_world_record_calls(c.world[0], f.path));
    }
    churn_step(&c);
  }
  tn_world_destroy(c.world[0]);
  read_back(&f);
  return f;
}

static void a_replay_has_the_recorded_hashes(void **state)
{
  (void)state;
  int lanes[4], widths = test_lanes(lanes);
  for (uint32_t seed = 0; seed < (uint32_t)test_cases(12, 60); ++seed) {
    file f = record_churn(seed, 90, seed % 3 == 2 ? 30 : 0);
    int steps, equal = equal_steps(&f, lanes[(int)seed % widths], 1 + (int)seed % 2, &steps);
    assert_int_equal(steps, seed % 3 == 2 ? 60 : 90);
    if (equal != steps) {
      fail_msg("seed %u: %d of %d steps are equal", (unsigned)seed, equal, steps);
    }
    forget(&f);
  }
}

static void a_cut_part_goes_on_in_the_same_way(void **state)
{
  (void)state;
  file f = record_churn(5, 60, 0), part = new_file();
  assert_true(tn_replay_cut(f.bytes, f.size, 20, 45, part.path));
  read_back(&part);
  int steps;
  assert_int_equal(equal_steps(&part, 1, 1, &steps), 25);
  assert_int_equal(steps, 25);
  assert_false(tn_replay_cut(f.bytes, f.size, 20, 20, part.path));
  assert_false(tn_replay_cut(f.bytes, f.size, 40, 61, part.path));
  forget(&part);
  forget(&f);
}

// A changed argument shows in the step after it, and not before.
static void the_first_different_step_is_named(void **state)
{
  (void)state;
  file f = new_file();
  tn_world *world = test_world(2, TN_METHOD_TENON);
  tn_world_record_calls(world, f.path);
  tn_body_id id = test_box(world, tn_p3(0.0, 5.0, 0.0), 1.0f, tn_v3(0.5f, 0.5f, 0.5f));
  for (int i = 0; i < 20; ++i) {
    if (i == 12) {
      tn_body_set_velocity(world, id, tn_v3(1.25f, 0.0f, 0.0f));
    }
    tn_world_step(world, 1.0f / 60.0f);
  }
  tn_world_destroy(world);
  read_back(&f);
  const float was = 1.25f, is = 1.5f;
  int changed = 0;
  for (size_t i = 0; i + 4 <= f.size; ++i) {
    if (memcmp(f.bytes + i, &was, 4) == 0) {
      memcpy(f.bytes + i, &is, 4);
      ++changed;
    }
  }
  assert_int_equal(changed, 1);
  int steps;
  assert_int_equal(equal_steps(&f, 1, 1, &steps), 12);
  assert_int_equal(steps, 20);
  forget(&f);
}

static void some_mechanism(tn_world *world, tn_body_id *root, tn_body_id *tip)
{
  tn_body_id last = {0};
  for (int i = 0; i < 4; ++i) {
    tn_body_id id = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.5 + (double)i, 3.0, 0.0));
    test_joint(world, TN_JOINT_HINGE, last, id, tn_p3((double)i, 3.0, 0.0),
               tn_v3(0.0f, 0.0f, 1.0f));
    *root = i == 0 ? id : *root;
    last = id;
  }
  *tip = last;
}

// Calls whose effect is recorded as a state, and calls that make other calls.
static void composed_calls_are_recorded_once(void **state)
{
  (void)state;
  file f = new_file();
  tn_world *world = test_world(2, TN_METHOD_TENON);
  tn_body_id root, tip;
  tn_world_record_calls(world, f.path);
  some_mechanism(world, &root, &tip);
  tn_articulation_def def = tn_default_articulation_def();
  def.roots = &root;
  def.root_count = 1;
  tn_articulation *a = tn_articulation_create(world, &def);
  double q[4] = {0.1, -0.2, 0.3, 0.1}, v[4] = {0.5, 0.0, -0.5, 0.2};
  size_t size = tn_world_save(world, NULL, 0);
  void *saved = malloc(size);
  tn_world_save(world, saved, size);
  for (int i = 0; i < 8; ++i) {
    tn_world_step(world, 1.0f / 60.0f);
    tn_body_def body = tn_body_get_def(world, tip);
    tn_reach_def reach = tn_default_reach_def();
    switch (i) {
    case 1:
      assert_true(tn_articulation_set_positions(a, q, NULL));
      break;
    case 2:
      assert_true(tn_articulation_set_velocities(a, v, NULL));
      break;
    case 3:
      assert_true(tn_articulation_apply_forces(a, v));
      break;
    case 4:
      body.mass.mass *= 2.0f;
      body.position.y += 0.01;
      assert_true(tn_body_set_def(world, tip, &body));
      break;
    case 5:
      reach.body = tip;
      reach.target = tn_body_transform(world, tip);
      reach.target.p.y += 0.3;
      assert_true(tn_world_reach(world, &reach).ok);
      break;
    case 6:
      assert_true(tn_world_restore(world, saved, size));
      break;
    default:
      break;
    }
  }
  free(saved);
  tn_articulation_destroy(a);
  tn_world_destroy(world);
  read_back(&f);
  int steps;
  assert_int_equal(equal_steps(&f, 1, 1, &steps), 8);
  forget(&f);
}

// Rows with gaps, null lists, refused calls and names.
static void arguments_of_all_forms_are_recorded(void **state)
{
  (void)state;
  file f = new_file();
  tn_world *world = test_world(2, TN_METHOD_TENON);
  tn_world_record_calls(world, f.path);
  tn_body_id ids[3];
  struct {
    double gap;
    float rows[7];
  } rows[3];
  for (int i = 0; i < 3; ++i) {
    ids[i] = test_body(world, TN_BODY_DYNAMIC, tn_p3((double)i, 1.0, 0.0));
    for (int k = 0; k < 7; ++k) {
      rows[i].rows[k] = k == 6 ? 1.0f : k < 3 ? (float)(i + k) : 0.0f;
    }
  }
  assert_true(tn_bodies_write_poses(world, ids, 3, TN_FLOAT, rows[0].rows, sizeof rows[0]));
  assert_true(tn_bodies_write_velocities(world, NULL, 3, TN_FLOAT, rows[0].rows, sizeof rows[0]));
  tn_world_step(world, 0.01f);
  tn_body_set_name(world, ids[0], "box");
  tn_body_set_name(world, ids[0], NULL);
  assert_true(TN_IS_NULL(tn_body_create(world, NULL)));
  tn_body_set_velocity(world, ids[1], tn_v3(NAN, 0.0f, 0.0f));
  tn_body_id stale = ids[2];
  tn_body_destroy(world, ids[2]);
  tn_body_destroy(world, stale);
  tn_world_step(world, 0.01f);
  tn_world_step(world, -1.0f); // refused
  tn_world_step(world, 0.02f);
  tn_world_destroy(world);
  read_back(&f);
  int steps;
  equal_steps(&f, 1, 1, &steps);
  assert_int_equal(steps, 4);
  forget(&f);
}

static void damaged_recordings_are_refused(void **state)
{
  (void)state;
  file f = record_churn(3, 12, 0);
  uint32_t random = 7;
  tn_world_def def = test_world_def(1, TN_METHOD_TENON);
  int ended = 0;
  for (int i = 0; i < 300; ++i) {
    unsigned char *copy = malloc(f.size);
    memcpy(copy, f.bytes, f.size);
    size_t size = i % 4 == 0 ? (size_t)test_index(&random, (int)f.size) : f.size;
    for (int k = 0; k < 3; ++k) {
      copy[test_index(&random, (int)f.size)] = (unsigned char)test_index(&random, 256);
    }
    tn_replay *replay = tn_replay_create(copy, size, &def);
    for (int k = 0; k < 20 && replay && tn_world_substeps(tn_replay_world(replay)) < 100; ++k) {
      tn_replay_step(replay, NULL);
    }
    ended += !replay || tn_replay_problem(replay);
    tn_replay_destroy(replay);
    free(copy);
  }
  assert_true(ended > 30 && ended < 300);
  forget(&f);
}

static void files_that_cannot_be_written_are_reported(void **state)
{
  (void)state;
  tn_world *world = test_world(2, TN_METHOD_TENON);
  test_forget_messages();
  assert_false(tn_world_record_calls(world, "/no/such/folder/file"));
  assert_message("/no/such/folder/file");
  assert_true(tn_world_record_calls(world, NULL));
  assert_false(tn_world_record_calls(NULL, NULL));
  if (access("/dev/full", W_OK) == 0) {
    tn_world_record_calls(world, "/dev/full");
    tn_world_step(world, 0.01f);
    tn_world_step(world, 0.01f);
    test_forget_messages();
    assert_false(tn_world_record_calls(world, NULL));
  }
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_replay_has_the_recorded_hashes),
      cmocka_unit_test(a_cut_part_goes_on_in_the_same_way),
      cmocka_unit_test(the_first_different_step_is_named),
      cmocka_unit_test(composed_calls_are_recorded_once),
      cmocka_unit_test(arguments_of_all_forms_are_recorded),
      cmocka_unit_test(damaged_recordings_are_refused),
      cmocka_unit_test(files_that_cannot_be_written_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
