// Manifold list of one pair: removal of duplicates, and merging of MANIFOLD_FLAT manifolds with
// nearly equal normals. Tolerances are relative to the size of the convex shape.
#include "collide/manifold_list.h"

#include "collide/collide_tuning.h"

static float squared_distance(tn_vec3 a, tn_vec3 b)
{
  tn_vec3 d = tn_sub(a, b);
  return tn_dot(d, d);
}

float manifold_gap(const manifold *m)
{
  float gap = INFINITY;
  for (int i = 0; i < m->count; i++) {
    gap = fminf(gap, m->points[i].gap);
  }
  return gap;
}

bool manifold_is_contained(const manifold *m, const manifold *other, float size)
{
  const float near2 = COLLIDE_SAME_CONTACT2;
  if (squared_distance(m->normal, other->normal) > near2) {
    return false;
  }
  for (int i = 0; i < m->count; i++) {
    bool found = false;
    for (int k = 0; k < other->count && !found; k++) {
      found = squared_distance(m->points[i].a, other->points[k].a) <= near2 * size * size;
    }
    if (!found) {
      return false;
    }
  }
  return true;
}

void manifold_list_add(manifold_list *list, const manifold *m)
{
  const float slack = COLLIDE_SAME_DEPTH * list->size;
  for (int i = 0; i < list->count; i++) {
    manifold *known = &list->items[i];
    float deeper = manifold_gap(known) - manifold_gap(m);
    if (deeper <= slack && manifold_is_contained(m, known, list->size)) {
      return;
    }
    if (deeper >= -slack && manifold_is_contained(known, m, list->size)) {
      *known = *m;
      return;
    }
  }
  if (list->count < MANIFOLD_LIST_CAPACITY) {
    list->items[list->count++] = *m;
    return;
  }
  int highest = 0;
  for (int i = 1; i < MANIFOLD_LIST_CAPACITY; i++) {
    if (manifold_gap(&list->items[i]) > manifold_gap(&list->items[highest])) {
      highest = i;
    }
  }
  if (manifold_gap(m) < manifold_gap(&list->items[highest])) {
    list->items[highest] = *m;
  }
}

// manifold_reduce starts with the first of equally deep points. Put the one furthest from the mean
// first: from there the extreme points are the furthest, and the ends of a row are kept.
void manifold_reduce_extremes(manifold *m, manifold_point *points, int count)
{
  tn_vec3 mean = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < count; i++) {
    mean = tn_add(mean, tn_scale(1.0f / (float)count, points[i].a));
  }
  int rim = 0;
  for (int i = 1; i < count; i++) {
    if (squared_distance(points[i].a, mean) > squared_distance(points[rim].a, mean)) {
      rim = i;
    }
  }
  manifold_point first = points[rim];
  points[rim] = points[0];
  points[0] = first;
  manifold_reduce(m, points, count);
}

int manifold_add_point(manifold_point *points, int count, const manifold_point *p, float size)
{
  const float near = COLLIDE_MERGE_POINT * size;
  for (int i = 0; i < count; i++) {
    if (squared_distance(points[i].a, p->a) <= near * near) {
      return count;
    }
  }
  points[count] = *p;
  return count + 1;
}

// Whether p is beyond a side of the polygon of the points that are kept, which are in order around
// the normal.
static bool is_outside(const manifold *kept, tn_vec3 p, float slack)
{
  for (int i = 0; i < kept->count; i++) {
    tn_vec3 from = kept->points[i].a;
    tn_vec3 along = tn_sub(kept->points[(i + 1) % kept->count].a, from);
    tn_vec3 inward = tn_cross(kept->normal, along);
    if (tn_dot(inward, tn_sub(p, from)) < -slack * tn_length(along)) {
      return true;
    }
  }
  return false;
}

// Whether four of `points` can replace them: what is dropped is not about to touch, or inside of
// their polygon and not below the plane of the first three.
static bool are_enough(const manifold *kept, const manifold_point *points, int count, float size)
{
  tn_vec3 o = kept->points[0].a, u = tn_sub(kept->points[1].a, o), v = tn_sub(kept->points[2].a, o);
  float uu = tn_dot(u, u), uv = tn_dot(u, v), vv = tn_dot(v, v), det = uu * vv - uv * uv;
  if (kept->count < MAX_MANIFOLD_POINTS || !(det > COLLIDE_PARALLEL_SINE2 * uu * vv)) {
    return true;
  }
  float rise_u = kept->points[1].gap - kept->points[0].gap;
  float rise_v = kept->points[2].gap - kept->points[0].gap;
  float near = manifold_gap(kept) + COLLIDE_NEAR_POINTS * size;
  float slack = sqrtf(COLLIDE_SAME_CONTACT2) * size;
  for (int i = 0; i < count; i++) {
    tn_vec3 d = tn_sub(points[i].a, o);
    float du = tn_dot(d, u), dv = tn_dot(d, v);
    float plane =
        kept->points[0].gap + (rise_u * (du * vv - dv * uv) + rise_v * (dv * uu - du * uv)) / det;
    if (points[i].gap < plane - COLLIDE_SAME_DEPTH * size ||
        (points[i].gap <= near && is_outside(kept, points[i].a, slack))) {
      return false;
    }
  }
  return true;
}

// Merges `m` into a flat manifold with nearly the same normal (within 0.05, about 3 degrees),
// unless four points cannot stand for both: a body that lies across an edge would rock on changing
// points.
static bool merge(manifold *into, const manifold *m, float size)
{
  if (into->form != MANIFOLD_FLAT || m->form != MANIFOLD_FLAT || into->radius_a != m->radius_a ||
      into->radius_b != m->radius_b ||
      squared_distance(into->normal, m->normal) > COLLIDE_MERGE_NORMAL2) {
    return false;
  }
  manifold_point points[2 * MAX_MANIFOLD_POINTS];
  int count = 0;
  for (int i = 0; i < into->count; i++) {
    points[count++] = into->points[i];
  }
  for (int i = 0; i < m->count; i++) {
    count = manifold_add_point(points, count, &m->points[i], size);
  }
  manifold four = *into;
  manifold_reduce_extremes(&four, points, count);
  if (count > MAX_MANIFOLD_POINTS && !are_enough(&four, points, count, size)) {
    return false;
  }
  *into = four;
  return true;
}

// Stable insertion sort.
static void sort_by_depth(const manifold_list *list, int *order)
{
  for (int i = 0; i < list->count; i++) {
    int k = i;
    float gap = manifold_gap(&list->items[i]);
    for (; k > 0 && manifold_gap(&list->items[order[k - 1]]) > gap; k--) {
      order[k] = order[k - 1];
    }
    order[k] = i;
  }
}

static bool child_is_used(const manifold *list, int count, uint32_t child)
{
  for (int i = 0; i < count; i++) {
    if (list[i].child == child) {
      return true;
    }
  }
  return false;
}

int manifold_list_finish(const manifold_list *list, manifold *out, int capacity)
{
  int order[MANIFOLD_LIST_CAPACITY], kept = 0;
  sort_by_depth(list, order);
  for (int i = 0; i < list->count; i++) {
    const manifold *m = &list->items[order[i]];
    bool merged = false;
    for (int k = 0; k < kept && !merged; k++) {
      merged = merge(&out[k], m, list->size);
    }
    if (merged || kept == capacity) {
      continue;
    }
    out[kept] = *m;
    while (child_is_used(out, kept, out[kept].child)) {
      out[kept].child += 1;
    }
    kept += 1;
  }
  return kept;
}
