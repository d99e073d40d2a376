// Polygons over a face: cut to its outline, thinned to the points that a manifold keeps.
#ifndef TENON_COLLIDE_CLIP_H
#define TENON_COLLIDE_CLIP_H

#include <tenon/math.h>

#define MAX_FACE_VERTICES 256 // corners of a face
#define MAX_CLIP_VERTICES                                                                          \
  (2 * MAX_FACE_VERTICES) // corners of what is left of one face over another

// A corner in the frame of the face: along its plane and above it; and the edges that meet there,
// those of the polygon by their number, those of the outline by that plus MAX_FACE_VERTICES.
typedef struct clip_vertex {
  float u, v, height;
  uint16_t in, out;
} clip_vertex;

// Three and more corners close, two are a segment, one is a point.
typedef struct clip_polygon {
  int count;
  clip_vertex vertex[MAX_CLIP_VERTICES];
} clip_polygon;

// A side of the outline; inside is u * p.u + v * p.v <= offset.
typedef struct clip_line {
  float u, v, offset;
} clip_line;

// Cuts `polygon` to the inside of all lines.
void clip(clip_polygon *polygon, const clip_line *lines, int count);

// Which of the points to keep: the deepest and those that span the most area, at most four, in
// order around the normal. Returns how many.
int select_contact_points(const clip_vertex *points, int count, int chosen[4]);

#endif
