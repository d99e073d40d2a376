// Friction of a manifold: the cone at its patch, twist about the normal, faces whose sliding and
// twist share one limit, and rolling friction.
#ifndef TENON_KERNEL_CONTACT_FRICTION_H
#define TENON_KERNEL_CONTACT_FRICTION_H

#include "kernel/contact_manifold.h"

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

// Torque of the friction of one or two points about the normal. Friction of two points acts at
// their load's centre, at d from the patch, and their mean distance from there is 2 lambda_0
// lambda_1 |r_1 - r_0| / load^2.
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
// the corners of the face and the middles of its sides, moved to 1.4 and 0.6 times the mean radius
// r of the face from the centre of its load. With F = mu load, u_i the slip of point i and e_i = n
// x p_i,
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

// `center`: n x d / r of the load's centre, at d from `middle`, that of the face. The points are in
// cyclic order. A triangle's fourth corner repeats the third with weight 0, and
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

// n x d / r of the load's centre, at d from the patch. Friction acts there: a body that slides is
// not turned by it, however its load is shared among points and manifolds.
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

#endif
