// Actuators that push bodies rather than axes: on sites, as the propellers of drones, and on ball
// and free joints. tn_instance_advance() applies their forces for one step, with the directions of
// its middle; the parts of a law that depend on length and velocity are those of its start.
#include "instance.h"

// A unit force of an actuator: what it does to its body, in world axes, and to the body that it
// pushes against.
typedef struct unit_wrench {
  dvec force, torque, point;
  int body, against; // of the model; -1: nothing
  double length;
} unit_wrench;

static dvec gear_vector(const model_actuator *t, int first)
{
  return dvec_of(t->gear[first], t->gear[first + 1], t->gear[first + 2]);
}

bool is_wrench(const tn_model *model, const model_actuator *t)
{
  if (!t->supported) {
    return false;
  }
  if (t->transmission == MODEL_TO_SITE) {
    return t->refsite < 0;
  }
  if (t->transmission != MODEL_TO_JOINT && t->transmission != MODEL_TO_JOINT_IN_PARENT) {
    return false;
  }
  model_joint_type type = model->joints.items[t->target].type;
  return type == MODEL_BALL || type == MODEL_FREE;
}

// Length of a ball's actuator: the gear times the vector of its rotation.
static double ball_length(tn_instance *in, const model_joint *j, dvec gear)
{
  if (!in->articulation || !tn_instance_positions(in, in->numbers)) {
    return 0.0;
  }
  const double *q = in->numbers + j->qpos;
  dvec v = dvec_of(q[1], q[2], q[3]);
  double sine = dvec_length(v);
  double half = (double)tn_atan2((float)sine, (float)fabs(q[0]));
  double factor = sine > 1e-9 ? 2.0 * half / sine : 2.0;
  return dvec_dot(gear, dvec_scale(q[0] < 0.0 ? -factor : factor, v));
}

// Where a body is `dt` from now if it goes on turning about its centre of mass.
static dpose pose_after(const tn_instance *in, int body, double dt)
{
  dpose pose = instance_pose(in, body);
  tn_body_id id = tn_instance_body(in, body);
  if (TN_IS_NULL(id) || dt == 0.0) {
    return pose;
  }
  dvec spin = dvec_of_vec3(tn_body_angular_velocity(in->world, id));
  dvec center = dvec_of_pos(tn_body_center(in->world, id));
  drot turn = drot_axis_angle(spin, dt * dvec_length(spin));
  dvec arm = drot_apply(turn, dvec_sub(pose.p, center));
  dpose out = {dvec_add(center, arm), drot_normalize(drot_mul(turn, pose.q))};
  return out;
}

// The wrench `dt` from now.
static unit_wrench unit_of(tn_instance *in, const model_actuator *t, double dt)
{
  const tn_model *model = in->model;
  unit_wrench w = {.against = -1};
  if (t->transmission == MODEL_TO_SITE) {
    const model_site *site = &model->sites.items[t->target];
    dpose at = dpose_mul(pose_after(in, site->body, dt), site->pose);
    w.force = drot_apply(at.q, gear_vector(t, 0));
    w.torque = drot_apply(at.q, gear_vector(t, 3));
    w.point = at.p;
    w.body = site->body;
    return w;
  }
  const model_joint *j = &model->joints.items[t->target];
  const model_body *body = &model->bodies.items[j->body];
  dpose at = pose_after(in, j->body, dt);
  bool outer = t->transmission == MODEL_TO_JOINT_IN_PARENT;
  w.body = j->body;
  w.point = at.p;
  if (j->type == MODEL_FREE) {
    w.force = drot_apply(in->place.q, gear_vector(t, 0));
    w.torque = drot_apply(outer ? in->place.q : at.q, gear_vector(t, 3));
  } else {
    drot frame = drot_mul(pose_after(in, body->parent, dt).q, body->pose.q);
    w.torque = drot_apply(outer ? frame : at.q, gear_vector(t, 0));
    w.against = body->parent;
    w.length = ball_length(in, j, gear_vector(t, 0));
  }
  return w;
}

static double rate_of(const tn_instance *in, const unit_wrench *w, int body)
{
  tn_body_id id = tn_instance_body(in, body);
  if (TN_IS_NULL(id)) {
    return 0.0;
  }
  dvec spin = dvec_of_vec3(tn_body_angular_velocity(in->world, id));
  dvec arm = dvec_sub(w->point, dvec_of_pos(tn_body_center(in->world, id)));
  dvec v = dvec_add(dvec_of_vec3(tn_body_velocity(in->world, id)), dvec_cross(spin, arm));
  return dvec_dot(w->force, v) + dvec_dot(w->torque, spin);
}

static bool push(tn_instance *in, const unit_wrench *w, int body, double force)
{
  tn_body_id id = tn_instance_body(in, body);
  if (TN_IS_NULL(id) || force == 0.0 || tn_body_get_type(in->world, id) != TN_BODY_DYNAMIC) {
    return true;
  }
  return tn_body_apply_force(in->world, id, vec3_of(dvec_scale(force, w->force)),
                             pos_of(w->point)) &&
         tn_body_apply_torque(in->world, id, vec3_of(dvec_scale(force, w->torque)));
}

double wrench_force(tn_instance *in, int actuator)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  unit_wrench w = unit_of(in, t, 0.0);
  double rate = rate_of(in, &w, w.body) - (w.against >= 0 ? rate_of(in, &w, w.against) : 0.0);
  return actuator_force(in, actuator, w.length, rate);
}

bool apply_wrenches(tn_instance *in, double dt)
{
  const tn_model *model = in->model;
  bool ok = true;
  for (int i = 0; i < model->actuators.count; ++i) {
    const model_actuator *t = &model->actuators.items[i];
    if (!is_wrench(model, t)) {
      continue;
    }
    unit_wrench w = unit_of(in, t, 0.5 * dt);
    double force = wrench_force(in, i);
    ok = push(in, &w, w.body, force) && ok;
    ok = (w.against < 0 || push(in, &w, w.against, -force)) && ok;
  }
  return ok;
}
