// Sleeping: bodies at rest fall asleep, changes wake them, sleeping bodies cost nothing.
#include "contact_support.h"

static tn_world *sleepy_world(void)
{
  tn_world_def def = test_world_def(8, TN_METHOD_TENON);
  def.sleeping = true;
  test_forget_messages();
  tn_world *world = tn_world_create(&def);
  assert_non_null(world);
  return world;
}

// Steps until `body` sleeps, at most ten seconds.
static void wait_for_sleep(tn_world *world, tn_body_id body)
{
  for (int i = 0; i < 600 && tn_body_is_awake(world, body); ++i) {
    test_run(world, DT, 1);
  }
  assert_false(tn_body_is_awake(world, body));
}

#define TOWER 5

typedef struct tower {
  tn_world *world;
  tn_body_id cube[TOWER];
} tower;

static tower build_tower(void)
{
  tower t = {.world = sleepy_world()};
  add_ground(t.world);
  for (int i = 0; i < TOWER; ++i) {
    t.cube[i] = add_cube(t.world, tn_p3(0.0, 0.5 + i, 0.0), 0.5f);
  }
  return t;
}

static tower sleeping_tower(void)
{
  tower t = build_tower();
  wait_for_sleep(t.world, t.cube[0]);
  return t;
}

static int awake_cubes(const tower *t)
{
  int awake = 0;
  for (int i = 0; i < TOWER; ++i) {
    awake += tn_body_is_valid(t->world, t->cube[i]) && tn_body_is_awake(t->world, t->cube[i]);
  }
  return awake;
}

// ---------------------------------------------------------------------------------------------
// Falling asleep

// A tower is one island: it falls asleep as a whole in one step, with an event per body.
static void tower_falls_asleep_at_once(void **unused)
{
  (void)unused;
  tower t = build_tower();
  assert_int_equal(awake_cubes(&t), TOWER);
  int told_asleep = 0;
  for (int i = 0; i < 600; ++i) {
    test_run(t.world, DT, 1);
    int awake = awake_cubes(&t);
    assert_true(awake == 0 || awake == TOWER);
    assert_int_equal(tn_world_counters(t.world).awake, awake);
    int count;
    const tn_sleep_event *events = tn_world_sleep_events(t.world, &count);
    for (int k = 0; k < count; ++k) {
      assert_true(events[k].asleep);
      told_asleep += 1;
    }
  }
  assert_int_equal(awake_cubes(&t), 0);
  assert_int_equal(told_asleep, TOWER);
  for (int i = 0; i < TOWER; ++i) {
    assert_close(tn_length(tn_body_velocity(t.world, t.cube[i])), 0.0, 0.0);
  }
  tn_world_destroy(t.world);
}

