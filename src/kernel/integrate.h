// Motion between constraint solves: the first and third loops of Algorithm 2.
#ifndef TENON_KERNEL_INTEGRATE_H
#define TENON_KERNEL_INTEGRATE_H

#include "kernel/project.h"
#include "kernel/trig.h"

// What a body carries besides its Body, constant over a step but for the first two.
typedef struct AngularState {
  V momentum; // angular momentum, world axes: the state that free flight keeps to the bit
  V last;     // angular velocity after the last drift; what differs from it is an impulse
  V inertia;  // principal moments, ascending
  V inverse;  // their inverses
  Q start;    // principal axes when the step began
} AngularState;

typedef struct BodyStepParams {
  R linear, angular;              // factors of the velocities, a substep
  R max_speed, max_angular_speed; // caps
  R inverse_inertia_scale;        // share of its inverse moments that impulses find; 0: none
  R first_kick; // share of a substep's kick that comes before the step's first drift: the rest
                // follows its last. Half is exact for free motion; what contacts hold takes all of
                // it at once.
} BodyStepParams;

KERNEL void kick(Body *body, V acceleration, V torque, R h)
{
  body->v = v_add(body->v, v_scale(h, acceleration));
  body->w = v_add(body->w, v_scale(h, s_mul(body->ii, torque)));
}

// Before the kick, so that a body held at rest against its weight feels all of it.
KERNEL void damp(Body *body, const BodyStepParams *params)
{
  body->v = v_scale(params->linear, body->v);
  body->w = v_scale(params->angular, body->w);
}

// Through the largest component, whose square may be beyond a float.
KERNEL V clamp_length(V v, R max)
{
  R largest = r_max(r_max(r_abs(v.x), r_abs(v.y)), r_abs(v.z));
  if (!m_any(largest * 1.7321f > max)) { // a diagonal at most
    return v;
  }
  V unit = v_scale(1.0f / r_max(largest, splat(1e-30f)), v);
  R length = v_length(unit);
  return v_pick(largest * length > max, v_scale(max / r_max(length, splat(1e-30f)), unit), v);
}

KERNEL void limit_speed(Body *body, const BodyStepParams *params)
{
  body->v = clamp_length(body->v, params->max_speed);
  body->w = clamp_length(body->w, params->max_angular_speed);
}

// Turns the body frame about one of its axes by the angle whose half has sine s and cosine c;
// (u, v) are the other two components of the momentum, in cyclic order.
KERNEL void rotate_momentum(R *u, R *v, R s, R c)
{
  R sin = 2.0f * s * c;
  R cos = 1.0f - 2.0f * s * s;
  R turned = cos * *u + sin * *v;
  *v = cos * *v - sin * *u;
  *u = turned;
}

// Free rotation over h, exact in angular momentum and symplectic.
//
// DEVIATION: the paper adds the gyroscopic term explicitly, which gains energy without bound.
// With 1/I_y taken out of all three moments the energy is L.L / (2 I_y), whose flow is a steady
// turn about L, plus terms in L_x and L_z alone, whose flows turn the body about its own x and z
// axes. Composed as z/2, x, z/2 this is of second order, and exact when two moments are equal.
KERNEL Q free_rotation(const AngularState *spin, V local_momentum, R h, Q *body_turn)
{
  V l = local_momentum;
  R rate_x = h * (spin->inverse.x - spin->inverse.y);
  R rate_z = h * (spin->inverse.z - spin->inverse.y);
  SinCos z1 = r_sincos(0.25f * rate_z * l.z);
  rotate_momentum(&l.x, &l.y, z1.sin, z1.cos);
  SinCos x = r_sincos(0.5f * rate_x * l.x);
  rotate_momentum(&l.y, &l.z, x.sin, x.cos);
  SinCos z2 = r_sincos(0.25f * rate_z * l.z);
  // The product of the three turns (0, 0, z1) (x, 0, 0) (0, 0, z2).
  body_turn->x = x.sin * (z1.cos * z2.cos + z1.sin * z2.sin);
  body_turn->y = x.sin * (z1.sin * z2.cos - z1.cos * z2.sin);
  body_turn->z = x.cos * (z1.sin * z2.cos + z1.cos * z2.sin);
  body_turn->w = x.cos * (z1.cos * z2.cos - z1.sin * z2.sin);

  V steady = v_scale(0.5f * h * spin->inverse.y, spin->momentum);
  R angle = v_length(steady);
  SinCos s = r_sincos(angle);
  R sinc = pick(angle > 1e-20f, s.sin / pick(angle > 1e-20f, angle, splat(1.0f)), splat(1.0f));
  return q_make(v_scale(sinc, steady), s.cos);
}

// Motion that fades ends at zero: subnormal numbers are slow.
KERNEL V flush_tiny(V v)
{
  R zero = splat(0.0f);
  return v_make(pick(r_abs(v.x) < 1e-25f, zero, v.x), pick(r_abs(v.y) < 1e-25f, zero, v.y),
                pick(r_abs(v.z) < 1e-25f, zero, v.z));
}

// Adds to the momentum what the angular velocity gained since the last drift. A body that nothing
// has touched keeps its momentum to the bit.
KERNEL void update_angular_momentum(const Body *body, AngularState *spin)
{
  Q q = q_mul(body->dq, spin->start);
  V impulse = v_mul(spin->inertia, q_unrotate(q, v_sub(body->w, spin->last)));
  spin->momentum = flush_tiny(v_add(spin->momentum, q_rotate(q, impulse)));
  spin->last = body->w;
}

// What a drift has to do before the rotation, and after it. Returns the momentum in the body's
// axes.
KERNEL V drift_begin(Body *body, AngularState *spin, R h)
{
  body->v = flush_tiny(body->v);
  body->dx = v_add(body->dx, v_scale(h, body->v));
  update_angular_momentum(body, spin);
  return q_unrotate(q_mul(body->dq, spin->start), spin->momentum);
}

// The angular velocity follows the momentum to the new pose.
KERNEL void drift_end(Body *body, AngularState *spin, R inverse_inertia_scale, Q world_turn,
                      Q body_turn)
{
  Q turn = q_make(q_rotate(spin->start, q_vector(body_turn)), body_turn.w);
  body->dq = q_normalize(q_mul(q_mul(world_turn, body->dq), turn));

  Q q = q_mul(body->dq, spin->start);
  body->w = q_rotate(q, v_mul(spin->inverse, q_unrotate(q, spin->momentum)));
  spin->last = body->w;
  body->ii = s_scale(inverse_inertia_scale, s_rotated_diagonal(q, spin->inverse));
}

// x and q advance by h.
KERNEL void drift(Body *body, AngularState *spin, R inverse_inertia_scale, R h)
{
  V local = drift_begin(body, spin, h);
  Q body_turn;
  Q world_turn = free_rotation(spin, local, h, &body_turn);
  drift_end(body, spin, inverse_inertia_scale, world_turn, body_turn);
}

#endif
