// Batches whose rows are kept in lanes: which they are, and the way of their impulses from the
// joints to the lanes and back. See lane_rows.h.
#include "solver/mechanism/lane_rows.h"
#include "solver/mechanism/mechanism.h"

#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

#if !defined(TN_SMALL)

#define FOR_MEMBERS(lane) for (int lane = 0; lane < BATCH_WIDTH; ++lane)

static mechanism *member(const mechanism_set *set, const mechanism_batch *t, int lane)
{
  return &set->list[t->lane_mechanism[lane]];
}

static int count_lanes(unsigned lanes)
{
  int count = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    count += 1;
  }
  return count;
}

void lane_batch_drop_factors(mechanism_batch *t)
{
  FOR_MEMBERS(lane)
  {
    t->lane_factor_pose[lane] = NO_SLOT;
  }
}

// ---------------------------------------------------------------------------------------------
// Which batches

// Whether friction acts along all axes that have it: others take their impulse back.
static bool has_plain_friction(const mechanism_set *set, const direct_joint *j)
{
  bool plain = true;
  for (int i = 0; i < j->axis_count; ++i) {
    plain = plain && set->axes[j->first_axis + i].params.friction > 0.0f;
  }
  return plain;
}

static bool has_plain_joints(const mechanism_set *set, const mechanism *m)
{
  bool plain = true;
  for (int32_t i = m->first_joint; i < m->last_joint && plain; ++i) {
    const direct_joint *j = &set->joints[i];
    plain = direct_joint_turns_only(j) && has_plain_friction(set, j);
  }
  return plain;
}

// Whether the same axes have friction.
static bool has_axes_of(const mechanism_set *set, const mechanism *m, const mechanism *other)
{
  bool same = true;
  for (int32_t i = 0; i < m->last_joint - m->first_joint && same; ++i) {
    same = set->joints[m->first_joint + i].axis_features ==
           set->joints[other->first_joint + i].axis_features;
  }
  return same;
}

static bool are_rules_on(void)
{
  return RULE(mechanism_kept_linearization) && RULE(mechanism_lagged_friction) &&
         RULE(mechanism_deadband) && RULE(mechanism_regularization) &&
         RULE(mechanism_stiff_springs) && RULE(mechanism_light_links) &&
         RULE(mechanism_split_impulse) && RULE(mechanism_correction_energy) &&
         RULE(mechanism_limit_switches) && RULE(mechanism_active_set_rounds) &&
         RULE(mechanism_load_inertia) && RULE(mechanism_inertia_spares_springs) &&
         RULE(mechanism_closing);
}

void lane_batch_begin_step(const mechanism_set *set, mechanism_batch *t)
{
  bool may = !t->dissolved && are_rules_on();
  unsigned lanes = 0;
  FOR_MEMBERS(lane)
  {
    const mechanism *m = member(set, t, lane), *first = member(set, t, 0);
    bool plain = may && m->supported && !m->has_loops && has_plain_joints(set, m);
    lanes |= (unsigned)(plain && has_axes_of(set, m, first)) << lane;
  }
  t->may_use_lanes = (uint8_t)(count_lanes(lanes) < TUNING_BATCH_MIN_LANES ? 0 : lanes);
  t->holds_impulses = t->holds_rows = 0;
  lane_batch_drop_factors(t);
}

// ---------------------------------------------------------------------------------------------
// From joints to lanes

