// What scenes are built with.
#ifndef TENON_SCENES_BUILD_H
#define TENON_SCENES_BUILD_H

#include "scenes.h"

static const float SCENE_GRAVITY = 9.81f; // m/s^2

// Where a joint asks for a body.
#define SCENE_WORLD ((tn_body_id){0, 0, 0})

// What a joint is to the run that watches it.
typedef struct scene_joint_role {
  signed char pull; // its force on the moving bodies as a whole: 1, -1, or 0 between two of them
  bool rigid, angular_rigid;
} scene_joint_role;

// A parameter's setting. The name must be one of the scene's.
double scene_value(const scene_run *run, const char *name);

// Makes room for one more item of a list; false without memory.
bool scene_grow(void **items, int count, int *capacity, size_t size);

// Down along y.
void scene_set_gravity(scene_run *run);

// Both remember the id; what cannot be made marks the run as failed. Bodies, their mass and soft
// bodies come from the functions of this file alone, so that a scene can be written to a file.
tn_body_id scene_add_body(scene_run *run, const tn_body_def *def);
tn_joint_id scene_add_joint(scene_run *run, const tn_joint_def *def);
// A body that is none of the run's: what stands around.
tn_body_id scene_add_scenery(scene_run *run, const tn_body_def *def);
tn_shape_id scene_add_shape(scene_run *run, tn_body_id body, const tn_shape_def *def);
// The mass of the body that was made last, of this definition, becomes that of its shapes; 0 takes
// their densities.
void scene_spread_mass(scene_run *run, tn_body_id body, const tn_body_def *def, float mass);

// Whether forces move it; a null id is the world.
bool scene_moves(const scene_run *run, tn_body_id id);

// The default definition with the mass of a cube of 1 m and 1 kg.
tn_body_def scene_body_def(void);

// A box at rest; the definition is for changing before it is added.
tn_body_def scene_box(tn_pos position, tn_vec3 half_extents, float mass);
tn_body_id scene_add_box(scene_run *run, tn_pos position, tn_vec3 half_extents, float mass);

// A joint of two bodies as they stand: at a point with axis a along `axis`, or between two points.
tn_joint_def scene_joint_at(scene_run *run, tn_joint_kind kind, tn_body_id a, tn_body_id b,
                            tn_pos point, tn_vec3 axis);
tn_joint_def scene_joint_between(scene_run *run, tn_body_id a, tn_body_id b, tn_pos point_a,
                                 tn_pos point_b);

// Shapes of a size, otherwise by default; the last is for capsules, cylinders and cones.
tn_shape_def scene_sphere_shape(float radius);
tn_shape_def scene_box_shape(tn_vec3 half_extents);
tn_shape_def scene_axial_shape(tn_shape_kind kind, float radius, float half_length);

// The same coefficient of friction at rest and in motion.
tn_material scene_material(float friction, float restitution);

// A body with one shape, over which its mass is spread evenly.
tn_body_id scene_add_solid(scene_run *run, const tn_body_def *def, const tn_shape_def *shape,
                           float mass);
// The same with several shapes, by their volumes.
tn_body_id scene_add_compound(scene_run *run, const tn_body_def *def, const tn_shape_def *shapes,
                              int count, float mass);
// A shape that never moves, on a body that is none of the run's.
tn_shape_id scene_add_fixed(scene_run *run, tn_transform at, const tn_shape_def *shape);
// Level ground: all that is below `at`.
void scene_add_ground(scene_run *run, tn_pos at, tn_material material);

// Leaves mass and arrays to the caller.
tn_soft_id scene_make_soft(scene_run *run, const tn_soft_def *def);
// Takes a definition whose arrays one of tn_soft_mesh_* made, and gives those back.
tn_soft_id scene_add_soft(scene_run *run, tn_soft_def *def);
// Holds a particle where it is.
void scene_pin(scene_run *run, tn_soft_id soft, int particle);
// Adds the velocities of a rotation about a point.
void scene_spin(scene_run *run, tn_soft_id soft, tn_pos about, tn_vec3 angular_velocity);

// Adds to what changed the momentum of all bodies from outside.
void scene_count_impulse(scene_run *run, tn_vec3 force, double seconds);

// A force during the next step, counted among the outer forces.
void scene_push(scene_run *run, tn_body_id body, tn_vec3 force, tn_pos point, float dt);

// Evenly in a cube from -size to size; the same on every machine. Start `state` with any number.
tn_vec3 scene_random_vector(uint32_t *state, float size);

// Adds one of the scene's own metrics.
void scene_note(scene_sheet *sheet, const char *name, double value);

#endif
