// The direct solve of one mechanism: rounds of assemble, factor, solve and update of the active set
// until all bounds hold; then the results.
//
// Velocities and position errors are two right-hand sides of the same matrix (see mechanism.h):
//     J dv0 + A y0 = -(rate + J v + alpha lambda),    J dv1 + A y1 = -error.
// While the second solution is slow and brings less energy than the first dissipates, it stays in
// the velocities: v += dv0 + dv1. Otherwise it is solved again with its own active set, moves the
// bodies as a split impulse, and is removed from the velocities after the drift.
#include "solver/mechanism/solve_state.h"

#include <string.h>

// Limits of a correction that stays in the velocities; they grow with the speed of the bodies.
double direct_max_error_rate(double fastest)
{
  return fmax(TUNING_MAX_ERROR_RATE, TUNING_MAX_ERROR_RATE_SHARE * fastest);
}

double direct_max_correction_speed(double fastest)
{
  return fmax(TUNING_MAX_CORRECTION_SPEED, fastest);
}

static solve_state make_solve(const direct_context *c, mechanism *m)
{
  mechanism_set *set = c->set;
  int32_t rows = set->row_count;
  solve_state s = {.context = c, .mechanism = m, .nodes = set->nodes, .blocks = set->blocks};
  s.joints = set->joints;
  s.joint_rows = set->joint_rows;
  s.values = set->values;
  s.v = set->vectors;
  s.split_motion = set->vectors + rows;
  s.x = set->solutions;
  s.system.nodes = set->nodes;
  s.system.blocks = set->blocks;
  s.system.targets = set->targets;
  s.system.values = set->values;
  s.system.scratch = set->values + m->scratch;
  s.system.x = set->solutions;
  s.system.first = m->first_node;
  s.system.last = m->last_node;
  return s;
}

// Loads velocities by row. Adding 0.0 turns negative zeros into positive ones: the rows of zeros in
// batches change the sign of zeros, which must not reach the results.
static void load_bodies(solve_state *s)
{
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    const direct_node *node = &s->nodes[i];
    if (!node->is_joint) {
      const body_state *b = &s->context->data->state[node->index];
      double *v = s->v + node->first_row;
      for (int k = 0; k < 3; ++k) {
        v[k] = (double)b->v[k] + 0.0;
        v[3 + k] = (double)b->w[k] + 0.0;
      }
    }
  }
}

// J v of a row.
static double current_row_velocity(const solve_state *s, const direct_joint *j, const joint_row *l)
{
  double motion[2 * BODY_ROWS];
  direct_joint_motion(s->context, j, motion);
  return row_velocity(l, motion);
}

// J dv of a row, for solution k: 0 velocity, 1 position.
static double row_velocity_change(const solve_state *s, const direct_joint *j, const joint_row *l,
                                  int k)
{
  double u = 0.0;
  for (int side = 0; side < 2; ++side) {
    if (j->body_node[side] >= 0) {
      const f64x2 *x = s->x + s->nodes[j->body_node[side]].first_row;
      for (int i = 0; i < 6; ++i) {
        u += l->j[side][i] * x[i][k];
      }
    }
  }
  return u;
}

// Largest speed that the position solution gives a body.
static double top_speed(const solve_state *s)
{
  const mechanism *m = s->mechanism;
  double top = 0.0;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    if (!s->nodes[i].is_joint) {
      const f64x2 *x = s->x + s->nodes[i].first_row;
      top = at_least(top, x[0][1] * x[0][1] + x[1][1] * x[1][1] + x[2][1] * x[2][1]);
    }
  }
  return sqrt(top);
}

double direct_energy_tolerance(double square, double inverse_mass)
{
  return 0.5 *
         (TUNING_ENERGY_TOLERANCE_SPEED * TUNING_ENERGY_TOLERANCE_SPEED +
          TUNING_ENERGY_TOLERANCE_SHARE * square) /
         inverse_mass;
}

