// Triangle meshes and height fields from files.
#ifndef TENON_IMPORT_MESH_H
#define TENON_IMPORT_MESH_H

#include "read.h"

#include <stdint.h>

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

// Numbers of binary files, low byte first.
uint32_t read_u32(const char *bytes);
double read_f32(const char *bytes);

// A height field from MuJoCo's own binary format or a picture in PNG.
void hfield_load(reader *r, const char *path, model_hfield *h);
// The first channel of a picture in PNG, row by row from the top; null, and a reason, if it cannot
// be read.
double *png_read(memory *m, const char *text, size_t size, int *rows, int *columns,
                 const char **why);
// Scales heights to 0 to 1; rows of a file that draws them from the top are turned over.
void hfield_normalize(model_hfield *h, const double *heights, bool from_top);

// Mass of a mesh of unit density; false for one without volume.
bool mesh_mass(const model_mesh *mesh, model_mesh_inertia how, memory *m, model_mass *out);

#endif
