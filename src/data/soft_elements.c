// Arrays of a soft body, and the rest shapes of its shape matching elements.
#include "data/soft_elements.h"

#include "base/dquat.h"
#include "base/dvec.h"

#include <math.h>

static void *carve(char *base, size_t *at, size_t size)
{
  void *here = base ? base + *at : NULL;
  *at += (size + 15) / 16 * 16;
  return here;
}

size_t soft_assign_arrays(soft *s, void *memory)
{
  size_t at = 0;
  s->particles = carve(memory, &at, (size_t)s->particle_count * sizeof(soft_particle));
  s->triangles = carve(memory, &at, 3 * (size_t)s->triangle_count * sizeof(int32_t));
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    soft_layout l = soft_layout_of((soft_type)type);
    size_t count = (size_t)s->list[type].count;
    s->list[type].members = carve(memory, &at, count * (size_t)l.particles * sizeof(int32_t));
    s->list[type].fields = carve(memory, &at, count * (size_t)(l.params + l.state) * sizeof(float));
  }
  s->clusters = carve(memory, &at, (size_t)s->cluster_count * sizeof(soft_cluster));
  s->cluster_parts = carve(memory, &at, (size_t)s->part_count * sizeof(cluster_part));
  size_t plastic = isfinite(s->yield_strain) ? 9 * (size_t)s->list[SOFT_SHAPE_MATCH].count : 0;
  float *floats = carve(memory, &at, plastic * sizeof(float));
  s->plastic = plastic > 0 ? floats : NULL;
  return at;
}

ShapeMatchParams *soft_shape_match_params(const soft *s, int32_t index)
{
  soft_layout l = soft_layout_of(SOFT_SHAPE_MATCH);
  return (ShapeMatchParams *)(s->list[SOFT_SHAPE_MATCH].fields +
                              (size_t)index * (size_t)(l.params + l.state));
}

double element_second_moment(const ShapeMatchParams *params)
{
  double sum = 0.0;
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    sum += (double)params->mass[i] * (double)v_dot(params->rest[i], params->rest[i]);
  }
  return sum;
}

// Sets masses and rest positions from the centre of mass, deformed by the plastic matrix if any.
void set_shape_match_rest(const soft *s, const int32_t *v, const float *plastic,
                          ShapeMatchParams *params)
{
  double center[3] = {0.0, 0.0, 0.0}, mass = 0.0;
  for (int i = 0; i < SHAPE_MATCH_PARTICLES && v[i] != NO_SLOT; ++i) {
    const soft_particle *p = &s->particles[v[i]];
    params->mass[i] = p->mass;
    center[0] += (double)p->mass * (double)p->rest.x;
    center[1] += (double)p->mass * (double)p->rest.y;
    center[2] += (double)p->mass * (double)p->rest.z;
    mass += (double)p->mass;
  }
  for (int i = 0; i < SHAPE_MATCH_PARTICLES && v[i] != NO_SLOT; ++i) {
    tn_vec3 x = s->particles[v[i]].rest;
    double q[3] = {(double)x.x - center[0] / mass, (double)x.y - center[1] / mass,
                   (double)x.z - center[2] / mass};
    double r[3] = {q[0], q[1], q[2]};
    for (int k = 0; k < 3 && plastic; ++k) {
      r[k] = (double)plastic[3 * k] * q[0] + (double)plastic[3 * k + 1] * q[1] +
             (double)plastic[3 * k + 2] * q[2];
    }
    params->rest[i] = v_make((float)r[0], (float)r[1], (float)r[2]);
  }
}

void soft_refit_shape_match(soft *s, int32_t index)
{
  ShapeMatchParams *params = soft_shape_match_params(s, index);
  double stiffness = (double)params->omega_squared * element_second_moment(params);
  set_shape_match_rest(s, s->list[SOFT_SHAPE_MATCH].members + SHAPE_MATCH_PARTICLES * (size_t)index,
                       s->plastic ? s->plastic + 9 * (size_t)index : NULL, params);
  params->omega_squared = (float)(stiffness / element_second_moment(params));
}

// Replaces the columns f by the closest rotation, with Higham's scaled Newton iteration
// F <- (g F + (g F)^-T) / 2. False, with f unchanged, for a flat or mirrored matrix.
static bool polar_rotation(tn_pos *f)
{
  double det = pos_dot(f[0], pos_cross(f[1], f[2])),
         size = sqrt(pos_dot(f[0], f[0]) + pos_dot(f[1], f[1]) + pos_dot(f[2], f[2]));
  if (!(det > TUNING_POLAR_MIN_DETERMINANT * size * size * size)) {
    return false;
  }
  for (int i = 0; i < TUNING_POLAR_ITERATIONS; ++i) {
    tn_pos c[3] = {pos_cross(f[1], f[2]), pos_cross(f[2], f[0]), pos_cross(f[0], f[1])};
    det = pos_dot(f[0], c[0]);
    double squares[2] = {0.0, 0.0};
    for (int k = 0; k < 3; ++k) {
      squares[0] += pos_dot(f[k], f[k]);
      squares[1] += pos_dot(c[k], c[k]) / (det * det);
    }
    double scale = sqrt(sqrt(squares[1] / squares[0]));
    for (int k = 0; k < 3; ++k) {
      f[k] = pos_add(pos_scale(0.5 * scale, f[k]), pos_scale(0.5 / (scale * det), c[k]));
    }
  }
  return true;
}

static float rotation_fit(Q q, const V *f)
{
  return v_dot(q_axis_x(q), f[0]) + v_dot(q_axis_y(q), f[1]) + v_dot(q_axis_z(q), f[2]);
}

// The rotation that fits the columns f best. The iteration starts from the best of `known`, which
// may be of an earlier step, and its three half turns: no rotation is more than 120 degrees from
// all four, so that it converges.
Q soft_fit_rotation(Q known, const tn_pos *f)
{
  static const Q half_turns[3] = {
      {1.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 1.0f, 0.0f}};
  tn_pos columns[3] = {f[0], f[1], f[2]};
  bool turned = polar_rotation(columns);
  V at[3];
  for (int i = 0; i < 3; ++i) {
    at[i] = v_make((float)columns[i].x, (float)columns[i].y, (float)columns[i].z);
  }
  Q q = known;
  for (int i = 0; i < 3 && turned; ++i) {
    Q other = q_mul(known, half_turns[i]);
    q = rotation_fit(other, at) > rotation_fit(q, at) ? other : q;
  }
  for (int i = 0; i < TUNING_ROTATION_ITERATIONS; ++i) {
    q = refine_rotation(q, at);
  }
  return q;
}
