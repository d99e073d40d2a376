// Mesh generators for common soft bodies: cloth, rope, surfaces, grids of cells, spheres; tethers.
#include "world/soft_mesh.h"

#include "kernel/ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool take_list(int **list, int count, int size)
{
  *list = count > 0 ? malloc((size_t)count * (size_t)size * sizeof(int)) : NULL;
  return count == 0 || *list;
}

void soft_mesh_builder_free(soft_mesh_builder *m)
{
  free(m->vertices);
  free(m->edges);
  free(m->triangles);
  free(m->tetrahedra);
  free(m->hexahedra);
}

bool soft_mesh_builder_alloc(soft_mesh_builder *m)
{
  m->vertices = malloc((size_t)m->vertex_count * sizeof(tn_vec3));
  bool ok = m->vertices && take_list(&m->edges, m->edge_count, 2);
  ok = ok && take_list(&m->triangles, m->triangle_count, 3);
  ok = ok && take_list(&m->tetrahedra, m->tetrahedron_count, 4);
  ok = ok && take_list(&m->hexahedra, m->hexahedron_count, 8);
  if (!ok) {
    soft_mesh_builder_free(m);
  }
  return ok;
}

bool soft_mesh_builder_finish(const soft_mesh_builder *m, tn_soft_def *def)
{
  def->vertices = m->vertices;
  def->edges = m->edges;
  def->triangles = m->triangles;
  def->tetrahedra = m->tetrahedra;
  def->hexahedra = m->hexahedra;
  def->vertex_count = m->vertex_count;
  def->edge_count = m->edge_count;
  def->triangle_count = m->triangle_count;
  def->tetrahedron_count = m->tetrahedron_count;
  def->hexahedron_count = m->hexahedron_count;
  return true;
}

void tn_soft_mesh_free(tn_soft_def *def)
{
  if (def) {
    free((void *)def->vertices);
    free((void *)def->edges);
    free((void *)def->triangles);
    free((void *)def->tetrahedra);
    free((void *)def->hexahedra);
    free((void *)def->tethers);
    free((void *)def->tether_lengths);
    def->tethers = NULL;
    def->tether_lengths = NULL;
    def->tether_count = 0;
    soft_mesh_builder none = {0};
    soft_mesh_builder_finish(&none, def);
  }
}

static void put2(int *list, int *count, int a, int b)
{
  list[2 * *count] = a;
  list[2 * *count + 1] = b;
  *count += 1;
}

static void put3(int *list, int *count, int a, int b, int c)
{
  list[3 * *count] = a;
  list[3 * *count + 1] = b;
  list[3 * *count + 2] = c;
  *count += 1;
}

bool mesh_are_indices(const int *list, int64_t count, int limit)
{
  for (int64_t i = 0; list && i < count; ++i) {
    if (list[i] < 0 || list[i] >= limit) {
      return false;
    }
  }
  return list ? count >= 0 : count == 0;
}

bool mesh_are_finite(const tn_vec3 *vertices, int count)
{
  for (int i = 0; i < count; ++i) {
    if (!is_finite3(vertices[i])) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Cloth and rope

// The diagonal of the triangles alternates from cell to cell, so that the cloth is not anisotropic.
static void put_cloth_cell(soft_mesh_builder *m, int v, int columns, bool odd)
{
  int a = v, b = v + 1, c = v + columns + 1, d = v + columns;
  if (odd) {
    put3(m->triangles, &m->triangle_count, a, d, c);
    put3(m->triangles, &m->triangle_count, a, c, b);
  } else {
    put3(m->triangles, &m->triangle_count, a, d, b);
    put3(m->triangles, &m->triangle_count, d, c, b);
  }
  put2(m->edges, &m->edge_count, a, c);
  put2(m->edges, &m->edge_count, b, d);
}

bool tn_soft_mesh_cloth(tn_soft_def *def, int columns, int rows, float size_x, float size_z)
{
  if (!def || columns < 2 || rows < 2 || columns > SOFT_MESH_MAX_CLOTH ||
      rows > SOFT_MESH_MAX_CLOTH || columns * rows > SOFT_MAX_VERTICES || !mesh_is_size(size_x) ||
      !mesh_is_size(size_z)) {
    return false;
  }
  int cells = (columns - 1) * (rows - 1);
  soft_mesh_builder m = {.vertex_count = columns * rows,
                         .edge_count = (columns - 1) * rows + columns * (rows - 1) + 2 * cells,
                         .triangle_count = 2 * cells};
  if (!soft_mesh_builder_alloc(&m)) {
    return false;
  }
  m.edge_count = m.triangle_count = 0;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      int v = row * columns + column;
      m.vertices[v] = tn_v3(size_x * ((float)column / (float)(columns - 1) - 0.5f), 0.0f,
                            size_z * ((float)row / (float)(rows - 1) - 0.5f));
      if (column + 1 < columns) {
        put2(m.edges, &m.edge_count, v, v + 1);
      }
      if (row + 1 < rows) {
        put2(m.edges, &m.edge_count, v, v + columns);
      }
      if (column + 1 < columns && row + 1 < rows) {
        put_cloth_cell(&m, v, columns, (row + column) % 2);
      }
    }
  }
  return soft_mesh_builder_finish(&m, def);
}

