// Faces and edges of convex shapes, found by direction, in the shape's own frame.
#ifndef TENON_COLLIDE_FEATURE_H
#define TENON_COLLIDE_FEATURE_H

#include "clip.h"
#include "geometry.h"

// The round face of a cylinder or cone is taken for a polygon.
#define RIM_CORNERS 16

typedef struct outline {
  tn_vec3 normal; // unit, outward
  int name, count;
  tn_vec3 corner[MAX_OUTLINE]; // counter-clockwise from outside
} outline;

// A segment with a radius around it: an edge, the core of a capsule, the side of a cylinder.
// Spheres, corners and tips have both ends at one point.
typedef struct line {
  tn_vec3 end[2];
  float radius;
  int name;
} line;

// The face whose normal is closest to a unit direction; false for shapes without faces.
bool face_towards(const geometry *g, tn_vec3 direction, outline *out);

// The edge through the furthest point along a unit direction that is closest to being across it.
line edge_towards(const geometry *g, tn_vec3 direction);

#endif
