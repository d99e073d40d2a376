// The scenes given to other engines are the same: their motion must follow mechanics.
#include "peer.h"
#include "support.h"

#include "build.h"

#include <string.h>

static const float FRAME = 1.0f / 60.0f;

static scene_run *make_scene(const char *name)
{
  tn_world_def def = tn_default_world_def();
  def.sleeping = false;
  scene_run *run = scene_create(scene_find(name), NULL, &def);
  assert_non_null(run);
  return run;
}

static peer *make_peer(const char *name, const tn_world *world, int substeps)
{
  char why[128] = "";
  peer *p = peer_create(name, world, (peer_settings){.substeps = substeps}, why, sizeof why);
  if (!p) {
    fail_msg("%s: %s", name, why);
  }
  return p;
}

static void advance(peer *p, int frames)
{
  for (int i = 0; i < frames; ++i) {
    peer_step(p, FRAME);
  }
}

// Centres of mass off the origins, principal axes or not: what is read back is what was set.
static void test_states_are_read_back(void **state)
{
  (void)state;
  static const char *const names[] = {"mobile", "pyramid", "chain"};
  for (int k = 0; k < 3 * peer_count(); ++k) {
    scene_run *run = make_scene(names[k / peer_count()]);
    peer *p = make_peer(peer_name(k % peer_count()), run->world, 1);
    for (int i = 0; i < run->body_count; ++i) {
      peer_state s = peer_read(p, run->bodies[i]);
      tn_transform t = tn_body_transform(run->world, run->bodies[i]);
      assert_close(tn_length(tn_between_points(s.pose.p, t.p)), 0.0f, 1e-5f);
      tn_quat d = tn_quat_mul(s.pose.q, tn_quat_conjugate(t.q));
      assert_close(tn_length(tn_v3(d.x, d.y, d.z)), 0.0f, 1e-6f);
      tn_vec3 v = tn_body_velocity(run->world, run->bodies[i]);
      assert_close(tn_length(tn_sub(s.velocity, v)), 0.0f, 1e-5f);
      tn_vec3 w = tn_body_angular_velocity(run->world, run->bodies[i]);
      assert_close(tn_length(tn_sub(s.angular_velocity, w)), 0.0f, 1e-5f);
    }
    peer_destroy(p);
    scene_destroy(run);
  }
}

// A body of one shape on level ground.
static tn_world *on_ground(const tn_shape_def *shape, double height, tn_quat rotation, float speed,
                           tn_body_id *body)
{
  tn_world_def world_def = tn_default_world_def();
  world_def.gravity = tn_v3(0.0f, -9.81f, 0.0f);
  tn_world *world = tn_world_create(&world_def);
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  ground.material = shape->material;
  tn_shape_create(world, SCENE_WORLD, &ground);
  tn_body_def def = test_body_def();
  def.position = tn_p3(0.0, height, 0.0);
  def.rotation = rotation;
  def.velocity = tn_v3(speed, 0.0f, 0.0f);
  *body = tn_body_create(world, &def);
  tn_shape_def own = *shape;
  if (own.kind == TN_SHAPE_HULL) {
    const tn_vec3 corners[8] = {{-0.3f, -0.2f, -0.3f}, {0.3f, -0.2f, -0.3f}, {-0.3f, 0.2f, -0.3f},
                                {0.3f, 0.2f, -0.3f},   {-0.3f, -0.2f, 0.3f}, {0.3f, -0.2f, 0.3f},
                                {-0.3f, 0.2f, 0.3f},   {0.3f, 0.2f, 0.3f}};
    own.geometry = tn_hull_create(world, corners, 8, 0);
  }
  assert_false(TN_IS_NULL(tn_shape_create(world, *body, &own)));
  assert_true(tn_body_set_mass_from_shapes(world, *body));
  return world;
}

// Collision margins and half lengths of the engines are accounted for.
static void test_shapes_rest_at_their_height(void **state)
{
  (void)state;
  const tn_quat upright = tn_quat_identity();
  const tn_quat lying = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), 0.5f * TN_PI);
  const struct {
    tn_shape_def shape;
    tn_quat rotation;
    double height;
  } cases[] = {
      {scene_sphere_shape(0.25f), upright, 0.25},
      {scene_box_shape(tn_v3(0.3f, 0.2f, 0.4f)), upright, 0.2},
      {scene_axial_shape(TN_SHAPE_CAPSULE, 0.2f, 0.3f), lying, 0.2},
      {scene_axial_shape(TN_SHAPE_CYLINDER, 0.3f, 0.2f), upright, 0.2},
      {scene_axial_shape(TN_SHAPE_CONE, 0.3f, 0.2f), upright, 0.2},
      {tn_default_shape_def(TN_SHAPE_HULL), upright, 0.2},
  };
  for (int k = 0; k < 6 * peer_count(); ++k) {
    const char *name = peer_name(k % peer_count());
    int which = k / peer_count();
    tn_body_id body;
    tn_world *world = on_ground(&cases[which].shape, cases[which].height + 0.01,
                                cases[which].rotation, 0.0f, &body);
    char why[128];
    peer *p = peer_create(name, world, (peer_settings){.substeps = 4}, why, sizeof why);
    if (!p && cases[which].shape.kind == TN_SHAPE_CONE) {
      assert_string_equal(why, "ODE has no cones");
    } else {
      assert_non_null(p);
      advance(p, 120);
      double y = peer_read(p, body).pose.p.y;
      if (fabs(y - cases[which].height) > 2e-3) {
        fail_msg("%s: shape %d rests at %.4f, not at %.4f", name, which, y, cases[which].height);
      }
      assert_true(peer_contact_points(p) > 0);
      assert_true(peer_show(p, world));
      assert_close(tn_body_position(world, body).y, y, 1e-6);
      assert_true(tn_world_contacts(world, NULL, 0) > 0);
    }
    peer_destroy(p);
    tn_world_destroy(world);
  }
}

