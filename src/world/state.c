// Saves and restores the dynamic state of a world: what differs between two worlds that have the
// same things in them.
//
// A restore copies the arrays of the world, writes the saved records over the copies, checks
// everything as a restore of a snapshot does, and only then changes the world. Trees and the layout
// of constraints stay as they are where they still hold: they have no influence on results.
#include "world/state.h"

#include "data/recorder.h"
#include "data/soft_bounds.h"
#include "data/soft_elements.h"
#include "detect/broad_phase.h"
#include "detect/detection.h"
#include "detect/pair_list.h"
#include "solver/joint/coupling_step.h"
#include "solver/joint/joint_layout.h"
#include "solver/soft/soft_steps.h"
#include "solver/solver.h"

#include <stdio.h>
#include <string.h>

#define STATE_MAGIC 0x4554415453ull // "STATE"
#define STATE_VERSION 2u
#define ALIGNMENT 64

static uint64_t layout_of_records(void)
{
  const uint32_t sizes[] = {sizeof(body),
                            sizeof(joint),
                            sizeof(coupling),
                            sizeof(shape),
                            sizeof(pair),
                            sizeof(contact),
                            sizeof(soft),
                            sizeof(soft_particle),
                            sizeof(attachment),
                            sizeof(soft_contact),
                            sizeof(soft_touch_pair),
                            sizeof(state_header)};
  return state_mix(HASH_START, sizes, sizeof sizes);
}

// The header is copied as bytes, because its padding counts and an assignment need not keep it.
uint64_t state_checksum(const state_header *header, const void *content)
{
  state_header h;
  memcpy(&h, header, sizeof h);
  h.checksum = 0;
  return state_mix(state_mix(HASH_START, &h, sizeof h), content, (size_t)h.size);
}

// ---------------------------------------------------------------------------------------------
// Save

// The header of a snapshot of this world, as far as records and checks need it.
static snapshot_header header_of(const tn_world *world)
{
  snapshot_header h = {.gravity = world->gravity,
                       .method = (int32_t)world->method,
                       .substeps = world->substeps,
                       .iterations = world->iterations,
                       .sleeping = world->sleeping,
                       .last_h = world->last_h,
                       .play = world->play};
#define COPY(name, part)                                                                           \
  h.name##_pool = world->name##_pool;                                                              \
  h.count.part = (uint64_t)world->name##_pool.used;
  SNAPSHOT_POOLS(COPY)
#undef COPY
  for (int32_t i = 0; i < world->geometry_pool.used; ++i) {
    h.count.sources += world->geometries[i].alive ? world->geometries[i].source_size : 0;
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    h.count.soft_data += world->softs[i].alive ? world->softs[i].size : 0;
  }
  h.count.soft_touch_pairs = (uint64_t)world->soft_touch_pair_count;
  h.count.soft_contacts = (uint64_t)world->soft_contact_count;
  return h;
}

// Travel bounds of all shapes, then their travel: see code_travel().
static double *travel_of_shapes(heap *h, const tn_world *world)
{
  int32_t count = world->shape_pool.used;
  double *bounds = heap_alloc(h, (size_t)(2 * count + 1) * sizeof *bounds);
  for (int32_t i = 0; bounds && i < count; ++i) {
    if (i < world->detection->shape_motion_capacity) {
      bounds[i] = world->detection->shape_motions[i].travel_bound;
    }
    if (world->shapes[i].alive) {
      bounds[count + i] = shape_travel(world, i);
    }
  }
  return bounds;
}

size_t tn_world_save_state(const tn_world *world, void *buffer, size_t capacity)
{
  if (!world) {
    return 0;
  }
  heap scratch = {.allocator = world->heap.allocator};
  snapshot s = {.header = header_of(world),
                .bodies = world->bodies,
                .states = world->state,
                .blocks = world->body_blocks,
                .joints = world->joints,
                .couplings = world->couplings,
                .shapes = world->shapes,
                .pairs = world->pairs,
                .contacts = world->contacts,
                .softs = world->softs,
                .attachments = world->attachments,
                .soft_touch_pairs = world->soft_touch_pairs,
                .soft_contacts = world->soft_contacts};
  s.shape_motions = travel_of_shapes(&scratch, world);
  if (!s.shape_motions) {
    report(&world->log, TN_LOG_ERROR, "tn_world_save_state: out of memory");
    return 0;
  }
  state_header h;
  memset(&h, 0, sizeof h); // with the padding, which the checksum covers
  h.magic = STATE_MAGIC;
  h.version = STATE_VERSION;
  h.last_h = world->last_h;
  h.layout = layout_of_records();
  h.things = state_things(world);
  h.masses = state_masses(world);
  h.pair_pool = world->pair_pool;
  h.contact_pool = world->contact_pool;
  h.pair_pool.capacity = h.contact_pool.capacity = 0;
  h.soft_touch_pairs = (uint32_t)world->soft_touch_pair_count;
  h.soft_contacts = (uint32_t)world->soft_contact_count;
  bool fits = buffer && capacity > sizeof h;
  unsigned char *content = fits ? (unsigned char *)buffer + sizeof h : NULL;
  state_coder c = {.saving = true, .bytes = content, .size = fits ? capacity - sizeof h : 0};
  state_code_records(&c, &s, world);
  heap_free(&scratch, s.shape_motions,
            (size_t)(2 * world->shape_pool.used + 1) * sizeof *s.shape_motions);
  h.size = c.at;
  if (fits && c.at <= c.size) {
    h.checksum = state_checksum(&h, content);
    memcpy(buffer, &h, sizeof h);
  }
  return sizeof h + c.at;
}

