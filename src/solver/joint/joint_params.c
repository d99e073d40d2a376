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
    return def->linear[0].hi <= 0.0f && def->linear_drive.mode == TN_DRIVE_OFF ? TYPE_POINT
                                                                               : TYPE_DISTANCE;
  case TN_JOINT_BALL:
    return is_open(def->angular[0]) && def->swing == INFINITY && def->angular_damping == 0.0f &&
                   def->angular_friction == 0.0f && def->angular_drive.mode == TN_DRIVE_OFF
               ? TYPE_POINT
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
  bool closed = isfinite(r.lo) && isfinite(r.hi);
  params->middle[row] = closed ? 0.5f * (r.lo + r.hi) : 0.0f;
}

static Drive drive_params(const tn_drive *drive)
{
  Drive d = {(float)drive->mode,
             drive->target,
             0.0f,
             drive->velocity,
             drive->force,
             drive->compliance,
             fminf(drive->max_force, TUNING_MAX_FORCE)};
  return d;
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
  params.drive = drive_params(&def->linear_drive);
  params.damping = def->linear_damping;
  params.friction = fminf(def->linear_friction, TUNING_MAX_FORCE);
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
  }
  if (type == TYPE_BALL) {
    set_range(&params, 1, tn_between(-INFINITY, def->swing));
    params.middle[1] = 0.0f;
  }
  params.drive = drive_params(&def->angular_drive);
  params.damping = def->angular_damping;
  params.friction = fminf(def->angular_friction, TUNING_MAX_FORCE);
  return params;
}

void joint_params(const joint *j, RowParams params[2])
{
  params[0] = linear_params(j);
  params[1] = angular_params(j);
}
