// Shape matching of clusters of any size (Mueller et al. 2005, Meshless deformations based on shape
// matching), one cluster after the other. The same rows as those of elements in kernel/soft.h:
//
//   C_i  = r_i - R q_i                              r: from the centre of mass, q: at rest
//   dv_i = -(C_i / h + s v_i + a total_dv_i) / (s + a),   a = 1 / (h omega)^2,  s = 1 + damping / h
//
// R is the rotation of sum m r q^T. The rigid part of dv is removed, so that both momenta are
// conserved.
#include "data/soft_elements.h"
#include "solver/soft/soft_steps.h"

#include <math.h>
#include <string.h>

// Moments of a cluster about its centre of mass, in the running pass.
typedef struct cluster_state {
  const soft *soft;
  soft_cluster *cluster;
  cluster_part *parts;
  float inv_mass;  // 1/kg
  S second_moment; // sum m r r^T
  V fit[3];        // columns of sum m r q^T
} cluster_state;

static V vec(const float *v)
{
  return v_make(v[0], v[1], v[2]);
}

static void put_vec(float *to, V v)
{
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
}

static float weight_of(const soft *s, const cluster_part *part)
{
  bool pinned = RULE(soft_pinned_mass) && s->particles[part->particle].pinned;
  return pinned ? TUNING_PINNED_MASS_FACTOR * part->mass : part->mass;
}

// Sets part->at, the current positions from the centre of mass, and the moments.
static cluster_state cluster_moments(const soft_graph *g, const soft *s, soft_cluster *cluster,
                                     cluster_part *parts)
{
  cluster_state c = {.soft = s, .cluster = cluster, .parts = parts};
  tn_pos origin = g->at[s->first + c.parts[0].particle];
  V center = v_zero();
  float mass = 0.0f;
  for (int32_t i = 0; i < cluster->count; ++i) {
    cluster_part *part = &c.parts[i];
    int32_t solver_index = s->first + part->particle;
    tn_pos off = pos_sub(g->at[solver_index], origin);
    V r = v_make((float)off.x, (float)off.y, (float)off.z);
    r = v_add(r, vec(g->data.particles[solver_index].dx));
    put_vec(part->at, r);
    center = v_add(center, v_scale(weight_of(s, part), r));
    mass += weight_of(s, part);
  }
  c.inv_mass = 1.0f / mass;
  center = v_scale(c.inv_mass, center);
  S none = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  c.second_moment = none;
  c.fit[0] = c.fit[1] = c.fit[2] = v_zero();
  for (int32_t i = 0; i < cluster->count; ++i) {
    cluster_part *part = &c.parts[i];
    float m = weight_of(s, part);
    V r = v_sub(vec(part->at), center);
    put_vec(part->at, r);
    for (int k = 0; k < 3; ++k) {
      c.fit[k] = v_add(c.fit[k], v_scale(m * part->rest[k], r));
    }
    c.second_moment = add_second_moment(c.second_moment, m, r);
  }
  return c;
}

// Removes the rigid part of part->dv.
static void remove_rigid_part(const cluster_state *c)
{
  for (int round = 0; round < TUNING_RIGID_REMOVAL_ROUNDS; ++round) {
    V mean = v_zero(), moment = v_zero();
    for (int32_t i = 0; i < c->cluster->count; ++i) {
      const cluster_part *part = &c->parts[i];
      V weighted = v_scale(weight_of(c->soft, part), vec(part->dv));
      mean = v_add(mean, weighted);
      moment = v_add(moment, v_cross(vec(part->at), weighted));
    }
    mean = v_scale(c->inv_mass, mean);
    V turn = angular_velocity_of(c->second_moment, moment);
    for (int32_t i = 0; i < c->cluster->count; ++i) {
      cluster_part *part = &c->parts[i];
      put_vec(part->dv, v_sub(vec(part->dv), v_add(mean, v_cross(turn, vec(part->at)))));
    }
  }
}

