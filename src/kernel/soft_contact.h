// Contacts of particles with rigid bodies and with each other, and attachments of particles to
// bodies (Deul et al. 2014, sec. 7).
//
// The contact point is x = sum b_i x_i, with weights b of the particles of a vertex, edge or
// triangle. The normal n leads to x from the other side: a point of a body, or other particles,
// whose weights are negative so that all sum to zero. Impulses act at x on both sides, which
// conserves linear and angular momentum. Friction between two single particles is the exception:
// they have no rotation to take up its moment.
#ifndef TENON_KERNEL_SOFT_CONTACT_H
#define TENON_KERNEL_SOFT_CONTACT_H

#include "kernel/contact.h"
#include "kernel/soft.h"

#define SOFT_CONTACT_PARTICLES 5

// Positions and directions are those of the start of the step, world axes. "Core" is the body's
// point that a radius surrounds.
typedef struct SoftContactParams {
  R weight[SOFT_CONTACT_PARTICLES];
  V delta; // from the core to x, m
  union {
    V anchor;     // from the body's centre of mass to the core, m
    V first_side; // of a soft body's triangle: from its first corner to the second, m
  };
  V normal;   // unit
  R round;    // 1: the normal follows delta; 0: it is constant over the step
  R distance; // distance of x from the core, or from its plane, at which the gap is zero, m
  R mu_static, mu_dynamic, restitution, compliance;
  R beta, max_push_speed; // share of a penetration removed per substep, and its cap, m/s
  union {
    V surface_velocity; // of the surface under x, m/s
    V second_side;      // of a soft body's triangle: from its first corner to the third, m
  };
} SoftContactParams;

typedef struct SoftContactState {
  R lambda;         // normal impulse of the substep, N s
  V friction;       // tangential impulse of the substep, N s
  R approach_speed; // greatest approach speed stopped in the substep, m/s
  V sum;            // impulses of the step, N s
} SoftContactState;

// The contact at the current pose.
typedef struct SoftContactGeometry {
  V n, lever; // normal; lever arm of the body at x, m
  R gap;      // m, negative: penetration
} SoftContactGeometry;

// From the core to x at the current pose.
KERNEL V soft_contact_delta(int count, const SoftContactParams *params, const Particle *p,
                            const Body *rigid, V *lever)
{
  V d = params->delta;
  for (int i = 0; i < count; ++i) {
    d = v_add(d, v_scale(params->weight[i], p[i].dx));
  }
  V turned = q_rotate_change(rigid->dq, params->anchor);
  d = v_sub(d, v_add(rigid->dx, turned));
  *lever = v_add(v_add(params->anchor, turned), d);
  return d;
}

KERNEL SoftContactGeometry soft_contact_geometry(int count, const SoftContactParams *params,
                                                 const Particle *p, const Body *rigid)
{
  SoftContactGeometry at;
  V d = soft_contact_delta(count, params, p, rigid, &at.lever);
  R length = v_length(d);
  M round = (params->round > 0.5f) & (length > TUNING_SOFT_CONTACT_MIN_LENGTH);
  at.n = v_pick(round, v_scale(1.0f / r_max(length, splat(TUNING_SOFT_CONTACT_MIN_LENGTH)), d),
                params->normal);
  at.gap = v_dot(at.n, d) - params->distance;
  return at;
}

KERNEL V point_relative_velocity(int count, const R *weight, const Particle *p, const Body *rigid,
                                 V lever)
{
  V u = v_zero();
  for (int i = 0; i < count; ++i) {
    u = v_add(u, v_scale(weight[i], p[i].v));
  }
  return v_sub(u, v_add(rigid->v, v_cross(rigid->w, lever)));
}

// K of the relative motion of x and the body's point, for all directions.
KERNEL S point_inverse_mass(int count, const R *weight, const Particle *p, const Body *rigid,
                            V lever)
{
  R w = rigid->im;
  for (int i = 0; i < count; ++i) {
    w = w + weight[i] * weight[i] * p[i].w;
  }
  S k = lever_inverse_mass(rigid->ii, lever);
  k.xx = k.xx + w;
  k.yy = k.yy + w;
  k.zz = k.zz + w;
  return k;
}

