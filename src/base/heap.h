// Memory of a world: the user's allocator, growing arrays, and pools of slots. Failed allocations
// are reported by return values and change nothing.
#ifndef TENON_BASE_HEAP_H
#define TENON_BASE_HEAP_H

#include <tenon/base.h>

#include <stddef.h>

#define NO_SLOT (-1)

typedef struct heap {
  tn_allocator allocator;
  size_t bytes; // currently allocated
  size_t limit; // of `bytes`; 0: none
} heap;

// Zeroed memory, aligned to a cache line (64 bytes); null when out of memory.
void *heap_alloc(heap *h, size_t size);
// `size` is that of the allocation; `memory` may be null.
void heap_free(heap *h, void *memory, size_t size);
// Reallocates `*array` from `capacity` to `new_capacity` elements of `size` bytes, of which the
// first `used` are copied and the new ones zero. False when out of memory, with nothing changed.
bool heap_grow(heap *h, void **array, int32_t used, int32_t capacity, int32_t new_capacity,
               size_t size);
// Grows an array to at least `wanted` elements, with half as much again in reserve; it never
// shrinks. False when out of memory.
bool heap_reserve(heap *h, void **array, int32_t *capacity, int32_t wanted, size_t size);

// Slots of an array; freed slots form a list and are reused, the last one first.
typedef struct pool {
  int32_t capacity, count; // allocated slots; slots in use
  int32_t used;            // slots that have ever been in use: loops run over [0, used)
  int32_t first_free;      // head of the list of freed slots, or NO_SLOT
} pool;

// A slot, or NO_SLOT when out of memory. Elements keep the next free slot `next_free` bytes from
// their start. A reused slot keeps its old bytes.
int32_t pool_alloc(heap *h, pool *list, void **array, size_t size, size_t next_free);
void pool_free(pool *list, void *array, size_t size, size_t next_free, int32_t slot);
// Undoes the last pool_alloc(), for an object that could not be made; `used` is that before it.
void pool_cancel(pool *list, void *array, size_t size, size_t next_free, int32_t slot,
                 int32_t used);

#endif
