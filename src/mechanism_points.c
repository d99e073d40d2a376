// Trees of ball joints, solved by themselves: see point_store.h. Whatever is out of the ordinary is
// left to the mechanism's own solve.
#include "mechanism.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Relative to the inverse mass that a row sees, which is less than its own where bodies resist.
// With as little as elsewhere a chain of 100 links under 100 times the mass of one gains 2 % of its
// energy in 10 s at 4 substeps, with this it loses 0.5 %.
#define RESISTING_SOFTNESS 1e-4

static point_tree tree_of(const mechanism_set *set, const mechanism *m)
{
  point_tree t = {0};
  t.blocks = set->point_blocks + m->first_point / BLOCK_WIDTH;
  t.points = set->points + m->first_point;
  t.count = m->last_joint - m->first_joint;
  t.links = set->links + m->first_link;
  t.bodies = set->point_bodies + m->first_point_body;
  t.body_count = m->point_body_count;
  return t;
}

// Whose impulses are those of the substep: the tree's, or those of all joints' own states.
static void pass_over(const direct_context *c, mechanism *m, bool to_tree)
{
  for (int32_t i = m->first_joint; i < m->last_joint && m->by_tree != to_tree; ++i) {
    direct_joint *j = &c->set->joints[i];
    point_joint *p = &c->set->points[j->point];
    p->counts = to_tree;
    float *tree = p->lambda, *own = j->state[0].lambda;
    memcpy(to_tree ? tree : own, to_tree ? own : tree, sizeof p->lambda);
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

static double square3(const float *a)
{
  return (double)(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

// What the last impulses, at levers as they are now, ask for beyond the inertia that a body has.
static double resistance(const direct_context *c, const point_tree *t, const point_body *b)
{
  double press = 0.0;
  for (int32_t k = 0; k < b->count; ++k) {
    const point_joint *p = &t->points[b->joint[k] >> 1];
    press += sqrt(square3(p->lambda) * (double)p->lever[b->joint[k] & 1][3]);
  }
  double mean = (double)mean_inertia(c->data, b->slot);
  return (double)c->data->substep.h * press - DIRECT_BEARABLE * mean;
}

static bool is_overloaded(const direct_context *c, const point_tree *t)
{
  for (int32_t i = 0; i < t->body_count; ++i) {
    if (resistance(c, t, &t->bodies[i]) > 0.0) {
      return true;
    }
  }
  return false;
}

// Light links under a heavy load swing faster than the substep can follow: they get more inertia,
// see mechanism_stiffness.c; but not where the spins that it would hold are more than idle motion.
static bool resist_load(const direct_context *c, const point_tree *t)
{
  double held = 0.0, spare = 0.0;
  for (int32_t i = 0; i < t->body_count; ++i) {
    int32_t slot = t->bodies[i].slot;
    double more = resistance(c, t, &t->bodies[i]);
    body_inertia *to = &c->set->resisting[slot];
    *to = c->data->inertia[slot];
    const body_state *b = &c->data->state[slot];
    spare += direct_spare(square3(b->v), (double)b->inverse_mass);
    if (more > 0.0) {
      held += 0.5 * more * square3(b->w);
      double inverse[6];
      direct_inverse_inertia(inverse, direct_inertia(c->data, slot), more);
      for (int k = 0; k < 6; ++k) {
        to->inverse[k] = (float)inverse[k];
      }
    }
  }
  return held <= spare;
}

// The substep's own solve; false if there is more to it than motion.
static bool solve_first(const direct_context *c, const solver_data *data, const point_tree *t,
                        bool resists)
{
  point_extremes extremes = c->points->state(data, t, 0);
  double fastest = sqrt((double)extremes.square);
  if ((double)extremes.error > direct_joint_speed(fastest)) {
    return false;
  }
  double energy = c->points->solve(t, resists ? RESISTING_SOFTNESS : DIRECT_SOFTNESS);
  return is_motion(c, t, extremes, energy);
}

static void find_load(const direct_context *c, mechanism *m, const point_tree *t)
{
  bool unknown = c->begins || !m->by_tree || m->strained;
  pass_over(c, m, true);
  m->overloaded = (m->overloaded && !c->begins) || (unknown && is_overloaded(c, t));
  m->overloaded = m->overloaded && resist_load(c, t);
}

bool points_solve(const direct_context *c, mechanism *m)
{
  bool first = c->pass == DIRECT_FIRST, again = c->pass == DIRECT_AGAIN;
  if (m->first_point < 0 || (!first && !m->by_tree)) {
    return false;
  }
  point_tree t = tree_of(c->set, m);
  solver_data data = *c->data;
  if (first) {
    find_load(c, m, &t);
  }
  if (m->overloaded && (first || again)) {
    data.inertia = c->set->resisting;
  }
  if (first) {
    if (!solve_first(c, &data, &t, m->overloaded)) {
      pass_over(c, m, false);
      return false;
    }
    m->apart = m->torn = false;
  } else if (again) {
    c->points->again(&data, &t);
  } else {
    c->points->state(&data, &t, 1);
    c->points->solve(&t, DIRECT_SOFTNESS);
  }
  float take = c->pass == DIRECT_AHEAD ? 0.0f : 1.0f;
  m->strained = c->points->apply(&data, &t, first ? 0.0f : 1.0f, take);
  return true;
}
