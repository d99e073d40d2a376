// Actuators of MJCF. Every kind states the same general law, and defaults of one kind hold for the
// others.
#include "mjcf.h"

#include <string.h>

typedef enum actuator_law { LAW_FIXED, LAW_AFFINE, LAW_MUSCLE, LAW_OTHER } actuator_law;
typedef enum actuator_dynamics {
  DYN_NONE,
  DYN_INTEGRATOR,
  DYN_FILTER,
  DYN_FILTER_EXACT,
  DYN_MUSCLE,
  DYN_OTHER
} actuator_dynamics;

typedef struct actuator_attributes {
  model_actuator actuator;
  mjcf_limit control, force, activation;
  actuator_law gain_law, bias_law; // LAW_FIXED of a bias: none
  actuator_dynamics dynamics;
  double gain[10], bias[10], dyn[10];
  const char *joint, *joint_in_parent, *tendon, *site, *body, *crank;
  const char *reference; // refsite
  const char *slider;
} actuator_attributes;

#define ACTUATOR_TAGS "general motor position velocity intvelocity damper cylinder muscle adhesion"

static void take_name(const xml_node *node, const char *name, const char **out)
{
  const char *value = xml_get(node, name);
  *out = value ? value : *out;
}

static void read_position(mjcf *m, const xml_node *node, actuator_attributes *a)
{
  double kp = a->gain[0], kv = -a->bias[2], time = 0.0, ratio = 0.0;
  bool given = xml_number(m->r, node, "kp", &kp);
  if (xml_number(m->r, node, "kv", &kv)) {
    a->actuator.damping_ratio = 0.0;
  }
  if (xml_number(m->r, node, "dampratio", &ratio)) {
    a->actuator.damping_ratio = ratio;
    kv = 0.0;
  }
  if (xml_number(m->r, node, "timeconst", &time)) {
    a->dyn[0] = time;
    a->dynamics = time > 0.0 ? DYN_FILTER_EXACT : DYN_NONE;
  }
  xml_number(m->r, node, "inheritrange", &a->actuator.inherit_range);
  if (given && !(kp >= 0.0)) {
    import_fail(m->r, node->at, "kp must not be negative");
  }
  a->gain_law = LAW_FIXED;
  a->bias_law = LAW_AFFINE;
  a->gain[0] = kp;
  a->bias[0] = 0.0;
  a->bias[1] = -kp;
  a->bias[2] = -kv;
}

static void read_general(mjcf *m, const xml_node *node, actuator_attributes *a)
{
  static const char *const gains[] = {"fixed", "affine", "muscle", "user", NULL};
  static const char *const biases[] = {"none", "affine", "muscle", "user", NULL};
  static const char *const dynamics[] = {"none",   "integrator", "filter", "filterexact",
                                         "muscle", "user",       NULL};
  int value;
  if (xml_word(m->r, node, "gaintype", gains, &value)) {
    a->gain_law = (actuator_law)value;
  }
  if (xml_word(m->r, node, "biastype", biases, &value)) {
    a->bias_law = (actuator_law)value;
  }
  if (xml_word(m->r, node, "dyntype", dynamics, &value)) {
    a->dynamics = (actuator_dynamics)value;
  }
  xml_numbers(m->r, node, "gainprm", 1, 10, a->gain);
  xml_numbers(m->r, node, "biasprm", 1, 10, a->bias);
  xml_numbers(m->r, node, "dynprm", 1, 10, a->dyn);
}

static void read_cylinder(mjcf *m, const xml_node *node, actuator_attributes *a)
{
  double diameter = 0.0;
  a->dynamics = DYN_FILTER;
  a->bias_law = LAW_AFFINE;
  xml_number(m->r, node, "timeconst", &a->dyn[0]);
  xml_number(m->r, node, "area", &a->gain[0]);
  if (xml_number(m->r, node, "diameter", &diameter)) {
    a->gain[0] = 0.25 * 3.14159265358979323846 * diameter * diameter;
  }
  xml_numbers(m->r, node, "bias", 3, 3, a->bias);
}

// MuJoCo takes a parameter that has the default of <general> as not given.
static void set_usual(double *value, double general, double usual)
{
  *value = *value == general ? usual : *value;
}

static void read_muscle(mjcf *m, const xml_node *node, actuator_attributes *a)
{
  static const char *const names[] = {"force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"};
  static const double usual[] = {0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2};
  for (int i = 0; i < 9; ++i) {
    set_usual(&a->gain[i], i == 0 ? 1.0 : 0.0, usual[i]);
  }
  set_usual(&a->dyn[0], 1.0, 0.01);
  set_usual(&a->dyn[1], 0.0, 0.04);
  xml_numbers(m->r, node, "range", 2, 2, a->gain);
  for (int i = 0; i < 7; ++i) {
    xml_number(m->r, node, names[i], &a->gain[2 + i]);
  }
  xml_numbers(m->r, node, "timeconst", 2, 2, a->dyn);
  xml_number(m->r, node, "tausmooth", &a->dyn[2]);
  memcpy(a->bias, a->gain, sizeof a->bias);
  a->gain_law = a->bias_law = LAW_MUSCLE;
  a->dynamics = DYN_MUSCLE;
}

