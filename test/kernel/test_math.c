// The library's own functions against the C library's in double, and the header's vectors and
// quaternions against exact or double arithmetic.
#include "doubles.h"
#include "support.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// ---------------------------------------------------------------------------------------------
// Errors in units of the last place of a float at the true value

static double ulp_at(double value)
{
  int exponent;
  frexp(fabs(value), &exponent);
  return ldexp(1.0, exponent < -125 ? -149 : exponent - 24);
}

typedef struct worst {
  double error;
  float x, y;
} worst;

static void compare(worst *w, float actual, double expected, float x, float y)
{
  double error = fabs((double)actual - expected) / ulp_at(expected);
  if (!(error <= w->error)) { // NaN counts as the largest error
    w->error = error;
    w->x = x;
    w->y = y;
  }
}

static void assert_ulp(const char *name, const worst *w, double bound)
{
  print_message("%s: %.3f ulp at (%.9g, %.9g)\n", name, w->error, (double)w->x, (double)w->y);
  assert_below(w->error, bound);
}

static float float_of(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint32_t bits_of(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Every 499th float of both signs; 499 is prime, so that all trailing bits occur.
typedef struct sweep {
  uint32_t bits, last;
  bool negative;
} sweep;

static sweep sweep_of(float lo, float hi)
{
  return (sweep){bits_of(lo), bits_of(hi), false};
}

static bool next_float(sweep *s, float *x)
{
  float size = float_of(s->bits);
  bool more = s->bits <= s->last;
  *x = s->negative ? -size : size;
  s->bits += s->negative ? 499 : 0;
  s->negative = !s->negative;
  return more;
}

static void sin_and_cos_are_within_two_ulp(void **state)
{
  (void)state;
  worst s = {0};
  worst c = {0};
  float x;
  for (sweep at = sweep_of(1e-30f, 4.7f); next_float(&at, &x);) {
    compare(&s, tn_sin(x), sin((double)x), x, 0.0f);
    compare(&c, tn_cos(x), cos((double)x), x, 0.0f);
  }
  // The floats around pi / 2 and pi are the hardest.
  for (uint32_t i = 0; i < 2000; ++i) {
    x = float_of(bits_of((float)(i < 1000 ? pi / 2.0 : pi)) - 500 + i % 1000);
    compare(&s, tn_sin(x), sin((double)x), x, 0.0f);
    compare(&c, tn_cos(x), cos((double)x), x, 0.0f);
  }
  assert_ulp("sin up to 4.7", &s, 2.0);
  assert_ulp("cos up to 4.7", &c, 2.0);
}

// From 3 pi / 2 on the range reduction keeps absolute, not relative, precision: near the zeros the
// bound of two ulp is that of 0.5.
static void sin_and_cos_are_within_two_ulp_of_a_half_up_to_8192(void **state)
{
  (void)state;
  double most = 0.0;
  float x;
  for (sweep at = sweep_of(1.0f, 8192.0f); next_float(&at, &x);) {
    most = fmax(most, fabs((double)tn_sin(x) - sin((double)x)));
    most = fmax(most, fabs((double)tn_cos(x) - cos((double)x)));
  }
  for (int k = -5215; k <= 5215; ++k) {
    x = (float)(k * pi / 2.0);
    most = fmax(most, fabs((double)tn_sin(x) - sin((double)x)));
    most = fmax(most, fabs((double)tn_cos(x) - cos((double)x)));
  }
  print_message("sin, cos up to 8192: %.3g\n", most);
  assert_below(most, ldexp(2.0, -24));
}

static void sin_and_cos_stay_bounded(void **state)
{
  (void)state;
  float x;
  for (sweep at = sweep_of(8192.0f, FLT_MAX); next_float(&at, &x);) {
    if (!(fabsf(tn_sin(x)) <= 1.0f) || !(fabsf(tn_cos(x)) <= 1.0f)) {
      fail_msg("sin or cos of %.9g is %.9g, %.9g", (double)x, (double)tn_sin(x), (double)tn_cos(x));
    }
  }
  assert_true(fabsf(tn_sin(INFINITY)) <= 1.0f && fabsf(tn_cos(INFINITY)) <= 1.0f);
  assert_true(fabsf(tn_sin(-INFINITY)) <= 1.0f && fabsf(tn_cos(-INFINITY)) <= 1.0f);
}

static void sin_and_cos_of_special_values(void **state)
{
  (void)state;
  assert_true(tn_sin(0.0f) == 0.0f && tn_sin(-0.0f) == 0.0f);
  assert_true(tn_cos(0.0f) == 1.0f && tn_cos(-0.0f) == 1.0f);
  assert_true(tn_sin(FLT_MIN) == FLT_MIN && tn_sin(-1e-45f) == -1e-45f);
  assert_true(isnan(tn_sin(NAN)) && isnan(tn_cos(NAN)));
  // Odd and even symmetry is exact.
  float x;
  for (sweep at = sweep_of(1e-3f, 1000.0f); next_float(&at, &x);) {
    assert_true(tn_sin(-x) == -tn_sin(x) && tn_cos(-x) == tn_cos(x));
  }
}

static void exp_is_within_one_ulp(void **state)
{
  (void)state;
  worst w = {0};
  float x;
  for (sweep at = sweep_of(1e-30f, 87.0f); next_float(&at, &x);) {
    compare(&w, tn_exp(x), exp((double)x), x, 0.0f);
  }
  assert_ulp("exp", &w, 1.0);
  assert_true(tn_exp(0.0f) == 1.0f && tn_exp(-0.0f) == 1.0f);
}

static void exp_stays_finite_and_positive(void **state)
{
  (void)state;
  const float large[] = {88.0f, 88.8f, 89.0f, 1000.0f, FLT_MAX, INFINITY};
  for (int i = 0; i < 6; ++i) {
    assert_true(tn_exp(large[i]) >= 1.6e38f && tn_exp(large[i]) <= FLT_MAX);
    assert_true(tn_exp(-large[i]) > 0.0f && tn_exp(-large[i]) <= 1.7e-38f);
  }
  assert_true(isnan(tn_exp(NAN)));
}

static void atan2_is_within_three_ulp(void **state)
{
  (void)state;
  worst w = {0};
  float x;
  for (sweep at = sweep_of(1e-30f, 1e30f); next_float(&at, &x);) {
    compare(&w, tn_atan2(x, 1.0f), atan2((double)x, 1.0), x, 1.0f);
    compare(&w, tn_atan2(x, -1.0f), atan2((double)x, -1.0), x, -1.0f);
  }
  uint32_t random = 1;
  for (int i = 0; i < 2000000; ++i) {
    float y = test_between(&random, -1.0f, 1.0f);
    x = test_between(&random, -1.0f, 1.0f);
    compare(&w, tn_atan2(y, x), atan2((double)y, (double)x), y, x);
  }
  // Circles of every magnitude.
  for (int i = 0; i < 100000; ++i) {
    double angle = (i + 0.5) * (2.0 * pi / 100000.0);
    double size = pow(10.0, -35.0 + 72.0 * (double)test_random(&random));
    float y = (float)(size * sin(angle));
    x = (float)(size * cos(angle));
    compare(&w, tn_atan2(y, x), atan2((double)y, (double)x), y, x);
  }
  assert_ulp("atan2", &w, 3.0);
}

static void atan2_of_special_values(void **state)
{
  (void)state;
  assert_true(tn_atan2(0.0f, 0.0f) == 0.0f && tn_atan2(0.0f, 1.0f) == 0.0f);
  assert_close(tn_atan2(0.0f, -1.0f), pi, 2e-7);
  assert_close(tn_atan2(1.0f, 0.0f), pi / 2.0, 1e-7);
  assert_close(tn_atan2(-1.0f, 0.0f), -pi / 2.0, 1e-7);
  // Intermediate results do not overflow.
  const float sizes[] = {1e-38f, 1.0f, 2e38f, 3e38f, FLT_MAX};
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 5; ++k) {
      double expected = atan2((double)sizes[i], (double)sizes[k]);
      assert_close(tn_atan2(sizes[i], sizes[k]), expected, 3e-7);
      assert_close(tn_atan2(-sizes[i], -sizes[k]), expected - pi, 3e-7);
    }
    // Infinity counts as the largest float.
    assert_close(tn_atan2(INFINITY, sizes[i]), atan2((double)FLT_MAX, (double)sizes[i]), 3e-7);
    assert_close(tn_atan2(sizes[i], -INFINITY), atan2((double)sizes[i], -(double)FLT_MAX), 3e-7);
  }
  assert_close(tn_atan2(INFINITY, INFINITY), pi / 4.0, 1e-7);
  assert_close(tn_atan2(-INFINITY, -INFINITY), -3.0 * pi / 4.0, 2e-7);
  assert_true(isnan(tn_atan2(NAN, 1.0f)) && isnan(tn_atan2(1.0f, NAN)));
  assert_true(isnan(tn_atan2(NAN, NAN)) && isnan(tn_atan2(0.0f, NAN)));
}

