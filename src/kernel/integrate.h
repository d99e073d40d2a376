// Motion between constraint solves: the prediction of positions and velocities in Algorithm 2 of
// Mueller et al. 2020. kick() applies external forces, drift() advances the pose:
//
//   v += h a,  w += h I^-1 tau;    x += h v,  q advances by a free rotation over h
//
// The rotational state is the angular momentum L; w follows from it at each new pose.
#ifndef TENON_KERNEL_INTEGRATE_H
#define TENON_KERNEL_INTEGRATE_H

#include "kernel/project.h"
#include "kernel/trig.h"
#include "kernel/tuning.h"

// Rotational state of a body. The first two fields change in a step, the others do not.
typedef struct AngularState {
  V momentum; // angular momentum, N m s, world axes: free flight conserves it bit for bit
  V last;     // angular velocity after the last drift, rad/s; w - last is due to impulses
  V inertia;  // principal moments, kg m^2, ascending
  V inverse;  // their inverses
  Q start;    // principal axes when the step began
} AngularState;

typedef struct BodyStepParams {
  R linear, angular;              // damping factors of v and w per substep
  R max_speed, max_angular_speed; // m/s, rad/s
  R inverse_inertia_scale;        // factor of the inverse inertia that impulses see; 0: none
  R first_kick; // share of a substep's kick before the first drift of the step; the rest follows
                // the last drift. 0.5 (leapfrog) makes free fall exact; supported bodies take 1, so
                // that contacts see all of their weight.
} BodyStepParams;

KERNEL void kick(Body *body, V acceleration, V torque, R h)
{
  body->v = v_add(body->v, v_scale(h, acceleration));
  body->w = v_add(body->w, v_scale(h, s_mul(body->ii, torque)));
}

// Called before the kick, so that damping does not reduce the weight of a body at rest.
KERNEL void damp(Body *body, const BodyStepParams *params)
{
  body->v = v_scale(params->linear, body->v);
  body->w = v_scale(params->angular, body->w);
}

// Scales by the largest component first: the square of a velocity may overflow.
KERNEL V clamp_length(V v, R max)
{
  R largest = r_max(r_max(r_abs(v.x), r_abs(v.y)), r_abs(v.z));
  if (!m_any(largest * 1.7321f > max)) { // |v| <= sqrt(3) largest
    return v;
  }
  V unit = v_scale(1.0f / r_max(largest, splat(TUNING_MIN_DIVISOR)), v);
  R length = v_length(unit);
  return v_pick(largest * length > max,
                v_scale(max / r_max(length, splat(TUNING_MIN_DIVISOR)), unit), v);
}

KERNEL void limit_speed(Body *body, const BodyStepParams *params)
{
  body->v = clamp_length(body->v, params->max_speed);
  body->w = clamp_length(body->w, params->max_angular_speed);
}

// Rotates the body frame about one of its axes; s and c are the sine and cosine of half the angle,
// (u, v) the other two components of the momentum in cyclic order.
KERNEL void rotate_momentum(R *u, R *v, R s, R c)
{
  R sin = 2.0f * s * c;
  R cos = 1.0f - 2.0f * s * s;
  R turned = cos * *u + sin * *v;
  *v = cos * *v - sin * *u;
  *u = turned;
}

// Free rotation over h: conserves angular momentum exactly and is symplectic.
//
//   H = L.L / (2 I_y) + (1/I_x - 1/I_y) L_x^2 / 2 + (1/I_z - 1/I_y) L_z^2 / 2
//
// The flow of the first term is a steady rotation about L (returned, world axes). The flows of the
// other two rotate the body about its own x and z axes by h (1/I_x - 1/I_y) L_x and
// h (1/I_z - 1/I_y) L_z (body_turn, body axes). Composed as z/2, x, z/2 the splitting is of second
// order, and exact when two moments are equal.
//
// Of other bodies turns of more than TUNING_MAX_PRECESSION are not resolved and would change the
// energy at random, up to the ratio of the moments. Both rates are reduced by one factor then: the
// tumbling slows down, and as L.L and the sum of the last two terms stay conserved, so does the
// energy.
//
// DEVIATION: the paper adds the gyroscopic term explicitly, which gains energy without bound.
KERNEL Q free_rotation(const AngularState *spin, V local_momentum, R h, Q *body_turn)
{
  V l = local_momentum;
  R rate_x = h * (spin->inverse.x - spin->inverse.y);
  R rate_z = h * (spin->inverse.z - spin->inverse.y);
  R fast = r_max(r_abs(rate_x), r_abs(rate_z)), slow = r_min(r_abs(rate_x), r_abs(rate_z));
  R most = fast * (r_abs(l.x) + r_abs(l.y) + r_abs(l.z));
  most = pick(slow > TUNING_SYMMETRIC_TOP * fast, most, splat(0.0f));
  R slower = TUNING_MAX_PRECESSION / r_max(splat(TUNING_MAX_PRECESSION), most);
  rate_x = slower * rate_x;
  rate_z = slower * rate_z;
  SinCos z1 = r_sincos(0.25f * rate_z * l.z);
  rotate_momentum(&l.x, &l.y, z1.sin, z1.cos);
  SinCos x = r_sincos(0.5f * rate_x * l.x);
  rotate_momentum(&l.y, &l.z, x.sin, x.cos);
  SinCos z2 = r_sincos(0.25f * rate_z * l.z);
  // Product of the quaternions (0, 0, z1.sin, z1.cos) (x.sin, 0, 0, x.cos) (0, 0, z2.sin, z2.cos).
  body_turn->x = x.sin * (z1.cos * z2.cos + z1.sin * z2.sin);
  body_turn->y = x.sin * (z1.sin * z2.cos - z1.cos * z2.sin);
  body_turn->z = x.cos * (z1.sin * z2.cos + z1.cos * z2.sin);
  body_turn->w = x.cos * (z1.cos * z2.cos - z1.sin * z2.sin);

  V steady = v_scale(0.5f * h * spin->inverse.y, spin->momentum);
  R angle = v_length(steady);
  SinCos s = r_sincos(angle);
  R sinc = pick(angle > TUNING_MIN_ANGLE,
                s.sin / pick(angle > TUNING_MIN_ANGLE, angle, splat(1.0f)), splat(1.0f));
  return q_make(v_scale(sinc, steady), s.cos);
}

