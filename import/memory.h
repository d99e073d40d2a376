// Memory of a model: everything that a reader makes lives until the model is freed.
#ifndef TENON_IMPORT_MEMORY_H
#define TENON_IMPORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct memory_block memory_block;

typedef struct memory {
  memory_block *blocks; // newest first
  size_t bytes, limit;  // taken so far, and the most that may be; a limit of 0 is none
  bool failed;          // something could not be had
} memory;

// Zeroed memory for `count` items, aligned for any type. Null if there is none; `failed` is then
// set, so that readers can go on and check once at the end.
void *memory_take(memory *m, size_t count, size_t size);
// A copy of `length` bytes and a terminating zero; "" if there is no memory.
const char *memory_text(memory *m, const char *text, size_t length);
void memory_free(memory *m);

// An array that grows. The item type comes first, so that lists of all types share the functions.
#define LIST(type)                                                                                 \
  struct {                                                                                         \
    type *items;                                                                                   \
    int count, capacity;                                                                           \
  }

// Adds a zeroed item and returns it, or null if there is no memory.
#define LIST_ADD(m, list)                                                                          \
  (memory_grow((m), (void **)&(list)->items, &(list)->count, &(list)->capacity,                    \
               sizeof *(list)->items)                                                              \
       ? &(list)->items[(list)->count++]                                                           \
       : NULL)
bool memory_grow(memory *m, void **items, const int *count, int *capacity, size_t size);

#endif