static void acos_is_within_four_ulp(void **state)
{
  (void)state;
  worst w = {0};
  float x;
  for (sweep at = sweep_of(1e-30f, 1.0f); next_float(&at, &x);) {
    compare(&w, tn_acos(x), acos((double)x), x, 0.0f);
  }
  for (int i = 0; i < 1000; ++i) { // near one, where the arc cosine is steep
    x = float_of(bits_of(1.0f) - (uint32_t)i);
    compare(&w, tn_acos(x), acos((double)x), x, 0.0f);
    compare(&w, tn_acos(-x), acos(-(double)x), -x, 0.0f);
  }
  assert_ulp("acos", &w, 4.0);
}

static void acos_takes_arguments_beyond_one_for_one(void **state)
{
  (void)state;
  const float large[] = {1.0f, 1.0000001f, 2.0f, FLT_MAX, INFINITY};
  for (int i = 0; i < 5; ++i) {
    assert_true(tn_acos(large[i]) == 0.0f);
    assert_close(tn_acos(-large[i]), pi, 2e-7);
  }
  assert_true(isnan(tn_acos(NAN)));
}

// ---------------------------------------------------------------------------------------------
// Rotations

// By the rotation matrix, in double.
static d3 rotate(tn_quat r, d3 v)
{
  double x = (double)r.x, y = (double)r.y, z = (double)r.z, w = (double)r.w;
  d3 m = {(1 - 2 * (y * y + z * z)) * v.x + 2 * (x * y - w * z) * v.y + 2 * (x * z + w * y) * v.z,
          2 * (x * y + w * z) * v.x + (1 - 2 * (x * x + z * z)) * v.y + 2 * (y * z - w * x) * v.z,
          2 * (x * z - w * y) * v.x + 2 * (y * z + w * x) * v.y + (1 - 2 * (x * x + y * y)) * v.z};
  return m;
}

