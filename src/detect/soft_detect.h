// What finding touches of soft bodies takes, shared by soft_touch.c, soft_pair.c, soft_facet.c
// and soft_edge.c.
#ifndef TENON_DETECT_SOFT_DETECT_H
#define TENON_DETECT_SOFT_DETECT_H

#include "data/world.h"

// Particles and triangles lie in bunches with a box each: those that are far from something are
// passed over together.
#define CHUNK_SIZE 32

static inline int32_t chunk_count(int32_t count)
{
  return (count + CHUNK_SIZE - 1) / CHUNK_SIZE;
}

// Those of a soft body's particles, then of its triangles, in world->bunches.
bool build_chunk_boxes(tn_world *world, const soft *s);

world_aabb empty_box(void);
void box_add_point(world_aabb *box, tn_pos p);
world_aabb box_expand(world_aabb box, double by);
bool point_near_box(const world_aabb *box, tn_pos p, double max_distance);
float soft_max_speed(const soft *s);
// Where in a triangle of corners x the point p of it is.
void barycentric_weights(tn_vec3 p, const tn_vec3 *x, float *w);

static inline bool has_collision(const soft *s)
{
  return s->alive && !s->asleep && s->radius > 0.0f;
}

// Particles of one and triangles of the other; else particles meet particles.
static inline bool collide_by_triangles(const soft *a, const soft *b)
{
  return a != b && (a->triangle_count > 0 || b->triangle_count > 0);
}

bool find_particle_contacts(tn_world *world, float dt);
bool find_triangle_contacts(tn_world *world, float dt);
bool find_edge_contacts(tn_world *world, int32_t first, int32_t second, float dt);
bool add_soft_contact(tn_world *world, const soft_contact *t);

#endif
