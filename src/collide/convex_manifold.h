// Manifold construction for pairs of convex shapes: a face of A clips the feature of B that is
// turned towards it, or two edges cross.
#ifndef TENON_COLLIDE_CONVEX_MANIFOLD_H
#define TENON_COLLIDE_CONVEX_MANIFOLD_H

#include "collide/core.h"
#include "collide/feature.h"
#include "collide/manifold.h"

// A reference face of A as a frame: u and v span its plane, `normal` is outward. `sides` are the
// clipping lines of its edges; a plane has none. Points are projected along `along`, the normal of
// the contact: that of the face, or of edges that cross at its border.
typedef struct face_frame {
  tn_vec3 origin, u, v, normal; // in A's frame; u, v and normal are orthonormal
  tn_vec3 along;                // unit
  float shear_u, shear_v;       // components of `along` in the plane
  float stretch;                // distance along `along` per height above the plane
  int feature_id, side_count;
  clip_line sides[MAX_FACE_VERTICES];
} face_frame;

static inline clip_vertex face_project(const face_frame *face, tn_vec3 p)
{
  tn_vec3 d = tn_sub(p, face->origin);
  float height = face->stretch * tn_dot(face->normal, d);
  return (clip_vertex){.u = tn_dot(face->u, d) - height * face->shear_u,
                       .v = tn_dot(face->v, d) - height * face->shear_v,
                       .height = height};
}

// Projects along the face's normal.
static inline void face_frame_straight(face_frame *face)
{
  face->along = face->normal;
  face->shear_u = face->shear_v = 0.0f;
  face->stretch = 1.0f;
}

// Projects along `along` instead, which is nearly the face's normal.
static inline void face_frame_tilt(face_frame *face, tn_vec3 along)
{
  face->along = along;
  face->shear_u = tn_dot(face->u, along);
  face->shear_v = tn_dot(face->v, along);
  face->stretch = 1.0f / tn_dot(face->normal, along);
}

static inline bool face_covers(const face_frame *face, const clip_vertex *p)
{
  for (int i = 0; i < face->side_count; i++) {
    if (face->sides[i].u * p->u + face->sides[i].v * p->v > face->sides[i].offset) {
      return false;
    }
  }
  return true;
}

// Makes the frame of a face polygon. Its origin is the projection of `near`, a point close to the
// contact, so that heights are not rounded by the size of a large face. The sides are moved
// outwards by `slack` (m), so that corners of B flush with them survive the clipping.
void face_frame_make(face_frame *face, const face_polygon *from, tn_vec3 near, float slack);

// The incident feature: the face, edge or point of B that is turned towards a reference face with
// `normal` in A's frame, as a polygon in the frame of `face`. `radius` is the distance from the
// polygon to B's surface.
void incident_feature(const geometry *b, pose b_in_a, tn_vec3 normal, const face_frame *face,
                      clip_polygon *out, float *radius, int *feature_id);

// Makes a MANIFOLD_FLAT from the points of the clipped incident feature whose gap is at most
// `margin`. `reach` is that of select_contact_points().
void face_manifold(const face_frame *face, const clip_polygon *over, float radius, int feature_id,
                   pose b_in_a, float margin, float reach, manifold *m);

// Makes a MANIFOLD_RIM of a cylinder or cone on a face. Returns false when a point within the
// margin lies beside the face, or the shape does not touch it with a rim.
bool rim_manifold(const face_frame *face, const geometry *b, pose b_in_a, float margin,
                  manifold *m);

// Any two convex shapes: GJK/EPA for the direction, then the features that face each other along
// it.
bool collide_convex_generic(const geometry *a, const geometry *b, pose b_in_a, float margin,
                            core_start *start, manifold *m);

// The same for a triangle A and a polyhedron B of which a vertex at `distance` from A, in A's
// frame, is known to end the shortest segment, or the shortest way out.
bool collide_at_vertex(const geometry *a, const geometry *b, pose b_in_a, float margin,
                       tn_vec3 normal, float distance, tn_vec3 vertex, manifold *m);

// Specialised pairs: box-box (SAT); spheres and capsules among each other; box A and sphere B;
// plane A and any convex B.
bool collide_boxes(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *m);
bool collide_capsules(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *m);
bool collide_sphere_box(const geometry *a, const geometry *b, pose b_in_a, float margin,
                        manifold *m);
bool collide_plane(const geometry *b, pose b_in_a, float margin, manifold *m);

// A manifold of one point, whose core points `a` and `b` are both in A's frame.
void point_manifold(manifold *m, manifold_form form, tn_vec3 normal, tn_vec3 a, tn_vec3 b,
                    float radius_a, float radius_b, uint32_t feature, pose b_in_a);

#endif
