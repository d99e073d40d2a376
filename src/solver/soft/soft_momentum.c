// Rigid motion of a soft body: damping of the motion relative to it, and restoration of the momenta
// that position solves lose.
#include "base/dvec.h"
#include "solver/soft/soft_steps.h"

#include <string.h>

// Pinned particles are heavier: the rigid motion of a pinned body is that of its pins.
static double weight_of(const soft_particle *p)
{
  return (double)p->mass * (p->pinned ? TUNING_PINNED_DAMPING_MASS_FACTOR : 1.0);
}

typedef struct rigid_motion {
  double mass, inertia[6]; // kg; kg m^2, xx yy zz xy xz yz
  tn_pos center, p, l;     // m; kg m/s; kg m^2/s, about the centre
} rigid_motion;

// One pass over the particles: moments about the first particle, then shifted to the centre.
static rigid_motion motion_of(const soft *s)
{
  rigid_motion r = {0};
  tn_pos origin = s->particles[0].at, first = {0}, square = {0}, mixed = {0};
  for (int32_t i = 0; i < s->particle_count; ++i) {
    const soft_particle *p = &s->particles[i];
    double mass = weight_of(p);
    tn_pos x = pos_sub(p->at, origin), mx = pos_scale(mass, x), v = pos_from_vec3(p->v);
    r.mass += mass;
    first = pos_add(first, mx);
    r.p = pos_add(r.p, pos_scale(mass, v));
    r.l = pos_add(r.l, pos_cross(mx, v));
    square = pos_add(square, tn_p3(mx.x * x.x, mx.y * x.y, mx.z * x.z));
    mixed = pos_add(mixed, tn_p3(mx.x * x.y, mx.x * x.z, mx.y * x.z));
  }
  tn_pos c = pos_scale(1.0 / r.mass, first);
  square = pos_sub(square, tn_p3(first.x * c.x, first.y * c.y, first.z * c.z));
  mixed = pos_sub(mixed, tn_p3(first.x * c.y, first.x * c.z, first.y * c.z));
  r.inertia[0] = square.y + square.z;
  r.inertia[1] = square.x + square.z;
  r.inertia[2] = square.x + square.y;
  r.inertia[3] = -mixed.x;
  r.inertia[4] = -mixed.y;
  r.inertia[5] = -mixed.z;
  r.l = pos_sub(r.l, pos_cross(c, r.p));
  r.center = pos_add(origin, c);
  return r;
}

//   v <- kept (v + share (rigid - v))
//   share = 1 - exp(-damping dt),  kept = exp(-linear_damping dt)
// `share` damps only the motion relative to the rigid motion and conserves momenta; `kept` damps
// all motion.
static void damp_soft(soft *s, float dt)
{
  rigid_motion r = motion_of(s);
  tn_pos v = pos_scale(1.0 / r.mass, r.p), w = solve_inertia(r.inertia, r.l);
  double share = 1.0 - (double)tn_exp(-s->damping * dt);
  double kept = (double)tn_exp(-s->linear_damping * dt);
  for (int32_t i = 0; i < s->particle_count; ++i) {
    soft_particle *p = &s->particles[i];
    tn_pos rigid = pos_add(v, pos_cross(w, pos_sub(p->at, r.center))), u = pos_from_vec3(p->v);
    u = pos_scale(kept, pos_add(u, pos_scale(share, pos_sub(rigid, u))));
    p->v = p->pinned ? p->v : tn_v3((float)u.x, (float)u.y, (float)u.z);
  }
}

typedef struct damp_task {
  const soft_system *system;
  float dt;
} damp_task;

static void damp_softs(int first, int last, void *context)
{
  const damp_task *t = context;
  for (int i = first; i < last; ++i) {
    soft *s = &t->system->softs[i];
    if (s->alive && s->first > 0 && (s->damping > 0.0f || s->linear_damping > 0.0f)) {
      damp_soft(s, t->dt);
    }
  }
}

void soft_damp(const soft_system *system, float dt)
{
  damp_task task = {system, dt};
  task_run(system->tasks, damp_softs, system->soft_pool->used, 1, &task);
}

// ---------------------------------------------------------------------------------------------
// Momentum restoration: Dahl and Bargteil 2019, Global momentum preservation for position-based
// dynamics, Algorithm 2. The expected change of the momenta is that of the external impulses
// (gravity, forces, contacts, attachments). What the step has lost is added as a rigid velocity
//   v_i += dp / M + w x (x_i - c),  I w = dL.
// Only for position methods: impulses conserve momenta.

static bool keeps_momentum(const soft *s)
{
  return s->alive && s->first > 0 && s->keep_momentum && s->pin_count == 0;
}

static int end_block(const soft *s)
{
  return (s->first + s->particle_count + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
}

static void add_sums(const soft_system *system, const soft *s, double *sum)
{
  soft_data *data = &system->graph->data;
  solver_data pass_data = {.soft = data};
  for (int b = s->first / BLOCK_WIDTH; b < end_block(s); b += TUNING_FLOAT_SUM_BLOCKS) {
    int last =
        b + TUNING_FLOAT_SUM_BLOCKS < end_block(s) ? b + TUNING_FLOAT_SUM_BLOCKS : end_block(s);
    system->ops->particles->sum(&pass_data, b, last);
    for (size_t i = 0; i < FIELDS(MotionSums); ++i) {
      const float *x = data->sums[i];
      sum[i] += (double)(((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])));
    }
  }
}

