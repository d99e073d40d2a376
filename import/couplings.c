// Couplings of a model in a world: equalities of joints and tendons, tendons over joints and over
// sites, and the actuators that pull them.
//
// A joint of the world counts from the reference position, where the model's coordinate is `ref`.
#include "instance.h"

#include <string.h>

// A site as a point that moves.
typedef struct sensed_point {
  dvec at, velocity;
} sensed_point;

// Appends factor * (coordinate of a joint of the model), less `reference`. False if it is no hinge
// or slide, or there is no room.
static bool add_axis(const tn_instance *in, tn_coupling_def *def, int joint, double factor,
                     double reference)
{
  const model_joint *j = joint >= 0 ? &in->model->joints.items[joint] : NULL;
  if (!j || (j->type != MODEL_HINGE && j->type != MODEL_SLIDE) || TN_IS_NULL(in->joints[joint])) {
    return false;
  }
  if (!tn_coupling_def_axis(def, in->joints[joint], j->type == MODEL_HINGE ? 3 : 0,
                            (float)factor)) {
    return false;
  }
  def->axes[def->axis_count - 1].reference = (float)reference;
  return true;
}

static bool add_site(const tn_instance *in, tn_coupling_def *def, int site, double factor)
{
  const model_site *s = &in->model->sites.items[site];
  tn_body_id body = in->bodies[in->owners[s->body]].id;
  dpose at = dpose_mul(in->local[s->body], s->pose);
  at = TN_IS_NULL(body) ? dpose_mul(in->place, at) : at;
  return tn_coupling_def_point(def, body, pos_of(at.p), (float)factor);
}

// The path of a spatial tendon; each pulley begins a branch that counts by 1 / divisor.
static bool add_path(tn_instance *in, const model_tendon *t, tn_coupling_def *def)
{
  double factor = 1.0;
  bool begins = true;
  for (int i = t->first_wrap; i < t->first_wrap + t->wrap_count; ++i) {
    const model_wrap *w = &in->model->wraps.items[i];
    if (w->type == MODEL_WRAP_PULLEY) {
      factor = w->value > 0.0 ? 1.0 / w->value : 1.0;
      begins = true;
    } else if (w->type == MODEL_WRAP_GEOM) {
      model_note_add(in->model, TN_IMPORT_APPROXIMATED, w->at,
                     "tendon around a <geom>: it runs straight from site to site");
    } else if (!add_site(in, def, w->target, begins ? 0.0 : factor)) {
      return false;
    } else {
      begins = false;
    }
  }
  return def->point_count > 1;
}

// The length of a tendon as the coordinate of a coupling that does nothing yet.
static bool add_length(tn_instance *in, const model_tendon *t, double factor, tn_coupling_def *def)
{
  if (t->spatial) {
    return factor == 1.0 && add_path(in, t, def);
  }
  for (int i = t->first_wrap; i < t->first_wrap + t->wrap_count; ++i) {
    const model_wrap *w = &in->model->wraps.items[i];
    double ref = w->target >= 0 ? in->model->joints.items[w->target].ref : 0.0;
    if (!add_axis(in, def, w->target, factor * w->value, -ref)) {
      return false;
    }
  }
  return t->wrap_count > 0;
}

static tn_coupling_def open_coupling(void)
{
  tn_coupling_def def = tn_default_coupling_def();
  def.range = tn_between(-INFINITY, INFINITY);
  return def;
}

// A coupling that cannot be built is reported; the rest of the model is.
static tn_coupling_id create(tn_instance *in, const tn_coupling_def *def, place at)
{
  tn_coupling_id id = tn_coupling_create(in->world, def);
  if (TN_IS_NULL(id)) {
    model_note_add(in->model, TN_IMPORT_IGNORED, at, "coupling that the world refuses");
    return id;
  }
  tn_coupling_id *kept = LIST_ADD(&in->memory, &in->couplings);
  if (kept) {
    *kept = id;
  }
  return id;
}

// ---------------------------------------------------------------------------------------------
// Equalities

// a = c0 + c1 b + c2 b^2 + ..., from the reference position.
static void build_equal_joints(tn_instance *in, const model_equality *e)
{
  tn_coupling_def def = tn_default_coupling_def();
  const double *c = e->coefficients;
  def.offset = (float)-c[0];
  bool follows = e->b >= 0 && (c[1] != 0.0 || c[2] != 0.0 || c[3] != 0.0 || c[4] != 0.0);
  if (!add_axis(in, &def, e->a, 1.0, 0.0) || (follows && !add_axis(in, &def, e->b, -c[1], 0.0))) {
    model_note_add(in->model, TN_IMPORT_IGNORED, e->at, "equality of joints that are no axes");
    return;
  }
  for (int i = 1; i < 4 && follows; ++i) {
    def.axes[1].coefficients[i] = (float)-c[1 + i];
  }
  create(in, &def, e->at);
}

