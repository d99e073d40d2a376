// A twisted rope, and an overconstrained chain.
#include "build.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------
// Mueller et al. 2020, Figure 18: a rope of capsules along x, fixed at its start; a hand, the first
// body, twists its end and moves it inwards.

static const float ROPE_RADIUS = 0.02f;

static double rope_length(const scene_run *run)
{
  return scene_value(run, "count") * scene_value(run, "length");
}

static tn_joint_def rope_joint(scene_run *run, tn_body_id a, tn_body_id b, tn_pos point)
{
  tn_joint_def joint = scene_joint_at(run, TN_JOINT_BALL, a, b, point, tn_v3(1.0f, 0.0f, 0.0f));
  float twist = (float)scene_value(run, "twist") * (TN_PI / 180.0f);
  joint.angular[0] = tn_between(-twist, twist);
  joint.swing = (float)scene_value(run, "swing") * (TN_PI / 180.0f);
  joint.angular_limit_compliance = (float)scene_value(run, "compliance");
  joint.axis[TN_ANGULAR_A].damping = 2.5f * tn_body_mass(run->world, b).inertia.yy;
  return joint;
}

static void build_rope(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  float half = 0.5f * (float)scene_value(run, "length");
  tn_body_def hand = scene_body_def();
  hand.type = TN_BODY_KINEMATIC;
  hand.position = tn_p3(rope_length(run), 0.0, 0.0);
  tn_body_id last = SCENE_WORLD, grip = scene_add_body(run, &hand);
  tn_shape_def fist = scene_box_shape(tn_v3(0.06f, 0.06f, 0.06f));
  fist.filter.mask = 0; // visual only
  run->failed = run->failed || TN_IS_NULL(tn_shape_create(run->world, grip, &fist));
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CAPSULE, ROPE_RADIUS, half - ROPE_RADIUS);
  shape.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), -0.5f * TN_PI);
  shape.material = scene_material(0.3f, 0.0f);
  for (int i = 0; i < count && !run->failed; ++i) {
    double start = (double)i * 2.0 * (double)half;
    tn_body_def def = scene_body_def();
    def.position = tn_p3(start + (double)half, 0.0, 0.0);
    def.linear_damping = def.angular_damping = 0.5f;
    tn_body_id piece = scene_add_solid(run, &def, &shape, (float)scene_value(run, "mass"));
    tn_joint_def joint = rope_joint(run, last, piece, tn_p3(start, 0.0, 0.0));
    scene_add_joint(run, &joint);
    last = piece;
  }
  tn_joint_def joint = rope_joint(run, last, grip, hand.position);
  scene_add_joint(run, &joint);
  run->energy_scale = run->weighing_mass * (double)SCENE_GRAVITY * rope_length(run);
}

// Share of the twist at the current time, with smooth start and end.
static double hand_share(const scene_run *run, double time)
{
  double t = fmin(time / scene_value(run, "turning"), 1.0);
  return t * t * (3.0 - 2.0 * t);
}

static void turn_hand(scene_run *run, float dt)
{
  double share = hand_share(run, run->time + (double)dt);
  double way = 1.0 - share * (1.0 - scene_value(run, "reach"));
  float angle = (float)(share * scene_value(run, "turns")) * 2.0f * TN_PI;
  tn_transform target = {tn_p3(rope_length(run) * way, 0.0, 0.0),
                         tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), angle)};
  tn_body_move_to(run->world, run->bodies[0], target);
}

// For a straight rope the twists of the joints add up to the angle of the hand.
static void measure_rope(const scene_run *run, scene_sheet *sheet)
{
  double sum = 0.0, most = -(double)INFINITY, least = (double)INFINITY, swing = 0.0;
  for (int i = 0; i < run->joint_count; ++i) {
    tn_joint_state state = tn_joint_get_state(run->world, run->joints[i]);
    sum += (double)state.angle.x;
    most = fmax(most, (double)state.angle.x);
    least = fmin(least, (double)state.angle.x);
    swing = fmax(swing, (double)state.swing);
  }
  int last = run->joint_count - 1;
  scene_note(sheet, "twist_sum_rad", sum);
  scene_note(sheet, "twist_min_rad", least);
  scene_note(sheet, "twist_max_rad", most);
  scene_note(sheet, "swing_max_rad", swing);
  scene_note(sheet, "torque_nm",
             (double)tn_joint_get_state(run->world, run->joints[last]).torque.x);
}

