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
bool room_make(batch_world *w, arena *a, size_t size, arena_pool *pool, const tn_world *original);
// The same of a snapshot; the world then has its own geometries.
bool room_put(batch_world *w, arena *a, size_t size, arena_pool *pool, const void *snapshot,
              size_t snapshot_size);
// Puts a saved state into the world.
bool room_reset(batch_world *w, const void *state, size_t state_size);

#endif
