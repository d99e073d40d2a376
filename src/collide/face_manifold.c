// Face contacts: the frame of a reference face, the incident feature above it, and the manifold of
// the clipped feature. A plane is a reference face without sides.
#include "collide/collide_tuning.h"
#include "collide/convex_manifold.h"

// In double: the result is the frame's origin, so its error is added to all heights.
static tn_vec3 project_on_plane(tn_vec3 p, const face_polygon *face)
{
  d3 n = d3_from_vec3(face->normal), d = d3_from_vec3(p);
  double height = d3_dot(n, d3_sub(d, d3_from_vec3(face->corner[0])));
  return vec3_from_d3(d3_sub(d, d3_scale(height, n)));
}

void face_frame_make(face_frame *face, const face_polygon *from, tn_vec3 near, float slack)
{
  tn_vec3 first = tn_sub(from->corner[1], from->corner[0]);
  tn_vec3 u = tn_sub(first, tn_scale(tn_dot(first, from->normal), from->normal));
  float length = tn_length(u);
  face->origin = project_on_plane(near, from);
  face->normal = from->normal;
  face->u = length > 0.0f ? tn_scale(1.0f / length, u) : tn_v3(1.0f, 0.0f, 0.0f);
  face->v = tn_cross(face->normal, face->u);
  face_frame_straight(face);
  face->feature_id = from->feature_id;
  face->side_count = 0;
  for (int i = 0; i < from->count; i++) {
    clip_vertex p = face_project(face, from->corner[i]);
    clip_vertex q = face_project(face, from->corner[i + 1 < from->count ? i + 1 : 0]);
    float du = q.u - p.u, dv = q.v - p.v, size = sqrtf(du * du + dv * dv);
    if (!(size > 0.0f)) {
      continue;
    }
    clip_line *side = &face->sides[face->side_count++];
    side->u = dv / size;
    side->v = -du / size;
    side->offset = side->u * p.u + side->v * p.v + slack;
  }
}

// ---------------------------------------------------------------------------------------------
// Incident feature

static void add_corner(const face_frame *face, tn_vec3 p, clip_polygon *out)
{
  clip_vertex *v = &out->vertex[out->count];
  *v = face_project(face, p);
  v->out = (uint16_t)out->count;
  v->in = (uint16_t)(out->count > 0 ? out->count - 1 : 0);
  out->count++;
}

// A cylinder or cone turns its flat end to a face while its axis is within 45 degrees of the face's
// normal; beyond that, its side.
static bool turns_flat_face(const geometry *b, const face_polygon *seen, tn_vec3 towards)
{
  bool round = b->kind == TN_SHAPE_CYLINDER || b->kind == TN_SHAPE_CONE;
  return !round || tn_dot(seen->normal, towards) > COLLIDE_FACE_COSINE;
}

void incident_feature(const geometry *b, pose b_in_a, tn_vec3 normal, const face_frame *face,
                      clip_polygon *out, float *radius, int *feature_id)
{
  tn_vec3 towards = pose_inverse_vector(b_in_a, tn_scale(-1.0f, normal));
  face_polygon seen;
  out->count = 0;
  if (supporting_face(b, towards, &seen) && turns_flat_face(b, &seen, towards)) {
    for (int i = 0; i < seen.count; i++) {
      add_corner(face, pose_point(b_in_a, seen.corner[i]), out);
    }
    out->vertex[0].in = (uint16_t)(out->count - 1);
    *radius = 0.0f;
    *feature_id = seen.feature_id;
    return;
  }
  segment edge = supporting_edge(b, towards);
  bool one = edge.end[0].x == edge.end[1].x && edge.end[0].y == edge.end[1].y &&
             edge.end[0].z == edge.end[1].z;
  for (int i = 0; i < (one ? 1 : 2); i++) {
    add_corner(face, pose_point(b_in_a, edge.end[i]), out);
  }
  *radius = edge.radius;
  *feature_id = edge.feature_id;
}

// ---------------------------------------------------------------------------------------------
// Points

// Feature id: the two edges that meet at the point (9 bits each), reference and incident face (6
// bits each).
static uint32_t feature_of(const clip_vertex *p, int face, int other)
{
  return (uint32_t)p->in | (uint32_t)p->out << 9 | (uint32_t)(face & 63) << 18 |
         (uint32_t)(other & 63) << 24;
}

