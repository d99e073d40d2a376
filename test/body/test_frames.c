// Points and vectors between the frames of bodies and the world, and principal axes.
#include "support.h"

#include <math.h>

enum { BODIES = 200 };

static tn_body_id random_body(tn_world *world, uint32_t *random, float spread)
{
  tn_body_def def = tn_default_body_def();
  tn_vec3 at = test_vector(random, spread);
  def.position = tn_p3((double)at.x, (double)at.y, (double)at.z);
  def.rotation = test_rotation(random);
  def.velocity = test_vector(random, 3.0f);
  def.angular_velocity = test_vector(random, 3.0f);
  def.mass = tn_mass_at(tn_mass_box(tn_v3(0.2f, 0.3f, 0.4f), 1000.0f), test_vector(random, 0.5f),
                        test_rotation(random));
  tn_body_id id = tn_body_create(world, &def);
  assert_false(TN_IS_NULL(id));
  return id;
}

static void assert_same(tn_vec3 a, tn_vec3 b, double most)
{
  assert_close(a.x, b.x, most);
  assert_close(a.y, b.y, most);
  assert_close(a.z, b.z, most);
}

// Points are taken there and back, near the origin and a million kilometres away: the bound is the
// rounding of a float of a metre, and that of the double position.
static void points_return(void **unused)
{
  (void)unused;
  static const float spreads[2] = {10.0f, 9e8f};
  for (int far = 0; far < 2; ++far) {
    tn_world *world = test_world(4, TN_METHOD_TENON);
    uint32_t random = 31;
    for (int i = 0; i < BODIES; ++i) {
      tn_body_id id = random_body(world, &random, spreads[far]);
      tn_vec3 local = test_vector(&random, 1.0f);
      tn_vec3 back = tn_body_local_point(world, id, tn_body_world_point(world, id, local));
      assert_same(back, local, far ? 5e-7 : 1.2e-7);
    }
    tn_world_destroy(world);
  }
}

// The same as the transform says: x -> p + q x.
static void points_follow_the_transform(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  uint32_t random = 32;
  for (int i = 0; i < BODIES; ++i) {
    tn_body_id id = random_body(world, &random, 10.0f);
    tn_transform t = tn_body_transform(world, id);
    tn_vec3 local = test_vector(&random, 1.0f), turned = tn_rotate(t.q, local);
    tn_pos point = tn_body_world_point(world, id, local);
    assert_same(tn_between_points(t.p, point), turned, 1e-6);
    assert_same(tn_body_world_vector(world, id, local), turned, 1e-6);
  }
  tn_world_destroy(world);
}

// Lengths, products and handedness stay, and vectors return.
static void vectors_turn_only(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  uint32_t random = 33;
  for (int i = 0; i < BODIES; ++i) {
    tn_body_id id = random_body(world, &random, 1e6f);
    tn_vec3 a = test_vector(&random, 1.0f), b = test_vector(&random, 1.0f);
    tn_vec3 u = tn_body_world_vector(world, id, a), v = tn_body_world_vector(world, id, b);
    assert_close(tn_dot(u, v), tn_dot(a, b), 1e-6);
    assert_close(tn_length(u), tn_length(a), 1e-6);
    assert_same(tn_cross(u, v), tn_body_world_vector(world, id, tn_cross(a, b)), 1e-6);
    assert_same(tn_body_local_vector(world, id, u), a, 2e-7);
  }
  tn_world_destroy(world);
}

// A point of a free body moves with its velocity: the difference over a short step, to second order
// |w|^2 r dt^2 / 6, and the rounding of velocities of 10 m/s.
static void points_move_with_their_velocity(void **unused)
{
  (void)unused;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  uint32_t random = 34;
  const float dt = 1e-3f;
  tn_body_id ids[BODIES];
  tn_vec3 locals[BODIES], v[BODIES];
  tn_pos before[BODIES];
  for (int i = 0; i < BODIES; ++i) {
    ids[i] = random_body(world, &random, 100.0f);
    locals[i] = test_vector(&random, 1.0f);
    before[i] = tn_body_world_point(world, ids[i], locals[i]);
    v[i] = tn_body_point_velocity(world, ids[i], before[i]);
  }
  test_run(world, dt, 1);
  for (int i = 0; i < BODIES; ++i) {
    tn_pos after = tn_body_world_point(world, ids[i], locals[i]);
    tn_vec3 w = tn_body_point_velocity(world, ids[i], after);
    tn_vec3 mean = tn_scale(0.5f, tn_add(v[i], w));
    assert_same(tn_scale(1.0f / dt, tn_between_points(before[i], after)), mean, 2e-4);
  }
  tn_world_destroy(world);
}

