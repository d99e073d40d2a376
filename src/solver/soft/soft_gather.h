// Gathers particles into lanes and scatters them back. For files compiled once per lane width.
#ifndef TENON_SOLVER_SOFT_SOFT_GATHER_H
#define TENON_SOLVER_SOFT_SOFT_GATHER_H

#include "solver/gather.h"
#include "solver/soft/soft_solver.h"

KERNEL Particle load_particle(const solver_data *data, const int32_t *solver_index)
{
  const float *from[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    from[i] = data->soft->particles[solver_index[i]].line;
  }
  R r[8];
  load8(from, r);
  Particle p = {v_make(r[0], r[1], r[2]), r[3], v_make(r[4], r[5], r[6]), r[7]};
  return p;
}

// Lanes with index 0, the padding, are not written.
KERNEL void store_particle(const solver_data *data, const int32_t *solver_index, const Particle *p)
{
  alignas(32) float discarded[8];
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = solver_index[i] > 0 ? data->soft->particles[solver_index[i]].line : discarded;
  }
  R r[8] = {p->v.x, p->v.y, p->v.z, p->w, p->dx.x, p->dx.y, p->dx.z, p->constraint_count};
  store8(to, r);
}

KERNEL SoftPass make_soft_pass(const solver_data *data)
{
  float h = data->substep.h;
  SoftPass pass = {splat(h), splat(1.0f / h), splat(1.0f / (h * h)),
                   data->soft->stage == SOFT_POSITION ? FORM_POSITION : FORM_VELOCITY};
  return pass;
}

#endif
