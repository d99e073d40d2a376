// What the solver keeps from step to step: the layout of contacts, joints, mechanisms and soft
// bodies in blocks, and the passes of the world's lane width.
#ifndef TENON_SOLVER_SOLVER_H
#define TENON_SOLVER_SOLVER_H

#include "solver/contact/contact_layout.h"
#include "solver/contact/load_estimate.h"
#include "solver/groups.h"
#include "solver/joint/joint_graph.h"
#include "solver/mechanism/mechanism.h"
#include "solver/recovery.h"
#include "solver/soft/soft_graph.h"

typedef struct solver {
  const solver_ops *ops;
  const contact_ops *contact_ops;
  const direct_ops *direct_ops;
  const ball_ops *ball_ops;
  const soft_ops *soft_ops;

  contact_graph contact_graph;
  solver_group_set groups;
  pair_summary *pair_summaries;          // by index in detection.active_pairs
  contact_placement *contact_placements; // in the order of active_pairs
  contact_placement *colored_placements; // shared ones by colour
  uint64_t *body_colors;                 // by body: bits of the colours that its contacts use
  color_sides *color_sides;              // in the order of contact_placements
  int32_t body_color_capacity, color_side_capacity;
  layout_chunk *layout_chunks;
  void *color_starts; // scratch of contact_coloring.c
  int32_t colored_placement_capacity, layout_chunk_capacity, color_start_capacity;
  body_contact_flags *contact_flags; // by body
  int32_t pair_summary_capacity, contact_placement_capacity, contact_flag_capacity;
  body_load *body_loads; // by body
  support_face *support_faces;
  int32_t body_load_capacity, support_face_capacity;

  joint_graph joint_graph;
  mechanism_set mechanisms;

  soft_graph soft_graph;
  soft_coloring soft_contact_coloring, attachment_coloring;

  // Scratch of islands.c: union-find over bodies and soft bodies; by root, the least rest beyond
  // what it takes to sleep, s, and the end of the sleep ring.
  int32_t *island_parent;
  float *island_rest;
  int32_t *island_ring_tail;
  int32_t island_capacity, island_rest_capacity, island_ring_tail_capacity;

  // State at the start of the step, see recovery.h.
  bool troubled;                       // something was not finite in this step
  body_start *starts;                  // by body
  contact_start_state *contact_starts; // by contact slot; only contacts of solver groups
  float *soft_starts;                  // rotations and velocity changes of shape matching clusters
  int32_t start_capacity, contact_start_capacity, soft_start_capacity;
} solver;

#endif
