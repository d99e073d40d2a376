// Contacts in the solver. Between steps a contact is a record (struct contact). At the start of a
// step contacts are coloured and sorted by type (contact_layout.c) and transposed into blocks of
// BLOCK_WIDTH lanes (contact_lanes.c), which the passes of a substep work on (contact_passes.c).
#ifndef TENON_SOLVER_CONTACT_CONTACT_BLOCK_H
#define TENON_SOLVER_CONTACT_CONTACT_BLOCK_H

#include "data/contacts.h"
#include "detect/capsule_batch.h"
#include "kernel/contact_geometry.h"
#include "solver/solver_data.h"

#include <stdbool.h>
#include <stddef.h>

// Contacts of one type run through the same code: how the geometry follows the bodies
// (manifold_form), and the largest number of points.
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

// Geometry as the step began, from which a substep computes gaps and normal at the current pose.
typedef union contact_start {
  FlatStart flat;
  RoundStart round;
  RimStart rim;
  WireStart wire;
} contact_start;

// BLOCK_WIDTH contacts of one type and colour, one per lane; padded lanes have both bodies at
// WORLD_SLOT and no points.
struct contact_block {
  alignas(64) int32_t a[BLOCK_WIDTH];               // body slot of A
  int32_t b[BLOCK_WIDTH];                           // body slot of B
  int32_t contact[BLOCK_WIDTH];                     // slot, or NO_SLOT
  uint8_t move_a[BLOCK_WIDTH], move_b[BLOCK_WIDTH]; // 1: dynamic, may be written
  int32_t type;                                     // contact_type of every lane
  int32_t features;                                 // contact_features of any lane
  int32_t fixed_a, fixed_b;                         // not 0: some lane may not be written
  int32_t turning; // not 0: lever arms of some lane follow their bodies
  alignas(64) float used[CONTACT_POINTS][BLOCK_WIDTH]; // 1 for points in use, otherwise 0
  float params[FIELDS(ContactParams)][BLOCK_WIDTH];
  float state[FIELDS(ContactState)][BLOCK_WIDTH];
  float geom[FIELDS(ContactGeometry)][BLOCK_WIDTH];
  float mass[FIELDS(ContactMass)][BLOCK_WIDTH];
  float start[FIELDS(contact_start)][BLOCK_WIDTH];
  // Displacement of the friction patch since the step began; state.offset is that before it.
  float patch_offset[FIELDS(FrictionOffset)][BLOCK_WIDTH];
  float time_left[BLOCK_WIDTH]; // s, of the substep; less than h after an impact
  // Impulses summed over the step: one per point, then friction x y z and twist.
  float sum[CONTACT_POINTS + 4][BLOCK_WIDTH];
  float restitution[BLOCK_WIDTH];
  float hit_speed[BLOCK_WIDTH];                // m/s, fastest approach stopped in the step
  float approach[CONTACT_POINTS][BLOCK_WIDTH]; // m/s, normal velocity before the substep
};

#define GEOMETRY_FIELD(name) (offsetof(ContactGeometry, name) / sizeof(R))
#define PARAM_FIELD(name) (offsetof(ContactParams, name) / sizeof(R))
#define START_FIELD(name) (offsetof(FlatStart, name) / sizeof(R))

// Source and destination of packing and unpacking.
typedef struct contact_pack_view {
  contact_block *blocks;
  contact *contacts;
  const float *shape_poses; // world axes: rotation (4), offset from the body's centre of mass (3)
  size_t shape_pose_stride; // in floats
  float h, dt;              // s, substep and step
  float scale;              // of stored impulses: h over that of the last step
} contact_pack_view;

// A contact with restitution, for the impacts of a step.
typedef struct restitution_contact {
  int32_t block, lane;
  int32_t contact;          // slot
  int32_t points;           // number of points in use
  int32_t next[2];          // in the lists of its bodies: 2 * index + side, or NO_SLOT
  int32_t listed;           // at index k: the contact that is k-th in the list of impacts ahead
  int32_t events;           // of this substep
  bool ahead;               // in the list of impacts ahead
  float time;               // s, of the next impact since the substep began; beyond h: none
  int anew;                 // other points than those of the step's start may strike
  int closes;               // some point closes within the substep, if too slowly to bounce
  float distance;           // m, of the shapes when last measured; 0: not measured
  float extent_a, extent_b; // m, bounds of the distance from the centre of mass to any point
  V apart;                  // relative displacement of the bodies then, m
  Q turn_a, turn_b;         // and their turns
} restitution_contact;

typedef struct contact_ops {
  capsule_batch_fn *collide_capsule_batch;
  void (*pack)(const contact_pack_view *view, int first, int last);
  void (*unpack)(const contact_pack_view *view, int first, int last);
  // Impulse form. A range of blocks lies inside one colour.
  void (*prepare)(solver_data *data, int first, int last);    // effective masses, once a step
  void (*warm_start)(solver_data *data, int first, int last); // apply the decayed last impulses
  void (*solve)(solver_data *data, int first, int last);      // with position bias
  void (*relax)(solver_data *data, int first, int last);      // at the new pose, without bias
  void (*refresh)(solver_data *data, int first, int last);    // gaps and time left after impacts
  // Position form.
  void (*record_approach)(solver_data *data, int first, int last); // normal velocities before it
  void (*solve_positions)(solver_data *data, int first, int last); // the pass of substep.stage
} contact_ops;

// Between records and blocks, for a range of blocks. 16 lanes use contact_pack_8.
void contact_pack_1(const contact_pack_view *view, int first, int last);
void contact_pack_4(const contact_pack_view *view, int first, int last);
void contact_pack_8(const contact_pack_view *view, int first, int last);
void contact_unpack_1(const contact_pack_view *view, int first, int last);
void contact_unpack_4(const contact_pack_view *view, int first, int last);
void contact_unpack_8(const contact_pack_view *view, int first, int last);

extern const contact_ops contact_ops_1, contact_ops_4, contact_ops_8, contact_ops_16;

#endif
