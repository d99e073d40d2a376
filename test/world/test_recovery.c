// Non-finite states: the bodies concerned are stopped, the others continue unaffected, and calls
// refuse values that would lead there.
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DT (1.0f / 60.0f)

// ---------------------------------------------------------------------------------------------
// Bodies that overflow

// A joint without locked coordinates whose drive overflows float.
static tn_joint_id drive_wild(tn_world *world, tn_body_id body, bool angular)
{
  assert_true(tn_body_set_max_speed(world, body, 3e38f));
  assert_true(tn_body_set_max_angular_speed(world, body, 3e38f));
  tn_joint_def def = test_joint_def(world, TN_JOINT_GENERIC, test_no_body, body,
                                    tn_body_position(world, body), tn_v3(1.0f, 0.0f, 0.0f));
  for (int i = 0; i < 3; ++i) {
    def.linear[i] = def.angular[i] = tn_between(-INFINITY, INFINITY);
  }
  tn_drive *drive = angular ? &def.axis[TN_ANGULAR_A].drive : &def.axis[TN_LINEAR_A].drive;
  drive->force = 3e38f;
  tn_joint_id id = tn_joint_create(world, &def);
  assert_false(TN_IS_NULL(id));
  return id;
}

// Weights beyond the range of floats: what joints report is finite, and the world can be restored.
static void forces_of_joints_stay_finite(void **state)
{
  (void)state;
  static unsigned char saved[1 << 18];
  for (int i = 0; i < 8 * TEST_METHODS; ++i) {
    tn_world_def def = test_world_def(4, test_methods[i / 8]);
    def.gravity = tn_v3(0.0f, -1e11f, 0.0f);
    tn_world *world = tn_world_create(&def);
    tn_body_id body = test_box(world, tn_p3(0.0, 0.0, 0.0), 1e30f, tn_v3(0.5f, 0.5f, 0.5f));
    tn_joint_id joint = test_joint(world, (tn_joint_kind)(i % 8), test_no_body, body,
                                   tn_p3(1.0, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    for (int k = 0; k < 3; ++k) {
      tn_world_step(world, DT);
      tn_joint_state is = tn_joint_get_state(world, joint);
      assert_true(isfinite(is.force.x) && isfinite(is.force.y) && isfinite(is.force.z));
      assert_true(isfinite(is.torque.x) && isfinite(is.torque.y) && isfinite(is.torque.z));
    }
    size_t size = tn_world_save(world, saved, sizeof saved);
    assert_in_range(size, 1, sizeof saved);
    assert_true(tn_world_restore(world, saved, size));
    tn_world_destroy(world);
  }
}

static void a_body_out_of_bounds_is_stopped(void **state)
{
  (void)state;
  for (int i = 0; i < 2 * TEST_METHODS; ++i) {
    tn_world *worlds[2];
    tn_body_id others[2], feathers[2];
    for (int k = 0; k < 2; ++k) { // the second time without the overflowing force
      worlds[k] = test_world(4, test_methods[i / 2]);
      tn_body_def def = test_body_def();
      def.mass = tn_mass_scaled_to(def.mass, 1e-3f);
      def.name = "feather";
      feathers[k] = tn_body_create(worlds[k], &def);
      others[k] = test_body(worlds[k], TN_BODY_DYNAMIC, tn_p3(3.0, 0.0, 0.0));
      test_joint(worlds[k], TN_JOINT_BALL, test_no_body, others[k], tn_p3(4.0, 0.0, 0.0),
                 tn_v3(0.0f, 0.0f, 1.0f));
      test_run(worlds[k], DT, 2);
    }
    test_run(worlds[1], DT, 1);
    tn_body_id wild = feathers[0];
    tn_transform before = tn_body_transform(worlds[0], wild);
    tn_joint_id drive = drive_wild(worlds[0], wild, i % 2 != 0);
    assert_int_equal(tn_world_step(worlds[0], DT), TN_STEP_NON_FINITE);
    assert_message("feather");
    tn_transform after = tn_body_transform(worlds[0], wild);
    assert_memory_equal(&after, &before, sizeof after);
    assert_true(tn_length(tn_body_velocity(worlds[0], wild)) == 0.0f);
    assert_true(test_is_finite(worlds[0]));
    tn_transform a = tn_body_transform(worlds[0], others[0]);
    tn_transform b = tn_body_transform(worlds[1], others[1]);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(tn_joint_destroy(worlds[0], drive));
    test_run(worlds[0], DT, 10);
    assert_true(tn_body_velocity(worlds[0], wild).y < -1.0f);
    tn_world_destroy(worlds[0]);
    tn_world_destroy(worlds[1]);
  }
}

// Joined bodies may be stopped as well, but the joint must work again afterwards.
static void joints_of_a_body_out_of_bounds_recover(void **state)
{
  (void)state;
  for (int i = 0; i < TN_JOINT_KIND_COUNT * TEST_METHODS; ++i) {
    tn_world *world = test_world(4, test_methods[i % TEST_METHODS]);
    tn_body_id wild = test_box(world, tn_p3(0.0, 0.0, 0.0), 1e-3f, tn_v3(0.1f, 0.1f, 0.1f));
    tn_body_id other = test_body(world, TN_BODY_DYNAMIC, tn_p3(1.0, 0.0, 0.0));
    test_joint(world, (tn_joint_kind)(i / TEST_METHODS), wild, other, tn_p3(0.5, 0.0, 0.0),
               tn_v3(1.0f, 0.0f, 0.0f));
    test_run(world, DT, 2);
    tn_joint_id drive = drive_wild(world, wild, false);
    assert_true(tn_world_step(world, DT) & TN_STEP_NON_FINITE);
    assert_true(tn_joint_destroy(world, drive));
    test_forget_messages();
    for (int k = 0; k < 3; ++k) {
      assert_true(test_is_finite(world));
      test_run(world, DT, 1);
    }
    tn_world_destroy(world);
  }
}

#define STACK 6

static void make_ground(tn_world *world)
{
  tn_body_id ground = test_body(world, TN_BODY_STATIC, tn_p3(0.0, 0.0, 0.0));
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, ground, &plane);
}

static void make_stack(tn_world *world, tn_body_id *ids, double x)
{
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  for (int i = 0; i < STACK; ++i) {
    ids[i] = test_body(world, TN_BODY_DYNAMIC, tn_p3(x, 0.5 + i, 0.0));
    tn_shape_create(world, ids[i], &box);
  }
}

// In a stack every body is in contact with the overflowing one, directly or not: only that one is
// reset, no other is stopped, and all fall when the lowest is removed.
static void the_rest_of_a_stack_is_unaffected(void **state)
{
  (void)state;
  for (int i = 0; i < 2 * STACK * TEST_METHODS; ++i) {
    tn_world *world = test_world(4, test_methods[i % TEST_METHODS]);
    int wild = i / TEST_METHODS % STACK;
    tn_body_id ids[STACK];
    make_ground(world);
    make_stack(world, ids, 0.0);
    test_run(world, DT, 30);
    tn_joint_id drive = drive_wild(world, ids[wild], i / TEST_METHODS >= STACK);
    for (int k = 0; k < STACK; ++k) {
      assert_true(tn_body_set_velocity(world, ids[k], tn_v3(0.0f, 0.0f, 0.01f)));
    }
    assert_int_equal(tn_world_step(world, DT), TN_STEP_NON_FINITE);
    assert_message("went non-finite");
    for (int k = 0; k < STACK; ++k) {
      assert_true((tn_length(tn_body_velocity(world, ids[k])) == 0.0f) == (k == wild));
    }
    assert_true(tn_joint_destroy(world, drive));
    test_run(world, DT, 30);
    assert_true(tn_body_destroy(world, ids[0]));
    test_run(world, DT, 120);
    for (int k = 1; k < STACK; ++k) {
      assert_close(tn_body_position(world, ids[k]).y, k - 0.5, 0.02);
    }
    tn_world_destroy(world);
  }
}

static void a_lost_body_is_reported_once(void **state)
{
  (void)state;
  for (int i = 0; i < TEST_METHODS; ++i) {
    tn_world *world = test_world(4, test_methods[i]);
    tn_body_id ids[STACK];
    make_ground(world);
    make_stack(world, ids, 0.0);
    test_run(world, DT, 30);
    for (int round = 0; round < 2; ++round) {
      tn_joint_id drive = drive_wild(world, ids[2], false);
      for (int k = 0; k < 60; ++k) {
        assert_int_equal(tn_world_step(world, DT), TN_STEP_NON_FINITE);
      }
      assert_message("went non-finite");
      for (int k = 0; k < STACK; ++k) { // those above rest on it
        assert_close(tn_body_position(world, ids[k]).y, k + 0.5, 0.02);
      }
      assert_true(tn_joint_destroy(world, drive));
      test_run(world, DT, 10);
    }
    tn_world_destroy(world);
  }
}

// Capsules that rock on a kinematic plate. Two of them are lost and frozen beside the others, in
// contact with a body that does not give way either: their rows have no mass.
static uint64_t roll_with_a_lost_one(tn_method method, int lanes)
{
  tn_world *world = test_world_with(4, method, lanes, 1);
  tn_body_id plate = test_body(world, TN_BODY_KINEMATIC, tn_p3(0.0, 0.0, 0.0)), rolls[8];
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  const tn_shape_kind kinds[2] = {TN_SHAPE_CAPSULE, TN_SHAPE_CYLINDER};
  tn_shape_create(world, plate, &ground);
  for (int i = 0; i < 8; ++i) {
    tn_shape_def shape = tn_default_shape_def(kinds[i / 4]);
    shape.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), 1.5707963f);
    rolls[i] = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.51, 2.0 * i));
    tn_shape_create(world, rolls[i], &shape);
  }
  test_run(world, DT, 20);
  drive_wild(world, rolls[1], false);
  drive_wild(world, rolls[5], true);
  for (int k = 0; k < 40; ++k) {
    for (int i = 0; i < 8; ++i) { // rocks, so that an end is unloaded
      float w = (i + k) % 8 < 4 ? 0.5f : -0.5f;
      assert_true(tn_body_set_angular_velocity(world, rolls[i], tn_v3(0.0f, 0.0f, w)));
    }
    // It comes up around the lost bodies, then goes down.
    assert_true(tn_body_set_velocity(world, plate, tn_v3(0.0f, k < 20 ? 0.5f : -0.2f, 0.0f)));
    assert_int_equal(tn_world_step(world, DT), TN_STEP_NON_FINITE);
    tn_contact contacts[64];
    int count = tn_world_contacts(world, contacts, 64);
    for (int i = 0; i < count && i < 64; ++i) {
      tn_vec3 f = contacts[i].friction_force;
      assert_true(isfinite(f.x + f.y + f.z + contacts[i].friction_torque));
    }
  }
  test_forget_messages();
  uint64_t hash = tn_world_hash(world);
  tn_world_destroy(world);
  return hash;
}

