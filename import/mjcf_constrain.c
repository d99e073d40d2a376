// Equalities, contact pairs and keyframes of MJCF.
#include "mjcf.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Equalities

static void apply_equality(mjcf *m, const xml_node *node, void *out)
{
  model_equality *e = out;
  xml_bool(m->r, node, "active", &e->active);
  xml_numbers(m->r, node, "solref", 1, 2, e->solref);
  xml_numbers(m->r, node, "solimp", 1, 5, e->solimp);
}

static void read_ends(mjcf *m, const xml_node *node, model_equality *e)
{
  e->sites = xml_has(node, "site1");
  e->name_a = xml_text(node, e->sites ? "site1" : "body1");
  e->name_b = xml_text(node, e->sites ? "site2" : "body2");
  e->a = e->sites ? model_find_site(m->model, e->name_a) : model_find_body(m->model, e->name_a);
  bool needs_b = e->sites || *e->name_b;
  e->b = e->sites     ? model_find_site(m->model, e->name_b)
         : *e->name_b ? model_find_body(m->model, e->name_b)
                      : 0;
  if (e->a < 0 || (needs_b && e->b < 0)) {
    import_fail(m->r, node->at, "there is no %s '%.100s'", e->sites ? "site" : "body",
                e->a < 0 ? e->name_a : e->name_b);
  }
}

static void read_weld(mjcf *m, const xml_node *node, model_equality *e)
{
  double v[7];
  e->type = MODEL_WELD;
  read_ends(m, node, e);
  xml_vector(m->r, node, "anchor", &e->anchor);
  if (xml_numbers(m->r, node, "relpose", 7, 7, v)) {
    e->has_pose = v[3] != 0.0 || v[4] != 0.0 || v[5] != 0.0 || v[6] != 0.0;
    e->relative =
        (dpose){dvec_of(v[0], v[1], v[2]), drot_normalize((drot){v[3], v[4], v[5], v[6]})};
  }
}

static void read_coupling(mjcf *m, const xml_node *node, model_equality *e)
{
  bool joints = xml_is(node, "joint");
  e->type = joints ? MODEL_EQUAL_JOINTS : MODEL_EQUAL_TENDONS;
  e->name_a = xml_text(node, joints ? "joint1" : "tendon1");
  e->name_b = xml_text(node, joints ? "joint2" : "tendon2");
  e->a = joints ? model_find_joint(m->model, e->name_a) : model_find_tendon(m->model, e->name_a);
  e->b = joints ? model_find_joint(m->model, e->name_b) : model_find_tendon(m->model, e->name_b);
  xml_numbers(m->r, node, "polycoef", 1, 5, e->coefficients);
  if (e->a < 0 || (*e->name_b && e->b < 0)) {
    import_fail(m->r, node->at, "there is no %s '%.100s'", node->name,
                e->a < 0 ? e->name_a : e->name_b);
  }
}

static bool read_equality(mjcf *m, const xml_node *node)
{
  model_equality e = {.active = true,
                      .coefficients = {0.0, 1.0},
                      .relative = dpose_identity(),
                      .name_a = "",
                      .name_b = "",
                      .solref = {0.02, 1.0},
                      .solimp = {0.9, 0.95, 0.001, 0.5, 2.0}};
  mjcf_apply(m, node, NULL, "equality", apply_equality, &e);
  if (xml_is(node, "connect")) {
    e.type = MODEL_CONNECT;
    read_ends(m, node, &e);
    xml_vector(m->r, node, "anchor", &e.anchor);
  } else if (xml_is(node, "weld")) {
    read_weld(m, node, &e);
  } else if (xml_is(node, "joint") || xml_is(node, "tendon")) {
    read_coupling(m, node, &e);
  } else {
    return false;
  }
  model_equality *made = LIST_ADD(&m->model->memory, &m->model->equalities);
  if (made) {
    *made = e;
    made->name = xml_text(node, "name");
    made->at = node->at;
  }
  return true;
}

void mjcf_read_equalities(mjcf *m, const xml_node *root)
{
  mjcf_visit(m, root, "equality", read_equality);
}

// ---------------------------------------------------------------------------------------------
// Contacts

static void apply_pair(mjcf *m, const xml_node *node, void *out)
{
  model_pair *p = out;
  double friction[5];
  mjcf_read_contact(m, node, &p->contact);
  int count = xml_numbers(m->r, node, "friction", 1, 5, friction);
  if (count) { // sliding twice, spinning, rolling twice
    p->has_friction = true;
    p->contact.friction[0] = friction[0];
    p->contact.friction[1] = count > 2 ? friction[2] : p->contact.friction[1];
    p->contact.friction[2] = count > 3 ? friction[3] : p->contact.friction[2];
  }
}

static void read_exclude(mjcf *m, const xml_node *node)
{
  model_exclude *e = LIST_ADD(&m->model->memory, &m->model->excludes);
  if (!e) {
    return;
  }
  e->at = node->at;
  e->name_a = xml_text(node, "body1");
  e->name_b = xml_text(node, "body2");
  e->a = model_find_body(m->model, e->name_a);
  e->b = model_find_body(m->model, e->name_b);
  xml_get(node, "name");
  if (e->a < 0 || e->b < 0) {
    import_fail(m->r, node->at, "there is no body '%.100s'", e->a < 0 ? e->name_a : e->name_b);
  }
}

static bool read_contact(mjcf *m, const xml_node *node)
{
  if (xml_is(node, "exclude")) {
    read_exclude(m, node);
    return true;
  }
  if (!xml_is(node, "pair")) {
    return false;
  }
  model_pair made = {.contact = mjcf_usual_contact()};
  mjcf_apply(m, node, NULL, "pair", apply_pair, &made);
  model_pair *p = LIST_ADD(&m->model->memory, &m->model->pairs);
  if (!p) {
    return true;
  }
  *p = made;
  p->at = node->at;
  p->name = xml_text(node, "name");
  p->name_a = xml_text(node, "geom1");
  p->name_b = xml_text(node, "geom2");
  p->a = model_find_geom(m->model, p->name_a);
  p->b = model_find_geom(m->model, p->name_b);
  if (p->a < 0 || p->b < 0) {
    import_fail(m->r, node->at, "there is no geom '%.100s'", p->a < 0 ? p->name_a : p->name_b);
  }
  return true;
}

void mjcf_read_contacts(mjcf *m, const xml_node *root)
{
  mjcf_visit(m, root, "contact", read_contact);
}

// ---------------------------------------------------------------------------------------------
// Keyframes

static bool read_key(mjcf *m, const xml_node *node)
{
  if (!xml_is(node, "key")) {
    return false;
  }
  model_key *k = LIST_ADD(&m->model->memory, &m->model->keys);
  if (!k) {
    return true;
  }
  k->name = xml_text(node, "name");
  k->at = node->at;
  xml_number(m->r, node, "time", &k->time);
  k->qpos = xml_list(m->r, node, "qpos", &k->qpos_count);
  k->qvel = xml_list(m->r, node, "qvel", &k->qvel_count);
  k->ctrl = xml_list(m->r, node, "ctrl", &k->ctrl_count);
  k->act = xml_list(m->r, node, "act", &k->act_count);
  k->mpos = xml_list(m->r, node, "mpos", &k->mpos_count);
  k->mquat = xml_list(m->r, node, "mquat", &k->mquat_count);
  return true;
}

void mjcf_read_keyframes(mjcf *m, const xml_node *root)
{
  mjcf_visit(m, root, "keyframe", read_key);
}
