// Contacts of soft and rigid bodies: two-way forces, friction, loads, sleep, queries, snapshots.
#include "soft_support.h"
#include "softs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float top_speed(const tn_world *world, tn_soft_id soft)
{
  tn_vec3 v[4000];
  int count = tn_soft_velocities(world, soft, v, 4000);
  float most = 0.0f;
  for (int i = 0; i < count && i < 4000; ++i) {
    most = fmaxf(most, tn_length(v[i]));
  }
  return most;
}

static float deepest(const tn_world *world, tn_soft_id soft)
{
  tn_soft_contact contacts[4000];
  int count = tn_soft_contacts(world, soft, contacts, 4000);
  float most = 0.0f;
  for (int i = 0; i < count && i < 4000; ++i) {
    most = fminf(most, contacts[i].gap);
  }
  return -most;
}

static void set_friction(tn_material *m, float mu)
{
  m->static_friction = m->dynamic_friction = mu;
}

static void add_ground(tn_world *world, float mu, tn_quat rotation)
{
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  plane.rotation = rotation;
  set_friction(&plane.material, mu);
  plane.material.combine_friction = TN_COMBINE_MINIMUM;
  tn_shape_create(world, test_no_body, &plane);
}

static tn_soft_def particle_def(const tn_vec3 *at)
{
  tn_soft_def def = tn_default_soft_def();
  def.vertices = at;
  def.vertex_count = 1;
  def.radius = 0.1f;
  set_friction(&def.material, 1.0f);
  return def;
}

// ---------------------------------------------------------------------------------------------
// One particle

static void particle_slides_down_a_slope(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  add_ground(world, 0.25f, tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), -0.3f));
  tn_vec3 at = {0.0f, 0.1f / cosf(0.3f), 0.0f};
  tn_soft_def def = particle_def(&at);
  tn_soft_id soft = tn_soft_create(world, &def);
  test_run(world, dt, 120);
  double way = tn_soft_position(world, soft, 0).x / cos(0.3);
  double expected = 0.5 * 4.0 * 10.0 * (sin(0.3) - 0.25 * cos(0.3));
  assert_close(way, expected, 0.01 * expected);
  tn_world_destroy(world);
}

static void particle_holds_below_the_angle_of_friction(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  add_ground(world, 0.35f, tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), -0.3f)); // tan .3 = .309
  tn_vec3 at = {0.0f, 0.1f / cosf(0.3f), 0.0f};
  tn_soft_def def = particle_def(&at);
  tn_soft_id soft = tn_soft_create(world, &def);
  test_run(world, dt, 300);
  assert_close(tn_soft_position(world, soft, 0).x, 0.0, 1e-4);
  tn_soft_contact contact;
  assert_int_equal(tn_soft_contacts(world, soft, &contact, 1), 1);
  // The plane carries the weight.
  assert_close(contact.force.y, 10.0, 0.01);
  assert_close(contact.force.x, 0.0, 0.01);
  tn_world_destroy(world);
}

static void particle_rebounds(void **unused)
{
  (void)unused;
  static const float restitution[2] = {1.0f, 0.5f};
  for (int k = 0; k < 2; ++k) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    add_ground(world, 0.0f, tn_quat_identity());
    tn_vec3 at = {0.0f, 2.1f, 0.0f};
    tn_soft_def def = particle_def(&at);
    def.material.restitution = restitution[k];
    def.material.combine_restitution = TN_COMBINE_MAXIMUM;
    tn_soft_id soft = tn_soft_create(world, &def);
    double top = 0.0;
    for (int i = 0; i < 75; ++i) { // the first rebound only
      test_run(world, dt, 1);
      tn_vec3 v;
      tn_soft_velocities(world, soft, &v, 1);
      double y = tn_soft_position(world, soft, 0).y - 0.1;
      top = i > 38 ? fmax(top, y) : 0.0;
    }
    double e = (double)restitution[k];
    assert_close(top, 2.0 * e * e, 0.02 * 2.0);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Two-way contacts

// A soft ball hits a free box: momentum is conserved.
static void impact_conserves_momentum(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_ball(&def, 4, 0.3f, true));
  def.velocity = tn_v3(4.0f, 0.3f, 0.0f);
  def.mass = 2.0f;
  tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  tn_body_id body = test_box(world, tn_p3(0.8, 0.1, 0.1), 1.0f, tn_v3(0.2f, 0.3f, 0.3f));
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(0.2f, 0.3f, 0.3f);
  tn_shape_create(world, body, &box);
  tn_momentum a = tn_world_momentum(world, origin);
  double energy = tn_world_energy(world).total;
  test_run(world, dt, 120);
  tn_momentum b = tn_world_momentum(world, origin);
  assert_true(tn_body_velocity(world, body).x > 2.0f); // it was hit
  assert_below(apart3(a.linear, b.linear), 1e-4 * length3(a.linear));
  assert_below(apart3(a.angular, b.angular), 2e-4 * length3(a.linear));
  assert_below(tn_world_energy(world).total, 1.001 * energy);
  tn_world_destroy(world);
}