// A box that slides stops after v^2 / (2 mu g).
static void test_friction(void **state)
{
  (void)state;
  tn_shape_def shape = scene_box_shape(tn_v3(0.5f, 0.1f, 0.5f));
  shape.material = scene_material(0.3f, 0.0f);
  for (int k = 0; k < peer_count(); ++k) {
    tn_body_id body;
    tn_world *world = on_ground(&shape, 0.1, tn_quat_identity(), 3.0f, &body);
    peer *p = make_peer(peer_name(k), world, 20);
    advance(p, 120);
    assert_close(peer_read(p, body).pose.p.x, 9.0 / (2.0 * 0.3 * 9.81), 0.03);
    peer_destroy(p);
    tn_world_destroy(world);
  }
}

// A horizontal rod released on a hinge at its end with limits lo and hi; it falls in the positive
// direction.
static tn_world *rod_on_hinge(tn_joint_kind kind, tn_range range, tn_body_id *rod,
                              tn_joint_id *joint)
{
  tn_world_def world_def = tn_default_world_def();
  world_def.gravity = tn_v3(0.0f, -9.81f, 0.0f);
  tn_world *world = tn_world_create(&world_def);
  tn_body_def def = scene_box(tn_p3(0.5, 0.0, 0.0), tn_v3(0.5f, 0.02f, 0.02f), 1.0f);
  *rod = tn_body_create(world, &def);
  tn_joint_def hinge = tn_default_joint_def(kind);
  hinge.body_b = *rod;
  assert_true(tn_joint_def_at(world, &hinge, tn_p3(0.0, 0.0, 0.0), tn_v3(0.0f, 0.0f, -1.0f)));
  hinge.angular[0] = kind == TN_JOINT_HINGE ? range : hinge.angular[0];
  *joint = tn_joint_create(world, &hinge);
  assert_false(TN_IS_NULL(*joint));
  return world;
}

// All engines agree with Tenon on the first swing, before rounding and order matter.
static void test_pendulum(void **state)
{
  (void)state;
  for (int k = 0; k < 2 * peer_count(); ++k) {
    tn_body_id rod;
    tn_joint_id joint;
    tn_joint_kind kind = k % 2 ? TN_JOINT_HINGE : TN_JOINT_BALL;
    tn_world *world = rod_on_hinge(kind, tn_between(-INFINITY, INFINITY), &rod, &joint);
    peer *p = make_peer(peer_name(k / 2), world, 20);
    for (int i = 0; i < 30; ++i) {
      tn_world_step(world, FRAME);
    }
    advance(p, 30);
    tn_vec3 apart = tn_between_points(peer_read(p, rod).pose.p, tn_body_position(world, rod));
    assert_close(tn_length(apart), 0.0f, 0.02f);
    peer_destroy(p);
    tn_world_destroy(world);
  }
}

static void test_hinge_limits(void **state)
{
  (void)state;
  for (int k = 0; k < peer_count(); ++k) {
    tn_body_id rod;
    tn_joint_id joint;
    tn_world *world = rod_on_hinge(TN_JOINT_HINGE, tn_between(-0.2f, 0.7f), &rod, &joint);
    peer *p = make_peer(peer_name(k), world, 20);
    advance(p, 300);
    assert_true(peer_show(p, world));
    tn_joint_state s = tn_joint_get_state(world, joint);
    assert_close(s.angle.x, 0.7f, 0.02f);
    assert_close(s.elongation, 0.0f, 1e-3f);
    peer_destroy(p);
    tn_world_destroy(world);
  }
}

// Metrics of the scene are taken from the peer's state.
static void test_metrics_are_of_the_peer(void **state)
{
  (void)state;
  for (int k = 0; k < peer_count(); ++k) {
    scene_run *run = make_scene("stack");
    peer *p = make_peer(peer_name(k), run->world, 1);
    advance(p, 60);
    assert_true(peer_show(p, run->world));
    double deep = scene_metric_value(run, "max_penetration_m");
    double drop = scene_metric_value(run, "top_drop_m");
    assert_true(deep >= 0.0 && deep < 0.05);
    // The top of ten cubes sinks by no more than ten times the deepest penetration.
    assert_true(drop < 10.0 * deep + 1e-3);
    assert_int_equal((int)scene_metric_value(run, "fallen"), 0);
    peer_destroy(p);
    scene_destroy(run);
  }
}

static void test_refusals(void **state)
{
  (void)state;
  static const char *const names[] = {"springs3", "rotor", "marble_run"};
  static const char *const reasons[] = {"a joint is a spring", "there are soft bodies",
                                        "a shape is a mesh, a height field or a wire"};
  for (int k = 0; k < 3 * peer_count(); ++k) {
    scene_run *run = make_scene(names[k / peer_count()]);
    char why[128] = "";
    peer_settings settings = {.substeps = 1};
    assert_null(peer_create(peer_name(k % peer_count()), run->world, settings, why, sizeof why));
    assert_string_equal(why, reasons[k / peer_count()]);
    assert_null(peer_create("none", run->world, settings, why, sizeof why));
    assert_string_equal(why, "no such engine");
    scene_destroy(run);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_states_are_read_back),
      cmocka_unit_test(test_shapes_rest_at_their_height),
      cmocka_unit_test(test_friction),
      cmocka_unit_test(test_pendulum),
      cmocka_unit_test(test_hinge_limits),
      cmocka_unit_test(test_metrics_are_of_the_peer),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
