// Validation and principal axes of mass properties. The public tn_mass_* functions are declared in
// tenon.h.
#ifndef TENON_COLLIDE_MASS_H
#define TENON_COLLIDE_MASS_H

#include "collide/d3.h"

#include <tenon/types.h>

#include <stddef.h>

// Diagonalises an inertia tensor. `moments` are in ascending order; `rotation` is the unit
// quaternion (x, y, z, w) from the principal frame to the body's. Equal moments keep the order of
// their axes. Returns false if the tensor is not finite.
bool mass_principal(tn_sym3 inertia, double moments[3], double rotation[4]);

// Moments of the volume that a surface encloses.
typedef struct volume_sum {
  d3 reference; // near the surface, to avoid cancellation
  double volume, area;
  d3 first;            // first moment about the reference, volume integral of x
  double second[3][3]; // second moment, volume integral of x x^T
} volume_sum;

// Moments of the convex hull of points. False with the reason in `why`: HULL_NO_MEMORY, or there is
// no volume.
bool hull_volume(const tn_vec3 *points, int count, volume_sum *sum, char *why, size_t size);
// All zero, with a message that names `function`, if that is no solid.
tn_mass hull_volume_mass(const char *function, const volume_sum *sum, float density);

// Whether a solid body can have these properties: all finite, mass and principal moments positive,
// and no moment larger than the sum of the other two (within rounding).
bool mass_is_physical(const tn_mass *mass);

#endif
