// Constraints between the particles of soft bodies. Particles are bodies without rotation.
//
// Every row is an impulse along the gradient J of its error C, at the pose of the substep's start:
//     x = -(C / h + J v + a lambda) / (J w J' + a),  lambda += x,  v += w J' x,
//     a = compliance / h^2,  w the inverse masses.
// Where C does not change under rigid motion, forces along its gradient conserve linear and angular
// momentum, and so does a drift along v. Corrections that are not such a gradient get their rigid
// part removed.
//
// d[i] is the vector from a constraint's first particle to its particle i + 1.
#ifndef TENON_KERNEL_SOFT_H
#define TENON_KERNEL_SOFT_H

#include "base/rules.h"
#include "kernel/project.h"
#include "kernel/soft_tuning.h"
#include "kernel/trig.h"

typedef struct Particle {
  V v;                // m/s
  R w;                // inverse mass, 1/kg; 0: pinned
  V dx;               // displacement since the step began, m
  R constraint_count; // constraints that act on it, at least 1; for averaging (Jacobi)
} Particle;

typedef struct SoftPass {
  R h, inv_h, inv_h2;
  Form form; // FORM_POSITION: rows at the latest pose, without the term J v
} SoftPass;

KERNEL void apply_dv(const SoftPass *pass, Particle *p, V dv)
{
  p->v = v_add(p->v, dv);
  if (pass->form == FORM_POSITION) {
    p->dx = v_add(p->dx, v_scale(pass->h, dv));
  }
}

// Velocity of particle i relative to the first; zero in position form.
KERNEL V velocity_from_first(const SoftPass *pass, const Particle *p, int i)
{
  return pass->form == FORM_POSITION ? v_zero() : v_sub(p[i].v, p[0].v);
}

// A row with damping time d, s, has (1 + d / h) J v in place of J v.
KERNEL R damping_factor(const SoftPass *pass, R damping)
{
  return pass->form == FORM_POSITION ? splat(1.0f) : 1.0f + damping * pass->inv_h;
}

KERNEL R row_impulse(const SoftPass *pass, R c, R rate, R w, R compliance, R damping, R lambda)
{
  R a = compliance * pass->inv_h2;
  R s = damping_factor(pass, damping);
  return -(c * pass->inv_h + s * rate + a * lambda) * r_inverse_above(s * w + a, splat(0.0f));
}

// ---------------------------------------------------------------------------------------------
// Distance

typedef struct EdgeParams {
  R rest, compliance, damping; // m, m/N, s
} EdgeParams;

typedef struct EdgeState {
  R lambda; // impulse of the substep, N s; negative: tension
  R sum;    // impulses of the step, N s
} EdgeState;

// Unit direction of an edge; x where the particles coincide.
KERNEL V edge_direction(V d, R *length)
{
  *length = v_length(d);
  V x = v_make(splat(1.0f), splat(0.0f), splat(0.0f));
  return v_pick(*length > TUNING_SOFT_MIN_LENGTH,
                v_scale(1.0f / r_max(*length, splat(TUNING_SOFT_MIN_LENGTH)), d), x);
}

KERNEL void apply_edge_impulse(const SoftPass *pass, Particle *p, V n, R lambda)
{
  apply_dv(pass, &p[0], v_scale(-p[0].w * lambda, n));
  apply_dv(pass, &p[1], v_scale(p[1].w * lambda, n));
}

// Warm starts tension only: a thread under compression buckles.
KERNEL void warm_start_edge(const SoftPass *pass, Particle *p, const V *d, R warm_start_factor,
                            EdgeState *state)
{
  R length;
  V n = edge_direction(d[0], &length);
  R kept = RULE(soft_edge_tension) ? r_min(state->lambda, splat(0.0f)) : state->lambda;
  state->lambda = warm_start_factor * kept;
  state->sum = state->sum + state->lambda;
  apply_edge_impulse(pass, p, n, state->lambda);
}

// C = |d| - rest. Rigid edges remove a share of it, see TUNING_EDGE_CORRECTION_RATE.
KERNEL void solve_edge(const SoftPass *pass, Particle *p, const V *d, const EdgeParams *params,
                       EdgeState *state)
{
  R length;
  V n = edge_direction(d[0], &length);
  R w = p[0].w + p[1].w;
  R c = length - params->rest;
  if (RULE(soft_edge_rate) && pass->form == FORM_VELOCITY) {
    R share = r_min(TUNING_EDGE_CORRECTION_RATE * pass->h, splat(1.0f));
    c = pick(params->compliance > 0.0f, c, share * c);
  }
  R x = row_impulse(pass, c, v_dot(n, velocity_from_first(pass, p, 1)), w, params->compliance,
                    params->damping, state->lambda);
  state->lambda = state->lambda + x;
  state->sum = state->sum + x;
  apply_edge_impulse(pass, p, n, x);
}

