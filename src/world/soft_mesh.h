// Helpers shared by the mesh generators of soft bodies: soft_mesh.c, soft_lattice.c, soft_skin.c.
#ifndef TENON_WORLD_SOFT_MESH_H
#define TENON_WORLD_SOFT_MESH_H

#include "world/soft_make.h"

// A mesh under construction: set the counts, allocate, fill, finish.
typedef struct soft_mesh_builder {
  tn_vec3 *vertices;
  int *edges, *triangles, *tetrahedra, *hexahedra;
  int vertex_count, edge_count, triangle_count, tetrahedron_count, hexahedron_count;
} soft_mesh_builder;

// Limits of the mesh generators: vertices along a side of a cloth, segments of a rope, cells along
// a side of a grid and in all, subdivisions of a sphere; least thickness of a tube's wall, relative
// to its radius, per cell: thinner ones are within rounding.
#define SOFT_MESH_MAX_CLOTH 4096
#define SOFT_MESH_MAX_SEGMENTS 1000000
#define SOFT_MESH_MAX_CELLS_ALONG 10000
#define SOFT_MESH_MAX_CELLS 2000000
#define SOFT_MESH_MAX_LEVEL 8
#define SOFT_MESH_MIN_WALL 1e-6f
// Shortest and longest accepted length, m.
#define SOFT_MESH_MIN_LENGTH 1e-9f
#define SOFT_MESH_MAX_LENGTH 1e9f

// Accepts lengths, in m, whose squares stay within the range of float with a margin for fractions.
static inline bool mesh_is_size(float x)
{
  return x >= SOFT_MESH_MIN_LENGTH && x < SOFT_MESH_MAX_LENGTH;
}

// True for `count` indices from 0 to below `limit`; a null list must have count 0.
bool mesh_are_indices(const int *list, int64_t count, int limit);
bool mesh_are_finite(const tn_vec3 *vertices, int count);

bool soft_mesh_builder_alloc(soft_mesh_builder *m); // by its counts
void soft_mesh_builder_free(soft_mesh_builder *m);
bool soft_mesh_builder_finish(const soft_mesh_builder *m, tn_soft_def *def);

// Adds a grid cell with corners v as a hexahedron or as five tetrahedra. Neighbouring cells must
// differ in `odd`, or the diagonals of their common face would not match.
void soft_mesh_builder_add_cell(soft_mesh_builder *m, const int *v, bool odd, bool tetrahedra);
// Adds the triangles of all faces that belong to one element only.
bool soft_mesh_builder_surface(soft_mesh_builder *m);

#endif
