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

INLINE void put_diagonal(point_joint *p, double softness)
{
  double s = 1.0 + softness;
  p->block[0][0] = s * (double)p->k[0];
  p->block[1][1] = s * (double)p->k[1];
  p->block[2][2] = s * (double)p->k[2];
  p->block[0][1] = p->block[1][0] = (double)p->k[3];
  p->block[0][2] = p->block[2][0] = (double)p->k[4];
  p->block[1][2] = p->block[2][1] = (double)p->k[5];
}

// Symmetric and positive.
INLINE void invert(point_joint *p)
{
  const quad2 *a = p->block;
  double *inverse = p->inverse;
  double xx = a[0][0], xy = a[0][1], xz = a[0][2], yy = a[1][1], yz = a[1][2], zz = a[2][2];
  double cx = yy * zz - yz * yz, cy = xz * yz - xy * zz, cz = xy * yz - xz * yy;
  double s = 1.0 / (xx * cx + xy * cy + xz * cz);
  inverse[0] = s * cx;
  inverse[1] = s * (xx * zz - xz * xz);
  inverse[2] = s * (xx * yy - xy * xy);
  inverse[3] = s * cy;
  inverse[4] = s * cz;
  inverse[5] = s * (xy * xz - xx * yz);
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
  invert(p);
  const double *d = p->inverse;
  const point_link *links = tree->links + p->first;
  for (int32_t i = 0; i < p->count; ++i) {
    const quad2 *b = links[i].k;
    const quad2 l[3] = {b[0] * d[0] + b[1] * d[3] + b[2] * d[4],
                        b[0] * d[3] + b[1] * d[1] + b[2] * d[5],
                        b[0] * d[4] + b[1] * d[5] + b[2] * d[2]};
    subtract_product(tree->points[links[i].below].block, l, b);
    for (int32_t q = 0; q < i; ++q) {
      int32_t target = tree->points[links[q].below].first + i - q - 1;
      subtract_product(tree->links[target].k, l, links[q].k);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Substitution: velocities and errors side by side

// y = a x, a symmetric
INLINE void multiply(const double *a, const pair2 *x, pair2 *y)
{
  y[0] = a[0] * x[0] + a[3] * x[1] + a[4] * x[2];
  y[1] = a[3] * x[0] + a[1] * x[1] + a[5] * x[2];
  y[2] = a[4] * x[0] + a[5] * x[1] + a[2] * x[2];
}

// Returns x . A^-1 x, as far as this joint has part in it.
INLINE pair2 go_forward(const point_tree *tree, const point_joint *p)
{
  const pair2 *x = p->impulse;
  pair2 y[3];
  multiply(p->inverse, x, y);
  for (int32_t i = p->first; i < p->first + p->count; ++i) {
    const quad2 *b = tree->links[i].k;
    pair2 *to = tree->points[tree->links[i].below].impulse;
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      to[k] -= b[0][k] * y[0] + b[1][k] * y[1] + b[2][k] * y[2];
    }
  }
  return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

INLINE void go_back(const point_tree *tree, point_joint *p)
{
  pair2 rest[3] = {p->impulse[0], p->impulse[1], p->impulse[2]};
  for (int32_t i = p->first; i < p->first + p->count; ++i) {
    const quad2 *b = tree->links[i].k;
    const pair2 *from = tree->points[tree->links[i].below].impulse;
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      rest[k] -= b[k][0] * from[0] + b[k][1] * from[1] + b[k][2] * from[2];
    }
  }
  multiply(p->inverse, rest, p->impulse);
}

// Velocities to change, with a share of the errors, and the errors.
INLINE void ask(point_joint *p, double share, int errors)
{
  double whole = errors ? -1.0 : 0.0;
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    double e = (double)p->error[k];
    pair2 x = {-((double)p->velocity[k] + share * e), whole * e};
    p->impulse[k] = x;
  }
}

// Substitution goes along with elimination, so that memory is passed over once for both.
static double solve_points(const point_tree *tree, double softness, int errors)
{
  pair2 work = {0.0, 0.0};
  for (int32_t i = 0; i < tree->count; ++i) {
    point_joint *p = &tree->points[i];
    put_diagonal(p, softness);
    for (int32_t k = p->first; k < p->first + p->count; ++k) {
      put_link(p, &tree->points[tree->links[k].below], &tree->links[k]);
    }
    ask(p, 0.0, errors);
  }
  for (int32_t i = 0; i < tree->count; ++i) {
    eliminate(tree, &tree->points[i]);
    work += go_forward(tree, &tree->points[i]);
  }
  for (int32_t i = tree->count - 1; i >= 0; --i) {
    go_back(tree, &tree->points[i]);
  }
  return work[1];
}

static void solve_again(const solver_data *data, const point_tree *tree)
{
  refresh_points(data, tree);
  for (int32_t i = 0; i < tree->count; ++i) {
    ask(&tree->points[i], 1.0, 0);
  }
  for (int32_t i = 0; i < tree->count; ++i) {
    go_forward(tree, &tree->points[i]);
  }
  for (int32_t i = tree->count - 1; i >= 0; --i) {
    go_back(tree, &tree->points[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Impulses to bodies

static double top_square(const solver_data *data, const point_tree *tree)
{
  double top = 0.0;
  for (int32_t i = 0; i < tree->body_count; ++i) {
    const point_body *body = &tree->bodies[i];
    double f[3] = {0.0, 0.0, 0.0};
    for (int32_t n = 0; n < body->count; ++n) {
      const pair2 *x = tree->points[body->joint[n] >> 1].impulse;
      double sign = body->joint[n] & 1 ? 1.0 : -1.0;
      f[0] += sign * x[0][1];
      f[1] += sign * x[1][1];
      f[2] += sign * x[2][1];
    }
    double m = (double)data->state[body->slot].inverse_mass;
    double square = m * m * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    top = square > top ? square : top;
  }
  return top;
}

// What an impulse adds to force and torque.
INLINE void push(const point_joint *p, int side, double x, double y, double z, double *f, double *t)
{
  const float *r = p->lever[side]; // negative for A
  double rx = (double)r[0], ry = (double)r[1], rz = (double)r[2];
  double sign = side ? 1.0 : -1.0;
  f[0] += sign * x;
  f[1] += sign * y;
  f[2] += sign * z;
  t[0] += ry * z - rz * y;
  t[1] += rz * x - rx * z;
  t[2] += rx * y - ry * x;
}

// Force and torque to changes of velocity.
INLINE void divide_by_mass(const solver_data *data, int32_t slot, double *f, double *t)
{
  double m = (double)data->state[slot].inverse_mass;
  const float *ii = data->inertia[slot].inverse;
  double xx = (double)ii[0], yy = (double)ii[1], zz = (double)ii[2];
  double xy = (double)ii[3], xz = (double)ii[4], yz = (double)ii[5];
  double x = t[0], y = t[1], z = t[2];
  f[0] *= m;
  f[1] *= m;
  f[2] *= m;
  t[0] = xx * x + xy * y + xz * z;
  t[1] = xy * x + yy * y + yz * z;
  t[2] = xz * x + yz * y + zz * z;
}

INLINE float square3(const float *a)
{
  return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

// Returns an upper bound for the square of the sum of last impulses times levers.
INLINE float push_body(const solver_data *data, const point_tree *tree, const point_body *body)
{
  double f[3] = {0.0, 0.0, 0.0}, t[3] = {0.0, 0.0, 0.0};
  float pull = 0.0f, reach = 0.0f;
  for (int32_t n = 0; n < body->count; ++n) {
    const point_joint *p = &tree->points[body->joint[n] >> 1];
    int side = body->joint[n] & 1;
    push(p, side, p->impulse[0][0], p->impulse[1][0], p->impulse[2][0], f, t);
    pull += square3(p->lambda);
    reach += square3(p->lever[side]);
  }
  divide_by_mass(data, body->slot, f, t);
  body_state *state = &data->state[body->slot];
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    state->v[k] = (float)((double)state->v[k] + f[k]);
    state->w[k] = (float)((double)state->w[k] + t[k]);
  }
  return pull * reach;
}

static bool apply_impulses(const solver_data *data, const point_tree *tree, double share, int first,
                           float take)
{
  for (int32_t i = 0; i < tree->count; ++i) {
    point_joint *p = &tree->points[i];
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      double impulse = p->impulse[k][0] + share * p->impulse[k][1];
      p->impulse[k][0] = impulse;
      p->lambda[k] = first ? (float)impulse : p->lambda[k] + take * (float)impulse;
      p->sum[k] += (float)impulse;
    }
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
    .solve = solve_points,
    .again = solve_again,
    .top_square = top_square,
    .apply = apply_impulses,
};
