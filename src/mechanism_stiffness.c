// Geometric stiffness: an impulse at a lever keeps its direction while the body turns, so that the
// turn itself changes its torque. Rows leave that out. What makes up for it is inertia: the sum of
// impulses times levers and h is an upper bound.
#include "mechanism.h"

#include <math.h>

void mechanism_resist_nothing(const direct_context *c, const mechanism *m)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    c->set->nodes[i].resistance = 0.0;
  }
}

static void stiffen(const direct_context *c, const direct_joint *j, int side, double press)
{
  if (j->at[side] >= 0) {
    c->set->nodes[j->at[side]].resistance += (double)c->data->substep.h * press;
  }
}

void mechanism_resist_press(const direct_context *c, const mechanism *m)
{
  mechanism_resist_nothing(c, m);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    stiffen(c, j, 0, j->press[0]);
    stiffen(c, j, 1, j->press[1]);
  }
}

// Whether errors are larger than motion may remove.
static bool is_violated(const direct_context *c, const mechanism *m)
{
  double most = direct_joint_speed(0.0);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    for (int k = 0; k < j->law_count; ++k) {
      const law *l = &c->set->laws[j->first_law + k];
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

// Light links under a heavy load swing faster than the substep can follow. They get as much inertia
// as keeps them slow enough. What springs hold where joints contradict each other, and what rigid
// joints bear of it, is no load but comes and goes with the pose; inertia that does the same would
// be a pump.
void mechanism_resist_load(const direct_context *c, const mechanism *m)
{
  mechanism_resist_nothing(c, m);
  bool known = false;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    if (!known && (is_spring(&j->params[0]) || is_spring(&j->params[1]))) {
      if (is_violated(c, m)) {
        mechanism_resist_nothing(c, m);
        return;
      }
      known = true;
    }
    double pull = last_impulse(&j->state[0]), twist = last_impulse(&j->state[1]);
    stiffen(c, j, 0, pull * (double)j->lever[0] + twist);
    stiffen(c, j, 1, pull * (double)j->lever[1] + twist);
  }
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    direct_node *node = &c->set->nodes[i];
    if (node->resistance > 0.0) {
      double mean = (double)mean_inertia(c->data, node->index);
      node->resistance = fmax(0.0, node->resistance - DIRECT_BEARABLE * mean);
    }
  }
}
