// Springs that the substep does not resolve, on bodies that turn far in it.
//
// Until such a spring has closed it does not pull with its length, so that turns which lengthen it
// do no work: its rows hold their velocities along where the substep began, and a point on a circle
// leaves along the tangent. Where the bodies will be tells what that adds to what the springs hold;
// it is taken back as errors are, but at once. So is what turns open of rigid joints, as what
// opens beside a spring lengthens it.
#include "mechanism.h"

#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one body at a time");

static const double LEAST = 1e-5; // share of what rows hold

// In error, and held in both parts.
static bool takes_part(const law *l)
{
  return l->active && l->holds && l->error != 0.0;
}

static double place_of(const law *l, double inv_h)
{
  return (double)((const stated_row *)(const void *)l->j)->x * inv_h;
}

// Where the rows of a joint will be by their velocities.
LARGE void foresee_rows(const direct_context *c, const direct_joint *j, law *l, double inv_h)
{
  for (const law *end = l + j->law_count; l < end; ++l) {
    l->asked = takes_part(l) ? place_of(l, inv_h) : 0.0;
    for (int side = 0; side < 2 && takes_part(l); ++side) {
      if (j->at[side] >= 0) {
        const double *v = c->set->vectors + c->set->nodes[j->at[side]].first_row;
        for (int k = 0; k < BODY_ROWS; ++k) {
          l->asked += l->j[side][k] * v[k];
        }
      }
    }
  }
}

// What the rows of a block hold more than they foresaw is to leave them along their own lengths: as
// a vector, for the rows' axes need not turn with it. Rigid ones count for themselves.
LARGE void ask_back(law *l, const law *end, double inv_h)
{
  double more[2][2] = {{0.0, 0.0}, {0.0, 0.0}}, whole[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
  for (law *k = l; k < end; ++k) {
    if (takes_part(k)) {
      bool rigid = k->alpha == 0.0;
      double beyond = place_of(k, inv_h) - k->asked, weight = rigid ? 1.0 : 1.0 / k->alpha;
      k->asked = k->rate + k->error + 0.5 * beyond;
      more[rigid][k->block] += weight * k->asked * beyond;
      whole[rigid][k->block] += weight * k->asked * k->asked;
    }
  }
  for (law *k = l; k < end; ++k) {
    // Not what rounding brings, nor what an angle's jump does.
    bool rigid = k->alpha == 0.0;
    double m = more[rigid][k->block], w = whole[rigid][k->block];
    k->asked *= m > LEAST * w && (rigid || m < w) ? m / w : 0.0;
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
    pair2 *kept = c->set->solutions + node->first_row;
    if (!ahead) {
      memcpy(b->pose, kept, sizeof b->pose);
      continue;
    }
    memcpy(kept, b->pose, sizeof b->pose);
    fly_ahead(c->data, node->index, c->set->vectors + node->first_row);
  }
  direct_state(c, m);
}

void mechanism_look_ahead(const direct_context *c, const mechanism *m)
{
  double inv_h = 1.0 / (double)c->data->substep.h;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    foresee_rows(c, j, &c->set->laws[j->first_law], inv_h);
  }
  move_bodies(c, m, true);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    ask_back(&c->set->laws[j->first_law], &c->set->laws[j->first_law + j->law_count], inv_h);
  }
  move_bodies(c, m, false);
}
