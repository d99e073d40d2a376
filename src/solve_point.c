// Trees of ball joints, solved directly. Stating the rows goes in lanes; elimination follows the
// tree, one joint after the other, in double precision. Compiled once for each lane width.
#include "gather.h"
#include "point_store.h"

#include <stddef.h>

#define POINT_OPS PASTE(point_ops_, TN_LANES)

// Errors that rounding explains are none: relative to the levers that turn.
#define ROUNDING 1e-8f

// ---------------------------------------------------------------------------------------------
// Rows, in lanes

KERNEL R beyond(R e, R least)
{
  R outside = pick(e < -least, e + least, splat(0.0f));
  return pick(e > least, e - least, outside);
}

// -[r] w: how the point r moves for each row of turns.
KERNEL S turned_inverse_mass(const V *w, V r)
{
  S k = {r.z * w[1].x - r.y * w[2].x, r.x * w[2].y - r.z * w[0].y, r.y * w[0].z - r.x * w[1].z,
         r.z * w[1].y - r.y * w[2].y, r.z * w[1].z - r.y * w[2].z, r.x * w[2].z - r.z * w[0].z};
  return k;
}

// Rows of I [r].
KERNEL void turn_rows(S i, V r, V *w)
{
  w[0] = v_make(i.xy * r.z - i.xz * r.y, i.xz * r.x - i.xx * r.z, i.xx * r.y - i.xy * r.x);
  w[1] = v_make(i.yy * r.z - i.yz * r.y, i.yz * r.x - i.xy * r.z, i.xy * r.y - i.yy * r.x);
  w[2] = v_make(i.yz * r.z - i.zz * r.y, i.zz * r.x - i.xz * r.z, i.xz * r.y - i.yz * r.x);
}

KERNEL void store_part(point_joint *first, float *part, R r[8])
{
  size_t at = (size_t)(part - (float *)first);
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = (float *)(first + i) + at;
  }
  store8(to, r);
}

KERNEL void store_velocities(point_joint *p, V u, V e)
{
  R zero = splat(0.0f);
  R asked[8] = {u.x, u.y, u.z, zero, e.x, e.y, e.z, zero};
  store_part(p, p->velocity, asked);
}

KERNEL void store_rows(point_joint *p, const Body *a, const Body *b, V ra, V rb, V u, V e)
{
  R zero = splat(0.0f);
  V wa[3], wb[3];
  turn_rows(a->ii, ra, wa);
  turn_rows(b->ii, rb, wb);
  S k = s_add(turned_inverse_mass(wa, ra), turned_inverse_mass(wb, rb));
  R m = a->im + b->im;
  R mass[8] = {k.xx + m, k.yy + m, k.zz + m, k.xy, k.xz, k.yz, a->im, b->im};
  R levers[8] = {ra.x, ra.y, ra.z, zero, rb.x, rb.y, rb.z, zero};
  R turn0[8] = {wa[0].x, wa[0].y, wa[0].z, zero, wa[1].x, wa[1].y, wa[1].z, zero};
  R turn1[8] = {wa[2].x, wa[2].y, wa[2].z, zero, wb[0].x, wb[0].y, wb[0].z, zero};
  R turn2[8] = {wb[1].x, wb[1].y, wb[1].z, zero, wb[2].x, wb[2].y, wb[2].z, zero};
  float *turn = (float *)p->turn;
  store_part(p, p->k, mass);
  store_velocities(p, u, e);
  store_part(p, p->lever[0], levers);
  store_part(p, turn, turn0);
  store_part(p, turn + 8, turn1);
  store_part(p, turn + 16, turn2);
}

// The largest of all lanes.
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

static point_extremes state_points(const solver_data *data, const point_tree *tree, int relaxing)
{
  R rate = splat(relaxing ? 0.0f : 1.0f / data->substep.h);
  R zero = splat(0.0f), error = zero, square = zero, lightest = zero;
  for (int i = 0; i < tree->count; i += TN_LANES) {
    point_block *block = &tree->blocks[i / BLOCK_WIDTH];
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
    R least =
        ROUNDING * (pick(a.im > 0.0f, v_length(ra), zero) + pick(b.im > 0.0f, v_length(rb), zero));
    V e = v_make(rate * beyond(offset.x, least), rate * beyond(offset.y, least),
                 rate * beyond(offset.z, least));
    V u = relative_velocity(&a, &b, ra, rb);
    store_rows(&tree->points[i], &a, &b, v_make(-ra.x, -ra.y, -ra.z), rb, u, e);
    error = largest_of(error, e);
    lightest = r_max(lightest, r_max(a.im, b.im));
    square = r_max(square, pick(a.im > 0.0f, v_dot(a.v, a.v), zero));
    square = r_max(square, pick(b.im > 0.0f, v_dot(b.v, b.v), zero));
  }
  point_extremes extremes = {largest(error), largest(square), largest(lightest)};
  return extremes;
}

