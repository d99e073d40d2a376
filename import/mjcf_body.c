// Bodies of MJCF with their joints, geoms and sites.
#include "mjcf.h"

#include <stdio.h>
#include <string.h>

// Where elements are read: a body, the frame that encloses them, and what their names end with.
typedef struct surroundings {
  int body;
  dpose frame; // in the body's frame
  mjcf_class *around;
  const char *suffix;
} surroundings;

static const char *name_of(mjcf *m, const xml_node *node, const surroundings *s)
{
  const char *name = xml_text(node, "name");
  size_t length = strlen(name), more = strlen(s->suffix);
  if (length == 0 || more == 0) {
    return name;
  }
  char *joined = memory_take(&m->model->memory, length + more + 1, 1);
  if (!joined) {
    return "";
  }
  memcpy(joined, name, length);
  memcpy(joined + length, s->suffix, more);
  return joined;
}

static bool room_for(mjcf *m, const xml_node *node, int count)
{
  return count < IMPORT_MAX_ITEMS ||
         import_fail(m->r, node->at, "more than %d elements of this kind", IMPORT_MAX_ITEMS);
}

// ---------------------------------------------------------------------------------------------
// Joints

typedef struct joint_attributes {
  model_joint joint;
  mjcf_limit limit, force;
} joint_attributes;

static void apply_joint(mjcf *m, const xml_node *node, void *out)
{
  static const char *const types[] = {"hinge", "slide", "ball", "free", NULL};
  joint_attributes *a = out;
  model_joint *j = &a->joint;
  reader *r = m->r;
  int type;
  if (xml_word(r, node, "type", types, &type)) {
    j->type = (model_joint_type)type;
  }
  xml_vector(r, node, "pos", &j->pos);
  xml_vector(r, node, "axis", &j->axis);
  mjcf_read_limit(m, node, "range", "limited", &a->limit);
  mjcf_read_limit(m, node, "actuatorfrcrange", "actuatorfrclimited", &a->force);
  xml_number(r, node, "ref", &j->ref);
  xml_number(r, node, "springref", &j->springref);
  double list[2] = {0.0, 0.0};
  mjcf_read_linear(m, node, "stiffness", &j->stiffness);
  mjcf_read_linear(m, node, "damping", &j->damping);
  if (xml_numbers(r, node, "springdamper", 2, 2, list) == 2) {
    j->spring_time = list[0];
    j->spring_ratio = list[1];
  }
  xml_number(r, node, "armature", &j->armature);
  xml_number(r, node, "frictionloss", &j->frictionloss);
  xml_numbers(r, node, "solreflimit", 1, 2, j->solref);
  xml_numbers(r, node, "solimplimit", 1, 5, j->solimp);
  xml_number(r, node, "margin", &j->margin);
  xml_bool(r, node, "actuatorgravcomp", &j->actuator_gravcomp);
}

static void finish_joint(mjcf *m, const xml_node *node, joint_attributes *a)
{
  model_joint *j = &a->joint;
  double length = dvec_length(j->axis);
  if (!(length > 1e-12) && (j->type == MODEL_HINGE || j->type == MODEL_SLIDE)) {
    import_fail(m->r, node->at, "the axis of this joint has no length");
    return;
  }
  j->axis = dvec_scale(1.0 / fmax(length, 1e-12), j->axis);
  if (j->type == MODEL_FREE) {
    a->limit.limited = MJCF_FALSE;
  }
  j->limited = mjcf_is_limited(m, node, &a->limit);
  j->force_limited = mjcf_is_limited(m, node, &a->force);
  bool turns = j->type == MODEL_HINGE || j->type == MODEL_BALL;
  for (int i = 0; i < 2; ++i) {
    j->range[i] = turns ? mjcf_angle(m, a->limit.range[i]) : a->limit.range[i];
    j->force_range[i] = a->force.range[i];
  }
  if (turns) {
    j->ref = mjcf_angle(m, j->ref);
    j->springref = mjcf_angle(m, j->springref);
  }
}

static void read_joint(mjcf *m, const xml_node *node, const surroundings *s)
{
  tn_model *model = m->model;
  joint_attributes a = {.joint = {.axis = {0.0, 0.0, 1.0},
                                  .solref = {0.02, 1.0},
                                  .solimp = {0.9, 0.95, 0.001, 0.5, 2.0}},
                        .limit = {.limited = MJCF_AUTO},
                        .force = {.limited = MJCF_AUTO}};
  if (xml_is(node, "freejoint")) {
    a.joint.type = MODEL_FREE;
  } else {
    mjcf_apply(m, node, s->around, "joint", apply_joint, &a);
    finish_joint(m, node, &a);
  }
  model_joint *j =
      room_for(m, node, model->joints.count) ? LIST_ADD(&model->memory, &model->joints) : NULL;
  if (!j) {
    return;
  }
  *j = a.joint;
  j->name = name_of(m, node, s);
  j->at = node->at;
  j->body = s->body;
  j->pos = dpose_apply(s->frame, j->pos);
  j->axis = drot_apply(s->frame.q, j->axis);
  model->bodies.items[s->body].joint_count += 1;
  if (j->type == MODEL_FREE && model->bodies.items[s->body].parent != 0) {
    import_fail(m->r, node->at, "a free joint must be on a body of the world");
  }
}

