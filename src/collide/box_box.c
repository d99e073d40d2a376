// Box against box: the separating axis test over 15 axes (3 + 3 face normals, 9 cross products of
// edges), then face clipping or crossing edges. The hot path of stacks.
#include "base/rules.h"
#include "collide/collide_tuning.h"
#include "collide/convex_manifold.h"

// Feature id bits: the reference face belongs to B; two edges cross.
#define FEATURE_OF_B (UINT32_C(1) << 30)
#define FEATURE_OF_EDGES (UINT32_C(1) << 31)

typedef struct box_pair {
  float ha[3], hb[3];    // half extents of A and B
  float r[3][3];         // r[i][k]: component of B's axis k along A's axis i
  float size[3][3];      // absolute values of r
  float t[3], t_in_b[3]; // from A's centre to B's, along A's axes and along B's
  float min_half_extent; // smallest half extent of both boxes
  float rounding;        // error bound of a separation
} box_pair;

// A candidate axis: the best has the largest separation (or the least overlap).
typedef struct sat_axis {
  float separation;
  int i, k; // axis of A and of B; -1: not involved. Both set: their cross product
} sat_axis;

static void box_pair_make(box_pair *p, tn_vec3 ha, tn_vec3 hb, pose b_in_a)
{
  tn_quat q = b_in_a.q;
  float xx = 2.0f * q.x * q.x, yy = 2.0f * q.y * q.y, zz = 2.0f * q.z * q.z;
  float xy = 2.0f * q.x * q.y, xz = 2.0f * q.x * q.z, yz = 2.0f * q.y * q.z;
  float wx = 2.0f * q.w * q.x, wy = 2.0f * q.w * q.y, wz = 2.0f * q.w * q.z;
  *p = (box_pair){.ha = {ha.x, ha.y, ha.z},
                  .hb = {hb.x, hb.y, hb.z},
                  .r = {{1.0f - yy - zz, xy - wz, xz + wy},
                        {xy + wz, 1.0f - xx - zz, yz - wx},
                        {xz - wy, yz + wx, 1.0f - xx - yy}},
                  .t = {b_in_a.p.x, b_in_a.p.y, b_in_a.p.z},
                  .min_half_extent = INFINITY};
  float sum = 0.0f;
  for (int i = 0; i < 3; i++) {
    p->t_in_b[i] = p->r[0][i] * p->t[0] + p->r[1][i] * p->t[1] + p->r[2][i] * p->t[2];
    float least = p->ha[i] < p->hb[i] ? p->ha[i] : p->hb[i];
    p->min_half_extent = least < p->min_half_extent ? least : p->min_half_extent;
    sum += p->ha[i] + p->hb[i];
    for (int k = 0; k < 3; k++) {
      p->size[i][k] = fabsf(p->r[i][k]);
    }
  }
  p->rounding = COLLIDE_BOX_ROUNDING * sum;
}

static sat_axis query_faces_of_a(const box_pair *p)
{
  sat_axis best = {-INFINITY, -1, -1};
  for (int i = 0; i < 3; i++) {
    const float *s = p->size[i];
    float projected_radius = p->hb[0] * s[0] + p->hb[1] * s[1] + p->hb[2] * s[2];
    float separation = fabsf(p->t[i]) - p->ha[i] - projected_radius;
    if (separation > best.separation) {
      best = (sat_axis){separation, i, -1};
    }
  }
  return best;
}

static sat_axis query_faces_of_b(const box_pair *p)
{
  sat_axis best = {-INFINITY, -1, -1};
  for (int k = 0; k < 3; k++) {
    float projected_radius =
        p->ha[0] * p->size[0][k] + p->ha[1] * p->size[1][k] + p->ha[2] * p->size[2][k];
    float separation = fabsf(p->t_in_b[k]) - p->hb[k] - projected_radius;
    if (separation > best.separation) {
      best = (sat_axis){separation, -1, k};
    }
  }
  return best;
}

// Cross products of A's axis i and B's axis k, if one is better than the faces. Nearly parallel
// edges (sine below 0.01) give no direction that the faces do not.
static sat_axis query_edges(const box_pair *p, float of_faces)
{
  sat_axis best = {of_faces, -1, -1};
  for (int i = 0; i < 3; i++) {
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int k = 0; k < 3; k++) {
      int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      float square = p->r[i1][k] * p->r[i1][k] + p->r[i2][k] * p->r[i2][k];
      if (square < COLLIDE_BOX_PARALLEL_SINE2) {
        continue;
      }
      float distance = fabsf(p->t[i2] * p->r[i1][k] - p->t[i1] * p->r[i2][k]);
      float projected_radius = p->ha[i1] * p->size[i2][k] + p->ha[i2] * p->size[i1][k] +
                               p->hb[k1] * p->size[i][k2] + p->hb[k2] * p->size[i][k1];
      // The cross product has length sqrt(square) <= 1, so normalising can only deepen an overlap:
      // skip the square root where it cannot win.
      float apart = distance - projected_radius;
      if (apart <= 0.0f && apart <= best.separation) {
        continue;
      }
      float separation = apart / sqrtf(square);
      if (separation > best.separation) {
        best = (sat_axis){separation, i, k};
      }
    }
  }
  return best;
}

