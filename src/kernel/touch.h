// Particles against rigid bodies and against each other, and particles attached to bodies.
//
// Up to three particles with weights b make one point x = sum b x_i, on a triangle or a particle;
// n leads to it from what it touches, a point of a body or, with weights that sum up to zero,
// other particles. Impulses act at x on both sides, so that both momenta are kept; between two
// particles those of friction cannot.
#ifndef TENON_KERNEL_TOUCH_H
#define TENON_KERNEL_TOUCH_H

#include "contact.h"
#include "soft.h"

#define TOUCH_PARTICLES 5

typedef struct TouchParams {
  R weight[TOUCH_PARTICLES];
  V apart; // from the core to x when the step began
  V core;  // from the body's centre of mass, likewise; of a facet: to its second corner, from the
           // first
  V normal;
  R round;    // 1: the normal leads from the core to x; 0: it stays as it is
  R distance; // of x from the core, or from the plane through it, where they touch
  R mu_static, mu_dynamic, restitution, compliance;
  R beta, fastest; // share of a penetration that goes in a substep; its largest speed, m/s
  V slide;         // velocity of the surface under x; of a facet: to its third corner
} TouchParams;

typedef struct TouchState {
  R lambda;
  V friction;
  R closing; // speed that was stopped in the substep
  V sum;     // impulses of the step
} TouchState;

// Where it touches now.
typedef struct TouchPlace {
  V n, lever; // of the body, at x
  R gap;
} TouchPlace;

// From the core to x now.
KERNEL V touch_apart(int count, const TouchParams *params, const Particle *p, const Body *body,
                     V *lever)
{
  V d = params->apart;
  for (int i = 0; i < count; ++i) {
    d = v_add(d, v_scale(params->weight[i], p[i].dx));
  }
  V turned = q_rotate_change(body->dq, params->core);
  d = v_sub(d, v_add(body->dx, turned));
  *lever = v_add(v_add(params->core, turned), d);
  return d;
}

KERNEL TouchPlace touch_place(int count, const TouchParams *params, const Particle *p,
                              const Body *body)
{
  TouchPlace place;
  V d = touch_apart(count, params, p, body, &place.lever);
  R length = v_length(d);
  M round = (params->round > 0.5f) & (length > 1e-9f);
  place.n = v_pick(round, v_scale(1.0f / r_max(length, splat(1e-9f)), d), params->normal);
  place.gap = v_dot(place.n, d) - params->distance;
  return place;
}

KERNEL V touch_velocity(int count, const R *weight, const Particle *p, const Body *body, V lever)
{
  V u = v_zero();
  for (int i = 0; i < count; ++i) {
    u = v_add(u, v_scale(weight[i], p[i].v));
  }
  return v_sub(u, v_add(body->v, v_cross(body->w, lever)));
}

// Inverse mass of x against its body, for all directions.
KERNEL S touch_mass(int count, const R *weight, const Particle *p, const Body *body, V lever)
{
  R w = body->im;
  for (int i = 0; i < count; ++i) {
    w = w + weight[i] * weight[i] * p[i].w;
  }
  S k = lever_inverse_mass(body->ii, lever);
  k.xx = k.xx + w;
  k.yy = k.yy + w;
  k.zz = k.zz + w;
  return k;
}

KERNEL void touch_push(int count, const SoftPass *pass, const R *weight, Particle *p, Body *body,
                       V lever, V impulse)
{
  for (int i = 0; i < count; ++i) {
    push(pass, &p[i], v_scale(weight[i] * p[i].w, impulse));
  }
  change(body, v_scale(-body->im, impulse), s_mul(body->ii, v_cross(impulse, lever)), pass->form,
         pass->h);
}

// A substep starts from nothing: what is behind a light particle is not known to its contact, and
// the last impulse would be a blow to it.
KERNEL void begin_touch(TouchState *state)
{
  state->lambda = splat(0.0f);
  state->friction = v_zero();
  state->closing = splat(0.0f);
}

// Holds x against sliding as far as the load allows.
KERNEL V touch_friction(const TouchParams *params, const TouchPlace *place, S k, V u,
                        TouchState *state)
{
  Frame f = frame_about(place->n);
  V ks = s_mul(k, f.s);
  S2 m = {v_dot(f.s, ks), v_dot(f.t, ks), v_dot(f.t, s_mul(k, f.t))};
  S2 inverse = s2_inverse(m);
  R s = -v_dot(f.s, u);
  R t = -v_dot(f.t, u);
  R ws = v_dot(state->friction, f.s) + inverse.xx * s + inverse.xy * t;
  R wt = v_dot(state->friction, f.t) + inverse.xy * s + inverse.yy * t;
  R length = r_sqrt(ws * ws + wt * wt);
  R stick = params->mu_static * state->lambda;
  R bound = pick(length > stick, params->mu_dynamic * state->lambda, stick);
  R scale = r_min(splat(1.0f), bound / r_max(length, splat(1e-30f)));
  V now = v_add(v_scale(scale * ws, f.s), v_scale(scale * wt, f.t));
  V change = v_sub(now, state->friction);
  state->friction = now;
  return change;
}

