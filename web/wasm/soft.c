// Soft bodies: drawing data, and dragging of particles.
#include "gallery.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SOFT_NUMBERS 4

static tn_soft_id soft_at(const tn_world *world, int i)
{
  int count = tn_world_softs(world, NULL, 0);
  tn_soft_id *ids = gallery_memory(FOR_IDS, (size_t)(count + 1) * sizeof *ids);
  tn_world_softs(world, ids, count);
  tn_soft_id none = {0, 0, 0};
  return i < count ? ids[i] : none;
}

// All particles of a soft body, to be freed.
static tn_pos *positions_of(const tn_world *world, tn_soft_id id, int *count)
{
  *count = tn_soft_positions(world, id, NULL, 0);
  tn_pos *out = malloc(((size_t)*count + 1) * sizeof *out);
  if (!out) {
    __builtin_trap();
  }
  tn_soft_positions(world, id, out, *count);
  return out;
}

// ---------------------------------------------------------------------------------------------
// Drawing

// For each: particles, triangles, radius, whether it sleeps.
EXPORT(softs) const float *page_softs(int s)
{
  const tn_world *world = slots[s].run->world;
  int count = tn_world_softs(world, NULL, 0);
  float *out = gallery_memory(FOR_FLOATS, (size_t)(count + 1) * SOFT_NUMBERS * sizeof *out);
  for (int i = 0; i < count; ++i) {
    tn_soft_id id = soft_at(world, i);
    out[SOFT_NUMBERS * i] = (float)tn_soft_positions(world, id, NULL, 0);
    out[SOFT_NUMBERS * i + 1] = (float)(tn_soft_triangles(world, id, NULL, 0) / 3);
    out[SOFT_NUMBERS * i + 2] = tn_soft_radius(world, id);
    out[SOFT_NUMBERS * i + 3] = tn_soft_is_awake(world, id) ? 0.0f : 1.0f;
  }
  return out;
}

EXPORT(soft_count) int page_soft_count(int s)
{
  return tn_world_softs(slots[s].run->world, NULL, 0);
}

EXPORT(soft_triangles) const int *page_soft_triangles(int s, int i)
{
  const tn_world *world = slots[s].run->world;
  tn_soft_id id = soft_at(world, i);
  int count = tn_soft_triangles(world, id, NULL, 0);
  int *out = gallery_memory(FOR_FLOATS, (size_t)(count + 1) * sizeof *out);
  tn_soft_triangles(world, id, out, count);
  return out;
}

EXPORT(particles) const float *page_particles(int s, int i)
{
  const tn_world *world = slots[s].run->world;
  int count;
  tn_pos *at = positions_of(world, soft_at(world, i), &count);
  float *out = gallery_memory(FOR_FLOATS, (size_t)(count + 1) * sizeof *out);
  for (int k = 0; k < count; ++k) {
    out[3 * k] = (float)at[k].x;
    out[3 * k + 1] = (float)at[k].y;
    out[3 * k + 2] = (float)at[k].z;
  }
  free(at);
  return out;
}

// ---------------------------------------------------------------------------------------------
// Interaction

static int nearest_particle(const tn_world *world, tn_soft_id id, tn_pos point)
{
  int count, found = 0;
  tn_pos *at = positions_of(world, id, &count);
  float best = INFINITY;
  for (int i = 0; i < count; ++i) {
    float distance = tn_length(tn_between_points(point, at[i]));
    if (distance < best) {
      best = distance;
      found = i;
    }
  }
  free(at);
  return found;
}

// Ray casts do not hit ropes: use the particle closest to the ray, within a limit.
static float ray_to_rope(const tn_world *world, tn_soft_id id, tn_pos from, tn_vec3 way)
{
  int count;
  tn_pos *at = positions_of(world, id, &count);
  float square = tn_dot(way, way), best = INFINITY;
  for (int i = 0; i < count; ++i) {
    tn_vec3 to = tn_between_points(from, at[i]);
    float along = tn_dot(to, way) / square;
    float aside = tn_length(tn_sub(to, tn_scale(along, way)));
    if (along > 0.0f && along < best && aside < 0.015f * tn_length(to)) {
      best = along;
    }
  }
  free(at);
  return best;
}

int hand_soft_pick(const tn_world *world, const tn_hit *hit, tn_pos from, tn_vec3 way,
                   float *nearest)
{
  int count = tn_world_softs(world, NULL, 0), found = -1;
  for (int i = 0; i < count; ++i) {
    tn_soft_id id = soft_at(world, i);
    if (hit->hit && TN_SAME_ID(hit->soft, id)) {
      found = i;
    } else if (tn_soft_triangles(world, id, NULL, 0) == 0) {
      float at = ray_to_rope(world, id, from, way);
      if (at < *nearest) {
        *nearest = at;
        found = i;
      }
    }
  }
  return found;
}

float hand_soft_mass(const tn_world *world, int i)
{
  return (float)tn_soft_momentum(world, soft_at(world, i), tn_p3(0.0, 0.0, 0.0)).mass;
}

bool hand_soft_grab(int s, int i, tn_pos point, float compliance)
{
  tn_world *world = slots[s].run->world;
  tn_attachment_def def = tn_default_attachment_def();
  def.soft = soft_at(world, i);
  def.particle = nearest_particle(world, def.soft, point);
  def.point = point;
  def.compliance = compliance;
  slots[s].soft_hold = tn_attachment_create(world, &def);
  return !TN_IS_NULL(slots[s].soft_hold);
}

void hand_soft_pin(int s, int i, tn_pos point)
{
  tn_world *world = slots[s].run->world;
  tn_soft_id id = soft_at(world, i);
  int particle = nearest_particle(world, id, point);
  tn_soft_set_velocity(world, id, particle, tn_v3(0.0f, 0.0f, 0.0f));
  tn_soft_set_pinned(world, id, particle, true);
}

void hand_soft_throw(int s, int i, tn_vec3 velocity)
{
  tn_world *world = slots[s].run->world;
  tn_soft_id id = soft_at(world, i);
  int count = tn_soft_velocities(world, id, NULL, 0);
  tn_vec3 *v = malloc(((size_t)count + 1) * sizeof *v);
  if (!v) {
    __builtin_trap();
  }
  tn_soft_velocities(world, id, v, count);
  for (int k = 0; k < count; ++k) {
    v[k] = tn_add(v[k], velocity);
  }
  tn_soft_set_velocities(world, id, v, count);
  free(v);
}

bool hand_soft_remove(int s, int i)
{
  return tn_soft_destroy(slots[s].run->world, soft_at(slots[s].run->world, i));
}

void hand_soft_forget_hand(slot *here)
{
  if (!TN_IS_NULL(here->soft_hold) && tn_attachment_is_valid(here->run->world, here->soft_hold)) {
    tn_attachment_destroy(here->run->world, here->soft_hold);
  }
  memset(&here->soft_hold, 0, sizeof here->soft_hold);
}

// A horizontal square sheet.
void make_cloth(tn_world *world, tn_pos at, float size)
{
  tn_soft_def def = tn_default_soft_def();
  if (tn_soft_mesh_cloth(&def, 24, 24, 8.0f * size, 8.0f * size)) {
    def.position = at;
    def.mass = 8.0f * size;
    def.radius = 0.05f * size;
    def.damping = 0.5f;
    tn_soft_create(world, &def);
    tn_soft_mesh_free(&def);
  }
}
