// Skinning: a fine surface follows a coarse soft body. Each of its vertices is bound to a
// tetrahedron by barycentric weights, or to a triangle by weights and a height along its normal.
#include "base/dvec.h"
#include "collide/distance.h"
#include "data/ids.h"
#include "kernel/ranges.h"
#include "world/soft_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct binding {
  int v[4];       // particles; v[3] = -1: a triangle
  float w[4];     // weights; of a triangle w[3] is the height, m
  double quality; // larger is better: the least weight, or minus the distance
} binding;

// Barycentric weights from volume ratios. Quality is the least weight: not negative if p is inside.
static void try_tet(const tn_vec3 *x, const int *v, tn_vec3 p, binding *best)
{
  tn_pos a = vec3_between(x[v[0]], x[v[1]]), b = vec3_between(x[v[0]], x[v[2]]),
         c = vec3_between(x[v[0]], x[v[3]]);
  tn_pos d = vec3_between(x[v[0]], p);
  double volume = pos_dot(a, pos_cross(b, c));
  if (!(fabs(volume) > 0.0)) {
    return;
  }
  double w1 = pos_dot(d, pos_cross(b, c)) / volume, w2 = pos_dot(a, pos_cross(d, c)) / volume;
  double w3 = pos_dot(a, pos_cross(b, d)) / volume, w0 = 1.0 - w1 - w2 - w3;
  double least = fmin(fmin(w0, w1), fmin(w2, w3));
  if (least > best->quality) {
    binding found = {{v[0], v[1], v[2], v[3]}, {(float)w0, (float)w1, (float)w2, (float)w3}, least};
    *best = found;
  }
}

// Six tetrahedra around the diagonal from corner 0 to corner 6.
static void try_hex(const tn_vec3 *x, const int *v, tn_vec3 p, binding *best)
{
  static const int ring[6] = {1, 2, 3, 7, 4, 5};
  for (int i = 0; i < 6; ++i) {
    int t[4] = {v[0], v[ring[i]], v[ring[(i + 1) % 6]], v[6]};
    try_tet(x, t, p, best);
  }
}

// Quality is minus the distance: the nearest triangle wins.
static void try_triangle(const tn_vec3 *x, const int *v, tn_vec3 p, binding *best)
{
  geometry g = {.kind = GEOMETRY_TRIANGLE};
  for (int k = 0; k < 3; ++k) {
    g.corner[k] = tn_sub(x[v[k]], p);
  }
  closest c;
  if (!geometry_closest(&g, tn_v3(0.0f, 0.0f, 0.0f), INFINITY, &c) ||
      !(-(double)fabsf(c.distance) > best->quality)) {
    return;
  }
  tn_pos a = vec3_between(x[v[0]], x[v[1]]), b = vec3_between(x[v[0]], x[v[2]]),
         d = vec3_between(x[v[0]], p);
  tn_pos n = pos_cross(a, b);
  double square = pos_dot(n, n);
  if (!(square > 0.0)) {
    return;
  }
  double w1 = pos_dot(pos_cross(d, b), n) / square, w2 = pos_dot(pos_cross(a, d), n) / square;
  binding found = {
      {v[0], v[1], v[2], -1},
      {(float)(1.0 - w1 - w2), (float)w1, (float)w2, (float)(pos_dot(d, n) / sqrt(square))},
      -(double)fabsf(c.distance)};
  *best = found;
}

// Solids: the first element that contains p, else the one with the largest least weight.
static binding bind(const tn_soft_def *def, tn_vec3 p)
{
  binding best = {{-1, -1, -1, -1}, {0.0f}, -1e30};
  const tn_vec3 *x = def->vertices;
  for (int i = 0; i < def->tetrahedron_count && best.quality < 0.0; ++i) {
    try_tet(x, def->tetrahedra + 4 * (size_t)i, p, &best);
  }
  for (int i = 0; i < def->hexahedron_count && best.quality < 0.0; ++i) {
    try_hex(x, def->hexahedra + 8 * (size_t)i, p, &best);
  }
  bool solid = def->tetrahedron_count > 0 || def->hexahedron_count > 0;
  for (int i = 0; i < def->triangle_count && !solid; ++i) {
    try_triangle(x, def->triangles + 3 * (size_t)i, p, &best);
  }
  return best;
}

// ---------------------------------------------------------------------------------------------

static bool is_good_def(const tn_soft_def *def)
{
  return def && def->vertices && def->vertex_count > 0 &&
         (def->tetrahedron_count > 0 || def->hexahedron_count > 0 || def->triangle_count > 0) &&
         mesh_are_indices(def->tetrahedra, 4 * (int64_t)def->tetrahedron_count,
                          def->vertex_count) &&
         mesh_are_indices(def->hexahedra, 8 * (int64_t)def->hexahedron_count, def->vertex_count) &&
         mesh_are_indices(def->triangles, 3 * (int64_t)def->triangle_count, def->vertex_count);
}

