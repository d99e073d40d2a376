// Builds the scalar rows of directly solved joints at the current pose (Müller et al. 2020, sec.
// 3.3 and 3.4, in impulse form). With C the coordinate of a row:
//
//     rigid          C / h + J v = 0                             C / h is the error
//     spring         C / H + J v + (alpha / H^2) lambda = 0      eq. 4 divided by H, see
//     axis_rows.c stiff spring   rate = -(alpha / h^2) lambda_last           C / h - rate is the
//     error limit          a rigid or spring row, lambda <= 0 at the upper end, >= 0 at the lower
//     one axes           axis_rows.c
//
// w is the row's inverse mass. A spring is stiff if alpha / h^2 <= w: the substep does not resolve
// it. It closes as a rigid joint does, but only for as much of its length as its last impulse does
// not explain.
#include "solver/mechanism/joint_rows.h"

#include "base/dtrig.h"

#include <math.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

// Heads of position rows. `state` is the place of the impulse in RowState. `slot` is the order in
// which rows are built: each position row with its stiff spring, then the axes.
static inline joint_row_head row_head_of(int block, joint_row_kind kind, int row)
{
  int slot = ROW_SLOTS * block + 2 * row + (kind == ROW_STIFF_SPRING);
  return (joint_row_head){.kind = (uint8_t)kind,
                          .block = (uint8_t)block,
                          .state = (uint8_t)row,
                          .slot = (uint8_t)slot,
                          .active = true};
}

