// Passes of a substep: each runs one operation over all bodies or constraints of a kind, on all
// threads.
#ifndef TENON_SOLVER_PASSES_H
#define TENON_SOLVER_PASSES_H

#include "base/task.h"
#include "solver/step_context.h"

// passes.c
tn_task_fn constraint_task;
// After each pass of a watched run: marks the first bodies whose state is not finite.
void watch_pass(const step_context *s);
// Gauss-Seidel: colour after colour; the overflow runs serially.
void for_colors(step_context *s, const color_range *colors, int count, color_range overflow,
                int grain, pass_fn *pass);
void for_joints(step_context *s, pass_fn *pass);
void for_contacts(step_context *s, pass_fn *pass);
void kick_bodies(step_context *s, kick_phase phase);
void drift_bodies(step_context *s);
// L = R I R^T w of all bodies, after the substeps.
void update_momenta(step_context *s);
// Jacobi: applies the averaged corrections; `move`: to the poses as well.
void average_corrections(step_context *s, bool move);

// soft_passes.c
void for_particles(step_context *s, pass_fn *pass);
void for_soft_rows(step_context *s, soft_stage stage);
void for_attachments(step_context *s, soft_stage stage);
void for_attachments_reversed(step_context *s, soft_stage stage);
void for_soft_contacts(step_context *s, soft_stage stage);

// mechanism_passes.c
void for_mechanisms(step_context *s, direct_pass pass);
void limit_mechanism_warm_starts(step_context *s);
void finish_split_impulses(step_context *s);
// Call after contacts_pack().
void mechanism_begin_step(tn_world *world, mechanism *m);

#define CONSTRAINT_GRAIN                                                                           \
  4 // blocks of joints, contacts, soft contacts or attachments in a task: 2 us

#endif
