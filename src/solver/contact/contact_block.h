// How the solver keeps contacts: what solve_contact.c gathers, computes and scatters.
#ifndef TENON_SOLVER_CONTACT_CONTACT_BLOCK_H
#define TENON_SOLVER_CONTACT_CONTACT_BLOCK_H

#include "collide/manifold.h"
#include "detect/capsule_batch.h"
#include "kernel/contact_geometry.h"
#include "solver/solver_data.h"

#include <stddef.h>

// What a contact remembers from one step to the next, in the order of ContactState.
typedef struct contact_state {
  alignas(32) float lambda[CONTACT_POINTS];
  float preload, preload_age;
  tn_vec3 friction;
  float twist;
  float sliding, turning; // 1 or 0
  tn_vec3 roll, offset;
  float angle;
  float unused[5];
} contact_state;

// What its materials and sizes ask for, in the order of ContactParams but for the last, and more.
typedef struct contact_params {
  alignas(32) float mu_static;
  float mu_dynamic;
  float rolling, spinning;
  float alpha, deep_gap, kept_gap;
  float radius_a, radius_b;
  tn_vec3 surface_velocity;
  float has_anchor;
  float restitution;
  float points;              // how many there are
  uint32_t material_version; // the count of changes to materials that this knows of; 0: none
} contact_params;

// Means over the last step.
typedef struct contact_forces {
  alignas(32) float force[CONTACT_POINTS];
  tn_vec3 friction_force;
  float friction_torque;
} contact_forces;

// What some lane of a block needs.
typedef enum contact_features {
  CONTACT_ROLLING_FRICTION = 1, // rolling or spinning friction
  CONTACT_RESTITUTION = 2,      // restitution
  CONTACT_COMPLIANCE = 4,       // compliance
  CONTACT_SURFACE_VELOCITY = 8, // a surface velocity
  CONTACT_FRICTION_ANCHOR = 16, // friction that pulls back
} contact_features;

// What is told after a step comes first, on four lines in a row; what most passes over contacts ask
// for is on one with the manifold's head.
typedef struct contact {
  alignas(64) contact_state state;
  contact_forces forces;
  alignas(64) bool alive;
  bool idle : 1;         // its points carry no impulse
  bool was_loaded : 1;   // they did in the last step
  bool settled : 1;      // its load had time to be learnt
  bool fixed_normal : 1; // round, but in this step too slow for its normal to turn
  uint8_t features;      // contact_features of its params
  union {
    int32_t pair;
    int32_t next_free; // while there is none
  };
  int32_t next; // of the same pair
  int32_t body[2], shape[2];
  float hit_speed; // fastest that was stopped in the last step, m/s
  alignas(32) manifold manifold;
  alignas(32) contact_params params;
} contact;

// Manifolds that one pass treats alike: how they follow their bodies, and how many points they may
// have.
typedef enum contact_type {
  CONTACT_FLAT_1,
  CONTACT_FLAT_2,
  CONTACT_FLAT_4,
  CONTACT_ROUND_1,
  CONTACT_ROUND_2,
  CONTACT_RIM_2,
  CONTACT_RIM_4,
  CONTACT_WIRE_1,
  CONTACT_TYPE_COUNT
} contact_type;

typedef union contact_start {
  FlatStart flat;
  RoundStart round;
  RimStart rim;
  WireStart wire;
} contact_start;

struct contact_block {
  alignas(64) int32_t a[BLOCK_WIDTH];
  int32_t b[BLOCK_WIDTH];
  int32_t contact[BLOCK_WIDTH]; // slot, or -1
  uint8_t move_a[BLOCK_WIDTH], move_b[BLOCK_WIDTH];
  int32_t type;                                        // contact_type of every lane
  int32_t features;                                    // contact_features of any lane
  int32_t fixed_a, fixed_b;                            // some lane may not be written
  alignas(64) float used[CONTACT_POINTS][BLOCK_WIDTH]; // 1 for points in use
  float params[FIELDS(ContactParams)][BLOCK_WIDTH];
  float state[FIELDS(ContactState)][BLOCK_WIDTH];
  float geom[FIELDS(ContactGeometry)][BLOCK_WIDTH];
  float mass[FIELDS(ContactMass)][BLOCK_WIDTH];
  float start[FIELDS(contact_start)][BLOCK_WIDTH];
  float patch_offset[FIELDS(FrictionOffset)]
                    [BLOCK_WIDTH];            // of the friction patch since the step began
  float time_left[BLOCK_WIDTH];               // of the substep, s
  float sum[CONTACT_POINTS + 4][BLOCK_WIDTH]; // impulses of the step: points, friction, twist
  float restitution[BLOCK_WIDTH];
  float hit_speed[BLOCK_WIDTH];                // fastest approach that was stopped in the step, m/s
  float approach[CONTACT_POINTS][BLOCK_WIDTH]; // normal velocity before the substep
};

#define TUNING_CONTACT_SETTLING_TIME 0.33f // s
#define GEOMETRY_FIELD(name) (offsetof(ContactGeometry, name) / sizeof(R))
#define PARAM_FIELD(name) (offsetof(ContactParams, name) / sizeof(R))

// Contacts and the blocks that they go to.
typedef struct contact_pack_view {
  contact_block *blocks;
  contact *contacts;
  const float *shape_poses; // of shapes: turned 4, at 3 about the body's centre
  size_t shape_pose_stride; // floats
  float h, dt;
  float scale; // of impulses, from the last step's substeps to those of this one
} contact_pack_view;

// A manifold that may bounce, as its place in the blocks.
typedef struct restitution_contact {
  int32_t block, lane;
} restitution_contact;

typedef struct contact_ops {
  capsule_batch_fn *collide_capsule_batch;
  void (*pack)(const contact_pack_view *view, int first, int last);
  void (*unpack)(const contact_pack_view *view, int first, int last);
  // Impulse form: once a step; what a substep starts from; its solve; at the new pose without
  // correction; gaps again after impacts.
  void (*prepare)(solver_data *data, int first, int last);
  void (*warm_start)(solver_data *data, int first, int last);
  void (*solve)(solver_data *data, int first, int last);
  void (*relax)(solver_data *data, int first, int last);
  void (*refresh)(solver_data *data, int first, int last);
  // Position form: velocities before the substep; then what substep.stage says.
  void (*record_approach)(solver_data *data, int first, int last);
  void (*solve_positions)(solver_data *data, int first, int last);
} contact_ops;

void contact_pack_1(const contact_pack_view *view, int first, int last);
void contact_pack_4(const contact_pack_view *view, int first, int last);
void contact_pack_8(const contact_pack_view *view, int first, int last);
void contact_unpack_1(const contact_pack_view *view, int first, int last);
void contact_unpack_4(const contact_pack_view *view, int first, int last);
void contact_unpack_8(const contact_pack_view *view, int first, int last);

extern const contact_ops contact_ops_1, contact_ops_4, contact_ops_8, contact_ops_16;

// Impacts with restitution, one after the other; true if there were any.
int solve_impacts(solver_data *data, const restitution_contact *restitution_contacts, int count,
                  float gravity);

#endif
