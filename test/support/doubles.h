// Vectors and rotations in double, the reference for results in float.
#ifndef TENON_TEST_DOUBLES_H
#define TENON_TEST_DOUBLES_H

#include "collide/quickhull.h" // d3

#include <math.h>

typedef struct d4 {
  double x, y, z, w;
} d4;

static inline d3 d3_from(tn_vec3 v)
{
  return (d3){(double)v.x, (double)v.y, (double)v.z};
}

static inline double d3_length(d3 a)
{
  return sqrt(d3_dot(a, a));
}

static inline d3 d3_unit(d3 a)
{
  return d3_scale(1.0 / d3_length(a), a);
}

static inline double d3_distance(d3 a, d3 b)
{
  return d3_length(d3_sub(a, b));
}

static inline d4 d4_from(tn_quat q)
{
  return (d4){(double)q.x, (double)q.y, (double)q.z, (double)q.w};
}

static inline d4 d4_mul(d4 a, d4 b)
{
  return (d4){
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

static inline d4 d4_conjugate(d4 q)
{
  return (d4){-q.x, -q.y, -q.z, q.w};
}

static inline double d4_norm(d4 q)
{
  return sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
}

static inline d4 d4_unit(d4 q)
{
  double s = 1.0 / d4_norm(q);
  return (d4){s * q.x, s * q.y, s * q.z, s * q.w};
}

static inline d3 d4_rotate(d4 q, d3 v)
{
  d4 p = {v.x, v.y, v.z, 0.0};
  d4 r = d4_mul(d4_mul(q, p), d4_conjugate(q));
  return (d3){r.x, r.y, r.z};
}

// The rotation by |v| about v.
static inline d4 d4_turn(d3 v)
{
  double angle = d3_length(v);
  double s = angle > 0.0 ? sin(0.5 * angle) / angle : 0.5;
  return (d4){s * v.x, s * v.y, s * v.z, cos(0.5 * angle)};
}

// The angle between two rotations.
static inline double d4_angle(d4 a, d4 b)
{
  d4 d = d4_mul(d4_conjugate(d4_unit(a)), d4_unit(b));
  return 2.0 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

#endif
