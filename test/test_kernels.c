// The kernels, one lane at a time, against the laws they stand for, taken in double.
#include "doubles.h"
#include "support.h"

#include "kernel/integrate.h"
#include "kernel/joint.h"

static const double pi = 3.14159265358979323846;

// ---------------------------------------------------------------------------------------------
// Double counterparts

static d3 d3_of(V v)
{
  return (d3){(double)v.x, (double)v.y, (double)v.z};
}

static d4 d4_of(Q q)
{
  return (d4){(double)q.x, (double)q.y, (double)q.z, (double)q.w};
}

static Q q_of(d4 d)
{
  Q q = {(float)d.x, (float)d.y, (float)d.z, (float)d.w};
  return q;
}

static const d3 ex = {1.0, 0.0, 0.0};
static const d3 ey = {0.0, 1.0, 0.0};

static V random_v(uint32_t *random, float size)
{
  tn_vec3 v = test_vector(random, size);
  return v_make(v.x, v.y, v.z);
}

static Q random_q(uint32_t *random)
{
  tn_quat q = test_rotation(random);
  Q r = {q.x, q.y, q.z, q.w};
  return r;
}

static d3 random_direction(uint32_t *random)
{
  d3 v;
  do {
    v = d3_of(random_v(random, 1.0f));
  } while (d3_length(v) > 1.0 || d3_length(v) < 0.1);
  return d3_unit(v);
}

// A rotation by an angle evenly spread up to `most`.
static Q random_turn(uint32_t *random, double most)
{
  d3 axis = random_direction(random);
  return q_of(d4_turn(d3_scale(most * (double)test_random(random), axis)));
}

static S random_inertia(uint32_t *random)
{
  V d = v_make(test_between(random, 0.2f, 5.0f), test_between(random, 0.2f, 5.0f),
               test_between(random, 0.2f, 5.0f));
  return s_rotated_diagonal(random_q(random), d);
}

static d3 s_times(S s, d3 v)
{
  d3 r = {(double)s.xx * v.x + (double)s.xy * v.y + (double)s.xz * v.z,
          (double)s.xy * v.x + (double)s.yy * v.y + (double)s.yz * v.z,
          (double)s.xz * v.x + (double)s.yz * v.y + (double)s.zz * v.z};
  return r;
}

// a x = b by Cramer's rule, for the rows and columns in `mask`; 0 elsewhere.
static double determinant(double a[3][3])
{
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

static d3 solve_masked(S s, double alpha, const int mask[3], const double b[3])
{
  double k[3][3] = {{(double)s.xx, (double)s.xy, (double)s.xz},
                    {(double)s.xy, (double)s.yy, (double)s.yz},
                    {(double)s.xz, (double)s.yz, (double)s.zz}};
  double right[3];
  for (int i = 0; i < 3; ++i) {
    k[i][i] += alpha;
    right[i] = mask[i] ? b[i] : 0.0;
    for (int j = 0; j < 3; ++j) {
      if (!mask[i] || !mask[j]) {
        k[i][j] = i == j;
      }
    }
  }
  double x[3];
  for (int column = 0; column < 3; ++column) {
    double c[3][3];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        c[i][j] = j == column ? right[i] : k[i][j];
      }
    }
    x[column] = determinant(c) / determinant(k);
  }
  d3 r = {x[0], x[1], x[2]};
  return r;
}

static d3 inverse_times(S s, d3 v)
{
  const int all[3] = {1, 1, 1};
  const double b[3] = {v.x, v.y, v.z};
  return solve_masked(s, 0.0, all, b);
}

// ---------------------------------------------------------------------------------------------
// Rows of angles. The coordinates again, in double and in A's axes.

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

static void rotation_vector(d4 q, double x[3])
{
  double sign = q.w < 0.0 ? -1.0 : 1.0;
  double sine = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
  double angle = 2.0 * atan2(sine, sign * q.w);
  double s = sine > 1e-9 ? sign * angle / sine : 2.0 * sign;
  x[0] = s * q.x;
  x[1] = s * q.y;
  x[2] = s * q.z;
}

typedef void coordinates_fn(d4 q, double x[3]);

// How each coordinate changes when B turns in the world, by central differences.
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
  return rows_between(type, frame, q, -OPEN_END, OPEN_END);
}

