// The rows of joints that are solved directly: what holds each direction, at its bodies' pose.
#include "mechanism.h"

#include <math.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

static const double NO_BOUND = 1e300;
static const double ROUNDING = 1e-8; // of lengths and angles in a step
static const double FOLLOW = 1.0;    // of what stops two bodies alone, given in a substep
static const double STRAIN = 1e-4;   // share of levers, or angle: less is none

// What the laws of one block have in common.
typedef struct stating {
  const direct_context *context;
  direct_joint *joint;
  law *next; // to be stated
  const stated_row *rows;
  BlockKind kind;
  const RowParams *params;
  const RowState *state;
  double motion[2 * BODY_ROWS]; // of the bodies
  int block;
  double h, inv_h, inv_h2;
  double size;  // levers, or 1
  double least; // error
  bool relaxing;
  bool lags; // friction
} stating;

// How laws begin, by block, kind and row. Their impulses have places in the block's state, but for
// those of damping, which are not kept. Slots are in the order in which laws are stated: each row
// with its strain, then what acts along rows.
#define STATE_OF(member) (int)(offsetof(RowState, member) / sizeof(R))
#if defined(TN_SMALL)
static law_head head_of(int block, law_kind kind, int row)
{
  int state = kind <= LAW_STRAIN  ? STATE_OF(lambda)
              : kind == LAW_DRIVE ? STATE_OF(drive)
                                  : STATE_OF(resist);
  return (law_head){(uint8_t)kind, (uint8_t)block, (uint8_t)(state + row), 0, true};
}
#else
#define HEAD(block, kind, state, slot)                                                             \
  {                                                                                                \
    kind, block, (uint8_t)(state), LAW_SLOTS *(block) + (slot), true                               \
  }
#define HEADS_OF(block, kind, state, slot, step)                                                   \
  [kind] = {HEAD(block, kind, state, slot), HEAD(block, kind, (state) + 1, (slot) + (step)),       \
            HEAD(block, kind, (state) + 2, (slot) + 2 * (step))}
#define HEADS(block)                                                                               \
  {                                                                                                \
    HEADS_OF(block, LAW_LOCKED, STATE_OF(lambda), 0, 2),                                           \
        HEADS_OF(block, LAW_RANGE, STATE_OF(lambda), 0, 2),                                        \
        HEADS_OF(block, LAW_STRAIN, STATE_OF(lambda), 1, 2),                                       \
        HEADS_OF(block, LAW_DRIVE, STATE_OF(drive), 6, 0), HEADS_OF(block, LAW_DAMPING, 0, 7, 1),  \
        HEADS_OF(block, LAW_FRICTION, STATE_OF(resist), 10, 1)                                     \
  }
static const law_head LAW_HEADS[2][LAW_FRICTION + 1][3] = {HEADS(0), HEADS(1)};

static inline law_head head_of(int block, law_kind kind, int row)
{
  return LAW_HEADS[block][kind][row];
}
#endif

// A law along a row, without bounds.
static inline law *add_law(stating *s, law_kind kind, int row, const double (*of)[BODY_ROWS],
                           float weight)
{
  law *l = s->next++;
  l->j = of;
  l->rate = l->error = l->alpha = l->lambda = 0.0;
  l->soft = DIRECT_SOFTNESS * (double)weight;
  l->lo = -NO_BOUND;
  l->hi = NO_BOUND;
  l->head = head_of(s->block, kind, row);
  return l;
}

// As the step ends springs give part of their impulse ahead, and rigid rows stop.
static void fix(law *l, double lambda)
{
  l->active = false;
  l->lambda = 0.0;
  l->lo = l->hi = lambda;
}

// The share of an impulse that was given before the step began.
static double given(const stating *s, float lambda)
{
  return s->context->begins ? (double)(s->joint->given * lambda) : 0.0;
}

// The impulse that a spring gave before the step began: the share above, unless it stopped the
// motion instead. Counting the share there would shift its balance.
static double given_ahead(const stating *s, law_kind kind, int row)
{
  const RowState *state = s->state;
  return s->context->begins ? (double)(kind == LAW_DRIVE ? state->drive_load : state->load[row])
                            : 0.0;
}

