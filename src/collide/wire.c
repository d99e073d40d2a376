// Collision of wires: a tube of constant radius around a spline axis, with round ends. Spheres and
// capsules are tested against the cubics themselves (MANIFOLD_WIRE), other shapes against capsules
// along short chords.
#include "collide/collide_tuning.h"
#include "collide/manifold_list.h"
#include "collide/surface_contacts.h"
#include "collide/wire_spline.h"

// ---------------------------------------------------------------------------------------------
// Directions

static tn_vec3 unit(d3 v)
{
  double length = sqrt(d3_dot(v, v));
  return length > 0.0 ? vec3_from_d3(d3_scale(1.0 / length, v)) : tn_v3(0.0f, 0.0f, 0.0f);
}

// A unit vector perpendicular to v.
static tn_vec3 unit_across(d3 v)
{
  double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z);
  d3 axis = {x <= y && x <= z ? 1.0 : 0.0, y < x && y <= z ? 1.0 : 0.0, z < x && z < y ? 1.0 : 0.0};
  return unit(d3_cross(v, axis));
}

// Unit normal from the axis to the closest point; any perpendicular of the axis when that point
// lies on the axis.
static tn_vec3 wire_location_normal(const wire *w, const wire_location *p)
{
  d3 d = d3_sub(p->target, p->point);
  double scale = fabs(p->point.x) + fabs(p->point.y) + fabs(p->point.z);
  if (p->distance > COLLIDE_WIRE_ON_AXIS * scale) {
    return unit(d);
  }
  return unit_across(piece_tangent(w, p->piece, p->u));
}

// ---------------------------------------------------------------------------------------------
// Chords

// A straight part of a piece, as a capsule along the y axis of its own frame.
typedef struct chord {
  int piece;
  double start, end; // parameter interval within the piece
  geometry capsule;
  pose at; // of the capsule in the wire's frame
} chord;

// As many chords as keep the sagitta below 2 % of the wire's radius, at most 8. The sagitta falls
// with the square of the number.
static int chord_count(const wire *w, int piece, float radius)
{
  int count = 1;
  float sagitta = w->pieces[piece].sagitta;
  while (count < COLLIDE_WIRE_CHORDS &&
         sagitta > COLLIDE_WIRE_SAGITTA * radius * (float)(count * count)) {
    count += 1;
  }
  return count;
}

static chord chord_of(const wire *w, int piece, int index, int count, float radius)
{
  chord c = {.piece = piece};
  c.start = (double)index / (double)count;
  c.end = (double)(index + 1) / (double)count;
  d3 a = piece_point(w, piece, c.start), b = piece_point(w, piece, c.end), d = d3_sub(b, a);
  double length = sqrt(d3_dot(d, d));
  c.capsule = (geometry){.kind = TN_SHAPE_CAPSULE, .radius = radius};
  c.capsule.half_length = (float)(0.5 * length);
  c.at.p = vec3_from_d3(d3_scale(0.5, d3_add(a, b)));
  c.at.q = length > 0.0 ? quat_y_to(unit(d)) : tn_quat_identity();
  return c;
}

// ---------------------------------------------------------------------------------------------
// Contacts of spheres and capsules

typedef struct wire_pair {
  const wire *w;
  const geometry *b;
  pose b_in_a;
  float radius, margin; // m; radius of the wire
} wire_pair;

static manifold wire_manifold(const wire_pair *pair, const wire_location *p, tn_vec3 start,
                              tn_vec3 end)
{
  const wire *w = pair->w;
  manifold m = {.form = MANIFOLD_WIRE, .count = 1, .round_side = 1};
  m.normal = wire_location_normal(w, p);
  m.radius_a = pair->radius;
  m.radius_b = pair->b->radius;
  m.points[0].a = vec3_from_d3(p->point);
  m.points[0].b = pose_inverse_point(pair->b_in_a, vec3_from_d3(p->target));
  m.points[0].gap = (float)(p->distance - (double)m.radius_a - (double)m.radius_b);
  m.segment[1][0] = start;
  m.segment[1][1] = end;
  int cubic = w->pieces[p->piece].cubic;
  for (int i = 0; i < 4; i++) {
    m.curve[i] = w->cubics[cubic].c[i];
  }
  m.parameter = wire_location_parameter(w, p);
  m.child = WIRE_CHILDREN_PER_CUBIC * (uint32_t)cubic;
  return m;
}