// By Rodrigues' formula, in double, about a unit axis.
static d3 rodrigues(d3 a, double angle, d3 v)
{
  double c = cos(angle), s = sin(angle);
  double d = (1.0 - c) * (a.x * v.x + a.y * v.y + a.z * v.z);
  d3 r = {c * v.x + s * (a.y * v.z - a.z * v.y) + d * a.x,
          c * v.y + s * (a.z * v.x - a.x * v.z) + d * a.y,
          c * v.z + s * (a.x * v.y - a.y * v.x) + d * a.z};
  return r;
}

static void axis_angle_turns_as_rodrigues_says(void **state)
{
  (void)state;
  const double sizes[] = {1.0, 1e-3, 1e3, 1e-15, 1e15, 1e-22, 1e25, 1e-36, 1e37};
  uint32_t random = 2;
  for (int i = 0; i < 9000; ++i) {
    tn_vec3 direction = test_vector(&random, 1.0f);
    float size = (float)sizes[i % 9];
    tn_vec3 axis = tn_scale(size, direction);
    float angle = test_between(&random, -10.0f, 10.0f);
    tn_quat q = tn_quat_axis_angle(axis, angle);
    assert_close(d4_norm(d4_from(q)), 1.0, 3e-7);
    d3 unit = d3_from(axis);
    double length = d3_length(unit);
    unit = (d3){unit.x / length, unit.y / length, unit.z / length};
    d3 v = d3_from(test_vector(&random, 1.0f));
    assert_below(d3_distance(rotate(q, v), rodrigues(unit, (double)angle, v)), 1e-6);
  }
}

