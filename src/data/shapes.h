// Shapes.
#ifndef TENON_DATA_SHAPES_H
#define TENON_DATA_SHAPES_H

#include "base/dquat.h"
#include "collide/geometry.h"
#include "collide/world_aabb.h"

#include <tenon/types.h>

#include <stdalign.h>

typedef struct world_pose {
  tn_pos p;
  dquat q;
} world_pose;

// B's frame in A's frame; the difference is taken in double before it is rounded.
static inline pose world_pose_relative(world_pose a, world_pose b)
{
  dquat q = dquat_conjugate(a.q);
  tn_pos p = dquat_rotate(q, pos_sub(b.p, a.p));
  pose r = {tn_v3((float)p.x, (float)p.y, (float)p.z),
            dquat_round(dquat_normalize(dquat_mul(q, b.q)))};
  return r;
}

// Pose and bounds of a shape at the last contact update. All pairs of the shape read it: two cache
// lines.
typedef struct shape_cache {
  alignas(64) float axis[3]; // y axis of the shape, world
  float half_length, radius; // of a sphere or capsule, m
  float max_extent;          // bound of the distance from the body's centre of mass to any point, m
  float bounding_radius;     // about the shape's origin, m
  float speed;               // bound of the speed of any point, m/s
  // Rotation to world; offset from the body's centre of mass, m, world axes.
  float rotation[4], offset[3];
  float restitution; // of its material
  world_pose pose;
  double travel; // bound of the path length of any point, summed over all updates, m
} shape_cache;

typedef struct shape {
  shape_cache shape_cache;
  uint32_t generation;
  int32_t next_free;
  bool alive;
  int32_t body; // slot
  int32_t next; // in the body's list of shapes, or NO_SLOT
  tn_shape_def def;
  geometry geometry;
  int32_t shared; // slot of the shared geometry, or NO_SLOT
  // Pose relative to the body's centre of mass and principal axes.
  tn_pos local_position;
  dquat local_rotation;
  float bounding_radius, inner_radius; // outer and inscribed sphere, m
  float box_slack;                     // m that any point may still move without leaving `box`
  float box_sweep;    // extent of `box` that is due to the motion expected when it was made, m
  bool is_static;     // in static_tree, else in moving_tree
  int32_t tree_leaf;  // in its tree
  world_aabb box;     // fat box, as stored in the tree
  bool pairs_pending; // searches for pairs at the start of the next step
  bool waits;         // the last search left out pairs because of a crowd or a limit
  int32_t first_pair; // pair * 2 + side, or NO_SLOT
  int32_t pair_count;
  int32_t crowd; // number of pairs with shapes that overlap it deeply
} shape;

static inline bool kind_has_volume(int kind)
{
  return kind != TN_SHAPE_PLANE && kind != TN_SHAPE_MESH && kind != TN_SHAPE_HEIGHT_FIELD &&
         kind != TN_SHAPE_WIRE;
}

#endif
