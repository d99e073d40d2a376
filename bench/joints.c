// Joints by Gauss-Seidel in SIMD lanes, as the published method solves them: time per joint in
// chains of several lengths, and time of a pass compared with the maths alone.
#include "bench.h"

#include "micro.h"
#include "timing.h"

static const float FRAME = 1.0f / 60.0f;
enum { SUBSTEPS = 8, PASS_LINKS = 1000 };

static const char *const names[2] = {"links_ball", "links_hinge"};

static scene_run *make_chain(int links, bool hinge, int lanes, int threads)
{
  const scene *which = scene_find("chain");
  scene_settings settings = scene_defaults(which);
  scene_set(which, &settings, "count", (double)links);
  scene_set(which, &settings, "hinges", hinge ? 1.0 : 0.0);
  scene_set(which, &settings, "stir", 1.0);
  tn_world_def def = tn_default_world_def();
  def.method = TN_METHOD_XPBD;
  def.substeps = SUBSTEPS;
  def.lanes = lanes;
  def.threads = threads;
  def.sleeping = false;
  return scene_create(which, &settings, &def);
}

static bench_row links_row(const char *name, int size, int lanes, int threads)
{
  return (bench_row){.engine = "tenon",
                     .scene = name,
                     .setting = "xpbd",
                     .size = size,
                     .substeps = SUBSTEPS,
                     .threads = threads,
                     .lanes = lanes};
}

// ---------------------------------------------------------------------------------------------
// Whole frames

static bool time_chain(bench *b, int links, bool hinge, int lanes, int threads)
{
  scene_run *run = make_chain(links, hinge, lanes, threads);
  if (!run) {
    return lanes > 4; // not available on every machine
  }
  double times[100] = {0};
  int frames = links > 10000 ? 5 : links > 1000 ? 20 : 100;
  for (int i = 0; i < 3; ++i) {
    scene_advance(run, FRAME);
  }
  for (int i = 0; i < frames; ++i) {
    double start = threads > 1 ? bench_wall_ms() : bench_cpu_ms();
    scene_advance(run, FRAME);
    times[i] = (threads > 1 ? bench_wall_ms() : bench_cpu_ms()) - start;
  }
  timing_sort(times, frames);
  bench_row row = links_row(names[hinge], links, lanes, threads);
  row.ms_median = timing_quantile(times, frames, 0.5);
  row.ms_p99 = timing_quantile(times, frames, 0.99);
  row.hash = tn_world_hash(run->world);
  bench_note(&row, "ns", row.ms_median * 1e6 / ((double)run->joint_count * SUBSTEPS));
  bench_report(b, &row);
  scene_destroy(run);
  return true;
}

// ---------------------------------------------------------------------------------------------
// The pass over positions, compared with its kernel

static bool compare_with_kernel(bench *b, bool hinge)
{
  int lanes = micro_kernel_lanes();
  scene_run *run = make_chain(PASS_LINKS, hinge, lanes, 1);
  if (!run) {
    return true;
  }
  for (int i = 0; i < 10; ++i) {
    scene_advance(run, FRAME);
  }
  bench_row row = links_row(hinge ? "pass_hinge" : "pass_ball", PASS_LINKS, lanes, 1);
  double kernel = micro_joint_kernel_ns(hinge, bench_cpu_ms);
  double pass = micro_joint_pass_ns(run->world, FRAME / SUBSTEPS, bench_cpu_ms);
  bench_note(&row, "ns", pass);
  bench_note(&row, "ns_maths_alone", kernel);
  bench_note(&row, "times_maths_alone", pass / kernel);
  row.shown[0] = "ns_maths_alone";
  row.shown[1] = "times_maths_alone";
  bench_report(b, &row);
  scene_destroy(run);
  return true;
}

bool bench_joints(bench *b)
{
  static const int sizes[4] = {100, 1000, 10000, 100000};
  static const int ways[4][2] = {{1, 1}, {4, 1}, {8, 1}, {8, 2}}; // lanes, threads
  bool ok = true;
  for (int hinge = 0; hinge < 2; ++hinge) {
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 4 && bench_is_picked(b, "joints", names[hinge], sizes[i]); ++k) {
        ok = time_chain(b, sizes[i], hinge, ways[k][0], ways[k][1]) && ok;
      }
    }
    if (bench_is_picked(b, "joints", hinge ? "pass_hinge" : "pass_ball", PASS_LINKS)) {
      ok = compare_with_kernel(b, hinge) && ok;
    }
  }
  return ok;
}