// The same of tendons over joints, if it is linear: lengths count from the reference position.
static void build_equal_tendons(tn_instance *in, const model_equality *e)
{
  const model_tendon *a = &in->model->tendons.items[e->a];
  const model_tendon *b = e->b >= 0 ? &in->model->tendons.items[e->b] : NULL;
  const double *c = e->coefficients;
  tn_coupling_def def = tn_default_coupling_def();
  bool linear = c[2] == 0.0 && c[3] == 0.0 && c[4] == 0.0;
  bool fixed = !a->spatial && (!b || !b->spatial);
  if (!linear || !fixed || !add_length(in, a, 1.0, &def) ||
      (b && c[1] != 0.0 && !add_length(in, b, -c[1], &def))) {
    model_note_add(in->model, TN_IMPORT_IGNORED, e->at,
                   "equality of tendons that is not linear, or not over joints");
    return;
  }
  for (int i = 0; i < def.axis_count; ++i) {
    def.axes[i].reference = 0.0f;
  }
  def.offset = (float)-c[0];
  create(in, &def, e->at);
}

// ---------------------------------------------------------------------------------------------
// Tendons

// Length at the reference position: what the world says of a coupling made there.
static double reference_length(tn_instance *in, const tn_coupling_def *def)
{
  double sum = 0.0;
  for (int i = 0; i < def->axis_count; ++i) {
    sum -= (double)def->axes[i].coefficients[0] * (double)def->axes[i].reference;
  }
  dvec last = {0.0, 0.0, 0.0};
  for (int i = 0; i < def->point_count; ++i) {
    dvec at =
        dvec_of(def->points[i].position.x, def->points[i].position.y, def->points[i].position.z);
    for (int b = 0; b < in->model->bodies.count && !TN_IS_NULL(def->points[i].body); ++b) {
      if (in->owners[b] == b && TN_SAME_ID(in->bodies[b].id, def->points[i].body)) {
        dpose local = {at, drot_identity()};
        at = dpose_mul(in->place, dpose_mul(in->reference[b], local)).p;
      }
    }
    double d[3] = {at.x - last.x, at.y - last.y, at.z - last.z};
    sum +=
        i > 0 ? (double)def->points[i].factor * sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) : 0.0;
    last = at;
  }
  return sum;
}

static sensed_point point_of(const tn_instance *in, int site)
{
  const model_site *s = &in->model->sites.items[site];
  tn_body_id id = tn_instance_body(in, s->body);
  sensed_point p = {.at = dpose_mul(instance_pose(in, s->body), s->pose).p};
  if (!TN_IS_NULL(id)) {
    dvec arm = dvec_sub(p.at, dvec_of_pos(tn_body_center(in->world, id)));
    dvec spin = dvec_of_vec3(tn_body_angular_velocity(in->world, id));
    p.velocity = dvec_add(dvec_of_vec3(tn_body_velocity(in->world, id)), dvec_cross(spin, arm));
  }
  return p;
}

static double path_length(const tn_instance *in, const model_tendon *t, double *rate)
{
  double length = 0.0, factor = 1.0;
  bool begins = true;
  sensed_point last = {.at = {0.0, 0.0, 0.0}};
  for (int i = t->first_wrap; i < t->first_wrap + t->wrap_count; ++i) {
    const model_wrap *w = &in->model->wraps.items[i];
    if (w->type == MODEL_WRAP_PULLEY) {
      factor = w->value > 0.0 ? 1.0 / w->value : 1.0;
      begins = true;
    } else if (w->type == MODEL_WRAP_SITE) {
      sensed_point p = point_of(in, w->target);
      dvec apart = dvec_sub(p.at, last.at);
      double d = dvec_length(apart);
      if (!begins && d > 0.0) {
        length += factor * d;
        *rate += factor * dvec_dot(apart, dvec_sub(p.velocity, last.velocity)) / d;
      }
      last = p;
      begins = false;
    }
  }
  return length;
}

double tendon_length(tn_instance *in, int tendon, double *rate)
{
  const model_tendon *t = &in->model->tendons.items[tendon];
  double length = 0.0;
  *rate = 0.0;
  if (t->spatial) {
    return path_length(in, t, rate);
  }
  for (int i = t->first_wrap; i < t->first_wrap + t->wrap_count; ++i) {
    const model_wrap *w = &in->model->wraps.items[i];
    const model_joint *j = &in->model->joints.items[w->target];
    tn_joint_state state = tn_joint_get_state(in->world, in->joints[w->target]);
    int axis = j->type == MODEL_HINGE ? TN_ANGULAR_A : TN_LINEAR_A;
    length += w->value * ((double)state.position[axis] + j->ref);
    *rate += w->value * (double)state.rate[axis];
  }
  return length;
}

