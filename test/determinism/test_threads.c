// The built-in thread pool: large worlds on several threads, pools created and destroyed, worlds in
// parallel.
#include "base/task.h"
#include "menagerie.h"
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const float dt = 1.0f / 60.0f;

#if defined(TEST_TSAN)
enum { LARGE_STEPS = 3, POOLS = 24, SOFT_STEPS = 2 };
#else
enum { LARGE_STEPS = 10, POOLS = 60, SOFT_STEPS = 12 };
#endif

#define CHAIN 1000
#define NET_WIDTH 50
#define NET_HEIGHT 40

static tn_body_id link_at(tn_world *world, tn_pos position)
{
  tn_body_def def = test_body_def();
  def.position = position;
  def.mass = tn_mass_sphere(0.1f, 1000.0f);
  tn_body_id id = tn_body_create(world, &def);
  assert_false(TN_IS_NULL(id));
  return id;
}

static void tie(tn_world *world, tn_joint_kind kind, tn_body_id a, tn_body_id b, tn_pos pa,
                tn_pos pb, float compliance)
{
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_a = a;
  def.body_b = b;
  def.compliance = compliance;
  assert_true(tn_joint_def_between(world, &def, pa, pb));
  assert_false(TN_IS_NULL(tn_joint_create(world, &def)));
}

// A chain of ball joints and hinges along x, with frames half way between the links.
static void add_chain(tn_world *world)
{
  tn_body_id last = {0};
  tn_pos last_place = {-0.5, 0.0, 0.0};
  for (int i = 0; i < CHAIN; ++i) {
    tn_pos place = {0.5 * i, 0.0, 0.0};
    tn_body_id body = link_at(world, place);
    tn_pos middle = {0.5 * (place.x + last_place.x), 0.0, 0.0};
    tie(world, i % 3 ? TN_JOINT_BALL : TN_JOINT_HINGE, last, body, middle, middle, 0.0f);
    last = body;
    last_place = place;
  }
}

// A net of springs that hangs from its top row.
static void add_net(tn_world *world)
{
  static tn_body_id knots[NET_HEIGHT][NET_WIDTH];
  tn_body_id none = {0};
  for (int y = 0; y < NET_HEIGHT; ++y) {
    for (int x = 0; x < NET_WIDTH; ++x) {
      tn_pos place = {0.3 * x, -0.3 * y, 10.0};
      knots[y][x] = link_at(world, place);
      if (y == 0) {
        tie(world, TN_JOINT_BALL, none, knots[y][x], place, place, 0.0f);
      } else {
        tie(world, TN_JOINT_DISTANCE, knots[y - 1][x], knots[y][x],
            tn_p3(place.x, place.y + 0.3, place.z), place, 1e-4f);
      }
      if (x > 0) {
        tie(world, TN_JOINT_DISTANCE, knots[y][x - 1], knots[y][x],
            tn_p3(place.x - 0.3, place.y, place.z), place, 1e-4f);
      }
    }
  }
}

static uint64_t run_large(tn_method method, int threads, int steps)
{
  tn_world *world = test_world_with(2, method, 0, threads);
  add_chain(world);
  add_net(world);
  assert_int_equal(tn_world_counters(world).bodies, CHAIN + NET_WIDTH * NET_HEIGHT);
  for (int i = 0; i < steps; ++i) {
    // The net is too dense for a direct solve.
    assert_int_equal(tn_world_step(world, dt) & ~(uint32_t)TN_STEP_ITERATIVE, TN_STEP_OK);
  }
  assert_true(test_is_finite(world));
  uint64_t hash = tn_world_hash(world);
  tn_world_destroy(world);
  return hash;
}

static void large_worlds_are_the_same_on_any_number_of_threads(void **state)
{
  (void)state;
  for (int m = 0; m < TEST_METHODS; ++m) {
    uint64_t expected = run_large(test_methods[m], 1, LARGE_STEPS);
    for (int threads = 2; threads <= 4; threads += 2) {
      assert_true(run_large(test_methods[m], threads, LARGE_STEPS) == expected);
    }
  }
}