// Sets the largest speed of a body and the tolerated energy gain.
static void find_max_speed(solve_state *s)
{
  double most = 0.0;
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    if (!s->nodes[i].is_joint) {
      const double *v = s->v + s->nodes[i].first_row;
      double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
      most = at_least(most, square);
      s->energy_tolerance += direct_energy_tolerance(
          square, (double)s->context->data->state[s->nodes[i].index].inverse_mass);
    }
  }
  s->fastest = sqrt(most);
}

// Returns the largest error of a row. `brought` is the energy that the position solution adds
// beyond what the velocity solution dissipates and the tolerance:
//     1/2 sum(y1 J dv1 - y0 J dv0) - tolerance,
//     x = -y,   J dv0 = rhs + compliance x0,   J dv1 ~ -error.
static double measure_errors(const solve_state *s, double *brought)
{
  const mechanism *m = s->mechanism;
  double worst = 0.0, sum = 0.0;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    const f64x2 *x = s->x + s->nodes[j->node].first_row;
    const joint_row *l = &s->joint_rows[j->first_joint_row], *end = l + j->joint_row_count;
    for (; l < end; ++l) {
      if (l->active) {
        double change = l->rhs + row_compliance(l) * (*x)[0];
        worst = at_least(worst, fabs(l->error));
        sum += (*x)[1] * l->error + (*x)[0] * change;
        x += 1;
      }
    }
  }
  couplings_measure_errors(s, &worst, &sum);
  *brought = 0.5 * sum - s->energy_tolerance;
  return worst;
}

// Largest speed at which a limit that is passed, and that the velocity solution does not hold, is
// beyond its end after the drift: bodies rest there, or part slowly.
static double idle_limit_error(const solve_state *s)
{
  double worst = 0.0;
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    const joint_row *l = &s->joint_rows[j->first_joint_row], *end = l + j->joint_row_count;
    for (; l < end; ++l) {
      if (is_passed_idle_limit(l)) {
        double u = current_row_velocity(s, j, l) + row_velocity_change(s, j, l, 0);
        worst = at_least(worst, (l->at_hi ? 1.0 : -1.0) * (l->error + u));
      }
    }
  }
  return at_least(worst, couplings_idle_limit_error(s));
}

// Chooses how much of the position solution is used, and whether it stays in the velocities or
// becomes a split impulse. In rounds after the first a limit may have left the active set because
// the correction was split: then it stays split, and the split pass closes the limit.
static void choose_correction(solve_state *s, int round)
{
  if (!RULE(mechanism_split_impulse)) {
    s->mechanism->split_impulse = false;
    s->correction_share = s->kept_share = 1.0;
    return;
  }
  double joint_speed = direct_max_error_rate(s->fastest);
  double body_speed = direct_max_correction_speed(s->fastest);
  double brought;
  double worst = measure_errors(s, &brought), idle = s->split_pass ? 0.0 : idle_limit_error(s);
  worst = at_least(worst, idle);
  s->correction_share = fmin(1.0, joint_speed / fmax(worst, TUNING_MIN_CORRECTION_SPEED));
  double top = s->correction_share * top_speed(s);
  bool gains = RULE(mechanism_correction_energy) && brought > 0.0;
  bool stays = round > 0 && s->mechanism->split_impulse && idle > TUNING_ACTIVATION_SPEED;
  s->mechanism->split_impulse = s->correction_share < 1.0 || top > body_speed || gains || stays;
  s->correction_share *= fmin(1.0, body_speed / fmax(top, TUNING_MIN_CORRECTION_SPEED));
  s->kept_share = s->mechanism->split_impulse ? 0.0 : s->correction_share;
}