static void axis_angle_of_nothing_is_the_identity(void **state)
{
  (void)state;
  tn_quat turns[] = {tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 0.0f), 1.0f),
                     tn_quat_axis_angle(tn_v3(NAN, 0.0f, 0.0f), 1.0f),
                     tn_quat_axis_angle(tn_v3(0.0f, INFINITY, 0.0f), 1.0f),
                     tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), NAN),
                     tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), INFINITY),
                     tn_quat_x_to(tn_v3(0.0f, 0.0f, 0.0f)),
                     tn_quat_x_to(tn_v3(NAN, 1.0f, 0.0f)),
                     tn_quat_x_to(tn_v3(0.0f, 0.0f, -INFINITY)),
                     tn_quat_axis_angle(tn_v3(3.0f, 1.0f, 2.0f), 0.0f)};
  for (int i = 0; i < 9; ++i) {
    assert_true(turns[i].x == 0.0f && turns[i].y == 0.0f && turns[i].z == 0.0f);
    assert_true(turns[i].w == 1.0f);
  }
}

static void assert_x_goes_to(tn_vec3 direction)
{
  tn_quat q = tn_quat_x_to(direction);
  assert_close(d4_norm(d4_from(q)), 1.0, 3e-7);
  d3 d = d3_from(direction);
  double length = d3_length(d);
  d3 unit = {d.x / length, d.y / length, d.z / length};
  d3 x = {1.0, 0.0, 0.0};
  double miss = d3_distance(rotate(q, x), unit);
  if (!(miss < 1e-6)) {
    fail_msg("x misses (%.9g, %.9g, %.9g) by %g", d.x, d.y, d.z, miss);
  }
}

static void x_goes_to_any_direction(void **state)
{
  (void)state;
  const double sizes[] = {1.0, 1e-3, 1e3, 1e-15, 1e15, 1e-22, 1e25, 1e-36, 1e37};
  uint32_t random = 3;
  for (int i = 0; i < 9000; ++i) {
    assert_x_goes_to(tn_scale((float)sizes[i % 9], test_vector(&random, 1.0f)));
  }
  const float ends[] = {-1.0f, 0.0f, 1.0f};
  for (int i = 0; i < 27; ++i) {
    tn_vec3 v = tn_v3(ends[i % 3], ends[i / 3 % 3], ends[i / 9]);
    if (tn_length(v) > 0.0f) {
      assert_x_goes_to(v);
    }
  }
}

static void x_goes_to_directions_near_its_opposite(void **state)
{
  (void)state;
  uint32_t random = 4;
  for (int i = 0; i < 50000; ++i) {
    double angle = pow(10.0, -9.0 + 9.0 * (double)test_random(&random));
    double around = 2.0 * pi * (double)test_random(&random);
    assert_x_goes_to(tn_v3((float)-cos(angle), (float)(sin(angle) * cos(around)),
                           (float)(sin(angle) * sin(around))));
  }
}

static void quaternions_multiply_as_rotations_follow(void **state)
{
  (void)state;
  uint32_t random = 5;
  for (int i = 0; i < 1000; ++i) {
    tn_quat a = test_rotation(&random);
    tn_quat b = test_rotation(&random);
    tn_vec3 v = test_vector(&random, 1.0f);
    d3 one_by_one = rotate(a, rotate(b, d3_from(v)));
    assert_below(d3_distance(rotate(tn_quat_mul(a, b), d3_from(v)), one_by_one), 2e-6);
    assert_below(d3_distance(d3_from(tn_rotate(a, v)), rotate(a, d3_from(v))), 1e-6);
    tn_vec3 back = tn_rotate(tn_quat_conjugate(a), tn_rotate(a, v));
    assert_below(d3_distance(d3_from(back), d3_from(v)), 2e-6);
  }
  tn_quat i = {1.0f, 0.0f, 0.0f, 0.0f};
  tn_quat j = {0.0f, 1.0f, 0.0f, 0.0f};
  tn_quat k = tn_quat_mul(i, j); // Hamilton: i j = k, not -k
  assert_true(k.x == 0.0f && k.y == 0.0f && k.z == 1.0f && k.w == 0.0f);
}

