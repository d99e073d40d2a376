// Parameters of a joint's rows, from its public definition.
#include "solver/joint/joint_params.h"

#include "kernel/tuning.h"

#include <math.h>
#include <string.h>

// This file uses the scalar kernels.
_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

static bool is_open(tn_range r)
{
  return r.lo == -INFINITY && r.hi == INFINITY;
}

JointType joint_type(const joint *j)
{
  const tn_joint_def *def = &j->def;
  switch (def->kind) {
  case TN_JOINT_DISTANCE:
    // A distance of zero has no direction; it is a point constraint.
    return def->linear[0].hi <= 0.0f && j->axis_features == 0 ? TYPE_POINT : TYPE_DISTANCE;
  case TN_JOINT_BALL:
    return is_open(def->angular[0]) && def->swing == INFINITY && j->axis_features == 0 ? TYPE_POINT
                                                                                       : TYPE_BALL;
  case TN_JOINT_HINGE:
    return TYPE_HINGE;
  case TN_JOINT_FIXED:
    return TYPE_FIXED;
  case TN_JOINT_PRISMATIC:
    return TYPE_PRISMATIC;
  case TN_JOINT_CYLINDER:
    return TYPE_CYLINDER;
  case TN_JOINT_UNIVERSAL:
    return TYPE_UNIVERSAL;
  default:
    return TYPE_GENERIC;
  }
}

// Infinite limits become +-UNLIMITED: kernels subtract and multiply them.
static float finite_end(float x)
{
  return r_clamp(x, -UNLIMITED, UNLIMITED);
}

static void set_range(RowParams *params, int row, tn_range r)
{
  params->lo[row] = finite_end(r.lo);
  params->hi[row] = finite_end(r.hi);
}

// The angle nearest to which a row measures: its last value where turns are counted, else the
// middle of its range.
static float middle_of(const joint *j, int axis, tn_range r)
{
  bool closed = isfinite(r.lo) && isfinite(r.hi);
  return joint_counts_turns(j->def.kind, TN_ANGULAR_A + axis) ? (float)j->angle[axis]
         : closed                                             ? 0.5f * (r.lo + r.hi)
                                                              : 0.0f;
}

// Parameters of the linear block. Rows without a range stay zero: locked kinds do not read it.
static RowParams linear_params(const joint *j)
{
  const tn_joint_def *def = &j->def;
  JointType type = joint_type(j);
  RowParams params;
  memset(&params, 0, sizeof params);
  params.alpha = def->compliance;
  params.alpha_limit = def->limit_compliance;
  if (type == TYPE_POINT || !has_free_axis(linear_kind(type))) {
    return params;
  }
  int ranges = type == TYPE_GENERIC ? 3 : 1;
  for (int i = 0; i < ranges; ++i) {
    set_range(&params, i, def->linear[i]);
  }
  if (type == TYPE_DISTANCE) {
    params.lo[0] = fmaxf(params.lo[0], 0.0f);
    if (params.lo[0] == params.hi[0]) {
      params.alpha_limit = def->compliance; // a rod or spring, not a limit
    }
  }
  return params;
}

static RowParams angular_params(const joint *j)
{
  const tn_joint_def *def = &j->def;
  JointType type = joint_type(j);
  RowParams params;
  memset(&params, 0, sizeof params);
  params.alpha = def->angular_compliance;
  params.alpha_limit = def->angular_limit_compliance;
  if (!has_free_axis(angular_kind(type))) {
    return params;
  }
  int ranges = type == TYPE_GENERIC ? 3 : type == TYPE_UNIVERSAL ? 2 : 1;
  for (int i = 0; i < ranges; ++i) {
    set_range(&params, i, def->angular[i]);
    params.middle[i] = middle_of(j, i, def->angular[i]);
  }
  if (type == TYPE_BALL) {
    set_range(&params, 1, tn_between(-INFINITY, def->swing));
  }
  return params;
}

void joint_params(const joint *j, RowParams params[2])
{
  params[0] = linear_params(j);
  params[1] = angular_params(j);
}

bool joint_drive_acts(const tn_drive *drive)
{
  return drive->stiffness > 0.0f || drive->damping > 0.0f || drive->force != 0.0f;
}

// What max_effort takes from spring and damping is an impulse of the drive, even of one that is
// off.
static bool effort_acts(const tn_axis *a)
{
  return a->max_effort < INFINITY && (a->stiffness > 0.0f || a->damping > 0.0f);
}

bool joint_counts_turns(tn_joint_kind kind, int axis)
{
  return (axis == TN_ANGULAR_A && (kind == TN_JOINT_HINGE || kind == TN_JOINT_CYLINDER)) ||
         ((axis == TN_ANGULAR_A || axis == TN_ANGULAR_B) && kind == TN_JOINT_UNIVERSAL);
}

