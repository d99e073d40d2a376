// Definitions of joints: the usual ones, and what is wrong with one.
#include "data/world.h"
#include "kernel/ranges.h"
#include "solver/joint/joint_params.h"
#include "world/checks.h"
#include "world/lifetime.h"

#include <math.h>

#define MAX_ANGLE 1e4f // rad: a float there still resolves a milliradian

tn_drive tn_default_drive(void)
{
  tn_drive drive = {.limits = {-INFINITY, INFINITY}, .max_speed = INFINITY};
  return drive;
}

tn_drive tn_servo(float target, float stiffness, float damping)
{
  tn_drive drive = tn_default_drive();
  drive.target = target;
  drive.stiffness = stiffness;
  drive.damping = damping;
  return drive;
}

tn_drive tn_servo_tuned(float target, float inertia, float frequency, float damping_ratio)
{
  float omega = 2.0f * TN_PI * frequency;
  return tn_servo(target, inertia * omega * omega, 2.0f * damping_ratio * inertia * omega);
}

tn_drive tn_motor(float velocity, float damping, float max_force)
{
  tn_drive drive = tn_default_drive();
  drive.velocity = velocity;
  drive.damping = damping;
  drive.limits = tn_between(-max_force, max_force);
  return drive;
}

float tn_stiffness(float compliance)
{
  return compliance > 0.0f ? 1.0f / compliance : INFINITY;
}

tn_joint_def tn_default_joint_def(tn_joint_kind kind)
{
  tn_joint_def def = {0};
  def.kind = kind;
  def.frame_a.q = def.frame_b.q = tn_quat_identity();
  tn_range open = {-INFINITY, INFINITY};
  for (int i = 0; i < 3; ++i) {
    def.linear[i] = def.angular[i] = open;
  }
  if (kind == TN_JOINT_DISTANCE) {
    def.linear[0] = tn_between(0.0f, 0.0f);
  } else if (kind == TN_JOINT_GENERIC) {
    for (int i = 0; i < 3; ++i) {
      def.linear[i] = def.angular[i] = tn_between(0.0f, 0.0f);
    }
  }
  def.swing = INFINITY;
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    def.axis[i].drive = tn_default_drive();
    def.axis[i].max_effort = INFINITY;
  }
  def.break_force = def.break_torque = INFINITY;
  def.enabled = true;
  def.cookie = DEF_COOKIE;
  return def;
}

static bool is_non_negative(float x)
{
  return x >= 0.0f; // false for NaN
}

static bool is_compliance(float x)
{
  return is_non_negative(x) && x <= 1e12f;
}

static const char *why_bad_drive(const tn_drive *drive)
{
  if (!(fabsf(drive->target) <= (float)TN_MAX_DISTANCE) ||
      !(fabsf(drive->velocity) <= TN_MAX_RATE) || !isfinite(drive->force)) {
    return "a drive's target, velocity or force is not finite or too large";
  }
  if (!is_non_negative(drive->stiffness) || !is_non_negative(drive->damping)) {
    return "a drive's stiffness and damping must not be negative";
  }
  if (isinf(drive->stiffness) && isinf(drive->damping)) {
    return "a drive's stiffness and damping are both infinite";
  }
  if (!(drive->limits.lo <= 0.0f) || !(drive->limits.hi >= 0.0f)) {
    return "a drive's limits must contain 0";
  }
  if (!(drive->max_speed > 0.0f)) {
    return "a drive's max_speed must be positive";
  }
  return NULL;
}

const char *joint_axis_problem(tn_joint_kind kind, int axis, const tn_axis *a)
{
  bool ball = kind == TN_JOINT_BALL && axis > TN_ANGULAR_A; // targets only
  const char *why = why_bad_drive(&a->drive);
  if (joint_drive_acts(&a->drive) && !joint_kind_frees_axis(kind, axis) && !ball) {
    return "this kind of joint has no free axis for the drive";
  }
  if (why) {
    return why;
  }
  if (!is_compliance(a->stiffness) || !(fabsf(a->rest) <= (float)TN_MAX_DISTANCE)) {
    return "an axis's stiffness must be from 0 to 1e12, its rest finite";
  }
  if (!is_compliance(a->damping)) {
    return "damping must be from 0 to 1e12";
  }
  if (!is_non_negative(a->friction)) {
    return "friction must not be negative";
  }
  if (!(a->armature >= 0.0f) || !(a->armature <= 1e9f)) {
    return "armature must be from 0 to 1e9";
  }
  if (!is_non_negative(a->inertia)) {
    return "inertia must not be negative";
  }
  if (a->armature > 0.0f && kind == TN_JOINT_BALL) {
    return "a ball joint has no armature";
  }
  return is_non_negative(a->max_effort) ? NULL : "max_effort must not be negative";
}

static const char *why_bad_angles(tn_range r, bool turns)
{
  float most = turns ? MAX_ANGLE : 2.0f * TN_PI + 1e-5f;
  if (!turns && isfinite(r.lo) && isfinite(r.hi) && r.hi - r.lo > most) {
    return "a range of angles is wider than a turn";
  }
  if ((isfinite(r.lo) && fabsf(r.lo) > most) || (isfinite(r.hi) && fabsf(r.hi) > most)) {
    return turns ? "an angle lies beyond 1e4 rad" : "an angle lies beyond a turn";
  }
  return NULL;
}

static const char *why_bad_ranges(const tn_joint_def *def)
{
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    tn_range r = i < 3 ? def->linear[i] : def->angular[i - 3];
    if (!joint_kind_frees_axis(def->kind, i)) {
      continue;
    }
    if (!(r.lo <= r.hi)) {
      return "a range is reversed or not a number";
    }
    if (r.lo == INFINITY || r.hi == -INFINITY) {
      return "a range lies at infinity";
    }
    const char *why = i >= 3 ? why_bad_angles(r, joint_counts_turns(def->kind, i)) : NULL;
    if (why) {
      return why;
    }
  }
  if (def->kind == TN_JOINT_DISTANCE && !(def->linear[0].hi >= 0.0f)) {
    return "a length cannot be negative";
  }
  if (def->kind == TN_JOINT_BALL && !is_non_negative(def->swing)) {
    return "swing must not be negative";
  }
  return NULL;
}

static const char *why_bad_numbers(const tn_joint_def *def)
{
  for (int i = 0; i < 2; ++i) {
    const tn_transform *frame = i == 0 ? &def->frame_a : &def->frame_b;
    if (!is_position(frame->p)) {
      return "a frame's position is not finite or too far away";
    }
    if (!is_rotation(frame->q)) {
      return "a frame's rotation is not a quaternion near unit length";
    }
  }
  if (!is_compliance(def->compliance) || !is_compliance(def->angular_compliance) ||
      !is_compliance(def->limit_compliance) || !is_compliance(def->angular_limit_compliance)) {
    return "compliances must be from 0 to 1e12";
  }
  if (!is_non_negative(def->break_force) || !is_non_negative(def->break_torque)) {
    return "break limits must not be negative";
  }
  return NULL;
}

const char *joint_def_problem(const tn_joint_def *def)
{
  if (def->cookie != DEF_COOKIE) {
    return "the definition does not come from tn_default_joint_def";
  }
  if ((int)def->kind < 0 || def->kind >= TN_JOINT_KIND_COUNT) {
    return "unknown kind of joint";
  }
  const char *why = why_bad_numbers(def);
  why = why ? why : why_bad_ranges(def);
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    why = why ? why : joint_axis_problem(def->kind, i, &def->axis[i]);
  }
  return why;
}
