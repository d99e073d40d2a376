// Mechanisms: long chains, large trees, loops, redundant and infeasible joints, large mass ratios.
// 20 substeps unless stated.
#include "contact_support.h"

static const tn_vec3 z_axis = {0.0f, 0.0f, 1.0f};

static double largest_gap(const tn_world *world, const tn_joint_id *joints, int count)
{
  double most = 0.0;
  for (int i = 0; i < count; ++i) {
    most = fmax(most, (double)tn_joint_get_state(world, joints[i]).elongation);
  }
  return most;
}

static double total_energy(const tn_world *world)
{
  tn_energy e = tn_world_energy(world);
  return e.kinetic + e.potential + e.elastic;
}

static void mobiles_of_any_size_hold(void **unused)
{
  (void)unused;
  static const char *const sizes[] = {"count=127", "count=1023", "count=4095"};
  for (int i = 0; i < 3; ++i) {
    scene_run *run = start_scene("mobile", sizes[i], 20);
    run_scene(run, i == 2 ? 0.5 : 2.0);
    assert_below(told(run, "max_joint_error_m"), 0.1e-3);
    scene_destroy(run);
  }
}

// Fig. 6, rigid: a light box carries a heavy one.
static double sag_under(float light, float heavy)
{
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_vec3 half = tn_v3(0.1f, 0.1f, 0.1f);
  tn_body_id upper = test_box(world, tn_p3(0.0, -0.5, 0.0), light, half);
  tn_body_id lower = test_box(world, tn_p3(0.0, -1.0, 0.0), heavy, half);
  tn_joint_id joints[2] = {
      test_joint(world, TN_JOINT_BALL, test_no_body, upper, tn_p3(0.0, 0.0, 0.0), z_axis),
      test_joint(world, TN_JOINT_BALL, upper, lower, tn_p3(0.0, -0.75, 0.0), z_axis)};
  test_run(world, DT, 300);
  double gap = largest_gap(world, joints, 2);
  print_message("  %g kg under %g kg: gap %.2g m\n", (double)heavy, (double)light, gap);
  assert_close((double)tn_joint_get_state(world, joints[0]).force.y, 10.0 * (double)(light + heavy),
               0.002 * 10.0 * (double)(light + heavy));
  tn_world_destroy(world);
  return gap;
}

static void fig_6_mass_ratios_do_not_matter(void **unused)
{
  (void)unused;
  assert_below(sag_under(1e-3f, 1.0f), 10e-6);
  assert_below(sag_under(1e-3f, 1e3f), 1e-3);
}

// A rod that hangs on a universal or ball joint, or on the hinges that make it up, as robot files
// write them: with links between that have `share` of the rod's mass. Another rod hangs on its end.
typedef struct split_joint {
  tn_joint_kind kind;
  int substeps;
  tn_quat start;
  float friction; // of the first axis
} split_joint;

static void add_split_joint(tn_world *world, const split_joint *s, tn_body_id rod, float share)
{
  tn_joint_def def = tn_default_joint_def(share > 0.0f ? TN_JOINT_HINGE : s->kind);
  tn_vec3 axes[3] = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
  int count = share == 0.0f ? 1 : s->kind == TN_JOINT_UNIVERSAL ? 2 : 3;
  for (int i = 0; i < count; ++i) {
    def.body_b = rod;
    if (i + 1 < count) {
      tn_body_def dummy = test_body_def();
      dummy.mass.mass = share;
      dummy.mass.inertia = (tn_sym3){0.01f * share, 0.01f * share, 0.01f * share, 0.0f, 0.0f, 0.0f};
      def.body_b = tn_body_create(world, &dummy);
    }
    tn_joint_def_at(world, &def, tn_p3(0.0, 0.0, 0.0), axes[i]);
    def.axis[TN_ANGULAR_A].friction = i == 0 ? s->friction : 0.0f;
    assert_false(TN_IS_NULL(tn_joint_create(world, &def)));
    def.body_a = def.body_b;
  }
}

