#include "gltf.h"

#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The lists of the JSON part, without brackets, and the binary part.
struct gltf {
  text views, accessors, materials, meshes, nodes, roots, samplers, channels, binary;
  text parts; // node numbers of the parts for the next node
  int view_count, accessor_count, mesh_count, node_count, sampler_count;
  int camera; // its node, or -1
};

enum { FLOAT = 5126, UNSIGNED_INT = 5125, VERTICES = 34962, INDICES = 34963 };

gltf *gltf_create(void)
{
  gltf *g = calloc(1, sizeof *g);
  if (g) {
    g->camera = -1;
  }
  return g;
}

void gltf_destroy(gltf *g)
{
  if (g) {
    text *lists[] = {&g->views, &g->accessors, &g->materials, &g->meshes, &g->nodes,
                     &g->roots, &g->samplers,  &g->channels,  &g->binary, &g->parts};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
      text_free(lists[i]);
    }
    free(g);
  }
}

static void separate(text *list)
{
  if (list->size > 0) {
    text_add_bytes(list, ",", 1);
  }
}

static void add_numbers(text *t, const char *name, const float *values, int count)
{
  text_add(t, "\"%s\":[", name);
  for (int i = 0; i < count; ++i) {
    text_add_bytes(t, ",", i > 0);
    text_add_number(t, (double)values[i]);
  }
  text_add(t, "]");
}

// ---------------------------------------------------------------------------------------------
// Numbers in the binary part

static void add_view(gltf *g, const void *data, size_t size, int target)
{
  separate(&g->views);
  text_add(&g->views, "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", g->binary.size, size);
  if (target) {
    text_add(&g->views, ",\"target\":%d", target);
  }
  text_add(&g->views, "}");
  text_add_bytes(&g->binary, data, size);
  g->view_count += 1;
}

static void add_bounds(gltf *g, const float *values, int count, int width)
{
  float lo[3], hi[3];
  for (int k = 0; k < width; ++k) {
    lo[k] = hi[k] = values[k];
    for (int i = 1; i < count; ++i) {
      float x = values[i * width + k];
      lo[k] = x < lo[k] ? x : lo[k];
      hi[k] = x > hi[k] ? x : hi[k];
    }
  }
  text_add(&g->accessors, ",");
  add_numbers(&g->accessors, "min", lo, width);
  text_add(&g->accessors, ",");
  add_numbers(&g->accessors, "max", hi, width);
}

static int add_accessor(gltf *g, int component, const char *type, size_t count)
{
  separate(&g->accessors);
  text_add(&g->accessors, "{\"bufferView\":%d,\"componentType\":%d,\"count\":%zu,\"type\":\"%s\"",
           g->view_count - 1, component, count, type);
  return g->accessor_count++;
}

static void end_accessor(gltf *g)
{
  text_add(&g->accessors, "}");
}

static int add_points(gltf *g, const tn_vec3 *points, int count, bool bounded)
{
  add_view(g, points, (size_t)count * sizeof *points, VERTICES);
  int accessor = add_accessor(g, FLOAT, "VEC3", (size_t)count);
  if (bounded) {
    add_bounds(g, &points->x, count, 3);
  }
  end_accessor(g);
  return accessor;
}

gltf_surface gltf_add_surface(gltf *g, const tn_vec3 *points, const tn_vec3 *normals,
                              int point_count, const int *triangles, int triangle_count)
{
  gltf_surface s;
  s.points = add_points(g, points, point_count, true);
  s.normals = add_points(g, normals, point_count, false);
  add_view(g, triangles, 3 * (size_t)triangle_count * sizeof *triangles, INDICES);
  s.triangles = add_accessor(g, UNSIGNED_INT, "SCALAR", 3 * (size_t)triangle_count);
  end_accessor(g);
  return s;
}

// ---------------------------------------------------------------------------------------------
// Nodes

