// Mass properties of solids and their principal axes.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)

#include "solids.h"

#include "collide/mass.h"
#include "tenon/tenon.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double pi = 3.14159265358979323846;

// ---------------------------------------------------------------------------------------------
// Comparisons

#define ASSERT_SAME_MASS(actual, expected, relative)                                               \
  assert_same_mass(actual, expected, relative, __LINE__)

// Centres are compared at the scale of the solid, sqrt(I / m).
static void assert_same_mass(tn_mass a, tn_mass b, double relative, int line)
{
  double inertia = (double)b.inertia.xx + (double)b.inertia.yy + (double)b.inertia.zz;
  double size = sqrt(inertia / (double)b.mass);
  assert_near((double)a.mass, (double)b.mass, relative * (double)b.mass, line);
  assert_near((double)a.center.x, (double)b.center.x, relative * size, line);
  assert_near((double)a.center.y, (double)b.center.y, relative * size, line);
  assert_near((double)a.center.z, (double)b.center.z, relative * size, line);
  assert_near((double)a.inertia.xx, (double)b.inertia.xx, relative * inertia, line);
  assert_near((double)a.inertia.yy, (double)b.inertia.yy, relative * inertia, line);
  assert_near((double)a.inertia.zz, (double)b.inertia.zz, relative * inertia, line);
  assert_near((double)a.inertia.xy, (double)b.inertia.xy, relative * inertia, line);
  assert_near((double)a.inertia.xz, (double)b.inertia.xz, relative * inertia, line);
  assert_near((double)a.inertia.yz, (double)b.inertia.yz, relative * inertia, line);
}

static tn_mass make_mass(double mass, double xx, double yy, double zz)
{
  tn_mass m = {
      (float)mass, {0.0f, 0.0f, 0.0f}, {(float)xx, (float)yy, (float)zz, 0.0f, 0.0f, 0.0f}};
  return m;
}

// ---------------------------------------------------------------------------------------------
// Meshes

typedef struct mesh {
  tn_vec3 *vertices;
  int *triangles;
  int vertex_count, triangle_count;
} mesh;

static mesh mesh_make(int vertex_capacity, int triangle_capacity)
{
  mesh m = {0};
  m.vertices = calloc((size_t)vertex_capacity, sizeof *m.vertices);
  m.triangles = calloc(3 * (size_t)triangle_capacity, sizeof *m.triangles);
  assert_non_null(m.vertices);
  assert_non_null(m.triangles);
  return m;
}

static void mesh_free(mesh *m)
{
  free(m->vertices);
  free(m->triangles);
}

static void add_vertex(mesh *m, double x, double y, double z)
{
  m->vertices[m->vertex_count++] = tn_v3((float)x, (float)y, (float)z);
}

static void add_face(mesh *m, int a, int b, int c)
{
  int *corner = m->triangles + 3 * m->triangle_count++;
  corner[0] = a;
  corner[1] = b;
  corner[2] = c;
}

static tn_mass mesh_mass(const mesh *m, float density)
{
  return tn_mass_mesh(m->vertices, m->vertex_count, m->triangles, m->triangle_count, density);
}

