// Saves and restores the exact state of a world as a flat buffer.
//
// A restore copies the arrays to its own memory, checks everything, rebuilds the geometries and
// reserves all memory that the world needs; only then it changes the world, and nothing can fail
// any more.
//
// Saved is what determines future steps. Not saved: trees, graphs and blocks, which are rebuilt and
// give the same results; events; stamps by contact_update_count and material_version.
#include "world/snapshot.h"

#include "data/ids.h"
#include "data/recorder.h"
#include "data/soft_elements.h"
#include "detect/detection.h"
#include "solver/joint/joint_layout.h"
#include "solver/soft/soft_steps.h"
#include "solver/solver.h"
#include "world/lifetime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SNAPSHOT_MAGIC 0x4e4f4e4554ull // "TENON"
#define SNAPSHOT_VERSION 7u
#define ALIGNMENT 64

// One array of a snapshot.
typedef struct part {
  void **at;   // pointer to the array in `snapshot`
  size_t size; // of an element
  uint64_t count;
} part;

#define COUNT_ONE(type, name) +1
#define PART_COUNT (0 SNAPSHOT_PARTS(COUNT_ONE))

static void list_parts(snapshot *s, part parts[PART_COUNT])
{
  const part all[] = {
#define LIST(type, name) {(void **)&s->name, sizeof(type), s->header.count.name},
      SNAPSHOT_PARTS(LIST)
#undef LIST
  };
  memcpy(parts, all, sizeof all);
}

static uint64_t layout_of_parts(void)
{
  uint64_t hash = HASH_START;
  const uint32_t sizes[] = {
#define SIZE(type, name) (uint32_t)sizeof(type),
      SNAPSHOT_PARTS(SIZE)
#undef SIZE
  };
  return hash_bytes(hash, sizes, sizeof sizes);
}

// Headers are passed by pointers and copied as bytes, because padding counts and an assignment need
// not keep it.
static uint64_t checksum_of(const snapshot_header *header, const void *content)
{
  snapshot_header h;
  memcpy(&h, header, sizeof h);
  h.checksum = 0;
  return hash_bytes(hash_bytes(HASH_START, &h, sizeof h), content, (size_t)h.size);
}

static uint64_t blocks_of(uint64_t bodies)
{
  return (bodies + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
}

// ---------------------------------------------------------------------------------------------
// Save

static snapshot_counts counts_of(const tn_world *world)
{
  snapshot_counts c = {
#define COUNT(name, part) .part = (uint64_t)world->name##_pool.used,
      SNAPSHOT_POOLS(COUNT)
#undef COUNT
  };
  c.states = c.bodies;
  c.blocks = blocks_of(c.bodies);
  c.shape_motions = c.shapes;
  c.soft_touch_pairs = (uint64_t)world->soft_touch_pair_count;
  c.soft_contacts = (uint64_t)world->soft_contact_count;
  for (int32_t i = 0; i < world->geometry_pool.used; ++i) {
    c.sources += world->geometries[i].alive ? world->geometries[i].source_size : 0;
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    c.soft_data += world->softs[i].alive ? world->softs[i].size : 0;
  }
  return c;
}

static void fill_header(const tn_world *world, snapshot_header *header)
{
  snapshot s;
  memset(&s, 0, sizeof s);
  snapshot_header *h = &s.header;
  h->magic = SNAPSHOT_MAGIC;
  h->version = SNAPSHOT_VERSION;
  h->header_size = sizeof *h;
  h->layout = layout_of_parts();
  h->gravity = world->gravity;
  h->method = (int32_t)world->method;
  h->substeps = world->substeps;
  h->iterations = world->iterations;
  h->sleeping = world->sleeping;
  h->sleep_speed = world->sleep_speed;
  h->sleep_time = world->sleep_time;
  h->play = world->play;
  h->last_h = world->last_h;
  h->count = counts_of(world);
#define COPY(name, part)                                                                           \
  h->name##_pool = world->name##_pool;                                                             \
  h->name##_pool.capacity = 0;
  SNAPSHOT_POOLS(COPY)
#undef COPY
  part parts[PART_COUNT];
  list_parts(&s, parts);
  for (int i = 0; i < PART_COUNT; ++i) {
    h->size += parts[i].count * parts[i].size;
  }
  memcpy(header, h, sizeof *h);
}

// memcpy with a null pointer is undefined, even for no bytes.
static unsigned char *save_bytes(unsigned char *at, const void *bytes, size_t size)
{
  if (size > 0) {
    memcpy(at, bytes, size);
  }
  return at + size;
}

// Impulses are moved from solver blocks to the joint; its place in the solver is not saved.
static unsigned char *put_joints(unsigned char *at, const tn_world *world)
{
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    joint copy = world->joints[i];
    if (copy.alive && copy.block != NO_SLOT) {
      joint_unpack(world, &copy);
      copy.block = NO_SLOT;
    }
    if (copy.alive) {
      copy.direct = NO_SLOT;
    }
    at = save_bytes(at, &copy, sizeof copy);
  }
  return at;
}

