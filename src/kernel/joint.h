// Joints (Mueller et al. 2020, sec. 3.4): the coordinates x and directions n of each type's rows.
//
// With d = p_b - p_a the offset of the joint's points, (a1, b1, c1) the frame on A, (a2, b2, c2)
// that on B and q = (v, w) the rotation of B's frame relative to A's:
//
//   type        linear rows             angular rows
//   distance    |d|                     -
//   point       d, world axes           -
//   ball        d, world axes           turn to a twist (turn_to_twist), swing angle of a1 to a2
//   hinge       d, world axes           twist, (a1 x a2) . (b1, c1)                  eq. 20
//   fixed       d, world axes           2 sgn(w) v, world axes                       eq. 18, 19
//   prismatic   d . (a1, b1, c1)        as fixed
//   cylinder    d . (a1, b1, c1)        as hinge
//   universal   d, world axes           angle about a1, angle about b2, a1 . b2
//   generic     d . (a1, b1, c1)        rotation vector of q
//
// Which rows are locked and which have a range: linear_kind(), angular_kind().
//
// DEVIATION: offsets and angles are those of B relative to A, so corrections on B are minus the
// error; the paper's signs, taken literally, drive the bodies apart.
#ifndef TENON_KERNEL_JOINT_H
#define TENON_KERNEL_JOINT_H

#include "base/rules.h"
#include "kernel/rows.h"
#include "kernel/tuning.h"

// Types of the solver. A ball joint without limits and axes is a POINT.
typedef enum JointType {
  TYPE_DISTANCE,
  TYPE_POINT,
  TYPE_BALL,
  TYPE_HINGE,
  TYPE_FIXED,
  TYPE_PRISMATIC,
  TYPE_CYLINDER,
  TYPE_UNIVERSAL,
  TYPE_GENERIC,
  TYPE_COUNT
} JointType;

// A joint at the start of the step, computed in double and rounded once. World axes.
typedef struct JointStart {
  V ra, rb;   // lever arms from the centres of mass to the joint's points, m
  V gap;      // from A's point to B's, m
  Q frame;    // A's joint frame (a1, b1, c1)
  Q relative; // B's joint frame relative to A's
} JointStart;

KERNEL BlockKind linear_kind(JointType type)
{
  BlockKind line = {1, 0, 3, 0, 0};
  BlockKind point = {3, 1, 0, 0, 0};
  BlockKind slide = {3, 0, 1, 0, 0};
  BlockKind mixed = {3, 0, 0, 1, 0};
  switch (type) {
  case TYPE_DISTANCE:
    return line;
  case TYPE_PRISMATIC:
  case TYPE_CYLINDER:
    return slide;
  case TYPE_GENERIC:
    return mixed;
  default:
    return point;
  }
}

KERNEL BlockKind angular_kind(JointType type)
{
  BlockKind none = {0, 0, 3, 0, 0};
  BlockKind swing_twist = {2, 0, 3, 0, 1};
  BlockKind turn = {3, 0, 1, 0, 0};
  BlockKind fixed = {3, 1, 0, 0, 0};
  BlockKind universal = {3, 0, 2, 0, 0};
  BlockKind mixed = {3, 0, 0, 1, 0};
  switch (type) {
  case TYPE_BALL:
    return swing_twist;
  case TYPE_HINGE:
  case TYPE_CYLINDER:
    return turn;
  case TYPE_FIXED:
  case TYPE_PRISMATIC:
    return fixed;
  case TYPE_UNIVERSAL:
    return universal;
  case TYPE_GENERIC:
    return mixed;
  default:
    return none;
  }
}

// Whether a row is not locked: axes act on such blocks only.
KERNEL int has_free_axis(BlockKind kind)
{
  return kind.rows > 0 && (kind.mixed || kind.first_locked > 0);
}

// A's joint frame at the current pose.
KERNEL Q joint_frame(const JointStart *start, const Body *a)
{
  return q_mul(a->dq, start->frame);
}

// B's joint frame relative to A's at the current pose. Rotations since the start of the step are
// small; multiplying them first keeps a relative precision of small angles, which the product of
// two whole orientations would lose.
KERNEL Q joint_relative(const JointStart *start, const Body *a, const Body *b)
{
  Q turn = q_mul(q_conjugate(a->dq), b->dq);
  Q local = q_make(q_unrotate(start->frame, q_vector(turn)), turn.w);
  return q_mul(local, start->relative);
}

