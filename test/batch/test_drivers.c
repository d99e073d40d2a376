// Batches on a card through a driver that is made for this test (fake_cuda.c): a whole one, one
// that fails, an old one, none.
//
//   test_drivers whole|old|none     the folder of the driver is in LD_LIBRARY_PATH
#include "support.h"

#include "scenes.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/cuda.h>
#include <unistd.h>

#define WORLDS 3

static const float dt = 1.0f / 60.0f;

static scene_run *make_scene(const char *name)
{
  const scene *which = scene_find(name);
  assert_non_null(which);
  scene_settings settings = scene_defaults(which);
  tn_world_def def = test_world_def(4, TN_METHOD_TENON);
  scene_run *run = scene_create(which, &settings, &def);
  assert_non_null(run);
  return run;
}

static tn_batch *make_batch(const tn_world *world, const tn_batch_device *device, bool or_cpu)
{
  tn_batch_def def = tn_default_batch_def();
  def.world = world;
  def.count = WORLDS;
  def.device = device;
  def.or_cpu = or_cpu;
  def.log = test_collect;
  def.log_context = &test_messages;
  test_forget_messages();
  return tn_batch_create(&def);
}

static void assert_same_motion(const tn_world *world, tn_batch *there)
{
  uint64_t hashes[2][WORLDS];
  tn_batch *here = make_batch(world, NULL, false);
  assert_non_null(here);
  assert_int_equal(tn_batch_step(there, dt, 10), tn_batch_step(here, dt, 10));
  assert_true(tn_batch_hashes(there, hashes[0]) && tn_batch_hashes(here, hashes[1]));
  assert_memory_equal(hashes[0], hashes[1], sizeof hashes[0]);
  tn_batch_destroy(here);
}

// A number that the driver counts; it stays loaded from the first call on.
static size_t of_driver(const char *name)
{
  static void *driver;
  driver = driver ? driver : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  assert_non_null(driver);
  void *symbol = dlsym(driver, name);
  assert_non_null(symbol);
  if (strcmp(name, "fake_bytes") == 0) {
    size_t (*bytes)(void);
    memcpy(&bytes, &symbol, sizeof symbol);
    return bytes();
  }
  int (*number)(void);
  memcpy(&number, &symbol, sizeof symbol);
  return (size_t)number();
}

static void refuse(const char *how, const char *message)
{
  scene_run *run = make_scene("stack");
  setenv("FAKE_CUDA", how, 1);
  assert_null(make_batch(run->world, tn_cuda(), false));
  assert_message(message);
  tn_batch *batch = make_batch(run->world, tn_cuda(), true);
  assert_non_null(strstr(test_last_message(), message));
  assert_message("the CPU takes over");
  assert_non_null(batch);
  unsetenv("FAKE_CUDA");
  assert_same_motion(run->world, batch);
  tn_batch_destroy(batch);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// A whole driver

static void worlds_have_the_bits_of_the_library(void **state)
{
  (void)state;
  const char *const names[] = {"stack", "ragdoll", "four_cubes"};
  size_t contexts = of_driver("fake_contexts"), bytes = of_driver("fake_bytes");
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    scene_run *run = make_scene(names[i]);
    tn_batch *batch = make_batch(run->world, tn_cuda(), false);
    if (!batch) {
      fail_msg("%s", test_last_message());
    }
    assert_true(of_driver("fake_bytes") > bytes);
    assert_same_motion(run->world, batch);
    assert_true(tn_batch_reset(batch, NULL));
    tn_batch_destroy(batch);
    scene_destroy(run);
  }
  assert_int_equal(of_driver("fake_contexts"), contexts);
  assert_int_equal(of_driver("fake_bytes"), bytes);
}

