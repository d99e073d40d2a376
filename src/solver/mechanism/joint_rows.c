// Builds the scalar rows of directly solved joints at the current pose (Müller et al. 2020, sec.
// 3.3 and 3.4, in impulse form). With C the coordinate of a row:
//
//     rigid          C / h + J v = 0                             C / h is the error
//     spring         C / h + J v + (alpha / h^2) lambda = 0      eq. 4 divided by h
//     stiff spring   rate = -(alpha / h^2) lambda_last           C / h - rate is the error
//     limit          a rigid or spring row, lambda <= 0 at the upper end, >= 0 at the lower one
//     drive          a row with abs(lambda) <= h max force
//     damping        J v + w / (exp(c h) - 1) lambda = 0
//     friction       J v = 0,  abs(lambda) <= h friction
//
// w is the row's inverse mass. A spring is stiff if alpha / h^2 <= w: the substep does not resolve
// it. It closes as a rigid joint does, but only for as much of its length as its last impulse does
// not explain.
#include "solver/mechanism/mechanism.h"

#include <math.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

// Common data of the rows of one block (linear or angular) of a joint.
typedef struct row_builder {
  const direct_context *context;
  direct_joint *joint;
  joint_row *next; // next row to write
  const jacobian_row *rows;
  BlockKind kind;
  const RowParams *params;
  const RowState *state;
  double motion[2 * BODY_ROWS]; // velocities of A and B
  int block;
  double h, inv_h, inv_h2;
  double length_scale; // sum of the lever arms, m; 1 for angular rows
  double deadband;     // of position errors, m or rad
  bool relaxing;       // DIRECT_RELAX or DIRECT_HALF_KICK
  bool lags_friction;
} row_builder;

// Heads of rows, by block, kind and index. `state` is the place of the impulse in RowState (damping
// keeps none). `slot` is the order in which rows are built: each position row with its stiff spring
// (0 to 5), drive (6), damping (7 to 9), friction (10 to 12).
#define STATE_OF(member) (int)(offsetof(RowState, member) / sizeof(R))
#if defined(TN_SMALL)
static joint_row_head row_head_of(int block, joint_row_kind kind, int row)
{
  int state = kind <= ROW_STIFF_SPRING ? STATE_OF(lambda)
              : kind == ROW_DRIVE      ? STATE_OF(drive)
                                       : STATE_OF(friction);
  return (joint_row_head){(uint8_t)kind, (uint8_t)block, (uint8_t)(state + row), 0, true};
}
#else
#define HEAD(block, kind, state, slot)                                                             \
  {                                                                                                \
    kind, block, (uint8_t)(state), ROW_SLOTS *(block) + (slot), true                               \
  }
#define HEADS_OF(block, kind, state, slot, step)                                                   \
  [kind] = {HEAD(block, kind, state, slot), HEAD(block, kind, (state) + 1, (slot) + (step)),       \
            HEAD(block, kind, (state) + 2, (slot) + 2 * (step))}
#define HEADS(block)                                                                               \
  {                                                                                                \
    HEADS_OF(block, ROW_LOCKED, STATE_OF(lambda), 0, 2),                                           \
        HEADS_OF(block, ROW_LIMIT, STATE_OF(lambda), 0, 2),                                        \
        HEADS_OF(block, ROW_STIFF_SPRING, STATE_OF(lambda), 1, 2),                                 \
        HEADS_OF(block, ROW_DRIVE, STATE_OF(drive), 6, 0), HEADS_OF(block, ROW_DAMPING, 0, 7, 1),  \
        HEADS_OF(block, ROW_FRICTION, STATE_OF(friction), 10, 1)                                   \
  }
static const joint_row_head ROW_HEADS[2][ROW_FRICTION + 1][3] = {HEADS(0), HEADS(1)};

static inline joint_row_head row_head_of(int block, joint_row_kind kind, int row)
{
  return ROW_HEADS[block][kind][row];
}
#endif