// Height of a soft cube of 0.2 m and 0.8 kg under a plate of 80 kg, after 10 s at 20 substeps.
static double height_under_plate(int tets, int iterations)
{
  static const int cells[3] = {4, 4, 4};
  tn_world_def world_def = test_world_def(20, TN_METHOD_TENON);
  world_def.iterations = iterations;
  tn_world *world = tn_world_create(&world_def);
  add_ground(world, 0.6f, tn_quat_identity());
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_box(&def, cells, tn_v3(0.1f, 0.1f, 0.1f), tets));
  def.position = tn_p3(0.0, 0.105, 0.0);
  def.mass = 0.8f;
  def.youngs_modulus = 1e6f;
  def.damping = 5.0f;
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  tn_body_id plate = test_box(world, tn_p3(0.0, 0.232, 0.0), 80.0f, tn_v3(0.15f, 0.02f, 0.15f));
  tn_body_set_linear_damping(world, plate, 3.0f);
  tn_body_set_angular_damping(world, plate, 3.0f);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(0.15f, 0.02f, 0.15f);
  tn_shape_create(world, plate, &box);
  test_run(world, dt, 600);
  double height = tn_body_position(world, plate).y - 0.02 - 0.01;
  assert_close(tn_body_position(world, plate).x, 0.0, 0.005); // it does not slide
  assert_close(tn_body_position(world, plate).z, 0.0, 0.005);
  assert_true(tn_rotate(tn_body_rotation(world, plate), tn_v3(0.0f, 1.0f, 0.0f)).y > 0.9999f);
  assert_below(tn_length(tn_body_velocity(world, plate)), 0.01f);
  assert_below(top_speed(world, soft), 0.01f);
  assert_below(deepest(world, soft), 1e-3f);
  tn_world_destroy(world);
  return height;
}

// Elasticity says 2 % of its height. One pass a substep leaves it 5 %, eight 2.1 % (hexahedra) and
// 2.0 % (tetrahedra).
static const double CUBE_COMPRESSION = 800.0 / (1e6 * 0.04);

static void soft_cube_carries_a_hundred_times_its_weight(void **unused)
{
  (void)unused;
  for (int tets = 0; tets < 2; ++tets) {
    double theory = 0.2 * (1.0 - CUBE_COMPRESSION);
    assert_close(height_under_plate(tets, 1), theory, 0.05 * theory);
  }
}

static void eight_passes_compress_a_cube_as_elasticity_says(void **unused)
{
  (void)unused;
  for (int tets = 0; tets < 2; ++tets) {
    double compression = 1.0 - height_under_plate(tets, 8) / 0.2;
    assert_close(compression, CUBE_COMPRESSION, 0.1 * CUBE_COMPRESSION);
  }
}

// ---------------------------------------------------------------------------------------------
// Cloth

static void cloth_stays_on_a_ball(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.radius = 0.5f;
  set_friction(&ball.material, 0.3f);
  ball.material.combine_friction = TN_COMBINE_MINIMUM;
  tn_shape_create(world, test_no_body, &ball);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, 21, 21, 1.4f, 1.4f));
  def.position = tn_p3(0.02, 0.55, 0.03);
  def.radius = 0.02f;
  def.mass = 0.5f;
  def.linear_damping = 1.0f;
  def.bending_stiffness = 1e-3f;
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  test_run(world, dt, 600);
  assert_below(top_speed(world, soft), 0.01f);
  assert_below(deepest(world, soft), 1e-3f);
  tn_pos top = tn_soft_position(world, soft, 220);
  assert_close(top.y, 0.52, 0.01);
  tn_world_destroy(world);
}

