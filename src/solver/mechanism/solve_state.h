// One mechanism's solve under way, for itself or beside its equals.
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
  double *split_momentum;  // that the position part has given, where it is to be taken back
  double correction_share; // of the position part that is used
  double kept_share;       // and that stays in the velocities
  double fastest;          // speed of a body as the solve begins
  double energy_tolerance; // energy that may come from nowhere
  bool refactor;           // the matrix is to be made anew
  bool split_removed;      // what moves the bodies without being motion is taken out meanwhile
  bool split_pass;         // errors from velocities; what is asked back takes the place of these
} solve_state;

// Laws at the bodies' pose, velocities, and what resists; then rounds, each of which finds what the
// bodies do with the rows that hold and revises these; then the results.
solve_state solve_begin(const direct_context *c, mechanism *m);
bool solve_update_active_set(solve_state *s, int round);
void solve_rounds(solve_state *s, int round); // all from this one on, alone
void solve_end(solve_state *s);

// Whether the matrix that has been factored is the one that is asked for.
bool solve_is_factored(const solve_state *s);
// What joint_rows at their bounds give bodies, as right-hand sides.
void solve_add_bound_impulses(const solve_state *s);

#endif
