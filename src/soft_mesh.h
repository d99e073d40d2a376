// What the makers of meshes for soft bodies share.
#ifndef TENON_SOFT_MESH_H
#define TENON_SOFT_MESH_H

#include "soft_make.h"

// What is being built. Counts first, then memory, then contents.
typedef struct maker {
  tn_vec3 *vertices;
  int *edges, *triangles, *tetrahedra, *hexahedra;
  int vertex_count, edge_count, triangle_count, tetrahedron_count, hexahedron_count;
} maker;

bool mesh_take(maker *m); // by its counts
void mesh_give(maker *m);
bool mesh_hand_over(const maker *m, tn_soft_def *def);

// A cell of a grid, as a hexahedron or as five tetrahedra; neighbours must differ in `odd`.
void mesh_put_cell(maker *m, const int *v, bool odd, bool tetrahedra);
// Triangles of all faces that one element has alone.
bool mesh_find_surface(maker *m);

#endif
