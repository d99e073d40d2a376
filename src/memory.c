#include "world.h"

#include <string.h>

void *memory_take(tn_world *world, size_t size)
{
  void *memory = world->allocator.alloc(size, 64, world->allocator.context);
  if (memory) {
    memset(memory, 0, size);
    world->bytes += size;
  }
  return memory;
}

void memory_give(tn_world *world, void *memory, size_t size)
{
  if (memory) {
    world->bytes -= size;
    world->allocator.release(memory, size, world->allocator.context);
  }
}

bool memory_grow(tn_world *world, void **array, int32_t used, int32_t capacity,
                 int32_t new_capacity, size_t size)
{
  void *grown = memory_take(world, (size_t)new_capacity * size);
  if (!grown) {
    return false;
  }
  if (*array) {
    memcpy(grown, *array, (size_t)used * size);
    memory_give(world, *array, (size_t)capacity * size);
  }
  *array = grown;
  return true;
}

int32_t slot_take(tn_world *world, pool_list *list, void **array, size_t size, size_t next_free)
{
  if (list->first_free != NO_SLOT) {
    int32_t slot = list->first_free;
    memcpy(&list->first_free, (char *)*array + (size_t)slot * size + next_free, sizeof(int32_t));
    list->count += 1;
    return slot;
  }
  if (list->used == list->capacity) {
    int32_t capacity = list->capacity > 0 ? 2 * list->capacity : 32;
    if (!memory_grow(world, array, list->used, list->capacity, capacity, size)) {
      return NO_SLOT;
    }
    list->capacity = capacity;
  }
  list->count += 1;
  return list->used++;
}

void slot_give(pool_list *list, void *array, size_t size, size_t next_free, int32_t slot)
{
  memcpy((char *)array + (size_t)slot * size + next_free, &list->first_free, sizeof(int32_t));
  list->first_free = slot;
  list->count -= 1;
}

bool memory_reserve(tn_world *world, void **array, int32_t *capacity, int32_t wanted, size_t size)
{
  if (wanted <= *capacity) {
    return true;
  }
  int32_t grown = wanted + wanted / 2 + 32;
  if (!memory_grow(world, array, *capacity, *capacity, grown, size)) {
    return false;
  }
  *capacity = grown;
  return true;
}
