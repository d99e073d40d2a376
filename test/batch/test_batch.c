// Batches: a world has the bits that it has alone, arrays say what single calls say, and what goes
// wrong in one world stays there.
#include "support.h"

#include "scenes.h"

#include <tenon/batch.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORLDS 5

static const float dt = 1.0f / 60.0f;

static tn_batch *make_batch(const tn_world *world, int count, int threads)
{
  tn_batch_def def = tn_default_batch_def();
  def.world = world;
  def.count = count;
  def.threads = threads;
  def.log = test_collect;
  def.log_context = &test_messages;
  tn_batch *batch = tn_batch_create(&def);
  assert_non_null(batch);
  return batch;
}

static scene_run *make_scene(const char *name)
{
  const scene *which = scene_find(name);
  assert_non_null(which);
  scene_settings settings = scene_defaults(which);
  tn_world_def def = test_world_def(4, TN_METHOD_TENON);
  scene_run *run = scene_create(which, &settings, &def);
  assert_non_null(run);
  return run;
}

static tn_vec3 gravity_of(int world)
{
  return tn_v3(0.1f * (float)world, -10.0f + (float)world, 0.0f);
}

static void set_gravity(tn_batch *batch)
{
  double gravity[WORLDS][3];
  for (int i = 0; i < WORLDS; ++i) {
    tn_vec3 g = gravity_of(i);
    gravity[i][0] = (double)g.x, gravity[i][1] = (double)g.y, gravity[i][2] = (double)g.z;
  }
  tn_batch_rows rows = {.data = gravity, .type = TN_DOUBLE};
  assert_true(tn_batch_write(batch, TN_BATCH_GRAVITY, NULL, rows));
}

// Joints, contacts, couplings, meshes of the scenes, soft bodies and sleep.
static const char *const scenes[] = {
    "chain",         "dominoes",      "ragdoll",    "stack",  "robot_arm", "soft_cube_spin",
    "tori_on_cloth", "tendon_finger", "marble_run", "bridge", "rope",      "bounce"};

static void a_world_has_the_bits_that_it_has_alone(void **state)
{
  (void)state;
  const int threads[2] = {1, 3}, steps = test_cases(20, 200);
  for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
    uint64_t alone[WORLDS], together[WORLDS];
    for (int i = 0; i < WORLDS; ++i) {
      scene_run *run = make_scene(scenes[k]);
      tn_world_set_gravity(run->world, gravity_of(i));
      for (int n = 0; n < steps; ++n) {
        tn_world_step(run->world, dt);
      }
      alone[i] = tn_world_hash(run->world);
      scene_destroy(run);
    }
    scene_run *run = make_scene(scenes[k]);
    for (int i = 0; i < 2; ++i) {
      tn_batch *batch = make_batch(run->world, WORLDS, threads[i]);
      set_gravity(batch);
      tn_batch_step(batch, dt, steps / 2);
      tn_batch_step(batch, dt, steps - steps / 2);
      assert_true(tn_batch_hashes(batch, together));
      for (int n = 0; n < WORLDS; ++n) {
        if (alone[n] != together[n]) {
          fail_msg("%s: world %d differs on %d threads", scenes[k], n, threads[i]);
        }
      }
      tn_batch_destroy(batch);
    }
    scene_destroy(run);
  }
}

// ---------------------------------------------------------------------------------------------
// Reset

static void a_reset_world_goes_the_same_way(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
    scene_run *run = make_scene(scenes[k]);
    tn_batch *batch = make_batch(run->world, WORLDS, 2);
    set_gravity(batch);
    tn_batch_step(batch, dt, 10);
    assert_true(tn_batch_keep(batch, NULL));
    uint64_t start[WORLDS], first[WORLDS], again[WORLDS];
    tn_batch_hashes(batch, start);
    tn_batch_step(batch, dt, 15);
    tn_batch_hashes(batch, first);
    const uint8_t mask[WORLDS] = {1, 0, 1, 1, 0};
    assert_true(tn_batch_reset(batch, mask));
    tn_batch_hashes(batch, again);
    for (int i = 0; i < WORLDS; ++i) {
      assert_true(again[i] == (mask[i] ? start[i] : first[i]));
    }
    tn_batch_step(batch, dt, 15);
    tn_batch_hashes(batch, again);
    for (int i = 0; i < WORLDS; ++i) {
      if (mask[i] && again[i] != first[i]) {
        fail_msg("%s: world %d goes another way after a reset", scenes[k], i);
      }
    }
    tn_batch_destroy(batch);
    scene_destroy(run);
  }
}

