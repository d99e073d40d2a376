// Soft bodies as the world stores them between steps: particles, constraints by type, contacts and
// attachments. Units are SI; positions are double, everything relative to a body or a step is
// float.
#ifndef TENON_DATA_SOFTS_H
#define TENON_DATA_SOFTS_H

#include "base/heap.h"
#include "collide/world_aabb.h"
#include "data/soft_types.h"

#include <tenon/types.h>

typedef struct soft_particle {
  tn_pos at;        // m, world
  tn_vec3 v, force; // m/s; N, external, for the next step only
  tn_vec3 rest;     // m, in the frame of the definition
  float mass;       // kg
  int32_t pinned;   // 1: the solver sees an inverse mass of 0
} soft_particle;

// Constraints of one type. Sizes per constraint are those of soft_layout_of().
typedef struct soft_row_list {
  int32_t *members; // particles, NO_SLOT where an element has fewer
  float *fields;    // params, then state
  int32_t count;    // constraints
} soft_row_list;

// A shape matched cluster of any number of particles.
typedef struct soft_cluster {
  int32_t first, count;         // range of its parts
  float omega_squared, damping; // 1/s^2, stiffness over mass; s
  float q[4];                   // rotation from the rest shape to the world
} soft_cluster;

typedef struct cluster_part {
  int32_t particle;
  float mass, rest[3]; // kg; m, from the cluster's centre of mass
  float total_dv[3];   // m/s, velocity change accumulated in the substep: the part's lambda
  float at[3], dv[3];  // of the running pass: m, from the centre of mass; m/s, velocity change
} cluster_part;

// The inverted element that is watched, and the cluster that unfolds it: see soft_unfold.c.
typedef struct soft_unfold {
  int32_t element;      // last element tested, or the inverted one
  bool found, active;   // `element` is inverted; the cluster acts
  float time;           // s since it was found
  double off;           // rms distance of the cluster from its rest shape, relative to its size
  soft_cluster cluster; // its parts are in soft_graph.unfold_parts
} soft_unfold;

// Momentum that the position solver has lost in the step (soft_momentum.c). The origin is the start
// position of the body's first particle; angular quantities are about the centre of mass.
typedef struct momentum_error {
  double mass, inertia[6]; // kg; kg m^2, xx yy zz xy xz yz
  tn_pos center, v;        // centre of mass at the end of the step, m, and its velocity, m/s
  tn_pos linear, angular;  // missing momenta: kg m/s, kg m^2/s
} momentum_error;

typedef struct soft {
  uint32_t generation;
  int32_t next_free;
  bool alive;
  bool can_sleep, asleep;
  bool self_collision;
  bool closed;             // the triangles form a closed surface
  bool chained;            // a rope: the edges form open chains and are solved directly
  bool supported;          // held by pins, attachments or contacts
  uint8_t lost;            // lost_when, bits
  bool box_grown;          // by tn_soft_set_position: may be too large until the next step
  float sleep_time;        // s
  int32_t sleep_ring_next; // ring of bodies that fell asleep together: see islands.c
  int32_t particle_count, triangle_count;
  soft_particle *particles;
  int32_t *triangles; // three particles each, counter-clockwise from outside
  soft_row_list list[SOFT_TYPE_COUNT];
  soft_cluster *clusters;
  cluster_part *cluster_parts;
  int32_t cluster_count, part_count;
  soft_unfold unfold;
  float *plastic; // plastic deformation, 3 x 3 by rows, per shape match element; null if elastic
  void *memory;   // the one allocation behind all arrays above
  size_t size;    // bytes of it
  // damping: 1/s, of the motion relative to the rigid motion; linear_damping: 1/s, of all motion;
  // radius: m, of a particle, 0: no contacts with soft bodies.
  float gravity_scale, damping, linear_damping, radius;
  // pressure: target volume over rest volume, 0: no volume row; m^3/Pa; m^3.
  float pressure, volume_compliance, rest_volume;
  float tear_strain, tear_force; // strain; N, tension of an edge; infinite: does not tear
  // yield_strain: equivalent strain beyond which elements flow, infinite: elastic; creep: 1/s, rate
  // of flow, infinite: at once; plastic_limit: largest equivalent plastic strain.
  float yield_strain, creep, plastic_limit;
  float max_frequency_squared; // 1/s^2, bound of Neo-Hookean vibrations; 0 without such elements
  bool stiffness_limited;      // the substeps are too long for that: softened in the last step
  tn_material material;
  tn_filter filter;
  void *user_data;
  tn_soft_def def; // as given, for tn_soft_get_def(), without its arrays
  int32_t first;   // solver index of the first particle; 0: not in the solver
  world_aabb box;  // of the particles, including their radius
  int32_t pin_count, attachment_count;
  bool keep_momentum;            // restore momenta after position solves
  momentum_error momentum_error; // of the running step
} soft;

typedef struct attachment {
  uint32_t generation;
  int32_t next_free;
  bool alive, broken;
  int32_t soft, body; // slots; WORLD_SLOT for the world
  tn_attachment_def def;
  tn_vec3 lambda, force; // N s, of the last substep, for warm starts; N, on the particle, mean
  tn_vec3 rope_impulse;  // N s, given to the body by the rope's direct solve in this step
} attachment;

// A contact of a particle, a triangle or an edge, found once a step. The contact point x is the sum
// of weight_i x_i over the first soft body's particles. Those of the second have negative weights:
// the sum over all of them is the vector from its closest point to x.
typedef struct soft_contact {
  int32_t type;        // soft_contact_type
  int32_t soft, other; // slots of the first soft body, and of the second or NO_SLOT
  // The first body's particles, then the second's. An edge-edge contact ends with the third corner
  // of the second edge's triangle, with weight 0.
  int32_t particle[SOFT_CONTACT_PARTICLES];
  float weight[SOFT_CONTACT_PARTICLES];
  int32_t shape, body; // slots, or NO_SLOT
  // At the start of the step, m. delta: from the core point of the shape, or the closest point of
  // the other soft body, to x; anchor: the core point from the rigid body's centre of mass; normal:
  // unit, towards the first soft body.
  tn_vec3 delta, anchor, normal;
  float distance, gap; // m: of x from the core where they touch; beyond that, negative: penetration
  bool round;          // the normal follows the direction from the core to x
  tn_vec3 force;       // N, on the first soft body, mean over the step
} soft_contact;

static inline bool is_soft_soft(const soft_contact *t)
{
  return t->other != NO_SLOT;
}

// Number of particles of the first of two soft bodies.
static inline int first_side_particles(const soft_contact *t)
{
  return t->type == SOFT_CONTACT_EDGE_EDGE ? 2 : 1;
}

static inline bool soft_contact_is_of(const soft_contact *t, int32_t slot)
{
  return t->soft == slot || t->other == slot;
}

// Number of particles of both sides.
static inline int soft_contact_particles(const soft_contact *t)
{
  static const int counts[SOFT_CONTACT_TYPE_COUNT] = {1, 3, 2, 4, 5};
  return counts[t->type];
}

// A soft body and a shape, or two soft bodies, in contact: the state behind touch and part events.
typedef struct soft_touch_pair {
  int32_t soft, other;   // slots; of two soft bodies the lower comes first
  int32_t other_is_soft; // `other` is a soft body; int32_t: snapshots store no padding bytes
  int32_t seen;          // in this step
} soft_touch_pair;

#endif
