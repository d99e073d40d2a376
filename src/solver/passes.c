// Passes over bodies, joints and contacts, on all threads. Constraints of a colour share no dynamic
// body and run in parallel.
#include "solver/passes.h"

// Least work of a task: about 2 us.
#define BODY_BLOCK_GRAIN 32 // blocks of bodies

static void kick_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->kick(t->data, first, last, t->phase);
}

static void drift_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->drift(t->data, first, last);
}

static void update_momenta_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->update_momenta(t->data, first, last);
}

static void average_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->ops->average(t->data, first, last, t->move);
}

void constraint_task(int first, int last, void *context)
{
  pass_task *t = context;
  t->pass(t->data, t->offset + first, t->offset + last);
}

// After each pass of a watched run: marks the first bodies whose state is not finite.
void watch_pass(const step_context *s)
{
  if (s->watch && !*s->watch) {
    *s->watch = lost_find(s->world, false);
  }
}

static void for_bodies(step_context *s, tn_task_fn *task)
{
  task_run(s->tasks, task, s->blocks, BODY_BLOCK_GRAIN, &s->task);
  watch_pass(s);
}

// Gauss-Seidel: colour after colour. Constraints of a colour share no dynamic body and run in
// parallel; those of the overflow run serially.
void for_colors(step_context *s, const color_range *colors, int count, color_range overflow,
                int grain, pass_fn *pass)
{
  s->task.pass = pass;
  s->task.offset = 0;
  int stages = s->watch ? 1 : count; // colours in separate calls, to look in between
  for (int i = 0; i < count; i += stages) {
    task_run_stages(s->tasks, constraint_task, colors + i, stages, grain, &s->task);
    watch_pass(s);
  }
  pass(&s->data, overflow.first, overflow.last);
  watch_pass(s);
}

static void for_coloring(step_context *s, const coloring *c, pass_fn *pass)
{
  for_colors(s, c->color, c->count, c->overflow, CONSTRAINT_GRAIN, pass);
}

void for_joints(step_context *s, pass_fn *pass)
{
  if (s->has_joints) {
    for_coloring(s, &s->world->solver->joint_graph.coloring, pass);
  }
}

void for_contacts(step_context *s, pass_fn *pass)
{
  for_coloring(s, s->contacts, pass);
}

void kick_bodies(step_context *s, kick_phase phase)
{
  s->task.phase = phase;
  for_bodies(s, kick_task);
  if (s->has_softs) {
    s->data.soft->phase = phase;
    for_particles(s, s->world->solver->soft_ops->particles->kick);
  }
}

void drift_bodies(step_context *s)
{
  for_bodies(s, drift_task);
  s->direct.pose += 1;
  if (s->has_softs) {
    for_particles(s, s->world->solver->soft_ops->particles->drift);
  }
}

// L = R I R^T w of all bodies, after the substeps.
void update_momenta(step_context *s)
{
  for_bodies(s, update_momenta_task);
}

// Jacobi: applies the averaged corrections; `move`: to the poses as well.
void average_corrections(step_context *s, bool move)
{
  s->task.move = move;
  for_bodies(s, average_task);
}
