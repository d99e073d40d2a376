// Controllers of the robots in robots/: an arm that reaches, a quadruped that trots in place and a
// humanoid that keeps its balance. They see a robot as bodies and joints of a world, whatever built
// it, and state where its servos shall go.
#ifndef TENON_SCENES_ROBOT_CONTROL_H
#define TENON_SCENES_ROBOT_CONTROL_H

#include "robot_parts.h"

#include <tenon/tenon.h>

enum { ROBOT_MOST_PARTS = 48 };

typedef struct robot_view {
  const robot_model *model;
  tn_world *world;
  tn_body_id bodies[ROBOT_MOST_PARTS];  // of each part; null: the world
  tn_joint_id joints[ROBOT_MOST_PARTS]; // of each part; null: it has no hinge or slide
  float targets[ROBOT_MOST_PARTS];      // of the servos: in, where they are going; out, where to
} robot_view;

// Index of a part by name; -1 if there is none.
int robot_find_part(const robot_model *model, const char *name);

// Where the grip shall be, in the frame of the robot's base, z up.
tn_vec3 robot_reach_goal(double time);
// The arm's grip follows that point with the hand down, and opens and closes.
void robot_reach(robot_view *view, double time, float dt);
// Where the grip is, in the frame of the base.
tn_vec3 robot_grip(const robot_view *view);

// Lifts diagonal pairs of feet in turn by `height`, m, and stays at the origin of the world.
void robot_trot(robot_view *view, double time, float height);

// Leans against what moves the centre of mass away from the middle between the feet.
void robot_balance(robot_view *view);

#endif