// The module is compiled once and kept; a file that is no module, or one of another driver, is not
// taken for it.
static void the_module_is_kept(void **state)
{
  (void)state;
  scene_run *run = make_scene("stack");
  size_t first = of_driver("fake_compilations");
  tn_batch_destroy(make_batch(run->world, tn_cuda(), false)); // perhaps kept by another test
  assert_in_range(of_driver("fake_compilations"), first, first + 1);
  first = of_driver("fake_compilations");
  for (int i = 0; i < 3; ++i) {
    tn_batch *batch = make_batch(run->world, tn_cuda(), false);
    assert_non_null(batch);
    tn_batch_destroy(batch);
    assert_int_equal(of_driver("fake_compilations"), first);
  }
  setenv("TENON_CUDA_MODULE", "/nonexistent/module", 1);
  assert_null(make_batch(run->world, tn_cuda(), false));
  assert_message("/nonexistent/module cannot be loaded");
  unsetenv("TENON_CUDA_MODULE");
  scene_destroy(run);
}

static void a_card_that_is_not_there_is_said(void **state)
{
  (void)state;
  refuse("no card", "no CUDA-capable device is detected");
}

static void too_little_memory_is_said(void **state)
{
  (void)state;
  size_t contexts = of_driver("fake_contexts"), bytes = of_driver("fake_bytes");
  refuse("no memory", "not enough memory");
  assert_int_equal(of_driver("fake_contexts"), contexts);
  assert_int_equal(of_driver("fake_bytes"), bytes);
}

// Each call says what happened, every world has its bit, and the batch can be destroyed.
static void a_killed_context_is_said(void **state)
{
  (void)state;
  scene_run *run = make_scene("stack");
  tn_batch *batch = make_batch(run->world, tn_cuda(), false);
  assert_non_null(batch);
  uint64_t hashes[WORLDS];
  setenv("FAKE_CUDA", "killed", 1);
  test_forget_messages();
  assert_int_equal(tn_batch_step(batch, dt, 1), TN_STEP_REJECTED);
  assert_message("tn_batch_step: the card cannot finish a call: unspecified launch failure");
  for (int i = 0; i < WORLDS; ++i) {
    assert_int_equal(tn_batch_status(batch)[i], TN_STEP_REJECTED);
  }
  assert_false(tn_batch_hashes(batch, hashes));
  assert_message("tn_batch_hashes");
  assert_false(tn_batch_reset(batch, NULL));
  assert_message("tn_batch_reset");
  assert_false(tn_batch_keep(batch, NULL));
  assert_message("tn_batch_keep");
  assert_false(tn_batch_spread(batch, 0));
  assert_message("tn_batch_spread");
  float gravity[WORLDS][3];
  tn_batch_rows rows = {.data = gravity, .type = TN_FLOAT};
  assert_false(tn_batch_read(batch, TN_BATCH_GRAVITY, NULL, rows));
  assert_message("tn_batch_read");
  tn_batch_destroy(batch);
  unsetenv("FAKE_CUDA");
  refuse("killed", "unspecified launch failure");
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Others

static void an_old_driver_is_said(void **state)
{
  (void)state;
  refuse("", "too old: it has no cuLinkCreate_v2");
}

static void a_missing_driver_is_said(void **state)
{
  (void)state;
  refuse("", "not installed");
}

static int test_driver(const char *which)
{
  const struct CMUnitTest whole[] = {
      cmocka_unit_test(worlds_have_the_bits_of_the_library),
      cmocka_unit_test(the_module_is_kept),
      cmocka_unit_test(a_card_that_is_not_there_is_said),
      cmocka_unit_test(too_little_memory_is_said),
      cmocka_unit_test(a_killed_context_is_said),
  };
  const struct CMUnitTest old[] = {cmocka_unit_test(an_old_driver_is_said)};
  const struct CMUnitTest none[] = {cmocka_unit_test(a_missing_driver_is_said)};
  if (strcmp(which, "old") == 0) {
    return cmocka_run_group_tests(old, NULL, NULL);
  }
  return strcmp(which, "none") == 0 ? cmocka_run_group_tests(none, NULL, NULL)
                                    : cmocka_run_group_tests(whole, NULL, NULL);
}

// The module is kept in a folder of this test, which must not reach a real driver.
int main(int count, char **words)
{
  char folder[] = "/tmp/tenon_cache_XXXXXX", command[64];
  if (!mkdtemp(folder)) {
    return 1;
  }
  setenv("XDG_CACHE_HOME", folder, 1);
  int failed = test_driver(count > 1 ? words[1] : "whole");
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) != 0 ? 1 : failed;
}
