// Solver groups: bodies and contacts that go through all substeps on their own.
#ifndef TENON_SOLVER_GROUPS_H
#define TENON_SOLVER_GROUPS_H

#include "solver/coloring.h"

#include <tenon/tenon.h>

// Which points of a contact had an impulse as the last step ended: all, some or none.
typedef enum contact_loading {
  CONTACT_LOADED,
  CONTACT_LOADED_PARTLY,
  CONTACT_IDLE,
  CONTACT_LOADINGS
} contact_loading;

// Colour, type and home of a contact, from which the blocks are laid out.
typedef struct contact_placement {
  int32_t contact;
  int32_t home_block; // body block of a body that it moves
  uint8_t color, type;
  uint8_t loading; // contact_loading
  uint8_t skip;    // free colours that it leaves out
} contact_placement;

// Bodies and contacts that go through all substeps on their own, see groups.c.
typedef struct solver_group {
  color_range blocks;   // range of body blocks in solver_group_set.active
  color_range contacts; // range in solver_group_set.sorted
  int32_t first;        // first contact block of its arena
  coloring coloring;    // of its contact blocks, counted from 0
} solver_group;

// Union-find node: body blocks that contacts connect.
typedef struct block_set {
  int32_t root;        // or a node on the path to it
  int32_t cost, group; // cost: in contacts
  bool excluded;       // belongs to no group
} block_set;

typedef struct solver_group_set {
  solver_group *list;
  int32_t count, capacity;
  block_set *block_sets;     // by body block
  int32_t *active;           // body blocks: shared ones, then group by group
  contact_placement *sorted; // in the same order
  int32_t block_set_capacity, active_capacity, sorted_capacity;
  int32_t shared_body_blocks, shared_contacts;
  // Arenas are the memory in which groups are solved, with arena_blocks contact blocks each.
  int32_t arena_count, arena_blocks;
  int32_t search_delay; // steps until groups are searched for again
  bool enabled;         // this step searches for groups
} solver_group_set;

#if defined(TN_NO_THREADS) // the web module leaves them out to stay small
#define HAS_SOLVER_GROUPS 0
#else
#define HAS_SOLVER_GROUPS 1
#endif

static inline bool groups_enabled(const solver_group_set *groups)
{
  return HAS_SOLVER_GROUPS && groups->enabled;
}

static inline int32_t groups_count(const solver_group_set *groups)
{
  return HAS_SOLVER_GROUPS ? groups->count : 0;
}

// While contacts are coloured, groups_join() connects the bodies of a contact and groups_exclude()
// keeps a body in the shared set; then groups_find() forms the groups, if there are enough.
bool groups_begin(tn_world *world);
void groups_join(solver_group_set *p, int32_t slot_a, int32_t slot_b);
void groups_exclude(solver_group_set *p, int32_t slot);
bool groups_find(tn_world *world, const contact_placement *contacts, int32_t count);
void groups_release(tn_world *world);

#endif
