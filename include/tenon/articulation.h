/// @file
/// Reduced coordinates of mechanisms: joint positions and velocities instead of poses, mass matrix,
/// bias forces, Jacobians, inverse and forward dynamics. In double precision.
///
/// An articulation is a view of bodies and joints that exist in a world. Its trees start at root
/// bodies. A root is held by its first joint to the world, to a static or to a kinematic body; a
/// root without one is free and has a coordinate of its own. From each body the trees go on over
/// its joints in the order of their creation, depth first: a joint comes before those of the body
/// that it moves, and all of these before the next joint of its own parent. Joints that lead to a
/// body that is already part of a tree, or to one that does not move, close loops. They have no
/// coordinates and are listed by tn_articulation_loops(). Distance joints always count as loops,
/// and joints that are disabled or hold nothing do not count.
///
/// Coordinates of a joint are those of frame B relative to frame A, whichever of the two bodies the
/// joint moves:
///
/// | joint     | positions | velocities | meaning |
/// |-----------|-----------|------------|----------------------------------------------------------|
/// | free root | 7         | 6          | origin of the body, its rotation as a quaternion x y z w;
/// velocity of the origin in world axes, angular velocity in the body's axes | | hinge     | 1 | 1
/// | angle about a                                            | | prismatic | 1         | 1 |
/// offset along a                                           | | cylinder  | 2         | 2 | offset
/// along a, angle about a                            | | universal | 2         | 2          | angle
/// about a of A, angle about b of B                   | | ball      | 4         | 3          |
/// quaternion x y z w; angular velocity in the axes of B    | | fixed     | 0         | 0 | | |
/// generic   | up to 7   | up to 6    | offsets along the axes of A that are not locked; then the
/// angle about the one free axis if the other two are locked at 0, a quaternion as of a ball if all
/// three are free, or else the free parts of the rotation vector |
///
/// Joints are taken as rigid: what a compliant joint gives way, and the error of any joint, shows
/// in no coordinate. All quantities follow from the coordinates at the time of the call. The forces
/// of loops, contacts, drives and dampers are not part of the mass matrix and of the bias forces.
///
/// Each call checks that the bodies and joints still exist. Once one of them is destroyed, disabled
/// or broken, calls are refused until a new articulation is made. The functions of one articulation
/// share scratch memory: call them from one thread at a time.
#ifndef TENON_ARTICULATION_H
#define TENON_ARTICULATION_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reduced coordinates of mechanisms of a world: see tn_articulation_create().
typedef struct tn_articulation tn_articulation;

/// How many of everything an articulation has.
typedef struct tn_articulation_counts {
  int joints;     ///< of the trees, free roots included; one for each body
  int loops;      ///< joints that close loops
  int positions;  ///< numbers in a position, q
  int velocities; ///< degrees of freedom: numbers in a velocity, q'
} tn_articulation_counts;

/// A joint of the trees, or a free root.
typedef struct tn_articulation_joint {
  tn_joint_id joint;  ///< null: a free root
  tn_body_id body;    ///< that it moves
  int parent;         ///< index of the joint that moves the other body; -1: that does not move
  int first_position; ///< index of its first number in a position
  int position_count; ///< 0 to 7
  int first_velocity; ///< index of its first number in a velocity
  int velocity_count; ///< 0 to 6
} tn_articulation_joint;

/// State of an articulation in arrays of the caller. Arrays that are null are left out.
typedef struct tn_keyframe {
  double *positions;  ///< q, tn_articulation_counts::positions numbers
  double *velocities; ///< q', tn_articulation_counts::velocities numbers
  double *targets; ///< of position drives, m or rad, one for each velocity; 0 where there is none
} tn_keyframe;

/// What an articulation consists of: from tn_default_articulation_def().
typedef struct tn_articulation_def {
  const tn_body_id *roots; ///< dynamic bodies, usually one; only read
  int root_count;          ///< number of them, 1 or more; 0
  const tn_joint_id *cuts; ///< joints that the trees do not follow: they count as loops; only read
  int cut_count;           ///< number of them; 0
  uint32_t cookie;         ///< set by tn_default_articulation_def()
} tn_articulation_def;

/// The usual definition: no cuts, and no roots yet.
TN_API tn_articulation_def tn_default_articulation_def(void);

/// Makes an articulation of the trees that start at root bodies.
///
/// It changes nothing in the world. The memory comes from the world's allocator.
///
/// @param world  the world of the bodies; must outlive all calls but tn_articulation_destroy()
/// @param def    from tn_default_articulation_def(); only read
/// @return null, with the reason in the log, if a root is not a dynamic body of this world, or is
///         part of the tree of an earlier root, if a cut is not a joint, or when out of memory
TN_API tn_articulation *tn_articulation_create(tn_world *world, const tn_articulation_def *def);
/// Destroys an articulation; the bodies and joints stay. Null does nothing.
TN_API void tn_articulation_destroy(tn_articulation *articulation);

/// How many of everything there is; zeros for null.
TN_API tn_articulation_counts tn_articulation_get_counts(const tn_articulation *articulation);
/// Lists the joints of the trees in the order of their coordinates.
///
/// @param joints    filled in, up to `capacity`; may be null if that is 0
/// @param capacity  room in `joints`
/// @return how many there are; 0 for null
TN_API int tn_articulation_joints(const tn_articulation *articulation,
                                  tn_articulation_joint *joints, int capacity);
