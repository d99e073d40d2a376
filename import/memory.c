#include "memory.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16 };

struct memory_block {
  memory_block *next;
  size_t used, size;
  max_align_t data[];
};

static memory_block *add_block(memory *m, size_t bytes)
{
  size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
  memory_block *block = NULL;
  if (m->limit == 0 || (bytes <= m->limit && m->bytes <= m->limit - bytes)) {
    block = malloc(sizeof *block + size);
  }
  if (!block) {
    m->failed = true;
    return NULL;
  }
  block->next = m->blocks;
  block->used = 0;
  block->size = size;
  m->blocks = block;
  m->bytes += size;
  return block;
}

void *memory_take(memory *m, size_t count, size_t size)
{
  size_t step = sizeof(max_align_t);
  if (size && count > (SIZE_MAX / 4) / size) {
    m->failed = true;
    return NULL;
  }
  size_t bytes = (count * size + step - 1) / step * step;
  memory_block *block = m->blocks;
  if (!block || block->size - block->used < bytes) {
    block = add_block(m, bytes);
  }
  if (!block) {
    return NULL;
  }
  void *start = (char *)block->data + block->used;
  block->used += bytes;
  return memset(start, 0, bytes);
}

const char *memory_text(memory *m, const char *text, size_t length)
{
  char *copy = memory_take(m, length + 1, 1);
  if (!copy) {
    return "";
  }
  memcpy(copy, text, length);
  return copy;
}

void memory_free(memory *m)
{
  while (m->blocks) {
    memory_block *next = m->blocks->next;
    free(m->blocks);
    m->blocks = next;
  }
  m->bytes = 0;
}

bool memory_grow(memory *m, void **items, const int *count, int *capacity, size_t size)
{
  if (*count < *capacity) {
    return true;
  }
  if (*capacity > INT_MAX / 2) {
    m->failed = true;
    return false;
  }
  int wanted = *capacity ? 2 * *capacity : 8;
  void *grown = memory_take(m, (size_t)wanted, size);
  if (!grown) {
    return false;
  }
  if (*count) {
    memcpy(grown, *items, (size_t)*count * size);
  }
  *items = grown;
  *capacity = wanted;
  return true;
}
