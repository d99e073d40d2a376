// sin, cos, atan2, acos and exp from + - * / and sqrt alone: results are the same bits on every
// platform, whatever its C library. Argument reductions and minimax polynomials are those of
// Moshier's Cephes library (single precision). Errors are given in units in the last place (ulp).
#ifndef TENON_KERNEL_TRIG_H
#define TENON_KERNEL_TRIG_H

#include "kernel/lane.h"

typedef struct SinCos {
  R sin, cos;
} SinCos;

// False for NaN.
KERNEL M is_number(R x)
{
  return x == x; // NOLINT(misc-redundant-expression)
}

// Sine and cosine of |r| <= pi / 4.
KERNEL SinCos sincos_reduced(R r)
{
  R z = r * r;
  R s = r + r * z * ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f);
  R c = (1.0f - 0.5f * z) +
        z * z * ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f);
  SinCos result = {s, c};
  return result;
}

// Error: 2 ulp up to |x| = 4.7, 1e-7 up to 8192. Beyond that only |sin|, |cos| <= 1 is assured.
//
// Small angles are their own remainder, bit for bit: the reduction is a long chain of operations.
KERNEL SinCos r_sincos(R x)
{
  if (!m_any(m_not(r_abs(x) < 0.78f))) {
    return sincos_reduced(x);
  }
  x = r_clamp(x, splat(-1e6f), splat(1e6f));
  R k = r_round(x * 0.636619772367581343f);
  // Cody and Waite: r = x - k pi / 2, with pi / 2 in three parts; the products of k with the first
  // two parts are exact.
  R r = ((x - k * 1.5703125f) - k * 4.837512969970703125e-4f) - k * 7.54978995489188216e-8f;
  SinCos reduced = sincos_reduced(r_clamp(r, splat(-0.8f), splat(0.8f)));
  R s = reduced.sin, c = reduced.cos;
  R quadrant = k - 4.0f * r_round(0.25f * k); // -2 .. 2
  M odd = (quadrant == 1.0f) | (quadrant == -1.0f);
  M half = (quadrant == 2.0f) | (quadrant == -2.0f);
  M flip_sin = half | (quadrant == -1.0f);
  M flip_cos = half | (quadrant == 1.0f);
  R sin = pick(odd, c, s);
  R cos = pick(odd, s, c);
  SinCos result = {pick(flip_sin, -sin, sin), pick(flip_cos, -cos, cos)};
  return result;
}

// Error: 3 ulp. atan2(0, 0) is 0.
LARGE R r_atan2(R y, R x)
{
  // Infinity becomes the largest float; large arguments are scaled down so that small + large does
  // not overflow.
  R ax = r_clamp(r_abs(x), splat(0.0f), splat(3.4028234e38f));
  R ay = r_clamp(r_abs(y), splat(0.0f), splat(3.4028234e38f));
  R scale = pick((ax > 1e38f) | (ay > 1e38f), splat(0.25f), splat(1.0f));
  ax = scale * ax;
  ay = scale * ay;
  R small = r_min(ax, ay);
  R large = r_max(ax, ay);
  M upper = small > 0.414213562373095f * large; // above tan(pi / 8): the angle from pi / 4
  R numerator = pick(upper, small - large, small);
  R denominator = pick(upper, small + large, large);
  R t = numerator / pick(denominator > 0.0f, denominator, splat(1.0f));
  R z = t * t;
  R a = t + t * z *
                (((8.05374449538e-2f * z - 1.38776856032e-1f) * z + 1.99777106478e-1f) * z -
                 3.33329491539e-1f);
  a = pick(upper, 0.785398163397448f + a, a);
  a = pick(ay > ax, 1.57079632679490f - a, a);
  a = pick(x < 0.0f, 3.14159265358979f - a, a);
  a = pick(is_number(x) & is_number(y), a, x + y); // NaN propagates
  return pick(y < 0.0f, -a, a);
}

// Error: 4 ulp. Arguments are clamped to [-1, 1].
LARGE R r_acos(R x)
{
  R c = r_clamp(x, splat(-1.0f), splat(1.0f));
  return r_atan2(r_sqrt((1.0f - c) * (1.0f + c)), c);
}

// Error: 2 ulp in [-87, 88]. Arguments are clamped to that range; NaN propagates.
LARGE R r_exp(R x)
{
  R number = pick(is_number(x), x, splat(0.0f));
  R c = r_clamp(number, splat(-87.0f), splat(88.0f));
  // exp(c) = 2^k exp(r) with r = c - k ln 2, ln 2 in two parts.
  R k = r_round(c * 1.44269504088896341f);
  R r = (c - k * 0.693359375f) + k * 2.12194440e-4f;
  R p =
      ((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f) *
           r +
       1.6666665459e-1f) *
          r +
      5.0000001201e-1f;
  return pick(is_number(x), (p * r * r + r + 1.0f) * r_exp2i(k), x);
}

// Wraps x from [-3 pi, 3 pi] to [-pi, pi].
KERNEL R r_wrap_angle(R x)
{
  x = pick(x > 3.14159265358979f, x - 6.28318530717959f, x);
  return pick(x < -3.14159265358979f, x + 6.28318530717959f, x);
}

#endif
