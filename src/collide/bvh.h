// A tree of boxes around numbered items, in one flat array, and walks over it.
#ifndef TENON_COLLIDE_BVH_H
#define TENON_COLLIDE_BVH_H

#include "collide/geometry.h"

// The first child of a node follows it.
typedef struct bvh_node {
  aabb box;
  int link; // the second child, or ~item for a leaf
} bvh_node;

static inline int bvh_node_count(int items)
{
  return 2 * items - 1;
}

// `order` is scratch memory of `count` ints. The tree does not depend on the order of its halves'
// items, and every node halves the items of its parent.
void bvh_build(bvh_node *nodes, const aabb *boxes, int *order, int count);

// Half of at most 2^31 items is left at each level, and a level leaves one node waiting.
#define BVH_STACK_SIZE 32

// Visits the items whose boxes are met, nearer ones first as far as the tree knows. The caller may
// lower `limit` on the way to spare what is further.
typedef struct bvh_iterator {
  const bvh_node *nodes;
  tn_vec3 center, half, displacement;
  bool is_sweep;
  float limit; // fraction of the way, or square of the distance
  int stack_count;
  struct {
    int node;
    float key;
  } stack[BVH_STACK_SIZE];
} bvh_iterator;

// A box that moves by `way`; one at rest visits what it meets, one of no size is a ray.
bvh_iterator bvh_sweep(const bvh_node *nodes, aabb box, tn_vec3 displacement, float max_fraction);
bvh_iterator bvh_nearest(const bvh_node *nodes, tn_vec3 p, float max_distance);

// The next item, or -1.
int bvh_next(bvh_iterator *walk);

// ---------------------------------------------------------------------------------------------
// Boxes

static inline tn_vec3 vec3_min(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

static inline tn_vec3 vec3_max(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

static inline aabb aabb_from_points(tn_vec3 a, tn_vec3 b)
{
  return (aabb){vec3_min(a, b), vec3_max(a, b)};
}

static inline aabb aabb_union(aabb a, aabb b)
{
  return (aabb){vec3_min(a.lower, b.lower), vec3_max(a.upper, b.upper)};
}

static inline aabb aabb_expand(aabb a, float by)
{
  tn_vec3 d = tn_v3(by, by, by);
  return (aabb){tn_sub(a.lower, d), tn_add(a.upper, d)};
}

#endif
