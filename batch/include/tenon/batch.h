/// @file
/// Many worlds at once: copies of one world, stepped on all cores or on a card.
///
/// A batch has N worlds with the same things in them, each with a state and parameters of its own.
/// They share hulls, meshes and height fields. Each world runs on one core at a time and has the
/// bits that it has alone. State and parameters are read and written as arrays: rows of numbers for
/// each world and each of its bodies, shapes or joints, with strides. The library tenon_batch
/// stands beside the core and uses only its public functions.
///
/// Calls on one batch must not run at the same time. Bad arguments change nothing and log why.
#ifndef TENON_BATCH_H
#define TENON_BATCH_H

#include <tenon/tenon.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Copies of a world: see tn_batch_create().
typedef struct tn_batch tn_batch;

/// Where worlds are stepped, other than on the CPU: tn_cuda() of tenon/cuda.h.
typedef struct tn_batch_device tn_batch_device;

/// How a batch is made: from tn_default_batch_def().
typedef struct tn_batch_def {
  const tn_world *world; ///< copied; may be destroyed afterwards
  int count;             ///< of worlds, 1 or more
  int threads;           ///< that step them, the caller included, 1 to 256; 1
  int lanes;             ///< of each world, as in tn_world_def; 0: the widest
  tn_log_fn *log;        ///< gets all messages, one at a time, from any thread; null: stderr
  void *log_context;     ///< passed to it; the host's
  const tn_batch_device *device; ///< that has and steps the worlds; null: the CPU
  bool or_cpu;         ///< the CPU takes over, with a warning, where the device cannot be used
  size_t world_bytes;  ///< memory of each world on a device, which does not grow; 0: measured over
                       ///< the first 60 steps, and up to three times as much
  bool own_geometries; ///< worlds on a device have room for hulls and meshes of their own, for
                       ///< tn_batch_put()
  uint32_t cookie;     ///< set by tn_default_batch_def()
} tn_batch_def;

/// The usual definition: one thread, and no world yet.
TN_API tn_batch_def tn_default_batch_def(void);

/// Makes `count` copies of a world; their state is the one that tn_batch_reset() goes back to.
///
/// @param def  from tn_default_batch_def(); copied
/// @return the batch, for tn_batch_destroy(); null if `def` is invalid or there is no memory, with
///         the reason in the log
TN_API tn_batch *tn_batch_create(const tn_batch_def *def);
/// Destroys a batch with all its worlds. Null does nothing.
TN_API void tn_batch_destroy(tn_batch *batch);
/// Number of worlds; 0 for null.
TN_API int tn_batch_count(const tn_batch *batch);
/// A world of the batch, for calls on it while the batch is not stepped; null if there is none or
/// it is on a device. Do not destroy it. Ids of the copied world are valid in it if their
/// `world` is tn_batch_world_key().
TN_API tn_world *tn_batch_world(const tn_batch *batch, int index);
/// Memory of each world on a device, bytes; 0 on the CPU.
TN_API size_t tn_batch_world_bytes(const tn_batch *batch);
/// What ids of a world of the batch have as `world`; 0 if there is no such world or it is on a
/// device.
TN_API uint32_t tn_batch_world_key(const tn_batch *batch, int index);

/// Calls a function with every world, on all threads.
///
/// @param function  must not touch other worlds
/// @param context   passed to it
/// @return false for null, and if the worlds are on a device
TN_API bool tn_batch_run(tn_batch *batch,
                         void (*function)(tn_world *world, int index, void *context),
                         void *context);

/// Advances all worlds by `repeat` steps of `dt` s.
///
/// Inputs that last for a step, such as forces, act in the first one. A world that fails, is not
/// finite or out of memory harms no other: see tn_batch_status().
///
/// A world that outgrows its memory on a device goes on on the CPU with the same bits, and the log
/// says so.
///
/// @return the bits of tn_step_status of all worlds together
TN_API uint32_t tn_batch_step(tn_batch *batch, float dt, int repeat);
/// Bits of tn_step_status of each world, of all steps of the last tn_batch_step(), or what
/// tn_batch_write() has set since; of the batch, valid until it is destroyed. Null for null.
TN_API const uint32_t *tn_batch_status(const tn_batch *batch);
/// Writes tn_world_hash() of each world; false for null.
TN_API bool tn_batch_hashes(tn_batch *batch, uint64_t *hashes);

