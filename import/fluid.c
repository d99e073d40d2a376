// Forces of a fluid on bodies: viscous resistance and drag of the box that has the inertia of a
// body, as MuJoCo's model for bodies. tn_instance_advance() applies them for one step.
#include "instance.h"

static const double PI = 3.14159265358979323846;

typedef struct fluid_box {
  dvec size;    // edges, m
  dvec center;  // in the body's frame
  drot axes;    // to the body's frame
  double mass;  // kg
  dvec moments; // kg m^2
} fluid_box;

static double edge_of(double sum, double mass)
{
  return sqrt(fmax(sum, 1e-15) / mass * 6.0);
}

static fluid_box box_of(const model_mass *m)
{
  const dsym s = m->inertia;
  tn_mass mass = {(float)m->mass,
                  vec3_of(m->center),
                  {(float)s.xx, (float)s.yy, (float)s.zz, (float)s.xy, (float)s.xz, (float)s.yz}};
  tn_principal_axes p = tn_mass_principal_axes(mass);
  const double *i = p.moments;
  fluid_box box = {.center = m->center,
                   .axes = {p.rotation[3], p.rotation[0], p.rotation[1], p.rotation[2]},
                   .mass = m->mass,
                   .moments = dvec_of(i[0], i[1], i[2])};
  box.size = dvec_of(edge_of(i[1] + i[2] - i[0], m->mass), edge_of(i[0] + i[2] - i[1], m->mass),
                     edge_of(i[0] + i[1] - i[2], m->mass));
  return box;
}

// Never more than what would stop the body by itself in a step, so that any step is stable.
static double resist(double coefficient, double velocity, double inertia, double dt)
{
  return -fmin(coefficient, inertia / dt) * velocity;
}

static double fourth(double x)
{
  return x * x * x * x;
}

static dvec force_on(const model_option *o, const fluid_box *b, dvec v, double dt)
{
  double viscous = 3.0 * PI * (b->size.x + b->size.y + b->size.z) / 3.0 * o->viscosity;
  double drag = 0.5 * o->density;
  return dvec_of(resist(viscous + drag * b->size.y * b->size.z * fabs(v.x), v.x, b->mass, dt),
                 resist(viscous + drag * b->size.x * b->size.z * fabs(v.y), v.y, b->mass, dt),
                 resist(viscous + drag * b->size.x * b->size.y * fabs(v.z), v.z, b->mass, dt));
}

static dvec torque_on(const model_option *o, const fluid_box *b, dvec w, double dt)
{
  double mean = (b->size.x + b->size.y + b->size.z) / 3.0;
  double viscous = PI * mean * mean * mean * o->viscosity, drag = o->density / 64.0;
  double x = fourth(b->size.x), y = fourth(b->size.y), z = fourth(b->size.z);
  return dvec_of(resist(viscous + drag * b->size.x * (y + z) * fabs(w.x), w.x, b->moments.x, dt),
                 resist(viscous + drag * b->size.y * (x + z) * fabs(w.y), w.y, b->moments.y, dt),
                 resist(viscous + drag * b->size.z * (x + y) * fabs(w.z), w.z, b->moments.z, dt));
}

// Velocity in the middle of the step if it goes on changing as in the last one.
static dvec ahead(const tn_instance *in, tn_vec3 now, dvec past, double dt)
{
  dvec v = dvec_of_vec3(now);
  double share = in->past_dt > 0.0 ? 0.5 * dt / in->past_dt : 0.0;
  return dvec_add(v, dvec_scale(share, dvec_sub(v, past)));
}

static bool push_body(tn_instance *in, int body, tn_body_id id, double dt)
{
  const model_option *o = &in->model->option;
  const past_motion *past = &in->past[in->owners[body]];
  fluid_box box = box_of(&in->model->bodies.items[body].mass);
  dvec spin = ahead(in, tn_body_angular_velocity(in->world, id), past->spin, dt);
  dvec v = ahead(in, tn_body_velocity(in->world, id), past->velocity, dt);
  dvec center = dvec_of_pos(tn_body_center(in->world, id));
  drot turn = drot_axis_angle(spin, 0.5 * dt * dvec_length(spin)); // as in the middle of the step
  dpose pose = instance_pose(in, body);
  dvec arm = drot_apply(turn, dvec_sub(dpose_apply(pose, box.center), center));
  drot axes = drot_normalize(drot_mul(turn, drot_mul(pose.q, box.axes)));
  drot inverse = drot_inverse(axes);
  v = dvec_sub(dvec_add(v, dvec_cross(spin, arm)), drot_apply(in->place.q, o->wind));
  dvec force = drot_apply(axes, force_on(o, &box, drot_apply(inverse, v), dt));
  dvec torque = drot_apply(axes, torque_on(o, &box, drot_apply(inverse, spin), dt));
  return tn_body_apply_force(in->world, id, vec3_of(force), pos_of(dvec_add(center, arm))) &&
         tn_body_apply_torque(in->world, id, vec3_of(torque));
}

bool apply_fluid(tn_instance *in, double dt)
{
  const model_option *o = &in->model->option;
  bool ok = true;
  if (o->density == 0.0 && o->viscosity == 0.0) {
    return true;
  }
  for (int i = 1; i < in->model->bodies.count && dt > 0.0; ++i) {
    tn_body_id id = tn_instance_body(in, i);
    bool acts = in->model->bodies.items[i].mass.mass > 0.0 && tn_body_is_valid(in->world, id) &&
                tn_body_get_type(in->world, id) == TN_BODY_DYNAMIC;
    ok = (!acts || push_body(in, i, id, dt)) && ok;
  }
  return ok;
}
