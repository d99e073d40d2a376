// What `tenon run` was asked to do.
#ifndef TENON_CLI_OPTIONS_H
#define TENON_CLI_OPTIONS_H

#include "scenes.h"

typedef struct run_options {
  const scene *scene;
  scene_settings settings;
  double seconds;
  tn_world_def world; // gravity aside, how the scene is solved
  bool json;
} run_options;

// False with one line on stderr if the words make no sense.
bool options_parse(int count, char **words, run_options *options);

const char *method_name(tn_method method);

// Prints "tenon: ..." on stderr.
void complain(const char *format, ...);

#endif
