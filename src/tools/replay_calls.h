// Written by scripts/recorded_calls.py from the public headers: do not edit.
#ifndef TENON_TOOLS_REPLAY_CALLS_H
#define TENON_TOOLS_REPLAY_CALLS_H

// Included by replay.c alone. Argument i of a call, after the world, is at a[i].
#include "data/recorded_calls.h"

#include <tenon/tenon.h>

#define MAKE(call, ...)                                                                            \
  static void make_##call(tn_world *w, void **a)                                                   \
  {                                                                                                \
    (void)a, (void)call(__VA_ARGS__);                                                              \
  }
#define V(type, i) *(type *)a[i]

// clang-format off
MAKE(tn_bodies_write_poses, w, a[0], V(int, 1), V(tn_number, 2), a[3], V(size_t, 4))
MAKE(tn_bodies_write_velocities, w, a[0], V(int, 1), V(tn_number, 2), a[3], V(size_t, 4))
MAKE(tn_bodies_apply_forces, w, a[0], V(int, 1), V(tn_number, 2), a[3], V(size_t, 4))
MAKE(tn_world_moved, w, a[0], V(int, 1))
MAKE(tn_coupling_create, w, a[0])
MAKE(tn_coupling_destroy, w, V(tn_coupling_id, 0))
MAKE(tn_coupling_is_valid, w, V(tn_coupling_id, 0))
MAKE(tn_world_couplings, w, a[0], V(int, 1))
MAKE(tn_coupling_get_def, w, V(tn_coupling_id, 0))
MAKE(tn_coupling_set_def, w, V(tn_coupling_id, 0), a[1])
MAKE(tn_coupling_set_drive, w, V(tn_coupling_id, 0), V(tn_coupling_drive, 1))
MAKE(tn_coupling_get_drive, w, V(tn_coupling_id, 0))
MAKE(tn_coupling_set_enabled, w, V(tn_coupling_id, 0), V(bool, 1))
MAKE(tn_coupling_is_enabled, w, V(tn_coupling_id, 0))
MAKE(tn_coupling_get_state, w, V(tn_coupling_id, 0))
MAKE(tn_world_set_play, w, V(float, 0))
MAKE(tn_world_play, w)
MAKE(tn_world_set_gravity, w, V(tn_vec3, 0))
MAKE(tn_world_gravity, w)
MAKE(tn_world_set_method, w, V(tn_method, 0))
MAKE(tn_world_method, w)
MAKE(tn_world_set_substeps, w, V(int, 0))
MAKE(tn_world_substeps, w)
MAKE(tn_world_set_iterations, w, V(int, 0))
MAKE(tn_world_iterations, w)
MAKE(tn_world_lanes, w)
MAKE(tn_world_counters, w)
MAKE(tn_world_bodies, w, a[0], V(int, 1))
MAKE(tn_world_joints, w, a[0], V(int, 1))
MAKE(tn_world_contacts, w, a[0], V(int, 1))
MAKE(tn_body_contacts, w, V(tn_body_id, 0), a[1], V(int, 2))
MAKE(tn_world_set_sleeping, w, V(bool, 0))
MAKE(tn_world_sleeping, w)
MAKE(tn_world_set_sleep_speed, w, V(float, 0))
MAKE(tn_world_sleep_speed, w)
MAKE(tn_world_set_sleep_time, w, V(float, 0))
MAKE(tn_world_sleep_time, w)
MAKE(tn_world_hash, w)
MAKE(tn_world_energy, w)
MAKE(tn_world_momentum, w, V(tn_pos, 0))
MAKE(tn_body_create, w, a[0])
MAKE(tn_body_destroy, w, V(tn_body_id, 0))
MAKE(tn_body_is_valid, w, V(tn_body_id, 0))
MAKE(tn_body_get_def, w, V(tn_body_id, 0))
MAKE(tn_body_set_def, w, V(tn_body_id, 0), a[1])
MAKE(tn_body_get_type, w, V(tn_body_id, 0))
MAKE(tn_body_set_type, w, V(tn_body_id, 0), V(tn_body_type, 1))
MAKE(tn_body_transform, w, V(tn_body_id, 0))
MAKE(tn_body_position, w, V(tn_body_id, 0))
MAKE(tn_body_rotation, w, V(tn_body_id, 0))
MAKE(tn_body_center, w, V(tn_body_id, 0))
MAKE(tn_body_set_transform, w, V(tn_body_id, 0), V(tn_transform, 1))
MAKE(tn_body_point_velocity, w, V(tn_body_id, 0), V(tn_pos, 1))
MAKE(tn_body_velocity, w, V(tn_body_id, 0))
MAKE(tn_body_angular_velocity, w, V(tn_body_id, 0))
MAKE(tn_body_set_velocity, w, V(tn_body_id, 0), V(tn_vec3, 1))
MAKE(tn_body_set_angular_velocity, w, V(tn_body_id, 0), V(tn_vec3, 1))
MAKE(tn_body_move_to, w, V(tn_body_id, 0), V(tn_transform, 1))
MAKE(tn_body_apply_force, w, V(tn_body_id, 0), V(tn_vec3, 1), V(tn_pos, 2))
MAKE(tn_body_apply_force_to_center, w, V(tn_body_id, 0), V(tn_vec3, 1))
MAKE(tn_body_apply_torque, w, V(tn_body_id, 0), V(tn_vec3, 1))
MAKE(tn_body_apply_impulse, w, V(tn_body_id, 0), V(tn_vec3, 1), V(tn_pos, 2))
MAKE(tn_body_apply_angular_impulse, w, V(tn_body_id, 0), V(tn_vec3, 1))
MAKE(tn_body_mass, w, V(tn_body_id, 0))
MAKE(tn_body_set_mass, w, V(tn_body_id, 0), V(tn_mass, 1))
MAKE(tn_body_set_gravity_scale, w, V(tn_body_id, 0), V(float, 1))
MAKE(tn_body_gravity_scale, w, V(tn_body_id, 0))
MAKE(tn_body_set_linear_damping, w, V(tn_body_id, 0), V(float, 1))
MAKE(tn_body_linear_damping, w, V(tn_body_id, 0))
MAKE(tn_body_set_angular_damping, w, V(tn_body_id, 0), V(float, 1))
MAKE(tn_body_angular_damping, w, V(tn_body_id, 0))
MAKE(tn_body_set_max_speed, w, V(tn_body_id, 0), V(float, 1))
MAKE(tn_body_max_speed, w, V(tn_body_id, 0))
MAKE(tn_body_set_max_angular_speed, w, V(tn_body_id, 0), V(float, 1))
MAKE(tn_body_max_angular_speed, w, V(tn_body_id, 0))
MAKE(tn_body_set_name, w, V(tn_body_id, 0), (const char *)a[1])
MAKE(tn_body_joints, w, V(tn_body_id, 0), a[1], V(int, 2))
MAKE(tn_body_is_awake, w, V(tn_body_id, 0))
MAKE(tn_body_set_awake, w, V(tn_body_id, 0), V(bool, 1))
MAKE(tn_body_set_can_sleep, w, V(tn_body_id, 0), V(bool, 1))
MAKE(tn_body_can_sleep, w, V(tn_body_id, 0))
MAKE(tn_body_set_mass_from_shapes, w, V(tn_body_id, 0))
MAKE(tn_body_mass_from_shapes, w, V(tn_body_id, 0))
MAKE(tn_body_shapes, w, V(tn_body_id, 0), a[1], V(int, 2))
MAKE(tn_hull_create, w, a[0], V(int, 1), V(int, 2))
MAKE(tn_mesh_create, w, a[0], V(int, 1), a[2], V(int, 3))
MAKE(tn_height_field_create, w, a[0], V(int, 1), V(int, 2), V(float, 3), V(float, 4))
MAKE(tn_wire_create, w, a[0], V(int, 1), V(bool, 2))
MAKE(tn_geometry_destroy, w, V(tn_geometry_id, 0))
MAKE(tn_geometry_is_valid, w, V(tn_geometry_id, 0))
MAKE(tn_shape_create, w, V(tn_body_id, 0), a[1])
MAKE(tn_shape_destroy, w, V(tn_shape_id, 0))
MAKE(tn_shape_is_valid, w, V(tn_shape_id, 0))
MAKE(tn_shape_get_def, w, V(tn_shape_id, 0))
MAKE(tn_shape_set_def, w, V(tn_shape_id, 0), a[1])
MAKE(tn_shape_body, w, V(tn_shape_id, 0))
MAKE(tn_shape_set_material, w, V(tn_shape_id, 0), V(tn_material, 1))
MAKE(tn_shape_material, w, V(tn_shape_id, 0))
MAKE(tn_shape_set_filter, w, V(tn_shape_id, 0), V(tn_filter, 1))
MAKE(tn_shape_filter, w, V(tn_shape_id, 0))
MAKE(tn_shape_box, w, V(tn_shape_id, 0), a[1], a[2])
MAKE(tn_world_ray, w, V(tn_pos, 0), V(tn_vec3, 1), V(tn_query_filter, 2))
MAKE(tn_world_cast, w, a[0], V(tn_transform, 1), V(tn_vec3, 2), V(tn_query_filter, 3))
MAKE(tn_world_overlap, w, a[0], V(tn_transform, 1), V(tn_query_filter, 2), a[3], V(int, 4))
MAKE(tn_world_overlap_box, w, V(tn_pos, 0), V(tn_pos, 1), V(tn_query_filter, 2), a[3], V(int, 4))
MAKE(tn_world_overlap_softs, w, a[0], V(tn_transform, 1), V(tn_query_filter, 2), a[3], V(int, 4))
MAKE(tn_world_closest_point, w, V(tn_pos, 0), V(float, 1), V(tn_query_filter, 2))
MAKE(tn_joint_def_at, w, a[0], V(tn_pos, 1), V(tn_vec3, 2))
MAKE(tn_joint_def_between, w, a[0], V(tn_pos, 1), V(tn_pos, 2))
MAKE(tn_joint_create, w, a[0])
MAKE(tn_joint_destroy, w, V(tn_joint_id, 0))
MAKE(tn_joint_is_valid, w, V(tn_joint_id, 0))
MAKE(tn_joint_get_def, w, V(tn_joint_id, 0))
MAKE(tn_joint_set_def, w, V(tn_joint_id, 0), a[1])
MAKE(tn_joint_set_drive, w, V(tn_joint_id, 0), V(tn_joint_axis, 1), V(tn_drive, 2))
MAKE(tn_joint_drive, w, V(tn_joint_id, 0), V(tn_joint_axis, 1))
MAKE(tn_joint_set_angle, w, V(tn_joint_id, 0), V(tn_joint_axis, 1), V(float, 2))
MAKE(tn_joint_angle, w, V(tn_joint_id, 0), V(tn_joint_axis, 1))
MAKE(tn_joint_set_enabled, w, V(tn_joint_id, 0), V(bool, 1))
MAKE(tn_joint_is_enabled, w, V(tn_joint_id, 0))
MAKE(tn_joint_set_anchor, w, V(tn_joint_id, 0), V(tn_pos, 1))
MAKE(tn_joint_anchor, w, V(tn_joint_id, 0))
MAKE(tn_joint_get_state, w, V(tn_joint_id, 0))
MAKE(tn_world_reach, w, a[0])
MAKE(tn_soft_create, w, a[0])
MAKE(tn_soft_destroy, w, V(tn_soft_id, 0))
MAKE(tn_soft_is_valid, w, V(tn_soft_id, 0))
MAKE(tn_soft_get_def, w, V(tn_soft_id, 0))
MAKE(tn_soft_set_def, w, V(tn_soft_id, 0), a[1])
MAKE(tn_world_softs, w, a[0], V(int, 1))
MAKE(tn_soft_positions, w, V(tn_soft_id, 0), a[1], V(int, 2))
MAKE(tn_soft_velocities, w, V(tn_soft_id, 0), a[1], V(int, 2))
MAKE(tn_soft_masses, w, V(tn_soft_id, 0), a[1], V(int, 2))
MAKE(tn_soft_triangles, w, V(tn_soft_id, 0), a[1], V(int, 2))
MAKE(tn_soft_set_positions, w, V(tn_soft_id, 0), a[1], V(int, 2))
MAKE(tn_soft_set_velocities, w, V(tn_soft_id, 0), a[1], V(int, 2))
MAKE(tn_soft_position, w, V(tn_soft_id, 0), V(int, 1))
MAKE(tn_soft_set_position, w, V(tn_soft_id, 0), V(int, 1), V(tn_pos, 2))
MAKE(tn_soft_velocity, w, V(tn_soft_id, 0), V(int, 1))
MAKE(tn_soft_set_velocity, w, V(tn_soft_id, 0), V(int, 1), V(tn_vec3, 2))
MAKE(tn_soft_set_pinned, w, V(tn_soft_id, 0), V(int, 1), V(bool, 2))
MAKE(tn_soft_is_pinned, w, V(tn_soft_id, 0), V(int, 1))
MAKE(tn_soft_apply_force, w, V(tn_soft_id, 0), V(int, 1), V(tn_vec3, 2))
MAKE(tn_soft_apply_forces, w, V(tn_soft_id, 0), a[1], a[2], V(int, 3))
MAKE(tn_soft_energy, w, V(tn_soft_id, 0))
MAKE(tn_soft_momentum, w, V(tn_soft_id, 0), V(tn_pos, 1))
MAKE(tn_soft_volume, w, V(tn_soft_id, 0))
MAKE(tn_soft_set_pressure, w, V(tn_soft_id, 0), V(float, 1))
MAKE(tn_soft_pressure, w, V(tn_soft_id, 0))
MAKE(tn_soft_set_damping, w, V(tn_soft_id, 0), V(float, 1))
MAKE(tn_soft_damping, w, V(tn_soft_id, 0))
MAKE(tn_soft_is_awake, w, V(tn_soft_id, 0))
MAKE(tn_soft_set_awake, w, V(tn_soft_id, 0), V(bool, 1))
MAKE(tn_soft_contacts, w, V(tn_soft_id, 0), a[1], V(int, 2))
MAKE(tn_attachment_create, w, a[0])
MAKE(tn_attachment_destroy, w, V(tn_attachment_id, 0))
MAKE(tn_attachment_is_valid, w, V(tn_attachment_id, 0))
MAKE(tn_attachment_get_def, w, V(tn_attachment_id, 0))
MAKE(tn_attachment_set_def, w, V(tn_attachment_id, 0), a[1])
MAKE(tn_world_attachments, w, a[0], V(int, 1))
MAKE(tn_attachment_point, w, V(tn_attachment_id, 0))
MAKE(tn_attachment_set_point, w, V(tn_attachment_id, 0), V(tn_pos, 1))
MAKE(tn_attachment_get_state, w, V(tn_attachment_id, 0))
MAKE(tn_body_world_point, w, V(tn_body_id, 0), V(tn_vec3, 1))
MAKE(tn_body_local_point, w, V(tn_body_id, 0), V(tn_pos, 1))
MAKE(tn_body_world_vector, w, V(tn_body_id, 0), V(tn_vec3, 1))
MAKE(tn_body_local_vector, w, V(tn_body_id, 0), V(tn_vec3, 1))
MAKE(tn_world_shapes, w, a[0], V(int, 1))
MAKE(tn_hull_vertices, w, V(tn_geometry_id, 0), a[1], V(int, 2))
MAKE(tn_hull_faces, w, V(tn_geometry_id, 0), a[1], V(int, 2))
MAKE(tn_hull_indices, w, V(tn_geometry_id, 0), a[1], V(int, 2))
MAKE(tn_wire_at, w, V(tn_geometry_id, 0), V(float, 1))
MAKE(tn_soft_radius, w, V(tn_soft_id, 0))
MAKE(tn_world_update_contacts, w)
// clang-format on

