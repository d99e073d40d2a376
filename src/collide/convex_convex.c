// Generic convex pair. GJK or EPA gives the direction of contact; the features that face each other
// along it give the points. Tried in order: a face of A or B clips the other shape's feature, two
// edges cross or run in parallel, and as a fallback the two witness points.
#include "base/rules.h"
#include "collide/collide_tuning.h"
#include "collide/convex_manifold.h"
#include "collide/distance.h"

// Feature id bit: the reference face belongs to B.
#define FEATURE_OF_B (UINT32_C(1) << 30)

typedef struct convex_pair {
  const geometry *a, *b;
  pose b_in_a;
  float margin;
  tn_vec3 normal;               // unit, from A to B
  float separation;             // of the surfaces along the normal; negative: penetration
  tn_vec3 witness_a, witness_b; // ends of the shortest segment between the cores, in A's frame
  float size;                   // inner radius of the smaller shape
  float rounding;               // error bound of the separation
  tn_vec3 side; // normal of a triangle A on the side of B's centre, when they overlap; else zero
  bool face_normal_forced; // `normal` is `side`, not the shortest way out
} convex_pair;

static tn_vec3 convex_centroid(const geometry *g)
{
  if (g->kind == TN_SHAPE_HULL) {
    return g->hull->center;
  }
  if (g->kind == GEOMETRY_TRIANGLE) {
    return tn_scale(1.0f / 3.0f, tn_add(g->corner[0], tn_add(g->corner[1], g->corner[2])));
  }
  return tn_v3(0.0f, 0.0f, 0.0f);
}

static tn_vec3 support_of_b(const convex_pair *k, tn_vec3 direction)
{
  d3 local = core_support(k->b, d3_from_vec3(pose_inverse_vector(k->b_in_a, direction)));
  return pose_point(k->b_in_a, vec3_from_d3(local));
}

static float size_of_smaller(const geometry *a, const geometry *b)
{
  return smaller_inner_radius(geometry_inner_radius(a), geometry_inner_radius(b));
}

// A triangle has no inside, so EPA may push to either side. B must leave to the side its centre is
// on.
static void choose_triangle_side(convex_pair *k)
{
  face_polygon front;
  tn_vec3 center = pose_point(k->b_in_a, convex_centroid(k->b));
  supporting_face(k->a, tn_sub(center, k->a->corner[0]), &front);
  if (k->separation >= 0.0f) {
    return;
  }
  k->side = front.normal;
  if (tn_dot(k->normal, k->side) >= 0.0f) {
    return;
  }
  k->normal = front.normal;
  k->face_normal_forced = true;
  tn_vec3 lowest = support_of_b(k, tn_scale(-1.0f, k->normal));
  float height = tn_dot(k->normal, tn_sub(lowest, k->a->corner[0]));
  k->witness_b = tn_add(k->witness_a, tn_scale(height, k->normal));
  k->separation = height - core_radius(k->b);
}

static bool find_separation(convex_pair *k, core_start *start)
{
  core_pair pair = core_pair_make(k->a, k->b, k->b_in_a);
  core_gap gap;
  float radii = core_radius(k->a) + core_radius(k->b);
  if (!core_distance(&pair, (double)(k->margin + radii), start, &gap)) {
    return false;
  }
  k->normal = vec3_from_d3(gap.normal);
  k->separation = (float)(gap.distance - (double)radii);
  k->witness_a = vec3_from_d3(gap.a);
  k->witness_b = vec3_from_d3(gap.b);
  k->size = size_of_smaller(k->a, k->b);
  k->rounding = COLLIDE_CONVEX_ROUNDING * ((float)pair.scale + radii);
  if (k->a->kind == GEOMETRY_TRIANGLE) {
    choose_triangle_side(k);
  }
  return true;
}

static convex_pair swap_shapes(const convex_pair *k)
{
  convex_pair s = *k;
  s.face_normal_forced = false;
  s.a = k->b;
  s.b = k->a;
  s.b_in_a = pose_inverse(k->b_in_a);
  s.normal = pose_inverse_vector(k->b_in_a, tn_scale(-1.0f, k->normal));
  s.witness_a = pose_inverse_point(k->b_in_a, k->witness_b);
  s.witness_b = pose_inverse_point(k->b_in_a, k->witness_a);
  return s;
}

