// Updates a manifold to the bodies' current pose: gaps and lever arms, and for curved shapes the
// normal (Mueller et al. 2020, sec. 3.5: curved geometry uses the most recent directions). Flat
// manifolds keep the normal of the start of the step.
//
// Points and directions of a *Start are as of the start of the step, in world axes; points are
// relative to their body's centre of mass. "Core" is the point, segment or curve that a radius
// surrounds.
#ifndef TENON_KERNEL_CONTACT_GEOMETRY_H
#define TENON_KERNEL_CONTACT_GEOMETRY_H

#include "kernel/contact.h"
#include "kernel/tuning.h"

// How a manifold follows its bodies; the values of manifold_form in collide/manifold.h.
typedef enum ContactForm {
  CONTACT_FORM_FLAT,
  CONTACT_FORM_ROUND,
  CONTACT_FORM_RIM,
  CONTACT_FORM_WIRE
} ContactForm;

// Faces, and spheres and capsules on faces: fixed normal. Lever arms are fixed as well, unless a
// body turns fast.
typedef struct FlatStart {
  R gap[CONTACT_POINTS];                    // m
  V ra[CONTACT_POINTS], rb[CONTACT_POINTS]; // m, lever arms; of contacts that turn
  R turning;                                // 1: the lever arms follow their bodies; 0: not
} FlatStart;

// Two segments with radii: the normal is along their shortest connection.
typedef struct RoundStart {
  V apart;          // from A's centre of mass to B's, m
  V pa, ea, pb, eb; // segments: one end, and the vector to the other end
  V ca[2], cb[2];   // cores of two points along nearly parallel segments
} RoundStart;

// Circular rims of a cylinder or cone against a flat side.
typedef struct RimStart {
  V apart;                  // from A's centre of mass to B's, m
  V center[CONTACT_POINTS]; // of each point's rim
  R turn[CONTACT_POINTS];   // quarter turns from the deepest place of the rim: 0, 1, 2 or 3
  V axis, side;             // unit: the rims' axis, a direction perpendicular to it
  V plane;                  // a point of the flat side
  R radius;                 // m
  R rim_is_b;               // 1: the rims belong to B; 0: to A
} RimStart;

#define WIRE_TERMS 6 // coefficients of a wire's span, a polynomial of degree five

// A segment against a span of a wire, x(s) = sum curve[i] s^i for s in [0, 1].
typedef struct WireStart {
  V apart;             // from A's centre of mass to B's, m
  V curve[WIRE_TERMS]; // m
  V p, e;              // segment: one end, and the vector to the other end
  R parameter;         // s of the closest point, updated by each call
  R wire_is_b;         // 1: the wire belongs to B; 0: to A
} WireStart;

// Displacement since the step began of a body's point at r from the centre of mass.
KERNEL V point_displacement(const Body *b, V r)
{
  return v_add(b->dx, q_rotate_change(b->dq, r));
}

// gap = gap_0 + n . (displacement of B's point - of A's). By n . (R r - r) = (R^-1 n - n) . r one
// rotation of the normal serves all points of a body.
KERNEL void update_flat_geometry(int points, const FlatStart *start, const ContactParams *params,
                                 const Body *a, const Body *b, ContactGeometry *geom)
{
  V n = geom->n;
  V turn_a = q_rotate_change(q_conjugate(a->dq), n);
  V turn_b = q_rotate_change(q_conjugate(b->dq), n);
  // The surface point of a round core stays on the normal through it: only the core rotates with
  // the body, so the radius' part of the lever arm is taken out.
  R skin = params->radius_a * v_dot(turn_a, n) + params->radius_b * v_dot(turn_b, n);
  R shift = v_dot(n, v_sub(b->dx, a->dx)) + skin;
  for (int i = 0; i < points; ++i) {
    R turned = v_dot(geom->rb[i], turn_b) - v_dot(geom->ra[i], turn_a);
    // cppcheck-suppress uninitvar // as many as there are points
    geom->gap[i] = start->gap[i] + (shift + turned);
  }
}

// Lever arms at the current pose from those at the start of the step. The core turns with the body,
// its radius stays along the normal.
KERNEL void turn_lever_arms(int points, M turning, const ContactParams *params, const Body *a,
                            const Body *b, ContactGeometry *geom)
{
  V skin_a = v_scale(params->radius_a, geom->n), skin_b = v_scale(params->radius_b, geom->n);
  for (int i = 0; i < points; ++i) {
    V ra = v_add(q_rotate(a->dq, v_sub(geom->ra[i], skin_a)), skin_a);
    V rb = v_sub(q_rotate(b->dq, v_add(geom->rb[i], skin_b)), skin_b);
    geom->ra[i] = v_pick(turning, ra, geom->ra[i]);
    geom->rb[i] = v_pick(turning, rb, geom->rb[i]);
  }
}

