// Loads bodies (gather) and blocks into lanes and stores them back. Included by the files that are
// compiled once for each lane width. BLOCK_FLOATS, the size of the includer's block, must be
// defined for sixteen lanes.
#ifndef TENON_SOLVER_GATHER_H
#define TENON_SOLVER_GATHER_H

#include "solver/solver_data.h"

#include "kernel/transpose.h" // after the types that BLOCK_FLOATS names

// ---------------------------------------------------------------------------------------------
// Bodies

typedef struct Gather {
  const int32_t *index; // TN_LANES body slots; with sixteen lanes in two blocks
  const uint8_t *move;  // 1: the body may be written; null: all may
} Gather;

KERNEL size_t lane_body(Gather g, int i)
{
#if TN_LANES == 16
  return (size_t)g.index[i < BLOCK_WIDTH ? (size_t)i : (size_t)(i - BLOCK_WIDTH) + BLOCK_FLOATS];
#else
  return (size_t)g.index[i];
#endif
}

KERNEL int lane_is_written(Gather g, int i)
{
#if TN_LANES == 16
  return g.move[i < BLOCK_WIDTH ? (size_t)i : (size_t)(i - BLOCK_WIDTH) + 4 * BLOCK_FLOATS];
#else
  return g.move[i];
#endif
}

// The eight floats of a body. A card reads four aligned floats at once.
KERNEL float *body_line(const float *first, size_t stride, size_t body)
{
  return __builtin_assume_aligned((float *)first + stride * body, 32);
}

// Eight floats of each body from an array with `stride` floats per body.
TRANSFER void gather8(const float *first, size_t stride, Gather g, R r[8])
{
  const float *from[TN_LANES];
#pragma GCC unroll 16
  for (int i = 0; i < TN_LANES; ++i) {
    from[i] = body_line(first, stride, lane_body(g, i));
  }
  load8(from, r);
}

// Addresses to store to; lanes that may not be written go to `discarded`.
TRANSFER void scatter_targets(float *first, size_t stride, Gather g, float *discarded, float **to)
{
#pragma GCC unroll 16
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = body_line(first, stride, lane_body(g, i));
  }
  if (g.move) {
#pragma GCC unroll 16
    for (int i = 0; i < TN_LANES; ++i) {
      to[i] = lane_is_written(g, i) ? to[i] : discarded;
    }
  }
}

TRANSFER void scatter8(float *first, size_t stride, Gather g, R r[8])
{
  alignas(32) float discarded[8];
  float *to[TN_LANES];
  scatter_targets(first, stride, g, discarded, to);
  store8(to, r);
}

#define STRIDE(array) (sizeof *(array) / sizeof(float))

TRANSFER void load_velocity(const solver_data *data, Gather g, Body *body, R *share)
{
  R r[8];
  gather8(data->state->motion, STRIDE(data->state), g, r);
  body->v = v_make(r[0], r[1], r[2]);
  body->im = r[3];
  body->w = v_make(r[4], r[5], r[6]);
  *share = r[7];
}

TRANSFER void store_velocity(const solver_data *data, Gather g, const Body *body, R share)
{
  R r[8] = {body->v.x, body->v.y, body->v.z, body->im, body->w.x, body->w.y, body->w.z, share};
  scatter8(data->state->motion, STRIDE(data->state), g, r);
}

// Returns advanced_time.
TRANSFER R load_pose(const solver_data *data, Gather g, Body *body)
{
  R r[8];
  gather8(data->state->pose, STRIDE(data->state), g, r);
  body->dx = v_make(r[0], r[1], r[2]);
  Q dq = {r[4], r[5], r[6], r[7]};
  body->dq = dq;
  return r[3];
}

TRANSFER void store_motion(const solver_data *data, Gather g, const Body *body, R share)
{
  R motion[8] = {body->v.x, body->v.y, body->v.z, body->im, body->w.x, body->w.y, body->w.z, share};
  R place[8] = {body->dx.x, body->dx.y, body->dx.z, splat(0.0f),
                body->dq.x, body->dq.y, body->dq.z, body->dq.w};
  body_state discarded;
  float *to[TN_LANES];
  scatter_targets(data->state->motion, STRIDE(data->state), g, discarded.motion, to);
  store8(to, motion);
#pragma GCC unroll 16
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] += sizeof discarded.motion / sizeof(float);
  }
  store8(to, place);
}

TRANSFER void load_inertia(const solver_data *data, Gather g, Body *body)
{
  R r[8];
  gather8(data->inertia->inverse, STRIDE(data->inertia), g, r);
  S ii = {r[0], r[1], r[2], r[3], r[4], r[5]};
  body->ii = ii;
  body->im = r[6];
}

TRANSFER void store_inertia(const solver_data *data, Gather g, const Body *body)
{
  R r[8] = {body->ii.xx, body->ii.yy, body->ii.zz, body->ii.xy,
            body->ii.xz, body->ii.yz, body->im,    splat(0.0f)};
  scatter8(data->inertia->inverse, STRIDE(data->inertia), g, r);
}

// Adds a change of velocity to the body's pending corrections.
KERNEL void add_correction(const solver_data *data, Gather g, V dv, V dw)
{
  R r[8] = {dv.x, dv.y, dv.z, splat(0.0f), dw.x, dw.y, dw.z, splat(0.0f)};
  alignas(32) float discarded[8] = {0.0f};
  float *to[TN_LANES];
  scatter_targets(data->corrections->sum, STRIDE(data->corrections), g, discarded, to);
  add8(to, r);
}

// Stores the pose and adds the changes of velocity.
KERNEL void store_correction(const solver_data *data, Gather g, const Body *body, V dv, V dw)
{
  R motion[8] = {dv.x, dv.y, dv.z, splat(0.0f), dw.x, dw.y, dw.z, splat(0.0f)};
  R place[8] = {body->dx.x, body->dx.y, body->dx.z, splat(0.0f),
                body->dq.x, body->dq.y, body->dq.z, body->dq.w};
  body_state discarded = {.motion = {0.0f}};
  float *to[TN_LANES];
  scatter_targets(data->state->motion, STRIDE(data->state), g, discarded.motion, to);
  add8(to, motion);
#pragma GCC unroll 16
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] += sizeof discarded.motion / sizeof(float);
  }
  store8(to, place);
}

#endif
