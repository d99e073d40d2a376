#include "carve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CUBE_ROUNDS = 2, SKIN_ROUNDS = 30 }; // of smoothing

// ---------------------------------------------------------------------------------------------
// Distances

static float clamp(float x, float lo, float hi)
{
  return fminf(fmaxf(x, lo), hi);
}

float carve_box(tn_vec3 p, tn_vec3 center, tn_vec3 half_extents, float rounding)
{
  tn_vec3 d = tn_sub(p, center);
  float x = fabsf(d.x) - half_extents.x + rounding;
  float y = fabsf(d.y) - half_extents.y + rounding;
  float z = fabsf(d.z) - half_extents.z + rounding;
  float outside = tn_length(tn_v3(fmaxf(x, 0.0f), fmaxf(y, 0.0f), fmaxf(z, 0.0f)));
  return outside + fminf(fmaxf(x, fmaxf(y, z)), 0.0f) - rounding;
}

float carve_capsule(tn_vec3 p, tn_vec3 from, tn_vec3 to, float radius)
{
  tn_vec3 way = tn_sub(to, from), d = tn_sub(p, from);
  float along = clamp(tn_dot(d, way) / tn_dot(way, way), 0.0f, 1.0f);
  return tn_length(tn_sub(d, tn_scale(along, way))) - radius;
}

float carve_ellipsoid(tn_vec3 p, tn_vec3 center, tn_vec3 radii)
{
  tn_vec3 d = tn_sub(p, center);
  tn_vec3 once = tn_v3(d.x / radii.x, d.y / radii.y, d.z / radii.z);
  tn_vec3 twice = tn_v3(once.x / radii.x, once.y / radii.y, once.z / radii.z);
  float size = tn_length(once), slope = tn_length(twice);
  float least = fminf(radii.x, fminf(radii.y, radii.z));
  return slope * least > 1e-3f ? size * (size - 1.0f) / slope : -least;
}

float carve_join(float a, float b, float width)
{
  float h = clamp(0.5f + 0.5f * (b - a) / width, 0.0f, 1.0f);
  return b + (a - b) * h - width * h * (1.0f - h);
}

// ---------------------------------------------------------------------------------------------
// Surfaces

typedef struct skin {
  carve_solid *solid;
  tn_vec3 *points;
  const int *triangles;
  int point_count, triangle_count;
  float step; // m, largest displacement of a point per round
  float most; // m, largest displacement in total
} skin;

// Moves a point along the gradient.
static tn_vec3 drawn_to_surface(const skin *s, tn_vec3 p)
{
  float step = 0.1f * s->step, f = s->solid(p);
  tn_vec3 g = tn_v3(s->solid(tn_add(p, tn_v3(step, 0.0f, 0.0f))) - f,
                    s->solid(tn_add(p, tn_v3(0.0f, step, 0.0f))) - f,
                    s->solid(tn_add(p, tn_v3(0.0f, 0.0f, step))) - f);
  float slope = tn_length(g);
  return slope > 0.1f * step ? tn_sub(p, tn_scale(clamp(f, -s->step, s->step) / slope, g)) : p;
}

// Moves a point half way to the mean of its neighbours, then to the surface.
static tn_vec3 moved(const skin *s, tn_vec3 p, tn_vec3 start, tn_vec3 sum, int number)
{
  tn_vec3 middle = tn_scale(0.5f / (float)number, sum);
  tn_vec3 way = tn_sub(drawn_to_surface(s, tn_add(tn_scale(0.5f, p), middle)), start);
  float length = tn_length(way);
  return tn_add(start, tn_scale(length > s->most ? s->most / length : 1.0f, way));
}

