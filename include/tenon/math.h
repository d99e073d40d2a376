/// @file
/// Vectors, positions, rotations. World positions are double, everything else is float.
///
/// Everything here is built from + - * / and sqrt, so that results are the same on every machine.
/// Functions without a remark take any values and pass NaN and infinity on.
#ifndef TENON_MATH_H
#define TENON_MATH_H

#include "base.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Half a turn, rad.
#define TN_PI 3.14159265358979323846f

/// A vector, or a point relative to something.
typedef struct tn_vec3 {
  float x; ///< component along x
  float y; ///< component along y
  float z; ///< component along z
} tn_vec3;

/// A position in the world, m.
typedef struct tn_pos {
  double x; ///< m along x
  double y; ///< m along y
  double z; ///< m along z
} tn_pos;

/// A rotation as a unit quaternion.
typedef struct tn_quat {
  float x; ///< of the vector part
  float y; ///< of the vector part
  float z; ///< of the vector part
  float w; ///< the scalar part
} tn_quat;

/// A pose: takes a point v of its frame to p + q v q*.
typedef struct tn_transform {
  tn_pos p;  ///< where the frame's origin is, m
  tn_quat q; ///< rotation from the frame to outside
} tn_transform;

/// A symmetric 3 x 3 matrix.
typedef struct tn_sym3 {
  float xx; ///< row x, column x
  float yy; ///< row y, column y
  float zz; ///< row z, column z
  float xy; ///< row x, column y
  float xz; ///< row x, column z
  float yz; ///< row y, column z
} tn_sym3;

/// An interval. Equal ends lock, an infinite end is open.
typedef struct tn_range {
  float lo; ///< lower end
  float hi; ///< upper end, not below `lo`
} tn_range;

/// Makes a vector.
static inline tn_vec3 tn_v3(float x, float y, float z)
{
  tn_vec3 v = {x, y, z};
  return v;
}

/// Makes a position, m.
static inline tn_pos tn_p3(double x, double y, double z)
{
  tn_pos p = {x, y, z};
  return p;
}

/// Makes an interval.
static inline tn_range tn_between(float lo, float hi)
{
  tn_range r = {lo, hi};
  return r;
}

/// A position as a vector from the origin, rounded to float.
static inline tn_vec3 tn_vec3_from_pos(tn_pos p)
{
  return tn_v3((float)p.x, (float)p.y, (float)p.z);
}

