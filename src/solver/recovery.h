// Recovery from non-finite states.
#ifndef TENON_SOLVER_RECOVERY_H
#define TENON_SOLVER_RECOVERY_H

#include "data/contacts.h"
#include "solver/groups.h"

#include <tenon/tenon.h>

// State that a step overwrites before it is known to be finite, see recovery.c.
#define START_SPIN 6 // leading floats of AngularState: momentum, last
typedef struct body_start {
  float v[3], w[3], spin[START_SPIN];
} body_start;

typedef struct contact_start_state {
  contact_state state;
  float gap[MAX_MANIFOLD_POINTS], hit_speed;
  bool idle, was_loaded, settled;
} contact_start_state;

bool start_reserve(tn_world *world);
void start_release(tn_world *world);
// Save the state that a step begins with: of a body, of joints and soft bodies, of a group's
// contacts.
void start_keep_body(tn_world *world, int32_t slot);
void start_keep(tn_world *world);
void start_keep_group_contacts(const tn_world *world, const solver_group *group);
void start_restore(tn_world *world);
bool world_is_finite(const tn_world *world); // call after the substeps
// Marks bodies and soft bodies that are not finite with LOST_NOW; with `known` only those that have
// LOST_BEFORE as well. False if there are none.
bool lost_find(tn_world *world, bool known);
// lost_freeze() takes what is marked out of the step; lost_thaw() puts it back afterwards and
// reports it, and returns false if there was nothing.
void lost_freeze(tn_world *world);
bool lost_thaw(tn_world *world);
void lost_forget_body(tn_world *world, int32_t slot);
void lost_forget_soft(tn_world *world, int32_t slot);
// Log an error, once until the body has been finite for a step.
void lost_report_body(tn_world *world, int32_t slot, const char *what);
void lost_report_soft(tn_world *world, int32_t slot, const char *what);
// Solves the step again, without the bodies that become non-finite first, until all values are
// finite. False when out of memory.
bool recover(tn_world *world, float dt, float scale);

#endif