static void twist_and_swing_are_those_of_the_decomposition(void **state)
{
  (void)state;
  uint32_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    double around = 2.0 * pi * (double)test_random(&random);
    double swing = 3.0 * (double)test_random(&random); // at a half turn there is no twist
    double twist = (double)test_between(&random, -3.14f, 3.14f);
    d3 across = {0.0, cos(around), sin(around)};
    d4 q = d4_mul(d4_turn(d3_scale(swing, across)), d4_turn(d3_scale(twist, ex)));
    Rows rows = rows_of(TYPE_BALL, random_q(&random), q_of(q));
    double c = cos(0.5 * swing);
    assert_close(rows.x[0], twist, 1e-6 / c);
    assert_close(rows.x[1], swing, 1e-6);
  }
}

// Mueller et al. project b1 and b2 (eq. 22-24). Seen in that plane both axes lean towards the axis
// of the swing as cos(swing / 2) shortens what lies across it, and that is the whole difference:
// at most asin((1 - c) / (1 + c)) for each, none without twist.
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

// The twist changes fastest along the paper's n = a1 + a2, but by 1 / cos(swing / 2) as fast as the
// body turns: a unit vector would correct twice too much at a swing of 120 degrees.
static void twist_and_swing_change_along_their_rows(void **state)
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
    assert_below(d3_distance(d3_of(rows.n[0]), g[0]), 1e-5 * d3_dot(g[0], g[0]));
    assert_below(d3_distance(d3_of(rows.n[1]), g[1]), 1e-5 / sin(x[1]));
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
    rotation_vector(exact, x);
    gradients(rotation_vector, d4_unit(d4_of(frame)), exact, g);
    Rows rows = rows_of(TYPE_GENERIC, frame, q);
    for (int k = 0; k < 3; ++k) {
      assert_close(rows.x[k], x[k], 2e-6);
      assert_below(d3_distance(d3_of(rows.n[k]), g[k]), 5e-6);
    }
  }
}

// Where a joint allows a pose its rows are exact, and next to that to first order of the error.
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
      assert_below(d3_distance(d3_of(rows.n[k]), g[k]), 2e-6 + 2.0 * errors[i]);
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

// However far axes have come apart, angles that limits act on change along their rows: else a soft
// limit would give more than it takes.
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
      assert_below(d3_distance(d3_of(rows.n[0]), g[0]), 1e-5 * d3_dot(g[0], g[0]));
    }
    gradients(universal_coordinates, axes, exact, g);
    if (fabs(d4_rotate(exact, ey).x) < 0.95) {
      Rows rows = rows_of(TYPE_UNIVERSAL, frame, q);
      assert_below(d3_distance(d3_of(rows.n[0]), g[0]), 1e-5 * d3_dot(g[0], g[0]));
      assert_below(d3_distance(d3_of(rows.n[1]), g[1]), 1e-5 * d3_dot(g[1], g[1]));
    }
  }
}

// Beyond a range from -0.2 to 0.6, and less so where the axes an angle is measured from lie within
// 30 degrees of where there is no angle.
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
  rotation_vector(q, x);
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
    assert_below(d3_distance(d3_of(rows.n[i]), gradient),
                 1e-4 * (1.0 + d3_dot(gradient, gradient)));
  }
}

// What presses against an end of a range is what its energy changes by, down to where the axes meet
// and there is no angle; and there nothing is left of it.
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

// Two rows of a fixed joint's error and its direction: eq. 19 with the shorter way round.
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
    rotation_vector(d4_unit(d4_of(q)), x);
    d3 world = d4_rotate(d4_of(frame), (d3){x[0], x[1], x[2]});
    d3 e = {(double)rows.x[0], (double)rows.x[1], (double)rows.x[2]};
    assert_below(d3_distance(e, world), 1e-7); // the cube of 0.01, and rounding
  }
}

static void a_range_may_reach_across_a_half_turn(void **state)
{
  (void)state;
  RowParams params = {0};
  params.middle[0] = 3.0f; // of a range such as 2.5 .. 3.5
  for (int i = 2; i < 122; ++i) {
    double angle = 0.05 * i;
    Rows rows = {0};
    Q one = {0.0f, 0.0f, 0.0f, 1.0f};
    hinge_rows(one, q_of(d4_turn(d3_scale(angle, ex))), &params, &rows);
    assert_close(rows.x[0], angle, 2e-6);
    swing_twist_rows(one, q_of(d4_turn(d3_scale(angle, ex))), &params, &rows);
    assert_close(rows.x[0], angle, 2e-6);
  }
}

