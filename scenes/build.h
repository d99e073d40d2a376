// Functions for building scenes.
#ifndef TENON_SCENES_BUILD_H
#define TENON_SCENES_BUILD_H

#include "scenes.h"

static const float SCENE_GRAVITY = 9.81f; // m/s^2

// The world, as a body of a joint.
#define SCENE_WORLD ((tn_body_id){0, 0, 0})

// Role of a joint in the metrics of the run.
typedef struct scene_joint_role {
  signed char
      pull; // sign of its force on all moving bodies together: 1, -1, or 0 between two of them
  bool rigid, angular_rigid;
} scene_joint_role;

// Value of a parameter. The scene must have one of this name.
double scene_value(const scene_run *run, const char *name);

// Makes room for one more item of a list; false if out of memory.
bool scene_grow(void **items, int count, int *capacity, size_t size);

// Sets gravity along -y.
void scene_set_gravity(scene_run *run);

// Both record the id; a failure marks the run as failed. Scenes create bodies, masses and soft
// bodies only through this file, so that they can be exported.
tn_body_id scene_add_body(scene_run *run, const tn_body_def *def);
tn_joint_id scene_add_joint(scene_run *run, const tn_joint_def *def);
// The same for a coupling, which is listed in run->couplings.
tn_coupling_id scene_add_coupling(scene_run *run, const tn_coupling_def *def);
// Takes over all bodies and joints of a world that something else has filled.
void scene_adopt(scene_run *run);
// Adds a body that is not counted among the run's bodies.
tn_body_id scene_add_scenery(scene_run *run, const tn_body_def *def);
tn_shape_id scene_add_shape(scene_run *run, tn_body_id body, const tn_shape_def *def);
// Distributes `mass` over the shapes of the last created body, which has this definition; 0 uses
// their densities.
void scene_spread_mass(scene_run *run, tn_body_id body, const tn_body_def *def, float mass);

// True if the body is dynamic. A null id stands for the static world.
bool scene_moves(const scene_run *run, tn_body_id id);

// The default definition with the mass of a cube of 1 m and 1 kg.
tn_body_def scene_body_def(void);

// Definition of a box at rest, to be changed and added.
tn_body_def scene_box(tn_pos position, tn_vec3 half_extents, float mass);
tn_body_id scene_add_box(scene_run *run, tn_pos position, tn_vec3 half_extents, float mass);

// A joint of two bodies at their current poses: at a point with axis a along `axis`, or between two
// points.
tn_joint_def scene_joint_at(scene_run *run, tn_joint_kind kind, tn_body_id a, tn_body_id b,
                            tn_pos point, tn_vec3 axis);
tn_joint_def scene_joint_between(scene_run *run, tn_body_id a, tn_body_id b, tn_pos point_a,
                                 tn_pos point_b);

// Shapes of given sizes, otherwise default; the last is for capsules, cylinders and cones.
tn_shape_def scene_sphere_shape(float radius);
tn_shape_def scene_box_shape(tn_vec3 half_extents);
tn_shape_def scene_axial_shape(tn_shape_kind kind, float radius, float half_length);

// Equal static and dynamic friction.
tn_material scene_material(float friction, float restitution);

// A body with one shape of uniform density.
tn_body_id scene_add_solid(scene_run *run, const tn_body_def *def, const tn_shape_def *shape,
                           float mass);
// The same with several shapes of equal density.
tn_body_id scene_add_compound(scene_run *run, const tn_body_def *def, const tn_shape_def *shapes,
                              int count, float mass);
// A static shape, on a body that is not counted.
tn_shape_id scene_add_fixed(scene_run *run, tn_transform at, const tn_shape_def *shape);
// Horizontal ground, solid below `at`.
void scene_add_ground(scene_run *run, tn_pos at, tn_material material);

// A soft definition with default values; the caller sets mass and arrays.
tn_soft_id scene_make_soft(scene_run *run, const tn_soft_def *def);
// Adds a soft body whose arrays come from tn_soft_mesh_*, and frees them.
tn_soft_id scene_add_soft(scene_run *run, tn_soft_def *def);
// Pins a particle.
void scene_pin(scene_run *run, tn_soft_id soft, int particle);
// Adds the velocities of a rotation about a point.
void scene_spin(scene_run *run, tn_soft_id soft, tn_pos about, tn_vec3 angular_velocity);

// Adds an external impulse to the balance of momentum.
void scene_count_impulse(scene_run *run, tn_vec3 force, double seconds);

// Applies a force during the next step, counted as an external force.
void scene_push(scene_run *run, tn_body_id body, tn_vec3 force, tn_pos point, float dt);

// Uniformly distributed in a cube from -size to size; the same on every machine. `state` may start
// with any number.
tn_vec3 scene_random_vector(uint32_t *state, float size);

// Adds a metric of the scene.
void scene_note(scene_sheet *sheet, const char *name, double value);

#endif