static tn_shape_def shape_of(tn_world *world, tn_shape_kind kind)
{
  static const tn_vec3 corners[5] = {{0.5f, 0.0f, 0.5f},
                                     {-0.5f, 0.0f, 0.5f},
                                     {-0.5f, 0.0f, -0.5f},
                                     {0.5f, 0.0f, -0.5f},
                                     {0.0f, 0.4f, 0.0f}};
  static const int roof[12] = {0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0};
  static const float heights[9] = {0.0f, 0.1f, 0.0f, 0.2f, 0.3f, 0.1f, 0.0f, 0.1f, 0.0f};
  static const tn_wire_point way[2] = {{{-1.0f, 0.0f, 0.0f}, {2.0f, 0.5f, 0.0f}},
                                       {{1.0f, 0.0f, 0.0f}, {2.0f, -0.5f, 0.0f}}};
  tn_shape_def def = tn_default_shape_def(kind);
  def.radius = 0.2f;
  def.half_length = 0.3f;
  def.half_extents = tn_v3(0.3f, 0.1f, 0.2f);
  if (kind == TN_SHAPE_HULL) {
    def.geometry = tn_hull_create(world, corners, 5, 0);
  } else if (kind == TN_SHAPE_MESH) {
    def.geometry = tn_mesh_create(world, corners, 5, roof, 4);
  } else if (kind == TN_SHAPE_HEIGHT_FIELD) {
    def.geometry = tn_height_field_create(world, heights, 3, 3, 0.6f, 0.6f);
  } else if (kind == TN_SHAPE_WIRE) {
    def.geometry = tn_wire_create(world, way, 2, false);
  }
  return def;
}

// No penetration, and the cloth is at rest.
static void cloth_lies_on_every_shape(void **unused)
{
  (void)unused;
  for (int kind = 0; kind < TN_SHAPE_KIND_COUNT; ++kind) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_shape_def shape = shape_of(world, (tn_shape_kind)kind);
    assert_false(TN_IS_NULL(tn_shape_create(world, test_no_body, &shape)));
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_cloth(&def, 9, 9, 0.8f, 0.8f));
    def.position = tn_p3(0.01, 0.6, 0.02);
    def.radius = 0.02f;
    def.mass = 0.2f;
    def.linear_damping = 1.0f;
    set_friction(&def.material, 1.0f);
    tn_soft_id soft = tn_soft_create(world, &def);
    tn_soft_mesh_free(&def);
    test_run(world, dt, 120);
    double lowest = 1.0;
    for (int i = 0; i < 81; ++i) {
      tn_pos x = tn_soft_position(world, soft, i);
      tn_hit hit = tn_world_closest_point(world, x, 1.0f, tn_default_query_filter());
      assert_true(!hit.hit || hit.distance > 0.019f);
      lowest = fmin(lowest, x.y);
    }
    assert_true(lowest > -1.5); // caught by the shape
    assert_true(tn_soft_contacts(world, soft, NULL, 0) > 0);
    tn_world_destroy(world);
  }
}

