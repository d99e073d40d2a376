// Builds a soft body from a checked definition: memory, masses, constraints of all types, ropes.
#include "world/soft_make.h"

#include "data/soft_elements.h"
#include "solver/soft/soft_steps.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Numbers of elements

static bool is_interior_edge(const half_edge *sides, int i, int count)
{
  return i + 1 < count && sides[i].low == sides[i + 1].low && sides[i].high == sides[i + 1].high;
}

static int count_interior_edges(const tn_soft_def *def, const half_edge *sides)
{
  int count = 3 * def->triangle_count, interior_edges = 0;
  for (int i = 0; i < count; ++i) {
    interior_edges += is_interior_edge(sides, i, count);
  }
  return interior_edges;
}

// Rigid edges need no limit.
static bool has_stretch_limits(const tn_soft_def *def)
{
  return isfinite(def->stretch_limit) && def->edge_compliance > 0.0f;
}

void soft_count_elements(soft *s, const tn_soft_def *def, const half_edge *sides)
{
  s->yield_strain = def->yield_strain;
  s->particle_count = def->vertex_count;
  s->triangle_count = def->triangle_count;
  s->closed =
      def->triangle_count > 0 && 2 * count_interior_edges(def, sides) == 3 * def->triangle_count;
  s->cluster_count = def->cluster_count;
  for (int i = 0; i < def->cluster_count; ++i) {
    s->part_count += def->cluster_sizes[i];
  }
  s->list[SOFT_EDGE].count = def->edge_count;
  s->list[SOFT_TETHER].count = def->tether_count + (has_stretch_limits(def) ? def->edge_count : 0);
  if (def->bending_stiffness > 0.0f) {
    s->list[def->curved_rest ? SOFT_DIHEDRAL : SOFT_BEND].count = count_interior_edges(def, sides);
  }
  int tets = def->tetrahedron_count;
  s->list[SOFT_COROTATED].count = def->solid == TN_SOFT_COROTATED ? tets : 0;
  s->list[SOFT_NEO_HOOKEAN].count = def->solid == TN_SOFT_NEO_HOOKEAN ? tets : 0;
  bool has_volume = def->solid == TN_SOFT_VOLUME || def->solid == TN_SOFT_SHAPE;
  s->list[SOFT_VOLUME].count = has_volume ? tets : 0;
  s->list[SOFT_SHAPE_MATCH].count =
      def->hexahedron_count + (def->solid == TN_SOFT_SHAPE ? tets : 0);
}

// ---------------------------------------------------------------------------------------------
// Mass

// Adds the size of each element, in equal parts, to the mass field of its particles; returns the
// total. Solids count if there are any, else triangles, else edges.
static double add_element_sizes(soft *s, const tn_soft_def *def)
{
  const tn_vec3 *x = def->vertices;
  bool solid = def->tetrahedron_count + def->hexahedron_count > 0;
  double total = 0.0;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    s->particles[i].mass = 0.0f;
  }
  for (int kind = 0; kind < 4; ++kind) {
    const int *lists[4] = {def->tetrahedra, def->hexahedra, def->triangles, def->edges};
    const int counts[4] = {def->tetrahedron_count, def->hexahedron_count,
                           solid ? 0 : def->triangle_count,
                           solid || def->triangle_count > 0 ? 0 : def->edge_count};
    const int sizes[4] = {4, 8, 3, 2};
    for (int i = 0; i < counts[kind]; ++i) {
      const int *v = lists[kind] + (size_t)sizes[kind] * (size_t)i;
      double amount = kind == 0   ? soft_tet_volume(x, v)
                      : kind == 1 ? soft_hex_volume(x, v)
                      : kind == 2 ? soft_triangle_area(x, v)
                                  : (double)tn_length(tn_sub(x[v[1]], x[v[0]]));
      total += amount;
      for (int k = 0; k < sizes[kind]; ++k) {
        s->particles[v[k]].mass += (float)(amount / sizes[kind]);
      }
    }
  }
  return total;
}