static unsigned char *put_couplings(unsigned char *at, const tn_world *world)
{
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    coupling copy = world->couplings[i];
    copy.direct = NO_SLOT;
    at = save_bytes(at, &copy, sizeof copy);
  }
  return at;
}

// Shapes that no narrow phase update has visited have no travel bound yet.
static unsigned char *put_ways(unsigned char *at, const tn_world *world)
{
  for (int32_t i = 0; i < world->shape_pool.used; ++i) {
    double travel_bound = i < world->detection->shape_motion_capacity
                              ? world->detection->shape_motions[i].travel_bound
                              : 0.0;
    at = save_bytes(at, &travel_bound, sizeof travel_bound);
  }
  return at;
}

// Clears pointers, which have no meaning in another process.
static unsigned char *save_softs(unsigned char *at, const tn_world *world)
{
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    soft copy = world->softs[i];
    soft_assign_arrays(&copy, NULL);
    copy.memory = NULL;
    copy.first = 0;
    at = save_bytes(at, &copy, sizeof copy);
  }
  return at;
}

static unsigned char *put_data(unsigned char *at, const tn_world *world)
{
  for (int32_t i = 0; i < world->geometry_pool.used; ++i) {
    const shared_geometry *g = &world->geometries[i];
    at = g->alive ? save_bytes(at, g->source, g->source_size) : at;
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *s = &world->softs[i];
    at = s->alive ? save_bytes(at, s->memory, s->size) : at;
  }
  return at;
}

size_t tn_world_save(const tn_world *world, void *buffer, size_t capacity)
{
  if (!world) {
    return 0;
  }
  snapshot_header h;
  fill_header(world, &h);
  size_t size = sizeof h + (size_t)h.size;
  if (!buffer || capacity < size) {
    return size;
  }
  const snapshot_counts *c = &h.count;
  unsigned char *start = (unsigned char *)buffer + sizeof h, *at = start;
  at = save_bytes(at, world->bodies, (size_t)c->bodies * sizeof(body));
  at = save_bytes(at, world->state, (size_t)c->states * sizeof(body_state));
  at = save_bytes(at, world->body_blocks, (size_t)c->blocks * sizeof(body_block));
  at = put_joints(at, world);
  at = put_couplings(at, world);
  at = save_bytes(at, world->geometries, (size_t)c->geometries * sizeof(shared_geometry));
  at = save_bytes(at, world->shapes, (size_t)c->shapes * sizeof(shape));
  at = put_ways(at, world);
  at = save_bytes(at, world->pairs, (size_t)c->pairs * sizeof(pair));
  at = save_bytes(at, world->contacts, (size_t)c->contacts * sizeof(contact));
  at = save_softs(at, world);
  at = save_bytes(at, world->attachments, (size_t)c->attachments * sizeof(attachment));
  at = save_bytes(at, world->soft_touch_pairs,
                  (size_t)c->soft_touch_pairs * sizeof(soft_touch_pair));
  at = save_bytes(at, world->soft_contacts, (size_t)c->soft_contacts * sizeof(soft_contact));
  put_data(at, world);
  h.checksum = checksum_of(&h, start);
  memcpy(buffer, &h, sizeof h);
  return size;
}

