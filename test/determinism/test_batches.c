// Batches: mechanisms of equal topology are solved side by side, one in each lane. Each must move
// as it would alone, bit for bit, whatever happens to the others.
#include "data/world.h"
#include "solver/solver.h"
#include "support.h"

#include <string.h>

static const float dt = 1.0f / 60.0f;

#define FIGURES 13 // three batches and one figure left over
#define PARTS 6
#define JOINTS 6
#if defined(TEST_TSAN) || defined(TEST_ASAN)
#define STEPS 90 // after all disturbances, and after all figures have landed
#else
#define STEPS 150
#endif

typedef struct figure {
  tn_body_id part[PARTS];
  tn_joint_id joint[JOINTS];
  int parts, joints;
} figure;

static tn_body_id add_part(tn_world *world, tn_pos at, tn_vec3 half, int number, uint32_t *random)
{
  tn_body_def def = test_body_def();
  def.position = at;
  def.velocity = test_vector(random, 1.0f);
  def.angular_velocity = test_vector(random, 4.0f);
  tn_body_id id = tn_body_create(world, &def);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = half;
  box.filter.group = -1 - number;
  assert_false(TN_IS_NULL(tn_shape_create(world, id, &box)));
  return id;
}

static void add_joint(tn_world *world, figure *f, tn_joint_def def)
{
  f->joint[f->joints++] = tn_joint_create(world, &def);
  assert_false(TN_IS_NULL(f->joint[f->joints - 1]));
}

// A trunk with two arms of two parts each, with limits and friction, and a head on a stiff spring;
// `looped` joins the hands. Figures differ only in their velocities and heights.
static figure add_figure(tn_world *world, int number, bool looped)
{
  figure f = {.parts = 0};
  uint32_t random = 77u + 13u * (uint32_t)number;
  double x = 20.0 * number, y = 1.2 + 0.15 * number;
  f.part[0] = add_part(world, tn_p3(x, y, 0.0), tn_v3(0.2f, 0.3f, 0.1f), number, &random);
  f.part[1] = add_part(world, tn_p3(x, y + 0.45, 0.0), tn_v3(0.1f, 0.1f, 0.1f), number, &random);
  for (int side = 0; side < 2; ++side) {
    double s = side ? -1.0 : 1.0;
    f.part[2 + side] = add_part(world, tn_p3(x + 0.4 * s, y + 0.2, 0.0), tn_v3(0.15f, 0.05f, 0.05f),
                                number, &random);
    f.part[4 + side] = add_part(world, tn_p3(x + 0.7 * s, y + 0.2, 0.0), tn_v3(0.12f, 0.04f, 0.04f),
                                number, &random);
  }
  f.parts = PARTS;
  const tn_vec3 up = {0.0f, 1.0f, 0.0f}, front = {0.0f, 0.0f, 1.0f};
  tn_joint_def neck =
      test_joint_def(world, TN_JOINT_FIXED, f.part[0], f.part[1], tn_p3(x, y + 0.3, 0.0), up);
  neck.compliance = 1e-6f;
  neck.angular_compliance = 1e-4f;
  add_joint(world, &f, neck);
  for (int side = 0; side < 2; ++side) {
    double s = side ? -1.0 : 1.0;
    tn_joint_def shoulder = test_joint_def(world, TN_JOINT_BALL, f.part[0], f.part[2 + side],
                                           tn_p3(x + 0.22 * s, y + 0.2, 0.0), up);
    shoulder.swing = 0.6f;
    shoulder.angular[0] = (tn_range){-0.4f, 0.4f};
    shoulder.axis[TN_ANGULAR_A].friction = 0.2f;
    add_joint(world, &f, shoulder);
    tn_joint_def elbow = test_joint_def(world, TN_JOINT_HINGE, f.part[2 + side], f.part[4 + side],
                                        tn_p3(x + 0.55 * s, y + 0.2, 0.0), front);
    elbow.angular[0] = (tn_range){-0.5f, 0.7f};
    elbow.axis[TN_ANGULAR_A].friction = 0.05f;
    add_joint(world, &f, elbow);
  }
  if (looped) {
    tn_joint_def rope = tn_default_joint_def(TN_JOINT_DISTANCE);
    rope.body_a = f.part[4];
    rope.body_b = f.part[5];
    rope.linear[0] = (tn_range){0.0f, 1.3f};
    assert_true(tn_joint_def_between(world, &rope, tn_p3(x + 0.8, y + 0.2, 0.0),
                                     tn_p3(x - 0.8, y + 0.2, 0.0)));
    rope.linear[0] = (tn_range){0.0f, 1.3f};
    add_joint(world, &f, rope);
  }
  return f;
}

