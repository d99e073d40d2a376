// The files that a run leaves.
#ifndef TENON_CLI_RECORD_H
#define TENON_CLI_RECORD_H

#include "film.h"
#include "options.h"
#include "output.h"

typedef struct record {
  output csv, poses, glb, snapshot;
  film *film;
} record;

// All of these say on stderr what went wrong. Opening finds out early what cannot be written.
bool record_open(record *r, const run_options *options, const scene_run *run);
// `ms` is what the frame took; none before the first.
bool record_frame(record *r, const scene_run *run, double ms);
// The files appear in their places.
bool record_finish(record *r, const scene_run *run);
void record_abandon(record *r);

#endif