// ---------------------------------------------------------------------------------------------
// Masses and impulses

static Body random_body(uint32_t *random)
{
  Body b = {0};
  b.v = random_v(random, 1.0f);
  b.w = random_v(random, 1.0f);
  b.im = test_between(random, 0.1f, 10.0f);
  b.ii = random_inertia(random);
  b.dq.w = 1.0f;
  return b;
}

static void lever_mass_is_the_product_itself(void **state)
{
  (void)state;
  uint32_t random = 7;
  for (int i = 0; i < 5000; ++i) {
    S inertia = random_inertia(&random);
    V r = random_v(&random, 2.0f);
    S k = lever_inverse_mass(inertia, r);
    d3 n = random_direction(&random);
    d3 m = random_direction(&random);
    // n . K m for any pair of directions, so every entry of K is right.
    double direct = d3_dot(d3_cross(d3_of(r), n), s_times(inertia, d3_cross(d3_of(r), m)));
    double size = 5.0 * d3_dot(d3_of(r), d3_of(r));
    assert_close(d3_dot(n, s_times(k, m)), direct, 2e-6 * size);
  }
}

static void impulses_change_the_relative_velocity_by_the_inverse_mass(void **state)
{
  (void)state;
  uint32_t random = 8;
  for (int i = 0; i < 1000; ++i) {
    Body a = random_body(&random);
    Body b = random_body(&random);
    V ra = random_v(&random, 1.0f);
    V rb = random_v(&random, 1.0f);
    V p = random_v(&random, 1.0f);
    d3 before = d3_of(relative_velocity(&a, &b, ra, rb));
    S k = linear_inverse_mass(&a, &b, ra, rb);
    d3 expected = d3_add(before, s_times(k, d3_of(p)));
    apply_linear(&a, &b, ra, rb, p, FORM_VELOCITY, 0.1f);
    assert_below(d3_distance(d3_of(relative_velocity(&a, &b, ra, rb)), expected), 4e-5);
    before = d3_of(relative_spin(&a, &b));
    expected = d3_add(before, s_times(angular_inverse_mass(&a, &b), d3_of(p)));
    apply_angular(&a, &b, p, FORM_VELOCITY, 0.1f);
    assert_below(d3_distance(d3_of(relative_spin(&a, &b)), expected), 2e-5);
  }
}

static void impulses_keep_both_momenta(void **state)
{
  (void)state;
  uint32_t random = 9;
  for (int i = 0; i < 1000; ++i) {
    Body a = random_body(&random);
    Body b = random_body(&random);
    Body old_a = a;
    Body old_b = b;
    // Both levers end in the same point of the world.
    d3 at_a = d3_of(random_v(&random, 1.0f));
    V ra = random_v(&random, 1.0f);
    V rb = random_v(&random, 1.0f);
    d3 at_b = d3_sub(d3_add(at_a, d3_of(ra)), d3_of(rb));
    V p = random_v(&random, 1.0f);
    apply_linear(&a, &b, ra, rb, p, FORM_VELOCITY, 0.1f);
    apply_angular(&a, &b, random_v(&random, 1.0f), FORM_VELOCITY, 0.1f);
    d3 pa = d3_scale(1.0 / (double)a.im, d3_sub(d3_of(a.v), d3_of(old_a.v)));
    d3 pb = d3_scale(1.0 / (double)b.im, d3_sub(d3_of(b.v), d3_of(old_b.v)));
    d3 la = inverse_times(a.ii, d3_sub(d3_of(a.w), d3_of(old_a.w)));
    d3 lb = inverse_times(b.ii, d3_sub(d3_of(b.w), d3_of(old_b.w)));
    // Velocities up to 10 and 25 are rounded to 24 bits and weighed by up to 10 and 5.
    assert_below(d3_length(d3_add(pa, pb)), 1e-5);
    d3 angular = d3_add(d3_add(la, lb), d3_add(d3_cross(at_a, pa), d3_cross(at_b, pb)));
    assert_below(d3_length(angular), 5e-5);
  }
}

