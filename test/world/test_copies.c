// Copies: a world goes on with the same bits if at any time it is replaced by its snapshot or by
// its small state, of itself or of an equal world. A step must depend on nothing that these do not
// hold: no layout, no order of calls, nothing that an earlier step has left in the solver.
//
// Seeded churn of public calls, on a world that is left alone and on four that are replaced every
// few steps. `test_copies FROM TO [EVERY]` runs a range of seeds.
#include "churn.h"
#include "data/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 300, AHEAD = 2, WORLDS = 5 };

static const char *const names[WORLDS] = {"", "replaced by the snapshot of another",
                                          "replaced by the state of another",
                                          "put back by its snapshot", "put back by its state"};

static void *saved(const tn_world *world, bool state, size_t *size)
{
  size_t (*save)(const tn_world *, void *, size_t) = state ? tn_world_save_state : tn_world_save;
  *size = save(world, NULL, 0);
  void *bytes = malloc(*size);
  assert_non_null(bytes);
  assert_int_equal(save(world, bytes, *size), *size);
  return bytes;
}

static void replace_by(tn_world *to, const tn_world *from, bool state)
{
  size_t size;
  void *bytes = saved(from, state, &size);
  bool ok = state ? tn_world_restore_state(to, bytes, size) : tn_world_restore(to, bytes, size);
  if (!ok) {
    fail_msg("not restored: %s", test_last_message());
  }
  free(bytes);
}

// Steps ahead and puts the world back. A state does not fit any more if a soft body has torn
// meanwhile: then the snapshot does it.
static void put_back(tn_world *world, bool state)
{
  size_t size, state_size;
  void *bytes = saved(world, false, &size), *state_bytes = saved(world, true, &state_size);
  for (int i = 0; i < AHEAD; ++i) {
    tn_world_step(world, 1.0f / 60.0f);
  }
  if (!(state && tn_world_restore_state(world, state_bytes, state_size)) &&
      !tn_world_restore(world, bytes, size)) {
    fail_msg("not put back: %s", test_last_message());
  }
  free(bytes);
  free(state_bytes);
}

typedef struct copies_case {
  uint32_t seed;
  tn_method method;
  int steps;
} copies_case;

// What no step makes anew for bodies that sleep, and joints to awake bodies read.
static bool agree_at_rest(const tn_world *a, const tn_world *b)
{
  for (int32_t i = 0; i < a->body_pool.used; ++i) {
    if (a->bodies[i].alive && a->bodies[i].asleep &&
        memcmp(&a->inertia[i], &b->inertia[i], sizeof a->inertia[i]) != 0) {
      return false;
    }
  }
  return true;
}

static int failures_of(copies_case run, int every)
{
  churn c = {.chaos = run.seed % 2 == 1};
  int failed = 0;
  while (c.count < WORLDS) {
    int lanes[4], widths = test_lanes(lanes);
    c.world[c.count] = test_world_with(3, run.method, lanes[c.count % widths], 1 + c.count / 4);
    c.count += 1;
  }
  churn_begin(&c, run.seed);
  while (c.step < run.steps && !failed) {
    churn_step(&c);
    for (int k = 1; k < WORLDS && !failed; ++k) {
      if (tn_world_hash(c.world[k]) != tn_world_hash(c.world[0])) {
        print_error("seed %u, step %d: a world %s differs\n", (unsigned)run.seed, c.step, names[k]);
        failed = 1;
      }
    }
    if (c.step % every == 0 && !failed) {
      replace_by(c.world[1], c.world[0], false);
      replace_by(c.world[2], c.world[0], true);
      put_back(c.world[3], false);
      put_back(c.world[4], true);
      for (int k = 1; k < WORLDS && !failed; ++k) {
        if (!agree_at_rest(c.world[k], c.world[0])) {
          print_error("seed %u, step %d: sleeping bodies of a world %s differ\n",
                      (unsigned)run.seed, c.step, names[k]);
          failed = 1;
        }
      }
    }
  }
  for (int k = 0; k < WORLDS; ++k) {
    tn_world_destroy(c.world[k]);
  }
  return failed;
}

static const copies_case regressions[] = {
    {200124, TN_METHOD_TENON, 70},  // the rate of a disabled joint after an impulse
    {200081, TN_METHOD_TENON, 195}, // what a split impulse had left in a ball tree, and lever arms
    {200002, TN_METHOD_TENON, 150}, // the start of the search between two shapes
    {200008, TN_METHOD_TENON, 130}, // a joint that has just broken; an impulse on a body that spins
    {500006, TN_METHOD_XPBD, 150},  // slots of removed pairs decided when pairs are sorted
    // Slow, because bodies are put back in many steps:
    {500012, TN_METHOD_TENON, 40},  // NaN between a body that went non-finite and a kinematic one
    {300025, TN_METHOD_TENON, 295}, // a ground that an infinite impulse had made NaN
};

typedef struct run_range {
  uint32_t from, to;
  int every;
} run_range;

static void replaced_worlds_go_on_with_the_same_bits(void **state)
{
  const run_range *range = *state;
  int failures = 0;
  for (uint32_t seed = range->from; seed < range->to; ++seed) {
    tn_method method = seed / 2 % 4 < 2 ? TN_METHOD_TENON : (tn_method)(seed / 2 % 4 - 1);
    failures += failures_of((copies_case){seed, method, STEPS}, range->every);
  }
  int count = (int)(sizeof regressions / sizeof *regressions) - (test_long() ? 0 : 2);
  for (int i = 0; i < count; ++i) {
    failures += failures_of(regressions[i], range->every);
  }
  assert_int_equal(failures, 0);
}

int main(int count, char **arguments)
{
  run_range range = {0, (uint32_t)test_cases(2, 40), 3};
  if (count > 2) {
    range.from = (uint32_t)strtoul(arguments[1], NULL, 10);
    range.to = (uint32_t)strtoul(arguments[2], NULL, 10);
  }
  if (count > 3) {
    range.every = atoi(arguments[3]);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(replaced_worlds_go_on_with_the_same_bits, &range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
