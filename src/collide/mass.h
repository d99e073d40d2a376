// Validation and principal axes of mass properties. The public tn_mass_* functions are declared in
// tenon.h.
#ifndef TENON_COLLIDE_MASS_H
#define TENON_COLLIDE_MASS_H

#include "tenon/types.h"

// Diagonalises an inertia tensor. `moments` are in ascending order; `rotation` is the unit
// quaternion (x, y, z, w) from the principal frame to the body's. Equal moments keep the order of
// their axes. Returns false if the tensor is not finite.
bool mass_principal(tn_sym3 inertia, double moments[3], double rotation[4]);

// Whether a solid body can have these properties: all finite, mass and principal moments positive,
// and no moment larger than the sum of the other two (within rounding).
bool mass_is_physical(const tn_mass *mass);

#endif
