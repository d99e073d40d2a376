// Contacts and friction of rigid bodies: Mueller et al. 2020, sec. 3.5 and 3.6.
//
// A manifold is up to four points with one normal n, from A to B. For all of its points together
//     C / h + n . u >= 0,  lambda >= 0,  complementary,
// with C the gap, u the relative velocity of B's point and lambda the impulse of the substep.
// Friction acts at one patch amid the points; its cone is bounded by the sum of their impulses.
//
// DEVIATION: the paper removes each point's penetration at once and point by point, and splits
// friction between positions and velocities. Stacks of ten cubes fall over that way. Here
//   - a substep removes the share beta = TUNING_CONTACT_DECAY of a penetration,
//   - impulses are warm started, after decaying by the share beta towards a preload,
//   - a relax pass without position bias ends each substep.
#ifndef TENON_KERNEL_CONTACT_H
#define TENON_KERNEL_CONTACT_H

#include "base/rules.h"
#include "kernel/project.h"
#include "kernel/tuning.h"

#define CONTACT_POINTS 4
#define CONTACT_MASSES 10 // entries of a symmetric 4 x 4 matrix

// Constant over a step.
typedef struct ContactParams {
  R mu_static, mu_dynamic; // friction coefficients
  R rolling, spinning;     // coefficients of rolling and spinning friction, m
  R alpha;                 // compliance, m/N; 0: rigid
  R deep_gap;              // m: a penetration beyond it is not due to load
  R kept_gap;              // m: open points up to here close slowly while loaded; 0: none
  R radius_a, radius_b;    // m, from the cores to the surfaces
  V surface_velocity;      // of B's surface relative to A's, m/s
  R has_anchor;            // 1: friction pulls the patch back to where it began to stick; 0: not
  R max_push_speed;        // m/s, cap of the speed at which a penetration is removed
} ContactParams;

// Impulses of the running substep, and what a contact remembers.
typedef struct ContactState {
  R lambda[CONTACT_POINTS]; // normal impulses, N s
  R preload;                // steady part of a point's impulse, which does not decay, N s
  R preload_age;            // time over which the preload was averaged, s
  V friction;               // tangential impulse of the patch, N s
  R twist;                  // angular impulse about the normal, N m s
  R sliding, turning;       // 1 where the relax pass could not stop the patch, else 0
  V roll;                   // angular impulse of rolling friction, tangential, N m s
  V offset;                 // displacement of the patch from its anchor when the step began, m
  R angle;                  // rotation about the normal, likewise, rad
} ContactState;

// The manifold at the current pose.
typedef struct ContactGeometry {
  V n;                                      // normal, unit, from A to B
  V ra[CONTACT_POINTS], rb[CONTACT_POINTS]; // lever arms of the points on both surfaces, m
  R gap[CONTACT_POINTS];                    // m, negative: penetration
} ContactGeometry;

// The point where friction acts, as lever arms: weighted mean of the points in use.
typedef struct Patch {
  V ra, rb;
} Patch;

// Effective masses of a manifold; those of flat manifolds are computed once per step.
typedef struct ContactMass {
  R k[CONTACT_MASSES];       // K = J M^-1 J' of the normal rows, 1/kg
  R inverse[CONTACT_MASSES]; // (K + regularization + alpha / h^2)^-1
  R tangent[3];              // inverse of the patch's tangential 2 x 2 matrix: ss, st, tt
  R twist;                   // effective inertia about the normal, kg m^2
  R friction_radius;         // mean distance of the face's points from the patch, m
  R share;                   // 1 / number of points in use
  Patch patch;
} ContactMass;

typedef struct Frame {
  V n, s, t;
} Frame;

// Two tangents by the shortest rotation from z or -z to n: no branch, no singular direction.
KERNEL Frame frame_about(V n)
{
  R sign = pick(n.z < 0.0f, splat(-1.0f), splat(1.0f));
  R a = -1.0f / (sign + n.z);
  R b = n.x * n.y * a;
  Frame f = {n, v_make(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x),
             v_make(b, sign + n.y * n.y * a, -n.y)};
  return f;
}

// Index of entry (i, j) in a packed symmetric matrix.
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

// Inverse of a packed matrix of 1, 2 or 4 rows. Four rows by 2 x 2 blocks (Schur complement): with
// [A B; B' D], X = A^-1 B and S = D - B' X, it is [A^-1 + X S^-1 X', -X S^-1; ., S^-1].
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

