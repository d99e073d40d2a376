// Layout of the awake soft bodies in the solver: which constraint lies in which lane, and the
// colours of rows, contacts and attachments.
#ifndef TENON_SOLVER_SOFT_SOFT_GRAPH_H
#define TENON_SOLVER_SOFT_SOFT_GRAPH_H

#include "data/softs.h"
#include "solver/coloring.h"
#include "solver/soft/soft_solver.h"

// The constraint in a lane of a block: index in soft.list of its type.
typedef struct soft_source {
  int32_t soft, index;
} soft_source;

// The particles of a block: all of one soft body, or of none.
typedef struct soft_block_owner {
  int32_t soft, count; // slot, or NO_SLOT; particles, in the first lanes
  bool is_bad;         // some particle has left its range; soft_pack.c
  world_aabb box;      // of the particles after the step, without their radius
} soft_block_owner;

// An edge of a rope, for the direct solve in soft_chains.c.
typedef struct chain_row {
  int32_t soft, index;     // source: soft body, index in its edge list
  float sum;               // N s, impulses of the step
  int32_t solver_index[2]; // its particles
  bool continues;          // its first particle is the second one of the previous row
  float delta[3];          // m, from its first to its second particle at the start of the step
  float rest, compliance, damping; // m, m/N, s
  int32_t attachment_slot[2];      // rigid attachment of each end, or NO_SLOT
  float anchor[2][3];              // m, that attachment's lever arm at the start of the step
  float n[3];                      // unit direction of the edge in the running pass
  double w[2]; // 1/kg, inverse masses of the ends along n, including attached bodies
  // Elimination along the rope: 1 / pivot, kg; superdiagonal; lambda of the row, N s.
  double inverse_pivot, upper, impulse;
  // Transverse solve: h^2 times the excess stiffness, kg; superdiagonal; right-hand side after
  // elimination, m/s.
  double excess, damped_upper, damped_v[3];
} chain_row;

// The layout of all awake soft bodies in the solver. Rebuilt when soft_system.layout_stale is set.
typedef struct soft_graph {
  soft_data data;
  tn_pos *at;                   // m, start positions, by solver index
  float (*gradient)[3];         // m^2, of the enclosed volume, by solver index
  particle_state *jacobi_delta; // sums of averaged corrections, by solver index
  int32_t jacobi_delta_capacity;
  int32_t *attachment_at; // rigid attachment of a particle or NO_SLOT, by solver index
  int32_t attachment_at_capacity;
  soft_block_owner *block_owners; // by block of particles
  int32_t gradient_capacity, block_owner_capacity;
  int32_t solver_particle_count, particle_capacity; // particle_capacity: of `at`
  int32_t data_capacity, block_capacity;            // of data.particles and data.blocks
  int32_t compensation_capacity;
  soft_source *sources[SOFT_TYPE_COUNT]; // by lane; soft NO_SLOT: padding
  int32_t source_capacity[SOFT_TYPE_COUNT];
  // Block ranges by colour; `overflow` found no colour, has one constraint per block and runs
  // serially.
  color_range color[SOFT_TYPE_COUNT][MAX_COLORS], overflow[SOFT_TYPE_COUNT];
  int32_t color_count[SOFT_TYPE_COUNT];
  chain_row *chain; // rows of all ropes
  int32_t chain_count, chain_capacity;
  cluster_part *unfold_parts; // of all active soft_unfold.cluster
  int32_t unfold_part_count, unfold_part_capacity;
} soft_graph;

// Colouring of a step's contacts or attachments. Many of them share one rigid body and need a
// colour each, so those left after one round of MAX_COLORS are coloured again with fresh colours.
#define SOFT_COLORING_ROUNDS 4
#define SOFT_COLORS (SOFT_COLORING_ROUNDS * MAX_COLORS)

typedef struct soft_coloring {
  int32_t block_count, block_capacity;
  color_range color[SOFT_COLORS], overflow; // block ranges
  int32_t color_count;
  uint64_t *particle_colors, *bodies; // colours in use, as bits, by solver index and by body
  int32_t *at; // by node: its colour while colouring, then BLOCK_WIDTH * block + lane, or NO_SLOT
  int32_t particle_capacity, body_capacity, at_capacity;
} soft_coloring;

// A contact or attachment to colour.
typedef struct soft_coloring_node {
  int32_t solver_index[SOFT_CONTACT_PARTICLES];
  int32_t count; // of its particles; 0: inactive
  int32_t body;  // dynamic body that it writes, or NO_SLOT
  int32_t type;  // soft_contact_type
} soft_coloring_node;

// First row of a block in soft_rows.
static inline size_t soft_first_row(soft_type type, int32_t block)
{
  return (size_t)block * (size_t)soft_block_rows(type);
}

#endif
