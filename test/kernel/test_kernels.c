// The kernels with one lane, against the laws of mechanics in double.
#include "kernel_support.h"

#include "kernel/integrate.h"

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
    // Checks n . K m for random directions n and m, hence every entry of K.
    double direct =
        d3_dot(d3_cross(d3_from_vec3(r), n), s_times(inertia, d3_cross(d3_from_vec3(r), m)));
    double size = 5.0 * d3_dot(d3_from_vec3(r), d3_from_vec3(r));
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
    d3 before = d3_from_vec3(relative_velocity(&a, &b, ra, rb));
    S k = linear_inverse_mass(&a, &b, ra, rb);
    d3 expected = d3_add(before, s_times(k, d3_from_vec3(p)));
    apply_linear(&a, &b, ra, rb, p, FORM_VELOCITY, 0.1f);
    assert_below(d3_distance(d3_from_vec3(relative_velocity(&a, &b, ra, rb)), expected), 4e-5);
    before = d3_from_vec3(relative_spin(&a, &b));
    expected = d3_add(before, s_times(angular_inverse_mass(&a, &b), d3_from_vec3(p)));
    apply_angular(&a, &b, p, FORM_VELOCITY, 0.1f);
    assert_below(d3_distance(d3_from_vec3(relative_spin(&a, &b)), expected), 2e-5);
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
    // Both lever arms end at the same point of the world.
    d3 at_a = d3_from_vec3(random_v(&random, 1.0f));
    V ra = random_v(&random, 1.0f);
    V rb = random_v(&random, 1.0f);
    d3 at_b = d3_sub(d3_add(at_a, d3_from_vec3(ra)), d3_from_vec3(rb));
    V p = random_v(&random, 1.0f);
    apply_linear(&a, &b, ra, rb, p, FORM_VELOCITY, 0.1f);
    apply_angular(&a, &b, random_v(&random, 1.0f), FORM_VELOCITY, 0.1f);
    d3 pa = d3_scale(1.0 / (double)a.im, d3_sub(d3_from_vec3(a.v), d3_from_vec3(old_a.v)));
    d3 pb = d3_scale(1.0 / (double)b.im, d3_sub(d3_from_vec3(b.v), d3_from_vec3(old_b.v)));
    d3 la = inverse_times(a.ii, d3_sub(d3_from_vec3(a.w), d3_from_vec3(old_a.w)));
    d3 lb = inverse_times(b.ii, d3_sub(d3_from_vec3(b.w), d3_from_vec3(old_b.w)));
    // Tolerance: velocities up to 10 and 25 are rounded to 24 bits and weighted by up to 10 and 5.
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
    d3 dv = d3_sub(d3_from_vec3(b.v), d3_from_vec3(old.v));
    d3 dw = d3_sub(d3_from_vec3(b.w), d3_from_vec3(old.w));
    assert_below(d3_distance(d3_from_vec3(b.dx), d3_scale((double)h, dv)), 1e-8);
    double x[3];
    d4_rotation_vector(d4_of(b.dq), x);
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
  // The condition numbers of these cases are below 200.
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

// If neither body can move along an axis, the impulse along it is zero and everything stays finite.
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
// Random errors: solving the rows of a joint must give the requested change

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
  pass.max_linear_bias = pass.max_angular_bias = 1e6f;
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
  rows.k_mean = mean_inverse_mass(rows.k);
  rows.k_rows = row_inverse_masses(kind, &rows);
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
  solve_positions(kind, pass, &p->params[angular], rows, angular, &p->state[angular], &u, &total);
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
    p.params[1].lo[1] = -UNLIMITED;
    p.params[1].hi[1] = 0.2f;
  }
  if (type == TYPE_DISTANCE) {
    p.params[0].lo[0] = 0.4f;
    p.params[0].hi[0] = 0.6f;
  }
  return p;
}

// Residual of a row that is in range, at a limit that pushes back, or locked: e / h + n . u + alpha
// lambda / h^2 = 0.
static void assert_row_satisfied(const pair *p, int angular, int i, const Rows *rows,
                                 const Pass *pass)
{
  BlockKind kind = kind_of(p, angular);
  const RowParams *params = &p->params[angular];
  double h = (double)pass->h;
  double lambda = (double)p->state[angular].lambda[i];
  double x = (double)rows->x[i];
  double speed = (double)row_component(kind, rows, i, velocity_along(p, angular, rows));
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

// A spring at any elongation e whose impulse matches e / compliance gets no correction.
static void springs_in_balance_stay_so(void **state)
{
  (void)state;
  uint32_t random = 20;
  for (int i = 0; i < 100 * TYPE_COUNT; ++i) {
    const float compliance = i / TYPE_COUNT % 2 ? 1e-5f : 1e-3f;
    pair p = random_pair(&random, (JointType)(i % TYPE_COUNT), compliance);
    Pass pass = test_pass(FORM_VELOCITY);
    pass.max_linear_bias = pass.max_angular_bias = 10.0f;
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
      double moved = angular ? d3_length(d3_from_vec3(p.b.w)) : d3_length(d3_from_vec3(p.b.v));
      assert_below(moved, 1e-5 * (largest * (double)mean_inverse_mass(rows.k) + 1.0));
      p.a.v = p.a.w = p.b.v = p.b.w = v_zero();
    }
  }
}

