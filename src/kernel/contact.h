// Contacts and friction: sec. 3.5 and 3.6.
//
// A manifold is up to four points with one normal n, from A to B. Its gaps C are kept from closing:
//     C / h + n . u >= 0,  lambda >= 0,  one of the two zero,
// for all points together, and friction acts at one patch in their middle, bounded by the sum of
// the points' impulses.
//
// DEVIATION: the paper corrects each point's penetration as a whole and by itself, and leaves
// friction to positions and velocities in turn. Stacks of ten cubes fall over that way. Here a
// penetration goes by the share TUNING_CONTACT_DECAY a substep, impulses are carried from substep
// to substep but for the share TUNING_CONTACT_DECAY, and a second pass without correction ends each
// substep.
#ifndef TENON_KERNEL_CONTACT_H
#define TENON_KERNEL_CONTACT_H

#include "kernel/project.h"

#define CONTACT_POINTS 4
#define CONTACT_MASSES 10 // of a symmetric 4 x 4 matrix

// The share of a penetration that goes in a substep, and of an impulse that is forgotten: the two
// must be equal, for correcting feeds energy and forgetting takes it.
#define TUNING_CONTACT_DECAY 0.05f
// Bodies that bear TUNING_CONTACT_HEAVY_LOAD times their weight and more forget less of what their
// points bear unevenly, which makes them stiffer against tilting: a tonne on nine cubes of 1 kg
// leans over otherwise. A pyramid is less quiet for it.
#define TUNING_CONTACT_DECAY_UNEVEN (0.75f * TUNING_CONTACT_DECAY)
#define TUNING_CONTACT_HEAVY_LOAD 300.0f
#define TUNING_CONTACT_PRELOAD_TIME 6.0f // s, over which a manifold's steady load is learnt
#define TUNING_CONTACT_RIDGE 0.01f       // four points on a face share its load evenly
#define TUNING_CONTACT_PGS_SWEEPS 6

// What does not change over a step.
typedef struct ContactParams {
  R mu_static, mu_dynamic;
  R rolling, spinning; // m
  R alpha;             // compliance
  R deep_gap;          // m, more than loads press bodies into each other
  R kept_gap;          // m, how far open a point may be that keeps its load
  R radius_a, radius_b;
  V surface_velocity; // surface velocity of B relative to A
  R has_anchor;       // 1: friction pulls back to where the patch began to stick
  R max_push_speed;   // m/s, fastest way out of a deep penetration
} ContactParams;

// Impulses of the running substep.
typedef struct ContactState {
  R lambda[CONTACT_POINTS];
  R preload;     // steady load of a point
  R preload_age; // s, over which the load was learnt
  V friction;
  R twist;
  R sliding, turning; // 1 where the relaxing pass could not stop the patch
  V roll;
  V offset; // of the friction patch since it began to stick, when the step began
  R angle;  // about the normal, likewise
} ContactState;

// Where it touches at the current pose.
typedef struct ContactGeometry {
  V n;
  V ra[CONTACT_POINTS], rb[CONTACT_POINTS]; // levers of the points on both surfaces
  R gap[CONTACT_POINTS];
} ContactGeometry;

// The middle of the points in use, as levers.
typedef struct Patch {
  V ra, rb;
} Patch;

// What follows from the touch; that of flat sides holds for a step.
typedef struct ContactMass {
  R k[CONTACT_MASSES];       // inverse masses between the points' normals
  R inverse[CONTACT_MASSES]; // masses between them
  R tangent[3];              // inverse of the patch's tangential 2 x 2
  R twist;                   // mass about the normal
  R friction_radius;         // mean distance of the points from their middle
  R share;                   // of a point in the whole load, if all bear the same
  Patch patch;
} ContactMass;

typedef struct Frame {
  V n, s, t;
} Frame;

// Two tangents by the shortest way from z or -z.
KERNEL Frame frame_about(V n)
{
  R sign = pick(n.z < 0.0f, splat(-1.0f), splat(1.0f));
  R a = -1.0f / (sign + n.z);
  R b = n.x * n.y * a;
  Frame f = {n, v_make(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x),
             v_make(b, sign + n.y * n.y * a, -n.y)};
  return f;
}

// Place of (i, j) in a symmetric matrix.
KERNEL int sym(int i, int j)
{
  return i <= j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j;
}