// Soft cubes and balloons that stand close to each other and fall onto a cloth with contacts of its
// own. `dense`: a fine cloth, crumpled to a tenth, on which chunks of particles have more contacts
// than detection has room for at first.
static uint64_t run_soft(int threads, bool dense, int steps)
{
  tn_world *world = test_world_with(2, TN_METHOD_TENON, 0, threads);
  tn_soft_def cloth = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&cloth, 32, 32, 2.0f, 2.0f));
  cloth.radius = 0.01f;
  cloth.self_collision = true;
  tn_soft_id sheet = tn_soft_create(world, &cloth);
  tn_soft_mesh_free(&cloth);
  for (int i = 0; i < 32 * 32 && dense; ++i) {
    tn_pos at = tn_soft_position(world, sheet, i);
    tn_soft_set_position(world, sheet, i, tn_p3(0.1 * at.x, 1e-4 * (double)(i % 7), 0.1 * at.z));
  }
  for (int i = 0; i < 12; ++i) {
    const int cells[3] = {3, 3, 3};
    tn_soft_def cube = tn_default_soft_def();
    cube.mass = 1.0f;
    cube.radius = 0.02f;
    cube.youngs_modulus = 1e4f;
    cube.position = tn_p3(0.22 * (i % 2), 0.15 + 0.22 * (i / 4), 0.22 * (i / 2 % 2));
    cube.pressure = i % 3 == 2 ? 1.1f : 0.0f;
    cube.damping = i % 2 ? 1.0f : 0.0f;
    assert_true(i % 3 == 2 ? tn_soft_mesh_sphere(&cube, 2, 0.1f)
                           : tn_soft_mesh_box(&cube, cells, tn_v3(0.1f, 0.1f, 0.1f), true));
    assert_false(TN_IS_NULL(tn_soft_create(world, &cube)));
    tn_soft_mesh_free(&cube);
  }
  for (int i = 0; i < steps; ++i) {
    tn_world_step(world, dt);
  }
  uint64_t hash = tn_world_hash(world);
  tn_world_destroy(world);
  return hash;
}

static void soft_contacts_are_the_same_on_any_number_of_threads(void **state)
{
  (void)state;
  for (int dense = 0; dense < 2; ++dense) {
    uint64_t expected = run_soft(1, dense, SOFT_STEPS);
    for (int threads = 2; threads <= 8; threads += 3) {
      assert_true(run_soft(threads, dense, SOFT_STEPS) == expected);
    }
  }
}

// Pools destroyed at once, after work, and while their workers are waking up.
static void pools_can_be_created_and_destroyed(void **state)
{
  (void)state;
  uint64_t expected = 0;
  for (int i = 0; i < POOLS; ++i) {
    tn_world *world = test_world_with(1, TN_METHOD_TENON, 0, 1 + i % 6);
    if (i % 3 != 0) {
      menagerie_build(world, 20, 400.0f);
      test_run(world, dt, i % 3);
      uint64_t hash = tn_world_hash(world);
      if (i % 3 == 2) {
        assert_true(expected == 0 || hash == expected);
        expected = hash;
      }
    }
    tn_world_destroy(world);
  }
  tn_world *world = test_world_with(1, TN_METHOD_TENON, 0, 64);
  menagerie_build(world, 20, 400.0f);
  test_run(world, dt, 2);
  assert_true(tn_world_hash(world) == expected);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Worlds in parallel, each on its own thread; cmocka's asserts stay on the main thread

typedef struct runner {
  tn_method method;
  int groups, threads;
  uint32_t status;
  uint64_t hash;
} runner;

static void *run_world(void *argument)
{
  runner *r = argument;
  tn_world_def def = test_world_def(2, r->method);
  def.threads = r->threads;
  tn_world *world = tn_world_create(&def);
  r->status = TN_STEP_OUT_OF_MEMORY;
  if (world) {
    r->status = TN_STEP_OK;
    menagerie_build(world, r->groups, 400.0f);
    for (int i = 0; i < 15; ++i) {
      menagerie_disturb(world, i);
      r->status |= tn_world_step(world, dt);
    }
    r->hash = tn_world_hash(world);
    tn_world_destroy(world);
  }
  return NULL;
}

#define RUNNERS 6

static void worlds_run_side_by_side(void **state)
{
  (void)state;
  runner alone[RUNNERS], together[RUNNERS];
  pthread_t threads[RUNNERS];
  for (int i = 0; i < RUNNERS; ++i) {
    runner r = {test_methods[i % TEST_METHODS], i < 3 ? 3 : 20, 1 + i % 2, 0, 0};
    alone[i] = together[i] = r;
    run_world(&alone[i]);
    assert_int_equal(alone[i].status, TN_STEP_OK);
  }
  for (int i = 0; i < RUNNERS; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, run_world, &together[i]), 0);
  }
  for (int i = 0; i < RUNNERS; ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  }
  for (int i = 0; i < RUNNERS; ++i) {
    assert_int_equal(together[i].status, TN_STEP_OK);
    assert_true(together[i].hash == alone[i].hash);
  }
}

