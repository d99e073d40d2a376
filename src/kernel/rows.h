// Blocks of constraint rows, and how the iterative methods solve one block. The direct solver of
// mechanisms shares the parameters and the Jacobians.
//
// A row measures a coordinate x of body B relative to body A along a direction n (its Jacobian) and
// keeps it in a range [lo, hi]; lo = hi locks it. Up to three rows that act at one point (linear)
// or on the rotation (angular) form a block; a joint has one block of each.
//
// In every method a row's impulse lambda along n, summed over the substep, satisfies
//     e / h + n . u + (alpha / h^2) lambda = 0,      e = x - hi or x - lo,
// which is eq. 4 of Mueller et al. 2020 divided by h. The forms differ in e and u:
//   FORM_VELOCITY  e at the start of the substep, u the relative velocity;
//   FORM_POSITION  e at the latest pose, which has already moved by h times the velocity, u only
//                  what the block itself has just added.
#ifndef TENON_KERNEL_ROWS_H
#define TENON_KERNEL_ROWS_H

#include "base/rules.h"
#include "kernel/project.h"
#include "kernel/trig.h"
#include "kernel/tuning.h"

// Stands for an infinite limit: beyond any length or angle, finite in sums and products. m, rad.
#define UNLIMITED 1e15f

// What is known about a block at compile time.
typedef struct BlockKind {
  int rows;         // 0 to 3; 0: the joint has no such block
  int world_axes;   // the directions are the world axes
  int first_locked; // rows from here on are locked, those before have a range
  int mixed;        // any row may be locked or have a range, lane by lane
  int ball_axes;    // axes are the world's: those of the whole rotation of a ball joint
} BlockKind;

typedef struct RowParams {
  R lo[3], hi[3], middle[3]; // range of each row, and the angle nearest to which it is measured
  R alpha, alpha_limit;      // compliances of locked rows and of limits, m/N or rad/(N m)
} RowParams;

// Impulses of the running substep, N s or N m s.
typedef struct RowState {
  R lambda[3]; // of the rows
  // Direct solver: second half of the impulse of springs, which follows the drift; see axis_rows.c.
  R pending[3];
  // Gauss-Seidel: running mean of the impulse of springs. Direct solver: impulses given at the end
  // of the last step ahead of the coming one.
  R load[3];
} RowState;

// Modes of a drive.
#define MODE_NONE 0.0f
#define MODE_SOFT 1.0f  // stiffness and damping are finite
#define MODE_SERVO 2.0f // infinite stiffness
#define MODE_MOTOR 3.0f // infinite damping
#define MODE_FORCE 4.0f // feed-forward alone

// What acts along one axis of a joint, with coordinate q and rate u, in m and N or rad and N m:
//   drive     clamp(k (target - q) + d (velocity - u) + force, lo, hi)
//   spring    spring (rest - q) - damping u
//   armature  inertia on the axis: impulse -armature du
//   friction  dry, up to this force
typedef struct AxisParams {
  R mode, k, d;      // of the drive; k and d are 0 where infinite
  R target, rate;    // at the start of the step, and its speed
  R velocity, force; // wanted rate, feed-forward
  R lo, hi;          // limits of the drive
  R spring, rest, damping;
  R friction, armature;
  R inertia; // that moves with the axis at least; 0: that of the two bodies
  R effort;  // limit of drive, spring and damping together
} AxisParams;

// Impulses along one axis, N s or N m s.
typedef struct AxisState {
  R drive, passive, friction; // passive: spring and damping; of the direct solver also armature
  R drive_pending, passive_pending; // as RowState.pending
  R rate;                           // of the axis after the last solve, m/s or rad/s
  R drive_load, passive_load;       // as RowState.load
  // Gauss-Seidel: impulse of the armature; rate after this solve; in position form the part of the
  // drive's impulse that the velocity stage gave.
  R armature, new_rate, drive_velocity;
} AxisState;

// Bits of joint.axis_features, for each axis.
#define AXIS_DRIVE 1u
#define AXIS_PASSIVE 2u
#define AXIS_FRICTION 4u
#define AXIS_FEATURE_BITS 4

// The three axes of a block.
typedef struct Axes {
  AxisParams params[3];
} Axes;

typedef struct AxesState {
  AxisState axis[3];
} AxesState;

// LDL^T factor of the locked rows' matrix, with inverted pivots.
typedef struct Factor {
  R d[3], l10, l20, l21;
} Factor;

// Lever arms from the centres of mass to the point where a linear block acts, m.
typedef struct Levers {
  V a, b;
} Levers;