static void refresh_points(const solver_data *data, const point_tree *tree)
{
  for (int i = 0; i < tree->count; i += TN_LANES) {
    const point_block *block = &tree->blocks[i / BLOCK_WIDTH];
    int lane = i % BLOCK_WIDTH;
    Gather ga = {block->a + lane, NULL}, gb = {block->b + lane, NULL};
    Body a, b;
    R share;
    load_velocity(data, ga, &a, &share);
    load_velocity(data, gb, &b, &share);
    point_joint *p = &tree->points[i];
    const float *from[TN_LANES], *errors[TN_LANES];
    for (int k = 0; k < TN_LANES; ++k) {
      from[k] = p[k].lever[0];
      errors[k] = p[k].velocity;
    }
    R levers[8], asked[8];
    load8(from, levers);
    load8(errors, asked);
    V ra = v_make(-levers[0], -levers[1], -levers[2]);
    V rb = v_make(levers[4], levers[5], levers[6]);
    V u = relative_velocity(&a, &b, ra, rb);
    store_velocities(p, u, v_make(asked[4], asked[5], asked[6]));
  }
}

// ---------------------------------------------------------------------------------------------
// Elimination, one joint at a time

// What an impulse of the joint does to the one below, by columns.
INLINE void put_link(const point_joint *p, const point_joint *below, point_link *link)
{
  const float *r = p->lever[p->upper];
  const quad *w = below->turn[link->side];
  float m = p->upper == link->side ? p->inverse_mass[p->upper] : -p->inverse_mass[p->upper];
  quad mx = {m, 0.0f, 0.0f, 0.0f}, my = {0.0f, m, 0.0f, 0.0f}, mz = {0.0f, 0.0f, m, 0.0f};
  link->k[0] = __builtin_convertvector(r[2] * w[1] - r[1] * w[2] + mx, quad2);
  link->k[1] = __builtin_convertvector(r[0] * w[2] - r[2] * w[0] + my, quad2);
  link->k[2] = __builtin_convertvector(r[1] * w[0] - r[0] * w[1] + mz, quad2);
}

// Columns of a symmetric matrix: xx yy zz xy, xz yz and whatever.
INLINE void columns_of(quad a, quad b, quad2 *c)
{
  c[0] = __builtin_convertvector(SHUFFLE(a, b, 0, 3, 4, 6), quad2);
  c[1] = __builtin_convertvector(SHUFFLE(a, b, 3, 1, 5, 6), quad2);
  c[2] = __builtin_convertvector(SHUFFLE(a, b, 4, 5, 2, 6), quad2);
}

INLINE quad load_floats(const float *from)
{
  quad q;
  memcpy(&q, from, sizeof q);
  return q;
}

INLINE void put_diagonal(point_joint *p, double softness)
{
  double s = 1.0 + softness;
  columns_of(load_floats(p->k), load_floats(p->k + 4), p->block);
  p->block[0] *= (quad2){s, 1.0, 1.0, 0.0};
  p->block[1] *= (quad2){1.0, s, 1.0, 0.0};
  p->block[2] *= (quad2){1.0, 1.0, s, 0.0};
}

#define TURNED(a) SHUFFLE(a, a, 1, 2, 0, 3)

// The cross product, its components one place too late.
INLINE void cross_late(const quad2 *a, const quad2 *b, quad2 *c)
{
  *c = *a * TURNED(*b) - TURNED(*a) * *b;
}

// Symmetric and positive.
INLINE void invert(quad2 *a)
{
  quad2 x, y, z;
  cross_late(&a[1], &a[2], &x);
  cross_late(&a[2], &a[0], &y);
  cross_late(&a[0], &a[1], &z);
  x = TURNED(x);
  quad2 d = a[0] * x;
  double s = 1.0 / (d[0] + d[1] + d[2]);
  a[0] = s * x;
  a[1] = s * TURNED(y);
  a[2] = s * TURNED(z);
}

