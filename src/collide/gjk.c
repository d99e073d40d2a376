// GJK (Gilbert, Johnson, Keerthi 1988): the distance of two convex cores A and B is that of the
// origin from their Minkowski difference B - A. Each iteration adds the support point against v,
// the closest point of the current simplex, and keeps the sub-simplex that contains the new closest
// point. dot(v, w) / |v| of the support point w is a lower bound of the distance. Overlapping cores
// go to EPA (core_depth). Spheres against cylinders and cones are solved in closed form, since GJK
// converges slowly on round sides.
#include "collide/collide_tuning.h"
#include "collide/core.h"
#include "collide/distance.h"

float core_radius(const geometry *g)
{
  return g->kind == TN_SHAPE_SPHERE || g->kind == TN_SHAPE_CAPSULE ? g->radius : 0.0f;
}

static int furthest_corner(const tn_vec3 corner[3], d3 direction)
{
  double height[3];
  for (int i = 0; i < 3; i++) {
    height[i] = d3_dot(direction, d3_from_vec3(corner[i]));
  }
  int best = height[1] > height[0];
  return height[2] > height[best] ? 2 : best;
}

// Support point of a disc perpendicular to the y axis; its centre for a direction along y.
static d3 rim_support(double radius, double y, d3 direction)
{
  double across = sqrt(direction.x * direction.x + direction.z * direction.z);
  double s = across > 0.0 ? radius / across : 0.0;
  return (d3){s * direction.x, y, s * direction.z};
}

static double with_sign(double value, double sign)
{
  return sign >= 0.0 ? value : -value;
}

int core_vertex_count(const geometry *g)
{
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    return 1;
  case TN_SHAPE_CAPSULE:
    return 2;
  case TN_SHAPE_BOX:
    return 8;
  case TN_SHAPE_HULL:
    return g->hull->vertex_count;
  case GEOMETRY_TRIANGLE:
    return 3;
  default:
    return 0;
  }
}

// Bit k of a box's vertex, and that of a capsule, is set on the positive side of axis k.
static d3 vertex_at(const geometry *g, int index)
{
  switch (g->kind) {
  case TN_SHAPE_CAPSULE:
    return (d3){0.0, (double)(index ? g->half_length : -g->half_length), 0.0};
  case TN_SHAPE_BOX: {
    tn_vec3 h = g->half_extents;
    return (d3){(double)(index & 1 ? h.x : -h.x), (double)(index & 2 ? h.y : -h.y),
                (double)(index & 4 ? h.z : -h.z)};
  }
  case TN_SHAPE_HULL:
    return d3_from_vec3(g->hull->vertices[index]);
  case GEOMETRY_TRIANGLE:
    return d3_from_vec3(g->corner[index]);
  default:
    return (d3){0.0, 0.0, 0.0};
  }
}

static int furthest_vertex(const geometry *g, d3 direction)
{
  switch (g->kind) {
  case TN_SHAPE_CAPSULE:
    return direction.y >= 0.0;
  case TN_SHAPE_BOX:
    return (direction.x >= 0.0) | (direction.y >= 0.0) << 1 | (direction.z >= 0.0) << 2;
  case TN_SHAPE_HULL:
    return vector_rows_furthest_exact(&g->hull->vertex_rows, direction);
  case GEOMETRY_TRIANGLE:
    return furthest_corner(g->corner, direction);
  default:
    return 0;
  }
}

static d3 support_at(const geometry *g, d3 direction, uint8_t *index)
{
  double half_length = (double)g->half_length, radius = (double)g->radius;
  *index = 0;
  if (g->kind == TN_SHAPE_CYLINDER) {
    return rim_support(radius, with_sign(half_length, direction.y), direction);
  }
  if (g->kind == TN_SHAPE_CONE) {
    d3 tip = {0.0, half_length, 0.0}, base = rim_support(radius, -half_length, direction);
    return d3_dot(tip, direction) >= d3_dot(base, direction) ? tip : base;
  }
  *index = (uint8_t)furthest_vertex(g, direction);
  return vertex_at(g, *index);
}

d3 core_support(const geometry *g, d3 direction)
{
  uint8_t index;
  return support_at(g, direction, &index);
}

