// Distances between cores: GJK, and EPA for overlaps. The core of a sphere is its centre and that
// of a capsule its axis, so that a contact of round shapes is a distance problem even when they
// overlap; every other convex shape is its own core. Computed in double, so that a gap of a
// millionth of the shapes' size still has a direction.
#ifndef TENON_COLLIDE_CORE_H
#define TENON_COLLIDE_CORE_H

#include "collide/geometry.h"

// Two cores in A's frame.
typedef struct core_pair {
  const geometry *a, *b;
  d3 position;  // of B's origin
  d3 column[3]; // rotation matrix: B's axes
  double scale; // largest coordinate of the difference met so far; tolerances are relative to it
} core_pair;

// A support point of the Minkowski difference: w = b - a.
typedef struct core_vertex {
  d3 w, a, b;               // all in A's frame
  uint8_t index_a, index_b; // vertices of the cores, of which only cylinders and cones have none
} core_vertex;

// The shortest segment between two cores, or the minimum translation that separates them.
typedef struct core_gap {
  double distance; // negative: penetration depth
  d3 normal;       // unit, from A to B: moving B along it separates them
  d3 a, b;         // witness points on the two cores, both in A's frame
} core_gap;

static inline d3 d3_from_vec3(tn_vec3 v)
{
  return (d3){(double)v.x, (double)v.y, (double)v.z};
}

static inline tn_vec3 vec3_from_d3(d3 v)
{
  return tn_v3((float)v.x, (float)v.y, (float)v.z);
}

// Distance from the core to the surface: the radius of spheres and capsules, 0 for other shapes.
float core_radius(const geometry *g);

// Support function of a core, in its own frame. `direction` may have any length.
d3 core_support(const geometry *g, d3 direction);

// Number of a core's vertices; 0 for cylinders and cones.
int core_vertex_count(const geometry *g);

core_pair core_pair_make(const geometry *a, const geometry *b, pose b_in_a);

// Support function of the Minkowski difference; updates `pair->scale`.
core_vertex core_pair_support(core_pair *pair, d3 direction);

// GJK, with EPA for overlapping cores. Returns false when the cores are further apart than `limit`;
// `out` is then not valid. `start` may be null or empty, and is replaced.
bool core_distance(core_pair *pair, double limit, core_start *start, core_gap *out);

// EPA: the penetration of overlapping cores. `simplex` has up to four points of the difference that
// enclose the origin, as GJK left them.
core_gap core_depth(core_pair *pair, const core_vertex *simplex, int count, core_start *start);

// Stores up to three vertices of the difference; `start` may be null.
void core_start_set(core_start *start, const core_pair *pair, const core_vertex *const *vertices,
                    int count);

// Distance of the point `p` from a cylinder or cone, in closed form; negative inside.
core_gap core_gap_of_point(const geometry *g, d3 p);

#endif