// Distributes the total mass by element size. A vertex outside the elements that count, for example
// of a single edge on a solid, gets the mean.
static void set_masses(soft *s, const tn_soft_def *def)
{
  if (def->masses) {
    for (int32_t i = 0; i < s->particle_count; ++i) {
      s->particles[i].mass = def->masses[i];
    }
    return;
  }
  double total = add_element_sizes(s, def), sum = 0.0;
  double mean = total > 0.0 ? total / s->particle_count : 1.0;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    float *m = &s->particles[i].mass;
    *m = *m > 0.0f ? *m : (float)mean;
    sum += (double)*m;
  }
  for (int32_t i = 0; i < s->particle_count; ++i) {
    s->particles[i].mass = (float)((double)s->particles[i].mass * ((double)def->mass / sum));
  }
}

// ---------------------------------------------------------------------------------------------
// Constraints

static void put(soft *s, soft_type type, int32_t index, const int *members, const void *params)
{
  soft_layout l = soft_layout_of(type);
  soft_row_list *list = &s->list[type];
  for (int i = 0; i < l.particles; ++i) {
    list->members[(size_t)index * (size_t)l.particles + (size_t)i] = members[i];
  }
  float *fields = list->fields + (size_t)index * (size_t)(l.params + l.state);
  memcpy(fields, params, (size_t)l.params * sizeof(float));
  memset(fields + l.params, 0, (size_t)l.state * sizeof(float));
}

static float rest_length(const tn_soft_def *def, const int *v)
{
  return tn_length(tn_sub(def->vertices[v[1]], def->vertices[v[0]]));
}

static void put_edge(soft *s, const tn_soft_def *def, int32_t index, const int *v)
{
  EdgeParams params = {rest_length(def, v), def->edge_compliance, def->stiffness_damping};
  put(s, SOFT_EDGE, index, v, &params);
}

// Tethers of the definition first, then the stretch limits of edges.
static void put_tethers(soft *s, const tn_soft_def *def)
{
  for (int i = 0; i < def->tether_count; ++i) {
    const int *v = def->tethers + 2 * (size_t)i;
    TetherParams params = {def->tether_lengths ? def->tether_lengths[i] : rest_length(def, v)};
    put(s, SOFT_TETHER, i, v, &params);
  }
  for (int i = 0; i < def->edge_count && has_stretch_limits(def); ++i) {
    const int *v = def->edges + 2 * (size_t)i;
    TetherParams params = {rest_length(def, v) * (1.0f + def->stretch_limit)};
    put(s, SOFT_TETHER, def->tether_count + i, v, &params);
  }
}

// Cotangent of the angle at vertex a between b and c.
static double cotangent(const tn_vec3 *x, int a, int b, int c)
{
  tn_vec3 u = tn_sub(x[b], x[a]), v = tn_sub(x[c], x[a]);
  return (double)tn_dot(u, v) / (double)tn_length(tn_cross(u, v));
}

// Bending of a discrete plate with flexural rigidity B.
//   flat rest    C = |sum k_i x_i|, k: cotangent weights     compliance (A1 + A2) / B
//   curved rest  C = angle - rest                            compliance (A1 + A2) / (B e^2)
// The flat row is that of Bergou et al. 2006, A quadratic bending model for inextensible surfaces.
// The scale is the energy B e^2 / (A1 + A2) angle^2 / 2 of Seung and Nelson 1988, which is exact
// for grids of squares and of equilateral triangles. e: length of the edge, A: areas of its
// triangles.
static void put_bending(soft *s, const tn_soft_def *def, int32_t index, const half_edge *sides)
{
  const tn_vec3 *x = def->vertices;
  const half_edge *a = sides[0].forward ? &sides[0] : &sides[1];
  const half_edge *b = sides[0].forward ? &sides[1] : &sides[0];
  int v[4] = {a->low, a->high, a->opposite, b->opposite};
  double area = soft_triangle_area(x, def->triangles + 3 * (size_t)a->triangle) +
                soft_triangle_area(x, def->triangles + 3 * (size_t)b->triangle);
  double compliance = area / (double)def->bending_stiffness;
  if (!def->curved_rest) {
    double c01 = cotangent(x, v[0], v[1], v[2]), c02 = cotangent(x, v[0], v[1], v[3]);
    double c03 = cotangent(x, v[1], v[0], v[2]), c04 = cotangent(x, v[1], v[0], v[3]);
    BendParams params = {
        {(float)(c03 + c04), (float)(c01 + c02), (float)(-c01 - c03), (float)(-c02 - c04)},
        (float)compliance,
        def->stiffness_damping};
    put(s, SOFT_BEND, index, v, &params);
    return;
  }
  V d[3], g[4];
  for (int i = 0; i < 3; ++i) {
    tn_vec3 off = tn_sub(x[v[i + 1]], x[v[0]]);
    d[i] = v_make(off.x, off.y, off.z);
  }
  double square = (double)v_dot(d[0], d[0]);
  DihedralParams params = {dihedral_angle(d, g), (float)(compliance / square),
                           def->stiffness_damping};
  put(s, SOFT_DIHEDRAL, index, v, &params);
}