static mesh box_mesh(tn_vec3 half)
{
  static const int quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                  {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  mesh m = mesh_make(8, 12);
  for (int i = 0; i < 8; i++) {
    add_vertex(&m, (double)(i & 1 ? half.x : -half.x), (double)(i & 2 ? half.y : -half.y),
               (double)(i & 4 ? half.z : -half.z));
  }
  for (int i = 0; i < 6; i++) {
    add_face(&m, quads[i][0], quads[i][1], quads[i][2]);
    add_face(&m, quads[i][0], quads[i][2], quads[i][3]);
  }
  return m;
}

static mesh tetrahedron_mesh(double a, double b, double c)
{
  mesh m = mesh_make(4, 4);
  add_vertex(&m, 0.0, 0.0, 0.0);
  add_vertex(&m, a, 0.0, 0.0);
  add_vertex(&m, 0.0, b, 0.0);
  add_vertex(&m, 0.0, 0.0, c);
  add_face(&m, 0, 2, 1);
  add_face(&m, 0, 1, 3);
  add_face(&m, 0, 3, 2);
  add_face(&m, 1, 2, 3);
  return m;
}

typedef struct profile_point {
  double radius, height;
} profile_point;

// A solid of revolution: rotates a profile, from its top on the y axis to its bottom, about that
// axis.
static mesh revolve(const profile_point *profile, int count, int segments)
{
  int rings = count - 2;
  mesh m = mesh_make(rings * segments + 2, 2 * rings * segments);
  for (int i = 1; i <= rings; i++) {
    for (int k = 0; k < segments; k++) {
      double angle = 2.0 * pi * k / segments;
      add_vertex(&m, profile[i].radius * cos(angle), profile[i].height,
                 -profile[i].radius * sin(angle));
    }
  }
  add_vertex(&m, 0.0, profile[0].height, 0.0);
  add_vertex(&m, 0.0, profile[count - 1].height, 0.0);
  for (int k = 0; k < segments; k++) {
    int next = (k + 1) % segments, last = (rings - 1) * segments;
    add_face(&m, rings * segments, k, next);
    add_face(&m, rings * segments + 1, last + next, last + k);
    for (int i = 0; i + 1 < rings; i++) {
      int above = i * segments, below = above + segments;
      add_face(&m, above + k, below + k, below + next);
      add_face(&m, above + k, below + next, above + next);
    }
  }
  return m;
}

// A capsule in `steps` along each quarter circle; without its straight part it is a sphere.
static mesh capsule_mesh(double radius, double half_length, int steps)
{
  profile_point *profile = calloc(2 * (size_t)steps + 2, sizeof *profile);
  assert_non_null(profile);
  int count = 0;
  for (int i = 0; i <= 2 * steps; i++) {
    double angle = 0.5 * pi * i / steps;
    double shift = i <= steps ? half_length : -half_length;
    double height = radius * cos(angle) + shift;
    profile[count++] = (profile_point){radius * sin(angle), height};
    if (i == steps && half_length > 0.0) {
      profile[count++] = (profile_point){radius, -half_length};
    }
  }
  mesh m = revolve(profile, count, 4 * steps);
  free(profile);
  return m;
}

static mesh cylinder_mesh(double radius, double half_length, int segments)
{
  const profile_point profile[4] = {
      {0.0, half_length}, {radius, half_length}, {radius, -half_length}, {0.0, -half_length}};
  return revolve(profile, 4, segments);
}
static void place_mesh(mesh *m, tn_vec3 position, const double q[4])
{
  place_points(m->vertices, m->vertex_count, position, q);
}

// ---------------------------------------------------------------------------------------------
// Rejections: a zeroed result and one line on stderr

typedef struct capture {
  FILE *file;
  int saved;
} capture;

static capture capture_begin(void)
{
  capture c = {tmpfile(), -1};
  assert_non_null(c.file);
  fflush(stderr);
  c.saved = dup(STDERR_FILENO);
  assert_true(c.saved >= 0);
  assert_true(dup2(fileno(c.file), STDERR_FILENO) >= 0);
  return c;
}

static void capture_end(capture *c, char *text, size_t size)
{
  fflush(stderr);
  assert_true(dup2(c->saved, STDERR_FILENO) >= 0);
  close(c->saved);
  rewind(c->file);
  text[fread(text, 1, size - 1, c->file)] = '\0';
  fclose(c->file);
}

static void assert_rejected(tn_mass m, const char *text, const char *expected, int line)
{
  const char *newline = strchr(text, '\n');
  unsigned char bytes[sizeof m];
  memcpy(bytes, &m, sizeof m);
  for (size_t i = 0; i < sizeof m; i++) {
    if (bytes[i] != 0) {
      fail_msg("line %d: the result is not zero", line);
    }
  }
  if (strncmp(text, "tenon: tn_mass_", 15) != 0 || !newline || newline[1] != '\0') {
    fail_msg("line %d: not one line of ours: \"%s\"", line, text);
  }
  if (!strstr(text, expected)) {
    fail_msg("line %d: \"%s\" does not say \"%s\"", line, text, expected);
  }
}

#define REJECTS(call, expected)                                                                    \
  do {                                                                                             \
    char text_[512];                                                                               \
    capture capture_ = capture_begin();                                                            \
    tn_mass mass_ = (call);                                                                        \
    capture_end(&capture_, text_, sizeof text_);                                                   \
    assert_rejected(mass_, text_, expected, __LINE__);                                             \
  } while (0)

// ---------------------------------------------------------------------------------------------
// Primitives and meshes

static void test_closed_forms(void **state)
{
  (void)state;
  ASSERT_SAME_MASS(tn_mass_sphere(2.0f, 3.0f),
                   make_mass(32.0 * pi, 51.2 * pi, 51.2 * pi, 51.2 * pi), 1e-7);
  ASSERT_SAME_MASS(tn_mass_box(tn_v3(1.0f, 2.0f, 3.0f), 0.5f), make_mass(24.0, 104.0, 80.0, 40.0),
                   1e-7);
  double mass = 2.0 * pi * 4.0 * 2.0 * 3.0;
  ASSERT_SAME_MASS(
      tn_mass_cylinder(2.0f, 3.0f, 2.0f),
      make_mass(mass, mass * (12.0 + 36.0) / 12.0, mass * 2.0, mass * (12.0 + 36.0) / 12.0), 1e-7);
}

static double limit(float coarse, float fine)
{
  return (4.0 * (double)fine - (double)coarse) / 3.0;
}

// Halving the edges of an inscribed mesh divides its error by four, so the limit is known.
static void assert_converges(mesh coarse, mesh fine, tn_mass expected)
{
  tn_mass c = mesh_mass(&coarse, 2.0f), f = mesh_mass(&fine, 2.0f);
  double ratio = (double)(expected.mass - c.mass) / (double)(expected.mass - f.mass);
  assert_true(f.mass < expected.mass);
  ASSERT_NEAR(ratio, 4.0, 0.1);
  tn_mass extrapolated =
      make_mass(limit(c.mass, f.mass), limit(c.inertia.xx, f.inertia.xx),
                limit(c.inertia.yy, f.inertia.yy), limit(c.inertia.zz, f.inertia.zz));
  ASSERT_SAME_MASS(extrapolated, expected, 2e-6);
  ASSERT_NEAR(tn_length(f.center), 0.0, 1e-6);
  mesh_free(&coarse);
  mesh_free(&fine);
}

static void test_curved_meshes(void **state)
{
  (void)state;
  assert_converges(capsule_mesh(1.5, 0.0, 24), capsule_mesh(1.5, 0.0, 48),
                   tn_mass_sphere(1.5f, 2.0f));
  assert_converges(capsule_mesh(0.5, 1.25, 24), capsule_mesh(0.5, 1.25, 48),
                   tn_mass_capsule(0.5f, 1.25f, 2.0f));
  assert_converges(cylinder_mesh(0.75, 2.0, 96), cylinder_mesh(0.75, 2.0, 192),
                   tn_mass_cylinder(0.75f, 2.0f, 2.0f));
}

// Half spheres, measured as meshes, on the ends of a cylinder.
static void test_capsule_is_cylinder_and_half_spheres(void **state)
{
  (void)state;
  enum { STEPS = 64 };
  profile_point profile[STEPS + 2];
  for (int i = 0; i <= STEPS; i++) {
    double angle = 0.5 * pi * i / STEPS;
    profile[i] = (profile_point){0.5 * sin(angle), 0.5 * cos(angle)};
  }
  profile[STEPS].height = 0.0;
  profile[STEPS + 1] = (profile_point){0.0, 0.0};
  mesh half = revolve(profile, STEPS + 2, 4 * STEPS);
  tn_mass end = tn_mass_scaled_to(mesh_mass(&half, 1.0f), 0.5f * tn_mass_sphere(0.5f, 1.0f).mass);
  tn_quat upside_down = {1.0f, 0.0f, 0.0f, 0.0f};
  tn_mass parts[3] = {tn_mass_cylinder(0.5f, 1.25f, 1.0f),
                      tn_mass_at(end, tn_v3(0.0f, 1.25f, 0.0f), tn_quat_identity()),
                      tn_mass_at(end, tn_v3(0.0f, -1.25f, 0.0f), upside_down)};
  ASSERT_NEAR(end.center.y, 0.5 * 3.0 / 8.0, 1e-4);
  ASSERT_SAME_MASS(tn_mass_compound(parts, 3), tn_mass_capsule(0.5f, 1.25f, 1.0f), 5e-5);
  mesh_free(&half);
}

static void test_box(void **state)
{
  (void)state;
  tn_vec3 half = tn_v3(0.3f, 1.7f, 0.05f);
  mesh box = box_mesh(half);
  ASSERT_SAME_MASS(mesh_mass(&box, 700.0f), tn_mass_box(half, 700.0f), 2e-7);
  ASSERT_SAME_MASS(tn_mass_hull(box.vertices, 8, 700.0f), tn_mass_box(half, 700.0f), 2e-7);
  mesh_free(&box);
}

// About its centre a right tetrahedron has I_xx = 3/80 m (b^2 + c^2) and I_xy = m a b / 80.
static tn_mass right_tetrahedron(double a, double b, double c, double density)
{
  double mass = density * a * b * c / 6.0, k = 3.0 / 80.0 * mass;
  tn_mass m = make_mass(mass, k * (b * b + c * c), k * (a * a + c * c), k * (a * a + b * b));
  m.center = tn_v3((float)(a / 4.0), (float)(b / 4.0), (float)(c / 4.0));
  m.inertia.xy = (float)(mass * a * b / 80.0);
  m.inertia.xz = (float)(mass * a * c / 80.0);
  m.inertia.yz = (float)(mass * b * c / 80.0);
  return m;
}

static void test_tetrahedron(void **state)
{
  (void)state;
  mesh m = tetrahedron_mesh(1.0, 2.0, 3.0);
  tn_mass expected = right_tetrahedron(1.0, 2.0, 3.0, 5.0);
  ASSERT_SAME_MASS(mesh_mass(&m, 5.0f), expected, 2e-7);
  ASSERT_SAME_MASS(tn_mass_hull(m.vertices, m.vertex_count, 5.0f), expected, 2e-7);
  mesh_free(&m);
}

// Transforming the mesh and transforming the result agree, for mesh and hull.
static void test_covariance(void **state)
{
  (void)state;
  uint64_t random = 1;
  for (int i = 0; i < 200; i++) {
    mesh m = tetrahedron_mesh(random_between(&random, 0.5, 2.0), random_between(&random, 0.5, 2.0),
                              random_between(&random, 0.5, 2.0));
    tn_vec3 position = random_vector(&random, 3.0);
    double q[4];
    random_quat(&random, q);
    tn_quat rotation = {(float)q[0], (float)q[1], (float)q[2], (float)q[3]};
    tn_mass expected = tn_mass_at(mesh_mass(&m, 2.0f), position, rotation);
    place_mesh(&m, position, q);
    ASSERT_SAME_MASS(mesh_mass(&m, 2.0f), expected, 5e-6);
    ASSERT_SAME_MASS(tn_mass_hull(m.vertices, m.vertex_count, 2.0f), expected, 5e-6);
    mesh_free(&m);
  }
}

// With coordinates that floats represent exactly, the only error is that of the result.
static void test_far_from_origin(void **state)
{
  (void)state;
  const double identity[4] = {0.0, 0.0, 0.0, 1.0};
  tn_vec3 half = tn_v3(0.5f, 0.25f, 1.0f), far = tn_v3(10000.0f, -10000.0f, 10000.0f);
  mesh box = box_mesh(half);
  place_mesh(&box, far, identity);
  tn_mass expected = tn_mass_box(half, 1000.0f);
  expected.center = far;
  ASSERT_SAME_MASS(mesh_mass(&box, 1000.0f), expected, 1e-7);
  ASSERT_SAME_MASS(tn_mass_hull(box.vertices, 8, 1000.0f), expected, 1e-7);
  mesh_free(&box);
}

// A box with a box-shaped hole is one closed mesh.
static void test_cavity(void **state)
{
  (void)state;
  mesh outer = box_mesh(tn_v3(2.0f, 2.0f, 2.0f)), inner = box_mesh(tn_v3(1.0f, 1.0f, 1.0f));
  mesh both = mesh_make(16, 24);
  for (int i = 0; i < 16; i++) {
    both.vertices[both.vertex_count++] = i < 8 ? outer.vertices[i] : inner.vertices[i - 8];
  }
  for (int t = 0; t < 12; t++) {
    const int *a = outer.triangles + 3 * t, *b = inner.triangles + 3 * t;
    add_face(&both, a[0], a[1], a[2]);
    add_face(&both, b[0] + 8, b[2] + 8, b[1] + 8);
  }
  double moment = 64.0 * 8.0 / 3.0 - 8.0 * 2.0 / 3.0;
  ASSERT_SAME_MASS(mesh_mass(&both, 1.0f), make_mass(56.0, moment, moment, moment), 1e-7);
  mesh_free(&outer);
  mesh_free(&inner);
  mesh_free(&both);
}

// ---------------------------------------------------------------------------------------------
// Compounds

static void test_two_halves(void **state)
{
  (void)state;
  tn_mass half = tn_mass_box(tn_v3(0.5f, 2.0f, 3.0f), 4.0f);
  tn_quat quarter_turn = {0.0f, 2.0f, 0.0f, 2.0f}; // not normalized; rotates z to x
  tn_mass other = tn_mass_box(tn_v3(3.0f, 2.0f, 0.5f), 4.0f);
  tn_mass parts[2] = {tn_mass_at(half, tn_v3(1.5f, 1.0f, 0.0f), tn_quat_identity()),
                      tn_mass_at(other, tn_v3(0.5f, 1.0f, 0.0f), quarter_turn)};
  tn_mass expected = tn_mass_box(tn_v3(1.0f, 2.0f, 3.0f), 4.0f);
  expected.center = tn_v3(1.0f, 1.0f, 0.0f);
  ASSERT_SAME_MASS(tn_mass_compound(parts, 2), expected, 1e-7);
}

static void test_compound_of_one(void **state)
{
  (void)state;
  tn_mass part = right_tetrahedron(1.0, 2.0, 3.0, 4.0);
  ASSERT_SAME_MASS(tn_mass_compound(&part, 1), part, 1e-7);
}

static void test_scaled_to(void **state)
{
  (void)state;
  ASSERT_SAME_MASS(tn_mass_scaled_to(right_tetrahedron(1.0, 2.0, 3.0, 4.0), 7.0f),
                   right_tetrahedron(1.0, 2.0, 3.0, 7.0), 1e-7);
}

// ---------------------------------------------------------------------------------------------
// Principal axes

static void rotation_matrix(const double q[4], double r[3][3])
{
  d3 u = {q[0], q[1], q[2]};
  for (int i = 0; i < 3; i++) {
    d3 e = {i == 0, i == 1, i == 2};
    d3 t = d3_scale(2.0, d3_cross(u, e));
    d3 column = d3_add(e, d3_add(d3_scale(q[3], t), d3_cross(u, t)));
    r[0][i] = column.x;
    r[1][i] = column.y;
    r[2][i] = column.z;
  }
}

// Entries of R diag(moments) R^T, in the order of tn_sym3.
static void rebuild(const double q[4], const double moments[3], double entries[6])
{
  static const int index[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  double r[3][3];
  rotation_matrix(q, r);
  for (int e = 0; e < 6; e++) {
    entries[e] = 0.0;
    for (int k = 0; k < 3; k++) {
      entries[e] += r[index[e][0]][k] * moments[k] * r[index[e][1]][k];
    }
  }
}

static void assert_principal(tn_sym3 tensor)
{
  const double given[6] = {(double)tensor.xx, (double)tensor.yy, (double)tensor.zz,
                           (double)tensor.xy, (double)tensor.xz, (double)tensor.yz};
  double moments[3], q[4], entries[6], size = 0.0;
  assert_true(mass_principal(tensor, moments, q));
  assert_true(moments[0] <= moments[1] && moments[1] <= moments[2]);
  ASSERT_NEAR(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1.0, 1e-15);
  rebuild(q, moments, entries);
  for (int i = 0; i < 6; i++) {
    size = fabs(given[i]) > size ? fabs(given[i]) : size;
  }
  for (int i = 0; i < 6; i++) {
    ASSERT_NEAR(entries[i], given[i], 1e-12 * size);
  }
}

static tn_sym3 to_sym3(const double entries[6])
{
  tn_sym3 s = {(float)entries[0], (float)entries[1], (float)entries[2],
               (float)entries[3], (float)entries[4], (float)entries[5]};
  return s;
}

static void test_principal_axes(void **state)
{
  (void)state;
  uint64_t random = 2;
  for (int i = 0; i < 10000; i++) {
    double moments[3], q[4], entries[6], unit = 1.0;
    for (int k = random_int(&random, -8, 8); k != 0; k += k < 0 ? 1 : -1) {
      unit *= k < 0 ? 0.1 : 10.0;
    }
    for (int k = 0; k < 3; k++) {
      moments[k] = random_between(&random, 0.1, 1.0) * unit;
    }
    if (i % 5 == 1) {
      moments[1] = moments[0];
    }
    if (i % 5 == 2) {
      moments[0] = moments[1] = moments[2];
    }
    if (i % 5 == 3) {
      moments[0] *= 1e-8;
    }
    if (i % 5 == 4) {
      moments[2] = moments[0] * (1.0 + 1e-6);
    }
    random_quat(&random, q);
    rebuild(q, moments, entries);
    assert_principal(to_sym3(entries));
  }
}

// Known eigenvalues: the moments of block diagonal matrices, by the quadratic formula.
static void test_principal_moments(void **state)
{
  (void)state;
  tn_sym3 tensor = {2.0f, 5.0f, 3.0f, 0.0f, 0.0f, 1.0f};
  double moments[3], q[4];
  assert_true(mass_principal(tensor, moments, q));
  ASSERT_NEAR(moments[0], 2.0, 1e-15);
  ASSERT_NEAR(moments[1], 4.0 - sqrt(2.0), 1e-15);
  ASSERT_NEAR(moments[2], 4.0 + sqrt(2.0), 2e-15);
}

static int by_value(const void *left, const void *right)
{
  const double *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

static void test_diagonal_is_exact(void **state)
{
  (void)state;
  static const float values[4] = {0.1f, 0.3f, 0.7f, 1e8f};
  for (int i = 0; i < 64; i++) {
    tn_sym3 tensor = {values[i % 4], values[i / 4 % 4], values[i / 16], 0.0f, 0.0f, 0.0f};
    double sorted[3] = {(double)tensor.xx, (double)tensor.yy, (double)tensor.zz};
    double moments[3], q[4];
    qsort(sorted, 3, sizeof *sorted, by_value);
    assert_principal(tensor);
    assert_true(mass_principal(tensor, moments, q));
    assert_memory_equal(moments, sorted, sizeof sorted);
    if (tensor.xx <= tensor.yy && tensor.yy <= tensor.zz) {
      assert_true(q[0] == 0.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 1.0);
    }
    if (tensor.yy <= tensor.zz && tensor.zz < tensor.xx) {
      assert_true(q[0] == 0.5 && q[1] == 0.5 && q[2] == 0.5 && q[3] == 0.5);
    }
    if (tensor.zz < tensor.xx && tensor.xx <= tensor.yy) {
      assert_true(q[0] == -0.5 && q[1] == -0.5 && q[2] == -0.5 && q[3] == 0.5);
    }
    if (tensor.yy < tensor.xx && tensor.xx <= tensor.zz) {
      assert_true(q[0] == 0.0 && q[1] == 0.0 && q[2] == q[3] && q[2] == sqrt(0.5));
    }
  }
}

static void test_is_physical(void **state)
{
  (void)state;
  tn_mass good = make_mass(1.0, 1.0, 2.0, 3.0), m = good;
  assert_true(mass_is_physical(&good));
  m.inertia.zz = 3.0002f;
  assert_true(mass_is_physical(&m));
  m.inertia.zz = 3.001f;
  assert_false(mass_is_physical(&m));
  m = make_mass(0.0, 1.0, 2.0, 3.0);
  assert_false(mass_is_physical(&m));
  m = make_mass(-1.0, 1.0, 2.0, 3.0);
  assert_false(mass_is_physical(&m));
  m = make_mass(1.0, 0.0, 1.0, 1.0);
  assert_false(mass_is_physical(&m));
  m = make_mass(1.0, -1.0, 2.0, 2.0);
  assert_false(mass_is_physical(&m));
  m = good;
  m.inertia.xy = 1.5f; // positive diagonal, negative moment
  assert_false(mass_is_physical(&m));
  float *fields[3] = {&m.mass, &m.center.y, &m.inertia.xz};
  for (int i = 0; i < 3; i++) {
    m = good;
    *fields[i] = NAN;
    assert_false(mass_is_physical(&m));
    *fields[i] = INFINITY;
    assert_false(mass_is_physical(&m));
  }
}
// ---------------------------------------------------------------------------------------------
// Bad input

static void test_bad_hulls(void **state)
{
  (void)state;
  mesh flat = box_mesh(tn_v3(1.0f, 1.0f, 0.0f)), box = box_mesh(tn_v3(1.0f, 1.0f, 1.0f));
  REJECTS(tn_mass_hull(flat.vertices, 8, 1.0f), "tn_mass_hull: the points lie in one plane");
  REJECTS(tn_mass_hull(NULL, 8, 1.0f), "0 points");
  REJECTS(tn_mass_hull(box.vertices, 0, 1.0f), "0 points");
  REJECTS(tn_mass_hull(box.vertices, -1, 1.0f), "-1 points");
  REJECTS(tn_mass_hull(box.vertices, 8, 0.0f), "density is 0");
  REJECTS(tn_mass_hull(box.vertices, 8, FLT_MAX), "too large");
  box.vertices[6].y = INFINITY;
  REJECTS(tn_mass_hull(box.vertices, 8, 1.0f), "point 6 is not finite");
  mesh_free(&flat);
  mesh_free(&box);
}

static void test_bad_primitives(void **state)
{
  (void)state;
  static const float bad[5] = {0.0f, -1.0f, NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 5; i++) {
    REJECTS(tn_mass_sphere(bad[i], 1.0f), "tn_mass_sphere: radius is");
    REJECTS(tn_mass_sphere(1.0f, bad[i]), "density is");
    REJECTS(tn_mass_box(tn_v3(bad[i], 1.0f, 1.0f), 1.0f), "tn_mass_box: half_extents.x is");
    REJECTS(tn_mass_box(tn_v3(1.0f, bad[i], 1.0f), 1.0f), "half_extents.y is");
    REJECTS(tn_mass_box(tn_v3(1.0f, 1.0f, bad[i]), 1.0f), "half_extents.z is");
    REJECTS(tn_mass_box(tn_v3(1.0f, 1.0f, 1.0f), bad[i]), "density is");
    REJECTS(tn_mass_capsule(bad[i], 1.0f, 1.0f), "tn_mass_capsule: radius is");
    REJECTS(tn_mass_capsule(1.0f, bad[i], 1.0f), "half_length is");
    REJECTS(tn_mass_capsule(1.0f, 1.0f, bad[i]), "density is");
    REJECTS(tn_mass_cylinder(bad[i], 1.0f, 1.0f), "tn_mass_cylinder: radius is");
    REJECTS(tn_mass_cylinder(1.0f, bad[i], 1.0f), "half_length is");
    REJECTS(tn_mass_cylinder(1.0f, 1.0f, bad[i]), "density is");
  }
  REJECTS(tn_mass_sphere(1e13f, 1e3f), "too large");
  REJECTS(tn_mass_sphere(1e8f, 1e10f), "too large"); // of the inertia
  REJECTS(tn_mass_sphere(1e-20f, 1.0f), "too small");
  REJECTS(tn_mass_sphere(1e-10f, 1.0f), "too small"); // of the inertia
}

static void test_bad_meshes(void **state)
{
  (void)state;
  mesh m = box_mesh(tn_v3(1.0f, 1.0f, 1.0f));
  tn_vec3 *v = m.vertices;
  int *t = m.triangles, first[3] = {t[0], t[1], t[2]};
  REJECTS(tn_mass_mesh(NULL, 8, t, 12, 1.0f), "0 vertices");
  REJECTS(tn_mass_mesh(v, 8, NULL, 12, 1.0f), "0 triangles");
  REJECTS(tn_mass_mesh(v, 0, t, 12, 1.0f), "0 vertices");
  REJECTS(tn_mass_mesh(v, 8, t, 0, 1.0f), "0 triangles");
  REJECTS(tn_mass_mesh(v, 8, t, -1, 1.0f), "-1 triangles");
  REJECTS(tn_mass_mesh(v, 8, t, INT32_MAX, 1.0f), "triangles");
  REJECTS(tn_mass_mesh(v, 8, t, 12, -1.0f), "density is -1");
  REJECTS(tn_mass_mesh(v, 7, t, 12, 1.0f), "has vertex 7, of 7");
  REJECTS(tn_mass_mesh(v, 8, t, 11, 1.0f),
          "tn_mass_mesh: edge 4-6 is open: the mesh is not closed");
  t[0] = -1;
  REJECTS(tn_mass_mesh(v, 8, t, 12, 1.0f), "triangle 0 has vertex -1");
  t[0] = t[1];
  REJECTS(tn_mass_mesh(v, 8, t, 12, 1.0f), "triangle 0 has vertex 4 twice");
  t[0] = first[1];
  t[1] = first[0];
  REJECTS(tn_mass_mesh(v, 8, t, 12, 1.0f), "face opposite ways");
  t[0] = first[0];
  t[1] = first[1];
  v[3].z = NAN;
  REJECTS(tn_mass_mesh(v, 8, t, 12, 1.0f), "vertex 3 is not finite");
  v[3].z = -1.0f;
  assert_true(mesh_mass(&m, 1.0f).mass == 8.0f);
  for (int i = 0; i < 12; i++) {
    int corner = t[3 * i];
    t[3 * i] = t[3 * i + 1];
    t[3 * i + 1] = corner;
  }
  REJECTS(tn_mass_mesh(v, 8, t, 12, 1.0f), "inside out");
  mesh_free(&m);
}

static void test_flat_meshes(void **state)
{
  (void)state;
  mesh flat = box_mesh(tn_v3(1.0f, 1.0f, 0.0f));
  REJECTS(mesh_mass(&flat, 1.0f), "volume is zero");
  mesh_free(&flat);
  // Rounding gives these meshes some volume, of either sign.
  uint64_t random = 9;
  for (int i = 0; i < 50; i++) {
    double q[4];
    mesh four = tetrahedron_mesh(1.0, 1.0, 0.0);
    four.vertices[3] = tn_v3(0.3f, 0.4f, 0.0f);
    random_quat(&random, q);
    place_mesh(&four, random_vector(&random, 1.0), q);
    REJECTS(mesh_mass(&four, 1.0f), "volume is zero");
    mesh_free(&four);
  }

  mesh two = tetrahedron_mesh(1.0, 1.0, 1.0);
  int triangles[24];
  memcpy(triangles, two.triangles, 12 * sizeof(int));
  memcpy(triangles + 12, two.triangles, 12 * sizeof(int));
  REJECTS(tn_mass_mesh(two.vertices, 4, triangles, 8, 1.0f), "belongs to 4 triangles");
  for (int i = 0; i < 4; i++) {
    two.vertices[i] = tn_scale(1e13f, two.vertices[i]);
  }
  REJECTS(mesh_mass(&two, 1.0f), "too large");
  mesh_free(&two);
}

static void test_bad_parts(void **state)
{
  (void)state;
  tn_mass good = tn_mass_sphere(1.0f, 1.0f), bad = {0}, parts[2] = {good, bad};
  tn_quat zero = {0}, infinite = {INFINITY, 0.0f, 0.0f, 1.0f}, identity = tn_quat_identity();
  REJECTS(tn_mass_at(bad, tn_v3(0.0f, 0.0f, 0.0f), identity), "not that of a solid");
  REJECTS(tn_mass_at(good, tn_v3(0.0f, NAN, 0.0f), identity), "position is not finite");
  REJECTS(tn_mass_at(good, tn_v3(0.0f, 0.0f, 0.0f), zero), "rotation is zero");
  REJECTS(tn_mass_at(good, tn_v3(0.0f, 0.0f, 0.0f), infinite), "rotation is zero or not");
  REJECTS(tn_mass_compound(parts, 2), "part 1 is not");
  REJECTS(tn_mass_compound(NULL, 2), "no parts");
  REJECTS(tn_mass_compound(parts, 0), "no parts");
  REJECTS(tn_mass_compound(parts, -3), "no parts");
  REJECTS(tn_mass_scaled_to(good, 0.0f), "total is 0");
  REJECTS(tn_mass_scaled_to(good, NAN), "total is");
  REJECTS(tn_mass_scaled_to(bad, 1.0f), "not that of a solid");
  good.center.x = FLT_MAX;
  REJECTS(tn_mass_at(good, tn_v3(FLT_MAX, 0.0f, 0.0f), identity), "too large");
  parts[0] = parts[1] = good;
  parts[1].center.x = -FLT_MAX;
  REJECTS(tn_mass_compound(parts, 2), "too large");
}

// ---------------------------------------------------------------------------------------------
// The same bits everywhere

static void test_same_bits(void **state)
{
  (void)state;
  uint64_t random = 8, hash = UINT64_C(0xcbf29ce484222325);
  for (int i = 0; i < 500; i++) {
    tn_vec3 points[30];
    random_points(&random, points, 30);
    tn_mass parts[2] = {tn_mass_hull(points, 30, 1.0f), tn_mass_capsule(0.1f, 0.2f, 3.0f)};
    tn_quat rotation = {points[1].x, points[1].y, points[1].z, 1.0f};
    parts[1] = tn_mass_at(parts[1], points[0], rotation);
    tn_mass mass = tn_mass_compound(parts, 2);
    double moments[3], q[4];
    assert_true(mass_principal(mass.inertia, moments, q));
    hash_bytes(&hash, &mass, sizeof mass);
    hash_bytes(&hash, moments, sizeof moments);
    hash_bytes(&hash, q, sizeof q);
  }
  assert_hash(hash, UINT64_C(0x26e6018ab29b3d53));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_closed_forms),
      cmocka_unit_test(test_curved_meshes),
      cmocka_unit_test(test_capsule_is_cylinder_and_half_spheres),
      cmocka_unit_test(test_box),
      cmocka_unit_test(test_tetrahedron),
      cmocka_unit_test(test_covariance),
      cmocka_unit_test(test_far_from_origin),
      cmocka_unit_test(test_cavity),
      cmocka_unit_test(test_two_halves),
      cmocka_unit_test(test_compound_of_one),
      cmocka_unit_test(test_scaled_to),
      cmocka_unit_test(test_principal_axes),
      cmocka_unit_test(test_principal_moments),
      cmocka_unit_test(test_diagonal_is_exact),
      cmocka_unit_test(test_is_physical),
      cmocka_unit_test(test_bad_hulls),
      cmocka_unit_test(test_bad_primitives),
      cmocka_unit_test(test_bad_meshes),
      cmocka_unit_test(test_flat_meshes),
      cmocka_unit_test(test_bad_parts),
      cmocka_unit_test(test_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
