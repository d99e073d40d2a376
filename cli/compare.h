// `tenon compare`: one scene by several methods and numbers of substeps.
#ifndef TENON_CLI_COMPARE_H
#define TENON_CLI_COMPARE_H

#include "options.h"

// False if a run failed; the others are told all the same.
bool compare(const run_options *options);

#endif
