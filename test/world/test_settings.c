// What is set can be read: every setter with its getter, and definitions of bodies, shapes, soft
// bodies and attachments as they are read, changed and written back.
#include "support.h"

#include <math.h>
#include <string.h>

static tn_pos origin;

static void settings_of_a_world(void **state)
{
  (void)state;
  int mark = 0;
  tn_world_def def = test_world_def(4, TN_METHOD_TENON);
  def.user_data = &def;
  tn_world *world = tn_world_create(&def);
  assert_ptr_equal(tn_world_user_data(world), &def);
  assert_true(tn_world_set_user_data(world, &mark));
  assert_ptr_equal(tn_world_user_data(world), &mark);
  assert_true(tn_world_set_substeps(world, 7) && tn_world_substeps(world) == 7);
  assert_int_equal(tn_world_iterations(world), 1);
  assert_true(tn_world_set_iterations(world, 3) && tn_world_iterations(world) == 3);
  assert_int_equal(tn_world_substeps(world), 7);
  assert_false(tn_world_sleeping(world));
  assert_true(tn_world_set_sleeping(world, true) && tn_world_sleeping(world));
  assert_true(tn_world_sleep_speed(world) == 0.0f && tn_world_sleep_time(world) == 0.0f);
  assert_true(tn_world_play(world) == 1e-4f);
  assert_true(tn_world_set_play(world, 0.02f) && tn_world_play(world) == 0.02f);
  assert_true(tn_world_set_sleep_speed(world, 0.05f) && tn_world_sleep_speed(world) == 0.05f);
  assert_true(tn_world_set_sleep_time(world, 2.0f) && tn_world_sleep_time(world) == 2.0f);
  tn_world_destroy(world);
  assert_null(tn_world_user_data(NULL));
  assert_false(tn_world_set_user_data(NULL, &mark));
  assert_false(tn_world_sleeping(NULL));
}

static bool never(tn_shape_id a, tn_shape_id b, void *context)
{
  (void)a, (void)b, (void)context;
  return false;
}

static void the_pair_filter_of_a_world(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  void *context = world;
  assert_true(tn_world_pair_filter(world, &context) == NULL && context == NULL);
  assert_true(tn_world_set_pair_filter(world, never, &origin));
  assert_true(tn_world_pair_filter(world, &context) == never && context == &origin);
  assert_true(tn_world_pair_filter(world, NULL) == never);
  tn_world_destroy(world);
}

static void settings_of_a_body(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_id body = test_body(world, TN_BODY_DYNAMIC, origin);
  assert_true(tn_body_set_linear_damping(world, body, 0.5f));
  assert_true(tn_body_set_angular_damping(world, body, 0.25f));
  assert_true(tn_body_set_max_speed(world, body, 20.0f));
  assert_true(tn_body_set_max_angular_speed(world, body, 30.0f));
  assert_true(tn_body_set_can_sleep(world, body, false));
  assert_true(tn_body_linear_damping(world, body) == 0.5f);
  assert_true(tn_body_angular_damping(world, body) == 0.25f);
  assert_true(tn_body_max_speed(world, body) == 20.0f);
  assert_true(tn_body_max_angular_speed(world, body) == 30.0f);
  assert_false(tn_body_can_sleep(world, body));
  tn_world_destroy(world);
}

static tn_body_def strange_body(void)
{
  tn_body_def def = tn_default_body_def();
  def.position = tn_p3(1.0, 2.0, 3.0);
  def.rotation = tn_quat_axis_angle(tn_v3(1.0f, 2.0f, 3.0f), 1.0f);
  def.velocity = tn_v3(0.1f, 0.2f, 0.3f);
  def.angular_velocity = tn_v3(-1.0f, 2.0f, 0.5f);
  def.mass = tn_mass_at(tn_mass_box(tn_v3(0.1f, 0.3f, 0.2f), 500.0f), tn_v3(0.1f, 0.0f, 0.05f),
                        tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), 0.3f));
  def.gravity_scale = 0.5f;
  def.linear_damping = 0.1f;
  def.angular_damping = 0.2f;
  def.max_speed = 50.0f;
  def.max_angular_speed = 60.0f;
  def.can_sleep = false;
  def.bullet = true;
  def.user_data = &origin;
  def.name = "strange";
  return def;
}

