// Making a soft body from its definition: checks, measures of elements, constraints.
#ifndef TENON_WORLD_SOFT_MAKE_H
#define TENON_WORLD_SOFT_MAKE_H

#include "collide/elements.h"
#include "data/world.h"

// Why a definition's numbers are invalid, or null.
const char *soft_def_problem(const tn_soft_def *def);
const char *soft_settings_problem(const tn_soft_def *def); // the same without the elements
// Copies the settings of a checked definition, and the definition itself.
void soft_keep_def(soft *s, const tn_soft_def *def);
// Checks every element and reports the first invalid one. `used` has a zeroed byte per vertex;
// `sides` has room for three half edges per triangle and is filled.
bool soft_check(const tn_world *world, const tn_soft_def *def, uint8_t *used, half_edge *sides);

// Of a checked definition: first the counts, then, with memory assigned, masses and constraints.
void soft_count_elements(soft *s, const tn_soft_def *def, const half_edge *sides);
void soft_init_elements(soft *s, const tn_soft_def *def, const half_edge *sides);

#endif
