// The pose at which a mechanism is linearized: its Jacobians, masses and factors.
//
// Every substep has its own. A figure in contact that turns little keeps the one it has: rows are
// then built with the coordinates of the current pose, but solved along the Jacobians of the older
// one, with factors that are still there. With turns of theta since then the velocities after a
// solve miss the joints by theta times the relative turning of their bodies, which the next
// coordinates show. Each solve is still an orthogonal projection in the metric of the masses, which
// brings no energy. Angular momentum is off by theta times the moments of the joints' impulses:
// TUNING_KEPT_TURN is so small that only figures which nearly rest keep a linearization. Springs
// and drives do not take part.
#include "solver/mechanism/mechanism.h"

#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one body at a time");

// Whether a joint's Jacobian depends on rotations alone, and no more than limits and friction acts.
bool direct_joint_turns_only(const direct_joint *j)
{
  bool kind = j->type == TYPE_BALL || j->type == TYPE_HINGE || j->type == TYPE_FIXED ||
              j->type == TYPE_UNIVERSAL;
  const RowParams *p = j->params;
  return kind && (j->axis_features & ~AXES_WITH_FRICTION) == 0 && p[0].alpha == 0.0f &&
         p[0].alpha_limit == 0.0f && p[1].alpha == 0.0f && p[1].alpha_limit == 0.0f;
}

static bool may_keep(const direct_context *c, const mechanism *m)
{
  bool may = RULE(mechanism_kept_linearization) && m->supported && !m->has_loops &&
             m->first_ball < 0 && m->first_coupling == m->last_coupling;
  for (int32_t i = m->first_joint; i < m->last_joint && may; ++i) {
    may = direct_joint_turns_only(&c->set->joints[i]);
  }
  return may;
}

// Whether a body has turned by more than TUNING_KEPT_TURN. Quaternions p and q of a turn t apart
// have |p - q| = 2 sin(t / 4).
static bool has_turned(const direct_context *c, const mechanism *m)
{
  float most = 0.0f;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (!node->is_joint) {
      const float *now = c->data->state[node->index].dq, *then = node->linear.turn;
      float a = now[0] - then[0], b = now[1] - then[1], d = now[2] - then[2], e = now[3] - then[3];
      float square = a * a + b * b + d * d + e * e;
      most = square > most ? square : most;
    }
  }
  return !(4.0f * most <= TUNING_KEPT_TURN * TUNING_KEPT_TURN);
}

bool mechanism_keeps_linearization(const direct_context *c, const mechanism *m)
{
  return m->jacobian_pose != NO_SLOT && m->keeps_linearization && !has_turned(c, m);
}

void mechanism_linearize_bodies(const direct_context *c, mechanism *m)
{
  if (m->jacobian_pose == NO_SLOT) {
    m->keeps_linearization = may_keep(c, m);
  }
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    direct_node *node = &c->set->nodes[i];
    if (!node->is_joint) {
      S inertia = direct_world_inertia(c->data, node->index);
      memcpy(node->linear.inertia, &inertia, sizeof node->linear.inertia);
      memcpy(node->linear.inverse, c->data->inertia[node->index].inverse,
             sizeof node->linear.inverse);
      memcpy(node->linear.turn, c->data->state[node->index].dq, sizeof node->linear.turn);
    }
  }
  m->jacobian_pose = m->coordinate_pose = c->pose;
}
