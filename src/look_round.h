// Spheres and capsules among each other, many pairs at a time: what look_round.c reads and finds.
#ifndef TENON_LOOK_ROUND_H
#define TENON_LOOK_ROUND_H

#define ROUND_BATCH 64

// A shape is 16 floats: its axis 3, half its length, radius, arm, reach, speed; how it is turned 4,
// and more.
typedef struct round_batch {
  const float *shape[2][ROUND_BATCH];
  const float *motion[2][ROUND_BATCH]; // of their bodies: v 3, any, w 3, any
  // From A's centre to B's.
  _Alignas(64) float x[ROUND_BATCH];
  float y[ROUND_BATCH], z[ROUND_BATCH];
  // Found: places along the axes from their middles, what is between the surfaces, and the normal
  // in A's frame.
  float along_a[ROUND_BATCH], along_b[ROUND_BATCH];
  float gap[ROUND_BATCH];
  float nx[ROUND_BATCH], ny[ROUND_BATCH], nz[ROUND_BATCH];
  float margin[ROUND_BATCH];  // within which there is a contact
  float steady[ROUND_BATCH];  // 1: so slow that the normal will hardly turn
  float special[ROUND_BATCH]; // 1: parallel, fast or one inside the other: not for lanes
} round_batch;

typedef void look_round_fn(round_batch *batch, int count, float dt);
void look_round_1(round_batch *batch, int count, float dt);
void look_round_4(round_batch *batch, int count, float dt);
void look_round_8(round_batch *batch, int count, float dt);

#endif