static void *step_once(void *argument)
{
  tn_world_step(argument, dt);
  return NULL;
}

// A world may be used by different threads, one after another.
static void a_world_may_be_stepped_by_different_threads(void **state)
{
  (void)state;
  uint64_t hashes[2];
  for (int k = 0; k < 2; ++k) {
    tn_world *world = test_world_with(2, TN_METHOD_TENON, 0, 2);
    menagerie_build(world, 20, 400.0f);
    for (int i = 0; i < 6; ++i) {
      pthread_t thread;
      if (k == 0) {
        step_once(world);
      } else {
        assert_int_equal(pthread_create(&thread, NULL, step_once, world), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
      }
    }
    hashes[k] = tn_world_hash(world);
    tn_world_destroy(world);
  }
  assert_true(hashes[0] == hashes[1]);
}

// ---------------------------------------------------------------------------------------------
// Jobs of many stages

#define STAGES 300
#define STAGE_ITEMS 40

typedef struct staged {
  task_range stages[STAGES];
  int stage[STAGES * STAGE_ITEMS]; // stage of each item
  atomic_int runs[STAGES * STAGE_ITEMS];
  atomic_int left[STAGES]; // items of each stage that have not run yet
  atomic_int early;        // items that ran before the previous stage was complete
} staged;

static void run_items(int first, int last, void *context)
{
  staged *job = context;
  for (int i = first; i < last; ++i) {
    int stage = job->stage[i];
    atomic_fetch_add(&job->early, stage > 0 && atomic_load(&job->left[stage - 1]) != 0);
    atomic_fetch_add(&job->runs[i], 1);
    atomic_fetch_sub(&job->left[stage], 1);
  }
}

// Returns the number of items.
static int make_stages(staged *job, int count, uint32_t *seed)
{
  memset(job, 0, sizeof *job);
  int next = 0;
  for (int i = 0; i < count; ++i) {
    int items = test_index(seed, STAGE_ITEMS + 1);
    job->stages[i] = (task_range){next, next + items};
    atomic_store(&job->left[i], items);
    for (int k = 0; k < items; ++k) {
      job->stage[next++] = i;
    }
  }
  return next;
}

// A custom scheduler that runs the ranges in reverse order.
static void *run_backwards(tn_task_fn *task, int count, int grain, void *task_context,
                           void *context)
{
  for (int last = count; last > 0; last -= grain) {
    task(last > grain ? last - grain : 0, last, task_context);
  }
  return context;
}

static void count_finished(void *handle, void *context)
{
  assert_ptr_equal(handle, context);
  *(int *)context += 1;
}

static void *take(size_t size, size_t alignment, void *context)
{
  (void)context;
  return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void give(void *memory, size_t size, void *context)
{
  (void)size, (void)context;
  free(memory);
}

// Every item runs once, and no stage begins before the previous one is complete.
static void run_jobs(int threads, tn_enqueue_fn *enqueue, int *finished)
{
  tn_allocator allocator = {take, give, NULL};
  task_pool *pool =
      task_pool_create(threads, enqueue, enqueue ? count_finished : NULL, finished, &allocator);
  staged *job = malloc(sizeof *job);
  assert_true(pool && job);
  uint32_t seed = (uint32_t)threads;
  for (int step = 0; step < 16; ++step) {
    int count = step % 4 == 0 ? STAGES : 1 + test_index(&seed, STAGES);
    task_begin(pool, 1e6);
    for (int repeat = 0; repeat < 4; ++repeat) {
      int items = make_stages(job, count, &seed);
      task_run_stages(pool, run_items, job->stages, count, 1 + step % 3, job);
      assert_int_equal(atomic_load(&job->early), 0);
      for (int i = 0; i < items; ++i) {
        assert_int_equal(atomic_load(&job->runs[i]), 1);
      }
    }
    task_end(pool);
  }
  free(job);
  task_pool_destroy(pool);
}

static void stages_run_in_order_for_any_number_of_them(void **state)
{
  (void)state;
  int finished = 0;
  for (int threads = 1; threads <= 5; threads += 2) {
    run_jobs(threads, NULL, NULL);
  }
  run_jobs(2, run_backwards, &finished);
  assert_true(finished > 0);
}

// A cloth on two boxes. Each particle on the dynamic box takes its own colour; those on the static
// one share a colour, which is enough work for several threads.
static uint64_t drape(int side, int threads, tn_enqueue_fn *enqueue, int *finished)
{
  tn_world_def def = test_world_def(2, TN_METHOD_TENON);
  def.threads = threads;
  def.enqueue = enqueue;
  def.finish = enqueue ? count_finished : NULL;
  def.task_context = finished;
  tn_world *world = tn_world_create(&def);
  assert_non_null(world);
  tn_body_id boxes[2] = {test_box(world, tn_p3(0.0, 0.0, 0.0), 1000.0f, tn_v3(0.5f, 0.5f, 0.5f)),
                         test_body(world, TN_BODY_STATIC, tn_p3(2.0, 0.0, 0.0))};
  tn_shape_def shape = tn_default_shape_def(TN_SHAPE_BOX);
  for (int i = 0; i < 2; ++i) {
    assert_false(TN_IS_NULL(tn_shape_create(world, boxes[i], &shape)));
  }
  tn_soft_def cloth = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&cloth, side, side, 4.0f, 1.0f));
  cloth.position = tn_p3(1.0, 0.5, 0.0);
  cloth.velocity = tn_v3(0.0f, -1.0f, 0.0f);
  assert_false(TN_IS_NULL(tn_soft_create(world, &cloth)));
  tn_soft_mesh_free(&cloth);
  test_run(world, dt, 6);
  assert_true(tn_world_counters(world).touches > 64);
  uint64_t hash = tn_world_hash(world);
  tn_world_destroy(world);
  return hash;
}

static void a_body_may_have_any_number_of_soft_contacts(void **state)
{
  (void)state;
  int finished = 0;
  for (int side = 24; side <= 60; side += 36) {
    uint64_t expected = drape(side, 1, NULL, NULL);
    assert_true(drape(side, 2, NULL, NULL) == expected);
    assert_true(drape(side, 4, NULL, NULL) == expected);
    assert_true(drape(side, 2, run_backwards, &finished) == expected);
  }
  assert_true(finished > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stages_run_in_order_for_any_number_of_them),
      cmocka_unit_test(a_body_may_have_any_number_of_soft_contacts),
      cmocka_unit_test(large_worlds_are_the_same_on_any_number_of_threads),
      cmocka_unit_test(soft_contacts_are_the_same_on_any_number_of_threads),
      cmocka_unit_test(pools_can_be_created_and_destroyed),
      cmocka_unit_test(worlds_run_side_by_side),
      cmocka_unit_test(a_world_may_be_stepped_by_different_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
