// All scenes, by the file that holds them.
#ifndef TENON_SCENES_LIST_H
#define TENON_SCENES_LIST_H

#include "scenes.h"

// free.c
extern const scene scene_free_bodies;
// springs.c
extern const scene scene_springs3, scene_springs7, scene_mass_ratio, scene_torque_bar;
// joints.c
extern const scene scene_joint_zoo, scene_joints_basic;
// pendulum.c
extern const scene scene_pendulum_double, scene_pendulum_triple, scene_pendulum_loop;
// chain.c
extern const scene scene_chain, scene_mobile;

#endif