static tn_vec3 axis_direction(const box_pair *p, sat_axis axis)
{
  float n[3] = {0.0f, 0.0f, 0.0f};
  if (axis.k < 0) {
    n[axis.i] = 1.0f;
  } else if (axis.i < 0) {
    for (int i = 0; i < 3; i++) {
      n[i] = p->r[i][axis.k];
    }
  } else {
    int i1 = (axis.i + 1) % 3, i2 = (axis.i + 2) % 3;
    float x = p->r[i2][axis.k], y = p->r[i1][axis.k], scale = 1.0f / sqrtf(x * x + y * y);
    n[i1] = -x * scale;
    n[i2] = y * scale;
  }
  float side = n[0] * p->t[0] + n[1] * p->t[1] + n[2] * p->t[2] >= 0.0f ? 1.0f : -1.0f;
  return tn_v3(side * n[0], side * n[1], side * n[2]);
}

// True if `other` separates clearly better than `axis`. Hysteresis keeps rounding from switching
// axes between steps; nearly parallel axes need a larger lead, because the choice between them
// changes the features but hardly the contact.
static bool is_better_axis(const box_pair *p, sat_axis other, sat_axis axis)
{
  float lead = other.separation - axis.separation;
  if (!RULE(axis_hysteresis)) {
    return lead > 0.0f;
  }
  float bound = COLLIDE_AXIS_LEAD * fabsf(axis.separation) + p->rounding;
  if (!(lead > bound)) {
    return false;
  }
  float cosine = tn_dot(axis_direction(p, other), axis_direction(p, axis));
  return cosine < COLLIDE_AXIS_PARALLEL_COSINE ||
         lead > bound + COLLIDE_AXIS_PARALLEL_LEAD * p->min_half_extent;
}

// ---------------------------------------------------------------------------------------------
// Faces

static tn_vec3 vec3_from_array(const float v[3])
{
  return tn_v3(v[0], v[1], v[2]);
}

// The frame of the box face with outward direction `side` (+1 or -1) along `axis`.
static void box_frame(face_frame *face, const float half[3], int axis, float side, float slack)
{
  int i = (axis + 1) % 3, k = (axis + 2) % 3;
  float n[3] = {0.0f, 0.0f, 0.0f}, u[3] = {0.0f, 0.0f, 0.0f}, v[3] = {0.0f, 0.0f, 0.0f};
  n[axis] = side;
  u[i] = 1.0f;
  v[k] = side;
  face->normal = vec3_from_array(n);
  face->u = vec3_from_array(u);
  face->v = vec3_from_array(v);
  face->origin = tn_scale(half[axis], face->normal);
  face_frame_straight(face);
  face->feature_id = 2 * axis + (side > 0.0f);
  face->side_count = 4;
  face->sides[0] = (clip_line){1.0f, 0.0f, half[i] + slack};
  face->sides[1] = (clip_line){0.0f, 1.0f, half[k] + slack};
  face->sides[2] = (clip_line){-1.0f, 0.0f, half[i] + slack};
  face->sides[3] = (clip_line){0.0f, -1.0f, half[k] + slack};
}

static float deepest(const clip_polygon *polygon)
{
  float height = INFINITY;
  for (int i = 0; i < polygon->count; i++) {
    height = polygon->vertex[i].height < height ? polygon->vertex[i].height : height;
  }
  return height;
}

// When the boxes are apart, the clipped face must be as close as the axis says. Otherwise the
// shortest segment does not end over this face, and the generic path decides. `along`: the normal
// of edges that cross at the face's border, in A's frame; NULL: the face's own.
static bool manifold_by_face_of_a(const box_pair *p, const geometry *b, pose b_in_a, sat_axis axis,
                                  const tn_vec3 *along, float margin, manifold *m)
{
  face_frame face;
  clip_polygon over;
  float radius;
  int feature_id;
  float slack = (RULE(face_slack) ? COLLIDE_FACE_SLACK : 0.0f) * p->min_half_extent;
  box_frame(&face, p->ha, axis.i, p->t[axis.i] >= 0.0f ? 1.0f : -1.0f, slack);
  if (along) {
    face_frame_tilt(&face, *along);
  }
  incident_feature(b, b_in_a, face.along, &face, &over, &radius, &feature_id);
  clip(&over, face.sides, face.side_count);
  float bound = axis.separation + (COLLIDE_FACE_MISMATCH - 1.0f) * fabsf(axis.separation) +
                p->rounding + (along ? slack : 0.0f);
  if (over.count == 0 || ((axis.separation > 0.0f || along) && deepest(&over) > bound)) {
    return false;
  }
  face_manifold(&face, &over, radius, feature_id, b_in_a, margin, INFINITY, m);
  return m->count > 0;
}