// y = a x, by columns
INLINE void multiply(const quad2 *a, const quad2 *x, quad2 *y)
{
  *y = a[0] * (*x)[0] + a[1] * (*x)[1] + a[2] * (*x)[2];
}

// y -= a x
INLINE void subtract(const quad2 *a, const quad2 *x, quad2 *y)
{
  *y -= a[0] * (*x)[0] + a[1] * (*x)[1] + a[2] * (*x)[2];
}

// y -= a^T x
INLINE void subtract_transposed(const quad2 *a, const quad2 *x, quad2 *y)
{
  quad2 p = a[0] * *x, q = a[1] * *x, r = a[2] * *x;
  quad2 pq = SHUFFLE(p, q, 0, 4, 2, 6) + SHUFFLE(p, q, 1, 5, 3, 7);
  quad2 rr = SHUFFLE(r, r, 0, 4, 2, 6) + SHUFFLE(r, r, 1, 5, 3, 7);
  *y -= SHUFFLE(pq, rr, 0, 1, 4, 5) + SHUFFLE(pq, rr, 2, 3, 6, 7);
}

// c -= a b^T
INLINE void subtract_product(quad2 *c, const quad2 *a, const quad2 *b)
{
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    c[k] -= a[0] * b[0][k] + a[1] * b[1][k] + a[2] * b[2][k];
  }
}

// The joints below are all of one body, so each of them has a link to those that follow it.
INLINE void eliminate(const point_tree *tree, point_joint *p)
{
  quad2 *d = p->block;
  invert(d);
  const point_link *links = tree->links + p->first;
  for (int32_t i = 0; i < p->count; ++i) {
    const quad2 *b = links[i].k;
    quad2 l[3];
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      multiply(b, &d[k], &l[k]);
    }
    subtract_product(tree->points[links[i].below].block, l, b);
    for (int32_t q = 0; q < i; ++q) {
      int32_t target = tree->points[links[q].below].first + i - q - 1;
      subtract_product(tree->links[target].k, l, links[q].k);
    }
  }
}

