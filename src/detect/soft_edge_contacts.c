// Edges of one soft body against edges of another, for crossings that no particle-triangle contact
// covers. Only feature edges collide: those on the border of an open surface, and sharp edges
// between triangles, which on closed surfaces must be convex.
#include "collide/elements.h"
#include "collide/surface_contacts.h"
#include "data/soft_bounds.h"
#include "detect/soft_detect.h"

#include <math.h>
#include <string.h>

typedef struct feature_edge {
  int32_t v[3];   // ends, and the third corner of one of its triangles
  tn_vec3 normal; // mean of the triangles' normals, unit
} feature_edge;

// The feature edges of a soft body near another one, with scratch memory.
typedef struct feature_edge_list {
  const soft *soft;
  int32_t slot, count;
  feature_edge *feature_edges;
  int32_t *triangles;
  half_edge *sides;
  size_t size;
} feature_edge_list;

static world_aabb box_around(const soft *s, const int32_t *v, int count)
{
  world_aabb box = empty_box();
  for (int i = 0; i < count; ++i) {
    box_add_point(&box, s->particles[v[i]].at);
  }
  return box;
}

static tn_vec3 normal_of(const soft *s, const int32_t *v)
{
  tn_pos from = s->particles[v[0]].at;
  const tn_vec3 corner[3] = {{0.0f, 0.0f, 0.0f},
                             tn_between_points(from, s->particles[v[1]].at),
                             tn_between_points(from, s->particles[v[2]].at)};
  return triangle_normal(corner);
}

// Whether the common edge of `count` triangles, one or two, is a feature edge; fills r. Concave
// edges of closed surfaces are not.
static bool is_feature_edge(const feature_edge_list *list, const half_edge *side, int count,
                            feature_edge *r)
{
  const soft *s = list->soft;
  tn_vec3 n = normal_of(s, list->triangles + 3 * (size_t)side[0].triangle), other = n;
  if (count > 1) {
    other = normal_of(s, list->triangles + 3 * (size_t)side[1].triangle);
    tn_vec3 beyond =
        tn_between_points(s->particles[side[0].low].at, s->particles[side[1].opposite].at);
    if (tn_dot(n, other) > TUNING_SOFT_SHARP_COSINE || (s->closed && tn_dot(n, beyond) > 0.0f)) {
      return false;
    }
  }
  tn_vec3 sum = tn_add(n, other);
  tn_vec3 normal = tn_scale(1.0f / fmaxf(tn_length(sum), TUNING_SOFT_MIN_NORMAL_SUM), sum);
  *r = (feature_edge){{side->low, side->high, side->opposite}, normal};
  return true;
}

// Feature edges of the triangles that overlap `box`; false when out of memory.
static bool find_feature_edges(tn_world *world, feature_edge_list *list, const world_aabb *box)
{
  const soft *s = list->soft;
  size_t most = (size_t)s->triangle_count;
  list->size = most * (3 * sizeof(feature_edge) + 3 * sizeof(half_edge) + 3 * sizeof(int32_t));
  list->feature_edges = heap_alloc(&world->heap, list->size);
  if (!list->feature_edges) {
    return false;
  }
  list->sides = (half_edge *)(list->feature_edges + 3 * most);
  list->triangles = (int32_t *)(list->sides + 3 * most);
  int32_t near = 0;
  for (size_t i = 0; i < most; ++i) {
    world_aabb around = box_around(s, s->triangles + 3 * i, 3);
    if (aabbs_overlap(&around, box)) {
      memcpy(list->triangles + 3 * (size_t)near++, s->triangles + 3 * i, 3 * sizeof(int32_t));
    }
  }
  find_half_edges(list->triangles, near, list->sides);
  for (int32_t i = 0, n; i < 3 * near; i += n) {
    const half_edge *side = &list->sides[i];
    n = i + 1 < 3 * near && side[1].low == side->low && side[1].high == side->high ? 2 : 1;
    list->count += is_feature_edge(list, side, n, &list->feature_edges[list->count]);
  }
  return true;
}

// Closest points p0 + s u and q0 + t v of two lines: sets the weights of the ends, delta from the
// second to the first, and the normal u x v. False if nearly parallel or outside the edges.
static bool closest_points_of_edges(const feature_edge_list *a, const feature_edge *x,
                                    const feature_edge_list *b, const feature_edge *y,
                                    soft_contact *c)
{
  const soft_particle *p = a->soft->particles, *q = b->soft->particles;
  tn_vec3 u = tn_between_points(p[x->v[0]].at, p[x->v[1]].at);
  tn_vec3 v = tn_between_points(q[y->v[0]].at, q[y->v[1]].at);
  tn_vec3 d = tn_between_points(q[y->v[0]].at, p[x->v[0]].at), n = tn_cross(u, v);
  float uu = tn_dot(u, u), uv = tn_dot(u, v), vv = tn_dot(v, v);
  float du = tn_dot(d, u), dv = tn_dot(d, v), nn = tn_dot(n, n);
  if (!(nn > TUNING_SOFT_CROSSING_SINE2 * uu * vv)) {
    return false;
  }
  float s = (uv * dv - vv * du) / nn, t = (uu * dv - uv * du) / nn;
  c->weight[0] = 1.0f - s;
  c->weight[1] = s;
  c->weight[2] = t - 1.0f;
  c->weight[3] = -t;
  c->delta = tn_add(d, tn_sub(tn_scale(s, u), tn_scale(t, v)));
  c->normal = tn_scale(1.0f / sqrtf(nn), n);
  return fminf(s, t) > TUNING_SOFT_EDGE_END && fmaxf(s, t) < 1.0f - TUNING_SOFT_EDGE_END;
}