// ---------------------------------------------------------------------------------------------
// Restore: copies of the arrays

static bool is_pool(const pool *list, uint64_t most)
{
  return list->used >= 0 && list->count >= 0 && list->count <= list->used &&
         (uint64_t)list->used <= most;
}

static const char *why_bad_header(const tn_world *world, const state_header *h,
                                  const unsigned char *content, size_t size)
{
  if (h->magic != STATE_MAGIC) {
    return "this is no state of tn_world_save_state()";
  }
  if (h->version != STATE_VERSION || h->layout != layout_of_records()) {
    return "the state is of another version or machine type";
  }
  if (h->size > size) {
    return "the state is truncated";
  }
  if (state_checksum(h, content) != h->checksum) {
    return "the state is damaged";
  }
  if (h->things != state_things(world)) {
    return "the world does not have the same bodies, joints, shapes and soft bodies as the one "
           "that "
           "was saved";
  }
  // Every pair, contact and free slot takes a byte.
  if (!is_pool(&h->pair_pool, h->size) || !is_pool(&h->contact_pool, h->size) ||
      h->soft_touch_pairs > h->size || h->soft_contacts > h->size || !(h->last_h >= 0.0f) ||
      !(h->last_h < 1e30f)) {
    return "the state is damaged at its counts";
  }
  return NULL;
}

