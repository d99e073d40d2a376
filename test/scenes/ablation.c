// Measures of a few dozen short scenes, for scripts/ablation: what each rule of the solver is good
// for. Built with -DTENON_RULES=ON, TENON_RULES_OFF switches rules off.
//
//   ablation rules           prints the names of all rules
//   ablation scenes          prints the names of all scenes
//   ablation SCENE [NUDGE]   prints lines "SCENE MEASURE VALUE FLOOR"
//
// NUDGE changes the time step by so many millionths: the spread over some nudges is what a measure
// of a chaotic scene means nothing below. Values and changes below FLOOR count as zero.
#include "contact_support.h"
#include "random_graph.h"

#include "base/rules.h"

#define MAX_MEASURES 3

typedef struct measure {
  const char *name; // a metric of the scene, or "rest_speed": fastest in the time at rest, m/s
  double floor;
} measure;

typedef struct ablation_scene {
  const char *label, *scene, *settings;
  int substeps;
  double seconds, rest; // s; at rest: measured after `seconds`
  measure measures[MAX_MEASURES];
} ablation_scene;

#define LENGTH 1e-6 // m
#define SPEED 1e-4  // m/s
#define SHARE 1e-5  // of the energy, of a force, of a length
#define ANGLE 1e-5  // rad

