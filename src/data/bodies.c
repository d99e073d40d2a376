// The solver's view of bodies.
#include "data/bodies.h"

#include "data/world.h"

#include <string.h>

AngularState body_spin(const tn_world *world, int32_t slot)
{
  AngularState spin;
  get_lane(world->body_blocks[slot / BLOCK_WIDTH].spin, slot % BLOCK_WIDTH, &spin,
           FIELDS(AngularState));
  return spin;
}

void body_set_spin(tn_world *world, int32_t slot, const AngularState *spin)
{
  set_lane(world->body_blocks[slot / BLOCK_WIDTH].spin, slot % BLOCK_WIDTH, spin,
           FIELDS(AngularState));
}

static V from_array(const float *v)
{
  return v_make(v[0], v[1], v[2]);
}

static bool is_dynamic(const body *b)
{
  return b->type == TN_BODY_DYNAMIC;
}

// Zero for bodies that are not dynamic, and for sleeping ones, as the passes leave it that visit
// the lanes of sleeping bodies beside awake ones: a restored world must agree.
static float resting_inertia_scale(const body *b)
{
  return is_dynamic(b) && !b->asleep ? 1.0f : 0.0f;
}

// World inverse inertia R I^-1 R^T, scaled.
void body_update_inertia(tn_world *world, int32_t slot, const AngularState *spin,
                         float inverse_inertia_scale)
{
  float *to = world->inertia[slot].inverse;
  S s = s_scale(inverse_inertia_scale, s_rotated_diagonal(spin->start, spin->inverse));
  float values[8] = {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz, world->state[slot].inverse_mass, 0.0f};
  memcpy(to, values, sizeof values);
}

// Angular momentum L = R I R^T w.
void body_update_momentum(const body_state *state, AngularState *spin)
{
  V w = from_array(state->w);
  spin->momentum = q_rotate(spin->start, v_mul(spin->inertia, q_unrotate(spin->start, w)));
  spin->last = w;
}

// No damping, no speed limits, no response to impulses, kick in two halves.
const BodyStepParams static_step_params = {1.0f, 1.0f, 3e38f, 3e38f, 0.0f, 0.5f};

// Static and sleeping bodies: the step does not visit them, so their lane stays as it is set here.
static void zero_motion(tn_world *world, int32_t slot)
{
  body_state *state = &world->state[slot];
  body_block *block = &world->body_blocks[slot / BLOCK_WIDTH];
  float none[3] = {0.0f, 0.0f, 0.0f};
  memset(state->v, 0, sizeof state->v);
  memset(state->w, 0, sizeof state->w);
  set_lane(block->params, slot % BLOCK_WIDTH, &static_step_params, FIELDS(BodyStepParams));
  set_lane(block->acceleration, slot % BLOCK_WIDTH, none, 3);
  set_lane(block->torque, slot % BLOCK_WIDTH, none, 3);
}

void body_sync_solver(tn_world *world, int32_t slot)
{
  const body *b = &world->bodies[slot];
  body_state *state = &world->state[slot];
  bool dynamic = is_dynamic(b);
  state->inverse_mass = dynamic ? 1.0f / b->mass.mass : 0.0f;
  memset(state->pose, 0, sizeof state->pose);
  state->dq[3] = 1.0f;
  if (b->type == TN_BODY_STATIC || b->asleep) {
    zero_motion(world, slot);
  }
  AngularState spin = body_spin(world, slot);
  // Equal moments give a kinematic body no gyroscopic torque: its angular velocity stays constant.
  spin.inertia = spin.inverse = v_make(1.0f, 1.0f, 1.0f);
  if (dynamic) {
    spin.inertia = v_make((float)b->moments[0], (float)b->moments[1], (float)b->moments[2]);
    spin.inverse = v_make((float)(1.0 / b->moments[0]), (float)(1.0 / b->moments[1]),
                          (float)(1.0 / b->moments[2]));
  }
  tn_quat q = dquat_round(b->rotation);
  Q start = {q.x, q.y, q.z, q.w};
  spin.start = start;
  body_update_momentum(state, &spin);
  body_set_spin(world, slot, &spin);
  body_update_inertia(world, slot, &spin, resting_inertia_scale(b));
}

void body_clear_slots(tn_world *world, int32_t first, int32_t last)
{
  for (int32_t i = first; i < last; ++i) {
    memset(&world->bodies[i], 0, sizeof world->bodies[i]);
    memset(&world->state[i], 0, sizeof world->state[i]);
    memset(&world->inertia[i], 0, sizeof world->inertia[i]);
    memset(&world->corrections[i], 0, sizeof world->corrections[i]);
    world->state[i].constraint_count = 1.0f;
    world->state[i].dq[3] = 1.0f;
    AngularState spin;
    memset(&spin, 0, sizeof spin);
    spin.inertia = spin.inverse = v_make(1.0f, 1.0f, 1.0f);
    spin.start.w = 1.0f;
    body_set_spin(world, i, &spin);
    zero_motion(world, i);
  }
}

void body_restore_inertia(tn_world *world)
{
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    AngularState spin = body_spin(world, i);
    body_update_inertia(world, i, &spin, resting_inertia_scale(&world->bodies[i]));
  }
}

tn_transform body_transform_of(const body *b)
{
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  tn_transform t = {pos_sub(b->center, dquat_rotate(q, b->local_center)), dquat_round(q)};
  return t;
}
