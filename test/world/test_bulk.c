// Calls for many bodies against the calls for one, on random worlds, and the list of what moved.
#include "contact_support.h"

enum { BODIES = 40, WORLDS = 12 };

typedef struct crowd {
  tn_world *world;
  tn_body_id ids[BODIES];
  int count; // alive
  uint32_t random;
} crowd;

// Bodies of all types with and without shapes, centres of mass beside their origins, some destroyed
// so that slots are missing, on a ground; after a few steps.
static crowd make_crowd(uint32_t seed)
{
  crowd c = {.world = contact_world(4), .random = seed};
  add_ground(c.world);
  for (int i = 0; i < BODIES; ++i) {
    tn_body_def def = tn_default_body_def();
    def.type = (tn_body_type)(i % 5 < 3 ? TN_BODY_DYNAMIC : i % 5 - 3);
    def.position = tn_p3(2.0 * (i % 6), 1.0 + (double)test_random(&c.random), 2.0 * (i / 6));
    def.rotation = test_rotation(&c.random);
    def.mass = tn_mass_at(tn_mass_box(tn_v3(0.2f, 0.3f, 0.4f), 1000.0f),
                          test_vector(&c.random, 0.1f), test_rotation(&c.random));
    def.velocity = def.type == TN_BODY_STATIC ? tn_v3(0, 0, 0) : test_vector(&c.random, 2.0f);
    tn_body_id id = add_body(c.world, &def);
    if (i % 3) {
      tn_shape_def shape = cube_shape(0.3f);
      add_shape(c.world, id, &shape);
    }
    if (i % 7 == 6) {
      assert_true(tn_body_destroy(c.world, id));
    }
  }
  test_run(c.world, DT, 5);
  c.count = tn_world_bodies(c.world, c.ids, BODIES);
  assert_in_range(c.count, BODIES / 2, BODIES - 1);
  return c;
}

// A selection in any order, with repetitions.
static int pick_bodies(crowd *c, tn_body_id *picked)
{
  int count = 1 + test_index(&c->random, BODIES);
  for (int i = 0; i < count; ++i) {
    picked[i] = c->ids[test_index(&c->random, c->count)];
  }
  return count;
}

static bool same_bits(const void *a, const void *b, size_t size)
{
  return memcmp(a, b, size) == 0;
}

// ---------------------------------------------------------------------------------------------
// Reading

typedef struct instance { // as a renderer might have it
  uint8_t before;
  float pose[TN_POSE_NUMBERS], velocity[TN_VELOCITY_NUMBERS], matrix[TN_MATRIX_NUMBERS];
  uint8_t awake, after;
} instance;

static void read_instances(const crowd *c, const tn_body_id *ids, int count, instance *out)
{
  const size_t stride = sizeof *out;
  memset(out, 0x5a, (size_t)count * stride);
  tn_pos origin = tn_p3(3.0, -2.0, 1.0);
  assert_true(tn_bodies_read_poses(c->world, ids, count, TN_FLOAT, out->pose, stride));
  assert_true(tn_bodies_read_velocities(c->world, ids, count, TN_FLOAT, out->velocity, stride));
  assert_true(tn_bodies_read_matrices(c->world, ids, count, origin, out->matrix, stride));
  assert_true(tn_bodies_read_awake(c->world, ids, count, &out->awake, stride));
}

static void check_matrix(const tn_world *world, tn_body_id id, const float *m)
{
  tn_vec3 local = tn_v3(0.7f, -0.4f, 0.2f);
  tn_pos at = tn_body_world_point(world, id, local);
  const float wanted[3] = {(float)(at.x - 3.0), (float)(at.y + 2.0), (float)(at.z - 1.0)};
  for (int i = 0; i < 3; ++i) {
    float sum = m[i] * local.x + m[4 + i] * local.y + m[8 + i] * local.z + m[12 + i];
    assert_close(sum, wanted[i], 4e-6); // coordinates up to 15 m in float
    assert_true(m[4 * i + 3] == 0.0f);
  }
  assert_true(m[15] == 1.0f);
}

static void check_instance(const tn_world *world, tn_body_id id, const instance *row)
{
  tn_transform t = tn_body_transform(world, id);
  float pose[TN_POSE_NUMBERS] = {(float)t.p.x, (float)t.p.y, (float)t.p.z};
  memcpy(pose + 3, &t.q, sizeof t.q);
  assert_memory_equal(row->pose, pose, sizeof pose);
  tn_vec3 v[2] = {tn_body_velocity(world, id), tn_body_angular_velocity(world, id)};
  assert_memory_equal(row->velocity, v, sizeof v);
  assert_int_equal(row->awake, tn_body_is_awake(world, id));
  check_matrix(world, id, row->matrix);
  assert_true(row->before == 0x5a && row->after == 0x5a); // what lies between stays
}

