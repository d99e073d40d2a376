// Growing arrays and slot pools on top of the user's allocator; see heap.h.
#include "base/heap.h"

#include <string.h>

void *heap_alloc(heap *h, size_t size)
{
  bool fits = h->limit == 0 || (h->bytes <= h->limit && size <= h->limit - h->bytes);
  void *memory = fits ? h->allocator.alloc(size, 64, h->allocator.context) : NULL;
  if (memory) {
    memset(memory, 0, size);
    h->bytes += size;
  }
  return memory;
}

void heap_free(heap *h, void *memory, size_t size)
{
  if (memory) {
    h->bytes -= size;
    h->allocator.release(memory, size, h->allocator.context);
  }
}

bool heap_grow(heap *h, void **array, int32_t used, int32_t capacity, int32_t new_capacity,
               size_t size)
{
  void *grown = heap_alloc(h, (size_t)new_capacity * size);
  if (!grown) {
    return false;
  }
  if (*array) {
    memcpy(grown, *array, (size_t)used * size);
    heap_free(h, *array, (size_t)capacity * size);
  }
  *array = grown;
  return true;
}

// Elements that `bytes` hold, from 2 to 32: a world of a few bodies is to take little memory.
static int32_t elements_in(size_t bytes, size_t size)
{
  size_t count = bytes / size;
  return count < 2 ? 2 : count > 32 ? 32 : (int32_t)count;
}

int32_t pool_alloc(heap *h, pool *list, void **array, size_t size, size_t next_free)
{
  if (list->first_free != NO_SLOT) {
    int32_t slot = list->first_free;
    memcpy(&list->first_free, (char *)*array + (size_t)slot * size + next_free, sizeof(int32_t));
    list->count += 1;
    return slot;
  }
  if (list->used == list->capacity) {
    int32_t capacity = list->capacity > 0 ? 2 * list->capacity : elements_in(8192, size);
    if (!heap_grow(h, array, list->used, list->capacity, capacity, size)) {
      return NO_SLOT;
    }
    list->capacity = capacity;
  }
  list->count += 1;
  return list->used++;
}

void pool_free(pool *list, void *array, size_t size, size_t next_free, int32_t slot)
{
  memcpy((char *)array + (size_t)slot * size + next_free, &list->first_free, sizeof(int32_t));
  list->first_free = slot;
  list->count -= 1;
}

void pool_cancel(pool *list, void *array, size_t size, size_t next_free, int32_t slot, int32_t used)
{
  if (slot < used) {
    pool_free(list, array, size, next_free, slot);
  } else {
    list->used = used;
    list->count -= 1;
  }
}

bool heap_reserve(heap *h, void **array, int32_t *capacity, int32_t wanted, size_t size)
{
  if (wanted <= *capacity) {
    return true;
  }
  int32_t grown = wanted + wanted / 4 + elements_in(2048, size);
  if (!heap_grow(h, array, *capacity, *capacity, grown, size)) {
    return false;
  }
  *capacity = grown;
  return true;
}
