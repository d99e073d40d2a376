// Drawing data that the public interface does not provide: all shapes of a world, and the triangles
// of shared geometry.
#include "data/world.h"
#include "gallery.h"

#include <string.h>

#define TUBE_SIDES 12
#define TUBE_PIECES 12 // along each cubic

int world_shapes(const tn_world *world, tn_shape_id *ids, int capacity)
{
  int count = 0;
  for (int32_t i = 0; i < world->shape_pool.used; ++i) {
    if (!world->shapes[i].alive) {
      continue;
    }
    if (count < capacity) {
      ids[count] = shape_id_at(world, i);
    }
    count += 1;
  }
  return count;
}

float page_soft_radius(const tn_world *world, tn_soft_id id)
{
  return world->softs[id.index - 1].radius;
}

// Two counts, then vertices, then indices.
typedef struct sheet {
  float *numbers;
  int vertices, indices;
} sheet;

static sheet sheet_of(int vertices, int indices)
{
  size_t size = (2 + 3 * (size_t)vertices + (size_t)indices) * sizeof(float);
  sheet out = {gallery_memory(FOR_FLOATS, size), 0, 0};
  out.numbers[0] = (float)vertices;
  out.numbers[1] = (float)indices;
  return out;
}

static void add_vertex(sheet *out, tn_vec3 v)
{
  float *to = out->numbers + 2 + 3 * out->vertices++;
  to[0] = v.x, to[1] = v.y, to[2] = v.z;
}

static void add_triangle(sheet *out, int a, int b, int c)
{
  float *to = out->numbers + 2 + 3 * (int)out->numbers[0] + out->indices;
  to[0] = (float)a, to[1] = (float)b, to[2] = (float)c;
  out->indices += 3;
}

static const float *hull_surface(const convex_hull *c)
{
  int triangles = 0;
  for (int i = 0; i < c->face_count; ++i) {
    triangles += c->faces[i].edge_count - 2;
  }
  sheet out = sheet_of(c->vertex_count, 3 * triangles);
  for (int i = 0; i < c->vertex_count; ++i) {
    add_vertex(&out, c->vertices[i]);
  }
  for (int i = 0; i < c->face_count; ++i) {
    const convex_hull_edge *edges = &c->edges[c->faces[i].first_edge];
    for (int k = 2; k < c->faces[i].edge_count; ++k) {
      add_triangle(&out, edges[0].origin, edges[k - 1].origin, edges[k].origin);
    }
  }
  return out.numbers;
}

static const float *mesh_surface(const shared_geometry *g)
{
  const tn_vec3 *vertices = g->source;
  const int *triangles = (const int *)(vertices + g->counts[0]);
  sheet out = sheet_of(g->counts[0], 3 * g->counts[1]);
  for (int i = 0; i < g->counts[0]; ++i) {
    add_vertex(&out, vertices[i]);
  }
  for (int i = 0; i < g->counts[1]; ++i) {
    add_triangle(&out, triangles[3 * i], triangles[3 * i + 1], triangles[3 * i + 2]);
  }
  return out.numbers;
}

static const float *field_surface(const shared_geometry *g)
{
  const float *heights = g->source;
  int columns = g->counts[0], rows = g->counts[1];
  sheet out = sheet_of(columns * rows, 6 * (columns - 1) * (rows - 1));
  for (int i = 0; i < columns * rows; ++i) {
    int column = i % columns, row = i / columns;
    float x = (float)column - 0.5f * (float)(columns - 1);
    float z = (float)row - 0.5f * (float)(rows - 1);
    add_vertex(&out, tn_v3(x * g->spacing[0], heights[i], z * g->spacing[1]));
  }
  for (int row = 0; row + 1 < rows; ++row) {
    for (int column = 0; column + 1 < columns; ++column) {
      int at = row * columns + column;
      add_triangle(&out, at, at + columns, at + 1);
      add_triangle(&out, at + 1, at + columns, at + columns + 1);
    }
  }
  return out.numbers;
}

static tn_vec3 along_wire(const wire *w, float at, float end)
{
  float from = at > 0.01f ? at - 0.01f : 0.0f, to = at < end - 0.01f ? at + 0.01f : end;
  return tn_sub(wire_point(w, to), wire_point(w, from));
}

// Rings are transported with minimal rotation about the axis.
static const float *tube_surface(const wire *w, float radius)
{
  int rings = TUBE_PIECES * wire_segment_count(w) + 1;
  float end = (float)wire_segment_count(w);
  sheet out = sheet_of(rings * TUBE_SIDES, 6 * (rings - 1) * TUBE_SIDES);
  tn_vec3 side = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < rings; ++i) {
    float at = (float)i / (float)TUBE_PIECES;
    tn_vec3 along = along_wire(w, at, end), center = wire_point(w, at);
    float length = tn_length(along);
    if (i == 0 || !(length > 0.0f)) {
      side = tn_rotate(tn_quat_x_to(length > 0.0f ? along : tn_v3(1.0f, 0.0f, 0.0f)),
                       tn_v3(0.0f, 1.0f, 0.0f));
    }
    along = tn_scale(length > 0.0f ? 1.0f / length : 0.0f, along);
    side = tn_sub(side, tn_scale(tn_dot(side, along), along));
    side = tn_scale(1.0f / tn_length(side), side);
    tn_vec3 other = tn_cross(along, side);
    for (int k = 0; k < TUBE_SIDES; ++k) {
      float angle = 2.0f * TN_PI * (float)k / (float)TUBE_SIDES;
      tn_vec3 out_of_axis =
          tn_add(tn_scale(radius * tn_cos(angle), side), tn_scale(radius * tn_sin(angle), other));
      add_vertex(&out, tn_add(center, out_of_axis));
    }
  }
  for (int i = 0; i < (rings - 1) * TUBE_SIDES; ++i) {
    int ring = i / TUBE_SIDES * TUBE_SIDES, next = ring + (i + 1) % TUBE_SIDES;
    add_triangle(&out, i, next, i + TUBE_SIDES);
    add_triangle(&out, next, next + TUBE_SIDES, i + TUBE_SIDES);
  }
  return out.numbers;
}

const float *surface_of(const tn_world *world, int index, float radius)
{
  const shared_geometry *g = &world->geometries[index];
  switch (g->kind) {
  case TN_SHAPE_HULL:
    return hull_surface(g->data);
  case TN_SHAPE_MESH:
    return mesh_surface(g);
  case TN_SHAPE_HEIGHT_FIELD:
    return field_surface(g);
  case TN_SHAPE_WIRE:
    return tube_surface(g->data, radius);
  default:
    return NULL;
  }
}
