// Objects that appear, change and disappear: what the files of this folder do for each other.
#ifndef TENON_WORLD_LIFETIME_H
#define TENON_WORLD_LIFETIME_H

#include "collide/geometry.h"
#include "data/bodies.h"
#include "data/geometries.h"
#include "data/shapes.h"

#include <tenon/tenon.h>

// Grows all arrays of bodies. False when out of memory.
bool body_reserve(tn_world *world, int32_t wanted);
void body_create_static_world(tn_world *world);
void body_set_name(body *b, const char *name); // cut to NAME_SIZE - 1 bytes; null: none
bool body_apply_mass(tn_world *world, int32_t slot, tn_mass mass);

// body_mass.c
tn_mass body_default_mass(void);
bool mass_is_given(const tn_mass *mass); // not all zero
// The sum of the shapes, for a dynamic body whose mass follows them; after a shape was appended.
void body_mass_refresh(tn_world *world, int32_t slot);
void body_mass_add_shape(tn_world *world, int32_t slot, int32_t shape_slot);
bool shape_has_mass(const shape *s); // solid and no sensor

// Null if not valid, with the reason in `why`.
shared_geometry *geometry_find(const tn_world *world, tn_geometry_id id, const char **why);
void geometry_release(tn_world *world, shared_geometry *g);
void geometry_release_all(tn_world *world);
// Builds `data` from a copy of `source`; false with the reason in `why`.
bool geometry_rebuild(tn_world *world, shared_geometry *g, const void *source, char *why,
                      size_t size);

// Fills `g` from the definition, or returns the reason for a refusal.
const char *geometry_of_def(const tn_world *world, const tn_shape_def *def, geometry *g);
void shape_remove(tn_world *world, int32_t slot);
bool shapes_reserve_trees(tn_world *world, int32_t count);
void shapes_rebuild_trees(tn_world *world);
// Call after the body's pose, type or mass has changed.
bool shapes_refresh(tn_world *world, int32_t body_slot);
bool shape_can_be_dynamic(const shape *s); // whether its body may be dynamic

void joint_remove(tn_world *world, int32_t slot);
void joint_refresh_frames(tn_world *world, int32_t slot);
// After velocities of a body were set: the rates of its joints are taken from them.
void joints_forget_rates(tn_world *world, int32_t body_slot);
// Before an impulse acts on a body: armatures resist it.
void joints_settle_rates(tn_world *world, int32_t body_slot);

// Destroys the couplings of a joint or body, with a warning each.
void couplings_remove_joint(tn_world *world, int32_t joint_slot);
void couplings_remove_body(tn_world *world, int32_t body_slot);

void softs_release(tn_world *world);
void attachments_remove_soft(tn_world *world, int32_t slot);
void attachments_remove_body(tn_world *world, int32_t slot);
void attachments_release(tn_world *world);

#endif