// A spike 5 cm high, thinner than a cell of the cloth around it, holds the cloth up.
static void spike_does_not_pass_between_particles(void **unused)
{
  (void)unused;
  static const tn_vec3 corners[5] = {{0.02f, -0.01f, 0.02f},
                                     {-0.02f, -0.01f, 0.02f},
                                     {-0.02f, -0.01f, -0.02f},
                                     {0.02f, -0.01f, -0.02f},
                                     {0.0f, 0.05f, 0.0f}};
  static const int sides[12] = {0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0};
  float heights[81] = {0.0f};
  for (int i = 0; i < 81; ++i) {
    heights[i] = i == 40 ? 0.05f : -0.01f;
  }
  for (int kind = 0; kind < 3; ++kind) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    add_ground(world, 0.5f, tn_quat_identity());
    tn_shape_def spike = tn_default_shape_def(kind == 0   ? TN_SHAPE_HULL
                                              : kind == 1 ? TN_SHAPE_MESH
                                                          : TN_SHAPE_HEIGHT_FIELD);
    spike.geometry = kind == 0   ? tn_hull_create(world, corners, 5, 0)
                     : kind == 1 ? tn_mesh_create(world, corners, 5, sides, 4)
                                 : tn_height_field_create(world, heights, 9, 9, 0.02f, 0.02f);
    tn_shape_create(world, test_no_body, &spike);
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_cloth(&def, 9, 9, 0.8f, 0.8f));
    def.position = tn_p3(0.07, 0.1, 0.03); // the spike is inside a triangle
    def.radius = 0.01f;
    def.mass = 0.2f;
    def.linear_damping = 1.0f;
    tn_soft_id soft = tn_soft_create(world, &def);
    tn_soft_mesh_free(&def);
    test_run(world, dt, 120);
    tn_hit hit = tn_world_ray(world, tn_p3(0.0, 1.0, 0.0), tn_v3(0.0f, -2.0f, 0.0f),
                              tn_default_query_filter());
    assert_true(TN_SAME_ID(hit.soft, soft));
    assert_true(hit.point.y > 0.05);
    assert_below(tn_soft_position(world, soft, 0).y, 0.02); // flat elsewhere
    tn_world_destroy(world);
  }
}

// As in Deul et al., Fig. 3: ten tori of half a kilogram, in two layers.
static void cloth_carries_tori(void **unused)
{
  (void)unused;
  enum { N = 31, TORI = 10 };
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, N, N, 2.4f, 2.4f));
  def.mass = 1.5f;
  def.radius = 0.02f;
  def.linear_damping = 0.5f;
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  const int corners[4] = {0, N - 1, N * (N - 1), N * N - 1};
  for (int i = 0; i < 4; ++i) {
    tn_soft_set_pinned(world, soft, corners[i], true);
  }
  tn_wire_point ring[8];
  for (int i = 0; i < 8; ++i) {
    float a = 0.25f * TN_PI * (float)i, step = 0.25f * TN_PI;
    ring[i].position = tn_v3(0.2f * tn_cos(a), 0.0f, 0.2f * tn_sin(a));
    ring[i].tangent = tn_v3(-0.2f * step * tn_sin(a), 0.0f, 0.2f * step * tn_cos(a));
  }
  tn_geometry_id wire = tn_wire_create(world, ring, 8, true);
  tn_body_id tori[TORI];
  for (int i = 0; i < TORI; ++i) {
    tn_body_def body = test_body_def();
    float angle = 0.4f * TN_PI * (float)i;
    int layer = i / 5;
    body.position =
        tn_p3(0.5 * (double)tn_cos(angle), 0.1 + 0.15 * layer, 0.5 * (double)tn_sin(angle));
    body.mass = tn_mass_scaled_to(tn_mass_cylinder(0.25f, 0.05f, 1.0f), 0.5f);
    body.linear_damping = body.angular_damping = 0.5f;
    tori[i] = tn_body_create(world, &body);
    tn_shape_def shape = tn_default_shape_def(TN_SHAPE_WIRE);
    shape.geometry = wire;
    shape.radius = 0.05f;
    tn_shape_create(world, tori[i], &shape);
  }
  test_run(world, dt, 1200);
  for (int i = 0; i < TORI; ++i) {
    assert_true(tn_body_position(world, tori[i]).y > -1.5); // still on the cloth
    assert_below(tn_length(tn_body_velocity(world, tori[i])), 0.1f);
  }
  assert_below(deepest(world, soft), 1e-3f);
  tn_world_destroy(world);
}

// Pairs of particles closer than 80 % of the thickness, or of their rest distance.
static int count_close(const tn_world *world, tn_soft_id soft, const tn_soft_def *def)
{
  int close = 0, count = def->vertex_count;
  tn_pos *x = malloc((size_t)count * sizeof *x);
  tn_soft_positions(world, soft, x, count);
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < i; ++k) {
      float now = tn_length(tn_between_points(x[i], x[k]));
      if (now < 1.6f * def->radius) {
        close += now < 0.8f * tn_length(tn_sub(def->vertices[i], def->vertices[k]));
      }
    }
  }
  free(x);
  return close;
}