// Joints are infeasible, and contradict each other, if the correction leaves most of their error.
static void find_infeasible(const solve_state *s)
{
  mechanism *m = s->mechanism;
  m->infeasible = false;
  m->infeasible_free = true;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    s->nodes[i].infeasible = false;
  }
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    double left = 0.0, whole = 0.0;
    for (int k = 0; k < j->joint_row_count; ++k) {
      const joint_row *l = &s->joint_rows[j->first_joint_row + k];
      if (l->active) {
        double rest = l->error + row_velocity_change(s, j, l, 1);
        left += rest * rest;
        whole += l->error * l->error;
      }
    }
    double least = fmax(TUNING_INFEASIBLE_SPEED, s->fastest);
    if (left <= TUNING_INFEASIBLE_SQUARE_SHARE * whole || whole < least * least) {
      continue;
    }
    m->infeasible = true;
    for (int side = 0; side < 2; ++side) {
      if (j->body_node[side] >= 0) {
        s->nodes[j->body_node[side]].infeasible = true;
      } else {
        m->infeasible_free = false;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Active set

// Velocities of a joint's bodies after the solve, with a share of the position solution.
static void predict_motion(const solve_state *s, const direct_joint *j, double correction_share,
                           double *motion)
{
  direct_joint_motion(s->context, j, motion);
  for (int side = 0; side < 2; ++side) {
    if (j->body_node[side] >= 0) {
      const f64x2 *x = s->x + s->nodes[j->body_node[side]].first_row;
      for (int i = 0; i < BODY_ROWS; ++i) {
        motion[BODY_ROWS * side + i] += x[i][0] + correction_share * x[i][1];
      }
    }
  }
}

// Vector friction: three rows bounded by the length of their impulse. It slides with the impulse
// scaled back to the bound, and sticks again once that impulse would do positive work.
static bool update_friction_active_set(const solve_state *s, const direct_joint *j, joint_row *l,
                                       const f64x2 *x)
{
  double most = (double)row_axis(s->context->set, j, l)->params.friction *
                (double)s->context->data->substep.h;
  double sum = 0.0;
  if (l->active) {
    double lambda[3];
    for (int i = 0; i < 3; ++i) {
      lambda[i] = l[i].lambda + row_impulse(s, x[i]);
      sum += lambda[i] * lambda[i];
    }
    if (sum <= most * most * (1.0 + TUNING_BOUND_SLACK)) {
      return false;
    }
    for (int i = 0; i < 3; ++i) {
      l[i].active = false;
      l[i].lo = l[i].hi = lambda[i] * most / sqrt(sum);
      l[i].switches += 1;
    }
    return true;
  }
  if (l->switches >= TUNING_ROW_SWITCHES) {
    return false;
  }
  double motion[2 * BODY_ROWS];
  predict_motion(s, j, 0.0, motion);
  for (int i = 0; i < 3; ++i) {
    sum += l[i].hi * row_velocity(&l[i], motion);
  }
  if (sum <= 0.0) {
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    l[i].active = true;
    l[i].lo = -UNBOUNDED_IMPULSE;
    l[i].hi = UNBOUNDED_IMPULSE;
    l[i].switches += 1;
  }
  return true;
}

static bool update_joint_active_set(const solve_state *s, const direct_joint *j, bool relaxing)
{
  bool changed = false, predicted = false;
  double motion[2 * BODY_ROWS];
  const f64x2 *x = s->x + s->nodes[j->node].first_row;
  joint_row *l = &s->joint_rows[j->first_joint_row], *end = l + j->joint_row_count;
  for (; l < end; ++l) {
    bool was_active = l->active;
    if (l->kind == ROW_FRICTION && !relaxing && !lags_friction(s->mechanism) &&
        friction_is_vector(j, l)) {
      changed |= update_friction_active_set(s, j, l, x);
      l += 2;
      x += was_active ? 3 : 0;
#if !defined(TN_SMALL)
    } else if (l->kind == ROW_LOCKED && was_active) {
      x += 1; // it has no bounds
#endif
    } else if (was_active) {
      changed |= row_deactivate(s, l, *x++);
    } else if (row_may_activate(l)) {
      if (!predicted) {
        predict_motion(s, j, s->kept_share, motion);
        predicted = true;
      }
      changed |= row_activate(s, l, row_velocity(l, motion));
    }
  }
  return changed;
}

static bool update_active_set(const solve_state *s)
{
  bool changed = false;
  bool relaxing = s->context->pass == DIRECT_RELAX || s->context->pass == DIRECT_HALF_KICK;
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    changed |= update_joint_active_set(s, &s->joints[i], relaxing);
  }
  return couplings_update_active_set(s) || changed;
}

// ---------------------------------------------------------------------------------------------
// Results

static void store_joint_impulses(const solve_state *s, direct_joint *j)
{
  const f64x2 *x = s->x + s->nodes[j->node].first_row;
  bool ahead = s->context->pass == DIRECT_HALF_KICK;
  joint_row *l = &s->joint_rows[j->first_joint_row], *end = l + j->joint_row_count;
  for (int block = 0; block < 2; ++block) {
    f64x2 sum = {0.0, 0.0};
    double last = 0.0;
    for (; l < end && l->block == block; ++l) {
      double impulse = l->active ? row_impulse(s, *x) : row_bound(l) - l->lambda;
      x += l->active;
      l->lambda += impulse;
      const double *n = l->j[1] + 3 * block;
      sum += impulse * load2(n);
      last += impulse * n[2];
      if (l->kind == ROW_FRICTION) {
        float *friction = &row_axis(s->context->set, j, l)->state.friction;
        *friction = ahead ? *friction : (float)l->lambda;
      } else if (is_axis_row(l)) {
        direct_axis *a = row_axis(s->context->set, j, l);
        a->drive_sum += l->kind == ROW_DRIVE ? impulse : 0.0;
        axis_store_impulse(a, l, s->context->pass);
      } else if (ahead) {
        row_store_half_kick(j, l);
      } else {
        row_store_impulse(j, l);
      }
    }
    j->sum[block][0] += (float)sum[0];
    j->sum[block][1] += (float)sum[1];
    j->sum[block][2] += (float)last;
  }
}

// Records the split impulse: linear velocity, and angular momentum at the pose of this solve,
// because the inertia changes with the drift.
static void record_split_motion(const solve_state *s, const direct_node *node)
{
  const f64x2 *x = s->x + node->first_row;
  V turn = v_make((float)(s->correction_share * x[3][1]), (float)(s->correction_share * x[4][1]),
                  (float)(s->correction_share * x[5][1]));
  V l = s_mul(direct_world_inertia(s->context->data, node->index), turn);
  double *to = s->split_motion + node->first_row;
  for (int k = 0; k < 3; ++k) {
    to[k] = s->correction_share * x[k][1];
  }
  to[3] = (double)l.x;
  to[4] = (double)l.y;
  to[5] = (double)l.z;
}

static void store_bodies(const solve_state *s)
{
  bool first = s->context->pass == DIRECT_BIAS;
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    const direct_node *node = &s->nodes[i];
    if (node->is_joint) {
      continue;
    }
    body_state *b = &s->context->data->state[node->index];
    const double *v = s->v + node->first_row;
    const f64x2 *x = s->x + node->first_row;
    for (int k = 0; k < 3; ++k) {
      b->v[k] = (float)(v[k] + x[k][0] + s->correction_share * x[k][1]);
      b->w[k] = (float)(v[3 + k] + x[3 + k][0] + s->correction_share * x[3 + k][1]);
    }
    if (first && s->mechanism->split_impulse) {
      record_split_motion(s, node);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Split impulse
//
// Corrections that do not stay in the velocities have impulses and an active set of their own: a
// limit that only one of the two solutions presses against must not pull in the other.

// Prepares rows for the split pass. Only position rows and limits take part; for an inactive limit
// the error is its residual after the velocity solution. Returns whether a stiff spring is in error
// beyond what its impulse explains.
static bool begin_split_pass(const solve_state *s)
{
  const mechanism *m = s->mechanism;
  bool has_stiff_spring = false;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    for (int k = 0; k < j->joint_row_count; ++k) {
      joint_row *l = &s->joint_rows[j->first_joint_row + k];
      l->velocity_active = l->active;
      l->switches = 0;
      if (RULE(mechanism_split_active_set) && l->kind == ROW_LIMIT && l->lo < l->hi) {
        double u = current_row_velocity(s, j, l);
        l->error += l->active ? 0.0 : l->rate + u + l->alpha * l->lambda;
        l->active = l->at_hi ? l->error >= 0.0 : l->error <= 0.0;
      } else {
        l->active = l->active && (l->kind == ROW_LOCKED || l->kind == ROW_LIMIT);
      }
      l->rhs = 0.0;
      has_stiff_spring |= l->active && l->velocity_active && l->alpha > 0.0 && l->error != 0.0;
    }
  }
  couplings_begin_split_pass(s);
  return has_stiff_spring;
}

static bool update_split_active_set(const solve_state *s)
{
  bool changed = false;
  const mechanism *m = s->mechanism;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    const f64x2 *x = s->x + s->nodes[j->node].first_row;
    for (int k = 0; k < j->joint_row_count; ++k) {
      joint_row *l = &s->joint_rows[j->first_joint_row + k];
      bool was_active = l->active;
      if (RULE(mechanism_split_active_set) && l->kind == ROW_LIMIT && l->lo < l->hi) {
        double push = l->at_hi ? 1.0 : -1.0;
        if (was_active) {
          l->active = push * (*x)[1] >= 0.0;
        } else if (l->switches < TUNING_ROW_SWITCHES) {
          l->active = push * (l->error + row_velocity_change(s, j, l, 1)) > TUNING_ACTIVATION_SPEED;
        }
        if (l->active != was_active) {
          l->switches += 1;
          changed = true;
        }
      }
      x += was_active;
    }
  }
  return couplings_update_split_active_set(s) || changed;
}

static void solve_split_rounds(solve_state *s)
{
  for (int round = 0; round < TUNING_ACTIVE_SET_ROUNDS; ++round) {
    s->refactor = true;
    solve_factor_and_solve(s);
    if (!update_split_active_set(s)) {
      break;
    }
  }
}

// Sum of impulse times lever arm of the split pass, for the added inertia. Impulses of joints that
// contradict each other persist however the bodies move; without the added inertia they would turn
// bodies far beyond the pose that shares out the errors.
static void record_torque_impulses(const solve_state *s, direct_joint *j)
{
  const f64x2 *x = s->x + s->nodes[j->node].first_row;
  double lever[2] = {0.0, 0.0}, sum[2] = {0.0, 0.0};
  for (int k = 0; k < j->joint_row_count; ++k) {
    const joint_row *l = &s->joint_rows[j->first_joint_row + k];
    if (!l->active) {
      continue;
    }
    sum[l->block] += (*x)[1] * (*x)[1];
    x += 1;
    for (int side = 0; side < 2 && !l->block; ++side) {
      const double *r = l->j[side] + 3;
      lever[side] = fmax(lever[side], r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    }
  }
  for (int side = 0; side < 2; ++side) {
    j->torque_impulse[side] = sqrt(sum[0] * lever[side]) + sqrt(sum[1]);
  }
}

// Solves for the position errors with the inertia that their own impulses ask for. One round
// suffices if the last substep had a split pass, whose impulses are the first guess.
static void solve_split_pass(solve_state *s)
{
  const mechanism *m = s->mechanism;
  for (int k = !s->context->first_substep && m->factors_stale ? 1 : 0;
       k < TUNING_ADDED_INERTIA_ROUNDS; ++k) {
    mechanism_add_inertia_for_correction(s->context, m);
    solve_split_rounds(s);
    for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
      record_torque_impulses(s, &s->joints[i]);
    }
  }
}

// v += dv0
static void accept_velocities(const solve_state *s)
{
  const mechanism *m = s->mechanism;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    int32_t first = s->nodes[i].first_row;
    for (int k = 0; k < BODY_ROWS && !s->nodes[i].is_joint; ++k) {
      s->v[first + k] += s->x[first + k][0];
    }
  }
}