static void corrections_move_by_h_times_the_impulse(void **state)
{
  (void)state;
  uint32_t random = 10;
  for (int i = 0; i < 1000; ++i) {
    float h = 0.01f;
    Body a = random_body(&random);
    Body b = random_body(&random);
    Body old = b;
    V rb = random_v(&random, 0.1f);
    apply_linear(&a, &b, random_v(&random, 0.1f), rb, random_v(&random, 0.1f), FORM_POSITION, h);
    d3 dv = d3_sub(d3_of(b.v), d3_of(old.v));
    d3 dw = d3_sub(d3_of(b.w), d3_of(old.w));
    assert_below(d3_distance(d3_of(b.dx), d3_scale((double)h, dv)), 1e-8);
    double x[3];
    rotation_vector(d4_of(b.dq), x);
    d3 turned = {x[0], x[1], x[2]};
    assert_below(d3_distance(turned, d3_scale((double)h, dw)), 1e-8);
  }
}

static const BlockKind fixed_kind = {3, 1, 0, 0, 0};
static const BlockKind slide_kind = {3, 0, 1, 0, 0};
static const BlockKind universal_kind = {3, 0, 2, 0, 1};
static const BlockKind mixed_kind = {3, 0, 0, 1, 1};

static void assert_solves(BlockKind kind, const int mask[3], S k, float alpha, uint32_t *random)
{
  RowParams params = {0};
  for (int i = 0; i < 3; ++i) {
    params.lo[i] = mask[i] ? 0.5f : -0.5f;
    params.hi[i] = 0.5f;
  }
  Factor f = factorize(kind, &params, k, alpha);
  R c[3];
  double b[3];
  for (int i = 0; i < 3; ++i) {
    c[i] = mask[i] ? test_between(random, -1.0f, 1.0f) : 0.0f;
    b[i] = (double)c[i];
  }
  d3 exact = solve_masked(k, (double)alpha, mask, b);
  solve_locked(kind, &f, c);
  d3 got = {(double)c[0], (double)c[1], (double)c[2]};
  // Condition numbers here stay below 200.
  assert_below(d3_distance(got, exact), 200.0 * 1e-6 * (d3_length(exact) + 1e-3));
}

static void locked_rows_are_solved_together(void **state)
{
  (void)state;
  const int all[3] = {1, 1, 1};
  const int last_two[3] = {0, 1, 1};
  const int last[3] = {0, 0, 1};
  uint32_t random = 11;
  for (int i = 0; i < 2000; ++i) {
    Body a = random_body(&random);
    Body b = random_body(&random);
    S k = linear_inverse_mass(&a, &b, random_v(&random, 1.0f), random_v(&random, 1.0f));
    const float alphas[3] = {0.0f, 0.1f, 10.0f};
    float alpha = alphas[i % 3];
    assert_solves(fixed_kind, all, k, alpha, &random);
    assert_solves(slide_kind, last_two, k, alpha, &random);
    assert_solves(universal_kind, last, k, alpha, &random);
    for (int bits = 0; bits < 8; ++bits) {
      const int mask[3] = {bits & 1, bits >> 1 & 1, bits >> 2 & 1};
      assert_solves(mixed_kind, mask, k, alpha, &random);
    }
  }
}

// Two bodies that cannot move along an axis: nothing is asked of it, and nothing blows up.
static void what_cannot_move_takes_no_share(void **state)
{
  (void)state;
  S k = {2.0f, 0.0f, 2.0f, 0.0f, 1.0f, 0.0f};
  RowParams params = {0};
  Factor f = factorize(fixed_kind, &params, k, 0.0f);
  R c[3] = {1.0f, 1.0f, 1.0f};
  solve_locked(fixed_kind, &f, c);
  assert_true(c[1] == 0.0f);
  assert_close(2.0 * (double)c[0] + (double)c[2], 1.0, 1e-6);
  assert_close((double)c[0] + 2.0 * (double)c[2], 1.0, 1e-6);
  S none = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  f = factorize(fixed_kind, &params, none, 0.0f);
  R d[3] = {1.0f, -1.0f, 1e30f};
  solve_locked(fixed_kind, &f, d);
  assert_true(d[0] == 0.0f && d[1] == 0.0f && d[2] == 0.0f);
}

// ---------------------------------------------------------------------------------------------
// Random violations: what the rows of a joint ask for is what solving them gives

typedef struct pair {
  JointType type;
  JointStart start;
  Body a, b;
  RowParams params[2]; // linear, angular
  RowState state[2];
} pair;

static Pass test_pass(Form form)
{
  float h = 0.01f;
  Pass pass = {0};
  pass.h = h;
  pass.inv_h = 1.0f / h;
  pass.inv_h2 = 1.0f / (h * h);
  pass.time = h;
  pass.push = pass.turn = 1e6f;
  pass.form = form;
  return pass;
}

