// Bounding boxes of the chunks and triangles of every soft body and its largest speed, found once a
// step by chunks on all threads. The detection of soft contacts culls with them.
#include "data/soft_bounds.h"
#include "detect/detection.h"
#include "detect/soft_detect.h"

#include <math.h>

#define SCAN_GRAIN 8 // chunks in a task: about 2 us

// Bound of the rounding error of a distance from a triangle, relative to its extent.
#define ROUNDING 1e-4

static bool reserve(tn_world *world, int32_t chunks, int32_t triangles)
{
  detection *d = world->detection;
  return heap_reserve(&world->heap, (void **)&d->soft_chunks, &d->soft_chunk_capacity, chunks,
                      sizeof *d->soft_chunks) &&
         heap_reserve(&world->heap, (void **)&d->triangle_boxes, &d->triangle_box_capacity,
                      triangles, sizeof *d->triangle_boxes);
}

static void scan_particles(const soft *s, int32_t first, soft_chunk *chunk)
{
  chunk->box = empty_box();
  chunk->square_speed = 0.0f;
  for (int32_t i = first; i < first + CHUNK_SIZE && i < s->particle_count; ++i) {
    const soft_particle *p = &s->particles[i];
    float square = tn_dot(p->v, p->v);
    box_add_point(&chunk->box, p->at);
    chunk->square_speed = square > chunk->square_speed ? square : chunk->square_speed;
  }
}

static world_aabb box_of_triangle(const soft *s, int32_t triangle)
{
  world_aabb box = empty_box();
  for (int i = 0; i < 3; ++i) {
    box_add_point(&box, s->particles[s->triangles[3 * (size_t)triangle + (size_t)i]].at);
  }
  return box;
}

// `boxes` null: no boxes of single triangles.
static void scan_triangles(const soft *s, int32_t first, soft_chunk *chunk, world_aabb *boxes)
{
  chunk->box = empty_box();
  chunk->rounding = 0.0;
  for (int32_t i = first; i < first + CHUNK_SIZE && i < s->triangle_count; ++i) {
    world_aabb box = box_of_triangle(s, i);
    box_add_point(&chunk->box, box.lower);
    box_add_point(&chunk->box, box.upper);
    double size =
        box.upper.x - box.lower.x + (box.upper.y - box.lower.y) + (box.upper.z - box.lower.z);
    chunk->rounding = fmax(chunk->rounding, ROUNDING * size);
    if (boxes) {
      boxes[i] = box;
    }
  }
}

static void scan_chunks(int first, int last, void *context)
{
  const tn_world *world = context;
  detection *d = world->detection;
  for (int i = first; i < last; ++i) {
    soft_chunk *chunk = &d->soft_chunks[i];
    const soft *s = &world->softs[chunk->soft];
    const soft_scan *scan = &d->soft_scans[chunk->soft];
    int32_t index = i - scan->first_chunk, particles = chunk_count(s->particle_count);
    if (index < particles) {
      scan_particles(s, CHUNK_SIZE * index, chunk);
    } else {
      scan_triangles(s, CHUNK_SIZE * (index - particles), chunk,
                     scan->has_boxes ? d->triangle_boxes + scan->first_box : NULL);
    }
  }
}

static int32_t chunks_of(const soft *s)
{
  return s->alive && !s->asleep ? chunk_count(s->particle_count) + chunk_count(s->triangle_count)
                                : 0;
}

// Assigns chunks to awake bodies, and boxes of triangles where two bodies may collide. Returns the
// numbers of both.
static void assign_chunks(tn_world *world, int32_t *chunks, int32_t *boxes)
{
  int32_t colliding = 0;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    colliding += has_collision(&world->softs[i]);
  }
  *chunks = *boxes = 0;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *s = &world->softs[i];
    soft_scan *scan = &world->detection->soft_scans[i];
    scan->has_boxes = colliding > 1 && has_collision(s);
    scan->first_chunk = *chunks;
    scan->first_box = *boxes;
    *chunks += chunks_of(s);
    *boxes += scan->has_boxes ? s->triangle_count : 0;
  }
}

