// BVH: median split at the widest axis of the centroids, and a stack-based traversal ordered by
// entry fraction (sweep) or squared distance (nearest).
#include "collide/bvh.h"

#include "collide/collide_tuning.h"

#include <float.h>

typedef struct bvh_builder {
  bvh_node *nodes;
  const aabb *boxes;
  int *order;
  int node_count;
} bvh_builder;

static float component(tn_vec3 v, int axis)
{
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static float centroid_of(const bvh_builder *b, int item, int axis)
{
  const aabb *box = &b->boxes[item];
  return 0.5f * component(box->lower, axis) + 0.5f * component(box->upper, axis);
}

// Ties are broken by item index, so that the tree does not depend on the order of selection.
static bool comes_before(const bvh_builder *b, int item, int other, int axis)
{
  float x = centroid_of(b, item, axis), y = centroid_of(b, other, axis);
  return x < y || (x == y && item < other);
}

static void exchange(int *a, int *b)
{
  int t = *a;
  *a = *b;
  *b = t;
}

// Quickselect: partitions order[first..last] so that the item at `nth` is in its sorted place along
// the axis. Pivots come from a pseudorandom generator with a fixed seed: deterministic, and no
// ordering of real input makes it quadratic.
static void select_nth(const bvh_builder *b, int first, int last, int nth, int axis)
{
  uint32_t random = 2463534242u;
  while (first < last) {
    random = random * 1664525u + 1013904223u;
    int pick = first + (int)((uint64_t)random * (uint64_t)(last - first + 1) >> 32);
    exchange(&b->order[pick], &b->order[last]);
    int pivot = b->order[last], place = first;
    for (int i = first; i < last; i++) {
      if (comes_before(b, b->order[i], pivot, axis)) {
        exchange(&b->order[i], &b->order[place++]);
      }
    }
    exchange(&b->order[place], &b->order[last]);
    if (place == nth) {
      return;
    }
    if (place < nth) {
      first = place + 1;
    } else {
      last = place - 1;
    }
  }
}

static int widest_axis(const bvh_builder *b, int first, int count)
{
  tn_vec3 lo = tn_v3(FLT_MAX, FLT_MAX, FLT_MAX), hi = tn_scale(-1.0f, lo);
  for (int i = first; i < first + count; i++) {
    int item = b->order[i];
    tn_vec3 middle =
        tn_v3(centroid_of(b, item, 0), centroid_of(b, item, 1), centroid_of(b, item, 2));
    lo = vec3_min(lo, middle);
    hi = vec3_max(hi, middle);
  }
  tn_vec3 size = tn_sub(hi, lo);
  if (size.x >= size.y && size.x >= size.z) {
    return 0;
  }
  return size.y >= size.z ? 1 : 2;
}

// Recursion depth is at most 31, since each level halves the items.
static aabb build(bvh_builder *b, int first, int count)
{
  int node = b->node_count++;
  if (count == 1) {
    int item = b->order[first];
    b->nodes[node] = (bvh_node){b->boxes[item], ~item};
    return b->boxes[item];
  }
  int half = count / 2;
  select_nth(b, first, first + count - 1, first + half, widest_axis(b, first, count));
  aabb box = build(b, first, half);
  int second = b->node_count;
  box = aabb_union(box, build(b, first + half, count - half));
  b->nodes[node] = (bvh_node){box, second};
  return box;
}

void bvh_build(bvh_node *nodes, const aabb *boxes, int *order, int count)
{
  for (int i = 0; i < count; i++) {
    order[i] = i;
  }
  bvh_builder b = {nodes, boxes, order, 0};
  build(&b, 0, count);
}

// ---------------------------------------------------------------------------------------------
// Traversal

// Slab test of one axis: narrows [enter, leave] to the fractions at which the moving coordinate is
// within [lo, hi].
static bool clip_slab(float from, float displacement, float lo, float hi, float *enter,
                      float *leave)
{
  if (displacement == 0.0f) {
    return from >= lo && from <= hi;
  }
  float t0 = (lo - from) / displacement, t1 = (hi - from) / displacement;
  float near = t0 < t1 ? t0 : t1, far = t0 < t1 ? t1 : t0;
  if (near > *enter) {
    *enter = near;
  }
  if (far < *leave) {
    *leave = far;
  }
  return *enter <= *leave;
}

static float enter_fraction(const bvh_iterator *w, const aabb *box)
{
  float enter = 0.0f, leave = w->limit;
  tn_vec3 lo = tn_sub(box->lower, w->half), hi = tn_add(box->upper, w->half);
  bool met = clip_slab(w->center.x, w->displacement.x, lo.x, hi.x, &enter, &leave) &&
             clip_slab(w->center.y, w->displacement.y, lo.y, hi.y, &enter, &leave) &&
             clip_slab(w->center.z, w->displacement.z, lo.z, hi.z, &enter, &leave);
  return met ? enter : INFINITY;
}

static float squared_distance(const bvh_iterator *w, const aabb *box)
{
  tn_vec3 q = vec3_min(vec3_max(w->center, box->lower), box->upper);
  tn_vec3 d = tn_sub(w->center, q);
  return tn_dot(d, d);
}

static void push(bvh_iterator *w, int node, float key)
{
  if (key > w->limit) {
    return;
  }
  w->stack[w->stack_count].node = node;
  w->stack[w->stack_count].key = key;
  w->stack_count += 1;
}

static float node_key(const bvh_iterator *w, int node)
{
  const aabb *box = &w->nodes[node].box;
  return w->is_sweep ? enter_fraction(w, box) : squared_distance(w, box);
}

static float largest(tn_vec3 v)
{
  return fmaxf(fabsf(v.x), fmaxf(fabsf(v.y), fabsf(v.z)));
}

// Growth by the rounding error, so that nothing slips between boxes that touch.
static float slack_of(aabb box, float motion)
{
  return COLLIDE_SWEEP_SLACK * (fmaxf(largest(box.lower), largest(box.upper)) + motion);
}

bvh_iterator bvh_sweep(const bvh_node *nodes, aabb box, tn_vec3 displacement, float max_fraction)
{
  bvh_iterator w = {.nodes = nodes,
                    .displacement = displacement,
                    .is_sweep = true,
                    .limit = fminf(max_fraction, FLT_MAX)};
  w.center = tn_scale(0.5f, tn_add(box.lower, box.upper));
  float slack = slack_of(box, largest(displacement) * fminf(max_fraction, 1.0f));
  w.half = tn_add(tn_scale(0.5f, tn_sub(box.upper, box.lower)), tn_v3(slack, slack, slack));
  push(&w, 0, node_key(&w, 0));
  return w;
}

bvh_iterator bvh_nearest(const bvh_node *nodes, tn_vec3 p, float max_distance)
{
  bvh_iterator w = {.nodes = nodes, .center = p, .limit = max_distance * max_distance};
  push(&w, 0, node_key(&w, 0));
  return w;
}

int bvh_next(bvh_iterator *w)
{
  while (w->stack_count > 0) {
    w->stack_count -= 1;
    int node = w->stack[w->stack_count].node;
    if (w->stack[w->stack_count].key > w->limit) {
      continue;
    }
    int link = w->nodes[node].link;
    if (link < 0) {
      return ~link;
    }
    float first = node_key(w, node + 1), second = node_key(w, link);
    if (first <= second) {
      push(w, link, second);
      push(w, node + 1, first);
    } else {
      push(w, node + 1, first);
      push(w, link, second);
    }
  }
  return -1;
}

static bool overlap(const aabb *a, const aabb *b)
{
  return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
         b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

void bvh_overlaps(const bvh_node *nodes, aabb box, void (*visit)(void *context, int item),
                  void *context)
{
  int stack[BVH_STACK_SIZE], count = 0;
  box = aabb_expand(box, slack_of(box, 0.0f));
  for (int node = 0;;) {
    int link = nodes[node].link;
    bool met = overlap(&nodes[node].box, &box);
    if (met && link >= 0) {
      stack[count++] = link;
      node += 1;
      continue;
    }
    if (met) {
      visit(context, ~link);
    }
    if (count == 0) {
      return;
    }
    node = stack[--count];
  }
}
