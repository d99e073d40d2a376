// The rows of joints with one lane: angles and their gradients against double, in A's axes.
#include "kernel_support.h"

static const double pi = 3.14159265358979323846;
static const d3 ex = {1.0, 0.0, 0.0};
static const d3 ey = {0.0, 1.0, 0.0};

static double signed_angle(d3 n, d3 from, d3 to)
{
  return atan2(d3_dot(d3_cross(from, to), n), d3_dot(from, to));
}

// Mueller et al. eq. 22-24: b1 and b2 projected onto the plane across the normalized a1 + a2.
static double literal_twist(d4 q)
{
  d3 a2 = d4_rotate(q, ex);
  d3 b2 = d4_rotate(q, ey);
  d3 n = d3_unit(d3_add(ex, a2));
  d3 n1 = d3_unit(d3_sub(ey, d3_scale(d3_dot(n, ey), n)));
  d3 n2 = d3_unit(d3_sub(b2, d3_scale(d3_dot(n, b2), n)));
  return signed_angle(n, n1, n2);
}

// A twist about a1 followed by the swing that takes a1 to a2.
static void swing_twist_coordinates(d4 q, double x[3])
{
  d3 a2 = d4_rotate(q, ex);
  x[0] = remainder(2.0 * atan2(q.x, q.w), 2.0 * pi);
  x[1] = atan2(d3_length(d3_cross(ex, a2)), a2.x);
  x[2] = 0.0;
}

static void hinge_coordinates(d4 q, double x[3])
{
  d3 across = d3_cross(ex, d4_rotate(q, ex)); // eq. 20
  x[0] = remainder(2.0 * atan2(q.x, q.w), 2.0 * pi);
  x[1] = across.y;
  x[2] = across.z;
}

static void universal_coordinates(d4 q, double x[3])
{
  d3 b2 = d4_rotate(q, ey);
  x[0] = atan2(b2.z, b2.y);
  x[1] = signed_angle(b2, ex, d4_rotate(q, ex));
  x[2] = d3_dot(b2, ex);
}

typedef void coordinates_fn(d4 q, double x[3]);

// Gradient of each coordinate with respect to a rotation of B in the world, by central differences.
static void gradients(coordinates_fn *coordinates, d4 frame, d4 q, d3 g[3])
{
  const double step = 1e-5;
  double change[3][3];
  for (int axis = 0; axis < 3; ++axis) {
    d3 world = {axis == 0 ? step : 0.0, axis == 1 ? step : 0.0, axis == 2 ? step : 0.0};
    d3 local = d4_rotate(d4_conjugate(frame), world);
    double up[3], down[3];
    coordinates(d4_mul(d4_turn(local), q), up);
    coordinates(d4_mul(d4_turn(d3_scale(-1.0, local)), q), down);
    for (int i = 0; i < 3; ++i) {
      double d = up[i] - down[i];
      d -= d > pi ? 2.0 * pi : d < -pi ? -2.0 * pi : 0.0;
      change[i][axis] = d / (2.0 * step);
    }
  }
  for (int i = 0; i < 3; ++i) {
    g[i] = (d3){change[i][0], change[i][1], change[i][2]};
  }
}

static Rows rows_between(JointType type, Q frame, Q q, float lo, float hi)
{
  float middle = 0.5f * (lo + hi);
  RowParams params = {.lo = {lo, lo, lo}, .hi = {hi, hi, hi}, .middle = {middle, middle, middle}};
  Rows rows = {0};
  switch (type) {
  case TYPE_BALL:
    swing_twist_rows(frame, q, &params, &rows);
    break;
  case TYPE_HINGE:
    hinge_rows(frame, q, &params, &rows);
    break;
  case TYPE_UNIVERSAL:
    universal_rows(frame, q, &params, &rows);
    break;
  default:
    generic_rows(frame, q, &params, &rows);
    break;
  }
  return rows;
}

static Rows rows_of(JointType type, Q frame, Q q)
{
  return rows_between(type, frame, q, -UNLIMITED, UNLIMITED);
}