static BlockKind kind_of(const pair *p, int angular)
{
  return angular ? angular_kind(p->type) : linear_kind(p->type);
}

static Rows state_rows(const pair *p, int angular, const Pass *pass)
{
  BlockKind kind = kind_of(p, angular);
  Rows rows = {0};
  if (angular) {
    angular_rows(p->type, &p->start, &p->params[1], &p->a, &p->b, &rows);
    rows.k = angular_inverse_mass(&p->a, &p->b);
  } else {
    linear_rows(p->type, &p->start, &p->a, &p->b, &rows);
    rows.k = linear_inverse_mass(&p->a, &p->b, rows.levers.a, rows.levers.b);
  }
  rows.mass = mean_mass(rows.k);
  rows.k_rows = masses_between_rows(kind, &rows);
  rows.factor =
      factorize(kind, &p->params[angular], rows.k_rows, p->params[angular].alpha * pass->inv_h2);
  return rows;
}

static V velocity_along(const pair *p, int angular, const Rows *rows)
{
  return angular ? relative_spin(&p->a, &p->b)
                 : relative_velocity(&p->a, &p->b, rows->levers.a, rows->levers.b);
}

static void project(pair *p, int angular, const Pass *pass, const Rows *rows)
{
  BlockKind kind = kind_of(p, angular);
  if (kind.rows == 0) {
    return;
  }
  V total = v_zero();
  V u = pass->form == FORM_VELOCITY ? velocity_along(p, angular, rows) : v_zero();
  solve_positions(kind, pass, &p->params[angular], rows, angular, 0, &p->state[angular], &u,
                  &total);
  if (angular) {
    apply_angular(&p->a, &p->b, total, pass->form, pass->h);
  } else {
    apply_linear(&p->a, &p->b, rows->levers.a, rows->levers.b, total, pass->form, pass->h);
  }
}

static pair random_pair(uint32_t *random, JointType type, float compliance)
{
  pair p = {0};
  p.type = type;
  p.a = random_body(random);
  p.b = random_body(random);
  p.start.ra = random_v(random, 1.0f);
  p.start.rb = random_v(random, 1.0f);
  p.start.gap = random_v(random, 0.3f);
  p.start.frame = random_q(random);
  p.start.relative = random_turn(random, 0.5);
  for (int k = 0; k < 2; ++k) {
    p.params[k].alpha = p.params[k].alpha_limit = compliance;
    for (int i = 0; i < 3; ++i) {
      float lo = test_between(random, -0.2f, 0.1f);
      p.params[k].lo[i] = lo;
      p.params[k].hi[i] = i == 1 ? lo : lo + 0.1f; // row 1 of a generic joint is locked
    }
  }
  if (type == TYPE_BALL) {
    p.params[1].lo[1] = -OPEN_END;
    p.params[1].hi[1] = 0.2f;
  }
  if (type == TYPE_DISTANCE) {
    p.params[0].lo[0] = 0.4f;
    p.params[0].hi[0] = 0.6f;
  }
  return p;
}

// In range or at an end that pushes back, or locked: e / h + n . u + alpha lambda / h^2 = 0.
static void assert_row_satisfied(const pair *p, int angular, int i, const Rows *rows,
                                 const Pass *pass)
{
  BlockKind kind = kind_of(p, angular);
  const RowParams *params = &p->params[angular];
  double h = (double)pass->h;
  double lambda = (double)p->state[angular].lambda[i];
  double x = (double)rows->x[i];
  double speed = (double)along(kind, rows, i, velocity_along(p, angular, rows));
  double spring = (double)params->alpha * lambda / h;
  double after = x + h * speed + spring;
  const double tolerance = 2e-4;
  if (is_locked(kind, params, i)) {
    assert_close(after, kind.mixed ? (double)params->lo[i] : 0.0, tolerance);
  } else if (lambda < 0.0) {
    assert_close(after, params->hi[i], tolerance);
  } else if (lambda > 0.0) {
    assert_close(after, params->lo[i], tolerance);
  } else {
    assert_true(after <= (double)params->hi[i] + tolerance);
    assert_true(after >= (double)params->lo[i] - tolerance);
  }
}

