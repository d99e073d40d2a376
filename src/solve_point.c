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

static void state_points(const solver_data *data, const point_tree *tree, int relaxing)
{
  R rate = splat(relaxing ? 0.0f : 1.0f / data->substep.h);
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
    R zero = splat(0.0f);
    R least =
        ROUNDING * (pick(a.im > 0.0f, v_length(ra), zero) + pick(b.im > 0.0f, v_length(rb), zero));
    V e = v_make(rate * beyond(offset.x, least), rate * beyond(offset.y, least),
                 rate * beyond(offset.z, least));
    V u = relative_velocity(&a, &b, ra, rb);
    store_rows(&tree->points[i], &a, &b, v_make(-ra.x, -ra.y, -ra.z), rb, u, e);
  }
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
  double xx = (double)p->k[0], yy = (double)p->k[1], zz = (double)p->k[2];
  double xy = (double)p->k[3], xz = (double)p->k[4], yz = (double)p->k[5];
  double s = 1.0 + softness;
  quad2 x = {s * xx, xy, xz, 0.0}, y = {xy, s * yy, yz, 0.0}, z = {xz, yz, s * zz, 0.0};
  p->inverse[0] = x;
  p->inverse[1] = y;
  p->inverse[2] = z;
}

// Symmetric and positive.
INLINE void invert(quad2 *a)
{
  double xx = a[0][0], xy = a[0][1], xz = a[0][2], yy = a[1][1], yz = a[1][2], zz = a[2][2];
  double cx = yy * zz - yz * yz, cy = xz * yz - xy * zz, cz = xy * yz - xz * yy;
  double s = 1.0 / (xx * cx + xy * cy + xz * cz);
  double xy_inverse = s * cy, xz_inverse = s * cz, yz_inverse = s * (xy * xz - xx * yz);
  quad2 x = {s * cx, xy_inverse, xz_inverse, 0.0};
  quad2 y = {xy_inverse, s * (xx * zz - xz * xz), yz_inverse, 0.0};
  quad2 z = {xz_inverse, yz_inverse, s * (xx * yy - xy * xy), 0.0};
  a[0] = x;
  a[1] = y;
  a[2] = z;
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
  invert(p->inverse);
  const quad2 *d = p->inverse;
  const point_link *links = tree->links + p->first;
  for (int32_t i = 0; i < p->count; ++i) {
    const quad2 *b = links[i].k;
    quad2 l[3];
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      l[k] = b[0] * d[k][0] + b[1] * d[k][1] + b[2] * d[k][2];
    }
    subtract_product(tree->points[links[i].below].inverse, l, b);
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

// y = a x, a symmetric
INLINE void multiply(const quad2 *a, const pair2 *x, pair2 *y)
{
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    y[k] = a[k][0] * x[0] + a[k][1] * x[1] + a[k][2] * x[2];
  }
}

INLINE void go_forward(const point_tree *tree, const point_joint *p, const pair2 *x)
{
  pair2 y[3];
  multiply(p->inverse, x, y);
  for (int32_t i = p->first; i < p->first + p->count; ++i) {
    const quad2 *b = tree->links[i].k;
    pair2 *to = tree->impulses + 3 * (ptrdiff_t)tree->links[i].below;
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      to[k] -= b[0][k] * y[0] + b[1][k] * y[1] + b[2][k] * y[2];
    }
  }
}

INLINE void go_back(const point_tree *tree, const point_joint *p, pair2 *x)
{
  pair2 rest[3] = {x[0], x[1], x[2]};
  for (int32_t i = p->first; i < p->first + p->count; ++i) {
    const quad2 *b = tree->links[i].k;
    const pair2 *from = tree->impulses + 3 * (ptrdiff_t)tree->links[i].below;
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      rest[k] -= b[k][0] * from[0] + b[k][1] * from[1] + b[k][2] * from[2];
    }
  }
  multiply(p->inverse, rest, x);
}

// The change of velocity that its joints give a body.
INLINE void push(const solver_data *data, const point_tree *tree, const point_body *body, pair2 *to)
{
  pair2 f[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}}, t[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
  for (int32_t i = 0; i < body->count; ++i) {
    int32_t joint = body->joint[i] >> 1, side = body->joint[i] & 1;
    const float *r = tree->points[joint].lever[side]; // negative for A
    double sign = side ? 1.0 : -1.0;
    double rx = (double)r[0], ry = (double)r[1], rz = (double)r[2];
    const pair2 *x = tree->impulses + 3 * (ptrdiff_t)joint;
    f[0] += sign * x[0];
    f[1] += sign * x[1];
    f[2] += sign * x[2];
    t[0] += ry * x[2] - rz * x[1];
    t[1] += rz * x[0] - rx * x[2];
    t[2] += rx * x[1] - ry * x[0];
  }
  double m = (double)data->state[body->slot].inverse_mass;
  const float *ii = data->inertia[body->slot].inverse;
  double xx = (double)ii[0], yy = (double)ii[1], zz = (double)ii[2];
  double xy = (double)ii[3], xz = (double)ii[4], yz = (double)ii[5];
  to[0] = m * f[0];
  to[1] = m * f[1];
  to[2] = m * f[2];
  to[3] = xx * t[0] + xy * t[1] + xz * t[2];
  to[4] = xy * t[0] + yy * t[1] + yz * t[2];
  to[5] = xz * t[0] + yz * t[1] + zz * t[2];
}

static void solve_points(const solver_data *data, const point_tree *tree, double share, int errors)
{
  for (int32_t i = 0; i < tree->count; ++i) {
    const point_joint *p = &tree->points[i];
    for (int k = 0; k < 3; ++k) {
      double e = (double)p->error[k];
      pair2 x = {-((double)p->velocity[k] + share * e), errors ? -e : 0.0};
      tree->impulses[3 * i + k] = x;
    }
  }
  for (int32_t i = 0; i < tree->count; ++i) {
    go_forward(tree, &tree->points[i], tree->impulses + 3 * (ptrdiff_t)i);
  }
  for (int32_t i = tree->count - 1; i >= 0; --i) {
    go_back(tree, &tree->points[i], tree->impulses + 3 * (ptrdiff_t)i);
  }
  for (int32_t i = 0; i < tree->body_count; ++i) {
    push(data, tree, &tree->bodies[i], tree->changes + BODY_ROWS * (ptrdiff_t)i);
  }
}

const point_ops POINT_OPS = {
    .state = state_points,
    .refresh = refresh_points,
    .factor = factor_points,
    .solve = solve_points,
};
