// Trees of ball joints: mechanisms in which every joint holds two points together and nothing else.
//
// Their bodies are eliminated before all joints, so what is left is one 3 x 3 block for each joint
// and one for each two joints of a body. Joints go from the tips of the tree inwards. Each then has
// blocks below it for the joints that are left at one of its bodies, and elimination fills no
// others.
#ifndef TENON_POINT_STORE_H
#define TENON_POINT_STORE_H

#include "direct_store.h"
#include "store.h"

#include <stdbool.h>

typedef float quad __attribute__((vector_size(16)));

// What a step knows of eight joints. A padded lane names body 0, the world, twice.
typedef struct point_block {
  alignas(64) int32_t a[BLOCK_WIDTH];
  int32_t b[BLOCK_WIDTH];
  float upper[BLOCK_WIDTH];    // 1 if B is the body in common with joints below, else 0
  float start[9][BLOCK_WIDTH]; // levers of A and B, gap
} point_block;

// A joint in the order of elimination. What belongs to A has the opposite sign. Vectors have a
// fourth place that is zero unless something else is said.
typedef struct point_joint {
  alignas(64) quad k[2];   // inverse mass: xx xy xz, that of the upper body alone; yy yz zz
  quad velocity;           // that is to vanish
  quad error;              // over h
  quad lever[2];           // from the centres of mass, and their squares
  quad turn[3];            // how an impulse turns the upper body, by columns
  alignas(32) quad2 up[3]; // block of the diagonal, less what was eliminated; then its inverse
  quad2 x[2];              // what is asked in all, and for errors alone; then impulses
  union {
    quad last;       // impulse of the substep, and its square as it is given
    float lambda[3]; // the same
  };
  union {
    quad whole;
    float sum[3]; // of the step
  };
  int32_t first, count; // links
  int32_t upper;        // side of the body that it has in common with joints below it
  bool counts;          // its lambda is that of the joint
} point_joint;

// Two joints of a body.
typedef struct point_link {
  alignas(32) quad2 k[3]; // their block, by columns
  int32_t below;          // the joint that is eliminated later
  int32_t side;           // on which it has the body
} point_link;

#define MAX_STAR 6 // joints of a body: links grow with their square

typedef struct point_body {
  int32_t slot;
  int32_t count;
  int32_t joint[MAX_STAR]; // twice its joints, and one more where it is B
} point_body;

// The arrays begin with those of the tree; links name joints relative to its first.
typedef struct point_tree {
  point_block *blocks;
  point_joint *points;
  int32_t count;
  point_link *links;
  const point_body *bodies;
  int32_t body_count;
} point_tree;

// Of the rows as stated.
typedef struct point_extremes {
  float error;
  float square;       // of the speed of a body
  float inverse_mass; // of one
} point_extremes;

typedef struct point_ops {
  // Rows at the bodies' pose; relaxing ones have no errors.
  point_extremes (*state)(const solver_data *data, const point_tree *tree, int relaxing);
  // Impulses that remove velocities and errors. `softness` is relative to the inverse mass that a
  // row sees. Returns twice the energy that those for errors alone would give to bodies at rest, or
  // a little more.
  double (*solve)(const point_tree *tree, double softness);
  // Once more for velocities as they are now.
  void (*again)(const solver_data *data, const point_tree *tree);
  // The largest square of a speed that impulses for errors alone, once solved, give a body.
  double (*top_square)(const solver_data *data, const point_tree *tree);
  // Gives the impulses. Those of the substep are `keep` of what they were and `take` of these.
  // Whether they may ask for more inertia than a body has.
  bool (*apply)(const solver_data *data, const point_tree *tree, float keep, float take);
} point_ops;

// About the principal axes.
static inline float mean_inertia(const solver_data *data, int32_t slot)
{
  float(*spin)[BLOCK_WIDTH] = data->bodies[(uint32_t)slot / BLOCK_WIDTH].spin;
  spin += offsetof(Spin, inertia) / sizeof(R);
  uint32_t lane = (uint32_t)slot % BLOCK_WIDTH;
  return (spin[0][lane] + spin[1][lane] + spin[2][lane]) * (1.0f / 3.0f);
}

extern const point_ops point_ops_1, point_ops_4, point_ops_8;

#endif
