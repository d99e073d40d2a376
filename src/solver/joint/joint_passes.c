// Passes over joints, and the table of all passes: gather bodies into lanes, run a kernel, scatter
// the result. Compiled once for each lane width; the kernels and the order of their operations are
// the same in all, so results are too.
#include "base/rules.h"
#include "kernel/axes.h"
#include "kernel/tuning.h"
#include "solver/body_passes.h"

// The axes of a block are loaded, and used, only where it has some; GCC does not see that.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define SOLVER_OPS PASTE(solver_ops_, TN_LANES)

// Adds the impulses since the last drift to the angular momenta, at the end of a step.
static void update_momenta(solver_data *data, int first, int last)
{
  for (int i = first; i < last; ++i) {
    int block = data->active[i];
    body_block *bb = &data->bodies[block];
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      int32_t index[BLOCK_PLACES];
      Gather g = gather_range(index, block, lane);
      Body body;
      AngularState spin;
      BodyStepParams params;
      R share;
      load_velocity(data, g, &body, &share);
      load_pose(data, g, &body);
      LOAD(bb->spin, lane, &spin);
      LOAD(bb->params, lane, &params);
      limit_speed(&body, &params);
      update_angular_momentum(&body, &spin);
      store_velocity(data, g, &body, share);
      STORE(bb->spin, lane, &spin);
    }
  }
}

// Jacobi: applies the mean of the corrections of each body's constraints (sec. 3.3.1). Each saw its
// share of the mass, so the mean conserves momentum.
static void average_bodies(solver_data *data, int first, int last, int move)
{
  R h = splat(data->substep.h);
  for (int i = first; i < last; ++i) {
    int block = data->active[i];
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      int32_t index[BLOCK_PLACES];
      Gather g = gather_range(index, block, lane);
      float *sums[TN_LANES];
      for (int k = 0; k < TN_LANES; ++k) {
        sums[k] = data->corrections[index[k]].sum;
      }
      R r[8];
      load8((const float *const *)sums, r);
      Body body;
      R share;
      load_velocity(data, g, &body, &share);
      load_pose(data, g, &body);
      R mean = 1.0f / share;
      V dv = v_scale(mean, v_make(r[0], r[1], r[2]));
      V dw = v_scale(mean, v_make(r[4], r[5], r[6]));
      apply_delta(&body, dv, dw, move ? FORM_POSITION : FORM_VELOCITY, h);
      store_motion(data, g, &body, share);
      R zero[8] = {splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f),
                   splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f)};
      store8(sums, zero);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Joints

KERNEL Pass make_joint_pass(const solver_data *data)
{
  float h = data->substep.h;
  Pass pass = {splat(h),
               splat(1.0f / h),
               splat(1.0f / (h * h)),
               splat(data->substep.time),
               splat(data->substep.warm_share),
               splat(data->substep.max_linear_bias),
               splat(data->substep.max_angular_bias),
               FORM_VELOCITY};
  return pass;
}

KERNEL void add_to(float (*sum)[BLOCK_WIDTH], int lane, V impulse)
{
  V total;
  LOAD(sum, lane, &total);
  total = v_add(total, impulse);
  STORE(sum, lane, &total);
}

KERNEL Gather gather_a(const joint_block *jb, int lane)
{
  Gather g = {jb->a + lane, jb->move_a + lane};
  return g;
}

KERNEL Gather gather_b(const joint_block *jb, int lane)
{
  Gather g = {jb->b + lane, jb->move_b + lane};
  return g;
}

// Rows of one block at the bodies' pose, with their effective masses.
KERNEL void compute_rows(JointType type, int angular, const JointStart *start,
                         const RowParams *params, const Axes *axes, const Pass *pass, const Body *a,
                         const Body *b, Rows *rows)
{
  BlockKind kind = angular ? angular_kind(type) : linear_kind(type);
  rows->turn[0] = rows->turn[1] = v_zero();
  if (angular) {
    rows->levers.a = rows->levers.b = v_zero(); // unused
    angular_rows(type, start, params, a, b, rows);
    rows->k = angular_inverse_mass(a, b);
    if (kind.ball_axes && axes) {
      ball_turns(joint_frame(start, a), joint_relative(start, a, b), axes, pass->time, rows->turn);
    }
  } else {
    linear_rows(type, start, a, b, rows);
    rows->k = linear_inverse_mass(a, b, rows->levers.a, rows->levers.b);
  }
  rows->k_mean = mean_inverse_mass(rows->k);
  rows->k_rows = row_inverse_masses(kind, rows);
  // NOLINTNEXTLINE: the parameters were loaded as an array
  rows->factor = factorize(kind, params, rows->k_rows, params->alpha * pass->inv_h2);
}

