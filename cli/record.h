// The output files of a run.
#ifndef TENON_CLI_RECORD_H
#define TENON_CLI_RECORD_H

#include "film.h"
#include "options.h"
#include "output.h"

typedef struct record {
  output csv, poses, glb, snapshot;
  film *film;
} record;

// All of these report errors on stderr. Opening detects early which files cannot be written.
bool record_open(record *r, const run_options *options, const scene_run *run);
// `ms` is the time of the frame.
bool record_frame(record *r, const scene_run *run, double ms);
// Renames the files to their final names.
bool record_finish(record *r, const scene_run *run);
void record_abandon(record *r);

#endif
