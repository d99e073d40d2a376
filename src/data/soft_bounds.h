// Bounding boxes of soft bodies.
#ifndef TENON_DATA_SOFT_BOUNDS_H
#define TENON_DATA_SOFT_BOUNDS_H

#include "data/softs.h"

#include <tenon/tenon.h>

world_aabb empty_box(void);
void box_add_point(world_aabb *box, tn_pos p);
void soft_update_box(soft *s);
void soft_grow_box(soft *s, tn_pos at);  // so that it contains `at`
void soft_boxes_settle(tn_world *world); // exact boxes again, at the start of a step

#endif