static size_t aligned(size_t size)
{
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// Takes `count` elements from the memory of `s`, filled from `from` unless that is null.
static void *take_copy(snapshot *s, const void *from, uint64_t count, size_t size)
{
  char *at = s->memory ? (char *)s->memory + s->size : NULL;
  s->size += aligned((size_t)count * size);
  if (at && from && count > 0) {
    memcpy(at, from, (size_t)count * size);
  }
  return at;
}

// The copies of all arrays, or, while `memory` is null, their size.
static void copy_arrays(const tn_world *world, snapshot *s)
{
  const snapshot_counts *n = &s->header.count;
  uint64_t blocks = (n->bodies + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
  s->size = 0;
  s->bodies = take_copy(s, world->bodies, n->bodies, sizeof(body));
  s->states = take_copy(s, world->state, n->bodies, sizeof(body_state));
  s->blocks = take_copy(s, world->body_blocks, blocks, sizeof(body_block));
  s->joints = take_copy(s, world->joints, n->joints, sizeof(joint));
  s->couplings = take_copy(s, world->couplings, n->couplings, sizeof(coupling));
  s->shapes = take_copy(s, world->shapes, n->shapes, sizeof(shape));
  s->shape_motions = take_copy(s, NULL, 2 * n->shapes, sizeof(double));
  s->pairs = take_copy(s, NULL, n->pairs, sizeof(pair));
  s->contacts = take_copy(s, NULL, n->contacts, sizeof(contact));
  s->softs = take_copy(s, world->softs, n->softs, sizeof(soft));
  s->attachments = take_copy(s, world->attachments, n->attachments, sizeof(attachment));
  s->soft_touch_pairs = take_copy(s, NULL, n->soft_touch_pairs, sizeof(soft_touch_pair));
  s->soft_contacts = take_copy(s, NULL, n->soft_contacts, sizeof(soft_contact));
  for (uint64_t i = 0; i < n->softs; ++i) {
    const soft *from = &world->softs[i];
    void *memory = take_copy(s, from->memory, from->alive ? from->size : 0, 1);
    if (s->memory && from->alive) {
      s->softs[i].memory = memory;
      soft_assign_arrays(&s->softs[i], memory);
    }
  }
}

static bool open_state(tn_world *world, const state_header *h, snapshot *s)
{
  s->header = header_of(world);
  s->header.last_h = h->last_h;
  s->header.pair_pool = h->pair_pool;
  s->header.contact_pool = h->contact_pool;
  s->header.count.pairs = (uint64_t)h->pair_pool.used;
  s->header.count.contacts = (uint64_t)h->contact_pool.used;
  s->header.count.soft_touch_pairs = h->soft_touch_pairs;
  s->header.count.soft_contacts = h->soft_contacts;
  copy_arrays(world, s);
  s->memory = heap_alloc(&world->heap, s->size);
  if (!s->memory) {
    return false;
  }
  copy_arrays(world, s);
  s->geometries = world->geometries;
  for (int32_t i = 0; i < s->header.joint_pool.used; ++i) {
    s->joints[i].block = s->joints[i].direct = NO_SLOT;
  }
  for (int32_t i = 0; i < s->header.coupling_pool.used; ++i) {
    s->couplings[i].direct = NO_SLOT;
  }
  return true;
}

// With other masses the angular momenta are those of the saved angular velocities.
static void refit_momenta(const tn_world *world, snapshot *s)
{
  for (int32_t i = 0; i < s->header.body_pool.used; ++i) {
    float(*spin)[BLOCK_WIDTH] = s->blocks[i / BLOCK_WIDTH].spin;
    AngularState angular;
    get_lane(spin, i % BLOCK_WIDTH, &angular, FIELDS(AngularState));
    if (world->bodies[i].alive && world->bodies[i].type == TN_BODY_DYNAMIC) {
      body_update_momentum(&s->states[i], &angular);
      set_lane(spin, i % BLOCK_WIDTH, &angular, FIELDS(AngularState));
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Restore: into the world

static bool reserve_contacts(tn_world *world, const snapshot *s)
{
  const snapshot_counts *n = &s->header.count;
  return heap_reserve(&world->heap, (void **)&world->pairs, &world->pair_pool.capacity,
                      (int32_t)n->pairs, sizeof(pair)) &&
         heap_reserve(&world->heap, (void **)&world->contacts, &world->contact_pool.capacity,
                      (int32_t)n->contacts, sizeof(contact)) &&
         heap_reserve(&world->heap, (void **)&world->soft_touch_pairs,
                      &world->soft_touch_pair_capacity, (int32_t)n->soft_touch_pairs,
                      sizeof(soft_touch_pair)) &&
         heap_reserve(&world->heap, (void **)&world->soft_contacts, &world->soft_contact_capacity,
                      (int32_t)n->soft_contacts, sizeof(soft_contact)) &&
         heap_reserve(&world->heap, (void **)&world->detection->shape_motions,
                      &world->detection->shape_motion_capacity, world->shape_pool.used,
                      sizeof(shape_motion));
}

static void take(void *to, const void *from, uint64_t count, size_t size)
{
  if (count > 0) {
    memcpy(to, from, (size_t)count * size);
  }
}

static void take_bodies(tn_world *world, const snapshot *s)
{
  const snapshot_counts *n = &s->header.count;
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    if (world->bodies[i].asleep != s->bodies[i].asleep) {
      world->awake_list_stale = world->awake_list_lost = true;
      world->joint_layout_stale = world->joint_layout_stale || has_links(&world->bodies[i]);
    }
  }
  take(world->bodies, s->bodies, n->bodies, sizeof(body));
  take(world->state, s->states, n->bodies, sizeof(body_state));
  take(world->body_blocks, s->blocks, (n->bodies + BLOCK_WIDTH - 1) / BLOCK_WIDTH,
       sizeof(body_block));
  body_restore_inertia(world);
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    if (world->bodies[i].asleep) {
      body_sync_solver(world, i); // no step writes its lane
    }
  }
}

// The next layout clears joints and couplings that cannot act. Restored as they were before it,
// they need it again.
static bool joint_waits_for_layout(const tn_world *world, const joint *j)
{
  if (!j->alive || (j->def.enabled && (world->bodies[j->slot[0]].type == TN_BODY_DYNAMIC ||
                                       world->bodies[j->slot[1]].type == TN_BODY_DYNAMIC))) {
    return false;
  }
  joint cleared;
  memcpy(&cleared, j, sizeof cleared);
  joint_clear_impulses(&cleared);
  return memcmp(&cleared, j, sizeof cleared) != 0;
}

static bool coupling_waits_for_layout(const tn_world *world, const coupling *k)
{
  if (!k->alive || coupling_is_active(world, k)) {
    return false;
  }
  coupling cleared;
  memcpy(&cleared, k, sizeof cleared);
  coupling_clear_impulses(&cleared);
  return memcmp(&cleared, k, sizeof cleared) != 0;
}

// The layout of joints depends on which of them are enabled and on what their axes have.
static void take_joints(tn_world *world, const snapshot *s)
{
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    joint *j = &world->joints[i], before = *j;
    *j = s->joints[i];
    j->block = before.block;
    j->lane = before.lane;
    j->direct = before.direct;
    if (j->alive &&
        (j->def.enabled != before.def.enabled || j->axis_features != before.axis_features ||
         joint_waits_for_layout(world, j))) {
      world->joint_layout_stale = true;
    }
    if (j->alive && j->block != NO_SLOT) {
      joint_pack(world, i);
    }
  }
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    coupling *k = &world->couplings[i];
    int32_t direct = k->direct;
    if (k->alive && k->def.enabled != s->couplings[i].def.enabled) {
      world->joint_layout_stale = true;
    }
    *k = s->couplings[i];
    k->direct = direct;
    world->joint_layout_stale = world->joint_layout_stale || coupling_waits_for_layout(world, k);
  }
}

static void take_shapes(tn_world *world, const snapshot *s)
{
  const snapshot_counts *n = &s->header.count;
  for (int32_t i = 0; i < world->shape_pool.used; ++i) {
    const shape *k = &s->shapes[i];
    if (k->alive && memcmp(&k->box, &world->shapes[i].box, sizeof k->box) != 0) {
      tree_move_lazily(k->is_static ? &world->detection->static_tree
                                    : &world->detection->moving_tree,
                       k->tree_leaf, k->box);
    }
    world->detection->shape_motions[i] = (shape_motion){.travel_bound = s->shape_motions[i]};
  }
  trees_refit(world);
  take(world->shapes, s->shapes, n->shapes, sizeof(shape));
  take(world->pairs, s->pairs, n->pairs, sizeof(pair));
  take(world->contacts, s->contacts, n->contacts, sizeof(contact));
  int32_t pairs = world->pair_pool.capacity, contacts = world->contact_pool.capacity;
  world->pair_pool = s->header.pair_pool;
  world->contact_pool = s->header.contact_pool;
  world->pair_pool.capacity = pairs;
  world->contact_pool.capacity = contacts;
  world->solver->contact_graph.block_count = 0;
  world->detection->active_pair_count = 0;
  world->detection->pending_shapes_stale = true;
}

static void take_softs(tn_world *world, const snapshot *s)
{
  const snapshot_counts *n = &s->header.count;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    soft *k = &world->softs[i];
    void *memory = k->memory;
    int32_t first = k->first;
    if (k->alive) {
      memcpy(memory, s->softs[i].memory, k->size);
      *k = s->softs[i];
      k->memory = memory;
      k->first = first;
      soft_assign_arrays(k, memory);
    }
  }
  take(world->attachments, s->attachments, n->attachments, sizeof(attachment));
  take(world->soft_touch_pairs, s->soft_touch_pairs, n->soft_touch_pairs, sizeof(soft_touch_pair));
  take(world->soft_contacts, s->soft_contacts, n->soft_contacts, sizeof(soft_contact));
  world->soft_touch_pair_count = (int32_t)n->soft_touch_pairs;
  world->soft_contact_count = (int32_t)n->soft_contacts;
  if (world->soft_pool.count > 0) {
    soft_graph_invalidate(&world->solver->soft_graph, &world->soft_layout_stale);
  }
}

