// Shapes: invalid definitions, read-back of properties, and mass from shapes.
#include "contact_support.h"

#include <float.h>

static const float not_finite[3] = {NAN, INFINITY, -INFINITY};

typedef struct fixture {
  tn_world *world, *other;
  tn_body_id dynamic, fixed, dead;
  tn_geometry_id hull, mesh, field, wire, dead_hull, foreign_hull;
} fixture;

static const tn_vec3 corners[8] = {
    {-1.0f, -1.0f, -1.0f}, {1.0f, -1.0f, -1.0f}, {-1.0f, 1.0f, -1.0f}, {1.0f, 1.0f, -1.0f},
    {-1.0f, -1.0f, 1.0f},  {1.0f, -1.0f, 1.0f},  {-1.0f, 1.0f, 1.0f},  {1.0f, 1.0f, 1.0f}};
static const int square[6] = {0, 4, 5, 0, 5, 1}; // the lower side
static const float heights[4] = {0.0f, 0.0f, 0.0f, 1.0f};
static const tn_wire_point bend[3] = {{{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}},
                                      {{1.0f, 1.0f, 0.0f}, {0.0f, 1.0f, 0.0f}},
                                      {{0.0f, 2.0f, 0.0f}, {-1.0f, 0.0f, 0.0f}}};

