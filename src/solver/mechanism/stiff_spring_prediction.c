// Lengthening of stiff springs on bodies that turn far in a substep.
//
// A stiff spring does not pull with its whole length until it has closed, so a turn that lengthens
// it does no work: its rows hold velocities along the directions at the start of the substep, and a
// point on a circle leaves along the tangent. Bodies are moved to their pose at the end of the
// substep to find by how much a spring L becomes longer than predicted linearly, d, which adds the
// elastic energy sum((L + d / 2) d / alpha). That is removed at once, as an error along L + d / 2.
// The same is done for rigid joints, because what opens beside a spring lengthens it.
#include "solver/mechanism/mechanism.h"

#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one body at a time");

// Rows in error that are active in both the velocity and the split pass.
static bool is_predicted(const joint_row *l)
{
  return l->active && l->velocity_active && l->error != 0.0;
}

// x / h. A row's Jacobian is the first member of its jacobian_row.
static double row_coordinate(const joint_row *l, double inv_h)
{
  return (double)((const jacobian_row *)(const void *)l->j)->x * inv_h;
}

// Linear prediction of a joint's coordinates, x / h + J v, into rhs.
LARGE void predict_rows(const direct_context *c, const direct_joint *j, joint_row *l, double inv_h)
{
  for (const joint_row *end = l + j->joint_row_count; l < end; ++l) {
    l->rhs = is_predicted(l) ? row_coordinate(l, inv_h) : 0.0;
    for (int side = 0; side < 2 && is_predicted(l); ++side) {
      if (j->body_node[side] >= 0) {
        const double *v = c->set->vectors + c->set->nodes[j->body_node[side]].first_row;
        for (int k = 0; k < BODY_ROWS; ++k) {
          l->rhs += l->j[side][k] * v[k];
        }
      }
    }
  }
}

// Sets rhs to the correction. With L the length over h (rate + error of a spring), d the
// lengthening beyond the prediction and m = L + d / 2, it is m (m d) / (m m) over the rows of a
// block, weighted by their stiffness: as a vector, because axes need not turn with it. Rigid rows
// and springs are separate.
LARGE void correct_predicted_rows(joint_row *l, const joint_row *end, double inv_h)
{
  double more[2][2] = {{0.0, 0.0}, {0.0, 0.0}}, whole[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
  for (joint_row *k = l; k < end; ++k) {
    if (is_predicted(k)) {
      bool rigid = k->alpha == 0.0;
      double beyond = row_coordinate(k, inv_h) - k->rhs, weight = rigid ? 1.0 : 1.0 / k->alpha;
      double length = rigid ? k->error : k->rate + k->error;
      beyond -= rigid ? k->rate : 0.0; // its velocity follows the drift already, see curved_drift.c
      k->rhs = length + 0.5 * beyond;
      more[rigid][k->block] += weight * k->rhs * beyond;
      whole[rigid][k->block] += weight * k->rhs * k->rhs;
    }
  }
  for (joint_row *k = l; k < end; ++k) {
    // Skip rounding, and the jump of an angle in springs.
    bool rigid = k->alpha == 0.0;
    double m = more[rigid][k->block], w = whole[rigid][k->block];
    k->rhs *= m > TUNING_MIN_PREDICTED_SHARE * w && (rigid || m < w) ? m / w : 0.0;
  }
}

// Moves the bodies to the end of the substep, or back. The solutions hold the old poses meanwhile.
LARGE void move_bodies(const direct_context *c, const mechanism *m, bool ahead)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (node->is_joint) {
      continue;
    }
    body_state *b = &c->data->state[node->index];
    f64x2 *kept = c->set->solutions + node->first_row;
    if (!ahead) {
      memcpy(b->pose, kept, sizeof b->pose);
      continue;
    }
    memcpy(kept, b->pose, sizeof b->pose);
    predict_pose(c->data, node->index, c->set->vectors + node->first_row);
  }
  direct_evaluate_jacobians(c, m);
}

void mechanism_predict_stiff_springs(const direct_context *c, const mechanism *m)
{
  double inv_h = 1.0 / (double)c->data->substep.h;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    predict_rows(c, j, &c->set->joint_rows[j->first_joint_row], inv_h);
  }
  move_bodies(c, m, true);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    correct_predicted_rows(&c->set->joint_rows[j->first_joint_row],
                           &c->set->joint_rows[j->first_joint_row + j->joint_row_count], inv_h);
  }
  move_bodies(c, m, false);
}