bool joint_kind_frees_axis(tn_joint_kind kind, int axis)
{
  bool angular = axis >= TN_ANGULAR_A;
  switch (kind) {
  case TN_JOINT_DISTANCE:
  case TN_JOINT_PRISMATIC:
    return !angular && axis % 3 == 0;
  case TN_JOINT_BALL:
  case TN_JOINT_HINGE:
    return angular && axis % 3 == 0;
  case TN_JOINT_CYLINDER:
    return axis % 3 == 0;
  case TN_JOINT_UNIVERSAL:
    return angular && axis < TN_ANGULAR_C;
  case TN_JOINT_GENERIC:
    return true;
  default:
    return false;
  }
}

static bool is_locked_axis(const tn_joint_def *def, int axis)
{
  tn_range r = axis < TN_ANGULAR_A ? def->linear[axis] : def->angular[axis - TN_ANGULAR_A];
  return def->kind == TN_JOINT_GENERIC && r.lo == r.hi;
}

void joint_note_features(joint *j)
{
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    // The rotation of a ball joint has three axes with the settings of the first.
    bool ball = j->def.kind == TN_JOINT_BALL && i > TN_ANGULAR_A;
    const tn_axis *a = &j->def.axis[ball ? TN_ANGULAR_A : i];
    uint32_t bits =
        (joint_drive_acts(&a->drive) || effort_acts(a) ? AXIS_DRIVE : 0) |
        (a->stiffness > 0.0f || a->damping > 0.0f || a->armature > 0.0f ? AXIS_PASSIVE : 0) |
        (a->friction > 0.0f ? AXIS_FRICTION : 0);
    bool acts = (ball || joint_kind_frees_axis(j->def.kind, i)) && !is_locked_axis(&j->def, i);
    j->axis_features |= acts ? bits << (AXIS_FEATURE_BITS * i) : 0;
  }
}

// Without the call of fminf(): neither number is NaN.
static float lesser(float a, float b)
{
  return a < b ? a : b;
}

static float greater(float a, float b)
{
  return a > b ? a : b;
}

AxisParams joint_axis_params(const joint *j, int axis)
{
  bool ball = j->def.kind == TN_JOINT_BALL && axis >= TN_ANGULAR_A;
  const tn_axis *a = &j->def.axis[ball ? TN_ANGULAR_A : axis], *own = &j->def.axis[axis];
  const tn_drive *d = &a->drive;
  AxisParams p;
  memset(&p, 0, sizeof p);
  if (is_locked_axis(&j->def, axis)) {
    return p;
  }
  p.mode = isinf(d->stiffness)                        ? MODE_SERVO
           : isinf(d->damping)                        ? MODE_MOTOR
           : d->stiffness > 0.0f || d->damping > 0.0f ? MODE_SOFT
           : d->force != 0.0f || effort_acts(a)       ? MODE_FORCE
                                                      : MODE_NONE;
  p.k = isinf(d->stiffness) ? 0.0f : lesser(d->stiffness, TUNING_MAX_STIFFNESS);
  p.d = isinf(d->damping) ? 0.0f : lesser(d->damping, TUNING_MAX_STIFFNESS);
  p.target = j->target[axis];
  p.velocity = r_clamp(own->drive.velocity, -d->max_speed, d->max_speed);
  p.force = own->drive.force;
  p.lo = greater(d->limits.lo, -TUNING_MAX_FORCE);
  p.hi = lesser(d->limits.hi, TUNING_MAX_FORCE);
  p.spring = a->stiffness;
  p.rest = own->rest;
  p.damping = a->damping;
  p.friction = lesser(a->friction, TUNING_MAX_FORCE);
  p.armature = a->armature;
  p.inertia = a->inertia;
  p.effort = lesser(a->max_effort, TUNING_MAX_FORCE);
  return p;
}

// The target moves linearly over the step from its last value to the current one, no faster than
// max_speed: a jump of the target would be a jump of a rigid servo.
static float target_displacement(const joint *j, int axis, float dt)
{
  const tn_drive *d = &j->def.axis[axis].drive;
  if (d->target == j->target[axis]) {
    return 0.0f;
  }
  const tn_drive *limit =
      &j->def.axis[j->def.kind == TN_JOINT_BALL && axis > TN_ANGULAR_A ? TN_ANGULAR_A : axis].drive;
  float way = limit->max_speed * dt;
  return r_clamp(d->target - j->target[axis], -way, way);
}

void joint_interpolate_target(const joint *j, int axis, float dt, AxisParams *params)
{
  params->target = j->target[axis];
  params->rate = target_displacement(j, axis, dt) / dt;
}

float joint_next_target(const joint *j, int axis, float dt)
{
  const tn_drive *d = &j->def.axis[axis].drive;
  float displacement = target_displacement(j, axis, dt);
  // Without rounding where the target is reached.
  return d->target - j->target[axis] == displacement ? d->target : j->target[axis] + displacement;
}
