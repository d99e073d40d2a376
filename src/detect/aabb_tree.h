// Which shapes are close: boxes in trees, one for what never moves and one for what does.
#ifndef TENON_DETECT_AABB_TREE_H
#define TENON_DETECT_AABB_TREE_H

#include "base/heap.h"

#include <tenon/types.h>

// In double: the world is larger than a float resolves.
typedef struct world_aabb {
  tn_pos lower, upper;
} world_aabb;

typedef struct tree_node {
  world_aabb box;
  int32_t parent, child[2]; // NO_SLOT: none; a leaf has no children
  int32_t height;           // 0 for a leaf, negative for a node that is not in use
  int32_t item;             // of a leaf
  bool needs_refit;         // below it boxes have been shifted that its own does not know of
  uint64_t category;        // of a leaf's item, or of all below
} tree_node;

// Zeroed it is empty.
typedef struct tree {
  tree_node *nodes;
  int32_t count; // of leaves
  int32_t root;  // if there are any
  int32_t capacity, used, first_free;
  int32_t cursor; // where tree_optimize goes on
} tree;

bool tree_insert(heap *h, tree *t, world_aabb box, uint64_t category, int32_t item, int32_t *leaf);
void tree_remove(tree *t, int32_t leaf);
// Moves a leaf; no memory is needed for it.
void tree_move(tree *t, int32_t leaf, world_aabb box);
// The same for many: those that do not go far keep their places, and what is above them is brought
// up to date once for all of them, before anything else is done with the tree.
void tree_move_lazily(tree *t, int32_t leaf, world_aabb box);
void tree_refit(tree *t);
void tree_set_category(tree *t, int32_t leaf, uint64_t category);
void tree_release(heap *h, tree *t);
// Room for so many leaves, so that inserting them cannot fail; and without leaves again.
bool tree_reserve(heap *h, tree *t, int32_t leaves);
void tree_clear(tree *t);
// Surface area of all inner nodes over that of the root: how good the tree is.
double tree_cost(const tree *t);
// Does part of the work of keeping a tree good: at most `budget` nodes.
void tree_optimize(tree *t, int32_t budget);

// Calls `visit` for every leaf whose box overlaps, in an order that depends only on the tree;
// false ends the query.
typedef bool tree_visit_fn(int32_t item, void *context);
void tree_query(const tree *t, world_aabb box, tree_visit_fn *visit, void *context);

// The same for leaves whose box, grown by `half` on each side, is met by the way from `from`, the
// nearer boxes first; `visit` returns how far the query goes on, as a fraction of the way, or less
// than zero to end it.
typedef float tree_cast_fn(int32_t item, float max_fraction, void *context);
void tree_cast(const tree *t, tn_pos from, tn_vec3 displacement, tn_vec3 half, float max_fraction,
               tree_cast_fn *visit, void *context);

// The same for leaves whose box is at most `max_distance` from a point; `visit` returns the
// distance up to which the query goes on.
void tree_nearest(const tree *t, tn_pos point, float max_distance, tree_cast_fn *visit,
                  void *context);

// All comparisons, and one branch: nobody can tell which of them fails.
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
