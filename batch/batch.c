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

bool batch_refuse(tn_batch *batch, const char *format, ...)
{
  char text[256];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  pass_on(batch, TN_LOG_ERROR, text);
  return false;
}

// ---------------------------------------------------------------------------------------------
// Ids and states

static uint32_t key_of(const tn_world *world)
{
  tn_body_id body = {0};
  tn_joint_id joint = {0};
  tn_shape_id shape = {0};
  tn_soft_id soft = {0};
  if (tn_world_bodies(world, &body, 1) > 0) {
    return body.world;
  }
  if (tn_world_shapes(world, &shape, 1) > 0) {
    return shape.world;
  }
  if (tn_world_joints(world, &joint, 1) > 0) {
    return joint.world;
  }
  return tn_world_softs(world, &soft, 1) > 0 ? soft.world : 0;
}

tn_body_id batch_body(const batch_world *w, int index)
{
  tn_body_id id = w->batch->bodies[index];
  id.world = w->key;
  return id;
}

tn_shape_id batch_shape(const batch_world *w, int index)
{
  tn_shape_id id = w->batch->shapes[index];
  id.world = w->key;
  return id;
}

tn_joint_id batch_joint(const batch_world *w, int index)
{
  tn_joint_id id = w->batch->joints[index];
  id.world = w->key;
  return id;
}

bool batch_save(const batch_world *w, batch_state *s)
{
  s->size = tn_world_save_state(w->world, s->bytes, s->capacity);
  if (s->size > s->capacity) {
    size_t capacity = s->size + s->size / 4;
    void *bytes = realloc(s->bytes, capacity);
    if (!bytes) {
      s->size = 0;
      return false;
    }
    s->bytes = bytes;
    s->capacity = capacity;
    s->size = tn_world_save_state(w->world, s->bytes, s->capacity);
  }
  return s->size > 0;
}

bool batch_restore(const batch_world *w, const batch_state *s)
{
  return tn_world_restore_state(w->world, s->bytes, s->size);
}

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

static tn_world_def def_of_worlds(const tn_batch_def *def, batch_world *w)
{
  tn_world_def made = tn_default_world_def();
  made.lanes = def->lanes;
  made.log = log_of_world;
  made.log_context = w;
  return made;
}

// The original has geometries of its own, so that the world it was made of may change.
static tn_world *make_original(const tn_batch_def *def, batch_world *first)
{
  tn_world_def world_def = def_of_worlds(def, first);
  size_t size = tn_world_save(def->world, NULL, 0);
  void *bytes = malloc(size);
  tn_world *original = bytes ? tn_world_create(&world_def) : NULL;
  if (original) {
    tn_world_save(def->world, bytes, size);
    if (!tn_world_restore(original, bytes, size)) {
      tn_world_destroy(original);
      original = NULL;
    }
  }
  free(bytes);
  return original;
}

static bool list_items(tn_batch *b)
{
  const tn_world *w = b->original;
  b->body_count = tn_world_bodies(w, NULL, 0);
  b->shape_count = tn_world_shapes(w, NULL, 0);
  b->joint_count = tn_world_joints(w, NULL, 0);
  b->bodies = calloc((size_t)b->body_count + 1, sizeof *b->bodies);
  b->shapes = calloc((size_t)b->shape_count + 1, sizeof *b->shapes);
  b->joints = calloc((size_t)b->joint_count + 1, sizeof *b->joints);
  if (!b->bodies || !b->shapes || !b->joints) {
    return false;
  }
  tn_world_bodies(w, b->bodies, b->body_count);
  tn_world_shapes(w, b->shapes, b->shape_count);
  tn_world_joints(w, b->joints, b->joint_count);
  return true;
}

typedef struct make_task {
  tn_batch *batch;
  const tn_batch_def *def;
  atomic_bool failed;
} make_task;

static void make_world(int index, void *context)
{
  make_task *t = context;
  batch_world *w = &t->batch->worlds[index];
  tn_world_def def = def_of_worlds(t->def, w);
  w->world = tn_world_copy(t->batch->original, &def);
  if (!w->world || !batch_save(w, &w->start)) {
    atomic_store(&t->failed, true);
    return;
  }
  w->key = key_of(w->world);
}

