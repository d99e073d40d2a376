// EPA, the expanding polytope algorithm: penetration depth of overlapping cores. A polytope inside
// the Minkowski difference grows at its face closest to the origin. The face's offset is a lower
// bound of the depth, the support point along its normal an upper bound; the iteration ends when
// the two meet. When the polytope is full the best direction so far is the result.
#include "collide/collide_tuning.h"
#include "collide/core.h"

enum { EPA_MAX_VERTICES = COLLIDE_EPA_VERTICES, EPA_MAX_FACES = 2 * EPA_MAX_VERTICES, NONE = -1 };

typedef struct face {
  int corner[3]; // counter-clockwise seen from outside
  int across[3]; // the face beyond the edge from corner[i] to corner[i + 1]
  d3 normal;     // unit
  double offset; // distance from the origin; infinite for a sliver, which is never the closest
  bool alive, visible; // visible from the point being added
} face;

typedef struct polytope {
  core_vertex vertex[EPA_MAX_VERTICES];
  face faces[EPA_MAX_FACES];
  int free_faces[EPA_MAX_FACES]; // free list
  int vertex_count, face_count, free_face_count;
} polytope;

static d3 unit_or(d3 v, d3 otherwise)
{
  double square = d3_dot(v, v);
  return square > 0.0 ? d3_scale(1.0 / sqrt(square), v) : otherwise;
}

static d3 any_perpendicular(d3 v)
{
  double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z);
  d3 axis = x <= y && x <= z ? (d3){1.0, 0.0, 0.0}
            : y <= z         ? (d3){0.0, 1.0, 0.0}
                             : (d3){0.0, 0.0, 1.0};
  return unit_or(d3_cross(v, axis), axis);
}

static int make_face(polytope *p, int i, int j, int k)
{
  int made = p->free_face_count > 0 ? p->free_faces[--p->free_face_count] : p->face_count++;
  d3 a = p->vertex[i].w;
  d3 along = d3_sub(p->vertex[j].w, a), beside = d3_sub(p->vertex[k].w, a);
  d3 normal = d3_cross(along, beside);
  double square = d3_dot(normal, normal);
  face *f = &p->faces[made];
  *f = (face){.corner = {i, j, k}, .offset = (double)INFINITY, .alive = true};
  if (square >
      COLLIDE_EPA_SLIVER * COLLIDE_EPA_SLIVER * d3_dot(along, along) * d3_dot(beside, beside)) {
    f->normal = d3_scale(1.0 / sqrt(square), normal);
    f->offset = d3_dot(f->normal, a);
  }
  return made;
}

// ---------------------------------------------------------------------------------------------
// The first tetrahedron

// Adds the support point along +direction or -direction, whichever is further from the first
// vertex. False when the difference has no extent along `direction`.
static bool extend_along(core_pair *pair, polytope *p, d3 direction)
{
  core_vertex ahead = core_pair_support(pair, direction);
  core_vertex behind = core_pair_support(pair, d3_scale(-1.0, direction));
  double here = d3_dot(direction, p->vertex[0].w);
  double up = d3_dot(direction, ahead.w) - here, down = here - d3_dot(direction, behind.w);
  if (fmax(up, down) <= COLLIDE_EPA_DEGENERATE * pair->scale) {
    return false;
  }
  p->vertex[p->vertex_count++] = up >= down ? ahead : behind;
  return true;
}

// A direction perpendicular to what the vertices span so far; for a triangle its normal.
static d3 next_direction(const polytope *p)
{
  d3 a = p->vertex[0].w;
  d3 along = p->vertex_count > 1 ? d3_sub(p->vertex[1].w, a) : (d3){0.0, 1.0, 0.0};
  if (p->vertex_count < 3) {
    return any_perpendicular(along);
  }
  return unit_or(d3_cross(along, d3_sub(p->vertex[2].w, a)), any_perpendicular(along));
}

