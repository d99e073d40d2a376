// Simulates a scene, writes its files, and tells how it went.
#ifndef TENON_CLI_SIMULATE_H
#define TENON_CLI_SIMULATE_H

#include "report.h"

// False with one line on stderr if it could not be done. An interrupted run is done, but has fewer
// frames than wanted.
bool simulate(const run_options *options, outcome *out);

#endif
