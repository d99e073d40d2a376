// Joints of a model in a world: the only file that knows what a tn_joint_def can say.
#include "instance.h"

#include <string.h>

// A body of the world as an end of a joint, with its pose at the reference position of the model.
typedef struct joint_end {
  tn_body_id id;
  dpose pose; // in the frame of the model
} joint_end;

static joint_end end_of(const tn_instance *in, int body)
{
  int owner = in->owners[body];
  joint_end end = {in->bodies[owner].id, in->reference[owner]};
  return end;
}

// Frames that coincide at the reference position; those of the world include its place.
static void set_frames(const tn_instance *in, tn_joint_def *def, joint_end a, joint_end b,
                       dpose frame)
{
  dpose at_a = TN_IS_NULL(a.id) ? in->place : dpose_inverse(a.pose);
  dpose at_b = TN_IS_NULL(b.id) ? in->place : dpose_inverse(b.pose);
  dpose frame_a = dpose_mul(at_a, frame), frame_b = dpose_mul(at_b, frame);
  frame_a.q = drot_normalize(frame_a.q);
  frame_b.q = drot_normalize(frame_b.q);
  def->body_a = a.id;
  def->body_b = b.id;
  def->frame_a = transform_of(frame_a);
  def->frame_b = transform_of(frame_b);
}

static tn_range range_of(double lo, double hi)
{
  return tn_between((float)lo, (float)hi);
}

// ---------------------------------------------------------------------------------------------
// Joints of the tree

// Spring, damping, friction and armature of an axis, whose position is 0 at the reference.
static void set_axis(const model_joint *j, tn_axis *axis)
{
  axis->friction = (float)j->frictionloss;
  axis->damping = (float)j->damping;
  axis->armature = (float)j->armature;
  axis->stiffness = (float)j->stiffness;
  axis->rest = (float)(j->springref - j->ref);
}

static void set_hinge(const model_joint *j, tn_joint_def *def)
{
  set_axis(j, &def->axis[TN_ANGULAR_A]);
  if (j->limited) {
    def->angular[0] = range_of(j->range[0] - j->ref, j->range[1] - j->ref);
  }
}

// Whether a ball is built as a generic joint, whose axes have armature.
static bool is_generic_ball(const tn_instance *in, const model_joint *j)
{
  int index = (int)(j - in->model->joints.items);
  return j->type == MODEL_BALL && j->armature > 0.0 && !instance_turns_armature(in, index);
}

static void set_ball(tn_instance *in, const model_joint *j, tn_joint_def *def)
{
  for (int i = 0; is_generic_ball(in, j) && i < 3; ++i) {
    def->angular[i] = range_of(-(double)INFINITY, (double)INFINITY);
    set_axis(j, &def->axis[TN_ANGULAR_A + i]);
  }
  if (is_generic_ball(in, j)) {
    model_note_add(in->model, TN_IMPORT_APPROXIMATED, j->at,
                   "<joint> armature of a ball: exact for small turns");
    return;
  }
  set_axis(j, &def->axis[TN_ANGULAR_A]);
  def->axis[TN_ANGULAR_A].rest = 0.0f;
  def->axis[TN_ANGULAR_A].armature = 0.0f;
  if (j->armature > 0.0 && instance_moves(in, in->model->bodies.items[j->body].parent)) {
    model_note_add(in->model, TN_IMPORT_APPROXIMATED, j->at,
                   "<joint> armature of a ball with a range or spring: inertia of the body");
  }
  if (j->limited) {
    def->swing = (float)j->range[1];
    def->angular[0] = range_of(-j->range[1], j->range[1]);
    model_note_add(in->model, TN_IMPORT_APPROXIMATED, j->at,
                   "<joint> range of a ball: swing and twist are limited, not the whole angle");
  }
}

