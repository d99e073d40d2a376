// Prints a line "scene method substeps hash" for many scenes: the hash of all poses and velocities
// after 60 frames. A change that only moves code prints the same lines; scripts/same_bits compares
// two versions.
#include "heap.h"
#include "menagerie.h"
#include "random_graph.h"
#include "softs.h"

#include "scenes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 60
#define DT (1.0f / 60.0f)
static const int SUBSTEPS[2] = {4, 20};

// FNV-1a.
static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t size)
{
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ at[i]) * 0x100000001b3u;
  }
  return hash;
}

static uint64_t add_bodies(uint64_t hash, const tn_world *world)
{
  int count = tn_world_bodies(world, NULL, 0);
  tn_body_id *ids = malloc((size_t)(count + 1) * sizeof *ids);
  tn_world_bodies(world, ids, count);
  for (int i = 0; i < count; ++i) {
    tn_transform at = tn_body_transform(world, ids[i]);
    tn_vec3 v = tn_body_velocity(world, ids[i]), w = tn_body_angular_velocity(world, ids[i]);
    double numbers[13] = {at.p.x, at.p.y, at.p.z, at.q.x, at.q.y, at.q.z, at.q.w,
                          v.x,    v.y,    v.z,    w.x,    w.y,    w.z};
    hash = add_bytes(hash, numbers, sizeof numbers);
  }
  free(ids);
  return hash;
}

static uint64_t add_softs(uint64_t hash, const tn_world *world)
{
  int count = tn_world_softs(world, NULL, 0);
  tn_soft_id *ids = malloc((size_t)(count + 1) * sizeof *ids);
  tn_world_softs(world, ids, count);
  for (int i = 0; i < count; ++i) {
    int particles = tn_soft_positions(world, ids[i], NULL, 0);
    tn_pos *positions = malloc((size_t)particles * sizeof *positions);
    tn_vec3 *velocities = malloc((size_t)particles * sizeof *velocities);
    tn_soft_positions(world, ids[i], positions, particles);
    tn_soft_velocities(world, ids[i], velocities, particles);
    hash = add_bytes(hash, positions, (size_t)particles * sizeof *positions);
    hash = add_bytes(hash, velocities, (size_t)particles * sizeof *velocities);
    free(positions);
    free(velocities);
  }
  free(ids);
  return hash;
}

static void print_hash(const char *name, tn_method method, int substeps, const tn_world *world)
{
  uint64_t hash = add_softs(add_bodies(0xcbf29ce484222325u, world), world);
  printf("%s %s %d %016" PRIx64 "\n", name, test_method_name(method), substeps, hash);
  fflush(stdout);
}

static void ignore_message(tn_log_level level, const char *message, void *context)
{
  (void)level, (void)message, (void)context;
}

static tn_world_def definition(tn_method method, int substeps)
{
  tn_world_def def = test_world_def(substeps, method);
  def.log = ignore_message;
  return def;
}

static void run_scene(const scene *which, tn_method method, int substeps)
{
  tn_world_def def = definition(method, substeps);
  scene_run *run = scene_create(which, NULL, &def);
  for (int i = 0; run && i < FRAMES; ++i) {
    scene_advance(run, DT);
  }
  if (run) {
    print_hash(which->name, method, substeps, run->world);
    scene_destroy(run);
  }
}

static void build_menagerie(tn_world *world)
{
  menagerie_build(world, 6, 400.0f);
}

static void build_heap(tn_world *world)
{
  heap_build(world, 6);
}

static void run_world(const char *name, void (*build)(tn_world *world), tn_method method,
                      int substeps)
{
  tn_world_def def = definition(method, substeps);
  tn_world *world = tn_world_create(&def);
  build(world);
  for (int i = 0; i < FRAMES; ++i) {
    if (build == build_menagerie) {
      menagerie_disturb(world, i);
    }
    tn_world_step(world, DT);
  }
  print_hash(name, method, substeps, world);
  tn_world_destroy(world);
}

static void run_graphs(void)
{
  for (int kind = GRAPH_FAR; kind <= GRAPH_TANGLED; ++kind) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      random_graph g = graph_create(seed, (graph_kind)kind, GRAPH_MAX_BODIES);
      for (int i = 0; i < FRAMES; ++i) {
        tn_world_step(g.world, GRAPH_DT);
      }
      char name[32];
      snprintf(name, sizeof name, "graph_%d_%u", kind, (unsigned)seed);
      print_hash(name, TN_METHOD_TENON, GRAPH_SUBSTEPS, g.world);
      tn_world_destroy(g.world);
    }
  }
}

int main(void)
{
  int count = 0;
  const scene *const *list = scene_list(&count);
  for (int m = 0; m < TEST_METHODS; ++m) {
    for (int k = 0; k < 2; ++k) {
      for (int i = 0; i < count; ++i) {
        run_scene(list[i], test_methods[m], SUBSTEPS[k]);
      }
      run_world("menagerie", build_menagerie, test_methods[m], SUBSTEPS[k]);
      run_world("heap", build_heap, test_methods[m], SUBSTEPS[k]);
      run_world("softs", softs_build, test_methods[m], SUBSTEPS[k]);
    }
  }
  run_graphs();
  return 0;
}