static void apply_cluster(soft_graph *g, const cluster_state *c, float h, soft_stage stage)
{
  // With averaging all parts are divided by the same count, or momentum would not be conserved.
  float most = 1.0f;
  for (int32_t i = 0; i < c->cluster->count; ++i) {
    most = fmaxf(most, g->data.particles[c->soft->first + c->parts[i].particle].constraint_count);
  }
  for (int32_t i = 0; i < c->cluster->count; ++i) {
    const cluster_part *part = &c->parts[i];
    int32_t solver_index = c->soft->first + part->particle;
    particle_state *p = &g->data.particles[solver_index];
    for (int k = 0; k < 3 && p->inverse_mass > 0.0f; ++k) {
      if (stage == SOFT_POSITION) {
        move_particle(&g->data, solver_index, k,
                      g->data.jacobi_delta ? part->dv[k] / most : part->dv[k], h);
      } else {
        p->v[k] += part->dv[k];
      }
    }
  }
}

// Returns the turn since the last update.
static Q update_cluster_rotation(const cluster_state *c)
{
  Q before = {c->cluster->q[0], c->cluster->q[1], c->cluster->q[2], c->cluster->q[3]};
  Q q = refine_rotation(before, c->fit);
  c->cluster->q[0] = q.x;
  c->cluster->q[1] = q.y;
  c->cluster->q[2] = q.z;
  c->cluster->q[3] = q.w;
  return q_mul(q, q_conjugate(before));
}

// Applies a share of the last substep's velocity changes, turned with the cluster.
static void warm_start_cluster(soft_graph *g, const cluster_state *c, float h)
{
  Q turn = update_cluster_rotation(c);
  float kept = RULE(soft_warm_start) ? g->data.warm_start_factor : 0.0f;
  for (int32_t i = 0; i < c->cluster->count; ++i) {
    cluster_part *part = &c->parts[i];
    put_vec(part->dv, v_scale(kept, q_rotate(turn, vec(part->total_dv))));
  }
  remove_rigid_part(c);
  for (int32_t i = 0; i < c->cluster->count; ++i) {
    memcpy(c->parts[i].total_dv, c->parts[i].dv, sizeof c->parts[i].total_dv);
  }
  apply_cluster(g, c, h, SOFT_WARM_START);
}

static void solve_cluster(soft_graph *g, const cluster_state *c, float h, soft_stage stage)
{
  if (stage == SOFT_POSITION) {
    update_cluster_rotation(c);
  }
  const soft_cluster *cluster = c->cluster;
  Q q = {cluster->q[0], cluster->q[1], cluster->q[2], cluster->q[3]};
  float s = stage == SOFT_POSITION ? 1.0f : 1.0f + cluster->damping / h;
  float a = 1.0f / (h * h * cluster->omega_squared), share = -1.0f / (s + a);
  for (int32_t i = 0; i < cluster->count; ++i) {
    cluster_part *part = &c->parts[i];
    const particle_state *p = &g->data.particles[c->soft->first + part->particle];
    V off = v_sub(vec(part->at), q_rotate(q, vec(part->rest)));
    V x = v_add(v_scale(1.0f / h, off), v_scale(a, vec(part->total_dv)));
    V v = stage == SOFT_POSITION ? v_zero() : v_scale(s, vec(p->v));
    put_vec(part->dv, v_scale(share, v_add(x, v)));
  }
  remove_rigid_part(c);
  for (int32_t i = 0; i < cluster->count; ++i) {
    cluster_part *part = &c->parts[i];
    put_vec(part->total_dv, v_add(vec(part->total_dv), vec(part->dv)));
  }
  apply_cluster(g, c, h, stage);
}

static void pass_cluster(soft_graph *g, const cluster_state *c, float h, soft_stage stage)
{
  if (stage == SOFT_WARM_START) {
    warm_start_cluster(g, c, h);
  } else {
    solve_cluster(g, c, h, stage);
  }
}