static void twist_and_swing_are_those_of_the_decomposition(void **state)
{
  (void)state;
  uint32_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    double around = 2.0 * pi * (double)test_random(&random);
    double swing = 3.0 * (double)test_random(&random); // the twist is undefined at a swing of pi
    double twist = (double)test_between(&random, -3.14f, 3.14f);
    d3 across = {0.0, cos(around), sin(around)};
    d4 q = d4_mul(d4_turn(d3_scale(swing, across)), d4_turn(d3_scale(twist, ex)));
    Rows rows = rows_of(TYPE_BALL, random_q(&random), q_of(q));
    double c = cos(0.5 * swing);
    assert_close(rows.x[0], twist, 1e-6 / c);
    assert_close(rows.x[1], swing, 1e-6);
  }
}

// Mueller et al. project b1 and b2 (eq. 22-24). In that plane both axes lean towards the axis of
// the swing, since the projection shortens components across it by c = cos(swing / 2). That is the
// whole difference: at most asin((1 - c) / (1 + c)) for each, zero without twist.
static void twist_is_that_of_the_projections_up_to_their_foreshortening(void **state)
{
  (void)state;
  uint32_t random = 18;
  double widest = 0.0;
  for (int i = 0; i < 20000; ++i) {
    double around = 2.0 * pi * (double)test_random(&random);
    double swing = 2.5 * (double)test_random(&random);
    double twist = i % 4 == 0 ? 0.0 : (double)test_between(&random, -3.0f, 3.0f);
    d3 across = {0.0, cos(around), sin(around)};
    d4 q = d4_mul(d4_turn(d3_scale(swing, across)), d4_turn(d3_scale(twist, ex)));
    Q one = {0.0f, 0.0f, 0.0f, 1.0f};
    Rows rows = rows_of(TYPE_BALL, one, q_of(q));
    double c = cos(0.5 * swing);
    double apart = remainder((double)rows.x[0] - literal_twist(q), 2.0 * pi);
    double lean = twist == 0.0 ? 0.0 : 2.0 * asin((1.0 - c) / (1.0 + c));
    assert_close(apart, 0.0, lean + 1e-6 / c);
    widest = swing < 0.1 ? fmax(widest, fabs(apart)) : widest;
  }
  assert_below(widest, 0.1 * 0.1 / 8.0); // second order in the swing
}

static void swings_change_along_their_rows(void **state)
{
  (void)state;
  uint32_t random = 2;
  for (int i = 0; i < 5000; ++i) {
    Q q = random_turn(&random, pi);
    Q frame = random_q(&random);
    d4 exact = d4_unit(d4_of(q));
    double x[3];
    swing_twist_coordinates(exact, x);
    if (x[1] > 2.8 || x[1] < 0.01) {
      continue;
    }
    Rows rows = rows_of(TYPE_BALL, frame, q);
    d3 g[3];
    gradients(swing_twist_coordinates, d4_unit(d4_of(frame)), exact, g);
    assert_below(d3_distance(d3_from_vec3(rows.n[1]), g[1]), 1e-5 / sin(x[1]));
  }
}

