// What the makers of meshes for soft bodies share.
#ifndef TENON_WORLD_SOFT_MESH_H
#define TENON_WORLD_SOFT_MESH_H

#include "world/soft_make.h"

// What is being built. Counts first, then memory, then contents.
typedef struct soft_mesh_builder {
  tn_vec3 *vertices;
  int *edges, *triangles, *tetrahedra, *hexahedra;
  int vertex_count, edge_count, triangle_count, tetrahedron_count, hexahedron_count;
} soft_mesh_builder;

// Sizes whose squares are floats, with some orders of magnitude to spare for parts of them.
static inline bool mesh_is_size(float x)
{
  return x >= 1e-9f && x < 1e9f;
}

// `count` numbers from 0 to `limit`; a null list has none.
bool mesh_are_indices(const int *list, int64_t count, int limit);
bool mesh_are_finite(const tn_vec3 *vertices, int count);

bool soft_mesh_builder_alloc(soft_mesh_builder *m); // by its counts
void soft_mesh_builder_free(soft_mesh_builder *m);
bool soft_mesh_builder_finish(const soft_mesh_builder *m, tn_soft_def *def);

// A cell of a grid, as a hexahedron or as five tetrahedra; neighbours must differ in `odd`.
void soft_mesh_builder_add_cell(soft_mesh_builder *m, const int *v, bool odd, bool tetrahedra);
// Triangles of all faces that one element has alone.
bool soft_mesh_builder_surface(soft_mesh_builder *m);

#endif
