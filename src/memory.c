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
