// Lattice mesh of a closed surface: cells of a regular grid that are at least a quarter inside are
// kept, and the vertices on their outside are snapped to the surface.
#include "collide/distance.h"
#include "world/soft_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LATTICE_SAMPLES 4        // samples along each side of a cell
#define LATTICE_MIN_INSIDE 16    // of the 64 samples of a cell, for it to be kept
#define LATTICE_MAX_CELLS 200000 // cells of the bounding box
#define LATTICE_MIN_VOLUME 0.25  // least volume after snapping, relative to the undeformed corner
// Shift of the samples, in sample spacings (once, twice, three times along x, y, z): keeps them off
// the edges and corners of surfaces that are aligned with the lattice.
#define LATTICE_SAMPLE_SHIFT (0.0123 / LATTICE_SAMPLES)

// A vertex that may not move all of the way is tried at half of it, so many times; rounds over all
// vertices, for one may have been held back by neighbours that moved later.
#define LATTICE_SNAP_TRIES 4
#define LATTICE_SNAP_ROUNDS 4
#define LATTICE_FIT_TOLERANCE 1e-6 // of a cell: a box of so nearly whole cells gets no more
#define LATTICE_MIN_CELL 1e-6      // relative to the coordinates: smaller cells have no volume

typedef struct surface {
  const tn_vec3 *vertices;
  const int *triangles;
  int vertex_count, triangle_count;
} surface;

typedef struct lattice {
  int cells[3];            // along each axis
  double origin[3], size;  // m: lower corner; side of a cell
  uint8_t *kept;           // by cell: samples inside
  int *vertex;             // by lattice point: vertex of the mesh, or -1
  int16_t *winding_change; // change of the winding number before each sample, by line along x
} lattice;

static int cell_count(const lattice *l)
{
  return l->cells[0] * l->cells[1] * l->cells[2];
}

static int cell_at(const lattice *l, int i, int j, int k)
{
  return i + l->cells[0] * (j + l->cells[1] * k);
}

static bool is_kept(const lattice *l, int i, int j, int k)
{
  return i >= 0 && j >= 0 && k >= 0 && i < l->cells[0] && j < l->cells[1] && k < l->cells[2] &&
         l->kept[cell_at(l, i, j, k)] >= LATTICE_MIN_INSIDE;
}

// ---------------------------------------------------------------------------------------------
// Which cells are inside

static double coordinate(tn_vec3 v, int axis)
{
  return (double)(axis == 0 ? v.x : axis == 1 ? v.y : v.z);
}

// Coordinate in units of sample spacings: sample s has coordinate s.
static double to_samples(const lattice *l, tn_vec3 v, int axis)
{
  return (coordinate(v, axis) - l->origin[axis]) / l->size * LATTICE_SAMPLES - 0.5 -
         LATTICE_SAMPLE_SHIFT * (axis + 1);
}

static int clamp(double x, int most)
{
  return x < 0.0 ? 0 : x > (double)most ? most : (int)x;
}

// Twice the signed area of the triangle a, b, (y, z) in the yz plane.
static double cross2(const double *a, const double *b, double y, double z)
{
  return (b[1] - a[1]) * (z - a[2]) - (b[2] - a[2]) * (y - a[1]);
}