// Where the end of the lower rod is after a second.
static tn_pos end_of_rods(const split_joint *s, float share)
{
  tn_world *world = test_world(s->substeps, TN_METHOD_TENON);
  tn_body_id rods[2];
  for (int i = 0; i < 2; ++i) {
    tn_body_def def = test_body_def();
    def.mass = tn_mass_scaled_to(tn_mass_box(tn_v3(0.03f, 0.2f, 0.05f), 1000.0f), 1.0f);
    def.rotation = s->start;
    def.position = tn_offset(tn_p3(0.0, 0.0, 0.0),
                             tn_rotate(s->start, tn_v3(0.0f, i == 0 ? -0.2f : -0.6f, 0.0f)));
    rods[i] = tn_body_create(world, &def);
  }
  tn_vec3 knee = tn_rotate(s->start, tn_v3(0.0f, -0.4f, 0.0f));
  test_joint(world, TN_JOINT_HINGE, rods[0], rods[1], tn_offset(tn_p3(0.0, 0.0, 0.0), knee),
             tn_rotate(s->start, tn_v3(1.0f, 0.0f, 0.0f)));
  add_split_joint(world, s, rods[0], share);
  test_run(world, DT, 60);
  tn_pos at = tn_body_position(world, rods[1]);
  tn_world_destroy(world);
  return at;
}

// Links of 1e-4 to 1e-9 of the mass; heavier ones move the rod by their own weight.
static void links_of_no_mass_act_as_one_joint(void **unused)
{
  (void)unused;
  uint32_t random = 1;
  double worst = 0.0;
  for (int i = 0; i < test_cases(24, 300); ++i) {
    static const int substeps[] = {4, 8, 20};
    split_joint s = {.kind = i % 2 == 0 ? TN_JOINT_BALL : TN_JOINT_UNIVERSAL};
    s.substeps = substeps[i % 3];
    s.start = tn_quat_axis_angle(test_vector(&random, 1.0f), test_between(&random, 0.2f, 0.6f));
    s.friction = s.kind == TN_JOINT_UNIVERSAL && i % 4 == 3 ? 0.02f : 0.0f;
    float share = tn_exp(2.302585f * test_between(&random, -9.0f, -4.0f));
    double off =
        (double)tn_length(tn_between_points(end_of_rods(&s, share), end_of_rods(&s, 0.0f)));
    worst = fmax(worst, off);
  }
  print_message("  links of no mass: off by %.2g mm\n", 1e3 * worst);
  assert_below(worst, 0.1e-3);
}

static void check_pendulum(const char *name, int substeps, double seconds, double bound)
{
  scene_run *run = start_scene(name, "", substeps);
  run_scene(run, seconds);
  assert_below(fabs(told(run, "energy_rel_max")), bound);
  assert_below(told(run, "max_joint_error_m"), 1e-3);
  scene_destroy(run);
}

static void fig_8_pendula_keep_their_energy(void **unused)
{
  (void)unused;
  for (int substeps = 20; substeps <= 40; substeps += 20) {
    check_pendulum("pendulum_triple", substeps, 10.0, 0.0005);
    check_pendulum("pendulum_triple", substeps, 60.0, 0.003);
    check_pendulum("pendulum_loop", substeps, 10.0, 0.0005);
    check_pendulum("pendulum_loop", substeps, 60.0, 0.003);
  }
}

// ---------------------------------------------------------------------------------------------
// Loops

typedef struct loop {
  tn_world *world;
  tn_joint_id joints[512];
  int joint_count;
} loop;

static tn_body_id add_bar(loop *l, tn_pos a, tn_pos b, float mass)
{
  tn_vec3 d = tn_between_points(a, b);
  tn_body_def def = test_body_def();
  def.position = tn_offset(a, tn_scale(0.5f, d));
  float length = tn_length(d);
  tn_vec3 axis = tn_cross(tn_v3(1.0f, 0.0f, 0.0f), d);
  if (tn_length(axis) > 0.0f) {
    def.rotation = tn_quat_axis_angle(axis, tn_acos(d.x / length));
  }
  def.mass = tn_mass_scaled_to(tn_mass_box(tn_v3(0.5f * length, 0.05f, 0.05f), 1.0f), mass);
  return tn_body_create(l->world, &def);
}

static void add_joint(loop *l, tn_joint_kind kind, tn_body_id a, tn_body_id b, tn_pos at,
                      tn_vec3 axis)
{
  l->joints[l->joint_count++] = test_joint(l->world, kind, a, b, at, axis);
}