static void cloth_lies_on_itself(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  add_ground(world, 0.5f, tn_quat_identity());
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, 15, 15, 0.7f, 0.7f));
  def.rotation = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.2f), 1.4f); // standing on its edge
  def.position = tn_p3(0.0, 0.5, 0.0);
  def.radius = 0.025f;
  def.mass = 0.3f;
  def.self_collision = true;
  def.linear_damping = 1.0f;
  tn_soft_id soft = tn_soft_create(world, &def);
  test_run(world, dt, 360);
  assert_int_equal(count_close(world, soft, &def), 0);
  assert_below(top_speed(world, soft), 0.1f);
  tn_soft_mesh_free(&def);
  tn_world_destroy(world);
}

// Folded in three layers, rotated and dropped: it collapses into a heap.
static void folded_cloth_lies_in_a_heap(void **unused)
{
  (void)unused;
  enum { N = 41 };
  tn_world *world = test_world(20, TN_METHOD_TENON);
  add_ground(world, 0.5f, tn_quat_identity());
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, N, N, 1.0f, 1.0f));
  def.radius = 0.0125f;
  def.mass = 0.3f;
  def.self_collision = true;
  def.linear_damping = 1.0f;
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_pos x[N * N];
  tn_quat turn = tn_quat_axis_angle(tn_v3(0.6f, 0.0f, 0.8f), 0.5f);
  for (int i = 0; i < N * N; ++i) {
    int along = i % N, layer = along / 14; // 14 or 13 particles per layer
    int step = layer == 1 ? 27 - along : along - 14 * layer;
    tn_vec3 at = tn_v3(0.025f * (float)step, 0.03f * (float)layer, def.vertices[i].z);
    x[i] = tn_offset(tn_p3(0.0, 0.6, 0.0), tn_rotate(turn, at));
  }
  tn_soft_set_positions(world, soft, x, N * N);
  test_run(world, dt, 480);
  int close = count_close(world, soft, &def);
  print_message("  %d pairs too close, fastest %.3f m/s\n", close, (double)top_speed(world, soft));
  assert_int_equal(close, 0);
  assert_below(top_speed(world, soft), 0.1f);
  tn_soft_mesh_free(&def);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Balloon and tyre

static void balloon_rebounds_a_ball(void **unused)
{
  (void)unused;
  tn_world *world = test_world(40, TN_METHOD_TENON);
  add_ground(world, 0.5f, tn_quat_identity());
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_sphere(&def, 3, 0.5f));
  def.position = tn_p3(0.0, 0.51, 0.0);
  def.mass = 0.5f;
  def.radius = 0.01f;
  def.pressure = 1.05f;
  def.edge_compliance = 1e-4f;
  tn_soft_id soft = tn_soft_create(world, &def);
  double volume = 1.05 * tn_soft_volume(world, soft);
  tn_body_def body = test_body_def();
  body.position = tn_p3(-1.0, 0.5, 0.0);
  body.velocity = tn_v3(5.0f, 0.0f, 0.0f);
  body.mass = tn_mass_scaled_to(tn_mass_sphere(0.15f, 1.0f), 5.0f);
  tn_body_id ball = tn_body_create(world, &body);
  tn_shape_def shape = tn_default_shape_def(TN_SHAPE_SPHERE);
  shape.radius = 0.15f;
  tn_shape_create(world, ball, &shape);
  for (int i = 0; i < 60; ++i) {
    test_run(world, dt, 1);
    assert_close(tn_soft_volume(world, soft), volume, 0.02 * volume);
    assert_below(top_speed(world, soft), 10.0f);
  }
  double middle = 0.0;
  for (int i = 0; i < def.vertex_count; ++i) {
    middle += tn_soft_position(world, soft, i).x / def.vertex_count;
  }
  assert_true(tn_body_position(world, ball).x < middle - 0.3); // it did not get in
  tn_soft_mesh_free(&def);
  tn_world_destroy(world);
}

