// Times models for bench.mjs. usage: robot_bench SUBSTEPS FRAMES FILE...   one line of JSON for
// each file: reading it, building it in a world, processor time of both, and the median step of
// 1/60 s, all in ms
#include "timing.h"

#include <tenon/import.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void time_model(const char *path, int substeps, int frames)
{
  double start = timing_now_ms();
  clock_t clock_start = clock();
  tn_model *model = tn_model_load(path, NULL);
  double loaded = timing_now_ms();
  tn_world_def def = tn_default_world_def();
  def.substeps = substeps;
  def.sleeping = false;
  tn_world *world = tn_world_create(&def);
  tn_instance_def place = tn_default_instance_def();
  place.keyframe = model && tn_model_get_counts(model).keyframes > 0 ? 0 : -1;
  tn_instance *instance = tn_instance_create(world, model, &place);
  double built = timing_now_ms();
  double processor = 1e3 * (double)(clock() - clock_start) / CLOCKS_PER_SEC;
  double *times = calloc((size_t)frames, sizeof *times);
  if (!instance || !times) {
    printf("null\n");
  } else {
    tn_world_set_gravity(world, tn_instance_gravity(instance));
    for (int i = 0; i < frames; ++i) {
      double before = timing_now_ms();
      tn_instance_advance(instance, 1.0f / 60.0f);
      tn_world_step(world, 1.0f / 60.0f);
      times[i] = timing_now_ms() - before;
    }
    timing_sort(times, frames);
    printf("{\"read\": %.4g, \"build\": %.4g, \"processor\": %.4g, \"step\": %.4g}\n",
           loaded - start, built - loaded, processor, timing_quantile(times, frames, 0.5));
  }
  free(times);
  tn_instance_destroy(instance);
  tn_world_destroy(world);
  tn_model_destroy(model);
}

int main(int argc, char **argv)
{
  for (int i = 3; i < argc; ++i) {
    time_model(argv[i], atoi(argv[1]), atoi(argv[2]));
  }
  return 0;
}