KERNEL void apply_soft_contact_impulse(int count, const SoftPass *pass, const R *weight,
                                       Particle *p, Body *rigid, V lever, V impulse)
{
  for (int i = 0; i < count; ++i) {
    apply_dv(pass, &p[i], v_scale(weight[i] * p[i].w, impulse));
  }
  apply_delta(rigid, v_scale(-rigid->im, impulse), s_mul(rigid->ii, v_cross(impulse, lever)),
              pass->form, pass->h);
}

// No warm start: the last impulse was that of all the mass behind the particle, which its contact
// does not know, and would launch the particle alone.
KERNEL void reset_soft_contact(SoftContactState *state)
{
  state->lambda = splat(0.0f);
  state->friction = v_zero();
  state->approach_speed = splat(0.0f);
}

// Coulomb friction at x: the impulse that stops the sliding, scaled back to the cone. Static
// friction turns to dynamic where it would be exceeded.
KERNEL V soft_contact_friction(const SoftContactParams *params, const SoftContactGeometry *at, S k,
                               V u, SoftContactState *state)
{
  Frame f = frame_about(at->n);
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
  R scale = r_min(splat(1.0f), bound / r_max(length, splat(TUNING_SOFT_TINY)));
  V now = v_add(v_scale(scale * ws, f.s), v_scale(scale * wt, f.t));
  V change = v_sub(now, state->friction);
  state->friction = now;
  return change;
}

// A triangle that a particle or an edge touches, treated as a rigid body of its three corners'
// masses. The impulses of the corners have the same sum and moment as the one applied to the body,
// also where it acts off the triangle's plane: both momenta are conserved.
typedef struct RigidTriangle {
  V arm[3]; // lever arms of the corners from their centre of mass, m
  V v, w;   // velocity and angular velocity before the contact
} RigidTriangle;

// The triangle's rigid body; b are the (negative) weights of its corners. Replaces the sides in
// params by the anchor and surface velocity of that body.
KERNEL Body rigid_triangle_body(SoftContactParams *params, const R *b, const Particle *p,
                                RigidTriangle *triangle)
{
  // cppcheck-suppress ctuuninitvar ; a place, to be written to
  V *arm = triangle->arm, to[3] = {v_zero(), params->first_side, params->second_side};
  V foot = v_zero(), moved = v_zero(), center = v_zero(), moment = v_zero();
  R most = r_max(p[0].w, r_max(p[1].w, p[2].w));
  R floor = r_max(TUNING_PINNED_CORNER_SHARE * most,
                  splat(TUNING_SOFT_TINY)); // a pinned corner has a large, finite mass
  R mass[3], sum = splat(0.0f);
  for (int i = 0; i < 3; ++i) {
    arm[i] = v_add(to[i], v_sub(p[i].dx, p[0].dx));
    foot = v_sub(foot, v_scale(b[i], arm[i]));
    moved = v_sub(moved, v_scale(b[i], p[i].dx));
    mass[i] = r_max(most, splat(TUNING_SOFT_TINY)) / r_max(p[i].w, floor);
    sum = sum + mass[i];
    center = v_add(center, v_scale(mass[i], arm[i]));
  }
  R share = 1.0f / sum;
  center = v_scale(share, center);
  triangle->v = v_zero();
  S second_moment = {splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f)};
  for (int i = 0; i < 3; ++i) {
    arm[i] = v_sub(arm[i], center);
    second_moment = s_add(second_moment, s_scale(mass[i], s_outer(arm[i])));
    V weighted = v_scale(mass[i], p[i].v);
    triangle->v = v_add(triangle->v, v_scale(share, weighted));
    moment = v_add(moment, v_cross(arm[i], weighted));
  }
  R inv;
  S inverse = normalized_inverse_inertia(second_moment, &inv);
  triangle->w = v_scale(inv, s_mul(inverse, moment));
  params->anchor = v_sub(foot, center);
  params->surface_velocity = v_zero();
  Body rigid = {triangle->v,  triangle->w,
                most * share, s_scale(most * inv, inverse),
                moved,        {splat(0.0f), splat(0.0f), splat(0.0f), splat(1.0f)}};
  return rigid;
}

