// Passes over soft bodies: particles, internal rows, attachments, contacts.
#include "solver/passes.h"
#include "solver/soft/soft_steps.h"

#define PARTICLE_BLOCK_GRAIN 32 // blocks of particles in a task: about 2 us

// Blocks of soft rows by soft_type; edges are the cheapest.
static const int SOFT_GRAIN[SOFT_TYPE_COUNT] = {32, 32, 16, 16, 8, 8, 8, 8};

// Particles of all soft bodies, in blocks of BLOCK_WIDTH; block 0 holds no particle.
void for_particles(step_context *s, pass_fn *pass)
{
  s->task.pass = pass;
  s->task.offset = 1;
  int blocks = s->soft.graph->solver_particle_count / BLOCK_WIDTH - 1;
  task_run(s->tasks, constraint_task, blocks, PARTICLE_BLOCK_GRAIN, &s->task);
  watch_pass(s);
}

// Internal constraints of soft bodies: chains, then type after type, clusters and pressure.
void for_soft_rows(step_context *s, soft_stage stage)
{
  const soft_system *system = &s->soft;
  soft_graph *g = system->graph;
  g->data.stage = stage;
  if (stage == SOFT_SOLVE || stage == SOFT_RELAX) {
    soft_solve_chains(system, s->data.substep.h, stage == SOFT_RELAX);
  } else if (stage == SOFT_POSITION) {
    soft_solve_chain_positions(system, s->data.substep.h);
  }
  watch_pass(s);
  for (int type = 0; type < (stage == SOFT_RELAX ? SOFT_TETHER + 1 : SOFT_TYPE_COUNT); ++type) {
    g->data.type = (soft_type)type;
    for_colors(s, g->color[type], g->color_count[type], g->overflow[type], SOFT_GRAIN[type],
               system->ops->rows);
  }
  if (stage != SOFT_RELAX) {
    soft_solve_clusters(system, s->data.substep.h, stage);
    watch_pass(s);
  }
  if (stage != SOFT_WARM_START) {
    soft_solve_pressure(system, s->data.substep.h, stage);
    watch_pass(s);
  }
  if (stage == SOFT_POSITION && g->data.jacobi_delta) {
    for_particles(s, system->ops->particles->average);
  }
}

// Attachments of soft bodies to rigid ones.
void for_attachments(step_context *s, soft_stage stage)
{
  const soft_coloring *l = s->soft.attachment_coloring;
  s->data.soft->stage = stage;
  for_colors(s, l->color, l->color_count, l->overflow, CONSTRAINT_GRAIN,
             s->soft.ops->contacts->attachments);
}

// In reverse order. A sweep forth and one back are together a symmetric operator. Of sweeps in one
// direction the product may have complex eigenvalues, and many attachments of a light body then
// amplify each other from substep to substep.
void for_attachments_reversed(step_context *s, soft_stage stage)
{
  if (!RULE(soft_attachment_reversed)) {
    for_attachments(s, stage);
    return;
  }
  const soft_coloring *l = s->soft.attachment_coloring;
  pass_fn *pass = s->soft.ops->contacts->attachments;
  s->data.soft->stage = stage;
  for (int32_t i = l->overflow.last; i > l->overflow.first; --i) {
    pass(&s->data, i - 1, i);
  }
  color_range none = {0, 0};
  for (int i = l->color_count - 1; i >= 0; --i) {
    for_colors(s, &l->color[i], 1, none, CONSTRAINT_GRAIN, pass);
  }
}

void for_soft_contacts(step_context *s, soft_stage stage)
{
  const soft_coloring *l = s->soft.contact_coloring;
  s->data.soft->stage = stage;
  for_colors(s, l->color, l->color_count, l->overflow, CONSTRAINT_GRAIN,
             s->soft.ops->contacts->soft_contacts);
}