// Errors that rounding explains are none: a structure that is held more than once would answer them
// with forces beyond any load.
static double beyond_rounding(const stating *s, double e)
{
  return e > s->least ? e - s->least : e < -s->least ? e + s->least : 0.0;
}

// The inverse mass that tells whether the substep resolves a spring. The world's axes do not turn
// with a joint: along them it is that of all directions.
static double spring_weight(const stating *s, int row)
{
  const stated_row *r = s->rows;
  return (double)(s->kind.world_axes ? (r[0].weight + r[1].weight + r[2].weight) / 3.0f
                                     : r[row].weight);
}

// Whether a spring, of compliance alpha over h^2, is stiffer than the substep resolves.
static bool is_stiff(const stating *s, int row, double alpha)
{
  return alpha <= spring_weight(s, row);
}

// A spring or a rigid row towards e = 0.
static law *state_spring(stating *s, law_kind kind, int row, double e, double compliance,
                         float lambda)
{
  const stated_row *of = &s->rows[row];
  double alpha = compliance * s->inv_h2;
  bool stiff = is_stiff(s, row, alpha);
  if (s->context->pass == DIRECT_RELAX && !stiff) {
    return NULL;
  }
  law *l = add_law(s, kind, row, of->j, of->weight);
  if (s->relaxing) {
    l->lambda = s->context->pass == DIRECT_RELAX ? (double)lambda : 0.0;
    if (!stiff) {
      fix(l, (double)(s->joint->lag * lambda));
    }
    return l;
  }
  l->alpha = alpha;
  l->lambda = compliance > 0.0 ? given_ahead(s, kind, row) : 0.0;
  if (compliance == 0.0) {
    l->error = beyond_rounding(s, e) * s->inv_h;
  } else if (stiff) {
    // A spring that the substep does not resolve is in error as far as its last impulse does not
    // explain its length. An impulse that is against its length, or beyond it, is of another pose.
    double length = e * s->inv_h, explained = -alpha * (double)lambda;
    bool beyond = fabs(explained) > fabs(length);
    l->rate = explained * length <= 0.0 ? 0.0 : beyond ? length : explained;
    l->error = length - l->rate;
  } else {
    l->rate = e * s->inv_h;
  }
  return l;
}

// What the last impulse does not explain of a spring that the substep does not resolve is closed as
// an error. Until then it presses as hard as it takes not to become longer, but no harder than its
// length can: others would load it without doing work.
static void state_strain(stating *s, int i, const law *spring)
{
  if (s->relaxing || !spring || spring->alpha == 0.0 ||
      fabs(spring->error) <= STRAIN * s->size * s->inv_h) {
    return;
  }
  double impulse = -spring->error / spring->alpha;
  law *l = add_law(s, LAW_STRAIN, i, spring->j, s->rows[i].weight);
  l->lo = fmin(0.0, impulse);
  l->hi = fmax(0.0, impulse);
}

// The end of a range that is crossed or has been pushing, or the nearer one.
static void state_range(stating *s, int i)
{
  const RowParams *p = s->params;
  float x = s->rows[i].x;
  float lambda = s->state->lambda[i];
  bool inside = x >= p->lo[i] && x <= p->hi[i];
  bool upper = inside && lambda != 0.0f ? lambda < 0.0f : p->hi[i] - x < x - p->lo[i];
  float end = upper ? p->hi[i] : p->lo[i];
  if (r_abs(end) >= OPEN_END || (s->relaxing && lambda == 0.0f)) {
    return;
  }
  law *l = state_spring(s, LAW_RANGE, i, (double)(x - end), (double)p->alpha_limit, lambda);
  if (!l || l->lo == l->hi) {
    return;
  }
  l->lo = upper ? -NO_BOUND : 0.0;
  l->hi = upper ? 0.0 : NO_BOUND;
  l->at_hi = upper;
  if (s->relaxing) {
    return;
  }
  if (upper ? x < end : x > end) { // an end to come is no error
    l->rate += l->error;
    l->error = 0.0;
  }
  double beyond = l->rate + l->error + along_law(l, s->motion);
  l->active = lambda != 0.0f || (upper ? beyond > 0.0 : beyond < 0.0);
  state_strain(s, i, l);
}

