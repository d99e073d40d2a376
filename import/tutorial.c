// Scenes of the tutorial on joints (Ten Minute Physics 25): a list of meshes whose properties say
// what they stand for. Rigid boxes and spheres take their size from the vertices and are centred on
// their transform; a density of 0 fixes them. Joints connect two of them at their transform, with
// axis x. The up axis is y.
#include "json.h"
#include "read.h"

#include <string.h>

typedef struct tutorial {
  reader *r;
  tn_model *model;
  const char *path;
} tutorial;

static place place_of(const tutorial *t, const json *value)
{
  place at = {t->path, value->line};
  return at;
}

static double item(const json *list, int index, double fallback)
{
  return json_number(json_at(list, index), fallback);
}

static dpose read_transform(const json *mesh)
{
  const json *transform = json_get(mesh, "transform");
  const json *p = json_get(transform, "position"), *q = json_get(transform, "rotation");
  dpose pose = {
      dvec_of(item(p, 0, 0.0), item(p, 1, 0.0), item(p, 2, 0.0)),
      drot_normalize((drot){item(q, 3, 1.0), item(q, 0, 0.0), item(q, 1, 0.0), item(q, 2, 0.0)})};
  return pose;
}

// ---------------------------------------------------------------------------------------------
// Bodies

// Half sizes of the box around the vertices, and the largest distance from their mean.
static bool measure(const json *vertices, double half[3], double *radius)
{
  double lo[3] = {1e300, 1e300, 1e300}, hi[3] = {-1e300, -1e300, -1e300}, sum[3] = {0.0, 0.0, 0.0};
  int count = vertices && vertices->type == JSON_ARRAY ? vertices->count : 0, i = 0;
  for (const json *v = count ? vertices->first : NULL; v; v = v->next, ++i) {
    double x = json_number(v, (double)NAN);
    if (!(fabs(x) < 1e6)) {
      return false;
    }
    lo[i % 3] = fmin(lo[i % 3], x);
    hi[i % 3] = fmax(hi[i % 3], x);
    sum[i % 3] += x;
  }
  if (count < 12 || count % 3 != 0) {
    return false;
  }
  double square = 0.0, worst = 0.0;
  i = 0;
  for (const json *v = vertices->first; v; v = v->next, ++i) {
    double d = json_number(v, 0.0) - sum[i % 3] / (count / 3);
    square = i % 3 == 0 ? d * d : square + d * d;
    worst = i % 3 == 2 ? fmax(worst, square) : worst;
  }
  for (int k = 0; k < 3; ++k) {
    half[k] = 0.5 * (hi[k] - lo[k]);
  }
  *radius = sqrt(worst);
  return half[0] > 0.0 && half[1] > 0.0 && half[2] > 0.0;
}

