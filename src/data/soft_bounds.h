// Bounding boxes of soft bodies.
#ifndef TENON_DATA_SOFT_BOUNDS_H
#define TENON_DATA_SOFT_BOUNDS_H

#include "data/softs.h"

#include <tenon/tenon.h>

world_aabb empty_box(void);
void soft_set_box(soft *s, world_aabb box); // `box` is that of the points
void soft_update_box(soft *s);
void soft_grow_box(soft *s, tn_pos at);  // so that it contains `at`
void soft_boxes_settle(tn_world *world); // exact boxes again, at the start of a step

// Comparisons instead of fmin(), which is a call. A coordinate that is NaN adds nothing.
static inline void box_add_point(world_aabb *box, tn_pos p)
{
  box->lower.x = p.x < box->lower.x ? p.x : box->lower.x;
  box->lower.y = p.y < box->lower.y ? p.y : box->lower.y;
  box->lower.z = p.z < box->lower.z ? p.z : box->lower.z;
  box->upper.x = p.x > box->upper.x ? p.x : box->upper.x;
  box->upper.y = p.y > box->upper.y ? p.y : box->upper.y;
  box->upper.z = p.z > box->upper.z ? p.z : box->upper.z;
}

#endif
