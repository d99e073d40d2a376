#include "instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COOKIE = 0x1a70bd02 };

// Mass of a link between two joints of one body, as a share of that body: mass matrix and forces
// are as far off. Its centre and shape are those of the body.
static const double LINK_SHARE = 1e-6;

tn_instance_def tn_default_instance_def(void)
{
  tn_instance_def def = {
      .place = tn_transform_identity(), .y_up = true, .keyframe = -1, .cookie = COOKIE};
  return def;
}

// ---------------------------------------------------------------------------------------------
// Masses

static tn_mass mass_of(const model_mass *m, double share)
{
  const dsym s = dsym_scale(share, m->inertia);
  tn_mass out = {(float)(share * m->mass),
                 vec3_of(m->center),
                 {(float)s.xx, (float)s.yy, (float)s.zz, (float)s.xy, (float)s.xz, (float)s.yz}};
  return out;
}

// Adds a mass that is given in the frame of a part to that of the whole.
static void add_mass(model_mass *sum, const model_mass *part, dpose at)
{
  if (!(part->mass > 0.0)) {
    return;
  }
  dvec center = dpose_apply(at, part->center);
  dsym inertia = dsym_rotate(at.q, part->inertia);
  double total = sum->mass + part->mass;
  dvec middle = dvec_scale(
      1.0 / total, dvec_add(dvec_scale(sum->mass, sum->center), dvec_scale(part->mass, center)));
  dsym a = dsym_point(sum->mass, dvec_sub(sum->center, middle));
  dsym b = dsym_point(part->mass, dvec_sub(center, middle));
  sum->inertia = dsym_add(dsym_add(sum->inertia, a), dsym_add(inertia, b));
  sum->mass = total;
  sum->center = middle;
}

// Makes a mass one that a solid can have: files give bodies without mass, and moments that violate
// the triangle inequality.
static void repair_mass(tn_model *model, const model_body *body, model_mass *m)
{
  if (!(m->mass > 0.0)) {
    double mass = 1e-4 * tn_model_total_mass(model);
    m->mass = mass > 1e-6 ? mass : 1e-6;
    m->inertia = (dsym){1e-4 * m->mass, 1e-4 * m->mass, 1e-4 * m->mass, 0.0, 0.0, 0.0};
    model_note_add(model, TN_IMPORT_APPROXIMATED, body->at,
                   "body without mass that moves: it gets 1e-4 of the mass of the model");
    return;
  }
  model_mass unit = {1.0, m->center, dsym_scale(1.0 / m->mass, m->inertia)};
  tn_principal_axes axes = tn_mass_principal_axes(mass_of(&unit, 1.0));
  const double *i = axes.moments;
  double missing = fmax(i[2] - i[0] - i[1], 0.0); // as much on each moment closes the gap
  double least = fmax(1e-9, 1e-6 * i[2]) - i[0];
  double more = fmax(missing, least) * m->mass;
  if (more > 0.0) {
    more *= 1.0001;
    dsym identity = {more, more, more, 0.0, 0.0, 0.0};
    m->inertia = dsym_add(m->inertia, identity);
    model_note_add(model, TN_IMPORT_APPROXIMATED, body->at,
                   "inertia that no solid has: its moments are raised");
  }
}

// ---------------------------------------------------------------------------------------------
// Bodies

bool instance_is_dynamic(const tn_instance *in, int body)
{
  int owner = in->owners[body];
  return in->model->bodies.items[owner].joint_count > 0 || in->welded[owner];
}

bool instance_moves(const tn_instance *in, int body)
{
  return instance_is_dynamic(in, body) || in->model->bodies.items[in->owners[body]].mocap;
}

// Bodies without joints are part of their parent. Those that hang on the world are bodies of their
// own, so that pairs of bodies can be kept from colliding, and so are those whose weight counts for
// another share than that of the body they would be part of.
static void find_owners(tn_instance *in)
{
  const tn_model *model = in->model;
  for (int i = 0; i < model->bodies.count; ++i) {
    const model_body *b = &model->bodies.items[i];
    bool fixed = b->joint_count == 0 && !b->mocap && b->parent > 0;
    in->welded[i] = fixed && b->mass.mass > 0.0 && instance_is_dynamic(in, b->parent) &&
                    b->gravcomp != model->bodies.items[in->owners[b->parent]].gravcomp;
    bool own = !fixed || in->welded[i];
    in->owners[i] = own ? i : in->owners[b->parent];
    in->local[i] = own ? dpose_identity() : dpose_mul(in->local[b->parent], b->pose);
  }
}