// A symmetric 2 x 2 matrix, xx, xy, yy.
typedef struct S2 {
  R xx, xy, yy;
} S2;

KERNEL S2 s2_inverse(S2 m)
{
  R inv = r_inverse_above(m.xx * m.yy - m.xy * m.xy, splat(0.0f));
  S2 r = {inv * m.yy, -inv * m.xy, inv * m.xx};
  return r;
}

// By halves: with [A B; B' D], X = A^-1 B and S = D - B' X, the inverse is
// [A^-1 + X S^-1 X', -X S^-1; ., S^-1].
KERNEL void invert(int points, const R *k, R *inverse)
{
  if (points == 1) {
    inverse[0] = 1.0f / k[0];
    return;
  }
  S2 a = {k[sym(0, 0)], k[sym(0, 1)], k[sym(1, 1)]};
  S2 ai = s2_inverse(a);
  inverse[sym(0, 0)] = ai.xx;
  inverse[sym(0, 1)] = ai.xy;
  inverse[sym(1, 1)] = ai.yy;
  if (points == 2) {
    return;
  }
  R b00 = k[sym(0, 2)], b01 = k[sym(0, 3)], b10 = k[sym(1, 2)], b11 = k[sym(1, 3)];
  R x00 = ai.xx * b00 + ai.xy * b10, x01 = ai.xx * b01 + ai.xy * b11;
  R x10 = ai.xy * b00 + ai.yy * b10, x11 = ai.xy * b01 + ai.yy * b11;
  S2 s = {k[sym(2, 2)] - (b00 * x00 + b10 * x10), k[sym(2, 3)] - (b00 * x01 + b10 * x11),
          k[sym(3, 3)] - (b01 * x01 + b11 * x11)};
  S2 si = s2_inverse(s);
  R y00 = x00 * si.xx + x01 * si.xy, y01 = x00 * si.xy + x01 * si.yy;
  R y10 = x10 * si.xx + x11 * si.xy, y11 = x10 * si.xy + x11 * si.yy;
  inverse[sym(0, 0)] = ai.xx + y00 * x00 + y01 * x01;
  inverse[sym(0, 1)] = ai.xy + y00 * x10 + y01 * x11;
  inverse[sym(1, 1)] = ai.yy + y10 * x10 + y11 * x11;
  inverse[sym(0, 2)] = -y00;
  inverse[sym(0, 3)] = -y01;
  inverse[sym(1, 2)] = -y10;
  inverse[sym(1, 3)] = -y11;
  inverse[sym(2, 2)] = si.xx;
  inverse[sym(2, 3)] = si.xy;
  inverse[sym(3, 3)] = si.yy;
}

INLINED R row_of(int points, const R *m, int i, const R *x)
{
  R sum = m[sym(i, 0)] * x[0];
  for (int j = 1; j < points; ++j) {
    sum = sum + m[sym(i, j)] * x[j];
  }
  return sum;
}

KERNEL R sum_of(int points, const R *x)
{
  R sum = x[0];
  for (int i = 1; i < points; ++i) {
    sum = sum + x[i];
  }
  return sum;
}

// How much each point counts for friction. Two of them bear what their levers settle, and one may
// bear all; those of a face count the same. Returns the inverse of their sum.
KERNEL R friction_weights(int points, const R *used, R share, const R *lambda, R *weight)
{
  R load = sum_of(points, lambda);
  for (int i = 0; i < points; ++i) {
    weight[i] = points == 2 ? pick(load > 0.0f, lambda[i], used[i]) : used[i];
  }
  return points == 2 ? pick(load > 0.0f, 1.0f / load, share) : share;
}

KERNEL Patch patch_of(int points, const R *weight, R scale, const ContactGeometry *geom)
{
  V ra = v_zero();
  V rb = v_zero();
  for (int i = 0; i < points; ++i) {
    ra = v_add(ra, v_scale(weight[i], geom->ra[i]));
    rb = v_add(rb, v_scale(weight[i], geom->rb[i]));
  }
  Patch p = {v_scale(scale, ra), v_scale(scale, rb)};
  return p;
}

KERNEL R mean_friction_radius(int points, const R *weight, R scale, const ContactGeometry *geom,
                              V middle)
{
  R sum = splat(0.0f);
  for (int i = 0; i < points; ++i) {
    sum = sum + weight[i] * v_length(v_sub(geom->ra[i], middle));
  }
  return sum * scale;
}

