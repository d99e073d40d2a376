// Edges of one soft body and edges of another: where neither has a particle that would meet the
// other's triangles. Only edges that stand out count: those of an open surface's border, and where
// triangles meet at an angle.
#include "collide/facet.h"
#include "soft_make.h"
#include "soft_touch.h"

#include <math.h>
#include <string.h>

#define SHARP 0.9f   // cosine between the normals of two triangles, at most
#define FACING 0.3f  // least cosine between a contact's normal and an edge's
#define ACROSS 0.01f // least square of the sine between two edges
#define END 0.001f   // of an edge: particles meet triangles there

typedef struct rim {
  int32_t v[3]; // ends, and the third corner of a triangle
  tn_vec3 normal;
} rim;

// The edges of a soft body that are near another one.
typedef struct rim_list {
  const soft *soft;
  int32_t slot, count;
  rim *rims;
  int32_t *triangles;
  soft_side *sides;
  size_t size;
} rim_list;

static world_box box_around(const soft *s, const int32_t *v, int count)
{
  world_box box = no_box();
  for (int i = 0; i < count; ++i) {
    widen(&box, s->particles[v[i]].at);
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

// Whether the edge of one or two triangles stands out, and to which side.
static bool stands_out(const rim_list *list, const soft_side *side, int count, rim *r)
{
  const soft *s = list->soft;
  tn_vec3 n = normal_of(s, list->triangles + 3 * (size_t)side[0].triangle), other = n;
  if (count > 1) {
    other = normal_of(s, list->triangles + 3 * (size_t)side[1].triangle);
    tn_vec3 beyond =
        tn_between_points(s->particles[side[0].low].at, s->particles[side[1].opposite].at);
    if (tn_dot(n, other) > SHARP || (s->closed && tn_dot(n, beyond) > 0.0f)) {
      return false;
    }
  }
  tn_vec3 sum = tn_add(n, other);
  tn_vec3 normal = tn_scale(1.0f / fmaxf(tn_length(sum), 1e-6f), sum);
  *r = (rim){{side->low, side->high, side->opposite}, normal};
  return true;
}

static bool find_rims(tn_world *world, rim_list *list, const world_box *box)
{
  const soft *s = list->soft;
  size_t most = (size_t)s->triangle_count;
  list->size = most * (3 * sizeof(rim) + 3 * sizeof(soft_side) + 3 * sizeof(int32_t));
  list->rims = memory_take(world, list->size);
  if (!list->rims) {
    return false;
  }
  list->sides = (soft_side *)(list->rims + 3 * most);
  list->triangles = (int32_t *)(list->sides + 3 * most);
  int32_t near = 0;
  for (size_t i = 0; i < most; ++i) {
    world_box around = box_around(s, s->triangles + 3 * i, 3);
    if (boxes_overlap(&around, box)) {
      memcpy(list->triangles + 3 * (size_t)near++, s->triangles + 3 * i, 3 * sizeof(int32_t));
    }
  }
  soft_find_sides(list->triangles, near, list->sides);
  for (int32_t i = 0, n; i < 3 * near; i += n) {
    const soft_side *side = &list->sides[i];
    n = i + 1 < 3 * near && side[1].low == side->low && side[1].high == side->high ? 2 : 1;
    list->count += stands_out(list, side, n, &list->rims[list->count]);
  }
  return true;
}

// Where two edges are closest: weights of their ends, and the way from the second to the first.
static bool meet(const rim_list *a, const rim *x, const rim_list *b, const rim *y, soft_contact *c)
{
  const soft_particle *p = a->soft->particles, *q = b->soft->particles;
  tn_vec3 u = tn_between_points(p[x->v[0]].at, p[x->v[1]].at);
  tn_vec3 v = tn_between_points(q[y->v[0]].at, q[y->v[1]].at);
  tn_vec3 d = tn_between_points(q[y->v[0]].at, p[x->v[0]].at), n = tn_cross(u, v);
  float uu = tn_dot(u, u), uv = tn_dot(u, v), vv = tn_dot(v, v);
  float du = tn_dot(d, u), dv = tn_dot(d, v), nn = tn_dot(n, n);
  if (!(nn > ACROSS * uu * vv)) {
    return false;
  }
  float s = (uv * dv - vv * du) / nn, t = (uu * dv - uv * du) / nn;
  c->weight[0] = 1.0f - s;
  c->weight[1] = s;
  c->weight[2] = t - 1.0f;
  c->weight[3] = -t;
  c->apart = tn_add(d, tn_sub(tn_scale(s, u), tn_scale(t, v)));
  c->normal = tn_scale(1.0f / sqrtf(nn), n);
  return fminf(s, t) > END && fmaxf(s, t) < 1.0f - END;
}

// Turns the normal out of what is closed, else from the second edge to the first.
static bool face(const rim_list *a, const rim *x, const rim_list *b, const rim *y, soft_contact *c)
{
  float out_of_a = -tn_dot(c->normal, x->normal), out_of_b = tn_dot(c->normal, y->normal);
  float way = b->soft->closed ? out_of_b : a->soft->closed ? out_of_a : tn_dot(c->normal, c->apart);
  float sign = way < 0.0f ? -1.0f : 1.0f;
  c->normal = tn_scale(sign, c->normal);
  return (!a->soft->closed || sign * out_of_a > FACING) &&
         (!b->soft->closed || sign * out_of_b > FACING);
}

static bool touch_two(tn_world *world, const rim_list *a, const rim *x, const rim_list *b,
                      const rim *y, float dt)
{
  soft_contact c;
  memset(&c, 0, sizeof c);
  if (!meet(a, x, b, y, &c) || !face(a, x, b, y, &c)) {
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
  c.type = TOUCH_EDGES;
  c.soft = a->slot;
  c.other = b->slot;
  c.shape = c.body = NO_SLOT;
  c.distance = a->soft->radius + b->soft->radius;
  c.gap = tn_dot(c.normal, c.apart) - c.distance;
  bool near = tn_length(c.apart) < 1.25f * c.distance + 1.5f * dt * tn_length(speed);
  return !near || !free || add_touch(world, &c);
}

static world_box bunch_box(const rim_list *list, int32_t first)
{
  world_box box = no_box();
  for (int32_t i = first; i < first + BUNCH && i < list->count; ++i) {
    widen(&box, list->soft->particles[list->rims[i].v[0]].at);
    widen(&box, list->soft->particles[list->rims[i].v[1]].at);
  }
  return box;
}

static bool touch_lists(tn_world *world, const rim_list *a, const rim_list *b, double reach,
                        float dt)
{
  bool ok = true;
  for (int32_t i = 0; i < a->count; i += BUNCH) {
    world_box box = grown_box(bunch_box(a, i), reach);
    for (int32_t k = 0; k < b->count; k += BUNCH) {
      world_box other = bunch_box(b, k);
      if (!boxes_overlap(&box, &other)) {
        continue;
      }
      for (int32_t n = 0; ok && n < BUNCH * BUNCH; ++n) {
        int32_t x = i + n / BUNCH, y = k + n % BUNCH;
        ok = x >= a->count || y >= b->count || touch_two(world, a, &a->rims[x], b, &b->rims[y], dt);
      }
    }
  }
  return ok;
}

bool touch_edges(tn_world *world, int32_t first, int32_t second, float dt)
{
  rim_list a = {.soft = &world->softs[first], .slot = first};
  rim_list b = {.soft = &world->softs[second], .slot = second};
  float speed = fastest_of(a.soft) + fastest_of(b.soft);
  double reach = (double)(1.25f * (a.soft->radius + b.soft->radius) + 1.5f * dt * speed);
  world_box box_a = grown_box(a.soft->box, reach), box_b = grown_box(b.soft->box, reach);
  if (!boxes_overlap(&box_a, &b.soft->box)) {
    return true;
  }
  bool ok = find_rims(world, &a, &box_b) && find_rims(world, &b, &box_a) &&
            touch_lists(world, &a, &b, reach, dt);
  memory_give(world, a.rims, a.size);
  memory_give(world, b.rims, b.size);
  return ok;
}