// Most rows are rigid, and have less to state than springs.
static inline void state_locked(stating *s, int i, double e, float compliance)
{
  float lambda = s->state->lambda[i];
  if (compliance > 0.0f) {
    state_strain(s, i, state_spring(s, LAW_LOCKED, i, e, (double)compliance, lambda));
    return;
  }
  law *l = add_law(s, LAW_LOCKED, i, s->rows[i].j, s->rows[i].weight);
  if (!s->relaxing) {
    l->error = beyond_rounding(s, e) * s->inv_h;
  } else if (s->context->pass == DIRECT_RELAX) {
    l->lambda = (double)lambda;
  }
}

KERNEL void state_rows(stating *s, BlockKind kind)
{
  const RowParams *p = s->params;
#pragma GCC unroll 3
  for (int i = 0; i < kind.rows; ++i) {
    double x = (double)s->rows[i].x;
    if (is_locked(kind, p, i)) {
      state_locked(s, i, kind.mixed ? x - (double)p->lo[i] : x, p->alpha);
    } else if (p->lo[i] == p->hi[i]) {
      state_locked(s, i, x - (double)p->lo[i], p->alpha_limit);
    } else {
      state_range(s, i);
    }
  }
}

static void bound(law *l, double most, double last)
{
  l->lo = -most;
  l->hi = most;
  if (fabs(last) >= most * (1.0 - 1e-6)) {
    l->active = false;
    l->at_hi = last > 0.0;
  }
}

static double clamp(double x, double lo, double hi)
{
  return fmax(lo, fmin(x, hi));
}

// A servo that is stiffer than the substep resolves approaches its target by motion, at a bounded
// speed. Its offset is no error of position: errors are removed apart from the velocities by rows
// that hold a position, and drives, whose force has a limit, are not among them. What its last
// impulse explains of the offset is the deflection under its load, which stays; `offset` counts
// from where the target is as the substep begins.
static void limit_approach(const stating *s, law *l, double target_rate, double last)
{
  const substep *now = &s->context->data->substep;
  double fastest = (double)(s->block ? now->turn : now->push);
  double offset = l->rate + l->error + target_rate;
  double held = clamp(-l->alpha * last, fmin(0.0, offset), fmax(0.0, offset));
  l->rate = held + clamp(offset - held, -fastest, fastest) - target_rate;
  l->error = 0.0;
}

static void state_servo(stating *s)
{
  const Drive *d = &s->params->drive;
  Pass pass = {.inv_h = (float)s->inv_h, .time = s->context->data->substep.time};
  Rows rows = {.x = {s->rows->x}};
  double e = (double)drive_error(&pass, d, &rows, s->block);
  double most = (double)d->max * s->h;
  double last = (double)s->state->drive;
  bool spent = fabs(last) >= most * (1.0 - 1e-6);
  if (s->context->pass == DIRECT_RELAX && spent) {
    return;
  }
  law *l = state_spring(s, LAW_DRIVE, 0, e, (double)d->alpha, s->state->drive);
  if (!l || l->lo == l->hi) {
    return;
  }
  if (s->relaxing && spent) {
    fix(l, (double)s->joint->lag * last);
    return;
  }
  double rate = (double)d->rate;
  bound(l, s->context->pass == DIRECT_AHEAD ? 0.5 * most : most, last);
  if (s->relaxing) {
    l->rate = -rate;
    return;
  }
  l->lambda = given_ahead(s, LAW_DRIVE, 0);
  if (is_stiff(s, 0, l->alpha)) {
    limit_approach(s, l, rate, last);
  }
}

static void state_drive(stating *s)
{
  const Drive *d = &s->params->drive;
  if (d->mode == DRIVE_TARGET) {
    state_servo(s);
    return;
  }
  if (d->mode == 0.0f || s->context->pass == DIRECT_RELAX) {
    return;
  }
  law *l = add_law(s, LAW_DRIVE, 0, s->rows[0].j, s->rows[0].weight);
  double most = (double)d->max * s->h;
  if (s->relaxing) {
    fix(l, (double)(s->joint->lag * s->state->drive));
  } else if (d->mode == DRIVE_FORCE) {
    fix(l, fmax(-most, fmin((double)d->force * s->h, most)));
    l->lambda = given(s, s->state->drive);
  } else {
    l->lambda = given(s, s->state->drive);
    l->rate = -(double)d->velocity;
    bound(l, most, (double)s->state->drive);
  }
}

