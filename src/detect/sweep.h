// Continuous collision, the end of a step: no body passes through another one.
#ifndef TENON_DETECT_SWEEP_H
#define TENON_DETECT_SWEEP_H

#include <tenon/tenon.h>

// Room for the sweep of the awake bodies, before the substeps. False when out of memory.
bool sweep_reserve(tn_world *world);
// Call after the substeps, before bodies take their new poses. Changes displacement and velocity of
// each body that would end beyond a shape, or deep inside it.
void sweep_bodies(tn_world *world, float dt);

#endif
