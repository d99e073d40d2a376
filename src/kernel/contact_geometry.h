// Where manifolds touch when their bodies have moved: gaps, levers, and for round shapes the
// normal. "We use the most recent directions on curved geometry", sec. 3.5; what is flat keeps the
// directions of the step's start.
//
// Points and directions of a *Start are in world axes, from their body's centre of mass, when the
// step began.
#ifndef TENON_KERNEL_CONTACT_GEOMETRY_H
#define TENON_KERNEL_CONTACT_GEOMETRY_H

#include "kernel/contact.h"

// How a manifold follows its bodies: manifold_form of collide/manifold.h.
typedef enum ContactForm {
  CONTACT_FORM_FLAT,
  CONTACT_FORM_ROUND,
  CONTACT_FORM_RIM,
  CONTACT_FORM_WIRE
} ContactForm;

typedef struct FlatStart {
  R gap[CONTACT_POINTS];
} FlatStart;

typedef struct RoundStart {
  V apart;          // from A's centre to B's
  V pa, ea, pb, eb; // segments: one end, and from there to the other
  V ca[2], cb[2];   // cores of two points
} RoundStart;

typedef struct RimStart {
  V apart;
  V center[CONTACT_POINTS]; // of the rims
  R turn[CONTACT_POINTS];   // quarter turns from the deepest place
  V axis, side;             // of the rims; a direction across
  V plane;                  // a point of the flat side
  R radius;
  R rim_is_b;
} RimStart;

#define WIRE_TERMS 6 // of the polynomial that a stretch of a wire is

typedef struct WireStart {
  V apart;
  V curve[WIRE_TERMS];
  V p, e; // segment
  R parameter;
  R wire_is_b;
} WireStart;

KERNEL Q q_pick(M m, Q a, Q b)
{
  Q q = {pick(m, a.x, b.x), pick(m, a.y, b.y), pick(m, a.z, b.z), pick(m, a.w, b.w)};
  return q;
}

// What a point of a body at r from its centre has moved since the step began.
KERNEL V point_displacement(const Body *body, V r)
{
  return v_add(body->dx, q_rotate_change(body->dq, r));
}

// n . (R r - r) = (R^-1 n - n) . r: one turn of the normal serves all points of a body.
KERNEL void update_flat_geometry(int points, const FlatStart *start, const ContactParams *params,
                                 const Body *a, const Body *b, ContactGeometry *geom)
{
  V n = geom->n;
  V turn_a = q_rotate_change(q_conjugate(a->dq), n);
  V turn_b = q_rotate_change(q_conjugate(b->dq), n);
  // The surface of a round core keeps to the normal, so only the core turns.
  R skin = params->radius_a * v_dot(turn_a, n) + params->radius_b * v_dot(turn_b, n);
  R shift = v_dot(n, v_sub(b->dx, a->dx)) + skin;
  for (int i = 0; i < points; ++i) {
    R turned = v_dot(geom->rb[i], turn_b) - v_dot(geom->ra[i], turn_a);
    // cppcheck-suppress uninitvar // as many as there are points
    geom->gap[i] = start->gap[i] + (shift + turned);
  }
}

// From A to B between two cores; where they coincide the last normal still holds.
KERNEL V normal_between(V d, V last)
{
  R length = v_length(d);
  V n = v_scale(1.0f / r_max(length, splat(1e-12f)), d);
  return v_pick((length > 1e-9f) & (v_dot(n, last) > 0.0f), n, last);
}

KERNEL R unit_clamp(R x)
{
  return r_clamp(x, splat(0.0f), splat(1.0f));
}

// Parameters of the closest points of p + s e and, at `to` from p, q + t f.
KERNEL void closest_on_segments(V to, V e, V f, R *s, R *t)
{
  R ee = v_dot(e, e);
  R ff = v_dot(f, f);
  R ef = v_dot(e, f);
  R et = v_dot(e, to);
  R ft = v_dot(f, to);
  R determinant = ee * ff - ef * ef;
  R inv_ee = r_inverse_above(ee, splat(0.0f));
  R inv_ff = r_inverse_above(ff, splat(0.0f));
  // Nearly parallel segments: any start will do.
  R inv = r_inverse_above(determinant, 1e-6f * ee * ff);
  R first = unit_clamp((et * ff - ef * ft) * inv);
  *t = unit_clamp((ef * first - ft) * inv_ff);
  *s = unit_clamp((ef * *t + et) * inv_ee);
}

