// Soft bodies with irreversible deformation: tearing and plasticity.
#include "soft_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4000 };

static tn_world *weightless(int substeps)
{
  tn_world *world = test_world(substeps, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  return world;
}

static int count_tears(const tn_world *world, tn_soft_event *first)
{
  int count, found = 0;
  const tn_soft_event *events = tn_world_soft_events(world, &count);
  for (int i = 0; i < count; ++i) {
    if (events[i].kind == TN_SOFT_EVENT_TEAR && found++ == 0) {
      *first = events[i];
    }
  }
  return found;
}

static double mass_of(const tn_world *world, tn_soft_id soft)
{
  return tn_soft_momentum(world, soft, origin).mass;
}

// ---------------------------------------------------------------------------------------------
// Ropes

// 4 kg on a rope with a limit of 50 N: with 20 N more it tears at its upper end, and the part below
// falls freely.
static void rope_tears_at_its_force_limit(void **unused)
{
  (void)unused;
  for (int compliant = 0; compliant < 2; ++compliant) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_rope(&def, 10, 1.0f));
    float masses[11];
    for (int i = 0; i < 11; ++i) {
      masses[i] = i == 10 ? 4.0f : 0.01f;
    }
    def.masses = masses;
    def.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), -0.5f * TN_PI);
    def.edge_compliance = compliant ? 1e-5f : 0.0f;
    def.linear_damping = compliant ? 5.0f : 0.0f;
    def.tear_force = 50.0f;
    tn_soft_id soft = tn_soft_create(world, &def);
    tn_soft_mesh_free(&def);
    for (int i = 0; i < 11; ++i) { // at its rest position
      double stretch = (double)def.edge_compliance * 40.0;
      tn_soft_set_position(world, soft, i, tn_p3(0.0, -(0.1 + stretch) * i, 0.0));
    }
    tn_soft_set_pinned(world, soft, 0, true);
    double mass = mass_of(world, soft);
    tn_soft_event event = {0};
    for (int i = 0; i < 60; ++i) {
      test_run(world, dt, 1);
      assert_int_equal(tn_soft_positions(world, soft, NULL, 0), 11);
    }
    int tears = 0;
    for (int i = 0; i < (compliant ? 20 : 1) && tears == 0; ++i) {
      tn_soft_apply_force(world, soft, 10, tn_v3(0.0f, -20.0f, 0.0f));
      test_run(world, dt, 1);
      tears = count_tears(world, &event);
    }
    assert_int_equal(tears, 1);
    assert_int_equal(event.particles[0], 1);
    assert_int_equal(event.particles[1], 11);
    assert_close(fabsf(event.force.y), 60.9, compliant ? 11.0 : 1.0); // springs load gradually
    assert_int_equal(tn_soft_positions(world, soft, NULL, 0), 12);
    assert_close(mass_of(world, soft), mass, 1e-5);
    double start = tn_soft_position(world, soft, 10).y;
    tn_vec3 v[12];
    tn_soft_velocities(world, soft, v, 12);
    float damping = compliant ? 5.0f : 0.0f;
    test_run(world, dt, 12);
    // Velocity loss by damping: fall of g / k (t - (1 - exp(-k t)) / k), which without damping is g
    // t^2 / 2.
    double t = 0.2, k = (double)damping;
    double way = k > 0.0 ? 10.0 / k * (t - (1.0 - exp(-k * t)) / k) : 5.0 * t * t;
    double drift = k > 0.0 ? (1.0 - exp(-k * t)) / k : t;
    assert_close(start - tn_soft_position(world, soft, 10).y, way - drift * (double)v[10].y, 0.02);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Connected parts

static int root(int *set, int i)
{
  while (set[i] != i) {
    i = set[i];
  }
  return i;
}

static int count_parts(const tn_world *world, tn_soft_id soft)
{
  static int triangles[3 * MOST], set[MOST];
  int particles = tn_soft_positions(world, soft, NULL, 0), parts = 0;
  int count = tn_soft_triangles(world, soft, triangles, 3 * MOST);
  assert_true(count <= 3 * MOST && particles <= MOST);
  for (int i = 0; i < particles; ++i) {
    set[i] = i;
  }
  for (int i = 0; i < count; ++i) {
    set[root(set, triangles[i])] = root(set, triangles[i / 3 * 3]);
  }
  for (int i = 0; i < particles; ++i) {
    parts += root(set, i) == i;
  }
  return parts;
}

// Both ends move apart and rotate.
static void throw_apart(tn_world *world, tn_soft_id soft, const tn_soft_def *def, float speed)
{
  for (int i = 0; i < def->vertex_count; ++i) {
    tn_vec3 x = def->vertices[i], v = tn_cross(tn_v3(0.0f, 0.5f, 1.0f), x);
    v.x += x.x > 0.4f ? speed : x.x < -0.4f ? -speed : 0.0f;
    tn_soft_set_velocity(world, soft, i, v);
  }
}