// Relax pass at the new pose: removes the velocity that the length correction has added. Only for
// edges stiffer than the substep resolves, a <= w.
KERNEL void relax_edge(const SoftPass *pass, Particle *p, const V *d, const EdgeParams *params,
                       EdgeState *state)
{
  R length;
  V n = edge_direction(d[0], &length);
  R w = p[0].w + p[1].w;
  R a = params->compliance * pass->inv_h2;
  R x = -v_dot(n, velocity_from_first(pass, p, 1)) * r_inverse_above(w + a, splat(0.0f));
  x = pick(a <= w, x, splat(0.0f));
  state->sum = state->sum + x;
  apply_edge_impulse(pass, p, n, x);
}

// ---------------------------------------------------------------------------------------------
// Tethers: one-sided distance, |d| <= length

typedef struct TetherParams {
  R length; // m
} TetherParams;

typedef struct SoftRowState {
  R lambda; // impulse of the substep
} SoftRowState;

// Keeps |d| at the end of the substep from exceeding the length: lambda <= 0.
KERNEL void solve_tether(const SoftPass *pass, Particle *p, const V *d, const TetherParams *params,
                         SoftRowState *state)
{
  R length;
  V n = edge_direction(d[0], &length);
  R zero = splat(0.0f);
  R x = row_impulse(pass, length - params->length, v_dot(n, velocity_from_first(pass, p, 1)),
                    p[0].w + p[1].w, zero, zero, zero);
  x = r_min(x, -state->lambda);
  state->lambda = state->lambda + x;
  apply_edge_impulse(pass, p, n, x);
}

KERNEL void relax_tether(const SoftPass *pass, Particle *p, const V *d, SoftRowState *state)
{
  R length;
  V n = edge_direction(d[0], &length);
  R zero = splat(0.0f);
  R x = -v_dot(n, velocity_from_first(pass, p, 1)) * r_inverse_above(p[0].w + p[1].w, zero);
  x = pick(state->lambda < 0.0f, r_min(x, -state->lambda), zero);
  apply_edge_impulse(pass, p, n, x);
}

// ---------------------------------------------------------------------------------------------
// Bending

typedef struct BendParams {
  R k[4]; // cotangent weights; their sum is zero
  R compliance, damping;
} BendParams;

// Isometric bending (Bergou et al. 2006) of two triangles that are flat at rest: C = |c| with
// c = sum k_i x_i. One row along c, not three: sum x_i x k_i c = c x c = 0 conserves angular
// momentum.
KERNEL void solve_bend(const SoftPass *pass, Particle *p, const V *d, const BendParams *params,
                       SoftRowState *state)
{
  V c = v_zero();
  V rate = v_zero();
  R w = params->k[0] * params->k[0] * p[0].w;
  for (int i = 1; i < 4; ++i) {
    c = v_add(c, v_scale(params->k[i], d[i - 1]));
    rate = v_add(rate, v_scale(params->k[i], velocity_from_first(pass, p, i)));
    w = w + params->k[i] * params->k[i] * p[i].w;
  }
  R size = v_length(c);
  V n = v_scale(r_inverse_above(size, splat(TUNING_SOFT_MIN_LENGTH)), c);
  R x = row_impulse(pass, size, v_dot(n, rate), w, params->compliance, params->damping,
                    state->lambda);
  x = pick(size > TUNING_SOFT_MIN_LENGTH, x, splat(0.0f));
  state->lambda = state->lambda + x;
  for (int i = 0; i < 4; ++i) {
    apply_dv(pass, &p[i], v_scale(x * params->k[i] * p[i].w, n));
  }
}

typedef struct DihedralParams {
  R rest; // rad
  R compliance, damping;
} DihedralParams;

// One row over four particles with error c and gradients g (sum zero); keeps lambda + x >= lowest
// and returns x.
KERNEL R solve_row_along_gradient(const SoftPass *pass, Particle *p, const V *g, R c, R compliance,
                                  R damping, R lambda, R lowest)
{
  R rate = splat(0.0f);
  R w = p[0].w * v_dot(g[0], g[0]);
  for (int i = 1; i < 4; ++i) {
    rate = rate + v_dot(g[i], velocity_from_first(pass, p, i));
    w = w + p[i].w * v_dot(g[i], g[i]);
  }
  R x = r_max(row_impulse(pass, c, rate, w, compliance, damping, lambda), lowest - lambda);
  for (int i = 0; i < 4; ++i) {
    apply_dv(pass, &p[i], v_scale(x * p[i].w, g[i]));
  }
  return x;
}