// The offset d, and the lever arms. Both impulses act at B's point: a pair that has come apart gets
// no net torque, and J is the derivative of d in A's rotating axes.
KERNEL V joint_offset(const JointStart *start, const Body *a, const Body *b, Rows *rows)
{
  V move_a = v_add(a->dx, q_rotate_change(a->dq, start->ra));
  V turn_b = q_rotate_change(b->dq, start->rb);
  V offset = v_add(start->gap, v_sub(v_add(b->dx, turn_b), move_a));
  rows->levers.b = v_add(start->rb, turn_b);
  rows->levers.a = v_add(q_rotate(a->dq, start->ra), offset);
  return offset;
}

LARGE void linear_rows(JointType type, const JointStart *start, const Body *a, const Body *b,
                       Rows *rows)
{
  V offset = joint_offset(start, a, b, rows);
  if (type == TYPE_DISTANCE) {
    R length = v_length(offset);
    V n = v_scale(1.0f / r_max(length, splat(TUNING_MIN_LENGTH)), offset);
    V any = v_make(splat(1.0f), splat(0.0f), splat(0.0f));
    rows->n[0] = v_pick(length > TUNING_MIN_LENGTH, n, any);
    rows->x[0] = length;
  } else if (linear_kind(type).world_axes) {
    rows->x[0] = offset.x;
    rows->x[1] = offset.y;
    rows->x[2] = offset.z;
  } else {
    Q frame = joint_frame(start, a);
    rows->n[0] = q_axis_x(frame);
    rows->n[1] = q_axis_y(frame);
    rows->n[2] = q_axis_z(frame);
    for (int i = 0; i < 3; ++i) {
      rows->x[i] = v_dot(rows->n[i], offset);
    }
  }
}

// Eq. 19, times the sign of w: the shorter of the two ways round.
KERNEL void fixed_rows(Q frame, Q q, Rows *rows)
{
  R two = pick(q.w < 0.0f, splat(-2.0f), splat(2.0f));
  V e = q_rotate(frame, v_scale(two, q_vector(q)));
  rows->x[0] = e.x;
  rows->x[1] = e.y;
  rows->x[2] = e.z;
}

// The angle of Algorithm 3 from n1 to n2 about n, by atan2 instead of the paper's arcsine, whose
// argument rounding can take out of its domain.
KERNEL R angle_about(V n, V n1, V n2)
{
  return r_atan2(v_dot(v_cross(n1, n2), n), v_dot(n1, n2));
}

// The equivalent angle nearest to the middle of the range, so that a range may reach across pi: the
// twist of a ball joint.
KERNEL R angle_near(R angle, R middle)
{
  return middle + r_wrap_angle(angle - middle);
}

// The equivalent angle nearest to the last one: counts turns. 2 pi is the sum of two floats, of
// which the first times a number of turns is exact.
KERNEL R angle_with_turns(R angle, R last)
{
  // Adding 1.5 * 2^23 rounds to an integer.
  R turns = ((last - angle) * 0.159154943f + 12582912.0f) - 12582912.0f;
  return angle + (turns * 6.28125f + turns * 1.93530718e-3f);
}

// Gradient of the angle about `axis` of a unit direction t, with axis_cosine = t . axis and
// `across` the part of t perpendicular to the axis:
//     n = axis - axis_cosine / |across|^2 across
// It is unbounded where t is parallel to the axis, so |across|^2 has a floor (2.9 degrees).
KERNEL V angle_gradient(V axis, R axis_cosine, V across)
{
  return v_sub(
      axis,
      v_scale(axis_cosine / r_max(v_dot(across, across), splat(TUNING_MIN_ANGLE_SINE2)), across));
}

// Coordinate and gradient of an angle with limits. The angle is undefined where `sine` is zero and
// jumps from one side of that pose to the other; a soft limit would gain energy by the jump. So for
// sine < 1/2 the amount beyond the limit fades,
//     x = end + 2 sine (angle - end),    n = dx,
// and the energy of the limit is the same from every side. `change` is the gradient of the sine.
LARGE void limited_angle(R angle, V gradient, R sine, V change, const RowParams *params, int i,
                         R *x, V *n)
{
  R end = r_clamp(angle, params->lo[i], params->hi[i]);
  R beyond = angle - end;
  if (!RULE(limit_fade)) {
    *x = angle;
    *n = gradient;
    return;
  }
  M fades = (sine < TUNING_LIMIT_FADE_SINE) & (beyond != 0.0f);
  R share = 1.0f / TUNING_LIMIT_FADE_SINE * sine;
  V faded =
      v_add(v_scale(share, gradient), v_scale(1.0f / TUNING_LIMIT_FADE_SINE * beyond, change));
  *x = pick(fades, end + share * beyond, angle);
  *n = v_pick(fades, faded, gradient);
}