// In free flight momentum is conserved.
static void tears_and_keeps_momentum(tn_world *world, tn_soft_id soft, const tn_soft_def *def)
{
  throw_apart(world, soft, def, 10.0f);
  tn_momentum before = tn_soft_momentum(world, soft, origin);
  double energy = tn_soft_energy(world, soft).total;
  tn_soft_event event;
  int tears = 0;
  for (int i = 0; i < 30; ++i) {
    test_run(world, dt, 1);
    tears += count_tears(world, &event);
    assert_below(tn_soft_energy(world, soft).total, 1.001 * energy);
  }
  tn_momentum after = tn_soft_momentum(world, soft, origin);
  assert_true(tears > 3);
  assert_close(after.mass, before.mass, 1e-5 * before.mass);
  assert_below(apart3(before.linear, after.linear), 1e-5 * 10.0 * before.mass);
  assert_below(apart3(before.angular, after.angular), 1e-4 * length3(before.angular));
}

// Its ends are pulled 2 m apart.
static void draw_apart(tn_world *world, tn_soft_id soft, const tn_soft_def *def)
{
  for (int i = 0; i < def->vertex_count; ++i) {
    float x = def->vertices[i].x;
    tn_soft_set_pinned(world, soft, i, fabsf(x) > 0.499f);
    tn_soft_set_velocity(world, soft, i, tn_v3(fabsf(x) > 0.499f ? 4.0f * x : 0.0f, 0.0f, 0.0f));
  }
  test_run(world, dt, 60);
  for (int i = 0; i < def->vertex_count; ++i) {
    tn_soft_set_pinned(world, soft, i, false);
  }
  test_run(world, dt, 200);
}

static void cloth_tears_in_two(void **unused)
{
  (void)unused;
  for (int i = 0; i < 6; ++i) {
    tn_world *world = weightless(20);
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_cloth(&def, 13, 7, 1.0f, 0.5f));
    def.bending_stiffness = i % 3 ? 1e-3f : 0.0f;
    def.curved_rest = i % 3 == 2;
    def.edge_compliance = 3e-3f;
    def.tear_strain = 0.15f;
    def.damping = i < 3 ? 0.0f : 5.0f;
    tn_soft_id soft = tn_soft_create(world, &def);
    if (i < 3) {
      tears_and_keeps_momentum(world, soft, &def);
    } else {
      draw_apart(world, soft, &def);
      assert_true(count_parts(world, soft) >= 2);
      assert_close(mass_of(world, soft), 1.0, 1e-5);
      // The parts are no longer connected: no edge is stretched, however far apart they are.
      assert_below(tn_soft_energy(world, soft).elastic, 5e-3); // one edge at 15 % holds 26e-3 J
    }
    tn_soft_mesh_free(&def);
    tn_world_destroy(world);
  }
}

// Closed surface: every edge of a triangle belongs to another one, in the opposite direction.
static void assert_closed(const tn_world *world, tn_soft_id soft)
{
  static int v[3 * MOST];
  int count = tn_soft_triangles(world, soft, v, 3 * MOST);
  assert_true(count <= 3 * MOST);
  for (int i = 0; i < count; ++i) {
    int from = v[i], to = i % 3 == 2 ? v[i - 2] : v[i + 1], balance = 0;
    for (int k = 0; k < count; ++k) {
      int next = k % 3 == 2 ? v[k - 2] : v[k + 1];
      balance += (v[k] == from && next == to) - (v[k] == to && next == from);
    }
    assert_int_equal(balance, 0);
  }
}

static void solids_tear_in_two(void **unused)
{
  (void)unused;
  static const int cells[3] = {8, 2, 2};
  static const tn_soft_material solids[3] = {TN_SOFT_COROTATED, TN_SOFT_NEO_HOOKEAN, TN_SOFT_SHAPE};
  for (int i = 0; i < 8; ++i) {
    tn_world *world = weightless(20);
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_box(&def, cells, tn_v3(0.5f, 0.1f, 0.1f), i % 4 < 3));
    def.solid = solids[i % 4 % 3];
    def.youngs_modulus = 2e4f;
    def.mass = 10.0f;
    def.tear_strain = 0.3f;
    def.damping = i < 4 ? 0.0f : 5.0f;
    tn_soft_id soft = tn_soft_create(world, &def);
    double volume = tn_soft_volume(world, soft);
    if (i < 4) {
      tears_and_keeps_momentum(world, soft, &def);
    } else {
      draw_apart(world, soft, &def);
      assert_true(count_parts(world, soft) >= 2);
      assert_close(tn_soft_volume(world, soft), volume, 0.02 * volume); // the volume is kept
    }
    assert_closed(world, soft);
    tn_soft_mesh_free(&def);
    tn_world_destroy(world);
  }
}