// ---------------------------------------------------------------------------------------------
// Geoms and sites

typedef struct geom_attributes {
  model_geom geom;
  mjcf_pose pose;
  bool has_ends, has_type;
  double ends[6]; // fromto
  const char *mesh, *hfield;
} geom_attributes;

static const char *const geom_types[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                         "cylinder", "box",    "mesh",   "sdf",     NULL};

static void apply_geom(mjcf *m, const xml_node *node, void *out)
{
  geom_attributes *a = out;
  model_geom *g = &a->geom;
  reader *r = m->r;
  int type;
  if (xml_word(r, node, "type", geom_types, &type)) {
    g->type = type == 8 ? MODEL_MESH : (model_geom_type)type;
    a->has_type = true;
  }
  xml_numbers(r, node, "size", 1, 3, g->size);
  if (xml_numbers(r, node, "fromto", 6, 6, a->ends)) {
    a->has_ends = true;
  }
  mjcf_read_pose(m, node, &a->pose);
  xml_numbers(r, node, "friction", 1, 3, g->contact.friction);
  mjcf_read_contact(m, node, &g->contact);
  if (xml_number(r, node, "mass", &g->mass)) {
    g->has_mass = true;
  }
  xml_number(r, node, "density", &g->density);
  xml_number(r, node, "fitscale", &g->fit_scale);
  xml_bool(r, node, "shellinertia", &g->shell);
  xml_integer(r, node, "contype", &g->contype);
  xml_integer(r, node, "conaffinity", &g->conaffinity);
  xml_integer(r, node, "priority", &g->priority);
  xml_integer(r, node, "group", &g->group);
  const char *mesh = xml_get(node, "mesh"), *hfield = xml_get(node, "hfield");
  a->mesh = mesh ? mesh : a->mesh;
  a->hfield = hfield ? hfield : a->hfield;
  double rgba[4];
  int count = xml_numbers(r, node, "rgba", 3, 4, rgba);
  for (int i = 0; i < count; ++i) {
    g->rgba[i] = (float)rgba[i];
  }
}

// The frame of a solid whose axis runs between two points: z from the second to the first.
static dpose pose_between(const double ends[6], double *half_length)
{
  dvec from = dvec_of(ends[0], ends[1], ends[2]), to = dvec_of(ends[3], ends[4], ends[5]);
  dvec along = dvec_sub(from, to);
  *half_length = 0.5 * dvec_length(along);
  dpose pose = {dvec_scale(0.5, dvec_add(from, to)), drot_from_to(dvec_of(0.0, 0.0, 1.0), along)};
  return pose;
}

static void take_ends(mjcf *m, const xml_node *node, const double ends[6], model_geom_type type,
                      dpose *pose, double size[3])
{
  double half;
  *pose = pose_between(ends, &half);
  if (type == MODEL_CAPSULE || type == MODEL_CYLINDER) {
    size[1] = half;
  } else if (type == MODEL_BOX || type == MODEL_ELLIPSOID) {
    size[1] = size[0];
    size[2] = half;
  } else {
    import_fail(m->r, node->at, "fromto needs a capsule, cylinder, box or ellipsoid");
  }
}

static void check_size(mjcf *m, const xml_node *node, const model_geom *g)
{
  static const int needed[] = {0, 0, 1, 2, 3, 2, 3, 0};
  for (int i = 0; i < needed[g->type]; ++i) {
    if (!(g->size[i] > 0.0)) {
      import_fail(m->r, node->at, "this %s needs %d sizes above 0", geom_types[g->type],
                  needed[g->type]);
      return;
    }
  }
  if (!(g->mass >= 0.0) || !(g->density >= 0.0)) {
    import_fail(m->r, node->at, "mass and density must not be negative");
  }
}

static void find_assets(mjcf *m, const xml_node *node, geom_attributes *a)
{
  model_geom *g = &a->geom;
  g->mesh = g->hfield = -1;
  if (a->mesh) {
    g->mesh = model_find_mesh(m->model, a->mesh);
    if (g->mesh < 0) {
      import_fail(m->r, node->at, "there is no mesh '%.100s'", a->mesh);
    }
  }
  for (int i = 0; a->hfield && i < m->model->hfields.count; ++i) {
    g->hfield = strcmp(m->model->hfields.items[i].name, a->hfield) == 0 ? i : g->hfield;
  }
  if (g->type == MODEL_HFIELD && g->hfield < 0) {
    import_fail(m->r, node->at, "there is no hfield '%.100s'", a->hfield ? a->hfield : "");
  }
  if (g->type == MODEL_MESH && g->mesh < 0) {
    import_fail(m->r, node->at, "a geom of type mesh needs a mesh");
  }
}