static void normalized_quaternions_have_unit_length(void **state)
{
  (void)state;
  uint32_t random = 6;
  for (int i = 0; i < 1000; ++i) {
    tn_quat q = test_rotation(&random);
    float size = powf(10.0f, test_between(&random, -35.0f, 35.0f));
    tn_quat scaled = {size * q.x, size * q.y, size * q.z, size * q.w};
    assert_below(d4_angle(d4_from(tn_quat_normalize(scaled)), d4_from(q)), 1e-6);
    assert_close(d4_norm(d4_from(tn_quat_normalize(scaled))), 1.0, 1.2e-7);
  }
  const tn_quat bad[3] = {{0}, {NAN, 0.0f, 0.0f, 1.0f}, {0.0f, INFINITY, 0.0f, 1.0f}};
  for (int i = 0; i < 3; ++i) {
    tn_quat q = tn_quat_normalize(bad[i]);
    assert_true(q.x == 0.0f && q.y == 0.0f && q.z == 0.0f && q.w == 1.0f);
  }
}

// To the direction, about an axis that is perpendicular to both: no rotation is shorter.
static void assert_from_to(tn_vec3 from, tn_vec3 to)
{
  tn_quat q = tn_quat_from_to(from, to);
  d3 u = d3_unit(d3_from(from)), v = d3_unit(d3_from(to));
  assert_below(d3_distance(rotate(q, u), v), 1e-6);
  double angle = atan2(d3_length(d3_cross(u, v)), d3_dot(u, v));
  assert_close(d4_angle(d4_from(tn_quat_identity()), d4_from(q)), angle, 1e-6);
}

static void from_to_is_the_shortest_rotation(void **state)
{
  (void)state;
  uint32_t random = 7;
  for (int i = 0; i < 10000; ++i) {
    float size = powf(10.0f, test_between(&random, -30.0f, 30.0f));
    assert_from_to(tn_scale(size, test_vector(&random, 1.0f)), test_vector(&random, 1.0f));
  }
  for (int i = 0; i < 10000; ++i) { // nearly the same, nearly opposite
    tn_vec3 v = test_vector(&random, 1.0f);
    tn_vec3 off = test_vector(&random, powf(10.0f, test_between(&random, -9.0f, -1.0f)));
    assert_from_to(v, tn_add(v, off));
    assert_from_to(v, tn_sub(off, v));
  }
  const float ends[] = {-1.0f, 0.0f, 1.0f};
  for (int i = 0; i < 27; ++i) {
    tn_vec3 v = tn_v3(ends[i % 3], ends[i / 3 % 3], ends[i / 9]);
    if (tn_length(v) > 0.0f) {
      assert_from_to(v, v);
      assert_from_to(v, tn_scale(-2.0f, v));
    }
  }
  tn_quat none = tn_quat_from_to(tn_v3(0.0f, 0.0f, 0.0f), tn_v3(1.0f, 0.0f, 0.0f));
  assert_true(none.w == 1.0f);
}

// The angle from the first one is a share of the whole, and so is that to the second.
static void slerp_turns_at_a_constant_rate(void **state)
{
  (void)state;
  uint32_t random = 8;
  for (int i = 0; i < 20000; ++i) {
    tn_quat a = test_rotation(&random);
    float angle = i % 2 == 0 ? test_between(&random, 0.0f, 3.1f)
                             : powf(10.0f, test_between(&random, -7.0f, 0.0f));
    tn_quat b = tn_quat_mul(a, tn_quat_axis_angle(test_vector(&random, 1.0f), angle));
    if (i % 3 == 0) { // the same rotation
      b = (tn_quat){-b.x, -b.y, -b.z, -b.w};
    }
    float t = test_random(&random);
    tn_quat q = tn_quat_slerp(a, b, t);
    double whole = d4_angle(d4_from(a), d4_from(b));
    assert_close(d4_norm(d4_from(q)), 1.0, 1.2e-7);
    assert_close(d4_angle(d4_from(a), d4_from(q)), (double)t * whole, 1e-6);
    assert_close(d4_angle(d4_from(q), d4_from(b)), (1.0 - (double)t) * whole, 1e-6);
  }
}

