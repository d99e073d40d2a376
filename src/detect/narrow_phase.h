// Narrow phase for one pair of shapes, and for batches of spheres and capsules.
#ifndef TENON_DETECT_NARROW_PHASE_H
#define TENON_DETECT_NARROW_PHASE_H

#include "data/world.h"
#include "detect/detect_tuning.h"

#include <math.h>

// Not convex: a pair with it may have several manifolds.
static inline bool shape_is_complex(const shape *s)
{
  return s->geometry.kind == TN_SHAPE_MESH || s->geometry.kind == TN_SHAPE_HEIGHT_FIELD ||
         s->geometry.kind == TN_SHAPE_WIRE;
}

// Convex and finite.
static inline bool shape_is_bounded(const shape *s)
{
  return s->geometry.kind != TN_SHAPE_PLANE && !shape_is_complex(s);
}

static inline bool shape_is_round(const shape *s)
{
  return s->geometry.kind == TN_SHAPE_SPHERE || s->geometry.kind == TN_SHAPE_CAPSULE;
}

// Length to which contact tolerances are relative, m; infinite where the other shape decides.
static inline float shape_size(const shape *s)
{
  return shape_is_bounded(s) ? s->bounding_radius : INFINITY;
}

// Value of pair.travel_limit for a gap of at least min_gap, m: the sum of both shapes' travel at
// which the gap could have shrunk to the contact margin.
static inline double travel_until_contact(const shape_cache *a, const shape_cache *b, float min_gap)
{
  return a->travel + b->travel +
         (double)(min_gap - TUNING_CONTACT_MARGIN * fminf(a->bounding_radius, b->bounding_radius));
}

// Collides the active pairs [first, last) and fills in world->detection->found.
void collide_pairs(const tn_world *world, int32_t first, int32_t last, float dt);
// Casts B from pose `at` along `displacement` and collides it where it first touches A. The gaps
// are those of the pose `at`. Returns the number of manifolds.
int collide_swept(const shape *a, const shape *b, pose at, tn_vec3 displacement, manifold *out,
                  int room);

#endif