// Weights of the points in the friction patch. Two points are weighted by their load, of which one
// may bear all; the points of a face count equally. Returns the inverse of the sum of weights.
KERNEL R friction_weights(int points, const R *used, R share, const R *lambda, R *weight)
{
  R load = sum_of(points, lambda);
  bool by_load = points == 2 && RULE(friction_at_load);
  for (int i = 0; i < points; ++i) {
    weight[i] = by_load ? pick(load > 0.0f, lambda[i], used[i]) : used[i];
  }
  return by_load ? pick(load > 0.0f, 1.0f / load, share) : share;
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

KERNEL R mean_point_radius(int points, const R *weight, R scale, const ContactGeometry *geom,
                           V middle)
{
  R sum = splat(0.0f);
  for (int i = 0; i < points; ++i) {
    sum = sum + weight[i] * v_length(v_sub(geom->ra[i], middle));
  }
  return sum * scale;
}

// Mean distance of a face's points from its middle c. Over a triangle c, p, q it is 2/3 of the mean
// distance along pq, here by Simpson's rule: -1 % for a square, -7 % for a side ratio of 10. The
// points are in cyclic order; an unused last one repeats its predecessor.
KERNEL R mean_face_radius(const R *used, const ContactGeometry *geom, V middle)
{
  V p[CONTACT_POINTS];
  R length[CONTACT_POINTS];
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    V q = v_sub(geom->ra[i], middle);
    p[i] = i == 0 ? q : v_pick(used[i] > 0.5f, q, p[i - 1]);
    length[i] = v_length(p[i]);
  }
  R sum = splat(0.0f), area = splat(0.0f), mean = splat(0.0f);
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    int j = (i + 1) % CONTACT_POINTS;
    R part = v_length(v_cross(p[i], p[j]));
    R along = (length[i] + 2.0f * v_length(v_add(p[i], p[j])) + length[j]) * (1.0f / 9.0f);
    sum = sum + part * along;
    area = area + part;
    mean = mean + (1.0f / CONTACT_POINTS) * along;
  }
  // Points on one line, or on one place, have no area.
  return pick(area > TUNING_MIN_DIVISOR, sum / r_max(area, splat(TUNING_MIN_DIVISOR)), mean);
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
      // Unused points get a unit diagonal and no coupling.
      mass->k[sym(i, j)] = i == j ? k + (1.0f - used[j]) : k;
    }
    trace = trace + used[j] * mass->k[sym(j, j)];
  }
  R ridge = points > 2 ? TUNING_CONTACT_RIDGE * mass->share * trace : splat(0.0f);
  // Two points that coincide, or that act on bodies that cannot rotate, make K singular.
  ridge = points == 2 ? TUNING_CONTACT_RIDGE_TWO_POINTS * trace : ridge;
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
  mass.friction_radius = splat(0.0f);
  if (points == 2) {
    mass.friction_radius = mean_point_radius(points, weight, scale, geom, mass.patch.ra);
  } else if (points > 2) {
    mass.friction_radius = mean_face_radius(used, geom, mass.patch.ra);
  }
  return mass;
}

// ---------------------------------------------------------------------------------------------
// Impulses

// An impulse, N s, and its angular impulses about the two centres of mass, N m s. Body A gets the
// opposite of p and la.
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
  return pick(r_abs(kept) < TUNING_TINY, splat(0.0f), kept);
}

KERNEL void clear_impulses(int points, ContactState *state)
{
  for (int i = 0; i < points; ++i) {
    state->lambda[i] = splat(0.0f);
  }
  state->friction = state->roll = v_zero();
  state->twist = splat(0.0f);
}

// Warm start: decays the impulses of the last substep towards the preload P,
//     lambda_i -= beta (mean - P) + beta_uneven (lambda_i - mean),
// and friction with an anchor towards zero. `weight` is g h, the speed gravity adds in a substep.
// Compliant points keep their impulse, which is their spring force.
KERNEL void decay_contact_impulses(int points, const ContactParams *params, const ContactMass *mass,
                                   R weight, ContactState *state)
{
  M soft = params->alpha > 0.0f;
  R mean = mass->share * sum_of(points, state->lambda);
  R decay = splat(RULE(contact_decay) ? TUNING_CONTACT_DECAY : 0.0f);
  R uneven = decay;
  if (RULE(contact_decay) && RULE(heavy_load_decay)) {
    M heavy = state->preload * mass->k[0] > TUNING_CONTACT_HEAVY_LOAD * weight;
    uneven = pick(heavy, splat(TUNING_CONTACT_DECAY_UNEVEN), decay);
  }
  if (points == 2 && RULE(two_point_load)) {
    // Two points that stick: their lever arms determine the loads, and decay of the difference
    // would shift the load of a limb.
    uneven = pick(params->has_anchor > 0.5f, splat(0.0f), uneven);
  }
  R preload = RULE(preload) ? state->preload : splat(0.0f);
  R decay_per_point = decay * (mean - preload);
  for (int i = 0; i < points; ++i) {
    R x = state->lambda[i];
    R kept = r_max(x - decay_per_point - uneven * (x - mean), splat(0.0f));
    kept = pick(kept < TUNING_TINY, splat(0.0f), kept);
    state->lambda[i] = pick(soft, x, pick(x > 0.0f, kept, splat(0.0f)));
  }
  // Friction without an anchor has no position bias, so its impulse does not decay.
  R share = 1.0f - decay * params->has_anchor;
  V f = state->friction, r = state->roll;
  state->friction = v_make(decayed(share, f.x), decayed(share, f.y), decayed(share, f.z));
  state->twist = decayed(share, state->twist);
  state->roll = v_make(decayed(share, r.x), decayed(share, r.y), decayed(share, r.z));
  if (!RULE(contact_warm_start)) {
    clear_impulses(points, state);
  }
}

