// Solver groups: bodies that do not interact are solved group by group, with unchanged results.
#include "data/world.h"
#include "solver/solver.h"
#include "support.h"

static const float dt = 1.0f / 60.0f;

#define HEAPS 240
#define STEPS 30
#define GROUP_SEARCH_DELAY 1000000 // steps

static tn_body_id add_box(tn_world *world, tn_body_type type, tn_pos position, tn_vec3 half,
                          float restitution)
{
  tn_body_def def = test_body_def();
  def.type = type;
  def.position = position;
  tn_body_id id = tn_body_create(world, &def);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = half;
  box.material.restitution = restitution;
  assert_false(TN_IS_NULL(tn_shape_create(world, id, &box)));
  return id;
}

// A pyramid of ten cubes that falls a short way, beside a post; some posts are in the same block of
// bodies as the next heap's cubes.
static void add_heap(tn_world *world, double x, double z)
{
  const tn_vec3 cube = {0.5f, 0.5f, 0.5f};
  for (int row = 0; row < 4; ++row) {
    for (int k = 0; k < 4 - row; ++k) {
      tn_pos place = {x + 0.55 * row + 1.1 * k, 0.5 + 1.02 * row, z};
      add_box(world, TN_BODY_DYNAMIC, place, cube, 0.0f);
    }
  }
  add_box(world, TN_BODY_STATIC, tn_p3(x - 1.0, 0.5, z), tn_v3(0.45f, 0.5f, 0.5f), 0.0f);
}

// Fills the current block of bodies, so that the next body starts a new one.
static void begin_block(tn_world *world)
{
  while (world->body_pool.used % BLOCK_WIDTH != 0) {
    double depth = 10.0 * (double)(world->body_pool.used % BLOCK_WIDTH);
    add_box(world, TN_BODY_STATIC, tn_p3(-500.0, -depth, 0.0), tn_v3(1.0f, 1.0f, 1.0f), 0.0f);
  }
}

// Heaps; a paddle that hits one of them; a cube that bounces on another; two joined cubes that fall
// onto a third.
static tn_world *make_world(int lanes, int threads)
{
  tn_world *world = test_world_with(4, TN_METHOD_TENON, lanes, threads);
  tn_world_set_gravity(world, tn_v3(0.0f, -10.0f, 0.0f));
  add_box(world, TN_BODY_STATIC, tn_p3(50.0, -1.0, 50.0), tn_v3(200.0f, 1.0f, 200.0f), 0.0f);
  begin_block(world);
  for (int i = 0; i < HEAPS; ++i) {
    int row = i / 16;
    add_heap(world, 7.0 * (i % 16), 2.5 * row);
  }
  begin_block(world);
  tn_body_id paddle =
      add_box(world, TN_BODY_KINEMATIC, tn_p3(-3.0, 1.0, 0.0), tn_v3(0.2f, 0.9f, 0.4f), 0.0f);
  tn_body_set_velocity(world, paddle, tn_v3(6.0f, 0.0f, 0.0f));
  begin_block(world);
  add_box(world, TN_BODY_DYNAMIC, tn_p3(22.6, 4.7, 10.0), tn_v3(0.3f, 0.3f, 0.3f), 0.5f);
  begin_block(world);
  tn_body_id a =
      add_box(world, TN_BODY_DYNAMIC, tn_p3(43.0, 4.7, 5.0), tn_v3(0.3f, 0.3f, 0.3f), 0.0f);
  tn_body_id b =
      add_box(world, TN_BODY_DYNAMIC, tn_p3(44.0, 4.7, 5.0), tn_v3(0.3f, 0.3f, 0.3f), 0.0f);
  tn_joint_def ball = tn_default_joint_def(TN_JOINT_BALL);
  ball.body_a = a;
  ball.body_b = b;
  assert_true(tn_joint_def_between(world, &ball, tn_p3(43.5, 4.7, 5.0), tn_p3(43.5, 4.7, 5.0)));
  assert_false(TN_IS_NULL(tn_joint_create(world, &ball)));
  return world;
}

// Returns the hash after all steps, and the smallest number of groups in any of them.
static uint64_t run(int lanes, int threads, bool in_parts, int *fewest)
{
  tn_world *world = make_world(lanes, threads);
  *fewest = HEAPS;
  for (int i = 0; i < STEPS; ++i) {
    world->solver->groups.search_delay = in_parts ? 0 : GROUP_SEARCH_DELAY;
    assert_int_equal(tn_world_step(world, dt), TN_STEP_OK);
    // Before the cubes have landed there are too few contacts for groups.
    *fewest = i >= STEPS / 3 && world->solver->groups.count < *fewest ? world->solver->groups.count
                                                                      : *fewest;
  }
  uint64_t hash = tn_world_hash(world);
  tn_world_destroy(world);
  return hash;
}

static void groups_change_no_bits(void **state)
{
  (void)state;
  int fewest;
  uint64_t in_parts = run(0, 2, true, &fewest);
  assert_true(fewest >= 2);
#if !defined(TEST_TSAN)
  assert_int_equal(run(4, 1, false, &fewest), in_parts);
  assert_int_equal(fewest, 0);
  assert_int_equal(run(1, 1, true, &fewest), in_parts);
  assert_true(fewest >= 2);
#endif
  assert_int_equal(run(0, 3, true, &fewest), in_parts);
}

#define ROW 1600 // cubes per row: two rows are too many for one group

// Two rows of cubes in separate blocks of bodies that slide towards each other.
static void groups_end_when_bodies_meet(void **state)
{
  (void)state;
  test_skip_under_tsan();
  tn_world *world = test_world_with(4, TN_METHOD_TENON, 0, 1);
  tn_world_set_gravity(world, tn_v3(0.0f, -10.0f, 0.0f));
  while (world->body_pool.used < BLOCK_WIDTH) {
    double depth = 10.0 * (double)world->body_pool.used - 9.0;
    add_box(world, TN_BODY_STATIC, tn_p3(0.0, -depth, 0.0), tn_v3(2000.0f, 1.0f, 10.0f), 0.0f);
  }
  for (int i = 0; i < 2 * ROW; ++i) {
    float side = i < ROW ? -1.0f : 1.0f;
    tn_pos place = {1.001 * (i % ROW), 0.5, 0.9 * (double)side};
    tn_body_id cube = add_box(world, TN_BODY_DYNAMIC, place, tn_v3(0.5f, 0.5f, 0.5f), 0.0f);
    tn_body_set_velocity(world, cube, tn_v3(0.0f, 0.0f, -4.0f * side));
  }
  assert_int_equal(tn_world_step(world, dt), TN_STEP_OK);
  assert_int_equal(world->solver->groups.count, 2);
  test_run(world, dt, 30);
  assert_int_equal(world->solver->groups.count, 0);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_change_no_bits),
      cmocka_unit_test(groups_end_when_bodies_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