// Adds an active row without bounds along the Jacobian `of`.
static inline joint_row *add_row(row_builder *s, joint_row_kind kind, int row,
                                 const double (*of)[BODY_ROWS], float inverse_mass)
{
  joint_row *l = s->next++;
  l->j = of;
  l->rate = l->error = l->alpha = l->lambda = 0.0;
  l->regularization = row_regularization() * (double)inverse_mass;
  l->lo = -UNBOUNDED_IMPULSE;
  l->hi = UNBOUNDED_IMPULSE;
  l->head = row_head_of(s->block, kind, row);
  return l;
}

// Makes the row a fixed impulse. In the half kick springs give part of their next impulse, while
// rigid rows stop their relative motion.
static void fix_impulse(joint_row *l, double lambda)
{
  l->active = false;
  l->lambda = 0.0;
  l->lo = l->hi = lambda;
}

// Part of `lambda` given in the half kick before the step.
static double half_kick_impulse(const row_builder *s, float lambda)
{
  return s->context->first_substep ? (double)(s->joint->half_kick_done * lambda) : 0.0;
}

// Impulse that a position row or servo gave in the half kick before the step. A stiff one stopped
// the motion with whatever that took; assuming a share of the last impulse instead would shift its
// balance.
static double given_ahead(const row_builder *s, joint_row_kind kind, int row)
{
  const RowState *state = s->state;
  return s->context->first_substep
             ? (double)(kind == ROW_DRIVE ? state->drive_load : state->load[row])
             : 0.0;
}

// Rounding errors count as zero: an overconstrained structure would answer them with forces beyond
// any load.
static double apply_deadband(const row_builder *s, double e)
{
  if (!RULE(mechanism_deadband)) {
    return e;
  }
  return e > s->deadband ? e - s->deadband : e < -s->deadband ? e + s->deadband : 0.0;
}

// Inverse mass that decides whether the substep resolves a spring. World axes do not turn with the
// joint: there it is the mean of all three.
static double spring_inverse_mass(const row_builder *s, int row)
{
  const jacobian_row *r = s->rows;
  return (double)(s->kind.world_axes
                      ? (r[0].inverse_mass + r[1].inverse_mass + r[2].inverse_mass) / 3.0f
                      : r[row].inverse_mass);
}

// Whether a spring with alpha = compliance / h^2 is stiffer than the substep resolves.
static bool is_stiff(const row_builder *s, int row, double alpha)
{
  return alpha <= (RULE(mechanism_stiff_springs) ? spring_inverse_mass(s, row) : 0.0);
}

// Adds a spring or rigid row towards e = 0, with `lambda` its last impulse. Returns NULL if none
// acts in this pass.
static joint_row *add_spring_row(row_builder *s, joint_row_kind kind, int row, double e,
                                 double compliance, float lambda)
{
  const jacobian_row *of = &s->rows[row];
  double alpha = compliance * s->inv_h2;
  bool stiff = is_stiff(s, row, alpha);
  if (s->context->pass == DIRECT_RELAX && !stiff) {
    return NULL;
  }
  joint_row *l = add_row(s, kind, row, of->j, of->inverse_mass);
  if (s->relaxing) {
    l->lambda = s->context->pass == DIRECT_RELAX ? (double)lambda : 0.0;
    if (!stiff) {
      fix_impulse(l, (double)(s->joint->half_kick_share * lambda));
    }
    return l;
  }
  l->alpha = alpha;
  l->lambda = compliance > 0.0 ? given_ahead(s, kind, row) : 0.0;
  if (compliance == 0.0) {
    l->error = apply_deadband(s, e) * s->inv_h;
  } else if (stiff) {
    // An impulse against the length, or more than it can give, stems from another pose: it explains
    // nothing, or all of the length.
    double length = e * s->inv_h, explained = -alpha * (double)lambda;
    bool beyond = fabs(explained) > fabs(length);
    l->rate = explained * length <= 0.0 ? 0.0 : beyond ? length : explained;
    l->rate = RULE(mechanism_spring_impulse) ? l->rate : explained;
    l->error = length - l->rate;
  } else {
    l->rate = e * s->inv_h;
  }
  return l;
}

