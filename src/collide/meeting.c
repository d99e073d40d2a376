// Any two convex shapes: the shortest line between them, or the shortest way out, says in which
// direction they meet; the features that face each other along it say where.
#include "contact.h"
#include "distance.h"

#define FEATURE_OF_B (UINT32_C(1) << 30)

typedef struct meeting {
  const geometry *a, *b;
  pose b_in_a;
  float margin;
  tn_vec3 normal;     // from A to B
  float separation;   // of the surfaces along it
  tn_vec3 at_a, at_b; // ends of the shortest line between the cores, in A's frame
  float size;         // of the smaller shape
  float rounding;     // what the separation may be wrong by
  tn_vec3 side;       // of a triangle A, towards B's centre; zero for other shapes
  bool forced;        // the normal is that side's, whatever the shortest way
} meeting;

static tn_vec3 center_of(const geometry *g)
{
  if (g->kind == TN_SHAPE_HULL)
    return g->hull->center;
  if (g->kind == GEOMETRY_TRIANGLE)
    return tn_scale(1.0f / 3.0f, tn_add(g->corner[0], tn_add(g->corner[1], g->corner[2])));
  return tn_v3(0.0f, 0.0f, 0.0f);
}

static tn_vec3 support_of_b(const meeting *k, tn_vec3 direction)
{
  d3 local = core_support(k->b, d3_of(pose_unvector(k->b_in_a, direction)));
  return pose_point(k->b_in_a, v3_of(local));
}

static float size_of_smaller(const geometry *a, const geometry *b)
{
  return smaller_inner_radius(geometry_inner_radius(a), geometry_inner_radius(b));
}

// A triangle has no inside; what it meets leaves on the side its centre is on.
static void leave_triangle(meeting *k)
{
  outline front;
  tn_vec3 center = pose_point(k->b_in_a, center_of(k->b));
  face_towards(k->a, tn_sub(center, k->a->corner[0]), &front);
  if (k->separation >= 0.0f)
    return;
  k->side = front.normal;
  if (tn_dot(k->normal, k->side) >= 0.0f)
    return;
  k->normal = front.normal;
  k->forced = true;
  tn_vec3 lowest = support_of_b(k, tn_scale(-1.0f, k->normal));
  float height = tn_dot(k->normal, tn_sub(lowest, k->a->corner[0]));
  k->at_b = tn_add(k->at_a, tn_scale(height, k->normal));
  k->separation = height - core_radius(k->b);
}

static bool meet(meeting *k)
{
  core_pair pair = core_pair_make(k->a, k->b, k->b_in_a);
  core_gap gap;
  float radii = core_radius(k->a) + core_radius(k->b);
  if (!core_distance(&pair, (double)(k->margin + radii), &gap))
    return false;
  k->normal = v3_of(gap.normal);
  k->separation = (float)(gap.distance - (double)radii);
  k->at_a = v3_of(gap.a);
  k->at_b = v3_of(gap.b);
  k->size = size_of_smaller(k->a, k->b);
  k->rounding = 3e-7f * ((float)pair.scale + radii);
  if (k->a->kind == GEOMETRY_TRIANGLE)
    leave_triangle(k);
  return true;
}

static meeting swapped(const meeting *k)
{
  meeting s = *k;
  s.forced = false;
  s.a = k->b;
  s.b = k->a;
  s.b_in_a = pose_inverse(k->b_in_a);
  s.normal = pose_unvector(k->b_in_a, tn_scale(-1.0f, k->normal));
  s.at_a = pose_unpoint(k->b_in_a, k->at_b);
  s.at_b = pose_unpoint(k->b_in_a, k->at_a);
  return s;
}

static float deepest_gap(const manifold *m)
{
  float gap = INFINITY;
  for (int i = 0; i < m->count; i++)
    gap = m->points[i].gap < gap ? m->points[i].gap : gap;
  return gap;
}

// ---------------------------------------------------------------------------------------------
// A face of A

// A face counts if leaving along its normal is as short as the shortest way, or nearly; more
// nearly when the two directions agree, so that rounding does not switch between them.
static float face_tolerance(const meeting *k, float cosine, float distance)
{
  bool round = core_radius(k->b) > 0.0f && distance > 0.0f;
  float tolerance = (round ? 2e-4f : 0.05f) * fabsf(distance) + k->rounding;
  return cosine > 0.99f ? tolerance + 1e-4f * k->size : tolerance;
}

