// Elimination of ball trees, see ball_tree.h. Rows are evaluated in lanes, in float; elimination
// follows the tree joint by joint, in double. Compiled once for each lane width.
#include "solver/gather.h"
#include "solver/mechanism/ball_tree.h"

#include <stddef.h>

#define BALL_OPS PASTE(ball_ops_, TN_LANES)

// ---------------------------------------------------------------------------------------------
// Rows, in lanes

KERNEL R apply_deadband(R e, R least)
{
  if (!RULE(mechanism_deadband)) {
    return e;
  }
  R outside = pick(e < -least, e + least, splat(0.0f));
  return pick(e > least, e - least, outside);
}

// -[r]x w, with w = I^-1 [r]x by rows: the angular part of the inverse mass at r.
KERNEL S angular_inverse_mass_at(const V *w, V r)
{
  S k = {r.z * w[1].x - r.y * w[2].x, r.x * w[2].y - r.z * w[0].y, r.y * w[0].z - r.x * w[1].z,
         r.z * w[1].y - r.y * w[2].y, r.z * w[1].z - r.y * w[2].z, r.x * w[2].z - r.z * w[0].z};
  return k;
}

// w = I^-1 [r]x by rows, with i the inverse inertia.
KERNEL void turn_rows(S i, V r, V *w)
{
  w[0] = v_make(i.xy * r.z - i.xz * r.y, i.xz * r.x - i.xx * r.z, i.xx * r.y - i.xy * r.x);
  w[1] = v_make(i.yy * r.z - i.yz * r.y, i.yz * r.x - i.xy * r.z, i.xy * r.y - i.yy * r.x);
  w[2] = v_make(i.yz * r.z - i.zz * r.y, i.zz * r.x - i.xz * r.z, i.xz * r.y - i.yz * r.x);
}

// Stores eight fields from lanes to the same part of consecutive joints.
KERNEL void store_part(ball_joint *first, float *part, R r[8])
{
  size_t at = (size_t)(part - (float *)first);
  float *to[TN_LANES];
#pragma GCC unroll 16
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = (float *)(first + i) + at;
  }
  store8(to, r);
}

KERNEL void store_velocities(ball_joint *p, V u, V e)
{
  R zero = splat(0.0f);
  R rhs[8] = {u.x, u.y, u.z, zero, e.x, e.y, e.z, zero};
  store_part(p, (float *)&p->velocity, rhs);
}

// Inverse mass, lever arms and `turn` of joints; B is the upper body of the lanes in `upper`.
KERNEL void store_rows(ball_joint *p, const Body *a, const Body *b, V ra, V rb, M upper)
{
  R zero = splat(0.0f);
  V wa[3], wb[3], w[3];
  turn_rows(a->ii, ra, wa);
  turn_rows(b->ii, rb, wb);
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    w[i] = v_make(pick(upper, wb[i].x, wa[i].x), pick(upper, wb[i].y, wa[i].y),
                  pick(upper, wb[i].z, wa[i].z));
  }
  S k = s_add(angular_inverse_mass_at(wa, ra), angular_inverse_mass_at(wb, rb));
  R m = a->im + b->im;
  R mass[8] = {k.xx + m, k.xy, k.xz, pick(upper, b->im, a->im), k.yy + m, k.yz, k.zz + m, zero};
  R levers[8] = {ra.x, ra.y, ra.z, v_dot(ra, ra), rb.x, rb.y, rb.z, v_dot(rb, rb)};
  R turn0[8] = {w[0].x, w[1].x, w[2].x, zero, w[0].y, w[1].y, w[2].y, zero};
  R turn1[8] = {w[0].z, w[1].z, w[2].z, zero, zero, zero, zero, zero};
  store_part(p, (float *)p->k, mass);
  store_part(p, (float *)p->lever, levers);
  store_part(p, (float *)p->turn, turn0);
  store_part(p, (float *)(p->turn + 2), turn1);
}

// Maximum of the lanes.
KERNEL float largest(R x)
{
  float lanes[TN_LANES], most = 0.0f;
  memcpy(lanes, &x, sizeof lanes);
  for (int i = 0; i < TN_LANES; ++i) {
    most = lanes[i] > most ? lanes[i] : most;
  }
  return most;
}

KERNEL R largest_of(R x, V v)
{
  return r_max(r_max(x, r_abs(v.x)), r_max(r_abs(v.y), r_abs(v.z)));
}