KERNEL void set_point(const ContactParams *params, V core_a, V core_b, V apart, int i,
                      ContactGeometry *geom)
{
  V d = v_sub(v_add(apart, core_b), core_a);
  geom->gap[i] = v_dot(geom->n, d) - (params->radius_a + params->radius_b);
  geom->ra[i] = v_add(core_a, v_scale(params->radius_a, geom->n));
  geom->rb[i] = v_sub(core_b, v_scale(params->radius_b, geom->n));
}

// From A's centre to B's now.
KERNEL V apart_now(V apart, const Body *a, const Body *b)
{
  return v_add(apart, v_sub(b->dx, a->dx));
}

KERNEL void update_round_geometry(int points, const RoundStart *start, const ContactParams *params,
                                  const Body *a, const Body *b, ContactGeometry *geom)
{
  V apart = apart_now(start->apart, a, b);
  V pa = q_rotate(a->dq, start->pa);
  V pb = q_rotate(b->dq, start->pb);
  V ea = q_rotate(a->dq, start->ea);
  V eb = q_rotate(b->dq, start->eb);
  R s, t;
  closest_on_segments(v_add(apart, v_sub(pb, pa)), ea, eb, &s, &t);
  V core_a = v_add(pa, v_scale(s, ea));
  V core_b = v_add(pb, v_scale(t, eb));
  geom->n = normal_between(v_add(apart, v_sub(core_b, core_a)), geom->n);
  if (points == 1) {
    set_point(params, core_a, core_b, apart, 0, geom);
    return;
  }
  for (int i = 0; i < 2; ++i) {
    set_point(params, q_rotate(a->dq, start->ca[i]), q_rotate(b->dq, start->cb[i]), apart, i, geom);
  }
}

// Every point of a rim that stands, the lowest of one that lies: found from the direction in which
// the rim dips towards the flat side.
KERNEL void update_rim_geometry(int points, const RimStart *start, const Body *a, const Body *b,
                                ContactGeometry *geom)
{
  M on_b = start->rim_is_b > 0.5f;
  V n = geom->n;
  V down = v_pick(on_b, v_make(-n.x, -n.y, -n.z), n);
  Q dq = q_pick(on_b, b->dq, a->dq);
  V axis = q_rotate(dq, start->axis);
  // Flat on the plane no place is deepest: a fixed one is as good as any.
  V dip = v_sub(down, v_scale(v_dot(down, axis), axis));
  dip = v_add(dip, v_scale(splat(1e-4f), q_rotate(dq, start->side)));
  dip = v_scale(1.0f / r_max(v_length(dip), splat(1e-12f)), dip);
  V across = v_cross(axis, dip);
  V apart = apart_now(start->apart, a, b);
  Q flat_dq = q_pick(on_b, a->dq, b->dq);
  V plane = q_rotate(flat_dq, start->plane);
  // From the centre of the flat body to that of the other.
  V over = v_pick(on_b, apart, v_make(-apart.x, -apart.y, -apart.z));
  for (int i = 0; i < points; ++i) {
    R turn = start->turn[i];
    R c = pick(turn == 0.0f, splat(1.0f), pick(turn == 2.0f, splat(-1.0f), splat(0.0f)));
    R s = pick(turn == 1.0f, splat(1.0f), pick(turn == 3.0f, splat(-1.0f), splat(0.0f)));
    V out = v_add(v_scale(c, dip), v_scale(s, across));
    V rim = v_add(q_rotate(dq, start->center[i]), v_scale(start->radius, out));
    V from_flat = v_add(over, rim);
    R gap = -v_dot(down, v_sub(from_flat, plane));
    V below = v_add(from_flat, v_scale(gap, down));
    geom->gap[i] = gap;
    geom->ra[i] = v_pick(on_b, below, rim);
    geom->rb[i] = v_pick(on_b, rim, below);
  }
}

KERNEL V curve_at(const V *c, R s)
{
  V at = c[WIRE_TERMS - 1];
  for (int i = WIRE_TERMS - 2; i >= 0; --i) {
    at = v_add(c[i], v_scale(s, at));
  }
  return at;
}

