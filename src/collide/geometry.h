// Shapes as collision detection sees them: in their own frames, in metres, without bodies or a
// world. All coordinates are float. A pair is processed in the frame of its first shape A, so that
// precision does not depend on where in the world it is.
#ifndef TENON_COLLIDE_GEOMETRY_H
#define TENON_COLLIDE_GEOMETRY_H

#include "collide/mass.h"
#include "collide/vector_rows.h"

#include <tenon/types.h>

// A rigid transform. `b_in_a` takes points of B's frame to A's: x -> p + rotate(q, x).
typedef struct pose {
  tn_vec3 p;
  tn_quat q;
} pose;

// Axis-aligned bounding box.
typedef struct aabb {
  tn_vec3 lower, upper;
} aabb;

// Where the search for the shortest segment of a pair begins: at the pairs of vertices that were
// its ends when the pair was last looked at. Each result replaces it; it saves time and changes
// results by rounding only. A count of 0 is no start.
typedef struct core_start {
  uint8_t count, a[3], b[3];
} core_start;

// A half-edge. The edges of a face are contiguous in `edges`, counter-clockwise seen from outside.
typedef struct convex_hull_edge {
  uint16_t origin, twin, face, next; // indices of a vertex, an edge, a face and an edge
} convex_hull_edge;

typedef struct convex_hull_face {
  tn_vec3 normal; // unit, outward
  float offset;   // dot(normal, p) for points p of the face
  uint16_t first_edge, edge_count;
} convex_hull_face;

// The convex hull of a TN_SHAPE_HULL, in one block of memory.
typedef struct convex_hull {
  tn_vec3 *vertices;
  vector_rows vertex_rows, normal_rows; // vertices and face normals once more
  uint16_t *first_edge;                 // of each vertex, the edge from it of the lowest index
  convex_hull_edge *edges;
  convex_hull_face *faces;
  int vertex_count, edge_count, face_count; // edge_count counts half-edges
  tn_vec3 center;                           // centre of mass
  float inner_radius;                       // radius of a ball around `center` that lies inside
  volume_sum volume;                        // zero: the vertices enclose none
} convex_hull;

typedef struct mesh mesh;
typedef struct height_field height_field;
typedef struct wire wire;

// A kind beyond those of tn_shape_kind: a single triangle, which only surfaces produce.
#define GEOMETRY_TRIANGLE TN_SHAPE_KIND_COUNT

// A shape of any kind. Shapes of revolution have the y axis as their axis and the origin midway; a
// plane has its normal along +y and is solid below.
typedef struct geometry {
  int kind;                  // tn_shape_kind or GEOMETRY_TRIANGLE
  float radius, half_length; // m; half_length is along the y axis, without round ends
  tn_vec3 half_extents;      // TN_SHAPE_BOX, m
  tn_vec3 corner[3];         // GEOMETRY_TRIANGLE, counter-clockwise seen from outside
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

// The pose of A in B's frame, given that of B in A's.
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
