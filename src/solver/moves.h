// Which bodies and soft bodies moved in the last step, for tn_world_moved().
#ifndef TENON_SOLVER_MOVES_H
#define TENON_SOLVER_MOVES_H

#include "data/world.h"

typedef struct move_record {
  int32_t slot;
  uint32_t generation; // tells whether what moved is still there
  bool is_soft, fell_asleep;
} move_record;

// Whether the substeps moved the body; call it before body_end_step(), which clears the state.
static inline bool is_displaced(const body_state *state)
{
  return state->dx[0] != 0.0f || state->dx[1] != 0.0f || state->dx[2] != 0.0f ||
         state->dq[0] != 0.0f || state->dq[1] != 0.0f || state->dq[2] != 0.0f;
}

// Room for all that may move in the step. False when out of memory.
bool moves_reserve(tn_world *world);
// Fills world->moves at the end of a step, after sleep_update().
void moves_record(tn_world *world);

#endif
