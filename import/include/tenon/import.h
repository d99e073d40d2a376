/// @file
/// Robots and machines from files: MJCF, URDF and the scenes of the tutorial on joints.
///
/// A model is what a file says: bodies, joints, geoms, actuators and so on, by name. It belongs to
/// no world. A report tells what of the file was honoured, approximated and ignored, with the place
/// of each. The library tenon_import stands beside the core and needs expat.
#ifndef TENON_IMPORT_H
#define TENON_IMPORT_H

#include <tenon/tenon.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A file in memory, with all that its includes and meshes add. See tn_model_load().
typedef struct tn_model tn_model;

/// Format of a file.
typedef enum tn_import_format {
  TN_IMPORT_AUTO,     ///< found out from the file's content
  TN_IMPORT_MJCF,     ///< XML of MuJoCo
  TN_IMPORT_URDF,     ///< XML of ROS
  TN_IMPORT_TUTORIAL, ///< JSON of the tutorial on joints
} tn_import_format;

/// What became of a part of a file.
typedef enum tn_import_fate {
  TN_IMPORT_HONOURED,     ///< does what the format says
  TN_IMPORT_APPROXIMATED, ///< has an effect close to what the format says
  TN_IMPORT_IGNORED,      ///< has no effect, though it would change the motion
  TN_IMPORT_VISUAL,       ///< has no effect, and would change only how things look
  TN_IMPORT_MISSING,      ///< a file that could not be found or used; its geoms are left out
  TN_IMPORT_FATE_COUNT    ///< number of fates
} tn_import_fate;

/// How the root link of a URDF file stands in the world.
typedef enum tn_import_base {
  TN_IMPORT_BASE_AUTO,  ///< free, unless it is called `world` or neither it nor what is fixed to it
                        ///< has a mass
  TN_IMPORT_BASE_FIXED, ///< fixed to the world
  TN_IMPORT_BASE_FREE,  ///< free to move
} tn_import_base;

/// How a file is read: from tn_default_import_def().
typedef struct tn_import_def {
  tn_import_format format;         ///< TN_IMPORT_AUTO
  const char *const *search_paths; ///< folders for `package://` and missing files; copied
  int search_path_count;           ///< number of them; 0
  tn_import_base base;             ///< of URDF files; TN_IMPORT_BASE_AUTO
  int max_hulls;                   ///< of a mesh on a body that moves, 1 to 64; 1: its convex hull
  bool meshes;                     ///< read mesh files; false leaves their geoms out; true
  tn_log_fn *log;                  ///< receives the reason of a failure; null prints to stderr
  void *log_context;               ///< passed to `log`; the host's
  uint32_t cookie;                 ///< set by tn_default_import_def()
} tn_import_def;

/// A line of the report.
typedef struct tn_import_note {
  tn_import_fate fate; ///< what became of it
  const char *text;    ///< what it is; memory of the model
  const char *file;    ///< where it occurs first; memory of the model
  int line;            ///< in that file, from 1; 0: the file as a whole
  int count;           ///< how often it occurs, 1 or more
} tn_import_note;

/// A body of a model at a position of its joints.
typedef struct tn_model_body {
  const char *name;   ///< empty for none; memory of the model
  int parent;         ///< index of the body it hangs on; -1: it is the world, body 0
  tn_pos position;    ///< in the frame of the model, m
  double rotation[4]; ///< unit quaternion x y z w, to the frame of the model
  double mass;        ///< kg
  double center[3];   ///< centre of mass in the body's frame, m
  double inertia[6];  ///< about the centre, in the body's axes, kg m^2: xx, yy, zz, xy, xz, yz
} tn_model_body;

/// How many of everything a model has.
typedef struct tn_model_counts {
  int bodies;     ///< the world included
  int joints;     ///< with those of several degrees of freedom
  int positions;  ///< numbers in a position of all joints
  int velocities; ///< degrees of freedom
  int geoms;      ///< solids and surfaces
  int sites;      ///< named frames
  int meshes;     ///< assets
  int actuators;  ///< motors and servos
  int tendons;    ///< fixed and spatial
  int equalities; ///< closed loops and couplings
  int sensors;    ///< named read-outs
  int keyframes;  ///< named positions
} tn_model_counts;

/// A model in a world: see tn_instance_create().
typedef struct tn_instance tn_instance;