KERNEL Wrench contact_wrench(int points, const ContactGeometry *geom, const Patch *patch,
                             const ContactState *state)
{
  Wrench w = normal_wrench(points, geom, state->lambda);
  V turning = v_add(v_scale(state->twist, geom->n), state->roll);
  add_patch_wrench(&w, patch, state->friction, turning);
  return w;
}

// Neither a sliding, a twist nor a rolling impulse.
KERNEL M has_no_friction_impulse(const ContactState *state)
{
  V f = state->friction;
  V r = state->roll;
  return (f.x == 0.0f) & (f.y == 0.0f) & (f.z == 0.0f) & (state->twist == 0.0f) & (r.x == 0.0f) &
         (r.y == 0.0f) & (r.z == 0.0f);
}

// Friction impulses of the last pose are projected to the tangent plane of the current normal.
KERNEL void project_to_tangent_plane(const ContactGeometry *geom, ContactState *state)
{
  V n = geom->n;
  state->friction = v_sub(state->friction, v_scale(v_dot(state->friction, n), n));
  state->roll = v_sub(state->roll, v_scale(v_dot(state->roll, n), n));
}

// ---------------------------------------------------------------------------------------------
// Normals: find the change x of the impulses with
//     lambda + x >= 0,  r - (K + alpha) x <= 0,  complementary.

// Right-hand side of a manifold's normal rows.
typedef struct ContactRhs {
  R r[CONTACT_POINTS];       // wanted change of the relative normal velocities, m/s
  R closing[CONTACT_POINTS]; // approach speed of points without an impulse, m/s, for hit events
  M frozen[CONTACT_POINTS];  // points that keep their impulse
  M idle;                    // no point has an impulse or needs one
} ContactRhs;

// Projected Gauss-Seidel from x = 0, rows scaled to a unit diagonal.
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
  int sweeps = RULE(block_manifold) ? TUNING_CONTACT_PGS_SWEEPS : 1;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int i = 0; i < points; ++i) {
      R next = wanted[i];
      // The row's latest input comes last, which shortens the chain of dependent operations.
      for (int j = i + 1; j < i + points; ++j) {
        next = next - row[i][j % points] * x[j % points];
      }
      x[i] = pick(frozen[i], splat(0.0f), r_max(next, -lambda[i]));
    }
  }
}

// Exact LCP of two points, for the case that the unbounded solution pulls: then at most one of them
// pushes. Frozen points keep their impulse.
INLINED void solve_two_point_lcp(const R *k, R alpha, const R *r, const R *lambda, const M *frozen,
                                 R *x)
{
  R k00 = k[0] + alpha, k01 = k[1], k11 = k[2] + alpha;
  // Right-hand side of the total impulses y = lambda + x.
  R q0 = r[0] + k00 * lambda[0] + k01 * lambda[1];
  R q1 = r[1] + k01 * lambda[0] + k11 * lambda[1];
  R alone0 = r_max(q0, splat(0.0f)) / k00;
  R alone1 = r_max(q1, splat(0.0f)) / k11;
  M first = k01 * alone0 >= q1; // point 0 alone keeps point 1 from closing
  R y0 = pick(first, alone0, splat(0.0f));
  R y1 = pick(first, splat(0.0f), alone1);
  y0 = pick(frozen[1], r_max(q0 - k01 * lambda[1], splat(0.0f)) / k00, y0);
  y1 = pick(frozen[0], r_max(q1 - k01 * lambda[0], splat(0.0f)) / k11, y1);
  x[0] = pick(frozen[0], splat(0.0f), y0 - lambda[0]);
  x[1] = pick(frozen[1], splat(0.0f), y1 - lambda[1]);
}

