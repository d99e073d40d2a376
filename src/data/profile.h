// Time spent in the stages of a step.
#ifndef TENON_DATA_PROFILE_H
#define TENON_DATA_PROFILE_H

#include <tenon/tenon.h>

void profile_begin(tn_world *world);
// Stores the time since the end of the last stage, s.
void profile_end_stage(tn_world *world, double *part);

#endif
