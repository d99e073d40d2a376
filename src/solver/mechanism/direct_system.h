// The sparse matrix of a mechanism, see mechanism.h: nodes in the order of elimination and the
// blocks between them.
#ifndef TENON_SOLVER_MECHANISM_DIRECT_SYSTEM_H
#define TENON_SOLVER_MECHANISM_DIRECT_SYSTEM_H

#include "solver/mechanism/block_algebra.h"
#include "solver/mechanism/joint_jacobians.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODY_ROWS 6
#define MASS_VALUES 7 // mass and inertia, or inverse mass and inertia
#define LEAF_VALUES 8 // of a body before all of its joints: these, padded
// What bodies bear without more inertia: h^2 times the geometric stiffness, over the inertia.
#define TUNING_STIFFNESS_RESOLVED 2.0

// A node in the order of elimination.
typedef struct direct_node {
  int32_t index; // body slot, or joint among direct_joints
  bool is_joint;
  bool is_leaf;         // a body before all of its joints
  bool infeasible;      // a body at a joint that cannot close
  int16_t rows;         // now
  int16_t capacity;     // most rows it may have
  int16_t below;        // rows of all nodes below it, 0 if they differ; of none it may be anything
  int32_t first_row;    // in vectors
  int32_t diagonal;     // offset of its block in values
  int32_t first, count; // blocks below it
  int32_t first_target; // where eliminating it adds to
  double added_inertia; // inertia to add while errors are removed apart from motion
  double factored_inertia; // what of it the matrix has
} direct_node;

typedef struct direct_block {
  int32_t node; // the later one
  int32_t at;   // offset in values
  bool fills;   // no rows of its own: what elimination leaves there
} direct_block;

// What holds one direction of a joint: a locked row, the end of a range, a drive, a resistance.
typedef enum joint_row_kind {
  ROW_LOCKED,
  ROW_LIMIT,
  ROW_STIFF_SPRING, // what a spring that the substep does not resolve presses with besides
  ROW_DRIVE,
  ROW_DAMPING,
  ROW_FRICTION,
} joint_row_kind;

#define ROW_SLOTS 16 // of a block

// How a joint_row begins, as one word.
typedef struct joint_row_head {
  uint8_t kind, block, state, slot;
  bool active, at_hi, velocity_active;
  uint8_t switches;
} joint_row_head;

// A joint_row asks for rate + J v + alpha lambda = 0, with lambda between lo and hi.
typedef struct joint_row {
  const double (*j)[BODY_ROWS]; // on the velocities of A and B
  double rate;
  double rhs;   // of its velocity to change, of a row; while errors part from it, to take back
  double error; // of a rigid row: the rate that removes it within the substep
  double alpha; // compliance over h^2
  double regularization; // what keeps redundant rows apart
  double lambda;         // impulse given in this substep
  double lo, hi;         // its bounds
  union {
    joint_row_head head;
    struct {
      uint8_t kind;         // joint_row_kind
      uint8_t block;        // 0 linear, 1 angular
      uint8_t state;        // where its impulse goes among those of the block's state
      uint8_t slot;         // among all that its joint may have, in their order
      bool active;          // a row of the matrix; else lambda is at one of its bounds
      bool at_hi;           // which one
      bool velocity_active; // a row of the velocities' matrix, while errors are removed apart from
                            // them
      uint8_t switches;     // how often it has come and gone in this substep
    };
  };
} joint_row;

// A row that is in the matrix.
typedef struct active_row {
  const double (*j)[BODY_ROWS];
  double compliance;
} active_row;

// One mechanism's.
typedef struct direct_system {
  const direct_node *nodes;
  const direct_block *blocks;
  const int32_t *targets;
  double *values;
  double *scratch;     // room for the columns under elimination
  f64x2 *x;            // right-hand sides, then solutions: velocity, position
  int32_t first, last; // nodes
} direct_system;

// Mechanisms side by side: see team_store.h.
#define BATCH_WIDTH 4
typedef f64x4 batch_f64;
typedef batch_f64 batch_jacobian[2 * BODY_ROWS]; // a row, on the velocities of A and B
typedef struct batch_system batch_system;
typedef void batch_solve_fn(const batch_system *s);

// Rows of a block's joints at the bodies' pose, and side by side if they are those of a batch.
typedef void direct_jacobians_fn(const solver_data *data, jacobian_block *block, jacobian_row *rows,
                                 batch_jacobian *batch);
direct_jacobians_fn direct_jacobians_1, direct_jacobians_4, direct_jacobians_8;

// Of a fresh matrix, which is factored meanwhile, or of one that has been.
typedef void direct_solve_fn(const direct_system *s, int refactor);
direct_solve_fn direct_solve_1, direct_solve_4, direct_solve_8;

typedef struct direct_ops {
  direct_jacobians_fn *evaluate;
  direct_solve_fn *solve;
  batch_solve_fn *solve_batch;
} direct_ops;

extern const direct_ops direct_ops_1, direct_ops_4, direct_ops_8;

#endif