static void set_name(tn_body_def *def, char name[64], const char *prefix, const model_body *body)
{
  snprintf(name, 64, "%.30s%.33s", prefix ? prefix : "", body->name);
  def->name = name;
}

static bool add_body(tn_instance *in, const tn_instance_def *def, const model_body *body,
                     tn_mass mass, dpose pose, built_body *out)
{
  char name[64];
  tn_body_def d = tn_default_body_def();
  bool dynamic = instance_is_dynamic(in, (int)(body - in->model->bodies.items));
  out->pose = dpose_mul(in->place, pose);
  d.type = body->mocap ? TN_BODY_KINEMATIC : dynamic ? TN_BODY_DYNAMIC : TN_BODY_STATIC;
  d.position = pos_of(out->pose.p);
  d.rotation = quat_of(drot_normalize(out->pose.q));
  d.mass = mass;
  d.gravity_scale = (float)(1.0 - body->gravcomp);
  set_name(&d, name, def->prefix, body);
  out->id = tn_body_create(in->world, &d);
  return !TN_IS_NULL(out->id);
}

bool instance_turns_armature(const tn_instance *in, int joint)
{
  const model_joint *j = &in->model->joints.items[joint];
  bool free = !j->limited && !(j->stiffness > 0.0);
  return j->type == MODEL_BALL && j->armature > 0.0 &&
         !(free && instance_moves(in, in->model->bodies.items[j->body].parent));
}

static tn_mass with_armature(const tn_instance *in, tn_mass mass, int joint)
{
  float more = (float)in->model->joints.items[joint].armature;
  if (instance_turns_armature(in, joint)) {
    mass.inertia.xx += more;
    mass.inertia.yy += more;
    mass.inertia.zz += more;
  }
  return mass;
}

