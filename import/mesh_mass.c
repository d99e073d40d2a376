// Mass of the solid inside a mesh, by tetrahedra from a point to each triangle.
//
// The legacy rule of MuJoCo takes all volumes as positive: from the centroid of the surface for the
// centre of mass, then from that centre for volume and inertia. It is exact for convex meshes.
#include "mesh.h"

#include <string.h>

typedef struct corners {
  dvec a, b, c;
} corners;

static dvec vertex(const model_mesh *mesh, int index)
{
  const double *v = mesh->vertices + (size_t)3 * (size_t)index;
  return dvec_of(v[0], v[1], v[2]);
}

static corners triangle(const model_mesh *mesh, int index, dvec origin)
{
  const int *t = mesh->triangles + (size_t)3 * (size_t)index;
  corners out = {dvec_sub(vertex(mesh, t[0]), origin), dvec_sub(vertex(mesh, t[1]), origin),
                 dvec_sub(vertex(mesh, t[2]), origin)};
  return out;
}

static double area(corners t)
{
  return 0.5 * dvec_length(dvec_cross(dvec_sub(t.b, t.a), dvec_sub(t.c, t.a)));
}

// Of the tetrahedron from the origin.
static double volume(corners t, bool positive)
{
  double v = dvec_dot(t.a, dvec_cross(t.b, t.c)) / 6.0;
  return positive ? fabs(v) : v;
}

static dvec surface_centroid(const model_mesh *mesh, double *total)
{
  dvec sum = dvec_of(0.0, 0.0, 0.0);
  *total = 0.0;
  for (int i = 0; i < mesh->triangle_count; ++i) {
    corners t = triangle(mesh, i, dvec_of(0.0, 0.0, 0.0));
    double s = area(t);
    sum = dvec_add(sum, dvec_scale(s / 3.0, dvec_add(t.a, dvec_add(t.b, t.c))));
    *total += s;
  }
  return *total > 0.0 ? dvec_scale(1.0 / *total, sum) : sum;
}

// Sum of x x^T over corners and over all pairs of them: integrals over a simplex of `n` corners at
// these and, of a tetrahedron, the origin.
static dsym second_moments(corners t, double factor)
{
  dvec sum = dvec_add(t.a, dvec_add(t.b, t.c));
  const dvec all[4] = {t.a, t.b, t.c, sum};
  dsym m = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (int i = 0; i < 4; ++i) {
    dvec v = all[i];
    dsym square = {v.x * v.x, v.y * v.y, v.z * v.z, v.x * v.y, v.x * v.z, v.y * v.z};
    m = dsym_add(m, square);
  }
  return dsym_scale(factor, m);
}

static dsym inertia_of_moments(dsym m)
{
  dsym inertia = {m.yy + m.zz, m.xx + m.zz, m.xx + m.yy, -m.xy, -m.xz, -m.yz};
  return inertia;
}

static bool solid_mass(const model_mesh *mesh, bool positive, model_mass *out)
{
  double total;
  dvec start = surface_centroid(mesh, &total), sum = dvec_of(0.0, 0.0, 0.0);
  double whole = 0.0;
  for (int i = 0; i < mesh->triangle_count; ++i) {
    corners t = triangle(mesh, i, start);
    double v = volume(t, positive);
    whole += v;
    sum = dvec_add(sum, dvec_scale(0.25 * v, dvec_add(t.a, dvec_add(t.b, t.c))));
  }
  if (!(fabs(whole) > 1e-300)) {
    return false;
  }
  out->center = dvec_add(start, dvec_scale(1.0 / whole, sum));
  dsym moments = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  out->mass = 0.0;
  for (int i = 0; i < mesh->triangle_count; ++i) {
    corners t = triangle(mesh, i, out->center);
    double v = volume(t, positive);
    out->mass += v;
    moments = dsym_add(moments, second_moments(t, v / 20.0));
  }
  if (out->mass < 0.0) { // inside out
    out->mass = -out->mass;
    moments = dsym_scale(-1.0, moments);
  }
  out->inertia = inertia_of_moments(moments);
  return out->mass > 1e-300;
}

static bool shell_mass(const model_mesh *mesh, model_mass *out)
{
  out->center = surface_centroid(mesh, &out->mass);
  dsym moments = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (int i = 0; i < mesh->triangle_count; ++i) {
    corners t = triangle(mesh, i, out->center);
    moments = dsym_add(moments, second_moments(t, area(t) / 12.0));
  }
  out->inertia = inertia_of_moments(moments);
  return out->mass > 1e-300;
}

static bool hull_mass(const model_mesh *mesh, memory *m, model_mass *out)
{
  tn_vec3 *points = memory_take(m, (size_t)mesh->vertex_count, sizeof *points);
  for (int i = 0; points && i < mesh->vertex_count; ++i) {
    points[i] = vec3_of(vertex(mesh, i));
  }
  tn_mass mass = points ? tn_mass_hull(points, mesh->vertex_count, 1.0f) : (tn_mass){0};
  const tn_sym3 *i = &mass.inertia;
  out->mass = (double)mass.mass;
  out->center = dvec_of((double)mass.center.x, (double)mass.center.y, (double)mass.center.z);
  out->inertia = (dsym){(double)i->xx, (double)i->yy, (double)i->zz,
                        (double)i->xy, (double)i->xz, (double)i->yz};
  return mass.mass > 0.0f;
}

bool mesh_mass(const model_mesh *mesh, model_mesh_inertia how, memory *m, model_mass *out)
{
  memset(out, 0, sizeof *out);
  if (mesh->vertex_count < 4) {
    return false;
  }
  if (how == MODEL_INERTIA_CONVEX || mesh->triangle_count == 0) {
    return hull_mass(mesh, m, out);
  }
  return how == MODEL_INERTIA_SHELL ? shell_mass(mesh, out)
                                    : solid_mass(mesh, how == MODEL_INERTIA_LEGACY, out);
}
