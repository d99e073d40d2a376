// Plasticity of shape match elements, after Mueller et al. 2005, Meshless deformations based on
// shape matching: strain beyond the yield strain moves into the rest shape.
//
//   F = (sum m r q^T) (sum m q q^T)^-1,   F = R S
//   e = dev(S - 1),   |e| = sqrt(2/3 e : e)
//   if |e| > yield:  P <- (1 + share (1 - yield / |e|) e) P,   share = 1 - exp(-creep dt)
//
// P maps the rest shape of the definition to the present one. Only the deviatoric strain flows and
// det P stays 1, so the volume is kept. P - 1 is limited to plastic_limit.
#include "data/soft_elements.h"
#include "solver/soft/soft_steps.h"

#include <math.h>
#include <string.h>

typedef double mat3[3][3]; // by rows

static void mat_multiply(mat3 a, mat3 b, mat3 out)
{
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      out[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
    }
  }
}

static double determinant(mat3 m)
{
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) +
         m[0][1] * (m[1][2] * m[2][0] - m[1][0] * m[2][2]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// False for a matrix that is singular relative to its trace cubed: a flat element.
static bool mat_invert(mat3 m, mat3 out)
{
  double d = determinant(m), size = m[0][0] + m[1][1] + m[2][2];
  if (!(fabs(d) > TUNING_PLASTIC_MIN_DETERMINANT * size * size * size)) {
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3, p = (i + 1) % 3, q = (i + 2) % 3;
      out[i][k] = (m[a][p] * m[b][q] - m[a][q] * m[b][p]) / d;
    }
  }
  return true;
}

static double cube_root(double x)
{
  double y = 1.0;
  for (int i = 0; i < TUNING_CUBE_ROOT_ITERATIONS; ++i) { // Newton's method; x is close to 1
    y = (2.0 * y + x / (y * y)) / 3.0;
  }
  return y;
}

// Von Mises norm sqrt(2/3 e : e): a volume-preserving stretch along one axis counts as its strain.
static double equivalent_strain(mat3 e)
{
  double sum = 0.0;
  for (int i = 0; i < 9; ++i) {
    sum += e[i / 3][i % 3] * e[i / 3][i % 3];
  }
  return sqrt(2.0 / 3.0 * sum);
}

// Deviatoric part of the symmetrized strain R^T F - 1, in the element's frame; false for a flat
// element.
static bool deviatoric_strain(const soft *s, const int32_t *v, const ShapeMatchParams *params,
                              Q rotation, mat3 out)
{
  tn_pos center = {0}, origin = s->particles[v[0]].at;
  double mass = 0.0;
  mat3 fit = {{0}}, spread = {{0}}, inverse, stretch, back, strain;
  for (int i = 0; i < SHAPE_MATCH_PARTICLES && v[i] != NO_SLOT; ++i) {
    double m = (double)params->mass[i];
    tn_pos x = pos_sub(s->particles[v[i]].at, origin);
    center = tn_p3(center.x + m * x.x, center.y + m * x.y, center.z + m * x.z);
    mass += m;
  }
  for (int i = 0; i < SHAPE_MATCH_PARTICLES && v[i] != NO_SLOT; ++i) {
    double m = (double)params->mass[i];
    tn_pos x = pos_sub(s->particles[v[i]].at, origin);
    double r[3] = {x.x - center.x / mass, x.y - center.y / mass, x.z - center.z / mass};
    double q[3] = {(double)params->rest[i].x, (double)params->rest[i].y, (double)params->rest[i].z};
    for (int k = 0; k < 9; ++k) {
      fit[k / 3][k % 3] += m * r[k / 3] * q[k % 3];
      spread[k / 3][k % 3] += m * q[k / 3] * q[k % 3];
    }
  }
  if (!mat_invert(spread, inverse)) {
    return false;
  }
  V columns[3];
  for (int k = 0; k < 3; ++k) {
    columns[k] = v_make((float)fit[0][k], (float)fit[1][k], (float)fit[2][k]);
  }
  for (int i = 0; i < TUNING_PLASTIC_ROTATION_ITERATIONS; ++i) {
    rotation = refine_rotation(rotation, columns);
  }
  V axes[3] = {q_axis_x(rotation), q_axis_y(rotation), q_axis_z(rotation)};
  for (int k = 0; k < 3; ++k) {
    back[k][0] = (double)axes[k].x;
    back[k][1] = (double)axes[k].y;
    back[k][2] = (double)axes[k].z;
  }
  mat_multiply(fit, inverse, stretch);
  mat_multiply(back, stretch, strain);
  double mean = (strain[0][0] + strain[1][1] + strain[2][2]) / 3.0;
  for (int k = 0; k < 9; ++k) {
    int i = k / 3, j = k % 3;
    out[i][j] = 0.5 * (strain[i][j] + strain[j][i]) - (i == j ? mean : 0.0);
  }
  return true;
}

