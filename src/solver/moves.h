// Which bodies and soft bodies moved in the last step, for tn_world_moved().
#ifndef TENON_SOLVER_MOVES_H
#define TENON_SOLVER_MOVES_H

#include "data/world.h"

typedef struct move_record {
  int32_t slot;        // NO_SLOT: did not move
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
// Fill world->moves at the end of a step: first a record for each awake body, by its index in
// `awake`, on any thread; then those that fall asleep; then soft bodies.
void moves_note_body(tn_world *world, int32_t awake_index, bool is_moved);
void moves_note_asleep(tn_world *world, int32_t awake_index);
void moves_record_softs(tn_world *world);

#endif
