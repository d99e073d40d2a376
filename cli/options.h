// Command-line options of `tenon run`, `tenon compare` and `tenon export`.
#ifndef TENON_CLI_OPTIONS_H
#define TENON_CLI_OPTIONS_H

#include "robot.h"
#include "scene_file.h"

#define MAX_COMPARED 16

typedef enum run_command { COMMAND_RUN = 1, COMMAND_COMPARE = 2, COMMAND_EXPORT = 4 } run_command;

typedef struct run_options {
  const scene *scene;
  scene_file *file; // source of the scene; null for a built-in scene
  robot *robot;     // the same of a model of a robot
  robot_options robot_options;
  const char *keyframe; // that a robot starts in; null for the reference position
  scene_settings settings;
  double seconds;
  tn_world_def world; // solver settings; gravity is not used
  bool json;

  // For run.
  const char *csv, *poses, *glb, *snapshot, *from; // files; null for none
  bool sets, chooses_method, chooses_substeps, chooses_iterations;

  // For compare.
  tn_method methods[MAX_COMPARED];
  int substeps[MAX_COMPARED];
  int method_count, substeps_count;
} run_options;

// Returns false with one line on stderr if the arguments are invalid. Free the options in any case.
bool options_parse(run_command which, int count, char **words, run_options *options);
void options_free(run_options *options);

const char *method_name(tn_method method);

// Prints "tenon: ..." on stderr.
void complain(const char *format, ...);

#endif
