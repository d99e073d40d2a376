// Mass that bodies take from their shapes, against closed forms summed up in double, while shapes
// come, go and change; and that such bodies fall, swing and weigh as they must.
#include "doubles.h"
#include "support.h"

#include <string.h>

#define MOST 6
static const double pi = 3.14159265358979323846;

typedef struct solid {
  double mass;
  d3 center;
  double inertia[3][3]; // about the body's origin
} solid;

static d3 turned(tn_quat q, double x, double y, double z)
{
  return d4_rotate(d4_unit(d4_from(q)), (d3){x, y, z});
}

// Adds m (d^2 1 - d d^T), the inertia of a point about the origin.
static void add_point(solid *s, double m, d3 at)
{
  const double d[3] = {at.x, at.y, at.z};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      s->inertia[i][k] += m * ((i == k ? d3_dot(at, at) : 0.0) - d[i] * d[k]);
    }
  }
}

// Volume, and moments along the shape's axes over its mass, about its centre of mass, which is
// `height` up its y axis.
static double volume_of(const tn_shape_def *def, double moments[3], double *height)
{
  double r = (double)def->radius, h = 2.0 * (double)def->half_length;
  double x = (double)def->half_extents.x, y = (double)def->half_extents.y;
  double z = (double)def->half_extents.z;
  *height = 0.0;
  switch (def->kind) {
  case TN_SHAPE_SPHERE:
    moments[0] = moments[1] = moments[2] = 0.4 * r * r;
    return 4.0 / 3.0 * pi * r * r * r;
  case TN_SHAPE_BOX:
    moments[0] = (y * y + z * z) / 3.0;
    moments[1] = (x * x + z * z) / 3.0;
    moments[2] = (x * x + y * y) / 3.0;
    return 8.0 * x * y * z;
  case TN_SHAPE_CYLINDER:
    moments[0] = moments[2] = r * r / 4.0 + h * h / 12.0;
    moments[1] = 0.5 * r * r;
    return pi * r * r * h;
  case TN_SHAPE_CONE:
    *height = -0.25 * h;
    moments[0] = moments[2] = 3.0 / 20.0 * r * r + 3.0 / 80.0 * h * h;
    moments[1] = 0.3 * r * r;
    return pi * r * r * h / 3.0;
  default: { // a capsule: a cylinder, and a sphere in two halves
    double tube = pi * r * r * h, ball = 4.0 / 3.0 * pi * r * r * r, all = tube + ball;
    moments[1] = (tube * 0.5 + ball * 0.4) * r * r / all;
    moments[0] = moments[2] = (tube * (r * r / 4.0 + h * h / 12.0) +
                               ball * (0.4 * r * r + h * h / 4.0 + 3.0 / 8.0 * h * r)) /
                              all;
    return all;
  }
  }
}

static void add_solid(solid *s, const tn_shape_def *def)
{
  double moments[3], height;
  double m = (double)def->density * volume_of(def, moments, &height);
  d3 at = d3_add(d3_from(def->position), turned(def->rotation, 0.0, height, 0.0));
  d3 axes[3] = {turned(def->rotation, 1.0, 0.0, 0.0), turned(def->rotation, 0.0, 1.0, 0.0),
                turned(def->rotation, 0.0, 0.0, 1.0)};
  for (int a = 0; a < 3; ++a) {
    const double n[3] = {axes[a].x, axes[a].y, axes[a].z};
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        s->inertia[i][k] += m * moments[a] * n[i] * n[k];
      }
    }
  }
  add_point(s, m, at);
  s->mass += m;
  s->center = d3_add(s->center, d3_scale(m, at)); // divided in the end
}

static void assert_mass_of(tn_mass actual, const tn_shape_def *defs, int count)
{
  solid s = {0};
  for (int i = 0; i < count; ++i) {
    if (!defs[i].sensor) {
      add_solid(&s, &defs[i]);
    }
  }
  if (s.mass == 0.0) { // a cube of 1 m and 1 kg
    assert_true(actual.mass == 1.0f);
    assert_close(actual.inertia.xx, 1.0 / 6.0, 1e-7);
    return;
  }
  s.center = d3_scale(1.0 / s.mass, s.center);
  double scale = s.inertia[0][0] + s.inertia[1][1] + s.inertia[2][2];
  add_point(&s, -s.mass, s.center);
  // Float sums of up to six parts.
  assert_close(actual.mass, s.mass, 1e-6 * s.mass);
  assert_below(d3_distance(d3_from(actual.center), s.center), 2e-6 * sqrt(scale / s.mass));
  assert_close(actual.inertia.xx, s.inertia[0][0], 2e-6 * scale);
  assert_close(actual.inertia.yy, s.inertia[1][1], 2e-6 * scale);
  assert_close(actual.inertia.zz, s.inertia[2][2], 2e-6 * scale);
  assert_close(actual.inertia.xy, s.inertia[0][1], 2e-6 * scale);
  assert_close(actual.inertia.xz, s.inertia[0][2], 2e-6 * scale);
  assert_close(actual.inertia.yz, s.inertia[1][2], 2e-6 * scale);
}