static ball_extremes evaluate_balls(const solver_data *data, const ball_tree *tree, int relaxing)
{
  R rate = splat(relaxing ? 0.0f : 1.0f / data->substep.h);
  R zero = splat(0.0f), error = zero, square = zero, lightest = zero;
  for (int i = 0; i < tree->count; i += TN_LANES) {
    ball_block *block = &tree->blocks[i / BLOCK_WIDTH];
    int lane = i % BLOCK_WIDTH;
    Gather ga = {block->a + lane, NULL}, gb = {block->b + lane, NULL};
    Body a, b;
    R share;
    load_velocity(data, ga, &a, &share);
    load_velocity(data, gb, &b, &share);
    load_pose(data, ga, &a);
    load_pose(data, gb, &b);
    load_inertia(data, ga, &a);
    load_inertia(data, gb, &b);
    JointStart start;
    load_fields(block->start, lane, (R *)&start, 9);
    Rows rows;
    V offset = joint_offset(&start, &a, &b, &rows);
    V ra = rows.levers.a, rb = rows.levers.b;
    R least = (float)TUNING_ERROR_DEADBAND *
              (pick(a.im > 0.0f, v_length(ra), zero) + pick(b.im > 0.0f, v_length(rb), zero));
    V e = v_make(rate * apply_deadband(offset.x, least), rate * apply_deadband(offset.y, least),
                 rate * apply_deadband(offset.z, least));
    store_rows(&tree->balls[i], &a, &b, v_make(-ra.x, -ra.y, -ra.z), rb,
               load(block->upper + lane) > 0.5f);
    store_velocities(&tree->balls[i], relative_velocity(&a, &b, ra, rb), e);
    error = largest_of(error, e);
    lightest = r_max(lightest, r_max(a.im, b.im));
    square = r_max(square, pick(a.im > 0.0f, v_dot(a.v, a.v), zero));
    square = r_max(square, pick(b.im > 0.0f, v_dot(b.v, b.v), zero));
  }
  ball_extremes extremes = {largest(error), largest(square), largest(lightest)};
  return extremes;
}

// Relative velocities anew; errors and lever arms stay.
static void refresh_ball_velocities(const solver_data *data, const ball_tree *tree)
{
  for (int i = 0; i < tree->count; i += TN_LANES) {
    const ball_block *block = &tree->blocks[i / BLOCK_WIDTH];
    int lane = i % BLOCK_WIDTH;
    Gather ga = {block->a + lane, NULL}, gb = {block->b + lane, NULL};
    Body a, b;
    R share;
    load_velocity(data, ga, &a, &share);
    load_velocity(data, gb, &b, &share);
    ball_joint *p = &tree->balls[i];
    const float *from[TN_LANES], *errors[TN_LANES];
    for (int k = 0; k < TN_LANES; ++k) {
      from[k] = (float *)p[k].lever;
      errors[k] = (float *)&p[k].velocity;
    }
    R levers[8], rhs[8];
    load8(from, levers);
    load8(errors, rhs);
    V ra = v_make(-levers[0], -levers[1], -levers[2]);
    V rb = v_make(levers[4], levers[5], levers[6]);
    V u = relative_velocity(&a, &b, ra, rb);
    store_velocities(p, u, v_make(rhs[4], rhs[5], rhs[6]));
  }
}

// ---------------------------------------------------------------------------------------------
// Elimination, one joint at a time

#if defined(__AVX__)
#define WIDE(a) ((f64x4)_mm256_cvtps_pd((__m128)(a))) // gcc would need several instructions
#else
#define WIDE(a) __builtin_convertvector(a, f64x4)
#endif
#define NARROW(a) __builtin_convertvector(a, f32x4)
// TURNED permutes to y z x. CROSSED has the components of a x b in the order z x y: a x b =
// TURNED(CROSSED(a, b)).
#define TURNED(a) SHUFFLE(a, a, 1, 2, 0, 3)
#define CROSSED(a, b) ((a)*TURNED(b) - TURNED(a) * (b))

// Block between a joint and one below: the velocity of that one per impulse of this one.
INLINE void assemble_link(const ball_joint *p, const ball_joint *below, ball_link *link)
{
  const f32x4 *w = p->turn;
  f32x4 r = below->lever[link->side];
  float m = p->upper == link->side ? p->k[0][3] : -p->k[0][3];
  f32x4 mx = {m, 0.0f, 0.0f, 0.0f}, my = {0.0f, m, 0.0f, 0.0f}, mz = {0.0f, 0.0f, m, 0.0f};
  link->k[0] = WIDE(TURNED(CROSSED(w[0], r)) + mx);
  link->k[1] = WIDE(TURNED(CROSSED(w[1], r)) + my);
  link->k[2] = WIDE(TURNED(CROSSED(w[2], r)) + mz);
}

// Inverse mass with its diagonal scaled by 1 + regularization.
INLINE void assemble_diagonal(ball_joint *p, const f64x4 *soft)
{
  const f32x4 *k = p->k;
  p->up[0] = WIDE(k[0]) * soft[0];
  p->up[1] = WIDE(SHUFFLE(k[0], k[1], 1, 4, 5, 7)) * soft[1];
  p->up[2] = WIDE(SHUFFLE(k[0], k[1], 2, 5, 6, 7)) * soft[2];
}