// The dihedral angle between triangles 0 1 2 and 1 0 3 about the edge 0 1, rad, and its gradient.
KERNEL R dihedral_angle(const V *d, V *g)
{
  V e = d[0];
  V n1 = v_cross(e, d[1]);
  V n2 = v_cross(d[2], e);
  R ee = v_dot(e, e);
  R length = r_sqrt(ee);
  R s1 = v_dot(n1, n1);
  R s2 = v_dot(n2, n2);
  // The gradient is undefined where a triangle has no area: no impulse.
  M flat =
      (s1 > TUNING_SOFT_TINY) & (s2 > TUNING_SOFT_TINY) & (ee > TUNING_SOFT_MIN_SQUARED_LENGTH);
  R zero = splat(0.0f);
  R inv_ee = r_inverse_above(ee, zero);
  R angle = r_atan2(v_dot(v_cross(n1, n2), e) * r_inverse_above(length, zero), v_dot(n1, n2));
  g[2] = v_scale(pick(flat, -length * r_inverse_above(s1, zero), zero), n1);
  g[3] = v_scale(pick(flat, -length * r_inverse_above(s2, zero), zero), n2);
  R t2 = v_dot(d[1], e) * inv_ee;
  R t3 = v_dot(d[2], e) * inv_ee;
  g[1] = v_scale(splat(-1.0f), v_add(v_scale(t2, g[2]), v_scale(t3, g[3])));
  g[0] = v_scale(splat(-1.0f), v_add(g[1], v_add(g[2], g[3])));
  return angle;
}

KERNEL void solve_dihedral(const SoftPass *pass, Particle *p, const V *d,
                           const DihedralParams *params, SoftRowState *state)
{
  V g[4];
  R c = r_wrap_angle(dihedral_angle(d, g) - params->rest);
  state->lambda =
      state->lambda + solve_row_along_gradient(pass, p, g, c, params->compliance, params->damping,
                                               state->lambda, splat(-SOFT_UNBOUNDED_IMPULSE));
}

// ---------------------------------------------------------------------------------------------
// Volume of a tetrahedron

typedef struct VolumeParams {
  R rest; // m^3
  R compliance, damping;
  R lower_bound_only; // 1: volume >= rest; 0: volume = rest
} VolumeParams;

// C = d0 . (d1 x d2) / 6 - rest.
KERNEL void solve_volume(const SoftPass *pass, Particle *p, const V *d, const VolumeParams *params,
                         SoftRowState *state)
{
  V g[4];
  R sixth = splat(1.0f / 6.0f);
  g[1] = v_scale(sixth, v_cross(d[1], d[2]));
  g[2] = v_scale(sixth, v_cross(d[2], d[0]));
  g[3] = v_scale(sixth, v_cross(d[0], d[1]));
  g[0] = v_scale(splat(-1.0f), v_add(g[1], v_add(g[2], g[3])));
  R c = v_dot(g[1], d[0]) - params->rest;
  R lowest = pick(params->lower_bound_only > 0.5f, splat(0.0f), splat(-SOFT_UNBOUNDED_IMPULSE));
  if (!RULE(soft_min_volume)) {
    c = pick(params->lower_bound_only > 0.5f, splat(0.0f), c);
  }
  state->lambda = state->lambda + solve_row_along_gradient(pass, p, g, c, params->compliance,
                                                           params->damping, state->lambda, lowest);
}

// ---------------------------------------------------------------------------------------------
// Solids

KERNEL S s_outer(V a)
{
  S s = {a.x * a.x, a.y * a.y, a.z * a.z, a.x * a.y, a.x * a.z, a.y * a.z};
  return s;
}

// Inverse of a positive definite matrix; zero where the determinant is at most `floor`.
KERNEL S s_inverse(S m, R floor)
{
  R yz = m.yy * m.zz - m.yz * m.yz;
  R xz = m.xz * m.yz - m.xy * m.zz;
  R xy = m.xy * m.yz - m.xz * m.yy;
  R determinant = m.xx * yz + m.xy * xz + m.xz * xy;
  R inv = r_inverse_above(determinant, floor);
  S r = {inv * yz, inv * (m.xx * m.zz - m.xz * m.xz), inv * (m.xx * m.yy - m.xy * m.xy), inv * xz,
         inv * xy, inv * (m.xy * m.xz - m.xx * m.yz)};
  return r;
}