// Impulse that a position row gave in the half kick before the step. A stiff one stopped
// the motion with whatever that took; assuming a share of the last impulse instead would shift its
// balance.
static double given_ahead(const row_builder *s, int row)
{
  return s->context->first_substep ? (double)s->state->load[row] : 0.0;
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
// joint: there it is the mean of all three, as if the points met. The lever arm of a pair that has
// come apart belongs to the axes across the spring's force, and would make a long spring stiff.
static double spring_inverse_mass(const row_builder *s, int row)
{
  const jacobian_row *r = s->rows;
  return (double)(s->kind.world_axes
                      ? (r[0].axis_inverse_mass + r[1].axis_inverse_mass + r[2].axis_inverse_mass) /
                            3.0f
                      : r[row].inverse_mass);
}

// Whether a spring with alpha = compliance / h^2 is stiffer than the substep resolves.
static bool is_stiff(const row_builder *s, int row, double alpha)
{
  return alpha <= (RULE(mechanism_stiff_springs) ? spring_inverse_mass(s, row) : 0.0);
}

// A spring that the substep resolves: its force is taken after the share theta of the substep, and
// the rest of its impulse follows the drift, see axis_rows.c. Limits are implicit, theta = 1: what
// is pending when a limit opens would pull. So are springs of joints that hold several
// positions, and of mechanisms whose joints contradict each other: corrections there bring energy,
// which the midpoint rule would keep (test stress, mixed graphs).
static void set_spring(const row_builder *s, joint_row *l, int row, double e, double compliance)
{
  bool implicit = s->in_error || s->joint->type != TYPE_DISTANCE;
  double share =
      implicit ? 1.0 : implicit_share(1.0 / compliance, 0.0, s->h, spring_inverse_mass(s, row));
  double h = share * s->h, before = (double)s->state->pending[row];
  s->joint->spring_before[s->block][row] = (float)before;
  s->joint->spring_after[s->block][row] = (float)((1.0 - share) / share);
  l->alpha = compliance / (h * h);
  l->rate = e / h - l->alpha * before;
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
  joint_row *l = add_row(s, row_head_of(s->block, kind, row), of->j, of->inverse_mass);
  float *after = &s->joint->spring_after[s->block][row];
  if (s->relaxing) {
    l->lambda = s->context->pass == DIRECT_RELAX ? (double)lambda : 0.0;
    if (!stiff) {
      bool pending = *after > 0.0f;
      fix_impulse(l, pending ? half_impulse((double)*after, lambda)
                             : (double)(s->joint->half_kick_share * lambda));
    }
    return l;
  }
  *after = 0.0f;
  l->alpha = alpha;
  l->lambda = compliance > 0.0 ? given_ahead(s, row) : 0.0;
  if (compliance == 0.0) {
    l->error = apply_deadband(s, e) * s->inv_h;
  } else if (stiff) {
    s->joint->state[s->block].pending[row] = 0.0f;
    // An impulse against the length, or more than it can give, stems from another pose: it explains
    // nothing, or all of the length.
    double length = e * s->inv_h, explained = -alpha * (double)lambda;
    bool beyond = fabs(explained) > fabs(length);
    l->rate = explained * length <= 0.0 ? 0.0 : beyond ? length : explained;
    l->rate = RULE(mechanism_spring_impulse) ? l->rate : explained;
    l->error = length - l->rate;
  } else if (kind == ROW_LIMIT) {
    l->rate = e * s->inv_h;
  } else {
    set_spring(s, l, row, e, compliance);
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
  joint_row *l =
      add_row(s, row_head_of(s->block, ROW_STIFF_SPRING, i), spring->j, s->rows[i].inverse_mass);
  l->lo = fmin(0.0, impulse);
  l->hi = fmax(0.0, impulse);
}

// The rate of an angular row.
static double angular_rate(const row_builder *s, const double *n)
{
  const double *wa = s->motion + 3, *wb = s->motion + BODY_ROWS + 3;
  return n[0] * (wb[0] - wa[0]) + n[1] * (wb[1] - wa[1]) + n[2] * (wb[2] - wa[2]);
}

// Whether the swing of a ball joint goes through half a turn in this substep, within the range of
// its twist. The range ends in a point there and goes on behind it with its ends exchanged: the
// angles y from the lower and the upper end (turn_to_twist() in kernel/joint.h) are above and below
// zero before, below and above zero behind it. A limit may not stop what it finds there. With e the
// axis of the swing, u along a1 + a2, S and C of half the swing, d half of twist - end,
//     sin(y / 2) = C sin d,   n cos(y / 2) = u cos d - e S sin d   is the gradient of y.
static bool passes_half_a_turn(const row_builder *s, int i, double y, double end, double other)
{
  if (s->joint->type != TYPE_BALL || s->block == 0 || i != 0 ||
      s->rows[1].x < TUNING_TWIST_PASSING_SWING || fabs(other) >= (double)UNLIMITED) {
    return false;
  }
  const double *n = (const double *)s->rows[0].j + BODY_ROWS + 3;
  const double *e = (const double *)s->rows[1].j + BODY_ROWS + 3;
  double sine, cosine, turn_sine, turn_cosine, half_sine, g;
  d_sine_cosine(0.5 * (double)s->rows[1].x, &sine, &cosine);
  d_sine_cosine(0.5 * (end - other), &turn_sine, &turn_cosine);
  d_sine_cosine(0.5 * y, &half_sine, &g);
  double sin_d = -(n[0] * e[0] + n[1] * e[1] + n[2] * e[2]) * g / sine;
  double cos_d = sqrt(at_least(1.0 - sin_d * sin_d, TUNING_TWIST_MIN_COSINE2));
  double rate = angular_rate(s, n), along_e = sine * angular_rate(s, e);
  double along_u = (g * rate + sin_d * along_e) / cos_d;
  // The same from the other end.
  double sin_o = sin_d * turn_cosine + cos_d * turn_sine;
  double cos_o = cos_d * turn_cosine - sin_d * turn_sine;
  double g_o = sqrt(1.0 - cosine * cosine * sin_o * sin_o);
  double y_o = 2.0 * d_atan2(cosine * sin_o, g_o);
  double side = end > other ? 1.0 : -1.0;
  return side * (y + s->h * rate) > 0.0 &&
         side * (y_o + s->h * (cos_o * along_u - sin_o * along_e) / g_o) < 0.0;
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
  float other = upper ? p->lo[i] : p->hi[i];
  if (r_abs(end) >= UNLIMITED || (s->relaxing && lambda == 0.0f) ||
      passes_half_a_turn(s, i, (double)(x - end), (double)end, (double)other)) {
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
  joint_row *l =
      add_row(s, row_head_of(s->block, ROW_LOCKED, i), s->rows[i].j, s->rows[i].inverse_mass);
  if (s->context->pass != DIRECT_HALF_KICK) {
    l->error = apply_deadband(s, e) * s->inv_h;
  }
  if (s->context->pass == DIRECT_RELAX) {
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
  if (j->axis_count > 0 && has_free_axis(kind)) {
    add_axis_rows(s);
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
  row_builder s = {.context = c, .lags_friction = lags_friction(m), .in_error = m->split_impulse};
  for (int i = 0; i < 2; ++i) {
    s.most_regularization[i] = RULE(mechanism_light_links)
                                   ? TUNING_LIGHT_LINK_REGULARIZATION / (double)m->largest_mass[i]
                                   : (double)INFINITY;
  }
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
static void update_lagged_friction(direct_axis *axes, const joint_row *l, int count, double h,
                                   const double *motion)
{
  double most = (double)axes->params.friction * h;
  double next[3], inverse_mass = 0.0, square = 0.0;
  for (int i = 0; i < count; ++i) {
    inverse_mass += (double)axes[i].inverse_mass;
  }
  for (int i = 0; i < count; ++i) {
    next[i] =
        l[i].lambda - TUNING_LAGGED_FRICTION_GAIN * row_velocity(&l[i], motion) / inverse_mass;
    square += next[i] * next[i];
  }
  double scale = square > most * most ? most / sqrt(square) : 1.0;
  for (int i = 0; i < count; ++i) {
    axes[i].next_friction = scale * next[i];
  }
}

void direct_update_lagged_friction(const direct_context *c, const direct_joint *j,
                                   const double *motion)
{
  for (int k = 0; k < j->joint_row_count; ++k) {
    const joint_row *l = &c->set->joint_rows[j->first_joint_row + k];
    if (l->kind == ROW_FRICTION) {
      int count = friction_is_vector(j, l) ? 3 : 1;
      update_lagged_friction(row_axis(c->set, j, l), l, count, (double)c->data->substep.h, motion);
      k += count - 1;
    }
  }
}

// Rows of the axes of a block: one for each feature.
static int block_axis_rows(BlockKind kind, uint32_t features, int block)
{
  uint32_t left = features >> (block ? 3 * AXIS_FEATURE_BITS : 0);
  int count = 0;
  for (int i = 0; i < 3 * AXIS_FEATURE_BITS && has_free_axis(kind); ++i) {
    count += (int)(left >> i & 1);
  }
  return count;
}

static int block_typical_rows(BlockKind kind, const RowParams *params)
{
  int count = 0;
  for (int i = 0; i < kind.rows; ++i) {
    count += is_locked(kind, params, i) || params->lo[i] == params->hi[i];
  }
  return count;
}

static int axis_rows(JointType type, uint32_t features)
{
  return block_axis_rows(linear_kind(type), features, 0) +
         block_axis_rows(angular_kind(type), features, 1);
}

int direct_typical_rows(JointType type, const RowParams params[2], uint32_t axis_features)
{
  return block_typical_rows(linear_kind(type), &params[0]) +
         block_typical_rows(angular_kind(type), &params[1]) + axis_rows(type, axis_features);
}

static int block_row_capacity(BlockKind kind, const RowParams *params)
{
  bool springs = params->alpha > 0.0f || params->alpha_limit > 0.0f;
  return (springs ? 2 : 1) * kind.rows;
}

int direct_row_capacity(JointType type, const RowParams params[2], uint32_t axis_features)
{
  return block_row_capacity(linear_kind(type), &params[0]) +
         block_row_capacity(angular_kind(type), &params[1]) + axis_rows(type, axis_features);
}
