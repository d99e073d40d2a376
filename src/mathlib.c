// The public maths functions, and double helpers for poses.
#include "kernel/trig.h"
#include "world.h"

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

// In double, where no square of a float overflows or vanishes.
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

// The axis of the shortest turn from x to d is x cross d; with 1 + x . d in place of w that is the
// turn by half the angle, up to its length.
tn_quat tn_quat_x_to(tn_vec3 direction)
{
  double length = length_of(direction);
  if (!(length > 0.0) || !isfinite(length)) {
    return tn_quat_identity();
  }
  double x = (double)direction.x / length;
  double y = (double)direction.y / length;
  double z = (double)direction.z / length;
  if (x < -0.999999) {
    // Nearly opposite: half a turn about z first, then the small rest.
    dquat about_z = {0.0, 0.0, 1.0, 0.0};
    dquat rest = dquat_normalize((dquat){0.0, z, -y, 1.0 - x});
    return dquat_round(dquat_mul(rest, about_z));
  }
  return dquat_round(dquat_normalize((dquat){0.0, -z, y, 1.0 + x}));
}

dquat dquat_mul(dquat a, dquat b)
{
  dquat q = {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
  return q;
}

dquat dquat_conjugate(dquat q)
{
  dquat c = {-q.x, -q.y, -q.z, q.w};
  return c;
}

dquat dquat_normalize(dquat q)
{
  double s = 1.0 / sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  dquat n = {s * q.x, s * q.y, s * q.z, s * q.w};
  return n;
}

dquat dquat_from(tn_quat q)
{
  dquat d = {(double)q.x, (double)q.y, (double)q.z, (double)q.w};
  return d;
}

tn_quat dquat_round(dquat q)
{
  tn_quat r = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
  return r;
}

tn_pos dquat_rotate(dquat q, tn_pos v)
{
  double tx = 2.0 * (q.y * v.z - q.z * v.y);
  double ty = 2.0 * (q.z * v.x - q.x * v.z);
  double tz = 2.0 * (q.x * v.y - q.y * v.x);
  tn_pos r = {v.x + q.w * tx + (q.y * tz - q.z * ty), v.y + q.w * ty + (q.z * tx - q.x * tz),
              v.z + q.w * tz + (q.x * ty - q.y * tx)};
  return r;
}

tn_pos pos_add(tn_pos a, tn_pos b)
{
  return tn_p3(a.x + b.x, a.y + b.y, a.z + b.z);
}

tn_pos pos_sub(tn_pos a, tn_pos b)
{
  return tn_p3(a.x - b.x, a.y - b.y, a.z - b.z);
}

bool is_finite3(tn_vec3 v)
{
  return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

bool is_finite_pos(tn_pos p)
{
  return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

bool is_rotation(tn_quat q)
{
  float square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  return square > 0.81f && square < 1.21f; // false for NaN
}
