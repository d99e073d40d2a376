// Geometry that shapes share: hulls, meshes, height fields and wires. Building it is expensive, so
// it is done once; the source is kept so that a snapshot can rebuild it.
#include "collide/surface.h"
#include "data/recorder.h"
#include "data/world.h"
#include "world/checks.h"
#include "world/lifetime.h"

#include <string.h>

static void *geometry_alloc(void *context, size_t size)
{
  return heap_alloc(context, size);
}

static void geometry_free(void *context, void *memory, size_t size)
{
  heap_free(context, memory, size);
}

static collide_allocator allocator_of(tn_world *world)
{
  collide_allocator memory = {geometry_alloc, geometry_free, &world->heap};
  return memory;
}

static const char *geometry_id_error(const tn_world *world, tn_geometry_id id)
{
  if (TN_IS_NULL(id)) {
    return "the geometry id is null";
  }
  if (id.world != world->world_id) {
    return "the geometry belongs to another world";
  }
  if (id.index > (uint32_t)world->geometry_pool.used ||
      world->geometries[id.index - 1].generation != id.generation ||
      !world->geometries[id.index - 1].alive) {
    return "the geometry has been destroyed";
  }
  return NULL;
}

shared_geometry *geometry_find(const tn_world *world, tn_geometry_id id, const char **why)
{
  *why = geometry_id_error(world, id);
  return *why ? NULL : &world->geometries[id.index - 1];
}

bool tn_geometry_is_valid(const tn_world *world, tn_geometry_id id)
{
  return world && !geometry_id_error(world, id);
}

// The user's data. `counts` has two numbers, see shared_geometry; `parts` are the arrays.
typedef struct geometry_source {
  int kind;
  const void *parts[2];
  size_t sizes[2];
  int32_t counts[2];
  float spacing[2];
  bool closed;
} geometry_source;

static void *build(tn_world *world, const geometry_source *r, char *message, size_t size)
{
  collide_allocator memory = allocator_of(world);
  switch (r->kind) {
  case TN_SHAPE_HULL:
    return convex_hull_create(r->parts[0], r->counts[0], r->counts[1], memory, message, size);
  case TN_SHAPE_MESH:
    return mesh_create(r->parts[0], r->counts[0], r->parts[1], r->counts[1], memory, message, size);
  case TN_SHAPE_HEIGHT_FIELD:
    return height_field_create(r->parts[0], r->counts[0], r->counts[1], r->spacing[0],
                               r->spacing[1], memory, message, size);
  default:
    return wire_create(r->parts[0], r->counts[0], r->closed, memory, message, size);
  }
}

static void destroy_data(tn_world *world, shared_geometry *g)
{
  if (g->borrowed) {
    return;
  }
  collide_allocator memory = allocator_of(world);
  switch (g->kind) {
  case TN_SHAPE_HULL:
    convex_hull_destroy(g->data, memory);
    break;
  case TN_SHAPE_MESH:
    mesh_destroy(g->data, memory);
    break;
  case TN_SHAPE_HEIGHT_FIELD:
    height_field_destroy(g->data, memory);
    break;
  default:
    wire_destroy(g->data, memory);
    break;
  }
  heap_free(&world->heap, g->source, g->source_size);
}

// Concatenates the arrays; a restore rebuilds the geometry from them.
static bool copy_source(tn_world *world, shared_geometry *g, const geometry_source *r)
{
  g->source_size = r->sizes[0] + r->sizes[1];
  g->source = heap_alloc(&world->heap, g->source_size);
  if (!g->source) {
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    if (r->sizes[i] > 0) {
      memcpy((char *)g->source + (i ? r->sizes[0] : 0), r->parts[i], r->sizes[i]);
    }
    g->counts[i] = r->counts[i];
    g->spacing[i] = r->spacing[i];
  }
  g->closed = r->closed;
  return true;
}