// P <- (1 + share e) P, scaled to determinant 1, then P - 1 scaled back to the plastic limit.
static void plastic_flow(const soft *s, mat3 e, double share, float *plastic)
{
  mat3 step, before, p;
  for (int i = 0; i < 9; ++i) {
    step[i / 3][i % 3] = share * e[i / 3][i % 3] + (i % 4 == 0 ? 1.0 : 0.0);
    before[i / 3][i % 3] = (double)plastic[i];
  }
  mat_multiply(step, before, p);
  double scale = 1.0 / cube_root(determinant(p));
  for (int i = 0; i < 9; ++i) {
    p[i / 3][i % 3] = scale * p[i / 3][i % 3] - (i % 4 == 0 ? 1.0 : 0.0);
  }
  double off = equivalent_strain(p), limit = (double)s->plastic_limit;
  for (int i = 0; i < 9; ++i) {
    double kept = off > limit ? limit / off : 1.0;
    plastic[i] = (float)(kept * p[i / 3][i % 3] + (i % 4 == 0 ? 1.0 : 0.0));
  }
}

// True if the rest shape has changed.
static bool yield_element(soft *s, int32_t index, Q rotation, float dt)
{
  const int32_t *v = s->list[SOFT_SHAPE_MATCH].members + SHAPE_MATCH_PARTICLES * (size_t)index;
  mat3 e;
  if (!deviatoric_strain(s, v, soft_shape_match_params(s, index), rotation, e)) {
    return false;
  }
  double size = equivalent_strain(e), yield = (double)s->yield_strain;
  if (!(size > yield)) {
    return false;
  }
  double share = isfinite(s->creep) ? 1.0 - (double)tn_exp(-s->creep * dt) : 1.0;
  plastic_flow(s, e, share * (1.0 - yield / size), s->plastic + 9 * (size_t)index);
  soft_refit_shape_match(s, index);
  return true;
}

void soft_apply_plasticity(const soft_system *system, float dt)
{
  soft_graph *g = system->graph;
  soft_layout l = soft_layout_of(SOFT_SHAPE_MATCH);
  soft_rows *rows = &g->data.rows[SOFT_SHAPE_MATCH];
  for (int32_t at = 0; at < rows->block_count * BLOCK_WIDTH; ++at) {
    soft_source from = g->sources[SOFT_SHAPE_MATCH][at];
    if (from.soft == NO_SLOT || !isfinite(system->softs[from.soft].yield_strain)) {
      continue;
    }
    soft *s = &system->softs[from.soft];
    float(*params)[BLOCK_WIDTH] =
        rows->row + (size_t)(at / BLOCK_WIDTH) * (size_t)soft_block_rows(SOFT_SHAPE_MATCH) +
        l.particles;
    Q rotation;
    get_lane(params + l.params, at % BLOCK_WIDTH, &rotation, FIELDS(Q));
    if (yield_element(s, from.index, rotation, dt)) {
      const ShapeMatchParams *cell = soft_shape_match_params(s, from.index);
      set_lane(params, at % BLOCK_WIDTH, cell->rest, SHAPE_MATCH_PARTICLES * FIELDS(V));
      params[offsetof(ShapeMatchParams, omega_squared) / sizeof(R)][at % BLOCK_WIDTH] =
          cell->omega_squared;
    }
  }
}
