// Islands and sleep.
#ifndef TENON_SOLVER_ISLANDS_H
#define TENON_SOLVER_ISLANDS_H

#include <tenon/tenon.h>

bool sleep_update(tn_world *world, float dt);
// Put a body or soft body to sleep, with everything that it touches. False when out of memory.
bool body_sleep(tn_world *world, int32_t slot);
bool soft_sleep(tn_world *world, int32_t slot);

#endif
