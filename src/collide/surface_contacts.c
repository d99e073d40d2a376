#include "collide/surface_contacts.h"

#include "collide/bvh.h"

// Sine of the angle up to which two facets count as one plane where they meet.
static const float COLLIDE_COPLANAR_SINE = 0.02f;
// How far a normal may lean towards a neighbour before that neighbour is the one in contact.
static const float COLLIDE_INTERNAL_EDGE_SINE = 1e-3f;
// One minus the cosine of a contact with the face itself.
static const float COLLIDE_FACE_NORMAL_TOLERANCE = 5e-5f;

typedef enum edge_kind {
  EDGE_CONVEX, // the surface ends or bends away from the shape
  EDGE_COPLANAR,
  EDGE_CONCAVE, // it bends towards the shape
} edge_kind;

typedef struct edge_info {
  edge_kind kind;
  // Inner borders: the plane beyond goes through the border, its normal is on the side of this
  // facet.
  tn_vec3 beyond;
  bool seen; // whether the middle of the shape is on that side as well
} edge_info;

// A facet as the shape sees it, from its side.
typedef struct facet_view {
  int index;
  facet f;
  tn_vec3 normal;    // towards the shape
  tn_vec3 inward[3]; // in the plane, unit, away from the edges
  edge_info edge_kind[3];
} facet_view;

tn_vec3 convex_center(const geometry *g)
{
  return g->kind == TN_SHAPE_HULL ? g->hull->center : tn_v3(0.0f, 0.0f, 0.0f);
}

static tn_vec3 unit_or_zero(tn_vec3 v)
{
  float length = tn_length(v);
  return length > 0.0f ? tn_scale(1.0f / length, v) : tn_v3(0.0f, 0.0f, 0.0f);
}

// Spheres and capsules, which touch planes right below their cores.
static bool has_radius(const geometry *g)
{
  return g->kind == TN_SHAPE_SPHERE || g->kind == TN_SHAPE_CAPSULE;
}

