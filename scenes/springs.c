// Forces, torques and elongations at rest: Mueller et al. 2020, Figures 4 to 6.
#include "build.h"

#include <math.h>

static const float GRAVITY = 10.0f; // as in the paper

// ---------------------------------------------------------------------------------------------
// Boxes on springs

// Hangs a box by the centre of its top, `length` below the hook.
static tn_body_id hang_box(scene_run *run, tn_body_id from, tn_pos hook, float length,
                           float compliance, tn_vec3 half_extents, float mass)
{
  tn_pos top = tn_offset(hook, tn_v3(0.0f, -length, 0.0f));
  tn_pos center = tn_offset(top, tn_v3(0.0f, -half_extents.y, 0.0f));
  tn_body_def def = scene_box(center, half_extents, mass);
  def.linear_damping = def.angular_damping = (float)scene_value(run, "damping");
  tn_body_id box = scene_add_body(run, &def);
  tn_joint_def spring = scene_joint_between(run, from, box, hook, top);
  spring.compliance = compliance;
  scene_add_joint(run, &spring);
  return box;
}

// Errors of the measured elongation and force of a spring at rest.
typedef struct spring_error {
  double elongation, force; // relative, largest so far
} spring_error;

static void compare_spring(const scene_run *run, int joint, double load, spring_error *worst)
{
  double compliance = (double)tn_joint_get_def(run->world, run->joints[joint]).compliance;
  tn_joint_state state = tn_joint_get_state(run->world, run->joints[joint]);
  double force = (double)tn_length(state.force);
  worst->force = fmax(worst->force, fabs(force - load) / load);
  if (compliance > 0.0) {
    double expected = load * compliance;
    worst->elongation =
        fmax(worst->elongation, fabs((double)state.elongation - expected) / expected);
  }
}

static void note_springs(scene_sheet *sheet, spring_error worst)
{
  scene_note(sheet, "elongation_error_rel", worst.elongation);
  scene_note(sheet, "force_error_rel", worst.force);
}

// ---------------------------------------------------------------------------------------------
// Figure 4: a binary tree of boxes. Box i hangs on joint i and carries boxes 2 i + 1 and 2 i + 2.

static int level_of(int i)
{
  int level = 0;
  while ((i + 1) >> (level + 1)) {
    level += 1;
  }
  return level;
}

static double carried_mass(const scene_run *run, int i)
{
  if (i >= run->body_count) {
    return 0.0;
  }
  double own = (double)tn_body_mass(run->world, run->bodies[i]).mass;
  return own + carried_mass(run, 2 * i + 1) + carried_mass(run, 2 * i + 2);
}

static double tree_load(const scene_run *run, int i)
{
  return (double)GRAVITY * carried_mass(run, i);
}

static void hang_tree(scene_run *run, int count)
{
  float compliance = (float)scene_value(run, "compliance");
  for (int i = 0; i < count && !run->failed; ++i) {
    bool large = 2 * i + 1 < count;
    float width = 1.0f / (float)(1 << level_of(i));
    tn_body_id parent = SCENE_WORLD;
    tn_pos hook = tn_p3(0.0, 0.0, 0.0);
    if (i > 0) {
      parent = run->bodies[(i - 1) / 2];
      hook = tn_body_world_point(run->world, parent,
                                 tn_v3(i % 2 ? -0.6f * width : 0.6f * width, -0.1f, 0.0f));
    }
    tn_vec3 half = large ? tn_v3(0.4f * width, 0.1f, 0.1f) : tn_v3(0.05f, 0.05f, 0.05f);
    hang_box(run, parent, hook, 0.2f, compliance, half, large ? 1.0f : 0.125f);
  }
}

static void build_tree(scene_run *run, int count)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, -GRAVITY, 0.0f));
  hang_tree(run, count);
  double compliance = scene_value(run, "compliance");
  for (int i = 0; i < run->body_count; ++i) {
    double load = tree_load(run, i);
    run->energy_scale += load * load * compliance; // potential energy lost on the way to rest
  }
}

static void build_springs3(scene_run *run)
{
  build_tree(run, 3);
}

static void build_springs7(scene_run *run)
{
  build_tree(run, 7);
}

static void measure_tree(const scene_run *run, scene_sheet *sheet)
{
  spring_error worst = {0.0, 0.0};
  for (int i = 0; i < run->joint_count; ++i) {
    compare_spring(run, i, tree_load(run, i), &worst);
  }
  note_springs(sheet, worst);
}

#define SPRING_PARAMETERS                                                                          \
  {                                                                                                \
    {"compliance", 1e-6, 1.0, 0.01, false, "compliance of the springs, m/N"},                      \
        {"damping", 0.0, 100.0, 2.0, false, "damping of the boxes, 1/s"},                          \
  }

const scene scene_springs3 = {
    .name = "springs3",
    .title = "A box of 1 kg and two of 1/8 kg hang on springs",
    .source = "Mueller et al. 2020, Fig. 4",
    .group = SCENE_DETAILED,
    .camera = {{0.0f, -0.6f, 3.0f}, {0.0f, -0.6f, 0.0f}},
    .seconds = 20.0,
    .substeps = 20,
    .parameters = SPRING_PARAMETERS,
    .build = build_springs3,
    .measure = measure_tree,
};

const scene scene_springs7 = {
    .name = "springs7",
    .title = "Three boxes of 1 kg and four of 1/8 kg hang on springs",
    .source = "Mueller et al. 2020, Fig. 4",
    .group = SCENE_DETAILED,
    .camera = {{0.0f, -0.9f, 3.5f}, {0.0f, -0.9f, 0.0f}},
    .seconds = 20.0,
    .substeps = 20,
    .parameters = SPRING_PARAMETERS,
    .build = build_springs7,
    .measure = measure_tree,
};

