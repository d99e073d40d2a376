// Coarse levels of nets of rigid edges (cloth, surfaces), which carry loads over many edges in one
// pass.
//
// A node of a level is the mass-weighted mean of finer nodes, the particles being the finest:
//
//   M_j = sum_i w_ij m_i,   x_j = sum_i w_ij m_i x_i / M_j,   v_j likewise,   sum_j w_ij = 1
//
// and a change of its velocity moves them by dv_i = sum_j w_ij dv_j. Neighbouring nodes come no
// farther apart than at rest: one-sided distance rows, from the coarsest level to the finest. Since
// sum m_i dv_i = sum M_j dv_j and sum m_i x_i x dv_i = sum M_j x_j x dv_j, an impulse along the
// line between two nodes conserves both momenta of the particles; and sum m_i dv_i^2 <= sum M_j
// dv_j^2, so that corrections never overshoot.
#ifndef TENON_SOLVER_SOFT_SOFT_NETS_H
#define TENON_SOLVER_SOFT_SOFT_NETS_H

#include "base/heap.h"
#include "solver/coloring.h"

#define NET_LEVELS 10

typedef struct net_link {
  int32_t node; // solver index
  float weight;
} net_link;

typedef struct net_level {
  int32_t first, last; // solver indices of its nodes
  coloring rows;       // blocks of SOFT_NET rows
} net_level;

// Nodes have the solver indices that follow those of the particles.
typedef struct soft_nets {
  int32_t level_count; // 0: no net needs levels
  net_level level[NET_LEVELS];
  int32_t first_node, end; // solver indices of all nodes
  int32_t *part_first;     // by node from first_node: range of its parts
  net_link *part;          // finer nodes, weight w_ij m_i / M_j
  int32_t *pull_first;     // by solver index: range of its pulls
  net_link *pull;          // coarser nodes, weight w_ij
  float (*before)[3];      // m/s, by node from first_node: velocity before the level's rows
  int32_t part_first_capacity, part_capacity, pull_first_capacity, pull_capacity, before_capacity;
  // The levels are those of substeps in this range, s: longer ones would need more of them.
  float least_h, below_h;
} soft_nets;

#endif