// With second moment m = sum mass r r' and trace t, the inertia is I = t 1 - m. Returns t I^-1, in
// which no units appear, and *inv = 1 / t. A small ridge keeps it finite for particles in a line.
KERNEL S normalized_inverse_inertia(S m, R *inv)
{
  R trace = m.xx + m.yy + m.zz;
  *inv = r_inverse_above(trace, splat(TUNING_SOFT_TINY));
  R ridge = splat(1.0f + (float)TUNING_INERTIA_RIDGE_FLOAT);
  S k = {ridge - *inv * m.xx, ridge - *inv * m.yy, ridge - *inv * m.zz,
         -*inv * m.xy,        -*inv * m.xz,        -*inv * m.yz};
  return s_inverse(k, splat(0.0f));
}

// Angular velocity I^-1 t of particles with second moment m and angular momentum t.
KERNEL V angular_velocity_of(S m, V t)
{
  R inv;
  S k = normalized_inverse_inertia(m, &inv);
  return v_scale(inv, s_mul(k, t));
}

// m s for a matrix m given by its columns and a symmetric s.
KERNEL void columns_times(const V *m, S s, V *out)
{
  out[0] = v_add(v_scale(s.xx, m[0]), v_add(v_scale(s.xy, m[1]), v_scale(s.xz, m[2])));
  out[1] = v_add(v_scale(s.xy, m[0]), v_add(v_scale(s.yy, m[1]), v_scale(s.yz, m[2])));
  out[2] = v_add(v_scale(s.xz, m[0]), v_add(v_scale(s.yz, m[1]), v_scale(s.zz, m[2])));
}

// sum a_k x b_k.
KERNEL V cross_columns(const V *a, const V *b)
{
  return v_add(v_cross(a[0], b[0]), v_add(v_cross(a[1], b[1]), v_cross(a[2], b[2])));
}

KERNEL R dot_columns(const V *a, const V *b)
{
  return v_dot(a[0], b[0]) + v_dot(a[1], b[1]) + v_dot(a[2], b[2]);
}

// One step of Mueller et al. 2016, "A robust method to extract the rotational part of
// deformations": moves q towards the rotation in f. Starting from the last substep's rotation one
// step is enough.
//     w = t / (|sum r_k . f_k| + ridge |t|),  t = sum r_k x f_k
KERNEL Q refine_rotation(Q q, const V *f)
{
  V r[3] = {q_axis_x(q), q_axis_y(q), q_axis_z(q)};
  R along = r_abs(dot_columns(r, f));
  V turn = cross_columns(r, f);
  // Mirrored or random shapes: the ridge bounds the step, which is of first order.
  R size = v_length(turn);
  R scale = 1.0f / r_max(along + TUNING_ROTATION_STEP_RIDGE * size, splat(TUNING_SOFT_TINY));
  return rotated_by(q, v_scale(scale, turn));
}

// Corotated linear elasticity of a tetrahedron: rows F - R (shear) and J - 1 (bulk), with F the
// deformation gradient, R its rotation, J = det F.
typedef struct CorotatedParams {
  V b[3];        // rows of the inverse rest matrix, 1/m: of particles 1, 2, 3
  R shear, bulk; // compliances 1 / (2 mu V) and 1 / (lambda V), 1/(N m); bulk >= SOFT_ROW_OFF_FROM:
                 // no bulk row
  R damping;     // s
} CorotatedParams;

typedef struct CorotatedState {
  Q q;         // rotation R of the element
  V stress[3]; // impulses of the rows F - R, by columns, world axes
  R pressure;  // impulse of the row J - 1
} CorotatedState;

// F = sum d_i b_i', by columns.
KERNEL void deformation_gradient(const V *b, const V *d, V *f)
{
  f[0] = v_add(v_scale(b[0].x, d[0]), v_add(v_scale(b[1].x, d[1]), v_scale(b[2].x, d[2])));
  f[1] = v_add(v_scale(b[0].y, d[0]), v_add(v_scale(b[1].y, d[1]), v_scale(b[2].y, d[2])));
  f[2] = v_add(v_scale(b[0].z, d[0]), v_add(v_scale(b[1].z, d[1]), v_scale(b[2].z, d[2])));
}