// The rows of a block at a pose.
typedef struct Rows {
  Levers levers;
  V n[3];    // directions; not set for world axes
  R x[3];    // coordinates, m or rad
  V turn[2]; // ball_axes: rotation from the drive's target and from the rest, world axes, rad
  S k;       // K, inverse mass in world axes
  R k_mean;  // mean of its diagonal
  S k_rows;  // n_i . K n_j
  Factor factor;
} Rows;

// Settings of a pass.
typedef struct Pass {
  R h, inv_h, inv_h2;
  R time;             // from the start of the step to the end of this substep, s
  R warm_share;       // least share of the last impulse that a rigid row is warm started with
  R max_linear_bias;  // fastest removal of a position error, m/s
  R max_angular_bias; // rad/s
  Form form;
} Pass;

KERNEL R s_diagonal(S s, int i)
{
  return i == 0 ? s.xx : i == 1 ? s.yy : s.zz;
}

KERNEL V axis_of(BlockKind kind, const Rows *rows, int i)
{
  if (kind.world_axes) {
    return v_make(splat(i == 0), splat(i == 1), splat(i == 2));
  }
  // cppcheck-suppress nullPointer ; the world's axes alone are asked for without rows
  return rows->n[i];
}

KERNEL R row_component(BlockKind kind, const Rows *rows, int i, V u)
{
  if (kind.world_axes) {
    return i == 0 ? u.x : i == 1 ? u.y : u.z;
  }
  return v_dot(rows->n[i], u);
}

// sum c_i n_i.
KERNEL V combine(BlockKind kind, const Rows *rows, const R *c)
{
  if (kind.world_axes) {
    return v_make(c[0], c[1], c[2]);
  }
  V sum = v_scale(c[0], rows->n[0]);
  for (int i = 1; i < kind.rows; ++i) {
    sum = v_add(sum, v_scale(c[i], rows->n[i]));
  }
  return sum;
}

// n_i . K n_j.
KERNEL S row_inverse_masses(BlockKind kind, const Rows *rows)
{
  if (kind.world_axes) {
    return rows->k;
  }
  S s = {splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f)};
  V k0 = s_mul(rows->k, rows->n[0]);
  s.xx = v_dot(rows->n[0], k0);
  if (kind.rows > 1) {
    V k1 = s_mul(rows->k, rows->n[1]);
    s.yy = v_dot(rows->n[1], k1);
    s.xy = v_dot(rows->n[0], k1);
  }
  if (kind.rows > 2) {
    V k2 = s_mul(rows->k, rows->n[2]);
    s.zz = v_dot(rows->n[2], k2);
    s.xz = v_dot(rows->n[0], k2);
    s.yz = v_dot(rows->n[1], k2);
  }
  return s;
}

KERNEL M is_locked(BlockKind kind, const RowParams *params, int i)
{
  if (kind.mixed) {
    return params->lo[i] == params->hi[i];
  }
  return splat(i >= kind.first_locked) > 0.5f;
}

KERNEL R masked(BlockKind kind, M both, R x)
{
  return kind.mixed ? pick(both, x, splat(0.0f)) : x;
}

// A pivot below the rounding error of its diagonal counts as zero: the row is redundant.
KERNEL R inverse_pivot(R pivot, R diagonal)
{
  return r_inverse_above(pivot, TUNING_MIN_PIVOT * diagonal);
}

KERNEL Factor factorize(BlockKind kind, const RowParams *params, S k, R alpha)
{
  Factor f = {{splat(0.0f), splat(0.0f), splat(0.0f)}, splat(0.0f), splat(0.0f), splat(0.0f)};
  if (kind.rows < 3) {
    return f;
  }
  int first = kind.first_locked;
  M m0 = is_locked(kind, params, 0);
  M m1 = is_locked(kind, params, 1);
  M m2 = is_locked(kind, params, 2);
  if (first <= 0) {
    f.d[0] = masked(kind, m0, inverse_pivot(k.xx + alpha, k.xx));
    f.l10 = masked(kind, m0 & m1, k.xy) * f.d[0];
    f.l20 = masked(kind, m0 & m2, k.xz) * f.d[0];
  }
  R yz = masked(kind, m1 & m2, k.yz);
  if (first <= 1) {
    R d1 = first == 0 ? k.yy + alpha - f.l10 * masked(kind, m0 & m1, k.xy) : k.yy + alpha;
    f.d[1] = masked(kind, m1, inverse_pivot(d1, k.yy));
    f.l21 = (first == 0 ? yz - f.l10 * masked(kind, m0 & m2, k.xz) : yz) * f.d[1];
  }
  if (first <= 2) {
    R d2 = k.zz + alpha;
    d2 = first <= 0 ? d2 - f.l20 * masked(kind, m0 & m2, k.xz) : d2;
    // Eliminated entry: l21 times its pivot.
    R e21 = first == 0 ? yz - f.l10 * masked(kind, m0 & m2, k.xz) : yz;
    d2 = first <= 1 ? d2 - f.l21 * e21 : d2;
    f.d[2] = masked(kind, m2, inverse_pivot(d2, k.zz));
  }
  return f;
}