bool soft_scan_all(tn_world *world)
{
  detection *d = world->detection;
  int32_t chunks, boxes;
  if (!heap_reserve(&world->heap, (void **)&d->soft_scans, &d->soft_scan_capacity,
                    world->soft_pool.used, sizeof *d->soft_scans)) {
    return false;
  }
  assign_chunks(world, &chunks, &boxes);
  if (!reserve(world, chunks, boxes)) {
    return false;
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    for (int32_t k = 0; k < chunks_of(&world->softs[i]); ++k) {
      d->soft_chunks[d->soft_scans[i].first_chunk + k].soft = i;
    }
  }
  task_run(world->tasks, scan_chunks, chunks, SCAN_GRAIN, world);
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    soft_scan *scan = &d->soft_scans[i];
    const soft *s = &world->softs[i];
    float square = 0.0f;
    for (int32_t k = 0; chunks_of(s) > 0 && k < chunk_count(s->particle_count); ++k) {
      square = fmaxf(square, d->soft_chunks[scan->first_chunk + k].square_speed);
    }
    scan->max_speed = sqrtf(square);
  }
  return true;
}

const soft_chunk *soft_particle_chunks(const tn_world *world, int32_t slot)
{
  return world->detection->soft_chunks + world->detection->soft_scans[slot].first_chunk;
}

const soft_chunk *soft_triangle_chunks(const tn_world *world, int32_t slot)
{
  return soft_particle_chunks(world, slot) + chunk_count(world->softs[slot].particle_count);
}

// ---------------------------------------------------------------------------------------------
// Items of work

bool soft_item_add(tn_world *world, int32_t job, int32_t part)
{
  detection *d = world->detection;
  if (!heap_reserve(&world->heap, (void **)&d->soft_items, &d->soft_item_capacity,
                    d->soft_item_count + 1, sizeof *d->soft_items)) {
    return false;
  }
  d->soft_items[d->soft_item_count++] = (soft_item){.job = job, .part = part};
  return true;
}

void soft_contact_put(soft_contact_list *out, const soft_contact *t)
{
  if (out->count < out->room) {
    out->list[out->count] = *t;
  }
  out->count += 1;
}

typedef struct item_task {
  tn_world *world;
  soft_item_fn *find;
  const void *context;
  int32_t room;  // contacts of an item, in chunk_contacts
  int32_t begin; // item of the first task
} item_task;

#define ROUND_ITEMS 4 // of each thread, which bounds the memory of chunk_contacts

static void find_items(int first, int last, void *context)
{
  const item_task *t = context;
  detection *d = t->world->detection;
  for (int i = first; i < last; ++i) {
    soft_item *item = &d->soft_items[t->begin + i];
    soft_contact_list out = {d->chunk_contacts + (size_t)i * (size_t)t->room, t->room, 0};
    t->find(t->context, item, &out);
    item->count = out.count;
  }
}

// Items without room for what they find are found again, now that they have their place.
static void store_items(int first, int last, void *context)
{
  const item_task *t = context;
  detection *d = t->world->detection;
  for (int i = first; i < last; ++i) {
    const soft_item *item = &d->soft_items[t->begin + i];
    soft_contact *to = item->count > 0 ? t->world->soft_contacts + item->place : NULL;
    soft_contact_list out = {to, item->count, 0};
    if (item->count > t->room) {
      t->find(t->context, item, &out);
    }
    for (int32_t k = 0; item->count <= t->room && k < item->count; ++k) {
      out.list[k] = d->chunk_contacts[(size_t)i * (size_t)t->room + (size_t)k];
    }
  }
}

static bool run_round(item_task *t, int32_t count)
{
  tn_world *world = t->world;
  detection *d = world->detection;
  int32_t total = world->soft_contact_count;
  if (!heap_reserve(&world->heap, (void **)&d->chunk_contacts, &d->chunk_contact_capacity,
                    t->room * count, sizeof(soft_contact))) {
    return false;
  }
  task_run(world->tasks, find_items, count, 1, t);
  for (int32_t i = t->begin; i < t->begin + count; ++i) {
    d->soft_items[i].place = total;
    total += d->soft_items[i].count;
  }
  if (!heap_reserve(&world->heap, (void **)&world->soft_contacts, &world->soft_contact_capacity,
                    total, sizeof(soft_contact))) {
    return false;
  }
  task_run(world->tasks, store_items, count, 4, t);
  world->soft_contact_count = total;
  return true;
}

bool soft_items_run(tn_world *world, soft_item_fn *find, const void *context, int32_t room)
{
  detection *d = world->detection;
  int32_t most = ROUND_ITEMS * task_team(world->tasks), left = d->soft_item_count;
  item_task task = {world, find, context, room, 0};
  bool ok = true;
  while (ok && left > 0) {
    int32_t count = left < most ? left : most;
    ok = run_round(&task, count);
    task.begin += count;
    left -= count;
  }
  d->soft_item_count = 0;
  return ok;
}
