// The expanding polytope algorithm: a polytope inside the Minkowski difference grows at its side
// closest to the origin until that side is one of the difference itself.
#include "core.h"

enum { MAX_VERTICES = 128, MAX_FACES = 2 * MAX_VERTICES, MAX_HORIZON = MAX_FACES };

// Relative to the size of the shapes: what counts as flat, and how close the side has to be.
static const double flat = 1e-12, close_enough = 2e-8;

typedef struct face {
  int corner[3]; // counter-clockwise from outside
  d3 normal;     // unit
  double offset;
} face;

typedef struct polytope {
  core_vertex vertex[MAX_VERTICES];
  face faces[MAX_FACES];
  int vertex_count, face_count;
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

// A face without area never is the closest.
static face make_face(const polytope *p, int i, int j, int k)
{
  d3 a = p->vertex[i].w;
  d3 along = d3_sub(p->vertex[j].w, a), across = d3_sub(p->vertex[k].w, a);
  d3 normal = d3_cross(along, across);
  double square = d3_dot(normal, normal);
  double bound = flat * flat * d3_dot(along, along) * d3_dot(across, across);
  if (square <= bound)
    return (face){{i, j, k}, {0.0, 0.0, 0.0}, INFINITY};
  normal = d3_scale(1.0 / sqrt(square), normal);
  return (face){{i, j, k}, normal, d3_dot(normal, a)};
}

// ---------------------------------------------------------------------------------------------
// The first tetrahedron

// Adds the point furthest along +direction or -direction from those there; false when the
// difference does not reach out of them.
static bool reach_out(core_pair *pair, polytope *p, d3 direction)
{
  core_vertex ahead = core_pair_support(pair, direction);
  core_vertex behind = core_pair_support(pair, d3_scale(-1.0, direction));
  double here = d3_dot(direction, p->vertex[0].w);
  double up = d3_dot(direction, ahead.w) - here, down = here - d3_dot(direction, behind.w);
  if (fmax(up, down) <= 1e-9 * pair->scale)
    return false;
  p->vertex[p->vertex_count++] = up >= down ? ahead : behind;
  return true;
}

static d3 direction_out(const polytope *p)
{
  d3 a = p->vertex[0].w;
  d3 along = p->vertex_count > 1 ? d3_sub(p->vertex[1].w, a) : (d3){0.0, 1.0, 0.0};
  if (p->vertex_count < 3)
    return any_perpendicular(along);
  return unit_or(d3_cross(along, d3_sub(p->vertex[2].w, a)), any_perpendicular(along));
}

// Keeps of the simplex what is in general position.
static void take_simplex(core_pair *pair, polytope *p, const core_vertex *simplex, int count)
{
  double bound = 1e-9 * pair->scale;
  for (int i = 0; i < count; i++) {
    d3 d = d3_sub(simplex[i].w, simplex[0].w), out = d;
    if (p->vertex_count == 2) {
      d3 u = unit_or(d3_sub(p->vertex[1].w, p->vertex[0].w), d);
      out = d3_sub(d, d3_scale(d3_dot(d, u), u));
    } else if (p->vertex_count == 3) {
      d3 n = direction_out(p);
      out = d3_scale(d3_dot(n, d), n);
    }
    if (p->vertex_count == 0 || d3_dot(out, out) > bound * bound)
      p->vertex[p->vertex_count++] = simplex[i];
  }
}

// Two more directions may be needed when the first happens to be one the difference lacks.
static bool make_tetrahedron(core_pair *pair, polytope *p)
{
  while (p->vertex_count < 4) {
    d3 n = direction_out(p);
    if (reach_out(pair, p, n))
      continue;
    if (p->vertex_count == 3)
      return false;
    d3 along = p->vertex_count == 2 ? d3_sub(p->vertex[1].w, p->vertex[0].w) : any_perpendicular(n);
    d3 second = unit_or(d3_cross(n, along), n);
    if (reach_out(pair, p, second))
      continue;
    if (p->vertex_count == 2 || !reach_out(pair, p, d3_cross(n, second)))
      return false;
  }
  const core_vertex *v = p->vertex;
  d3 normal = d3_cross(d3_sub(v[1].w, v[0].w), d3_sub(v[2].w, v[0].w));
  if (d3_dot(normal, d3_sub(v[3].w, v[0].w)) > 0.0) {
    core_vertex swapped = p->vertex[1];
    p->vertex[1] = p->vertex[2];
    p->vertex[2] = swapped;
  }
  static const int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  for (int i = 0; i < 4; i++)
    p->faces[i] = make_face(p, corners[i][0], corners[i][1], corners[i][2]);
  p->face_count = 4;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Growth

typedef struct horizon {
  int edge[MAX_HORIZON][2];
  int count;
} horizon;

// An edge between two faces that go is met twice, once each way, and goes too.
static void toggle_edge(horizon *h, int from, int to)
{
  for (int i = 0; i < h->count; i++) {
    if (h->edge[i][0] == to && h->edge[i][1] == from) {
      h->count--;
      h->edge[i][0] = h->edge[h->count][0];
      h->edge[i][1] = h->edge[h->count][1];
      return;
    }
  }
  if (h->count < MAX_HORIZON) {
    h->edge[h->count][0] = from;
    h->edge[h->count][1] = to;
    h->count++;
  }
}

static bool sees(const polytope *p, const face *f, d3 point, double bound)
{
  if (f->offset < (double)INFINITY)
    return d3_dot(f->normal, point) - f->offset > bound;
  // Without area: it goes with whatever is around it.
  d3 d = d3_sub(point, p->vertex[f->corner[0]].w);
  return d3_dot(d, d) <= bound * bound;
}

// False when there is no room, or rounding has left nothing to build on.
static bool grow(polytope *p, core_vertex next, double bound)
{
  horizon h;
  h.count = 0;
  int kept = 0;
  for (int i = 0; i < p->face_count; i++) {
    const face *f = &p->faces[i];
    if (!sees(p, f, next.w, bound)) {
      p->faces[kept++] = *f;
      continue;
    }
    for (int k = 0; k < 3; k++)
      toggle_edge(&h, f->corner[k], f->corner[(k + 1) % 3]);
  }
  p->face_count = kept;
  if (h.count < 3 || kept + h.count > MAX_FACES)
    return false;
  int apex = p->vertex_count++;
  p->vertex[apex] = next;
  for (int i = 0; i < h.count; i++)
    p->faces[p->face_count++] = make_face(p, h.edge[i][0], h.edge[i][1], apex);
  return true;
}

static const face *closest_face(const polytope *p)
{
  const face *best = &p->faces[0];
  for (int i = 1; i < p->face_count; i++)
    if (p->faces[i].offset < best->offset)
      best = &p->faces[i];
  return best;
}

// ---------------------------------------------------------------------------------------------
// Results

// B leaves A the short way: against the normal of the difference's side.
static core_gap gap_through(const polytope *p, const face *f, double depth)
{
  const core_vertex *v[3] = {&p->vertex[f->corner[0]], &p->vertex[f->corner[1]],
                             &p->vertex[f->corner[2]]};
  d3 foot = d3_scale(f->offset, f->normal), weight;
  d3 r[3] = {d3_sub(v[0]->w, foot), d3_sub(v[1]->w, foot), d3_sub(v[2]->w, foot)};
  weight.x = fmax(0.0, d3_dot(f->normal, d3_cross(r[1], r[2])));
  weight.y = fmax(0.0, d3_dot(f->normal, d3_cross(r[2], r[0])));
  weight.z = fmax(0.0, d3_dot(f->normal, d3_cross(r[0], r[1])));
  double sum = weight.x + weight.y + weight.z;
  weight = sum > 0.0 ? d3_scale(1.0 / sum, weight) : (d3){1.0, 0.0, 0.0};
  core_gap gap = {.distance = -depth, .normal = d3_scale(-1.0, f->normal)};
  gap.a = d3_add(d3_scale(weight.x, v[0]->a),
                 d3_add(d3_scale(weight.y, v[1]->a), d3_scale(weight.z, v[2]->a)));
  gap.b = d3_add(d3_scale(weight.x, v[0]->b),
                 d3_add(d3_scale(weight.y, v[1]->b), d3_scale(weight.z, v[2]->b)));
  return gap;
}

// A difference without volume has no depth: it is left across its plane, towards B's centre.
static core_gap gap_of_flat(const core_pair *pair, const polytope *p, const core_vertex *simplex,
                            int count)
{
  d3 n = direction_out(p);
  if (d3_dot(n, pair->position) < 0.0)
    n = d3_scale(-1.0, n);
  core_gap gap = {.distance = 0.0, .normal = n, .a = simplex[0].a, .b = simplex[0].b};
  // The origin is within the simplex, whose nearest point is the best there is.
  for (int i = 1; i < count; i++) {
    d3 from = d3_sub(gap.b, gap.a), along = d3_sub(simplex[i].w, from);
    double square = d3_dot(along, along);
    double t = square > 0.0 ? fmin(1.0, fmax(0.0, -d3_dot(from, along) / square)) : 0.0;
    gap.a = d3_add(gap.a, d3_scale(t, d3_sub(simplex[i].a, gap.a)));
    gap.b = d3_add(gap.b, d3_scale(t, d3_sub(simplex[i].b, gap.b)));
  }
  return gap;
}

core_gap core_depth(core_pair *pair, const core_vertex *simplex, int count)
{
  polytope p; // large, and written before it is read
  p.vertex_count = p.face_count = 0;
  take_simplex(pair, &p, simplex, count);
  if (!make_tetrahedron(pair, &p))
    return gap_of_flat(pair, &p, simplex, count);
  core_gap best = {.distance = -INFINITY};
  for (;;) {
    const face *f = closest_face(&p);
    if (!(f->offset < (double)INFINITY))
      break;
    core_vertex next = core_pair_support(pair, f->normal);
    // The support is a true way out along the face's normal, the face a bound on all of them.
    double depth = fmax(0.0, d3_dot(f->normal, next.w));
    if (-depth > best.distance)
      best = gap_through(&p, f, depth);
    double bound = 1e-15 * pair->scale;
    if (depth - f->offset <= close_enough * pair->scale || p.vertex_count == MAX_VERTICES)
      break;
    if (-best.distance - f->offset <= close_enough * pair->scale || !grow(&p, next, bound))
      break;
  }
  return best;
}
