// Many bodies at one place: the number of pairs grows linearly with the number of bodies, and they
// separate at a bounded speed.
#include "support.h"

#include <math.h>

#define MOST 200
#define DT (1.0f / 60.0f)

static tn_shape_def shape_of(tn_shape_kind kind)
{
  tn_shape_def def = tn_default_shape_def(kind);
  def.radius = 0.2f;
  def.half_length = 0.1f;
  return def;
}

static tn_world *ground_world(void)
{
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_body_id none = {0};
  tn_shape_create(world, none, &plane);
  return world;
}

// Speed limit: that of a fall from the greatest height so far, plus 3 m/s: overlaps separate at 1
// m/s at most, and a body between two such pairs may be pushed by both.
static void assert_bounded(const tn_world *world, const tn_body_id *body, int count, double *top)
{
  for (int i = 0; i < count; ++i) {
    *top = fmax(*top, tn_body_position(world, body[i]).y);
  }
  for (int i = 0; i < count; ++i) {
    assert_below(tn_length(tn_body_velocity(world, body[i])), sqrt(2.0 * 10.0 * *top) + 3.0);
  }
}

// Up to 32 pairs per body with those it lies in, plus those it meets on its way out. All pairs
// would be count / 2 per body.
static void run_crowd(tn_shape_kind kind, int count, float spread, uint32_t seed)
{
  tn_world *world = ground_world();
  tn_shape_def def = shape_of(kind);
  tn_body_id body[MOST];
  for (int i = 0; i < count; ++i) {
    tn_vec3 off = test_vector(&seed, spread);
    body[i] = test_body(world, TN_BODY_DYNAMIC, tn_offset(tn_p3(0.0, 1.0, 0.0), off));
    tn_shape_create(world, body[i], &def);
  }
  double top = 1.0;
  uint32_t status = tn_world_step(world, DT);
  assert_true(status & TN_STEP_CROWDED);
  assert_in_range(tn_world_counters(world).pairs, count / 2, 32 * count);
  assert_below(tn_world_counters(world).bytes, 60e3 * count);
  for (int i = 0; i < 1500; ++i) {
    status = tn_world_step(world, DT);
    assert_int_equal(status & ~(uint32_t)(TN_STEP_CROWDED | TN_STEP_SERIAL), 0);
    assert_bounded(world, body, count, &top);
  }
  assert_int_equal(status & TN_STEP_CROWDED, 0);
  for (int i = 0; i < count && kind == TN_SHAPE_SPHERE; ++i) {
    for (int k = 0; k < i; ++k) {
      tn_vec3 d =
          tn_between_points(tn_body_position(world, body[i]), tn_body_position(world, body[k]));
      assert_below(0.36f, tn_length(d)); // of a contact distance of 0.4
    }
  }
  tn_world_destroy(world);
}

static void bodies_at_one_place_part(void **state)
{
  (void)state;
  const tn_shape_kind kinds[] = {TN_SHAPE_SPHERE, TN_SHAPE_CAPSULE, TN_SHAPE_CYLINDER,
                                 TN_SHAPE_CONE};
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    float spread = seed % 2 == 0 ? 0.0f : 0.02f * (float)seed;
    run_crowd(kinds[seed % 4], 70 + 10 * (int)seed, spread, seed);
  }
}

static void a_thousand_take_less_than_a_hundred_megabytes(void **state)
{
  (void)state;
  tn_world *world = ground_world();
  tn_shape_def ball = shape_of(TN_SHAPE_SPHERE);
  for (int i = 0; i < 1000; ++i) {
    tn_shape_create(world, test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 1.0, 0.0)), &ball);
  }
  assert_int_equal(tn_world_step(world, DT), TN_STEP_CROWDED);
  assert_below(tn_world_counters(world).bytes, 100e6);
  tn_world_destroy(world);
}

// Bodies that lie on another all touch it, however many they are.
static void a_tray_touches_all_balls_on_it(void **state)
{
  (void)state;
  tn_world *world = ground_world();
  tn_shape_def plate = tn_default_shape_def(TN_SHAPE_BOX), ball = shape_of(TN_SHAPE_SPHERE);
  plate.half_extents = tn_v3(4.0f, 0.25f, 4.0f);
  ball.radius = 0.1f;
  tn_body_id tray = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.25, 0.0));
  tn_shape_create(world, tray, &plate);
  tn_body_set_mass_from_shapes(world, tray);
  tn_body_id body[MOST];
  for (int i = 0; i < MOST; ++i) {
    tn_pos at = tn_p3(0.5 * (i % 14) - 3.3, 0.61, 0.5 * (double)(i / 14) - 3.3);
    body[i] = test_body(world, TN_BODY_DYNAMIC, at);
    tn_shape_create(world, body[i], &ball);
  }
  for (int i = 0; i < 120; ++i) {
    assert_int_equal(tn_world_step(world, DT) & ~(uint32_t)TN_STEP_SERIAL, 0);
  }
  for (int i = 0; i < MOST; ++i) {
    assert_close(tn_body_position(world, body[i]).y, 0.6, 0.01);
  }
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_at_one_place_part),
      cmocka_unit_test(a_thousand_take_less_than_a_hundred_megabytes),
      cmocka_unit_test(a_tray_touches_all_balls_on_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
