// Couplings of a mechanism, as the direct solver sees them during a step: a node whose rows all act
// along one Jacobian, on any number of bodies.
#ifndef TENON_SOLVER_MECHANISM_DIRECT_COUPLING_H
#define TENON_SOLVER_MECHANISM_DIRECT_COUPLING_H

#include "data/couplings.h"
#include "solver/mechanism/direct_system.h"

// A body of a coupling. Its Jacobian is at the same index of mechanism_set.coupling_jacobians.
typedef struct coupling_side {
  int32_t body;            // slot
  int32_t node;            // NO_SLOT for bodies that constraints do not move
  int32_t jacobian_offset; // of its J block in values
} coupling_side;

typedef struct direct_coupling {
  int32_t coupling; // slot
  int32_t node;
  int32_t first_side, side_count;
  int32_t first_joint_row; // COUPLING_PARTS are reserved
  int32_t joint_row_count;
  int32_t pose;                         // direct_context.pose of value and Jacobian, or NO_SLOT
  double value;                         // c
  double last_rate;                     // J v after the last solve, before the kick
  double rate_before_half_kick;         // as of coupling
  double inverse_mass;                  // J M^-1 J^T of the bodies alone
  double coordinate[TN_COUPLING_AXES];  // of its axes
  double target, target_rate;           // of the drive at the start of the step, and its speed
  double impulse[COUPLING_PARTS];       // of the last substep, N s
  double impulse_ahead[COUPLING_PARTS]; // given at the end of the last step for this one
  double sum, drive_sum;                // impulses of the step, N s
  double half_kick_share;               // as of direct_joint
  // Share of forces in the first substep: velocities and positions of a step that begins without a
  // half kick belong to the same time, so that it gets only half.
  double first_share;
} direct_coupling;

typedef struct direct_context direct_context;
typedef struct mechanism mechanism;
typedef struct solve_state solve_state;

// coupling_rows.c
//
// Builds the rows of a mechanism's couplings that act in this pass.
void couplings_build_rows(const direct_context *c, const mechanism *m);

// coupling_solve.c: the parts of a solve (mechanism_solve.c, mechanism_assembly.c) for couplings.
//
// J v of a coupling's rows, for velocities at the start of the solve.
double coupling_velocity(const direct_context *c, const direct_coupling *d);
void couplings_assemble(const solve_state *s);
void couplings_build_rhs(const solve_state *s, bool again);
bool couplings_are_factored(const solve_state *s);
void couplings_measure_errors(const solve_state *s, double *worst, double *sum);
double couplings_idle_limit_error(const solve_state *s);
bool couplings_update_active_set(const solve_state *s);
void couplings_begin_split_pass(const solve_state *s);
bool couplings_update_split_active_set(const solve_state *s);
void couplings_end_split_pass(const solve_state *s);
void couplings_store_impulses(const solve_state *s);

#endif
