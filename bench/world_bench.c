// Whole frames: chains, pendula, free bodies.
#include "bench.h"

static const int SUBSTEPS = 20;

// ---------------------------------------------------------------------------------------------
// Chains, at every width and number of threads. Their hashes must agree. They are stirred, so that
// every joint has something to do: along a still chain impulses fade to subnormal numbers, and the
// figures would be about those.

typedef struct chain_size {
  int count, frames, runs;
} chain_size;

static bool run_chain(bench *b, const char *name, bench_job *job, int count, uint64_t *expected)
{
  bench_result result;
  if (!bench_run(job, &result)) {
    return false;
  }
  bench_line line = {.name = name,
                     .size = count,
                     .threads = job->threads,
                     .lanes = job->lanes,
                     .ms = result.ms,
                     .ns = result.ms * 1e6 / ((double)result.joints * (double)job->substeps),
                     .hash = result.hash};
  bench_report(b, &line);
  *expected = *expected ? *expected : result.hash;
  if (result.hash != *expected) {
    printf("MISMATCH: the hash should not depend on lanes and threads\n");
    b->has_mismatch = true;
  }
  return true;
}

static bool run_chains_of(bench *b, const char *name, chain_size size, int hinges)
{
  static const int lanes[] = {1, 4, 8};
  uint64_t expected = 0;
  int widest = bench_widest_lanes();
  bench_job job = bench_job_of(scene_find("chain"), SUBSTEPS);
  bench_set(&job, "count", (double)size.count);
  bench_set(&job, "hinges", (double)hinges);
  bench_set(&job, "stir", 1.0);
  job.frames = size.frames;
  job.runs = size.runs;
  bool ok = true;
  for (job.threads = 1; job.threads <= 2; ++job.threads) {
    for (int i = 0; ok && i < 3 && lanes[i] <= widest; ++i) {
      job.lanes = lanes[i];
      ok = run_chain(b, name, &job, size.count, &expected);
    }
  }
  return ok;
}

bool bench_chains(bench *b)
{
  static const chain_size sizes[] = {{100, 120, 5}, {1000, 60, 3}, {10000, 5, 2}, {100000, 2, 2}};
  bool ok = true;
  for (int i = 0; ok && i < 4; ++i) {
    if (bench_is_picked(b, "chain", sizes[i].count)) {
      ok = run_chains_of(b, "chain_ball", sizes[i], 0) &&
           run_chains_of(b, "chain_hinge", sizes[i], 1);
    }
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// The pendula, beside Table 1 of Mueller et al. 2020

typedef struct pendulum {
  const char *scene;
  int bodies;
  double paper_ms;
} pendulum;

bool bench_pendula(bench *b)
{
  static const pendulum pendula[] = {
      {"pendulum_double", 2, 0.07}, {"pendulum_triple", 3, 0.09}, {"pendulum_loop", 5, 0.2}};
  for (int i = 0; i < 3; ++i) {
    if (!bench_is_picked(b, "pendulum", pendula[i].bodies)) {
      continue;
    }
    bench_job job = bench_job_of(scene_find(pendula[i].scene), 40);
    bench_result result;
    job.frames = 600;
    if (!bench_run(&job, &result)) {
      return false;
    }
    bench_line line = {.name = pendula[i].scene,
                       .size = pendula[i].bodies,
                       .threads = 1,
                       .lanes = bench_widest_lanes(),
                       .ms = result.ms,
                       .ns = result.ms * 1e6 / (40.0 * (double)result.joints),
                       .hash = result.hash,
                       .compare = pendula[i].paper_ms,
                       .compared = "paper_ms"};
    bench_report(b, &line);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Bodies without joints

bool bench_bodies(bench *b)
{
  static const int lanes[] = {1, 4, 8};
  const int count = 10000;
  int widest = bench_widest_lanes();
  for (int i = 0; i < 3 && lanes[i] <= widest; ++i) {
    if (!bench_is_picked(b, "bodies", count)) {
      break;
    }
    bench_job job = bench_job_of(scene_find("free_bodies"), SUBSTEPS);
    bench_result result;
    bench_set(&job, "count", (double)count);
    job.frames = 20;
    job.lanes = lanes[i];
    if (!bench_run(&job, &result)) {
      return false;
    }
    bench_line line = {.name = "free_bodies",
                       .size = count,
                       .threads = 1,
                       .lanes = lanes[i],
                       .ms = result.ms,
                       .ns = result.ms * 1e6 / ((double)count * (double)SUBSTEPS),
                       .hash = result.hash};
    bench_report(b, &line);
  }
  return true;
}
