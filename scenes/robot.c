// A robot arm that reaches for a target: Mueller et al. 2020, Figure 17. A soft joint pulls its
// hand; at equilibrium the hand is as close to the target as the limits allow.
#include "robot.h"

#include "build.h"

#include <math.h>

const robot_joint robot_joints[ROBOT_JOINTS] = {
    {{0.0f, 1.0f, 0.0f}, 0.4f, -2.6f, 2.6f},  // base, about the vertical
    {{0.0f, 0.0f, 1.0f}, 0.6f, -1.9f, 0.3f},  // shoulder
    {{0.0f, 0.0f, 1.0f}, 0.5f, -2.4f, 0.1f},  // elbow
    {{0.0f, 0.0f, 1.0f}, 0.25f, -1.2f, 1.2f}, // wrist
};

// The arm starts upright. Each part extends from its joint upwards by its length.
static void build_arm(scene_run *run)
{
  tn_pos joint_at = tn_p3(0.0, 0.0, 0.0);
  tn_body_id last = SCENE_WORLD;
  for (int i = 0; i < ROBOT_JOINTS && !run->failed; ++i) {
    const robot_joint *r = &robot_joints[i];
    float width = i == 0 ? 0.12f : 0.07f - 0.012f * (float)i;
    tn_shape_def shape = scene_box_shape(tn_v3(width, 0.5f * r->length, width));
    shape.filter.group = -1;
    tn_body_def def = scene_body_def();
    def.position = tn_offset(joint_at, tn_v3(0.0f, 0.5f * r->length, 0.0f));
    def.linear_damping = def.angular_damping = (float)scene_value(run, "damping");
    tn_body_id part = scene_add_solid(run, &def, &shape, i == 0 ? 20.0f : 4.0f - (float)i);
    tn_joint_def hinge = scene_joint_at(run, TN_JOINT_HINGE, last, part, joint_at, r->axis);
    hinge.angular[0] = tn_between(r->lo, r->hi);
    scene_add_joint(run, &hinge);
    joint_at = tn_offset(joint_at, tn_v3(0.0f, r->length, 0.0f));
    last = part;
  }
  tn_joint_def pull =
      scene_joint_at(run, TN_JOINT_BALL, SCENE_WORLD, last, joint_at, tn_v3(0.0f, 1.0f, 0.0f));
  pull.compliance = (float)scene_value(run, "compliance");
  scene_add_joint(run, &pull);
}

static void build_robot(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  build_arm(run);
  tn_body_def box = scene_body_def();
  box.type = TN_BODY_KINEMATIC;
  box.position = robot_target(run, 0.0);
  tn_body_id target = scene_add_body(run, &box);
  tn_shape_def shape = scene_box_shape(tn_v3(0.05f, 0.05f, 0.05f));
  shape.filter.mask = 0; // visual only
  run->failed = run->failed || TN_IS_NULL(tn_shape_create(run->world, target, &shape));
  run->energy_scale = 0.5 / scene_value(run, "compliance"); // energy of the pull over 1 m
}

static const double UPRIGHT = 1.75; // m, the height of the hand at the start

// The target moves from the hand to the given position within two seconds, then stays there or
// moves on a circle that is partly out of reach.
tn_pos robot_target(const scene_run *run, double time)
{
  float r = (float)scene_value(run, "radius"), t = (float)time;
  double share = fmin(0.5 * time, 1.0);
  share *= share * (3.0 - 2.0 * share);
  double x = scene_value(run, "x") + (double)(r * tn_sin(0.8f * t));
  double y = scene_value(run, "y") + (double)(0.5f * r * tn_sin(1.1f * t));
  double z = scene_value(run, "z") + (double)(r * tn_sin(0.5f * t));
  return tn_p3(share * x, UPRIGHT + share * (y - UPRIGHT), share * z);
}

static void move_target(scene_run *run, float dt)
{
  tn_pos place = robot_target(run, run->time + (double)dt);
  tn_joint_set_anchor(run->world, run->joints[ROBOT_JOINTS], place);
  tn_body_move_to(run->world, run->bodies[ROBOT_JOINTS], (tn_transform){place, tn_quat_identity()});
}

static void measure_robot(const scene_run *run, scene_sheet *sheet)
{
  scene_note(sheet, "target_distance_m",
             (double)tn_joint_get_state(run->world, run->joints[ROBOT_JOINTS]).length);
  double speed = 0.0, beyond = 0.0;
  for (int i = 0; i < ROBOT_JOINTS; ++i) {
    speed = fmax(speed, (double)tn_length(tn_body_velocity(run->world, run->bodies[i])));
    beyond = fmax(beyond, (double)tn_joint_get_state(run->world, run->joints[i]).angular_error);
  }
  scene_note(sheet, "arm_speed", speed);
  scene_note(sheet, "limit_error_rad", beyond);
}

const scene scene_robot_arm = {
    .name = "robot_arm",
    .title = "A robot arm follows a box as far as its joints allow",
    .source = "Mueller et al. 2020, Fig. 17",
    .group = SCENE_DETAILED,
    .camera = {{1.5f, 1.6f, 3.2f}, {0.2f, 0.8f, 0.0f}},
    .seconds = 20.0,
    .substeps = 20,
    .parameters = {{"x", -5.0, 5.0, 0.7, false, "x of the target, m"},
                   {"y", -5.0, 5.0, 0.9, false, "y of the target, m"},
                   {"z", -5.0, 5.0, 0.0, false, "z of the target, m"},
                   {"radius", 0.0, 5.0, 0.6, false, "radius of its circle, m; 0: it stays"},
                   {"compliance", 1e-6, 1.0, 5e-3, false, "compliance of the pull, m/N"},
                   {"damping", 0.0, 100.0, 15.0, false, "damping of the arm, 1/s"}},
    .build = build_robot,
    .drive = move_target,
    .measure = measure_robot,
};
