// The two projection operations of Mueller et al. sec. 3.3, on a pair of bodies.
//
// DEVIATION: the paper corrects positions and derives velocities from their differences, which
// needs doubles. A correction dx is the impulse dx / (h w) acting over the substep, so here every
// correction is an impulse: it changes the velocities, and where a method corrects positions it
// moves them by h times that. The velocity is then the one that differencing would find.
//
// Signs: an impulse acts on body B; body A gets its opposite.
#ifndef TENON_KERNEL_PROJECT_H
#define TENON_KERNEL_PROJECT_H

#include "kernel/algebra.h"

// A body during a step.
typedef struct Body {
  V v, w; // velocity and angular velocity
  R im;   // inverse mass
  S ii;   // inverse inertia, world axes
  V dx;   // displacement since the step began
  Q dq;   // rotation since the step began
} Body;

// What an impulse changes: velocities, or positions with them.
typedef enum Form { FORM_VELOCITY, FORM_POSITION } Form;

// q <- q + 1/2 [w, 0] q, normalized: eq. 8 and 15.
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

// First operation, eq. 6-9: impulse p at the levers ra, rb.
KERNEL void apply_linear(Body *a, Body *b, V ra, V rb, V p, Form form, R h)
{
  apply_delta(a, v_scale(-a->im, p), s_mul(a->ii, v_cross(p, ra)), form, h);
  apply_delta(b, v_scale(b->im, p), s_mul(b->ii, v_cross(rb, p)), form, h);
}

// Second operation, eq. 15-16: angular impulse t.
KERNEL void apply_angular(Body *a, Body *b, V t, Form form, R h)
{
  V none = v_zero();
  V ta = s_mul(a->ii, t);
  apply_delta(a, none, v_make(-ta.x, -ta.y, -ta.z), form, h);
  apply_delta(b, none, s_mul(b->ii, t), form, h);
}

// What the operations act on: the velocity of B's point relative to A's, and the relative spin.
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

// -[r] I [r], the part of a point's inverse mass that turning gives.
KERNEL S lever_inverse_mass(S i, V r)
{
  // Columns of I [r].
  V c0 = s_mul(i, v_make(splat(0.0f), r.z, -r.y));
  V c1 = s_mul(i, v_make(-r.z, splat(0.0f), r.x));
  V c2 = s_mul(i, v_make(r.y, -r.x, splat(0.0f)));
  S k = {r.z * c0.y - r.y * c0.z, r.x * c1.z - r.z * c1.x, r.y * c2.x - r.x * c2.y,
         r.z * c1.y - r.y * c1.z, r.z * c2.y - r.y * c2.z, r.x * c2.z - r.z * c2.x};
  return k;
}

// Generalized inverse masses of both bodies, eq. 2-3 for all directions at once: n . K n = w1 + w2.
KERNEL S linear_inverse_mass(const Body *a, const Body *b, V ra, V rb)
{
  S k = s_add(lever_inverse_mass(a->ii, ra), lever_inverse_mass(b->ii, rb));
  R m = a->im + b->im;
  k.xx = k.xx + m;
  k.yy = k.yy + m;
  k.zz = k.zz + m;
  return k;
}

// Eq. 11-12.
KERNEL S angular_inverse_mass(const Body *a, const Body *b)
{
  return s_add(a->ii, b->ii);
}

#endif
