#include "collide/facet.h"

#include "collide/bvh.h"

// Sine of the angle up to which two facets count as one plane where they meet.
static const float flat_sine = 0.02f;
// How far a normal may lean towards a neighbour before that neighbour is the one in contact.
static const float lean = 1e-3f;
// One minus the cosine of a contact with the face itself.
static const float face_cosine = 5e-5f;

typedef enum border {
  BORDER_OUTER, // the surface ends or bends away from the shape
  BORDER_FLAT,
  BORDER_INNER, // it bends towards the shape
} border;

typedef struct facet_border {
  border kind;
  // Inner borders: the plane beyond goes through the border, its normal is on the side of this
  // facet.
  tn_vec3 beyond;
  bool seen; // whether the middle of the shape is on that side as well
} facet_border;

// A facet as the shape sees it, from its side.
typedef struct facet_view {
  int index;
  facet f;
  tn_vec3 normal;    // towards the shape
  tn_vec3 inward[3]; // in the plane, unit, away from the edges
  facet_border border[3];
} facet_view;

tn_vec3 convex_middle(const geometry *g)
{
  return g->kind == TN_SHAPE_HULL ? g->hull->center : tn_v3(0.0f, 0.0f, 0.0f);
}

static tn_vec3 unit_or_zero(tn_vec3 v)
{
  float length = tn_length(v);
  return length > 0.0f ? tn_scale(1.0f / length, v) : tn_v3(0.0f, 0.0f, 0.0f);
}

// Spheres and capsules, which touch planes right below their cores.
static bool has_core(const geometry *g)
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
static tn_vec3 corner_off(const facet *f, tn_vec3 a, tn_vec3 b)
{
  for (int i = 0; i < 3; i++)
    if (!same_point(f->corner[i], a) && !same_point(f->corner[i], b))
      return f->corner[i];
  return a;
}

static facet_border border_of(const facet_contacts *c, const facet_view *v, int edge)
{
  facet_border result = {.kind = BORDER_OUTER};
  if (v->f.across[edge] == NO_FACET)
    return result;
  facet other = c->source.get(c->source.surface, v->f.across[edge]);
  tn_vec3 a = v->f.corner[edge], b = v->f.corner[(edge + 1) % 3];
  tn_vec3 d = tn_sub(corner_off(&other, a, b), a);
  float rise = tn_dot(v->normal, d), run = -tn_dot(v->inward[edge], d);
  if (run > 0.0f && fabsf(rise) <= flat_sine * run) {
    result.kind = BORDER_FLAT;
  } else if (rise > 0.0f) {
    result.kind = BORDER_INNER;
    tn_vec3 own = tn_sub(v->f.corner[(edge + 2) % 3], a);
    result.beyond = tn_scale(tn_dot(other.normal, own) < 0.0f ? -1.0f : 1.0f, other.normal);
    result.seen = tn_dot(result.beyond, tn_sub(c->center, a)) > 0.0f;
  }
  return result;
}

static facet_view view_facet(const facet_contacts *c, int index)
{
  facet_view v = {.index = index, .f = c->source.get(c->source.surface, index)};
  bool behind = tn_dot(v.f.normal, tn_sub(c->center, v.f.corner[0])) < 0.0f;
  v.normal = tn_scale(behind && !c->source.solid_below ? -1.0f : 1.0f, v.f.normal);
  return v;
}

// What is beyond the edges is looked up only for facets that matter.
static void view_borders(const facet_contacts *c, facet_view *v)
{
  for (int i = 0; i < 3; i++) {
    tn_vec3 along = tn_sub(v->f.corner[(i + 1) % 3], v->f.corner[i]);
    v->inward[i] = unit_or_zero(tn_cross(v->f.normal, along));
    v->border[i] = border_of(c, v, i);
  }
}

static int find_corner(const facet *f, tn_vec3 p)
{
  for (int i = 0; i < 3; i++)
    if (same_point(f->corner[i], p))
      return i;
  return -1;
}

enum { MAX_AROUND = 64 }; // facets at a corner; more do not matter

