// Passes over the particles in order: kick, drift, averaging, sums for momentum restoration.
// Compiled once per lane width.
#include "solver/gather.h"
#include "solver/soft/soft_solver.h"

#define PARTICLE_OPS PASTE(particle_ops_, TN_LANES)

KERNEL Particle load_particles_at(const solver_data *data, int block, int lane)
{
  const float *first = data->soft->particles[(size_t)block * BLOCK_WIDTH + (size_t)lane].line;
  const float *from[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    from[i] = first + (size_t)i * STRIDE(data->soft->particles);
  }
  R r[8];
  load8(from, r);
  Particle p = {v_make(r[0], r[1], r[2]), r[3], v_make(r[4], r[5], r[6]), r[7]};
  return p;
}

KERNEL void store_particles_at(const solver_data *data, int block, int lane, const Particle *p)
{
  float *first = data->soft->particles[(size_t)block * BLOCK_WIDTH + (size_t)lane].line;
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = first + (size_t)i * STRIDE(data->soft->particles);
  }
  R r[8] = {p->v.x, p->v.y, p->v.z, p->w, p->dx.x, p->dx.y, p->dx.z, p->constraint_count};
  store8(to, r);
}

static void kick_particles(solver_data *data, int first, int last)
{
  R h = splat(data->substep.h);
  kick_phase phase = data->soft->phase;
  for (int block = first; block < last; ++block) {
    particle_block *pb = &data->soft->blocks[block];
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      Particle p = load_particles_at(data, block, lane);
      V acceleration;
      LOAD(pb->acceleration, lane, &acceleration);
      R first_kick = load(&pb->first_kick[lane]);
      R time = phase == KICK_FIRST ? first_kick * h : phase == KICK_LAST ? h - first_kick * h : h;
      p.v = v_add(p.v, v_scale(time, acceleration));
      store_particles_at(data, block, lane, &p);
    }
  }
}

static void drift_particles(solver_data *data, int first, int last)
{
  R h = splat(data->substep.h);
  for (int block = first; block < last; ++block) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      Particle p = load_particles_at(data, block, lane);
      p.v = flush_below(TUNING_TINY_MOTION, p.v);
      p.v = RULE(soft_speed_limit) ? clamp_length(p.v, splat(TUNING_PARTICLE_MAX_SPEED)) : p.v;
      p.dx = v_add(p.dx, v_scale(h, p.v));
      store_particles_at(data, block, lane, &p);
    }
  }
}

// Applies the averaged corrections of the pass (TN_METHOD_JACOBI).
static void average_particles(solver_data *data, int first, int last)
{
  particle_state *jacobi_delta = data->soft->jacobi_delta;
  for (int32_t i = first * BLOCK_WIDTH; i < last * BLOCK_WIDTH; ++i) {
    particle_state *p = &data->soft->particles[i];
    for (int k = 0; k < 3; ++k) {
      p->v[k] += jacobi_delta[i].v[k];
      p->dx[k] += jacobi_delta[i].dx[k];
    }
    memset(&jacobi_delta[i], 0, sizeof jacobi_delta[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Sums over a soft body, for soft_restore_momentum()

// `gain` is the velocity change by gravity and forces. The change of momentum is summed particle by
// particle: the difference of two total sums would cancel.
KERNEL void add_motion(MotionSums *sum, const ParticleStart *start, V gain, const Particle *p)
{
  R mass = start->mass;
  V x = v_add(start->x, p->dx), mx = v_scale(mass, x);
  V dv = v_sub(v_sub(p->v, start->v), gain);
  V mv = v_scale(mass, p->v), mdv = v_scale(mass, dv);
  S second = {mx.x * x.x, mx.y * x.y, mx.z * x.z, mx.x * x.y, mx.x * x.z, mx.y * x.z};
  sum->mass = sum->mass + mass;
  sum->first_moment = v_add(sum->first_moment, mx);
  sum->displacement = v_add(sum->displacement, v_scale(mass, p->dx));
  sum->p = v_add(sum->p, mv);
  sum->dp = v_add(sum->dp, mdv);
  sum->dl = v_add(sum->dl, v_add(v_cross(start->x, mdv), v_cross(p->dx, mv)));
  sum->second_moment = s_add(sum->second_moment, second);
}

static void sum_particles(solver_data *data, int first, int last)
{
  R dt = splat(data->soft->dt), zero = splat(0.0f);
  S none = {zero, zero, zero, zero, zero, zero};
  for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
    MotionSums sum = {zero, v_zero(), v_zero(), v_zero(), v_zero(), v_zero(), none};
    for (int block = first; block < last; ++block) {
      particle_block *pb = &data->soft->blocks[block];
      Particle p = load_particles_at(data, block, lane);
      V acceleration;
      ParticleStart start;
      LOAD(pb->acceleration, lane, &acceleration);
      LOAD(pb->start, lane, &start);
      add_motion(&sum, &start, v_scale(dt, acceleration), &p);
    }
    STORE(data->soft->sums, lane, &sum);
  }
}

static void add_rigid_velocity(solver_data *data, int first, int last)
{
  const float *linear_correction = data->soft->linear_correction,
              *angular_correction = data->soft->angular_correction;
  V u =
      v_make(splat(linear_correction[0]), splat(linear_correction[1]), splat(linear_correction[2]));
  V w = v_make(splat(angular_correction[0]), splat(angular_correction[1]),
               splat(angular_correction[2]));
  for (int block = first; block < last; ++block) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      Particle p = load_particles_at(data, block, lane);
      V x;
      LOAD(data->soft->blocks[block].start, lane, &x);
      p.v = v_add(p.v, v_add(u, v_cross(w, v_add(x, p.dx))));
      store_particles_at(data, block, lane, &p);
    }
  }
}

const particle_ops PARTICLE_OPS = {kick_particles, drift_particles, average_particles,
                                   sum_particles, add_rigid_velocity};
