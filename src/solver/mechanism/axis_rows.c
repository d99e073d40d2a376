// Rows of the free axes of directly solved joints: drives, springs, damping, armature, friction.
//
// An axis has the coordinate q and the rate u = J v. A force k (q* - q) + d (u* - u) + f is taken
// after the share theta of the substep, H = theta h, at q + H u (the one-leg theta method): the row
//     u + e lambda = (k (q* - q) + d u* + f) / (d + H k),    e = 1 / (H (d + H k))
// gives the impulse lambda = H * force before the drift. The rest of the substep's impulse, (1 -
// theta) / theta lambda, follows the drift; it is "pending" and given with the next substep's
// impulse. Limits bound lambda by H times the force. The half kick that ends a step gives half of
// the substep's impulse, lambda / (2 theta), as it does of all forces: at rest velocities are then
// zero.
//
// theta = 1/2 is the implicit midpoint rule: second order, and a spring without damping keeps its
// energy whatever h. But what the substep does not resolve would swing for ever at the rate of the
// substeps; theta = 1 is implicit Euler, which comes to rest. implicit_share() goes from one to the
// other as h^2 k w grows, w the inverse mass of the axis.
//
// The rate of the drift is not J v: as bodies turn, their angular velocities and J change. u is
// that of the middle, J v + g with g = h / 2 (J v)' of free bodies, see bend_of(). J v lags by
// half a substep: dampers and armature would be of first order.
//
// Armature I: impulse -I (u - u_old) with u_old the rate after the last solve, before kicks and
// contacts. Spring, damping and armature of an axis are one row with
//     1 / e = H (d + H k) + I.
#include "kernel/axes.h"
#include "solver/mechanism/joint_rows.h"

#include <math.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

// Damping that the substep does not resolve, x = h d w > 2, would make the rate alternate: theta
// goes to 1 as x grows, so that a substep leaves at most a third of it. What hangs on the axis may
// make the true x smaller by far, and then theta must stay near 1/2: it goes slowly.
double implicit_share(double k, double d, double h, double w)
{
  double stiffness = h * h * k * w, decay = h * d * w;
  if (stiffness >= TUNING_RIGID_STIFFNESS) {
    return 1.0;
  }
  double share = (stiffness - TUNING_RESOLVED_STIFFNESS) /
                 (TUNING_RIGID_STIFFNESS - TUNING_RESOLVED_STIFFNESS);
  double square = decay * decay;
  return 0.5 + 0.5 * fmax(fmax(share, 0.0), square / (TUNING_UNRESOLVED_DAMPING + square));
}

double mechanism_inverse_mass(const AxisParams *p, double w)
{
  return p->inertia > 0.0f ? fmin(w, 1.0 / (double)p->inertia) : w;
}

// Inverse mass that decides whether the substep resolves the forces of an axis.
static double resolved_inverse_mass(const AxisParams *p, double w)
{
  return mechanism_inverse_mass(p, w / (1.0 + w * (double)p->armature));
}

// Jacobians of the relative angular velocity about the world axes.
static const double AXES[3][2][BODY_ROWS] = {
    {{0.0, 0.0, 0.0, -1.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0, 0.0, 0.0}},
    {{0.0, 0.0, 0.0, 0.0, -1.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 1.0, 0.0}},
    {{0.0, 0.0, 0.0, 0.0, 0.0, -1.0}, {0.0, 0.0, 0.0, 0.0, 0.0, 1.0}},
};

// One axis of the block under construction.
typedef struct axis_builder {
  row_builder *rows;
  direct_axis *axis;
  int index;                           // among the joint's axes
  double q_target, q_rest;             // q - target at the end of the substep, q - rest
  double target_turning, rest_turning; // what turning adds to the rates of these, see turning_of()
  double rate;                         // of the target
  double velocity, force;              // of the drive
  double w;                            // inverse mass of the bodies along the axis
  double bend;                         // of the rate by half a drift, see bend_of()
} axis_builder;

