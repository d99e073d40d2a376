// Jacobians of directly solved joints, evaluated in lanes: blocks of up to eight joints of one type
// and of one mechanism or batch.
#ifndef TENON_SOLVER_MECHANISM_JOINT_JACOBIANS_H
#define TENON_SOLVER_MECHANISM_JOINT_JACOBIANS_H

#include "solver/mechanism/mechanism_tuning.h"
#include "solver/solver_data.h"

// A block of joints. A padded lane has body 0, the world, on both sides.
typedef struct jacobian_block {
  alignas(64) int32_t a[BLOCK_WIDTH];
  int32_t b[BLOCK_WIDTH];
  float start[FIELDS(JointStart)][BLOCK_WIDTH];
  float lo[3][BLOCK_WIDTH], hi[3][BLOCK_WIDTH],
      middle[3][BLOCK_WIDTH];      // angular rows, as RowParams
  float lever_length[BLOCK_WIDTH]; // sum of the lever arms of moving bodies, m
  JointType type;
  int32_t count;
  int32_t first_jacobian; // joint by joint
  int32_t batch_row;      // first batch_jacobian; -1: not of a batch
} jacobian_block;

// One row at the current pose.
typedef struct jacobian_row {
  double j[2][6];          // J on the velocities of A and B
  float inverse_mass;      // J M^-1 J^T
  float x;                 // coordinate, m or rad
  float axis_inverse_mass; // inverse mass along the world axis with the row's number, of linear
                           // rows along world axes as if the two points met
  float x_ahead;           // coordinate at the pose that the drift leads to, see curved_drift.c
} jacobian_row;

// Rows of a joint: three linear, and three angular if it has such a block.
KERNEL int jacobian_row_count(JointType type)
{
  return 3 * (1 + (angular_kind(type).rows > 0));
}

#endif