// Limits, spring, damping and friction. A spring with two rest lengths is slack between them: a
// compliant range.
static void build_tendon(tn_instance *in, const model_tendon *t)
{
  tn_coupling_def def = open_coupling();
  if (!t->limited && t->stiffness <= 0.0 && t->damping <= 0.0 && t->frictionloss <= 0.0) {
    return;
  }
  if (!add_length(in, t, 1.0, &def)) {
    model_note_add(in->model, TN_IMPORT_IGNORED, t->at,
                   "tendon with more parts than a coupling has, or over balls");
    return;
  }
  double rest = reference_length(in, &def);
  double lo = t->spring_length[0] < 0.0 ? rest : t->spring_length[0];
  double hi = t->spring_length[1] < 0.0 ? lo : t->spring_length[1];
  if (t->stiffness > 0.0 && lo < hi) {
    tn_coupling_def slack = def;
    slack.range = tn_between((float)lo, (float)hi);
    slack.compliance = (float)(1.0 / t->stiffness);
    create(in, &slack, t->at);
  } else {
    def.stiffness = (float)t->stiffness;
    def.rest = (float)lo;
  }
  if (t->limited) {
    def.range = tn_between((float)t->range[0], (float)t->range[1]);
  }
  def.damping = (float)t->damping;
  def.friction = (float)t->frictionloss;
  create(in, &def, t->at);
}

// ---------------------------------------------------------------------------------------------
// Actuators: force = gear (gain u + b0 + b1 gear L + b2 gear L')

static tn_coupling_drive drive_of(const tn_instance *in, int actuator)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  double g = t->gear[0], u = actuator_input(in, actuator);
  double stiffness = -(t->gain[1] * u + t->bias[1]);
  double damping = in->servo_damping[actuator] - (t->gain[2] * u + t->bias[2]);
  tn_coupling_drive drive = {.max_force = (float)INFINITY};
  drive.stiffness = (float)fmax(0.0, stiffness * g * g);
  drive.damping = (float)fmax(0.0, damping * g * g);
  double push = g * (t->gain[0] * u + t->bias[0]);
  if (drive.stiffness > 0.0f) {
    drive.target = (float)(push / (double)drive.stiffness);
  } else {
    drive.force = (float)push;
  }
  if (t->force_limited) {
    drive.max_force = (float)(fmax(fabs(t->force_range[0]), fabs(t->force_range[1])) * fabs(g));
  }
  return drive;
}

static void build_actuator(tn_instance *in, int index)
{
  const model_actuator *t = &in->model->actuators.items[index];
  if (!t->supported || t->transmission != MODEL_TO_TENDON) {
    return;
  }
  tn_coupling_def def = open_coupling();
  if (!add_length(in, &in->model->tendons.items[t->target], 1.0, &def)) {
    model_note_add(in->model, TN_IMPORT_IGNORED, t->at, "actuator of a tendon that is not built");
    return;
  }
  if (t->force_limited && t->force_range[0] != -t->force_range[1]) {
    model_note_add(in->model, TN_IMPORT_APPROXIMATED, t->at,
                   "forcerange of a tendon's actuator: the larger end limits both signs");
  }
  def.drive = drive_of(in, index);
  in->pulls[index] = create(in, &def, t->at);
}

bool coupling_apply_control(tn_instance *in, int actuator)
{
  tn_coupling_id id = in->pulls[actuator];
  return TN_IS_NULL(id) || tn_coupling_set_drive(in->world, id, drive_of(in, actuator));
}

bool build_couplings(tn_instance *in)
{
  const tn_model *model = in->model;
  in->pulls = memory_take(&in->memory, (size_t)model->actuators.count + 1, sizeof *in->pulls);
  bool solved = tn_world_method(in->world) == TN_METHOD_TENON;
  for (int i = 0; i < model->equalities.count && !in->memory.failed; ++i) {
    const model_equality *e = &model->equalities.items[i];
    bool couples = e->type == MODEL_EQUAL_JOINTS || e->type == MODEL_EQUAL_TENDONS;
    if (couples && e->active && !solved) {
      model_note_add(in->model, TN_IMPORT_IGNORED, e->at, "couplings: this method solves none");
    } else if (couples && e->active) {
      (e->type == MODEL_EQUAL_JOINTS ? build_equal_joints : build_equal_tendons)(in, e);
    }
  }
  for (int i = 0; i < model->tendons.count && solved && !in->memory.failed; ++i) {
    build_tendon(in, &model->tendons.items[i]);
  }
  for (int i = 0; i < model->actuators.count && solved && !in->memory.failed; ++i) {
    build_actuator(in, i);
  }
  return !in->memory.failed;
}
