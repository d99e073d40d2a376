// Triangle meshes from files, and height fields.
#ifndef TENON_IMPORT_MESH_H
#define TENON_IMPORT_MESH_H

#include "read.h"

// Reads the file of a mesh: STL (binary or text), OBJ, glTF or GLB by their content and ending.
// Where that fails the mesh is marked as missing and the report says why.
void mesh_load(reader *r, model_mesh *mesh);
// Reports a file that is not there, of a mesh that is not read.
void mesh_check(reader *r, model_mesh *mesh);
// Applies reference frame and scale.
void mesh_place(model_mesh *mesh);

// Parsers of the formats: fill in vertices and triangles, or return a reason.
typedef struct mesh_data {
  memory *memory;
  LIST(double) vertices; // three each
  LIST(int) triangles;   // three each
} mesh_data;
const char *mesh_read_stl(const char *text, size_t size, mesh_data *out);
const char *mesh_read_obj(const char *text, size_t size, mesh_data *out);
const char *mesh_read_gltf(reader *r, const char *path, const char *text, size_t size,
                           mesh_data *out);

// MuJoCo's own binary format of height fields, or a picture (not supported: reported).
void hfield_load(reader *r, const char *path, model_hfield *h);
// Scales heights to 0 to 1; rows of a file that draws them from the top are turned over.
void hfield_normalize(model_hfield *h, const double *heights, bool from_top);

// Mass of a mesh of unit density; false for one without volume.
bool mesh_mass(const model_mesh *mesh, model_mesh_inertia how, memory *m, model_mass *out);

#endif