/// The position at a vector from the origin; exact.
static inline tn_pos tn_pos_from_vec3(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

/// The rotation that turns nothing.
static inline tn_quat tn_quat_identity(void)
{
  tn_quat q = {0.0f, 0.0f, 0.0f, 1.0f};
  return q;
}

/// a + b.
static inline tn_vec3 tn_add(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}

/// a - b.
static inline tn_vec3 tn_sub(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}

/// s a.
static inline tn_vec3 tn_scale(float s, tn_vec3 a)
{
  return tn_v3(s * a.x, s * a.y, s * a.z);
}

/// Dot product a . b.
static inline float tn_dot(tn_vec3 a, tn_vec3 b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Cross product a x b.
static inline tn_vec3 tn_cross(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/// Length of a vector. Lengths above 1e19 overflow, below 1e-19 underflow.
static inline float tn_length(tn_vec3 a)
{
  return sqrtf(tn_dot(a, a));
}

/// Linear interpolation: `a` at t = 0, `b` at t = 1; beyond that it extrapolates.
static inline tn_vec3 tn_lerp(tn_vec3 a, tn_vec3 b, float t)
{
  return tn_add(a, tn_scale(t, tn_sub(b, a)));
}

/// The unit vector along `a`, of any length.
///
/// @return zero if `a` is zero or not finite
TN_API tn_vec3 tn_normalize(tn_vec3 a);

/// The vector from one position to another, m; the difference is taken in double.
static inline tn_vec3 tn_between_points(tn_pos from, tn_pos to)
{
  return tn_v3((float)(to.x - from.x), (float)(to.y - from.y), (float)(to.z - from.z));
}

/// Distance between two positions, m.
static inline double tn_distance(tn_pos a, tn_pos b)
{
  double x = b.x - a.x;
  double y = b.y - a.y;
  double z = b.z - a.z;
  return sqrt(x * x + y * y + z * z);
}

/// A position moved by a vector, m.
static inline tn_pos tn_offset(tn_pos p, tn_vec3 d)
{
  return tn_p3(p.x + (double)d.x, p.y + (double)d.y, p.z + (double)d.z);
}

/// Product of quaternions: rotates by `b`, then by `a`.
static inline tn_quat tn_quat_mul(tn_quat a, tn_quat b)
{
  tn_quat q = {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
  return q;
}

/// Conjugate of a quaternion: the inverse of a unit one.
static inline tn_quat tn_quat_conjugate(tn_quat q)
{
  tn_quat c = {-q.x, -q.y, -q.z, q.w};
  return c;
}

/// Rotates a vector by a unit quaternion.
static inline tn_vec3 tn_rotate(tn_quat q, tn_vec3 v)
{
  tn_vec3 u = tn_v3(q.x, q.y, q.z);
  tn_vec3 t = tn_scale(2.0f, tn_cross(u, v));
  return tn_add(v, tn_add(tn_scale(q.w, t), tn_cross(u, t)));
}

/// Rotates a vector by the inverse of a unit quaternion.
static inline tn_vec3 tn_unrotate(tn_quat q, tn_vec3 v)
{
  return tn_rotate(tn_quat_conjugate(q), v);
}

/// The pose at the origin, not rotated.
static inline tn_transform tn_transform_identity(void)
{
  tn_transform t = {{0.0, 0.0, 0.0}, {0.0f, 0.0f, 0.0f, 1.0f}};
  return t;
}

/// Product of poses: a pose `b` that is given in the frame of `a`, in the frame of which `a` is
/// given. Computed in double.
TN_API tn_transform tn_transform_mul(tn_transform a, tn_transform b);
/// The inverse pose. Computed in double.
TN_API tn_transform tn_transform_inverse(tn_transform t);
/// Takes a point of the frame of `t` outside of it, m. Computed in double. Vectors are taken there
/// by tn_rotate(t.q, v).
TN_API tn_pos tn_transform_point(tn_transform t, tn_vec3 local);
/// Takes a point to the frame of `t`, m. Computed in double, rounded at the end. Vectors are taken
/// there by tn_unrotate(t.q, v).
TN_API tn_vec3 tn_transform_inverse_point(tn_transform t, tn_pos point);

/// Sine of an angle in rad, within 2 ulp up to 8192 rad.
///
/// This and the following functions give the same bits everywhere, unlike those of the C library:
/// use them for whatever feeds a simulation that must be reproducible. NaN gives NaN.
TN_API float tn_sin(float x);
/// Cosine of an angle in rad, within 2 ulp up to 8192 rad.
TN_API float tn_cos(float x);
/// Angle of the point (x, y) from the x axis, -pi to pi rad, within 3 ulp; 0 at the origin.
TN_API float tn_atan2(float y, float x);
/// Angle from 0 to pi rad whose cosine is `x`, within 4 ulp; `x` is clamped to -1 to 1.
TN_API float tn_acos(float x);
/// e to the power of x, within 1 ulp; clamped to positive, finite values.
TN_API float tn_exp(float x);

/// Rotation by an angle about an axis.
///
/// @param axis   of any length but zero
/// @param angle  rad, counter-clockwise seen against the axis
/// @return the identity if the axis is zero or something is not finite
TN_API tn_quat tn_quat_axis_angle(tn_vec3 axis, float angle);

/// Scales a quaternion to unit length.
///
/// @return the identity if `q` is zero or not finite
TN_API tn_quat tn_quat_normalize(tn_quat q);

/// The shortest rotation from one direction to another.
///
/// @param from  of any length but zero
/// @param to    of any length but zero; opposite to `from`, the axis is any perpendicular one
/// @return the identity if one of them is zero or not finite
TN_API tn_quat tn_quat_from_to(tn_vec3 from, tn_vec3 to);

/// Spherical interpolation: `a` at t = 0, `b` at t = 1, the shorter way, at a constant angular
/// velocity; beyond that it extrapolates.
TN_API tn_quat tn_quat_slerp(tn_quat a, tn_quat b, float t);

/// The shortest rotation that takes the x axis to a direction, as joints need it for their axis.
///
/// @param direction  of any length but zero
/// @return the identity if the direction is zero or not finite
TN_API tn_quat tn_quat_x_to(tn_vec3 direction);

#ifdef __cplusplus
}
#endif

#endif
