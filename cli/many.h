// `tenon batch`: many runs of a scene with drawn parameters, on all cores.
#ifndef TENON_CLI_MANY_H
#define TENON_CLI_MANY_H

#include "options.h"

#include <stdint.h>

#define MAX_VARIED 8

typedef struct varied {
  int parameter; // index among those of the scene
  double lo, hi;
} varied;

typedef struct many_options {
  run_options run;
  int worlds, threads;
  uint64_t seed;
  varied varied[MAX_VARIED];
  int varied_count;
} many_options;

// Returns false with one line on stderr if the arguments are invalid. Free options.run in any case.
bool many_parse(int count, char **words, many_options *options);
bool many_run(const many_options *options);

#endif
