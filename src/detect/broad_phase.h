// Broad phase: fat boxes, trees, the list of pairs.
#ifndef TENON_DETECT_BROAD_PHASE_H
#define TENON_DETECT_BROAD_PHASE_H

#include "data/shapes.h"

#include <tenon/tenon.h>

// All pairs of the shape are collided again, and it searches for pairs at the start of the next
// step.
void shape_invalidate_pairs(tn_world *world, int32_t shape_slot);
void shape_remove_pairs(tn_world *world, int32_t shape_slot);
void pair_remove(tn_world *world, int32_t slot);
// Room for detection->body_marks of all awake bodies. False when out of memory.
bool body_marks_reserve(tn_world *world);
void broad_phase_release(tn_world *world);
// Updates fat boxes, trees and the pair list. False when out of memory.
bool broad_phase_update(tn_world *world, float dt);
bool pair_should_collide(const tn_world *world, const shape *a, const shape *b);
// NO_SLOT when out of memory.
int32_t pair_find_or_add(tn_world *world, int32_t a, int32_t b);
// Fat boxes enclose their shapes at the end of a step as well: shape_boxes_use_slack() subtracts
// the motion of the step, before bodies take their new poses, and returns false if a shape may have
// left its box; then shape_boxes_refit() replaces such boxes, and trees_refit() updates the trees.
bool shape_boxes_use_slack(tn_world *world, int32_t body_slot);
void shape_boxes_refit(tn_world *world, int32_t body_slot);
void trees_refit(tn_world *world);
// The sides of a fat box are multiples of this power of two, up to an eighth of its margin, so that
// saved states are short. 0: of a shape without an end, whose sides are not rounded.
double shape_box_grid(const shape *s);
// AABB without a margin.
world_aabb shape_tight_aabb(const tn_world *world, const shape *s);
bool shapes_may_collide(const tn_world *world, const shape *a, const shape *b);

#endif