// A triangle that a particle or an edge touches, as a rigid body. It passes on to its corners what
// it gets: at any place, on the triangle or in front of it, their impulses have the same sum and
// moment.
typedef struct Plate {
  V arm[3]; // of the corners, from their centre of mass
  V v, w;
} Plate;

// b: minus the weights of its corners. Sets the body's velocities, masses, and its core as params
// have it for all bodies.
KERNEL Body plate_body(TouchParams *params, const R *b, const Particle *p, Plate *plate)
{
  V *arm = plate->arm, to[3] = {v_zero(), params->core, params->slide};
  V foot = v_zero(), moved = v_zero(), center = v_zero(), moment = v_zero();
  R most = r_max(p[0].w, r_max(p[1].w, p[2].w));
  R floor = r_max(1e-6f * most, splat(1e-30f)); // a pinned corner is heavy
  R mass[3], sum = splat(0.0f);
  for (int i = 0; i < 3; ++i) {
    arm[i] = v_add(to[i], v_sub(p[i].dx, p[0].dx));
    foot = v_sub(foot, v_scale(b[i], arm[i]));
    moved = v_sub(moved, v_scale(b[i], p[i].dx));
    mass[i] = r_max(most, splat(1e-30f)) / r_max(p[i].w, floor);
    sum = sum + mass[i];
    center = v_add(center, v_scale(mass[i], arm[i]));
  }
  R share = 1.0f / sum;
  center = v_scale(share, center);
  plate->v = v_zero();
  S spread = {splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f)};
  for (int i = 0; i < 3; ++i) {
    arm[i] = v_sub(arm[i], center);
    spread = s_add(spread, s_scale(mass[i], s_outer(arm[i])));
    V weighted = v_scale(mass[i], p[i].v);
    plate->v = v_add(plate->v, v_scale(share, weighted));
    moment = v_add(moment, v_cross(arm[i], weighted));
  }
  R inv;
  S inverse = turn_matrix(spread, &inv);
  plate->w = v_scale(inv, s_mul(inverse, moment));
  params->core = v_sub(foot, center);
  params->slide = v_zero();
  Body body = {plate->v,     plate->w,
               most * share, s_scale(most * inv, inverse),
               moved,        {splat(0.0f), splat(0.0f), splat(0.0f), splat(1.0f)}};
  return body;
}

KERNEL void plate_push(const SoftPass *pass, const Plate *plate, const Body *body, Particle *p)
{
  V dv = v_sub(body->v, plate->v), dw = v_sub(body->w, plate->w);
  for (int i = 0; i < 3; ++i) {
    V change = v_add(dv, v_cross(dw, plate->arm[i]));
    push(pass, &p[i], v_pick(p[i].w > 0.0f, change, v_zero()));
  }
}

// One pass; `relaxing` is the one at the new pose, which corrects nothing and gives what bounces
// its speed back if it came faster than `bounce_speed`. In position form the overlap goes at once,
// and friction holds what moved since the substep began along with it; velocities follow as
// everywhere in that form.
KERNEL void solve_touch(int count, const SoftPass *pass, int relaxing, R bounce_speed,
                        const TouchParams *params, TouchState *state, Particle *p, Body *body)
{
  int positions = pass->form == FORM_POSITION;
  TouchPlace place = touch_place(count, params, p, body);
  S k = touch_mass(count, params->weight, p, body, place.lever);
  V u = touch_velocity(count, params->weight, p, body, place.lever);
  R un = positions ? splat(0.0f) : v_dot(u, place.n);
  R kn = v_dot(place.n, s_mul(k, place.n));
  R a = params->compliance * pass->inv_h2;
  M soft = params->compliance > 0.0f;
  R rate;
  M out = kn < 0.0f; // none
  if (relaxing) {
    M bounces = (state->closing > bounce_speed) & (params->restitution > 0.0f);
    rate = pick(bounces, -params->restitution * state->closing, splat(0.0f));
    out = ((place.gap > 0.0f) & (state->lambda == 0.0f) & m_not(bounces)) | soft;
  } else if (positions) {
    rate = r_max(place.gap * pass->inv_h, -params->fastest) + a * state->lambda;
  } else {
    rate = pick(place.gap > 0.0f, place.gap * pass->inv_h,
                r_max(params->beta * place.gap * pass->inv_h, -params->fastest));
    rate = pick(soft, place.gap * pass->inv_h + a * state->lambda, rate);
  }
  R x = -(rate + un) * r_inverse_above(kn + a, splat(0.0f));
  x = pick(out, splat(0.0f), r_max(x, -state->lambda));
  if (!relaxing) {
    M first = (state->lambda == 0.0f) & (x > 0.0f);
    state->closing = pick(first, r_max(state->closing, -un), state->closing);
  }
  state->lambda = state->lambda + x;
  touch_push(count, pass, params->weight, p, body, place.lever, v_scale(x, place.n));
  u = v_sub(touch_velocity(count, params->weight, p, body, place.lever), params->slide);
  V f = touch_friction(params, &place, k, u, state);
  touch_push(count, pass, params->weight, p, body, place.lever, f);
  if (relaxing) {
    state->sum = v_add(state->sum, v_add(v_scale(state->lambda, place.n), state->friction));
  } else if (positions) {
    state->sum = v_add(state->sum, v_add(v_scale(x, place.n), f));
  }
}

