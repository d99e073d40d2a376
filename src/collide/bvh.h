// Bounding volume hierarchy over numbered items: a static binary tree of AABBs in one flat array,
// built once per mesh or wire, with iterators for sweeps and nearest-point queries.
#ifndef TENON_COLLIDE_BVH_H
#define TENON_COLLIDE_BVH_H

#include "collide/geometry.h"

// Nodes are in depth-first order: the first child directly follows its parent.
typedef struct bvh_node {
  aabb box;
  int link; // index of the second child, or ~item for a leaf
} bvh_node;

static inline int bvh_node_count(int items)
{
  return 2 * items - 1;
}

// Builds the bvh_node_count(count) nodes. Each node splits its items at the median of their centres
// along the widest axis, so the depth is log2(count). The tree is deterministic: ties are broken by
// item index. `order` is scratch memory of `count` ints.
void bvh_build(bvh_node *nodes, const aabb *boxes, int *order, int count);

// The depth is at most 31 for 2^31 items, and each level leaves at most one sibling on the stack.
#define BVH_STACK_SIZE 32

// Iterates over the items whose boxes are hit, nearer subtrees first. The caller may lower `limit`
// between calls to prune everything beyond the best result so far.
typedef struct bvh_iterator {
  const bvh_node *nodes;
  tn_vec3 center, half, displacement; // of the swept box; or the query point in `center`
  bool is_sweep;                      // else a nearest-point query
  float limit; // sweep: fraction of the displacement; nearest: squared distance
  int stack_count;
  struct {
    int node;
    float key; // lower bound of what `limit` is compared with, for the whole subtree
  } stack[BVH_STACK_SIZE];
} bvh_iterator;

// Items hit by `box` moving along `displacement`. With zero displacement: the items it overlaps;
// with a box of zero size: a ray.
bvh_iterator bvh_sweep(const bvh_node *nodes, aabb box, tn_vec3 displacement, float max_fraction);
// Items whose boxes are within `max_distance` of `p`.
bvh_iterator bvh_nearest(const bvh_node *nodes, tn_vec3 p, float max_distance);

// The next item, or -1.
int bvh_next(bvh_iterator *walk);

// Calls `visit` for each item whose box overlaps `box`.
void bvh_overlaps(const bvh_node *nodes, aabb box, void (*visit)(void *context, int item),
                  void *context);

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