// ---------------------------------------------------------------------------------------------
// Restore: the snapshot in memory of its own

static bool counts_agree(const snapshot_header *h)
{
  const snapshot_counts *c = &h->count;
#define AGREE(name, part)                                                                          \
  if (h->name##_pool.used < 0 || h->name##_pool.used > INT32_MAX / 4 ||                            \
      c->part != (uint64_t)h->name##_pool.used) {                                                  \
    return false;                                                                                  \
  }
  SNAPSHOT_POOLS(AGREE)
#undef AGREE
  return c->bodies >= 1 && c->states == c->bodies && c->blocks == blocks_of(c->bodies) &&
         c->shape_motions == c->shapes && c->soft_touch_pairs <= INT32_MAX / 4 &&
         c->soft_contacts <= INT32_MAX / 4;
}

static const char *why_bad_header(const snapshot_header *h, const unsigned char *content,
                                  size_t size)
{
  if (h->magic != SNAPSHOT_MAGIC) {
    return "this is no snapshot";
  }
  if (h->version != SNAPSHOT_VERSION || h->header_size != sizeof *h ||
      h->layout != layout_of_parts()) {
    return "the snapshot is of another version or machine type";
  }
  if (h->size > size) {
    return "the snapshot is truncated";
  }
  if (checksum_of(h, content) != h->checksum) {
    return "the snapshot is damaged";
  }
  if (!counts_agree(h)) {
    return "the snapshot's counts are wrong";
  }
  snapshot s = {.header = *h};
  part parts[PART_COUNT];
  list_parts(&s, parts);
  uint64_t left = h->size;
  for (int i = 0; i < PART_COUNT; ++i) {
    if (parts[i].count > left / parts[i].size) {
      return "the snapshot is truncated";
    }
    left -= parts[i].count * parts[i].size;
  }
  return left == 0 ? NULL : "the snapshot's counts are wrong";
}

