// Collects the manifolds of one pair of a surface and a convex shape. Duplicates of a contact are
// kept once; when the list is full, the deepest manifolds stay.
#ifndef TENON_COLLIDE_MANIFOLD_LIST_H
#define TENON_COLLIDE_MANIFOLD_LIST_H

#include "collide/manifold.h"

#define MANIFOLD_LIST_CAPACITY 48

typedef struct manifold_list {
  int count;
  float size; // m, of the convex shape; distances small against it count as equal
  manifold items[MANIFOLD_LIST_CAPACITY];
} manifold_list;

float manifold_gap(const manifold *m); // smallest gap of its points; infinite without points

// Whether every point of `m` is also a point of `other`, with nearly the same normal.
bool manifold_is_contained(const manifold *m, const manifold *other, float size);

// Adds `m` unless a contained or containing manifold of at least its depth is there.
void manifold_list_add(manifold_list *list, const manifold *m);

// Adds a point to `count` others unless one of them is there already. Returns the new count.
int manifold_add_point(manifold_point *points, int count, const manifold_point *p, float size);

// Like manifold_reduce, but of points in a row it keeps the ends. Reorders `points`.
void manifold_reduce_extremes(manifold *m, manifold_point *points, int count);

// Writes the manifolds, deepest first. MANIFOLD_FLAT ones with nearly equal normals are merged, and
// `child` ids are made unique. Returns their number.
int manifold_list_finish(const manifold_list *list, manifold *out, int capacity);

#endif
