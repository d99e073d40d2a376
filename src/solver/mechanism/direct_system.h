// The sparse matrix of a mechanism (see mechanism.h) in block form: nodes in the order of
// elimination, the blocks below their diagonals, and the rows of joints that make up the blocks.
#ifndef TENON_SOLVER_MECHANISM_DIRECT_SYSTEM_H
#define TENON_SOLVER_MECHANISM_DIRECT_SYSTEM_H

#include "base/rules.h"
#include "solver/mechanism/block_algebra.h"
#include "solver/mechanism/joint_jacobians.h"
#include "solver/mechanism/mechanism_tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODY_ROWS 6 // linear and angular velocity
// Mass and inertia xx xy xz yy yz zz of a body, or their inverses xx yy zz xy xz yz.
#define MASS_VALUES 7
#define LEAF_VALUES 8 // of a body eliminated before all of its joints: inverses, padded

// A node in the order of elimination: a body, a joint or a coupling.
typedef struct direct_node {
  int32_t index;     // body slot, or index among direct_joints or direct_couplings
  bool is_joint;     // or a coupling: rows, no velocities
  bool is_leaf;      // a body eliminated before all of its joints: its block stays the mass matrix
  bool infeasible;   // a body at a joint that cannot close
  int16_t rows;      // in the matrix now
  int16_t capacity;  // most rows it may have
  int16_t below;     // rows of every node below it, or 0 if they differ; unused if there is none
  int32_t first_row; // in vectors
  int32_t diagonal;  // offset of its block in values
  int32_t first, count;    // blocks below the diagonal
  int32_t first_target;    // first offset in targets that its elimination subtracts from
  double added_inertia;    // inertia to add to the body about all axes, kg m^2
  double turned_inertia;   // least that its joints state of what turns with them, kg m^2
  double factored_inertia; // added inertia in the factored matrix
} direct_node;

// A block below the diagonal of a node.
typedef struct direct_block {
  int32_t node; // row node, eliminated later
  int32_t at;   // offset in values
  bool fills;   // pure fill: no Jacobian, zero before elimination
} direct_block;

// What acts along one direction of a joint.
typedef enum joint_row_kind {
  ROW_LOCKED,       // position, rigid or a spring
  ROW_LIMIT,        // end of a range
  ROW_STIFF_SPRING, // keeps a spring that the substep does not resolve from lengthening
  ROW_DRIVE,        // of an axis: servo, motor or force
  ROW_PASSIVE,      // of an axis: spring, damping and armature
  ROW_FRICTION,     // of an axis: dry friction
} joint_row_kind;

#define ROW_SLOTS 16      // slots of a linear or angular block, see joint_row.slot
#define FIRST_AXIS_SLOT 6 // before it: each position row with its stiff spring

// The flags of a joint_row, written as one word.
typedef struct joint_row_head {
  uint8_t kind, block, state, slot;
  bool active, at_hi, velocity_active;
  uint8_t switches;
} joint_row_head;

// One scalar row of a joint. An active row satisfies
//     rate + J v + alpha lambda = 0,   lo <= lambda <= hi,
// an inactive one has lambda = lo or hi. The position error is a second right-hand side,
// error + J dv = 0: its solution may move the bodies without staying in their velocities.
typedef struct joint_row {
  const double (*j)[BODY_ROWS]; // J on the velocities of A and B
  double rate;                  // m/s or rad/s
  double rhs;   // required velocity change of an active row; in the split pass the predicted
                // lengthening to remove
  double error; // position error over h, m/s or rad/s
  double alpha; // compliance over h^2, 1/kg or 1/(kg m^2)
  double regularization; // least compliance, so that redundant rows have a solution
  double lambda;         // impulse of this substep so far, N s or N m s
  double lo, hi;         // bounds of lambda
  union {
    joint_row_head head;
    struct {
      uint8_t kind;         // joint_row_kind
      uint8_t block;        // 0 linear, 1 angular
      uint8_t state;        // offset of its impulse in RowState, in floats; rows of an axis: its
                            // index among the joint's axes
      uint8_t slot;         // its place among all rows that the joint may have: order in a batch
      bool active;          // in the matrix; else lambda stays at a bound
      bool at_hi;           // the bound is hi
      bool velocity_active; // active in the velocity solve, saved during the split pass
      uint8_t switches;     // activations and deactivations in this solve
    };
  };
} joint_row;

// A row of the factored matrix, to tell whether the matrix is still the one needed.
typedef struct active_row {
  const double (*j)[BODY_ROWS];
  double compliance;
} active_row;

// The matrix and vectors of one mechanism.
typedef struct direct_system {
  const direct_node *nodes;
  const direct_block *blocks;
  const int32_t *targets;
  double *values;
  double *scratch;     // copies of the columns under elimination
  f64x2 *x;            // right-hand sides, then solutions: velocity, position
  int32_t first, last; // nodes
} direct_system;

// Batches: one mechanism in each lane, see mechanism_batch.h.
#define BATCH_WIDTH 4
typedef f64x4 batch_f64;
typedef batch_f64 batch_jacobian[2 * BODY_ROWS]; // a row, on the velocities of A and B
typedef struct batch_system batch_system;
typedef void batch_solve_fn(const batch_system *s);

// Jacobians of a block's joints at the current pose; also lane by lane to `batch` if not NULL.
typedef void direct_jacobians_fn(const solver_data *data, jacobian_block *block, jacobian_row *rows,
                                 batch_jacobian *batch);
direct_jacobians_fn direct_jacobians_1, direct_jacobians_4, direct_jacobians_8;

// jacobian_row.x_ahead of a block's joints at the current pose.
typedef void direct_coordinates_fn(const solver_data *data, jacobian_block *block,
                                   jacobian_row *rows);
direct_coordinates_fn direct_coordinates_1, direct_coordinates_4, direct_coordinates_8;

// Solves for both right-hand sides; with `refactor` it factors the assembled matrix first.
typedef void direct_solve_fn(const direct_system *s, int refactor);
direct_solve_fn direct_solve_1, direct_solve_4, direct_solve_8;

typedef struct direct_ops {
  direct_jacobians_fn *evaluate;
  direct_coordinates_fn *evaluate_ahead;
  direct_solve_fn *solve;
  batch_solve_fn *solve_batch;
} direct_ops;

extern const direct_ops direct_ops_1, direct_ops_4, direct_ops_8;

#endif
