// Files of meshes (STL, OBJ, glTF): every reader gets the same bytes. What they read is split into
// convex parts.
#include "fuzz.h"
#include "mesh.h"

#include <stdlib.h>

enum { MOST_TRIANGLES = 300 };

static void decompose(const mesh_data *d)
{
  int vertices = d->vertices.count / 3, triangles = d->triangles.count / 3;
  tn_vec3 *points = malloc(((size_t)vertices + 1) * sizeof *points);
  for (int i = 0; points && i < vertices; ++i) {
    const double *v = d->vertices.items + 3 * (size_t)i;
    points[i] = tn_v3((float)v[0], (float)v[1], (float)v[2]);
  }
  if (points) {
    tn_convex_parts_free(
        tn_convex_decompose(points, vertices, d->triangles.items, triangles, 4, 0.1f));
    tn_mass_hull(points, vertices, 1.0f);
    tn_mass_mesh(points, vertices, d->triangles.items, triangles, 1.0f);
  }
  free(points);
}

static const char *parse(reader *r, int format, const uint8_t *data, size_t size, mesh_data *out)
{
  const char *text = (const char *)data;
  return format == 0   ? mesh_read_stl(text, size, out)
         : format == 1 ? mesh_read_obj(text, size, out)
                       : mesh_read_gltf(r, "fuzz/mesh.glb", text, size, out);
}

static void check(const mesh_data *d, bool split)
{
  for (int i = 0; i < d->triangles.count; ++i) {
    int v = d->triangles.items[i];
    if (v < 0 || v >= d->vertices.count / 3) {
      fuzz_fail("a triangle names a vertex that is not there");
    }
  }
  if (split && d->vertices.count >= 12 && d->triangles.count / 3 <= MOST_TRIANGLES &&
      d->vertices.count <= 3 * MOST_TRIANGLES) {
    decompose(d);
  }
}

// One in 32: splitting takes a thousand times as long as reading.
static bool is_chosen(const uint8_t *data, size_t size)
{
  uint32_t sum = 0;
  for (size_t i = 0; i < size; ++i) {
    sum = sum * 31 + data[i];
  }
  return (sum ^ sum >> 16) % 32 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  // As import_file() reads it: with a zero after its end.
  uint8_t *text = calloc(size + 1, 1);
  for (size_t i = 0; text && i < size; ++i) {
    text[i] = data[i];
  }
  bool split = is_chosen(data, size);
  for (int format = 0; text && format < 3; ++format) {
    char error[IMPORT_ERROR];
    tn_import_def def = tn_default_import_def();
    tn_model *model = calloc(1, sizeof *model);
    if (model) {
      reader r = {.model = model, .def = &def, .error = error};
      mesh_data out = {.memory = &model->memory};
      if (!parse(&r, format, text, size, &out) && !r.failed) {
        check(&out, split);
      }
      memory_free(&model->memory);
      free(model);
    }
  }
  free(text);
  return 0;
}