// Largest distance of the axis from the core of B for a contact.
static double wire_contact_distance(const wire_pair *pair)
{
  return (double)pair->radius + (double)pair->b->radius + (double)pair->margin;
}

static void collide_sphere(const wire_pair *pair, manifold_list *list)
{
  const tn_vec3 center = {0.0f, 0.0f, 0.0f};
  wire_location places[MAX_MANIFOLDS];
  int count = wire_local_minima(pair->w, d3_from_vec3(pair->b_in_a.p), wire_contact_distance(pair),
                                places, MAX_MANIFOLDS);
  for (int i = 0; i < count; i++) {
    manifold m = wire_manifold(pair, &places[i], center, center);
    m.points[0].b = center;
    manifold_list_add(list, &m);
  }
}

// Whether a capsule is within 8 degrees of the tangent.
static bool is_along_wire(const wire *w, const wire_location *p, const d3 segment[2])
{
  d3 axis = d3_sub(segment[1], segment[0]), t = piece_tangent(w, p->piece, p->u);
  double dot = d3_dot(axis, t);
  return dot * dot > COLLIDE_WIRE_ALONG_COSINE2 * d3_dot(axis, axis) * d3_dot(t, t);
}

// A capsule along the wire needs two contacts to be stable: its two ends as spheres. True when they
// are about as deep as the contact `along`, which is then redundant.
static bool collide_ends(const wire_pair *pair, const manifold *along, const tn_vec3 end[2],
                         manifold_list *list)
{
  manifold found[2];
  int count = 0;
  for (int i = 0; i < 2; i++) {
    wire_location places[MAX_MANIFOLDS];
    d3 q = d3_from_vec3(pose_point(pair->b_in_a, end[i]));
    int near = wire_local_minima(pair->w, q, wire_contact_distance(pair), places, MAX_MANIFOLDS),
        best = -1;
    for (int k = 0; k < near; k++) {
      bool same = tn_dot(wire_location_normal(pair->w, &places[k]), along->normal) >
                  COLLIDE_WIRE_SAME_SIDE_COSINE;
      if (same && (best < 0 || places[k].distance < places[best].distance)) {
        best = k;
      }
    }
    if (best < 0) {
      continue;
    }
    found[count] = wire_manifold(pair, &places[best], end[i], end[i]);
    found[count].points[0].b = end[i];
    found[count].child += 4u + (uint32_t)i;
    manifold_list_add(list, &found[count]);
    count += 1;
  }
  if (count < 2 || manifold_is_contained(&found[0], &found[1], list->size)) {
    return false;
  }
  float higher = fmaxf(found[0].points[0].gap, found[1].points[0].gap);
  return higher - along->points[0].gap <
         COLLIDE_WIRE_ENDS_DEPTH * (along->radius_a + along->radius_b);
}

static void collide_capsule(const wire_pair *pair, manifold_list *list)
{
  tn_vec3 end[2] = {{0.0f, -pair->b->half_length, 0.0f}, {0.0f, pair->b->half_length, 0.0f}};
  d3 segment[2];
  for (int i = 0; i < 2; i++) {
    segment[i] = d3_from_vec3(pose_point(pair->b_in_a, end[i]));
  }
  wire_location places[MAX_MANIFOLDS];
  int count = wire_segment_local_minima(pair->w, segment, wire_contact_distance(pair), places,
                                        MAX_MANIFOLDS);
  for (int i = 0; i < count; i++) {
    manifold m = wire_manifold(pair, &places[i], end[0], end[1]);
    if (is_along_wire(pair->w, &places[i], segment) && collide_ends(pair, &m, end, list)) {
      continue;
    }
    manifold_list_add(list, &m);
  }
}

// ---------------------------------------------------------------------------------------------
// Contacts of other shapes

