// Many bodies in one call: for arrays of a scripting language, instance buffers of a renderer, and
// game loops. Every call does what a loop over the calls for one body does, without the look-ups.
//
// Bodies are named by a list of ids, or by NULL for all of them: then `count` must be the number of
// bodies, and row i belongs to the i-th id of tn_world_bodies(). A list may name a body twice.
//
// Values are rows of numbers. Row i starts `stride` bytes after row i - 1, so that rows may be a
// part of a larger record, as of a vertex buffer or of a numpy array: pass its data pointer and
// strides[0]. A stride of 0 stands for rows without gaps. Rows need no alignment and must not
// overlap.
//
// All or nothing: if an id is dead, or a value is one that the call for a single body refuses, the
// call says which row it is (through the log), writes nothing and changes nothing.
#ifndef TENON_BULK_H
#define TENON_BULK_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The type of the numbers of a row.
typedef enum tn_number {
  TN_FLOAT,  ///< float, 4 bytes
  TN_DOUBLE, ///< double, 8 bytes
} tn_number;

#define TN_POSE_NUMBERS 7     ///< position x y z in m, rotation x y z w
#define TN_VELOCITY_NUMBERS 6 ///< of the centre of mass x y z in m/s, angular x y z in rad/s
#define TN_FORCE_NUMBERS 6    ///< force x y z in N, torque x y z in N m
#define TN_MATRIX_NUMBERS 16  ///< 4 x 4, by columns

/// Reads the poses of bodies, TN_POSE_NUMBERS each, as tn_body_transform() gives them.
///
/// With TN_DOUBLE rotations are as precise as the world keeps them, where tn_quat is rounded.
///
/// @param world   the world of the bodies
/// @param ids     `count` bodies, or NULL for all
/// @param count   number of rows, 0 or more
/// @param type    of the numbers of `rows`
/// @param rows    filled in; the caller's
/// @param stride  bytes from row to row: 0, or at least the size of a row
/// @return false, with the reason in the log and nothing written, if an id is not valid, `ids` is
///         NULL and `count` not the number of bodies, `rows` is null or the stride too short
TN_API bool tn_bodies_read_poses(const tn_world *world, const tn_body_id *ids, int count,
                                 tn_number type, void *rows, size_t stride);

/// Reads the velocities of bodies, TN_VELOCITY_NUMBERS each, in world axes.
///
/// Static and sleeping bodies have zeros. Parameters and result as of tn_bodies_read_poses().
TN_API bool tn_bodies_read_velocities(const tn_world *world, const tn_body_id *ids, int count,
                                      tn_number type, void *rows, size_t stride);

/// Reads the poses of bodies as matrices for instanced drawing, TN_MATRIX_NUMBERS floats each.
///
/// A matrix takes points of the body's frame to the world, less `origin`: columns x, y, z and the
/// position, the last row 0 0 0 1. The difference to the origin is taken in double, so that a scene
/// far away does not tremble if the origin is the camera's place.
///
/// @param origin  m; finite
/// Other parameters and result as of tn_bodies_read_poses().
TN_API bool tn_bodies_read_matrices(const tn_world *world, const tn_body_id *ids, int count,
                                    tn_pos origin, float *rows, size_t stride);

/// Reads which bodies are awake: 1, or 0 for those that sleep, as tn_body_is_awake().
///
/// @param flags   one byte a body
/// @param stride  bytes from flag to flag; 0 stands for 1
/// Other parameters and result as of tn_bodies_read_poses().
TN_API bool tn_bodies_read_awake(const tn_world *world, const tn_body_id *ids, int count,
                                 uint8_t *flags, size_t stride);

/// Moves bodies to poses, TN_POSE_NUMBERS each, as tn_body_set_transform() does.
///
/// All of them wake up. Of a body that is listed twice the last row holds.
///
/// @param rows  the caller's, only read; positions within TN_MAX_DISTANCE, rotations of a length
///              from 0.9 to 1.1
/// Other parameters and result as of tn_bodies_read_poses(); also false when out of memory.
TN_API bool tn_bodies_write_poses(tn_world *world, const tn_body_id *ids, int count, tn_number type,
                                  const void *rows, size_t stride);

/// Sets velocities of bodies, TN_VELOCITY_NUMBERS each, as tn_body_set_velocity() and
/// tn_body_set_angular_velocity() do.
///
/// Bodies that can move wake up. A static body takes zeros only, and stays as it is.
///
/// @param rows  the caller's, only read; no component beyond TN_MAX_RATE
/// Other parameters and result as of tn_bodies_read_poses().
TN_API bool tn_bodies_write_velocities(tn_world *world, const tn_body_id *ids, int count,
                                       tn_number type, const void *rows, size_t stride);

/// Adds forces through centres of mass, and torques, TN_FORCE_NUMBERS each, in world axes.
///
/// They act during the next step, as those of tn_body_apply_force_to_center() and
/// tn_body_apply_torque(). A row of zeros does nothing and wakes nobody; only dynamic bodies take
/// others. A body that is listed twice gets the sum.
///
/// @param rows  the caller's, only read; no acceleration beyond TN_MAX_RATE
/// Other parameters and result as of tn_bodies_read_poses(); also false when out of memory.
TN_API bool tn_bodies_apply_forces(tn_world *world, const tn_body_id *ids, int count,
                                   tn_number type, const void *rows, size_t stride);

/// A body or a soft body that moved in the last step.
typedef struct tn_move_event {
  tn_body_id body;   ///< null: a soft body
  tn_soft_id soft;   ///< null: a body
  tn_transform pose; ///< of the body, as it is now; a soft body has none: the identity
  bool fell_asleep;  ///< at the end of the step; it will not be listed again until it wakes
  void *user_data;   ///< of the body or soft body
} tn_move_event;

/// Lists what moved in the last step: all that a renderer has to draw anew.
///
/// Bodies come first, then soft bodies, each in slot order. A body is listed if the step changed
/// its pose or let it fall asleep, a soft body if it was awake in the step. What calls have moved
/// between steps, and what has been destroyed since, is not listed. The world only notes slots:
/// poses are computed here, so that steps cost the same whether this is called or not.
///
/// @param events    filled in, up to `capacity`; may be null if that is 0
/// @param capacity  room in `events`
/// @return how many there are, which may be more than fit;
///         0 for a null world, before the first step
///         and after tn_world_restore()
TN_API int tn_world_moved(const tn_world *world, tn_move_event *events, int capacity);

#ifdef __cplusplus
}
#endif

#endif