typedef struct cluster_task {
  const soft_system *system;
  float h;
  soft_stage stage;
} cluster_task;

static bool has_clusters(const soft *s)
{
  return s->alive && s->first > 0 && (s->cluster_count > 0 || s->unfold.active);
}

static void solve_clusters_task(int first, int last, void *context)
{
  const cluster_task *t = context;
  soft_graph *g = t->system->graph;
  for (int i = first; i < last; ++i) {
    soft *s = &t->system->softs[i];
    for (int32_t k = 0; has_clusters(s) && k < s->cluster_count; ++k) {
      soft_cluster *cluster = &s->clusters[k];
      cluster_state c = cluster_moments(g, s, cluster, s->cluster_parts + cluster->first);
      pass_cluster(g, &c, t->h, t->stage);
    }
    if (has_clusters(s) && s->unfold.active) {
      cluster_state c =
          cluster_moments(g, s, &s->unfold.cluster, g->unfold_parts + s->unfold.cluster.first);
      pass_cluster(g, &c, t->h, t->stage);
    }
  }
}

// Soft bodies share no particle and run in parallel.
void soft_solve_clusters(const soft_system *system, float h, soft_stage stage)
{
  cluster_task task = {system, h, stage};
  bool any = false;
  for (int32_t i = 0; i < system->soft_pool->used && !any; ++i) {
    any = has_clusters(&system->softs[i]);
  }
  if (any) {
    task_run(system->tasks, solve_clusters_task, system->soft_pool->used, 1, &task);
  }
}

// ---------------------------------------------------------------------------------------------
// From the definition

static double second_moment_trace(const cluster_part *parts, int count)
{
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    sum += (double)parts[i].mass * (double)v_dot(vec(parts[i].rest), vec(parts[i].rest));
  }
  return sum;
}

// Volume of the bounding box of the vertices; each side counts as at least two particle
// radii and TUNING_CLUSTER_MIN_THICKNESS, so that flat clusters have a stiffness.
static double box_volume(const tn_soft_def *def, const int *v, int count)
{
  tn_vec3 lower = def->vertices[v[0]], upper = lower;
  for (int i = 1; i < count; ++i) {
    tn_vec3 x = def->vertices[v[i]];
    lower = tn_v3(fminf(lower.x, x.x), fminf(lower.y, x.y), fminf(lower.z, x.z));
    upper = tn_v3(fmaxf(upper.x, x.x), fmaxf(upper.y, x.y), fmaxf(upper.z, x.z));
  }
  tn_vec3 size = tn_sub(upper, lower);
  double least = fmax(2.0 * (double)def->radius, TUNING_CLUSTER_MIN_THICKNESS);
  return fmax((double)size.x, least) * fmax((double)size.y, least) * fmax((double)size.z, least);
}

// Stiffness from Young's modulus E, as for shape match elements: a strain e along one axis has the
// energy E V e^2 / 2 on average over the axes, hence omega^2 = 3 E V / sum m q^2.
static void put_cluster(soft *s, const tn_soft_def *def, soft_cluster *cluster, const int *v)
{
  cluster_part *parts = s->cluster_parts + cluster->first;
  double center[3] = {0.0, 0.0, 0.0}, mass = 0.0;
  for (int32_t i = 0; i < cluster->count; ++i) {
    const soft_particle *p = &s->particles[v[i]];
    parts[i].particle = v[i];
    parts[i].mass = p->mass;
    center[0] += (double)p->mass * (double)p->rest.x;
    center[1] += (double)p->mass * (double)p->rest.y;
    center[2] += (double)p->mass * (double)p->rest.z;
    mass += (double)p->mass;
  }
  for (int32_t i = 0; i < cluster->count; ++i) {
    tn_vec3 x = s->particles[v[i]].rest;
    parts[i].rest[0] = (float)((double)x.x - center[0] / mass);
    parts[i].rest[1] = (float)((double)x.y - center[1] / mass);
    parts[i].rest[2] = (float)((double)x.z - center[2] / mass);
  }
  double stiffness = 3.0 * (double)def->youngs_modulus * box_volume(def, v, cluster->count);
  cluster->omega_squared = (float)(stiffness / second_moment_trace(parts, cluster->count));
  cluster->damping = def->stiffness_damping;
}

