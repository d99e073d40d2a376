// Memory of worlds on a device: the words of 32 worlds lie beside each other. Word k of lane l is
// word 32 k + l of the group. weave.cpp turns each access into one of such memory.
#ifndef TENON_DEVICE_WOVEN_H
#define TENON_DEVICE_WOVEN_H

#include <stddef.h>
#include <stdint.h>

#define WOVEN_LANES 32
#define WOVEN_SHIFT 5 // log2 of WOVEN_LANES
#define WOVEN_LANE 48 // bit of a pointer from which on it has the lane
#define WOVEN_MARK ((uint64_t)1 << 62)
#define WOVEN_ALIGNMENT 2048 // of a group, bytes: 64 of a world

// A pointer to the first byte of a lane's memory; `group` is aligned.
static inline void *woven_pointer(const void *group, int lane)
{
  uint64_t first = (uint64_t)(uintptr_t)group >> WOVEN_SHIFT;
  return (void *)(uintptr_t)(WOVEN_MARK | (uint64_t)lane << WOVEN_LANE | first);
}

// memcpy, memmove and memset of memory that may be woven.
void woven_copy(void *to, const void *from, size_t size);
void woven_move(void *to, const void *from, size_t size);
void woven_fill(void *to, uint8_t value, size_t size);

#endif
