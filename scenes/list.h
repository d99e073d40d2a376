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
extern const scene scene_pendulum_double, scene_pendulum_triple, scene_pendulum_loop,
    scene_pendulum_distance;
// chain.c
extern const scene scene_chain, scene_mobile;
// bunny.c
extern const scene scene_bunny_chain;
// rope.c
extern const scene scene_rope, scene_unsolvable;
// robot.c
extern const scene scene_robot_arm;
// steering.c
extern const scene scene_steering;
// car.c
extern const scene scene_car;
// creatures.c
extern const scene scene_ragdoll, scene_walker;
// machines.c
extern const scene scene_excavator, scene_wrecking_ball, scene_gears;
// transmissions.c
extern const scene scene_differential, scene_winch, scene_scissor_lift, scene_tendon_finger,
    scene_clock;
// robots.c
extern const scene scene_robot_reach, scene_robot_trot, scene_robot_balance;
// buildings.c
extern const scene scene_bridge, scene_jenga;
// stack.c
extern const scene scene_stack, scene_stack_heavy, scene_pyramid, scene_overlap, scene_arch,
    scene_dominoes;
// slope.c
extern const scene scene_slope, scene_rolling, scene_sliding, scene_friction_cone, scene_conveyor;
// impact.c
extern const scene scene_bounce, scene_cradle, scene_plate, scene_coin, scene_bullets;
// wire.c
extern const scene scene_marble_impulse, scene_marbles_in_wires, scene_marble_run;
// sculpture.c
extern const scene scene_sculpture;
// soft.c
extern const scene scene_rotor, scene_soft_cube_spin, scene_tori_on_cloth, scene_four_cubes,
    scene_bowling, scene_ship;
// stunts.c
extern const scene scene_car_ramp, scene_car_spin;
// toys.c
extern const scene scene_elk_and_duck;
// pile.c
extern const scene scene_capsules, scene_pile, scene_resting;

#endif