static void assert_same_body(const tn_body_def *a, const tn_body_def *b)
{
  assert_int_equal(a->type, b->type);
  assert_below(tn_distance(a->position, b->position), 1e-12);
  assert_memory_equal(&a->velocity, &b->velocity, sizeof a->velocity);
  assert_memory_equal(&a->angular_velocity, &b->angular_velocity, sizeof a->velocity);
  assert_memory_equal(&a->mass, &b->mass, sizeof a->mass);
  float numbers[2][5] = {
      {a->gravity_scale, a->linear_damping, a->angular_damping, a->max_speed, a->max_angular_speed},
      {b->gravity_scale, b->linear_damping, b->angular_damping, b->max_speed,
       b->max_angular_speed}};
  assert_memory_equal(numbers[0], numbers[1], sizeof numbers[0]);
  assert_true(a->can_sleep == b->can_sleep && a->bullet == b->bullet);
  assert_ptr_equal(a->user_data, b->user_data);
  assert_string_equal(a->name ? a->name : "", b->name ? b->name : "");
  assert_int_equal(a->cookie, b->cookie);
}

static void a_body_s_definition_is_read_and_written(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_def def = strange_body(), now;
  tn_body_id body = tn_body_create(world, &def);
  now = tn_body_get_def(world, body);
  assert_same_body(&now, &def);
  // Written as it was read, it changes nothing, to the bit, also in motion.
  test_run(world, 1.0f / 60.0f, 20);
  now = tn_body_get_def(world, body);
  uint64_t hash = tn_world_hash(world);
  assert_true(tn_body_set_def(world, body, &now));
  assert_true(tn_world_hash(world) == hash);
  assert_string_equal(tn_body_name(world, body), "strange");
  // Another body takes it all over.
  tn_body_id other = test_body(world, TN_BODY_STATIC, origin);
  assert_true(tn_body_set_def(world, other, &def));
  now = tn_body_get_def(world, other);
  assert_same_body(&now, &def);
  // They fall alike.
  assert_true(tn_body_set_def(world, body, &def));
  test_run(world, 1.0f / 60.0f, 30);
  tn_body_def a = tn_body_get_def(world, body), b = tn_body_get_def(world, other);
  assert_same_body(&a, &b);
  tn_world_destroy(world);
}

static void a_bad_definition_of_a_body_is_refused(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_def def = strange_body();
  tn_body_id body = tn_body_create(world, &def);
  uint64_t hash = tn_world_hash(world);
  tn_body_def bad[4] = {def, def, def, def};
  bad[0].linear_damping = -1.0f;
  bad[1].position.x = NAN;
  bad[2].type = (tn_body_type)7;
  bad[3].cookie = 0;
  for (int i = 0; i < 4; ++i) {
    assert_false(tn_body_set_def(world, body, &bad[i]));
    assert_message("tn_body_set_def: ");
  }
  assert_false(tn_body_set_def(world, body, NULL));
  assert_message("null");
  tn_body_id ground = test_body(world, TN_BODY_STATIC, origin);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, ground, &plane);
  assert_false(tn_body_set_def(world, ground, &def));
  assert_message("cannot move");
  assert_true(tn_body_destroy(world, ground));
  assert_true(tn_world_hash(world) == hash);
  assert_int_equal(tn_body_get_def(world, ground).cookie, 0);
  tn_world_destroy(world);
}

