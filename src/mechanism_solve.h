// One mechanism's solve under way, for itself or beside its equals.
#ifndef TENON_MECHANISM_SOLVE_H
#define TENON_MECHANISM_SOLVE_H

#include "mechanism.h"

typedef struct solve {
  const direct_context *context;
  mechanism *mechanism;
  direct_node *nodes;
  const direct_block *blocks;
  direct_joint *joints;
  law *laws;
  double *values;
  direct_system system;
  double *v;        // velocities of the bodies, by row
  pair2 *x;         // right-hand sides, then solutions: velocity, position
  double *momentum; // that the position part has given, where it is to be taken back
  double share;     // of the position part that is used
  double kept;      // and that stays in the velocities
  double fastest;   // speed of a body as the solve begins
  double spare;     // energy that may come from nowhere
  bool fresh;       // the matrix is to be made anew
  bool aside;       // what moves the bodies without being motion is taken out meanwhile
  bool parting;     // errors from velocities; what is asked back takes the place of these
} solve;

// Laws at the bodies' pose, velocities, and what resists; then rounds, each of which finds what the
// bodies do with the rows that hold and revises these; then the results.
solve solve_begin(const direct_context *c, mechanism *m);
bool solve_concludes(solve *s, int round);
void solve_rounds(solve *s, int round); // all from this one on, alone
void solve_end(solve *s);

// Whether the matrix that has been factored is the one that is asked for.
bool solve_is_held(const solve *s);
// What laws at their bounds give bodies, as right-hand sides.
void solve_gives(const solve *s);

#endif
