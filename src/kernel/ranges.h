// Range checks of public arguments (math.c).
#ifndef TENON_KERNEL_RANGES_H
#define TENON_KERNEL_RANGES_H

#include <tenon/types.h>

bool is_finite3(tn_vec3 v);
bool is_finite_pos(tn_pos p);
// Ranges that public calls accept: TN_MAX_DISTANCE and TN_MAX_RATE. False for NaN.
bool is_position(tn_pos p);
bool is_offset(tn_vec3 v); // of a point in a body's frame
bool is_rate(tn_vec3 v);
bool is_rotation(tn_quat q);

#endif
