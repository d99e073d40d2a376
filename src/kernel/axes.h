// What acts along the free axes of a joint in the iterative methods: drives, springs, damping, dry
// friction and armature. The direct solver has its own form of them, axis_rows.c.
//
// With coordinate q, rate u and the force k (q* - q) + d (u* - u) + f taken at the end of the
// substep (implicit Euler), the impulse lambda of a substep satisfies
//     u + e lambda = (k (q* - q) + d u* + f) / (d + h k),    e = 1 / (h (d + h k)),
// with h times the limits as bounds of lambda. A rigid servo has e = 0 and asks for (q* - q) / h, a
// rigid motor asks for u*. In position form, k acts in the position stage and d in the velocity
// stage; the bounds hold for their sum.
#ifndef TENON_KERNEL_AXES_H
#define TENON_KERNEL_AXES_H

#include "kernel/rows.h"

KERNEL V axis_direction(BlockKind kind, const Rows *rows, int i)
{
  if (kind.ball_axes) {
    return v_make(splat(i == 0), splat(i == 1), splat(i == 2));
  }
  return axis_of(kind, rows, i);
}

KERNEL R v_component(V v, int i)
{
  return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

KERNEL R axis_rate(BlockKind kind, const Rows *rows, int i, V u)
{
  return kind.ball_axes ? v_component(u, i) : row_component(kind, rows, i, u);
}

KERNEL R axis_mass(BlockKind kind, const Rows *rows, int i)
{
  return s_diagonal(kind.ball_axes ? rows->k : rows->k_rows, i);
}

// Number of axes of a block: locked rows have none.
KERNEL int axis_count(BlockKind kind)
{
  return kind.ball_axes || kind.mixed    ? 3
         : kind.first_locked < kind.rows ? kind.first_locked
                                         : kind.rows;
}

// q - target at the end of the substep, and q - rest.
KERNEL R drive_offset(BlockKind kind, const Pass *pass, const AxisParams *p, const Rows *rows,
                      int i, int angular)
{
  if (kind.ball_axes) {
    return v_component(rows->turn[0], i);
  }
  R e = rows->x[i] - (p->target + p->rate * pass->time);
  return angular && kind.mixed ? r_wrap_angle(e) : e; // the rotation vector jumps at half a turn
}

KERNEL R rest_offset(BlockKind kind, const AxisParams *p, const Rows *rows, int i, int angular)
{
  if (kind.ball_axes) {
    return v_component(rows->turn[1], i);
  }
  R e = rows->x[i] - p->rest;
  return angular && kind.mixed ? r_wrap_angle(e) : e;
}

KERNEL void add_axis_impulse(BlockKind kind, const Rows *rows, int i, R d, V *u, V *total)
{
  V p = v_scale(d, axis_direction(kind, rows, i));
  *u = v_add(*u, s_mul(rows->k, p));
  *total = v_add(*total, p);
}

// The drive's impulse within its limits and, with spring and damping, within max_effort.
KERNEL R clamp_drive(const Pass *pass, const AxisParams *p, const AxisState *state, R wanted)
{
  R most = p->effort * pass->h, least = -most - state->passive;
  wanted = r_clamp(wanted, p->lo * pass->h, p->hi * pass->h);
  return r_clamp(wanted, least, most - state->passive);
}

// Drive in velocity form.
KERNEL void solve_axis_drive(BlockKind kind, const Pass *pass, const AxisParams *p,
                             const Rows *rows, int i, int angular, AxisState *state, V *u, V *total)
{
  M finite = p->mode == MODE_SOFT, servo = p->mode == MODE_SERVO, motor = p->mode == MODE_MOTOR;
  R none = splat(0.0f), tiny = splat(TUNING_MIN_DIVISOR);
  R e = drive_offset(kind, pass, p, rows, i, angular);
  R max_bias = (angular ? pass->max_angular_bias : pass->max_linear_bias) + r_abs(p->rate);
  R strength = p->d + pass->h * p->k;
  R alpha = pick(finite, 1.0f / r_max(pass->h * strength, tiny), none);
  R asked = (p->d * p->velocity + p->force - p->k * e) / r_max(strength, tiny);
  R approach = -e * pass->inv_h;
  approach = RULE(joint_push_cap) ? r_clamp(approach, -max_bias, max_bias) : approach;
  asked = pick(servo, approach, pick(motor, p->velocity, asked));
  R rest = asked - axis_rate(kind, rows, i, *u) - alpha * state->drive;
  R wanted = state->drive + rest * r_inverse_above(axis_mass(kind, rows, i) + alpha, splat(0.0f));
  wanted = pick(p->mode == MODE_FORCE, p->force * pass->h, wanted);
  R now = pick(p->mode == MODE_NONE, none, clamp_drive(pass, p, state, wanted));
  add_axis_impulse(kind, rows, i, now - state->drive, u, total);
  state->drive = now;
}

// Spring and damping in velocity form.
KERNEL void solve_axis_passive(BlockKind kind, const Pass *pass, const AxisParams *p,
                               const Rows *rows, int i, int angular, AxisState *state, V *u,
                               V *total)
{
  R strength = p->damping + pass->h * p->spring, tiny = splat(TUNING_MIN_DIVISOR);
  R alpha = 1.0f / r_max(pass->h * strength, tiny);
  R asked = -p->spring * rest_offset(kind, p, rows, i, angular) / r_max(strength, tiny);
  R rest = asked - axis_rate(kind, rows, i, *u) - alpha * state->passive;
  R now = state->passive + rest / (axis_mass(kind, rows, i) + alpha);
  now = pick(strength > 0.0f, now, splat(0.0f));
  add_axis_impulse(kind, rows, i, now - state->passive, u, total);
  state->passive = now;
}

// Armature: -armature (u - u_old), with u_old the rate before the substep.
KERNEL void solve_armature(BlockKind kind, const AxisParams *p, const Rows *rows, int i,
                           AxisState *state, V *u, V *total)
{
  R alpha = 1.0f / r_max(p->armature, splat(TUNING_MIN_DIVISOR));
  R rest = state->rate - axis_rate(kind, rows, i, *u) - alpha * state->armature;
  R d = pick(p->armature > 0.0f, rest / (axis_mass(kind, rows, i) + alpha), splat(0.0f));
  add_axis_impulse(kind, rows, i, d, u, total);
  state->armature = state->armature + d;
  state->new_rate = axis_rate(kind, rows, i, *u);
}

KERNEL void solve_axis_friction(BlockKind kind, const Pass *pass, const AxisParams *p,
                                const Rows *rows, int i, AxisState *state, V *u, V *total)
{
  R bound = p->friction * pass->h;
  R inverse = r_inverse_above(axis_mass(kind, rows, i), splat(0.0f));
  R wanted = state->friction - axis_rate(kind, rows, i, *u) * inverse;
  R now = r_clamp(wanted, -bound, bound);
  add_axis_impulse(kind, rows, i, now - state->friction, u, total);
  state->friction = now;
}

// Friction of a ball joint, with a bound on the length of the vector.
KERNEL void solve_ball_friction(const Pass *pass, const Axes *axes, const Rows *rows,
                                AxesState *state, V *u, V *total)
{
  BlockKind all = {3, 1, 0, 0, 1};
  Factor f = factorize(all, NULL, rows->k, splat(0.0f));
  R stop[3] = {-u->x, -u->y, -u->z};
  solve_locked(all, &f, stop);
  R bound = axes->params[0].friction * pass->h;
  V last = v_make(state->axis[0].friction, state->axis[1].friction, state->axis[2].friction);
  V wanted = v_add(last, v_make(stop[0], stop[1], stop[2]));
  R length = v_length(wanted);
  V now = v_scale(r_min(splat(1.0f), bound / r_max(length, splat(TUNING_MIN_DIVISOR))), wanted);
  V d = v_sub(now, last);
  *u = v_add(*u, s_mul(rows->k, d));
  *total = v_add(*total, d);
  state->axis[0].friction = now.x;
  state->axis[1].friction = now.y;
  state->axis[2].friction = now.z;
}

KERNEL void solve_axes_friction(BlockKind kind, const Pass *pass, const Axes *axes,
                                const Rows *rows, AxesState *state, V *u, V *total)
{
  if (kind.ball_axes) {
    solve_ball_friction(pass, axes, rows, state, u, total);
    return;
  }
  for (int i = 0; i < axis_count(kind); ++i) {
    solve_axis_friction(kind, pass, &axes->params[i], rows, i, &state->axis[i], u, total);
  }
}

// All axes of a block in velocity form.
KERNEL void solve_axes(BlockKind kind, const Pass *pass, const Axes *axes, const Rows *rows,
                       int angular, AxesState *state, V *u, V *total)
{
  for (int i = 0; i < axis_count(kind); ++i) {
    const AxisParams *p = &axes->params[i];
    solve_axis_passive(kind, pass, p, rows, i, angular, &state->axis[i], u, total);
    solve_armature(kind, p, rows, i, &state->axis[i], u, total);
  }
  solve_axes_friction(kind, pass, axes, rows, state, u, total);
  for (int i = 0; i < axis_count(kind); ++i) {
    solve_axis_drive(kind, pass, &axes->params[i], rows, i, angular, &state->axis[i], u, total);
  }
}

// A spring in position form: e / h + u + alpha lambda = 0; u is what the block has just added.
KERNEL R position_impulse(const Pass *pass, R e, R alpha, R w, R u, R lambda)
{
  R residual = e * pass->inv_h + u + alpha * lambda;
  return lambda - residual * r_inverse_above(w + alpha, splat(0.0f));
}

// Stiffness of drives and springs, in position form.
KERNEL void solve_axis_positions(BlockKind kind, const Pass *pass, const Axes *axes,
                                 const Rows *rows, int angular, AxesState *state, V *u, V *total)
{
  R none = splat(0.0f), tiny = splat(TUNING_MIN_DIVISOR);
  for (int i = 0; i < axis_count(kind); ++i) {
    const AxisParams *p = &axes->params[i];
    AxisState *s = &state->axis[i];
    R w = axis_mass(kind, rows, i);
    R alpha = pass->inv_h2 / r_max(p->spring, tiny);
    R e = rest_offset(kind, p, rows, i, angular);
    R now = position_impulse(pass, e, alpha, w, axis_rate(kind, rows, i, *u), s->passive);
    now = pick(p->spring > 0.0f, now, none);
    add_axis_impulse(kind, rows, i, now - s->passive, u, total);
    s->passive = now;

    M servo = p->mode == MODE_SERVO;
    M acts = servo | ((p->mode == MODE_SOFT) & (p->k > 0.0f));
    alpha = pick(servo, none, pass->inv_h2 / r_max(p->k, tiny));
    e = drive_offset(kind, pass, p, rows, i, angular) -
        pick(servo, none, p->force / r_max(p->k, tiny));
    now = position_impulse(pass, e, alpha, w, axis_rate(kind, rows, i, *u), s->drive);
    now = pick(acts, clamp_drive(pass, p, s, now), none);
    add_axis_impulse(kind, rows, i, now - s->drive, u, total);
    s->drive = now;
  }
}

// Damping, motors, forces, armature and friction, in the velocity stage of the position form.
KERNEL void solve_axis_velocities(BlockKind kind, const Pass *pass, const Axes *axes,
                                  const Rows *rows, AxesState *state, V *u, V *total)
{
  R none = splat(0.0f), tiny = splat(TUNING_MIN_DIVISOR);
  for (int i = 0; i < axis_count(kind); ++i) {
    const AxisParams *p = &axes->params[i];
    AxisState *s = &state->axis[i];
    R w = axis_mass(kind, rows, i);
    R softness = 1.0f / r_max(pass->h * p->damping, tiny);
    R d = pick(p->damping > 0.0f, -axis_rate(kind, rows, i, *u) / (w + softness), none);
    add_axis_impulse(kind, rows, i, d, u, total);
    s->armature = none;
    solve_armature(kind, p, rows, i, s, u, total);

    M motor = p->mode == MODE_MOTOR;
    M damped = motor | ((p->mode == MODE_SOFT) & (p->d > 0.0f));
    M pushed = (p->k == 0.0f) & m_not(motor) & (p->mode != MODE_SERVO);
    softness = pick(motor, none, 1.0f / r_max(pass->h * p->d, tiny));
    R missing = p->velocity - axis_rate(kind, rows, i, *u);
    R push = pick(pushed, p->force * pass->h, none);
    // The feed-forward changes the rate that damping sees.
    R part = pick(damped, (missing - w * push) * r_inverse_above(w + softness, none), none) + push;
    R now = pick(p->mode == MODE_NONE, none, clamp_drive(pass, p, s, s->drive + part) - s->drive);
    add_axis_impulse(kind, rows, i, now, u, total);
    s->drive_velocity = now;
  }
  solve_axes_friction(kind, pass, axes, rows, state, u, total);
  for (int i = 0; i < axis_count(kind); ++i) {
    state->axis[i].rate = state->axis[i].new_rate = axis_rate(kind, rows, i, *u);
  }
}

// Impulses of all axes, with a share of each.
KERNEL V axes_impulse(BlockKind kind, const Rows *rows, const AxesState *state, R share)
{
  V sum = v_zero();
  for (int i = 0; i < axis_count(kind); ++i) {
    const AxisState *s = &state->axis[i];
    sum = v_add(
        sum, v_scale(share * (s->drive + s->passive + s->friction), axis_direction(kind, rows, i)));
  }
  return sum;
}

// Impulses of the last substep, decayed for the warm start; see decay_impulses().
KERNEL void decay_axis_impulses(BlockKind kind, const Pass *pass, const Axes *axes,
                                const Rows *rows, AxesState *state)
{
  R one = splat(1.0f), tiny = splat(TUNING_MIN_DIVISOR);
  for (int i = 0; i < axis_count(kind); ++i) {
    const AxisParams *p = &axes->params[i];
    AxisState *s = &state->axis[i];
    R w = axis_mass(kind, rows, i);
    M finite = p->mode == MODE_SOFT, servo = p->mode == MODE_SERVO;
    M rigid = servo | is_rigid(pass->inv_h2 / r_max(p->k, tiny), w);
    R share = pick(finite | servo, pick(rigid, pass->warm_share, one), splat(TUNING_MOTOR_KEEP));
    R spring = pick(finite, one, splat(0.0f));
    s->drive = decayed_impulse(pass, share, spring, s->drive, &s->drive_load);
    rigid = is_rigid(pass->inv_h2 / r_max(p->spring, tiny), w);
    share = pick(p->spring > 0.0f, pick(rigid, pass->warm_share, one), splat(TUNING_MOTOR_KEEP));
    spring = pick(p->spring > 0.0f, one, splat(0.0f));
    s->passive = decayed_impulse(pass, share, spring, s->passive, &s->passive_load);
    s->armature = splat(0.0f);
    s->rate = s->new_rate;
  }
}

// Warm start in position form: springs keep their impulse, see warm_start_springs().
KERNEL void keep_axis_springs(BlockKind kind, const Pass *pass, const Axes *axes, const Rows *rows,
                              AxesState *state)
{
  R none = splat(0.0f);
  Pass forget = *pass;
  forget.warm_share = none;
  decay_axis_impulses(kind, &forget, axes, rows, state);
  for (int i = 0; i < axis_count(kind); ++i) {
    const AxisParams *p = &axes->params[i];
    AxisState *s = &state->axis[i];
    s->drive = pick((p->mode == MODE_SOFT) & (p->k > 0.0f), s->drive, none);
    s->passive = pick(p->spring > 0.0f, s->passive, none);
    s->friction = none;
  }
}

// Relax pass at the end of a step: rigid servos stop their motion relative to the target.
KERNEL void relax_axes(BlockKind kind, const Pass *pass, const Axes *axes, const Rows *rows,
                       const AxesState *applied, V *u, V *total)
{
  for (int i = 0; i < axis_count(kind); ++i) {
    const AxisParams *p = &axes->params[i];
    R w = axis_mass(kind, rows, i), half = 0.5f * pass->h;
    R d = (p->rate - axis_rate(kind, rows, i, *u)) * r_inverse_above(w, splat(0.0f));
    R last = applied->axis[i].drive;
    R now = r_clamp(last + d, p->lo * half, p->hi * half);
    add_axis_impulse(kind, rows, i, pick(p->mode == MODE_SERVO, now - last, splat(0.0f)), u, total);
  }
}

#endif
