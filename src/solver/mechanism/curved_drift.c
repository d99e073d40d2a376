// Rigid rows on bodies that turn: the drift ends on the constraint, not on its tangent.
//
// A row C / h + J v = 0 misses C = 0 by the curvature of the path,
//     c(v) = C(x + h v) - C(x) - h J v,
// about (h w)^2 / 2 of a lever arm. Left to the next substep it is removed one substep late, and a
// constraint that lags behind the motion takes energy from it: 20 % of a whipping arm in 10 s at 8
// substeps. So rigid rows ask for
//     C / h + J v = -c(v) / h,
// with impulses along J at the start of the drift: this is SHAKE (Ryckaert, Ciccotti and Berendsen
// 1977), which is symplectic. c depends on the solution. The first guess comes from the velocities
// before the solve; each round evaluates the coordinates at the pose that the solution leads to,
// and solves again with the same factors. Where this does not converge the substep does not resolve
// the motion, and rows do without c: that dissipates. So do those of a mechanism whose errors are
// split, and of one that contacts may act on: impacts change the velocities that c was found for.
#include "solver/mechanism/solve_state.h"

#include <math.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one body at a time");

// Inverse mass of the bodies of a joint by themselves, linear and angular.
static void free_inverse_mass(const solve_state *s, const direct_joint *j, double inverse[2])
{
  inverse[0] = inverse[1] = 0.0;
  for (int side = 0; side < 2; ++side) {
    if (j->body_node[side] >= 0) {
      inverse[0] += (double)s->context->data->state[j->body[side]].inverse_mass;
      inverse[1] += 1.0 / (double)mean_inertia(s->context->data, j->body[side]);
    }
  }
}

// Beside springs that a substep does not resolve well rows do without: these live from what the lag
// dissipates (stress seed 24 of mixed graphs gains 5.5 J/kg with it, 4.2 without).
static bool has_stiff_springs(const solve_state *s)
{
  double h = (double)s->context->data->substep.h;
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    const RowParams *p = j->params;
    if (p[0].alpha + p[0].alpha_limit + p[1].alpha + p[1].alpha_limit > 0.0f) {
      return true;
    }
    double inverse[2];
    free_inverse_mass(s, j, inverse);
    for (int k = 0; k < j->axis_count; ++k) {
      const direct_axis *a = &s->context->set->axes[j->first_axis + k];
      double stiffness = (double)a->params.k + (double)a->params.spring;
      double w = mechanism_inverse_mass(&a->params, inverse[a->block]);
      if (h * h * stiffness * w > TUNING_CURVED_STIFFNESS) {
        return true;
      }
    }
  }
  return false;
}

double solve_curvature_share(const solve_state *s)
{
  double fastest = 0.0, h = (double)s->context->data->substep.h;
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    if (!s->nodes[i].is_joint) {
      const double *w = s->v + s->nodes[i].first_row + 3;
      fastest = at_least(fastest, w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    }
  }
  double square = h * h * fastest, least = TUNING_CURVED_TURN_MIN * TUNING_CURVED_TURN_MIN;
  if (square <= least || square >= TUNING_CURVED_TURN_MAX * TUNING_CURVED_TURN_MAX ||
      s->mechanism->may_touch || has_stiff_springs(s)) {
    return 0.0;
  }
  // All of it from twice the least turn on. A sudden change would give or take energy.
  return fmin(1.0, (square - least) / (3.0 * least));
}

// Velocities of a body with the solution so far.
static void predicted_velocity(const solve_state *s, const direct_node *node, double *v)
{
  const f64x2 *x = s->x + node->first_row;
  for (int k = 0; k < BODY_ROWS; ++k) {
    v[k] = s->v[node->first_row + k] +
           (s->curvature_rounds == 0 ? 0.0 : x[k][0] + s->kept_share * x[k][1]);
  }
}

// Moves the bodies to the end of the substep, or back. The split motions, written only after the
// solve, hold the old poses meanwhile.
static void move_bodies(const solve_state *s, bool ahead)
{
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    const direct_node *node = &s->nodes[i];
    if (node->is_joint) {
      continue;
    }
    body_state *b = &s->context->data->state[node->index];
    double *kept = s->split_motion + node->first_row;
    _Static_assert(sizeof b->pose <= BODY_ROWS * sizeof *kept, "a pose fits");
    if (ahead) {
      double v[BODY_ROWS];
      predicted_velocity(s, node, v);
      memcpy(kept, b->pose, sizeof b->pose);
      predict_pose(s->context->data, node->index, v);
    } else {
      memcpy(b->pose, kept, sizeof b->pose);
    }
  }
}

