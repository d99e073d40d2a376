// Rows of couplings at the current pose. With c the coordinate, u = J v its rate and lambda an
// impulse conjugate to it:
//
//     rigid range     error = (c - end) / h,  J v = 0;  one-sided between different ends
//     a force law     lambda = h (k (x0 - c - theta h u) + d (u0 - (1 - eta) u_old - eta u) + f)
//
// The second is the spring (x0 the rest value), the drive (x0 the target, u0 its velocity, f its
// force) and a compliant end of the range. As a row it has the softness and the rate
//
//     alpha = 1 / (h (theta h k + eta d)),  rate = -alpha h (k (x0 - c) + d (u0 - (1 - eta) u_old)
//     + f).
//
// theta = 0 is symplectic: a spring that the substep resolves keeps its energy. It would be
// unstable beyond h^2 k w = 4, with w the inverse mass, so theta = 1 - 1 / (h^2 k w) from
// h^2 k w = 1 on, which tends to the implicit form. eta = 1/2 is the midpoint form of a damper,
// exact to second order, and eta = 1 - 1 / (h d w) from h d w = 2 on. u_old is the rate before the
// kick: a damper must not resist a load that the other forces balance.
#include "solver/joint/coupling_value.h"
#include "solver/mechanism/mechanism.h"

#include <math.h>

_Static_assert(TN_LANES == 1, "this file works on one coupling at a time");

typedef struct coupling_builder {
  const direct_context *context;
  direct_coupling *to;
  const tn_coupling_def *def;
  joint_row *next;
  double h, u; // u: rate before the solve, after the kick
  bool relaxing;
} coupling_builder;

// J M^-1 J^T of the bodies alone.
static double inverse_mass_of(const direct_context *c, const direct_coupling *d)
{
  double sum = 0.0;
  for (int32_t i = d->first_side; i < d->first_side + d->side_count; ++i) {
    const coupling_side *side = &c->set->coupling_sides[i];
    const double *j = c->set->coupling_jacobians[i];
    if (side->node >= 0) {
      const float *ii = c->data->inertia[side->body].inverse;
      double inverse_mass = (double)c->data->state[side->body].inverse_mass;
      sum += inverse_mass * (j[0] * j[0] + j[1] * j[1] + j[2] * j[2]) +
             (double)ii[0] * j[3] * j[3] + (double)ii[1] * j[4] * j[4] +
             (double)ii[2] * j[5] * j[5] +
             2.0 * ((double)ii[3] * j[3] * j[4] + (double)ii[4] * j[3] * j[5] +
                    (double)ii[5] * j[4] * j[5]);
    }
  }
  return sum;
}

static void evaluate(const direct_context *c, direct_coupling *d)
{
  if (d->pose == c->pose) {
    return;
  }
  // A step begins at the pose where the last one ended.
  double elapsed = d->pose == NO_SLOT ? 0.0 : (double)c->data->substep.h;
  double(*j)[BODY_ROWS] = c->set->coupling_jacobians + d->first_side;
  coupling_inputs in = {c->bodies, c->joints, c->data->state};
  d->value = coupling_value(&c->couplings[d->coupling], &in, elapsed, d->coordinate, j);
  d->inverse_mass = inverse_mass_of(c, d);
  d->pose = c->pose;
}

static joint_row *add_row(coupling_builder *s, joint_row_kind kind, coupling_part part)
{
  const mechanism_set *set = s->context->set;
  joint_row *l = s->next++;
  l->j = (const double(*)[BODY_ROWS])(set->coupling_jacobians + s->to->first_side);
  l->rate = l->error = l->alpha = l->lambda = 0.0;
  l->regularization = TUNING_COUPLING_REGULARIZATION * s->to->inverse_mass;
  l->lo = -UNBOUNDED_IMPULSE;
  l->hi = UNBOUNDED_IMPULSE;
  l->head = (joint_row_head){.kind = (uint8_t)kind, .state = (uint8_t)part, .active = true};
  return l;
}

static void fix_impulse(joint_row *l, double lambda)
{
  l->active = false;
  l->lo = l->hi = lambda;
}

static double ahead_of(const coupling_builder *s, coupling_part part)
{
  return s->context->first_substep ? s->to->impulse_ahead[part] : 0.0;
}

// The force k (x0 - c) + d (u0 - u) + f, bounded by [lo, hi] in N; x0 moves with x0_rate.
typedef struct force_law {
  double k, x0, x0_rate, d, u0, f;
  double lo, hi;
} force_law;

static void add_force(coupling_builder *s, coupling_part part, const force_law *law)
{
  double h = s->h, last = s->to->impulse[part];
  if (s->context->pass == DIRECT_RELAX) {
    return;
  }
  joint_row *l = add_row(s, ROW_DRIVE, part);
  if (s->relaxing) {
    fix_impulse(l, s->to->half_kick_share * last);
    return;
  }
  double stiff = h * h * law->k * s->to->inverse_mass, damped = h * law->d * s->to->inverse_mass;
  double theta = stiff > 1.0 ? 1.0 - 1.0 / stiff : 0.0;
  double eta = damped > 2.0 ? 1.0 - 1.0 / damped : 0.5;
  double x0 = law->x0 + theta * h * law->x0_rate;
  double share = s->context->first_substep ? s->to->first_share * h : h;
  double given = share * (law->k * (x0 - s->to->value) +
                          law->d * (law->u0 - (1.0 - eta) * s->to->last_rate) + law->f);
  double slope = share * (theta * h * law->k + eta * law->d);
  l->lambda = ahead_of(s, part);
  if (slope == 0.0) {
    fix_impulse(l, fmax(h * law->lo, fmin(given, h * law->hi)));
    return;
  }
  l->alpha = 1.0 / slope;
  l->rate = -l->alpha * given;
  l->lo = isfinite(law->lo) ? h * law->lo : -UNBOUNDED_IMPULSE;
  l->hi = isfinite(law->hi) ? h * law->hi : UNBOUNDED_IMPULSE;
  double predicted = given - slope * s->u;
  l->active = predicted > l->lo && predicted < l->hi;
  l->at_hi = predicted >= l->hi;
}