static void transforms_compose_and_invert(void **state)
{
  (void)state;
  uint32_t random = 9;
  for (int i = 0; i < 1000; ++i) {
    tn_transform a = {tn_pos_from_vec3(test_vector(&random, 1e6f)), test_rotation(&random)};
    tn_transform b = {tn_pos_from_vec3(test_vector(&random, 10.0f)), test_rotation(&random)};
    tn_vec3 v = test_vector(&random, 1.0f);
    tn_pos there = tn_transform_point(a, tn_vec3_from_pos(tn_transform_point(b, v)));
    assert_below(tn_distance(tn_transform_point(tn_transform_mul(a, b), v), there), 1e-5);
    // A thousand kilometres away the way back is as exact as the rotation.
    tn_vec3 back = tn_transform_inverse_point(a, tn_transform_point(a, v));
    assert_below(tn_length(tn_sub(back, v)), 2e-6);
    tn_pos inverse =
        tn_transform_point(tn_transform_inverse(b), tn_vec3_from_pos(tn_transform_point(b, v)));
    assert_below(tn_distance(inverse, tn_pos_from_vec3(v)), 1e-5);
    assert_below(tn_length(tn_sub(tn_unrotate(b.q, tn_rotate(b.q, v)), v)), 2e-6);
  }
  tn_pos same = tn_transform_point(tn_transform_identity(), tn_v3(1.0f, 2.0f, 3.0f));
  assert_true(same.x == 1.0 && same.y == 2.0 && same.z == 3.0);
  tn_transform lift = {tn_p3(0.0, 1.0, 0.0),
                       tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), TN_PI / 2)};
  tn_pos at = tn_transform_point(lift, tn_v3(1.0f, 0.0f, 0.0f)); // x becomes y
  assert_close(at.x, 0.0, 1e-6);
  assert_close(at.y, 2.0, 1e-6);
}

// ---------------------------------------------------------------------------------------------
// Vectors; integers keep the arithmetic exact

static void assert_vec3(tn_vec3 v, float x, float y, float z)
{
  if (!(v.x == x && v.y == y && v.z == z)) {
    fail_msg("(%g, %g, %g) is not (%g, %g, %g)", (double)v.x, (double)v.y, (double)v.z, (double)x,
             (double)y, (double)z);
  }
}

static void vectors_follow_their_definitions(void **state)
{
  (void)state;
  tn_vec3 a = tn_v3(1.0f, 2.0f, 3.0f);
  tn_vec3 b = tn_v3(-5.0f, 7.0f, 11.0f);
  assert_vec3(tn_add(a, b), -4.0f, 9.0f, 14.0f);
  assert_vec3(tn_sub(a, b), 6.0f, -5.0f, -8.0f);
  assert_vec3(tn_scale(-2.0f, a), -2.0f, -4.0f, -6.0f);
  assert_vec3(tn_cross(a, b), 1.0f, -26.0f, 17.0f);
  assert_true(tn_dot(a, b) == 42.0f && tn_dot(a, tn_cross(a, b)) == 0.0f);
  assert_true(tn_length(tn_v3(2.0f, 3.0f, 6.0f)) == 7.0f);
  assert_vec3(tn_lerp(a, b, 0.5f), -2.0f, 4.5f, 7.0f);
  assert_vec3(tn_normalize(tn_v3(0.0f, -0x3p-100f, 0x4p-100f)), 0.0f, -0.6f, 0.8f);
  assert_vec3(tn_normalize(tn_v3(0.0f, 0x3p100f, -0x4p100f)), 0.0f, 0.6f, -0.8f);
  assert_vec3(tn_normalize(tn_v3(0.0f, 0.0f, 0.0f)), 0.0f, 0.0f, 0.0f);
  assert_vec3(tn_normalize(tn_v3(NAN, 0.0f, 1.0f)), 0.0f, 0.0f, 0.0f);
  assert_vec3(tn_vec3_from_pos(tn_pos_from_vec3(a)), 1.0f, 2.0f, 3.0f);
  assert_true(tn_distance(tn_p3(1e9, 0.0, 0.0), tn_p3(1e9 + 0.75, 1.0, 0.0)) == 1.25);
  tn_range r = tn_between(-1.0f, 2.0f);
  assert_true(r.lo == -1.0f && r.hi == 2.0f);
  assert_true((double)TN_PI == (double)(float)pi);
  tn_quat one = tn_quat_identity();
  assert_vec3(tn_rotate(one, b), -5.0f, 7.0f, 11.0f);
}

