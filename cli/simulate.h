// `tenon run`: simulates a scene and tells how it went.
#ifndef TENON_CLI_SIMULATE_H
#define TENON_CLI_SIMULATE_H

#include "options.h"

// False with one line on stderr if it could not be done.
bool simulate(const run_options *options);

#endif
