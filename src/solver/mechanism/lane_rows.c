// Passes over batches whose rows are kept in lanes, see lane_rows.h. Compiled once for each lane
// width, for its instruction set; the build of one lane uses the code of four.
#include "solver/mechanism/lane_rows.h"

#include "solver/gather.h"
#include "solver/mechanism/lane_math.h"

#include <math.h>

#if !defined(TN_SMALL)

#if TN_LANES == 1 && !defined(TN_ONE_LANE)
#define CODE_LANES 4
#else
#define CODE_LANES TN_LANES
#endif
#define LANE_OPS PASTE(lane_ops_, TN_LANES)
#define LANES_REFUSE PASTE(lanes_refuse_, CODE_LANES)
#define LANES_BEGIN PASTE(lanes_begin_, CODE_LANES)
#define LANES_SOLVE PASTE(lanes_solve_, CODE_LANES)
#define LANES_END PASTE(lanes_end_, CODE_LANES)

#if CODE_LANES == TN_LANES

#define BATCH_ELIMINATE PASTE(batch_eliminate_, TN_LANES)

static const batch_f64 ZERO = {0.0, 0.0, 0.0, 0.0};
#define ALL_LANES ((1u << BATCH_WIDTH) - 1)

INLINE batch_f64 to_double(batch_f32 a)
{
  return __builtin_convertvector(a, batch_f64);
}

INLINE batch_f32 to_single(batch_f64 a)
{
  return __builtin_convertvector(a, batch_f32);
}

INLINE batch_f64 root(batch_f64 a)
{
  return (batch_f64){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])};
}

INLINE batch_f64 larger(batch_f64 a, batch_f64 b)
{
  return select_lanes(b > a, b, a);
}

INLINE batch_f64 magnitude(batch_f64 a)
{
  return (batch_f64)((lane_mask)a & 0x7fffffffffffffff);
}

// A field of the members' jacobian_rows, as it is.
#define JACOBIAN_FIELD(j, row, field)                                                              \
  ((batch_f32){(j)->jacobian[0][row].field, (j)->jacobian[1][row].field,                           \
               (j)->jacobian[2][row].field, (j)->jacobian[3][row].field})

INLINE const batch_f64 *row_of(const lane_system *s, int32_t joint, int row)
{
  return s->batch.jacobians[s->batch.joints[joint].first_batch_jacobian + row];
}

// Lanes of the pass that are set.
INLINE unsigned lanes_of(const lane_system *s, lane_mask m)
{
  return bits_of(m) & s->batch.solve_lanes;
}

// ---------------------------------------------------------------------------------------------
// What the general solve must do

// Those that mechanism_add_inertia_for_load() adds inertia to.
static unsigned lanes_with_inertia(lane_system *s)
{
  const batch_system *b = &s->batch;
  batch_f64 h = splat_lanes(s->h);
  for (int32_t i = 0; i < b->node_count; ++i) {
    s->bodies[i].torque_impulse = ZERO;
  }
  for (int32_t i = 0; i < b->joint_count; ++i) {
    const lane_joint *j = &s->joints[i];
    batch_f64 length[2];
    for (int k = 0; k < 2; ++k) {
      const lane_row *row = j->rows + 3 * k;
      batch_f32 x = to_single(row[0].last), y = to_single(row[1].last), z = to_single(row[2].last);
      length[k] = root(to_double(x * x + y * y + z * z));
    }
    for (int side = 0; side < 2; ++side) {
      if (b->joints[i].body_node[side] >= 0) {
        s->bodies[b->joints[i].body_node[side]].torque_impulse +=
            h * (length[0] * j->lever[side] + length[1]);
      }
    }
  }
  lane_mask any = mask_of(0);
  for (int32_t i = 0; i < b->node_count; ++i) {
    if (!b->nodes[i].is_joint) {
      any |= s->bodies[i].torque_impulse >
             splat_lanes(TUNING_STIFFNESS_RESOLVED) * s->bodies[i].mean_inertia;
    }
  }
  return lanes_of(s, any);
}

INLINE batch_f64 lever_length(const lane_joint *j)
{
  return to_double((batch_f32){*j->lever_length[0], *j->lever_length[1], *j->lever_length[2],
                               *j->lever_length[3]});
}

// As apply_deadband().
INLINE batch_f64 beyond_deadband(batch_f64 e, batch_f64 band)
{
  return select_lanes(e > band, e - band, select_lanes(e < -band, e + band, ZERO));
}