static void read_body(tutorial *t, const json *mesh, const char *type)
{
  tn_model *model = t->model;
  double half[3], radius;
  double density = json_number(json_get(json_get(mesh, "properties"), "density"), 1000.0);
  if (!measure(json_get(mesh, "vertices"), half, &radius) || !(density >= 0.0)) {
    import_fail(t->r, place_of(t, mesh),
                "a rigid body needs vertices that span a volume, and a "
                "density of 0 or more");
    return;
  }
  model_body *body = LIST_ADD(&model->memory, &model->bodies);
  model_geom *geom = body ? LIST_ADD(&model->memory, &model->geoms) : NULL;
  if (!geom) {
    return;
  }
  bool sphere = strcmp(type, "RigidSphere") == 0;
  int index = model->bodies.count - 1;
  *body = (model_body){.name = json_string(json_get(mesh, "name")),
                       .at = place_of(t, mesh),
                       .pose = read_transform(mesh),
                       .first_joint = model->joints.count,
                       .first_geom = model->geoms.count - 1,
                       .geom_count = 1};
  *geom = (model_geom){.name = "",
                       .at = body->at,
                       .type = sphere ? MODEL_SPHERE : MODEL_BOX,
                       .body = index,
                       .pose = dpose_identity(),
                       .size = {sphere ? radius : half[0], half[1], half[2]},
                       .mesh = -1,
                       .hfield = -1,
                       .density = density > 0.0 ? density : 1000.0,
                       .fit_scale = 1.0,
                       .contact = {.friction = {0.5, 0.0, 0.0}, .condim = 3},
                       .rgba = {0.5f, 0.5f, 0.5f, 1.0f}}; // bodies of the tutorial do not collide
  if (density > 0.0) {
    model_joint *joint = LIST_ADD(&model->memory, &model->joints);
    if (joint) {
      *joint = (model_joint){
          .name = "", .at = body->at, .type = MODEL_FREE, .body = index, .axis = {0.0, 0.0, 1.0}};
      body->joint_count = 1;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Joints

typedef struct joint_type {
  const char *name;
  tn_joint_kind kind;
} joint_type;

static const joint_type joint_types[] = {
    {"BallJoint", TN_JOINT_BALL},         {"HingeJoint", TN_JOINT_HINGE},
    {"ServoJoint", TN_JOINT_HINGE},       {"MotorJoint", TN_JOINT_HINGE},
    {"DistanceJoint", TN_JOINT_DISTANCE}, {"PrismaticJoint", TN_JOINT_PRISMATIC},
    {"CylinderJoint", TN_JOINT_CYLINDER}, {"FixedJoint", TN_JOINT_FIXED},
};

static double property(const json *properties, const char *name, double fallback)
{
  return json_number(json_get(properties, name), fallback);
}

static void read_ranges(const json *p, model_link *l)
{
  double open = (double)INFINITY;
  bool ball = l->kind == TN_JOINT_BALL;
  l->linear[0] = property(p, "distanceMin", -open);
  l->linear[1] = property(p, "distanceMax", open);
  l->angular[0] = property(p, ball ? "twistMin" : "swingMin", -open);
  l->angular[1] = property(p, ball ? "twistMax" : "swingMax", open);
  l->swing = ball ? property(p, "swingMax", open) : open;
  if (l->kind == TN_JOINT_CYLINDER) {
    l->angular[0] = property(p, "twistMin", -open);
    l->angular[1] = property(p, "twistMax", open);
  }
}

// The page drives servos rigidly to 0 and motors at 3 rad/s, whatever the file says; here a file's
// own values count.
static void read_drive(const json *p, const char *type, model_link *l)
{
  l->damping = property(p, "damping", 0.0);
  l->compliance = property(p, "compliance", 0.0);
  if (l->kind == TN_JOINT_HINGE) {
    l->has_target = strcmp(type, "ServoJoint") == 0 || json_get(p, "targetAngle");
    l->target = property(p, "targetAngle", 0.0);
    l->compliance = property(p, "targetAngleCompliance", 0.0);
    l->has_velocity = strcmp(type, "MotorJoint") == 0;
    l->velocity = property(p, "velocity", 3.0);
  } else if (l->kind == TN_JOINT_DISTANCE) {
    l->linear[0] = l->linear[1] = property(p, "restDistance", 0.0);
  } else if (l->kind == TN_JOINT_PRISMATIC) {
    l->has_target = json_get(p, "distanceTarget");
    l->target = property(p, "distanceTarget", 0.0);
  }
}

static void read_joint(tutorial *t, const json *mesh, const char *type)
{
  tn_model *model = t->model;
  const json *p = json_get(mesh, "properties");
  model_link l = {.name = json_string(json_get(mesh, "name")),
                  .at = place_of(t, mesh),
                  .kind = TN_JOINT_KIND_COUNT,
                  .frame = read_transform(mesh)};
  for (size_t i = 0; i < sizeof joint_types / sizeof joint_types[0]; ++i) {
    l.kind = strcmp(joint_types[i].name, type) == 0 ? joint_types[i].kind : l.kind;
  }
  if (l.kind == TN_JOINT_KIND_COUNT) {
    model_note_add(model, TN_IMPORT_IGNORED, l.at, "simType '%.60s'", type);
    return;
  }
  const char *a = json_string(json_get(p, "parent1")), *b = json_string(json_get(p, "parent2"));
  l.a = model_find_body(model, a);
  l.b = model_find_body(model, b);
  if (l.a < 0 || l.b < 0) {
    import_fail(t->r, l.at, "there is no body '%.60s'", l.a < 0 ? a : b);
    return;
  }
  read_ranges(p, &l);
  read_drive(p, type, &l);
  model_link *made = LIST_ADD(&model->memory, &model->links);
  if (made) {
    *made = l;
  }
}

// ---------------------------------------------------------------------------------------------
// The report: every property, as the fates of XML attributes

static void report_properties(tutorial *t, const json *mesh, const char *type)
{
  static const char *const known[] = {"simType",
                                      "density",
                                      "parent1",
                                      "parent2",
                                      "swingMin",
                                      "swingMax",
                                      "twistMin",
                                      "twistMax",
                                      "distanceMin",
                                      "distanceMax",
                                      "distanceTarget",
                                      "targetAngle",
                                      "damping",
                                      "restDistance",
                                      "compliance",
                                      "velocity",
                                      "targetAngleCompliance"};
  const json *properties = json_get(mesh, "properties");
  for (const json *p = properties ? properties->first : NULL; p; p = p->next) {
    tn_import_fate fate = TN_IMPORT_IGNORED;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
      fate = p->key && strcmp(known[i], p->key) == 0 ? TN_IMPORT_HONOURED : fate;
    }
    fate = strcmp(type, "Visual") == 0 ? TN_IMPORT_VISUAL : fate;
    model_note_add(t->model, fate, place_of(t, p), "%.60s %.60s", type, p->key ? p->key : "");
  }
}

static void visit(tutorial *t, const json *mesh, bool joints)
{
  const char *type = json_string(json_get(json_get(mesh, "properties"), "simType"));
  bool rigid = strcmp(type, "RigidBox") == 0 || strcmp(type, "RigidSphere") == 0;
  bool visual = strcmp(type, "Visual") == 0 || !*type;
  if (joints) {
    report_properties(t, mesh, type);
  }
  if (rigid && !joints) {
    read_body(t, mesh, type);
  } else if (!rigid && !visual && joints) {
    read_joint(t, mesh, type);
  }
}

bool read_tutorial(reader *r, const char *path, const char *text, size_t size)
{
  tutorial t = {r, r->model, path};
  const char *why = NULL;
  place at = {path, 1};
  json *root = json_parse(&r->model->memory, text, size, &why, &at.line);
  if (!root) {
    return import_fail(r, at, "not well-formed JSON: %s", why);
  }
  const json *meshes = json_get(root, "meshes");
  if (!meshes || meshes->type != JSON_ARRAY || meshes->count > IMPORT_MAX_ITEMS) {
    return import_fail(r, at, "a scene of the tutorial has a list of up to %d meshes",
                       IMPORT_MAX_ITEMS);
  }
  model_body *world = LIST_ADD(&r->model->memory, &r->model->bodies);
  if (world) {
    *world = (model_body){.name = "", .at = at, .parent = -1, .pose = dpose_identity()};
  }
  r->model->option =
      (model_option){.timestep = 1.0 / 30.0, .gravity = {0.0, -10.0, 0.0}, .y_up = true};
  r->model->rules.group_last = 5;
  for (int pass = 0; pass < 2; ++pass) {
    for (const json *m = meshes->first; m && !r->failed; m = m->next) {
      visit(&t, m, pass == 1);
    }
  }
  return !r->failed;
}
