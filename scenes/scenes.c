#include "list.h"

#include <math.h>
#include <string.h>

const scene *const *scene_list(int *count)
{
  static const scene *const all[] = {&scene_springs3,
                                     &scene_springs7,
                                     &scene_torque_bar,
                                     &scene_mass_ratio,
                                     &scene_joint_zoo,
                                     &scene_pendulum_double,
                                     &scene_pendulum_triple,
                                     &scene_pendulum_loop,
                                     &scene_bunny_chain,
                                     &scene_marble_impulse,
                                     &scene_marbles_in_wires,
                                     &scene_marble_run,
                                     &scene_sculpture,
                                     &scene_coin,
                                     &scene_car,
                                     &scene_robot_arm,
                                     &scene_rope,
                                     &scene_joints_basic,
                                     &scene_steering,
                                     &scene_rotor,
                                     &scene_soft_cube_spin,
                                     &scene_four_cubes,
                                     &scene_bowling,
                                     &scene_car_ramp,
                                     &scene_car_spin,
                                     &scene_ship,
                                     &scene_mobile,
                                     &scene_pile,
                                     &scene_tori_on_cloth,
                                     &scene_elk_and_duck,
                                     &scene_cradle,
                                     &scene_pendulum_distance,
                                     &scene_chain,
                                     &scene_stack,
                                     &scene_pyramid,
                                     &scene_plate,
                                     &scene_overlap,
                                     &scene_unsolvable,
                                     &scene_capsules,
                                     &scene_ragdoll,
                                     &scene_walker,
                                     &scene_excavator,
                                     &scene_bridge,
                                     &scene_jenga,
                                     &scene_dominoes,
                                     &scene_wrecking_ball,
                                     &scene_conveyor,
                                     &scene_gears,
                                     &scene_differential,
                                     &scene_winch,
                                     &scene_scissor_lift,
                                     &scene_tendon_finger,
                                     &scene_clock,
                                     &scene_robot_reach,
                                     &scene_robot_trot,
                                     &scene_robot_balance,
                                     &scene_free_bodies,
                                     &scene_slope,
                                     &scene_rolling,
                                     &scene_sliding,
                                     &scene_friction_cone,
                                     &scene_bounce,
                                     &scene_bullets,
                                     &scene_stack_heavy,
                                     &scene_arch,
                                     &scene_resting};
  *count = (int)(sizeof all / sizeof all[0]);
  return all;
}

const scene *scene_find(const char *name)
{
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    if (strcmp(all[i]->name, name) == 0) {
      return all[i];
    }
  }
  return NULL;
}

const char *scene_group_title(scene_group group)
{
  static const char *const titles[SCENE_GROUP_COUNT] = {"Detailed rigid body simulation",
                                                        "Joints",
                                                        "Momentum preservation",
                                                        "Position-based rigid bodies",
                                                        "Seabra et al.",
                                                        "Models",
                                                        "Laws"};
  return titles[group];
}

static int parameter_index(const scene *which, const char *name)
{
  for (int i = 0; i < SCENE_MAX_PARAMETERS && which->parameters[i].name; ++i) {
    if (strcmp(which->parameters[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

const scene_parameter *scene_parameter_find(const scene *which, const char *name)
{
  int i = parameter_index(which, name);
  return i < 0 ? NULL : &which->parameters[i];
}

scene_settings scene_defaults(const scene *which)
{
  scene_settings settings = {{0}};
  for (int i = 0; i < SCENE_MAX_PARAMETERS && which->parameters[i].name; ++i) {
    settings.value[i] = which->parameters[i].value;
  }
  return settings;
}

static bool is_allowed(const scene_parameter *parameter, double value)
{
  if (!(value >= parameter->lo && value <= parameter->hi)) {
    return false; // also for NaN
  }
  return !parameter->whole || value == floor(value);
}

scene_set_result scene_set(const scene *which, scene_settings *settings, const char *name,
                           double value)
{
  int i = parameter_index(which, name);
  if (i < 0) {
    return SCENE_NO_SUCH_PARAMETER;
  }
  if (!is_allowed(&which->parameters[i], value)) {
    return SCENE_OUT_OF_RANGE;
  }
  settings->value[i] = value;
  return SCENE_SET;
}
