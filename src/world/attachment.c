// Attachments: a particle of a soft body is held, rigidly or by a spring, at a point of a rigid
// body or of the world. The kernel is in kernel/soft_contact.h.
#include "data/world.h"

#include <math.h>
#include <string.h>

static const char *why_not_one(const tn_world *world, tn_attachment_id id)
{
  if (TN_IS_NULL(id)) {
    return "the attachment's id is null";
  }
  if (id.world != world->world_id) {
    return "the attachment belongs to another world";
  }
  if (id.index > (uint32_t)world->attachment_pool.used ||
      world->attachments[id.index - 1].generation != id.generation ||
      !world->attachments[id.index - 1].alive) {
    return "the attachment has been destroyed";
  }
  return NULL;
}

static attachment *find(const tn_world *world, tn_attachment_id id, const char *caller)
{
  if (!world) {
    return NULL;
  }
  const char *why = why_not_one(world, id);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return NULL;
  }
  return &world->attachments[id.index - 1];
}

static tn_attachment_id id_at(const tn_world *world, int32_t slot)
{
  tn_attachment_id id = {(uint32_t)slot + 1, world->attachments[slot].generation, world->world_id};
  return id;
}

bool tn_attachment_is_valid(const tn_world *world, tn_attachment_id id)
{
  return world && !why_not_one(world, id);
}

tn_attachment_def tn_attachment_get_def(const tn_world *world, tn_attachment_id id)
{
  const attachment *a = find(world, id, "tn_attachment_get_def");
  return a ? a->def : (tn_attachment_def){0};
}

int tn_world_attachments(const tn_world *world, tn_attachment_id *ids, int capacity)
{
  int count = 0;
  for (int32_t i = 0; world && i < world->attachment_pool.used; ++i) {
    if (world->attachments[i].alive) {
      if (ids && count < capacity) {
        ids[count] =
            (tn_attachment_id){(uint32_t)i + 1, world->attachments[i].generation, world->world_id};
      }
      count += 1;
    }
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Create and destroy

tn_attachment_def tn_default_attachment_def(void)
{
  tn_attachment_def def = {0};
  def.break_force = INFINITY;
  def.cookie = DEF_COOKIE;
  return def;
}

const char *attachment_def_problem(const tn_attachment_def *def)
{
  if (!def) {
    return "the definition is null";
  }
  if (def->cookie != DEF_COOKIE) {
    return "the definition does not come from tn_default_attachment_def";
  }
  if (!is_position(def->point)) {
    return "the point is not finite or too far away";
  }
  if (!(def->compliance >= 0.0f && def->compliance <= SOFT_MAX_COMPLIANCE)) {
    return "compliance must be from 0 to 1e12";
  }
  return def->break_force >= 0.0f ? NULL : "break_force must not be negative";
}

tn_attachment_id tn_attachment_create(tn_world *world, const tn_attachment_def *def)
{
  const char *caller = "tn_attachment_create";
  tn_attachment_id none = {0};
  if (!world) {
    return none;
  }
  const char *why = attachment_def_problem(def);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return none;
  }
  soft *s = soft_find(world, def->soft, caller);
  const body *b =
      TN_IS_NULL(def->body) ? &world->bodies[WORLD_SLOT] : body_find(world, def->body, caller);
  if (!s || !b) {
    return none;
  }
  if (def->particle < 0 || def->particle >= s->particle_count) {
    report(&world->log, TN_LOG_ERROR, "%s: the soft body has no particle %d", caller,
           def->particle);
    return none;
  }
  int32_t slot = pool_alloc(&world->heap, &world->attachment_pool, (void **)&world->attachments,
                            sizeof(attachment), offsetof(attachment, next_free));
  if (slot == NO_SLOT) {
    report(&world->log, TN_LOG_ERROR, "%s: out of memory", caller);
    return none;
  }
  attachment *a = &world->attachments[slot];
  uint32_t generation = a->generation;
  memset(a, 0, sizeof *a);
  a->generation = generation;
  a->alive = true;
  a->def = *def;
  a->soft = (int32_t)(s - world->softs);
  a->body = body_slot(world, b);
  s->attachment_count += 1;
  soft_wake(world, a->soft);
  body_wake(world, a->body);
  return id_at(world, slot);
}

static void remove_at(tn_world *world, int32_t slot)
{
  attachment *a = &world->attachments[slot];
  soft_wake(world, a->soft);
  body_wake(world, a->body);
  world->softs[a->soft].attachment_count -= a->broken ? 0 : 1;
  a->alive = false;
  a->generation += 1;
  pool_free(&world->attachment_pool, world->attachments, sizeof(attachment),
            offsetof(attachment, next_free), slot);
}

bool tn_attachment_destroy(tn_world *world, tn_attachment_id id)
{
  attachment *a = find(world, id, "tn_attachment_destroy");
  if (a) {
    remove_at(world, (int32_t)(a - world->attachments));
  }
  return a;
}

void attachments_remove_soft(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    if (world->attachments[i].alive && world->attachments[i].soft == slot) {
      remove_at(world, i);
    }
  }
}