static void positions_differ_in_double(void **state)
{
  (void)state;
  tn_pos far = tn_p3(1e9 + 0.125, -1e9, 1e9);
  tn_pos near = tn_p3(1e9, -1e9 - 0.25, 1e9 + 0.5);
  assert_vec3(tn_between_points(near, far), 0.125f, 0.25f, -0.5f);
  tn_pos moved = tn_offset(near, tn_v3(0.125f, 0.25f, -0.5f));
  assert_true(moved.x == far.x && moved.y == far.y && moved.z == far.z);
}

static void ids_compare_by_all_their_parts(void **state)
{
  (void)state;
  tn_body_id null = {0};
  tn_body_id a = {1, 2, 3};
  tn_body_id others[] = {{2, 2, 3}, {1, 3, 3}, {1, 2, 4}};
  assert_true(TN_IS_NULL(null) && !TN_IS_NULL(a) && TN_SAME_ID(a, a));
  for (int i = 0; i < 3; ++i) {
    assert_false(TN_SAME_ID(a, others[i]));
  }
}

static void the_library_is_of_the_header_s_version(void **state)
{
  (void)state;
  tn_version_info v = tn_version();
  assert_int_equal(v.major, TN_VERSION_MAJOR);
  assert_int_equal(v.minor, TN_VERSION_MINOR);
  assert_int_equal(v.patch, TN_VERSION_PATCH);
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", v.major, v.minor, v.patch);
  assert_string_equal(text, TN_VERSION_STRING);
  assert_non_null(strstr(tn_config(), text));
  assert_non_null(strstr(tn_config(), "lanes 1"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sin_and_cos_are_within_two_ulp),
      cmocka_unit_test(sin_and_cos_are_within_two_ulp_of_a_half_up_to_8192),
      cmocka_unit_test(sin_and_cos_stay_bounded),
      cmocka_unit_test(sin_and_cos_of_special_values),
      cmocka_unit_test(exp_is_within_one_ulp),
      cmocka_unit_test(exp_stays_finite_and_positive),
      cmocka_unit_test(atan2_is_within_three_ulp),
      cmocka_unit_test(atan2_of_special_values),
      cmocka_unit_test(acos_is_within_four_ulp),
      cmocka_unit_test(acos_takes_arguments_beyond_one_for_one),
      cmocka_unit_test(axis_angle_turns_as_rodrigues_says),
      cmocka_unit_test(axis_angle_of_nothing_is_the_identity),
      cmocka_unit_test(x_goes_to_any_direction),
      cmocka_unit_test(x_goes_to_directions_near_its_opposite),
      cmocka_unit_test(quaternions_multiply_as_rotations_follow),
      cmocka_unit_test(normalized_quaternions_have_unit_length),
      cmocka_unit_test(from_to_is_the_shortest_rotation),
      cmocka_unit_test(slerp_turns_at_a_constant_rate),
      cmocka_unit_test(transforms_compose_and_invert),
      cmocka_unit_test(vectors_follow_their_definitions),
      cmocka_unit_test(positions_differ_in_double),
      cmocka_unit_test(ids_compare_by_all_their_parts),
      cmocka_unit_test(the_library_is_of_the_header_s_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