// x = (K + alpha)^-1 r without bounds. The regularized inverse leaves about TUNING_CONTACT_RIDGE of
// r; one step of iterative refinement leaves the square of that, and removes rounding errors of the
// inverse too. The alternative, an inverse refined once per step, lets tall towers lean.
INLINED void solve_unbounded(int points, const ContactMass *mass, R alpha, const R *r, R *x)
{
  R rest[CONTACT_POINTS];
  for (int i = 0; i < points; ++i) {
    x[i] = row_of(points, mass->inverse, i, r);
  }
  if (points <= 2 || !RULE(block_refinement)) {
    return;
  }
  for (int i = 0; i < points; ++i) {
    rest[i] = r[i] - row_of(points, mass->k, i, x) - alpha * x[i];
  }
  for (int i = 0; i < points; ++i) {
    x[i] = x[i] + row_of(points, mass->inverse, i, rest);
  }
}

// The unbounded solution where no point pulls, else the LCP.
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
  if (!RULE(block_manifold)) {
    pulls = splat(0.0f) == 0.0f;
  }
  R y[CONTACT_POINTS];
  for (int i = 0; i < points; ++i) {
    y[i] = splat(0.0f);
  }
  if (m_any(pulls & m_not(rhs->idle))) {
    if (points == 2 && RULE(block_manifold)) {
      solve_two_point_lcp(mass->k, alpha, rhs->r, lambda, rhs->frozen, y);
    } else {
      solve_pgs(points, mass->k, alpha, rhs->r, lambda, rhs->frozen, y);
    }
  }
  for (int i = 0; i < points; ++i) {
    x[i] = pick(pulls, y[i], x[i]);
  }
}

// Makes the number of points a compile-time constant: the loops modulo `points` unroll.
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

// Coulomb friction: adds the impulse -T u that stops the sliding u, T = mass->tangent, and scales
// the sum back to the cone |friction| <= mu load. mu is static until the relax pass has found the
// patch sliding. Returns the lanes that reach the cone.
KERNEL M solve_tangential(const Frame *f, const ContactParams *params, const ContactMass *mass, V u,
                          R load, ContactState *state, V *change)
{
  R s = -v_dot(f->s, u);
  R t = -v_dot(f->t, u);
  R ws = v_dot(state->friction, f->s) + mass->tangent[0] * s + mass->tangent[1] * t;
  R wt = v_dot(state->friction, f->t) + mass->tangent[1] * s + mass->tangent[2] * t;
  R length = r_sqrt(ws * ws + wt * wt);
  M sliding = RULE(slip_by_relax) ? state->sliding > 0.5f : length > params->mu_static * load;
  R bound = pick(sliding, params->mu_dynamic, params->mu_static) * load;
  R scale = r_min(splat(1.0f), bound / r_max(length, splat(TUNING_MIN_DIVISOR)));
  V now = in_plane(f, scale * ws, scale * wt);
  *change = v_sub(now, state->friction);
  state->friction = now;
  return length > bound;
}

// Torque of the friction of one or two points about the normal. Friction of two points acts at their
// load's centre, at d from the patch, and their mean distance from there is 2 lambda_0 lambda_1
// |r_1 - r_0| / load^2.
KERNEL M solve_twist(int points, const ContactParams *params, const ContactGeometry *geom,
                     const ContactMass *mass, R spin, R load, ContactState *state, R *change)
{
  R center = splat(0.0f), radius = splat(0.0f);
  if (points == 2) {
    R share = state->lambda[1] * r_inverse_above(load, splat(0.0f));
    V apart = v_sub(geom->ra[1], geom->ra[0]);
    V d = v_add(v_sub(geom->ra[0], mass->patch.ra), v_scale(share, apart));
    center = pick(load > 0.0f, v_dot(geom->n, v_cross(d, state->friction)), center);
    radius = 2.0f * share * (1.0f - share) * v_length(apart);
  }
  R bound = (params->mu_static * radius + params->spinning) * load;
  R wanted = state->twist - mass->twist * spin - center;
  R now = center + r_clamp(wanted, -bound, bound);
  *change = now - state->twist;
  state->twist = now;
  return r_abs(wanted) > bound;
}

// Friction of a face: sliding and spinning share one limit. Coulomb's law holds at eight points:
// the corners of the face and the middles of its sides, moved towards its middle to 1.4 and 0.6
// times the mean radius r of the face. With F = mu load, u_i the slip of point i and e_i = n x p_i,
//     f = sum f_i,  twist = sum e_i . f_i,  f_i = -F / 8 u_i / |u_i|;  |f_i| <= F / 8 where u_i =
//     0.
// Two radii, because a face needs the mean of the distance (torque of a fast spin) and of its
// inverse (force that a fast spin leaves against sliding): one radius slides 10 % too far. Vectors
// are in the frame s, t, with twist / r and w r as third component.
#define FACE_POINTS (2 * CONTACT_POINTS)