static const ablation_scene SCENES[] = {
    // Stacks.
    {"tower",
     "stack",
     "count=20",
     4,
     10.0,
     2.0,
     {{"max_drift_m", LENGTH}, {"top_drop_m", LENGTH}, {"rest_speed", SPEED}}},
    {"crooked_tower",
     "stack",
     "count=30 offset=0.01",
     12,
     8.0,
     2.0,
     {{"max_drift_m", LENGTH}, {"rest_speed", SPEED}}},
    {"heavy_load",
     "stack_heavy",
     "offset=0.01",
     8,
     8.0,
     2.0,
     {{"max_drift_m", LENGTH}, {"top_drop_m", LENGTH}, {"rest_speed", SPEED}}},
    {"pyramid",
     "pyramid",
     "base=20",
     4,
     8.0,
     2.0,
     {{"max_drift_m", LENGTH}, {"max_penetration_m", LENGTH}, {"rest_speed", SPEED}}},
    {"high_pyramid",
     "pyramid",
     "base=45",
     4,
     2.0,
     0.0,
     {{"max_drift_m", LENGTH}, {"top_drop_m", LENGTH}}},
    {"arch", "arch", "", 20, 3.0, 0.0, {{"top_drop_m", LENGTH}}},
    {"jenga", "jenga", "", 20, 3.0, 0.0, {{"top_drop_m", LENGTH}, {"top_tilt_rad", ANGLE}}},
    // Overlaps and piles.
    {"overlap",
     "overlap",
     "base=10 overlap_m=0.4",
     20,
     3.0,
     0.0,
     {{"max_speed_run", SPEED}, {"max_drift_m", LENGTH}}},
    {"capsules",
     "capsules",
     "count=200 width=3",
     20,
     5.0,
     1.0,
     {{"max_penetration_m", LENGTH}, {"rest_speed", SPEED}, {"escaped", 0.5}}},
    {"pile",
     "pile",
     "count=100 across=4",
     8,
     6.0,
     1.0,
     {{"mean_penetration_m", LENGTH}, {"rms_speed_end", SPEED}, {"momentum_rel", SHARE}}},
    // Friction.
    {"slope", "slope", "", 8, 5.0, 0.0, {{"creep_m", LENGTH}}},
    {"steep_slope", "slope", "angle=40", 8, 2.0, 0.0, {{"way_m", LENGTH}}},
    {"sliding", "sliding", "", 8, 3.0, 0.0, {{"way_m", LENGTH}}},
    {"rolling", "rolling", "", 8, 2.0, 0.0, {{"way_m", LENGTH}, {"slip", SPEED}}},
    {"coin", "coin", "", 20, 3.0, 0.0, {{"tilt_rad", ANGLE}, {"energy_rel_max", SHARE}}},
    {"conveyor", "conveyor", "", 8, 2.0, 0.0, {{"way_m", LENGTH}}},
    // Impacts and fast bodies.
    {"bounce", "bounce", "", 4, 5.0, 0.0, {{"last_apex_rel", SHARE}, {"energy_rel_max", SHARE}}},
    {"half_bounce",
     "bounce",
     "restitution=0.5",
     4,
     4.0,
     1.0,
     {{"first_apex_rel", SHARE}, {"rest_speed", SPEED}}},
    {"cradle", "cradle", "", 8, 5.0, 0.0, {{"energy_rel_final", SHARE}, {"hit_speed_5", SHARE}}},
    {"plate", "plate", "", 8, 5.0, 0.0, {{"energy_rel_max", SHARE}}},
    {"rough_plate", "plate", "friction=0.5", 8, 5.0, 0.0, {{"energy_rel_max", SHARE}}},
    {"bullets", "bullets", "count=40", 4, 0.25, 0.0, {{"passed", 0.5}}},
    {"bullets_bounce", "bullets", "count=40 restitution=0.5", 4, 0.25, 0.0, {{"passed", 0.5}}},
    {"marble_run",
     "marble_run",
     "",
     8,
     4.0,
     0.0,
     {{"off_track", 0.5}, {"energy_rel_final", SHARE}, {"max_penetration_run", LENGTH}}},
    // Mechanisms.
    {"triple_pendulum", "pendulum_triple", "", 20, 5.0, 0.0, {{"energy_rel_max", SHARE}}},
    {"loop",
     "pendulum_loop",
     "",
     20,
     5.0,
     0.0,
     {{"energy_rel_max", SHARE}, {"max_joint_error_m", LENGTH}}},
    {"chain",
     "chain",
     "end_mass_ratio=100",
     8,
     2.0,
     0.0,
     {{"max_joint_error_m", LENGTH}, {"energy_rel_max", SHARE}}},
    {"mobile",
     "mobile",
     "",
     8,
     2.0,
     0.0,
     {{"max_joint_error_m", LENGTH}, {"energy_rel_max", SHARE}}},
    {"springs", "springs7", "", 20, 4.0, 0.0, {{"elongation_error_rel", SHARE}}},
    {"mass_ratio",
     "mass_ratio",
     "",
     20,
     3.0,
     0.0,
     {{"rigid_top_error_m", LENGTH}, {"rigid_force_error_rel", SHARE}}},
    {"torque_bar",
     "torque_bar",
     "",
     20,
     2.0,
     0.0,
     {{"torque_error_rel", SHARE}, {"angle_error_rad", ANGLE}}},
    {"joint_zoo",
     "joint_zoo",
     "",
     20,
     4.0,
     0.0,
     {{"limit_error_rad", ANGLE}, {"target_error_rad", ANGLE}, {"soft_error_rel", SHARE}}},
    {"joints",
     "joints_basic",
     "",
     20,
     3.0,
     0.0,
     {{"hinge_energy_rel", SHARE}, {"servo_error_rad", ANGLE}, {"wheel_speed_error_rel", SHARE}}},
    {"robot_arm",
     "robot_arm",
     "",
     20,
     2.0,
     0.0,
     {{"target_distance_m", LENGTH}, {"limit_error_rad", ANGLE}}},
    {"excavator",
     "excavator",
     "",
     8,
     2.0,
     0.0,
     {{"angle_error_rad", ANGLE}, {"max_joint_error_m", LENGTH}}},
    {"unsolvable",
     "unsolvable",
     "",
     20,
     3.0,
     0.0,
     {{"gap_max_m", LENGTH}, {"rms_speed_end", SPEED}}},
    {"twisted_rope",
     "rope",
     "count=40",
     20,
     2.0,
     0.0,
     {{"max_joint_error_m", LENGTH}, {"twist_max_rad", ANGLE}}},
    // Mechanisms in contact.
    {"ragdolls",
     "ragdoll",
     "count=4 stairs=0 mass_ratio=1",
     20,
     4.0,
     1.5,
     {{"rest_speed", SPEED}, {"max_joint_error_m", LENGTH}, {"max_penetration_m", LENGTH}}},
    {"light_limbs",
     "ragdoll",
     "count=4 stairs=0 mass_ratio=1000 height=0.32",
     20,
     4.0,
     1.5,
     {{"rest_speed", SPEED}, {"max_joint_error_m", LENGTH}, {"max_penetration_m", LENGTH}}},
    {"stairs",
     "ragdoll",
     "count=2",
     8,
     2.5,
     0.0,
     {{"max_joint_error_m", LENGTH}, {"energy_rel_max", SHARE}}},
    {"walker", "walker", "", 20, 3.0, 0.0, {{"way_m", LENGTH}, {"height_m", LENGTH}}},
    {"bridge",
     "bridge",
     "half_spans=5",
     8,
     3.0,
     0.0,
     {{"top_drop_m", LENGTH}, {"max_joint_error_m", LENGTH}}},
    // Soft bodies.
    {"cloth",
     "tori_on_cloth",
     "count=3 across=21",
     8,
     3.0,
     0.0,
     {{"held", 0.5}, {"sag_m", LENGTH}, {"max_torus_speed_end", SPEED}}},
    {"soft_cube",
     "soft_cube_spin",
     "",
     8,
     2.0,
     0.0,
     {{"angular_momentum_rel", SHARE}, {"energy_rel_final", SHARE}}},
    {"four_cubes",
     "four_cubes",
     "",
     8,
     0.7,
     0.0,
     {{"momentum_rel", SHARE}, {"energy_rel_max", SHARE}}},
    {"duck",
     "elk_and_duck",
     "level=3",
     8,
     0.7,
     0.0,
     {{"duck_volume_rel", SHARE}, {"duck_depth_m", LENGTH}, {"elk_speed", SPEED}}},
    {"car",
     "car",
     "",
     8,
     0.8,
     0.0,
     {{"way_m", LENGTH}, {"tyre_bulge_m", LENGTH}, {"max_joint_error_m", LENGTH}}},
};
#define SCENE_COUNT ((int)(sizeof SCENES / sizeof SCENES[0]))

