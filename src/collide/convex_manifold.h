// Manifolds from features: what touches a face of A, which edges of A and B meet.
#ifndef TENON_COLLIDE_CONVEX_MANIFOLD_H
#define TENON_COLLIDE_CONVEX_MANIFOLD_H

#include "collide/core.h"
#include "collide/feature.h"
#include "collide/manifold.h"

// A face of A as a frame: u, v along it, the normal up, and its sides. A plane has none.
typedef struct face_frame {
  tn_vec3 origin, u, v, normal;
  int feature_id, side_count;
  clip_line sides[MAX_FACE_VERTICES];
} face_frame;

static inline clip_vertex face_project(const face_frame *face, tn_vec3 p)
{
  tn_vec3 d = tn_sub(p, face->origin);
  return (clip_vertex){
      .u = tn_dot(face->u, d), .v = tn_dot(face->v, d), .height = tn_dot(face->normal, d)};
}

static inline bool face_covers(const face_frame *face, const clip_vertex *p)
{
  for (int i = 0; i < face->side_count; i++)
    if (face->sides[i].u * p->u + face->sides[i].v * p->v > face->sides[i].offset)
      return false;
  return true;
}

// The origin is at the foot of `near`, so that heights above it are not rounded by the size of the
// face. Sides are moved out by `slack`, so that what stands flush with them stays on the face.
void face_frame_make(face_frame *face, const face_polygon *from, tn_vec3 near, float slack);

// What B turns towards a face whose normal is `normal` in A's frame.
void incident_feature(const geometry *b, pose b_in_a, tn_vec3 normal, const face_frame *face,
                      clip_polygon *out, float *radius, int *feature_id);

// MANIFOLD_FLAT of those points over the face whose gap is at most `margin`.
void face_manifold(const face_frame *face, const clip_polygon *over, float radius, int feature_id,
                   pose b_in_a, float margin, manifold *m);

// Rims of a cylinder or cone over a face; false when the points are not all over the face, or the
// shape does not touch it with a rim.
bool rim_manifold(const face_frame *face, const geometry *b, pose b_in_a, float margin,
                  manifold *m);

// Any two convex shapes.
bool collide_convex_generic(const geometry *a, const geometry *b, pose b_in_a, float margin,
                            manifold *m);

// Two boxes; spheres and capsules; a plane A.
bool collide_boxes(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *m);
bool collide_capsules(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *m);
bool collide_sphere_box(const geometry *a, const geometry *b, pose b_in_a, float margin,
                        manifold *m);
bool collide_plane(const geometry *b, pose b_in_a, float margin, manifold *m);

// One point, with cores given in A's frame.
void point_manifold(manifold *m, manifold_form form, tn_vec3 normal, tn_vec3 a, tn_vec3 b,
                    float radius_a, float radius_b, uint32_t feature, pose b_in_a);

#endif
