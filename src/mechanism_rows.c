// The rows of joints that are solved directly: what holds each direction, at its bodies' pose.
#include "mechanism.h"

#include <math.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

static const double NO_BOUND = 1e300;
static const double ROUNDING = 1e-8; // of lengths and angles in a step

// What the laws of one block have in common.
typedef struct stating {
  const direct_context *context;
  direct_joint *joint;
  law *laws;
  Body body[2];
  BlockKind kind;
  const RowParams *params;
  const RowState *state;
  Rows rows;
  int block;
  double h, inv_h, inv_h2;
  double least; // error
  bool relaxing;
} stating;

static Body body_now(const solver_data *data, int32_t slot)
{
  const body_state *s = &data->state[slot];
  Body b;
  b.v = v_make(s->v[0], s->v[1], s->v[2]);
  b.w = v_make(s->w[0], s->w[1], s->w[2]);
  b.im = s->inverse_mass;
  memcpy(&b.ii, data->inertia[slot].inverse, sizeof b.ii);
  b.dx = v_make(s->dx[0], s->dx[1], s->dx[2]);
  Q dq = {s->dq[0], s->dq[1], s->dq[2], s->dq[3]};
  b.dq = seen_turn(dq);
  return b;
}

KERNEL void set_row(double *to, V linear, V angular)
{
  to[0] = (double)linear.x;
  to[1] = (double)linear.y;
  to[2] = (double)linear.z;
  to[3] = (double)angular.x;
  to[4] = (double)angular.y;
  to[5] = (double)angular.z;
}

KERNEL V opposite(V a)
{
  return v_make(-a.x, -a.y, -a.z);
}

// What the bodies have for inverse mass along n.
KERNEL float weight_along(const stating *s, V n)
{
  return v_dot(n, s_mul(s->rows.k, n));
}

// A law along n, where the inverse mass is w, without bounds.
KERNEL law *add_law(stating *s, law_kind kind, int row, V n, float w)
{
  direct_joint *j = s->joint;
  law *l = &s->laws[j->law_count++];
  if (s->block == 1) {
    set_row(l->j[0], v_zero(), opposite(n));
    set_row(l->j[1], v_zero(), n);
  } else {
    set_row(l->j[0], opposite(n), v_cross(n, s->rows.levers.a));
    set_row(l->j[1], n, v_cross(s->rows.levers.b, n));
  }
  l->rate = l->error = l->alpha = l->lambda = 0.0;
  l->soft = DIRECT_SOFTNESS * (double)w;
  l->lo = -NO_BOUND;
  l->hi = NO_BOUND;
  l->kind = (uint8_t)kind;
  l->block = (uint8_t)s->block;
  l->row = (uint8_t)row;
  l->active = true;
  l->at_hi = false;
  l->trials = 0;
  return l;
}