static void a_shape_s_definition_is_read_and_written(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id none = {0},
             ball = test_box(world, tn_p3(0.0, 0.5, 0.0), 1.0f, tn_v3(0.5f, 0.5f, 0.5f));
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_SPHERE);
  tn_shape_id ground = tn_shape_create(world, none, &plane);
  tn_shape_id sphere = tn_shape_create(world, ball, &def);
  test_run(world, 1.0f / 60.0f, 60);
  assert_close(tn_body_position(world, ball).y, 0.5, 1e-3);
  // A smaller sphere falls to its own radius.
  def = tn_shape_get_def(world, sphere);
  def.radius = 0.2f;
  def.material.restitution = 0.0f;
  def.user_data = &origin;
  assert_true(tn_shape_set_def(world, sphere, &def));
  assert_true(tn_shape_get_def(world, sphere).radius == 0.2f);
  assert_ptr_equal(tn_shape_user_data(world, sphere), &origin);
  test_run(world, 1.0f / 60.0f, 120);
  assert_close(tn_body_position(world, ball).y, 0.2, 1e-3);
  // As a sensor it falls through.
  def.sensor = true;
  assert_true(tn_shape_set_def(world, sphere, &def));
  test_run(world, 1.0f / 60.0f, 60);
  assert_below(tn_body_position(world, ball).y, -1.0);
  def.kind = TN_SHAPE_BOX;
  assert_false(tn_shape_set_def(world, sphere, &def));
  assert_message("kind");
  assert_false(tn_shape_set_def(world, sphere, NULL));
  assert_message("null");
  tn_filter filter = {2, 3, -1};
  tn_material material = tn_default_material();
  material.restitution = 0.25f;
  assert_true(tn_shape_set_filter(world, ground, filter));
  assert_true(tn_shape_set_material(world, ground, material));
  assert_true(tn_shape_set_user_data(world, ground, world));
  assert_int_equal(tn_shape_filter(world, ground).group, -1);
  assert_true(tn_shape_material(world, ground).restitution == 0.25f);
  assert_ptr_equal(tn_shape_user_data(world, ground), world);
  tn_world_destroy(world);
}

// A shape may change to another geometry of its kind, and gives the first one free.
static void a_shape_changes_its_geometry(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_vec3 points[8];
  tn_geometry_id hulls[2];
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 8; ++i) {
      float s = k == 0 ? 0.5f : 1.0f;
      points[i] = tn_v3(i & 1 ? s : -s, i & 2 ? s : -s, i & 4 ? s : -s);
    }
    hulls[k] = tn_hull_create(world, points, 8, 0);
    assert_true(tn_geometry_is_valid(world, hulls[k]));
  }
  tn_body_id none = {0};
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_HULL);
  def.geometry = hulls[0];
  tn_shape_id shape = tn_shape_create(world, none, &def);
  def.geometry = hulls[1];
  assert_true(tn_shape_set_def(world, shape, &def));
  tn_pos lower, upper;
  assert_true(tn_shape_box(world, shape, &lower, &upper) && upper.x > 0.99);
  assert_false(tn_geometry_destroy(world, hulls[1]));
  test_forget_messages();
  assert_true(tn_geometry_destroy(world, hulls[0]));
  assert_false(tn_geometry_is_valid(world, hulls[0]));
  def.geometry = hulls[0];
  assert_false(tn_shape_set_def(world, shape, &def));
  assert_message("tn_shape_set_def: ");
  tn_world_destroy(world);
}

