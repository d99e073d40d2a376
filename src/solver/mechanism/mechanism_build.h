// Mechanisms of a world: which joints they consist of, and how their steps begin.
#ifndef TENON_SOLVER_MECHANISM_MECHANISM_BUILD_H
#define TENON_SOLVER_MECHANISM_MECHANISM_BUILD_H

#include "solver/mechanism/mechanism.h"

#include <tenon/tenon.h>

// Groups `count` joints, in slot order, into mechanisms. A mechanism whose elimination would fill
// in too much is left out: its joints keep direct == NO_SLOT and go to Gauss-Seidel.
bool mechanisms_build(tn_world *world, const int32_t *joints, int32_t count);
void mechanisms_release(tn_world *world);
// solver/mechanism/mechanism_batch.c: mechanisms solved side by side in lanes, and blocks of joint
// Jacobians.
bool batches_build(tn_world *world);
void batches_begin_step(tn_world *world);
void batches_release(tn_world *world);
// Lists the contacts of mechanisms. False when out of memory.
bool warm_contacts_list(tn_world *world);

#endif