// Inverse of a symmetric positive definite matrix, by columns.
INLINE void invert(f64x4 *a)
{
  f64x4 x = TURNED(CROSSED(a[1], a[2])), y = TURNED(CROSSED(a[2], a[0]));
  f64x4 z = TURNED(CROSSED(a[0], a[1])), product = a[0] * x;
  double s = 1.0 / (product[0] + product[1] + product[2]);
  a[0] = s * x;
  a[1] = s * y;
  a[2] = s * z;
}

// a[0] x + a[1] y + a[2] z
#define COMBINED(a, x) ((a)[0] * (x)[0] + (a)[1] * (x)[1] + (a)[2] * (x)[2])

// c -= a b^T
INLINE void subtract_product(f64x4 *c, const f64x4 *a, const f64x4 *b)
{
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    c[k] -= a[0] * b[0][k] + a[1] * b[1][k] + a[2] * b[2][k];
  }
}

// Subtracts B D^-1 B^T of a joint from the blocks below. The joints below are all at one body, so
// each of them has a link to those that follow it.
INLINE void eliminate(const ball_tree *tree, ball_joint *p)
{
  const f64x4 *d = p->up;
  const ball_link *links = tree->links + p->first;
  for (int32_t i = 0; i < p->count; ++i) {
    const f64x4 *b = links[i].k;
    const f64x4 l[3] = {COMBINED(b, d[0]), COMBINED(b, d[1]), COMBINED(b, d[2])};
    subtract_product(tree->balls[links[i].below].up, l, b);
    for (int32_t q = 0; q < i; ++q) {
      int32_t target = tree->balls[links[q].below].first + i - q - 1;
      subtract_product(tree->links[target].k, l, links[q].k);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Substitution

// Adds this joint's share of x A^-1 x for the errors to `work`.
INLINE void substitute_forward(const ball_tree *tree, const ball_joint *p, f64x4 *work)
{
  f64x4 y = COMBINED(p->up, p->x[0]), e = COMBINED(p->up, p->x[1]);
  *work += p->x[1] * e;
  const ball_link *link = tree->links + p->first, *end = link + p->count;
  for (; link < end; ++link) {
    f64x4 *to = tree->balls[link->below].x;
    to[0] -= COMBINED(link->k, y);
    to[1] -= COMBINED(link->k, e);
  }
}

INLINE void substitute_back(const ball_tree *tree, ball_joint *p, int which)
{
  f64x4 rest = p->x[which];
  const ball_link *link = tree->links + p->first, *end = link + p->count;
  for (; link < end; ++link) {
    f64x4 from = tree->balls[link->below].x[which];
    f64x4 x = link->k[0] * from, y = link->k[1] * from, z = link->k[2] * from;
    f64x4 xy = SHUFFLE(x, y, 0, 4, 2, 6) + SHUFFLE(x, y, 1, 5, 3, 7);
    f64x4 zz = z + SHUFFLE(z, z, 1, 0, 3, 2);
    rest -= SHUFFLE(xy, zz, 0, 1, 4, 5) + SHUFFLE(xy, zz, 2, 3, 6, 7);
  }
  p->x[which] = COMBINED(p->up, rest);
}

INLINE void build_rhs(ball_joint *p)
{
  f64x4 e = -WIDE(p->error);
  p->x[0] = e - WIDE(p->velocity);
  p->x[1] = e;
}

// Forward substitution goes along with elimination: one pass over memory for both. Returns x A^-1 x
// of the errors, twice the energy of their impulses.
static double factor_and_solve_balls(const ball_tree *tree, double regularization)
{
  double s = 1.0 + regularization;
  const f64x4 soft[3] = {{s, 1.0, 1.0, 1.0}, {1.0, s, 1.0, 1.0}, {1.0, 1.0, s, 1.0}};
  f64x4 work = {0.0, 0.0, 0.0, 0.0};
  for (int32_t i = 0; i < tree->count; ++i) {
    ball_joint *p = &tree->balls[i];
    assemble_diagonal(p, soft);
    ball_link *link = tree->links + p->first, *end = link + p->count;
    for (; link < end; ++link) {
      assemble_link(p, &tree->balls[link->below], link);
    }
    build_rhs(p);
  }
  for (int32_t i = 0; i < tree->count; ++i) {
    invert(tree->balls[i].up);
    eliminate(tree, &tree->balls[i]);
    substitute_forward(tree, &tree->balls[i], &work);
  }
  for (int32_t i = tree->count - 1; i >= 0; --i) {
    substitute_back(tree, &tree->balls[i], 0);
  }
  return work[0] + work[1] + work[2];
}

static void resolve_balls(const solver_data *data, const ball_tree *tree)
{
  f64x4 unread = {0.0, 0.0, 0.0, 0.0};
  refresh_ball_velocities(data, tree);
  for (int32_t i = 0; i < tree->count; ++i) {
    build_rhs(&tree->balls[i]);
  }
  for (int32_t i = 0; i < tree->count; ++i) {
    substitute_forward(tree, &tree->balls[i], &unread);
  }
  for (int32_t i = tree->count - 1; i >= 0; --i) {
    substitute_back(tree, &tree->balls[i], 0);
  }
}

// ---------------------------------------------------------------------------------------------
// Impulses to bodies

// See ball_ops. Back substitution for the errors alone is done here, where it is needed.
static double top_square(const solver_data *data, const ball_tree *tree)
{
  double top = 0.0;
  for (int32_t i = tree->count - 1; i >= 0; --i) {
    substitute_back(tree, &tree->balls[i], 1);
  }
  for (int32_t i = 0; i < tree->body_count; ++i) {
    const ball_body *body = &tree->bodies[i];
    f64x4 f = {0.0, 0.0, 0.0, 0.0};
    for (int32_t n = 0; n < body->count; ++n) {
      double sign = body->joint[n] & 1 ? 1.0 : -1.0;
      f += sign * tree->balls[body->joint[n] >> 1].x[1];
    }
    double m = (double)data->state[body->slot].inverse_mass;
    double square = m * m * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    top = square > top ? square : top;
  }
  return top;
}

// Applies an impulse f and an angular impulse t to a body.
INLINE void apply_to_body(const solver_data *data, int32_t slot, f64x4 *f, f64x4 *t)
{
  body_state *to = &data->state[slot];
  f32x4 ii[2], v, w;
  memcpy(ii, data->inertia[slot].inverse, sizeof ii);
  memcpy(&v, to->v, sizeof v);
  memcpy(&w, to->w, sizeof w);
  double m = (double)to->inverse_mass;
  float share = to->constraint_count;
  const f64x4 columns[3] = {WIDE(SHUFFLE(ii[0], ii[1], 0, 3, 4, 7)),
                            WIDE(SHUFFLE(ii[0], ii[1], 3, 1, 5, 7)),
                            WIDE(SHUFFLE(ii[0], ii[1], 4, 5, 2, 7))};
  v = NARROW(WIDE(v) + m * *f);
  w = NARROW(WIDE(w) + COMBINED(columns, *t));
  memcpy(to->v, &v, sizeof v);
  memcpy(to->w, &w, sizeof w);
  to->constraint_count = share;
}

// Applies the impulses of a body's joints. Returns an upper bound of the squared sum of last
// impulse times lever arm (Cauchy-Schwarz).
INLINE float apply_joint_impulses(const solver_data *data, const ball_tree *tree,
                                  const ball_body *body)
{
  f64x4 f = {0.0, 0.0, 0.0, 0.0}, t = f;
  float impulse_square = 0.0f, lever_square = 0.0f;
  for (int32_t n = 0; n < body->count; ++n) {
    const ball_joint *p = &tree->balls[body->joint[n] >> 1];
    int side = body->joint[n] & 1;
    double sign = side ? 1.0 : -1.0;
    f += sign * p->x[0];
    t += CROSSED(WIDE(p->lever[side]), p->x[0]);
    impulse_square += p->last[3];
    lever_square += p->lever[side][3];
  }
  t = TURNED(t);
  apply_to_body(data, body->slot, &f, &t);
  return impulse_square * lever_square;
}

static bool apply_impulses(const solver_data *data, const ball_tree *tree, float keep, float take)
{
  for (int32_t i = 0; i < tree->count; ++i) {
    ball_joint *p = &tree->balls[i];
    f32x4 impulse = NARROW(p->x[0]);
    f32x4 last = keep * p->last + take * impulse;
    f32x4 square = last * last;
    last[3] = square[0] + square[1] + square[2];
    p->last = last;
    p->whole += impulse;
  }
  bool resolved = true;
  for (int32_t i = 0; i < tree->body_count; ++i) {
    const ball_body *body = &tree->bodies[i];
    float most = (float)TUNING_STIFFNESS_RESOLVED * mean_inertia(data, body->slot);
    float torque_impulse =
        data->substep.h * data->substep.h * apply_joint_impulses(data, tree, body);
    resolved = torque_impulse <= most * most && resolved;
  }
  return !resolved;
}

const ball_ops BALL_OPS = {
    .evaluate = evaluate_balls,
    .solve = factor_and_solve_balls,
    .resolve = resolve_balls,
    .top_square = top_square,
    .apply = apply_impulses,
};
