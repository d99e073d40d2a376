// Memory of worlds on a device: the words of 32 worlds lie beside each other. Word k of lane l is
// word 32 k + l of the group. weave.cpp turns each access into one of such
// memory.
#ifndef TENON_DEVICE_WOVEN_H
#define TENON_DEVICE_WOVEN_H

#include <stddef.h>
#include <stdint.h>

#define WOVEN_LANES 32
#define WOVEN_SHIFT 5                  // log2 of WOVEN_LANES
#define WOVEN_MARK ((uint64_t)1 << 62) // of a pointer; below it is the offset in a world, 32 bits

// The address of the first word of the world that runs; of the device.
uint64_t woven_lane(void);

// memcpy, memmove and memset of memory that may be woven.
void woven_copy(void *to, const void *from, size_t size);
void woven_move(void *to, const void *from, size_t size);
void woven_fill(void *to, uint8_t value, size_t size);

#endif
