// A world: creation, settings and counters.
#include "data/world.h"
#include "data/events.h"
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "detect/broad_phase.h"
#include "detect/detection.h"
#include "detect/pair_list.h"
#include "detect/soft_contacts.h"
#include "kernel/ranges.h"
#include "kernel/soft_tuning.h"
#include "solver/joint/joint_layout.h"
#include "solver/mechanism/mechanism_tuning.h"
#include "solver/moves.h"
#include "solver/soft/soft_steps.h"
#include "solver/solver.h"
#include "world/checks.h"
#include "world/lifetime.h"

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE // NOLINT: for madvise
#endif

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

// ---------------------------------------------------------------------------------------------
// Memory

static void *default_alloc(size_t size, size_t alignment, void *context)
{
  (void)context;
#if defined(MADV_HUGEPAGE)
  // Huge pages: bodies and contacts are accessed all over many megabytes, and with small pages each
  // access would miss the TLB.
  const size_t page = (size_t)1 << 21;
  if (size >= page) {
    size_t whole = (size + page - 1) / page * page;
    void *memory = aligned_alloc(page, whole);
    if (memory) {
      (void)madvise(memory, whole, MADV_HUGEPAGE);
    }
    return memory;
  }
#endif
  return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void default_release(void *memory, size_t size, void *context)
{
  (void)size, (void)context;
  free(memory);
}

// ---------------------------------------------------------------------------------------------
// Create and destroy

static bool has_avx2(void)
{
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

static bool has_avx512(void)
{
#if defined(__x86_64__) || defined(__i386__)
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

extern const solver_ops solver_ops_16;

// The build option TN_NO_SCALAR leaves out the code for one lane, for modules that must be small.
#if defined(TN_NO_SCALAR)
#define NARROWEST(ops) &ops##_4
#else
#define NARROWEST(ops) &ops##_1
#endif

static const solver_ops *find_ops(int lanes)
{
  switch (lanes) {
#if !defined(TN_NO_SCALAR)
  case 1:
    return &solver_ops_1;
#endif
#if !defined(TN_ONE_LANE)
  case 4:
    return &solver_ops_4;
#if defined(__x86_64__) || defined(__i386__)
  case 8:
    return has_avx2() ? &solver_ops_8 : NULL;
  case 16: // only passes over bodies and contacts; others use 8 lanes
    return has_avx512() ? &solver_ops_16 : NULL;
#endif
#endif
  default:
    return NULL;
  }
}

static const contact_ops *find_contact_ops(int lanes)
{
#if !defined(TN_ONE_LANE)
#if defined(__x86_64__) || defined(__i386__)
  if (lanes == 16) {
    return &contact_ops_16;
  }
  if (lanes == 8) {
    return &contact_ops_8;
  }
#endif
  if (lanes == 4) {
    return &contact_ops_4;
  }
#endif
  (void)lanes;
  return NARROWEST(contact_ops);
}

static const soft_ops *find_soft_ops(int lanes)
{
#if !defined(TN_ONE_LANE)
#if defined(__x86_64__) || defined(__i386__)
  if (lanes >= 8) {
    return &soft_ops_8;
  }
#endif
  if (lanes == 4) {
    return &soft_ops_4;
  }
#endif
  (void)lanes;
  return NARROWEST(soft_ops);
}

static const direct_ops *find_direct_ops(int lanes)
{
#if !defined(TN_ONE_LANE)
#if defined(__x86_64__) || defined(__i386__)
  if (lanes >= 8) {
    return &direct_ops_8;
  }
#endif
  if (lanes == 4) {
    return &direct_ops_4;
  }
#endif
  (void)lanes;
  return NARROWEST(direct_ops);
}

static const ball_ops *find_ball_ops(int lanes)
{
#if !defined(TN_ONE_LANE)
#if defined(__x86_64__) || defined(__i386__)
  if (lanes >= 8) {
    return &ball_ops_8;
  }
#endif
  if (lanes == 4) {
    return &ball_ops_4;
  }
#endif
  (void)lanes;
  return NARROWEST(ball_ops);
}

static int widest_lanes(void)
{
  for (int lanes = 16; lanes > 1; lanes /= 2) {
    if (find_ops(lanes)) {
      return lanes;
    }
  }
  return 1;
}

tn_world_def tn_default_world_def(void)
{
  tn_world_def def = {0};
  def.gravity = tn_v3(0.0f, -9.81f, 0.0f);
  def.method = TN_METHOD_TENON;
  def.sleeping = true;
  def.substeps = TN_QUALITY_DEFAULT;
  def.iterations = 1;
  def.play = TUNING_PLAY;
  def.threads = 1;
  def.limits = (tn_limits){10000000, 100000, SOFT_MAX_VERTICES, 0};
  def.cookie = DEF_COOKIE;
  return def;
}

bool is_method(tn_method method)
{
  return method == TN_METHOD_TENON || method == TN_METHOD_XPBD || method == TN_METHOD_JACOBI;
}

const char *counts_problem(int substeps, int iterations)
{
  if (substeps < 1 || substeps > 10000) {
    return "substeps must be from 1 to 10000";
  }
  return iterations < 1 || iterations > 10000 ? "iterations must be from 1 to 10000" : NULL;
}

bool is_play(float x)
{
  return x >= 0.0f && x <= 0.1f;
}

bool is_sleep_setting(float x)
{
  return x >= 0.0f && x <= 1e6f;
}

static const char *world_def_error(const tn_world_def *def)
{
  if (def->cookie != DEF_COOKIE) {
    return "the definition does not come from tn_default_world_def";
  }
  if (!is_rate(def->gravity)) {
    return "gravity is not finite or too large";
  }
  if (!is_method(def->method)) {
    return "unknown method";
  }
  if (counts_problem(def->substeps, def->iterations)) {
    return counts_problem(def->substeps, def->iterations);
  }
  if (def->threads < 1 || def->threads > 64) {
    return "threads must be from 1 to 64";
  }
  if (!is_sleep_setting(def->sleep_speed) || !is_sleep_setting(def->sleep_time)) {
    return "sleep_speed and sleep_time must be from 0 to 1e6";
  }
  if (!is_play(def->play)) {
    return "play must be from 0 to 0.1";
  }
  const tn_limits *l = &def->limits;
  if (l->pairs < 0 || l->shape_pairs < 0 || l->particles < 0) {
    return "limits must not be negative";
  }
  if (def->lanes != 0 && !find_ops(def->lanes)) {
    return "this machine has no such lanes";
  }
  if (!def->enqueue != !def->finish || !def->allocator.alloc != !def->allocator.release) {
    return "set both hooks of a pair, or none";
  }
  return NULL;
}

// Unique in the process; it only serves to detect ids of another world.
static uint32_t next_world_id(void)
{
  static atomic_uint world_id;
  return atomic_fetch_add(&world_id, 1) + 1;
}

// A world and what lies behind its pointers, in one allocation.
typedef struct world_memory {
  tn_world world;
  detection detection;
  solver solver;
} world_memory;

static void fill_world(tn_world *world, const tn_world_def *def, tn_allocator allocator)
{
  world_memory *memory = (world_memory *)world;
  memset(memory, 0, sizeof *memory);
  world->detection = &memory->detection;
  world->solver = &memory->solver;
  world->heap.allocator = allocator;
  world->log = (log_sink){def->log ? def->log : log_to_stderr, def->log_context,
                          def->log_repeats ? NULL : &world->log_history};
  world->user_data = def->user_data;
  world->heap.bytes = sizeof *memory;
  world->world_id = next_world_id();
  world->gravity = def->gravity;
  world->method = def->method;
  world->substeps = def->substeps;
  world->iterations = def->iterations;
  world->solver->groups.arena_count = def->threads > 1 ? def->threads : 1;
  world->lanes = def->lanes ? def->lanes : widest_lanes();
  world->threads = def->threads;
  world->solver->ops = find_ops(world->lanes);
  world->solver->contact_ops = find_contact_ops(world->lanes);
  world->detection->collide_capsule_batch = world->solver->contact_ops->collide_capsule_batch;
  world->solver->soft_ops = find_soft_ops(world->lanes);
  world->solver->direct_ops = find_direct_ops(world->lanes);
  world->solver->ball_ops = find_ball_ops(world->lanes);
  world->material_version = 1;
  world->sleeping = def->sleeping;
  world->sleep_speed = def->sleep_speed;
  world->sleep_time = def->sleep_time;
  world->play = def->play;
  world->limits = def->limits;
  world->heap.limit = def->limits.bytes;
  world->clock = def->clock;
  world->body_pool.first_free = NO_SLOT;
  world->joint_pool.first_free = NO_SLOT;
  world->coupling_pool.first_free = NO_SLOT;
  world->geometry_pool.first_free = NO_SLOT;
  world->shape_pool.first_free = NO_SLOT;
  world->pair_pool.first_free = NO_SLOT;
  world->contact_pool.first_free = NO_SLOT;
  world->soft_pool.first_free = NO_SLOT;
  world->attachment_pool.first_free = NO_SLOT;
  world->soft_layout_stale = true;
  world->joint_layout_stale = true;
  world->awake_list_stale = world->awake_list_lost = true;
}

tn_world *tn_world_create(const tn_world_def *def)
{
  tn_log_fn *log = def && def->cookie == DEF_COOKIE && def->log ? def->log : log_to_stderr;
  void *log_context = log == log_to_stderr ? NULL : def->log_context;
  const char *why = def ? world_def_error(def) : "the definition is null";
  char message[128];
  if (why) {
    snprintf(message, sizeof message, "tn_world_create: %s", why);
    log(TN_LOG_ERROR, message, log_context);
    return NULL;
  }
  tn_allocator allocator = def->allocator;
  if (!allocator.alloc) {
    allocator = (tn_allocator){default_alloc, default_release, NULL};
  }
  tn_world *world = allocator.alloc(sizeof(world_memory), 64, allocator.context);
  if (world) {
    fill_world(world, def, allocator);
    world->tasks =
        task_pool_create(def->threads, def->enqueue, def->finish, def->task_context, &allocator);
    if (world->tasks && body_reserve(world, 1)) {
      body_create_static_world(world);
      return world;
    }
    tn_world_destroy(world);
  }
  log(TN_LOG_ERROR, "tn_world_create: out of memory or threads", log_context);
  return NULL;
}

#define RELEASE_ARRAY(array, count)                                                                \
  heap_free(&world->heap, world->array, (size_t)(count) * sizeof *world->array)

static void release_contacts(tn_world *world)
{
  geometry_release_all(world);
  tree_release(&world->heap, &world->detection->static_tree);
  tree_release(&world->heap, &world->detection->moving_tree);
  contact_graph_release(world);
  RELEASE_ARRAY(shapes, world->shape_pool.capacity);
  RELEASE_ARRAY(pairs, world->pair_pool.capacity);
  RELEASE_ARRAY(contacts, world->contact_pool.capacity);
  RELEASE_ARRAY(detection->pending_shapes, world->detection->pending_shape_capacity);
  RELEASE_ARRAY(detection->candidates, world->detection->candidate_capacity);
  RELEASE_ARRAY(detection->body_marks, world->detection->body_mark_capacity);
  broad_phase_release(world);
  pair_list_release(world);
  RELEASE_ARRAY(detection->sort_places, world->detection->sort_place_capacity);
  RELEASE_ARRAY(detection->sweep_flags, world->detection->sweep_flag_capacity);
  RELEASE_ARRAY(detection->sweep_orders, world->detection->sweep_order_capacity);
  RELEASE_ARRAY(detection->active_pairs, world->detection->active_pair_capacity);
  RELEASE_ARRAY(detection->found, world->detection->found_capacity);
  RELEASE_ARRAY(detection->found_manifolds, world->detection->found_manifold_capacity);
  RELEASE_ARRAY(contact_events, world->contact_event_capacity);
  RELEASE_ARRAY(sleep_events, world->sleep_event_capacity);
  RELEASE_ARRAY(moves, world->move_capacity);
  RELEASE_ARRAY(awake, world->awake_capacity);
  RELEASE_ARRAY(awake_scratch, world->awake_scratch_capacity);
  RELEASE_ARRAY(changed_bodies, world->changed_body_capacity);
  RELEASE_ARRAY(active_blocks, world->active_block_capacity);
  RELEASE_ARRAY(solver->island_parent, world->solver->island_capacity);
  RELEASE_ARRAY(solver->island_rest, world->solver->island_rest_capacity);
  RELEASE_ARRAY(solver->island_ring_tail, world->solver->island_ring_tail_capacity);
}

static void release_content(tn_world *world)
{
  size_t n = (size_t)world->body_pool.capacity;
  heap_free(&world->heap, world->bodies, n * sizeof *world->bodies);
  heap_free(&world->heap, world->state, n * sizeof *world->state);
  heap_free(&world->heap, world->inertia, n * sizeof *world->inertia);
  heap_free(&world->heap, world->corrections, n * sizeof *world->corrections);
  heap_free(&world->heap, world->body_blocks, n / BLOCK_WIDTH * sizeof *world->body_blocks);
  heap_free(&world->heap, world->joints,
            (size_t)world->joint_pool.capacity * sizeof *world->joints);
  heap_free(&world->heap, world->couplings,
            (size_t)world->coupling_pool.capacity * sizeof *world->couplings);
  joint_graph_release(world);
  release_contacts(world);
  attachments_release(world);
  soft_contacts_release(world);
  soft_contact_layout_release(&world->heap, &world->solver->soft_graph.data,
                              &world->solver->soft_contact_coloring);
  soft_events_release(world);
  softs_release(world);
  start_release(world);
}

void tn_world_destroy(tn_world *world)
{
  if (!world) {
    return;
  }
  if (world->tasks) {
    task_pool_destroy(world->tasks);
  }
  tn_world_record_calls(world, NULL);
  release_content(world);
  tn_allocator allocator = world->heap.allocator;
  allocator.release(world, sizeof(world_memory), allocator.context);
}

// ---------------------------------------------------------------------------------------------
// Settings

bool tn_world_set_gravity(tn_world *world, tn_vec3 gravity)
{
  RECORD(world, tn_world_set_gravity, &gravity);
  if (!world) {
    return false;
  }
  if (!is_rate(gravity)) {
    report(&world->log, TN_LOG_ERROR, "tn_world_set_gravity: gravity is not finite or too large");
    return false;
  }
  world->gravity = gravity;
  wake_all(world);
  return true;
}

tn_vec3 tn_world_gravity(const tn_world *world)
{
  return world ? world->gravity : tn_v3(0.0f, 0.0f, 0.0f);
}

// Warm starts of one method are of no use to another.
static void clear_joint_impulses(tn_world *world)
{
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    joint *j = &world->joints[i];
    joint_clear_impulses(j);
    if (j->alive && j->block != NO_SLOT) {
      joint_pack(world, i);
    }
  }
}

bool tn_world_set_method(tn_world *world, tn_method method)
{
  RECORD(world, tn_world_set_method, &method);
  if (!world) {
    return false;
  }
  if (!is_method(method)) {
    report(&world->log, TN_LOG_ERROR, "tn_world_set_method: unknown method");
    return false;
  }
  if (method != TN_METHOD_TENON && world->coupling_pool.count > 0) {
    report(&world->log, TN_LOG_ERROR,
           "tn_world_set_method: only TN_METHOD_TENON solves couplings; destroy them first");
    return false;
  }
  if (method != world->method) {
    clear_joint_impulses(world);
    for (int32_t i = 0; i < world->contact_pool.used; ++i) {
      contact_clear_impulses(&world->contacts[i]);
    }
    world->method = method;
    world->joint_layout_stale = true;
  }
  return true;
}

tn_method tn_world_method(const tn_world *world)
{
  return world ? world->method : TN_METHOD_TENON;
}

bool tn_world_set_substeps(tn_world *world, int substeps)
{
  RECORD(world, tn_world_set_substeps, &substeps);
  if (!world) {
    return false;
  }
  const char *why = counts_problem(substeps, world->iterations);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_world_set_substeps: %s", why);
    return false;
  }
  world->substeps = substeps;
  return true;
}

int tn_world_substeps(const tn_world *world)
{
  return world ? world->substeps : 0;
}

int tn_substeps_for(tn_quality quality, float gravity, float size, float dt)
{
  const int fewest = 2, most = 10000;
  if ((int)quality < 1 || !(gravity >= 0.0f) || !(size > 0.0f) || !(dt > 0.0f && dt <= 10.0f)) {
    return 0;
  }
  // Keeps g h^2 / size equal to that of bodies of 1 m on Earth with steps of 1/60 s.
  float substeps = (float)quality * 60.0f * dt * sqrtf(gravity / 9.81f / size);
  if (!(substeps < (float)most)) {
    return most;
  }
  int whole = (int)(substeps + 0.999f);
  return whole < fewest ? fewest : whole;
}

bool tn_world_set_iterations(tn_world *world, int iterations)
{
  RECORD(world, tn_world_set_iterations, &iterations);
  if (!world) {
    return false;
  }
  const char *why = counts_problem(world->substeps, iterations);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_world_set_iterations: %s", why);
    return false;
  }
  world->iterations = iterations;
  return true;
}