// Only the fields that a kind uses are stored and loaded between passes.
KERNEL void store_rows(BlockKind kind, int angular, block_rows *br, int lane, const Rows *rows)
{
  store_fields(br->x, lane, rows->x, kind.rows);
  STORE(br->k_mean, lane, &rows->k_mean);
  if (!angular) {
    STORE(br->levers, lane, &rows->levers);
  }
  if (!kind.world_axes) {
    store_fields(br->n, lane, (const R *)rows->n, 3 * kind.rows);
  }
  if (has_free_axis(kind)) {
    STORE(br->k, lane, &rows->k);
    STORE(br->k_rows, lane, &rows->k_rows);
  }
  if (kind.ball_axes) {
    store_fields(br->turn, lane, (const R *)rows->turn, 6);
  }
  if (kind.first_locked < 3) {
    STORE(br->factor, lane, &rows->factor);
  }
}

KERNEL void load_rows(BlockKind kind, int angular, block_rows *br, int lane, Rows *rows)
{
  load_fields(br->x, lane, rows->x, kind.rows);
  LOAD(br->k_mean, lane, &rows->k_mean);
  if (!angular) {
    LOAD(br->levers, lane, &rows->levers);
  }
  if (!kind.world_axes) {
    load_fields(br->n, lane, (R *)rows->n, 3 * kind.rows);
  }
  if (has_free_axis(kind)) {
    LOAD(br->k, lane, &rows->k);
    LOAD(br->k_rows, lane, &rows->k_rows);
  }
  if (kind.ball_axes) {
    load_fields(br->turn, lane, (R *)rows->turn, 6);
  }
  if (kind.first_locked < 3) {
    LOAD(br->factor, lane, &rows->factor);
  }
}

// TN_LANES joints during a pass.
typedef struct JointWork {
  Body a, b;
  R share_a, share_b; // constraint_count of the bodies
  Levers levers;
  V linear, angular; // impulses of this pass, N s and N m s
} JointWork;

KERNEL void load_bodies(const solver_data *data, const joint_block *jb, int lane, int pose,
                        JointWork *w)
{
  w->linear = w->angular = v_zero();
  load_velocity(data, gather_a(jb, lane), &w->a, &w->share_a);
  load_velocity(data, gather_b(jb, lane), &w->b, &w->share_b);
  load_inertia(data, gather_a(jb, lane), &w->a);
  load_inertia(data, gather_b(jb, lane), &w->b);
  if (pose) {
    load_pose(data, gather_a(jb, lane), &w->a);
    load_pose(data, gather_b(jb, lane), &w->b);
  }
}

KERNEL void apply_block(int angular, const Rows *rows, V p, const Pass *pass, JointWork *w)
{
  if (angular) {
    w->angular = v_add(w->angular, p);
    apply_angular(&w->a, &w->b, p, pass->form, pass->h);
  } else {
    w->levers = rows->levers;
    w->linear = v_add(w->linear, p);
    apply_linear(&w->a, &w->b, rows->levers.a, rows->levers.b, p, pass->form, pass->h);
  }
}

// Applies the sum of a joint's impulses to the bodies a, b as they were before the pass: rounding
// then affects a body's momentum once per joint, however often its blocks were solved.
KERNEL void apply_block_impulses(const solver_data *data, const joint_block *jb, int lane, Body a,
                                 Body b, const JointWork *w)
{
  V ra = v_cross(w->levers.a, w->linear);
  V rb = v_cross(w->levers.b, w->linear);
  V none = v_zero();
  apply_delta(&a, v_scale(-a.im, w->linear), s_mul(a.ii, v_sub(none, v_add(ra, w->angular))),
              FORM_VELOCITY, none.x);
  apply_delta(&b, v_scale(b.im, w->linear), s_mul(b.ii, v_add(rb, w->angular)), FORM_VELOCITY,
              none.x);
  store_velocity(data, gather_a(jb, lane), &a, w->share_a);
  store_velocity(data, gather_b(jb, lane), &b, w->share_b);
}

