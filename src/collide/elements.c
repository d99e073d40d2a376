// Measures of triangles, tetrahedra and hexahedra, and the edges of triangle meshes.
#include "collide/elements.h"

#include "base/dquat.h"
#include "base/dvec.h"

#include <math.h>
#include <stdlib.h>

static int by_vertices(const void *a, const void *b)
{
  const half_edge *x = a, *y = b;
  if (x->low != y->low) {
    return x->low < y->low ? -1 : 1;
  }
  if (x->high != y->high) {
    return x->high < y->high ? -1 : 1;
  }
  return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

void find_half_edges(const int *triangles, int count, half_edge *sides)
{
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      int from = triangles[3 * i + k], to = triangles[3 * i + (k + 1) % 3];
      half_edge s = {from < to ? from : to, from < to ? to : from, i,
                     triangles[3 * i + (k + 2) % 3], from < to};
      sides[3 * i + k] = s;
    }
  }
  if (count > 0) {
    qsort(sides, 3 * (size_t)count, sizeof *sides, by_vertices);
  }
}

static tn_pos between(const tn_vec3 *x, int from, int to)
{
  return tn_p3((double)x[to].x - (double)x[from].x, (double)x[to].y - (double)x[from].y,
               (double)x[to].z - (double)x[from].z);
}

double soft_triangle_area(const tn_vec3 *x, const int *v)
{
  tn_pos n = pos_cross(between(x, v[0], v[1]), between(x, v[0], v[2]));
  return 0.5 * sqrt(pos_dot(n, n));
}

double soft_tet_volume(const tn_vec3 *x, const int *v)
{
  return pos_dot(between(x, v[0], v[1]),
                 pos_cross(between(x, v[0], v[2]), between(x, v[0], v[3]))) /
         6.0;
}

double soft_hex_volume(const tn_vec3 *x, const int *v)
{
  // Sum of six tetrahedra around the diagonal from corner 0 to corner 6.
  static const int ring[6] = {1, 2, 3, 7, 4, 5};
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) {
    int t[4] = {v[0], v[ring[i]], v[ring[(i + 1) % 6]], v[6]};
    sum += soft_tet_volume(x, t);
  }
  return sum;
}

const int (*soft_faces(int corners, int *count))[4]
{
  static const int of_tet[4][4] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  static const int of_hex[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                   {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
  *count = corners == 4 ? 4 : 6;
  return corners == 4 ? of_tet : of_hex;
}
