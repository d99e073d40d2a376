// Passes over mechanisms. Mechanisms share no dynamic body and run in parallel.
#include "solver/passes.h"

#include <math.h>

#define MECHANISM_GRAIN 1
#define WARM_START_GRAIN 64 // contacts

// A mechanism that may touch something is solved again after the contacts (DIRECT_RESOLVE) and
// relaxed at the new pose (DIRECT_RELAX). One that nothing supports is relaxed as the step ends.
static bool mechanism_needs_pass(const mechanism *m, direct_pass pass)
{
  return pass == DIRECT_BIAS || (pass == DIRECT_HALF_KICK ? !m->supported : m->may_touch);
}

static bool has_bad_warm_start(const mechanism *m, direct_pass pass)
{
  (void)pass;
  return m->bad_warm_start;
}

static void mechanism_task(int first, int last, void *context)
{
  for (int i = first; i < last; ++i) {
    mechanisms_solve(context, i, mechanism_needs_pass);
  }
}

static void resolve_bad_warm_start_task(int first, int last, void *context)
{
  for (int i = first; i < last; ++i) {
    mechanisms_solve(context, i, has_bad_warm_start);
  }
}

static void split_impulse_task(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    mechanism_finish_split_impulse(c, &c->set->list[i]);
  }
}

// Mechanisms share no dynamic body and run in parallel.
static void run_mechanisms(step_context *s, direct_pass pass, tn_task_fn *task)
{
  s->direct.pass = pass;
  int32_t count = s->mechanisms > 0 ? s->direct.set->work_count : 0;
  task_run(s->tasks, task, count, MECHANISM_GRAIN, &s->direct);
  watch_pass(s);
}

void for_mechanisms(step_context *s, direct_pass pass)
{
  run_mechanisms(s, pass, mechanism_task);
}

// The warm start of contacts must not add energy to a mechanism: the impulse that stopped a foot
// would throw the body up when it is applied again. Where warm-started points separate too fast,
// the mechanism is solved without these impulses, and again with the share of them that leaves it
// the least energy.
void limit_mechanism_warm_starts(step_context *s)
{
  int32_t count = s->mechanisms > 0 ? s->world->solver->mechanisms.warm_contact_count : 0;
  task_run(s->tasks, warm_contacts_measure, count, WARM_START_GRAIN, &s->direct);
  if (count > 0 && warm_contacts_remove_excess(&s->direct)) {
    run_mechanisms(s, DIRECT_RESOLVE, resolve_bad_warm_start_task);
    warm_contacts_reapply(&s->direct);
    run_mechanisms(s, DIRECT_RESOLVE, resolve_bad_warm_start_task);
  }
}

// Split impulse: takes the position correction out of the velocities, after the drift.
void finish_split_impulses(step_context *s)
{
  task_run(s->tasks, split_impulse_task, s->mechanisms, MECHANISM_GRAIN, &s->direct);
  watch_pass(s);
}

// After contacts_pack(), which takes contacts that bounce out of may_touch. No pose has a Jacobian
// or factors yet. Snapshots hold nothing of a mechanism: what its last substep left must not act.
void mechanism_begin_step(tn_world *world, mechanism *m)
{
  m->supported = m->may_touch = m->split_impulse = m->coasts = false;
  m->factors_stale = m->infeasible = m->infeasible_free = m->bad_warm_start = false;
  m->needs_added_inertia = m->maybe_overloaded = m->by_ball_tree = false;
  m->jacobian_pose = m->factor_pose = NO_SLOT;
  m->largest_mass[0] = m->largest_mass[1] = 0.0f;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &world->solver->mechanisms.nodes[i];
    if (!node->is_joint) {
      const tn_mass *mass = &world->bodies[node->index].mass;
      float inertia = (mass->inertia.xx + mass->inertia.yy + mass->inertia.zz) / 3.0f;
      m->largest_mass[0] = fmaxf(m->largest_mass[0], mass->mass);
      m->largest_mass[1] = fmaxf(m->largest_mass[1], inertia);
      m->supported = m->supported || world->bodies[node->index].supported;
      m->may_touch =
          m->may_touch || m->supported || world->solver->contact_flags[node->index].may_touch;
    }
  }
}
