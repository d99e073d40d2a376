// Whole frames with contacts: pyramids, piles, sleepers; and rays.
#include "bench.h"

#include "timing.h"

#include <stdlib.h>

static const int SUBSTEPS = 20;

// One line for each number of threads. The hashes must agree.
static bool run_on_threads(bench *b, const char *name, int size, bench_job *job)
{
  uint64_t expected = 0;
  for (job->threads = 1; job->threads <= 2; ++job->threads) {
    bench_result result;
    if (!bench_run(job, &result)) {
      return false;
    }
    double count = result.contacts > 0 ? (double)result.contacts : (double)size;
    bench_line line = {.name = name,
                       .size = size,
                       .threads = job->threads,
                       .lanes = bench_widest_lanes(),
                       .ms = result.ms,
                       .ns = result.ms * 1e6 / (count * (double)job->substeps),
                       .hash = result.hash,
                       .compare = result.penetration,
                       .compared = "penetration_m",
                       .parts = result.parts};
    bench_report(b, &line);
    expected = expected ? expected : result.hash;
    if (result.hash != expected) {
      printf("MISMATCH: the hash should not depend on threads\n");
      b->has_mismatch = true;
    }
  }
  return true;
}

typedef struct sized_job {
  int size, lead, frames;
  double width; // of the capsules' box
} sized_job;

static bool run_pyramids(bench *b)
{
  static const sized_job sizes[] = {
      {20, 60, 60, 0.0}, {36, 60, 60, 0.0}, {60, 30, 30, 0.0}, {100, 30, 30, 0.0}};
  for (int i = 0; i < 4; ++i) {
    bench_job job = bench_job_of("pyramid", SUBSTEPS);
    bench_set(&job, "base", (double)sizes[i].size);
    job.lead = sizes[i].lead;
    job.frames = sizes[i].frames;
    job.runs = 1;
    if (bench_is_picked(b, "pyramid", sizes[i].size) &&
        !run_on_threads(b, "pyramid", sizes[i].size, &job)) {
      return false;
    }
  }
  return true;
}

// Timed from the fall to the heap, in the middle of the landing.
static bool run_capsules(bench *b)
{
  static const sized_job sizes[] = {
      {500, 120, 120, 6.0}, {2000, 180, 120, 10.0}, {8000, 240, 60, 16.0}};
  for (int i = 0; i < 3; ++i) {
    bench_job job = bench_job_of("capsules", SUBSTEPS);
    bench_set(&job, "count", (double)sizes[i].size);
    bench_set(&job, "width", sizes[i].width);
    job.lead = sizes[i].lead;
    job.frames = sizes[i].frames;
    job.runs = 1;
    if (bench_is_picked(b, "capsules", sizes[i].size) &&
        !run_on_threads(b, "capsules", sizes[i].size, &job)) {
      return false;
    }
  }
  return true;
}

static bool run_mixed(bench *b)
{
  bench_job job = bench_job_of("pile", SUBSTEPS);
  job.lead = 240;
  job.frames = 120;
  job.runs = 1;
  return !bench_is_picked(b, "mixed", 2000) || run_on_threads(b, "pile", 2000, &job);
}

static bool run_sleeping(bench *b)
{
  const int count = 10000;
  bench_job job = bench_job_of("resting", SUBSTEPS);
  bench_set(&job, "count", (double)count);
  job.sleeping = true;
  job.lead = 120;
  return !bench_is_picked(b, "sleeping", count) || run_on_threads(b, "sleeping", count, &job);
}

// ---------------------------------------------------------------------------------------------
// Rays into the mixed pile, from all around it

enum { RAYS = 100000 };

typedef struct ray_set {
  tn_pos from[RAYS];
  tn_vec3 way[RAYS];
  tn_hit hit[RAYS];
} ray_set;

static float next_random(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) * (1.0f / 8388608.0f) - 1.0f;
}

static void aim_rays(ray_set *rays)
{
  uint32_t random = 5;
  for (int i = 0; i < RAYS; ++i) {
    tn_vec3 from = {15.0f * next_random(&random), 0.0f, 15.0f * next_random(&random)};
    from.y = 6.0f + 5.0f * next_random(&random);
    tn_vec3 to = {7.0f * next_random(&random), 0.0f, 7.0f * next_random(&random)};
    rays->from[i] = tn_offset(tn_p3(0.0, 0.0, 0.0), from);
    rays->way[i] = tn_scale(1.5f, tn_sub(to, from));
  }
}

static double fastest_cast(const tn_world *world, ray_set *rays)
{
  tn_query_filter filter = tn_default_query_filter();
  double best = 0.0;
  for (int i = 0; i < 5; ++i) {
    double start = timing_now_ms();
    tn_world_rays(world, rays->from, rays->way, RAYS, filter, rays->hit);
    double ms = timing_now_ms() - start;
    best = best > 0.0 && best < ms ? best : ms;
  }
  return best;
}

static bool run_rays(bench *b)
{
  if (!bench_is_picked(b, "rays", RAYS)) {
    return true;
  }
  tn_world_def def = tn_default_world_def();
  def.substeps = 4;
  scene_run *run = scene_create(scene_find("pile"), NULL, &def);
  ray_set *rays = malloc(sizeof *rays);
  bool ok = run && rays;
  for (int i = 0; ok && i < 240; ++i) {
    scene_advance(run, 1.0f / 60.0f);
  }
  if (ok) {
    aim_rays(rays);
    double ms = fastest_cast(run->world, rays);
    bench_line line = {.name = "rays",
                       .size = RAYS,
                       .threads = 1,
                       .lanes = 1,
                       .ms = ms,
                       .ns = ms * 1e6 / (double)RAYS,
                       .compare = 1e3 * (double)RAYS / ms,
                       .compared = "rays_a_second"};
    bench_report(b, &line);
  }
  free(rays);
  scene_destroy(run);
  return ok;
}

bool bench_contacts(bench *b)
{
  return run_pyramids(b) && run_capsules(b) && run_mixed(b) && run_sleeping(b) && run_rays(b);
}