// Spins about the world's axes.
static const double AXES[3][2][BODY_ROWS] = {
    {{0.0, 0.0, 0.0, -1.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0, 0.0, 0.0}},
    {{0.0, 0.0, 0.0, 0.0, -1.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 1.0, 0.0}},
    {{0.0, 0.0, 0.0, 0.0, 0.0, -1.0}, {0.0, 0.0, 0.0, 0.0, 0.0, 1.0}},
};

// Friction and damping act along row 0, or along all of the world's axes.
static float resisted_weight(const stating *s, int i)
{
  return s->kind.vector_resist ? s->rows[i].axis_weight : s->rows->weight;
}

static law *add_resistance(stating *s, law_kind kind, int i)
{
  const stated_row *axes =
      &s->context->set->stated[s->joint->first_row + stated_rows(s->joint->type) - 3];
  const double(*axis)[BODY_ROWS] = s->block ? AXES[i] : axes[i].j;
  return add_law(s, kind, i, s->kind.vector_resist ? axis : s->rows->j, resisted_weight(s, i));
}

// Implicit, and exact for two bodies that nothing else holds.
static void state_damping(stating *s, int i)
{
  law *l = add_resistance(s, LAW_DAMPING, i);
  double decay = (double)r_exp(s->params->damping * (float)s->h) - 1.0;
  l->alpha = (double)resisted_weight(s, i) / fmax(decay, 1e-12);
}

static void state_friction(stating *s, int count)
{
  double most = (double)s->params->friction * s->h;
  bool slides = count == 3 && v_length(s->state->resist) >= (float)most * 0.999999f;
  const float last[3] = {s->state->resist.x, s->state->resist.y, s->state->resist.z};
  for (int i = 0; i < count; ++i) {
    law *l = add_resistance(s, LAW_FRICTION, i);
    if (s->context->pass == DIRECT_RELAX) {
      fix(l, (double)s->joint->resist[s->block][i]);
      l->lambda = (double)last[i];
      continue;
    }
    if (s->relaxing) {
      fix(l, (double)(s->joint->lag * last[i]));
      continue;
    }
    l->lambda = given(s, last[i]);
    if (count == 1 && !s->lags) {
      bound(l, most, (double)last[i]);
    } else if (slides || s->lags) {
      l->active = false;
      l->lo = l->hi = (double)last[i];
    }
  }
}

static void state_resist(stating *s)
{
  if (s->context->pass == DIRECT_RELAX && !s->lags) {
    return;
  }
  int count = s->kind.vector_resist ? 3 : 1;
  for (int i = 0; i < count && s->params->damping > 0.0f && !s->relaxing; ++i) {
    state_damping(s, i);
  }
  if (s->params->friction > 0.0f) {
    state_friction(s, count);
  }
}

KERNEL bool has_law(const RowParams *params, BlockKind kind)
{
  return has_free_axis(kind) &&
         (params->drive.mode != 0.0f || params->damping > 0.0f || params->friction > 0.0f);
}

KERNEL void state_block(stating *s, JointType type, int block, double size)
{
  direct_joint *j = s->joint;
  BlockKind kind = block ? angular_kind(type) : linear_kind(type);
  s->block = block;
  s->kind = kind;
  s->params = &j->params[block];
  s->state = &j->state[block];
  s->rows = &s->context->set->stated[j->first_row + 3 * block];
  s->size = size;
  s->least = ROUNDING * size;
  state_rows(s, kind);
  if (has_law(s->params, kind)) {
    state_drive(s);
    state_resist(s);
  }
}

KERNEL void both_blocks(stating *s, JointType type, double size)
{
  state_block(s, type, 0, size);
  state_block(s, type, 1, 1.0);
}