// Slots of axis rows: axis by axis, but kind by kind for a ball joint, whose friction is a vector.
static joint_row *add_axis_row(const axis_builder *b, joint_row_kind kind)
{
  row_builder *s = b->rows;
  int row = b->axis->row, k = (int)kind - ROW_DRIVE;
  int slot = FIRST_AXIS_SLOT + (s->kind.ball_axes ? 3 * k + row : 3 * row + k);
  joint_row_head head = {.kind = (uint8_t)kind,
                         .block = (uint8_t)s->block,
                         .state = (uint8_t)b->index,
                         .slot = (uint8_t)(ROW_SLOTS * s->block + slot),
                         .active = true};
  return add_row(s, head, s->kind.ball_axes ? AXES[row] : s->rows[row].j, (float)b->w);
}

// Springs and dampers are never redundant: their own compliance is enough.
static void set_softness(joint_row *l, double alpha)
{
  l->alpha = alpha;
  l->regularization = fmin(l->regularization, alpha);
}

// Bounds the impulse; a row whose last impulse was at a bound begins inactive.
static void bound_impulse(joint_row *l, double lo, double hi, double last)
{
  l->lo = lo;
  l->hi = hi;
  double slack = 1.0 - TUNING_SATURATION_SLACK;
  if (last >= hi * slack && hi < UNBOUNDED_IMPULSE) {
    l->active = false;
    l->at_hi = true;
  } else if (last <= lo * slack && lo > -UNBOUNDED_IMPULSE) {
    l->active = false;
    l->at_hi = false;
  }
}

// Part of `lambda` given in the half kick before the step.
static double half_kick_impulse(const row_builder *s, float lambda)
{
  return s->context->first_substep ? (double)(s->joint->half_kick_done * lambda) : 0.0;
}

// ---------------------------------------------------------------------------------------------
// Drives

typedef struct drive_limits {
  double lo, hi; // N or N m
} drive_limits;

// The drive is within its limits, and with spring and damping within max_effort: where these exceed
// it by themselves the drive takes back the rest.
static drive_limits limits_of(const axis_builder *b)
{
  const AxisParams *p = &b->axis->params;
  drive_limits limits = {(double)p->lo, (double)p->hi};
  if (p->effort < TUNING_MAX_FORCE) {
    double effort = (double)p->effort, rate = (double)b->axis->state.rate;
    double middle = b->q_rest + 0.5 * b->rows->h * rate;
    double other = -(double)p->spring * middle - (double)p->damping * rate;
    limits.lo = clamp(limits.lo, -effort - other, effort - other);
    limits.hi = clamp(limits.hi, -effort - other, effort - other);
  }
  return limits;
}

static bool is_spent(const AxisState *state, drive_limits limits, double h)
{
  double slack = 1.0 - TUNING_SATURATION_SLACK, last = (double)state->drive;
  return last >= limits.hi * h * slack || last <= limits.lo * h * slack;
}

// A rigid or stiff servo approaches its target by motion, at a bounded speed. Its offset is no
// position error: split impulses are for rows that hold a position, and a drive has a force limit.
// The part of the offset that the last impulse explains is the deflection under load, and stays.
// `offset` is relative to the target at the start of the substep.
static void limit_approach(const row_builder *s, joint_row *l, double target_rate, double last)
{
  const substep *now = &s->context->data->substep;
  double fastest = (double)(s->block ? now->max_angular_bias : now->max_linear_bias);
  double offset = l->rate + target_rate;
  double held = clamp(-l->alpha * last, fmin(0.0, offset), fmax(0.0, offset));
  l->rate = held + clamp(offset - held, -fastest, fastest) - target_rate;
}

// A servo without motion of its own in RELAX and HALF_KICK: it keeps the rate of its target, or
// with damping the rate that it gave.
static void add_relaxed_servo(const axis_builder *b, drive_limits limits, bool damped)
{
  row_builder *s = b->rows;
  const AxisState *state = &b->axis->state;
  bool half_kick = s->context->pass == DIRECT_HALF_KICK, spent = is_spent(state, limits, s->h);
  if (spent && !half_kick) {
    return;
  }
  joint_row *l = add_axis_row(b, ROW_DRIVE);
  if (spent) {
    fix_impulse(l, (double)(s->joint->half_kick_share * state->drive));
    return;
  }
  double h = half_kick ? 0.5 * s->h : s->h;
  bound_impulse(l, h * limits.lo, h * limits.hi, (double)state->drive);
  l->lambda = half_kick ? 0.0 : (double)state->drive;
  l->rate = damped ? -(double)state->rate : -b->rate;
}

