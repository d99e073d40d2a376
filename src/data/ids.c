// Look-up by id. An id holds the slot, the generation of the slot, and the world.
#include "data/ids.h"

#include "data/world.h"

tn_body_id body_id_at(const tn_world *world, int32_t slot)
{
  tn_body_id id = {(uint32_t)slot, world->bodies[slot].generation, world->world_id};
  return id;
}

int32_t body_slot(const tn_world *world, const body *b)
{
  return (int32_t)(b - world->bodies);
}

static const char *body_id_error(const tn_world *world, tn_body_id id)
{
  if (TN_IS_NULL(id)) {
    return "the body id is null";
  }
  if (id.world != world->world_id) {
    return "the body belongs to another world";
  }
  if (id.index >= (uint32_t)world->body_pool.used ||
      world->bodies[id.index].generation != id.generation || !world->bodies[id.index].alive) {
    return "the body has been destroyed";
  }
  return NULL;
}

body *body_find(const tn_world *world, tn_body_id id, const char *caller)
{
  if (!world) {
    return NULL;
  }
  const char *why = body_id_error(world, id);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return NULL;
  }
  return &world->bodies[id.index];
}

bool tn_body_is_valid(const tn_world *world, tn_body_id id)
{
  return world && !body_id_error(world, id);
}

tn_shape_id shape_id_at(const tn_world *world, int32_t slot)
{
  tn_shape_id id = {(uint32_t)slot + 1, world->shapes[slot].generation, world->world_id};
  return id;
}

static const char *shape_id_error(const tn_world *world, tn_shape_id id)
{
  if (TN_IS_NULL(id)) {
    return "the shape id is null";
  }
  if (id.world != world->world_id) {
    return "the shape belongs to another world";
  }
  if (id.index > (uint32_t)world->shape_pool.used ||
      world->shapes[id.index - 1].generation != id.generation ||
      !world->shapes[id.index - 1].alive) {
    return "the shape has been destroyed";
  }
  return NULL;
}

shape *shape_find(const tn_world *world, tn_shape_id id, const char *caller)
{
  if (!world) {
    return NULL;
  }
  const char *why = shape_id_error(world, id);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return NULL;
  }
  return &world->shapes[id.index - 1];
}

bool tn_shape_is_valid(const tn_world *world, tn_shape_id id)
{
  return world && !shape_id_error(world, id);
}

tn_joint_id joint_id_at(const tn_world *world, int32_t slot)
{
  tn_joint_id id = {(uint32_t)slot + 1, world->joints[slot].generation, world->world_id};
  return id;
}

static const char *joint_id_error(const tn_world *world, tn_joint_id id)
{
  if (TN_IS_NULL(id)) {
    return "the joint id is null";
  }
  if (id.world != world->world_id) {
    return "the joint belongs to another world";
  }
  if (id.index > (uint32_t)world->joint_pool.used ||
      world->joints[id.index - 1].generation != id.generation ||
      !world->joints[id.index - 1].alive) {
    return "the joint has been destroyed";
  }
  return NULL;
}

joint *joint_find(const tn_world *world, tn_joint_id id, const char *caller)
{
  if (!world) {
    return NULL;
  }
  const char *why = joint_id_error(world, id);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return NULL;
  }
  return &world->joints[id.index - 1];
}

bool tn_joint_is_valid(const tn_world *world, tn_joint_id id)
{
  return world && !joint_id_error(world, id);
}

tn_coupling_id coupling_id_at(const tn_world *world, int32_t slot)
{
  tn_coupling_id id = {(uint32_t)slot + 1, world->couplings[slot].generation, world->world_id};
  return id;
}

static const char *coupling_id_error(const tn_world *world, tn_coupling_id id)
{
  if (TN_IS_NULL(id)) {
    return "the coupling id is null";
  }
  if (id.world != world->world_id) {
    return "the coupling belongs to another world";
  }
  if (id.index > (uint32_t)world->coupling_pool.used ||
      world->couplings[id.index - 1].generation != id.generation ||
      !world->couplings[id.index - 1].alive) {
    return "the coupling has been destroyed";
  }
  return NULL;
}

coupling *coupling_find(const tn_world *world, tn_coupling_id id, const char *caller)
{
  if (!world) {
    return NULL;
  }
  const char *why = coupling_id_error(world, id);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return NULL;
  }
  return &world->couplings[id.index - 1];
}

bool tn_coupling_is_valid(const tn_world *world, tn_coupling_id id)
{
  return world && !coupling_id_error(world, id);
}

tn_soft_id soft_id_at(const tn_world *world, int32_t slot)
{
  tn_soft_id id = {(uint32_t)slot + 1, world->softs[slot].generation, world->world_id};
  return id;
}

static const char *soft_id_error(const tn_world *world, tn_soft_id id)
{
  if (TN_IS_NULL(id)) {
    return "the soft body's id is null";
  }
  if (id.world != world->world_id) {
    return "the soft body belongs to another world";
  }
  if (id.index > (uint32_t)world->soft_pool.used ||
      world->softs[id.index - 1].generation != id.generation || !world->softs[id.index - 1].alive) {
    return "the soft body has been destroyed";
  }
  return NULL;
}

soft *soft_find(const tn_world *world, tn_soft_id id, const char *caller)
{
  if (!world) {
    return NULL;
  }
  const char *why = soft_id_error(world, id);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return NULL;
  }
  return &world->softs[id.index - 1];
}

bool tn_soft_is_valid(const tn_world *world, tn_soft_id id)
{
  return world && !soft_id_error(world, id);
}

tn_attachment_id attachment_id_at(const tn_world *world, int32_t slot)
{
  tn_attachment_id id = {(uint32_t)slot + 1, world->attachments[slot].generation, world->world_id};
  return id;
}

static const char *attachment_id_error(const tn_world *world, tn_attachment_id id)
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

attachment *attachment_find(const tn_world *world, tn_attachment_id id, const char *caller)
{
  if (!world) {
    return NULL;
  }
  const char *why = attachment_id_error(world, id);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
    return NULL;
  }
  return &world->attachments[id.index - 1];
}

bool tn_attachment_is_valid(const tn_world *world, tn_attachment_id id)
{
  return world && !attachment_id_error(world, id);
}

// The null id for the static world.
tn_body_id body_id_of(const tn_world *world, int32_t slot)
{
  tn_body_id none = {0};
  return slot == WORLD_SLOT ? none : body_id_at(world, slot);
}
