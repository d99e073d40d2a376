// Tendons and sensors of MJCF.
#include "mjcf.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Tendons

typedef struct tendon_attributes {
  model_tendon tendon;
  mjcf_limit limit;
} tendon_attributes;

static void apply_tendon(mjcf *m, const xml_node *node, void *out)
{
  tendon_attributes *a = out;
  model_tendon *t = &a->tendon;
  mjcf_read_limit(m, node, "range", "limited", &a->limit);
  mjcf_read_linear(m, node, "stiffness", &t->stiffness);
  mjcf_read_linear(m, node, "damping", &t->damping);
  xml_number(m->r, node, "frictionloss", &t->frictionloss);
  xml_number(m->r, node, "armature", &t->armature);
  if (xml_numbers(m->r, node, "springlength", 1, 2, t->spring_length) == 1) {
    t->spring_length[1] = t->spring_length[0];
  }
}

static void find_wrap(mjcf *m, const xml_node *node, model_wrap *w)
{
  tn_model *model = m->model;
  w->target = w->side_site = -1;
  if (xml_is(node, "pulley")) {
    w->type = MODEL_WRAP_PULLEY;
    w->value = 1.0;
    xml_number(m->r, node, "divisor", &w->value);
    return;
  }
  const char *attribute = node->name; // each names its target by an attribute of the same name
  w->name = xml_text(node, attribute);
  if (xml_is(node, "joint")) {
    w->type = MODEL_WRAP_JOINT;
    w->value = 1.0;
    xml_number(m->r, node, "coef", &w->value);
    w->target = model_find_joint(model, w->name);
  } else if (xml_is(node, "site")) {
    w->type = MODEL_WRAP_SITE;
    w->target = model_find_site(model, w->name);
  } else {
    w->type = MODEL_WRAP_GEOM;
    w->target = model_find_geom(model, w->name);
    const char *side = xml_get(node, "sidesite");
    w->side_site = side ? model_find_site(model, side) : -1;
    if (side && w->side_site < 0) {
      import_fail(m->r, node->at, "there is no site '%.100s'", side);
    }
  }
  if (w->target < 0) {
    import_fail(m->r, node->at, "there is no %.20s '%.100s'", attribute, w->name);
  }
}

static void read_wraps(mjcf *m, const xml_node *node)
{
  tn_model *model = m->model;
  for (xml_node *child = node->first; child && !m->r->failed; child = child->next) {
    if (!xml_is(child, "joint") && !xml_is(child, "site") && !xml_is(child, "geom") &&
        !xml_is(child, "pulley")) {
      continue;
    }
    child->used = true;
    model_wrap *w = LIST_ADD(&model->memory, &model->wraps);
    if (w) {
      w->name = "";
      w->at = child->at;
      find_wrap(m, child, w);
    }
  }
}

static bool read_tendon(mjcf *m, const xml_node *node)
{
  tn_model *model = m->model;
  if (!xml_is(node, "fixed") && !xml_is(node, "spatial")) {
    return false;
  }
  tendon_attributes a = {.tendon = {.spring_length = {-1.0, -1.0}},
                         .limit = {.limited = MJCF_AUTO}};
  mjcf_apply(m, node, NULL, "tendon", apply_tendon, &a);
  a.tendon.limited = mjcf_is_limited(m, node, &a.limit);
  memcpy(a.tendon.range, a.limit.range, sizeof a.tendon.range);
  a.tendon.spatial = xml_is(node, "spatial");
  a.tendon.first_wrap = model->wraps.count;
  read_wraps(m, node);
  a.tendon.wrap_count = model->wraps.count - a.tendon.first_wrap;
  model_tendon *t = LIST_ADD(&model->memory, &model->tendons);
  if (t) {
    *t = a.tendon;
    t->name = xml_text(node, "name");
    t->at = node->at;
  }
  return true;
}

void mjcf_read_tendons(mjcf *m, const xml_node *root)
{
  mjcf_visit(m, root, "tendon", read_tendon);
}

// ---------------------------------------------------------------------------------------------
// Sensors: the element's name is what is measured, one of its attributes names the object.

static bool read_sensor(mjcf *m, const xml_node *node)
{
  static const char *const objects[] = {"site", "joint", "actuator", "tendon", "body", "geom"};
  model_sensor *s = LIST_ADD(&m->model->memory, &m->model->sensors);
  if (!s) {
    return true;
  }
  s->name = xml_text(node, "name");
  s->at = node->at;
  s->type = node->name;
  s->object_type = xml_text(node, "objtype");
  s->object = xml_text(node, "objname");
  s->reference_type = xml_text(node, "reftype");
  s->reference = xml_text(node, "refname");
  xml_number(m->r, node, "cutoff", &s->cutoff);
  for (int i = 0; i < 6; ++i) {
    if (xml_has(node, objects[i])) {
      s->object_type = objects[i];
      s->object = xml_text(node, objects[i]);
    }
  }
  return true;
}

void mjcf_read_sensors(mjcf *m, const xml_node *root)
{
  mjcf_visit(m, root, "sensor", read_sensor);
}