// Runs and returns the largest joint error and the largest energy gain relative to `scale`.
static void check_loop(loop *l, const char *name, double seconds, double scale, double gap)
{
  double start = total_energy(l->world), rise = 0.0, most = 0.0;
  for (int i = 0; i < (int)(seconds * 60.0); ++i) {
    test_run(l->world, DT, 1);
    rise = fmax(rise, total_energy(l->world) - start);
    most = fmax(most, largest_gap(l->world, l->joints, l->joint_count));
  }
  print_message("  %s, %.0f s: gap %.2g mm, energy rises by %.2g %%\n", name, seconds, 1e3 * most,
                100.0 * rise / scale);
  assert_below(most, gap);
  assert_below(rise / scale, 0.01);
  tn_world_destroy(l->world);
}

// Four hinges with parallel axes: 20 rows, where 8 hold a planar linkage.
static void four_bar_with_redundant_hinges_holds(void **unused)
{
  (void)unused;
  loop l = {.world = test_world(20, TN_METHOD_TENON)};
  tn_pos p[4] = {tn_p3(0.0, 0.0, 0.0), tn_p3(0.0, 0.5, 0.0), tn_p3(1.0, 0.9, 0.0),
                 tn_p3(1.2, 0.0, 0.0)};
  tn_body_id bars[3];
  for (int i = 0; i < 3; ++i) {
    bars[i] = add_bar(&l, p[i], p[i + 1], 1.0f);
    add_joint(&l, TN_JOINT_HINGE, i == 0 ? test_no_body : bars[i - 1], bars[i], p[i], z_axis);
  }
  add_joint(&l, TN_JOINT_HINGE, bars[2], test_no_body, p[3], z_axis);
  check_loop(&l, "four-bar", 20.0, 3.0 * 10.0 * 0.5, 0.1e-3);
}

// Bennett's linkage: four hinges with skew axes. It is mobile only because opposite sides are equal
// and the twists satisfy a / sin(alpha) = b / sin(beta).
static void bennett_linkage_holds(void **unused)
{
  (void)unused;
  // With a = b the twists are alpha and pi - alpha: a skew rhombus, symmetric about an axis.
  loop l = {.world = test_world(20, TN_METHOD_TENON)};
  const double r = 0.7, z = 0.25;
  tn_pos p[4] = {tn_p3(r, z, 0.0), tn_p3(0.0, -z, r), tn_p3(-r, z, 0.0), tn_p3(0.0, -z, -r)};
  tn_body_id bars[4];
  for (int i = 0; i < 4; ++i) {
    bars[i] = add_bar(&l, p[i], p[(i + 1) % 4], 1.0f);
  }
  for (int i = 0; i < 4; ++i) {
    // Hinge axes are normal to both bars they join.
    tn_vec3 before = tn_between_points(p[i], p[(i + 3) % 4]);
    tn_vec3 after = tn_between_points(p[i], p[(i + 1) % 4]);
    add_joint(&l, TN_JOINT_HINGE, bars[(i + 3) % 4], bars[i], p[i], tn_cross(before, after));
  }
  tn_joint_def pin = tn_default_joint_def(TN_JOINT_FIXED);
  pin.body_b = bars[0];
  tn_joint_def_at(l.world, &pin, tn_body_position(l.world, bars[0]), z_axis);
  tn_joint_create(l.world, &pin);
  tn_vec3 before = tn_body_velocity(l.world, bars[2]);
  assert_true(tn_length(before) == 0.0f);
  test_run(l.world, DT, 20);
  assert_true(tn_length(tn_body_velocity(l.world, bars[2])) > 0.05f); // it is mobile
  check_loop(&l, "Bennett linkage", 20.0, 4.0 * 10.0 * 0.5, 0.1e-3);
}

static void ring_of_fifty_holds(void **unused)
{
  (void)unused;
  enum { COUNT = 50 };
  loop l = {.world = test_world(20, TN_METHOD_TENON)};
  tn_pos p[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    float angle = 2.0f * TN_PI * (float)i / (float)COUNT;
    p[i] = tn_p3(2.0 * (double)tn_sin(angle), 2.0 * (double)tn_cos(angle), 0.0);
  }
  tn_body_id bars[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    bars[i] = add_bar(&l, p[i], p[(i + 1) % COUNT], 1.0f);
  }
  for (int i = 0; i < COUNT; ++i) {
    add_joint(&l, TN_JOINT_BALL, bars[(i + COUNT - 1) % COUNT], bars[i], p[i], z_axis);
  }
  add_joint(&l, TN_JOINT_BALL, test_no_body, bars[0], p[0], z_axis);
  check_loop(&l, "ring of 50", 20.0, COUNT * 10.0 * 2.0, 5e-3);
}

