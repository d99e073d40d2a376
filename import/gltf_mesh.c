// Vertices and triangles of glTF 2.0 files, with the transforms of their nodes.
#include "json.h"
#include "mesh.h"

#include <string.h>

enum { MAX_BUFFERS = 64, MAX_NODE_DEPTH = 64 };

typedef struct span {
  const char *bytes;
  size_t size;
} span;

typedef struct gltf {
  reader *r;
  const json *root;
  const char *path;
  span chunk; // binary part of a GLB
  span buffers[MAX_BUFFERS];
  mesh_data *out;
  const char *why;
  int nodes; // visited so far
} gltf;

// Column by column, as glTF has them.
typedef struct matrix {
  double m[16];
} matrix;

static uint32_t u32_at(const char *bytes)
{
  const unsigned char *b = (const unsigned char *)bytes;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

// ---------------------------------------------------------------------------------------------
// Buffers

static int base64_digit(char c)
{
  return c >= 'A' && c <= 'Z'   ? c - 'A'
         : c >= 'a' && c <= 'z' ? c - 'a' + 26
         : c >= '0' && c <= '9' ? c - '0' + 52
         : c == '+'             ? 62
         : c == '/'             ? 63
                                : -1;
}

static span decode_base64(gltf *g, const char *text)
{
  span out = {NULL, 0};
  char *bytes = memory_take(g->out->memory, strlen(text) * 3 / 4 + 3, 1);
  uint32_t bits = 0;
  int held = 0;
  for (; bytes && *text && base64_digit(*text) >= 0; ++text) {
    bits = bits << 6 | (uint32_t)base64_digit(*text);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[out.size++] = (char)(bits >> held & 0xff);
    }
  }
  out.bytes = bytes;
  return out;
}

static span load_buffer(gltf *g, const json *buffer)
{
  const char *uri = json_string(json_get(buffer, "uri"));
  const char *data = strncmp(uri, "data:", 5) == 0 ? strstr(uri, ";base64,") : NULL;
  span out = g->chunk;
  if (data) {
    out = decode_base64(g, data + 8);
  } else if (*uri) {
    place at = {g->path, 0};
    out.bytes = import_file(g->r, import_path(g->r, g->path, uri), at, &out.size);
  }
  return out.bytes ? out : (span){"", 0};
}

static bool load_buffers(gltf *g)
{
  const json *list = json_get(g->root, "buffers");
  if (list && list->count > MAX_BUFFERS) {
    g->why = "has too many buffers";
    return false;
  }
  int i = 0;
  for (const json *b = list ? list->first : NULL; b; b = b->next) {
    g->buffers[i++] = load_buffer(g, b);
  }
  return true;
}

typedef struct accessor {
  const char *bytes;
  int count, component;
  size_t stride;
} accessor;

static int whole(const json *value, int fallback)
{
  double n = json_number(value, (double)fallback);
  return n >= 0.0 && n <= 2e9 && n == floor(n) ? (int)n : -1;
}