static void read_geom(mjcf *m, const xml_node *node, const surroundings *s)
{
  tn_model *model = m->model;
  geom_attributes a = {.geom = {.type = MODEL_SPHERE,
                                .density = 1000.0,
                                .fit_scale = 1.0,
                                .contype = 1,
                                .conaffinity = 1,
                                .contact = mjcf_usual_contact(),
                                .rgba = {0.5f, 0.5f, 0.5f, 1.0f}},
                       .pose = {dpose_identity(), false}};
  mjcf_apply(m, node, s->around, "geom", apply_geom, &a);
  a.geom.pose = a.pose.pose;
  if (a.mesh && !a.has_type) {
    a.geom.type = MODEL_MESH;
  }
  find_assets(m, node, &a);
  if (a.has_ends) {
    take_ends(m, node, a.ends, a.geom.type, &a.geom.pose, a.geom.size);
  }
  if (a.geom.mesh < 0) {
    check_size(m, node, &a.geom);
  }
  model_geom *g =
      room_for(m, node, model->geoms.count) ? LIST_ADD(&model->memory, &model->geoms) : NULL;
  if (g) {
    *g = a.geom;
    g->name = name_of(m, node, s);
    g->at = node->at;
    g->body = s->body;
    g->pose = dpose_mul(s->frame, g->pose);
    model->bodies.items[s->body].geom_count += 1;
  }
}

typedef struct site_attributes {
  mjcf_pose pose;
  bool has_ends;
  double ends[6];
} site_attributes;

static void apply_site(mjcf *m, const xml_node *node, void *out)
{
  site_attributes *a = out;
  mjcf_read_pose(m, node, &a->pose);
  if (xml_numbers(m->r, node, "fromto", 6, 6, a->ends)) {
    a->has_ends = true;
  }
}

static void read_site(mjcf *m, const xml_node *node, const surroundings *s)
{
  tn_model *model = m->model;
  site_attributes a = {.pose = {dpose_identity(), false}};
  mjcf_apply(m, node, s->around, "site", apply_site, &a);
  double half;
  model_site *site =
      room_for(m, node, model->sites.count) ? LIST_ADD(&model->memory, &model->sites) : NULL;
  if (site) {
    site->name = name_of(m, node, s);
    site->at = node->at;
    site->body = s->body;
    site->pose = dpose_mul(s->frame, a.has_ends ? pose_between(a.ends, &half) : a.pose.pose);
  }
}

// ---------------------------------------------------------------------------------------------
// Bodies

static void read_inertial(mjcf *m, const xml_node *node, const surroundings *s)
{
  model_body *body = &m->model->bodies.items[s->body];
  dpose pose = mjcf_pose_of(m, node);
  double v[6], mass = 0.0;
  if (!xml_number(m->r, node, "mass", &mass) || !(mass >= 0.0)) {
    import_fail(m->r, node->at, "<inertial> needs a mass of 0 or more");
    return;
  }
  dsym inertia = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  if (xml_numbers(m->r, node, "diaginertia", 3, 3, v)) {
    inertia = (dsym){v[0], v[1], v[2], 0.0, 0.0, 0.0};
  } else if (xml_numbers(m->r, node, "fullinertia", 6, 6, v)) {
    inertia = (dsym){v[0], v[1], v[2], v[3], v[4], v[5]};
  } else {
    import_fail(m->r, node->at, "<inertial> needs diaginertia or fullinertia");
  }
  pose = dpose_mul(s->frame, pose);
  body->mass = (model_mass){mass, pose.p, dsym_rotate(pose.q, inertia)};
  body->has_inertial = true;
}

static void read_own(mjcf *m, const xml_node *node, const surroundings *s);
static void read_inner(mjcf *m, const xml_node *node, const surroundings *s);

static mjcf_class *child_class(mjcf *m, const xml_node *node, mjcf_class *around)
{
  const char *name = xml_get(node, "childclass");
  return name && *name ? mjcf_find_class(m, node, name) : around;
}

