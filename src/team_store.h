// Mechanisms that are equal but for their numbers, side by side: one in each lane of doubles.
//
// Blocks of a team's matrix are those of one member, each number as many times as there are lanes.
// Where members differ in the rows that hold, the team has all of them: a lane that lacks one has a
// row of zeros there, which changes no other number but the signs of zeros.
#ifndef TENON_TEAM_STORE_H
#define TENON_TEAM_STORE_H

#include "direct_store.h"

#define TURNS_ROW 255 // the first of three rows that turn about the world's axes

// A row of the matrix.
typedef struct team_row {
  law *law[TEAM]; // any law where a lane has none
  uint8_t source; // among the stated rows of its joint
  uint8_t lanes;  // that have it
} team_row;

typedef struct team_lock team_lock;

typedef struct team_joint {
  int32_t node, at[2];   // among the team's, NO_SLOT for bodies that joints do not move
  int32_t body[2][TEAM]; // slots
  int32_t entry[2];      // where its rows go among the values, for each body
  int32_t first_law[TEAM];
  int32_t first_row;    // team_rows
  int32_t first_stated; // rows in lanes
  int32_t capacity;     // most rows it may have
  JointType type;
} team_joint;

typedef struct mechanism_team {
  int32_t member[TEAM]; // mechanisms; blocks and targets are the first one's
  int32_t first_node, last_node;
  int32_t first_joint, last_joint;
  int32_t first_value; // of all teams'
  int32_t first_vector;
  bool split; // in this step: their joints have laws of too many kinds
} mechanism_team;

// What a solve works on.
struct team_system {
  direct_node *nodes; // the team's; first_row and diagonal count from its own first
  const direct_block *blocks;
  const int32_t *targets;
  const team_joint *joints;
  team_row *rows;
  const team_stated *stated;
  const body_state *bodies;
  lanes2 *values,
      *scratch;       // of a fresh matrix: bodies' masses, each in the first places of its block
  lanes2 *x;          // right-hand sides, then solutions: velocity, position
  lanes2 *v;          // velocities
  pair2 *own_x[TEAM]; // the same of each member
  const double *own_v[TEAM];
  int32_t node_count, joint_count;
  int32_t base_node, base_value;
  uint8_t kept;  // lanes that have a matrix
  uint8_t asked; // lanes that are to be solved
  uint8_t whole; // of these: errors of position are asked of velocities
  bool again;    // errors have been asked for
  bool given;    // bodies are given impulses
  bool fresh;    // the matrix is to be factored
};

team_solve_fn team_solve_1, team_solve_4, team_solve_8;

#endif