static float deepest_point_gap(const manifold *m)
{
  float gap = INFINITY;
  for (int i = 0; i < m->count; i++) {
    gap = m->points[i].gap < gap ? m->points[i].gap : gap;
  }
  return gap;
}

// ---------------------------------------------------------------------------------------------
// A face of A

// By how much the separation along a face normal may fall short of the largest one for the face to
// be chosen. More is allowed when both directions nearly agree, and always a rounding error:
// hysteresis, so that the choice does not change from step to step. Separated round shapes have an
// exact direction and hardly need it.
static float face_tolerance(const convex_pair *k, float cosine, float distance)
{
  bool round = core_radius(k->b) > 0.0f && distance > 0.0f;
  float lead = round ? COLLIDE_AXIS_LEAD_ROUND : COLLIDE_AXIS_LEAD;
  if (!RULE(axis_hysteresis)) {
    return k->rounding;
  }
  float tolerance = lead * fabsf(distance) + k->rounding;
  return cosine > COLLIDE_AXIS_PARALLEL_COSINE ? tolerance + COLLIDE_FACE_PARALLEL_LEAD * k->size
                                               : tolerance;
}

static bool has_vertex_near(const clip_polygon *polygon, const clip_vertex *p, float distance)
{
  for (int i = 0; i < polygon->count; i++) {
    float u = polygon->vertex[i].u - p->u, v = polygon->vertex[i].v - p->v;
    if (u * u + v * v < distance * distance) {
      return true;
    }
  }
  return false;
}

// A hull may stand on an edge or ridge that is not part of the face it turns to A most: a wedge
// whose end faces are less steep than its sides would rock from end to end. Adds the lowest edge of
// B.
static void add_lowest_edge(const convex_pair *k, const face_frame *face, clip_polygon *over)
{
  tn_vec3 down = pose_inverse_vector(k->b_in_a, tn_scale(-1.0f, face->normal));
  segment edge = supporting_edge(k->b, down);
  clip_polygon ends;
  ends.count = 2;
  for (int i = 0; i < 2; i++) {
    ends.vertex[i] = face_project(face, pose_point(k->b_in_a, edge.end[i]));
    ends.vertex[i].in = ends.vertex[i].out = (uint16_t)(MAX_FACE_VERTICES - 1 - i);
  }
  clip(&ends, face->sides, face->side_count);
  for (int i = 0; i < ends.count && over->count < MAX_CLIP_VERTICES; i++) {
    if (!has_vertex_near(over, &ends.vertex[i], COLLIDE_SAME_VERTEX * k->size)) {
      over->vertex[over->count++] = ends.vertex[i];
    }
  }
}

// The points of B's feature over a face of A, along the face's normal or, where edges cross, along
// that of the contact. `tolerance`: rounding of the separation.
static bool clip_on_face_of_a(const convex_pair *k, const face_polygon *seen, bool crossing,
                              float tolerance, manifold *m)
{
  face_frame face;
  face_frame_make(&face, seen, k->witness_a,
                  (RULE(face_slack) ? COLLIDE_FACE_SLACK : 0.0f) * k->size);
  bool flat = k->a->kind != TN_SHAPE_CYLINDER && k->a->kind != TN_SHAPE_CONE;
  if (flat && rim_manifold(&face, k->b, k->b_in_a, k->margin, m) && m->count > 0) {
    return deepest_point_gap(m) <= k->separation + tolerance;
  }
  clip_polygon over;
  float radius;
  int feature_id;
  if (crossing) {
    face_frame_tilt(&face, k->normal);
  }
  incident_feature(k->b, k->b_in_a, face.along, &face, &over, &radius, &feature_id);
  clip(&over, face.sides, face.side_count);
  if (k->b->kind == TN_SHAPE_HULL) {
    add_lowest_edge(k, &face, &over);
  }
  bool on_facet = k->a->kind == GEOMETRY_TRIANGLE || k->b->kind == GEOMETRY_TRIANGLE;
  float reach = on_facet ? COLLIDE_NEAR_POINTS : INFINITY;
  face_manifold(&face, &over, radius, feature_id, k->b_in_a, k->margin, reach, m);
  return m->count > 0 &&
         (k->face_normal_forced || deepest_point_gap(m) <= k->separation + tolerance);
}

