// Bodies and blocks into lanes, and back. For the files that are compiled once for each lane width.
#ifndef TENON_GATHER_H
#define TENON_GATHER_H

#include "store.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

// ---------------------------------------------------------------------------------------------
// Eight consecutive floats of each of TN_LANES places, as eight reals, and back.

#if TN_LANES == 8

#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

KERNEL void transpose8(R r[8])
{
  R t[8], u[8];
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = SHUFFLE(r[2 * i], r[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[2 * i + 1] = SHUFFLE(r[2 * i], r[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 2; ++i) {
    u[4 * i] = SHUFFLE(t[4 * i], t[4 * i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    u[4 * i + 1] = SHUFFLE(t[4 * i], t[4 * i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    u[4 * i + 2] = SHUFFLE(t[4 * i + 1], t[4 * i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    u[4 * i + 3] = SHUFFLE(t[4 * i + 1], t[4 * i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = SHUFFLE(u[i], u[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = SHUFFLE(u[i], u[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

KERNEL void load8(const float *const *from, R r[8])
{
  for (int i = 0; i < 8; ++i) {
    r[i] = load(from[i]);
  }
  transpose8(r);
}

KERNEL void store8(float *const *to, R r[8])
{
  transpose8(r);
  for (int i = 0; i < 8; ++i) {
    if (to[i]) {
      store(to[i], r[i]);
    }
  }
}

#elif TN_LANES == 4

#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

KERNEL void transpose4(R r[4])
{
  R t0 = SHUFFLE(r[0], r[1], 0, 4, 1, 5);
  R t1 = SHUFFLE(r[0], r[1], 2, 6, 3, 7);
  R t2 = SHUFFLE(r[2], r[3], 0, 4, 1, 5);
  R t3 = SHUFFLE(r[2], r[3], 2, 6, 3, 7);
  r[0] = SHUFFLE(t0, t2, 0, 1, 4, 5);
  r[1] = SHUFFLE(t0, t2, 2, 3, 6, 7);
  r[2] = SHUFFLE(t1, t3, 0, 1, 4, 5);
  r[3] = SHUFFLE(t1, t3, 2, 3, 6, 7);
}

KERNEL void load8(const float *const *from, R r[8])
{
  for (int i = 0; i < 4; ++i) {
    r[i] = load(from[i]);
    r[i + 4] = load(from[i] + 4);
  }
  transpose4(r);
  transpose4(r + 4);
}

KERNEL void store8(float *const *to, R r[8])
{
  transpose4(r);
  transpose4(r + 4);
  for (int i = 0; i < 4; ++i) {
    if (to[i]) {
      store(to[i], r[i]);
      store(to[i] + 4, r[i + 4]);
    }
  }
}

#else

KERNEL void load8(const float *const *from, R r[8])
{
  for (int i = 0; i < 8; ++i) {
    r[i] = from[0][i];
  }
}

KERNEL void store8(float *const *to, R r[8])
{
  if (to[0]) {
    for (int i = 0; i < 8; ++i) {
      to[0][i] = r[i];
    }
  }
}

#endif

// Fields of a block, lanes from `lane` on.
KERNEL void load_fields(float (*from)[BLOCK_WIDTH], int lane, R *to, int count)
{
#pragma GCC unroll 64
  for (int i = 0; i < count; ++i) {
    to[i] = load(&from[i][lane]);
  }
}

KERNEL void store_fields(float (*to)[BLOCK_WIDTH], int lane, const R *from, int count)
{
#pragma GCC unroll 64
  for (int i = 0; i < count; ++i) {
    store(&to[i][lane], from[i]);
  }
}

#define LOAD(from, lane, to) load_fields(from, lane, (R *)(to), (int)FIELDS(*(to)))
#define STORE(to, lane, from) store_fields(to, lane, (const R *)(from), (int)FIELDS(*(from)))

// ---------------------------------------------------------------------------------------------
// Bodies

typedef struct Gather {
  const int32_t *index; // TN_LANES slots
  const uint8_t *move;  // which of them may be written
} Gather;

KERNEL void load_velocity(const solver_data *data, Gather g, Body *body, R *share)
{
  const float *from[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    from[i] = data->state[g.index[i]].motion;
  }
  R r[8];
  load8(from, r);
  body->v = v_make(r[0], r[1], r[2]);
  body->im = r[3];
  body->w = v_make(r[4], r[5], r[6]);
  *share = r[7];
}

KERNEL void store_velocity(const solver_data *data, Gather g, const Body *body, R share)
{
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = g.move[i] ? data->state[g.index[i]].motion : 0;
  }
  R r[8] = {body->v.x, body->v.y, body->v.z, body->im, body->w.x, body->w.y, body->w.z, share};
  store8(to, r);
}

// Returns how much of the substep the body has flown already.
KERNEL R load_pose(const solver_data *data, Gather g, Body *body)
{
  const float *from[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    from[i] = data->state[g.index[i]].pose;
  }
  R r[8];
  load8(from, r);
  body->dx = v_make(r[0], r[1], r[2]);
  Q dq = {r[4], r[5], r[6], r[7]};
  body->dq = dq;
  return r[3];
}

KERNEL void store_pose(const solver_data *data, Gather g, const Body *body)
{
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = g.move[i] ? data->state[g.index[i]].pose : 0;
  }
  R r[8] = {body->dx.x, body->dx.y, body->dx.z, splat(0.0f),
            body->dq.x, body->dq.y, body->dq.z, body->dq.w};
  store8(to, r);
}

KERNEL void load_inertia(const solver_data *data, Gather g, Body *body)
{
  const float *from[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    from[i] = data->inertia[g.index[i]].inverse;
  }
  R r[8];
  load8(from, r);
  S ii = {r[0], r[1], r[2], r[3], r[4], r[5]};
  body->ii = ii;
}

KERNEL void store_inertia(const solver_data *data, Gather g, const Body *body)
{
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = data->inertia[g.index[i]].inverse;
  }
  R r[8] = {body->ii.xx, body->ii.yy, body->ii.zz, body->ii.xy,
            body->ii.xz, body->ii.yz, splat(0.0f), splat(0.0f)};
  store8(to, r);
}

// For the mean of what a body's constraints ask for.
KERNEL void add_change(const solver_data *data, Gather g, V dv, V dw)
{
  float *to[TN_LANES];
  float *from[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    from[i] = data->change[g.index[i]].sum;
    to[i] = g.move[i] ? from[i] : 0;
  }
  R r[8];
  load8((const float *const *)from, r);
  r[0] = r[0] + dv.x;
  r[1] = r[1] + dv.y;
  r[2] = r[2] + dv.z;
  r[4] = r[4] + dw.x;
  r[5] = r[5] + dw.y;
  r[6] = r[6] + dw.z;
  store8(to, r);
}

#endif