/// Lists the joints that close loops; parameters and result as of tn_articulation_joints().
TN_API int tn_articulation_loops(const tn_articulation *articulation, tn_joint_id *loops,
                                 int capacity);

/// Reads the positions q, m and rad.
///
/// @param positions  filled in, all of them
/// @return false, with the reason in the log, if a body or joint is gone
TN_API bool tn_articulation_positions(tn_articulation *articulation, double *positions);
/// Sets the positions: moves all bodies, by forward kinematics from the roots.
///
/// Velocities of bodies stay as they are. If there are loops, coordinates are changed as little as
/// possible (weighted by the mass matrix's diagonal) until the loops close. The bodies wake up.
///
/// @param positions  q; quaternions need not be exactly unit
/// @param keep       one for each velocity: true keeps that coordinate while loops are closed;
/// null:
///                   all may change
/// @return false, with nothing changed and the reason in the log, if a body or joint is gone, a
///         number is not finite, a quaternion zero, a body would be too far away, or the loops
///         cannot close to 1e-4 of the mechanism's size and 1e-4 rad
TN_API bool tn_articulation_set_positions(tn_articulation *articulation, const double *positions,
                                          const bool *keep);
/// Reads the velocities q', m/s and rad/s.
///
/// @param velocities  filled in, all of them
/// @return as of tn_articulation_positions()
TN_API bool tn_articulation_velocities(tn_articulation *articulation, double *velocities);
/// Sets the velocities of all bodies, which are stored in single precision. The bodies wake up.
///
/// @param velocities  q'
/// @param keep        as of tn_articulation_set_positions(): with loops the velocities are changed
///                    as little as possible to those that do not open them
/// @return false, with nothing changed and the reason in the log, if a body or joint is gone or a
///         velocity is not finite or too large
TN_API bool tn_articulation_set_velocities(tn_articulation *articulation, const double *velocities,
                                           const bool *keep);
/// Advances positions by constant velocities: q + q' dt, and for quaternions the rotation by that
/// angular velocity. Changes nothing in the world.
///
/// @param positions   changed
/// @param velocities  q'
/// @param dt          s, of any sign
/// @return false for null, or if a number is not finite
TN_API bool tn_articulation_integrate(tn_articulation *articulation, double *positions,
                                      const double *velocities, double dt);

/// Reads positions, velocities and targets of drives into the arrays that are not null.
///
/// @return as of tn_articulation_positions()
TN_API bool tn_articulation_save(tn_articulation *articulation, tn_keyframe *keyframe);
/// Sets positions, velocities and targets of drives from the arrays that are not null. Targets
/// where there is no position drive are skipped.
///
/// @return as of tn_articulation_set_positions()
TN_API bool tn_articulation_apply(tn_articulation *articulation, const tn_keyframe *keyframe);

/// Applies generalised forces during the next step, as equal and opposite forces on the two bodies
/// of each joint, in addition to other forces. Their directions are those of the axes now.
///
/// @param forces  N and N m, one for each velocity
/// @return false, with nothing changed and the reason in the log, if a body or joint is gone or a
///         force is not finite or too large
TN_API bool tn_articulation_apply_forces(tn_articulation *articulation, const double *forces);
/// Reads the generalised forces that the joints exerted along their axes, as the mean over the last
/// step: drives, springs, friction, damping and limits.
///
/// @param forces  N and N m, filled in; 0 for free roots
/// @return as of tn_articulation_positions()
TN_API bool tn_articulation_joint_forces(tn_articulation *articulation, double *forces);

/// Mass matrix M of the trees: q'^T M q' / 2 is their kinetic energy.
///
/// @param matrix  filled in: velocities x velocities, symmetric
/// @return as of tn_articulation_positions()
TN_API bool tn_articulation_mass_matrix(tn_articulation *articulation, double *matrix);
/// Bias forces c: Coriolis and centrifugal forces and minus gravity, M q'' + c = forces.
///
/// @param forces  N and N m, filled in
/// @return as of tn_articulation_positions()
TN_API bool tn_articulation_bias_forces(tn_articulation *articulation, double *forces);
/// Inverse dynamics: the generalised forces for given accelerations, M q'' + c.
///
/// @param accelerations  q'', the derivative of the velocities by time
/// @param forces         N and N m, filled in; may be `accelerations`
/// @return as of tn_articulation_positions()
TN_API bool tn_articulation_inverse_dynamics(tn_articulation *articulation,
                                             const double *accelerations, double *forces);
/// Forward dynamics of the trees, without loops, drives and contacts: the accelerations under given
/// forces.
///
/// @param forces         generalised forces, N and N m
/// @param accelerations  q'', filled in; may be `forces`
/// @return false as of tn_articulation_positions(), or if the mass matrix is singular
TN_API bool tn_articulation_forward_dynamics(tn_articulation *articulation, const double *forces,
                                             double *accelerations);
/// Jacobian of a point that moves with a body: its velocity is `linear` q', the angular velocity of
/// the body is `angular` q'.
///
/// @param body     of the trees
/// @param point    in the body's frame, m
/// @param linear   3 x velocities, world axes, filled in; may be null
/// @param angular  3 x velocities, world axes, filled in; may be null
/// @return false as of tn_articulation_positions(), or if the body is not part of the trees
TN_API bool tn_articulation_jacobian(tn_articulation *articulation, tn_body_id body, tn_pos point,
                                     double *linear, double *angular);

#ifdef __cplusplus
}
#endif

#endif
