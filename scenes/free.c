// Bodies in free flight.
#include "build.h"

static void build_free_bodies(scene_run *run)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, 0.0f, 0.0f));
  int count = (int)scene_value(run, "count");
  float spin = (float)scene_value(run, "spin");
  uint32_t random = 1;
  for (int i = 0; i < count && !run->failed; ++i) {
    // Three different moments of inertia, so that they tumble.
    tn_body_def def = scene_box(tn_p3((double)i, 0.0, 0.0), tn_v3(0.3f, 0.2f, 0.1f), 1.0f);
    def.velocity = scene_random_vector(&random, 1.0f);
    def.angular_velocity = scene_random_vector(&random, spin);
    scene_add_body(run, &def);
  }
  run->energy_scale = tn_world_energy(run->world).kinetic;
}

const scene scene_free_bodies = {
    .name = "free_bodies",
    .title = "Tumbling boxes in free flight",
    .source = "Mueller et al. 2020, Algorithm 2",
    .group = SCENE_LAWS,
    .camera = {{50.0f, 20.0f, 60.0f}, {50.0f, 0.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"count", 1.0, 1e6, 100.0, true, "number of boxes"},
                   {"spin", 0.0, 100.0, 5.0, false,
                    "largest initial angular velocity about each axis, rad/s"}},
    .build = build_free_bodies,
};
