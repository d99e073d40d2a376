// URDF, the XML of ROS: links and the joints between them.
#include "fates.h"
#include "mesh.h"
#include "read.h"
#include "urdf_gazebo.h"
#include "xml.h"

#include <stdio.h>
#include <string.h>

typedef struct urdf_joint {
  xml_node *node;
  const char *name, *parent, *child;
  int type; // of urdf_types
  bool placed;
} urdf_joint;

typedef struct urdf_link {
  xml_node *node;
  const char *name;
  int joint; // that it hangs on; -1: a root
  int body;  // -1: not made yet
} urdf_link;

typedef struct urdf {
  reader *r;
  tn_model *model;
  const char *path, *mesh_folder;
  LIST(urdf_link) links;
  LIST(urdf_joint) joints;
} urdf;

enum { REVOLUTE, CONTINUOUS, PRISMATIC, FIXED, FLOATING, PLANAR };
static const char *const urdf_types[] = {"revolute", "continuous", "prismatic", "fixed",
                                         "floating", "planar",     NULL};

// ---------------------------------------------------------------------------------------------
// Values

// "$(optenv NAME default)", which a preprocessor left behind, stands for its default.
static void take_default(urdf *u, const xml_node *node, const char *name)
{
  const char *value = xml_text(node, name);
  if (strncmp(value, "$(optenv ", 9) != 0) {
    return;
  }
  const char *start = value + 9;
  start += strcspn(start, " ");
  size_t length = strcspn(start, ")");
  xml_set(node, name, memory_text(&u->model->memory, start, length));
  model_note_add(u->model, TN_IMPORT_APPROXIMATED, node->at,
                 "<%s> %s: the default of $(optenv ...) is taken", node->name, name);
}

static dpose read_origin(urdf *u, const xml_node *node)
{
  dpose pose = dpose_identity();
  xml_node *origin = (xml_node *)xml_child(node, "origin");
  double rpy[3];
  if (!origin) {
    return pose;
  }
  origin->used = true;
  take_default(u, origin, "xyz");
  take_default(u, origin, "rpy");
  xml_vector(u->r, origin, "xyz", &pose.p);
  if (xml_numbers(u->r, origin, "rpy", 3, 3, rpy)) {
    drot roll = drot_axis_angle(dvec_of(1.0, 0.0, 0.0), rpy[0]);
    drot pitch = drot_axis_angle(dvec_of(0.0, 1.0, 0.0), rpy[1]);
    drot yaw = drot_axis_angle(dvec_of(0.0, 0.0, 1.0), rpy[2]);
    pose.q = drot_mul(yaw, drot_mul(pitch, roll));
  }
  return pose;
}

// A child element that has its value in an attribute; false if it is not there.
static bool read_value(urdf *u, const xml_node *node, const char *child, const char *attribute,
                       double *value)
{
  xml_node *found = (xml_node *)xml_child(node, child);
  if (!found) {
    return false;
  }
  found->used = true;
  return xml_number(u->r, found, attribute, value);
}

static const char *joined(urdf *u, const char *a, size_t a_length, const char *b)
{
  size_t length = strlen(b);
  bool slash = a_length > 0 && a[a_length - 1] != '/';
  char *out = memory_take(&u->model->memory, a_length + length + 2, 1);
  if (!out) {
    return "";
  }
  memcpy(out, a, a_length);
  memcpy(out + a_length, "/", 1);
  memcpy(out + a_length + slash, b, length + 1);
  return out;
}

static bool exists(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (file) {
    fclose(file);
  }
  return file;
}

// Finds `rest` in the folders above the file and in the search paths; with the name of the package
// in front, and without.
static const char *find_in_package(urdf *u, const char *package, const char *rest)
{
  const char *candidates[2] = {package, rest};
  for (int c = 0; c < 2; ++c) {
    for (int i = 0; i < u->r->def->search_path_count; ++i) {
      const char *folder = u->r->def->search_paths[i];
      const char *path = joined(u, folder, strlen(folder), candidates[c]);
      if (exists(path)) {
        return path;
      }
    }
  }
  size_t length = strlen(u->path);
  for (int up = 0; up < 8 && length > 0; ++up) {
    while (length > 0 && u->path[length - 1] != '/') {
      length -= 1;
    }
    for (int c = 0; c < 2; ++c) {
      const char *path = joined(u, u->path, length, candidates[c]);
      if (exists(path)) {
        return path;
      }
    }
    length -= length > 0;
  }
  return import_path(u->r, u->path, rest);
}