int tn_world_iterations(const tn_world *world)
{
  return world ? world->iterations : 0;
}

bool tn_world_set_play(tn_world *world, float play)
{
  RECORD(world, tn_world_set_play, &play);
  if (!world) {
    return false;
  }
  if (!is_play(play)) {
    report(&world->log, TN_LOG_ERROR, "tn_world_set_play: play must be from 0 to 0.1");
    return false;
  }
  world->play = play;
  return true;
}

float tn_world_play(const tn_world *world)
{
  return world ? world->play : 0.0f;
}

void *tn_world_user_data(const tn_world *world)
{
  return world ? world->user_data : NULL;
}

bool tn_world_set_user_data(tn_world *world, void *data)
{
  if (world) {
    world->user_data = data;
  }
  return world != NULL;
}

tn_pair_filter_fn *tn_world_pair_filter(const tn_world *world, void **context)
{
  if (context) {
    *context = world ? world->pair_filter_context : NULL;
  }
  return world ? world->pair_filter : NULL;
}

int tn_world_lanes(const tn_world *world)
{
  return world ? world->lanes : 0;
}

tn_profile tn_world_profile(const tn_world *world)
{
  return world ? world->profile : (tn_profile){0};
}

static void count_softs(const tn_world *world, tn_counters *c)
{
  c->softs = world->soft_pool.count;
  c->touches = world->soft_contact_count;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *s = &world->softs[i];
    c->particles += s->alive ? s->particle_count : 0;
    for (int type = 0; s->alive && type < SOFT_TYPE_COUNT; ++type) {
      c->soft_rows += s->list[type].count;
    }
  }
}

