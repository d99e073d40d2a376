// Scene files for the npm package: a text is read once and opened as a run, a world with its
// motions and metrics.
#include "scene_file.h"

#include <tenon/import.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name), used))

// Layouts that import.js assumes.
_Static_assert(sizeof(tn_import_def) == 36 && offsetof(tn_import_def, log) == 24, "import");
_Static_assert(sizeof(tn_instance_def) == 56 && offsetof(tn_instance_def, y_up) == 40, "instance");
_Static_assert(sizeof(tn_model_body) == 144 && offsetof(tn_model_body, mass) == 64, "body");
_Static_assert(sizeof(tn_import_note) == 20 && sizeof(tn_model_counts) == 48, "note");
_Static_assert(sizeof(scene_metric) == 16 && sizeof(tn_convex_parts) == 24, "metric");

static char error[SCENE_FILE_ERROR];

EXPORT(run_error) const char *run_error(void)
{
  return error;
}

// A file and its text, which it keeps in use.
typedef struct run_file {
  scene_file *file;
  char text[];
} run_file;

// Null with a message in run_error().
EXPORT(run_read) run_file *run_read(const char *text, uint32_t size)
{
  run_file *read = malloc(sizeof *read + size + 1);
  if (!read) {
    strcpy(error, "not enough memory");
    return NULL;
  }
  memcpy(read->text, text, size);
  read->text[size] = '\0';
  read->file = scene_file_parse("line", read->text, size, error);
  if (!read->file) {
    free(read);
    return NULL;
  }
  return read;
}

EXPORT(run_free) void run_free(run_file *read)
{
  if (read) {
    scene_file_free(read->file);
    free(read);
  }
}

EXPORT(run_settings) void run_settings(const run_file *read, tn_world_def *def)
{
  scene_file_world(read->file, def);
}

EXPORT(run_open) scene_run *run_open(const run_file *read, const tn_world_def *def)
{
  return scene_create(scene_file_scene(read->file), NULL, def);
}

EXPORT(run_world) tn_world *run_world(scene_run *run)
{
  return run->world;
}

EXPORT(run_step) uint32_t run_step(scene_run *run, float dt)
{
  return scene_step(run, dt);
}

EXPORT(run_close) void run_close(scene_run *run)
{
  scene_destroy(run);
}

EXPORT(run_title) const char *run_title(const run_file *read)
{
  const scene *which = scene_file_scene(read->file);
  return *which->title ? which->title : which->name;
}

// Seconds, then eye and target of the camera.
EXPORT(run_facts) const double *run_facts(const run_file *read)
{
  static double facts[7];
  const scene *which = scene_file_scene(read->file);
  tn_vec3 eye = which->camera.eye, target = which->camera.target;
  const double all[7] = {which->seconds,   (double)eye.x,    (double)eye.y,   (double)eye.z,
                         (double)target.x, (double)target.y, (double)target.z};
  memcpy(facts, all, sizeof facts);
  return facts;
}

EXPORT(run_metrics) int run_metrics(const scene_run *run, scene_metric *list)
{
  int count = scene_metrics(run, list, SCENE_MAX_METRICS);
  return count < SCENE_MAX_METRICS ? count : SCENE_MAX_METRICS;
}
