// Cylinders and cones on faces, as MANIFOLD_RIM: the contact points are on the rims, relative to
// the lowest rim point, and move along the rim while the shape rolls. So a cylinder rolls as a
// circle instead of a polygon.
#include "collide/collide_tuning.h"
#include "collide/convex_manifold.h"

// A rim point above a face, `turn` quarter turns from the lowest.
typedef struct rim_point {
  clip_vertex at; // in the frame of the face
  tn_vec3 center; // of the rim, in B's frame
  tn_vec3 point;  // in B's frame
  int turn;
} rim_point;

// Unit direction from the axis to the lowest point of a rim, in B's frame. The bias of 1e-4 towards
// +x decides where all rim points are about equally low; otherwise rounding would spin the points
// from step to step.
static tn_vec3 lowest_direction(tn_vec3 down)
{
  float x = down.x + COLLIDE_RIM_PREFERRED_X, z = down.z, across = sqrtf(x * x + z * z);
  return across > 0.0f ? tn_v3(x / across, 0.0f, z / across) : tn_v3(1.0f, 0.0f, 0.0f);
}

static rim_point rim_point_at(const face_frame *face, const geometry *b, pose b_in_a, float y,
                              tn_vec3 radial, int turn)
{
  static const float cosine[4] = {1.0f, 0.0f, -1.0f, 0.0f}, sine[4] = {0.0f, 1.0f, 0.0f, -1.0f};
  // A quarter turn about +y takes x to -z.
  float c = b->radius * cosine[turn], s = b->radius * sine[turn];
  rim_point r = {.center = tn_v3(0.0f, y, 0.0f), .turn = turn};
  r.point = tn_v3(c * radial.x + s * radial.z, y, c * radial.z - s * radial.x);
  r.at = face_project(face, pose_point(b_in_a, r.point));
  return r;
}

// Lying (axis more than 45 degrees from the normal): the lowest point of each rim. Standing: four
// points around the lower rim.
static int rim_points(const face_frame *face, const geometry *b, pose b_in_a, tn_vec3 down,
                      rim_point place[4])
{
  tn_vec3 radial = lowest_direction(down);
  float h = b->half_length;
  if (fabsf(down.y) < COLLIDE_FACE_COSINE) {
    place[0] = rim_point_at(face, b, b_in_a, -h, radial, 0);
    place[1] = rim_point_at(face, b, b_in_a, h, radial, 0);
    return b->kind == TN_SHAPE_CYLINDER ? 2 : 1;
  }
  for (int turn = 0; turn < 4; turn++) {
    place[turn] = rim_point_at(face, b, b_in_a, down.y > 0.0f ? h : -h, radial, turn);
  }
  return 4;
}

static void add_rim_point(const face_frame *face, const rim_point *r, manifold *m)
{
  tn_vec3 foot =
      tn_add(face->origin, tn_add(tn_scale(r->at.u, face->u), tn_scale(r->at.v, face->v)));
  m->points[m->count++] =
      (manifold_point){.a = foot,
                       .b = r->point,
                       .gap = r->at.height,
                       .feature = (uint32_t)r->turn | (r->center.y > 0.0f ? 4u : 0u) |
                                  (uint32_t)(face->feature_id & 63) << 18,
                       .rim_center = r->center,
                       .turn = r->turn};
}

bool rim_manifold(const face_frame *face, const geometry *b, pose b_in_a, float margin, manifold *m)
{
  if (b->kind != TN_SHAPE_CYLINDER && b->kind != TN_SHAPE_CONE) {
    return false;
  }
  tn_vec3 down = pose_inverse_vector(b_in_a, tn_scale(-1.0f, face->normal));
  // A cone on its side touches along a line, one on its tip at a point: no rim contact.
  if (b->kind == TN_SHAPE_CONE && down.y > -COLLIDE_FACE_COSINE) {
    return false;
  }
  rim_point place[4];
  int count = rim_points(face, b, b_in_a, down, place);
  m->form = MANIFOLD_RIM;
  m->count = 0;
  m->normal = face->normal;
  m->radius_a = m->radius_b = 0.0f;
  m->rim_axis = tn_v3(0.0f, 1.0f, 0.0f);
  m->rim_radius = b->radius;
  m->round_side = 1;
  for (int i = 0; i < count; i++) {
    if (place[i].at.height > margin) {
      continue;
    }
    if (!face_covers(face, &place[i].at)) {
      return false;
    }
    add_rim_point(face, &place[i], m);
  }
  return true;
}