core_pair core_pair_make(const geometry *a, const geometry *b, pose b_in_a)
{
  d3 u = {(double)b_in_a.q.x, (double)b_in_a.q.y, (double)b_in_a.q.z};
  double w = (double)b_in_a.q.w;
  core_pair pair = {.a = a, .b = b, .position = d3_from_vec3(b_in_a.p), .scale = 0.0};
  d3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  for (int i = 0; i < 3; i++) {
    d3 t = d3_scale(2.0, d3_cross(u, axes[i]));
    pair.column[i] = d3_add(axes[i], d3_add(d3_scale(w, t), d3_cross(u, t)));
  }
  return pair;
}

static d3 rotate_to_a(const core_pair *pair, d3 v)
{
  const d3 *column = pair->column;
  return d3_add(d3_scale(v.x, column[0]),
                d3_add(d3_scale(v.y, column[1]), d3_scale(v.z, column[2])));
}

static d3 rotate_to_b(const core_pair *pair, d3 v)
{
  return (d3){d3_dot(pair->column[0], v), d3_dot(pair->column[1], v), d3_dot(pair->column[2], v)};
}

static double largest_coordinate(d3 v)
{
  return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
}

core_vertex core_pair_support(core_pair *pair, d3 direction)
{
  core_vertex v;
  d3 local = support_at(pair->b, rotate_to_b(pair, direction), &v.index_b);
  v.a = support_at(pair->a, d3_scale(-1.0, direction), &v.index_a);
  v.b = d3_add(pair->position, rotate_to_a(pair, local));
  v.w = d3_sub(v.b, v.a);
  pair->scale = fmax(pair->scale, largest_coordinate(v.w));
  return v;
}

// ---------------------------------------------------------------------------------------------
// Starts

void core_start_set(core_start *start, const core_pair *pair, const core_vertex *const *vertices,
                    int count)
{
  if (!start || core_vertex_count(pair->a) == 0 || core_vertex_count(pair->b) == 0) {
    return;
  }
  *start = (core_start){.count = (uint8_t)(count < 3 ? count : 3)};
  for (int i = 0; i < start->count; i++) {
    start->a[i] = vertices[i]->index_a;
    start->b[i] = vertices[i]->index_b;
  }
}

// The vertices of a start; their number, or 0 if the shapes do not have them. The scale is that of
// the shapes, for the vertices may be arbitrarily close.
static int resume(core_pair *pair, const core_start *start, core_vertex v[3])
{
  int count_a = core_vertex_count(pair->a), count_b = core_vertex_count(pair->b);
  if (!start || start->count > 3) {
    return 0;
  }
  for (int i = 0; i < start->count; i++) {
    if (start->a[i] >= count_a || start->b[i] >= count_b) {
      return 0;
    }
    d3 b = rotate_to_a(pair, vertex_at(pair->b, start->b[i]));
    v[i].index_a = start->a[i];
    v[i].index_b = start->b[i];
    v[i].a = vertex_at(pair->a, start->a[i]);
    v[i].b = d3_add(pair->position, b);
    v[i].w = d3_sub(v[i].b, v[i].a);
    pair->scale = fmax(pair->scale, fmax(largest_coordinate(v[i].a), largest_coordinate(b)));
  }
  return start->count;
}

// ---------------------------------------------------------------------------------------------
// Closest points of simplices

typedef struct simplex {
  core_vertex vertex[4];
  double weight[4]; // barycentric coordinates of `point`
  int count;
  d3 point; // the point closest to the origin
} simplex;

// The vertices of a simplex whose convex hull contains its closest point, by index. Written field
// by field through a pointer: copying the struct right after its fields were stored stalls on store
// forwarding.
typedef struct sub_simplex {
  int count, vertex_index[4];
  double weight[4];
  d3 point;
  double square; // squared distance of `point` from the origin
} sub_simplex;

static void set_sub_simplex(sub_simplex *p, int count, d3 point)
{
  p->count = count;
  p->point = point;
  p->square = d3_dot(point, point);
}

static void set_vertex(sub_simplex *p, int i, int vertex_index, double weight)
{
  p->vertex_index[i] = vertex_index;
  p->weight[i] = weight;
}