KERNEL V curve_slope(const V *c, R s)
{
  V slope = v_scale(splat(WIRE_TERMS - 1.0f), c[WIRE_TERMS - 1]);
  for (int i = WIRE_TERMS - 2; i >= 1; --i) {
    slope = v_add(v_scale(splat((float)i), c[i]), v_scale(s, slope));
  }
  return slope;
}

KERNEL V curve_bend(const V *c, R s)
{
  V bend = v_scale(splat((WIRE_TERMS - 1.0f) * (WIRE_TERMS - 2.0f)), c[WIRE_TERMS - 1]);
  for (int i = WIRE_TERMS - 2; i >= 2; --i) {
    bend = v_add(v_scale(splat((float)(i * (i - 1))), c[i]), v_scale(s, bend));
  }
  return bend;
}

// Newton's method from the last parameter, in the wire's own axes. A body may run past the end of
// the stretch within a step: it goes on a little.
KERNEL R closest_on_curve(const V *c, V p, V e, R s, R *t)
{
  R inv_ee = r_inverse_above(v_dot(e, e), splat(0.0f));
  for (int i = 0; i < 3; ++i) {
    V at = curve_at(c, s);
    *t = unit_clamp(v_dot(v_sub(at, p), e) * inv_ee);
    V d = v_sub(at, v_add(p, v_scale(*t, e)));
    V slope = curve_slope(c, s);
    R steep = v_dot(slope, slope);
    R curve = r_max(steep + v_dot(d, curve_bend(c, s)), 0.25f * steep);
    s = r_clamp(s - v_dot(d, slope) / r_max(curve, splat(1e-30f)), splat(-0.25f), splat(1.25f));
  }
  return s;
}

KERNEL void update_wire_geometry(WireStart *start, const ContactParams *params, const Body *a,
                                 const Body *b, ContactGeometry *geom)
{
  M on_b = start->wire_is_b > 0.5f;
  V apart = apart_now(start->apart, a, b);
  V over = v_pick(on_b, v_make(-apart.x, -apart.y, -apart.z), apart); // from the wire's body
  Q wire_dq = q_pick(on_b, b->dq, a->dq);
  Q dq = q_pick(on_b, a->dq, b->dq);
  V p = q_rotate(dq, start->p);
  V e = q_rotate(dq, start->e);
  R t;
  start->parameter = closest_on_curve(start->curve, q_unrotate(wire_dq, v_add(over, p)),
                                      q_unrotate(wire_dq, e), start->parameter, &t);
  V on_wire = q_rotate(wire_dq, curve_at(start->curve, start->parameter));
  V on_core = v_add(p, v_scale(t, e));
  V core_a = v_pick(on_b, on_core, on_wire);
  V core_b = v_pick(on_b, on_wire, on_core);
  geom->n = normal_between(v_add(apart, v_sub(core_b, core_a)), geom->n);
  set_point(params, core_a, core_b, apart, 0, geom);
}

// How fast a gap closes in the middle of a substep h because the wire bends towards what runs along
// it, or away. With D from the wire to the core that slides along at v, and the wire's curvature c
// towards it, the distance has the second derivative -v^2 c / (1 - D c). Without this, fast marbles
// sink into the outside of a curve.
KERNEL R curvature_bias(const WireStart *start, const ContactParams *params,
                        const ContactGeometry *geom, const Body *a, const Body *b, R h)
{
  M on_b = start->wire_is_b > 0.5f;
  Q dq = q_pick(on_b, b->dq, a->dq);
  V slope = q_rotate(dq, curve_slope(start->curve, start->parameter));
  V bend = q_rotate(dq, curve_bend(start->curve, start->parameter));
  V core_a = v_sub(geom->ra[0], v_scale(params->radius_a, geom->n));
  V core_b = v_add(geom->rb[0], v_scale(params->radius_b, geom->n));
  R steep = r_max(v_dot(slope, slope), splat(1e-30f));
  R along = v_dot(relative_velocity(a, b, core_a, core_b), slope);
  R curvature = v_dot(bend, geom->n) / steep;
  curvature = pick(on_b, -curvature, curvature);
  R distance = params->radius_a + params->radius_b;
  R room = r_max(1.0f - distance * curvature, splat(0.1f));
  return 0.5f * h * along * along / steep * curvature / room;
}

#endif