static void print_measure(const char *label, const char *name, double value, double floor)
{
  printf("%s %s %.9g %g\n", label, name, value, floor);
}

static void ignore_message(tn_log_level level, const char *message, void *context)
{
  (void)level, (void)message, (void)context;
}

static void run_for(scene_run *run, double seconds, float dt)
{
  for (int i = (int)(seconds * 60.0 + 0.5); i > 0; --i) {
    scene_step(run, dt);
  }
}

static void run_ablation_scene(const ablation_scene *s, float dt)
{
  tn_world_def def = test_world_def(s->substeps, TN_METHOD_TENON);
  def.sleeping = false;
  def.threads = 1;
  def.log = ignore_message;
  scene_run *run = start_scene_by(s->scene, s->settings, &def);
  run_for(run, s->seconds, dt);
  double fastest = run->fastest;
  run->fastest = 0.0;
  run_for(run, s->rest, dt);
  double at_rest = run->fastest;
  run->fastest = fmax(fastest, at_rest);
  for (int i = 0; i < MAX_MEASURES && s->measures[i].name; ++i) {
    const measure *m = &s->measures[i];
    double value = strcmp(m->name, "rest_speed") == 0 ? at_rest : scene_metric_value(run, m->name);
    print_measure(s->label, m->name, value, m->floor);
  }
  scene_destroy(run);
}

// ---------------------------------------------------------------------------------------------
// Scenes that the library does not have

static tn_world *ablation_world(int substeps)
{
  tn_world_def def = test_world_def(substeps, TN_METHOD_TENON);
  def.sleeping = false;
  def.threads = 1;
  def.log = ignore_message;
  return tn_world_create(&def);
}

static void step_for(tn_world *world, int steps, float dt)
{
  for (int i = 0; i < steps; ++i) {
    tn_world_step(world, dt);
  }
}

// A rod whose load is at one end turns about it: its friction torque is that of the lighter end.
static void run_rod(float dt)
{
  tn_world *world = ablation_world(20);
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_def rod = axial_shape(TN_SHAPE_CAPSULE, 0.1f, 0.5f);
  rod.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), 0.5f * TN_PI);
  add_shape(world, test_no_body, &ground);
  tn_body_def def = tn_default_body_def();
  def.position = tn_p3(0.0, 0.1, 0.0);
  def.mass = (tn_mass){1.0f, {0.45f, 0.0f, 0.0f}, {.xx = 0.5f, .yy = 1.0f, .zz = 1.0f}};
  tn_body_id body = add_body(world, &def);
  add_shape(world, body, &rod);
  step_for(world, 60, dt);
  tn_body_set_angular_velocity(world, body, tn_v3(0.0f, 2.0f, 0.0f));
  step_for(world, 72, dt);
  print_measure("rod", "spin_end", (double)tn_body_angular_velocity(world, body).y, SPEED);
  tn_world_destroy(world);
}

