// Arrays of a soft body, and the rest shapes of its shape matching elements.
#ifndef TENON_DATA_SOFT_ELEMENTS_H
#define TENON_DATA_SOFT_ELEMENTS_H

#include "data/softs.h"

// Points the arrays of a soft body into `memory` by its counts; returns the bytes needed. Null
// memory: the size only.
size_t soft_assign_arrays(soft *s, void *memory);
// Recomputes the rest shape of an element whose masses or plastic deformation have changed; the
// stiffness omega^2 sum m r^2 is kept.
void soft_refit_shape_match(soft *s, int32_t index);
ShapeMatchParams *soft_shape_match_params(const soft *s, int32_t index);
// Sum of mass times squared distance from the centre of mass, and the rest positions of an element.
double element_second_moment(const ShapeMatchParams *params);
void set_shape_match_rest(const soft *s, const int32_t *v, const float *plastic,
                          ShapeMatchParams *params);
// Rotation closest to the matrix with columns f, iterated from `known`.
Q soft_fit_rotation(Q known, const tn_pos *f);

#endif
