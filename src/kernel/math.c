// The public maths functions, and the range checks of public arguments. All of them use the scalar
// kernels or double, so results do not depend on the C library.
#include "base/dquat.h"
#include "kernel/ranges.h"
#include "kernel/trig.h"
#include "kernel/tuning.h"

#include <tenon/tenon.h>

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

static bool unit_of(tn_vec3 v, tn_pos *unit)
{
  double length = length_of(v);
  if (!(length > 0.0) || !isfinite(length)) {
    return false;
  }
  *unit = tn_p3((double)v.x / length, (double)v.y / length, (double)v.z / length);
  return true;
}

tn_vec3 tn_normalize(tn_vec3 a)
{
  tn_pos unit;
  return unit_of(a, &unit) ? tn_vec3_from_pos(unit) : tn_v3(0.0f, 0.0f, 0.0f);
}

tn_quat tn_quat_normalize(tn_quat q)
{
  dquat d = dquat_from(q);
  double square = d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w;
  if (!(square > 0.0) || !isfinite(square)) {
    return tn_quat_identity();
  }
  return dquat_round(dquat_normalize(d));
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

static tn_pos cross_of(tn_pos u, tn_pos v)
{
  return tn_p3(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
}

// The shortest rotation between unit vectors u and v is (u x v, 1 + u . v), normalized.
static dquat shortest(tn_pos u, tn_pos v)
{
  tn_pos c = cross_of(u, v);
  return dquat_normalize((dquat){c.x, c.y, c.z, 1.0 + pos_dot(u, v)});
}

// A unit vector perpendicular to u: the cross product with the axis that is farthest from it.
static tn_pos perpendicular(tn_pos u)
{
  double x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
  tn_pos p = x <= y && x <= z ? tn_p3(0.0, u.z, -u.y)
             : y <= z         ? tn_p3(-u.z, 0.0, u.x)
                              : tn_p3(u.y, -u.x, 0.0);
  double scale = 1.0 / sqrt(pos_dot(p, p));
  return tn_p3(scale * p.x, scale * p.y, scale * p.z);
}

tn_quat tn_quat_from_to(tn_vec3 from, tn_vec3 to)
{
  tn_pos u, v;
  if (!unit_of(from, &u) || !unit_of(to, &v)) {
    return tn_quat_identity();
  }
  tn_pos c = cross_of(u, v);
  if (pos_dot(u, v) < 0.0 && pos_dot(c, c) < 1e-16) {
    // Opposite: half a turn about any perpendicular axis, then the rest.
    tn_pos axis = perpendicular(u);
    dquat half_turn = {axis.x, axis.y, axis.z, 0.0};
    return dquat_round(dquat_mul(shortest(tn_p3(-u.x, -u.y, -u.z), v), half_turn));
  }
  return dquat_round(shortest(u, v));
}

// (sin((1 - t) a) a + sin(t a) b) / sin a, where a is the angle between them as vectors.
tn_quat tn_quat_slerp(tn_quat a, tn_quat b, float t)
{
  dquat p = dquat_from(tn_quat_normalize(a)), q = dquat_from(tn_quat_normalize(b));
  double dot = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  double sign = dot < 0.0 ? -1.0 : 1.0;
  double from = 1.0 - (double)t, to = (double)t;
  // At small angles the sines are as their arguments, and the line as good as the arc.
  if (sign * dot < 0.9999999) {
    float angle = r_acos((float)(sign * dot));
    double scale = 1.0 / (double)r_sincos(angle).sin;
    from = scale * (double)r_sincos((1.0f - t) * angle).sin;
    to = scale * (double)r_sincos(t * angle).sin;
  }
  to *= sign;
  dquat mixed = {from * p.x + to * q.x, from * p.y + to * q.y, from * p.z + to * q.z,
                 from * p.w + to * q.w};
  return tn_quat_normalize(dquat_round(mixed));
}

tn_transform tn_transform_mul(tn_transform a, tn_transform b)
{
  dquat q = dquat_from(a.q);
  tn_transform t = {pos_add(a.p, dquat_rotate(q, b.p)), dquat_round(dquat_mul(q, dquat_from(b.q)))};
  return t;
}

tn_transform tn_transform_inverse(tn_transform t)
{
  dquat back = dquat_conjugate(dquat_from(t.q));
  tn_pos p = dquat_rotate(back, t.p);
  tn_transform inverse = {tn_p3(-p.x, -p.y, -p.z), tn_quat_conjugate(t.q)};
  return inverse;
}

tn_pos tn_transform_point(tn_transform t, tn_vec3 local)
{
  return pos_add(t.p, dquat_rotate(dquat_from(t.q), tn_pos_from_vec3(local)));
}

tn_vec3 tn_transform_inverse_point(tn_transform t, tn_pos point)
{
  dquat back = dquat_conjugate(dquat_from(t.q));
  return tn_vec3_from_pos(dquat_rotate(back, pos_sub(point, t.p)));
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
