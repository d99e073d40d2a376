// Random joint graphs: bodies with mass ratios to 1e4, joints of all kinds whose frames need not
// meet, with limits, drives and springs.
#ifndef TENON_TEST_RANDOM_GRAPH_H
#define TENON_TEST_RANDOM_GRAPH_H

#include "support.h"

#define GRAPH_DT (1.0f / 60.0f)
#define GRAPH_SUBSTEPS 20
#define GRAPH_MAX_BODIES 16

typedef enum graph_kind {
  GRAPH_FAR,     // rigid joints that are metres apart
  GRAPH_RIGID,   // and half a metre at most, as in all that follow
  GRAPH_STIFF,   // weightless; a quarter of the joints are springs that a substep does not resolve
  GRAPH_SPRINGS, // all are springs that it does
  GRAPH_MIXED,   // rigid joints that meet, and springs that do not
  GRAPH_BETWEEN, // the same, of springs that a substep resolves or not, or in some directions
  GRAPH_TANGLED, // all are such springs
} graph_kind;

#define MAX_DRIVES 48

typedef struct booked_drive {
  tn_joint_id joint;
  tn_drive drive;
  bool angular;
  double x;    // the coordinate it acts along
  double work; // at most
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

// A tree with loops that may be impossible to close, some joints twice. Half of the graphs hang
// from their heaviest body; the others float, as falling would only add its own speed.
random_graph graph_create(uint32_t seed, graph_kind kind, int most_bodies);

#endif
