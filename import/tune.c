// Parameters that follow from the inertia at the reference position: damping ratios of servos,
// spring-dampers of joints, and the inertia that each hinge and slide moves.
#include "instance.h"

#include <string.h>

static bool on_fixed_tendon(const tn_model *model, const model_actuator *t)
{
  return t->supported && t->transmission == MODEL_TO_TENDON &&
         !model->tendons.items[t->target].spatial;
}

static bool has_axis(const model_joint *j)
{
  return j->type == MODEL_HINGE || j->type == MODEL_SLIDE;
}

static bool needs_inertia(const tn_model *model)
{
  bool any = false;
  for (int i = 0; i < model->joints.count; ++i) {
    const model_joint *j = &model->joints.items[i];
    any = any || has_axis(j) || j->spring_time > 0.0;
  }
  return any;
}

// ---------------------------------------------------------------------------------------------
// Servos: 2 ratio sqrt(kp M), where M is the sum of M_jj / moment_j^2 over the joints it moves

static double reflected(const tn_instance *in, const double *matrix, size_t n, int joint,
                        double moment)
{
  const model_joint *j = &in->model->joints.items[joint];
  if (!has_axis(j) || moment == 0.0) {
    return 0.0;
  }
  size_t k = (size_t)in->first_velocity[joint];
  return matrix[k * n + k] / (moment * moment);
}

static double inertia_of_servo(const tn_instance *in, const double *matrix, size_t n,
                               const model_actuator *t)
{
  const tn_model *model = in->model;
  double sum = 0.0, gear = t->gear[0];
  if (acts_on_axis(model, t)) {
    return reflected(in, matrix, n, t->target, gear);
  }
  const model_tendon *tendon = &model->tendons.items[t->target];
  for (int i = 0; i < tendon->wrap_count; ++i) {
    const model_wrap *w = &model->wraps.items[tendon->first_wrap + i];
    sum += w->target >= 0 ? reflected(in, matrix, n, w->target, gear * w->value) : 0.0;
  }
  return sum;
}