/// Makes the present states of worlds those that tn_batch_reset() goes back to.
///
/// @param mask  one for each world, not 0: it takes part; null: all
/// @return false without memory
TN_API bool tn_batch_keep(tn_batch *batch, const uint8_t *mask);
/// Puts worlds back into the states that were kept: poses, velocities, contacts, impulses, sleep,
/// particles and targets, as tn_world_restore_state(). Parameters stay.
///
/// @param mask  as of tn_batch_keep()
/// @return false if a world refused, because bodies were added or removed or a soft body was torn
TN_API bool tn_batch_reset(tn_batch *batch, const uint8_t *mask);
/// Puts all worlds into the present state of world `from`.
///
/// @return false as of tn_batch_reset()
TN_API bool tn_batch_spread(tn_batch *batch, int from);

/// Makes worlds anew as copies of others, with geometries of their own: for what no field varies.
/// Their state is the one that tn_batch_reset() goes back to.
///
/// On a device set `own_geometries` of the batch; a world that does not fit goes on on the CPU.
/// Fields need worlds with the same things as the first one had.
///
/// @param first   of the batch's worlds that are replaced
/// @param count   how many
/// @param worlds  one for each; only read
/// @return false without memory, or if there are no such worlds
TN_API bool tn_batch_put(tn_batch *batch, int first, int count, tn_world *const *worlds);
/// Puts the states of worlds of the batch into others.
///
/// @param first   of the batch's worlds
/// @param count   how many
/// @param worlds  one for each, with the same things in it, as tn_world_restore_state() needs
/// @return false if a world refused, or there are no such worlds
TN_API bool tn_batch_take(tn_batch *batch, int first, int count, tn_world *const *worlds);

/// What an array of a batch holds. Items are in slot order, as in tn_world_bodies(),
/// tn_world_shapes() and tn_world_joints(). Joints have TN_JOINT_AXIS_COUNT numbers, one for each
/// axis.
typedef enum tn_batch_field {
  TN_BATCH_POSES,          ///< of bodies, TN_POSE_NUMBERS
  TN_BATCH_VELOCITIES,     ///< of bodies, TN_VELOCITY_NUMBERS
  TN_BATCH_FORCES,         ///< on bodies in the next step, TN_FORCE_NUMBERS; only written
  TN_BATCH_CONTACT_FORCES, ///< on bodies by contacts, mean over the last step, N, 3; only read
  TN_BATCH_POSITIONS,      ///< of joints, as tn_joint_state; only read
  TN_BATCH_RATES,          ///< of joints, as tn_joint_state; only read
  TN_BATCH_DRIVE_FORCES,   ///< of joints, as tn_joint_state; only read
  TN_BATCH_TARGETS,        ///< of drives, m or rad
  TN_BATCH_TARGET_RATES,   ///< of drives, m/s or rad/s
  TN_BATCH_DRIVE_INPUTS,   ///< feed-forward of drives, N or N m
  TN_BATCH_PARTICLES, ///< positions of all particles, soft body after soft body, m, 3; only read
  TN_BATCH_Q,         ///< coordinates of tn_batch_articulate(), 1
  TN_BATCH_QD,        ///< their rates, 1
  TN_BATCH_Q_FORCES,  ///< generalised forces in the next step, 1; only written
  TN_BATCH_GRAVITY,   ///< parameter: of the world, m/s^2, one item of 3
  TN_BATCH_MASSES,    ///< parameter: of dynamic bodies, kg, 1; 0 of others, and left alone
  TN_BATCH_GRAVITY_SCALES, ///< parameter: of bodies, 1
  TN_BATCH_FRICTIONS,      ///< parameter: of shapes, static and dynamic, 1
  TN_BATCH_RESTITUTIONS,   ///< parameter: of shapes, 1
  TN_BATCH_STIFFNESSES,    ///< parameter: of drives
  TN_BATCH_DAMPINGS,       ///< parameter: of drives
  TN_BATCH_SENSORS, ///< of shapes: how many shapes overlap it now, if it is a convex sensor, 1; 0
                    ///< of others; sensors and shapes of its own body do not count; only read
  TN_BATCH_FIELD_COUNT ///< number of fields
} tn_batch_field;

