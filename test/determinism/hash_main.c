// Prints a line "scene lanes threads hash" for every scene, method, lane width and number of
// threads, up to two threads or the argument. The hash of a scene must be equal in all its lines,
// for every compiler and machine.
#include "heap.h"
#include "menagerie.h"
#include "softs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void ignore_message(tn_log_level level, const char *message, void *context)
{
  (void)level, (void)message, (void)context;
}

static uint32_t run_menagerie(tn_world *world)
{
  menagerie_build(world, 18, 400.0f); // enough for several threads to share a colour
  uint32_t status = 0;
  for (int step = 0; step < 60; ++step) {
    menagerie_disturb(world, step);
    status |= tn_world_step(world, 1.0f / 60.0f);
  }
  return status;
}

static uint32_t run_heap(tn_world *world)
{
  heap_build(world, 6);
  uint32_t status = 0;
  for (int step = 0; step < 90; ++step) {
    status |= tn_world_step(world, 1.0f / 60.0f);
  }
  return status;
}

static uint32_t run_softs(tn_world *world)
{
  softs_build(world);
  uint32_t status = 0;
  for (int step = 0; step < 60; ++step) {
    status |= tn_world_step(world, 1.0f / 60.0f);
  }
  return status;
}

typedef uint32_t run_fn(tn_world *world);

static bool print_hash(const char *scene, run_fn *run, tn_method method, int lanes, int threads)
{
  tn_world_def def = tn_default_world_def();
  def.method = method;
  def.substeps = 4;
  def.lanes = lanes;
  def.threads = threads;
  def.log = ignore_message;
  tn_world *world = tn_world_create(&def);
  if (!world) {
    return lanes >= 8; // not every machine has wide lanes
  }
  uint32_t status = run(world);
  printf("%s %d %d %016" PRIx64 "\n", scene, lanes, threads, tn_world_hash(world));
  tn_world_destroy(world);
  return status == TN_STEP_OK;
}

int main(int argc, char **argv)
{
  static const char *const scenes[9] = {"tenon",       "xpbd",       "jacobi",
                                        "tenon_heap",  "xpbd_heap",  "jacobi_heap",
                                        "tenon_softs", "xpbd_softs", "jacobi_softs"};
  static run_fn *const runs[3] = {run_menagerie, run_heap, run_softs};
  static const tn_method methods[3] = {TN_METHOD_TENON, TN_METHOD_XPBD, TN_METHOD_JACOBI};
  static const int lanes[4] = {1, 4, 8, 16};
#if defined(TN_NO_THREADS)
  int most_threads = 1;
  (void)argc, (void)argv;
#else
  int most_threads = argc > 1 ? atoi(argv[1]) : 2;
#endif
  bool ok = true;
  for (int scene = 0; scene < 9; ++scene) {
    run_fn *run = runs[scene / 3];
    for (int i = 0; i < 4; ++i) {
      for (int threads = 1; threads <= most_threads; ++threads) {
        ok = print_hash(scenes[scene], run, methods[scene % 3], lanes[i], threads) && ok;
      }
    }
  }
  return ok ? 0 : 1;
}