static void store_all_impulses(const solve_state *s)
{
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    store_joint_impulses(s, &s->joints[i]);
  }
  couplings_store_impulses(s);
}

// One step of iterative refinement with the same factors: rows yield to a load by their
// regularization in every substep. Where a split impulse removes errors slowly, these would add up.
static void refine_solution(solve_state *s)
{
  accept_velocities(s);
  if (!RULE(mechanism_refinement)) {
    return;
  }
  s->refactor = !s->mechanism->own_factor; // factors of a batch are not at hand here
  solve_factor_and_solve(s);
  mechanism_restore_angular_momentum(s->context, s->mechanism, 0.0);
  store_all_impulses(s);
  accept_velocities(s);
}

// Solves for the position errors apart from the velocities. The result becomes the position
// solution, used as a whole: the limited correction plus the predicted lengthening of stiff
// springs.
static void correct_positions_apart(solve_state *s)
{
  mechanism *m = s->mechanism;
  f64x2 *x = s->x + s->nodes[m->first_node].first_row;
  refine_solution(s);
  if (begin_split_pass(s) && RULE(mechanism_spring_prediction)) {
    mechanism_predict_stiff_springs(s->context, m);
  }
  s->split_pass = true;
  solve_split_pass(s);
  choose_correction(s, 0);
  s->split_pass = false;
  m->split_impulse = true;
  if (RULE(mechanism_infeasible)) {
    find_infeasible(s);
  }
  for (int32_t i = 0; i < m->rows; ++i) {
    x[i] = (f64x2){0.0, s->correction_share * x[i][1] + x[i][0]};
  }
  s->correction_share = 1.0;
  if (m->anchored && RULE(mechanism_rigid_motion)) {
    mechanism_remove_rigid_motion(s->context, m);
  }
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    for (int k = 0; k < j->joint_row_count; ++k) {
      s->joint_rows[j->first_joint_row + k].active =
          s->joint_rows[j->first_joint_row + k].velocity_active;
    }
  }
  couplings_end_split_pass(s);
}

