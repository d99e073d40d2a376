// A batch: an original that no one sees, which owns the geometries, and copies of it.
#include "batch_data.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Messages

static void to_stderr(tn_log_level level, const char *message, void *context)
{
  (void)level, (void)context;
  fprintf(stderr, "%s\n", message);
}

static void pass_on(tn_batch *batch, tn_log_level level, const char *message)
{
  pthread_mutex_lock(&batch->log_lock);
  batch->log(level, message, batch->log_context);
  pthread_mutex_unlock(&batch->log_lock);
}

static void log_of_world(tn_log_level level, const char *message, void *context)
{
  const batch_world *w = context;
  char text[1200];
  snprintf(text, sizeof text, "world %d: %s", w->index, message);
  pass_on(w->batch, level, text);
}

static void log_list(tn_batch *batch, tn_log_level level, const char *format, va_list list)
{
  char text[256];
  vsnprintf(text, sizeof text, format, list);
  pass_on(batch, level, text);
}

bool batch_refuse(tn_batch *batch, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  log_list(batch, TN_LOG_ERROR, format, list);
  va_end(list);
  return false;
}

void batch_warn(tn_batch *batch, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  log_list(batch, TN_LOG_WARNING, format, list);
  va_end(list);
}

// ---------------------------------------------------------------------------------------------
// Memory

static void *take(size_t size, size_t alignment, void *context)
{
  (void)alignment, (void)context; // numbers and ids
  return malloc(size);
}

static void give_back(void *memory, size_t size, void *context)
{
  (void)size, (void)context;
  free(memory);
}

static const tn_allocator memory = {take, give_back, NULL};

// ---------------------------------------------------------------------------------------------
// Create and destroy

tn_batch_def tn_default_batch_def(void)
{
  tn_batch_def def = {.threads = 1, .cookie = BATCH_COOKIE};
  return def;
}

static const char *problem_of(const tn_batch_def *def)
{
  if (!def || def->cookie != BATCH_COOKIE) {
    return "the definition does not come from tn_default_batch_def";
  }
  if (!def->world) {
    return "there is no world to copy";
  }
  if (def->count < 1) {
    return "count must be 1 or more";
  }
  return def->threads < 1 || def->threads > 256 ? "threads must be from 1 to 256" : NULL;
}

static tn_world_def def_of_worlds(const tn_batch *b, batch_world *w)
{
  tn_world_def made = tn_default_world_def();
  made.lanes = b->lanes;
  made.log = log_of_world;
  made.log_context = w;
  return made;
}

// A world of a snapshot; null without memory.
static tn_world *make_of(const tn_batch *b, batch_world *w, const void *snapshot, size_t size)
{
  tn_world_def def = def_of_worlds(b, w);
  tn_world *world = tn_world_create(&def);
  if (world && !tn_world_restore(world, snapshot, size)) {
    tn_world_destroy(world);
    world = NULL;
  }
  return world;
}

bool batch_make_of(tn_batch *b, int index, const void *snapshot, size_t size)
{
  batch_world *w = &b->worlds[index];
  tn_articulation_destroy(w->articulation);
  w->articulation = NULL;
  tn_world_destroy(w->world);
  w->world = make_of(b, w, snapshot, size);
  if (!w->world || !batch_save(w, &w->start)) {
    return false;
  }
  w->key = batch_key_of(w->world);
  return true;
}

// The original has geometries of its own, so that the world it was made of may change.
static tn_world *make_original(tn_batch *b, const tn_world *world)
{
  size_t size = tn_world_save(world, NULL, 0);
  void *bytes = malloc(size);
  if (bytes) {
    tn_world_save(world, bytes, size);
  }
  tn_world *original = bytes ? make_of(b, &b->worlds[0], bytes, size) : NULL;
  free(bytes);
  return original;
}

typedef struct make_task {
  tn_batch *batch;
  atomic_bool failed;
} make_task;

static void make_world(int index, void *context)
{
  make_task *t = context;
  batch_world *w = &t->batch->worlds[index];
  tn_world_def def = def_of_worlds(t->batch, w);
  w->world = tn_world_copy(t->batch->original, &def);
  if (!w->world || !batch_save(w, &w->start)) {
    atomic_store(&t->failed, true);
    return;
  }
  w->key = batch_key_of(w->world);
}

