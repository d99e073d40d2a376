// Attachments between records and blocks, and their breaking.
#include "data/events.h"
#include "data/ids.h"
#include "data/world.h"
#include "solver/soft/soft_steps.h"
#include "solver/solver.h"

#include <string.h>

// Lever arm of the attachment's point: from the body's centre of mass, world axes, m.
tn_pos attachment_lever(const tn_world *world, const attachment *a)
{
  const body *b = &world->bodies[a->body];
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  return dquat_rotate(q, pos_sub(a->def.point, b->local_center));
}

// From the body's point to the particle, world axes, m.
tn_pos attachment_delta_at_start(const tn_world *world, const attachment *a, tn_pos lever)
{
  tn_pos at = world->softs[a->soft].particles[a->def.particle].at;
  return pos_sub(pos_sub(at, world->bodies[a->body].center), lever);
}

bool attachment_is_active(const tn_world *world, const attachment *a)
{
  return a->alive && !a->broken && world->softs[a->soft].first > 0;
}

static bool is_dynamic_body(const tn_world *world, int32_t slot)
{
  return world->bodies[slot].type == TN_BODY_DYNAMIC;
}

static V vec(tn_pos p)
{
  return v_make((float)p.x, (float)p.y, (float)p.z);
}

// `scale` adapts the last impulse to a changed substep length.
static void pack(tn_world *world, int32_t slot, attachment_block *block, int lane, float scale)
{
  attachment *a = &world->attachments[slot];
  a->rope_impulse = tn_v3(0.0f, 0.0f, 0.0f);
  block->attachment[lane] = slot;
  block->solver_index[lane] = world->softs[a->soft].first + a->def.particle;
  block->body[lane] = a->body;
  block->move[lane] = is_dynamic_body(world, a->body);
  tn_pos lever = attachment_lever(world, a);
  AttachmentParams params = {vec(attachment_delta_at_start(world, a, lever)), vec(lever),
                             a->def.compliance};
  AttachmentState state;
  memset(&state, 0, sizeof state);
  state.lambda = v_make(scale * a->lambda.x, scale * a->lambda.y, scale * a->lambda.z);
  set_lane(block->params, lane, &params, FIELDS(AttachmentParams));
  set_lane(block->state, lane, &state, FIELDS(AttachmentState));
}

static soft_coloring_node coloring_node_of(const tn_world *world, int32_t index)
{
  const attachment *a = &world->attachments[index];
  soft_coloring_node link = {.body = NO_SLOT};
  if (attachment_is_active(world, a)) {
    link.count = 1;
    link.solver_index[0] = world->softs[a->soft].first + a->def.particle;
    link.body = is_dynamic_body(world, a->body) ? a->body : NO_SLOT;
  }
  return link;
}

bool attachments_pack(tn_world *world, float scale)
{
  soft_coloring *links = &world->solver->attachment_coloring;
  soft_data *data = &world->solver->soft_graph.data;
  links->block_count = links->color_count = 0;
  links->overflow.first = links->overflow.last = 0;
  if (world->attachment_pool.count == 0) {
    return true;
  }
  if (!soft_coloring_build(world, links, world->attachment_pool.used, coloring_node_of) ||
      !heap_reserve(&world->heap, (void **)&data->attachments, &links->block_capacity,
                    links->block_count, sizeof(attachment_block)) ||
      !heap_reserve(&world->heap, (void **)&data->compensation,
                    &world->solver->soft_graph.compensation_capacity, world->body_pool.used,
                    sizeof(body_compensation))) {
    return false;
  }
  memset(data->compensation, 0, (size_t)world->body_pool.used * sizeof(body_compensation));
  if (links->block_count > 0) {
    memset(data->attachments, 0, (size_t)links->block_count * sizeof(attachment_block));
  }
  for (int32_t i = 0; i < links->block_count * BLOCK_WIDTH; ++i) {
    data->attachments[i / BLOCK_WIDTH].attachment[i % BLOCK_WIDTH] = NO_SLOT;
  }
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    if (links->at[i] != NO_SLOT) {
      pack(world, i, &data->attachments[links->at[i] / BLOCK_WIDTH], links->at[i] % BLOCK_WIDTH,
           scale);
    }
  }
  return true;
}

static void break_attachment(tn_world *world, int32_t slot)
{
  attachment *a = &world->attachments[slot];
  soft *s = &world->softs[a->soft];
  a->broken = true;
  s->attachment_count -= 1;
  tn_soft_event event = {.kind = TN_SOFT_EVENT_RELEASE,
                         .soft = soft_id_at(world, a->soft),
                         .body = body_id_at(world, a->body),
                         .attachment = attachment_id_at(world, slot),
                         .particles = {a->def.particle, -1},
                         .point = s->particles[a->def.particle].at,
                         .force = a->force};
  add_soft_event(world, &event);
}

void attachments_unpack(tn_world *world, float dt)
{
  soft_data *data = &world->solver->soft_graph.data;
  for (int32_t i = 0; i < world->solver->attachment_coloring.block_count * BLOCK_WIDTH; ++i) {
    attachment_block *block = &data->attachments[i / BLOCK_WIDTH];
    int lane = i % BLOCK_WIDTH;
    if (block->attachment[lane] == NO_SLOT) {
      continue;
    }
    AttachmentState state;
    get_lane(block->state, lane, &state, FIELDS(AttachmentState));
    attachment *a = &world->attachments[block->attachment[lane]];
    bool finite = isfinite(v_dot(state.lambda, state.lambda));
    a->lambda = finite ? tn_v3(state.lambda.x, state.lambda.y, state.lambda.z) : tn_v3(0, 0, 0);
    tn_vec3 sum = tn_v3(state.sum.x, state.sum.y, state.sum.z);
    // A rope's direct solve passes part of the load to the body without the attachment.
    a->force = tn_scale(1.0f / dt, tn_sub(sum, a->rope_impulse));
    if (tn_length(a->force) > a->def.break_force) {
      break_attachment(world, block->attachment[lane]);
    }
  }
}