#undef MAKE
#undef V

// Null for a step.
static void (*const replay_functions[RECORD_CALL_COUNT])(tn_world *w, void **a) = {
    [CALL_tn_bodies_write_poses] = make_tn_bodies_write_poses,
    [CALL_tn_bodies_write_velocities] = make_tn_bodies_write_velocities,
    [CALL_tn_bodies_apply_forces] = make_tn_bodies_apply_forces,
    [CALL_tn_world_moved] = make_tn_world_moved,
    [CALL_tn_coupling_create] = make_tn_coupling_create,
    [CALL_tn_coupling_destroy] = make_tn_coupling_destroy,
    [CALL_tn_coupling_is_valid] = make_tn_coupling_is_valid,
    [CALL_tn_world_couplings] = make_tn_world_couplings,
    [CALL_tn_coupling_get_def] = make_tn_coupling_get_def,
    [CALL_tn_coupling_set_def] = make_tn_coupling_set_def,
    [CALL_tn_coupling_set_drive] = make_tn_coupling_set_drive,
    [CALL_tn_coupling_get_drive] = make_tn_coupling_get_drive,
    [CALL_tn_coupling_set_enabled] = make_tn_coupling_set_enabled,
    [CALL_tn_coupling_is_enabled] = make_tn_coupling_is_enabled,
    [CALL_tn_coupling_get_state] = make_tn_coupling_get_state,
    [CALL_tn_world_set_play] = make_tn_world_set_play,
    [CALL_tn_world_play] = make_tn_world_play,
    [CALL_tn_world_set_gravity] = make_tn_world_set_gravity,
    [CALL_tn_world_gravity] = make_tn_world_gravity,
    [CALL_tn_world_set_method] = make_tn_world_set_method,
    [CALL_tn_world_method] = make_tn_world_method,
    [CALL_tn_world_set_substeps] = make_tn_world_set_substeps,
    [CALL_tn_world_substeps] = make_tn_world_substeps,
    [CALL_tn_world_set_iterations] = make_tn_world_set_iterations,
    [CALL_tn_world_iterations] = make_tn_world_iterations,
    [CALL_tn_world_lanes] = make_tn_world_lanes,
    [CALL_tn_world_counters] = make_tn_world_counters,
    [CALL_tn_world_bodies] = make_tn_world_bodies,
    [CALL_tn_world_joints] = make_tn_world_joints,
    [CALL_tn_world_contacts] = make_tn_world_contacts,
    [CALL_tn_body_contacts] = make_tn_body_contacts,
    [CALL_tn_world_set_sleeping] = make_tn_world_set_sleeping,
    [CALL_tn_world_sleeping] = make_tn_world_sleeping,
    [CALL_tn_world_set_sleep_speed] = make_tn_world_set_sleep_speed,
    [CALL_tn_world_sleep_speed] = make_tn_world_sleep_speed,
    [CALL_tn_world_set_sleep_time] = make_tn_world_set_sleep_time,
    [CALL_tn_world_sleep_time] = make_tn_world_sleep_time,
    [CALL_tn_world_hash] = make_tn_world_hash,
    [CALL_tn_world_energy] = make_tn_world_energy,
    [CALL_tn_world_momentum] = make_tn_world_momentum,
    [CALL_tn_body_create] = make_tn_body_create,
    [CALL_tn_body_destroy] = make_tn_body_destroy,
    [CALL_tn_body_is_valid] = make_tn_body_is_valid,
    [CALL_tn_body_get_def] = make_tn_body_get_def,
    [CALL_tn_body_set_def] = make_tn_body_set_def,
    [CALL_tn_body_get_type] = make_tn_body_get_type,
    [CALL_tn_body_set_type] = make_tn_body_set_type,
    [CALL_tn_body_transform] = make_tn_body_transform,
    [CALL_tn_body_position] = make_tn_body_position,
    [CALL_tn_body_rotation] = make_tn_body_rotation,
    [CALL_tn_body_center] = make_tn_body_center,
    [CALL_tn_body_set_transform] = make_tn_body_set_transform,
    [CALL_tn_body_point_velocity] = make_tn_body_point_velocity,
    [CALL_tn_body_velocity] = make_tn_body_velocity,
    [CALL_tn_body_angular_velocity] = make_tn_body_angular_velocity,
    [CALL_tn_body_set_velocity] = make_tn_body_set_velocity,
    [CALL_tn_body_set_angular_velocity] = make_tn_body_set_angular_velocity,
    [CALL_tn_body_move_to] = make_tn_body_move_to,
    [CALL_tn_body_apply_force] = make_tn_body_apply_force,
    [CALL_tn_body_apply_force_to_center] = make_tn_body_apply_force_to_center,
    [CALL_tn_body_apply_torque] = make_tn_body_apply_torque,
    [CALL_tn_body_apply_impulse] = make_tn_body_apply_impulse,
    [CALL_tn_body_apply_angular_impulse] = make_tn_body_apply_angular_impulse,
    [CALL_tn_body_mass] = make_tn_body_mass,
    [CALL_tn_body_set_mass] = make_tn_body_set_mass,
    [CALL_tn_body_set_gravity_scale] = make_tn_body_set_gravity_scale,
    [CALL_tn_body_gravity_scale] = make_tn_body_gravity_scale,
    [CALL_tn_body_set_linear_damping] = make_tn_body_set_linear_damping,
    [CALL_tn_body_linear_damping] = make_tn_body_linear_damping,
    [CALL_tn_body_set_angular_damping] = make_tn_body_set_angular_damping,
    [CALL_tn_body_angular_damping] = make_tn_body_angular_damping,
    [CALL_tn_body_set_max_speed] = make_tn_body_set_max_speed,
    [CALL_tn_body_max_speed] = make_tn_body_max_speed,
    [CALL_tn_body_set_max_angular_speed] = make_tn_body_set_max_angular_speed,
    [CALL_tn_body_max_angular_speed] = make_tn_body_max_angular_speed,
    [CALL_tn_body_set_name] = make_tn_body_set_name,
    [CALL_tn_body_joints] = make_tn_body_joints,
    [CALL_tn_body_is_awake] = make_tn_body_is_awake,
    [CALL_tn_body_set_awake] = make_tn_body_set_awake,
    [CALL_tn_body_set_can_sleep] = make_tn_body_set_can_sleep,
    [CALL_tn_body_can_sleep] = make_tn_body_can_sleep,
    [CALL_tn_body_set_mass_from_shapes] = make_tn_body_set_mass_from_shapes,
    [CALL_tn_body_mass_from_shapes] = make_tn_body_mass_from_shapes,
    [CALL_tn_body_shapes] = make_tn_body_shapes,
    [CALL_tn_hull_create] = make_tn_hull_create,
    [CALL_tn_mesh_create] = make_tn_mesh_create,
    [CALL_tn_height_field_create] = make_tn_height_field_create,
    [CALL_tn_wire_create] = make_tn_wire_create,
    [CALL_tn_geometry_destroy] = make_tn_geometry_destroy,
    [CALL_tn_geometry_is_valid] = make_tn_geometry_is_valid,
    [CALL_tn_shape_create] = make_tn_shape_create,
    [CALL_tn_shape_destroy] = make_tn_shape_destroy,
    [CALL_tn_shape_is_valid] = make_tn_shape_is_valid,
    [CALL_tn_shape_get_def] = make_tn_shape_get_def,
    [CALL_tn_shape_set_def] = make_tn_shape_set_def,
    [CALL_tn_shape_body] = make_tn_shape_body,
    [CALL_tn_shape_set_material] = make_tn_shape_set_material,
    [CALL_tn_shape_material] = make_tn_shape_material,
    [CALL_tn_shape_set_filter] = make_tn_shape_set_filter,
    [CALL_tn_shape_filter] = make_tn_shape_filter,
    [CALL_tn_shape_box] = make_tn_shape_box,
    [CALL_tn_world_ray] = make_tn_world_ray,
    [CALL_tn_world_cast] = make_tn_world_cast,
    [CALL_tn_world_overlap] = make_tn_world_overlap,
    [CALL_tn_world_overlap_box] = make_tn_world_overlap_box,
    [CALL_tn_world_overlap_softs] = make_tn_world_overlap_softs,
    [CALL_tn_world_closest_point] = make_tn_world_closest_point,
    [CALL_tn_joint_def_at] = make_tn_joint_def_at,
    [CALL_tn_joint_def_between] = make_tn_joint_def_between,
    [CALL_tn_joint_create] = make_tn_joint_create,
    [CALL_tn_joint_destroy] = make_tn_joint_destroy,
    [CALL_tn_joint_is_valid] = make_tn_joint_is_valid,
    [CALL_tn_joint_get_def] = make_tn_joint_get_def,
    [CALL_tn_joint_set_def] = make_tn_joint_set_def,
    [CALL_tn_joint_set_drive] = make_tn_joint_set_drive,
    [CALL_tn_joint_drive] = make_tn_joint_drive,
    [CALL_tn_joint_set_angle] = make_tn_joint_set_angle,
    [CALL_tn_joint_angle] = make_tn_joint_angle,
    [CALL_tn_joint_set_enabled] = make_tn_joint_set_enabled,
    [CALL_tn_joint_is_enabled] = make_tn_joint_is_enabled,
    [CALL_tn_joint_set_anchor] = make_tn_joint_set_anchor,
    [CALL_tn_joint_anchor] = make_tn_joint_anchor,
    [CALL_tn_joint_get_state] = make_tn_joint_get_state,
    [CALL_tn_world_reach] = make_tn_world_reach,
    [CALL_tn_soft_create] = make_tn_soft_create,
    [CALL_tn_soft_destroy] = make_tn_soft_destroy,
    [CALL_tn_soft_is_valid] = make_tn_soft_is_valid,
    [CALL_tn_soft_get_def] = make_tn_soft_get_def,
    [CALL_tn_soft_set_def] = make_tn_soft_set_def,
    [CALL_tn_world_softs] = make_tn_world_softs,
    [CALL_tn_soft_positions] = make_tn_soft_positions,
    [CALL_tn_soft_velocities] = make_tn_soft_velocities,
    [CALL_tn_soft_masses] = make_tn_soft_masses,
    [CALL_tn_soft_triangles] = make_tn_soft_triangles,
    [CALL_tn_soft_set_positions] = make_tn_soft_set_positions,
    [CALL_tn_soft_set_velocities] = make_tn_soft_set_velocities,
    [CALL_tn_soft_position] = make_tn_soft_position,
    [CALL_tn_soft_set_position] = make_tn_soft_set_position,
    [CALL_tn_soft_velocity] = make_tn_soft_velocity,
    [CALL_tn_soft_set_velocity] = make_tn_soft_set_velocity,
    [CALL_tn_soft_set_pinned] = make_tn_soft_set_pinned,
    [CALL_tn_soft_is_pinned] = make_tn_soft_is_pinned,
    [CALL_tn_soft_apply_force] = make_tn_soft_apply_force,
    [CALL_tn_soft_apply_forces] = make_tn_soft_apply_forces,
    [CALL_tn_soft_energy] = make_tn_soft_energy,
    [CALL_tn_soft_momentum] = make_tn_soft_momentum,
    [CALL_tn_soft_volume] = make_tn_soft_volume,
    [CALL_tn_soft_set_pressure] = make_tn_soft_set_pressure,
    [CALL_tn_soft_pressure] = make_tn_soft_pressure,
    [CALL_tn_soft_set_damping] = make_tn_soft_set_damping,
    [CALL_tn_soft_damping] = make_tn_soft_damping,
    [CALL_tn_soft_is_awake] = make_tn_soft_is_awake,
    [CALL_tn_soft_set_awake] = make_tn_soft_set_awake,
    [CALL_tn_soft_contacts] = make_tn_soft_contacts,
    [CALL_tn_attachment_create] = make_tn_attachment_create,
    [CALL_tn_attachment_destroy] = make_tn_attachment_destroy,
    [CALL_tn_attachment_is_valid] = make_tn_attachment_is_valid,
    [CALL_tn_attachment_get_def] = make_tn_attachment_get_def,
    [CALL_tn_attachment_set_def] = make_tn_attachment_set_def,
    [CALL_tn_world_attachments] = make_tn_world_attachments,
    [CALL_tn_attachment_point] = make_tn_attachment_point,
    [CALL_tn_attachment_set_point] = make_tn_attachment_set_point,
    [CALL_tn_attachment_get_state] = make_tn_attachment_get_state,
    [CALL_tn_body_world_point] = make_tn_body_world_point,
    [CALL_tn_body_local_point] = make_tn_body_local_point,
    [CALL_tn_body_world_vector] = make_tn_body_world_vector,
    [CALL_tn_body_local_vector] = make_tn_body_local_vector,
    [CALL_tn_world_shapes] = make_tn_world_shapes,
    [CALL_tn_hull_vertices] = make_tn_hull_vertices,
    [CALL_tn_hull_faces] = make_tn_hull_faces,
    [CALL_tn_hull_indices] = make_tn_hull_indices,
    [CALL_tn_wire_at] = make_tn_wire_at,
    [CALL_tn_soft_radius] = make_tn_soft_radius,
    [CALL_tn_world_update_contacts] = make_tn_world_update_contacts};

#endif