// Beside `meshdir` MuJoCo takes a file by its name alone. Files that mean a path below that folder,
// or below that of the file, are found as well.
static const char *find_in_mesh_folder(urdf *u, const char *name)
{
  const char *slash = strrchr(name, '/'), *plain = slash ? slash + 1 : name;
  size_t length = strlen(u->mesh_folder);
  const char *stripped = import_path(u->r, u->path, joined(u, u->mesh_folder, length, plain));
  const char *below = import_path(u->r, u->path, joined(u, u->mesh_folder, length, name));
  const char *whole = import_path(u->r, u->path, name);
  return exists(stripped) ? stripped : exists(below) ? below : exists(whole) ? whole : stripped;
}

static const char *mesh_path(urdf *u, const char *name)
{
  static const char *const schemes[] = {"package://", "model://"};
  for (int i = 0; i < 2; ++i) {
    size_t length = strlen(schemes[i]);
    if (strncmp(name, schemes[i], length) == 0) {
      const char *package = name + length, *slash = strchr(package, '/');
      const char *found = find_in_package(u, package, slash ? slash + 1 : package);
      return exists(found) || !u->mesh_folder ? found : find_in_mesh_folder(u, package);
    }
  }
  if (strncmp(name, "file://", 7) == 0) {
    name += 7;
  }
  bool relative = u->mesh_folder && name[0] != '/';
  return relative ? find_in_mesh_folder(u, name) : import_path(u->r, u->path, name);
}

// ---------------------------------------------------------------------------------------------
// Links

static int add_mesh(urdf *u, xml_node *node)
{
  tn_model *model = u->model;
  dvec scale = dvec_of(1.0, 1.0, 1.0);
  double values[3];
  const char *path = mesh_path(u, xml_text(node, "filename"));
  int count = xml_numbers(u->r, node, "scale", 1, 3, values);
  if (count == 1 || count == 3) {
    scale = count == 1 ? dvec_of(values[0], values[0], values[0])
                       : dvec_of(values[0], values[1], values[2]);
  }
  for (int i = 0; i < model->meshes.count; ++i) {
    const model_mesh *m = &model->meshes.items[i];
    if (strcmp(m->path, path) == 0 && m->scale.x == scale.x && m->scale.y == scale.y &&
        m->scale.z == scale.z) {
      return i;
    }
  }
  model_mesh *mesh = LIST_ADD(&model->memory, &model->meshes);
  if (!mesh) {
    return -1;
  }
  const char *slash = strrchr(path, '/');
  *mesh = (model_mesh){.name = slash ? slash + 1 : path,
                       .at = node->at,
                       .path = path,
                       .scale = scale,
                       .refquat = drot_identity()};
  return model->meshes.count - 1;
}

static void read_geometry(urdf *u, xml_node *shape, model_geom *g)
{
  double size[3];
  shape->used = true;
  if (xml_is(shape, "box") && xml_numbers(u->r, shape, "size", 3, 3, size)) {
    g->type = MODEL_BOX;
    for (int i = 0; i < 3; ++i) {
      g->size[i] = 0.5 * size[i];
    }
  } else if (xml_is(shape, "sphere")) {
    g->type = MODEL_SPHERE;
    xml_number(u->r, shape, "radius", &g->size[0]);
  } else if (xml_is(shape, "cylinder") || xml_is(shape, "capsule")) {
    g->type = xml_is(shape, "cylinder") ? MODEL_CYLINDER : MODEL_CAPSULE;
    xml_number(u->r, shape, "radius", &g->size[0]);
    xml_number(u->r, shape, "length", &g->size[1]);
    g->size[1] *= 0.5;
  } else if (xml_is(shape, "mesh")) {
    g->type = MODEL_MESH;
    g->mesh = add_mesh(u, shape);
    g->left_out = g->mesh < 0;
    return;
  } else {
    shape->used = false;
    g->left_out = true;
    return;
  }
  static const int needed[] = {0, 0, 1, 2, 3, 2, 3, 0};
  for (int i = 0; i < needed[g->type]; ++i) {
    if (!(g->size[i] > 0.0)) {
      import_fail(u->r, shape->at, "a <%s> needs sizes above 0", shape->name);
    }
  }
}

