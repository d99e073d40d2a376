// The public functions of models.
#include "read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COOKIE = 0x1a70bd01 };

tn_import_def tn_default_import_def(void)
{
  tn_import_def def = {.format = TN_IMPORT_AUTO, .max_hulls = 1, .meshes = true, .cookie = COOKIE};
  return def;
}

// ---------------------------------------------------------------------------------------------
// Reading

static void report_failure(const tn_import_def *def, const char *error)
{
  if (def->log) {
    def->log(TN_LOG_ERROR, error, def->log_context);
  } else {
    fprintf(stderr, "%s\n", error);
  }
}

// By the first element of XML, or by the first character of JSON.
static tn_import_format guess_format(const char *text)
{
  const char *robot = strstr(text, "<robot"), *mujoco = strstr(text, "<mujoco");
  const char *s = text + strspn(text, " \t\r\n\xef\xbb\xbf");
  if (*s == '{') {
    return TN_IMPORT_TUTORIAL;
  }
  return robot && (!mujoco || robot < mujoco) ? TN_IMPORT_URDF : TN_IMPORT_MJCF;
}

static bool read_text(reader *r, const char *path, const char *text, size_t size)
{
  tn_model *model = r->model;
  model->format = r->def->format == TN_IMPORT_AUTO ? guess_format(text) : r->def->format;
  switch (model->format) {
  case TN_IMPORT_URDF:
    return read_urdf(r, path, text, size) && model_complete(r);
  case TN_IMPORT_TUTORIAL:
    return read_tutorial(r, path, text, size) && model_complete(r);
  default:
    return read_mjcf(r, path, text, size) && model_complete(r);
  }
}

// Notes in the order of fates; within a fate in the order of the file.
void model_sort_notes(tn_model *model)
{
  model_note *sorted = memory_take(&model->memory, (size_t)model->notes.count + 1, sizeof *sorted);
  int count = 0;
  for (int fate = 0; sorted && fate < TN_IMPORT_FATE_COUNT; ++fate) {
    for (int i = 0; i < model->notes.count; ++i) {
      if (model->notes.items[i].fate == (tn_import_fate)fate) {
        sorted[count++] = model->notes.items[i];
      }
    }
  }
  tn_import_note *notes = memory_take(&model->memory, (size_t)count + 1, sizeof *notes);
  for (int i = 0; notes && i < count; ++i) {
    const model_note *n = &sorted[i];
    notes[i] = (tn_import_note){n->fate, n->text, n->at.file, n->at.line, n->count};
  }
  model->report = notes;
  model->report_count = notes ? count : 0;
}

// Reads from a file if `text` is null.
static tn_model *load(const char *path, const char *text, size_t size, const tn_import_def *def)
{
  char error[IMPORT_ERROR] = "";
  tn_import_def usual = tn_default_import_def();
  def = def ? def : &usual;
  if (!path || def->cookie != COOKIE || def->max_hulls < 1 || def->max_hulls > 64) {
    report_failure(def, !path                   ? "tn_model_load: the path is null"
                        : def->cookie != COOKIE ? "tn_model_load: the definition is not from "
                                                  "tn_default_import_def()"
                                                : "tn_model_load: max_hulls must be from 1 to 64");
    return NULL;
  }
  tn_model *model = calloc(1, sizeof *model);
  if (!model) {
    report_failure(def, "tn_model_load: not enough memory");
    return NULL;
  }
  reader r = {.model = model, .def = def, .error = error};
  model->name = "";
  model->max_hulls = def->max_hulls;
  model->path = memory_text(&model->memory, path, strlen(path));
  place whole = {model->path, 0};
  char *copy =
      text ? memory_take(&model->memory, size + 1, 1) : import_file(&r, model->path, whole, &size);
  if (copy && text) {
    memcpy(copy, text, size);
  }
  if (!copy) {
    import_fail(&r, whole, text ? "not enough memory" : "cannot be opened");
  }
  if (r.failed || !read_text(&r, model->path, copy, size)) {
    import_fail(&r, whole, "not enough memory");
    report_failure(def, error);
    tn_model_destroy(model);
    return NULL;
  }
  model_sort_notes(model);
  return model;
}

tn_model *tn_model_load(const char *path, const tn_import_def *def)
{
  return load(path, NULL, 0, def);
}

tn_model *tn_model_parse(const char *name, const char *text, size_t size, const tn_import_def *def)
{
  return load(name, text ? text : "", text ? size : 0, def);
}

void tn_model_destroy(tn_model *model)
{
  if (model) {
    memory_free(&model->memory);
    free(model);
  }
}

// ---------------------------------------------------------------------------------------------
// Read-outs

