// Shared by the tests of contacts: scenes by name and settings, bodies with one shape.
#ifndef TENON_TEST_CONTACT_SUPPORT_H
#define TENON_TEST_CONTACT_SUPPORT_H

#include "scenes.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)

// ---------------------------------------------------------------------------------------------
// Scenes, with sleeping off

// Format of settings: "count=50 offset=0.01".
static inline scene_settings read_settings(const scene *which, const char *text)
{
  scene_settings settings = scene_defaults(which);
  char name[32];
  double value;
  int used;
  while (sscanf(text, " %31[^=]=%lf%n", name, &value, &used) == 2) {
    if (scene_set(which, &settings, name, value) != SCENE_SET) {
      fail_msg("%s does not take %s=%g", which->name, name, value);
    }
    text += used;
  }
  return settings;
}

static inline scene_run *start_scene_by(const char *name, const char *settings,
                                        const tn_world_def *def)
{
  const scene *which = scene_find(name);
  if (!which) {
    fail_msg("there is no scene %s", name);
    return NULL;
  }
  scene_settings values = read_settings(which, settings);
  test_forget_messages();
  scene_run *run = scene_create(which, &values, def);
  if (!run) {
    fail_msg("%s could not be set up: %s", name, test_last_message());
  }
  return run;
}

static inline scene_run *start_scene(const char *name, const char *settings, int substeps)
{
  tn_world_def def = test_world_def(substeps, TN_METHOD_TENON);
  def.sleeping = false;
  return start_scene_by(name, settings, &def);
}

// Fails if a step reports a problem; TN_STEP_SERIAL is allowed.
static inline void run_scene(scene_run *run, double seconds)
{
  int steps = (int)(seconds * 60.0 + 0.5);
  for (int i = 0; i < steps; ++i) {
    uint32_t status = scene_step(run, DT);
    if ((status & ~(uint32_t)TN_STEP_SERIAL) != TN_STEP_OK) {
      fail_msg("%s, step %d: status %u: %s", run->scene->name, i, (unsigned)status,
               test_last_message());
    }
  }
}

// Reads a metric and prints it, so that the output of a test is a table of figures.
static inline double told(const scene_run *run, const char *metric)
{
  double value = scene_metric_value(run, metric);
  print_message("  %s (%d substeps, %.1f s): %s = %.4g\n", run->scene->name,
                tn_world_substeps(run->world), run->time, metric, value);
  return value;
}

// ---------------------------------------------------------------------------------------------
// Bodies with one shape

static inline tn_shape_id add_shape(tn_world *world, tn_body_id body, const tn_shape_def *def)
{
  tn_shape_id id = tn_shape_create(world, body, def);
  if (TN_IS_NULL(id)) {
    fail_msg("no shape: %s", test_last_message());
  }
  return id;
}

static inline tn_shape_def ball_shape(float radius)
{
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_SPHERE);
  def.radius = radius;
  return def;
}

static inline tn_shape_def cube_shape(float half)
{
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  def.half_extents = tn_v3(half, half, half);
  return def;
}

static inline tn_shape_def axial_shape(tn_shape_kind kind, float radius, float half_length)
{
  tn_shape_def def = tn_default_shape_def(kind);
  def.radius = radius;
  def.half_length = half_length;
  return def;
}

static inline tn_body_id add_body(tn_world *world, const tn_body_def *def)
{
  tn_body_id id = tn_body_create(world, def);
  if (TN_IS_NULL(id)) {
    fail_msg("no body: %s", test_last_message());
  }
  return id;
}

// A body of 1 kg with uniform density.
static inline tn_body_id add_solid(tn_world *world, tn_pos position, const tn_shape_def *shape)
{
  tn_body_def def = test_body_def();
  def.position = position;
  tn_body_id body = add_body(world, &def);
  add_shape(world, body, shape);
  assert_true(tn_body_set_mass_from_shapes(world, body));
  assert_true(tn_body_set_mass(world, body, tn_mass_scaled_to(tn_body_mass(world, body), 1.0f)));
  return body;
}

static inline tn_body_id add_ball(tn_world *world, tn_pos position, float radius)
{
  tn_shape_def shape = ball_shape(radius);
  return add_solid(world, position, &shape);
}

static inline tn_body_id add_cube(tn_world *world, tn_pos position, float half)
{
  tn_shape_def shape = cube_shape(half);
  return add_solid(world, position, &shape);
}

// A ground plane y = 0, attached to the world.
static inline tn_shape_id add_ground(tn_world *world)
{
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  return add_shape(world, test_no_body, &plane);
}

static inline tn_world *contact_world(int substeps)
{
  tn_world_def def = test_world_def(substeps, TN_METHOD_TENON);
  def.sleeping = false;
  test_forget_messages();
  tn_world *world = tn_world_create(&def);
  if (!world) {
    fail_msg("no world: %s", test_last_message());
  }
  return world;
}

// Sum of the forces that all contacts exert on a body, N.
static inline tn_vec3 contact_force(const tn_world *world, tn_body_id body)
{
  tn_contact contacts[16];
  int count = tn_body_contacts(world, body, contacts, 16);
  assert_true(count <= 16);
  tn_vec3 sum = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < count; ++i) {
    tn_vec3 force = contacts[i].friction_force;
    for (int k = 0; k < contacts[i].count; ++k) {
      force = tn_add(force, tn_scale(contacts[i].points[k].normal_force, contacts[i].normal));
    }
    sum = tn_add(sum, tn_scale(TN_SAME_ID(contacts[i].body_b, body) ? 1.0f : -1.0f, force));
  }
  return sum;
}

#endif
