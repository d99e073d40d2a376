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

// ---------------------------------------------------------------------------------------------
// Geometries as they were built

static void all_shapes_are_listed(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_id ids[3] = {{0, 0, 0},
                       test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 9.0, 0.0)),
                       test_body(world, TN_BODY_STATIC, tn_p3(9.0, 0.0, 0.0))};
  tn_shape_id made[6], listed[6];
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  for (int i = 0; i < 6; ++i) {
    made[i] = tn_shape_create(world, ids[i % 3], &box);
  }
  assert_true(tn_shape_destroy(world, made[2]));
  assert_int_equal(tn_world_shapes(world, listed, 2), 5);
  assert_int_equal(tn_world_shapes(world, listed, 6), 5);
  static const int alive[5] = {0, 1, 3, 4, 5};
  for (int i = 0; i < 5; ++i) {
    assert_true(TN_SAME_ID(listed[i], made[alive[i]]));
  }
  assert_int_equal(tn_world_shapes(NULL, NULL, 0), 0);
  tn_world_destroy(world);
}

enum { CLOUD = 60, MOST = 64, MOST_CORNERS = 6 * MOST };

// Every face is a convex polygon in its plane, counter-clockwise from outside, with all points of
// the hull behind it; V - E + F = 2.
static void check_hull(const tn_world *world, tn_geometry_id id, const tn_vec3 *points)
{
  tn_vec3 v[MOST];
  tn_hull_face faces[2 * MOST];
  int corners[MOST_CORNERS];
  int vertices = tn_hull_vertices(world, id, v, MOST);
  int face_count = tn_hull_faces(world, id, faces, 2 * MOST);
  int corner_count = tn_hull_indices(world, id, corners, MOST_CORNERS);
  assert_in_range(vertices, 4, MOST);
  assert_in_range(face_count, 4, 2 * MOST);
  assert_in_range(corner_count, 12, MOST_CORNERS);
  assert_int_equal(vertices - corner_count / 2 + face_count, 2);
  int next = 0;
  for (int i = 0; i < face_count; ++i) {
    const tn_hull_face *f = &faces[i];
    assert_close(tn_length(f->normal), 1.0, 1e-6);
    assert_int_equal(f->first, next);
    assert_true(f->count >= 3);
    next += f->count;
    for (int k = 0; k < f->count; ++k) {
      tn_vec3 a = v[corners[f->first + k]], b = v[corners[f->first + (k + 1) % f->count]];
      tn_vec3 c = v[corners[f->first + (k + 2) % f->count]];
      assert_close(tn_dot(f->normal, a), f->offset, 2e-6);
      assert_true(tn_dot(f->normal, tn_cross(tn_sub(b, a), tn_sub(c, b))) > 0.0f);
    }
    for (int k = 0; k < CLOUD; ++k) {
      assert_true(tn_dot(f->normal, points[k]) < f->offset + 2e-6f);
    }
  }
  assert_int_equal(next, corner_count);
  assert_int_equal(tn_hull_vertices(world, id, NULL, 0), vertices);
  assert_int_equal(tn_hull_faces(world, id, NULL, 0), face_count);
  assert_int_equal(tn_hull_indices(world, id, NULL, 0), corner_count);
}

static void hulls_tell_their_faces(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  uint32_t random = 3;
  tn_geometry_id id = {0, 0, 0};
  for (int i = 0; i < 30; ++i) {
    tn_vec3 points[CLOUD];
    for (int k = 0; k < CLOUD; ++k) {
      points[k] = test_vector(&random, 1.0f);
      if (i % 3 == 0) { // faces with many corners
        points[k].y = points[k].y < 0.0f ? -1.0f : 1.0f;
      }
    }
    id = tn_hull_create(world, points, CLOUD, 0);
    check_hull(world, id, points);
  }
  test_forget_messages();
  tn_wire_point none = tn_wire_at(world, id, 0.0f);
  assert_true(tn_length(none.position) == 0.0f && tn_length(none.tangent) == 0.0f);
  assert_message("tn_wire_at: the geometry is not a wire");
  tn_world_destroy(world);
}