// What the kind of the element says about the law.
static void read_law(mjcf *m, const xml_node *node, actuator_attributes *a)
{
  if (xml_is(node, "general")) {
    read_general(m, node, a);
  } else if (xml_is(node, "position")) {
    read_position(m, node, a);
  } else if (xml_is(node, "intvelocity")) {
    read_position(m, node, a);
    a->dynamics = DYN_INTEGRATOR;
    a->activation.limited = MJCF_TRUE;
  } else if (xml_is(node, "velocity")) {
    double kv = a->gain[0];
    xml_number(m->r, node, "kv", &kv);
    a->gain_law = LAW_FIXED;
    a->bias_law = LAW_AFFINE;
    a->gain[0] = kv;
    a->bias[0] = a->bias[1] = 0.0;
    a->bias[2] = -kv;
  } else if (xml_is(node, "damper")) {
    double kv = 0.0;
    xml_number(m->r, node, "kv", &kv);
    a->gain_law = LAW_AFFINE;
    a->gain[0] = a->gain[1] = 0.0;
    a->gain[2] = -kv;
    a->bias_law = LAW_FIXED;
  } else if (xml_is(node, "motor")) {
    a->gain_law = a->bias_law = LAW_FIXED;
    a->gain[0] = 1.0;
    a->dynamics = DYN_NONE;
  } else if (xml_is(node, "cylinder")) {
    read_cylinder(m, node, a);
  } else if (xml_is(node, "muscle")) {
    read_muscle(m, node, a);
  } else if (xml_is(node, "adhesion")) {
    a->gain_law = a->bias_law = LAW_FIXED;
    xml_number(m->r, node, "gain", &a->gain[0]);
  } else {
    a->gain_law = LAW_OTHER;
  }
}

static void apply_actuator(mjcf *m, const xml_node *node, void *out)
{
  actuator_attributes *a = out;
  mjcf_read_limit(m, node, "ctrlrange", "ctrllimited", &a->control);
  mjcf_read_limit(m, node, "forcerange", "forcelimited", &a->force);
  mjcf_read_limit(m, node, "actrange", "actlimited", &a->activation);
  xml_numbers(m->r, node, "gear", 1, 6, a->actuator.gear);
  take_name(node, "joint", &a->joint);
  take_name(node, "jointinparent", &a->joint_in_parent);
  take_name(node, "tendon", &a->tendon);
  take_name(node, "site", &a->site);
  take_name(node, "body", &a->body);
  take_name(node, "cranksite", &a->crank);
  take_name(node, "refsite", &a->reference);
  take_name(node, "slidersite", &a->slider);
  xml_number(m->r, node, "cranklength", &a->actuator.crank);
  xml_numbers(m->r, node, "lengthrange", 2, 2, a->actuator.muscle.length_range);
  read_law(m, node, a);
}

static void find_target(mjcf *m, const xml_node *node, actuator_attributes *a)
{
  tn_model *model = m->model;
  model_actuator *t = &a->actuator;
  const char *base = a->crank ? a->slider : a->reference;
  t->refsite = base ? model_find_site(model, base) : -1;
  if (base ? t->refsite < 0 : a->crank != NULL) {
    import_fail(m->r, node->at, base ? "there is no site '%.100s'" : "a crank needs a slidersite%s",
                base ? base : "");
    return;
  }
  const char *what = "joint";
  if (a->joint || a->joint_in_parent) {
    t->transmission = a->joint ? MODEL_TO_JOINT : MODEL_TO_JOINT_IN_PARENT;
    t->target_name = a->joint ? a->joint : a->joint_in_parent;
    t->target = model_find_joint(model, t->target_name);
  } else if (a->tendon) {
    what = "tendon";
    t->transmission = MODEL_TO_TENDON;
    t->target_name = a->tendon;
    t->target = model_find_tendon(model, a->tendon);
  } else if (a->site || a->crank) {
    what = "site";
    t->transmission = a->site ? MODEL_TO_SITE : MODEL_TO_SLIDER_CRANK;
    t->target_name = a->site ? a->site : a->crank;
    t->target = model_find_site(model, t->target_name);
  } else if (a->body) {
    what = "body";
    t->transmission = MODEL_TO_BODY;
    t->target_name = a->body;
    t->target = model_find_body(model, a->body);
  } else {
    import_fail(m->r, node->at, "this actuator acts on nothing");
    return;
  }
  if (t->target < 0) {
    import_fail(m->r, node->at, "there is no %s '%.100s'", what, t->target_name);
  }
}

