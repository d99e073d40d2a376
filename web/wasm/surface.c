// Triangles of the geometry that shapes share.
#include "gallery.h"

#include <stdlib.h>
#include <string.h>

#define TUBE_SIDES 12
#define TUBE_PIECES 12 // along each cubic

// Two counts, the vertices, the indices.
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

static void *take_memory(int count, size_t size)
{
  void *memory = malloc((size_t)count * size + 1);
  if (!memory) {
    __builtin_trap();
  }
  return memory;
}

static const float *hull_surface(const tn_world *world, tn_geometry_id id)
{
  int vertex_count = tn_hull_vertices(world, id, NULL, 0);
  int face_count = tn_hull_faces(world, id, NULL, 0), count = tn_hull_indices(world, id, NULL, 0);
  tn_vec3 *vertices = take_memory(vertex_count, sizeof *vertices);
  tn_hull_face *faces = take_memory(face_count, sizeof *faces);
  int *indices = take_memory(count, sizeof *indices);
  tn_hull_vertices(world, id, vertices, vertex_count);
  tn_hull_faces(world, id, faces, face_count);
  tn_hull_indices(world, id, indices, count);
  sheet out = sheet_of(vertex_count, 3 * (count - 2 * face_count));
  for (int i = 0; i < vertex_count; ++i) {
    add_vertex(&out, vertices[i]);
  }
  for (int i = 0; i < face_count; ++i) {
    const int *corners = indices + faces[i].first;
    for (int k = 2; k < faces[i].count; ++k) {
      add_triangle(&out, corners[0], corners[k - 1], corners[k]);
    }
  }
  free(vertices);
  free(faces);
  free(indices);
  return out.numbers;
}

static const float *mesh_surface(const tn_geometry_source *g)
{
  sheet out = sheet_of(g->point_count, 3 * g->triangle_count);
  for (int i = 0; i < g->point_count; ++i) {
    add_vertex(&out, g->points[i]);
  }
  for (int i = 0; i < g->triangle_count; ++i) {
    const int *corners = g->triangles + 3 * i;
    add_triangle(&out, corners[0], corners[1], corners[2]);
  }
  return out.numbers;
}

static const float *field_surface(const tn_geometry_source *g)
{
  int columns = g->columns, rows = g->rows;
  sheet out = sheet_of(columns * rows, 6 * (columns - 1) * (rows - 1));
  for (int i = 0; i < columns * rows; ++i) {
    int column = i % columns, row = i / columns;
    float x = (float)column - 0.5f * (float)(columns - 1);
    float z = (float)row - 0.5f * (float)(rows - 1);
    add_vertex(&out, tn_v3(x * g->spacing_x, g->heights[i], z * g->spacing_z));
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

// The axis of a wire.
typedef struct wire_axis {
  const tn_world *world;
  tn_geometry_id id;
  int cubics;
} wire_axis;

static tn_vec3 wire_point(const wire_axis *w, float at)
{
  return tn_wire_at(w->world, w->id, at).position;
}

static tn_vec3 along_wire(const wire_axis *w, float at, float end)
{
  float from = at > 0.01f ? at - 0.01f : 0.0f, to = at < end - 0.01f ? at + 0.01f : end;
  return tn_sub(wire_point(w, to), wire_point(w, from));
}

// Rings are carried along without turning about the axis more than they must.
static const float *tube_surface(const wire_axis *w, float radius)
{
  int rings = TUBE_PIECES * w->cubics + 1;
  float end = (float)w->cubics;
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

const float *surface_of(const tn_world *world, tn_geometry_id id, float radius)
{
  tn_geometry_source g = {0};
  g = TN_IS_NULL(id) ? g : tn_geometry_get_source(world, id);
  wire_axis wire = {world, id, g.wire_point_count - (g.closed ? 0 : 1)};
  switch (g.kind) {
  case TN_SHAPE_HULL:
    return hull_surface(world, id);
  case TN_SHAPE_MESH:
    return mesh_surface(&g);
  case TN_SHAPE_HEIGHT_FIELD:
    return field_surface(&g);
  case TN_SHAPE_WIRE:
    return tube_surface(&wire, radius);
  default:
    return NULL;
  }
}
