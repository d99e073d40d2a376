// Soft bodies before and after the substeps: the solver's view of the world, its layout, and the
// results with their events.
#include "solver/soft_step.h"

#include "data/events.h"
#include "data/ids.h"
#include "data/world.h"
#include "detect/soft_contacts.h"
#include "solver/soft/soft_steps.h"
#include "solver/solver.h"

static void queue_break_event(const soft_break *b, void *context)
{
  tn_world *world = context;
  tn_soft_event event = {.kind = TN_SOFT_EVENT_TEAR,
                         .soft = soft_id_at(world, b->soft),
                         .particles = {b->particles[0], b->particles[1]},
                         .point = b->point,
                         .force = b->force};
  if (b->attachment != NO_SLOT) {
    event.kind = TN_SOFT_EVENT_RELEASE;
    event.body = body_id_at(world, world->attachments[b->attachment].body);
    event.attachment = attachment_id_at(world, b->attachment);
  }
  add_soft_event(world, &event);
}

soft_system soft_system_of(tn_world *world)
{
  return (soft_system){.heap = &world->heap,
                       .log = &world->log,
                       .tasks = world->tasks,
                       .method = world->method,
                       .substeps = world->substeps,
                       .gravity = world->gravity,
                       .softs = world->softs,
                       .attachments = world->attachments,
                       .bodies = world->bodies,
                       .state = world->state,
                       .inertia = world->inertia,
                       .shapes = world->shapes,
                       .soft_pool = &world->soft_pool,
                       .attachment_pool = &world->attachment_pool,
                       .body_pool = &world->body_pool,
                       .contacts = world->soft_contacts,
                       .contact_count = world->soft_contact_count,
                       .ops = world->solver->soft_ops,
                       .graph = &world->solver->soft_graph,
                       .contact_coloring = &world->solver->soft_contact_coloring,
                       .attachment_coloring = &world->solver->attachment_coloring,
                       .layout_stale = &world->soft_layout_stale,
                       .on_break = queue_break_event,
                       .break_context = world};
}

bool prepare_softs(tn_world *world, float dt, float scale)
{
  if (world->soft_pool.count == 0) {
    return true;
  }
  soft_system system = soft_system_of(world);
  if (!soft_graph_build(&system) || !soft_contacts_pack(&system) ||
      !attachments_pack(&system, scale)) {
    return false;
  }
  soft_pack(&system);
  if (!soft_unfold_pack(&system)) {
    return false;
  }
  soft_limit_stiffness(&system, dt);
  return true;
}

static bool is_solved(const soft *s)
{
  return s->alive && s->first > 0;
}

static bool unpack_softs(tn_world *world, const soft_system *system)
{
  bool ok = true;
  soft_unpack_rows(system);
  soft_unpack(system);
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (!is_solved(&world->softs[i])) {
      continue;
    }
    if (soft_has_left(system, i)) {
      lost_forget_soft(world, i);
      lost_report_soft(world, i, "left the range of positions");
      ok = false;
    } else {
      world->softs[i].lost = 0;
    }
  }
  return ok;
}

static bool stop_bad_velocities(tn_world *world, const soft_system *system)
{
  bool ok = true;
  soft_check_velocities(system);
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (is_solved(&world->softs[i]) && !soft_stop_bad_velocities(system, i)) {
      lost_report_soft(world, i, "went non-finite");
      ok = false;
    }
  }
  return ok;
}

bool finish_softs(tn_world *world, float dt)
{
  soft_system system = soft_system_of(world);
  soft_contacts_unpack(&system, dt);
  attachments_unpack(&system, dt);
  soft_restore_momentum(&system, dt);
  bool ok = unpack_softs(world, &system);
  soft_touch_pairs_update(world);
  soft_damp(&system, dt);
  soft_apply_plasticity(&system, dt);
  if (!soft_tear(&system, dt)) {
    report(&world->log, TN_LOG_WARNING, "out of memory: a soft body tears in the next step");
  }
  soft_unfold_update(&system, dt);
  return stop_bad_velocities(world, &system) && ok;
}
