// The sparse matrix of a mechanism, see mechanism.h: nodes in the order of elimination and the
// blocks between them.
#ifndef TENON_DIRECT_STORE_H
#define TENON_DIRECT_STORE_H

#include "block_algebra.h"
#include "rows_store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODY_ROWS 6
#define MASS_VALUES 7 // mass and inertia, or inverse mass and inertia
#define BARE_VALUES 8 // of a body before all of its joints: these, padded
// What bodies bear without more inertia: h^2 times the geometric stiffness, over the inertia.
#define DIRECT_BEARABLE 2.0

// A node in the order of elimination.
typedef struct direct_node {
  int32_t index; // body slot, or joint among direct_joints
  bool is_joint;
  bool bare;            // a body before all of its joints
  bool torn;            // a body at a joint that cannot close
  int16_t rows;         // now
  int16_t capacity;     // most rows it may have
  int16_t below;        // rows of all nodes below it, 0 if they differ; of none it may be anything
  int32_t first_row;    // in vectors
  int32_t diagonal;     // offset of its block in values
  int32_t first, count; // blocks below it
  int32_t first_target; // where eliminating it adds to
  double resistance;    // inertia to add while errors are removed apart from motion
  double resisting;     // what of it the matrix has
} direct_node;

typedef struct direct_block {
  int32_t node; // the later one
  int32_t at;   // offset in values
  bool fills;   // no rows of its own: what elimination leaves there
} direct_block;

// What holds one direction of a joint: a locked row, the end of a range, a drive, a resistance.
typedef enum law_kind {
  LAW_LOCKED,
  LAW_RANGE,
  LAW_STRAIN, // what a spring that the substep does not resolve presses with besides
  LAW_DRIVE,
  LAW_DAMPING,
  LAW_FRICTION,
} law_kind;

#define LAW_SLOTS 16 // of a block

// How a law begins, as one word.
typedef struct law_head {
  uint8_t kind, block, state, slot;
  bool active, at_hi, holds;
  uint8_t trials;
} law_head;

// A law asks for rate + J v + alpha lambda = 0, with lambda between lo and hi.
typedef struct law {
  const double (*j)[BODY_ROWS]; // on the velocities of A and B
  double rate;
  double asked;  // of its velocity to change, of a row; while errors part from it, to take back
  double error;  // of a rigid row: the rate that removes it within the substep
  double alpha;  // compliance over h^2
  double soft;   // what keeps redundant rows apart
  double lambda; // impulse given in this substep
  double lo, hi; // its bounds
  union {
    law_head head;
    struct {
      uint8_t kind;   // law_kind
      uint8_t block;  // 0 linear, 1 angular
      uint8_t state;  // where its impulse goes among those of the block's state
      uint8_t slot;   // among all that its joint may have, in their order
      bool active;    // a row of the matrix; else lambda is at one of its bounds
      bool at_hi;     // which one
      bool holds;     // a row of the velocities' matrix, while errors are removed apart from them
      uint8_t trials; // how often it has come and gone in this substep
    };
  };
} law;

// A row that is in the matrix.
typedef struct held_row {
  const double (*j)[BODY_ROWS];
  double softness;
} held_row;

// One mechanism's.
typedef struct direct_system {
  const direct_node *nodes;
  const direct_block *blocks;
  const int32_t *targets;
  double *values;
  double *scratch;     // room for the columns under elimination
  pair2 *x;            // right-hand sides, then solutions: velocity, position
  int32_t first, last; // nodes
} direct_system;

// Mechanisms side by side: see team_store.h.
#define TEAM 4
typedef quad2 lanes2;
typedef lanes2 team_stated[2 * BODY_ROWS]; // a row, on the velocities of A and B
typedef struct team_system team_system;
typedef void team_solve_fn(const team_system *s);

// Rows of a block's joints at the bodies' pose, and side by side if they are those of a team.
typedef void direct_state_fn(const solver_data *data, rows_block *block, stated_row *rows,
                             team_stated *team);
direct_state_fn direct_state_1, direct_state_4, direct_state_8;

// Of a fresh matrix, which is factored meanwhile, or of one that has been.
typedef void direct_solve_fn(const direct_system *s, int fresh);
direct_solve_fn direct_solve_1, direct_solve_4, direct_solve_8;

typedef struct direct_ops {
  direct_state_fn *state;
  direct_solve_fn *solve;
  team_solve_fn *solve_team;
} direct_ops;

extern const direct_ops direct_ops_1, direct_ops_4, direct_ops_8;

#endif
