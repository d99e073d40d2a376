// Shared by the tests of soft bodies.
#ifndef TENON_TEST_SOFT_SUPPORT_H
#define TENON_TEST_SOFT_SUPPORT_H

#include "support.h"

#include <math.h>

static const float dt = 1.0f / 60.0f;
static const tn_pos origin = {0.0, 0.0, 0.0};

static inline double length3(const double *v)
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static inline double apart3(const double *a, const double *b)
{
  double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return length3(d);
}

#endif
