// Convex decomposition of closed meshes, in the spirit of CoACD (Wei et al. 2022): the part with
// the largest concavity is cut in two by the plane that leaves the least concavity, until the error
// or the number of parts reaches its bound; then neighbours whose common hull is hardly larger are
// merged.
//
// Parts are cut along the axes of the mesh's frame, at planes of a grid. The grid's cells, solid or
// not, give volumes and, by the ends of their rows, points whose hull is that of a part to within a
// cell. The hulls that are returned are exact: those of the surface inside the part's box, and of
// the box's corners inside the solid.
#include "model.h"

#include <stdlib.h>
#include <string.h>

enum {
  CELLS = 64,         // along the longest side
  LEAST_CELLS = 6,    // along any side
  MAX_PARTS = 64,     // that a caller may ask for
  MAX_CANDIDATES = 16 // planes tried along each axis of a part
};

typedef struct cell_box {
  int lo[3], hi[3]; // cells; hi is exclusive
} cell_box;

typedef struct part {
  cell_box box;
  double solid, hull; // volumes, m^3; that of the hull by cells
  bool whole;         // no cut makes it better
} part;

typedef struct hull_points {
  tn_vec3 *points;
  int count, capacity;
  double volume;
  bool merged; // into another one
} hull_points;

typedef struct splitter {
  const tn_vec3 *vertices;
  const int *triangles;
  int triangle_count;
  int n[3];
  double origin[3], cell[3];
  unsigned char *solid; // n[0] n[1] n[2], x fastest
  int *sums;            // of solid cells below each corner of the grid
  tn_vec3 *scratch;     // corners of rows
  bool failed;
} splitter;

// ---------------------------------------------------------------------------------------------
// The grid

static size_t cell_index(const splitter *s, int x, int y, int z)
{
  return ((size_t)z * (size_t)s->n[1] + (size_t)y) * (size_t)s->n[0] + (size_t)x;
}

static double component(tn_vec3 v, int axis)
{
  return (double)(axis == 0 ? v.x : axis == 1 ? v.y : v.z);
}

static void set_up_grid(splitter *s, int vertex_count)
{
  double lo[3] = {1e300, 1e300, 1e300}, hi[3] = {-1e300, -1e300, -1e300}, longest = 0.0;
  for (int i = 0; i < vertex_count; ++i) {
    for (int k = 0; k < 3; ++k) {
      lo[k] = fmin(lo[k], component(s->vertices[i], k));
      hi[k] = fmax(hi[k], component(s->vertices[i], k));
    }
  }
  for (int k = 0; k < 3; ++k) {
    longest = fmax(longest, hi[k] - lo[k]);
  }
  for (int k = 0; k < 3; ++k) {
    int wanted = (int)(CELLS * (hi[k] - lo[k]) / longest + 0.5);
    s->n[k] = wanted < LEAST_CELLS ? LEAST_CELLS : wanted;
    s->origin[k] = lo[k];
    s->cell[k] = (hi[k] - lo[k]) / s->n[k];
  }
}

// Where a line along `axis` through a point of the two other axes meets a triangle: 1 from inside,
// -1 from outside, 0 if it does not.
static int meets(const splitter *s, int triangle, int axis, double u, double v, double *at)
{
  int a = (axis + 1) % 3, b = (axis + 2) % 3;
  double p[3][3];
  for (int k = 0; k < 3; ++k) {
    tn_vec3 corner = s->vertices[s->triangles[3 * triangle + k]];
    p[k][0] = component(corner, a) - u;
    p[k][1] = component(corner, b) - v;
    p[k][2] = component(corner, axis);
  }
  double w[3], sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double *q = p[(k + 1) % 3], *r = p[(k + 2) % 3];
    w[k] = q[0] * r[1] - q[1] * r[0];
    sum += w[k];
  }
  bool inside =
      (w[0] >= 0.0 && w[1] >= 0.0 && w[2] >= 0.0) || (w[0] <= 0.0 && w[1] <= 0.0 && w[2] <= 0.0);
  if (!inside || sum == 0.0) {
    return 0;
  }
  *at = (w[0] * p[0][2] + w[1] * p[1][2] + w[2] * p[2][2]) / sum;
  return sum > 0.0 ? 1 : -1;
}

