// Vectors, quaternions and symmetric 3 x 3 matrices whose components are lanes (R): each function
// works on TN_LANES independent values.
#ifndef TENON_KERNEL_ALGEBRA_H
#define TENON_KERNEL_ALGEBRA_H

#include "kernel/lane.h"

typedef struct V {
  R x, y, z;
} V;

// Rotations are unit quaternions, w the real part.
typedef struct Q {
  R x, y, z, w;
} Q;

// A symmetric 3 x 3 matrix.
typedef struct S {
  R xx, yy, zz, xy, xz, yz;
} S;

KERNEL V v_make(R x, R y, R z)
{
  V v = {x, y, z};
  return v;
}

KERNEL V v_zero(void)
{
  return v_make(splat(0.0f), splat(0.0f), splat(0.0f));
}

KERNEL V v_add(V a, V b)
{
  return v_make(a.x + b.x, a.y + b.y, a.z + b.z);
}

KERNEL V v_sub(V a, V b)
{
  return v_make(a.x - b.x, a.y - b.y, a.z - b.z);
}

KERNEL V v_scale(R s, V a)
{
  return v_make(s * a.x, s * a.y, s * a.z);
}

KERNEL R v_dot(V a, V b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

KERNEL V v_cross(V a, V b)
{
  return v_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// Component by component.
KERNEL V v_mul(V a, V b)
{
  return v_make(a.x * b.x, a.y * b.y, a.z * b.z);
}

KERNEL V v_pick(M m, V a, V b)
{
  return v_make(pick(m, a.x, b.x), pick(m, a.y, b.y), pick(m, a.z, b.z));
}

KERNEL R v_length(V a)
{
  return r_sqrt(v_dot(a, a));
}

KERNEL Q q_make(V v, R w)
{
  Q q = {v.x, v.y, v.z, w};
  return q;
}

KERNEL Q q_pick(M m, Q a, Q b)
{
  Q q = {pick(m, a.x, b.x), pick(m, a.y, b.y), pick(m, a.z, b.z), pick(m, a.w, b.w)};
  return q;
}

KERNEL V q_vector(Q q)
{
  return v_make(q.x, q.y, q.z);
}

KERNEL Q q_conjugate(Q q)
{
  Q c = {-q.x, -q.y, -q.z, q.w};
  return c;
}

KERNEL Q q_mul(Q a, Q b)
{
  Q q = {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
  return q;
}

// R v - v = 2 (w u x v + u x (u x v)) with u the vector part of q. For small rotations this keeps
// the precision that subtracting v from the rotated vector would cancel.
KERNEL V q_rotate_change(Q q, V v)
{
  V u = q_vector(q);
  V t = v_cross(u, v);
  V tt = v_cross(u, t);
  return v_make(2.0f * (q.w * t.x + tt.x), 2.0f * (q.w * t.y + tt.y), 2.0f * (q.w * t.z + tt.z));
}

KERNEL V q_rotate(Q q, V v)
{
  return v_add(v, q_rotate_change(q, v));
}

KERNEL V q_unrotate(Q q, V v)
{
  return q_rotate(q_conjugate(q), v);
}

// Columns of the rotation matrix: the rotated x, y and z axes.
KERNEL V q_axis_x(Q q)
{
  return v_make(1.0f - 2.0f * (q.y * q.y + q.z * q.z), 2.0f * (q.x * q.y + q.w * q.z),
                2.0f * (q.x * q.z - q.w * q.y));
}

KERNEL V q_axis_y(Q q)
{
  return v_make(2.0f * (q.x * q.y - q.w * q.z), 1.0f - 2.0f * (q.x * q.x + q.z * q.z),
                2.0f * (q.y * q.z + q.w * q.x));
}

KERNEL V q_axis_z(Q q)
{
  return v_make(2.0f * (q.x * q.z + q.w * q.y), 2.0f * (q.y * q.z - q.w * q.x),
                1.0f - 2.0f * (q.x * q.x + q.y * q.y));
}

KERNEL Q q_normalize(Q q)
{
  R s = 1.0f / r_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  Q n = {s * q.x, s * q.y, s * q.z, s * q.w};
  return n;
}

KERNEL V s_mul(S s, V v)
{
  return v_make(s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
                s.xz * v.x + s.yz * v.y + s.zz * v.z);
}

KERNEL S s_add(S a, S b)
{
  S s = {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
  return s;
}

KERNEL S s_scale(R k, S a)
{
  S s = {k * a.xx, k * a.yy, k * a.zz, k * a.xy, k * a.xz, k * a.yz};
  return s;
}

// R diag(d) R^T, with R the rotation matrix of q.
KERNEL S s_rotated_diagonal(Q q, V d)
{
  V x = q_axis_x(q);
  V y = q_axis_y(q);
  V z = q_axis_z(q);
  V dx = v_scale(d.x, x);
  V dy = v_scale(d.y, y);
  V dz = v_scale(d.z, z);
  S s = {dx.x * x.x + dy.x * y.x + dz.x * z.x, dx.y * x.y + dy.y * y.y + dz.y * z.y,
         dx.z * x.z + dy.z * y.z + dz.z * z.z, dx.x * x.y + dy.x * y.y + dz.x * z.y,
         dx.x * x.z + dy.x * y.z + dz.x * z.z, dx.y * x.z + dy.y * y.z + dz.y * z.z};
  return s;
}

#endif