static void contacts_of_a_lost_body_with_a_kinematic_one_rest(void **state)
{
  (void)state;
  int lanes[4], widths = test_lanes(lanes);
  for (int i = 0; i < TEST_METHODS; ++i) {
    uint64_t hash = roll_with_a_lost_one(test_methods[i], lanes[0]);
    for (int k = 1; k < widths; ++k) {
      assert_true(roll_with_a_lost_one(test_methods[i], lanes[k]) == hash);
    }
  }
}

// An allocation fails while a step is solved again: the step is undone, and the next one recovers.
static void recovery_survives_failed_allocations(void **state)
{
  (void)state;
  int failed = 1;
  for (int n = 0; failed > 0; ++n) {
    test_meter meter = {.until_failure = -1};
    tn_world_def def = test_world_def(4, test_methods[n % TEST_METHODS]);
    def.allocator = test_metered(&meter);
    tn_world *world = tn_world_create(&def);
    tn_body_id ids[STACK];
    make_ground(world);
    make_stack(world, ids, 0.0);
    test_run(world, DT, 2);
    tn_joint_id drive = drive_wild(world, ids[2], false);
    tn_body_type type = tn_body_get_type(world, ids[2]);
    meter.until_failure = n;
    uint32_t status = tn_world_step(world, DT);
    failed = meter.failed;
    meter.until_failure = -1;
    assert_true(status == (failed > 0 ? TN_STEP_OUT_OF_MEMORY : TN_STEP_NON_FINITE));
    assert_int_equal(tn_body_get_type(world, ids[2]), type);
    assert_int_equal(tn_world_step(world, DT), TN_STEP_NON_FINITE);
    assert_true(test_is_finite(world) && tn_joint_destroy(world, drive));
    test_forget_messages();
    test_run(world, DT, 30);
    assert_close(tn_body_position(world, ids[STACK - 1]).y, STACK - 0.5, 0.02);
    tn_world_destroy(world);
    assert_int_equal(meter.bytes, 0);
    assert_true(n > 2 || failed > 0);
  }
}