// The twist 2 atan2(x, w) of the swing-twist decomposition, about the axis of eq. 22. The
// projections of eq. 23 and 24 enclose the same angle only at small swing.
KERNEL R twist_angle(Q q)
{
  return r_wrap_angle(2.0f * r_atan2(q.x, q.w));
}

// Gradient of the twist in A's frame, (a1 + a2) / (1 + a1 . a2): along the unit vector of eq. 22
// and the longer the further the axes part. Unbounded where they are opposite, so its length is
// capped.
KERNEL V twist_axis(V a2)
{
  V sum = v_make(1.0f + a2.x, a2.y, a2.z);
  R length = v_length(sum);
  R steepness =
      r_min(length / r_max(sum.x, splat(TUNING_MIN_SWING_SINE)), splat(TUNING_TWIST_MAX_GRADIENT));
  return v_scale(steepness / r_max(length, splat(TUNING_MIN_SINE)), sum);
}

// `across` is a1 x a2. The twist fades with the cosine of half the swing angle, which is zero where
// a1 and a2 are opposite.
KERNEL void twist_row(Q q, R twist, V a2, V across, const RowParams *params, R *x, V *n)
{
  R cosine = r_sqrt(q.x * q.x + q.w * q.w);
  V change = v_scale(-0.25f / r_max(cosine, splat(TUNING_MIN_SINE)), across);
  limited_angle(twist, twist_axis(a2), cosine, change, params, 0, x, n);
}

// Eq. 20 and the hinge's angle: row 0 is the twist, rows 1 and 2 are a1 x a2 = (0, -a2.z, a2.y)
// in A's frame.
KERNEL void hinge_rows(Q frame, Q q, const RowParams *params, Rows *rows)
{
  V a2 = q_axis_x(q);
  V twist;
  twist_row(q, angle_with_turns(twist_angle(q), params->middle[0]), a2,
            v_make(splat(0.0f), -a2.z, a2.y), params, &rows->x[0], &twist);
  rows->n[0] = q_rotate(frame, twist);
  rows->n[1] = q_axis_y(frame);
  rows->n[2] = q_axis_z(frame);
  rows->x[1] = -a2.z;
  rows->x[2] = a2.y;
}

// Rotation vector of a rotation, the shorter way round: |t| from 0 to pi.
KERNEL V rotation_vector(Q q)
{
  V v = v_pick(q.w < 0.0f, v_make(-q.x, -q.y, -q.z), q_vector(q));
  R sine = v_length(v), angle = 2.0f * r_atan2(sine, r_abs(q.w));
  M small = angle < TUNING_SERIES_ANGLE;
  R s2 = sine * sine;
  R ratio =
      pick(small, 2.0f + s2 * (0.333333333f + 0.15f * s2), angle / pick(small, splat(1.0f), sine));
  return v_scale(ratio, v);
}

KERNEL Q rotation_of_vector(V t)
{
  R angle = v_length(t);
  SinCos half = r_sincos(0.5f * angle);
  R sinc =
      pick(angle > TUNING_MIN_ANGLE, half.sin / r_max(angle, splat(TUNING_MIN_ANGLE)), splat(0.5f));
  return q_make(v_scale(sinc, t), half.cos);
}

// Rotation from an orientation `wanted` (a rotation vector, of B's frame in A's) to q, world axes.
// The torque -k t of the energy k t.t / 2 is along t itself: t is its own image under the Jacobian
// of the rotation vector.
KERNEL V turn_from(Q frame, Q q, V wanted)
{
  return q_rotate(frame, rotation_vector(q_mul(q, q_conjugate(rotation_of_vector(wanted)))));
}

// Turns of a ball joint from the target of its drive, `time` after the step began, and from its
// rest.
KERNEL void ball_turns(Q frame, Q q, const Axes *axes, R time, V turn[2])
{
  const AxisParams *p = axes->params;
  V target = v_make(p[0].target + time * p[0].rate, p[1].target + time * p[1].rate,
                    p[2].target + time * p[2].rate);
  turn[0] = turn_from(frame, q, target);
  turn[1] = turn_from(frame, q, v_make(p[0].rest, p[1].rest, p[2].rest));
}