static void settings_of_a_joint(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_id a = test_body(world, TN_BODY_DYNAMIC, origin);
  tn_body_id b = test_body(world, TN_BODY_DYNAMIC, tn_p3(1.0, 0.0, 0.0));
  tn_vec3 x = {1.0f, 0.0f, 0.0f};
  tn_joint_id slider = test_joint(world, TN_JOINT_CYLINDER, test_no_body, a, origin, x);
  tn_joint_id ball = test_joint(world, TN_JOINT_BALL, a, b, origin, x);
  tn_drive motor = tn_motor(2.0f, INFINITY, 10.0f);
  tn_drive servo = tn_servo(0.5f, INFINITY, 0.0f);
  assert_true(tn_joint_set_drive(world, slider, TN_LINEAR_A, motor));
  assert_true(tn_joint_set_drive(world, slider, TN_ANGULAR_A, servo));
  assert_true(tn_joint_drive(world, slider, TN_LINEAR_A).velocity == 2.0f);
  assert_true(tn_joint_drive(world, slider, TN_ANGULAR_A).target == 0.5f);
  assert_true(tn_joint_is_enabled(world, slider));
  assert_true(tn_joint_set_enabled(world, slider, false));
  assert_false(tn_joint_is_enabled(world, slider));
  assert_true(tn_joint_set_user_data(world, slider, &origin));
  assert_ptr_equal(tn_joint_user_data(world, slider), &origin);
  assert_true(tn_joint_set_anchor(world, slider, tn_p3(0.0, 3.0, 0.0)));
  assert_true(tn_joint_anchor(world, slider).y == 3.0);
  assert_true(tn_joint_anchor(world, ball).y == 0.0);
  assert_message("tn_joint_anchor: no end");
  tn_world_destroy(world);
}

static tn_soft_id make_balloon(tn_world *world, tn_soft_def *def)
{
  *def = tn_default_soft_def();
  assert_true(tn_soft_mesh_sphere(def, 1, 0.5f));
  def->pressure = 1.0f;
  def->damping = 0.5f;
  def->user_data = &origin;
  tn_soft_id soft = tn_soft_create(world, def);
  tn_soft_mesh_free(def);
  assert_true(tn_soft_is_valid(world, soft));
  return soft;
}

static void a_soft_body_s_definition_is_read_and_written(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def;
  tn_soft_id soft = make_balloon(world, &def);
  tn_soft_def now = tn_soft_get_def(world, soft);
  assert_true(now.damping == 0.5f && now.pressure == 1.0f && now.user_data == &origin);
  assert_int_equal(now.vertex_count, 42);
  assert_int_equal(now.triangle_count, 80);
  assert_null(now.vertices);
  assert_null(now.triangles);
  assert_true(TN_IS_NULL(tn_soft_create(world, &now))); // it has no arrays
  test_forget_messages();
  test_run(world, 1.0f / 60.0f, 10);
  uint64_t hash = tn_world_hash(world);
  assert_true(tn_soft_set_def(world, soft, &now));
  assert_true(tn_world_hash(world) == hash);
  now.gravity_scale = -1.0f;
  now.linear_damping = 0.1f;
  now.pressure = 2.0f;
  now.material.static_friction = 0.9f;
  now.filter.group = -4;
  assert_true(tn_soft_set_def(world, soft, &now));
  assert_true(tn_world_hash(world) != hash);
  tn_soft_def after = tn_soft_get_def(world, soft);
  assert_true(after.gravity_scale == -1.0f && after.linear_damping == 0.1f);
  assert_true(after.filter.group == -4 && after.material.static_friction == 0.9f);
  assert_true(tn_soft_pressure(world, soft) == 2.0f);
  float before = tn_soft_velocity(world, soft, 0).y;
  test_run(world, 1.0f / 60.0f, 30);
  assert_true(tn_soft_velocity(world, soft, 0).y > before); // it falls upwards
  assert_true(tn_soft_set_damping(world, soft, 0.75f) && tn_soft_damping(world, soft) == 0.75f);
  assert_true(tn_soft_set_user_data(world, soft, world));
  assert_ptr_equal(tn_soft_user_data(world, soft), world);
  tn_world_destroy(world);
}

