// The axis of a wire: a chain of cubics, cut into nearly straight pieces with a BVH over them.
//
// Each piece is a cubic Hermite segment between two knots. Neighbours share their knot, so both
// decide bit for bit alike on which side of it a closest point lies: none is found twice or lost
// where pieces meet.
#ifndef TENON_COLLIDE_WIRE_SPLINE_H
#define TENON_COLLIDE_WIRE_SPLINE_H

#include "collide/bvh.h"
#include "collide/core.h"
#include "collide/surface.h"

typedef struct wire_knot {
  tn_vec3 position;
  tn_vec3 tangent; // derivative by the cubic's parameter
  tn_vec3 heading; // the tangent, or where that is zero, previous knot to next
} wire_knot;

// Part of a cubic; piece i runs from knot i to knot i + 1.
typedef struct wire_piece {
  int cubic;
  float start, width; // interval of the cubic's parameter, within [0, 1]
  float sagitta;      // m, upper bound of the distance from the piece to its chord
} wire_piece;

typedef struct wire_cubic {
  tn_vec3 c[4]; // position = c0 + s (c1 + s (c2 + s c3))
} wire_cubic;

struct wire {
  size_t size; // of the memory block, bytes
  int cubic_count, piece_count;
  bool closed;
  wire_cubic *cubics;
  wire_piece *pieces;
  wire_knot *knots; // piece_count + 1; the last knot of a closed wire repeats the first
  bvh_node *nodes;
};

// A point of the axis whose distance to a target (a point, or a segment) is a local minimum.
typedef struct wire_location {
  int piece;
  double u;        // parameter within the piece, from 0 to 1
  d3 point;        // on the axis
  d3 target;       // the closest point of the target
  double distance; // between `point` and `target`
} wire_location;

// Evaluate a piece by its control points.
d3 piece_point(const wire *w, int piece, double u);
d3 piece_tangent(const wire *w, int piece, double u);                 // of any length
float wire_location_parameter(const wire *w, const wire_location *p); // of its cubic, 0 to 1

// The point of one piece that is closest to `q`.
wire_location piece_closest(const wire *w, int piece, d3 q);

// The point of the whole wire that is closest to `q`. Returns false when it is further than
// `max_distance`.
bool wire_nearest(const wire *w, d3 q, float max_distance, wire_location *out);

// All points where the distance to `q`, or to a segment, has a local minimum of at most `limit`, in
// order along the wire; the nearest ones when there are more than `capacity`. Returns their number.
int wire_local_minima(const wire *w, d3 q, double limit, wire_location *out, int capacity);
int wire_segment_local_minima(const wire *w, const d3 segment[2], double limit, wire_location *out,
                              int capacity);

#endif