static void joint_laws(stating *s, direct_joint *j)
{
  const mechanism_set *set = s->context->set;
  direct_motion(s->context, j, s->motion);
  s->joint = j;
  s->next = &set->laws[j->first_law];
  float size = set->rows_blocks[j->place / BLOCK_WIDTH].size[j->place % BLOCK_WIDTH];
  switch (j->type) {
#if !defined(__OPTIMIZE_SIZE__)
  case TYPE_HINGE: // those that occur most, with their type known to the compiler
    both_blocks(s, TYPE_HINGE, (double)size);
    break;
  case TYPE_BALL:
    both_blocks(s, TYPE_BALL, (double)size);
    break;
#endif
  default:
    both_blocks(s, j->type, (double)size);
    break;
  }
  j->law_count = (int16_t)(s->next - &set->laws[j->first_law]);
  for (int i = 0; i < 2; ++i) { // what was given ahead is now in the laws
    memset(j->state[i].load, 0, sizeof j->state[i].load);
    j->state[i].drive_load = 0.0f;
  }
}

void direct_state(const direct_context *c, const mechanism *m)
{
  for (int32_t i = m->first_rows; i < m->last_rows; ++i) {
    rows_block *block = &c->set->rows_blocks[i];
    team_stated *team = block->team_row < 0 ? NULL : &c->set->team_stated[block->team_row];
    c->direct->state(c->data, block, &c->set->stated[block->first_row], team);
  }
}

// Where a substep ends the next one begins: rows are stated once for both.
static void state_once(const direct_context *c, mechanism *m)
{
  if (m->stated != c->pose) {
    direct_state(c, m);
    m->stated = c->pose;
  }
}

void direct_laws(const direct_context *c, mechanism *m)
{
  state_once(c, m);
  stating s = {.context = c, .lags = lags(m)};
  s.h = (double)c->data->substep.h;
  s.inv_h = 1.0 / s.h;
  s.inv_h2 = s.inv_h * s.inv_h;
  s.relaxing = c->pass == DIRECT_RELAX || c->pass == DIRECT_AHEAD;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    joint_laws(&s, &c->set->joints[i]);
  }
}

// A step towards the impulse that stops the motion. All joints take it at once, and neighbours may
// double each other's.
static void follow_motion(direct_joint *j, const law *l, int count, double h, const double *motion)
{
  double most = (double)j->params[l->block].friction * h;
  double next[3], weight = 0.0, square = 0.0;
  for (int i = 0; i < count; ++i) {
    weight += l[i].soft / DIRECT_SOFTNESS;
  }
  for (int i = 0; i < count; ++i) {
    next[i] = l[i].lambda - FOLLOW * along_law(&l[i], motion) / weight;
    square += next[i] * next[i];
  }
  double scale = square > most * most ? most / sqrt(square) : 1.0;
  for (int i = 0; i < count; ++i) {
    j->resist[l->block][i] = (float)(scale * next[i]);
  }
}

void direct_follow_motion(const direct_context *c, direct_joint *j, const double *motion)
{
  for (int k = 0; k < j->law_count; ++k) {
    const law *l = &c->set->laws[j->first_law + k];
    if (l->kind == LAW_FRICTION) {
      int count = resists_all_ways(j, l) ? 3 : 1;
      follow_motion(j, l, count, (double)c->data->substep.h, motion);
      k += count - 1;
    }
  }
}

static int block_resisting_laws(BlockKind kind, const RowParams *params)
{
  if (!has_law(params, kind)) {
    return 0;
  }
  int axes = kind.vector_resist ? 3 : 1;
  return (params->drive.mode != 0.0f ? 1 : 0) + (params->damping > 0.0f ? axes : 0) +
         (params->friction > 0.0f ? axes : 0);
}

static int block_usual_rows(BlockKind kind, const RowParams *params)
{
  int count = block_resisting_laws(kind, params);
  for (int i = 0; i < kind.rows; ++i) {
    count += is_locked(kind, params, i) || params->lo[i] == params->hi[i];
  }
  return count;
}

int direct_usual_rows(JointType type, const RowParams params[2])
{
  return block_usual_rows(linear_kind(type), &params[0]) +
         block_usual_rows(angular_kind(type), &params[1]);
}

static int block_law_capacity(BlockKind kind, const RowParams *params)
{
  bool springs = params->alpha > 0.0f || params->alpha_limit > 0.0f;
  return (springs ? 2 : 1) * kind.rows + block_resisting_laws(kind, params);
}

int direct_law_capacity(JointType type, const RowParams params[2])
{
  return block_law_capacity(linear_kind(type), &params[0]) +
         block_law_capacity(angular_kind(type), &params[1]);
}