void attachments_remove_body(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    if (world->attachments[i].alive && world->attachments[i].body == slot) {
      remove_at(world, i);
    }
  }
}

bool tn_attachment_set_def(tn_world *world, tn_attachment_id id, const tn_attachment_def *def)
{
  attachment *a = find(world, id, "tn_attachment_set_def");
  if (!a) {
    return false;
  }
  const char *why = attachment_def_problem(def);
  if (!why && (!TN_SAME_ID(def->soft, a->def.soft) || !TN_SAME_ID(def->body, a->def.body) ||
               def->particle != a->def.particle)) {
    why = "the ends of an attachment cannot change";
  }
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_attachment_set_def: %s", why);
    return false;
  }
  a->def = *def;
  soft_wake(world, a->soft);
  body_wake(world, a->body);
  return true;
}

void *tn_attachment_user_data(const tn_world *world, tn_attachment_id id)
{
  const attachment *a = find(world, id, "tn_attachment_user_data");
  return a ? a->def.user_data : NULL;
}

bool tn_attachment_set_user_data(tn_world *world, tn_attachment_id id, void *data)
{
  attachment *a = find(world, id, "tn_attachment_set_user_data");
  if (a) {
    a->def.user_data = data;
  }
  return a != NULL;
}

tn_pos tn_attachment_point(const tn_world *world, tn_attachment_id id)
{
  const attachment *a = find(world, id, "tn_attachment_point");
  return a ? a->def.point : tn_p3(0.0, 0.0, 0.0);
}

bool tn_attachment_set_point(tn_world *world, tn_attachment_id id, tn_pos point)
{
  attachment *a = find(world, id, "tn_attachment_set_point");
  if (!a) {
    return false;
  }
  if (!is_position(point)) {
    report(&world->log, TN_LOG_ERROR,
           "tn_attachment_set_point: the point is not finite or too far away");
    return false;
  }
  a->def.point = point;
  soft_wake(world, a->soft);
  body_wake(world, a->body);
  return true;
}

// Lever arm of the attachment's point: from the body's centre of mass, world axes, m.
tn_pos attachment_lever(const tn_world *world, const attachment *a)
{
  const body *b = &world->bodies[a->body];
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  return dquat_rotate(q, pos_sub(a->def.point, b->local_center));
}

// From the body's point to the particle, world axes, m.
static tn_pos attachment_delta_at_start(const tn_world *world, const attachment *a, tn_pos lever)
{
  tn_pos at = world->softs[a->soft].particles[a->def.particle].at;
  return pos_sub(pos_sub(at, world->bodies[a->body].center), lever);
}

tn_attachment_state tn_attachment_get_state(const tn_world *world, tn_attachment_id id)
{
  tn_attachment_state state = {0};
  const attachment *a = find(world, id, "tn_attachment_get_state");
  if (a) {
    tn_pos d = attachment_delta_at_start(world, a, attachment_lever(world, a));
    state.force = a->force;
    state.length = (float)sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    state.broken = a->broken;
  }
  return state;
}

double attachment_energy(const tn_world *world, const attachment *a)
{
  tn_pos d = attachment_delta_at_start(world, a, attachment_lever(world, a));
  double compliance = (double)a->def.compliance;
  return compliance > 0.0 ? 0.5 * (d.x * d.x + d.y * d.y + d.z * d.z) / compliance : 0.0;
}

// ---------------------------------------------------------------------------------------------
// Pack and unpack

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
  soft_coloring *links = &world->attachment_coloring;
  soft_data *data = &world->soft_graph.data;
  links->block_count = links->color_count = 0;
  links->overflow.first = links->overflow.last = 0;
  if (world->attachment_pool.count == 0) {
    return true;
  }
  if (!soft_coloring_build(world, links, world->attachment_pool.used, coloring_node_of) ||
      !heap_reserve(&world->heap, (void **)&data->attachments, &links->block_capacity,
                    links->block_count, sizeof(attachment_block)) ||
      !heap_reserve(&world->heap, (void **)&data->compensation,
                    &world->soft_graph.compensation_capacity, world->body_pool.used,
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
                         .attachment = id_at(world, slot),
                         .particles = {a->def.particle, -1},
                         .point = s->particles[a->def.particle].at,
                         .force = a->force};
  add_soft_event(world, &event);
}

void attachments_unpack(tn_world *world, float dt)
{
  soft_data *data = &world->soft_graph.data;
  for (int32_t i = 0; i < world->attachment_coloring.block_count * BLOCK_WIDTH; ++i) {
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

void attachments_release(tn_world *world)
{
  soft_coloring *links = &world->attachment_coloring;
  heap_free(&world->heap, world->attachments,
            (size_t)world->attachment_pool.capacity * sizeof(attachment));
  soft_coloring_release(world, links);
  heap_free(&world->heap, world->soft_graph.data.compensation,
            (size_t)world->soft_graph.compensation_capacity * sizeof(body_compensation));
  heap_free(&world->heap, world->soft_graph.data.attachments,
            (size_t)links->block_capacity * sizeof(attachment_block));
}
