// Report of a run, as text or JSON.
#ifndef TENON_CLI_REPORT_H
#define TENON_CLI_REPORT_H

#include "options.h"

#define MAX_ENERGY_LINES 11

typedef struct energy_line {
  double time;
  tn_energy energy;
  double change; // relative to the scene's energy scale
} energy_line;

// Results of a run.
typedef struct outcome {
  int frames, frames_wanted;
  double seconds;           // simulated
  double wall;              // s, total
  double ms_median, ms_p99; // time of a step
  uint64_t hash;
  int lanes, substeps, iterations;
  tn_method method;
  scene_settings settings;
  scene_metric metrics[SCENE_MAX_METRICS];
  int metric_count;
  energy_line energy[MAX_ENERGY_LINES]; // for scenes that conserve it
  int energy_count;
} outcome;

void report_text(const run_options *options, const outcome *out);
void report_json(const run_options *options, const outcome *out);

#endif
