// `tenon compare`: one scene with several methods and numbers of substeps.
#ifndef TENON_CLI_COMPARE_H
#define TENON_CLI_COMPARE_H

#include "options.h"

// Returns false if a run failed; the others are still reported.
bool compare(const run_options *options);

#endif
