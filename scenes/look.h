// Triangles of shapes, for those who draw them.
#ifndef TENON_SCENES_LOOK_H
#define TENON_SCENES_LOOK_H

#include <tenon/tenon.h>

// Triangles are counter-clockwise from outside.
typedef struct scene_look {
  tn_vec3 *points, *normals; // a normal for each point
  int *triangles;            // three points each
  int point_count, triangle_count;
  int point_capacity, triangle_capacity;
  bool failed; // no memory
} scene_look;

// In the shape's own frame; of a plane a square part. False without memory, or if a geometry is
// none of the world's.
bool scene_look_make(const tn_world *world, const tn_shape_def *def, scene_look *look);
void scene_look_free(scene_look *look);

#endif
