// Contacts of a convex shape with a triangle surface: face contacts by whole planes, edge and
// vertex contacts filtered by the Voronoi regions of their neighbours (see the header). `size` in
// tolerances is half the diagonal of the shape's AABB.
#include "collide/surface_contacts.h"

#include "collide/bvh.h"
#include "collide/collide_tuning.h"
#include "collide/convex_manifold.h"
#include "collide/near_facet.h"

tn_vec3 convex_center(const geometry *g)
{
  return g->kind == TN_SHAPE_HULL ? g->hull->center : tn_v3(0.0f, 0.0f, 0.0f);
}

// Spheres and capsules, whose contact with a plane is right below their core.
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

// The corner of `f` that is not on the edge a b.
static tn_vec3 opposite_vertex(const facet *f, tn_vec3 a, tn_vec3 b)
{
  for (int i = 0; i < 3; i++) {
    if (!same_point(f->corner[i], a) && !same_point(f->corner[i], b)) {
      return f->corner[i];
    }
  }
  return a;
}

static edge_info classify_edge(const surface_contacts *c, const near_facet *v, int edge)
{
  edge_info result = {.kind = EDGE_CONVEX};
  if (v->f.across[edge] == NO_FACET) {
    return result;
  }
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

// Neighbours are fetched only for facets that matter.
static void classify_edges(const surface_contacts *c, near_facet *v)
{
  for (int i = 0; i < 3 && !v->is_classified; i++) {
    v->edge_kind[i] = classify_edge(c, v, i);
  }
  v->is_classified = true;
}

static int find_corner(const facet *f, tn_vec3 p)
{
  for (int i = 0; i < 3; i++) {
    if (same_point(f->corner[i], p)) {
      return i;
    }
  }
  return -1;
}

enum { MAX_VERTEX_RING = COLLIDE_VERTEX_RING };

// Walks from facet to facet around a vertex in one direction. True when the ring closes.
static bool walk_vertex_ring(const surface_contacts *c, const near_facet *v, int corner,
                             bool forward, int around[MAX_VERTEX_RING], int *count)
{
  int here = v->index, next = v->f.across[forward ? (corner + 2) % 3 : corner];
  while (next != v->index && next != NO_FACET && *count < MAX_VERTEX_RING) {
    facet f = c->source.get(c->source.surface, next);
    int at = find_corner(&f, v->f.corner[corner]);
    if (at < 0) {
      return false;
    }
    around[(*count)++] = next;
    // Leave through the other edge at the vertex, whatever the winding of the neighbour.
    int beyond = f.across[at] == here ? f.across[(at + 2) % 3] : f.across[at];
    here = next;
    next = beyond;
  }
  return next == v->index;
}

// The other facets around a vertex. An open ring is walked in both directions.
static int vertex_ring(const surface_contacts *c, const near_facet *v, int corner,
                       int around[MAX_VERTEX_RING])
{
  int count = 0;
  if (!walk_vertex_ring(c, v, corner, true, around, &count)) {
    walk_vertex_ring(c, v, corner, false, around, &count);
  }
  return count;
}

// Whether a facet `index`, which shares a corner, occludes facet v: the surface is concave between
// the two, the shape touches the other one and its centre is behind it.
static bool occludes(const surface_contacts *c, const near_facet *v, int corner, int index)
{
  facet other = c->source.get(c->source.surface, index);
  float side = tn_dot(v->normal, v->f.normal) < 0.0f ? -1.0f : 1.0f;
  tn_vec3 p = v->f.corner[corner], front = tn_scale(side, other.normal);
  if (tn_dot(front, tn_sub(c->center, p)) >= 0.0f) {
    return false;
  }
  float rise = 0.0f, own = 0.0f, extent = 0.0f;
  for (int i = 0; i < 3; i++) {
    tn_vec3 d = tn_sub(other.corner[i], p), e = tn_sub(v->f.corner[i], p);
    rise = fmaxf(rise, tn_dot(v->normal, d));
    own = fminf(own, tn_dot(front, e));
    extent = fmaxf(extent, fmaxf(tn_length(d), tn_length(e)));
  }
  if (rise <= COLLIDE_COPLANAR_SINE * extent || own < -COLLIDE_COPLANAR_SINE * extent) {
    return false;
  }
  geometry g = triangle_geometry(other.corner);
  manifold m;
  return collide_convex(&g, c->b, c->b_in_a, c->margin, &m);
}

// Facets that an adjacent facet occludes make no contacts. A box on top of a block, flush with the
// block's side, is behind that side and may penetrate it less than the top; the side must not push
// it. The shape is behind the one and in front of the other.
static bool is_occluded(const surface_contacts *c, const near_facet *v)
{
  if (c->source.solid_below || !c->met_front || !c->met_back) {
    return false;
  }
  for (int corner = 0; corner < 3; corner++) {
    int around[MAX_VERTEX_RING], count = vertex_ring(c, v, corner, around);
    for (int i = 0; i < count; i++) {
      if (occludes(c, v, corner, around[i])) {
        return true;
      }
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Faces

// Of a box or hull: the vertices within the margin, projected on the plane, around `center`.
static bool vertices_on_plane(const surface_contacts *c, tn_vec3 normal, tn_vec3 origin,
                              manifold *m)
{
  alignas(16) float heights[MAX_TURNED_VERTICES];
  clip_vertex over[MAX_TURNED_VERTICES];
  int chosen[MAX_MANIFOLD_POINTS], count = 0;
  float plane = tn_dot(normal, tn_sub(origin, c->center));
  tn_quat turn = quat_y_to(normal);
  tn_vec3 u = tn_rotate(turn, tn_v3(0.0f, 0.0f, 1.0f)),
          v = tn_rotate(turn, tn_v3(1.0f, 0.0f, 0.0f));
  vector_rows_products(&c->vertices.rows, normal, heights);
  for (int i = 0; i < c->vertices.rows.count; i++) {
    if (heights[i] - plane <= c->margin) {
      tn_vec3 p = turned_vertex(c, i);
      over[count++] =
          (clip_vertex){tn_dot(u, p), tn_dot(v, p), heights[i] - plane, (uint16_t)i, (uint16_t)i};
    }
  }
  *m = (manifold){.form = MANIFOLD_FLAT, .normal = normal};
  m->count = select_contact_points(over, count, INFINITY, chosen);
  for (int i = 0; i < m->count; i++) {
    const clip_vertex *p = &over[chosen[i]];
    tn_vec3 at = tn_add(c->center, turned_vertex(c, p->in));
    m->points[i] = (manifold_point){.a = tn_sub(at, tn_scale(p->height, normal)),
                                    .b = polyhedron_vertex(c->b, p->in),
                                    .gap = p->height,
                                    .feature = (uint32_t)p->in | (uint32_t)p->in << 9};
  }
  return m->count > 0;
}

// The manifold of the shape with the whole plane of a facet, in the surface's frame.
static bool plane_manifold(const surface_contacts *c, tn_vec3 normal, tn_vec3 origin, manifold *m)
{
  if (c->vertices.rows.count > 0) {
    return vertices_on_plane(c, normal, origin, m);
  }
  float height = tn_dot(normal, tn_sub(c->center, origin));
  pose plane_in_a = {tn_sub(c->center, tn_scale(height, normal)), quat_y_to(normal)};
  pose b_in_plane = pose_mul(pose_inverse(plane_in_a), c->b_in_a);
  geometry plane = {.kind = TN_SHAPE_PLANE};
  if (!collide_convex(&plane, c->b, b_in_plane, c->margin, m)) {
    return false;
  }
  m->normal = normal;
  for (int i = 0; i < m->count; i++) {
    m->points[i].a = pose_point(plane_in_a, m->points[i].a);
  }
  if (m->form == MANIFOLD_ROUND) {
    for (int i = 0; i < 2; i++) {
      m->segment[0][i] = pose_point(plane_in_a, m->segment[0][i]);
    }
  }
  return true;
}

// Separating axis test of the facet with the axes of the shape's local AABB.
static bool is_outside_aabb(const surface_contacts *c, const near_facet *v)
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

static bool is_in_plane(const surface_contacts *c, const plane_patch *p, const near_facet *v)
{
  if (squared_length(tn_sub(p->normal, v->normal)) > COLLIDE_PATCH_NORMAL2) {
    return false;
  }
  for (int i = 0; i < 3; i++) {
    if (fabsf(tn_dot(p->normal, tn_sub(v->f.corner[i], p->origin))) >
        COLLIDE_PATCH_HEIGHT * c->size) {
      return false;
    }
  }
  return true;
}

static plane_patch *find_patch(surface_contacts *c, const near_facet *v)
{
  for (int i = 0; i < c->patch_count; i++) {
    if (is_in_plane(c, &c->patches[i], v)) {
      return &c->patches[i];
    }
  }
  return NULL;
}

// Bits of the plane's points that count as contacts.
static unsigned points_held(const plane_patch *p)
{
  return p->front_hit ? p->on_surface | p->possible : 0;
}

static bool patch_is_full(const plane_patch *p)
{
  return points_held(p) == (1u << p->plane.count) - 1u;
}

// Makes a patch of the facet's plane in `candidate`, unless it is there already. False when the
// shape is beyond the margin.
static bool make_candidate(surface_contacts *c, const near_facet *v)
{
  plane_patch *p = &c->candidate;
  if (p->plane.count > 0 && is_in_plane(c, p, v)) {
    return true;
  }
  p->normal = v->normal;
  p->origin = v->f.corner[0];
  p->on_surface = p->possible = 0;
  p->extra_count = 0;
  p->overlapped = p->front_hit = false;
  return plane_manifold(c, p->normal, p->origin, &p->plane);
}

// Smallest gap of the extra points and of those points of the plane whose bits are set.
static float patch_gap(const plane_patch *p, unsigned points)
{
  float gap = INFINITY;
  for (int i = 0; i < p->plane.count; i++) {
    if (points & 1u << i) {
      gap = fminf(gap, p->plane.points[i].gap);
    }
  }
  for (int i = 0; i < p->extra_count; i++) {
    gap = fminf(gap, p->extra[i].gap);
  }
  return gap;
}

// Moves the candidate to the patches; when these are full it replaces the one with the largest gap,
// if its own is smaller.
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
  if (patch_gap(p, p->on_surface | p->possible) < top) {
    c->patches[highest] = *p;
  }
  p->plane.count = 0;
}

// Whether a point of the plane's manifold lies on this facet. At a convex edge the penetration must
// be less than the distance to the edge: otherwise the shorter way out is across the edge. Beyond a
// concave edge, up to 0.1 of the size, a point still counts if it is below the neighbour's plane:
// it penetrates both.
static bool point_on_facet(const surface_contacts *c, const near_facet *v, const manifold_point *p)
{
  for (int i = 0; i < 3; i++) {
    const edge_info *edge = &v->edge_kind[i];
    tn_vec3 d = tn_sub(p->a, v->f.corner[i]);
    tn_vec3 along = tn_sub(v->f.corner[(i + 1) % 3], v->f.corner[i]);
    float tolerance = COLLIDE_ON_TRIANGLE * (fabsf(p->a.x) + fabsf(p->a.y) + fabsf(p->a.z)) +
                      COLLIDE_ON_TRIANGLE_EDGE * (fabsf(along.x) + fabsf(along.y) + fabsf(along.z));
    float inside = tn_dot(v->inward[i], d) + tolerance;
    if (edge->kind == EDGE_CONVEX) {
      inside += fminf(p->gap, 0.0f);
    } else if (edge->kind == EDGE_CONCAVE && edge->seen && !has_radius(c->b)) {
      tn_vec3 surface = tn_add(d, tn_scale(p->gap, v->normal));
      if (inside < 0.0f && inside > -COLLIDE_CONCAVE_OVERHANG * c->size &&
          tn_dot(edge->beyond, surface) <= 0.0f) {
        continue;
      }
    }
    if (inside < 0.0f) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Edges and vertices

static bool points_into(tn_vec3 normal, tn_vec3 direction)
{
  return tn_dot(normal, direction) > COLLIDE_INTERNAL_EDGE_SINE * tn_length(direction);
}

// Voronoi test at an edge or vertex: a valid contact normal points into none of the facets around
// it. These return a facet into which it points, or NO_FACET. `key` becomes the smallest facet
// index met, which identifies the edge or vertex from any of its facets.
static int internal_neighbor_at_vertex(const surface_contacts *c, const near_facet *v, int corner,
                                       tn_vec3 normal, int *key)
{
  int around[MAX_VERTEX_RING], count = vertex_ring(c, v, corner, around);
  tn_vec3 p = v->f.corner[corner];
  for (int i = 0; i < count; i++) {
    facet f = c->source.get(c->source.surface, around[i]);
    int at = find_corner(&f, p);
    *key = around[i] < *key ? around[i] : *key;
    if (points_into(normal, tn_sub(f.corner[(at + 1) % 3], p)) ||
        points_into(normal, tn_sub(f.corner[(at + 2) % 3], p))) {
      return around[i];
    }
  }
  return NO_FACET;
}

static int internal_neighbor_at_edge(const surface_contacts *c, const near_facet *v, int edge,
                                     tn_vec3 normal, int *key)
{
  int next = v->f.across[edge];
  if (next == NO_FACET) {
    return NO_FACET;
  }
  *key = next < *key ? next : *key;
  facet other = c->source.get(c->source.surface, next);
  tn_vec3 a = v->f.corner[edge], b = v->f.corner[(edge + 1) % 3];
  tn_vec3 along = unit_or_zero(tn_sub(b, a)), d = tn_sub(opposite_vertex(&other, a, b), a);
  return points_into(normal, tn_sub(d, tn_scale(tn_dot(along, d), along))) ? next : NO_FACET;
}

// The feature of a facet at a point of it: corner 0 to 2, edge 3 to 5, or the interior, -1.
static int feature_at(const near_facet *v, tn_vec3 p)
{
  bool on[3];
  for (int i = 0; i < 3; i++) {
    tn_vec3 along = tn_sub(v->f.corner[(i + 1) % 3], v->f.corner[i]);
    on[i] = tn_dot(v->inward[i], tn_sub(p, v->f.corner[i])) <= COLLIDE_AT_EDGE * tn_length(along);
  }
  for (int i = 0; i < 3; i++) {
    if (on[i] && on[(i + 2) % 3]) {
      return i;
    }
  }
  return on[0] ? 3 : on[1] ? 4 : on[2] ? 5 : -1;
}

// The corner (0 to 2) or edge (3 to 5) that is furthest along a direction.
static int feature_towards(const near_facet *v, tn_vec3 direction)
{
  int top = 0;
  for (int i = 1; i < 3; i++) {
    if (tn_dot(direction, tn_sub(v->f.corner[i], v->f.corner[top])) > 0.0f) {
      top = i;
    }
  }
  int next = (top + 1) % 3, last = (top + 2) % 3;
  tn_vec3 on = tn_sub(v->f.corner[next], v->f.corner[top]);
  tn_vec3 back = tn_sub(v->f.corner[last], v->f.corner[top]);
  if (tn_dot(direction, on) > -COLLIDE_INTERNAL_EDGE_SINE * tn_length(on)) {
    return 3 + top;
  }
  return tn_dot(direction, back) > -COLLIDE_INTERNAL_EDGE_SINE * tn_length(back) ? 3 + last : top;
}

// The facet whose region a contact's normal points into, or NO_FACET. The position of a contact
// point depends on how it was found; a normal other than the facet's own is the better evidence of
// the edge or corner it belongs to.
static int internal_neighbor(const surface_contacts *c, const near_facet *v, tn_vec3 normal,
                             tn_vec3 p, int *key)
{
  bool own = tn_dot(normal, v->normal) > COLLIDE_OWN_NORMAL;
  int feature = own ? feature_at(v, p) : feature_towards(v, normal);
  if (feature < 0) {
    return NO_FACET;
  }
  if (feature < 3) {
    return internal_neighbor_at_vertex(c, v, feature, normal, key);
  }
  return internal_neighbor_at_edge(c, v, feature - 3, normal, key);
}

// Whether another facet is below the plane of this one.
static bool bends_away(const surface_contacts *c, const near_facet *v, int index)
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
// Passes over the facets

// Whether the shape hits a facet from the front.
typedef enum face_hit {
  FACE_MISSED,
  FACE_POSSIBLE, // if another facet of the plane is
  FACE_HIT,
} face_hit;

// A shape that is deep behind the plane of a facet may hit it only across an edge, from the side,
// or not at all. Then EPA on the facet decides; where it cannot, other facets of the plane do.
static face_hit classify_face_hit(const surface_contacts *c, const near_facet *v, float gap)
{
  face_hit result = FACE_HIT;
  if (gap < -COLLIDE_DEEP_FACE * c->size) {
    geometry g = triangle_geometry(v->f.corner);
    separation s = convex_distance(&g, c->b, c->b_in_a);
    int key = v->index, other = internal_neighbor(c, v, s.normal, s.a, &key);
    if (s.distance > 0.0f) {
      result = FACE_POSSIBLE;
    } else if (tn_dot(s.normal, v->normal) < COLLIDE_SIDEWAYS_COSINE) {
      result = other == NO_FACET || bends_away(c, v, other) ? FACE_MISSED : FACE_POSSIBLE;
    }
  }
  return result != FACE_MISSED && is_occluded(c, v) ? FACE_MISSED : result;
}

static void add_face(surface_contacts *c, near_facet *v)
{
  plane_patch *p = v->has_vertex_over ? find_patch(c, v) : NULL;
  if (!v->has_vertex_over || (p ? patch_is_full(p) : !make_candidate(c, v))) {
    return;
  }
  classify_edges(c, v);
  plane_patch *into = p ? p : &c->candidate;
  unsigned held = 0;
  for (int i = 0; i < into->plane.count; i++) {
    if (!(into->on_surface & 1u << i) && point_on_facet(c, v, &into->plane.points[i])) {
      held |= 1u << i;
    }
  }
  if (!held) {
    return;
  }
  face_hit front_hit = classify_face_hit(c, v, patch_gap(into, held));
  into->front_hit = into->front_hit || front_hit == FACE_HIT;
  if (front_hit == FACE_HIT) {
    into->on_surface |= held;
  } else if (front_hit == FACE_POSSIBLE) {
    into->possible |= held;
  }
  if (!p && front_hit != FACE_MISSED) {
    keep_candidate(c);
  }
}

// Smallest gap of the contacts that are certain.
static float found_gap(const surface_contacts *c)
{
  float gap = INFINITY;
  for (int i = 0; i < c->patch_count; i++) {
    gap = fminf(gap, patch_gap(&c->patches[i], points_held(&c->patches[i])));
  }
  for (int i = 0; i < c->edges.count; i++) {
    gap = fminf(gap, manifold_gap(&c->edges.items[i]));
  }
  return gap;
}

void surface_contacts_add_below(surface_contacts *c, int index)
{
  near_facet v;
  near_facet_view(c, index, &v);
  if (found_gap(c) <= 0.0f || !make_candidate(c, &v)) {
    return;
  }
  c->candidate.on_surface = (1u << c->candidate.plane.count) - 1u;
  c->candidate.front_hit = true;
  c->patch_count = 0;
  keep_candidate(c);
}

static tn_vec3 deepest_point(const manifold *m)
{
  int deepest = 0;
  for (int i = 1; i < m->count; i++) {
    if (m->points[i].gap < m->points[deepest].gap) {
      deepest = i;
    }
  }
  return m->points[deepest].a;
}

static void add_extra(plane_patch *p, const manifold *m)
{
  if (p->extra_count + m->count > MAX_PATCH_EXTRA) {
    manifold kept = p->plane;
    manifold_reduce_extremes(&kept, p->extra, p->extra_count);
    for (int i = 0; i < kept.count; i++) {
      p->extra[i] = kept.points[i];
    }
    p->extra_count = kept.count;
  }
  for (int i = 0; i < m->count; i++) {
    p->extra[p->extra_count++] = m->points[i];
  }
}

// One point at the witnesses of a separation.
static manifold manifold_of(const surface_contacts *c, const separation *s)
{
  float radius = has_radius(c->b) ? c->b->radius : 0.0f;
  manifold m = {.form = MANIFOLD_FLAT, .count = 1, .normal = s->normal, .radius_b = radius};
  m.points[0].a = s->a;
  m.points[0].b = pose_inverse_point(c->b_in_a, tn_add(s->b, tn_scale(radius, s->normal)));
  m.points[0].gap = s->distance;
  return m;
}

// True if the lowest vertex of a box or hull lies over the facet: the shortest segment, or the
// shortest way out, is then along the normal. For a vertex at depth h and distance r from the sides
// of the facet a way at an angle t to the normal has at least the length r sin t + h cos t.
static bool is_met_by_vertex(const surface_contacts *c, const near_facet *v, tn_vec3 vertex)
{
  float least = COLLIDE_FACE_SLACK * c->size + fmaxf(0.0f, -v->height);
  bool over = tn_dot(v->normal, tn_sub(c->center, v->f.corner[0])) >= 0.0f;
  for (int i = 0; i < 3; i++) {
    over = over && tn_dot(v->inward[i], tn_sub(vertex, v->f.corner[i])) >= least;
  }
  return over;
}

// Manifold of a single facet. collide_convex pushes the shape to its side of the facet's plane;
// where the facet is cut at an edge, the way out across that edge may be shorter and replaces it.
static bool collide_facet(const surface_contacts *c, const near_facet *v, manifold *m)
{
  geometry g = triangle_geometry(v->f.corner);
  core_start start = {.count = 0};
  if (c->vertices.rows.count > 0) {
    tn_vec3 vertex = tn_add(c->center, turned_vertex(c, v->lowest));
    if (is_met_by_vertex(c, v, vertex)) {
      return collide_at_vertex(&g, c->b, c->b_in_a, c->margin, v->normal, v->height, vertex, m);
    }
    uint8_t i = (uint8_t)v->lowest;
    start = (core_start){3, {0, 1, 2}, {i, i, i}};
  }
  if (collide_from(&g, c->b, c->b_in_a, c->margin, &start, m, 1) == 0) {
    return false;
  }
  if (manifold_gap(m) < 0.0f &&
      fabsf(tn_dot(m->normal, v->normal)) > 1.0f - COLLIDE_FACE_NORMAL_TOLERANCE) {
    separation s = convex_distance(&g, c->b, c->b_in_a);
    if (s.distance <= 0.0f && fabsf(tn_dot(s.normal, v->normal)) < COLLIDE_SIDEWAYS_COSINE) {
      *m = manifold_of(c, &s);
    }
  }
  return true;
}

// A contact along the facet normal belongs to the facet's plane.
static void add_to_plane(surface_contacts *c, const near_facet *v, plane_patch *p,
                         const manifold *m)
{
  if (classify_face_hit(c, v, manifold_gap(m)) != FACE_HIT) {
    return;
  }
  if (!p && !make_candidate(c, v)) {
    return;
  }
  plane_patch *into = p ? p : &c->candidate;
  into->front_hit = true;
  if (m->form == MANIFOLD_FLAT) {
    add_extra(into, m);
  }
  if (!p) {
    keep_candidate(c);
  }
}

static void add_edges(surface_contacts *c, near_facet *v)
{
  plane_patch *p = v->is_apart ? NULL : find_patch(c, v);
  manifold m;
  if (v->is_apart || (p && patch_is_full(p)) || is_outside_aabb(c, v) || !collide_facet(c, v, &m)) {
    return;
  }
  classify_edges(c, v);
  if (p) {
    p->overlapped = p->overlapped || manifold_gap(&m) <= 0.0f;
  }
  if (tn_dot(m.normal, v->normal) > 1.0f - COLLIDE_FACE_NORMAL_TOLERANCE) {
    add_to_plane(c, v, p, &m);
    if (m.form == MANIFOLD_FLAT) {
      return;
    }
  }
  // A solid surface never pushes down.
  if (c->source.solid_below && m.normal.y < -COLLIDE_INTERNAL_EDGE_SINE) {
    return;
  }
  int key = v->index;
  bool is_internal = internal_neighbor(c, v, m.normal, deepest_point(&m), &key) != NO_FACET;
  m.child = 0x80000000u | (uint32_t)key;
  if (!is_internal) {
    manifold_list_add(&c->edges, &m);
  } else if (manifold_gap(&m) < manifold_gap(&c->fallback)) {
    c->fallback = m;
  }
}

// ---------------------------------------------------------------------------------------------
// Begin and finish

static void begin(surface_contacts *c, triangle_source source, const geometry *b, pose b_in_a,
                  float margin)
{
  c->source = source;
  c->b = b;
  c->b_in_a = b_in_a;
  c->margin = margin;
  c->center = pose_point(b_in_a, convex_center(b));
  aabb box = geometry_aabb(b, b_in_a);
  c->size = 0.5f * tn_length(tn_sub(box.upper, box.lower));
  c->local_aabb = geometry_aabb(b, (pose){{0.0f, 0.0f, 0.0f}, tn_quat_identity()});
  c->local_aabb = aabb_expand(c->local_aabb, margin + COLLIDE_AABB_SLACK * c->size);
  turn_vertices(c);
  c->met_front = c->met_back = false;
  c->candidate.plane.count = 0;
  c->patch_count = c->edges.count = c->near_count = 0;
  c->edges.size = c->size;
  c->fallback.count = 0;
}

static void gather(void *context, int index)
{
  surface_contacts *c = context;
  near_facet other, *v = c->near_facets ? &c->near_facets[c->near_count] : &other;
  if (near_facet_view(c, index, v) && c->near_facets && ++c->near_count == MAX_NEAR_FACETS) {
    c->near_facets = NULL;
  }
}

static void view_and_add_face(void *context, int index)
{
  near_facet v;
  if (near_facet_view(context, index, &v)) {
    add_face(context, &v);
  }
}

// True if the facet may have to give a contact that its neighbours exclude, because no other facet
// has one or none that penetrates.
static bool may_fall_back(const surface_contacts *c, const near_facet *v)
{
  float found = found_gap(c);
  return !v->may_hold && found > 0.0f && (v->height <= 0.0f || found == INFINITY);
}

static void view_and_add_edges(void *context, int index)
{
  near_facet v;
  if (near_facet_view(context, index, &v) && v.may_hold) {
    add_edges(context, &v);
  }
}

static void view_and_fall_back(void *context, int index)
{
  near_facet v;
  if (near_facet_view(context, index, &v) && may_fall_back(context, &v)) {
    add_edges(context, &v);
  }
}

void surface_contacts_find(surface_contacts *c, triangle_source source, const geometry *b,
                           pose b_in_a, float margin)
{
  near_facet list[MAX_NEAR_FACETS];
  begin(c, source, b, b_in_a, margin);
  c->near_facets = list;
  aabb box = aabb_expand(geometry_aabb(b, b_in_a), margin);
  source.walk(source.surface, box, gather, c);
  if (!c->near_facets) {
    source.walk(source.surface, box, view_and_add_face, c);
    source.walk(source.surface, box, view_and_add_edges, c);
    source.walk(source.surface, box, view_and_fall_back, c);
    return;
  }
  for (int i = 0; i < c->near_count; i++) {
    add_face(c, &list[i]);
  }
  for (int i = 0; i < c->near_count; i++) {
    if (list[i].may_hold) {
      add_edges(c, &list[i]);
    }
  }
  for (int i = 0; i < c->near_count; i++) {
    if (may_fall_back(c, &list[i])) {
      add_edges(c, &list[i]);
    }
  }
}

// Child id of a patch: its normal in steps of 1/255, 10 bits per component. The facets of a plane
// share it.
static uint32_t hash_normal(tn_vec3 n)
{
  uint32_t x = (uint32_t)(n.x * 255.0f + 256.5f), y = (uint32_t)(n.y * 255.0f + 256.5f);
  return x << 20 | y << 10 | (uint32_t)(n.z * 255.0f + 256.5f);
}

// When no certain contact holds a shape that overlaps the surface, accept patches that overlap it
// and the contact with an internal edge.
static void use_fallback(surface_contacts *c)
{
  for (int i = 0; i < c->patch_count; i++) {
    c->patches[i].front_hit = c->patches[i].front_hit || c->patches[i].overlapped;
  }
  float found = found_gap(c), fallback = manifold_gap(&c->fallback);
  if (found == INFINITY ? c->fallback.count > 0 : found > 0.0f && fallback < 0.0f) {
    manifold_list_add(&c->edges, &c->fallback);
  }
}

// The final manifold of a patch: the plane's own if all of its points lie on the surface, else
// those that do and the extra points.
static bool finish_patch(const plane_patch *p, float size, manifold *out)
{
  *out = p->plane;
  out->child = hash_normal(p->normal);
  if (patch_is_full(p)) {
    return true;
  }
  manifold_point points[MAX_MANIFOLD_POINTS + MAX_PATCH_EXTRA];
  int count = 0;
  for (int i = 0; i < p->plane.count; i++) {
    if (points_held(p) & 1u << i) {
      points[count++] = p->plane.points[i];
    }
  }
  if (p->extra_count > 0) {
    out->form = MANIFOLD_FLAT;
    for (int i = 0; i < p->extra_count; i++) {
      count = manifold_add_point(points, count, &p->extra[i], size);
    }
  }
  if (count > MAX_MANIFOLD_POINTS || p->extra_count > 0) {
    manifold_reduce_extremes(out, points, count);
  } else {
    out->count = count;
    for (int i = 0; i < count; i++) {
      out->points[i] = points[i];
    }
  }
  return out->count > 0;
}

int surface_contacts_finish(surface_contacts *c, manifold *out, int capacity)
{
  if (found_gap(c) > 0.0f) {
    use_fallback(c);
  }
  manifold_list found;
  found.size = c->size;
  found.count = 0;
  for (int i = 0; i < c->patch_count; i++) {
    found.count += finish_patch(&c->patches[i], c->size, &found.items[found.count]);
  }
  // Drop edge contacts that a face manifold contains.
  int faces = found.count;
  for (int i = 0; i < c->edges.count; i++) {
    bool known = false;
    for (int k = 0; k < faces && !known; k++) {
      known = manifold_is_contained(&c->edges.items[i], &found.items[k], c->size);
    }
    if (!known) {
      manifold_list_add(&found, &c->edges.items[i]);
    }
  }
  return manifold_list_finish(&found, out, capacity);
}
