// Events of a step: contacts that begin, end and hit; sensors. 8 substeps, gravity 10.
#include "contact_support.h"

static int count_events(const tn_world *world, tn_event_kind kind, tn_contact_event *last)
{
  int count;
  const tn_contact_event *events = tn_world_contact_events(world, &count);
  int found = 0;
  for (int i = 0; i < count; ++i) {
    if (events[i].kind == kind) {
      found += 1;
      *last = events[i];
    }
  }
  return found;
}

// Counts events over several steps.
static int count_over(tn_world *world, int steps, tn_event_kind kind, tn_contact_event *last)
{
  int found = 0;
  for (int i = 0; i < steps; ++i) {
    test_run(world, DT, 1);
    found += count_events(world, kind, last);
  }
  return found;
}

static bool is_pair(const tn_contact_event *event, tn_shape_id a, tn_shape_id b)
{
  return (TN_SAME_ID(event->shape_a, a) && TN_SAME_ID(event->shape_b, b)) ||
         (TN_SAME_ID(event->shape_a, b) && TN_SAME_ID(event->shape_b, a));
}

static tn_shape_id shape_of(const tn_world *world, tn_body_id body)
{
  tn_shape_id shape = {0, 0, 0};
  assert_int_equal(tn_body_shapes(world, body, &shape, 1), 1);
  return shape;
}

// ---------------------------------------------------------------------------------------------

static void begin_event_comes_once(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(8);
  tn_shape_id ground = add_ground(world);
  tn_body_id ball = add_ball(world, tn_p3(0.0, 0.6, 0.0), 0.5f);
  tn_contact_event event = {0};
  assert_int_equal(count_over(world, 300, TN_EVENT_BEGIN, &event), 1);
  assert_true(is_pair(&event, ground, shape_of(world, ball)));
  bool is_a = TN_SAME_ID(event.body_a, ball);
  assert_true(is_a || TN_SAME_ID(event.body_b, ball));
  assert_true(TN_IS_NULL(is_a ? event.body_b : event.body_a)); // the world
  tn_world_destroy(world);
}

// The begin event comes in the step in which the ball lands: after 0.2 s from 0.2 m.
static void begin_event_comes_at_first_contact(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(8);
  add_ground(world);
  add_ball(world, tn_p3(0.0, 0.7, 0.0), 0.5f);
  tn_contact_event event;
  assert_int_equal(count_over(world, 11, TN_EVENT_BEGIN, &event), 0);
  assert_int_equal(count_over(world, 3, TN_EVENT_BEGIN, &event), 1);
  tn_world_destroy(world);
}