typedef struct FaceVector {
  R s, t, q;
} FaceVector;

typedef struct FacePoints {
  R s[FACE_POINTS], t[FACE_POINTS]; // e_i / r
  R weight[FACE_POINTS];            // 1, or 0 of what a triangle lacks
} FacePoints;

KERNEL void scale_face_points(int first, float radius, FacePoints *p)
{
  R sum = splat(0.0f), count = splat(0.0f);
  for (int i = first; i < first + CONTACT_POINTS; ++i) {
    sum = sum + p->weight[i] * r_sqrt(p->s[i] * p->s[i] + p->t[i] * p->t[i]);
    count = count + p->weight[i];
  }
  R scale = radius * count / r_max(sum, splat(TUNING_MIN_LENGTH));
  for (int i = first; i < first + CONTACT_POINTS; ++i) {
    p->s[i] = scale * p->s[i];
    p->t[i] = scale * p->t[i];
  }
}

// The points are in cyclic order. A triangle's fourth corner repeats the third with weight 0, and
// so does the side between them.
KERNEL FacePoints face_points(const R *used, const ContactGeometry *geom, const Frame *f, V middle,
                              const FaceVector *center)
{
  FacePoints p;
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    V r = v_sub(geom->ra[i], middle);
    p.s[i] = -v_dot(r, f->t);
    p.t[i] = v_dot(r, f->s);
    p.weight[i] = used[i];
  }
  p.s[3] = pick(used[3] > 0.5f, p.s[3], p.s[2]);
  p.t[3] = pick(used[3] > 0.5f, p.t[3], p.t[2]);
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    int j = (i + 1) % CONTACT_POINTS;
    p.s[CONTACT_POINTS + i] = p.s[i] + p.s[j];
    p.t[CONTACT_POINTS + i] = p.t[i] + p.t[j];
    p.weight[CONTACT_POINTS + i] = i == 2 ? used[3] : splat(1.0f);
  }
  scale_face_points(0, TUNING_FACE_CORNER_RADIUS, &p);
  scale_face_points(CONTACT_POINTS, TUNING_FACE_SIDE_RADIUS, &p);
  for (int i = 0; i < FACE_POINTS; ++i) {
    p.s[i] = p.s[i] + center->s;
    p.t[i] = p.t[i] + center->t;
  }
  return p;
}

// Solves the symmetric system A x = b; A packed as ss, st, tt, sq, tq, qq.
KERNEL FaceVector solve_face_matrix(const R *a, const FaceVector *b)
{
  R c0 = a[2] * a[5] - a[4] * a[4];
  R c1 = a[3] * a[4] - a[1] * a[5];
  R c2 = a[1] * a[4] - a[2] * a[3];
  R inv = r_inverse_above(a[0] * c0 + a[1] * c1 + a[3] * c2, splat(0.0f));
  R c3 = a[0] * a[5] - a[3] * a[3];
  R c4 = a[1] * a[3] - a[0] * a[4];
  R c5 = a[0] * a[2] - a[1] * a[1];
  FaceVector x = {inv * (c0 * b->s + c1 * b->t + c2 * b->q),
                  inv * (c1 * b->s + c3 * b->t + c4 * b->q),
                  inv * (c2 * b->s + c4 * b->t + c5 * b->q)};
  return x;
}

// What the impulse of a sliding face depends on. A copy: the address of the whole manifold would
// keep it in memory throughout a pass.
typedef struct FaceSlide {
  FacePoints points;
  R tangent[3]; // as in ContactMass
  R inertia;    // about the normal / r^2, kg
  R limit;      // greatest impulse at a point of the face, N s
  R spinning;   // greatest twist of spinning friction / r, N s
  FaceVector x; // in: impulse that would stop the face; out: impulse of friction
} FaceSlide;

// Slip u of point i, as its direction; returns the speed.
KERNEL R face_slip(const FacePoints *p, int i, const FaceVector *u, R *s, R *t)
{
  *s = u->s + p->s[i] * u->q;
  *t = u->t + p->t[i] * u->q;
  R speed = r_sqrt(*s * *s + *t * *t);
  R inv = 1.0f / r_max(speed, splat(TUNING_TINY));
  *s = inv * *s;
  *t = inv * *t;
  return speed;
}