static tn_world *make_world(int lanes, int threads)
{
  return test_world_with(5, TN_METHOD_TENON, lanes, threads);
}

static tn_world *make_ground(int lanes, int threads)
{
  tn_world *world = make_world(lanes, threads);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  assert_false(TN_IS_NULL(tn_shape_create(world, test_no_body, &plane)));
  return world;
}

// Changes that batches must handle, each at another step to another figure.
static void disturb(tn_world *world, figure *f, int number, int step)
{
  tn_joint_def def = tn_joint_get_def(world, f->joint[2]);
  switch (100 * number + step) {
  case 10: // a smaller range of an elbow
    def.angular[0] = (tn_range){-0.1f, 0.1f};
    assert_true(tn_joint_set_def(world, f->joint[2], &def));
    break;
  case 112: // the same number of rows, of another kind
    def.axis[TN_ANGULAR_A].friction = 0.0f;
    def.axis[TN_ANGULAR_A].damping = 0.02f;
    assert_true(tn_joint_set_def(world, f->joint[2], &def));
    break;
  case 215:
  case 225: // disabled, and enabled again
    def.enabled = !def.enabled;
    assert_true(tn_joint_set_def(world, f->joint[2], &def));
    break;
  case 320: // more rows than before
    def.axis[TN_ANGULAR_A].drive = tn_motor(3.0f, INFINITY, 2.0f);
    assert_true(tn_joint_set_def(world, f->joint[2], &def));
    break;
  case 430:
    assert_true(tn_joint_destroy(world, f->joint[--f->joints]));
    break;
  case 535:
    assert_true(tn_body_destroy(world, f->part[5]));
    f->parts = 5;
    f->joints = 4;
    break;
  case 640: // a new joint, to the world
    f->joint[0] = test_joint(world, TN_JOINT_BALL, test_no_body, f->part[1],
                             tn_body_position(world, f->part[1]), tn_v3(0.0f, 1.0f, 0.0f));
    break;
  case 745:
  case 765: // asleep, and awake again
    assert_true(tn_body_set_awake(world, f->part[0], step == 65));
    break;
  case 850: // an error too large to close by velocities
    assert_true(tn_body_set_velocity(world, f->part[4], tn_v3(0.0f, 900.0f, 0.0f)));
    break;
  default:
    break;
  }
}

static void assert_same_figure(const tn_world *a, const figure *in_a, const tn_world *b,
                               const figure *in_b, int number, int step)
{
  assert_int_equal(in_a->parts, in_b->parts);
  for (int i = 0; i < in_a->parts; ++i) {
    tn_pos pa = tn_body_position(a, in_a->part[i]), pb = tn_body_position(b, in_b->part[i]);
    tn_quat qa = tn_body_rotation(a, in_a->part[i]), qb = tn_body_rotation(b, in_b->part[i]);
    tn_vec3 va = tn_body_velocity(a, in_a->part[i]), vb = tn_body_velocity(b, in_b->part[i]);
    // NOLINTBEGIN(bugprone-suspicious-memory-comparison): bits are what is compared
    if (memcmp(&pa, &pb, sizeof pa) != 0 || memcmp(&qa, &qb, sizeof qa) != 0 ||
        memcmp(&va, &vb, sizeof va) != 0) {
      // NOLINTEND(bugprone-suspicious-memory-comparison)
      fail_msg("figure %d, part %d after step %d: %.17g %.17g %.17g is not %.17g %.17g %.17g",
               number, i, step, pa.x, pa.y, pa.z, pb.x, pb.y, pb.z);
    }
  }
}

