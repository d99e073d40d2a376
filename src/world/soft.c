// Soft bodies: create, destroy, read, write.
#include "data/ids.h"
#include "data/recorder.h"
#include "data/soft_bounds.h"
#include "data/soft_elements.h"
#include "data/wake.h"
#include "detect/soft_contacts.h"
#include "kernel/ranges.h"
#include "solver/islands.h"
#include "solver/soft/soft_steps.h"
#include "solver/solver.h"
#include "world/lifetime.h"
#include "world/measures.h"
#include "world/soft_make.h"

#include <math.h>
#include <string.h>

// Null, with the reason in the log, if the id or the index is invalid.
static soft_particle *find_particle(const tn_world *world, tn_soft_id id, int particle,
                                    const char *caller)
{
  soft *s = soft_find(world, id, caller);
  if (s && (particle < 0 || particle >= s->particle_count)) {
    report(&world->log, TN_LOG_ERROR, "%s: the soft body has no particle %d", caller, particle);
    return NULL;
  }
  return s ? &s->particles[particle] : NULL;
}

int tn_world_softs(const tn_world *world, tn_soft_id *ids, int capacity)
{
  int count = 0;
  for (int32_t i = 0; world && i < world->soft_pool.used; ++i) {
    if (world->softs[i].alive) {
      if (ids && count < capacity) {
        ids[count] = soft_id_at(world, i);
      }
      count += 1;
    }
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Create and destroy

tn_soft_def tn_default_soft_def(void)
{
  tn_soft_def def = {0};
  def.rotation = tn_quat_identity();
  def.mass = 1.0f;
  def.stretch_limit = def.tear_strain = def.tear_force = INFINITY;
  def.yield_strain = def.creep = def.plastic_limit = INFINITY;
  def.solid = TN_SOFT_COROTATED;
  def.youngs_modulus = 1e5f;
  def.poisson_ratio = 0.3f;
  def.gravity_scale = 1.0f;
  def.radius = 0.005f;
  def.material = tn_default_material();
  def.filter = (tn_filter){1, UINT64_MAX, 0};
  def.keep_momentum = true;
  def.can_sleep = true;
  def.cookie = DEF_COOKIE;
  return def;
}

// Slot of the new soft body, or NO_SLOT when out of memory.
static int32_t make(tn_world *world, const tn_soft_def *def, const half_edge *sides)
{
  int32_t used = world->soft_pool.used;
  int32_t slot = pool_alloc(&world->heap, &world->soft_pool, (void **)&world->softs, sizeof(soft),
                            offsetof(soft, next_free));
  if (slot == NO_SLOT) {
    return NO_SLOT;
  }
  soft *s = &world->softs[slot];
  uint32_t generation = s->generation;
  memset(s, 0, sizeof *s);
  s->generation = generation;
  soft_count_elements(s, def, sides);
  s->size = soft_assign_arrays(s, NULL);
  s->memory = heap_alloc(&world->heap, s->size);
  if (!s->memory) {
    pool_cancel(&world->soft_pool, world->softs, sizeof(soft), offsetof(soft, next_free), slot,
                used);
    return NO_SLOT;
  }
  soft_assign_arrays(s, s->memory);
  soft_keep_def(s, def);
  soft_init_elements(s, def, sides);
  s->alive = true;
  s->rest_volume = (float)soft_volume_of(s);
  soft_update_box(s);
  return slot;
}

tn_soft_id tn_soft_create(tn_world *world, const tn_soft_def *def)
{
  RECORD(world, tn_soft_create, def);
  tn_soft_id none = {0};
  if (!world) {
    return none;
  }
  const char *why = soft_def_problem(def);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_soft_create: %s", why);
    return none;
  }
  int particles = tn_world_counters(world).particles;
  if (def->vertex_count > world->limits.particles - particles) {
    report(&world->log, TN_LOG_ERROR,
           "tn_soft_create: %d particles beside %d are more than limits.particles, %d",
           def->vertex_count, particles, world->limits.particles);
    return none;
  }
  size_t used_size = (size_t)def->vertex_count;
  size_t side_size = (3 * (size_t)def->triangle_count + 1) * sizeof(half_edge);
  uint8_t *used = heap_alloc(&world->heap, used_size);
  half_edge *sides = heap_alloc(&world->heap, side_size);
  int32_t slot = NO_SLOT;
  bool has_memory = used && sides;
  if (has_memory && soft_check(world, def, used, sides)) {
    slot = make(world, def, sides);
    has_memory = slot != NO_SLOT;
  }
  heap_free(&world->heap, used, used_size);
  heap_free(&world->heap, sides, side_size);
  if (!has_memory) {
    report(&world->log, TN_LOG_ERROR, "tn_soft_create: out of memory");
  }
  if (slot == NO_SLOT) {
    return none;
  }
  world->soft_layout_stale = true;
  return soft_id_at(world, slot);
}

bool tn_soft_destroy(tn_world *world, tn_soft_id id)
{
  RECORD(world, tn_soft_destroy, &id);
  soft *s = soft_find(world, id, "tn_soft_destroy");
  if (!s) {
    return false;
  }
  int32_t slot = (int32_t)(s - world->softs);
  soft_wake(world, slot);
  soft_wake_touched(world, slot);
  attachments_remove_soft(world, slot);
  soft_contacts_remove_soft(world, slot);
  heap_free(&world->heap, s->memory, s->size);
  s->memory = NULL;
  s->size = 0;
  s->alive = false;
  s->generation += 1;
  pool_free(&world->soft_pool, world->softs, sizeof(soft), offsetof(soft, next_free), slot);
  soft_graph_invalidate(&world->solver->soft_graph, &world->soft_layout_stale);
  return true;
}

void softs_release(tn_world *world)
{
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (world->softs[i].alive) {
      heap_free(&world->heap, world->softs[i].memory, world->softs[i].size);
    }
  }
  heap_free(&world->heap, world->softs, (size_t)world->soft_pool.capacity * sizeof(soft));
  soft_graph_release(&world->heap, &world->solver->soft_graph);
}