// Unit normal along d, from A's core to B's. Where the cores coincide or have passed each other the
// last normal is kept.
KERNEL V normal_between(V d, V last)
{
  R length = v_length(d);
  V n = v_scale(1.0f / r_max(length, splat(TUNING_MIN_LENGTH)), d);
  return v_pick((length > TUNING_MIN_CORE_DISTANCE) & (v_dot(n, last) > 0.0f), n, last);
}

KERNEL R unit_clamp(R x)
{
  return r_clamp(x, splat(0.0f), splat(1.0f));
}

// Closest points of the segments p + s e and q + t f, with to = q - p and s, t in [0, 1].
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
  // Nearly parallel segments: start from s = 0.
  R inv = r_inverse_above(determinant, TUNING_PARALLEL_SINE2 * ee * ff);
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

// From A's centre of mass to B's at the current pose.
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

// Each point lies on its rim, a fixed number of quarter turns from the place that is deepest
// towards the flat side; that place is found anew from the axis' current direction.
KERNEL void update_rim_geometry(int points, const RimStart *start, const Body *a, const Body *b,
                                ContactGeometry *geom)
{
  M on_b = start->rim_is_b > 0.5f;
  V n = geom->n;
  V down = v_pick(on_b, v_make(-n.x, -n.y, -n.z), n);
  Q dq = q_pick(on_b, b->dq, a->dq);
  V axis = q_rotate(dq, start->axis);
  // A rim flat on the plane has no deepest place: `side` decides there.
  V dip = v_sub(down, v_scale(v_dot(down, axis), axis));
  dip = v_add(dip, v_scale(splat(TUNING_FLAT_RIM_SINE), q_rotate(dq, start->side)));
  dip = v_scale(1.0f / r_max(v_length(dip), splat(TUNING_MIN_LENGTH)), dip);
  V across = v_cross(axis, dip);
  V apart = apart_now(start->apart, a, b);
  Q flat_dq = q_pick(on_b, a->dq, b->dq);
  V plane = q_rotate(flat_dq, start->plane);
  // From the flat body's centre of mass to the other's.
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

// Parameter of the wire's point closest to the segment p + t e, by Newton steps from s, in
// the axes of the wire at the start of the step. s may leave [0, 1] by a quarter: a body may pass
// the end of the span within a step.
KERNEL R closest_on_curve(const V *c, V p, V e, R s, R *t)
{
  R inv_ee = r_inverse_above(v_dot(e, e), splat(0.0f));
  for (int i = 0; i < TUNING_WIRE_NEWTON_STEPS; ++i) {
    V at = curve_at(c, s);
    *t = unit_clamp(v_dot(v_sub(at, p), e) * inv_ee);
    V d = v_sub(at, v_add(p, v_scale(*t, e)));
    V slope = curve_slope(c, s);
    R steep = v_dot(slope, slope);
    R curve = r_max(steep + v_dot(d, curve_bend(c, s)), TUNING_WIRE_NEWTON_FLOOR * steep);
    s = r_clamp(s - v_dot(d, slope) / r_max(curve, splat(TUNING_MIN_DIVISOR)),
                splat(-TUNING_WIRE_SPAN_OVERRUN), splat(1.0f + TUNING_WIRE_SPAN_OVERRUN));
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

// Mean speed over a substep h at which a gap closes because the wire curves. With D the distance
// from the wire to the core that slides along it at speed v, and c the wire's curvature towards it,
//     D'' = -v^2 c / (1 - D c),    bias = h / 2 v^2 c / (1 - D c).
// Without this bias fast marbles sink into the outside of a curve.
KERNEL R curvature_bias(const WireStart *start, const ContactParams *params,
                        const ContactGeometry *geom, const Body *a, const Body *b, R h)
{
  M on_b = start->wire_is_b > 0.5f;
  Q dq = q_pick(on_b, b->dq, a->dq);
  V slope = q_rotate(dq, curve_slope(start->curve, start->parameter));
  V bend = q_rotate(dq, curve_bend(start->curve, start->parameter));
  V core_a = v_sub(geom->ra[0], v_scale(params->radius_a, geom->n));
  V core_b = v_add(geom->rb[0], v_scale(params->radius_b, geom->n));
  R steep = r_max(v_dot(slope, slope), splat(TUNING_MIN_DIVISOR));
  R along = v_dot(relative_velocity(a, b, core_a, core_b), slope);
  R curvature = v_dot(bend, geom->n) / steep;
  curvature = pick(on_b, -curvature, curvature);
  R distance = params->radius_a + params->radius_b;
  R room = r_max(1.0f - distance * curvature, splat(TUNING_WIRE_MIN_ROOM));
  return 0.5f * h * along * along / steep * curvature / room;
}

#endif
