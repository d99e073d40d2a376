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

#include "kernel/contact_friction.h"

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

// Rows of a manifold scaled to a unit diagonal.
typedef struct ScaledRows {
  R row[CONTACT_POINTS][CONTACT_POINTS], wanted[CONTACT_POINTS];
} ScaledRows;

KERNEL ScaledRows scale_rows(int points, const R *k, R alpha, const R *r)
{
  ScaledRows rows;
  for (int i = 0; i < points; ++i) {
    R inverse = 1.0f / (k[sym(i, i)] + alpha);
    for (int j = 0; j < points; ++j) {
      rows.row[i][j] = inverse * k[sym(i, j)];
    }
    rows.wanted[i] = inverse * r[i];
  }
  return rows;
}

// Impulse of point i that leaves it the wanted velocity. The row's latest input comes last, which
// shortens the chain of dependent operations.
INLINED R wanted_impulse(int points, const ScaledRows *rows, int i, const R *x)
{
  R next = rows->wanted[i];
  for (int j = i + 1; j < i + points; ++j) {
    next = next - rows->row[i][j % points] * x[j % points];
  }
  return next;
}

// One sweep of projected Gauss-Seidel from x.
INLINED void solve_pgs(int points, const ScaledRows *rows, const R *lambda, const M *frozen, R *x)
{
  for (int i = 0; i < points; ++i) {
    R next = wanted_impulse(points, rows, i, x);
    x[i] = pick(frozen[i], splat(0.0f), r_max(next, -lambda[i]));
  }
}

// Impulses of four points of a face that cancel each other, +1, -1, +1, -1 for a parallelogram in
// cyclic order, are not determined by its motion: where the gaps do not quite lie in a plane the
// ridge alone would bound them, and the face would end on two corners. One inverse iteration finds
// their direction, which d is made perpendicular to.
KERNEL void remove_redundant_part(const R *inverse, M all, R *d)
{
  R n[CONTACT_POINTS], along = splat(0.0f), square = splat(0.0f);
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    n[i] = inverse[sym(i, 0)] - inverse[sym(i, 1)] + inverse[sym(i, 2)] - inverse[sym(i, 3)];
    along = along + n[i] * d[i];
    square = square + n[i] * n[i];
  }
  R share = along / r_max(square, splat(TUNING_MIN_DIVISOR));
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    d[i] = pick(all, d[i] - share * n[i], d[i]);
  }
}

KERNEL R kept_where(M in, R x)
{
  return pick(in, x, splat(0.0f));
}

// d = K^-1 of what is left of r over the points of a set, zero elsewhere. With P = K + ridge,
// P^-1 + ridge P^-2 is the inverse up to ridge^2.
INLINED void solve_subset(const R *k, R alpha, const R *r, const M *in, const R *x, R *d)
{
  R part[CONTACT_MASSES], inverse[CONTACT_MASSES], rest[CONTACT_POINTS], first[CONTACT_POINTS];
  R trace = splat(0.0f), count = splat(0.0f);
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    trace = trace + kept_where(in[i], k[sym(i, i)]);
    count = count + kept_where(in[i], splat(1.0f));
  }
  R ridge = TUNING_CONTACT_RIDGE * trace / r_max(count, splat(1.0f));
  for (int j = 0; j < CONTACT_POINTS; ++j) {
    for (int i = 0; i < j; ++i) {
      part[sym(i, j)] = kept_where(in[i] & in[j], k[sym(i, j)]);
    }
    part[sym(j, j)] = pick(in[j], k[sym(j, j)] + (alpha + ridge), splat(1.0f));
    rest[j] = kept_where(in[j], r[j] - row_of(CONTACT_POINTS, k, j, x) - alpha * x[j]);
  }
  invert(CONTACT_POINTS, part, inverse);
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    first[i] = row_of(CONTACT_POINTS, inverse, i, rest);
  }
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    d[i] = first[i] + ridge * row_of(CONTACT_POINTS, inverse, i, first);
  }
  M all = in[0] & in[1] & in[2] & in[3];
  if (m_any(all)) {
    remove_redundant_part(inverse, all, d);
  }
}