// Smooths the points and projects them to the surface. False if out of memory.
static bool smooth(const skin *s, int rounds)
{
  size_t count = (size_t)s->point_count;
  tn_vec3 *sum = malloc(count * sizeof *sum), *start = malloc(count * sizeof *start);
  int *number = malloc(count * sizeof *number); // number of neighbours; 0 for inner points
  bool ok = sum && start && number;
  if (ok) {
    memcpy(start, s->points, count * sizeof *start);
  }
  for (int round = 0; round < rounds && ok; ++round) {
    memset(sum, 0, count * sizeof *sum);
    memset(number, 0, count * sizeof *number);
    for (int i = 0; i < 3 * s->triangle_count; ++i) {
      int at = s->triangles[i], next = s->triangles[i % 3 == 2 ? i - 2 : i + 1];
      sum[at] = tn_add(sum[at], s->points[next]);
      number[at] += 1;
    }
    for (int i = 0; i < s->point_count; ++i) {
      s->points[i] =
          number[i] > 0 ? moved(s, s->points[i], start[i], sum[i], number[i]) : s->points[i];
    }
  }
  free(sum);
  free(start);
  free(number);
  return ok;
}

bool carve_skin(tn_soft_def *def, carve_solid *solid, tn_vec3 center, float radius, int level)
{
  if (!tn_soft_mesh_sphere(def, level, radius)) {
    return false;
  }
  tn_vec3 *points = malloc((size_t)def->vertex_count * sizeof *points);
  skin s = {solid,          points,  def->triangles, def->vertex_count, def->triangle_count,
            0.05f * radius, INFINITY};
  for (int i = 0; i < def->vertex_count && points; ++i) {
    points[i] = tn_add(center, def->vertices[i]);
  }
  bool ok = points && smooth(&s, SKIN_ROUNDS);
  if (ok) {
    free((void *)def->vertices);
    def->vertices = points;
  } else {
    free(points);
    tn_soft_mesh_free(def);
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Cubes

typedef struct quarry {
  carve_solid *solid;
  tn_vec3 lower;
  float cell;
  int size[3]; // cells along each axis
  bool *kept;  // cells
  int *vertex; // index of each corner of the grid, or -1
  tn_vec3 *points;
  int *cubes, *triangles;
  int point_count, cube_count, triangle_count;
} quarry;

// Corners of a cell in the order of tn_soft_def; its six faces, counter-clockwise from outside; and
// the offset of the cell beyond each face.
static const int corner_at[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                    {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const int sides[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
static const int beyond[6][3] = {{0, 0, -1}, {0, 0, 1}, {0, -1, 0},
                                 {1, 0, 0},  {0, 1, 0}, {-1, 0, 0}};

static tn_vec3 grid_point(const quarry *q, float i, float j, float k)
{
  return tn_add(q->lower, tn_scale(q->cell, tn_v3(i, j, k)));
}

static bool is_kept(const quarry *q, int i, int j, int k)
{
  bool inside = i >= 0 && j >= 0 && k >= 0 && i < q->size[0] && j < q->size[1] && k < q->size[2];
  return inside && q->kept[i + q->size[0] * (j + q->size[1] * k)];
}

// Index of a corner, assigned on first use.
static int corner(quarry *q, int i, int j, int k)
{
  int *number = &q->vertex[i + (q->size[0] + 1) * (j + (q->size[1] + 1) * k)];
  if (*number < 0) {
    *number = q->point_count;
    q->points[q->point_count++] = grid_point(q, (float)i, (float)j, (float)k);
  }
  return *number;
}

static void put_cube(quarry *q, int i, int j, int k)
{
  int *v = q->cubes + 8 * (size_t)q->cube_count++;
  for (int c = 0; c < 8; ++c) {
    v[c] = corner(q, i + corner_at[c][0], j + corner_at[c][1], k + corner_at[c][2]);
  }
  for (int s = 0; s < 6; ++s) {
    if (!is_kept(q, i + beyond[s][0], j + beyond[s][1], k + beyond[s][2])) {
      const int *f = sides[s];
      int two[6] = {v[f[0]], v[f[1]], v[f[2]], v[f[0]], v[f[2]], v[f[3]]};
      memcpy(q->triangles + 3 * (size_t)q->triangle_count, two, sizeof two);
      q->triangle_count += 2;
    }
  }
}

static void keep_cells(quarry *q)
{
  for (int c = 0; c < q->size[0] * q->size[1] * q->size[2]; ++c) {
    int i = c % q->size[0], j = c / q->size[0] % q->size[1], k = c / (q->size[0] * q->size[1]);
    tn_vec3 middle = grid_point(q, (float)i + 0.5f, (float)j + 0.5f, (float)k + 0.5f);
    q->kept[c] = q->solid(middle) < 0.0f;
  }
}

// If only two diagonally opposite cells meet at an edge the surface is not a manifold: keep one
// cell more. Returns whether there was any.
static bool fill_at(quarry *q, int i, int j, int k, int u, int v)
{
  int du[3] = {u == 0, u == 1, u == 2}, dv[3] = {v == 0, v == 1, v == 2};
  bool here = is_kept(q, i, j, k);
  bool right = is_kept(q, i + du[0], j + du[1], k + du[2]);
  bool above = is_kept(q, i + dv[0], j + dv[1], k + dv[2]);
  bool across = is_kept(q, i + du[0] + dv[0], j + du[1] + dv[1], k + du[2] + dv[2]);
  bool crosses = (here && across && !right && !above) || (right && above && !here && !across);
  if (crosses) {
    int at[3] = {here ? i + du[0] : i, here ? j + du[1] : j, here ? k + du[2] : k};
    q->kept[at[0] + q->size[0] * (at[1] + q->size[1] * at[2])] = true;
  }
  return crosses;
}

static void fill_crossings(quarry *q)
{
  for (bool again = true; again;) {
    again = false;
    for (int c = 0; c < q->size[0] * q->size[1] * q->size[2]; ++c) {
      int i = c % q->size[0], j = c / q->size[0] % q->size[1], k = c / (q->size[0] * q->size[1]);
      for (int axis = 0; axis < 3; ++axis) {
        again = fill_at(q, i, j, k, axis, (axis + 1) % 3) || again;
      }
    }
  }
}

static void put_cubes(quarry *q)
{
  for (int c = 0; c < q->size[0] * q->size[1] * q->size[2]; ++c) {
    if (q->kept[c]) {
      put_cube(q, c % q->size[0], c / q->size[0] % q->size[1], c / (q->size[0] * q->size[1]));
    }
  }
}

static bool take_memory(quarry *q, size_t cells, size_t corners)
{
  q->kept = calloc(cells, sizeof *q->kept);
  q->vertex = malloc(corners * sizeof *q->vertex);
  q->points = malloc(corners * sizeof *q->points);
  q->cubes = malloc(cells * 8 * sizeof *q->cubes);
  q->triangles = malloc(cells * 36 * sizeof *q->triangles);
  if (q->vertex) {
    memset(q->vertex, -1, corners * sizeof *q->vertex);
  }
  return q->kept && q->vertex && q->points && q->cubes && q->triangles;
}

static void hand_over(const quarry *q, tn_soft_def *def)
{
  def->vertices = q->points;
  def->vertex_count = q->point_count;
  def->hexahedra = q->cubes;
  def->hexahedron_count = q->cube_count;
  def->triangles = q->triangles;
  def->triangle_count = q->triangle_count;
}

bool carve(tn_soft_def *def, carve_solid *solid, tn_vec3 lower, tn_vec3 upper, float cell)
{
  quarry q = {.solid = solid, .lower = lower, .cell = cell};
  tn_vec3 d = tn_scale(1.0f / cell, tn_sub(upper, lower));
  q.size[0] = (int)ceilf(d.x), q.size[1] = (int)ceilf(d.y), q.size[2] = (int)ceilf(d.z);
  size_t cells = (size_t)q.size[0] * (size_t)q.size[1] * (size_t)q.size[2];
  size_t corners = (size_t)(q.size[0] + 1) * (size_t)(q.size[1] + 1) * (size_t)(q.size[2] + 1);
  bool ok = take_memory(&q, cells, corners);
  if (ok) {
    keep_cells(&q);
    fill_crossings(&q);
    put_cubes(&q);
    // The limit of the displacement keeps cubes from inverting.
    skin s = {solid,       q.points,   q.triangles, q.point_count, q.triangle_count,
              0.5f * cell, 0.6f * cell};
    ok = q.cube_count > 0 && smooth(&s, CUBE_ROUNDS);
  }
  free(q.kept);
  free(q.vertex);
  if (ok) {
    hand_over(&q, def);
  } else {
    free(q.points);
    free(q.cubes);
    free(q.triangles);
  }
  return ok;
}
