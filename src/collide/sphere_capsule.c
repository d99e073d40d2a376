// Closed forms: spheres and capsules among each other, and spheres against boxes.
#include "collide/collide_tuning.h"
#include "collide/convex_manifold.h"

static float clamp(float x, float lo, float hi)
{
  return x < lo ? lo : x > hi ? hi : x;
}

// Closest points of two axes: (0, s, 0) of A, s in [-ha, ha], and p + t d of B, t in [-hb, hb],
// with unit d. Parallel axes start from t = 0.
static void closest_on_axes(float ha, float hb, tn_vec3 p, tn_vec3 d, float *s, float *t)
{
  float det = d.x * d.x + d.z * d.z;
  float across = d.x * p.x + d.z * p.z; // the parts of d and p perpendicular to A's axis
  *t = det > COLLIDE_AXES_PARALLEL ? clamp(-across / det, -hb, hb) : 0.0f;
  *s = clamp(p.y + *t * d.y, -ha, ha);
  *t = clamp(d.y * *s - tn_dot(d, p), -hb, hb);
  *s = clamp(p.y + *t * d.y, -ha, ha);
}

static tn_vec3 perpendicular_to_y(tn_vec3 d)
{
  float across = sqrtf(d.x * d.x + d.z * d.z);
  return across > COLLIDE_AXES_PARALLEL ? tn_v3(d.z / across, 0.0f, -d.x / across)
                                        : tn_v3(1.0f, 0.0f, 0.0f);
}

// For nearly parallel axes (within 1.8 degrees), replaces the point by the two ends of their
// overlap. The two core points of each must lie opposite each other along the normal.
static void add_parallel_points(manifold *m, float ha, float hb, pose b_in_a, tn_vec3 d,
                                float margin)
{
  float t0 = clamp((-ha - b_in_a.p.y) * d.y, -hb, hb), t1 = clamp((ha - b_in_a.p.y) * d.y, -hb, hb);
  float shorter = ha < hb ? ha : hb;
  if (fabsf(t1 - t0) < COLLIDE_CAPSULE_OVERLAP * shorter ||
      d.x * d.x + d.z * d.z > COLLIDE_PARALLEL_SINE2) {
    return;
  }
  manifold_point points[2];
  float t[2] = {t0, t1};
  for (int i = 0; i < 2; i++) {
    tn_vec3 b = tn_add(b_in_a.p, tn_scale(t[i], d)), a = tn_v3(0.0f, clamp(b.y, -ha, ha), 0.0f);
    float height = tn_dot(m->normal, tn_sub(b, a)), radii = m->radius_a + m->radius_b;
    float aside = tn_length(tn_sub(tn_sub(b, a), tn_scale(height, m->normal)));
    float gap = height - radii;
    if (gap > margin || aside > COLLIDE_PARALLEL_ASIDE * radii) {
      return;
    }
    points[i] = (manifold_point){
        .a = a, .b = tn_v3(0.0f, t[i], 0.0f), .gap = gap, .feature = (uint32_t)i + 1};
  }
  m->points[0] = points[0];
  m->points[1] = points[1];
  m->count = 2;
}

