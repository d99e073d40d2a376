// Types of joints and parameters of their rows and axes.
#ifndef TENON_SOLVER_JOINT_JOINT_PARAMS_H
#define TENON_SOLVER_JOINT_JOINT_PARAMS_H

#include "data/joints.h"
#include "kernel/joint.h"

JointType joint_type(const joint *j);
// Linear rows, angular rows.
void joint_params(const joint *j, RowParams params[2]);
// What acts along an axis, tn_joint_axis; the target as the last step left it.
AxisParams joint_axis_params(const joint *j, int axis);
// Moves the target of a drive over a step of length dt: its start and rate.
void joint_interpolate_target(const joint *j, int axis, float dt, AxisParams *params);
// Target of a drive at the end of a step of length dt.
float joint_next_target(const joint *j, int axis, float dt);
// Adds what the definition uses to joint.axis_features.
void joint_note_features(joint *j);
// Whether a kind of joint leaves an axis free; of a generic joint its range decides.
bool joint_kind_frees_axis(tn_joint_kind kind, int axis);
bool joint_drive_acts(const tn_drive *drive);
// Whether the angle of an axis counts turns.
bool joint_counts_turns(tn_joint_kind kind, int axis);

#endif
