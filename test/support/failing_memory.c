#include "failing_memory.h"

#include <errno.h>
#include <stdlib.h>

// The linker's names for the functions that are wrapped, and for the wrappers.
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);

static int until = -1, asked;
static bool failed;
static long live;

void memory_fail_at(int until_failure)
{
  until = until_failure;
  asked = 0;
  failed = false;
}

bool memory_has_failed(void)
{
  until = -1;
  return failed;
}

int memory_asked(void)
{
  return asked;
}

long memory_live(void)
{
  return live;
}

static bool refuses(void)
{
  if (until < 0 || asked++ != until) {
    asked += until < 0;
    return false;
  }
  failed = true;
  errno = ENOMEM;
  return true;
}

static void *count(void *memory)
{
  live += memory != NULL;
  return memory;
}

void *__wrap_malloc(size_t size)
{
  return refuses() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
  return refuses() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
  if (refuses()) {
    return NULL;
  }
  void *moved = __real_realloc(memory, size);
  live += !memory && moved;
  return moved;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return refuses() ? NULL : count(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory)
{
  live -= memory != NULL;
  __real_free(memory);
}