// ---------------------------------------------------------------------------------------------
// Read

// Number of values to copy out.
static int shown(const void *out, int count, int capacity)
{
  return !out || capacity < 0 ? 0 : count < capacity ? count : capacity;
}

int tn_soft_positions(const tn_world *world, tn_soft_id id, tn_pos *out, int capacity)
{
  const soft *s = soft_find(world, id, "tn_soft_positions");
  int count = s ? s->particle_count : 0;
  for (int i = 0; i < shown(out, count, capacity); ++i) {
    out[i] = s->particles[i].at;
  }
  return count;
}

int tn_soft_velocities(const tn_world *world, tn_soft_id id, tn_vec3 *out, int capacity)
{
  const soft *s = soft_find(world, id, "tn_soft_velocities");
  int count = s ? s->particle_count : 0;
  for (int i = 0; i < shown(out, count, capacity); ++i) {
    out[i] = s->particles[i].v;
  }
  return count;
}

int tn_soft_masses(const tn_world *world, tn_soft_id id, float *out, int capacity)
{
  const soft *s = soft_find(world, id, "tn_soft_masses");
  int count = s ? s->particle_count : 0;
  for (int i = 0; i < shown(out, count, capacity); ++i) {
    out[i] = s->particles[i].mass;
  }
  return count;
}

int tn_soft_triangles(const tn_world *world, tn_soft_id id, int *out, int capacity)
{
  const soft *s = soft_find(world, id, "tn_soft_triangles");
  int count = s ? 3 * s->triangle_count : 0;
  for (int i = 0; i < shown(out, count, capacity); ++i) {
    out[i] = s->triangles[i];
  }
  return count;
}

tn_pos tn_soft_position(const tn_world *world, tn_soft_id id, int particle)
{
  const soft_particle *p = find_particle(world, id, particle, "tn_soft_position");
  return p ? p->at : tn_p3(0.0, 0.0, 0.0);
}

tn_vec3 tn_soft_velocity(const tn_world *world, tn_soft_id id, int particle)
{
  const soft_particle *p = find_particle(world, id, particle, "tn_soft_velocity");
  return p ? p->v : tn_v3(0.0f, 0.0f, 0.0f);
}

double tn_soft_volume(const tn_world *world, tn_soft_id id)
{
  const soft *s = soft_find(world, id, "tn_soft_volume");
  return s ? soft_volume_of(s) : 0.0;
}

// ---------------------------------------------------------------------------------------------
// Write

static bool wants_all(const tn_world *world, const soft *s, const void *in, int count,
                      const char *caller)
{
  if (!in || count != s->particle_count) {
    report(&world->log, TN_LOG_ERROR, "%s: the soft body has %d particles, all are wanted", caller,
           (int)s->particle_count);
    return false;
  }
  return true;
}

static bool bad_particle(const tn_world *world, int particle, const char *caller)
{
  report(&world->log, TN_LOG_ERROR, "%s: the value for particle %d is not finite or too large",
         caller, particle);
  return false;
}

static void changed(tn_world *world, const soft *s)
{
  soft_wake(world, (int32_t)(s - world->softs));
}

bool tn_soft_set_positions(tn_world *world, tn_soft_id id, const tn_pos *in, int count)
{
  RECORD(world, tn_soft_set_positions, &id, in, &count);
  const char *caller = "tn_soft_set_positions";
  soft *s = soft_find(world, id, caller);
  if (!s || !wants_all(world, s, in, count, caller)) {
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (!is_position(in[i])) {
      return bad_particle(world, i, caller);
    }
  }
  for (int i = 0; i < count; ++i) {
    s->particles[i].at = in[i];
  }
  soft_update_box(s);
  changed(world, s);
  return true;
}

