// Gathers of the bodies of whole blocks, and the passes over bodies. Included by the files that are
// compiled once for each lane width.
#ifndef TENON_SOLVER_BODY_PASSES_H
#define TENON_SOLVER_BODY_PASSES_H

#define BLOCK_FLOATS (sizeof(body_block) / sizeof(float))
#include "solver/gather.h"

#if TN_LANES == 16
#define BLOCK_PLACES (BLOCK_FLOATS + BLOCK_WIDTH) // lane_body() looks BLOCK_FLOATS further on
#else
#define BLOCK_PLACES TN_LANES
#endif

// Gathers TN_LANES bodies of consecutive slots, from a block's lane on. `index` has BLOCK_PLACES
// entries.
KERNEL Gather gather_range(int32_t *index, int block, int lane)
{
#pragma GCC unroll 16
  for (int i = 0; i < TN_LANES; ++i) {
    size_t at = i < BLOCK_WIDTH ? (size_t)i : (size_t)(i - BLOCK_WIDTH) + BLOCK_FLOATS;
    index[at] = block * BLOCK_WIDTH + lane + i;
  }
  Gather g = {index, NULL};
  return g;
}

#if TN_LANES == 16
extern const solver_ops solver_ops_16;
#else

#define KICK_BODIES PASTE(kick_bodies_, TN_LANES)
#define DRIFT_BODIES PASTE(drift_bodies_, TN_LANES)

void KICK_BODIES(solver_data *data, int first, int last, kick_phase phase);
void DRIFT_BODIES(solver_data *data, int first, int last);

#endif

#endif