bool tn_soft_mesh_rope(tn_soft_def *def, int segments, float length)
{
  if (!def || segments < 1 || segments > SOFT_MESH_MAX_SEGMENTS || !mesh_is_size(length)) {
    return false;
  }
  soft_mesh_builder m = {.vertex_count = segments + 1, .edge_count = segments};
  if (!soft_mesh_builder_alloc(&m)) {
    return false;
  }
  for (int i = 0; i <= segments; ++i) {
    m.vertices[i] = tn_v3(length * (float)i / (float)segments, 0.0f, 0.0f);
    if (i < segments) {
      m.edges[2 * i] = i;
      m.edges[2 * i + 1] = i + 1;
    }
  }
  return soft_mesh_builder_finish(&m, def);
}

// Lists the edges of triangles, each once; returns their number, or -1 when out of memory.
static int find_edges(const int *triangles, int count, int *edges)
{
  half_edge *sides = malloc((3 * (size_t)count + 1) * sizeof *sides);
  int found = sides ? 0 : -1;
  if (sides) {
    find_half_edges(triangles, count, sides);
  }
  for (int i = 0; sides && i < 3 * count; ++i) {
    if (i == 0 || sides[i].low != sides[i - 1].low || sides[i].high != sides[i - 1].high) {
      put2(edges, &found, sides[i].low, sides[i].high);
    }
  }
  free(sides);
  return found;
}

bool tn_soft_mesh_triangles(tn_soft_def *def, const tn_vec3 *vertices, int vertex_count,
                            const int *triangles, int triangle_count)
{
  if (!def || !vertices || !triangles || vertex_count < 3 || vertex_count > SOFT_MAX_VERTICES ||
      triangle_count < 1 || triangle_count > SOFT_MAX_VERTICES ||
      !mesh_are_indices(triangles, 3 * (int64_t)triangle_count, vertex_count) ||
      !mesh_are_finite(vertices, vertex_count)) {
    return false;
  }
  soft_mesh_builder m = {.vertex_count = vertex_count,
                         .edge_count = 3 * triangle_count,
                         .triangle_count = triangle_count};
  if (!soft_mesh_builder_alloc(&m)) {
    return false;
  }
  memcpy(m.vertices, vertices, (size_t)vertex_count * sizeof *vertices);
  memcpy(m.triangles, triangles, 3 * (size_t)triangle_count * sizeof *triangles);
  m.edge_count = find_edges(triangles, triangle_count, m.edges);
  if (m.edge_count < 0) {
    soft_mesh_builder_free(&m);
    return false;
  }
  return soft_mesh_builder_finish(&m, def);
}

// ---------------------------------------------------------------------------------------------
// Tethers: Kim, Chentanez and Mueller-Fischer 2012, Long range attachments. Each vertex is tethered
// to the anchor that is closest along the edges, with the length of that path.

// Shortest path along the edges from a vertex to an anchor, m.
typedef struct anchor_path {
  double length;
  int anchor; // -1: not reached
} anchor_path;

