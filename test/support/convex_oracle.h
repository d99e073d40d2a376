// Reference results for convex shapes in double, by methods independent of the library's: support
// functions, distances of points, and the separating axis test over all axes of two polyhedra.
#ifndef TENON_TEST_CONVEX_ORACLE_H
#define TENON_TEST_CONVEX_ORACLE_H

#include "collide/geometry.h"
#include "doubles.h"

#define ORACLE_VERTICES 64
#define ORACLE_EDGES 192
#define ORACLE_FACES 128

// A polyhedron, segment or point in the frame of A, inflated by a radius.
typedef struct solid {
  const geometry *g;
  d3 p;
  d4 q;
  double radius; // of spheres and capsules
  bool curved;   // cylinders and cones have no list of vertices
  int vertex_count, edge_count, face_count;
  d3 vertex[ORACLE_VERTICES], edge[ORACLE_EDGES], face[ORACLE_FACES]; // directions, normals
} solid;

static inline d3 solid_to_world(const solid *s, d3 v)
{
  return d3_add(s->p, d4_rotate(s->q, v));
}

static inline d3 solid_to_local(const solid *s, d3 v)
{
  return d4_rotate(d4_conjugate(s->q), d3_sub(v, s->p));
}

static inline void solid_add_edge(solid *s, d3 a, d3 b)
{
  s->edge[s->edge_count++] = d4_rotate(s->q, d3_sub(b, a));
}

static inline void solid_add_hull(solid *s, const convex_hull *c)
{
  for (int i = 0; i < c->vertex_count; i++) {
    s->vertex[s->vertex_count++] = solid_to_world(s, d3_from(c->vertices[i]));
  }
  for (int i = 0; i < c->edge_count; i++) {
    int from = c->edges[i].origin, to = c->edges[c->edges[i].next].origin;
    if (from < to) {
      solid_add_edge(s, d3_from(c->vertices[from]), d3_from(c->vertices[to]));
    }
  }
  for (int i = 0; i < c->face_count; i++) {
    s->face[s->face_count++] = d4_rotate(s->q, d3_from(c->faces[i].normal));
  }
}

static inline void solid_add_box(solid *s, d3 h)
{
  for (int i = 0; i < 8; i++) {
    s->vertex[s->vertex_count++] =
        solid_to_world(s, (d3){i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z});
  }
  d3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  for (int i = 0; i < 3; i++) {
    s->face[s->face_count++] = d4_rotate(s->q, axes[i]);
    s->edge[s->edge_count++] = d4_rotate(s->q, axes[i]);
  }
}

static inline void solid_add_triangle(solid *s, const tn_vec3 corner[3])
{
  d3 c[3] = {d3_from(corner[0]), d3_from(corner[1]), d3_from(corner[2])};
  d3 n = d3_unit(d3_cross(d3_sub(c[1], c[0]), d3_sub(c[2], c[0])));
  s->face[s->face_count++] = d4_rotate(s->q, n);
  for (int i = 0; i < 3; i++) {
    d3 along = d3_sub(c[(i + 1) % 3], c[i]);
    s->vertex[s->vertex_count++] = solid_to_world(s, c[i]);
    solid_add_edge(s, c[i], c[(i + 1) % 3]);
    s->face[s->face_count++] = d4_rotate(s->q, d3_unit(d3_cross(along, n))); // across an edge
  }
}

static inline void solid_make(solid *s, const geometry *g, pose at)
{
  s->g = g;
  s->p = d3_from(at.p);
  s->q = d4_unit(d4_from(at.q));
  s->vertex_count = s->edge_count = s->face_count = 0;
  s->radius = g->kind == TN_SHAPE_SPHERE || g->kind == TN_SHAPE_CAPSULE ? (double)g->radius : 0.0;
  s->curved = g->kind == TN_SHAPE_CYLINDER || g->kind == TN_SHAPE_CONE;
  d3 up = {0.0, (double)g->half_length, 0.0}, down = {0.0, -up.y, 0.0};
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    s->vertex[s->vertex_count++] = s->p;
    break;
  case TN_SHAPE_CAPSULE:
    s->vertex[s->vertex_count++] = solid_to_world(s, down);
    s->vertex[s->vertex_count++] = solid_to_world(s, up);
    solid_add_edge(s, down, up);
    break;
  case TN_SHAPE_BOX:
    solid_add_box(s, d3_from(g->half_extents));
    break;
  case TN_SHAPE_HULL:
    solid_add_hull(s, g->hull);
    break;
  case GEOMETRY_TRIANGLE:
    solid_add_triangle(s, g->corner);
    break;
  default:
    break;
  }
}

// Support function: the largest dot(n, p) of the shape's points p.
static inline double solid_reach(const solid *s, d3 n)
{
  if (!s->curved) {
    double best = d3_dot(n, s->vertex[0]);
    for (int i = 1; i < s->vertex_count; i++) {
      best = fmax(best, d3_dot(n, s->vertex[i]));
    }
    return best + s->radius * d3_length(n);
  }
  d3 m = d4_rotate(d4_conjugate(s->q), n);
  double r = (double)s->g->radius * sqrt(m.x * m.x + m.z * m.z), h = (double)s->g->half_length;
  double own = s->g->kind == TN_SHAPE_CYLINDER ? h * fabs(m.y) + r : fmax(h * m.y, r - h * m.y);
  return d3_dot(n, s->p) + own;
}

// Gap of the shapes along n, from A to B; negative if they overlap along it.
static inline double solids_apart(const solid *a, const solid *b, d3 n)
{
  return -solid_reach(b, d3_scale(-1.0, n)) - solid_reach(a, n);
}