// Particle i + 1 gets the impulse sum_k b_i[k] stress_k, particle 0 the opposite of their sum.
KERNEL void apply_stress(const SoftPass *pass, Particle *p, const V *b, const V *stress)
{
  V sum = v_zero();
  for (int i = 0; i < 3; ++i) {
    V j = v_add(v_scale(b[i].x, stress[0]),
                v_add(v_scale(b[i].y, stress[1]), v_scale(b[i].z, stress[2])));
    apply_dv(pass, &p[i + 1], v_scale(p[i + 1].w, j));
    sum = v_add(sum, j);
  }
  apply_dv(pass, &p[0], v_scale(-p[0].w, sum));
}

// K = sum w_i b_i b_i' over the four particles: the inverse mass of the rows of F.
KERNEL S tet_inverse_mass(const Particle *p, const V *b)
{
  V b0 = v_scale(splat(-1.0f), v_add(b[0], v_add(b[1], b[2])));
  S k = s_scale(p[0].w, s_outer(b0));
  for (int i = 0; i < 3; ++i) {
    k = s_add(k, s_scale(p[i + 1].w, s_outer(b[i])));
  }
  return k;
}

// The nine rows F - R as one block. Without further conditions the change L of the impulses solves
// L (K + a) = -D, with D the right-hand side below; that may exert a torque sum f_k x L_k. So a
// rotation w of F is left uncorrected,
//     L (K + a) = -D + [w] F,
// with w such that sum f_k x L_k = 0: angular momentum is conserved.
KERNEL void solve_shear(const SoftPass *pass, Particle *p, const V *f,
                        const CorotatedParams *params, CorotatedState *state)
{
  R a = params->shear * pass->inv_h2;
  R s = damping_factor(pass, params->damping);
  V rate_d[3] = {velocity_from_first(pass, p, 1), velocity_from_first(pass, p, 2),
                 velocity_from_first(pass, p, 3)};
  V rate[3], da[3], fa[3], change[3];
  deformation_gradient(params->b, rate_d, rate);
  V r[3] = {q_axis_x(state->q), q_axis_y(state->q), q_axis_z(state->q)};
  V want[3];
  for (int k = 0; k < 3; ++k) {
    want[k] = v_add(v_scale(pass->inv_h, v_sub(f[k], r[k])),
                    v_add(v_scale(s, rate[k]), v_scale(a, state->stress[k])));
  }
  S mass = s_scale(s, tet_inverse_mass(p, params->b));
  mass.xx = mass.xx + a;
  mass.yy = mass.yy + a;
  mass.zz = mass.zz + a;
  // Scaled to unit trace, so that the determinant's floor does not depend on units.
  R trace = r_inverse_above(mass.xx + mass.yy + mass.zz, splat(0.0f));
  S inverse = s_scale(trace, s_inverse(s_scale(trace, mass), splat(TUNING_BLOCK_MIN_DETERMINANT)));
  columns_times(want, inverse, da);
  columns_times(f, inverse, fa);
  S g = {fa[0].x * f[0].x + fa[1].x * f[1].x + fa[2].x * f[2].x,
         fa[0].y * f[0].y + fa[1].y * f[1].y + fa[2].y * f[2].y,
         fa[0].z * f[0].z + fa[1].z * f[1].z + fa[2].z * f[2].z,
         fa[0].x * f[0].y + fa[1].x * f[1].y + fa[2].x * f[2].y,
         fa[0].x * f[0].z + fa[1].x * f[1].z + fa[2].x * f[2].z,
         fa[0].y * f[0].z + fa[1].y * f[1].z + fa[2].y * f[2].z};
  V w = angular_velocity_of(g, cross_columns(f, da));
  w = RULE(soft_shear_torque) ? w : v_zero();
  for (int k = 0; k < 3; ++k) {
    change[k] = v_sub(v_cross(w, fa[k]), da[k]);
  }
  // A second round removes the torque that rounding leaves; it would add up over thousands of
  // substeps.
  w = angular_velocity_of(g, cross_columns(f, change));
  w = RULE(soft_shear_torque) ? w : v_zero();
  for (int k = 0; k < 3; ++k) {
    change[k] = v_sub(change[k], v_cross(w, fa[k]));
    state->stress[k] = v_add(state->stress[k], change[k]);
  }
  apply_stress(pass, p, params->b, change);
}

