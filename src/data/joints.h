// Joints between steps.
#ifndef TENON_DATA_JOINTS_H
#define TENON_DATA_JOINTS_H

#include "base/dquat.h"
#include "kernel/blocks.h"
#include "kernel/joint.h"

#include <tenon/types.h>

typedef struct joint {
  uint32_t generation;
  int32_t next_free;
  bool alive, broken;
  int32_t slot[2]; // bodies A and B
  int32_t next[2]; // in each body's list: joint * 2 + side, or NO_SLOT
  int32_t previous[2];
  tn_joint_def def;
  dquat frame_rotation[2];                // of the joint's frames, to the principal axes
  tn_pos frame_point[2];                  // from the centre of mass, m, principal axes
  float target[TN_JOINT_AXIS_COUNT];      // of the drives at the end of the last step, m and rad
  float drive_force[TN_JOINT_AXIS_COUNT]; // mean over the last step, N and N m
  double angle[2];        // of TN_ANGULAR_A and B, with turns, as the last step ended, rad
  uint32_t axis_features; // 4 bits for each axis that has had them once: see axis_feature
  bool rates_stale;       // AxisState.rate must be taken from the velocities of the bodies
  int32_t direct;         // index in mechanism_set.joints, or NO_SLOT
  int32_t block, lane;    // place in joint_graph, or block == NO_SLOT
  tn_vec3 force, torque;  // mean over the last step, N and N m
  // Impulses of linear and angular rows and axes while the joint is in no block.
  float state[2][FIELDS(RowState)];
  float axis_state[2][3][FIELDS(AxisState)];
  float half_kick_impulse[2][3]; // already applied for the next step, see joint_passes.c
  float half_kick_done; // share of the impulses that was applied ahead at the end of the last step
} joint;

#endif