// Goes round a corner in one direction, from facet to facet; true when that comes back.
static bool go_round(const facet_contacts *c, const facet_view *v, int corner, bool forward,
                     int around[MAX_AROUND], int *count)
{
  int here = v->index, next = v->f.across[forward ? (corner + 2) % 3 : corner];
  while (next != v->index && next != NO_FACET && *count < MAX_AROUND) {
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
static int facets_around(const facet_contacts *c, const facet_view *v, int corner,
                         int around[MAX_AROUND])
{
  int count = 0;
  if (!go_round(c, v, corner, true, around, &count))
    go_round(c, v, corner, false, around, &count);
  return count;
}

// Whether the surface bends up to another facet that shares a corner, so that the two face each
// other, but the middle of the shape, which meets it, is behind that.
static bool stands_before(const facet_contacts *c, const facet_view *v, int corner, int index)
{
  facet other = c->source.get(c->source.surface, index);
  float side = tn_dot(v->normal, v->f.normal) < 0.0f ? -1.0f : 1.0f;
  tn_vec3 p = v->f.corner[corner], front = tn_scale(side, other.normal);
  if (tn_dot(front, tn_sub(c->center, p)) >= 0.0f)
    return false;
  float rise = 0.0f, own = 0.0f, reach = 0.0f;
  for (int i = 0; i < 3; i++) {
    tn_vec3 d = tn_sub(other.corner[i], p), e = tn_sub(v->f.corner[i], p);
    rise = fmaxf(rise, tn_dot(v->normal, d));
    own = fminf(own, tn_dot(front, e));
    reach = fmaxf(reach, fmaxf(tn_length(d), tn_length(e)));
  }
  if (rise <= flat_sine * reach || own < -flat_sine * reach)
    return false;
  geometry g = triangle_geometry(other.corner);
  manifold m;
  return collide_convex(&g, c->b, c->b_in_a, c->margin, &m);
}

// A shape that stands on the top of a block, flush with its side, is behind the side and may well
// reach through it by less than it sinks into the top. It is the top that holds it.
static bool is_hidden(const facet_contacts *c, const facet_view *v)
{
  if (c->source.solid_below)
    return false;
  for (int corner = 0; corner < 3; corner++) {
    int around[MAX_AROUND], count = facets_around(c, v, corner, around);
    for (int i = 0; i < count; i++)
      if (stands_before(c, v, corner, around[i]))
        return true;
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Faces

// The manifold with the whole plane of a facet.
static bool plane_manifold(const facet_contacts *c, tn_vec3 normal, tn_vec3 origin, manifold *m)
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
static bool is_beyond(const facet_contacts *c, const facet_view *v)
{
  tn_vec3 down = pose_unvector(c->b_in_a, tn_scale(-1.0f, v->normal));
  tn_vec3 lowest = pose_point(c->b_in_a, convex_support(c->b, down));
  return tn_dot(v->normal, tn_sub(lowest, v->f.corner[0])) > c->margin + 1e-6f * c->size;
}

// Whether the facet is beyond a side of the shape's own box.
static bool is_aside(const facet_contacts *c, const facet_view *v)
{
  tn_vec3 p = pose_unpoint(c->b_in_a, v->f.corner[0]), lower = p, upper = p;
  for (int i = 1; i < 3; i++) {
    p = pose_unpoint(c->b_in_a, v->f.corner[i]);
    lower = v3_min(lower, p);
    upper = v3_max(upper, p);
  }
  const box3 *box = &c->own_box;
  return lower.x > box->upper.x || lower.y > box->upper.y || lower.z > box->upper.z ||
         upper.x < box->lower.x || upper.y < box->lower.y || upper.z < box->lower.z;
}

static bool is_in_plane(const facet_contacts *c, const facet_patch *p, const facet_view *v)
{
  if (squared_length(tn_sub(p->normal, v->normal)) > 1e-6f)
    return false;
  for (int i = 0; i < 3; i++)
    if (fabsf(tn_dot(p->normal, tn_sub(v->f.corner[i], p->origin))) > 2e-5f * c->size)
      return false;
  return true;
}

static facet_patch *find_patch(facet_contacts *c, const facet_view *v)
{
  for (int i = 0; i < c->patch_count; i++)
    if (is_in_plane(c, &c->patches[i], v))
      return &c->patches[i];
  return NULL;
}

static unsigned points_held(const facet_patch *p)
{
  return p->met ? p->on_surface | p->likely : 0;
}

static bool patch_is_full(const facet_patch *p)
{
  return points_held(p) == (1u << p->plane.count) - 1u;
}

// Makes the patch of a facet's plane in `trial`, unless it is there already. False when the shape
// is not near the plane.
static bool start_patch(facet_contacts *c, const facet_view *v)
{
  facet_patch *p = &c->trial;
  if (p->plane.count > 0 && is_in_plane(c, p, v))
    return true;
  p->normal = v->normal;
  p->origin = v->f.corner[0];
  p->on_surface = p->likely = 0;
  p->extra_count = 0;
  p->touched = p->met = false;
  return plane_manifold(c, p->normal, p->origin, &p->plane);
}

// The deepest gap of what a patch holds, as far as the bits say.
static float patch_gap(const facet_patch *p, unsigned points)
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
static void keep_trial(facet_contacts *c)
{
  facet_patch *p = &c->trial;
  if (c->patch_count < FACET_PATCHES) {
    c->patches[c->patch_count++] = *p;
    p->plane.count = 0;
    return;
  }
  int highest = 0;
  float top = -INFINITY;
  for (int i = 0; i < FACET_PATCHES; i++) {
    const facet_patch *q = &c->patches[i];
    float gap = patch_gap(q, q->on_surface | q->likely);
    if (gap > top) {
      top = gap;
      highest = i;
    }
  }
  if (patch_gap(p, p->on_surface | p->likely) < top)
    c->patches[highest] = *p;
  p->plane.count = 0;
}

// Whether a point of the plane's manifold is held by this facet. Near an outer border only what
// has sunk less than it would have to move aside; beyond an inner one only what has sunk into the
// neighbour there.
static bool holds(const facet_contacts *c, const facet_view *v, const manifold_point *p)
{
  for (int i = 0; i < 3; i++) {
    const facet_border *edge = &v->border[i];
    tn_vec3 d = tn_sub(p->a, v->f.corner[i]);
    tn_vec3 along = tn_sub(v->f.corner[(i + 1) % 3], v->f.corner[i]);
    float tolerance = 4e-6f * (fabsf(p->a.x) + fabsf(p->a.y) + fabsf(p->a.z)) +
                      1e-6f * (fabsf(along.x) + fabsf(along.y) + fabsf(along.z));
    float inside = tn_dot(v->inward[i], d) + tolerance;
    if (edge->kind == BORDER_OUTER) {
      inside += fminf(p->gap, 0.0f);
    } else if (edge->kind == BORDER_INNER && edge->seen && !has_core(c->b)) {
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

static bool leans_to(tn_vec3 normal, tn_vec3 direction)
{
  return tn_dot(normal, direction) > lean * tn_length(direction);
}

// Where the surface has its closest place at an edge or corner, the normal leans to none of the
// facets around it. These return one to which it does, or NO_FACET; `key` becomes the smallest
// number met.
static int leaning_at_corner(const facet_contacts *c, const facet_view *v, int corner,
                             tn_vec3 normal, int *key)
{
  int around[MAX_AROUND], count = facets_around(c, v, corner, around);
  tn_vec3 p = v->f.corner[corner];
  for (int i = 0; i < count; i++) {
    facet f = c->source.get(c->source.surface, around[i]);
    int at = find_corner(&f, p);
    *key = around[i] < *key ? around[i] : *key;
    if (leans_to(normal, tn_sub(f.corner[(at + 1) % 3], p)) ||
        leans_to(normal, tn_sub(f.corner[(at + 2) % 3], p)))
      return around[i];
  }
  return NO_FACET;
}

static int leaning_at_edge(const facet_contacts *c, const facet_view *v, int edge, tn_vec3 normal,
                           int *key)
{
  int next = v->f.across[edge];
  if (next == NO_FACET)
    return NO_FACET;
  *key = next < *key ? next : *key;
  facet other = c->source.get(c->source.surface, next);
  tn_vec3 a = v->f.corner[edge], b = v->f.corner[(edge + 1) % 3];
  tn_vec3 along = unit_or_zero(tn_sub(b, a)), d = tn_sub(corner_off(&other, a, b), a);
  return leans_to(normal, tn_sub(d, tn_scale(tn_dot(along, d), along))) ? next : NO_FACET;
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
  if (tn_dot(direction, on) > -lean * tn_length(on))
    return 3 + top;
  return tn_dot(direction, back) > -lean * tn_length(back) ? 3 + last : top;
}

// For a contact at a point of the facet. Where points are depends on how they were found; a normal
// that is not the facet's own tells better which edge or corner it belongs to.
static int leaning(const facet_contacts *c, const facet_view *v, tn_vec3 normal, tn_vec3 p,
                   int *key)
{
  bool own = tn_dot(normal, v->normal) > 0.999f;
  int feature = own ? feature_at(v, p) : feature_towards(v, normal);
  if (feature < 0)
    return NO_FACET;
  if (feature < 3)
    return leaning_at_corner(c, v, feature, normal, key);
  return leaning_at_edge(c, v, feature - 3, normal, key);
}

// Whether another facet goes down from this one.
static bool bends_away(const facet_contacts *c, const facet_view *v, int index)
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
  return rise < -flat_sine * run;
}

// ---------------------------------------------------------------------------------------------
// All facets

typedef enum meeting {
  MEETS_NOT,
  MEETS_PERHAPS,
  MEETS_FACE,
} meeting;

// A shape may reach far behind the plane of a facet and meet it only where the surface bends away,
// or at the side, or not at all. Then it is for other facets of the plane to say.
static meeting meet_face(const facet_contacts *c, const facet_view *v, float gap)
{
  meeting result = MEETS_FACE;
  if (gap < -0.02f * c->size) {
    geometry g = triangle_geometry(v->f.corner);
    separation s = convex_distance(&g, c->b, c->b_in_a);
    int key = v->index, other = leaning(c, v, s.normal, s.a, &key);
    if (s.distance > 0.0f)
      result = MEETS_PERHAPS;
    else if (tn_dot(s.normal, v->normal) < 0.7f)
      result = other == NO_FACET || bends_away(c, v, other) ? MEETS_NOT : MEETS_PERHAPS;
  }
  return result != MEETS_NOT && is_hidden(c, v) ? MEETS_NOT : result;
}

void facet_faces(facet_contacts *c, int index)
{
  facet_view v = view_facet(c, index);
  facet_patch *p = find_patch(c, &v);
  if (p ? patch_is_full(p) : is_beyond(c, &v) || !start_patch(c, &v))
    return;
  view_borders(c, &v);
  facet_patch *into = p ? p : &c->trial;
  unsigned held = 0;
  for (int i = 0; i < into->plane.count; i++)
    if (!(into->on_surface & 1u << i) && holds(c, &v, &into->plane.points[i]))
      held |= 1u << i;
  if (!held)
    return;
  meeting met = meet_face(c, &v, patch_gap(into, held));
  into->met = into->met || met == MEETS_FACE;
  if (met == MEETS_FACE)
    into->on_surface |= held;
  else if (met == MEETS_PERHAPS)
    into->likely |= held;
  if (!p && met != MEETS_NOT)
    keep_trial(c);
}

// The deepest gap of what is certain.
static float found_gap(const facet_contacts *c)
{
  float gap = INFINITY;
  for (int i = 0; i < c->patch_count; i++)
    gap = fminf(gap, patch_gap(&c->patches[i], points_held(&c->patches[i])));
  for (int i = 0; i < c->edges.count; i++)
    gap = fminf(gap, manifold_gap(&c->edges.items[i]));
  return gap;
}

void facet_sunk(facet_contacts *c, int index)
{
  facet_view v = view_facet(c, index);
  if (found_gap(c) <= 0.0f || !start_patch(c, &v))
    return;
  c->trial.on_surface = (1u << c->trial.plane.count) - 1u;
  c->trial.met = true;
  c->patch_count = 0;
  keep_trial(c);
}

static tn_vec3 deepest_point(const manifold *m)
{
  int deepest = 0;
  for (int i = 1; i < m->count; i++)
    if (m->points[i].gap < m->points[deepest].gap)
      deepest = i;
  return m->points[deepest].a;
}

static void add_extra(facet_patch *p, const manifold *m)
{
  if (p->extra_count + m->count > FACET_EXTRA) {
    manifold kept = p->plane;
    manifold_choose(&kept, p->extra, p->extra_count);
    for (int i = 0; i < kept.count; i++)
      p->extra[i] = kept.points[i];
    p->extra_count = kept.count;
  }
  for (int i = 0; i < m->count; i++)
    p->extra[p->extra_count++] = m->points[i];
}

// One point at the ends of the shortest way out.
static manifold manifold_of(const facet_contacts *c, const separation *s)
{
  float radius = has_core(c->b) ? c->b->radius : 0.0f;
  manifold m = {.form = MANIFOLD_FLAT, .count = 1, .normal = s->normal, .radius_b = radius};
  m.points[0].a = s->a;
  m.points[0].b = pose_unpoint(c->b_in_a, tn_add(s->b, tn_scale(radius, s->normal)));
  m.points[0].gap = s->distance;
  return m;
}

// A triangle by itself pushes what it cuts to the side of its plane. Where it is cut at an edge,
// the way out across that edge may be shorter.
static bool collide_facet(const facet_contacts *c, const facet_view *v, manifold *m)
{
  geometry g = triangle_geometry(v->f.corner);
  if (!collide_convex(&g, c->b, c->b_in_a, c->margin, m))
    return false;
  if (manifold_gap(m) < 0.0f && fabsf(tn_dot(m->normal, v->normal)) > 1.0f - face_cosine) {
    separation s = convex_distance(&g, c->b, c->b_in_a);
    if (s.distance <= 0.0f && fabsf(tn_dot(s.normal, v->normal)) < 0.7f)
      *m = manifold_of(c, &s);
  }
  return true;
}

// Contacts in the direction of the facet itself belong to its plane.
static void add_face(facet_contacts *c, const facet_view *v, facet_patch *p, const manifold *m)
{
  if (meet_face(c, v, manifold_gap(m)) != MEETS_FACE)
    return;
  if (!p && !start_patch(c, v))
    return;
  facet_patch *into = p ? p : &c->trial;
  into->met = true;
  if (m->form == MANIFOLD_FLAT)
    add_extra(into, m);
  if (!p)
    keep_trial(c);
}

void facet_edges(facet_contacts *c, int index)
{
  facet_view v = view_facet(c, index);
  facet_patch *p = find_patch(c, &v);
  if (p ? patch_is_full(p) : is_beyond(c, &v))
    return;
  if (is_aside(c, &v))
    return;
  manifold m;
  if (!collide_facet(c, &v, &m))
    return;
  view_borders(c, &v);
  if (p)
    p->touched = p->touched || manifold_gap(&m) <= 0.0f;
  if (tn_dot(m.normal, v.normal) > 1.0f - face_cosine) {
    add_face(c, &v, p, &m);
    if (m.form == MANIFOLD_FLAT)
      return;
  }
  // Below a solid surface nothing is pushed further down.
  if (c->source.solid_below && m.normal.y < -lean)
    return;
  int key = index;
  bool leans = leaning(c, &v, m.normal, deepest_point(&m), &key) != NO_FACET;
  m.child = 0x80000000u | (uint32_t)key;
  if (!leans)
    manifold_list_add(&c->edges, &m);
  else if (manifold_gap(&m) < manifold_gap(&c->spare))
    c->spare = m;
}

// ---------------------------------------------------------------------------------------------
// Beginning and end

void facet_begin(facet_contacts *c, facet_source source, const geometry *b, pose b_in_a,
                 float margin)
{
  c->source = source;
  c->b = b;
  c->b_in_a = b_in_a;
  c->margin = margin;
  c->center = pose_point(b_in_a, convex_middle(b));
  box3 box = geometry_box(b, b_in_a);
  c->size = 0.5f * tn_length(tn_sub(box.upper, box.lower));
  c->own_box = geometry_box(b, (pose){{0.0f, 0.0f, 0.0f}, tn_quat_identity()});
  c->own_box = box_grow(c->own_box, margin + 1e-5f * c->size);
  c->trial.plane.count = 0;
  c->patch_count = c->edges.count = 0;
  c->edges.size = c->size;
  c->spare.count = 0;
}

// A name for a direction: facets of one plane share it.
static uint32_t name_normal(tn_vec3 n)
{
  uint32_t x = (uint32_t)(n.x * 255.0f + 256.5f), y = (uint32_t)(n.y * 255.0f + 256.5f);
  return x << 20 | y << 10 | (uint32_t)(n.z * 255.0f + 256.5f);
}

// When nothing certain holds a shape that touches, what is likely has to do.
static void settle_for_likely(facet_contacts *c)
{
  for (int i = 0; i < c->patch_count; i++)
    c->patches[i].met = c->patches[i].met || c->patches[i].touched;
  float found = found_gap(c), spare = manifold_gap(&c->spare);
  if (found == INFINITY ? c->spare.count > 0 : found > 0.0f && spare < 0.0f)
    manifold_list_add(&c->edges, &c->spare);
}

// What is left of the plane's manifold: as it is if all of it lies on the surface, else what does
// and what was found where the surface ends.
static bool finish_patch(const facet_patch *p, manifold *out)
{
  *out = p->plane;
  out->child = name_normal(p->normal);
  if (patch_is_full(p))
    return true;
  manifold_point points[MAX_POINTS + FACET_EXTRA];
  int count = 0;
  for (int i = 0; i < p->plane.count; i++)
    if (points_held(p) & 1u << i)
      points[count++] = p->plane.points[i];
  if (p->extra_count > 0) {
    out->form = MANIFOLD_FLAT;
    for (int i = 0; i < p->extra_count; i++)
      points[count++] = p->extra[i];
  }
  if (count > MAX_POINTS || p->extra_count > 0) {
    manifold_choose(out, points, count);
  } else {
    out->count = count;
    for (int i = 0; i < count; i++)
      out->points[i] = points[i];
  }
  return out->count > 0;
}

int facet_finish(facet_contacts *c, manifold *out, int capacity)
{
  if (found_gap(c) > 0.0f)
    settle_for_likely(c);
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
      known = manifolds_alike(&c->edges.items[i], &found.items[k], c->size);
    if (!known)
      manifold_list_add(&found, &c->edges.items[i]);
  }
  return manifold_list_finish(&found, out, capacity);
}
