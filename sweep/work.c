#include "work.h"

#include "options.h"
#include "output.h"
#include "progress.h"
#include "timing.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const double FRAMES_PER_SECOND = 60.0;
enum { FAILURES = TN_STEP_REJECTED | TN_STEP_OUT_OF_MEMORY | TN_STEP_NON_FINITE };

static int frame_count(const sweep_spec *s)
{
  int frames = (int)(s->seconds * FRAMES_PER_SECOND + 0.5);
  return frames > 0 ? frames : 1;
}

// ---------------------------------------------------------------------------------------------
// Trajectories: one file per run, complete or not there

static bool open_curves(const sweep_spec *s, const char *folder, int64_t run, char *path,
                        output *out)
{
  memset(out, 0, sizeof *out);
  if (s->curve_count == 0 || !folder) {
    return true;
  }
  snprintf(path, 1200, "%s/trajectories/%" PRId64 ".csv", folder, run);
  if (!output_open(out, path)) {
    return false;
  }
  fputs("time_s", out->file);
  for (int i = 0; i < s->curve_count; ++i) {
    fprintf(out->file, ",%s", s->curves[i]);
  }
  fputc('\n', out->file);
  return true;
}

static void write_curves(const sweep_spec *s, const scene_run *run, FILE *file)
{
  if (!file || run->frames % s->curve_every != 0) {
    return;
  }
  fprintf(file, "%.9g", run->time);
  for (int i = 0; i < s->curve_count; ++i) {
    fprintf(file, ",%.9g", scene_metric_value(run, s->curves[i]));
  }
  fputc('\n', file);
}

// ---------------------------------------------------------------------------------------------
// One run

static void take_metrics(const sweep_spec *s, const scene_run *run, run_result *r)
{
  scene_metric list[SCENE_MAX_METRICS];
  int count = scene_metrics(run, list, SCENE_MAX_METRICS);
  count = count < SCENE_MAX_METRICS ? count : SCENE_MAX_METRICS;
  for (int i = 0; i < s->metric_count; ++i) {
    for (int k = 0; k < count; ++k) {
      if (strcmp(list[k].name, s->metrics[i]) == 0) {
        r->metrics[i] = list[k].value;
      }
    }
  }
}

// Returns false if interrupted, or if the trajectory cannot be written.
static bool simulate_run(const sweep_spec *s, const char *folder, scene_run *run, run_result *r)
{
  char path[1200];
  output curves;
  if (!open_curves(s, folder, r->run, path, &curves)) {
    return false;
  }
  double started = timing_now_ms();
  float dt = (float)(1.0 / FRAMES_PER_SECOND);
  int frames = frame_count(s);
  write_curves(s, run, curves.file);
  while (run->frames < frames && r->state == RUN_OK && !interrupt_came()) {
    r->state = scene_advance(run, dt) & FAILURES ? RUN_FAILED : RUN_OK;
    scene_observe(run, dt);
    write_curves(s, run, curves.file);
  }
  r->seconds = (timing_now_ms() - started) * 1e-3;
  if (run->frames < frames && r->state == RUN_OK) {
    output_abandon(&curves);
    return false;
  }
  r->hash = tn_world_hash(run->world);
  if (r->state == RUN_OK) {
    take_metrics(s, run, r);
  }
  return output_finish(&curves);
}

bool work_run(const sweep_spec *s, const char *folder, int64_t run, run_result *result)
{
  char error[SCENE_FILE_ERROR];
  scene_file *file;
  sweep_point point = spec_point(s, run);
  memset(result, 0, sizeof *result);
  result->run = run;
  result->state = RUN_OK;
  for (int i = 0; i < s->metric_count; ++i) {
    result->metrics[i] = (double)NAN;
  }
  scene_run *world = spec_create(s, &point, &file, error);
  bool ok = true;
  if (world) {
    ok = simulate_run(s, folder, world, result);
  } else {
    result->state = RUN_REFUSED;
    complain("run %" PRId64 " cannot be created: %s", run, error);
  }
  scene_destroy(world);
  scene_file_free(file);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Many runs

typedef struct crew {
  journal *journal;
  const int64_t *list;
  int64_t count;
  atomic_llong next, finished;
  atomic_bool failed;
} crew;

static void *work(void *context)
{
  crew *c = context;
  while (!interrupt_came() && !atomic_load(&c->failed) && !c->journal->failed) {
    int64_t at = (int64_t)atomic_fetch_add(&c->next, 1);
    run_result result;
    if (at >= c->count) {
      break;
    }
    if (!work_run(c->journal->spec, c->journal->folder, c->list[at], &result)) {
      atomic_store(&c->failed, true);
      break;
    }
    journal_add(c->journal, &result);
    atomic_fetch_add(&c->finished, 1);
  }
  return NULL;
}

// Shows progress until the workers are done.
static void watch(crew *c, const pthread_t *threads, int count)
{
  progress bar;
  progress_start(&bar, (int)c->count);
  for (int i = 0; i < count; ++i) {
    struct timespec pause = {0, 20000000};
    while (bar.shows && !atomic_load(&c->failed) && !c->journal->failed && !interrupt_came() &&
           atomic_load(&c->finished) < c->count) {
      char words[96];
      long long done = atomic_load(&c->finished);
      snprintf(words, sizeof words, "run %lld of %" PRId64, done, c->count);
      progress_show_part(&bar, (double)done / (double)c->count, words);
      nanosleep(&pause, NULL);
    }
    pthread_join(threads[i], NULL);
  }
  progress_end(&bar);
}

bool work_all(journal *j, const int64_t *list, int64_t count, int threads)
{
  crew c = {.journal = j, .list = list, .count = count};
  pthread_t team[256];
  int started = 0;
  threads = threads > 256 ? 256 : threads;
  while (started < threads && started < count &&
         pthread_create(&team[started], NULL, work, &c) == 0) {
    started += 1;
  }
  if (started == 0 && count > 0) {
    complain("cannot start a thread");
    return false;
  }
  watch(&c, team, started);
  return atomic_load(&c.finished) == count && !j->failed;
}

double work_estimate(const sweep_spec *s, const int64_t *list, int64_t count)
{
  enum { TRIED = 5 };
  double sum = 0.0;
  int tried = 0;
  for (int i = 0; i < TRIED && i < count && !interrupt_came(); ++i) {
    run_result result;
    double started = timing_now_ms();
    work_run(s, NULL, list[i * (count - 1) / (count > TRIED ? TRIED - 1 : count)], &result);
    sum += (timing_now_ms() - started) * 1e-3;
    tried += 1;
  }
  return tried > 0 ? sum / (double)tried : 0.0;
}
