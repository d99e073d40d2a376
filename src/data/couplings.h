// Couplings between steps.
#ifndef TENON_DATA_COUPLINGS_H
#define TENON_DATA_COUPLINGS_H

#include "base/heap.h"

#include <tenon/coupling.h>

// Most bodies of a coupling.
#define COUPLING_SIDES (2 * TN_COUPLING_AXES + TN_COUPLING_POINTS)

// What acts on a coupling: one row each, in this order.
typedef enum coupling_part {
  COUPLING_RANGE,
  COUPLING_SPRING,
  COUPLING_DRIVE,
  COUPLING_FRICTION,
  COUPLING_PARTS
} coupling_part;

typedef struct coupling {
  uint32_t generation;
  int32_t next_free;
  bool alive;
  tn_coupling_def def;
  int32_t joint[TN_COUPLING_AXES]; // slots of the axes' joints
  // Its bodies, each once and without the world, in the order in which axes and points name them.
  int32_t side_count;
  int32_t side_body[COUPLING_SIDES];     // slots
  int8_t axis_side[TN_COUPLING_AXES][2]; // sides of A and B; -1: the world
  int8_t point_side[TN_COUPLING_POINTS]; // the same
  double coordinate[TN_COUPLING_AXES];   // of the axes at the end of the last step, m or rad
  float target;                          // of the drive at the end of the last step
  float impulse[COUPLING_PARTS];         // of the last substep, N s
  float impulse_ahead[COUPLING_PARTS];   // given at the end of the last step for this one
  double
      rate_before_half_kick; // its rate before the half kick that ended the last step, less after
  bool half_kick_done;       // impulse_ahead was given
  float force, drive_force;  // mean over the last step, N
  int32_t direct;            // index in mechanism_set.couplings, or NO_SLOT
} coupling;

#endif
