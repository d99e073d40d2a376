// Contact manifolds: where two shapes touch or nearly touch, and how the touching points move when
// the shapes do.
//
// Everything about A is in A's frame, everything about B in B's, and the normal, which points from
// A to B, is in A's.
#ifndef TENON_COLLIDE_MANIFOLD_H
#define TENON_COLLIDE_MANIFOLD_H

#include "collide/geometry.h"

#define MAX_MANIFOLD_POINTS 4
#define MAX_MANIFOLDS 16 // of one pair

// How the solver finds points, gaps and normal again when the bodies have moved. A core is what is
// left of a round shape without its radius: the centre of a sphere, the axis of a capsule. On a
// flat side the radius is 0 and the core is the surface.
typedef enum manifold_form {
  // The normal keeps its direction; a point's core stays where it is in its body. The surface is
  // `radius` away from the core along the normal. Faces against faces, spheres and capsules
  // against faces.
  MANIFOLD_FLAT,
  // The normal is along the shortest line between two segments, one in each body, with radii. One
  // point: the ends of that line. Two points: two places along the overlap of nearly parallel
  // segments, where the points' cores stay in their bodies and only the normal follows. A point is
  // a segment of no length. Spheres and capsules among each other, and against edges, corners and
  // sides of cylinders.
  MANIFOLD_ROUND,
  // One body has a flat side, whose normal is the manifold's, and the other has circular rims:
  // each point is on the rim with centre `rim_center` about the axis `rim_axis`, `turn` quarter
  // turns from the place that is deepest along the normal. Cylinders and cones on faces.
  MANIFOLD_RIM,
  // A segment with a radius in one body against a stretch of a wire with a radius in the other;
  // otherwise as MANIFOLD_ROUND with one point.
  MANIFOLD_WIRE,
} manifold_form;

typedef struct manifold_point {
  tn_vec3 a, b; // cores
  float gap;    // between the surfaces, negative when they overlap
  // Names what touches, so that the point can be recognised in the next step.
  uint32_t feature;
  // MANIFOLD_RIM, in the frame of the body with the rims.
  tn_vec3 rim_center;
  int turn;
} manifold_point;

typedef struct manifold {
  manifold_form form;
  int count; // 0: nothing within the margin
  tn_vec3 normal;
  float radius_a, radius_b; // between cores and surfaces
  uint32_t child;           // which part of a mesh, height field or wire, or 0
  manifold_point points[MAX_MANIFOLD_POINTS];
  union {
    // MANIFOLD_ROUND: both; MANIFOLD_WIRE: that of the body without the wire.
    tn_vec3 segment[2][2]; // of A and B, from end to end
    struct {               // MANIFOLD_RIM
      tn_vec3 rim_axis;    // unit
      float rim_radius;
    };
  };
  int round_side; // which body, 0 or 1, has the rims (MANIFOLD_RIM) or the segment (MANIFOLD_WIRE)
  tn_vec3 curve[6]; // MANIFOLD_WIRE: position = c0 + s (c1 + s (c2 + ...)), s from 0 to 1
  float parameter;  // MANIFOLD_WIRE: s of the closest point
} manifold;

// Manifolds of B, at `b` in A's frame, with A: up to `capacity`, each with up to four points whose
// gap is at most `margin`; returns how many. Planes, meshes, height fields and wires make none
// among each other. Points of one manifold share a normal; neighbours follow each other around it.
int collide(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out,
            int capacity);

// Convex shapes (spheres, capsules, boxes, cylinders, cones, hulls, triangles) and planes.
bool collide_convex(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out);

// A convex shape against a mesh, height field or wire A.
int collide_mesh(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out,
                 int capacity);
int collide_height_field(const geometry *a, const geometry *b, pose b_in_a, float margin,
                         manifold *out, int capacity);
int collide_wire(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out,
                 int capacity);

// The manifold with the roles of A and B exchanged, for B at `b` in A's frame.
void manifold_flip(manifold *m, pose b_in_a);

// At most four of `count` points: the deepest, and those that span the most area around it.
void manifold_reduce(manifold *m, const manifold_point *points, int count);

// Whether two shapes overlap.
bool geometry_overlap(const geometry *a, const geometry *b, pose b_in_a);

#endif