static void bad_input_is_refused(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_id id = test_body(world, TN_BODY_DYNAMIC, tn_p3(1.0, 2.0, 3.0));
  tn_vec3 none = tn_v3(0.0f, 0.0f, 0.0f), bad = tn_v3(0.0f, NAN, 0.0f);
  test_forget_messages();
  assert_same(tn_body_local_point(world, id, tn_p3(2e9, 0.0, 0.0)), none, 0.0);
  assert_message("tn_body_local_point: the point is not finite or too far away");
  assert_same(tn_body_world_vector(world, id, bad), none, 0.0);
  assert_message("tn_body_world_vector: the vector is not finite");
  assert_same(tn_body_local_vector(world, id, bad), none, 0.0);
  assert_message("tn_body_local_vector: the vector is not finite");
  assert_true(tn_body_destroy(world, id));
  assert_same(tn_body_local_vector(world, id, tn_v3(1.0f, 0.0f, 0.0f)), none, 0.0);
  assert_message("tn_body_local_vector: the body has been destroyed");
  assert_same(tn_body_local_vector(NULL, id, tn_v3(1.0f, 0.0f, 0.0f)), none, 0.0);
  tn_world_destroy(world);
}

// R diag(moments) R^T is the inertia again.
static void principal_axes_diagonalise(void **unused)
{
  (void)unused;
  uint32_t random = 35;
  for (int i = 0; i < BODIES; ++i) {
    tn_vec3 half = tn_v3(test_between(&random, 0.1f, 1.0f), test_between(&random, 0.1f, 1.0f),
                         test_between(&random, 0.1f, 1.0f));
    tn_mass mass =
        tn_mass_at(tn_mass_box(half, 1.0f), test_vector(&random, 1.0f), test_rotation(&random));
    tn_principal_axes axes = tn_mass_principal_axes(mass);
    assert_true(axes.moments[0] <= axes.moments[1] && axes.moments[1] <= axes.moments[2]);
    const double *r = axes.rotation;
    tn_quat q = {(float)r[0], (float)r[1], (float)r[2], (float)r[3]};
    tn_vec3 x = tn_rotate(q, tn_v3(1, 0, 0)), y = tn_rotate(q, tn_v3(0, 1, 0)),
            z = tn_rotate(q, tn_v3(0, 0, 1));
    const double *m = axes.moments;
    double bound = 2e-6 * m[2];
    const tn_sym3 *inertia = &mass.inertia;
    assert_close(m[0] * (double)(x.x * x.x) + m[1] * (double)(y.x * y.x) +
                     m[2] * (double)(z.x * z.x),
                 inertia->xx, bound);
    assert_close(m[0] * (double)(x.x * x.y) + m[1] * (double)(y.x * y.y) +
                     m[2] * (double)(z.x * z.y),
                 inertia->xy, bound);
    assert_close(m[0] * (double)(x.y * x.z) + m[1] * (double)(y.y * y.z) +
                     m[2] * (double)(z.y * z.z),
                 inertia->yz, bound);
  }
  tn_mass bad = tn_mass_box(tn_v3(1.0f, 1.0f, 1.0f), 1.0f);
  bad.inertia.xy = NAN;
  assert_true(tn_mass_principal_axes(bad).moments[0] == 0.0);
  assert_true(tn_mass_principal_axes(bad).rotation[3] == 1.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_return),        cmocka_unit_test(points_follow_the_transform),
      cmocka_unit_test(vectors_turn_only),    cmocka_unit_test(points_move_with_their_velocity),
      cmocka_unit_test(bad_input_is_refused), cmocka_unit_test(principal_axes_diagonalise),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
