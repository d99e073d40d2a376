#include "arena.h"

#define UNIT 64 // all blocks are multiples of it, and aligned to it

static size_t whole_units(size_t size)
{
  return (size + UNIT - 1) / UNIT * UNIT;
}

void arena_open(arena *a, size_t size, arena_pool *pool)
{
  size_t head = whole_units(sizeof *a);
  a->first = (free_block *)((char *)a + head);
  a->first->next = NULL;
  a->first->size = size / UNIT * UNIT - head;
  a->size = size;
  a->pool = pool;
  a->overflowed = false;
  a->used = a->most = head;
}

// Threads of a device take at the same time.
static uint64_t advance(uint64_t *used, size_t size)
{
#if defined(__NVPTX__)
  return (uint64_t)__nvvm_atom_add_gen_ll((long long *)used, (long long)size);
#else
  return __atomic_fetch_add(used, size, __ATOMIC_RELAXED);
#endif
}

static void *take_from_pool(arena *a, size_t size)
{
  arena_pool *pool = a->pool;
  if (!pool || size > pool->size) {
    return NULL;
  }
  uint64_t at = advance(&pool->used, size);
  a->overflowed = true;
  return at <= pool->size - size ? pool->bytes + at : NULL;
}

// The first block that is large enough gives its end.
static void *take(size_t size, size_t alignment, void *context)
{
  arena *a = context;
  (void)alignment; // at most UNIT
  size = size > 0 ? whole_units(size) : UNIT;
  free_block **link = &a->first;
  while (*link && (*link)->size < size) {
    link = &(*link)->next;
  }
  free_block *block = *link;
  if (!block) {
    return take_from_pool(a, size);
  }
  a->used += size;
  a->most = a->used > a->most ? a->used : a->most;
  if (block->size == size) {
    *link = block->next;
    return block;
  }
  block->size -= size;
  return (char *)block + block->size;
}

static void join_next(free_block *block)
{
  if (block->next && (char *)block + block->size == (char *)block->next) {
    block->size += block->next->size;
    block->next = block->next->next;
  }
}

static void give_back(void *memory, size_t size, void *context)
{
  arena *a = context;
  size = size > 0 ? whole_units(size) : UNIT;
  if ((char *)memory < (char *)a || (char *)memory >= (char *)a + a->size) {
    return; // of the pool
  }
  free_block *before = NULL, *block = memory;
  for (free_block *at = a->first; at && at < block; at = at->next) {
    before = at;
  }
  block->size = size;
  block->next = before ? before->next : a->first;
  if (before) {
    before->next = block;
  } else {
    a->first = block;
  }
  a->used -= size;
  join_next(block);
  if (before) {
    join_next(before);
  }
}

tn_allocator arena_allocator(arena *a)
{
  return (tn_allocator){take, give_back, a};
}