// A compliant range: a spring at the end that is crossed or nearer, and a damper while it is
// crossed. Its bounds keep it from pulling; other rows may drive c beyond the end within the solve,
// so that the row is there before.
static void add_soft_range(coupling_builder *s, bool equal, bool upper, double end)
{
  double k = 1.0 / (double)s->def->compliance, none = INFINITY;
  force_law law = {k, end, 0.0, (double)s->def->range_damping, 0.0, 0.0, -none, none};
  if (!equal) {
    law.lo = upper ? -none : 0.0;
    law.hi = upper ? 0.0 : none;
    double beyond = s->to->value + s->h * s->u - end;
    law.d = (upper ? beyond > 0.0 : beyond < 0.0) ? law.d : 0.0;
  }
  add_force(s, COUPLING_RANGE, &law);
}

// As add_locked_row() and add_limit_row() of joint_rows.c.
static void add_range(coupling_builder *s)
{
  double lo = (double)s->def->range.lo, hi = (double)s->def->range.hi, x = s->to->value;
  double last = s->to->impulse[COUPLING_RANGE];
  bool equal = lo == hi, inside = x >= lo && x <= hi;
  bool upper = inside && last != 0.0 ? last < 0.0 : hi - x < x - lo;
  double end = upper ? hi : lo;
  if (!isfinite(end)) {
    return;
  }
  if (s->def->compliance > 0.0f) {
    add_soft_range(s, equal, upper, end);
    return;
  }
  if (!equal && s->relaxing && last == 0.0) {
    return;
  }
  joint_row *l = add_row(s, equal ? ROW_LOCKED : ROW_LIMIT, COUPLING_RANGE);
  if (!equal) {
    l->lo = upper ? -UNBOUNDED_IMPULSE : 0.0;
    l->hi = upper ? 0.0 : UNBOUNDED_IMPULSE;
    l->at_hi = upper;
  }
  if (s->relaxing) {
    l->lambda = s->context->pass == DIRECT_RELAX ? last : 0.0;
    return;
  }
  l->error = (x - end) / s->h;
  if (!equal) {
    if (upper ? x < end : x > end) { // an end not yet reached is no error
      l->rate = l->error;
      l->error = 0.0;
    }
    double beyond = l->rate + l->error + s->u;
    l->active = last != 0.0 || (upper ? beyond > 0.0 : beyond < 0.0);
  }
}

static void add_friction(coupling_builder *s)
{
  double most = (double)s->def->friction * s->h, last = s->to->impulse[COUPLING_FRICTION];
  if (s->context->pass == DIRECT_RELAX) {
    return;
  }
  joint_row *l = add_row(s, ROW_FRICTION, COUPLING_FRICTION);
  if (s->relaxing) {
    fix_impulse(l, s->to->half_kick_share * last);
    return;
  }
  l->lambda = ahead_of(s, COUPLING_FRICTION);
  l->lo = -most;
  l->hi = most;
  if (fabs(last) >= most * (1.0 - TUNING_SATURATION_SLACK)) {
    l->active = false;
    l->at_hi = last > 0.0;
  }
}

static void build(coupling_builder *s)
{
  const tn_coupling_def *def = s->def;
  const tn_coupling_drive *drive = &def->drive;
  add_range(s);
  if (s->context->ranges_only) {
    return;
  }
  if (def->stiffness > 0.0f || def->damping > 0.0f) {
    force_law law = {(double)def->stiffness,
                     (double)def->rest,
                     0.0,
                     (double)def->damping,
                     0.0,
                     0.0,
                     -INFINITY,
                     INFINITY};
    add_force(s, COUPLING_SPRING, &law);
  }
  if (drive->stiffness > 0.0f || drive->damping > 0.0f || drive->force != 0.0f) {
    double now = (double)s->context->data->substep.time - s->h;
    force_law law = {(double)drive->stiffness, s->to->target + now * s->to->target_rate,
                     s->to->target_rate,       (double)drive->damping,
                     (double)drive->velocity,  (double)drive->force,
                     (double)drive->limits.lo, (double)drive->limits.hi};
    add_force(s, COUPLING_DRIVE, &law);
  }
  if (def->friction > 0.0f) {
    add_friction(s);
  }
}

void couplings_build_rows(const direct_context *c, const mechanism *m)
{
  coupling_builder s = {.context = c, .h = (double)c->data->substep.h};
  s.relaxing = c->pass == DIRECT_RELAX || c->pass == DIRECT_HALF_KICK;
  for (int32_t i = m->first_coupling; i < m->last_coupling; ++i) {
    s.to = &c->set->couplings[i];
    s.def = &c->couplings[s.to->coupling].def;
    s.next = &c->set->joint_rows[s.to->first_joint_row];
    evaluate(c, s.to);
    s.u = coupling_velocity(c, s.to);
    if (s.to->inverse_mass > 0.0) { // else nothing moves c
      build(&s);
    }
    for (int part = 0; part < COUPLING_PARTS; ++part) { // now in lambda
      s.to->impulse_ahead[part] = 0.0;
    }
    s.to->joint_row_count = (int32_t)(s.next - &c->set->joint_rows[s.to->first_joint_row]);
  }
}