static void random_violations_are_answered_row_by_row(void **state)
{
  (void)state;
  const float compliances[3] = {0.0f, 1e-5f, 1e-3f};
  uint32_t random = 12;
  Pass pass = test_pass(FORM_VELOCITY);
  for (int i = 0; i < 40 * TYPE_COUNT; ++i) {
    pair p = random_pair(&random, (JointType)(i % TYPE_COUNT), compliances[i / TYPE_COUNT % 3]);
    Rows rows[2] = {state_rows(&p, 0, &pass), state_rows(&p, 1, &pass)};
    for (int k = 0; k < 1000; ++k) {
      project(&p, 1, &pass, &rows[1]);
      project(&p, 0, &pass, &rows[0]);
    }
    for (int angular = 0; angular < 2; ++angular) {
      for (int row = 0; row < kind_of(&p, angular).rows; ++row) {
        assert_row_satisfied(&p, angular, row, &rows[angular], &pass);
      }
    }
  }
}

static void random_violations_are_removed(void **state)
{
  (void)state;
  uint32_t random = 13;
  Pass pass = test_pass(FORM_POSITION);
  for (int i = 0; i < 40 * TYPE_COUNT; ++i) {
    pair p = random_pair(&random, (JointType)(i % TYPE_COUNT), 0.0f);
    for (int k = 0; k < 400; ++k) {
      for (int angular = 0; angular < 2; ++angular) {
        Rows rows = state_rows(&p, angular, &pass);
        p.state[angular] = (RowState){0};
        project(&p, angular, &pass, &rows);
      }
    }
    for (int angular = 0; angular < 2; ++angular) {
      BlockKind kind = kind_of(&p, angular);
      const RowParams *params = &p.params[angular];
      Rows rows = state_rows(&p, angular, &pass);
      for (int row = 0; row < kind.rows; ++row) {
        bool locked = is_locked(kind, params, row);
        double lo = locked && !kind.mixed ? 0.0 : (double)params->lo[row];
        double hi = locked && !kind.mixed ? 0.0 : (double)params->hi[row];
        assert_true((double)rows.x[row] <= hi + 2e-5);
        assert_true((double)rows.x[row] >= lo - 2e-5);
      }
    }
  }
}

// However far it is stretched: a spring that carries e / compliance has nothing to correct.
static void springs_in_balance_stay_so(void **state)
{
  (void)state;
  uint32_t random = 20;
  for (int i = 0; i < 100 * TYPE_COUNT; ++i) {
    const float compliance = i / TYPE_COUNT % 2 ? 1e-5f : 1e-3f;
    pair p = random_pair(&random, (JointType)(i % TYPE_COUNT), compliance);
    Pass pass = test_pass(FORM_VELOCITY);
    pass.push = pass.turn = 10.0f;
    p.a.v = p.a.w = p.b.v = p.b.w = v_zero();
    for (int angular = 0; angular < 2; ++angular) {
      BlockKind kind = kind_of(&p, angular);
      const RowParams *params = &p.params[angular];
      Rows rows = state_rows(&p, angular, &pass);
      double largest = 0.0;
      for (int k = 0; k < kind.rows; ++k) {
        bool locked = is_locked(kind, params, k);
        double lo = locked && !kind.mixed ? 0.0 : (double)params->lo[k];
        double hi = locked && !kind.mixed ? 0.0 : (double)params->hi[k];
        double x = (double)rows.x[k];
        double e = x > hi ? x - hi : x < lo ? x - lo : 0.0;
        double lambda = -e * (double)pass.h / (double)compliance;
        p.state[angular].lambda[k] = (float)lambda;
        largest = fmax(largest, fabs(lambda));
      }
      project(&p, angular, &pass, &rows);
      double moved = angular ? d3_length(d3_of(p.b.w)) : d3_length(d3_of(p.b.v));
      assert_below(moved, 1e-5 * (largest * (double)mean_mass(rows.k) + 1.0));
      p.a.v = p.a.w = p.b.v = p.b.w = v_zero();
    }
  }
}

