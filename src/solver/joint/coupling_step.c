// Couplings between records and the solver: state at the start of a step, forces after it.
#include "solver/joint/coupling_step.h"

#include "data/world.h"
#include "solver/joint/coupling_value.h"
#include "solver/joint/joint_layout.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

bool coupling_is_active(const tn_world *world, const coupling *k)
{
  bool active = k->alive && k->def.enabled;
  for (int i = 0; i < k->def.axis_count && active; ++i) {
    active = world->joints[k->joint[i]].def.enabled; // false of a broken one
  }
  return active;
}

void coupling_clear_impulses(coupling *k)
{
  memset(k->impulse, 0, sizeof k->impulse);
  memset(k->impulse_ahead, 0, sizeof k->impulse_ahead);
  k->half_kick_done = false;
  k->rate_before_half_kick = 0.0;
  k->force = k->drive_force = 0.0f;
}

void direct_coupling_begin_step(tn_world *world, direct_coupling *d, float dt, float impulse_scale)
{
  const coupling *k = &world->couplings[d->coupling];
  bool supported = false;
  for (int32_t i = 0; i < k->side_count; ++i) {
    supported = supported || world->bodies[k->side_body[i]].supported;
  }
  d->pose = NO_SLOT;
  double(*j)[BODY_ROWS] = world->solver->mechanisms.coupling_jacobians + d->first_side;
  coupling_inputs in = {world->bodies, world->joints, NULL};
  memcpy(d->coordinate, k->coordinate, sizeof d->coordinate);
  coupling_value(k, &in, 0.0, d->coordinate, j);
  d->last_rate = coupling_rate(k, world->state, j) + k->rate_before_half_kick;
  d->sum = d->drive_sum = 0.0;
  d->target = (double)k->target;
  d->target_rate = ((double)k->def.drive.target - d->target) / (double)dt;
  d->half_kick_share = supported ? 0.0 : 0.5;
  d->first_share = supported || k->half_kick_done ? 1.0 : 0.5;
  for (int i = 0; i < COUPLING_PARTS; ++i) {
    d->impulse[i] = (double)(impulse_scale * k->impulse[i]);
    d->impulse_ahead[i] = (double)k->impulse_ahead[i]; // applied: not rescaled with the substep
  }
}

static void store_results(coupling *k, const direct_coupling *d, float dt)
{
  for (int i = 0; i < k->def.axis_count; ++i) {
    k->coordinate[i] = isfinite(d->coordinate[i]) ? d->coordinate[i] : k->coordinate[i];
  }
  for (int i = 0; i < COUPLING_PARTS; ++i) {
    k->impulse[i] = (float)d->impulse[i];
    k->impulse_ahead[i] = (float)d->impulse_ahead[i];
  }
  k->rate_before_half_kick = d->rate_before_half_kick;
  k->half_kick_done = d->half_kick_share > 0.0;
  k->force = force_in_range(d->sum / (double)dt);
  k->drive_force = force_in_range(d->drive_sum / (double)dt);
}

void couplings_end_step(tn_world *world, float dt)
{
  double gradient[COUPLING_SIDES][6];
  coupling_inputs in = {world->bodies, world->joints, NULL};
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    coupling *k = &world->couplings[i];
    if (k->alive && k->direct != NO_SLOT) {
      store_results(k, &world->solver->mechanisms.couplings[k->direct], dt);
    } else if (k->alive) {
      coupling_value(k, &in, 0.0, k->coordinate, gradient);
    }
    k->target = k->alive ? k->def.drive.target : k->target;
  }
}

double coupling_elastic_energy(const tn_world *world, const coupling *k)
{
  double gradient[COUPLING_SIDES][6], coordinate[TN_COUPLING_AXES];
  const tn_coupling_def *def = &k->def;
  coupling_inputs in = {world->bodies, world->joints, NULL};
  memcpy(coordinate, k->coordinate, sizeof coordinate);
  double c = coupling_value(k, &in, 0.0, coordinate, gradient), sum = 0.0;
  if (!coupling_is_active(world, k)) {
    return 0.0;
  }
  double lo = (double)def->range.lo, hi = (double)def->range.hi;
  if (def->compliance > 0.0f) {
    double beyond = c < lo ? c - lo : c > hi ? c - hi : 0.0;
    sum += 0.5 * beyond * beyond / (double)def->compliance;
  }
  double stretch = c - (double)def->rest, offset = fabs(c - (double)def->drive.target);
  sum += 0.5 * (double)def->stiffness * stretch * stretch;
  // A saturated drive pulls with constant force: the energy grows linearly.
  double k_drive = (double)def->drive.stiffness,
         most =
             (double)(c < (double)def->drive.target ? def->drive.limits.hi : -def->drive.limits.lo);
  sum += k_drive * offset <= most ? 0.5 * k_drive * offset * offset
                                  : most * (offset - 0.5 * most / k_drive);
  return sum;
}
