// Manifolds of one pair while they are being collected: the same contact found twice is kept once,
// and what is too much gives way by depth.
#ifndef TENON_COLLIDE_MANIFOLD_LIST_H
#define TENON_COLLIDE_MANIFOLD_LIST_H

#include "collide/manifold.h"

#define MANIFOLD_LIST_CAPACITY 48

typedef struct manifold_list {
  int count;
  float size; // of the shape: contacts a small part of it apart are the same
  manifold items[MANIFOLD_LIST_CAPACITY];
} manifold_list;

float manifold_gap(const manifold *m); // of the deepest point

// Whether every point of `m` is one of `other`, in much the same direction.
bool manifold_is_contained(const manifold *m, const manifold *other, float size);

void manifold_list_add(manifold_list *list, const manifold *m);

// At most four of `count` points, as manifold_reduce, but of points in a line the ends.
void manifold_reduce_extremes(manifold *m, manifold_point *points, int count);

// The deepest first; flat ones of nearly the same normal become one. Their `child` differ.
int manifold_list_finish(const manifold_list *list, manifold *out, int capacity);

#endif