static void put_all_bending(soft *s, const tn_soft_def *def, const half_edge *sides)
{
  int count = 3 * def->triangle_count, next = 0;
  for (int i = 0; i < count && def->bending_stiffness > 0.0f; ++i) {
    if (is_interior_edge(sides, i, count)) {
      put_bending(s, def, next++, &sides[i]);
    }
  }
}

// Rows b of the inverse of the matrix with columns x1 - x0, x2 - x0, x3 - x0.
static void invert_rest(const tn_vec3 *x, const int *v, double volume, V *b)
{
  double c[3][3];
  for (int i = 0; i < 3; ++i) {
    const tn_vec3 *p = &x[v[i + 1]], *o = &x[v[0]];
    c[i][0] = (double)p->x - (double)o->x;
    c[i][1] = (double)p->y - (double)o->y;
    c[i][2] = (double)p->z - (double)o->z;
  }
  double inv = 1.0 / (6.0 * volume);
  for (int i = 0; i < 3; ++i) {
    const double *p = c[(i + 1) % 3], *q = c[(i + 2) % 3];
    b[i] = v_make((float)(inv * (p[1] * q[2] - p[2] * q[1])),
                  (float)(inv * (p[2] * q[0] - p[0] * q[2])),
                  (float)(inv * (p[0] * q[1] - p[1] * q[0])));
  }
}

// Lame constants: mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu)).
static void lame_of(const tn_soft_def *def, double *mu, double *lambda)
{
  double e = (double)def->youngs_modulus, nu = (double)def->poisson_ratio;
  *mu = e / (2.0 * (1.0 + nu));
  *lambda = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
}

static void put_corotated(soft *s, const tn_soft_def *def, int32_t index, const int *v)
{
  double volume = soft_tet_volume(def->vertices, v), mu, lambda;
  lame_of(def, &mu, &lambda);
  CorotatedParams params;
  invert_rest(def->vertices, v, volume, params.b);
  params.shear = (float)(1.0 / (2.0 * mu * volume));
  params.bulk = lambda > 0.0 ? (float)(1.0 / (lambda * volume)) : SOFT_ROW_OFF;
  params.damping = def->stiffness_damping;
  put(s, SOFT_COROTATED, index, v, &params);
}

// lambda' = lambda + mu: small strains then follow linear elasticity with mu and lambda.
static void put_neo_hookean(soft *s, const tn_soft_def *def, int32_t index, const int *v)
{
  double volume = soft_tet_volume(def->vertices, v), mu, lambda;
  lame_of(def, &mu, &lambda);
  lambda += mu;
  NeoHookeanParams params;
  invert_rest(def->vertices, v, volume, params.b);
  params.shear = (float)(1.0 / (mu * volume));
  params.bulk = (float)(1.0 / (lambda * volume));
  params.rest = (float)(1.0 + mu / lambda);
  params.damping = def->stiffness_damping;
  put(s, SOFT_NEO_HOOKEAN, index, v, &params);
}