// Impulse of a face that slips. With the impulse x* that would stop it, M its mass matrix and -u
// the slip that is left,
//     (M + C) u = x*,   C = sum c_i J_i' J_i,   c_i = limit / |J_i M^-1 x*|,
// and x = sum limit J_i' (J_i u / |J_i u|), reduced where it would turn the slip about: x . u <= x*
// . u.
SELDOM void slide_face(FaceSlide *face)
{
  const FacePoints *p = &face->points;
  const R *m = face->tangent;
  const FaceVector *stop = &face->x;
  S2 tangent = {m[0], m[1], m[2]};
  S2 inverse = s2_inverse(tangent);
  FaceVector u = {inverse.xx * stop->s + inverse.xy * stop->t,
                  inverse.xy * stop->s + inverse.yy * stop->t,
                  stop->q * r_inverse_above(face->inertia, splat(0.0f))};
  R s, t;
  R most = TUNING_FACE_STICK * (m[0] + m[2]);
  R turn = r_min(face->spinning / r_max(r_abs(u.q), splat(TUNING_TINY)), most);
  R a[6] = {m[0], m[1], m[2], splat(0.0f), splat(0.0f), face->inertia + turn};
  for (int i = 0; i < FACE_POINTS; ++i) {
    R speed = face_slip(p, i, &u, &s, &t);
    R c = r_min(p->weight[i] * face->limit / r_max(speed, splat(TUNING_TINY)), most);
    a[0] = a[0] + c;
    a[2] = a[2] + c;
    a[3] = a[3] + p->s[i] * c;
    a[4] = a[4] + p->t[i] * c;
    a[5] = a[5] + (p->s[i] * p->s[i] + p->t[i] * p->t[i]) * c;
  }
  u = solve_face_matrix(a, stop);
  FaceVector x = {splat(0.0f), splat(0.0f),
                  pick(u.q > 0.0f, face->spinning, pick(u.q < 0.0f, -face->spinning, splat(0.0f)))};
  for (int i = 0; i < FACE_POINTS; ++i) {
    face_slip(p, i, &u, &s, &t);
    R force = p->weight[i] * face->limit;
    x.s = x.s + force * s;
    x.t = x.t + force * t;
    x.q = x.q + force * (p->s[i] * s + p->t[i] * t);
  }
  R taken = x.s * u.s + x.t * u.t + x.q * u.q;
  R needed = stop->s * u.s + stop->t * u.t + stop->q * u.q;
  R share = r_clamp(needed / r_max(taken, splat(TUNING_TINY)), splat(0.0f), splat(1.0f));
  face->x = (FaceVector){share * x.s, share * x.t, share * x.q};
}

// n x d / r of the load's centre, at d from the patch. Friction acts there: a body that slides is not
// turned by it, however its load is shared among points and manifolds.
KERNEL FaceVector load_center(const ContactGeometry *geom, const Frame *f, const ContactMass *mass,
                              R load, R inv_radius, const ContactState *state)
{
  V sum = v_zero();
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    sum = v_add(sum, v_scale(state->lambda[i], v_sub(geom->ra[i], mass->patch.ra)));
  }
  R scale = inv_radius * r_inverse_above(load, splat(0.0f));
  return (FaceVector){-scale * v_dot(sum, f->t), scale * v_dot(sum, f->s), splat(0.0f)};
}

// Sliding and twist of a face. An impulse f and twist q r can be had if
//     f^2 + q^2 + TUNING_FACE_COUPLING f q <= F^2,
// which fits the limit of Coulomb's law over rectangles to 5 %. Beyond it the impulse is scaled
// back where that nearly stops the face or it slips slower than `slow`, m/s; elsewhere the face
// slides. Returns the lanes that slip.
KERNEL M solve_face_friction(const R *used, const Frame *f, const ContactParams *params,
                             const ContactGeometry *geom, const ContactMass *mass, V u, R spin,
                             R load, R slow, ContactState *state, V *slide, R *twist)
{
  R radius = r_max(mass->friction_radius, splat(TUNING_MIN_LENGTH));
  R inv = 1.0f / radius;
  FaceVector slip = {v_dot(f->s, u), v_dot(f->t, u), spin * radius};
  R inertia = mass->twist * inv * inv;
  const R *m = mass->tangent;
  FaceVector x = {v_dot(state->friction, f->s) - (m[0] * slip.s + m[1] * slip.t),
                  v_dot(state->friction, f->t) - (m[1] * slip.s + m[2] * slip.t),
                  state->twist * inv - inertia * slip.q};
  R limit = pick(state->sliding > 0.5f, params->mu_dynamic, params->mu_static) * load;
  R spinning = params->spinning * load * inv;
  FaceVector center = load_center(geom, f, mass, load, inv, state);
  R about_patch = center.s * x.s + center.t * x.t;
  R about_load = x.q - about_patch;
  R q = r_max(r_abs(about_load) - spinning, splat(0.0f));
  R square = x.s * x.s + x.t * x.t;
  R size = r_sqrt(square + q * (q + TUNING_FACE_COUPLING * r_sqrt(square)));
  M slips = size > limit;
  R scale = r_min(splat(1.0f), limit / r_max(size, splat(TUNING_MIN_DIVISOR)));
  FaceVector y = {scale * x.s, scale * x.t,
                  about_load - (1.0f - scale) * pick(about_load < 0.0f, -q, q) +
                      scale * about_patch};
  M fast = (size > TUNING_FACE_FAST * limit) & (load > 0.0f) &
           (slip.s * slip.s + slip.t * slip.t + slip.q * slip.q > slow * slow);
  if (m_any(fast)) {
    FaceSlide face = {face_points(used, geom, f, mass->patch.ra, &center),
                      {m[0], m[1], m[2]},
                      inertia,
                      0.5f * mass->share * limit,
                      spinning,
                      x};
    slide_face(&face);
    y.s = pick(fast, face.x.s, y.s);
    y.t = pick(fast, face.x.t, y.t);
    y.q = pick(fast, face.x.q, y.q);
  }
  V now = in_plane(f, y.s, y.t);
  *slide = v_sub(now, state->friction);
  *twist = y.q * radius - state->twist;
  state->friction = now;
  state->twist = y.q * radius;
  return slips;
}

