// Continuous collision, the end of a step: no body passes through another one.
#ifndef TENON_DETECT_SWEEP_H
#define TENON_DETECT_SWEEP_H

#include <tenon/tenon.h>

// Call after the substeps, before bodies take their new poses. Changes displacement and velocity of
// each body that would end beyond a shape, or deep inside it. False when out of memory.
bool sweep_bodies(tn_world *world, float dt);

#endif
