// `tenon check`: reads the model of a robot and prints what of it is supported.
#ifndef TENON_CLI_CHECK_H
#define TENON_CLI_CHECK_H

#include <stdbool.h>

#define CHECK_MAX_PATHS 16

typedef struct check_options {
  const char *file;
  const char *paths[CHECK_MAX_PATHS]; // folders of meshes and packages
  int path_count;
  bool json;
} check_options;

// Both return false with one line on stderr.
bool check_parse(int count, char **words, check_options *options);
bool check_model(const check_options *options);

#endif