static void import_rows(lane_joint *to, const direct_joint *j, int lane, int block)
{
  BlockKind kind = block ? angular_kind(j->type) : linear_kind(j->type);
  const RowParams *p = &j->params[block];
  for (int i = 0; i < 3; ++i) {
    lane_row *row = &to->rows[3 * block + i];
    unsigned bit = 1u << lane;
    bool exists = i < kind.rows, held = exists && is_locked(kind, p, i);
    bool fixed = exists && !held && p->lo[i] == p->hi[i];
    bool limited = exists && !held && !fixed && (p->lo[i] > -UNLIMITED || p->hi[i] < UNLIMITED);
    row->locked = (uint8_t)((row->locked & ~bit) | (unsigned)(held || fixed) << lane);
    row->limited = (uint8_t)((row->limited & ~bit) | (unsigned)limited << lane);
    row->lo[lane] = held ? 0.0f : p->lo[i];
    row->hi[lane] = p->hi[i];
    row->last[lane] = (double)j->state[block].lambda[i];
    to->sum[block][i][lane] = j->sum[block][i];
  }
}

static void import_joint(const direct_context *c, lane_joint *to, const direct_joint *j, int lane)
{
  const mechanism_set *set = c->set;
  const jacobian_block *block = &set->jacobian_blocks[j->jacobian_lane / BLOCK_WIDTH];
  import_rows(to, j, lane, 0);
  import_rows(to, j, lane, 1);
  to->is_ball = angular_kind(j->type).ball_axes;
  to->friction_axes = 0;
  for (int i = 0; i < j->axis_count; ++i) {
    const direct_axis *a = &set->axes[j->first_axis + i];
    to->friction_axes |= (uint8_t)(1u << a->row);
    to->friction[a->row][lane] = (double)a->state.friction;
    to->next_friction[a->row][lane] = a->next_friction;
    to->most_friction[a->row][lane] = (double)a->params.friction * (double)c->data->substep.h;
  }
  to->half_kick_done[lane] = (double)j->half_kick_done;
  to->lever[0][lane] = (double)j->lever[0];
  to->lever[1][lane] = (double)j->lever[1];
  to->jacobian[lane] = &set->jacobians[j->first_jacobian];
  to->lever_length[lane] = &block->lever_length[j->jacobian_lane % BLOCK_WIDTH];
}

static void import_body(const direct_context *c, member_bodies *to, const direct_node *node,
                        int lane)
{
  to->slot[lane] = node->index;
  to->inverse_mass[lane] = (double)c->data->state[node->index].inverse_mass;
  to->mean_inertia[lane] = (double)mean_inertia(c->data, node->index);
}

static void enter_lane(const direct_context *c, mechanism_batch *t, int lane)
{
  const mechanism_set *set = c->set;
  const mechanism *m = member(set, t, lane);
  for (int32_t i = 0; i < t->last_joint - t->first_joint; ++i) {
    import_joint(c, &set->lane_joints[t->first_joint + i], &set->joints[m->first_joint + i], lane);
  }
  for (int32_t i = 0; i < t->last_node - t->first_node; ++i) {
    if (!set->nodes[m->first_node + i].is_joint) {
      import_body(c, &set->lane_bodies[t->first_node + i], &set->nodes[m->first_node + i], lane);
    }
  }
  t->lane_factor_pose[lane] = NO_SLOT;
}

// The other lanes hold numbers that nothing reads, but no garbage.
static void enter_lanes(const direct_context *c, mechanism_batch *t)
{
  bool all = t->holds_impulses == 0;
  FOR_MEMBERS(lane)
  {
    unsigned bit = 1u << lane;
    if (all || (t->may_use_lanes & ~t->holds_impulses & bit)) {
      enter_lane(c, t, lane);
    }
    for (int32_t i = t->first_joint; i < t->last_joint && !(t->may_use_lanes & bit); ++i) {
      for (int k = 0; k < JOINT_LANE_ROWS && all; ++k) {
        lane_row *row = &c->set->lane_joints[i].rows[k];
        row->locked &= (uint8_t)~bit;
        row->limited &= (uint8_t)~bit;
      }
    }
  }
  t->holds_impulses = t->may_use_lanes;
}

// ---------------------------------------------------------------------------------------------
// And back