// Rolling friction: an angular impulse against the relative spin about tangential axes, at most
// rolling * load. Sliding friction is solved next and turns the bodies too. With T the inverse of
// the tangential mass matrix, G the spin per tangential impulse and K the angular inverse mass,
//     spin' = spin - G T u,    M = K - G T G'
// are the spin that sliding friction will leave and the inverse mass of bodies that roll without
// sliding; the impulse is -M^-1 spin'. So one pass stops both.
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
  if (!RULE(rolling_ahead)) {
    xs = xt = ys = yt = splat(0.0f);
  }
  R free_ss = v_dot(f->s, ks), free_tt = v_dot(f->t, s_mul(k, f->t));
  R tiny = TUNING_ROLLING_RIDGE * (free_ss + free_tt) + TUNING_MIN_DIVISOR;
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
  R scale = r_min(splat(1.0f), bound / r_max(length, splat(TUNING_MIN_DIVISOR)));
  V now = in_plane(f, scale * ws, scale * wt);
  V change = v_sub(now, state->roll);
  state->roll = now;
  return change;
}

// ---------------------------------------------------------------------------------------------
// One pass over a manifold in impulse form

typedef struct ContactPass {
  R h, inv_h;         // substep, s; 1/s
  R inv_time_left;    // 1 / (rest of the substep after impacts), 1/s
  R gravity_gap;      // TUNING_CONTACT_NEAR_GAP g h^2, m: smaller gaps count as nearly closed
  int relaxing;       // relax pass: at the new pose, without position bias
  int has_rolling;    // some lane has rolling or spinning friction
  int has_compliance; // some lane has compliance
  R curvature_bias;   // m/s by which a wire's curvature closes the gap
} ContactPass;

// Velocity bias of a gap C with impulse lambda; the row is n . u + bias >= 0. k is the point's
// inverse mass, beta the decay.
//
//   C > 0:   bias = min(C - min(C, 2 g h^2) / 2,  C - (1 - beta) B) / time left
//            B = min(lambda k h, kept_gap, C)
//   C <= 0:  bias = max(beta C / h, -(max_push_speed + beta lambda k))
//
// - Of a nearly closed gap only half may close. The relax pass skips open points, so points that
//   close at once would alternate between open and closed.
// - The impulse that decay took from a loaded point may be restored above the speed cap, or the
//   point would sink. Not where the penetration is deep: bodies created inside each other would be
//   launched.
KERNEL R gap_bias(const ContactPass *pass, const ContactParams *params, R gap, R lambda, R k)
{
  R beta = splat(RULE(gradual_push) ? TUNING_CONTACT_DECAY : 1.0f);
  R decayed_speed = splat(0.0f);
  if (RULE(decay_restored)) {
    decayed_speed = pick(gap > -params->deep_gap, TUNING_CONTACT_DECAY * lambda * k, decayed_speed);
  }
  R fastest = params->max_push_speed + decayed_speed;
  R half = gap;
  if (RULE(near_gap)) {
    half = gap - TUNING_CONTACT_NEAR_KEPT * r_min(gap, pass->gravity_gap);
  }
  // On jointed bodies (kept_gap > 0) a loaded open point closes by the share beta per substep only.
  // The impulse responds by the mass m of the limb that is touched but moves the mechanism's mass
  // M. With sigma = h d/dt and a gap that closes by the share g per substep,
  //     sigma^3 + beta sigma^2 + 2 (m / M) sigma + g m / M = 0,
  // which is stable only if g < 2 beta. B is the gap that the load closes by itself.
  R borne = r_min(r_min(lambda * k * pass->h, params->kept_gap), gap);
  R closing_gap = r_min(half, gap - (1.0f - TUNING_CONTACT_DECAY) * borne);
  return pick(gap > 0.0f, closing_gap * pass->inv_time_left,
              r_max(beta * gap * pass->inv_h, -fastest));
}

