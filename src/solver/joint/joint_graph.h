// Joints that Gauss-Seidel solves.
#ifndef TENON_SOLVER_JOINT_JOINT_GRAPH_H
#define TENON_SOLVER_JOINT_JOINT_GRAPH_H

#include "solver/coloring.h"
#include "solver/solver_data.h"

#include <tenon/tenon.h>

// Joints that Gauss-Seidel solves.
typedef struct joint_graph {
  joint_block *blocks;
  int32_t block_count, block_capacity;
  coloring coloring;
} joint_graph;

bool joint_graph_build(tn_world *world);
void joint_graph_release(tn_world *world);

#endif
