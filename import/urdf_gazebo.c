#include "urdf_gazebo.h"

#include <string.h>

// The value of a child: its text, or the attribute `value` of older files.
static const char *value_of(const xml_node *node, const char *child)
{
  xml_node *found = (xml_node *)xml_child(node, child);
  if (!found) {
    return NULL;
  }
  found->used = true;
  const char *attribute = xml_get(found, "value");
  return attribute ? attribute : found->content;
}

// False, with the value as it was, if there is none or it is no number.
static bool read_number(reader *r, const xml_node *node, const char *child, double *value)
{
  const char *text = value_of(node, child), *end = text;
  double found;
  if (!text) {
    return false;
  }
  if (!parse_double(&end, &found) || *end || !isfinite(found)) {
    import_fail(r, node->at, "<%.20s> is not a number: '%.40s'", child, text);
    return false;
  }
  *value = found;
  return true;
}

static bool is_true(const char *text)
{
  return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

// Friction and stiffness of a link's surface, and whether it has weight.
static void apply_to_body(reader *r, const xml_node *node, int index)
{
  tn_model *model = r->model;
  model_body *body = &model->bodies.items[index];
  double first = 0.0, second = 0.0, stiffness = 0.0;
  bool has_first = read_number(r, node, "mu1", &first) || read_number(r, node, "mu", &first);
  bool has_second = read_number(r, node, "mu2", &second);
  bool is_soft = read_number(r, node, "kp", &stiffness) && stiffness > 0.0;
  for (int i = body->first_geom; i < body->first_geom + body->geom_count; ++i) {
    model_contact *c = &model->geoms.items[i].contact;
    if (has_first || has_second) {
      double sum = (has_first ? first : 0.0) + (has_second ? second : 0.0);
      c->friction[0] = fmax(0.0, has_first && has_second ? 0.5 * sum : sum);
    }
    c->compliance = is_soft ? 1.0 / stiffness : c->compliance;
  }
  const char *gravity = value_of(node, "gravity");
  if (is_true(value_of(node, "turnGravityOff")) || (gravity && *gravity && !is_true(gravity))) {
    body->gravcomp = 1.0;
  }
}

static void apply_to_joint(reader *r, const xml_node *node, int index)
{
  model_joint *j = &r->model->joints.items[index];
  read_number(r, node, "springStiffness", &j->stiffness);
  read_number(r, node, "springReference", &j->springref);
  j->stiffness = fmax(j->stiffness, 0.0);
}

void urdf_read_gazebo(reader *r, const xml_node *root)
{
  for (xml_node *node = root->first; node && !r->failed; node = node->next) {
    if (!xml_is(node, "gazebo")) {
      continue;
    }
    const char *name = xml_get(node, "reference");
    int body = name ? model_find_body(r->model, name) : -1;
    int joint = name ? model_find_joint(r->model, name) : -1;
    node->used = !name || body >= 0 || joint >= 0;
    if (body >= 0) {
      apply_to_body(r, node, body);
    }
    if (joint >= 0) {
      apply_to_joint(r, node, joint);
    }
  }
}