static inline void try_axis(const solid *a, const solid *b, d3 n, double *best, d3 *best_n)
{
  double length = d3_length(n);
  if (!(length > 0.0)) {
    return;
  }
  for (int i = 0; i < 2; i++) {
    d3 m = d3_scale((i ? -1.0 : 1.0) / length, n);
    double apart = solids_apart(a, b, m);
    if (apart > *best) {
      *best = apart;
      *best_n = m;
    }
  }
}

// Penetration of polyhedra: the shortest separating translation is along a face normal or a cross
// product of two edges.
static inline double best_of_all_axes(const solid *a, const solid *b, d3 *n)
{
  double best = -(double)INFINITY;
  for (int i = 0; i < a->face_count; i++) {
    try_axis(a, b, a->face[i], &best, n);
  }
  for (int i = 0; i < b->face_count; i++) {
    try_axis(a, b, b->face[i], &best, n);
  }
  for (int i = 0; i < a->edge_count; i++) {
    for (int k = 0; k < b->edge_count; k++) {
      d3 c = d3_cross(a->edge[i], b->edge[k]);
      double sine = d3_length(c) / (d3_length(a->edge[i]) * d3_length(b->edge[k]));
      if (sine > 1e-5) {
        try_axis(a, b, c, &best, n);
      }
    }
  }
  return best;
}

// Penetration of curved shapes: samples directions over the whole sphere, then refines around the
// best with shrinking steps.
static inline double best_of_directions(const solid *a, const solid *b, d3 hint, d3 *n)
{
  const int count = 400;
  double best = solids_apart(a, b, hint);
  *n = hint;
  for (int i = 0; i < count; i++) {
    double y = 1.0 - (2.0 * i + 1.0) / count, r = sqrt(1.0 - y * y), angle = 2.39996322973 * i;
    try_axis(a, b, (d3){r * cos(angle), y, r * sin(angle)}, &best, n);
  }
  for (double step = 0.1; step > 1e-6;) {
    d3 u = d3_unit(d3_cross(*n, fabs(n->x) < 0.6 ? (d3){1.0, 0.0, 0.0} : (d3){0.0, 1.0, 0.0}));
    d3 v = d3_cross(*n, u);
    double before = best;
    d3 from = *n;
    for (int i = 0; i < 8; i++) {
      double angle = 0.785398163397 * i;
      d3 side = d3_add(d3_scale(cos(angle), u), d3_scale(sin(angle), v));
      try_axis(a, b, d3_add(from, d3_scale(step, side)), &best, n);
    }
    if (best <= before + 1e-7 * fabs(before)) {
      step *= 0.5;
    }
  }
  return best;
}

// ---------------------------------------------------------------------------------------------
// Distance of a point from a shape: exact or larger outside, minus the depth inside.

static inline double distance_of_segment(d3 a, d3 b, d3 p)
{
  d3 along = d3_sub(b, a);
  double square = d3_dot(along, along);
  double t = square > 0.0 ? fmin(1.0, fmax(0.0, d3_dot(along, d3_sub(p, a)) / square)) : 0.0;
  return d3_distance(p, d3_add(a, d3_scale(t, along)));
}

static inline double distance_of_triangle(const d3 c[3], d3 p)
{
  d3 n = d3_unit(d3_cross(d3_sub(c[1], c[0]), d3_sub(c[2], c[0])));
  double best = (double)INFINITY;
  bool inside = true;
  for (int i = 0; i < 3; i++) {
    d3 from = c[i], to = c[(i + 1) % 3];
    best = fmin(best, distance_of_segment(from, to, p));
    inside = inside && d3_dot(d3_cross(n, d3_sub(to, from)), d3_sub(p, from)) >= 0.0;
  }
  return inside ? fabs(d3_dot(n, d3_sub(p, c[0]))) : best;
}

// The largest signed distance from the face planes: exact inside, a lower bound outside.
static inline double height_over_planes(const convex_hull *c, d3 p)
{
  double best = -(double)INFINITY;
  for (int i = 0; i < c->face_count; i++) {
    best = fmax(best, d3_dot(d3_from(c->faces[i].normal), p) - (double)c->faces[i].offset);
  }
  return best;
}

static inline double distance_of_profile(double x, double y)
{
  return x > 0.0 && y > 0.0 ? sqrt(x * x + y * y) : fmax(x, y);
}

static inline double solid_distance(const solid *s, d3 world)
{
  const geometry *g = s->g;
  d3 p = solid_to_local(s, world);
  double h = (double)g->half_length, r = (double)g->radius, across = sqrt(p.x * p.x + p.z * p.z);
  d3 corner[3] = {d3_from(g->corner[0]), d3_from(g->corner[1]), d3_from(g->corner[2])};
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    return d3_length(p) - r;
  case TN_SHAPE_CAPSULE:
    return distance_of_segment((d3){0.0, -h, 0.0}, (d3){0.0, h, 0.0}, p) - r;
  case TN_SHAPE_BOX: {
    d3 e = d3_from(g->half_extents);
    double x = fabs(p.x) - e.x, y = fabs(p.y) - e.y, z = fabs(p.z) - e.z;
    return distance_of_profile(distance_of_profile(x, y), z);
  }
  case TN_SHAPE_CYLINDER:
    return distance_of_profile(across - r, fabs(p.y) - h);
  case TN_SHAPE_CONE: {
    // Closest to the base, or to the slanted side.
    double slant = sqrt(r * r + 4.0 * h * h);
    double side = (2.0 * h * across + r * (p.y - h)) / slant;
    return fmax(side, -h - p.y);
  }
  case TN_SHAPE_HULL:
    return height_over_planes(g->hull, p);
  default:
    return distance_of_triangle(corner, p);
  }
}

#endif
