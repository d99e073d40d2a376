// Sphere and capsule pairs collided in lanes: input and output of capsule_batch.c.
#ifndef TENON_DETECT_CAPSULE_BATCH_H
#define TENON_DETECT_CAPSULE_BATCH_H

#define CAPSULE_BATCH 64 // pairs; a multiple of all lane widths

// `shape` points at shape_cache from `axis` on, 16 floats: axis 3, half_length, radius, max_extent,
// bounding_radius, speed, rotation 4, offset 3, restitution.
typedef struct capsule_batch {
  const float *shape[2][CAPSULE_BATCH];
  const float *motion[2][CAPSULE_BATCH]; // body_state.motion: v 3, one unused, w 3, one unused
  // Input: from A's centre to B's, m, world axes.
  _Alignas(64) float x[CAPSULE_BATCH];
  float y[CAPSULE_BATCH], z[CAPSULE_BATCH];
  // Output: closest points along the axes, m from the middle of each; the gap between the surfaces,
  // m; the normal from A to B in A's frame.
  float along_a[CAPSULE_BATCH], along_b[CAPSULE_BATCH];
  float gap[CAPSULE_BATCH];
  float nx[CAPSULE_BATCH], ny[CAPSULE_BATCH], nz[CAPSULE_BATCH];
  float margin[CAPSULE_BATCH];       // m, gap up to which there is a contact
  float fixed_normal[CAPSULE_BATCH]; // 1: so slow that the normal may stay for the whole step
  float needs_scalar[CAPSULE_BATCH]; // 1: parallel, fast or intersecting axes, left to collide()
} capsule_batch;

typedef void capsule_batch_fn(capsule_batch *batch, int count, float dt);
void collide_capsule_batch_1(capsule_batch *batch, int count, float dt);
void collide_capsule_batch_4(capsule_batch *batch, int count, float dt);
void collide_capsule_batch_8(capsule_batch *batch, int count, float dt);

#endif