// On a rim of 1 kg, at 10 m/s.
static tn_body_id make_tyre(tn_world *world, tn_soft_def *def, const int cells[3], tn_vec3 velocity)
{
  assert_true(tn_soft_mesh_tube(def, cells, 0.2f, 0.3f, 0.1f));
  def->position = tn_p3(0.0, 0.305, 0.0);
  def->mass = 2.4f;
  def->youngs_modulus = 1e6f;
  tn_soft_id soft = tn_soft_create(world, def);
  tn_body_def body = test_body_def();
  tn_quat across = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), 0.5f * TN_PI);
  tn_mass rim = tn_mass_scaled_to(tn_mass_cylinder(0.2f, 0.1f, 1.0f), 1.0f);
  body.position = def->position;
  body.mass = tn_mass_at(rim, tn_v3(0.0f, 0.0f, 0.0f), across);
  body.velocity = velocity;
  body.angular_velocity = tn_v3(0.0f, 0.0f, -10.0f / 0.3f);
  tn_body_id wheel = tn_body_create(world, &body);
  for (int i = 0; i < def->vertex_count; ++i) {
    tn_vec3 x = def->vertices[i];
    tn_soft_set_velocity(world, soft, i, tn_add(body.velocity, tn_cross(body.angular_velocity, x)));
    if (x.x * x.x + x.y * x.y < 0.2001f * 0.2001f) {
      tn_attachment_def hold = tn_default_attachment_def();
      hold.soft = soft;
      hold.particle = i;
      hold.body = wheel;
      hold.point = tn_p3((double)x.x, (double)x.y, (double)x.z);
      assert_false(TN_IS_NULL(tn_attachment_create(world, &hold)));
    }
  }
  return wheel;
}

// 1,100 hexahedra, under 98 N for 5 s.
static void tyre_rolls(void **unused)
{
  (void)unused;
  static const int cells[3] = {44, 5, 5}, substeps[3] = {10, 20, 40};
  for (int k = 0; k < 3; ++k) {
    tn_world *world = test_world(substeps[k], TN_METHOD_TENON);
    add_ground(world, 0.8f, tn_quat_identity());
    tn_soft_def def = tn_default_soft_def();
    tn_body_id wheel = make_tyre(world, &def, cells, tn_v3(10.0f, 0.0f, 0.0f));
    for (int i = 0; i < 300; ++i) {
      tn_body_apply_force_to_center(world, wheel, tn_v3(0.0f, -98.0f, 0.0f));
      test_run(world, dt, 1);
    }
    tn_vec3 axle = tn_rotate(tn_body_rotation(world, wheel), tn_v3(0.0f, 0.0f, 1.0f));
    assert_true(axle.z > 0.999f); // upright
    float speed = tn_body_velocity(world, wheel).x;
    assert_true(speed > 6.5f && speed < 10.01f);
    // It rolls with a radius slightly below its own.
    float turn = -tn_body_angular_velocity(world, wheel).z;
    assert_close(speed, 0.3f * turn, 0.05f * speed);
    tn_soft_mesh_free(&def);
    tn_world_destroy(world);
  }
}