static void take_all(tn_world *world, const snapshot *s)
{
  take_bodies(world, s);
  take_joints(world, s);
  take_shapes(world, s);
  take_softs(world, s);
  world->last_h = s->header.last_h;
  world->break_event_count = world->move_count = 0;
  world->contact_event_count = world->published_contact_event_count = 0;
  world->sleep_event_count = world->published_sleep_event_count = 0;
  world->soft_event_count = world->published_soft_event_count = 0;
}

bool tn_world_restore_state(tn_world *world, const void *buffer, size_t size)
{
  if (!world) {
    return false;
  }
  state_header h = {0};
  snapshot s = {0};
  char message[160] = "out of memory";
  const char *why = "the state is truncated";
  const unsigned char *content = buffer ? (const unsigned char *)buffer + sizeof h : NULL;
  if (buffer && size >= sizeof h) {
    memcpy(&h, buffer, sizeof h);
    why = why_bad_header(world, &h, content, size - sizeof h);
  }
  bool ready = !why && open_state(world, &h, &s);
  if (ready) {
    state_coder c = {.from = content, .size = (size_t)h.size};
    state_code_records(&c, &s, NULL);
    ready = !c.failed && c.at == c.size;
    if (!ready) {
      snprintf(message, sizeof message, "the state is damaged at byte %zu", sizeof h + c.at);
    }
    ready = ready && snapshot_check_sizes(&s, message, sizeof message) &&
            snapshot_check(&s, message, sizeof message) && reserve_contacts(world, &s);
  }
  if (ready) {
    if (h.masses != state_masses(world)) {
      refit_momenta(world, &s);
    }
    take_all(world, &s);
    RECORD_STATE_OF(world);
  } else {
    report(&world->log, TN_LOG_ERROR, "tn_world_restore_state: %s", why ? why : message);
  }
  heap_free(&world->heap, s.memory, s.size);
  return ready;
}
