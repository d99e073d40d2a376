// Models of robots (MJCF, URDF, scenes of the tutorial) as scenes of `tenon run` and `tenon
// export`.
#ifndef TENON_CLI_ROBOT_H
#define TENON_CLI_ROBOT_H

#include "scenes.h"

#include <tenon/import.h>

#define ROBOT_MAX_PATHS 16

typedef struct robot robot;

typedef struct robot_options {
  const char *paths[ROBOT_MAX_PATHS]; // folders of meshes and packages
  int path_count;
  tn_import_base base;
  int hulls; // of a mesh; 0: its convex hull
} robot_options;

// By the ending of the name: .xml, .mjcf or .urdf.
bool robot_is_file(const char *name);
// Null, with one line on stderr, if the file cannot be read.
robot *robot_load(const char *path, const robot_options *options);
void robot_free(robot *r);

// Valid as long as the robot.
const scene *robot_scene(const robot *r);
// False, with one line on stderr, if there is no keyframe of that name.
bool robot_set_keyframe(robot *r, const char *name);

#endif
