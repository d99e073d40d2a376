// What the maths of a joint costs when nothing has to be fetched: the sum of joint_begin and
// joint_solve of solve.c, at TN_LANES joints at a time, without gathering, storing rows or
// scattering. A few independent sets take turns, so that as in a pass over many joints one set's
// long chain of operations overlaps with the next one's.
#include "bench.h"

#include "kernel/joint.h"
#include "timing.h"

#define SETS 4
#define ROUNDS 4000
#define TRIES 9

typedef struct JointSet {
  Body a, b;
  JointStart start;
  RowParams linear, angular;
  RowState linear_state, angular_state;
} JointSet;

int kernel_lanes(void)
{
  return TN_LANES;
}

// ---------------------------------------------------------------------------------------------
// Two links of a chain in every lane, a little apart and in motion

static float next_random(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) * (1.0f / 8388608.0f) - 1.0f;
}

static R random_lanes(uint32_t *state, float size)
{
  float values[8];
  for (int i = 0; i < 8; ++i) {
    values[i] = size * next_random(state);
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
    set.angular.lo[i] = splat(-OPEN_END);
    set.angular.hi[i] = splat(OPEN_END);
  }
  return set;
}

static Pass make_pass(void)
{
  float h = 1.0f / 1200.0f;
  Pass pass = {splat(h),    splat(1.0f / h), splat(1.0f / (h * h)), splat(h),
               splat(0.2f), splat(5.0f),     splat(5.0f),           FORM_VELOCITY};
  return pass;
}

// ---------------------------------------------------------------------------------------------
// One substep of a joint

KERNEL void find_rows(JointType type, int angular, const JointSet *set, const Pass *pass,
                      Rows *rows)
{
  BlockKind kind = angular ? angular_kind(type) : linear_kind(type);
  const RowParams *params = angular ? &set->angular : &set->linear;
  if (angular) {
    angular_rows(type, &set->start, params, &set->a, &set->b, rows);
    rows->k = angular_inverse_mass(&set->a, &set->b);
  } else {
    linear_rows(type, &set->start, &set->a, &set->b, rows);
    rows->k = linear_inverse_mass(&set->a, &set->b, rows->levers.a, rows->levers.b);
  }
  rows->mass = mean_mass(rows->k);
  rows->k_rows = masses_between_rows(kind, rows);
  rows->factor = factorize(kind, params, rows->k_rows, params->alpha * pass->inv_h2);
}

KERNEL void apply(int angular, const Rows *rows, V p, const Pass *pass, JointSet *set)
{
  if (angular) {
    apply_angular(&set->a, &set->b, p, pass->form, pass->h);
  } else {
    apply_linear(&set->a, &set->b, rows->levers.a, rows->levers.b, p, pass->form, pass->h);
  }
}

KERNEL void begin_block(JointType type, int angular, const Pass *pass, JointSet *set, Rows *rows)
{
  BlockKind kind = angular ? angular_kind(type) : linear_kind(type);
  if (kind.rows == 0) {
    return;
  }
  const RowParams *params = angular ? &set->angular : &set->linear;
  RowState *state = angular ? &set->angular_state : &set->linear_state;
  find_rows(type, angular, set, pass, rows);
  V p = warm_impulse(kind, pass, params, rows, angular, 0, state);
  apply(angular, rows, p, pass, set);
}

KERNEL void solve_block(JointType type, int angular, const Pass *pass, JointSet *set,
                        const Rows *rows)
{
  BlockKind kind = angular ? angular_kind(type) : linear_kind(type);
  if (kind.rows == 0) {
    return;
  }
  const RowParams *params = angular ? &set->angular : &set->linear;
  RowState *state = angular ? &set->angular_state : &set->linear_state;
  V u = angular ? relative_spin(&set->a, &set->b)
                : relative_velocity(&set->a, &set->b, rows->levers.a, rows->levers.b);
  V p = v_zero();
  solve_positions(kind, pass, params, rows, angular, 0, state, &u, &p);
  apply(angular, rows, p, pass, set);
}

// The kick keeps impulses from fading into the slow numbers near zero.
KERNEL void substep_joint(JointType type, const Pass *pass, R kick, JointSet *set)
{
  Rows linear, angular;
  set->b.v.y = set->b.v.y + kick;
  begin_block(type, 1, pass, set, &angular);
  begin_block(type, 0, pass, set, &linear);
  solve_block(type, 1, pass, set, &angular);
  solve_block(type, 0, pass, set, &linear);
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

double kernel_ns(kernel_joint joint)
{
  JointSet sets[SETS];
  uint32_t random = 1;
  for (int i = 0; i < SETS; ++i) {
    sets[i] = make_set(&random);
  }
  Pass pass = make_pass();
  // Volatile, so that no two rounds can be merged.
  round_fn *volatile round = joint == KERNEL_BALL ? round_of_balls : round_of_hinges;
  double best = 1e30;
  for (int i = 0; i < TRIES; ++i) {
    double start = timing_now_ms();
    for (int k = 0; k < ROUNDS; ++k) {
      round(sets, &pass, k % 2 ? 0.01f : -0.01f);
    }
    double ms = timing_now_ms() - start;
    best = ms < best ? ms : best;
  }
  return best * 1e6 / ((double)ROUNDS * (double)SETS * (double)TN_LANES);
}
