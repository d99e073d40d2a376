// On the CPU every run is one task: it is made, advanced and measured by one thread. What a run
// draws depends on the seed and its number alone.
#include "many.h"

#include "progress.h"

#include <tenon/batch.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---------------------------------------------------------------------------------------------
// Options

static bool parse_whole(const char *word, const char *value, long lo, long hi, long *out)
{
  char *end;
  long n = strtol(value, &end, 10);
  if (end == value || *end != '\0' || n < lo || n > hi) {
    complain("%s must be a whole number from %ld to %ld, not '%s'", word, lo, hi, value);
    return false;
  }
  *out = n;
  return true;
}

// NAME=LO..HI
static bool parse_varied(const scene *which, const char *value, many_options *o)
{
  char name[64] = "", lo[64] = "", rest;
  const char *dots = strstr(value, ".."); // "10..20" begins with the number "10."
  varied v = {0};
  bool ok = dots && dots - value < (ptrdiff_t)sizeof lo;
  snprintf(lo, sizeof lo, "%.*s", ok ? (int)(dots - value) : 0, value);
  ok = ok && sscanf(lo, "%63[^=]=%lf%c", name, &v.lo, &rest) == 2 &&
       sscanf(dots + 2, "%lf%c", &v.hi, &rest) == 1 && v.lo <= v.hi;
  if (!ok) {
    complain("--vary takes NAME=LO..HI, not '%s'", value);
    return false;
  }
  const scene_parameter *p = scene_parameter_find(which, name);
  if (!p) {
    complain("the scene has no parameter '%s'", name);
    return false;
  }
  if (o->varied_count == MAX_VARIED) {
    complain("--vary can be given %d times", MAX_VARIED);
    return false;
  }
  scene_settings probe = scene_defaults(which);
  if (p->whole || scene_set(which, &probe, name, v.lo) != SCENE_SET ||
      scene_set(which, &probe, name, v.hi) != SCENE_SET) {
    complain("'%s' cannot be varied from %g to %g", name, v.lo, v.hi);
    return false;
  }
  v.parameter = (int)(p - which->parameters);
  o->varied[o->varied_count++] = v;
  return true;
}

static bool parse_device(const char *value, many_device *device)
{
  static const char *const names[] = {"cpu", "cuda", "cuda-or-cpu"};
  for (int i = 0; i < 3; ++i) {
    if (strcmp(value, names[i]) == 0) {
      *device = (many_device)i;
      return true;
    }
  }
  complain("--device must be cpu, cuda or cuda-or-cpu, not '%s'", value);
  return false;
}

// Takes the options of this command; the others are those of `tenon run`.
static bool take_option(const char *word, const char *value, many_options *o, bool *taken)
{
  long number = 0;
  bool ok = true;
  *taken = true;
  if (strcmp(word, "--worlds") == 0) {
    ok = parse_whole(word, value, 1, 10000000, &number);
    o->worlds = (int)number;
  } else if (strcmp(word, "--threads") == 0) {
    ok = parse_whole(word, value, 1, 256, &number);
    o->threads = (int)number;
  } else if (strcmp(word, "--seed") == 0) {
    ok = parse_whole(word, value, 0, 0x7fffffff, &number);
    o->seed = (uint64_t)number;
  } else if (strcmp(word, "--device") == 0) {
    ok = parse_device(value, &o->device);
  } else {
    *taken = strcmp(word, "--vary") == 0; // needs the scene: read later
  }
  return ok;
}

