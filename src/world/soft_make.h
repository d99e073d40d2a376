// What making a soft body takes: checks, sizes of elements, and its constraints.
#ifndef TENON_WORLD_SOFT_MAKE_H
#define TENON_WORLD_SOFT_MAKE_H

#include "data/world.h"

// A side of a triangle.
typedef struct half_edge {
  int low, high; // vertices
  int triangle;
  int opposite; // vertex
  bool forward; // the triangle goes from low to high
} half_edge;

// Sorted by their vertices, so that those of two triangles stand side by side.
void find_half_edges(const int *triangles, int count, half_edge *sides);

// Why a definition's numbers are wrong, or null.
const char *soft_def_problem(const tn_soft_def *def);
// Elements one by one; tells what is wrong. `used` has a byte for every vertex, `sides` three
// places for every triangle, which it fills in.
bool soft_check(const tn_world *world, const tn_soft_def *def, uint8_t *used, half_edge *sides);

double soft_triangle_area(const tn_vec3 *x, const int *v);
double soft_tet_volume(const tn_vec3 *x, const int *v);
double soft_hex_volume(const tn_vec3 *x, const int *v);

// Corners of the faces of a tetrahedron or a hexahedron, counter-clockwise from outside.
const int (*soft_faces(int corners, int *count))[4];

// Sets the pointers of a soft body from its counts; returns the bytes they need.
size_t soft_assign_arrays(soft *s, void *memory);
// Counts of everything, then masses and constraints of a checked definition.
void soft_count_elements(soft *s, const tn_soft_def *def, const half_edge *sides);
void soft_init_elements(soft *s, const tn_soft_def *def, const half_edge *sides);

// A cell whose masses or plastic shape have changed; it keeps its stiffness.
void soft_refit_shape_match(soft *s, int32_t index);
void soft_init_clusters(soft *s, const tn_soft_def *def);
void soft_reset_clusters(soft *s, tn_quat turn);
ShapeMatchParams *soft_shape_match_params(const soft *s, int32_t index);

#endif
