// Couplings in the direct solve: what mechanism_solve.c and mechanism_assembly.c do for joints, for
// nodes whose rows share one Jacobian on any number of bodies.
#include "solver/mechanism/solve_state.h"

#include <string.h>

// For each coupling of the mechanism `m` of set `set`, and for each of its rows.
#define FOR_COUPLINGS(d, set, m)                                                                   \
  if ((m)->first_coupling < (m)->last_coupling) /* else the array may be null */                   \
    for (direct_coupling *d = (set)->couplings + (m)->first_coupling;                              \
         d < (set)->couplings + (m)->last_coupling; ++d)
#define FOR_ROWS(l, set, d)                                                                        \
  for (joint_row *l = (set)->joint_rows + (d)->first_joint_row,                                    \
                 *last_##l = l + (d)->joint_row_count;                                             \
       l < last_##l; ++l)

double coupling_velocity(const direct_context *c, const direct_coupling *d)
{
  double sum = 0.0;
  for (int32_t i = d->first_side; i < d->first_side + d->side_count; ++i) {
    const coupling_side *side = &c->set->coupling_sides[i];
    const double *j = c->set->coupling_jacobians[i];
    if (side->node >= 0) {
      const double *v = c->set->vectors + c->set->nodes[side->node].first_row;
      for (int k = 0; k < BODY_ROWS; ++k) {
        sum += j[k] * v[k];
      }
      continue;
    }
    const body_state *b = &c->data->state[side->body];
    for (int k = 0; k < 3; ++k) {
      sum += j[k] * (double)b->v[k] + j[3 + k] * (double)b->w[k];
    }
  }
  return sum;
}

// J dv for solution k: 0 velocity, 1 position.
static double velocity_change(const solve_state *s, const direct_coupling *d, int k)
{
  const mechanism_set *set = s->context->set;
  double sum = 0.0;
  for (int32_t i = d->first_side; i < d->first_side + d->side_count; ++i) {
    int32_t node = set->coupling_sides[i].node;
    for (int n = 0; n < BODY_ROWS && node >= 0; ++n) {
      sum += set->coupling_jacobians[i][n] * s->x[s->nodes[node].first_row + n][k];
    }
  }
  return sum;
}

void couplings_assemble(const solve_state *s)
{
  const mechanism_set *set = s->context->set;
  FOR_COUPLINGS(d, set, s->mechanism)
  {
    int n = solve_assemble_diagonal(s, d->node, d->first_joint_row, d->joint_row_count);
    for (int32_t i = 0; i < d->side_count; ++i) {
      const coupling_side *side = &set->coupling_sides[d->first_side + i];
      if (side->node >= 0) {
        solve_assemble_side(s, &set->active_rows[d->first_joint_row], n, i, side->node > d->node,
                            side->jacobian_offset);
      }
    }
  }
}

// Adds an impulse along J to the right-hand sides of the bodies.
static void add_impulse(const solve_state *s, const direct_coupling *d, double impulse)
{
  const mechanism_set *set = s->context->set;
  for (int32_t i = d->first_side; i < d->first_side + d->side_count; ++i) {
    int32_t node = set->coupling_sides[i].node;
    for (int n = 0; n < BODY_ROWS && node >= 0; ++n) {
      s->x[s->nodes[node].first_row + n][0] += impulse * set->coupling_jacobians[i][n];
    }
  }
}

// As build_joint_rhs() of mechanism_assembly.c.
void couplings_build_rhs(const solve_state *s, bool again)
{
  bool whole = again && !s->mechanism->split_impulse;
  FOR_COUPLINGS(d, s->context->set, s->mechanism)
  {
    f64x2 *rows = s->x + s->nodes[d->node].first_row;
    double u = coupling_velocity(s->context, d), given = 0.0;
    FOR_ROWS(l, s->context->set, d)
    {
      if (l->active && s->split_pass) {
        *rows++ = (f64x2){-l->rhs, -l->error};
      } else if (l->active) {
        l->rhs = -(l->rate + (whole ? l->error : 0.0) + u + l->alpha * l->lambda);
        *rows++ = (f64x2){l->rhs, again ? 0.0 : -l->error};
      } else if (!s->split_pass) {
        given += row_bound(l) - l->lambda;
      }
    }
    if (given != 0.0) {
      add_impulse(s, d, given);
    }
  }
}

bool couplings_are_factored(const solve_state *s)
{
  FOR_COUPLINGS(d, s->context->set, s->mechanism)
  {
    if (!solve_rows_unchanged(s, d->node, d->first_joint_row, d->joint_row_count)) {
      return false;
    }
  }
  return true;
}

void couplings_measure_errors(const solve_state *s, double *worst, double *sum)
{
  FOR_COUPLINGS(d, s->context->set, s->mechanism)
  {
    const f64x2 *x = s->x + s->nodes[d->node].first_row;
    FOR_ROWS(l, s->context->set, d)
    {
      if (l->active) {
        double change = l->rhs + row_compliance(l) * (*x)[0];
        *worst = at_least(*worst, fabs(l->error));
        *sum += (*x)[1] * l->error + (*x)[0] * change;
        x += 1;
      }
    }
  }
}

double couplings_idle_limit_error(const solve_state *s)
{
  double worst = 0.0;
  FOR_COUPLINGS(d, s->context->set, s->mechanism)
  {
    FOR_ROWS(l, s->context->set, d)
    {
      if (is_passed_idle_limit(l)) {
        double u = coupling_velocity(s->context, d) + velocity_change(s, d, 0);
        worst = at_least(worst, (l->at_hi ? 1.0 : -1.0) * (l->error + u));
      }
    }
  }
  return worst;
}

bool couplings_update_active_set(const solve_state *s)
{
  bool changed = false;
  FOR_COUPLINGS(d, s->context->set, s->mechanism)
  {
    const f64x2 *x = s->x + s->nodes[d->node].first_row;
    double u = coupling_velocity(s->context, d) + velocity_change(s, d, 0) +
               s->kept_share * velocity_change(s, d, 1);
    FOR_ROWS(l, s->context->set, d)
    {
      if (l->active) {
        changed |= row_deactivate(s, l, *x++);
      } else if (row_may_activate(l)) {
        changed |= row_activate(s, l, u);
      }
    }
  }
  return changed;
}

// ---------------------------------------------------------------------------------------------
// Split pass: only ranges take part

static bool is_limit(const joint_row *l)
{
  return RULE(mechanism_split_active_set) && l->kind == ROW_LIMIT && l->lo < l->hi;
}

void couplings_begin_split_pass(const solve_state *s)
{
  FOR_COUPLINGS(d, s->context->set, s->mechanism)
  {
    double u = coupling_velocity(s->context, d);
    FOR_ROWS(l, s->context->set, d)
    {
      l->velocity_active = l->active;
      l->switches = 0;
      if (is_limit(l)) {
        l->error += l->active ? 0.0 : l->rate + u;
        l->active = l->at_hi ? l->error >= 0.0 : l->error <= 0.0;
      } else {
        l->active = l->active && (l->kind == ROW_LOCKED || l->kind == ROW_LIMIT);
      }
      l->rhs = 0.0;
    }
  }
}

bool couplings_update_split_active_set(const solve_state *s)
{
  bool changed = false;
  FOR_COUPLINGS(d, s->context->set, s->mechanism)
  {
    const f64x2 *x = s->x + s->nodes[d->node].first_row;
    FOR_ROWS(l, s->context->set, d)
    {
      bool was_active = l->active;
      if (is_limit(l)) {
        double push = l->at_hi ? 1.0 : -1.0;
        if (was_active) {
          l->active = push * (*x)[1] >= 0.0;
        } else if (l->switches < TUNING_ROW_SWITCHES) {
          l->active = push * (l->error + velocity_change(s, d, 1)) > TUNING_ACTIVATION_SPEED;
        }
        l->switches = (uint8_t)(l->switches + (l->active != was_active));
        changed = changed || l->active != was_active;
      }
      x += was_active;
    }
  }
  return changed;
}

void couplings_end_split_pass(const solve_state *s)
{
  FOR_COUPLINGS(d, s->context->set, s->mechanism)
  {
    FOR_ROWS(l, s->context->set, d)
    {
      l->active = l->velocity_active;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Results

void couplings_store_impulses(const solve_state *s)
{
  bool ahead = s->context->pass == DIRECT_HALF_KICK;
  FOR_COUPLINGS(d, s->context->set, s->mechanism)
  {
    const f64x2 *x = s->x + s->nodes[d->node].first_row;
    double rate = coupling_velocity(s->context, d) + velocity_change(s, d, 0) +
                  s->kept_share * velocity_change(s, d, 1);
    d->rate_before_half_kick = ahead ? d->last_rate - rate : 0.0;
    d->last_rate = rate;
    FOR_ROWS(l, s->context->set, d)
    {
      double impulse = l->active ? row_impulse(s, *x) : row_bound(l) - l->lambda;
      x += l->active;
      l->lambda += impulse;
      d->sum += impulse;
      d->drive_sum += l->state == COUPLING_DRIVE ? impulse : 0.0;
      if (!ahead) {
        d->impulse[l->state] = l->lambda;
      } else if (l->state != COUPLING_RANGE || l->kind == ROW_DRIVE) {
        d->impulse_ahead[l->state] = l->lambda; // rigid ranges stop motion, and begin anew
      }
    }
  }
}