// Those with ball joints that may pass half a turn.
static unsigned lanes_with_wide_swings(const lane_system *s)
{
  lane_mask any = mask_of(0);
  for (int32_t i = 0; i < s->batch.joint_count; ++i) {
    const lane_joint *j = &s->joints[i];
    if (j->is_ball) {
      any |= to_double(JACOBIAN_FIELD(j, 4, x)) >= splat_lanes((double)TUNING_TWIST_PASSING_SWING);
    }
  }
  return lanes_of(s, any);
}

unsigned LANES_REFUSE(lane_system *s)
{
  return (s->pass == LANES_BIAS ? lanes_with_inertia(s) : 0) | lanes_with_wide_swings(s);
}

// ---------------------------------------------------------------------------------------------
// Velocities

static void load_velocities(lane_system *s)
{
  const batch_system *b = &s->batch;
  s->fastest = s->energy_tolerance = ZERO;
  for (int32_t i = 0; i < b->node_count; ++i) {
    if (b->nodes[i].is_joint) {
      continue;
    }
    const member_bodies *body = &s->bodies[i];
    batch_f64 *v = b->v + b->nodes[i].first_row;
    const body_state *of[BATCH_WIDTH];
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      of[lane] = &s->states[body->slot[lane]];
    }
    for (int k = 0; k < 3; ++k) {
      v[k] = to_double((batch_f32){of[0]->v[k], of[1]->v[k], of[2]->v[k], of[3]->v[k]}) + ZERO;
      v[3 + k] = to_double((batch_f32){of[0]->w[k], of[1]->w[k], of[2]->w[k], of[3]->w[k]}) + ZERO;
    }
    // As find_max_speed().
    batch_f64 square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    s->fastest = larger(s->fastest, square);
    s->energy_tolerance +=
        splat_lanes(0.5) *
        (splat_lanes(TUNING_ENERGY_TOLERANCE_SPEED * TUNING_ENERGY_TOLERANCE_SPEED) +
         splat_lanes(TUNING_ENERGY_TOLERANCE_SHARE) * square) /
        body->inverse_mass;
  }
  s->fastest = root(s->fastest);
}

// Gives a body an angular impulse, as push() in lagged_friction.c.
INLINE void turn_body(const lane_system *s, int32_t node, const batch_f64 *t)
{
  batch_f64 *w = s->batch.v + s->batch.nodes[node].first_row + 3, ii[BODY_ROWS];
  for (int k = 0; k < BODY_ROWS; ++k) {
    const int32_t *slot = s->bodies[node].slot;
    ii[k] = to_double((batch_f32){s->inertia[slot[0]].inverse[k], s->inertia[slot[1]].inverse[k],
                                  s->inertia[slot[2]].inverse[k], s->inertia[slot[3]].inverse[k]});
  }
  w[0] += ii[0] * t[0] + ii[3] * t[1] + ii[4] * t[2];
  w[1] += ii[3] * t[0] + ii[1] * t[1] + ii[5] * t[2];
  w[2] += ii[4] * t[0] + ii[5] * t[1] + ii[2] * t[2];
}

// As apply_to_joint() in lagged_friction.c; the sums follow in store_friction().
static void give_friction(const lane_system *s, int32_t at)
{
  lane_joint *j = &s->joints[at];
  batch_f64 on_a[3] = {ZERO, ZERO, ZERO}, on_b[3] = {ZERO, ZERO, ZERO};
  for (int k = 0; k < 3; ++k) {
    if (!(j->friction_axes >> k & 1)) {
      continue;
    }
    batch_f64 last = j->friction[k], impulse = j->next_friction[k] - last;
    if (s->pass == LANES_BIAS) {
      batch_f64 ahead = to_double(to_single(j->half_kick_done) * to_single(last));
      impulse = last - (s->first_substep ? ahead : ZERO);
    }
    j->given_friction[k] = impulse;
    if (j->is_ball) {
      on_a[k] -= impulse;
      on_b[k] += impulse;
      continue;
    }
    const batch_f64 *of = row_of(s, at, 3 + k);
    for (int i = 0; i < 3; ++i) {
      on_a[i] += impulse * of[3 + i];
      on_b[i] += impulse * of[BODY_ROWS + 3 + i];
    }
  }
  const int32_t *node = s->batch.joints[at].body_node;
  if (j->friction_axes && node[0] >= 0) {
    turn_body(s, node[0], on_a);
  }
  if (j->friction_axes && node[1] >= 0) {
    turn_body(s, node[1], on_b);
  }
}

