// Contact manifolds: the points where two shapes touch or nearly touch, and the rule by which they
// follow the bodies. The narrow phase finds manifolds once per step; the solver updates points,
// gaps and normals in every substep by the manifold's form.
//
// Everything about A is in A's frame, everything about B in B's frame. The normal points from A to
// B and is in A's frame. Lengths are in metres.
#ifndef TENON_COLLIDE_MANIFOLD_H
#define TENON_COLLIDE_MANIFOLD_H

#include "collide/geometry.h"

#define MAX_MANIFOLD_POINTS 4
#define MAX_MANIFOLDS 16 // of one pair

// How points, gaps and normal follow when the bodies have moved. A core is a round shape without
// its radius: the centre of a sphere, the axis of a capsule. On a flat face the radius is 0 and the
// core is the surface.
typedef enum manifold_form {
  // Constant normal; each core point is fixed in its body. The surface is `radius` away from the
  // core along the normal. Faces against faces, spheres and capsules against faces.
  MANIFOLD_FLAT,
  // The normal is along the shortest segment between two core segments with radii, one in each
  // body. One point: the ends of the shortest segment. Two points, for nearly parallel segments:
  // the ends of their overlap; core points are fixed in their bodies and only the normal follows. A
  // segment may have zero length. Spheres and capsules among each other and against edges, corners
  // and the sides of cylinders.
  MANIFOLD_ROUND,
  // One body has a flat face, whose normal is the manifold's; the other has circular rims. Each
  // point lies on the rim around `rim_center` with axis `rim_axis`, `turn` quarter turns from the
  // rim's deepest point along the normal. Cylinders and cones on faces.
  MANIFOLD_RIM,
  // A segment with a radius in one body against a stretch of a wire with a radius in the other;
  // otherwise like MANIFOLD_ROUND with one point.
  MANIFOLD_WIRE,
} manifold_form;

typedef struct manifold_point {
  tn_vec3 a, b; // core points of A and B
  float gap;    // between the surfaces along the normal; negative: penetration
  // Identifies the pair of features that touch. Equal ids in consecutive steps match the points for
  // the warm start.
  uint32_t feature;
  // MANIFOLD_RIM: centre of the point's rim, in the frame of the body with the rims, and quarter
  // turns about `rim_axis`.
  tn_vec3 rim_center;
  int turn;
} manifold_point;

typedef struct manifold {
  manifold_form form;
  int count;                // number of points; 0: nothing within the margin
  tn_vec3 normal;           // unit, from A to B
  float radius_a, radius_b; // from core to surface
  uint32_t child; // identifies the part of a mesh, height field or wire; 0 for other shapes
  manifold_point points[MAX_MANIFOLD_POINTS];
  union {
    // MANIFOLD_ROUND: both segments; MANIFOLD_WIRE: only that of the body without the wire.
    tn_vec3 segment[2][2]; // [A or B][end]
    struct {               // MANIFOLD_RIM
      tn_vec3 rim_axis;    // unit
      float rim_radius;
    };
  };
  int round_side;   // body (0 or 1) with the rims (MANIFOLD_RIM) or the segment (MANIFOLD_WIRE)
  tn_vec3 curve[6]; // MANIFOLD_WIRE: the axis, c0 + s (c1 + s (c2 + ...)), s in [0, 1]
  float parameter;  // MANIFOLD_WIRE: s of the closest point
} manifold;

// Narrow phase: manifolds of A and B. Writes up to `capacity` manifolds of up to four points each,
// with gaps of at most `margin`, and returns their number. Planes, meshes, height fields and wires
// do not collide with each other. The points of a manifold share one normal and are in order around
// it.
int collide(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out,
            int capacity);

// The same with a start for convex pairs, which may be null and is replaced.
int collide_from(const geometry *a, const geometry *b, pose b_in_a, float margin, core_start *start,
                 manifold *out, int capacity);

// A pair of convex shapes (spheres, capsules, boxes, cylinders, cones, hulls, triangles) or of one
// and a plane.
bool collide_convex(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out);

// A convex shape against a mesh, height field or wire A.
int collide_mesh(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out,
                 int capacity);
int collide_height_field(const geometry *a, const geometry *b, pose b_in_a, float margin,
                         manifold *out, int capacity);
int collide_wire(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out,
                 int capacity);

// Exchanges the roles of A and B; `b_in_a` is the pose before the exchange.
void manifold_flip(manifold *m, pose b_in_a);

// Sets the points of `m`, which touches a surface, to at most four of `count` points: the deepest
// one, and those that span the largest area with it, near ones first.
void manifold_reduce(manifold *m, const manifold_point *points, int count);

// Exact overlap test without a manifold. False for two surfaces or planes.
bool geometry_overlap(const geometry *a, const geometry *b, pose b_in_a);

#endif
