// Spheres and capsules among each other, many pairs at a time: what look_round.c reads and finds.
#ifndef TENON_DETECT_CAPSULE_BATCH_H
#define TENON_DETECT_CAPSULE_BATCH_H

#define CAPSULE_BATCH 64

// A shape is 16 floats: its axis 3, half its length, radius, max_extent, bounding_radius, speed;
// how it is turned 4, and more.
typedef struct capsule_batch {
  const float *shape[2][CAPSULE_BATCH];
  const float *motion[2][CAPSULE_BATCH]; // of their bodies: v 3, any, w 3, any
  // From A's centre to B's.
  _Alignas(64) float x[CAPSULE_BATCH];
  float y[CAPSULE_BATCH], z[CAPSULE_BATCH];
  // Found: places along the axes from their middles, what is between the surfaces, and the normal
  // in A's frame.
  float along_a[CAPSULE_BATCH], along_b[CAPSULE_BATCH];
  float gap[CAPSULE_BATCH];
  float nx[CAPSULE_BATCH], ny[CAPSULE_BATCH], nz[CAPSULE_BATCH];
  float margin[CAPSULE_BATCH];       // within which there is a contact
  float fixed_normal[CAPSULE_BATCH]; // 1: so slow that the normal will hardly turn
  float needs_scalar[CAPSULE_BATCH]; // 1: parallel, fast or one inside the other: not for lanes
} capsule_batch;

typedef void capsule_batch_fn(capsule_batch *batch, int count, float dt);
void collide_capsule_batch_1(capsule_batch *batch, int count, float dt);
void collide_capsule_batch_4(capsule_batch *batch, int count, float dt);
void collide_capsule_batch_8(capsule_batch *batch, int count, float dt);

#endif
