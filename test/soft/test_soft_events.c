// Events of soft bodies: contacts that begin and end, attachments that break.
#include "soft_support.h"

#include <stdlib.h>

static int count_events(const tn_world *world, tn_soft_event_kind kind, tn_soft_event *last)
{
  int count, found = 0;
  const tn_soft_event *events = tn_world_soft_events(world, &count);
  for (int i = 0; i < count; ++i) {
    if (events[i].kind == kind) {
      *last = events[i];
      found += 1;
    }
  }
  return found;
}

static int count_over(tn_world *world, int steps, tn_soft_event_kind kind, tn_soft_event *last)
{
  int found = 0;
  for (int i = 0; i < steps; ++i) {
    test_run(world, dt, 1);
    found += count_events(world, kind, last);
  }
  return found;
}

static tn_shape_id add_ground(tn_world *world)
{
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  return tn_shape_create(world, test_no_body, &plane);
}

static tn_soft_id add_cube(tn_world *world, tn_pos position)
{
  static const int cells[3] = {2, 2, 2};
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_box(&def, cells, tn_v3(0.2f, 0.2f, 0.2f), true));
  def.position = position;
  def.radius = 0.02f;
  def.damping = 10.0f;
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  return soft;
}

static void lift(tn_world *world, tn_soft_id soft, double by)
{
  tn_pos x[27];
  tn_soft_positions(world, soft, x, 27);
  for (int i = 0; i < 27; ++i) {
    x[i].y += by;
  }
  tn_soft_set_positions(world, soft, x, 27);
}

// From 0.2 m it lands after 0.2 s, rests, falls asleep, and is taken away.
static void contacts_begin_and_end_once(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_world_set_sleeping(world, true);
  tn_shape_id ground = add_ground(world);
  tn_soft_id soft = add_cube(world, tn_p3(0.0, 0.42, 0.0));
  tn_soft_event event = {0};
  assert_int_equal(count_over(world, 11, TN_SOFT_EVENT_TOUCH, &event), 0);
  assert_int_equal(count_over(world, 3, TN_SOFT_EVENT_TOUCH, &event), 1);
  assert_true(TN_SAME_ID(event.soft, soft) && TN_SAME_ID(event.shape, ground));
  assert_true(TN_IS_NULL(event.body) && TN_IS_NULL(event.other_soft));
  assert_close(event.point.y, 0.02, 0.002);
  assert_true(event.force.y > 0.0f);
  tn_soft_event none;
  int more = 0;
  for (int i = 0; i < 400; ++i) { // it may bounce a little at first
    test_run(world, dt, 1);
    more += i > 60 ? count_events(world, TN_SOFT_EVENT_TOUCH, &none) : 0;
    more += i > 60 ? count_events(world, TN_SOFT_EVENT_PART, &none) : 0;
  }
  assert_int_equal(more, 0);
  assert_false(tn_soft_is_awake(world, soft));
  lift(world, soft, 0.1);
  assert_int_equal(count_over(world, 2, TN_SOFT_EVENT_PART, &event), 1);
  assert_true(TN_SAME_ID(event.shape, ground));
  tn_world_destroy(world);
}

// Destroying one side ends the contact; the event comes with the next step.
static void destroying_one_side_ends_the_contact(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_shape_id ground = add_ground(world);
  tn_soft_id soft = add_cube(world, tn_p3(0.0, 0.22, 0.0));
  tn_soft_id other = add_cube(world, tn_p3(5.0, 0.22, 0.0));
  test_run(world, dt, 120);
  assert_true(tn_soft_destroy(world, soft));
  tn_soft_event event = {0};
  assert_int_equal(count_over(world, 1, TN_SOFT_EVENT_PART, &event), 1);
  assert_true(TN_SAME_ID(event.soft, soft) && TN_SAME_ID(event.shape, ground));
  assert_true(tn_shape_destroy(world, ground));
  assert_int_equal(count_over(world, 1, TN_SOFT_EVENT_PART, &event), 1);
  assert_true(TN_SAME_ID(event.soft, other) && TN_SAME_ID(event.shape, ground));
  tn_world_destroy(world);
}

