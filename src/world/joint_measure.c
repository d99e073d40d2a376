// Measures of joints: errors, angles and elastic energy at the current poses.
#include "data/ids.h"
#include "data/world.h"
#include "solver/joint/joint_layout.h"
#include "world/measures.h"

#include <math.h>

// This file uses the scalar kernels.
_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

// Error of a row, m or rad: deviation from its locked value or amount beyond a limit; and the
// compliance that acts on it.
static double row_error(BlockKind kind, const RowParams *params, const Rows *rows, int i,
                        double *compliance)
{
  bool locked = is_locked(kind, params, i);
  *compliance = (double)(locked ? params->alpha : params->alpha_limit);
  double x = (double)rows->x[i];
  if (locked) {
    return kind.mixed ? x - (double)params->lo[i] : x;
  }
  double lo = (double)params->lo[i];
  double hi = (double)params->hi[i];
  return x < lo ? x - lo : x > hi ? x - hi : 0.0;
}

// Length of the vector of row errors.
static double block_error(BlockKind kind, const RowParams *params, const Rows *rows)
{
  double sum = 0.0;
  for (int i = 0; i < kind.rows; ++i) {
    double compliance;
    double e = row_error(kind, params, rows, i, &compliance);
    sum += e * e;
  }
  return sqrt(sum);
}

// Energy of a block's compliant rows. Angular locked rows: alignment_energy().
static double block_energy(BlockKind kind, const RowParams *params, const Rows *rows, int angular)
{
  double sum = 0.0;
  for (int i = 0; i < kind.rows && (!angular || kind.mixed || i < kind.first_locked); ++i) {
    double compliance;
    double e = row_error(kind, params, rows, i, &compliance);
    sum += compliance > 0.0 ? 0.5 * e * e / compliance : 0.0;
  }
  return sum;
}

// Energy of angular locked rows. The torque of rows that align axes is the sine of the angle theta
// between them over the compliance (hinge, universal), or twice the sine of its half (fixed); the
// integrals are
//     (1 - cos theta) / alpha,    4 (1 - cos(theta / 2)) / alpha,
// where 1 - cos = sin^2 / (1 + cos) avoids cancellation.
static double alignment_energy(JointType type, const RowParams *params, const Rows *rows,
                               Q relative)
{
  BlockKind kind = angular_kind(type);
  double square = 0.0;
  for (int i = kind.first_locked; i < kind.rows; ++i) {
    square += (double)rows->x[i] * (double)rows->x[i];
  }
  if (params->alpha == 0.0f || kind.mixed || square == 0.0) {
    return 0.0;
  }
  bool whole = type == TYPE_FIXED || type == TYPE_PRISMATIC;
  double cosine = sqrt(fmax(0.0, 1.0 - (whole ? 0.25 : 1.0) * square));
  if (type == TYPE_HINGE || type == TYPE_CYLINDER) {
    double along = (double)q_axis_x(relative).x;
    cosine = along < 0.0 ? along : cosine;
  }
  double lifted = cosine < 0.0 ? 1.0 - cosine : square / (1.0 + cosine);
  return lifted / (double)params->alpha;
}

// Energy of a servo whose offset is e. A saturated one pulls with constant force: the energy grows
// linearly.
static double servo_energy(double k, double e, tn_range limits)
{
  double most = e > 0.0 ? -(double)limits.lo : (double)limits.hi, a = fabs(e);
  return k * a <= most ? 0.5 * k * e * e : most * (a - 0.5 * most / k);
}