// For every line of samples along x that crosses the triangle, the winding number changes by 1 or
// -1 at the first sample behind it.
static void mark_triangle(lattice *l, const surface *s, const int *v)
{
  double x[3][3], lower[3], upper[3];
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 0; k < 3; ++k) {
      x[k][axis] = to_samples(l, s->vertices[v[k]], axis);
    }
    lower[axis] = fmin(x[0][axis], fmin(x[1][axis], x[2][axis]));
    upper[axis] = fmax(x[0][axis], fmax(x[1][axis], x[2][axis]));
  }
  double area = cross2(x[0], x[1], x[2][1], x[2][2]);
  int lines[3] = {LATTICE_SAMPLES * l->cells[0], LATTICE_SAMPLES * l->cells[1],
                  LATTICE_SAMPLES * l->cells[2]};
  int last_y = clamp(upper[1], lines[1] - 1), last_z = clamp(upper[2], lines[2] - 1);
  for (int z = clamp(ceil(lower[2]), lines[2]); z <= last_z && area != 0.0; ++z) {
    for (int y = clamp(ceil(lower[1]), lines[1]); y <= last_y; ++y) {
      double a = cross2(x[1], x[2], y, z) / area, b = cross2(x[2], x[0], y, z) / area;
      double c = cross2(x[0], x[1], y, z) / area;
      if (a >= 0.0 && b >= 0.0 && c >= 0.0) {
        int behind = clamp(ceil(a * x[0][0] + b * x[1][0] + c * x[2][0]), lines[0]);
        size_t line = (size_t)y + (size_t)lines[1] * (size_t)z;
        int16_t *winding_change =
            &l->winding_change[line * ((size_t)lines[0] + 1) + (size_t)behind];
        *winding_change = (int16_t)(*winding_change + (area > 0.0 ? 1 : -1));
      }
    }
  }
}

static void count_samples(lattice *l)
{
  int across = LATTICE_SAMPLES * l->cells[0];
  for (int z = 0; z < LATTICE_SAMPLES * l->cells[2]; ++z) {
    for (int y = 0; y < LATTICE_SAMPLES * l->cells[1]; ++y) {
      size_t line = (size_t)y + (size_t)(LATTICE_SAMPLES * l->cells[1]) * (size_t)z;
      int winding = 0;
      for (int x = 0; x < across; ++x) {
        winding += l->winding_change[line * ((size_t)across + 1) + (size_t)x];
        uint8_t *count =
            &l->kept[cell_at(l, x / LATTICE_SAMPLES, y / LATTICE_SAMPLES, z / LATTICE_SAMPLES)];
        *count = (uint8_t)(*count + (winding != 0));
      }
    }
  }
}

// Two kept cells that share only an edge would make a non-manifold surface: of the two other cells
// at that edge, the one with more samples inside is kept too.
static bool fill_edge(lattice *l, int i, int j, int k, int axis)
{
  static const int along[3][2][3] = {
      {{0, 1, 0}, {0, 0, 1}}, {{0, 0, 1}, {1, 0, 0}}, {{1, 0, 0}, {0, 1, 0}}};
  const int *u = along[axis][0], *w = along[axis][1];
  const int at[4][3] = {{i, j, k},
                        {i + u[0], j + u[1], k + u[2]},
                        {i + u[0] + w[0], j + u[1] + w[1], k + u[2] + w[2]},
                        {i + w[0], j + w[1], k + w[2]}};
  bool kept[4];
  for (int c = 0; c < 4; ++c) {
    kept[c] = is_kept(l, at[c][0], at[c][1], at[c][2]);
  }
  if (kept[0] != kept[2] || kept[1] != kept[3] || kept[0] == kept[1]) {
    return false;
  }
  const int *a = at[kept[0] ? 1 : 0], *b = at[kept[0] ? 3 : 2];
  uint8_t *one = &l->kept[cell_at(l, a[0], a[1], a[2])];
  uint8_t *two = &l->kept[cell_at(l, b[0], b[1], b[2])];
  *(*one >= *two ? one : two) = LATTICE_MIN_INSIDE;
  return true;
}