static bool fill(tn_batch *b, const tn_batch_def *def)
{
  b->worlds = calloc((size_t)def->count, sizeof *b->worlds);
  b->status = calloc((size_t)def->count, sizeof *b->status);
  b->workers = workers_create(def->threads);
  if (!b->worlds || !b->status || !b->workers) {
    return false;
  }
  b->count = def->count;
  for (int i = 0; i < b->count; ++i) {
    b->worlds[i].batch = b;
    b->worlds[i].index = i;
  }
  b->original = make_original(def, &b->worlds[0]);
  if (!b->original || !list_items(b)) {
    return false;
  }
  make_task task = {.batch = b, .def = def};
  workers_run(b->workers, b->count, make_world, &task);
  return !atomic_load(&task.failed);
}

tn_batch *tn_batch_create(const tn_batch_def *def)
{
  const char *why = problem_of(def);
  bool logs = def && def->cookie == BATCH_COOKIE && def->log;
  tn_log_fn *log = logs ? def->log : to_stderr;
  void *context = logs ? def->log_context : NULL;
  tn_batch *b = why ? NULL : calloc(1, sizeof *b);
  if (b) {
    b->log = log;
    b->log_context = context;
    pthread_mutex_init(&b->log_lock, NULL);
    if (fill(b, def)) {
      return b;
    }
    tn_batch_destroy(b);
  }
  char text[128];
  snprintf(text, sizeof text, "tn_batch_create: %s", why ? why : "out of memory or threads");
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
    free(b->worlds[i].start.bytes);
  }
  tn_world_destroy(b->original);
  workers_destroy(b->workers);
  pthread_mutex_destroy(&b->log_lock);
  free(b->bodies);
  free(b->shapes);
  free(b->joints);
  free(b->worlds);
  free(b->status);
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

uint32_t tn_batch_world_key(const tn_batch *b, int index)
{
  return b && index >= 0 && index < b->count ? b->worlds[index].key : 0;
}

// ---------------------------------------------------------------------------------------------
// Calls on all worlds

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
  uint32_t status = 0;
  for (int i = 0; i < t->repeat; ++i) {
    status |= tn_world_step(t->batch->worlds[index].world, t->dt);
  }
  t->batch->status[index] = status;
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
  step_task task = {b, dt, repeat};
  workers_run(b->workers, b->count, step_world, &task);
  return union_of_status(b);
}

const uint32_t *tn_batch_status(const tn_batch *b)
{
  return b ? b->status : NULL;
}

static void hash_world(tn_world *world, int index, void *context)
{
  uint64_t *hashes = context;
  hashes[index] = tn_world_hash(world);
}

bool tn_batch_hashes(tn_batch *b, uint64_t *hashes)
{
  return hashes && tn_batch_run(b, hash_world, hashes);
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
  if ((!t->mask || t->mask[index]) && !batch_save(w, &w->start)) {
    atomic_store(&t->failed, true);
  }
}

static void reset_world(int index, void *context)
{
  state_task *t = context;
  batch_world *w = &t->batch->worlds[index];
  if ((!t->mask || t->mask[index]) && !batch_restore(w, t->from ? t->from : &w->start)) {
    atomic_store(&t->failed, true);
  }
}

static bool run_states(tn_batch *b, void (*task)(int index, void *context), const uint8_t *mask,
                       const batch_state *from)
{
  state_task t = {.batch = b, .mask = mask, .from = from};
  workers_run(b->workers, b->count, task, &t);
  return !atomic_load(&t.failed);
}

bool tn_batch_keep(tn_batch *b, const uint8_t *mask)
{
  return b && run_states(b, keep_world, mask, NULL);
}

bool tn_batch_reset(tn_batch *b, const uint8_t *mask)
{
  return b && run_states(b, reset_world, mask, NULL);
}

bool tn_batch_spread(tn_batch *b, int from)
{
  if (!b || from < 0 || from >= b->count) {
    return b && batch_refuse(b, "tn_batch_spread: there is no world %d", from);
  }
  batch_state s = {0};
  bool ok = batch_save(&b->worlds[from], &s) && run_states(b, reset_world, NULL, &s);
  free(s.bytes);
  return ok;
}