static void separate_towers_sleep_independently(void **unused)
{
  (void)unused;
  tn_world *world = sleepy_world();
  add_ground(world);
  tn_body_id resting = add_cube(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
  tn_body_id rolling = add_ball(world, tn_p3(3.0, 0.5, 0.0), 0.5f);
  tn_body_set_velocity(world, rolling, tn_v3(1.0f, 0.0f, 0.0f));
  tn_body_set_angular_velocity(world, rolling, tn_v3(0.0f, 0.0f, -2.0f));
  test_run(world, DT, 600);
  assert_false(tn_body_is_awake(world, resting));
  assert_true(tn_body_is_awake(world, rolling));
  assert_int_equal(tn_world_counters(world).awake, 1);
  tn_world_destroy(world);
}

// At the top of its flight a ball is slow for a moment, but not at rest.
static void flying_body_does_not_sleep_at_its_highest_point(void **unused)
{
  (void)unused;
  tn_world *world = sleepy_world();
  tn_body_id ball = add_ball(world, tn_p3(0.0, 0.0, 0.0), 0.5f);
  tn_body_set_velocity(world, ball, tn_v3(0.0f, 10.0f, 0.0f));
  test_run(world, DT, 180);
  assert_true(tn_body_is_awake(world, ball));
  assert_close(tn_body_velocity(world, ball).y, -20.0, 1e-3);
  tn_world_destroy(world);
}

static void bodies_that_may_not_sleep_keep_their_island_awake(void **unused)
{
  (void)unused;
  tower t = build_tower();
  assert_true(tn_body_set_can_sleep(t.world, t.cube[2], false));
  test_run(t.world, DT, 600);
  assert_int_equal(awake_cubes(&t), TOWER);
  assert_true(tn_body_set_can_sleep(t.world, t.cube[2], true));
  test_run(t.world, DT, 600);
  assert_int_equal(awake_cubes(&t), 0);
  tn_world_destroy(t.world);
}

static void sleepless_worlds_stay_awake(void **unused)
{
  (void)unused;
  tower t = sleeping_tower();
  assert_true(tn_world_set_sleeping(t.world, false));
  assert_int_equal(awake_cubes(&t), TOWER);
  test_run(t.world, DT, 600);
  assert_int_equal(awake_cubes(&t), TOWER);
  tn_world_destroy(t.world);
}

static void setting_one_body_asleep_puts_its_island_to_sleep(void **unused)
{
  (void)unused;
  tower t = build_tower();
  test_run(t.world, DT, 3);
  assert_int_equal(awake_cubes(&t), TOWER);
  assert_true(tn_body_set_awake(t.world, t.cube[1], false));
  assert_int_equal(awake_cubes(&t), 0); // and everything it touches
  test_run(t.world, DT, 10);
  assert_int_equal(awake_cubes(&t), 0);
  assert_true(tn_body_set_awake(t.world, t.cube[1], true));
  assert_int_equal(awake_cubes(&t), TOWER);
  tn_world_destroy(t.world);
}

// A block on a moving belt does not fall asleep.
static void belts_keep_blocks_awake(void **unused)
{
  (void)unused;
  tn_world *world = sleepy_world();
  tn_shape_def belt = tn_default_shape_def(TN_SHAPE_PLANE);
  belt.material.surface_velocity = tn_v3(1.0f, 0.0f, 0.0f);
  add_shape(world, test_no_body, &belt);
  tn_body_id block = add_cube(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
  test_run(world, DT, 600);
  assert_true(tn_body_is_awake(world, block));
  assert_close(tn_body_velocity(world, block).x, 1.0, 1e-3);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Waking up

static void contact_wakes_a_tower(void **unused)
{
  (void)unused;
  tower t = sleeping_tower();
  tn_body_id ball = add_ball(t.world, tn_p3(0.0, TOWER + 2.0, 0.0), 0.3f);
  int woke = 0;
  for (int i = 0; i < 120; ++i) {
    test_run(t.world, DT, 1);
    int count;
    const tn_sleep_event *events = tn_world_sleep_events(t.world, &count);
    for (int k = 0; k < count; ++k) {
      woke += !events[k].asleep;
    }
    if (woke > 0) {
      break;
    }
  }
  assert_int_equal(woke, TOWER);
  assert_int_equal(awake_cubes(&t), TOWER);
  assert_true(tn_body_is_awake(t.world, ball));
  tn_world_destroy(t.world);
}

static void distant_changes_wake_nothing(void **unused)
{
  (void)unused;
  tower t = sleeping_tower();
  add_ball(t.world, tn_p3(5.0, 3.0, 0.0), 0.3f);
  test_run(t.world, DT, 120);
  assert_int_equal(awake_cubes(&t), 0);
  tn_world_destroy(t.world);
}

typedef void touch_fn(tower *t);

static void touch_velocity(tower *t)
{
  tn_body_set_velocity(t->world, t->cube[2], tn_v3(0.1f, 0.0f, 0.0f));
}

static void touch_angular_velocity(tower *t)
{
  tn_body_set_angular_velocity(t->world, t->cube[2], tn_v3(0.1f, 0.0f, 0.0f));
}

static void touch_force(tower *t)
{
  tn_body_apply_force_to_center(t->world, t->cube[2], tn_v3(1.0f, 0.0f, 0.0f));
}

static void touch_torque(tower *t)
{
  tn_body_apply_torque(t->world, t->cube[2], tn_v3(0.0f, 1.0f, 0.0f));
}

static void touch_impulse(tower *t)
{
  tn_body_apply_impulse(t->world, t->cube[2], tn_v3(0.1f, 0.0f, 0.0f),
                        tn_body_center(t->world, t->cube[2]));
}

static void touch_pose(tower *t)
{
  tn_transform pose = tn_body_transform(t->world, t->cube[2]);
  pose.p.x += 0.01;
  tn_body_set_transform(t->world, t->cube[2], pose);
}

static void touch_mass(tower *t)
{
  tn_body_set_mass(t->world, t->cube[2], tn_mass_box(tn_v3(0.5f, 0.5f, 0.5f), 2.0f));
}

static void touch_new_shape(tower *t)
{
  tn_shape_def knob = ball_shape(0.1f);
  knob.position = tn_v3(0.5f, 0.0f, 0.0f);
  tn_shape_create(t->world, t->cube[2], &knob);
}

static void touch_lost_shape(tower *t)
{
  tn_shape_id shape;
  tn_body_shapes(t->world, t->cube[2], &shape, 1);
  tn_shape_destroy(t->world, shape);
}

static void touch_joint(tower *t)
{
  test_joint(t->world, TN_JOINT_BALL, test_no_body, t->cube[2], tn_p3(0.0, 2.5, 0.0),
             tn_v3(1.0f, 0.0f, 0.0f));
}

static void touch_type(tower *t)
{
  tn_body_set_type(t->world, t->cube[2], TN_BODY_KINEMATIC);
}

static void touch_awake(tower *t)
{
  tn_body_set_awake(t->world, t->cube[2], true);
}

static void lose_the_lowest(tower *t)
{
  tn_body_destroy(t->world, t->cube[0]);
}

static void lose_the_ground(tower *t)
{
  tn_shape_id ground;
  tn_query_filter filter = tn_default_query_filter();
  tn_hit hit = tn_world_ray(t->world, tn_p3(5.0, 1.0, 0.0), tn_v3(0.0f, -2.0f, 0.0f), filter);
  ground = hit.shape;
  tn_shape_destroy(t->world, ground);
}

// Any change of one body wakes all other bodies of the tower.
static void changing_one_body_wakes_the_tower(void **unused)
{
  (void)unused;
  static const struct {
    const char *name;
    touch_fn *touch;
    int awake;
  } cases[] = {
      {"velocity", touch_velocity, TOWER},
      {"angular velocity", touch_angular_velocity, TOWER},
      {"force", touch_force, TOWER},
      {"torque", touch_torque, TOWER},
      {"impulse", touch_impulse, TOWER},
      {"pose", touch_pose, TOWER},
      {"mass", touch_mass, TOWER},
      {"new shape", touch_new_shape, TOWER},
      {"lost shape", touch_lost_shape, TOWER},
      {"joint", touch_joint, TOWER},
      {"type", touch_type, TOWER - 1},
      {"awake", touch_awake, TOWER},
      {"lowest lost", lose_the_lowest, TOWER - 1},
      {"ground lost", lose_the_ground, TOWER},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    tower t = sleeping_tower();
    cases[i].touch(&t);
    test_run(t.world, DT, 1);
    int awake = tn_world_counters(t.world).awake;
    if (awake != cases[i].awake) {
      fail_msg("%s: %d are awake, not %d", cases[i].name, awake, cases[i].awake);
    }
    tn_world_destroy(t.world);
  }
}

// Creating, changing and destroying a joint.
static void joints_wake_their_bodies(void **unused)
{
  (void)unused;
  tn_world *world = sleepy_world();
  add_ground(world);
  tn_body_id left = add_cube(world, tn_p3(0.0, 0.5, 0.0), 0.5f);
  tn_body_id right = add_cube(world, tn_p3(1.5, 0.5, 0.0), 0.5f);
  tn_joint_id joint = test_joint(world, TN_JOINT_HINGE, left, right, tn_p3(0.75, 0.5, 0.0),
                                 tn_v3(0.0f, 0.0f, 1.0f));
  wait_for_sleep(world, left);
  assert_false(tn_body_is_awake(world, right)); // joined bodies are one island
  tn_drive drive = tn_motor(1.0f, INFINITY, 1000.0f);
  assert_true(tn_joint_set_drive(world, joint, TN_ANGULAR_A, drive));
  test_run(world, DT, 1);
  assert_true(tn_body_is_awake(world, left) && tn_body_is_awake(world, right));
  drive = tn_default_drive();
  assert_true(tn_joint_set_drive(world, joint, TN_ANGULAR_A, drive));
  wait_for_sleep(world, left);
  assert_true(tn_joint_destroy(world, joint));
  test_run(world, DT, 1);
  assert_true(tn_body_is_awake(world, left) && tn_body_is_awake(world, right));
  tn_world_destroy(world);
}

// A kinematic lift that starts to move wakes the bodies on it.
static void kinematic_bodies_wake_bodies_that_rest_on_them(void **unused)
{
  (void)unused;
  tn_world *world = sleepy_world();
  tn_body_id lift = test_body(world, TN_BODY_KINEMATIC, tn_p3(0.0, -0.5, 0.0));
  tn_shape_def floor = cube_shape(0.5f);
  add_shape(world, lift, &floor);
  tn_body_id cube = add_cube(world, tn_p3(0.0, 0.25, 0.0), 0.25f);
  wait_for_sleep(world, cube);
  tn_body_set_velocity(world, lift, tn_v3(0.0f, 1.0f, 0.0f));
  test_run(world, DT, 60);
  assert_true(tn_body_is_awake(world, cube));
  assert_close(tn_body_position(world, cube).y, 1.25, 5e-3);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Speed and time of rest

static double seconds(int frames)
{
  return (double)DT * frames;
}

// A cube on smooth ground keeps its speed. Returns the time until it sleeps, or `most`.
static double time_to_sleep(float half, float gravity, float speed, float sleep_speed,
                            float sleep_time, double most)
{
  tn_world *world = sleepy_world();
  tn_world_set_gravity(world, tn_v3(0.0f, -gravity, 0.0f));
  assert_true(tn_world_set_sleep_speed(world, sleep_speed));
  assert_true(tn_world_set_sleep_time(world, sleep_time));
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE), cube = cube_shape(half);
  ground.material.static_friction = ground.material.dynamic_friction = 0.0f;
  cube.material = ground.material;
  add_shape(world, test_no_body, &ground);
  tn_body_id body = add_solid(world, tn_p3(0.0, (double)half, 0.0), &cube);
  tn_body_set_velocity(world, body, tn_v3(speed, 0.0f, 0.0f));
  int frames = 0;
  while (tn_body_is_awake(world, body) && seconds(frames) < most) {
    test_run(world, DT, 1);
    frames += 1;
  }
  tn_world_destroy(world);
  return seconds(frames);
}

// By default a body is still below 0.0032 sqrt(g R), and sleeps after 1.57 sqrt(R / g), at least
// 0.5 s, with R the distance of its corners. Random sizes from 2 cm to 20 m, gravity from the
// Moon's to Jupiter's, and random settings.
static void rest_is_relative_to_size_and_gravity(void **unused)
{
  (void)unused;
  uint32_t random = 5;
  for (int i = 0; i < 20; ++i) {
    float half = 0.01f * powf(1000.0f, test_between(&random, 0.0f, 1.0f));
    float gravity = test_between(&random, 1.6f, 25.0f), radius = sqrtf(3.0f) * half;
    float speed = i % 2 ? 0.0f : test_between(&random, 1e-3f, 0.3f);
    float time = i % 4 < 2 ? 0.0f : test_between(&random, 0.1f, 2.0f);
    float limit = speed > 0.0f ? speed : 0.0032f * sqrtf(gravity * radius);
    double wait = time > 0.0f ? (double)time : fmax(0.5, (double)(1.57f * sqrtf(radius / gravity)));
    double slow = time_to_sleep(half, gravity, 0.9f * limit, speed, time, 10.0);
    assert_close(slow, wait + 0.05, 0.051); // a frame of rounding, and two to land
    assert_close(time_to_sleep(half, gravity, 1.1f * limit, speed, time, wait + 2.0), wait + 2.0,
                 0.02);
  }
}

// Stacks of any size that land from a tenth of it fall asleep within 5 s, under any gravity and
// number of substeps.
static void stacks_of_any_size_fall_asleep(void **unused)
{
  (void)unused;
  const int substeps[3] = {4, 8, 20};
  uint32_t random = 9;
  for (int i = 0; i < 12; ++i) {
    float half = 0.01f * powf(300.0f, test_between(&random, 0.0f, 1.0f));
    tn_world *world = sleepy_world();
    tn_world_set_substeps(world, substeps[i % 3]);
    tn_world_set_gravity(world, tn_v3(0.0f, -test_between(&random, 1.6f, 25.0f), 0.0f));
    add_ground(world);
    tn_body_id top = {0};
    for (int k = 0; k < 4; ++k) {
      top = add_cube(world, tn_p3(0.0, (double)half * (1.0 + 2.2 * k), 0.0), half);
    }
    int frames = 0;
    for (; frames < 480 && tn_body_is_awake(world, top); ++frames) {
      test_run(world, DT, 1);
    }
    double time = seconds(frames);
    print_message("  half a side %.3f m: asleep after %.2f s\n", (double)half, time);
    assert_below(time, 7.0); // large ones fall for up to 2 s
    tn_world_destroy(world);
  }
}

// ---------------------------------------------------------------------------------------------
// What sleeping costs and keeps

static void sleeping_bodies_do_not_move(void **unused)
{
  (void)unused;
  tower t = sleeping_tower();
  tn_transform before = tn_body_transform(t.world, t.cube[TOWER - 1]);
  test_run(t.world, DT, 600);
  tn_transform after = tn_body_transform(t.world, t.cube[TOWER - 1]);
  assert_memory_equal(&before, &after, sizeof before);
  tn_world_destroy(t.world);
}

// Contacts of sleeping bodies can be read, with the forces of their last step.
static void sleeping_bodies_keep_their_contacts(void **unused)
{
  (void)unused;
  tower t = sleeping_tower();
  test_run(t.world, DT, 60);
  assert_close(contact_force(t.world, t.cube[0]).y, 10.0, 0.1);
  assert_close(contact_force(t.world, t.cube[TOWER - 1]).y, 10.0, 0.1);
  tn_world_destroy(t.world);
}

// A custom scheduler counts the items of all parallel work.
typedef struct tally {
  long items;
} tally;

static void *run_and_count(tn_task_fn *task, int count, int grain, void *task_context,
                           void *context)
{
  (void)grain;
  ((tally *)context)->items += count;
  task(0, count, task_context);
  return NULL;
}

static void never_called(void *handle, void *context)
{
  (void)handle, (void)context;
}

static void sleeping_world_schedules_no_work(void **unused)
{
  (void)unused;
  tally work = {0};
  tn_world_def def = test_world_def(8, TN_METHOD_TENON);
  def.sleeping = true;
  def.enqueue = run_and_count;
  def.finish = never_called;
  def.task_context = &work;
  scene_run *run = start_scene_by("resting", "count=2000", &def);
  work.items = 0;
  scene_advance(run, DT);
  long awake = work.items;
  for (int i = 0; i < 300; ++i) {
    scene_advance(run, DT);
  }
  assert_int_equal(tn_world_counters(run->world).awake, 0);
  work.items = 0;
  scene_advance(run, DT);
  print_message("  2,000 cubes: %ld items of work awake, %ld asleep\n", awake, work.items);
  assert_true(awake > 2000);
  assert_true(100 * work.items < awake);
  scene_destroy(run);
}

// A restored snapshot of sleeping bodies behaves as the original when it wakes.
static void snapshots_keep_sleeping_state(void **unused)
{
  (void)unused;
  tower t = sleeping_tower();
  size_t size = tn_world_save(t.world, NULL, 0);
  void *bytes = malloc(size);
  assert_int_equal(tn_world_save(t.world, bytes, size), size);
  uint64_t hash = tn_world_hash(t.world);
  touch_impulse(&t);
  test_run(t.world, DT, 30);
  uint64_t later = tn_world_hash(t.world);
  assert_true(tn_world_restore(t.world, bytes, size));
  assert_int_equal(awake_cubes(&t), 0);
  assert_true(tn_world_hash(t.world) == hash);
  touch_impulse(&t);
  test_run(t.world, DT, 30);
  assert_true(tn_world_hash(t.world) == later);
  free(bytes);
  tn_world_destroy(t.world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tower_falls_asleep_at_once),
      cmocka_unit_test(separate_towers_sleep_independently),
      cmocka_unit_test(flying_body_does_not_sleep_at_its_highest_point),
      cmocka_unit_test(bodies_that_may_not_sleep_keep_their_island_awake),
      cmocka_unit_test(sleepless_worlds_stay_awake),
      cmocka_unit_test(setting_one_body_asleep_puts_its_island_to_sleep),
      cmocka_unit_test(belts_keep_blocks_awake),
      cmocka_unit_test(contact_wakes_a_tower),
      cmocka_unit_test(distant_changes_wake_nothing),
      cmocka_unit_test(changing_one_body_wakes_the_tower),
      cmocka_unit_test(joints_wake_their_bodies),
      cmocka_unit_test(kinematic_bodies_wake_bodies_that_rest_on_them),
      cmocka_unit_test(rest_is_relative_to_size_and_gravity),
      cmocka_unit_test(stacks_of_any_size_fall_asleep),
      cmocka_unit_test(sleeping_bodies_do_not_move),
      cmocka_unit_test(sleeping_bodies_keep_their_contacts),
      cmocka_unit_test(sleeping_world_schedules_no_work),
      cmocka_unit_test(snapshots_keep_sleeping_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
