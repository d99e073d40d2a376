// A copy of a world in an arena, made in the same way on a device and on the host, which measures
// it.
#ifndef TENON_DEVICE_ROOM_H
#define TENON_DEVICE_ROOM_H

#include "arena.h"
#include "batch_world.h"

// The definition of a world that has its memory from `memory` and says nothing.
tn_world_def room_def(tn_allocator memory);
// Opens an arena and makes a copy in it. Its state is saved, and what putting it back takes is held
// in spare, so that a world that has used up the rest can be reset. False if the arena is too
// small.
bool room_make(batch_world *w, arena *a, size_t size, const tn_world *original);
// Puts a saved state back.
bool room_reset(batch_world *w, const batch_state *s);

#endif