// c <- K^-1 c over the locked rows.
KERNEL void solve_locked(BlockKind kind, const Factor *f, R *c)
{
  int first = kind.first_locked;
  if (first == 0) {
    c[1] = c[1] - f->l10 * c[0];
    c[2] = c[2] - f->l20 * c[0];
  }
  if (first <= 1) {
    c[2] = c[2] - f->l21 * c[1];
  }
  c[2] = f->d[2] * c[2];
  if (first <= 1) {
    c[1] = f->d[1] * c[1] - f->l21 * c[2];
  }
  if (first == 0) {
    c[0] = f->d[0] * c[0] - f->l10 * c[1] - f->l20 * c[2];
  }
}

// Whether a row is stiffer than the substep resolves, alpha / h^2 <= w; `alpha` is alpha / h^2
// here.
KERNEL M is_rigid(R alpha, R w)
{
  return alpha <= w;
}

// Share of the residual e / h + (alpha / h^2) lambda that a row removes in a substep: all of it,
// but rows without compliance no faster than max_bias.
KERNEL R bias_gain(R alpha, R residual, R max_bias)
{
  R gain = r_min(splat(1.0f), max_bias / r_max(residual, splat(TUNING_MIN_DIVISOR)));
  return RULE(joint_push_cap) ? pick(alpha > 0.0f, splat(1.0f), gain) : splat(1.0f);
}

// Velocity bias of a residual, which is positive beyond a limit.
KERNEL R bias_rate(const Pass *pass, R alpha, R residual, R max_bias)
{
  if (pass->form == FORM_POSITION) {
    return residual;
  }
  return bias_gain(alpha, residual, max_bias) * residual;
}

KERNEL R mean_inverse_mass(S k)
{
  return (k.xx + k.yy + k.zz) * 0.333333333f;
}

// Locked rows are solved as one block, so one criterion holds for all of them.
KERNEL M locked_are_rigid(const Pass *pass, const RowParams *params, const Rows *rows)
{
  return is_rigid(params->alpha * pass->inv_h2, rows->k_mean);
}

// Adds the impulse d along row i to the block's total, and its effect K p to the velocity u.
KERNEL void add_row_impulse(BlockKind kind, const Rows *rows, int i, R d, V *u, V *total)
{
  V p = v_scale(d, axis_of(kind, rows, i));
  *u = v_add(*u, s_mul(rows->k, p));
  *total = v_add(*total, p);
}

// Limits, Algorithm 3 and eq. 25: the limit that would be crossed pushes back and never pulls. The
// impulse is the sum of both ends: zero for an open range, that of a locked row for lo = hi.
KERNEL void solve_limit(BlockKind kind, const Pass *pass, const RowParams *params, const Rows *rows,
                        int i, R max_bias, RowState *state, V *u, V *total)
{
  R w = s_diagonal(rows->k_rows, i);
  R alpha = params->alpha_limit * pass->inv_h2;
  R spring = alpha * state->lambda[i];
  R above = bias_rate(pass, alpha, (rows->x[i] - params->hi[i]) * pass->inv_h + spring, max_bias);
  R below = -bias_rate(pass, alpha, (params->lo[i] - rows->x[i]) * pass->inv_h - spring, max_bias);
  R rest = row_component(kind, rows, i, *u);
  R inverse = r_inverse_above(w + alpha, splat(0.0f));
  R upper = r_min(state->lambda[i] - (above + rest) * inverse, splat(0.0f));
  R lower = r_max(state->lambda[i] - (below + rest) * inverse, splat(0.0f));
  R now = upper + lower;
  if (kind.mixed) {
    now = pick(is_locked(kind, params, i), state->lambda[i], now);
  }
  add_row_impulse(kind, rows, i, now - state->lambda[i], u, total);
  state->lambda[i] = now;
}

KERNEL R locked_error(BlockKind kind, const RowParams *params, const Rows *rows, int i)
{
  R e = kind.mixed ? rows->x[i] - params->lo[i] : rows->x[i];
  return masked(kind, is_locked(kind, params, i), e);
}

