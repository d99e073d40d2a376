// What the soft body solver works on: the bodies, attachments and contacts of a world with their
// layout in the solver. Its stages (soft_steps.h) see nothing else of the world.
#ifndef TENON_SOLVER_SOFT_SOFT_SYSTEM_H
#define TENON_SOLVER_SOFT_SOFT_SYSTEM_H

#include "base/heap.h"
#include "base/log.h"
#include "base/task.h"
#include "data/bodies.h"
#include "data/shapes.h"
#include "data/softs.h"
#include "solver/soft/soft_graph.h"

#include <tenon/tenon.h>

// An attachment that broke or an edge that tore.
typedef struct soft_break {
  int32_t soft, attachment; // slots; attachment NO_SLOT: an edge tore
  int32_t particles[2];     // the particle and, after a tear, its first copy; -1: none
  tn_pos point;             // m, world
  tn_vec3 force;            // N, on the particle
} soft_break;

typedef void soft_break_fn(const soft_break *event, void *context);

// Valid until objects are added or removed: the arrays may then move.
typedef struct soft_system {
  heap *heap;
  const log_sink *log;
  task_pool *tasks;
  tn_method method;
  int substeps;
  tn_vec3 gravity; // m/s^2

  // By slot; loops run over [0, used) of the pools.
  soft *softs;
  attachment *attachments;
  const body *bodies;
  body_state *state; // of the bodies, as is inertia
  const body_inertia *inertia;
  const shape *shapes;
  const pool *soft_pool, *attachment_pool, *body_pool;
  soft_contact *contacts; // of the step
  int32_t contact_count;

  const soft_ops *ops;
  soft_graph *graph;
  soft_coloring *contact_coloring, *attachment_coloring;
  bool *layout_stale; // the graph must be built again before the next step

  soft_break_fn *on_break;
  void *break_context; // passed to on_break
} soft_system;

#endif
