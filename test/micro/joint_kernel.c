// Cost of the maths of a joint without memory access: a substep of Algorithm 3 for TN_LANES joints
// at a time, without gathering, storing or scattering. A few independent sets alternate, so that
// their chains of dependent operations overlap, as in a pass over many joints.
#include "micro.h"

#include "kernel/joint.h"

#define SETS 4
#define ROUNDS 4000
#define TRIES 9

typedef struct JointSet {
  Body a, b;
  JointStart start;
  RowParams linear, angular;
  RowState linear_state, angular_state;
} JointSet;

int micro_kernel_lanes(void)
{
  return TN_LANES;
}

// ---------------------------------------------------------------------------------------------
// Two links of a chain in every lane, with a small gap

static R random_lanes(uint32_t *state, float size)
{
  float values[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    *state = *state * 1664525u + 1013904223u;
    values[i] = size * ((float)(*state >> 8) * (1.0f / 8388608.0f) - 1.0f);
  }
  R r;
  memcpy(&r, values, sizeof r);
  return r;
}

static V random_vector(uint32_t *state, float size)
{
  V v = {random_lanes(state, size), random_lanes(state, size), random_lanes(state, size)};
  return v;
}

static Body make_body(uint32_t *random)
{
  Body body;
  body.v = random_vector(random, 1.0f);
  body.w = random_vector(random, 1.0f);
  body.im = splat(1.0f);
  S ii = {splat(100.0f), splat(30.0f), splat(30.0f), splat(0.0f), splat(0.0f), splat(0.0f)};
  body.ii = ii;
  body.dx = random_vector(random, 1e-4f);
  body.dq = q_normalize(q_make(random_vector(random, 1e-3f), splat(1.0f)));
  return body;
}

static JointSet make_set(uint32_t *random)
{
  JointSet set;
  memset(&set, 0, sizeof set);
  set.a = make_body(random);
  set.b = make_body(random);
  set.start.ra = v_make(splat(0.1f), splat(0.0f), splat(0.0f));
  set.start.rb = v_make(splat(-0.1f), splat(0.0f), splat(0.0f));
  set.start.frame = q_make(v_zero(), splat(1.0f));
  set.start.relative = q_make(v_zero(), splat(1.0f));
  for (int i = 0; i < 3; ++i) {
    set.angular.lo[i] = splat(-UNLIMITED);
    set.angular.hi[i] = splat(UNLIMITED);
  }
  return set;
}

// ---------------------------------------------------------------------------------------------
// One substep of a joint, in position form

KERNEL void solve_block(JointType type, int angular, const Pass *pass, JointSet *set)
{
  BlockKind kind = angular ? angular_kind(type) : linear_kind(type);
  if (kind.rows == 0) {
    return;
  }
  const RowParams *params = angular ? &set->angular : &set->linear;
  RowState *state = angular ? &set->angular_state : &set->linear_state;
  Rows rows;
  if (angular) {
    rows.levers.a = rows.levers.b = v_zero();
    angular_rows(type, &set->start, params, &set->a, &set->b, &rows);
    rows.k = angular_inverse_mass(&set->a, &set->b);
  } else {
    linear_rows(type, &set->start, &set->a, &set->b, &rows);
    rows.k = linear_inverse_mass(&set->a, &set->b, rows.levers.a, rows.levers.b);
  }
  rows.k_mean = mean_inverse_mass(rows.k);
  rows.k_rows = row_inverse_masses(kind, &rows);
  rows.factor = factorize(kind, params, rows.k_rows, params->alpha * pass->inv_h2);
  V u = v_zero();
  V p = v_zero();
  solve_positions(kind, pass, params, &rows, angular, state, &u, &p);
  if (angular) {
    apply_angular(&set->a, &set->b, p, pass->form, pass->h);
  } else {
    apply_linear(&set->a, &set->b, rows.levers.a, rows.levers.b, p, pass->form, pass->h);
  }
}

// The kick keeps errors from decaying to denormal numbers, which are slow.
KERNEL void substep_joint(JointType type, const Pass *pass, R kick, JointSet *set)
{
  set->b.dx.y = set->b.dx.y + kick;
  solve_block(type, 0, pass, set);
  solve_block(type, 1, pass, set);
}

typedef void round_fn(JointSet *sets, const Pass *pass, float kick);

static void round_of_balls(JointSet *sets, const Pass *pass, float kick)
{
  Pass local = *pass;
  for (int i = 0; i < SETS; ++i) {
    substep_joint(TYPE_POINT, &local, splat(kick), &sets[i]);
  }
}

static void round_of_hinges(JointSet *sets, const Pass *pass, float kick)
{
  Pass local = *pass;
  for (int i = 0; i < SETS; ++i) {
    substep_joint(TYPE_HINGE, &local, splat(kick), &sets[i]);
  }
}

double micro_joint_kernel_ns(bool hinge, tn_clock_fn *cpu_ms)
{
  JointSet sets[SETS];
  uint32_t random = 1;
  for (int i = 0; i < SETS; ++i) {
    sets[i] = make_set(&random);
  }
  float h = 1.0f / 480.0f;
  Pass pass;
  memset(&pass, 0, sizeof pass);
  pass.h = splat(h);
  pass.inv_h = splat(1.0f / h);
  pass.inv_h2 = splat(1.0f / (h * h));
  pass.form = FORM_POSITION;
  // Volatile, so that the compiler cannot merge rounds.
  round_fn *volatile round = hinge ? round_of_hinges : round_of_balls;
  double best = 1e30;
  for (int i = 0; i < TRIES; ++i) {
    double start = cpu_ms();
    for (int k = 0; k < ROUNDS; ++k) {
      round(sets, &pass, k % 2 ? 1e-5f : -1e-5f);
    }
    double ms = cpu_ms() - start;
    best = ms < best ? ms : best;
  }
  return best * 1e6 / ((double)ROUNDS * (double)SETS * (double)TN_LANES);
}