static bool tune_servos(tn_instance *in, const double *matrix, size_t n)
{
  bool ok = true;
  for (int i = 0; ok && i < in->model->actuators.count; ++i) {
    const model_actuator *t = &in->model->actuators.items[i];
    if (!(t->damping_ratio > 0.0)) {
      continue;
    }
    if (!acts_on_axis(in->model, t) && !on_fixed_tendon(in->model, t)) {
      model_note_add(in->model, TN_IMPORT_IGNORED, t->at, "dampratio of an actuator on no axis");
      continue;
    }
    double inertia = inertia_of_servo(in, matrix, n, t);
    in->servo_damping[i] = 2.0 * t->damping_ratio * sqrt(fmax(0.0, -t->bias[1] * inertia));
    ok = drive_apply(in, i);
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Spring-dampers: the inertia is the inverse of the mean response of the joint's freedoms

static bool response_of(tn_instance *in, int joint, size_t n, double *forces, double *at_rest,
                        double *mean)
{
  int count = model_joint_dof_count(in->model->joints.items[joint].type);
  size_t first = (size_t)in->first_velocity[joint];
  memset(at_rest, 0, n * sizeof *at_rest);
  bool ok = tn_articulation_forward_dynamics(in->articulation, at_rest, at_rest);
  *mean = 0.0;
  for (size_t k = first; ok && k < first + (size_t)count; ++k) {
    memset(forces, 0, n * sizeof *forces);
    forces[k] = 1.0;
    ok = tn_articulation_forward_dynamics(in->articulation, forces, forces);
    *mean += (forces[k] - at_rest[k]) / count;
  }
  return ok && *mean > 0.0;
}

static bool tune_joints(tn_instance *in, double *scratch, size_t n)
{
  for (int i = 0; i < in->model->joints.count; ++i) {
    const model_joint *j = &in->model->joints.items[i];
    double mean;
    if (!(j->spring_time > 0.0) || !(j->spring_ratio > 0.0) || TN_IS_NULL(in->joints[i]) ||
        !response_of(in, i, n, scratch, scratch + n, &mean)) {
      continue;
    }
    tn_joint_def def = tn_joint_get_def(in->world, in->joints[i]);
    double time = j->spring_time, ratio = j->spring_ratio;
    tn_axis *axis = &def.axis[j->type == MODEL_SLIDE ? TN_LINEAR_A : TN_ANGULAR_A];
    axis->stiffness = (float)(1.0 / (mean * time * time * ratio * ratio));
    axis->damping = (float)(2.0 / (mean * time));
    if (!tn_joint_set_def(in->world, in->joints[i], &def)) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Inertia that a force on one axis moves: 1 / (M^-1)_kk. The bodies of the joint by themselves may
// be lighter by far, above all the links between several joints of one body.

// M = L^T D L in place, L with unit diagonal: from the leaves inwards, so that a tree has no fill
// (Featherstone 2008, sec. 6.5). False if M is singular.
static bool factorize(double *m, size_t n)
{
  for (size_t k = n; k-- > 0;) {
    if (!(m[k * n + k] > 0.0)) {
      return false;
    }
    for (size_t i = k; i-- > 0;) {
      double share = m[k * n + i] / m[k * n + k];
      for (size_t j = 0; share != 0.0 && j <= i; ++j) {
        m[i * n + j] -= share * m[k * n + j];
      }
      m[k * n + i] = share;
    }
  }
  return true;
}

// The diagonal of the inverse: e_k^T L^-1 D^-1 L^-T e_k.
static double inverse_at(const double *m, size_t n, size_t at, double *x)
{
  double sum = 0.0;
  memset(x, 0, n * sizeof *x);
  x[at] = 1.0;
  for (size_t k = at + 1; k-- > 0;) {
    sum += x[k] * x[k] / m[k * n + k];
    for (size_t j = 0; x[k] != 0.0 && j < k; ++j) {
      x[j] -= m[k * n + j] * x[k];
    }
  }
  return sum;
}

static bool tell_inertias(tn_instance *in, double *matrix, size_t n)
{
  bool ok = true, regular = factorize(matrix, n);
  for (int i = 0; ok && regular && i < in->model->joints.count; ++i) {
    const model_joint *j = &in->model->joints.items[i];
    if (!has_axis(j) || TN_IS_NULL(in->joints[i])) {
      continue;
    }
    double inverse = inverse_at(matrix, n, (size_t)in->first_velocity[i], matrix + n * n);
    tn_joint_def def = tn_joint_get_def(in->world, in->joints[i]);
    def.axis[j->type == MODEL_SLIDE ? TN_LINEAR_A : TN_ANGULAR_A].inertia = (float)(1.0 / inverse);
    ok = tn_joint_set_def(in->world, in->joints[i], &def);
  }
  return ok;
}

bool tune_by_inertia(tn_instance *in)
{
  const tn_model *model = in->model;
  if (!needs_inertia(model) || !in->articulation) {
    return true;
  }
  size_t n = (size_t)tn_articulation_get_counts(in->articulation).velocities;
  double *now = memory_take(&in->memory, (size_t)model->qpos_count, sizeof *now);
  double *matrix = memory_take(&in->memory, n * n + 2 * n, sizeof *matrix);
  if (!now || !matrix) {
    return false;
  }
  model_reference(model, in->numbers);
  bool ok = tn_instance_positions(in, now);
  // Where the reference position does not close the loops, the start position has to do.
  bool moved = ok && tn_instance_set_positions(in, in->numbers);
  ok = ok && tn_articulation_mass_matrix(in->articulation, matrix) && tune_servos(in, matrix, n) &&
       tune_joints(in, matrix + n * n, n) && tell_inertias(in, matrix, n) &&
       tune_muscles(in, matrix + n * n, n);
  return (!moved || tn_instance_set_positions(in, now)) && ok;
}