static void a_state_spreads_to_all(void **state)
{
  (void)state;
  scene_run *run = make_scene("ragdoll");
  tn_batch *batch = make_batch(run->world, WORLDS, 2);
  double velocity[WORLDS];
  memset(velocity, 0, sizeof velocity);
  tn_world_step(tn_batch_world(batch, 3), dt);
  assert_true(tn_batch_spread(batch, 3));
  uint64_t hashes[WORLDS];
  tn_batch_step(batch, dt, 10);
  tn_batch_hashes(batch, hashes);
  for (int i = 1; i < WORLDS; ++i) {
    assert_true(hashes[i] == hashes[0]);
  }
  test_forget_messages();
  assert_false(tn_batch_spread(batch, WORLDS));
  assert_message("no world");
  tn_batch_destroy(batch);
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Rows

static tn_world *arm_world(void)
{
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  ground.position = tn_v3(0.0f, -3.0f, 0.0f);
  tn_shape_create(world, test_no_body, &ground);
  tn_body_id last = test_no_body;
  for (int i = 0; i < 2; ++i) {
    tn_body_id body = test_box(world, tn_p3(0.0, -0.5 - i, 0.0), 1.0f, tn_v3(0.1f, 0.5f, 0.1f));
    tn_joint_def def = test_joint_def(world, TN_JOINT_HINGE, last, body, tn_p3(0.0, -i, 0.0),
                                      tn_v3(0.0f, 0.0f, 1.0f));
    tn_joint_create(world, &def);
    last = body;
  }
  tn_body_id ball = test_box(world, tn_p3(2.0, -2.5, 0.0), 2.0f, tn_v3(0.5f, 0.5f, 0.5f));
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  tn_shape_create(world, ball, &box);
  return world;
}

// Floats with gaps between rows, as a part of larger records.
static void rows_are_what_single_calls_say(void **state)
{
  (void)state;
  tn_world *world = arm_world();
  tn_batch *batch = make_batch(world, 3, 2);
  struct {
    float pose[7], rest[3];
  } poses[3][4];
  memset(poses, 0, sizeof poses);
  tn_batch_shape shape = tn_batch_shape_of(batch, TN_BATCH_POSES);
  assert_true(shape.worlds == 3 && shape.items == 3 && shape.numbers == 7);
  tn_batch_step(batch, dt, 5);
  tn_batch_rows rows = {poses, TN_FLOAT, sizeof poses[0], sizeof poses[0][0], false};
  assert_true(tn_batch_read(batch, TN_BATCH_POSES, NULL, rows));
  for (int w = 0; w < 3; ++w) {
    tn_body_id ids[3];
    tn_world *one = tn_batch_world(batch, w);
    assert_int_equal(tn_world_bodies(one, ids, 3), 3);
    assert_int_equal(ids[0].world, tn_batch_world_key(batch, w));
    for (int i = 0; i < 3; ++i) {
      tn_pos at = tn_body_position(one, ids[i]);
      assert_true(poses[w][i].pose[1] == (float)at.y && poses[w][i].rest[0] == 0.0f);
    }
    assert_true(poses[w][3].pose[6] == 0.0f);
  }
  const uint8_t mask[3] = {0, 1, 0};
  poses[1][2].pose[0] = 7.0f;
  poses[2][2].pose[0] = 9.0f;
  assert_true(tn_batch_write(batch, TN_BATCH_POSES, mask, rows));
  tn_body_id ids[3];
  tn_world_bodies(tn_batch_world(batch, 1), ids, 3);
  assert_true(tn_body_position(tn_batch_world(batch, 1), ids[2]).x == 7.0);
  tn_world_bodies(tn_batch_world(batch, 2), ids, 3);
  assert_close(tn_body_position(tn_batch_world(batch, 2), ids[2]).x, 2.0, 1e-6);
  tn_batch_destroy(batch);
  tn_world_destroy(world);
}

// The box on the plane carries its weight; masses differ from world to world.
static void contact_forces_are_weights(void **state)
{
  (void)state;
  tn_world *world = arm_world();
  tn_batch *batch = make_batch(world, 3, 2);
  double mass[3][3], force[3][3][3];
  tn_batch_rows masses = {.data = mass, .type = TN_DOUBLE};
  tn_batch_rows forces = {.data = force, .type = TN_DOUBLE};
  assert_true(tn_batch_read(batch, TN_BATCH_MASSES, NULL, masses));
  for (int w = 0; w < 3; ++w) {
    mass[w][2] = 1.0 + 3.0 * w;
  }
  assert_true(tn_batch_write(batch, TN_BATCH_MASSES, NULL, masses));
  tn_batch_step(batch, dt, 120);
  assert_true(tn_batch_read(batch, TN_BATCH_CONTACT_FORCES, NULL, forces));
  for (int w = 0; w < 3; ++w) {
    assert_close(force[w][2][1] / (10.0 * mass[w][2]), 1.0, 1e-3);
    assert_close(force[w][0][1], 0.0, 0.0);
  }
  tn_batch_destroy(batch);
  tn_world_destroy(world);
}

// A ball that falls through a box without mass counts from touch to touch: while its centre is
// nearer than the sum of their half heights.
static void sensors_count_what_is_inside(void **state)
{
  (void)state;
  enum { COUNT = 4 };
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_def still = tn_default_body_def();
  still.type = TN_BODY_STATIC;
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.sensor = true;
  box.position = tn_v3(0.0f, 1.0f, 0.0f);
  tn_shape_create(world, tn_body_create(world, &still), &box);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.radius = 0.25f;
  tn_body_id id = test_box(world, tn_p3(0.1, 4.0, 0.0), 1.0f, tn_v3(0.25f, 0.25f, 0.25f));
  tn_shape_create(world, id, &ball);
  tn_batch *batch = make_batch(world, COUNT, 2);
  double gravity[COUNT][3] = {{0.0}}, pose[COUNT][2][7], inside[COUNT][2];
  for (int i = 0; i < COUNT; ++i) {
    gravity[i][1] = -4.0 - 3.0 * i;
  }
  tn_batch_rows rows = {.data = gravity, .type = TN_DOUBLE};
  assert_true(tn_batch_write(batch, TN_BATCH_GRAVITY, NULL, rows));
  int counts[2] = {0, 0};
  for (int step = 0; step < 120; ++step) {
    tn_batch_step(batch, dt, 1);
    rows.data = pose;
    assert_true(tn_batch_read(batch, TN_BATCH_POSES, NULL, rows));
    rows.data = inside;
    assert_true(tn_batch_read(batch, TN_BATCH_SENSORS, NULL, rows));
    for (int i = 0; i < COUNT; ++i) {
      double apart = fabs(pose[i][1][1] - 1.0) - 0.75;
      assert_true(inside[i][1] == 0.0);
      assert_true(fabs(apart) < 1e-4 || inside[i][0] == (apart < 0.0 ? 1.0 : 0.0));
      counts[apart < 0.0] += 1;
    }
  }
  assert_true(counts[0] > 100 && counts[1] > 40);
  test_forget_messages();
  assert_false(tn_batch_write(batch, TN_BATCH_SENSORS, NULL, rows));
  assert_message("only be read");
  tn_batch_destroy(batch);
  tn_world_destroy(world);
}

// Worlds share a height field, which each has at a height of its own; balls come to rest on it.
static void terrain_has_an_offset_in_each_world(void **state)
{
  (void)state;
  enum { COUNT = 5 };
  const float heights[9] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_body_def still = tn_default_body_def();
  still.type = TN_BODY_STATIC;
  tn_shape_def field = tn_default_shape_def(TN_SHAPE_HEIGHT_FIELD);
  field.geometry = tn_height_field_create(world, heights, 3, 3, 4.0f, 4.0f);
  tn_shape_create(world, tn_body_create(world, &still), &field);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.radius = 0.25f;
  tn_body_id id = test_box(world, tn_p3(0.3, 3.0, 0.2), 1.0f, tn_v3(0.25f, 0.25f, 0.25f));
  tn_shape_create(world, id, &ball);
  tn_batch *batch = make_batch(world, COUNT, 2);
  double pose[COUNT][2][7];
  tn_batch_rows rows = {.data = pose, .type = TN_DOUBLE};
  assert_true(tn_batch_read(batch, TN_BATCH_POSES, NULL, rows));
  for (int i = 0; i < COUNT; ++i) {
    pose[i][0][1] = 0.25 * i;
  }
  assert_true(tn_batch_write(batch, TN_BATCH_POSES, NULL, rows));
  assert_true(tn_batch_keep(batch, NULL));
  for (int round = 0; round < 2; ++round) {
    assert_int_equal(tn_batch_step(batch, dt, 120), TN_STEP_OK);
    assert_true(tn_batch_read(batch, TN_BATCH_POSES, NULL, rows));
    for (int i = 0; i < COUNT; ++i) {
      assert_close(pose[i][1][1], 0.5 + 0.25 + 0.25 * i, 1e-4);
    }
    assert_true(tn_batch_reset(batch, NULL));
  }
  tn_batch_destroy(batch);
  tn_world_destroy(world);
}

// Every field that can be written reads back what was written.
static void fields_read_back(void **state)
{
  (void)state;
  tn_world *world = arm_world();
  tn_batch *batch = make_batch(world, 2, 2);
  const tn_batch_field fields[] = {TN_BATCH_GRAVITY, TN_BATCH_MASSES, TN_BATCH_FRICTIONS,
                                   TN_BATCH_GRAVITY_SCALES, TN_BATCH_RESTITUTIONS};
  for (size_t k = 0; k < sizeof fields / sizeof *fields; ++k) {
    double values[2 * 16], read[2 * 16];
    tn_batch_shape shape = tn_batch_shape_of(batch, fields[k]);
    int count = shape.worlds * shape.items * shape.numbers;
    assert_in_range(count, 1, 32);
    for (int i = 0; i < count; ++i) {
      values[i] = 0.125 * (1 + i % 7);
    }
    tn_batch_rows rows = {.data = values, .type = TN_DOUBLE};
    assert_true(tn_batch_write(batch, fields[k], NULL, rows));
    rows.data = read;
    assert_true(tn_batch_read(batch, fields[k], NULL, rows));
    assert_memory_equal(values, read, (size_t)count * sizeof *read);
  }
  tn_batch_destroy(batch);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Faults

static void faults_stay_in_their_world(void **state)
{
  (void)state;
  tn_world *world = arm_world();
  tn_batch *batch = make_batch(world, 4, 3), *whole = make_batch(world, 4, 3);
  tn_body_id ids[3];
  tn_world *bad = tn_batch_world(batch, 2);
  tn_world_bodies(bad, ids, 3);
  // It leaves the range of positions.
  tn_transform far = {tn_p3(1e9 - 1.0, 0.0, 0.0), tn_quat_identity()};
  assert_true(tn_body_set_transform(bad, ids[2], far));
  assert_true(tn_body_set_velocity(bad, ids[2], tn_v3(400.0f, 0.0f, 0.0f)));
  uint32_t all = tn_batch_step(batch, dt, 3);
  tn_batch_step(whole, dt, 3);
  assert_true(all & TN_STEP_NON_FINITE);
  uint64_t hashes[4], expected[4];
  tn_batch_hashes(batch, hashes);
  tn_batch_hashes(whole, expected);
  for (int i = 0; i < 4; ++i) {
    bool lost = tn_batch_status(batch)[i] & TN_STEP_NON_FINITE;
    assert_true(lost == (i == 2));
    assert_true((hashes[i] == expected[i]) == (i != 2));
  }
  assert_true(tn_batch_reset(batch, NULL));
  assert_int_equal(tn_batch_step(batch, dt, 1), TN_STEP_OK);
  tn_batch_destroy(batch);
  tn_batch_destroy(whole);
  tn_world_destroy(world);
}

static void bad_arguments_are_refused(void **state)
{
  (void)state;
  tn_world *world = arm_world();
  tn_batch_def def = tn_default_batch_def();
  def.log = test_collect;
  def.log_context = &test_messages;
  test_forget_messages();
  assert_null(tn_batch_create(&def));
  assert_message("no world");
  def.world = world;
  assert_null(tn_batch_create(&def));
  assert_message("count");
  def.count = 2;
  def.threads = 0;
  assert_null(tn_batch_create(&def));
  assert_message("threads");
  def.threads = 2;
  tn_batch *batch = tn_batch_create(&def);
  assert_non_null(batch);
  float data[64];
  tn_batch_rows rows = {data, TN_FLOAT, 4, 0, false};
  assert_false(tn_batch_read(batch, TN_BATCH_POSES, NULL, rows));
  assert_message("stride");
  rows = (tn_batch_rows){NULL, TN_FLOAT, 0, 0, false};
  assert_false(tn_batch_read(batch, TN_BATCH_POSES, NULL, rows));
  assert_message("null");
  rows.data = data;
  assert_false(tn_batch_write(batch, TN_BATCH_PARTICLES, NULL, rows));
  assert_message("only be read");
  assert_false(tn_batch_read(batch, TN_BATCH_FORCES, NULL, rows));
  assert_message("only be written");
  assert_int_equal(tn_batch_step(batch, dt, 0), TN_STEP_REJECTED);
  assert_message("repeat");
  assert_int_equal(tn_batch_step(NULL, dt, 1), TN_STEP_REJECTED);
  assert_int_equal(tn_batch_count(NULL), 0);
  assert_null(tn_batch_world(batch, 2));
  tn_batch_destroy(batch);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Memory

static void add_ground_plane(tn_world *world)
{
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, test_no_body, &ground);
}

static void make_chain(tn_world *world)
{
  tn_body_id last = test_no_body;
  for (int i = 0; i < 20; ++i) {
    tn_body_id body =
        test_box(world, tn_p3(0.2 * i + 0.1, 5.0, 0.0), 1.0f, tn_v3(0.1f, 0.03f, 0.03f));
    tn_joint_def ball = test_joint_def(world, TN_JOINT_BALL, last, body, tn_p3(0.2 * i, 5.0, 0.0),
                                       tn_v3(1.0f, 0.0f, 0.0f));
    tn_joint_create(world, &ball);
    last = body;
  }
}

static void make_limbs(tn_world *world)
{
  add_ground_plane(world);
  tn_shape_def limb = tn_default_shape_def(TN_SHAPE_CAPSULE);
  limb.radius = 0.08f;
  limb.half_length = 0.1f;
  limb.filter.group = -1;
  tn_body_id last = test_no_body;
  for (int i = 0; i < 15; ++i) {
    tn_pos at = tn_p3(0.25 * (i % 5), 0.3 + 0.3 * (i / 5), 0.0);
    tn_body_id body = test_box(world, at, 2.0f, tn_v3(0.08f, 0.18f, 0.08f));
    tn_shape_create(world, body, &limb);
    if (i > 0) {
      tn_joint_def joint = test_joint_def(world, i % 3 ? TN_JOINT_HINGE : TN_JOINT_BALL, last, body,
                                          at, tn_v3(1.0f, 0.0f, 0.0f));
      joint.axis[TN_ANGULAR_A].friction = 0.5f;
      tn_joint_create(world, &joint);
    }
    last = body;
  }
}

// A pile falls in another way from another height, with 24 to 39 contacts at a time.
static void make_pile(tn_world *world)
{
  static int piles;
  double up = 0.001 * piles++;
  add_ground_plane(world);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(0.25f, 0.25f, 0.25f);
  for (int i = 0; i < 20; ++i) {
    tn_pos at = tn_p3(0.3 * (i % 3), up + 0.5 + 0.6 * i, 0.2 * (i % 2));
    tn_shape_create(world, test_box(world, at, 1.0f, box.half_extents), &box);
  }
}

static void make_cloth(tn_world *world)
{
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.radius = 0.4f;
  tn_shape_create(world, test_no_body, &ball);
  tn_soft_def cloth = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&cloth, 20, 20, 1.0f, 1.0f));
  cloth.position = tn_p3(0.0, 0.5, 0.0);
  cloth.radius = 0.01f;
  tn_soft_create(world, &cloth);
  tn_soft_mesh_free(&cloth);
}