void gltf_add_material(gltf *g, const float color[3], bool both_sides)
{
  float rgba[4] = {color[0], color[1], color[2], 1.0f};
  separate(&g->materials);
  text_add(&g->materials, "{\"pbrMetallicRoughness\":{");
  add_numbers(&g->materials, "baseColorFactor", rgba, 4);
  text_add(&g->materials, ",\"metallicFactor\":0,\"roughnessFactor\":0.7}%s}",
           both_sides ? ",\"doubleSided\":true" : "");
}

static void add_place(text *t, const float position[3], const float rotation[4])
{
  add_numbers(t, "translation", position, 3);
  text_add(t, ",");
  add_numbers(t, "rotation", rotation, 4);
}

static void begin_mesh(gltf *g, gltf_surface surface, int material)
{
  separate(&g->meshes);
  text_add(&g->meshes,
           "{\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d},\"indices\":%d,"
           "\"material\":%d",
           surface.points, surface.normals, surface.triangles, material);
}

static int end_mesh(gltf *g)
{
  text_add(&g->meshes, "}]}");
  return g->mesh_count++;
}

int gltf_add_mesh(gltf *g, gltf_surface surface, int material)
{
  begin_mesh(g, surface, material);
  return end_mesh(g);
}

int gltf_add_morphed_mesh(gltf *g, gltf_surface surface, int material, const tn_vec3 *points,
                          const tn_vec3 *normals, int point_count, int count)
{
  begin_mesh(g, surface, material);
  text_add(&g->meshes, ",\"targets\":[");
  for (int i = 0; i < count; ++i) {
    size_t first = (size_t)i * (size_t)point_count;
    int at = add_points(g, points + first, point_count, true);
    int turned = add_points(g, normals + first, point_count, false);
    text_add(&g->meshes, "%s{\"POSITION\":%d,\"NORMAL\":%d}", i > 0 ? "," : "", at, turned);
  }
  text_add(&g->meshes, "]");
  return end_mesh(g);
}

void gltf_add_part(gltf *g, int mesh, const float position[3], const float rotation[4])
{
  separate(&g->nodes);
  text_add(&g->nodes, "{\"mesh\":%d,", mesh);
  add_place(&g->nodes, position, rotation);
  text_add(&g->nodes, "}");
  separate(&g->parts);
  text_add(&g->parts, "%d", g->node_count++);
}

static int add_root(gltf *g)
{
  separate(&g->roots);
  text_add(&g->roots, "%d", g->node_count);
  return g->node_count++;
}

int gltf_add_mesh_node(gltf *g, const char *name, int mesh, const float position[3],
                       const float rotation[4])
{
  separate(&g->nodes);
  text_add(&g->nodes, "{\"name\":");
  text_add_quoted(&g->nodes, name);
  text_add(&g->nodes, ",\"mesh\":%d,", mesh);
  add_place(&g->nodes, position, rotation);
  text_add(&g->nodes, "}");
  return add_root(g);
}

int gltf_add_node(gltf *g, const char *name, const float position[3], const float rotation[4])
{
  separate(&g->nodes);
  text_add(&g->nodes, "{\"name\":");
  text_add_quoted(&g->nodes, name);
  text_add(&g->nodes, ",");
  add_place(&g->nodes, position, rotation);
  if (g->parts.size > 0) {
    text_add(&g->nodes, ",\"children\":[");
    text_add_bytes(&g->nodes, g->parts.bytes, g->parts.size);
    text_add(&g->nodes, "]");
    g->parts.size = 0;
  }
  text_add(&g->nodes, "}");
  return add_root(g);
}

void gltf_add_camera(gltf *g, const float position[3], const float rotation[4])
{
  separate(&g->nodes);
  text_add(&g->nodes, "{\"name\":\"camera\",\"camera\":0,");
  add_place(&g->nodes, position, rotation);
  text_add(&g->nodes, "}");
  g->camera = add_root(g);
}