// Orients the normal out of the second body or into the first if closed, else along delta. False
// if it does not point out of a closed body.
static bool orient_normal(const feature_edge_list *a, const feature_edge *x,
                          const feature_edge_list *b, const feature_edge *y, soft_contact *c)
{
  float out_of_a = -tn_dot(c->normal, x->normal), out_of_b = tn_dot(c->normal, y->normal);
  float outward = b->soft->closed   ? out_of_b
                  : a->soft->closed ? out_of_a
                                    : tn_dot(c->normal, c->delta);
  float sign = outward < 0.0f ? -1.0f : 1.0f;
  c->normal = tn_scale(sign, c->normal);
  return (!a->soft->closed || sign * out_of_a > TUNING_SOFT_FACING_COSINE) &&
         (!b->soft->closed || sign * out_of_b > TUNING_SOFT_FACING_COSINE);
}

static bool collide_edges(tn_world *world, const feature_edge_list *a, const feature_edge *x,
                          const feature_edge_list *b, const feature_edge *y, float dt)
{
  soft_contact c;
  memset(&c, 0, sizeof c);
  if (!closest_points_of_edges(a, x, b, y, &c) || !orient_normal(a, x, b, y, &c)) {
    return true;
  }
  tn_vec3 speed = {0.0f, 0.0f, 0.0f};
  bool free = false;
  for (int i = 0; i < 4; ++i) {
    c.particle[i] = i < 2 ? x->v[i] : y->v[i - 2];
    const soft_particle *end = &(i < 2 ? a : b)->soft->particles[c.particle[i]];
    speed = tn_add(speed, tn_scale(c.weight[i], end->v));
    free = free || !end->pinned;
  }
  c.particle[4] = y->v[2];
  c.type = SOFT_CONTACT_EDGE_EDGE;
  c.soft = a->slot;
  c.other = b->slot;
  c.shape = c.body = NO_SLOT;
  c.distance = a->soft->radius + b->soft->radius;
  c.gap = tn_dot(c.normal, c.delta) - c.distance;
  bool near = tn_length(c.delta) < (1.0f + TUNING_SOFT_SOFT_MARGIN) * c.distance +
                                       TUNING_SOFT_MOTION_MARGIN * dt * tn_length(speed);
  return !near || !free || add_soft_contact(world, &c);
}

// Box of CHUNK_SIZE feature edges.
static world_aabb chunk_box(const feature_edge_list *list, int32_t first)
{
  world_aabb box = empty_box();
  for (int32_t i = first; i < first + CHUNK_SIZE && i < list->count; ++i) {
    box_add_point(&box, list->soft->particles[list->feature_edges[i].v[0]].at);
    box_add_point(&box, list->soft->particles[list->feature_edges[i].v[1]].at);
  }
  return box;
}

static bool collide_edge_lists(tn_world *world, const feature_edge_list *a,
                               const feature_edge_list *b, double max_distance, float dt)
{
  bool ok = true;
  for (int32_t i = 0; i < a->count; i += CHUNK_SIZE) {
    world_aabb box = box_expand(chunk_box(a, i), max_distance);
    for (int32_t k = 0; k < b->count; k += CHUNK_SIZE) {
      world_aabb other = chunk_box(b, k);
      if (!aabbs_overlap(&box, &other)) {
        continue;
      }
      for (int32_t n = 0; ok && n < CHUNK_SIZE * CHUNK_SIZE; ++n) {
        int32_t x = i + n / CHUNK_SIZE, y = k + n % CHUNK_SIZE;
        ok = x >= a->count || y >= b->count ||
             collide_edges(world, a, &a->feature_edges[x], b, &b->feature_edges[y], dt);
      }
    }
  }
  return ok;
}

bool find_edge_contacts(tn_world *world, int32_t first, int32_t second, float dt)
{
  feature_edge_list a = {.soft = &world->softs[first], .slot = first};
  feature_edge_list b = {.soft = &world->softs[second], .slot = second};
  float speed = soft_max_speed(a.soft) + soft_max_speed(b.soft);
  double max_distance =
      (double)((1.0f + TUNING_SOFT_SOFT_MARGIN) * (a.soft->radius + b.soft->radius) +
               TUNING_SOFT_MOTION_MARGIN * dt * speed);
  world_aabb box_a = box_expand(a.soft->box, max_distance),
             box_b = box_expand(b.soft->box, max_distance);
  if (!RULE(soft_edge_contacts) || !aabbs_overlap(&box_a, &b.soft->box)) {
    return true;
  }
  bool ok = find_feature_edges(world, &a, &box_b) && find_feature_edges(world, &b, &box_a) &&
            collide_edge_lists(world, &a, &b, max_distance, dt);
  heap_free(&world->heap, a.feature_edges, a.size);
  heap_free(&world->heap, b.feature_edges, b.size);
  return ok;
}