KERNEL R mean_gap(int points, const R *used, R share, const ContactGeometry *geom)
{
  R sum = used[0] * geom->gap[0];
  for (int i = 1; i < points; ++i) {
    sum = sum + used[i] * geom->gap[i];
  }
  return share * sum;
}

// Where the speed cap limits all points of a deep face to the same speed, nothing resists tilting.
// There points deeper than the mean leave faster, by the share beta of the difference.
KERNEL R tilt_bias(const ContactPass *pass, const ContactParams *params, R gap, R mean, R rate)
{
  R uneven = r_clamp(TUNING_CONTACT_DECAY * (gap - mean) * pass->inv_h, -params->max_push_speed,
                     params->max_push_speed);
  return pick(TUNING_CONTACT_DECAY * mean * pass->inv_h <
                  -TUNING_TILT_BIAS_START * params->max_push_speed,
              rate + uneven, rate);
}

// Relative normal velocities of the points, by n . (w x r) = r . (n x w).
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
    // The relax pass skips open points without an impulse, and compliant points: their bias is a
    // spring force, not a position correction to remove.
    rhs.frozen[i] = splat(0.0f) > 1.0f;
    if (pass->relaxing) {
      rhs.frozen[i] = (geom->gap[i] > 0.0f) & free;
    } else {
      rate = gap_bias(pass, params, geom->gap[i], state->lambda[i], mass->k[sym(i, i)]);
      rate = rate - pass->curvature_bias;
      rate =
          points > 2 && RULE(tilt_bias) ? tilt_bias(pass, params, geom->gap[i], mean, rate) : rate;
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

// Solves the normals and applies the change. Returns the greatest approach speed of points that had
// no impulse and got one, m/s.
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

// Displacement of the patch from its anchor, the place where it began to stick.
typedef struct FrictionOffset {
  V offset; // m
  R angle;  // about the normal, rad
} FrictionOffset;

// Where friction reached its bound.
typedef struct Slip {
  M slides, turns;
} Slip;

// Rolling friction, then sliding and twist together. Outside the relax pass friction has a bias of
// beta offset / h towards the anchor.
KERNEL Slip solve_friction(int points, const R *used, const ContactPass *pass,
                           const ContactParams *params, const ContactGeometry *geom,
                           const ContactMass *mass, const FrictionOffset *anchor_offset,
                           ContactState *state, Body *a, Body *b)
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
  R spin = v_dot(geom->n, relative_spin(a, b)) + gain * anchor_offset->angle;
  R twist;
  if (points > 2 && RULE(face_friction)) {
    R slow = (TUNING_FACE_SLOW_SLIP / TUNING_CONTACT_NEAR_GAP) * pass->gravity_gap * pass->inv_h;
    slip.slides = slip.turns = solve_face_friction(used, &f, params, geom, mass, u, spin, load,
                                                   slow, state, &slide, &twist);
    turning = v_scale(twist, geom->n);
  } else {
    slip.slides = slip.turns = solve_tangential(&f, params, mass, u, load, state, &slide);
    // A single point resists rotation about the normal only by spinning friction.
    if (points > 1 || pass->has_rolling) {
      slip.turns = solve_twist(points, params, geom, mass, spin, load, state, &twist);
      turning = v_scale(twist, geom->n);
    }
  }
  Wrench w = {v_zero(), v_zero(), v_zero()};
  add_patch_wrench(&w, patch, slide, turning);
  apply_wrench(a, b, &w);
  return slip;
}

// The preload is a running mean of the mean impulse over TUNING_CONTACT_PRELOAD_TIME, over the
// contact's age where that is less, and never exceeds the current mean impulse.
KERNEL void update_preload(int points, R share, R h, ContactState *state)
{
  R mean = share * sum_of(points, state->lambda);
  state->preload_age = r_min(state->preload_age + h, splat(TUNING_CONTACT_PRELOAD_TIME));
  R next = state->preload + (h / state->preload_age) * (mean - state->preload);
  state->preload = r_min(next, mean);
}

#endif
