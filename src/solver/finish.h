// After the substeps.
#ifndef TENON_SOLVER_FINISH_H
#define TENON_SOLVER_FINISH_H

#include <tenon/tenon.h>

// Stores results and raises events; returns the TN_STEP_ flags.
uint32_t end_step(tn_world *world, float dt);

#endif