static void reading_agrees_with_single_calls(void **unused)
{
  (void)unused;
  for (uint32_t seed = 1; seed <= WORLDS; ++seed) {
    crowd c = make_crowd(seed);
    assert_true(tn_body_set_awake(c.world, c.ids[0], false));
    static instance rows[BODIES];
    read_instances(&c, NULL, c.count, rows);
    for (int i = 0; i < c.count; ++i) {
      check_instance(c.world, c.ids[i], &rows[i]);
    }
    tn_body_id picked[BODIES];
    int count = pick_bodies(&c, picked);
    read_instances(&c, picked, count, rows);
    for (int i = 0; i < count; ++i) {
      check_instance(c.world, picked[i], &rows[i]);
    }
    tn_world_destroy(c.world);
  }
}

// Without gaps, in double: positions exactly, rotations to the rounding of a float.
static void doubles_are_packed(void **unused)
{
  (void)unused;
  crowd c = make_crowd(77);
  double rows[BODIES][TN_POSE_NUMBERS];
  assert_true(tn_bodies_read_poses(c.world, NULL, c.count, TN_DOUBLE, rows, 0));
  for (int i = 0; i < c.count; ++i) {
    tn_transform t = tn_body_transform(c.world, c.ids[i]);
    assert_true(same_bits(rows[i], &t.p, sizeof t.p));
    const float q[4] = {t.q.x, t.q.y, t.q.z, t.q.w};
    double square = 0.0;
    for (int k = 0; k < 4; ++k) {
      assert_true((float)rows[i][3 + k] == q[k]);
      square += rows[i][3 + k] * rows[i][3 + k];
    }
    assert_close(square, 1.0, 1e-14); // a rounded one is off by 1e-7
  }
  tn_world_destroy(c.world);
}

// ---------------------------------------------------------------------------------------------
// Writing: two equal worlds, one by single calls, one by rows

typedef void write_fn(crowd *c, const tn_body_id *ids, float (*rows)[TN_POSE_NUMBERS], int count,
                      bool single);

static void write_poses(crowd *c, const tn_body_id *ids, float (*rows)[TN_POSE_NUMBERS], int count,
                        bool single)
{
  for (int i = 0; single && i < count; ++i) {
    const float *n = rows[i];
    tn_transform t = {{(double)n[0], (double)n[1], (double)n[2]}, {n[3], n[4], n[5], n[6]}};
    assert_true(tn_body_set_transform(c->world, ids[i], t));
  }
  if (!single) {
    assert_true(tn_bodies_write_poses(c->world, ids, count, TN_FLOAT, rows, sizeof rows[0]));
  }
}

static void write_velocities(crowd *c, const tn_body_id *ids, float (*rows)[TN_POSE_NUMBERS],
                             int count, bool single)
{
  double wide[BODIES][TN_VELOCITY_NUMBERS] = {{0}};
  for (int i = 0; i < count; ++i) {
    tn_vec3 v[2];
    memcpy(v, rows[i], sizeof v);
    if (tn_body_get_type(c->world, ids[i]) == TN_BODY_STATIC) {
      continue; // zeros
    }
    for (int k = 0; k < TN_VELOCITY_NUMBERS; ++k) {
      wide[i][k] = (double)rows[i][k];
    }
    if (single) {
      assert_true(tn_body_set_velocity(c->world, ids[i], v[0]));
      assert_true(tn_body_set_angular_velocity(c->world, ids[i], v[1]));
    }
  }
  if (!single) {
    assert_true(tn_bodies_write_velocities(c->world, ids, count, TN_DOUBLE, wide, 0));
  }
}

static void apply_forces(crowd *c, const tn_body_id *ids, float (*rows)[TN_POSE_NUMBERS], int count,
                         bool single)
{
  float scaled[BODIES][TN_FORCE_NUMBERS] = {{0}};
  for (int i = 0; i < count; ++i) {
    if (tn_body_get_type(c->world, ids[i]) != TN_BODY_DYNAMIC) {
      continue; // zeros
    }
    for (int k = 0; k < TN_FORCE_NUMBERS; ++k) {
      scaled[i][k] = 100.0f * rows[i][k];
    }
    tn_vec3 f[2];
    memcpy(f, scaled[i], sizeof f);
    if (single) {
      assert_true(tn_body_apply_force_to_center(c->world, ids[i], f[0]));
      assert_true(tn_body_apply_torque(c->world, ids[i], f[1]));
    }
  }
  if (!single) {
    assert_true(tn_bodies_apply_forces(c->world, ids, count, TN_FLOAT, scaled, 0));
  }
}

