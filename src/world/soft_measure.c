// Volume, energy and momentum of soft bodies, in double.
#include "base/dvec.h"
#include "data/ids.h"
#include "data/soft_elements.h"
#include "data/world.h"
#include "kernel/ranges.h"
#include "solver/soft/soft_steps.h"
#include "world/measures.h"

#include <math.h>
#include <string.h>

double soft_volume_of(const soft *s)
{
  double sum = 0.0;
  if (s->triangle_count == 0) {
    return 0.0;
  }
  tn_pos origin = s->particles[s->triangles[0]].at;
  for (int32_t i = 0; i < s->triangle_count; ++i) {
    const int32_t *v = s->triangles + 3 * (size_t)i;
    tn_pos x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = pos_sub(s->particles[v[k]].at, origin);
    }
    sum += pos_dot(x[0], pos_cross(x[1], x[2])) / 6.0;
  }
  return sum;
}

// ---------------------------------------------------------------------------------------------
// Elastic energy. A row has C^2 / (2 compliance); rigid rows have none.

static double row_energy(double c, double compliance)
{
  return compliance > 0.0 ? 0.5 * c * c / compliance : 0.0;
}

static double edge_energy(const tn_pos *d, const EdgeParams *params)
{
  return row_energy(sqrt(pos_dot(d[0], d[0])) - (double)params->rest, (double)params->compliance);
}

static double bend_energy(const tn_pos *d, const BendParams *params)
{
  tn_pos c = tn_p3(0.0, 0.0, 0.0);
  for (int i = 0; i < 3; ++i) {
    c = pos_add(c, pos_scale((double)params->k[i + 1], d[i]));
  }
  return row_energy(sqrt(pos_dot(c, c)), (double)params->compliance);
}

static double dihedral_energy(const tn_pos *d, const DihedralParams *params)
{
  V at[3], g[4];
  for (int i = 0; i < 3; ++i) {
    at[i] = v_make((float)d[i].x, (float)d[i].y, (float)d[i].z);
  }
  return row_energy((double)r_wrap_angle(dihedral_angle(at, g) - params->rest),
                    (double)params->compliance);
}

static double volume_energy(const tn_pos *d, const VolumeParams *params)
{
  double off = pos_dot(d[0], pos_cross(d[1], d[2])) / 6.0 - (double)params->rest;
  return params->lower_bound_only > 0.5f && off > 0.0 ? 0.0
                                                      : row_energy(off, (double)params->compliance);
}

// Columns of the deformation gradient F = sum d_i b_i^T.
static void deformation_gradient_of(const tn_pos *d, const V *b, tn_pos *f)
{
  f[0] = f[1] = f[2] = tn_p3(0.0, 0.0, 0.0);
  for (int i = 0; i < 3; ++i) {
    f[0] = pos_add(f[0], pos_scale((double)b[i].x, d[i]));
    f[1] = pos_add(f[1], pos_scale((double)b[i].y, d[i]));
    f[2] = pos_add(f[2], pos_scale((double)b[i].z, d[i]));
  }
}

// V (mu |F - R|^2 + lambda / 2 (J - 1)^2), with shear = 1 / (2 mu V), bulk = 1 / (lambda V).
static double corotated_energy(const tn_pos *d, const CorotatedParams *params, Q q)
{
  tn_pos f[3];
  deformation_gradient_of(d, params->b, f);
  q = soft_fit_rotation(q, f);
  V axes[3] = {q_axis_x(q), q_axis_y(q), q_axis_z(q)};
  double square = 0.0, j = pos_dot(f[0], pos_cross(f[1], f[2]));
  for (int k = 0; k < 3; ++k) {
    tn_pos r = tn_p3((double)axes[k].x, (double)axes[k].y, (double)axes[k].z);
    tn_pos off = pos_sub(f[k], r);
    square += pos_dot(off, off);
  }
  double bulk = params->bulk < SOFT_ROW_OFF_FROM ? row_energy(j - 1.0, (double)params->bulk) : 0.0;
  return 0.5 * square / (double)params->shear + bulk;
}

// V (mu / 2 (|F|^2 - 3) + lambda' / 2 (J - rest)^2), less its value at rest, F = 1.
static double neo_hookean_energy(const tn_pos *d, const NeoHookeanParams *params)
{
  tn_pos f[3];
  deformation_gradient_of(d, params->b, f);
  double j = pos_dot(f[0], pos_cross(f[1], f[2])), off = 1.0 - (double)params->rest;
  double square = pos_dot(f[0], f[0]) + pos_dot(f[1], f[1]) + pos_dot(f[2], f[2]);
  return 0.5 * (square - 3.0) / (double)params->shear +
         row_energy(j - (double)params->rest, (double)params->bulk) -
         row_energy(off, (double)params->bulk);
}

