// Single benchmarks: rays, memory, and quality against time.
#include "bench.h"

#include "build.h"
#include "timing.h"

#include <stdlib.h>
#include <string.h>

static const float FRAME = 1.0f / 60.0f;

static scene_run *make(const char *name, const char *parameter, double value, int substeps)
{
  const scene *which = bench_find_scene(name);
  scene_settings settings = scene_defaults(which);
  scene_set(which, &settings, parameter, value);
  tn_world_def def = tn_default_world_def();
  def.substeps = substeps;
  def.sleeping = false;
  return scene_create(which, &settings, &def);
}

static bench_row row_of(const char *name, int size, const char *setting, int substeps)
{
  return (bench_row){.engine = "tenon",
                     .scene = name,
                     .setting = setting,
                     .size = size,
                     .substeps = substeps,
                     .threads = 1,
                     .lanes = bench_widest_lanes()};
}

// ---------------------------------------------------------------------------------------------
// Ray casts into the mixed pile, from all sides

enum { RAYS = 100000, RAY_RUNS = 9 };

typedef struct ray_set {
  tn_pos from[RAYS];
  tn_vec3 way[RAYS];
  tn_hit hit[RAYS];
} ray_set;

static void aim_rays(ray_set *rays)
{
  uint32_t random = 5;
  for (int i = 0; i < RAYS; ++i) {
    tn_vec3 from = scene_random_vector(&random, 15.0f);
    from.y = 6.0f + from.y / 3.0f;
    tn_vec3 to = scene_random_vector(&random, 7.0f);
    to.y = 0.0f;
    rays->from[i] = tn_offset(tn_p3(0.0, 0.0, 0.0), from);
    rays->way[i] = tn_scale(1.5f, tn_sub(to, from));
  }
}

static void report_rays(bench *b, const tn_world *world, ray_set *rays)
{
  double times[RAY_RUNS];
  int hits = 0;
  for (int i = 0; i < RAY_RUNS; ++i) {
    double start = bench_cpu_ms();
    tn_world_rays(world, rays->from, rays->way, RAYS, tn_default_query_filter(), rays->hit);
    times[i] = bench_cpu_ms() - start;
  }
  for (int i = 0; i < RAYS; ++i) {
    hits += rays->hit[i].hit;
  }
  timing_sort(times, RAY_RUNS);
  bench_row row = row_of("rays", RAYS, "own", 0);
  row.ms_median = timing_quantile(times, RAY_RUNS, 0.5);
  row.ms_p99 = times[RAY_RUNS - 1];
  bench_note(&row, "ns", row.ms_median * 1e6 / (double)RAYS);
  bench_note(&row, "rays_a_second", 1e3 * (double)RAYS / row.ms_median);
  bench_note(&row, "hits", (double)hits);
  row.shown[0] = "rays_a_second";
  row.shown[1] = "hits";
  bench_report(b, &row);
}