static void closest_of_vertex(const core_vertex *v, int a, sub_simplex *out)
{
  set_vertex(out, 0, a, 1.0);
  set_sub_simplex(out, 1, v[a].w);
}

static void closest_of_segment(const core_vertex *v, int a, int b, sub_simplex *out)
{
  d3 along = d3_sub(v[b].w, v[a].w);
  double t = -d3_dot(v[a].w, along), length2 = d3_dot(along, along);
  if (t <= 0.0) {
    closest_of_vertex(v, a, out);
  } else if (t >= length2) {
    closest_of_vertex(v, b, out);
  } else {
    t /= length2;
    set_vertex(out, 0, a, 1.0 - t);
    set_vertex(out, 1, b, t);
    set_sub_simplex(out, 2, d3_add(d3_scale(1.0 - t, v[a].w), d3_scale(t, v[b].w)));
  }
}

static void keep_closer(sub_simplex *best, const sub_simplex *other)
{
  if (best->square <= other->square) {
    return;
  }
  for (int i = 0; i < other->count; i++) {
    set_vertex(best, i, other->vertex_index[i], other->weight[i]);
  }
  best->count = other->count;
  best->point.x = other->point.x;
  best->point.y = other->point.y;
  best->point.z = other->point.z;
  best->square = other->square;
}

// With the origin outside, all three edges are tested: the half planes beyond them overlap near the
// corners.
static void closest_of_triangle(const core_vertex *v, int a, int b, int c, sub_simplex *out)
{
  d3 wa = v[a].w, wb = v[b].w, wc = v[c].w;
  d3 normal = d3_cross(d3_sub(wb, wa), d3_sub(wc, wa));
  double in_a = d3_dot(normal, d3_cross(wb, wc));
  double in_b = d3_dot(normal, d3_cross(wc, wa));
  double in_c = d3_dot(normal, d3_cross(wa, wb));
  double area = d3_dot(normal, normal);
  if (in_a > 0.0 && in_b > 0.0 && in_c > 0.0 && area > 0.0) {
    double sum = in_a + in_b + in_c;
    set_vertex(out, 0, a, in_a / sum);
    set_vertex(out, 1, b, in_b / sum);
    set_vertex(out, 2, c, in_c / sum);
    d3 on_edge = d3_add(d3_scale(out->weight[0], wa), d3_scale(out->weight[1], wb));
    set_sub_simplex(out, 3, d3_add(on_edge, d3_scale(out->weight[2], wc)));
    return;
  }
  sub_simplex other;
  closest_of_segment(v, a, b, out);
  closest_of_segment(v, b, c, &other);
  keep_closer(out, &other);
  closest_of_segment(v, c, a, &other);
  keep_closer(out, &other);
}

// Whether the origin is on the apex's side of a triangle. A flat tetrahedron (sine of the apex's
// elevation at most 1e-10) contains nothing: rounding would decide on which side its apex is.
static bool on_side_of(const core_vertex *a, const core_vertex *b, const core_vertex *c, d3 apex)
{
  d3 normal = d3_cross(d3_sub(b->w, a->w), d3_sub(c->w, a->w)), up = d3_sub(apex, a->w);
  double height = d3_dot(normal, up), here = -d3_dot(normal, a->w);
  bool flat = height * height <= COLLIDE_GJK_FLAT_SINE2 * d3_dot(normal, normal) * d3_dot(up, up);
  return !flat && height * here > 0.0;
}