static fixture make_fixture(void)
{
  fixture f = {.world = contact_world(4), .other = contact_world(4)};
  f.dynamic = test_body(f.world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  f.fixed = test_body(f.world, TN_BODY_STATIC, tn_p3(0.0, -9.0, 0.0));
  f.dead = test_body(f.world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  assert_true(tn_body_destroy(f.world, f.dead));
  f.hull = tn_hull_create(f.world, corners, 8, 0);
  f.mesh = tn_mesh_create(f.world, corners, 8, square, 2);
  f.field = tn_height_field_create(f.world, heights, 2, 2, 1.0f, 1.0f);
  f.wire = tn_wire_create(f.world, bend, 3, false);
  f.dead_hull = tn_hull_create(f.world, corners, 8, 0);
  assert_true(tn_geometry_destroy(f.world, f.dead_hull));
  f.foreign_hull = tn_hull_create(f.other, corners, 8, 0);
  assert_int_equal(test_messages.count, 0);
  return f;
}

static void release_fixture(fixture *f)
{
  tn_world_destroy(f->world);
  tn_world_destroy(f->other);
}

static tn_shape_def shape_def_of(const fixture *f, tn_shape_kind kind)
{
  tn_shape_def def = tn_default_shape_def(kind);
  switch (kind) {
  case TN_SHAPE_HULL:
    def.geometry = f->hull;
    break;
  case TN_SHAPE_MESH:
    def.geometry = f->mesh;
    break;
  case TN_SHAPE_HEIGHT_FIELD:
    def.geometry = f->field;
    break;
  case TN_SHAPE_WIRE:
    def.geometry = f->wire;
    break;
  default:
    break;
  }
  return def;
}

static void refuses_shape(fixture *f, tn_body_id body, const tn_shape_def *def, const char *part)
{
  uint64_t hash = tn_world_hash(f->world);
  int shapes = tn_world_counters(f->world).shapes;
  assert_true(TN_IS_NULL(tn_shape_create(f->world, body, def)));
  assert_message(part);
  assert_int_equal(tn_world_counters(f->world).shapes, shapes);
  assert_true(tn_world_hash(f->world) == hash);
}

// ---------------------------------------------------------------------------------------------
// Bad input

static void every_kind_can_be_made(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  for (int kind = 0; kind < TN_SHAPE_KIND_COUNT; ++kind) {
    tn_shape_def def = shape_def_of(&f, (tn_shape_kind)kind);
    tn_shape_id id = add_shape(f.world, f.fixed, &def);
    assert_true(tn_shape_is_valid(f.world, id));
    assert_true(TN_SAME_ID(tn_shape_body(f.world, id), f.fixed));
    assert_int_equal(tn_shape_get_def(f.world, id).kind, kind);
    id = add_shape(f.world, test_no_body, &def);
    assert_true(TN_IS_NULL(tn_shape_body(f.world, id)));
  }
  assert_int_equal(tn_world_counters(f.world).shapes, 2 * TN_SHAPE_KIND_COUNT);
  assert_int_equal(tn_body_shapes(f.world, f.fixed, NULL, 0), TN_SHAPE_KIND_COUNT);
  release_fixture(&f);
}

static void bad_sizes_are_refused(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  static const tn_shape_kind round[5] = {TN_SHAPE_SPHERE, TN_SHAPE_CAPSULE, TN_SHAPE_CYLINDER,
                                         TN_SHAPE_CONE, TN_SHAPE_WIRE};
  const float bad[6] = {0.0f, -1.0f, FLT_MAX, NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 5; ++k) {
      tn_shape_def def = shape_def_of(&f, round[k]);
      def.radius = bad[i];
      refuses_shape(&f, f.fixed, &def, "radius");
      def = shape_def_of(&f, round[k]);
      def.half_length = bad[i];
      if (k > 0 && k < 4) {
        refuses_shape(&f, f.fixed, &def, "half_length");
      }
    }
    for (int k = 0; k < 3; ++k) {
      tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
      float *sides[3] = {&def.half_extents.x, &def.half_extents.y, &def.half_extents.z};
      *sides[k] = bad[i];
      refuses_shape(&f, f.dynamic, &def, "half_extents");
    }
  }
  release_fixture(&f);
}

static void bad_places_and_origins_are_refused(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  const tn_shape_def good = ball_shape(1.0f);
  for (int i = 0; i < 3; ++i) {
    tn_shape_def def = good;
    def.position.y = not_finite[i];
    refuses_shape(&f, f.dynamic, &def, "place");
    def = good;
    def.rotation.x = not_finite[i];
    refuses_shape(&f, f.dynamic, &def, "rotation");
    def = good;
    def.density = not_finite[i];
    refuses_shape(&f, f.dynamic, &def, "density");
  }
  tn_shape_def def = good;
  def.rotation = (tn_quat){0.0f, 0.0f, 0.0f, 0.0f};
  refuses_shape(&f, f.dynamic, &def, "rotation");
  def = good;
  def.density = 0.0f;
  refuses_shape(&f, f.dynamic, &def, "density");
  def = good;
  def.cookie ^= 1;
  refuses_shape(&f, f.dynamic, &def, "tn_default_shape_def");
  def = good;
  def.kind = TN_SHAPE_KIND_COUNT;
  refuses_shape(&f, f.dynamic, &def, "kind");
  refuses_shape(&f, f.dynamic, NULL, "null");
  refuses_shape(&f, f.dead, &good, "destroyed");
  tn_body_id foreign = test_body(f.other, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  refuses_shape(&f, foreign, &good, "another world");
  release_fixture(&f);
}

static void bad_materials_are_refused(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_shape_def good = ball_shape(1.0f);
  tn_shape_id shape = add_shape(f.world, f.dynamic, &good);
  const float bad[4] = {-0.1f, NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 4; ++i) {
    tn_material m[8];
    for (int k = 0; k < 8; ++k) {
      m[k] = tn_default_material();
    }
    m[0].static_friction = bad[i];
    m[1].dynamic_friction = bad[i];
    m[2].restitution = bad[i];
    m[3].rolling_friction = bad[i];
    m[4].spinning_friction = bad[i];
    m[5].compliance = bad[i];
    m[6].surface_velocity.z = not_finite[i % 3];
    m[7].restitution = 1.01f;
    static const char *const parts[8] = {"friction", "friction",   "restitution", "friction",
                                         "friction", "compliance", "velocity",    "restitution"};
    for (int k = 0; k < 8; ++k) {
      tn_shape_def def = good;
      def.material = m[k];
      refuses_shape(&f, f.dynamic, &def, parts[k]);
      assert_false(tn_shape_set_material(f.world, shape, m[k]));
      assert_message(parts[k]);
    }
  }
  tn_material m = tn_default_material();
  m.dynamic_friction = 1.1f * m.static_friction;
  assert_false(tn_shape_set_material(f.world, shape, m));
  assert_message("static");
  m = tn_default_material();
  m.combine_friction = (tn_combine)4;
  assert_false(tn_shape_set_material(f.world, shape, m));
  assert_message("combine");
  release_fixture(&f);
}

static void bad_geometry_ids_are_refused(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_HULL);
  refuses_shape(&f, f.dynamic, &def, "geometry");
  def.geometry = f.mesh;
  refuses_shape(&f, f.dynamic, &def, "kind");
  def.geometry = f.dead_hull;
  refuses_shape(&f, f.dynamic, &def, "destroyed");
  def.geometry = f.foreign_hull;
  refuses_shape(&f, f.dynamic, &def, "another world");
  static const tn_shape_kind still[3] = {TN_SHAPE_PLANE, TN_SHAPE_MESH, TN_SHAPE_HEIGHT_FIELD};
  for (int i = 0; i < 3; ++i) {
    def = shape_def_of(&f, still[i]);
    refuses_shape(&f, f.dynamic, &def, "dynamic");
  }
  release_fixture(&f);
}

// A body with such a shape cannot become dynamic either.
static void surfaces_stay_on_bodies_that_do_not_move(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_shape_def def = shape_def_of(&f, TN_SHAPE_MESH);
  add_shape(f.world, f.fixed, &def);
  assert_false(tn_body_set_type(f.world, f.fixed, TN_BODY_DYNAMIC));
  assert_int_equal(test_messages.count, 1);
  test_forget_messages();
  assert_true(tn_body_set_type(f.world, f.fixed, TN_BODY_KINEMATIC));
  release_fixture(&f);
}

static void no_geometry(fixture *f, tn_geometry_id id)
{
  assert_true(TN_IS_NULL(id));
  assert_int_equal(test_messages.count, 1);
  test_forget_messages();
  assert_true(test_is_finite(f->world));
}

static void degenerate_hulls_are_refused(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_vec3 same[6], line[6], flat[6], sick[6];
  for (int i = 0; i < 6; ++i) {
    same[i] = tn_v3(1.0f, 2.0f, 3.0f);
    line[i] = tn_v3((float)i, 2.0f * (float)i, 0.0f);
    flat[i] = tn_v3(tn_cos((float)i), 0.5f, tn_sin((float)i));
    sick[i] = corners[i];
  }
  no_geometry(&f, tn_hull_create(f.world, same, 6, 0));
  no_geometry(&f, tn_hull_create(f.world, line, 6, 0));
  no_geometry(&f, tn_hull_create(f.world, flat, 6, 0));
  no_geometry(&f, tn_hull_create(f.world, corners, 3, 0));
  no_geometry(&f, tn_hull_create(f.world, NULL, 8, 0));
  no_geometry(&f, tn_hull_create(f.world, corners, 8, 3));
  no_geometry(&f, tn_hull_create(f.world, corners, 8, 256));
  no_geometry(&f, tn_hull_create(f.world, corners, 8, -1));
  for (int i = 0; i < 3; ++i) {
    sick[4].y = not_finite[i];
    no_geometry(&f, tn_hull_create(f.world, sick, 6, 0));
  }
  release_fixture(&f);
}

static void degenerate_surfaces_are_refused(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  const int outside[3] = {0, 1, 8};
  const int negative[3] = {0, 1, -1};
  const int thin[3] = {0, 1, 1};
  tn_vec3 sick[3] = {corners[0], corners[1], {0.0f, NAN, 0.0f}};
  const int triangle[3] = {0, 1, 2};
  no_geometry(&f, tn_mesh_create(f.world, corners, 8, outside, 1));
  no_geometry(&f, tn_mesh_create(f.world, corners, 8, negative, 1));
  no_geometry(&f, tn_mesh_create(f.world, corners, 8, thin, 1)); // no triangle is left
  no_geometry(&f, tn_mesh_create(f.world, sick, 3, triangle, 1));
  no_geometry(&f, tn_mesh_create(f.world, corners, 8, square, 0));
  no_geometry(&f, tn_mesh_create(f.world, NULL, 8, square, 2));
  const float high[4] = {0.0f, INFINITY, 0.0f, 0.0f};
  no_geometry(&f, tn_height_field_create(f.world, high, 2, 2, 1.0f, 1.0f));
  no_geometry(&f, tn_height_field_create(f.world, heights, 1, 4, 1.0f, 1.0f));
  no_geometry(&f, tn_height_field_create(f.world, heights, 2, 2, 0.0f, 1.0f));
  no_geometry(&f, tn_height_field_create(f.world, heights, 2, 2, 1.0f, NAN));
  no_geometry(&f, tn_height_field_create(f.world, NULL, 2, 2, 1.0f, 1.0f));
  tn_wire_point wire[2] = {bend[0], bend[0]};
  no_geometry(&f, tn_wire_create(f.world, bend, 1, false));
  no_geometry(&f, tn_wire_create(f.world, NULL, 3, false));
  wire[1].position.x = NAN;
  no_geometry(&f, tn_wire_create(f.world, wire, 2, false));
  wire[1] = bend[1];
  wire[1].tangent.y = INFINITY;
  no_geometry(&f, tn_wire_create(f.world, wire, 2, false));
  release_fixture(&f);
}

static void geometry_in_use_is_kept(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_shape_def def = shape_def_of(&f, TN_SHAPE_HULL);
  tn_shape_id shapes[2] = {add_shape(f.world, f.dynamic, &def), add_shape(f.world, f.fixed, &def)};
  for (int i = 0; i < 2; ++i) {
    assert_false(tn_geometry_destroy(f.world, f.hull));
    assert_message("use");
    assert_true(tn_shape_destroy(f.world, shapes[i]));
  }
  assert_true(tn_geometry_destroy(f.world, f.hull));
  assert_false(tn_geometry_destroy(f.world, f.hull));
  assert_message("destroyed");
  release_fixture(&f);
}

static void stale_shape_ids_are_refused(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_shape_def def = ball_shape(1.0f);
  tn_shape_id shape = add_shape(f.world, f.dynamic, &def);
  assert_true(tn_shape_destroy(f.world, shape));
  assert_false(tn_shape_is_valid(f.world, shape));
  tn_pos lower, upper;
  assert_false(tn_shape_destroy(f.world, shape));
  assert_message("destroyed");
  assert_int_equal(tn_shape_get_def(f.world, shape).cookie, 0);
  assert_message("destroyed");
  assert_false(tn_shape_box(f.world, shape, &lower, &upper));
  assert_message("destroyed");
  assert_false(tn_shape_set_filter(f.world, shape, def.filter));
  assert_message("destroyed");
  assert_true(TN_IS_NULL(tn_shape_body(f.world, shape)));
  assert_message("destroyed");
  shape = add_shape(f.world, f.dynamic, &def);
  assert_true(tn_body_destroy(f.world, f.dynamic));
  assert_false(tn_shape_is_valid(f.world, shape)); // destroyed with its body
  assert_int_equal(tn_world_counters(f.world).shapes, 0);
  release_fixture(&f);
}

// ---------------------------------------------------------------------------------------------
// Places and boxes

static void shapes_are_listed_in_order(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_shape_id made[5], listed[5];
  for (int i = 0; i < 5; ++i) {
    tn_shape_def def = ball_shape(0.1f * (float)(i + 1));
    made[i] = add_shape(f.world, f.dynamic, &def);
  }
  assert_int_equal(tn_body_shapes(f.world, f.dynamic, listed, 2), 5); // up to its capacity
  assert_int_equal(tn_body_shapes(f.world, f.dynamic, listed, 5), 5);
  for (int i = 0; i < 5; ++i) {
    assert_true(TN_SAME_ID(made[i], listed[i]));
    assert_close(tn_shape_get_def(f.world, listed[i]).radius, 0.1 * (i + 1), 1e-6);
  }
  assert_true(tn_shape_destroy(f.world, made[2]));
  assert_int_equal(tn_body_shapes(f.world, f.dynamic, listed, 5), 4);
  assert_true(TN_SAME_ID(listed[2], made[3]));
  release_fixture(&f);
}

static void assert_box(const tn_world *world, tn_shape_id shape, tn_pos lo, tn_pos hi)
{
  tn_pos lower, upper;
  assert_true(tn_shape_box(world, shape, &lower, &upper));
  assert_close(lower.x, lo.x, 1e-5);
  assert_close(lower.y, lo.y, 1e-5);
  assert_close(lower.z, lo.z, 1e-5);
  assert_close(upper.x, hi.x, 1e-5);
  assert_close(upper.y, hi.y, 1e-5);
  assert_close(upper.z, hi.z, 1e-5);
}

// On a body at (10, 20, 30) that is turned a quarter about z: y becomes -x.
static void boxes_enclose_shapes(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_body_def body = test_body_def();
  body.position = tn_p3(10.0, 20.0, 30.0);
  body.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), 0.5f * TN_PI);
  tn_body_id id = add_body(f.world, &body);
  tn_shape_def ball = ball_shape(0.5f);
  ball.position = tn_v3(0.0f, 2.0f, 0.0f);
  assert_box(f.world, add_shape(f.world, id, &ball), tn_p3(7.5, 19.5, 29.5),
             tn_p3(8.5, 20.5, 30.5));
  tn_shape_def capsule = axial_shape(TN_SHAPE_CAPSULE, 0.5f, 1.0f);
  assert_box(f.world, add_shape(f.world, id, &capsule), tn_p3(8.5, 19.5, 29.5),
             tn_p3(11.5, 20.5, 30.5));
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(1.0f, 2.0f, 3.0f);
  assert_box(f.world, add_shape(f.world, id, &box), tn_p3(8.0, 19.0, 27.0),
             tn_p3(12.0, 21.0, 33.0));
  tn_shape_def cylinder = axial_shape(TN_SHAPE_CYLINDER, 0.5f, 1.0f);
  assert_box(f.world, add_shape(f.world, id, &cylinder), tn_p3(9.0, 19.5, 29.5),
             tn_p3(11.0, 20.5, 30.5));
  tn_shape_def hull = shape_def_of(&f, TN_SHAPE_HULL);
  assert_box(f.world, add_shape(f.world, id, &hull), tn_p3(9.0, 19.0, 29.0),
             tn_p3(11.0, 21.0, 31.0));
  release_fixture(&f);
}

