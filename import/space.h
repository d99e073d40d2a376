// Vectors, rotations and poses in double precision. Only + - * / and sqrt, so that a model gives
// the same world on every machine.
#ifndef TENON_IMPORT_SPACE_H
#define TENON_IMPORT_SPACE_H

#include <tenon/math.h>

#include <math.h>

typedef struct dvec {
  double x, y, z;
} dvec;

typedef struct drot {
  double w, x, y, z;
} drot;

typedef struct dpose {
  dvec p;
  drot q;
} dpose;

// A symmetric matrix.
typedef struct dsym {
  double xx, yy, zz, xy, xz, yz;
} dsym;

static inline dvec dvec_of(double x, double y, double z)
{
  dvec v = {x, y, z};
  return v;
}

static inline dvec dvec_add(dvec a, dvec b)
{
  return dvec_of(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline dvec dvec_sub(dvec a, dvec b)
{
  return dvec_of(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline dvec dvec_scale(double s, dvec a)
{
  return dvec_of(s * a.x, s * a.y, s * a.z);
}

static inline double dvec_dot(dvec a, dvec b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline dvec dvec_cross(dvec a, dvec b)
{
  return dvec_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double dvec_length(dvec a)
{
  return sqrt(dvec_dot(a, a));
}

static inline drot drot_identity(void)
{
  drot q = {1.0, 0.0, 0.0, 0.0};
  return q;
}

static inline drot drot_mul(drot a, drot b)
{
  drot q = {
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
  return q;
}

static inline drot drot_inverse(drot q)
{
  drot c = {q.w, -q.x, -q.y, -q.z};
  return c;
}

static inline dvec drot_apply(drot q, dvec v)
{
  dvec u = dvec_of(q.x, q.y, q.z);
  dvec t = dvec_scale(2.0, dvec_cross(u, v));
  return dvec_add(v, dvec_add(dvec_scale(q.w, t), dvec_cross(u, t)));
}

static inline dpose dpose_identity(void)
{
  dpose t = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
  return t;
}

static inline dvec dpose_apply(dpose t, dvec v)
{
  return dvec_add(t.p, drot_apply(t.q, v));
}

static inline dpose dpose_mul(dpose a, dpose b)
{
  dpose t = {dpose_apply(a, b.p), drot_mul(a.q, b.q)};
  return t;
}

static inline dpose dpose_inverse(dpose t)
{
  drot q = drot_inverse(t.q);
  dpose inverse = {drot_apply(q, dvec_scale(-1.0, t.p)), q};
  return inverse;
}

static inline dsym dsym_add(dsym a, dsym b)
{
  dsym s = {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
  return s;
}

static inline dsym dsym_scale(double f, dsym a)
{
  dsym s = {f * a.xx, f * a.yy, f * a.zz, f * a.xy, f * a.xz, f * a.yz};
  return s;
}

static inline tn_vec3 vec3_of(dvec v)
{
  return tn_v3((float)v.x, (float)v.y, (float)v.z);
}

static inline dvec dvec_of_vec3(tn_vec3 v)
{
  return dvec_of((double)v.x, (double)v.y, (double)v.z);
}

static inline dvec dvec_of_pos(tn_pos p)
{
  return dvec_of(p.x, p.y, p.z);
}

static inline tn_pos pos_of(dvec v)
{
  return tn_p3(v.x, v.y, v.z);
}

static inline tn_quat quat_of(drot q)
{
  tn_quat r = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
  return r;
}

static inline tn_transform transform_of(dpose t)
{
  tn_transform r = {pos_of(t.p), quat_of(t.q)};
  return r;
}

// Sine and cosine of any angle, within some 1e-15.
void sine_and_cosine(double angle, double *sine, double *cosine);
// The identity for a quaternion or axis of no length.
drot drot_normalize(drot q);
drot drot_axis_angle(dvec axis, double angle);
// The shortest rotation from one direction to another.
drot drot_from_to(dvec from, dvec to);
// Whose columns are the images of the axes; they are made orthogonal.
drot drot_from_axes(dvec x, dvec y);
// Rows of the matrix of a rotation.
void drot_rows(drot q, dvec rows[3]);

// R s R^T.
dsym dsym_rotate(drot q, dsym s);
// Inertia of a point mass at `r`.
dsym dsym_point(double mass, dvec r);

#endif
