// The pass that solves the positions of joints.
#include "data/world.h"
#include "micro.h"
#include "solver/solver.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 50 };

double micro_joint_pass_ns(tn_world *world, float h, tn_clock_fn *cpu_ms)
{
  size_t states = (size_t)world->body_pool.capacity * sizeof *world->state;
  body_state *kept = malloc(states);
  if (!kept) {
    return 0.0;
  }
  memcpy(kept, world->state, states);
  solver_data data = {.state = world->state,
                      .inertia = world->inertia,
                      .bodies = world->body_blocks,
                      .corrections = world->corrections,
                      .joints = world->solver->joint_graph.blocks,
                      .active = world->active_blocks,
                      .substep = {.h = h, .stage = STAGE_POSITIONS}};
  const coloring *c = &world->solver->joint_graph.coloring;
  double best = 1e30;
  for (int i = 0; i < TRIES; ++i) {
    double start = cpu_ms();
    for (int k = 0; k < c->count; ++k) {
      world->solver->ops->joint_positions(&data, c->color[k].first, c->color[k].last);
    }
    double ms = cpu_ms() - start;
    best = ms < best ? ms : best;
    memcpy(world->state, kept, states);
  }
  free(kept);
  return best * 1e6 / (double)world->joint_pool.count;
}
