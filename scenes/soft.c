// Particles and what holds them together.
#include "build.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------
// What turns freely, about the origin

// The momentum at the start is kept in the run's memory.
static void start_turning(scene_run *run, tn_soft_id soft, tn_vec3 axis)
{
  const tn_pos origin = {0.0, 0.0, 0.0};
  float speed = (float)scene_value(run, "speed");
  scene_spin(run, soft, origin, tn_scale(speed / tn_length(axis), axis));
  tn_momentum start = tn_world_momentum(run->world, origin);
  for (int i = 0; i < 3; ++i) {
    run->memory[i] = start.angular[i];
  }
  run->energy_scale = tn_world_energy(run->world).kinetic;
}

static double length3(const double *v)
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void measure_turning(const scene_run *run, scene_sheet *sheet)
{
  tn_momentum now = tn_world_momentum(run->world, tn_p3(0.0, 0.0, 0.0));
  double start = length3(run->memory), change[3];
  for (int i = 0; i < 3; ++i) {
    change[i] = now.angular[i] - run->memory[i];
  }
  scene_note(sheet, "angular_momentum", length3(now.angular));
  scene_note(sheet, "angular_momentum_rel", start > 0.0 ? length3(change) / start : 0.0);
}

#define KEEP_MOMENTUM                                                                              \
  {                                                                                                \
    "keep_momentum", 0.0, 1.0, 1.0, true, "1 sets momentum right where positions are solved"       \
  }

static void build_rotor(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_rope(&def, 1, 2.0f);
  def.position = tn_p3(-1.0, 0.0, 0.0);
  def.mass = 2.0f;
  def.radius = 0.1f;
  def.edge_compliance = (float)scene_value(run, "compliance");
  def.keep_momentum = scene_value(run, "keep_momentum") > 0.0;
  start_turning(run, scene_add_soft(run, &def), tn_v3(0.0f, 0.0f, 1.0f));
}

const scene scene_rotor = {
    .name = "rotor",
    .title = "Two masses on a rod, turning freely",
    .source = "Dahl and Bargteil 2019, Fig. 2 and 3",
    .group = SCENE_MOMENTUM,
    .camera = {{0.0f, 1.0f, 4.0f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"speed", 0.0, 100.0, 10.0, false, "rad/s"},
                   {"compliance", 0.0, 1.0, 0.0, false, "of the rod, m/N"},
                   KEEP_MOMENTUM},
    .build = build_rotor,
    .measure = measure_turning,
};

static void build_soft_cube_spin(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  int n = (int)scene_value(run, "cells");
  const int cells[3] = {n, n, n};
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_box(&def, cells, tn_v3(0.5f, 0.5f, 0.5f), scene_value(run, "tetrahedra") > 0.0);
  def.mass = 10.0f;
  def.youngs_modulus = (float)scene_value(run, "young");
  def.keep_momentum = scene_value(run, "keep_momentum") > 0.0;
  start_turning(run, scene_add_soft(run, &def), tn_v3(1.0f, 3.0f, 0.5f));
}

const scene scene_soft_cube_spin = {
    .name = "soft_cube_spin",
    .title = "A soft cube, turning freely",
    .source = "Dahl and Bargteil 2019, the video's rotating cube",
    .group = SCENE_MOMENTUM,
    .camera = {{1.5f, 1.2f, 2.5f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 50.0, 10.0, false, "rad/s"},
                   {"young", 1e3, 1e8, 1e4, false, "modulus, Pa"},
                   {"cells", 1.0, 10.0, 4.0, true, "along an edge of 1 m; it has 10 kg"},
                   {"tetrahedra", 0.0, 1.0, 1.0, true, "0: hexahedra"},
                   KEEP_MOMENTUM},
    .build = build_soft_cube_spin,
    .measure = measure_turning,
};