// Bodies of which the elements of their own are read first, so that they stay together.
static void read_body(mjcf *m, const xml_node *node, const surroundings *s)
{
  tn_model *model = m->model;
  model_body *body =
      room_for(m, node, model->bodies.count) ? LIST_ADD(&model->memory, &model->bodies) : NULL;
  if (!body) {
    return;
  }
  surroundings inner = {model->bodies.count - 1, dpose_identity(), child_class(m, node, s->around),
                        s->suffix};
  dpose pose = mjcf_pose_of(m, node);
  body->name = name_of(m, node, s);
  body->at = node->at;
  body->parent = s->body;
  body->pose = dpose_mul(s->frame, pose);
  body->first_joint = model->joints.count;
  body->first_geom = model->geoms.count;
  xml_number(m->r, node, "gravcomp", &body->gravcomp);
  xml_bool(m->r, node, "mocap", &body->mocap);
  read_own(m, node, &inner);
  read_inner(m, node, &inner);
}

// Runs a reader in the frames that a <frame> or <replicate> makes. False for other elements.
typedef void read_fn(mjcf *m, const xml_node *node, const surroundings *s);

static void replicate(mjcf *m, const xml_node *node, const surroundings *s, read_fn *read)
{
  int count = 0;
  double turn[3] = {0.0, 0.0, 0.0};
  dvec step = dvec_of(0.0, 0.0, 0.0);
  dpose at = dpose_identity();
  xml_integer(m->r, node, "count", &count);
  xml_vector(m->r, node, "offset", &step);
  xml_numbers(m->r, node, "euler", 3, 3, turn);
  int digits = 1;
  for (int most = count - 1; most >= 10; most /= 10) {
    digits += 1;
  }
  if (count < 0 || count > IMPORT_MAX_ITEMS) {
    import_fail(m->r, node->at, "count must be from 0 to %d", IMPORT_MAX_ITEMS);
  }
  for (int i = 0; i < count && !m->r->failed; ++i) {
    if (++m->copies > MJCF_MAX_COPIES) {
      import_fail(m->r, node->at, "more than %d copies by <replicate>", MJCF_MAX_COPIES);
      return;
    }
    char suffix[400];
    int length = snprintf(suffix, sizeof suffix, "%.100s%0*d%.200s", xml_text(node, "sep"), digits,
                          i, s->suffix);
    surroundings inner = *s;
    inner.frame = dpose_mul(s->frame, at);
    inner.around = child_class(m, node, s->around);
    inner.suffix = memory_text(&m->model->memory, suffix, (size_t)length);
    read(m, node, &inner);
    // The angles are multiplied, not the rotations; the offset is in the frame of the last copy.
    double angles[3] = {(i + 1) * turn[0], (i + 1) * turn[1], (i + 1) * turn[2]};
    at = (dpose){dvec_add(at.p, drot_apply(at.q, step)), mjcf_euler(m, angles)};
  }
}

static bool read_enclosed(mjcf *m, const xml_node *node, const surroundings *s, read_fn *read)
{
  if (xml_is(node, "replicate")) {
    replicate(m, node, s, read);
    return true;
  }
  if (!xml_is(node, "frame")) {
    return false;
  }
  dpose pose = mjcf_pose_of(m, node);
  surroundings inner = *s;
  inner.frame = dpose_mul(s->frame, pose);
  inner.around = child_class(m, node, s->around);
  read(m, node, &inner);
  return true;
}

static void read_own(mjcf *m, const xml_node *node, const surroundings *s)
{
  for (xml_node *child = node->first; child && !m->r->failed; child = child->next) {
    if (read_enclosed(m, child, s, read_own)) {
      child->used = true;
    } else if (xml_is(child, "joint") || xml_is(child, "freejoint")) {
      child->used = true;
      read_joint(m, child, s);
    } else if (xml_is(child, "geom")) {
      child->used = true;
      read_geom(m, child, s);
    } else if (xml_is(child, "site")) {
      child->used = true;
      read_site(m, child, s);
    } else if (xml_is(child, "inertial")) {
      child->used = true;
      read_inertial(m, child, s);
    }
  }
}

static void read_inner(mjcf *m, const xml_node *node, const surroundings *s)
{
  for (xml_node *child = node->first; child && !m->r->failed; child = child->next) {
    if (!read_enclosed(m, child, s, read_inner) && xml_is(child, "body")) {
      child->used = true;
      read_body(m, child, s);
    }
  }
}

void mjcf_read_bodies(mjcf *m, const xml_node *root)
{
  tn_model *model = m->model;
  model_body *world = LIST_ADD(&model->memory, &model->bodies);
  if (!world) {
    return;
  }
  *world = (model_body){.name = "world", .at = root->at, .parent = -1, .pose = dpose_identity()};
  // All of the world's own elements come first, also those of later sections.
  read_fn *const passes[] = {read_own, read_inner};
  for (int pass = 0; pass < 2; ++pass) {
    for (xml_node *node = root->first; node && !m->r->failed; node = node->next) {
      if (xml_is(node, "worldbody")) {
        node->used = true;
        surroundings s = {0, dpose_identity(), child_class(m, node, NULL), ""};
        passes[pass](m, node, &s);
      }
    }
  }
}
