// The contacts of a step in the solver: colours, blocks, and copies between records and blocks.
#ifndef TENON_SOLVER_CONTACT_CONTACT_LAYOUT_H
#define TENON_SOLVER_CONTACT_CONTACT_LAYOUT_H

#include "data/contacts.h"
#include "solver/coloring.h"
#include "solver/contact/contact_block.h"
#include "solver/contact/load_estimate.h"
#include "solver/groups.h"

#include <tenon/tenon.h>

#include <stdatomic.h>

// What contact colouring needs of a contact. One word of bits, passed in a register.
typedef struct contact_summary {
  uint32_t type : 8;       // contact_type
  uint32_t loading : 8;    // contact_loading
  uint32_t unsettled : 16; // younger than the settling time: its preload is unknown. It fills the
                           // word: compilers for cards refuse to return 24 bits
} contact_summary;

typedef struct pair_summary {
  int32_t contact; // the first one, or NO_SLOT
  int32_t body[2];
  contact_summary first;
  pair_load load;        // as the step begins; of pairs with contacts
  int8_t contact_count;  // that are solved
  bool has_more;         // contacts after the first
  bool dynamic[2];       // of a pair with contacts: the body is dynamic and moves
  bool sensor, touching; // copied from the pair
  bool has_restitution;  // a contact may have restitution; set only while groups are searched for
  bool near_touch;       // touching, or a gap small enough to support a body
  bool initial_overlap;  // as of the pair
} pair_summary;

// Consecutive active pairs, that a thread takes at once.
#define CHUNK_PAIRS 128

typedef struct layout_chunk {
  int32_t first_pair, last_pair;     // indices in active_pairs
  int32_t contacts, place;           // of these pairs; index of the first in contact_placements
  int32_t unsettled;                 // contacts without a known load
  int32_t lowest_body, highest_body; // of the pairs with contacts
} layout_chunk;

// Facts about a body that the contacts of a step determine. Atomic: what threads set side by side.
typedef struct body_contact_flags {
  atomic_uint stamp;                 // contact update that this belongs to, see contact_coloring.c
  atomic_int dynamic_contact_count;  // contacts between it and another dynamic body: 0, 1, or more
  int32_t mechanism;                 // mechanism that it belongs to, counted from 1; 0: none
  int32_t first_restitution_contact; // of its list: 2 * index + side, or NO_SLOT
  bool dynamic;
  bool moves;      // dynamic or kinematic, and awake
  bool jointed;    // dynamic, and a side of a joint or coupling; set as the bodies begin the step
  bool turns_fast; // lever arms of its contacts follow it; likewise
  atomic_bool
      in_initial_overlap; // some contact is with a dynamic body that it was created inside of
  atomic_bool supported;  // carried by a contact
  atomic_bool may_touch;  // has a contact in this step
} body_contact_flags;

// The bodies whose colours a contact may not have; the world for those that are not dynamic.
typedef struct color_sides {
  int32_t body[2];
} color_sides;

// The contacts of a block.
typedef struct block_content {
  int32_t contact[BLOCK_WIDTH]; // slot, or NO_SLOT
  int32_t type;
} block_content;

// The contacts of a step, in blocks.
typedef struct contact_graph {
  contact_block *blocks;   // shared blocks first, then room for one solver group per arena
  block_content *contents; // by block
  int32_t block_count, block_capacity, content_capacity; // of shared and group blocks
  int32_t shared_block_count;                            // blocks that belong to no solver group
  coloring coloring;                                     // of the shared blocks
  int min_passes; // least number of contact passes in a substep
  bool unsettled; // most contacts are younger than the settling time
  restitution_contact *restitution_contacts;
  int32_t restitution_contact_count, restitution_contact_capacity;
} contact_graph;

contact_summary contact_summary_of(const contact *c);

// contact_layout_build() colours the contacts and assigns them to blocks; contacts_pack() fills the
// blocks once the bodies are ready for the step.
bool contact_layout_build(tn_world *world);
// What packing needs of an awake body; after body_begin_step().
void contact_flags_begin_body(tn_world *world, int32_t slot, float dt);
// The blocks of one solver group, on any thread.
void contact_layout_fill_group(tn_world *world, const solver_group *group);
void contacts_pack(tn_world *world, solver_data *data, float dt, float impulse_scale);
void contacts_unpack(tn_world *world, float dt);
// The same for one solver group, on one thread, in the arena that `data` points to.
void group_pack_contacts(tn_world *world, const solver_group *group, solver_data *data, float dt,
                         float scale);
void group_unpack_contacts(tn_world *world, const solver_group *group, solver_data *data, float dt);
void contact_coloring_release(tn_world *world);
void contact_graph_release(tn_world *world);

#endif
