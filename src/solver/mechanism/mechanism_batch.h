// Mechanisms that are equal but for their numbers, side by side: one in each lane of doubles.
//
// Blocks of a batch's matrix are those of one member, each number as many times as there are lanes.
// Where members differ in the rows that hold, the batch has all of them: a lane that lacks one has
// a row of zeros there, which changes no other number but the signs of zeros.
#ifndef TENON_SOLVER_MECHANISM_MECHANISM_BATCH_H
#define TENON_SOLVER_MECHANISM_MECHANISM_BATCH_H

#include "solver/mechanism/direct_system.h"

#define ANGULAR_AXIS_ROW 255 // the first of three rows that turn about the world's axes

// A row of the matrix.
typedef struct batch_row {
  joint_row *joint_row[BATCH_WIDTH]; // any joint_row where a lane has none
  uint8_t source;                    // among the stated rows of its joint
  uint8_t lanes;                     // that have it
} batch_row;

typedef struct scratch_lock scratch_lock;

typedef struct batch_joint {
  int32_t node, body_node[2];   // among the batch's, NO_SLOT for bodies that joints do not move
  int32_t body[2][BATCH_WIDTH]; // slots
  int32_t jacobian_offset[2];   // where its rows go among the values, for each body
  int32_t first_joint_row[BATCH_WIDTH];
  int32_t first_row;            // batch_rows
  int32_t first_batch_jacobian; // rows in lanes
  int32_t capacity;             // most rows it may have
  JointType type;
} batch_joint;

typedef struct mechanism_batch {
  int32_t lane_mechanism[BATCH_WIDTH]; // mechanisms; blocks and targets are the first one's
  int32_t first_node, last_node;
  int32_t first_joint, last_joint;
  int32_t first_value; // of all batches'
  int32_t first_vector;
  bool dissolved; // in this step: their joints have joint_rows of too many kinds
} mechanism_batch;

// What a solve works on.
struct batch_system {
  direct_node *nodes; // the batch's; first_row and diagonal count from its own first
  const direct_block *blocks;
  const int32_t *targets;
  const batch_joint *joints;
  batch_row *rows;
  const batch_jacobian *jacobians;
  const body_state *bodies;
  batch_f64 *values,
      *scratch; // of a fresh matrix: bodies' masses, each in the first places of its block
  batch_f64 *x; // right-hand sides, then solutions: velocity, position
  batch_f64 *v; // velocities
  f64x2 *lane_x[BATCH_WIDTH]; // the same of each member
  const double *lane_v[BATCH_WIDTH];
  int32_t node_count, joint_count;
  int32_t base_node, base_value;
  uint8_t factored_lanes; // lanes that have a matrix
  uint8_t solve_lanes;    // lanes that are to be solved
  uint8_t bias_lanes;     // of these: errors of position are asked of velocities
  bool resolve;           // errors have been asked for
  bool has_body_rhs;      // bodies are given impulses
  bool refactor;          // the matrix is to be factored
};

batch_solve_fn batch_solve_1, batch_solve_4, batch_solve_8;

#endif