static double most_stretched(const tn_world *world, tn_soft_id soft, const tn_soft_def *def)
{
  double most = 0.0;
  for (int i = 0; i < def->edge_count; ++i) {
    int a = def->edges[2 * i], b = def->edges[2 * i + 1];
    double rest = (double)tn_length(tn_sub(def->vertices[b], def->vertices[a]));
    double now = (double)tn_length(
        tn_between_points(tn_soft_position(world, soft, a), tn_soft_position(world, soft, b)));
    most = fmax(most, now / rest - 1.0);
  }
  return most;
}

// Inflated until its skin tears, it loses its pressure and contracts.
static void balloon_bursts(void **unused)
{
  (void)unused;
  tn_world *world = weightless(20);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_sphere(&def, 2, 0.5f));
  def.pressure = 1.0f;
  def.edge_compliance = 1e-3f;
  def.tear_strain = 0.12f;
  def.mass = 0.1f;
  def.damping = 20.0f;
  tn_soft_id soft = tn_soft_create(world, &def);
  double volume = tn_soft_volume(world, soft), most = 0.0;
  tn_soft_event event;
  float pressure = 1.0f;
  for (test_run(world, dt, 1); count_tears(world, &event) == 0; test_run(world, dt, 1)) {
    most = most_stretched(world, soft, &def);
    assert_below(most, 0.12);
    pressure += 0.002f;
    assert_below(pressure, 1.5f);
    tn_soft_set_pressure(world, soft, pressure);
  }
  assert_close(most, 0.12, 0.01);
  assert_true(tn_soft_volume(world, soft) > 1.1 * volume);
  test_run(world, dt, 60);
  assert_below(tn_soft_volume(world, soft), 1.05 * volume);
  test_forget_messages();
  assert_false(tn_soft_set_pressure(world, soft, 1.0f));
  assert_message("pressure");
  tn_soft_mesh_free(&def);
  tn_world_destroy(world);
}

// Torn bodies are bitwise equal for all lane widths, and continue from a snapshot.
static tn_world *make_torn(int lanes)
{
  tn_world *world = test_world_with(10, TN_METHOD_TENON, lanes, 1);
  static const int cells[3] = {6, 2, 2};
  for (int i = 0; i < 3; ++i) {
    tn_soft_def def = tn_default_soft_def();
    assert_true(i == 0 ? tn_soft_mesh_cloth(&def, 9, 5, 1.0f, 0.5f)
                       : tn_soft_mesh_box(&def, cells, tn_v3(0.5f, 0.1f, 0.1f), i == 1));
    def.bending_stiffness = i == 0 ? 1e-3f : 0.0f;
    def.youngs_modulus = 2e4f;
    def.mass = i == 0 ? 0.5f : 10.0f;
    def.tear_strain = 0.2f;
    def.yield_strain = i == 2 ? 0.05f : INFINITY;
    def.creep = 10.0f;
    def.position = tn_p3(0.0, 1.0 * i, 0.0);
    tn_soft_id soft = tn_soft_create(world, &def);
    throw_apart(world, soft, &def, 10.0f);
    tn_soft_mesh_free(&def);
  }
  return world;
}

