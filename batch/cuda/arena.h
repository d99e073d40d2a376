// Memory of one world on a device: a range of bytes in which blocks are taken and given back. The
// blocks that are free form a list by address; neighbours are joined.
#ifndef TENON_DEVICE_ARENA_H
#define TENON_DEVICE_ARENA_H

#include <tenon/base.h>

#include <stddef.h>
#include <stdint.h>

typedef struct free_block {
  struct free_block *next;
  size_t size;
} free_block;

// At the start of its range.
typedef struct arena {
  free_block *first;
  size_t size, used, most; // bytes, the arena itself included; most that was ever used
} arena;

// `memory` must be aligned to 64 bytes and have room for an arena and a block.
void arena_open(arena *memory, size_t size);
tn_allocator arena_allocator(arena *a);

#endif
