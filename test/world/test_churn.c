// Churn: worlds that differ in lane width, threads and restores stay equal under any sequence of
// public calls, and events name live objects.
//
// `test_churn FROM TO` runs a range of seeds. The test runs a short range and the seeds that once
// failed.
#include "churn.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS 240
#define RESTORE_EVERY 24 // steps
#define EQUAL_EVERY 4

typedef struct verdict {
  int step; // step of the first failure, or -1
  const char *what;
} verdict;

// ---------------------------------------------------------------------------------------------
// Runs

// One world of each lane width, one with two threads, and last the one that is restored repeatedly.
static void make_worlds(churn *c)
{
  int lanes[4], widths = test_lanes(lanes);
  for (int i = 0; i < widths; ++i) {
    c->world[c->count++] = test_world_with(4, TN_METHOD_TENON, lanes[i], 1);
  }
  c->world[c->count++] = test_world_with(4, TN_METHOD_TENON, lanes[widths - 1], 2);
  c->world[c->count++] = test_world_with(4, TN_METHOD_TENON, lanes[1], 1);
}

static const char *difference(const churn *c)
{
  uint64_t hash = tn_world_hash(c->world[0]);
  for (int k = 1; k < c->count; ++k) {
    if (tn_world_hash(c->world[k]) != hash) {
      return k + 1 == c->count   ? "the restored world differs"
             : k + 2 == c->count ? "threads differ"
                                 : "lanes differ";
    }
  }
  return NULL;
}

static verdict run(uint32_t seed, int steps)
{
  churn c = {0};
  verdict v = {-1, NULL};
  make_worlds(&c);
  churn_begin(&c, seed);
  while (c.step < steps && !v.what) {
    uint32_t status = churn_step(&c);
    if (c.step % EQUAL_EVERY == 0) {
      v.what = difference(&c);
    }
    for (int k = 0; k < c.count && !v.what; ++k) {
      v.what = churn_event_problem(c.world[k]);
    }
    if (status & (TN_STEP_REJECTED | TN_STEP_OUT_OF_MEMORY)) {
      v.what = v.what ? v.what : "a step is not clean";
    }
    v.step = v.what ? c.step : -1;
    if (c.step % RESTORE_EVERY == 0 && !v.what) {
      churn_restore(&c, c.step / RESTORE_EVERY % (c.count - 1), c.count - 1);
      v.what = difference(&c);
    }
  }
  for (int k = 0; k < c.count; ++k) {
    tn_world_destroy(c.world[k]);
  }
  return v;
}

static int failures_of(uint32_t seed, int steps)
{
  verdict v = run(seed, steps);
  if (v.what) {
    print_error("seed %u, step %d: %s\n", (unsigned)seed, v.step, v.what);
  }
  return v.what != NULL;
}

static void worlds_stay_equal(void **state)
{
  const uint32_t *range = *state;
  int failures = 0;
  for (uint32_t seed = range[0]; seed < range[1]; ++seed) {
    failures += failures_of(seed, STEPS);
  }
  assert_int_equal(failures, 0);
}

// Regression seeds: a sleep event of a destroyed body (20, 50), a begin event of a destroyed shape
// (63), a different continuation after a restore because soft contacts and active pairs were not
// saved (27, 39, 62, 100) or a mechanism was laid out for earlier joints (64).
static void regression_seeds_stay_equal(void **state)
{
  (void)state;
  const uint32_t seeds[] = {27, 39, 50, 62, 63, 64, 100};
  int failures = 0;
  for (size_t i = 0; i < sizeof seeds / sizeof *seeds; ++i) {
    failures += failures_of(seeds[i], STEPS);
  }
  assert_int_equal(failures, 0);
}

int main(int count, char **arguments)
{
  uint32_t range[2] = {0, 16};
  for (int i = 0; i < 2 && count > 2; ++i) {
    range[i] = (uint32_t)strtoul(arguments[1 + i], NULL, 10);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(worlds_stay_equal, range),
      cmocka_unit_test(regression_seeds_stay_equal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