static void read_collision(urdf *u, xml_node *node, int body, const model_contact *contact)
{
  tn_model *model = u->model;
  xml_node *geometry = (xml_node *)xml_child(node, "geometry");
  node->used = true;
  if (!geometry || !geometry->first) {
    import_fail(u->r, node->at, "a <collision> needs a geometry");
    return;
  }
  geometry->used = true;
  if (model->geoms.count >= IMPORT_MAX_ITEMS) {
    import_fail(u->r, node->at, "more than %d geoms", IMPORT_MAX_ITEMS);
    return;
  }
  model_geom g = {.name = "",
                  .at = node->at,
                  .body = body,
                  .pose = read_origin(u, node),
                  .mesh = -1,
                  .hfield = -1,
                  .density = 1000.0,
                  .contype = 1,
                  .conaffinity = 1,
                  .fit_scale = 1.0,
                  .contact = *contact,
                  .rgba = {0.5f, 0.5f, 0.5f, 1.0f}};
  read_geometry(u, geometry->first, &g);
  model_geom *made = g.left_out ? NULL : LIST_ADD(&model->memory, &model->geoms);
  if (made) {
    *made = g;
    model->bodies.items[body].geom_count += 1;
  }
}

static void read_inertial(urdf *u, xml_node *node, model_body *body)
{
  static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  double i[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, mass = 0.0;
  node->used = true;
  dpose pose = read_origin(u, node);
  if (!read_value(u, node, "mass", "value", &mass) || !(mass >= 0.0)) {
    import_fail(u->r, node->at, "<inertial> needs a mass of 0 or more");
    return;
  }
  for (int k = 0; k < 6; ++k) {
    read_value(u, node, "inertia", names[k], &i[k]);
  }
  dsym inertia = {i[0], i[1], i[2], i[3], i[4], i[5]};
  body->mass = (model_mass){mass, pose.p, dsym_rotate(pose.q, inertia)};
  body->has_inertial = true;
}

// Friction and stiffness of a link's surface, by an extension of Bullet.
static model_contact read_contact(urdf *u, const xml_node *link)
{
  model_contact c = {.friction = {1.0, 0.0, 0.0},
                     .solref = {0.02, 1.0},
                     .solimp = {0.9, 0.95, 0.001, 0.5, 2.0},
                     .condim = 3};
  xml_node *node = (xml_node *)xml_child(link, "contact");
  double stiffness = 0.0;
  if (!node) {
    return c;
  }
  node->used = true;
  read_value(u, node, "lateral_friction", "value", &c.friction[0]);
  bool spins = read_value(u, node, "spinning_friction", "value", &c.friction[1]);
  bool rolls = read_value(u, node, "rolling_friction", "value", &c.friction[2]);
  c.condim = spins || rolls ? 6 : 3;
  if (read_value(u, node, "stiffness", "value", &stiffness) && stiffness > 0.0) {
    c.compliance = 1.0 / stiffness;
  }
  return c;
}

static int add_body(urdf *u, urdf_link *link, int parent, dpose pose)
{
  tn_model *model = u->model;
  model_body *body = LIST_ADD(&model->memory, &model->bodies);
  if (!body) {
    return 0;
  }
  int index = model->bodies.count - 1;
  *body = (model_body){.name = link->name,
                       .at = link->node->at,
                       .parent = parent,
                       .pose = pose,
                       .first_joint = model->joints.count,
                       .first_geom = model->geoms.count};
  link->body = index;
  model_contact contact = read_contact(u, link->node);
  for (xml_node *n = link->node->first; n && !u->r->failed; n = n->next) {
    if (xml_is(n, "inertial")) {
      read_inertial(u, n, body);
    } else if (xml_is(n, "collision")) {
      read_collision(u, n, index, &contact);
    }
    body = &model->bodies.items[index];
  }
  if (!body->has_inertial && body->geom_count > 0) {
    model_note_add(model, TN_IMPORT_APPROXIMATED, link->node->at,
                   "<link> without <inertial>: the mass is that of its collision geometry at "
                   "1000 kg/m^3");
  }
  return index;
}

// ---------------------------------------------------------------------------------------------
// Joints

static void read_limits(urdf *u, const xml_node *node, int type, model_joint *j)
{
  xml_node *limit = (xml_node *)xml_child(node, "limit");
  if (limit) {
    double effort = 0.0;
    limit->used = true;
    bool lower = xml_number(u->r, limit, "lower", &j->range[0]);
    bool upper = xml_number(u->r, limit, "upper", &j->range[1]);
    // Bullet and others take a reversed range as none.
    j->limited = type != CONTINUOUS && (lower || upper) && j->range[0] <= j->range[1];
    if (xml_number(u->r, limit, "effort", &effort) && effort > 0.0) {
      j->force_limited = true;
      j->force_range[0] = -effort;
      j->force_range[1] = effort;
    }
    xml_number(u->r, limit, "velocity", &j->max_speed);
  }
  xml_node *dynamics = (xml_node *)xml_child(node, "dynamics");
  if (dynamics) {
    dynamics->used = true;
    xml_number(u->r, dynamics, "damping", &j->damping);
    xml_number(u->r, dynamics, "friction", &j->frictionloss);
  }
}

// The motor of a joint with a limited effort, by the name of the joint.
static void add_motor(urdf *u, const urdf_joint *from, int joint)
{
  tn_model *model = u->model;
  const model_joint *j = &model->joints.items[joint];
  bool moves_alone = j->type == MODEL_HINGE || j->type == MODEL_SLIDE;
  if (!moves_alone || !j->force_limited || xml_child(from->node, "mimic")) {
    return;
  }
  model_actuator *made = LIST_ADD(&model->memory, &model->actuators);
  if (made) {
    *made = (model_actuator){.name = j->name,
                             .at = j->at,
                             .transmission = MODEL_TO_JOINT,
                             .target_name = j->name,
                             .target = joint,
                             .refsite = -1,
                             .gear = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0},
                             .control_limited = true,
                             .control_range = {j->force_range[0], j->force_range[1]},
                             .gain = {1.0, 0.0, 0.0},
                             .supported = true};
  }
}

