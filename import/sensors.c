// Sensors of a model as read-outs, with MuJoCo's names and conventions: positions and directions
// are in the frame of the model.
#include "sensors.h"

#include <string.h>

bool sensor_is(const model_sensor *sensor, const char *type)
{
  return strcmp(sensor->type, type) == 0;
}

// Pose of an object in the frame of its body. False if there is none of that name.
static bool find_object(const tn_model *model, const char *kind, const char *name, int *body,
                        dpose *local)
{
  *local = dpose_identity();
  if (strcmp(kind, "site") == 0) {
    int site = model_find_site(model, name);
    *body = site < 0 ? -1 : model->sites.items[site].body;
    *local = site < 0 ? *local : model->sites.items[site].pose;
  } else if (strcmp(kind, "geom") == 0) {
    int geom = model_find_geom(model, name);
    *body = geom < 0 ? -1 : model->geoms.items[geom].body;
    *local = geom < 0 ? *local : model->geoms.items[geom].pose;
  } else {
    *body = model_find_body(model, name);
    if (*body >= 0 && strcmp(kind, "body") == 0) { // at the centre of mass
      local->p = model->bodies.items[*body].mass.center;
    }
  }
  return *body >= 0;
}

bool sensor_find_frame(const tn_instance *in, const char *kind, const char *name, sensed_frame *f)
{
  dpose local;
  *f = (sensed_frame){0};
  if (!find_object(in->model, kind, name, &f->body, &local)) {
    return false;
  }
  f->at = dpose_mul(instance_pose(in, f->body), local);
  dvec gravity = drot_apply(in->place.q, in->model->option.gravity);
  f->push = dvec_scale(-1.0, gravity);
  tn_body_id id = tn_instance_body(in, f->body);
  if (TN_IS_NULL(id)) {
    return true;
  }
  dvec arm = dvec_sub(f->at.p, dvec_of_pos(tn_body_center(in->world, id)));
  dvec velocity = dvec_of_vec3(tn_body_velocity(in->world, id));
  f->spin = dvec_of_vec3(tn_body_angular_velocity(in->world, id));
  f->velocity = dvec_add(velocity, dvec_cross(f->spin, arm));
  const past_motion *past = &in->past[in->owners[f->body]];
  if (in->past_dt > 0.0) {
    f->angular = dvec_scale(1.0 / in->past_dt, dvec_sub(f->spin, past->spin));
    dvec center = dvec_scale(1.0 / in->past_dt, dvec_sub(velocity, past->velocity));
    dvec turning =
        dvec_add(dvec_cross(f->angular, arm), dvec_cross(f->spin, dvec_cross(f->spin, arm)));
    f->push = dvec_add(f->push, dvec_add(center, turning));
  }
  return true;
}

int sensor_put(double *out, dvec v)
{
  out[0] = v.x;
  out[1] = v.y;
  out[2] = v.z;
  return 3;
}

static int put_rotation(double *out, drot q)
{
  out[0] = q.w;
  out[1] = q.x;
  out[2] = q.y;
  out[3] = q.z;
  return 4;
}

// ---------------------------------------------------------------------------------------------
// Kinds of sensors: each fills in its values, at most 6, and returns their number; 0: not this kind

// In the frame of the reference object, which is the model's own unless a file names another.
static int sense_frame(const tn_instance *in, const model_sensor *s, double *out)
{
  static const char *const axes[] = {"framexaxis", "frameyaxis", "framezaxis"};
  sensed_frame f, r = {.at = in->place};
  bool relative = *s->reference;
  if (strncmp(s->type, "frame", 5) != 0 || !sensor_find_frame(in, s->object_type, s->object, &f) ||
      (relative && !sensor_find_frame(in, s->reference_type, s->reference, &r))) {
    return 0;
  }
  drot to_frame = drot_inverse(r.at.q);
  dvec apart = dvec_sub(f.at.p, r.at.p);
  if (sensor_is(s, "framepos")) {
    return sensor_put(out, drot_apply(to_frame, apart));
  }
  if (sensor_is(s, "framequat")) {
    return put_rotation(out, drot_mul(to_frame, f.at.q));
  }
  if (sensor_is(s, "framelinvel")) {
    dvec v = dvec_sub(f.velocity, r.velocity);
    v = relative ? dvec_sub(v, dvec_cross(r.spin, apart)) : v;
    return sensor_put(out, drot_apply(to_frame, v));
  }
  if (sensor_is(s, "frameangvel")) {
    return sensor_put(out, drot_apply(to_frame, dvec_sub(f.spin, r.spin)));
  }
  if (sensor_is(s, "framelinacc")) {
    return sensor_put(out, drot_apply(drot_inverse(in->place.q), f.push));
  }
  if (sensor_is(s, "frameangacc")) {
    return sensor_put(out, drot_apply(drot_inverse(in->place.q), f.angular));
  }
  for (int i = 0; i < 3; ++i) {
    if (sensor_is(s, axes[i])) {
      dvec axis = dvec_of(i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0);
      return sensor_put(out, drot_apply(to_frame, drot_apply(f.at.q, axis)));
    }
  }
  return 0;
}

