// Worlds at rest keep away from numbers that are too small for fast arithmetic.
#include "contact_support.h"

#include "data/world.h"

#include <math.h>

// Stacks of boxes on places that are multiples of a half, where much cancels out, and turned ones.
static void add_random_stack(tn_world *world, uint32_t *seed, int place)
{
  float half = 0.05f * (float)(1 + test_index(seed, 10));
  int count = 1 + test_index(seed, 5), quarters = test_index(seed, 8);
  float turn = quarters < 4 ? 0.5f * TN_PI * (float)quarters : 3.0f * test_random(seed);
  for (int i = 0; i < count; ++i) {
    tn_body_def def = tn_default_body_def();
    def.position = tn_p3(2.0 * place, (double)half * (2.0 * i + 1.0), 0.5 * (place % 2));
    def.rotation = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), turn);
    tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
    box.half_extents = tn_v3(half, half, half);
    tn_shape_create(world, tn_body_create(world, &def), &box);
  }
}

static void assert_not_tiny(double x)
{
  assert_true(x == 0.0 || fabs(x) >= (double)TUNING_TINY_MOTION);
}

// Arithmetic with numbers below 1e-38 is a hundred times as slow. Of what rests awake the
// rotations, of which all directions are made, have no components whose products would be that
// small.
static void rotations_at_rest_have_no_tiny_components(void **unused)
{
  (void)unused;
  for (uint32_t seed = 1; seed <= (uint32_t)test_cases(20, 400); ++seed) {
    uint32_t random = seed;
    tn_world *world = test_world(8, TN_METHOD_TENON);
    add_ground(world);
    for (int i = 0; i < 4; ++i) {
      add_random_stack(world, &random, i);
    }
    for (int step = 0; step < 120; ++step) {
      tn_world_step(world, DT);
      for (int32_t i = 0; i < world->body_pool.used; ++i) {
        const dquat q = world->bodies[i].rotation;
        assert_not_tiny(q.x);
        assert_not_tiny(q.y);
        assert_not_tiny(q.z);
        assert_not_tiny(q.w);
      }
    }
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rotations_at_rest_have_no_tiny_components),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