// Without the rule: one solve, and one with the rows that are beyond their bounds let go.
#define PLAIN_ROUNDS 2

bool solve_update_active_set(solve_state *s, int round)
{
  if (s->context->pass == DIRECT_BIAS) {
    choose_correction(s, round);
  }
  int rounds = RULE(mechanism_active_set_rounds) ? TUNING_ACTIVE_SET_ROUNDS : PLAIN_ROUNDS;
  s->refactor = round + 1 < rounds && update_active_set(s);
  return !s->refactor;
}

void solve_rounds(solve_state *s, int round)
{
  for (; round < TUNING_ACTIVE_SET_ROUNDS; ++round) {
    solve_factor_and_solve(s);
    if (solve_update_active_set(s, round)) {
      break;
    }
  }
}

// Added inertia stores rotational energy that does not exist. Whether the solve turns more of it
// into motion than the tolerance: -sum of 1/2 I_added ((w + dw)^2 - w^2).
static bool added_inertia_gains_energy(const solve_state *s)
{
  double brought = 0.0;
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    const direct_node *node = &s->nodes[i];
    const double *w = s->v + node->first_row + 3;
    const f64x2 *x = s->x + node->first_row + 3;
    for (int k = 0; k < 3 && node->added_inertia > 0.0; ++k) {
      brought -= 0.5 * node->added_inertia * x[k][0] * (2.0 * w[k] + x[k][0]);
    }
  }
  return brought > s->energy_tolerance;
}

