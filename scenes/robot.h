// Dimensions of the robot arm, for tests of its reach.
#ifndef TENON_SCENES_ROBOT_H
#define TENON_SCENES_ROBOT_H

#include "scenes.h"

#define ROBOT_JOINTS 4

// A hinge at the start of a part; its axis is that of the upright arm, angles are right-handed.
typedef struct robot_joint {
  tn_vec3 axis;
  float length; // of the part
  float lo, hi; // rad
} robot_joint;

extern const robot_joint robot_joints[ROBOT_JOINTS];

tn_pos robot_target(const scene_run *run, double time);

#endif