static bool build_body(tn_instance *in, const tn_instance_def *def, int index, const dpose *poses,
                       const dpose *after)
{
  tn_model *model = in->model;
  const model_body *body = &model->bodies.items[index];
  model_mass whole = {0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
  for (int i = index; i < model->bodies.count; ++i) {
    if (in->owners[i] == index) {
      add_mass(&whole, &model->bodies.items[i].mass, in->local[i]);
    }
  }
  if (!instance_moves(in, index)) {
    tn_mass any = tn_mass_scaled_to(tn_mass_sphere(0.5f, 1.0f), 1.0f); // it has no effect
    return add_body(in, def, body, any, poses[index], &in->bodies[index]);
  }
  repair_mass(model, body, &whole);
  int links = body->joint_count - 1;
  for (int k = 0; k < links; ++k) {
    int joint = body->first_joint + k;
    tn_mass mass = with_armature(in, mass_of(&whole, LINK_SHARE), joint);
    if (!add_body(in, def, body, mass, after[joint], &in->between[joint])) {
      return false;
    }
  }
  double share = 1.0 - LINK_SHARE * (links > 0 ? links : 0);
  tn_mass mass = mass_of(&whole, share);
  if (links >= 0) {
    mass = with_armature(in, mass, body->first_joint + links);
  }
  return add_body(in, def, body, mass, poses[index], &in->bodies[index]);
}

// The world's own geoms need a body if a file keeps some bodies from colliding with them.
static bool build_ground(tn_instance *in)
{
  bool needed = false;
  for (int i = 0; i < in->model->excludes.count; ++i) {
    const model_exclude *e = &in->model->excludes.items[i];
    needed = needed || e->a == 0 || e->b == 0;
  }
  tn_body_def def = tn_default_body_def();
  def.type = TN_BODY_STATIC;
  def.position = pos_of(in->place.p);
  def.rotation = quat_of(drot_normalize(in->place.q));
  if (needed) {
    in->ground = tn_body_create(in->world, &def);
  }
  return !needed || !TN_IS_NULL(in->ground);
}

static bool build_bodies(tn_instance *in, const tn_instance_def *def, const dpose *poses,
                         const dpose *after)
{
  for (int i = 1; i < in->model->bodies.count; ++i) {
    if (in->owners[i] == i && !build_body(in, def, i, poses, after)) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// The instance

static bool take_memory(tn_instance *in)
{
  const tn_model *model = in->model;
  memory *m = &in->memory;
  size_t bodies = (size_t)model->bodies.count, joints = (size_t)model->joints.count + 1;
  in->owners = memory_take(m, bodies, sizeof *in->owners);
  in->welded = memory_take(m, bodies, sizeof *in->welded);
  in->local = memory_take(m, bodies, sizeof *in->local);
  in->reference = memory_take(m, bodies, sizeof *in->reference);
  in->bodies = memory_take(m, bodies, sizeof *in->bodies);
  in->between = memory_take(m, joints, sizeof *in->between);
  in->joints = memory_take(m, joints, sizeof *in->joints);
  in->equalities = memory_take(m, (size_t)model->equalities.count + 1, sizeof *in->equalities);
  in->links = memory_take(m, (size_t)model->links.count + 1, sizeof *in->links);
  in->controls = memory_take(m, (size_t)model->actuators.count + 1, sizeof *in->controls);
  in->activations = memory_take(m, (size_t)model->actuators.count + 1, sizeof *in->activations);
  in->muscles = memory_take(m, (size_t)model->actuators.count + 1, sizeof *in->muscles);
  in->servo_damping = memory_take(m, (size_t)model->actuators.count + 1, sizeof *in->servo_damping);
  in->past = memory_take(m, bodies, sizeof *in->past);
  in->first_hull = memory_take(m, (size_t)model->meshes.count + 1, sizeof *in->first_hull);
  in->hull_count = memory_take(m, (size_t)model->meshes.count + 1, sizeof *in->hull_count);
  for (int i = 0; in->first_hull && i < model->meshes.count; ++i) {
    in->first_hull[i] = -1;
  }
  in->surfaces = memory_take(m, (size_t)model->meshes.count + 1, sizeof *in->surfaces);
  return !m->failed;
}

static dpose pose_of_transform(tn_transform t)
{
  dpose out = {dvec_of(t.p.x, t.p.y, t.p.z),
               drot_normalize((drot){(double)t.q.w, (double)t.q.x, (double)t.q.y, (double)t.q.z})};
  return out;
}

// Removes what a failed build has made.
static void remove_built(tn_instance *in)
{
  for (int i = 0; i < in->couplings.count; ++i) {
    tn_coupling_destroy(in->world, in->couplings.items[i]);
  }
  for (int i = 0; i < in->shapes.count; ++i) {
    if (!TN_IS_NULL(in->shapes.items[i])) {
      tn_shape_destroy(in->world, in->shapes.items[i]);
    }
  }
  for (int i = 0; i < in->hulls.count; ++i) {
    if (!TN_IS_NULL(in->hulls.items[i])) {
      tn_geometry_destroy(in->world, in->hulls.items[i]);
    }
  }
  for (int i = 0; i < in->model->meshes.count; ++i) {
    if (!TN_IS_NULL(in->surfaces[i])) {
      tn_geometry_destroy(in->world, in->surfaces[i]);
    }
  }
  if (!TN_IS_NULL(in->ground)) {
    tn_body_destroy(in->world, in->ground);
  }
  for (int i = 0; i < in->model->joints.count; ++i) {
    if (!TN_IS_NULL(in->between[i].id)) {
      tn_body_destroy(in->world, in->between[i].id);
    }
  }
  for (int i = 0; i < in->model->bodies.count; ++i) {
    if (!TN_IS_NULL(in->bodies[i].id)) {
      tn_body_destroy(in->world, in->bodies[i].id);
    }
  }
}

static bool build(tn_instance *in, const tn_instance_def *def)
{
  const tn_model *model = in->model;
  const model_key *key = def->keyframe >= 0 ? &model->keys.items[def->keyframe] : NULL;
  dpose *poses = memory_take(&in->memory, (size_t)model->bodies.count, sizeof *poses);
  dpose *after = memory_take(&in->memory, (size_t)model->joints.count + 1, sizeof *after);
  if (!poses || !after) {
    return false;
  }
  model_kinematics(model, NULL, in->reference, NULL);
  model_kinematics(model, key, poses, after);
  find_owners(in);
  take_controls(in, key);
  if (!build_ground(in) || !build_bodies(in, def, poses, after) || !build_shapes(in) ||
      !build_joints(in) || !build_couplings(in) || !build_articulation(in) ||
      !tune_by_inertia(in) || !start_muscles(in)) {
    return false;
  }
  return !key || !key->qvel || !in->articulation || tn_instance_set_velocities(in, key->qvel);
}

tn_instance *tn_instance_create(tn_world *world, tn_model *model, const tn_instance_def *def)
{
  tn_instance_def usual = tn_default_instance_def();
  def = def ? def : &usual;
  bool valid = world && model && def->cookie == COOKIE && def->keyframe >= -1 &&
               def->keyframe < model->keys.count;
  tn_instance *in = valid ? calloc(1, sizeof *in) : NULL;
  if (!in) {
    return NULL;
  }
  in->world = world;
  in->model = model;
  in->place = pose_of_transform(def->place);
  if (def->y_up && !model->option.y_up) {
    dpose turn = {{0.0, 0.0, 0.0}, drot_from_to(dvec_of(0.0, 0.0, 1.0), dvec_of(0.0, 1.0, 0.0))};
    in->place = dpose_mul(in->place, turn);
  }
  bool ready = take_memory(in);
  if (!ready || !build(in, def)) {
    if (ready) {
      remove_built(in);
    }
    tn_instance_destroy(in);
    return NULL;
  }
  if (!model->is_noted) {
    model_sort_notes(model);
    model->is_noted = true;
  }
  return in;
}

void tn_instance_destroy(tn_instance *instance)
{
  if (instance) {
    tn_articulation_destroy(instance->articulation);
    memory_free(&instance->memory);
    free(instance);
  }
}

// ---------------------------------------------------------------------------------------------
// Read-outs

tn_body_id tn_instance_body(const tn_instance *instance, int body)
{
  bool valid = instance && body >= 0 && body < instance->model->bodies.count;
  return valid ? instance->bodies[instance->owners[body]].id : (tn_body_id){0, 0, 0};
}

dpose instance_pose(const tn_instance *instance, int body)
{
  int owner = instance->owners[body];
  dpose base =
      owner == 0
          ? instance->place
          : pose_of_transform(tn_body_transform(instance->world, instance->bodies[owner].id));
  return dpose_mul(base, instance->local[body]);
}

tn_transform tn_instance_transform(const tn_instance *instance, int body)
{
  bool valid = instance && body >= 0 && body < instance->model->bodies.count;
  return valid ? transform_of(instance_pose(instance, body)) : tn_transform_identity();
}

tn_joint_id tn_instance_joint(const tn_instance *instance, int joint)
{
  bool valid = instance && joint >= 0 && joint < instance->model->joints.count;
  return valid ? instance->joints[joint] : (tn_joint_id){0, 0, 0};
}

tn_vec3 tn_instance_gravity(const tn_instance *instance)
{
  return instance ? vec3_of(drot_apply(instance->place.q, instance->model->option.gravity))
                  : tn_v3(0.0f, 0.0f, 0.0f);
}

bool tn_instance_set_control(tn_instance *instance, int actuator, double control)
{
  if (!instance || actuator < 0 || actuator >= instance->model->actuators.count ||
      !isfinite(control)) {
    return false;
  }
  instance->controls[actuator] = control;
  return drive_apply(instance, actuator);
}

bool tn_instance_set_controller(tn_instance *instance, tn_controller_fn *controller, void *context)
{
  if (!instance) {
    return false;
  }
  instance->controller = controller;
  instance->controller_context = context;
  return true;
}

tn_controller_fn *tn_instance_controller(const tn_instance *instance)
{
  return instance ? instance->controller : NULL;
}

double tn_instance_control(const tn_instance *instance, int actuator)
{
  bool valid = instance && actuator >= 0 && actuator < instance->model->actuators.count;
  return valid ? instance->controls[actuator] : 0.0;
}
