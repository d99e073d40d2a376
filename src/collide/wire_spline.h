// The axis of a wire: cubics, cut into nearly straight pieces with a tree of boxes around them.
//
// Every piece is again a cubic through its two knots with the tangents there. Neighbours share
// their knot, so that both of them agree, bit for bit, on which side of it a closest point lies:
// none is found twice or lost where pieces meet.
#ifndef TENON_COLLIDE_WIRE_SPLINE_H
#define TENON_COLLIDE_WIRE_SPLINE_H

#include "collide/bvh.h"
#include "collide/core.h"
#include "collide/surface.h"

typedef struct wire_knot {
  tn_vec3 position;
  tn_vec3 tangent; // by the cubic's parameter
  tn_vec3 heading; // the tangent or, where that is zero, from the knot before to the one after
} wire_knot;

typedef struct wire_piece {
  int cubic;
  float start, width; // of the cubic's parameter, which runs from 0 to 1
  float sagitta;      // the piece is no further from its chord
} wire_piece;

typedef struct wire_cubic {
  tn_vec3 c[4]; // position = c0 + s (c1 + s (c2 + s c3))
} wire_cubic;

struct wire {
  size_t size;
  int cubic_count, piece_count;
  bool closed;
  wire_cubic *cubics;
  wire_piece *pieces;
  wire_knot *knots; // one more than pieces; the last of a closed wire is the first again
  bvh_node *nodes;
};

// A place on the axis that is closest to something, at least among its neighbours.
typedef struct wire_location {
  int piece;
  double u;        // from 0 to 1 along the piece
  d3 point;        // on the axis
  d3 target;       // what it is closest to
  double distance; // between the two
} wire_location;

// By the piece's control points.
d3 piece_point(const wire *w, int piece, double u);
d3 piece_tangent(const wire *w, int piece, double u);                 // of any length
float wire_location_parameter(const wire *w, const wire_location *p); // of its cubic, 0 to 1

// The place of one piece that is closest to `q`.
wire_location piece_closest(const wire *w, int piece, d3 q);

// The place of the whole wire that is closest to `q`; false when none is within the distance.
bool wire_nearest(const wire *w, d3 q, float max_distance, wire_location *out);

// All places whose distance is a local minimum and at most `limit`, in order along the wire; the
// nearest ones when there are more than `capacity`.
int wire_local_minima(const wire *w, d3 q, double limit, wire_location *out, int capacity);
int wire_segment_local_minima(const wire *w, const d3 segment[2], double limit, wire_location *out,
                              int capacity);

#endif