// Energy of the servos and springs of the axes.
static double axes_energy(const tn_world *world, const joint *j)
{
  double sum = 0.0;
  bool ball = j->def.kind == TN_JOINT_BALL;
  Rows angular;
  for (int i = 0; i < TN_JOINT_AXIS_COUNT && j->axis_features != 0; ++i) {
    const tn_axis *a = &j->def.axis[i];
    double k = isinf(a->drive.stiffness) ? 0.0 : (double)a->drive.stiffness;
    if (k == 0.0 && a->stiffness == 0.0f) {
      continue;
    }
    if (ball) {
      Axes axes;
      RowParams params[2];
      joint_params(j, params);
      JointStart start = joint_start(world, j);
      joint_angular_rows_now(TYPE_BALL, &start, &params[1], &angular);
      for (int n = 0; n < 3; ++n) {
        axes.params[n] = joint_axis_params(j, TN_ANGULAR_A + n);
      }
      ball_turns(start.frame, start.relative, &axes, 0.0f, angular.turn);
      double turn = (double)v_length(angular.turn[0]), rest = (double)v_length(angular.turn[1]);
      return servo_energy(k, turn, a->drive.limits) + 0.5 * (double)a->stiffness * rest * rest;
    }
    double q = (double)joint_axis_position(world, j, i), e = q - (double)j->target[i];
    double rest = q - (double)a->rest;
    sum += k > 0.0 ? servo_energy(k, e, a->drive.limits) : 0.0;
    sum += 0.5 * (double)a->stiffness * rest * rest;
  }
  return sum;
}

double joint_armature_energy(const tn_world *world, const joint *j)
{
  double sum = 0.0;
  for (int i = 0; i < TN_JOINT_AXIS_COUNT && j->axis_features != 0; ++i) {
    if (j->def.axis[i].armature > 0.0f) {
      double u = (double)joint_axis_rate(world, j, i);
      sum += 0.5 * (double)j->def.axis[i].armature * u * u;
    }
  }
  return sum;
}

double joint_elastic_energy(const tn_world *world, const joint *j)
{
  JointType type = joint_type(j);
  Rows linear, angular;
  RowParams params[2];
  joint_params(j, params);
  JointStart start = joint_start(world, j);
  joint_linear_rows_now(type, &start, &linear);
  joint_angular_rows_now(type, &start, &params[1], &angular);
  return block_energy(linear_kind(type), &params[0], &linear, 0) +
         block_energy(angular_kind(type), &params[1], &angular, 1) + axes_energy(world, j) +
         alignment_energy(type, &params[1], &angular, start.relative);
}

// The type whose angular rows are the angles that tn_joint_get_state() reports for a kind.
static JointType measuring_type(tn_joint_kind kind)
{
  switch (kind) {
  case TN_JOINT_DISTANCE:
  case TN_JOINT_BALL:
    return TYPE_BALL;
  case TN_JOINT_HINGE:
  case TN_JOINT_CYLINDER:
    return TYPE_HINGE;
  case TN_JOINT_UNIVERSAL:
    return TYPE_UNIVERSAL;
  default:
    return TYPE_GENERIC;
  }
}

tn_joint_state tn_joint_get_state(const tn_world *world, tn_joint_id id)
{
  tn_joint_state read = {0};
  const joint *j = joint_find(world, id, "tn_joint_get_state");
  if (!j) {
    return read;
  }
  JointType type = joint_type(j);
  Rows linear, angular;
  RowParams params[2];
  joint_params(j, params);
  JointStart start = joint_start(world, j);
  joint_linear_rows_now(type, &start, &linear);
  joint_angular_rows_now(type, &start, &params[1], &angular);
  read.elongation = (float)block_error(linear_kind(type), &params[0], &linear);
  read.angular_error = (float)block_error(angular_kind(type), &params[1], &angular);

  JointType measure = measuring_type(j->def.kind);
  for (int i = 0; i < 3; ++i) { // without limits, which would distort the angles they act on
    params[1].lo[i] = -UNLIMITED;
    params[1].hi[i] = UNLIMITED;
  }
  joint_angular_rows_now(measure, &start, &params[1], &angular);
  read.angle.x = angular.x[0];
  read.angle.y = measure == TYPE_UNIVERSAL || measure == TYPE_GENERIC ? angular.x[1] : 0.0f;
  read.angle.z = measure == TYPE_GENERIC ? angular.x[2] : 0.0f;

  V offset = q_unrotate(start.frame, start.gap);
  V axis = q_axis_x(start.relative);
  read.offset = tn_v3(offset.x, offset.y, offset.z);
  read.length = v_length(start.gap);
  read.swing = r_atan2(r_sqrt(axis.y * axis.y + axis.z * axis.z), axis.x);
  read.force = j->force;
  read.torque = j->torque;
  read.broken = j->broken;
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    read.position[i] = joint_axis_position(world, j, i);
    read.rate[i] = joint_axis_rate(world, j, i);
    read.drive_force[i] = j->drive_force[i];
  }
  return read;
}