KERNEL void normal_masses(int points, const R *used, const ContactGeometry *geom, R alpha,
                          const Body *a, const Body *b, ContactMass *mass)
{
  V ja[CONTACT_POINTS], jb[CONTACT_POINTS];
  R trace = splat(0.0f);
  for (int j = 0; j < points; ++j) {
    ja[j] = v_cross(geom->ra[j], geom->n);
    jb[j] = v_cross(geom->rb[j], geom->n);
    V ia = s_mul(a->ii, ja[j]);
    V ib = s_mul(b->ii, jb[j]);
    for (int i = 0; i <= j; ++i) {
      R k = a->im + b->im + v_dot(ja[i], ia) + v_dot(jb[i], ib);
      k = used[i] * used[j] * k;
      // An unused place stands alone.
      mass->k[sym(i, j)] = i == j ? k + (1.0f - used[j]) : k;
    }
    trace = trace + used[j] * mass->k[sym(j, j)];
  }
  R ridge = points > 2 ? TUNING_CONTACT_RIDGE * mass->share * trace : splat(0.0f);
  // Two points on a body that cannot turn, or on one spot, are one.
  ridge = points == 2 ? 1e-4f * trace : ridge;
  R k[CONTACT_MASSES];
  for (int j = 0; j < points; ++j) {
    for (int i = 0; i <= j; ++i) {
      k[sym(i, j)] = i == j ? mass->k[sym(i, j)] + ridge + alpha : mass->k[sym(i, j)];
    }
  }
  invert(points, k, mass->inverse);
}

KERNEL ContactMass compute_contact_mass(int points, const R *used, const R *lambda,
                                        const ContactGeometry *geom, R alpha, const Body *a,
                                        const Body *b)
{
  ContactMass mass;
  R weight[CONTACT_POINTS];
  mass.share = 1.0f / r_max(sum_of(points, used), splat(1.0f));
  normal_masses(points, used, geom, alpha, a, b, &mass);
  R scale = friction_weights(points, used, mass.share, lambda, weight);
  mass.patch = patch_of(points, weight, scale, geom);
  Frame f = frame_about(geom->n);
  S k = linear_inverse_mass(a, b, mass.patch.ra, mass.patch.rb);
  V ks = s_mul(k, f.s);
  S2 tangent = {v_dot(f.s, ks), v_dot(f.t, ks), v_dot(f.t, s_mul(k, f.t))};
  S2 inverse = s2_inverse(tangent);
  mass.tangent[0] = inverse.xx;
  mass.tangent[1] = inverse.xy;
  mass.tangent[2] = inverse.yy;
  mass.twist =
      r_inverse_above(v_dot(geom->n, s_mul(angular_inverse_mass(a, b), geom->n)), splat(0.0f));
  mass.friction_radius =
      points > 1 ? mean_friction_radius(points, weight, scale, geom, mass.patch.ra) : splat(0.0f);
  return mass;
}

// ---------------------------------------------------------------------------------------------
// Impulses

// An impulse and an angular impulse about each body's centre, to be given to both at once.
typedef struct Wrench {
  V p, la, lb;
} Wrench;

KERNEL Wrench normal_wrench(int points, const ContactGeometry *geom, const R *lambda)
{
  R sum = splat(0.0f);
  V ra = v_zero();
  V rb = v_zero();
  for (int i = 0; i < points; ++i) {
    sum = sum + lambda[i];
    ra = v_add(ra, v_scale(lambda[i], geom->ra[i]));
    rb = v_add(rb, v_scale(lambda[i], geom->rb[i]));
  }
  Wrench w = {v_scale(sum, geom->n), v_cross(ra, geom->n), v_cross(rb, geom->n)};
  return w;
}

KERNEL void add_patch_wrench(Wrench *w, const Patch *patch, V friction, V turning)
{
  w->p = v_add(w->p, friction);
  w->la = v_add(w->la, v_add(v_cross(patch->ra, friction), turning));
  w->lb = v_add(w->lb, v_add(v_cross(patch->rb, friction), turning));
}

