// Mass properties: principal axes by Jacobi's eigenvalue method, closed forms for simple solids,
// integrals over closed surfaces, and sums and transforms of solids. Computed in double, rounded to
// float at the end.
#include "collide/mass.h"

#include "collide/collide_tuning.h"
#include "collide/quickhull.h"
#include "tenon/tenon.h"

#include <float.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

// A tn_mass before it is rounded to float.
typedef struct solid {
  double mass;
  d3 center;
  double inertia[3][3]; // about `center`
} solid;

// These functions have no world and thus no log callback: the reason goes to stderr.
#if defined(TN_NO_LOG)
#define reject(...) ((tn_mass){0})
#else
static tn_mass reject(const char *function, const char *format, ...)
{
  char why[256];
  va_list arguments;
  va_start(arguments, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): seen as such in a run over several files
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  fprintf(stderr, "tenon: %s: %s\n", function, why);
  return (tn_mass){0};
}
#endif

static bool is_positive(const char *function, const char *name, float value)
{
  if (value > 0.0f && value <= FLT_MAX) {
    return true;
  }
  reject(function, "%s is %g, which must be positive and finite", name, (double)value);
  return false;
}

static bool is_finite_vector(tn_vec3 v)
{
  return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

// ---------------------------------------------------------------------------------------------
// Principal axes

static void tensor_from_sym3(tn_sym3 s, double m[3][3])
{
  m[0][0] = (double)s.xx;
  m[1][1] = (double)s.yy;
  m[2][2] = (double)s.zz;
  m[0][1] = m[1][0] = (double)s.xy;
  m[0][2] = m[2][0] = (double)s.xz;
  m[1][2] = m[2][1] = (double)s.yz;
}

static void quat_multiply(const double a[4], const double b[4], double product[4])
{
  product[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
  product[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
  product[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
  product[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

// False if a component is not finite or all are zero.
static bool quat_normalize(double q[4])
{
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(length > 0.0) || !isfinite(length)) {
    return false;
  }
  for (int i = 0; i < 4; i++) {
    q[i] /= length;
  }
  return true;
}

// q = q r, with r a rotation about a coordinate axis by an angle of given cosine and sine. The
// angle is within 45 degrees, where the half angle is well conditioned.
static void quat_rotate_axis(double q[4], int axis, double cosine, double sine)
{
  double half_cosine = sqrt(0.5 * (1.0 + cosine));
  double turn[4] = {0.0, 0.0, 0.0, half_cosine}, product[4];
  turn[axis] = sine / (2.0 * half_cosine);
  quat_multiply(q, turn, product);
  for (int i = 0; i < 4; i++) {
    q[i] = product[i];
  }
}

// Jacobi rotation about the third axis that makes a[p][q] zero; (p, q) is a cyclic pair.
static void jacobi_rotate(double a[3][3], int p, int q, double rotation[4])
{
  int axis = 3 - p - q;
  double off = a[p][q];
  double theta = (a[q][q] - a[p][p]) / (2.0 * off);
  double tangent = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
  double cosine = 1.0 / sqrt(tangent * tangent + 1.0), sine = tangent * cosine;
  double ap = a[axis][p], aq = a[axis][q];
  a[p][p] -= tangent * off;
  a[q][q] += tangent * off;
  a[p][q] = a[q][p] = 0.0;
  a[axis][p] = a[p][axis] = cosine * ap - sine * aq;
  a[axis][q] = a[q][axis] = sine * ap + cosine * aq;
  quat_rotate_axis(rotation, axis, cosine, -sine);
}

static bool is_negligible(double off, double diagonal_a, double diagonal_b)
{
  double a = fabs(diagonal_a), b = fabs(diagonal_b);
  return a + fabs(off) == a && b + fabs(off) == b;
}

static void diagonalize(double a[3][3], double rotation[4])
{
  static const int pairs[3][2] = {{0, 1}, {1, 2}, {2, 0}};
  bool turned = true;
  for (int sweep = 0; turned && sweep < COLLIDE_EIGENVALUE_SWEEPS; sweep++) {
    turned = false;
    for (int i = 0; i < 3; i++) {
      int p = pairs[i][0], q = pairs[i][1];
      if (is_negligible(a[p][q], a[p][p], a[q][q])) {
        continue;
      }
      jacobi_rotate(a, p, q, rotation);
      turned = true;
    }
  }
}

// The rotation that maps axis i to axis order[i], up to sign.
static void quat_from_order(const int order[3], double q[4])
{
  const double half_root = sqrt(0.5);
  q[0] = q[1] = q[2] = q[3] = 0.0;
  if (order[0] == 0 && order[1] == 1) {
    q[3] = 1.0;
  } else if (order[0] != 0 && order[1] != 1 && order[2] != 2) {
    double sign = order[0] == 1 ? 1.0 : -1.0;
    q[0] = q[1] = q[2] = sign * 0.5;
    q[3] = 0.5;
  } else {
    int fixed = order[0] == 0 ? 0 : order[1] == 1 ? 1 : 2;
    q[fixed] = half_root;
    q[3] = half_root;
  }
}

static void sort_axes(const double moments[3], int order[3])
{
  for (int i = 0; i < 3; i++) {
    int k = i;
    for (; k > 0 && moments[order[k - 1]] > moments[i]; k--) {
      order[k] = order[k - 1];
    }
    order[k] = i;
  }
}

bool mass_principal(tn_sym3 inertia, double moments[3], double rotation[4])
{
  double a[3][3], turned[4] = {0.0, 0.0, 0.0, 1.0}, ordering[4];
  int order[3];
  tensor_from_sym3(inertia, a);
  for (int i = 0; i < 3; i++) {
    if (!isfinite(a[i][i]) || !isfinite(a[i][(i + 1) % 3])) {
      return false;
    }
  }
  diagonalize(a, turned);
  const double unsorted[3] = {a[0][0], a[1][1], a[2][2]};
  sort_axes(unsorted, order);
  for (int i = 0; i < 3; i++) {
    moments[i] = unsorted[order[i]];
  }
  quat_from_order(order, ordering);
  quat_multiply(turned, ordering, rotation);
  return quat_normalize(rotation);
}

bool mass_is_physical(const tn_mass *mass)
{
  double moments[3], rotation[4];
  return mass->mass > 0.0f && mass->mass <= FLT_MAX && is_finite_vector(mass->center) &&
         mass_principal(mass->inertia, moments, rotation) && moments[0] > 0.0 &&
         moments[0] + moments[1] >= moments[2] * (1.0 - COLLIDE_INERTIA_TOLERANCE);
}

// ---------------------------------------------------------------------------------------------
// Simple solids

static bool fits_float(double x)
{
  return fabs(x) <= (double)FLT_MAX;
}

static bool solid_fits(const solid *s)
{
  bool fits = fits_float(s->mass) && fits_float(s->center.x) && fits_float(s->center.y) &&
              fits_float(s->center.z);
  for (int i = 0; i < 3; i++) {
    fits = fits && fits_float(s->inertia[i][i]) && fits_float(s->inertia[i][(i + 1) % 3]);
  }
  return fits;
}

static tn_mass round_solid(const char *function, const solid *s)
{
  if (!solid_fits(s)) {
    return reject(function, "the result is too large for float");
  }
  tn_mass m = {
      (float)s->mass,
      {(float)s->center.x, (float)s->center.y, (float)s->center.z},
      {(float)s->inertia[0][0], (float)s->inertia[1][1], (float)s->inertia[2][2],
       (float)s->inertia[0][1], (float)s->inertia[0][2], (float)s->inertia[1][2]},
  };
  if (!mass_is_physical(&m)) {
    return reject(function, "the solid is too small or too thin for float");
  }
  return m;
}

static solid solid_from_mass(tn_mass m)
{
  solid s = {(double)m.mass, {(double)m.center.x, (double)m.center.y, (double)m.center.z}, {{0}}};
  tensor_from_sym3(m.inertia, s.inertia);
  return s;
}

static tn_mass symmetric_solid(const char *function, double mass, double xx, double yy, double zz)
{
  solid s = {mass, {0.0, 0.0, 0.0}, {{xx, 0.0, 0.0}, {0.0, yy, 0.0}, {0.0, 0.0, zz}}};
  return round_solid(function, &s);
}

tn_mass tn_mass_sphere(float radius, float density)
{
  if (!is_positive(__func__, "radius", radius) || !is_positive(__func__, "density", density)) {
    return (tn_mass){0};
  }
  double r = (double)radius;
  double mass = (double)density * 4.0 / 3.0 * pi * r * r * r;
  double moment = 0.4 * mass * r * r;
  return symmetric_solid(__func__, mass, moment, moment, moment);
}

tn_mass tn_mass_box(tn_vec3 half_extents, float density)
{
  if (!is_positive(__func__, "half_extents.x", half_extents.x) ||
      !is_positive(__func__, "half_extents.y", half_extents.y) ||
      !is_positive(__func__, "half_extents.z", half_extents.z) ||
      !is_positive(__func__, "density", density)) {
    return (tn_mass){0};
  }
  double x = (double)half_extents.x, y = (double)half_extents.y, z = (double)half_extents.z;
  double mass = (double)density * 8.0 * x * y * z;
  return symmetric_solid(__func__, mass, mass / 3.0 * (y * y + z * z), mass / 3.0 * (x * x + z * z),
                         mass / 3.0 * (x * x + y * y));
}

// Checks the parameters of a solid of revolution about the y axis.
static bool is_axial(const char *caller, float radius, float half_length, float density)
{
  return is_positive(caller, "radius", radius) && is_positive(caller, "half_length", half_length) &&
         is_positive(caller, "density", density);
}

tn_mass tn_mass_capsule(float radius, float half_length, float density)
{
  if (!is_axial(__func__, radius, half_length, density)) {
    return (tn_mass){0};
  }
  double r = (double)radius, h = (double)half_length;
  double middle = (double)density * 2.0 * pi * r * r * h;
  double ends = (double)density * 4.0 / 3.0 * pi * r * r * r;
  double along = middle * 0.5 * r * r + ends * 0.4 * r * r;
  double across =
      middle * (0.25 * r * r + h * h / 3.0) + ends * (0.4 * r * r + h * h + 0.75 * h * r);
  return symmetric_solid(__func__, middle + ends, across, along, across);
}

tn_mass tn_mass_cylinder(float radius, float half_length, float density)
{
  if (!is_axial(__func__, radius, half_length, density)) {
    return (tn_mass){0};
  }
  double r = (double)radius, h = (double)half_length;
  double mass = (double)density * 2.0 * pi * r * r * h;
  double across = mass * (0.25 * r * r + h * h / 3.0);
  return symmetric_solid(__func__, mass, across, mass * 0.5 * r * r, across);
}

tn_mass tn_mass_cone(float radius, float half_length, float density)
{
  if (!is_axial(__func__, radius, half_length, density)) {
    return (tn_mass){0};
  }
  double r = (double)radius, h = (double)half_length;
  double mass = (double)density * 2.0 / 3.0 * pi * r * r * h;
  double across = mass * 0.15 * (r * r + h * h);
  tn_mass cone = symmetric_solid(__func__, mass, across, mass * 0.3 * r * r, across);
  if (cone.mass > 0.0f) {
    cone.center.y = -0.5f * half_length;
  }
  return cone;
}

// ---------------------------------------------------------------------------------------------
// Solids enclosed by a surface (Blow and Binstock): each triangle spans a tetrahedron with a common
// reference point; signed volumes, first and second moments of the tetrahedra add up.

static void add_triangle(volume_sum *sum, d3 p0, d3 p1, d3 p2)
{
  d3 a = d3_sub(p0, sum->reference), b = d3_sub(p1, sum->reference);
  d3 c = d3_sub(p2, sum->reference), s = d3_add(a, d3_add(b, c));
  d3 normal = d3_cross(d3_sub(b, a), d3_sub(c, a));
  double volume = d3_dot(a, d3_cross(b, c)) / 6.0;
  sum->volume += volume;
  sum->area += 0.5 * sqrt(d3_dot(normal, normal));
  sum->first = d3_add(sum->first, d3_scale(volume / 4.0, s));
  const double v[4][3] = {{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}, {s.x, s.y, s.z}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      sum->second[i][j] +=
          volume / 20.0 *
          (v[0][i] * v[0][j] + v[1][i] * v[1][j] + v[2][i] * v[2][j] + v[3][i] * v[3][j]);
    }
  }
}

// `rounding` is the thickness (m) that rounding to float can give a surface without volume.
static tn_mass enclosed_solid(const char *function, const volume_sum *sum, double rounding,
                              float density)
{
  double least = 0.5 * sum->area * rounding;
  if (sum->volume < -least) {
    return reject(function, "the volume is negative: the mesh is inside out");
  }
  if (!(sum->volume > least)) {
    return reject(function, "the volume is zero");
  }
  d3 offset = d3_scale(1.0 / sum->volume, sum->first);
  const double d[3] = {offset.x, offset.y, offset.z};
  double covariance[3][3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      covariance[i][j] = (double)density * (sum->second[i][j] - sum->volume * d[i] * d[j]);
    }
  }
  double trace = covariance[0][0] + covariance[1][1] + covariance[2][2];
  solid s = {(double)density * sum->volume, d3_add(sum->reference, offset), {{0}}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      s.inertia[i][j] = (i == j ? trace : 0.0) - covariance[i][j];
    }
  }
  return round_solid(function, &s);
}

bool hull_volume(const tn_vec3 *points, int count, volume_sum *sum, char *why, size_t size)
{
  hull h;
  if (!hull_build(points, count, 0.0, &h, why, size)) {
    return false;
  }
  *sum = (volume_sum){.reference = h.vertices[0]};
  for (int i = 0; i < h.face_count; i++) {
    const hull_edge *loop = h.edges + h.faces[i].first_edge;
    for (int k = 2; k < h.faces[i].edge_count; k++) {
      add_triangle(sum, h.vertices[loop[0].origin], h.vertices[loop[k - 1].origin],
                   h.vertices[loop[k].origin]);
    }
  }
  hull_free(&h);
  return true;
}

tn_mass hull_volume_mass(const char *function, const volume_sum *sum, float density)
{
  return enclosed_solid(function, sum, 0.0, density);
}

tn_mass tn_mass_hull(const tn_vec3 *points, int count, float density)
{
  if (!is_positive(__func__, "density", density)) {
    return (tn_mass){0};
  }
  char why[128];
  volume_sum sum;
  if (!hull_volume(points, count, &sum, why, sizeof why)) {
    return reject(__func__, "%s", why);
  }
  return hull_volume_mass(__func__, &sum, density);
}

typedef struct mesh_edge {
  int low, high;
  bool rising; // the triangle traverses it from low to high
} mesh_edge;

static int by_vertices(const void *left, const void *right)
{
  const mesh_edge *a = left, *b = right;
  if (a->low != b->low) {
    return a->low < b->low ? -1 : 1;
  }
  if (a->high != b->high) {
    return a->high < b->high ? -1 : 1;
  }
  return (int)a->rising - (int)b->rising;
}

static void list_edges(const int *triangles, int triangle_count, mesh_edge *edges)
{
  for (int t = 0; t < triangle_count; t++) {
    for (int k = 0; k < 3; k++) {
      int from = triangles[3 * t + k], to = triangles[3 * t + (k + 1) % 3];
      edges[3 * t + k] = from < to ? (mesh_edge){from, to, true} : (mesh_edge){to, from, false};
    }
  }
}

static void reject_edge(const char *function, mesh_edge edge, int uses)
{
  if (uses == 1) {
    reject(function, "edge %d-%d is open: the mesh is not closed", edge.low, edge.high);
  } else if (uses == 2) {
    reject(function, "edge %d-%d has triangles that face opposite ways", edge.low, edge.high);
  } else {
    reject(function, "edge %d-%d belongs to %d triangles, not two", edge.low, edge.high, uses);
  }
}

// A closed surface: each edge belongs to two triangles, which traverse it in opposite directions.
static bool edges_match(const char *function, const mesh_edge *edges, int count)
{
  int uses;
  for (int i = 0; i < count; i += uses) {
    mesh_edge edge = edges[i];
    uses = 1;
    while (i + uses < count && edges[i + uses].low == edge.low &&
           edges[i + uses].high == edge.high) {
      uses++;
    }
    if (uses != 2 || edges[i + 1].rising == edge.rising) {
      reject_edge(function, edge, uses);
      return false;
    }
  }
  return true;
}

static bool mesh_is_closed(const char *function, const int *triangles, int triangle_count)
{
  size_t count = 3 * (size_t)triangle_count;
  mesh_edge *edges = malloc(count * sizeof *edges);
  if (!edges) {
    reject(function, "out of memory");
    return false;
  }
  list_edges(triangles, triangle_count, edges);
  qsort(edges, count, sizeof *edges, by_vertices);
  bool match = edges_match(function, edges, 3 * triangle_count);
  free(edges);
  return match;
}

static bool mesh_is_valid(const char *function, const tn_vec3 *vertices, int vertex_count,
                          const int *triangles, int triangle_count)
{
  if (!vertices || !triangles || vertex_count <= 0 || triangle_count <= 0 ||
      triangle_count > INT_MAX / 3) {
    reject(function, "%d vertices and %d triangles are no mesh", vertices ? vertex_count : 0,
           triangles ? triangle_count : 0);
    return false;
  }
  for (int i = 0; i < vertex_count; i++) {
    if (!is_finite_vector(vertices[i])) {
      reject(function, "vertex %d is not finite", i);
      return false;
    }
  }
  for (int t = 0; t < triangle_count; t++) {
    const int *corner = triangles + 3 * t;
    for (int k = 0; k < 3; k++) {
      if (corner[k] < 0 || corner[k] >= vertex_count) {
        reject(function, "triangle %d has vertex %d, of %d", t, corner[k], vertex_count);
        return false;
      }
      if (corner[k] == corner[(k + 1) % 3]) {
        reject(function, "triangle %d has vertex %d twice", t, corner[k]);
        return false;
      }
    }
  }
  return mesh_is_closed(function, triangles, triangle_count);
}

static d3 mesh_vertex(const tn_vec3 *vertices, int i)
{
  return (d3){(double)vertices[i].x, (double)vertices[i].y, (double)vertices[i].z};
}

tn_mass tn_mass_mesh(const tn_vec3 *vertices, int vertex_count, const int *triangles,
                     int triangle_count, float density)
{
  if (!is_positive(__func__, "density", density) ||
      !mesh_is_valid(__func__, vertices, vertex_count, triangles, triangle_count)) {
    return (tn_mass){0};
  }
  volume_sum sum = {.reference = mesh_vertex(vertices, triangles[0])};
  for (int t = 0; t < triangle_count; t++) {
    add_triangle(&sum, mesh_vertex(vertices, triangles[3 * t]),
                 mesh_vertex(vertices, triangles[3 * t + 1]),
                 mesh_vertex(vertices, triangles[3 * t + 2]));
  }
  return enclosed_solid(__func__, &sum, hull_rounding_error(vertices, vertex_count), density);
}

// ---------------------------------------------------------------------------------------------
// Transforms and sums of solids

static void matrix_from_quat(const double q[4], double r[3][3])
{
  double x = q[0], y = q[1], z = q[2], w = q[3];
  r[0][0] = 1.0 - 2.0 * (y * y + z * z);
  r[0][1] = 2.0 * (x * y - w * z);
  r[0][2] = 2.0 * (x * z + w * y);
  r[1][0] = 2.0 * (x * y + w * z);
  r[1][1] = 1.0 - 2.0 * (x * x + z * z);
  r[1][2] = 2.0 * (y * z - w * x);
  r[2][0] = 2.0 * (x * z - w * y);
  r[2][1] = 2.0 * (y * z + w * x);
  r[2][2] = 1.0 - 2.0 * (x * x + y * y);
}

static d3 matrix_times_vector(double r[3][3], d3 v)
{
  return (d3){r[0][0] * v.x + r[0][1] * v.y + r[0][2] * v.z,
              r[1][0] * v.x + r[1][1] * v.y + r[1][2] * v.z,
              r[2][0] * v.x + r[2][1] * v.y + r[2][2] * v.z};
}

static void matrix_multiply(double a[3][3], double b[3][3], double product[3][3])
{
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    }
  }
}