// The rest of a batch on the CPU; null, or what went wrong.
static const char *make_worlds(tn_batch *b)
{
  make_task task = {.batch = b};
  workers_run(b->workers, b->count, make_world, &task);
  return atomic_load(&task.failed) ? "out of memory" : NULL;
}

// The same on a device. Where that fails the CPU takes over, if it may.
static const char *make_on_device(tn_batch *b, const tn_batch_def *def, char *why, size_t size)
{
  b->results = calloc((size_t)def->count, sizeof *b->results);
  b->made = calloc((size_t)def->count, sizeof *b->made);
  if (!b->results || !b->made) {
    return "out of memory";
  }
  b->device = device_batch_create(def, b->original, why, size);
  if (!b->device && def->or_cpu) {
    char text[320];
    snprintf(text, sizeof text, "tn_batch_create: %s; the CPU takes over", why);
    pass_on(b, TN_LOG_WARNING, text);
    return make_worlds(b);
  }
  return b->device ? NULL : why;
}

static const char *fill(tn_batch *b, const tn_batch_def *def, char *why, size_t size)
{
  b->worlds = calloc((size_t)def->count, sizeof *b->worlds);
  b->status = calloc((size_t)def->count, sizeof *b->status);
  b->workers = workers_create(def->threads);
  if (!b->worlds || !b->status || !b->workers) {
    return "out of memory or threads";
  }
  b->count = def->count;
  for (int i = 0; i < b->count; ++i) {
    b->worlds[i].batch = b;
    b->worlds[i].index = i;
    b->worlds[i].items = &b->items;
    b->worlds[i].memory = memory;
  }
  b->lanes = def->lanes;
  b->original = make_original(b, def->world);
  if (!b->original || !batch_list_items(&b->items, b->original, memory)) {
    return "out of memory";
  }
  return def->device ? make_on_device(b, def, why, size) : make_worlds(b);
}

tn_batch *tn_batch_create(const tn_batch_def *def)
{
  const char *why = problem_of(def);
  bool logs = def && def->cookie == BATCH_COOKIE && def->log;
  tn_log_fn *log = logs ? def->log : to_stderr;
  void *context = logs ? def->log_context : NULL;
  char problem[256];
  tn_batch *b = why ? NULL : calloc(1, sizeof *b);
  if (b) {
    b->log = log;
    b->log_context = context;
    pthread_mutex_init(&b->log_lock, NULL);
    why = fill(b, def, problem, sizeof problem);
    if (!why) {
      return b;
    }
    tn_batch_destroy(b);
  }
  char text[320];
  snprintf(text, sizeof text, "tn_batch_create: %s", why ? why : "out of memory");
  log(TN_LOG_ERROR, text, context);
  return NULL;
}

void tn_batch_destroy(tn_batch *b)
{
  if (!b) {
    return;
  }
  for (int i = 0; i < b->count; ++i) {
    tn_articulation_destroy(b->worlds[i].articulation);
    tn_world_destroy(b->worlds[i].world);
    batch_free_state(&b->worlds[i].start, memory);
  }
  device_batch_destroy(b->device);
  tn_world_destroy(b->original);
  workers_destroy(b->workers);
  pthread_mutex_destroy(&b->log_lock);
  batch_free_items(&b->items, memory);
  free(b->worlds);
  free(b->status);
  free(b->results);
  free(b->made);
  free(b);
}

int tn_batch_count(const tn_batch *b)
{
  return b ? b->count : 0;
}

tn_world *tn_batch_world(const tn_batch *b, int index)
{
  return b && index >= 0 && index < b->count ? b->worlds[index].world : NULL;
}

size_t tn_batch_world_bytes(const tn_batch *b)
{
  return b && b->device ? device_batch_world_bytes(b->device) : 0;
}

uint32_t tn_batch_world_key(const tn_batch *b, int index)
{
  return b && index >= 0 && index < b->count ? b->worlds[index].key : 0;
}

// ---------------------------------------------------------------------------------------------
// Calls on all worlds
//
// Worlds on a device come first, in on_device.c; tasks pass them over, as they have no `world`
// here.

typedef struct run_task {
  tn_batch *batch;
  void (*function)(tn_world *world, int index, void *context);
  void *context;
} run_task;

static void run_world(int index, void *context)
{
  const run_task *t = context;
  t->function(t->batch->worlds[index].world, index, t->context);
}

