// Simulates a scene, writes its files, and returns its results.
#ifndef TENON_CLI_SIMULATE_H
#define TENON_CLI_SIMULATE_H

#include "report.h"

// Returns false with one line on stderr on failure. An interrupted run succeeds with fewer frames
// than requested.
bool simulate(const run_options *options, outcome *out);

#endif
