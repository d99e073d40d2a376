// Definitions can be read back: geometries, the world's own shapes, attachments, pins.
#include "support.h"

#include <string.h>

static void hulls_and_meshes_return_their_input(void **unused)
{
  (void)unused;
  static const tn_vec3 points[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.1f, 0.1f, 0.1f}};
  static const int triangles[6] = {0, 1, 2, 0, 2, 3};
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_geometry_source hull = tn_geometry_get_source(world, tn_hull_create(world, points, 5, 20));
  assert_int_equal(hull.kind, TN_SHAPE_HULL);
  assert_int_equal(hull.point_count, 5); // includes the point inside
  assert_int_equal(hull.max_vertices, 20);
  assert_memory_equal(hull.points, points, sizeof points);
  assert_null(hull.triangles);
  assert_null(hull.heights);
  assert_null(hull.wire_points);
  tn_geometry_source mesh =
      tn_geometry_get_source(world, tn_mesh_create(world, points, 4, triangles, 2));
  assert_int_equal(mesh.kind, TN_SHAPE_MESH);
  assert_int_equal(mesh.point_count, 4);
  assert_int_equal(mesh.triangle_count, 2);
  assert_memory_equal(mesh.points, points, 4 * sizeof points[0]);
  assert_memory_equal(mesh.triangles, triangles, sizeof triangles);
  tn_world_destroy(world);
}

static void fields_and_wires_return_their_input(void **unused)
{
  (void)unused;
  static const float heights[6] = {0, 1, 2, 3, 4, 5};
  static const tn_wire_point bends[3] = {
      {{0, 0, 0}, {1, 0, 0}}, {{1, 0, 0}, {1, 1, 0}}, {{2, 1, 0}, {1, 0, 0}}};
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_geometry_source field =
      tn_geometry_get_source(world, tn_height_field_create(world, heights, 3, 2, 0.5f, 0.25f));
  assert_int_equal(field.kind, TN_SHAPE_HEIGHT_FIELD);
  assert_int_equal(field.columns, 3);
  assert_int_equal(field.rows, 2);
  assert_true(field.spacing_x == 0.5f && field.spacing_z == 0.25f);
  assert_memory_equal(field.heights, heights, sizeof heights);
  tn_geometry_id id = tn_wire_create(world, bends, 3, true);
  tn_geometry_source wire = tn_geometry_get_source(world, id);
  assert_int_equal(wire.kind, TN_SHAPE_WIRE);
  assert_int_equal(wire.wire_point_count, 3);
  assert_true(wire.closed);
  assert_memory_equal(wire.wire_points, bends, sizeof bends);
  assert_true(tn_geometry_destroy(world, id));
  test_forget_messages();
  assert_null(tn_geometry_get_source(world, id).wire_points);
  assert_message("tn_geometry_get_source: the geometry has been destroyed");
  tn_world_destroy(world);
}

static void shapes_of_the_world_are_listed(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_id ground = {0, 0, 0};
  tn_shape_id listed[2];
  assert_int_equal(tn_body_shapes(world, ground, listed, 2), 0);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_id made = tn_shape_create(world, ground, &plane);
  assert_int_equal(tn_body_shapes(world, ground, listed, 2), 1);
  assert_true(TN_SAME_ID(listed[0], made));
  assert_int_equal(tn_body_shapes(NULL, ground, listed, 2), 0);
  tn_world_destroy(world);
}

static void attachments_and_pins_can_be_read(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_rope(&def, 4, 1.0f));
  tn_soft_id rope = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  tn_attachment_id made[2], listed[2];
  for (int i = 0; i < 2; ++i) {
    tn_attachment_def hold = tn_default_attachment_def();
    hold.soft = rope;
    hold.particle = i;
    hold.point = tn_p3(0.1 * i, 2.0, 3.0);
    hold.compliance = 1e-3f;
    made[i] = tn_attachment_create(world, &hold);
  }
  assert_int_equal(tn_world_attachments(world, listed, 2), 2);
  assert_true(TN_SAME_ID(listed[0], made[0]) && TN_SAME_ID(listed[1], made[1]));
  tn_attachment_def got = tn_attachment_get_def(world, made[1]);
  assert_int_equal(got.particle, 1);
  assert_true(TN_SAME_ID(got.soft, rope) && TN_IS_NULL(got.body));
  assert_true(got.point.x == 0.1 && got.compliance == 1e-3f && got.break_force == INFINITY);
  assert_true(tn_attachment_set_point(world, made[1], tn_p3(5.0, 6.0, 7.0)));
  assert_true(tn_attachment_get_def(world, made[1]).point.z == 7.0); // its current value
  assert_true(tn_attachment_destroy(world, made[0]));
  assert_int_equal(tn_world_attachments(world, NULL, 0), 1);
  test_forget_messages();
  assert_int_equal(tn_attachment_get_def(world, made[0]).cookie, 0);
  assert_message("tn_attachment_get_def: the attachment has been destroyed");

  assert_false(tn_soft_is_pinned(world, rope, 2));
  assert_true(tn_soft_set_pinned(world, rope, 2, true));
  assert_true(tn_soft_is_pinned(world, rope, 2));
  assert_false(tn_soft_is_pinned(world, rope, 5));
  assert_message("tn_soft_is_pinned: the soft body has no particle 5");
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hulls_and_meshes_return_their_input),
      cmocka_unit_test(fields_and_wires_return_their_input),
      cmocka_unit_test(shapes_of_the_world_are_listed),
      cmocka_unit_test(attachments_and_pins_can_be_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