/// How a model is placed in a world: from tn_default_instance_def().
typedef struct tn_instance_def {
  tn_transform place; ///< of the model's frame in the world; identity
  bool y_up;          ///< turns the model's up axis to y of the frame of `place`; true
  const char *prefix; ///< of the names of its bodies, for several copies; copied; null: none
  int keyframe;       ///< index of the position it starts in; -1: the reference position
  uint32_t cookie;    ///< set by tn_default_instance_def()
} tn_instance_def;

/// The usual definition: format by content, meshes are read.
TN_API tn_import_def tn_default_import_def(void);

/// Reads a file.
///
/// @param path  of the file; includes and meshes are found relative to it
/// @param def   from tn_default_import_def(); only read; null: the usual
/// @return the model, for tn_model_destroy(); null if the file cannot be read or is malformed, with
///         one line "file:line: reason" in the log
TN_API tn_model *tn_model_load(const char *path, const tn_import_def *def);

/// The same for a text in memory.
///
/// @param name  for messages, and the folder in which includes and meshes are found
/// @param text  only read
/// @param size  bytes in `text`
/// @param def   as of tn_model_load()
/// @return as of tn_model_load()
TN_API tn_model *tn_model_parse(const char *name, const char *text, size_t size,
                                const tn_import_def *def);
/// Destroys a model. Worlds made of it stay. Null does nothing.
TN_API void tn_model_destroy(tn_model *model);

/// Name that the file gives the model; empty for none or a null model.
TN_API const char *tn_model_name(const tn_model *model);
/// Format of the file.
TN_API tn_import_format tn_model_format(const tn_model *model);
/// How many of everything there is; zeros for a null model.
TN_API tn_model_counts tn_model_get_counts(const tn_model *model);
/// Mass of all bodies but the world, kg.
TN_API double tn_model_total_mass(const tn_model *model);
/// Gravity that the file asks for, m/s^2, in the frame of the model, whose z axis is up.
TN_API tn_vec3 tn_model_gravity(const tn_model *model);

/// Index of a body by name; -1 if there is none.
TN_API int tn_model_find_body(const tn_model *model, const char *name);
/// Index of a joint by name; -1 if there is none.
TN_API int tn_model_find_joint(const tn_model *model, const char *name);
/// Index of an actuator by name; -1 if there is none.
TN_API int tn_model_find_actuator(const tn_model *model, const char *name);
/// Index of a keyframe by name; -1 if there is none.
TN_API int tn_model_find_keyframe(const tn_model *model, const char *name);

/// Index of a sensor by name; -1 if there is none.
TN_API int tn_model_find_sensor(const tn_model *model, const char *name);

/// Name of a joint by index; empty for none and for a bad index.
TN_API const char *tn_model_joint_name(const tn_model *model, int joint);
/// Name of an actuator by index; empty for none and for a bad index.
TN_API const char *tn_model_actuator_name(const tn_model *model, int actuator);
/// Name of a sensor by index; empty for none and for a bad index.
TN_API const char *tn_model_sensor_name(const tn_model *model, int sensor);
/// Name of a keyframe by index; empty for none and for a bad index.
TN_API const char *tn_model_keyframe_name(const tn_model *model, int keyframe);

/// Reads the controls of all actuators at a keyframe, as tn_instance_set_control() takes them;
/// zeros where it gives none.
///
/// @param model     the model
/// @param keyframe  index
/// @param controls  filled in, up to `capacity`; may be null if that is 0
/// @param capacity  room in `controls`
/// @return how many there are; 0 for a bad keyframe
TN_API int tn_model_keyframe_controls(const tn_model *model, int keyframe, double *controls,
                                      int capacity);

/// Reads all bodies at a position of the joints.
///
/// @param model     the model
/// @param keyframe  index; -1: the reference position, which the file draws
/// @param bodies    filled in, up to `capacity`; may be null if that is 0
/// @param capacity  room in `bodies`
/// @return how many there are; 0 for a bad keyframe
TN_API int tn_model_bodies(const tn_model *model, int keyframe, tn_model_body *bodies,
                           int capacity);

/// The report: what was honoured, approximated and ignored.
///
/// @param model  the model
/// @param count  set to the number of lines; may be null
/// @return the model's array, in the order of fates; null if there are none
TN_API const tn_import_note *tn_model_report(const tn_model *model, int *count);

/// Writes the report as text or as JSON.
///
/// @param model     the model
/// @param json      one JSON object instead of text
/// @param buffer    written as far as it goes, with a zero at its end; may be null
/// @param capacity  bytes in `buffer`
/// @return the bytes needed, with the zero; 0 for a null model
TN_API size_t tn_model_write_report(const tn_model *model, bool json, char *buffer,
                                    size_t capacity);

