// The same bits for every lane width, number of threads and custom scheduler.
#include "heap.h"
#include "menagerie.h"
#include "scenes.h"
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const float dt = 1.0f / 60.0f;

// GROUPS makes about 200 bodies; MANY_GROUPS enough for threads to share the work.
#if defined(TEST_TSAN)
enum { GROUPS = 2, STEPS = 10, MANY_GROUPS = 24, MANY_STEPS = 4, HEAP_STEPS = 30, PILE = 200 };
enum { FEWEST_THREADS = 4, MOST_WIDTHS = 1 };
#elif defined(TEST_ASAN)
enum { GROUPS = 3, STEPS = 40, MANY_GROUPS = 24, MANY_STEPS = 4, HEAP_STEPS = 30, PILE = 200 };
enum { FEWEST_THREADS = 2, MOST_WIDTHS = 4 };
#else
enum { GROUPS = 11, STEPS = 120, MANY_GROUPS = 40, MANY_STEPS = 12, HEAP_STEPS = 60, PILE = 500 };
enum { FEWEST_THREADS = 1, MOST_WIDTHS = 4 };
#endif

// The MOST_WIDTHS widest lane widths of this machine; returns how many.
static int widest_lanes(int lanes[4])
{
  int all[4];
  int widths = test_lanes(all);
  int tried = widths < MOST_WIDTHS ? widths : MOST_WIDTHS;
  memcpy(lanes, all + widths - tried, (size_t)tried * sizeof *lanes);
  return tried;
}

// ---------------------------------------------------------------------------------------------
// Custom schedulers

typedef struct host {
  int calls;
} host;

// Runs tasks on the calling thread, in reverse order.
static void *run_backwards(tn_task_fn *task, int count, int grain, void *task_context,
                           void *context)
{
  host *h = context;
  h->calls += 1;
  int size = grain > 0 ? grain : 1;
  for (int first = (count - 1) / size * size; first >= 0; first -= size) {
    int last = first + size < count ? first + size : count;
    task(first, last, task_context);
  }
  return NULL;
}

static void finish_without_a_handle(void *handle, void *context)
{
  (void)handle, (void)context;
  fail_msg("there was no handle to wait for");
}

#define HOST_THREADS 3

typedef struct job {
  tn_task_fn *task;
  void *context;
  int first, last;
} job;

typedef struct batch {
  pthread_t threads[HOST_THREADS];
  job jobs[HOST_THREADS];
  int count;
} batch;

static void *run_job(void *argument)
{
  job *j = argument;
  j->task(j->first, j->last, j->context);
  return NULL;
}

// Runs tasks on new threads, the rest on the calling thread.
static void *start_threads(tn_task_fn *task, int count, int grain, void *task_context,
                           void *context)
{
  host *h = context;
  h->calls += 1;
  batch *b = calloc(1, sizeof *b);
  int share = (count + HOST_THREADS) / (HOST_THREADS + 1);
  share = share < grain ? grain : share;
  int first = 0;
  while (b->count < HOST_THREADS && first + share < count) {
    b->jobs[b->count] = (job){task, task_context, first, first + share};
    if (pthread_create(&b->threads[b->count], NULL, run_job, &b->jobs[b->count]) != 0) {
      break;
    }
    b->count += 1;
    first += share;
  }
  task(first, count, task_context);
  return b;
}

static void join_threads(void *handle, void *context)
{
  (void)context;
  batch *b = handle;
  for (int i = 0; i < b->count; ++i) {
    pthread_join(b->threads[i], NULL);
  }
  free(b);
}

// ---------------------------------------------------------------------------------------------

typedef struct way {
  int lanes, threads;
  tn_enqueue_fn *enqueue;
  tn_finish_fn *finish;
} way;

static tn_world *start(tn_method method, const way *w, host *h)
{
  tn_world_def def = test_world_def(4, method);
  def.lanes = w->lanes;
  def.threads = w->threads;
  def.enqueue = w->enqueue;
  def.finish = w->finish;
  def.task_context = h;
  tn_world *world = tn_world_create(&def);
  assert_non_null(world);
  return world;
}

