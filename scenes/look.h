// Triangle meshes of shapes, for drawing.
#ifndef TENON_SCENES_LOOK_H
#define TENON_SCENES_LOOK_H

#include "scenes.h"

// Triangles are counter-clockwise from outside.
struct scene_look {
  tn_vec3 *points, *normals; // a normal for each point
  int *triangles;            // three points each
  int point_count, triangle_count;
  int point_capacity, triangle_capacity;
  bool failed; // out of memory
};

// Mesh in the shape's frame; for a plane, a square of it. False if out of memory, or if a geometry
// is not one of the world.
bool scene_look_make(const tn_world *world, const tn_shape_def *def, scene_look *look);
// Adds flat-shaded triangles, three of the points each. False if out of memory.
bool scene_look_from_triangles(scene_look *look, const tn_vec3 *points, const int *triangles,
                               int count);
// The current shape of a soft body in world space: its triangles, or a tube along a rope. Points
// and triangles keep their order. False if out of memory.
bool scene_look_soft(const tn_world *world, tn_soft_id soft, scene_look *look);
// Computes smooth normals from triangles with shared points.
void scene_look_shade(scene_look *look);
void scene_look_free(scene_look *look);

#endif