// The unexplained length of a stiff spring is removed as an error. Until that is done this row
// keeps the spring from lengthening, with an impulse bounded by what its length can give: otherwise
// other joints would load it without doing work.
static void add_stiff_spring_row(row_builder *s, int i, const joint_row *spring)
{
  if (!RULE(mechanism_spring_row) || s->relaxing || !spring || spring->alpha == 0.0 ||
      fabs(spring->error) <= TUNING_MIN_STIFF_STRAIN * s->length_scale * s->inv_h) {
    return;
  }
  double impulse = -spring->error / spring->alpha;
  joint_row *l = add_row(s, ROW_STIFF_SPRING, i, spring->j, s->rows[i].inverse_mass);
  l->lo = fmin(0.0, impulse);
  l->hi = fmax(0.0, impulse);
}

// The limit that is crossed, or has an impulse, or is nearer.
static void add_limit_row(row_builder *s, int i)
{
  const RowParams *p = s->params;
  float x = s->rows[i].x;
  float lambda = s->state->lambda[i];
  bool inside = x >= p->lo[i] && x <= p->hi[i];
  bool upper = inside && lambda != 0.0f ? lambda < 0.0f : p->hi[i] - x < x - p->lo[i];
  float end = upper ? p->hi[i] : p->lo[i];
  if (r_abs(end) >= UNLIMITED || (s->relaxing && lambda == 0.0f)) {
    return;
  }
  joint_row *l = add_spring_row(s, ROW_LIMIT, i, (double)(x - end), (double)p->alpha_limit, lambda);
  if (!l || l->lo == l->hi) {
    return;
  }
  l->lo = upper ? -UNBOUNDED_IMPULSE : 0.0;
  l->hi = upper ? 0.0 : UNBOUNDED_IMPULSE;
  l->at_hi = upper;
  if (s->relaxing) {
    return;
  }
  if (upper ? x < end : x > end) { // a limit not yet reached is no error
    l->rate += l->error;
    l->error = 0.0;
  }
  double beyond = l->rate + l->error + row_velocity(l, s->motion);
  l->active = lambda != 0.0f || (upper ? beyond > 0.0 : beyond < 0.0);
  add_stiff_spring_row(s, i, l);
}

// Rigid rows, the most frequent, need less than springs.
static inline void add_locked_row(row_builder *s, int i, double e, float compliance)
{
  float lambda = s->state->lambda[i];
  if (compliance > 0.0f) {
    add_stiff_spring_row(s, i, add_spring_row(s, ROW_LOCKED, i, e, (double)compliance, lambda));
    return;
  }
  joint_row *l = add_row(s, ROW_LOCKED, i, s->rows[i].j, s->rows[i].inverse_mass);
  if (!s->relaxing) {
    l->error = apply_deadband(s, e) * s->inv_h;
  } else if (s->context->pass == DIRECT_RELAX) {
    l->lambda = (double)lambda;
  }
}

KERNEL void add_position_rows(row_builder *s, BlockKind kind)
{
  const RowParams *p = s->params;
#pragma GCC unroll 3
  for (int i = 0; i < kind.rows; ++i) {
    double x = (double)s->rows[i].x;
    if (is_locked(kind, p, i)) {
      add_locked_row(s, i, kind.mixed ? x - (double)p->lo[i] : x, p->alpha);
    } else if (p->lo[i] == p->hi[i]) {
      add_locked_row(s, i, x - (double)p->lo[i], p->alpha_limit);
    } else {
      add_limit_row(s, i);
    }
  }
}

// Bounds the impulse by `most`; a row whose last impulse was saturated begins inactive.
static void bound_impulse(joint_row *l, double most, double last)
{
  l->lo = -most;
  l->hi = most;
  if (fabs(last) >= most * (1.0 - TUNING_SATURATION_SLACK)) {
    l->active = false;
    l->at_hi = last > 0.0;
  }
}

static double clamp(double x, double lo, double hi)
{
  return fmax(lo, fmin(x, hi));
}

// A stiff servo approaches its target by motion, at a bounded speed. Its offset is no position
// error: split impulses are for rows that hold a position, and a drive has a force limit. The part
// of the offset that the last impulse explains is the deflection under load, and stays. `offset` is
// relative to the target at the start of the substep.
static void limit_approach(const row_builder *s, joint_row *l, double target_rate, double last)
{
  const substep *now = &s->context->data->substep;
  double fastest = (double)(s->block ? now->max_angular_bias : now->max_linear_bias);
  double offset = l->rate + l->error + target_rate;
  double held = clamp(-l->alpha * last, fmin(0.0, offset), fmax(0.0, offset));
  l->rate = held + clamp(offset - held, -fastest, fastest) - target_rate;
  l->error = 0.0;
}

