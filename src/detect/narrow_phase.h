// The narrow phase's parts: looking at pairs one by one, and those of spheres and capsules in
// lanes.
#ifndef TENON_DETECT_NARROW_PHASE_H
#define TENON_DETECT_NARROW_PHASE_H

#include "data/world.h"
#include "detect/margin.h"

#include <math.h>

static inline bool shape_is_complex(const shape *s)
{
  return s->geometry.kind == TN_SHAPE_MESH || s->geometry.kind == TN_SHAPE_HEIGHT_FIELD ||
         s->geometry.kind == TN_SHAPE_WIRE;
}

static inline bool shape_is_bounded(const shape *s)
{
  return s->geometry.kind != TN_SHAPE_PLANE && !shape_is_complex(s);
}

static inline bool shape_is_round(const shape *s)
{
  return s->geometry.kind == TN_SHAPE_SPHERE || s->geometry.kind == TN_SHAPE_CAPSULE;
}

static inline float shape_size(const shape *s)
{
  return shape_is_bounded(s) ? s->bounding_radius : INFINITY;
}

// What two shapes may spend on their ways, from `min_gap` between them on, before they could meet.
static inline double travel_until_contact(const shape_cache *a, const shape_cache *b, float min_gap)
{
  return a->travel + b->travel +
         (double)(min_gap - TUNING_CONTACT_MARGIN * fminf(a->bounding_radius, b->bounding_radius));
}

// Looks at active pairs from `first` on, and fills in what was found.
void collide_pairs(const tn_world *world, int32_t first, int32_t last, float dt);
// What B meets of A on its way from `at`, with gaps from there. Returns how many manifolds.
int collide_swept(const shape *a, const shape *b, pose at, tn_vec3 displacement, manifold *out,
                  int room);
// Adds what a fast body needs not to turn around a corner that is stopped. B is at `at` in A, and
// makes `way` in a step.
void add_core_point(const tn_world *world, const shape *a, const shape *b, pose at,
                    tn_vec3 displacement, manifold *m);

#endif