static bool relax_path(const tn_soft_def *def, anchor_path *paths, int from, int to)
{
  double edge = (double)tn_length(tn_sub(def->vertices[to], def->vertices[from]));
  if (paths[from].anchor < 0 ||
      (paths[to].anchor >= 0 && paths[to].length <= paths[from].length + edge)) {
    return false;
  }
  paths[to].length = paths[from].length + edge;
  paths[to].anchor = paths[from].anchor;
  return true;
}

// Bellman-Ford, with sweeps up and down the list until no path gets shorter.
static void find_shortest_paths(const tn_soft_def *def, anchor_path *paths)
{
  bool changed = true;
  for (int round = 0; changed; ++round) {
    changed = false;
    for (int i = 0; i < def->edge_count; ++i) {
      const int *v = def->edges + 2 * (size_t)(round % 2 ? def->edge_count - 1 - i : i);
      changed = relax_path(def, paths, v[0], v[1]) || changed;
      changed = relax_path(def, paths, v[1], v[0]) || changed;
    }
  }
}

bool tn_soft_mesh_tethers(tn_soft_def *def, const int *anchors, int anchor_count)
{
  if (!def || !def->vertices || def->vertex_count < 2 || def->vertex_count > SOFT_MAX_VERTICES ||
      def->edge_count < 1 || def->tethers || anchor_count < 1 ||
      !mesh_are_indices(anchors, anchor_count, def->vertex_count) ||
      !mesh_are_indices(def->edges, 2 * (int64_t)def->edge_count, def->vertex_count) ||
      !mesh_are_finite(def->vertices, def->vertex_count)) {
    return false;
  }
  size_t count = (size_t)def->vertex_count;
  anchor_path *paths = malloc(count * sizeof *paths);
  int *tethers = malloc(2 * count * sizeof *tethers);
  float *lengths = malloc(count * sizeof *lengths);
  if (!paths || !tethers || !lengths) {
    free(paths);
    free(tethers);
    free(lengths);
    return false;
  }
  for (int i = 0; i < def->vertex_count; ++i) {
    paths[i] = (anchor_path){0.0, -1};
  }
  for (int i = 0; i < anchor_count; ++i) {
    paths[anchors[i]].anchor = anchors[i];
  }
  find_shortest_paths(def, paths);
  int found = 0;
  bool finite = true;
  for (int i = 0; i < def->vertex_count; ++i) {
    if (paths[i].anchor >= 0 && paths[i].anchor != i) {
      lengths[found] = (float)paths[i].length;
      finite = finite && isfinite(lengths[found]);
      put2(tethers, &found, paths[i].anchor, i);
    }
  }
  free(paths);
  if (!finite) {
    free(tethers);
    free(lengths);
    return false;
  }
  def->tethers = tethers;
  def->tether_lengths = lengths;
  def->tether_count = found;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Surfaces of solids: the faces that belong to one element only

typedef struct face {
  int key[4]; // vertices, sorted
  int v[4];   // vertices, counter-clockwise from outside
  int size;
} face;

static face make_face(const int *v, const int *corner, int size)
{
  face f = {{0}, {0}, size};
  for (int i = 0; i < size; ++i) {
    int x = v[corner[i]], at = i;
    f.v[i] = x;
    for (; at > 0 && f.key[at - 1] > x; --at) {
      f.key[at] = f.key[at - 1];
    }
    f.key[at] = x;
  }
  return f;
}

static int by_key(const void *a, const void *b)
{
  return memcmp(((const face *)a)->key, ((const face *)b)->key, sizeof((const face *)a)->key);
}

static int list_faces(const soft_mesh_builder *m, face *faces)
{
  int count = 0, per_tet, per_hex;
  const int(*of_tet)[4] = soft_faces(4, &per_tet), (*of_hex)[4] = soft_faces(8, &per_hex);
  for (int i = 0; i < m->tetrahedron_count; ++i) {
    for (int k = 0; k < per_tet; ++k) {
      faces[count++] = make_face(m->tetrahedra + 4 * (size_t)i, of_tet[k], 3);
    }
  }
  for (int i = 0; i < m->hexahedron_count; ++i) {
    for (int k = 0; k < per_hex; ++k) {
      faces[count++] = make_face(m->hexahedra + 8 * (size_t)i, of_hex[k], 4);
    }
  }
  return count;
}

bool soft_mesh_builder_surface(soft_mesh_builder *m)
{
  size_t most = 4 * (size_t)m->tetrahedron_count + 6 * (size_t)m->hexahedron_count;
  face *faces = malloc((most + 1) * sizeof *faces);
  m->triangles = malloc((most + 1) * 6 * sizeof(int));
  if (!faces || !m->triangles) {
    free(faces);
    return false;
  }
  int count = list_faces(m, faces);
  qsort(faces, (size_t)count, sizeof *faces, by_key);
  m->triangle_count = 0;
  for (int i = 0; i < count; ++i) {
    if (i + 1 < count && by_key(&faces[i], &faces[i + 1]) == 0) {
      i += 1;
      continue;
    }
    const int *v = faces[i].v;
    put3(m->triangles, &m->triangle_count, v[0], v[1], v[2]);
    if (faces[i].size == 4) {
      put3(m->triangles, &m->triangle_count, v[0], v[2], v[3]);
    }
  }
  free(faces);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Grids of cells

static void put_tet(soft_mesh_builder *m, int a, int b, int c, int d)
{
  int v[4] = {a, b, c, d};
  if (soft_tet_volume(m->vertices, v) < 0.0) {
    v[0] = b;
    v[1] = a;
  }
  memcpy(m->tetrahedra + 4 * (size_t)m->tetrahedron_count, v, sizeof v);
  m->tetrahedron_count += 1;
}

// Five tetrahedra: one in the middle, one at each of four corners. `odd` selects which corners, and
// neighbouring cells must differ in it for the diagonals of their faces to match.
static void put_five(soft_mesh_builder *m, const int *v, bool odd)
{
  static const int middle[2][4] = {{0, 2, 5, 7}, {1, 3, 4, 6}};
  static const int corner[2][4][4] = {{{1, 0, 2, 5}, {3, 0, 2, 7}, {4, 0, 5, 7}, {6, 2, 5, 7}},
                                      {{0, 1, 3, 4}, {2, 1, 3, 6}, {5, 1, 4, 6}, {7, 3, 4, 6}}};
  const int *c = middle[odd];
  put_tet(m, v[c[0]], v[c[1]], v[c[2]], v[c[3]]);
  for (int i = 0; i < 4; ++i) {
    c = corner[odd][i];
    put_tet(m, v[c[0]], v[c[1]], v[c[2]], v[c[3]]);
  }
}

void soft_mesh_builder_add_cell(soft_mesh_builder *m, const int *v, bool odd, bool tetrahedra)
{
  if (tetrahedra) {
    put_five(m, v, odd);
    return;
  }
  memcpy(m->hexahedra + 8 * (size_t)m->hexahedron_count, v, 8 * sizeof *v);
  m->hexahedron_count += 1;
}

typedef struct grid {
  int cells[3];
  bool closed; // periodic along the first axis
  bool tetrahedra;
} grid;

static int grid_vertex(const grid *g, int i, int j, int k)
{
  int nx = g->closed ? g->cells[0] : g->cells[0] + 1, ny = g->cells[1] + 1;
  return i % nx + nx * (j + ny * k);
}

static int grid_vertices(const grid *g)
{
  return (g->closed ? g->cells[0] : g->cells[0] + 1) * (g->cells[1] + 1) * (g->cells[2] + 1);
}

static void put_cells(soft_mesh_builder *m, const grid *g)
{
  for (int k = 0; k < g->cells[2]; ++k) {
    for (int j = 0; j < g->cells[1]; ++j) {
      for (int i = 0; i < g->cells[0]; ++i) {
        int v[8];
        for (int c = 0; c < 8; ++c) {
          int x = c % 4 == 1 || c % 4 == 2, y = c % 4 >= 2, z = c >= 4;
          v[c] = grid_vertex(g, i + x, j + y, k + z);
        }
        soft_mesh_builder_add_cell(m, v, (i + j + k) % 2, g->tetrahedra);
      }
    }
  }
}

static bool is_grid(const grid *g)
{
  long long total = 1;
  for (int i = 0; i < 3; ++i) {
    if (g->cells[i] < 1 || g->cells[i] > SOFT_MESH_MAX_CELLS_ALONG) {
      return false;
    }
    total *= g->cells[i];
  }
  return total <= SOFT_MESH_MAX_CELLS;
}

// Maps grid coordinates, 0 to 1, to the position of a vertex.
typedef tn_vec3 grid_fn(float x, float y, float z, const float *sizes);

static bool make_grid(tn_soft_def *def, const grid *g, grid_fn *place, const float *sizes)
{
  int total = g->cells[0] * g->cells[1] * g->cells[2];
  soft_mesh_builder m = {.vertex_count = grid_vertices(g),
                         .tetrahedron_count = g->tetrahedra ? 5 * total : 0,
                         .hexahedron_count = g->tetrahedra ? 0 : total};
  if (!soft_mesh_builder_alloc(&m)) {
    return false;
  }
  for (int k = 0; k <= g->cells[2]; ++k) {
    for (int j = 0; j <= g->cells[1]; ++j) {
      for (int i = 0; i < g->cells[0] + (g->closed ? 0 : 1); ++i) {
        m.vertices[grid_vertex(g, i, j, k)] =
            place((float)i / (float)g->cells[0], (float)j / (float)g->cells[1],
                  (float)k / (float)g->cells[2], sizes);
      }
    }
  }
  m.tetrahedron_count = m.hexahedron_count = 0;
  put_cells(&m, g);
  if (!soft_mesh_builder_surface(&m)) {
    soft_mesh_builder_free(&m);
    return false;
  }
  return soft_mesh_builder_finish(&m, def);
}

static tn_vec3 place_in_box(float x, float y, float z, const float *half)
{
  return tn_v3((2.0f * x - 1.0f) * half[0], (2.0f * y - 1.0f) * half[1],
               (2.0f * z - 1.0f) * half[2]);
}

bool tn_soft_mesh_box(tn_soft_def *def, const int cells[3], tn_vec3 half_extents, bool tetrahedra)
{
  if (!def || !cells || !mesh_is_size(half_extents.x) || !mesh_is_size(half_extents.y) ||
      !mesh_is_size(half_extents.z)) {
    return false;
  }
  grid g = {{cells[0], cells[1], cells[2]}, false, tetrahedra};
  float half[3] = {half_extents.x, half_extents.y, half_extents.z};
  return is_grid(&g) && make_grid(def, &g, place_in_box, half);
}

// Smooth map of the cube [-1, 1]^3 to the ball, faces to the sphere:
// x' = x sqrt(1 - y^2 / 2 - z^2 / 2 + y^2 z^2 / 3), and cyclically.
static tn_vec3 place_in_ball(float x, float y, float z, const float *radius)
{
  float a = 2.0f * x - 1.0f, b = 2.0f * y - 1.0f, c = 2.0f * z - 1.0f;
  float aa = a * a, bb = b * b, cc = c * c;
  return tn_v3(radius[0] * a * sqrtf(1.0f - 0.5f * bb - 0.5f * cc + bb * cc / 3.0f),
               radius[0] * b * sqrtf(1.0f - 0.5f * cc - 0.5f * aa + cc * aa / 3.0f),
               radius[0] * c * sqrtf(1.0f - 0.5f * aa - 0.5f * bb + aa * bb / 3.0f));
}

bool tn_soft_mesh_ball(tn_soft_def *def, int cells, float radius, bool tetrahedra)
{
  grid g = {{cells, cells, cells}, false, tetrahedra};
  return def && cells >= 2 && mesh_is_size(radius) && is_grid(&g) &&
         make_grid(def, &g, place_in_ball, &radius);
}

static tn_vec3 place_in_tube(float x, float y, float z, const float *sizes)
{
  // Clockwise about z: the axes around, outwards and along are then right-handed, as hexahedra
  // need.
  float angle = -2.0f * TN_PI * x, r = sizes[0] + (sizes[1] - sizes[0]) * y;
  return tn_v3(r * tn_cos(angle), r * tn_sin(angle), (2.0f * z - 1.0f) * sizes[2]);
}

bool tn_soft_mesh_tube(tn_soft_def *def, const int cells[3], float inner_radius, float outer_radius,
                       float half_length)
{
  if (!def || !cells || cells[0] < 3 || !mesh_is_size(inner_radius) ||
      !mesh_is_size(outer_radius) || !(outer_radius > inner_radius) || !mesh_is_size(half_length)) {
    return false;
  }
  grid g = {{cells[0], cells[1], cells[2]}, true, false};
  float sizes[3] = {inner_radius, outer_radius, half_length};
  // Layers of the wall thinner than the rounding of their radius would have no volume.
  bool thick = outer_radius - inner_radius > SOFT_MESH_MIN_WALL * outer_radius * (float)cells[1];
  return thick && is_grid(&g) && make_grid(def, &g, place_in_tube, sizes);
}

// ---------------------------------------------------------------------------------------------
// Sphere of triangles

static tn_vec3 on_sphere(tn_vec3 v, float radius)
{
  return tn_scale(radius / tn_length(v), v);
}

static void put_icosahedron(soft_mesh_builder *m, float radius)
{
  static const int faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                   {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                   {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                   {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const float t = 1.61803399f;
  const tn_vec3 corners[12] = {{-1, t, 0}, {1, t, 0}, {-1, -t, 0}, {1, -t, 0},
                               {0, -1, t}, {0, 1, t}, {0, -1, -t}, {0, 1, -t},
                               {t, 0, -1}, {t, 0, 1}, {-t, 0, -1}, {-t, 0, 1}};
  for (int i = 0; i < 12; ++i) {
    m->vertices[i] = on_sphere(corners[i], radius);
  }
  memcpy(m->triangles, faces, sizeof faces);
  m->vertex_count = 12;
  m->triangle_count = 20;
}

// Divides every triangle into four. Scratch: `sides` and `middle` have three entries per triangle;
// middle[3 t + k] is the new vertex on side k of triangle t.
static void divide(soft_mesh_builder *m, float radius, half_edge *sides, int *middle)
{
  int count = m->triangle_count;
  find_half_edges(m->triangles, count, sides);
  for (int i = 0; i < 3 * count; ++i) {
    const half_edge *s = &sides[i];
    bool again = i > 0 && s->low == sides[i - 1].low && s->high == sides[i - 1].high;
    if (!again) {
      tn_vec3 sum = tn_add(m->vertices[s->low], m->vertices[s->high]);
      m->vertices[m->vertex_count++] = on_sphere(sum, radius);
    }
    const int *v = m->triangles + 3 * (size_t)s->triangle;
    int k = v[0] == s->opposite ? 1 : v[1] == s->opposite ? 2 : 0; // side from v[k] to v[k + 1]
    middle[3 * s->triangle + k] = m->vertex_count - 1;
  }
  for (int i = count - 1; i >= 0; --i) {
    int v[3], n[3];
    memcpy(v, m->triangles + 3 * (size_t)i, sizeof v);
    memcpy(n, middle + 3 * (size_t)i, sizeof n);
    int at = 4 * i;
    put3(m->triangles, &at, v[0], n[0], n[2]);
    put3(m->triangles, &at, v[1], n[1], n[0]);
    put3(m->triangles, &at, v[2], n[2], n[1]);
    put3(m->triangles, &at, n[0], n[1], n[2]);
  }
  m->triangle_count = 4 * count;
}

bool tn_soft_mesh_sphere(tn_soft_def *def, int level, float radius)
{
  if (!def || level < 0 || level > SOFT_MESH_MAX_LEVEL || !mesh_is_size(radius)) {
    return false;
  }
  int triangles = 20 << (2 * level);
  soft_mesh_builder m = {
      .vertex_count = triangles / 2 + 2, .edge_count = triangles * 3, .triangle_count = triangles};
  half_edge *sides = malloc(3 * (size_t)triangles * sizeof *sides);
  int *middle = malloc(3 * (size_t)triangles * sizeof *middle);
  bool ok = sides && middle && soft_mesh_builder_alloc(&m);
  if (ok) {
    put_icosahedron(&m, radius);
    for (int i = 0; i < level; ++i) {
      divide(&m, radius, sides, middle);
    }
    m.edge_count = find_edges(m.triangles, m.triangle_count, m.edges);
    ok = m.edge_count >= 0;
    if (!ok) {
      soft_mesh_builder_free(&m);
    }
  }
  free(sides);
  free(middle);
  return ok && soft_mesh_builder_finish(&m, def);
}