void soft_init_clusters(soft *s, const tn_soft_def *def)
{
  const int *v = def->clusters;
  for (int i = 0; i < def->cluster_count; ++i) {
    soft_cluster *cluster = &s->clusters[i];
    cluster->first = (int32_t)(v - def->clusters);
    cluster->count = def->cluster_sizes[i];
    put_cluster(s, def, cluster, v);
    v += cluster->count;
  }
}

void soft_reset_clusters(soft *s, tn_quat turn)
{
  for (int32_t i = 0; i < s->cluster_count; ++i) {
    memcpy(s->clusters[i].q, &turn, sizeof turn);
  }
  for (int32_t i = 0; i < s->part_count; ++i) {
    memset(s->cluster_parts[i].total_dv, 0, sizeof s->cluster_parts[i].total_dv);
  }
}

// ---------------------------------------------------------------------------------------------

// Returns sum m |r - R q|^2 and sets size = sum m |q|^2. `q` is updated to the best fitting
// rotation R.
static double squared_error(const soft *s, const soft_cluster *cluster, const cluster_part *parts,
                            Q *q, double *size)
{
  tn_pos origin = s->particles[parts[0].particle].at, center = {0};
  double mass = 0.0, sum = 0.0;
  for (int32_t i = 0; i < cluster->count; ++i) {
    double m = (double)parts[i].mass;
    tn_pos x = pos_sub(s->particles[parts[i].particle].at, origin);
    center = tn_p3(center.x + m * x.x, center.y + m * x.y, center.z + m * x.z);
    mass += m;
  }
  center = pos_add(origin, tn_p3(center.x / mass, center.y / mass, center.z / mass));
  tn_pos fit[3];
  memset(fit, 0, sizeof fit);
  for (int32_t i = 0; i < cluster->count; ++i) {
    tn_pos x = pos_sub(s->particles[parts[i].particle].at, center);
    for (int k = 0; k < 3; ++k) {
      double m = (double)(parts[i].mass * parts[i].rest[k]);
      fit[k] = pos_add(fit[k], tn_p3(m * x.x, m * x.y, m * x.z));
    }
  }
  *q = soft_fit_rotation(*q, fit);
  for (int32_t i = 0; i < cluster->count; ++i) {
    tn_pos x = pos_sub(s->particles[parts[i].particle].at, center);
    V goal = q_rotate(*q, vec(parts[i].rest));
    x = pos_sub(x, tn_p3((double)goal.x, (double)goal.y, (double)goal.z));
    sum += (double)parts[i].mass * (x.x * x.x + x.y * x.y + x.z * x.z);
  }
  *size = second_moment_trace(parts, cluster->count);
  return sum;
}

double soft_cluster_energy(const soft *s, int32_t index)
{
  const soft_cluster *c = &s->clusters[index];
  Q q = {c->q[0], c->q[1], c->q[2], c->q[3]};
  double size;
  return 0.5 * (double)c->omega_squared *
         squared_error(s, c, s->cluster_parts + c->first, &q, &size);
}

double soft_cluster_error(const soft *s, soft_cluster *cluster, const cluster_part *parts)
{
  Q q = {cluster->q[0], cluster->q[1], cluster->q[2], cluster->q[3]};
  double size, off = squared_error(s, cluster, parts, &q, &size);
  cluster->q[0] = q.x;
  cluster->q[1] = q.y;
  cluster->q[2] = q.z;
  cluster->q[3] = q.w;
  return sqrt(off / size);
}
