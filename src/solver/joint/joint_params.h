// Types of joints and parameters of their rows.
#ifndef TENON_SOLVER_JOINT_JOINT_PARAMS_H
#define TENON_SOLVER_JOINT_JOINT_PARAMS_H

#include "data/joints.h"
#include "kernel/joint.h"

JointType joint_type(const joint *j);
// Linear rows, angular rows.
void joint_params(const joint *j, RowParams params[2]);

#endif