static tn_joint_def def_of(tn_instance *in, const model_joint *j)
{
  static const tn_joint_kind kinds[] = {[MODEL_HINGE] = TN_JOINT_HINGE,
                                        [MODEL_SLIDE] = TN_JOINT_PRISMATIC,
                                        [MODEL_BALL] = TN_JOINT_BALL,
                                        [MODEL_FREE] = TN_JOINT_GENERIC,
                                        [MODEL_PLANAR] = TN_JOINT_GENERIC};
  tn_joint_def def =
      tn_default_joint_def(is_generic_ball(in, j) ? TN_JOINT_GENERIC : kinds[j->type]);
  switch (j->type) {
  case MODEL_HINGE:
    set_hinge(j, &def);
    break;
  case MODEL_SLIDE:
    set_axis(j, &def.axis[TN_LINEAR_A]);
    if (j->limited) {
      def.linear[0] = range_of(j->range[0] - j->ref, j->range[1] - j->ref);
    }
    break;
  case MODEL_BALL:
    set_ball(in, j, &def);
    break;
  default: // slides across axis a, turns about it
    def.linear[1] = def.linear[2] = def.angular[0] = range_of(-(double)INFINITY, (double)INFINITY);
    break;
  }
  return def;
}

// Axes of a joint's frame in the body's: x along the axis; those of a ball are the body's own, and
// a planar joint slides along y and z as model_kinematics() has it.
static drot frame_of(const model_joint *j)
{
  if (j->type == MODEL_BALL) {
    return drot_identity();
  }
  if (j->type == MODEL_PLANAR) {
    drot turn = {0.5, -0.5, -0.5, -0.5}; // x to z, y to x, z to y
    return drot_mul(drot_from_to(dvec_of(0.0, 0.0, 1.0), j->axis), turn);
  }
  return drot_from_to(dvec_of(1.0, 0.0, 0.0), j->axis);
}

// Damping, friction and armature of a free body act between it and the world.
static bool build_free_joint(tn_instance *in, const model_joint *j)
{
  if (j->stiffness > 0.0) {
    model_note_add(in->model, TN_IMPORT_IGNORED, j->at, "<joint> stiffness of a free joint");
  }
  if (!(j->damping > 0.0) && !(j->frictionloss > 0.0) && !(j->armature > 0.0)) {
    return true;
  }
  tn_joint_def def = tn_default_joint_def(TN_JOINT_GENERIC);
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    tn_range *range = i < 3 ? &def.linear[i] : &def.angular[i - 3];
    *range = range_of(-(double)INFINITY, (double)INFINITY);
    set_axis(j, &def.axis[i]);
    def.axis[i].stiffness = def.axis[i].rest = 0.0f;
  }
  joint_end world = {.pose = dpose_identity()};
  set_frames(in, &def, world, end_of(in, j->body), in->reference[j->body]);
  def.collide = true;
  return !TN_IS_NULL(tn_joint_create(in->world, &def));
}

static bool build_joint(tn_instance *in, int index)
{
  const tn_model *model = in->model;
  const model_joint *j = &model->joints.items[index];
  const model_body *body = &model->bodies.items[j->body];
  if (j->type == MODEL_FREE) {
    return build_free_joint(in, j);
  }
  bool first = index == body->first_joint;
  bool last = index == body->first_joint + body->joint_count - 1;
  joint_end a = end_of(in, body->parent), b = end_of(in, j->body);
  if (!first) {
    a = (joint_end){in->between[index - 1].id, in->reference[j->body]};
  }
  if (!last) {
    b.id = in->between[index].id;
  }
  tn_joint_def def = def_of(in, j);
  dpose local = {j->pos, frame_of(j)};
  set_frames(in, &def, a, b, dpose_mul(in->reference[j->body], local));
  // In MuJoCo a body may collide with one that is fixed to the world, also through a joint.
  def.collide = (model->format == TN_IMPORT_MJCF && !instance_moves(in, body->parent)) ||
                model->option.parents_collide;
  // Drives are part of the definition: one that is set later moves its target over the first step.
  if (j->type == MODEL_HINGE) {
    def.axis[TN_ANGULAR_A].drive = drive_of_joint(in, index);
  } else if (j->type == MODEL_SLIDE) {
    def.axis[TN_LINEAR_A].drive = drive_of_joint(in, index);
  }
  in->joints[index] = tn_joint_create(in->world, &def);
  return !TN_IS_NULL(in->joints[index]);
}

