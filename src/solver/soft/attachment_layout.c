// Attachments between records and blocks, and their breaking.
#include "solver/soft/soft_steps.h"

#include <math.h>
#include <string.h>

// Lever arm of the attachment's point: from the body's centre of mass, world axes, m.
tn_pos attachment_lever(const body *bodies, const attachment *a)
{
  const body *b = &bodies[a->body];
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  return dquat_rotate(q, pos_sub(a->def.point, b->local_center));
}

// From the body's point to the particle, world axes, m.
tn_pos attachment_delta_at_start(const soft *softs, const body *bodies, const attachment *a,
                                 tn_pos lever)
{
  tn_pos at = softs[a->soft].particles[a->def.particle].at;
  return pos_sub(pos_sub(at, bodies[a->body].center), lever);
}

bool attachment_is_active(const soft *softs, const attachment *a)
{
  return a->alive && !a->broken && softs[a->soft].first > 0;
}

static bool is_dynamic_body(const soft_system *system, int32_t slot)
{
  return system->bodies[slot].type == TN_BODY_DYNAMIC;
}

static V vec(tn_pos p)
{
  return v_make((float)p.x, (float)p.y, (float)p.z);
}

// `scale` adapts the last impulse to a changed substep length.
static void pack(const soft_system *system, int32_t slot, attachment_block *block, int lane,
                 float scale)
{
  attachment *a = &system->attachments[slot];
  a->rope_impulse = tn_v3(0.0f, 0.0f, 0.0f);
  block->attachment[lane] = slot;
  block->solver_index[lane] = system->softs[a->soft].first + a->def.particle;
  block->body[lane] = a->body;
  block->move[lane] = is_dynamic_body(system, a->body);
  tn_pos lever = attachment_lever(system->bodies, a);
  AttachmentParams params = {
      vec(attachment_delta_at_start(system->softs, system->bodies, a, lever)), vec(lever),
      a->def.compliance};
  AttachmentState state;
  memset(&state, 0, sizeof state);
  state.lambda = v_make(scale * a->lambda.x, scale * a->lambda.y, scale * a->lambda.z);
  set_lane(block->params, lane, &params, FIELDS(AttachmentParams));
  set_lane(block->state, lane, &state, FIELDS(AttachmentState));
}

static soft_coloring_node coloring_node_of(const soft_system *system, int32_t index)
{
  const attachment *a = &system->attachments[index];
  soft_coloring_node link = {.body = NO_SLOT};
  if (attachment_is_active(system->softs, a)) {
    link.count = 1;
    link.solver_index[0] = system->softs[a->soft].first + a->def.particle;
    link.body = is_dynamic_body(system, a->body) ? a->body : NO_SLOT;
  }
  return link;
}

bool attachments_pack(const soft_system *system, float scale)
{
  soft_coloring *links = system->attachment_coloring;
  soft_data *data = &system->graph->data;
  links->block_count = links->color_count = 0;
  links->overflow.first = links->overflow.last = 0;
  if (system->attachment_pool->count == 0) {
    return true;
  }
  if (!soft_coloring_build(system, links, system->attachment_pool->used, coloring_node_of) ||
      !heap_reserve(system->heap, (void **)&data->attachments, &links->block_capacity,
                    links->block_count, sizeof(attachment_block)) ||
      !heap_reserve(system->heap, (void **)&data->compensation,
                    &system->graph->compensation_capacity, system->body_pool->used,
                    sizeof(body_compensation))) {
    return false;
  }
  memset(data->compensation, 0, (size_t)system->body_pool->used * sizeof(body_compensation));
  if (links->block_count > 0) {
    memset(data->attachments, 0, (size_t)links->block_count * sizeof(attachment_block));
  }
  for (int32_t i = 0; i < links->block_count * BLOCK_WIDTH; ++i) {
    data->attachments[i / BLOCK_WIDTH].attachment[i % BLOCK_WIDTH] = NO_SLOT;
  }
  for (int32_t i = 0; i < system->attachment_pool->used; ++i) {
    if (links->at[i] != NO_SLOT) {
      pack(system, i, &data->attachments[links->at[i] / BLOCK_WIDTH], links->at[i] % BLOCK_WIDTH,
           scale);
    }
  }
  return true;
}

static void break_attachment(const soft_system *system, int32_t slot)
{
  attachment *a = &system->attachments[slot];
  soft *s = &system->softs[a->soft];
  a->broken = true;
  s->attachment_count -= 1;
  soft_break event = {.soft = a->soft,
                      .attachment = slot,
                      .particles = {a->def.particle, -1},
                      .point = s->particles[a->def.particle].at,
                      .force = a->force};
  system->on_break(&event, system->break_context);
}

void attachments_unpack(const soft_system *system, float dt)
{
  soft_data *data = &system->graph->data;
  for (int32_t i = 0; i < system->attachment_coloring->block_count * BLOCK_WIDTH; ++i) {
    attachment_block *block = &data->attachments[i / BLOCK_WIDTH];
    int lane = i % BLOCK_WIDTH;
    if (block->attachment[lane] == NO_SLOT) {
      continue;
    }
    AttachmentState state;
    get_lane(block->state, lane, &state, FIELDS(AttachmentState));
    attachment *a = &system->attachments[block->attachment[lane]];
    bool finite = isfinite(v_dot(state.lambda, state.lambda));
    a->lambda = finite ? tn_v3(state.lambda.x, state.lambda.y, state.lambda.z) : tn_v3(0, 0, 0);
    tn_vec3 sum = tn_v3(state.sum.x, state.sum.y, state.sum.z);
    // A rope's direct solve passes part of the load to the body without the attachment.
    a->force = tn_scale(1.0f / dt, tn_sub(sum, a->rope_impulse));
    if (tn_length(a->force) > a->def.break_force) {
      break_attachment(system, block->attachment[lane]);
    }
  }
}