// Without contacts it keeps spinning; after it has widened its energy is constant.
static void tyre_spins_freely(void **unused)
{
  (void)unused;
  static const int cells[3] = {44, 5, 5}, substeps[3] = {10, 20, 40};
  for (int i = 0; i < 3; ++i) {
    tn_world *world = test_world(substeps[i], TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_soft_def def = tn_default_soft_def();
    make_tyre(world, &def, cells, tn_v3(0.0f, 0.0f, 0.0f));
    tn_pos middle = def.position;
    tn_momentum before = tn_world_momentum(world, middle);
    test_run(world, dt, 60);
    double energy = tn_world_energy(world).total;
    test_run(world, dt, substeps[i] == 20 ? 240 : 60);
    tn_momentum after = tn_world_momentum(world, middle);
    assert_below(apart3(before.angular, after.angular), 1e-5 * length3(before.angular));
    assert_below(tn_world_energy(world).total, 1.001 * energy);
    tn_soft_mesh_free(&def);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Overlap, sleep, queries, snapshots

static void overlap_separates_slowly(void **unused)
{
  (void)unused;
  static const int cells[3] = {3, 3, 3};
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(1.0f, 0.5f, 1.0f);
  tn_shape_create(world, test_no_body, &box);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_box(&def, cells, tn_v3(0.2f, 0.2f, 0.2f), true));
  def.position = tn_p3(0.0, 0.5, 0.0); // half of it is below the ground
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  for (int i = 0; i < 240; ++i) {
    test_run(world, dt, 1);
    assert_below(top_speed(world, soft), 5.0f);
  }
  for (int i = 0; i < 64; ++i) {
    assert_true(tn_soft_position(world, soft, i).y > 0.5);
  }
  tn_world_destroy(world);
}

static void sleeps_and_wakes_with_what_it_carries(void **unused)
{
  (void)unused;
  static const int cells[3] = {2, 2, 2};
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_world_set_sleeping(world, true);
  add_ground(world, 0.5f, tn_quat_identity());
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_box(&def, cells, tn_v3(0.2f, 0.2f, 0.2f), true));
  def.position = tn_p3(0.0, 0.21, 0.0);
  def.damping = 10.0f;
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  tn_body_id body = test_box(world, tn_p3(0.0, 0.53, 0.0), 0.2f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(0.1f, 0.1f, 0.1f);
  tn_shape_create(world, body, &box);
  test_run(world, dt, 400);
  assert_false(tn_soft_is_awake(world, soft));
  assert_false(tn_body_is_awake(world, body));
  uint64_t hash = tn_world_hash(world);
  test_run(world, dt, 10);
  assert_true(tn_world_hash(world) == hash); // nothing has moved
  assert_true(
      tn_body_apply_impulse(world, body, tn_v3(0.5f, 0.0f, 0.0f), tn_body_position(world, body)));
  assert_true(tn_soft_is_awake(world, soft));
  test_run(world, dt, 600);
  assert_false(tn_soft_is_awake(world, soft));
  // A body falls on it.
  body = test_box(world, tn_p3(0.0, 0.8, 0.0), 0.2f, tn_v3(0.1f, 0.1f, 0.1f));
  tn_shape_create(world, body, &box);
  test_run(world, dt, 30);
  assert_true(tn_soft_is_awake(world, soft));
  tn_world_destroy(world);
}

static void ray_hits_cloth(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, 5, 5, 1.0f, 1.0f));
  def.position = tn_p3(1e5, 2.0, 0.0);
  tn_soft_id soft = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  tn_hit hit = tn_world_ray(world, tn_p3(1e5 + 0.1, 3.0, 0.2), tn_v3(0.0f, -4.0f, 0.0f),
                            tn_default_query_filter());
  assert_true(hit.hit && TN_SAME_ID(hit.soft, soft) && TN_IS_NULL(hit.shape));
  assert_close(hit.fraction, 0.25, 1e-6);
  assert_close(hit.point.y, 2.0, 1e-6);
  assert_close(hit.normal.y, 1.0, 1e-6);
  assert_true(hit.triangle >= 0 && hit.triangle < 32);
  hit = tn_world_ray(world, tn_p3(1e5 + 0.6, 3.0, 0.2), tn_v3(0.0f, -4.0f, 0.0f),
                     tn_default_query_filter());
  assert_false(hit.hit);
  tn_world_destroy(world);
}

// A ball cast at a sheet stops at its radius; a box finds what it touches or contains.
static void casts_and_overlaps_find_soft_bodies(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, 5, 5, 1.0f, 1.0f));
  def.position = tn_p3(0.0, 2.0, 0.0);
  tn_soft_id cloth = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  static const int cells[3] = {3, 3, 3};
  assert_true(tn_soft_mesh_box(&def, cells, tn_v3(0.5f, 0.5f, 0.5f), true));
  def.position = tn_p3(5.0, 0.0, 0.0);
  def.filter.category = 2;
  tn_soft_id cube = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  assert_true(tn_soft_mesh_rope(&def, 4, 1.0f));
  def.position = tn_p3(-5.0, 0.0, 0.0);
  def.filter.category = 1;
  tn_soft_id rope = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  tn_query_filter all = tn_default_query_filter();
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.radius = 0.2f;
  tn_transform at = {tn_p3(0.05, 4.0, 0.1), tn_quat_identity()};
  tn_hit hit = tn_world_cast(world, &ball, at, tn_v3(0.0f, -4.0f, 0.0f), all);
  assert_true(hit.hit && TN_SAME_ID(hit.soft, cloth) && TN_IS_NULL(hit.shape));
  assert_close(hit.fraction, 1.8 / 4.0, 1e-4);
  assert_close(hit.point.y, 2.0, 1e-3);
  assert_close(hit.normal.y, 1.0, 1e-3);
  at.p.x = 0.75;
  assert_false(tn_world_cast(world, &ball, at, tn_v3(0.0f, -4.0f, 0.0f), all).hit);

  static const struct {
    double x, y;
    int found;
  } places[] = {{0.0, 2.1, 1}, {0.0, 2.3, 0},  {5.0, 0.0, 2}, {5.6, 0.0, 2},
                {5.8, 0.0, 0}, {-4.9, 0.1, 3}, {-4.9, 0.3, 0}};
  const tn_soft_id ids[3] = {cloth, cube, rope};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
    at.p = tn_p3(places[i].x, places[i].y, 0.0);
    tn_soft_id found = {0};
    int count = tn_world_overlap_softs(world, &ball, at, all, &found, 1);
    assert_int_equal(count, places[i].found > 0);
    assert_true(count == 0 || TN_SAME_ID(found, ids[places[i].found - 1]));
  }
  all.mask = 1;
  at.p = tn_p3(5.0, 0.0, 0.0);
  assert_int_equal(tn_world_overlap_softs(world, &ball, at, all, NULL, 0), 0);
  test_forget_messages();
  ball.radius = -1.0f;
  assert_int_equal(tn_world_overlap_softs(world, &ball, at, all, NULL, 0), 0);
  assert_message("tn_world_overlap_softs");
  tn_world_destroy(world);
}

