// The solver's passes over joints in a world, without the rest of a step; and their cost beside
// that of the maths alone.
#include "bench.h"

#include "timing.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// What passes change, to be put back

typedef struct saved_memory {
  void *from, *copy;
  size_t size;
} saved_memory;

typedef struct saved_world {
  saved_memory parts[4];
} saved_world;

static saved_memory save_memory(void *from, size_t size)
{
  saved_memory saved = {from, malloc(size), size};
  if (saved.copy) {
    memcpy(saved.copy, from, size);
  }
  return saved;
}

static saved_world save_world(tn_world *world)
{
  size_t bodies = (size_t)world->body_list.capacity;
  size_t blocks = (size_t)world->graph.block_count;
  saved_world saved = {
      {save_memory(world->state, bodies * sizeof *world->state),
       save_memory(world->inertia, bodies * sizeof *world->inertia),
       save_memory(world->body_blocks, bodies / BLOCK_WIDTH * sizeof *world->body_blocks),
       save_memory(world->graph.blocks, blocks * sizeof *world->graph.blocks)}};
  return saved;
}

static bool is_saved(const saved_world *saved)
{
  return saved->parts[0].copy && saved->parts[1].copy && saved->parts[2].copy &&
         saved->parts[3].copy;
}

static void restore_world(const saved_world *saved)
{
  for (int i = 0; i < 4; ++i) {
    memcpy(saved->parts[i].from, saved->parts[i].copy, saved->parts[i].size);
  }
}

static void forget_world(saved_world *saved)
{
  for (int i = 0; i < 4; ++i) {
    free(saved->parts[i].copy);
  }
}

// ---------------------------------------------------------------------------------------------
// Substeps as step.c makes them

static void pass_over_joints(tn_world *world, solver_data *data,
                             void (*pass)(solver_data *data, int first, int last))
{
  const coloring *c = &world->graph.coloring;
  for (int i = 0; i < c->count; ++i) {
    pass(data, c->color[i].first, c->color[i].last);
  }
  pass(data, c->serial.first, c->serial.last);
}

// Milliseconds that the joints took.
static double run_substeps(tn_world *world, int substeps)
{
  solver_data data = {
      .state = world->state,
      .inertia = world->inertia,
      .bodies = world->body_blocks,
      .change = world->change,
      .joints = world->graph.blocks,
      .active = world->active_blocks,
      .substep = {.h = 1.0f / (60.0f * (float)substeps), .keep = 0.2f, .push = 5.0f, .turn = 5.0f}};
  const solver_ops *ops = world->ops;
  int blocks = world->active_block_count;
  double ms = 0.0;
  for (int i = 0; i < substeps; ++i) {
    data.substep.time = (float)(i + 1) * data.substep.h;
    ops->kick(&data, 0, blocks, KICK_WHOLE);
    double start = timing_now_ms();
    pass_over_joints(world, &data, ops->joint_begin);
    pass_over_joints(world, &data, ops->joint_solve);
    ms += timing_now_ms() - start;
    ops->drift(&data, 0, blocks);
  }
  return ms;
}

double pass_ns(tn_world *world, int substeps)
{
  double best = 1e30;
  saved_world saved = save_world(world);
  for (int i = 0; is_saved(&saved) && i < 50; ++i) {
    double ms = run_substeps(world, substeps);
    best = ms < best ? ms : best;
    restore_world(&saved);
  }
  forget_world(&saved);
  return best * 1e6 / ((double)world->joint_list.count * (double)substeps);
}

// ---------------------------------------------------------------------------------------------

static bool compare(bench *b, kernel_joint which, const char *kernel_name, const char *pass_name)
{
  const int count = 1000;
  const int substeps = 20;
  int lanes = kernel_lanes();
  bench_line alone = {.name = kernel_name, .size = lanes, .threads = 1, .lanes = lanes};
  alone.ns = kernel_ns(which);
  bench_report(b, &alone);

  bench_job job = bench_job_of("chain", substeps);
  bench_set(&job, "count", (double)count);
  bench_set(&job, "hinges", which == KERNEL_HINGE ? 1.0 : 0.0);
  bench_set(&job, "stir", 1.0);
  tn_world_def def = tn_default_world_def();
  def.substeps = substeps;
  def.lanes = lanes;
  scene_run *run = scene_create(scene_find(job.scene), &job.settings, &def);
  if (!run) {
    return false;
  }
  for (int i = 0; i < 10; ++i) {
    scene_advance(run, 1.0f / 60.0f);
  }
  bench_line pass = {.name = pass_name, .size = count, .threads = 1, .lanes = lanes};
  pass.ns = pass_ns(run->world, substeps);
  pass.compare = pass.ns / alone.ns;
  pass.compared = "times_kernel";
  bench_report(b, &pass);
  scene_destroy(run);
  return true;
}

bool bench_kernels(bench *b)
{
  if (!bench_is_picked(b, "kernel", kernel_lanes()) || kernel_lanes() > bench_widest_lanes()) {
    return true;
  }
  return compare(b, KERNEL_BALL, "kernel_ball", "pass_ball") &&
         compare(b, KERNEL_HINGE, "kernel_hinge", "pass_hinge");
}
