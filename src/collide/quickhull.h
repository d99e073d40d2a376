// Convex hull of points, as polygons.
#ifndef TENON_COLLIDE_QUICKHULL_H
#define TENON_COLLIDE_QUICKHULL_H

#include "tenon/math.h"

typedef struct d3 {
  double x, y, z;
} d3;

static inline d3 d3_add(d3 a, d3 b)
{
  return (d3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline d3 d3_sub(d3 a, d3 b)
{
  return (d3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline d3 d3_scale(double s, d3 a)
{
  return (d3){s * a.x, s * a.y, s * a.z};
}

static inline double d3_dot(d3 a, d3 b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline d3 d3_cross(d3 a, d3 b)
{
  return (d3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A half-edge; the next one of its face follows it in hull.edges, cyclically.
typedef struct hull_edge {
  int origin; // the vertex it starts from
  int twin;   // the same edge seen from the face beyond
  int face;
} hull_edge;

// No point of the hull has dot(normal, p) > offset, and the corners of the face have it at least
// offset - flatness.
typedef struct hull_face {
  d3 normal; // unit, outward
  double offset;
  int first_edge, edge_count; // counter-clockwise from outside
} hull_face;

typedef struct hull {
  d3 *vertices;
  int *sources; // the input point each vertex is
  hull_edge *edges;
  hull_face *faces;
  int vertex_count, edge_count, face_count; // edge_count is that of half-edges
} hull;

// The largest distance from their common plane that rounding to float alone gives points.
double hull_rounding_error(const tn_vec3 *points, int count);

// Vertices are the input points to within 2^-28 of the largest extent, in the same order.
// Neighbouring triangles whose corners lie within `flatness` of one plane become one polygon if
// that is convex; zero merges what is exactly flat. Duplicates and points inside are fine. On
// failure `out` is empty and `message` names the cause.
bool hull_build(const tn_vec3 *points, int count, double flatness, hull *out, char *message,
                size_t message_size);
void hull_free(hull *h);

#endif