// Errors whose squares underflow to zero or to denormals.
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
    double moved = d3_length(d3_from_vec3(p.b.v)) + d3_length(d3_from_vec3(p.b.w));
    assert_true(moved <= 1e4 * (double)size);
  }
}

// ---------------------------------------------------------------------------------------------
// Free rotation

static AngularState make_spin(d3 moments, V momentum, Q start)
{
  AngularState spin = {0};
  spin.momentum = momentum;
  spin.inertia = v_make((float)moments.x, (float)moments.y, (float)moments.z);
  spin.inverse =
      v_make((float)(1.0 / moments.x), (float)(1.0 / moments.y), (float)(1.0 / moments.z));
  spin.start = start;
  return spin;
}

static d4 turned_freely(const AngularState *spin, float h)
{
  Q body_turn;
  Q world_turn = free_rotation(spin, q_unrotate(spin->start, spin->momentum), h, &body_turn);
  return d4_mul(d4_mul(d4_of(world_turn), d4_of(spin->start)), d4_of(body_turn));
}

// Two equal moments of inertia: steady precession about the angular momentum plus spin about the
// axis of symmetry.
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
    AngularState spin = make_spin(moments, random_v(&random, 4.0f), start);
    float h = test_between(&random, 0.001f, 1.0f);
    d3 l = d3_from_vec3(spin.momentum);
    d3 axis = {flat ? 0.0 : 1.0, 0.0, flat ? 1.0 : 0.0};
    double along_axis = d3_dot(d4_rotate(d4_conjugate(d4_of(start)), l), axis);
    d4 about_l = d4_turn(d3_scale((double)h / one, l));
    d4 about_axis = d4_turn(d3_scale((double)h * (1.0 / two - 1.0 / one) * along_axis, axis));
    d4 exact = d4_mul(d4_mul(about_l, d4_of(start)), about_axis);
    assert_below(d4_angle(turned_freely(&spin, h), exact), 5e-6);
  }
}

static double spin_energy(const AngularState *spin, d4 q)
{
  d3 l = d4_rotate(d4_conjugate(d4_unit(q)), d3_from_vec3(spin->momentum));
  return 0.5 * (l.x * l.x * (double)spin->inverse.x + l.y * l.y * (double)spin->inverse.y +
                l.z * l.z * (double)spin->inverse.z);
}

// Second order: halving h divides the energy error of one revolution by eight. Computed in double,
// where the errors are well above rounding.
static void one_turn_is_of_second_order(void **state)
{
  (void)state;
  uint32_t random = 15;
  double sum[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < 200; ++i) {
    AngularState spin = make_spin((d3){1.0, 1.6, 2.3}, random_v(&random, 1.0f), random_q(&random));
    for (int k = 0; k < 3; ++k) {
      float h = 0.8f / (float)(1 << k);
      sum[k] +=
          fabs(spin_energy(&spin, turned_freely(&spin, h)) - spin_energy(&spin, d4_of(spin.start)));
    }
  }
  assert_close(sum[0] / sum[1], 8.0, 1.6);
  assert_close(sum[1] / sum[2], 8.0, 1.6);
}

// Every eighth drift ends a step: its rotation goes into a pose in double, as in the library.
static void free_drift(Body *body, AngularState *spin, d4 *pose, int i)
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
    AngularState spin = make_spin((d3){1.0, 1.6, 2.3}, random_v(&random, 3.0f), random_q(&random));
    V momentum = spin.momentum;
    Body body = {0};
    body.dq.w = 1.0f;
    body.w = q_rotate(spin.start, v_mul(spin.inverse, q_unrotate(spin.start, spin.momentum)));
    spin.last = body.w;
    d4 pose = d4_unit(d4_of(spin.start));
    double first = spin_energy(&spin, pose);
    double worst[2] = {0.0, 0.0}; // in the first and in the last tenth of the run
    const int steps = 50000;
    for (int k = 0; k < steps; ++k) {
      free_drift(&body, &spin, &pose, k);
      double e = spin_energy(&spin, d4_of(q_mul(body.dq, spin.start)));
      double own = 0.5 * d3_dot(d3_from_vec3(body.w), d3_from_vec3(spin.momentum));
      assert_close(own, e, 4e-6 * first); // about 40 rounding errors
      int part = k < steps / 10 ? 0 : k >= steps - steps / 10 ? 1 : -1;
      if (part >= 0) {
        worst[part] = fmax(worst[part], fabs(e / first - 1.0));
      }
    }
    assert_true(spin.momentum.x == momentum.x && spin.momentum.y == momentum.y &&
                spin.momentum.z == momentum.z);
    // The energy error oscillates and does not grow, except for rounding of the pose, a random walk
    // of 2e-7 per revolution.
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
    V cut = clamp_length(v, 1.0f);
    double length = d3_length(d3_from_vec3(v));
    double expected = length > 1.0 ? 1.0 : length;
    assert_close(d3_length(d3_from_vec3(cut)), expected, 1e-6 * expected);
    assert_below(d3_length(d3_cross(d3_from_vec3(cut), d3_unit(d3_from_vec3(v)))), 1e-6 * expected);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
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