static void contacts_of_two_soft_bodies_are_reported(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_id a = add_cube(world, tn_p3(0.0, 0.0, 0.0));
  tn_soft_id b = add_cube(world, tn_p3(0.0, 0.6, 0.0));
  for (int i = 0; i < 27; ++i) {
    tn_soft_set_velocity(world, b, i, tn_v3(0.0f, -2.0f, 0.0f));
  }
  tn_soft_event event = {0};
  assert_int_equal(count_over(world, 30, TN_SOFT_EVENT_TOUCH, &event), 1);
  assert_true(TN_SAME_ID(event.soft, a) && TN_SAME_ID(event.other_soft, b));
  assert_true(TN_IS_NULL(event.shape));
  tn_world_destroy(world);
}

static void breaking_attachment_is_reported(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_vec3 at = {0.0f, 0.0f, 0.0f};
  tn_soft_def def = tn_default_soft_def();
  def.vertices = &at;
  def.vertex_count = 1;
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_attachment_def hold = tn_default_attachment_def();
  hold.soft = soft;
  hold.break_force = 15.0f;
  tn_attachment_id id = tn_attachment_create(world, &hold);
  tn_soft_event event = {0};
  assert_int_equal(count_over(world, 60, TN_SOFT_EVENT_RELEASE, &event), 0);
  tn_soft_apply_force(world, soft, 0, tn_v3(0.0f, -10.0f, 0.0f));
  assert_int_equal(count_over(world, 1, TN_SOFT_EVENT_RELEASE, &event), 1);
  assert_true(TN_SAME_ID(event.soft, soft) && TN_SAME_ID(event.attachment, id));
  assert_int_equal(event.particles[0], 0);
  assert_close(event.force.y, 20.0, 0.1);
  assert_int_equal(count_over(world, 10, TN_SOFT_EVENT_RELEASE, &event), 0);
  tn_world_destroy(world);
}

static void *save_of_a_fallen_cube(size_t *size)
{
  tn_world *world = test_world(8, TN_METHOD_TENON);
  add_ground(world);
  add_cube(world, tn_p3(0.0, 0.22, 0.0));
  test_run(world, dt, 30);
  *size = tn_world_save(world, NULL, 0);
  void *buffer = malloc(*size);
  assert_int_equal(tn_world_save(world, buffer, *size), *size);
  tn_world_destroy(world);
  return buffer;
}

// Snapshots contain no uninitialised memory.
static void snapshots_of_equal_worlds_are_equal(void **unused)
{
  (void)unused;
  size_t size, again;
  void *first = save_of_a_fallen_cube(&size);
  void *second = save_of_a_fallen_cube(&again);
  assert_int_equal(size, again);
  assert_memory_equal(first, second, size);
  free(first);
  free(second);
}

// A restored world keeps the contacts that have begun.
static void snapshot_keeps_begun_contacts(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  add_ground(world);
  tn_soft_id soft = add_cube(world, tn_p3(0.0, 0.22, 0.0));
  test_run(world, dt, 120);
  size_t size = tn_world_save(world, NULL, 0);
  void *buffer = malloc(size);
  assert_int_equal(tn_world_save(world, buffer, size), size);
  tn_world *other = test_world(8, TN_METHOD_TENON);
  assert_true(tn_world_restore(other, buffer, size));
  tn_soft_event event = {0};
  assert_int_equal(count_over(other, 30, TN_SOFT_EVENT_TOUCH, &event), 0);
  tn_soft_id copy;
  assert_int_equal(tn_world_softs(other, &copy, 1), 1);
  lift(other, copy, 0.1);
  assert_int_equal(count_over(other, 2, TN_SOFT_EVENT_PART, &event), 1);
  assert_true(TN_SAME_ID(event.soft, copy) && tn_soft_is_valid(world, soft));
  free(buffer);
  tn_world_destroy(other);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contacts_begin_and_end_once),
      cmocka_unit_test(destroying_one_side_ends_the_contact),
      cmocka_unit_test(contacts_of_two_soft_bodies_are_reported),
      cmocka_unit_test(breaking_attachment_is_reported),
      cmocka_unit_test(snapshots_of_equal_worlds_are_equal),
      cmocka_unit_test(snapshot_keeps_begun_contacts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
