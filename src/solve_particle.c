// Particles one after the other: load them, move them, store them. Compiled once for each lane
// width.
#include "gather.h"
#include "soft_store.h"

// m/s, the default limit of bodies. Torn pieces that nothing holds back would reach the end of the
// range of positions otherwise.
#define PARTICLE_SPEED 1000.0f

#define PARTICLE_OPS PASTE(particle_ops_, TN_LANES)

KERNEL Particle load_run(const solver_data *data, int block, int lane)
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

KERNEL void store_run(const solver_data *data, int block, int lane, const Particle *p)
{
  float *first = data->soft->particles[(size_t)block * BLOCK_WIDTH + (size_t)lane].line;
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = first + (size_t)i * STRIDE(data->soft->particles);
  }
  R r[8] = {p->v.x, p->v.y, p->v.z, p->w, p->dx.x, p->dx.y, p->dx.z, p->share};
  store8(to, r);
}

static void kick_particles(solver_data *data, int first, int last)
{
  R h = splat(data->substep.h);
  kick_part part = data->soft->part;
  for (int block = first; block < last; ++block) {
    particle_block *pb = &data->soft->blocks[block];
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      Particle p = load_run(data, block, lane);
      V acceleration;
      LOAD(pb->acceleration, lane, &acceleration);
      R lead = load(&pb->lead[lane]);
      R time = part == KICK_FIRST ? lead * h : part == KICK_LAST ? h - lead * h : h;
      p.v = v_add(p.v, v_scale(time, acceleration));
      store_run(data, block, lane, &p);
    }
  }
}

static void drift_particles(solver_data *data, int first, int last)
{
  R h = splat(data->substep.h);
  for (int block = first; block < last; ++block) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      Particle p = load_run(data, block, lane);
      p.v = limited(stilled(p.v), splat(PARTICLE_SPEED));
      p.dx = v_add(p.dx, v_scale(h, p.v));
      store_run(data, block, lane, &p);
    }
  }
}

// What the constraints of a particle want, on average.
static void average_particles(solver_data *data, int first, int last)
{
  particle_state *change = data->soft->change;
  for (int32_t i = first * BLOCK_WIDTH; i < last * BLOCK_WIDTH; ++i) {
    particle_state *p = &data->soft->particles[i];
    for (int k = 0; k < 3; ++k) {
      p->v[k] += change[i].v[k];
      p->dx[k] += change[i].dx[k];
    }
    memset(&change[i], 0, sizeof change[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Particles as one rigid body

// Changes are summed up, not taken from sums before and after: those would be nearly the same.
KERNEL void add_motion(MotionSums *sum, const ParticleStart *start, V gain, const Particle *p)
{
  R mass = start->mass;
  V x = v_add(start->x, p->dx), mx = v_scale(mass, x);
  V dv = v_sub(v_sub(p->v, start->v), gain);
  V mv = v_scale(mass, p->v), mdv = v_scale(mass, dv);
  S second = {mx.x * x.x, mx.y * x.y, mx.z * x.z, mx.x * x.y, mx.x * x.z, mx.y * x.z};
  sum->mass = sum->mass + mass;
  sum->first = v_add(sum->first, mx);
  sum->way = v_add(sum->way, v_scale(mass, p->dx));
  sum->p = v_add(sum->p, mv);
  sum->dp = v_add(sum->dp, mdv);
  sum->dl = v_add(sum->dl, v_add(v_cross(start->x, mdv), v_cross(p->dx, mv)));
  sum->second = s_add(sum->second, second);
}

static void sum_particles(solver_data *data, int first, int last)
{
  R dt = splat(data->soft->dt), zero = splat(0.0f);
  S none = {zero, zero, zero, zero, zero, zero};
  for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
    MotionSums sum = {zero, v_zero(), v_zero(), v_zero(), v_zero(), v_zero(), none};
    for (int block = first; block < last; ++block) {
      particle_block *pb = &data->soft->blocks[block];
      Particle p = load_run(data, block, lane);
      V acceleration;
      ParticleStart start;
      LOAD(pb->acceleration, lane, &acceleration);
      LOAD(pb->start, lane, &start);
      add_motion(&sum, &start, v_scale(dt, acceleration), &p);
    }
    STORE(data->soft->sums, lane, &sum);
  }
}

static void carry_particles(solver_data *data, int first, int last)
{
  const float *given = data->soft->given, *turn = data->soft->turn;
  V u = v_make(splat(given[0]), splat(given[1]), splat(given[2]));
  V w = v_make(splat(turn[0]), splat(turn[1]), splat(turn[2]));
  for (int block = first; block < last; ++block) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      Particle p = load_run(data, block, lane);
      V x;
      LOAD(data->soft->blocks[block].start, lane, &x);
      p.v = v_add(p.v, v_add(u, v_cross(w, v_add(x, p.dx))));
      store_run(data, block, lane, &p);
    }
  }
}

const particle_ops PARTICLE_OPS = {kick_particles, drift_particles, average_particles,
                                   sum_particles, carry_particles};