// Angle of the smallest rotation that brings q to the twist `end`, and its gradient, a unit vector.
// The rotations of one twist are a great sphere of the unit quaternions,
//     s = x cos(end / 2) - w sin(end / 2) = 0,
// also where the swing is half a turn and x = w = 0: there the twist 2 atan2(x, w) jumps, and its
// gradient is unbounded. Without swing the angle 2 asin(s) is twist - end.
KERNEL R turn_to_twist(Q q, R end, V *n)
{
  SinCos half = r_sincos(0.5f * end);
  R sine = half.cos * q.x - half.sin * q.w;
  V along = v_make(half.cos * q.w + half.sin * q.x, half.cos * q.z + half.sin * q.y,
                   half.sin * q.z - half.cos * q.y);
  R cosine = v_length(along);
  *n = v_scale(1.0f / r_max(cosine, splat(TUNING_MIN_SINE)), along);
  return 2.0f * r_atan2(sine, cosine);
}

// The twist of a ball joint as its distance from the end of its range that is nearer. Of q and -q,
// which are one rotation, the one counts that is nearer to the middle of the range; a locked twist
// takes either, so that its row goes on through half a turn of swing without a change of sign.
KERNEL R limited_twist(Q q, const RowParams *params, V *n)
{
  R lo = params->lo[0], hi = params->hi[0];
  SinCos half = r_sincos(0.5f * params->middle[0]);
  R beyond = half.cos * q.x - half.sin * q.w, near = half.cos * q.w + half.sin * q.x;
  M other = (near < 0.0f) & (lo < hi);
  Q to = q_pick(other, q_make(v_make(-q.x, -q.y, -q.z), -q.w), q);
  M upper = (((beyond > 0.0f) ^ (near < 0.0f)) | (lo <= -UNLIMITED)) & (hi < UNLIMITED);
  R end = pick(upper, hi, lo);
  M none = (end <= -UNLIMITED);
  R angle = angle_near(twist_angle(q), params->middle[0]);
  end = pick(none, angle, end);
  return end + turn_to_twist(to, end, n);
}

// Row 0 is the twist, row 1 the swing angle about a1 x a2.
KERNEL void swing_twist_rows(Q frame, Q q, const RowParams *params, Rows *rows)
{
  V a2 = q_axis_x(q);
  V across = v_make(splat(0.0f), -a2.z, a2.y);
  R sine = v_length(across);
  V y = v_make(splat(0.0f), splat(1.0f), splat(0.0f));
  V swing = v_pick(sine > TUNING_MIN_SWING_SINE,
                   v_scale(1.0f / r_max(sine, splat(TUNING_MIN_SWING_SINE)), across), y);
  V twist;
  rows->x[0] = limited_twist(q, params, &twist);
  rows->n[0] = q_rotate(frame, twist);
  rows->n[1] = q_rotate(frame, swing);
  rows->x[1] = r_atan2(sine, a2.x);
}

// The cross of a universal joint has the axes a1 and b2, which stay perpendicular: rows 0 and 1 are
// the angles about them, row 2 is a1 . b2 about n = b2 x a1.
KERNEL void universal_rows(Q frame, Q q, const RowParams *params, Rows *rows)
{
  V a1 = v_make(splat(1.0f), splat(0.0f), splat(0.0f));
  V a2 = q_axis_x(q);
  V b2 = q_axis_y(q);
  V n = v_cross(b2, a1);
  R sine = v_length(n);
  V z = v_make(splat(0.0f), splat(0.0f), splat(1.0f));
  n = v_pick(sine > TUNING_MIN_SINE, v_scale(1.0f / r_max(sine, splat(TUNING_MIN_SINE)), n), z);
  V change = v_scale(-b2.x, n);
  V across_a = v_make(splat(0.0f), b2.y, b2.z);
  V across_b = v_sub(a1, v_scale(b2.x, b2));
  R turn_a = angle_with_turns(r_atan2(b2.z, b2.y), params->middle[0]);
  R turn_b = angle_with_turns(angle_about(b2, a1, a2), params->middle[1]);
  V along[2];
  limited_angle(turn_a, angle_gradient(a1, b2.x, across_a), sine, change, params, 0, &rows->x[0],
                &along[0]);
  limited_angle(turn_b, angle_gradient(b2, b2.x, across_b), sine, change, params, 1, &rows->x[1],
                &along[1]);
  rows->n[0] = q_rotate(frame, along[0]);
  rows->n[1] = q_rotate(frame, along[1]);
  rows->n[2] = q_rotate(frame, n);
  rows->x[2] = b2.x;
}