static tn_shape_def random_solid(uint32_t *random)
{
  static const tn_shape_kind kinds[5] = {TN_SHAPE_SPHERE, TN_SHAPE_CAPSULE, TN_SHAPE_BOX,
                                         TN_SHAPE_CYLINDER, TN_SHAPE_CONE};
  tn_shape_def def = tn_default_shape_def(kinds[test_index(random, 5)]);
  def.radius = test_between(random, 0.1f, 2.0f);
  def.half_length = test_between(random, 0.1f, 2.0f);
  def.half_extents = tn_v3(test_between(random, 0.1f, 2.0f), test_between(random, 0.1f, 2.0f),
                           test_between(random, 0.1f, 2.0f));
  def.position = test_vector(random, 2.0f);
  def.rotation = test_rotation(random);
  def.density = test_between(random, 100.0f, 8000.0f);
  def.sensor = test_index(random, 6) == 0;
  return def;
}

// ---------------------------------------------------------------------------------------------
// Shapes come, go and change

static void mass_follows_the_shapes(void **state)
{
  (void)state;
  uint32_t random = 1;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  for (int round = 0; round < 300; ++round) {
    tn_shape_def defs[MOST];
    tn_shape_id ids[MOST];
    int count = 0;
    tn_body_def body_def = tn_default_body_def();
    body_def.position = tn_pos_from_vec3(test_vector(&random, 100.0f));
    body_def.rotation = test_rotation(&random);
    tn_body_id body = tn_body_create(world, &body_def);
    for (int turn = 0; turn < 20; ++turn) {
      int what = test_index(&random, 4), which = test_index(&random, count > 0 ? count : 1);
      if (count < MOST && (what < 2 || count == 0)) {
        defs[count] = random_solid(&random);
        ids[count] = tn_shape_create(world, body, &defs[count]);
        count += 1;
      } else if (what == 2) {
        tn_shape_def now = random_solid(&random);
        now.kind = defs[which].kind;
        defs[which] = now;
        assert_true(tn_shape_set_def(world, ids[which], &now));
      } else {
        assert_true(tn_shape_destroy(world, ids[which]));
        memmove(ids + which, ids + which + 1, (size_t)(MOST - 1 - which) * sizeof *ids);
        memmove(defs + which, defs + which + 1, (size_t)(MOST - 1 - which) * sizeof *defs);
        count -= 1;
      }
      assert_mass_of(tn_body_mass(world, body), defs, count);
      assert_true(tn_body_mass_from_shapes(world, body));
      // The body stays where it is.
      assert_below(tn_distance(tn_body_position(world, body), body_def.position), 1e-10);
      double angle = d4_angle(d4_from(tn_body_rotation(world, body)), d4_from(body_def.rotation));
      assert_below(angle, 2e-7);
    }
    tn_body_destroy(world, body);
  }
  tn_world_destroy(world);
}

// One after another, or all together: the same bits.
static void the_sum_does_not_depend_on_when_it_is_made(void **state)
{
  (void)state;
  uint32_t random = 2;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  for (int round = 0; round < 100; ++round) {
    tn_body_def def = tn_default_body_def();
    tn_body_id follows = tn_body_create(world, &def);
    def.type = TN_BODY_STATIC;
    tn_body_id later = tn_body_create(world, &def);
    def = test_body_def();
    tn_body_id told = tn_body_create(world, &def);
    for (int i = 0; i < MOST; ++i) {
      tn_shape_def shape = random_solid(&random);
      tn_shape_create(world, follows, &shape);
      tn_shape_create(world, later, &shape);
      tn_shape_create(world, told, &shape);
    }
    assert_true(tn_body_mass(world, told).mass == 1.0f);
    assert_true(tn_body_mass(world, later).mass == 0.0f);
    assert_true(tn_body_set_type(world, later, TN_BODY_DYNAMIC));
    assert_true(tn_body_set_mass_from_shapes(world, told));
    tn_mass a = tn_body_mass(world, follows), b = tn_body_mass(world, later);
    tn_mass c = tn_body_mass(world, told);
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(&a, &c, sizeof a);
  }
  tn_world_destroy(world);
}

