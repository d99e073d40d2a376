// Soft bodies before and after the substeps.
#ifndef TENON_SOLVER_SOFT_STEP_H
#define TENON_SOLVER_SOFT_STEP_H

#include "solver/soft/soft_system.h"

soft_system soft_system_of(tn_world *world);
// The layout and what is constant over the step. `scale` adapts stored impulses to a changed
// substep length. False when out of memory.
bool prepare_softs(tn_world *world, float dt, float scale);
// Stores results; damping, plasticity, tearing. False if a body had to be stopped.
bool finish_softs(tn_world *world, float dt);

#endif