static bool same_point(tn_vec3 a, tn_vec3 b)
{
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

static float squared_length(tn_vec3 v)
{
  return tn_dot(v, v);
}

// ---------------------------------------------------------------------------------------------
// Neighbours

// The corner of `f` that is neither end of an edge.
static tn_vec3 opposite_vertex(const facet *f, tn_vec3 a, tn_vec3 b)
{
  for (int i = 0; i < 3; i++)
    if (!same_point(f->corner[i], a) && !same_point(f->corner[i], b))
      return f->corner[i];
  return a;
}

static edge_info classify_edge(const surface_contacts *c, const facet_view *v, int edge)
{
  edge_info result = {.kind = EDGE_CONVEX};
  if (v->f.across[edge] == NO_FACET)
    return result;
  facet other = c->source.get(c->source.surface, v->f.across[edge]);
  tn_vec3 a = v->f.corner[edge], b = v->f.corner[(edge + 1) % 3];
  tn_vec3 d = tn_sub(opposite_vertex(&other, a, b), a);
  float rise = tn_dot(v->normal, d), run = -tn_dot(v->inward[edge], d);
  if (run > 0.0f && fabsf(rise) <= COLLIDE_COPLANAR_SINE * run) {
    result.kind = EDGE_COPLANAR;
  } else if (rise > 0.0f) {
    result.kind = EDGE_CONCAVE;
    tn_vec3 own = tn_sub(v->f.corner[(edge + 2) % 3], a);
    result.beyond = tn_scale(tn_dot(other.normal, own) < 0.0f ? -1.0f : 1.0f, other.normal);
    result.seen = tn_dot(result.beyond, tn_sub(c->center, a)) > 0.0f;
  }
  return result;
}

static facet_view view_facet(const surface_contacts *c, int index)
{
  facet_view v = {.index = index, .f = c->source.get(c->source.surface, index)};
  bool behind = tn_dot(v.f.normal, tn_sub(c->center, v.f.corner[0])) < 0.0f;
  v.normal = tn_scale(behind && !c->source.solid_below ? -1.0f : 1.0f, v.f.normal);
  return v;
}

// What is beyond the edges is looked up only for facets that matter.
static void classify_edges(const surface_contacts *c, facet_view *v)
{
  for (int i = 0; i < 3; i++) {
    tn_vec3 along = tn_sub(v->f.corner[(i + 1) % 3], v->f.corner[i]);
    v->inward[i] = unit_or_zero(tn_cross(v->f.normal, along));
    v->edge_kind[i] = classify_edge(c, v, i);
  }
}

static int find_corner(const facet *f, tn_vec3 p)
{
  for (int i = 0; i < 3; i++)
    if (same_point(f->corner[i], p))
      return i;
  return -1;
}

enum { MAX_VERTEX_RING = 64 }; // facets at a corner; more do not matter

// Goes round a corner in one direction, from facet to facet; true when that comes back.
static bool walk_vertex_ring(const surface_contacts *c, const facet_view *v, int corner,
                             bool forward, int around[MAX_VERTEX_RING], int *count)
{
  int here = v->index, next = v->f.across[forward ? (corner + 2) % 3 : corner];
  while (next != v->index && next != NO_FACET && *count < MAX_VERTEX_RING) {
    facet f = c->source.get(c->source.surface, next);
    int at = find_corner(&f, v->f.corner[corner]);
    if (at < 0)
      return false;
    around[(*count)++] = next;
    // On through the other edge, however the neighbour is wound.
    int beyond = f.across[at] == here ? f.across[(at + 2) % 3] : f.across[at];
    here = next;
    next = beyond;
  }
  return next == v->index;
}

// The other facets at a corner.
static int vertex_ring(const surface_contacts *c, const facet_view *v, int corner,
                       int around[MAX_VERTEX_RING])
{
  int count = 0;
  if (!walk_vertex_ring(c, v, corner, true, around, &count))
    walk_vertex_ring(c, v, corner, false, around, &count);
  return count;
}

// Whether the surface bends up to another facet that shares a corner, so that the two face each
// other, but the middle of the shape, which meets it, is behind that.
static bool occludes(const surface_contacts *c, const facet_view *v, int corner, int index)
{
  facet other = c->source.get(c->source.surface, index);
  float side = tn_dot(v->normal, v->f.normal) < 0.0f ? -1.0f : 1.0f;
  tn_vec3 p = v->f.corner[corner], front = tn_scale(side, other.normal);
  if (tn_dot(front, tn_sub(c->center, p)) >= 0.0f)
    return false;
  float rise = 0.0f, own = 0.0f, extent = 0.0f;
  for (int i = 0; i < 3; i++) {
    tn_vec3 d = tn_sub(other.corner[i], p), e = tn_sub(v->f.corner[i], p);
    rise = fmaxf(rise, tn_dot(v->normal, d));
    own = fminf(own, tn_dot(front, e));
    extent = fmaxf(extent, fmaxf(tn_length(d), tn_length(e)));
  }
  if (rise <= COLLIDE_COPLANAR_SINE * extent || own < -COLLIDE_COPLANAR_SINE * extent)
    return false;
  geometry g = triangle_geometry(other.corner);
  manifold m;
  return collide_convex(&g, c->b, c->b_in_a, c->margin, &m);
}

// A shape that stands on the top of a block, flush with its side, is behind the side and may well
// reach through it by less than it sinks into the top. It is the top that holds it.
static bool is_occluded(const surface_contacts *c, const facet_view *v)
{
  if (c->source.solid_below)
    return false;
  for (int corner = 0; corner < 3; corner++) {
    int around[MAX_VERTEX_RING], count = vertex_ring(c, v, corner, around);
    for (int i = 0; i < count; i++)
      if (occludes(c, v, corner, around[i]))
        return true;
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Faces

// The manifold with the whole plane of a facet.
static bool plane_manifold(const surface_contacts *c, tn_vec3 normal, tn_vec3 origin, manifold *m)
{
  float height = tn_dot(normal, tn_sub(c->center, origin));
  pose plane_in_a = {tn_sub(c->center, tn_scale(height, normal)), quat_y_to(normal)};
  pose b_in_plane = pose_mul(pose_inverse(plane_in_a), c->b_in_a);
  geometry plane = {.kind = TN_SHAPE_PLANE};
  if (!collide_convex(&plane, c->b, b_in_plane, c->margin, m))
    return false;
  m->normal = normal;
  for (int i = 0; i < m->count; i++)
    m->points[i].a = pose_point(plane_in_a, m->points[i].a);
  if (m->form == MANIFOLD_ROUND)
    for (int i = 0; i < 2; i++)
      m->segment[0][i] = pose_point(plane_in_a, m->segment[0][i]);
  return true;
}

// Whether the shape is further from the facet's plane than the margin.
static bool is_beyond_margin(const surface_contacts *c, const facet_view *v)
{
  tn_vec3 down = pose_inverse_vector(c->b_in_a, tn_scale(-1.0f, v->normal));
  tn_vec3 lowest = pose_point(c->b_in_a, convex_support(c->b, down));
  return tn_dot(v->normal, tn_sub(lowest, v->f.corner[0])) > c->margin + 1e-6f * c->size;
}

// Whether the facet is beyond a side of the shape's own box.
static bool is_outside_aabb(const surface_contacts *c, const facet_view *v)
{
  tn_vec3 p = pose_inverse_point(c->b_in_a, v->f.corner[0]), lower = p, upper = p;
  for (int i = 1; i < 3; i++) {
    p = pose_inverse_point(c->b_in_a, v->f.corner[i]);
    lower = vec3_min(lower, p);
    upper = vec3_max(upper, p);
  }
  const aabb *box = &c->local_aabb;
  return lower.x > box->upper.x || lower.y > box->upper.y || lower.z > box->upper.z ||
         upper.x < box->lower.x || upper.y < box->lower.y || upper.z < box->lower.z;
}

static bool is_in_plane(const surface_contacts *c, const plane_patch *p, const facet_view *v)
{
  if (squared_length(tn_sub(p->normal, v->normal)) > 1e-6f)
    return false;
  for (int i = 0; i < 3; i++)
    if (fabsf(tn_dot(p->normal, tn_sub(v->f.corner[i], p->origin))) > 2e-5f * c->size)
      return false;
  return true;
}

static plane_patch *find_patch(surface_contacts *c, const facet_view *v)
{
  for (int i = 0; i < c->patch_count; i++)
    if (is_in_plane(c, &c->patches[i], v))
      return &c->patches[i];
  return NULL;
}

static unsigned points_held(const plane_patch *p)
{
  return p->front_hit ? p->on_surface | p->possible : 0;
}

static bool patch_is_full(const plane_patch *p)
{
  return points_held(p) == (1u << p->plane.count) - 1u;
}

// Makes the patch of a facet's plane in `candidate`, unless it is there already. False when the
// shape is not near the plane.
static bool make_candidate(surface_contacts *c, const facet_view *v)
{
  plane_patch *p = &c->candidate;
  if (p->plane.count > 0 && is_in_plane(c, p, v))
    return true;
  p->normal = v->normal;
  p->origin = v->f.corner[0];
  p->on_surface = p->possible = 0;
  p->extra_count = 0;
  p->overlapped = p->front_hit = false;
  return plane_manifold(c, p->normal, p->origin, &p->plane);
}

// The deepest gap of what a patch holds, as far as the bits say.
static float patch_gap(const plane_patch *p, unsigned points)
{
  float gap = INFINITY;
  for (int i = 0; i < p->plane.count; i++)
    if (points & 1u << i)
      gap = fminf(gap, p->plane.points[i].gap);
  for (int i = 0; i < p->extra_count; i++)
    gap = fminf(gap, p->extra[i].gap);
  return gap;
}

// Adds what was tried; without room the highest gives way.
static void keep_candidate(surface_contacts *c)
{
  plane_patch *p = &c->candidate;
  if (c->patch_count < MAX_PLANE_PATCHES) {
    c->patches[c->patch_count++] = *p;
    p->plane.count = 0;
    return;
  }
  int highest = 0;
  float top = -INFINITY;
  for (int i = 0; i < MAX_PLANE_PATCHES; i++) {
    const plane_patch *q = &c->patches[i];
    float gap = patch_gap(q, q->on_surface | q->possible);
    if (gap > top) {
      top = gap;
      highest = i;
    }
  }
  if (patch_gap(p, p->on_surface | p->possible) < top)
    c->patches[highest] = *p;
  p->plane.count = 0;
}

// Whether a point of the plane's manifold is held by this facet. Near an outer border only what
// has sunk less than it would have to move aside; beyond an inner one only what has sunk into the
// neighbour there.
static bool point_on_facet(const surface_contacts *c, const facet_view *v, const manifold_point *p)
{
  for (int i = 0; i < 3; i++) {
    const edge_info *edge = &v->edge_kind[i];
    tn_vec3 d = tn_sub(p->a, v->f.corner[i]);
    tn_vec3 along = tn_sub(v->f.corner[(i + 1) % 3], v->f.corner[i]);
    float tolerance = 4e-6f * (fabsf(p->a.x) + fabsf(p->a.y) + fabsf(p->a.z)) +
                      1e-6f * (fabsf(along.x) + fabsf(along.y) + fabsf(along.z));
    float inside = tn_dot(v->inward[i], d) + tolerance;
    if (edge->kind == EDGE_CONVEX) {
      inside += fminf(p->gap, 0.0f);
    } else if (edge->kind == EDGE_CONCAVE && edge->seen && !has_radius(c->b)) {
      tn_vec3 surface = tn_add(d, tn_scale(p->gap, v->normal));
      if (inside < 0.0f && inside > -0.1f * c->size && tn_dot(edge->beyond, surface) <= 0.0f)
        continue;
    }
    if (inside < 0.0f)
      return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Edges and corners

static bool points_into(tn_vec3 normal, tn_vec3 direction)
{
  return tn_dot(normal, direction) > COLLIDE_INTERNAL_EDGE_SINE * tn_length(direction);
}

// Where the surface has its closest place at an edge or corner, the normal leans to none of the
// facets around it. These return one to which it does, or NO_FACET; `key` becomes the smallest
// number met.
static int internal_neighbor_at_vertex(const surface_contacts *c, const facet_view *v, int corner,
                                       tn_vec3 normal, int *key)
{
  int around[MAX_VERTEX_RING], count = vertex_ring(c, v, corner, around);
  tn_vec3 p = v->f.corner[corner];
  for (int i = 0; i < count; i++) {
    facet f = c->source.get(c->source.surface, around[i]);
    int at = find_corner(&f, p);
    *key = around[i] < *key ? around[i] : *key;
    if (points_into(normal, tn_sub(f.corner[(at + 1) % 3], p)) ||
        points_into(normal, tn_sub(f.corner[(at + 2) % 3], p)))
      return around[i];
  }
  return NO_FACET;
}

static int internal_neighbor_at_edge(const surface_contacts *c, const facet_view *v, int edge,
                                     tn_vec3 normal, int *key)
{
  int next = v->f.across[edge];
  if (next == NO_FACET)
    return NO_FACET;
  *key = next < *key ? next : *key;
  facet other = c->source.get(c->source.surface, next);
  tn_vec3 a = v->f.corner[edge], b = v->f.corner[(edge + 1) % 3];
  tn_vec3 along = unit_or_zero(tn_sub(b, a)), d = tn_sub(opposite_vertex(&other, a, b), a);
  return points_into(normal, tn_sub(d, tn_scale(tn_dot(along, d), along))) ? next : NO_FACET;
}

// The corner (0 to 2), edge (3 to 5) or middle (-1) of a facet at a point of it.
static int feature_at(const facet_view *v, tn_vec3 p)
{
  bool on[3];
  for (int i = 0; i < 3; i++) {
    tn_vec3 along = tn_sub(v->f.corner[(i + 1) % 3], v->f.corner[i]);
    on[i] = tn_dot(v->inward[i], tn_sub(p, v->f.corner[i])) <= 1e-4f * tn_length(along);
  }
  for (int i = 0; i < 3; i++)
    if (on[i] && on[(i + 2) % 3])
      return i;
  return on[0] ? 3 : on[1] ? 4 : on[2] ? 5 : -1;
}

// The corner or edge that is furthest along a direction.
static int feature_towards(const facet_view *v, tn_vec3 direction)
{
  int top = 0;
  for (int i = 1; i < 3; i++)
    if (tn_dot(direction, tn_sub(v->f.corner[i], v->f.corner[top])) > 0.0f)
      top = i;
  int next = (top + 1) % 3, last = (top + 2) % 3;
  tn_vec3 on = tn_sub(v->f.corner[next], v->f.corner[top]);
  tn_vec3 back = tn_sub(v->f.corner[last], v->f.corner[top]);
  if (tn_dot(direction, on) > -COLLIDE_INTERNAL_EDGE_SINE * tn_length(on))
    return 3 + top;
  return tn_dot(direction, back) > -COLLIDE_INTERNAL_EDGE_SINE * tn_length(back) ? 3 + last : top;
}

// For a contact at a point of the facet. Where points are depends on how they were found; a normal
// that is not the facet's own tells better which edge or corner it belongs to.
static int internal_neighbor(const surface_contacts *c, const facet_view *v, tn_vec3 normal,
                             tn_vec3 p, int *key)
{
  bool own = tn_dot(normal, v->normal) > 0.999f;
  int feature = own ? feature_at(v, p) : feature_towards(v, normal);
  if (feature < 0)
    return NO_FACET;
  if (feature < 3)
    return internal_neighbor_at_vertex(c, v, feature, normal, key);
  return internal_neighbor_at_edge(c, v, feature - 3, normal, key);
}

// Whether another facet goes down from this one.
static bool bends_away(const surface_contacts *c, const facet_view *v, int index)
{
  facet other = c->source.get(c->source.surface, index);
  float rise = 0.0f, run = 0.0f;
  for (int i = 0; i < 3; i++) {
    tn_vec3 d = tn_sub(other.corner[i], v->f.corner[0]);
    float height = tn_dot(v->normal, d);
    if (fabsf(height) > fabsf(rise)) {
      rise = height;
      run = tn_length(d);
    }
  }
  return rise < -COLLIDE_COPLANAR_SINE * run;
}

// ---------------------------------------------------------------------------------------------
// All facets

typedef enum face_hit {
  FACE_MISSED,
  FACE_POSSIBLE,
  FACE_HIT,
} face_hit;

// A shape may reach far behind the plane of a facet and meet it only where the surface bends away,
// or at the side, or not at all. Then it is for other facets of the plane to say.
static face_hit classify_face_hit(const surface_contacts *c, const facet_view *v, float gap)
{
  face_hit result = FACE_HIT;
  if (gap < -0.02f * c->size) {
    geometry g = triangle_geometry(v->f.corner);
    separation s = convex_distance(&g, c->b, c->b_in_a);
    int key = v->index, other = internal_neighbor(c, v, s.normal, s.a, &key);
    if (s.distance > 0.0f)
      result = FACE_POSSIBLE;
    else if (tn_dot(s.normal, v->normal) < 0.7f)
      result = other == NO_FACET || bends_away(c, v, other) ? FACE_MISSED : FACE_POSSIBLE;
  }
  return result != FACE_MISSED && is_occluded(c, v) ? FACE_MISSED : result;
}

void surface_contacts_add_face(surface_contacts *c, int index)
{
  facet_view v = view_facet(c, index);
  plane_patch *p = find_patch(c, &v);
  if (p ? patch_is_full(p) : is_beyond_margin(c, &v) || !make_candidate(c, &v))
    return;
  classify_edges(c, &v);
  plane_patch *into = p ? p : &c->candidate;
  unsigned held = 0;
  for (int i = 0; i < into->plane.count; i++)
    if (!(into->on_surface & 1u << i) && point_on_facet(c, &v, &into->plane.points[i]))
      held |= 1u << i;
  if (!held)
    return;
  face_hit front_hit = classify_face_hit(c, &v, patch_gap(into, held));
  into->front_hit = into->front_hit || front_hit == FACE_HIT;
  if (front_hit == FACE_HIT)
    into->on_surface |= held;
  else if (front_hit == FACE_POSSIBLE)
    into->possible |= held;
  if (!p && front_hit != FACE_MISSED)
    keep_candidate(c);
}

// The deepest gap of what is certain.
static float found_gap(const surface_contacts *c)
{
  float gap = INFINITY;
  for (int i = 0; i < c->patch_count; i++)
    gap = fminf(gap, patch_gap(&c->patches[i], points_held(&c->patches[i])));
  for (int i = 0; i < c->edges.count; i++)
    gap = fminf(gap, manifold_gap(&c->edges.items[i]));
  return gap;
}

void surface_contacts_add_below(surface_contacts *c, int index)
{
  facet_view v = view_facet(c, index);
  if (found_gap(c) <= 0.0f || !make_candidate(c, &v))
    return;
  c->candidate.on_surface = (1u << c->candidate.plane.count) - 1u;
  c->candidate.front_hit = true;
  c->patch_count = 0;
  keep_candidate(c);
}

static tn_vec3 deepest_point(const manifold *m)
{
  int deepest = 0;
  for (int i = 1; i < m->count; i++)
    if (m->points[i].gap < m->points[deepest].gap)
      deepest = i;
  return m->points[deepest].a;
}

static void add_extra(plane_patch *p, const manifold *m)
{
  if (p->extra_count + m->count > MAX_PATCH_EXTRA) {
    manifold kept = p->plane;
    manifold_reduce_extremes(&kept, p->extra, p->extra_count);
    for (int i = 0; i < kept.count; i++)
      p->extra[i] = kept.points[i];
    p->extra_count = kept.count;
  }
  for (int i = 0; i < m->count; i++)
    p->extra[p->extra_count++] = m->points[i];
}

// One point at the ends of the shortest way out.
static manifold manifold_of(const surface_contacts *c, const separation *s)
{
  float radius = has_radius(c->b) ? c->b->radius : 0.0f;
  manifold m = {.form = MANIFOLD_FLAT, .count = 1, .normal = s->normal, .radius_b = radius};
  m.points[0].a = s->a;
  m.points[0].b = pose_inverse_point(c->b_in_a, tn_add(s->b, tn_scale(radius, s->normal)));
  m.points[0].gap = s->distance;
  return m;
}

// A triangle by itself pushes what it cuts to the side of its plane. Where it is cut at an edge,
// the way out across that edge may be shorter.
static bool collide_facet(const surface_contacts *c, const facet_view *v, manifold *m)
{
  geometry g = triangle_geometry(v->f.corner);
  if (!collide_convex(&g, c->b, c->b_in_a, c->margin, m))
    return false;
  if (manifold_gap(m) < 0.0f &&
      fabsf(tn_dot(m->normal, v->normal)) > 1.0f - COLLIDE_FACE_NORMAL_TOLERANCE) {
    separation s = convex_distance(&g, c->b, c->b_in_a);
    if (s.distance <= 0.0f && fabsf(tn_dot(s.normal, v->normal)) < 0.7f)
      *m = manifold_of(c, &s);
  }
  return true;
}

// Contacts in the direction of the facet itself belong to its plane.
static void add_face(surface_contacts *c, const facet_view *v, plane_patch *p, const manifold *m)
{
  if (classify_face_hit(c, v, manifold_gap(m)) != FACE_HIT)
    return;
  if (!p && !make_candidate(c, v))
    return;
  plane_patch *into = p ? p : &c->candidate;
  into->front_hit = true;
  if (m->form == MANIFOLD_FLAT)
    add_extra(into, m);
  if (!p)
    keep_candidate(c);
}

void surface_contacts_add_edges(surface_contacts *c, int index)
{
  facet_view v = view_facet(c, index);
  plane_patch *p = find_patch(c, &v);
  if (p ? patch_is_full(p) : is_beyond_margin(c, &v))
    return;
  if (is_outside_aabb(c, &v))
    return;
  manifold m;
  if (!collide_facet(c, &v, &m))
    return;
  classify_edges(c, &v);
  if (p)
    p->overlapped = p->overlapped || manifold_gap(&m) <= 0.0f;
  if (tn_dot(m.normal, v.normal) > 1.0f - COLLIDE_FACE_NORMAL_TOLERANCE) {
    add_face(c, &v, p, &m);
    if (m.form == MANIFOLD_FLAT)
      return;
  }
  // Below a solid surface nothing is pushed further down.
  if (c->source.solid_below && m.normal.y < -COLLIDE_INTERNAL_EDGE_SINE)
    return;
  int key = index;
  bool is_internal = internal_neighbor(c, &v, m.normal, deepest_point(&m), &key) != NO_FACET;
  m.child = 0x80000000u | (uint32_t)key;
  if (!is_internal)
    manifold_list_add(&c->edges, &m);
  else if (manifold_gap(&m) < manifold_gap(&c->fallback))
    c->fallback = m;
}

// ---------------------------------------------------------------------------------------------
// Beginning and end

void surface_contacts_begin(surface_contacts *c, triangle_source source, const geometry *b,
                            pose b_in_a, float margin)
{
  c->source = source;
  c->b = b;
  c->b_in_a = b_in_a;
  c->margin = margin;
  c->center = pose_point(b_in_a, convex_center(b));
  aabb box = geometry_aabb(b, b_in_a);
  c->size = 0.5f * tn_length(tn_sub(box.upper, box.lower));
  c->local_aabb = geometry_aabb(b, (pose){{0.0f, 0.0f, 0.0f}, tn_quat_identity()});
  c->local_aabb = aabb_expand(c->local_aabb, margin + 1e-5f * c->size);
  c->candidate.plane.count = 0;
  c->patch_count = c->edges.count = 0;
  c->edges.size = c->size;
  c->fallback.count = 0;
}

// A name for a direction: facets of one plane share it.
static uint32_t hash_normal(tn_vec3 n)
{
  uint32_t x = (uint32_t)(n.x * 255.0f + 256.5f), y = (uint32_t)(n.y * 255.0f + 256.5f);
  return x << 20 | y << 10 | (uint32_t)(n.z * 255.0f + 256.5f);
}

// When nothing certain holds a shape that touches, what is possible has to do.
static void use_fallback(surface_contacts *c)
{
  for (int i = 0; i < c->patch_count; i++)
    c->patches[i].front_hit = c->patches[i].front_hit || c->patches[i].overlapped;
  float found = found_gap(c), fallback = manifold_gap(&c->fallback);
  if (found == INFINITY ? c->fallback.count > 0 : found > 0.0f && fallback < 0.0f)
    manifold_list_add(&c->edges, &c->fallback);
}

// What is left of the plane's manifold: as it is if all of it lies on the surface, else what does
// and what was found where the surface ends.
static bool finish_patch(const plane_patch *p, manifold *out)
{
  *out = p->plane;
  out->child = hash_normal(p->normal);
  if (patch_is_full(p))
    return true;
  manifold_point points[MAX_MANIFOLD_POINTS + MAX_PATCH_EXTRA];
  int count = 0;
  for (int i = 0; i < p->plane.count; i++)
    if (points_held(p) & 1u << i)
      points[count++] = p->plane.points[i];
  if (p->extra_count > 0) {
    out->form = MANIFOLD_FLAT;
    for (int i = 0; i < p->extra_count; i++)
      points[count++] = p->extra[i];
  }
  if (count > MAX_MANIFOLD_POINTS || p->extra_count > 0) {
    manifold_reduce_extremes(out, points, count);
  } else {
    out->count = count;
    for (int i = 0; i < count; i++)
      out->points[i] = points[i];
  }
  return out->count > 0;
}

int surface_contacts_finish(surface_contacts *c, manifold *out, int capacity)
{
  if (found_gap(c) > 0.0f)
    use_fallback(c);
  manifold_list found;
  found.size = c->size;
  found.count = 0;
  for (int i = 0; i < c->patch_count; i++)
    found.count += finish_patch(&c->patches[i], &found.items[found.count]);
  // A face is the better form of the same contact.
  int faces = found.count;
  for (int i = 0; i < c->edges.count; i++) {
    bool known = false;
    for (int k = 0; k < faces && !known; k++)
      known = manifold_is_contained(&c->edges.items[i], &found.items[k], c->size);
    if (!known)
      manifold_list_add(&found, &c->edges.items[i]);
  }
  return manifold_list_finish(&found, out, capacity);
}
