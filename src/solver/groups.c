// Solver groups: sets of bodies that no contact connects with others.
//
// In a large scene every pass over all contacts fetches them from memory. Groups go through all
// substeps one by one instead: a group fits into the cache of one core, and threads do not wait for
// each other after each colour. Each body sees the same operations in the same order, so the result
// is the same as without groups.
//
// The unit is the body block, as in kick and drift. Bodies with joints or restitution, and sets
// that are too large for a cache, stay shared: they go colour by colour on all threads. Scenes with
// soft bodies have no groups.
#include "solver/groups.h"

#include "data/world.h"
#include "solver/solver.h"

#include <string.h>

// Costs are memory, in units of a contact.
#define BLOCK_COST 2          // of a body block
#define GROUP_COST 1024       // that fits into a core's own cache
#define MAX_GROUP_COST 4096   // larger sets stay shared
#define GROUP_SEARCH_DELAY 64 // steps without a search after one that found fewer than two groups

static int32_t body_block_count(const tn_world *world)
{
  return (world->body_pool.used + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
}

static bool is_worth_grouping(tn_world *world)
{
  solver_group_set *p = &world->solver->groups;
  p->search_delay -= p->search_delay > 0;
  return p->search_delay == 0 && world->method == TN_METHOD_TENON && world->soft_pool.count == 0 &&
         world->contact_pool.count + BLOCK_COST * world->active_block_count > 4 * GROUP_COST;
}

bool groups_begin(tn_world *world)
{
  solver_group_set *p = &world->solver->groups;
  p->count = 0;
  p->enabled = is_worth_grouping(world);
  if (!groups_enabled(&world->solver->groups)) {
    return true;
  }
  int32_t blocks = body_block_count(world);
  if (!heap_reserve(&world->heap, (void **)&p->block_sets, &p->block_set_capacity, blocks,
                    sizeof *p->block_sets)) {
    return false;
  }
  for (int32_t i = 0; i < blocks; ++i) {
    p->block_sets[i] = (block_set){.root = i, .group = NO_SLOT};
  }
  // Block 0 holds the world's slot, which all groups read: none may write it.
  p->block_sets[0].excluded = true;
  return true;
}

// Union-find with path halving.
static int32_t set_root(solver_group_set *p, int32_t set)
{
  while (p->block_sets[set].root != set) {
    p->block_sets[set].root = p->block_sets[p->block_sets[set].root].root;
    set = p->block_sets[set].root;
  }
  return set;
}

// The lower index becomes the root, so the result does not depend on the order of calls.
void groups_join(solver_group_set *p, int32_t slot_a, int32_t slot_b)
{
  int32_t a = set_root(p, slot_a / BLOCK_WIDTH), b = set_root(p, slot_b / BLOCK_WIDTH);
  p->block_sets[a < b ? b : a].root = a < b ? a : b;
}

void groups_exclude(solver_group_set *p, int32_t slot)
{
  p->block_sets[slot / BLOCK_WIDTH].excluded = true;
}

static void exclude_jointed(tn_world *world)
{
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    const coupling *k = &world->couplings[i];
    for (int32_t side = 0; side < k->side_count && k->alive; ++side) {
      groups_exclude(&world->solver->groups, k->side_body[side]);
    }
  }
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    const joint *j = &world->joints[i];
    for (int side = 0; side < 2 && j->alive; ++side) {
      groups_exclude(&world->solver->groups, j->slot[side]);
    }
  }
}

// Adds up cost and `excluded` of each set at its root. From here on the root of every active block
// is known without a search; a contact's home is one of them.
static void sum_costs(tn_world *world, const contact_placement *contacts, int32_t count)
{
  solver_group_set *p = &world->solver->groups;
  for (int32_t i = 0; i < world->active_block_count; ++i) {
    int32_t block = world->active_blocks[i];
    p->block_sets[block].root = set_root(p, block);
    block_set *root = &p->block_sets[p->block_sets[block].root];
    root->excluded = root->excluded || p->block_sets[block].excluded;
    root->cost += BLOCK_COST;
  }
  for (int32_t i = 0; i < count; ++i) {
    p->block_sets[p->block_sets[contacts[i].home_block].root].cost += 1;
  }
}

