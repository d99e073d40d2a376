// `tenon batch`: many runs of a scene with drawn parameters, on all cores or on a card.
#ifndef TENON_CLI_MANY_H
#define TENON_CLI_MANY_H

#include "options.h"
#include "scenes.h"
#include "workers.h"

#include <stdint.h>

#define MAX_VARIED 8

typedef struct varied {
  int parameter; // index among those of the scene
  double lo, hi;
} varied;

typedef enum many_device {
  MANY_CPU,
  MANY_CUDA,
  MANY_CUDA_OR_CPU // the CPU runs all worlds if the card fails
} many_device;

typedef struct many_options {
  run_options run;
  many_device device;
  int worlds, threads;
  uint64_t seed;
  varied varied[MAX_VARIED];
  int varied_count;
} many_options;

// Returns false with one line on stderr if the arguments are invalid. Free options.run in any case.
bool many_parse(int count, char **words, many_options *options);
bool many_run(const many_options *options);

typedef struct many_result {
  bool made;
  uint64_t hash;
  int frames, metric_count;
  uint32_t status;
  scene_metric metrics[SCENE_MAX_METRICS];
} many_result;

// Steps of 1/60 s that a run makes.
int many_frames(const many_options *options);
// The scene of run `index`; null if it cannot be made or Ctrl-C came.
scene_run *many_make(const many_options *options, int index);
// Measures a run and destroys it.
void many_finish(scene_run *run, uint64_t hash, many_result *result);
// many_device.c: all runs on a card, with the results of the CPU; false with one line on stderr.
bool many_run_on_card(const many_options *options, workers *threads, many_result *results);

#endif
