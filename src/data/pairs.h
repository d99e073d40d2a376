// Pairs of shapes, and the list of them that each shape has.
#ifndef TENON_DATA_PAIRS_H
#define TENON_DATA_PAIRS_H

#include "collide/geometry.h"

#include <tenon/types.h>

// Two shapes whose fat boxes overlap.
typedef struct pair {
  int32_t next_free;
  bool alive;
  bool sensor;   // only tests for overlap, has no contacts
  bool touching; // a begin event was sent, and no end event
  bool is_new;   // never collided, or a shape has changed since
  int32_t shape[2];
  int32_t body[2];
  int32_t sort_body; // the first of the two bodies that is not static: sort key of the pair list
  int32_t first_contact; // slot, or NO_SLOT
  bool round;            // sphere or capsule against the same: handled in lanes
  bool multi_manifold;   // a mesh, height field or wire takes part: up to MAX_MANIFOLDS
  bool stale_pose;       // manifold_pose is out of date
  bool initial_overlap;  // the shapes have overlapped since the pair was created
  bool deep;             // counts towards `crowd` of both shapes
  float min_gap;         // lower bound of the gap at manifold_pose, m; 0: unknown
  double travel_limit;   // the shapes cannot touch while the sum of their `travel` is below it, m
  int32_t next[2], previous[2]; // in each shape's list: pair * 2 + side, or NO_SLOT
  pose manifold_pose;           // of B in A's frame when the manifolds were found
  core_start start;             // for the next search
} pair;

#endif