static void add_rigid_servo(const axis_builder *b, drive_limits limits)
{
  row_builder *s = b->rows;
  if (s->relaxing) {
    add_relaxed_servo(b, limits, false);
    return;
  }
  joint_row *l = add_axis_row(b, ROW_DRIVE);
  l->rate = b->q_target * s->inv_h;
  bound_impulse(l, s->h * limits.lo, s->h * limits.hi, (double)b->axis->state.drive);
  l->lambda = s->context->first_substep ? (double)b->axis->state.drive_load : 0.0;
  if (RULE(mechanism_servo_approach)) {
    limit_approach(s, l, b->rate, (double)b->axis->state.drive);
  }
}

// What turning adds to an angle until the share of the substep, where the substep resolves the
// force.
static double turned(double turning, double share, double h)
{
  return 2.0 * (1.0 - share) * share * h * turning;
}

// A drive with finite stiffness and damping.
static void add_soft_drive(const axis_builder *b, drive_limits limits)
{
  row_builder *s = b->rows;
  direct_axis *a = b->axis;
  const AxisParams *p = &a->params;
  double k = (double)p->k, d = (double)p->d;
  if (s->relaxing) {
    if (a->drive_after == 0.0) {
      add_relaxed_servo(b, limits, d > 0.0);
    } else if (s->context->pass == DIRECT_HALF_KICK) {
      fix_impulse(add_axis_row(b, ROW_DRIVE), half_impulse(a->drive_after, a->state.drive));
    }
    return;
  }
  double w = resolved_inverse_mass(p, b->w);
  double share = implicit_share(k, d, s->h, w), h = share * s->h, strength = d + h * k;
  double offset = b->q_target + b->rate * (s->h - h) + turned(b->target_turning, share, s->h);
  joint_row *l = add_axis_row(b, ROW_DRIVE);
  a->drive_before = (double)a->state.drive_pending;
  a->drive_after = (1.0 - share) / share;
  set_softness(l, 1.0 / (h * strength));
  l->rate = -(d * b->velocity + b->force - k * offset) / strength;
  if (share == 1.0 && d == 0.0 && RULE(mechanism_servo_approach)) {
    limit_approach(s, l, b->rate, (double)a->state.drive);
  }
  l->rate += b->bend - l->alpha * a->drive_before;
  bound_impulse(l, h * limits.lo, h * limits.hi, (double)a->state.drive);
  l->lo += a->drive_before;
  l->hi += a->drive_before;
  l->lambda = s->context->first_substep ? (double)a->state.drive_load : 0.0;
}

// A force acts as that of a resolved spring: half before the drift, and the rest is pending.
static void add_force(const axis_builder *b, drive_limits limits)
{
  row_builder *s = b->rows;
  direct_axis *a = b->axis;
  if (s->context->pass == DIRECT_RELAX) {
    return;
  }
  joint_row *l = add_axis_row(b, ROW_DRIVE);
  if (s->relaxing) {
    fix_impulse(l, half_impulse(a->drive_after, a->state.drive));
    return;
  }
  a->drive_before = (double)a->state.drive_pending;
  a->drive_after = 1.0;
  fix_impulse(l, 0.5 * s->h * clamp(b->force, limits.lo, limits.hi) + a->drive_before);
  l->lambda = s->context->first_substep ? (double)a->state.drive_load : 0.0;
}

static void add_motor(const axis_builder *b, drive_limits limits)
{
  row_builder *s = b->rows;
  float last = b->axis->state.drive;
  if (s->context->pass == DIRECT_RELAX) {
    return;
  }
  joint_row *l = add_axis_row(b, ROW_DRIVE);
  if (s->relaxing) {
    fix_impulse(l, (double)(s->joint->half_kick_share * last));
    return;
  }
  l->lambda = half_kick_impulse(s, last);
  l->rate = -b->velocity;
  bound_impulse(l, s->h * limits.lo, s->h * limits.hi, (double)last);
}

