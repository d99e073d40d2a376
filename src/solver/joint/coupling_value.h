// Coordinates of couplings and of single joint axes at a pose, with their gradients.
#ifndef TENON_SOLVER_JOINT_COUPLING_VALUE_H
#define TENON_SOLVER_JOINT_COUPLING_VALUE_H

#include "data/bodies.h"
#include "data/couplings.h"
#include "data/joints.h"
#include "solver/joint/coupling_path.h"

// Pose of a body's centre of mass and principal axes.
typedef struct body_pose {
  tn_pos center;
  dquat rotation;
} body_pose;

// Coordinate of a joint axis and its gradient on the velocities v, w of A and B.
typedef struct axis_value {
  double q;       // m or rad
  double j[2][6]; // m/m, m/rad or rad/rad
} axis_value;

// What a coupling is evaluated from. Arrays are by slot.
typedef struct coupling_inputs {
  const body *bodies;
  const joint *joints;
  const body_state *state; // displacements since the step began; NULL: none
} coupling_inputs;

// Whether a kind of joint leaves an axis free: 0 to 2 offsets, 3 to 5 angles, see tn_coupling_axis.
bool joint_axis_is_free(const tn_joint_def *def, int axis);
// Whether the coordinate of an axis is an angle that counts turns.
bool joint_axis_counts_turns(tn_joint_kind kind, int axis);
axis_value joint_axis_value(const joint *j, int axis, const body_pose *a, const body_pose *b);

// Value c of a coupling and its gradient `j` on the velocities of its sides. `coordinate` holds the
// last coordinates of the axes, `elapsed` seconds ago, and receives the new ones; angles go on from
// there. `rate` of an axis, for the same reason, is taken from `state`.
double coupling_value(const coupling *k, const coupling_inputs *in, double elapsed,
                      double *coordinate, double (*j)[6]);
// The points of its path, at most TN_COUPLING_POINTS; returns their number.
int coupling_path_parts(const coupling *k, const coupling_inputs *in, path_part *parts);
// Rate dc/dt, for the gradient `j`.
double coupling_rate(const coupling *k, const body_state *state, double (*j)[6]);

#endif
