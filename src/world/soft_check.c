// Validation of a soft body's definition; errors name the first invalid element.
#include "base/dvec.h"
#include "kernel/ranges.h"
#include "world/checks.h"
#include "world/soft_make.h"

#include <math.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------------------------
// Lists of vertices

typedef struct check {
  const tn_world *world;
  const tn_soft_def *def;
  uint8_t *used; // by vertex: 1 if an element has it
} check;

static bool wrong(const check *c, const char *what, int index, const char *why)
{
  report(&c->world->log, TN_LOG_ERROR, "tn_soft_create: %s %d %s", what, index, why);
  return false;
}

static bool has_good_vertices(const check *c, const char *what, int index, const int *v, int size)
{
  for (int i = 0; i < size; ++i) {
    if (v[i] < 0 || v[i] >= c->def->vertex_count) {
      return wrong(c, what, index, "names a vertex that is not there");
    }
    for (int k = 0; k < i; ++k) {
      if (v[k] == v[i]) {
        return wrong(c, what, index, "names a vertex twice");
      }
    }
    c->used[v[i]] = 1;
  }
  return true;
}

static bool check_edges(const check *c)
{
  for (int i = 0; i < c->def->edge_count; ++i) {
    const int *v = c->def->edges + 2 * (size_t)i;
    if (!has_good_vertices(c, "edge", i, v, 2)) {
      return false;
    }
    if (!(tn_length(tn_sub(c->def->vertices[v[1]], c->def->vertices[v[0]])) > 0.0f)) {
      return wrong(c, "edge", i, "has no length");
    }
  }
  return true;
}

static bool check_tethers(const check *c)
{
  for (int i = 0; i < c->def->tether_count; ++i) {
    const float *length = c->def->tether_lengths;
    if (!has_good_vertices(c, "tether", i, c->def->tethers + 2 * (size_t)i, 2)) {
      return false;
    }
    if (length && !(length[i] > 0.0f && length[i] <= SOFT_MAX_TETHER)) {
      return wrong(c, "tether", i, "needs a positive and finite length");
    }
  }
  return true;
}

// Clusters may be large: the second bit of `used` marks a cluster's vertices meanwhile, to find
// repeated ones in linear time.
static bool check_clusters(const check *c)
{
  const int *v = c->def->clusters;
  for (int i = 0; i < c->def->cluster_count; ++i) {
    int size = c->def->cluster_sizes[i];
    if (size < SOFT_MIN_CLUSTER_SIZE || size > c->def->vertex_count) {
      return wrong(c, "cluster", i, "needs at least 4 vertices, and each once");
    }
    for (int k = 0; k < size; ++k) {
      if (v[k] < 0 || v[k] >= c->def->vertex_count) {
        return wrong(c, "cluster", i, "names a vertex that is not there");
      }
      if (c->used[v[k]] & 2) {
        return wrong(c, "cluster", i, "names a vertex twice");
      }
      c->used[v[k]] = 3;
    }
    for (int k = 0; k < size; ++k) {
      c->used[v[k]] = 1;
    }
    v += size;
  }
  return true;
}

static bool check_triangles(const check *c)
{
  for (int i = 0; i < c->def->triangle_count; ++i) {
    const int *v = c->def->triangles + 3 * (size_t)i;
    if (!has_good_vertices(c, "triangle", i, v, 3)) {
      return false;
    }
    if (!(soft_triangle_area(c->def->vertices, v) > 0.0)) {
      return wrong(c, "triangle", i, "has no area");
    }
  }
  return true;
}

// A volume so small, relative to the longest edge cubed, that its sign is within rounding.
static bool is_flat(const tn_vec3 *x, const int *v, double volume)
{
  double longest = 0.0;
  for (int i = 0; i < 3; ++i) {
    for (int k = i + 1; k < 4; ++k) {
      longest = fmax(longest, (double)tn_length(tn_sub(x[v[k]], x[v[i]])));
    }
  }
  return fabs(volume) <= SOFT_MIN_TET_VOLUME * longest * longest * longest;
}

static bool check_tetrahedra(const check *c)
{
  for (int i = 0; i < c->def->tetrahedron_count; ++i) {
    const int *v = c->def->tetrahedra + 4 * (size_t)i;
    if (!has_good_vertices(c, "tetrahedron", i, v, 4)) {
      return false;
    }
    double volume = soft_tet_volume(c->def->vertices, v);
    if (is_flat(c->def->vertices, v, volume)) {
      return wrong(c, "tetrahedron", i, "is flat");
    }
    if (volume < 0.0) {
      return wrong(c, "tetrahedron", i, "is inside out: swap two of its vertices");
    }
  }
  return true;
}