// ---------------------------------------------------------------------------------------------
// Mass

static void assert_same_mass(tn_mass actual, tn_mass expected)
{
  double m = (double)expected.mass;
  double i = (double)(expected.inertia.xx + expected.inertia.yy + expected.inertia.zz);
  assert_close(actual.mass, m, 1e-5 * m);
  assert_close(actual.center.x, expected.center.x, 1e-5);
  assert_close(actual.center.y, expected.center.y, 1e-5);
  assert_close(actual.center.z, expected.center.z, 1e-5);
  assert_close(actual.inertia.xx, expected.inertia.xx, 1e-5 * i);
  assert_close(actual.inertia.yy, expected.inertia.yy, 1e-5 * i);
  assert_close(actual.inertia.zz, expected.inertia.zz, 1e-5 * i);
  assert_close(actual.inertia.xy, expected.inertia.xy, 1e-5 * i);
  assert_close(actual.inertia.xz, expected.inertia.xz, 1e-5 * i);
  assert_close(actual.inertia.yz, expected.inertia.yz, 1e-5 * i);
}

static tn_mass mass_from(const tn_shape_def *def)
{
  tn_world *world = contact_world(4);
  tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(1.0, 2.0, 3.0));
  add_shape(world, body, def);
  assert_true(tn_body_set_mass_from_shapes(world, body));
  tn_mass mass = tn_body_mass(world, body);
  tn_world_destroy(world);
  return mass;
}

