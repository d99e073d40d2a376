// A scene with joints of all kinds between dynamic, kinematic and static bodies and the world, in
// trees and loops, with limits, springs, drives, damping, friction and breakable joints. Depends on
// the library only, so that hash_main.c can be built for any target.
#ifndef TENON_TEST_MENAGERIE_H
#define TENON_TEST_MENAGERIE_H

#include <tenon/tenon.h>

// A group is a static post, a kinematic rotor and two links for each kind of joint.
#define MENAGERIE_BODIES (2 + 2 * TN_JOINT_KIND_COUNT)

static inline float menagerie_random(uint32_t *state, float lo, float hi)
{
  *state = *state * 1664525u + 1013904223u;
  return lo + (hi - lo) * ((float)(*state >> 8) / 16777216.0f);
}

static inline tn_drive menagerie_drive(int variant)
{
  int mode = variant % 4;
  tn_drive drive = tn_default_drive();
  drive.target = 0.2f;
  drive.velocity = 1.5f;
  drive.force = mode == 3 ? 3.0f : 0.0f;
  drive.stiffness = mode != 1 ? 0.0f : variant % 8 == 1 ? INFINITY : 100.0f;
  drive.damping = mode == 2 ? INFINITY : mode == 1 && variant % 16 == 5 ? 1.0f : 0.0f;
  drive.limits = tn_between(-20.0f, 20.0f);
  return drive;
}

static inline void menagerie_ranges(tn_joint_def *def, int variant)
{
  float wide = 0.3f + 0.1f * (float)(variant % 5);
  tn_range range = tn_between(-wide, wide);
  if (def->kind == TN_JOINT_DISTANCE) {
    def->linear[0].lo *= 0.8f;
    def->linear[0].hi *= 1.1f;
  } else if (def->kind == TN_JOINT_GENERIC) {
    def->linear[variant % 3] = range;
    def->angular[0] = range;
    def->angular[(variant + 1) % 3] = tn_between(-INFINITY, INFINITY);
  } else {
    def->linear[0] = def->angular[0] = range;
    def->angular[1] = tn_between(-INFINITY, wide);
    def->swing = wide;
  }
}

// Joint settings depend on the variant; every setting occurs on every kind of joint that supports
// it.
static inline void menagerie_settings(tn_joint_def *def, int variant)
{
  bool slides = def->kind == TN_JOINT_DISTANCE || def->kind == TN_JOINT_PRISMATIC ||
                def->kind == TN_JOINT_CYLINDER || def->kind == TN_JOINT_GENERIC;
  bool turns = def->kind != TN_JOINT_DISTANCE && def->kind != TN_JOINT_FIXED &&
               def->kind != TN_JOINT_PRISMATIC;
  if (variant % 3 != 0) {
    menagerie_ranges(def, variant);
  }
  if (slides) {
    def->axis[TN_LINEAR_A].drive = menagerie_drive(variant);
  }
  if (turns) {
    def->axis[TN_ANGULAR_A].drive = menagerie_drive(variant / 2);
  }
  def->compliance = variant % 5 == 1 ? 1e-4f : 0.0f;
  def->angular_compliance = variant % 5 == 2 ? 1e-3f : 0.0f;
  def->limit_compliance = variant % 4 == 1 ? 1e-4f : 0.0f;
  def->angular_limit_compliance = variant % 4 == 2 ? 1e-3f : 0.0f;
  def->axis[TN_LINEAR_A].damping = variant % 2 ? 0.5f : 0.0f;
  def->axis[TN_ANGULAR_A].damping = variant % 3 ? 0.03f : 0.0f;
  bool is_ball = def->kind == TN_JOINT_BALL; // which has no armature
  def->axis[TN_LINEAR_A].armature = !is_ball && variant % 6 == 1 ? 0.5f : 0.0f;
  bool turns_alone = def->kind == TN_JOINT_HINGE || def->kind == TN_JOINT_CYLINDER;
  def->axis[TN_ANGULAR_A].armature = turns_alone && variant % 6 == 2 ? 0.02f : 0.0f;
  def->axis[TN_ANGULAR_A].stiffness = variant % 7 == 3 ? 2.0f : 0.0f;
  def->axis[TN_LINEAR_A].friction = variant % 4 == 3 ? 0.5f : 0.0f;
  def->axis[TN_ANGULAR_A].friction = variant % 4 == 2 ? 0.05f : 0.0f;
}

static inline tn_body_id menagerie_body(tn_world *world, tn_body_type type, tn_pos position,
                                        uint32_t *random)
{
  tn_body_def def = tn_default_body_def();
  def.type = type;
  def.position = position;
  tn_vec3 half = {menagerie_random(random, 0.1f, 0.4f), menagerie_random(random, 0.1f, 0.3f),
                  menagerie_random(random, 0.1f, 0.2f)};
  tn_vec3 off = {menagerie_random(random, -0.1f, 0.1f), 0.0f, menagerie_random(random, 0.0f, 0.1f)};
  def.mass = tn_mass_at(tn_mass_box(half, menagerie_random(random, 50.0f, 500.0f)), off,
                        tn_quat_axis_angle(tn_v3(1.0f, 2.0f, 3.0f), 0.5f));
  def.rotation = tn_quat_axis_angle(tn_v3(3.0f, 1.0f, 2.0f), menagerie_random(random, -1.0f, 1.0f));
  // Rotors are slow so that their links stay near those of the post.
  float fast = type == TN_BODY_DYNAMIC ? 1.0f : 0.05f;
  def.angular_velocity = tn_v3(0.1f * fast, menagerie_random(random, -fast, fast), 0.0f);
  def.linear_damping = menagerie_random(random, 0.0f, 0.1f);
  def.angular_damping = menagerie_random(random, 0.0f, 0.2f);
  return tn_body_create(world, &def);
}