static void add_joint(urdf *u, const urdf_joint *from, int body)
{
  static const model_joint_type types[] = {MODEL_HINGE, MODEL_HINGE, MODEL_SLIDE,
                                           MODEL_HINGE, MODEL_FREE,  MODEL_PLANAR};
  tn_model *model = u->model;
  model_joint j = {.name = from->name,
                   .at = from->node->at,
                   .type = types[from->type],
                   .body = body,
                   .axis = {1.0, 0.0, 0.0},
                   .solref = {0.02, 1.0},
                   .solimp = {0.9, 0.95, 0.001, 0.5, 2.0}};
  xml_node *axis = (xml_node *)xml_child(from->node, "axis");
  if (axis) {
    axis->used = true;
    xml_vector(u->r, axis, "xyz", &j.axis);
  }
  double length = dvec_length(j.axis);
  if (!(length > 1e-12)) {
    import_fail(u->r, from->node->at, "the axis of joint '%.60s' has no length", from->name);
    return;
  }
  j.axis = dvec_scale(1.0 / length, j.axis);
  read_limits(u, from->node, from->type, &j);
  model_joint *made = LIST_ADD(&model->memory, &model->joints);
  if (made) {
    *made = j;
    model->bodies.items[body].joint_count += 1;
    add_motor(u, from, model->joints.count - 1);
  }
}

static void read_mimic(urdf *u, const urdf_joint *from)
{
  xml_node *mimic = (xml_node *)xml_child(from->node, "mimic");
  tn_model *model = u->model;
  if (!mimic || from->type == FIXED) {
    return;
  }
  mimic->used = true;
  model_equality e = {.name = "",
                      .at = mimic->at,
                      .type = MODEL_EQUAL_JOINTS,
                      .name_a = from->name,
                      .name_b = xml_text(mimic, "joint"),
                      .active = true,
                      .coefficients = {0.0, 1.0},
                      .relative = dpose_identity(),
                      .solref = {0.02, 1.0},
                      .solimp = {0.9, 0.95, 0.001, 0.5, 2.0}};
  xml_number(u->r, mimic, "multiplier", &e.coefficients[1]);
  xml_number(u->r, mimic, "offset", &e.coefficients[0]);
  e.a = model_find_joint(model, e.name_a);
  e.b = model_find_joint(model, e.name_b);
  if (e.a < 0 || e.b < 0) {
    import_fail(u->r, mimic->at, "there is no joint '%.60s' to mimic", e.name_b);
    return;
  }
  model_equality *made = LIST_ADD(&model->memory, &model->equalities);
  if (made) {
    *made = e;
  }
}