static void solids_have_the_mass_of_their_shape(void **unused)
{
  (void)unused;
  tn_shape_def def = ball_shape(0.3f);
  def.density = 500.0f;
  assert_same_mass(mass_from(&def), tn_mass_sphere(0.3f, 500.0f));
  def = axial_shape(TN_SHAPE_CAPSULE, 0.3f, 0.5f);
  assert_same_mass(mass_from(&def), tn_mass_capsule(0.3f, 0.5f, 1000.0f));
  def = axial_shape(TN_SHAPE_CYLINDER, 0.3f, 0.5f);
  assert_same_mass(mass_from(&def), tn_mass_cylinder(0.3f, 0.5f, 1000.0f));
  def = tn_default_shape_def(TN_SHAPE_BOX);
  def.half_extents = tn_v3(0.1f, 0.2f, 0.3f);
  assert_same_mass(mass_from(&def), tn_mass_box(def.half_extents, 1000.0f));
  def.position = tn_v3(1.0f, -0.5f, 0.2f);
  def.rotation = tn_quat_axis_angle(tn_v3(1.0f, 1.0f, 0.0f), 0.7f);
  assert_same_mass(mass_from(&def),
                   tn_mass_at(tn_mass_box(def.half_extents, 1000.0f), def.position, def.rotation));
}

