// Particles of one soft body against triangles of another. A particle gets a contact with the
// nearest feature of the other body (face, edge or corner), and with every near face that it is in
// front of: on coarse meshes the nearest feature alone lets it pass the neighbouring faces.
#include "collide/material.h"
#include "collide/surface_contacts.h"
#include "data/soft_bounds.h"
#include "detect/soft_detect.h"

#include <math.h>
#include <string.h>

// Contacts of an item, in most cases; with more it is run twice.
#define ITEM_ROOM 64

// Collision of particles of `from` with the triangles of `to`.
typedef struct triangle_collider {
  const soft_pair_job *job;
  const soft *from, *to;
  float dt; // s
  soft_contact_list *out;
} triangle_collider;

typedef struct pair_search {
  const tn_world *world;
  const soft_pair_job *jobs;
  float dt; // s
} pair_search;

// A triangle within the contact range of a particle.
typedef struct triangle_hit {
  int32_t triangle;
  float w[3];        // barycentric weights of the closest point
  tn_vec3 x, normal; // closest point, from the particle; normal of the triangle
  float length;      // m, of x
  bool behind;       // the particle is behind a triangle of a closed surface
} triangle_hit;

typedef struct particle_hits {
  triangle_hit nearest;
  triangle_hit faces[TUNING_SOFT_MAX_FACES];
  int count;
} particle_hits;

static bool is_corner(const triangle_hit *f)
{
  return fmaxf(f->w[0], fmaxf(f->w[1], f->w[2])) > TUNING_SOFT_CORNER_WEIGHT;
}

static bool is_face(const triangle_hit *f)
{
  return fminf(f->w[0], fminf(f->w[1], f->w[2])) > TUNING_SOFT_FACE_WEIGHT;
}

// False if the triangle is out of range: the contact distance and its margin, and the relative
// motion.
static bool closest_on_triangle(const triangle_collider *s, const soft_particle *p,
                                int32_t triangle, triangle_hit *f)
{
  const int32_t *v = s->to->triangles + 3 * (size_t)triangle;
  tn_vec3 corner[3], speed = p->v, none = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < 3; ++i) {
    corner[i] = tn_between_points(p->at, s->to->particles[v[i]].at);
  }
  f->triangle = triangle;
  f->normal = triangle_normal(corner);
  f->x = triangle_closest(corner, f->normal, none);
  f->length = tn_length(f->x);
  f->behind = s->to->closed && tn_dot(f->normal, f->x) > 0.0f;
  barycentric_weights(f->x, corner, f->w);
  for (int i = 0; i < 3; ++i) {
    speed = tn_sub(speed, tn_scale(f->w[i], s->to->particles[v[i]].v));
  }
  return f->length < (1.0f + TUNING_SOFT_SOFT_MARGIN) * s->job->distance +
                         TUNING_SOFT_MOTION_MARGIN * s->dt * tn_length(speed);
}

// Triangles that share the nearest edge or corner are equally near. The particle is outside if it
// is in front of one of them, so that one is preferred.
static void consider_triangle(const triangle_collider *s, const soft_particle *p, int32_t triangle,
                              particle_hits *v)
{
  triangle_hit f;
  if (!closest_on_triangle(s, p, triangle, &f)) {
    return;
  }
  if (is_face(&f) && !f.behind && v->count < TUNING_SOFT_MAX_FACES) {
    v->faces[v->count++] = f;
  }
  const triangle_hit *n = &v->nearest;
  float same = TUNING_SOFT_SAME_DISTANCE_SHARE * n->length + TUNING_SOFT_SAME_DISTANCE;
  if (n->triangle == NO_SLOT || f.length < n->length - same ||
      (f.length < n->length + same && n->behind && !f.behind)) {
    v->nearest = f;
  }
}

static void add_triangle_contact(const triangle_collider *s, int32_t index, const triangle_hit *f)
{
  const int32_t *v = s->to->triangles + 3 * (size_t)f->triangle;
  soft_contact t;
  memset(&t, 0, sizeof t);
  t.type = SOFT_CONTACT_PARTICLE_TRIANGLE;
  t.soft = s->job->from;
  t.other = s->job->to;
  t.particle[0] = index;
  t.weight[0] = 1.0f;
  int32_t free = !s->from->particles[index].pinned;
  for (int i = 0; i < 3; ++i) {
    t.particle[i + 1] = v[i];
    t.weight[i + 1] = -f->w[i];
    free |= !s->to->particles[v[i]].pinned;
  }
  t.shape = t.body = NO_SLOT;
  t.delta = tn_scale(-1.0f, f->x);
  bool along = !f->behind && f->length > TUNING_SOFT_MIN_DIRECTION;
  t.normal = along ? tn_scale(-1.0f / f->length, f->x) : f->normal;
  t.round = along && is_corner(f);
  t.distance = s->job->distance;
  t.gap = tn_dot(t.normal, t.delta) - s->job->distance;
  if (free) {
    soft_contact_put(s->out, &t);
  }
}

