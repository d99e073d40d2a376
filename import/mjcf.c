// MJCF, the XML of MuJoCo: sections of a file, its settings and includes.
#include "mjcf.h"

#include "fates.h"

#include <string.h>

double mjcf_angle(const mjcf *m, double value)
{
  return m->compiler.degrees ? value * (3.14159265358979323846 / 180.0) : value;
}

void mjcf_visit(mjcf *m, const xml_node *root, const char *section, mjcf_visit_fn *visit)
{
  for (xml_node *s = root->first; s && !m->r->failed; s = s->next) {
    if (!xml_is(s, section)) {
      continue;
    }
    s->used = true;
    int count = 0;
    for (xml_node *n = s->first; n && !m->r->failed; n = n->next) {
      if (++count > IMPORT_MAX_ITEMS) {
        import_fail(m->r, n->at, "more than %d elements in <%s>", IMPORT_MAX_ITEMS, section);
        return;
      }
      n->used = visit(m, n);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Includes

typedef struct include_chain {
  const char *path;
  const struct include_chain *outer;
} include_chain;

enum { MAX_INCLUDES = 1000 };

static bool expand(mjcf *m, xml_node *parent, const include_chain *chain);

static xml_node *load_include(mjcf *m, const xml_node *node, const include_chain *chain)
{
  const char *name = xml_text(node, "file"), *base = m->compiler.base;
  const char *path = import_path(m->r, base, name);
  for (const include_chain *c = chain; c; c = c->outer) {
    if (strcmp(c->path, path) == 0) {
      import_fail(m->r, node->at, "'%.100s' includes itself", name);
      return NULL;
    }
  }
  if (++m->includes > MAX_INCLUDES) {
    import_fail(m->r, node->at, "more than %d includes", MAX_INCLUDES);
    return NULL;
  }
  size_t size;
  char *text = import_file(m->r, path, node->at, &size);
  if (!text) {
    import_fail(m->r, node->at, "cannot read the included file '%.200s'", path);
    return NULL;
  }
  xml_node *root = xml_parse(m->r, path, text, size);
  include_chain inner = {path, chain};
  return root && expand(m, root, &inner) ? root : NULL;
}

// Puts the children of `root` in the place of `node`, which follows `before`.
static void splice(xml_node *parent, xml_node *before, xml_node *node, xml_node *root)
{
  for (xml_node *child = root->first; child; child = child->next) {
    child->parent = parent;
  }
  xml_node *head = root->first ? root->first : node->next;
  if (root->last) {
    root->last->next = node->next;
  }
  if (before) {
    before->next = head;
  } else {
    parent->first = head;
  }
  if (!node->next) {
    parent->last = root->last ? root->last : before;
  }
}

static bool expand(mjcf *m, xml_node *parent, const include_chain *chain)
{
  xml_node *before = NULL;
  for (xml_node *node = parent->first; node; node = before ? before->next : parent->first) {
    if (!xml_is(node, "include")) {
      if (!expand(m, node, chain)) {
        return false;
      }
      before = node;
      continue;
    }
    xml_node *root = load_include(m, node, chain);
    if (!root) {
      return false;
    }
    xml_node *last = root->last;
    splice(parent, before, node, root);
    before = last ? last : before; // what was included is expanded already
    if (!before && !parent->first) {
      break;
    }
  }
  return true;
}

bool mjcf_expand_includes(mjcf *m, xml_node *root)
{
  include_chain chain = {m->compiler.base, NULL};
  return expand(m, root, &chain);
}

// ---------------------------------------------------------------------------------------------
// Settings

static void read_compiler_lists(mjcf *m, const xml_node *node)
{
  static const char *const tristate[] = {"false", "true", "auto", NULL};
  mjcf_compiler *c = &m->compiler;
  model_rules *rules = &m->model->rules;
  int value;
  if (xml_word(m->r, node, "inertiafromgeom", tristate, &value)) {
    rules->always_from_geoms = value == MJCF_TRUE;
    rules->never_from_geoms = value == MJCF_FALSE;
  }
  double groups[2];
  if (xml_numbers(m->r, node, "inertiagrouprange", 2, 2, groups) == 2) {
    rules->group_first = (int)fmin(fmax(groups[0], 0.0), 1e6);
    rules->group_last = (int)fmin(fmax(groups[1], 0.0), 1e6);
  }
  xml_bool(m->r, node, "fitaabb", &rules->fit_boxes);
  xml_bool(m->r, node, "balanceinertia", &rules->balance_inertia);
  xml_number(m->r, node, "boundmass", &rules->bound_mass);
  xml_number(m->r, node, "boundinertia", &rules->bound_inertia);
  xml_number(m->r, node, "settotalmass", &rules->total_mass);
  const char *euler = xml_get(node, "eulerseq");
  if (euler && (strlen(euler) != 3 || strspn(euler, "xyzXYZ") != 3)) {
    import_fail(m->r, node->at, "eulerseq must be three of x, y, z, X, Y, Z, not '%.20s'", euler);
  } else if (euler) {
    memcpy(c->euler, euler, 4);
  }
}

static void read_compiler(mjcf *m, const xml_node *node)
{
  static const char *const angles[] = {"radian", "degree", NULL};
  static const char *const coordinates[] = {"local", NULL};
  mjcf_compiler *c = &m->compiler;
  reader *r = m->r;
  int value;
  if (xml_word(r, node, "angle", angles, &value)) {
    c->degrees = value == 1;
  }
  xml_word(r, node, "coordinate", coordinates, &value);
  xml_bool(r, node, "autolimits", &c->autolimits);
  xml_bool(r, node, "strippath", &c->strip_path);
  const char *assets = xml_get(node, "assetdir"), *meshes = xml_get(node, "meshdir");
  if (assets) {
    c->mesh_folder = assets;
  }
  if (meshes) {
    c->mesh_folder = meshes;
  }
  read_compiler_lists(m, node);
}

void mjcf_read_compiler(mjcf *m, const xml_node *root)
{
  for (xml_node *node = root->first; node; node = node->next) {
    if (xml_is(node, "compiler")) {
      node->used = true;
      read_compiler(m, node);
    }
  }
}

static void read_fluid(mjcf *m, const xml_node *node)
{
  model_option *option = &m->model->option;
  xml_number(m->r, node, "density", &option->density);
  xml_number(m->r, node, "viscosity", &option->viscosity);
  xml_vector(m->r, node, "wind", &option->wind);
  if (!(option->density >= 0.0) || !(option->viscosity >= 0.0)) {
    import_fail(m->r, node->at, "density and viscosity must not be negative");
  }
}

void mjcf_read_option(mjcf *m, const xml_node *root)
{
  model_option *option = &m->model->option;
  for (xml_node *node = root->first; node; node = node->next) {
    if (xml_is(node, "option")) {
      node->used = true;
      xml_number(m->r, node, "timestep", &option->timestep);
      xml_vector(m->r, node, "gravity", &option->gravity);
      xml_vector(m->r, node, "magnetic", &option->magnetic);
      read_fluid(m, node);
      mjcf_read_flags(m, node);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Attributes that several elements have

drot mjcf_euler(const mjcf *m, const double angles[3])
{
  drot q = drot_identity();
  for (int i = 0; i < 3; ++i) {
    char axis = m->compiler.euler[i];
    bool fixed = axis < 'a';
    int which = fixed ? axis - 'X' : axis - 'x';
    dvec v = dvec_of(which == 0, which == 1, which == 2);
    drot turn = drot_axis_angle(v, mjcf_angle(m, angles[i]));
    q = fixed ? drot_mul(turn, q) : drot_mul(q, turn);
  }
  return q;
}

void mjcf_read_pose(mjcf *m, const xml_node *node, mjcf_pose *out)
{
  double v[6];
  dvec z;
  drot *q = &out->pose.q;
  xml_vector(m->r, node, "pos", &out->pose.p);
  if (xml_numbers(m->r, node, "quat", 4, 4, v) && !out->by_other) {
    *q = drot_normalize((drot){v[0], v[1], v[2], v[3]});
  }
  if (xml_numbers(m->r, node, "axisangle", 4, 4, v)) {
    *q = drot_axis_angle(dvec_of(v[0], v[1], v[2]), mjcf_angle(m, v[3]));
    out->by_other = true;
  }
  if (xml_numbers(m->r, node, "xyaxes", 6, 6, v)) {
    *q = drot_from_axes(dvec_of(v[0], v[1], v[2]), dvec_of(v[3], v[4], v[5]));
    out->by_other = true;
  }
  if (xml_vector(m->r, node, "zaxis", &z)) {
    *q = drot_from_to(dvec_of(0.0, 0.0, 1.0), z);
    out->by_other = true;
  }
  if (xml_numbers(m->r, node, "euler", 3, 3, v)) {
    *q = mjcf_euler(m, v);
    out->by_other = true;
  }
}

dpose mjcf_pose_of(mjcf *m, const xml_node *node)
{
  mjcf_pose pose = {dpose_identity(), false};
  mjcf_read_pose(m, node, &pose);
  return pose.pose;
}

model_contact mjcf_usual_contact(void)
{
  model_contact c = {.friction = {1.0, 0.005, 0.0001},
                     .solref = {0.02, 1.0},
                     .solimp = {0.9, 0.95, 0.001, 0.5, 2.0},
                     .condim = 3};
  return c;
}

void mjcf_read_contact(mjcf *m, const xml_node *node, model_contact *contact)
{
  xml_numbers(m->r, node, "solref", 1, 2, contact->solref);
  xml_numbers(m->r, node, "solimp", 1, 5, contact->solimp);
  xml_number(m->r, node, "margin", &contact->margin);
  xml_number(m->r, node, "gap", &contact->gap);
  xml_integer(m->r, node, "condim", &contact->condim);
}

void mjcf_read_limit(mjcf *m, const xml_node *node, const char *name, const char *limited,
                     mjcf_limit *out)
{
  static const char *const tristate[] = {"false", "true", "auto", NULL};
  int value;
  if (xml_numbers(m->r, node, name, 2, 2, out->range)) {
    out->has_range = true;
  }
  if (xml_word(m->r, node, limited, tristate, &value)) {
    out->limited = (mjcf_tristate)value;
  }
}

void mjcf_read_linear(mjcf *m, const xml_node *node, const char *name, double *out)
{
  double list[3] = {0.0, 0.0, 0.0};
  if (xml_numbers(m->r, node, name, 1, 3, list) < 1) {
    return;
  }
  *out = list[0];
  if (list[1] != 0.0 || list[2] != 0.0) {
    model_note_add(m->model, TN_IMPORT_APPROXIMATED, node->at,
                   "<%.20s> %.20s: the linear term alone counts", node->name, name);
  }
}

bool mjcf_is_limited(mjcf *m, const xml_node *node, const mjcf_limit *limit)
{
  bool is = limit->limited == MJCF_TRUE ||
            (limit->limited == MJCF_AUTO && limit->has_range && m->compiler.autolimits);
  if (is && limit->range[0] > limit->range[1]) {
    import_fail(m->r, node->at, "the range of this <%.40s> is reversed", node->name);
  }
  return is;
}

// ---------------------------------------------------------------------------------------------
// The file

static void set_usual(mjcf *m, const char *path)
{
  mjcf_compiler *c = &m->compiler;
  c->degrees = true;
  c->autolimits = true;
  memcpy(c->euler, "xyz", 4);
  m->model->rules.group_last = 5;
  c->mesh_folder = "";
  c->base = path;
  m->model->option.timestep = 0.002;
  m->model->option.gravity = dvec_of(0.0, 0.0, -9.81);
  m->model->option.magnetic = dvec_of(0.0, -0.5, 0.0);
}

bool read_mjcf(reader *r, const char *path, const char *text, size_t size)
{
  mjcf m = {.r = r, .model = r->model};
  set_usual(&m, path);
  xml_node *root = xml_parse(r, path, text, size);
  if (!root || !mjcf_expand_includes(&m, root)) {
    return false;
  }
  if (!xml_is(root, "mujoco")) {
    return import_fail(r, root->at, "the root element must be <mujoco> or <robot>, not <%.40s>",
                       root->name);
  }
  root->used = true;
  r->model->name = xml_text(root, "model");
  mjcf_read_compiler(&m, root);
  mjcf_read_option(&m, root);
  if (!mjcf_read_defaults(&m, root)) {
    return false;
  }
  mjcf_read_assets(&m, root);
  mjcf_read_bodies(&m, root);
  mjcf_read_tendons(&m, root);
  mjcf_read_equalities(&m, root);
  mjcf_read_contacts(&m, root);
  mjcf_read_actuators(&m, root);
  mjcf_read_sensors(&m, root);
  mjcf_read_keyframes(&m, root);
  mjcf_apply_flags(&m);
  if (!r->failed) {
    fates_report(r->model, root, TN_IMPORT_MJCF);
  }
  return !r->failed;
}
