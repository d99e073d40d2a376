// Vectors in double precision, for the geometry of two shapes.
#ifndef TENON_COLLIDE_D3_H
#define TENON_COLLIDE_D3_H

#include "tenon/math.h"

typedef struct d3 {
  double x, y, z;
} d3;

static inline d3 d3_add(d3 a, d3 b)
{
  return (d3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline d3 d3_sub(d3 a, d3 b)
{
  return (d3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline d3 d3_scale(double s, d3 a)
{
  return (d3){s * a.x, s * a.y, s * a.z};
}

static inline double d3_dot(d3 a, d3 b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline d3 d3_cross(d3 a, d3 b)
{
  return (d3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

#endif