static bool manifold_on_face_of_a(const convex_pair *k, manifold *m)
{
  face_polygon seen;
  if (!supporting_face(k->a, k->normal, &seen)) {
    return false;
  }
  float cosine = tn_dot(seen.normal, k->normal);
  if (cosine < COLLIDE_FACE_COSINE) {
    return false;
  }
  float distance = k->separation + core_radius(k->b);
  float tolerance = face_tolerance(k, cosine, distance);
  tn_vec3 lowest = support_of_b(k, tn_scale(-1.0f, seen.normal));
  if (tn_dot(seen.normal, tn_sub(lowest, seen.corner[0])) < distance - tolerance) {
    return false;
  }
  return clip_on_face_of_a(k, &seen, false, tolerance, m);
}

static bool is_polyhedron(const geometry *g)
{
  return g->kind == TN_SHAPE_BOX || g->kind == TN_SHAPE_HULL || g->kind == GEOMETRY_TRIANGLE;
}

// Edges cross where a face of A is nearly parallel to both: all of that face may touch within a
// step.
static bool manifold_on_face_and_edges(const convex_pair *k, manifold *m)
{
  face_polygon seen;
  return is_polyhedron(k->a) && is_polyhedron(k->b) && supporting_face(k->a, k->normal, &seen) &&
         tn_dot(seen.normal, k->normal) > COLLIDE_AXIS_PARALLEL_COSINE &&
         clip_on_face_of_a(k, &seen, true, face_tolerance(k, 1.0f, k->separation), m);
}