static void export_joint(const mechanism_set *set, const lane_joint *from, direct_joint *j,
                         int lane)
{
  for (int k = 0; k < JOINT_LANE_ROWS; ++k) {
    j->state[k / 3].lambda[k % 3] = (float)from->rows[k].last[lane];
    j->state[k / 3].load[k % 3] = 0.0f;
    j->sum[k / 3][k % 3] = from->sum[k / 3][k % 3][lane];
  }
  for (int i = 0; i < j->axis_count; ++i) {
    direct_axis *a = &set->axes[j->first_axis + i];
    a->state.friction = (float)from->friction[a->row][lane];
    a->next_friction = from->next_friction[a->row][lane];
  }
}

static void leave_lane(const mechanism_set *set, const mechanism_batch *t, int lane)
{
  const mechanism *m = member(set, t, lane);
  for (int32_t i = 0; i < t->last_joint - t->first_joint; ++i) {
    lane_joint *from = &set->lane_joints[t->first_joint + i];
    export_joint(set, from, &set->joints[m->first_joint + i], lane);
    for (int k = 0; k < JOINT_LANE_ROWS; ++k) {
      from->rows[k].active &= (uint8_t) ~(1u << lane);
      from->rows[k].present &= (uint8_t) ~(1u << lane);
    }
  }
}

void lane_batch_leave(const mechanism_set *set, mechanism_batch *t, unsigned lanes)
{
  FOR_MEMBERS(lane)
  {
    if (t->holds_impulses & lanes & 1u << lane) {
      leave_lane(set, t, lane);
    }
  }
  t->holds_impulses &= (uint8_t)~lanes;
  t->holds_rows &= (uint8_t)~lanes;
}

// ---------------------------------------------------------------------------------------------
// A pass

static lane_system begin_system(const direct_context *c, const mechanism_batch *t, unsigned lanes)
{
  const mechanism_set *set = c->set;
  lane_system s = {0};
  s.batch = batch_system_of(c, t, set->batch_values + t->first_value);
  s.batch.solve_lanes = (uint8_t)lanes;
  s.joints = set->lane_joints + t->first_joint;
  s.bodies = set->lane_bodies + t->first_node;
  s.states = c->data->state;
  s.inertia = c->data->inertia;
  s.h = (double)c->data->substep.h;
  s.pass = c->pass == DIRECT_BIAS      ? LANES_BIAS
           : c->pass == DIRECT_RESOLVE ? LANES_RESOLVE
                                       : LANES_RELAX;
  s.first_substep = c->first_substep;
  FOR_MEMBERS(lane)
  {
    for (int k = 0; k < 2; ++k) {
      s.most_regularization[k][lane] =
          TUNING_LIGHT_LINK_REGULARIZATION / (double)member(set, t, lane)->largest_mass[k];
    }
  }
  return s;
}

// Whether the factors are not those of the active rows at the pose of the linearization.
static bool are_factors_stale(const mechanism_set *set, const mechanism_batch *t, unsigned lanes)
{
  bool stale = false;
  FOR_MEMBERS(lane)
  {
    stale = stale || ((lanes >> lane & 1) &&
                      t->lane_factor_pose[lane] != member(set, t, lane)->jacobian_pose);
  }
  for (int32_t i = t->first_joint; i < t->last_joint && !stale; ++i) {
    for (int k = 0; k < JOINT_LANE_ROWS; ++k) {
      const lane_row *row = &set->lane_joints[i].rows[k];
      stale = stale || ((row->active ^ row->factored) & lanes) != 0;
    }
  }
  return stale;
}

// Masses of all members that hold rows or are to.
static void assemble_masses(const direct_context *c, mechanism_batch *t, lane_system *s)
{
  s->batch.factored_lanes = t->holds_impulses;
  FOR_MEMBERS(lane)
  {
    const mechanism *m = member(c->set, t, lane);
    bool holds = t->holds_impulses >> lane & 1;
    for (int32_t i = m->first_node; i < m->last_node && holds; ++i) {
      c->set->nodes[i].factored_inertia = 0.0;
    }
    t->lane_factor_pose[lane] = holds ? m->jacobian_pose : NO_SLOT;
  }
  batch_assemble_masses(c, t, &s->batch);
}