static bool meets_face(const meeting *k, manifold *m)
{
  outline seen;
  if (!face_towards(k->a, k->normal, &seen))
    return false;
  float cosine = tn_dot(seen.normal, k->normal);
  if (cosine < 0.70710678f)
    return false;
  float distance = k->separation + core_radius(k->b);
  float tolerance = face_tolerance(k, cosine, distance);
  tn_vec3 lowest = support_of_b(k, tn_scale(-1.0f, seen.normal));
  if (tn_dot(seen.normal, tn_sub(lowest, seen.corner[0])) < distance - tolerance)
    return false;
  face_frame face;
  face_frame_make(&face, &seen, k->at_a, 2e-4f * k->size);
  bool flat = k->a->kind != TN_SHAPE_CYLINDER && k->a->kind != TN_SHAPE_CONE;
  if (flat && rim_manifold(&face, k->b, k->b_in_a, k->margin, m) && m->count > 0)
    return deepest_gap(m) <= k->separation + tolerance;
  clip_polygon over;
  float radius;
  int name;
  face_incident(k->b, k->b_in_a, seen.normal, &face, &over, &radius, &name);
  clip(&over, face.sides, face.side_count);
  face_manifold(&face, &over, radius, name, k->b_in_a, k->margin, m);
  return m->count > 0 && (k->forced || deepest_gap(m) <= k->separation + tolerance);
}

