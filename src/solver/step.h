// The substeps of a step.
#ifndef TENON_SOLVER_STEP_H
#define TENON_SOLVER_STEP_H

#include "solver/step_context.h"

// All substeps of the bodies and constraints of `s`.
void run_substeps(step_context *s);
// impulse_form.c: substep i of TN_METHOD_TENON, and the end of its last one.
void substep_tenon(step_context *s, int i);
void finish_tenon(step_context *s);
// group_step.c: all substeps of every solver group.
void solve_groups(const step_context *shared, float dt, float scale);
// All substeps; as a watched run if `watch` is not NULL: it becomes true when something is not
// finite.
void solve_step(tn_world *world, float dt, float scale, bool *watch);

#endif