static void net_of_balls_holds(void **unused)
{
  (void)unused;
  enum { SIDE = 10 };
  loop l = {.world = test_world(20, TN_METHOD_TENON)};
  tn_body_id ball[SIDE][SIDE];
  for (int i = 0; i < SIDE; ++i) {
    for (int k = 0; k < SIDE; ++k) {
      tn_pos at = tn_p3(0.2 * i, 0.0, 0.2 * k);
      ball[i][k] = test_box(l.world, at, 1.0f, tn_v3(0.05f, 0.05f, 0.05f));
      if (i > 0) {
        add_joint(&l, TN_JOINT_BALL, ball[i - 1][k], ball[i][k], tn_p3(0.2 * i - 0.1, 0.0, 0.2 * k),
                  z_axis);
      }
      if (k > 0) {
        add_joint(&l, TN_JOINT_BALL, ball[i][k - 1], ball[i][k], tn_p3(0.2 * i, 0.0, 0.2 * k - 0.1),
                  z_axis);
      }
    }
  }
  add_joint(&l, TN_JOINT_BALL, test_no_body, ball[0][0], tn_p3(0.0, 0.0, 0.0), z_axis);
  add_joint(&l, TN_JOINT_BALL, test_no_body, ball[SIDE - 1][0], tn_p3(1.8, 0.0, 0.0), z_axis);
  check_loop(&l, "net of 10 x 10", 10.0, SIDE * SIDE * 10.0 * 1.0, 5e-3);
}

static void star_of_many_joints_holds(void **unused)
{
  (void)unused;
  enum { ARMS = 1000 };
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id hub = test_box(world, tn_p3(0.0, 0.0, 0.0), 100.0f, tn_v3(0.5f, 0.5f, 0.5f));
  test_joint(world, TN_JOINT_FIXED, test_no_body, hub, tn_p3(0.0, 0.0, 0.0), z_axis);
  static tn_joint_id joints[ARMS];
  for (int i = 0; i < ARMS; ++i) {
    float angle = 2.0f * TN_PI * (float)i / (float)ARMS;
    tn_pos at = tn_p3(2.0 * (double)tn_cos(angle), -1.0, 2.0 * (double)tn_sin(angle));
    tn_body_id arm = test_box(world, at, 0.1f, tn_v3(0.1f, 0.1f, 0.1f));
    tn_joint_def def = tn_default_joint_def(TN_JOINT_DISTANCE);
    def.body_a = hub;
    def.body_b = arm;
    tn_joint_def_between(world, &def, tn_p3(0.0, 0.0, 0.0), at);
    joints[i] = tn_joint_create(world, &def);
  }
  double worst = 0.0;
  for (int i = 0; i < 60; ++i) {
    test_run(world, DT, 1);
    worst = fmax(worst, largest_gap(world, joints, ARMS));
  }
  print_message("  %d arms on one body: gap %.2g m\n", ARMS, worst);
  assert_below(worst, 1e-4);
  tn_world_destroy(world);
}