// Rows of rotation vectors do without: their coordinates jump at half a turn.
static bool follows_drift(const direct_joint *j, const joint_row *l)
{
  bool jumps = l->block && j->type == TYPE_GENERIC;
  return l->kind == ROW_LOCKED && l->alpha == 0.0 && !jumps;
}

// Velocities of a joint's bodies with the solution so far.
static void predicted_motion(const solve_state *s, const direct_joint *j, double *motion)
{
  direct_joint_motion(s->context, j, motion);
  for (int side = 0; side < 2; ++side) {
    if (j->body_node[side] >= 0) {
      predicted_velocity(s, &s->nodes[j->body_node[side]], motion + BODY_ROWS * side);
    }
  }
}

// Squares of c / h of all rows, of its change, and of what rounding of coordinates makes of it,
// over inverse masses, J.
typedef struct curvature_sums {
  double whole, change, rounding;
} curvature_sums;

// Rounding of a row's coordinate, m or rad.
static double rounding_of(const solve_state *s, const direct_joint *j, const joint_row *l)
{
  const jacobian_block *block = &s->context->set->jacobian_blocks[j->jacobian_lane / BLOCK_WIDTH];
  double length = l->block ? 1.0 : (double)block->lever_length[j->jacobian_lane % BLOCK_WIDTH];
  return TUNING_CURVATURE_ROUNDING * length;
}

// Sets the rates of rigid rows to c / h.
static curvature_sums set_rates(const solve_state *s)
{
  curvature_sums sums = {0.0, 0.0, 0.0};
  double inv_h = 1.0 / (double)s->context->data->substep.h;
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    double motion[2 * BODY_ROWS];
    predicted_motion(s, j, motion);
    for (int k = 0; k < j->joint_row_count; ++k) {
      joint_row *l = &s->joint_rows[j->first_joint_row + k];
      if (follows_drift(j, l)) {
        const jacobian_row *of = (const jacobian_row *)(const void *)l->j;
        double curvature = ((double)of->x_ahead - (double)of->x) * inv_h - row_velocity(l, motion);
        double rate = s->curvature_share * curvature;
        double mass = 1.0 / at_least(TUNING_PIVOT_REPLACEMENT, (double)of->inverse_mass);
        double rounding = rounding_of(s, j, l) * inv_h;
        sums.whole += mass * rate * rate;
        sums.change += mass * (rate - l->rate) * (rate - l->rate);
        sums.rounding += mass * rounding * rounding;
        l->rate = rate;
      }
    }
  }
  return sums;
}

static void clear_rates(const solve_state *s)
{
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    for (int k = 0; k < j->joint_row_count; ++k) {
      joint_row *l = &s->joint_rows[j->first_joint_row + k];
      l->rate = follows_drift(j, l) ? 0.0 : l->rate;
    }
  }
}

// Whether the rows must be solved again.
static bool update_rates(solve_state *s)
{
  double last = s->curvature_change;
  curvature_sums sums = set_rates(s);
  int round = s->curvature_rounds++;
  s->curvature_change = sums.change;
  if (round == 0) {
    return false; // the first guess, before any solution
  }
  bool diverges = round > 1 && !(sums.change < TUNING_CURVATURE_SHRINKS * last) &&
                  !(sums.change < TUNING_CURVATURE_ACCEPTED * sums.whole + sums.rounding);
  if (diverges || s->mechanism->split_impulse) {
    clear_rates(s);
    s->curvature_share = 0.0;
    return true;
  }
  if (round == TUNING_CURVATURE_ROUNDS) {
    s->curvature_share = 0.0; // no more evaluations
  }
  return sums.change > TUNING_CURVATURE_TOLERANCE * sums.whole + sums.rounding;
}

unsigned solve_follow_drift(solve_state *s, unsigned lanes)
{
  unsigned curved = 0, again = 0;
  for (unsigned i = 0; i < BATCH_WIDTH; ++i) {
    if (lanes >> i & 1 && s[i].curvature_share > 0.0) {
      move_bodies(&s[i], true);
      curved |= 1u << i;
    }
  }
  if (curved == 0) {
    return 0;
  }
  // Members of a batch share their blocks.
  const solve_state *any = &s[__builtin_ctz(curved)];
  const direct_context *c = any->context;
  for (int32_t i = any->mechanism->first_jacobian_block; i < any->mechanism->last_jacobian_block;
       ++i) {
    jacobian_block *block = &c->set->jacobian_blocks[i];
    c->direct->evaluate_ahead(c->data, block, &c->set->jacobians[block->first_jacobian]);
  }
  for (unsigned i = 0; i < BATCH_WIDTH; ++i) {
    if (curved >> i & 1) {
      move_bodies(&s[i], false);
      again |= (unsigned)update_rates(&s[i]) << i;
    }
  }
  return again;
}
