// Polygons above a reference face: clipping to the face's sides, and reduction to the points that a
// manifold keeps.
#ifndef TENON_COLLIDE_CLIP_H
#define TENON_COLLIDE_CLIP_H

#include <tenon/math.h>

#define MAX_FACE_VERTICES 256                     // of a reference or incident face
#define MAX_CLIP_VERTICES (2 * MAX_FACE_VERTICES) // of an incident face clipped by a reference face

// A vertex in the frame of the reference face: u and v in its plane, height above it, in metres.
// `in` and `out` identify the polygon edges that meet at the vertex: edges of the incident polygon
// by their index, sides of the reference face by index + MAX_FACE_VERTICES. The pair is the
// vertex's feature id.
typedef struct clip_vertex {
  float u, v, height;
  uint16_t in, out;
} clip_vertex;

// A closed polygon for three or more vertices; two are an open segment, one is a point.
typedef struct clip_polygon {
  int count;
  clip_vertex vertex[MAX_CLIP_VERTICES];
} clip_polygon;

// A side of the reference face, with (u, v) its unit outward normal; inside is u * p.u + v * p.v <=
// offset.
typedef struct clip_line {
  float u, v, offset;
} clip_line;

// Clips `polygon` to the inside of all lines.
void clip(clip_polygon *polygon, const clip_line *lines, int count);

// Selects at most four points: the deepest one, and those that span the largest area with it.
// Points that are higher than the deepest by more than `reach` times the spread of all are chosen
// last. Indices go to `chosen`, in order around the normal. Returns their number.
int select_contact_points(const clip_vertex *points, int count, float reach, int chosen[4]);

#endif