// ---------------------------------------------------------------------------------------------
// Convex parts of meshes

/// Convex parts of a solid: sets of points whose hulls cover it. From tn_convex_decompose().
typedef struct tn_convex_parts {
  int part_count;  ///< number of parts
  int *counts;     ///< points of each part
  tn_vec3 *points; ///< of all parts, one after the other, m
  double volume;   ///< of all hulls together, m^3
} tn_convex_parts;

/// Splits the solid inside a closed mesh into convex parts, by cuts along its axes.
///
/// @param vertices        m; only read
/// @param vertex_count    number of vertices
/// @param triangles       three vertices each; only read
/// @param triangle_count  number of triangles
/// @param max_parts       1 to 64
/// @param error           0 or more: how much larger than the solid the hulls may be in all,
///                        relative; fewer parts suffice for more. 0.05 is usual
/// @return the parts, for tn_convex_parts_free(); null for bad input, for a mesh that encloses
///         nothing, or without memory
TN_API tn_convex_parts *tn_convex_decompose(const tn_vec3 *vertices, int vertex_count,
                                            const int *triangles, int triangle_count, int max_parts,
                                            float error);
/// Gives back the memory of convex parts. Null does nothing.
TN_API void tn_convex_parts_free(tn_convex_parts *parts);

// ---------------------------------------------------------------------------------------------
// Models in worlds

/// The usual definition: at the origin with y up, at the reference position.
TN_API tn_instance_def tn_default_instance_def(void);

/// Builds a model in a world: bodies, shapes and joints.
///
/// Bodies without joints are part of the body they hang on; those that hang on the world are
/// static. Gravity stays that of the world: see tn_instance_gravity(). What cannot be built as the
/// file says is added to the report of the model.
///
/// @param world  the world; it owns what is built
/// @param model  is kept in use: destroy it after the instance
/// @param def    from tn_default_instance_def(); only read; null: the usual
/// @return the instance, for tn_instance_destroy(); null, with the reason in the log of the world
///         and with nothing built, if a definition is invalid or there is no memory
TN_API tn_instance *tn_instance_create(tn_world *world, tn_model *model,
                                       const tn_instance_def *def);
/// Gives back the memory of an instance. What it has built stays in the world. Null does nothing.
TN_API void tn_instance_destroy(tn_instance *instance);

/// The same instance in a copy of its world, from tn_world_copy(), tn_batch_create() or
/// tn_world_restore(): it has the bodies and joints that the original has there, and its state.
///
/// @param instance  only read
/// @param world     of which the instance is to be
/// @return the instance, for tn_instance_destroy(); null if the world has not these bodies and
///         joints, or there is no memory
TN_API tn_instance *tn_instance_copy(const tn_instance *instance, tn_world *world);

/// Reads what an instance carries from step to step and states of the world do not have: controls,
/// what integrators and filters hold, velocities before the last step, time.
///
/// @param instance  the instance
/// @param numbers   filled in if they fit; may be null
/// @param capacity  room in `numbers`
/// @return how many there are; 0 for a null instance
TN_API int tn_instance_state(const tn_instance *instance, double *numbers, int capacity);
/// Sets it, of an instance of the same model. Drives of the world stay: put the world into its
/// state of that time as well.
///
/// @param numbers  from tn_instance_state(); only read
/// @param count    of them
/// @return false, with nothing changed, if the count does not fit or a number is not finite
TN_API bool tn_instance_set_state(tn_instance *instance, const double *numbers, int count);

/// The body of the world that a body of the model is part of.
///
/// @param instance  the instance
/// @param body      index in the model
/// @return null for the world itself and for a bad index
TN_API tn_body_id tn_instance_body(const tn_instance *instance, int body);
/// Where a body of the model is in the world; the identity for a bad index.
TN_API tn_transform tn_instance_transform(const tn_instance *instance, int body);
/// The joint of the world for a joint of the model; null for a free joint and a bad index.
TN_API tn_joint_id tn_instance_joint(const tn_instance *instance, int joint);
/// Gravity of the model in the axes of the world, m/s^2.
TN_API tn_vec3 tn_instance_gravity(const tn_instance *instance);