static void torn_bodies_are_saved_and_bitwise_equal(void **unused)
{
  (void)unused;
  int lanes[4], count = test_lanes(lanes);
  uint64_t first = 0;
  for (int i = 0; i < count; ++i) {
    tn_world *world = make_torn(lanes[i]);
    test_run(world, dt, 20);
    size_t size = tn_world_save(world, NULL, 0);
    void *buffer = malloc(size);
    assert_int_equal(tn_world_save(world, buffer, size), size);
    test_run(world, dt, 20);
    uint64_t hash = tn_world_hash(world);
    first = i == 0 ? hash : first;
    assert_true(hash == first);
    tn_world *other = test_world(10, TN_METHOD_TENON);
    assert_true(tn_world_restore(other, buffer, size));
    test_run(other, dt, 20);
    assert_true(tn_world_hash(other) == hash);
    free(buffer);
    tn_world_destroy(other);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Plasticity

// A cell held stretched along x at constant volume.
static tn_soft_id make_cell(tn_world *world, double stretch, float yield, float creep, float limit)
{
  static const int one[3] = {1, 1, 1};
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_box(&def, one, tn_v3(0.5f, 0.5f, 0.5f), false));
  def.youngs_modulus = 1e5f;
  def.mass = 100.0f;
  def.damping = 5.0f;
  def.yield_strain = yield;
  def.creep = creep;
  def.plastic_limit = limit;
  tn_soft_id soft = tn_soft_create(world, &def);
  for (int i = 0; i < 8; ++i) {
    tn_vec3 x = def.vertices[i];
    double across = 1.0 / sqrt(stretch);
    tn_soft_set_position(world, soft, i,
                         tn_p3((double)x.x * stretch, (double)x.y * across, (double)x.z * across));
    tn_soft_set_pinned(world, soft, i, true);
  }
  tn_soft_mesh_free(&def);
  return soft;
}

static double let_go(tn_world *world, tn_soft_id soft)
{
  tn_soft_set_damping(world, soft, 1e3f); // otherwise it would oscillate and flow back
  for (int i = 0; i < 8; ++i) {
    tn_soft_set_pinned(world, soft, i, false);
  }
  test_run(world, dt, 300);
  return tn_soft_position(world, soft, 1).x - tn_soft_position(world, soft, 0).x;
}

// e(t) - yield = (e(0) - yield) exp(-creep t), and the elastic energy is as its square.
static void strain_creeps_to_the_yield_strain(void **unused)
{
  (void)unused;
  tn_world *world = weightless(10);
  const double e0 = 0.05, yield = 0.01, creep = 2.0;
  tn_soft_id soft = make_cell(world, 1.0 + e0, (float)yield, (float)creep, INFINITY);
  double start = tn_soft_energy(world, soft).elastic;
  for (int i = 1; i <= 3; ++i) {
    test_run(world, dt, 30);
    double e = yield + (e0 - yield) * exp(-creep * 0.5 * i);
    assert_close(sqrt(tn_soft_energy(world, soft).elastic / start), e / e0, 0.02 * e / e0 + 0.002);
  }
  test_run(world, dt, 600);
  // After release the plastic strain is all but the yield strain; the volume is unchanged.
  assert_close(let_go(world, soft), 1.04, 0.002);
  assert_close(tn_soft_volume(world, soft), 1.0, 0.002);
  tn_world_destroy(world);
}

static void below_the_yield_it_is_elastic(void **unused)
{
  (void)unused;
  tn_world *world = weightless(10);
  tn_soft_id soft = make_cell(world, 1.045, 0.05f, INFINITY, INFINITY);
  test_run(world, dt, 120);
  assert_close(let_go(world, soft), 1.0, 1e-4);
  tn_world_destroy(world);
}

static void plastic_flow_stops_at_its_limit(void **unused)
{
  (void)unused;
  tn_world *world = weightless(10);
  tn_soft_id soft = make_cell(world, 1.3, 0.02f, INFINITY, 0.1f);
  test_run(world, dt, 120);
  assert_close(let_go(world, soft), 1.1, 0.01);
  tn_world_destroy(world);
}

// A beam of plastic cells keeps its dent after a fall; one of elastic cells recovers.
static void plastic_beam_keeps_its_dent(void **unused)
{
  (void)unused;
  static const int cells[3] = {4, 4, 4};
  for (int plastic = 0; plastic < 2; ++plastic) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
    tn_shape_create(world, test_no_body, &plane);
    tn_soft_def def = tn_default_soft_def();
    assert_true(tn_soft_mesh_box(&def, cells, tn_v3(0.2f, 0.2f, 0.2f), false));
    def.rotation = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), 0.6f);
    def.position = tn_p3(0.0, 2.0, 0.0);
    def.mass = 20.0f;
    def.youngs_modulus = 1e5f;
    def.damping = 5.0f;
    def.yield_strain = plastic ? 0.02f : INFINITY;
    tn_soft_id soft = tn_soft_create(world, &def);
    test_run(world, dt, 240);
    double most = 0.0;
    for (int i = 0; i < 125; ++i) {
      for (int k = 0; k < i; ++k) {
        double rest = (double)tn_length(tn_sub(def.vertices[i], def.vertices[k]));
        double now = (double)tn_length(
            tn_between_points(tn_soft_position(world, soft, i), tn_soft_position(world, soft, k)));
        most = fmax(most, fabs(now / rest - 1.0));
      }
    }
    assert_true(plastic ? most > 0.1 : most < 0.08);
    tn_soft_mesh_free(&def);
    tn_world_destroy(world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rope_tears_at_its_force_limit),
      cmocka_unit_test(cloth_tears_in_two),
      cmocka_unit_test(solids_tear_in_two),
      cmocka_unit_test(balloon_bursts),
      cmocka_unit_test(torn_bodies_are_saved_and_bitwise_equal),
      cmocka_unit_test(strain_creeps_to_the_yield_strain),
      cmocka_unit_test(below_the_yield_it_is_elastic),
      cmocka_unit_test(plastic_flow_stops_at_its_limit),
      cmocka_unit_test(plastic_beam_keeps_its_dent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