static inline void menagerie_join(tn_world *world, tn_joint_kind kind, int variant, tn_body_id a,
                                  tn_body_id b, tn_pos pa, tn_pos pb, float break_force)
{
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_a = a;
  def.body_b = b;
  if (kind == TN_JOINT_DISTANCE) {
    tn_joint_def_between(world, &def, pa, pb);
  } else {
    tn_pos middle = tn_p3(0.5 * (pa.x + pb.x), 0.5 * (pa.y + pb.y), 0.5 * (pa.z + pb.z));
    tn_joint_def_at(world, &def, middle, tn_v3(0.3f, 0.2f * (float)(variant % 3), 1.0f));
  }
  menagerie_settings(&def, variant);
  if (kind == TN_JOINT_DISTANCE && !TN_IS_NULL(a) && !TN_IS_NULL(b)) {
    def.limit_compliance = def.compliance = 1e-4f;
  }
  if (variant % 7 == 3) {
    def.break_force = break_force;
  }
  tn_joint_create(world, &def);
}

static inline void menagerie_group(tn_world *world, int group, float break_force)
{
  uint32_t random = 12345u + (uint32_t)group;
  double z = 20.0 * group;
  tn_body_id none = {0, 0, 0};
  tn_body_id post = menagerie_body(world, TN_BODY_STATIC, tn_p3(0.0, 0.0, z), &random);
  tn_body_id rotor = menagerie_body(world, TN_BODY_KINEMATIC, tn_p3(0.0, 1.0, z), &random);
  tn_body_id last = none;
  tn_pos last_place = {0.0, 0.0, z};
  for (int kind = 0; kind < TN_JOINT_KIND_COUNT; ++kind) {
    int variant = 3 * kind + group;
    tn_pos root = {0.0, 1.0, z + 2.0 * kind};
    tn_pos near = {1.0, 1.0, root.z};
    tn_pos far = {2.0, 1.0, root.z};
    tn_body_id first = menagerie_body(world, TN_BODY_DYNAMIC, near, &random);
    tn_body_id second = menagerie_body(world, TN_BODY_DYNAMIC, far, &random);
    tn_body_id holder = variant % 3 == 0 ? none : variant % 3 == 1 ? post : rotor;
    menagerie_join(world, (tn_joint_kind)kind, variant, holder, first, root, near, INFINITY);
    menagerie_join(world, (tn_joint_kind)kind, variant + 1, first, second, near, far, break_force);
    if (!TN_IS_NULL(last)) { // closes a loop; one body is A of two joints
      menagerie_join(world, TN_JOINT_DISTANCE, 3 * variant + 1, second, last, far, last_place,
                     break_force);
    }
    last = second;
    last_place = far;
  }
}

static inline void menagerie_build(tn_world *world, int groups, float break_force)
{
  for (int group = 0; group < groups; ++group) {
    menagerie_group(world, group, break_force);
  }
}

// What an application does between steps: apply impulses, move bodies, reverse drives, enable and
// disable joints.
static inline void menagerie_disturb(tn_world *world, int step)
{
  tn_body_id bodies[2 * MENAGERIE_BODIES];
  tn_joint_id joints[2 * MENAGERIE_BODIES];
  int body_count = tn_world_bodies(world, bodies, 2 * MENAGERIE_BODIES);
  int joint_count = tn_world_joints(world, joints, 2 * MENAGERIE_BODIES);
  body_count = body_count < 2 * MENAGERIE_BODIES ? body_count : 2 * MENAGERIE_BODIES;
  joint_count = joint_count < 2 * MENAGERIE_BODIES ? joint_count : 2 * MENAGERIE_BODIES;
  for (int i = 0; i < body_count; ++i) {
    tn_body_type type = tn_body_get_type(world, bodies[i]);
    float swing = 2.0f * tn_sin(0.1f * (float)(step + 5 * i));
    if (type == TN_BODY_DYNAMIC && (step + i) % 16 == 0) {
      tn_pos at = tn_body_world_point(world, bodies[i], tn_v3(0.1f, 0.0f, 0.2f));
      tn_body_apply_impulse(world, bodies[i], tn_v3(swing, 0.5f, 0.0f), at);
      tn_body_apply_force(world, bodies[i], tn_v3(0.0f, 20.0f, swing), at);
      tn_body_apply_torque(world, bodies[i], tn_v3(0.0f, 0.1f, swing));
    } else if (type == TN_BODY_KINEMATIC && step % 40 == 20) {
      tn_transform target = tn_body_transform(world, bodies[i]);
      target.p = tn_offset(target.p, tn_v3(0.0f, 0.02f, 0.01f * swing));
      tn_body_move_to(world, bodies[i], target);
    }
  }
  for (int i = 0; i < joint_count; ++i) {
    tn_joint_def def = tn_joint_get_def(world, joints[i]);
    if ((step + i) % 24 == 0 && def.axis[TN_ANGULAR_A].drive.stiffness > 0.0f) {
      def.axis[TN_ANGULAR_A].drive.target = 0.3f * tn_cos(0.05f * (float)step);
      tn_joint_set_drive(world, joints[i], TN_ANGULAR_A, def.axis[TN_ANGULAR_A].drive);
    }
    int phase = (step + 7 * i) % 40;
    if (phase < 2 && !tn_joint_get_state(world, joints[i]).broken) {
      tn_joint_set_enabled(world, joints[i], phase == 1); // disabled for one step
    }
  }
}

#endif
