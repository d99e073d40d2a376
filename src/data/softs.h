// Soft bodies as the world keeps them between steps.
#ifndef TENON_DATA_SOFTS_H
#define TENON_DATA_SOFTS_H

#include "solver/soft/soft_solver.h"

#include <tenon/types.h>

typedef struct soft_particle {
  tn_pos at;
  tn_vec3 v, force; // force: for the next step
  tn_vec3 rest;     // in the frame of the definition
  float mass;
  int32_t pinned;
} soft_particle;

// Constraints of a type: particles and floats of each, as soft_layout_of has them.
typedef struct soft_row_list {
  int32_t *members;
  float *fields;
  int32_t count;
} soft_row_list;

// Particles of any number that are matched to their shape as a whole.
typedef struct soft_cluster {
  int32_t first, count;         // of its parts
  float omega_squared, damping; // as ShapeMatchParams has them
  float q[4];
} soft_cluster;

typedef struct cluster_part {
  int32_t particle;
  float mass, rest[3];
  float total_dv[3];  // velocity given in the substep
  float at[3], dv[3]; // of the running pass
} cluster_part;

// An element that stays folded, and what unfolds it: see soft_unfold.c.
typedef struct soft_unfold {
  int32_t element; // the last one looked at
  bool found, active;
  float time;           // s since it was found
  double off;           // of the cluster from its shape, as a share of its size
  soft_cluster cluster; // parts: in the graph
} soft_unfold;

// How a body has moved in the step as a whole, seen from where its first particle was when it
// began, and what its momenta miss; the angular one is about the centre.
typedef struct momentum_error {
  double mass, inertia[6];
  tn_pos center, v;
  tn_pos linear, angular;
} momentum_error;

typedef struct soft {
  uint32_t generation;
  int32_t next_free;
  bool alive;
  bool can_sleep, asleep;
  bool self_collision;
  bool closed;    // its triangles enclose it
  bool chained;   // its edges follow each other and are solved at once
  bool supported; // something holds it: pins, attachments, contacts
  uint8_t lost;   // lost_when
  bool box_grown; // by single positions: the box may be too large until the next step
  float sleep_time;
  int32_t sleep_ring_next; // ring of those that fell asleep together: see island.c
  int32_t particle_count, triangle_count;
  soft_particle *particles;
  int32_t *triangles;
  soft_row_list list[SOFT_TYPE_COUNT];
  soft_cluster *clusters;
  cluster_part *cluster_parts;
  int32_t cluster_count, part_count;
  soft_unfold unfold;
  float *plastic; // rows of a 3 x 3 matrix of each cell that yields, or null
  void *memory;   // all of these arrays
  size_t size;
  float gravity_scale, damping, linear_damping, radius;
  float pressure, volume_compliance, rest_volume; // pressure 0: no volume to keep
  float tear_strain, tear_force;
  float yield_strain, creep, plastic_limit;
  float max_frequency_squared; // 1/s^2, of Neo-Hookean elements: what substeps must follow
  bool stiffness_limited;      // they do not
  tn_material material;
  tn_filter filter;
  void *user_data;
  int32_t first;  // place of its first particle in the solver, or 0
  world_aabb box; // of its particles, with their radius
  int32_t pin_count, attachment_count;
  bool keep_momentum;            // where positions are solved
  momentum_error momentum_error; // of the running step
} soft;

typedef struct attachment {
  uint32_t generation;
  int32_t next_free;
  bool alive, broken;
  int32_t soft, body; // slots; WORLD_SLOT for the world
  tn_attachment_def def;
  tn_vec3 lambda, force;
  tn_vec3 rope_impulse; // impulse that a rope has passed on to the body in the step
} attachment;

// What a particle or a triangle touches in a step.
typedef struct soft_contact {
  int32_t type;        // soft_contact_type
  int32_t soft, other; // slots; other: of all particles but its own, or NO_SLOT
  int32_t particle[SOFT_CONTACT_PARTICLES];
  float weight[SOFT_CONTACT_PARTICLES];
  int32_t shape, body; // slots, or NO_SLOT
  tn_vec3 delta, anchor, normal;
  float distance, gap;
  bool round;
  tn_vec3 force; // mean over the step
} soft_contact;

static inline bool is_soft_soft(const soft_contact *t)
{
  return t->other != NO_SLOT;
}

// How many of two soft bodies' particles are the first one's.
static inline int first_side_particles(const soft_contact *t)
{
  return t->type == SOFT_CONTACT_EDGE_EDGE ? 2 : 1;
}

// A soft body and a shape, or two soft bodies, that touch.
typedef struct soft_touch_pair {
  int32_t soft, other;   // slots; of two soft bodies the lower comes first
  int32_t other_is_soft; // other: a soft body. No padding: a snapshot holds every byte
  int32_t seen;          // in the step
} soft_touch_pair;

// Which constraint a lane of a block holds.
typedef struct soft_source {
  int32_t soft, index;
} soft_source;

// A row of a rope, for the direct solve.
typedef struct chain_row {
  int32_t soft, index; // where it comes from
  float sum;           // impulses of the step
  int32_t solver_index[2];
  bool continues; // to the row before
  float delta[3];
  float rest, compliance, damping;
  int32_t attachment_slot[2]; // attachment that holds an end rigidly to a body, or NO_SLOT
  float anchor[2][3];         // where on the body
  float n[3];
  double w[2];                                 // inverse masses of the ends, with what they carry
  double inverse, upper, impulse, damped_v[3]; // of the elimination
} chain_row;

typedef struct soft_graph {
  bool dirty;
  soft_data data;
  tn_pos *at;                   // of every place when the step began
  float (*gradient)[3];         // of a closed surface's volume
  particle_state *jacobi_delta; // of every place, where corrections are averaged
  int32_t jacobi_delta_capacity;
  int32_t *attachment_at; // attachment of a place, or NO_SLOT
  int32_t attachment_at_capacity;
  int32_t gradient_capacity;
  int32_t solver_particle_count, particle_capacity;
  int32_t data_capacity, block_capacity; // of particles and their blocks
  int32_t compensation_capacity;
  soft_source *sources[SOFT_TYPE_COUNT];
  int32_t source_capacity[SOFT_TYPE_COUNT];
  color_range color[SOFT_TYPE_COUNT][MAX_COLORS], overflow[SOFT_TYPE_COUNT];
  int32_t color_count[SOFT_TYPE_COUNT];
  chain_row *chain;
  int32_t chain_count, chain_capacity;
  cluster_part *unfold_parts; // of all bodies that unfold
  int32_t unfold_part_count, unfold_part_capacity;
} soft_graph;

// Colours of a step's touches or attachments, and what finding them takes. Many touch one body, and
// what finds no colour is painted again with fresh ones.
#define SOFT_COLORING_ROUNDS 4
#define SOFT_COLORS (SOFT_COLORING_ROUNDS * MAX_COLORS)

typedef struct soft_coloring {
  int32_t block_count, block_capacity;
  color_range color[SOFT_COLORS], overflow;
  int32_t color_count;
  uint64_t *particle_colors, *bodies; // colours taken
  int32_t *at;                        // of each: eight times its block, and its lane; or NO_SLOT
  int32_t particle_capacity, body_capacity, at_capacity;
} soft_coloring;

// One of them.
typedef struct soft_coloring_node {
  int32_t solver_index[SOFT_CONTACT_PARTICLES];
  int32_t count; // of its particles; 0: it does nothing
  int32_t body;  // that may move, or NO_SLOT
  int32_t type;  // soft_contact_type
} soft_coloring_node;

#endif
