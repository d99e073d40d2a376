// Convex hull of a point set, with polygonal faces.
#ifndef TENON_COLLIDE_QUICKHULL_H
#define TENON_COLLIDE_QUICKHULL_H

#include "collide/d3.h"

// A half-edge. The edges of a face are contiguous in hull.edges and form a cycle.
typedef struct hull_edge {
  int origin; // vertex it starts from
  int twin;   // the opposite half-edge, of the neighbouring face
  int face;
} hull_edge;

// The plane of a face: dot(normal, p) <= offset for all points p of the hull, and >= offset -
// flatness for the corners of the face.
typedef struct hull_face {
  d3 normal; // unit, outward
  double offset;
  int first_edge, edge_count; // counter-clockwise seen from outside
} hull_face;

typedef struct hull {
  d3 *vertices;
  int *sources; // index of the input point of each vertex
  hull_edge *edges;
  hull_face *faces;
  int vertex_count, edge_count, face_count; // edge_count counts half-edges
} hull;

// Largest distance from a common plane that rounding to float alone gives coplanar points.
double hull_rounding_error(const tn_vec3 *points, int count);

#define HULL_NO_MEMORY "out of memory"

// Vertices are input points, snapped to a grid of 2^-28 of the largest extent, in input order.
// Adjacent triangles whose corners lie within `flatness` (m) of one plane are merged into a polygon
// if that is convex; zero merges only exactly coplanar ones. Duplicate and interior points are
// allowed. On failure `out` is empty and `message` names the cause.
bool hull_build(const tn_vec3 *points, int count, double flatness, hull *out, char *message,
                size_t message_size);
void hull_free(hull *h);

#endif
