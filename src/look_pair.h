// The narrow phase's parts: looking at pairs one by one, and those of spheres and capsules in
// lanes.
#ifndef TENON_LOOK_PAIR_H
#define TENON_LOOK_PAIR_H

#include "margin.h"
#include "world.h"

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
  return shape_is_bounded(s) ? s->reach : INFINITY;
}

// What two shapes may spend on their ways, from `clear` between them on, before they could meet.
static inline double way_until(const stance *a, const stance *b, float clear)
{
  return a->way + b->way + (double)(clear - MARGIN * fminf(a->reach, b->reach));
}

// Looks at active pairs from `first` on, and fills in what was found.
void look_at_pairs(const tn_world *world, int32_t first, int32_t last, float dt);
// What B meets of A on its way from `at`, with gaps from there. Returns how many manifolds.
int look_ahead(const shape *a, const shape *b, pose at, tn_vec3 way, manifold *out, int room);
// Adds what a fast body needs not to turn around a corner that is stopped. B is at `at` in A, and
// makes `way` in a step.
void look_at_core(const tn_world *world, const shape *a, const shape *b, pose at, tn_vec3 way,
                  manifold *m);

#endif
