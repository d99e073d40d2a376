// Driver of ball trees, see ball_tree.h. Errors that need a split impulse are left to the
// general solve.
#include "solver/mechanism/ball_tree.h"

#include "solver/mechanism/mechanism.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static ball_tree ball_tree_of(const mechanism_set *set, const mechanism *m)
{
  ball_tree t = {0};
  t.blocks = set->ball_blocks + m->first_ball / BLOCK_WIDTH;
  t.balls = set->balls + m->first_ball;
  t.count = m->last_joint - m->first_joint;
  t.links = set->links ? set->links + m->first_link : NULL;
  t.bodies = set->ball_bodies + m->first_ball_body;
  t.body_count = m->ball_body_count;
  return t;
}

// Moves the impulses of the last substep between the tree and the joints' own states.
static void move_impulses(const direct_context *c, mechanism *m, bool to_tree)
{
  for (int32_t i = m->first_joint; i < m->last_joint && m->by_ball_tree != to_tree; ++i) {
    direct_joint *j = &c->set->joints[i];
    ball_joint *p = &c->set->balls[j->ball];
    p->owns_impulse = to_tree;
    float *tree = p->lambda, *own = j->state[0].lambda;
    memcpy(to_tree ? tree : own, to_tree ? own : tree, sizeof p->lambda);
  }
  m->by_ball_tree = to_tree;
}

// Whether the position correction is slow enough to stay in the velocities.
static bool correction_stays_in_velocity(const direct_context *c, const ball_tree *t,
                                         ball_extremes e, double energy)
{
  double most = direct_max_correction_speed(sqrt((double)e.square));
  // A cheap bound first: no body gets more than all of the energy.
  return sqrt(energy * (double)e.inverse_mass) <= most ||
         sqrt(c->ball_ops->top_square(c->data, t)) <= most;
}

static double square3(const float *a)
{
  return (double)(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

// Added inertia of a body, see geometric_stiffness.c, with the last impulses at the current lever
// arms; none if negative.
static double added_inertia(const direct_context *c, const ball_tree *t, const ball_body *b)
{
  double torque_impulse = 0.0;
  for (int32_t k = 0; k < b->count; ++k) {
    const ball_joint *p = &t->balls[b->joint[k] >> 1];
    torque_impulse += sqrt(square3(p->lambda) * (double)p->lever[b->joint[k] & 1][3]);
  }
  double mean = (double)mean_inertia(c->data, b->slot);
  return (double)c->data->substep.h * torque_impulse - TUNING_STIFFNESS_RESOLVED * mean;
}

static bool any_added_inertia(const direct_context *c, const ball_tree *t)
{
  for (int32_t i = 0; i < t->body_count && RULE(mechanism_load_inertia); ++i) {
    if (added_inertia(c, t, &t->bodies[i]) > 0.0) {
      return true;
    }
  }
  return false;
}

// Inverse inertia of all bodies with the added inertia, see geometric_stiffness.c. Returns false if
// the rotational energy that it would store exceeds the tolerance: it could return as motion.
static bool add_inertia_for_load(const direct_context *c, const ball_tree *t)
{
  double spin_energy = 0.0, energy_tolerance = 0.0;
  for (int32_t i = 0; i < t->body_count; ++i) {
    int32_t slot = t->bodies[i].slot;
    double more = added_inertia(c, t, &t->bodies[i]);
    body_inertia *to = &c->set->augmented_inertia[slot];
    *to = c->data->inertia[slot];
    const body_state *b = &c->data->state[slot];
    energy_tolerance += direct_energy_tolerance(square3(b->v), (double)b->inverse_mass);
    if (more > 0.0) {
      spin_energy += 0.5 * more * square3(b->w);
      double inverse[6];
      direct_inverse_inertia_with(inverse, direct_world_inertia(c->data, slot), more);
      for (int k = 0; k < 6; ++k) {
        to->inverse[k] = (float)inverse[k];
      }
    }
  }
  return !RULE(mechanism_inertia_energy) || spin_energy <= energy_tolerance;
}

// DIRECT_BIAS; false if errors need a split impulse.
static bool solve_first(const direct_context *c, const solver_data *data, const ball_tree *t,
                        bool has_added_inertia)
{
  ball_extremes extremes = c->ball_ops->evaluate(data, t, 0);
  double fastest = sqrt((double)extremes.square);
  if ((double)extremes.error > direct_max_error_rate(fastest)) {
    return false;
  }
  bool soft = RULE(mechanism_tree_regularization) && has_added_inertia;
  double energy =
      c->ball_ops->solve(t, soft ? TUNING_REGULARIZATION_ADDED_INERTIA : row_regularization());
  return correction_stays_in_velocity(c, t, extremes, energy);
}

// Added inertia stays until the end of the step, unless it could return energy. Bodies are checked
// at the start of a step, after a general solve, and where the last impulses may exceed what the
// substep resolves.
static void update_added_inertia(const direct_context *c, mechanism *m, const ball_tree *t)
{
  bool unknown = c->first_substep || !m->by_ball_tree || m->maybe_overloaded;
  move_impulses(c, m, true);
  m->needs_added_inertia =
      (m->needs_added_inertia && !c->first_substep) || (unknown && any_added_inertia(c, t));
  m->needs_added_inertia = m->needs_added_inertia && add_inertia_for_load(c, t);
}

bool ball_tree_solve(const direct_context *c, mechanism *m)
{
  bool first = c->pass == DIRECT_BIAS, again = c->pass == DIRECT_RESOLVE;
  if (!RULE(mechanism_ball_trees) || m->first_ball < 0 || (!first && !m->by_ball_tree)) {
    return false;
  }
  ball_tree t = ball_tree_of(c->set, m);
  solver_data data = *c->data;
  if (first) {
    update_added_inertia(c, m, &t);
  }
  if (m->needs_added_inertia && (first || again)) {
    data.inertia = c->set->augmented_inertia;
  }
  if (first) {
    if (!solve_first(c, &data, &t, m->needs_added_inertia)) {
      move_impulses(c, m, false);
      return false;
    }
    m->split_impulse = m->infeasible = m->factors_stale = false;
  } else if (again) {
    c->ball_ops->resolve(&data, &t);
  } else {
    c->ball_ops->evaluate(&data, &t, 1);
    c->ball_ops->solve(&t, row_regularization());
  }
  float take = c->pass == DIRECT_HALF_KICK ? 0.0f : 1.0f;
  m->maybe_overloaded = c->ball_ops->apply(&data, &t, first ? 0.0f : 1.0f, take);
  return true;
}
