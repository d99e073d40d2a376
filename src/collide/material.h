// Combination of the materials and filters of two shapes.
#ifndef TENON_COLLIDE_MATERIAL_H
#define TENON_COLLIDE_MATERIAL_H

#include <tenon/types.h>

bool filters_should_collide(const tn_filter *a, const tn_filter *b);

#endif
