// The public maths functions, and the range checks of public arguments. All of them use the scalar
// kernels or double, so results do not depend on the C library.
#include "data/world.h"
#include "kernel/trig.h"
#include "kernel/tuning.h"

#include <math.h>

float tn_sin(float x)
{
  return r_sincos(x).sin;
}

float tn_cos(float x)
{
  return r_sincos(x).cos;
}

float tn_atan2(float y, float x)
{
  return r_atan2(y, x);
}

float tn_acos(float x)
{
  return r_acos(x);
}

float tn_exp(float x)
{
  return r_exp(x);
}

// In double, where the square of a float neither overflows nor underflows.
static double length_of(tn_vec3 v)
{
  double x = (double)v.x;
  double y = (double)v.y;
  double z = (double)v.z;
  return sqrt(x * x + y * y + z * z);
}

tn_quat tn_quat_axis_angle(tn_vec3 axis, float angle)
{
  double length = length_of(axis);
  if (!(length > 0.0) || !isfinite(length) || !isfinite(angle)) {
    return tn_quat_identity();
  }
  SinCos half = r_sincos(0.5f * angle);
  double s = (double)half.sin / length;
  dquat q = {s * (double)axis.x, s * (double)axis.y, s * (double)axis.z, (double)half.cos};
  return dquat_round(q);
}

// The shortest rotation from the x axis e to the unit vector d is the quaternion
// (e x d, 1 + e . d), normalized. It degenerates where d is close to -e.
tn_quat tn_quat_x_to(tn_vec3 direction)
{
  double length = length_of(direction);
  if (!(length > 0.0) || !isfinite(length)) {
    return tn_quat_identity();
  }
  double x = (double)direction.x / length;
  double y = (double)direction.y / length;
  double z = (double)direction.z / length;
  if (x < -TUNING_OPPOSITE_COSINE) {
    // Close to -e: half a turn about z, which leads to -e, then the shortest rotation from there.
    dquat about_z = {0.0, 0.0, 1.0, 0.0};
    dquat rest = dquat_normalize((dquat){0.0, z, -y, 1.0 - x});
    return dquat_round(dquat_mul(rest, about_z));
  }
  return dquat_round(dquat_normalize((dquat){0.0, -z, y, 1.0 + x}));
}

bool is_finite3(tn_vec3 v)
{
  return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

bool is_finite_pos(tn_pos p)
{
  return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

// The comparisons below are false for NaN and infinity.
bool is_position(tn_pos p)
{
  return fabs(p.x) <= TN_MAX_DISTANCE && fabs(p.y) <= TN_MAX_DISTANCE &&
         fabs(p.z) <= TN_MAX_DISTANCE;
}

bool is_offset(tn_vec3 v)
{
  return is_position(tn_p3((double)v.x, (double)v.y, (double)v.z));
}

bool is_rate(tn_vec3 v)
{
  return fabsf(v.x) <= TN_MAX_RATE && fabsf(v.y) <= TN_MAX_RATE && fabsf(v.z) <= TN_MAX_RATE;
}

// A length within 0.9 and 1.1; the caller normalizes.
bool is_rotation(tn_quat q)
{
  float square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  return square > TUNING_UNIT_QUAT_MIN2 && square < TUNING_UNIT_QUAT_MAX2;
}
