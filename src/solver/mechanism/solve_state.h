// State of one mechanism's solve, shared by the single and the batched driver.
#ifndef TENON_SOLVER_MECHANISM_SOLVE_STATE_H
#define TENON_SOLVER_MECHANISM_SOLVE_STATE_H

#include "solver/mechanism/mechanism.h"

#include <math.h>

struct solve_state {
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
  double curvature_share;  // share of the drift's curvature that rigid rows follow
  int curvature_rounds;    // evaluations of that curvature so far
  double curvature_change; // sum of squares of its last change over the inverse masses, J
};

// A solve is: begin (rows, velocities, added inertia); rounds of factor, solve and update of the
// active set; end (results). solve_update_active_set() returns whether the active set is final;
// solve_rounds() runs all rounds from `round` on for one mechanism.
solve_state solve_begin(const direct_context *c, mechanism *m);
bool solve_update_active_set(solve_state *s, int round);
void solve_rounds(solve_state *s, int round);
void solve_end(solve_state *s);

// ---------------------------------------------------------------------------------------------
// Active set: a row beyond a bound stays at it (inactive), one that would leave its bound becomes
// active.

// Impulse of an active row, without negative zeros.
static inline double row_impulse(const solve_state *s, f64x2 x)
{
  return 0.0 - (x[0] + s->kept_share * x[1]);
}

// Whether an inactive row may become active again; rows with lo == hi are fixed impulses.
static inline bool row_may_activate(const joint_row *l)
{
  bool end = l->kind == ROW_LIMIT && (l->block || l->alpha > 0.0);
  bool tries = RULE(mechanism_limit_switches) && (end || l->kind == ROW_STIFF_SPRING);
  int most = tries ? TUNING_LIMIT_SWITCHES : TUNING_ROW_SWITCHES;
  return !l->active && l->lo != l->hi && l->switches < most;
}

// Deactivates a row that exceeds a bound by more than rounding.
static inline bool row_deactivate(const solve_state *s, joint_row *l, f64x2 x)
{
  double lambda = l->lambda + row_impulse(s, x);
  double slack = TUNING_BOUND_SLACK * fabs(lambda);
  if (lambda <= l->hi + slack && lambda >= l->lo - slack) {
    return false;
  }
  l->active = false;
  l->at_hi = lambda > l->hi;
  l->switches += 1;
  return true;
}

// Activates a row at its bound if its residual rate + u + alpha lambda, with u = J v after the
// solve, drives lambda off the bound.
static inline bool row_activate(const solve_state *s, joint_row *l, double u)
{
  double wanted = l->rate + s->kept_share * l->error + u + l->alpha * row_bound(l);
  if (l->at_hi ? wanted <= TUNING_ACTIVATION_SPEED : wanted >= -TUNING_ACTIVATION_SPEED) {
    return false;
  }
  l->active = true;
  l->switches += 1;
  return true;
}

// Whether a rigid limit is beyond its end and not held.
static inline bool is_passed_idle_limit(const joint_row *l)
{
  bool limit = !l->active && l->kind == ROW_LIMIT && l->lo < l->hi && l->alpha == 0.0;
  return limit && (l->at_hi ? l->error > 0.0 : l->error < 0.0);
}

// curved_drift.c
//
// Share of the curvature that rigid rows follow: 0 if no body turns far in the substep, or one too
// far to be resolved.
double solve_curvature_share(const solve_state *s);
// Evaluates the curvature of rigid rows for the solves whose bits are set in `lanes`: members of
// one batch, or one mechanism. The first call is made before the solve, the others after each of
// its solutions. Returns the bits of those that must be solved again.
unsigned solve_follow_drift(solve_state *s, unsigned lanes);

// play.c
//
// Takes errors of redundant rows that contradict each other out of them, within the play.
// Returns whether the rows must be solved again.
bool solve_forgive_contradictions(solve_state *s);

// mechanism_assembly.c
// Assembles and factors the matrix unless it is current, and solves.
void solve_factor_and_solve(solve_state *s);
// Whether the factored matrix is the one needed now.
bool solve_is_factored(const solve_state *s);
// Parts of the assembly for a node with `count` rows from `first_row` on. The first lists the
// active ones and writes the diagonal block; it returns their number n. The second writes J of n
// active rows towards the body of a side: as J^T if the body is eliminated later (`body_below`).
// The third says whether the active rows are those of the factored matrix.
int solve_assemble_diagonal(const solve_state *s, int32_t node, int32_t first_row, int32_t count);
void solve_assemble_side(const solve_state *s, const active_row *active_rows, int n, int side,
                         bool body_below, int32_t jacobian_offset);
bool solve_rows_unchanged(const solve_state *s, int32_t node, int32_t first_row, int32_t count);
// Right-hand sides of the bodies: the impulses of rows at their bounds.
void solve_add_bound_impulses(const solve_state *s);

#endif