const scene scene_rope = {
    .name = "rope",
    .title = "A rope of capsules, twisted and moved inwards",
    .source = "Mueller et al. 2020, Fig. 18",
    .group = SCENE_DETAILED,
    .camera = {{-2.0f, 2.2f, 6.5f}, {4.2f, -0.8f, 0.0f}},
    .seconds = 20.0,
    .substeps = 20,
    .parameters = {{"count", 2.0, 1000.0, 100.0, true, "number of capsules"},
                   {"length", 0.05, 1.0, 0.1, false, "length of a capsule, m"},
                   {"mass", 1e-3, 10.0, 0.05, false, "mass of a capsule, kg"},
                   {"turns", -20.0, 20.0, 6.0, false, "turns of the end"},
                   {"reach", 0.1, 1.1, 0.8, false, "final distance of the ends over the length"},
                   {"turning", 0.1, 100.0, 10.0, false, "duration of the twisting, s"},
                   {"twist", 0.0, 90.0, 2.0, false, "free twist of a joint, degrees"},
                   {"swing", 0.0, 90.0, 10.0, false, "free swing of a joint, degrees"},
                   {"compliance", 0.0, 10.0, 0.1, false, "compliance of the limits, rad/(N m)"}},
    .build = build_rope,
    .drive = turn_hand,
    .measure = measure_rope,
};

// ---------------------------------------------------------------------------------------------
// Seabra et al. 2022, Figure 10: a chain pinned at two points farther apart than its length.

// Links of 0.5 m, with equal initial gaps.
static double unsolvable_gap(const scene_run *run)
{
  double count = scene_value(run, "count");
  return (scene_value(run, "stretch") - 1.0) * 0.5 * count / (count + 1.0);
}

static void build_unsolvable(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  const float length = 0.5f, radius = 0.1f;
  double gap = unsolvable_gap(run);
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CAPSULE, radius, 0.5f * length - radius);
  shape.rotation = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), -0.5f * TN_PI);
  shape.filter.group = -1; // they do not collide
  tn_body_id last = SCENE_WORLD;
  for (int i = 0; i <= count && !run->failed; ++i) {
    tn_pos end = tn_p3((double)i * ((double)length + gap), 0.0, 0.0);
    tn_pos start = tn_p3(end.x + gap, 0.0, 0.0);
    tn_body_id link = SCENE_WORLD;
    if (i < count) {
      tn_body_def def = scene_body_def();
      def.position = tn_offset(start, tn_v3(0.5f * length, 0.0f, 0.0f));
      def.linear_damping = def.angular_damping = (float)scene_value(run, "damping");
      link = scene_add_solid(run, &def, &shape, 1.0f);
    }
    tn_joint_def joint =
        scene_joint_at(run, TN_JOINT_BALL, last, link, end, tn_v3(1.0f, 0.0f, 0.0f));
    joint.compliance = (float)scene_value(run, "compliance");
    joint.frame_b.p = tn_offset(joint.frame_b.p, tn_v3((float)gap, 0.0f, 0.0f));
    scene_add_joint(run, &joint);
    last = link;
  }
  run->energy_scale = run->weighing_mass * (double)SCENE_GRAVITY;
}

static void measure_unsolvable(const scene_run *run, scene_sheet *sheet)
{
  double least = (double)INFINITY, most = 0.0, sag = 0.0;
  for (int i = 0; i < run->joint_count; ++i) {
    double gap = (double)tn_joint_get_state(run->world, run->joints[i]).length;
    least = fmin(least, gap);
    most = fmax(most, gap);
  }
  for (int i = 0; i < run->body_count; ++i) {
    sag = fmax(sag, -tn_body_position(run->world, run->bodies[i]).y);
  }
  scene_note(sheet, "gap_min_m", least);
  scene_note(sheet, "gap_max_m", most);
  scene_note(sheet, "gap_expected_m", unsolvable_gap(run));
  scene_note(sheet, "sag_m", sag);
}

const scene scene_unsolvable = {
    .name = "unsolvable",
    .title = "A chain pinned at two points farther apart than its length",
    .source = "Seabra et al. 2022, Fig. 10",
    .group = SCENE_SEABRA,
    .camera = {{5.0f, 1.0f, 12.0f}, {5.0f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"count", 1.0, 1000.0, 20.0, true, "number of capsules of 1 kg and 0.5 m"},
                   {"stretch", 1.0, 3.0, 1.1, false, "distance of the pins over the length"},
                   {"compliance", 0.0, 1.0, 0.0, false, "compliance of the joints, m/N"},
                   {"damping", 0.0, 100.0, 1.0, false, "damping of the capsules, 1/s"}},
    .build = build_unsolvable,
    .measure = measure_unsolvable,
};
