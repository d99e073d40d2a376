// A body at the start and at the end of a step: body_begin_step() writes what is constant over the
// step to the body's lane, body_end_step() adds the motion since then to the pose.
#include "solver/body_step.h"

#include "data/world.h"
#include "kernel/ranges.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

static bool is_dynamic(const body *b)
{
  return b->type == TN_BODY_DYNAMIC;
}

// Factor of a velocity in a substep of h: dv/dt = -c v, exact for any c h.
static float damping_decay(float damping, float h)
{
  return damping > 0.0f ? r_exp(-damping * h) : 1.0f;
}

// Share of a substep's kick that comes before the first drift of a step: all of it for supported
// bodies, half for free ones, whose velocity then belongs to the time of their position.
static float first_kick_of(const body *b)
{
  bool whole = b->supported ? RULE(supported_kick) : !RULE(half_kick);
  return whole ? 1.0f : 0.5f;
}

// Velocities that take a kinematic body to its target in dt: v = dx / dt, w = angle axis / dt.
static void set_velocity_to_target(tn_world *world, int32_t slot, float dt)
{
  const body *b = &world->bodies[slot];
  body_state *state = &world->state[slot];
  dquat q = dquat_normalize(dquat_from(b->target.q));
  dquat to = dquat_mul(q, b->local_principal);
  dquat turn = dquat_mul(to, dquat_conjugate(b->rotation));
  if (turn.w < 0.0) {
    turn = (dquat){-turn.x, -turn.y, -turn.z, -turn.w};
  }
  double sine = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
  double angle = (double)(2.0f * r_atan2((float)sine, (float)turn.w));
  double rate = sine > 1e-12 ? angle / (sine * (double)dt) : 2.0 / (double)dt;
  tn_pos move = pos_sub(pos_add(b->target.p, dquat_rotate(q, b->local_center)), b->center);
  state->v[0] = (float)(move.x / (double)dt);
  state->v[1] = (float)(move.y / (double)dt);
  state->v[2] = (float)(move.z / (double)dt);
  state->w[0] = (float)(turn.x * rate);
  state->w[1] = (float)(turn.y * rate);
  state->w[2] = (float)(turn.z * rate);
}

// Writes what is constant over the step to the body's lane: mass, inertia, damping, speed limits,
// acceleration s g + F / m and torque. A squeezed body is heavier in the step (load_estimate.c),
// and its acceleration less: forces are not scaled. Supported bodies get the whole kick of a
// substep before the drift, so that contacts see their load; free bodies half of it, which is exact
// for free fall.
void body_begin_step(tn_world *world, int32_t slot, float dt, int substeps)
{
  const body *b = &world->bodies[slot];
  if (b->type == TN_BODY_STATIC) {
    return;
  }
  body_block *block = &world->body_blocks[slot / BLOCK_WIDTH];
  int lane = slot % BLOCK_WIDTH;
  if (b->has_target) {
    set_velocity_to_target(world, slot, dt);
  }
  AngularState spin = body_spin(world, slot);
  tn_quat q = dquat_round(b->rotation);
  Q start = {q.x, q.y, q.z, q.w};
  spin.start = start;
  float dynamic = is_dynamic(b) ? 1.0f : 0.0f;
  if (dynamic == 0.0f) {
    body_update_momentum(&world->state[slot], &spin);
  }
  body_set_spin(world, slot, &spin);
  float inverse_mass_scale = world->solver->body_loads[slot].inverse_mass_scale;
  float m = is_dynamic(b) ? inverse_mass_scale / b->mass.mass : 0.0f;
  world->state[slot].inverse_mass = m;
  float inverse_inertia_scale = dynamic * world->solver->body_loads[slot].inverse_inertia_scale;
  body_update_inertia(world, slot, &spin, inverse_inertia_scale);

  float h = dt / (float)substeps;
  BodyStepParams params = {damping_decay(b->linear_damping, h),
                           damping_decay(b->angular_damping, h),
                           b->max_speed,
                           b->max_angular_speed,
                           inverse_inertia_scale,
                           first_kick_of(b)};
  set_lane(block->params, lane, is_dynamic(b) ? &params : &static_step_params,
           FIELDS(BodyStepParams));
  float scale = dynamic * inverse_mass_scale * b->gravity_scale;
  float a[3] = {scale * world->gravity.x + m * b->force.x,
                scale * world->gravity.y + m * b->force.y,
                scale * world->gravity.z + m * b->force.z};
  float t[3] = {b->torque.x, b->torque.y, b->torque.z};
  set_lane(block->acceleration, lane, a, 3);
  set_lane(block->torque, lane, t, 3);
}

static double flush_component(double x)
{
  return fabs(x) < (double)TUNING_TINY_MOTION ? 0.0 : x;
}

// As flush_tiny_rotation().
static dquat flush_rotation(dquat q)
{
  return (dquat){flush_component(q.x), flush_component(q.y), flush_component(q.z),
                 flush_component(q.w)};
}

// Removes the rounding error of the motion, and stops the body.
static void snap_to_target(body *b, body_state *state)
{
  dquat q = dquat_normalize(dquat_from(b->target.q));
  b->rotation = dquat_mul(q, b->local_principal);
  b->center = pos_add(b->target.p, dquat_rotate(q, b->local_center));
  memset(state->v, 0, sizeof state->v);
  memset(state->w, 0, sizeof state->w);
  b->has_target = false;
}

bool body_end_step(tn_world *world, int32_t slot)
{
  body *b = &world->bodies[slot];
  if (b->type == TN_BODY_STATIC) {
    return true;
  }
  body_state *state = &world->state[slot];
  b->force = b->torque = tn_v3(0.0f, 0.0f, 0.0f);
  state->inverse_mass = is_dynamic(b) ? 1.0f / b->mass.mass : 0.0f;
  tn_pos move = {(double)state->dx[0], (double)state->dx[1], (double)state->dx[2]};
  tn_pos center = pos_add(b->center, move);
  if (b->has_target) {
    snap_to_target(b, state);
  } else if (!is_position(center)) {
    memset(state->v, 0, sizeof state->v);
    memset(state->w, 0, sizeof state->w);
    body_sync_solver(world, slot);
    return false;
  } else {
    dquat turn = {(double)state->dq[0], (double)state->dq[1], (double)state->dq[2],
                  (double)state->dq[3]};
    b->center = center;
    b->rotation = flush_rotation(dquat_normalize(dquat_mul(turn, b->rotation)));
  }
  b->lost = 0;
  memset(state->pose, 0, sizeof state->pose);
  state->dq[3] = 1.0f;
  return true;
}
