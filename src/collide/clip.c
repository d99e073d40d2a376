// Sutherland-Hodgman clipping against one line after the other, and the selection of four contact
// points. The selection has hysteresis against rounding, so that points, and with them the warm
// start, persist from step to step.
#include "collide/clip.h"

#include "base/rules.h"
#include "collide/collide_tuning.h"

static float outside(const clip_line *line, const clip_vertex *p)
{
  return line->u * p->u + line->v * p->v - line->offset;
}

// Intersection of the edge p q with the line, from the signed distances of p and q.
static clip_vertex crossing(const clip_vertex *p, const clip_vertex *q, float at_p, float at_q)
{
  float t = at_p / (at_p - at_q);
  clip_vertex r = {.u = p->u + t * (q->u - p->u),
                   .v = p->v + t * (q->v - p->v),
                   .height = p->height + t * (q->height - p->height)};
  return r;
}

static int clip_by(const clip_polygon *from, const clip_line *line, uint16_t side, clip_vertex *to)
{
  int kept = 0, edges = from->count > 2 ? from->count : from->count - 1;
  for (int i = 0; i < from->count; i++) {
    const clip_vertex *p = &from->vertex[i];
    float at_p = outside(line, p);
    if (at_p <= 0.0f) {
      to[kept++] = *p;
    }
    if (i >= edges) {
      break;
    }
    const clip_vertex *q = &from->vertex[i + 1 < from->count ? i + 1 : 0];
    float at_q = outside(line, q);
    if ((at_p <= 0.0f) == (at_q <= 0.0f)) {
      continue;
    }
    clip_vertex cut = crossing(p, q, at_p, at_q);
    cut.in = at_p <= 0.0f ? p->out : side;
    cut.out = at_p <= 0.0f ? side : p->out;
    to[kept++] = cut;
  }
  return kept;
}

static bool any_outside(const clip_polygon *polygon, const clip_line *line)
{
  for (int i = 0; i < polygon->count; i++) {
    if (outside(line, &polygon->vertex[i]) > 0.0f) {
      return true;
    }
  }
  return false;
}