// The row J - rest, along the cofactors of F. dJ = cof(F) : dF.
KERNEL void solve_bulk(const SoftPass *pass, Particle *p, const V *f, const CorotatedParams *params,
                       R rest, CorotatedState *state)
{
  V cofactor[3] = {v_cross(f[1], f[2]), v_cross(f[2], f[0]), v_cross(f[0], f[1])};
  R j = v_dot(f[0], cofactor[0]);
  V rate_d[3] = {velocity_from_first(pass, p, 1), velocity_from_first(pass, p, 2),
                 velocity_from_first(pass, p, 3)};
  V rate[3], change[3];
  deformation_gradient(params->b, rate_d, rate);
  V g[3], sum = v_zero();
  R w = splat(0.0f);
  for (int i = 0; i < 3; ++i) {
    V b = params->b[i];
    g[i] = v_add(v_scale(b.x, cofactor[0]),
                 v_add(v_scale(b.y, cofactor[1]), v_scale(b.z, cofactor[2])));
    w = w + p[i + 1].w * v_dot(g[i], g[i]);
    sum = v_add(sum, g[i]);
  }
  w = w + p[0].w * v_dot(sum, sum);
  R x = row_impulse(pass, j - rest, dot_columns(cofactor, rate), w, params->bulk, params->damping,
                    state->pressure);
  x = pick(params->bulk < SOFT_ROW_OFF_FROM, x, splat(0.0f));
  state->pressure = state->pressure + x;
  for (int k = 0; k < 3; ++k) {
    change[k] = v_scale(x, cofactor[k]);
  }
  apply_stress(pass, p, params->b, change);
}

KERNEL S columns_second_moment(const V *f)
{
  return s_add(s_outer(f[0]), s_add(s_outer(f[1]), s_outer(f[2])));
}

// Warm start with the share warm_start_factor of the last impulses, rotated with the element and
// freed of torque.
KERNEL void warm_start_corotated(const SoftPass *pass, Particle *p, const V *d,
                                 const CorotatedParams *params, R warm_start_factor,
                                 CorotatedState *state)
{
  V f[3];
  deformation_gradient(params->b, d, f);
  Q before = state->q;
  state->q = refine_rotation(state->q, f);
  Q turn = q_mul(state->q, q_conjugate(before));
  for (int k = 0; k < 3; ++k) {
    state->stress[k] = v_scale(warm_start_factor, q_rotate(turn, state->stress[k]));
  }
  S second_moment = columns_second_moment(f);
  for (int i = 0; i < TUNING_RIGID_REMOVAL_ROUNDS && RULE(soft_shear_torque); ++i) {
    V w = angular_velocity_of(second_moment, cross_columns(f, state->stress));
    for (int k = 0; k < 3; ++k) {
      state->stress[k] = v_sub(state->stress[k], v_cross(w, f[k]));
    }
  }
  state->pressure = warm_start_factor * state->pressure;
  V cofactor[3] = {v_cross(f[1], f[2]), v_cross(f[2], f[0]), v_cross(f[0], f[1])};
  V sum[3];
  for (int k = 0; k < 3; ++k) {
    sum[k] = v_add(state->stress[k], v_scale(state->pressure, cofactor[k]));
  }
  apply_stress(pass, p, params->b, sum);
}

KERNEL void solve_corotated(const SoftPass *pass, Particle *p, const V *d,
                            const CorotatedParams *params, CorotatedState *state)
{
  V f[3];
  deformation_gradient(params->b, d, f);
  if (pass->form == FORM_POSITION) {
    state->q = refine_rotation(state->q, f);
  }
  V from[3];
  for (int i = 0; i < 3; ++i) {
    from[i] = v_sub(d[i], v_sub(p[i + 1].dx, p[0].dx));
  }
  solve_shear(pass, p, f, params, state);
  // In position form the bulk row must see the pose that the shear rows have corrected, or the same
  // error is corrected twice. In velocity form the term J v accounts for that.
  if (pass->form == FORM_POSITION) {
    V now[3];
    for (int i = 0; i < 3; ++i) {
      now[i] = v_add(from[i], v_sub(p[i + 1].dx, p[0].dx));
    }
    deformation_gradient(params->b, now, f);
  }
  solve_bulk(pass, p, f, params, splat(1.0f), state);
}

// Neo-Hookean tetrahedron (Macklin and Mueller 2021, "A constraint-based formulation of stable
// Neo-Hookean materials"): the rows |F| and J - rest. At rest they balance each other, so they are
// solved as a 2 x 2 block; one after the other each would try to remove the whole of the other's
// load.
typedef struct NeoHookeanParams {
  V b[3];        // as in CorotatedParams
  R shear, bulk; // compliances 1 / (mu V) and 1 / (lambda' V), 1/(N m)
  R rest;        // 1 + mu / lambda', which makes F = 1 the rest shape
  R damping;     // s
} NeoHookeanParams;

