// What finding touches of soft bodies takes, shared by soft_touch.c, soft_pair.c, soft_facet.c
// and soft_edge.c.
#ifndef TENON_SOFT_TOUCH_H
#define TENON_SOFT_TOUCH_H

#include "world.h"

// Particles and triangles lie in bunches with a box each: those that are far from something are
// passed over together.
#define BUNCH 32

static inline int32_t bunches_of(int32_t count)
{
  return (count + BUNCH - 1) / BUNCH;
}

// Those of a soft body's particles, then of its triangles, in world->bunches.
bool bunch(tn_world *world, const soft *s);

world_box no_box(void);
void widen(world_box *box, tn_pos p);
world_box grown_box(world_box box, double by);
bool is_near(const world_box *box, tn_pos p, double reach);
float fastest_of(const soft *s);
// Where in a triangle of corners x the point p of it is.
void weights_at(tn_vec3 p, const tn_vec3 *x, float *w);

static inline bool touches_others(const soft *s)
{
  return s->alive && !s->asleep && s->radius > 0.0f;
}

// Particles of one and triangles of the other; else particles meet particles.
static inline bool meet_by_facets(const soft *a, const soft *b)
{
  return a != b && (a->triangle_count > 0 || b->triangle_count > 0);
}

bool touch_particles(tn_world *world, float dt);
bool touch_facets(tn_world *world, float dt);
bool touch_edges(tn_world *world, int32_t first, int32_t second, float dt);
bool add_touch(tn_world *world, const soft_contact *t);

#endif