// A ball with rolling friction, and one that slides first.
static void run_balls(float dt)
{
  tn_world *world = ablation_world(8);
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_def ball = ball_shape(0.5f);
  ball.material.rolling_friction = ground.material.rolling_friction = 0.02f;
  add_shape(world, test_no_body, &ground);
  tn_body_id rolls = add_solid(world, tn_p3(0.0, 0.5, 0.0), &ball);
  tn_body_id slides = add_solid(world, tn_p3(0.0, 0.5, 5.0), &ball);
  tn_body_set_velocity(world, rolls, tn_v3(2.0f, 0.0f, 0.0f));
  tn_body_set_angular_velocity(world, rolls, tn_v3(0.0f, 0.0f, -4.0f));
  tn_body_set_velocity(world, slides, tn_v3(3.0f, 0.0f, 0.0f));
  step_for(world, 600, dt);
  print_measure("balls", "rolled_m", tn_body_position(world, rolls).x, LENGTH);
  print_measure("balls", "slid_m", tn_body_position(world, slides).x, LENGTH);
  tn_world_destroy(world);
}

// Balls and cubes that fly in rooms of 2 m at 300 m/s.
static void run_rooms(float dt)
{
  uint32_t random = 3;
  int escaped = 0;
  double worst = 0.0;
  for (int i = 0; i < 12; ++i) {
    tn_world *world = ablation_world(i % 4 < 2 ? 4 : 20);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    tn_shape_def flies = i % 2 ? cube_shape(0.02f) : ball_shape(0.02f);
    flies.material.restitution = i % 2 ? 0.0f : 1.0f;
    flies.material.static_friction = flies.material.dynamic_friction = 0.0f;
    for (int k = 0; k < 6; ++k) {
      tn_shape_def wall = tn_default_shape_def(TN_SHAPE_BOX);
      float side = k % 2 ? 1.005f : -1.005f;
      wall.half_extents =
          tn_v3(k / 2 == 0 ? 0.005f : 1.0f, k / 2 == 1 ? 0.005f : 1.0f, k / 2 == 2 ? 0.005f : 1.0f);
      wall.position =
          tn_v3(k / 2 == 0 ? side : 0.0f, k / 2 == 1 ? side : 0.0f, k / 2 == 2 ? side : 0.0f);
      wall.material = flies.material;
      add_shape(world, test_no_body, &wall);
    }
    tn_vec3 v = test_vector(&random, 300.0f);
    tn_body_id body = add_solid(world, tn_p3(0.1, 0.2, -0.3), &flies);
    tn_body_set_velocity(world, body, v);
    step_for(world, 50, dt);
    tn_pos p = tn_body_position(world, body);
    escaped += fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) > 1.01;
    double speed = (double)tn_length(tn_body_velocity(world, body));
    worst = i % 2 ? worst : fmax(worst, fabs(speed / (double)tn_length(v) - 1.0));
    tn_world_destroy(world);
  }
  print_measure("rooms", "escaped", escaped, 0.5);
  print_measure("rooms", "speed_error_rel", worst, SHARE);
}