// Sets components below `least` to zero. What decays or is left of rounding would otherwise become
// so small that products of it are subnormal numbers, with which arithmetic is up to a hundred
// times as slow: a world at rest took twice the time. All lane widths and the scalar code must do
// so alike.
KERNEL V flush_below(float least, V v)
{
  R zero = splat(0.0f);
  return v_make(pick(r_abs(v.x) < least, zero, v.x), pick(r_abs(v.y) < least, zero, v.y),
                pick(r_abs(v.z) < least, zero, v.z));
}

KERNEL Q flush_rotation_below(float least, Q q)
{
  return q_make(flush_below(least, q_vector(q)), pick(r_abs(q.w) < least, splat(0.0f), q.w));
}

KERNEL Q flush_tiny_rotation(Q q)
{
  return flush_rotation_below(TUNING_TINY_MOTION, q);
}

// Principal axes at the present pose, in world axes.
KERNEL Q principal_axes(const Body *body, const AngularState *spin)
{
  return flush_rotation_below(TUNING_TINY_AXES, q_mul(body->dq, spin->start));
}

// L += I (w - last): adds the impulses since the last drift. A body without any keeps its momentum
// bit for bit.
KERNEL void update_angular_momentum(const Body *body, AngularState *spin)
{
  Q q = principal_axes(body, spin);
  V impulse = v_mul(spin->inertia, q_unrotate(q, v_sub(body->w, spin->last)));
  spin->momentum = flush_below(TUNING_TINY, v_add(spin->momentum, q_rotate(q, impulse)));
  spin->last = body->w;
}

// The part of a drift before free_rotation(). Returns the momentum in the body's principal axes.
KERNEL V drift_begin(Body *body, AngularState *spin, R h)
{
  body->v = flush_below(TUNING_TINY_MOTION, body->v);
  body->w = flush_below(TUNING_TINY_MOTION, body->w);
  body->dx = v_add(body->dx, v_scale(h, body->v));
  update_angular_momentum(body, spin);
  return q_unrotate(principal_axes(body, spin), spin->momentum);
}

// The part of a drift after free_rotation(): dq, then w = I^-1 L and the inverse inertia at the new
// pose.
KERNEL void drift_end(Body *body, AngularState *spin, R inverse_inertia_scale, Q world_turn,
                      Q body_turn)
{
  Q turn = q_make(q_rotate(spin->start, q_vector(body_turn)), body_turn.w);
  body->dq = q_normalize(flush_tiny_rotation(q_mul(q_mul(world_turn, body->dq), turn)));

  Q q = principal_axes(body, spin);
  V w = q_rotate(q, v_mul(spin->inverse, q_unrotate(q, spin->momentum)));
  body->w = flush_below(TUNING_TINY_MOTION, w);
  M turns = (body->w.x != 0.0f) | (body->w.y != 0.0f) | (body->w.z != 0.0f);
  spin->momentum = v_pick(turns, spin->momentum, v_zero());
  spin->last = body->w;
  body->ii = s_scale(inverse_inertia_scale, s_rotated_diagonal(q, spin->inverse));
}

// Advances the pose by h.
KERNEL void drift(Body *body, AngularState *spin, R inverse_inertia_scale, R h)
{
  V local = drift_begin(body, spin, h);
  Q body_turn;
  Q world_turn = free_rotation(spin, local, h, &body_turn);
  drift_end(body, spin, inverse_inertia_scale, world_turn, body_turn);
}

#endif