static void a_mass_that_is_given_stays(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  tn_body_def def = tn_default_body_def();
  tn_body_id body = tn_body_create(world, &def);
  assert_true(tn_body_mass(world, body).mass == 1.0f);
  tn_shape_id shape = tn_shape_create(world, body, &box);
  assert_close(tn_body_mass(world, body).mass, 1000.0, 1e-3);
  assert_true(tn_body_set_mass(world, body, tn_mass_sphere(0.5f, 10.0f)));
  assert_false(tn_body_mass_from_shapes(world, body));
  float given = tn_body_mass(world, body).mass;
  tn_shape_id second = tn_shape_create(world, body, &box);
  assert_true(tn_shape_destroy(world, shape));
  assert_true(tn_body_mass(world, body).mass == given);
  // Back to its shapes, by the call or by a definition without mass.
  assert_true(tn_body_set_mass_from_shapes(world, body));
  assert_close(tn_body_mass(world, body).mass, 1000.0, 1e-3);
  assert_true(tn_body_set_mass(world, body, tn_mass_sphere(0.5f, 10.0f)));
  tn_body_def now = tn_body_get_def(world, body);
  assert_true(now.mass.mass == given);
  now.mass = (tn_mass){0};
  assert_true(tn_body_set_def(world, body, &now));
  assert_close(tn_body_mass(world, body).mass, 1000.0, 1e-3);
  assert_true(tn_body_get_def(world, body).mass.mass == 0.0f);
  assert_true(tn_shape_destroy(world, second));
  assert_true(tn_body_mass(world, body).mass == 1.0f);
  // Half of a mass is none.
  def.mass.mass = 2.0f;
  assert_true(TN_IS_NULL(tn_body_create(world, &def)));
  assert_message("inertia");
  def.mass = (tn_mass){0};
  def.mass.inertia.xx = 1.0f;
  assert_true(TN_IS_NULL(tn_body_create(world, &def)));
  assert_message("mass");
  tn_world_destroy(world);
}

static void snapshots_keep_it(void **state)
{
  (void)state;
  static unsigned char bytes[1 << 20];
  tn_world *world = test_world(4, TN_METHOD_TENON), *copy = test_world(4, TN_METHOD_TENON);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  tn_body_def def = tn_default_body_def();
  tn_body_id body = tn_body_create(world, &def), given;
  tn_shape_create(world, body, &ball);
  def.mass = tn_body_mass(world, body);
  uint64_t hash = tn_world_hash(world);
  size_t size = tn_world_save(world, bytes, sizeof bytes);
  assert_true(size <= sizeof bytes && tn_world_restore(copy, bytes, size));
  assert_true(tn_world_hash(copy) == hash);
  tn_world_bodies(copy, &body, 1);
  assert_true(tn_body_mass_from_shapes(copy, body));
  tn_shape_create(copy, body, &ball);
  assert_close(tn_body_mass(copy, body).mass, 2.0 * (double)def.mass.mass, 1e-3);
  // What follows its shapes and what happens to weigh the same are two states.
  tn_world_bodies(world, &given, 1);
  tn_body_set_mass(world, given, def.mass);
  assert_true(tn_world_hash(world) != hash);
  tn_world_destroy(copy);
  tn_world_destroy(world);
}