// Whether a round contact at a chord's end is a ghost contact: the wire continues there, and the
// normal points along the continuation.
static bool is_internal_end(const wire *w, const chord *c, const manifold *m)
{
  tn_vec3 local = pose_inverse_point(c->at, m->points[0].a);
  float half = c->capsule.half_length;
  bool at_start =
      local.y<-COLLIDE_WIRE_CHORD_END * half, at_end = local.y> COLLIDE_WIRE_CHORD_END * half;
  if (at_start == at_end || m->count > 1) {
    return false;
  }
  bool wire_ends = !w->closed && (at_start ? c->piece == 0 && c->start == 0.0
                                           : c->piece == w->piece_count - 1 && c->end == 1.0);
  if (wire_ends) {
    return false;
  }
  tn_vec3 on = unit(piece_tangent(w, c->piece, at_start ? c->start : c->end));
  return tn_dot(m->normal, tn_scale(at_start ? -1.0f : 1.0f, on)) > COLLIDE_INTERNAL_EDGE_SINE;
}

// Moves the points of flat contacts from the chord to the true axis, and corrects their gaps.
static void project_to_wire(const wire *w, const chord *c, manifold *m)
{
  for (int i = 0; i < m->count; i++) {
    manifold_point *p = &m->points[i];
    float half = c->capsule.half_length, y = pose_inverse_point(c->at, p->a).y;
    double along = half > 0.0f ? 0.5 + 0.5 * (double)(y / half) : 0.0;
    along = fmin(fmax(along, 0.0), 1.0);
    tn_vec3 on = vec3_from_d3(piece_point(w, c->piece, c->start + along * (c->end - c->start)));
    p->gap -= tn_dot(m->normal, tn_sub(on, p->a));
    p->a = on;
  }
}

// Separating axis test of the chord's capsule with the axes of the shape's local AABB.
static bool is_outside_aabb(const wire_pair *pair, const chord *c)
{
  tn_vec3 half = pose_vector(c->at, tn_v3(0.0f, c->capsule.half_length, 0.0f));
  tn_vec3 a = pose_inverse_point(pair->b_in_a, tn_sub(c->at.p, half));
  tn_vec3 b = pose_inverse_point(pair->b_in_a, tn_add(c->at.p, half));
  aabb line =
      aabb_expand(aabb_from_points(a, b), COLLIDE_WIRE_CHORD_RADIUS * pair->radius + pair->margin);
  aabb box = geometry_aabb(pair->b, (pose){{0.0f, 0.0f, 0.0f}, tn_quat_identity()});
  return line.lower.x > box.upper.x || line.lower.y > box.upper.y || line.lower.z > box.upper.z ||
         line.upper.x < box.lower.x || line.upper.y < box.lower.y || line.upper.z < box.lower.z;
}

static void collide_chord(const wire_pair *pair, const chord *c, manifold_list *list)
{
  pose b_in_chord = pose_mul(pose_inverse(c->at), pair->b_in_a);
  manifold m;
  if (is_outside_aabb(pair, c) ||
      !collide_convex(&c->capsule, pair->b, b_in_chord, pair->margin, &m)) {
    return;
  }
  m.normal = pose_vector(c->at, m.normal);
  for (int i = 0; i < m.count; i++) {
    m.points[i].a = pose_point(c->at, m.points[i].a);
  }
  if (m.form == MANIFOLD_ROUND) {
    for (int i = 0; i < 2; i++) {
      m.segment[0][i] = pose_point(c->at, m.segment[0][i]);
    }
    if (is_internal_end(pair->w, c, &m)) {
      return;
    }
  } else if (m.form == MANIFOLD_FLAT) {
    project_to_wire(pair->w, c, &m);
  }
  m.child = 8u * (uint32_t)c->piece + (uint32_t)(c->start * 7.5);
  manifold_list_add(list, &m);
}

static void collide_chords(const wire_pair *pair, manifold_list *list)
{
  const wire *w = pair->w;
  aabb box = aabb_expand(geometry_aabb(pair->b, pair->b_in_a), pair->radius + pair->margin);
  bvh_iterator walk = bvh_sweep(w->nodes, box, tn_v3(0.0f, 0.0f, 0.0f), 0.0f);
  for (int piece; (piece = bvh_next(&walk)) >= 0;) {
    int count = chord_count(w, piece, pair->radius);
    for (int i = 0; i < count; i++) {
      chord c = chord_of(w, piece, i, count, pair->radius);
      collide_chord(pair, &c, list);
    }
  }
}

