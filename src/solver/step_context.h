// Everything a substep works on: the shared bodies and constraints, or those of a solver group. The
// passes of this folder run over it.
#ifndef TENON_SOLVER_STEP_CONTEXT_H
#define TENON_SOLVER_STEP_CONTEXT_H

#include "data/world.h"
#include "solver/soft/soft_system.h"
#include "solver/solver.h"

typedef void pass_fn(solver_data *data, int first, int last);

typedef struct pass_task {
  solver_data *data;
  const solver_ops *ops;
  pass_fn *pass;
  int offset;       // of the pass's first block
  kick_phase phase; // of kick_task
  int move;         // average_task also moves the bodies
} pass_task;

// Everything a substep works on: the shared bodies and constraints, or those of a group.
typedef struct step_context {
  tn_world *world;
  solver_data data;
  pass_task task;
  direct_context direct;
  soft_system soft;
  task_pool *tasks; // NULL: everything runs on this thread
  int32_t blocks;   // number of body blocks, in data.active
  const coloring *contacts;
  int32_t mechanisms;
  int32_t restitution_contacts;
  bool has_joints, has_contacts, has_softs;
  bool *watch; // of a watched run: set once something is not finite; otherwise NULL
} step_context;

#endif
