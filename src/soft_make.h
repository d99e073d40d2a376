// What making a soft body takes: checks, sizes of elements, and its constraints.
#ifndef TENON_SOFT_MAKE_H
#define TENON_SOFT_MAKE_H

#include "world.h"

// A side of a triangle.
typedef struct soft_side {
  int low, high; // vertices
  int triangle;
  int opposite; // vertex
  bool forward; // the triangle goes from low to high
} soft_side;

// Sorted by their vertices, so that those of two triangles stand side by side.
void soft_find_sides(const int *triangles, int count, soft_side *sides);

// Why a definition's numbers are wrong, or null.
const char *soft_def_problem(const tn_soft_def *def);
// Elements one by one; tells what is wrong. `used` has a byte for every vertex, `sides` three
// places for every triangle, which it fills in.
bool soft_check(const tn_world *world, const tn_soft_def *def, uint8_t *used, soft_side *sides);

double soft_triangle_area(const tn_vec3 *x, const int *v);
double soft_tet_volume(const tn_vec3 *x, const int *v);
double soft_hex_volume(const tn_vec3 *x, const int *v);

// Corners of the faces of a tetrahedron or a hexahedron, counter-clockwise from outside.
const int (*soft_faces(int corners, int *count))[4];

// Sets the pointers of a soft body from its counts; returns the bytes they need.
size_t soft_lay_out(soft *s, void *memory);
// Counts of everything, then masses and constraints of a checked definition.
void soft_count(soft *s, const tn_soft_def *def, const soft_side *sides);
void soft_fill(soft *s, const tn_soft_def *def, const soft_side *sides);

// A cell whose masses or plastic shape have changed; it keeps its stiffness.
void soft_fit_cell(soft *s, int32_t index);
void soft_put_clusters(soft *s, const tn_soft_def *def);
void soft_turn_clusters(soft *s, tn_quat turn);
CellParams *soft_cell(const soft *s, int32_t index);

#endif
