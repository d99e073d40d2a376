// Faces and edges of convex shapes, found by direction, in the shape's own frame.
#ifndef TENON_COLLIDE_FEATURE_H
#define TENON_COLLIDE_FEATURE_H

#include "collide/clip.h"
#include "collide/geometry.h"

// The round face of a cylinder or cone is taken for a polygon.
#define DISC_FACE_VERTICES 16

typedef struct face_polygon {
  tn_vec3 normal; // unit, outward
  int feature_id, count;
  tn_vec3 corner[MAX_FACE_VERTICES]; // counter-clockwise from outside
} face_polygon;

// A segment with a radius around it: an edge, the core of a capsule, the side of a cylinder.
// Spheres, corners and tips have both ends at one point.
typedef struct segment {
  tn_vec3 end[2];
  float radius;
  int feature_id;
} segment;

// The face whose normal is closest to a unit direction; false for shapes without faces.
bool supporting_face(const geometry *g, tn_vec3 direction, face_polygon *out);

// The edge through the furthest point along a unit direction that is closest to being across it.
segment supporting_edge(const geometry *g, tn_vec3 direction);

#endif
