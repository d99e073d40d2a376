// Contacts of single bodies: rest poses, forces, filters, overlaps. 20 substeps, gravity 10, bodies
// of 1 kg.
#include "contact_support.h"

// ---------------------------------------------------------------------------------------------
// Rest

typedef struct resting {
  const char *name;
  tn_shape_kind kind;
  float radius, half_length;
  tn_vec3 half_extents;
  float tilt; // initial rotation about x, rad
  double height;
} resting;

static const resting solids[] = {
    {"ball", TN_SHAPE_SPHERE, 0.3f, 0.0f, {0.0f, 0.0f, 0.0f}, 0.0f, 0.3},
    {"capsule, lying", TN_SHAPE_CAPSULE, 0.2f, 0.4f, {0.0f, 0.0f, 0.0f}, 1.5708f, 0.2},
    {"box", TN_SHAPE_BOX, 0.0f, 0.0f, {0.3f, 0.2f, 0.4f}, 0.0f, 0.2},
    {"cylinder, upright", TN_SHAPE_CYLINDER, 0.3f, 0.2f, {0.0f, 0.0f, 0.0f}, 0.0f, 0.2},
    {"cylinder, lying", TN_SHAPE_CYLINDER, 0.3f, 0.4f, {0.0f, 0.0f, 0.0f}, 1.5708f, 0.3},
    {"cone", TN_SHAPE_CONE, 0.3f, 0.2f, {0.0f, 0.0f, 0.0f}, 0.0f, 0.2},
    {"hull", TN_SHAPE_HULL, 0.0f, 0.0f, {0.3f, 0.2f, 0.4f}, 0.0f, 0.2},
};
enum { SOLIDS = sizeof solids / sizeof solids[0] };

static tn_shape_def solid_shape(tn_world *world, const resting *solid)
{
  tn_shape_def def = tn_default_shape_def(solid->kind);
  def.radius = solid->radius;
  def.half_length = solid->half_length;
  def.half_extents = solid->half_extents;
  if (solid->kind == TN_SHAPE_HULL) {
    tn_vec3 corner[8];
    for (int i = 0; i < 8; ++i) {
      corner[i] = tn_v3(i & 1 ? 0.3f : -0.3f, i & 2 ? 0.2f : -0.2f, i & 4 ? 0.4f : -0.4f);
    }
    def.geometry = tn_hull_create(world, corner, 8, 0);
    assert_false(TN_IS_NULL(def.geometry));
  }
  return def;
}

static tn_body_id drop_solid(tn_world *world, const resting *solid, double above)
{
  tn_shape_def shape = solid_shape(world, solid);
  shape.material.rolling_friction = 0.01f;
  tn_body_id body = add_solid(world, tn_p3(0.1, 5.0, -0.2), &shape);
  tn_transform pose = tn_body_transform(world, body);
  pose.p.y = solid->height + above;
  pose.q = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), solid->tilt);
  assert_true(tn_body_set_transform(world, body, pose));
  return body;
}

static void check_rest(tn_world *world, tn_body_id body, const resting *solid, const char *on)
{
  test_run(world, DT, 180);
  double height = tn_body_position(world, body).y;
  tn_vec3 force = contact_force(world, body);
  tn_vec3 turn = tn_body_angular_velocity(world, body);
  double speed = (double)(tn_length(tn_body_velocity(world, body)) + tn_length(turn));
  if (!(fabs(height - solid->height) < 1e-3 && fabs((double)force.y - 10.0) < 0.05 &&
        speed < 5e-3)) {
    fail_msg("%s on %s: height %.6f, not %.6f; force %.4f N, not 10; speed %.2e", solid->name, on,
             height, solid->height, (double)force.y, speed);
  }
}

typedef void ground_fn(tn_world *world);

static void lay_plane(tn_world *world)
{
  add_ground(world);
}

static void lay_box(tn_world *world)
{
  tn_shape_def box = cube_shape(5.0f);
  box.position = tn_v3(0.0f, -5.0f, 0.0f);
  add_shape(world, test_no_body, &box);
}

// Two by two squares of two triangles each; their common corner lies below the falling body.
static void lay_mesh(tn_world *world)
{
  tn_vec3 vertices[9];
  int triangles[8][3];
  for (int i = 0; i < 9; ++i) {
    int row = i / 3;
    vertices[i] = tn_v3(4.0f * (float)(i % 3 - 1), 0.0f, 4.0f * (float)(row - 1));
  }
  for (int i = 0; i < 4; ++i) {
    int corner = i / 2 * 3 + i % 2;
    int first[3] = {corner, corner + 3, corner + 4};
    int second[3] = {corner, corner + 4, corner + 1};
    memcpy(triangles[2 * i], first, sizeof first);
    memcpy(triangles[2 * i + 1], second, sizeof second);
  }
  tn_shape_def mesh = tn_default_shape_def(TN_SHAPE_MESH);
  mesh.geometry = tn_mesh_create(world, vertices, 9, &triangles[0][0], 8);
  add_shape(world, test_no_body, &mesh);
}

