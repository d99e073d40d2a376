// TN_METHOD_TENON: XPBD in impulse form
//
// Rows are linearised at the pose where a substep begins, and solved for velocities such that the
// drift ends on the constraint:
//   C / h + J v + (alpha / h^2) lambda = 0,
// which is eq. 4 divided by h, with a warm start from the impulses of the last substep. After the
// drift a relax pass at the new pose removes the position bias from the velocities of bodies in
// contact.
// Forces act half before and half after the drift, and at the end of a step joints apply half of
// their next impulse: the velocities read between steps belong to the time of the positions.
#include "solver/contact/impact.h"
#include "solver/passes.h"
#include "solver/step.h"

static void solve_joints(step_context *s)
{
  for (int k = 0; k < s->world->iterations; ++k) {
    for_joints(s, s->world->solver->ops->joint_solve);
  }
}

static void solve_softs(step_context *s)
{
  for (int k = 0; k < s->world->iterations; ++k) {
    for_soft_rows(s, SOFT_SOLVE);
    for_attachments_reversed(s, SOFT_SOLVE);
    for_soft_contacts(s, SOFT_SOLVE);
  }
}

// Impacts come before the contact solve; they move bodies, so gaps are computed again.
static void impact_pass(step_context *s)
{
  if (s->restitution_contacts > 0 && impacts_solve(s->world, &s->data)) {
    watch_pass(s);
    for_contacts(s, s->world->solver->contact_ops->refresh);
    s->direct.pose += 1;
  }
}

void substep_tenon(step_context *s, int i)
{
  const contact_ops *contacts = s->world->solver->contact_ops;
  kick_bodies(s, i == 0 ? KICK_FIRST : KICK_WHOLE);
  if (s->has_contacts) {
    impact_pass(s);
    if (!s->data.substep.deferred_warm_start) {
      for_contacts(s, contacts->warm_start);
    }
    // The relax pass may warm start the next substep, unless impacts come in between. The last
    // substep does not: contacts are packed anew between steps.
    s->data.substep.deferred_warm_start =
        i + 1 < s->world->substeps &&
        s->world->solver->contact_graph.restitution_contact_count == 0;
  }
  if (s->has_softs) {
    for_soft_rows(s, SOFT_WARM_START);
    for_attachments(s, SOFT_WARM_START);
    for_soft_contacts(s, SOFT_WARM_START);
    // Attachments and contacts respond to the warm start of the soft rows before these are solved,
    // or the solve would give the same impulse again.
    for_attachments(s, SOFT_SOLVE);
    for_soft_contacts(s, SOFT_SOLVE);
  }
  s->direct.first_substep = i == 0;
  for_mechanisms(s, DIRECT_BIAS);
  limit_mechanism_warm_starts(s);
  for_joints(s, s->world->solver->ops->joint_warm_start);
  solve_joints(s);
  if (s->has_softs) {
    solve_softs(s);
  }
  if (s->has_contacts) {
    int passes = s->world->solver->contact_graph.min_passes;
    for (int k = 0; k < passes || k < s->world->iterations; ++k) {
      for_contacts(s, contacts->solve);
    }
    solve_joints(s);
  }
  bool touched = s->has_contacts || s->has_softs;
  if (touched) {
    for_mechanisms(s, DIRECT_RESOLVE);
  }
  drift_bodies(s);
  finish_split_impulses(s);
  if (s->has_contacts) {
    for_contacts(s, contacts->relax);
  }
  if (s->has_softs) {
    for_soft_rows(s, SOFT_RELAX);
    for_attachments(s, SOFT_RELAX);
    for_soft_contacts(s, SOFT_RELAX);
  }
  if (touched) {
    for_mechanisms(s, DIRECT_RELAX);
  }
}

// The rest of the last kick. Joints apply half of their impulse ahead, and rigid rows stop their
// relative velocity.
void finish_tenon(step_context *s)
{
  const solver_ops *ops = s->world->solver->ops;
  kick_bodies(s, KICK_LAST);
  s->data.substep.half_kick = true;
  for_mechanisms(s, DIRECT_HALF_KICK);
  for_joints(s, ops->joint_warm_start);
  for (int k = 0; k < s->world->iterations; ++k) {
    for_joints(s, ops->joint_relax);
  }
}
