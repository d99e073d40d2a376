// Closest points of two capsule axes, in lanes. Compiled once for each lane width.
#include "detect/capsule_batch.h"

#include "base/rules.h"
#include "collide/collide_tuning.h"
#include "detect/detect_tuning.h"
#include "kernel/contact_geometry.h"
#include "kernel/transpose.h"

#define COLLIDE_CAPSULE_BATCH PASTE(collide_capsule_batch_, TN_LANES)

typedef struct Capsule {
  V axis;
  R half_length, radius, max_extent, bounding_radius;
  V v, w;
} Capsule;

KERNEL Capsule load_capsule(const capsule_batch *batch, int side, int first)
{
  R r[8], m[8];
  load8(batch->shape[side] + first, r);
  load8(batch->motion[side] + first, m);
  Capsule c = {v_make(r[0], r[1], r[2]), r[3], r[4], r[5], r[6], v_make(m[0], m[1], m[2]),
               v_make(m[4], m[5], m[6])};
  return c;
}

typedef struct CapsulePlace {
  Q turn;
  R restitution;
} CapsulePlace;

KERNEL CapsulePlace load_place(const capsule_batch *batch, int side, int first)
{
  const float *from[TN_LANES];
  R r[8];
  for (int i = 0; i < TN_LANES; ++i) {
    from[i] = batch->shape[side][first + i] + 8;
  }
  load8(from, r);
  CapsulePlace p = {{r[0], r[1], r[2], r[3]}, r[7]};
  return p;
}

// Both are capsules, not spheres, and nearly parallel. The factor stays clear of the threshold
// of the scalar path, which must decide such pairs.
KERNEL M is_parallel(const Capsule *a, const Capsule *b)
{
  R cosine = v_dot(a->axis, b->axis);
  return (1.0f - cosine * cosine < TUNING_PARALLEL_CAPSULES * COLLIDE_PARALLEL_SINE2) &
         (a->half_length > 0.0f) & (b->half_length > 0.0f);
}

KERNEL void collide_lanes(capsule_batch *batch, int first, R dt)
{
  Capsule a = load_capsule(batch, 0, first);
  Capsule b = load_capsule(batch, 1, first);
  V apart = v_make(load(batch->x + first), load(batch->y + first), load(batch->z + first));
  V ea = v_scale(2.0f * a.half_length, a.axis);
  V eb = v_scale(2.0f * b.half_length, b.axis);
  V pa = v_scale(-a.half_length, a.axis);
  V pb = v_scale(-b.half_length, b.axis);
  R s, t;
  closest_on_segments(v_add(apart, v_sub(pb, pa)), ea, eb, &s, &t);
  R along_a = a.half_length * (2.0f * s - 1.0f);
  R along_b = b.half_length * (2.0f * t - 1.0f);
  V d = v_add(apart, v_sub(v_scale(along_b, b.axis), v_scale(along_a, a.axis)));
  R distance = v_length(d);
  R radii = a.radius + b.radius;
  M inside = distance <= TUNING_MEETING_AXES * (radii + v_length(apart));
  R scale = pick(inside, splat(0.0f), 1.0f / distance);
  CapsulePlace place = load_place(batch, 0, first);
  V n = q_unrotate(place.turn, v_scale(scale, d));
  R size = r_min(a.bounding_radius, b.bounding_radius);
  R close = dt * (v_length(v_sub(b.v, a.v)) + v_length(a.w) * a.max_extent +
                  v_length(b.w) * b.max_extent);
  R restitution = r_max(place.restitution, load_place(batch, 1, first).restitution);
  R ahead = pick(restitution > 0.0f, TUNING_BOUNCE_SPEED_GAIN * close,
                 r_min(close, TUNING_CONTACT_MARGIN_CAP * size));
  M needs_scalar = inside | is_parallel(&a, &b) | (close > r_min(a.radius, b.radius));
  store(batch->along_a + first, along_a);
  store(batch->along_b + first, along_b);
  store(batch->gap + first, distance - radii);
  store(batch->nx + first, n.x);
  store(batch->ny + first, n.y);
  store(batch->nz + first, n.z);
  store(batch->margin + first,
        TUNING_CONTACT_MARGIN * size + (RULE(speculative_margin) ? ahead : splat(0.0f)));
  store(batch->fixed_normal + first,
        pick(close < TUNING_FIXED_NORMAL_MOTION * radii, splat(1.0f), splat(0.0f)));
  store(batch->needs_scalar + first, pick(needs_scalar, splat(1.0f), splat(0.0f)));
}

void COLLIDE_CAPSULE_BATCH(capsule_batch *batch, int count, float dt)
{
  for (int first = 0; first < count; first += TN_LANES) {
    collide_lanes(batch, first, splat(dt));
  }
}