// Velocities of a joint's bodies, as direct_joint_motion().
INLINE void motion_of(const lane_system *s, int32_t at, batch_f64 *v)
{
  const batch_joint *j = &s->batch.joints[at];
  for (int side = 0; side < 2; ++side, v += BODY_ROWS) {
    if (j->body_node[side] >= 0) {
      memcpy(v, s->batch.v + s->batch.nodes[j->body_node[side]].first_row, BODY_ROWS * sizeof *v);
      continue;
    }
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      const body_state *b = &s->states[j->body[side][lane]];
      for (int k = 0; k < 3; ++k) {
        v[k][lane] = (double)b->v[k];
        v[3 + k][lane] = (double)b->w[k];
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Rows

// As add_limit_row() without spring.
static void build_limit(const lane_system *s, lane_row *row, batch_f32 coordinate, batch_f64 band)
{
  batch_f64 x = to_double(coordinate), lo = to_double(row->lo), hi = to_double(row->hi);
  batch_f64 beyond_lo = to_double(coordinate - row->lo),
            beyond_hi = to_double(coordinate - row->hi);
  batch_f64 below_hi = to_double(row->hi - coordinate);
  lane_mask loaded = row->last != ZERO, inside = (x >= lo) & (x <= hi);
  lane_mask pushed = inside & loaded;
  lane_mask upper = (pushed & (row->last < ZERO)) | (~pushed & (below_hi < beyond_lo));
  batch_f64 end = select_lanes(upper, hi, lo);
  lane_mask present = mask_of(row->limited) & (magnitude(end) < splat_lanes((double)UNLIMITED));
  if (s->pass == LANES_RELAX) {
    present &= loaded;
  }
  row->upper = (uint8_t)bits_of(upper);
  lane_mask locked = mask_of(row->locked);
  row->present = (uint8_t)(row->locked | bits_of(present));
  if (s->pass == LANES_RELAX) {
    row->active = row->present;
    row->error = mask_lanes(locked, row->error);
    return;
  }
  batch_f64 e = select_lanes(upper, beyond_hi, beyond_lo);
  batch_f64 error = beyond_deadband(e, band) * splat_lanes(1.0 / s->h);
  lane_mask reached = (upper & (x >= end)) | (~upper & (x <= end));
  batch_f64 rate = mask_lanes(~reached, ZERO + error);
  error = mask_lanes(reached, error);
  row->active = (uint8_t)(row->locked | bits_of(present & loaded));
  row->rate = mask_lanes(~locked, rate);
  row->error = select_lanes(locked, row->error, error);
}

static void build_joint(const lane_system *s, int32_t at)
{
  lane_joint *j = &s->joints[at];
  for (int k = 0; k < JOINT_LANE_ROWS; ++k) {
    int block = k / 3;
    lane_row *row = &j->rows[k];
    if ((row->locked | row->limited) == 0) {
      continue;
    }
    batch_f32 x = JACOBIAN_FIELD(j, k, x);
    batch_f64 length = block ? splat_lanes(1.0) : lever_length(j);
    batch_f64 band = splat_lanes(TUNING_ERROR_DEADBAND) * length;
    batch_f64 own =
        splat_lanes(TUNING_ROW_REGULARIZATION) * to_double(JACOBIAN_FIELD(j, k, inverse_mass));
    row->compliance =
        select_lanes(own < s->most_regularization[block], own, s->most_regularization[block]);
    row->compliance = select_lanes(row->compliance > ZERO, row->compliance, ZERO);
    row->error = beyond_deadband(to_double(x) - to_double(row->lo), band) * splat_lanes(1.0 / s->h);
    row->rate = ZERO;
    row->lambda = s->pass == LANES_RELAX ? row->last : ZERO;
    row->present = row->active = row->locked;
    memset(row->switches, 0, sizeof row->switches);
    if (row->limited) {
      build_limit(s, row, x, band);
    }
  }
}

// Those of which are_joints_open().
static unsigned lanes_with_open_joints(const lane_system *s)
{
  lane_mask any = mask_of(0);
  batch_f64 most = splat_lanes(TUNING_OPEN_JOINT / s->h);
  for (int32_t i = 0; i < s->batch.joint_count; ++i) {
    const lane_joint *j = &s->joints[i];
    batch_f64 length[2] = {lever_length(j), splat_lanes(1.0)};
    for (int k = 0; k < JOINT_LANE_ROWS; ++k) {
      const lane_row *row = &j->rows[k];
      any |= mask_of(row->locked) & (magnitude(row->error) > length[k / 3] * most);
    }
  }
  return lanes_of(s, any);
}

void LANES_BEGIN(lane_system *s)
{
  load_velocities(s);
  for (int32_t i = 0; i < s->batch.joint_count && s->pass != LANES_RESOLVE; ++i) {
    give_friction(s, i);
  }
  for (int32_t i = 0; i < s->batch.joint_count && s->pass != LANES_RESOLVE; ++i) {
    build_joint(s, i);
  }
  s->open = s->pass == LANES_RELAX ? lanes_with_open_joints(s) : 0;
  s->batch.velocities_only = s->pass == LANES_RESOLVE || (s->pass == LANES_RELAX && s->open == 0);
}

// ---------------------------------------------------------------------------------------------
// Solve

// As assemble_rows() in block_elimination_batch.c, with the rows that are active in some lane.
static void assemble_joint(const lane_system *s, int32_t at)
{
  const batch_system *b = &s->batch;
  lane_joint *own = &s->joints[at];
  const batch_joint *j = &b->joints[at];
  direct_node *node = &b->nodes[j->node];
  int n = 0;
  for (int k = 0; k < JOINT_LANE_ROWS; ++k) {
    own->rows[k].factored = own->rows[k].active;
    if (own->rows[k].active) {
      own->order[n++] = (uint8_t)k;
    }
  }
  node->rows = (int16_t)n;
  batch_f64 *diagonal = b->values + (size_t)node->diagonal;
  for (int i = 0; i < n; ++i) {
    const lane_row *row = &own->rows[own->order[i]];
    lane_mask m = mask_of(row->active);
    diagonal[i * n + i] = -select_lanes(m, row->compliance, splat_lanes(1.0));
    for (int k = i + 1; k < n; ++k) {
      diagonal[i * n + k] = ZERO;
    }
    const batch_f64 *from = row_of(s, at, own->order[i]);
    for (int side = 0; side < 2; ++side, from += BODY_ROWS) {
      if (j->body_node[side] < 0) {
        continue;
      }
      bool below = j->body_node[side] > j->node;
      batch_f64 *to = b->values + j->jacobian_offset[side] + i * (below ? BODY_ROWS : 1);
      int step = below ? 1 : n;
#pragma GCC unroll 6
      for (int k = 0; k < BODY_ROWS; ++k) {
        to[k * step] = mask_lanes(m, from[k]);
      }
    }
  }
}

static void clear_body_rhs(const lane_system *s)
{
  for (int32_t i = 0; i < s->batch.node_count; ++i) {
    const direct_node *node = &s->batch.nodes[i];
    for (int k = 0; k < 2 * BODY_ROWS && !node->is_joint; ++k) {
      s->batch.x[2 * node->first_row + k] = ZERO;
    }
  }
}

// Impulses of rows at their bounds, which are zero: what they have been given is taken back.
static void give_bound_impulses(const lane_system *s, int32_t at)
{
  const batch_joint *j = &s->batch.joints[at];
  batch_f64 given[2 * BODY_ROWS];
  bool gives = false;
  for (int k = 0; k < JOINT_LANE_ROWS; ++k) {
    const lane_row *row = &s->joints[at].rows[k];
    unsigned lanes = row->present & ~row->active & s->batch.solve_lanes;
    lane_mask m = mask_of(lanes) & (row->lambda != ZERO);
    if (lanes == 0 || bits_of(m) == 0) {
      continue;
    }
    for (int i = 0; i < 2 * BODY_ROWS && !gives; ++i) {
      given[i] = ZERO;
    }
    gives = true;
    batch_f64 impulse = mask_lanes(m, ZERO - row->lambda);
    const batch_f64 *of = row_of(s, at, k);
    for (int i = 0; i < 2 * BODY_ROWS; ++i) {
      given[i] += impulse * of[i];
    }
  }
  for (int side = 0; side < 2 && gives; ++side) {
    if (j->body_node[side] >= 0) {
      batch_f64 *x = s->batch.x + 2 * s->batch.nodes[j->body_node[side]].first_row;
      for (int i = 0; i < BODY_ROWS; ++i) {
        x[2 * i] += given[BODY_ROWS * side + i];
      }
    }
  }
}

static void build_joint_rhs(const lane_system *s, int32_t at)
{
  lane_joint *j = &s->joints[at];
  const direct_node *node = &s->batch.nodes[s->batch.joints[at].node];
  batch_f64 motion[2 * BODY_ROWS], *x = s->batch.x + 2 * node->first_row;
  bool resolve = s->pass == LANES_RESOLVE;
  motion_of(s, at, motion);
  for (int i = 0; i < node->rows; ++i, x += 2) {
    lane_row *row = &j->rows[j->order[i]];
    lane_mask m = mask_of(row->active & s->batch.solve_lanes);
    batch_f64 u = along_row(row_of(s, at, j->order[i]), motion);
    row->rhs = -(row->rate + (resolve ? row->error : ZERO) + u);
    x[0] = mask_lanes(m, row->rhs);
    x[1] = resolve ? ZERO : mask_lanes(m, -row->error);
  }
  give_bound_impulses(s, at);
}

// Lanes for which choose_correction() would take a split impulse.
static unsigned lanes_to_split(const lane_system *s)
{
  const batch_system *b = &s->batch;
  batch_f64 worst = ZERO, sum = ZERO, top = ZERO;
  for (int32_t i = 0; i < b->joint_count; ++i) {
    const lane_joint *j = &s->joints[i];
    const direct_node *node = &b->nodes[b->joints[i].node];
    const batch_f64 *x = b->x + 2 * node->first_row;
    for (int k = 0; k < node->rows; ++k, x += 2) {
      const lane_row *row = &j->rows[j->order[k]];
      lane_mask m = mask_of(row->active);
      batch_f64 change = row->rhs + row->compliance * x[0];
      worst = larger(worst, mask_lanes(m, magnitude(row->error)));
      sum += mask_lanes(m, x[1] * row->error + x[0] * change);
    }
  }
  for (int32_t i = 0; i < b->node_count; ++i) {
    const batch_f64 *x = b->x + 2 * b->nodes[i].first_row;
    if (!b->nodes[i].is_joint) {
      top = larger(top, x[1] * x[1] + x[3] * x[3] + x[5] * x[5]);
    }
  }
  batch_f64 brought = splat_lanes(0.5) * sum - s->energy_tolerance;
  batch_f64 joint_speed = larger(splat_lanes(TUNING_MAX_ERROR_RATE),
                                 splat_lanes(TUNING_MAX_ERROR_RATE_SHARE) * s->fastest);
  batch_f64 body_speed = larger(splat_lanes(TUNING_MAX_CORRECTION_SPEED), s->fastest);
  lane_mask fine = (worst <= joint_speed) & (root(top) <= body_speed) & (brought <= ZERO);
  return lanes_of(s, ~fine);
}

// Velocities of a joint's bodies after the solve, as predict_motion().
static void predict_motion(const lane_system *s, int32_t at, bool correction, batch_f64 *v)
{
  const batch_joint *j = &s->batch.joints[at];
  motion_of(s, at, v);
  for (int side = 0; side < 2; ++side) {
    if (j->body_node[side] >= 0) {
      const batch_f64 *x = s->batch.x + 2 * s->batch.nodes[j->body_node[side]].first_row;
      for (int i = 0; i < BODY_ROWS; ++i) {
        v[BODY_ROWS * side + i] += correction ? x[2 * i] + x[2 * i + 1] : x[2 * i];
      }
    }
  }
}

// Impulse of an active row, as row_impulse().
INLINE batch_f64 impulse_of(const lane_system *s, const batch_f64 *x)
{
  return ZERO - (s->pass == LANES_RELAX ? x[0] : x[0] + x[1]);
}

static unsigned switchable(const lane_row *row)
{
  unsigned lanes = 0;
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    lanes |= (unsigned)(row->switches[lane] < TUNING_LIMIT_SWITCHES) << lane;
  }
  return lanes;
}

static void switch_row(lane_row *row, unsigned lanes)
{
  row->active ^= (uint8_t)lanes;
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    row->switches[lane] = (uint8_t)(row->switches[lane] + (lanes >> lane & 1));
  }
}

static bool update_joint(const lane_system *s, int32_t at)
{
  lane_joint *j = &s->joints[at];
  const direct_node *node = &s->batch.nodes[s->batch.joints[at].node];
  const batch_f64 *x = s->batch.x + 2 * node->first_row;
  batch_f64 motion[2 * BODY_ROWS];
  bool changed = false, predicted = false;
  for (int k = 0; k < JOINT_LANE_ROWS; ++k) {
    lane_row *row = &j->rows[k];
    const batch_f64 *own = x;
    x += row->factored ? 2 : 0;
    unsigned limits = row->present & row->limited & s->batch.solve_lanes;
    unsigned held = limits & row->active, free = limits & ~row->active, lanes = 0;
    lane_mask upper = mask_of(row->upper);
    if (held) {
      batch_f64 lambda = row->lambda + impulse_of(s, own);
      batch_f64 slack = splat_lanes(TUNING_BOUND_SLACK) * magnitude(lambda);
      lane_mask within = (upper & (lambda <= ZERO + slack)) | (~upper & (lambda >= ZERO - slack));
      lanes = held & bits_of(~within);
    }
    free = free ? free & switchable(row) : 0;
    if (free) {
      if (!predicted) {
        predict_motion(s, at, s->pass != LANES_RELAX, motion);
        predicted = true;
      }
      batch_f64 error = s->pass == LANES_RELAX ? ZERO : row->error;
      batch_f64 wanted = row->rate + error + along_row(row_of(s, at, k), motion);
      batch_f64 speed = splat_lanes(TUNING_ACTIVATION_SPEED);
      lane_mask stays = (upper & (wanted <= speed)) | (~upper & (wanted >= -speed));
      lanes |= free & bits_of(~stays);
    }
    if (lanes) {
      switch_row(row, lanes);
      changed = true;
    }
  }
  return changed;
}

bool LANES_SOLVE(lane_system *s, bool may_change)
{
  const batch_system *b = &s->batch;
  for (int32_t i = 0; i < b->joint_count && b->refactor; ++i) {
    assemble_joint(s, i);
  }
  clear_body_rhs(s);
  for (int32_t i = 0; i < b->joint_count; ++i) {
    build_joint_rhs(s, i);
  }
  BATCH_ELIMINATE(b);
  if (s->pass == LANES_BIAS) {
    s->batch.solve_lanes &= (uint8_t)~lanes_to_split(s);
  }
  bool changed = false;
  for (int32_t i = 0; i < b->joint_count && may_change && b->solve_lanes != 0; ++i) {
    changed = update_joint(s, i) || changed;
  }
  return changed;
}

// ---------------------------------------------------------------------------------------------
// Results

INLINE batch_f32 select_singles(unsigned lanes, batch_f32 a, batch_f32 b)
{
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    b[lane] = lanes >> lane & 1 ? a[lane] : b[lane];
  }
  return b;
}