static void add_drive_row(const axis_builder *b)
{
  direct_axis *a = b->axis;
  bool shares = a->params.mode == MODE_SOFT || a->params.mode == MODE_FORCE;
  if (!shares && !b->rows->relaxing) {
    a->drive_before = a->drive_after = 0.0;
    a->state.drive_pending = 0.0f;
  }
  if (a->params.mode == MODE_NONE) {
    a->state.drive = a->state.drive_load = 0.0f;
    return;
  }
  drive_limits limits = limits_of(b);
  if (a->params.mode == MODE_SOFT) {
    add_soft_drive(b, limits);
  } else if (a->params.mode == MODE_SERVO) {
    add_rigid_servo(b, limits);
  } else if (a->params.mode == MODE_FORCE) {
    add_force(b, limits);
  } else {
    add_motor(b, limits);
  }
}

// ---------------------------------------------------------------------------------------------
// Spring, damping and armature

// In RELAX and HALF_KICK: what is pending, the armature, and a spring that the substep does not
// resolve keeps its rate.
static void add_relaxed_passive(const axis_builder *b)
{
  row_builder *s = b->rows;
  const direct_axis *a = b->axis;
  double inertia = (double)a->params.armature, rate = (double)a->state.rate;
  bool half_kick = s->context->pass == DIRECT_HALF_KICK;
  double pending = half_kick ? half_impulse(a->passive_after, a->state.passive) : 0.0;
  if (a->params.spring > 0.0f && a->passive_after == 0.0) {
    add_axis_row(b, ROW_PASSIVE)->rate = -rate;
  } else if (inertia > 0.0) {
    joint_row *l = add_axis_row(b, ROW_PASSIVE);
    set_softness(l, 1.0 / inertia);
    l->rate = -rate - pending / inertia;
  } else if (pending != 0.0) {
    fix_impulse(add_axis_row(b, ROW_PASSIVE), pending);
  }
}

static void add_passive_row(const axis_builder *b)
{
  row_builder *s = b->rows;
  direct_axis *a = b->axis;
  if (s->relaxing) {
    add_relaxed_passive(b);
    return;
  }
  const AxisParams *p = &a->params;
  double k = (double)p->spring, d = (double)p->damping, inertia = (double)p->armature;
  a->passive_before = (double)a->state.passive_pending;
  a->passive_after = 0.0;
  a->old_rate = (double)a->state.rate;
  if (k == 0.0 && d == 0.0 && inertia == 0.0) {
    a->state.passive = a->state.passive_pending = 0.0f;
    return;
  }
  double share = implicit_share(k, d, s->h, resolved_inverse_mass(p, b->w)), h = share * s->h;
  double strength = h * (d + h * k) + inertia;
  joint_row *l = add_axis_row(b, ROW_PASSIVE);
  a->passive_after = (1.0 - share) / share;
  set_softness(l, 1.0 / strength);
  double rest = b->q_rest + turned(b->rest_turning, share, s->h);
  l->rate = b->bend - (a->passive_before - h * k * rest + inertia * a->old_rate) / strength;
  l->lambda = s->context->first_substep ? (double)a->state.passive_load : 0.0;
}

// ---------------------------------------------------------------------------------------------
// Friction

// Holds with J v = 0 up to its bound. Lagged friction, and friction of a ball joint that slides,
// begin as fixed impulses. Friction of a ball joint is a vector of three rows.
static void add_friction_row(const axis_builder *b)
{
  row_builder *s = b->rows;
  const AxisState *state = &b->axis->state;
  double most = (double)b->axis->params.friction * s->h;
  if (most == 0.0) {
    b->axis->state.friction = 0.0f;
    return;
  }
  if (s->context->pass == DIRECT_RELAX && !s->lags_friction) {
    return;
  }
  joint_row *l = add_axis_row(b, ROW_FRICTION);
  b->axis->inverse_mass = (float)b->w;
  if (s->context->pass == DIRECT_RELAX) {
    fix_impulse(l, b->axis->next_friction);
    l->lambda = (double)state->friction;
    return;
  }
  if (s->relaxing) {
    fix_impulse(l, (double)(s->joint->half_kick_share * state->friction));
    return;
  }
  l->lambda = half_kick_impulse(s, state->friction);
  bool slides = false;
  if (s->kind.ball_axes) {
    const direct_axis *first = b->axis - b->axis->row;
    V last = v_make(first[0].state.friction, first[1].state.friction, first[2].state.friction);
    slides = v_length(last) >= (float)most * (1.0f - (float)TUNING_SATURATION_SLACK);
  }
  if (!s->kind.ball_axes && !s->lags_friction) {
    bound_impulse(l, -most, most, (double)state->friction);
  } else if (slides || s->lags_friction) {
    l->active = false;
    l->lo = l->hi = (double)state->friction;
  }
}

