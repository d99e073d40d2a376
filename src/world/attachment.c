// Attachments: a particle of a soft body is held, rigidly or by a spring, at a point of a rigid
// body or of the world. The kernel is in kernel/soft_contact.h.
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "data/world.h"
#include "kernel/ranges.h"
#include "solver/soft/soft_steps.h"
#include "solver/solver.h"
#include "world/checks.h"
#include "world/lifetime.h"
#include "world/measures.h"

#include <math.h>
#include <string.h>

tn_attachment_def tn_attachment_get_def(const tn_world *world, tn_attachment_id id)
{
  const attachment *a = attachment_find(world, id, "tn_attachment_get_def");
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
  RECORD(world, tn_attachment_create, def);
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
  return attachment_id_at(world, slot);
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
  RECORD(world, tn_attachment_destroy, &id);
  attachment *a = attachment_find(world, id, "tn_attachment_destroy");
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
  RECORD(world, tn_attachment_set_def, &id, def);
  attachment *a = attachment_find(world, id, "tn_attachment_set_def");
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
  const attachment *a = attachment_find(world, id, "tn_attachment_user_data");
  return a ? a->def.user_data : NULL;
}

bool tn_attachment_set_user_data(tn_world *world, tn_attachment_id id, void *data)
{
  attachment *a = attachment_find(world, id, "tn_attachment_set_user_data");
  if (a) {
    a->def.user_data = data;
  }
  return a != NULL;
}

tn_pos tn_attachment_point(const tn_world *world, tn_attachment_id id)
{
  const attachment *a = attachment_find(world, id, "tn_attachment_point");
  return a ? a->def.point : tn_p3(0.0, 0.0, 0.0);
}

bool tn_attachment_set_point(tn_world *world, tn_attachment_id id, tn_pos point)
{
  RECORD(world, tn_attachment_set_point, &id, &point);
  attachment *a = attachment_find(world, id, "tn_attachment_set_point");
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

tn_attachment_state tn_attachment_get_state(const tn_world *world, tn_attachment_id id)
{
  tn_attachment_state state = {0};
  const attachment *a = attachment_find(world, id, "tn_attachment_get_state");
  if (a) {
    tn_pos d = attachment_delta_at_start(world->softs, world->bodies, a,
                                         attachment_lever(world->bodies, a));
    state.force = a->force;
    state.length = (float)sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    state.broken = a->broken;
  }
  return state;
}

double attachment_energy(const tn_world *world, const attachment *a)
{
  tn_pos d =
      attachment_delta_at_start(world->softs, world->bodies, a, attachment_lever(world->bodies, a));
  double compliance = (double)a->def.compliance;
  return compliance > 0.0 ? 0.5 * (d.x * d.x + d.y * d.y + d.z * d.z) / compliance : 0.0;
}

void attachments_release(tn_world *world)
{
  soft_coloring *links = &world->solver->attachment_coloring;
  heap_free(&world->heap, world->attachments,
            (size_t)world->attachment_pool.capacity * sizeof(attachment));
  soft_coloring_release(&world->heap, links);
  heap_free(&world->heap, world->solver->soft_graph.data.compensation,
            (size_t)world->solver->soft_graph.compensation_capacity * sizeof(body_compensation));
  heap_free(&world->heap, world->solver->soft_graph.data.attachments,
            (size_t)links->block_capacity * sizeof(attachment_block));
}