typedef struct NeoHookeanState {
  R shear, pressure; // impulses of the rows |F| and J - rest
} NeoHookeanState;

KERNEL void solve_neo_hookean(const SoftPass *pass, Particle *p, const V *d,
                              const NeoHookeanParams *params, NeoHookeanState *state)
{
  V f[3], rate[3], along[3], shear[3], bulk[3], change[3];
  V rate_d[3] = {velocity_from_first(pass, p, 1), velocity_from_first(pass, p, 2),
                 velocity_from_first(pass, p, 3)};
  deformation_gradient(params->b, d, f);
  deformation_gradient(params->b, rate_d, rate);
  V cofactor[3] = {v_cross(f[1], f[2]), v_cross(f[2], f[0]), v_cross(f[0], f[1])};
  R size = r_sqrt(dot_columns(f, f));
  R inv_size = r_inverse_above(size, splat(TUNING_SOFT_MIN_STRETCH));
  for (int k = 0; k < 3; ++k) {
    along[k] = v_scale(inv_size, f[k]);
  }
  S mass = s_scale(damping_factor(pass, params->damping), tet_inverse_mass(p, params->b));
  columns_times(along, mass, shear);
  columns_times(cofactor, mass, bulk);
  R a = params->shear * pass->inv_h2;
  R b = params->bulk * pass->inv_h2;
  // Scaled to unit trace, whatever the units.
  R trace =
      r_inverse_above(dot_columns(along, shear) + dot_columns(cofactor, bulk) + a + b, splat(0.0f));
  R k11 = trace * dot_columns(along, shear);
  R k12 = trace * dot_columns(along, bulk);
  R k22 = trace * dot_columns(cofactor, bulk);
  R ta = trace * a;
  R tb = trace * b;
  R determinant = r_max(k11 * k22 - k12 * k12, splat(0.0f)) + ta * k22 + tb * k11 + ta * tb;
  R inv = trace * r_inverse_above(determinant, splat(0.0f));
  R s = damping_factor(pass, params->damping);
  R j = v_dot(f[0], cofactor[0]);
  R r1 = -(size * pass->inv_h + s * dot_columns(along, rate) + a * state->shear);
  R r2 =
      -((j - params->rest) * pass->inv_h + s * dot_columns(cofactor, rate) + b * state->pressure);
  R x1 = inv * ((k22 + tb) * r1 - k12 * r2);
  R x2 = inv * ((k11 + ta) * r2 - k12 * r1);
  if (!RULE(soft_neo_block)) { // one row after the other
    x1 = trace * r1 * r_inverse_above(k11 + ta, splat(0.0f));
    x2 = (trace * r2 - k12 * x1) * r_inverse_above(k22 + tb, splat(0.0f));
  }
  state->shear = state->shear + x1;
  state->pressure = state->pressure + x2;
  for (int k = 0; k < 3; ++k) {
    change[k] = v_add(v_scale(x1, along[k]), v_scale(x2, cofactor[k]));
  }
  apply_stress(pass, p, params->b, change);
}

// ---------------------------------------------------------------------------------------------
// Shape matching of up to eight particles (Mueller et al. 2005): rows r_i - R rest_i, from the
// centre of mass, with the stiffness m_i omega^2

#define SHAPE_MATCH_PARTICLES 8

typedef struct ShapeMatchParams {
  V rest[SHAPE_MATCH_PARTICLES]; // rest positions from the centre of mass, m
  R mass[SHAPE_MATCH_PARTICLES]; // kg; 0: unused
  R omega_squared;               // stiffness over mass, 1/s^2
  R damping;                     // s
} ShapeMatchParams;

typedef struct ShapeMatchState {
  Q q;                               // rotation R of the shape
  V total_dv[SHAPE_MATCH_PARTICLES]; // change of velocity in the substep, m/s
} ShapeMatchState;

KERNEL S add_second_moment(S sum, R m, V r)
{
  return s_add(sum, s_scale(m, s_outer(r)));
}

// Removes the rigid motion from velocities v of particles at r from the centre of mass: they then
// have neither linear nor angular momentum.
KERNEL void remove_rigid_motion(const R *mass, R inv_mass, S second_moment, const V *r, V *v)
{
  V mean = v_zero(), moment = v_zero();
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    V weighted = v_scale(mass[i], v[i]);
    mean = v_add(mean, weighted);
    moment = v_add(moment, v_cross(r[i], weighted));
  }
  mean = v_scale(inv_mass, mean);
  V turn = angular_velocity_of(second_moment, moment);
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    v[i] = v_sub(v[i], v_add(mean, v_cross(turn, r[i])));
  }
}