static void factor_points(const point_tree *tree, double softness)
{
  for (int32_t i = 0; i < tree->count; ++i) {
    point_joint *p = &tree->points[i];
    put_diagonal(p, softness);
    for (int32_t k = p->first; k < p->first + p->count; ++k) {
      put_link(p, &tree->points[tree->links[k].below], &tree->links[k]);
    }
  }
  for (int32_t i = 0; i < tree->count; ++i) {
    eliminate(tree, &tree->points[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Substitution: velocities and errors side by side

// Adds to e . A^-1 e of the errors what this joint has part in, component by component.
INLINE void go_forward(const point_tree *tree, const point_joint *p, int errors, quad2 *work)
{
  quad2 y, e = p->impulse[1];
  multiply(p->block, &p->impulse[0], &y);
  if (errors) {
    multiply(p->block, &p->impulse[1], &e);
    *work += e * p->impulse[1];
  }
  for (int32_t i = p->first; i < p->first + p->count; ++i) {
    point_joint *below = &tree->points[tree->links[i].below];
    subtract(tree->links[i].k, &y, &below->impulse[0]);
    if (errors) {
      subtract(tree->links[i].k, &e, &below->impulse[1]);
    }
  }
}

INLINE void go_back(const point_tree *tree, point_joint *p, int errors)
{
  quad2 y = p->impulse[0], e = p->impulse[1];
  for (int32_t i = p->first; i < p->first + p->count; ++i) {
    const point_joint *below = &tree->points[tree->links[i].below];
    subtract_transposed(tree->links[i].k, &below->impulse[0], &y);
    if (errors) {
      subtract_transposed(tree->links[i].k, &below->impulse[1], &e);
    }
  }
  multiply(p->block, &y, &p->impulse[0]);
  if (errors) {
    multiply(p->block, &e, &p->impulse[1]);
  }
}

INLINE double solve_for(const point_tree *tree, double share, int errors)
{
  quad2 none = {0.0, 0.0, 0.0, 0.0}, work = none;
  for (int32_t i = 0; i < tree->count; ++i) {
    point_joint *p = &tree->points[i];
    quad2 u = __builtin_convertvector(load_floats(p->velocity), quad2);
    quad2 e = __builtin_convertvector(load_floats(p->error), quad2);
    p->impulse[0] = -(u + share * e);
    p->impulse[1] = errors ? -e : none;
  }
  for (int32_t i = 0; i < tree->count; ++i) {
    go_forward(tree, &tree->points[i], errors, &work);
  }
  for (int32_t i = tree->count - 1; i >= 0; --i) {
    go_back(tree, &tree->points[i], errors);
  }
  return work[0] + work[1] + work[2];
}

static double solve_points(const point_tree *tree, double share, int errors)
{
  return errors ? solve_for(tree, share, 1) : solve_for(tree, share, 0);
}

// ---------------------------------------------------------------------------------------------
// Impulses to bodies

static double top_square(const solver_data *data, const point_tree *tree)
{
  double top = 0.0;
  for (int32_t i = 0; i < tree->body_count; ++i) {
    const point_body *body = &tree->bodies[i];
    quad2 f = {0.0, 0.0, 0.0, 0.0};
    for (int32_t n = 0; n < body->count; ++n) {
      quad2 x = tree->points[body->joint[n] >> 1].impulse[1];
      f = body->joint[n] & 1 ? f + x : f - x;
    }
    double m = (double)data->state[body->slot].inverse_mass;
    double square = m * m * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    top = square > top ? square : top;
  }
  return top;
}

// Changes three of four floats.
INLINE void change_three(float *at, const quad2 *change)
{
  quad was = load_floats(at);
  quad now = __builtin_convertvector(__builtin_convertvector(was, quad2) + *change, quad);
  now = SHUFFLE(now, was, 0, 1, 2, 7);
  memcpy(at, &now, sizeof now);
}

INLINE float sum3(quad a)
{
  return a[0] + a[1] + a[2];
}

// Returns an upper bound for the square of the sum of last impulses times levers.
INLINE float push_body(const solver_data *data, const point_tree *tree, const point_body *body)
{
  quad2 f = {0.0, 0.0, 0.0, 0.0}, t = f;
  quad pull = {0.0f, 0.0f, 0.0f, 0.0f}, reach = pull;
  for (int32_t n = 0; n < body->count; ++n) {
    const point_joint *p = &tree->points[body->joint[n] >> 1];
    int side = body->joint[n] & 1;
    quad r = load_floats(p->lever[side]); // negative for A
    quad2 x = p->impulse[0];
    f = side ? f + x : f - x;
    quad2 wide = __builtin_convertvector(r, quad2), turn;
    cross_late(&wide, &x, &turn);
    t += turn;
    pull += p->lambda * p->lambda;
    reach += r * r;
  }
  quad2 inertia[3];
  const float *ii = data->inertia[body->slot].inverse;
  columns_of(load_floats(ii), load_floats(ii + 4), inertia);
  body_state *state = &data->state[body->slot];
  f *= (double)state->inverse_mass;
  t = TURNED(t);
  quad2 spin;
  multiply(inertia, &t, &spin);
  change_three(state->v, &f);
  change_three(state->w, &spin);
  return sum3(pull) * sum3(reach);
}

static bool apply_impulses(const solver_data *data, const point_tree *tree, double share, int first,
                           float take)
{
  for (int32_t i = 0; i < tree->count; ++i) {
    point_joint *p = &tree->points[i];
    p->impulse[0] += share * p->impulse[1];
    quad impulse = __builtin_convertvector(p->impulse[0], quad);
    p->lambda = first ? impulse : p->lambda + take * impulse;
    p->sum += impulse;
  }
  bool bearable = true;
  for (int32_t i = 0; i < tree->body_count; ++i) {
    const point_body *body = &tree->bodies[i];
    float most = (float)DIRECT_BEARABLE * mean_inertia(data, body->slot);
    float press = data->substep.h * data->substep.h * push_body(data, tree, body);
    bearable = press <= most * most && bearable;
  }
  return !bearable;
}

const point_ops POINT_OPS = {
    .state = state_points,
    .refresh = refresh_points,
    .factor = factor_points,
    .solve = solve_points,
    .top_square = top_square,
    .apply = apply_impulses,
};