// omega^2 / 2 sum m |r - R q|^2.
static double shape_match_energy(const tn_pos *d, const ShapeMatchParams *params, Q q)
{
  tn_pos r[SHAPE_MATCH_PARTICLES], center = {0}, fit[3];
  memset(fit, 0, sizeof fit);
  double mass = 0.0, sum = 0.0;
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    r[i] = i > 0 ? d[i - 1] : tn_p3(0.0, 0.0, 0.0);
    center = pos_add(center, pos_scale((double)params->mass[i], r[i]));
    mass += (double)params->mass[i];
  }
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    r[i] = pos_sub(r[i], pos_scale(1.0 / mass, center));
    double m = (double)params->mass[i];
    fit[0] = pos_add(fit[0], pos_scale(m * (double)params->rest[i].x, r[i]));
    fit[1] = pos_add(fit[1], pos_scale(m * (double)params->rest[i].y, r[i]));
    fit[2] = pos_add(fit[2], pos_scale(m * (double)params->rest[i].z, r[i]));
  }
  q = soft_fit_rotation(q, fit);
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    V goal = q_rotate(q, params->rest[i]);
    tn_pos off = pos_sub(r[i], tn_p3((double)goal.x, (double)goal.y, (double)goal.z));
    sum += (double)params->mass[i] * pos_dot(off, off);
  }
  return 0.5 * (double)params->omega_squared * sum;
}

static double energy_of(soft_type type, const tn_pos *d, const float *fields)
{
  soft_layout l = soft_layout_of(type);
  Q q = {0.0f, 0.0f, 0.0f, 1.0f};
  if (type == SOFT_COROTATED || type == SOFT_SHAPE_MATCH) {
    memcpy(&q, fields + l.params, sizeof q);
  }
  switch (type) {
  case SOFT_EDGE:
    return edge_energy(d, (const EdgeParams *)fields);
  case SOFT_TETHER:
    return 0.0;
  case SOFT_BEND:
    return bend_energy(d, (const BendParams *)fields);
  case SOFT_DIHEDRAL:
    return dihedral_energy(d, (const DihedralParams *)fields);
  case SOFT_VOLUME:
    return volume_energy(d, (const VolumeParams *)fields);
  case SOFT_NEO_HOOKEAN:
    return neo_hookean_energy(d, (const NeoHookeanParams *)fields);
  case SOFT_COROTATED:
    return corotated_energy(d, (const CorotatedParams *)fields, q);
  default:
    return shape_match_energy(d, (const ShapeMatchParams *)fields, q);
  }
}

static double elastic_energy(const soft *s)
{
  double sum = 0.0;
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    soft_layout l = soft_layout_of((soft_type)type);
    for (int32_t i = 0; i < s->list[type].count; ++i) {
      const int32_t *v = s->list[type].members + (size_t)i * (size_t)l.particles;
      tn_pos d[SOFT_MAX_PARTICLES - 1];
      for (int k = 1; k < l.particles; ++k) {
        d[k - 1] = v[k] == NO_SLOT ? tn_p3(0.0, 0.0, 0.0)
                                   : pos_sub(s->particles[v[k]].at, s->particles[v[0]].at);
      }
      sum += energy_of((soft_type)type, d,
                       s->list[type].fields + (size_t)i * (size_t)(l.params + l.state));
    }
  }
  for (int32_t i = 0; i < s->cluster_count; ++i) {
    sum += soft_cluster_energy(s, i);
  }
  if (s->pressure > 0.0f) {
    double off = soft_volume_of(s) - (double)s->pressure * (double)s->rest_volume;
    sum += row_energy(off, (double)s->volume_compliance);
  }
  return sum;
}

// ---------------------------------------------------------------------------------------------

// Pinned particles count as part of the world: no kinetic or potential energy, no momentum.
void soft_add_energy(const tn_world *world, const soft *s, tn_energy *sum)
{
  tn_pos g = pos_from_vec3(world->gravity);
  for (int32_t i = 0; i < s->particle_count; ++i) {
    const soft_particle *p = &s->particles[i];
    if (!p->pinned) {
      tn_pos v = pos_from_vec3(p->v);
      sum->kinetic += 0.5 * (double)p->mass * pos_dot(v, v);
      sum->potential -= (double)p->mass * (double)s->gravity_scale * pos_dot(g, p->at);
    }
  }
  sum->elastic += elastic_energy(s);
}

void soft_add_momentum(const soft *s, tn_pos about, tn_momentum *sum)
{
  for (int32_t i = 0; i < s->particle_count; ++i) {
    const soft_particle *p = &s->particles[i];
    if (p->pinned) {
      continue;
    }
    tn_pos mv = pos_scale((double)p->mass, pos_from_vec3(p->v));
    tn_pos l = pos_cross(pos_sub(p->at, about), mv);
    sum->mass += (double)p->mass;
    sum->linear[0] += mv.x;
    sum->linear[1] += mv.y;
    sum->linear[2] += mv.z;
    sum->angular[0] += l.x;
    sum->angular[1] += l.y;
    sum->angular[2] += l.z;
  }
}

tn_energy tn_soft_energy(const tn_world *world, tn_soft_id id)
{
  tn_energy sum = {0};
  const soft *s = soft_find(world, id, "tn_soft_energy");
  if (s) {
    soft_add_energy(world, s, &sum);
    sum.total = sum.kinetic + sum.potential + sum.elastic;
  }
  return sum;
}

tn_momentum tn_soft_momentum(const tn_world *world, tn_soft_id id, tn_pos about)
{
  tn_momentum sum = {0};
  const soft *s = soft_find(world, id, "tn_soft_momentum");
  if (s && !is_finite_pos(about)) {
    report(&world->log, TN_LOG_ERROR, "tn_soft_momentum: the point is not finite");
  } else if (s) {
    soft_add_momentum(s, about, &sum);
  }
  return sum;
}
