// Shapes and geometries as they were built, and the contacts of the present poses.
#include "collide/mass.h"
#include "collide/surface.h"
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "data/world.h"
#include "detect/broad_phase.h"
#include "detect/detect.h"
#include "world/lifetime.h"

#include <math.h>

int tn_world_shapes(const tn_world *world, tn_shape_id *ids, int capacity)
{
  int count = 0;
  for (int32_t i = 0; world && i < world->shape_pool.used; ++i) {
    if (world->shapes[i].alive) {
      if (ids && count < capacity) {
        ids[count] = shape_id_at(world, i);
      }
      count += 1;
    }
  }
  return count;
}

// The data of a geometry, or null with the reason in the log.
static const void *find_data(const tn_world *world, tn_geometry_id id, tn_shape_kind kind,
                             const char *caller)
{
  const char *why = NULL;
  const shared_geometry *g = world ? geometry_find(world, id, &why) : NULL;
  if (g && g->kind != (int)kind) {
    why = kind == TN_SHAPE_HULL ? "the geometry is not a hull" : "the geometry is not a wire";
  }
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  }
  return g && !why ? g->data : NULL;
}

// ---------------------------------------------------------------------------------------------
// Hulls

int tn_hull_vertices(const tn_world *world, tn_geometry_id id, tn_vec3 *vertices, int capacity)
{
  const convex_hull *hull = find_data(world, id, TN_SHAPE_HULL, "tn_hull_vertices");
  for (int i = 0; hull && vertices && i < hull->vertex_count && i < capacity; ++i) {
    vertices[i] = hull->vertices[i];
  }
  return hull ? hull->vertex_count : 0;
}

int tn_hull_faces(const tn_world *world, tn_geometry_id id, tn_hull_face *faces, int capacity)
{
  const convex_hull *hull = find_data(world, id, TN_SHAPE_HULL, "tn_hull_faces");
  int first = 0;
  for (int i = 0; hull && faces && i < hull->face_count && i < capacity; ++i) {
    const convex_hull_face *f = &hull->faces[i];
    faces[i] = (tn_hull_face){f->normal, f->offset, first, f->edge_count};
    first += f->edge_count;
  }
  return hull ? hull->face_count : 0;
}

int tn_hull_indices(const tn_world *world, tn_geometry_id id, int *indices, int capacity)
{
  const convex_hull *hull = find_data(world, id, TN_SHAPE_HULL, "tn_hull_indices");
  int count = 0;
  for (int i = 0; hull && i < hull->face_count; ++i) {
    const convex_hull_face *f = &hull->faces[i];
    for (int k = 0; k < f->edge_count; ++k, ++count) {
      if (indices && count < capacity) {
        indices[count] = hull->edges[f->first_edge + k].origin;
      }
    }
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Others

tn_wire_point tn_wire_at(const tn_world *world, tn_geometry_id id, float parameter)
{
  tn_wire_point at = {0};
  const wire *w = find_data(world, id, TN_SHAPE_WIRE, "tn_wire_at");
  if (w && isnan(parameter)) {
    report(&world->log, TN_LOG_ERROR, "tn_wire_at: the parameter is not a number");
    w = NULL;
  }
  if (w) {
    at.position = wire_point(w, parameter);
    at.tangent = wire_tangent(w, parameter);
  }
  return at;
}

float tn_soft_radius(const tn_world *world, tn_soft_id id)
{
  const soft *s = soft_find(world, id, "tn_soft_radius");
  return s ? s->radius : 0.0f;
}

tn_principal_axes tn_mass_principal_axes(tn_mass mass)
{
  const tn_principal_axes none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0}};
  tn_principal_axes axes = none;
  return mass_principal(mass.inertia, axes.moments, axes.rotation) ? axes : none;
}

bool tn_world_update_contacts(tn_world *world)
{
  RECORD(world, tn_world_update_contacts, NULL);
  const float moment = 1e-6f; // s: nothing gets anywhere
  bool ok = world && awake_list_update(world) && broad_phase_update(world, moment);
  do {
    ok = ok && awake_list_update(world) && narrow_phase_update(world, moment);
  } while (ok && world->awake_list_stale);
  if (world && !ok) {
    report(&world->log, TN_LOG_ERROR, "tn_world_update_contacts: out of memory");
  }
  return ok;
}
