// Geometry of a wire's axis: construction, evaluation, and closest points.
//
// The squared distance of a point q from a piece, a cubic p(u), has the derivative 2 (p - q) . p',
// of degree five. Its roots with rising sign are the local minima. They are isolated by subdivision
// in the Bernstein basis and refined by Newton's method.
#include "collide/wire_spline.h"

#include "collide/collide_tuning.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>

enum { MAX_PIECES = COLLIDE_WIRE_PIECES }; // per cubic

// ---------------------------------------------------------------------------------------------
// Construction

static bool is_finite_point(tn_vec3 v)
{
  return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static wire_cubic cubic_between(const tn_wire_point *a, const tn_wire_point *b)
{
  d3 s = d3_from_vec3(a->tangent), t = d3_from_vec3(b->tangent);
  d3 step = d3_sub(d3_from_vec3(b->position), d3_from_vec3(a->position));
  wire_cubic q = {{a->position, a->tangent}};
  q.c[2] = vec3_from_d3(d3_sub(d3_scale(3.0, step), d3_add(d3_scale(2.0, s), t)));
  q.c[3] = vec3_from_d3(d3_sub(d3_add(s, t), d3_scale(2.0, step)));
  return q;
}

static tn_vec3 cubic_point(const wire_cubic *q, float s)
{
  d3 p = d3_from_vec3(q->c[3]);
  for (int i = 2; i >= 0; i--) {
    p = d3_add(d3_from_vec3(q->c[i]), d3_scale((double)s, p));
  }
  return vec3_from_d3(p);
}

static tn_vec3 cubic_tangent(const wire_cubic *q, float s)
{
  d3 t = d3_scale(3.0 * (double)s, d3_from_vec3(q->c[3]));
  t = d3_scale((double)s, d3_add(d3_scale(2.0, d3_from_vec3(q->c[2])), t));
  return vec3_from_d3(d3_add(d3_from_vec3(q->c[1]), t));
}

// Largest length of the second derivative by the parameter, which is linear, so it is at an end.
static float cubic_max_curvature(const wire_cubic *q)
{
  tn_vec3 start = tn_scale(2.0f, q->c[2]), end = tn_add(start, tn_scale(6.0f, q->c[3]));
  return fmaxf(tn_length(start), tn_length(end));
}

// Length of the control polygon: an upper bound of the cubic's length.
static float cubic_length(const tn_wire_point *a, const tn_wire_point *b)
{
  tn_vec3 out = tn_scale(1.0f / 3.0f, a->tangent), in = tn_scale(1.0f / 3.0f, b->tangent);
  tn_vec3 middle = tn_sub(tn_sub(b->position, in), tn_add(a->position, out));
  return tn_length(out) + tn_length(middle) + tn_length(in);
}

// Pieces such that the direction turns by about a quarter of a radian in each: 4 |p''| / |p'|
// pieces, with the cubic's length for |p'|.
static int count_pieces(const tn_wire_point *a, const tn_wire_point *b)
{
  wire_cubic q = cubic_between(a, b);
  float wanted = COLLIDE_WIRE_PIECES_PER_RADIAN * cubic_max_curvature(&q) / cubic_length(a, b);
  return wanted < (float)MAX_PIECES ? (int)wanted + 1 : MAX_PIECES;
}

static bool check_input(const tn_wire_point *points, int count, bool closed, char *message,
                        size_t size)
{
  if (!points || count < 2 || count > INT_MAX / (4 * MAX_PIECES)) {
    snprintf(message, size, "%d points, which must be between 2 and %d", points ? count : 0,
             INT_MAX / (4 * MAX_PIECES));
    return false;
  }
  for (int i = 0; i < count; i++) {
    if (!is_finite_point(points[i].position) || !is_finite_point(points[i].tangent)) {
      snprintf(message, size, "point %d is not finite", i);
      return false;
    }
  }
  for (int i = 0; i < (closed ? count : count - 1); i++) {
    float length = cubic_length(&points[i], &points[(i + 1) % count]);
    if (!(length > 0.0f) || !isfinite(length)) {
      snprintf(message, size, "the wire has no length after point %d, or too much", i);
      return false;
    }
  }
  return true;
}

static void fill_cubic(wire *w, int cubic, const tn_wire_point *a, const tn_wire_point *b)
{
  wire_cubic *q = &w->cubics[cubic];
  *q = cubic_between(a, b);
  int count = count_pieces(a, b);
  float width = 1.0f / (float)count, bend = cubic_max_curvature(q);
  for (int i = 0; i < count; i++) {
    wire_piece *piece = &w->pieces[w->piece_count];
    float start = (float)i * width;
    *piece = (wire_piece){cubic, start, width, 0.125f * width * width * bend};
    wire_knot *knot = &w->knots[w->piece_count++];
    knot->position = i == 0 ? a->position : cubic_point(q, start);
    knot->tangent = i == 0 ? a->tangent : cubic_tangent(q, start);
  }
}

static void fill_headings(wire *w)
{
  int last = w->piece_count;
  for (int i = 0; i <= last; i++) {
    wire_knot *knot = &w->knots[i];
    knot->heading = knot->tangent;
    if (tn_dot(knot->tangent, knot->tangent) > 0.0f) {
      continue;
    }
    int before = i > 0 ? i - 1 : w->closed ? last - 1 : 0;
    int after = i < last ? i + 1 : w->closed ? 1 : last;
    knot->heading = tn_sub(w->knots[after].position, w->knots[before].position);
  }
}

// Bézier control points of a piece.
typedef struct control {
  d3 p[4];
} control;

static control control_of(const wire *w, int piece)
{
  const wire_knot *a = &w->knots[piece], *b = a + 1;
  double third = (double)w->pieces[piece].width / 3.0;
  d3 start = d3_from_vec3(a->position), end = d3_from_vec3(b->position);
  control c = {{start, d3_add(start, d3_scale(third, d3_from_vec3(a->tangent))),
                d3_sub(end, d3_scale(third, d3_from_vec3(b->tangent))), end}};
  return c;
}

// A cubic lies within the convex hull of its control points; grown by the rounding error.
static aabb piece_aabb(const wire *w, int piece)
{
  control c = control_of(w, piece);
  tn_vec3 first = vec3_from_d3(c.p[0]);
  aabb box = {first, first};
  for (int i = 1; i < 4; i++) {
    box = aabb_union(box, aabb_from_points(vec3_from_d3(c.p[i]), vec3_from_d3(c.p[i])));
  }
  tn_vec3 far = vec3_max(tn_scale(-1.0f, box.lower), box.upper);
  return aabb_expand(box, COLLIDE_WIRE_BOX_SLACK *
                              fmaxf(fabsf(far.x), fmaxf(fabsf(far.y), fabsf(far.z))));
}

static size_t reserve(size_t *offset, int count, size_t size)
{
  size_t at = (*offset + 15) / 16 * 16;
  *offset = at + (size_t)count * size;
  return at;
}

// One block for the wire and all its arrays; null when out of memory.
static wire *alloc_wire(int cubics, int pieces, bool closed, collide_allocator memory)
{
  size_t size = sizeof(wire);
  size_t cubics_at = reserve(&size, cubics, sizeof(wire_cubic));
  size_t pieces_at = reserve(&size, pieces, sizeof(wire_piece));
  size_t knots_at = reserve(&size, pieces + 1, sizeof(wire_knot));
  size_t nodes_at = reserve(&size, bvh_node_count(pieces), sizeof(bvh_node));
  char *block = memory.alloc(memory.context, size);
  if (!block) {
    return NULL;
  }
  wire *w = (wire *)block;
  *w = (wire){.size = size, .cubic_count = cubics, .closed = closed};
  w->cubics = (wire_cubic *)(block + cubics_at);
  w->pieces = (wire_piece *)(block + pieces_at);
  w->knots = (wire_knot *)(block + knots_at);
  w->nodes = (bvh_node *)(block + nodes_at);
  return w;
}

static bool build_tree(wire *w, collide_allocator memory)
{
  size_t size = 0;
  size_t boxes_at = reserve(&size, w->piece_count, sizeof(aabb));
  size_t order_at = reserve(&size, w->piece_count, sizeof(int));
  char *scratch = memory.alloc(memory.context, size);
  if (!scratch) {
    return false;
  }
  aabb *boxes = (aabb *)(scratch + boxes_at);
  for (int i = 0; i < w->piece_count; i++) {
    boxes[i] = piece_aabb(w, i);
  }
  bvh_build(w->nodes, boxes, (int *)(scratch + order_at), w->piece_count);
  memory.release(memory.context, scratch, size);
  return true;
}

wire *wire_create(const tn_wire_point *points, int count, bool closed, collide_allocator memory,
                  char *message, size_t message_size)
{
  if (!check_input(points, count, closed, message, message_size)) {
    return NULL;
  }
  int cubics = closed ? count : count - 1, pieces = 0;
  for (int i = 0; i < cubics; i++) {
    pieces += count_pieces(&points[i], &points[(i + 1) % count]);
  }
  wire *w = alloc_wire(cubics, pieces, closed, memory);
  if (w) {
    for (int i = 0; i < cubics; i++) {
      fill_cubic(w, i, &points[i], &points[(i + 1) % count]);
    }
    const tn_wire_point *last = &points[closed ? 0 : count - 1];
    w->knots[w->piece_count] = (wire_knot){.position = last->position, .tangent = last->tangent};
    fill_headings(w);
    if (build_tree(w, memory)) {
      return w;
    }
    wire_destroy(w, memory);
  }
  snprintf(message, message_size, "no memory");
  return NULL;
}

void wire_destroy(wire *w, collide_allocator memory)
{
  if (w) {
    memory.release(memory.context, w, w->size);
  }
}

// ---------------------------------------------------------------------------------------------
// Evaluation

static d3 mix(d3 a, d3 b, double u)
{
  return d3_add(d3_scale(1.0 - u, a), d3_scale(u, b));
}

d3 piece_point(const wire *w, int piece, double u)
{
  control c = control_of(w, piece);
  for (int n = 3; n > 0; n--) {
    for (int i = 0; i < n; i++) {
      c.p[i] = mix(c.p[i], c.p[i + 1], u);
    }
  }
  return c.p[0];
}

d3 piece_tangent(const wire *w, int piece, double u)
{
  control c = control_of(w, piece);
  for (int n = 3; n > 1; n--) {
    for (int i = 0; i < n; i++) {
      c.p[i] = mix(c.p[i], c.p[i + 1], u);
    }
  }
  d3 t = d3_sub(c.p[1], c.p[0]);
  const wire_knot *a = &w->knots[piece];
  if (d3_dot(t, t) > 0.0) {
    return t;
  }
  return d3_sub(d3_from_vec3((a + 1)->position), d3_from_vec3(a->position));
}

float wire_location_parameter(const wire *w, const wire_location *p)
{
  const wire_piece *piece = &w->pieces[p->piece];
  return fminf(piece->start + piece->width * (float)p->u, 1.0f);
}

tn_vec3 wire_point(const wire *w, float parameter)
{
  if (!(parameter > 0.0f)) {
    return w->knots[0].position;
  }
  if (parameter >= (float)w->cubic_count) {
    return w->knots[w->piece_count].position;
  }
  int cubic = (int)parameter;
  return cubic_point(&w->cubics[cubic], parameter - (float)cubic);
}

tn_vec3 wire_tangent(const wire *w, float parameter)
{
  int last = w->cubic_count - 1;
  int cubic = !(parameter > 0.0f) ? 0 : parameter >= (float)last ? last : (int)parameter;
  float s = fminf(fmaxf(parameter - (float)cubic, 0.0f), 1.0f);
  return cubic_tangent(&w->cubics[cubic], s);
}

int wire_segment_count(const wire *w)
{
  return w->cubic_count;
}

// ---------------------------------------------------------------------------------------------
// Roots of polynomials in Bernstein form: the coefficients change sign at least as often as the
// polynomial has roots in the interval, and for 0 or 1 changes exactly as often.

enum { DEGREE = 5, MAX_ROOTS = 3, MAX_BISECTIONS = COLLIDE_WIRE_BISECTIONS };

typedef struct bernstein {
  double b[DEGREE + 1];
  double lower, upper; // parameter interval of these coefficients
  int depth;
} bernstein;

// De Casteljau subdivision at the relative parameter `at`.
static void split(const bernstein *p, double at, bernstein *left, bernstein *right)
{
  double row[DEGREE + 1];
  for (int i = 0; i <= DEGREE; i++) {
    row[i] = p->b[i];
  }
  for (int n = DEGREE; n >= 0; n--) {
    left->b[DEGREE - n] = row[0];
    right->b[n] = row[n];
    for (int i = 0; i < n; i++) {
      row[i] = (1.0 - at) * row[i] + at * row[i + 1];
    }
  }
  double middle = p->lower + at * (p->upper - p->lower);
  left->lower = p->lower;
  left->upper = right->lower = middle;
  right->upper = p->upper;
  left->depth = right->depth = p->depth + 1;
}

static double bernstein_value(const bernstein *p, double u, double *slope)
{
  double row[DEGREE + 1];
  for (int i = 0; i <= DEGREE; i++) {
    row[i] = p->b[i];
  }
  for (int n = DEGREE; n > 1; n--) {
    for (int i = 0; i < n; i++) {
      row[i] = (1.0 - u) * row[i] + u * row[i + 1];
    }
  }
  *slope = (double)DEGREE * (row[1] - row[0]);
  return (1.0 - u) * row[0] + u * row[1];
}

static int sign_changes(const bernstein *p)
{
  int changes = 0;
  double last = p->b[0];
  for (int i = 1; i <= DEGREE; i++) {
    if (p->b[i] == 0.0) {
      continue;
    }
    changes += (p->b[i] < 0.0) != (last < 0.0);
    last = p->b[i];
  }
  return changes;
}

// The single root between a negative start and a positive end: Newton's method, with bisection
// whenever it leaves the bracket.
static double bracketed_zero(const bernstein *p)
{
  double lower = 0.0, upper = 1.0, u = p->b[0] / (p->b[0] - p->b[DEGREE]);
  for (int i = 0; i < COLLIDE_WIRE_ROOT_ITERATIONS && upper - lower > COLLIDE_WIRE_ROOT_BRACKET;
       i++) {
    double slope, value = bernstein_value(p, u, &slope);
    if (value < 0.0) {
      lower = u;
    } else {
      upper = u;
    }
    double next = slope > 0.0 ? u - value / slope : lower;
    if (!(next > lower && next < upper)) {
      next = 0.5 * (lower + upper);
    }
    if (fabs(next - u) <= COLLIDE_WIRE_ROOT_STEP) {
      return p->lower + next * (p->upper - p->lower);
    }
    u = next;
  }
  return p->lower + u * (p->upper - p->lower);
}

// Roots at which the polynomial changes from negative to positive, ascending.
static int rising_zeros(const bernstein *polynomial, double zeros[MAX_ROOTS])
{
  bernstein stack[MAX_BISECTIONS + 2];
  int waiting = 1, count = 0;
  stack[0] = *polynomial;
  // Five roots need fewer steps than this bound; only a polynomial that is all rounding reaches it.
  for (int steps = 0; waiting > 0 && count < MAX_ROOTS && steps < 8 * MAX_BISECTIONS; steps++) {
    bernstein p = stack[--waiting];
    int changes = sign_changes(&p);
    if (changes == 0) {
      continue;
    }
    if (changes == 1 || p.depth == MAX_BISECTIONS) {
      if (p.b[0] < 0.0 && p.b[DEGREE] > 0.0) {
        zeros[count++] = bracketed_zero(&p);
      }
      continue;
    }
    double at = 0.5, slope;
    if (bernstein_value(&p, at, &slope) == 0.0) {
      at = COLLIDE_WIRE_SPLIT; // off the middle: a root at the split could be lost between the
                               // halves
    }
    split(&p, at, &stack[waiting + 1], &stack[waiting]);
    waiting += 2;
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Closest point to a point

// Sign of the derivative of the squared distance at a knot, never zero: both pieces at the knot use
// it, so exactly one of them has the minimum.
static double knot_distance_sign(const wire_knot *knot, d3 q)
{
  d3 d = d3_sub(d3_from_vec3(knot->position), q);
  return d3_dot(d, d3_from_vec3(knot->heading)) < 0.0 ? -1.0 : 1.0;
}

// The derivative (p - q) . p' of half the squared distance from q along a piece.
static bernstein distance_slope(const wire *w, int piece, d3 q)
{
  static const double binomial[3][4] = {{1, 3, 3, 1}, {2, 6, 6, 2}, {1, 3, 3, 1}};
  static const double total[6] = {1, 5, 10, 10, 5, 1};
  control c = control_of(w, piece);
  bernstein p = {.upper = 1.0};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 4; i++) {
      p.b[i + k] += binomial[k][i] * d3_dot(d3_sub(c.p[i], q), d3_sub(c.p[k + 1], c.p[k]));
    }
  }
  for (int i = 0; i < 6; i++) {
    p.b[i] /= total[i];
  }
  // At the ends, use the signs that the neighbouring pieces also use.
  double start = knot_distance_sign(&w->knots[piece], q),
         end = knot_distance_sign(&w->knots[piece + 1], q);
  p.b[0] = start * fmax(fabs(p.b[0]), DBL_MIN);
  p.b[DEGREE] = end * fmax(fabs(p.b[DEGREE]), DBL_MIN);
  return p;
}

static wire_location wire_location_at(const wire *w, int piece, double u, d3 q)
{
  wire_location p = {.piece = piece, .u = u, .target = q};
  p.point = piece_point(w, piece, u);
  d3 d = d3_sub(p.point, q);
  p.distance = sqrt(d3_dot(d, d));
  return p;
}

wire_location piece_closest(const wire *w, int piece, d3 q)
{
  wire_location best = wire_location_at(w, piece, 0.0, q), end = wire_location_at(w, piece, 1.0, q);
  if (end.distance < best.distance) {
    best = end;
  }
  bernstein slope = distance_slope(w, piece, q);
  double zeros[MAX_ROOTS];
  int count = rising_zeros(&slope, zeros);
  for (int i = 0; i < count; i++) {
    wire_location p = wire_location_at(w, piece, zeros[i], q);
    if (p.distance < best.distance) {
      best = p;
    }
  }
  return best;
}

bool wire_nearest(const wire *w, d3 q, float max_distance, wire_location *out)
{
  bvh_iterator walk = bvh_nearest(w->nodes, vec3_from_d3(q), max_distance);
  bool found = false;
  for (int piece; (piece = bvh_next(&walk)) >= 0;) {
    wire_location p = piece_closest(w, piece, q);
    if (p.distance > (double)max_distance || (found && p.distance >= out->distance)) {
      continue;
    }
    *out = p;
    found = true;
    walk.limit = (float)(p.distance * p.distance) * (1.0f + COLLIDE_WIRE_TIE);
  }
  return found;
}

float wire_closest_parameter(const wire *w, tn_vec3 p)
{
  wire_location place = {0};
  wire_nearest(w, d3_from_vec3(p), FLT_MAX, &place);
  return (float)w->pieces[place.piece].cubic + wire_location_parameter(w, &place);
}

// ---------------------------------------------------------------------------------------------
// Local minima

typedef struct wire_location_list {
  wire_location *items;
  int count, capacity;
  double limit;
} wire_location_list;

// Inserts in order along the wire. When the list is full the furthest location is dropped.
static void add_location(wire_location_list *list, const wire_location *p)
{
  if (p->distance > list->limit) {
    return;
  }
  if (list->count == list->capacity) {
    int furthest = 0;
    for (int i = 1; i < list->count; i++) {
      if (list->items[i].distance > list->items[furthest].distance) {
        furthest = i;
      }
    }
    if (p->distance >= list->items[furthest].distance) {
      return;
    }
    list->count -= 1;
    for (int i = furthest; i < list->count; i++) {
      list->items[i] = list->items[i + 1];
    }
  }
  int place = list->count++;
  for (; place > 0; place--) {
    const wire_location *before = &list->items[place - 1];
    if (before->piece < p->piece || (before->piece == p->piece && before->u <= p->u)) {
      break;
    }
    list->items[place] = *before;
  }
  list->items[place] = *p;
}

static bvh_iterator pieces_near(const wire *w, d3 a, d3 b, double limit)
{
  aabb box = aabb_expand(aabb_from_points(vec3_from_d3(a), vec3_from_d3(b)), (float)limit);
  return bvh_sweep(w->nodes, box, tn_v3(0.0f, 0.0f, 0.0f), 0.0f);
}

int wire_local_minima(const wire *w, d3 q, double limit, wire_location *out, int capacity)
{
  wire_location_list list = {out, 0, capacity, limit};
  bvh_iterator walk = pieces_near(w, q, q, limit);
  for (int piece; (piece = bvh_next(&walk)) >= 0;) {
    bernstein slope = distance_slope(w, piece, q);
    double zeros[MAX_ROOTS];
    int count = rising_zeros(&slope, zeros);
    for (int i = 0; i < count; i++) {
      wire_location p = wire_location_at(w, piece, zeros[i], q);
      add_location(&list, &p);
    }
    bool first = piece == 0 && !w->closed, last = piece == w->piece_count - 1 && !w->closed;
    if (first && slope.b[0] > 0.0) {
      wire_location p = wire_location_at(w, piece, 0.0, q);
      add_location(&list, &p);
    }
    if (last && slope.b[DEGREE] < 0.0) {
      wire_location p = wire_location_at(w, piece, 1.0, q);
      add_location(&list, &p);
    }
  }
  return list.count;
}

static d3 segment_point(const d3 segment[2], d3 p)
{
  d3 along = d3_sub(segment[1], segment[0]);
  double length2 = d3_dot(along, along), t = d3_dot(d3_sub(p, segment[0]), along);
  if (t <= 0.0) {
    return segment[0];
  }
  return t < length2 ? d3_add(segment[0], d3_scale(t / length2, along)) : segment[1];
}

static double segment_slope(const wire *w, int piece, double u, const d3 segment[2])
{
  d3 p = piece_point(w, piece, u);
  return d3_dot(d3_sub(p, segment_point(segment, p)), piece_tangent(w, piece, u));
}

static wire_location wire_location_by_segment(const wire *w, int piece, double u,
                                              const d3 segment[2])
{
  return wire_location_at(w, piece, u, segment_point(segment, piece_point(w, piece, u)));
}

// The minimum of the distance to a segment along a piece. The distance to a convex set has one
// minimum along a line, and a piece is nearly a line: the root of the derivative between its ends
// is found by regula falsi, with a bisection in every third step.
static wire_location segment_minimum(const wire *w, int piece, const d3 segment[2])
{
  double lower = 0.0, upper = 1.0;
  double low = segment_slope(w, piece, 0.0, segment), high = segment_slope(w, piece, 1.0, segment);
  for (int i = 0;
       i < COLLIDE_WIRE_SEGMENT_ITERATIONS && upper - lower > COLLIDE_WIRE_SEGMENT_BRACKET; i++) {
    double u = 0.5 * (lower + upper);
    if (i % 3 != 2 && low < 0.0 && high > 0.0) {
      u = lower + (upper - lower) * low / (low - high);
    }
    double slope = segment_slope(w, piece, u, segment);
    if (slope < 0.0) {
      lower = u;
      low = slope;
    } else {
      upper = u;
      high = slope;
    }
    if (fabs(slope) < COLLIDE_WIRE_SEGMENT_SLOPE) {
      break;
    }
  }
  wire_location a = wire_location_by_segment(w, piece, lower, segment);
  wire_location b = wire_location_by_segment(w, piece, upper, segment);
  return a.distance < b.distance ? a : b;
}

int wire_segment_local_minima(const wire *w, const d3 segment[2], double limit, wire_location *out,
                              int capacity)
{
  wire_location_list list = {out, 0, capacity, limit};
  bvh_iterator walk = pieces_near(w, segment[0], segment[1], limit);
  for (int piece; (piece = bvh_next(&walk)) >= 0;) {
    const wire_knot *a = &w->knots[piece], *b = a + 1;
    double start = knot_distance_sign(a, segment_point(segment, d3_from_vec3(a->position)));
    double end = knot_distance_sign(b, segment_point(segment, d3_from_vec3(b->position)));
    bool first = piece == 0 && !w->closed, last = piece == w->piece_count - 1 && !w->closed;
    if (start < 0.0 && end > 0.0) {
      wire_location p = segment_minimum(w, piece, segment);
      add_location(&list, &p);
    }
    if (first && start > 0.0) {
      wire_location p = wire_location_by_segment(w, piece, 0.0, segment);
      add_location(&list, &p);
    }
    if (last && end < 0.0) {
      wire_location p = wire_location_by_segment(w, piece, 1.0, segment);
      add_location(&list, &p);
    }
  }
  return list.count;
}
