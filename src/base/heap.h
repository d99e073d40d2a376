// Memory of a world: the user's allocator, arrays that grow, and pools of slots.
#ifndef TENON_BASE_HEAP_H
#define TENON_BASE_HEAP_H

#include <tenon/base.h>

#include <stddef.h>

#define NO_SLOT (-1)

typedef struct heap {
  tn_allocator allocator;
  size_t bytes; // allocated now
} heap;

// Zeroed memory; null when out of memory.
void *heap_alloc(heap *h, size_t size);
void heap_free(heap *h, void *memory, size_t size);
// Reallocates `*array` from `capacity` to `new_capacity` elements of `size` bytes, of which the
// first `used` are copied and the new ones zero. False when out of memory, with nothing changed.
bool heap_grow(heap *h, void **array, int32_t used, int32_t capacity, int32_t new_capacity,
               size_t size);
// Makes room for `wanted` elements in an array that only grows.
bool heap_reserve(heap *h, void **array, int32_t *capacity, int32_t wanted, size_t size);

// Slots of an array that are reused after they are freed.
typedef struct pool {
  int32_t capacity, count; // count: slots in use
  int32_t used;            // slots that have ever been in use
  int32_t first_free;      // or NO_SLOT
} pool;

// A slot, or NO_SLOT when out of memory. Elements keep the next free slot `next_free` bytes from
// their start. A reused slot keeps its old bytes.
int32_t pool_alloc(heap *h, pool *list, void **array, size_t size, size_t next_free);
void pool_free(pool *list, void *array, size_t size, size_t next_free, int32_t slot);

#endif
