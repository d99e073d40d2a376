// Batches whose rows are kept in lanes: figures of rigid hinges and balls with limits and friction
// that contacts support, as ragdolls in a pile. What solve_state does for one mechanism after the
// other is done for all members at once, with the same operations on each number in the same order.
// What is not that simple (errors that need a split impulse, added inertia, joints that have come
// far apart) is left to the general solve.
#ifndef TENON_SOLVER_MECHANISM_LANE_ROWS_H
#define TENON_SOLVER_MECHANISM_LANE_ROWS_H

#include "solver/mechanism/mechanism_batch.h"

typedef float batch_f32 __attribute__((vector_size(4 * BATCH_WIDTH)));

#define JOINT_LANE_ROWS 6 // three linear, three angular

// One row of a joint in all members; bit masks are of lanes. See joint_row.
typedef struct lane_row {
  batch_f64 rate, error, lambda, rhs;
  batch_f64 compliance; // regularization
  batch_f64 last;       // impulse of the last solve, a float
  batch_f32 lo, hi;     // ends of its range, m or rad
  uint8_t locked;       // held at lo, or at zero
  uint8_t limited;      // has a range with an end
  uint8_t present;      // acts in this pass
  uint8_t active, upper;
  uint8_t factored; // active in the factored matrix
  uint8_t switches[BATCH_WIDTH];
} lane_row;

// A joint of all members. Friction is that of angular axes.
typedef struct lane_joint {
  lane_row rows[JOINT_LANE_ROWS];
  batch_f32 sum[2][3];
  batch_f64 friction[3], next_friction[3], most_friction[3], given_friction[3];
  batch_f64 half_kick_done;
  batch_f64 lever[2];
  const jacobian_row *jacobian[BATCH_WIDTH];
  const float *lever_length[BATCH_WIDTH];
  uint8_t order[JOINT_LANE_ROWS]; // rows of the factored matrix
  uint8_t row_count[2];           // linear, angular
  uint8_t friction_axes;          // bit mask
  bool is_ball;
} lane_joint;

// A body of all members.
typedef struct member_bodies {
  int32_t slot[BATCH_WIDTH];
  batch_f64 inverse_mass, mean_inertia;
  batch_f64 torque_impulse; // of its joints, times h
} member_bodies;

typedef enum lane_pass { LANES_BIAS, LANES_RESOLVE, LANES_RELAX } lane_pass;

// A pass under way.
typedef struct lane_system {
  batch_system batch;
  lane_joint *joints;
  member_bodies *bodies; // by node
  body_state *states;
  const body_inertia *inertia;
  batch_f64 most_regularization[2];
  batch_f64 fastest, energy_tolerance;
  double h;
  float h_single;
  lane_pass pass;
  bool first_substep;
  unsigned open; // LANES_RELAX: lanes with joints that are open
} lane_system;

// Bits of the lanes that the general solve must do in this pass, LANES_BIAS or LANES_RELAX.
typedef unsigned lanes_refuse_fn(lane_system *s);
// Loads velocities, gives lagged friction, builds rows.
typedef void lanes_begin_fn(lane_system *s);
// Factors if `batch.refactor` is set, solves, and updates the active set. Returns whether that has
// changed. Lanes that need a split impulse are taken out of `batch.solve_lanes`.
typedef bool lanes_solve_fn(lane_system *s, bool may_change);
// Stores impulses and velocities.
typedef void lanes_end_fn(lane_system *s);

lanes_refuse_fn lanes_refuse_1, lanes_refuse_4, lanes_refuse_8;
lanes_begin_fn lanes_begin_1, lanes_begin_4, lanes_begin_8;
lanes_solve_fn lanes_solve_1, lanes_solve_4, lanes_solve_8;
lanes_end_fn lanes_end_1, lanes_end_4, lanes_end_8;

struct lane_ops {
  lanes_refuse_fn *refuse;
  lanes_begin_fn *begin;
  lanes_solve_fn *solve;
  lanes_end_fn *end;
};

extern const lane_ops lane_ops_1, lane_ops_4, lane_ops_8;

#endif
