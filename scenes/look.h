// Triangles of shapes, for those who draw them.
#ifndef TENON_SCENES_LOOK_H
#define TENON_SCENES_LOOK_H

#include "scenes.h"

// Triangles are counter-clockwise from outside.
struct scene_look {
  tn_vec3 *points, *normals; // a normal for each point
  int *triangles;            // three points each
  int point_count, triangle_count;
  int point_capacity, triangle_capacity;
  bool failed; // no memory
};

// In the shape's own frame; of a plane a square part. False without memory, or if a geometry is
// none of the world's.
bool scene_look_make(const tn_world *world, const tn_shape_def *def, scene_look *look);
// Flat triangles, three of the points each. False without memory.
bool scene_look_from_triangles(scene_look *look, const tn_vec3 *points, const int *triangles,
                               int count);
// A soft body as it is now, about the world's origin: its triangles, or a tube along a rope. Points
// and triangles keep their order. False without memory.
bool scene_look_soft(const tn_world *world, tn_soft_id soft, scene_look *look);
// Normals from the triangles, which share their points.
void scene_look_shade(scene_look *look);
void scene_look_free(scene_look *look);

#endif