static void advance(tn_world *world, int step)
{
  menagerie_disturb(world, step);
  test_run(world, dt, 1);
}

static uint64_t run(tn_method method, const way *w, int groups, int steps, host *h)
{
  tn_world *world = start(method, w, h);
  menagerie_build(world, groups, 400.0f);
  for (int i = 0; i < steps; ++i) {
    advance(world, i);
  }
  assert_true(test_is_finite(world));
  uint64_t hash = tn_world_hash(world);
  tn_world_destroy(world);
  return hash;
}

static void assert_same(uint64_t hash, uint64_t expected, tn_method method, const way *w)
{
  if (hash != expected) {
    fail_msg("%s, %d lanes, %d threads%s: %016llx is not %016llx", test_method_name(method),
             w->lanes, w->threads, w->enqueue ? ", host's tasks" : "", (unsigned long long)hash,
             (unsigned long long)expected);
  }
}

static void hashes_of_different_worlds_differ(void **state)
{
  (void)state;
  test_skip_under_tsan();
  way w = {1, 1, NULL, NULL};
  uint64_t hashes[4] = {run(TN_METHOD_TENON, &w, 2, 20, NULL),
                        run(TN_METHOD_TENON, &w, 2, 21, NULL), run(TN_METHOD_XPBD, &w, 2, 20, NULL),
                        run(TN_METHOD_JACOBI, &w, 2, 20, NULL)};
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < i; ++k) {
      assert_true(hashes[i] != hashes[k]);
    }
  }
  assert_true(run(TN_METHOD_TENON, &w, 2, 20, NULL) == hashes[0]);
}

static void lane_widths_change_no_bits(void **state)
{
  (void)state;
  test_skip_under_tsan();
  int lanes[4];
  int widths = test_lanes(lanes);
  assert_true(widths >= 1);
  for (int m = 0; m < TEST_METHODS; ++m) {
    way reference = {1, 1, NULL, NULL};
    uint64_t expected = run(test_methods[m], &reference, GROUPS, STEPS, NULL);
    for (int i = 1; i < widths; ++i) {
      way w = {lanes[i], 1, NULL, NULL};
      assert_same(run(test_methods[m], &w, GROUPS, STEPS, NULL), expected, test_methods[m], &w);
    }
  }
}

static void threads_and_schedulers_change_no_bits(void **state)
{
  (void)state;
  int lanes[4];
  int widths = widest_lanes(lanes);
  for (int m = 0; m < TEST_METHODS; ++m) {
    way reference = {lanes[widths - 1], 1, NULL, NULL};
    uint64_t expected = run(test_methods[m], &reference, MANY_GROUPS, MANY_STEPS, NULL);
    for (int i = 0; i < widths; ++i) {
      const way ways[4] = {{lanes[i], 2, NULL, NULL},
                           {lanes[i], 4, NULL, NULL},
                           {lanes[i], 1, run_backwards, finish_without_a_handle},
                           {lanes[i], 1, start_threads, join_threads}};
      for (int k = 0; k < 4; ++k) {
        host h = {0};
        uint64_t hash = run(test_methods[m], &ways[k], MANY_GROUPS, MANY_STEPS, &h);
        assert_same(hash, expected, test_methods[m], &ways[k]);
        assert_true(k < 2 || h.calls > 100 * MANY_STEPS / 12); // otherwise nothing was scheduled
      }
    }
  }
}

static uint64_t run_heap(tn_method method, const way *w, int layers, int steps, host *h)
{
  tn_world *world = start(method, w, h);
  heap_build(world, layers);
  test_run(world, dt, steps);
  assert_true(test_is_finite(world));
  assert_true(tn_world_counters(world).contacts > 20); // otherwise nothing was tested
  uint64_t hash = tn_world_hash(world);
  tn_world_destroy(world);
  return hash;
}

