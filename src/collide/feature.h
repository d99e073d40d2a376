// Supporting features of convex shapes: the face or edge that a shape turns towards a direction, in
// the shape's own frame.
#ifndef TENON_COLLIDE_FEATURE_H
#define TENON_COLLIDE_FEATURE_H

#include "collide/clip.h"
#include "collide/geometry.h"

// Vertices of the polygon that approximates the flat end of a cylinder or cone.
#define DISC_FACE_VERTICES 16

typedef struct face_polygon {
  tn_vec3 normal;                    // unit, outward
  int feature_id, count;             // index of the face within its shape; number of corners
  tn_vec3 corner[MAX_FACE_VERTICES]; // counter-clockwise seen from outside
} face_polygon;

// An edge, or a round feature as a segment with a radius: the axis of a capsule, or of the side of
// a cylinder. Spheres, corners and tips are segments of zero length.
typedef struct segment {
  tn_vec3 end[2];
  float radius;
  int feature_id; // index within its shape
} segment;

// The face whose normal is closest to a unit direction. Returns false for shapes without faces.
bool supporting_face(const geometry *g, tn_vec3 direction, face_polygon *out);

// Of the edges at the support point along a unit direction, the one most nearly perpendicular to
// the direction.
segment supporting_edge(const geometry *g, tn_vec3 direction);

#endif
