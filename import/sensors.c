// Sensors of a model as read-outs, with MuJoCo's names and conventions: positions and directions
// are in the frame of the model.
#include "instance.h"

#include <string.h>

// A frame that moves with a body of the model: a body, geom or site.
typedef struct sensed_frame {
  int body;
  dpose at;            // in the world
  dvec velocity, spin; // of its origin, and angular; world axes
} sensed_frame;

static dvec dvec_of_vec3(tn_vec3 v)
{
  return dvec_of((double)v.x, (double)v.y, (double)v.z);
}

static dvec dvec_of_pos(tn_pos p)
{
  return dvec_of(p.x, p.y, p.z);
}

static bool is_word(const char *text, const char *word)
{
  return strcmp(text, word) == 0;
}

// Pose of a sensor's object in the frame of its body. False if there is none of that name.
static bool find_object(const tn_model *model, const model_sensor *s, int *body, dpose *local)
{
  *local = dpose_identity();
  if (is_word(s->object_type, "site")) {
    int site = model_find_site(model, s->object);
    *body = site < 0 ? -1 : model->sites.items[site].body;
    *local = site < 0 ? *local : model->sites.items[site].pose;
  } else if (is_word(s->object_type, "geom")) {
    int geom = model_find_geom(model, s->object);
    *body = geom < 0 ? -1 : model->geoms.items[geom].body;
    *local = geom < 0 ? *local : model->geoms.items[geom].pose;
  } else {
    *body = model_find_body(model, s->object);
    if (*body >= 0 && is_word(s->object_type, "body")) { // at the centre of mass
      local->p = model->bodies.items[*body].mass.center;
    }
  }
  return *body >= 0;
}

static bool find_frame(const tn_instance *in, const model_sensor *s, sensed_frame *f)
{
  dpose local;
  if (!find_object(in->model, s, &f->body, &local)) {
    return false;
  }
  f->at = dpose_mul(instance_pose(in, f->body), local);
  f->velocity = f->spin = dvec_of(0.0, 0.0, 0.0);
  tn_body_id id = tn_instance_body(in, f->body);
  if (!TN_IS_NULL(id)) {
    dvec arm = dvec_sub(f->at.p, dvec_of_pos(tn_body_center(in->world, id)));
    f->spin = dvec_of_vec3(tn_body_angular_velocity(in->world, id));
    f->velocity = dvec_add(dvec_of_vec3(tn_body_velocity(in->world, id)), dvec_cross(f->spin, arm));
  }
  return true;
}

static int put_vector(double *out, dvec v)
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

static int sense_frame(const tn_instance *in, const model_sensor *s, double *out)
{
  static const char *const axes[] = {"framexaxis", "frameyaxis", "framezaxis"};
  drot to_model = drot_inverse(in->place.q);
  sensed_frame f;
  if (strncmp(s->type, "frame", 5) != 0 || !find_frame(in, s, &f)) {
    return 0;
  }
  if (is_word(s->type, "framepos")) {
    return put_vector(out, dpose_apply(dpose_inverse(in->place), f.at.p));
  }
  if (is_word(s->type, "framequat")) {
    return put_rotation(out, drot_mul(to_model, f.at.q));
  }
  if (is_word(s->type, "framelinvel")) {
    return put_vector(out, drot_apply(to_model, f.velocity));
  }
  if (is_word(s->type, "frameangvel")) {
    return put_vector(out, drot_apply(to_model, f.spin));
  }
  for (int i = 0; i < 3; ++i) {
    if (is_word(s->type, axes[i])) {
      dvec axis = dvec_of(i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0);
      return put_vector(out, drot_apply(to_model, drot_apply(f.at.q, axis)));
    }
  }
  return 0;
}

// The joint of the world that moves a body of the model, and whether the body is its B.
static tn_joint_state carrying_joint(const tn_instance *in, int body, bool *found, tn_pos *point)
{
  const model_body *b = &in->model->bodies.items[in->owners[body]];
  tn_joint_state state = {0};
  *found = b->joint_count > 0;
  if (*found) {
    tn_joint_id id = in->joints[b->first_joint + b->joint_count - 1];
    *found = !TN_IS_NULL(id);
    if (*found) {
      tn_joint_def def = tn_joint_get_def(in->world, id);
      tn_transform at = tn_body_transform(in->world, def.body_b);
      dpose base = {dvec_of_pos(at.p),
                    {(double)at.q.w, (double)at.q.x, (double)at.q.y, (double)at.q.z}};
      *point = pos_of(dpose_apply(base, dvec_of_pos(def.frame_b.p)));
      state = tn_joint_get_state(in->world, id);
    }
  }
  return state;
}