// Compares figures in one world with each alone in its own; in flight, since the number of contact
// iterations of a world depends on all its contacts.
static void run_beside_alone(int lanes, bool looped)
{
  tn_world *together = make_world(lanes, 1), *alone[FIGURES];
  figure among[FIGURES], own[FIGURES];
  int most = 0, least = FIGURES;
  for (int i = 0; i < FIGURES; ++i) {
    alone[i] = make_world(lanes, 1);
    among[i] = add_figure(together, i, looped);
    own[i] = add_figure(alone[i], i, looped);
  }
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < FIGURES; ++i) {
      disturb(together, &among[i], i, step);
      disturb(alone[i], &own[i], i, step);
      assert_int_equal(tn_world_step(alone[i], dt), TN_STEP_OK);
    }
    assert_int_equal(tn_world_step(together, dt), TN_STEP_OK);
    int batches = together->solver->mechanisms.batch_count;
    most = batches > most ? batches : most;
    least = batches < least ? batches : least;
    for (int i = 0; i < FIGURES; ++i) {
      assert_same_figure(together, &among[i], alone[i], &own[i], i, step);
    }
  }
  assert_int_equal(most, FIGURES / BATCH_WIDTH); // otherwise batches were not tested
  assert_in_range(least, 1, most);
  for (int i = 0; i < FIGURES; ++i) {
    tn_world_destroy(alone[i]);
  }
  tn_world_destroy(together);
}

static void members_of_a_batch_move_as_alone(void **state)
{
  (void)state;
  test_skip_under_tsan();
  int lanes[4];
  int widths = test_lanes(lanes);
  for (int i = 0; i < widths; ++i) {
    run_beside_alone(lanes[i], false);
  }
}

static void loops_in_a_batch_move_as_alone(void **state)
{
  (void)state;
  test_skip_under_tsan();
  int lanes[4];
  int widths = test_lanes(lanes);
  run_beside_alone(lanes[widths - 1], true);
}

// On the ground. With less than one batch per thread no batches are formed.
static void run_on(int lanes, int threads, bool batches, uint64_t *hashes, bool first)
{
  tn_world *world = make_ground(lanes, threads);
  enum { COUNT = 36 };
  figure f[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    f[i] = add_figure(world, i, i % 2);
  }
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < COUNT; ++i) {
      disturb(world, &f[i], i, step);
    }
    assert_int_equal(tn_world_step(world, dt), TN_STEP_OK);
    assert_int_equal(world->solver->mechanisms.batch_count > 0, batches);
    uint64_t hash = tn_world_hash(world);
    if (!first && hash != hashes[step]) {
      fail_msg("%d lanes, %d threads: step %d is another one", lanes, threads, step);
    }
    hashes[step] = hash;
  }
  tn_world_destroy(world);
}

static void batches_change_no_bits(void **state)
{
  (void)state;
  int lanes[4];
  int widths = test_lanes(lanes);
  uint64_t hashes[STEPS];
  run_on(lanes[widths - 1], 10, false, hashes, true);
  run_on(lanes[widths - 1], 4, true, hashes, false);
#if defined(TEST_TSAN)
  run_on(lanes[widths - 1], 2, true, hashes, false);
#else
  run_on(lanes[widths - 1], 1, true, hashes, false);
  for (int i = 0; i < widths; ++i) {
    run_on(lanes[i], 2, true, hashes, false);
  }
#endif
}

// Active rows of the members change between substeps: the matrix holds the union of all members'
// rows, and its layout changes only with it.
static void active_rows_of_a_batch_change(void **state)
{
  (void)state;
  test_skip_under_tsan();
  tn_world *world = make_world(0, 1);
  for (int i = 0; i < 2 * BATCH_WIDTH; ++i) {
    add_figure(world, i, false);
  }
  test_run(world, dt, 1);
  const mechanism_set *set = &world->solver->mechanisms;
  assert_int_equal(set->batch_count, 2);
  int changes = 0, rows = 0;
  for (int step = 0; step < 60; ++step) {
    test_run(world, dt, 1);
    int now = 0;
    for (int32_t k = 0; k < set->batch_node_count; ++k) {
      assert_in_range(set->batch_nodes[k].rows, 0, set->batch_nodes[k].capacity);
      now += set->batch_nodes[k].rows;
    }
    changes += now != rows;
    rows = now;
  }
  assert_in_range(changes, 2, 60);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_of_a_batch_move_as_alone),
      cmocka_unit_test(loops_in_a_batch_move_as_alone),
      cmocka_unit_test(batches_change_no_bits),
      cmocka_unit_test(active_rows_of_a_batch_change),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
