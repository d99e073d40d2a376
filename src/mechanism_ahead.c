// Springs that the substep does not resolve, on bodies that turn far in it.
//
// Until such a spring has closed it does not pull with its length, so that turns which lengthen it
// do no work: its rows hold their velocities along where the substep began, and a point on a circle
// leaves along the tangent. Where the bodies will be tells what that adds to what the springs hold;
// it is taken back as errors are, but at once.
#include "mechanism.h"

#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one body at a time");

static const double LEAST = 1e-5; // share of what springs hold

// Held in both parts, by a spring whose impulse does not explain its length.
static bool is_strained(const law *l)
{
  return l->active && l->holds && l->alpha > 0.0 && l->error != 0.0;
}

static double place_of(const law *l, double inv_h)
{
  return (double)((const stated_row *)(const void *)l->j)->x * inv_h;
}

// Where the rows of a joint will be by their velocities; false if none is strained.
LARGE bool foresee_rows(const direct_context *c, const direct_joint *j, law *l, double inv_h)
{
  bool any = false;
  for (const law *end = l + j->law_count; l < end; ++l) {
    double u = 0.0;
    for (int side = 0; side < 2 && is_strained(l); ++side) {
      any = true;
      if (j->at[side] >= 0) {
        const double *v = c->set->vectors + c->set->nodes[j->at[side]].first_row;
        for (int k = 0; k < BODY_ROWS; ++k) {
          u += l->j[side][k] * (v[k] + v[c->set->row_count + k]);
        }
      }
    }
    l->asked = is_strained(l) ? place_of(l, inv_h) + u : 0.0;
  }
  return any;
}

// What the springs of a block hold more than their rows foresaw is to leave them along their own
// lengths: as a vector, for the rows' axes need not turn with it.
LARGE void ask_back(law *l, const law *end, double inv_h)
{
  double more[2] = {0.0, 0.0}, whole[2] = {0.0, 0.0};
  for (law *k = l; k < end; ++k) {
    if (is_strained(k)) {
      double length = k->rate + k->error, beyond = place_of(k, inv_h) - k->asked;
      more[k->block] += (length + 0.5 * beyond) * beyond / k->alpha;
      whole[k->block] += length * length / k->alpha;
    }
  }
  for (law *k = l; k < end; ++k) {
    if (is_strained(k)) {
      // Not what rounding brings, nor what an angle's jump does.
      double m = more[k->block], w = whole[k->block];
      k->asked = m > LEAST * w && m < w ? m / w * (k->rate + k->error) : 0.0;
    }
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
    const double *v = c->set->vectors + node->first_row;
    fly_ahead(c->data, node->index, v, v + c->set->row_count);
  }
  direct_state(c, m);
}

void mechanism_look_ahead(const direct_context *c, const mechanism *m)
{
  double inv_h = 1.0 / (double)c->data->substep.h;
  bool any = false;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    any |= foresee_rows(c, j, &c->set->laws[j->first_law], inv_h);
  }
  if (!any) {
    return;
  }
  move_bodies(c, m, true);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    ask_back(&c->set->laws[j->first_law], &c->set->laws[j->first_law + j->law_count], inv_h);
  }
  move_bodies(c, m, false);
}