static size_t aligned(size_t size)
{
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool open_snapshot(tn_world *world, const unsigned char *content, snapshot *s)
{
  part parts[PART_COUNT];
  list_parts(s, parts);
  s->size = 0;
  for (int i = 0; i < PART_COUNT; ++i) {
    s->size += aligned((size_t)parts[i].count * parts[i].size);
  }
  s->memory = heap_alloc(&world->heap, s->size);
  unsigned char *at = s->memory;
  for (int i = 0; i < PART_COUNT && s->memory; ++i) {
    size_t size = (size_t)parts[i].count * parts[i].size;
    save_bytes(at, content, size);
    *parts[i].at = at;
    content += size;
    at += aligned(size);
  }
  return s->memory != NULL;
}

// Allocates the arrays of each soft body and points into them.
static bool make_softs(tn_world *world, snapshot *s)
{
  const uint8_t *at = s->soft_data;
  bool ok = true;
  for (uint64_t i = 0; i < s->header.count.softs; ++i) {
    soft *made = &s->softs[i];
    made->memory = NULL;
    if (made->alive && ok) {
      made->memory = heap_alloc(&world->heap, made->size);
      ok = made->memory != NULL;
    }
    if (made->memory) {
      save_bytes(made->memory, at, made->size);
      at += made->size;
    }
    soft_assign_arrays(made, made->memory);
  }
  return ok;
}

// Those of `lender`, if there is one, are used instead of built.
static bool make_geometries(tn_world *world, const tn_world *lender, snapshot *s, char *why,
                            size_t size)
{
  const uint8_t *source = s->sources;
  bool ok = true;
  for (uint64_t i = 0; i < s->header.count.geometries; ++i) {
    shared_geometry *g = &s->geometries[i];
    size_t length = g->alive ? g->source_size : 0;
    if (lender) {
      *g = lender->geometries[i];
      g->borrowed = true;
      continue;
    }
    g->borrowed = false;
    bool made = g->alive && ok && geometry_rebuild(world, g, source, why, size);
    ok = ok && made == g->alive;
    g->alive = made;
    source += length;
  }
  return ok;
}

// Frees what did not become part of the world.
static void close_snapshot(tn_world *world, snapshot *s, bool taken, bool has_softs,
                           bool has_geometries)
{
  for (uint64_t i = 0; i < s->header.count.softs && has_softs && !taken; ++i) {
    heap_free(&world->heap, s->softs[i].memory, s->softs[i].memory ? s->softs[i].size : 0);
  }
  for (uint64_t i = 0; i < s->header.count.geometries && has_geometries && !taken; ++i) {
    if (s->geometries[i].alive) {
      geometry_release(world, &s->geometries[i]);
    }
  }
  heap_free(&world->heap, s->memory, s->size);
}

static bool reserve_pool(tn_world *world, void **array, pool *list, int32_t used, size_t size)
{
  if (used > list->capacity) {
    if (!heap_grow(&world->heap, array, list->used, list->capacity, used, size)) {
      return false;
    }
    list->capacity = used;
  }
  return true;
}

static bool reserve(tn_world *world, const snapshot_header *h)
{
  return body_reserve(world, h->body_pool.used) &&
         reserve_pool(world, (void **)&world->joints, &world->joint_pool, h->joint_pool.used,
                      sizeof(joint)) &&
         reserve_pool(world, (void **)&world->couplings, &world->coupling_pool,
                      h->coupling_pool.used, sizeof(coupling)) &&
         reserve_pool(world, (void **)&world->geometries, &world->geometry_pool,
                      h->geometry_pool.used, sizeof(shared_geometry)) &&
         reserve_pool(world, (void **)&world->shapes, &world->shape_pool, h->shape_pool.used,
                      sizeof(shape)) &&
         heap_reserve(&world->heap, (void **)&world->detection->shape_motions,
                      &world->detection->shape_motion_capacity, h->shape_pool.used,
                      sizeof(shape_motion)) &&
         reserve_pool(world, (void **)&world->pairs, &world->pair_pool, h->pair_pool.used,
                      sizeof(pair)) &&
         reserve_pool(world, (void **)&world->contacts, &world->contact_pool, h->contact_pool.used,
                      sizeof(contact)) &&
         reserve_pool(world, (void **)&world->softs, &world->soft_pool, h->soft_pool.used,
                      sizeof(soft)) &&
         reserve_pool(world, (void **)&world->attachments, &world->attachment_pool,
                      h->attachment_pool.used, sizeof(attachment)) &&
         heap_reserve(&world->heap, (void **)&world->soft_touch_pairs,
                      &world->soft_touch_pair_capacity, (int32_t)h->count.soft_touch_pairs,
                      sizeof(soft_touch_pair)) &&
         heap_reserve(&world->heap, (void **)&world->soft_contacts, &world->soft_contact_capacity,
                      (int32_t)h->count.soft_contacts, sizeof(soft_contact)) &&
         shapes_reserve_trees(world, h->shape_pool.used);
}

// ---------------------------------------------------------------------------------------------
// Restore: into the world

static void take(void *to, const void *from, uint64_t count, size_t size)
{
  if (count > 0) {
    memcpy(to, from, (size_t)count * size);
  }
}

static void restore_pool(pool *list, const pool *from)
{
  int32_t capacity = list->capacity;
  *list = *from;
  list->capacity = capacity;
}

static void release_old(tn_world *world)
{
  for (int32_t i = 0; i < world->geometry_pool.used; ++i) {
    if (world->geometries[i].alive) {
      geometry_release(world, &world->geometries[i]);
    }
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (world->softs[i].alive) {
      heap_free(&world->heap, world->softs[i].memory, world->softs[i].size);
    }
  }
}

// Ids in a definition name the world that was saved: use this world's.
static void rebind_body_ids(const tn_world *world, joint *j)
{
  tn_body_id none = {0};
  if (j->alive) {
    j->def.body_a = j->slot[0] == WORLD_SLOT ? none : body_id_at(world, j->slot[0]);
    j->def.body_b = j->slot[1] == WORLD_SLOT ? none : body_id_at(world, j->slot[1]);
  }
}

static void rebind_coupling_ids(const tn_world *world, coupling *k)
{
  for (int i = 0; i < k->def.axis_count && k->alive; ++i) {
    k->def.axes[i].joint = joint_id_at(world, k->joint[i]);
  }
  for (int i = 0; i < k->def.point_count && k->alive; ++i) {
    tn_body_id none = {0};
    int side = k->point_side[i];
    k->def.points[i].body = side < 0 ? none : body_id_at(world, k->side_body[side]);
  }
}

static void rebind_attachment_ids(const tn_world *world, attachment *a)
{
  tn_body_id none = {0};
  if (a->alive) {
    a->def.soft = soft_id_at(world, a->soft);
    a->def.body = a->body == WORLD_SLOT ? none : body_id_at(world, a->body);
  }
}

static void restore_bodies(tn_world *world, const snapshot *s)
{
  const snapshot_counts *c = &s->header.count;
  body_clear_slots(world, 0, world->body_pool.capacity);
  take(world->bodies, s->bodies, c->bodies, sizeof(body));
  take(world->state, s->states, c->states, sizeof(body_state));
  take(world->body_blocks, s->blocks, c->blocks, sizeof(body_block));
  for (int32_t i = 0; i < (int32_t)c->bodies; ++i) {
    if (world->bodies[i].alive && world->bodies[i].type == TN_BODY_STATIC) {
      body_sync_solver(world, i); // all of its state follows from its pose
    }
  }
  if (world->joint_pool.capacity > 0) {
    memset(world->joints, 0, (size_t)world->joint_pool.capacity * sizeof(joint));
  }
  take(world->joints, s->joints, c->joints, sizeof(joint));
  if (world->coupling_pool.capacity > 0) {
    memset(world->couplings, 0, (size_t)world->coupling_pool.capacity * sizeof(coupling));
  }
  take(world->couplings, s->couplings, c->couplings, sizeof(coupling));
  world->joint_layout_stale = true;
  world->solver->joint_graph.block_count = 0;
  world->awake_list_stale = world->awake_list_lost = true;
}

static void restore_shapes(tn_world *world, const snapshot *s)
{
  const snapshot_counts *c = &s->header.count;
  take(world->geometries, s->geometries, c->geometries, sizeof(shared_geometry));
  take(world->shapes, s->shapes, c->shapes, sizeof(shape));
  take(world->pairs, s->pairs, c->pairs, sizeof(pair));
  take(world->contacts, s->contacts, c->contacts, sizeof(contact));
  world->solver->contact_graph.block_count = 0;
  world->detection->active_pair_count = 0;
  // Stamps count per world: reset them.
  for (uint64_t i = 0; i < c->shape_motions; ++i) {
    world->detection->shape_motions[i] = (shape_motion){.travel_bound = s->shape_motions[i]};
  }
  for (uint64_t i = 0; i < c->contacts; ++i) {
    world->contacts[i].params.material_version = 0;
  }
  world->detection->pending_shapes_stale = true;
}

static void restore_softs(tn_world *world, const snapshot *s)
{
  const snapshot_counts *c = &s->header.count;
  take(world->softs, s->softs, c->softs, sizeof(soft));
  take(world->attachments, s->attachments, c->attachments, sizeof(attachment));
  take(world->soft_touch_pairs, s->soft_touch_pairs, c->soft_touch_pairs, sizeof(soft_touch_pair));
  take(world->soft_contacts, s->soft_contacts, c->soft_contacts, sizeof(soft_contact));
  world->soft_touch_pair_count = (int32_t)c->soft_touch_pairs;
  world->soft_contact_count = (int32_t)c->soft_contacts;
  soft_graph_invalidate(&world->solver->soft_graph, &world->soft_layout_stale);
}

static void restore_settings(tn_world *world, const snapshot_header *h)
{
  world->gravity = h->gravity;
  world->method = (tn_method)h->method;
  world->substeps = h->substeps;
  world->iterations = h->iterations;
  world->sleeping = h->sleeping;
  world->sleep_speed = h->sleep_speed;
  world->sleep_time = h->sleep_time;
  world->play = h->play;
  world->last_h = h->last_h;
  world->break_event_count = world->move_count = 0;
  world->contact_event_count = world->published_contact_event_count = 0;
  world->sleep_event_count = world->published_sleep_event_count = 0;
  world->soft_event_count = world->published_soft_event_count = 0;
}

static void take_all(tn_world *world, const snapshot *s)
{
  release_old(world);
  restore_bodies(world, s);
  restore_shapes(world, s);
  restore_softs(world, s);
  restore_settings(world, &s->header);
#define TAKE(name, part) restore_pool(&world->name##_pool, &s->header.name##_pool);
  SNAPSHOT_POOLS(TAKE)
#undef TAKE
  body_restore_inertia(world);
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    rebind_body_ids(world, &world->joints[i]);
  }
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    rebind_coupling_ids(world, &world->couplings[i]);
  }
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    rebind_attachment_ids(world, &world->attachments[i]);
  }
  shapes_rebuild_trees(world);
}

