// Passes over the blocks of soft contacts and attachments: gather particles and bodies, run the
// kernel, scatter. Compiled once per lane width.
#include "solver/soft/soft_gather.h"

#define SOFT_CONTACT_OPS PASTE(soft_contact_ops_, TN_LANES)

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
    store_motion(data, g, body, share);
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

// A soft body's triangle acts as a rigid body of three masses, so one kernel serves all types. One
// function for all of them: separate functions are no faster.
static void soft_contact_lanes(solver_data *data, soft_contact_block *tb, int lane)
{
  int on_triangle = tb->type >= SOFT_CONTACT_PARTICLE_TRIANGLE,
      has_body = tb->type < SOFT_CONTACT_PARTICLE_PARTICLE;
  int count = tb->type == SOFT_CONTACT_TRIANGLE_BODY ? 3
              : tb->type == SOFT_CONTACT_PARTICLE_PARTICLE || tb->type == SOFT_CONTACT_EDGE_EDGE
                  ? 2
                  : 1;
  int loaded = on_triangle ? count + 3 : count;
  RigidTriangle triangle;
  SoftPass pass = make_soft_pass(data);
  SoftContactParams params;
  SoftContactState state;
  LOAD(tb->params, lane, &params);
  LOAD(tb->state, lane, &state);
  Particle p[SOFT_CONTACT_PARTICLES];
  for (int i = 0; i < loaded; ++i) {
    p[i] = load_particle(data, &tb->solver_index[i][lane]);
  }
  if (on_triangle && !RULE(soft_rigid_triangle)) { // three particles with their weights
    params.anchor = params.surface_velocity = v_zero();
    on_triangle = 0;
    count = loaded;
  }
  Gather g = {tb->body + lane, tb->move + lane};
  Body body = no_body();
  R share = splat(1.0f);
  if (on_triangle) {
    body = rigid_triangle_body(&params, params.weight + count, p + count, &triangle);
  } else if (has_body) {
    load_body(data, g, &body, &share);
  }
  solve_soft_contact(count, &pass, data->soft->stage == SOFT_RELAX,
                     splat(data->substep.restitution_threshold), &params, &state, p, &body);
  STORE(tb->state, lane, &state);
  if (on_triangle) {
    rigid_triangle_apply(&pass, &triangle, &body, p + count);
  } else if (has_body) {
    store_body(data, g, &pass, &body, share);
  }
  for (int i = 0; i < loaded; ++i) {
    store_particle(data, &tb->solver_index[i][lane], &p[i]);
  }
}

static void reset_soft_contacts(solver_data *data, int first, int last)
{
  for (int block = first; block < last; ++block) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      SoftContactState state;
      LOAD(data->soft->soft_contacts[block].state, lane, &state);
      reset_soft_contact(&state);
      STORE(data->soft->soft_contacts[block].state, lane, &state);
    }
  }
}

static void soft_contact_pass(solver_data *data, int first, int last)
{
  if (data->soft->stage == SOFT_WARM_START) {
    reset_soft_contacts(data, first, last);
    return;
  }
  for (int block = first; block < last; ++block) {
    soft_contact_block *tb = &data->soft->soft_contacts[block];
    for (int lane = 0; lane < BLOCK_WIDTH && tb->contact[lane] >= 0; lane += TN_LANES) {
      soft_contact_lanes(data, tb, lane);
    }
  }
}

KERNEL Compensation load_compensation(const solver_data *data, Gather g)
{
  R r[8];
  gather8(data->soft->compensation->line, STRIDE(data->soft->compensation), g, r);
  Compensation c = {v_make(r[0], r[1], r[2]), v_make(r[4], r[5], r[6])};
  return c;
}

KERNEL void store_compensation(const solver_data *data, Gather g, const Compensation *c)
{
  R zero = splat(0.0f);
  R r[8] = {c->v.x, c->v.y, c->v.z, zero, c->w.x, c->w.y, c->w.z, zero};
  scatter8(data->soft->compensation->line, STRIDE(data->soft->compensation), g, r);
}

static void attachment_pass(solver_data *data, int first, int last)
{
  SoftPass pass = make_soft_pass(data);
  R warm_start_factor = splat(data->soft->warm_start_factor);
  for (int block = first; block < last; ++block) {
    attachment_block *hb = &data->soft->attachments[block];
    for (int lane = 0; lane < BLOCK_WIDTH && hb->attachment[lane] >= 0; lane += TN_LANES) {
      AttachmentParams params;
      AttachmentState state;
      LOAD(hb->params, lane, &params);
      LOAD(hb->state, lane, &state);
      Particle p = load_particle(data, &hb->solver_index[lane]);
      // With averaging an attachment, too, has only its part of the particle's mass, or soft bodies
      // shake the bodies they are attached to apart.
      Particle before = p;
      if (data->soft->jacobi_delta) {
        p.w = p.constraint_count * p.w;
      }
      Gather g = {hb->body + lane, hb->move + lane};
      Body body;
      R share;
      load_body(data, g, &body, &share);
      Compensation compensation = load_compensation(data, g);
      if (data->soft->stage == SOFT_WARM_START) {
        warm_start_attachment(&pass, warm_start_factor, &params, &state, &p, &body, &compensation);
      } else {
        solve_attachment(&pass, data->soft->stage == SOFT_RELAX, &params, &state, &p, &body,
                         &compensation);
      }
      store_compensation(data, g, &compensation);
      STORE(hb->state, lane, &state);
      if (data->soft->jacobi_delta) {
        R part = 1.0f / p.constraint_count;
        p.w = before.w;
        p.v = v_add(before.v, v_scale(part, v_sub(p.v, before.v)));
        p.dx = v_add(before.dx, v_scale(part, v_sub(p.dx, before.dx)));
      }
      store_particle(data, &hb->solver_index[lane], &p);
      store_body(data, g, &pass, &body, share);
    }
  }
}

const soft_contact_ops SOFT_CONTACT_OPS = {soft_contact_pass, attachment_pass};