// Non-zero if something acts along an axis in some lane.
KERNEL int has_axes(const joint_block *jb, int angular)
{
  return jb->features & (angular ? FEATURE_ANGULAR_AXES : FEATURE_LINEAR_AXES);
}

KERNEL V block_velocity(int angular, const Rows *rows, const JointWork *w)
{
  return angular ? relative_spin(&w->a, &w->b)
                 : relative_velocity(&w->a, &w->b, rows->levers.a, rows->levers.b);
}

// One block of TN_LANES joints during a pass; kind.rows is 0 where the type has no such block.
typedef struct BlockWork {
  block_rows *at;
  int lane, angular;
  BlockKind kind;
  int has_axes; // something acts along an axis in some lane
  RowParams params;
  RowState state;
  Axes axes;
  AxesState axes_state;
} BlockWork;

KERNEL void load_block(joint_block *jb, int lane, JointType type, int angular, BlockWork *o)
{
  o->at = angular ? &jb->angular : &jb->linear;
  o->lane = lane;
  o->angular = angular;
  o->kind = angular ? angular_kind(type) : linear_kind(type);
  o->has_axes = has_free_axis(o->kind) && has_axes(jb, angular);
  if (o->kind.rows > 0) {
    LOAD(o->at->params, lane, &o->params);
    LOAD(o->at->state, lane, &o->state);
  }
  if (o->has_axes) {
    LOAD(o->at->axes, lane, &o->axes);
    LOAD(o->at->axes_state, lane, &o->axes_state);
  }
}

KERNEL void store_block_state(const BlockWork *o)
{
  STORE(o->at->state, o->lane, &o->state);
  if (o->has_axes) {
    STORE(o->at->axes_state, o->lane, &o->axes_state);
  }
}

// Applies the block's impulse p, adds it to the step's sum and stores the state.
KERNEL void commit_block(const BlockWork *o, const Rows *rows, V p, const Pass *pass, JointWork *w)
{
  add_to(o->at->sum, o->lane, p);
  apply_block(o->angular, rows, p, pass, w);
  store_block_state(o);
}

// Computes the rows at the current pose and applies the warm start of the coming substep, less what
// was given ahead. At the end of a step (half_kick) it gives the share half_kick_share of the
// impulses ahead instead, like the last half kick of external forces: velocities then belong to the
// same moment as positions (leapfrog).
KERNEL void warm_start_block(joint_block *jb, int lane, int angular, JointType type,
                             const Pass *pass, const JointStart *start, int half_kick,
                             R half_kick_share, JointWork *w)
{
  BlockWork o;
  load_block(jb, lane, type, angular, &o);
  if (o.kind.rows == 0) {
    return;
  }
  Rows rows;
  V half_kick_impulse, p;
  compute_rows(type, o.angular, start, &o.params, o.has_axes ? &o.axes : NULL, pass, &w->a, &w->b,
               &rows);
  if (half_kick) {
    RowState given = scaled_row_state(&o.state, half_kick_share);
    p = block_impulse(o.kind, &rows, &given);
    if (o.has_axes) {
      p = v_add(p, axes_impulse(o.kind, &rows, &o.axes_state, half_kick_share));
    }
    half_kick_impulse = p;
  } else {
    LOAD(o.at->half_kick_impulse, o.lane, &half_kick_impulse);
    V warm = warm_start_impulse(o.kind, pass, &o.params, &rows, o.angular, &o.state);
    if (o.has_axes) {
      decay_axis_impulses(o.kind, pass, &o.axes, &rows, &o.axes_state);
      warm = v_add(warm, axes_impulse(o.kind, &rows, &o.axes_state, splat(1.0f)));
    }
    p = v_sub(warm, half_kick_impulse);
    half_kick_impulse = v_zero();
  }
  STORE(o.at->half_kick_impulse, o.lane, &half_kick_impulse);
  store_rows(o.kind, o.angular, o.at, o.lane, &rows);
  commit_block(&o, &rows, p, pass, w);
}