static bool restore(tn_world *world, const void *buffer, size_t size, const tn_world *lender,
                    const char *caller)
{
  snapshot s = {0};
  char message[128] = "out of memory";
  const char *why = "the snapshot is truncated";
  const unsigned char *content = buffer ? (const unsigned char *)buffer + sizeof s.header : NULL;
  if (buffer && size >= sizeof s.header) {
    memcpy(&s.header, buffer, sizeof s.header);
    why = why_bad_header(&s.header, content, size - sizeof s.header);
  }
  bool opened = !why && open_snapshot(world, content, &s);
  bool has_softs = opened && snapshot_check_sizes(&s, message, sizeof message);
  bool has_geometries =
      has_softs && make_softs(world, &s) && snapshot_check(&s, message, sizeof message);
  bool ready = has_geometries && make_geometries(world, lender, &s, message, sizeof message) &&
               reserve(world, &s.header);
  if (ready) {
    take_all(world, &s);
    RECORD_STATE_OF(world);
  } else {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why ? why : message);
  }
  close_snapshot(world, &s, ready, has_softs, has_geometries);
  return ready;
}

bool tn_world_restore(tn_world *world, const void *buffer, size_t size)
{
  return world && restore(world, buffer, size, NULL, "tn_world_restore");
}

// The copy may be made by a thread of its own: only its own allocator is asked.
tn_world *tn_world_copy(const tn_world *world, const tn_world_def *def)
{
  tn_world *copy = world ? tn_world_create(def) : NULL;
  if (!copy) {
    return NULL;
  }
  size_t size = tn_world_save(world, NULL, 0);
  heap scratch = {.allocator = copy->heap.allocator};
  void *bytes = heap_alloc(&scratch, size);
  if (!bytes) {
    report(&copy->log, TN_LOG_ERROR, "tn_world_copy: out of memory");
  } else {
    tn_world_save(world, bytes, size);
  }
  bool ok = bytes && restore(copy, bytes, size, world, "tn_world_copy");
  heap_free(&scratch, bytes, size);
  if (!ok) {
    tn_world_destroy(copy);
    copy = NULL;
  }
  return copy;
}