static double memory_of_world(void (*make)(tn_world *world))
{
  tn_world *world = test_world(1, TN_METHOD_TENON);
  make(world);
  tn_batch *batch = make_batch(world, 2, 1);
  tn_batch_step(batch, dt, 120);
  double size = (double)tn_world_counters(tn_batch_world(batch, 1)).bytes / 1024.0;
  tn_batch_destroy(batch);
  tn_world_destroy(world);
  return size;
}

// KiB, mean over some worlds, a tenth above what was measured.
static void small_worlds_take_little_memory(void **state)
{
  (void)state;
  const struct {
    const char *name;
    void (*make)(tn_world *world);
    int worlds;
    double most;
  } kinds[] = {{"chain of 20", make_chain, 1, 220.0},
               {"15 limbs", make_limbs, 1, 270.0},
               {"pile of 20 boxes", make_pile, 16, 280.0},
               {"cloth of 400 particles", make_cloth, 1, 900.0}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    double sum = 0.0;
    for (int k = 0; k < kinds[i].worlds; ++k) {
      sum += memory_of_world(kinds[i].make);
    }
    double mean = sum / kinds[i].worlds;
    print_message("%s: %.0f KiB a world\n", kinds[i].name, mean);
    assert_true(mean < kinds[i].most);
  }
}