// Lagged friction follows the velocities after the joints' second solve. Those that contacts leave
// are not final: a contact knows only the mass of the body it touches, and joints pass its impulse
// on.
static void update_lagged_friction(const solve_state *s)
{
  double motion[2 * BODY_ROWS];
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    predict_motion(s, &s->joints[i], 0.0, motion);
    direct_update_lagged_friction(s->context, &s->joints[i], motion);
  }
}

// Whether the drift has opened a rigid joint far: bodies that turn by a radian in a substep leave
// the tangent that the joint held, by (h w)^2 / 2 of a lever arm.
static bool are_joints_open(const solve_state *s)
{
  double most = TUNING_OPEN_JOINT / (double)s->context->data->substep.h;
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    const jacobian_block *block = &s->context->set->jacobian_blocks[j->jacobian_lane / BLOCK_WIDTH];
    double length = (double)block->lever_length[j->jacobian_lane % BLOCK_WIDTH];
    const joint_row *l = &s->joint_rows[j->first_joint_row], *end = l + j->joint_row_count;
    for (; l < end; ++l) {
      if (fabs(l->error) > (l->block ? 1.0 : length) * most) {
        return true;
      }
    }
  }
  return false;
}

// Moves the bodies by the position solution at the new pose. Velocities and momenta stay as they
// are.
static void close_joints(const solve_state *s)
{
  const direct_context *c = s->context;
  mechanism *m = s->mechanism;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &s->nodes[i];
    double u[BODY_ROWS];
    for (int k = 0; k < BODY_ROWS && !node->is_joint; ++k) {
      u[k] = s->x[node->first_row + k][1] + 0.0; // no negative zeros, see load_bodies()
    }
    if (!node->is_joint) {
      displace_body(c->data, node->index, u);
    }
  }
  direct_evaluate_jacobians(c, m); // the angles of joints after the step are among them
  m->factor_pose = NO_SLOT;
}

