// Makes hull shapes with the C library's memory.
#ifndef TENON_TEST_HULL_SHAPES_H
#define TENON_TEST_HULL_SHAPES_H

#include "solids.h"

#include "collide/surface.h"

#include <stdlib.h>

static inline void *take_memory(void *context, size_t size)
{
  (void)context;
  return malloc(size);
}

static inline void give_memory(void *context, void *memory, size_t size)
{
  (void)context;
  (void)size;
  free(memory);
}

static const collide_allocator heap = {take_memory, give_memory, NULL};

static inline convex_hull *make_convex(const tn_vec3 *points, int count, int max_vertices)
{
  char why[128];
  convex_hull *c = convex_hull_create(points, count, max_vertices, heap, why, sizeof why);
  if (!c) {
    fail_msg("no hull of %d points: %s", count, why);
  }
  return c;
}

#endif
