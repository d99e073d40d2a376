// Couplings of a model in a world: equalities of joints and tendons, tendons over joints and over
// sites, and the actuators that pull them.
//
// A joint of the world counts from the reference position, where the model's coordinate is `ref`.
#include "instance.h"

#include <string.h>

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

// A pose in the frame of a body of the model, in the frame of the body of the world that has it.
static dpose carried(const tn_instance *in, int body, dpose local, tn_body_id *carrier)
{
  *carrier = in->bodies[in->owners[body]].id;
  dpose at = dpose_mul(in->local[body], local);
  return TN_IS_NULL(*carrier) ? dpose_mul(in->place, at) : at;
}

static bool add_site(const tn_instance *in, tn_coupling_def *def, int site, double factor)
{
  const model_site *s = &in->model->sites.items[site];
  tn_body_id body;
  dpose at = carried(in, s->body, s->pose, &body);
  return tn_coupling_def_point(def, body, pos_of(at.p), (float)factor);
}

// From the centre of a geom to its side site, in the geom's frame. A site of another body counts as
// fixed where it is at the reference position: it only decides between two ways.
static dvec side_of(const tn_instance *in, const model_geom *g, int side_site)
{
  const model_site *s = &in->model->sites.items[side_site];
  dvec at = dpose_apply(in->reference[s->body], s->pose.p);
  return dpose_apply(dpose_inverse(dpose_mul(in->reference[g->body], g->pose)), at);
}

// With a side site within the geom the tendon passes inside.
static bool add_solid(tn_instance *in, tn_coupling_def *def, const model_wrap *w)
{
  const model_geom *g = &in->model->geoms.items[w->target];
  bool sphere = g->type == MODEL_SPHERE;
  if (!sphere && g->type != MODEL_CYLINDER) {
    model_note_add(in->model, TN_IMPORT_APPROXIMATED, w->at,
                   "tendon around a <geom> that is no sphere or cylinder: it runs straight");
    return true;
  }
  tn_body_id body;
  dpose at = carried(in, g->body, g->pose, &body);
  dvec axis = drot_apply(at.q, dvec_of(0.0, 0.0, sphere ? 0.0 : 1.0));
  if (!tn_coupling_def_wrap(def, body, pos_of(at.p), (float)g->size[0], vec3_of(axis))) {
    return false;
  }
  tn_coupling_point *p = &def->points[def->point_count - 1];
  if (w->side_site >= 0) {
    dvec side = side_of(in, g, w->side_site);
    p->inside = dvec_length(side) < g->size[0];
    p->side = vec3_of(drot_apply(at.q, side));
  }
  return true;
}