static void what_a_soft_body_is_made_of_stays(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def;
  tn_soft_id soft = make_balloon(world, &def);
  uint64_t hash = tn_world_hash(world);
  tn_soft_def now = tn_soft_get_def(world, soft);
  tn_soft_def bad[6] = {now, now, now, now, now, now};
  bad[0].edge_compliance = 1.0f;
  bad[1].mass = 2.0f;
  bad[2].pressure = 0.0f;
  bad[3].damping = NAN;
  bad[4].vertex_count -= 1;
  bad[5].cookie = 0;
  for (int i = 0; i < 6; ++i) {
    assert_false(tn_soft_set_def(world, soft, &bad[i]));
    assert_message("tn_soft_set_def: ");
  }
  assert_false(tn_soft_set_def(world, soft, NULL));
  assert_message("null");
  assert_true(tn_world_hash(world) == hash);
  assert_int_equal(tn_soft_get_def(world, (tn_soft_id){0}).cookie, 0);
  tn_world_destroy(world);
}

// Count and capacity are those of the array, three elements for each triangle.
static void triangles_are_counted_as_their_array(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def;
  tn_soft_id soft = make_balloon(world, &def);
  int corners[240];
  memset(corners, -1, sizeof corners);
  assert_int_equal(tn_soft_triangles(world, soft, NULL, 0), 240);
  assert_int_equal(tn_soft_triangles(world, soft, corners, 7), 240);
  assert_true(corners[6] >= 0 && corners[7] == -1);
  assert_int_equal(tn_soft_triangles(world, soft, corners, 240), 240);
  for (int i = 0; i < 240; ++i) {
    assert_in_range(corners[i], 0, 41);
  }
  tn_world_destroy(world);
}

static void an_attachment_s_definition_is_read_and_written(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON), *copy = test_world(4, TN_METHOD_TENON);
  tn_soft_def soft_def;
  tn_attachment_def def = tn_default_attachment_def();
  def.soft = make_balloon(world, &soft_def);
  def.point = tn_soft_position(world, def.soft, 0);
  tn_attachment_id id = tn_attachment_create(world, &def);
  def = tn_attachment_get_def(world, id);
  def.compliance = 1e-3f;
  def.break_force = 1000.0f;
  assert_true(tn_attachment_set_def(world, id, &def));
  assert_true(tn_attachment_get_def(world, id).compliance == 1e-3f);
  assert_true(tn_attachment_set_point(world, id, tn_p3(0.0, 2.0, 0.0)));
  assert_true(tn_attachment_point(world, id).y == 2.0);
  assert_true(tn_attachment_set_user_data(world, id, &origin));
  assert_ptr_equal(tn_attachment_user_data(world, id), &origin);
  def.particle = 3;
  assert_false(tn_attachment_set_def(world, id, &def));
  assert_message("ends");
  // Of a restored world as well: its ids are those of the new world.
  static unsigned char bytes[1 << 20];
  size_t size = tn_world_save(world, bytes, sizeof bytes);
  assert_true(size <= sizeof bytes && tn_world_restore(copy, bytes, size));
  assert_int_equal(tn_world_attachments(copy, &id, 1), 1);
  def = tn_attachment_get_def(copy, id);
  assert_true(tn_soft_is_valid(copy, def.soft));
  assert_true(tn_attachment_set_def(copy, id, &def));
  tn_world_destroy(copy);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settings_of_a_world),
      cmocka_unit_test(the_pair_filter_of_a_world),
      cmocka_unit_test(settings_of_a_body),
      cmocka_unit_test(a_body_s_definition_is_read_and_written),
      cmocka_unit_test(a_bad_definition_of_a_body_is_refused),
      cmocka_unit_test(a_shape_s_definition_is_read_and_written),
      cmocka_unit_test(a_shape_changes_its_geometry),
      cmocka_unit_test(settings_of_a_joint),
      cmocka_unit_test(a_soft_body_s_definition_is_read_and_written),
      cmocka_unit_test(what_a_soft_body_is_made_of_stays),
      cmocka_unit_test(triangles_are_counted_as_their_array),
      cmocka_unit_test(an_attachment_s_definition_is_read_and_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