int collide_wire(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out,
                 int capacity)
{
  wire_pair pair = {a->wire, b, b_in_a, a->radius, margin};
  aabb box = geometry_aabb(b, b_in_a);
  manifold_list list;
  list.count = 0;
  list.size = 0.5f * tn_length(tn_sub(box.upper, box.lower));
  if (b->kind == TN_SHAPE_SPHERE) {
    collide_sphere(&pair, &list);
  } else if (b->kind == TN_SHAPE_CAPSULE) {
    collide_capsule(&pair, &list);
  } else {
    collide_chords(&pair, &list);
  }
  return manifold_list_finish(&list, out, capacity);
}

bool wire_overlaps(const wire *w, float radius, const geometry *b, pose b_in_a)
{
  wire_location place = {0};
  double max_distance = (double)radius + (double)b->radius;
  if (b->kind == TN_SHAPE_SPHERE) {
    return wire_nearest(w, d3_from_vec3(b_in_a.p), (float)max_distance, &place);
  }
  if (b->kind == TN_SHAPE_CAPSULE) {
    tn_vec3 half = tn_v3(0.0f, b->half_length, 0.0f);
    d3 segment[2] = {d3_from_vec3(pose_point(b_in_a, tn_scale(-1.0f, half))),
                     d3_from_vec3(pose_point(b_in_a, half))};
    return wire_segment_local_minima(w, segment, max_distance, &place, 1) > 0;
  }
  aabb box = aabb_expand(geometry_aabb(b, b_in_a), radius);
  bvh_iterator walk = bvh_sweep(w->nodes, box, tn_v3(0.0f, 0.0f, 0.0f), 0.0f);
  for (int piece; (piece = bvh_next(&walk)) >= 0;) {
    int count = chord_count(w, piece, radius);
    for (int i = 0; i < count; i++) {
      chord c = chord_of(w, piece, i, count, radius);
      pose b_in_chord = pose_mul(pose_inverse(c.at), b_in_a);
      if (convex_distance(&c.capsule, b, b_in_chord).distance <= 0.0f) {
        return true;
      }
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Bounds and closest points

aabb wire_aabb(const wire *w, float radius)
{
  return aabb_expand(w->nodes[0].box, radius);
}

bool wire_closest(const wire *w, float radius, tn_vec3 p, float max_distance, closest *out)
{
  wire_location place;
  if (!wire_nearest(w, d3_from_vec3(p), max_distance + radius, &place)) {
    return false;
  }
  out->distance = (float)(place.distance - (double)radius);
  out->normal = wire_location_normal(w, &place);
  out->point = tn_add(vec3_from_d3(place.point), tn_scale(radius, out->normal));
  return true;
}

// ---------------------------------------------------------------------------------------------
// Rays and casts

// A ray against the tube with `radius` around the axis.
typedef struct tube_ray {
  const wire *w;
  double radius;
  d3 from, displacement;
  double speed; // length of the displacement
} tube_ray;

static wire_location ray_place(const tube_ray *r, int piece, double t)
{
  return piece_closest(r->w, piece, d3_add(r->from, d3_scale(t, r->displacement)));
}

// Bisection between `lower`, outside of the tube, and `upper`, inside.
static double bisect_to_surface(const tube_ray *r, int piece, double lower, double upper)
{
  for (int i = 0; i < COLLIDE_WIRE_RAY_BISECTIONS; i++) {
    double t = 0.5 * (lower + upper);
    if (ray_place(r, piece, t).distance > r->radius) {
      lower = t;
    } else {
      upper = t;
    }
  }
  return lower;
}

// Ray against one piece by Newton's method on the distance from the axis. For a straight piece the
// distance is convex along the ray and Newton never passes the surface. For a curved one, steps are
// limited to the free distance or a tenth of the piece's length, whichever is larger; an overshoot
// is bisected.
static bool piece_ray(const tube_ray *r, int piece, double limit, double *hit)
{
  const wire_knot *a = &r->w->knots[piece];
  d3 across = d3_sub(d3_from_vec3((a + 1)->position), d3_from_vec3(a->position));
  double length = sqrt(d3_dot(across, across)), before = 0.0, t = 0.0;
  for (int i = 0; i < COLLIDE_WIRE_RAY_ITERATIONS && t <= limit; i++) {
    wire_location p = ray_place(r, piece, t);
    double gap = p.distance - r->radius;
    if (gap <= COLLIDE_WIRE_RAY_TOLERANCE * r->radius) {
      *hit = gap < 0.0 ? bisect_to_surface(r, piece, before, t) : t;
      return true;
    }
    double approach = d3_dot(d3_sub(p.point, p.target), r->displacement) / p.distance;
    if (approach <= 0.0 && gap > length) {
      return false;
    }
    double step = fmax(gap, COLLIDE_WIRE_RAY_STEP * length) / r->speed;
    if (approach > 0.0) {
      step = fmin(step, gap / approach);
    }
    before = t;
    t += fmax(step, gap / r->speed);
  }
  return false;
}

// Ray against a tube of `radius`; with the sum of two radii, a sphere cast against the wire.
static bool tube_cast(const wire *w, float radius, tn_vec3 from, tn_vec3 displacement,
                      float max_fraction, double *fraction, wire_location *place)
{
  tube_ray r = {.w = w,
                .radius = (double)radius,
                .from = d3_from_vec3(from),
                .displacement = d3_from_vec3(displacement)};
  *fraction = 0.0;
  if (wire_nearest(w, r.from, radius, place)) {
    return true;
  }
  r.speed = sqrt(d3_dot(r.displacement, r.displacement));
  if (!(r.speed > 0.0)) {
    return false;
  }
  bvh_iterator walk = bvh_sweep(w->nodes, aabb_expand(aabb_from_points(from, from), radius),
                                displacement, max_fraction);
  bool found = false;
  for (int piece; (piece = bvh_next(&walk)) >= 0;) {
    double hit;
    if (!piece_ray(&r, piece, found ? *fraction : (double)max_fraction, &hit)) {
      continue;
    }
    *fraction = hit;
    *place = ray_place(&r, piece, hit);
    found = true;
    walk.limit = (float)hit;
  }
  return found;
}

bool wire_ray(const wire *w, float radius, tn_vec3 from, tn_vec3 displacement, float max_fraction,
              ray_hit *hit)
{
  double fraction;
  wire_location place;
  if (!tube_cast(w, radius, from, displacement, max_fraction, &fraction, &place)) {
    return false;
  }
  bool inside = fraction == 0.0 && place.distance < (double)radius;
  hit->fraction = (float)fraction;
  hit->normal = inside ? tn_v3(0.0f, 0.0f, 0.0f) : wire_location_normal(w, &place);
  return true;
}

static bool cast_chord(const chord *c, const geometry *b, pose b_in_a, tn_vec3 displacement,
                       float target, float max_fraction, cast_hit *hit)
{
  pose b_in_chord = pose_mul(pose_inverse(c->at), b_in_a);
  if (!geometry_cast(&c->capsule, b, b_in_chord, pose_inverse_vector(c->at, displacement), target,
                     max_fraction, hit)) {
    return false;
  }
  hit->point = pose_point(c->at, hit->point);
  hit->normal = pose_vector(c->at, hit->normal);
  return true;
}

bool wire_cast(const wire *w, float radius, const geometry *b, pose b_in_a, tn_vec3 displacement,
               float target, float max_fraction, cast_hit *hit)
{
  if (b->kind == TN_SHAPE_SPHERE) {
    double fraction;
    wire_location place;
    if (!tube_cast(w, radius + b->radius + target, b_in_a.p, displacement, max_fraction, &fraction,
                   &place)) {
      return false;
    }
    hit->fraction = (float)fraction;
    hit->normal = wire_location_normal(w, &place);
    hit->point = tn_add(vec3_from_d3(place.point), tn_scale(radius, hit->normal));
    return true;
  }
  aabb box = aabb_expand(geometry_aabb(b, b_in_a), radius + target);
  bvh_iterator walk = bvh_sweep(w->nodes, box, displacement, max_fraction);
  bool found = false;
  for (int piece; (piece = bvh_next(&walk)) >= 0;) {
    int count = chord_count(w, piece, radius);
    for (int i = 0; i < count; i++) {
      chord c = chord_of(w, piece, i, count, radius);
      cast_hit h;
      if (!cast_chord(&c, b, b_in_a, displacement, target, walk.limit, &h)) {
        continue;
      }
      walk.limit = h.fraction;
      *hit = h;
      found = true;
    }
  }
  return found;
}

// ---------------------------------------------------------------------------------------------
// Curve fit for the solver

static tn_vec3 cubic_derivative(const wire_cubic *c, float s)
{
  return tn_add(c->c[1], tn_add(tn_scale(2.0f * s, c->c[2]), tn_scale(3.0f * s * s, c->c[3])));
}

static tn_vec3 cubic_second(const wire_cubic *c, float s)
{
  return tn_add(tn_scale(2.0f, c->c[2]), tn_scale(6.0f * s, c->c[3]));
}

typedef struct wire_derivatives {
  tn_vec3 point, derivative, second_derivative; // derivatives by the parameter of the whole wire
} wire_derivatives;

static wire_derivatives wire_derivatives_at(const wire *w, float parameter)
{
  float count = (float)w->cubic_count;
  if (w->closed) {
    parameter -= parameter >= count ? count : parameter < 0.0f ? -count : 0.0f;
  }
  parameter = fminf(fmaxf(parameter, 0.0f), count);
  int cubic = parameter < count ? (int)parameter : w->cubic_count - 1;
  float s = parameter - (float)cubic;
  const wire_cubic *c = &w->cubics[cubic];
  wire_derivatives derivatives = {wire_point(w, parameter), cubic_derivative(c, s),
                                  cubic_second(c, s)};
  return derivatives;
}

static float global_parameter(const manifold *m)
{
  uint32_t cubic = m->child / WIRE_CHILDREN_PER_CUBIC;
  return (float)cubic + m->parameter;
}

tn_vec3 wire_contact_tangent(const wire *w, const manifold *m)
{
  return wire_derivatives_at(w, global_parameter(m)).derivative;
}

// Quintic Hermite interpolation: position, first and second derivative at both ends. `width` is the
// parameter interval between them. A cubic would deviate from a coil by a tenth of a millimetre,
// which is a noticeable bump for a fast marble.
static void fit_quintic_hermite(wire_derivatives a, wire_derivatives b, float width, tn_vec3 *curve)
{
  tn_vec3 derivative = tn_scale(width, a.derivative);
  tn_vec3 second_derivative = tn_scale(0.5f * width * width, a.second_derivative);
  // Remainders at s = 1 of position, first derivative and half the second derivative, after the
  // terms up to s^2.
  tn_vec3 displacement = tn_sub(tn_sub(b.point, a.point), tn_add(derivative, second_derivative));
  tn_vec3 turn =
      tn_sub(tn_scale(width, b.derivative), tn_add(derivative, tn_scale(2.0f, second_derivative)));
  tn_vec3 more = tn_sub(tn_scale(0.5f * width * width, b.second_derivative), second_derivative);
  curve[0] = a.point;
  curve[1] = derivative;
  curve[2] = second_derivative;
  curve[3] = tn_add(tn_sub(tn_scale(10.0f, displacement), tn_scale(4.0f, turn)), more);
  curve[4] =
      tn_sub(tn_scale(7.0f, turn), tn_add(tn_scale(15.0f, displacement), tn_scale(2.0f, more)));
  curve[5] = tn_add(tn_sub(tn_scale(6.0f, displacement), tn_scale(3.0f, turn)), more);
}

void wire_fit_curve(const wire *w, manifold *m, float behind, float ahead)
{
  float at = global_parameter(m);
  float speed = tn_length(wire_derivatives_at(w, at).derivative);
  if (!(speed > 0.0f)) {
    return;
  }
  float half = 0.5f * (float)w->cubic_count;
  float from = at - fminf(behind / speed + COLLIDE_WIRE_SPAN_SPARE, half);
  float to = at + fminf(ahead / speed + COLLIDE_WIRE_SPAN_SPARE, half);
  if (!w->closed) {
    from = fmaxf(from, 0.0f);
    to = fminf(to, (float)w->cubic_count);
  }
  float width = to - from;
  fit_quintic_hermite(wire_derivatives_at(w, from), wire_derivatives_at(w, to), width, m->curve);
  m->parameter = (at - from) / width;
}
