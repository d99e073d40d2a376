// What `tenon run` and `tenon compare` were asked to do.
#ifndef TENON_CLI_OPTIONS_H
#define TENON_CLI_OPTIONS_H

#include "scenes.h"

#define MAX_COMPARED 16

typedef enum run_command { COMMAND_RUN = 1, COMMAND_COMPARE = 2 } run_command;

typedef struct run_options {
  const scene *scene;
  scene_settings settings;
  double seconds;
  tn_world_def world; // gravity aside, how the scene is solved
  bool json;

  // Of run.
  const char *csv, *poses, *glb, *snapshot, *from; // files; null for none
  bool sets, chooses_method, chooses_substeps, chooses_iterations;

  // Of compare.
  tn_method methods[MAX_COMPARED];
  int substeps[MAX_COMPARED];
  int method_count, substeps_count;
} run_options;

// False with one line on stderr if the words make no sense.
bool options_parse(run_command which, int count, char **words, run_options *options);

const char *method_name(tn_method method);

// Prints "tenon: ..." on stderr.
void complain(const char *format, ...);

#endif
