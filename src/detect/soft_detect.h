// Helpers shared by the collision detection of soft bodies: soft_shape_contacts.c,
// soft_particle_contacts.c, soft_triangle_contacts.c and soft_edge_contacts.c.
#ifndef TENON_DETECT_SOFT_DETECT_H
#define TENON_DETECT_SOFT_DETECT_H

#include "data/world.h"

// Particles and triangles in index order are grouped into chunks with a bounding box each, so that
// distant ones are rejected together.
#define CHUNK_SIZE 32

static inline int32_t chunk_count(int32_t count)
{
  return (count + CHUNK_SIZE - 1) / CHUNK_SIZE;
}

// Fills world->detection->chunk_boxes: chunks of particles first, then chunks of triangles.
bool build_chunk_boxes(tn_world *world, const soft *s);

world_aabb box_expand(world_aabb box, double by);
bool point_near_box(const world_aabb *box, tn_pos p, double max_distance);
float soft_max_speed(const soft *s); // m/s, of its particles
// Barycentric weights w of a point p on the triangle with corners x, clamped to it.
void barycentric_weights(tn_vec3 p, const tn_vec3 *x, float *w);

static inline bool has_collision(const soft *s)
{
  return s->alive && !s->asleep && s->radius > 0.0f;
}

// Two bodies collide particle against triangle if either has triangles, else particle against
// particle.
static inline bool collide_by_triangles(const soft *a, const soft *b)
{
  return a != b && (a->triangle_count > 0 || b->triangle_count > 0);
}

// Each adds to world->soft_contacts; false when out of memory.
bool find_particle_contacts(tn_world *world, float dt);
bool find_triangle_contacts(tn_world *world, float dt);
bool find_edge_contacts(tn_world *world, int32_t first, int32_t second, float dt);
bool add_soft_contact(tn_world *world, const soft_contact *t);

#endif
