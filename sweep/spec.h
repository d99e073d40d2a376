// What a sweep runs: a scene, the values of its parameters and the settings of the solver.
//
// Runs are numbered in the order of the spec: the first parameter changes slowest, then come the
// samples of drawn parameters, methods, substeps and iterations.
#ifndef TENON_SWEEP_SPEC_H
#define TENON_SWEEP_SPEC_H

#include "scene_file.h"

#include <cjson/cJSON.h>

#define SWEEP_MAX_PARAMETERS 16
#define SWEEP_MAX_CHOICES 64    // methods, numbers of substeps, numbers of iterations
#define SWEEP_MAX_RUNS 10000000 // runs of a sweep
#define SWEEP_NAME 200          // bytes of a name

// A parameter of the scene, or a number of a scene file by its JSON pointer.
typedef struct sweep_parameter {
  char name[SWEEP_NAME];
  double *values; // one for each step, or for each sample if it is drawn
  int count;
  bool drawn;
} sweep_parameter;

typedef struct sweep_spec {
  const char *path;
  char *text;
  cJSON *tree;
  const scene *scene; // built-in; null for a file
  char *file_path;    // of the scene file; null for a built-in scene
  char *file_text;    //
  cJSON *file_tree;   // changed for each run and written as text
  sweep_parameter parameters[SWEEP_MAX_PARAMETERS];
  int parameter_count;
  int samples; // of drawn parameters; 1 if there are none
  tn_method methods[SWEEP_MAX_CHOICES];
  int substeps[SWEEP_MAX_CHOICES], iterations[SWEEP_MAX_CHOICES];
  int method_count, substeps_count, iterations_count;
  double seconds;
  char metrics[SCENE_MAX_METRICS][SWEEP_NAME];
  int metric_count;
  char curves[SCENE_MAX_METRICS][SWEEP_NAME]; // metrics of the trajectories
  int curve_count;
  int curve_every; // frames
  int64_t runs;
  uint64_t identity; // of spec, scene file and version: results of another one do not count
} sweep_spec;

// One run of a sweep.
typedef struct sweep_point {
  double values[SWEEP_MAX_PARAMETERS];
  tn_method method;
  int substeps, iterations;
} sweep_point;

// Returns false with one line on stderr. Free the spec in any case.
bool spec_load(sweep_spec *s, const char *path);
void spec_free(sweep_spec *s);

sweep_point spec_point(const sweep_spec *s, int64_t run);
// Creates the scene of a run; null with a reason in `error`, of SCENE_FILE_ERROR bytes, which later
// messages of the world overwrite: it must live as long as the run. `file` receives the scene file
// it was made from, to be freed after the run.
scene_run *spec_create(const sweep_spec *s, const sweep_point *p, scene_file **file, char *error);

#endif