KERNEL void warm_start_joint(solver_data *data, joint_block *jb, int lane, JointType type,
                             const Pass *pass)
{
  int half_kick = data->substep.half_kick;
  JointWork w;
  JointStart start;
  load_bodies(data, jb, lane, 1, &w);
  LOAD(jb->start, lane, &start);
  Body a = w.a;
  Body b = w.b;
  R half_kick_share = load(&jb->half_kick_share[lane]);
  warm_start_block(jb, lane, 1, type, pass, &start, half_kick, half_kick_share, &w);
  warm_start_block(jb, lane, 0, type, pass, &start, half_kick, half_kick_share, &w);
  apply_block_impulses(data, jb, lane, a, b, &w);
}

// Solves one block: rows without a position first, then the others, so that locked rows come last.
KERNEL void solve_block(joint_block *jb, int lane, int angular, JointType type, const Pass *pass,
                        JointWork *w)
{
  BlockWork o;
  load_block(jb, lane, type, angular, &o);
  if (o.kind.rows == 0) {
    return;
  }
  Rows rows;
  load_rows(o.kind, o.angular, o.at, o.lane, &rows);
  V u = block_velocity(o.angular, &rows, w);
  V p = v_zero();
  if (o.has_axes) {
    solve_axes(o.kind, pass, &o.axes, &rows, o.angular, &o.axes_state, &u, &p);
  }
  solve_positions(o.kind, pass, &o.params, &rows, o.angular, &o.state, &u, &p);
  commit_block(&o, &rows, p, pass, w);
}

// Solves only the locked rows of a block.
KERNEL void solve_locked_block(joint_block *jb, int lane, int angular, JointType type,
                               const Pass *pass, JointWork *w)
{
  BlockWork o;
  load_block(jb, lane, type, angular, &o);
  if (o.kind.first_locked >= 3) {
    return;
  }
  Rows rows;
  load_rows(o.kind, o.angular, o.at, o.lane, &rows);
  V p = v_zero();
  V u = block_velocity(o.angular, &rows, w);
  R fastest = o.angular ? pass->max_angular_bias : pass->max_linear_bias;
  solve_locked_rows(o.kind, pass, &o.params, &rows, fastest, &o.state, u, &p);
  commit_block(&o, &rows, p, pass, w);
}

KERNEL void solve_joint(solver_data *data, joint_block *jb, int lane, JointType type,
                        const Pass *pass)
{
  JointWork w;
  load_bodies(data, jb, lane, 0, &w);
  Body a = w.a;
  Body b = w.b;
  if (RULE(locked_rows_first) && jb->features & ~FEATURE_SPRING) {
    // Limits, drives and friction act on the motion that the locked rows leave. So the locked rows
    // are solved first; otherwise springs settle off their law and a brake creeps.
    for (int i = 0; i < TUNING_JOINT_LOCKED_SWEEPS; ++i) {
      solve_locked_block(jb, lane, 0, type, pass, &w);
      solve_locked_block(jb, lane, 1, type, pass, &w);
    }
  }
  solve_block(jb, lane, 1, type, pass, &w);
  solve_block(jb, lane, 0, type, pass, &w);
  apply_block_impulses(data, jb, lane, a, b, &w);
}

// Relax pass at the end of a step: what it adds counts as given ahead of the next step.
KERNEL void relax_block(joint_block *jb, int lane, int angular, JointType type, const Pass *pass,
                        R half_kick_share, JointWork *w)
{
  BlockWork o;
  load_block(jb, lane, type, angular, &o);
  if (o.kind.rows == 0) {
    return;
  }
  Rows rows;
  load_rows(o.kind, o.angular, o.at, o.lane, &rows);
  V u = block_velocity(o.angular, &rows, w);
  V p = v_zero();
  RowState given = scaled_row_state(&o.state, half_kick_share);
  if (o.has_axes) {
    AxesState axes_given = o.axes_state;
    for (int i = 0; i < 3; ++i) {
      axes_given.axis[i].drive = half_kick_share * axes_given.axis[i].drive;
    }
    relax_axes(o.kind, pass, &o.axes, &rows, &axes_given, &u, &p);
  }
  relax_rows(o.kind, pass, &o.params, &rows, &o.state, &given, &u, &p);
  add_to(o.at->half_kick_impulse, o.lane, p);
  commit_block(&o, &rows, p, pass, w);
}

