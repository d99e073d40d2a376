// Soft bodies in the shape of a solid, of hexahedra or as a skin.
#ifndef TENON_SCENES_CARVE_H
#define TENON_SCENES_CARVE_H

#include "scenes.h"

// Distance from the surface, negative inside; near the surface it should grow by about 1 m a metre.
typedef float carve_solid(tn_vec3 p);

// Fills in the arrays of `def` as tn_soft_mesh_* do: cubes of `cell` metres whose middle is in the
// solid, the corners at the surface drawn to it. False without memory, or if there is no cube.
bool carve(tn_soft_def *def, carve_solid *solid, tn_vec3 lower, tn_vec3 upper, float cell);

// The surface of the solid: that of a sphere, with 20 * 4^level triangles, drawn to it.
bool carve_skin(tn_soft_def *def, carve_solid *solid, tn_vec3 center, float radius, int level);

// Distances to build solids with.
float carve_box(tn_vec3 p, tn_vec3 center, tn_vec3 half_extents, float rounding);
float carve_capsule(tn_vec3 p, tn_vec3 from, tn_vec3 to, float radius);
float carve_ellipsoid(tn_vec3 p, tn_vec3 center, tn_vec3 radii); // near its surface
// Both together, with a fillet of about `width`.
float carve_join(float a, float b, float width);

#endif
