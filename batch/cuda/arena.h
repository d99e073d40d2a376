// Memory of one world on a device: a range of bytes in which blocks are taken and given back. The
// blocks that are free form a list by address; neighbours are joined.
//
// A step that fails half-way for want of memory could not be taken again with the same bits. What
// an arena has no room for comes therefore from a pool that all worlds share: the world ends its
// step, is found to have overflowed, and leaves the device.
#ifndef TENON_DEVICE_ARENA_H
#define TENON_DEVICE_ARENA_H

#include <tenon/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct free_block {
  struct free_block *next;
  size_t size;
} free_block;

typedef struct arena_pool {
  char *bytes;
  uint64_t size, used; // blocks are not given back one by one
} arena_pool;

// At the start of its range.
typedef struct arena {
  free_block *first;
  arena_pool *pool;        // null: none
  bool overflowed;         // has taken from the pool
  size_t size, used, most; // bytes, the arena itself included; most that was ever used
} arena;

// `memory` must be aligned to 64 bytes and have room for an arena and a block.
void arena_open(arena *memory, size_t size, arena_pool *pool);
tn_allocator arena_allocator(arena *a);

#endif