INLINE void add_to_sum(const lane_system *s, batch_f32 *sum, batch_f64 more)
{
  batch_f32 whole = *sum + to_single(more);
  *sum =
      s->batch.solve_lanes == ALL_LANES ? whole : select_singles(s->batch.solve_lanes, whole, *sum);
}

static void store_friction(const lane_system *s, int32_t at)
{
  lane_joint *j = &s->joints[at];
  for (int k = 0; k < 3; ++k) {
    if (!(j->friction_axes >> k & 1)) {
      continue;
    }
    if (s->pass == LANES_RELAX) {
      j->friction[k] = select_lanes(mask_of(s->batch.solve_lanes),
                                    to_double(to_single(j->next_friction[k])), j->friction[k]);
    }
    if (j->is_ball) {
      add_to_sum(s, &j->sum[1][k], j->given_friction[k]);
      continue;
    }
    const batch_f64 *of = row_of(s, at, 3 + k) + BODY_ROWS + 3;
    for (int i = 0; i < 3; ++i) {
      add_to_sum(s, &j->sum[1][i], j->given_friction[k] * of[i]);
    }
  }
}

static void store_impulses(const lane_system *s, int32_t at)
{
  lane_joint *j = &s->joints[at];
  const direct_node *node = &s->batch.nodes[s->batch.joints[at].node];
  const batch_f64 *x = s->batch.x + 2 * node->first_row;
  for (int block = 0; block < 2; ++block) {
    batch_f64 sum[3] = {ZERO, ZERO, ZERO};
    for (int k = 3 * block; k < 3 * block + 3; ++k) {
      lane_row *row = &j->rows[k];
      const batch_f64 *own = x;
      x += row->factored ? 2 : 0;
      unsigned lanes = row->present & s->batch.solve_lanes;
      if (lanes == 0) {
        continue;
      }
      batch_f64 solved = row->factored ? impulse_of(s, own) : ZERO;
      batch_f64 impulse = mask_lanes(
          mask_of(lanes), select_lanes(mask_of(row->active), solved, ZERO - row->lambda));
      row->lambda += impulse;
      const batch_f64 *n = row_of(s, at, k) + BODY_ROWS + 3 * block;
      for (int i = 0; i < 3; ++i) {
        sum[i] += impulse * n[i];
      }
      row->last = select_lanes(mask_of(lanes), to_double(to_single(row->lambda)), row->last);
    }
    for (int i = 0; i < 3; ++i) {
      add_to_sum(s, &j->sum[block][i], sum[i]);
    }
  }
}

