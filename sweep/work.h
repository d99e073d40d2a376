// Runs the points of a sweep on all threads of one process.
#ifndef TENON_SWEEP_WORK_H
#define TENON_SWEEP_WORK_H

#include "journal.h"

// Simulates one run. Returns false if it was interrupted.
bool work_run(const sweep_spec *s, const char *folder, int64_t run, run_result *result);

// Runs those of `list` on `threads` threads and adds their results to the journal. Returns false on
// failure or after an interrupt; finished runs are kept.
bool work_all(journal *j, const int64_t *list, int64_t count, int threads);

// Mean duration of a few runs, s, over the whole list.
double work_estimate(const sweep_spec *s, const int64_t *list, int64_t count);

#endif