/// The trees of the model's joints, for mass matrix, bias forces and so on.
///
/// Where a body of the model has several joints, light links stand between them. `connect` and
/// `weld` are loops. It belongs to the instance.
///
/// @return null if the model has no joints, and for the tutorial's scenes
TN_API tn_articulation *tn_instance_articulation(tn_instance *instance);
/// Index of a joint's first number in a position of the articulation; -1 for a bad index.
TN_API int tn_instance_joint_position(const tn_instance *instance, int joint);
/// Index of a joint's first number in a velocity of the articulation; -1 for a bad index.
TN_API int tn_instance_joint_velocity(const tn_instance *instance, int joint);

/// Reads the positions of all joints as the file counts them: tn_model_counts::positions numbers in
/// the order of the joints, quaternions w first, free joints in the frame of the model.
///
/// @param instance   the instance
/// @param positions  filled in
/// @return false if there is no articulation, or its bodies or joints are gone
TN_API bool tn_instance_positions(tn_instance *instance, double *positions);
/// Sets the positions of all joints: moves the bodies, closes loops, as the function of that name
/// of tn_articulation does.
///
/// @return false, with the reason in the log of the world and nothing changed, as of that function
TN_API bool tn_instance_set_positions(tn_instance *instance, const double *positions);
/// Reads the velocities of all joints, tn_model_counts::velocities numbers. Those of a free joint
/// are the velocity of the body's origin in the axes of the model and the angular velocity in the
/// axes of the body; that of a ball is in the axes of the body.
///
/// @return as of tn_instance_positions()
TN_API bool tn_instance_velocities(tn_instance *instance, double *velocities);
/// Sets the velocities of all joints; result as of tn_instance_set_positions().
TN_API bool tn_instance_set_velocities(tn_instance *instance, const double *velocities);
/// Sets positions, velocities and controls to those of a keyframe.
///
/// @param instance  the instance
/// @param keyframe  index in the model; -1: the reference position, at rest, all controls 0
/// @return false for a bad index, or as of tn_instance_set_positions()
TN_API bool tn_instance_apply_keyframe(tn_instance *instance, int keyframe);

/// Reads a sensor, with the values and units of MuJoCo's sensor of that kind: jointpos, jointvel,
/// ballquat, ballangvel, jointactuatorfrc, actuatorpos, actuatorvel, actuatorfrc, tendonpos,
/// tendonvel, the frame... and subtree... kinds, gyro, velocimeter, accelerometer, magnetometer,
/// force, torque, rangefinder and touch (of all contacts of the site's body). Accelerations need
/// tn_instance_advance() before each step.
///
/// @param instance  the instance
/// @param sensor    index in the model
/// @param values    filled in, up to `capacity`; may be null if that is 0
/// @param capacity  room in `values`
/// @return how many values the sensor has; 0 for a bad index and for kinds that are not supported
TN_API int tn_instance_sensor(tn_instance *instance, int sensor, double *values, int capacity);

/// Sets the control of an actuator: the target of a position servo, the force of a motor.
///
/// @param instance  the instance
/// @param actuator  index in the model
/// @param control   clamped to the range of the actuator
/// @return false for a bad index or a number that is not finite
TN_API bool tn_instance_set_control(tn_instance *instance, int actuator, double control);
/// Advances what changes from step to step: integrators (`intvelocity`) add up their control,
/// filters follow it, actuators on sites and on ball and free joints push during the next step, so
/// does a fluid, and sensors of acceleration remember the velocities. Call it before each step of a
/// world whose models have any of these.
///
/// @param instance  the instance
/// @param dt        length of that step, s
/// @return false for a null instance or a bad `dt`
TN_API bool tn_instance_advance(tn_instance *instance, float dt);
/// A controller: called by tn_instance_advance() before each step, to set controls or apply forces.
///
/// @param instance  whose step begins
/// @param time      s, all steps of the instance so far
/// @param dt        length of the step, s
/// @param context   as of tn_instance_set_controller()
typedef void tn_controller_fn(tn_instance *instance, double time, float dt, void *context);
/// Sets the controller of an instance; null: none. It must not advance or destroy the instance.
///
/// @param instance    the instance
/// @param controller  called before each step
/// @param context     passed to it; the host's
/// @return false for a null instance
TN_API bool tn_instance_set_controller(tn_instance *instance, tn_controller_fn *controller,
                                       void *context);
/// The controller of an instance; null for none.
TN_API tn_controller_fn *tn_instance_controller(const tn_instance *instance);
/// The control of an actuator; 0 for a bad index.
TN_API double tn_instance_control(const tn_instance *instance, int actuator);

#ifdef __cplusplus
}
#endif

#endif
