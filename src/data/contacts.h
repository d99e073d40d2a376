// Contacts between steps. The solver transposes them into blocks (solver/contact/contact_block.h).
#ifndef TENON_DATA_CONTACTS_H
#define TENON_DATA_CONTACTS_H

#include "collide/manifold.h"
#include "kernel/contact.h"

#include <tenon/types.h>

#include <stdalign.h>

// Kept from step to step, in the order of ContactState. Impulses are those of the last substep.
typedef struct contact_state {
  alignas(32) float lambda[CONTACT_POINTS]; // N s, normal impulses
  // N s, steady load of a point, which does not decay; s, time over which it was averaged.
  float preload, preload_age;
  tn_vec3 friction;       // N s, at the friction patch
  float twist;            // N m s, about the normal
  float sliding, turning; // 1 where the relax pass could not stop the patch, otherwise 0
  // N m s, rolling friction; m, tangential offset of the patch from its anchor.
  tn_vec3 roll, offset;
  float angle;     // rad, of the patch from its anchor, about the normal
  float unused[5]; // padding to whole parts of eight floats
} contact_state;

// From materials and sizes of the shapes. Begins with the fields of ContactParams, in its order,
// except the last (max_push_speed), which depends on the step.
typedef struct contact_params {
  alignas(32) float mu_static;
  float mu_dynamic;        // at most mu_static
  float rolling, spinning; // m, friction torque per normal force
  // alpha: m/N, compliance. deep_gap: m, penetration beyond what loads cause. kept_gap: m, up to
  // which a loaded open point of a jointed body closes slowly and keeps its load.
  float alpha, deep_gap, kept_gap;
  float radius_a, radius_b;  // m, from core to surface
  tn_vec3 surface_velocity;  // m/s, of B relative to A, world axes
  float has_anchor;          // 1: friction pulls the patch back to its anchor, otherwise 0
  float restitution;         // 0 to 1
  float points;              // number of points in use
  uint32_t material_version; // tn_world.material_version these hold for; 0: mix them every step
} contact_params;

// Means over the last step, N and N m.
typedef struct contact_forces {
  alignas(32) float force[CONTACT_POINTS];
  tn_vec3 friction_force;
  float friction_torque;
} contact_forces;

// Optional rows: of a contact, or of any lane of a block.
typedef enum contact_features {
  CONTACT_ROLLING_FRICTION = 1, // rolling or spinning friction
  CONTACT_RESTITUTION = 2,
  CONTACT_COMPLIANCE = 4,
  CONTACT_SURFACE_VELOCITY = 8,
  CONTACT_FRICTION_ANCHOR = 16, // friction pulls back to an anchor
} contact_features;

// Ordered for the cache: the first lines are those written after a step. The flags share a line
// with the head of the manifold, which is all that most loops over contacts read.
typedef struct contact {
  alignas(64) contact_state state;
  contact_forces forces;
  alignas(64) bool alive;
  bool idle : 1;         // no point had an impulse as the last step ended
  bool was_loaded : 1;   // some point had an impulse during the last step
  bool settled : 1;      // preload_age has reached TUNING_CONTACT_SETTLING_TIME
  bool fixed_normal : 1; // round, but moves so little in this step that it is solved as flat
  uint8_t features;      // contact_features
  union {
    int32_t pair;
    int32_t next_free; // of a free slot
  };
  int32_t next;              // contact of the same pair, or NO_SLOT
  int32_t body[2], shape[2]; // slots of A and B
  float hit_speed;           // m/s, fastest approach stopped in the last step
  alignas(32) manifold manifold;
  alignas(32) contact_params params;
} contact;

void contact_clear_impulses(contact *c);

#endif