bool tn_soft_set_velocities(tn_world *world, tn_soft_id id, const tn_vec3 *in, int count)
{
  RECORD(world, tn_soft_set_velocities, &id, in, &count);
  const char *caller = "tn_soft_set_velocities";
  soft *s = soft_find(world, id, caller);
  if (!s || !wants_all(world, s, in, count, caller)) {
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (!is_rate(in[i])) {
      return bad_particle(world, i, caller);
    }
  }
  for (int i = 0; i < count; ++i) {
    s->particles[i].v = in[i];
  }
  changed(world, s);
  return true;
}

bool tn_soft_set_position(tn_world *world, tn_soft_id id, int particle, tn_pos position)
{
  RECORD(world, tn_soft_set_position, &id, &particle, &position);
  const char *caller = "tn_soft_set_position";
  soft_particle *p = find_particle(world, id, particle, caller);
  if (!p || !is_position(position)) {
    return p ? bad_particle(world, particle, caller) : false;
  }
  p->at = position;
  soft_grow_box(&world->softs[id.index - 1], position);
  changed(world, &world->softs[id.index - 1]);
  return true;
}

bool tn_soft_set_velocity(tn_world *world, tn_soft_id id, int particle, tn_vec3 velocity)
{
  RECORD(world, tn_soft_set_velocity, &id, &particle, &velocity);
  const char *caller = "tn_soft_set_velocity";
  soft_particle *p = find_particle(world, id, particle, caller);
  if (!p || !is_rate(velocity)) {
    return p ? bad_particle(world, particle, caller) : false;
  }
  p->v = velocity;
  changed(world, &world->softs[id.index - 1]);
  return true;
}

// Whether the acceleration by all forces on the particle stays in range.
static bool bears(const soft_particle *p, tn_vec3 force)
{
  return is_rate(tn_scale(1.0f / p->mass, tn_add(p->force, force)));
}

bool tn_soft_apply_force(tn_world *world, tn_soft_id id, int particle, tn_vec3 force)
{
  RECORD(world, tn_soft_apply_force, &id, &particle, &force);
  const char *caller = "tn_soft_apply_force";
  soft_particle *p = find_particle(world, id, particle, caller);
  if (!p || !bears(p, force)) {
    return p ? bad_particle(world, particle, caller) : false;
  }
  p->force = tn_add(p->force, force);
  changed(world, &world->softs[id.index - 1]);
  return true;
}

bool tn_soft_apply_forces(tn_world *world, tn_soft_id id, const int *particles,
                          const tn_vec3 *forces, int count)
{
  RECORD(world, tn_soft_apply_forces, &id, particles, forces, &count);
  const char *caller = "tn_soft_apply_forces";
  soft *s = soft_find(world, id, caller);
  if (!s) {
    return false;
  }
  if (!particles && !wants_all(world, s, forces, count, caller)) {
    return false;
  }
  if (count < 0 || (count > 0 && !forces)) {
    report(&world->log, TN_LOG_ERROR, "%s: the count is negative or the list of forces null",
           caller);
    return false;
  }
  for (int i = 0; i < count; ++i) {
    int particle = particles ? particles[i] : i;
    const soft_particle *p = find_particle(world, id, particle, caller);
    if (!p || !bears(p, forces[i])) {
      return p ? bad_particle(world, particle, caller) : false;
    }
  }
  for (int i = 0; i < count; ++i) {
    soft_particle *p = &s->particles[particles ? particles[i] : i];
    p->force = tn_add(p->force, forces[i]);
  }
  changed(world, s);
  return true;
}

bool tn_soft_set_pinned(tn_world *world, tn_soft_id id, int particle, bool pinned)
{
  RECORD(world, tn_soft_set_pinned, &id, &particle, &pinned);
  soft_particle *p = find_particle(world, id, particle, "tn_soft_set_pinned");
  if (!p) {
    return false;
  }
  soft *s = &world->softs[id.index - 1];
  if (p->pinned != (int32_t)pinned) {
    s->pin_count += pinned ? 1 : -1;
    p->pinned = pinned;
    p->v = tn_v3(0.0f, 0.0f, 0.0f);
    world->soft_layout_stale = true;
  }
  changed(world, s);
  return true;
}

bool tn_soft_is_pinned(const tn_world *world, tn_soft_id id, int particle)
{
  const soft_particle *p = find_particle(world, id, particle, "tn_soft_is_pinned");
  return p && p->pinned;
}

// ---------------------------------------------------------------------------------------------
// Sleep

bool tn_soft_is_awake(const tn_world *world, tn_soft_id id)
{
  const soft *s = soft_find(world, id, "tn_soft_is_awake");
  return s && !s->asleep;
}

bool tn_soft_set_awake(tn_world *world, tn_soft_id id, bool awake)
{
  RECORD(world, tn_soft_set_awake, &id, &awake);
  soft *s = soft_find(world, id, "tn_soft_set_awake");
  if (!s) {
    return false;
  }
  int32_t slot = (int32_t)(s - world->softs);
  if (awake) {
    soft_wake(world, slot);
    return true;
  }
  return s->asleep || soft_sleep(world, slot);
}