void clip(clip_polygon *polygon, const clip_line *lines, int count)
{
  clip_polygon other;
  for (int i = 0; i < count && polygon->count > 0; i++) {
    if (!any_outside(polygon, &lines[i])) {
      continue;
    }
    other.count = clip_by(polygon, &lines[i], (uint16_t)(MAX_FACE_VERTICES + i), other.vertex);
    polygon->count = other.count;
    for (int k = 0; k < other.count; k++) {
      polygon->vertex[k] = other.vertex[k];
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Selection

// Twice the signed area of a triangle.
static float area(const clip_vertex *p, const clip_vertex *q, const clip_vertex *r)
{
  return (q->u - p->u) * (r->v - p->v) - (q->v - p->v) * (r->u - p->u);
}

static float square_distance(const clip_vertex *p, const clip_vertex *q)
{
  float u = q->u - p->u, v = q->v - p->v;
  return u * u + v * v;
}

static float spread_of(const clip_vertex *p, int count)
{
  float square = 0.0f;
  for (int i = 1; i < count; i++) {
    square = fmaxf(square, square_distance(&p[0], &p[i]));
  }
  return sqrtf(square);
}

// The first of the points that are about as deep as the deepest (relative to their spread), so that
// rounding does not choose among equals.
static int deepest(const clip_vertex *p, int count, float spread)
{
  float low = p[0].height;
  for (int i = 1; i < count; i++) {
    low = p[i].height < low ? p[i].height : low;
  }
  float bound = !RULE(point_hysteresis) ? low : low + COLLIDE_EQUAL_DEPTH * spread;
  for (int i = 0; i < count; i++) {
    if (p[i].height <= bound) {
      return i;
    }
  }
  return 0;
}

// A later point must be clearly better to replace an earlier one.
static bool beats(float score, float best)
{
  return score > (RULE(point_hysteresis) ? COLLIDE_POINT_LEAD : 1.0f) * best;
}

static int farthest_from_point(const clip_vertex *p, int count, float limit, int from)
{
  int best = from;
  float best_square = 0.0f;
  for (int i = 0; i < count; i++) {
    float square = square_distance(&p[from], &p[i]);
    if (p[i].height <= limit && beats(square, best_square)) {
      best = i;
      best_square = square;
    }
  }
  return best;
}

static int farthest_from_edge(const clip_vertex *p, int count, float limit, int from, int to)
{
  int best = from;
  float best_area = 0.0f;
  for (int i = 0; i < count; i++) {
    float size = fabsf(area(&p[from], &p[to], &p[i]));
    if (p[i].height <= limit && beats(size, best_area)) {
      best = i;
      best_area = size;
    }
  }
  return best;
}

static int farthest_outside_triangle(const clip_vertex *p, int count, float limit,
                                     const int corner[3])
{
  float turn = area(&p[corner[0]], &p[corner[1]], &p[corner[2]]) >= 0.0f ? 1.0f : -1.0f;
  int best = corner[0];
  float best_area = 0.0f;
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) {
      float size = -turn * area(&p[corner[k]], &p[corner[(k + 1) % 3]], &p[i]);
      if (p[i].height <= limit && beats(size, best_area)) {
        best = i;
        best_area = size;
      }
    }
  }
  return best;
}

// Whether p comes before q by angle around (u, v): compares half planes first, then the cross
// product, without trigonometry.
static bool before(const clip_vertex *p, const clip_vertex *q, float u, float v)
{
  float pu = p->u - u, pv = p->v - v, qu = q->u - u, qv = q->v - v;
  bool p_upper = pv > 0.0f || (pv == 0.0f && pu >= 0.0f);
  bool q_upper = qv > 0.0f || (qv == 0.0f && qu >= 0.0f);
  return p_upper != q_upper ? p_upper : pu * qv - pv * qu > 0.0f;
}

static void sort_around(const clip_vertex *p, int chosen[4], int count)
{
  float u = 0.0f, v = 0.0f;
  for (int i = 0; i < count; i++) {
    u += p[chosen[i]].u / (float)count;
    v += p[chosen[i]].v / (float)count;
  }
  for (int i = 1; i < count; i++) {
    for (int k = i; k > 0 && before(&p[chosen[k]], &p[chosen[k - 1]], u, v); k--) {
      int swapped = chosen[k];
      chosen[k] = chosen[k - 1];
      chosen[k - 1] = swapped;
    }
  }
}

// Next of the points to choose, of those at most `limit` high; chosen[0] if none is left.
static int next_point(const clip_vertex *p, int count, float limit, const int *chosen, int known)
{
  switch (known) {
  case 1:
    return farthest_from_point(p, count, limit, chosen[0]);
  case 2:
    return farthest_from_edge(p, count, limit, chosen[0], chosen[1]);
  default:
    return farthest_outside_triangle(p, count, limit, chosen);
  }
}

static int choose(const clip_vertex *p, int count, float reach, int chosen[4])
{
  float spread = spread_of(p, count);
  chosen[0] = deepest(p, count, spread);
  float near = p[chosen[0]].height + reach * spread;
  for (int known = 1; known < 4; known++) {
    int next = next_point(p, count, near, chosen, known);
    if (next == chosen[0]) {
      next = next_point(p, count, INFINITY, chosen, known);
    }
    if (next == chosen[0]) {
      return known;
    }
    chosen[known] = next;
  }
  return 4;
}

int select_contact_points(const clip_vertex *points, int count, float reach, int chosen[4])
{
  int kept = count;
  for (int i = 0; i < count && i < 4; i++) {
    chosen[i] = i;
  }
  if (count > 4) {
    kept = choose(points, count, reach, chosen);
  }
  if (kept > 2) {
    sort_around(points, chosen, kept);
  }
  return kept;
}