// ---------------------------------------------------------------------------------------------

static Q quaternion_of(const float *q)
{
  Q r = {q[0], q[1], q[2], q[3]};
  return r;
}

// The axes of a ball joint, which are those of the world.
typedef struct ball_drive {
  V turn[2];               // from the target at the end of the substep, and from the rest, rad
  V turning[2];            // of these
  V rate, velocity, force; // of the target; of the drive
} ball_drive;

static V axis_vector(Q frame, float a, float b, float c)
{
  return q_rotate(frame, v_make(a, b, c));
}

static V rate_of_turn(const row_builder *s, int side)
{
  const float *w = s->context->data->state[s->joint->body[side]].w;
  return v_make(w[0], w[1], w[2]);
}

// A rotation vector t between bodies that turn at a and b changes, in world axes, at the rate
//     b - a + (a + b) x t / 2 + f t x (t x (b - a)),    f = (1 - |t|/2 cot |t|/2) / |t|^2:
// rows have the first part, this is the rest. Without it the force in the middle of the substep is
// that of a wrong angle: an error of first order.
static V turning_of(V t, V a, V b)
{
  R angle = v_length(t);
  SinCos half = r_sincos(0.5f * angle);
  R f = 1.0f / 12.0f;
  if (angle > 0.1f) {
    f = (1.0f - 0.5f * angle * half.cos / half.sin) / (angle * angle);
  }
  V mean = v_scale(0.5f, v_add(a, b));
  return v_add(v_cross(mean, t), v_scale(f, v_cross(t, v_cross(t, v_sub(b, a)))));
}

static void find_ball_drive(const row_builder *s, const direct_axis *axes, ball_drive *to)
{
  const direct_joint *j = s->joint;
  const jacobian_block *block = &s->context->set->jacobian_blocks[j->jacobian_lane / BLOCK_WIDTH];
  JointStart start;
  get_lane((float(*)[BLOCK_WIDTH])block->start, j->jacobian_lane % BLOCK_WIDTH, &start,
           FIELDS(JointStart));
  Body a = {0}, b = {0};
  a.dq = flush_tiny_rotation(quaternion_of(s->context->data->state[j->body[0]].dq));
  b.dq = flush_tiny_rotation(quaternion_of(s->context->data->state[j->body[1]].dq));
  Axes all = {{axes[0].params, axes[1].params, axes[2].params}};
  Q frame = joint_frame(&start, &a);
  const AxisParams *p = all.params;
  ball_turns(frame, joint_relative(&start, &a, &b), &all, s->context->data->substep.time, to->turn);
  V turn_a = rate_of_turn(s, 0), turn_b = rate_of_turn(s, 1);
  for (int i = 0; i < 2; ++i) {
    to->turning[i] = turning_of(to->turn[i], turn_a, turn_b);
  }
  to->rate = axis_vector(frame, p[0].rate, p[1].rate, p[2].rate);
  to->velocity = axis_vector(frame, p[0].velocity, p[1].velocity, p[2].velocity);
  to->force = axis_vector(frame, p[0].force, p[1].force, p[2].force);
}

// ---------------------------------------------------------------------------------------------
// What turning adds to rates

static V vector_of_row(const double *j)
{
  return v_make((float)j[0], (float)j[1], (float)j[2]);
}