static bool manifold_on_face_of_b(const convex_pair *k, bool crossing, manifold *m)
{
  convex_pair s = swap_shapes(k);
  if (crossing ? !manifold_on_face_and_edges(&s, m) : !manifold_on_face_of_a(&s, m)) {
    return false;
  }
  manifold_flip(m, s.b_in_a);
  if (tn_dot(m->normal, k->side) < 0.0f) {
    return false;
  }
  for (int i = 0; i < m->count; i++) {
    m->points[i].feature |= FEATURE_OF_B;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Edges

static double clamp01(double x)
{
  return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

static tn_vec3 segment_at(const segment *l, double t)
{
  d3 p = d3_from_vec3(l->end[0]), q = d3_from_vec3(l->end[1]);
  return vec3_from_d3(d3_add(p, d3_scale(t, d3_sub(q, p))));
}

static double closest_on(const segment *l, tn_vec3 point)
{
  d3 p = d3_from_vec3(l->end[0]), d = d3_sub(d3_from_vec3(l->end[1]), p);
  double square = d3_dot(d, d);
  return square > 0.0 ? clamp01(d3_dot(d, d3_sub(d3_from_vec3(point), p)) / square) : 0.0;
}

// Parameters of the closest points of two segments, both in [0, 1]. The search on parallel segments
// starts from the middle of the first.
static void closest_parameters(const segment *l, const segment *k, double *s, double *t)
{
  d3 p = d3_from_vec3(l->end[0]), d = d3_sub(d3_from_vec3(l->end[1]), p);
  d3 q = d3_from_vec3(k->end[0]), e = d3_sub(d3_from_vec3(k->end[1]), q), r = d3_sub(q, p);
  double dd = d3_dot(d, d), ee = d3_dot(e, e), de = d3_dot(d, e);
  double dr = d3_dot(d, r), er = d3_dot(e, r), det = dd * ee - de * de;
  *s = det > COLLIDE_SEGMENTS_PARALLEL * dd * ee ? clamp01((dr * ee - de * er) / det) : 0.5;
  *t = ee > 0.0 ? clamp01((*s * de - er) / ee) : 0.0;
  *s = dd > 0.0 ? clamp01((dr + *t * de) / dd) : 0.0;
}

static segment transformed(pose at, segment l)
{
  l.end[0] = pose_point(at, l.end[0]);
  l.end[1] = pose_point(at, l.end[1]);
  return l;
}

static uint32_t feature_of_edges(const segment *l, const segment *k, int which)
{
  return UINT32_C(1) << 31 | (uint32_t)(l->feature_id & 0x3fff) |
         (uint32_t)(k->feature_id & 0x3fff) << 14 | (uint32_t)which << 28;
}

static void set_segments(manifold *m, const segment *l, const segment *k, pose b_in_a)
{
  m->segment[0][0] = l->end[0];
  m->segment[0][1] = l->end[1];
  m->segment[1][0] = pose_inverse_point(b_in_a, k->end[0]);
  m->segment[1][1] = pose_inverse_point(b_in_a, k->end[1]);
}

// Whether the direction between the core segments stays well defined until the surfaces touch, so
// that the normal may follow it (MANIFOLD_ROUND): the cores must be apart by 1 % of the radii.
static bool keeps_direction(const segment *l, const segment *k, float distance)
{
  float radii = l->radius + k->radius;
  return radii > 0.0f && distance > COLLIDE_ROUND_MIN_DISTANCE * radii;
}

// Two points at the ends of the overlap of nearly parallel segments (within 1.8 degrees). Each pair
// of core points must lie opposite each other along the normal: thin rods that cross at a small
// angle touch in one point only.
static bool manifold_of_parallel_segments(const convex_pair *k, const segment *la,
                                          const segment *lb, tn_vec3 normal, manifold *m)
{
  tn_vec3 d = tn_sub(la->end[1], la->end[0]), e = tn_sub(lb->end[1], lb->end[0]);
  tn_vec3 c = tn_cross(d, e);
  float dd = tn_dot(d, d), ee = tn_dot(e, e);
  if (tn_dot(c, c) > COLLIDE_PARALLEL_SINE2 * dd * ee || dd * ee == 0.0f) {
    return false;
  }
  double s[2] = {closest_on(la, lb->end[0]), closest_on(la, lb->end[1])};
  float shorter_length = sqrtf(dd < ee ? dd : ee);
  if ((float)fabs(s[1] - s[0]) * sqrtf(dd) < COLLIDE_PARALLEL_OVERLAP * shorter_length) {
    return false;
  }
  m->form = MANIFOLD_FLAT;
  m->count = 2;
  m->normal = normal;
  m->radius_a = la->radius;
  m->radius_b = lb->radius;
  bool forward = s[0] <= s[1];
  for (int i = 0; i < 2; i++) {
    tn_vec3 a = segment_at(la, s[forward ? i : 1 - i]), b = segment_at(lb, closest_on(lb, a));
    float height = tn_dot(normal, tn_sub(b, a)), gap = height - la->radius - lb->radius;
    float aside = tn_length(tn_sub(tn_sub(b, a), tn_scale(height, normal)));
    if (gap > k->margin || aside > COLLIDE_PARALLEL_ASIDE * (la->radius + lb->radius) +
                                       COLLIDE_PARALLEL_ASIDE_SIZE * k->size) {
      return false;
    }
    m->points[i] = (manifold_point){.a = a,
                                    .b = pose_inverse_point(k->b_in_a, b),
                                    .gap = gap,
                                    .feature = feature_of_edges(la, lb, i)};
  }
  return true;
}

static bool manifold_on_edges(const convex_pair *k, manifold *m)
{
  segment la = supporting_edge(k->a, k->normal);
  segment lb = transformed(
      k->b_in_a, supporting_edge(k->b, pose_inverse_vector(k->b_in_a, tn_scale(-1.0f, k->normal))));
  double s, t;
  closest_parameters(&la, &lb, &s, &t);
  tn_vec3 a = segment_at(&la, s), b = segment_at(&lb, t), delta = tn_sub(b, a);
  float distance = tn_length(delta), radii = la.radius + lb.radius;
  float tolerance = COLLIDE_EDGE_MATCH * (fabsf(k->separation) + radii) + k->rounding;
  float height = tn_dot(delta, k->normal);
  float aside = tn_length(tn_sub(delta, tn_scale(height, k->normal)));
  if (fabsf(height - radii - k->separation) > tolerance ||
      aside > COLLIDE_EDGE_ASIDE * fabsf(height) + tolerance) {
    return false;
  }
  bool round = keeps_direction(&la, &lb, distance) && aside < COLLIDE_EDGE_ROUND * height;
  tn_vec3 normal = round ? tn_scale(1.0f / distance, delta) : k->normal;
  if (!manifold_of_parallel_segments(k, &la, &lb, normal, m) ||
      deepest_point_gap(m) > k->separation + tolerance) {
    point_manifold(m, MANIFOLD_FLAT, normal, a, b, la.radius, lb.radius,
                   feature_of_edges(&la, &lb, 0), k->b_in_a);
  }
  if (round) {
    m->form = MANIFOLD_ROUND;
    set_segments(m, &la, &lb, k->b_in_a);
  }
  return true;
}

// Fallback for corners, rims and all other features: one point at the witnesses.
static void manifold_at_witnesses(const convex_pair *k, manifold *m)
{
  segment la = {{k->witness_a, k->witness_a}, core_radius(k->a), 0};
  segment lb = {{k->witness_b, k->witness_b}, core_radius(k->b), 0};
  tn_vec3 delta = tn_sub(k->witness_b, k->witness_a);
  bool round = keeps_direction(&la, &lb, tn_dot(delta, k->normal));
  // The witnesses lie along the normal only up to rounding and the tolerance of GJK or EPA: place
  // them exactly along it, around their midpoint.
  float distance = k->separation + la.radius + lb.radius;
  tn_vec3 middle = tn_scale(0.5f, tn_add(k->witness_a, k->witness_b));
  tn_vec3 half = tn_scale(0.5f * distance, k->normal);
  point_manifold(m, MANIFOLD_FLAT, k->normal, tn_sub(middle, half), tn_add(middle, half), la.radius,
                 lb.radius, UINT32_C(3) << 30, k->b_in_a);
  if (!round) {
    return;
  }
  m->form = MANIFOLD_ROUND;
  if (k->a->kind == TN_SHAPE_CAPSULE) {
    la = supporting_edge(k->a, k->normal);
  }
  if (k->b->kind == TN_SHAPE_CAPSULE) {
    lb = transformed(k->b_in_a, supporting_edge(k->b, k->normal));
  }
  set_segments(m, &la, &lb, k->b_in_a);
}

// Faces of a cylinder or cone are polygons that approximate a disc, so the other shape's face comes
// first.
static bool manifold_of_features(convex_pair *k, manifold *m)
{
  bool round_first = k->a->kind == TN_SHAPE_CYLINDER || k->a->kind == TN_SHAPE_CONE;
  bool found = round_first ? manifold_on_face_of_b(k, false, m) || manifold_on_face_of_a(k, m)
                           : manifold_on_face_of_a(k, m) ||
                                 (!k->face_normal_forced && manifold_on_face_of_b(k, false, m));
  found = found || (!k->face_normal_forced &&
                    (manifold_on_face_and_edges(k, m) || manifold_on_face_of_b(k, true, m)));
  if (!found && (k->face_normal_forced || !manifold_on_edges(k, m))) {
    manifold_at_witnesses(k, m);
  }
  return m->count > 0;
}

bool collide_convex_generic(const geometry *a, const geometry *b, pose b_in_a, float margin,
                            core_start *start, manifold *m)
{
  convex_pair k = {.a = a, .b = b, .b_in_a = b_in_a, .margin = margin};
  return find_separation(&k, start) && manifold_of_features(&k, m);
}

bool collide_at_vertex(const geometry *a, const geometry *b, pose b_in_a, float margin,
                       tn_vec3 normal, float distance, tn_vec3 vertex, manifold *m)
{
  convex_pair k = {.a = a,
                   .b = b,
                   .b_in_a = b_in_a,
                   .margin = margin,
                   .normal = normal,
                   .separation = distance,
                   .witness_a = tn_sub(vertex, tn_scale(distance, normal)),
                   .witness_b = vertex,
                   .size = size_of_smaller(a, b)};
  for (int i = 0; i < 3; i++) {
    float apart = tn_length(tn_sub(vertex, a->corner[i]));
    k.rounding = fmaxf(k.rounding, COLLIDE_CONVEX_ROUNDING * apart);
  }
  if (distance < 0.0f) {
    k.side = normal;
  }
  *m = (manifold){.count = 0};
  return manifold_of_features(&k, m);
}