// ---------------------------------------------------------------------------------------------
// Attachments: a particle and a point of a body, all three directions at once

typedef struct HoldParams {
  V apart; // from the body's point to the particle when the step began
  V core;  // the point, from the body's centre of mass
  R compliance;
} HoldParams;

typedef struct HoldState {
  V lambda;
  V sum;
} HoldState;

// What rounding has kept from a body that many particles pull at: their impulses are small, and of
// a fast body's velocity each would fall below the last bit.
typedef struct Carry {
  V v, w;
} Carry;

KERNEL void add_carrying(V *sum, V *carry, V x)
{
  V wanted = v_add(x, *carry);
  V now = v_add(*sum, wanted);
  *carry = v_sub(wanted, v_sub(now, *sum));
  *sum = now;
}

KERNEL void hold_push(const SoftPass *pass, Particle *p, Body *body, Carry *carry, V lever,
                      V impulse)
{
  push(pass, p, v_scale(p->w, impulse));
  V dv = v_scale(-body->im, impulse);
  V dw = s_mul(body->ii, v_cross(impulse, lever));
  if (pass->form == FORM_POSITION) {
    change(body, dv, dw, pass->form, pass->h);
  } else {
    add_carrying(&body->v, &carry->v, dv);
    add_carrying(&body->w, &carry->w, dw);
  }
}

KERNEL V hold_apart(const HoldParams *params, const Particle *p, const Body *body, V *lever)
{
  V turned = q_rotate_change(body->dq, params->core);
  V d = v_sub(v_add(params->apart, p->dx), v_add(body->dx, turned));
  *lever = v_add(v_add(params->core, turned), d);
  return d;
}

KERNEL V hold_answer(S k, R a, V want)
{
  k.xx = k.xx + a;
  k.yy = k.yy + a;
  k.zz = k.zz + a;
  R trace = r_inverse_above(k.xx + k.yy + k.zz, splat(0.0f));
  S inverse = s_inverse(s_scale(trace, k), splat(1e-18f));
  return v_scale(-trace, s_mul(inverse, want));
}

// A spring keeps its load. A rigid hold begins with nothing: with half of its last impulse a light
// tyre on a fast rim shakes itself apart.
KERNEL void warm_hold(const SoftPass *pass, R keep, const HoldParams *params, HoldState *state,
                      Particle *p, Body *body, Carry *carry)
{
  R zero = splat(0.0f);
  V lever;
  hold_apart(params, p, body, &lever);
  M spring = (params->compliance > 0.0f) & (keep > 0.0f); // not where positions are solved
  state->lambda = v_scale(pick(spring, splat(1.0f), zero), state->lambda);
  hold_push(pass, p, body, carry, lever, state->lambda);
}

KERNEL void solve_hold(const SoftPass *pass, int relaxing, const HoldParams *params,
                       HoldState *state, Particle *p, Body *body, Carry *carry)
{
  R one = splat(1.0f);
  V lever;
  V d = hold_apart(params, p, body, &lever);
  S k = touch_mass(1, &one, p, body, lever);
  R a = params->compliance * pass->inv_h2;
  V u = pass->form == FORM_POSITION ? v_zero() : touch_velocity(1, &one, p, body, lever);
  V want = u;
  if (!relaxing) {
    want = v_add(want, v_add(v_scale(pass->inv_h, d), v_scale(a, state->lambda)));
  }
  V x = hold_answer(k, a, want);
  if (relaxing) {
    M hard = a <= k.xx + k.yy + k.zz;
    x = v_pick(hard, x, v_zero());
    state->sum = v_add(state->sum, v_add(state->lambda, x));
  } else {
    state->lambda = v_add(state->lambda, x);
    if (pass->form == FORM_POSITION) {
      state->sum = v_add(state->sum, x);
    }
  }
  hold_push(pass, p, body, carry, lever, x);
}

#endif