static void rotate_tensor(double r[3][3], double tensor[3][3])
{
  double half_way[3][3], transposed[3][3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      transposed[i][j] = r[j][i];
    }
  }
  matrix_multiply(r, tensor, half_way);
  matrix_multiply(half_way, transposed, tensor);
}

tn_mass tn_mass_at(tn_mass mass, tn_vec3 position, tn_quat rotation)
{
  if (!mass_is_physical(&mass)) {
    return reject(__func__, "mass is not that of a solid");
  }
  if (!is_finite_vector(position)) {
    return reject(__func__, "position is not finite");
  }
  double q[4] = {(double)rotation.x, (double)rotation.y, (double)rotation.z, (double)rotation.w};
  if (!quat_normalize(q)) {
    return reject(__func__, "rotation is zero or not finite");
  }
  double r[3][3];
  matrix_from_quat(q, r);
  solid s = solid_from_mass(mass);
  d3 at = {(double)position.x, (double)position.y, (double)position.z};
  s.center = d3_add(at, matrix_times_vector(r, s.center));
  rotate_tensor(r, s.inertia);
  return round_solid(__func__, &s);
}

// Adds the inertia of `part` about `center` (parallel axis theorem).
static void add_inertia_about(d3 center, const solid *part, double inertia[3][3])
{
  d3 offset = d3_sub(part->center, center);
  const double d[3] = {offset.x, offset.y, offset.z};
  double square = d3_dot(offset, offset);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      inertia[i][j] += part->inertia[i][j] + part->mass * ((i == j ? square : 0.0) - d[i] * d[j]);
    }
  }
}