// r = 0.3, h = 1.2 m: volume pi r^2 h / 3, centre a quarter up from the base, moments
// 3/10 m r^2 and 3/20 m r^2 + 3/80 m h^2.
static void cones_have_the_mass_of_a_cone(void **unused)
{
  (void)unused;
  tn_shape_def def = axial_shape(TN_SHAPE_CONE, 0.3f, 0.6f);
  double m = 1000.0 * 3.14159265358979 * 0.09 * 1.2 / 3.0;
  double axial = 0.3 * m * 0.09;
  double across = 0.15 * m * 0.09 + 3.0 / 80.0 * m * 1.44;
  tn_mass expected = {.mass = (float)m, .center = {0.0f, -0.3f, 0.0f}};
  expected.inertia.yy = (float)axial;
  expected.inertia.xx = expected.inertia.zz = (float)across;
  assert_same_mass(mass_from(&def), expected);
}

static void compounds_have_the_mass_of_their_parts(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_shape_def ball = ball_shape(0.5f);
  ball.position = tn_v3(1.0f, 0.0f, 0.0f);
  tn_shape_def hull = shape_def_of(&f, TN_SHAPE_HULL);
  hull.position = tn_v3(0.0f, 2.0f, 0.0f);
  hull.density = 300.0f;
  tn_shape_def sensor = ball_shape(5.0f);
  sensor.sensor = true;
  add_shape(f.world, f.dynamic, &ball);
  add_shape(f.world, f.dynamic, &hull);
  add_shape(f.world, f.dynamic, &sensor); // adds no mass
  assert_true(tn_body_set_mass_from_shapes(f.world, f.dynamic));
  tn_mass parts[2] = {
      tn_mass_at(tn_mass_sphere(0.5f, 1000.0f), ball.position, tn_quat_identity()),
      tn_mass_at(tn_mass_box(tn_v3(1.0f, 1.0f, 1.0f), 300.0f), hull.position, tn_quat_identity())};
  assert_same_mass(tn_body_mass(f.world, f.dynamic), tn_mass_compound(parts, 2));
  // The body's origin does not move; its centre of mass differs from it.
  assert_close(tn_body_position(f.world, f.dynamic).y, 0.0, 1e-12);
  release_fixture(&f);
}