// ---------------------------------------------------------------------------------------------
// Out of range

static void bodies_that_leave_the_range_are_stopped_there(void **state)
{
  (void)state;
  for (int i = 0; i < TEST_METHODS; ++i) {
    tn_world *world = test_world(4, test_methods[i]);
    assert_true(tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f)));
    tn_body_id body = test_body(world, TN_BODY_DYNAMIC, tn_p3(TN_MAX_DISTANCE - 1.0, 0.0, 0.0));
    tn_soft_def def = tn_default_soft_def();
    tn_soft_mesh_rope(&def, 4, 1.0f);
    def.position = tn_p3(0.0, -TN_MAX_DISTANCE + 2.0, 0.0);
    def.velocity = tn_v3(0.0f, -100.0f, 0.0f);
    tn_soft_id soft = tn_soft_create(world, &def);
    assert_false(TN_IS_NULL(soft));
    tn_soft_mesh_free(&def);
    assert_true(tn_body_set_velocity(world, body, tn_v3(100.0f, 0.0f, 0.0f)));
    assert_int_equal(tn_world_step(world, DT), TN_STEP_NON_FINITE);
    assert_message("body 1 (unnamed) left the range");
    assert_int_equal(tn_world_step(world, DT), TN_STEP_NON_FINITE);
    assert_message("soft body 0 left the range");
    for (int k = 0; k < 10; ++k) {
      assert_int_equal(tn_world_step(world, DT), 0);
    }
    assert_true(tn_body_position(world, body).x == TN_MAX_DISTANCE - 1.0);
    assert_close(tn_soft_position(world, soft, 0).y, -TN_MAX_DISTANCE + 2.0 - 100.0 * (double)DT,
                 1e-4);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Refused values

