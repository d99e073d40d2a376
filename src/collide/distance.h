// Distances, rays and casts between convex shapes.
#ifndef TENON_COLLIDE_DISTANCE_H
#define TENON_COLLIDE_DISTANCE_H

#include "collide/geometry.h"

// The shortest line between two convex shapes, or the shortest way out of their overlap.
typedef struct separation {
  float distance; // negative: depth of the overlap
  tn_vec3 normal; // unit, from A to B, in A's frame
  tn_vec3 a, b;   // the ends on both surfaces, both in A's frame
} separation;

separation convex_distance(const geometry *a, const geometry *b, pose b_in_a);

// The furthest point of a convex shape along a direction of any length but zero.
tn_vec3 convex_support(const geometry *g, tn_vec3 direction);

typedef struct ray_hit {
  float fraction; // of the way, from 0; 0 with normal zero when the ray starts inside
  tn_vec3 normal;
} ray_hit;

// From `from` along `way`, in the shape's frame: false when nothing is hit up to `max_fraction`.
// Every kind of shape.
bool geometry_ray(const geometry *g, tn_vec3 from, tn_vec3 displacement, float max_fraction,
                  ray_hit *hit);

typedef struct cast_hit {
  float fraction; // 0 when they overlap at the start
  tn_vec3 point;  // in A's frame
  tn_vec3 normal; // from A to B
} cast_hit;

// Convex B moves from `b` by `way` (in A's frame) towards A of any kind, until it is
// `target_distance` away.
bool geometry_cast(const geometry *a, const geometry *b, pose b_in_a, tn_vec3 displacement,
                   float target_distance, float max_fraction, cast_hit *hit);

// The point of the surface closest to `p`, and the distance, negative inside. Every kind of shape.
typedef struct closest {
  float distance;
  tn_vec3 point, normal;
} closest;

bool geometry_closest(const geometry *g, tn_vec3 p, float max_distance, closest *out);

// The box around the shape at a pose. A plane's is infinite below.
aabb geometry_aabb(const geometry *g, pose at);

// The largest distance of a point of the shape from its origin.
float geometry_bounding_radius(const geometry *g);
// A ball inside the shape: its radius, 0 for surfaces without an inside, and where it lies.
float geometry_inner_radius(const geometry *g);
tn_vec3 geometry_inner_center(const geometry *g);
// The smaller of two inner radii; of a solid and a surface that has none, the solid's.
static inline float smaller_inner_radius(float a, float b)
{
  return a == 0.0f || b == 0.0f ? a + b : a < b ? a : b;
}

#endif