KERNEL void relax_joint(solver_data *data, joint_block *jb, int lane, JointType type,
                        const Pass *pass)
{
  JointWork w;
  load_bodies(data, jb, lane, 0, &w);
  Body a = w.a;
  Body b = w.b;
  R half_kick_share = load(&jb->half_kick_share[lane]);
  relax_block(jb, lane, 1, type, pass, half_kick_share, &w);
  relax_block(jb, lane, 0, type, pass, half_kick_share, &w);
  apply_block_impulses(data, jb, lane, a, b, &w);
}

// ---------------------------------------------------------------------------------------------
// Joints in position form. With averaging (Jacobi) each constraint sees the share 1 / count of a
// body's mass, and the body moves by the mean of its constraints' corrections: none is applied more
// than once, and momentum is conserved.

KERNEL void load_scaled_bodies(const solver_data *data, const joint_block *jb, int lane,
                               int averaged, JointWork *w)
{
  load_bodies(data, jb, lane, 1, w);
  if (averaged) {
    w->a.im = w->share_a * w->a.im;
    w->b.im = w->share_b * w->b.im;
    w->a.ii = s_scale(w->share_a, w->a.ii);
    w->b.ii = s_scale(w->share_b, w->b.ii);
  }
}

KERNEL void store_corrected_bodies(const solver_data *data, const joint_block *jb, int lane,
                                   int averaged, const JointWork *before, const JointWork *w)
{
  Gather a = gather_a(jb, lane), b = gather_b(jb, lane);
  V va = v_sub(w->a.v, before->a.v), wa = v_sub(w->a.w, before->a.w);
  V vb = v_sub(w->b.v, before->b.v), wb = v_sub(w->b.w, before->b.w);
  if (averaged) {
    add_correction(data, a, va, wa);
    add_correction(data, b, vb, wb);
  } else {
    store_correction(data, a, &w->a, va, wa);
    store_correction(data, b, &w->b, vb, wb);
  }
}

KERNEL void position_block(joint_block *jb, int lane, int angular, JointType type,
                           solve_stage stage, const Pass *pass, const JointStart *start,
                           JointWork *w)
{
  BlockWork o;
  load_block(jb, lane, type, angular, &o);
  if (o.kind.rows == 0 || (stage == STAGE_VELOCITIES && !o.has_axes)) {
    return;
  }
  Rows rows;
  compute_rows(type, o.angular, start, &o.params, o.has_axes ? &o.axes : NULL, pass, &w->a, &w->b,
               &rows);
  V u = v_zero();
  V p = v_zero();
  if (stage == STAGE_BEGIN) {
    p = warm_start_springs(o.kind, pass, &o.params, &rows, &o.state);
    if (o.has_axes) {
      keep_axis_springs(o.kind, pass, &o.axes, &rows, &o.axes_state);
      p = v_add(p, axes_impulse(o.kind, &rows, &o.axes_state, splat(1.0f)));
    }
  } else if (stage == STAGE_POSITIONS) {
    if (o.has_axes) {
      solve_axis_positions(o.kind, pass, &o.axes, &rows, o.angular, &o.axes_state, &u, &p);
    }
    solve_positions(o.kind, pass, &o.params, &rows, o.angular, &o.state, &u, &p);
  } else {
    u = block_velocity(o.angular, &rows, w);
    solve_axis_velocities(o.kind, pass, &o.axes, &rows, &o.axes_state, &u, &p);
  }
  add_to(o.at->sum, o.lane, p);
  apply_block(o.angular, &rows, p, pass, w);
  store_fields(o.at->state, o.lane, o.state.lambda, o.kind.rows);
  if (o.has_axes || stage == STAGE_BEGIN) {
    store_block_state(&o);
  }
}

KERNEL void position_stage(solver_data *data, joint_block *jb, int lane, JointType type,
                           solve_stage stage, int averaged, const Pass *shared)
{
  Pass pass = *shared;
  pass.form = stage == STAGE_VELOCITIES ? FORM_VELOCITY : FORM_POSITION;
  JointWork w;
  JointStart start;
  load_scaled_bodies(data, jb, lane, averaged, &w);
  LOAD(jb->start, lane, &start);
  if (stage != STAGE_VELOCITIES) {
    // Only the change of velocity is stored; computed from zero it has no rounding error of v.
    w.a.v = w.a.w = w.b.v = w.b.w = v_zero();
  }
  JointWork before = w;
  position_block(jb, lane, 0, type, stage, &pass, &start, &w);
  position_block(jb, lane, 1, type, stage, &pass, &start, &w);
  store_corrected_bodies(data, jb, lane, averaged, &before, &w);
}

