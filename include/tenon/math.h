// Vectors, positions, rotations. World positions are double, everything else is float.
// Everything here is plain + - * / and sqrt, so results are the same on every machine.
#ifndef TENON_MATH_H
#define TENON_MATH_H

#include "base.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TN_PI 3.14159265358979323846f

typedef struct tn_vec3 {
  float x, y, z;
} tn_vec3;

// A position in the world, in metres.
typedef struct tn_pos {
  double x, y, z;
} tn_pos;

// A unit quaternion, x y z the vector part.
typedef struct tn_quat {
  float x, y, z, w;
} tn_quat;

typedef struct tn_transform {
  tn_pos p;
  tn_quat q;
} tn_transform;

// A symmetric 3 x 3 matrix.
typedef struct tn_sym3 {
  float xx, yy, zz, xy, xz, yz;
} tn_sym3;

// An interval. Both ends equal locks, an infinite end is open.
typedef struct tn_range {
  float lo, hi;
} tn_range;

static inline tn_vec3 tn_v3(float x, float y, float z)
{
  tn_vec3 v = {x, y, z};
  return v;
}

static inline tn_pos tn_p3(double x, double y, double z)
{
  tn_pos p = {x, y, z};
  return p;
}

static inline tn_range tn_between(float lo, float hi)
{
  tn_range r = {lo, hi};
  return r;
}

static inline tn_vec3 tn_vec3_from_pos(tn_pos p)
{
  return tn_v3((float)p.x, (float)p.y, (float)p.z);
}

static inline tn_pos tn_pos_from_vec3(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

static inline tn_quat tn_quat_identity(void)
{
  tn_quat q = {0.0f, 0.0f, 0.0f, 1.0f};
  return q;
}

static inline tn_vec3 tn_add(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline tn_vec3 tn_sub(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline tn_vec3 tn_scale(float s, tn_vec3 a)
{
  return tn_v3(s * a.x, s * a.y, s * a.z);
}

static inline float tn_dot(tn_vec3 a, tn_vec3 b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline tn_vec3 tn_cross(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline float tn_length(tn_vec3 a)
{
  return sqrtf(tn_dot(a, a));
}

// From `a` at t = 0 to `b` at t = 1, along the line.
static inline tn_vec3 tn_lerp(tn_vec3 a, tn_vec3 b, float t)
{
  return tn_add(a, tn_scale(t, tn_sub(b, a)));
}

// The unit vector along `a`; zero if `a` is zero or not finite.
TN_API tn_vec3 tn_normalize(tn_vec3 a);

// From one position to another; the difference is taken in double.
static inline tn_vec3 tn_between_points(tn_pos from, tn_pos to)
{
  return tn_v3((float)(to.x - from.x), (float)(to.y - from.y), (float)(to.z - from.z));
}

// Between two positions, m.
static inline double tn_distance(tn_pos a, tn_pos b)
{
  double x = b.x - a.x;
  double y = b.y - a.y;
  double z = b.z - a.z;
  return sqrt(x * x + y * y + z * z);
}

static inline tn_pos tn_offset(tn_pos p, tn_vec3 d)
{
  return tn_p3(p.x + (double)d.x, p.y + (double)d.y, p.z + (double)d.z);
}

static inline tn_quat tn_quat_mul(tn_quat a, tn_quat b)
{
  tn_quat q = {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
  return q;
}

static inline tn_quat tn_quat_conjugate(tn_quat q)
{
  tn_quat c = {-q.x, -q.y, -q.z, q.w};
  return c;
}

static inline tn_vec3 tn_rotate(tn_quat q, tn_vec3 v)
{
  tn_vec3 u = tn_v3(q.x, q.y, q.z);
  tn_vec3 t = tn_scale(2.0f, tn_cross(u, v));
  return tn_add(v, tn_add(tn_scale(q.w, t), tn_cross(u, t)));
}

// By the inverse of a unit quaternion.
static inline tn_vec3 tn_unrotate(tn_quat q, tn_vec3 v)
{
  return tn_rotate(tn_quat_conjugate(q), v);
}

static inline tn_transform tn_transform_identity(void)
{
  tn_transform t = {{0.0, 0.0, 0.0}, {0.0f, 0.0f, 0.0f, 1.0f}};
  return t;
}

// `b`, then `a`: takes what is in b's frame, which is in a's, to where a's is. In double.
TN_API tn_transform tn_transform_mul(tn_transform a, tn_transform b);
TN_API tn_transform tn_transform_inverse(tn_transform t);
// A point of the transform's frame, outside of it, and the other way round. In double.
TN_API tn_pos tn_transform_point(tn_transform t, tn_vec3 local);
TN_API tn_vec3 tn_transform_inverse_point(tn_transform t, tn_pos point);

// The library's own transcendental functions: the same bits everywhere, unlike the C library's.
// Use them for whatever feeds a simulation that must be reproducible.
TN_API float tn_sin(float x);
TN_API float tn_cos(float x);
TN_API float tn_atan2(float y, float x);
TN_API float tn_acos(float x);
TN_API float tn_exp(float x);

// Rotation by `angle` (radians) about `axis` (any length but zero).
TN_API tn_quat tn_quat_axis_angle(tn_vec3 axis, float angle);

// To unit length; the identity if `q` is zero or not finite.
TN_API tn_quat tn_quat_normalize(tn_quat q);

// The shortest rotation that takes `from` to the direction of `to` (any length but zero).
TN_API tn_quat tn_quat_from_to(tn_vec3 from, tn_vec3 to);

// From `a` at t = 0 to `b` at t = 1, the shorter way, at a constant angular velocity.
TN_API tn_quat tn_quat_slerp(tn_quat a, tn_quat b, float t);

// A rotation that takes the x axis to `direction` (any length but zero).
TN_API tn_quat tn_quat_x_to(tn_vec3 direction);

#ifdef __cplusplus
}
#endif

#endif