// A free hub with arms on ball joints: six arms are solved as a ball tree, seven are too many.
static void check_free_star(int arms)
{
  tn_world_def world_def = test_world_def(20, TN_METHOD_TENON);
  world_def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
  tn_world *world = tn_world_create(&world_def);
  tn_joint_id joints[8];
  tn_body_id hub = test_box(world, tn_p3(0.0, 0.0, 0.0), 5.0f, tn_v3(0.3f, 0.2f, 0.1f));
  for (int i = 0; i < arms; ++i) {
    float angle = 2.0f * TN_PI * (float)i / (float)arms;
    tn_pos at = tn_p3((double)tn_cos(angle), 0.1 * i, (double)tn_sin(angle));
    tn_pos end = tn_p3(0.5 * at.x, 0.5 * at.y, 0.5 * at.z);
    tn_body_id arm = test_box(world, at, 0.1f + (float)i, tn_v3(0.1f, 0.1f, 0.2f));
    joints[i] = test_joint(world, TN_JOINT_BALL, i % 2 ? hub : arm, i % 2 ? arm : hub, end, z_axis);
    tn_body_set_angular_velocity(world, arm, tn_v3(1.0f, (float)(i % 3), -2.0f));
  }
  test_run(world, DT, 1);
  tn_momentum before = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0));
  double energy = total_energy(world), worst = 0.0;
  for (int i = 0; i < 180; ++i) {
    test_run(world, DT, 1);
    worst = fmax(worst, largest_gap(world, joints, arms));
  }
  tn_momentum after = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0));
  double change = total_energy(world) / energy - 1.0;
  print_message("  free star of %d: gap %.2g m, energy %+.2g\n", arms, worst, change);
  assert_below(worst, 1e-5);
  assert_close(change, 0.0, 1e-3);
  double scale = sqrt(2.0 * energy * 25.0);
  assert_close(after.linear[0], before.linear[0], 1e-5 * scale);
  assert_close(after.linear[1], before.linear[1], 1e-5 * scale);
  assert_close(after.linear[2], before.linear[2], 1e-5 * scale);
  assert_close(after.angular[0], before.angular[0], 1e-4 * scale);
  assert_close(after.angular[1], before.angular[1], 1e-4 * scale);
  assert_close(after.angular[2], before.angular[2], 1e-4 * scale);
  tn_world_destroy(world);
}

static void free_stars_keep_momentum(void **unused)
{
  (void)unused;
  check_free_star(6);
  check_free_star(7);
}

// Light links between two heavy boxes that orbit each other, at 4 substeps: the links get added
// inertia, which must not slow the rotation.
static void check_sling(tn_joint_kind kind)
{
  enum { LINKS = 30 };
  tn_world_def world_def = test_world_def(4, TN_METHOD_TENON);
  world_def.gravity = tn_v3(0.0f, 0.0f, 0.0f);
  tn_world *world = tn_world_create(&world_def);
  tn_body_id last = test_no_body;
  const float spin = 10.0f;
  for (int i = 0; i < LINKS; ++i) {
    double x = 0.2 * i - 0.1 * (LINKS - 1);
    float mass = i == 0 || i == LINKS - 1 ? 100.0f : 0.1f;
    tn_body_id link = test_box(world, tn_p3(x, 0.0, 0.0), mass, tn_v3(0.09f, 0.02f, 0.02f));
    tn_body_set_velocity(world, link, tn_v3(0.0f, spin * (float)x, 0.3f * tn_sin((float)i)));
    tn_body_set_angular_velocity(world, link, tn_v3(0.0f, 0.0f, spin));
    tn_body_set_max_angular_speed(world, link, 1e6f); // a link at the limit loses momentum
    if (i > 0) {
      test_joint(world, kind, last, link, tn_p3(x - 0.1, 0.0, 0.0), z_axis);
    }
    last = link;
  }
  tn_momentum before = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0));
  test_run(world, DT, 300);
  tn_momentum after = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0));
  for (int k = 0; k < 3; ++k) {
    assert_close(after.angular[k], before.angular[k], 1e-5 * before.angular[2]);
  }
  tn_world_destroy(world);
}

static void added_inertia_of_light_links_keeps_angular_momentum(void **unused)
{
  (void)unused;
  check_sling(TN_JOINT_HINGE);
  check_sling(TN_JOINT_UNIVERSAL);
}

// A hanging chain in which one joint becomes a spring and rigid again.
static void rigid_trees_may_become_springs(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_joint_id joints[3];
  tn_body_id last = test_no_body;
  for (int i = 0; i < 3; ++i) {
    tn_body_id box = test_box(world, tn_p3(0.0, -0.5 - i, 0.0), 1.0f, tn_v3(0.1f, 0.4f, 0.1f));
    joints[i] = test_joint(world, TN_JOINT_BALL, last, box, tn_p3(0.0, -1.0 * i, 0.0), z_axis);
    last = box;
  }
  test_run(world, DT, 30);
  assert_below(largest_gap(world, joints, 3), 1e-6);
  tn_joint_def def = tn_joint_get_def(world, joints[1]);
  def.compliance = 1e-4f; // 20 N: 2 mm, about which it oscillates
  assert_true(tn_joint_set_def(world, joints[1], &def));
  double sum = 0.0;
  for (int i = 0; i < 240; ++i) {
    test_run(world, DT, 1);
    sum += (double)tn_joint_get_state(world, joints[1]).elongation;
  }
  assert_close(sum / 240.0, 2e-3, 0.1e-3);
  assert_below((double)tn_joint_get_state(world, joints[0]).elongation, 1e-5);
  def.compliance = 0.0f;
  assert_true(tn_joint_set_def(world, joints[1], &def));
  test_run(world, DT, 30);
  assert_below(largest_gap(world, joints, 3), 1e-5);
  tn_world_destroy(world);
}