// c_i = e_i / h + (alpha / h^2) lambda_i of the locked rows, zero for the others; returns |c|.
KERNEL R locked_residuals(BlockKind kind, const Pass *pass, const RowParams *params,
                          const Rows *rows, const RowState *state, R *c)
{
  R alpha = params->alpha * pass->inv_h2;
  R square = splat(0.0f);
  for (int i = 0; i < 3; ++i) {
    c[i] = splat(0.0f);
    if (i >= kind.first_locked) {
      R r = locked_error(kind, params, rows, i) * pass->inv_h + alpha * state->lambda[i];
      c[i] = masked(kind, is_locked(kind, params, i), r);
      square = square + c[i] * c[i];
    }
  }
  return r_sqrt(square);
}

// The locked rows as one block: lambda -= (K + alpha / h^2)^-1 (gain c + n . u).
//
// DEVIATION: sec. 3.4.2 and eq. 20 correct along the error vector with one scalar inverse mass.
// Where the inertias about two axes differ widely, as those of a slender rod, that rotates the rod
// about its length by more than its error about the breadth, and the overshoot grows without bound:
// two rods of 1 m length and 5 cm thickness fly apart within 3 s at 40 substeps.
KERNEL void solve_locked_rows(BlockKind kind, const Pass *pass, const RowParams *params,
                              const Rows *rows, R max_bias, RowState *state, V u, V *total)
{
  R c[3];
  R residual = locked_residuals(kind, pass, params, rows, state, c);
  R gain = splat(1.0f);
  if (pass->form == FORM_VELOCITY) {
    gain = bias_gain(params->alpha, residual, max_bias);
  }
  for (int i = kind.first_locked; i < 3; ++i) {
    R r = gain * c[i] + row_component(kind, rows, i, u);
    c[i] = masked(kind, is_locked(kind, params, i), r);
  }
  solve_locked(kind, &rows->factor, c);
  for (int i = kind.first_locked; i < 3; ++i) {
    state->lambda[i] = state->lambda[i] - c[i];
  }
  *total = v_sub(*total, combine(kind, rows, c));
}

KERNEL int range_rows(BlockKind kind)
{
  return kind.mixed ? 3 : kind.first_locked < kind.rows ? kind.first_locked : kind.rows;
}

// All rows with a position: limits, then the locked rows.
KERNEL void solve_positions(BlockKind kind, const Pass *pass, const RowParams *params,
                            const Rows *rows, int angular, RowState *state, V *u, V *total)
{
  R max_bias = angular ? pass->max_angular_bias : pass->max_linear_bias;
  for (int i = 0; i < range_rows(kind); ++i) {
    solve_limit(kind, pass, params, rows, i, max_bias, state, u, total);
  }
  if (kind.first_locked < 3) {
    solve_locked_rows(kind, pass, params, rows, max_bias, state, *u, total);
  }
}

// All impulses of a block's rows as one vector.
KERNEL V block_impulse(BlockKind kind, const Rows *rows, const RowState *state)
{
  return combine(kind, rows, state->lambda);
}

KERNEL RowState scaled_row_state(const RowState *state, R share)
{
  RowState part = *state;
  for (int i = 0; i < 3; ++i) {
    part.lambda[i] = share * state->lambda[i];
  }
  return part;
}

// Warm-start share of a rigid row. Position bias feeds energy and dropping impulses takes it: a row
// that removes its whole error (gain 1) keeps little. A row limited by max_bias keeps more, because
// its impulse must bear the load.
KERNEL R row_warm_share(const Pass *pass, R gain)
{
  if (!RULE(joint_warm_start)) {
    return splat(0.0f);
  }
  R most = RULE(limited_row_keep) ? splat(TUNING_LIMITED_ROW_KEEP) : pass->warm_share;
  return r_clamp(1.0f - gain, pass->warm_share, most);
}

// Decaying impulses end at zero: arithmetic with subnormal numbers is slow.
KERNEL R flush_subnormal(R x)
{
  return pick(r_abs(x) < TUNING_TINY, splat(0.0f), x);
}

// lambda <- share lambda + (1 - share) load, with load a running mean of lambda over
// TUNING_SPRING_LOAD_TIME. Springs too stiff for the substep must decay like rigid rows, or they
// gain energy. But at rest a spring must start from its load, or it settles where one pass from
// zero leaves it; so only the difference from the load decays. Rigid rows have no load.
KERNEL R decayed_impulse(const Pass *pass, R share, R alpha, R lambda, R *load)
{
  R rate = r_min(pass->h * (1.0f / TUNING_SPRING_LOAD_TIME), splat(1.0f));
  R now = *load + rate * (lambda - *load);
  *load = RULE(spring_load) ? pick(alpha > 0.0f, flush_subnormal(now), splat(0.0f)) : splat(0.0f);
  return flush_subnormal(share * lambda + (1.0f - share) * *load);
}

