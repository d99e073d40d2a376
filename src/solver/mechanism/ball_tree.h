// Trees of ball joints: mechanisms in which every joint holds two points together and nothing else.
//
// Their bodies are eliminated before all joints, so what is left is one 3 x 3 block for each joint
// and one for each two joints of a body. Joints go from the tips of the tree inwards. Each then has
// blocks below it for the joints that are left at one of its bodies, and elimination fills no
// others.
#ifndef TENON_SOLVER_MECHANISM_BALL_TREE_H
#define TENON_SOLVER_MECHANISM_BALL_TREE_H

#include "solver/mechanism/direct_system.h"
#include "solver/solver_data.h"

#include <stdbool.h>

typedef float f32x4 __attribute__((vector_size(16)));

// What a step knows of eight joints. A padded lane names body 0, the world, twice.
typedef struct ball_block {
  alignas(64) int32_t a[BLOCK_WIDTH];
  int32_t b[BLOCK_WIDTH];
  float upper[BLOCK_WIDTH];    // 1 if B is the body in common with joints below, else 0
  float start[9][BLOCK_WIDTH]; // levers of A and B, gap
} ball_block;

// A joint in the order of elimination. What belongs to A has the opposite sign. Vectors have a
// fourth place that is zero unless something else is said.
typedef struct ball_joint {
  alignas(64) f32x4 k[2];  // inverse mass: xx xy xz, that of the upper body alone; yy yz zz
  f32x4 velocity;          // that is to vanish
  f32x4 error;             // over h
  f32x4 lever[2];          // from the centres of mass, and their squares
  f32x4 turn[3];           // how an impulse turns the upper body, by columns
  alignas(32) f64x4 up[3]; // block of the diagonal, less what was eliminated; then its inverse
  f64x4 x[2];              // what is asked in all, and for errors alone; then impulses
  union {
    f32x4 last;      // impulse of the substep, and its square as it is given
    float lambda[3]; // the same
  };
  union {
    f32x4 whole;
    float sum[3]; // of the step
  };
  int32_t first, count; // links
  int32_t upper;        // side of the body that it has in common with joints below it
  bool owns_impulse;    // its lambda is that of the joint
} ball_joint;

// Two joints of a body.
typedef struct ball_link {
  alignas(32) f64x4 k[3]; // their block, by columns
  int32_t below;          // the joint that is eliminated later
  int32_t side;           // on which it has the body
} ball_link;

#define MAX_BALLS_OF_BODY 6 // joints of a body: links grow with their square

typedef struct ball_body {
  int32_t slot;
  int32_t count;
  int32_t joint[MAX_BALLS_OF_BODY]; // twice its joints, and one more where it is B
} ball_body;

// The arrays begin with those of the tree; links name joints relative to its first.
typedef struct ball_tree {
  ball_block *blocks;
  ball_joint *balls;
  int32_t count;
  ball_link *links;
  const ball_body *bodies;
  int32_t body_count;
} ball_tree;

// Of the rows as stated.
typedef struct ball_extremes {
  float error;
  float square;       // of the speed of a body
  float inverse_mass; // of one
} ball_extremes;

typedef struct ball_ops {
  // Rows at the bodies' pose; relaxing ones have no errors.
  ball_extremes (*evaluate)(const solver_data *data, const ball_tree *tree, int relaxing);
  // Impulses that remove velocities and errors. `softness` is relative to the inverse mass that a
  // row sees. Returns twice the energy that those for errors alone would give to bodies at rest, or
  // a little more.
  double (*solve)(const ball_tree *tree, double regularization);
  // Once more for velocities as they are now.
  void (*resolve)(const solver_data *data, const ball_tree *tree);
  // The largest square of a speed that impulses for errors alone, once solved, give a body.
  double (*top_square)(const solver_data *data, const ball_tree *tree);
  // Gives the impulses. Those of the substep are `keep` of what they were and `take` of these.
  // Whether they may ask for more inertia than a body has.
  bool (*apply)(const solver_data *data, const ball_tree *tree, float keep, float take);
} ball_ops;

// About the principal axes.
static inline float mean_inertia(const solver_data *data, int32_t slot)
{
  float(*spin)[BLOCK_WIDTH] = data->bodies[(uint32_t)slot / BLOCK_WIDTH].spin;
  spin += offsetof(AngularState, inertia) / sizeof(R);
  uint32_t lane = (uint32_t)slot % BLOCK_WIDTH;
  return (spin[0][lane] + spin[1][lane] + spin[2][lane]) * (1.0f / 3.0f);
}

extern const ball_ops ball_ops_1, ball_ops_4, ball_ops_8;

#endif