// As mechanism_update_lagged_friction(): along all axes of a ball joint together, or one by one.
static void update_friction(const lane_system *s, int32_t at)
{
  lane_joint *j = &s->joints[at];
  batch_f64 motion[2 * BODY_ROWS], rate[3], mass[3];
  if (j->friction_axes == 0) {
    return;
  }
  predict_motion(s, at, false, motion);
  for (int k = 0; k < 3; ++k) {
    rate[k] = mass[k] = ZERO;
    if (!(j->friction_axes >> k & 1)) {
      continue;
    }
    if (j->is_ball) {
      rate[k] = motion[BODY_ROWS + 3 + k] - motion[3 + k];
      mass[k] = to_double(JACOBIAN_FIELD(j, 3 + k, axis_inverse_mass));
      continue;
    }
    const batch_f64 *of = row_of(s, at, 3 + k);
    for (int i = 0; i < BODY_ROWS; ++i) {
      rate[k] += of[i] * motion[i] + of[BODY_ROWS + i] * motion[BODY_ROWS + i];
    }
    mass[k] = to_double(JACOBIAN_FIELD(j, 3 + k, inverse_mass));
  }
  batch_f64 together = mass[0] + mass[1] + mass[2];
  lane_mask lanes = mask_of(s->batch.solve_lanes);
  batch_f64 next[3], square = ZERO;
  for (int k = 0; k < 3; ++k) {
    batch_f64 w = j->is_ball ? together : mass[k];
    next[k] = j->friction[k] - splat_lanes(TUNING_LAGGED_FRICTION_GAIN) * rate[k] / w;
    square += next[k] * next[k];
  }
  for (int k = 0; k < 3; ++k) {
    if (j->friction_axes >> k & 1) {
      batch_f64 length = j->is_ball ? square : next[k] * next[k], most = j->most_friction[k];
      batch_f64 scale = select_lanes(length > most * most, most / root(length), splat_lanes(1.0));
      j->next_friction[k] = select_lanes(lanes, next[k] * scale, j->next_friction[k]);
    }
  }
}