// Lines through the rows of cells along an axis count the triangles that they meet before each
// cell: the winding number, which is zero outside, also where shells overlap. The lines are off the
// centres, so that they miss edges.
static void vote(splitter *s, int axis, int *windings)
{
  int a = (axis + 1) % 3, b = (axis + 2) % 3;
  for (int t = 0; t < s->triangle_count; ++t) {
    int first[2] = {0, 0}, last[2] = {0, 0};
    for (int k = 0; k < 2; ++k) {
      int other = k == 0 ? a : b;
      double lo = 1e300, hi = -1e300;
      for (int c = 0; c < 3; ++c) {
        double x = component(s->vertices[s->triangles[3 * t + c]], other);
        lo = fmin(lo, x);
        hi = fmax(hi, x);
      }
      first[k] = (int)fmax(floor((lo - s->origin[other]) / s->cell[other]) - 1.0, 0.0);
      last[k] = (int)fmin(floor((hi - s->origin[other]) / s->cell[other]) + 1.0,
                          (double)(s->n[other] - 1));
    }
    for (int i = first[0]; i <= last[0]; ++i) {
      for (int j = first[1]; j <= last[1]; ++j) {
        double at, u = s->origin[a] + (i + 0.5031) * s->cell[a];
        double v = s->origin[b] + (j + 0.4973) * s->cell[b];
        int side = meets(s, t, axis, u, v, &at);
        if (side == 0) {
          continue;
        }
        double from = (at - s->origin[axis]) / s->cell[axis] - 0.5;
        int start = from < 0.0 ? 0 : (int)ceil(from);
        for (int k = start; k < s->n[axis]; ++k) {
          int c[3];
          c[axis] = k;
          c[a] = i;
          c[b] = j;
          windings[cell_index(s, c[0], c[1], c[2])] -= side;
        }
      }
    }
  }
}

// Two of three votes, so that a hole in the surface spoils one direction only.
static bool fill_grid(splitter *s)
{
  size_t count = cell_index(s, 0, 0, s->n[2]);
  int *windings = malloc(count * sizeof *windings);
  for (int axis = 0; axis < 3 && windings; ++axis) {
    memset(windings, 0, count * sizeof *windings);
    vote(s, axis, windings);
    for (size_t i = 0; i < count; ++i) {
      s->solid[i] = (unsigned char)(s->solid[i] + (windings[i] != 0));
    }
  }
  for (size_t i = 0; windings && i < count; ++i) {
    s->solid[i] = s->solid[i] >= 2;
  }
  free(windings);
  return windings;
}

static int *sum_at(const splitter *s, int x, int y, int z)
{
  return &s->sums[((size_t)z * (size_t)(s->n[1] + 1) + (size_t)y) * (size_t)(s->n[0] + 1) +
                  (size_t)x];
}

static void fill_sums(splitter *s)
{
  for (int z = 1; z <= s->n[2]; ++z) {
    for (int y = 1; y <= s->n[1]; ++y) {
      for (int x = 1; x <= s->n[0]; ++x) {
        *sum_at(s, x, y, z) = s->solid[cell_index(s, x - 1, y - 1, z - 1)] +
                              *sum_at(s, x - 1, y, z) + *sum_at(s, x, y - 1, z) +
                              *sum_at(s, x, y, z - 1) - *sum_at(s, x - 1, y - 1, z) -
                              *sum_at(s, x - 1, y, z - 1) - *sum_at(s, x, y - 1, z - 1) +
                              *sum_at(s, x - 1, y - 1, z - 1);
      }
    }
  }
}

