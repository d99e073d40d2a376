// Shared by the tests of meshes, height fields and wires.
#ifndef TENON_TEST_SURFACES_H
#define TENON_TEST_SURFACES_H

#include "support.h"

#include "collide/surface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// An allocator that can fail

typedef struct pool {
  int until_failure; // negative: never
  int held;
} pool;

static inline void *pool_take(void *context, size_t size)
{
  pool *p = context;
  if (p->until_failure == 0) {
    return NULL;
  }
  p->until_failure -= p->until_failure > 0;
  p->held += 1;
  return malloc(size);
}

static inline void pool_give(void *context, void *memory, size_t size)
{
  pool *p = context;
  memset(memory, 0xa5, size); // also checks that the size is that of the block
  free(memory);
  p->held -= 1;
}

static pool endless = {-1, 0};

static inline collide_allocator memory_of(pool *p)
{
  return (collide_allocator){pool_take, pool_give, p};
}

// ---------------------------------------------------------------------------------------------
// Shapes

static const tn_vec3 zero = {0.0f, 0.0f, 0.0f};

static inline pose at(tn_vec3 p, tn_quat q)
{
  return (pose){p, q};
}

static inline geometry ball(float radius)
{
  return (geometry){.kind = TN_SHAPE_SPHERE, .radius = radius};
}

static inline geometry rod(float radius, float half_length)
{
  return (geometry){.kind = TN_SHAPE_CAPSULE, .radius = radius, .half_length = half_length};
}

static inline geometry block(float x, float y, float z)
{
  return (geometry){.kind = TN_SHAPE_BOX, .half_extents = {x, y, z}};
}

static inline geometry drum(float radius, float half_length)
{
  return (geometry){.kind = TN_SHAPE_CYLINDER, .radius = radius, .half_length = half_length};
}

// A random point over a rectangle, at a given height.
static inline tn_vec3 over(uint32_t *seed, float half_x, float y, float half_z)
{
  float x = test_between(seed, -half_x, half_x);
  return tn_v3(x, y, test_between(seed, -half_z, half_z));
}

static inline float deepest(const manifold *m, int count, int *which)
{
  float gap = INFINITY;
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < m[i].count; k++) {
      if (m[i].points[k].gap < gap) {
        gap = m[i].points[k].gap;
        *which = i;
      }
    }
  }
  return gap;
}

static inline float apart(tn_vec3 a, tn_vec3 b)
{
  return tn_length(tn_sub(a, b));
}

static inline void assert_refused(const void *made, const char *message, const char *part)
{
  assert_null(made);
  if (!strstr(message, part)) {
    fail_msg("wanted \"%s\", got \"%s\"", part, message);
  }
}

#endif