static tn_geometry_id create(tn_world *world, const geometry_source *r, const char *caller)
{
  tn_geometry_id null = {0};
  char message[160] = "out of memory";
  int32_t used = world->geometry_pool.used;
  int32_t slot = pool_alloc(&world->heap, &world->geometry_pool, (void **)&world->geometries,
                            sizeof(shared_geometry), offsetof(shared_geometry, next_free));
  if (slot == NO_SLOT) {
    report(&world->log, TN_LOG_ERROR, "%s: out of memory", caller);
    return null;
  }
  shared_geometry *g = &world->geometries[slot];
  uint32_t generation = g->generation;
  memset(g, 0, sizeof *g);
  g->generation = generation;
  g->kind = r->kind;
  g->data = build(world, r, message, sizeof message);
  if (!g->data || !copy_source(world, g, r)) {
    if (g->data) {
      destroy_data(world, g);
      strcpy(message, "out of memory");
    }
    pool_cancel(&world->geometry_pool, world->geometries, sizeof(shared_geometry),
                offsetof(shared_geometry, next_free), slot, used);
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, message);
    return null;
  }
  g->alive = true;
  return (tn_geometry_id){(uint32_t)slot + 1, generation, world->world_id};
}

static tn_geometry_id reject(const tn_world *world, const char *caller, const char *why)
{
  tn_geometry_id null = {0};
  if (world) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  }
  return null;
}

tn_geometry_id tn_hull_create(tn_world *world, const tn_vec3 *points, int count, int max_vertices)
{
  RECORD(world, tn_hull_create, points, &count, &max_vertices);
  if (!world || !points || count < 4) {
    return reject(world, "tn_hull_create", "a hull needs at least 4 points");
  }
  if (max_vertices != 0 && (max_vertices < 4 || max_vertices > 255)) {
    return reject(world, "tn_hull_create", "max_vertices must be 0 or from 4 to 255");
  }
  geometry_source r = {TN_SHAPE_HULL,
                       {points, NULL},
                       {(size_t)count * sizeof *points, 0},
                       {count, max_vertices ? max_vertices : 64},
                       {0.0f, 0.0f},
                       false};
  return create(world, &r, "tn_hull_create");
}

tn_geometry_id tn_mesh_create(tn_world *world, const tn_vec3 *vertices, int vertex_count,
                              const int *triangles, int triangle_count)
{
  RECORD(world, tn_mesh_create, vertices, &vertex_count, triangles, &triangle_count);
  if (!world || !vertices || !triangles || vertex_count < 3 || triangle_count < 1) {
    return reject(world, "tn_mesh_create", "a mesh needs at least one triangle");
  }
  if (triangle_count > INT32_MAX / 16 || vertex_count > INT32_MAX / 16) {
    return reject(world, "tn_mesh_create", "the mesh is too large");
  }
  geometry_source r = {
      TN_SHAPE_MESH,
      {vertices, triangles},
      {(size_t)vertex_count * sizeof *vertices, 3 * (size_t)triangle_count * sizeof(int)},
      {vertex_count, triangle_count},
      {0.0f, 0.0f},
      false};
  return create(world, &r, "tn_mesh_create");
}

tn_geometry_id tn_height_field_create(tn_world *world, const float *heights, int columns, int rows,
                                      float spacing_x, float spacing_z)
{
  RECORD(world, tn_height_field_create, heights, &columns, &rows, &spacing_x, &spacing_z);
  if (!world || !heights || columns < 2 || rows < 2) {
    return reject(world, "tn_height_field_create", "a height field needs at least 2 x 2 heights");
  }
  if (columns > 32767 || rows > 32767) {
    return reject(world, "tn_height_field_create", "the height field is too large");
  }
  geometry_source r = {TN_SHAPE_HEIGHT_FIELD,
                       {heights, NULL},
                       {(size_t)columns * (size_t)rows * sizeof *heights, 0},
                       {columns, rows},
                       {spacing_x, spacing_z},
                       false};
  return create(world, &r, "tn_height_field_create");
}

tn_geometry_id tn_wire_create(tn_world *world, const tn_wire_point *points, int count, bool closed)
{
  RECORD(world, tn_wire_create, points, &count, &closed);
  if (!world || !points || count < 2) {
    return reject(world, "tn_wire_create", "a wire needs at least 2 points");
  }
  geometry_source r = {TN_SHAPE_WIRE, {points, NULL}, {(size_t)count * sizeof *points, 0},
                       {count, 0},    {0.0f, 0.0f},   closed};
  return create(world, &r, "tn_wire_create");
}

