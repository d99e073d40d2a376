// Ball trees: mechanisms without loops in which every joint is a rigid ball joint.
//
// Bodies are eliminated first, which leaves the joint-space matrix J M^-1 J^T: one 3 x 3 block for
// each joint and one for each two joints of a body. Joints are eliminated from the leaves of the
// tree inwards. The remaining neighbours of a joint are then all at one of its bodies and already
// linked with each other, so elimination adds no fill.
#ifndef TENON_SOLVER_MECHANISM_BALL_TREE_H
#define TENON_SOLVER_MECHANISM_BALL_TREE_H

#include "solver/mechanism/direct_system.h"
#include "solver/solver_data.h"

#include <stdbool.h>

typedef float f32x4 __attribute__((vector_size(16)));

// Eight joints: constant data of a step, in lanes. A padded lane has body 0, the world, on both
// sides.
typedef struct ball_block {
  alignas(64) int32_t a[BLOCK_WIDTH];
  int32_t b[BLOCK_WIDTH];
  float upper[BLOCK_WIDTH];    // 1 if B is the upper body (see ball_joint.upper), else 0
  float start[9][BLOCK_WIDTH]; // JointStart: lever arms of A and B, gap; m
} ball_block;

// A joint in the order of elimination. "Below" means later in that order. Quantities of A are
// negated. The fourth component of a vector is zero unless stated.
typedef struct ball_joint {
  alignas(64) f32x4 k[2]; // inverse mass matrix: xx xy xz, inverse mass of the upper body; yy yz zz
  f32x4 velocity;         // relative velocity of the anchors, m/s
  f32x4 error;            // position error over h, m/s
  f32x4 lever[2];         // lever arms of A and B, m; fourth: squared length
  f32x4 turn[3];          // I^-1 [r]x of the upper body, by columns
  alignas(32) f64x4 up[3]; // diagonal block under elimination, then its inverse
  f64x4 x[2]; // right-hand sides for velocity + error and for error alone; then impulses
  union {
    f32x4 last; // impulse of the substep, N s; fourth: its square
    float lambda[3];
  };
  union {
    f32x4 whole;
    float sum[3]; // impulse of the step, N s
  };
  int32_t first, count; // links to the joints below
  int32_t upper;        // side (0 A, 1 B) of the upper body: the one shared with joints below
  bool owns_impulse;    // lambda is the joint's impulse, not direct_joint.state
} ball_joint;

// Off-diagonal block of two joints at a body.
typedef struct ball_link {
  alignas(32) f64x4 k[3]; // by columns
  int32_t below;          // the joint eliminated later, relative to the tree's first
  int32_t side;           // side on which that joint has the body
} ball_link;

// A body of a tree and its joints.
typedef struct ball_body {
  int32_t slot;
  int32_t count;
  int32_t joint[TUNING_BALL_TREE_DEGREE]; // 2 * joint + side
} ball_body;

// One tree; its arrays begin with its own elements.
typedef struct ball_tree {
  ball_block *blocks;
  ball_joint *balls;
  int32_t count;
  ball_link *links;
  const ball_body *bodies;
  int32_t body_count;
} ball_tree;

// Maxima over the rows of a tree.
typedef struct ball_extremes {
  float error;        // position error over h, m/s
  float square;       // squared speed of a body
  float inverse_mass; // of a body, 1/kg
} ball_extremes;

typedef struct ball_ops {
  // Jacobians, errors and velocities at the current pose; no errors if `relaxing`.
  ball_extremes (*evaluate)(const solver_data *data, const ball_tree *tree, int relaxing);
  // Impulses that remove velocities and errors. `regularization` is relative to the diagonal.
  // Returns an upper bound of twice the energy that the impulses for errors alone would give to
  // bodies at rest.
  double (*solve)(const ball_tree *tree, double regularization);
  // Solves again with the same factors, for the current velocities.
  void (*resolve)(const solver_data *data, const ball_tree *tree);
  // Largest squared speed of a body under the impulses for errors alone.
  double (*top_square)(const solver_data *data, const ball_tree *tree);
  // Applies the impulses; lambda = keep * lambda + take * impulse. Returns whether a body may
  // exceed TUNING_STIFFNESS_RESOLVED.
  bool (*apply)(const solver_data *data, const ball_tree *tree, float keep, float take);
} ball_ops;

// Mean of the principal moments of inertia, kg m^2.
static inline float mean_inertia(const solver_data *data, int32_t slot)
{
  float(*spin)[BLOCK_WIDTH] = data->bodies[(uint32_t)slot / BLOCK_WIDTH].spin;
  spin += offsetof(AngularState, inertia) / sizeof(R);
  uint32_t lane = (uint32_t)slot % BLOCK_WIDTH;
  return (spin[0][lane] + spin[1][lane] + spin[2][lane]) * (1.0f / 3.0f);
}

extern const ball_ops ball_ops_1, ball_ops_4, ball_ops_8;

#endif