static void a_mass_out_of_range_is_told(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_def def = tn_default_body_def();
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  tn_body_id body = tn_body_create(world, &def);
  ball.radius = 1e-6f;
  ball.density = 1e-20f;
  tn_shape_id tiny = tn_shape_create(world, body, &ball);
  assert_true(tn_shape_is_valid(world, tiny));
  assert_message("out of range");
  assert_true(tn_body_mass(world, body).mass == 1.0f);
  ball.radius = 0.5f;
  ball.density = 1000.0f;
  tn_shape_create(world, body, &ball);
  test_forget_messages();
  assert_true(tn_shape_destroy(world, tiny));
  assert_close(tn_body_mass(world, body).mass, 1000.0 * pi / 6.0, 1e-3);
  assert_int_equal(test_messages.count, 0);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Motion

// A joint made before the shapes holds the same point, and the body swings with the period of a
// physical pendulum, 2 pi sqrt(I / (m g d)) with I about the pivot.
static void a_body_of_shapes_swings_as_a_pendulum(void **state)
{
  (void)state;
  uint32_t random = 3;
  for (int round = 0; round < 10; ++round) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_body_def def = tn_default_body_def();
    tn_body_id body = tn_body_create(world, &def);
    tn_vec3 z = {0.0f, 0.0f, 1.0f};
    tn_joint_id hinge =
        test_joint(world, TN_JOINT_HINGE, test_no_body, body, tn_p3(0.0, 0.0, 0.0), z);
    // A rod and a bob, hanging down from the origin.
    tn_shape_def rod = tn_default_shape_def(TN_SHAPE_CYLINDER);
    tn_shape_def bob = tn_default_shape_def(TN_SHAPE_SPHERE);
    rod.radius = test_between(&random, 0.02f, 0.1f);
    rod.half_length = test_between(&random, 0.2f, 1.0f);
    rod.position = tn_v3(0.0f, -rod.half_length, 0.0f);
    bob.radius = test_between(&random, 0.1f, 0.3f);
    bob.position = tn_v3(0.0f, -2.0f * rod.half_length, 0.0f);
    bob.density = test_between(&random, 100.0f, 5000.0f);
    tn_shape_create(world, body, &rod);
    tn_shape_create(world, body, &bob);
    solid s = {0};
    add_solid(&s, &rod);
    add_solid(&s, &bob);
    double d = -s.center.y / s.mass;
    double period = 2.0 * pi * sqrt(s.inertia[2][2] / (s.mass * 10.0 * d));
    assert_true(tn_body_set_angular_velocity(world, body, tn_v3(0.0f, 0.0f, 0.1f)));
    tn_body_set_velocity(world, body, tn_v3((float)(0.1 * d), 0.0f, 0.0f));
    // The angle is sin(2 pi t / period): half of the passes through zero, going up, are periods.
    double dt = period / 200.0, first = -1.0, last = -1.0;
    int passes = 0;
    float before = 0.0f;
    for (int i = 1; i <= 1100; ++i) {
      test_run(world, (float)dt, 1);
      float angle = tn_joint_get_state(world, hinge).angle.x;
      if (before < 0.0f && angle >= 0.0f) {
        last = dt * ((double)i - (double)(angle / (angle - before)));
        first = passes == 0 ? last : first;
        passes += 1;
      }
      before = angle;
    }
    assert_true(passes >= 5);
    assert_close((last - first) / (passes - 1), period, 2e-3 * period);
    assert_below(tn_joint_get_state(world, hinge).elongation, 1e-4);
    tn_world_destroy(world);
  }
}

// A cube of 10 m of water rests on the ground with its weight, 10^6 kg times 10 m/s^2.
static void a_large_box_weighs_what_it_should(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(5.0f, 5.0f, 5.0f);
  tn_shape_create(world, test_no_body, &plane);
  tn_body_def def = tn_default_body_def();
  def.position = tn_p3(0.0, 5.0, 0.0);
  tn_body_id body = tn_body_create(world, &def);
  tn_shape_create(world, body, &box);
  test_run(world, 1.0f / 60.0f, 120);
  tn_contact contacts[4];
  double force = 0.0;
  int count = tn_body_contacts(world, body, contacts, 4);
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < contacts[i].count; ++k) {
      force += (double)contacts[i].points[k].normal_force;
    }
  }
  assert_close(force, 1e7, 1e4);
  tn_world_destroy(world);
}

// Weight does not matter to a fall, and the speed is that of the centre of mass.
static void a_body_of_shapes_falls_freely(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_def def = tn_default_body_def();
  def.velocity = tn_v3(1.0f, 0.0f, 0.0f);
  def.angular_velocity = tn_v3(0.0f, 0.0f, 3.0f);
  tn_body_id body = tn_body_create(world, &def);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.position = tn_v3(0.5f, 0.0f, 0.0f);
  tn_shape_create(world, body, &ball);
  tn_pos start = tn_body_center(world, body);
  assert_close(start.x, 0.5, 1e-7);
  test_run(world, 1.0f / 60.0f, 60);
  tn_pos end = tn_body_center(world, body);
  assert_close(end.x - start.x, 1.0, 1e-5);
  assert_close(end.y - start.y, -5.0, 1e-3);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mass_follows_the_shapes),
      cmocka_unit_test(the_sum_does_not_depend_on_when_it_is_made),
      cmocka_unit_test(a_mass_that_is_given_stays),
      cmocka_unit_test(snapshots_keep_it),
      cmocka_unit_test(a_mass_out_of_range_is_told),
      cmocka_unit_test(a_body_of_shapes_swings_as_a_pendulum),
      cmocka_unit_test(a_large_box_weighs_what_it_should),
      cmocka_unit_test(a_body_of_shapes_falls_freely),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