static void fill_rows(uint32_t *random, float (*rows)[TN_POSE_NUMBERS], int count)
{
  for (int i = 0; i < count; ++i) {
    tn_vec3 p = test_vector(random, 5.0f);
    tn_quat q = test_rotation(random);
    memcpy(rows[i], &p, sizeof p);
    memcpy(rows[i] + 3, &q, sizeof q);
  }
}

static void writing_agrees_with_single_calls(void **unused)
{
  (void)unused;
  static write_fn *const writes[3] = {write_poses, write_velocities, apply_forces};
  for (uint32_t seed = 1; seed <= WORLDS; ++seed) {
    for (int way = 0; way < 3; ++way) {
      uint64_t hash[2][2];
      for (int single = 0; single < 2; ++single) {
        crowd c = make_crowd(seed);
        tn_body_id picked[BODIES];
        float rows[BODIES][TN_POSE_NUMBERS];
        int count = pick_bodies(&c, picked);
        fill_rows(&c.random, rows, count);
        writes[way](&c, picked, rows, count, single);
        hash[single][0] = tn_world_hash(c.world);
        tn_world_step(c.world, DT);
        hash[single][1] = tn_world_hash(c.world);
        tn_world_destroy(c.world);
      }
      assert_memory_equal(hash[0], hash[1], sizeof hash[0]);
    }
  }
}

// What was read in double and is written back changes no pose by more than the rounding of the
// conversion between origins and centres of mass.
static void poses_return(void **unused)
{
  (void)unused;
  crowd c = make_crowd(5);
  double before[BODIES][TN_POSE_NUMBERS], after[BODIES][TN_POSE_NUMBERS];
  assert_true(tn_bodies_read_poses(c.world, NULL, c.count, TN_DOUBLE, before, 0));
  assert_true(tn_bodies_write_poses(c.world, NULL, c.count, TN_DOUBLE, before, 0));
  assert_true(tn_bodies_read_poses(c.world, NULL, c.count, TN_DOUBLE, after, 0));
  for (int i = 0; i < c.count; ++i) {
    for (int k = 0; k < TN_POSE_NUMBERS; ++k) {
      assert_close(after[i][k], before[i][k], 1e-14);
    }
  }
  tn_world_destroy(c.world);
}

// ---------------------------------------------------------------------------------------------
// Refusals: nothing is written, nothing changes

static void bad_ids_are_refused(void **unused)
{
  (void)unused;
  crowd c = make_crowd(9), other = make_crowd(10);
  tn_body_id picked[BODIES];
  memcpy(picked, c.ids, sizeof picked);
  tn_body_id dead = test_body(c.world, TN_BODY_DYNAMIC, tn_p3(0.0, 50.0, 0.0));
  assert_true(tn_body_destroy(c.world, dead));
  const tn_body_id bad[3] = {dead, other.ids[3], test_no_body};
  static const char *const reasons[3] = {"row 3: the body has been destroyed",
                                         "row 3: the body belongs to another world",
                                         "row 3: the body id is null"};
  double rows[BODIES][TN_MATRIX_NUMBERS], kept[BODIES][TN_MATRIX_NUMBERS];
  memset(rows, 0x11, sizeof rows);
  memcpy(kept, rows, sizeof rows);
  uint64_t hash = tn_world_hash(c.world);
  test_forget_messages();
  for (int i = 0; i < 3; ++i) {
    picked[3] = bad[i];
    size_t stride = sizeof rows[0];
    assert_false(tn_bodies_read_poses(c.world, picked, 8, TN_DOUBLE, rows, stride));
    assert_message(reasons[i]);
    assert_false(tn_bodies_read_velocities(c.world, picked, 8, TN_DOUBLE, rows, stride));
    assert_message(reasons[i]);
    assert_false(tn_bodies_read_matrices(c.world, picked, 8, tn_p3(0, 0, 0), (float *)rows, 0));
    assert_message(reasons[i]);
    assert_false(tn_bodies_read_awake(c.world, picked, 8, (uint8_t *)rows, 1));
    assert_message(reasons[i]);
    assert_false(tn_bodies_write_poses(c.world, picked, 8, TN_DOUBLE, rows, stride));
    assert_message(reasons[i]);
    assert_false(tn_bodies_write_velocities(c.world, picked, 8, TN_DOUBLE, rows, stride));
    assert_message(reasons[i]);
    assert_false(tn_bodies_apply_forces(c.world, picked, 8, TN_DOUBLE, rows, stride));
    assert_message(reasons[i]);
  }
  assert_memory_equal(rows, kept, sizeof rows);
  assert_true(tn_world_hash(c.world) == hash);
  tn_world_destroy(c.world);
  tn_world_destroy(other.world);
}