// Turning back by what a locked twist is off, about the row's unit vector, leads to that twist, and
// no smaller turn does: the row is its gradient. At any swing, also at half a turn.
static void a_turn_along_the_row_leads_to_a_locked_twist(void **state)
{
  (void)state;
  uint32_t random = 23;
  for (int i = 0; i < 20000; ++i) {
    d3 across = d3_scale(1.0 / sqrt(2.0), (d3){0.0, 1.0, i % 2 ? 1.0 : -1.0});
    double swing = i % 3 == 0 ? pi : pi * (double)test_random(&random);
    float twist = test_between(&random, -3.0f, 3.0f), end = test_between(&random, -3.0f, 3.0f);
    end = i % 5 == 0 ? twist : end;
    Q q = q_of(d4_mul(d4_turn(d3_scale(swing, across)), d4_turn(d3_scale((double)twist, ex))));
    Q frame = random_q(&random);
    Rows rows = rows_between(TYPE_BALL, frame, q, end, end);
    double off = (double)rows.x[0] - (double)end;
    d3 n = d4_rotate(d4_conjugate(d4_unit(d4_of(frame))), d3_from_vec3(rows.n[0]));
    assert_close(d3_dot(n, n), 1.0, 1e-5);
    d4 back = d4_mul(d4_turn(d3_scale(-off, n)), d4_unit(d4_of(q)));
    double c = cos(0.5 * (double)end), s = sin(0.5 * (double)end);
    assert_close(c * back.x - s * back.w, 0.0, 2e-6);
    // Of second order: a slightly different turn of the same size stays short of it.
    d3 other = d3_scale(1.0 / sqrt(1.0 + 0.01), d3_add(n, d3_scale(0.1, d3_cross(n, ex))));
    d4 beside = d4_mul(d4_turn(d3_scale(-0.5 * off, other)), d4_unit(d4_of(q)));
    d4 half = d4_mul(d4_turn(d3_scale(-0.5 * off, n)), d4_unit(d4_of(q)));
    assert_below(fabs(c * half.x - s * half.w), fabs(c * beside.x - s * beside.w) + 1e-6);
  }
}

static void generic_rows_are_the_gradient_of_the_rotation_vector(void **state)
{
  (void)state;
  uint32_t random = 3;
  for (int i = 0; i < 10000; ++i) {
    Q q = random_turn(&random, i % 2 == 0 ? 0.2 : 3.0);
    if (i % 3 == 0) {
      q = (Q){-q.x, -q.y, -q.z, -q.w}; // the same rotation
    }
    Q frame = random_q(&random);
    d4 exact = d4_unit(d4_of(q));
    double x[3];
    d3 g[3];
    d4_rotation_vector(exact, x);
    gradients(d4_rotation_vector, d4_unit(d4_of(frame)), exact, g);
    Rows rows = rows_of(TYPE_GENERIC, frame, q);
    for (int k = 0; k < 3; ++k) {
      assert_close(rows.x[k], x[k], 2e-6);
      assert_below(d3_distance(d3_from_vec3(rows.n[k]), g[k]), 5e-6);
    }
  }
}

// At poses that a joint allows, its rows are exact; near them, to first order of the error.
static void assert_rows_near_allowed(JointType type, coordinates_fn *coordinates, const d4 *allowed,
                                     uint32_t *random)
{
  for (int i = 0; i < 3; ++i) {
    const double errors[3] = {0.0, 1e-3, 1e-2};
    Q frame = random_q(random);
    d3 away = d3_scale(errors[i], random_direction(random));
    Q q = q_of(d4_mul(d4_turn(away), *allowed));
    d4 exact = d4_unit(d4_of(q));
    double x[3];
    d3 g[3];
    coordinates(exact, x);
    gradients(coordinates, d4_unit(d4_of(frame)), exact, g);
    Rows rows = rows_of(type, frame, q);
    for (int k = 0; k < 3; ++k) {
      assert_close(remainder((double)rows.x[k] - x[k], 2.0 * pi), 0.0, 1e-6);
      assert_below(d3_distance(d3_from_vec3(rows.n[k]), g[k]), 2e-6 + 2.0 * errors[i]);
    }
  }
}

static void hinge_rows_are_gradients(void **state)
{
  (void)state;
  uint32_t random = 4;
  for (int i = 0; i < 1000; ++i) {
    d4 allowed = d4_turn(d3_scale((double)test_between(&random, -3.1f, 3.1f), ex));
    assert_rows_near_allowed(TYPE_HINGE, hinge_coordinates, &allowed, &random);
  }
}

static void universal_rows_are_gradients(void **state)
{
  (void)state;
  uint32_t random = 5;
  for (int i = 0; i < 1000; ++i) {
    d4 about_a = d4_turn(d3_scale((double)test_between(&random, -3.1f, 3.1f), ex));
    d4 about_b = d4_turn(d3_scale((double)test_between(&random, -3.1f, 3.1f), ey));
    d4 allowed = d4_mul(about_a, about_b);
    assert_rows_near_allowed(TYPE_UNIVERSAL, universal_coordinates, &allowed, &random);
  }
}

