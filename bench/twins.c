// Two worlds in parallel, each on its own thread: the upper limit of the gain by a second thread,
// without synchronisation.
#include "bench.h"

#include "build.h"
#include "timing.h"

#include <pthread.h>

enum { CAPSULES = 2000, LEAD = 180, ROUNDS = 5, FRAMES = 30 };

static const float FRAME = 1.0f / 60.0f;

typedef struct twin {
  scene_run *run;
  double ms; // per frame
} twin;

static scene_run *make(void)
{
  const scene *which = bench_find_scene("capsules");
  scene_settings settings = scene_defaults(which);
  scene_set(which, &settings, "count", CAPSULES);
  scene_set(which, &settings, "width", 10.0);
  tn_world_def def = tn_default_world_def();
  def.substeps = TN_QUALITY_ACCURATE;
  def.sleeping = false;
  scene_run *run = scene_create(which, &settings, &def);
  for (int i = 0; run && i < LEAD; ++i) {
    scene_advance(run, FRAME);
  }
  return run;
}

static void *advance(void *context)
{
  twin *t = context;
  double start = bench_wall_ms();
  for (int i = 0; i < FRAMES; ++i) {
    tn_world_step(t->run->world, FRAME);
  }
  t->ms = (bench_wall_ms() - start) / FRAMES;
  return NULL;
}

// ms per frame of the slower world, or of the first alone.
static double run_once(twin twins[2], int count)
{
  pthread_t other;
  bool both = count > 1 && pthread_create(&other, NULL, advance, &twins[1]) == 0;
  advance(&twins[0]);
  if (both) {
    pthread_join(other, NULL);
  }
  return both && twins[1].ms > twins[0].ms ? twins[1].ms : twins[0].ms;
}

static void report_twins(bench *b, twin twins[2], int count)
{
  double times[ROUNDS];
  for (int i = 0; i < ROUNDS; ++i) {
    times[i] = run_once(twins, count);
  }
  timing_sort(times, ROUNDS);
  bench_row row = {.engine = "tenon", .scene = "twins", .setting = "own", .size = CAPSULES};
  row.substeps = TN_QUALITY_ACCURATE;
  row.threads = count;
  row.lanes = bench_widest_lanes();
  row.ms_median = timing_quantile(times, ROUNDS, 0.5);
  row.ms_p99 = times[ROUNDS - 1];
  // The fastest run: other programs use the machine as well.
  bench_note(&row, "ms_least", times[0]);
  row.shown[0] = "ms_least";
  bench_report(b, &row);
}

bool bench_twins(bench *b)
{
  if (!bench_is_picked(b, "scaling", "twins", CAPSULES)) {
    return true;
  }
  twin twins[2] = {{make(), 0.0}, {make(), 0.0}};
  bool ok = twins[0].run && twins[1].run;
  for (int count = 1; ok && count <= 2; ++count) {
    report_twins(b, twins, count);
  }
  for (int i = 0; i < 2; ++i) {
    if (twins[i].run) {
      scene_destroy(twins[i].run);
    }
  }
  return ok;
}
