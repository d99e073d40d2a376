// Batches on a device: the module that a card runs, compiled for this CPU, has the library's bits.
// Where there is a card, the same tests run on it.
#include "support.h"

#include "emulated_device.h"
#include "scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/cuda.h>

#define WORLDS 3

static const float dt = 1.0f / 60.0f;
static const tn_batch_device *device;

static tn_batch_def def_of(const tn_world *world, int count)
{
  tn_batch_def def = tn_default_batch_def();
  def.world = world;
  def.count = count;
  def.log = test_collect;
  def.log_context = &test_messages;
  return def;
}

static tn_batch *make_batch(const tn_world *world, int count, const tn_batch_device *on)
{
  tn_batch_def def = def_of(world, count);
  def.device = on;
  tn_batch *batch = tn_batch_create(&def);
  if (!batch) {
    fail_msg("%s", test_last_message());
  }
  return batch;
}

static scene_run *make_scene(const char *name, tn_method method)
{
  const scene *which = scene_find(name);
  assert_non_null(which);
  scene_settings settings = scene_defaults(which);
  tn_world_def def = test_world_def(4, method);
  scene_run *run = scene_create(which, &settings, &def);
  assert_non_null(run);
  return run;
}

static void set_gravity(tn_batch *batch)
{
  float gravity[WORLDS][3];
  for (int i = 0; i < WORLDS; ++i) {
    gravity[i][0] = 0.1f * (float)i, gravity[i][1] = -10.0f + (float)i, gravity[i][2] = 0.0f;
  }
  tn_batch_rows rows = {.data = gravity, .type = TN_FLOAT};
  assert_true(tn_batch_write(batch, TN_BATCH_GRAVITY, NULL, rows));
}

static void assert_same(tn_batch *a, tn_batch *b, const char *what)
{
  uint64_t of_a[WORLDS], of_b[WORLDS];
  assert_true(tn_batch_hashes(a, of_a) && tn_batch_hashes(b, of_b));
  for (int i = 0; i < WORLDS; ++i) {
    if (of_a[i] != of_b[i]) {
      fail_msg("%s: world %d differs on the device", what, i);
    }
  }
}

// Boxes of 1 m side by side that fall.
static tn_world *boxes(int side, double apart)
{
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  for (int i = 0; i < side * side; ++i) {
    tn_pos at = tn_p3(apart * (i % side), 0.0, apart * (i / side));
    tn_shape_create(world, test_box(world, at, 1.0f, tn_v3(0.5f, 0.5f, 0.5f)), &box);
  }
  return world;
}

// ---------------------------------------------------------------------------------------------
// Bits

static void compare_scene(const char *name, tn_method method, int steps)
{
  scene_run *run = make_scene(name, method);
  tn_batch *there = make_batch(run->world, WORLDS, device);
  tn_batch *here = make_batch(run->world, WORLDS, NULL);
  assert_same(there, here, name);
  set_gravity(there);
  set_gravity(here);
  uint32_t status = tn_batch_step(here, dt, steps);
  assert_int_equal(tn_batch_step(there, dt, steps), status);
  assert_same(there, here, name);
  tn_batch_destroy(there);
  tn_batch_destroy(here);
  scene_destroy(run);
}

static void every_scene_has_the_bits_of_the_library(void **state)
{
  (void)state;
  const int steps = test_cases(6, 300);
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    compare_scene(all[i]->name, TN_METHOD_TENON, steps);
  }
}

// Small ones for long: joints, contacts, couplings, wires, hulls, a soft body, sleep.
static const char *const small_scenes[] = {"joint_zoo",     "ragdoll",    "stack",     "robot_arm",
                                           "tendon_finger", "marble_run", "bounce",    "dominoes",
                                           "rolling",       "four_cubes", "robot_trot"};

static void small_scenes_keep_the_bits(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof small_scenes / sizeof *small_scenes; ++i) {
    compare_scene(small_scenes[i], TN_METHOD_TENON, test_cases(60, 600));
  }
}