// A particle behind its nearest feature is inside: only that feature's contact pushes it out.
static void add_particle_contacts(const triangle_collider *s, int32_t index, const particle_hits *v)
{
  const triangle_hit *n = &v->nearest;
  if (n->triangle == NO_SLOT) {
    return;
  }
  if (!is_corner(n) || s->job->corners) {
    add_triangle_contact(s, index, n);
  }
  for (int i = 0; i < v->count && !n->behind && RULE(soft_face_contacts); ++i) {
    if (v->faces[i].triangle != n->triangle) {
      add_triangle_contact(s, index, &v->faces[i]);
    }
  }
}

// A chunk of particles against all triangles of the other body. Chunks and triangles whose boxes
// are out of range are skipped.
static void collide_chunk(const tn_world *world, const triangle_collider *s, int32_t part)
{
  int32_t first = CHUNK_SIZE * part, left = s->from->particle_count - first;
  int32_t count = left < CHUNK_SIZE ? left : CHUNK_SIZE;
  const soft_particle *p = s->from->particles + first;
  double max_distance = s->job->max_distance;
  particle_hits hits[CHUNK_SIZE];
  for (int32_t i = 0; i < count; ++i) {
    hits[i].nearest.triangle = NO_SLOT;
    hits[i].count = 0;
  }
  world_aabb box = box_expand(soft_particle_chunks(world, s->job->from)[part].box, max_distance);
  const soft_chunk *chunks = soft_triangle_chunks(world, s->job->to);
  const world_aabb *boxes =
      world->detection->triangle_boxes + world->detection->soft_scans[s->job->to].first_box;
  for (int32_t b = 0; b < chunk_count(s->to->triangle_count); ++b) {
    for (int32_t i = 0; i < count && aabbs_overlap(&box, &chunks[b].box); ++i) {
      if (!point_near_box(&chunks[b].box, p[i].at, max_distance)) {
        continue;
      }
      for (int32_t k = CHUNK_SIZE * b; k < CHUNK_SIZE * (b + 1) && k < s->to->triangle_count; ++k) {
        if (point_near_box(&boxes[k], p[i].at, max_distance + chunks[b].rounding)) {
          consider_triangle(s, &p[i], k, &hits[i]);
        }
      }
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    add_particle_contacts(s, first + i, &hits[i]);
  }
}

// Items of a job: a chunk of particles each, then one for the edges.
static void collide_item(const void *context, const soft_item *item, soft_contact_list *out)
{
  const pair_search *search = context;
  const soft_pair_job *job = &search->jobs[item->job];
  const soft *from = &search->world->softs[job->from];
  if (item->part == chunk_count(from->particle_count)) {
    edges_collide(search->world, job, search->dt, out);
    return;
  }
  triangle_collider s = {job, from, &search->world->softs[job->to], search->dt, out};
  collide_chunk(search->world, &s, item->part);
}

static soft_pair_job job_of(const tn_world *world, int32_t from, int32_t to, float dt)
{
  const soft *a = &world->softs[from], *b = &world->softs[to];
  const soft_scan *scans = world->detection->soft_scans;
  soft_pair_job job = {.from = from, .to = to, .distance = a->radius + b->radius};
  job.corners = from < to || a->triangle_count == 0;
  job.edges = from < to && a->triangle_count > 0 && RULE(soft_edge_contacts);
  float speed = scans[from].max_speed + scans[to].max_speed;
  job.max_distance = (double)((1.0f + TUNING_SOFT_SOFT_MARGIN) * job.distance +
                              TUNING_SOFT_MOTION_MARGIN * dt * speed);
  return job;
}

// Lists the job and its items; nothing if the bodies are too far apart.
static bool add_pair_job(tn_world *world, int32_t from, int32_t to, float dt, int32_t *count)
{
  soft_pair_job job = job_of(world, from, to, dt);
  const world_aabb *other = &world->softs[to].box;
  world_aabb box = box_expand(world->softs[from].box, job.max_distance);
  if (!aabbs_overlap(&box, other)) {
    return true;
  }
  detection *d = world->detection;
  if (!heap_reserve(&world->heap, &d->soft_jobs, &d->soft_job_capacity,
                    (*count + 1) * (int32_t)sizeof job, 1)) {
    return false;
  }
  ((soft_pair_job *)d->soft_jobs)[*count] = job;
  int32_t chunks = chunk_count(world->softs[from].particle_count);
  bool ok = true;
  for (int32_t i = 0; ok && i < chunks; ++i) {
    box = box_expand(soft_particle_chunks(world, from)[i].box, job.max_distance);
    ok = !aabbs_overlap(&box, other) || soft_item_add(world, *count, i);
  }
  ok = ok && (!job.edges || soft_item_add(world, *count, chunks));
  *count += 1;
  return ok;
}

bool find_triangle_contacts(tn_world *world, float dt)
{
  int32_t count = 0;
  bool ok = true;
  world->detection->soft_item_count = 0;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *a = &world->softs[i];
    for (int32_t k = 0; ok && k < world->soft_pool.used && has_collision(a); ++k) {
      const soft *b = &world->softs[k];
      if (i != k && b->triangle_count > 0 && has_collision(b) &&
          filters_should_collide(&a->filter, &b->filter)) {
        ok = add_pair_job(world, i, k, dt, &count);
      }
    }
  }
  pair_search search = {world, world->detection->soft_jobs, dt};
  return ok && edges_prepare(world, world->detection->soft_jobs, count) &&
         soft_items_run(world, collide_item, &search, ITEM_ROOM);
}
