// Random convex shapes, and random pairs of them, for the tests of the narrow phase.
#ifndef TENON_TEST_RANDOM_SHAPES_H
#define TENON_TEST_RANDOM_SHAPES_H

#include "solids.h"

#include "collide/distance.h"
#include "collide/manifold.h"
#include "collide/surface.h"
#include "convex_oracle.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS = 7, MAX_HULL_POINTS = 14 };

static const int kinds[KINDS] = {TN_SHAPE_SPHERE,   TN_SHAPE_CAPSULE,  TN_SHAPE_BOX, TN_SHAPE_HULL,
                                 GEOMETRY_TRIANGLE, TN_SHAPE_CYLINDER, TN_SHAPE_CONE};

static const char *kind_name(int kind)
{
  switch (kind) {
  case TN_SHAPE_SPHERE:
    return "sphere";
  case TN_SHAPE_CAPSULE:
    return "capsule";
  case TN_SHAPE_BOX:
    return "box";
  case TN_SHAPE_HULL:
    return "hull";
  case TN_SHAPE_CYLINDER:
    return "cylinder";
  case TN_SHAPE_CONE:
    return "cone";
  default:
    return "triangle";
  }
}

// ---------------------------------------------------------------------------------------------
// Making shapes

static inline void *take_memory(void *context, size_t size)
{
  (void)context;
  return malloc(size);
}

static inline void give_memory(void *context, void *memory, size_t size)
{
  (void)context;
  (void)size;
  free(memory);
}

static const collide_allocator heap = {take_memory, give_memory, NULL};

static inline convex_hull *make_convex(const tn_vec3 *points, int count, int max_vertices)
{
  char why[128];
  convex_hull *c = convex_hull_create(points, count, max_vertices, heap, why, sizeof why);
  if (!c) {
    fail_msg("no hull of %d points: %s", count, why);
  }
  return c;
}

static inline float random_float(uint64_t *seed, double lo, double hi)
{
  return (float)random_between(seed, lo, hi);
}

// Extents between a third of `size` and `size`; one in eight is a hundredth of that.
static inline float random_extent(uint64_t *seed, float size)
{
  float extent = size * random_float(seed, 0.33, 1.0);
  return random_int(seed, 0, 7) == 0 ? 0.01f * extent : extent;
}

static inline geometry random_geometry(uint64_t *seed, int kind, float size)
{
  geometry g = {.kind = kind};
  g.radius = random_extent(seed, size);
  g.half_length = random_extent(seed, size);
  g.half_extents.x = random_extent(seed, size);
  g.half_extents.y = random_extent(seed, size);
  g.half_extents.z = random_extent(seed, size);
  tn_vec3 points[MAX_HULL_POINTS];
  int count = random_int(seed, 6, MAX_HULL_POINTS);
  for (int i = 0; i < count; i++) {
    points[i] = random_vector(seed, 1.0);
    points[i] = tn_v3(points[i].x * g.half_extents.x, points[i].y * g.half_extents.y,
                      points[i].z * g.half_extents.z);
  }
  if (kind == GEOMETRY_TRIANGLE) {
    memcpy(g.corner, points, sizeof g.corner);
  }
  if (kind == TN_SHAPE_HULL) {
    g.hull = make_convex(points, count, 0);
  }
  return g;
}

static inline void free_geometry(geometry *g)
{
  if (g->kind == TN_SHAPE_HULL) {
    convex_hull_destroy((convex_hull *)g->hull, heap);
  }
}

static inline tn_quat random_rotation(uint64_t *seed)
{
  double q[4];
  random_quat(seed, q);
  return (tn_quat){(float)q[0], (float)q[1], (float)q[2], (float)q[3]};
}

// ---------------------------------------------------------------------------------------------
// Random pairs

typedef struct sample {
  geometry a, b;
  pose b_in_a;
  solid sa, sb;
  double scale; // length scale of the pair
} sample;

// One in four rotations is by right angles, so that faces and edges are parallel; distances from
// deep overlap to well apart.
static inline void sample_make(sample *s, uint64_t *seed, int kind_a, int kind_b)
{
  static const double decades[9] = {1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0};
  double size = decades[random_int(seed, 0, 8)], ratio = random_between(seed, 0.1, 1.0);
  bool first_larger = random_int(seed, 0, 1) == 0;
  s->a = random_geometry(seed, kind_a, (float)(first_larger ? size : ratio * size));
  s->b = random_geometry(seed, kind_b, (float)(first_larger ? ratio * size : size));
  double reach = (double)geometry_bounding_radius(&s->a) + (double)geometry_bounding_radius(&s->b);
  s->b_in_a.q = random_rotation(seed);
  if (random_int(seed, 0, 3) == 0) {
    float h = sqrtf(0.5f);
    tn_quat right[4] = {{0, 0, 0, 1}, {h, 0, 0, h}, {0, h, 0, h}, {0, 0, h, h}};
    s->b_in_a.q = right[random_int(seed, 0, 3)];
  }
  s->b_in_a.p = random_vector(seed, random_between(seed, 0.0, 0.8) * reach);
  s->scale = reach;
  if (random_int(seed, 0, 1) == 0) {
    separation r = convex_distance(&s->a, &s->b, s->b_in_a);
    float target = random_float(seed, -0.01, 0.01) * (float)reach;
    s->b_in_a.p = tn_add(s->b_in_a.p, tn_scale(target - r.distance, r.normal));
  }
  solid_make(&s->sa, &s->a, (pose){{0}, tn_quat_identity()});
  solid_make(&s->sb, &s->b, s->b_in_a);
}

static inline void sample_free(sample *s)
{
  free_geometry(&s->a);
  free_geometry(&s->b);
}

// ---------------------------------------------------------------------------------------------
// Manifolds

static inline double deepest_gap(const manifold *m)
{
  double gap = (double)INFINITY;
  for (int i = 0; i < m->count; i++) {
    gap = fmin(gap, (double)m->points[i].gap);
  }
  return gap;
}

// The points are in convex order about their centre.
static inline bool goes_round(const manifold *m)
{
  double turn = 0.0;
  d3 n = d3_from(m->normal), center = {0.0, 0.0, 0.0};
  for (int i = 0; i < m->count; i++) {
    center = d3_add(center, d3_scale(1.0 / m->count, d3_from(m->points[i].a)));
  }
  for (int i = 0; i < m->count; i++) {
    d3 a = d3_sub(d3_from(m->points[i].a), center);
    d3 b = d3_sub(d3_from(m->points[(i + 1) % m->count].a), center);
    double here = d3_dot(n, d3_cross(a, b)), size = d3_length(a) * d3_length(b);
    if (fabs(here) < 1e-3 * size) {
      continue;
    }
    if (turn * here < 0.0) {
      return false;
    }
    turn = here;
  }
  return true;
}

#endif