bool collide_capsules(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *m)
{
  float ha = a->kind == TN_SHAPE_CAPSULE ? a->half_length : 0.0f;
  float hb = b->kind == TN_SHAPE_CAPSULE ? b->half_length : 0.0f;
  float radii = a->radius + b->radius, s, t;
  tn_vec3 d = pose_vector(b_in_a, tn_v3(0.0f, 1.0f, 0.0f));
  closest_on_axes(ha, hb, b_in_a.p, d, &s, &t);
  tn_vec3 at_a = tn_v3(0.0f, s, 0.0f), at_b = tn_add(b_in_a.p, tn_scale(t, d));
  tn_vec3 delta = tn_sub(at_b, at_a);
  float distance = tn_length(delta);
  if (distance > radii + margin) {
    return false;
  }
  // Axes that intersect have no direction between them: push along their common perpendicular.
  bool apart = distance > COLLIDE_AXES_CROSSING * (radii + tn_length(b_in_a.p));
  tn_vec3 normal = apart ? tn_scale(1.0f / distance, delta) : perpendicular_to_y(d);
  point_manifold(m, apart ? MANIFOLD_ROUND : MANIFOLD_FLAT, normal, at_a, at_b, a->radius,
                 b->radius, 0, b_in_a);
  m->points[0].b = tn_v3(0.0f, t, 0.0f);
  if (ha > 0.0f && hb > 0.0f) {
    add_parallel_points(m, ha, hb, b_in_a, d, margin);
  }
  if (m->form == MANIFOLD_ROUND) {
    m->segment[0][0] = tn_v3(0.0f, -ha, 0.0f);
    m->segment[0][1] = tn_v3(0.0f, ha, 0.0f);
    m->segment[1][0] = tn_v3(0.0f, -hb, 0.0f);
    m->segment[1][1] = tn_v3(0.0f, hb, 0.0f);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Sphere against box

// Centre inside the box: push out through the nearest face.
static bool sphere_in_box(tn_vec3 half, tn_vec3 c, float radius, pose b_in_a, manifold *m)
{
  float p[3] = {c.x, c.y, c.z}, h[3] = {half.x, half.y, half.z};
  int axis = 0;
  for (int i = 1; i < 3; i++) {
    if (h[i] - fabsf(p[i]) < h[axis] - fabsf(p[axis])) {
      axis = i;
    }
  }
  float n[3] = {0.0f, 0.0f, 0.0f}, side = p[axis] >= 0.0f ? 1.0f : -1.0f;
  n[axis] = side;
  p[axis] = side * h[axis];
  point_manifold(m, MANIFOLD_FLAT, tn_v3(n[0], n[1], n[2]), tn_v3(p[0], p[1], p[2]), c, 0.0f,
                 radius, (uint32_t)axis << 1 | (side > 0.0f), b_in_a);
  return true;
}

// The feature id has one bit per axis along which the centre is beyond the box: one on a face, two
// on an edge, three at a corner.
bool collide_sphere_box(const geometry *a, const geometry *b, pose b_in_a, float margin,
                        manifold *m)
{
  tn_vec3 h = a->half_extents, c = b_in_a.p;
  tn_vec3 p = tn_v3(clamp(c.x, -h.x, h.x), clamp(c.y, -h.y, h.y), clamp(c.z, -h.z, h.z));
  tn_vec3 delta = tn_sub(c, p);
  float distance = tn_length(delta);
  if (distance > b->radius + margin) {
    return false;
  }
  if (distance <= COLLIDE_SPHERE_INSIDE * b->radius) {
    return sphere_in_box(h, c, b->radius, b_in_a, m);
  }
  bool x = delta.x != 0.0f, y = delta.y != 0.0f, z = delta.z != 0.0f;
  bool on_face = x + y + z == 1;
  uint32_t feature = 1u << 3 | (uint32_t)x | (uint32_t)y << 1 | (uint32_t)z << 2;
  point_manifold(m, on_face ? MANIFOLD_FLAT : MANIFOLD_ROUND, tn_scale(1.0f / distance, delta), p,
                 c, 0.0f, b->radius, feature, b_in_a);
  if (on_face) {
    return true;
  }
  // The core segment of A: the box edge along the one free axis; at a corner both ends coincide.
  tn_vec3 free = tn_v3(x ? p.x : h.x, y ? p.y : h.y, z ? p.z : h.z);
  tn_vec3 other = tn_v3(x ? p.x : -h.x, y ? p.y : -h.y, z ? p.z : -h.z);
  m->segment[0][0] = other;
  m->segment[0][1] = free;
  m->segment[1][0] = m->segment[1][1] = tn_v3(0.0f, 0.0f, 0.0f);
  m->points[0].b = tn_v3(0.0f, 0.0f, 0.0f);
  return true;
}
