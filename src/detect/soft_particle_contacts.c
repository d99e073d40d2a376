// Particles against particles: self collision, and soft bodies of which neither has triangles.
// Candidates come from a hash grid whose cells are as large as the longest contact range.
//
// On all threads: chunks of particles mark those that may touch something, the marks are counted,
// and each chunk enters its particles at its place. Then ranges of the grid find their contacts.
#include "collide/material.h"
#include "data/wake.h"
#include "detect/soft_detect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct grid_particle {
  int32_t soft, particle;
  int32_t cell[3];
  int32_t next; // in the same bucket, or NO_SLOT
} grid_particle;

// Particles of the grid in an item, and contacts that most items find.
#define ITEM_PARTICLES 32
#define ITEM_ROOM 64

// The particles of a chunk that may touch something.
typedef struct grid_chunk {
  int32_t soft, first;   // slot; particle
  uint32_t near;         // bits
  int32_t place, number; // in the grid
} grid_chunk;

typedef struct hash_grid {
  const tn_world *world;
  grid_chunk *chunks;
  grid_particle *grid_particles;
  int32_t count;
  int32_t *buckets;
  int32_t bucket_count; // a power of two
  double size;          // m, of a cell
  float dt;             // s
} hash_grid;

static bool softs_should_collide(const soft *a, const soft *b)
{
  return a == b ? a->self_collision : filters_should_collide(&a->filter, &b->filter);
}

static bool collide_by_particles(const soft *a, const soft *b)
{
  return softs_should_collide(a, b) && !collide_by_triangles(a, b);
}

static uint32_t bucket_of(const hash_grid *s, const int32_t *cell)
{
  uint32_t h =
      (uint32_t)cell[0] * 73856093u ^ (uint32_t)cell[1] * 19349663u ^ (uint32_t)cell[2] * 83492791u;
  return h & (uint32_t)(s->bucket_count - 1);
}

// Whether the particle may touch another soft body or its own.
static bool is_near_others(const hash_grid *s, int32_t slot, tn_pos at)
{
  const tn_world *world = s->world;
  const soft *a = &world->softs[slot];
  if (a->self_collision) {
    return true;
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *b = &world->softs[i];
    if (i != slot && has_collision(b) && collide_by_particles(a, b) &&
        point_near_box(&b->box, at, s->size)) {
      return true;
    }
  }
  return false;
}

// Cell indices wrap around, so that any position has one; cells that coincide only cost
// time. Non-finite quotients go to cell 0.
static int32_t cell_along(double x, double size)
{
  double cell = fmod(floor(x / size), TUNING_SOFT_GRID_WRAP);
  return isnan(cell) ? 0 : (int32_t)cell;
}

static void mark_chunks_task(int first, int last, void *context)
{
  const hash_grid *s = context;
  for (int i = first; i < last; ++i) {
    grid_chunk *c = &s->chunks[i];
    const soft *of = &s->world->softs[c->soft];
    c->near = 0;
    c->number = 0;
    for (int k = 0; k < CHUNK_SIZE && c->first + k < of->particle_count; ++k) {
      if (is_near_others(s, c->soft, of->particles[c->first + k].at)) {
        c->near |= 1u << k;
        c->number += 1;
      }
    }
  }
}

static void enter_chunks_task(int first, int last, void *context)
{
  const hash_grid *s = context;
  for (int i = first; i < last; ++i) {
    const grid_chunk *c = &s->chunks[i];
    grid_particle *g = s->grid_particles + c->place;
    for (int k = 0; k < CHUNK_SIZE; ++k) {
      if (c->near >> k & 1) {
        tn_pos at = s->world->softs[c->soft].particles[c->first + k].at;
        g->soft = c->soft;
        g->particle = c->first + k;
        g->cell[0] = cell_along(at.x, s->size);
        g->cell[1] = cell_along(at.y, s->size);
        g->cell[2] = cell_along(at.z, s->size);
        ++g;
      }
    }
  }
}