KERNEL void apply_wrench(Body *a, Body *b, const Wrench *w)
{
  a->v = v_sub(a->v, v_scale(a->im, w->p));
  b->v = v_add(b->v, v_scale(b->im, w->p));
  a->w = v_sub(a->w, s_mul(a->ii, w->la));
  b->w = v_add(b->w, s_mul(b->ii, w->lb));
}

KERNEL R decayed(R share, R x)
{
  R kept = share * x;
  return pick(r_abs(kept) < 1e-25f, splat(0.0f), kept);
}

// What the substep starts from: the steady load, and most of what differs from it. `weight` is
// what gravity does to a velocity meanwhile.
KERNEL void decay_contact_impulses(int points, const ContactParams *params, const ContactMass *mass,
                                   R weight, ContactState *state)
{
  M soft = params->alpha > 0.0f;
  R mean = mass->share * sum_of(points, state->lambda);
  M heavy = state->preload * mass->k[0] > TUNING_CONTACT_HEAVY_LOAD * weight;
  R uneven = pick(heavy, splat(TUNING_CONTACT_DECAY_UNEVEN), splat(TUNING_CONTACT_DECAY));
  if (points == 2) {
    // What two points bear is settled by their levers: where they stick there is nothing to even
    // out.
    uneven = pick(params->has_anchor > 0.5f, splat(0.0f), uneven);
  }
  R decay_per_point = TUNING_CONTACT_DECAY * (mean - state->preload);
  for (int i = 0; i < points; ++i) {
    R x = state->lambda[i];
    R kept = r_max(x - decay_per_point - uneven * (x - mean), splat(0.0f));
    kept = pick(kept < 1e-25f, splat(0.0f), kept);
    state->lambda[i] = pick(soft, x, pick(x > 0.0f, kept, splat(0.0f)));
  }
  // Friction that does not pull back has nothing to make up for.
  R share = 1.0f - TUNING_CONTACT_DECAY * params->has_anchor;
  V f = state->friction, r = state->roll;
  state->friction = v_make(decayed(share, f.x), decayed(share, f.y), decayed(share, f.z));
  state->twist = decayed(share, state->twist);
  state->roll = v_make(decayed(share, r.x), decayed(share, r.y), decayed(share, r.z));
}

KERNEL Wrench contact_wrench(int points, const ContactGeometry *geom, const Patch *patch,
                             const ContactState *state)
{
  Wrench w = normal_wrench(points, geom, state->lambda);
  V turning = v_add(v_scale(state->twist, geom->n), state->roll);
  add_patch_wrench(&w, patch, state->friction, turning);
  return w;
}

// Whether it has no impulse besides those of its points.
KERNEL M has_no_friction_impulse(const ContactState *state)
{
  V f = state->friction;
  V r = state->roll;
  return (f.x == 0.0f) & (f.y == 0.0f) & (f.z == 0.0f) & (state->twist == 0.0f) & (r.x == 0.0f) &
         (r.y == 0.0f) & (r.z == 0.0f);
}

// Friction lies in the tangent plane of the current normal.
KERNEL void project_to_tangent_plane(const ContactGeometry *geom, ContactState *state)
{
  V n = geom->n;
  state->friction = v_sub(state->friction, v_scale(v_dot(state->friction, n), n));
  state->roll = v_sub(state->roll, v_scale(v_dot(state->roll, n), n));
}

// ---------------------------------------------------------------------------------------------
// Normals: x with lambda + x >= 0 that leaves r - K x at zero, or positive where lambda + x is
// zero.

// What the points of a manifold ask for.
typedef struct ContactRhs {
  R r[CONTACT_POINTS];       // change of the relative velocities
  R closing[CONTACT_POINTS]; // speed of points without an impulse
  M frozen[CONTACT_POINTS];  // keep their impulse
  M idle;                    // none has an impulse or needs one
} ContactRhs;