/// Size of an array of a batch.
typedef struct tn_batch_shape {
  int worlds;  ///< of the batch
  int items;   ///< of a world
  int numbers; ///< of an item
} tn_batch_shape;

/// Rows of numbers of the caller. Number k of item i of world w lies at
/// data + w * world_stride + i * item_stride + k * size of a number.
typedef struct tn_batch_rows {
  void *data;          ///< of the first number; the caller's
  tn_number type;      ///< of the numbers
  size_t world_stride; ///< bytes; 0: without gaps
  size_t item_stride;  ///< bytes; 0: without gaps
  bool on_device;      ///< `data` is memory of the batch's device, and nothing is copied; false
} tn_batch_rows;

/// Size of the array of a field, by the first world; zeros for null and for no field.
TN_API tn_batch_shape tn_batch_shape_of(tn_batch *batch, tn_batch_field field);
/// Reads a field of worlds.
///
/// @param mask  as of tn_batch_keep(); rows of other worlds are left alone
/// @param rows  filled in
/// @return false if the field cannot be read, or a world has not the items of the first one
TN_API bool tn_batch_read(tn_batch *batch, tn_batch_field field, const uint8_t *mask,
                          tn_batch_rows rows);
/// Writes a field of worlds, as the calls for single objects do.
///
/// @param mask  as of tn_batch_keep()
/// @param rows  only read
/// @return false if the field cannot be written, or a world refused: others are written all the
///         same, and tn_batch_status() has TN_STEP_REJECTED for those that refused
TN_API bool tn_batch_write(tn_batch *batch, tn_batch_field field, const uint8_t *mask,
                           tn_batch_rows rows);

/// Gives each world reduced coordinates: TN_BATCH_Q, TN_BATCH_QD, TN_BATCH_Q_FORCES.
///
/// @param def  of the copied world; its ids are taken as those of each world
/// @return false, with the reason in the log, as of tn_articulation_create(), and if the worlds are
///         on a device
TN_API bool tn_batch_articulate(tn_batch *batch, const tn_articulation_def *def);

/// Derivatives of steps by state and forces, about the present state of world 0, by central
/// differences in the worlds of the batch: x' = A x + B u with x = (q, q') and u the generalised
/// forces, which act in each of the steps.
///
/// All worlds are used and left in some state: give the batch a definition of its own. The result
/// does not depend on the number of worlds and threads.
///
/// @param dt      s, of a step
/// @param repeat  steps, 1 or more
/// @param change  of each coordinate, rate and force, in its unit; 0: 1/512
/// @param forces  about which to differentiate, one for each coordinate; null: zero
/// @param a       2n x 2n by rows, filled in
/// @param b       2n x n by rows, filled in
/// @return false without tn_batch_articulate(), for coordinates that are not angles or lengths
/// (free
///         roots and ball joints), and if a world refused
TN_API bool tn_batch_derivatives(tn_batch *batch, float dt, int repeat, double change,
                                 const double *forces, double *a, double *b);

/// Random numbers of a world and step by Philox4x32-10, a counter-based generator: the same
/// arguments give the same numbers everywhere, in any order.
///
/// @param seed   of the experiment
/// @param world  index of the world
/// @param step   any number that counts
/// @param draw   number of the draw in that step
/// @param out    four words of 32 random bits
TN_API void tn_batch_random(uint64_t seed, uint32_t world, uint32_t step, uint32_t draw,
                            uint32_t out[4]);
/// The first of these numbers, uniform in [lo, hi).
TN_API double tn_batch_uniform(uint64_t seed, uint32_t world, uint32_t step, uint32_t draw,
                               double lo, double hi);

#ifdef __cplusplus
}
#endif

#endif