// Inserts in descending order, so that each bucket lists its particles in ascending order.
static void fill_buckets(hash_grid *s)
{
  for (int32_t i = 0; i < s->bucket_count; ++i) {
    s->buckets[i] = NO_SLOT;
  }
  for (int32_t i = s->count - 1; i >= 0; --i) {
    uint32_t b = bucket_of(s, s->grid_particles[i].cell);
    s->grid_particles[i].next = s->buckets[b];
    s->buckets[b] = i;
  }
}

// Contact distance of two particles, m. 0, no contact, for particles of one body that are about as
// close at rest: its constraints keep them apart.
static float distance_between(const soft *a, const soft *b, int32_t i, int32_t k)
{
  float d = a->radius + b->radius;
  bool held =
      RULE(soft_self_rest) && a == b &&
      tn_length(tn_sub(a->particles[i].rest, a->particles[k].rest)) < TUNING_SELF_REST_FACTOR * d;
  return held ? 0.0f : d;
}

static bool make_particle_contact(const hash_grid *s, const grid_particle *x,
                                  const grid_particle *y, soft_contact *t)
{
  const soft *a = &s->world->softs[x->soft], *b = &s->world->softs[y->soft];
  const soft_particle *p = &a->particles[x->particle], *q = &b->particles[y->particle];
  if (!collide_by_particles(a, b) || (p->pinned && q->pinned)) {
    return false;
  }
  tn_vec3 delta = tn_between_points(q->at, p->at);
  float distance = distance_between(a, b, x->particle, y->particle), length = tn_length(delta);
  float max_distance = TUNING_SOFT_SOFT_MARGIN * distance +
                       TUNING_SOFT_MOTION_MARGIN * s->dt * tn_length(tn_sub(p->v, q->v));
  if (!(length < distance + max_distance) || distance <= 0.0f) {
    return false;
  }
  memset(t, 0, sizeof *t);
  t->type = SOFT_CONTACT_PARTICLE_PARTICLE;
  t->soft = x->soft;
  t->other = y->soft;
  t->particle[0] = x->particle;
  t->particle[1] = y->particle;
  t->particle[2] = t->particle[3] = NO_SLOT;
  t->weight[0] = 1.0f;
  t->weight[1] = -1.0f;
  t->shape = t->body = NO_SLOT;
  t->delta = delta;
  t->normal = length > 0.0f ? tn_scale(1.0f / length, delta) : tn_v3(0.0f, 1.0f, 0.0f);
  t->distance = distance;
  t->gap = length - distance;
  t->round = true;
  return true;
}

static int by_number(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

// Particles after `at` in the 27 cells around it, in ascending order.
static int find_neighbours(const hash_grid *s, int32_t at, int32_t *list)
{
  const grid_particle *g = &s->grid_particles[at];
  int count = 0;
  for (int i = 0; i < 27; ++i) {
    int32_t cell[3] = {g->cell[0] + i % 3 - 1, g->cell[1] + i / 3 % 3 - 1, g->cell[2] + i / 9 - 1};
    for (int32_t k = s->buckets[bucket_of(s, cell)]; k != NO_SLOT; k = s->grid_particles[k].next) {
      const grid_particle *other = &s->grid_particles[k];
      if (k > at && count < TUNING_SOFT_MAX_NEIGHBOURS && other->cell[0] == cell[0] &&
          other->cell[1] == cell[1] && other->cell[2] == cell[2]) {
        list[count++] = k;
      }
    }
  }
  qsort(list, (size_t)count, sizeof *list, by_number);
  return count;
}

static void collide_item(const void *context, const soft_item *item, soft_contact_list *out)
{
  const hash_grid *s = context;
  int32_t last = (item->part + 1) * ITEM_PARTICLES;
  for (int32_t i = item->part * ITEM_PARTICLES; i < last && i < s->count; ++i) {
    int32_t list[TUNING_SOFT_MAX_NEIGHBOURS];
    int count = find_neighbours(s, i, list);
    for (int k = 0; k < count; ++k) {
      soft_contact t;
      if (make_particle_contact(s, &s->grid_particles[i], &s->grid_particles[list[k]], &t)) {
        soft_contact_put(out, &t);
      }
    }
  }
}

// Sets the cell size; returns an upper bound of the number of particles, or 0 if no two soft bodies
// are close enough to touch.
static int32_t init_grid(hash_grid *s)
{
  const tn_world *world = s->world;
  int32_t count = 0;
  float radius = 0.0f;
  bool any = false;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *a = &world->softs[i];
    if (has_collision(a)) {
      radius = fmaxf(radius, a->radius);
      count += a->particle_count;
    }
  }
  s->size = TUNING_SOFT_GRID_CELL * (double)radius;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    world_aabb box = box_expand(world->softs[i].box, s->size);
    for (int32_t k = i; k < world->soft_pool.used && has_collision(&world->softs[i]); ++k) {
      const soft *a = &world->softs[i], *b = &world->softs[k];
      any = any || (has_collision(b) && collide_by_particles(a, b) && aabbs_overlap(&box, &b->box));
    }
  }
  return any ? count : 0;
}

