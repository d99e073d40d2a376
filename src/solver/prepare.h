// Before the substeps.
#ifndef TENON_SOLVER_PREPARE_H
#define TENON_SOLVER_PREPARE_H

#include "solver/step_context.h"

// Builds the constraint blocks of the step and saves its initial state. False when out of memory.
// scale: ratio of the substep to that of the last step; stored impulses are forces times h.
bool prepare(tn_world *world, float dt, float scale);

// Poses, velocities and loads of all bodies and constraints as the substeps begin.
step_context begin_substeps(tn_world *world, float dt, float scale);
// Points the task contexts at this step_context's own solver data; a copy needs it again.
void bind_solver_data(step_context *s);

#endif
