// Steps a second of many worlds on a card and on the CPU, and whether their hashes are equal:
//
//   card_rates SCENE WORLDS STEPS THREADS SETTLE
//
// SCENE is one of `tenon scenes` or of small_set.c. Each world has a gravity of its own; steps are
// of 1/60 s at 8 substeps, and worlds do not sleep. The world that is copied makes SETTLE steps
// before, and each copy one that is not timed. Without THREADS (0) the CPU is left out.
#define _POSIX_C_SOURCE 200809L // NOLINT: for clock_gettime
#include "scenes.h"
#include "small_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/cuda.h>
#include <time.h>

static const float dt = 1.0f / 60.0f;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tn_batch *make_batch(const tn_world *world, int count, int threads,
                            const tn_batch_device *device)
{
  tn_batch_def def = tn_default_batch_def();
  def.world = world;
  def.count = count;
  def.threads = threads;
  def.device = device;
  double start = now();
  tn_batch *batch = tn_batch_create(&def);
  float *gravity = batch ? malloc((size_t)count * 3 * sizeof *gravity) : NULL;
  if (!gravity) {
    tn_batch_destroy(batch);
    return NULL;
  }
  printf("%d worlds, %s: made in %.2f s", count, device ? "card" : "CPU", now() - start);
  for (int i = 0; i < 3 * count; ++i) {
    double pull = i % 3 == 1 ? -10.0 : 0.0;
    gravity[i] = (float)tn_batch_uniform(1, (uint32_t)i, 0, 0, pull - 1.0, pull + 1.0);
  }
  tn_batch_rows rows = {.data = gravity, .type = TN_FLOAT};
  tn_batch_write(batch, TN_BATCH_GRAVITY, NULL, rows);
  free(gravity);
  return batch;
}

// Steps all worlds and gives their hashes; false if the batch could not be made.
static bool run(const tn_world *world, int count, int steps, int threads,
                const tn_batch_device *device, uint64_t *hashes)
{
  tn_batch *batch = make_batch(world, count, threads, device);
  if (!batch) {
    return false;
  }
  tn_batch_step(batch, dt, 1); // copies build their tables
  double start = now();
  uint32_t status = tn_batch_step(batch, dt, steps);
  double took = now() - start;
  bool ok = tn_batch_hashes(batch, hashes);
  start = now();
  tn_batch_reset(batch, NULL);
  printf(", %.0f steps/s, status %u, reset of all %.1f ms", (double)count * steps / took,
         (unsigned)status, 1e3 * (now() - start));
  if (device) {
    printf(", %zu bytes a world", tn_batch_world_bytes(batch));
  }
  printf("\n");
  tn_batch_destroy(batch);
  return ok;
}

static bool compare(const tn_world *world, int count, int steps, int threads)
{
  uint64_t *card = calloc((size_t)count, sizeof *card), *cpu = calloc((size_t)count, sizeof *cpu);
  bool ok = card && cpu && run(world, count, steps, 1, tn_cuda(), card);
  if (ok && threads > 0 && run(world, count, steps, threads, NULL, cpu)) {
    int same = 0;
    for (int i = 0; i < count; ++i) {
      same += card[i] == cpu[i];
    }
    printf("%d of %d hashes are equal\n", same, count);
    ok = same == count;
  }
  free(card);
  free(cpu);
  return ok;
}

static bool settle_and_compare(tn_world *world, char **numbers)
{
  for (int i = atoi(numbers[3]); i > 0; --i) {
    tn_world_step(world, dt);
  }
  return compare(world, atoi(numbers[0]), atoi(numbers[1]), atoi(numbers[2]));
}

int main(int argc, char **argv)
{
  const scene *which = argc == 6 ? scene_find(argv[1]) : NULL;
  tn_world_def def = tn_default_world_def();
  def.substeps = 8;
  def.sleeping = false;
  tn_world *small = argc == 6 ? small_set_make(argv[1], &def) : NULL;
  if ((!small && !which) || atoi(argv[2]) < 1 || atoi(argv[3]) < 1) {
    fprintf(stderr, "usage: card_rates SCENE WORLDS STEPS THREADS SETTLE\n");
    return 2;
  }
  if (small) {
    bool ok = settle_and_compare(small, argv + 2);
    tn_world_destroy(small);
    return ok ? 0 : 1;
  }
  scene_settings settings = scene_defaults(which);
  scene_run *made = scene_create(which, &settings, &def);
  bool ok = made && settle_and_compare(made->world, argv + 2);
  scene_destroy(made);
  return ok ? 0 : 1;
}
