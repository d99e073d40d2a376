// What the library asks of a C library, for the device module.
#include "device_libc.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Memory: of the arena of the world that a thread makes of a snapshot; else there is none. The size
// of a block lies before it.

#define HEAD 64

void device_set_heap(const tn_allocator *heap)
{
  *device_heap() = heap;
}

void *malloc(size_t size)
{
  const tn_allocator *heap = *device_heap();
  char *block = heap ? heap->alloc(size + HEAD, HEAD, heap->context) : NULL;
  if (!block) {
    return NULL;
  }
  *(size_t *)block = size + HEAD;
  return block + HEAD;
}

void *calloc(size_t count, size_t size)
{
  void *memory = malloc(count * size);
  return memory ? memset(memory, 0, count * size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
  (void)alignment; // at most HEAD
  return malloc(size);
}

void free(void *memory)
{
  if (memory) {
    const tn_allocator *heap = *device_heap();
    char *block = (char *)memory - HEAD;
    heap->release(block, *(size_t *)block, heap->context);
  }
}

// ---------------------------------------------------------------------------------------------
// Text and bytes

void log_to_stderr(tn_log_level level, const char *message, void *context);

void log_to_stderr(tn_log_level level, const char *message, void *context)
{
  (void)level, (void)message, (void)context;
}

int memcmp(const void *a, const void *b, size_t size)
{
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < size; ++i) {
    if (x[i] != y[i]) {
      return x[i] - y[i];
    }
  }
  return 0;
}

int strcmp(const char *a, const char *b)
{
  while (*a && *a == *b) {
    ++a, ++b;
  }
  return (unsigned char)*a - (unsigned char)*b;
}

size_t strlen(const char *text)
{
  size_t length = 0;
  while (text[length]) {
    ++length;
  }
  return length;
}

char *strcpy(char *to, const char *from)
{
  return memcpy(to, from, strlen(from) + 1);
}

char *strncpy(char *to, const char *from, size_t size)
{
  size_t i = 0;
  for (; i < size && from[i]; ++i) {
    to[i] = from[i];
  }
  for (; i < size; ++i) {
    to[i] = 0;
  }
  return to;
}

// ---------------------------------------------------------------------------------------------
// Numbers

// Exact, as IEEE 754 has it: subtracts |y| times falling powers of two from |x|.
double device_fmod(double x, double y)
{
  double rest = fabs(x), part = fabs(y);
  if (!(rest < INFINITY) || !(part > 0.0)) {
    return NAN;
  }
  while (rest >= fabs(y)) {
    part = fabs(y);
    while (part <= 0.5 * rest) {
      part *= 2.0;
    }
    rest -= part;
  }
  return signbit(x) ? -rest : rest;
}

// ---------------------------------------------------------------------------------------------
// Sort and search

typedef int order_fn(const void *, const void *);

static void swap(unsigned char *a, unsigned char *b, size_t size)
{
  for (size_t i = 0; i < size; ++i) {
    unsigned char byte = a[i];
    a[i] = b[i];
    b[i] = byte;
  }
}

// Moves an item of a heap down to its place.
static void sink(unsigned char *items, size_t at, size_t count, size_t size, order_fn *compare)
{
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    unsigned char *a = items + child * size;
    if (child + 1 < count && compare(a, a + size) < 0) {
      child += 1;
      a += size;
    }
    if (compare(items + at * size, a) >= 0) {
      return;
    }
    swap(items + at * size, a, size);
  }
}

void qsort(void *base, size_t count, size_t size, order_fn *compare)
{
  unsigned char *items = base;
  for (size_t i = count / 2; i > 0; --i) {
    sink(items, i - 1, count, size, compare);
  }
  for (size_t last = count; last > 1; --last) {
    swap(items, items + (last - 1) * size, size);
    sink(items, 0, last - 1, size, compare);
  }
}

void *bsearch(const void *key, const void *base, size_t count, size_t size, order_fn *compare)
{
  const unsigned char *items = base;
  size_t first = 0, last = count;
  while (first < last) {
    size_t middle = first + (last - first) / 2;
    int order = compare(key, items + middle * size);
    if (order == 0) {
      return (void *)(items + middle * size);
    }
    if (order < 0) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return NULL;
}