static void lay_height_field(tn_world *world)
{
  float heights[25] = {0};
  tn_shape_def field = tn_default_shape_def(TN_SHAPE_HEIGHT_FIELD);
  field.geometry = tn_height_field_create(world, heights, 5, 5, 2.0f, 2.0f);
  add_shape(world, test_no_body, &field);
}

// A thick dynamic plate, so heavy that it hardly moves.
static void lay_heavy_plate(tn_world *world)
{
  tn_body_def def = test_body_def();
  def.position = tn_p3(0.0, -1.0, 0.0);
  def.mass = tn_mass_box(tn_v3(5.0f, 1.0f, 5.0f), 1e4f);
  def.gravity_scale = 0.0f;
  tn_body_id plate = add_body(world, &def);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(5.0f, 1.0f, 5.0f);
  add_shape(world, plate, &box);
}

static const struct {
  const char *name;
  ground_fn *lay;
} grounds[] = {{"a plane", lay_plane},
               {"a box", lay_box},
               {"a mesh", lay_mesh},
               {"a height field", lay_height_field},
               {"a heavy plate", lay_heavy_plate}};
enum { GROUNDS = sizeof grounds / sizeof grounds[0] };

// Tolerances: height 1 mm, force 0.5% of the weight, speed zero.
static void every_solid_rests_on_every_ground(void **unused)
{
  (void)unused;
  for (int g = 0; g < GROUNDS; ++g) {
    for (int i = 0; i < SOLIDS; ++i) {
      tn_world *world = contact_world(20);
      grounds[g].lay(world);
      tn_body_id body = drop_solid(world, &solids[i], 0.05);
      check_rest(world, body, &solids[i], grounds[g].name);
      tn_world_destroy(world);
    }
  }
}

// The plane is attached to the world's origin; the body is far away from it.
static void ground_reaches_far(void **unused)
{
  (void)unused;
  static const double away[3] = {1e3, 1e5, 1e6};
  for (int i = 0; i < 3; ++i) {
    tn_world *world = contact_world(20);
    add_ground(world);
    tn_body_id cube = add_cube(world, tn_p3(away[i], 0.5, -away[i]), 0.5f);
    test_run(world, DT, 300);
    tn_pos p = tn_body_position(world, cube);
    assert_close(p.x, away[i], 1e-4);
    assert_close(p.y, 0.5, 1e-4);
    assert_close(p.z, -away[i], 1e-4);
    assert_close(contact_force(world, cube).y, 10.0, 0.05);
    tn_world_destroy(world);
  }
}