static void store_velocities(const lane_system *s)
{
  const batch_system *b = &s->batch;
  for (int32_t i = 0; i < b->node_count; ++i) {
    if (b->nodes[i].is_joint) {
      continue;
    }
    const batch_f64 *v = b->v + b->nodes[i].first_row, *x = b->x + 2 * b->nodes[i].first_row;
    batch_f32 to[BODY_ROWS];
    for (int k = 0; k < BODY_ROWS; ++k) {
      batch_f64 u = v[k] + x[2 * k];
      to[k] = to_single(s->pass == LANES_RELAX ? u : u + x[2 * k + 1]);
    }
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      if (b->solve_lanes >> lane & 1) {
        body_state *state = &s->states[s->bodies[i].slot[lane]];
        for (int k = 0; k < 3; ++k) {
          state->v[k] = to[k][lane];
          state->w[k] = to[3 + k][lane];
        }
      }
    }
  }
}

void LANES_END(lane_system *s)
{
  for (int32_t i = 0; i < s->batch.joint_count; ++i) {
    if (s->pass != LANES_RESOLVE) {
      store_friction(s, i);
    }
    store_impulses(s, i);
    if (s->pass == LANES_RESOLVE) {
      update_friction(s, i);
    }
  }
  store_velocities(s);
}

#endif

const lane_ops LANE_OPS = {
    .refuse = LANES_REFUSE,
    .begin = LANES_BEGIN,
    .solve = LANES_SOLVE,
    .end = LANES_END,
};

#endif
