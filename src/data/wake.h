// Waking of bodies and soft bodies.
#ifndef TENON_DATA_WAKE_H
#define TENON_DATA_WAKE_H

#include <tenon/tenon.h>

// Place in a sleep ring: body slots and, from -2 downwards, soft bodies. The function is its own
// inverse.
int32_t sleep_ring_index(int32_t soft_slot);
void body_wake(tn_world *world, int32_t body_slot);
void soft_wake(tn_world *world, int32_t slot);
void wake_all(tn_world *world);
// Updates `awake` and `active_blocks` if stale; costs nothing for bodies that did not change. False
// when out of memory.
bool awake_list_update(tn_world *world);
// The body may begin or cease to move: it was created, woken, put to sleep or changed its type.
void awake_list_note(tn_world *world, int32_t body_slot);

#endif
