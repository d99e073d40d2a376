// Settings of soft bodies: what can be changed of a definition once the body is made.
#include "data/ids.h"
#include "data/recorder.h"
#include "data/soft_bounds.h"
#include "data/wake.h"
#include "world/soft_make.h"

#include <string.h>

static bool reject(const tn_world *world, const char *caller, const char *why)
{
  report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  return false;
}

static void set_settings(soft *s, const tn_soft_def *def)
{
  s->can_sleep = def->can_sleep;
  s->self_collision = def->self_collision;
  s->keep_momentum = def->keep_momentum;
  s->gravity_scale = def->gravity_scale;
  s->damping = def->damping;
  s->linear_damping = def->linear_damping;
  s->radius = def->radius;
  s->pressure = def->pressure;
  s->tear_strain = def->tear_strain;
  s->creep = def->creep;
  s->plastic_limit = def->plastic_limit;
  s->tear_force = def->tear_force;
  s->material = def->material;
  s->filter = def->filter;
  s->user_data = def->user_data;
}

void soft_keep_def(soft *s, const tn_soft_def *def)
{
  set_settings(s, def);
  s->volume_compliance = def->volume_compliance;
  s->def = *def;
  // Without arrays: the elements have their own layout, and tears change them.
  s->def.vertices = NULL;
  s->def.edges = s->def.triangles = s->def.tetrahedra = s->def.hexahedra = NULL;
  s->def.tethers = s->def.clusters = s->def.cluster_sizes = NULL;
  s->def.tether_lengths = s->def.masses = NULL;
}

static tn_soft_def def_of(const soft *s)
{
  tn_soft_def def = s->def;
  def.can_sleep = s->can_sleep;
  def.self_collision = s->self_collision;
  def.keep_momentum = s->keep_momentum;
  def.gravity_scale = s->gravity_scale;
  def.damping = s->damping;
  def.linear_damping = s->linear_damping;
  def.radius = s->radius;
  def.pressure = s->pressure;
  def.tear_strain = s->tear_strain;
  def.creep = s->creep;
  def.plastic_limit = s->plastic_limit;
  def.tear_force = s->tear_force;
  def.material = s->material;
  def.filter = s->filter;
  def.user_data = s->user_data;
  return def;
}

tn_soft_def tn_soft_get_def(const tn_world *world, tn_soft_id id)
{
  const soft *s = soft_find(world, id, "tn_soft_get_def");
  return s ? def_of(s) : (tn_soft_def){0};
}

// What the elements are made of: they keep it.
static bool same_elements(const tn_soft_def *a, const tn_soft_def *b)
{
  const int counts[2][8] = {
      {a->vertex_count, a->edge_count, a->triangle_count, a->tetrahedron_count, a->hexahedron_count,
       a->tether_count, a->cluster_count, (int)a->solid},
      {b->vertex_count, b->edge_count, b->triangle_count, b->tetrahedron_count, b->hexahedron_count,
       b->tether_count, b->cluster_count, (int)b->solid}};
  const float numbers[2][9] = {
      {a->mass, a->edge_compliance, a->stretch_limit, a->bending_stiffness, a->youngs_modulus,
       a->poisson_ratio, a->yield_strain, a->volume_compliance, a->stiffness_damping},
      {b->mass, b->edge_compliance, b->stretch_limit, b->bending_stiffness, b->youngs_modulus,
       b->poisson_ratio, b->yield_strain, b->volume_compliance, b->stiffness_damping}};
  return memcmp(counts[0], counts[1], sizeof counts[0]) == 0 &&
         memcmp(numbers[0], numbers[1], sizeof numbers[0]) == 0 && a->curved_rest == b->curved_rest;
}

bool tn_soft_set_def(tn_world *world, tn_soft_id id, const tn_soft_def *def)
{
  RECORD(world, tn_soft_set_def, &id, def);
  const char *caller = "tn_soft_set_def";
  soft *s = soft_find(world, id, caller);
  if (!s) {
    return false;
  }
  const char *why = soft_settings_problem(def);
  if (!why && !same_elements(def, &s->def)) {
    why = "elements, mass and stiffness of a soft body cannot change";
  }
  if (!why && (s->pressure > 0.0f) != (def->pressure > 0.0f)) {
    why = "pressure cannot be added or taken away";
  }
  if (why) {
    return reject(world, caller, why);
  }
  set_settings(s, def);
  soft_update_box(s);
  soft_wake(world, (int32_t)(s - world->softs));
  return true;
}

float tn_soft_pressure(const tn_world *world, tn_soft_id id)
{
  const soft *s = soft_find(world, id, "tn_soft_pressure");
  return s ? s->pressure : 0.0f;
}

bool tn_soft_set_pressure(tn_world *world, tn_soft_id id, float pressure)
{
  RECORD(world, tn_soft_set_pressure, &id, &pressure);
  soft *s = soft_find(world, id, "tn_soft_set_pressure");
  if (!s) {
    return false;
  }
  if (!(s->pressure > 0.0f)) {
    return reject(world, "tn_soft_set_pressure", "the body was made without pressure");
  }
  if (!(pressure > 0.0f && pressure <= 1000.0f)) {
    return reject(world, "tn_soft_set_pressure", "pressure must be above 0, up to 1000");
  }
  s->pressure = pressure;
  soft_wake(world, (int32_t)(s - world->softs));
  return true;
}

float tn_soft_damping(const tn_world *world, tn_soft_id id)
{
  const soft *s = soft_find(world, id, "tn_soft_damping");
  return s ? s->damping : 0.0f;
}

bool tn_soft_set_damping(tn_world *world, tn_soft_id id, float damping)
{
  RECORD(world, tn_soft_set_damping, &id, &damping);
  soft *s = soft_find(world, id, "tn_soft_set_damping");
  if (!s) {
    return false;
  }
  if (!(damping >= 0.0f && damping <= 1e6f)) {
    return reject(world, "tn_soft_set_damping", "damping must be from 0 to 1e6");
  }
  s->damping = damping;
  return true;
}

void *tn_soft_user_data(const tn_world *world, tn_soft_id id)
{
  const soft *s = soft_find(world, id, "tn_soft_user_data");
  return s ? s->user_data : NULL;
}

bool tn_soft_set_user_data(tn_world *world, tn_soft_id id, void *data)
{
  soft *s = soft_find(world, id, "tn_soft_set_user_data");
  if (s) {
    s->user_data = data;
  }
  return s != NULL;
}
