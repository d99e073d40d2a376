// Of the device module.
#ifndef TENON_DEVICE_STDLIB_H
#define TENON_DEVICE_STDLIB_H

#include <stddef.h>

#define abs __builtin_abs

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *memory);
void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *));
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
