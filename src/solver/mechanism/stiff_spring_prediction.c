// Springs that the substep does not resolve, on bodies that turn far in it.
//
// Until such a spring has closed it does not pull with its length, so that turns which lengthen it
// do no work: its rows hold their velocities along where the substep began, and a point on a circle
// leaves along the tangent. Where the bodies will be tells what that adds to what the springs hold;
// it is taken back as errors are, but at once. So is what turns open of rigid joints, as what
// opens beside a spring lengthens it.
#include "solver/mechanism/mechanism.h"

#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one body at a time");

static const double TUNING_MIN_PREDICTED_SHARE = 1e-5; // share of what rows hold

// In error, and held in both parts.
static bool is_predicted(const joint_row *l)
{
  return l->active && l->velocity_active && l->error != 0.0;
}

static double row_coordinate(const joint_row *l, double inv_h)
{
  return (double)((const jacobian_row *)(const void *)l->j)->x * inv_h;
}

// Where the rows of a joint will be by their velocities.
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

// What the rows of a block hold more than they foresaw is to leave them along their own lengths: as
// a vector, for the rows' axes need not turn with it. Rigid ones count for themselves.
LARGE void correct_predicted_rows(joint_row *l, const joint_row *end, double inv_h)
{
  double more[2][2] = {{0.0, 0.0}, {0.0, 0.0}}, whole[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
  for (joint_row *k = l; k < end; ++k) {
    if (is_predicted(k)) {
      bool rigid = k->alpha == 0.0;
      double beyond = row_coordinate(k, inv_h) - k->rhs, weight = rigid ? 1.0 : 1.0 / k->alpha;
      k->rhs = k->rate + k->error + 0.5 * beyond;
      more[rigid][k->block] += weight * k->rhs * beyond;
      whole[rigid][k->block] += weight * k->rhs * k->rhs;
    }
  }
  for (joint_row *k = l; k < end; ++k) {
    // Not what rounding brings, nor what an angle's jump does.
    bool rigid = k->alpha == 0.0;
    double m = more[rigid][k->block], w = whole[rigid][k->block];
    k->rhs *= m > TUNING_MIN_PREDICTED_SHARE * w && (rigid || m < w) ? m / w : 0.0;
  }
}

// To the end of the substep, or back. Solutions keep the poses meanwhile.
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