// What the turning of a body adds to the rate of an axis in a unit of time: its gyration w' = I^-1
// (L x w) along the row, and that of a slide along n also n . (w x (w x r)), with w x r from the
// rows of all three axes. L and w are those of the last drift: what kicks and impulses have added
// since is of a higher order.
static R bend_by(const row_builder *s, int side, const double (*row)[BODY_ROWS])
{
  const solver_data *data = s->context->data;
  int32_t slot = s->joint->body[side], lane = slot % BLOCK_WIDTH;
  float(*spin)[BLOCK_WIDTH] = data->bodies[slot / BLOCK_WIDTH].spin;
  const float *k = data->inertia[slot].inverse;
  _Static_assert(offsetof(AngularState, last) == 3 * sizeof(R), "L and w come first");
  V l = v_make(spin[0][lane], spin[1][lane], spin[2][lane]);
  V w = v_make(spin[3][lane], spin[4][lane], spin[5][lane]);
  V gyration = s_mul((S){k[0], k[1], k[2], k[3], k[4], k[5]}, v_cross(l, w));
  R sum = v_dot(vector_of_row(row[side] + 3), gyration);
  for (int i = 0; s->block == 0 && i < 3; ++i) {
    const double(*j)[BODY_ROWS] = s->rows[i].j;
    R along = v_dot(v_cross(vector_of_row(row[1]), w), vector_of_row(j[1]));
    sum += along * v_dot(w, vector_of_row(j[side] + 3));
  }
  return sum;
}

// h / 2 (J v)' of an axis while nothing but inertia acts: half of what the drift adds to its rate.
// Zero for slow turns, and fades where the substep does not resolve them.
static double bend_of(const row_builder *s, const direct_axis *axis)
{
  const double *m = s->motion;
  double most = TUNING_BENT_TURN_MAX * TUNING_BENT_TURN_MAX;
  double square =
      s->h * s->h *
      fmax(m[3] * m[3] + m[4] * m[4] + m[5] * m[5], m[9] * m[9] + m[10] * m[10] + m[11] * m[11]);
  if (!RULE(mechanism_bent_rates) || s->relaxing || axis->features == AXIS_FRICTION ||
      square <= TUNING_BENT_TURN_MIN * TUNING_BENT_TURN_MIN || square >= most) {
    return 0.0;
  }
  const double(*j)[BODY_ROWS] = s->kind.ball_axes ? AXES[axis->row] : s->rows[axis->row].j;
  R bend = 0.0f;
  for (int side = 0; side < 2; ++side) {
    bend += s->joint->body_node[side] >= 0 ? bend_by(s, side, j) : 0.0f;
  }
  return 0.5 * s->h * (1.0 - square / most) * (double)bend;
}

// ---------------------------------------------------------------------------------------------

static axis_builder begin_axis(row_builder *s, int index, const ball_drive *ball)
{
  direct_axis *a = &s->context->set->axes[s->joint->first_axis + index];
  const jacobian_row *row = &s->rows[a->row];
  axis_builder b = {.rows = s, .axis = a, .index = index};
  b.w = (double)(s->kind.ball_axes ? row->axis_inverse_mass : row->inverse_mass);
  a->bend = b.bend = bend_of(s, a);
  if (a->features == AXIS_FRICTION) {
    return b; // friction asks for no position
  }
  if (s->kind.ball_axes) {
    b.q_target = (double)v_component(ball->turn[0], a->row);
    b.q_rest = (double)v_component(ball->turn[1], a->row);
    b.target_turning = (double)v_component(ball->turning[0], a->row);
    b.rest_turning = (double)v_component(ball->turning[1], a->row);
    b.rate = (double)v_component(ball->rate, a->row);
    b.velocity = (double)v_component(ball->velocity, a->row);
    b.force = (double)v_component(ball->force, a->row);
    return b;
  }
  b.rate = (double)a->params.rate;
  b.velocity = (double)a->params.velocity;
  b.force = (double)a->params.force;
  float target = row->x - (a->params.target + a->params.rate * s->context->data->substep.time);
  float rest = row->x - a->params.rest;
  bool wraps = s->block && s->kind.mixed; // the rotation vector jumps at half a turn
  b.q_target = (double)(wraps ? r_wrap_angle(target) : target);
  b.q_rest = (double)(wraps ? r_wrap_angle(rest) : rest);
  return b;
}

