// Actuators that push bodies rather than axes: on sites, as the propellers of drones, between two
// sites, on ball and free joints, by a crank, and by adhesion. tn_instance_advance() applies their
// forces for one step, with the directions and lengths of its middle and the velocities of its
// start.
#include "instance.h"

// A unit force of an actuator: what it does to its body, in world axes, and to the body that it
// pushes against. Where both forces do not act at one point, `common` bears the couple that is
// left.
typedef struct unit_wrench {
  dvec force, torque, point, against_point;
  int body, against, common; // of the model; -1: nothing
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
  if (t->transmission == MODEL_TO_SITE || t->transmission == MODEL_TO_SLIDER_CRANK) {
    return true;
  }
  if (t->transmission != MODEL_TO_JOINT && t->transmission != MODEL_TO_JOINT_IN_PARENT) {
    return false;
  }
  model_joint_type type = model->joints.items[t->target].type;
  return type == MODEL_BALL || type == MODEL_FREE;
}

static dvec rotation_vector(drot q)
{
  dvec v = dvec_of(q.x, q.y, q.z);
  double sine = dvec_length(v);
  double half = (double)tn_atan2((float)sine, (float)fabs(q.w));
  double factor = sine > 1e-9 ? 2.0 * half / sine : 2.0;
  return dvec_scale(q.w < 0.0 ? -factor : factor, v);
}