// Every body joined to every other at one point, too dense for the direct solver; the whole swings
// about that point. Springs of every third joint; brakes that hold hinges.
static void run_net(float dt)
{
  enum { COUNT = 48 };
  for (int hinges = 0; hinges < 2; ++hinges) {
    tn_world *world = ablation_world(8);
    tn_body_id bodies[COUNT];
    tn_joint_id joints[COUNT * COUNT];
    uint32_t random = 7;
    int count = 0;
    tn_pos start = tn_p3(0.0, 0.0, 0.0);
    for (int i = 0; i < COUNT; ++i) {
      tn_vec3 p = test_vector(&random, 1.0f);
      bodies[i] = test_box(world, tn_offset(start, p), 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
      for (int k = -1; k < i; ++k) {
        tn_body_id other = k < 0 ? test_no_body : bodies[k];
        tn_joint_def def = test_joint_def(world, hinges ? TN_JOINT_HINGE : TN_JOINT_BALL, other,
                                          bodies[i], start, tn_v3(0.0f, 0.0f, 1.0f));
        def.axis[TN_ANGULAR_A].friction = hinges && k < 0 ? 100.0f : 0.0f;
        def.compliance = !hinges && (i + k) % 3 == 0 ? 1e-6f : 0.0f;
        if (k >= 0 || hinges || i % 4 == 0) {
          joints[count++] = tn_joint_create(world, &def);
        }
      }
    }
    double before = tn_world_energy(world).total, error = 0.0;
    tn_pos from = tn_body_position(world, bodies[1]);
    step_for(world, 60, dt);
    for (int i = 0; i < count; ++i) {
      error = fmax(error, (double)tn_joint_get_state(world, joints[i]).elongation);
    }
    double gained = (tn_world_energy(world).total - before) / (10.0 * COUNT);
    double way = (double)tn_length(tn_between_points(from, tn_body_position(world, bodies[1])));
    print_measure(hinges ? "net_brakes" : "net", "joint_error_m", error, LENGTH);
    if (hinges) {
      print_measure("net_brakes", "creep_m", way, LENGTH);
    } else {
      print_measure("net", "energy_rel_final", gained, SHARE);
    }
    tn_world_destroy(world);
  }
}

// Geometric mean over random joint graphs of the fastest body's speed, once joints that did not
// meet have closed.
static void run_graphs(float dt)
{
  static const char *const names[] = {"far",   "rigid",   "stiff",  "springs",
                                      "mixed", "between", "tangled"};
  for (int kind = GRAPH_FAR; kind <= GRAPH_TANGLED; ++kind) {
    double sum = 0.0;
    for (uint32_t seed = 0; seed < 4; ++seed) {
      random_graph g = graph_create(seed, (graph_kind)kind, 8);
      double fastest = 1e-6;
      for (int i = 0; i < 45; ++i) {
        tn_world_step(g.world, dt * (GRAPH_DT / DT));
        for (int k = 0; k < g.count && i >= 20; ++k) {
          fastest = fmax(fastest, (double)tn_length(tn_body_velocity(g.world, g.body[k])));
        }
      }
      sum += log(fastest);
      tn_world_destroy(g.world);
    }
    print_measure("graphs", names[kind], exp(sum / 4.0), SPEED);
  }
}

typedef struct own_scene {
  const char *label;
  void (*run)(float dt);
} own_scene;

static const own_scene OWN[] = {
    {"rod", run_rod}, {"balls", run_balls},   {"rooms", run_rooms},
    {"net", run_net}, {"graphs", run_graphs},
};
#define OWN_COUNT ((int)(sizeof OWN / sizeof OWN[0]))

// ---------------------------------------------------------------------------------------------

static bool run_label(const char *label, float dt)
{
  for (int i = 0; i < SCENE_COUNT; ++i) {
    if (strcmp(SCENES[i].label, label) == 0) {
      run_ablation_scene(&SCENES[i], dt);
      return true;
    }
  }
  for (int i = 0; i < OWN_COUNT; ++i) {
    if (strcmp(OWN[i].label, label) == 0) {
      OWN[i].run(dt);
      return true;
    }
  }
  return false;
}

static void print_rules(void)
{
#define PRINT_RULE(name) puts(#name);
  RULES(PRINT_RULE)
#undef PRINT_RULE
}

static void print_scenes(void)
{
  for (int i = 0; i < SCENE_COUNT; ++i) {
    puts(SCENES[i].label);
  }
  for (int i = 0; i < OWN_COUNT; ++i) {
    puts(OWN[i].label);
  }
}

int main(int argc, char **argv)
{
  int nudge = argc > 2 ? atoi(argv[2]) : 0;
  if (argc == 2 && strcmp(argv[1], "rules") == 0) {
    print_rules();
  } else if (argc == 2 && strcmp(argv[1], "scenes") == 0) {
    print_scenes();
  } else if (argc < 2 || argc > 3 || !run_label(argv[1], DT * (1.0f + 1e-6f * (float)nudge))) {
    fprintf(stderr, "usage: ablation rules | scenes | SCENE [NUDGE]\n");
    return 2;
  }
  return 0;
}
