// Scenes for the npm package: the list of those that are built in, and runs, worlds with their
// motions, metrics and exact states. Those of files are in readers/files.c.
#include "scenes.h"

#include <stddef.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name), used))

// Layouts that runs.js assumes.
_Static_assert(sizeof(scene_metric) == 16 && offsetof(scene_metric, value) == 8, "metric");
_Static_assert(offsetof(scene, title) == 4 && offsetof(scene, source) == 8, "scene");
_Static_assert(offsetof(scene, group) == 12 && offsetof(scene, camera) == 16, "scene");
_Static_assert(offsetof(scene, seconds) == 40 && offsetof(scene, substeps) == 48, "scene");
_Static_assert(offsetof(scene, conserves) == 52 && offsetof(scene, parameters) == 56, "scene");
_Static_assert(sizeof(scene_parameter) == 40 && offsetof(scene_parameter, lo) == 8, "parameter");
_Static_assert(offsetof(scene_parameter, hi) == 16 && offsetof(scene_parameter, value) == 24,
               "parameter");
_Static_assert(offsetof(scene_parameter, whole) == 32 && offsetof(scene_parameter, meaning) == 36,
               "parameter");
_Static_assert(SCENE_MAX_PARAMETERS == 10 && SCENE_MAX_METRICS == 32, "limits");

EXPORT(run_version) const char *run_version(void)
{
  return TN_VERSION_STRING;
}

// The built-in scene of that index, null behind the last one.
EXPORT(run_scene) const scene *run_scene(int index)
{
  int count;
  const scene *const *all = scene_list(&count);
  return index >= 0 && index < count ? all[index] : NULL;
}

EXPORT(run_find) const scene *run_find(const char *name)
{
  return scene_find(name);
}

EXPORT(run_group) const char *run_group(const scene *which)
{
  return scene_group_title(which->group);
}

// `values` are those of the scene's parameters.
EXPORT(run_open)
scene_run *run_open(const scene *which, const scene_settings *values, const tn_world_def *def)
{
  return scene_create(which, values, def);
}

EXPORT(run_close) void run_close(scene_run *run)
{
  scene_destroy(run);
}

EXPORT(run_world) tn_world *run_world(scene_run *run)
{
  return run->world;
}

EXPORT(run_time) double run_time(const scene_run *run)
{
  return run->time;
}

// ---------------------------------------------------------------------------------------------
// Steps

// The motions of the scene, before a step.
EXPORT(run_drive) void run_drive(scene_run *run, float dt)
{
  if (run->scene->drive) {
    run->scene->drive(run, dt);
  }
}

// The step without them.
EXPORT(run_solve) uint32_t run_solve(scene_run *run, float dt)
{
  const scene *whole = run->scene;
  scene rest = *whole;
  rest.drive = NULL;
  run->scene = &rest;
  uint32_t status = scene_advance(run, dt);
  run->scene = whole;
  return status;
}

// Writes the largest gap and angle in a joint of the scene; errors: two numbers, or null.
EXPORT(run_observe) void run_observe(scene_run *run, float dt, double *errors)
{
  scene_observe(run, dt);
  if (errors) {
    errors[0] = run->joint_gap;
    errors[1] = run->joint_angle;
  }
}

EXPORT(run_metrics) int run_metrics(const scene_run *run, scene_metric *list)
{
  int count = scene_metrics(run, list, SCENE_MAX_METRICS);
  return count < SCENE_MAX_METRICS ? count : SCENE_MAX_METRICS;
}

// ---------------------------------------------------------------------------------------------
// States: what the run keeps beside its world, then the world.

EXPORT(run_save) uint32_t run_save(const scene_run *run, char *out, uint32_t capacity)
{
  size_t size = tn_world_save(run->world, NULL, 0);
  if (sizeof *run + size <= capacity) {
    memcpy(out, run, sizeof *run);
    tn_world_save(run->world, out + sizeof *run, size);
  }
  return (uint32_t)(sizeof *run + size);
}

EXPORT(run_restore) int run_restore(scene_run *run, const char *in, uint32_t size)
{
  scene_run books;
  if (size < sizeof books) {
    return false;
  }
  memcpy(&books, in, sizeof books);
  // The lists of the run stay: bodies, joints and couplings are only ever added to them.
  if (books.body_count < 0 || books.body_count > run->body_capacity || books.joint_count < 0 ||
      books.joint_count > run->joint_capacity || books.coupling_count < 0 ||
      books.coupling_count > run->coupling_capacity) {
    return false;
  }
  if (!tn_world_restore(run->world, in + sizeof books, size - sizeof books)) {
    return false;
  }
  books.scene = run->scene;
  books.world = run->world;
  books.bodies = run->bodies;
  books.joints = run->joints;
  books.couplings = run->couplings;
  books.roles = run->roles;
  books.record = run->record;
  books.body_capacity = run->body_capacity;
  books.joint_capacity = run->joint_capacity;
  books.coupling_capacity = run->coupling_capacity;
  *run = books;
  return true;
}
