// What particles touch, and what they are attached to: gather them, run a kernel, scatter what it
// changed. Compiled once for each lane width.
#include "gather_soft.h"

#define LINK_OPS PASTE(link_ops_, TN_LANES)

KERNEL void load_body(const solver_data *data, Gather g, Body *body, R *share)
{
  load_velocity(data, g, body, share);
  load_inertia(data, g, body);
  load_pose(data, g, body);
}

KERNEL void store_body(const solver_data *data, Gather g, const SoftPass *pass, const Body *body,
                       R share)
{
  if (pass->form == FORM_POSITION) {
    store_whole(data, g, body, share);
  } else {
    store_velocity(data, g, body, share);
  }
}

KERNEL Body no_body(void)
{
  R zero = splat(0.0f);
  S none = {zero, zero, zero, zero, zero, zero};
  Body body = {v_zero(), v_zero(), zero, none, v_zero(), {zero, zero, zero, splat(1.0f)}};
  return body;
}

// A particle on a triangle touches it as it would a body. One function for all types: three are no
// faster.
static void pass_touch(solver_data *data, touch_block *tb, int lane)
{
  int facet = tb->type >= TOUCH_FACET, has_body = tb->type < TOUCH_PAIR;
  int count = tb->type == TOUCH_BODY_3                            ? 3
              : tb->type == TOUCH_PAIR || tb->type == TOUCH_EDGES ? 2
                                                                  : 1;
  int loaded = facet ? count + 3 : count;
  Plate plate;
  SoftPass pass = make_pass(data);
  TouchParams params;
  TouchState state;
  LOAD(tb->params, lane, &params);
  LOAD(tb->state, lane, &state);
  Particle p[TOUCH_PARTICLES];
  for (int i = 0; i < loaded; ++i) {
    p[i] = load_particle(data, &tb->place[i][lane]);
  }
  Gather g = {tb->body + lane, tb->move + lane};
  Body body = no_body();
  R share = splat(1.0f);
  if (facet) {
    body = plate_body(&params, params.weight + count, p + count, &plate);
  } else if (has_body) {
    load_body(data, g, &body, &share);
  }
  solve_touch(count, &pass, data->soft->stage == SOFT_RELAX, splat(data->substep.bounce_speed),
              &params, &state, p, &body);
  STORE(tb->state, lane, &state);
  if (facet) {
    plate_push(&pass, &plate, &body, p + count);
  } else if (has_body) {
    store_body(data, g, &pass, &body, share);
  }
  for (int i = 0; i < loaded; ++i) {
    store_particle(data, &tb->place[i][lane], &p[i]);
  }
}

static void begin_touches(solver_data *data, int first, int last)
{
  for (int block = first; block < last; ++block) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      TouchState state;
      LOAD(data->soft->touches[block].state, lane, &state);
      begin_touch(&state);
      STORE(data->soft->touches[block].state, lane, &state);
    }
  }
}

static void pass_touches(solver_data *data, int first, int last)
{
  if (data->soft->stage == SOFT_WARM) {
    begin_touches(data, first, last);
    return;
  }
  for (int block = first; block < last; ++block) {
    touch_block *tb = &data->soft->touches[block];
    for (int lane = 0; lane < BLOCK_WIDTH && tb->touch[lane] >= 0; lane += TN_LANES) {
      pass_touch(data, tb, lane);
    }
  }
}

KERNEL Carry load_carry(const solver_data *data, Gather g)
{
  R r[8];
  load_each(data->soft->carry->line, STRIDE(data->soft->carry), g, r);
  Carry c = {v_make(r[0], r[1], r[2]), v_make(r[4], r[5], r[6])};
  return c;
}

KERNEL void store_carry(const solver_data *data, Gather g, const Carry *c)
{
  R zero = splat(0.0f);
  R r[8] = {c->v.x, c->v.y, c->v.z, zero, c->w.x, c->w.y, c->w.z, zero};
  store_each(data->soft->carry->line, STRIDE(data->soft->carry), g, r);
}

static void pass_holds(solver_data *data, int first, int last)
{
  SoftPass pass = make_pass(data);
  R keep = splat(data->soft->keep);
  for (int block = first; block < last; ++block) {
    hold_block *hb = &data->soft->holds[block];
    for (int lane = 0; lane < BLOCK_WIDTH && hb->attachment[lane] >= 0; lane += TN_LANES) {
      HoldParams params;
      HoldState state;
      LOAD(hb->params, lane, &params);
      LOAD(hb->state, lane, &state);
      Particle p = load_particle(data, &hb->place[lane]);
      // Where corrections are averaged a particle gives way to what holds it as it does to the
      // rest, or soft bodies shake what they are tied to apart.
      Particle before = p;
      if (data->soft->change) {
        p.w = p.share * p.w;
      }
      Gather g = {hb->body + lane, hb->move + lane};
      Body body;
      R share;
      load_body(data, g, &body, &share);
      Carry carry = load_carry(data, g);
      if (data->soft->stage == SOFT_WARM) {
        warm_hold(&pass, keep, &params, &state, &p, &body, &carry);
      } else {
        solve_hold(&pass, data->soft->stage == SOFT_RELAX, &params, &state, &p, &body, &carry);
      }
      store_carry(data, g, &carry);
      STORE(hb->state, lane, &state);
      if (data->soft->change) {
        R part = 1.0f / p.share;
        p.w = before.w;
        p.v = v_add(before.v, v_scale(part, v_sub(p.v, before.v)));
        p.dx = v_add(before.dx, v_scale(part, v_sub(p.dx, before.dx)));
      }
      store_particle(data, &hb->place[lane], &p);
      store_body(data, g, &pass, &body, share);
    }
  }
}

const link_ops LINK_OPS = {pass_touches, pass_holds};
