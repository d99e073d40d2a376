// Random joint graphs: bodies with mass ratios up to 1e4, joints of all kinds whose frames need not
// coincide, with limits, drives and springs.
#ifndef TENON_TEST_RANDOM_GRAPH_H
#define TENON_TEST_RANDOM_GRAPH_H

#include "support.h"

#define GRAPH_DT (1.0f / 60.0f)
#define GRAPH_SUBSTEPS 20
#define GRAPH_MAX_BODIES 16

typedef enum graph_kind {
  GRAPH_FAR,     // rigid joints with frames metres apart
  GRAPH_RIGID,   // rigid joints with frames up to 0.5 m apart, as in all that follow
  GRAPH_STIFF,   // no gravity; a quarter of the joints are springs too stiff for the substep
  GRAPH_SPRINGS, // all joints are springs that the substep resolves
  GRAPH_MIXED,   // rigid joints without error, and springs with error
  GRAPH_BETWEEN, // as GRAPH_MIXED, with springs near the stiffness that a substep resolves
  GRAPH_TANGLED, // only springs of that stiffness
} graph_kind;

#define MAX_DRIVES 48

typedef struct booked_drive {
  tn_joint_id joint;
  tn_drive drive;
  bool angular;
  double x;    // joint coordinate it acts on, m or rad
  double work; // upper bound of the work done, J
} booked_drive;

typedef struct random_graph {
  tn_world *world;
  tn_body_id body[GRAPH_MAX_BODIES];
  int count;
  booked_drive drive[MAX_DRIVES];
  int drive_count;
  bool hangs;
  uint32_t seed;
  graph_kind kind;
} random_graph;

// A tree plus loops that may be infeasible, and some duplicate joints. Half of the graphs hang from
// their heaviest body; the others float without gravity, since falling would only add speed.
random_graph graph_create(uint32_t seed, graph_kind kind, int most_bodies);

#endif