// Bodies of their own without joints.
static bool build_welds(tn_instance *in, int body)
{
  if (!in->welded[body]) {
    return true;
  }
  tn_joint_def def = tn_default_joint_def(TN_JOINT_FIXED);
  set_frames(in, &def, end_of(in, in->model->bodies.items[body].parent), end_of(in, body),
             in->reference[body]);
  return !TN_IS_NULL(tn_joint_create(in->world, &def));
}

// The joints of a body, or what holds it without: in the order of bodies, which is that of the
// trees.
static bool build_body_joints(tn_instance *in, int index)
{
  const model_body *b = &in->model->bodies.items[index];
  bool ok = build_welds(in, index);
  for (int i = b->first_joint; ok && i < b->first_joint + b->joint_count; ++i) {
    ok = build_joint(in, i);
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Loops

static bool build_equality(tn_instance *in, int index)
{
  tn_model *model = in->model;
  const model_equality *e = &model->equalities.items[index];
  if (e->type == MODEL_EQUAL_JOINTS || e->type == MODEL_EQUAL_TENDONS || !e->active) {
    return true; // couplings.c
  }
  int a = e->sites ? model->sites.items[e->a].body : e->a;
  int b = e->sites ? model->sites.items[e->b].body : e->b;
  joint_end end_a = end_of(in, a), end_b = end_of(in, b);
  if (TN_SAME_ID(end_a.id, end_b.id)) {
    return true;
  }
  tn_joint_def def = tn_default_joint_def(e->type == MODEL_WELD ? TN_JOINT_FIXED : TN_JOINT_BALL);
  dpose anchor = {e->anchor, drot_identity()};
  dpose frame_a = dpose_mul(in->reference[a], e->sites ? model->sites.items[e->a].pose : anchor);
  dpose frame_b = e->sites ? dpose_mul(in->reference[b], model->sites.items[e->b].pose) : frame_a;
  if (e->type == MODEL_WELD && !e->sites && e->has_pose) {
    // The pose of body b in the frame of body a; the anchor is in b's frame.
    frame_b = in->reference[b];
    frame_a = dpose_mul(in->reference[a], e->relative);
  }
  set_frames(in, &def, end_a, end_b, frame_a);
  tn_joint_def other = def;
  set_frames(in, &other, end_a, end_b, frame_b);
  def.frame_b = other.frame_b;
  def.collide = true;
  in->equalities[index] = tn_joint_create(in->world, &def);
  return !TN_IS_NULL(in->equalities[index]);
}

static tn_drive drive_of_link(const model_link *l)
{
  if (l->has_velocity) {
    return tn_motor((float)l->velocity, INFINITY, INFINITY);
  }
  return l->has_target ? tn_servo((float)l->target, tn_stiffness((float)l->compliance), 0.0f)
                       : tn_default_drive();
}

// The tutorial states damping in 1/s, of the two bodies alone.
static float damping_of(const tn_instance *in, const model_link *l, tn_body_id a, tn_body_id b,
                        bool angular)
{
  double inverse = 0.0;
  for (int i = 0; i < 2; ++i) {
    tn_body_id id = i ? b : a;
    if (!TN_IS_NULL(id) && tn_body_get_type(in->world, id) == TN_BODY_DYNAMIC) {
      tn_mass mass = tn_body_mass(in->world, id);
      tn_sym3 m = mass.inertia;
      inverse += angular ? 3.0 / (double)(m.xx + m.yy + m.zz) : 1.0 / (double)mass.mass;
    }
  }
  return inverse > 0.0 ? (float)(l->damping / inverse) : 0.0f;
}

static bool build_link(tn_instance *in, int index)
{
  const model_link *l = &in->model->links.items[index];
  joint_end a = end_of(in, l->a), b = end_of(in, l->b);
  if (TN_SAME_ID(a.id, b.id)) {
    return true;
  }
  tn_joint_def def = tn_default_joint_def(l->kind);
  set_frames(in, &def, a, b, l->frame);
  bool slides = l->kind == TN_JOINT_PRISMATIC || l->kind == TN_JOINT_CYLINDER;
  if (l->kind == TN_JOINT_DISTANCE || slides) {
    def.linear[0] = range_of(l->linear[0], l->linear[1]);
  }
  if (l->kind == TN_JOINT_HINGE || l->kind == TN_JOINT_BALL || l->kind == TN_JOINT_CYLINDER) {
    def.angular[0] = range_of(l->angular[0], l->angular[1]);
    def.axis[TN_ANGULAR_A].damping = damping_of(in, l, a.id, b.id, true);
  } else {
    def.axis[TN_LINEAR_A].damping = damping_of(in, l, a.id, b.id, false);
  }
  if (l->kind == TN_JOINT_BALL) {
    def.swing = (float)l->swing;
  }
  if (l->kind == TN_JOINT_HINGE) {
    def.axis[TN_ANGULAR_A].drive = drive_of_link(l);
  } else if (slides) {
    def.axis[TN_LINEAR_A].drive = drive_of_link(l);
  } else if (l->kind == TN_JOINT_DISTANCE) {
    def.compliance = (float)l->compliance;
  }
  in->links[index] = tn_joint_create(in->world, &def);
  return !TN_IS_NULL(in->links[index]);
}

// Keeps two bodies from colliding: a joint that holds nothing.
static bool keep_apart(tn_instance *in, int a, int b)
{
  joint_end end_a = end_of(in, a), end_b = end_of(in, b);
  if (TN_SAME_ID(end_a.id, end_b.id) ||
      (!instance_is_dynamic(in, a) && !instance_is_dynamic(in, b))) {
    return true;
  }
  tn_joint_def def = tn_default_joint_def(TN_JOINT_GENERIC);
  for (int i = 0; i < 3; ++i) {
    def.linear[i] = def.angular[i] = range_of(-(double)INFINITY, (double)INFINITY);
  }
  end_a.id = in->owners[a] == 0 ? in->ground : end_a.id;
  end_b.id = in->owners[b] == 0 ? in->ground : end_b.id;
  set_frames(in, &def, end_a, end_b, in->reference[b]);
  return !TN_IS_NULL(tn_joint_create(in->world, &def));
}

// Parent and child do not collide with each other; joints of links between them do not say so.
static bool keep_families_apart(tn_instance *in)
{
  const tn_model *model = in->model;
  for (int i = 1; i < model->bodies.count; ++i) {
    const model_body *b = &model->bodies.items[i];
    bool related = (model->format != TN_IMPORT_MJCF || instance_moves(in, b->parent)) &&
                   !model->option.parents_collide;
    if (b->joint_count > 1 && related && !keep_apart(in, b->parent, i)) {
      return false;
    }
  }
  for (int i = 0; i < model->excludes.count; ++i) {
    if (!keep_apart(in, model->excludes.items[i].a, model->excludes.items[i].b)) {
      return false;
    }
  }
  return true;
}

bool build_joints(tn_instance *in)
{
  const tn_model *model = in->model;
  note_actuators(in);
  for (int i = 1; i < model->bodies.count; ++i) {
    if (!build_body_joints(in, i)) {
      return false;
    }
  }
  for (int i = 0; i < model->equalities.count; ++i) {
    if (!build_equality(in, i)) {
      return false;
    }
  }
  for (int i = 0; i < model->links.count; ++i) {
    if (!build_link(in, i)) {
      return false;
    }
  }
  return keep_families_apart(in);
}