static void add_servo_row(row_builder *s)
{
  const Drive *d = &s->params->drive;
  Pass pass = {.inv_h = (float)s->inv_h, .time = s->context->data->substep.time};
  Rows rows = {.x = {s->rows->x}};
  double e = (double)drive_error(&pass, d, &rows, s->block);
  double most = (double)d->max * s->h;
  double last = (double)s->state->drive;
  bool spent = fabs(last) >= most * (1.0 - TUNING_SATURATION_SLACK);
  if (s->context->pass == DIRECT_RELAX && spent) {
    return;
  }
  joint_row *l = add_spring_row(s, ROW_DRIVE, 0, e, (double)d->alpha, s->state->drive);
  if (!l || l->lo == l->hi) {
    return;
  }
  if (s->relaxing && spent) {
    fix_impulse(l, (double)s->joint->half_kick_share * last);
    return;
  }
  double rate = (double)d->rate;
  bound_impulse(l, s->context->pass == DIRECT_HALF_KICK ? 0.5 * most : most, last);
  if (s->relaxing) {
    l->rate = -rate;
    return;
  }
  l->lambda = given_ahead(s, ROW_DRIVE, 0);
  if (RULE(mechanism_servo_approach) && is_stiff(s, 0, l->alpha)) {
    limit_approach(s, l, rate, last);
  }
}

static void add_drive_row(row_builder *s)
{
  const Drive *d = &s->params->drive;
  if (d->mode == DRIVE_TARGET) {
    add_servo_row(s);
    return;
  }
  if (d->mode == 0.0f || s->context->pass == DIRECT_RELAX) {
    return;
  }
  joint_row *l = add_row(s, ROW_DRIVE, 0, s->rows[0].j, s->rows[0].inverse_mass);
  double most = (double)d->max * s->h;
  if (s->relaxing) {
    fix_impulse(l, (double)(s->joint->half_kick_share * s->state->drive));
  } else if (d->mode == DRIVE_FORCE) {
    fix_impulse(l, fmax(-most, fmin((double)d->force * s->h, most)));
    l->lambda = half_kick_impulse(s, s->state->drive);
  } else {
    l->lambda = half_kick_impulse(s, s->state->drive);
    l->rate = -(double)d->velocity;
    bound_impulse(l, most, (double)s->state->drive);
  }
}

// Jacobians of the relative angular velocity about the world axes.
static const double AXES[3][2][BODY_ROWS] = {
    {{0.0, 0.0, 0.0, -1.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0, 0.0, 0.0}},
    {{0.0, 0.0, 0.0, 0.0, -1.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 1.0, 0.0}},
    {{0.0, 0.0, 0.0, 0.0, 0.0, -1.0}, {0.0, 0.0, 0.0, 0.0, 0.0, 1.0}},
};

// Friction and damping act along row 0, or along all world axes.
static float dissipation_inverse_mass(const row_builder *s, int i)
{
  return s->kind.vector_dissipation ? s->rows[i].axis_inverse_mass : s->rows->inverse_mass;
}

static joint_row *add_dissipation_row(row_builder *s, joint_row_kind kind, int i)
{
  const jacobian_row *axes =
      &s->context->set
           ->jacobians[s->joint->first_jacobian + jacobian_row_count(s->joint->type) - 3];
  const double(*axis)[BODY_ROWS] = s->block ? AXES[i] : axes[i].j;
  return add_row(s, kind, i, s->kind.vector_dissipation ? axis : s->rows->j,
                 dissipation_inverse_mass(s, i));
}

// Implicit damping. J v + w / (exp(c h) - 1) lambda = 0 leaves exp(-c h) of the relative velocity
// of two bodies that nothing else holds: the exact decay.
static void add_damping_row(row_builder *s, int i)
{
  joint_row *l = add_dissipation_row(s, ROW_DAMPING, i);
  double decay = (double)r_exp(s->params->damping * (float)s->h) - 1.0;
  l->alpha = (double)dissipation_inverse_mass(s, i) / fmax(decay, TUNING_MIN_DAMPING_DECAY);
}