bool many_parse(int count, char **words, many_options *o)
{
  *o = (many_options){.worlds = 1024, .threads = 1};
  char **rest = calloc((size_t)count + 1, sizeof *rest);
  int left = 0;
  bool ok = rest != NULL, taken;
  for (int i = 0; i < count && ok; ++i) {
    const char *value = i + 1 < count ? words[i + 1] : "";
    ok = take_option(words[i], value, o, &taken);
    i += taken;
    if (!taken) {
      rest[left++] = words[i];
    }
  }
  ok = ok && options_parse(COMMAND_RUN, left, rest, &o->run);
  free(rest);
  if (ok && (o->run.csv || o->run.poses || o->run.glb || o->run.snapshot || o->run.from)) {
    complain("batch writes and reads no files");
    return false;
  }
  for (int i = 0; i + 1 < count && ok; ++i) {
    ok = strcmp(words[i], "--vary") != 0 || parse_varied(o->run.scene, words[i + 1], o);
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Runs

typedef struct many_task {
  const many_options *options;
  many_result *results;
} many_task;

int many_frames(const many_options *o)
{
  return (int)(o->run.seconds * 60.0 + 0.5);
}

scene_run *many_make(const many_options *o, int index)
{
  scene_settings settings = o->run.settings;
  for (int i = 0; i < o->varied_count; ++i) {
    const varied *v = &o->varied[i];
    settings.value[v->parameter] =
        tn_batch_uniform(o->seed, (uint32_t)index, 0, (uint32_t)i, v->lo, v->hi);
  }
  tn_world_def def = o->run.world;
  def.threads = 1;
  return interrupt_came() ? NULL : scene_create(o->run.scene, &settings, &def);
}

void many_finish(scene_run *run, uint64_t hash, many_result *r)
{
  r->hash = hash;
  r->frames = run->frames;
  r->status = run->status;
  r->metric_count = scene_metrics(run, r->metrics, SCENE_MAX_METRICS);
  r->made = true;
  scene_destroy(run);
}

static void run_one(int index, void *context)
{
  const many_task *t = context;
  scene_run *run = many_make(t->options, index);
  if (!run) {
    return;
  }
  while (run->frames < many_frames(t->options) && !interrupt_came()) {
    scene_step(run, 1.0f / 60.0f);
  }
  many_finish(run, tn_world_hash(run->world), &t->results[index]);
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Mean, deviation and quantiles of a metric over the runs; those that are not finite are left out.
static void print_spread(const many_task *t, int metric, double *values)
{
  int count = 0;
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < t->options->worlds; ++i) {
    double x = t->results[i].made ? t->results[i].metrics[metric].value : (double)NAN;
    if (isfinite(x)) {
      values[count++] = x;
      sum += x;
    }
  }
  if (count == 0) {
    return;
  }
  double mean = sum / count;
  for (int i = 0; i < count; ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
  }
  qsort(values, (size_t)count, sizeof *values, by_value);
  double deviation = sqrt(squares / count);
  const char *name = t->results[0].metrics[metric].name;
  if (t->options->run.json) {
    printf(
        ",\"%s\":{\"mean\":%.9g,\"deviation\":%.9g,\"least\":%.9g,\"median\":%.9g,\"most\":%.9g}",
        name, mean, deviation, values[0], values[count / 2], values[count - 1]);
  } else {
    printf("%-28s %12.6g %12.6g %12.6g %12.6g %12.6g\n", name, mean, deviation, values[0],
           values[count / 2], values[count - 1]);
  }
}

static double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// FNV-1a over the hashes of the runs in their order.
static uint64_t hash_of_hashes(const many_task *t)
{
  uint64_t hash = 0xcbf29ce484222325ull;
  for (int i = 0; i < t->options->worlds; ++i) {
    for (int k = 0; k < 64; k += 8) {
      hash = (hash ^ (t->results[i].hash >> k & 0xff)) * 0x100000001b3ull;
    }
  }
  return hash;
}

static void print_results(const many_task *t, double seconds, double *values)
{
  const many_options *o = t->options;
  int64_t steps = 0, made = 0, faulty = 0;
  for (int i = 0; i < o->worlds; ++i) {
    steps += t->results[i].frames;
    made += t->results[i].made;
    faulty += (t->results[i].status & (TN_STEP_NON_FINITE | TN_STEP_OUT_OF_MEMORY)) != 0;
  }
  double rate = (double)steps / seconds;
  if (o->run.json) {
    printf("{\"scene\":\"%s\",\"worlds\":%lld,\"threads\":%d,\"steps\":%lld,\"seconds\":%.6g,"
           "\"steps_per_second\":%.6g,\"faulty\":%lld,\"hash\":\"%016llx\",\"metrics\":{\"worlds\":"
           "%lld",
           o->run.scene->name, (long long)made, o->threads, (long long)steps, seconds, rate,
           (long long)faulty, (unsigned long long)hash_of_hashes(t), (long long)made);
  } else {
    printf("%s: %lld worlds on %d threads, %lld steps in %.2f s: %.0f steps/s; %lld with faults\n",
           o->run.scene->name, (long long)made, o->threads, (long long)steps, seconds, rate,
           (long long)faulty);
    printf("%-28s %12s %12s %12s %12s %12s\n", "metric", "mean", "deviation", "least", "median",
           "most");
  }
  for (int i = 0; i < t->results[0].metric_count; ++i) {
    print_spread(t, i, values);
  }
  if (o->run.json) {
    puts("}}");
  } else {
    printf("hash of hashes %016llx\n", (unsigned long long)hash_of_hashes(t));
  }
}

// Runs all worlds on the chosen device, and on the CPU in its stead if that may be.
static void run_all(many_task *task, workers *threads)
{
  const many_options *o = task->options;
  if (o->device != MANY_CPU && many_run_on_card(o, threads, task->results)) {
    return;
  }
  memset(task->results, 0, (size_t)o->worlds * sizeof *task->results);
  if (o->device == MANY_CUDA_OR_CPU && !interrupt_came()) {
    complain("batch: the CPU takes over");
  }
  if (o->device != MANY_CUDA) {
    workers_run(threads, o->worlds, run_one, task);
  }
}

bool many_run(const many_options *o)
{
  many_task task = {o, calloc((size_t)o->worlds, sizeof(many_result))};
  double *values = calloc((size_t)o->worlds, sizeof *values);
  workers *threads = workers_create(o->threads);
  bool ok = task.results && values && threads;
  if (ok) {
    double start = seconds_now();
    run_all(&task, threads);
    double seconds = seconds_now() - start;
    ok = task.results[0].made;
    if (ok) {
      print_results(&task, seconds, values);
    }
  }
  if (!ok && !interrupt_came()) {
    complain("batch: no world could be made");
  }
  workers_destroy(threads);
  free(values);
  free(task.results);
  return ok;
}
