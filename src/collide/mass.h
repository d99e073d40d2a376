// Checks and principal axes of mass properties; the tn_mass_* functions are in tenon.h.
#ifndef TENON_COLLIDE_MASS_H
#define TENON_COLLIDE_MASS_H

#include "tenon/types.h"

// Principal moments in rising order, and the unit quaternion (x, y, z, w) that takes vectors of
// the principal frame to the body's. Equal moments keep the order of their axes. False if the
// tensor is not finite.
bool mass_principal(tn_sym3 inertia, double moments[3], double rotation[4]);

// Whether a solid can have these properties: all finite, mass and principal moments positive, and
// no moment larger than the two others together, to within rounding.
bool mass_is_physical(const tn_mass *mass);

#endif