// ---------------------------------------------------------------------------------------------
// Motion

int gltf_add_times(gltf *g, const float *times, int count)
{
  add_view(g, times, (size_t)count * sizeof *times, 0);
  int accessor = add_accessor(g, FLOAT, "SCALAR", (size_t)count);
  add_bounds(g, times, count, 1);
  end_accessor(g);
  return accessor;
}

void gltf_add_channel(gltf *g, int node, gltf_path path, int times, const float *values,
                      size_t count)
{
  static const char *const names[3] = {"translation", "rotation", "weights"};
  static const char *const types[3] = {"VEC3", "VEC4", "SCALAR"};
  static const size_t widths[3] = {3, 4, 1};
  add_view(g, values, count * widths[path] * sizeof *values, 0);
  int output = add_accessor(g, FLOAT, types[path], count);
  end_accessor(g);
  separate(&g->samplers);
  text_add(&g->samplers, "{\"input\":%d,\"output\":%d}", times, output);
  separate(&g->channels);
  text_add(&g->channels, "{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}",
           g->sampler_count++, node, names[path]);
}

// ---------------------------------------------------------------------------------------------
// The file

static void add_list(text *json, const char *name, const text *list)
{
  if (list->size > 0) {
    text_add(json, ",\"%s\":[", name);
    text_add_bytes(json, list->bytes, list->size);
    text_add(json, "]");
  }
}

static void make_json(const gltf *g, const char *title, text *json)
{
  text_add(json, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"tenon\"},\"scene\":0");
  text_add(json, ",\"scenes\":[{\"name\":");
  text_add_quoted(json, title);
  add_list(json, "nodes", &g->roots);
  text_add(json, "}]");
  add_list(json, "nodes", &g->nodes);
  add_list(json, "meshes", &g->meshes);
  add_list(json, "materials", &g->materials);
  if (g->camera >= 0) {
    text_add(json, ",\"cameras\":[{\"type\":\"perspective\",\"perspective\":"
                   "{\"yfov\":0.8,\"znear\":0.01}}]");
  }
  if (g->channels.size > 0) {
    text_add(json, ",\"animations\":[{\"name\":\"motion\"");
    add_list(json, "samplers", &g->samplers);
    add_list(json, "channels", &g->channels);
    text_add(json, "}]");
  }
  add_list(json, "accessors", &g->accessors);
  add_list(json, "bufferViews", &g->views);
  text_add(json, ",\"buffers\":[{\"byteLength\":%zu}]}", g->binary.size);
  text_pad(json, 4, ' ');
}

static bool is_whole(const gltf *g, const text *json)
{
  const text *lists[] = {&g->views, &g->accessors, &g->materials, &g->meshes, &g->nodes,
                         &g->roots, &g->samplers,  &g->channels,  &g->binary, json};
  uint64_t size = 64;
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
    if (lists[i]->failed) {
      return false;
    }
  }
  size += (uint64_t)json->size + (uint64_t)g->binary.size;
  return size <= UINT32_MAX;
}

// All numbers in the binary part have four bytes, so it needs no padding.
bool gltf_write(const gltf *g, const char *title, FILE *file)
{
  text json = {0};
  make_json(g, title, &json);
  bool ok = is_whole(g, &json);
  if (ok) {
    uint32_t json_size = (uint32_t)json.size, binary_size = (uint32_t)g->binary.size;
    uint32_t head[5] = {0x46546c67u, 2u, 28u + json_size + binary_size, json_size, 0x4e4f534au};
    uint32_t chunk[2] = {binary_size, 0x004e4942u};
    fwrite(head, sizeof head, 1, file);
    fwrite(json.bytes, json.size, 1, file);
    fwrite(chunk, sizeof chunk, 1, file);
    fwrite(g->binary.bytes, g->binary.size, 1, file);
  }
  text_free(&json);
  return ok;
}