// Gauss-Seidel from zero, each row divided by its own mass.
INLINED void solve_pgs(int points, const R *k, R alpha, const R *r, const R *lambda,
                       const M *frozen, R *x)
{
  R row[CONTACT_POINTS][CONTACT_POINTS], wanted[CONTACT_POINTS];
  for (int i = 0; i < points; ++i) {
    R inverse = 1.0f / (k[sym(i, i)] + alpha);
    for (int j = 0; j < points; ++j) {
      row[i][j] = inverse * k[sym(i, j)];
    }
    wanted[i] = inverse * r[i];
    x[i] = splat(0.0f);
  }
  for (int sweep = 0; sweep < TUNING_CONTACT_PGS_SWEEPS; ++sweep) {
    for (int i = 0; i < points; ++i) {
      R next = wanted[i];
      // The latest comes last: the others do not wait for it.
      for (int j = i + 1; j < i + points; ++j) {
        next = next - row[i][j % points] * x[j % points];
      }
      x[i] = pick(frozen[i], splat(0.0f), r_max(next, -lambda[i]));
    }
  }
}

// Two points exactly: where both would not push, one of them alone does.
INLINED void solve_two_point_lcp(const R *k, R alpha, const R *r, const R *lambda, const M *frozen,
                                 R *x)
{
  R k00 = k[0] + alpha, k01 = k[1], k11 = k[2] + alpha;
  // For the whole impulses, not for their change; a point that is out keeps its own.
  R q0 = r[0] + k00 * lambda[0] + k01 * lambda[1];
  R q1 = r[1] + k01 * lambda[0] + k11 * lambda[1];
  R alone0 = r_max(q0, splat(0.0f)) / k00;
  R alone1 = r_max(q1, splat(0.0f)) / k11;
  M first = k01 * alone0 >= q1;
  R y0 = pick(first, alone0, splat(0.0f));
  R y1 = pick(first, splat(0.0f), alone1);
  y0 = pick(frozen[1], r_max(q0 - k01 * lambda[1], splat(0.0f)) / k00, y0);
  y1 = pick(frozen[0], r_max(q1 - k01 * lambda[0], splat(0.0f)) / k11, y1);
  x[0] = pick(frozen[0], splat(0.0f), y0 - lambda[0]);
  x[1] = pick(frozen[1], splat(0.0f), y1 - lambda[1]);
}

// The ridge leaves a hundredth of r; what is left of that after a second round does not show. What
// rounding has done to the inverse goes as well: as a matrix of its own, once a step, the refined
// inverse lets tall towers lean.
INLINED void solve_unbounded(int points, const ContactMass *mass, R alpha, const R *r, R *x)
{
  R rest[CONTACT_POINTS];
  for (int i = 0; i < points; ++i) {
    x[i] = row_of(points, mass->inverse, i, r);
  }
  if (points <= 2) {
    return;
  }
  for (int i = 0; i < points; ++i) {
    rest[i] = r[i] - row_of(points, mass->k, i, x) - alpha * x[i];
  }
  for (int i = 0; i < points; ++i) {
    x[i] = x[i] + row_of(points, mass->inverse, i, rest);
  }
}

// Points that are out keep their impulse.
INLINED void solve_normal_lcp(int points, const ContactMass *mass, R alpha, const ContactRhs *rhs,
                              const R *lambda, R *x)
{
  solve_unbounded(points, mass, alpha, rhs->r, x);
  if (points == 1) {
    x[0] = pick(rhs->frozen[0], splat(0.0f), r_max(x[0], -lambda[0]));
    return;
  }
  M pulls = rhs->idle;
  for (int i = 0; i < points; ++i) {
    pulls = pulls | (lambda[i] + x[i] < 0.0f) | rhs->frozen[i];
  }
  R y[CONTACT_POINTS];
  for (int i = 0; i < points; ++i) {
    y[i] = splat(0.0f);
  }
  if (m_any(pulls & m_not(rhs->idle))) {
    if (points == 2) {
      solve_two_point_lcp(mass->k, alpha, rhs->r, lambda, rhs->frozen, y);
    } else {
      solve_pgs(points, mass->k, alpha, rhs->r, lambda, rhs->frozen, y);
    }
  }
  for (int i = 0; i < points; ++i) {
    x[i] = pick(pulls, y[i], x[i]);
  }
}

// Loops that wrap around the number of points are slow unless it is known.
KERNEL void solve_normal_lcp_of(int points, const ContactMass *mass, R alpha, const ContactRhs *rhs,
                                const R *lambda, R *x)
{
  switch (points) {
  case 1:
    solve_normal_lcp(1, mass, alpha, rhs, lambda, x);
    break;
  case 2:
    solve_normal_lcp(2, mass, alpha, rhs, lambda, x);
    break;
  default:
    solve_normal_lcp(CONTACT_POINTS, mass, alpha, rhs, lambda, x);
    break;
  }
}