// Blocks without springs and axes start a substep from zero impulses.
KERNEL void clear_impulses(joint_block *jb, int lane)
{
  RowState none;
  memset(&none, 0, sizeof none);
  STORE(jb->linear.state, lane, &none);
  STORE(jb->angular.state, lane, &none);
}

// SolvePositions of Algorithm 2, the most frequent stage, is compiled separately with a constant
// stage.
KERNEL void position_joint(solver_data *data, joint_block *jb, int lane, JointType type,
                           const Pass *pass)
{
  solve_stage stage = data->substep.stage;
  int averaged = data->substep.averaged;
  int axes = has_axes(jb, 0) | has_axes(jb, 1);
  if (stage == STAGE_BEGIN && !(jb->features & FEATURE_SPRING) && !axes) {
    clear_impulses(jb, lane);
  } else if (stage == STAGE_VELOCITIES && !axes) {
    return;
#if !defined(TN_SMALL)
  } else if (stage == STAGE_POSITIONS && !averaged) {
    position_stage(data, jb, lane, type, STAGE_POSITIONS, 0, pass);
#endif
  } else {
    position_stage(data, jb, lane, type, stage, averaged, pass);
  }
}

// ---------------------------------------------------------------------------------------------
// Dispatch: all lanes of a block have one joint type, which becomes a compile-time constant.

#define TYPE_PASS(name, call, type)                                                                \
  SEPARATE void name##_##type(solver_data *data, joint_block *jb, const Pass *pass)                \
  {                                                                                                \
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {                                     \
      call(data, jb, lane, type, pass);                                                            \
    }                                                                                              \
  }

#define CASE(name, type)                                                                           \
  case type:                                                                                       \
    name##_##type(data, jb, &pass);                                                                \
    break

#define JOINT_PASS(name, call)                                                                     \
  TYPE_PASS(name, call, TYPE_DISTANCE)                                                             \
  TYPE_PASS(name, call, TYPE_POINT)                                                                \
  TYPE_PASS(name, call, TYPE_BALL)                                                                 \
  TYPE_PASS(name, call, TYPE_HINGE)                                                                \
  TYPE_PASS(name, call, TYPE_FIXED)                                                                \
  TYPE_PASS(name, call, TYPE_PRISMATIC)                                                            \
  TYPE_PASS(name, call, TYPE_CYLINDER)                                                             \
  TYPE_PASS(name, call, TYPE_UNIVERSAL)                                                            \
  TYPE_PASS(name, call, TYPE_GENERIC)                                                              \
  static void name(solver_data *data, int first, int last)                                         \
  {                                                                                                \
    Pass pass = make_joint_pass(data);                                                             \
    for (int block = first; block < last; ++block) {                                               \
      joint_block *jb = &data->joints[block];                                                      \
      switch (jb->type) {                                                                          \
        CASE(name, TYPE_DISTANCE);                                                                 \
        CASE(name, TYPE_POINT);                                                                    \
        CASE(name, TYPE_BALL);                                                                     \
        CASE(name, TYPE_HINGE);                                                                    \
        CASE(name, TYPE_FIXED);                                                                    \
        CASE(name, TYPE_PRISMATIC);                                                                \
        CASE(name, TYPE_CYLINDER);                                                                 \
        CASE(name, TYPE_UNIVERSAL);                                                                \
        CASE(name, TYPE_GENERIC);                                                                  \
      default:                                                                                     \
        break;                                                                                     \
      }                                                                                            \
    }                                                                                              \
  }

JOINT_PASS(joint_warm_start, warm_start_joint)
JOINT_PASS(joint_solve, solve_joint)
JOINT_PASS(joint_relax, relax_joint)
JOINT_PASS(joint_positions, position_joint)

const solver_ops SOLVER_OPS = {
    KICK_BODIES,      DRIFT_BODIES, update_momenta, average_bodies,
    joint_warm_start, joint_solve,  joint_relax,    joint_positions,
};