// omega^2 = 3 E V / sum m q^2: a strain e along one axis has the energy E V e^2 / 2 on average over
// the axes.
static void put_shape_match(soft *s, const tn_soft_def *def, int32_t index, const int *v, int size)
{
  ShapeMatchParams params;
  memset(&params, 0, sizeof params);
  int members[SHAPE_MATCH_PARTICLES];
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    members[i] = i < size ? v[i] : NO_SLOT;
  }
  set_shape_match_rest(s, members, NULL, &params);
  double volume = size == 8 ? soft_hex_volume(def->vertices, v) : soft_tet_volume(def->vertices, v);
  params.omega_squared =
      (float)(3.0 * (double)def->youngs_modulus * volume / element_second_moment(&params));
  params.damping = def->stiffness_damping;
  put(s, SOFT_SHAPE_MATCH, index, members, &params);
  for (int i = 0; i < 9 && s->plastic; ++i) {
    s->plastic[9 * (size_t)index + (size_t)i] = i % 4 == 0 ? 1.0f : 0.0f;
  }
}

static void put_solids(soft *s, const tn_soft_def *def)
{
  for (int i = 0; i < def->hexahedron_count; ++i) {
    put_shape_match(s, def, i, def->hexahedra + 8 * (size_t)i, 8);
  }
  for (int i = 0; i < def->tetrahedron_count; ++i) {
    const int *v = def->tetrahedra + 4 * (size_t)i;
    float size = (float)soft_tet_volume(def->vertices, v);
    VolumeParams volume = {size, def->volume_compliance, def->stiffness_damping, 0.0f};
    switch (def->solid) {
    case TN_SOFT_COROTATED:
      put_corotated(s, def, i, v);
      break;
    case TN_SOFT_NEO_HOOKEAN:
      put_neo_hookean(s, def, i, v);
      break;
    case TN_SOFT_SHAPE:
      // Inverted neighbours would hold each other in that state: a one-sided volume row turns them
      // right side out. Its stiffness is Young's modulus: compliance V / E.
      volume = (VolumeParams){TUNING_SHAPE_MATCH_MIN_VOLUME * size, size / def->youngs_modulus,
                              0.0f, 1.0f};
      put_shape_match(s, def, def->hexahedron_count + i, v, 4);
      put(s, SOFT_VOLUME, i, v, &volume);
      break;
    default:
      put(s, SOFT_VOLUME, i, v, &volume);
      break;
    }
  }
}

// Upper bound of omega^2, 1/s^2, of Neo-Hookean elements: that of each element alone with its share
// of its particles' masses, mu V sum |b_k|^2 / m_k. The volumes around each particle are kept in
// its force.x meanwhile.
static float max_frequency_squared_of(soft *s, const tn_soft_def *def)
{
  double mu, lambda, most = 0.0;
  lame_of(def, &mu, &lambda);
  for (int i = 0; i < 4 * def->tetrahedron_count; ++i) {
    const int *v = def->tetrahedra + (size_t)i / 4 * 4;
    s->particles[v[i % 4]].force.x += (float)soft_tet_volume(def->vertices, v);
  }
  for (int i = 0; i < def->tetrahedron_count; ++i) {
    const int *v = def->tetrahedra + 4 * (size_t)i;
    double size = soft_tet_volume(def->vertices, v), sum = 0.0;
    V b[4];
    invert_rest(def->vertices, v, size, b + 1);
    b[0] = v_add(b[1], v_add(b[2], b[3]));
    for (int k = 0; k < 4; ++k) {
      double mass = (double)s->particles[v[k]].mass * size / (double)s->particles[v[k]].force.x;
      sum += (double)v_dot(b[k], b[k]) / mass;
    }
    most = fmax(most, mu * size * sum);
  }
  for (int32_t i = 0; i < s->particle_count; ++i) {
    s->particles[i].force.x = 0.0f;
  }
  return (float)most;
}

// ---------------------------------------------------------------------------------------------
// Ropes: edges that form open chains are stored in chain order, for the direct solve

// Edges of a vertex, at most two.
typedef struct vertex_edges {
  int edge[2], count;
} vertex_edges;