void tn_soft_skin_free(tn_soft_skin *skin)
{
  if (skin) {
    free(skin->particles);
    free(skin->weights);
    free(skin->triangles);
    memset(skin, 0, sizeof *skin);
  }
}

bool tn_soft_skin_bind(tn_soft_skin *skin, const tn_soft_def *def, const tn_vec3 *vertices,
                       int vertex_count, const int *triangles, int triangle_count)
{
  if (!skin || !is_good_def(def) || !vertices || vertex_count < 1 ||
      vertex_count > SOFT_MAX_VERTICES || triangle_count > SOFT_MAX_VERTICES ||
      !mesh_are_indices(triangles, 3 * (int64_t)triangle_count, vertex_count)) {
    return false;
  }
  tn_soft_skin made = {vertex_count, triangle_count, NULL, NULL, NULL};
  made.particles = malloc(4 * (size_t)vertex_count * sizeof(int));
  made.weights = malloc(4 * (size_t)vertex_count * sizeof(float));
  made.triangles = malloc((3 * (size_t)triangle_count + 1) * sizeof(int));
  bool ok = made.particles && made.weights && made.triangles;
  for (int i = 0; ok && i < vertex_count; ++i) {
    binding b = is_finite3(vertices[i]) ? bind(def, vertices[i]) : (binding){.v = {-1}};
    ok = b.v[0] >= 0;
    memcpy(made.particles + 4 * (size_t)i, b.v, sizeof b.v);
    memcpy(made.weights + 4 * (size_t)i, b.w, sizeof b.w);
  }
  if (!ok) {
    tn_soft_skin_free(&made);
    return false;
  }
  for (int i = 0; i < 3 * triangle_count; ++i) {
    made.triangles[i] = triangles[i];
  }
  *skin = made;
  return true;
}

// ---------------------------------------------------------------------------------------------

// Sums offsets from the first particle, so that rounding is relative to the element's size.
static tn_pos skin_point(const soft *s, const int *v, const float *w)
{
  tn_pos origin = s->particles[v[0]].at, sum = {0.0, 0.0, 0.0}, d[3];
  for (int k = 0; k < 3; ++k) {
    d[k] = v[k + 1] < 0 ? sum : pos_sub(s->particles[v[k + 1]].at, origin);
  }
  if (v[3] < 0) {
    tn_pos n = pos_cross(d[0], d[1]);
    double length = sqrt(pos_dot(n, n));
    double scale = length > 0.0 ? 1.0 / length : 0.0;
    d[2] = tn_p3(scale * n.x, scale * n.y, scale * n.z);
  }
  for (int k = 0; k < 3; ++k) {
    double share = (double)w[k + 1];
    sum = tn_p3(sum.x + share * d[k].x, sum.y + share * d[k].y, sum.z + share * d[k].z);
  }
  return pos_add(origin, sum);
}

// Vertex normals, weighted by the areas of the triangles.
static void add_normals(const tn_soft_skin *skin, const tn_pos *at, tn_vec3 *normals)
{
  for (int i = 0; i < skin->vertex_count; ++i) {
    normals[i] = tn_v3(0.0f, 0.0f, 0.0f);
  }
  for (int i = 0; i < skin->triangle_count; ++i) {
    const int *v = skin->triangles + 3 * (size_t)i;
    tn_vec3 n =
        tn_cross(tn_between_points(at[v[0]], at[v[1]]), tn_between_points(at[v[0]], at[v[2]]));
    for (int k = 0; k < 3; ++k) {
      normals[v[k]] = tn_add(normals[v[k]], n);
    }
  }
  for (int i = 0; i < skin->vertex_count; ++i) {
    float length = tn_length(normals[i]);
    normals[i] = tn_scale(length > 0.0f ? 1.0f / length : 0.0f, normals[i]);
  }
}

bool tn_soft_skin_read(const tn_world *world, tn_soft_id id, const tn_soft_skin *skin,
                       tn_pos *positions, tn_vec3 *normals)
{
  const char *caller = "tn_soft_skin_read";
  const soft *s = soft_find(world, id, caller);
  if (!s) {
    return false;
  }
  bool good = skin && skin->particles && skin->weights && positions;
  for (int i = 0; good && i < 4 * skin->vertex_count; ++i) {
    good = skin->particles[i] < s->particle_count && (skin->particles[i] >= 0 || i % 4 == 3);
  }
  if (!good) {
    report(&world->log, TN_LOG_ERROR,
           "%s: there are no positions to write, or the skin is not of this body", caller);
    return false;
  }
  for (int i = 0; i < skin->vertex_count; ++i) {
    positions[i] = skin_point(s, skin->particles + 4 * (size_t)i, skin->weights + 4 * (size_t)i);
  }
  if (normals) {
    add_normals(skin, positions, normals);
  }
  return true;
}
