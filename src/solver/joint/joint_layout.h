// Joints between records, blocks and mechanisms.
#ifndef TENON_SOLVER_JOINT_JOINT_LAYOUT_H
#define TENON_SOLVER_JOINT_JOINT_LAYOUT_H

#include "data/joints.h"
#include "solver/joint/joint_params.h"
#include "solver/mechanism/mechanism.h"
#include "solver/solver_data.h"

#include <tenon/tenon.h>

// The joint at the bodies' current poses.
JointStart joint_start(const tn_world *world, const joint *j);
// Parameters and impulses of a joint to its lane; impulses back.
void joint_pack(tn_world *world, int32_t slot);
void joint_unpack(const tn_world *world, joint *j);
void joint_clear_impulses(joint *j);
void joint_begin_step(tn_world *world, joint_block *block, float dt, float impulse_scale);
void joint_end_step(tn_world *world, joint_block *block, float dt);
void direct_joint_begin_step(tn_world *world, direct_joint *d, float dt, float impulse_scale);
void direct_joint_end_step(tn_world *world, direct_joint *d, float dt);
// A force or torque beyond the range of floats reads as the largest one.
float force_in_range(double f);
// Rows of a joint whose bodies have not moved since `start`.
void joint_linear_rows_now(JointType type, const JointStart *start, Rows *rows);
void joint_angular_rows_now(JointType type, const JointStart *start, const RowParams *params,
                            Rows *rows);
double joint_elastic_energy(const tn_world *world, const joint *j);
double joint_armature_energy(const tn_world *world, const joint *j);
// Position, m or rad, and rate of an axis at the bodies' current poses and velocities. Angles that
// count turns: the one nearest to joint.angle.
float joint_axis_position(const tn_world *world, const joint *j, int axis);
float joint_axis_rate(const tn_world *world, const joint *j, int axis);
// joint_break.c: disables joints whose force or torque exceeds their limit, and queues an event.
void break_overloaded_joints(tn_world *world);

#endif
