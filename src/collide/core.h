// Distances between cores: what is left of a sphere or capsule without its radius, and every other
// convex shape as it is. In double, so that a gap of a millionth of the shapes' size still has a
// direction.
#ifndef TENON_COLLIDE_CORE_H
#define TENON_COLLIDE_CORE_H

#include "collide/geometry.h"
#include "collide/quickhull.h"

// Two cores in A's frame.
typedef struct core_pair {
  const geometry *a, *b;
  d3 position;  // of B
  d3 column[3]; // B's axes
  double scale; // the largest coordinate met so far
} core_pair;

// A point of the Minkowski difference, b - a.
typedef struct core_vertex {
  d3 w, a, b;
} core_vertex;

// The shortest line between two cores, or the shortest way out of their overlap.
typedef struct core_gap {
  double distance; // negative: depth
  d3 normal;       // unit, from A to B
  d3 a, b;         // its ends, both in A's frame
} core_gap;

static inline d3 d3_from_vec3(tn_vec3 v)
{
  return (d3){(double)v.x, (double)v.y, (double)v.z};
}

static inline tn_vec3 vec3_from_d3(d3 v)
{
  return tn_v3((float)v.x, (float)v.y, (float)v.z);
}

// The radius around the core.
float core_radius(const geometry *g);

// The furthest point of a core along a direction of any length.
d3 core_support(const geometry *g, d3 direction);

core_pair core_pair_make(const geometry *a, const geometry *b, pose b_in_a);

// The point of the difference that is furthest along a direction.
core_vertex core_pair_support(core_pair *pair, d3 direction);

// False when the cores are further apart than `limit`; then `out` is left alone.
bool core_distance(core_pair *pair, double limit, core_gap *out);

// The way out of an overlap; `simplex` is up to four points of the difference around the origin.
core_gap core_depth(core_pair *pair, const core_vertex *simplex, int count);

// From a cylinder or cone A to a point.
core_gap core_gap_of_point(const geometry *g, d3 p);

#endif