static int sense_joint(tn_instance *in, const model_sensor *s, double *out)
{
  const tn_model *model = in->model;
  int joint = model_find_joint(model, s->object);
  bool position = sensor_is(s, "jointpos") || sensor_is(s, "ballquat");
  bool velocity = sensor_is(s, "jointvel") || sensor_is(s, "ballangvel");
  if (joint < 0 || !in->articulation || (!position && !velocity)) {
    return 0;
  }
  const model_joint *j = &model->joints.items[joint];
  int count = position ? model_joint_qpos_count(j->type) : model_joint_dof_count(j->type);
  bool ok =
      position ? tn_instance_positions(in, in->numbers) : tn_instance_velocities(in, in->numbers);
  if (!ok || count > 4) {
    return 0;
  }
  memcpy(out, in->numbers + (position ? j->qpos : j->dof), (size_t)count * sizeof *out);
  return count;
}

// Whether `body` hangs on `root`, or is it.
static bool hangs_on(const tn_model *model, int body, int root)
{
  while (body > root) {
    body = model->bodies.items[body].parent;
  }
  return body == root;
}

// Centre of mass, its velocity, and angular momentum about it, of a body with all that hang on it.
static int sense_subtree(const tn_instance *in, const model_sensor *s, double *out)
{
  const tn_model *model = in->model;
  int root = model_find_body(model, s->object);
  if (root < 0 || strncmp(s->type, "subtree", 7) != 0) {
    return 0;
  }
  double mass = 0.0;
  dvec first = dvec_of(0.0, 0.0, 0.0), momentum = first, angular = first;
  for (int i = root; i < model->bodies.count; ++i) {
    tn_body_id id = tn_instance_body(in, i);
    if (in->owners[i] != i || TN_IS_NULL(id) || !hangs_on(model, i, root)) {
      continue;
    }
    double m = (double)tn_body_mass(in->world, id).mass;
    tn_momentum p = tn_bodies_momentum(in->world, &id, 1, tn_p3(0.0, 0.0, 0.0));
    mass += m;
    first = dvec_add(first, dvec_scale(m, dvec_of_pos(tn_body_center(in->world, id))));
    momentum = dvec_add(momentum, dvec_of(p.linear[0], p.linear[1], p.linear[2]));
    angular = dvec_add(angular, dvec_of(p.angular[0], p.angular[1], p.angular[2]));
  }
  dvec center = mass > 0.0 ? dvec_scale(1.0 / mass, first) : in->place.p;
  drot to_model = drot_inverse(in->place.q);
  if (sensor_is(s, "subtreecom")) {
    return sensor_put(out, dpose_apply(dpose_inverse(in->place), center));
  }
  if (sensor_is(s, "subtreelinvel")) {
    dvec v = mass > 0.0 ? dvec_scale(1.0 / mass, momentum) : momentum;
    return sensor_put(out, drot_apply(to_model, v));
  }
  angular = dvec_sub(angular, dvec_cross(center, momentum));
  return sensor_put(out, drot_apply(to_model, angular));
}

int tn_instance_sensor(tn_instance *in, int sensor, double *values, int capacity)
{
  if (!in || sensor < 0 || sensor >= in->model->sensors.count) {
    return 0;
  }
  const model_sensor *s = &in->model->sensors.items[sensor];
  double all[6] = {0.0};
  int count = sense_frame(in, s, all);
  count = count ? count : sense_at_site(in, s, all);
  count = count ? count : sense_ray(in, s, all);
  count = count ? count : sense_touch(in, s, all);
  count = count ? count : sense_joint(in, s, all);
  count = count ? count : sense_actuator(in, s, all);
  count = count ? count : sense_tendon(in, s, all);
  count = count ? count : sense_subtree(in, s, all);
  for (int i = 0; i < count; ++i) {
    if (s->cutoff > 0.0) {
      all[i] = fmin(fmax(all[i], -s->cutoff), s->cutoff);
    }
    if (values && i < capacity) {
      values[i] = all[i];
    }
  }
  return count;
}
