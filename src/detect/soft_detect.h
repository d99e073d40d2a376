// Helpers shared by the collision detection of soft bodies: soft_scan.c, soft_shape_contacts.c,
// soft_particle_contacts.c, soft_triangle_contacts.c and soft_edge_contacts.c.
//
// A search lists its work as items, in the order in which their contacts are to appear: a chunk of
// one soft body against a shape or another soft body. Items run on all threads, each into memory of
// its own; then their contacts are copied to places that the sums of their numbers give. So the
// list does not depend on threads.
#ifndef TENON_DETECT_SOFT_DETECT_H
#define TENON_DETECT_SOFT_DETECT_H

#include "data/world.h"
#include "detect/detection.h"

// Particles and triangles in index order are grouped into chunks with a bounding box each, so that
// distant ones are rejected together.
#define CHUNK_SIZE 32

static inline int32_t chunk_count(int32_t count)
{
  return (count + CHUNK_SIZE - 1) / CHUNK_SIZE;
}

// soft_scan.c. Call again after soft bodies have woken.
bool soft_scan_all(tn_world *world);
const soft_chunk *soft_particle_chunks(const tn_world *world, int32_t slot);
const soft_chunk *soft_triangle_chunks(const tn_world *world, int32_t slot);

// Where an item puts its contacts. Those beyond `room` are counted only; the item is then run again
// with enough room.
typedef struct soft_contact_list {
  soft_contact *list;
  int32_t room, count;
} soft_contact_list;

typedef void soft_item_fn(const void *context, const soft_item *item, soft_contact_list *out);

bool soft_item_add(tn_world *world, int32_t job, int32_t part);
void soft_contact_put(soft_contact_list *out, const soft_contact *t);
// Runs all items and appends their contacts to tn_world.soft_contacts; then there are no items.
// False when out of memory. `room`: contacts of most items.
bool soft_items_run(tn_world *world, soft_item_fn *find, const void *context, int32_t room);

world_aabb box_expand(world_aabb box, double by);
bool point_near_box(const world_aabb *box, tn_pos p, double max_distance);
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
// Wakes soft bodies whose box overlaps that of an awake one; returns whether it woke any.
bool wake_overlapping_softs(tn_world *world);

// Two soft bodies whose triangles may touch.
typedef struct soft_pair_job {
  int32_t from, to;    // slots; particles of `from` against triangles of `to`
  bool corners;        // contacts with corners too; two bodies with triangles make them only once
  bool edges;          // an item of its own finds contacts between edges
  float distance;      // m, contact distance
  double max_distance; // m, of what may come into contact in this step
  int32_t first_edge;  // of `from`, in the memory of soft_edge_contacts.c
  int32_t near[2];     // triangles of `from` near `to`, and of `to` near `from`
} soft_pair_job;

// Lists the feature edges of jobs with `edges`, before edges_collide(). False when out of memory.
bool edges_prepare(tn_world *world, soft_pair_job *jobs, int32_t count);
void edges_collide(const tn_world *world, const soft_pair_job *job, float dt,
                   soft_contact_list *out);

#endif
