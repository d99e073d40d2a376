// Measures of triangles, tetrahedra and hexahedra, and the edges of triangle meshes.
#ifndef TENON_COLLIDE_ELEMENTS_H
#define TENON_COLLIDE_ELEMENTS_H

#include <tenon/types.h>

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

// Measures of the element with vertices x[v[0]], x[v[1]], ...; volumes are signed.
double soft_triangle_area(const tn_vec3 *x, const int *v);
double soft_tet_volume(const tn_vec3 *x, const int *v);
double soft_hex_volume(const tn_vec3 *x, const int *v);
// Faces of an element with 4 or 8 corners, each counter-clockwise from outside.
const int (*soft_faces(int corners, int *count))[4];

#endif