// Errors whose squares are nothing, or next to it.
static void vanishing_violations_do_no_harm(void **state)
{
  (void)state;
  uint32_t random = 19;
  for (int i = 0; i < 46 * 2 * TYPE_COUNT; ++i) {
    pair p = random_pair(&random, (JointType)(i % TYPE_COUNT), 0.0f);
    Pass pass = test_pass(i / TYPE_COUNT % 2 ? FORM_POSITION : FORM_VELOCITY);
    int exponent = i / (2 * TYPE_COUNT);
    float size = (float)pow(10.0, -exponent);
    p.a.v = p.a.w = p.b.v = p.b.w = v_zero();
    p.start.gap = v_scale(size, p.start.gap);
    d3 turn = d3_scale((double)size, random_direction(&random));
    p.start.relative = q_of(d4_turn(turn));
    for (int k = 0; k < 3; ++k) {
      p.params[0].lo[k] = p.params[0].hi[k] = p.params[1].lo[k] = p.params[1].hi[k] = 0.0f;
    }
    for (int angular = 0; angular < 2; ++angular) {
      Rows rows = state_rows(&p, angular, &pass);
      project(&p, angular, &pass, &rows);
    }
    double moved = d3_length(d3_of(p.b.v)) + d3_length(d3_of(p.b.w));
    assert_true(moved <= 1e4 * (double)size);
  }
}

// ---------------------------------------------------------------------------------------------
// Free rotation

static Spin make_spin(d3 moments, V momentum, Q start)
{
  Spin spin = {0};
  spin.momentum = momentum;
  spin.inertia = v_make((float)moments.x, (float)moments.y, (float)moments.z);
  spin.inverse =
      v_make((float)(1.0 / moments.x), (float)(1.0 / moments.y), (float)(1.0 / moments.z));
  spin.start = start;
  return spin;
}

static d4 turned_freely(const Spin *spin, float h)
{
  Q body_turn;
  Q world_turn = free_rotation(spin, q_unrotate(spin->start, spin->momentum), h, &body_turn);
  return d4_mul(d4_mul(d4_of(world_turn), d4_of(spin->start)), d4_of(body_turn));
}

// Two equal moments: a steady turn about the momentum and one about the body's axis of symmetry.
static void symmetric_tops_turn_exactly(void **state)
{
  (void)state;
  uint32_t random = 14;
  for (int i = 0; i < 2000; ++i) {
    bool flat = i % 2 == 0; // the axis of symmetry has the largest moment
    double one = (double)test_between(&random, 0.5f, 2.0f);
    double two = (double)test_between(&random, flat ? 2.0f : 0.25f, flat ? 4.0f : 0.5f);
    d3 moments = flat ? (d3){one, one, two} : (d3){two, one, one};
    Q start = random_q(&random);
    Spin spin = make_spin(moments, random_v(&random, 4.0f), start);
    float h = test_between(&random, 0.001f, 1.0f);
    d3 l = d3_of(spin.momentum);
    d3 axis = {flat ? 0.0 : 1.0, 0.0, flat ? 1.0 : 0.0};
    double along_axis = d3_dot(d4_rotate(d4_conjugate(d4_of(start)), l), axis);
    d4 about_l = d4_turn(d3_scale((double)h / one, l));
    d4 about_axis = d4_turn(d3_scale((double)h * (1.0 / two - 1.0 / one) * along_axis, axis));
    d4 exact = d4_mul(d4_mul(about_l, d4_of(start)), about_axis);
    assert_below(d4_angle(turned_freely(&spin, h), exact), 5e-6);
  }
}

static double spin_energy(const Spin *spin, d4 q)
{
  d3 l = d4_rotate(d4_conjugate(d4_unit(q)), d3_of(spin->momentum));
  return 0.5 * (l.x * l.x * (double)spin->inverse.x + l.y * l.y * (double)spin->inverse.y +
                l.z * l.z * (double)spin->inverse.z);
}

// Halving h divides the energy's error in one turn by eight, as for any scheme of second order;
// in double the errors stand clear of rounding.
static void one_turn_is_of_second_order(void **state)
{
  (void)state;
  uint32_t random = 15;
  double sum[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < 200; ++i) {
    Spin spin = make_spin((d3){1.0, 1.6, 2.3}, random_v(&random, 1.0f), random_q(&random));
    for (int k = 0; k < 3; ++k) {
      float h = 0.8f / (float)(1 << k);
      sum[k] +=
          fabs(spin_energy(&spin, turned_freely(&spin, h)) - spin_energy(&spin, d4_of(spin.start)));
    }
  }
  assert_close(sum[0] / sum[1], 8.0, 1.6);
  assert_close(sum[1] / sum[2], 8.0, 1.6);
}