// Mass moments of the current shape.
typedef struct ShapeMatchMoments {
  V r[SHAPE_MATCH_PARTICLES]; // positions from the centre of mass, m
  R inv_mass;                 // 1 / sum m
  S second_moment;            // sum m r r'
  V fit[3];                   // columns of sum m r rest'
} ShapeMatchMoments;

KERNEL ShapeMatchMoments shape_match_moments(const V *d, const ShapeMatchParams *params)
{
  ShapeMatchMoments c;
  V center = v_zero();
  R mass = params->mass[0];
  c.r[0] = v_zero();
  for (int i = 1; i < SHAPE_MATCH_PARTICLES; ++i) {
    c.r[i] = d[i - 1];
    center = v_add(center, v_scale(params->mass[i], d[i - 1]));
    mass = mass + params->mass[i];
  }
  c.inv_mass = r_inverse_above(mass, splat(0.0f));
  center = v_scale(c.inv_mass, center);
  R zero = splat(0.0f);
  S none = {zero, zero, zero, zero, zero, zero};
  c.second_moment = none;
  c.fit[0] = c.fit[1] = c.fit[2] = v_zero();
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    c.r[i] = v_sub(c.r[i], center);
    V q = v_scale(params->mass[i], params->rest[i]);
    c.fit[0] = v_add(c.fit[0], v_scale(q.x, c.r[i]));
    c.fit[1] = v_add(c.fit[1], v_scale(q.y, c.r[i]));
    c.fit[2] = v_add(c.fit[2], v_scale(q.z, c.r[i]));
    c.second_moment = add_second_moment(c.second_moment, params->mass[i], c.r[i]);
  }
  return c;
}

// Pinned and unused particles do not move.
KERNEL void apply_shape_match(const SoftPass *pass, Particle *p, const ShapeMatchParams *params,
                              const V *total_dv)
{
  R one = splat(1.0f);
  R zero = splat(0.0f);
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    R moves = pick((p[i].w > 0.0f) & (params->mass[i] > 0.0f), one, zero);
    apply_dv(pass, &p[i], v_scale(moves, total_dv[i]));
  }
}

KERNEL void warm_start_shape_match(const SoftPass *pass, Particle *p, const V *d,
                                   const ShapeMatchParams *params, R warm_start_factor,
                                   ShapeMatchState *state)
{
  ShapeMatchMoments c = shape_match_moments(d, params);
  Q before = state->q;
  state->q = refine_rotation(state->q, c.fit);
  Q turn = q_mul(state->q, q_conjugate(before));
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    state->total_dv[i] = v_scale(warm_start_factor, q_rotate(turn, state->total_dv[i]));
  }
  for (int i = 0; i < TUNING_RIGID_REMOVAL_ROUNDS; ++i) {
    remove_rigid_motion(params->mass, c.inv_mass, c.second_moment, c.r, state->total_dv);
  }
  apply_shape_match(pass, p, params, state->total_dv);
}

KERNEL void solve_shape_match(const SoftPass *pass, Particle *p, const V *d,
                              const ShapeMatchParams *params, ShapeMatchState *state)
{
  ShapeMatchMoments c = shape_match_moments(d, params);
  R s = damping_factor(pass, params->damping);
  if (pass->form == FORM_POSITION) {
    state->q = refine_rotation(state->q, c.fit);
    // Averaged corrections (Jacobi): the constraint sees its share of each particle's mass. The
    // greatest count serves for all particles, so that the correction keeps zero momentum.
    R most = splat(1.0f);
    for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
      most = r_max(most, p[i].constraint_count);
    }
    s = most * s;
  }
  R a = pass->inv_h2 * r_inverse_above(params->omega_squared, splat(0.0f));
  R share = -1.0f / (s + a);
  V x[SHAPE_MATCH_PARTICLES];
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    V v = pass->form == FORM_POSITION ? v_zero() : v_scale(s, p[i].v);
    x[i] = v_scale(pass->inv_h, v_sub(c.r[i], q_rotate(state->q, params->rest[i])));
    x[i] = v_add(v_add(x[i], v), v_scale(a, state->total_dv[i]));
  }
  for (int i = 0; i < TUNING_RIGID_REMOVAL_ROUNDS; ++i) {
    remove_rigid_motion(params->mass, c.inv_mass, c.second_moment, c.r, x);
  }
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    x[i] = v_scale(share, x[i]);
    state->total_dv[i] = v_add(state->total_dv[i], x[i]);
  }
  apply_shape_match(pass, p, params, x);
}

#endif
