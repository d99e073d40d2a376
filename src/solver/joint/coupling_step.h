// Couplings between records and the solver.
#ifndef TENON_SOLVER_JOINT_COUPLING_STEP_H
#define TENON_SOLVER_JOINT_COUPLING_STEP_H

#include "data/couplings.h"
#include "solver/mechanism/mechanism.h"

#include <tenon/tenon.h>

// Whether a coupling and all of its joints are enabled.
bool coupling_is_active(const tn_world *world, const coupling *k);
void coupling_clear_impulses(coupling *k);
// `impulse_scale` as of joint_begin_step().
void direct_coupling_begin_step(tn_world *world, direct_coupling *d, float dt, float impulse_scale);
// Results of the solved couplings, turns of the others.
void couplings_end_step(tn_world *world, float dt);
// Energy of its springs, J.
double coupling_elastic_energy(const tn_world *world, const coupling *k);

#endif