static void bad_rows_are_refused(void **unused)
{
  (void)unused;
  crowd c = make_crowd(9);
  float rows[BODIES][TN_POSE_NUMBERS] = {{0}};
  const tn_world *world = c.world;
  test_forget_messages();
  assert_false(tn_bodies_read_poses(world, NULL, c.count - 1, TN_FLOAT, rows, 0));
  assert_message("rows for all bodies, of which there are");
  assert_false(tn_bodies_read_poses(world, NULL, -1, TN_FLOAT, rows, 0));
  assert_message("the number of rows is negative");
  assert_false(tn_bodies_read_poses(world, NULL, c.count, TN_FLOAT, NULL, 0));
  assert_message("the rows are null");
  assert_false(tn_bodies_read_poses(world, NULL, c.count, TN_FLOAT, rows, 27));
  assert_message("the stride is shorter than a row");
  assert_false(tn_bodies_read_poses(world, NULL, c.count, (tn_number)7, rows, 0));
  assert_message("unknown type of numbers");
  tn_pos nowhere = tn_p3((double)NAN, 0.0, 0.0);
  float matrices[BODIES][TN_MATRIX_NUMBERS];
  assert_false(tn_bodies_read_matrices(world, NULL, c.count, nowhere, matrices[0], 0));
  assert_message("the origin is not finite");
  assert_false(tn_bodies_read_poses(NULL, NULL, 0, TN_FLOAT, rows, 0));
  assert_true(tn_bodies_read_poses(world, c.ids, 0, TN_FLOAT, NULL, 0)); // none asked for
  assert_int_equal(test_messages.count, 0);
  tn_world_destroy(c.world);
}

// One bad row in any place: the rows before it do not act either.
static void one_bad_row_stops_all(void **unused)
{
  (void)unused;
  for (uint32_t seed = 1; seed <= WORLDS; ++seed) {
    crowd c = make_crowd(seed);
    float rows[BODIES][TN_POSE_NUMBERS], kept[TN_POSE_NUMBERS];
    fill_rows(&c.random, rows, BODIES);
    tn_body_id picked[BODIES];
    int count = 0; // dynamic ones
    for (int i = 0; i < c.count; ++i) {
      if (tn_body_get_type(c.world, c.ids[i]) == TN_BODY_DYNAMIC) {
        picked[count++] = c.ids[i];
      }
    }
    int bad = test_index(&c.random, count);
    memcpy(kept, rows[bad], sizeof kept);
    uint64_t hash = tn_world_hash(c.world);
    size_t stride = sizeof rows[0];
    static const float values[2] = {NAN, 1e30f};
    for (int i = 0; i < 2; ++i) {
      test_forget_messages();
      rows[bad][test_index(&c.random, 3)] = values[i];
      assert_false(tn_bodies_write_poses(c.world, picked, count, TN_FLOAT, rows, stride));
      assert_message("the transform is not finite, too far away or not a rotation");
      assert_false(tn_bodies_write_velocities(c.world, picked, count, TN_FLOAT, rows, stride));
      assert_message("the velocity is not finite or too large");
      assert_false(tn_bodies_apply_forces(c.world, picked, count, TN_FLOAT, rows, stride));
      assert_message("the body would accelerate too much");
      memcpy(rows[bad], kept, sizeof kept);
    }
    assert_true(tn_world_hash(c.world) == hash);
    tn_world_destroy(c.world);
  }
}

