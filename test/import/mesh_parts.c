// Measures the convex decomposition of mesh files: triangles, volume of the hull over that of the
// mesh, number of parts and their volume over that of the mesh.
// usage: mesh_parts MOST FILE...   a row for each file
#include "mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void measure(const char *path, int most, tn_model *model)
{
  char error[IMPORT_ERROR];
  tn_import_def def = tn_default_import_def();
  reader r = {.model = model, .def = &def, .error = error};
  model_mesh mesh = {.path = path,
                     .name = path,
                     .at = {path, 0},
                     .scale = {1.0, 1.0, 1.0},
                     .refquat = {1.0, 0.0, 0.0, 0.0}};
  mesh_load(&r, &mesh);
  tn_vec3 *points = mesh.missing ? NULL : malloc((size_t)mesh.vertex_count * sizeof *points);
  model_mass mass;
  if (!points || !mesh_mass(&mesh, MODEL_INERTIA_EXACT, &model->memory, &mass)) {
    printf("| %s | cannot be read |\n", path);
    free(points);
    return;
  }
  for (int i = 0; i < mesh.vertex_count; ++i) {
    const double *v = mesh.vertices + (size_t)3 * (size_t)i;
    points[i] = tn_v3((float)v[0], (float)v[1], (float)v[2]);
  }
  double hull = (double)tn_mass_hull(points, mesh.vertex_count, 1.0f).mass;
  tn_convex_parts *parts = tn_convex_decompose(points, mesh.vertex_count, mesh.triangles,
                                               mesh.triangle_count, most, 0.05f);
  const char *slash = strrchr(path, '/');
  printf("| %s | %d | %.2f | %d | %.2f |\n", slash ? slash + 1 : path, mesh.triangle_count,
         hull / mass.mass, parts ? parts->part_count : 0, parts ? parts->volume / mass.mass : 0.0);
  tn_convex_parts_free(parts);
  free(points);
}

int main(int argc, char **argv)
{
  for (int i = 2; i < argc; ++i) {
    tn_model *model = calloc(1, sizeof *model);
    if (model) {
      measure(argv[i], atoi(argv[1]), model);
      memory_free(&model->memory);
    }
    free(model);
  }
  return argc < 3;
}
