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
  int32_t *triangles; // near the other body
  half_edge *sides;   // of these
} feature_edge_list;

// Memory of a list, by triangles near the other body.
#define TRIANGLE_BYTES (3 * (int32_t)(sizeof(feature_edge) + sizeof(half_edge) + sizeof(int32_t)))
#define LIST_BYTES 16 // head of a list in memory: its number of feature edges

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

// Triangles of `slot` whose boxes overlap `box`: their number, and their corners if `triangles` is
// not null.
static int32_t list_near(const tn_world *world, int32_t slot, const world_aabb *box,
                         int32_t *triangles)
{
  const soft *s = &world->softs[slot];
  const soft_chunk *chunks = soft_triangle_chunks(world, slot);
  const world_aabb *boxes =
      world->detection->triangle_boxes + world->detection->soft_scans[slot].first_box;
  int32_t near = 0;
  for (int32_t b = 0; b < chunk_count(s->triangle_count); ++b) {
    if (!aabbs_overlap(&chunks[b].box, box)) {
      continue;
    }
    for (int32_t i = CHUNK_SIZE * b; i < CHUNK_SIZE * (b + 1) && i < s->triangle_count; ++i) {
      if (!aabbs_overlap(&boxes[i], box)) {
        continue;
      }
      if (triangles) {
        memcpy(triangles + 3 * (size_t)near, s->triangles + 3 * (size_t)i, 3 * sizeof(int32_t));
      }
      near += 1;
    }
  }
  return near;
}

static void find_feature_edges(feature_edge_list *list, int32_t near)
{
  find_half_edges(list->triangles, near, list->sides);
  list->count = 0;
  for (int32_t i = 0, n; i < 3 * near; i += n) {
    const half_edge *side = &list->sides[i];
    n = i + 1 < 3 * near && side[1].low == side->low && side[1].high == side->high ? 2 : 1;
    list->count += is_feature_edge(list, side, n, &list->feature_edges[list->count]);
  }
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

static void collide_edges(const feature_edge_list *a, const feature_edge *x,
                          const feature_edge_list *b, const feature_edge *y, float dt,
                          soft_contact_list *out)
{
  soft_contact c;
  memset(&c, 0, sizeof c);
  if (!closest_points_of_edges(a, x, b, y, &c) || !orient_normal(a, x, b, y, &c)) {
    return;
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
  if (near && free) {
    soft_contact_put(out, &c);
  }
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

static void collide_edge_lists(const feature_edge_list *a, const feature_edge_list *b,
                               double max_distance, float dt, soft_contact_list *out)
{
  for (int32_t i = 0; i < a->count; i += CHUNK_SIZE) {
    world_aabb box = box_expand(chunk_box(a, i), max_distance);
    for (int32_t k = 0; k < b->count; k += CHUNK_SIZE) {
      world_aabb other = chunk_box(b, k);
      if (!aabbs_overlap(&box, &other)) {
        continue;
      }
      for (int32_t n = 0; n < CHUNK_SIZE * CHUNK_SIZE; ++n) {
        int32_t x = i + n / CHUNK_SIZE, y = k + n % CHUNK_SIZE;
        if (x < a->count && y < b->count) {
          collide_edges(a, &a->feature_edges[x], b, &b->feature_edges[y], dt, out);
        }
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Lists of all jobs: the triangles near the other body are counted, then memory is shared out.

// The list of one side, 0: `from`, 1: `to`, in its place in memory.
static feature_edge_list list_of(const tn_world *world, const soft_pair_job *job, int side)
{
  char *at = (char *)world->detection->edge_memory + job->first_edge;
  at += side ? LIST_BYTES + job->near[0] * TRIANGLE_BYTES : 0;
  size_t edges = 3 * (size_t)job->near[side];
  int32_t slot = side ? job->to : job->from;
  feature_edge_list list = {.soft = &world->softs[slot], .slot = slot};
  memcpy(&list.count, at, sizeof list.count);
  list.feature_edges = (feature_edge *)(void *)(at + LIST_BYTES);
  list.sides = (half_edge *)(list.feature_edges + edges);
  list.triangles = (int32_t *)(list.sides + edges);
  return list;
}

typedef struct edge_task {
  tn_world *world;
  soft_pair_job *jobs;
} edge_task;

// The box in which the edges of one side may touch the other.
static world_aabb near_box(const tn_world *world, const soft_pair_job *job, int side)
{
  return box_expand(world->softs[side ? job->from : job->to].box, job->max_distance);
}

// Items: two for each job, one for each side.
static void count_near_task(int first, int last, void *context)
{
  const edge_task *t = context;
  for (int i = first; i < last; ++i) {
    soft_pair_job *job = &t->jobs[i / 2];
    world_aabb box = near_box(t->world, job, i % 2);
    job->near[i % 2] =
        job->edges ? list_near(t->world, i % 2 ? job->to : job->from, &box, NULL) : 0;
  }
}

static void find_edges_task(int first, int last, void *context)
{
  const edge_task *t = context;
  for (int i = first; i < last; ++i) {
    const soft_pair_job *job = &t->jobs[i / 2];
    if (!job->edges) {
      continue;
    }
    world_aabb box = near_box(t->world, job, i % 2);
    feature_edge_list list = list_of(t->world, job, i % 2);
    list_near(t->world, list.slot, &box, list.triangles);
    find_feature_edges(&list, job->near[i % 2]);
    memcpy((char *)list.feature_edges - LIST_BYTES, &list.count, sizeof list.count);
  }
}

bool edges_prepare(tn_world *world, soft_pair_job *jobs, int32_t count)
{
  edge_task task = {world, jobs};
  task_run(world->tasks, count_near_task, 2 * count, 1, &task);
  int64_t size = 0;
  for (int32_t i = 0; i < count; ++i) {
    jobs[i].first_edge = (int32_t)size;
    size += jobs[i].edges
                ? 2 * LIST_BYTES + (int64_t)(jobs[i].near[0] + jobs[i].near[1]) * TRIANGLE_BYTES
                : 0;
    if (size > INT32_MAX / 2) {
      return false;
    }
  }
  if (!heap_reserve(&world->heap, &world->detection->edge_memory,
                    &world->detection->edge_memory_capacity, (int32_t)size, 1)) {
    return false;
  }
  task_run(world->tasks, find_edges_task, 2 * count, 1, &task);
  return true;
}

void edges_collide(const tn_world *world, const soft_pair_job *job, float dt,
                   soft_contact_list *out)
{
  feature_edge_list a = list_of(world, job, 0), b = list_of(world, job, 1);
  collide_edge_lists(&a, &b, job->max_distance, dt, out);
}
