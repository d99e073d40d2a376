// Friction of joints in mechanisms that contacts support: it lags, by one step per substep towards
// the impulse that stops the motion of its axis.
//
// Solved together with joints at their limits, friction has no unique solution, and limbs at rest
// would twitch from one solution to the next. As its impulse is known before the solve, it needs no
// row: the velocities that the solve starts from have it.
#include "solver/mechanism/solve_state.h"

_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

// Friction of a ball joint is a vector in world axes.
static bool is_vector(const direct_joint *j, const direct_axis *a)
{
  return a->block && angular_kind(j->type).ball_axes;
}

static const jacobian_row *row_of(const mechanism_set *set, const direct_joint *j,
                                  const direct_axis *a)
{
  return &set->jacobians[j->first_jacobian + 3 * a->block + a->row];
}

// Gives a body of the mechanism an impulse.
static void push(const direct_context *c, const direct_node *node, const double *impulse)
{
  double *v = c->set->vectors + node->first_row;
  double im = (double)c->data->state[node->index].inverse_mass;
  const float *ii = c->data->inertia[node->index].inverse;
  double x = impulse[3], y = impulse[4], z = impulse[5];
  double xy = (double)ii[3], xz = (double)ii[4], yz = (double)ii[5];
  for (int k = 0; k < 3; ++k) {
    v[k] += im * impulse[k];
  }
  v[3] += (double)ii[0] * x + xy * y + xz * z;
  v[4] += xy * x + (double)ii[1] * y + yz * z;
  v[5] += xz * x + yz * y + (double)ii[2] * z;
}

// The impulse that an axis gets in this pass, N s or N m s, beyond what it has been given.
static double impulse_of(const direct_context *c, const direct_joint *j, direct_axis *a)
{
  double last = (double)a->state.friction;
  if (c->pass == DIRECT_BIAS) {
    return last - (c->first_substep ? (double)(j->half_kick_done * a->state.friction) : 0.0);
  }
  a->state.friction = (float)a->next_friction;
  return a->next_friction - last;
}

static void apply_to_joint(const direct_context *c, direct_joint *j)
{
  double given[2][BODY_ROWS] = {{0.0}, {0.0}};
  for (int k = 0; k < j->axis_count; ++k) {
    direct_axis *a = &c->set->axes[j->first_axis + k];
    if (!(a->features & AXIS_FRICTION) || a->params.friction == 0.0f) {
      a->state.friction = 0.0f;
      continue;
    }
    double impulse = impulse_of(c, j, a);
    if (is_vector(j, a)) {
      given[0][3 + a->row] -= impulse;
      given[1][3 + a->row] += impulse;
      j->sum[1][a->row] += (float)impulse;
      continue;
    }
    const double(*of)[BODY_ROWS] = row_of(c->set, j, a)->j;
    for (int i = 0; i < BODY_ROWS; ++i) {
      given[0][i] += impulse * of[0][i];
      given[1][i] += impulse * of[1][i];
    }
    for (int i = 0; i < 3; ++i) {
      j->sum[a->block][i] += (float)(impulse * of[1][3 * a->block + i]);
    }
  }
  for (int side = 0; side < 2; ++side) {
    if (j->body_node[side] >= 0) {
      push(c, &c->set->nodes[j->body_node[side]], given[side]);
    }
  }
}

void mechanism_apply_lagged_friction(const direct_context *c, const mechanism *m)
{
  for (int32_t i = m->first_joint; i < m->last_joint && lags_friction(m); ++i) {
    direct_joint *j = &c->set->joints[i];
    if (j->axis_features & AXES_WITH_FRICTION) {
      apply_to_joint(c, j);
    }
  }
}

// J v of an axis, for the velocities `motion` of A and B; and the inverse mass along it.
static double rate_along(const mechanism_set *set, const direct_joint *j, const direct_axis *a,
                         const double *motion, double *inverse_mass)
{
  const jacobian_row *row = row_of(set, j, a);
  if (is_vector(j, a)) {
    *inverse_mass = (double)row->axis_inverse_mass;
    return motion[BODY_ROWS + 3 + a->row] - motion[3 + a->row];
  }
  *inverse_mass = (double)row->inverse_mass;
  double sum = 0.0;
  for (int i = 0; i < BODY_ROWS; ++i) {
    sum += row->j[0][i] * motion[i] + row->j[1][i] * motion[BODY_ROWS + i];
  }
  return sum;
}

// A step towards the impulse that stops the motion along `count` axes, by the sum of their inverse
// masses. All joints step at once, so that neighbours may double each other's effect.
static void step_axes(const direct_context *c, const direct_joint *j, direct_axis *axes, int count,
                      const double *motion)
{
  double most = (double)axes->params.friction * (double)c->data->substep.h;
  double rate[3], inverse_mass = 0.0, square = 0.0;
  for (int i = 0; i < count; ++i) {
    double w;
    rate[i] = rate_along(c->set, j, &axes[i], motion, &w);
    inverse_mass += w;
  }
  for (int i = 0; i < count; ++i) {
    double next =
        (double)axes[i].state.friction - TUNING_LAGGED_FRICTION_GAIN * rate[i] / inverse_mass;
    axes[i].next_friction = next;
    square += next * next;
  }
  double scale = square > most * most ? most / sqrt(square) : 1.0;
  for (int i = 0; i < count; ++i) {
    axes[i].next_friction *= scale;
  }
}

void mechanism_update_lagged_friction(const direct_context *c, const direct_joint *j,
                                      const double *motion)
{
  for (int k = 0; k < j->axis_count;) {
    direct_axis *a = &c->set->axes[j->first_axis + k];
    int count = is_vector(j, a) ? 3 : 1;
    if (a->params.friction > 0.0f) {
      step_axes(c, j, a, count, motion);
    }
    k += count;
  }
}