solve_state solve_begin(const direct_context *c, mechanism *m)
{
  solve_state s = make_solve(c, m);
  s.correction_share = s.kept_share = c->pass == DIRECT_RESOLVE && !m->split_impulse ? 1.0 : 0.0;
  s.split_removed =
      RULE(mechanism_split_set_aside) && c->pass == DIRECT_RESOLVE && m->split_impulse;
  if (s.split_removed) {
    mechanism_add_split_velocity(c, m, -1.0f);
  }
  load_bodies(&s);
  find_max_speed(&s);
  s.refactor = c->pass != DIRECT_RESOLVE || m->factors_stale;
  if (c->pass != DIRECT_RESOLVE) {
    direct_build_rows(c, m);
    couplings_build_rows(c, m);
    mechanism_begin_to_coast(c, m);
    if (m->coasts) {
      return s;
    }
  }
  s.curvature_share =
      RULE(mechanism_curved_drift) && c->pass == DIRECT_BIAS ? solve_curvature_share(&s) : 0.0;
  if (c->pass == DIRECT_BIAS || c->pass == DIRECT_RESOLVE) {
    mechanism_add_inertia_for_load(c, m);
  } else {
    mechanism_clear_added_inertia(c, m);
  }
  return s;
}

void solve_end(solve_state *s)
{
  const direct_context *c = s->context;
  mechanism *m = s->mechanism;
  if (RULE(mechanism_inertia_energy) && added_inertia_gains_energy(s)) {
    mechanism_clear_added_inertia(c, m);
    s->refactor = true;
    solve_rounds(s, 0);
  }
  mechanism_restore_angular_momentum(c, m, s->kept_share);
  store_all_impulses(s);
  if (c->pass == DIRECT_RESOLVE && lags_friction(m)) {
    update_lagged_friction(s);
  }
  if (c->pass == DIRECT_BIAS) {
    m->infeasible = false;
    if (m->split_impulse) {
      correct_positions_apart(s);
    }
    m->factors_stale = m->split_impulse;
  }
  store_bodies(s);
  if (s->split_removed) {
    mechanism_add_split_velocity(c, m, 1.0f);
  }
  if (c->pass == DIRECT_RELAX || c->pass == DIRECT_HALF_KICK) {
    mechanism_stop_infeasible(c, m);
  }
  if (RULE(mechanism_closing) && c->pass == DIRECT_RELAX && !m->infeasible && are_joints_open(s)) {
    close_joints(s);
  }
}

void mechanism_solve(const direct_context *c, mechanism *m)
{
  if (!ball_tree_solve(c, m)) {
    solve_state s = solve_begin(c, m);
    if (m->coasts) {
      return;
    }
    solve_follow_drift(&s, 1);
    do {
      solve_rounds(&s, 0);
    } while (solve_follow_drift(&s, 1));
    for (int i = 0; i < TUNING_PLAY_ROUNDS && solve_forgive_contradictions(&s); ++i) {
      solve_rounds(&s, 0);
    }
    solve_end(&s);
  }
}
