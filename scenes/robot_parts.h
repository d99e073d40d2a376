// Robots as tables of parts, from which scenes build them: the same as the files in robots/, both
// written by robots/generate.mjs. z is up; the frames of all parts are parallel where all joints
// are at zero.
#ifndef TENON_SCENES_ROBOT_PARTS_H
#define TENON_SCENES_ROBOT_PARTS_H

#include <stdbool.h>

enum { ROBOT_SECTIONS = 4, ROBOT_SECTORS = 12 };

typedef enum robot_joint_type {
  ROBOT_FIXED,
  ROBOT_FREE,
  ROBOT_HINGE,
  ROBOT_SLIDE
} robot_joint_type;
typedef enum robot_shape { ROBOT_NO_SHAPE, ROBOT_BOX, ROBOT_SPHERE } robot_shape;

typedef struct robot_part {
  const char *name;
  int parent; // index; -1: the world
  robot_joint_type joint;
  float at[3]; // in the parent's frame, m
  float axis[3], range[2], armature;
  float stiffness, damping, effort;  // of its servo; 0: none
  float home;                        // position of the joint; height of a free part
  int mimics;                        // index of the part whose joint it follows; -1: none
  float mass, center[3], inertia[6]; // about the centre: xx, yy, zz, xy, xz, yz
  int loft_axis, section_count;      // 0 sections: no hull
  float sections[ROBOT_SECTIONS][5]; // place along the axis; radii and offsets along the next two
  robot_shape shape;
  float size[3], shape_at[3];
  bool foot;
} robot_part;

typedef struct robot_model {
  const char *name;
  const robot_part *parts; // parents before children
  int count;
} robot_model;

extern const robot_model robot_arm, robot_quadruped, robot_humanoid;

#endif
