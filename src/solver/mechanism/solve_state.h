// State of one mechanism's solve, shared by the single and the batched driver.
#ifndef TENON_SOLVER_MECHANISM_SOLVE_STATE_H
#define TENON_SOLVER_MECHANISM_SOLVE_STATE_H

#include "solver/mechanism/mechanism.h"

typedef struct solve_state {
  const direct_context *context;
  mechanism *mechanism;
  direct_node *nodes;
  const direct_block *blocks;
  direct_joint *joints;
  joint_row *joint_rows;
  double *values;
  direct_system system;
  double *v;               // velocities of the bodies, by row
  f64x2 *x;                // right-hand sides, then solutions: velocity, position
  double *split_motion;    // split impulse: linear velocity, m/s, angular momentum, N m s
  double correction_share; // share of the position solution that moves the bodies
  double kept_share;       // share of it that stays in the velocities
  double fastest;          // speed of the fastest body at the start, m/s
  double energy_tolerance; // tolerated energy gain of the solve, J
  bool refactor;           // the matrix must be assembled and factored
  bool split_removed;      // the split velocity is taken out of the bodies during this solve
  bool split_pass;         // solving for position errors alone; see joint_row.rhs
} solve_state;

// A solve is: begin (rows, velocities, added inertia); rounds of factor, solve and update of the
// active set; end (results). solve_update_active_set() returns whether the active set is final;
// solve_rounds() runs all rounds from `round` on for one mechanism.
solve_state solve_begin(const direct_context *c, mechanism *m);
bool solve_update_active_set(solve_state *s, int round);
void solve_rounds(solve_state *s, int round);
void solve_end(solve_state *s);

// mechanism_assembly.c
// Assembles and factors the matrix unless it is current, and solves.
void solve_factor_and_solve(solve_state *s);
// Whether the factored matrix is the one needed now.
bool solve_is_factored(const solve_state *s);
// Right-hand sides of the bodies: the impulses of rows at their bounds.
void solve_add_bound_impulses(const solve_state *s);

#endif