// At any error of the axes, angles with limits change along their rows: otherwise a soft limit
// would return more energy than it takes.
static void angles_change_along_their_rows_anywhere(void **state)
{
  (void)state;
  uint32_t random = 19;
  for (int i = 0; i < 5000; ++i) {
    Q q = random_turn(&random, pi);
    Q frame = random_q(&random);
    d4 exact = d4_unit(d4_of(q)), axes = d4_unit(d4_of(frame));
    d3 g[3];
    gradients(hinge_coordinates, axes, exact, g);
    if (d4_rotate(exact, ex).x > -0.9) {
      Rows rows = rows_of(TYPE_HINGE, frame, q);
      assert_below(d3_distance(d3_from_vec3(rows.n[0]), g[0]), 1e-5 * d3_dot(g[0], g[0]));
    }
    gradients(universal_coordinates, axes, exact, g);
    if (fabs(d4_rotate(exact, ey).x) < 0.95) {
      Rows rows = rows_of(TYPE_UNIVERSAL, frame, q);
      assert_below(d3_distance(d3_from_vec3(rows.n[0]), g[0]), 1e-5 * d3_dot(g[0], g[0]));
      assert_below(d3_distance(d3_from_vec3(rows.n[1]), g[1]), 1e-5 * d3_dot(g[1], g[1]));
    }
  }
}

// Error beyond a range from -0.2 to 0.6. It is reduced where the reference axes of an angle are
// within 30 degrees of the pose at which the angle is undefined.
static double beyond_range(double angle, double sine)
{
  double near = 0.2 + remainder(angle - 0.2, 2.0 * pi);
  return fmin(1.0, 2.0 * sine) * (near - fmax(-0.2, fmin(near, 0.6)));
}

static void hinge_beyond_range(d4 q, double x[3])
{
  double half_swing = sqrt(q.x * q.x + q.w * q.w);
  hinge_coordinates(q, x);
  x[0] = beyond_range(x[0], half_swing);
}

static void universal_beyond_range(d4 q, double x[3])
{
  double sine = d3_length(d3_cross(d4_rotate(q, ey), ex));
  universal_coordinates(q, x);
  x[0] = beyond_range(x[0], sine);
  x[1] = beyond_range(x[1], sine);
}

static void generic_beyond_range(d4 q, double x[3])
{
  d4_rotation_vector(q, x);
  double turn = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  double share = fmax(0.0, (turn - 2.9) / (pi - 2.9));
  for (int i = 0; i < 3; ++i) { // the range about zero is from -0.4 to 0.4
    double one_way = x[i] - fmax(-0.2, fmin(x[i], 0.6));
    double both_ways = x[i] - fmax(-0.4, fmin(x[i], 0.4));
    x[i] = one_way + share * (both_ways - one_way);
  }
}

static void assert_row_beyond_range(Rows rows, int i, double beyond, d3 gradient)
{
  double x = (double)rows.x[i];
  if (beyond != 0.0) {
    assert_close(x - fmax(-0.2, fmin(x, 0.6)), beyond, 2e-5);
    assert_below(d3_distance(d3_from_vec3(rows.n[i]), gradient),
                 1e-4 * (1.0 + d3_dot(gradient, gradient)));
  }
}