// Every body joined to every other: elimination would fill the matrix.
static void dense_net_is_solved_iteratively_and_reported(void **unused)
{
  (void)unused;
  enum { COUNT = 64 };
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_body_id bodies[COUNT];
  uint32_t random = 7;
  for (int i = 0; i < COUNT; ++i) {
    tn_vec3 p = test_vector(&random, 1.0f);
    bodies[i] = test_box(world, tn_offset(tn_p3(0.0, 0.0, 0.0), p), 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
    for (int k = 0; k < i; ++k) {
      test_joint(world, TN_JOINT_BALL, bodies[k], bodies[i], tn_p3(0.0, 0.0, 0.0), z_axis);
    }
  }
  tn_body_set_velocity(world, bodies[0], tn_v3(1.0f, 0.0f, 0.0f));
  for (int i = 0; i < 10; ++i) {
    uint32_t status = tn_world_step(world, DT);
    assert_int_equal(status & ~(uint32_t)TN_STEP_SERIAL, TN_STEP_ITERATIVE);
  }
  assert_true(test_is_finite(world));
  tn_world_destroy(world);
}

// A chain pinned at both ends, farther apart than its length.
static void infeasible_chain_spreads_its_error_and_rests(void **unused)
{
  (void)unused;
  scene_run *run = start_scene("unsolvable", "stretch=1.3", 20);
  run_scene(run, 5.0);
  assert_below(told(run, "max_speed_end"), 1e-3);
  double mean = 0.0, most = 0.0;
  for (int i = 0; i < run->joint_count; ++i) {
    double gap = (double)tn_joint_get_state(run->world, run->joints[i]).elongation;
    mean += gap / run->joint_count;
    most = fmax(most, gap);
  }
  print_message("  largest over mean gap: %.3f\n", most / mean);
  assert_below(most / mean, 1.3);
  scene_destroy(run);
}

// Two hinges whose axes contradict each other.
static void infeasible_joints_come_to_rest(void **unused)
{
  (void)unused;
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_body_id box = test_box(world, tn_p3(0.0, 0.0, 0.0), 1.0f, tn_v3(0.2f, 0.2f, 0.2f));
  test_joint(world, TN_JOINT_HINGE, test_no_body, box, tn_p3(0.5, 0.0, 0.0), z_axis);
  tn_joint_def def = tn_default_joint_def(TN_JOINT_BALL);
  def.body_b = box;
  def.frame_a.p = tn_p3(-0.5, 2.0, 0.3);
  def.frame_b.p = tn_p3(-0.5, 0.0, 0.0);
  tn_joint_create(world, &def);
  for (int i = 0; i < 300; ++i) {
    test_run(world, DT, 1);
    assert_below(tn_length(tn_body_velocity(world, box)), 20.0);
  }
  assert_below(tn_length(tn_body_velocity(world, box)), 1e-3);
  assert_below(tn_length(tn_body_angular_velocity(world, box)), 1e-3);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mobiles_of_any_size_hold),
      cmocka_unit_test(fig_6_mass_ratios_do_not_matter),
      cmocka_unit_test(links_of_no_mass_act_as_one_joint),
      cmocka_unit_test(fig_8_pendula_keep_their_energy),
      cmocka_unit_test(four_bar_with_redundant_hinges_holds),
      cmocka_unit_test(bennett_linkage_holds),
      cmocka_unit_test(ring_of_fifty_holds),
      cmocka_unit_test(net_of_balls_holds),
      cmocka_unit_test(star_of_many_joints_holds),
      cmocka_unit_test(free_stars_keep_momentum),
      cmocka_unit_test(added_inertia_of_light_links_keeps_angular_momentum),
      cmocka_unit_test(rigid_trees_may_become_springs),
      cmocka_unit_test(dense_net_is_solved_iteratively_and_reported),
      cmocka_unit_test(infeasible_chain_spreads_its_error_and_rests),
      cmocka_unit_test(infeasible_joints_come_to_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