static void all_methods_have_the_bits(void **state)
{
  (void)state;
  const char *const names[] = {"chain", "stack", "ragdoll", "soft_cube_spin"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    compare_scene(names[i], TN_METHOD_XPBD, test_cases(20, 300));
    compare_scene(names[i], TN_METHOD_JACOBI, test_cases(20, 300));
  }
}

// ---------------------------------------------------------------------------------------------
// States

static void states_go_back_and_spread(void **state)
{
  (void)state;
  scene_run *run = make_scene("ragdoll", TN_METHOD_TENON);
  tn_batch *both[2] = {make_batch(run->world, WORLDS, device),
                       make_batch(run->world, WORLDS, NULL)};
  const uint8_t mask[WORLDS] = {1, 0, 1};
  for (int i = 0; i < 2; ++i) {
    set_gravity(both[i]);
    tn_batch_step(both[i], dt, 10);
    assert_true(tn_batch_keep(both[i], NULL));
    tn_batch_step(both[i], dt, 10);
    assert_true(tn_batch_reset(both[i], mask));
    tn_batch_step(both[i], dt, 5);
  }
  assert_same(both[0], both[1], "after a reset");
  for (int i = 0; i < 2; ++i) {
    assert_true(tn_batch_spread(both[i], 1));
    tn_batch_step(both[i], dt, 5);
  }
  assert_same(both[0], both[1], "after a spread");
  tn_batch_destroy(both[0]);
  tn_batch_destroy(both[1]);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Rows

static void compare_field(tn_batch *there, tn_batch *here, tn_batch_field field)
{
  tn_batch_shape shape = tn_batch_shape_of(there, field);
  size_t count = (size_t)shape.worlds * (size_t)(shape.items * shape.numbers);
  double *a = calloc(count + 1, sizeof *a), *b = calloc(count + 1, sizeof *b);
  tn_batch_rows to_a = {.data = a, .type = TN_DOUBLE}, to_b = {.data = b, .type = TN_DOUBLE};
  assert_true(tn_batch_read(there, field, NULL, to_a) && tn_batch_read(here, field, NULL, to_b));
  for (size_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) {
      fail_msg("field %d: number %zu differs on the device", (int)field, i);
    }
  }
  free(a);
  free(b);
}

static void fields_are_those_of_the_library(void **state)
{
  (void)state;
  const char *const names[] = {"ragdoll", "robot_arm", "four_cubes"};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    scene_run *run = make_scene(names[k], TN_METHOD_TENON);
    tn_batch *there = make_batch(run->world, WORLDS, device);
    tn_batch *here = make_batch(run->world, WORLDS, NULL);
    tn_batch_step(there, dt, 30);
    tn_batch_step(here, dt, 30);
    for (tn_batch_field field = 0; field < TN_BATCH_FIELD_COUNT; ++field) {
      if (field != TN_BATCH_FORCES && field != TN_BATCH_Q_FORCES) {
        compare_field(there, here, field);
      }
    }
    tn_batch_destroy(there);
    tn_batch_destroy(here);
    scene_destroy(run);
  }
}

// Floats in records with gaps, which stay as they are, and worlds of a mask.
static void rows_may_have_gaps(void **state)
{
  (void)state;
  tn_world *world = boxes(2, 0.9);
  tn_batch *both[2] = {make_batch(world, WORLDS, device), make_batch(world, WORLDS, NULL)};
  struct {
    float velocity[6], rest;
  } record[2][WORLDS][64];
  memset(record, 0, sizeof record);
  tn_batch_shape shape = tn_batch_shape_of(both[0], TN_BATCH_VELOCITIES);
  assert_in_range(shape.items, 1, 64);
  const uint8_t mask[WORLDS] = {0, 1, 1};
  for (int i = 0; i < 2; ++i) {
    tn_batch_rows rows = {record[i], TN_FLOAT, sizeof record[i][0], sizeof record[i][0][0], false};
    record[i][0][0].velocity[0] = 5.0f;
    record[i][1][0].velocity[0] = 0.5f;
    record[i][2][0].rest = 7.0f;
    assert_true(tn_batch_write(both[i], TN_BATCH_VELOCITIES, mask, rows));
    tn_batch_step(both[i], dt, 3);
    assert_true(tn_batch_read(both[i], TN_BATCH_VELOCITIES, mask, rows));
    assert_true(record[i][0][0].velocity[0] == 5.0f && record[i][2][0].rest == 7.0f);
    assert_true(record[i][1][0].velocity[0] > 0.0f);
  }
  assert_memory_equal(record[0], record[1], sizeof record[0]);
  assert_same(both[0], both[1], "after writing velocities");
  tn_batch_destroy(both[0]);
  tn_batch_destroy(both[1]);
  tn_world_destroy(world);
}