static void close_edges(lattice *l)
{
  bool changed = true;
  while (changed) {
    changed = false;
    for (int i = 0; i < 3 * cell_count(l); ++i) {
      int c = i / 3, x = c % l->cells[0], y = c / l->cells[0] % l->cells[1];
      int z = c / l->cells[0] / l->cells[1], axis = i % 3;
      bool inside = (axis == 0 || x + 1 < l->cells[0]) && (axis == 1 || y + 1 < l->cells[1]) &&
                    (axis == 2 || z + 1 < l->cells[2]);
      changed = (inside && fill_edge(l, x, y, z, axis)) || changed;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Vertices and cells

static int point_at(const lattice *l, int i, int j, int k)
{
  return i + (l->cells[0] + 1) * (j + (l->cells[1] + 1) * k);
}

static void corner_points(const lattice *l, int cell, int *points)
{
  int i = cell % l->cells[0], j = cell / l->cells[0] % l->cells[1];
  int k = cell / l->cells[0] / l->cells[1];
  for (int c = 0; c < 8; ++c) {
    points[c] = point_at(l, i + (c % 4 == 1 || c % 4 == 2), j + (c % 4 >= 2), k + (c >= 4));
  }
}

// Numbers the lattice points of kept cells; returns the number of these cells.
static int number_points(lattice *l, int *vertex_count)
{
  int points = (l->cells[0] + 1) * (l->cells[1] + 1) * (l->cells[2] + 1), kept = 0;
  for (int i = 0; i < points; ++i) {
    l->vertex[i] = -1;
  }
  for (int i = 0; i < cell_count(l); ++i) {
    int corner[8];
    corner_points(l, i, corner);
    for (int c = 0; c < 8 && l->kept[i] >= LATTICE_MIN_INSIDE; ++c) {
      l->vertex[corner[c]] = 0;
    }
    kept += l->kept[i] >= LATTICE_MIN_INSIDE;
  }
  *vertex_count = 0;
  for (int i = 0; i < points; ++i) {
    l->vertex[i] = l->vertex[i] < 0 ? -1 : (*vertex_count)++;
  }
  return kept;
}

static void put_all(const lattice *l, soft_mesh_builder *m)
{
  for (int k = 0; k <= l->cells[2]; ++k) {
    for (int j = 0; j <= l->cells[1]; ++j) {
      for (int i = 0; i <= l->cells[0]; ++i) {
        int v = l->vertex[point_at(l, i, j, k)];
        if (v >= 0) {
          m->vertices[v] =
              tn_v3((float)(l->origin[0] + l->size * i), (float)(l->origin[1] + l->size * j),
                    (float)(l->origin[2] + l->size * k));
        }
      }
    }
  }
  bool tetrahedra = m->tetrahedron_count > 0;
  m->tetrahedron_count = m->hexahedron_count = 0;
  for (int i = 0; i < cell_count(l); ++i) {
    int corner[8], x = i % l->cells[0], y = i / l->cells[0] % l->cells[1];
    int z = i / l->cells[0] / l->cells[1];
    corner_points(l, i, corner);
    for (int c = 0; c < 8; ++c) {
      corner[c] = l->vertex[corner[c]];
    }
    if (l->kept[i] >= LATTICE_MIN_INSIDE) {
      soft_mesh_builder_add_cell(m, corner, (x + y + z) % 2, tetrahedra);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Snapping to the surface

static tn_vec3 nearest_on(const surface *s, tn_vec3 p)
{
  closest best = {INFINITY, p, {0.0f, 0.0f, 0.0f}};
  for (int i = 0; i < s->triangle_count; ++i) {
    geometry g = {.kind = GEOMETRY_TRIANGLE};
    for (int k = 0; k < 3; ++k) {
      g.corner[k] = tn_sub(s->vertices[s->triangles[3 * i + k]], p);
    }
    closest c;
    if (geometry_closest(&g, tn_v3(0.0f, 0.0f, 0.0f), best.distance, &c) &&
        fabsf(c.distance) < best.distance) {
      best.distance = fabsf(c.distance);
      best.point = tn_add(p, c.point);
    }
  }
  return best.point;
}

// Elements of vertex i: elements[first[i]] to elements[first[i + 1] - 1].
typedef struct incidence {
  int *first, *elements;
} incidence;

static bool list_incidence(const soft_mesh_builder *m, incidence *r)
{
  int size = m->tetrahedron_count > 0 ? 4 : 8;
  int count = size * (m->tetrahedron_count + m->hexahedron_count);
  const int *v = m->tetrahedron_count > 0 ? m->tetrahedra : m->hexahedra;
  r->first = calloc((size_t)m->vertex_count + 2, sizeof(int));
  r->elements = malloc(((size_t)count + 1) * sizeof(int));
  if (!r->first || !r->elements) {
    return false;
  }
  for (int i = 0; i < count; ++i) {
    r->first[v[i] + 2] += 1;
  }
  for (int i = 2; i < m->vertex_count + 2; ++i) {
    r->first[i] += r->first[i - 1];
  }
  for (int i = 0; i < count; ++i) {
    r->elements[r->first[v[i] + 1]++] = i / size;
  }
  return true;
}

// Whether every corner of a hexahedron with its three neighbours has a volume above `least`.
static bool is_good_hex(const tn_vec3 *x, const int *v, double least)
{
  static const int corner[8][4] = {{0, 1, 3, 4}, {1, 2, 0, 5}, {2, 3, 1, 6}, {3, 0, 2, 7},
                                   {4, 7, 5, 0}, {5, 4, 6, 1}, {6, 5, 7, 2}, {7, 6, 4, 3}};
  for (int i = 0; i < 8; ++i) {
    int t[4] = {v[corner[i][0]], v[corner[i][1]], v[corner[i][2]], v[corner[i][3]]};
    if (!(soft_tet_volume(x, t) > least)) {
      return false;
    }
  }
  return true;
}

static bool are_good(const soft_mesh_builder *m, const incidence *r, int vertex, double cell)
{
  double least = LATTICE_MIN_VOLUME / 6.0 * cell * cell * cell;
  for (int i = r->first[vertex]; i < r->first[vertex + 1]; ++i) {
    size_t e = (size_t)r->elements[i];
    bool good = m->tetrahedron_count > 0
                    ? soft_tet_volume(m->vertices, m->tetrahedra + 4 * e) > least
                    : is_good_hex(m->vertices, m->hexahedra + 8 * e, least);
    if (!good) {
      return false;
    }
  }
  return true;
}

// Moves a vertex to its target, or a half, a quarter or an eighth of the way, as far as its
// elements keep their least volume.
static void snap_to_surface(soft_mesh_builder *m, const incidence *r, int vertex, tn_vec3 target,
                            double cell)
{
  tn_vec3 from = m->vertices[vertex], displacement = tn_sub(target, from);
  for (int halvings = 0; halvings < LATTICE_SNAP_TRIES; ++halvings) {
    m->vertices[vertex] = tn_add(from, tn_scale(1.0f / (float)(1 << halvings), displacement));
    if (are_good(m, r, vertex, cell)) {
      return;
    }
  }
  m->vertices[vertex] = from;
}

static bool snap_all_to_surface(soft_mesh_builder *m, const surface *s, double cell)
{
  incidence r = {NULL, NULL};
  tn_vec3 *targets = malloc((size_t)m->vertex_count * sizeof *targets);
  uint8_t *outside = calloc((size_t)m->vertex_count, 1);
  bool ok = targets && outside && list_incidence(m, &r);
  for (int i = 0; ok && i < 3 * m->triangle_count; ++i) {
    outside[m->triangles[i]] = 1;
  }
  for (int i = 0; ok && i < m->vertex_count; ++i) {
    targets[i] = outside[i] ? nearest_on(s, m->vertices[i]) : m->vertices[i];
  }
  for (int i = 0; ok && i < LATTICE_SNAP_ROUNDS * m->vertex_count; ++i) {
    int vertex = i % m->vertex_count;
    if (outside[vertex]) {
      snap_to_surface(m, &r, vertex, targets[vertex], cell);
    }
  }
  free(targets);
  free(outside);
  free(r.first);
  free(r.elements);
  return ok;
}

// ---------------------------------------------------------------------------------------------

static bool is_closed(const surface *s)
{
  half_edge *sides = malloc((3 * (size_t)s->triangle_count + 1) * sizeof *sides);
  bool closed =
      sides && mesh_are_indices(s->triangles, 3 * (int64_t)s->triangle_count, s->vertex_count);
  if (closed) {
    find_half_edges(s->triangles, s->triangle_count, sides);
  }
  for (int i = 0; closed && i < 3 * s->triangle_count; i += 2) {
    closed = i + 1 < 3 * s->triangle_count && sides[i].low == sides[i + 1].low &&
             sides[i].high == sides[i + 1].high && sides[i].forward != sides[i + 1].forward;
  }
  free(sides);
  return closed;
}

// Sets the cells that cover the surface's bounding box, centred on it. False if there are too many.
static bool measure(const surface *s, double cell, lattice *l)
{
  double total = 1.0;
  l->size = cell;
  for (int axis = 0; axis < 3; ++axis) {
    double lower = HUGE_VAL, upper = -HUGE_VAL;
    for (int i = 0; i < s->vertex_count; ++i) {
      double x = coordinate(s->vertices[i], axis);
      lower = fmin(lower, x);
      upper = fmax(upper, x);
    }
    double count = fmax(1.0, ceil((upper - lower) / cell - LATTICE_FIT_TOLERANCE));
    total *= count;
    if (!(total <= LATTICE_MAX_CELLS) || cell < LATTICE_MIN_CELL * fmax(fabs(lower), fabs(upper))) {
      return false;
    }
    l->cells[axis] = (int)count;
    l->origin[axis] = 0.5 * (lower + upper - cell * count);
  }
  return true;
}

static bool choose_cells(lattice *l, const surface *s)
{
  size_t cells = (size_t)cell_count(l);
  size_t points = (size_t)(l->cells[0] + 1) * (size_t)(l->cells[1] + 1) * (size_t)(l->cells[2] + 1);
  size_t lines = LATTICE_SAMPLES * LATTICE_SAMPLES * (size_t)l->cells[1] * (size_t)l->cells[2];
  l->kept = calloc(cells, 1);
  l->vertex = malloc(points * sizeof(int));
  l->winding_change =
      calloc(lines * ((size_t)(LATTICE_SAMPLES * l->cells[0]) + 1), sizeof *l->winding_change);
  if (!l->kept || !l->vertex || !l->winding_change) {
    return false;
  }
  for (int i = 0; i < s->triangle_count; ++i) {
    mark_triangle(l, s, s->triangles + 3 * (size_t)i);
  }
  count_samples(l);
  close_edges(l);
  return true;
}

static bool build_lattice(const surface *s, lattice *l, bool tetrahedra, soft_mesh_builder *m)
{
  if (!choose_cells(l, s)) {
    return false;
  }
  int cells = number_points(l, &m->vertex_count);
  m->tetrahedron_count = tetrahedra ? 5 * cells : 0;
  m->hexahedron_count = tetrahedra ? 0 : cells;
  if (cells == 0 || !soft_mesh_builder_alloc(m)) {
    return false;
  }
  put_all(l, m);
  if (!soft_mesh_builder_surface(m) || !snap_all_to_surface(m, s, l->size)) {
    soft_mesh_builder_free(m);
    return false;
  }
  return true;
}

bool tn_soft_mesh_solid(tn_soft_def *def, const tn_vec3 *vertices, int vertex_count,
                        const int *triangles, int triangle_count, float cell, bool tetrahedra)
{
  if (!def || !vertices || !triangles || vertex_count < 4 || vertex_count > SOFT_MAX_VERTICES ||
      triangle_count < 4 || triangle_count > SOFT_MAX_VERTICES || !mesh_is_size(cell) ||
      !mesh_are_finite(vertices, vertex_count)) {
    return false;
  }
  surface s = {vertices, triangles, vertex_count, triangle_count};
  lattice l = {.kept = NULL};
  soft_mesh_builder m = {.vertices = NULL};
  bool ok = is_closed(&s) && measure(&s, (double)cell, &l) && build_lattice(&s, &l, tetrahedra, &m);
  free(l.kept);
  free(l.vertex);
  free(l.winding_change);
  return ok && soft_mesh_builder_finish(&m, def);
}