bool tn_batch_run(tn_batch *b, void (*function)(tn_world *world, int index, void *context),
                  void *context)
{
  if (!b || !function) {
    return false;
  }
  if (b->device) {
    return batch_refuse(b, "tn_batch_run: the worlds are on a device");
  }
  run_task task = {b, function, context};
  workers_run(b->workers, b->count, run_world, &task);
  return true;
}

typedef struct step_task {
  tn_batch *batch;
  float dt;
  int repeat;
} step_task;

static void step_world(int index, void *context)
{
  const step_task *t = context;
  tn_batch *b = t->batch;
  int made = b->device ? (int)b->made[index] : 0;
  uint32_t status = b->device ? b->status[index] : 0;
  for (int i = made; i < t->repeat && b->worlds[index].world; ++i) {
    status |= tn_world_step(b->worlds[index].world, t->dt);
  }
  b->status[index] = status;
}

// Whether a call has something to do on the CPU.
static bool has_worlds_here(const tn_batch *b)
{
  return !b->device || b->left > 0;
}

static uint32_t union_of_status(const tn_batch *b)
{
  uint32_t all = 0;
  for (int i = 0; i < b->count; ++i) {
    all |= b->status[i];
  }
  return all;
}

uint32_t tn_batch_step(tn_batch *b, float dt, int repeat)
{
  if (!b) {
    return TN_STEP_REJECTED;
  }
  if (repeat < 1) {
    batch_refuse(b, "tn_batch_step: repeat must be 1 or more");
    return TN_STEP_REJECTED;
  }
  bool ok = !b->device || batch_device_step(b, dt, repeat);
  if (ok && has_worlds_here(b)) {
    step_task task = {b, dt, repeat};
    workers_run(b->workers, b->count, step_world, &task);
  }
  return union_of_status(b);
}

const uint32_t *tn_batch_status(const tn_batch *b)
{
  return b ? b->status : NULL;
}

typedef struct hash_task {
  tn_batch *batch;
  uint64_t *hashes;
} hash_task;

static void hash_world(int index, void *context)
{
  const hash_task *t = context;
  const tn_world *world = t->batch->worlds[index].world;
  if (world) {
    t->hashes[index] = tn_world_hash(world);
  }
}

bool tn_batch_hashes(tn_batch *b, uint64_t *hashes)
{
  if (!b || !hashes || (b->device && !batch_device_hashes(b, hashes))) {
    return false;
  }
  if (has_worlds_here(b)) {
    hash_task task = {b, hashes};
    workers_run(b->workers, b->count, hash_world, &task);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// States

typedef struct state_task {
  tn_batch *batch;
  const uint8_t *mask;
  const batch_state *from; // null: of each world its own
  atomic_bool failed;
} state_task;

static void keep_world(int index, void *context)
{
  state_task *t = context;
  batch_world *w = &t->batch->worlds[index];
  if (w->world && (!t->mask || t->mask[index]) && !batch_save(w, &w->start)) {
    atomic_store(&t->failed, true);
  }
}

static void reset_world(int index, void *context)
{
  state_task *t = context;
  batch_world *w = &t->batch->worlds[index];
  if (w->world && (!t->mask || t->mask[index]) &&
      !batch_restore(w, t->from ? t->from : &w->start)) {
    atomic_store(&t->failed, true);
  }
}

static bool run_states(tn_batch *b, void (*task)(int index, void *context), const uint8_t *mask,
                       const batch_state *from)
{
  state_task t = {.batch = b, .mask = mask, .from = from};
  if (has_worlds_here(b)) {
    workers_run(b->workers, b->count, task, &t);
  }
  return !atomic_load(&t.failed);
}

bool tn_batch_keep(tn_batch *b, const uint8_t *mask)
{
  bool ok = b && (!b->device || batch_device_keep(b, mask));
  return b && run_states(b, keep_world, mask, NULL) && ok;
}

bool tn_batch_reset(tn_batch *b, const uint8_t *mask)
{
  bool ok = b && (!b->device || batch_device_reset(b, mask));
  return b && run_states(b, reset_world, mask, NULL) && ok;
}

bool tn_batch_spread(tn_batch *b, int from)
{
  if (!b || from < 0 || from >= b->count) {
    return b && batch_refuse(b, "tn_batch_spread: there is no world %d", from);
  }
  batch_state s = {0};
  bool ok = b->device ? batch_device_spread(b, from, &s) : batch_save(&b->worlds[from], &s);
  ok = s.bytes && run_states(b, reset_world, NULL, &s) && ok;
  free(s.bytes);
  return ok;
}
