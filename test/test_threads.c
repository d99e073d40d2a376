// The built-in pool: large worlds on several threads, pools that come and go, worlds side by side.
#include "menagerie.h"
#include "support.h"

#include <pthread.h>

static const float dt = 1.0f / 60.0f;

#define CHAIN 1000
#define NET_WIDTH 50
#define NET_HEIGHT 40

static tn_body_id link_at(tn_world *world, tn_pos position)
{
  tn_body_def def = tn_default_body_def();
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

// A chain of ball joints along x, its frames at the links' centres half way to the next.
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

// A net of springs, hung up by its top row.
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
    uint64_t expected = run_large(test_methods[m], 1, 10);
    for (int threads = 2; threads <= 4; threads += 2) {
      assert_true(run_large(test_methods[m], threads, 10) == expected);
    }
  }
}

// A pool that is taken down at once, after work, and while its workers are just waking up.
static void pools_come_and_go(void **state)
{
  (void)state;
  uint64_t expected = 0;
  for (int i = 0; i < 60; ++i) {
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
// Worlds side by side, each on a thread of its own; cmocka's asserts stay on the main thread

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

// A world may be used from one thread after another.
static void a_world_may_change_threads(void **state)
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_worlds_are_the_same_on_any_number_of_threads),
      cmocka_unit_test(pools_come_and_go),
      cmocka_unit_test(worlds_run_side_by_side),
      cmocka_unit_test(a_world_may_change_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
