// A body at the start and at the end of a step.
#ifndef TENON_SOLVER_BODY_STEP_H
#define TENON_SOLVER_BODY_STEP_H

#include <tenon/tenon.h>

void body_begin_step(tn_world *world, int32_t slot, float dt, int substeps);
// False if the body would leave the accepted positions: it stays where the step began and stops.
bool body_end_step(tn_world *world, int32_t slot);

#endif