static int cells_in(const splitter *s, const cell_box *b)
{
  int count = 0;
  for (int corner = 0; corner < 8; ++corner) {
    int x = corner & 1 ? b->hi[0] : b->lo[0], y = corner & 2 ? b->hi[1] : b->lo[1];
    int z = corner & 4 ? b->hi[2] : b->lo[2];
    int signs = (corner & 1) + (corner >> 1 & 1) + (corner >> 2 & 1);
    count += (signs & 1 ? 1 : -1) * *sum_at(s, x, y, z);
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Hulls

#define LEAST_THICKNESS 1e-3f // of the largest extent: a hull as thick as that has a volume

// Of the points, the one with the largest |weight . (p - from)|, and that value.
static float farthest(const tn_vec3 *points, int count, tn_vec3 from, tn_vec3 weight, int *which)
{
  float most = 0.0f;
  for (int i = 0; i < count; ++i) {
    float d = fabsf(tn_dot(weight, tn_sub(points[i], from)));
    if (d > most) {
      most = d;
      *which = i;
    }
  }
  return most;
}

// Whether no plane contains the points, by a tetrahedron of extreme ones.
static bool is_thick(const tn_vec3 *points, int count)
{
  const tn_vec3 axes[3] = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
  int b = 0, c = 0, d = 0;
  float extent = 0.0f;
  for (int k = 0; k < 3; ++k) {
    int which = 0;
    float far = farthest(points, count, points[0], axes[k], &which);
    b = far > extent ? which : b;
    extent = fmaxf(extent, far);
  }
  tn_vec3 along = tn_sub(points[b], points[0]), normal = {0.0f, 0.0f, 0.0f};
  for (int k = 0; k < 3; ++k) {
    tn_vec3 across = tn_cross(along, axes[k]);
    float size = tn_length(across);
    int which = 0;
    if (size > 0.0f && farthest(points, count, points[0], tn_scale(1.0f / size, across), &which) >
                           LEAST_THICKNESS * extent) {
      c = which;
      normal = tn_cross(along, tn_sub(points[c], points[0]));
    }
  }
  float size = tn_length(normal);
  return size > 0.0f && farthest(points, count, points[0], tn_scale(1.0f / size, normal), &d) >
                            LEAST_THICKNESS * extent;
}

// Zero for points in a plane. Others have a volume unless there is no memory.
static double hull_volume(splitter *s, const tn_vec3 *points, int count)
{
  double volume = count >= 4 ? (double)tn_mass_hull(points, count, 1.0f).mass : 0.0;
  s->failed = s->failed || (volume <= 0.0 && count >= 4 && is_thick(points, count));
  return volume;
}

static tn_vec3 grid_corner(const splitter *s, int x, int y, int z)
{
  return tn_v3((float)(s->origin[0] + x * s->cell[0]), (float)(s->origin[1] + y * s->cell[1]),
               (float)(s->origin[2] + z * s->cell[2]));
}

// Volume of the hull of the solid cells of a box: only the ends of rows can be its corners.
static double cell_hull(splitter *s, const cell_box *b)
{
  int count = 0;
  for (int z = b->lo[2]; z < b->hi[2]; ++z) {
    for (int y = b->lo[1]; y < b->hi[1]; ++y) {
      int first = b->lo[0], last = b->hi[0] - 1;
      while (first <= last && !s->solid[cell_index(s, first, y, z)]) {
        first += 1;
      }
      while (last >= first && !s->solid[cell_index(s, last, y, z)]) {
        last -= 1;
      }
      for (int k = 0; first <= last && k < 8; ++k) {
        s->scratch[count++] =
            grid_corner(s, k & 1 ? last + 1 : first, y + (k >> 1 & 1), z + (k >> 2 & 1));
      }
    }
  }
  return hull_volume(s, s->scratch, count);
}

static part make_part(splitter *s, cell_box box)
{
  part p = {box, 0.0, 0.0, false};
  p.solid = cells_in(s, &box) * s->cell[0] * s->cell[1] * s->cell[2];
  p.hull = p.solid > 0.0 ? cell_hull(s, &box) : 0.0;
  return p;
}

// The best cut so far.
typedef struct best_cut {
  double hulls; // volume of both
  int axis, at;
  part left, right;
  bool found;
} best_cut;

static void try_cut(splitter *s, const part *p, int axis, int at, best_cut *best)
{
  if (at <= p->box.lo[axis] || at >= p->box.hi[axis]) {
    return;
  }
  cell_box a = p->box, b = p->box;
  a.hi[axis] = b.lo[axis] = at;
  part left = make_part(s, a), right = make_part(s, b);
  if (left.solid > 0.0 && right.solid > 0.0 && left.hull + right.hull < best->hulls) {
    *best = (best_cut){left.hull + right.hull, axis, at, left, right, true};
  }
}

// Tries planes at equal distances along each axis, then all around the best of them.
static best_cut find_cut(splitter *s, const part *p)
{
  best_cut best = {.hulls = p->hull * (1.0 - 1e-6)};
  int steps[3];
  for (int axis = 0; axis < 3; ++axis) {
    int width = p->box.hi[axis] - p->box.lo[axis];
    steps[axis] = width > MAX_CANDIDATES ? width / MAX_CANDIDATES : 1;
    for (int at = p->box.lo[axis] + steps[axis]; at < p->box.hi[axis]; at += steps[axis]) {
      try_cut(s, p, axis, at, &best);
    }
  }
  if (best.found) {
    int axis = best.axis, middle = best.at;
    for (int at = middle - steps[axis] + 1; at < middle + steps[axis]; ++at) {
      try_cut(s, p, axis, at, &best);
    }
  }
  return best;
}

// ---------------------------------------------------------------------------------------------
// Exact hulls of the parts

static void add_point(splitter *s, hull_points *h, const double p[3])
{
  if (h->count == h->capacity) {
    int wanted = h->capacity ? 2 * h->capacity : 256;
    tn_vec3 *grown = realloc(h->points, (size_t)wanted * sizeof *grown);
    if (!grown) {
      s->failed = true;
      return;
    }
    h->points = grown;
    h->capacity = wanted;
  }
  h->points[h->count++] = tn_v3((float)p[0], (float)p[1], (float)p[2]);
}

// Distance to a plane, zero next to it.
static double side_of(double x, double limit, double sign, double slack)
{
  double d = sign * (limit - x);
  return fabs(d) <= slack ? 0.0 : d;
}

// Clips a polygon by the half space where sign x[axis] <= sign limit. What lies in the plane itself
// belongs to the half space that it bounds: the one that `normal` points out of.
static int clip(double polygon[][3], int count, int axis, double limit, double sign, double slack,
                double normal)
{
  double out[12][3];
  int made = 0, flat = 0;
  for (int i = 0; i < count; ++i) {
    flat += side_of(polygon[i][axis], limit, sign, slack) == 0.0;
  }
  if (flat == count && sign * normal < 0.0) {
    return 0;
  }
  for (int i = 0; i < count; ++i) {
    const double *p = polygon[i], *q = polygon[(i + 1) % count];
    double dp = side_of(p[axis], limit, sign, slack), dq = side_of(q[axis], limit, sign, slack);
    if (dp >= 0.0) {
      memcpy(out[made++], p, sizeof out[0]);
    }
    if ((dp > 0.0 && dq < 0.0) || (dp < 0.0 && dq > 0.0)) {
      double t = dp / (dp - dq);
      for (int k = 0; k < 3; ++k) {
        out[made][k] = p[k] + t * (q[k] - p[k]);
      }
      out[made++][axis] = limit;
    }
  }
  memcpy(polygon, out, (size_t)made * sizeof out[0]);
  return made >= 3 ? made : 0; // an edge in the plane belongs to other triangles as well
}

static void normal_of(double polygon[][3], double normal[3])
{
  for (int k = 0; k < 3; ++k) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    normal[k] = (polygon[1][a] - polygon[0][a]) * (polygon[2][b] - polygon[0][b]) -
                (polygon[1][b] - polygon[0][b]) * (polygon[2][a] - polygon[0][a]);
  }
}

static void add_surface(splitter *s, const double lo[3], const double hi[3], hull_points *h)
{
  for (int t = 0; t < s->triangle_count && !s->failed; ++t) {
    double polygon[12][3];
    int count = 3;
    for (int c = 0; c < 3; ++c) {
      for (int k = 0; k < 3; ++k) {
        polygon[c][k] = component(s->vertices[s->triangles[3 * t + c]], k);
      }
    }
    double normal[3];
    normal_of(polygon, normal);
    for (int k = 0; k < 3 && count > 0; ++k) {
      double slack = 1e-5 * s->cell[k];
      count = clip(polygon, count, k, lo[k], -1.0, slack, normal[k]);
      count = count > 0 ? clip(polygon, count, k, hi[k], 1.0, slack, normal[k]) : 0;
    }
    for (int i = 0; i < count; ++i) {
      add_point(s, h, polygon[i]);
    }
  }
}

// Whether a point is in the solid, by the winding numbers along two of three lines. The lines pass
// by a ten thousandth of a cell, so that they miss edges along the axes.
static bool is_in_solid(const splitter *s, const double p[3])
{
  int votes = 0;
  for (int axis = 0; axis < 3; ++axis) {
    int a = (axis + 1) % 3, b = (axis + 2) % 3, winding = 0;
    for (int t = 0; t < s->triangle_count; ++t) {
      double at = 0.0, u = p[a] + 1.031e-4 * s->cell[a], v = p[b] - 0.973e-4 * s->cell[b];
      int side = meets(s, t, axis, u, v, &at);
      winding += at > p[axis] ? side : 0;
    }
    votes += winding != 0;
  }
  return votes >= 2;
}

// Corners of the box that lie inside of the solid; those on its hull are surface.
static void add_inner_corners(splitter *s, const cell_box *b, hull_points *h)
{
  for (int corner = 0; corner < 8; ++corner) {
    double p[3];
    bool within = true;
    for (int k = 0; k < 3; ++k) {
      int at = corner >> k & 1 ? b->hi[k] : b->lo[k];
      within = within && at > 0 && at < s->n[k];
      p[k] = s->origin[k] + at * s->cell[k];
    }
    if (within && is_in_solid(s, p)) {
      add_point(s, h, p);
    }
  }
}

static hull_points exact_hull(splitter *s, const cell_box *b)
{
  hull_points h = {NULL, 0, 0, 0.0, false};
  double lo[3], hi[3];
  for (int k = 0; k < 3; ++k) { // the outermost planes let rounding through
    lo[k] = b->lo[k] == 0 ? -1e300 : s->origin[k] + b->lo[k] * s->cell[k];
    hi[k] = b->hi[k] == s->n[k] ? 1e300 : s->origin[k] + b->hi[k] * s->cell[k];
  }
  add_surface(s, lo, hi, &h);
  add_inner_corners(s, b, &h);
  h.volume = hull_volume(s, h.points, h.count);
  return h;
}

// ---------------------------------------------------------------------------------------------
// Parts

// Cuts the most concave part until the sum of hulls is close to the volume.
static int cut_all(splitter *s, part *parts, int most, double error)
{
  cell_box all = {{0, 0, 0}, {s->n[0], s->n[1], s->n[2]}};
  int count = 1;
  parts[0] = make_part(s, all);
  double volume = parts[0].solid, excess = parts[0].hull - parts[0].solid;
  while (count < most && excess > error * volume && !s->failed) {
    int worst = -1;
    for (int i = 0; i < count; ++i) {
      double concavity = parts[i].hull - parts[i].solid;
      if (!parts[i].whole && (worst < 0 || concavity > parts[worst].hull - parts[worst].solid)) {
        worst = i;
      }
    }
    if (worst < 0) {
      break;
    }
    best_cut best = find_cut(s, &parts[worst]);
    if (!best.found) {
      parts[worst].whole = true;
      continue;
    }
    excess += best.hulls - parts[worst].hull;
    parts[worst] = best.left;
    parts[count++] = best.right;
  }
  return count;
}

static bool join(splitter *s, hull_points *a, const hull_points *b, double allowed)
{
  int count = a->count + b->count;
  tn_vec3 *points = malloc((size_t)count * sizeof *points);
  if (!points) {
    s->failed = true;
    return false;
  }
  memcpy(points, a->points, (size_t)a->count * sizeof *points);
  memcpy(points + a->count, b->points, (size_t)b->count * sizeof *points);
  double volume = hull_volume(s, points, count);
  if (volume - a->volume - b->volume > allowed) {
    free(points);
    return false;
  }
  free(a->points);
  *a = (hull_points){points, count, count, volume, false};
  return true;
}

// Merges pairs whose common hull adds next to nothing.
static void merge_all(splitter *s, hull_points *hulls, int count, double allowed)
{
  for (int i = 0; i < count && !s->failed; ++i) {
    for (int k = i + 1; k < count && !s->failed; ++k) {
      if (hulls[i].merged || hulls[k].merged || hulls[i].count < 4 || hulls[k].count < 4) {
        continue;
      }
      if (join(s, &hulls[i], &hulls[k], allowed)) {
        hulls[k].merged = true;
        k = i; // try all others again with the larger one
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The public functions

// Room for the corners of all rows along x.
static bool take_grid(splitter *s)
{
  size_t cells = cell_index(s, 0, 0, s->n[2]);
  size_t corners = (size_t)(s->n[0] + 1) * (size_t)(s->n[1] + 1) * (size_t)(s->n[2] + 1);
  s->solid = calloc(cells, 1);
  s->sums = calloc(corners, sizeof *s->sums);
  s->scratch = malloc((size_t)s->n[1] * (size_t)s->n[2] * 8 * sizeof *s->scratch);
  return s->solid && s->sums && s->scratch && fill_grid(s);
}

static tn_convex_parts *collect(const hull_points *hulls, int count)
{
  tn_convex_parts *out = calloc(1, sizeof *out);
  size_t points = 0;
  for (int i = 0; i < count; ++i) {
    points += hulls[i].merged || hulls[i].count < 4 ? 0 : (size_t)hulls[i].count;
  }
  if (out) {
    out->points = malloc((points + 1) * sizeof *out->points);
    out->counts = malloc((size_t)count * sizeof *out->counts);
  }
  if (!out || !out->points || !out->counts) {
    tn_convex_parts_free(out);
    return NULL;
  }
  tn_vec3 *to = out->points;
  for (int i = 0; i < count; ++i) {
    if (!hulls[i].merged && hulls[i].volume > 0.0) {
      memcpy(to, hulls[i].points, (size_t)hulls[i].count * sizeof *to);
      to += hulls[i].count;
      out->counts[out->part_count++] = hulls[i].count;
      out->volume += hulls[i].volume;
    }
  }
  return out;
}

static tn_convex_parts *decompose(splitter *s, int most, double error)
{
  part parts[MAX_PARTS];
  hull_points hulls[MAX_PARTS];
  fill_sums(s);
  int count = cut_all(s, parts, most, error);
  double volume = 0.0;
  for (int i = 0; i < count; ++i) {
    hulls[i] = exact_hull(s, &parts[i].box);
    volume += parts[i].solid;
  }
  merge_all(s, hulls, count, 0.1 * error * volume);
  tn_convex_parts *out = s->failed || volume <= 0.0 ? NULL : collect(hulls, count);
  for (int i = 0; i < count; ++i) {
    free(hulls[i].points);
  }
  return out;
}

static bool is_valid(const tn_vec3 *vertices, int vertex_count, const int *triangles,
                     int triangle_count)
{
  if (!vertices || !triangles || vertex_count < 4 || triangle_count < 4) {
    return false;
  }
  tn_vec3 lo = vertices[0], hi = vertices[0];
  for (int i = 0; i < vertex_count; ++i) {
    tn_vec3 v = vertices[i];
    if (!(fabsf(v.x) < 1e9f && fabsf(v.y) < 1e9f && fabsf(v.z) < 1e9f)) {
      return false;
    }
    lo = tn_v3(fminf(lo.x, v.x), fminf(lo.y, v.y), fminf(lo.z, v.z));
    hi = tn_v3(fmaxf(hi.x, v.x), fmaxf(hi.y, v.y), fmaxf(hi.z, v.z));
  }
  for (int i = 0; i < 3 * triangle_count; ++i) {
    if (triangles[i] < 0 || triangles[i] >= vertex_count) {
      return false;
    }
  }
  return hi.x > lo.x && hi.y > lo.y && hi.z > lo.z;
}

tn_convex_parts *tn_convex_decompose(const tn_vec3 *vertices, int vertex_count,
                                     const int *triangles, int triangle_count, int max_parts,
                                     float error)
{
  if (!is_valid(vertices, vertex_count, triangles, triangle_count) || max_parts < 1 ||
      max_parts > MAX_PARTS || !(error >= 0.0f)) {
    return NULL;
  }
  splitter s = {.vertices = vertices, .triangles = triangles, .triangle_count = triangle_count};
  set_up_grid(&s, vertex_count);
  tn_convex_parts *out = take_grid(&s) ? decompose(&s, max_parts, (double)error) : NULL;
  free(s.solid);
  free(s.sums);
  free(s.scratch);
  return out;
}

void tn_convex_parts_free(tn_convex_parts *parts)
{
  if (parts) {
    free(parts->points);
    free(parts->counts);
    free(parts);
  }
}