// Rows of an axis for those of its features that are in `features`.
static void add_rows_of(row_builder *s, int index, const ball_drive *ball, uint32_t features)
{
  features &= s->context->set->axes[s->joint->first_axis + index].features;
  if (features == 0) {
    return;
  }
  axis_builder b = begin_axis(s, index, ball);
  if (features & AXIS_DRIVE) {
    add_drive_row(&b);
  }
  if (features & AXIS_PASSIVE) {
    add_passive_row(&b);
  }
  if (features & AXIS_FRICTION) {
    add_friction_row(&b);
  }
}

void add_axis_rows(row_builder *s)
{
  ball_drive ball = {0};
  int first = 0, last = 0;
  const direct_axis *axes = &s->context->set->axes[s->joint->first_axis];
  while (first < s->joint->axis_count && axes[first].block != s->block) {
    first += 1;
  }
  for (last = first; last < s->joint->axis_count && axes[last].block == s->block;) {
    last += 1;
  }
  if (s->kind.ball_axes && first < last && axes[first].features != AXIS_FRICTION) {
    find_ball_drive(s, &axes[first], &ball);
  }
  // In the order of slots.
  const uint32_t all = AXIS_DRIVE | AXIS_PASSIVE | AXIS_FRICTION;
  const uint32_t kinds[3] = {AXIS_DRIVE, AXIS_PASSIVE, AXIS_FRICTION};
  for (int k = 0; k < (s->kind.ball_axes ? 3 : 1); ++k) {
    for (int i = first; i < last; ++i) {
      add_rows_of(s, i, &ball, s->kind.ball_axes ? kinds[k] : all);
    }
  }
  for (int i = first; i < last; ++i) { // impulses given in the half kick are now in lambda
    direct_axis *a = &s->context->set->axes[s->joint->first_axis + i];
    a->state.drive_load = a->state.passive_load = 0.0f;
  }
}

void direct_add_axes(mechanism_set *set, direct_joint *d)
{
  d->first_axis = set->axis_count;
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    uint32_t features = d->axis_features >> (AXIS_FEATURE_BITS * i) & 15u;
    if (features != 0) {
      direct_axis *a = &set->axes[set->axis_count++];
      memset(a, 0, sizeof *a);
      a->features = features;
      a->block = (int8_t)(i / 3);
      a->row = (int8_t)(i % 3);
      d->axis_count += 1;
    }
  }
}

// Impulse and rate of a drive or a passive row after a solve. u follows from the row: rate - g + u
// + alpha lambda = 0.
void axis_store_impulse(direct_axis *a, const joint_row *l, direct_pass pass)
{
  bool half_kick = pass == DIRECT_HALF_KICK;
  double u = a->bend - l->rate - l->alpha * l->lambda;
  AxisState *state = &a->state;
  if (half_kick) {
    if (l->kind == ROW_DRIVE) {
      state->drive_load = a->drive_after > 0.0 ? 0.0f : (float)l->lambda;
      state->drive_pending -= a->drive_after > 0.0 ? (float)l->lambda : state->drive_pending;
    } else {
      bool stiff = a->params.spring > 0.0f && a->passive_after == 0.0;
      state->passive_load = stiff ? (float)l->lambda : 0.0f;
      state->passive_pending -=
          stiff ? state->passive_pending : (float)half_impulse(a->passive_after, state->passive);
      state->rate = l->active ? (float)u : state->rate;
    }
    return;
  }
  if (pass == DIRECT_RELAX) {
    state->drive = l->kind == ROW_DRIVE ? (float)l->lambda : state->drive;
    state->rate = l->kind == ROW_PASSIVE && l->alpha > 0.0 ? (float)u : state->rate;
    return;
  }
  if (l->kind == ROW_DRIVE) {
    double now = l->lambda - a->drive_before;
    state->drive = (float)now;
    state->drive_pending = (float)(a->drive_after * now);
    state->rate = l->active && l->alpha > 0.0 ? (float)u : state->rate;
    return;
  }
  double now = l->lambda - a->passive_before + (double)a->params.armature * (u - a->old_rate);
  state->passive = (float)now;
  state->passive_pending = (float)(a->passive_after * now);
  state->rate = (float)u;
}