// Gives the change of the rigid body's motion to the corners; pinned corners stay.
KERNEL void rigid_triangle_apply(const SoftPass *pass, const RigidTriangle *triangle,
                                 const Body *rigid, Particle *p)
{
  V dv = v_sub(rigid->v, triangle->v), dw = v_sub(rigid->w, triangle->w);
  for (int i = 0; i < 3; ++i) {
    V change = v_add(dv, v_cross(dw, triangle->arm[i]));
    apply_dv(pass, &p[i], v_pick(p[i].w > 0.0f, change, v_zero()));
  }
}

// One pass over a contact: normal, then friction.
//
//   bias pass       un + bias >= 0,  bias = C / h if C > 0, else max(beta C / h, -max_push_speed)
//   relax pass      at the new pose, without position bias; un = restitution * approach_speed where
//                   the approach was faster than restitution_threshold
//   position form   removes the penetration C at once, up to max_push_speed
//
// Compliant contacts have the bias C / h + a lambda and are not relaxed. Friction acts on the
// velocities in every form.
KERNEL void solve_soft_contact(int count, const SoftPass *pass, int relaxing,
                               R restitution_threshold, const SoftContactParams *params,
                               SoftContactState *state, Particle *p, Body *rigid)
{
  int positions = pass->form == FORM_POSITION;
  SoftContactGeometry at = soft_contact_geometry(count, params, p, rigid);
  S k = point_inverse_mass(count, params->weight, p, rigid, at.lever);
  V u = point_relative_velocity(count, params->weight, p, rigid, at.lever);
  R un = positions ? splat(0.0f) : v_dot(u, at.n);
  R kn = v_dot(at.n, s_mul(k, at.n));
  R a = params->compliance * pass->inv_h2;
  M soft = params->compliance > 0.0f;
  R rate;
  M out = kn < 0.0f; // false in all lanes
  if (relaxing) {
    M bounces = (state->approach_speed > restitution_threshold) & (params->restitution > 0.0f);
    rate = pick(bounces, -params->restitution * state->approach_speed, splat(0.0f));
    out = ((at.gap > 0.0f) & (state->lambda == 0.0f) & m_not(bounces)) | soft;
  } else if (positions) {
    rate = r_max(at.gap * pass->inv_h, -params->max_push_speed) + a * state->lambda;
  } else {
    rate = pick(at.gap > 0.0f, at.gap * pass->inv_h,
                r_max(params->beta * at.gap * pass->inv_h, -params->max_push_speed));
    rate = pick(soft, at.gap * pass->inv_h + a * state->lambda, rate);
  }
  R x = -(rate + un) * r_inverse_above(kn + a, splat(0.0f));
  x = pick(out, splat(0.0f), r_max(x, -state->lambda));
  if (!relaxing) {
    M first = (state->lambda == 0.0f) & (x > 0.0f);
    state->approach_speed = pick(first, r_max(state->approach_speed, -un), state->approach_speed);
  }
  state->lambda = state->lambda + x;
  apply_soft_contact_impulse(count, pass, params->weight, p, rigid, at.lever, v_scale(x, at.n));
  u = v_sub(point_relative_velocity(count, params->weight, p, rigid, at.lever),
            params->surface_velocity);
  V f = soft_contact_friction(params, &at, k, u, state);
  apply_soft_contact_impulse(count, pass, params->weight, p, rigid, at.lever, f);
  if (relaxing) {
    state->sum = v_add(state->sum, v_add(v_scale(state->lambda, at.n), state->friction));
  } else if (positions) {
    state->sum = v_add(state->sum, v_add(v_scale(x, at.n), f));
  }
}

// ---------------------------------------------------------------------------------------------
// Attachments: a particle coincides with a point of a body; three rows as one block

typedef struct AttachmentParams {
  V delta;      // from the body's point to the particle when the step began, m
  V anchor;     // from the body's centre of mass to the point, m
  R compliance; // m/N; 0: rigid
} AttachmentParams;

typedef struct AttachmentState {
  V lambda; // impulse of the substep, N s
  V sum;    // impulses of the step, N s
} AttachmentState;

// Rounding errors of a body's velocities (Kahan summation). Many particles pull at one body, and
// the impulse of one may be less than the last bit of a fast body's velocity: without compensation
// the angular momentum drifts.
typedef struct Compensation {
  V v, w;
} Compensation;

