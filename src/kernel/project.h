// The two projection operations of Mueller et al. 2020, sec. 3.3, on a pair of bodies.
//
//   linear   v += im p,  w += I^-1 (r x p)    impulse p at the lever arm r      (eq. 6-9)
//   angular  w += I^-1 t                      angular impulse t                 (eq. 15, 16)
//   K = sum over both bodies of im 1 - [r] I^-1 [r],  n . K n = w_1 + w_2       (eq. 2, 3)
//
// DEVIATION: the paper corrects positions and derives velocities from their differences, which
// needs doubles. A correction dx is the impulse dx / (h w) acting over the substep, so here every
// correction is an impulse: it changes the velocities, and in position form it also moves the
// bodies by h times that change. The velocity is the one that differencing would give.
//
// Signs: impulses act on body B; body A gets the opposite.
#ifndef TENON_KERNEL_PROJECT_H
#define TENON_KERNEL_PROJECT_H

#include "kernel/algebra.h"

// A body during a step. Poses are relative to the start of the step, so that float rounding is
// relative to the motion and not to the distance from the origin.
typedef struct Body {
  V v, w; // velocity of the centre of mass, m/s; angular velocity, rad/s, world axes
  R im;   // inverse mass, 1/kg; 0: cannot move
  S ii;   // inverse inertia, 1/(kg m^2), world axes
  V dx;   // displacement of the centre of mass since the step began, m
  Q dq;   // rotation since the step began
} Body;

// What an impulse changes: the velocity alone, or velocity and pose.
typedef enum Form { FORM_VELOCITY, FORM_POSITION } Form;

// q <- q + 1/2 [w, 0] q, normalized: eq. 8 and 15. w is a small rotation vector, rad.
KERNEL Q rotated_by(Q q, V w)
{
  Q spin = {0.5f * w.x, 0.5f * w.y, 0.5f * w.z, splat(0.0f)};
  Q d = q_mul(spin, q);
  Q sum = {q.x + d.x, q.y + d.y, q.z + d.z, q.w + d.w};
  return q_normalize(sum);
}

KERNEL void apply_delta(Body *body, V dv, V dw, Form form, R h)
{
  body->v = v_add(body->v, dv);
  body->w = v_add(body->w, dw);
  if (form == FORM_POSITION) {
    body->dx = v_add(body->dx, v_scale(h, dv));
    body->dq = rotated_by(body->dq, v_scale(h, dw));
  }
}

// First operation, eq. 6-9: impulse p, N s, at the lever arms ra, rb.
KERNEL void apply_linear(Body *a, Body *b, V ra, V rb, V p, Form form, R h)
{
  apply_delta(a, v_scale(-a->im, p), s_mul(a->ii, v_cross(p, ra)), form, h);
  apply_delta(b, v_scale(b->im, p), s_mul(b->ii, v_cross(rb, p)), form, h);
}

// Second operation, eq. 15 and 16: angular impulse t, N m s.
KERNEL void apply_angular(Body *a, Body *b, V t, Form form, R h)
{
  V none = v_zero();
  V ta = s_mul(a->ii, t);
  apply_delta(a, none, v_make(-ta.x, -ta.y, -ta.z), form, h);
  apply_delta(b, none, s_mul(b->ii, t), form, h);
}

// J v of both operations: the velocity of B's point relative to A's, and the relative angular
// velocity.
KERNEL V relative_velocity(const Body *a, const Body *b, V ra, V rb)
{
  V va = v_add(a->v, v_cross(a->w, ra));
  V vb = v_add(b->v, v_cross(b->w, rb));
  return v_sub(vb, va);
}

KERNEL V relative_spin(const Body *a, const Body *b)
{
  return v_sub(b->w, a->w);
}

// -[r] I^-1 [r], the angular part of a point's inverse mass; i is the inverse inertia.
KERNEL S lever_inverse_mass(S i, V r)
{
  // Columns of I^-1 [r].
  V c0 = s_mul(i, v_make(splat(0.0f), r.z, -r.y));
  V c1 = s_mul(i, v_make(-r.z, splat(0.0f), r.x));
  V c2 = s_mul(i, v_make(r.y, -r.x, splat(0.0f)));
  S k = {r.z * c0.y - r.y * c0.z, r.x * c1.z - r.z * c1.x, r.y * c2.x - r.x * c2.y,
         r.z * c1.y - r.y * c1.z, r.z * c2.y - r.y * c2.z, r.x * c2.z - r.z * c2.x};
  return k;
}

// K: the generalized inverse masses of eq. 2 and 3 for all directions at once.
KERNEL S linear_inverse_mass(const Body *a, const Body *b, V ra, V rb)
{
  S k = s_add(lever_inverse_mass(a->ii, ra), lever_inverse_mass(b->ii, rb));
  R m = a->im + b->im;
  k.xx = k.xx + m;
  k.yy = k.yy + m;
  k.zz = k.zz + m;
  return k;
}

// The same for rotations, eq. 11 and 12.
KERNEL S angular_inverse_mass(const Body *a, const Body *b)
{
  return s_add(a->ii, b->ii);
}

#endif
