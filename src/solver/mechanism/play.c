// Play: errors that contradict each other by less than a machinist would see.
//
// Rows of a loop may be redundant: three parallel arms on one rod turn only if they are equally
// long. If they differ by a rounding error no motion closes all joints, and what is left of the
// error after the solve presses on them again in every substep, as a spring of w / (1e-5 h^2) that
// drives the linkage back to where it was made: the stiffer, the shorter the substep. No motion can
// remove this part of the error,
//     e + J dv1 = A x1,
// so rows give it up, as far as the play of the world reaches, and are solved again with the same
// factors. Of rows that are not redundant it is 1e-5 of the error.
#include "solver/mechanism/solve_state.h"

#include <math.h>

_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

// Takes what no motion removes out of the errors of a joint's rigid rows. Returns whether any of it
// was worth that.
static bool forgive_joint(const solve_state *s, const direct_joint *j)
{
  double inv_h = 1.0 / (double)s->context->data->substep.h;
  double scale[2] = {(double)(j->lever[0] + j->lever[1]) * inv_h, inv_h};
  const f64x2 *x = s->x + s->nodes[j->node].first_row;
  joint_row *l = &s->joint_rows[j->first_joint_row], *end = l + j->joint_row_count;
  bool any = false;
  for (; l < end; ++l) {
    if (!l->active) {
      continue;
    }
    double left = row_compliance(l) * (*x++)[1], size = scale[l->block];
    if (l->kind == ROW_LOCKED && l->alpha == 0.0 && fabs(left) > TUNING_PLAY_LEAST * size) {
      double most = fmin((double)s->context->play * size, fabs(l->error));
      l->error -= fmax(-most, fmin(left, most));
      any = true;
    }
  }
  return any;
}

bool solve_forgive_contradictions(solve_state *s)
{
  const mechanism *m = s->mechanism;
  if (s->context->pass != DIRECT_BIAS || !m->has_loops || !RULE(mechanism_play)) {
    return false;
  }
  bool any = false;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    any = forgive_joint(s, &s->joints[i]) || any;
  }
  return any;
}