tn_counters tn_world_counters(const tn_world *world)
{
  tn_counters c = {0};
  if (world) {
    c.bodies = world->body_pool.count;
    c.joints = world->joint_pool.count;
    c.colors = world->solver->joint_graph.coloring.count;
    c.blocks = world->solver->joint_graph.block_count;
    c.shapes = world->shape_pool.count;
    c.geometries = world->geometry_pool.count;
    c.pairs = world->pair_pool.count;
    c.contacts = world->contact_pool.count;
    for (int32_t i = 0; i < world->contact_pool.used; ++i) {
      c.points += world->contacts[i].alive ? world->contacts[i].manifold.count : 0;
    }
    for (int32_t i = 0; i < world->body_pool.used; ++i) {
      c.awake += moves(&world->bodies[i]) && world->bodies[i].type == TN_BODY_DYNAMIC;
    }
    c.swept = world->detection->sweep_stop_count;
    count_softs(world, &c);
    c.bytes = world->heap.bytes;
  }
  return c;
}

int tn_world_bodies(const tn_world *world, tn_body_id *ids, int capacity)
{
  int count = 0;
  for (int32_t i = WORLD_SLOT + 1; world && i < world->body_pool.used; ++i) {
    if (world->bodies[i].alive) {
      if (ids && count < capacity) {
        ids[count] = body_id_at(world, i);
      }
      count += 1;
    }
  }
  return count;
}

int tn_world_joints(const tn_world *world, tn_joint_id *ids, int capacity)
{
  int count = 0;
  for (int32_t i = 0; world && i < world->joint_pool.used; ++i) {
    if (world->joints[i].alive) {
      if (ids && count < capacity) {
        ids[count] = joint_id_at(world, i);
      }
      count += 1;
    }
  }
  return count;
}

const tn_joint_break_event *tn_world_joint_breaks(const tn_world *world, int *count)
{
  if (count) {
    *count = world ? world->break_event_count : 0;
  }
  return world && world->break_event_count > 0 ? world->break_events : NULL;
}
