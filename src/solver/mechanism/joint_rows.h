// Rows of one joint under construction: shared by joint_rows.c (positions) and axis_rows.c (axes).
#ifndef TENON_SOLVER_MECHANISM_JOINT_ROWS_H
#define TENON_SOLVER_MECHANISM_JOINT_ROWS_H

#include "solver/mechanism/mechanism.h"

#include <math.h>

// Common data of the rows of one block (linear or angular) of a joint.
typedef struct row_builder {
  const direct_context *context;
  direct_joint *joint;
  joint_row *next; // next row to write
  const jacobian_row *rows;
  BlockKind kind;
  const RowParams *params;
  const RowState *state;
  double motion[2 * BODY_ROWS]; // velocities of A and B
  int block;
  double h, inv_h, inv_h2;
  double length_scale;           // sum of the lever arms, m; 1 for angular rows
  double deadband;               // of position errors, m or rad
  double most_regularization[2]; // linear, angular; a bound for light links
  bool relaxing;                 // DIRECT_RELAX or DIRECT_HALF_KICK
  bool lags_friction;
  bool in_error; // the last substep removed large errors apart from the velocities
} row_builder;

// Adds an active row without bounds along the Jacobian `of`.
static inline joint_row *add_row(row_builder *s, joint_row_head head, const double (*of)[BODY_ROWS],
                                 float inverse_mass)
{
  joint_row *l = s->next++;
  l->j = of;
  l->rate = l->error = l->alpha = l->lambda = 0.0;
  double own = row_regularization() * (double)inverse_mass, most = s->most_regularization[s->block];
  l->regularization = own < most ? own : most;
  l->lo = -UNBOUNDED_IMPULSE;
  l->hi = UNBOUNDED_IMPULSE;
  l->head = head;
  return l;
}

// Makes the row a fixed impulse. In the half kick springs give part of their next impulse, while
// rigid rows stop their relative motion.
static inline void fix_impulse(joint_row *l, double lambda)
{
  l->active = false;
  l->lambda = 0.0;
  l->lo = l->hi = lambda;
}

static inline double clamp(double x, double lo, double hi)
{
  return fmax(lo, fmin(x, hi));
}

// Share theta of the substep at whose end a force of stiffness k and damping d on the inverse mass
// w is taken; see axis_rows.c.
double implicit_share(double k, double d, double h, double w);

// Half of the impulse of a substep, (1 + after) lambda with after = (1 - theta) / theta.
static inline double half_impulse(double after, float lambda)
{
  return 0.5 * (1.0 + after) * (double)lambda;
}

// Adds the rows of the axes of a block.
void add_axis_rows(row_builder *s);

#endif
