// Making a soft body from its definition: checks, measures of elements, constraints.
#ifndef TENON_WORLD_SOFT_MAKE_H
#define TENON_WORLD_SOFT_MAKE_H

#include "data/world.h"

// An edge of one triangle.
typedef struct half_edge {
  int low, high; // vertices, low < high
  int triangle;
  int opposite; // the triangle's third vertex
  bool forward; // the triangle runs from low to high
} half_edge;

// Fills `sides`, three per triangle, sorted by low, high and triangle: the half edges of two
// neighbours are adjacent.
void find_half_edges(const int *triangles, int count, half_edge *sides);

// Why a definition's numbers are invalid, or null.
const char *soft_def_problem(const tn_soft_def *def);
const char *soft_settings_problem(const tn_soft_def *def); // the same without the elements
// Copies the settings of a checked definition, and the definition itself.
void soft_keep_def(soft *s, const tn_soft_def *def);
// Checks every element and reports the first invalid one. `used` has a zeroed byte per vertex;
// `sides` has room for three half edges per triangle and is filled.
bool soft_check(const tn_world *world, const tn_soft_def *def, uint8_t *used, half_edge *sides);

// Measures of the element with vertices x[v[0]], x[v[1]], ...; volumes are signed.
double soft_triangle_area(const tn_vec3 *x, const int *v);
double soft_tet_volume(const tn_vec3 *x, const int *v);
double soft_hex_volume(const tn_vec3 *x, const int *v);

// Faces of an element with 4 or 8 corners, each counter-clockwise from outside.
const int (*soft_faces(int corners, int *count))[4];

// Points the arrays of a soft body into `memory` by its counts; returns the bytes needed. Null
// memory: the size only.
size_t soft_assign_arrays(soft *s, void *memory);
// Of a checked definition: first the counts, then, with memory assigned, masses and constraints.
void soft_count_elements(soft *s, const tn_soft_def *def, const half_edge *sides);
void soft_init_elements(soft *s, const tn_soft_def *def, const half_edge *sides);

// Recomputes the rest shape of an element whose masses or plastic deformation have changed; the
// stiffness omega^2 sum m r^2 is kept.
void soft_refit_shape_match(soft *s, int32_t index);
void soft_init_clusters(soft *s, const tn_soft_def *def);
void soft_reset_clusters(soft *s, tn_quat turn); // rotation `turn`, no impulses
ShapeMatchParams *soft_shape_match_params(const soft *s, int32_t index);

#endif