// ---------------------------------------------------------------------------------------------
// Friction

KERNEL V in_plane(const Frame *f, R s, R t)
{
  return v_add(v_scale(s, f->s), v_scale(t, f->t));
}

// Stops the patch's sliding, or drags at it as strongly as the load allows: that of rest, unless it
// slides already. Returns where stopping it takes more than that.
KERNEL M solve_tangential(const Frame *f, const ContactParams *params, const ContactMass *mass, V u,
                          R load, ContactState *state, V *change)
{
  R s = -v_dot(f->s, u);
  R t = -v_dot(f->t, u);
  R ws = v_dot(state->friction, f->s) + mass->tangent[0] * s + mass->tangent[1] * t;
  R wt = v_dot(state->friction, f->t) + mass->tangent[1] * s + mass->tangent[2] * t;
  R length = r_sqrt(ws * ws + wt * wt);
  R bound = pick(state->sliding > 0.5f, params->mu_dynamic, params->mu_static) * load;
  R scale = r_min(splat(1.0f), bound / r_max(length, splat(1e-30f)));
  V now = in_plane(f, scale * ws, scale * wt);
  *change = v_sub(now, state->friction);
  state->friction = now;
  return length > bound;
}

// The same about the normal.
KERNEL M solve_twist(const ContactParams *params, const ContactMass *mass, R spin, R load,
                     ContactState *state, R *change)
{
  R bound = (params->mu_static * mass->friction_radius + params->spinning) * load;
  R wanted = state->twist - mass->twist * spin;
  R now = r_clamp(wanted, -bound, bound);
  *change = now - state->twist;
  state->twist = now;
  return r_abs(wanted) > bound;
}

// Against the relative spin about tangential axes. Friction, which comes next, turns the bodies as
// it stops the sliding u: with T its masses and G what it turns by an impulse, the spin to stop is
// that which friction will leave, and the inverse mass is that of bodies that may roll but not
// slide.
KERNEL V solve_rolling(const Frame *f, const ContactParams *params, const ContactMass *mass,
                       const Body *a, const Body *b, V u, V spin, R load, ContactState *state)
{
  const Patch *patch = &mass->patch;
  S k = angular_inverse_mass(a, b);
  V ks = s_mul(k, f->s);
  V turned_s =
      v_add(s_mul(a->ii, v_cross(patch->ra, f->s)), s_mul(b->ii, v_cross(patch->rb, f->s)));
  V turned_t =
      v_add(s_mul(a->ii, v_cross(patch->ra, f->t)), s_mul(b->ii, v_cross(patch->rb, f->t)));
  R gss = v_dot(f->s, turned_s), gst = v_dot(f->s, turned_t);
  R gts = v_dot(f->t, turned_s), gtt = v_dot(f->t, turned_t);
  // Rows of G T.
  R xs = gss * mass->tangent[0] + gst * mass->tangent[1];
  R xt = gss * mass->tangent[1] + gst * mass->tangent[2];
  R ys = gts * mass->tangent[0] + gtt * mass->tangent[1];
  R yt = gts * mass->tangent[1] + gtt * mass->tangent[2];
  R free_ss = v_dot(f->s, ks), free_tt = v_dot(f->t, s_mul(k, f->t));
  R tiny = 1e-6f * (free_ss + free_tt) + 1e-30f;
  S2 m = {free_ss - (xs * gss + xt * gst) + tiny, v_dot(f->t, ks) - (xs * gts + xt * gtt),
          free_tt - (ys * gts + yt * gtt) + tiny};
  S2 inverse = s2_inverse(m);
  R us = v_dot(f->s, u), ut = v_dot(f->t, u);
  R s = xs * us + xt * ut - v_dot(f->s, spin);
  R t = ys * us + yt * ut - v_dot(f->t, spin);
  R ws = v_dot(state->roll, f->s) + inverse.xx * s + inverse.xy * t;
  R wt = v_dot(state->roll, f->t) + inverse.xy * s + inverse.yy * t;
  R length = r_sqrt(ws * ws + wt * wt);
  R bound = params->rolling * load;
  R scale = r_min(splat(1.0f), bound / r_max(length, splat(1e-30f)));
  V now = in_plane(f, scale * ws, scale * wt);
  V change = v_sub(now, state->roll);
  state->roll = now;
  return change;
}

