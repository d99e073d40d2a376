// The kernels' vectors and rotations in double, and random ones.
#ifndef TENON_TEST_KERNEL_SUPPORT_H
#define TENON_TEST_KERNEL_SUPPORT_H

#include "doubles.h"
#include "support.h"

#include "kernel/joint.h"

static inline d3 d3_from_vec3(V v)
{
  return (d3){(double)v.x, (double)v.y, (double)v.z};
}

static inline d4 d4_of(Q q)
{
  return (d4){(double)q.x, (double)q.y, (double)q.z, (double)q.w};
}

static inline Q q_of(d4 d)
{
  Q q = {(float)d.x, (float)d.y, (float)d.z, (float)d.w};
  return q;
}

static inline V random_v(uint32_t *random, float size)
{
  tn_vec3 v = test_vector(random, size);
  return v_make(v.x, v.y, v.z);
}

static inline Q random_q(uint32_t *random)
{
  tn_quat q = test_rotation(random);
  Q r = {q.x, q.y, q.z, q.w};
  return r;
}

static inline d3 random_direction(uint32_t *random)
{
  d3 v;
  do {
    v = d3_from_vec3(random_v(random, 1.0f));
  } while (d3_length(v) > 1.0 || d3_length(v) < 0.1);
  return d3_unit(v);
}

// A random rotation by an angle uniform in [0, most].
static inline Q random_turn(uint32_t *random, double most)
{
  d3 axis = random_direction(random);
  return q_of(d4_turn(d3_scale(most * (double)test_random(random), axis)));
}

static inline void d4_rotation_vector(d4 q, double x[3])
{
  double sign = q.w < 0.0 ? -1.0 : 1.0;
  double sine = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
  double angle = 2.0 * atan2(sine, sign * q.w);
  double s = sine > 1e-9 ? sign * angle / sine : 2.0 * sign;
  x[0] = s * q.x;
  x[1] = s * q.y;
  x[2] = s * q.z;
}

#endif
