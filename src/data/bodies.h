// Bodies. Poses are double and belong to the record (struct body); body_state.h has the solver's
// view.
#ifndef TENON_DATA_BODIES_H
#define TENON_DATA_BODIES_H

#include "base/dquat.h"
#include "base/heap.h"
#include "data/body_state.h"

#include <tenon/tenon.h>

#define NAME_SIZE 32 // bytes of a body's name, with the terminating zero
#define WORLD_SLOT 0 // body slot that stands for the static world

// Bits that say when the state of a body or soft body was not finite: in the last step, in this
// one.
typedef enum lost_when { LOST_BEFORE = 1, LOST_NOW = 2 } lost_when;

typedef struct body {
  uint32_t generation;
  int32_t next_free; // free list, while not alive
  bool alive;
  bool has_target;     // kinematic: `target` holds for the next step
  uint8_t lost;        // bits of lost_when
  uint8_t frozen_type; // the body's own type while recovery treats it as static
  tn_body_type type;
  tn_pos center;         // of mass, m, world
  dquat rotation;        // of the principal axes, to world
  tn_pos local_center;   // of mass, m, body frame
  dquat local_principal; // of the principal axes, to the body frame
  tn_mass mass;
  double moments[3];                     // principal, ascending, kg m^2
  float gravity_scale;                   // multiplies the world's gravity
  float linear_damping, angular_damping; // 1/s
  float max_speed, max_angular_speed;    // m/s, rad/s
  tn_vec3 force, torque;                 // applied during the next step, N and N m
  tn_transform target;                   // pose at the end of the next step, if has_target
  bool can_sleep, bullet;                // bullet: continuous collision against dynamic bodies too
  bool mass_from_shapes;                 // its mass follows its shapes
  bool supported; // carried by contacts, directly or through joints or soft bodies
  bool asleep;
  float sleep_time;        // s since it last moved faster than the sleep threshold
  int32_t sleep_ring_next; // next body or soft body of the ring that fell asleep together
  int32_t first_shape;     // slot, or NO_SLOT; list by shape.next
  int32_t first_joint;     // slot * 2 + side, or NO_SLOT
  int32_t joint_count;
  int32_t coupling_count; // couplings that it is a side of
  void *user_data;
  char name[NAME_SIZE];
} body;

static inline bool has_links(const body *b)
{
  return b->first_joint != NO_SLOT || b->coupling_count > 0;
}

static inline bool moves(const body *b)
{
  return b->alive && b->type != TN_BODY_STATIC && !b->asleep;
}

// Derives the solver's view (state, inertia, body_blocks) from `b`.
void body_sync_solver(tn_world *world, int32_t slot);
// Makes the slots [first, last) static bodies without mass.
void body_clear_slots(tn_world *world, int32_t first, int32_t last);
// Computes the world inverse inertia of all bodies from their AngularState.
void body_restore_inertia(tn_world *world);
tn_transform body_transform_of(const body *b);
AngularState body_spin(const tn_world *world, int32_t slot);
void body_set_spin(tn_world *world, int32_t slot, const AngularState *spin);
// World inverse inertia, scaled, from the rotation at the start of the step; zero for bodies that
// are not dynamic.
void body_update_inertia(tn_world *world, int32_t slot, const AngularState *spin,
                         float inverse_inertia_scale);
void body_update_momentum(const body_state *state, AngularState *spin);
// Parameters of bodies that constraints do not move.
extern const BodyStepParams static_step_params;

#endif
