// Trigonometry in double precision by + - * / and square roots only: the same bits everywhere,
// which the C library's functions do not promise. Errors are below 1e-15.
#ifndef TENON_BASE_DTRIG_H
#define TENON_BASE_DTRIG_H

#include <math.h>

#define D_PI 3.14159265358979323846

// Taylor series on -pi/4 to pi/4, where the next term is below 1e-17.
static inline double d_sine_series(double x)
{
  double s = x * x, sum = 0.0, term = x;
  for (int i = 1; i <= 9; ++i) {
    sum += term;
    term *= -s / (double)(2 * i * (2 * i + 1));
  }
  return sum;
}

static inline double d_cosine_series(double x)
{
  double s = x * x, sum = 0.0, term = 1.0;
  for (int i = 1; i <= 10; ++i) {
    sum += term;
    term *= -s / (double)(2 * i * (2 * i - 1));
  }
  return sum;
}

// Sine and cosine; the angle is below some thousand turns for full precision. NaN for one that is
// not finite, as of a body that is about to be put back.
static inline void d_sine_cosine(double angle, double *sine, double *cosine)
{
  // Half pi as a sum, so that the reduction stays exact.
  const double high = 1.5707963267341256, low = 6.0771005065061922e-11;
  double quarters = floor(angle / (high + low) + 0.5);
  double x = (angle - quarters * high) - quarters * low;
  double s = d_sine_series(x), c = d_cosine_series(x);
  double rest = quarters - 4.0 * floor(quarters / 4.0);
  int quarter = rest >= 0.0 && rest < 4.0 ? (int)rest : 0;
  double values[4] = {s, c, -s, -c};
  *sine = values[quarter];
  *cosine = values[(quarter + 1) % 4];
}

// Arc tangent of 0 <= x <= 1: three halvings of the angle, then the series.
static inline double d_atan_unit(double x)
{
  for (int i = 0; i < 3; ++i) {
    x /= 1.0 + sqrt(1.0 + x * x);
  }
  double s = x * x, sum = 0.0, power = x;
  for (int i = 0; i < 10; ++i) { // x <= 0.0985
    sum += (i % 2 ? -power : power) / (double)(2 * i + 1);
    power *= s;
  }
  return 8.0 * sum;
}

// The angle of the point (x, y), -pi to pi; 0 for (0, 0).
static inline double d_atan2(double y, double x)
{
  double a = fabs(y), b = fabs(x);
  if (a == 0.0 && b == 0.0) {
    return 0.0;
  }
  double angle = a <= b ? d_atan_unit(a / b) : 0.5 * D_PI - d_atan_unit(b / a);
  angle = x < 0.0 ? D_PI - angle : angle;
  return y < 0.0 ? -angle : angle;
}

// The equivalent angle nearest to `middle`.
static inline double d_angle_near(double angle, double middle)
{
  double turn = 2.0 * D_PI;
  return angle - turn * floor((angle - middle) / turn + 0.5);
}

#endif