static void closest_of_tetrahedron(const core_vertex v[4], sub_simplex *out)
{
  static const int face[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
  sub_simplex other;
  int outside = 0;
  for (int i = 0; i < 4; i++) {
    const int *f = face[i];
    if (on_side_of(&v[f[0]], &v[f[1]], &v[f[2]], v[f[3]].w)) {
      continue;
    }
    closest_of_triangle(v, f[0], f[1], f[2], outside ? &other : out);
    if (outside++) {
      keep_closer(out, &other);
    }
  }
  for (int i = 0; i < 4 && !outside; i++) {
    set_vertex(out, i, i, 0.0);
  }
  if (!outside) {
    set_sub_simplex(out, 4, (d3){0.0, 0.0, 0.0});
  }
}

static void closest_of(const core_vertex *v, int count, sub_simplex *out)
{
  switch (count) {
  case 1:
    closest_of_vertex(v, 0, out);
    break;
  case 2:
    closest_of_segment(v, 0, 1, out);
    break;
  case 3:
    closest_of_triangle(v, 0, 1, 2, out);
    break;
  default:
    closest_of_tetrahedron(v, out);
    break;
  }
}

static void take_sub_simplex(simplex *s, const core_vertex *v, const sub_simplex *p)
{
  s->count = p->count;
  s->point = p->point;
  for (int i = 0; i < p->count; i++) {
    s->vertex[i] = v[p->vertex_index[i]];
    s->weight[i] = p->weight[i];
  }
}

// ---------------------------------------------------------------------------------------------
// Distance

static core_gap gap_of(const simplex *s)
{
  core_gap gap = {.distance = sqrt(d3_dot(s->point, s->point))};
  for (int i = 0; i < s->count; i++) {
    gap.a = d3_add(gap.a, d3_scale(s->weight[i], s->vertex[i].a));
    gap.b = d3_add(gap.b, d3_scale(s->weight[i], s->vertex[i].b));
  }
  gap.normal = d3_scale(1.0 / gap.distance, s->point);
  return gap;
}

static bool has_vertex(const simplex *s, d3 w)
{
  for (int i = 0; i < s->count; i++) {
    d3 d = d3_sub(s->vertex[i].w, w);
    if (d.x == 0.0 && d.y == 0.0 && d.z == 0.0) {
      return true;
    }
  }
  return false;
}

static bool is_cylinder_or_cone(const geometry *g)
{
  return g->kind == TN_SHAPE_CYLINDER || g->kind == TN_SHAPE_CONE;
}

// Sphere A against cylinder or cone B: the distance of A's centre, in B's frame.
static core_gap gap_from_point(const core_pair *pair)
{
  core_gap own = core_gap_of_point(pair->b, rotate_to_b(pair, d3_scale(-1.0, pair->position)));
  return (core_gap){.distance = own.distance,
                    .normal = d3_scale(-1.0, rotate_to_a(pair, own.normal)),
                    .a = {0.0, 0.0, 0.0},
                    .b = d3_add(pair->position, rotate_to_a(pair, own.a))};
}

// Pairs of a sphere and a cylinder or cone. False for all other pairs.
static bool gap_in_closed_form(core_pair *pair, core_gap *out)
{
  bool from_a = pair->a->kind == TN_SHAPE_SPHERE && is_cylinder_or_cone(pair->b);
  bool from_b = pair->b->kind == TN_SHAPE_SPHERE && is_cylinder_or_cone(pair->a);
  if (!from_a && !from_b) {
    return false;
  }
  *out = from_a ? gap_from_point(pair) : core_gap_of_point(pair->a, pair->position);
  pair->scale = sqrt(d3_dot(pair->position, pair->position));
  return true;
}

// `at` is the current simplex, `best` the one with the smallest proven error; they differ only when
// rounding spoils the last iterations. The third slot is for the next simplex.
typedef struct gjk_state {
  simplex simplices[3];
  simplex *at, *best;
  double lower_bound; // the distance is at least this
  double uncertainty; // by how much the distance may be less than that of `best`
} gjk_state;

static simplex *free_simplex(gjk_state *d)
{
  simplex *s = d->simplices;
  while (s == d->at || s == d->best) {
    ++s;
  }
  return s;
}

// Returns false once the cores are proven further apart than `limit`.
static bool gjk_iterate(core_pair *pair, double limit, gjk_state *d)
{
  for (int i = 0; i < COLLIDE_GJK_ITERATIONS && d->at->count < 4; i++) {
    simplex *at = d->at;
    d3 v = at->point;
    double square = d3_dot(v, v);
    if (square <= COLLIDE_GJK_TOUCHING * COLLIDE_GJK_TOUCHING * pair->scale * pair->scale) {
      return true;
    }
    core_vertex *next = &at->vertex[at->count];
    *next = core_pair_support(pair, d3_scale(-1.0, v));
    double along = d3_dot(v, next->w), length = sqrt(square), lower = along / length;
    d->lower_bound = fmax(d->lower_bound, lower);
    if (length - lower <= d->uncertainty) {
      d->uncertainty = length - lower;
      d->best = at;
    }
    if (d->lower_bound > limit) {
      return false;
    }
    if (square - along <= COLLIDE_GJK_PROGRESS * square || has_vertex(at, next->w)) {
      return true;
    }
    sub_simplex grown;
    closest_of(at->vertex, at->count + 1, &grown);
    // dot(v, w) > 0 puts the whole difference on one side of the origin, so that a tetrahedron
    // around the origin is a rounding error.
    if (grown.count == 4 ? along > 0.0 : grown.square >= square) {
      return true;
    }
    d->at = free_simplex(d);
    take_sub_simplex(d->at, at->vertex, &grown);
  }
  return true;
}

static void begin(core_pair *pair, const core_start *start, gjk_state *d)
{
  core_vertex first[3];
  int count = resume(pair, start, first);
  if (count == 0) {
    d3 towards = pair->position;
    if (d3_dot(towards, towards) == 0.0) {
      towards = (d3){0.0, 1.0, 0.0};
    }
    first[0] = core_pair_support(pair, d3_scale(-1.0, towards));
    count = 1;
  }
  sub_simplex nearest;
  closest_of(first, count, &nearest);
  d->at = d->best = d->simplices;
  d->lower_bound = 0.0;
  d->uncertainty = (double)INFINITY;
  take_sub_simplex(d->at, first, &nearest);
}

static void end(const core_pair *pair, const simplex *s, core_start *start)
{
  const core_vertex *vertices[4] = {&s->vertex[0], &s->vertex[1], &s->vertex[2], &s->vertex[3]};
  core_start_set(start, pair, vertices, s->count);
}

bool core_distance(core_pair *pair, double limit, core_start *start, core_gap *out)
{
  if (gap_in_closed_form(pair, out)) {
    return out->distance <= limit;
  }
  gjk_state d; // not initialised: it is large, and every field is written before it is read
  begin(pair, start, &d);
  bool near = gjk_iterate(pair, fmax(limit, 0.0), &d);
  end(pair, d.at, start);
  if (!near) {
    return false;
  }
  d3 v = d.at->point;
  // Without a proven lower bound a short segment may be a rounding error, and so its direction.
  if (d.lower_bound > COLLIDE_GJK_TOUCHING * pair->scale) {
    *out = gap_of(d.best);
  } else if (d.at->count < 4 && d3_dot(v, v) > COLLIDE_GJK_UNPROVEN * COLLIDE_GJK_UNPROVEN *
                                                   pair->scale * pair->scale) {
    *out = gap_of(d.at);
  } else {
    *out = core_depth(pair, d.at->vertex, d.at->count, start);
  }
  return out->distance <= limit;
}

separation convex_distance(const geometry *a, const geometry *b, pose b_in_a)
{
  core_pair pair = core_pair_make(a, b, b_in_a);
  core_gap gap = {.distance = 0.0};
  core_distance(&pair, (double)INFINITY, NULL, &gap);
  double radius_a = (double)core_radius(a), radius_b = (double)core_radius(b);
  return (separation){.distance = (float)(gap.distance - radius_a - radius_b),
                      .normal = vec3_from_d3(gap.normal),
                      .a = vec3_from_d3(d3_add(gap.a, d3_scale(radius_a, gap.normal))),
                      .b = vec3_from_d3(d3_sub(gap.b, d3_scale(radius_b, gap.normal)))};
}

bool convex_axis(const geometry *a, const geometry *b, pose b_in_a, float limit, core_start *start,
                 tn_vec3 *axis)
{
  core_pair pair = core_pair_make(a, b, b_in_a);
  core_gap gap;
  if (!core_distance(&pair, (double)(limit + core_radius(a) + core_radius(b)), start, &gap)) {
    return false;
  }
  *axis = vec3_from_d3(gap.normal);
  return true;
}

tn_vec3 convex_support(const geometry *g, tn_vec3 direction)
{
  tn_vec3 p = vec3_from_d3(core_support(g, d3_from_vec3(direction)));
  float radius = core_radius(g);
  return radius > 0.0f ? tn_add(p, tn_scale(radius / tn_length(direction), direction)) : p;
}
