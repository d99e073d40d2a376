// Runs on a card: the worlds are made on the host and put there. After each step their states come
// back into the worlds of the host, which are observed as on the CPU.
#include "many.h"

#include "progress.h"

#include <tenon/batch.h>

#include <stdio.h>
#include <stdlib.h>
#if defined(TENON_HAS_CUDA)
#include <tenon/cuda.h>
#endif

#define MOST_WORLDS 16384 // on the card at a time: each has a world on the host as well

static const float dt = 1.0f / 60.0f;

typedef struct group {
  const many_options *options;
  const tn_batch_device *device;
  tn_batch *batch;
  int first, count; // runs
  scene_run **runs;
  tn_world **worlds; // of the runs
  uint64_t *hashes;
  many_result *results; // of all runs
} group;

static void say(tn_log_level level, const char *message, void *context)
{
  (void)level, (void)context;
  complain("batch: %s", message);
}

static void make_run(int index, void *context)
{
  group *g = context;
  g->runs[index] = many_make(g->options, g->first + index);
  g->worlds[index] = g->runs[index] ? g->runs[index]->world : NULL;
}

static void observe_run(int index, void *context)
{
  group *g = context;
  scene_count_step(g->runs[index], dt, tn_batch_status(g->batch)[index]);
  scene_observe(g->runs[index], dt);
}

static void finish_run(int index, void *context)
{
  group *g = context;
  many_finish(g->runs[index], g->hashes[index], &g->results[g->first + index]);
  g->runs[index] = NULL;
}

static tn_batch *make_batch(const group *g)
{
  tn_batch_def def = tn_default_batch_def();
  def.world = g->worlds[0];
  def.count = g->count;
  def.threads = g->options->threads;
  def.log = say;
  def.device = g->device;
  def.own_geometries = true;
  return tn_batch_create(&def);
}

static bool step_runs(group *g, workers *threads)
{
  tn_batch_step(g->batch, dt, 1);
  if (tn_batch_status(g->batch)[0] & TN_STEP_REJECTED ||
      !tn_batch_take(g->batch, 0, g->count, g->worlds)) {
    return false;
  }
  workers_run(threads, g->count, observe_run, g);
  return true;
}

static bool run_group(group *g, workers *threads)
{
  workers_run(threads, g->count, make_run, g);
  bool ok = true;
  for (int i = 0; i < g->count && ok; ++i) {
    ok = g->runs[i] != NULL;
  }
  g->batch = ok ? make_batch(g) : NULL;
  ok = g->batch && tn_batch_put(g->batch, 0, g->count, g->worlds);
  for (int i = many_frames(g->options); i > 0 && ok && !interrupt_came(); --i) {
    ok = step_runs(g, threads);
  }
  ok = ok && tn_batch_hashes(g->batch, g->hashes);
  if (ok) {
    workers_run(threads, g->count, finish_run, g);
  }
  tn_batch_destroy(g->batch);
  for (int i = 0; i < g->count; ++i) {
    scene_destroy(g->runs[i]);
  }
  return ok;
}

static const tn_batch_device *find_card(void)
{
#if defined(TENON_HAS_CUDA)
  return tn_cuda();
#else
  complain("batch: this build has no module for cards, which needs clang and LLVM");
  return NULL;
#endif
}

bool many_run_on_card(const many_options *o, workers *threads, many_result *results)
{
  if (o->run.scene->drive) {
    complain("batch: '%s' is driven between its steps, which only --device cpu can do",
             o->run.scene->name);
    return false;
  }
  int most = o->worlds < MOST_WORLDS ? o->worlds : MOST_WORLDS;
  group g = {.options = o, .device = find_card(), .results = results};
  g.runs = calloc((size_t)most, sizeof *g.runs);
  g.worlds = calloc((size_t)most, sizeof *g.worlds);
  g.hashes = calloc((size_t)most, sizeof *g.hashes);
  bool ok = g.device && g.runs && g.worlds && g.hashes;
  for (; g.first < o->worlds && ok; g.first += most) {
    g.count = o->worlds - g.first < most ? o->worlds - g.first : most;
    ok = run_group(&g, threads);
  }
  free(g.runs);
  free(g.worlds);
  free(g.hashes);
  return ok;
}
