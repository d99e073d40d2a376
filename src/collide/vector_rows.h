// Lists of vectors, searched several at a time: the vertices and the face normals of a hull.
#ifndef TENON_COLLIDE_VECTOR_ROWS_H
#define TENON_COLLIDE_VECTOR_ROWS_H

#include "collide/d3.h"

enum { VECTOR_ROWS_WIDTH = 4, VECTOR_ROWS_MAX = 512 };

// Coordinates in rows of a multiple of VECTOR_ROWS_WIDTH floats, aligned to 16 bytes; what follows
// the last vector repeats the first one.
typedef struct vector_rows {
  float *x, *y, *z;
  int count;      // at most VECTOR_ROWS_MAX
  tn_vec3 extent; // largest magnitude of each coordinate
} vector_rows;

// Memory of `count` vectors, bytes, a multiple of 16.
size_t vector_rows_size(int count);
// `memory` is aligned to 16 bytes and has vector_rows_size(count) bytes; the first vector is at
// `vectors`, the next ones each `stride` bytes further on.
vector_rows vector_rows_make(void *memory, const tn_vec3 *vectors, size_t stride, int count);

// The vectors minus `about`, turned; `memory` as above.
vector_rows vector_rows_turned(void *memory, const vector_rows *from, tn_vec3 about, tn_quat turn);

// The first of the vectors with the largest product with `direction`, in float.
int vector_rows_furthest(const vector_rows *v, tn_vec3 direction);
// The same for products in double.
int vector_rows_furthest_exact(const vector_rows *v, d3 direction);
// Smallest and largest product with `direction`.
void vector_rows_range(const vector_rows *v, tn_vec3 direction, float *lowest, float *highest);
// Writes the product of each vector with `direction` to `products`, in rows as long as those of the
// vectors, and returns the smallest.
float vector_rows_products(const vector_rows *v, tn_vec3 direction, float *products);
// A prism of three sides on a plane, seen from above.
typedef struct prism {
  tn_vec3 side[3]; // unit, inwards
  float offset[3]; // products with `side` are at least this inside
  float limit;     // products with the normal of the plane of vectors that are near it
  float slope, rounding;
} prism;

// How far the vectors reach inwards from each side of a prism.
typedef struct prism_reach {
  bool near_any;     // one that is near the plane is inside, or outside by at most `slack`
  float all[3];      // of all vectors
  float foremost[3]; // of those that may be the lowest after a turn by `slope`, the tangent of an
                     // angle
} prism_reach;

// `products`: those of the vectors with the normal of the plane, of which `lowest` has the least.
prism_reach vector_rows_reach(const vector_rows *v, const float *products, int lowest,
                              const prism *p, const float slack[3]);

#endif
