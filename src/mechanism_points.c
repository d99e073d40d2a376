// Trees of ball joints, solved by themselves: see point_store.h. Whatever is out of the ordinary is
// left to the mechanism's own solve.
#include "mechanism.h"

#include <math.h>
#include <string.h>

static point_tree tree_of(const mechanism_set *set, const mechanism *m)
{
  point_tree t = {0};
  t.blocks = set->point_blocks + m->first_point / BLOCK_WIDTH;
  t.points = set->points + m->first_point;
  t.count = m->last_joint - m->first_joint;
  t.links = set->links + m->first_link;
  t.bodies = set->point_bodies + m->first_point_body;
  t.body_count = m->point_body_count;
  t.impulses = set->solutions + m->first_impulse;
  return t;
}

// Whose impulses are those of the substep: the tree's, or those of all joints' own states.
static void pass_over(const direct_context *c, mechanism *m, bool to_tree)
{
  for (int32_t i = m->first_joint; i < m->last_joint && m->by_tree != to_tree; ++i) {
    direct_joint *j = &c->set->joints[i];
    point_joint *p = &c->set->points[j->point];
    p->counts = to_tree;
    if (!to_tree) {
      memcpy(j->state[0].lambda, p->lambda, sizeof p->lambda);
    }
  }
  m->by_tree = to_tree;
}

// Errors that are removed by motion: nothing in it is too fast.
static bool is_motion(const direct_context *c, const point_tree *t, point_extremes e, double energy)
{
  double most = direct_body_speed(sqrt((double)e.square));
  // No body gets more than all of the energy.
  return sqrt(energy * (double)e.inverse_mass) <= most ||
         sqrt(c->points->top_square(c->data, t)) <= most;
}

bool points_solve(const direct_context *c, mechanism *m)
{
  bool first = c->pass == DIRECT_FIRST, again = c->pass == DIRECT_AGAIN;
  if (m->first_point < 0 || (!first && !m->by_tree)) {
    return false;
  }
  point_tree t = tree_of(c->set, m);
  point_extremes extremes = {0.0f, 0.0f, 0.0f};
  if (again) {
    c->points->refresh(c->data, &t);
  } else {
    extremes = c->points->state(c->data, &t, !first);
    c->points->factor(&t, DIRECT_SOFTNESS);
  }
  double energy = c->points->solve(&t, again ? 1.0 : 0.0, !again);
  if (first) {
    bool closes = (double)extremes.error <= direct_joint_speed(sqrt((double)extremes.square)) &&
                  is_motion(c, &t, extremes, energy);
    pass_over(c, m, closes);
    if (!closes) {
      return false;
    }
    m->apart = m->torn = false;
  }
  c->points->apply(c->data, &t, first ? 1.0 : 0.0, first, c->pass == DIRECT_AHEAD ? 0.0f : 1.0f);
  return true;
}