// Friction holds with J v = 0 up to its bound. Lagged friction and sliding vector friction begin as
// fixed impulses.
static void add_friction_rows(row_builder *s, int count)
{
  double most = (double)s->params->friction * s->h;
  bool slides = count == 3 && v_length(s->state->friction) >=
                                  (float)most * (1.0f - (float)TUNING_SATURATION_SLACK);
  const float last[3] = {s->state->friction.x, s->state->friction.y, s->state->friction.z};
  for (int i = 0; i < count; ++i) {
    joint_row *l = add_dissipation_row(s, ROW_FRICTION, i);
    if (s->context->pass == DIRECT_RELAX) {
      fix_impulse(l, (double)s->joint->next_friction[s->block][i]);
      l->lambda = (double)last[i];
      continue;
    }
    if (s->relaxing) {
      fix_impulse(l, (double)(s->joint->half_kick_share * last[i]));
      continue;
    }
    l->lambda = half_kick_impulse(s, last[i]);
    if (count == 1 && !s->lags_friction) {
      bound_impulse(l, most, (double)last[i]);
    } else if (slides || s->lags_friction) {
      l->active = false;
      l->lo = l->hi = (double)last[i];
    }
  }
}

static void add_dissipation_rows(row_builder *s)
{
  if (s->context->pass == DIRECT_RELAX && !s->lags_friction) {
    return;
  }
  int count = s->kind.vector_dissipation ? 3 : 1;
  for (int i = 0; i < count && s->params->damping > 0.0f && !s->relaxing; ++i) {
    add_damping_row(s, i);
  }
  if (s->params->friction > 0.0f) {
    add_friction_rows(s, count);
  }
}

KERNEL bool has_drive_or_dissipation(const RowParams *params, BlockKind kind)
{
  return has_free_axis(kind) &&
         (params->drive.mode != 0.0f || params->damping > 0.0f || params->friction > 0.0f);
}

KERNEL void build_block_rows(row_builder *s, JointType type, int block, double length_scale)
{
  direct_joint *j = s->joint;
  BlockKind kind = block ? angular_kind(type) : linear_kind(type);
  s->block = block;
  s->kind = kind;
  s->params = &j->params[block];
  s->state = &j->state[block];
  s->rows = &s->context->set->jacobians[j->first_jacobian + 3 * block];
  s->length_scale = length_scale;
  s->deadband = TUNING_ERROR_DEADBAND * length_scale;
  add_position_rows(s, kind);
  if (has_drive_or_dissipation(s->params, kind)) {
    add_drive_row(s);
    add_dissipation_rows(s);
  }
}

KERNEL void build_both_blocks(row_builder *s, JointType type, double length_scale)
{
  build_block_rows(s, type, 0, length_scale);
  build_block_rows(s, type, 1, 1.0);
}

static void build_joint_rows(row_builder *s, direct_joint *j)
{
  const mechanism_set *set = s->context->set;
  direct_joint_motion(s->context, j, s->motion);
  s->joint = j;
  s->next = &set->joint_rows[j->first_joint_row];
  float length_scale = set->jacobian_blocks[j->jacobian_lane / BLOCK_WIDTH]
                           .lever_length[j->jacobian_lane % BLOCK_WIDTH];
  switch (j->type) {
#if !defined(__OPTIMIZE_SIZE__)
  case TYPE_HINGE: // the most frequent types get code of their own
    build_both_blocks(s, TYPE_HINGE, (double)length_scale);
    break;
  case TYPE_BALL:
    build_both_blocks(s, TYPE_BALL, (double)length_scale);
    break;
#endif
  default:
    build_both_blocks(s, j->type, (double)length_scale);
    break;
  }
  j->joint_row_count = (int16_t)(s->next - &set->joint_rows[j->first_joint_row]);
  for (int i = 0; i < 2; ++i) { // impulses given in the half kick are now in lambda
    memset(j->state[i].load, 0, sizeof j->state[i].load);
    j->state[i].drive_load = 0.0f;
  }
}