// The force of a soft limit is the derivative of its energy, down to the pose where the axes
// coincide and the angle is undefined; there both are zero.
static void angles_beyond_a_range_change_along_their_rows(void **state)
{
  (void)state;
  uint32_t random = 23;
  int faded = 0;
  for (int i = 0; i < 5000; ++i) {
    Q q = random_turn(&random, pi);
    Q frame = random_q(&random);
    d4 exact = d4_unit(d4_of(q)), axes = d4_unit(d4_of(frame));
    d3 g[3];
    double x[3];
    double half_swing = sqrt(exact.x * exact.x + exact.w * exact.w);
    if (half_swing > 0.06 && fabs(half_swing - 0.5) > 1e-3) {
      gradients(hinge_beyond_range, axes, exact, g);
      hinge_beyond_range(exact, x);
      assert_row_beyond_range(rows_between(TYPE_HINGE, frame, q, -0.2f, 0.6f), 0, x[0], g[0]);
      faded += half_swing < 0.5;
    }
    double sine = d3_length(d3_cross(d4_rotate(exact, ey), ex));
    if (sine > 0.06 && fabs(sine - 0.5) > 1e-3) {
      gradients(universal_beyond_range, axes, exact, g);
      universal_beyond_range(exact, x);
      for (int k = 0; k < 2; ++k) {
        assert_row_beyond_range(rows_between(TYPE_UNIVERSAL, frame, q, -0.2f, 0.6f), k, x[k], g[k]);
      }
      faded += sine < 0.5;
    }
    double turn = 2.0 * acos(fmin(1.0, fabs(exact.w)));
    if (turn < pi - 1e-3 && fabs(turn - 2.9) > 1e-3) {
      gradients(generic_beyond_range, axes, exact, g);
      generic_beyond_range(exact, x);
      for (int k = 0; k < 3; ++k) {
        assert_row_beyond_range(rows_between(TYPE_GENERIC, frame, q, -0.2f, 0.6f), k, x[k], g[k]);
      }
      faded += turn > 2.9;
    }
  }
  assert_true(faded > 1000);
}

// Error of a fixed joint and its direction: eq. 19, by the shorter rotation.
static void fixed_rows_are_the_small_rotation_vector(void **state)
{
  (void)state;
  uint32_t random = 6;
  for (int i = 0; i < 1000; ++i) {
    Q q = random_turn(&random, 0.01);
    if (i % 2 == 0) {
      q = (Q){-q.x, -q.y, -q.z, -q.w};
    }
    Q frame = random_q(&random);
    Rows rows = {0};
    fixed_rows(frame, q, &rows);
    double x[3];
    d4_rotation_vector(d4_unit(d4_of(q)), x);
    d3 world = d4_rotate(d4_of(frame), (d3){x[0], x[1], x[2]});
    d3 e = {(double)rows.x[0], (double)rows.x[1], (double)rows.x[2]};
    assert_below(d3_distance(e, world), 1e-7); // third order of 0.01, and rounding
  }
}

static void a_range_may_reach_across_a_half_turn(void **state)
{
  (void)state;
  for (int i = 2; i < 122; ++i) {
    RowParams params = {0};
    params.middle[0] = 3.0f; // of a range such as 2.5 .. 3.5
    double angle = 0.05 * i;
    Rows rows = {0};
    Q one = {0.0f, 0.0f, 0.0f, 1.0f};
    hinge_rows(one, q_of(d4_turn(d3_scale(angle, ex))), &params, &rows);
    assert_close(rows.x[0], angle, 2e-6);
    params.lo[0] = 2.5f;
    params.hi[0] = 3.5f;
    swing_twist_rows(one, q_of(d4_turn(d3_scale(angle, ex))), &params, &rows);
    assert_close(rows.x[0], angle, 2e-6);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(twist_and_swing_are_those_of_the_decomposition),
      cmocka_unit_test(twist_is_that_of_the_projections_up_to_their_foreshortening),
      cmocka_unit_test(swings_change_along_their_rows),
      cmocka_unit_test(a_turn_along_the_row_leads_to_a_locked_twist),
      cmocka_unit_test(generic_rows_are_the_gradient_of_the_rotation_vector),
      cmocka_unit_test(hinge_rows_are_gradients),
      cmocka_unit_test(universal_rows_are_gradients),
      cmocka_unit_test(angles_change_along_their_rows_anywhere),
      cmocka_unit_test(angles_beyond_a_range_change_along_their_rows),
      cmocka_unit_test(fixed_rows_are_the_small_rotation_vector),
      cmocka_unit_test(a_range_may_reach_across_a_half_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