// Finite values beyond the solver's range, of any magnitude up to FLT_MAX.
static double beyond(uint32_t *random, double limit, double largest)
{
  double share = (double)test_random(random);
  double size = limit * 1.001 * pow(largest / (limit * 1.001), share);
  return test_random(random) < 0.5f ? size : -size;
}

static tn_vec3 fast(uint32_t *random)
{
  float v[3] = {1.0f, 2.0f, 3.0f};
  v[test_index(random, 3)] = (float)beyond(random, (double)TN_MAX_RATE, (double)FLT_MAX / 1.01);
  return tn_v3(v[0], v[1], v[2]);
}

static tn_pos far_off(uint32_t *random)
{
  double p[3] = {1.0, 2.0, 3.0};
  p[test_index(random, 3)] = beyond(random, TN_MAX_DISTANCE, DBL_MAX / 1.01);
  return tn_p3(p[0], p[1], p[2]);
}

static tn_vec3 far_offset(uint32_t *random)
{
  float p[3] = {1.0f, 2.0f, 3.0f};
  p[test_index(random, 3)] = (float)beyond(random, TN_MAX_DISTANCE, (double)FLT_MAX / 1.01);
  return tn_v3(p[0], p[1], p[2]);
}

// One object of each kind.
typedef struct cast {
  tn_world *world;
  tn_body_id body, mover;
  tn_joint_id joint;
  tn_soft_id soft;
  tn_attachment_id attachment;
} cast;