// The path of a spatial tendon; each pulley begins a branch that counts by 1 / divisor.
static bool add_path(tn_instance *in, const model_tendon *t, tn_coupling_def *def)
{
  double factor = 1.0;
  bool begins = true, ok = true;
  for (int i = t->first_wrap; ok && i < t->first_wrap + t->wrap_count; ++i) {
    const model_wrap *w = &in->model->wraps.items[i];
    if (w->type == MODEL_WRAP_PULLEY) {
      factor = w->value > 0.0 ? 1.0 / w->value : 1.0;
      begins = true;
    } else if (w->type == MODEL_WRAP_GEOM) {
      ok = add_solid(in, def, w);
    } else {
      ok = add_site(in, def, w->target, begins ? 0.0 : factor);
      begins = false;
    }
  }
  return ok && def->point_count > 1;
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

static double reference_length(const tn_instance *in, const tn_coupling_def *def)
{
  tn_transform poses[TN_COUPLING_POINTS];
  for (int i = 0; i < def->point_count; ++i) {
    for (int b = 1; b < in->model->bodies.count; ++b) {
      if (in->owners[b] == b && TN_SAME_ID(in->bodies[b].id, def->points[i].body)) {
        poses[i] = transform_of(dpose_mul(in->place, in->reference[b]));
      }
    }
  }
  double sum = tn_coupling_def_length(def, poses);
  for (int i = 0; i < def->axis_count; ++i) {
    sum -= (double)def->axes[i].coefficients[0] * (double)def->axes[i].reference;
  }
  return sum;
}

double tendon_length(tn_instance *in, int tendon, double *rate)
{
  const model_tendon *t = &in->model->tendons.items[tendon];
  double length = 0.0;
  *rate = 0.0;
  if (t->spatial && TN_IS_NULL(in->paths[tendon])) {
    return in->fixed_lengths[tendon];
  }
  if (t->spatial) {
    tn_coupling_state state = tn_coupling_get_state(in->world, in->paths[tendon]);
    *rate = (double)state.rate;
    return state.value;
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

static bool is_on_bodies(const tn_coupling_def *def)
{
  bool any = def->axis_count > 0;
  for (int i = 0; i < def->point_count; ++i) {
    any = any || !TN_IS_NULL(def->points[i].body);
  }
  return any;
}

// Limits, spring, damping and friction. A spring with two rest lengths is slack between them: a
// compliant range. A path without any of them is there to be measured.
static void build_tendon(tn_instance *in, int index)
{
  const model_tendon *t = &in->model->tendons.items[index];
  tn_coupling_def def = open_coupling();
  def.enabled = t->limited || t->stiffness > 0.0 || t->damping > 0.0 || t->frictionloss > 0.0;
  if (!def.enabled && !t->spatial) {
    return;
  }
  if (!add_length(in, t, 1.0, &def)) {
    model_note_add(in->model, TN_IMPORT_IGNORED, t->at,
                   "tendon with more parts than a coupling has, or over balls");
    return;
  }
  double rest = reference_length(in, &def);
  if (!is_on_bodies(&def)) {
    in->fixed_lengths[index] = rest;
    return;
  }
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
  in->paths[index] = create(in, &def, t->at);
}

// ---------------------------------------------------------------------------------------------
// Actuators: force = gear (constant - stiffness gear L - damping gear L')

static tn_coupling_drive drive_of(tn_instance *in, int actuator)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  actuator_line line = actuator_law(in, actuator);
  double g = t->gear[0];
  tn_coupling_drive drive = tn_default_coupling_def().drive;
  drive.stiffness = (float)fmax(0.0, line.stiffness * g * g);
  drive.damping = (float)fmax(0.0, line.damping * g * g);
  if (drive.stiffness > 0.0f && t->is_muscle) { // as drive_of_joint() has it
    double rate, length = tendon_length(in, t->target, &rate), way = in->past_dt * rate;
    drive.target = (float)(length + way);
    drive.force = (float)(g * line.constant - (double)drive.stiffness * (length + 0.5 * way));
  } else if (drive.stiffness > 0.0f) {
    drive.target = (float)(g * line.constant / (double)drive.stiffness);
  } else {
    drive.force = (float)(g * line.constant);
  }
  tn_range range = actuator_range(t);
  drive.limits = tn_between(fminf(range.lo, 0.0f), fmaxf(range.hi, 0.0f));
  return drive;
}

static void build_actuator(tn_instance *in, int index)
{
  const model_actuator *t = &in->model->actuators.items[index];
  if (!t->supported || t->transmission != MODEL_TO_TENDON) {
    return;
  }
  tn_coupling_def def = open_coupling();
  if (!add_length(in, &in->model->tendons.items[t->target], 1.0, &def) || !is_on_bodies(&def)) {
    model_note_add(in->model, TN_IMPORT_IGNORED, t->at, "actuator of a tendon that is not built");
    return;
  }
  if (t->force_limited && t->force_range[0] * t->force_range[1] > 0.0) {
    model_note_add(in->model, TN_IMPORT_APPROXIMATED, t->at, "forcerange without 0: widened");
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
  in->paths = memory_take(&in->memory, (size_t)model->tendons.count + 1, sizeof *in->paths);
  in->fixed_lengths =
      memory_take(&in->memory, (size_t)model->tendons.count + 1, sizeof *in->fixed_lengths);
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
    build_tendon(in, i);
  }
  for (int i = 0; i < model->actuators.count && solved && !in->memory.failed; ++i) {
    build_actuator(in, i);
  }
  return !in->memory.failed;
}
