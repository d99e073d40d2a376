/// @file
/// Couplings: one scalar constraint over axes of several joints, or over the length of a path
/// through points of bodies. Gears, racks, screws, differentials, mimic joints, pulleys, tendons.
///
/// The coordinate of a coupling is
///
///     c = offset + sum of the axes' polynomials + sum of the path's segments,
///
/// in m, rad or whatever the coefficients make of them. What acts on it are a range (rigid or
/// compliant; equal ends hold c exactly), a spring with damping, a drive and dry friction. Their
/// forces are conjugate to c: a force f does the work f dc, so that an axis q feels f dc/dq, and a
/// path is pulled with the tension -f.
///
/// A path may run around spheres and cylinders that are fixed to bodies, as a rope around a pulley
/// or a tendon around a bone: tn_coupling_def_wrap(). It slides on them without friction.
///
/// TN_METHOD_TENON solves couplings directly, together with the joints of the mechanism. The other
/// methods have none: see tn_coupling_create() and tn_world_set_method().
#ifndef TENON_COUPLING_H
#define TENON_COUPLING_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Most axes of a coupling.
#define TN_COUPLING_AXES 8
/// Most points of a coupling's path.
#define TN_COUPLING_POINTS 16

/// An axis of a joint as part of a coupling: it adds a1 q + a2 q^2 + a3 q^3 + a4 q^4 to c, with q
/// the coordinate of body B relative to body A, less `reference`. Angles of hinges, cylinders,
/// universal and ball joints (twist) count turns, from the one nearest to zero at creation.
typedef struct tn_coupling_axis {
  tn_joint_id joint;     ///< which joint
  int axis;              ///< 0 to 2: offset along a, b, c (0 of a distance joint: its length);
                         ///< 3 to 5: angle about them. Only axes that the kind of joint leaves free
  float reference;       ///< m or rad, where q is zero; 0
  float coefficients[4]; ///< a1 to a4, finite
} tn_coupling_axis;

/// A point of a coupling's path, or a round solid between two points that the path runs around.
typedef struct tn_coupling_point {
  tn_body_id body; ///< null: the world
  tn_pos position; ///< in the body's frame, or in the world, m; of a solid its centre
  /// Factor of the length of the path from the last point to this one, 0 or more: 1 / divisor
  /// behind a pulley. 0 begins a new branch here. Not used of the first point and of solids.
  float factor;
  float radius; ///< m, 0 to 1e6, of a solid; 0: a point
  tn_vec3 axis; ///< of a cylinder, which has no ends, in the body's frame; 0: a sphere
  /// Where the path passes the solid: a direction from its centre, in the body's frame. On the
  /// other side a taut path goes the long way round. 0: the shorter way, or straight where that is
  /// free.
  tn_vec3 side;
  /// The path comes to the surface of the solid but does not wind about it, as through a ring; a
  /// path that crosses the solid is straight. false
  bool inside;
} tn_coupling_point;

/// What drives a coupling: a force of
///     stiffness (target - c) + damping (velocity - dc/dt) + force,
/// within limits. With all zero it is off. A jump of the target is spread over a step.
typedef struct tn_coupling_drive {
  float stiffness; ///< N per unit of c, 0 to 1e12; 0
  float target;    ///< of c; 0
  float damping; ///< N s per unit of c, 0 to 1e12; with stiffness 0 a motor, the stiffer the larger
  float velocity;  ///< of c per second; 0
  float force;     ///< N, a constant part; 0
  tn_range limits; ///< N, around 0; infinite: no limits, the default
} tn_coupling_drive;

/// How a coupling is made: from tn_default_coupling_def(). It needs an axis or two points.
typedef struct tn_coupling_def {
  tn_coupling_axis axes[TN_COUPLING_AXES];      ///< the first axis_count are in use
  int axis_count;                               ///< 0 to TN_COUPLING_AXES; 0
  tn_coupling_point points[TN_COUPLING_POINTS]; ///< the path: the first point_count are in use
  int point_count;                              ///< 0, or 2 to TN_COUPLING_POINTS; 0
  float offset;                                 ///< constant part of c; 0
  /// Of c; 0 to 0. Equal ends are a gear or a rigid rod; an upper end alone is a rope; open ends
  /// in between are backlash.
  tn_range range;
  float compliance;        ///< units of c per N, 0 to 1e12, of the range's ends; 0 is rigid
  float range_damping;     ///< N s per unit of c, 0 to 1e12, of compliant ends; 0
  float stiffness;         ///< N per unit of c, 0 to 1e12, of a spring; 0
  float rest;              ///< c at which the spring is at rest; 0
  float damping;           ///< N s per unit of c, 0 to 1e12, of motion of c; 0
  float friction;          ///< N, 0 or more, against motion of c; 0
  tn_coupling_drive drive; ///< off
  bool enabled;            ///< acts; true
  void *user_data;         ///< the host's
  uint32_t cookie;         ///< set by tn_default_coupling_def()
} tn_coupling_def;