KERNEL void add_compensated(V *sum, V *compensation, V x)
{
  if (!RULE(soft_attachment_sums)) {
    *sum = v_add(*sum, x);
    return;
  }
  V wanted = v_add(x, *compensation);
  V now = v_add(*sum, wanted);
  *compensation = v_sub(wanted, v_sub(now, *sum));
  *sum = now;
}

KERNEL void apply_attachment_impulse(const SoftPass *pass, Particle *p, Body *rigid,
                                     Compensation *compensation, V lever, V impulse)
{
  apply_dv(pass, p, v_scale(p->w, impulse));
  V dv = v_scale(-rigid->im, impulse);
  V dw = s_mul(rigid->ii, v_cross(impulse, lever));
  if (pass->form == FORM_POSITION) {
    apply_delta(rigid, dv, dw, pass->form, pass->h);
  } else {
    add_compensated(&rigid->v, &compensation->v, dv);
    add_compensated(&rigid->w, &compensation->w, dw);
  }
}

KERNEL V attachment_delta(const AttachmentParams *params, const Particle *p, const Body *rigid,
                          V *lever)
{
  V turned = q_rotate_change(rigid->dq, params->anchor);
  V d = v_sub(v_add(params->delta, p->dx), v_add(rigid->dx, turned));
  *lever = v_add(v_add(params->anchor, turned), d);
  return d;
}

// -(K + a)^-1 rhs, with the matrix scaled to unit trace.
KERNEL V attachment_impulse(S k, R a, V rhs)
{
  k.xx = k.xx + a;
  k.yy = k.yy + a;
  k.zz = k.zz + a;
  R trace = r_inverse_above(k.xx + k.yy + k.zz, splat(0.0f));
  S inverse = s_inverse(s_scale(trace, k), splat(TUNING_BLOCK_MIN_DETERMINANT));
  return v_scale(-trace, s_mul(inverse, rhs));
}

// Springs are warm started with their whole impulse, rigid attachments with nothing: even with half
// of the last impulse a light tyre on a fast rim shakes itself apart.
KERNEL void warm_start_attachment(const SoftPass *pass, R warm_start_factor,
                                  const AttachmentParams *params, AttachmentState *state,
                                  Particle *p, Body *rigid, Compensation *compensation)
{
  R zero = splat(0.0f);
  V lever;
  attachment_delta(params, p, rigid, &lever);
  M spring = (params->compliance > 0.0f) & (warm_start_factor > 0.0f); // factor 0: position form
  R kept = RULE(soft_attachment_springs) ? pick(spring, splat(1.0f), zero) : zero;
  state->lambda = v_scale(kept, state->lambda);
  apply_attachment_impulse(pass, p, rigid, compensation, lever, state->lambda);
}

// x = -(K + a)^-1 (u + d / h + a lambda). The relax pass stops u of attachments stiffer than the
// substep resolves.
KERNEL void solve_attachment(const SoftPass *pass, int relaxing, const AttachmentParams *params,
                             AttachmentState *state, Particle *p, Body *rigid,
                             Compensation *compensation)
{
  R one = splat(1.0f);
  V lever;
  V d = attachment_delta(params, p, rigid, &lever);
  S k = point_inverse_mass(1, &one, p, rigid, lever);
  R a = params->compliance * pass->inv_h2;
  V u = pass->form == FORM_POSITION ? v_zero() : point_relative_velocity(1, &one, p, rigid, lever);
  V rhs = u;
  if (!relaxing) {
    rhs = v_add(rhs, v_add(v_scale(pass->inv_h, d), v_scale(a, state->lambda)));
  }
  V x = attachment_impulse(k, a, rhs);
  if (relaxing) {
    M hard = a <= k.xx + k.yy + k.zz;
    x = RULE(soft_attachment_relax) ? v_pick(hard, x, v_zero()) : v_zero();
    state->sum = v_add(state->sum, v_add(state->lambda, x));
  } else {
    state->lambda = v_add(state->lambda, x);
    if (pass->form == FORM_POSITION) {
      state->sum = v_add(state->sum, x);
    }
  }
  apply_attachment_impulse(pass, p, rigid, compensation, lever, x);
}

#endif
