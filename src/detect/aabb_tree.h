// Dynamic AABB tree, a binary bounding volume hierarchy. A world has one for static shapes and one
// for moving shapes.
#ifndef TENON_DETECT_AABB_TREE_H
#define TENON_DETECT_AABB_TREE_H

#include "base/heap.h"
#include "base/task.h"
#include "collide/world_aabb.h"

#include <tenon/types.h>

typedef struct tree_node {
  world_aabb box;
  int32_t parent, child[2]; // NO_SLOT: none; a leaf has no children
  int32_t height;           // 0 for a leaf, negative for a node not in use
  int32_t item;             // of a leaf: the user's number, a shape slot
  bool needs_refit;         // a leaf below has moved, and the box is not updated yet
  uint64_t category;        // filter bits of the item, or of all items below
} tree_node;

// An empty tree is all zero.
typedef struct tree {
  tree_node *nodes;
  int32_t count; // leaves
  int32_t root;  // valid if count > 0
  // Nodes: allocated, ever in use, and the head of the free list.
  int32_t capacity, used, first_free;
  int32_t cursor; // node where tree_optimize() continues
} tree;

// False when out of memory. `leaf` identifies the item in later calls.
bool tree_insert(heap *h, tree *t, world_aabb box, uint64_t category, int32_t item, int32_t *leaf);
void tree_remove(tree *t, int32_t leaf);
// Reinserts a leaf. Needs no memory.
void tree_move(tree *t, int32_t leaf, world_aabb box);
// The same for many leaves: a leaf whose new box overlaps the old one keeps its place, and its
// ancestors are only marked. Call tree_refit() before any other use of the tree.
void tree_move_lazily(tree *t, int32_t leaf, world_aabb box);
// On all threads of `tasks`, or on this one if it is null; the result is the same.
void tree_refit(tree *t, task_pool *tasks);
void tree_set_category(tree *t, int32_t leaf, uint64_t category);
void tree_release(heap *h, tree *t);
// tree_reserve() makes room for so many leaves, so that inserting them cannot fail; tree_clear()
// removes all leaves and keeps the memory.
bool tree_reserve(heap *h, tree *t, int32_t leaves);
void tree_clear(tree *t);
// Quality of the tree: surface area of all inner nodes, relative to the root.
double tree_cost(const tree *t);
// Incremental optimisation: visits at most `budget` nodes and reinserts the leaves among them.
void tree_optimize(tree *t, int32_t budget);

// Calls `visit` for every leaf whose box overlaps `box`, in an order that depends only on the tree;
// `visit` returns false to end the query.
typedef bool tree_visit_fn(int32_t item, void *context);
void tree_query(const tree *t, world_aabb box, tree_visit_fn *visit, void *context);

// Visits the leaves whose box, grown by `half`, meets the segment from `from` to `from` +
// max_fraction * displacement, nearer boxes first. `visit` returns the new max_fraction, negative
// to end the query.
typedef float tree_cast_fn(int32_t item, float max_fraction, void *context);
void tree_cast(const tree *t, tn_pos from, tn_vec3 displacement, tn_vec3 half, float max_fraction,
               tree_cast_fn *visit, void *context);

// Visits the leaves whose box is at most max_distance from the point, nearer boxes first; `visit`
// returns the new max_distance.
void tree_nearest(const tree *t, tn_pos point, float max_distance, tree_cast_fn *visit,
                  void *context);

#endif