void direct_evaluate_jacobians(const direct_context *c, const mechanism *m)
{
  for (int32_t i = m->first_jacobian_block; i < m->last_jacobian_block; ++i) {
    jacobian_block *block = &c->set->jacobian_blocks[i];
    batch_jacobian *batch = block->batch_row < 0 ? NULL : &c->set->batch_jacobian[block->batch_row];
    c->direct->evaluate(c->data, block, &c->set->jacobians[block->first_jacobian], batch);
  }
}

// The end of a substep and the start of the next one have the same pose.
static void evaluate_jacobians_once(const direct_context *c, mechanism *m)
{
  if (m->jacobian_pose != c->pose) {
    direct_evaluate_jacobians(c, m);
    m->jacobian_pose = c->pose;
  }
}

void direct_build_rows(const direct_context *c, mechanism *m)
{
  evaluate_jacobians_once(c, m);
  row_builder s = {.context = c, .lags_friction = lags_friction(m)};
  s.h = (double)c->data->substep.h;
  s.inv_h = 1.0 / s.h;
  s.inv_h2 = s.inv_h * s.inv_h;
  s.relaxing = c->pass == DIRECT_RELAX || c->pass == DIRECT_HALF_KICK;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    build_joint_rows(&s, &c->set->joints[i]);
  }
}

// A step towards the impulse that stops the motion, by the sum of the rows' inverse masses. All
// joints step at once, so that neighbours may double each other's effect.
static void update_lagged_friction(direct_joint *j, const joint_row *l, int count, double h,
                                   const double *motion)
{
  double most = (double)j->params[l->block].friction * h;
  double next[3], inverse_mass = 0.0, square = 0.0;
  for (int i = 0; i < count; ++i) {
    inverse_mass += l[i].regularization / row_regularization();
  }
  for (int i = 0; i < count; ++i) {
    next[i] =
        l[i].lambda - TUNING_LAGGED_FRICTION_GAIN * row_velocity(&l[i], motion) / inverse_mass;
    square += next[i] * next[i];
  }
  double scale = square > most * most ? most / sqrt(square) : 1.0;
  for (int i = 0; i < count; ++i) {
    j->next_friction[l->block][i] = (float)(scale * next[i]);
  }
}

void direct_update_lagged_friction(const direct_context *c, direct_joint *j, const double *motion)
{
  for (int k = 0; k < j->joint_row_count; ++k) {
    const joint_row *l = &c->set->joint_rows[j->first_joint_row + k];
    if (l->kind == ROW_FRICTION) {
      int count = friction_is_vector(j, l) ? 3 : 1;
      update_lagged_friction(j, l, count, (double)c->data->substep.h, motion);
      k += count - 1;
    }
  }
}

static int block_drive_and_dissipation_rows(BlockKind kind, const RowParams *params)
{
  if (!has_drive_or_dissipation(params, kind)) {
    return 0;
  }
  int axes = kind.vector_dissipation ? 3 : 1;
  return (params->drive.mode != 0.0f ? 1 : 0) + (params->damping > 0.0f ? axes : 0) +
         (params->friction > 0.0f ? axes : 0);
}

static int block_typical_rows(BlockKind kind, const RowParams *params)
{
  int count = block_drive_and_dissipation_rows(kind, params);
  for (int i = 0; i < kind.rows; ++i) {
    count += is_locked(kind, params, i) || params->lo[i] == params->hi[i];
  }
  return count;
}

int direct_typical_rows(JointType type, const RowParams params[2])
{
  return block_typical_rows(linear_kind(type), &params[0]) +
         block_typical_rows(angular_kind(type), &params[1]);
}

static int block_row_capacity(BlockKind kind, const RowParams *params)
{
  bool springs = params->alpha > 0.0f || params->alpha_limit > 0.0f;
  return (springs ? 2 : 1) * kind.rows + block_drive_and_dissipation_rows(kind, params);
}

int direct_row_capacity(JointType type, const RowParams params[2])
{
  return block_row_capacity(linear_kind(type), &params[0]) +
         block_row_capacity(angular_kind(type), &params[1]);
}