// Each row alone is within the range, their sum is not.
static void sums_of_forces_are_checked(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(4);
  tn_body_id body = test_box(world, tn_p3(0.0, 0.0, 0.0), 2.0f, tn_v3(0.5f, 0.5f, 0.5f));
  const tn_body_id twice[2] = {body, body};
  const float most[2][TN_FORCE_NUMBERS] = {{1.2e12f}, {1.2e12f}};
  const float small[2][TN_FORCE_NUMBERS] = {{3.0f, 0, 0, 0, 1.0f, 0}, {5.0f, 0, 0, 0, 1.0f, 0}};
  uint64_t hash = tn_world_hash(world);
  test_forget_messages();
  assert_false(tn_bodies_apply_forces(world, twice, 2, TN_FLOAT, most, 0));
  assert_message("row 1: the body would accelerate too much");
  assert_true(tn_world_hash(world) == hash);
  assert_true(tn_bodies_apply_forces(world, twice, 2, TN_FLOAT, small, 0));
  test_run(world, DT, 1);
  assert_close(tn_body_velocity(world, body).x, 8.0 / 2.0 / 60.0, 1e-7); // F t / m
  tn_world_destroy(world);
}

static void what_cannot_move_takes_zeros_only(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(4);
  const tn_body_id ids[2] = {test_body(world, TN_BODY_STATIC, tn_p3(0.0, 0.0, 0.0)),
                             test_body(world, TN_BODY_KINEMATIC, tn_p3(5.0, 0.0, 0.0))};
  float rows[2][TN_FORCE_NUMBERS] = {{0}};
  assert_true(tn_bodies_write_velocities(world, ids, 2, TN_FLOAT, rows, 0));
  assert_true(tn_bodies_apply_forces(world, ids, 2, TN_FLOAT, rows, 0));
  test_forget_messages();
  rows[1][4] = 1.0f;
  assert_true(tn_bodies_write_velocities(world, ids, 2, TN_FLOAT, rows, 0));
  assert_false(tn_bodies_apply_forces(world, ids, 2, TN_FLOAT, rows, 0));
  assert_message("row 1: only dynamic bodies feel forces");
  rows[0][0] = 1.0f;
  assert_false(tn_bodies_write_velocities(world, ids, 2, TN_FLOAT, rows, 0));
  assert_message("row 0: a static body has no velocity");
  tn_world_destroy(world);
}

