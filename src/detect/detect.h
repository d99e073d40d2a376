// Detection of contacts, once a step.
#ifndef TENON_DETECT_DETECT_H
#define TENON_DETECT_DETECT_H

#include "collide/manifold.h"

#include <tenon/tenon.h>

// Broad phase and narrow phase. False when out of memory.
bool detect_contacts(tn_world *world, float dt);
// The narrow phase wakes bodies that are touched, and is repeated until it wakes none, for they may
// touch others.
bool narrow_phase_repeat(tn_world *world, float dt);
bool narrow_phase_update(tn_world *world, float dt);
void pair_remove_contacts(tn_world *world, int32_t pair_slot);

// Replaces the contacts of a pair by those met on the path of a bouncing body. False when out of
// memory.
bool continuous_add_contacts(tn_world *world, int32_t a, int32_t b, const manifold *list,
                             int count);
// Removes those contacts of a pair whose bit is set, by their place in its list.
void pair_remove_contacts_of(tn_world *world, int32_t pair_slot, uint32_t places);
// Removes contacts that only exist because a flat surface is made of many shapes or facets. False
// when out of memory.
bool ghost_contacts_remove(tn_world *world, float dt); // detect/ghost_contacts.c
bool continuous_update(tn_world *world, float dt);     // detect/continuous.c

#endif
