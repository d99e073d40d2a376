// Ids are small values, never pointers. A zeroed id is null and stands for the world itself where
// a joint asks for a body. An id names the world it came from and the life of its slot, so a dead
// id, or one of another world, is always told apart from a live one.
#ifndef TENON_ID_H
#define TENON_ID_H

#include "base.h"

typedef struct tn_body_id {
  uint32_t index; // slot + 1, so that zero is null
  uint32_t generation;
  uint32_t world;
} tn_body_id;

typedef struct tn_joint_id {
  uint32_t index;
  uint32_t generation;
  uint32_t world;
} tn_joint_id;

typedef struct tn_shape_id {
  uint32_t index;
  uint32_t generation;
  uint32_t world;
} tn_shape_id;

// Data that shapes share: a hull, mesh, height field or wire.
typedef struct tn_geometry_id {
  uint32_t index;
  uint32_t generation;
  uint32_t world;
} tn_geometry_id;

// A body of particles: cloth, rope, soft solid, balloon.
typedef struct tn_soft_id {
  uint32_t index;
  uint32_t generation;
  uint32_t world;
} tn_soft_id;

// What ties a particle of a soft body to a point of a rigid one.
typedef struct tn_attachment_id {
  uint32_t index;
  uint32_t generation;
  uint32_t world;
} tn_attachment_id;

#define TN_IS_NULL(id) ((id).index == 0)
#define TN_SAME_ID(a, b)                                                                           \
  ((a).index == (b).index && (a).generation == (b).generation && (a).world == (b).world)

#endif