static void separation_gives_an_end_event(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(8);
  tn_shape_id ground = add_ground(world);
  tn_body_id ball = add_ball(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
  tn_contact_event event = {0};
  assert_int_equal(count_over(world, 60, TN_EVENT_END, &event), 0);
  tn_transform away = tn_body_transform(world, ball);
  away.p.y += 10.0;
  assert_true(tn_body_set_transform(world, ball, away));
  assert_int_equal(count_over(world, 30, TN_EVENT_END, &event), 1);
  assert_true(is_pair(&event, ground, shape_of(world, ball)));
  tn_world_destroy(world);
}

static void events_last_until_the_next_step(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(8);
  add_ground(world);
  add_ball(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
  int count;
  tn_world_contact_events(world, &count);
  assert_int_equal(count, 0);
  test_run(world, DT, 1);
  tn_world_contact_events(world, &count);
  assert_int_equal(count, 1);
  tn_world_contact_events(world, &count);
  assert_int_equal(count, 1);
  test_run(world, DT, 1);
  tn_world_contact_events(world, &count);
  assert_int_equal(count, 0);
  tn_world_destroy(world);
}

// Either the shape or its body is destroyed.
static void destruction_gives_an_end_event(void **unused)
{
  (void)unused;
  for (int way = 0; way < 2; ++way) {
    tn_world *world = contact_world(8);
    tn_shape_id ground = add_ground(world);
    tn_body_id ball = add_ball(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
    tn_shape_id shape = shape_of(world, ball);
    test_run(world, DT, 10);
    assert_true(way == 0 ? tn_body_destroy(world, ball) : tn_shape_destroy(world, shape));
    tn_contact_event event = {0};
    assert_int_equal(count_over(world, 1, TN_EVENT_END, &event), 1);
    assert_true(is_pair(&event, ground, shape));
    assert_false(tn_shape_is_valid(world, shape));
    assert_int_equal(count_over(world, 10, TN_EVENT_END, &event), 0);
    tn_world_destroy(world);
  }
}

// Bodies wake and fall when their support is destroyed.
static void destroying_a_support_wakes_bodies_on_it(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(8);
  add_ground(world);
  tn_body_id lower = add_cube(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
  tn_body_id upper = add_cube(world, tn_p3(0.0, 1.5, 0.0), 0.5f);
  test_run(world, DT, 30);
  assert_true(tn_body_destroy(world, lower));
  test_run(world, DT, 90);
  assert_close(tn_body_position(world, upper).y, 0.5, 1e-3);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Hits

static void hit_events_report_their_speed(void **unused)
{
  (void)unused;
  static const double heights[3] = {0.2, 1.0, 5.0};
  for (int i = 0; i < 3; ++i) {
    for (int e = 0; e < 2; ++e) {
      tn_world *world = contact_world(20);
      tn_shape_id ground = add_ground(world);
      tn_shape_def shape = ball_shape(0.5f);
      shape.hit_events = true;
      shape.material.restitution = (float)e;
      tn_body_id ball = add_solid(world, tn_p3(3.0, 0.5 + heights[i], 2.0), &shape);
      tn_contact_event hit = {0};
      int steps = (int)(sqrt(2.0 * heights[i] / 10.0) * 60.0) + 3;
      assert_int_equal(count_over(world, steps, TN_EVENT_HIT, &hit), 1);
      assert_true(is_pair(&hit, ground, shape_of(world, ball)));
      double speed = sqrt(2.0 * 10.0 * heights[i]);
      assert_close(hit.speed, speed, 0.01 * speed);
      assert_close(fabsf(hit.normal.y), 1.0, 1e-5);
      assert_close(hit.point.x, 3.0, 0.01);
      assert_close(hit.point.z, 2.0, 0.01);
      assert_close(hit.point.y, 0.0, 0.1); // half of a substep's motion
      tn_world_destroy(world);
    }
  }
}

// Momentum: m (v' - v) = J + m g t over the step, for balls of any mass, speed and restitution, on
// ground and on each other. The bound is the rounding of velocities, relative to the larger
// momentum.
static void hits_tell_their_impulse(void **unused)
{
  (void)unused;
  uint32_t random = 11;
  for (int i = 0; i < 200; ++i) {
    tn_world_def def = test_world_def(1 + test_index(&random, 12), test_methods[i % TEST_METHODS]);
    def.sleeping = false;
    tn_world *world = tn_world_create(&def);
    assert_non_null(world);
    add_ground(world);
    float radius = test_between(&random, 0.1f, 0.5f);
    float mass = tn_exp(test_between(&random, -5.0f, 5.0f));
    float speed = test_between(&random, 1.0f, 10.0f);
    tn_shape_def shape = ball_shape(radius);
    shape.hit_events = true;
    shape.material.restitution = 0.25f * (float)(i % 5);
    shape.material.combine_restitution = TN_COMBINE_MAXIMUM;
    tn_body_id ball = add_solid(world, tn_p3(0.0, 0.6 + (double)test_random(&random), 0.0), &shape);
    tn_mass scaled = tn_mass_scaled_to(tn_body_mass(world, ball), mass);
    assert_true(tn_body_set_mass(world, ball, scaled));
    assert_true(tn_body_set_velocity(world, ball, tn_v3(0.0f, -speed, 0.0f)));
    tn_contact_event hit = {0};
    double before = 0.0;
    int hits = 0;
    for (int step = 0; step < 120 && hits == 0; ++step) {
      before = (double)tn_body_velocity(world, ball).y;
      test_run(world, DT, 1);
      hits = count_events(world, TN_EVENT_HIT, &hit);
    }
    assert_int_equal(hits, 1);
    double change = (double)tn_body_velocity(world, ball).y - before;
    double impulse = (double)mass * (change + 10.0 * (double)DT);
    assert_close(hit.impulse, impulse, 2e-6 * (double)mass * (double)hit.speed);
    assert_true(hit.speed >= speed && hit.impulse > 0.0f);
    tn_world_destroy(world);
  }
}

// Two cubes without gravity: what one loses the other gains, over all points of the contact.
static void hits_between_bodies_tell_their_impulse(void **unused)
{
  (void)unused;
  uint32_t random = 12;
  for (int i = 0; i < 40; ++i) {
    tn_world *world = contact_world(4);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_shape_def shape = cube_shape(0.5f);
    shape.hit_events = true;
    shape.material.restitution = i % 2 ? 0.5f : 0.0f;
    tn_body_id ids[2];
    float masses[2], speed = test_between(&random, 1.0f, 20.0f);
    for (int k = 0; k < 2; ++k) {
      ids[k] =
          add_solid(world, tn_p3(k ? 1.0 + (double)test_random(&random) : 0.0, 0.0, 0.0), &shape);
      masses[k] = tn_exp(test_between(&random, -2.0f, 2.0f));
      tn_mass scaled = tn_mass_scaled_to(tn_body_mass(world, ids[k]), masses[k]);
      assert_true(tn_body_set_mass(world, ids[k], scaled));
    }
    assert_true(tn_body_set_velocity(world, ids[0], tn_v3(speed, 0.0f, 0.0f)));
    tn_contact_event hit = {0};
    int hits = 0;
    for (int step = 0; step < 120 && hits == 0; ++step) {
      test_run(world, DT, 1);
      hits = count_events(world, TN_EVENT_HIT, &hit);
    }
    assert_int_equal(hits, 1);
    double most = 4e-6 * (double)speed * (double)fmaxf(masses[0], masses[1]);
    double lost = (double)masses[0] * (double)(speed - tn_body_velocity(world, ids[0]).x);
    double gained = (double)masses[1] * (double)tn_body_velocity(world, ids[1]).x;
    assert_close(hit.impulse, lost, most);
    assert_close(hit.impulse, gained, most);
    tn_world_destroy(world);
  }
}

static void resting_shapes_and_shapes_without_hit_events_report_no_hits(void **unused)
{
  (void)unused;
  for (int asked = 0; asked < 2; ++asked) {
    tn_world *world = contact_world(8);
    add_ground(world);
    tn_shape_def shape = ball_shape(0.5f);
    shape.hit_events = asked == 1;
    add_solid(world, tn_p3(0.0, asked ? 0.5 : 3.0, 0.0), &shape);
    tn_contact_event hit;
    assert_int_equal(count_over(world, 120, TN_EVENT_HIT, &hit), 0);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Sensors

static tn_shape_id add_sensor(tn_world *world, tn_body_id body, float y)
{
  tn_shape_def sensor = cube_shape(1.0f);
  sensor.sensor = true;
  sensor.position = tn_v3(0.0f, y, 0.0f);
  return add_shape(world, body, &sensor);
}

static void sensors_report_passing_bodies(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(8);
  tn_shape_id sensor = add_sensor(world, test_no_body, 0.0f);
  tn_body_id ball = add_ball(world, tn_p3(0.0, 3.0, 0.0), 0.5f);
  tn_shape_id shape = shape_of(world, ball);
  tn_contact_event begin = {0}, end = {0}, other = {0};
  int begins = 0, ends = 0, others = 0;
  double entered = 0.0, left = 0.0;
  for (int i = 1; i <= 120; ++i) {
    test_run(world, DT, 1);
    int now = count_events(world, TN_EVENT_SENSOR_BEGIN, &begin);
    entered = now ? (double)i / 60.0 : entered;
    begins += now;
    now = count_events(world, TN_EVENT_SENSOR_END, &end);
    left = now ? (double)i / 60.0 : left;
    ends += now;
    others += count_events(world, TN_EVENT_BEGIN, &other);
    assert_int_equal(tn_body_contacts(world, ball, NULL, 0), 0);
  }
  assert_int_equal(begins, 1);
  assert_int_equal(ends, 1);
  assert_int_equal(others, 0);
  assert_true(TN_SAME_ID(begin.shape_a, sensor) && TN_SAME_ID(begin.shape_b, shape));
  assert_true(TN_SAME_ID(end.shape_a, sensor) && TN_SAME_ID(end.shape_b, shape));
  // From 3 m: begins when its lower end is at 1 m, ends when its upper end is at -1 m.
  assert_close(entered, sqrt(2.0 * 1.5 / 10.0), 2.0 / 60.0);
  assert_close(left, sqrt(2.0 * 4.5 / 10.0), 2.0 / 60.0);
  assert_close(tn_body_velocity(world, ball).y, -20.0, 1e-3); // sensors apply no force
  tn_world_destroy(world);
}

static void sensors_and_visitors_may_be_destroyed(void **unused)
{
  (void)unused;
  for (int way = 0; way < 2; ++way) {
    tn_world *world = contact_world(8);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_shape_id sensor = add_sensor(world, test_no_body, 0.0f);
    tn_body_id ball = add_ball(world, tn_p3(0.0, 0.0, 0.0), 0.5f);
    tn_shape_id shape = shape_of(world, ball);
    tn_contact_event event = {0};
    assert_int_equal(count_over(world, 5, TN_EVENT_SENSOR_BEGIN, &event), 1);
    assert_true(way == 0 ? tn_shape_destroy(world, sensor) : tn_body_destroy(world, ball));
    assert_int_equal(count_over(world, 2, TN_EVENT_SENSOR_END, &event), 1);
    assert_true(TN_SAME_ID(event.shape_a, sensor) && TN_SAME_ID(event.shape_b, shape));
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// A pile: begin and end events of every pair alternate, and begun pairs are in contact.

#define PILE 60

typedef struct ledger {
  int touching[PILE + 1][PILE + 1];
} ledger;

static void enter_events(const tn_world *world, ledger *book)
{
  int count;
  const tn_contact_event *events = tn_world_contact_events(world, &count);
  for (int i = 0; i < count; ++i) {
    int a = (int)events[i].body_a.index; // 0 is the world
    int b = (int)events[i].body_b.index;
    assert_in_range(a, 0, PILE);
    assert_in_range(b, 0, PILE);
    int lower = a < b ? a : b;
    int *state = &book->touching[lower][a + b - lower];
    *state += events[i].kind == TN_EVENT_BEGIN ? 1 : -1;
    assert_in_range(*state, 0, 1);
  }
}

static void begin_and_end_events_alternate(void **unused)
{
  (void)unused;
  static ledger book;
  memset(&book, 0, sizeof book);
  tn_world *world = contact_world(8);
  uint32_t random = 3;
  for (int i = 0; i < PILE; ++i) {
    int layer = i / 9;
    int row = i / 3 % 3;
    tn_pos place = tn_p3(0.6 * (i % 3), 0.5 + 0.9 * layer, 0.6 * row);
    tn_shape_def shape = i % 2 ? ball_shape(0.25f) : cube_shape(0.2f);
    tn_body_id body = add_solid(world, place, &shape);
    tn_body_set_velocity(world, body, test_vector(&random, 1.0f));
  }
  add_ground(world);
  for (int step = 0; step < 300; ++step) {
    test_run(world, DT, 1);
    enter_events(world, &book);
  }
  int begun = 0;
  for (int a = 0; a <= PILE; ++a) {
    for (int b = 0; b <= PILE; ++b) {
      begun += book.touching[a][b];
    }
  }
  assert_in_range(begun, PILE, tn_world_counters(world).contacts);
  tn_world_destroy(world);
}

// Contacts are found between steps too: what begins there and is destroyed before the next step was
// never told to anyone, what began before that step ends.
static void what_was_never_published_leaves_no_trace(void **unused)
{
  (void)unused;
  for (int i = 0; i < 4; ++i) {
    tn_world *world = contact_world(8);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_body_id ball = add_ball(world, tn_p3(0.0, 5.0, 0.0), 0.5f);
    tn_shape_id sensor = add_sensor(world, test_no_body, 0.0f);
    tn_transform inside = {tn_p3(0.0, 0.0, 0.0), tn_quat_identity()}, outside = inside;
    outside.p.y = 5.0;
    bool known = i % 2, leaves = i / 2;
    test_run(world, DT, 1);
    assert_true(tn_body_set_transform(world, ball, inside));
    if (known) {
      test_run(world, DT, 1);
    }
    assert_true(tn_world_update_contacts(world));
    if (leaves) {
      assert_true(tn_body_set_transform(world, ball, outside));
      assert_true(tn_world_update_contacts(world));
    }
    assert_true(tn_shape_destroy(world, sensor));
    test_run(world, DT, 1);
    tn_contact_event event;
    assert_int_equal(count_events(world, TN_EVENT_SENSOR_BEGIN, &event), 0);
    assert_int_equal(count_events(world, TN_EVENT_SENSOR_END, &event), known ? 1 : 0);
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_never_published_leaves_no_trace),
      cmocka_unit_test(begin_event_comes_once),
      cmocka_unit_test(begin_event_comes_at_first_contact),
      cmocka_unit_test(separation_gives_an_end_event),
      cmocka_unit_test(events_last_until_the_next_step),
      cmocka_unit_test(destruction_gives_an_end_event),
      cmocka_unit_test(destroying_a_support_wakes_bodies_on_it),
      cmocka_unit_test(hit_events_report_their_speed),
      cmocka_unit_test(hits_tell_their_impulse),
      cmocka_unit_test(hits_between_bodies_tell_their_impulse),
      cmocka_unit_test(resting_shapes_and_shapes_without_hit_events_report_no_hits),
      cmocka_unit_test(sensors_report_passing_bodies),
      cmocka_unit_test(sensors_and_visitors_may_be_destroyed),
      cmocka_unit_test(begin_and_end_events_alternate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