static bool find_accessor(gltf *g, int index, int width, accessor *out)
{
  const json *a = json_at(json_get(g->root, "accessors"), index);
  const json *view =
      json_at(json_get(g->root, "bufferViews"), whole(json_get(a, "bufferView"), -1));
  int buffer = whole(json_get(view, "buffer"), -1);
  out->component = whole(json_get(a, "componentType"), -1);
  out->count = whole(json_get(a, "count"), -1);
  int start = whole(json_get(view, "byteOffset"), 0), offset = whole(json_get(a, "byteOffset"), 0);
  int item = width * (out->component == 5126 || out->component == 5125   ? 4
                      : out->component == 5123 || out->component == 5122 ? 2
                                                                         : 1);
  int stride = whole(json_get(view, "byteStride"), 0);
  g->why = "has data that is not there";
  if (!a || !view || buffer < 0 || buffer >= MAX_BUFFERS || out->count < 0 || start < 0 ||
      offset < 0 || stride < 0 || out->count > IMPORT_MAX_VERTICES) {
    return false;
  }
  out->stride = (size_t)(stride ? stride : item);
  uint64_t last = (uint64_t)start + (uint64_t)offset +
                  (out->count ? (uint64_t)(out->count - 1) * out->stride + (uint64_t)item : 0);
  if (last > g->buffers[buffer].size) {
    return false;
  }
  out->bytes = g->buffers[buffer].bytes + start + offset;
  g->why = NULL;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Meshes

static bool add_positions(gltf *g, const accessor *a, const matrix *at)
{
  for (int i = 0; i < a->count; ++i) {
    const char *bytes = a->bytes + (size_t)i * a->stride;
    double p[3];
    for (int k = 0; k < 3; ++k) {
      uint32_t bits = u32_at(bytes + (size_t)4 * (size_t)k);
      float value;
      memcpy(&value, &bits, sizeof value);
      p[k] = (double)value;
    }
    for (int k = 0; k < 3; ++k) {
      double *v = LIST_ADD(g->out->memory, &g->out->vertices);
      if (!v) {
        g->why = "needs more memory than there is";
        return false;
      }
      *v = at->m[k] * p[0] + at->m[4 + k] * p[1] + at->m[8 + k] * p[2] + at->m[12 + k];
    }
  }
  return true;
}

static uint32_t index_at(const accessor *a, int i)
{
  const char *bytes = a->bytes + (size_t)i * a->stride;
  const unsigned char *b = (const unsigned char *)bytes;
  return a->component == 5125   ? u32_at(bytes)
         : a->component == 5123 ? (uint32_t)b[0] | (uint32_t)b[1] << 8
                                : (uint32_t)b[0];
}

static bool add_primitive(gltf *g, const json *primitive, const matrix *at)
{
  accessor positions, indices;
  if (whole(json_get(primitive, "mode"), 4) != 4) {
    return true; // points and lines bound no solid
  }
  int first = g->out->vertices.count / 3;
  const json *attributes = json_get(primitive, "attributes");
  if (!find_accessor(g, whole(json_get(attributes, "POSITION"), -1), 3, &positions)) {
    return false;
  }
  if (positions.component != 5126) {
    g->why = "has positions that are not floats";
    return false;
  }
  const json *list = json_get(primitive, "indices");
  bool indexed = list != NULL;
  if ((indexed && !find_accessor(g, whole(list, -1), 1, &indices)) ||
      !add_positions(g, &positions, at)) {
    return false;
  }
  int count = indexed ? indices.count : positions.count;
  for (int i = 0; i < count / 3 * 3; ++i) {
    uint32_t index = indexed ? index_at(&indices, i) : (uint32_t)i;
    int *corner =
        index < (uint32_t)positions.count ? LIST_ADD(g->out->memory, &g->out->triangles) : NULL;
    if (!corner) {
      g->why = "has a triangle with a vertex that is not there";
      return false;
    }
    *corner = first + (int)index;
  }
  return true;
}

static matrix product(const matrix *a, const matrix *b)
{
  matrix out;
  for (int c = 0; c < 4; ++c) {
    for (int r = 0; r < 4; ++r) {
      double sum = 0.0;
      for (int k = 0; k < 4; ++k) {
        sum += a->m[4 * k + r] * b->m[4 * c + k];
      }
      out.m[4 * c + r] = sum;
    }
  }
  return out;
}

static double item(const json *list, int index, double fallback)
{
  return json_number(json_at(list, index), fallback);
}

static matrix node_matrix(const json *node)
{
  matrix out = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
  const json *given = json_get(node, "matrix");
  if (given) {
    for (int i = 0; i < 16; ++i) {
      out.m[i] = item(given, i, out.m[i]);
    }
    return out;
  }
  const json *t = json_get(node, "translation"), *q = json_get(node, "rotation");
  const json *s = json_get(node, "scale");
  drot turn =
      drot_normalize((drot){item(q, 3, 1.0), item(q, 0, 0.0), item(q, 1, 0.0), item(q, 2, 0.0)});
  for (int c = 0; c < 3; ++c) {
    dvec column = drot_apply(turn, dvec_of(c == 0, c == 1, c == 2));
    double scale = item(s, c, 1.0);
    out.m[4 * c] = scale * column.x;
    out.m[4 * c + 1] = scale * column.y;
    out.m[4 * c + 2] = scale * column.z;
    out.m[12 + c] = item(t, c, 0.0);
  }
  return out;
}

static bool add_node(gltf *g, int index, const matrix *parent, int depth)
{
  const json *node = json_at(json_get(g->root, "nodes"), index);
  if (!node || depth > MAX_NODE_DEPTH || ++g->nodes > 10000) {
    g->why = "has nodes that are not there, or too many of them";
    return false;
  }
  matrix local = node_matrix(node), at = product(parent, &local);
  const json *mesh = json_get(node, "mesh");
  const json *found = mesh ? json_at(json_get(g->root, "meshes"), whole(mesh, -1)) : NULL;
  const json *primitives = json_get(found, "primitives");
  for (const json *p = primitives ? primitives->first : NULL; p; p = p->next) {
    if (!add_primitive(g, p, &at)) {
      return false;
    }
  }
  const json *children = json_get(node, "children");
  for (const json *c = children ? children->first : NULL; c; c = c->next) {
    if (!add_node(g, whole(c, -1), &at, depth + 1)) {
      return false;
    }
  }
  return true;
}

static void add_scene(gltf *g)
{
  const matrix identity = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
  const json *scene = json_at(json_get(g->root, "scenes"), whole(json_get(g->root, "scene"), 0));
  const json *nodes = json_get(scene, "nodes");
  for (const json *n = nodes ? nodes->first : NULL; n; n = n->next) {
    if (!add_node(g, whole(n, -1), &identity, 0)) {
      return;
    }
  }
  if (g->out->triangles.count == 0) {
    g->why = "has no triangles in its scene";
  }
}

const char *mesh_read_gltf(reader *r, const char *path, const char *text, size_t size,
                           mesh_data *out)
{
  gltf g = {.r = r, .path = path, .out = out, .chunk = {"", 0}};
  const char *why = NULL;
  int line;
  if (size >= 20 && memcmp(text, "glTF", 4) == 0) {
    uint32_t length = u32_at(text + 12);
    if (length > size - 20) {
      return "is cut short";
    }
    size_t rest = size - 20 - length;
    const char *binary = text + 20 + length;
    if (rest >= 8 && u32_at(binary) <= rest - 8) {
      g.chunk = (span){binary + 8, u32_at(binary)};
    }
    text += 20;
    size = length;
  }
  g.root = json_parse(out->memory, text, size, &why, &line);
  if (!g.root) {
    return "is no glTF: its JSON is malformed";
  }
  if (load_buffers(&g)) {
    add_scene(&g);
  }
  return g.why;
}