// The control range of a servo, or the activation range of an integrator, as a multiple of its
// target's range.
static void inherit_range(const mjcf *m, model_actuator *t)
{
  const double *range = NULL;
  if (!(t->inherit_range > 0.0) || t->target < 0) {
    return;
  }
  if (t->transmission == MODEL_TO_JOINT || t->transmission == MODEL_TO_JOINT_IN_PARENT) {
    range = m->model->joints.items[t->target].range;
  } else if (t->transmission == MODEL_TO_TENDON) {
    range = m->model->tendons.items[t->target].range;
  }
  if (!range || !(range[0] < range[1])) {
    return;
  }
  double mean = 0.5 * (range[0] + range[1]), half = 0.5 * (range[1] - range[0]) * t->inherit_range;
  bool integrates = t->dynamics == MODEL_DYN_INTEGRATOR;
  double *to = integrates ? t->activation_range : t->control_range;
  to[0] = mean - half;
  to[1] = mean + half;
  *(integrates ? &t->activation_limited : &t->control_limited) = true;
}

static void set_dynamics(const actuator_attributes *a, model_actuator *t)
{
  static const model_dynamics kinds[] = {
      [DYN_NONE] = MODEL_DYN_NONE,     [DYN_INTEGRATOR] = MODEL_DYN_INTEGRATOR,
      [DYN_FILTER] = MODEL_DYN_FILTER, [DYN_FILTER_EXACT] = MODEL_DYN_FILTER,
      [DYN_MUSCLE] = MODEL_DYN_MUSCLE, [DYN_OTHER] = MODEL_DYN_NONE};
  t->dynamics = kinds[a->dynamics];
  t->time_constant = t->dynamics == MODEL_DYN_FILTER ? a->dyn[0] : 0.0;
}

static void set_muscle(const actuator_attributes *a, model_muscle *to)
{
  const double *g = a->gain;
  memcpy(to->range, g, sizeof to->range);
  to->force = g[2];
  to->scale = g[3];
  to->least = g[4];
  to->most = g[5];
  to->speed = g[6];
  to->passive = a->bias_law == LAW_MUSCLE ? a->bias[7] : 0.0;
  to->lengthening = g[8];
  memcpy(to->time, a->dyn, sizeof to->time);
  to->smoothing = a->dyn[2];
}

static void finish_actuator(mjcf *m, const xml_node *node, actuator_attributes *a)
{
  model_actuator *t = &a->actuator;
  t->control_limited = mjcf_is_limited(m, node, &a->control);
  t->force_limited = mjcf_is_limited(m, node, &a->force);
  t->activation_limited = mjcf_is_limited(m, node, &a->activation);
  for (int i = 0; i < 2; ++i) {
    t->control_range[i] = a->control.range[i];
    t->force_range[i] = a->force.range[i];
    t->activation_range[i] = a->activation.range[i];
  }
  for (int i = 0; i < 3; ++i) {
    t->gain[i] = a->gain_law == LAW_AFFINE || i == 0 ? a->gain[i] : 0.0;
    t->bias[i] = a->bias_law == LAW_AFFINE ? a->bias[i] : 0.0;
  }
  set_dynamics(a, t);
  set_muscle(a, &t->muscle);
  t->is_muscle = a->gain_law == LAW_MUSCLE && a->bias_law != LAW_AFFINE;
  bool mixed = !t->is_muscle && (a->gain_law == LAW_MUSCLE || a->bias_law == LAW_MUSCLE);
  t->has_own_states = a->dynamics == DYN_OTHER || a->gain_law == LAW_OTHER;
  t->supported = !mixed && !t->has_own_states && a->bias_law != LAW_OTHER;
  find_target(m, node, a);
  bool pulls = t->transmission != MODEL_TO_SITE && t->transmission != MODEL_TO_BODY;
  t->supported = t->supported && (pulls || !t->is_muscle);
  if (!t->supported) {
    model_note_add(m->model, TN_IMPORT_IGNORED, node->at,
                   "actuator <%s> of a law or target that is not known: it applies no force",
                   node->name);
  }
  inherit_range(m, t);
}

static bool read_actuator(mjcf *m, const xml_node *node)
{
  actuator_attributes a = {.actuator = {.gear = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0}, .target = -1},
                           .control = {.limited = MJCF_AUTO},
                           .force = {.limited = MJCF_AUTO},
                           .activation = {.limited = MJCF_AUTO},
                           .gain = {1.0},
                           .dyn = {1.0}};
  mjcf_apply(m, node, NULL, ACTUATOR_TAGS, apply_actuator, &a);
  finish_actuator(m, node, &a);
  model_actuator *t = LIST_ADD(&m->model->memory, &m->model->actuators);
  if (t) {
    *t = a.actuator;
    t->name = xml_text(node, "name");
    t->at = node->at;
  }
  return true;
}

void mjcf_read_actuators(mjcf *m, const xml_node *root)
{
  mjcf_visit(m, root, "actuator", read_actuator);
}