// Takes over the vertices of GJK's simplex that are in general position.
static void take_simplex(core_pair *pair, polytope *p, const core_vertex *simplex, int count)
{
  double bound = COLLIDE_EPA_DEGENERATE * pair->scale;
  for (int i = 0; i < count; i++) {
    d3 d = d3_sub(simplex[i].w, simplex[0].w), out = d;
    if (p->vertex_count == 2) {
      d3 u = unit_or(d3_sub(p->vertex[1].w, p->vertex[0].w), d);
      out = d3_sub(d, d3_scale(d3_dot(d, u), u));
    } else if (p->vertex_count == 3) {
      d3 n = next_direction(p);
      out = d3_scale(d3_dot(n, d), n);
    }
    if (p->vertex_count == 0 || d3_dot(out, out) > bound * bound) {
      p->vertex[p->vertex_count++] = simplex[i];
    }
  }
}

// Completes the tetrahedron. A flat difference may have no extent along the first direction that is
// tried, so two more are tried for a vertex, and one more for an edge. False when the difference
// has no volume.
static bool make_tetrahedron(core_pair *pair, polytope *p)
{
  while (p->vertex_count < 4) {
    d3 n = next_direction(p);
    if (extend_along(pair, p, n)) {
      continue;
    }
    if (p->vertex_count == 3) {
      return false;
    }
    d3 along = p->vertex_count == 2 ? d3_sub(p->vertex[1].w, p->vertex[0].w) : any_perpendicular(n);
    d3 second = unit_or(d3_cross(n, along), n);
    if (extend_along(pair, p, second)) {
      continue;
    }
    if (p->vertex_count == 2 || !extend_along(pair, p, d3_cross(n, second))) {
      return false;
    }
  }
  const core_vertex *v = p->vertex;
  d3 normal = d3_cross(d3_sub(v[1].w, v[0].w), d3_sub(v[2].w, v[0].w));
  if (d3_dot(normal, d3_sub(v[3].w, v[0].w)) > 0.0) {
    core_vertex swapped = p->vertex[1];
    p->vertex[1] = p->vertex[2];
    p->vertex[2] = swapped;
  }
  static const int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  static const int across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  for (int i = 0; i < 4; i++) {
    int made = make_face(p, corners[i][0], corners[i][1], corners[i][2]);
    for (int k = 0; k < 3; k++) {
      p->faces[made].across[k] = across[i][k];
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Expansion

typedef struct epa_horizon_edge {
  int from, to;
  int beyond; // the face that stays, on the far side of the edge
} epa_horizon_edge;

typedef struct epa_horizon {
  epa_horizon_edge edge[EPA_MAX_FACES];
  int visible[EPA_MAX_FACES];
  int edge_count, visible_count;
} epa_horizon;

// A sliver has no reliable plane; it counts as visible and is removed with its neighbours.
static bool is_visible(const face *f, d3 point, double bound)
{
  return !(f->offset < (double)INFINITY) || d3_dot(f->normal, point) - f->offset > bound;
}

static void mark_visible(polytope *p, epa_horizon *h, int f)
{
  p->faces[f].visible = true;
  h->visible[h->visible_count++] = f;
}

// Finds the connected faces visible from the point, by flood fill from the first, and their
// boundary edges.
static void find_horizon(polytope *p, epa_horizon *h, int first, d3 point, double bound)
{
  h->edge_count = h->visible_count = 0;
  mark_visible(p, h, first);
  for (int i = 0; i < h->visible_count; i++) {
    const face *f = &p->faces[h->visible[i]];
    for (int k = 0; k < 3; k++) {
      if (!p->faces[f->across[k]].visible && is_visible(&p->faces[f->across[k]], point, bound)) {
        mark_visible(p, h, f->across[k]);
      }
    }
  }
  for (int i = 0; i < h->visible_count; i++) {
    const face *f = &p->faces[h->visible[i]];
    for (int k = 0; k < 3; k++) {
      if (!p->faces[f->across[k]].visible) {
        h->edge[h->edge_count++] =
            (epa_horizon_edge){f->corner[k], f->corner[(k + 1) % 3], f->across[k]};
      }
    }
  }
}

// A valid horizon is one closed loop, with each vertex once. Rounding may pinch it; expansion then
// stops.
static bool is_one_loop(const epa_horizon *h)
{
  bool met[EPA_MAX_VERTICES] = {false};
  for (int i = 0; i < h->edge_count; i++) {
    if (met[h->edge[i].from]) {
      return false;
    }
    met[h->edge[i].from] = true;
  }
  return h->edge_count >= 3;
}

// Connects the horizon to the new vertex by a fan of faces.
static void join_horizon(polytope *p, const epa_horizon *h, int apex)
{
  int made_from[EPA_MAX_VERTICES];
  for (int i = 0; i < h->edge_count; i++) {
    const epa_horizon_edge *e = &h->edge[i];
    int made = make_face(p, e->from, e->to, apex);
    face *beyond = &p->faces[e->beyond];
    p->faces[made].across[0] = e->beyond;
    for (int k = 0; k < 3; k++) {
      if (beyond->corner[k] == e->to && beyond->corner[(k + 1) % 3] == e->from) {
        beyond->across[k] = made;
      }
    }
    made_from[e->from] = made;
  }
  for (int i = 0; i < h->edge_count; i++) {
    int made = made_from[h->edge[i].from], after = made_from[h->edge[i].to];
    p->faces[made].across[1] = after;
    p->faces[after].across[2] = made;
  }
}

// Adds a vertex; false when the horizon is not valid or the polytope is full.
static bool expand(polytope *p, int first, core_vertex next, double bound)
{
  epa_horizon h;
  find_horizon(p, &h, first, next.w, bound);
  if (!is_one_loop(&h) || p->vertex_count == EPA_MAX_VERTICES) {
    return false;
  }
  for (int i = 0; i < h.visible_count; i++) {
    p->faces[h.visible[i]].alive = false;
    p->free_faces[p->free_face_count++] = h.visible[i];
  }
  p->vertex[p->vertex_count] = next;
  join_horizon(p, &h, p->vertex_count++);
  return true;
}

static int closest_face(const polytope *p)
{
  int best = NONE;
  for (int i = 0; i < p->face_count; i++) {
    if (p->faces[i].alive && (best == NONE || p->faces[i].offset < p->faces[best].offset)) {
      best = i;
    }
  }
  return best;
}

// ---------------------------------------------------------------------------------------------
// Results

// Barycentric coordinates of the point where the ray from the origin along n crosses a face's
// plane; negative ones mean outside.
static d3 ray_weights(const polytope *p, const face *f, d3 n)
{
  d3 a = p->vertex[f->corner[0]].w, b = p->vertex[f->corner[1]].w, c = p->vertex[f->corner[2]].w;
  d3 weight = {d3_dot(n, d3_cross(b, c)), d3_dot(n, d3_cross(c, a)), d3_dot(n, d3_cross(a, b))};
  double sum = weight.x + weight.y + weight.z;
  return sum > 0.0 ? d3_scale(1.0 / sum, weight) : (d3){-1.0, -1.0, -1.0};
}

static double least(d3 v)
{
  return fmin(v.x, fmin(v.y, v.z));
}

// A flat side of the difference consists of many coplanar faces. The one that the ray along n
// passes through has the witness points.
static const face *face_along(const polytope *p, d3 n, const face *closest)
{
  const face *best = closest;
  double best_least = least(ray_weights(p, closest, n));
  for (int i = 0; i < p->face_count; i++) {
    const face *f = &p->faces[i];
    double here = f->alive && f->offset < (double)INFINITY ? least(ray_weights(p, f, n)) : -1.0;
    if (here > best_least) {
      best = f;
      best_least = here;
    }
  }
  return best;
}

// n is outward from the difference B - A, so B leaves A along -n.
static core_gap gap_through(const core_pair *pair, const polytope *p, const face *closest, d3 n,
                            double depth, core_start *start)
{
  const face *f = face_along(p, n, closest);
  const core_vertex *v[3] = {&p->vertex[f->corner[0]], &p->vertex[f->corner[1]],
                             &p->vertex[f->corner[2]]};
  core_start_set(start, pair, v, depth < COLLIDE_START_DEPTH * pair->scale ? 3 : 0);
  d3 weight = ray_weights(p, f, n);
  weight = (d3){fmax(0.0, weight.x), fmax(0.0, weight.y), fmax(0.0, weight.z)};
  double sum = weight.x + weight.y + weight.z;
  weight = sum > 0.0 ? d3_scale(1.0 / sum, weight) : (d3){1.0, 0.0, 0.0};
  core_gap gap = {.distance = -depth, .normal = d3_scale(-1.0, n)};
  gap.a = d3_add(d3_scale(weight.x, v[0]->a),
                 d3_add(d3_scale(weight.y, v[1]->a), d3_scale(weight.z, v[2]->a)));
  gap.b = d3_add(d3_scale(weight.x, v[0]->b),
                 d3_add(d3_scale(weight.y, v[1]->b), d3_scale(weight.z, v[2]->b)));
  return gap;
}

// A difference without volume has no depth: B leaves across its plane, towards its own centre.
static core_gap gap_of_degenerate(const core_pair *pair, const polytope *p,
                                  const core_vertex *simplex, int count)
{
  d3 n = next_direction(p);
  if (d3_dot(n, pair->position) < 0.0) {
    n = d3_scale(-1.0, n);
  }
  core_gap gap = {.distance = 0.0, .normal = n, .a = simplex[0].a, .b = simplex[0].b};
  // Witness points: approximate the point of the simplex nearest to the origin.
  for (int i = 1; i < count; i++) {
    d3 from = d3_sub(gap.b, gap.a), along = d3_sub(simplex[i].w, from);
    double square = d3_dot(along, along);
    double t = square > 0.0 ? fmin(1.0, fmax(0.0, -d3_dot(from, along) / square)) : 0.0;
    gap.a = d3_add(gap.a, d3_scale(t, d3_sub(simplex[i].a, gap.a)));
    gap.b = d3_add(gap.b, d3_scale(t, d3_sub(simplex[i].b, gap.b)));
  }
  return gap;
}

core_gap core_depth(core_pair *pair, const core_vertex *simplex, int count, core_start *start)
{
  polytope p; // not initialised: it is large, and every field is written before it is read
  p.vertex_count = p.face_count = p.free_face_count = 0;
  take_simplex(pair, &p, simplex, count);
  if (!make_tetrahedron(pair, &p)) {
    return gap_of_degenerate(pair, &p, simplex, count);
  }
  double depth = (double)INFINITY;
  d3 normal = {0.0, 0.0, 0.0};
  for (;;) {
    int closest = closest_face(&p);
    const face *f = &p.faces[closest];
    core_vertex next = core_pair_support(pair, f->normal);
    // Moving by the support's height separates the cores for certain: an upper bound of the depth.
    // The closest face is a lower bound for every direction.
    double support_depth = fmax(0.0, d3_dot(f->normal, next.w));
    if (support_depth < depth && f->offset < (double)INFINITY) {
      depth = support_depth;
      normal = f->normal;
    }
    double bound = COLLIDE_EPA_TOLERANCE * pair->scale + COLLIDE_EPA_DEPTH_TOLERANCE * depth;
    if (depth - f->offset <= bound ||
        !expand(&p, closest, next, COLLIDE_EPA_VISIBLE * pair->scale)) {
      return gap_through(pair, &p, f, normal, depth, start);
    }
  }
}
