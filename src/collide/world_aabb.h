// Axis-aligned boxes in world coordinates.
#ifndef TENON_COLLIDE_WORLD_AABB_H
#define TENON_COLLIDE_WORLD_AABB_H

#include <tenon/types.h>

// In double: float does not resolve all accepted positions.
typedef struct world_aabb {
  tn_pos lower, upper;
} world_aabb;

// All six comparisons and one branch: which of them fails is unpredictable.
static inline bool aabbs_overlap(const world_aabb *a, const world_aabb *b)
{
  int x = (a->lower.x <= b->upper.x) & (b->lower.x <= a->upper.x);
  int y = (a->lower.y <= b->upper.y) & (b->lower.y <= a->upper.y);
  int z = (a->lower.z <= b->upper.z) & (b->lower.z <= a->upper.z);
  return (x & y & z) != 0;
}

static inline bool aabb_contains(const world_aabb *a, const world_aabb *b)
{
  return a->lower.x <= b->lower.x && b->upper.x <= a->upper.x && a->lower.y <= b->lower.y &&
         b->upper.y <= a->upper.y && a->lower.z <= b->lower.z && b->upper.z <= a->upper.z;
}

#endif