// The original may change or go: the copies have geometries of their batch.
static void copies_outlive_the_world_they_were_made_of(void **state)
{
  (void)state;
  scene_run *run = make_scene("marble_run"), *other = make_scene("marble_run");
  tn_batch *batch = make_batch(run->world, 2, 2);
  scene_destroy(run);
  tn_batch_step(batch, dt, 20);
  for (int i = 0; i < 20; ++i) {
    tn_world_step(other->world, dt);
  }
  uint64_t hashes[2];
  tn_batch_hashes(batch, hashes);
  assert_true(hashes[0] == tn_world_hash(other->world) && hashes[1] == hashes[0]);
  size_t shared = tn_world_counters(tn_batch_world(batch, 0)).bytes;
  assert_true(shared < tn_world_counters(other->world).bytes);
  tn_batch_destroy(batch);
  scene_destroy(other);
}

// ---------------------------------------------------------------------------------------------
// Random numbers and derivatives

// Known answers of the authors (Random123, kat_vectors), with the fourth word of the counter zero.
static void random_numbers_are_philox(void **state)
{
  (void)state;
  const uint32_t expected[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  uint32_t out[4];
  tn_batch_random(0, 0, 0, 0, out);
  assert_memory_equal(out, expected, sizeof out);
  double sum = 0.0, squares = 0.0;
  const int count = 40000;
  for (int i = 0; i < count; ++i) {
    double x = tn_batch_uniform(7, (uint32_t)(i % 200), (uint32_t)(i / 200), 0, -1.0, 1.0);
    assert_true(x >= -1.0 && x < 1.0);
    sum += x;
    squares += x * x;
  }
  assert_close(sum / count, 0.0, 4.0 * sqrt(1.0 / 3.0 / count));
  assert_close(squares / count, 1.0 / 3.0, 4.0 * sqrt(4.0 / 45.0 / count));
}

// A pendulum of two links at rest below its pivot: the exact linear system x'' = -M^-1 K x, of
// which a step of dt is exp(t [0 1; -M^-1 K 0]).
static void pendulum_matrices(tn_batch *batch, double a[4][4], double b[4][2])
{
  tn_body_id ids[3];
  tn_world_bodies(tn_batch_world(batch, 0), ids, 3);
  tn_articulation_def def = tn_default_articulation_def();
  def.roots = ids;
  def.root_count = 1;
  assert_true(tn_batch_articulate(batch, &def));
  assert_true(tn_batch_derivatives(batch, dt, 4, 0.0, NULL, a[0], b[0]));
}

static void multiply(double out[4][4], double x[4][4], double y[4][4])
{
  double r[4][4];
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 4; ++k) {
      r[i][k] = 0.0;
      for (int n = 0; n < 4; ++n) {
        r[i][k] += x[i][n] * y[n][k];
      }
    }
  }
  memcpy(out, r, sizeof r);
}