/// What a coupling does now. Forces are means over the last step, conjugate to c.
typedef struct tn_coupling_state {
  double value;      ///< c
  float rate;        ///< dc/dt
  float force;       ///< N, of range, spring, drive and friction together; minus the tension
  float drive_force; ///< N, of the drive alone
} tn_coupling_state;

/// The usual definition of a coupling: rigid at c = 0, without axes and points yet.
TN_API tn_coupling_def tn_default_coupling_def(void);
/// Appends an axis with c = ... + coefficient * q to a definition.
///
/// @param axis  as tn_coupling_axis.axis
/// @return false if the definition is full or null
TN_API bool tn_coupling_def_axis(tn_coupling_def *def, tn_joint_id joint, int axis,
                                 float coefficient);
/// Appends a point of the path to a definition; parameters as of tn_coupling_point.
///
/// @return false if the definition is full or null
TN_API bool tn_coupling_def_point(tn_coupling_def *def, tn_body_id body, tn_pos position,
                                  float factor);
/// Appends a round solid to a definition, between two points of the path; parameters as of
/// tn_coupling_point.
///
/// @return false if the definition is full or null
TN_API bool tn_coupling_def_wrap(tn_coupling_def *def, tn_body_id body, tn_pos center, float radius,
                                 tn_vec3 axis);
/// Length of the path of a definition, each part times its factor, in m.
///
/// @param poses  of the body of each point; those of points of the world are not used
/// @return 0 if `def` or `poses` is null, or the path has fewer than two points
TN_API double tn_coupling_def_length(const tn_coupling_def *def, const tn_transform *poses);

/// Adds a coupling. Its bodies wake up; from now on they fall asleep together.
///
/// It acts while all of its joints are enabled and not broken. Destroying one of its joints or
/// bodies destroys the coupling, which is logged as a warning.
///
/// @param world  the world that owns its joints and bodies, with TN_METHOD_TENON
/// @param def    from tn_default_coupling_def(); copied
/// @return the new coupling, or a null id if `def` is invalid (an axis that its joint holds, a
///         reversed range, a stale id, bodies that are all the world, another method); the reason
///         goes to the log
TN_API tn_coupling_id tn_coupling_create(tn_world *world, const tn_coupling_def *def);
/// Destroys a coupling. Its bodies wake up.
TN_API bool tn_coupling_destroy(tn_world *world, tn_coupling_id coupling);
/// Whether an id names a coupling of this world that is still there. Logs nothing.
TN_API bool tn_coupling_is_valid(const tn_world *world, tn_coupling_id coupling);
/// Lists the couplings of a world in slot order; parameters and result as of tn_world_bodies().
TN_API int tn_world_couplings(const tn_world *world, tn_coupling_id *ids, int capacity);

/// Definition of a coupling as it is now.
TN_API tn_coupling_def tn_coupling_get_def(const tn_world *world, tn_coupling_id coupling);
/// Writes the definition of a coupling: all of it can be changed at any time. Joint axes that stay
/// at their place in the list keep their turns. The bodies wake up.
TN_API bool tn_coupling_set_def(tn_world *world, tn_coupling_id coupling,
                                const tn_coupling_def *def);
/// Writes the drive of a coupling. The bodies wake up.
TN_API bool tn_coupling_set_drive(tn_world *world, tn_coupling_id coupling,
                                  tn_coupling_drive drive);
/// Drive of a coupling.
TN_API tn_coupling_drive tn_coupling_get_drive(const tn_world *world, tn_coupling_id coupling);
/// Switches a coupling on or off. The bodies wake up.
TN_API bool tn_coupling_set_enabled(tn_world *world, tn_coupling_id coupling, bool enabled);
/// Whether a coupling is switched on.
TN_API bool tn_coupling_is_enabled(const tn_world *world, tn_coupling_id coupling);
/// The host's pointer.
TN_API void *tn_coupling_user_data(const tn_world *world, tn_coupling_id coupling);
/// Writes the host's pointer.
TN_API bool tn_coupling_set_user_data(tn_world *world, tn_coupling_id coupling, void *data);

/// What a coupling does now: c, its rate, forces.
TN_API tn_coupling_state tn_coupling_get_state(const tn_world *world, tn_coupling_id coupling);

/// Sets the play of linkages, relative to their lever arms, or rad, from 0 to 0.1.
///
/// Joints of a loop that contradict each other by less than this, such as three parallel arms whose
/// lengths differ by a rounding error, share the difference as a linkage with play does, instead of
/// locking a drive. Joints without contradictions stay as exact as they are. The default is 1e-4.
TN_API bool tn_world_set_play(tn_world *world, float play);
/// The play of linkages, as it was set.
TN_API float tn_world_play(const tn_world *world);

#ifdef __cplusplus
}
#endif

#endif