// The two other methods carry bodies as well, less exactly.
static void every_method_carries_a_cube(void **unused)
{
  (void)unused;
  for (int m = 0; m < TEST_METHODS; ++m) {
    tn_world_def def = test_world_def(20, test_methods[m]);
    def.sleeping = false;
    tn_world *world = tn_world_create(&def);
    assert_non_null(world);
    add_ground(world);
    tn_body_id cube = add_cube(world, tn_p3(0.0, 0.55, 0.0), 0.5f);
    tn_body_id ball = add_ball(world, tn_p3(3.0, 0.55, 0.0), 0.5f);
    test_run(world, DT, 180);
    print_message("  %s: cube at %.6f, ball at %.6f m\n", test_method_name(test_methods[m]),
                  tn_body_position(world, cube).y, tn_body_position(world, ball).y);
    assert_close(tn_body_position(world, cube).y, 0.5, 2e-3);
    assert_close(tn_body_position(world, ball).y, 0.5, 2e-3);
    assert_close(tn_body_position(world, cube).x, 0.0, 1e-2);
    assert_close(contact_force(world, cube).y, 10.0, 1.0);
    assert_true(test_is_finite(world));
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Read-outs

// The normal points from A to B and forces act on B, for either order of the two.
static void contacts_point_from_a_to_b(void **unused)
{
  (void)unused;
  for (int order = 0; order < 2; ++order) {
    tn_world *world = contact_world(20);
    tn_body_id ids[2];
    for (int i = 0; i < 2; ++i) {
      bool is_upper = i == order;
      ids[is_upper] = add_cube(world, tn_p3(0.0, is_upper ? 1.5 : 0.5, 0.0), 0.5f);
    }
    add_ground(world);
    test_run(world, DT, 60);
    tn_contact contacts[8];
    assert_int_equal(tn_world_contacts(world, contacts, 8), 2);
    assert_int_equal(tn_world_counters(world).contacts, 2);
    assert_int_equal(tn_world_counters(world).points, 8);
    for (int i = 0; i < 2; ++i) {
      tn_contact *c = &contacts[i];
      double a = TN_IS_NULL(c->body_a) ? -0.5 : tn_body_position(world, c->body_a).y;
      double b = TN_IS_NULL(c->body_b) ? -0.5 : tn_body_position(world, c->body_b).y;
      assert_close(c->normal.y, b > a ? 1.0 : -1.0, 1e-4);
      assert_int_equal(c->count, 4);
      double sum = 0.0;
      for (int k = 0; k < 4; ++k) {
        assert_close(fabs(c->points[k].position.x), 0.5, 1e-2);
        assert_close(c->points[k].gap, 0.0, 1e-4);
        assert_true(c->points[k].normal_force >= 0.0f);
        sum += (double)c->points[k].normal_force;
      }
      bool is_upper = TN_SAME_ID(c->body_a, ids[1]) || TN_SAME_ID(c->body_b, ids[1]);
      assert_close(sum, is_upper ? 10.0 : 20.0, is_upper ? 0.05 : 0.1);
      assert_true(TN_SAME_ID(tn_shape_body(world, c->shape_a), c->body_a));
    }
    assert_int_equal(tn_body_contacts(world, ids[1], NULL, 0), 1);
    assert_int_equal(tn_body_contacts(world, ids[0], contacts, 8), 2);
    tn_world_destroy(world);
  }
}

// Under an eccentric load the moments of the point forces balance about the middle.
static void point_forces_balance_moments(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(20);
  add_ground(world);
  tn_body_id cube = add_cube(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
  for (int i = 0; i < 180; ++i) {
    tn_pos at = tn_body_world_point(world, cube, tn_v3(0.4f, 0.5f, 0.0f));
    assert_true(tn_body_apply_force(world, cube, tn_v3(0.0f, -10.0f, 0.0f), at));
    test_run(world, DT, 1);
  }
  tn_contact contact;
  assert_int_equal(tn_body_contacts(world, cube, &contact, 1), 1);
  double sum = 0.0, moment = 0.0;
  for (int i = 0; i < contact.count; ++i) {
    sum += (double)contact.points[i].normal_force;
    moment += (double)contact.points[i].normal_force * contact.points[i].position.x;
  }
  assert_close(sum, 20.0, 0.1);
  assert_close(moment, 10.0 * 0.4, 0.05);
  tn_world_destroy(world);
}

// The penetration of a soft contact is its force times its compliance.
static void soft_contacts_yield_by_force_times_compliance(void **unused)
{
  (void)unused;
  static const float compliances[3] = {1e-5f, 1e-4f, 1e-3f};
  for (int i = 0; i < 3; ++i) {
    tn_world *world = contact_world(20);
    add_ground(world);
    tn_shape_def shape = ball_shape(0.5f);
    shape.material.compliance = compliances[i];
    tn_body_id ball = add_solid(world, tn_p3(0.0, 0.5, 0.0), &shape);
    tn_body_set_linear_damping(world, ball, 5.0f);
    tn_body_set_angular_damping(world, ball, 5.0f);
    test_run(world, DT, 600);
    double sunk = 0.5 - tn_body_position(world, ball).y;
    double expected = 10.0 * (double)compliances[i];
    assert_close(sunk, expected, 0.02 * expected + 1e-5);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Filters

typedef struct pair_of_cubes {
  tn_world *world;
  tn_shape_id shape[2];
  tn_body_id body[2];
} pair_of_cubes;

// One body above the other; the lower has no gravity.
static pair_of_cubes make_pair(tn_filter lower, tn_filter upper)
{
  pair_of_cubes p = {.world = contact_world(8)};
  for (int i = 0; i < 2; ++i) {
    tn_shape_def shape = cube_shape(0.5f);
    shape.filter = i ? upper : lower;
    tn_body_def def = test_body_def();
    def.type = i ? TN_BODY_DYNAMIC : TN_BODY_STATIC;
    def.position = tn_p3(0.0, 1.2 * i, 0.0);
    p.body[i] = add_body(p.world, &def);
    p.shape[i] = add_shape(p.world, p.body[i], &shape);
  }
  return p;
}

static bool collides(pair_of_cubes *p)
{
  test_run(p->world, DT, 60);
  double height = tn_body_position(p->world, p->body[1]).y;
  bool held = height > 0.9;
  assert_true(held || height < -1.0); // held or fallen, nothing in between
  return held;
}

static bool filters_collide(tn_filter lower, tn_filter upper)
{
  pair_of_cubes p = make_pair(lower, upper);
  bool held = collides(&p);
  tn_world_destroy(p.world);
  return held;
}

static void filters_decide_whether_shapes_collide(void **unused)
{
  (void)unused;
  const uint64_t all = UINT64_MAX, top = (uint64_t)1 << 63;
  static const struct {
    tn_filter a, b;
    bool collide;
  } cases[] = {
      {{1, UINT64_MAX, 0}, {1, UINT64_MAX, 0}, true},
      {{1, 2, 0}, {2, 1, 0}, true},
      {{1, 2, 0}, {1, UINT64_MAX, 0}, false},
      {{2, UINT64_MAX, 0}, {1, 1, 0}, false},
      {{4, 6, 0}, {2, 4, 0}, true},
      {{1, 2, 5}, {1, 4, 5}, true},
      {{1, 1, -5}, {1, 1, -5}, false},
      {{1, 1, -5}, {1, 1, -4}, true},
      {{1, 1, 5}, {1, 1, 4}, true},
      {{1, 2, 5}, {1, 2, 4}, false},
      {{1, 1, 0}, {0, UINT64_MAX, 0}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (filters_collide(cases[i].a, cases[i].b) != cases[i].collide ||
        filters_collide(cases[i].b, cases[i].a) != cases[i].collide) {
      fail_msg("case %d", (int)i);
    }
  }
  assert_true(filters_collide((tn_filter){top, all, 0}, (tn_filter){1, top, 0}));
}

static void filters_can_change(void **unused)
{
  (void)unused;
  tn_filter open = {1, UINT64_MAX, 0}, closed = {1, 0, 0};
  pair_of_cubes p = make_pair(open, open);
  assert_true(collides(&p));
  assert_true(tn_shape_set_filter(p.world, p.shape[1], closed));
  assert_false(collides(&p)); // falls through
  tn_world_destroy(p.world);
  p = make_pair(open, closed);
  assert_true(tn_shape_set_filter(p.world, p.shape[1], open));
  assert_true(collides(&p));
  tn_world_destroy(p.world);
}

static bool refuse_all(tn_shape_id a, tn_shape_id b, void *context)
{
  tn_shape_id *seen = context;
  seen[0] = a;
  seen[1] = b;
  return false;
}

static void pair_filter_callback_decides(void **unused)
{
  (void)unused;
  tn_filter open = {1, UINT64_MAX, 0};
  pair_of_cubes p = make_pair(open, open);
  tn_shape_id seen[2] = {{0}};
  assert_true(tn_world_set_pair_filter(p.world, refuse_all, seen));
  assert_false(collides(&p));
  bool straight = TN_SAME_ID(seen[0], p.shape[0]) && TN_SAME_ID(seen[1], p.shape[1]);
  bool crossed = TN_SAME_ID(seen[0], p.shape[1]) && TN_SAME_ID(seen[1], p.shape[0]);
  assert_true(straight || crossed);
  tn_world_destroy(p.world);
  p = make_pair(open, open);
  assert_true(tn_world_set_pair_filter(p.world, refuse_all, seen));
  assert_true(tn_world_set_pair_filter(p.world, NULL, NULL));
  assert_true(collides(&p));
  tn_world_destroy(p.world);
}

// Joined bodies do not collide unless the joint says so.
static void joints_keep_their_bodies_from_colliding(void **unused)
{
  (void)unused;
  for (int collide = 0; collide < 2; ++collide) {
    tn_world *world = contact_world(8);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_body_id a = add_cube(world, tn_p3(0.0, 0.0, 0.0), 0.5f);
    tn_body_id b = add_cube(world, tn_p3(0.8, 0.0, 0.0), 0.5f);
    tn_joint_def slider = test_joint_def(world, TN_JOINT_PRISMATIC, a, b, tn_p3(0.4, 0.0, 0.0),
                                         tn_v3(1.0f, 0.0f, 0.0f));
    slider.collide = collide == 1;
    assert_false(TN_IS_NULL(tn_joint_create(world, &slider)));
    test_run(world, DT, 120);
    double apart = tn_body_position(world, b).x - tn_body_position(world, a).x;
    assert_close(apart, collide ? 1.1 : 0.8, collide ? 0.101 : 0.001); // pushed out, at any speed
    tn_world_destroy(world);
  }
}

// A body joined to the world still collides with the ground.
static void joints_to_the_world_do_not_disable_ground_contacts(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(8);
  add_ground(world);
  tn_body_id cube = add_cube(world, tn_p3(0.0, 1.0, 0.0), 0.5f);
  test_joint(world, TN_JOINT_PRISMATIC, test_no_body, cube, tn_p3(0.0, 1.0, 0.0),
             tn_v3(0.0f, 1.0f, 0.0f));
  test_run(world, DT, 120);
  assert_close(tn_body_position(world, cube).y, 0.5, 1e-3);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Compounds

// A table: a board on four legs, one body.
static tn_body_id add_table(tn_world *world, double above)
{
  tn_body_def def = test_body_def();
  def.position = tn_p3(0.0, above, 0.0);
  tn_body_id table = add_body(world, &def);
  tn_shape_def board = tn_default_shape_def(TN_SHAPE_BOX);
  board.half_extents = tn_v3(1.0f, 0.05f, 0.6f);
  board.position = tn_v3(0.0f, 0.75f, 0.0f);
  add_shape(world, table, &board);
  for (int i = 0; i < 4; ++i) {
    tn_shape_def leg = axial_shape(TN_SHAPE_CYLINDER, 0.05f, 0.35f);
    leg.position = tn_v3(i & 1 ? 0.9f : -0.9f, 0.35f, i & 2 ? 0.5f : -0.5f);
    add_shape(world, table, &leg);
  }
  assert_true(tn_body_set_mass_from_shapes(world, table));
  return table;
}

static void table_stands_on_its_legs(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(20);
  add_ground(world);
  tn_body_id table = add_table(world, 0.02);
  tn_body_id cup = add_ball(world, tn_p3(0.9, 1.0, 0.5), 0.1f);
  tn_body_id mat = add_cube(world, tn_p3(0.0, 1.0, 0.0), 0.1f);
  test_run(world, DT, 180);
  assert_close(tn_body_position(world, table).y, 0.0, 1e-3);
  assert_close(tn_body_position(world, mat).y, 0.9, 1e-3);
  assert_close(tn_body_position(world, cup).y, 0.9, 1e-3);
  tn_vec3 up = tn_rotate(tn_body_rotation(world, table), tn_v3(0.0f, 1.0f, 0.0f));
  assert_close(up.y, 1.0, 1e-5);
  double weight = 10.0 * (double)tn_body_mass(world, table).mass;
  assert_close(contact_force(world, table).y, weight,
               0.005 * weight); // net force: ground less weight and load
  tn_world_destroy(world);
}

// Shapes of one body never collide with each other.
static void shapes_of_one_body_do_not_collide(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(8);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_body_id body = add_cube(world, tn_p3(0.0, 0.0, 0.0), 0.5f);
  tn_shape_def ball = ball_shape(0.5f);
  ball.position = tn_v3(0.3f, 0.0f, 0.0f);
  add_shape(world, body, &ball);
  test_run(world, DT, 60);
  assert_int_equal(tn_world_contacts(world, NULL, 0), 0);
  assert_close(tn_length(tn_body_velocity(world, body)), 0.0, 0.0);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Created deep inside each other

// Twenty bodies separate at 0.05 m/s per layer, which takes long under the sanitizers.
#if defined(__SANITIZE_ADDRESS__)
enum { MANY = 4, HEAP_STEPS = 1200 };
#else
enum { MANY = 20, HEAP_STEPS = 2400 };
#endif

static void check_heap(int count, bool same_place, tn_shape_kind kind)
{
  tn_world *world = contact_world(20);
  add_ground(world);
  tn_shape_def shape = tn_default_shape_def(kind);
  shape.half_extents = tn_v3(0.25f, 0.25f, 0.25f);
  shape.radius = shape.half_length = 0.25f;
  shape.material.rolling_friction = 0.02f;
  uint32_t random = 11;
  for (int i = 0; i < count; ++i) {
    tn_vec3 off = same_place ? tn_v3(0.0f, 0.0f, 0.0f) : test_vector(&random, 0.2f);
    tn_body_id body = add_solid(world, tn_offset(tn_p3(0.0, 0.3, 0.0), off), &shape);
    assert_true(tn_body_set_velocity(world, body, tn_v3(0.0f, 0.0f, 0.0f)));
  }
  double fastest = 0.0;
  tn_body_id ids[64];
  assert_int_equal(tn_world_bodies(world, ids, 64), count);
  for (int step = 0; step < HEAP_STEPS; ++step) {
    test_run(world, DT, 1);
    for (int i = 0; i < count; ++i) {
      fastest = fmax(fastest, (double)tn_length(tn_body_velocity(world, ids[i])));
    }
  }
  assert_true(test_is_finite(world));
  double deepest = 0.0;
  tn_contact contacts[512];
  int found = tn_world_contacts(world, contacts, 512);
  for (int i = 0; i < found && i < 512; ++i) {
    for (int k = 0; k < contacts[i].count; ++k) {
      deepest = fmax(deepest, -(double)contacts[i].points[k].gap);
    }
  }
  print_message("  %d of kind %d in %s place: top speed %.2f m/s, %.1e m deep after %d s\n", count,
                (int)kind, same_place ? "one" : "nearly one", fastest, deepest, HEAP_STEPS / 60);
  assert_below(fastest, 10.0); // ten bodies in a row at 1 m/s each
  assert_below(deepest, 5e-3);
  tn_world_destroy(world);
}

static void bodies_created_inside_each_other_come_apart(void **unused)
{
  (void)unused;
  static const tn_shape_kind kinds[5] = {TN_SHAPE_SPHERE, TN_SHAPE_BOX, TN_SHAPE_CAPSULE,
                                         TN_SHAPE_CYLINDER, TN_SHAPE_CONE};
  for (int i = 0; i < 5; ++i) {
    check_heap(2, true, kinds[i]);
    check_heap(MANY, false, kinds[i]);
  }
  check_heap(MANY / 2, true, TN_SHAPE_BOX);
}

// A body placed far below the ground rises at a limited speed.
static void buried_bodies_rise_gently(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(20);
  add_ground(world);
  tn_body_id cube = add_cube(world, tn_p3(0.0, -2.0, 0.0), 0.5f);
  double fastest = 0.0;
  for (int i = 0; i < 600; ++i) {
    test_run(world, DT, 1);
    fastest = fmax(fastest, (double)tn_length(tn_body_velocity(world, cube)));
  }
  assert_below(fastest, 3.0);
  assert_close(tn_body_position(world, cube).y, 0.5, 1e-3);
  tn_world_destroy(world);
}

// A body that has rested near another does not pass through it when pushed.
static void resting_neighbours_stop_a_pushed_body(void **unused)
{
  (void)unused;
  for (int fixed = 0; fixed < 2; ++fixed) {
    tn_world *world = contact_world(8);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_body_id cube = add_cube(world, tn_p3(0.0, 0.0, 0.0), 0.1f);
    tn_body_id wall = add_cube(world, tn_p3(0.65, 0.0, 0.0), 0.5f);
    assert_true(!fixed || tn_body_set_type(world, wall, TN_BODY_STATIC));
    test_run(world, DT, 10);
    assert_true(tn_body_set_velocity(world, cube, tn_v3(fixed ? 200.0f : 6.0f, 0.0f, 0.0f)));
    test_run(world, DT, 1);
    double gap = tn_body_position(world, wall).x - tn_body_position(world, cube).x - 0.6;
    assert_below(-gap, 1e-3);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Profile

static double ticks;

static double tick(void)
{
  return ticks += 1.0;
}

// The clock advances one tick per call, so every part of a step takes one tick.
static void profile_lists_the_parts_of_a_step(void **unused)
{
  (void)unused;
  tn_world_def def = test_world_def(8, TN_METHOD_TENON);
  for (int timed = 0; timed < 2; ++timed) {
    def.clock = timed ? tick : NULL;
    tn_world *world = tn_world_create(&def);
    add_ground(world);
    add_cube(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
    test_run(world, DT, 2);
    tn_profile profile = tn_world_profile(world);
    double parts[5] = {profile.pairs, profile.manifolds, profile.prepare, profile.solve,
                       profile.finish};
    for (int i = 0; i < 5; ++i) {
      assert_close(parts[i], timed ? 1.0 : 0.0, 0.0);
    }
    tn_world_destroy(world);
  }
  assert_close(tn_world_profile(NULL).solve, 0.0, 0.0);
}

// ---------------------------------------------------------------------------------------------
// Internal edges, and bodies that push others

// A row of coplanar triangles is a flat floor: a block and a ball slide over the internal edges
// without hindrance.
static void internal_edges_do_not_catch_sliding_bodies(void **unused)
{
  (void)unused;
  enum { LENGTH = 40 };
  tn_vec3 vertices[2 * (LENGTH + 1)];
  int triangles[6 * LENGTH];
  for (int i = 0; i <= LENGTH; ++i) {
    vertices[2 * i] = tn_v3(0.5f * (float)i, 0.0f, -2.0f);
    vertices[2 * i + 1] = tn_v3(0.5f * (float)i, 0.0f, 2.0f);
  }
  for (int i = 0; i < LENGTH; ++i) {
    const int pair[6] = {2 * i, 2 * i + 1, 2 * i + 3, 2 * i, 2 * i + 3, 2 * i + 2};
    memcpy(&triangles[6 * i], pair, sizeof pair);
  }
  for (int kind = 0; kind < 2; ++kind) {
    tn_world *world = contact_world(20);
    tn_shape_def mesh = tn_default_shape_def(TN_SHAPE_MESH);
    mesh.geometry = tn_mesh_create(world, vertices, 2 * (LENGTH + 1), triangles, 2 * LENGTH);
    mesh.material.static_friction = mesh.material.dynamic_friction = 0.0f;
    mesh.material.combine_friction = TN_COMBINE_MINIMUM;
    add_shape(world, test_no_body, &mesh);
    tn_body_id body = kind ? add_ball(world, tn_p3(1.0, 0.2, 0.1), 0.2f)
                           : add_cube(world, tn_p3(1.0, 0.2, 0.1), 0.2f);
    tn_body_set_velocity(world, body, tn_v3(5.0f, 0.0f, 0.3f));
    for (int i = 0; i < 180; ++i) {
      test_run(world, DT, 1);
      assert_close(tn_body_position(world, body).y, 0.2, 1e-3);
    }
    assert_close(tn_body_velocity(world, body).x, 5.0, 0.01);
    assert_close(tn_body_velocity(world, body).z, 0.3, 0.01);
    tn_world_destroy(world);
  }
}

static void kinematic_pusher_moves_a_cube(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(20);
  add_ground(world);
  tn_body_id pusher = test_body(world, TN_BODY_KINEMATIC, tn_p3(-1.5, 0.5, 0.0));
  tn_shape_def plate = cube_shape(0.5f);
  add_shape(world, pusher, &plate);
  tn_body_id cube = add_cube(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
  tn_body_set_velocity(world, pusher, tn_v3(1.0f, 0.0f, 0.0f));
  test_run(world, DT, 180);
  assert_close(tn_body_position(world, pusher).x, 1.5, 1e-4);
  assert_close(tn_body_position(world, cube).x, 2.5, 5e-3);
  assert_close(tn_body_velocity(world, cube).x, 1.0, 0.02);
  tn_world_destroy(world);
}

// A fast shape is paired with everything along its displacement, and no longer once it is slow.
static void bodies_that_slow_down_lose_distant_pairs(void **state)
{
  (void)state;
  tn_world_def def = test_world_def(4, TN_METHOD_TENON);
  def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
  def.sleeping = false;
  tn_world *world = tn_world_create(&def);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.radius = 0.1f;
  tn_body_id fast = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  tn_body_id aside = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.8, 0.0, 0.21));
  tn_shape_create(world, fast, &ball);
  tn_shape_create(world, aside, &ball);
  tn_body_set_velocity(world, fast, tn_v3(30.0f, 0.0f, 0.0f));
  test_run(world, 1.0f / 60.0f, 1);
  assert_int_equal(tn_world_counters(world).pairs, 1);
  tn_body_set_velocity(world, fast, tn_v3(0.0f, 0.0f, 0.0f));
  test_run(world, 1.0f / 60.0f, 1);
  assert_int_equal(tn_world_counters(world).pairs, 0);
  tn_world_destroy(world);
}

// A plane on a kinematic body has an unbounded box, which does not rotate. Balls near it find each
// other in any order of the tree.
static void kinematic_planes_hide_no_pairs(void **state)
{
  (void)state;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    uint32_t random = seed;
    tn_world_def def = test_world_def(1, TN_METHOD_TENON);
    def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
    tn_world *world = tn_world_create(&def);
    tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
    plane.filter.mask = 0; // in the tree, but collides with nothing
    tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
    int planes = 1 + test_index(&random, 3), balls = 2 + test_index(&random, 6);
    for (int i = 0; i < planes + balls; ++i) {
      bool moves = i % 2 == 0 ? i / 2 >= planes : i / 2 < balls;
      tn_vec3 off = test_vector(&random, 0.1f);
      tn_body_id body = test_body(world, moves ? TN_BODY_DYNAMIC : TN_BODY_KINEMATIC,
                                  tn_offset(tn_p3(0.0, 0.0, 0.0), off));
      tn_shape_create(world, body, moves ? &ball : &plane);
    }
    for (int i = 0; i < 3; ++i) {
      tn_world_step(world, 1.0f / 60.0f);
      tn_counters c = tn_world_counters(world);
      int dynamic = c.awake;
      assert_int_equal(c.contacts, dynamic * (dynamic - 1) / 2);
    }
    tn_world_destroy(world);
  }
}

// Closest points of two axes, by alternating projection until nothing changes.
static double axes_apart(const tn_world *world, tn_body_id a, tn_body_id b, double ha, double hb)
{
  tn_transform at[2] = {tn_body_transform(world, a), tn_body_transform(world, b)};
  tn_vec3 u = tn_rotate(at[0].q, tn_v3(0.0f, 1.0f, 0.0f));
  tn_vec3 v = tn_rotate(at[1].q, tn_v3(0.0f, 1.0f, 0.0f));
  double d[3] = {at[1].p.x - at[0].p.x, at[1].p.y - at[0].p.y, at[1].p.z - at[0].p.z};
  double e[3] = {(double)u.x, (double)u.y, (double)u.z};
  double f[3] = {(double)v.x, (double)v.y, (double)v.z};
  double s = 0.0, t = 0.0, square = 0.0;
  for (int k = 0; k < 5000; ++k) {
    double along = 0.0, back = 0.0;
    for (int i = 0; i < 3; ++i) {
      along += e[i] * (d[i] + t * f[i]);
    }
    s = fmin(fmax(along, -ha), ha);
    for (int i = 0; i < 3; ++i) {
      back += f[i] * (s * e[i] - d[i]);
    }
    t = fmin(fmax(back, -hb), hb);
  }
  for (int i = 0; i < 3; ++i) {
    double w = d[i] + t * f[i] - s * e[i];
    square += w * w;
  }
  return sqrt(square);
}

static tn_body_id float_capsule(tn_world *world, tn_pos at, float half_length, uint32_t *random)
{
  tn_shape_def def = tn_default_shape_def(half_length > 0.0f ? TN_SHAPE_CAPSULE : TN_SHAPE_SPHERE);
  def.radius = 0.1f;
  def.half_length = half_length;
  tn_body_id body = test_body(world, TN_BODY_DYNAMIC, at);
  tn_vec3 axis = test_vector(random, 1.0f);
  tn_transform pose = {at,
                       tn_quat_axis_angle(tn_scale(1.0f / tn_length(axis), axis), 3.0f * axis.x)};
  assert_true(tn_body_set_transform(world, body, pose));
  assert_false(TN_IS_NULL(tn_shape_create(world, body, &def)));
  return body;
}

// Spheres and capsules at all angles: gap and normal of each contact match the geometry, and no
// near pair is missing. The number of pairs is odd, so that the last block of lanes is not full.
static void check_round_shapes(int lanes)
{
  enum { PAIRS = 203 };
  uint32_t random = 7;
  tn_world_def def = tn_default_world_def();
  def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
  def.lanes = lanes;
  tn_world *world = tn_world_create(&def);
  tn_body_id bodies[PAIRS][2];
  float half[2] = {0.0f, 0.3f};
  for (int i = 0; i < PAIRS; ++i) {
    int column = i % 16, row = i / 16;
    tn_pos at = tn_p3(3.0 * column, 3.0 * row, 0.0);
    tn_pos beside = tn_offset(at, test_vector(&random, 0.2f));
    bodies[i][0] = float_capsule(world, at, half[i & 1], &random);
    bodies[i][1] = float_capsule(world, beside, half[i >> 1 & 1], &random);
  }
  assert_int_equal(tn_world_step(world, 1e-6f), 0);
  int touching = 0;
  for (int i = 0; i < PAIRS; ++i) {
    double apart = axes_apart(world, bodies[i][0], bodies[i][1], (double)half[i & 1],
                              (double)half[i >> 1 & 1]);
    tn_contact contact;
    int count = tn_body_contacts(world, bodies[i][0], &contact, 1);
    if (fabs(apart - 0.2) > 0.01 || count > 0) {
      assert_int_equal(count, apart < 0.21);
    }
    if (count > 0) {
      float gap = contact.points[0].gap;
      gap = contact.count > 1 ? fminf(gap, contact.points[1].gap) : gap;
      assert_close((double)gap, apart - 0.2, 2e-5);
      assert_close((double)tn_length(contact.normal), 1.0, 1e-6);
      touching += 1;
    }
  }
  assert_true(touching > PAIRS / 2);
  tn_world_destroy(world);
}

static void contacts_of_round_shapes_match_the_geometry(void **unused)
{
  (void)unused;
  check_round_shapes(1);
  check_round_shapes(0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contacts_of_round_shapes_match_the_geometry),
      cmocka_unit_test(every_solid_rests_on_every_ground),
      cmocka_unit_test(ground_reaches_far),
      cmocka_unit_test(every_method_carries_a_cube),
      cmocka_unit_test(contacts_point_from_a_to_b),
      cmocka_unit_test(point_forces_balance_moments),
      cmocka_unit_test(soft_contacts_yield_by_force_times_compliance),
      cmocka_unit_test(filters_decide_whether_shapes_collide),
      cmocka_unit_test(filters_can_change),
      cmocka_unit_test(pair_filter_callback_decides),
      cmocka_unit_test(joints_keep_their_bodies_from_colliding),
      cmocka_unit_test(joints_to_the_world_do_not_disable_ground_contacts),
      cmocka_unit_test(table_stands_on_its_legs),
      cmocka_unit_test(shapes_of_one_body_do_not_collide),
      cmocka_unit_test(bodies_created_inside_each_other_come_apart),
      cmocka_unit_test(buried_bodies_rise_gently),
      cmocka_unit_test(resting_neighbours_stop_a_pushed_body),
      cmocka_unit_test(profile_lists_the_parts_of_a_step),
      cmocka_unit_test(internal_edges_do_not_catch_sliding_bodies),
      cmocka_unit_test(kinematic_pusher_moves_a_cube),
      cmocka_unit_test(bodies_that_slow_down_lose_distant_pairs),
      cmocka_unit_test(kinematic_planes_hide_no_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
