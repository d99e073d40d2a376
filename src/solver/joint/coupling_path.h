// Length of a coupling's path and its gradient: a polyline through points, around round solids.
#ifndef TENON_SOLVER_JOINT_COUPLING_PATH_H
#define TENON_SOLVER_JOINT_COUPLING_PATH_H

#include "base/dquat.h"

#include <tenon/coupling.h>

// A point of the path at the current pose of its body.
typedef struct path_part {
  const tn_coupling_point *of;
  tn_pos at, lever; // in the world; from the body's centre of mass
  dquat turn;       // of the body's frame
  int8_t side;      // of the coupling; -1: the world
} path_part;

enum { PATH_CORNERS = 2 * TN_COUPLING_POINTS };

// The points where the path touches the solids, in order with those it passes through.
typedef struct path_corner {
  tn_pos at;
  double factor; // of the part of the path that ends here; 0: none does
} path_corner;

// Sum of the lengths times their factors. Its gradient on the velocities of the sides is added to
// `j`, unless null.
double path_length(const path_part *parts, int count, double (*j)[6]);
// At most PATH_CORNERS; returns their number. Arcs are left to the straight line.
int path_corners(const path_part *parts, int count, path_corner *corners);

#endif