tn_mass tn_mass_compound(const tn_mass *parts, int count)
{
  if (!parts || count <= 0) {
    return reject(__func__, "no parts");
  }
  solid whole = {0};
  d3 moment = {0};
  for (int i = 0; i < count; i++) {
    if (!mass_is_physical(&parts[i])) {
      return reject(__func__, "part %d is not the mass of a solid", i);
    }
    solid part = solid_from_mass(parts[i]);
    whole.mass += part.mass;
    moment = d3_add(moment, d3_scale(part.mass, part.center));
  }
  whole.center = d3_scale(1.0 / whole.mass, moment);
  for (int i = 0; i < count; i++) {
    solid part = solid_from_mass(parts[i]);
    add_inertia_about(whole.center, &part, whole.inertia);
  }
  return round_solid(__func__, &whole);
}

tn_mass tn_mass_scaled_to(tn_mass mass, float total)
{
  if (!is_positive(__func__, "total", total)) {
    return (tn_mass){0};
  }
  if (!mass_is_physical(&mass)) {
    return reject(__func__, "mass is not that of a solid");
  }
  solid s = solid_from_mass(mass);
  double scale = (double)total / s.mass;
  s.mass = (double)total;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      s.inertia[i][j] *= scale;
    }
  }
  return round_solid(__func__, &s);
}