// A wire passes through its points with their tangents, and the tangent is the derivative between.
static void wires_tell_their_axis(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  uint32_t random = 4;
  tn_geometry_id id = {0, 0, 0};
  for (int closed = 0; closed < 2; ++closed) {
    tn_wire_point points[5];
    for (int i = 0; i < 5; ++i) {
      points[i] = (tn_wire_point){test_vector(&random, 2.0f), test_vector(&random, 1.0f)};
    }
    id = tn_wire_create(world, points, 5, closed);
    int cubics = closed ? 5 : 4;
    for (int i = 0; i <= cubics; ++i) {
      tn_wire_point at = tn_wire_at(world, id, (float)i);
      assert_below(tn_length(tn_sub(at.position, points[i % 5].position)), 1e-6);
      assert_below(tn_length(tn_sub(at.tangent, points[i % 5].tangent)), 1e-5);
    }
    const float step = 1.0f / 64.0f; // third derivatives of up to 60 m: 60 step^2 / 6
    for (float s = step; s < (float)cubics - step; s += 0.1f) {
      if (s - step < floorf(s) || s + step > ceilf(s)) {
        continue; // the second derivative jumps at points
      }
      tn_vec3 a = tn_wire_at(world, id, s - step).position;
      tn_vec3 b = tn_wire_at(world, id, s + step).position;
      tn_vec3 slope = tn_scale(0.5f / step, tn_sub(b, a));
      assert_below(tn_length(tn_sub(slope, tn_wire_at(world, id, s).tangent)), 5e-3);
    }
    tn_wire_point end = tn_wire_at(world, id, 99.0f), start = tn_wire_at(world, id, -1.0f);
    assert_below(tn_length(tn_sub(end.position, points[cubics % 5].position)), 1e-6);
    assert_below(tn_length(tn_sub(end.tangent, points[cubics % 5].tangent)), 1e-5);
    assert_below(tn_length(tn_sub(start.tangent, points[0].tangent)), 1e-6);
  }
  test_forget_messages();
  assert_true(tn_length(tn_wire_at(world, id, NAN).position) == 0.0f);
  assert_message("tn_wire_at: the parameter is not a number");
  assert_int_equal(tn_hull_faces(world, id, NULL, 0), 0);
  assert_message("tn_hull_faces: the geometry is not a hull");
  assert_true(tn_geometry_destroy(world, id));
  assert_int_equal(tn_hull_vertices(world, id, NULL, 0), 0);
  assert_message("tn_hull_vertices: the geometry has been destroyed");
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Materials, filters, contacts of the present poses

static void materials_combine_as_the_manual_says(void **unused)
{
  (void)unused;
  tn_material a = tn_default_material(), b = tn_default_material();
  a.static_friction = 0.8f, a.dynamic_friction = 0.7f, a.restitution = 0.2f, a.compliance = 1e-3f;
  b.static_friction = 0.2f, b.dynamic_friction = 0.2f, b.restitution = 0.6f, b.compliance = 2e-3f;
  a.rolling_friction = 0.1f, b.spinning_friction = 0.3f;
  static const float expected[4][4] = {{0.5f, 0.45f, 0.05f, 0.15f},
                                       {0.2f, 0.2f, 0.0f, 0.0f},
                                       {0.16f, 0.14f, 0.0f, 0.0f},
                                       {0.8f, 0.7f, 0.1f, 0.3f}};
  for (int mode = 0; mode < 4; ++mode) {
    b.combine_friction = (tn_combine)mode; // a has the first of the list
    tn_material m = tn_materials_combine(&a, &b), n = tn_materials_combine(&b, &a);
    assert_close(m.static_friction, expected[mode][0], 1e-7);
    assert_close(m.dynamic_friction, expected[mode][1], 1e-7);
    assert_close(m.rolling_friction, expected[mode][2], 1e-7);
    assert_close(m.spinning_friction, expected[mode][3], 1e-7);
    assert_close(m.restitution, 0.4, 1e-7);
    assert_close(m.compliance, 3e-3, 1e-9);
    assert_int_equal(m.combine_friction, mode);
    assert_memory_equal(&m, &n, sizeof m);
  }
  assert_true(tn_materials_combine(NULL, &b).static_friction == 0.0f);
  // One of higher priority counts alone, in whatever way it would combine.
  b.priority = 1;
  b.combine_friction = TN_COMBINE_MULTIPLY;
  tn_material m = tn_materials_combine(&a, &b), n = tn_materials_combine(&b, &a);
  assert_close(m.static_friction, 0.2, 1e-7);
  assert_close(m.dynamic_friction, 0.2, 1e-7);
  assert_close(m.rolling_friction, 0.0, 1e-7);
  assert_close(m.restitution, 0.6, 1e-7);
  assert_close(m.compliance, 3e-3, 1e-9);
  assert_memory_equal(&m, &n, sizeof m);
}

static void filters_decide_as_their_comment_says(void **unused)
{
  (void)unused;
  static const struct {
    tn_filter a, b;
    bool collide;
  } cases[] = {{{1, 1, 0}, {1, 1, 0}, true},    {{1, 2, 0}, {2, 1, 0}, true},
               {{1, 2, 0}, {2, 2, 0}, false},   {{1, 1, 5}, {2, 2, 5}, true},
               {{1, 1, -5}, {1, 1, -5}, false}, {{1, 1, -5}, {1, 1, -4}, true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    assert_int_equal(tn_filters_collide(&cases[i].a, &cases[i].b), cases[i].collide);
    assert_int_equal(tn_filters_collide(&cases[i].b, &cases[i].a), cases[i].collide);
  }
  assert_false(tn_filters_collide(NULL, &cases[0].b));
}

// A ball that is put 1 cm into another: the contact is there without a step, and nothing moves.
static void contacts_are_found_without_a_step(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  tn_body_id ids[2];
  for (int i = 0; i < 2; ++i) {
    ids[i] = test_body(world, TN_BODY_DYNAMIC, tn_p3(3.0 * i, 0.0, 0.0));
    assert_false(TN_IS_NULL(tn_shape_create(world, ids[i], &ball)));
  }
  test_run(world, 1e-3f, 1);
  assert_true(tn_world_update_contacts(world));
  assert_int_equal(tn_world_contacts(world, NULL, 0), 0);
  tn_transform at = tn_body_transform(world, ids[0]);
  at.p.x += 0.99;
  assert_true(tn_body_set_transform(world, ids[1], at));
  double poses[2][2][TN_POSE_NUMBERS], velocities[2][2][TN_VELOCITY_NUMBERS];
  for (int i = 0; i < 2; ++i) {
    assert_true(tn_bodies_read_poses(world, ids, 2, TN_DOUBLE, poses[i], 0));
    assert_true(tn_bodies_read_velocities(world, ids, 2, TN_DOUBLE, velocities[i], 0));
    assert_true(tn_world_update_contacts(world));
  }
  assert_memory_equal(poses[0], poses[1], sizeof poses[0]);
  assert_memory_equal(velocities[0], velocities[1], sizeof velocities[0]);
  tn_contact contact = {0};
  assert_int_equal(tn_world_contacts(world, &contact, 1), 1);
  assert_int_equal(contact.count, 1);
  assert_close(contact.points[0].gap, -0.01, 1e-6);
  assert_close(fabsf(contact.normal.x), 1.0, 1e-6);
  assert_false(tn_world_update_contacts(NULL));
  tn_world_destroy(world);
}

static void radius_of_particles_is_read(void **unused)
{
  (void)unused;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_rope(&def, 4, 1.0f));
  def.radius = 0.0125f;
  tn_soft_id rope = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  assert_true(tn_soft_radius(world, rope) == 0.0125f);
  assert_true(tn_soft_destroy(world, rope));
  test_forget_messages();
  assert_true(tn_soft_radius(world, rope) == 0.0f);
  assert_message("tn_soft_radius: the soft body has been destroyed");
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hulls_and_meshes_return_their_input),
      cmocka_unit_test(fields_and_wires_return_their_input),
      cmocka_unit_test(shapes_of_the_world_are_listed),
      cmocka_unit_test(attachments_and_pins_can_be_read),
      cmocka_unit_test(all_shapes_are_listed),
      cmocka_unit_test(hulls_tell_their_faces),
      cmocka_unit_test(wires_tell_their_axis),
      cmocka_unit_test(materials_combine_as_the_manual_says),
      cmocka_unit_test(filters_decide_as_their_comment_says),
      cmocka_unit_test(contacts_are_found_without_a_step),
      cmocka_unit_test(radius_of_particles_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