// Packs successive sets into groups of at most GROUP_COST, larger sets alone; returns their number.
static int32_t assign_groups(tn_world *world)
{
  solver_group_set *p = &world->solver->groups;
  int32_t groups = 0, cost = GROUP_COST;
  for (int32_t i = 0; i < world->active_block_count; ++i) {
    block_set *root = &p->block_sets[p->block_sets[world->active_blocks[i]].root];
    if (root->group != NO_SLOT || root->excluded || root->cost > MAX_GROUP_COST) {
      continue;
    }
    if (cost + root->cost > GROUP_COST) {
      groups += 1;
      cost = 0;
    }
    cost += root->cost;
    root->group = groups - 1;
  }
  return groups;
}

static int32_t group_of_block(const solver_group_set *p, int32_t block)
{
  return p->block_sets[p->block_sets[block].root].group;
}

// An empty range at *next, which moves on by `count`.
static color_range take_range(int32_t count, int32_t *next)
{
  color_range range = {*next, *next};
  *next += count;
  return range;
}

// Stable counting sort of the active body blocks: the shared ones first, then group by group.
static void sort_bodies(tn_world *world)
{
  solver_group_set *p = &world->solver->groups;
  p->shared_body_blocks = 0;
  for (int32_t i = 0; i < world->active_block_count; ++i) {
    int32_t group = group_of_block(p, world->active_blocks[i]);
    if (group == NO_SLOT) {
      p->active[p->shared_body_blocks++] = world->active_blocks[i];
    } else {
      p->list[group].blocks.last += 1;
    }
  }
  int32_t next = p->shared_body_blocks;
  for (int32_t i = 0; i < p->count; ++i) {
    p->list[i].blocks = take_range(p->list[i].blocks.last, &next);
  }
  for (int32_t i = 0; i < world->active_block_count; ++i) {
    int32_t group = group_of_block(p, world->active_blocks[i]);
    if (group != NO_SLOT) {
      p->active[p->list[group].blocks.last++] = world->active_blocks[i];
    }
  }
}

// The same for contacts.
static void sort_contacts(solver_group_set *p, const contact_placement *contacts, int32_t count)
{
  p->shared_contacts = 0;
  for (int32_t i = 0; i < count; ++i) {
    int32_t group = group_of_block(p, contacts[i].home_block);
    if (group == NO_SLOT) {
      p->sorted[p->shared_contacts++] = contacts[i];
    } else {
      p->list[group].contacts.last += 1;
    }
  }
  int32_t next = p->shared_contacts;
  for (int32_t i = 0; i < p->count; ++i) {
    p->list[i].contacts = take_range(p->list[i].contacts.last, &next);
  }
  for (int32_t i = 0; i < count; ++i) {
    int32_t group = group_of_block(p, contacts[i].home_block);
    if (group != NO_SLOT) {
      p->sorted[p->list[group].contacts.last++] = contacts[i];
    }
  }
}

bool groups_find(tn_world *world, const contact_placement *contacts, int32_t count)
{
  solver_group_set *p = &world->solver->groups;
  if (!groups_enabled(&world->solver->groups)) {
    return true;
  }
  exclude_jointed(world);
  sum_costs(world, contacts, count);
  int32_t groups = assign_groups(world);
  if (groups < 2) {
    p->search_delay = GROUP_SEARCH_DELAY;
    return true;
  }
  if (!heap_reserve(&world->heap, (void **)&p->list, &p->capacity, groups, sizeof *p->list) ||
      !heap_reserve(&world->heap, (void **)&p->active, &p->active_capacity,
                    world->active_block_count, sizeof *p->active) ||
      !heap_reserve(&world->heap, (void **)&p->sorted, &p->sorted_capacity, count,
                    sizeof *p->sorted)) {
    return false;
  }
  p->count = groups;
  for (int32_t i = 0; i < groups; ++i) {
    p->list[i].blocks = p->list[i].contacts = (color_range){0, 0};
  }
  sort_bodies(world);
  sort_contacts(p, contacts, count);
  return true;
}

void groups_release(tn_world *world)
{
  solver_group_set *p = &world->solver->groups;
  heap_free(&world->heap, p->list, (size_t)p->capacity * sizeof *p->list);
  heap_free(&world->heap, p->block_sets, (size_t)p->block_set_capacity * sizeof *p->block_sets);
  heap_free(&world->heap, p->active, (size_t)p->active_capacity * sizeof *p->active);
  heap_free(&world->heap, p->sorted, (size_t)p->sorted_capacity * sizeof *p->sorted);
}
