// Checks and writes of a body's state that the calls for one body and those for many share.
#ifndef TENON_WORLD_BODY_WRITE_H
#define TENON_WORLD_BODY_WRITE_H

#include "data/world.h"

// The reason why the body cannot be there, or null. The rotation need not be exactly unit.
const char *body_pose_problem(const body *b, tn_pos position, dquat rotation);
// Wakes the body and moves it, with its shapes. False when out of memory.
bool body_move(tn_world *world, int32_t slot, tn_pos position, dquat rotation);
// Whether the total force and torque accelerate the body by no more than TN_MAX_RATE.
bool body_can_bear(const body *b, tn_vec3 force, tn_vec3 torque);

#endif
