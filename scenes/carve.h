// Soft bodies in the shape of an implicit solid: hexahedra, or a closed surface.
#ifndef TENON_SCENES_CARVE_H
#define TENON_SCENES_CARVE_H

#include "scenes.h"

// Signed distance from the surface, negative inside; near the surface its gradient is about 1.
typedef float carve_solid(tn_vec3 p);

// Fills in the arrays of `def` as tn_soft_mesh_* do: cubes of `cell` metres whose centre is in the
// solid; boundary vertices are projected to the surface. False if out of memory or without cubes.
bool carve(tn_soft_def *def, carve_solid *solid, tn_vec3 lower, tn_vec3 upper, float cell);

// The surface of the solid: a sphere of 20 * 4^level triangles, projected to it.
bool carve_skin(tn_soft_def *def, carve_solid *solid, tn_vec3 center, float radius, int level);

// Distance functions to build solids from.
float carve_box(tn_vec3 p, tn_vec3 center, tn_vec3 half_extents, float rounding);
float carve_capsule(tn_vec3 p, tn_vec3 from, tn_vec3 to, float radius);
float carve_ellipsoid(tn_vec3 p, tn_vec3 center, tn_vec3 radii); // accurate near its surface
// Smooth union, with a fillet of about `width`.
float carve_join(float a, float b, float width);

#endif
