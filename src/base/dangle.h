// Angles in double precision from + - * / and sqrt alone: the same bits on every platform.
#ifndef TENON_BASE_DANGLE_H
#define TENON_BASE_DANGLE_H

#include <math.h>

#define D_PI 3.14159265358979323846

// atan(x) for 0 <= x <= 1. Three halvings, atan(x) = 2 atan(x / (1 + sqrt(1 + x^2))), leave
// x < 0.1, where eight terms of the series are exact to rounding.
static inline double d_atan_unit(double x)
{
  for (int i = 0; i < 3; ++i) {
    x = x / (1.0 + sqrt(1.0 + x * x));
  }
  double z = x * x, sum = 0.0;
  for (int i = 15; i >= 1; i -= 2) {
    sum = 1.0 / (double)i - z * sum;
  }
  return 8.0 * x * sum;
}

// atan2(0, 0) is 0.
static inline double d_atan2(double y, double x)
{
  double a = fabs(x), b = fabs(y);
  double most = a > b ? a : b, least = a > b ? b : a;
  double angle = most > 0.0 ? d_atan_unit(least / most) : 0.0;
  angle = b > a ? 0.5 * D_PI - angle : angle;
  angle = x < 0.0 ? D_PI - angle : angle;
  return y < 0.0 ? -angle : angle;
}

// The angle equal to `angle` but for whole turns that is nearest to `near`.
static inline double d_angle_near(double angle, double near)
{
  return angle + 2.0 * D_PI * floor((near - angle) / (2.0 * D_PI) + 0.5);
}

#endif
