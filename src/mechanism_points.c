// Trees of ball joints, solved by themselves: see point_store.h. Whatever is out of the ordinary is
// left to the mechanism's own solve.
#include "mechanism.h"

#include <math.h>
#include <stddef.h>
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
    memcpy(to_tree ? p->lambda : j->state[0].lambda, to_tree ? j->state[0].lambda : p->lambda,
           sizeof p->lambda);
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

static double length3(const float *a)
{
  return sqrt((double)(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]));
}

// Whether the last impulses, at levers as they are now, ask for more inertia than a body has.
static bool is_overloaded(const direct_context *c, const point_tree *t)
{
  for (int32_t i = 0; i < t->body_count; ++i) {
    const point_body *b = &t->bodies[i];
    float(*spin)[BLOCK_WIDTH] = c->data->bodies[b->slot / BLOCK_WIDTH].spin;
    spin += offsetof(Spin, inertia) / sizeof(R);
    int lane = b->slot % BLOCK_WIDTH;
    double mean = (double)(spin[0][lane] + spin[1][lane] + spin[2][lane]) / 3.0, press = 0.0;
    for (int32_t k = 0; k < b->count; ++k) {
      const point_joint *p = &t->points[b->joint[k] >> 1];
      press += length3(p->lambda) * length3(p->lever[b->joint[k] & 1]);
    }
    if ((double)c->data->substep.h * press > DIRECT_BEARABLE * mean) {
      return true;
    }
  }
  return false;
}

// The substep's own solve; false if there is more to it than motion.
static bool solve_first(const direct_context *c, const point_tree *t)
{
  point_extremes extremes = c->points->state(c->data, t, 0);
  double fastest = sqrt((double)extremes.square);
  if ((double)extremes.error > direct_joint_speed(fastest)) {
    return false;
  }
  c->points->factor(t, DIRECT_SOFTNESS);
  double energy = c->points->solve(t, 0.0, 1);
  return is_motion(c, t, extremes, energy);
}

bool points_solve(const direct_context *c, mechanism *m)
{
  bool first = c->pass == DIRECT_FIRST;
  if (m->first_point < 0 || (!first && !m->by_tree)) {
    return false;
  }
  point_tree t = tree_of(c->set, m);
  if (first) {
    pass_over(c, m, true);
    m->overloaded = (m->overloaded && !c->begins) || is_overloaded(c, &t);
    if (m->overloaded || !solve_first(c, &t)) {
      pass_over(c, m, false);
      return false;
    }
    m->apart = m->torn = false;
  } else if (c->pass == DIRECT_AGAIN) {
    c->points->refresh(c->data, &t);
    c->points->solve(&t, 1.0, 0);
  } else {
    c->points->state(c->data, &t, 1);
    c->points->factor(&t, DIRECT_SOFTNESS);
    c->points->solve(&t, 0.0, 0);
  }
  c->points->apply(c->data, &t, first ? 1.0 : 0.0, first, c->pass == DIRECT_AHEAD ? 0.0f : 1.0f);
  return true;
}