bool wake_overlapping_softs(tn_world *world)
{
  bool woke = false;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    for (int32_t k = 0; k < world->soft_pool.used && has_collision(&world->softs[i]); ++k) {
      const soft *a = &world->softs[i], *b = &world->softs[k];
      if (b->alive && b->asleep && softs_should_collide(a, b) && aabbs_overlap(&a->box, &b->box)) {
        soft_wake(world, k);
        woke = true;
      }
    }
  }
  return woke;
}

// Chunks of all particles that collide; returns their number.
static int32_t list_chunks(const tn_world *world, grid_chunk *chunks)
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *a = &world->softs[i];
    for (int32_t k = 0; has_collision(a) && k < a->particle_count; k += CHUNK_SIZE) {
      if (chunks) {
        chunks[count] = (grid_chunk){.soft = i, .first = k};
      }
      count += 1;
    }
  }
  return count;
}

static void fill_grid(tn_world *world, hash_grid *s)
{
  int32_t chunks = list_chunks(world, s->chunks);
  task_run(world->tasks, mark_chunks_task, chunks, 4, s);
  s->count = 0;
  for (int32_t i = 0; i < chunks; ++i) {
    s->chunks[i].place = s->count;
    s->count += s->chunks[i].number;
  }
  task_run(world->tasks, enter_chunks_task, chunks, 2, s);
  fill_buckets(s);
}

bool find_particle_contacts(tn_world *world, float dt)
{
  hash_grid s = {.world = world, .dt = dt};
  int32_t count = init_grid(&s);
  if (count == 0) {
    return true;
  }
  s.bucket_count = 64;
  while (s.bucket_count < count) {
    s.bucket_count *= 2;
  }
  size_t particle_bytes = (size_t)count * sizeof(grid_particle);
  size_t bucket_size = (size_t)s.bucket_count * sizeof(int32_t);
  size_t chunk_bytes = (size_t)list_chunks(world, NULL) * sizeof(grid_chunk);
  s.grid_particles = heap_alloc(&world->heap, particle_bytes);
  s.buckets = heap_alloc(&world->heap, bucket_size);
  s.chunks = heap_alloc(&world->heap, chunk_bytes);
  bool ok = s.grid_particles && s.buckets && s.chunks;
  if (ok) {
    fill_grid(world, &s);
  }
  for (int32_t i = 0; ok && i * ITEM_PARTICLES < s.count; ++i) {
    ok = soft_item_add(world, 0, i);
  }
  ok = ok && soft_items_run(world, collide_item, &s, ITEM_ROOM);
  heap_free(&world->heap, s.grid_particles, particle_bytes);
  heap_free(&world->heap, s.buckets, bucket_size);
  heap_free(&world->heap, s.chunks, chunk_bytes);
  return ok;
}