// ---------------------------------------------------------------------------------------------
// The tree

static urdf_link *find_link(urdf *u, const char *name)
{
  for (int i = 0; i < u->links.count; ++i) {
    if (strcmp(u->links.items[i].name, name) == 0) {
      return &u->links.items[i];
    }
  }
  return NULL;
}

static void list_link(urdf *u, xml_node *node)
{
  node->used = true;
  const char *name = xml_text(node, "name");
  if (find_link(u, name)) {
    import_fail(u->r, node->at, "there are two links '%.60s'", name);
  }
  if (u->links.count >= IMPORT_MAX_ITEMS) {
    import_fail(u->r, node->at, "more than %d links", IMPORT_MAX_ITEMS);
    return;
  }
  urdf_link *link = LIST_ADD(&u->model->memory, &u->links);
  if (link) {
    *link = (urdf_link){node, name, -1, -1};
  }
}

static const char *link_name(const xml_node *joint, const char *end)
{
  xml_node *found = (xml_node *)xml_child(joint, end);
  if (!found) {
    return "";
  }
  found->used = true;
  return xml_text(found, "link");
}

static void list_joint(urdf *u, xml_node *node)
{
  node->used = true;
  urdf_joint j = {
      node, xml_text(node, "name"), link_name(node, "parent"), link_name(node, "child"), FIXED,
      false};
  if (!xml_word(u->r, node, "type", urdf_types, &j.type)) {
    import_fail(u->r, node->at, "joint '%.60s' needs a type", j.name);
  }
  urdf_link *child = find_link(u, j.child);
  if (!find_link(u, j.parent) || !child) {
    import_fail(u->r, node->at, "joint '%.60s' names a link '%.60s' that is not there", j.name,
                child ? j.parent : j.child);
    return;
  }
  if (child->joint >= 0) {
    import_fail(u->r, node->at, "link '%.60s' hangs on two joints", j.child);
    return;
  }
  urdf_joint *made = LIST_ADD(&u->model->memory, &u->joints);
  if (made) {
    *made = j;
    child->joint = u->joints.count - 1;
  }
}

// Bodies in the order of a walk from the root, without recursion: a chain may be long.
static void place_children(urdf *u, int from)
{
  for (int next = from; next < u->model->bodies.count && !u->r->failed; ++next) {
    const char *name = u->model->bodies.items[next].name;
    for (int i = 0; i < u->joints.count && !u->r->failed; ++i) {
      urdf_joint *j = &u->joints.items[i];
      urdf_link *child = find_link(u, j->child);
      if (j->placed || !child || strcmp(j->parent, name) != 0) {
        continue;
      }
      j->placed = true;
      int body = add_body(u, child, next, read_origin(u, j->node));
      if (j->type != FIXED) {
        add_joint(u, j, body);
      }
    }
  }
}

// Whether a link, or one that is fixed to it, has a mass.
static bool has_mass(urdf *u, const urdf_link *link, int depth)
{
  double mass = 0.0;
  const xml_node *inertial = xml_child(link->node, "inertial");
  if (inertial && read_value(u, inertial, "mass", "value", &mass) && mass > 0.0) {
    return true;
  }
  for (int i = 0; i < u->joints.count && depth < 64; ++i) {
    const urdf_joint *j = &u->joints.items[i];
    const urdf_link *child = find_link(u, j->child);
    if (j->type == FIXED && child && strcmp(j->parent, link->name) == 0 &&
        has_mass(u, child, depth + 1)) {
      return true;
    }
  }
  return false;
}

static bool is_free(urdf *u, const urdf_link *root)
{
  tn_import_base base = u->r->def->base;
  bool named = strcmp(root->name, "world") == 0;
  return base == TN_IMPORT_BASE_FREE ||
         (base == TN_IMPORT_BASE_AUTO && !named && has_mass(u, root, 0));
}

