// `tenon sweep`: many runs of a scene with varied parameters, on this machine or on a cluster.
#ifndef TENON_SWEEP_H
#define TENON_SWEEP_H

#include "journal.h"
#include "slurm.h"

typedef enum sweep_action {
  SWEEP_RUN,    // run what is missing, merge when nothing is
  SWEEP_MERGE,  // merge only
  SWEEP_PLAN,   // print the number of runs, their cost and the job script
  SWEEP_STATUS, // print how far it is
  SWEEP_SLURM,  // submit it
} sweep_action;

typedef struct sweep_options {
  const char *spec, *out; // files; out null: beside the spec
  sweep_action action;
  sweep_shard shard;
  int threads;
  slurm_options slurm;
} sweep_options;

// Returns false with one line on stderr if the arguments are invalid.
bool sweep_parse(int count, char **words, sweep_options *options);
// Returns false with a message on failure; `bad_spec` tells whether the spec was invalid.
bool sweep(const sweep_options *options, bool *bad_spec);

// Reads "I/N", from 1; for `tenon study` as well.
bool parse_shard(const char *word, sweep_shard *shard);
// Reads the value of one of the options of Slurm; `taken` tells whether it is one.
bool slurm_parse(const char *option, const char *value, slurm_options *options, bool *taken);
// The path of this program, quoted for the shell.
void text_add_program(text *t);

#endif