bool tn_geometry_destroy(tn_world *world, tn_geometry_id id)
{
  RECORD(world, tn_geometry_destroy, &id);
  if (!world) {
    return false;
  }
  const char *why;
  shared_geometry *g = geometry_find(world, id, &why);
  if (!g) {
    report(&world->log, TN_LOG_ERROR, "tn_geometry_destroy: %s", why);
    return false;
  }
  if (g->users > 0) {
    report(&world->log, TN_LOG_ERROR, "tn_geometry_destroy: %d shapes still use it", g->users);
    return false;
  }
  destroy_data(world, g);
  g->alive = false;
  g->generation += 1;
  pool_free(&world->geometry_pool, world->geometries, sizeof(shared_geometry),
            offsetof(shared_geometry, next_free), (int32_t)(g - world->geometries));
  return true;
}

tn_geometry_source tn_geometry_get_source(const tn_world *world, tn_geometry_id id)
{
  tn_geometry_source source = {0};
  const char *why;
  const shared_geometry *g = world ? geometry_find(world, id, &why) : NULL;
  if (!g) {
    if (world) {
      report(&world->log, TN_LOG_ERROR, "tn_geometry_get_source: %s", why);
    }
    return source;
  }
  source.kind = (tn_shape_kind)g->kind;
  switch (source.kind) {
  case TN_SHAPE_HULL:
    source.points = g->source;
    source.point_count = g->counts[0];
    source.max_vertices = g->counts[1];
    break;
  case TN_SHAPE_MESH:
    source.points = g->source;
    source.point_count = g->counts[0];
    source.triangles = (const int *)(source.points + g->counts[0]);
    source.triangle_count = g->counts[1];
    break;
  case TN_SHAPE_HEIGHT_FIELD:
    source.heights = g->source;
    source.columns = g->counts[0];
    source.rows = g->counts[1];
    source.spacing_x = g->spacing[0];
    source.spacing_z = g->spacing[1];
    break;
  default:
    source.wire_points = g->source;
    source.wire_point_count = g->counts[0];
    source.closed = g->closed;
    break;
  }
  return source;
}

void geometry_release(tn_world *world, shared_geometry *g)
{
  destroy_data(world, g);
  g->alive = false;
}

// Bytes of the first array of the source.
static size_t first_size(const shared_geometry *g)
{
  switch (g->kind) {
  case TN_SHAPE_HULL:
  case TN_SHAPE_MESH:
    return (size_t)g->counts[0] * sizeof(tn_vec3);
  case TN_SHAPE_HEIGHT_FIELD:
    return (size_t)g->counts[0] * (size_t)g->counts[1] * sizeof(float);
  default:
    return (size_t)g->counts[0] * sizeof(tn_wire_point);
  }
}

const char *geometry_problem(const shared_geometry *g)
{
  int32_t a = g->counts[0], b = g->counts[1];
  size_t second = 0;
  switch (g->kind) {
  case TN_SHAPE_HULL:
    if (a < 4 || b < 4 || b > 255) {
      return "a hull's counts";
    }
    break;
  case TN_SHAPE_MESH:
    if (a < 3 || b < 1 || a > INT32_MAX / 16 || b > INT32_MAX / 16) {
      return "a mesh's counts";
    }
    second = 3 * (size_t)b * sizeof(int);
    break;
  case TN_SHAPE_HEIGHT_FIELD:
    if (a < 2 || b < 2 || a > 32767 || b > 32767) {
      return "a height field's counts";
    }
    break;
  case TN_SHAPE_WIRE:
    if (a < 2) {
      return "a wire's counts";
    }
    break;
  default:
    return "the kind";
  }
  return g->source_size == first_size(g) + second ? NULL : "the source's size";
}

bool geometry_rebuild(tn_world *world, shared_geometry *g, const void *source, char *why,
                      size_t size)
{
  size_t first = first_size(g);
  geometry_source r = {g->kind,
                       {source, (const char *)source + first},
                       {first, g->source_size - first},
                       {g->counts[0], g->counts[1]},
                       {g->spacing[0], g->spacing[1]},
                       g->closed};
  g->data = build(world, &r, why, size);
  if (!g->data) {
    return false;
  }
  if (!copy_source(world, g, &r)) {
    g->source = NULL;
    destroy_data(world, g);
    return false;
  }
  return true;
}

void geometry_release_all(tn_world *world)
{
  for (int32_t i = 0; i < world->geometry_pool.used; ++i) {
    if (world->geometries[i].alive) {
      geometry_release(world, &world->geometries[i]);
    }
  }
  heap_free(&world->heap, world->geometries,
            (size_t)world->geometry_pool.capacity * sizeof *world->geometries);
}