static tn_pos pos_from(const double *x)
{
  return tn_p3(x[0], x[1], x[2]);
}

// Sets the missing momenta to minus the changes that gravity and forces do not explain; the sums of
// MotionSums are about the first particle's start, dL is shifted to the centre of mass.
static momentum_error measure_momentum_error(const soft_system *system, const soft *s)
{
  double sum[FIELDS(MotionSums)] = {0.0};
  add_sums(system, s, sum);
  double per_mass = 1.0 / sum[0];
  const double *m = &sum[16]; // xx yy zz xy xz yz
  tn_pos first = pos_from(&sum[1]), c = pos_scale(per_mass, first),
         moved = pos_scale(per_mass, pos_from(&sum[4]));
  tn_pos p = pos_from(&sum[7]), dp = pos_from(&sum[10]), dl = pos_from(&sum[13]);
  momentum_error t = {.mass = sum[0], .center = c, .v = pos_scale(per_mass, p)};
  double xx = m[0] - first.x * c.x, yy = m[1] - first.y * c.y, zz = m[2] - first.z * c.z;
  // Keeps thin bodies above the rounding of float sums.
  double floor = TUNING_INERTIA_RIDGE_FLOAT * (xx + yy + zz);
  t.inertia[0] = yy + zz + floor;
  t.inertia[1] = xx + zz + floor;
  t.inertia[2] = xx + yy + floor;
  t.inertia[3] = first.x * c.y - m[3];
  t.inertia[4] = first.x * c.z - m[4];
  t.inertia[5] = first.y * c.z - m[5];
  t.linear = pos_scale(-1.0, dp);
  t.angular = pos_sub(pos_add(pos_cross(pos_sub(c, moved), dp), pos_cross(moved, p)), dl);
  return t;
}

// Adds an external impulse, the sum over the step, to the missing momenta. Its lever arm is taken
// at the middle of the step: with that of the end, tumbling bodies gain energy.
static void add_external_impulse(const soft_system *system, int32_t slot, int32_t solver_index,
                                 float weight, tn_vec3 force)
{
  soft *s = &system->softs[slot];
  momentum_error *t = &s->momentum_error;
  const soft_graph *g = system->graph;
  const particle_state *p = &g->data.particles[solver_index];
  tn_pos part = pos_scale((double)weight * (double)g->data.dt, pos_from_vec3(force));
  double half = RULE(soft_momentum_lever) ? 0.5 : 0.0;
  tn_pos half_step =
      pos_scale(half * (double)g->data.dt, pos_sub(pos_from_vec3(vec3_from_floats(p->v)), t->v));
  tn_pos at = pos_add(pos_sub(g->at[solver_index], s->particles[0].at),
                      pos_from_vec3(vec3_from_floats(p->dx)));
  t->linear = pos_add(t->linear, part);
  t->angular = pos_add(t->angular, pos_cross(pos_sub(pos_sub(at, t->center), half_step), part));
}

static void add_contact_impulses(const soft_system *system)
{
  for (int32_t i = 0; i < system->contact_count; ++i) {
    const soft_contact *t = &system->contacts[i];
    int32_t first = system->softs[t->soft].first;
    if (t->soft == t->other || tn_dot(t->force, t->force) == 0.0f) {
      continue; // self collision is internal
    }
    bool soft_soft = is_soft_soft(t);
    int count = soft_soft ? first_side_particles(t) : SOFT_CONTACT_PARTICLES;
    for (int k = 0; k < count && t->particle[k] != NO_SLOT; ++k) {
      add_external_impulse(system, t->soft, first + t->particle[k], t->weight[k], t->force);
      if (soft_soft) { // action and reaction at the same point, or angular momentum would change
        add_external_impulse(system, t->other, first + t->particle[k], -t->weight[k], t->force);
      }
    }
  }
}

static void correct_momentum(const soft_system *system, const soft *s)
{
  soft_data *data = &system->graph->data;
  solver_data pass_data = {.soft = data};
  const momentum_error *t = &s->momentum_error;
  tn_pos w = solve_inertia(t->inertia, t->angular);
  tn_pos u = pos_sub(pos_scale(1.0 / t->mass, t->linear), pos_cross(w, t->center));
  const float linear_correction[3] = {(float)u.x, (float)u.y, (float)u.z};
  const float angular_correction[3] = {(float)w.x, (float)w.y, (float)w.z};
  memcpy(data->linear_correction, linear_correction, sizeof linear_correction);
  memcpy(data->angular_correction, angular_correction, sizeof angular_correction);
  system->ops->particles->add_rigid_velocity(&pass_data, s->first / BLOCK_WIDTH, end_block(s));
}

void soft_restore_momentum(const soft_system *system, float dt)
{
  if (!RULE(soft_momentum) || system->method == TN_METHOD_TENON) {
    return;
  }
  system->graph->data.dt = dt;
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    if (keeps_momentum(&system->softs[i])) {
      system->softs[i].momentum_error = measure_momentum_error(system, &system->softs[i]);
    }
  }
  add_contact_impulses(system);
  for (int32_t i = 0; i < system->attachment_pool->used; ++i) {
    const attachment *a = &system->attachments[i];
    if (a->alive && system->softs[a->soft].first > 0) {
      int32_t solver_index = system->softs[a->soft].first + a->def.particle;
      add_external_impulse(system, a->soft, solver_index, 1.0f, a->force);
    }
  }
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    if (keeps_momentum(&system->softs[i])) {
      correct_momentum(system, &system->softs[i]);
    }
  }
}
