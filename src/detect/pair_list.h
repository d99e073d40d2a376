// The list of pairs to be collided in a step, and the poses of their shapes.
#ifndef TENON_DETECT_PAIR_LIST_H
#define TENON_DETECT_PAIR_LIST_H

#include "data/world.h"
#include "detect/detect_tuning.h"

typedef struct pair_list {
  int32_t descents;      // pairs whose predecessor in the array belongs to a later body
  bool touches_sleeping; // some pair of the list has a sleeping body
} pair_list;

// How far shapes that close by `close` in a step may come if they bounce in it.
static inline float closing_ahead(float close, float restitution)
{
  return restitution > 0.0f ? TUNING_BOUNCE_SPEED_GAIN * close : close;
}

// Updates the cached poses of all active shapes; true if some shape moves farther in dt than its
// inner radius.
bool active_shapes_update(tn_world *world, float dt);
// Updates pose and bounds of a shape, once per contact update.
bool shape_cache_is_current(const tn_world *world, int32_t slot);
void shape_cache_update(tn_world *world, int32_t slot, bool active, float dt);
// Bound of the path of any point of a shape up to its present pose, m: shape_cache.travel as the
// next update will have it.
double shape_travel(const tn_world *world, int32_t slot);
// Fills detection->active_pairs, and makes room for what the narrow phase finds. False when out of
// memory.
bool pair_list_build(tn_world *world, float dt, pair_list *out);
void pair_list_release(tn_world *world);

#endif
