// Solids and surfaces as collision detection sees them: in their own frames, without bodies or a
// world. Everything is float; a pair is looked at in the frame of its first shape, so that nothing
// depends on where in the world it is.
#ifndef TENON_COLLIDE_GEOMETRY_H
#define TENON_COLLIDE_GEOMETRY_H

#include <tenon/types.h>

// One frame in another.
typedef struct pose {
  tn_vec3 p;
  tn_quat q;
} pose;

typedef struct aabb {
  tn_vec3 lower, upper;
} aabb;

// A half-edge; those of a face follow each other in `edges`, counter-clockwise from outside.
typedef struct convex_hull_edge {
  uint16_t origin, twin, face, next;
} convex_hull_edge;

typedef struct convex_hull_face {
  tn_vec3 normal;
  float offset; // dot(normal, p) of its points
  uint16_t first_edge, edge_count;
} convex_hull_face;

typedef struct convex_hull {
  tn_vec3 *vertices;
  convex_hull_edge *edges;
  convex_hull_face *faces;
  int vertex_count, edge_count, face_count;
  tn_vec3 center;     // a point well inside
  float inner_radius; // of a ball around it that is inside
} convex_hull;

typedef struct mesh mesh;
typedef struct height_field height_field;
typedef struct wire wire;

// tn_shape_kind, and one that only meshes make.
#define GEOMETRY_TRIANGLE TN_SHAPE_KIND_COUNT

typedef struct geometry {
  int kind;
  float radius, half_length;
  tn_vec3 half_extents;
  tn_vec3 corner[3]; // GEOMETRY_TRIANGLE, counter-clockwise from outside
  union {
    const convex_hull *hull;
    const mesh *mesh;
    const height_field *field;
    const wire *wire;
  };
} geometry;

static inline tn_vec3 pose_point(pose a, tn_vec3 p)
{
  return tn_add(a.p, tn_rotate(a.q, p));
}

static inline tn_vec3 pose_inverse_point(pose a, tn_vec3 p)
{
  return tn_rotate(tn_quat_conjugate(a.q), tn_sub(p, a.p));
}

static inline tn_vec3 pose_vector(pose a, tn_vec3 v)
{
  return tn_rotate(a.q, v);
}

static inline tn_vec3 pose_inverse_vector(pose a, tn_vec3 v)
{
  return tn_rotate(tn_quat_conjugate(a.q), v);
}

// The frame of A in that of B, for B in A.
static inline pose pose_inverse(pose b)
{
  tn_quat q = tn_quat_conjugate(b.q);
  pose r = {tn_scale(-1.0f, tn_rotate(q, b.p)), q};
  return r;
}

static inline pose pose_mul(pose a, pose b)
{
  pose r = {pose_point(a, b.p), tn_quat_mul(a.q, b.q)};
  return r;
}

#endif