// ---------------------------------------------------------------------------------------------
// One pass over a manifold in impulse form

typedef struct ContactPass {
  R h, inv_h;
  R inv_time_left;    // of what is left of the substep, after impacts
  R gravity_gap;      // m, about what gravity crosses in a substep
  int relaxing;       // no correction of positions: at the new pose
  int has_rolling;    // some lane has rolling or spinning friction
  int has_compliance; // some lane has compliance
  R curvature_bias;   // m/s at which gaps close beside what the bodies do
} ContactPass;

// The velocity that a gap asks for: an open one may close, but of what is nearly closed only half,
// or points would chatter that the relaxing pass leaves alone. A penetration goes away gently. What
// forgetting has taken from a loaded point, k per impulse, may be given back, or it would sink;
// but not to bodies made inside each other, which would fly apart.
KERNEL R gap_bias(const ContactPass *pass, const ContactParams *params, R gap, R lambda, R k)
{
  R decayed_speed = pick(gap > -params->deep_gap, TUNING_CONTACT_DECAY * lambda * k, splat(0.0f));
  R fastest = params->max_push_speed + decayed_speed;
  R half = gap - 0.5f * r_min(gap, pass->gravity_gap);
  // Nor closes at once what a load closes by itself, on bodies with joints. There impulses follow
  // by the mass of a light limb, which is slow where it bears a heavy body: correcting then feeds
  // more energy than forgetting takes, unless both have the same share.
  R borne = r_min(r_min(lambda * k * pass->h, params->kept_gap), gap);
  R closing_gap = r_min(half, gap - (1.0f - TUNING_CONTACT_DECAY) * borne);
  return pick(gap > 0.0f, closing_gap * pass->inv_time_left,
              r_max(TUNING_CONTACT_DECAY * gap * pass->inv_h, -fastest));
}

KERNEL R mean_gap(int points, const R *used, R share, const ContactGeometry *geom)
{
  R sum = used[0] * geom->gap[0];
  for (int i = 1; i < points; ++i) {
    sum = sum + used[i] * geom->gap[i];
  }
  return share * sum;
}

// Faces that are on their slow way out of a deep penetration would tilt at will, for all points go
// equally fast: those that are deeper than the others are to go faster by the usual share.
KERNEL R tilt_bias(const ContactPass *pass, const ContactParams *params, R gap, R mean, R rate)
{
  R uneven = r_clamp(TUNING_CONTACT_DECAY * (gap - mean) * pass->inv_h, -params->max_push_speed,
                     params->max_push_speed);
  return pick(TUNING_CONTACT_DECAY * mean * pass->inv_h < -2.0f * params->max_push_speed,
              rate + uneven, rate);
}

// Velocities of the points along the normal: n . (w x r) = r . (n x w).
KERNEL void normal_velocities(int points, const ContactGeometry *geom, const Body *a, const Body *b,
                              R *u)
{
  R along = v_dot(geom->n, v_sub(b->v, a->v));
  V turn_a = v_cross(geom->n, a->w);
  V turn_b = v_cross(geom->n, b->w);
  for (int i = 0; i < points; ++i) {
    u[i] = along + (v_dot(geom->rb[i], turn_b) - v_dot(geom->ra[i], turn_a));
  }
}

KERNEL ContactRhs build_rhs(int points, const R *used, const ContactPass *pass,
                            const ContactParams *params, const ContactGeometry *geom,
                            const ContactMass *mass, const ContactState *state, const Body *a,
                            const Body *b)
{
  ContactRhs rhs;
  R u[CONTACT_POINTS];
  normal_velocities(points, geom, a, b, u);
  rhs.idle = splat(0.0f) == 0.0f;
  R mean = points > 2 ? mean_gap(points, used, mass->share, geom) : splat(0.0f);
  for (int i = 0; i < points; ++i) {
    M free = state->lambda[i] == 0.0f;
    rhs.closing[i] = pick(free, -u[i], splat(0.0f));
    R rate = splat(0.0f);
    // An open point without an impulse is none of the relaxing pass's business, and a soft one has
    // no position to forget.
    rhs.frozen[i] = splat(0.0f) > 1.0f;
    if (pass->relaxing) {
      rhs.frozen[i] = (geom->gap[i] > 0.0f) & free;
    } else {
      rate = gap_bias(pass, params, geom->gap[i], state->lambda[i], mass->k[sym(i, i)]);
      rate = rate - pass->curvature_bias;
      rate = points > 2 ? tilt_bias(pass, params, geom->gap[i], mean, rate) : rate;
    }
    if (pass->has_compliance) {
      M soft = params->alpha > 0.0f;
      R alpha = params->alpha * pass->inv_h * pass->inv_h;
      rhs.frozen[i] = pass->relaxing ? rhs.frozen[i] | soft : rhs.frozen[i];
      rate = pick(soft, geom->gap[i] * pass->inv_h + alpha * state->lambda[i], rate);
    }
    rhs.r[i] = -used[i] * (rate + u[i]);
    rhs.idle = rhs.idle & free & (rhs.frozen[i] | (rhs.r[i] <= 0.0f));
  }
  return rhs;
}