static void same_bits_for_lanes_and_threads(void **unused)
{
  (void)unused;
  int lanes[4], count = test_lanes(lanes);
  for (int m = 0; m < TEST_METHODS; ++m) {
    uint64_t first = 0;
    for (int i = 0; i < 2 * count; ++i) {
      tn_world *world = test_world_with(5, test_methods[m], lanes[i % count], 1 + i / count);
      softs_build(world);
      for (int k = 0; k < 60; ++k) {
        tn_world_step(world, dt);
      }
      uint64_t hash = tn_world_hash(world);
      first = i == 0 ? hash : first;
      assert_true(hash == first);
      tn_world_destroy(world);
    }
  }
}

static void continues_from_a_snapshot(void **unused)
{
  (void)unused;
  tn_world *world = test_world(5, TN_METHOD_TENON);
  softs_build(world);
  test_run(world, dt, 40);
  size_t size = tn_world_save(world, NULL, 0);
  void *buffer = malloc(size);
  assert_int_equal(tn_world_save(world, buffer, size), size);
  uint64_t hash = tn_world_hash(world);
  test_run(world, dt, 20);
  uint64_t later = tn_world_hash(world);
  assert_true(tn_world_restore(world, buffer, size));
  assert_true(tn_world_hash(world) == hash);
  test_run(world, dt, 20);
  assert_true(tn_world_hash(world) == later);
  tn_world *other = test_world(8, TN_METHOD_XPBD);
  assert_true(tn_world_restore(other, buffer, size));
  test_run(other, dt, 20);
  assert_true(tn_world_hash(other) == later);
  free(buffer);
  tn_world_destroy(other);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(particle_slides_down_a_slope),
      cmocka_unit_test(particle_holds_below_the_angle_of_friction),
      cmocka_unit_test(particle_rebounds),
      cmocka_unit_test(impact_conserves_momentum),
      cmocka_unit_test(soft_cube_carries_a_hundred_times_its_weight),
      cmocka_unit_test(eight_passes_compress_a_cube_as_elasticity_says),
      cmocka_unit_test(cloth_stays_on_a_ball),
      cmocka_unit_test(cloth_lies_on_every_shape),
      cmocka_unit_test(spike_does_not_pass_between_particles),
      cmocka_unit_test(cloth_carries_tori),
      cmocka_unit_test(cloth_lies_on_itself),
      cmocka_unit_test(folded_cloth_lies_in_a_heap),
      cmocka_unit_test(balloon_rebounds_a_ball),
      cmocka_unit_test(tyre_rolls),
      cmocka_unit_test(tyre_spins_freely),
      cmocka_unit_test(overlap_separates_slowly),
      cmocka_unit_test(sleeps_and_wakes_with_what_it_carries),
      cmocka_unit_test(ray_hits_cloth),
      cmocka_unit_test(casts_and_overlaps_find_soft_bodies),
      cmocka_unit_test(same_bits_for_lanes_and_threads),
      cmocka_unit_test(continues_from_a_snapshot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
