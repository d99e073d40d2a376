#include "robot.h"

#include "build.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct robot {
  scene scene; // first, so that a run's scene can be cast to this
  char name[64];
  tn_model *model;
  int keyframe;
  tn_instance *instance; // of the run that was created last
  bool reported;
};

bool robot_is_file(const char *name)
{
  static const char *const endings[] = {".xml", ".mjcf", ".urdf"};
  size_t length = strlen(name);
  for (int i = 0; i < 3; ++i) {
    size_t tail = strlen(endings[i]);
    if (length > tail && strcmp(name + length - tail, endings[i]) == 0) {
      return true;
    }
  }
  return false;
}

// Says once what of the file has no effect.
static void report_losses(robot *r)
{
  int count, approximated = 0;
  const tn_import_note *notes = tn_model_report(r->model, &count);
  for (int i = 0; i < count && !r->reported; ++i) {
    const tn_import_note *n = &notes[i];
    approximated += n->fate == TN_IMPORT_APPROXIMATED;
    if (n->fate == TN_IMPORT_IGNORED || n->fate == TN_IMPORT_MISSING) {
      complain("%s:%d: %s: %s", n->file, n->line,
               n->fate == TN_IMPORT_IGNORED ? "ignored" : "missing", n->text);
    }
  }
  if (approximated && !r->reported) {
    complain("%d kinds of attributes are approximated: see 'tenon check'", approximated);
  }
  r->reported = true;
}

static void build_robot(scene_run *run)
{
  robot *r = (robot *)(void *)run->scene;
  tn_instance_def def = tn_default_instance_def();
  def.keyframe = r->keyframe;
  tn_instance_destroy(r->instance);
  r->instance = tn_instance_create(run->world, r->model, &def);
  if (!r->instance) {
    run->failed = true;
    return;
  }
  tn_world_set_gravity(run->world, tn_instance_gravity(r->instance));
  scene_adopt(run);
  report_losses(r);
}

static void drive_robot(scene_run *run, float dt)
{
  robot *r = (robot *)(void *)run->scene;
  run->failed = !tn_instance_advance(r->instance, dt) || run->failed;
}

// Looks at the bodies from a distance that shows them all.
static scene_camera camera_of(const tn_model *model)
{
  int count = tn_model_bodies(model, -1, NULL, 0);
  tn_model_body *bodies = malloc((size_t)count * sizeof *bodies);
  tn_vec3 lo = tn_v3(0.0f, 0.0f, 0.0f), hi = lo;
  tn_model_bodies(model, -1, bodies, bodies ? count : 0);
  for (int i = 1; bodies && i < count; ++i) { // z of the model is y of the scene
    tn_vec3 p = tn_v3((float)bodies[i].position.x, (float)bodies[i].position.z,
                      (float)-bodies[i].position.y);
    lo = tn_v3(fminf(lo.x, p.x), fminf(lo.y, p.y), fminf(lo.z, p.z));
    hi = tn_v3(fmaxf(hi.x, p.x), fmaxf(hi.y, p.y), fmaxf(hi.z, p.z));
  }
  free(bodies);
  tn_vec3 middle = tn_scale(0.5f, tn_add(lo, hi));
  float far = 1.5f * tn_length(tn_sub(hi, lo)) + 0.5f;
  scene_camera camera = {tn_add(middle, tn_v3(0.5f * far, 0.4f * far, 0.8f * far)), middle};
  return camera;
}

robot *robot_load(const char *path, const robot_options *options)
{
  tn_import_def def = tn_default_import_def();
  def.search_paths = options->paths;
  def.search_path_count = options->path_count;
  def.base = options->base;
  def.max_hulls = options->hulls > 0 ? options->hulls : 1;
  tn_model *model = tn_model_load(path, &def);
  robot *r = model ? calloc(1, sizeof *r) : NULL;
  if (!r) {
    tn_model_destroy(model);
    return NULL;
  }
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  const char *name = *tn_model_name(model) ? tn_model_name(model) : base;
  snprintf(r->name, sizeof r->name, "%s", name);
  r->model = model;
  r->keyframe = -1;
  r->scene.name = r->scene.title = r->name;
  r->scene.source = "a model of a robot";
  r->scene.group = SCENE_MODELS;
  r->scene.camera = camera_of(model);
  r->scene.seconds = 5.0;
  r->scene.substeps = 20;
  r->scene.build = build_robot;
  r->scene.drive = drive_robot;
  return r;
}

void robot_free(robot *r)
{
  if (r) {
    tn_instance_destroy(r->instance);
    tn_model_destroy(r->model);
    free(r);
  }
}

const scene *robot_scene(const robot *r)
{
  return &r->scene;
}

bool robot_set_keyframe(robot *r, const char *name)
{
  r->keyframe = tn_model_find_keyframe(r->model, name);
  if (r->keyframe < 0) {
    complain("%s has no keyframe '%s'", r->name, name);
  }
  return r->keyframe >= 0;
}
