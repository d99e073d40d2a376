// Geometric queries on shapes: distance, support, ray casts, shape casts, closest points, bounds.
#ifndef TENON_COLLIDE_DISTANCE_H
#define TENON_COLLIDE_DISTANCE_H

#include "collide/geometry.h"

// The shortest segment between two convex shapes, or the minimum translation that separates them.
typedef struct separation {
  float distance; // m; negative: penetration depth
  tn_vec3 normal; // unit, from A to B, in A's frame
  tn_vec3 a, b;   // witness points on both surfaces, both in A's frame
} separation;

separation convex_distance(const geometry *a, const geometry *b, pose b_in_a);

// Direction of the shortest segment of two convex shapes, from A to B in A's frame; false when it
// is longer than `limit`. `start` is replaced.
bool convex_axis(const geometry *a, const geometry *b, pose b_in_a, float limit, core_start *start,
                 tn_vec3 *axis);

// Support function: the point of a convex shape that is furthest along `direction`, of any length
// but zero.
tn_vec3 convex_support(const geometry *g, tn_vec3 direction);

typedef struct ray_hit {
  float fraction; // of the displacement; 0, with a zero normal, when the ray starts inside
  tn_vec3 normal;
} ray_hit;

// Casts a ray from `from` along `displacement`, in the shape's frame. Returns false when nothing is
// hit up to `max_fraction`. Supports every kind of shape.
bool geometry_ray(const geometry *g, tn_vec3 from, tn_vec3 displacement, float max_fraction,
                  ray_hit *hit);

typedef struct cast_hit {
  float fraction; // of the displacement; 0 when the shapes overlap at the start
  tn_vec3 point;  // in A's frame
  tn_vec3 normal; // unit, from A to B, in A's frame
} cast_hit;

// Shape cast: convex B moves from `b_in_a` along `displacement`, in A's frame, until it is within
// `target_distance` of A. Supports every kind of A.
bool geometry_cast(const geometry *a, const geometry *b, pose b_in_a, tn_vec3 displacement,
                   float target_distance, float max_fraction, cast_hit *hit);

// The point of a shape's surface that is closest to a given point.
typedef struct closest {
  float distance;        // m; negative when the given point is inside
  tn_vec3 point, normal; // in the shape's frame; the normal is outward
} closest;

// Supports every kind of shape. Returns false when the surface is further than `max_distance`.
bool geometry_closest(const geometry *g, tn_vec3 p, float max_distance, closest *out);

// The AABB of the shape at a pose. That of a plane is infinite, but ends at the plane when
// that is horizontal.
aabb geometry_aabb(const geometry *g, pose at);

// Largest distance of a point of the shape from its origin; infinite for planes.
float geometry_bounding_radius(const geometry *g);
// Radius of a ball inside the shape; the radius is 0 for surfaces without an inside and
// infinite for planes.
float geometry_inner_radius(const geometry *g);
// The smaller of two inner radii. Zero means no inside, so the other radius counts.
static inline float smaller_inner_radius(float a, float b)
{
  return a == 0.0f || b == 0.0f ? a + b : a < b ? a : b;
}

#endif