const char *tn_model_name(const tn_model *model)
{
  return model ? model->name : "";
}

tn_import_format tn_model_format(const tn_model *model)
{
  return model ? model->format : TN_IMPORT_AUTO;
}

tn_model_counts tn_model_get_counts(const tn_model *model)
{
  tn_model_counts c = {0};
  if (model) {
    c = (tn_model_counts){.bodies = model->bodies.count,
                          .joints = model->joints.count,
                          .positions = model->qpos_count,
                          .velocities = model->dof_count,
                          .geoms = model->geoms.count,
                          .sites = model->sites.count,
                          .meshes = model->meshes.count,
                          .actuators = model->actuators.count,
                          .tendons = model->tendons.count,
                          .equalities = model->equalities.count,
                          .sensors = model->sensors.count,
                          .keyframes = model->keys.count};
  }
  return c;
}

double tn_model_total_mass(const tn_model *model)
{
  double sum = 0.0;
  for (int i = 1; model && i < model->bodies.count; ++i) {
    sum += model->bodies.items[i].mass.mass;
  }
  return sum;
}

tn_vec3 tn_model_gravity(const tn_model *model)
{
  return model ? vec3_of(model->option.gravity) : tn_v3(0.0f, 0.0f, 0.0f);
}

int tn_model_find_body(const tn_model *model, const char *name)
{
  return model && name ? model_find_body(model, name) : -1;
}

int tn_model_find_joint(const tn_model *model, const char *name)
{
  return model && name ? model_find_joint(model, name) : -1;
}

int tn_model_find_actuator(const tn_model *model, const char *name)
{
  return model && name ? model_find_actuator(model, name) : -1;
}

int tn_model_find_keyframe(const tn_model *model, const char *name)
{
  for (int i = 0; model && name && i < model->keys.count; ++i) {
    if (strcmp(model->keys.items[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

int tn_model_find_sensor(const tn_model *model, const char *name)
{
  for (int i = 0; model && name && i < model->sensors.count; ++i) {
    if (strcmp(model->sensors.items[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

const char *tn_model_joint_name(const tn_model *model, int joint)
{
  bool valid = model && joint >= 0 && joint < model->joints.count;
  return valid ? model->joints.items[joint].name : "";
}

const char *tn_model_actuator_name(const tn_model *model, int actuator)
{
  bool valid = model && actuator >= 0 && actuator < model->actuators.count;
  return valid ? model->actuators.items[actuator].name : "";
}

const char *tn_model_sensor_name(const tn_model *model, int sensor)
{
  bool valid = model && sensor >= 0 && sensor < model->sensors.count;
  return valid ? model->sensors.items[sensor].name : "";
}

const char *tn_model_keyframe_name(const tn_model *model, int keyframe)
{
  bool valid = model && keyframe >= 0 && keyframe < model->keys.count;
  return valid ? model->keys.items[keyframe].name : "";
}

int tn_model_keyframe_controls(const tn_model *model, int keyframe, double *controls, int capacity)
{
  if (!model || keyframe < 0 || keyframe >= model->keys.count) {
    return 0;
  }
  const model_key *key = &model->keys.items[keyframe];
  for (int i = 0; controls && i < capacity && i < model->actuators.count; ++i) {
    controls[i] = key->ctrl && i < key->ctrl_count ? key->ctrl[i] : 0.0;
  }
  return model->actuators.count;
}

static tn_model_body body_at(const model_body *b, dpose pose)
{
  const dsym *s = &b->mass.inertia;
  tn_model_body out = {
      .name = b->name,
      .parent = b->parent,
      .position = pos_of(pose.p),
      .rotation = {pose.q.x, pose.q.y, pose.q.z, pose.q.w},
      .mass = b->mass.mass,
      .center = {b->mass.center.x, b->mass.center.y, b->mass.center.z},
      .inertia = {s->xx, s->yy, s->zz, s->xy, s->xz, s->yz},
  };
  return out;
}

int tn_model_bodies(const tn_model *model, int keyframe, tn_model_body *bodies, int capacity)
{
  if (!model || keyframe < -1 || keyframe >= model->keys.count) {
    return 0;
  }
  int count = model->bodies.count;
  dpose *poses = malloc((size_t)count * sizeof *poses);
  if (!poses) {
    return 0;
  }
  model_kinematics(model, keyframe < 0 ? NULL : &model->keys.items[keyframe], poses, NULL);
  for (int i = 0; bodies && i < count && i < capacity; ++i) {
    bodies[i] = body_at(&model->bodies.items[i], poses[i]);
  }
  free(poses);
  return count;
}