// The memory comes from the device itself, as from a learner on the same card.
static void rows_may_be_on_the_device(void **state)
{
  (void)state;
  tn_world *world = boxes(2, 0.9);
  tn_batch *both[2] = {make_batch(world, WORLDS, device), make_batch(world, WORLDS, NULL)};
  tn_batch_shape shape = tn_batch_shape_of(both[0], TN_BATCH_VELOCITIES);
  double velocities[2][WORLDS][64][6] = {0};
  assert_in_range(shape.items, 1, 64);
  char why[256];
  void *connection = device->open(why, sizeof why);
  void *there = connection ? device->alloc(connection, sizeof velocities[0]) : NULL;
  assert_non_null(there);
  velocities[0][1][0][0] = 2.5;
  assert_true(device->write(connection, there, velocities[0], sizeof velocities[0]));
  const uint8_t second[WORLDS] = {0, 1, 0};
  tn_batch_rows rows = {there, TN_DOUBLE, sizeof velocities[0][0], 0, true};
  assert_false(tn_batch_write(both[1], TN_BATCH_VELOCITIES, second, rows));
  assert_message("on a device");
  tn_batch_rows same = {velocities[0], TN_DOUBLE, sizeof velocities[0][0], 0, false};
  assert_true(tn_batch_write(both[0], TN_BATCH_VELOCITIES, second, rows));
  assert_true(tn_batch_write(both[1], TN_BATCH_VELOCITIES, second, same));
  tn_batch_step(both[0], dt, 3);
  tn_batch_step(both[1], dt, 3);
  assert_same(both[0], both[1], "after rows of the device");
  assert_true(tn_batch_read(both[0], TN_BATCH_VELOCITIES, NULL, rows));
  assert_true(tn_batch_read(both[1], TN_BATCH_VELOCITIES, NULL, same));
  assert_true(device->read(connection, velocities[1], there, sizeof velocities[1]));
  assert_memory_equal(velocities[0], velocities[1], sizeof velocities[0]);
  assert_true(velocities[0][1][0][0] > 0.0);
  device->release(connection, there);
  device->close(connection);
  tn_batch_destroy(both[0]);
  tn_batch_destroy(both[1]);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Faults

static void faults_stay_in_their_world(void **state)
{
  (void)state;
  tn_world *world = boxes(2, 0.9);
  tn_batch *both[2] = {make_batch(world, WORLDS, device), make_batch(world, WORLDS, NULL)};
  tn_batch_shape shape = tn_batch_shape_of(both[0], TN_BATCH_POSES);
  double poses[WORLDS][64][7];
  assert_in_range(shape.items, 2, 64);
  for (int i = 0; i < 2; ++i) {
    tn_batch_rows rows = {poses, TN_DOUBLE, sizeof poses[0], 0, false};
    const uint8_t second[WORLDS] = {0, 1, 0};
    assert_true(tn_batch_read(both[i], TN_BATCH_POSES, NULL, rows));
    poses[1][0][0] = 1e9 - 1.0; // leaves the range of positions in the next step
    assert_true(tn_batch_write(both[i], TN_BATCH_POSES, second, rows));
    double speeds[WORLDS][64][6];
    tn_batch_rows speed_rows = {speeds, TN_DOUBLE, sizeof speeds[0], 0, false};
    assert_true(tn_batch_read(both[i], TN_BATCH_VELOCITIES, NULL, speed_rows));
    speeds[1][0][0] = 400.0;
    assert_true(tn_batch_write(both[i], TN_BATCH_VELOCITIES, second, speed_rows));
    assert_true(tn_batch_step(both[i], dt, 3) & TN_STEP_NON_FINITE);
    for (int w = 0; w < WORLDS; ++w) {
      bool lost = tn_batch_status(both[i])[w] & TN_STEP_NON_FINITE;
      assert_true(lost == (w == 1));
    }
  }
  assert_same(both[0], both[1], "with a lost body");
  tn_batch_destroy(both[0]);
  tn_batch_destroy(both[1]);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Worlds that outgrow their memory

// The same worlds on the device, where they have no room for contacts, and on the CPU. In world 1
// the boxes are moved together, so that it alone needs more.
static void make_tight(tn_batch *both[2], tn_world *world)
{
  enum { BOXES = 64 };
  tn_batch_def def = def_of(world, WORLDS);
  def.device = device;
  tn_batch *batch = make_batch(world, WORLDS, device);
  def.world_bytes = tn_batch_world_bytes(batch) / 5 * 2; // of three times what it needs
  tn_batch_destroy(batch);
  both[0] = tn_batch_create(&def);
  both[1] = make_batch(world, WORLDS, NULL);
  assert_non_null(both[0]);
  double poses[WORLDS][BOXES + 8][7];
  const uint8_t second[WORLDS] = {0, 1, 0};
  for (int k = 0; k < 2; ++k) {
    tn_batch_rows rows = {poses, TN_DOUBLE, sizeof poses[0], 0, false};
    tn_batch_shape shape = tn_batch_shape_of(both[k], TN_BATCH_POSES);
    assert_in_range(shape.items, 1, BOXES + 8);
    assert_true(tn_batch_read(both[k], TN_BATCH_POSES, NULL, rows));
    for (int i = 0; i < shape.items; ++i) {
      poses[1][i][0] *= 0.6;
      poses[1][i][2] *= 0.6;
    }
    assert_true(tn_batch_write(both[k], TN_BATCH_POSES, second, rows));
    set_gravity(both[k]);
    assert_true(tn_batch_keep(both[k], NULL));
  }
}

static void step_both(tn_batch *both[2], int steps)
{
  uint32_t status = tn_batch_step(both[1], dt, steps);
  assert_int_equal(tn_batch_step(both[0], dt, steps), status);
  assert_memory_equal(tn_batch_status(both[0]), tn_batch_status(both[1]), WORLDS * sizeof status);
}

static void compare_field(tn_batch *there, tn_batch *here, tn_batch_field field);

static void a_world_that_outgrows_its_memory_goes_on_on_the_cpu(void **state)
{
  (void)state;
  tn_world *world = boxes(8, 1.5);
  tn_batch *both[2];
  make_tight(both, world);
  test_forget_messages();
  step_both(both, 4);
  assert_message("1 worlds have outgrown their memory");
  assert_null(tn_batch_world(both[0], 0));
  assert_non_null(tn_batch_world(both[0], 1));
  assert_same(both[0], both[1], "that has left");
  compare_field(both[0], both[1], TN_BATCH_VELOCITIES);
  compare_field(both[0], both[1], TN_BATCH_CONTACT_FORCES);
  set_gravity(both[0]);
  set_gravity(both[1]);
  step_both(both, 4);
  assert_same(both[0], both[1], "that has left, 4 steps later");
  for (int from = 0; from < 2; ++from) {
    assert_true(tn_batch_spread(both[0], from) && tn_batch_spread(both[1], from));
    step_both(both, 2);
    assert_same(both[0], both[1], "after a spread with worlds that have left");
    assert_true(tn_batch_reset(both[0], NULL) && tn_batch_reset(both[1], NULL));
    assert_same(both[0], both[1], "after a reset of worlds that have left");
  }
  tn_batch_destroy(both[0]);
  tn_batch_destroy(both[1]);
  tn_world_destroy(world);
}

// Rows in memory of the device reach a world that has left as well, and what lies between them
// stays.
static void worlds_that_have_left_use_rows_on_the_device(void **state)
{
  (void)state;
  tn_world *world = boxes(8, 1.5);
  tn_batch *both[2];
  make_tight(both, world);
  step_both(both, 4);
  double rows[2][WORLDS][80][7] = {0};
  char why[256];
  void *connection = device->open(why, sizeof why);
  void *there = connection ? device->alloc(connection, sizeof rows[0]) : NULL;
  assert_non_null(there);
  for (int w = 0; w < WORLDS; ++w) {
    for (int i = 0; i < 80; ++i) {
      rows[0][w][i][1] = rows[1][w][i][1] = 0.1 * (double)(w + i % 7);
      rows[0][w][i][6] = rows[1][w][i][6] = 7.0; // no part of a row
    }
  }
  tn_batch_rows on_device = {there, TN_DOUBLE, sizeof rows[0][0], sizeof rows[0][0][0], true};
  tn_batch_rows on_host = {rows[1], TN_DOUBLE, sizeof rows[0][0], sizeof rows[0][0][0], false};
  assert_true(device->write(connection, there, rows[0], sizeof rows[0]));
  assert_true(tn_batch_write(both[0], TN_BATCH_VELOCITIES, NULL, on_device));
  assert_true(tn_batch_write(both[1], TN_BATCH_VELOCITIES, NULL, on_host));
  step_both(both, 2);
  assert_same(both[0], both[1], "after rows of the device");
  assert_true(tn_batch_read(both[0], TN_BATCH_VELOCITIES, NULL, on_device));
  assert_true(tn_batch_read(both[1], TN_BATCH_VELOCITIES, NULL, on_host));
  assert_true(device->read(connection, rows[0], there, sizeof rows[0]));
  assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
  device->release(connection, there);
  device->close(connection);
  tn_batch_destroy(both[0]);
  tn_batch_destroy(both[1]);
  tn_world_destroy(world);
}

static void too_little_memory_to_begin_with_is_said(void **state)
{
  (void)state;
  tn_world *world = boxes(8, 1.5);
  tn_batch_def def = def_of(world, WORLDS);
  def.device = device;
  def.world_bytes = 4096;
  test_forget_messages();
  assert_null(tn_batch_create(&def));
  assert_message("too small");
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Worlds of the caller

// A world for each setting of a parameter.
static void put_worlds_have_their_bits(const char *name, const char *parameter, double lo,
                                       double hi, const tn_batch_device *on, bool tight)
{
  const scene *which = scene_find(name);
  scene_run *runs[WORLDS];
  tn_world *worlds[WORLDS];
  tn_world_def world_def = test_world_def(4, TN_METHOD_TENON);
  for (int i = 0; i < WORLDS; ++i) {
    scene_settings settings = scene_defaults(which);
    double value = lo + (hi - lo) * (double)i / (double)(WORLDS - 1);
    assert_int_equal(scene_set(which, &settings, parameter, value), SCENE_SET);
    runs[i] = scene_create(which, &settings, &world_def);
    worlds[i] = runs[i]->world;
  }
  tn_batch_def def = def_of(worlds[0], WORLDS);
  def.device = on;
  def.own_geometries = true;
  if (tight) { // room for a copy, but not for hulls
    tn_batch *copies = make_batch(worlds[0], WORLDS, on);
    def.world_bytes = tn_batch_world_bytes(copies) / 5 * 2;
    tn_batch_destroy(copies);
  }
  tn_batch *batch = tn_batch_create(&def);
  assert_non_null(batch);
  assert_true(tn_batch_put(batch, 0, 1, worlds) && tn_batch_put(batch, 1, WORLDS - 1, worlds + 1));
  uint64_t hashes[WORLDS];
  for (int round = 0; round < 2; ++round) {
    tn_batch_step(batch, dt, 8);
    assert_true(tn_batch_hashes(batch, hashes));
    for (int i = 0; i < WORLDS; ++i) {
      for (int k = 0; k < 8; ++k) {
        tn_world_step(worlds[i], dt);
      }
      if (tn_world_hash(worlds[i]) != hashes[i]) {
        fail_msg("%s: world %d differs on %s in round %d", name, i, on ? "the device" : "the CPU",
                 round);
      }
    }
    assert_true(tn_batch_reset(batch, NULL));
    assert_true(tn_batch_take(batch, 0, WORLDS, worlds));
  }
  assert_false(tn_batch_put(batch, 1, WORLDS, worlds));
  assert_false(tn_batch_take(batch, -1, 1, worlds));
  tn_batch_destroy(batch);
  for (int i = 0; i < WORLDS; ++i) {
    scene_destroy(runs[i]);
  }
}

static void worlds_can_be_put_and_taken(void **state)
{
  (void)state;
  const tn_batch_device *const on[] = {NULL, device};
  for (int i = 0; i < 2; ++i) {
    put_worlds_have_their_bits("dominoes", "friction", 0.2, 0.8, on[i], false);
    put_worlds_have_their_bits("stack", "size", 0.5, 1.5, on[i], false);
    put_worlds_have_their_bits("arch", "thickness", 0.15, 0.3, on[i], false);
  }
  put_worlds_have_their_bits("arch", "thickness", 0.15, 0.3, device, true);
}

static void count_calls(tn_world *world, int index, void *context)
{
  (void)world, (void)index;
  *(int *)context += 1;
}

static void what_a_device_cannot_do_is_refused(void **state)
{
  (void)state;
  scene_run *run = make_scene("robot_arm", TN_METHOD_TENON);
  tn_batch *batch = make_batch(run->world, WORLDS, device);
  int calls = 0;
  test_forget_messages();
  assert_false(tn_batch_run(batch, count_calls, &calls));
  assert_message("on a device");
  assert_int_equal(calls, 0);
  assert_null(tn_batch_world(batch, 0));
  tn_articulation_def def = tn_default_articulation_def();
  tn_body_id root = {0};
  def.roots = &root;
  def.root_count = 1;
  assert_false(tn_batch_articulate(batch, &def));
  assert_message("on a device");
  assert_false(tn_batch_spread(batch, WORLDS));
  assert_message("no world");
  tn_batch_destroy(batch);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Without a card

static void *no_card(char *why, size_t size)
{
  strncpy(why, "no card: this one is broken", size);
  return NULL;
}

static void the_cpu_takes_over_if_asked(void **state)
{
  (void)state;
  static const tn_batch_device broken = {.open = no_card};
  scene_run *run = make_scene("stack", TN_METHOD_TENON);
  tn_batch_def def = def_of(run->world, WORLDS);
  def.device = &broken;
  test_forget_messages();
  assert_null(tn_batch_create(&def));
  assert_message("no card");
  def.or_cpu = true;
  tn_batch *batch = tn_batch_create(&def);
  assert_non_null(batch);
  assert_message("the CPU takes over");
  tn_batch *here = make_batch(run->world, WORLDS, NULL);
  tn_batch_step(batch, dt, 5);
  tn_batch_step(here, dt, 5);
  assert_same(batch, here, "instead of a card");
  tn_batch_destroy(batch);
  tn_batch_destroy(here);
  scene_destroy(run);
}

static int test_device(const tn_batch_device *on, const char *name)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scene_has_the_bits_of_the_library),
      cmocka_unit_test(small_scenes_keep_the_bits),
      cmocka_unit_test(all_methods_have_the_bits),
      cmocka_unit_test(states_go_back_and_spread),
      cmocka_unit_test(fields_are_those_of_the_library),
      cmocka_unit_test(rows_may_have_gaps),
      cmocka_unit_test(rows_may_be_on_the_device),
      cmocka_unit_test(faults_stay_in_their_world),
      cmocka_unit_test(a_world_that_outgrows_its_memory_goes_on_on_the_cpu),
      cmocka_unit_test(worlds_that_have_left_use_rows_on_the_device),
      cmocka_unit_test(too_little_memory_to_begin_with_is_said),
      cmocka_unit_test(worlds_can_be_put_and_taken),
      cmocka_unit_test(what_a_device_cannot_do_is_refused),
      cmocka_unit_test(the_cpu_takes_over_if_asked),
  };
  device = on;
  return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

// A card that is not there is said to be missing; one that is there gets the tests.
static int test_card(void)
{
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_batch_def def = def_of(world, 1);
  def.device = tn_cuda();
  tn_batch *batch = tn_batch_create(&def);
  printf("card: %s\n", batch ? "found" : test_last_message());
  tn_batch_destroy(batch);
  tn_world_destroy(world);
  return batch ? test_device(tn_cuda(), "card") : 0;
}

int main(void)
{
  return test_device(emulated_device(), "emulated") + test_card();
}