static void place_root(urdf *u, urdf_link *root)
{
  tn_model *model = u->model;
  int first = model->bodies.count;
  int body = add_body(u, root, 0, dpose_identity());
  if (is_free(u, root) && body > 0) {
    model_joint *j = LIST_ADD(&model->memory, &model->joints);
    if (j) {
      *j = (model_joint){.name = "",
                         .at = root->node->at,
                         .type = MODEL_FREE,
                         .body = body,
                         .axis = {0.0, 0.0, 1.0}};
      model->bodies.items[body].joint_count = 1;
    }
  }
  place_children(u, first);
}

static void place_links(urdf *u, const xml_node *root)
{
  model_body *world = LIST_ADD(&u->model->memory, &u->model->bodies);
  if (!world) {
    return;
  }
  *world = (model_body){.name = "", .at = root->at, .parent = -1, .pose = dpose_identity()};
  int roots = 0;
  for (int i = 0; i < u->links.count && !u->r->failed; ++i) {
    if (u->links.items[i].joint < 0) {
      roots += 1;
      place_root(u, &u->links.items[i]);
    }
  }
  for (int i = 0; i < u->links.count && !u->r->failed; ++i) {
    if (u->links.items[i].body < 0) {
      import_fail(u->r, u->links.items[i].node->at, "link '%.60s' is part of a loop of joints",
                  u->links.items[i].name);
    }
  }
  if (roots > 1) {
    model_note_add(u->model, TN_IMPORT_APPROXIMATED, root->at,
                   "%d links without a parent: each becomes a root of its own", roots);
  }
}

// Settings for MuJoCo inside of a URDF file.
static void read_extension(urdf *u, const xml_node *root)
{
  xml_node *extension = (xml_node *)xml_child(root, "mujoco");
  xml_node *compiler = extension ? (xml_node *)xml_child(extension, "compiler") : NULL;
  if (compiler) {
    extension->used = compiler->used = true;
    u->mesh_folder = xml_get(compiler, "meshdir");
    xml_bool(u->r, compiler, "balanceinertia", &u->model->rules.balance_inertia);
    xml_number(u->r, compiler, "boundmass", &u->model->rules.bound_mass);
    xml_number(u->r, compiler, "boundinertia", &u->model->rules.bound_inertia);
  }
}

// Macros of ROS have to be expanded before: a reader of URDF alone finds part of the robot.
static bool has_macros(reader *r, const xml_node *root)
{
  for (const xml_node *n = root->first; n; n = n->next) {
    if (strncmp(n->name, "xacro:", 6) == 0) {
      import_fail(r, n->at, "<%.60s>: expand this file first, 'xacro FILE >robot.urdf'", n->name);
      return true;
    }
  }
  return false;
}

bool read_urdf(reader *r, const char *path, const char *text, size_t size)
{
  urdf u = {.r = r, .model = r->model, .path = path};
  xml_node *root = xml_parse(r, path, text, size);
  if (!root) {
    return false;
  }
  if (!xml_is(root, "robot")) {
    return import_fail(r, root->at, "the root element must be <robot>, not <%.40s>", root->name);
  }
  if (has_macros(r, root)) {
    return false;
  }
  root->used = true;
  r->model->name = xml_text(root, "name");
  r->model->option = (model_option){.timestep = 0.002, .gravity = {0.0, 0.0, -9.81}};
  r->model->rules.group_last = 5;
  read_extension(&u, root);
  for (xml_node *n = root->first; n && !r->failed; n = n->next) {
    if (xml_is(n, "link")) {
      list_link(&u, n);
    }
  }
  for (xml_node *n = root->first; n && !r->failed; n = n->next) {
    if (xml_is(n, "joint")) {
      list_joint(&u, n);
    }
  }
  if (!r->failed) {
    place_links(&u, root);
  }
  for (int i = 0; i < u.joints.count && !r->failed; ++i) {
    read_mimic(&u, &u.joints.items[i]);
  }
  if (!r->failed) {
    urdf_read_gazebo(r, root);
    fates_report(r->model, root, TN_IMPORT_URDF);
  }
  return !r->failed;
}