// How fast the row moves, as bodies move now.
static double row_velocity(const stating *s, const law *l)
{
  double u = 0.0;
  for (int side = 0; side < 2; ++side) {
    const Body *b = &s->body[side];
    const double *j = l->j[side];
    u += j[0] * (double)b->v.x + j[1] * (double)b->v.y + j[2] * (double)b->v.z +
         j[3] * (double)b->w.x + j[4] * (double)b->w.y + j[5] * (double)b->w.z;
  }
  return u;
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

// Errors that rounding explains are none: a structure that is held more than once would answer them
// with forces beyond any load.
static double rounding_of(const stating *s)
{
  double size = 1.0;
  if (s->block == 0) { // levers that turn: of what stands still they may be as long as the world
    V none = v_zero();
    size = (double)(v_length(s->body[0].im > 0.0f ? s->rows.levers.a : none) +
                    v_length(s->body[1].im > 0.0f ? s->rows.levers.b : none));
  }
  return ROUNDING * size;
}

static double beyond_rounding(const stating *s, double e)
{
  return e > s->least ? e - s->least : e < -s->least ? e + s->least : 0.0;
}

// A spring or a rigid row towards e = 0.
static law *state_spring(stating *s, law_kind kind, int row, double e, double compliance,
                         float lambda)
{
  V n = axis_of(s->kind, &s->rows, row);
  float w = weight_along(s, n);
  double alpha = compliance * s->inv_h2;
  bool stiff = alpha <= (double)w;
  if (s->context->pass == DIRECT_RELAX && !stiff) {
    return NULL;
  }
  law *l = add_law(s, kind, row, n, w);
  if (s->relaxing) {
    l->lambda = s->context->pass == DIRECT_RELAX ? (double)lambda : 0.0;
    if (!stiff) {
      fix(l, (double)(s->joint->lag * lambda));
    }
    return l;
  }
  l->alpha = alpha;
  l->lambda = compliance > 0.0 ? given(s, lambda) : 0.0;
  if (compliance == 0.0) {
    l->error = beyond_rounding(s, e) * s->inv_h;
  } else if (stiff) {
    // A spring that the substep does not resolve is in error as far as its last impulse does not
    // explain its length.
    l->rate = -alpha * (double)lambda;
    l->error = e * s->inv_h - l->rate;
  } else {
    l->rate = e * s->inv_h;
  }
  return l;
}

// The nearer end of a range, or the one that has been pushing.
static void state_range(stating *s, int i)
{
  const RowParams *p = s->params;
  float x = s->rows.x[i];
  float lambda = s->state->lambda[i];
  bool upper = lambda != 0.0f ? lambda < 0.0f : p->hi[i] - x < x - p->lo[i];
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
  double beyond = l->rate + l->error + row_velocity(s, l);
  l->active = lambda != 0.0f || (upper ? beyond > 0.0 : beyond < 0.0);
}

static void state_rows(stating *s)
{
  const RowParams *p = s->params;
  for (int i = 0; i < s->kind.rows; ++i) {
    double x = (double)s->rows.x[i];
    if (is_locked(s->kind, p, i)) {
      double e = s->kind.mixed ? x - (double)p->lo[i] : x;
      state_spring(s, LAW_LOCKED, i, e, (double)p->alpha, s->state->lambda[i]);
    } else if (p->lo[i] == p->hi[i]) {
      state_spring(s, LAW_LOCKED, i, x - (double)p->lo[i], (double)p->alpha_limit,
                   s->state->lambda[i]);
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

static void state_servo(stating *s)
{
  const Drive *d = &s->params->drive;
  Pass pass = {.inv_h = (float)s->inv_h, .time = s->context->data->substep.time};
  double e = (double)drive_error(&pass, d, &s->rows, s->block);
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
  } else if (d->alpha == 0.0f) { // where the target goes is no error
    const substep *now = &s->context->data->substep;
    double fastest = (double)(s->block ? now->turn : now->push);
    l->rate = fmax(-fastest, fmin(l->error + rate, fastest)) - rate;
    l->error = 0.0;
    l->lambda = given(s, s->state->drive);
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
  V n = axis_of(s->kind, &s->rows, 0);
  law *l = add_law(s, LAW_DRIVE, 0, n, weight_along(s, n));
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

// Implicit, and exact for two bodies that nothing else holds.
static void state_damping(stating *s, int row, V n)
{
  if (s->relaxing) {
    return;
  }
  float w = weight_along(s, n);
  law *l = add_law(s, LAW_DAMPING, row, n, w);
  double decay = (double)r_exp(s->params->damping * (float)s->h) - 1.0;
  l->alpha = (double)w / fmax(decay, 1e-12);
}

static void state_resist(stating *s)
{
  int count = s->kind.vector_resist ? 3 : 1;
  const float last[3] = {s->state->resist.x, s->state->resist.y, s->state->resist.z};
  V axes[3] = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
  if (count == 1) {
    axes[0] = axis_of(s->kind, &s->rows, 0);
  }
  for (int i = 0; i < count && s->params->damping > 0.0f; ++i) {
    state_damping(s, i, axes[i]);
  }
  if (s->params->friction == 0.0f || s->context->pass == DIRECT_RELAX) {
    return;
  }
  double most = (double)s->params->friction * s->h;
  bool slides = count == 3 && v_length(s->state->resist) >= (float)most * 0.999999f;
  for (int i = 0; i < count; ++i) {
    law *l = add_law(s, LAW_FRICTION, i, axes[i], weight_along(s, axes[i]));
    if (s->relaxing) {
      fix(l, (double)(s->joint->lag * last[i]));
      continue;
    }
    l->lambda = given(s, last[i]);
    if (count == 1) {
      bound(l, most, (double)last[i]);
    } else if (slides) {
      l->active = false;
      l->lo = l->hi = (double)last[i];
    }
  }
}

static bool has_law(const RowParams *params, BlockKind kind)
{
  return has_free_axis(kind) &&
         (params->drive.mode != 0.0f || params->damping > 0.0f || params->friction > 0.0f);
}

static void state_block(stating *s, int block)
{
  direct_joint *j = s->joint;
  s->block = block;
  s->kind = block ? angular_kind(j->type) : linear_kind(j->type);
  s->params = &j->params[block];
  s->state = &j->state[block];
  if (s->kind.rows == 0) {
    return;
  }
  if (block) {
    angular_rows(j->type, &j->start, s->params, &s->body[0], &s->body[1], &s->rows);
    s->rows.k = angular_inverse_mass(&s->body[0], &s->body[1]);
  } else {
    linear_rows(j->type, &j->start, &s->body[0], &s->body[1], &s->rows);
    s->rows.k = linear_inverse_mass(&s->body[0], &s->body[1], s->rows.levers.a, s->rows.levers.b);
  }
  s->least = rounding_of(s);
  state_rows(s);
  if (has_law(s->params, s->kind)) {
    state_drive(s);
    state_resist(s);
  }
}

void direct_laws(const direct_context *c, direct_joint *j)
{
  stating s = {.context = c, .joint = j};
  s.laws = &c->set->laws[j->first_law];
  s.body[0] = body_now(c->data, j->body[0]);
  s.body[1] = body_now(c->data, j->body[1]);
  s.h = (double)c->data->substep.h;
  s.inv_h = 1.0 / s.h;
  s.inv_h2 = s.inv_h * s.inv_h;
  s.relaxing = c->pass == DIRECT_RELAX || c->pass == DIRECT_AHEAD;
  j->law_count = 0;
  state_block(&s, 0);
  state_block(&s, 1);
}

static int block_locked_rows(BlockKind kind, const RowParams *params)
{
  int count = 0;
  for (int i = 0; i < kind.rows; ++i) {
    count += is_locked(kind, params, i) || params->lo[i] == params->hi[i];
  }
  return count;
}

int direct_locked_rows(JointType type, const RowParams params[2])
{
  return block_locked_rows(linear_kind(type), &params[0]) +
         block_locked_rows(angular_kind(type), &params[1]);
}

static int block_law_capacity(BlockKind kind, const RowParams *params)
{
  int count = kind.rows;
  if (has_law(params, kind)) {
    int axes = kind.vector_resist ? 3 : 1;
    count += (params->drive.mode != 0.0f ? 1 : 0) + (params->damping > 0.0f ? axes : 0) +
             (params->friction > 0.0f ? axes : 0);
  }
  return count;
}

int direct_law_capacity(JointType type, const RowParams params[2])
{
  return block_law_capacity(linear_kind(type), &params[0]) +
         block_law_capacity(angular_kind(type), &params[1]);
}

void direct_keep(const direct_context *c, direct_joint *j)
{
  for (int i = 0; i < j->law_count; ++i) {
    const law *l = &c->set->laws[j->first_law + i];
    RowState *state = &j->state[l->block];
    float lambda = (float)l->lambda;
    switch (l->kind) {
    case LAW_DRIVE:
      state->drive = lambda;
      break;
    case LAW_FRICTION:
      *(l->row == 0   ? &state->resist.x
        : l->row == 1 ? &state->resist.y
                      : &state->resist.z) = lambda;
      break;
    case LAW_DAMPING:
      break;
    default:
      state->lambda[l->row] = lambda;
      break;
    }
  }
}