// Returns the speed at which points that had no impulse were stopped.
KERNEL R solve_normals(int points, const ContactRhs *rhs, const ContactPass *pass,
                       const ContactParams *params, const ContactGeometry *geom,
                       const ContactMass *mass, ContactState *state, Body *a, Body *b)
{
  R alpha = params->alpha * pass->inv_h * pass->inv_h;
  R x[CONTACT_POINTS];
  solve_normal_lcp_of(points, mass, alpha, rhs, state->lambda, x);
  R hit_speed = splat(0.0f);
  for (int i = 0; i < points; ++i) {
    state->lambda[i] = state->lambda[i] + x[i];
    hit_speed = pick(x[i] > 0.0f, r_max(hit_speed, rhs->closing[i]), hit_speed);
  }
  Wrench w = normal_wrench(points, geom, x);
  apply_wrench(a, b, &w);
  return hit_speed;
}

// How far the patch has moved since it began to stick.
typedef struct FrictionOffset {
  V offset;
  R angle;
} FrictionOffset;

typedef struct Slip {
  M slides, turns;
} Slip;

// Returns where the patch slips.
KERNEL Slip solve_friction(int points, const ContactPass *pass, const ContactParams *params,
                           const ContactGeometry *geom, const ContactMass *mass,
                           const FrictionOffset *anchor_offset, ContactState *state, Body *a,
                           Body *b)
{
  const Patch *patch = &mass->patch;
  Frame f = frame_about(geom->n);
  R load = sum_of(points, state->lambda);
  R gain = pass->relaxing ? splat(0.0f) : TUNING_CONTACT_DECAY * pass->inv_h;
  V wanted = v_add(params->surface_velocity, v_scale(gain, anchor_offset->offset));
  V u = v_add(relative_velocity(a, b, patch->ra, patch->rb), wanted);
  if (pass->has_rolling) {
    V roll = solve_rolling(&f, params, mass, a, b, u, relative_spin(a, b), load, state);
    Wrench w = {v_zero(), roll, roll};
    apply_wrench(a, b, &w);
    u = v_add(relative_velocity(a, b, patch->ra, patch->rb), wanted);
  }
  V slide;
  V turning = v_zero();
  Slip slip;
  slip.slides = solve_tangential(&f, params, mass, u, load, state, &slide);
  slip.turns = slip.slides;
  // One point alone does not hold against turning.
  if (points > 1 || pass->has_rolling) {
    R spin = v_dot(geom->n, relative_spin(a, b)) + gain * anchor_offset->angle;
    R twist;
    slip.turns = solve_twist(params, mass, spin, load, state, &twist);
    turning = v_scale(twist, geom->n);
  }
  Wrench w = {v_zero(), v_zero(), v_zero()};
  add_patch_wrench(&w, patch, slide, turning);
  apply_wrench(a, b, &w);
  return slip;
}

// The steady load follows the mean impulse slowly and never exceeds it. A unsettled contact learns
// from all of its life, which is faster.
KERNEL void update_preload(int points, R share, R h, ContactState *state)
{
  R mean = share * sum_of(points, state->lambda);
  state->preload_age = r_min(state->preload_age + h, splat(TUNING_CONTACT_PRELOAD_TIME));
  R next = state->preload + (h / state->preload_age) * (mean - state->preload);
  state->preload = r_min(next, mean);
}

#endif