// At half a turn the rotation vector changes its sign, and the amount by which a component exceeds
// an asymmetric range [lo, hi] jumps. From TUNING_HALF_TURN_BLEND to pi it is blended with the
// amount for the symmetric range of the same width, which does not jump. `turn` is the angle of the
// rotation, `axis` its gradient.
KERNEL void range_across_half_turn(R turn, V axis, R lo, R hi, R *x, V *n)
{
  R slope = splat(1.0f / (3.14159265f - TUNING_HALF_TURN_BLEND));
  R share = r_clamp(slope * (turn - TUNING_HALF_TURN_BLEND), splat(0.0f), splat(1.0f));
  R half = 0.5f * (hi - lo);
  R one_way = *x - r_clamp(*x, lo, hi);
  R both_ways = *x - r_clamp(*x, -half, half);
  R beyond = one_way + share * (both_ways - one_way);
  R steepness = pick(one_way == 0.0f, splat(0.0f), 1.0f - share) +
                pick(both_ways == 0.0f, splat(0.0f), share);
  V change = v_scale(slope * (both_ways - one_way), axis);
  M near = turn > TUNING_HALF_TURN_BLEND;
  *x = pick(near & (beyond != 0.0f), pick(beyond > 0.0f, hi, lo) + beyond, *x);
  *n = v_pick(near & (beyond != 0.0f), v_add(v_scale(steepness, *n), change), *n);
}

// Components of the rotation vector t. Their gradients are the rows of the inverse left Jacobian:
//     n_i = e_i + t x e_i / 2 + k t x (t x e_i),  k = (1 - (|t| / 2) cot(|t| / 2)) / |t|^2.
KERNEL void generic_rows(Q frame, Q q, const RowParams *params, Rows *rows)
{
  M flip = q.w < 0.0f;
  V v = v_pick(flip, v_make(-q.x, -q.y, -q.z), q_vector(q));
  R w = r_abs(q.w);
  R sine = v_length(v);
  R angle = 2.0f * r_atan2(sine, w);
  M small = angle < TUNING_SERIES_ANGLE;
  R safe_sine = pick(small, splat(1.0f), sine);
  R safe_angle = pick(small, splat(1.0f), angle);
  // The series of angle / sine and of k, exact to rounding.
  R s2 = sine * sine;
  R ratio = pick(small, 2.0f + s2 * (0.333333333f + 0.15f * s2), safe_angle / safe_sine);
  R cot = w / safe_sine;
  R exact = (1.0f - 0.5f * safe_angle * cot) / (safe_angle * safe_angle);
  R k = pick(small, 0.0833333333f + angle * angle * 0.00138888889f, exact);
  V t = v_scale(ratio, v);
  V axis = v_scale(1.0f / safe_sine, v);
  R x[3] = {t.x, t.y, t.z};
  for (int i = 0; i < 3; ++i) {
    V e = v_make(splat(i == 0), splat(i == 1), splat(i == 2));
    V te = v_cross(t, e);
    V n = v_add(e, v_add(v_scale(splat(0.5f), te), v_scale(k, v_cross(t, te))));
    if (RULE(half_turn_blend)) {
      range_across_half_turn(angle, axis, params->lo[i], params->hi[i], &x[i], &n);
    }
    rows->n[i] = q_rotate(frame, n);
    rows->x[i] = x[i];
  }
}

LARGE void angular_rows(JointType type, const JointStart *start, const RowParams *params,
                        const Body *a, const Body *b, Rows *rows)
{
  Q frame = joint_frame(start, a);
  Q q = joint_relative(start, a, b);
  switch (type) {
  case TYPE_BALL:
    swing_twist_rows(frame, q, params, rows);
    break;
  case TYPE_HINGE:
  case TYPE_CYLINDER:
    hinge_rows(frame, q, params, rows);
    break;
  case TYPE_UNIVERSAL:
    universal_rows(frame, q, params, rows);
    break;
  case TYPE_GENERIC:
    generic_rows(frame, q, params, rows);
    break;
  default:
    fixed_rows(frame, q, rows);
    break;
  }
}

#endif
