#include "simulate.h"

#include "progress.h"
#include "record.h"
#include "timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FRAMES_PER_SECOND = 60.0;

// ---------------------------------------------------------------------------------------------
// The start

static scene_run *load_run(const run_options *options)
{
  size_t size;
  char *bytes = read_whole_file(options->from, &size);
  if (!bytes) {
    return NULL;
  }
  char name[32];
  scene_run *run = NULL;
  if (!scene_saved_name(bytes, size, name)) {
    complain("'%s' is not a snapshot of a scene", options->from);
  } else if (strncmp(name, options->scene->name, sizeof name - 1) != 0) {
    complain("'%s' is a snapshot of %s, not of %s", options->from, name, options->scene->name);
  } else {
    run = scene_load_as(options->scene, bytes, size, &options->world);
    if (!run) {
      complain("'%s' cannot be restored", options->from);
    }
  }
  free(bytes);
  return run;
}

// Solver settings are those of the snapshot, except for options given on the command line.
static void apply_choices(const run_options *options, scene_run *run)
{
  if (options->chooses_method) {
    tn_world_set_method(run->world, options->world.method);
  }
  if (options->chooses_substeps) {
    tn_world_set_substeps(run->world, options->world.substeps);
  }
  if (options->chooses_iterations) {
    tn_world_set_iterations(run->world, options->world.iterations);
  }
}

static scene_run *start_run(const run_options *options)
{
  if (!options->from) {
    scene_run *run = scene_create(options->scene, &options->settings, &options->world);
    if (!run) {
      complain("%s could not be created", options->scene->name);
    }
    return run;
  }
  scene_run *run = load_run(options);
  if (run) {
    apply_choices(options, run);
  }
  return run;
}

// ---------------------------------------------------------------------------------------------
// The run

static void note_energy(const scene_run *run, outcome *out)
{
  if (run->scene->conserves && out->energy_count < MAX_ENERGY_LINES) {
    out->energy[out->energy_count++] =
        (energy_line){run->time, tn_world_energy(run->world), scene_energy_error(run)};
  }
}

static bool is_line_due(int frame, int frames)
{
  int64_t lines = MAX_ENERGY_LINES - 1;
  return frame * lines / frames != (frame + 1) * lines / frames;
}

static bool step_once(scene_run *run, double *ms)
{
  float dt = (float)(1.0 / FRAMES_PER_SECOND);
  double start = timing_now_ms();
  uint32_t status = scene_advance(run, dt);
  *ms = timing_now_ms() - start;
  if (status & (TN_STEP_REJECTED | TN_STEP_OUT_OF_MEMORY | TN_STEP_NON_FINITE)) {
    complain("frame %d of %s failed, status %" PRIu32, run->frames, run->scene->name, status);
    return false;
  }
  scene_observe(run, dt);
  return true;
}

static bool step_all(scene_run *run, record *files, double *times, outcome *out)
{
  progress bar;
  progress_start(&bar, out->frames_wanted);
  note_energy(run, out);
  bool ok = true;
  while (ok && out->frames < out->frames_wanted && !interrupt_came()) {
    int i = out->frames;
    ok = step_once(run, &times[i]) && record_frame(files, run, times[i]);
    out->frames += ok;
    if (ok && is_line_due(i, out->frames_wanted)) {
      note_energy(run, out);
    }
    progress_show(&bar, out->frames);
  }
  progress_end(&bar);
  return ok;
}

static void complete(const run_options *options, const scene_run *run, double *times, outcome *out)
{
  timing_sort(times, out->frames);
  out->ms_median = timing_quantile(times, out->frames, 0.5);
  out->ms_p99 = timing_quantile(times, out->frames, 0.99);
  bool is_whole = out->frames == out->frames_wanted;
  out->seconds = is_whole ? options->seconds : (double)out->frames / FRAMES_PER_SECOND;
  out->hash = tn_world_hash(run->world);
  out->lanes = tn_world_lanes(run->world);
  out->substeps = tn_world_substeps(run->world);
  out->iterations = tn_world_iterations(run->world);
  out->method = tn_world_method(run->world);
  out->settings = run->settings;
  out->metric_count = scene_metrics(run, out->metrics, SCENE_MAX_METRICS);
  if (out->metric_count > SCENE_MAX_METRICS) {
    out->metric_count = SCENE_MAX_METRICS;
  }
}

static int frames_in(double seconds)
{
  int frames = (int)(seconds * FRAMES_PER_SECOND + 0.5);
  return frames > 0 ? frames : 1;
}

bool simulate(const run_options *options, outcome *out)
{
  double started = timing_now_ms();
  memset(out, 0, sizeof *out);
  out->frames_wanted = frames_in(options->seconds);
  scene_run *run = start_run(options);
  double *times = run ? malloc((size_t)out->frames_wanted * sizeof *times) : NULL;
  record files = {.film = NULL};
  bool ok = times && record_open(&files, options, run);
  if (run && !times) {
    complain("not enough memory for %d frames", out->frames_wanted);
  }
  ok = ok && step_all(run, &files, times, out);
  if (ok) {
    complete(options, run, times, out);
    ok = record_finish(&files, run);
  }
  out->wall = (timing_now_ms() - started) * 1e-3;
  record_abandon(&files);
  scene_destroy(run);
  free(times);
  return ok;
}