// Impulses of the last substep, decayed for the warm start. Springs that the substep resolves keep
// all of theirs.
KERNEL void decay_impulses(BlockKind kind, const Pass *pass, const RowParams *params,
                           const Rows *rows, R max_bias, RowState *state)
{
  R one = splat(1.0f);
  R locked_kept = one;
  if (kind.first_locked < 3) {
    R c[3];
    R residual = locked_residuals(kind, pass, params, rows, state, c);
    R gain = bias_gain(params->alpha, residual, max_bias);
    locked_kept = pick(locked_are_rigid(pass, params, rows), row_warm_share(pass, gain), one);
  }
  for (int i = 0; i < kind.rows; ++i) {
    R spring = params->alpha_limit * pass->inv_h2 * state->lambda[i];
    R beyond = r_max((rows->x[i] - params->hi[i]) * pass->inv_h + spring,
                     (params->lo[i] - rows->x[i]) * pass->inv_h - spring);
    M rigid = is_rigid(params->alpha_limit * pass->inv_h2, s_diagonal(rows->k_rows, i));
    R range_kept =
        pick(rigid, row_warm_share(pass, bias_gain(params->alpha_limit, beyond, max_bias)), one);
    R share = pick(is_locked(kind, params, i), locked_kept, range_kept);
    R alpha = pick(is_locked(kind, params, i), params->alpha, params->alpha_limit);
    state->lambda[i] = decayed_impulse(pass, share, alpha, state->lambda[i], &state->load[i]);
  }
}

// Decays the impulses and returns their sum, to be applied at the start of a substep.
KERNEL V warm_start_impulse(BlockKind kind, const Pass *pass, const RowParams *params,
                            const Rows *rows, int angular, RowState *state)
{
  decay_impulses(kind, pass, params, rows, angular ? pass->max_angular_bias : pass->max_linear_bias,
                 state);
  return block_impulse(kind, rows, state);
}

// Warm start in position form: springs keep their impulse, rigid rows start from zero as in the
// paper.
//
// DEVIATION: the paper starts every substep from zero impulses. With one pass, springs that share a
// body do not see each other's last change, and a chain of three is 2 h^2 g too long: 2 % at one
// substep. With the impulses kept the rest length is exact.
KERNEL V warm_start_springs(BlockKind kind, const Pass *pass, const RowParams *params,
                            const Rows *rows, RowState *state)
{
  Pass forget = *pass;
  forget.warm_share = splat(0.0f);
  decay_impulses(kind, &forget, params, rows, splat(UNLIMITED), state);
  return block_impulse(kind, rows, state);
}

// Relax pass at the end of a step, without position bias: rigid rows stop their relative motion;
// active limits may reduce their impulse but not pull. `applied` holds the impulses since the last
// drift.
KERNEL void relax_rows(BlockKind kind, const Pass *pass, const RowParams *params, const Rows *rows,
                       const RowState *state, RowState *applied, V *u, V *total)
{
  for (int i = 0; i < range_rows(kind); ++i) {
    R w = s_diagonal(rows->k_rows, i);
    M active = is_rigid(params->alpha_limit * pass->inv_h2, w);
    if (kind.mixed) {
      active = active & m_not(is_locked(kind, params, i));
    }
    R d = applied->lambda[i] - row_component(kind, rows, i, *u) * r_inverse_above(w, splat(0.0f));
    M above = active & (state->lambda[i] < 0.0f);
    M below = active & (state->lambda[i] > 0.0f);
    R now = pick(above, r_min(d, splat(0.0f)), applied->lambda[i]);
    now = pick(below, r_max(d, splat(0.0f)), now);
    add_row_impulse(kind, rows, i, now - applied->lambda[i], u, total);
  }
  if (kind.first_locked < 3) {
    M rigid = locked_are_rigid(pass, params, rows);
    R c[3] = {splat(0.0f), splat(0.0f), splat(0.0f)};
    for (int i = kind.first_locked; i < 3; ++i) {
      M stop = kind.mixed ? rigid & is_locked(kind, params, i) : rigid;
      c[i] = pick(stop, -row_component(kind, rows, i, *u), splat(0.0f));
    }
    solve_locked(kind, &rows->factor, c);
    *total = v_add(*total, combine(kind, rows, c));
  }
}

#endif