// Length of a ball's actuator: the gear times the vector of its rotation.
static double ball_length(tn_instance *in, const model_joint *j, dvec gear)
{
  if (!in->articulation || !tn_instance_positions(in, in->numbers)) {
    return 0.0;
  }
  const double *q = in->numbers + j->qpos;
  return dvec_dot(gear, rotation_vector((drot){q[0], q[1], q[2], q[3]}));
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

static dpose site_after(const tn_instance *in, int site, double dt)
{
  const model_site *s = &in->model->sites.items[site];
  return dpose_mul(pose_after(in, s->body, dt), s->pose);
}

static int common_ancestor(const tn_model *model, int a, int b)
{
  while (a != b) {
    if (a > b) {
      a = model->bodies.items[a].parent;
    } else {
      b = model->bodies.items[b].parent;
    }
  }
  return a;
}

// A site that is moved in the frame of another: the gear counts along the axes of that one.
static unit_wrench between_sites(const tn_instance *in, const model_actuator *t, double dt)
{
  const tn_model *model = in->model;
  dpose at = site_after(in, t->target, dt), base = site_after(in, t->refsite, dt);
  dvec linear = gear_vector(t, 0), angular = gear_vector(t, 3);
  drot turn = drot_mul(drot_inverse(base.q), at.q);
  dvec apart = drot_apply(drot_inverse(base.q), dvec_sub(at.p, base.p));
  unit_wrench w = {.force = drot_apply(base.q, linear),
                   .torque = drot_apply(base.q, angular),
                   .point = at.p,
                   .against_point = base.p,
                   .body = model->sites.items[t->target].body,
                   .against = model->sites.items[t->refsite].body};
  w.common = common_ancestor(model, w.body, w.against);
  w.length = dvec_dot(linear, apart) + dvec_dot(angular, rotation_vector(turn));
  return w;
}

// A rod of length r from the crank's site to a slider on the z axis of the other site. With v from
// the slider's site to the crank's, a the axis and D = (a v)^2 + r^2 - v^2 the slider is at
//     L = a v - sqrt(D),   dL/dv = (1 - a v / sqrt(D)) a + v / sqrt(D)
static unit_wrench by_crank(const tn_instance *in, const model_actuator *t, double dt)
{
  const tn_model *model = in->model;
  dpose at = site_after(in, t->target, dt), base = site_after(in, t->refsite, dt);
  dvec axis = drot_apply(base.q, dvec_of(0.0, 0.0, 1.0)), v = dvec_sub(at.p, base.p);
  double along = dvec_dot(axis, v);
  double square = along * along + t->crank * t->crank - dvec_dot(v, v);
  double root = square > 1e-18 ? sqrt(square) : 0.0; // 0: the rod is too short, and follows
  unit_wrench w = {.point = at.p,
                   .against_point = at.p,
                   .body = model->sites.items[t->target].body,
                   .against = model->sites.items[t->refsite].body,
                   .common = -1};
  w.force = axis;
  if (root > 0.0) {
    w.force = dvec_add(dvec_scale(1.0 - along / root, axis), dvec_scale(1.0 / root, v));
  }
  w.force = dvec_scale(t->gear[0], w.force);
  w.length = t->gear[0] * (along - root);
  return w;
}

// The wrench `dt` from now.
static unit_wrench unit_of(tn_instance *in, const model_actuator *t, double dt)
{
  const tn_model *model = in->model;
  unit_wrench w = {.against = -1, .common = -1};
  if (t->transmission == MODEL_TO_SLIDER_CRANK) {
    return by_crank(in, t, dt);
  }
  if (t->transmission == MODEL_TO_SITE && t->refsite >= 0) {
    return between_sites(in, t, dt);
  }
  if (t->transmission == MODEL_TO_SITE) {
    dpose at = site_after(in, t->target, dt);
    w.force = drot_apply(at.q, gear_vector(t, 0));
    w.torque = drot_apply(at.q, gear_vector(t, 3));
    w.point = at.p;
    w.body = model->sites.items[t->target].body;
    return w;
  }
  const model_joint *j = &model->joints.items[t->target];
  const model_body *body = &model->bodies.items[j->body];
  dpose at = pose_after(in, j->body, dt);
  bool outer = t->transmission == MODEL_TO_JOINT_IN_PARENT;
  w.body = j->body;
  w.point = w.against_point = at.p;
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

static double rate_of(const tn_instance *in, const unit_wrench *w, int body, dvec point)
{
  tn_body_id id = body < 0 ? (tn_body_id){0, 0, 0} : tn_instance_body(in, body);
  if (TN_IS_NULL(id)) {
    return 0.0;
  }
  dvec spin = dvec_of_vec3(tn_body_angular_velocity(in->world, id));
  dvec arm = dvec_sub(point, dvec_of_pos(tn_body_center(in->world, id)));
  dvec v = dvec_add(dvec_of_vec3(tn_body_velocity(in->world, id)), dvec_cross(spin, arm));
  return dvec_dot(w->force, v) + dvec_dot(w->torque, spin);
}

// Couple that is left of a unit force and its reaction.
static dvec couple_of(const unit_wrench *w)
{
  return dvec_cross(dvec_sub(w->against_point, w->point), w->force);
}

static bool push(const tn_instance *in, int body, dvec force, dvec torque, dvec point)
{
  tn_body_id id = body < 0 ? (tn_body_id){0, 0, 0} : tn_instance_body(in, body);
  if (TN_IS_NULL(id) || tn_body_get_type(in->world, id) != TN_BODY_DYNAMIC) {
    return true;
  }
  return tn_body_apply_force(in->world, id, vec3_of(force), pos_of(point)) &&
         tn_body_apply_torque(in->world, id, vec3_of(torque));
}

void wrench_length(tn_instance *in, int actuator, double *length, double *rate)
{
  unit_wrench w = unit_of(in, &in->model->actuators.items[actuator], 0.0);
  *length = w.length;
  *rate = rate_of(in, &w, w.body, w.point) - rate_of(in, &w, w.against, w.against_point);
  tn_body_id common = w.common < 0 ? (tn_body_id){0, 0, 0} : tn_instance_body(in, w.common);
  if (!TN_IS_NULL(common)) {
    dvec spin = dvec_of_vec3(tn_body_angular_velocity(in->world, common));
    *rate += dvec_dot(couple_of(&w), spin);
  }
}

static bool apply_wrench(tn_instance *in, int actuator, double dt)
{
  double length, rate;
  wrench_length(in, actuator, &length, &rate);
  double force = actuator_force(in, actuator, length + 0.5 * dt * rate, rate);
  if (force == 0.0) {
    return true;
  }
  unit_wrench w = unit_of(in, &in->model->actuators.items[actuator], 0.5 * dt);
  dvec f = dvec_scale(force, w.force), torque = dvec_scale(force, w.torque);
  bool ok = push(in, w.body, f, torque, w.point);
  ok = push(in, w.against, dvec_scale(-1.0, f), dvec_scale(-1.0, torque), w.against_point) && ok;
  dvec none = dvec_of(0.0, 0.0, 0.0);
  return push(in, w.common, none, dvec_scale(force, couple_of(&w)), w.point) && ok;
}

// Adhesion: all contacts of a body together are pulled closed by the force, in equal shares.
static bool apply_adhesion(tn_instance *in, int actuator)
{
  enum { MOST = 64 };
  const double near = 1e-3; // gap of what counts as touching, m
  const model_actuator *t = &in->model->actuators.items[actuator];
  tn_body_id id = tn_instance_body(in, t->target);
  double force = actuator_force(in, actuator, 0.0, 0.0);
  tn_contact contacts[MOST];
  int points = 0;
  bool ok = true;
  int count = TN_IS_NULL(id) || force == 0.0 ? 0 : tn_body_contacts(in->world, id, contacts, MOST);
  count = count < MOST ? count : MOST;
  for (int pass = 0; pass < 2; ++pass) { // the number of points, then their forces
    for (int i = 0; i < count; ++i) {
      const tn_contact *c = &contacts[i];
      for (int k = 0; k < c->count; ++k) {
        if ((double)c->points[k].gap > near) {
          continue;
        }
        points += pass == 0;
        float share = (float)(force / points);
        for (int side = 0; side < 2 && pass == 1; ++side) {
          tn_body_id on = side ? c->body_b : c->body_a;
          tn_vec3 pull = tn_scale(side ? -share : share, c->normal);
          if (!TN_IS_NULL(on) && tn_body_get_type(in->world, on) == TN_BODY_DYNAMIC) {
            ok = tn_body_apply_force(in->world, on, pull, c->points[k].position) && ok;
          }
        }
      }
    }
  }
  return ok;
}

bool apply_wrenches(tn_instance *in, double dt)
{
  const tn_model *model = in->model;
  bool ok = true;
  for (int i = 0; i < model->actuators.count; ++i) {
    const model_actuator *t = &model->actuators.items[i];
    if (is_wrench(model, t)) {
      ok = apply_wrench(in, i, dt) && ok;
    } else if (t->supported && t->transmission == MODEL_TO_BODY) {
      ok = apply_adhesion(in, i) && ok;
    }
  }
  return ok;
}
