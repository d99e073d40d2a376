#include "space.h"

// Taylor series on -pi/4 to pi/4, where the next terms are below 1e-17.
static double sine_part(double x)
{
  double s = x * x;
  return x * (1.0 + s * (-1.0 / 6.0 +
                         s * (1.0 / 120.0 + s * (-1.0 / 5040.0 +
                                                 s * (1.0 / 362880.0 +
                                                      s * (-1.0 / 39916800.0 +
                                                           s * (1.0 / 6227020800.0 +
                                                                s * (-1.0 / 1307674368000.0))))))));
}

static double cosine_part(double x)
{
  double s = x * x;
  return 1.0 +
         s * (-1.0 / 2.0 +
              s * (1.0 / 24.0 +
                   s * (-1.0 / 720.0 +
                        s * (1.0 / 40320.0 +
                             s * (-1.0 / 3628800.0 +
                                  s * (1.0 / 479001600.0 + s * (-1.0 / 87178291200.0 +
                                                                s * (1.0 / 20922789888000.0))))))));
}

void sine_and_cosine(double angle, double *sine, double *cosine)
{
  // Half pi as a sum, so that the reduction stays exact for some thousand turns.
  const double high = 1.5707963267341256, low = 6.0771005065061922e-11;
  double turns = floor(angle / (high + low) + 0.5);
  if (!(turns > -1e9 && turns < 1e9)) { // also NaN: no angle of a model
    *sine = 0.0;
    *cosine = 1.0;
    return;
  }
  double x = (angle - turns * high) - turns * low;
  double s = sine_part(x), c = cosine_part(x);
  int quarter = (int)(turns - 4.0 * floor(turns / 4.0));
  double sines[4] = {s, c, -s, -c};
  *sine = sines[quarter];
  *cosine = sines[(quarter + 1) % 4];
}

drot drot_normalize(drot q)
{
  double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(length > 1e-30)) {
    return drot_identity();
  }
  drot n = {q.w / length, q.x / length, q.y / length, q.z / length};
  return n;
}

drot drot_axis_angle(dvec axis, double angle)
{
  double length = dvec_length(axis), s, c;
  if (!(length > 1e-30)) {
    return drot_identity();
  }
  sine_and_cosine(0.5 * angle, &s, &c);
  drot q = {c, s * axis.x / length, s * axis.y / length, s * axis.z / length};
  return q;
}

drot drot_from_to(dvec from, dvec to)
{
  double a = dvec_length(from), b = dvec_length(to);
  if (!(a > 1e-30) || !(b > 1e-30)) {
    return drot_identity();
  }
  dvec f = dvec_scale(1.0 / a, from), t = dvec_scale(1.0 / b, to);
  dvec c = dvec_cross(f, t);
  double d = dvec_dot(f, t);
  if (d < -1.0 + 1e-12) { // half a turn about any perpendicular axis
    dvec side = fabs(f.x) < 0.9 ? dvec_of(1.0, 0.0, 0.0) : dvec_of(0.0, 1.0, 0.0);
    dvec n = dvec_cross(f, side);
    drot half = {0.0, n.x, n.y, n.z};
    return drot_normalize(half);
  }
  drot q = {1.0 + d, c.x, c.y, c.z};
  return drot_normalize(q);
}

drot drot_from_axes(dvec x, dvec y)
{
  double length = dvec_length(x);
  if (!(length > 1e-30)) {
    return drot_identity();
  }
  dvec a = dvec_scale(1.0 / length, x);
  dvec b = dvec_sub(y, dvec_scale(dvec_dot(a, y), a));
  length = dvec_length(b);
  if (!(length > 1e-30)) {
    return drot_identity();
  }
  b = dvec_scale(1.0 / length, b);
  dvec c = dvec_cross(a, b);
  double trace = a.x + b.y + c.z;
  drot q; // from the largest of the four components
  if (trace > 0.0) {
    q = (drot){1.0 + trace, b.z - c.y, c.x - a.z, a.y - b.x};
  } else if (a.x >= b.y && a.x >= c.z) {
    q = (drot){b.z - c.y, 1.0 + a.x - b.y - c.z, a.y + b.x, a.z + c.x};
  } else if (b.y >= c.z) {
    q = (drot){c.x - a.z, a.y + b.x, 1.0 + b.y - a.x - c.z, b.z + c.y};
  } else {
    q = (drot){a.y - b.x, a.z + c.x, b.z + c.y, 1.0 + c.z - a.x - b.y};
  }
  return drot_normalize(q);
}

void drot_rows(drot q, dvec rows[3])
{
  dvec x = drot_apply(q, dvec_of(1.0, 0.0, 0.0));
  dvec y = drot_apply(q, dvec_of(0.0, 1.0, 0.0));
  dvec z = drot_apply(q, dvec_of(0.0, 0.0, 1.0));
  rows[0] = dvec_of(x.x, y.x, z.x);
  rows[1] = dvec_of(x.y, y.y, z.y);
  rows[2] = dvec_of(x.z, y.z, z.z);
}

static dvec dsym_apply(dsym s, dvec v)
{
  return dvec_of(s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
                 s.xz * v.x + s.yz * v.y + s.zz * v.z);
}

dsym dsym_rotate(drot q, dsym s)
{
  dvec r[3], t[3];
  drot_rows(q, r);
  for (int i = 0; i < 3; ++i) {
    t[i] = dsym_apply(s, r[i]);
  }
  dsym out = {dvec_dot(r[0], t[0]), dvec_dot(r[1], t[1]), dvec_dot(r[2], t[2]),
              dvec_dot(r[0], t[1]), dvec_dot(r[0], t[2]), dvec_dot(r[1], t[2])};
  return out;
}

dsym dsym_point(double mass, dvec r)
{
  dsym s = {mass * (r.y * r.y + r.z * r.z),
            mass * (r.x * r.x + r.z * r.z),
            mass * (r.x * r.x + r.y * r.y),
            -mass * r.x * r.y,
            -mass * r.x * r.z,
            -mass * r.y * r.z};
  return s;
}