static void rows_of_zeros_wake_nobody(void **unused)
{
  (void)unused;
  tn_world *world = contact_world(4);
  tn_body_id ids[2];
  for (int i = 0; i < 2; ++i) {
    ids[i] = test_box(world, tn_p3(5.0 * i, 0.0, 0.0), 1.0f, tn_v3(0.5f, 0.5f, 0.5f));
    assert_true(tn_body_set_awake(world, ids[i], false));
  }
  const float rows[2][TN_FORCE_NUMBERS] = {{0}, {1.0f}};
  assert_true(tn_bodies_apply_forces(world, ids, 2, TN_FLOAT, rows, 0));
  uint8_t awake[2];
  assert_true(tn_bodies_read_awake(world, NULL, 2, awake, 0));
  assert_true(awake[0] == 0 && awake[1] == 1);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// What moved: those whose pose differs from that before the step, and those that fell asleep

static const tn_move_event *find_move(const tn_move_event *list, int count, tn_body_id id)
{
  for (int i = 0; i < count; ++i) {
    if (TN_SAME_ID(list[i].body, id)) {
      return &list[i];
    }
  }
  return NULL;
}

static tn_world *sleepy_world(int threads)
{
  tn_world_def def = test_world_def(4, TN_METHOD_TENON);
  def.sleeping = true;
  def.threads = threads;
  tn_world *world = tn_world_create(&def);
  assert_non_null(world);
  add_ground(world);
  return world;
}

static void moves_are_changes_of_pose(void **unused)
{
  (void)unused;
  for (int threads = 1; threads <= 2; ++threads) {
    tn_world *world = sleepy_world(threads);
    tn_body_id ids[BODIES];
    uint32_t random = 4;
    for (int i = 0; i < BODIES; ++i) {
      tn_pos at = tn_p3(2.0 * (i % 6), 0.6 + 0.1 * (i % 4), 2.0 * (i / 6));
      ids[i] = i % 5 ? add_cube(world, at, 0.5f) : test_body(world, (tn_body_type)(i % 2), at);
      if (i % 10 == 5) { // kinematic: some of them move
        tn_body_set_velocity(world, ids[i], test_vector(&random, i % 20 == 5 ? 0.1f : 0.0f));
      }
    }
    int slept = 0;
    for (int step = 0; step < 150; ++step) {
      double before[BODIES][TN_POSE_NUMBERS], after[BODIES][TN_POSE_NUMBERS];
      uint8_t was[BODIES], is[BODIES];
      assert_true(tn_bodies_read_poses(world, ids, BODIES, TN_DOUBLE, before, 0));
      assert_true(tn_bodies_read_awake(world, ids, BODIES, was, 0));
      test_run(world, DT, 1);
      assert_true(tn_bodies_read_poses(world, ids, BODIES, TN_DOUBLE, after, 0));
      assert_true(tn_bodies_read_awake(world, ids, BODIES, is, 0));
      tn_move_event list[BODIES];
      int count = tn_world_moved(world, list, BODIES);
      for (int i = 0; i < BODIES; ++i) {
        const tn_move_event *e = find_move(list, count, ids[i]);
        bool falls_asleep = was[i] && !is[i];
        assert_true(e || (same_bits(before[i], after[i], sizeof before[i]) && !falls_asleep));
        assert_true(!e || was[i]);
        assert_true(!e || e->fell_asleep == falls_asleep);
        assert_true(!e || same_bits(&e->pose.p, after[i], sizeof e->pose.p));
        slept += falls_asleep;
      }
    }
    assert_int_equal(slept, BODIES - BODIES / 5);
    tn_move_event last[BODIES];
    assert_int_equal(tn_world_moved(world, last, BODIES), 2); // kinematic ones, 5 and 25
    tn_world_destroy(world);
  }
}

static void moves_of_the_dead_are_left_out(void **unused)
{
  (void)unused;
  tn_world *world = sleepy_world(1);
  assert_int_equal(tn_world_moved(world, NULL, 0), 0);
  assert_int_equal(tn_world_moved(NULL, NULL, 0), 0);
  tn_body_id a = add_cube(world, tn_p3(0.0, 5.0, 0.0), 0.5f);
  tn_body_id b = add_cube(world, tn_p3(5.0, 5.0, 0.0), 0.5f);
  int mark = 0;
  assert_true(tn_body_set_user_data(world, b, &mark));
  test_run(world, DT, 1);
  assert_int_equal(tn_world_moved(world, NULL, 0), 2);
  assert_true(tn_body_destroy(world, a));
  tn_body_id again = add_cube(world, tn_p3(0.0, 9.0, 0.0), 0.5f); // in the same slot
  assert_int_equal(again.index, a.index);
  tn_move_event only = {0};
  assert_int_equal(tn_world_moved(world, &only, 1), 1);
  assert_true(TN_SAME_ID(only.body, b) && TN_IS_NULL(only.soft) && only.user_data == &mark);
  size_t size = tn_world_save(world, NULL, 0);
  void *bytes = malloc(size);
  assert_non_null(bytes);
  assert_int_equal(tn_world_save(world, bytes, size), size);
  assert_true(tn_world_restore(world, bytes, size));
  free(bytes);
  assert_int_equal(tn_world_moved(world, NULL, 0), 0);
  tn_world_destroy(world);
}

static void soft_bodies_move_until_they_sleep(void **unused)
{
  (void)unused;
  tn_world *world = sleepy_world(1);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, 6, 6, 1.0f, 1.0f));
  def.position = tn_p3(0.0, 0.1, 0.0);
  def.radius = 0.02f;
  def.linear_damping = 5.0f;
  tn_soft_id cloth = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  assert_false(TN_IS_NULL(cloth));
  bool asleep = false;
  for (int step = 0; step < 600 && !asleep; ++step) {
    test_run(world, DT, 1);
    tn_move_event e = {0};
    assert_int_equal(tn_world_moved(world, &e, 1), 1);
    assert_true(TN_SAME_ID(e.soft, cloth) && TN_IS_NULL(e.body));
    asleep = e.fell_asleep;
    assert_int_equal(asleep, !tn_soft_is_awake(world, cloth));
  }
  assert_true(asleep);
  test_run(world, DT, 1);
  assert_int_equal(tn_world_moved(world, NULL, 0), 0);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading_agrees_with_single_calls),
      cmocka_unit_test(doubles_are_packed),
      cmocka_unit_test(writing_agrees_with_single_calls),
      cmocka_unit_test(poses_return),
      cmocka_unit_test(bad_ids_are_refused),
      cmocka_unit_test(bad_rows_are_refused),
      cmocka_unit_test(one_bad_row_stops_all),
      cmocka_unit_test(sums_of_forces_are_checked),
      cmocka_unit_test(what_cannot_move_takes_zeros_only),
      cmocka_unit_test(rows_of_zeros_wake_nobody),
      cmocka_unit_test(moves_are_changes_of_pose),
      cmocka_unit_test(moves_of_the_dead_are_left_out),
      cmocka_unit_test(soft_bodies_move_until_they_sleep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