static bool manifold_by_face_of_b(const geometry *a, const geometry *b, pose b_in_a, sat_axis axis,
                                  const tn_vec3 *along, float margin, manifold *m)
{
  pose a_in_b = pose_inverse(b_in_a);
  tn_vec3 back = tn_v3(0.0f, 0.0f, 0.0f);
  if (along) {
    back = pose_inverse_vector(b_in_a, tn_scale(-1.0f, *along));
  }
  box_pair p;
  box_pair_make(&p, b->half_extents, a->half_extents, a_in_b);
  axis = (sat_axis){axis.separation, axis.k, -1};
  if (!manifold_by_face_of_a(&p, a, a_in_b, axis, along ? &back : NULL, margin, m)) {
    return false;
  }
  manifold_flip(m, a_in_b);
  for (int i = 0; i < m->count; i++) {
    m->points[i].feature |= FEATURE_OF_B;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Edges

// One point at the closest points of two edges, a + s u and b + t v with unit u, v. The closest
// points of the two lines must lie within the edges.
static bool manifold_by_edges(const box_pair *p, pose b_in_a, sat_axis axis, manifold *m)
{
  tn_vec3 n = axis_direction(p, axis), t_in_b = pose_inverse_vector(b_in_a, n);
  float na[3] = {n.x, n.y, n.z}, nb[3] = {t_in_b.x, t_in_b.y, t_in_b.z}, ca[3], cb[3];
  uint32_t corner = 0;
  for (int i = 0; i < 3; i++) {
    ca[i] = i == axis.i ? 0.0f : na[i] >= 0.0f ? p->ha[i] : -p->ha[i];
    cb[i] = i == axis.k ? 0.0f : nb[i] >= 0.0f ? -p->hb[i] : p->hb[i];
    corner |= (ca[i] > 0.0f ? 1u : 0u) << i | (cb[i] > 0.0f ? 8u : 0u) << i;
  }
  float ua[3] = {0.0f, 0.0f, 0.0f};
  ua[axis.i] = 1.0f;
  tn_vec3 u = vec3_from_array(ua);
  tn_vec3 v = tn_v3(p->r[0][axis.k], p->r[1][axis.k], p->r[2][axis.k]);
  tn_vec3 a = vec3_from_array(ca), b = pose_point(b_in_a, vec3_from_array(cb)), d = tn_sub(b, a);
  float uv = tn_dot(u, v), det = 1.0f - uv * uv;
  float s = (tn_dot(u, d) - uv * tn_dot(v, d)) / det, t = (uv * tn_dot(u, d) - tn_dot(v, d)) / det;
  float bound = p->rounding + COLLIDE_EDGE_OVERSHOOT * p->min_half_extent;
  if (fabsf(s) > p->ha[axis.i] + bound || fabsf(t) > p->hb[axis.k] + bound) {
    return false;
  }
  uint32_t feature = FEATURE_OF_EDGES | corner | (uint32_t)(3 * axis.i + axis.k) << 8;
  point_manifold(m, MANIFOLD_FLAT, n, tn_add(a, tn_scale(s, u)), tn_add(b, tn_scale(t, v)), 0.0f,
                 0.0f, feature, b_in_a);
  return true;
}

// Edges cross where a face is nearly parallel to both: all of that face may touch within a step.
// With the point of the edges alone a body that lies across an edge would have a contact on one
// side of it in one step and on the other side in the next, and rock.
static bool manifold_by_face_and_edges(const box_pair *p, const geometry *a, const geometry *b,
                                       pose b_in_a, sat_axis face, sat_axis edges, float margin,
                                       manifold *m)
{
  tn_vec3 normal = axis_direction(p, edges);
  if (tn_dot(normal, axis_direction(p, face)) < COLLIDE_AXIS_PARALLEL_COSINE) {
    return false;
  }
  face.separation = edges.separation;
  return face.k >= 0 ? manifold_by_face_of_b(a, b, b_in_a, face, &normal, margin, m)
                     : manifold_by_face_of_a(p, b, b_in_a, face, &normal, margin, m);
}

bool collide_boxes(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *m)
{
  box_pair p;
  box_pair_make(&p, a->half_extents, b->half_extents, b_in_a);
  sat_axis face_a = query_faces_of_a(&p);
  if (face_a.separation > margin) {
    return false;
  }
  sat_axis face_b = query_faces_of_b(&p);
  if (face_b.separation > margin) {
    return false;
  }
  sat_axis edges = query_edges(&p, fmaxf(face_a.separation, face_b.separation));
  if (edges.separation > margin) {
    return false;
  }
  bool by_b = is_better_axis(&p, face_b, face_a);
  sat_axis face = by_b ? face_b : face_a;
  if (edges.i >= 0 && is_better_axis(&p, edges, face)) {
    if (manifold_by_face_and_edges(&p, a, b, b_in_a, face, edges, margin, m)) {
      return true;
    }
    if (manifold_by_edges(&p, b_in_a, edges, m)) {
      return m->points[0].gap <= margin;
    }
  } else if (by_b ? manifold_by_face_of_b(a, b, b_in_a, face, NULL, margin, m)
                  : manifold_by_face_of_a(&p, b, b_in_a, face, NULL, margin, m)) {
    return true;
  }
  return collide_convex_generic(a, b, b_in_a, margin, NULL, m);
}
