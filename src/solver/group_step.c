// Solver groups through the whole step: each packs its contacts, runs all substeps and unpacks, on
// one thread.
#include "solver/prepare.h"
#include "solver/step.h"

#include <stdatomic.h>

#define GROUP_GRAIN 1

typedef struct group_task {
  const step_context *shared_context;
  float dt, scale;
  atomic_int next; // group to run
} group_task;

// One group through the whole step: packs its contacts into `arena`, runs all substeps, unpacks.
static void run_group(const group_task *t, const solver_group *group, contact_block *arena)
{
  step_context s = *t->shared_context;
  s.tasks = NULL;
  s.data.active += group->blocks.first;
  s.data.contacts = arena;
  s.blocks = group->blocks.last - group->blocks.first;
  s.contacts = &group->coloring;
  s.has_joints = s.has_softs = false;
  s.mechanisms = s.restitution_contacts = 0;
  bind_solver_data(&s);
  group_pack_contacts(s.world, group, &s.data, t->dt, t->scale);
  run_substeps(&s);
  start_keep_group_contacts(s.world, group);
  group_unpack_contacts(s.world, group, &s.data, t->dt);
}

// Runs groups until none is left. Range item `first` selects the arena; a thread uses one arena for
// all of its groups, which keeps it in the cache.
static void run_groups(int first, int last, void *context)
{
  (void)last;
  group_task *t = context;
  const solver_group_set *groups = &t->shared_context->world->solver->groups;
  contact_block *arena = t->shared_context->data.contacts +
                         t->shared_context->world->solver->contact_graph.shared_block_count;
  int i;
  while ((i = atomic_fetch_add(&t->next, 1)) < groups->count) {
    run_group(t, &groups->list[i], arena + (ptrdiff_t)first * groups->arena_blocks);
  }
}

void solve_groups(const step_context *shared, float dt, float scale)
{
  tn_world *world = shared->world;
  group_task task = {.shared_context = shared, .dt = dt, .scale = scale};
  if (groups_count(&world->solver->groups) > 0) {
    task_run(world->tasks, run_groups, world->solver->groups.arena_count, GROUP_GRAIN, &task);
  }
}
