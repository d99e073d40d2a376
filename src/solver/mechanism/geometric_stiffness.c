// Geometric stiffness: an impulse at a lever arm keeps its direction while the body turns, so that
// the turn changes its torque. Jacobians leave that out. It is made up for by inertia in the
// matrix: with impulses lambda at lever arms r and angular impulses tau,
//     h^2 K <= h (sum abs(lambda) r + sum abs(tau)),
// an upper bound added to the inertia about all axes.
#include "solver/mechanism/mechanism.h"

#include <math.h>

void mechanism_clear_added_inertia(const direct_context *c, const mechanism *m)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    c->set->nodes[i].added_inertia = 0.0;
    c->set->nodes[i].turned_inertia = INFINITY;
  }
}

static void add_inertia(const direct_context *c, const direct_joint *j, int side,
                        double torque_impulse)
{
  if (j->body_node[side] >= 0) {
    direct_node *node = &c->set->nodes[j->body_node[side]];
    node->added_inertia += (double)c->data->substep.h * torque_impulse;
    node->turned_inertia = fmin(node->turned_inertia, (double)j->turned_inertia);
  }
}

// Split pass: all of it, without which joints that contradict each other shake.
void mechanism_add_inertia_for_correction(const direct_context *c, const mechanism *m)
{
  mechanism_clear_added_inertia(c, m);
  for (int32_t i = m->first_joint; i < m->last_joint && RULE(mechanism_correction_inertia); ++i) {
    const direct_joint *j = &c->set->joints[i];
    add_inertia(c, j, 0, j->torque_impulse[0]);
    add_inertia(c, j, 1, j->torque_impulse[1]);
  }
}

// Whether an error is too large to be removed within the velocities.
static bool has_large_errors(const direct_context *c, const mechanism *m)
{
  double most = direct_max_error_rate(0.0);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    for (int k = 0; k < j->joint_row_count; ++k) {
      const joint_row *l = &c->set->joint_rows[j->first_joint_row + k];
      if (l->active && fabs(l->error) > most) {
        return true;
      }
    }
  }
  return false;
}

static bool is_spring(const RowParams *params)
{
  return params->alpha != 0.0f || params->alpha_limit != 0.0f;
}

static double last_impulse(const RowState *state)
{
  const float *a = state->lambda;
  return sqrt((double)(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]));
}

// Velocities: what exceeds TUNING_STIFFNESS_RESOLVED times the inertia. Light links under a heavy
// load swing faster than the substep can follow; this slows them down. Nothing is added where
// springs contradict other joints: impulses there are no load but change with the pose, and inertia
// that changes with them would pump energy in.
//
// What counts is the inertia that swings. A body on hinges turns only with what hangs on them:
// where all of its joints state that (tn_axis.inertia), it replaces the body's own if it is more.
// Light links between several joints of one body of a robot would otherwise be as heavy as the body
// in its turns.
void mechanism_add_inertia_for_load(const direct_context *c, const mechanism *m)
{
  mechanism_clear_added_inertia(c, m);
  bool known = !RULE(mechanism_inertia_spares_springs);
  for (int32_t i = m->first_joint; i < m->last_joint && RULE(mechanism_load_inertia); ++i) {
    const direct_joint *j = &c->set->joints[i];
    if (!known && (is_spring(&j->params[0]) || is_spring(&j->params[1]))) {
      if (has_large_errors(c, m)) {
        mechanism_clear_added_inertia(c, m);
        return;
      }
      known = true;
    }
    double pull = last_impulse(&j->state[0]), twist = last_impulse(&j->state[1]);
    add_inertia(c, j, 0, pull * (double)j->lever[0] + twist);
    add_inertia(c, j, 1, pull * (double)j->lever[1] + twist);
  }
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    direct_node *node = &c->set->nodes[i];
    if (node->added_inertia > 0.0) {
      double own = (double)mean_inertia(c->data, node->index);
      double turned = isfinite(node->turned_inertia) ? fmax(own, node->turned_inertia) : own;
      node->added_inertia = fmax(0.0, node->added_inertia - TUNING_STIFFNESS_RESOLVED * turned);
    }
  }
}
