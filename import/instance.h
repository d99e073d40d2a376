// A model in a world: state that its builders share.
#ifndef TENON_IMPORT_INSTANCE_H
#define TENON_IMPORT_INSTANCE_H

#include "model.h"

// A body of the world. The last joint of a body of the model moves that body; each joint before it
// moves a light link between parent and body.
typedef struct built_body {
  tn_body_id id;
  dpose pose; // in the world, at the start
} built_body;

// Motion of a body before the last step, for sensors of acceleration.
typedef struct past_motion {
  dvec velocity, spin;
} past_motion;

// Length range and peak force of a muscle; force 0: none, or not known yet.
typedef struct muscle_size {
  double range[2], force;
} muscle_size;

// Force of an actuator, before its gear: constant - stiffness length - damping rate.
typedef struct actuator_line {
  double constant, stiffness, damping;
} actuator_line;

struct tn_instance {
  memory memory;
  tn_world *world;
  tn_model *model;
  dpose place;      // of the model's frame in the world
  int *owners;      // of each body of the model: the body whose tn_body it is part of; 0: the world
  bool *welded;     // of each body: no joints, and yet a body of its own that a fixed joint holds
  dpose *local;     // of each body of the model, in the frame of its owner
  dpose *reference; // of each body, at the reference position, in the frame of the model
  tn_body_id ground;   // has the geoms of the world, if bodies are excluded from them; else null
  built_body *bodies;  // of each body that owns itself
  built_body *between; // of each joint but the last of its body: the link that it moves
  tn_joint_id *joints; // of each joint of the model
  tn_joint_id *links;  // of each link of the model
  tn_joint_id *equalities; // of each equality; null where it is no joint of the world
  tn_coupling_id *pulls;   // of each actuator of a tendon
  double *fixed_lengths;   // of each tendon between points of the world
  tn_coupling_id *paths;   // of each tendon with an effect of its own, or a path to be measured
  LIST(tn_coupling_id) couplings; // all of them
  double *controls;               // of each actuator
  double *activations;            // of each actuator with dynamics
  muscle_size *muscles;           // of each actuator
  past_motion *past;              // of each body, at the last call of tn_instance_advance()
  tn_controller_fn *controller;   // null: none
  void *controller_context;       // passed to it
  double time;                    // all calls of tn_instance_advance() together, s
  double past_dt;                 // of that call; 0: none yet
  double *servo_damping;         // of each actuator that states a damping ratio, N s/m or N m s/rad
  tn_articulation *articulation; // null: there are no trees
  int *first_position;           // of each joint, in the articulation
  int *first_velocity;
  double *q, *u, *numbers;    // scratch: numbers of the articulation, and of the file
  tn_geometry_id *surfaces;   // of each mesh, where it is used
  LIST(tn_geometry_id) hulls; // of all meshes
  int *first_hull;            // of each mesh; -1: not made yet
  int *hull_count;
  LIST(tn_shape_id) shapes;
};

// True if the body is dynamic.
bool instance_is_dynamic(const tn_instance *instance, int body);
// True if the body is dynamic or kinematic.
bool instance_moves(const tn_instance *instance, int body);
// True if the importer adds the armature of this ball joint to the inertia of the child body, which
// is exact for a parent at rest. The armature of other joints belongs to their axes.
bool instance_turns_armature(const tn_instance *instance, int joint);
// Shapes of all geoms that collide.
bool build_shapes(tn_instance *instance);
// Joints, equalities and links; `start` is the start position, null for the reference position.
bool build_joints(tn_instance *instance);
// Equalities of joints and tendons, tendons and their actuators; after the joints.
bool build_couplings(tn_instance *instance);
// Length of a tendon and its rate, now.
double tendon_length(tn_instance *instance, int tendon, double *rate);
// Gives the drive of a tendon's actuator its control.
bool coupling_apply_control(tn_instance *instance, int actuator);
// Controls and activations of a keyframe; null: zeros. Drives are not touched.
void take_controls(tn_instance *instance, const model_key *key);
// The trees of its joints.
bool build_articulation(tn_instance *instance);
// Where a body of the model is, in the world.
dpose instance_pose(const tn_instance *instance, int body);
// The drive of a hinge or slide with all of its actuators.
tn_drive drive_of_joint(tn_instance *instance, int joint);
void note_actuators(tn_instance *instance);
// Whether an actuator acts on a hinge or slide.
bool acts_on_axis(const tn_model *model, const model_actuator *actuator);
// Gives the drive of a hinge or slide all of its actuators.
bool apply_joint_drive(tn_instance *instance, int joint);
// Damping ratios of servos and spring-dampers of joints; after the articulation.
bool tune_by_inertia(tn_instance *instance);
// Gives the drives of an actuator's target its control.
bool drive_apply(tn_instance *instance, int actuator);
// Input of an actuator's law: the control within its range, or what the dynamics make of it.
double actuator_input(const tn_instance *instance, int actuator);
// The law of an actuator, of a muscle its tangent now.
actuator_line actuator_law(tn_instance *instance, int actuator);
// Length of an actuator and its rate, which have the gear in them; false if it has none.
bool actuator_length(tn_instance *instance, int actuator, double *length, double *rate);
// Least and largest force of an actuator with its gear.
tn_range actuator_range(const model_actuator *actuator);
// Force of an actuator by its law, within its limits.
double actuator_force(const tn_instance *instance, int actuator, double length, double rate);
// The law of a muscle near a length and rate.
actuator_line muscle_line(const tn_instance *instance, int actuator, double length, double rate);
// The activation after a step.
double muscle_activation(const model_muscle *muscle, double control, double activation, double dt);
// Length ranges and peak forces; at the reference position, with room for 2 n numbers.
bool tune_muscles(tn_instance *instance, double *scratch, size_t n);
// Gives the drives of all muscles their pull at the present positions.
bool start_muscles(tn_instance *instance);
// Whether an actuator pushes a body: on a site, or on a ball or free joint.
bool is_wrench(const tn_model *model, const model_actuator *actuator);
// Its length and rate.
void wrench_length(tn_instance *instance, int actuator, double *length, double *rate);
// Applies the forces of all of them during the next step, of length dt.
bool apply_wrenches(tn_instance *instance, double dt);
// Applies the forces of the fluid around the bodies during the next step.
bool apply_fluid(tn_instance *instance, double dt);

#endif