static int drop_above_margin(const clip_polygon *over, float limit, clip_vertex *kept)
{
  int count = 0;
  for (int i = 0; i < over->count; i++) {
    if (over->vertex[i].height <= limit) {
      kept[count++] = over->vertex[i];
    }
  }
  return count;
}

void face_manifold(const face_frame *face, const clip_polygon *over, float radius, int feature_id,
                   pose b_in_a, float margin, float reach, manifold *m)
{
  clip_vertex near[MAX_CLIP_VERTICES];
  int chosen[MAX_MANIFOLD_POINTS];
  int count = drop_above_margin(over, margin + radius, near);
  count = select_contact_points(near, count, reach, chosen);
  m->form = MANIFOLD_FLAT;
  m->count = count;
  m->normal = face->along;
  m->radius_a = 0.0f;
  m->radius_b = radius;
  for (int i = 0; i < count; i++) {
    const clip_vertex *p = &near[chosen[i]];
    tn_vec3 foot = tn_add(face->origin, tn_add(tn_scale(p->u, face->u), tn_scale(p->v, face->v)));
    tn_vec3 b = tn_add(foot, tn_scale(p->height, face->along));
    m->points[i] = (manifold_point){.a = foot,
                                    .b = pose_inverse_point(b_in_a, b),
                                    .gap = p->height - radius,
                                    .feature = feature_of(p, face->feature_id, feature_id)};
  }
}

void point_manifold(manifold *m, manifold_form form, tn_vec3 normal, tn_vec3 a, tn_vec3 b,
                    float radius_a, float radius_b, uint32_t feature, pose b_in_a)
{
  m->form = form;
  m->count = 1;
  m->normal = normal;
  m->radius_a = radius_a;
  m->radius_b = radius_b;
  float gap = tn_dot(normal, tn_sub(b, a)) - radius_a - radius_b;
  m->points[0] =
      (manifold_point){.a = a, .b = pose_inverse_point(b_in_a, b), .gap = gap, .feature = feature};
}

// ---------------------------------------------------------------------------------------------
// Planes

// All vertices within the margin, since without sides there is nothing to clip.
static int vertices_below_plane(const geometry *b, pose b_in_a, const face_frame *face,
                                float margin, clip_polygon *out)
{
  const tn_vec3 *points = b->corner;
  tn_vec3 h = b->half_extents, box[8];
  int count = 3;
  if (b->kind == TN_SHAPE_HULL) {
    points = b->hull->vertices;
    count = b->hull->vertex_count;
  } else if (b->kind == TN_SHAPE_BOX) {
    for (int i = 0; i < 8; i++) {
      box[i] = tn_v3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z);
    }
    points = box;
    count = 8;
  }
  out->count = 0;
  for (int i = 0; i < count && out->count < MAX_CLIP_VERTICES; i++) {
    clip_vertex p = face_project(face, pose_point(b_in_a, points[i]));
    p.in = p.out = (uint16_t)(i & (MAX_FACE_VERTICES - 1));
    if (p.height <= margin) {
      out->vertex[out->count++] = p;
    }
  }
  return out->count;
}

bool collide_plane(const geometry *b, pose b_in_a, float margin, manifold *m)
{
  face_frame face;
  face.origin = tn_v3(0.0f, 0.0f, 0.0f);
  face.u = tn_v3(0.0f, 0.0f, 1.0f);
  face.v = tn_v3(1.0f, 0.0f, 0.0f);
  face.normal = tn_v3(0.0f, 1.0f, 0.0f);
  face_frame_straight(&face);
  face.feature_id = face.side_count = 0;
  if (rim_manifold(&face, b, b_in_a, margin, m)) {
    return m->count > 0;
  }
  clip_polygon over;
  float radius = 0.0f;
  int feature_id = 0;
  if (b->kind == TN_SHAPE_BOX || b->kind == TN_SHAPE_HULL || b->kind == GEOMETRY_TRIANGLE) {
    vertices_below_plane(b, b_in_a, &face, margin, &over);
  } else {
    incident_feature(b, b_in_a, face.normal, &face, &over, &radius, &feature_id);
  }
  face_manifold(&face, &over, radius, feature_id, b_in_a, margin, INFINITY, m);
  return m->count > 0;
}