static void derivatives_are_those_of_the_linear_pendulum(void **state)
{
  (void)state;
  tn_world *world = test_world(32, TN_METHOD_TENON);
  tn_body_id last = test_no_body;
  for (int i = 0; i < 2; ++i) {
    tn_body_id body = test_box(world, tn_p3(0.0, -0.5 - i, 0.0), 1.0f, tn_v3(0.1f, 0.5f, 0.1f));
    test_joint(world, TN_JOINT_HINGE, last, body, tn_p3(0.0, -i, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    last = body;
  }
  double a[2][4][4], b[2][4][2];
  const int counts[2] = {1, 5}, threads[2] = {1, 3};
  for (int i = 0; i < 2; ++i) {
    tn_batch *batch = make_batch(world, counts[i], threads[i]);
    pendulum_matrices(batch, a[i], b[i]);
    tn_batch_destroy(batch);
  }
  assert_memory_equal(a[0], a[1], sizeof a[0]);
  assert_memory_equal(b[0], b[1], sizeof b[0]);
  // q1 of the first link, q2 relative to it; m = l = 1, g = 10, I about the centre (0.2^2 + 1)
  // / 12.
  double inertia = (0.04 + 1.0) / 12.0, g = 10.0, t = 4.0 / 60.0;
  double m22 = inertia + 0.25, m12 = inertia + 0.25 + 0.5,
         m11 = 2.0 * inertia + 0.25 + 1.0 + 1.0 + 0.25;
  double det = m11 * m22 - m12 * m12, k11 = g * 2.0, k12 = g * 0.5, k22 = g * 0.5;
  double inverse[2][2] = {{m22 / det, -m12 / det}, {-m12 / det, m11 / det}};
  double stiff[2][2] = {{k11, k12}, {k12, k22}}, rate[4][4] = {{0}}, power[4][4] = {{0}},
         e[4][4] = {{0}};
  double forced[4][4] = {{0}}; // integral of exp
  for (int i = 0; i < 2; ++i) {
    rate[i][2 + i] = 1.0;
    for (int k = 0; k < 2; ++k) {
      rate[2 + i][k] = -(inverse[i][0] * stiff[0][k] + inverse[i][1] * stiff[1][k]);
    }
  }
  double factor = 1.0;
  for (int i = 0; i < 4; ++i) {
    power[i][i] = 1.0;
  }
  for (int n = 0; n < 30; ++n) {
    for (int i = 0; i < 16; ++i) {
      e[i / 4][i % 4] += factor * power[i / 4][i % 4];
      forced[i / 4][i % 4] += factor * t / (n + 1) * power[i / 4][i % 4];
    }
    multiply(power, power, rate);
    factor *= t / (n + 1);
  }
  double worst = 0.0, worst_b = 0.0;
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 4; ++k) {
      worst = fmax(worst, fabs(a[0][i][k] - e[i][k]));
    }
    for (int k = 0; k < 2; ++k) {
      double exact = forced[i][2] * inverse[0][k] + forced[i][3] * inverse[1][k];
      worst_b = fmax(worst_b, fabs(b[0][i][k] - exact));
    }
  }
  print_message("largest error of A %.2e, of B %.2e\n", worst, worst_b);
  assert_below(worst, 2e-3);
  assert_below(worst_b, 2e-3);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_world_has_the_bits_that_it_has_alone),
      cmocka_unit_test(a_reset_world_goes_the_same_way),
      cmocka_unit_test(a_state_spreads_to_all),
      cmocka_unit_test(rows_are_what_single_calls_say),
      cmocka_unit_test(contact_forces_are_weights),
      cmocka_unit_test(sensors_count_what_is_inside),
      cmocka_unit_test(terrain_has_an_offset_in_each_world),
      cmocka_unit_test(fields_read_back),
      cmocka_unit_test(faults_stay_in_their_world),
      cmocka_unit_test(bad_arguments_are_refused),
      cmocka_unit_test(copies_outlive_the_world_they_were_made_of),
      cmocka_unit_test(small_worlds_take_little_memory),
      cmocka_unit_test(random_numbers_are_philox),
      cmocka_unit_test(derivatives_are_those_of_the_linear_pendulum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
