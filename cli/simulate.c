#include "simulate.h"

#include "timing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double FRAMES_PER_SECOND = 60.0;
static const int TABLE_LINES = 10;

// What a run leaves to be told.
typedef struct outcome {
  int frames;
  double ms_median, ms_p99;
  uint64_t hash;
  int lanes;
  scene_metric metrics[SCENE_MAX_METRICS];
  int metric_count;
} outcome;

// ---------------------------------------------------------------------------------------------
// Simulation

static void print_energy_head(void)
{
  printf("\n  time s   kinetic J  potential J    elastic J      total J   change / scale\n");
}

static void print_energy_line(const scene_run *run)
{
  tn_energy e = tn_world_energy(run->world);
  printf("%8.2f %11.4f %12.4f %12.4f %12.6f %16.3e\n", run->time, e.kinetic, e.potential, e.elastic,
         e.total, scene_energy_error(run));
}

static bool is_line_due(int frame, int frames)
{
  return (int64_t)frame * TABLE_LINES / frames != (int64_t)(frame + 1) * TABLE_LINES / frames;
}

static bool step_all(scene_run *run, double *times, int frames, bool shows_energy)
{
  float dt = (float)(1.0 / FRAMES_PER_SECOND);
  if (shows_energy) {
    print_energy_head();
    print_energy_line(run);
  }
  for (int i = 0; i < frames; ++i) {
    double start = timing_now_ms();
    uint32_t status = scene_advance(run, dt);
    times[i] = timing_now_ms() - start;
    if (status & (TN_STEP_REJECTED | TN_STEP_OUT_OF_MEMORY | TN_STEP_NON_FINITE)) {
      complain("step %d of %s failed, status %" PRIu32, i + 1, run->scene->name, status);
      return false;
    }
    scene_observe(run, dt);
    if (shows_energy && is_line_due(i, frames)) {
      print_energy_line(run);
    }
  }
  return true;
}

static outcome make_outcome(const scene_run *run, double *times, int frames)
{
  outcome out = {.frames = frames};
  timing_sort(times, frames);
  out.ms_median = timing_quantile(times, frames, 0.5);
  out.ms_p99 = timing_quantile(times, frames, 0.99);
  out.hash = tn_world_hash(run->world);
  out.lanes = tn_world_lanes(run->world);
  out.metric_count = scene_metrics(run, out.metrics, SCENE_MAX_METRICS);
  if (out.metric_count > SCENE_MAX_METRICS) {
    out.metric_count = SCENE_MAX_METRICS;
  }
  return out;
}

// ---------------------------------------------------------------------------------------------
// Telling

static void print_head(const run_options *options)
{
  const scene *s = options->scene;
  const tn_world_def *def = &options->world;
  printf("%s: %s\n", s->name, s->title);
  printf("source       %s\n", s->source);
  for (int i = 0; i < SCENE_MAX_PARAMETERS && s->parameters[i].name; ++i) {
    printf("%-12s %g (%s)\n", s->parameters[i].name, options->settings.value[i],
           s->parameters[i].meaning);
  }
  printf("solved by    %s, %d substeps, %d iteration%s, %d thread%s\n", method_name(def->method),
         def->substeps, def->iterations, def->iterations == 1 ? "" : "s", def->threads,
         def->threads == 1 ? "" : "s");
}

static void print_outcome(const outcome *out)
{
  printf("\nframes       %d of 1/60 s\n", out->frames);
  printf("ms a frame   %.4f median, %.4f 99th percentile, at %d lane%s\n", out->ms_median,
         out->ms_p99, out->lanes, out->lanes == 1 ? "" : "s");
  printf("hash         %016" PRIx64 "\n\n", out->hash);
  for (int i = 0; i < out->metric_count; ++i) {
    printf("%-32s %.6g\n", out->metrics[i].name, out->metrics[i].value);
  }
}

// JSON knows no NaN and no infinity.
static void print_json_number(const char *name, double value, bool is_first)
{
  printf("%s\"%s\": ", is_first ? "" : ", ", name);
  if (isfinite(value)) {
    printf("%.9g", value);
  } else {
    printf("null");
  }
}

static void print_json(const run_options *options, const outcome *out)
{
  const scene *s = options->scene;
  const tn_world_def *def = &options->world;
  printf("{\"scene\": \"%s\", \"parameters\": {", s->name);
  for (int i = 0; i < SCENE_MAX_PARAMETERS && s->parameters[i].name; ++i) {
    print_json_number(s->parameters[i].name, options->settings.value[i], i == 0);
  }
  printf("}, \"method\": \"%s\", \"substeps\": %d, \"iterations\": %d, \"threads\": %d, "
         "\"lanes\": %d",
         method_name(def->method), def->substeps, def->iterations, def->threads, out->lanes);
  print_json_number("seconds", options->seconds, false);
  printf(", \"frames\": %d", out->frames);
  print_json_number("ms_median", out->ms_median, false);
  print_json_number("ms_p99", out->ms_p99, false);
  printf(", \"hash\": \"%016" PRIx64 "\", \"metrics\": {", out->hash);
  for (int i = 0; i < out->metric_count; ++i) {
    print_json_number(out->metrics[i].name, out->metrics[i].value, i == 0);
  }
  printf("}}\n");
}

// ---------------------------------------------------------------------------------------------

static int frames_in(double seconds)
{
  int frames = (int)(seconds * FRAMES_PER_SECOND + 0.5);
  return frames > 0 ? frames : 1;
}

bool simulate(const run_options *options)
{
  int frames = frames_in(options->seconds);
  double *times = malloc((size_t)frames * sizeof *times);
  scene_run *run = scene_create(options->scene, &options->settings, &options->world);
  bool ok = times && run;
  if (!ok) {
    complain("%s could not be set up", options->scene->name);
  }
  if (ok && !options->json) {
    print_head(options);
  }
  ok = ok && step_all(run, times, frames, options->scene->conserves && !options->json);
  if (ok) {
    outcome out = make_outcome(run, times, frames);
    if (options->json) {
      print_json(options, &out);
    } else {
      print_outcome(&out);
    }
  }
  scene_destroy(run);
  free(times);
  return ok;
}
