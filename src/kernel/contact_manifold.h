// A manifold of up to four points: parameters, impulses, geometry and effective masses of its
// normal rows and of the patch where its friction acts. The equations are in kernel/contact.h.
#ifndef TENON_KERNEL_CONTACT_MANIFOLD_H
#define TENON_KERNEL_CONTACT_MANIFOLD_H

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

// Fields of points beyond `points` are not set.
KERNEL void compute_contact_mass(int points, const R *used, const R *lambda,
                                 const ContactGeometry *geom, R alpha, const Body *a, const Body *b,
                                 ContactMass *mass)
{
  R weight[CONTACT_POINTS];
  mass->share = 1.0f / r_max(sum_of(points, used), splat(1.0f));
  normal_masses(points, used, geom, alpha, a, b, mass);
  R scale = friction_weights(points, used, mass->share, lambda, weight);
  mass->patch = patch_of(points, weight, scale, geom);
  Frame f = frame_about(geom->n);
  S k = linear_inverse_mass(a, b, mass->patch.ra, mass->patch.rb);
  V ks = s_mul(k, f.s);
  S2 tangent = {v_dot(f.s, ks), v_dot(f.t, ks), v_dot(f.t, s_mul(k, f.t))};
  S2 inverse = s2_inverse(tangent);
  mass->tangent[0] = inverse.xx;
  mass->tangent[1] = inverse.xy;
  mass->tangent[2] = inverse.yy;
  mass->twist =
      r_inverse_above(v_dot(geom->n, s_mul(angular_inverse_mass(a, b), geom->n)), splat(0.0f));
  mass->friction_radius = splat(0.0f);
  if (points == 2) {
    mass->friction_radius = mean_point_radius(points, weight, scale, geom, mass->patch.ra);
  } else if (points > 2) {
    mass->friction_radius = mean_face_radius(used, geom, mass->patch.ra);
  }
}

#endif