static void bodies_without_solids_keep_their_mass(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  tn_mass before = tn_body_mass(f.world, f.dynamic);
  assert_false(tn_body_set_mass_from_shapes(f.world, f.dynamic));
  assert_message("shape");
  tn_shape_def sensor = ball_shape(1.0f);
  sensor.sensor = true;
  add_shape(f.world, f.dynamic, &sensor);
  assert_false(tn_body_set_mass_from_shapes(f.world, f.dynamic));
  assert_message("shape");
  assert_same_mass(tn_body_mass(f.world, f.dynamic), before);
  release_fixture(&f);
}

// ---------------------------------------------------------------------------------------------
// Snapshots with everything in them

static void snapshots_keep_shapes(void **unused)
{
  (void)unused;
  fixture f = make_fixture();
  for (int kind = 0; kind < TN_SHAPE_KIND_COUNT; ++kind) {
    tn_shape_def def = shape_def_of(&f, (tn_shape_kind)kind);
    add_shape(f.world, f.fixed, &def);
  }
  tn_shape_def hull = shape_def_of(&f, TN_SHAPE_HULL);
  hull.user_data = &f;
  tn_shape_id shape = add_shape(f.world, f.dynamic, &hull);
  test_run(f.world, DT, 30);
  size_t size = tn_world_save(f.world, NULL, 0);
  void *bytes = malloc(size);
  assert_int_equal(tn_world_save(f.world, bytes, size), size);
  test_run(f.world, DT, 90);
  uint64_t later = tn_world_hash(f.world);
  assert_true(tn_shape_destroy(f.world, shape));
  assert_true(tn_geometry_destroy(f.world, f.hull) || test_messages.count == 1);
  test_forget_messages();
  assert_true(tn_world_restore(f.world, bytes, size));
  assert_true(tn_shape_is_valid(f.world, shape));
  test_run(f.world, DT, 90);
  assert_true(tn_world_hash(f.world) == later);
  free(bytes);
  release_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_can_be_made),
      cmocka_unit_test(bad_sizes_are_refused),
      cmocka_unit_test(bad_places_and_origins_are_refused),
      cmocka_unit_test(bad_materials_are_refused),
      cmocka_unit_test(bad_geometry_ids_are_refused),
      cmocka_unit_test(surfaces_stay_on_bodies_that_do_not_move),
      cmocka_unit_test(degenerate_hulls_are_refused),
      cmocka_unit_test(degenerate_surfaces_are_refused),
      cmocka_unit_test(geometry_in_use_is_kept),
      cmocka_unit_test(stale_shape_ids_are_refused),
      cmocka_unit_test(shapes_are_listed_in_order),
      cmocka_unit_test(boxes_enclose_shapes),
      cmocka_unit_test(solids_have_the_mass_of_their_shape),
      cmocka_unit_test(cones_have_the_mass_of_a_cone),
      cmocka_unit_test(compounds_have_the_mass_of_their_parts),
      cmocka_unit_test(bodies_without_solids_keep_their_mass),
      cmocka_unit_test(snapshots_keep_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