static cast make_cast(tn_method method)
{
  cast c = {.world = test_world(4, method)};
  c.body = test_body(c.world, TN_BODY_DYNAMIC, tn_p3(0.0, 5.0, 0.0));
  c.mover = test_body(c.world, TN_BODY_KINEMATIC, tn_p3(3.0, 5.0, 0.0));
  tn_joint_def def = test_joint_def(c.world, TN_JOINT_HINGE, test_no_body, c.body,
                                    tn_p3(0.0, 6.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
  c.joint = tn_joint_create(c.world, &def);
  tn_soft_def soft = tn_default_soft_def();
  tn_soft_mesh_rope(&soft, 4, 1.0f);
  soft.position = tn_p3(0.0, 9.0, 0.0);
  c.soft = tn_soft_create(c.world, &soft);
  tn_soft_mesh_free(&soft);
  tn_attachment_def tie = tn_default_attachment_def();
  tie.soft = c.soft;
  tie.point = tn_p3(0.0, 9.0, 0.0);
  c.attachment = tn_attachment_create(c.world, &tie);
  assert_false(TN_IS_NULL(c.attachment));
  return c;
}

static bool make_bad_body(const cast *c, int what, uint32_t *random)
{
  tn_body_def def = test_body_def();
  switch (what) {
  case 0:
    def.position = far_off(random);
    break;
  case 1:
    def.velocity = fast(random);
    break;
  case 2:
    def.angular_velocity = fast(random);
    break;
  case 3:
    def.mass.center = far_offset(random);
    break;
  case 4: // each component within the range
    def.position = tn_p3(0.9 * TN_MAX_DISTANCE, 0.0, 0.0);
    def.mass.center.x = 0.2f * (float)TN_MAX_DISTANCE;
    break;
  default:
    def.gravity_scale = 1.1e6f;
    break;
  }
  return !TN_IS_NULL(tn_body_create(c->world, &def));
}

static bool make_bad_soft(const cast *c, int what, uint32_t *random)
{
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_rope(&def, 4, what == 0 ? 1.1f * (float)TN_MAX_DISTANCE : 1.0f);
  if (what == 1) {
    def.position = far_off(random);
  } else if (what == 2) {
    def.velocity = fast(random);
  }
  bool made = !TN_IS_NULL(tn_soft_create(c->world, &def));
  tn_soft_mesh_free(&def);
  return made;
}

static bool make_bad_joint(const cast *c, int what, uint32_t *random)
{
  tn_joint_def def = test_joint_def(c->world, TN_JOINT_HINGE, c->body, c->mover,
                                    tn_p3(1.0, 5.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
  *(what == 0 ? &def.frame_a.p : &def.frame_b.p) = far_off(random);
  return !TN_IS_NULL(tn_joint_create(c->world, &def));
}

static bool make_bad_shape(const cast *c, int what, uint32_t *random)
{
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  if (what == 0) {
    def.position = far_offset(random);
  } else {
    def.material.surface_velocity = fast(random);
  }
  return !TN_IS_NULL(tn_shape_create(c->world, c->body, &def));
}

static bool move_badly(const cast *c, int what, uint32_t *random)
{
  tn_world *w = c->world;
  tn_transform at = {far_off(random), tn_quat_identity()};
  tn_drive drive = tn_motor(fast(random).y, INFINITY, 1.0f);
  drive.velocity = drive.velocity == 2.0f ? 2.0f * TN_MAX_RATE : drive.velocity;
  switch (what) {
  case 0:
    return tn_body_set_transform(w, c->body, at);
  case 1:
    return tn_body_move_to(w, c->mover, at);
  case 2:
    return tn_body_set_velocity(w, c->body, fast(random));
  case 3:
    return tn_body_set_angular_velocity(w, c->mover, fast(random));
  case 4:
    return tn_world_set_gravity(w, fast(random));
  case 5:
    return tn_joint_set_anchor(w, c->joint, far_off(random));
  case 6:
    return tn_joint_set_drive(w, c->joint, TN_ANGULAR_A, drive);
  case 7:
    return tn_soft_set_position(w, c->soft, 2, far_off(random));
  case 8:
    return tn_soft_set_velocity(w, c->soft, 2, fast(random));
  default:
    return tn_attachment_set_point(w, c->attachment, far_off(random));
  }
}

// Mass and moments of the default body are about 1 and 1/6.
static bool push_badly(const cast *c, int what, uint32_t *random)
{
  tn_world *w = c->world;
  tn_pos center = tn_body_center(w, c->body);
  tn_mass heavy = tn_mass_scaled_to(tn_body_mass(w, c->body), 1.0f);
  heavy.center = far_offset(random);
  tn_vec3 push = fast(random);
  int particle = 3;
  switch (what) {
  case 0:
    return tn_body_apply_force_to_center(w, c->body, fast(random));
  case 1:
    return tn_body_apply_force(w, c->body, fast(random), center);
  case 2:
    return tn_body_apply_force(w, c->body, tn_v3(1.0f, 1.0f, 1.0f), far_off(random));
  case 3:
    return tn_body_apply_torque(w, c->body, fast(random));
  case 4:
    return tn_body_apply_impulse(w, c->body, fast(random), center);
  case 5: // within the range of a velocity component, at a lever arm
    return tn_body_apply_impulse(w, c->body, tn_v3(0.5f * TN_MAX_RATE, 0.0f, 0.0f),
                                 tn_p3(0.0, 1e3, 0.0));
  case 6:
    return tn_body_apply_angular_impulse(w, c->body, fast(random));
  case 7:
    return tn_soft_apply_force(w, c->soft, 2, fast(random));
  case 8:
    return tn_soft_apply_forces(w, c->soft, &particle, &push, 1);
  default:
    return tn_body_set_mass(w, c->body, heavy);
  }
}

static void numbers_beyond_the_range_are_refused(void **state)
{
  (void)state;
  typedef bool bad_call(const cast *c, int what, uint32_t *random);
  static const struct {
    bad_call *call;
    int count;
  } calls[6] = {{make_bad_body, 6},  {make_bad_soft, 3}, {make_bad_joint, 2},
                {make_bad_shape, 2}, {move_badly, 10},   {push_badly, 10}};
  uint32_t random = 17;
  cast c = make_cast(TN_METHOD_TENON);
  test_run(c.world, DT, 5);
  uint64_t hash = tn_world_hash(c.world);
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 6; ++i) {
      for (int what = 0; what < calls[i].count; ++what) {
        if (calls[i].call(&c, what, &random)) {
          fail_msg("call %d %d was accepted", i, what);
        }
        assert_int_equal(test_messages.count, 1);
        test_forget_messages();
      }
    }
  }
  assert_true(tn_world_hash(c.world) == hash);
  tn_world_destroy(c.world);
}

// Forces and impulses add up.
static void sums_beyond_the_range_are_refused(void **state)
{
  (void)state;
  cast c = make_cast(TN_METHOD_TENON);
  tn_vec3 most = {0.6f * TN_MAX_RATE, 0.0f, 0.0f};
  assert_true(tn_body_apply_force_to_center(c.world, c.body, most));
  assert_false(tn_body_apply_force_to_center(c.world, c.body, most));
  assert_message("accelerate");
  assert_true(tn_body_apply_impulse(c.world, c.body, most, tn_body_center(c.world, c.body)));
  assert_false(tn_body_apply_impulse(c.world, c.body, most, tn_body_center(c.world, c.body)));
  assert_message("fast");
  assert_true(tn_body_velocity(c.world, c.body).x == most.x);
  tn_world_destroy(c.world);
}

// Queries of all accepted shapes return finite numbers.
static void queries_of_far_shapes_are_finite(void **state)
{
  (void)state;
  tn_query_filter filter = tn_default_query_filter();
  uint32_t random = 5;
  for (int i = 0; i < 400; ++i) {
    tn_world *world = test_world(4, TN_METHOD_TENON);
    tn_body_def def = test_body_def();
    tn_shape_def shape = tn_default_shape_def(TN_SHAPE_PLANE);
    static const tn_shape_kind kinds[5] = {TN_SHAPE_PLANE, TN_SHAPE_BOX, TN_SHAPE_SPHERE,
                                           TN_SHAPE_CAPSULE, TN_SHAPE_CYLINDER};
    shape = tn_default_shape_def(kinds[i % 5]);
    def.type = TN_BODY_KINEMATIC;
    tn_vec3 at = test_vector(&random, (float)TN_MAX_DISTANCE);
    def.position = tn_p3((double)at.x, (double)at.y, i % 2 ? TN_MAX_DISTANCE : (double)at.z);
    def.rotation = test_rotation(&random);
    tn_body_id id = tn_body_create(world, &def);
    assert_false(TN_IS_NULL(tn_shape_create(world, id, &shape)));
    tn_hit hits[3] = {tn_world_closest_point(world, tn_p3(0.0, 0.0, 0.0), 3e38f, filter),
                      tn_world_closest_point(world, def.position, 3e38f, filter),
                      tn_world_ray(world, tn_p3(0.0, 0.0, 0.0), tn_scale(2.0f, at), filter)};
    for (int k = 0; k < 3; ++k) {
      assert_true(!hits[k].hit || isfinite(hits[k].point.x + hits[k].point.y + hits[k].point.z +
                                           (double)hits[k].distance));
    }
    assert_true(hits[1].hit);
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// Churn: random calls with any accepted values

#define CHURN_BODIES 40
#define CHURN_JOINTS 20
#define CHURN_SOFTS 3

typedef struct churn {
  tn_world *world;
  uint32_t random;
  tn_body_id bodies[CHURN_BODIES];
  tn_joint_id joints[CHURN_JOINTS];
  tn_soft_id softs[CHURN_SOFTS];
  int wild; // extreme calls so far
} churn;

static float power(uint32_t *random, float lo, float hi)
{
  return powf(10.0f, test_between(random, lo, hi));
}

static tn_pos churn_place(uint32_t *random)
{
  tn_vec3 v = test_vector(random, 2.5f);
  return tn_p3((double)v.x, 3.0 + (double)v.y, (double)v.z);
}

static tn_body_id churn_body(churn *c)
{
  tn_body_def def = test_body_def();
  def.position = churn_place(&c->random);
  def.rotation = test_rotation(&c->random);
  def.mass = tn_mass_scaled_to(def.mass, power(&c->random, -2.0f, 1.0f));
  tn_body_id id = tn_body_create(c->world, &def);
  static const tn_shape_kind kinds[3] = {TN_SHAPE_BOX, TN_SHAPE_SPHERE, TN_SHAPE_CAPSULE};
  tn_shape_def shape = tn_default_shape_def(kinds[test_index(&c->random, 3)]);
  tn_shape_create(c->world, id, &shape);
  return id;
}

static tn_joint_id churn_joint(churn *c)
{
  tn_body_id a = c->bodies[test_index(&c->random, CHURN_BODIES)];
  tn_body_id b = c->bodies[test_index(&c->random, CHURN_BODIES)];
  if (a.index == b.index) {
    return (tn_joint_id){0};
  }
  static const tn_joint_kind kinds[4] = {TN_JOINT_BALL, TN_JOINT_HINGE, TN_JOINT_FIXED,
                                         TN_JOINT_DISTANCE};
  tn_joint_def def = test_joint_def(c->world, kinds[test_index(&c->random, 4)], a, b,
                                    tn_body_position(c->world, a), tn_v3(1.0f, 0.0f, 0.0f));
  return tn_joint_create(c->world, &def);
}

static tn_soft_id churn_soft(churn *c)
{
  tn_soft_def def = tn_default_soft_def();
  int cells[3] = {2, 2, 2}, kind = test_index(&c->random, 4);
  if (kind == 0) {
    tn_soft_mesh_cloth(&def, 5, 5, 2.0f, 2.0f);
  } else if (kind == 1) {
    tn_soft_mesh_rope(&def, 8, 2.0f);
  } else {
    tn_soft_mesh_box(&def, cells, tn_v3(0.5f, 0.5f, 0.5f), kind == 2);
    def.solid = kind == 2 && test_random(&c->random) < 0.5f ? TN_SOFT_NEO_HOOKEAN : def.solid;
  }
  def.position = churn_place(&c->random);
  def.youngs_modulus = 1e3f; // soft enough for few substeps
  def.tear_strain = test_random(&c->random) < 0.5f ? 0.5f : INFINITY;
  tn_soft_id id = tn_soft_create(c->world, &def);
  tn_soft_mesh_free(&def);
  return id;
}

static void churn_wild(churn *c)
{
  uint32_t *random = &c->random;
  tn_body_id body = c->bodies[test_index(random, CHURN_BODIES)];
  tn_soft_id soft = c->softs[test_index(random, CHURN_SOFTS)];
  int particle = test_index(random, 8);
  tn_pos center = tn_body_center(c->world, body);
  tn_vec3 push = test_vector(random, power(random, 0.0f, 11.0f));
  tn_vec3 far = test_vector(random, power(random, 0.0f, 8.9f));
  tn_pos at = tn_p3((double)far.x, (double)far.y, (double)far.z);
  c->wild += 1;
  switch (test_index(random, 7)) {
  case 0:
    tn_body_apply_impulse(c->world, body, push, center);
    break;
  case 1:
    tn_body_apply_torque(c->world, body, push);
    break;
  case 2:
    tn_body_set_angular_velocity(c->world, body, push);
    break;
  case 3:
    tn_body_set_transform(c->world, body, (tn_transform){at, test_rotation(random)});
    break;
  case 4:
    tn_soft_set_position(c->world, soft, particle, at);
    break;
  case 5:
    tn_soft_set_velocity(c->world, soft, particle, push);
    break;
  default: // for one step: see churn_step
    drive_wild(c->world, body, test_random(random) < 0.5f);
    break;
  }
  test_forget_messages();
}

static void churn_change(churn *c)
{
  int body = test_index(&c->random, CHURN_BODIES), joint = test_index(&c->random, CHURN_JOINTS);
  int soft = test_index(&c->random, CHURN_SOFTS);
  switch (test_index(&c->random, 4)) {
  case 0:
    tn_body_destroy(c->world, c->bodies[body]);
    c->bodies[body] = churn_body(c);
    break;
  case 1:
    tn_soft_destroy(c->world, c->softs[soft]);
    c->softs[soft] = churn_soft(c);
    break;
  default:
    if (tn_joint_is_valid(c->world, c->joints[joint])) {
      tn_joint_destroy(c->world, c->joints[joint]);
    }
    c->joints[joint] = churn_joint(c);
    break;
  }
  test_forget_messages();
}

static churn churn_make(uint32_t seed, tn_method method, int lanes, int threads)
{
  churn c = {.world = test_world_with(4, method, lanes, threads), .random = seed};
  make_ground(c.world);
  for (int i = 0; i < CHURN_BODIES; ++i) {
    c.bodies[i] = churn_body(&c);
  }
  for (int i = 0; i < CHURN_JOINTS; ++i) {
    c.joints[i] = churn_joint(&c);
  }
  for (int i = 0; i < CHURN_SOFTS; ++i) {
    c.softs[i] = churn_soft(&c);
  }
  test_forget_messages();
  return c;
}

static bool softs_are_finite(const churn *c)
{
  bool finite = true;
  for (int i = 0; i < CHURN_SOFTS; ++i) {
    static tn_pos p[256];
    static tn_vec3 v[256];
    int count = tn_soft_positions(c->world, c->softs[i], p, 256);
    tn_soft_velocities(c->world, c->softs[i], v, 256);
    for (int k = 0; k < count; ++k) {
      finite = finite && isfinite(p[k].x + p[k].y + p[k].z) &&
               isfinite((double)v[k].x + (double)v[k].y + (double)v[k].z);
    }
  }
  return finite;
}

// Destroys all joints that drive_wild has made.
static void stop_driving(const churn *c)
{
  tn_joint_id ids[2 * CHURN_JOINTS + CHURN_BODIES];
  int count = tn_world_joints(c->world, ids, (int)(sizeof ids / sizeof *ids));
  for (int i = 0; i < count; ++i) {
    if (tn_joint_get_def(c->world, ids[i]).kind == TN_JOINT_GENERIC) {
      tn_joint_destroy(c->world, ids[i]);
    }
  }
}

static int churn_step(churn *c, bool wild)
{
  churn_change(c);
  if (wild) {
    churn_wild(c);
  }
  uint32_t status = tn_world_step(c->world, DT);
  assert_int_equal(status & (TN_STEP_REJECTED | TN_STEP_OUT_OF_MEMORY), 0);
  int lost = test_messages.count;
  assert_true(lost == 0 || status & TN_STEP_NON_FINITE);
  test_forget_messages();
  assert_true(test_is_finite(c->world) && softs_are_finite(c));
  stop_driving(c);
  return lost;
}

// The thread sanitizer needs no more than the steps that are shared.
#if defined(TEST_TSAN)
#define CHURN_STEPS 10
#elif defined(TEST_ASAN)
#define CHURN_STEPS 30
#else
#define CHURN_STEPS 90
#endif

// An extreme call may reset its object and what that touches or is joined to. An overflow that
// spreads may reset the whole heap, which then stays reset.
static void churn_stays_finite(void **state)
{
  (void)state;
  test_skip_under_tsan();
  int lost = 0, wild = 0, most = 0;
  for (int i = 0; i < test_cases(6, 60) * TEST_METHODS; ++i) {
    churn c = churn_make((uint32_t)i + 1u, test_methods[i % TEST_METHODS], 0, 1);
    for (int k = 0; k < CHURN_STEPS; ++k) {
      int now = churn_step(&c, k % 3 == 0);
      lost += now;
      most = now > most ? now : most;
    }
    wild += c.wild;
    for (int k = 0; k < CHURN_BODIES; ++k) { // everything that may be too fast or too large
      assert_true(tn_body_destroy(c.world, c.bodies[k]));
    }
    for (int k = 0; k < CHURN_SOFTS; ++k) {
      assert_true(tn_soft_destroy(c.world, c.softs[k]));
    }
    test_forget_messages();
    tn_body_id ids[STACK];
    make_stack(c.world, ids, 0.0);
    test_run(c.world, DT, 60);
    assert_close(tn_body_position(c.world, ids[STACK - 1]).y, STACK - 0.5, 0.02);
    tn_world_destroy(c.world);
  }
  print_message("%d wild calls, %d lost, at most %d in a step\n", wild, lost, most);
  assert_true(lost > 0);
}

// Threads synchronize many times per step, so few steps are enough for them.
static void lanes_and_threads_change_no_bits_of_churn(void **state)
{
  (void)state;
  int lanes[4], widths = test_lanes(lanes);
  for (int i = 0; i < test_cases(6, 60); ++i) {
    static uint64_t hashes[CHURN_STEPS];
    tn_method method = test_methods[i % TEST_METHODS];
    for (int way = 0; way <= widths; ++way) {
      bool shared = way == widths;
      int threads = shared ? 2 : 1, steps = shared ? 10 : CHURN_STEPS;
      int width = lanes[shared ? 0 : way];
      churn c = churn_make((uint32_t)i + 1u, method, width, threads);
      for (int k = 0; k < steps; ++k) {
        churn_step(&c, k % 3 == 0);
        uint64_t hash = tn_world_hash(c.world);
        if (way > 0 && hash != hashes[k]) {
          fail_msg("seed %d, step %d: %d lanes and %d threads differ", i, k, width, threads);
        }
        hashes[k] = hash;
      }
      tn_world_destroy(c.world);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_of_joints_stay_finite),
      cmocka_unit_test(a_body_out_of_bounds_is_stopped),
      cmocka_unit_test(joints_of_a_body_out_of_bounds_recover),
      cmocka_unit_test(the_rest_of_a_stack_is_unaffected),
      cmocka_unit_test(a_lost_body_is_reported_once),
      cmocka_unit_test(contacts_of_a_lost_body_with_a_kinematic_one_rest),
      cmocka_unit_test(recovery_survives_failed_allocations),
      cmocka_unit_test(bodies_that_leave_the_range_are_stopped_there),
      cmocka_unit_test(numbers_beyond_the_range_are_refused),
      cmocka_unit_test(sums_beyond_the_range_are_refused),
      cmocka_unit_test(queries_of_far_shapes_are_finite),
      cmocka_unit_test(churn_stays_finite),
      cmocka_unit_test(lanes_and_threads_change_no_bits_of_churn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