// x + step d, as far as no point pulls. Returns the lanes that get all of d and then close at no
// point outside of the set.
INLINED M take_step(const ScaledRows *rows, const R *lambda, const M *frozen, const M *in,
                    const R *d, R *x)
{
  R step = splat(1.0f);
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    R end = (lambda[i] + x[i]) / r_max(-d[i], splat(TUNING_MIN_DIVISOR));
    step = pick(d[i] < 0.0f, r_min(step, end), step);
  }
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    x[i] = pick(frozen[i], splat(0.0f), r_max(x[i] + step * d[i], -lambda[i]));
  }
  M solved = step >= 1.0f;
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    R next = wanted_impulse(CONTACT_POINTS, rows, i, x);
    solved = solved & (frozen[i] | in[i] | (next <= -lambda[i]));
  }
  return solved;
}

// The LCP of a face in which a point would pull. A copy, solved out of line: most faces go without,
// and their passes need the registers.
typedef struct FaceLcp {
  R k[CONTACT_MASSES], alpha;
  R r[CONTACT_POINTS], lambda[CONTACT_POINTS];
  M frozen[CONTACT_POINTS];
  M done;              // lanes that keep their x
  R x[CONTACT_POINTS]; // out
} FaceLcp;

// Gauss-Seidel over the points of a face, whose matrix is nearly singular, leaves a face that bears
// its load near a corner so soft that towers fall. So a sweep, which finds the points that push,
// alternates with the direct solution for these, taken as far as none of them pulls: each round
// solves the rest or ends with a point less. Nearly all faces are solved in the first round.
SELDOM void solve_face_lcp(FaceLcp *f)
{
  ScaledRows rows = scale_rows(CONTACT_POINTS, f->k, f->alpha, f->r);
  for (int round = 0; round < TUNING_CONTACT_ROUNDS && m_any(m_not(f->done)); ++round) {
    M in[CONTACT_POINTS];
    R d[CONTACT_POINTS], y[CONTACT_POINTS];
    for (int i = 0; i < CONTACT_POINTS; ++i) {
      y[i] = f->x[i];
    }
    solve_pgs(CONTACT_POINTS, &rows, f->lambda, f->frozen, y);
    for (int i = 0; i < CONTACT_POINTS; ++i) {
      in[i] = m_not(f->frozen[i]) & (f->lambda[i] + y[i] > 0.0f);
    }
    solve_subset(f->k, f->alpha, f->r, in, y, d);
    M solved = take_step(&rows, f->lambda, f->frozen, in, d, y);
    for (int i = 0; i < CONTACT_POINTS; ++i) {
      f->x[i] = pick(f->done, f->x[i], y[i]);
    }
    f->done = f->done | solved;
  }
}

// The lanes of a face that are not `done`, out of line.
KERNEL void solve_pulling_face(const ContactMass *mass, R alpha, const ContactRhs *rhs,
                               const R *lambda, M done, R *x)
{
  FaceLcp f;
  for (int i = 0; i < CONTACT_MASSES; ++i) {
    f.k[i] = mass->k[i];
  }
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    f.r[i] = rhs->r[i];
    f.lambda[i] = lambda[i];
    f.frozen[i] = rhs->frozen[i];
    f.x[i] = splat(0.0f);
  }
  f.alpha = alpha;
  f.done = done;
  solve_face_lcp(&f);
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    x[i] = f.x[i];
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
    } else if (RULE(block_manifold)) {
      solve_pulling_face(mass, alpha, rhs, lambda, m_not(pulls) | rhs->idle, y);
    } else {
      ScaledRows rows = scale_rows(points, mass->k, alpha, rhs->r);
      solve_pgs(points, &rows, lambda, rhs->frozen, y);
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
    R slow = (1.0f / TUNING_CONTACT_NEAR_GAP) * pass->gravity_gap * pass->inv_h; // g h
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