static void lanes_and_threads_change_no_bits_of_contacts(void **state)
{
  (void)state;
  int lanes[4];
  int widths = widest_lanes(lanes);
  for (int m = 0; m < TEST_METHODS; ++m) {
    way reference = {1, 1, NULL, NULL};
    uint64_t expected = run_heap(test_methods[m], &reference, 6, HEAP_STEPS, NULL);
    for (int i = 0; i < widths; ++i) {
      const way ways[3] = {{lanes[i], 1, NULL, NULL},
                           {lanes[i], 4, NULL, NULL},
                           {lanes[i], 1, run_backwards, finish_without_a_handle}};
      for (int k = 0; k < 3; ++k) {
        host h = {0};
        uint64_t hash = run_heap(test_methods[m], &ways[k], 6, HEAP_STEPS, &h);
        assert_same(hash, expected, test_methods[m], &ways[k]);
      }
    }
  }
}

// Bodies of six shapes, from their fall until they lie in a heap.
static uint64_t run_pile(const way *w)
{
  tn_world_def def = test_world_def(4, TN_METHOD_TENON);
  def.lanes = w->lanes;
  def.threads = w->threads;
  const scene *which = scene_find("pile");
  scene_settings settings = scene_defaults(which);
  scene_set(which, &settings, "count", (double)PILE);
  scene_run *pile = scene_create(which, &settings, &def);
  assert_non_null(pile);
  for (int i = 0; i < 90; ++i) {
    assert_int_equal(scene_advance(pile, dt), TN_STEP_OK);
  }
  assert_true(tn_world_counters(pile->world).contacts > PILE);
  uint64_t hash = tn_world_hash(pile->world);
  scene_destroy(pile);
  return hash;
}

static void lanes_and_threads_change_no_bits_of_a_pile(void **state)
{
  (void)state;
  int lanes[4];
  int widths = widest_lanes(lanes);
  way reference = {lanes[widths - 1], 1, NULL, NULL};
  uint64_t expected = run_pile(&reference);
  for (int i = 0; i < widths; ++i) {
    for (int threads = FEWEST_THREADS; threads <= 4; threads *= 2) {
      way w = {lanes[i], threads, NULL, NULL};
      assert_same(run_pile(&w), expected, TN_METHOD_TENON, &w);
    }
  }
}

static void worlds_are_independent(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    way w = {0, 2, NULL, NULL};
    uint64_t expected[2] = {run(test_methods[m], &w, 3, 40, NULL),
                            run(test_methods[(m + 1) % TEST_METHODS], &w, 2, 40, NULL)};
    tn_world *first = start(test_methods[m], &w, NULL);
    menagerie_build(first, 3, 400.0f);
    tn_world *second = start(test_methods[(m + 1) % TEST_METHODS], &w, NULL);
    menagerie_build(second, 2, 400.0f);
    for (int i = 0; i < 40; ++i) {
      advance(first, i);
      advance(second, i);
    }
    assert_true(tn_world_hash(first) == expected[0]);
    assert_true(tn_world_hash(second) == expected[1]);
    tn_world_destroy(first);
    tn_world_destroy(second);
  }
}

// The widest lanes are the default, and the width in use can be read.
static void default_lane_width_is_the_widest(void **state)
{
  (void)state;
  int lanes[4];
  int widths = test_lanes(lanes);
  tn_world *world = test_world(1, TN_METHOD_TENON);
  assert_int_equal(tn_world_lanes(world), lanes[widths - 1]);
  tn_world_destroy(world);
  for (int i = 0; i < widths; ++i) {
    world = test_world_with(1, TN_METHOD_TENON, lanes[i], 1);
    assert_int_equal(tn_world_lanes(world), lanes[i]);
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hashes_of_different_worlds_differ),
      cmocka_unit_test(lane_widths_change_no_bits),
      cmocka_unit_test(threads_and_schedulers_change_no_bits),
      cmocka_unit_test(lanes_and_threads_change_no_bits_of_contacts),
      cmocka_unit_test(lanes_and_threads_change_no_bits_of_a_pile),
      cmocka_unit_test(worlds_are_independent),
      cmocka_unit_test(default_lane_width_is_the_widest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
