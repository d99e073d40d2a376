// Quaternions and points in double precision, in which poses are stored between steps.
#ifndef TENON_BASE_DQUAT_H
#define TENON_BASE_DQUAT_H

#include <tenon/math.h>

#include <math.h>

typedef struct dquat {
  double x, y, z, w;
} dquat;

static inline dquat dquat_mul(dquat a, dquat b)
{
  dquat q = {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
  return q;
}

static inline dquat dquat_conjugate(dquat q)
{
  dquat c = {-q.x, -q.y, -q.z, q.w};
  return c;
}

static inline dquat dquat_normalize(dquat q)
{
  double s = 1.0 / sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  dquat n = {s * q.x, s * q.y, s * q.z, s * q.w};
  return n;
}

static inline dquat dquat_from(tn_quat q)
{
  dquat d = {(double)q.x, (double)q.y, (double)q.z, (double)q.w};
  return d;
}

static inline tn_quat dquat_round(dquat q)
{
  tn_quat r = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
  return r;
}

// v + w t + q x t with t = 2 q x v.
static inline tn_pos dquat_rotate(dquat q, tn_pos v)
{
  double tx = 2.0 * (q.y * v.z - q.z * v.y);
  double ty = 2.0 * (q.z * v.x - q.x * v.z);
  double tz = 2.0 * (q.x * v.y - q.y * v.x);
  tn_pos r = {v.x + q.w * tx + (q.y * tz - q.z * ty), v.y + q.w * ty + (q.z * tx - q.x * tz),
              v.z + q.w * tz + (q.x * ty - q.y * tx)};
  return r;
}

static inline tn_pos pos_add(tn_pos a, tn_pos b)
{
  return tn_p3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline double pos_dot(tn_pos a, tn_pos b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline tn_pos pos_sub(tn_pos a, tn_pos b)
{
  return tn_p3(a.x - b.x, a.y - b.y, a.z - b.z);
}

#endif
