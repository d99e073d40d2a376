// Vectors in double precision: tn_pos as a vector, beside the sums and products of base/dquat.h.
#ifndef TENON_BASE_DVEC_H
#define TENON_BASE_DVEC_H

#include "base/dquat.h"

static inline tn_pos pos_from_vec3(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

static inline tn_vec3 pos_round(tn_pos p)
{
  return tn_v3((float)p.x, (float)p.y, (float)p.z);
}

static inline tn_vec3 vec3_from_floats(const float *v)
{
  return tn_v3(v[0], v[1], v[2]);
}

static inline tn_pos pos_scale(double s, tn_pos a)
{
  return tn_p3(s * a.x, s * a.y, s * a.z);
}

static inline tn_pos pos_cross(tn_pos a, tn_pos b)
{
  return tn_p3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// a . (b x c): six times the volume of a tetrahedron with these edges.
static inline double pos_triple(tn_pos a, tn_pos b, tn_pos c)
{
  return pos_dot(a, pos_cross(b, c));
}

// From one point to another, subtracted in double.
static inline tn_pos vec3_between(tn_vec3 from, tn_vec3 to)
{
  return tn_p3((double)to.x - (double)from.x, (double)to.y - (double)from.y,
               (double)to.z - (double)from.z);
}

#endif