// Rounds of solve and update of the active set.
static void solve_rounds_in_lanes(const direct_context *c, mechanism_batch *t, lane_system *s)
{
  bool changed = are_factors_stale(c->set, t, s->batch.solve_lanes);
  for (int round = 0; round == 0 || (changed && s->batch.solve_lanes != 0); ++round) {
    s->batch.refactor = changed;
    if (changed) {
      assemble_masses(c, t, s);
    }
    changed = c->direct->lanes->solve(s, round + 1 < TUNING_ACTIVE_SET_ROUNDS);
  }
}

// The general solve has no factors of the batch any more.
static void drop_own_factors(const direct_context *c, const mechanism_batch *t)
{
  FOR_MEMBERS(lane)
  {
    mechanism *m = member(c->set, t, lane);
    m->factor_pose = m->own_factor && !(t->holds_impulses >> lane & 1) ? m->factor_pose : NO_SLOT;
  }
}

static void note_pass(const direct_context *c, mechanism_batch *t, unsigned lanes)
{
  FOR_MEMBERS(lane)
  {
    mechanism *m = member(c->set, t, lane);
    if (c->pass == DIRECT_BIAS && lanes >> lane & 1) {
      m->infeasible = m->split_impulse = m->factors_stale = false;
    }
  }
  t->holds_rows |= (uint8_t)lanes;
}

// Moves the bodies of members with open joints by their position solution.
static void close_joints_of(const direct_context *c, mechanism_batch *t, const lane_system *s,
                            unsigned lanes)
{
  FOR_MEMBERS(lane)
  {
    mechanism *m = member(c->set, t, lane);
    for (int32_t i = 0; i < s->batch.node_count && (lanes >> lane & 1); ++i) {
      int32_t first = s->batch.nodes[i].first_row;
      for (int k = 0; k < BODY_ROWS && !s->batch.nodes[i].is_joint; ++k) {
        s->batch.lane_x[lane][first + k][1] = s->batch.x[2 * (first + k) + 1][lane];
      }
    }
    if (lanes >> lane & 1) {
      mechanism_close_joints(c, m);
      t->lane_factor_pose[lane] = NO_SLOT;
    }
  }
  if (lanes != 0) {
    direct_linearize(c, member(c->set, t, 0));
  }
}

// Members whose rows are in lanes in this pass.
static unsigned members_of_pass(const direct_context *c, mechanism_batch *t, unsigned lanes)
{
  if (c->pass == DIRECT_HALF_KICK) {
    return 0;
  }
  if (c->pass == DIRECT_BIAS) {
    t->holds_rows = 0;
    return t->may_use_lanes & lanes;
  }
  return t->holds_rows & lanes;
}

unsigned lane_batch_solve(const direct_context *c, mechanism_batch *t, unsigned lanes)
{
  unsigned members = members_of_pass(c, t, lanes);
  if (members == 0) {
    return 0;
  }
  if (c->pass == DIRECT_BIAS) {
    enter_lanes(c, t);
  }
  lane_system s = begin_system(c, t, members);
  if (c->pass != DIRECT_RESOLVE) {
    direct_linearize(c, member(c->set, t, 0));
    s.batch.solve_lanes &= (uint8_t)~c->direct->lanes->refuse(&s);
  }
  drop_own_factors(c, t);
  if (s.batch.solve_lanes != 0) {
    c->direct->lanes->begin(&s);
    solve_rounds_in_lanes(c, t, &s);
  }
  if (s.batch.solve_lanes != 0) {
    c->direct->lanes->end(&s);
    close_joints_of(c, t, &s, s.open & s.batch.solve_lanes);
    note_pass(c, t, s.batch.solve_lanes);
  }
  lane_batch_leave(c->set, t, members & ~s.batch.solve_lanes);
  return s.batch.solve_lanes;
}

#endif