// Every eighth drift is a step's last: its turn goes into a pose in double, as in body.c.
static void free_drift(Body *body, Spin *spin, d4 *pose, int i)
{
  drift(body, spin, 1.0f, 0.05f);
  if (i % 8 == 7) {
    *pose = d4_unit(d4_mul(d4_of(body->dq), *pose));
    spin->start = q_of(*pose);
    body->dq = (Q){0.0f, 0.0f, 0.0f, 1.0f};
  }
}

static void drift_keeps_momentum_to_the_bit_and_energy_for_ever(void **state)
{
  (void)state;
  uint32_t random = 16;
  for (int i = 0; i < 10; ++i) {
    Spin spin = make_spin((d3){1.0, 1.6, 2.3}, random_v(&random, 3.0f), random_q(&random));
    V momentum = spin.momentum;
    Body body = {0};
    body.dq.w = 1.0f;
    body.w = q_rotate(spin.start, v_mul(spin.inverse, q_unrotate(spin.start, spin.momentum)));
    spin.last = body.w;
    d4 pose = d4_unit(d4_of(spin.start));
    double first = spin_energy(&spin, pose);
    double worst[2] = {0.0, 0.0}; // of the first and of the last tenth
    const int steps = 50000;
    for (int k = 0; k < steps; ++k) {
      free_drift(&body, &spin, &pose, k);
      double e = spin_energy(&spin, d4_of(q_mul(body.dq, spin.start)));
      double own = 0.5 * d3_dot(d3_of(body.w), d3_of(spin.momentum));
      assert_close(own, e, 4e-6 * first); // some forty roundings
      int part = k < steps / 10 ? 0 : k >= steps - steps / 10 ? 1 : -1;
      if (part >= 0) {
        worst[part] = fmax(worst[part], fabs(e / first - 1.0));
      }
    }
    assert_true(spin.momentum.x == momentum.x && spin.momentum.y == momentum.y &&
                spin.momentum.z == momentum.z);
    // It swings and does not grow, but for the pose's rounding, a random walk of 2e-7 a turn.
    assert_below(worst[0], 1e-3);
    assert_below(worst[1], worst[0] + 2e-7 * sqrt(steps));
  }
}

static void limits_of_speed_keep_the_direction(void **state)
{
  (void)state;
  uint32_t random = 17;
  const float sizes[6] = {1e-20f, 1e-3f, 1.0f, 1e6f, 1e18f, 1e30f};
  for (int i = 0; i < 600; ++i) {
    V v = random_v(&random, sizes[i % 6]);
    V cut = limited(v, 1.0f);
    double length = d3_length(d3_of(v));
    double expected = length > 1.0 ? 1.0 : length;
    assert_close(d3_length(d3_of(cut)), expected, 1e-6 * expected);
    assert_below(d3_length(d3_cross(d3_of(cut), d3_unit(d3_of(v)))), 1e-6 * expected);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(twist_and_swing_are_those_of_the_decomposition),
      cmocka_unit_test(twist_is_that_of_the_projections_up_to_their_foreshortening),
      cmocka_unit_test(twist_and_swing_change_along_their_rows),
      cmocka_unit_test(generic_rows_are_the_gradient_of_the_rotation_vector),
      cmocka_unit_test(hinge_rows_are_gradients),
      cmocka_unit_test(universal_rows_are_gradients),
      cmocka_unit_test(angles_change_along_their_rows_anywhere),
      cmocka_unit_test(angles_beyond_a_range_change_along_their_rows),
      cmocka_unit_test(fixed_rows_are_the_small_rotation_vector),
      cmocka_unit_test(a_range_may_reach_across_a_half_turn),
      cmocka_unit_test(lever_mass_is_the_product_itself),
      cmocka_unit_test(impulses_change_the_relative_velocity_by_the_inverse_mass),
      cmocka_unit_test(impulses_keep_both_momenta),
      cmocka_unit_test(corrections_move_by_h_times_the_impulse),
      cmocka_unit_test(locked_rows_are_solved_together),
      cmocka_unit_test(what_cannot_move_takes_no_share),
      cmocka_unit_test(random_violations_are_answered_row_by_row),
      cmocka_unit_test(random_violations_are_removed),
      cmocka_unit_test(springs_in_balance_stay_so),
      cmocka_unit_test(vanishing_violations_do_no_harm),
      cmocka_unit_test(symmetric_tops_turn_exactly),
      cmocka_unit_test(one_turn_is_of_second_order),
      cmocka_unit_test(drift_keeps_momentum_to_the_bit_and_energy_for_ever),
      cmocka_unit_test(limits_of_speed_keep_the_direction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
