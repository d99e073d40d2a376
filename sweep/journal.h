// Results of a sweep in its folder.
//
// Each process appends to a file of its own, parts/I-of-N.csv, one line per finished run. A line
// ends with a checksum over the line and the identity of the sweep: torn lines, and lines of
// another spec or version, do not count. Whatever ends a process, its finished runs are kept.
#ifndef TENON_SWEEP_JOURNAL_H
#define TENON_SWEEP_JOURNAL_H

#include "spec.h"

#include <pthread.h>

typedef struct sweep_shard {
  int index, count; // from 1; 1 of 1 is the whole sweep
} sweep_shard;

typedef struct journal {
  const sweep_spec *spec;
  char folder[1024];
  int results, times; // file descriptors
  pthread_mutex_t lock;
  bool failed; // a write failed: no more runs are started
} journal;

// State of a run.
typedef enum run_state {
  RUN_OK,
  RUN_FAILED,  // a step was not finite, or ran out of memory
  RUN_REFUSED, // the scene could not be created
} run_state;

typedef struct run_result {
  int64_t run;
  run_state state;
  uint64_t hash;
  double metrics[SCENE_MAX_METRICS]; // NaN: the run has none of that name
  double seconds;                    // of its steps; not part of the table
} run_result;

const char *run_state_name(run_state state);

// Creates the folder if there is none. Returns false with a message if it belongs to another sweep
// or cannot be written.
bool journal_folder(const sweep_spec *s, const char *folder);
// Opens the files of a shard; refuses if another process has them open.
bool journal_open(journal *j, const sweep_spec *s, const char *folder, sweep_shard shard);
// May be called from several threads.
void journal_add(journal *j, const run_result *result);
bool journal_close(journal *j);

// All results in the folder.
typedef struct result_table {
  run_result *rows; // by run; valid where `done`
  bool *done;
  int64_t count, done_count, failed_count;
} result_table;

// Returns false with a message if files cannot be read, or if two results of a run differ.
bool results_read(result_table *t, const sweep_spec *s, const char *folder);
void results_free(result_table *t);

#endif
