// Rows of joints that are solved directly, stated in lanes: blocks of joints of one type and one
// mechanism, or one batch of these.
#ifndef TENON_SOLVER_MECHANISM_JOINT_JACOBIANS_H
#define TENON_SOLVER_MECHANISM_JOINT_JACOBIANS_H

#include "solver/solver_data.h"

// Products of turns too small to see would be subnormal numbers, which are slow.
KERNEL Q flush_tiny_rotation(Q q)
{
  R none = splat(0.0f);
  Q seen = {pick(r_abs(q.x) < 1e-15f, none, q.x), pick(r_abs(q.y) < 1e-15f, none, q.y),
            pick(r_abs(q.z) < 1e-15f, none, q.z), pick(r_abs(q.w) < 1e-15f, none, q.w)};
  return seen;
}

// A padded lane names body 0, the world, twice.
typedef struct jacobian_block {
  alignas(64) int32_t a[BLOCK_WIDTH];
  int32_t b[BLOCK_WIDTH];
  float start[FIELDS(JointStart)][BLOCK_WIDTH];
  float lo[3][BLOCK_WIDTH], hi[3][BLOCK_WIDTH], middle[3][BLOCK_WIDTH]; // of ranges of angles
  float lever_length[BLOCK_WIDTH];                                      // of levers that turn
  JointType type;
  int32_t count;
  int32_t first_jacobian; // of the stated ones, joint by joint
  int32_t batch_row;      // of a batch's, which has each of its members' joints side by side, or -1
} jacobian_block;

typedef struct jacobian_row {
  double j[2][6];          // on the velocities of A and B
  float inverse_mass;      // inverse mass along the row
  float x;                 // coordinate
  float axis_inverse_mass; // inverse mass along the world's axis of the same number
} jacobian_row;

// How many of one joint: three linear, three angular if it has any, and three along the world's
// axes where linear motion is resisted in all directions.
KERNEL int jacobian_row_count(JointType type)
{
  return 3 * (1 + (angular_kind(type).rows > 0) + linear_kind(type).vector_dissipation);
}

#endif
