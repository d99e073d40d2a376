// Batches: mechanisms of equal topology, one in each lane of a vector of doubles.
//
// A batch's matrix has the blocks of one member, with one vector in place of each number, not
// padded. Where members differ in their active rows, the batch has the union: a lane without a row
// has zeros there, which changes no other number except the sign of zeros.
#ifndef TENON_SOLVER_MECHANISM_MECHANISM_BATCH_H
#define TENON_SOLVER_MECHANISM_MECHANISM_BATCH_H

#include "solver/mechanism/direct_system.h"

// batch_row.source of the angular row about world x; 254 is about y, 253 about z.
#define ANGULAR_AXIS_ROW 255

// A row of a batch's matrix.
typedef struct batch_row {
  joint_row *joint_row[BATCH_WIDTH]; // of each lane; any valid one where a lane has none
  uint8_t source; // index among the joint's batch_jacobians, or from ANGULAR_AXIS_ROW down
  uint8_t lanes;  // bit mask of the lanes that have the row
} batch_row;

typedef struct scratch_lock scratch_lock;

// A joint of all members.
typedef struct batch_joint {
  int32_t node, body_node[2];   // within the batch; NO_SLOT for bodies that are no nodes
  int32_t body[2][BATCH_WIDTH]; // body slots
  int32_t jacobian_offset[2];   // offset of its J blocks towards A and B in values
  int32_t first_joint_row[BATCH_WIDTH];
  int32_t first_row; // of its batch_rows
  int32_t first_batch_jacobian;
  int32_t capacity; // most rows it may have
  JointType type;
} batch_joint;

// Members and where their common data lie. Index ranges are [first, last).
typedef struct mechanism_batch {
  int32_t lane_mechanism[BATCH_WIDTH]; // members; blocks and targets are those of the first
  int32_t first_node, last_node;
  int32_t first_joint, last_joint;
  int32_t first_value; // in batch_values
  int32_t first_vector;
  bool dissolved; // in this step members are solved alone: their rows may exceed the capacity
} mechanism_batch;

// Input and output of a batch's solve.
struct batch_system {
  direct_node *nodes; // of the batch; first_row and diagonal count from the batch's own first
  const direct_block *blocks;
  const int32_t *targets;
  const batch_joint *joints;
  batch_row *rows;
  const batch_jacobian *jacobians;
  const body_state *bodies;
  // The matrix. When refactoring, each body's block begins with its MASS_VALUES.
  batch_f64 *values, *scratch;
  batch_f64 *x;               // right-hand sides, then solutions: velocity, position
  batch_f64 *v;               // velocities
  f64x2 *lane_x[BATCH_WIDTH]; // x and v of each member
  const double *lane_v[BATCH_WIDTH];
  int32_t node_count, joint_count;
  int32_t base_node, base_value; // of the first member: blocks and targets count from there
  uint8_t factored_lanes;        // bit masks: lanes with a matrix,
  uint8_t solve_lanes;           // lanes to solve,
  uint8_t bias_lanes;            // and those whose velocities must also remove the position error
  bool resolve;                  // DIRECT_RESOLVE: no separate position solution
  bool has_body_rhs;             // rows at their bounds give impulses to bodies
  bool refactor;                 // the matrix must be assembled and factored
};

batch_solve_fn batch_solve_1, batch_solve_4, batch_solve_8;

#endif