static bool check_hexahedra(const check *c)
{
  for (int i = 0; i < c->def->hexahedron_count; ++i) {
    const int *v = c->def->hexahedra + 8 * (size_t)i;
    if (!has_good_vertices(c, "hexahedron", i, v, 8)) {
      return false;
    }
    if (!(soft_hex_volume(c->def->vertices, v) > 0.0)) {
      return wrong(c, "hexahedron", i, "is inside out or has no volume");
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Edges of triangles

static bool same_edge(const half_edge *a, const half_edge *b)
{
  return a->low == b->low && a->high == b->high;
}

// Triangles must form an oriented manifold, with pressure a closed one.
static bool check_surface(const check *c, const half_edge *sides)
{
  int count = 3 * c->def->triangle_count;
  for (int i = 0; i < count;) {
    int n = 1;
    while (i + n < count && same_edge(&sides[i], &sides[i + n])) {
      n += 1;
    }
    if (n > 2) {
      return wrong(c, "triangle", sides[i + 2].triangle, "shares a side with two others already");
    }
    if (n == 2 && sides[i].forward == sides[i + 1].forward) {
      return wrong(c, "triangle", sides[i + 1].triangle, "turns the other way than its neighbour");
    }
    if (n == 1 && c->def->pressure > 0.0f) {
      return wrong(c, "triangle", sides[i].triangle,
                   "has an open side: only closed surfaces hold pressure");
    }
    i += n;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Numbers

static bool is_in(float x, float lo, float hi)
{
  return x >= lo && x <= hi; // false for NaN
}

static const char *why_bad_counts(const tn_soft_def *def)
{
  if (def->vertex_count < 1 || !def->vertices) {
    return "there are no vertices";
  }
  if (def->vertex_count > SOFT_MAX_VERTICES || def->edge_count > SOFT_MAX_ELEMENTS ||
      def->triangle_count > SOFT_MAX_ELEMENTS || def->tetrahedron_count > SOFT_MAX_ELEMENTS ||
      def->hexahedron_count > SOFT_MAX_ELEMENTS || def->tether_count > SOFT_MAX_ELEMENTS) {
    return "there are too many vertices or elements";
  }
  if (def->cluster_count < 0 || def->cluster_count > SOFT_MAX_VERTICES ||
      (def->cluster_count > 0 && (!def->clusters || !def->cluster_sizes))) {
    return "cluster_count is negative or too large, or a list of clusters is null";
  }
  if (def->edge_count < 0 || def->triangle_count < 0 || def->tetrahedron_count < 0 ||
      def->hexahedron_count < 0 || def->tether_count < 0) {
    return "a count is negative";
  }
  if ((def->edge_count > 0 && !def->edges) || (def->triangle_count > 0 && !def->triangles) ||
      (def->tetrahedron_count > 0 && !def->tetrahedra) ||
      (def->hexahedron_count > 0 && !def->hexahedra) || (def->tether_count > 0 && !def->tethers)) {
    return "a list of elements is null";
  }
  return NULL;
}

static const char *why_bad_stiffness(const tn_soft_def *def)
{
  if (!is_in(def->edge_compliance, 0.0f, SOFT_MAX_COMPLIANCE) ||
      !is_in(def->volume_compliance, 0.0f, SOFT_MAX_COMPLIANCE)) {
    return "compliances must be from 0 to 1e12";
  }
  if (!(def->stretch_limit >= 0.0f)) {
    return "stretch_limit must not be negative";
  }
  if (!(def->tear_strain > 0.0f) || !(def->tear_force > 0.0f)) {
    return "tear_strain and tear_force must be positive";
  }
  if ((isfinite(def->tear_strain) || isfinite(def->tear_force)) &&
      (isfinite(def->stretch_limit) || def->tether_count > 0 || def->cluster_count > 0)) {
    return "what tears has neither tethers nor clusters nor a stretch_limit";
  }
  if (!is_in(def->bending_stiffness, 0.0f, SOFT_MAX_BENDING_STIFFNESS)) {
    return "bending_stiffness must be from 0 to 1e12 N m";
  }
  if (def->solid != TN_SOFT_COROTATED && def->solid != TN_SOFT_SHAPE &&
      def->solid != TN_SOFT_VOLUME && def->solid != TN_SOFT_NEO_HOOKEAN) {
    return "unknown material of solids";
  }
  if (!(def->yield_strain >= 0.0f) || !(def->creep >= 0.0f) || !(def->plastic_limit >= 0.0f)) {
    return "yield_strain, creep and plastic_limit must not be negative";
  }
  if (isfinite(def->yield_strain) && def->hexahedron_count == 0 &&
      !(def->solid == TN_SOFT_SHAPE && def->tetrahedron_count > 0)) {
    return "only hexahedra and tetrahedra of TN_SOFT_SHAPE yield, and there are none";
  }
  if (!is_in(def->youngs_modulus, SOFT_MIN_YOUNGS_MODULUS, SOFT_MAX_YOUNGS_MODULUS)) {
    return "youngs_modulus must be from 1e-3 to 1e12 Pa";
  }
  if (!is_in(def->poisson_ratio, 0.0f, SOFT_MAX_POISSON_RATIO)) {
    return "poisson_ratio must be from 0 to 0.49";
  }
  if (!is_in(def->pressure, 0.0f, SOFT_MAX_PRESSURE)) {
    return "pressure must be from 0 to 1000";
  }
  if (def->pressure > 0.0f && def->triangle_count == 0) {
    return "only closed surfaces hold pressure, and there are no triangles";
  }
  return NULL;
}

static const char *why_bad_numbers(const tn_soft_def *def)
{
  if (!is_position(def->position) || !is_rotation(def->rotation) || !is_rate(def->velocity)) {
    return "position, rotation or velocity is not finite or too large, or the rotation no "
           "quaternion";
  }
  if (!def->masses && !(is_in(def->mass, SOFT_MIN_MASS, SOFT_MAX_MASS))) {
    return "mass must be positive and finite";
  }
  if (!is_in(def->stiffness_damping, 0.0f, SOFT_MAX_DAMPING) ||
      !is_in(def->damping, 0.0f, SOFT_MAX_DAMPING) ||
      !is_in(def->linear_damping, 0.0f, SOFT_MAX_DAMPING)) {
    return "damping must be from 0 to 1e6";
  }
  if (!is_in(def->gravity_scale, -SOFT_MAX_GRAVITY_SCALE, SOFT_MAX_GRAVITY_SCALE)) {
    return "gravity_scale must be from -1e6 to 1e6";
  }
  if (!is_in(def->radius, 0.0f, SOFT_MAX_RADIUS)) {
    return "radius must be non-negative and finite";
  }
  return material_error(&def->material);
}

static bool check_vertices(const check *c)
{
  for (int i = 0; i < c->def->vertex_count; ++i) {
    tn_vec3 v = c->def->vertices[i];
    tn_pos at = tn_offset(c->def->position, tn_rotate(c->def->rotation, v));
    if (!is_offset(v) || !is_position(at)) {
      return wrong(c, "vertex", i, "is not finite or too far away");
    }
    if (c->def->masses && !is_in(c->def->masses[i], SOFT_MIN_MASS, SOFT_MAX_MASS)) {
      return wrong(c, "vertex", i, "needs a positive and finite mass");
    }
  }
  return true;
}

// A vertex without an element has no mass unless masses are given.
static bool check_use(const check *c)
{
  const tn_soft_def *def = c->def;
  bool any = def->edge_count + def->triangle_count + def->tetrahedron_count +
                 def->hexahedron_count + def->cluster_count >
             0;
  for (int i = 0; any && !def->masses && i < def->vertex_count; ++i) {
    if (!c->used[i]) {
      return wrong(c, "vertex", i, "belongs to no element");
    }
  }
  return true;
}

bool soft_check(const tn_world *world, const tn_soft_def *def, uint8_t *used, half_edge *sides)
{
  check c = {world, def, used};
  if (!check_vertices(&c) || !check_edges(&c) || !check_tethers(&c) || !check_clusters(&c) ||
      !check_triangles(&c) || !check_tetrahedra(&c) || !check_hexahedra(&c) || !check_use(&c)) {
    return false;
  }
  find_half_edges(def->triangles, def->triangle_count, sides);
  return check_surface(&c, sides);
}

static const char *why_bad_cookie(const tn_soft_def *def)
{
  if (!def) {
    return "the definition is null";
  }
  return def->cookie == DEF_COOKIE ? NULL : "the definition does not come from tn_default_soft_def";
}

const char *soft_settings_problem(const tn_soft_def *def)
{
  const char *why = why_bad_cookie(def);
  why = why ? why : why_bad_numbers(def);
  return why ? why : why_bad_stiffness(def);
}

const char *soft_def_problem(const tn_soft_def *def)
{
  const char *why = why_bad_cookie(def);
  why = why ? why : why_bad_counts(def);
  return why ? why : soft_settings_problem(def);
}