static bool meets_face_of_b(const meeting *k, manifold *m)
{
  meeting s = swapped(k);
  if (!meets_face(&s, m))
    return false;
  manifold_flip(m, s.b_in_a);
  if (tn_dot(m->normal, k->side) < 0.0f)
    return false;
  for (int i = 0; i < m->count; i++)
    m->points[i].feature |= FEATURE_OF_B;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Edges

static double clamped(double x)
{
  return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

static tn_vec3 along(const line *l, double t)
{
  d3 p = d3_of(l->end[0]), q = d3_of(l->end[1]);
  return v3_of(d3_add(p, d3_scale(t, d3_sub(q, p))));
}

static double closest_on(const line *l, tn_vec3 point)
{
  d3 p = d3_of(l->end[0]), d = d3_sub(d3_of(l->end[1]), p);
  double square = d3_dot(d, d);
  return square > 0.0 ? clamped(d3_dot(d, d3_sub(d3_of(point), p)) / square) : 0.0;
}

// Places on two segments that are closest to each other.
static void closest_places(const line *l, const line *k, double *s, double *t)
{
  d3 p = d3_of(l->end[0]), d = d3_sub(d3_of(l->end[1]), p);
  d3 q = d3_of(k->end[0]), e = d3_sub(d3_of(k->end[1]), q), r = d3_sub(q, p);
  double dd = d3_dot(d, d), ee = d3_dot(e, e), de = d3_dot(d, e);
  double dr = d3_dot(d, r), er = d3_dot(e, r), det = dd * ee - de * de;
  *s = det > 1e-12 * dd * ee ? clamped((dr * ee - de * er) / det) : 0.5;
  *t = ee > 0.0 ? clamped((*s * de - er) / ee) : 0.0;
  *s = dd > 0.0 ? clamped((dr + *t * de) / dd) : 0.0;
}

static line placed(pose at, line l)
{
  l.end[0] = pose_point(at, l.end[0]);
  l.end[1] = pose_point(at, l.end[1]);
  return l;
}

static uint32_t feature_of_lines(const line *l, const line *k, int which)
{
  return UINT32_C(1) << 31 | (uint32_t)(l->name & 0x3fff) | (uint32_t)(k->name & 0x3fff) << 14 |
         (uint32_t)which << 28;
}

static void set_segments(manifold *m, const line *l, const line *k, pose b_in_a)
{
  m->segment[0][0] = l->end[0];
  m->segment[0][1] = l->end[1];
  m->segment[1][0] = pose_unpoint(b_in_a, k->end[0]);
  m->segment[1][1] = pose_unpoint(b_in_a, k->end[1]);
}

// Whether the line between two cores keeps its direction when the surfaces come to touch.
static bool is_round(const line *l, const line *k, float distance)
{
  float radii = l->radius + k->radius;
  return radii > 0.0f && distance > 0.01f * radii;
}

// Two points where nearly parallel segments lie beside each other, as long as these are opposite
// each other: thin rods that cross at a small angle touch in one.
static bool lines_side_by_side(const meeting *k, const line *la, const line *lb, tn_vec3 normal,
                               manifold *m)
{
  tn_vec3 d = tn_sub(la->end[1], la->end[0]), e = tn_sub(lb->end[1], lb->end[0]);
  tn_vec3 c = tn_cross(d, e);
  float dd = tn_dot(d, d), ee = tn_dot(e, e);
  if (tn_dot(c, c) > 1e-3f * dd * ee || dd * ee == 0.0f)
    return false;
  double s[2] = {closest_on(la, lb->end[0]), closest_on(la, lb->end[1])};
  float reach = sqrtf(dd < ee ? dd : ee);
  if ((float)fabs(s[1] - s[0]) * sqrtf(dd) < 0.05f * reach)
    return false;
  m->form = MANIFOLD_FLAT;
  m->count = 2;
  m->normal = normal;
  m->radius_a = la->radius;
  m->radius_b = lb->radius;
  bool forward = s[0] <= s[1];
  for (int i = 0; i < 2; i++) {
    tn_vec3 a = along(la, s[forward ? i : 1 - i]), b = along(lb, closest_on(lb, a));
    float height = tn_dot(normal, tn_sub(b, a)), gap = height - la->radius - lb->radius;
    float aside = tn_length(tn_sub(tn_sub(b, a), tn_scale(height, normal)));
    if (gap > k->margin || aside > 0.03f * (la->radius + lb->radius) + 1e-3f * k->size)
      return false;
    m->points[i] = (manifold_point){.a = a,
                                    .b = pose_unpoint(k->b_in_a, b),
                                    .gap = gap,
                                    .feature = feature_of_lines(la, lb, i)};
  }
  return true;
}

static bool meets_edges(const meeting *k, manifold *m)
{
  line la = edge_towards(k->a, k->normal);
  line lb =
      placed(k->b_in_a, edge_towards(k->b, pose_unvector(k->b_in_a, tn_scale(-1.0f, k->normal))));
  double s, t;
  closest_places(&la, &lb, &s, &t);
  tn_vec3 a = along(&la, s), b = along(&lb, t), way = tn_sub(b, a);
  float distance = tn_length(way), radii = la.radius + lb.radius;
  float tolerance = 2e-4f * (fabsf(k->separation) + radii) + k->rounding;
  float height = tn_dot(way, k->normal);
  float aside = tn_length(tn_sub(way, tn_scale(height, k->normal)));
  if (fabsf(height - radii - k->separation) > tolerance ||
      aside > 0.02f * fabsf(height) + tolerance)
    return false;
  bool round = is_round(&la, &lb, distance) && aside < 5e-4f * height;
  tn_vec3 normal = round ? tn_scale(1.0f / distance, way) : k->normal;
  if (!lines_side_by_side(k, &la, &lb, normal, m) || deepest_gap(m) > k->separation + tolerance)
    point_manifold(m, MANIFOLD_FLAT, normal, a, b, la.radius, lb.radius,
                   feature_of_lines(&la, &lb, 0), k->b_in_a);
  if (round) {
    m->form = MANIFOLD_ROUND;
    set_segments(m, &la, &lb, k->b_in_a);
  }
  return true;
}

// Corners, rims and whatever else is left: the ends of the shortest line.
static void meets_point(const meeting *k, manifold *m)
{
  line la = {{k->at_a, k->at_a}, core_radius(k->a), 0};
  line lb = {{k->at_b, k->at_b}, core_radius(k->b), 0};
  tn_vec3 way = tn_sub(k->at_b, k->at_a);
  bool round = is_round(&la, &lb, tn_dot(way, k->normal));
  // The ends are those of a line along the normal only up to rounding and to how well it is known.
  float distance = k->separation + la.radius + lb.radius;
  tn_vec3 middle = tn_scale(0.5f, tn_add(k->at_a, k->at_b));
  tn_vec3 half = tn_scale(0.5f * distance, k->normal);
  point_manifold(m, MANIFOLD_FLAT, k->normal, tn_sub(middle, half), tn_add(middle, half), la.radius,
                 lb.radius, UINT32_C(3) << 30, k->b_in_a);
  if (!round)
    return;
  m->form = MANIFOLD_ROUND;
  if (k->a->kind == TN_SHAPE_CAPSULE)
    la = edge_towards(k->a, k->normal);
  if (k->b->kind == TN_SHAPE_CAPSULE)
    lb = placed(k->b_in_a, edge_towards(k->b, k->normal));
  set_segments(m, &la, &lb, k->b_in_a);
}

bool collide_features(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *m)
{
  meeting k = {.a = a, .b = b, .b_in_a = b_in_a, .margin = margin};
  if (!meet(&k))
    return false;
  bool round_first = a->kind == TN_SHAPE_CYLINDER || a->kind == TN_SHAPE_CONE;
  bool found = round_first ? meets_face_of_b(&k, m) || meets_face(&k, m)
                           : meets_face(&k, m) || (!k.forced && meets_face_of_b(&k, m));
  if (!found && (k.forced || !meets_edges(&k, m)))
    meets_point(&k, m);
  return m->count > 0;
}