// Inertial sensors and load cells at sites, in the axes of the site.
static int sense_at_site(const tn_instance *in, const model_sensor *s, double *out)
{
  sensed_frame f;
  bool load = is_word(s->type, "force") || is_word(s->type, "torque");
  bool turn = is_word(s->type, "gyro"), speed = is_word(s->type, "velocimeter");
  if ((!load && !turn && !speed) || !find_frame(in, s, &f)) {
    return 0;
  }
  drot to_site = drot_inverse(f.at.q);
  if (!load) {
    return put_vector(out, drot_apply(to_site, turn ? f.spin : f.velocity));
  }
  bool found;
  tn_pos point = {0.0, 0.0, 0.0};
  tn_joint_state state = carrying_joint(in, f.body, &found, &point);
  dvec force = dvec_of_vec3(state.force);
  dvec arm = dvec_sub(dvec_of_pos(point), f.at.p);
  dvec torque = dvec_add(dvec_of_vec3(state.torque), dvec_cross(arm, force));
  return put_vector(out, drot_apply(to_site, is_word(s->type, "force") ? force : torque));
}

// Normal forces of all contacts of the body that the site is on.
static int sense_touch(const tn_instance *in, const model_sensor *s, double *out)
{
  sensed_frame f;
  if (!is_word(s->type, "touch") || !find_frame(in, s, &f)) {
    return 0;
  }
  enum { MOST = 64 };
  tn_contact contacts[MOST];
  tn_body_id id = tn_instance_body(in, f.body);
  int count = TN_IS_NULL(id) ? 0 : tn_body_contacts(in->world, id, contacts, MOST);
  out[0] = 0.0;
  for (int i = 0; i < count && i < MOST; ++i) {
    for (int k = 0; k < contacts[i].count; ++k) {
      out[0] += (double)contacts[i].points[k].normal_force;
    }
  }
  return 1;
}

static int sense_joint(tn_instance *in, const model_sensor *s, double *out)
{
  const tn_model *model = in->model;
  int joint = model_find_joint(model, s->object);
  bool position = is_word(s->type, "jointpos") || is_word(s->type, "ballquat");
  bool velocity = is_word(s->type, "jointvel") || is_word(s->type, "ballangvel");
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

// Length, rate and force of an actuator on a joint: those of the joint by the gear.
static int sense_actuator(tn_instance *in, const model_sensor *s, double *out)
{
  const tn_model *model = in->model;
  int index = model_find_actuator(model, s->object);
  bool position = is_word(s->type, "actuatorpos"), velocity = is_word(s->type, "actuatorvel");
  if (index < 0 || (!position && !velocity)) {
    return 0;
  }
  const model_actuator *t = &model->actuators.items[index];
  bool to_joint = t->transmission == MODEL_TO_JOINT || t->transmission == MODEL_TO_JOINT_IN_PARENT;
  const model_joint *j = to_joint ? &model->joints.items[t->target] : NULL;
  if (!j || (j->type != MODEL_HINGE && j->type != MODEL_SLIDE) || !in->articulation) {
    return 0;
  }
  bool ok =
      position ? tn_instance_positions(in, in->numbers) : tn_instance_velocities(in, in->numbers);
  out[0] = ok ? t->gear[0] * in->numbers[position ? j->qpos : j->dof] : 0.0;
  return ok ? 1 : 0;
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
  if (is_word(s->type, "subtreecom")) {
    return put_vector(out, dpose_apply(dpose_inverse(in->place), center));
  }
  if (is_word(s->type, "subtreelinvel")) {
    dvec v = mass > 0.0 ? dvec_scale(1.0 / mass, momentum) : momentum;
    return put_vector(out, drot_apply(to_model, v));
  }
  angular = dvec_sub(angular, dvec_cross(center, momentum));
  return put_vector(out, drot_apply(to_model, angular));
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
  count = count ? count : sense_touch(in, s, all);
  count = count ? count : sense_joint(in, s, all);
  count = count ? count : sense_actuator(in, s, all);
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
