/// @file
/// Ids of what a world contains.
///
/// Ids are small values, never pointers: they may be copied, stored and compared. A zeroed id is
/// null and stands for the world itself where a body is asked for. An id names the world it came
/// from and the life of its slot, so that a stale id, or one of another world, is always detected.
#ifndef TENON_ID_H
#define TENON_ID_H

#include "base.h"

/// A rigid body.
typedef struct tn_body_id {
  uint32_t index;      ///< slot + 1, so that zero is null
  uint32_t generation; ///< how often the slot was reused
  uint32_t world;      ///< number of the world, unique in the process
} tn_body_id;

/// A joint between two bodies.
typedef struct tn_joint_id {
  uint32_t index;      ///< slot + 1; zero is null
  uint32_t generation; ///< how often the slot was reused
  uint32_t world;      ///< number of the world
} tn_joint_id;

/// A coupling of joint axes, or a path through points of bodies.
typedef struct tn_coupling_id {
  uint32_t index;      ///< slot + 1; zero is null
  uint32_t generation; ///< how often the slot was reused
  uint32_t world;      ///< number of the world
} tn_coupling_id;

/// A shape of a body or of the world.
typedef struct tn_shape_id {
  uint32_t index;      ///< slot + 1; zero is null
  uint32_t generation; ///< how often the slot was reused
  uint32_t world;      ///< number of the world
} tn_shape_id;

/// Data that shapes share: a hull, mesh, height field or wire.
typedef struct tn_geometry_id {
  uint32_t index;      ///< slot + 1; zero is null
  uint32_t generation; ///< how often the slot was reused
  uint32_t world;      ///< number of the world
} tn_geometry_id;

/// A body of particles: cloth, rope, soft solid, balloon.
typedef struct tn_soft_id {
  uint32_t index;      ///< slot + 1; zero is null
  uint32_t generation; ///< how often the slot was reused
  uint32_t world;      ///< number of the world
} tn_soft_id;

/// A tie between a particle of a soft body and a point of a rigid body or of the world.
typedef struct tn_attachment_id {
  uint32_t index;      ///< slot + 1; zero is null
  uint32_t generation; ///< how often the slot was reused
  uint32_t world;      ///< number of the world
} tn_attachment_id;

/// Whether an id of any kind is null. A non-null id may still be stale: see the *_is_valid
/// functions.
#define TN_IS_NULL(id) ((id).index == 0)

/// Whether two ids of the same kind are equal.
#define TN_SAME_ID(a, b)                                                                           \
  ((a).index == (b).index && (a).generation == (b).generation && (a).world == (b).world)

#endif