// ---------------------------------------------------------------------------------------------
// Figure 6: a light box carries a heavy one, in three columns of decreasing compliance. Column c
// has the bodies and joints 2 c and 2 c + 1.

static void build_mass_ratio(scene_run *run)
{
  static const float compliance[3] = {0.01f, 0.001f, 0.0f};
  tn_world_set_gravity(run->world, tn_v3(0.0f, -GRAVITY, 0.0f));
  float light = (float)scene_value(run, "light");
  float heavy = (float)scene_value(run, "heavy");
  float length = (float)scene_value(run, "length");
  tn_vec3 light_half = tn_v3(0.05f, 0.05f, 0.05f);
  tn_vec3 heavy_half = tn_v3(0.1f, 0.1f, 0.1f);
  for (int column = 0; column < 3; ++column) {
    tn_pos hook = tn_p3(0.5 * (double)(column - 1), 0.0, 0.0);
    tn_body_id upper =
        hang_box(run, SCENE_WORLD, hook, length, compliance[column], light_half, light);
    hook = tn_offset(hook, tn_v3(0.0f, -length - 2.0f * light_half.y, 0.0f));
    hang_box(run, upper, hook, length, compliance[column], heavy_half, heavy);
  }
  double load = (double)(GRAVITY * heavy);
  run->energy_scale = 2.0 * load * load * (double)compliance[0];
}

static void measure_mass_ratio(const scene_run *run, scene_sheet *sheet)
{
  double light = scene_value(run, "light");
  double heavy = scene_value(run, "heavy");
  spring_error soft = {0.0, 0.0};
  spring_error rigid = {0.0, 0.0};
  for (int i = 0; i < run->joint_count; ++i) {
    double load = (double)GRAVITY * (i % 2 ? heavy : light + heavy);
    compare_spring(run, i, load, i < 4 ? &soft : &rigid);
  }
  note_springs(sheet, soft);
  scene_note(sheet, "rigid_force_error_rel", rigid.force);
  tn_joint_state top = tn_joint_get_state(run->world, run->joints[4]);
  tn_joint_state bottom = tn_joint_get_state(run->world, run->joints[5]);
  scene_note(sheet, "rigid_top_error_m", (double)top.elongation);
  scene_note(sheet, "rigid_bottom_error_m", (double)bottom.elongation);
}

const scene scene_mass_ratio = {
    .name = "mass_ratio",
    .title = "A box of 1 g carries one of 1 kg on soft, stiff and rigid joints",
    .source = "Mueller et al. 2020, Fig. 6",
    .group = SCENE_DETAILED,
    .camera = {{0.0f, -0.4f, 2.0f}, {0.0f, -0.4f, 0.0f}},
    .seconds = 20.0,
    .substeps = 20,
    .parameters = {{"light", 1e-4, 1.0, 1e-3, false, "mass of the upper boxes, kg"},
                   {"heavy", 1e-3, 1000.0, 1.0, false, "mass of the lower boxes, kg"},
                   {"length", 0.0, 1.0, 0.1, false, "rest length of the joints, m"},
                   {"damping", 0.0, 100.0, 2.0, false, "damping of the boxes, 1/s"}},
    .build = build_mass_ratio,
    .measure = measure_mass_ratio,
};

// ---------------------------------------------------------------------------------------------
// Figure 5: a servo holds a hinged bar horizontal against an external force.

static void build_torque_bar(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_body_id bar = scene_add_box(run, tn_p3(0.2, 0.0, 0.0), tn_v3(0.2f, 0.02f, 0.02f), 1.0f);
  tn_joint_def hinge = scene_joint_at(run, TN_JOINT_HINGE, SCENE_WORLD, bar, tn_p3(0.0, 0.0, 0.0),
                                      tn_v3(0.0f, 0.0f, 1.0f));
  hinge.axis[TN_ANGULAR_A].drive.stiffness = INFINITY;
  scene_add_joint(run, &hinge);
  run->energy_scale = scene_value(run, "force") * scene_value(run, "lever"); // work over a radian
}

static void pull_bar(scene_run *run, float dt)
{
  tn_vec3 force = tn_v3(0.0f, -(float)scene_value(run, "force"), 0.0f);
  tn_vec3 grip = tn_v3((float)scene_value(run, "lever") - 0.2f, 0.0f, 0.0f);
  scene_push(run, run->bodies[0], force, tn_body_world_point(run->world, run->bodies[0], grip), dt);
}

static void measure_torque_bar(const scene_run *run, scene_sheet *sheet)
{
  double force = scene_value(run, "force");
  double torque = force * scene_value(run, "lever");
  tn_joint_state state = tn_joint_get_state(run->world, run->joints[0]);
  scene_note(sheet, "torque_nm", (double)state.torque.z);
  scene_note(sheet, "torque_error_rel", fabs((double)state.torque.z - torque) / torque);
  scene_note(sheet, "force_error_rel", fabs((double)state.force.y - force) / force);
  scene_note(sheet, "angle_error_rad", fabs((double)state.angle.x));
}

const scene scene_torque_bar = {
    .name = "torque_bar",
    .title = "A servo of zero compliance holds a bar horizontal against a force",
    .source = "Mueller et al. 2020, Fig. 5",
    .group = SCENE_DETAILED,
    .camera = {{0.3f, 0.3f, 0.8f}, {0.2f, 0.0f, 0.0f}},
    .seconds = 5.0,
    .substeps = 20,
    .parameters = {{"force", 1e-3, 1e4, 10.0, false, "downward force, N"},
                   {"lever", 0.01, 0.4, 0.2, false, "distance from the axis to the force, m"}},
    .build = build_torque_bar,
    .drive = pull_bar,
    .measure = measure_torque_bar,
};