static int other_end(const tn_soft_def *def, int edge, int vertex)
{
  const int *v = def->edges + 2 * (size_t)edge;
  return v[0] == vertex ? v[1] : v[0];
}

// Stores the edges of a chain from one end to the other; returns the next index.
static int32_t put_chain(soft *s, const tn_soft_def *def, const vertex_edges *at, int vertex,
                         int32_t next, uint8_t *done)
{
  for (;;) {
    int edge = NO_SLOT;
    for (int i = 0; i < at[vertex].count; ++i) {
      edge = done[at[vertex].edge[i]] ? edge : at[vertex].edge[i];
    }
    if (edge == NO_SLOT) {
      return next;
    }
    int v[2] = {vertex, other_end(def, edge, vertex)};
    done[edge] = 1;
    put_edge(s, def, next++, v);
    vertex = v[1];
  }
}

// False if the edges do not form open chains. The particle array, not yet filled, is the scratch
// memory.
static bool put_rope(soft *s, const tn_soft_def *def)
{
  if (def->triangle_count + def->tetrahedron_count + def->hexahedron_count > 0 ||
      def->edge_count == 0 || def->edge_count >= def->vertex_count) {
    return false;
  }
  static_assert(sizeof(soft_particle) >= sizeof(vertex_edges) + sizeof(uint8_t), "no room");
  vertex_edges *at = (vertex_edges *)s->particles;
  uint8_t *done = (uint8_t *)(at + def->vertex_count);
  memset(s->particles, 0, (size_t)s->particle_count * sizeof(soft_particle));
  for (int i = 0; i < 2 * def->edge_count; ++i) {
    vertex_edges *j = &at[def->edges[i]];
    if (j->count == 2) {
      return false;
    }
    j->edge[j->count++] = i / 2;
  }
  int32_t next = 0;
  for (int i = 0; i < def->vertex_count; ++i) {
    if (at[i].count == 1) {
      next = put_chain(s, def, at, i, next, done);
    }
  }
  return next == def->edge_count; // fewer: there is a closed ring
}

// The initial rotation of elements and clusters is that of the body.
static void set_element_rotations(soft *s, dquat q)
{
  tn_quat turn = dquat_round(q);
  soft_reset_clusters(s, turn);
  for (int type = SOFT_COROTATED; type <= SOFT_SHAPE_MATCH; ++type) {
    soft_layout l = soft_layout_of((soft_type)type);
    for (int32_t i = 0; i < s->list[type].count; ++i) {
      float *fields = s->list[type].fields + (size_t)i * (size_t)(l.params + l.state);
      memcpy(fields + l.params, &turn, sizeof turn);
    }
  }
}

void soft_init_elements(soft *s, const tn_soft_def *def, const half_edge *sides)
{
  s->chained = RULE(soft_rope_direct) && put_rope(s, def);
  memset(s->particles, 0, (size_t)s->particle_count * sizeof(soft_particle));
  set_masses(s, def);
  for (int32_t i = 0; i < s->particle_count; ++i) {
    s->particles[i].rest = def->vertices[i];
  }
  for (int i = 0; i < def->edge_count && !s->chained; ++i) {
    put_edge(s, def, i, def->edges + 2 * (size_t)i);
  }
  put_tethers(s, def);
  put_all_bending(s, def, sides);
  put_solids(s, def);
  soft_init_clusters(s, def);
  if (s->list[SOFT_NEO_HOOKEAN].count > 0) {
    s->max_frequency_squared = max_frequency_squared_of(s, def);
  }
  for (int i = 0; i < 3 * def->triangle_count; ++i) {
    s->triangles[i] = def->triangles[i];
  }
  dquat q = dquat_normalize(dquat_from(def->rotation));
  for (int32_t i = 0; i < s->particle_count; ++i) {
    const tn_vec3 *x = &def->vertices[i];
    tn_pos local = tn_p3((double)x->x, (double)x->y, (double)x->z);
    s->particles[i].at = pos_add(def->position, dquat_rotate(q, local));
    s->particles[i].v = def->velocity;
  }
  set_element_rotations(s, q);
}