bool bench_rays(bench *b)
{
  if (!bench_is_picked(b, "race", "rays", RAYS)) {
    return true;
  }
  scene_run *run = make("pile", "count", 2000.0, TN_QUALITY_FAST);
  ray_set *rays = malloc(sizeof *rays);
  bool ok = run && rays;
  for (int i = 0; ok && i < 240; ++i) {
    scene_advance(run, FRAME);
  }
  if (ok) {
    aim_rays(rays);
    report_rays(b, run->world, rays);
  }
  free(rays);
  scene_destroy(run);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Memory of a world, by its contents

typedef struct held {
  tn_counters start, end;
} held;

// Memory of a scene after its creation, and some frames later.
static bool hold(const char *name, const char *parameter, double size, int frames, held *h)
{
  scene_run *run = make(name, parameter, size, TN_QUALITY_FAST);
  if (!run) {
    return false;
  }
  h->start = tn_world_counters(run->world);
  for (int i = 0; i < frames; ++i) {
    scene_advance(run, FRAME);
  }
  h->end = tn_world_counters(run->world);
  scene_destroy(run);
  return true;
}

bool bench_memory(bench *b)
{
  if (!bench_is_picked(b, "memory", "memory", 0)) {
    return true;
  }
  held bare, solid, piled, linked;
  if (!hold("free_bodies", "count", 10000.0, 1, &bare) ||
      !hold("resting", "count", 10000.0, 0, &solid) ||
      !hold("capsules", "count", 2000.0, 240, &piled) ||
      !hold("chain", "count", 5000.0, 1, &linked)) {
    return false;
  }
  double body = (double)bare.end.bytes / (double)bare.end.bodies;
  double shaped = (double)solid.start.bytes / (double)solid.start.bodies;
  double grown = (double)(piled.end.bytes - piled.start.bytes);
  double joint =
      ((double)linked.end.bytes - body * (double)linked.end.bodies) / (double)linked.end.joints;
  bench_row row = row_of("memory", 0, "own", TN_QUALITY_FAST);
  bench_note(&row, "bytes_a_bare_body", body);
  bench_note(&row, "bytes_a_body_with_shape", shaped);
  bench_note(&row, "bytes_a_contact", grown / (double)piled.end.contacts);
  bench_note(&row, "bytes_a_joint", joint);
  for (int i = 0; i < row.metric_count; ++i) {
    row.shown[i] = row.metrics[i].name;
  }
  bench_report(b, &row);
  return true;
}

// ---------------------------------------------------------------------------------------------
// The same scene with increasing numbers of substeps

typedef struct curve {
  const char *name, *scene, *parameter;
  int size;
  const char *extra; // another parameter, and its value
  double value;
  int frames;
  const char *shown[BENCH_SHOWN];
} curve;

static bool run_curve_at(bench *b, const curve *c, int substeps)
{
  const scene *which = scene_find(c->scene);
  scene_settings settings = scene_defaults(which);
  scene_set(which, &settings, c->parameter, (double)c->size);
  scene_set(which, &settings, c->extra, c->value);
  tn_world_def def = tn_default_world_def();
  def.substeps = substeps;
  def.sleeping = false;
  scene_run *run = scene_create(which, &settings, &def);
  double *times = malloc((size_t)c->frames * sizeof *times);
  bool ok = run && times;
  for (int i = 0; ok && i < c->frames; ++i) {
    double start = bench_cpu_ms();
    scene_advance(run, FRAME);
    times[i] = bench_cpu_ms() - start;
    if (i % 5 == 4) {
      scene_observe(run, 0.0f);
    }
  }
  if (ok) {
    bench_row row = row_of(c->name, c->size, "curve", substeps);
    timing_sort(times, c->frames);
    row.ms_median = timing_quantile(times, c->frames, 0.5);
    row.ms_p99 = timing_quantile(times, c->frames, 0.99);
    row.hash = tn_world_hash(run->world);
    scene_metric list[SCENE_MAX_METRICS];
    int count = scene_metrics(run, list, SCENE_MAX_METRICS);
    for (int i = 0; i < count && i < SCENE_MAX_METRICS; ++i) {
      bench_note(&row, list[i].name, list[i].value);
    }
    bench_note(&row, "seconds", run->time);
    memcpy(row.shown, c->shown, sizeof row.shown);
    bench_report(b, &row);
  }
  free(times);
  scene_destroy(run);
  return ok;
}

bool bench_curves(bench *b)
{
  static const int substeps[] = {4, 6, 8, 12, 20, 30, 40};
  static const curve curves[] = {
      {"curve_pyramid",
       "pyramid",
       "base",
       36,
       "friction",
       0.6,
       600,
       {"max_drift_m", "max_penetration_m", "max_speed_end", "fallen"}},
      {"curve_stack",
       "stack",
       "count",
       10,
       "offset",
       0.0,
       1800,
       {"top_drift_m", "top_drop_m", "force_error_rel", "fallen"}},
      {"curve_capsules",
       "capsules",
       "count",
       500,
       "width",
       6.0,
       360,
       {"mean_penetration_m", "max_penetration_m", "rms_speed_end"}},
      {"curve_chain",
       "chain",
       "count",
       100,
       "end_mass_ratio",
       100.0,
       300,
       {"max_joint_error_m", "energy_rel_final", "energy_rel_max"}},
  };
  bool ok = true;
  for (size_t i = 0; i < sizeof curves / sizeof curves[0]; ++i) {
    for (size_t k = 0; k < sizeof substeps / sizeof substeps[0]; ++k) {
      if (bench_is_picked(b, "curve", curves[i].name, curves[i].size)) {
        ok = run_curve_at(b, &curves[i], substeps[k]) && ok;
      }
    }
  }
  return ok;
}
